//! Contacts of obstacles with cloth that cannot give way, for `stops.rs`: those that are near, or
//! would touch in the next step.

use nalgebra::Vector3;

use crate::{
    Ahead, Carrier, Carriers, ContactError, Contacts, Path, State, Step,
    backed::{Backing, VERTEX, against, deeper},
    bodies::{Bodies, Changes, Part},
    broad::{Bounds, Pair},
    carriers::points,
    contacts::{AHEAD, Meeting},
    distance::Nearest,
    features::Leaf,
    place::points_enter,
    respond::makes_way,
};

type V3 = Vector3<f64>;

/// Part of the thickness by which a body may end a step closer than it should, by the curvature of
/// its path [-].
pub(crate) const MISSED: f64 = 0.1;

/// Cosine between the normals of two contacts at one place above which they are the same [-].
const SAME: f64 = 1.0 - 1e-6;

/// Sine of the angle between surfaces that counts as rounding [-]. What slides on a wall of cloth at
/// v may be kicked up by as much of v at each edge.
const FLAT: f64 = 1e-4;

/// Mobility of a contact below which it is one of rounding, relative to that of both its features
/// alone [-].
const ROUNDING: f64 = 1e-9;

/// A contact of an obstacle with cloth that cannot give way.
pub(crate) struct Anchored {
    pub pair: Pair,
    pub weights: [f64; 4],
    pub obstacle: u32,
    pub n: V3,
    /// Place of the contact from the frame's origin `[m]`.
    pub arm: V3,
    /// Sign of the obstacle's feature in the relative velocity.
    pub sign: f64,
    /// Relative velocity at the end of the step without impulses, and how much of it is gained in
    /// the step `[m/s]`.
    pub free: V3,
    pub gained: V3,
    /// Relative velocity that it is to have along n, and the one without restitution `[m/s]`.
    pub target: f64,
    pub inelastic_target: f64,
    /// The part of it with which features part that are too close, which takes energy `[m/s]`.
    pub parting: f64,
    pub friction: f64,
    /// Bodies that an impulse moves.
    pub parts: Vec<Part>,
    /// Number of the group of contacts that these bodies connect.
    pub group: u32,
    /// Of the pair's vertices, the obstacle that a free one rests on, by which it bears this one.
    pub backed: [Option<Backing>; 4],
    /// Part of the impulse that acts as a force [-].
    pub share: f64,
    /// Sum of impulses on the first feature `[N s]`.
    pub push: f64,
    pub drag: V3,
}

/// Features of the cloth that cannot give way in the next step, or rest on an obstacle.
pub(crate) struct Anchors {
    leaves: Vec<Leaf>,
    /// Box around their paths.
    around: Bounds,
    /// Pairs in which free vertices rest on frames, and their obstacles.
    resting: Vec<(Pair, u32)>,
}

/// Nearest points of a pair, by which its contact is linearised.
struct Seen {
    near: Nearest,
    /// Positions of the pair's vertices with it `[m]`.
    x: [V3; 4],
    /// Part of the step after which that is [-].
    part: f64,
}

impl Seen {
    /// Whether they are those at the end of the step.
    fn is_end(&self) -> bool {
        self.part == 1.0
    }
}

/// The path of the next step with impulses.
struct Missed<'a> {
    changes: &'a Changes,
    /// With their velocities after it.
    carriers: &'a [Carriers],
}

/// Relative motion at a contact by itself.
#[derive(Default)]
pub(crate) struct Motion {
    velocity: V3,
    /// By forces, and by the precession of bodies.
    acceleration: V3,
    turning: V3,
}

impl Motion {
    /// Adds a weight times the motion of the place at an arm on a frame.
    fn add(&mut self, c: f64, frame: &Carrier, arm: &V3) {
        self.velocity += c * (frame.velocity + frame.spin.cross(arm));
        self.acceleration += c * frame.acceleration_at(arm);
        self.turning += c * frame.precession().cross(arm);
    }

    /// Velocity gained in a time `h` `[s]`.
    fn gained(&self, h: f64) -> V3 {
        h * (self.acceleration + self.turning)
    }
}

impl Anchored {
    /// Contact that no body moves yet, without an impulse.
    pub fn unloaded(pair: Pair, obstacle: u32, n: V3, sign: f64) -> Self {
        Self {
            pair,
            weights: [0.0; 4],
            obstacle,
            n,
            arm: V3::zeros(),
            sign,
            free: V3::zeros(),
            gained: V3::zeros(),
            target: 0.0,
            inelastic_target: 0.0,
            parting: 0.0,
            friction: 0.0,
            parts: vec![],
            group: 0,
            backed: [None; 4],
            share: 0.0,
            push: 0.0,
            drag: V3::zeros(),
        }
    }

    /// On the first feature `[N s]`.
    pub fn impulse(&self) -> V3 {
        self.push * self.n + self.drag
    }

    /// Vertices of the cloth that cannot give way, by their numbers of the pair's four, and the part of
    /// the impulse that each bears, with the sign of its weight [-].
    pub fn held<'a>(&'a self, cloth: usize, ahead: &'a Ahead<'_>) -> impl Iterator<Item = (usize, f64)> + 'a {
        let is_held = move |k: &usize| {
            let v = self.pair.vertices[*k] as usize;
            v < cloth && (ahead.inverse_masses[v] == 0.0 || self.backed[*k].is_some())
        };
        let all: f64 = (0..4).filter(is_held).map(|k| self.weights[k].abs()).sum();
        let with_part = (0..4).filter(is_held).filter(|&k| self.weights[k] != 0.0);
        with_part.map(move |k| (k, self.weights[k] / all))
    }

    /// Whether both are between the same places, to within a distance `[m]`, along the same normal.
    pub fn is_at(&self, other: &Self, within: f64) -> bool {
        let features = |contact: &Self| (contact.pair.places(&contact.weights), contact.obstacle);
        features(self) == features(other) && self.n.dot(&other.n) > SAME && (self.arm - other.arm).norm() < within
    }
}

impl Contacts {
    /// Features of the cloth that cannot give way in the next step; none where nothing is to be
    /// stopped.
    pub(crate) fn find_anchors(&self, ahead: &Ahead<'_>) -> Option<Anchors> {
        if ahead.supports.is_empty() && !ahead.carriers.iter().any(Carriers::yields) {
            return None;
        }
        let reach = (1.0 + AHEAD) * self.parameters.thickness;
        let swept =
            |v: u32| Bounds::swept(&ahead.positions[v as usize], &(ahead.dt * ahead.velocities[v as usize]), reach);
        let resting = if self.obstacles.len() > 1 { self.resting(ahead) } else { vec![] };
        let cloth = self.features.vertices();
        let vertices = resting.iter().flat_map(|(pair, _)| pair.vertices);
        let mut pressed: Vec<u32> = vertices.filter(|v| (*v as usize) < cloth).collect();
        pressed.sort_unstable();
        let is_fixed = |v: &u32| ahead.inverse_masses[*v as usize] == 0.0 || pressed.binary_search(v).is_ok();
        let is_anchor = |leaf: &&Leaf| leaf.vertices.iter().any(is_fixed);
        let leaves: Vec<Leaf> = self.features.leaves().iter().filter(is_anchor).copied().collect();
        let around = leaves.iter().flat_map(|leaf| leaf.vertices).map(swept).reduce(|all, one| all.join(&one))?;
        Some(Anchors { leaves, around, resting })
    }

    /// Contacts that constrain the next step: of its motion without impulses, or those that are
    /// missed with such `changes` by impulses.
    pub(crate) fn find_anchored(
        &mut self,
        state: &State,
        ahead: &Ahead<'_>,
        anchors: &Anchors,
        bodies: &Bodies,
        changes: Option<&Changes>,
    ) -> Result<Vec<Anchored>, ContactError> {
        let Anchors { leaves, around, resting } = anchors;
        let moved = changes.map(|changes| bodies.moved(ahead.carriers, changes));
        let carriers = moved.as_deref().unwrap_or(ahead.carriers);
        let h = ahead.dt;
        let may_touch = |number: usize| {
            (carriers[number].yields() || !ahead.supports.is_empty() || !resting.is_empty())
                && self.may_come(number, &carriers[number], h, around)
        };
        let near: Vec<bool> = (0..self.obstacles.len()).map(may_touch).collect();
        if !near.contains(&true) {
            return Ok(vec![]);
        }

        // The next step, as it would be.
        let mut ends: Vec<V3> = ahead.positions.iter().zip(ahead.velocities).map(|(x, v)| x + h * v).collect();
        let supported = changes.into_iter().flat_map(|changes| bodies.moved_supports(changes, ahead));
        supported.for_each(|(vertex, change)| ends[vertex] += h * change);
        let points: Vec<[Vec<V3>; 2]> = carriers.iter().map(|carriers| points(carriers.all(), h)).collect();
        let paths: Vec<Path<'_>> = (carriers.iter().zip(&points))
            .map(|(carriers, [begin, end])| match carriers {
                Carriers::Absent => Path::Absent,
                Carriers::Frame(frame) => Path::Frame { begin: frame.pose, end: frame.next_pose(h) },
                Carriers::Points(_) => Path::Points { begin, end },
            })
            .collect();
        let step = Step {
            dt: h,
            begin: ahead.positions,
            velocities: None,
            inverse_masses: ahead.inverse_masses,
            paths: &paths,
        };
        self.check(&step, ahead.positions, &ends)?;
        self.start(&step, &ends);
        self.place(&paths, [0.0, 1.0], h);

        let backings = self.backings(resting, ahead);
        let reach = |k: usize| self.reach(k) + deeper(&backings, k as u32).unwrap_or(0.0);
        let boxes: Vec<Bounds> =
            (0..self.work.x.len()).map(|k| Bounds::swept(&self.work.x[k], &self.work.u[k], reach(k))).collect();
        let others = (self.obstacles.iter().zip(&self.work.first).zip(&near)).filter(|(_, near)| **near);
        let others =
            others.flat_map(|(((_, core), &first), _)| core.features.leaves().iter().map(move |&leaf| (leaf, first)));
        let others = others.filter(|(leaf, first)| Bounds::of(&boxes, &leaf.vertices.map(|v| v + first)).meets(around));
        let others: Vec<_> = others.collect();
        let work = &mut self.work;
        work.anchors.hold(leaves.iter().map(|&leaf| (leaf, 0)));
        work.anchors.fit(&boxes);
        work.ahead.hold(others.into_iter());
        work.ahead.fit(&boxes);
        let mut pairs = vec![];
        work.search.between(&work.anchors, &work.ahead, &boxes, self.parameters.most_pairs, &mut pairs)?;
        pairs.retain(|pair| !self.is_let_through(&pair.vertices));
        if changes.is_none() {
            self.work.entered = self.find_entered(state, ahead, &near);
        }
        if !self.work.entered.is_empty() {
            pairs.retain(|pair| !self.is_entered(pair));
        }
        let missed = changes.map(|changes| Missed { changes, carriers });
        let anchored = |pair| self.anchored(pair, state, ahead, bodies, missed.as_ref(), &backings);
        let mut found: Vec<Anchored> = pairs.iter().filter_map(anchored).collect();
        // A corner that is nearest to a corner is so in every pair of the features around either.
        found.sort_by_key(|contact| (contact.pair.places(&contact.weights), contact.obstacle));
        found.dedup_by_key(|contact| (contact.pair.places(&contact.weights), contact.obstacle));
        if changes.is_none() {
            found.extend(self.leaving(state, ahead, bodies, &near));
        }
        Ok(found)
    }

    /// Whether an obstacle may come into a box within `h` `[s]`.
    pub(crate) fn may_come(&self, number: usize, carriers: &Carriers, h: f64, around: &Bounds) -> bool {
        let (obstacle, core) = &self.obstacles[number];
        let reach = core.radius + (1.0 + AHEAD) * obstacle.thickness;
        let moved = |carrier: &Carrier| (carrier.pose.translation.vector, h * carrier.next_velocity(h));
        match carriers {
            Carriers::Absent => false,
            Carriers::Frame(frame) => self.frame_enters(number, [&frame.pose, &frame.next_pose(h)], reach, around),
            Carriers::Points(points) => points_enter(points.iter().map(moved), reach, around),
        }
    }

    /// The contact of a pair, if it is near or would touch in the next step, with cloth that cannot
    /// make way for all of it.
    fn anchored(
        &self,
        pair: &Pair,
        state: &State,
        ahead: &Ahead<'_>,
        bodies: &Bodies,
        missed: Option<&Missed<'_>>,
        backings: &[Backing],
    ) -> Option<Anchored> {
        let obstacle = self.obstacle(pair)?;
        let meeting = self.meeting(Some(obstacle));
        let begin = self.nearest_of(pair);
        if self.leaves(state, pair, obstacle, ahead) || self.is_far_side(pair, &begin, Some(obstacle)) {
            return None;
        }
        let depth = pair.vertices.iter().filter_map(|&v| deeper(backings, v)).reduce(f64::max);
        let seen = match missed {
            Some(_) => self.see_missed(pair, begin, &meeting)?,
            None => self.see(pair, begin, &meeting, depth)?,
        };
        let near = &seen.near;
        if self.is_beside_rim(pair, near, Some(obstacle)) {
            return None;
        }
        let cloth = self.features.vertices();
        let straight = self.direction(pair, near, Some(obstacle))?;
        let sign = self.sign_of(pair, near);
        let of_cloth = |v: u32| (v as usize) < cloth;
        let is_free = |v: u32| of_cloth(v) && ahead.inverse_masses[v as usize] > 0.0;
        let out = -sign * straight;
        let backing = |v: u32| against(backings, v, obstacle, &out).filter(|_| is_free(v)).copied();
        let backed = pair.vertices.map(backing);
        // Each vertex that is backed bears by itself: what counts is how close both obstacles are.
        let bears = backed.iter().any(Option::is_some);
        if bears && missed.is_some() || !bears && self.is_beside(pair, near, Some(obstacle)) {
            return None;
        }
        if !bears && self.is_centre_of_cap(pair, near, &seen.x) {
            return None;
        }
        // Cloth that slides in between two obstacles passes their rims, which would stop it askew.
        let behind: V3 = (0..4).filter_map(|k| backed[k].map(|backing| near.weights[k].abs() * backing.out)).sum();
        let is_backed = behind.norm() > VERTEX;
        if !is_backed && self.is_askew(pair, &seen, sign, |v| !is_free(v)) {
            return None;
        }
        let n = if is_backed { sign * behind.normalize() } else { straight };
        let inverse_masses: [f64; 4] = std::array::from_fn(|k| match pair.vertices[k] {
            v if is_free(v) && backed[k].is_none() => ahead.inverse_masses[v as usize],
            _ => 0.0,
        });
        let way_made = makes_way(&[0, 1, 2, 3], &near.weights, &inverse_masses);
        let gives_way = |k: usize| !of_cloth(pair.vertices[k]) || inverse_masses[k] > 0.0 || near.weights[k] == 0.0;
        if way_made >= 1.0 || (0..4).all(gives_way) || self.is_borne_by_other(near, &backed, backings, obstacle, ahead)
        {
            return None;
        }
        // Friction of cloth that can slide is found in its own step (`pressed.rs`).
        let friction = if bears { 0.0 } else { meeting.friction };
        let unloaded = Anchored::unloaded(*pair, obstacle, n, sign);
        let mut contact = Anchored { weights: near.weights, friction, backed, ..unloaded };
        contact.arm = self.arm(&contact, &seen, &straight, ahead, missed);
        let motion = self.motion_at(&mut contact, ahead, bodies)?;

        let below: f64 = (0..4).filter_map(|k| backed[k].map(|backing| near.weights[k].abs() * backing.room)).sum();
        let mut apart = self.apart(pair, near, &seen.x, &straight, &meeting);
        if missed.is_some() && !seen.is_end() {
            let of_cloth = pair.parts(near.weights, cloth).map(|(v, c)| c * self.work.u[v]).sum::<V3>();
            apart += straight.dot(&(self.drift(pair, Some(obstacle), &meeting, near, &straight) + of_cloth));
        }
        let mut room = n.dot(&straight) * apart + below - meeting.thickness;
        if missed.is_some() || seen.is_end() {
            // That is at the end of the path, which arms describe to first order.
            let changed = missed.map_or(V3::zeros(), |missed| missed.changes.relative(&contact.parts));
            room -= ahead.dt * n.dot(&(contact.free + changed));
        }
        self.ask(&mut contact, &motion, room, way_made, &meeting, (ahead.dt, missed.is_some()));
        Some(contact)
    }

    /// Nearest points by which a pair is a contact: at the start of the step if it is near, else at
    /// its impact. Where its cloth rests on obstacles, closer than the thickness by a `depth` `[m]`, it is
    /// near from that much farther on: the sum of both distances counts.
    fn see(&self, pair: &Pair, begin: Nearest, meeting: &Meeting, depth: Option<f64>) -> Option<Seen> {
        let reach = meeting.radius + (1.0 + AHEAD) * meeting.thickness + depth.unwrap_or(0.0);
        if begin.distance() < reach {
            return Some(self.seen(pair, begin, 0.0));
        }
        // Cloth that slides in between two obstacles passes a rim, which would seem to stop it: it
        // counts where it ends.
        let then = depth.map(|_| self.nearest_then(pair)).filter(|then| then.distance() < reach);
        if let Some(then) = then {
            return Some(self.seen(pair, then, 1.0));
        }
        let kept = meeting.radius + meeting.thickness;
        let impact = self.impact_of(pair, begin, kept, 0.1 * meeting.thickness)?;
        Some(self.seen(pair, impact.nearest, impact.time))
    }

    /// Whether cloth that `is_held` has nearer points right beside those of a pair, which have a
    /// contact by themselves: an edge ahead of what slides on a wall of cloth would stop it. An
    /// obstacle may have nearer points there, as one has that is about to lie flat on its corners.
    fn is_askew(&self, pair: &Pair, seen: &Seen, sign: f64, is_held: impl Fn(u32) -> bool) -> bool {
        !self.leads_away(pair, &seen.near, sign < 0.0, seen.part, FLAT, is_held)
    }

    /// Nearest points of a pair that impulses should have kept apart and have not: at the end of
    /// the step, or at its impact if its features have passed each other.
    fn see_missed(&self, pair: &Pair, begin: Nearest, meeting: &Meeting) -> Option<Seen> {
        let then = self.nearest_then(pair);
        let kept = meeting.radius + (1.0 - MISSED) * meeting.thickness;
        if then.offset.dot(&begin.offset) > 0.0 {
            return (then.distance() < kept.min(begin.distance())).then(|| self.seen(pair, then, 1.0));
        }
        let impact = self.impact_of(pair, begin, kept, 0.1 * meeting.thickness)?;
        let has_passed = impact.nearest.offset.dot(&then.offset) <= 0.0;
        let (near, part) = if has_passed { (impact.nearest, impact.time) } else { (then, 1.0) };
        Some(self.seen(pair, near, part))
    }

    /// Nearest points after a part of the step. Positions are those at its end, or its start.
    fn seen(&self, pair: &Pair, near: Nearest, part: f64) -> Seen {
        let x = pair.vertices.map(|v| {
            let way = if part == 1.0 { self.work.u[v as usize] } else { V3::zeros() };
            self.work.x[v as usize] + way
        });
        Seen { near, x, part }
    }

    /// Place of a contact from the origin of an obstacle's frame `[m]`; 0 where points carry it.
    fn arm(
        &self,
        contact: &Anchored,
        seen: &Seen,
        straight: &V3,
        ahead: &Ahead<'_>,
        missed: Option<&Missed<'_>>,
    ) -> V3 {
        let obstacle = contact.obstacle as usize;
        let carriers = missed.map_or(ahead.carriers, |missed| missed.carriers);
        let Carriers::Frame(frame) = &carriers[obstacle] else { return V3::zeros() };
        let pose = if seen.is_end() { frame.next_pose(ahead.dt) } else { frame.pose };
        let core = self.core_point(&contact.pair, &seen.near, &seen.x, Some(contact.obstacle));
        core - contact.sign * self.work.meetings[obstacle].radius * straight - pose.translation.vector
    }

    /// Relative motion of a contact's features. Sets its free velocity and the bodies that move it; none
    /// if nothing does.
    pub(crate) fn motion_at(&self, contact: &mut Anchored, ahead: &Ahead<'_>, bodies: &Bodies) -> Option<Motion> {
        let (cloth, obstacle, pair, mut motion) =
            (self.features.vertices(), contact.obstacle, contact.pair, Motion::default());
        let (mut supports, mut own) = (vec![], vec![]);
        // Cloth that can give way does: a contact has the motion of what holds it.
        for (k, c) in contact.held(cloth, ahead) {
            let v = pair.vertices[k];
            if let Some(Backing { obstacle, arm, .. }) = contact.backed[k]
                && let Carriers::Frame(frame) = &ahead.carriers[obstacle as usize]
            {
                motion.add(c, frame, &arm);
                bodies.add(&mut supports, bodies.of_obstacle(obstacle, 0), c, &(frame.pose.translation.vector + arm));
                continue;
            }
            motion.velocity += c * ahead.velocities[v as usize];
            if let Some((body, acceleration)) = bodies.of_support(v, ahead) {
                motion.acceleration += c * acceleration;
                bodies.add(&mut supports, body, c, &ahead.positions[v as usize]);
            }
        }
        match &ahead.carriers[obstacle as usize] {
            Carriers::Absent => return None,
            Carriers::Frame(frame) => {
                motion.add(contact.sign, frame, &contact.arm);
                let place = frame.pose.translation.vector + contact.arm;
                bodies.add(&mut own, bodies.of_obstacle(obstacle, 0), contact.sign, &place);
            }
            Carriers::Points(points) => {
                for (&v, &c) in pair.vertices.iter().zip(&contact.weights).filter(|(v, _)| **v as usize >= cloth) {
                    let number = v - self.work.first[obstacle as usize];
                    let point = &points[number as usize];
                    motion.velocity += c * point.velocity;
                    motion.acceleration += c * point.accelerations()[0];
                    let place = point.pose.translation.vector;
                    bodies.add(&mut own, bodies.of_obstacle(obstacle, number), c, &place);
                }
            }
        }
        let along = |parts: &[Part]| contact.n.dot(&(bodies.mobility(parts) * contact.n));
        let apart = along(&own) + along(&supports);
        supports.iter().for_each(|part| bodies.join(&mut own, part));
        contact.parts = own;
        contact.gained = motion.gained(ahead.dt);
        contact.free = motion.velocity + contact.gained;
        // One body that carries both features cannot part them.
        (along(&contact.parts) > ROUNDING * apart).then_some(motion)
    }

    /// Sets the velocity that a contact asks for, and the part of its impulse that acts as a force, where features have `room`
    /// `[m]` at the start of the step.
    pub(crate) fn ask(
        &self,
        contact: &mut Anchored,
        motion: &Motion,
        room: f64,
        way_made: f64,
        meeting: &Meeting,
        (h, is_missed): (f64, bool),
    ) {
        let n = contact.n;
        let approach = -n.dot(&motion.velocity);
        let asked = match room {
            0.0.. => -room / h,
            // A body that turns may only seem to penetrate at the start of the step.
            _ if is_missed => (-room / h).min(0.5 * approach.max(0.0)),
            _ => self.parameters.rates.recovered(h) * (-room).min(meeting.thickness) / h,
        };
        let excess = (asked - n.dot(&contact.free)).max(0.0);
        contact.inelastic_target = asked - way_made * excess;
        contact.target = contact.inelastic_target;
        contact.parting = contact.target.max(0.0);
        if excess > 0.0 {
            let falling = -h * n.dot(&motion.acceleration);
            contact.share = (falling.max(0.0) / excess).min(1.0);
            let back = self.thrown_back(meeting, approach);
            if back > 0.0 {
                // Velocity that accelerations add within the step is not thrown back.
                contact.target = contact.target.max((1.0 - way_made) * (back - falling.max(0.0)));
            }
        }
    }

    /// Whether a contact of one vertex between two obstacles is left to the other of them, which is
    /// lighter there.
    fn is_borne_by_other(
        &self,
        near: &Nearest,
        backed: &[Option<Backing>; 4],
        backings: &[Backing],
        obstacle: u32,
        ahead: &Ahead<'_>,
    ) -> bool {
        let whole = (0..4).find(|&k| near.weights[k].abs() > VERTEX).and_then(|k| backed[k]);
        let Some(below) = whole else { return false };
        let own = backings.iter().find(|own| (own.vertex, own.obstacle) == (below.vertex, obstacle));
        let mobility = |backing: &Backing| match &ahead.carriers[backing.obstacle as usize] {
            Carriers::Frame(frame) => below.out.dot(&(frame.mobility.at(&backing.arm) * below.out)),
            _ => 0.0,
        };
        own.is_some_and(|own| (mobility(own), below.obstacle) < (mobility(&below), obstacle))
    }

    /// Sign of the obstacle's feature in a pair.
    pub(crate) fn sign_of(&self, pair: &Pair, near: &Nearest) -> f64 {
        let cloth = self.features.vertices();
        let of_obstacle = pair.vertices.iter().zip(near.weights).filter(|(v, _)| **v as usize >= cloth);
        of_obstacle.map(|(_, c)| c).sum::<f64>().signum()
    }
}
