//! Contacts of obstacles with cloth that cannot give way, for `stops.rs`: those that are near, or would touch in the next step.

use nalgebra::{Matrix3, Vector3};

use crate::{
    Ahead, Carrier, Carriers, ContactError, Contacts, Path, State, Step,
    backed::{Backing, VERTEX, against},
    broad::{Bounds, Pair},
    carriers::points,
    contacts::{AHEAD, Meeting},
    distance::Nearest,
    features::Leaf,
    place::points_enter,
    respond::makes_way,
};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Part of the thickness by which a body may end a step closer than it should, by the curvature of its way [-].
pub(crate) const MISSED: f64 = 0.1;

/// A contact of an obstacle with cloth that cannot give way.
pub(crate) struct Anchored {
    pub pair: Pair,
    pub weights: [f64; 4],
    pub obstacle: u32,
    /// Sign of the obstacle's feature in the relative velocity.
    pub sign: f64,
    pub n: V3,
    /// Place of the contact from the frame's origin `[m]`.
    pub arm: V3,
    /// Relative velocity that it has by itself, and that it is to have along n `[m/s]`.
    pub free: V3,
    pub target: f64,
    pub friction: f64,
    /// Change of the relative velocity by an impulse, and the part of it that is the supports' `[1/kg]`.
    pub mobility: M3,
    pub of_supports: M3,
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

impl Anchored {
    /// On the first feature `[N s]`.
    pub fn impulse(&self) -> V3 {
        self.push * self.n + self.drag
    }

    /// Whether both are between the same places, to within a distance `[m]`, along the same normal.
    pub fn is_at(&self, other: &Self, within: f64) -> bool {
        let features = |contact: &Self| (contact.pair.places(&contact.weights), contact.obstacle);
        features(self) == features(other) && self.n == other.n && (self.arm - other.arm).norm() < within
    }
}

impl Contacts {
    /// Features of the cloth that cannot give way in the next step; none where nothing is to be stopped.
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

    /// Contacts that constrain the next step, with its carriers as they are, or as impulses have changed them (`next`).
    pub(crate) fn find_anchored(
        &mut self,
        state: &State,
        ahead: &Ahead<'_>,
        anchors: &Anchors,
        next: Option<&[Carriers]>,
    ) -> Result<Vec<Anchored>, ContactError> {
        let Anchors { leaves, around, resting } = anchors;
        let carriers = next.unwrap_or(ahead.carriers);
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
        let ends: Vec<V3> = ahead.positions.iter().zip(ahead.velocities).map(|(x, v)| x + h * v).collect();
        let points: Vec<[Vec<V3>; 2]> = carriers.iter().map(|carriers| points(carriers.all(), h)).collect();
        let paths: Vec<Path<'_>> = (carriers.iter().zip(&points))
            .map(|(carriers, [begin, end])| match carriers {
                Carriers::Absent => Path::Absent,
                Carriers::Frame(frame) => Path::Frame { begin: frame.pose, end: frame.next_pose(h) },
                Carriers::Points(_) => Path::Points { begin, end },
            })
            .collect();
        let step = Step { dt: h, begin: ahead.positions, inverse_masses: ahead.inverse_masses, paths: &paths };
        self.check(&step, ahead.positions, &ends)?;
        self.start(&step, &ends);
        self.place(&paths, [0.0, 1.0], h);

        let boxes: Vec<Bounds> =
            (0..self.work.x.len()).map(|k| Bounds::swept(&self.work.x[k], &self.work.u[k], self.reach(k))).collect();
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
        let backings = self.backings(resting, ahead);
        let anchored = |pair| self.anchored(pair, state, ahead, next, &backings);
        let mut found: Vec<Anchored> = pairs.iter().filter_map(anchored).collect();
        // A corner that is nearest to a corner is so in every pair of the features around either.
        found.sort_by_key(|contact| (contact.pair.places(&contact.weights), contact.obstacle));
        found.dedup_by_key(|contact| (contact.pair.places(&contact.weights), contact.obstacle));
        Ok(found)
    }

    /// Whether an obstacle may come into a box within `h` `[s]`.
    pub(crate) fn may_come(&self, number: usize, carriers: &Carriers, h: f64, around: &Bounds) -> bool {
        let (obstacle, core) = &self.obstacles[number];
        let reach = core.radius + (1.0 + AHEAD) * obstacle.thickness;
        let moved = |carrier: &Carrier| (carrier.pose.translation.vector, h * carrier.next_velocity(h));
        match carriers {
            Carriers::Absent => false,
            Carriers::Frame(frame) => {
                let (at, way) = moved(frame);
                self.frame_enters(number, &at, &way, reach, around)
            }
            Carriers::Points(points) => points_enter(points.iter().map(moved), reach, around),
        }
    }

    /// The contact of a pair, if it is near or would touch in the next step, with cloth that cannot make way for all of it.
    fn anchored(
        &self,
        pair: &Pair,
        state: &State,
        ahead: &Ahead<'_>,
        next: Option<&[Carriers]>,
        backings: &[Backing],
    ) -> Option<Anchored> {
        let (work, h) = (&self.work, ahead.dt);
        let obstacle = self.obstacle(pair)?;
        let meeting = self.meeting(Some(obstacle));
        let mut x = pair.vertices.map(|v| work.x[v as usize]);
        let begin = self.nearest_of(pair);
        if self.is_inside(state, pair, Some(obstacle)) || self.is_far_side(pair, &begin, Some(obstacle)) {
            return None;
        }
        let reach = meeting.radius + (1.0 + AHEAD) * meeting.thickness;
        let is_near = begin.distance() < reach;
        // Cloth that slides in between two obstacles passes a rim, which would seem to stop it: it counts where it ends.
        let may_be_backed = pair.vertices.iter().any(|v| backings.binary_search_by_key(v, |b| b.vertex).is_ok());
        let then = match next {
            Some(_) => Some(self.end_of_missed(pair, begin, &meeting)?),
            None if !is_near && may_be_backed => {
                Some((self.nearest_then(pair), 1.0)).filter(|(then, _)| then.distance() < reach)
            }
            None => None,
        };
        let near = match then {
            Some((then, _)) => {
                x = pair.vertices.map(|v| work.x[v as usize] + work.u[v as usize]);
                then
            }
            None if is_near => begin,
            None => {
                let kept = meeting.radius + meeting.thickness;
                self.impact_of(pair, begin, kept, 0.1 * meeting.thickness)?.nearest
            }
        };
        if self.is_beside(pair, &near, Some(obstacle)) {
            return None;
        }
        let cloth = self.features.vertices();
        let n = self.direction(pair, &near, Some(obstacle))? * then.map_or(1.0, |(_, side)| side);
        let sign = self.sign_of(pair, &near);
        let out = -sign * n;
        let of_cloth = |v: u32| (v as usize) < cloth;
        let is_free = |v: u32| of_cloth(v) && ahead.inverse_masses[v as usize] > 0.0;
        let backing = |v: u32| against(backings, v, obstacle, &out).filter(|_| is_free(v)).copied();
        let backed = pair.vertices.map(backing);
        if next.is_some() && backed.iter().any(Option::is_some) {
            return None;
        }
        // Cloth that slides in between two obstacles passes their rims, which would stop it askew.
        let behind: V3 = (0..4).filter_map(|k| backed[k].map(|backing| near.weights[k].abs() * backing.out)).sum();
        let straight = n;
        let n = if behind.norm() > VERTEX { sign * behind.normalize() } else { n };
        let inverse_masses: [f64; 4] = std::array::from_fn(|k| match pair.vertices[k] {
            v if is_free(v) && backed[k].is_none() => ahead.inverse_masses[v as usize],
            _ => 0.0,
        });
        let way_made = makes_way(&[0, 1, 2, 3], &near.weights, &inverse_masses);
        let gives_way = |k: usize| !of_cloth(pair.vertices[k]) || inverse_masses[k] > 0.0 || near.weights[k] == 0.0;
        if way_made >= 1.0 || (0..4).all(gives_way) || self.is_borne_by_other(&near, &backed, backings, obstacle, ahead)
        {
            return None;
        }
        let mut contact = Anchored {
            pair: *pair,
            weights: near.weights,
            obstacle,
            sign,
            n,
            arm: V3::zeros(),
            free: V3::zeros(),
            target: 0.0,
            // Friction of cloth that can slide is found in its own step (`pressed.rs`).
            friction: if backed.iter().any(Option::is_some) { 0.0 } else { meeting.friction },
            mobility: M3::zeros(),
            of_supports: M3::zeros(),
            backed,
            share: 0.0,
            push: 0.0,
            drag: V3::zeros(),
        };
        let (mut drift, mut turning, mut changed) = (V3::zeros(), V3::zeros(), V3::zeros());
        for k in (0..4).filter(|&k| of_cloth(pair.vertices[k])) {
            let (v, c) = (pair.vertices[k] as usize, near.weights[k]);
            match backed[k].map(|backing| (backing, &ahead.carriers[backing.obstacle as usize])) {
                Some((Backing { arm, .. }, Carriers::Frame(frame))) => {
                    contact.free += c * (frame.velocity + frame.spin.cross(&arm));
                    drift += c * frame.acceleration_at(&arm);
                    turning += c * frame.precession().cross(&arm);
                    contact.mobility += c * c * frame.mobility.at(&arm);
                }
                _ => {
                    contact.free += c * ahead.velocities[v];
                    contact.of_supports += c * c * support(ahead, v);
                }
            }
        }
        contact.mobility += contact.of_supports;
        match &ahead.carriers[obstacle as usize] {
            Carriers::Absent => return None,
            Carriers::Frame(frame) => {
                let core = self.core_point(pair, &near, &x, Some(obstacle));
                let next = match next.map(|carriers| &carriers[obstacle as usize]) {
                    Some(Carriers::Frame(next)) => next,
                    _ => frame,
                };
                let origin = if then.is_some() { next.next_pose(h) } else { frame.pose }.translation.vector;
                contact.arm = core - contact.sign * meeting.radius * straight - origin;
                let [velocity, spin] = [next.velocity - frame.velocity, next.spin - frame.spin];
                changed = contact.sign * (velocity + spin.cross(&contact.arm));
                contact.free += contact.sign * (frame.velocity + frame.spin.cross(&contact.arm));
                drift += contact.sign * frame.acceleration_at(&contact.arm);
                turning += contact.sign * frame.precession().cross(&contact.arm);
                contact.mobility += frame.mobility.at(&contact.arm);
            }
            Carriers::Points(points) => {
                for (&v, &c) in pair.vertices.iter().zip(&near.weights).filter(|(v, _)| **v as usize >= cloth) {
                    let number = (v - work.first[obstacle as usize]) as usize;
                    let point = &points[number];
                    if let Some(Carriers::Points(next)) = next.map(|carriers| &carriers[obstacle as usize]) {
                        changed += c * (next[number].velocity - point.velocity);
                    }
                    contact.free += c * point.velocity;
                    drift += c * point.accelerations()[0];
                    contact.mobility += c * c * point.mobility.linear;
                }
            }
        }
        if n.dot(&(contact.mobility * n)) <= 0.0 {
            return None;
        }

        let below: f64 = (0..4).filter_map(|k| backed[k].map(|backing| near.weights[k].abs() * backing.room)).sum();
        let mut room = n.dot(&straight) * self.apart(pair, &near, &x, &straight, &meeting) + below - meeting.thickness;
        if then.is_some() {
            room -= h * n.dot(&(contact.free + changed + h * (drift + turning)));
        }
        let approach = -n.dot(&contact.free);
        let asked = match room {
            0.0.. => -room / h,
            // A body that turns may only seem to penetrate at the start of the step.
            _ if next.is_some() => (-room / h).min(0.5 * approach.max(0.0)),
            _ => self.parameters.rates.recovered(h) * (-room).min(meeting.thickness) / h,
        };
        let falling = -h * n.dot(&drift);
        contact.free += h * (drift + turning);
        let excess = (asked - n.dot(&contact.free)).max(0.0);
        contact.target = asked - way_made * excess;
        if excess > 0.0 {
            contact.share = (falling.max(0.0) / excess).min(1.0);
            if meeting.restitution > 0.0 && approach > self.parameters.rates.restitution_threshold {
                contact.target = contact.target.max((1.0 - way_made) * meeting.restitution * approach);
            }
        }
        Some(contact)
    }

    /// Whether a contact of one vertex between two obstacles is left to the other of them, which is lighter there.
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

    /// Nearest points at the end of the step of a pair that impulses should have kept apart and have not, and the sign of its
    /// direction there: -1 if its features have passed each other.
    fn end_of_missed(&self, pair: &Pair, begin: Nearest, meeting: &Meeting) -> Option<(Nearest, f64)> {
        let then = self.nearest_then(pair);
        let kept = meeting.radius + (1.0 - MISSED) * meeting.thickness;
        let from = match then.offset.dot(&begin.offset) > 0.0 {
            true => Some(begin.offset).filter(|_| then.distance() < kept.min(begin.distance())),
            false => self.impact_of(pair, begin, kept, 0.1 * meeting.thickness).map(|impact| impact.nearest.offset),
        };
        Some((then, from?.dot(&then.offset).signum()))
    }

    /// Sign of the obstacle's feature in a pair.
    fn sign_of(&self, pair: &Pair, near: &Nearest) -> f64 {
        let cloth = self.features.vertices();
        let of_obstacle = pair.vertices.iter().zip(near.weights).filter(|(v, _)| **v as usize >= cloth);
        of_obstacle.map(|(_, c)| c).sum::<f64>().signum()
    }
}

/// Mobility of a kinematic vertex by its support `[1/kg]`.
pub(crate) fn support(ahead: &Ahead<'_>, vertex: usize) -> M3 {
    let found = ahead.supports.binary_search_by_key(&(vertex as u32), |(v, _)| *v);
    found.map_or(M3::zeros(), |k| ahead.supports[k].1)
}
