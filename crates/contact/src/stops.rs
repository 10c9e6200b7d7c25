//! Impulses of two bodies where cloth cannot give way: what stops an obstacle at kinematic vertices.
//!
//! Cloth makes room for an obstacle by moving its free vertices. Where a contact has none, or next to none beside a pin, the
//! obstacle has to give way instead, by its own mobility. Its path over a step is prescribed, so that is asked of its next step,
//! before it gets there: with x the places at the end of this step, h the length of the next one and n the normal where they
//! would touch, each such contact asks of the relative velocity v of its features
//!
//!   n·v >= -r/h - φ e,   r = n·Σ c x - thickness,   e = max(0, -r/h - n·(v₀ + h a)),
//!
//! where v₀ and a are velocities now and accelerations by all else. φ is the part of the way that the cloth makes by itself
//! (`makes_way` in `respond.rs`): 0 at kinematic cloth, growing continuously to 1 a quarter of a cell beside a pin. With restitution n·v is at least
//! that part of the approach besides. Impulses j >= 0 along n, with Coulomb friction, solve all contacts together by projected
//! Gauss-Seidel with the mobilities W of obstacles and supports: a contact alone gets j = e/(n·W n). Supports of the kinematic
//! vertices take the opposite.
//!
//! The part of j that holds against accelerations acts as a force over the next step, so that what rests stays at rest; all
//! else is an impulse at its start.

use nalgebra::{Matrix3, Vector3};

use crate::{
    ContactError, Contacts, Path, Reaction, Shape, State, Step,
    backed::{Backing, VERTEX, against},
    broad::{Bounds, Pair},
    carriers::{Ahead, Carrier, Carriers, points},
    contacts::AHEAD,
    distance::Nearest,
    features::Leaf,
    pressed::Load,
    respond::makes_way,
};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Sweeps over the contacts, and the change of impulses relative to the largest at which they end [-].
const SWEEPS: usize = 200;
const SETTLED: f64 = 1e-9;

/// Impulses that stop obstacles. Forces are given as impulses over the next step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stops {
    /// On carriers, spread over the next step.
    pub forces: Vec<Reaction>,
    /// On carriers, at the start of the next step.
    pub impacts: Vec<Reaction>,
    /// Impulses on kinematic vertices, which their supports take.
    pub supports: Vec<Supported>,
}

/// An impulse on a kinematic vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Supported {
    /// Number of the vertex.
    pub vertex: u32,
    /// Point of action on the cloth `[m]`.
    pub place: V3,
    /// Spread over the next step `[N s]`.
    pub force: V3,
    /// At its start `[N s]`.
    pub impact: V3,
}

/// A contact of an obstacle with cloth that cannot give way.
struct Anchored {
    pair: Pair,
    weights: [f64; 4],
    obstacle: u32,
    /// Sign of the obstacle's feature in the relative velocity.
    sign: f64,
    n: V3,
    /// Place of the contact from the frame's origin `[m]`.
    arm: V3,
    /// Relative velocity that it has by itself, and that it is to have along n `[m/s]`.
    free: V3,
    target: f64,
    friction: f64,
    /// Change of the relative velocity by an impulse, and the part of it that is the supports' `[1/kg]`.
    mobility: M3,
    of_supports: M3,
    /// Of the pair's vertices, the obstacle that a free one rests on, by which it bears this one.
    backed: [Option<Backing>; 4],
    /// Part of the impulse that acts as a force [-].
    share: f64,
    /// Sum of impulses on the first feature `[N s]`.
    push: f64,
    drag: V3,
}

/// Velocities that impulses have changed: of frames, by obstacle, and of vertices.
struct Changes {
    frames: Vec<[V3; 2]>,
    vertices: Vec<V3>,
}

impl Changes {
    /// Adds what an impulse at an arm changes of an obstacle's frame.
    fn push_frame(&mut self, obstacle: u32, frame: &Carrier, arm: &V3, impulse: &V3) {
        let [v, w] = frame.mobility.change(impulse, &arm.cross(impulse));
        let [velocity, spin] = &mut self.frames[obstacle as usize];
        *velocity += v;
        *spin += w;
    }
}

impl Contacts {
    /// Impulses that stop obstacles in the next step where kinematic cloth, or what cloth lies on, has no room for them. The state
    /// takes the loads with which obstacles press cloth between them, for its friction in the next step. It takes over the memory
    /// of the last step, so read what that gave before.
    ///
    /// # Errors
    /// As [`Contacts::resolve`], but for what touches. The state is then without loads.
    pub fn stops(&mut self, state: &mut State, ahead: &Ahead<'_>) -> Result<Stops, ContactError> {
        state.forget_loads();
        let contacts = self.find_anchored(state, ahead)?;
        let of_pair = |contact: &Anchored| {
            let backed = contact.pair.vertices.into_iter().zip(contact.backed).filter(|(_, backing)| backing.is_some());
            backed.map(|(vertex, _)| [vertex, contact.obstacle]).collect::<Vec<_>>()
        };
        state.borne.extend(contacts.iter().flat_map(of_pair));
        state.borne.sort_unstable();
        state.borne.dedup();
        if contacts.is_empty() {
            return Ok(Stops::default());
        }
        let (stops, loads) = self.solve_anchored(contacts, ahead);
        state.pressed = self.pressed(loads, ahead);
        Ok(stops)
    }

    fn find_anchored(&mut self, state: &State, ahead: &Ahead<'_>) -> Result<Vec<Anchored>, ContactError> {
        if ahead.supports.is_empty() && !ahead.carriers.iter().any(Carriers::yields) {
            return Ok(vec![]);
        }
        let h = ahead.dt;
        let reach = (1.0 + AHEAD) * self.parameters.thickness;
        let swept = |v: u32| Bounds::swept(&ahead.positions[v as usize], &(h * ahead.velocities[v as usize]), reach);
        let resting = if self.obstacles.len() > 1 { self.resting(ahead) } else { vec![] };
        let cloth = self.features.vertices();
        let vertices = resting.iter().flat_map(|(pair, _)| pair.vertices);
        let mut pressed: Vec<u32> = vertices.filter(|v| (*v as usize) < cloth).collect();
        pressed.sort_unstable();
        let is_fixed = |v: &u32| ahead.inverse_masses[*v as usize] == 0.0 || pressed.binary_search(v).is_ok();
        let is_anchor = |leaf: &&Leaf| leaf.vertices.iter().any(is_fixed);
        let anchors = self.features.leaves().iter().filter(is_anchor);
        let around = anchors.clone().flat_map(|leaf| leaf.vertices).map(swept).reduce(|all, one| all.join(&one));
        let Some(around) = around else { return Ok(vec![]) };
        let may_touch = |number: usize| {
            let carriers = &ahead.carriers[number];
            (carriers.yields() || !ahead.supports.is_empty() || !resting.is_empty())
                && self.may_come(number, carriers, h, &around)
        };
        if !(0..self.obstacles.len()).any(may_touch) {
            return Ok(vec![]);
        }
        let near: Vec<bool> = (0..self.obstacles.len()).map(may_touch).collect();
        let leaves: Vec<(Leaf, u32)> = anchors.map(|&leaf| (leaf, 0)).collect();

        // The next step, as it would be.
        let ends: Vec<V3> = ahead.positions.iter().zip(ahead.velocities).map(|(x, v)| x + h * v).collect();
        let points: Vec<[Vec<V3>; 2]> = ahead.carriers.iter().map(|carriers| points(carriers.all(), h)).collect();
        let paths: Vec<Path<'_>> = (ahead.carriers.iter().zip(&points))
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
        let others =
            others.filter(|(leaf, first)| Bounds::of(&boxes, &leaf.vertices.map(|v| v + first)).meets(&around));
        let others: Vec<_> = others.collect();
        let work = &mut self.work;
        work.anchors.hold(leaves.into_iter());
        work.anchors.fit(&boxes);
        work.ahead.hold(others.into_iter());
        work.ahead.fit(&boxes);
        let mut pairs = vec![];
        work.search.between(&work.anchors, &work.ahead, &boxes, self.parameters.most_pairs, &mut pairs)?;
        pairs.retain(|pair| !self.is_let_through(&pair.vertices));
        let backings = self.backings(&resting, ahead);
        let anchored = |pair| self.anchored(pair, state, ahead, &backings);
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
        let swept = |carrier: &Carrier, extent: f64| {
            let at = carrier.pose.translation.vector;
            Bounds::swept(&at, &(h * carrier.next_velocity(h)), extent + reach)
        };
        let all = match carriers {
            Carriers::Frame(_) if obstacle.shape == Shape::HalfSpace => return true,
            Carriers::Frame(frame) => Some(swept(frame, core.extent)),
            Carriers::Absent => None,
            Carriers::Points(points) => points.iter().map(|p| swept(p, 0.0)).reduce(|all, one| all.join(&one)),
        };
        all.is_some_and(|all| all.meets(around))
    }

    /// The contact of a pair, if it is near or would touch in the next step, with cloth that cannot make way for all of it.
    fn anchored(&self, pair: &Pair, state: &State, ahead: &Ahead<'_>, backings: &[Backing]) -> Option<Anchored> {
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
        let then = (!is_near && may_be_backed).then(|| self.nearest_then(pair)).filter(|then| then.distance() < reach);
        let near = match then {
            _ if is_near => begin,
            Some(then) => {
                x = pair.vertices.map(|v| work.x[v as usize] + work.u[v as usize]);
                then
            }
            None => {
                let kept = meeting.radius + meeting.thickness;
                self.impact_of(pair, begin, kept, 0.1 * meeting.thickness)?.nearest
            }
        };
        if self.is_beside(pair, &near, Some(obstacle)) {
            return None;
        }
        let cloth = self.features.vertices();
        let n = self.direction(pair, &near, Some(obstacle))?;
        let sign = self.sign_of(pair, &near);
        let out = -sign * n;
        let of_cloth = |v: u32| (v as usize) < cloth;
        let is_free = |v: u32| of_cloth(v) && ahead.inverse_masses[v as usize] > 0.0;
        let backing = |v: u32| against(backings, v, obstacle, &out).filter(|_| is_free(v)).copied();
        let backed = pair.vertices.map(backing);
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
        let mut drift = V3::zeros();
        for k in (0..4).filter(|&k| of_cloth(pair.vertices[k])) {
            let (v, c) = (pair.vertices[k] as usize, near.weights[k]);
            match backed[k].map(|backing| (backing, &ahead.carriers[backing.obstacle as usize])) {
                Some((Backing { arm, .. }, Carriers::Frame(frame))) => {
                    contact.free += c * (frame.velocity + frame.spin.cross(&arm));
                    drift += c * frame.acceleration_at(&arm);
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
                let origin =
                    if then.is_some() { frame.next_pose(h).translation.vector } else { frame.pose.translation.vector };
                contact.arm = core - contact.sign * meeting.radius * straight - origin;
                contact.free += contact.sign * (frame.velocity + frame.spin.cross(&contact.arm));
                drift += contact.sign * frame.acceleration_at(&contact.arm);
                contact.mobility += frame.mobility.at(&contact.arm);
            }
            Carriers::Points(points) => {
                for (&v, &c) in pair.vertices.iter().zip(&near.weights).filter(|(v, _)| **v as usize >= cloth) {
                    let point = &points[(v - work.first[obstacle as usize]) as usize];
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
            room -= h * n.dot(&(contact.free + h * drift));
        }
        let approach = -n.dot(&contact.free);
        let asked = match room {
            0.0.. => -room / h,
            _ => self.parameters.rates.recovered(h) * (-room).min(meeting.thickness) / h,
        };
        let falling = -h * n.dot(&drift);
        contact.free += h * drift;
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

    /// Sign of the obstacle's feature in a pair.
    fn sign_of(&self, pair: &Pair, near: &Nearest) -> f64 {
        let cloth = self.features.vertices();
        let of_obstacle = pair.vertices.iter().zip(near.weights).filter(|(v, _)| **v as usize >= cloth);
        of_obstacle.map(|(_, c)| c).sum::<f64>().signum()
    }

    fn solve_anchored(&self, mut contacts: Vec<Anchored>, ahead: &Ahead<'_>) -> (Stops, Vec<Load>) {
        let cloth = self.features.vertices();
        let mut changes = Changes {
            frames: vec![[V3::zeros(); 2]; self.obstacles.len()],
            vertices: vec![V3::zeros(); self.work.x.len()],
        };
        // Which supports are of one body is not known. Each contact gets a part of it, as light as if all were: mass splitting, which
        // asks for too little rather than too much.
        let sharing = contacts.iter().filter(|contact| contact.of_supports != M3::zeros()).count().max(1) as f64;
        contacts.iter_mut().for_each(|contact| contact.mobility += (sharing - 1.0) * contact.of_supports);
        for _ in 0..SWEEPS {
            let (mut largest, mut most) = (0.0_f64, 0.0_f64);
            for contact in &mut contacts {
                let n = contact.n;
                let (along, trace) = (n.dot(&(contact.mobility * n)), contact.mobility.trace());
                let before = contact.push * n + contact.drag;
                let v = contact.free + self.changed(contact, &changes);
                contact.push = (contact.push + (contact.target - n.dot(&v)) / along).max(0.0);
                if contact.friction > 0.0 {
                    let across = v - n.dot(&v) * n;
                    // At least as large as the mobility along any direction across.
                    let answer = (trace - along).max(along);
                    contact.drag = (contact.drag - across / answer).cap_magnitude(contact.friction * contact.push);
                }
                let now = contact.push * n + contact.drag;
                self.apply(contact, &(now - before), sharing, ahead, &mut changes);
                largest = largest.max(now.norm());
                most = most.max((now - before).norm());
            }
            if most <= SETTLED * largest {
                break;
            }
        }
        let (mut stops, mut loads) = (Stops::default(), vec![]);
        let acts = |contact: &&Anchored| contact.push > 0.0 || contact.backed.iter().any(Option::is_some);
        for contact in contacts.iter().filter(acts) {
            let whole = contact.push * contact.n + contact.drag;
            let (force, impact) = (contact.share * whole, (1.0 - contact.share) * whole);
            self.add_to_carriers(contact, force, &mut stops.forces, ahead);
            self.add_to_carriers(contact, impact, &mut stops.impacts, ahead);
            let place = contact.pair.parts(contact.weights, cloth).map(|(k, c)| c.abs() * ahead.positions[k]).sum();
            let bears = |k: &usize| {
                let v = contact.pair.vertices[*k] as usize;
                v < cloth && (ahead.inverse_masses[v] == 0.0 || contact.backed[*k].is_some())
            };
            let held: f64 = (0..4).filter(bears).map(|k| contact.weights[k].abs()).sum();
            for k in (0..4).filter(bears).filter(|&k| contact.weights[k] != 0.0) {
                let c = contact.weights[k] / held;
                let (vertex, force, impact) = (contact.pair.vertices[k], c * force, c * impact);
                let Some(Backing { obstacle, .. }) = contact.backed[k] else {
                    stops.supports.push(Supported { vertex, place, force, impact });
                    continue;
                };
                let obstacles = [contact.obstacle, obstacle];
                loads.push(Load { vertex, obstacles, normal: contact.n, force: c.abs() * contact.push / ahead.dt });
                let Carriers::Frame(frame) = &ahead.carriers[obstacle as usize] else { continue };
                let arm = place - frame.pose.translation.vector;
                for (linear, out) in [(force, &mut stops.forces), (impact, &mut stops.impacts)] {
                    out.push(Reaction { obstacle, carrier: 0, linear, angular: arm.cross(&linear) });
                }
            }
        }
        (stops, loads)
    }

    /// Relative velocity of a contact that impulses have changed.
    fn changed(&self, contact: &Anchored, changes: &Changes) -> V3 {
        let cloth = self.features.vertices();
        let mut v = V3::zeros();
        for k in (0..4).filter(|&k| (contact.pair.vertices[k] as usize) < cloth) {
            v += contact.weights[k]
                * contact.backed[k].map_or(changes.vertices[contact.pair.vertices[k] as usize], |backing| {
                    let [velocity, spin] = changes.frames[backing.obstacle as usize];
                    velocity + spin.cross(&backing.arm)
                });
        }
        let [velocity, spin] = changes.frames[contact.obstacle as usize];
        v += contact.sign * (velocity + spin.cross(&contact.arm));
        let of = contact.pair.vertices.iter().zip(&contact.weights).filter(|(v, _)| **v as usize >= cloth);
        v + of.map(|(&k, &c)| c * changes.vertices[k as usize]).sum::<V3>()
    }

    /// Puts an impulse on the first feature, and the opposite on the second, with so many contacts that share supports.
    fn apply(&self, contact: &Anchored, impulse: &V3, sharing: f64, ahead: &Ahead<'_>, changes: &mut Changes) {
        let cloth = self.features.vertices();
        for (k, c) in contact.pair.parts(contact.weights, cloth) {
            changes.vertices[k] += sharing * c * support(ahead, k) * impulse;
        }
        for (backing, c) in contact.backed.iter().zip(&contact.weights) {
            let Some(Backing { obstacle, arm, .. }) = backing else { continue };
            let Carriers::Frame(frame) = &ahead.carriers[*obstacle as usize] else { continue };
            changes.push_frame(*obstacle, frame, arm, &(*c * impulse));
        }
        match &ahead.carriers[contact.obstacle as usize] {
            Carriers::Absent => {}
            Carriers::Frame(frame) => {
                changes.push_frame(contact.obstacle, frame, &contact.arm, &(contact.sign * impulse));
            }
            Carriers::Points(points) => {
                let first = self.work.first[contact.obstacle as usize];
                for (&k, &c) in contact.pair.vertices.iter().zip(&contact.weights).filter(|(v, _)| **v >= first) {
                    changes.vertices[k as usize] += c * points[(k - first) as usize].mobility.linear * impulse;
                }
            }
        }
    }

    /// Adds an impulse on the first feature of a contact to those on its obstacle's carriers.
    fn add_to_carriers(&self, contact: &Anchored, impulse: V3, out: &mut Vec<Reaction>, ahead: &Ahead<'_>) {
        let obstacle = contact.obstacle;
        if impulse == V3::zeros() {
            return;
        }
        if let Carriers::Frame(_) = ahead.carriers[obstacle as usize] {
            let linear = contact.sign * impulse;
            out.push(Reaction { obstacle, carrier: 0, linear, angular: contact.arm.cross(&linear) });
            return;
        }
        let first = self.work.first[obstacle as usize];
        for (&k, &c) in contact.pair.vertices.iter().zip(&contact.weights).filter(|(k, c)| **k >= first && **c != 0.0) {
            out.push(Reaction { obstacle, carrier: k - first, linear: c * impulse, angular: V3::zeros() });
        }
    }
}

/// Mobility of a kinematic vertex by its support `[1/kg]`.
fn support(ahead: &Ahead<'_>, vertex: usize) -> M3 {
    let found = ahead.supports.binary_search_by_key(&(vertex as u32), |(v, _)| *v);
    found.map_or(M3::zeros(), |k| ahead.supports[k].1)
}
