//! Contact as implicit springs, so that what is behind a contact, tension and weight, is balanced where it acts.
//!
//! \[PD97\] D. Baraff, A. Witkin: Partitioned Dynamics. CMU-RI-TR-97-33, 1997, section 4: springs between cloth and cloth,
//! integrated implicitly; constraints on particles against solids. Here both are springs, of vertices, edges and triangles:
//! constraints on particles know nothing of an edge that lies over an edge, and cloth that is pulled over a table's rim hangs
//! there by its edges (measured: strains of 55 % beside 3 % with these).
//!
//! Features that are nearer than the thickness and a bit push each other with force f = k (h - d) along the line between them, and resist
//! sliding with k_t times the way that they slide in the step, k_t = μ f / |way|: at most k, and as if they slid by a fifth of a
//! millimetre a second at least, so that friction is Coulomb's above that speed and viscous below. f and the way are those of the
//! last solve; a force that depends on them so takes energy always. A spring that would pull is released, one that would be
//! entered is taken in, and the step is solved again. What is left of a violation [`partita_contact`] mends.

use nalgebra::{Matrix3, Vector3};
use partita_contact::Near;

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Slower than this, friction is viscous `[m/s]`.
const CREEP: f64 = 2e-4;

/// A change of friction by this factor is worth another solve `[-]`.
const CHANGE: f64 = 1.01;

/// Contacts push where features are farther apart than the thickness by this much of it, so that what rests on them has nothing
/// left for [`partita_contact`] to mend.
const AHEAD: f64 = 0.15;

/// From which cosine between pushes on they are opposite `[-]`.
const OPPOSITE: f64 = -0.3;

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
    /// What it does to the first feature `[N]`.
    pub force: V3,
}

impl Link {
    /// As it seems to be at the begin: closed where it is too near, sliding as the cloth did before.
    pub fn new(near: &Near, stiffness: f64, v: &[V3], dt: f64) -> Self {
        let gap = near.gap - AHEAD * near.thickness;
        let mut link =
            Self { near: *near, gap, stiffness, lack: 0.0, normal: 0.0, tangential: 0.0, force: V3::zeros() };
        let way = near.drift + link.sum(|k| dt * v[k], v.len());
        link.adapt(-gap, &way, dt);
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

    /// k n nᵀ + k_t (1 - n nᵀ) `[N/m]`.
    pub fn matrix(&self) -> M3 {
        let along = self.near.normal * self.near.normal.transpose();
        self.normal * along + self.tangential * (M3::identity() - along)
    }

    /// On the first feature, after it went such a way against the second `[N]`.
    pub fn force_after(&self, way: &V3) -> V3 {
        let n = &self.near.normal;
        let along = n.dot(way);
        self.normal * (-self.gap - along) * n - self.tangential * (way - along * n)
    }

    /// What falls along that force `[J]`.
    pub fn energy_after(&self, way: &V3) -> f64 {
        let along = self.near.normal.dot(way);
        let across = (way - along * self.near.normal).norm_squared();
        0.5 * (self.normal * (self.gap + along).powi(2) + self.tangential * across)
    }

    /// To the way that it turned out to go in `dt`; whether that changes it much.
    pub fn turn_out(&mut self, way: &V3, dt: f64) -> bool {
        self.adapt(-self.gap - self.near.normal.dot(way), way, dt)
    }

    /// To how much too near its features are, and a way in `dt`.
    fn adapt(&mut self, lack: f64, way: &V3, dt: f64) -> bool {
        let before = (self.normal, self.tangential);
        if lack <= 0.0 {
            (self.normal, self.tangential) = (0.0, 0.0);
            return before.0 > 0.0;
        }
        let across = (way - self.near.normal.dot(way) * self.near.normal).norm();
        // Where pushes go to and fro between contacts, friction goes by the lesser, lest it be more than any of them allows.
        let lesser = if before.0 > 0.0 { lack.min(self.lack) } else { lack };
        let stiffness = self.stiffness;
        let friction = self.near.friction * stiffness * lesser / across.max(CREEP * dt);
        self.lack = lack;
        (self.normal, self.tangential) = (stiffness, friction.min(stiffness));
        before.0 == 0.0 || self.tangential > CHANGE * before.1 || self.tangential < before.1 / CHANGE
    }
}

/// Of what is near, the parts that are cloth, among so many vertices: vertices and weights.
pub(crate) fn cloth_parts(near: &Near, vertices: usize) -> impl Iterator<Item = (usize, f64)> {
    let all = near.pair.vertices.map(|v| v as usize).into_iter().zip(near.weights);
    all.filter(move |(v, c)| *v < vertices && *c != 0.0)
}

/// Which links have a vertex that obstacles push from opposite sides: it is between them, and they would feel each other through
/// a spring as stiff as cloth that is stretched, though they may touch each other beside it.
pub(crate) fn pinched(near: &[Near], vertices: usize) -> Vec<bool> {
    let mut first = vec![V3::zeros(); vertices];
    let mut between = vec![false; vertices];
    for near in near.iter().filter(|near| near.obstacle.is_some()) {
        for (v, c) in cloth_parts(near, vertices) {
            let push = c.signum() * near.normal;
            if first[v] == V3::zeros() {
                first[v] = push;
            }
            between[v] |= push.dot(&first[v]) < OPPOSITE;
        }
    }
    near.iter().map(|near| near.obstacle.is_some() && cloth_parts(near, vertices).any(|(v, _)| between[v])).collect()
}
