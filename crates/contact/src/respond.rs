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
    /// Fraction of the step at which weights and normal are taken ([`crate::Contacts::turn`]) [-].
    pub at: f64,
    /// Distance beyond the thickness at the start `[m]`.
    pub gap: f64,
    /// Normal impulse that the predicted displacement would need by itself `[kg m]`.
    pub alone: f64,
    /// Way of the obstacle's surface where it is touched, with the sign that it has in the relative way `[m]`.
    pub drift: V3,
    /// What the relative way along n has to be at least `[m]`.
    pub least: f64,
    /// Velocity along n with which the obstacle throws the cloth back at the end of the step (`bounce.rs`) `[m/s]`.
    pub bounce: f64,
    pub friction: f64,
    /// Sum of impulses along n `[kg m]`, and what it may be at most.
    pub push: f64,
    pub most: f64,
    /// Impulse along n that forces of a simulator gave and the sum may take back (`bounce.rs`) `[N s]`.
    pub given: f64,
    /// Sum of impulses across n `[kg m]`.
    pub drag: V3,
}

impl Contact {
    /// Contact at the start of the step, without an impulse or a bound of it.
    pub fn unloaded(pair: Pair, obstacle: Option<u32>) -> Self {
        Self {
            pair,
            obstacle,
            weights: [0.0; 4],
            n: V3::zeros(),
            at: 0.0,
            gap: 0.0,
            alone: 0.0,
            drift: V3::zeros(),
            least: 0.0,
            bounce: 0.0,
            friction: 0.0,
            push: 0.0,
            most: f64::INFINITY,
            given: 0.0,
            drag: V3::zeros(),
        }
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

    pub fn apply(&self, impulse: &V3, u: &mut [V3], w: &[f64]) {
        for (&c, &v) in self.weights.iter().zip(&self.pair.vertices) {
            if let Some(u) = u.get_mut(v as usize) {
                *u += c * w[v as usize] * impulse;
            }
        }
    }

    /// Σ c² w: how much the relative way changes by an impulse `[1/kg]`.
    pub fn mobility(&self, w: &[f64]) -> f64 {
        let of = |(&c, &v): (&f64, &u32)| w.get(v as usize).map_or(0.0, |w| c * c * w);
        self.weights.iter().zip(&self.pair.vertices).map(of).sum()
    }
}

/// Largest velocity of a vertex by a contact, relative to the velocity that the contact asks for [-]. Beside pins, a vertex with a small weight in the contact would
/// have to go as much farther as its weight is smaller; what is then left undone is for the obstacle (`stops.rs`), shorter parts of
/// the step and zones.
const LEVER: f64 = 4.0;

/// Part of a contact's way that cloth makes by itself: 1 for free cloth, 0 where all vertices are kinematic. A contact gets no more
/// impulse than one in which a free vertex has a weight of 1/`LEVER`, so it is `LEVER`² Σ c² w over the largest w, up to 1 [-].
pub(crate) fn makes_way(vertices: &[u32], weights: &[f64], w: &[f64]) -> f64 {
    let [mobility, largest] = mobility_of(vertices, weights, w);
    if largest > 0.0 { (LEVER * LEVER * mobility / largest).min(1.0) } else { 0.0 }
}

/// Σ c² w of the cloth's vertices, and the largest w of those that have a part `[1/kg]`.
fn mobility_of(vertices: &[u32], weights: &[f64], w: &[f64]) -> [f64; 2] {
    let parts = vertices.iter().zip(weights).filter(|(_, c)| **c != 0.0);
    let parts = parts.map(|(&v, c)| (c, w.get(v as usize).copied().unwrap_or(0.0)));
    parts.fold([0.0, 0.0], |[mobility, largest], (c, w)| [mobility + c * c * w, f64::max(largest, w)])
}

/// Largest impulse along n of a contact that asks for `way` `[m]`: without bound where the cloth makes way, else that of
/// [`makes_way`], whatever the weights `[kg m]`.
pub(crate) fn most_push(vertices: &[u32], weights: &[f64], w: &[f64], way: f64) -> f64 {
    let [mobility, largest] = mobility_of(vertices, weights, w);
    if LEVER * LEVER * mobility < largest { LEVER * LEVER * way / largest } else { f64::INFINITY }
}

/// One sweep over all contacts in order; `u` and inverse masses are of the cloth's vertices,
/// obstacles' come after them. Along normals inverse masses are `w`, across them `tangential`.
/// Returns by how much the way of a contact changed at most `[m]`.
pub(crate) fn sweep(contacts: &mut [Contact], u: &mut [V3], w: &[f64], tangential: &[f64]) -> f64 {
    let mut most = 0.0_f64;
    for contact in contacts {
        let n = contact.n;
        let before = contact.push;
        let lacking = contact.least - n.dot(&contact.relative(u));
        let is_idle = before == 0.0 && contact.given == 0.0 && contact.drag == V3::zeros();
        if is_idle && lacking <= 0.0 {
            continue;
        }
        let mobility = contact.mobility(w);
        if mobility == 0.0 {
            continue;
        }
        contact.push = (before + lacking / mobility).max(-contact.given).min(contact.most);
        if contact.push != before {
            let more = contact.push - before;
            contact.apply(&(more * n), u, w);
            most = most.max((more * mobility).abs());
        }
        if contact.friction > 0.0 && (contact.push > 0.0 || contact.drag != V3::zeros()) {
            let (way, mobility) = (contact.relative(u), contact.mobility(tangential));
            let across = way - n.dot(&way) * n;
            let before = contact.drag;
            contact.drag = (before - across / mobility).cap_magnitude(contact.friction * contact.push.max(0.0));
            let more = contact.drag - before;
            contact.apply(&more, u, tangential);
            most = most.max(more.norm() * mobility);
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A contact that takes back what springs gave it has no friction, and none against the motion either: what it had
    /// before ends.
    #[test]
    fn friction_ends_where_impulses_are_taken_back() {
        let pair = Pair { kind: crate::Kind::PointTriangle, vertices: [0, 1, 2, 3] };
        for sliding in [0.0, 0.1, -3.0] {
            let weights = [1.0, -0.2, -0.3, -0.5];
            let (given, drag) = (2.0, 0.5 * V3::x());
            let unloaded = Contact::unloaded(pair, Some(0));
            let contact = Contact { weights, n: V3::y(), friction: 0.3, push: 1.0, given, drag, ..unloaded };
            let (mut contacts, mut u) = ([contact], [V3::new(0.5 + sliding, 1.5, 0.0)]);
            sweep(&mut contacts, &mut u, &[1.0], &[1.0]);
            let [Contact { push, drag, .. }] = contacts;
            assert!((push + 0.5).abs() < 1e-15 && drag == V3::zeros(), "{sliding}: {push} {drag:?}");
            assert!((u[0] - sliding * V3::x()).norm() < 1e-15, "{sliding}: {:?}", u[0]);
        }
    }
}
