//! Response: impulses that keep features apart, with Coulomb friction.
//!
//! \[BFA02\] sections 7.2 and 7.3. Each contact asks that its features, so near each other along n, come no nearer than the
//! thickness by the end of the step, and that those that already are part slowly:
//!
//!   n·Σ c u >= b,   b = -(d - h) where d > h, else a tenth of h - d a step, and of h at most.
//!
//! u is the way of each vertex over the step and c its weight, so impulses are in kg m here and become N s over dt.
//! Different from the paper, which stops each pair once: contacts are swept repeatedly with impulses that add up and may be
//! taken back (projected Gauss-Seidel), so that layers pass on what lies on them, and friction is within the cone of the
//! whole impulse.

use nalgebra::Vector3;

use crate::broad::Pair;

type V3 = Vector3<f64>;

/// Two features that push each other.
#[derive(Debug, Clone)]
pub(crate) struct Contact {
    pub pair: Pair,
    /// The obstacle that one of the features is of.
    pub obstacle: Option<u32>,
    pub weights: [f64; 4],
    /// From the second feature to the first.
    pub n: V3,
    /// Way of the obstacle's surface where it is touched, with the sign that it has in the relative way `[m]`.
    pub drift: V3,
    /// What the relative way along n has to be at least `[m]`.
    pub least: f64,
    pub friction: f64,
    /// Sum of impulses along n `[kg m]`, and what it may be at most.
    pub push: f64,
    pub most: f64,
    /// Sum of impulses across n `[kg m]`.
    pub drag: V3,
    /// Torque of both that has been taken out again `[kg m²]`.
    pub cancelled: V3,
}

impl Contact {
    /// The vertices that have a part in it: of either feature in order, the lower feature first.
    pub fn places(&self) -> [[u32; 3]; 2] {
        let split = self.pair.kind.split();
        let mut places = [[u32::MAX; 3]; 2];
        for (k, &v) in self.pair.vertices.iter().enumerate().filter(|(k, _)| self.weights[*k] != 0.0) {
            let (feature, k) = if k < split { (0, k) } else { (1, k - split) };
            places[feature][k] = v;
        }
        places.iter_mut().for_each(|vertices| vertices.sort_unstable());
        places.sort_unstable();
        places
    }

    /// How the first feature moves relative to the second `[m]`.
    pub fn relative(&self, u: &[V3]) -> V3 {
        let mut way = self.drift;
        for (&c, &v) in self.weights.iter().zip(&self.pair.vertices) {
            if let Some(u) = u.get(v as usize) {
                way += c * u;
            }
        }
        way
    }

    fn apply(&self, impulse: &V3, u: &mut [V3], w: &[f64]) {
        for (&c, &v) in self.weights.iter().zip(&self.pair.vertices) {
            if let Some(u) = u.get_mut(v as usize) {
                *u += c * w[v as usize] * impulse;
            }
        }
    }

    /// Σ c² w: how much the relative way changes by an impulse `[1/kg]`.
    fn mobility(&self, w: &[f64]) -> f64 {
        let of = |(&c, &v): (&f64, &u32)| w.get(v as usize).map_or(0.0, |w| c * c * w);
        self.weights.iter().zip(&self.pair.vertices).map(of).sum()
    }
}

/// How much faster than a contact asks for a vertex may get by it. Beside pins, a vertex with a small part in the contact would
/// have to go as much farther as its part is smaller; what is then left undone is for shorter parts of the step and zones.
const LEVER: f64 = 4.0;

/// The impulse along n at which the most mobile vertex goes [`LEVER`] times `way` `[m]`.
pub(crate) fn most_push(vertices: &[u32], weights: &[f64], w: &[f64], way: f64) -> f64 {
    let parts = || vertices.iter().zip(weights).map(|(&v, c)| (c.abs(), w.get(v as usize).copied().unwrap_or(0.0)));
    let fastest = parts().map(|(c, w)| c * w).fold(0.0, f64::max);
    let mobility: f64 = parts().map(|(c, w)| c * c * w).sum();
    if LEVER * mobility < fastest { LEVER * way / fastest } else { f64::INFINITY }
}

/// One sweep over all contacts in order; `u` and `w` are of the cloth's vertices, obstacles' come after them.
/// Returns by how much the way of a contact changed at most `[m]`.
pub(crate) fn sweep(contacts: &mut [Contact], u: &mut [V3], w: &[f64]) -> f64 {
    let mut most = 0.0_f64;
    for contact in contacts {
        let mobility = contact.mobility(w);
        if mobility == 0.0 {
            continue;
        }
        let n = contact.n;
        let before = contact.push;
        let lacking = contact.least - n.dot(&contact.relative(u));
        contact.push = (before + lacking / mobility).max(0.0).min(contact.most);
        if contact.push != before {
            let more = contact.push - before;
            contact.apply(&(more * n), u, w);
            most = most.max((more * mobility).abs());
        }
        if contact.friction > 0.0 && (contact.push > 0.0 || contact.drag != V3::zeros()) {
            let way = contact.relative(u);
            let across = way - n.dot(&way) * n;
            let before = contact.drag;
            contact.drag = (before - across / mobility).cap_magnitude(contact.friction * contact.push);
            let more = contact.drag - before;
            contact.apply(&more, u, w);
            most = most.max(more.norm() * mobility);
        }
    }
    most
}
