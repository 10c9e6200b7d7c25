//! Contact as implicit springs, so that what is behind a contact, tension and weight, is balanced where it acts.
//!
//! \[PD97\] D. Baraff, A. Witkin: Partitioned Dynamics. CMU-RI-TR-97-33, 1997, section 4: springs between cloth and cloth,
//! integrated implicitly; constraints on particles against solids. Here both are springs, of vertices, edges and triangles:
//! constraints on particles know nothing of an edge that lies over an edge, and cloth that is pulled over a table's rim hangs
//! there by its edges (measured: strains of 55 % beside 3 % with these).
//!
//! \[LFS20\] M. Li, Z. Ferguson, T. Schneider, T. Langlois, D. Zorin, D. Panozzo, C. Jiang, D. Kaufman: Incremental Potential
//! Contact. SIGGRAPH 2020.
//!
//! Features that are nearer than the thickness and a bit push each other along the line between them, with a force that grows with
//! how deep they are in that bit of width b,
//!
//!   f = k δ²/2b up to δ = b, k (δ - b/2) from there on,
//!
//! so that contacts open and close without a jump. What is new is as stiff as the cloth it stops; what was pushed in the step before
//! is softer, as far as its load f stays well within the bit (k = 6 f/b: at δ = 0.58 b). That costs conjugate gradients a third to a half
//! of the iterations that stiff contacts do. Across it friction holds against the way w that they go, in a step of dt, with
//!
//!   μ f (2 s - s²), s = |w|/ε, up to |w| = ε, and μ f from there on    (\[LFS20\] section 5)
//!
//! where ε is the way at [`ContactRates::slip_tolerance`], or more where friction would be stiffer than contact. f is that of the round
//! before: how hard each pair was pushed is remembered from step to step. Around the way of the last round both are taken for
//! linear, but in the last round of all friction is its secant, which takes energy whatever becomes of it. A spring that would
//! pull is released, one that would be entered is taken in, and the step is solved again (`rounds.rs`).
//! What is left of a violation [`partita_contact`] mends.

use nalgebra::{Matrix3, Vector3};
use partita_contact::{Contacts, Near, Pressing, PressingSide, Touch};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// What slides no faster than so many times the slip tolerance may stick `[-]`.
const SLOW: f64 = 5.0;

/// Contacts push where features are farther apart than the thickness by this much of it, so that what rests on them has nothing
/// left for [`partita_contact`] to mend.
const AHEAD: f64 = 0.15;

/// What a contact bears at the whole width of where it begins to push, of what it bore in the step before [-].
const RESERVE: f64 = 3.0;

/// From which cosine between a push and the cloth's normal on it clearly comes from one side `[-]`.
const SIDE: f64 = 0.3;

/// From which cosine between pushes on they are opposite `[-]`.
const OPPOSITE: f64 = -0.3;

/// A contact.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub near: Near,
    /// The same with the normal, gap and weights of the start of the step.
    start: Near,
    /// How far apart they are beyond where they begin to push `[m]`.
    gap: f64,
    /// k, and what friction is no stiffer than `[N/m]`.
    stiffness: f64,
    stick: f64,
    /// Slip speed below which friction is less `[m/s]`.
    slip_tolerance: f64,
    /// By how hard it is pushed its friction goes `[N]`: as it was found last, without end for what sticks at the begin.
    pushed: f64,
    /// Whether the normal turns and `pushed` starts from the last step.
    is_known: bool,
    /// How hard it would push after no way, and slopes along the normal, 0 where it is open, and across it `[N]`, `[N/m]`.
    push: f64,
    normal: f64,
    tangential: f64,
    /// Normal force by obstacles that press the cloth between them, for friction alone `[N]`.
    load: f64,
    /// Where it goes across: what friction does along that way, where the tangential stiffness acts across it alone.
    slip: Option<Slip>,
    /// What it does to the first feature where the last solve began, and where that ended `[N]`.
    pub begun: V3,
    pub force: V3,
}

/// Sizes that a contact is made by.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    /// The least and the most `[N/m]`.
    pub stiffness: [f64; 2],
    /// Of its features as one `[kg]`.
    pub mass: f64,
    /// `[m/s²]`.
    pub gravity: f64,
    /// [`partita_contact::ContactRates::slip_tolerance`] `[m/s]`.
    pub slip_tolerance: f64,
}

impl Link {
    /// As it seems to be at the begin, if all go on as they do: closed where it is too near. With friction by how hard it was pushed
    /// in the last step; where it was not, sticking if it hardly moves, else without.
    ///
    /// A contact deeper than the width in which its force grows is no stiffer than the load of the last step needs, or than stores the
    /// energy of its approach and the work of lifting its mass by the thickness against gravity. So cloth that starts within an obstacle is led out by [`partita_contact`] and not thrown.
    pub fn new([start, near]: [&Near; 2], scale: Scale, pushed: Option<f64>, v: &[V3], dt: f64) -> Self {
        let gap = near.gap - AHEAD * near.thickness;
        let Scale { stiffness: [least, most], mass, gravity, slip_tolerance } = scale;
        let width = AHEAD * near.thickness;
        let bears = |load: f64| 2.0 * RESERVE * load / width;
        // Stiff enough that the load compresses the contact by half its thickness. `partita_contact` corrects
        // what goes deeper by the mass of single vertices, an impulse far below the force of stretched cloth.
        let stiffness = pushed.map_or(most, |load| bears(load).max(least).min(most.max(2.0 * load / near.thickness)));
        let sum = |of: &dyn Fn(usize) -> V3| near.pair.parts(near.weights, v.len()).map(|(k, c)| c * of(k)).sum::<V3>();
        let approach = near.normal.dot(&(near.drift + sum(&|k| dt * v[k]))).min(0.0) / dt;
        // Twenty times its own energy of motion: the cloth behind comes too.
        let energy = mass * (gravity * near.thickness + 10.0 * approach * approach);
        let deep = -gap;
        let deepest = match deep > width {
            true => (pushed.unwrap_or(0.0) / (deep - 0.5 * width)).max(2.0 * energy / (deep * deep)),
            false => f64::INFINITY,
        };
        let mut link =
            Self { gap, stiffness: stiffness.min(deepest), ..Self::open([start, near], most, slip_tolerance) };
        let way = near.drift + link.sum(|k| dt * v[k], v.len());
        let (along, across) = link.split(&way);
        if gap < 0.0 || gap + along < 0.0 && pushed.is_some() {
            let slow = across.norm() <= SLOW * slip_tolerance * dt;
            link.is_known = pushed.is_some() && link.is_turned();
            link.pushed = pushed.unwrap_or(if slow { f64::INFINITY } else { 0.0 });
            // What is closed stays so, as a guess: rest, not the way that it goes.
            link.close(&if gap < 0.0 { across } else { way }, dt, false);
        }
        link
    }

    /// A contact that never pushes, with the most that friction is stiff `[N/m]`.
    fn open([start, near]: [&Near; 2], stick: f64, slip_tolerance: f64) -> Self {
        Self {
            near: *near,
            start: *start,
            gap: f64::INFINITY,
            stiffness: 0.0,
            stick,
            slip_tolerance,
            pushed: 0.0,
            is_known: false,
            load: 0.0,
            push: 0.0,
            normal: 0.0,
            tangential: 0.0,
            slip: None,
            begun: V3::zeros(),
            force: V3::zeros(),
        }
    }

    /// Friction of a vertex that obstacles press between them, on one side, over `dt` `[s]`: it has no normal force of its own.
    /// `[stiffness, slip_tolerance]` are the most that friction is stiff and as of [`Scale`] `[N/m]`, `[m/s]`.
    pub fn pressed(
        pressing: &Pressing,
        side: &PressingSide,
        [stiffness, slip_tolerance]: [f64; 2],
        v: &[V3],
        dt: f64,
    ) -> Self {
        let Touch { pair, obstacle, weights, .. } = side.touch(V3::zeros());
        let near = Near {
            pair,
            obstacle,
            weights,
            normal: pressing.normal,
            gap: f64::INFINITY,
            thickness: 0.0,
            drift: -dt * side.velocity,
            friction: 1.0,
            way_made: 1.0,
            bounce: 0.0,
        };
        let by_range = if side.range > 0.0 { side.most / (side.range * dt) } else { f64::INFINITY };
        let open = Self::open([&near; 2], stiffness.min(by_range), slip_tolerance);
        let mut link = Self { pushed: side.most, load: side.most, ..open };
        let way = near.drift + link.sum(|k| dt * v[k], v.len());
        link.close(&way, dt, false);
        link
    }

    /// The parts of it that are cloth, among so many vertices: places, vertices, weights.
    pub fn parts(&self, vertices: usize) -> impl Iterator<Item = (usize, f64)> {
        self.near.pair.parts(self.near.weights, vertices)
    }

    pub fn sum(&self, of: impl Fn(usize) -> V3, vertices: usize) -> V3 {
        self.parts(vertices).map(|(v, c)| c * of(v)).sum()
    }

    pub fn is_closed(&self) -> bool {
        self.normal > 0.0 || self.tangential > 0.0
    }

    /// A way, along the normal and across it.
    fn split(&self, way: &V3) -> (f64, V3) {
        let along = self.near.normal.dot(way);
        (along, way - along * self.near.normal)
    }

    /// How deep they are in where they push, after such a way along the normal `[m]`.
    fn deep_at(&self, along: f64) -> f64 {
        (-self.gap - along).max(0.0)
    }

    /// How hard it pushes after such a way along the normal, and its slope `[N]`, `[N/m]`.
    fn push_at(&self, along: f64) -> [f64; 2] {
        let (k, deep, width) = (self.stiffness, self.deep_at(along), AHEAD * self.near.thickness);
        if deep < width { [0.5 * k * deep * deep / width, k * deep / width] } else { [k * (deep - 0.5 * width), k] }
    }

    /// k n nᵀ + k_t P, where P projects across the normal, with another stiffness along the way of what slips `[N/m]`.
    pub fn matrix(&self) -> M3 {
        let along = self.near.normal * self.near.normal.transpose();
        let mut block = self.normal * along + self.tangential * (M3::identity() - along);
        if let Some(Slip { along: t, slope, .. }) = self.slip {
            block += (slope - self.tangential) * t * t.transpose();
        }
        block
    }

    /// On the first feature, after it went such a way against the second `[N]`.
    pub fn force_after(&self, way: &V3) -> V3 {
        let (along, across) = self.split(way);
        let mut force = (self.push - self.normal * along) * self.near.normal - self.tangential * across;
        if let Some(Slip { along: t, slope, force: constant }) = self.slip {
            force -= ((slope - self.tangential) * t.dot(&across) + constant) * t;
        }
        force
    }

    /// Contact potential at a displacement within the time step `dt` `[J]`. It includes friction
    /// wherever the linear system does, bounded by the last normal force. Friction that started as
    /// the contact closes would make the potential jump, and the line search would fail.
    pub fn energy_at(&self, way: &V3, dt: f64) -> f64 {
        let (along, across) = self.split(way);
        let (k, deep, width) = (self.stiffness, self.deep_at(along), AHEAD * self.near.thickness);
        let pushing = if deep < width {
            k * deep.powi(3) / (6.0 * width)
        } else {
            0.5 * k * (deep * (deep - width) + width * width / 3.0)
        };
        if !self.is_closed() {
            return pushing;
        }
        if self.pushed.is_infinite() {
            return pushing + 0.5 * self.stick * across.norm_squared();
        }
        let (most, range) = self.slipping(dt);
        let way = across.norm();
        let sliding = if way < range { way * way * (1.0 - way / (3.0 * range)) / range } else { way - range / 3.0 };
        pushing + most * sliding
    }

    /// Force on the first feature at a displacement within the time step `dt`, with friction as in
    /// [`Self::energy_at`] `[N]`.
    pub fn force_at(&self, way: &V3, dt: f64) -> V3 {
        let (along, across) = self.split(way);
        let [push, _] = self.push_at(along);
        let friction = if self.is_closed() { self.friction(across.norm(), dt)[0] } else { 0.0 };
        push * self.near.normal - friction * across
    }

    /// The most that friction does `[N]`, and the way in `dt` from which on it does `[m]`.
    fn slipping(&self, dt: f64) -> (f64, f64) {
        let most = self.near.friction * self.pushed;
        (most, (self.slip_tolerance * dt).max(2.0 * most / self.stick))
    }

    /// At a way across in `dt`, its secant and its slope `[N/m]`.
    fn friction(&self, way: f64, dt: f64) -> [f64; 2] {
        if self.pushed.is_infinite() {
            return [self.stick; 2];
        }
        let (most, range) = self.slipping(dt);
        let share = way / range;
        if share < 1.0 { [most / range * (2.0 - share), 2.0 * most / range * (1.0 - share)] } else { [most / way, 0.0] }
    }

    /// Takes the normal, gap and weights of where its features come to by displacements `way` at `part` of the step
    /// ([`Contacts::turn`]).
    pub fn turn(&mut self, contacts: &Contacts, way: impl Fn(usize) -> V3, part: f64) {
        if self.load > 0.0 {
            return;
        }
        self.near = self.start;
        contacts.turn(&mut self.near, way, part);
        self.gap = self.near.gap - AHEAD * self.near.thickness;
    }

    /// Whether it pushes along its normal, not as friction under a load alone.
    pub fn is_spring(&self) -> bool {
        self.load == 0.0
    }

    /// Whether the normal, and with it the force, is that of where the contact comes to.
    pub fn is_turned(&self) -> bool {
        self.near.normal != self.start.normal
    }

    /// Sine of the angle between the normals at the start of the step and where the contact comes to; 0 if it is open [-].
    pub fn turned(&self) -> f64 {
        if self.is_closed() { self.near.normal.cross(&self.start.normal).norm() } else { 0.0 }
    }

    /// To the way that it turned out to go in `dt`, `last` if there is one more solve only. Friction follows the normal force of an
    /// exact solution only, if that of the last step is known: in others the normal force errs by as much as itself.
    pub fn turn_out(&mut self, way: &V3, dt: f64, last: bool, is_exact: bool) {
        (self.push, self.normal, self.tangential, self.slip) = (0.0, 0.0, 0.0, None);
        let push = self.push_at(self.split(way).0)[0] + self.load;
        if is_exact || !self.is_known {
            self.pushed = push;
        }
        if push > 0.0 {
            self.close(way, dt, last);
        }
    }

    /// Around a way in `dt`, by how hard it is pushed.
    fn close(&mut self, way: &V3, dt: f64, last: bool) {
        let (along, across) = self.split(way);
        let size = across.norm();
        let [push, steep] = self.push_at(along);
        let [secant, slope] = self.friction(size, dt);
        (self.push, self.normal, self.tangential) = (push + steep * along, steep, secant);
        if !last && size > 0.0 && slope < secant {
            self.slip = Some(Slip { along: across / size, slope, force: (secant - slope) * size });
        }
    }

    /// How hard it is pushed in the end `[N]`.
    pub fn normal_force(&self) -> f64 {
        self.near.normal.dot(&self.force)
    }
}

/// Friction around a way.
#[derive(Clone, Copy, Debug)]
struct Slip {
    /// Of the way.
    along: V3,
    /// By which it grows along that way `[N/m]`, on top of a constant part `[N]`.
    slope: f64,
    force: f64,
}

/// How an obstacle pushes a vertex: which one does, where to, and by how much from which side of the cloth `[-]`.
#[derive(Clone, Copy)]
pub(crate) struct Push {
    obstacle: u32,
    way: V3,
    side: f64,
}

impl Push {
    /// Whether they push against each other through the cloth: from opposite sides, or two obstacles that are not clearly on one
    /// side of it. One obstacle may push both slopes of a fold that lies over it.
    fn is_against(&self, other: &Self) -> bool {
        let sides = self.side * other.side;
        let [one, two] = [self.side, other.side].map(|side| side.abs() > SIDE);
        let (through, around) = (one && two && sides < 0.0, one && two && sides > 0.0);
        self.way.dot(&other.way) < OPPOSITE && (through || self.obstacle != other.obstacle && !around)
    }
}

/// Which links have a vertex between obstacles, of cloth with such normals: these would feel each other through a spring as stiff
/// as cloth that is stretched, though they may touch each other beside it. Each push is held against the first on its vertex.
pub(crate) fn pinched(
    near: &[Near],
    normals: &[V3],
    squeezes: &mut Vec<(Option<Push>, bool)>,
) -> impl Iterator<Item = bool> {
    squeezes.clear();
    squeezes.resize(normals.len(), (None, false));
    for near in near {
        let Some(obstacle) = near.obstacle else { continue };
        for (v, c) in near.pair.parts(near.weights, normals.len()) {
            let way = c.signum() * near.normal;
            let push = Push { obstacle, way, side: way.dot(&normals[v]) / normals[v].norm().max(f64::MIN_POSITIVE) };
            let (first, between) = &mut squeezes[v];
            *between |= first.get_or_insert(push).is_against(&push);
        }
    }
    let between = |near: &Near| near.pair.parts(near.weights, normals.len()).any(|(v, _)| squeezes[v].1);
    near.iter().map(move |near| near.obstacle.is_some() && between(near))
}

#[cfg(test)]
mod tests {
    use partita_contact::{Kind, Pair};

    use super::*;

    const DT: f64 = 0.01;

    /// A vertex so near to the floor, with a thickness of a millimetre, which does not move.
    fn link_at(gap: f64, friction: f64) -> Link {
        let near = Near {
            pair: Pair { kind: Kind::PointTriangle, vertices: [0, 1, 2, 3] },
            obstacle: Some(0),
            weights: [1.0, -0.3, -0.3, -0.4],
            normal: V3::new(0.6, 0.8, 0.0),
            gap,
            thickness: 1e-3,
            drift: V3::zeros(),
            friction,
            way_made: 1.0,
            bounce: 0.0,
        };
        let scale = Scale { stiffness: [20.0, 200.0], mass: 1.0, gravity: f64::INFINITY, slip_tolerance: 5e-4 };
        Link::new([&near; 2], scale, None, &[V3::zeros()], DT)
    }

    fn link(friction: f64) -> Link {
        link_at(-5e-4, friction)
    }

    /// From hardly any to far beyond where it slips, and in.
    fn ways() -> impl Iterator<Item = V3> {
        let across = V3::new(-0.8, 0.6, 0.0) + V3::new(0.0, 0.0, 0.3);
        [1e-9, 1e-6, 3e-6, 1e-5, 4e-4, 2e-3].into_iter().map(move |way| way * across - 1e-4 * V3::new(0.6, 0.8, 0.0))
    }

    /// What is taken for linear is so around the way where it was: the force is that of friction's law there, the matrix its slope,
    /// and the energy falls along it. Differences of 1e-4 of the way, against laws that are cubic at most: right to their own size.
    #[test]
    fn a_contact_is_linear_around_its_way() {
        // Deep, and where the push grows as the square.
        for (way, gap) in ways().flat_map(|way| [(way, -5e-4), (way, 1.3e-4)]) {
            let mut link = link_at(gap, 0.5);
            link.turn_out(&way, DT, false, true);
            link.turn_out(&way, DT, false, true);
            let force = link.force_after(&way);
            assert!((force - link.force_at(&way, DT)).norm() < 1e-12 * force.norm(), "{way:?}");
            let size = 1e-4 * way.norm();
            for axis in [V3::x(), V3::y(), V3::z()] {
                let step = size * axis;
                let [low, high] = [way - step, way + step];
                let slope = (link.force_at(&high, DT) - link.force_at(&low, DT)) / (2.0 * size);
                let expected = -link.matrix() * axis;
                assert!((slope - expected).norm() < 1e-3 * link.matrix().norm(), "{way:?}: {slope:?} {expected:?}");
                let fall = (link.energy_at(&low, DT) - link.energy_at(&high, DT)) / (2.0 * size);
                assert!((fall - force.dot(&axis)).abs() < 1e-6 * force.norm(), "{way:?}: {fall} {force:?}");
            }
        }
    }

    /// Continuity of the contact potential where a contact closes, at any tangential displacement.
    /// A line search would stop at a jump.
    #[test]
    fn the_potential_has_no_jump_where_a_contact_closes() {
        for (across, normal) in [0.0, 1e-6, 1e-3].into_iter().flat_map(|across| [(across, 1e-9), (across, 1e-6)]) {
            let mut link = link_at(1.125e-3 - 1e-3, 0.5);
            let n = link.near.normal;
            // Closed at the end of the step, as a solve leaves it.
            link.turn_out(&(-1e-4 * n + across * V3::z()), DT, false, true);
            let there = -link.gap * n + across * V3::z();
            let jump = link.energy_at(&(there - normal * n), DT) - link.energy_at(&(there + normal * n), DT);
            // The spring alone stores k δ³/6b.
            let stored = 200.0 * normal.powi(3) / (6.0 * AHEAD * 1e-3);
            assert!((jump - stored).abs() <= 1e-12 * link.energy_at(&there, DT) + 1e-6 * stored, "{across}: {jump}");
        }
    }

    /// Friction grows with the way up to the coefficient times the push, and no farther; its secant is as large.
    #[test]
    fn friction_is_no_more_than_that_of_coulomb() {
        let mut before = 0.0;
        for way in ways() {
            let mut link = link(0.5);
            for last in [false, true] {
                link.turn_out(&way, DT, last, true);
                let force = link.force_after(&way);
                let push = force.dot(&link.near.normal);
                let friction = (force - push * link.near.normal).norm();
                assert!(friction <= 0.5 * push * (1.0 + 1e-12) && friction >= before * (1.0 - 1e-12));
                before = friction;
            }
        }
        assert!(before > 0.0);
        let mut smooth = link(0.0);
        smooth.turn_out(&V3::z(), DT, false, true);
        assert!(smooth.is_closed() && smooth.force_after(&V3::z()).cross(&smooth.near.normal) == V3::zeros());
    }

    /// Pushed from both sides of the cloth it is between them, whoever pushes; from one side only if that is not clear, and by two.
    #[test]
    fn between_is_what_is_pushed_from_both_sides() {
        let push = |obstacle: u32, normal: V3| Near { obstacle: Some(obstacle), normal, ..link(0.5).near };
        let (left, right) = (V3::new(0.9, 0.4, 0.0).normalize(), V3::new(-0.9, 0.4, 0.0).normalize());
        let is_between = |one: Near, two: Near, normal: V3| {
            let all: Vec<bool> = pinched(&[one, two], &[normal], &mut vec![]).collect();
            assert_eq!(all[0], all[1]);
            all[0]
        };
        let up = V3::y();
        assert!(!is_between(push(0, left), push(0, right), up), "a fold over a rod");
        assert!(!is_between(push(0, left), push(1, right), up), "a fold over two");
        assert!(is_between(push(0, left), push(1, right), V3::z()), "crumpled between two");
        assert!(!is_between(push(0, left), push(0, right), V3::z()), "crumpled over one");
        assert!(is_between(push(0, up), push(1, -up), up), "between two");
        assert!(is_between(push(0, up), push(0, -up), up), "in a slot");
        assert!(!is_between(push(0, left), push(1, up), up), "in a corner");
    }
}
