//! Zones: what impulses could not keep apart moves as one.
//!
//! \[BFA02\] section 7.4, after X. Provot: Collision and Self-Collision Handling in Cloth Model Dedicated to Design Garments
//! (1997). The vertices of pairs that still collide are joined; pairs that collide then join more, until none does.
//!
//! All of a zone moves by one affine map, x + s (b + G x) at the fraction s of the way, which keeps its parts from each
//! other while I + s G has an inverse:
//!
//! - A free zone moves as a rigid body with its momentum and angular momentum: u = u_c + ω x r, at first order in ω. Its
//!   stretches are at least 1, so nothing in it comes nearer.
//! - A zone that touches what goes where it is told goes with that: with the chord of a rigid motion if it is one,
//!   which is nearer by cos(θ/2) half-way through a turn θ and never closed below π. Where that stands still, so does the
//!   zone. If several motions are touched, with the map that is nearest to them in least squares.
//!
//! Pairs that collide all the same have no room: they are told of as pinched. Each round joins at least two that were
//! apart, so there are no more rounds than vertices and obstacles, and no more than the step's visits allow (`allowance.rs`).

use nalgebra::{Isometry3, Matrix3, Vector3};

use crate::{
    ContactError, Report, State,
    broad::Pair,
    contacts::Contacts,
    place::carried,
    torque::{inertia, inverse, join, top, turn_of},
};

type V3 = Vector3<f64>;

/// Who carries a zone: takes it along, and gets what that takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Carrier {
    /// An obstacle's frame.
    Frame(u32),
    /// An obstacle, and its vertex that goes its own way.
    Vertex(u32, u32),
    /// A vertex of the cloth that goes where it is told.
    Pin(u32),
}

/// A place that a zone has to go with, and its way `[m]`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hold {
    carrier: Carrier,
    place: V3,
    way: V3,
}

#[derive(Debug, Default, PartialEq)]
struct Zone {
    free: Vec<u32>,
    holds: Vec<Hold>,
}

/// Joins what has been found to collide, until nothing does.
pub(crate) fn move_as_one(
    all: &mut Contacts,
    state: &mut State,
    report: &mut Report,
    dt: f64,
) -> Result<(), ContactError> {
    let n = all.features.vertices();
    let mut above: Vec<u32> = (0..n as u32).collect();
    let mut joined: Vec<Pair> = all.colliding().collect();
    let before = all.work.u[..n].to_vec();
    let mut zones = zones_of(all, &mut above, &mut joined);
    // Pairs that nothing keeps apart.
    let left = loop {
        all.note_changes(|all| {
            all.work.u[..n].copy_from_slice(&before);
            zones.iter().for_each(|zone| zone.go(all));
        });
        all.is_clear(state)?;
        // Of one zone, whatever rounding makes of their distance.
        let as_one = |pair: &Pair| {
            let zone = |v: &u32| all.is_free(*v).then(|| top(&above, *v));
            zone(&pair.vertices[0]).is_some() && pair.vertices[1..].iter().all(|v| zone(v) == zone(&pair.vertices[0]))
        };
        let colliding: Vec<Pair> = all.colliding().filter(|pair| !as_one(pair)).collect();
        if colliding.is_empty() {
            break colliding;
        }
        if all.is_spent() {
            break colliding;
        }
        joined.extend(&colliding);
        let larger = zones_of(all, &mut above, &mut joined);
        if larger == zones {
            break colliding;
        }
        zones = larger;
    };
    for zone in &zones {
        match zone.holds.as_slice() {
            [] => report.rigid += zone.free.len(),
            _ => report.held += zone.free.len(),
        }
        zone.book(all, &before, dt);
    }
    let vertices = left.iter().flat_map(|pair| pair.vertices);
    report.pinched.extend(vertices.filter(|&v| (v as usize) < n));
    report.pinched.sort_unstable();
    report.pinched.dedup();
    all.note_inside(state, &report.pinched);
    if !left.is_empty() {
        (state.apart, state.unresolved) = (false, true);
    }
    Ok(())
}

/// The zones that pairs make, in order of their first vertices.
fn zones_of(all: &Contacts, above: &mut [u32], joined: &mut Vec<Pair>) -> Vec<Zone> {
    joined.sort_unstable();
    joined.dedup();
    let free_of = |pair: &Pair| pair.vertices.into_iter().filter(|&v| all.is_free(v));
    let mut free = vec![];
    for pair in joined.iter() {
        let Some(one) = free_of(pair).next() else { continue };
        free_of(pair).for_each(|other| join(above, one, other));
        free.extend(free_of(pair));
    }
    let mut members: Vec<(u32, u32)> = free.into_iter().map(|v| (top(above, v), v)).collect();
    members.sort_unstable();
    members.dedup();
    let mut holds = vec![];
    for pair in joined.iter() {
        if let Some(one) = free_of(pair).next() {
            holds_of(all, pair, |hold| holds.push((top(above, one), hold)));
        }
    }
    // Stable, so that places of one frame stay in the pairs' order; a vertex holds once.
    holds.sort_by_key(|(zone, hold)| (*zone, hold.carrier));
    holds.dedup_by(|one, other| one == other);
    let mut holds = holds.into_iter().peekable();
    let zone = |of: &[(u32, u32)]| Zone {
        free: of.iter().map(|(_, v)| *v).collect(),
        holds: std::iter::from_fn(|| holds.next_if(|(zone, _)| *zone == of[0].0).map(|(_, hold)| hold)).collect(),
    };
    members.chunk_by(|one, other| one.0 == other.0).map(zone).collect()
}

/// What a pair holds on to: of a frame the place that it is nearest to, otherwise each vertex that is told where to go.
fn holds_of(all: &Contacts, pair: &Pair, mut tell: impl FnMut(Hold)) {
    let n = all.features.vertices() as u32;
    let work = &all.work;
    let obstacle = all.obstacle(pair);
    if let Some((number, [begin, end])) = obstacle.and_then(|k| Some((k, work.poses[k as usize].as_ref()?))) {
        let x = pair.vertices.map(|v| work.x[v as usize]);
        let place = all.core_point(pair, &all.nearest_of(pair), &x, obstacle);
        tell(Hold { carrier: Carrier::Frame(number), place, way: carried(begin, end, &place) - place });
    }
    for v in pair.vertices.into_iter().filter(|&v| !all.is_free(v)) {
        let carrier = match obstacle {
            Some(k) if v >= n && work.poses[k as usize].is_none() => Carrier::Vertex(k, v - work.first[k as usize]),
            _ if v < n => Carrier::Pin(v),
            _ => continue,
        };
        tell(Hold { carrier, place: work.x[v as usize], way: work.u[v as usize] });
    }
}

impl Contacts {
    /// Whether a vertex is the cloth's and goes where it likes.
    fn is_free(&self, v: u32) -> bool {
        self.work.w.get(v as usize).is_some_and(|&w| w > 0.0)
    }

    fn frame(&self, carrier: Carrier) -> Option<&[Isometry3<f64>; 2]> {
        match carrier {
            Carrier::Frame(number) => self.work.poses[number as usize].as_ref(),
            _ => None,
        }
    }
}

impl Zone {
    /// Sets the ways of its vertices.
    fn go(&self, all: &mut Contacts) {
        let Some(first) = self.holds.first() else { return self.go_rigidly(all) };
        if let Some([begin, end]) = all.frame(first.carrier).copied()
            && self.holds.iter().all(|hold| hold.carrier == first.carrier)
        {
            return self.free.iter().map(|&v| v as usize).for_each(|v| {
                let x = all.work.x[v];
                all.work.u[v] = carried(&begin, &end, &x) - x;
            });
        }
        let size = self.free.iter().map(|&v| (all.work.x[v as usize] - self.holds[0].place).norm()).fold(0.0, f64::max);
        let (centre, way, gradient) = fitted(&self.holds, (0.1 * size).max(1e-2 * all.parameters.thickness));
        for &v in &self.free {
            let v = v as usize;
            all.work.u[v] = way + gradient * (all.work.x[v] - centre);
        }
    }

    /// With the momentum and the angular momentum that its vertices have.
    fn go_rigidly(&self, all: &mut Contacts) {
        let (x, w, u) = (&all.work.x, &all.work.w, &mut all.work.u);
        let members = || self.free.iter().map(|&v| (v as usize, 1.0 / w[v as usize]));
        let mass: f64 = members().map(|(_, m)| m).sum();
        let centre: V3 = members().map(|(v, m)| m / mass * x[v]).sum();
        let way: V3 = members().map(|(v, m)| m / mass * u[v]).sum();
        let (mut moment, mut angular) = (Matrix3::zeros(), V3::zeros());
        for (v, m) in members() {
            let r = x[v] - centre;
            moment += inertia(m, &r);
            angular += m * r.cross(&(u[v] - way));
        }
        let turn = turn_of(moment, &angular);
        for (v, _) in members() {
            u[v] = way + turn.cross(&(x[v] - centre));
        }
    }

    /// What the change of ways took: from the zone itself if it is free, else from its carriers in equal parts.
    fn book(&self, all: &mut Contacts, before: &[V3], dt: f64) {
        let carriers = || self.holds.chunk_by(|one, other| one.carrier == other.carrier).map(|same| same[0].carrier);
        let share = 1.0 / carriers().count().max(1) as f64;
        for &v in &self.free {
            let way = all.work.u[v as usize] - before[v as usize];
            let impulse = way / (all.work.w[v as usize] * dt);
            if self.holds.is_empty() {
                all.work.impulses[v as usize] += impulse;
            }
            for carrier in carriers() {
                let (other, obstacle) = match carrier {
                    Carrier::Pin(pin) => (pin, None),
                    Carrier::Vertex(obstacle, other) => (other + all.work.first[obstacle as usize], Some(obstacle)),
                    Carrier::Frame(obstacle) => {
                        all.give([v], [1.0], share * impulse, Some(obstacle));
                        continue;
                    }
                };
                all.give([v, other], [1.0, -1.0], share * impulse, obstacle);
            }
        }
    }
}

/// The affine map that is nearest to the ways of held places in least squares: centre, way there, gradient. Across
/// directions in which the places lie together, within `together` `[m]`, it is constant: what small differences between them
/// say of places far from them would be anything.
fn fitted(holds: &[Hold], together: f64) -> (V3, V3, Matrix3<f64>) {
    let count = holds.len() as f64;
    let centre: V3 = holds.iter().map(|hold| hold.place / count).sum();
    let way: V3 = holds.iter().map(|hold| hold.way / count).sum();
    let (mut spread, mut turned) = (Matrix3::zeros(), Matrix3::zeros());
    for hold in holds {
        let r = hold.place - centre;
        spread += r * r.transpose();
        turned += (hold.way - way) * r.transpose();
    }
    let gradient = turned * inverse(spread, count * together.powi(2));
    // I + s G has an inverse for all s up to 1 if |G| < 1.
    let size = gradient.norm();
    (centre, way, if size < 1.0 { gradient } else { 0.5 / size * gradient })
}
