//! Contact as implicit springs, so that what is behind a contact, tension and weight, is balanced where it acts.
//!
//! \[PD97\] D. Baraff, A. Witkin: Partitioned Dynamics. CMU-RI-TR-97-33, 1997, section 4: springs between cloth and cloth,
//! integrated implicitly; constraints on particles against solids. Here both are springs, of vertices, edges and triangles:
//! constraints on particles know nothing of an edge that lies over an edge, and cloth that is pulled over a table's rim hangs
//! there by its edges (measured: strains of 55 % beside 3 % with these).
//!
//! Features that are nearer than the thickness and a bit push each other with force f = k (h - d) along the line between them.
//! They stick by a spring that would slide by a fifth of a millimetre a second where it bears μ f, at most as stiff as k; where
//! it would bear more they slip, with a friction of μ f against the way w that they go across. Around the last solve, that is
//!
//!   -μ f (t + (w - (t·w) t)/|w|),   t = w/|w|,
//!
//! of constant size along the way (a secant μ f/|w| creeps towards it by a share in each solve, and what once stuck would
//! hardly come loose). What would turn round sticks. The last solve takes the secant after all, which takes energy whatever
//! becomes of it. A spring that would pull is released, one that would be entered is taken in, and the step is solved again.
//! What is left of a violation [`partita_contact`] mends.

use nalgebra::{Matrix3, Vector3};
use partita_contact::Near;

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Slower than this, friction is viscous `[m/s]`.
const CREEP: f64 = 2e-4;

/// What slides no faster than so many times that may stick `[-]`.
const SLOW: f64 = 5.0;

/// A change of a contact's force by this share is worth another solve `[-]`.
const CHANGE: f64 = 0.01;

/// Contacts push where features are farther apart than the thickness by this much of it, so that what rests on them has nothing
/// left for [`partita_contact`] to mend.
const AHEAD: f64 = 0.15;

/// From which cosine between a push and the cloth's normal on it comes from one side `[-]`.
const SIDE: f64 = 0.3;

/// A contact.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub near: Near,
    /// How far apart they are beyond where they begin to push `[m]`.
    gap: f64,
    /// k where it is closed `[N/m]`.
    stiffness: f64,
    /// How much too near they were found last `[m]`.
    lack: f64,
    /// Along the normal, 0 where it is open, and across it `[N/m]`.
    normal: f64,
    tangential: f64,
    /// Where it slips: the friction along its way `[N]`, across which alone the tangential stiffness acts then.
    slip: Option<V3>,
    /// What it does to the first feature `[N]`.
    pub force: V3,
}

impl Link {
    /// As it seems to be at the begin: closed where it is too near, sticking where it hardly moves. What slips has no friction yet:
    /// how hard it is pushed the first solve tells.
    pub fn new(near: &Near, stiffness: f64, v: &[V3], dt: f64) -> Self {
        let gap = near.gap - AHEAD * near.thickness;
        let mut link = Self {
            near: *near,
            gap,
            stiffness,
            lack: f64::INFINITY,
            normal: if gap < 0.0 { stiffness } else { 0.0 },
            tangential: 0.0,
            slip: None,
            force: V3::zeros(),
        };
        let way = near.drift + link.sum(|k| dt * v[k], v.len());
        if gap < 0.0 && link.split(&way).1.norm() <= SLOW * CREEP * dt {
            link.tangential = stiffness;
        }
        link
    }

    /// The parts of it that are cloth, among so many vertices: places, vertices, weights.
    pub fn parts(&self, vertices: usize) -> impl Iterator<Item = (usize, f64)> {
        cloth_parts(&self.near, vertices)
    }

    pub fn sum(&self, of: impl Fn(usize) -> V3, vertices: usize) -> V3 {
        self.parts(vertices).map(|(v, c)| c * of(v)).sum()
    }

    pub fn is_closed(&self) -> bool {
        self.normal > 0.0
    }

    /// k n nᵀ + k_t P, where P projects across the normal, and across the way of what slips `[N/m]`.
    pub fn matrix(&self) -> M3 {
        let along = self.near.normal * self.near.normal.transpose();
        let mut across = M3::identity() - along;
        if let Some(t) = self.direction() {
            across -= t * t.transpose();
        }
        self.normal * along + self.tangential * across
    }

    /// Along which it slips.
    fn direction(&self) -> Option<V3> {
        self.slip.map(|slip| slip.normalize())
    }

    /// A way, by its part along the normal and what the tangential stiffness acts on.
    fn split(&self, way: &V3) -> (f64, V3) {
        let along = self.near.normal.dot(way);
        let across = way - along * self.near.normal;
        (along, across - self.direction().map_or(V3::zeros(), |t| t.dot(&across) * t))
    }

    /// On the first feature, after it went such a way against the second `[N]`.
    pub fn force_after(&self, way: &V3) -> V3 {
        let (along, across) = self.split(way);
        let slip = self.slip.unwrap_or_else(V3::zeros);
        self.normal * (-self.gap - along) * self.near.normal - self.tangential * across - slip
    }

    /// What falls along that force `[J]`.
    pub fn energy_after(&self, way: &V3) -> f64 {
        let (along, across) = self.split(way);
        let slip = self.slip.map_or(0.0, |slip| slip.dot(way));
        0.5 * (self.normal * (self.gap + along).powi(2) + self.tangential * across.norm_squared()) + slip
    }

    /// To the way that it turned out to go in `dt`, `last` if there is one more solve only; whether that changes it much.
    pub fn turn_out(&mut self, way: &V3, dt: f64, last: bool) -> bool {
        let before = self.force_after(way);
        self.adapt(-self.gap - self.near.normal.dot(way), way, dt, last);
        let after = self.force_after(way);
        (after - before).norm() > CHANGE * after.norm().max(before.norm())
    }

    /// To how much too near its features are, and a way in `dt`.
    fn adapt(&mut self, lack: f64, way: &V3, dt: f64, last: bool) {
        let slipped = self.direction();
        (self.normal, self.tangential, self.slip) = (0.0, 0.0, None);
        // Where pushes go to and fro between contacts, friction goes by the lesser, lest it be more than any of them allows.
        let lesser = lack.min(self.lack);
        self.lack = if lack > 0.0 { lack } else { f64::INFINITY };
        if lack <= 0.0 {
            return;
        }
        self.normal = self.stiffness;
        let most = self.near.friction * self.stiffness * lesser;
        let across = way - self.near.normal.dot(way) * self.near.normal;
        let size = across.norm();
        let sticking = (most / (CREEP * dt)).min(self.stiffness);
        if sticking * size <= most || (!last && slipped.is_some_and(|t| t.dot(&across) < 0.0)) {
            self.tangential = sticking;
        } else {
            self.tangential = most / size;
            self.slip = (!last).then(|| most / size * across).filter(|slip| *slip != V3::zeros());
        }
    }
}

/// Of what is near, the parts that are cloth, among so many vertices: vertices and weights.
pub(crate) fn cloth_parts(near: &Near, vertices: usize) -> impl Iterator<Item = (usize, f64)> {
    let all = near.pair.vertices.map(|v| v as usize).into_iter().zip(near.weights);
    all.filter(move |(v, c)| *v < vertices && *c != 0.0)
}

/// Which links have a vertex that obstacles push from both sides of the cloth, which has such normals: it is between them, and
/// they would feel each other through a spring as stiff as cloth that is stretched, though they may touch each other beside it.
pub(crate) fn pinched(near: &[Near], normals: &[V3], sides: &mut Vec<[bool; 2]>) -> impl Iterator<Item = bool> {
    sides.clear();
    sides.resize(normals.len(), [false; 2]);
    let obstacles = |near: &&Near| near.obstacle.is_some();
    for near in near.iter().filter(obstacles) {
        for (v, c) in cloth_parts(near, normals.len()) {
            let along = c.signum() * near.normal.dot(&normals[v]);
            sides[v][0] |= along > SIDE * normals[v].norm();
            sides[v][1] |= along < -SIDE * normals[v].norm();
        }
    }
    let between = |near: &Near| cloth_parts(near, normals.len()).any(|(v, _)| sides[v] == [true; 2]);
    near.iter().map(move |near| near.obstacle.is_some() && between(near))
}
