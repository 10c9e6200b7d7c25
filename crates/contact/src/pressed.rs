//! Friction of cloth that is pressed between two obstacles by a load from outside.
//!
//! `stops.rs` finds normal forces N between two obstacles through free vertices of the cloth. Contacts of the cloth do not know
//! them: they keep the cloth apart from either obstacle, and bear its own weight. Friction on both sides of such a vertex is of N.
//! Side k of a vertex with inverse mass w gets, over a time dt, the impulse
//!
//!   J_k = -μ_k N dt min(1, |s_k|/r_k) s_k/|s_k|,   s_k = u - u_k,   u = v + w (J_0 + J_1),
//!
//! where v is the velocity without friction and u_k that of the obstacle's surface, all across the
//! normal. Both impulses follow from the minimum of a convex function of u
//! ([`Pressing::friction`]): light cloth under a heavy load would need hundreds of sweeps.
//!
//! An obstacle that moves answers only in its next step, of length T. So u_k is its velocity then,
//! without this friction, and r_k the slip at which full friction would end all slip within T: r_k
//! = μ_k W_k T Σ N with its mobility W_k and all its loads. A larger impulse would turn the slip
//! over from step to step. Vertices under one body share it by their loads: mass splitting. A fixed
//! obstacle has r_k = 0: cloth sticks to it.

use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};

use crate::{Ahead, Carrier, Carriers, Contacts, Mobility, State, Touch, broad::Pair, distance::Kind, place::carried};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Most Newton steps of a vertex, halvings of each, and the change of velocity, relative to the
/// largest, at which they end [-].
const NEWTON_STEPS: usize = 30;
const HALVINGS: usize = 30;
const CONVERGED: f64 = 1e-12;

/// A free vertex between two obstacles that press against each other through it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pressed {
    pub vertex: u32,
    /// Normal of both contacts.
    pub normal: V3,
    /// Normal force `[N]`.
    pub force: f64,
    pub sides: [PressedSide; 2],
}

/// An obstacle on one side of a pressed vertex.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct PressedSide {
    pub obstacle: u32,
    /// Change of the obstacle's velocity there over its next step, without this contact `[m/s]`.
    pub gain: V3,
    /// Slip from which on friction is full `[m/s]`.
    pub range: f64,
}

/// A load on a vertex by two obstacles, before the obstacles' shares are known.
pub(crate) struct Load {
    pub vertex: u32,
    pub obstacles: [u32; 2],
    pub normal: V3,
    /// `[N]`
    pub force: f64,
}

/// Friction of a pressed vertex over an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pressing {
    /// Number of the vertex.
    pub vertex: u32,
    /// Normal of both contacts.
    pub normal: V3,
    /// Both obstacles.
    pub sides: [PressingSide; 2],
}

/// An obstacle on one side of a pressed vertex over an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PressingSide {
    /// Number of the obstacle.
    pub obstacle: u32,
    pair: Pair,
    /// Velocity of the surface across the normal, to which the cloth sticks `[m/s]`.
    pub velocity: V3,
    /// Friction at full slip `[N]`.
    pub most: f64,
    /// Slip from which on friction is full; 0 where it is at any slip `[m/s]`.
    pub range: f64,
}

impl PressingSide {
    /// An impulse on the vertex as one of a contact.
    pub fn touch(&self, impulse: V3) -> Touch {
        let weights = [1.0, -1.0, 0.0, 0.0];
        Touch { pair: self.pair, obstacle: Some(self.obstacle), weights, impulse, at: 0.0 }
    }

    /// Impulse on a vertex of velocity `u` `[m/s]` over `dt` `[s]`, and its slope `[N s]`, `[kg]`.
    fn impulse(&self, u: &V3, dt: f64) -> (V3, M3) {
        let slip = u - self.velocity;
        let size = slip.norm();
        if size < self.range {
            let slope = self.most * dt / self.range;
            return (-slope * slip, -slope * M3::identity());
        }
        if size == 0.0 {
            return (V3::zeros(), M3::zeros());
        }
        let along = slip / size;
        let most = self.most * dt;
        (-most * along, -most / size * (M3::identity() - along * along.transpose()))
    }

    /// Energy that friction takes at a velocity, of which the impulse is minus the gradient `[J]`.
    fn potential(&self, u: &V3, dt: f64) -> f64 {
        let size = (u - self.velocity).norm();
        let below = if size < self.range { 0.5 * size * size / self.range } else { size - 0.5 * self.range };
        self.most * dt * below
    }
}

impl Pressing {
    /// The part of a vector across the normal.
    pub(crate) fn across(&self, v: &V3) -> V3 {
        v - self.normal.dot(v) * self.normal
    }

    /// Impulses of both sides on the vertex, of inverse mass `w` `[1/kg]` and velocity `v` `[m/s]` without them, over `dt`
    /// `[s]` `[N s]`.
    pub fn friction(&self, v: &V3, w: f64, dt: f64) -> [V3; 2] {
        let v = self.across(v);
        self.sticking(&v, w, dt).unwrap_or_else(|| {
            let u = self.slipping(&v, w, dt);
            let mut impulses = self.sides.map(|side| side.impulse(&u, dt).0);
            // Where slip is least its direction is least exact: that side has what the momentum
            // leaves.
            let slip = |k: usize| (u - self.sides[k].velocity).norm();
            let k = usize::from(slip(1) < slip(0));
            impulses[k] = ((u - v) / w - impulses[1 - k]).cap_magnitude(self.sides[k].most * dt);
            impulses
        })
    }

    /// Impulses by which the vertex sticks to a side that has no range.
    fn sticking(&self, v: &V3, w: f64, dt: f64) -> Option<[V3; 2]> {
        [0, 1].into_iter().filter(|&k| self.sides[k].range == 0.0).find_map(|k| {
            let side = &self.sides[k];
            let mut impulses = [V3::zeros(); 2];
            impulses[1 - k] = self.sides[1 - k].impulse(&side.velocity, dt).0;
            impulses[k] = (side.velocity - v) / w - impulses[1 - k];
            (impulses[k].norm() <= side.most * dt).then_some(impulses)
        })
    }

    /// Velocity of a vertex that sticks to neither side at full friction: Newton's method for the minimum of
    /// |u - v|²/2w + the potentials of both sides.
    fn slipping(&self, v: &V3, w: f64, dt: f64) -> V3 {
        let potential = |u: &V3| {
            0.5 * (u - v).norm_squared() / w + self.sides.iter().map(|side| side.potential(u, dt)).sum::<f64>()
        };
        let largest = self.sides.iter().map(|side| (side.velocity - v).norm()).fold(0.0, f64::max);
        let mut u = *v;
        for side in self.sides.iter().filter(|side| side.range == 0.0) {
            // From where it would stick the potential falls along the force that is left over;
            // Newton's method would circle there.
            let tip = side.velocity;
            let left = (v - tip) / w + self.sides.iter().map(|side| side.impulse(&tip, dt).0).sum::<V3>();
            let way = w * left.cap_magnitude(left.norm() - side.most * dt);
            let lengths = std::iter::successors(Some(1.0), |length| Some(0.5 * length)).take(HALVINGS);
            let found = lengths.map(|length| tip + length * way).find(|at| potential(at) < potential(&tip));
            u = found.filter(|at| potential(at) < potential(&u)).unwrap_or(u);
        }
        for _ in 0..NEWTON_STEPS {
            let (mut gradient, mut slope) = ((u - v) / w, M3::identity() / w);
            for side in &self.sides {
                let (impulse, by_velocity) = side.impulse(&u, dt);
                gradient -= impulse;
                slope -= by_velocity;
            }
            let Some(step) = slope.cholesky().map(|factors| factors.solve(&gradient)) else { break };
            let before = potential(&u);
            let lengths = std::iter::successors(Some(1.0), |length| Some(0.5 * length)).take(HALVINGS);
            let Some(length) = lengths.into_iter().find(|length| potential(&(u - *length * step)) < before) else {
                break;
            };
            u -= length * step;
            if length * step.norm() <= CONVERGED * largest {
                break;
            }
        }
        u
    }
}

impl Contacts {
    /// Pressed vertices of loads in a next step of `ahead.dt` `[s]`.
    pub(crate) fn pressed(&self, mut loads: Vec<Load>, ahead: &Ahead<'_>) -> Vec<Pressed> {
        loads.iter_mut().for_each(|load| load.obstacles.sort_unstable());
        loads.sort_by_key(|load| (load.obstacles, load.vertex));
        loads.dedup_by(|next, load| {
            let is_same = (next.obstacles, next.vertex) == (load.obstacles, load.vertex);
            if is_same {
                load.force += next.force;
            }
            is_same
        });
        loads.chunk_by_mut(|one, other| one.obstacles == other.obstacles).for_each(|loads| spread(loads, ahead));
        loads.retain(|load| load.force > 0.0);
        loads.sort_by_key(|load| (load.vertex, load.obstacles));
        let mut bodies = vec![Body::default(); self.obstacles.len()];
        for load in &loads {
            for &obstacle in &load.obstacles {
                if let Carriers::Frame(frame) = &ahead.carriers[obstacle as usize] {
                    bodies[obstacle as usize].add(load, frame, &ahead.positions[load.vertex as usize]);
                }
            }
        }
        let pressed = loads.iter().filter_map(|load| {
            let side = |obstacle: u32| {
                let Carriers::Frame(frame) = &ahead.carriers[obstacle as usize] else { return None };
                let arm = ahead.positions[load.vertex as usize] - frame.pose.translation.vector;
                let friction = self.work.meetings[obstacle as usize].friction;
                let turning = frame.angular_acceleration + frame.precession();
                let gain = ahead.dt * (frame.acceleration + turning.cross(&arm));
                let range = friction * bodies[obstacle as usize].force_times_mobility() * ahead.dt;
                Some(PressedSide { obstacle, gain, range })
            };
            let sides = [side(load.obstacles[0])?, side(load.obstacles[1])?];
            Some(Pressed { vertex: load.vertex, normal: load.normal, force: load.force, sides })
        });
        pressed.collect()
    }

    /// Friction of cloth that obstacles press between them, over the interval of `dt` `[s]` of the
    /// last [`Contacts::find_near`], [`Contacts::push_near`] or [`Contacts::find_pairs`].
    pub fn pressings<'a>(&'a self, state: &'a State, dt: f64) -> impl Iterator<Item = Pressing> + 'a {
        state.pressed.iter().filter_map(move |pressed| {
            let x = &self.work.x[pressed.vertex as usize];
            let side = |side: &PressedSide| {
                let [begin, end] = self.work.poses[side.obstacle as usize].as_ref()?;
                let velocity = (carried(begin, end, x) - x) / dt + side.gain;
                let first = self.work.first[side.obstacle as usize];
                Some(PressingSide {
                    obstacle: side.obstacle,
                    pair: Pair { kind: Kind::PointTriangle, vertices: [pressed.vertex, first, first, first] },
                    velocity: velocity - pressed.normal.dot(&velocity) * pressed.normal,
                    most: self.work.meetings[side.obstacle as usize].friction * pressed.force,
                    range: side.range,
                })
            };
            let sides = [side(&pressed.sides[0])?, side(&pressed.sides[1])?];
            Some(Pressing { vertex: pressed.vertex, normal: pressed.normal, sides })
        })
    }
}

/// Spreads the loads of two obstacles over all vertices between them as a linear pressure with the
/// same sum and moment, no less than 0: contact of rigid bodies leaves open which vertices bear
/// them, and a load that jumps lets cloth stick and slip. Places count across the mean normal, along
/// which a load may be shifted.
fn spread(loads: &mut [Load], ahead: &Ahead<'_>) {
    let along = |normal: &V3| if normal.dot(&loads[0].normal) < 0.0 { -normal } else { *normal };
    let normal: V3 = loads.iter().map(|load| load.force * along(&load.normal)).sum();
    let normal = normal.try_normalize(0.0).unwrap_or_default();
    let place = |load: &Load| {
        let x = ahead.positions[load.vertex as usize];
        x - normal.dot(&x) * normal
    };
    let mass = |load: &Load| ahead.inverse_masses[load.vertex as usize].recip();
    let force: f64 = loads.iter().map(|load| load.force).sum();
    let moment: V3 = loads.iter().map(|load| load.force * place(load)).sum();
    let mut bears = vec![true; loads.len()];
    for _ in 0..loads.len() {
        let bearing = || loads.iter().zip(&bears).filter(|(_, bears)| **bears).map(|(load, _)| load);
        let all: f64 = bearing().map(mass).sum();
        let middle = bearing().map(|load| mass(load) * place(load)).sum::<V3>() / all;
        let square = |load: &Load| mass(load) * (place(load) - middle) * (place(load) - middle).transpose();
        let spread: M3 = bearing().map(square).sum();
        // Directions in which vertices do not spread have no moment to bear.
        let Ok(inverse) = spread.pseudo_inverse(FLAT * spread.trace()) else { return };
        let slope = inverse * (moment - force * middle);
        let pressure: Vec<f64> = loads.iter().map(|load| force / all + slope.dot(&(place(load) - middle))).collect();
        let before = bears.iter().filter(|bears| **bears).count();
        bears.iter_mut().zip(&pressure).for_each(|(bears, pressure)| *bears &= *pressure > 0.0);
        let now = bears.iter().filter(|bears| **bears).count();
        if now == before {
            let of_vertex = |((load, bears), pressure): ((&mut Load, &bool), &f64)| {
                load.force = if *bears { pressure * mass(load) } else { 0.0 };
            };
            loads.iter_mut().zip(&bears).zip(&pressure).for_each(of_vertex);
            return;
        }
        if now == 0 {
            return;
        }
    }
}

/// Square of the spread of vertices in a direction, relative to all of it, below which they lie in
/// a line or plane [-].
const FLAT: f64 = 1e-9;

/// A body's loads by pressed vertices.
#[derive(Clone, Default)]
struct Body {
    /// Sum of normal forces N `[N]`.
    force: f64,
    /// Σ N/m and Σ N r²/I, with r from the axis along the normal through the centre of mass
    /// `[N/kg]`.
    moving: f64,
    turning: f64,
}

impl Body {
    fn add(&mut self, load: &Load, frame: &Carrier, place: &V3) {
        let Mobility { linear, coupling, angular } = &frame.mobility;
        let n = &load.normal;
        let by_torque = n.dot(&(angular * n));
        // A torque along n moves the frame's origin if the centre of mass lies beside it.
        let from_centre = if by_torque > 0.0 { (coupling * n).cross(n) / by_torque } else { V3::zeros() };
        let arm = place - frame.pose.translation.vector + from_centre;
        let across = 0.5 * (linear.trace() - n.dot(&(linear * n)));
        self.force += load.force;
        self.moving += load.force * (across - 0.5 * by_torque * n.cross(&from_centre).norm_squared());
        self.turning += load.force * by_torque * n.cross(&arm).norm_squared();
    }

    /// Σ N times the mobility of the body's surface across the normal `[N/kg]`. Vertices have parts
    /// of the mass by their loads. Friction that ends slip as a whole so turns the body by Σ N r²/I
    /// over Σ N/m of the turning slip: at most 1.5 times, so that it comes to rest.
    fn force_times_mobility(&self) -> f64 {
        self.moving.max(self.turning / 1.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(velocity: V3, most: f64, range: f64) -> PressingSide {
        let pair = Pair { kind: Kind::PointTriangle, vertices: [0, 1, 1, 1] };
        PressingSide { obstacle: 0, pair, velocity, most, range }
    }

    /// Impulses of both sides are Coulomb's at the velocity that they lead to: at most μ N dt, all
    /// of it against the slip beyond the range, less by the slip's part of it within; at no slip,
    /// what sticking takes. To 1e-6 of the largest of them, since the potential is flat around its
    /// minimum to the root of the rounding. Masses, loads, ranges and velocities are of cloth under
    /// a feather and under a car.
    #[test]
    fn friction_is_coulombs_at_the_velocity_that_it_leads_to() {
        let mut seed = 7_u64;
        let mut uniform = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        let (mut stuck, mut slid) = (0, 0);
        for _ in 0..20_000 {
            let mut velocity = || V3::new(uniform() - 0.5, 0.0, uniform() - 0.5);
            let [v, a, b] = [velocity(), velocity(), velocity()];
            let [m, dt] = [10_f64.powf(-6.0 + 3.0 * uniform()), 10_f64.powf(-5.0 + 3.0 * uniform())];
            let mut range = || if uniform() < 0.5 { 0.0 } else { 10_f64.powf(-4.0 + 4.0 * uniform()) };
            let ranges = [range(), range()];
            let sides =
                [(a, 0), (b, 1)].map(|(velocity, k)| side(velocity, 10_f64.powf(-4.0 + 6.0 * uniform()), ranges[k]));
            let pressing = Pressing { vertex: 0, normal: V3::y(), sides };
            let impulses = pressing.friction(&v, 1.0 / m, dt);
            let most = sides.map(|side| side.most * dt);
            assert!((0..2).all(|k| impulses[k].norm() <= most[k] * (1.0 + 1e-12)), "{pressing:?}, {impulses:?}");
            let (u, is_stuck) = match pressing.sticking(&v, 1.0 / m, dt) {
                Some(_) => (v + (impulses[0] + impulses[1]) / m, true),
                None => (pressing.slipping(&v, 1.0 / m, dt), false),
            };
            stuck += usize::from(is_stuck);
            slid += usize::from(!is_stuck);
            let scale = (most[0] + most[1]).max(m * (u - v).norm());
            let left = m * (u - v) - impulses[0] - impulses[1];
            assert!(left.norm() < 1e-6 * scale, "{pressing:?}, {v:?}: {left:?} of {scale}");
            let is_law = |k: usize| (impulses[k] - sides[k].impulse(&u, dt).0).norm() < 1e-6 * scale;
            let sticks_to = |k: usize| sides[k].range == 0.0 && (u - sides[k].velocity).norm() < 1e-9;
            assert!(
                (0..2).all(|k| is_law(k) || is_stuck && sticks_to(k)),
                "{pressing:?}, {v:?}: {impulses:?} at {u:?}"
            );
        }
        assert!(stuck > 1_000 && slid > 1_000, "{stuck} stuck, {slid} slid");
    }
}
