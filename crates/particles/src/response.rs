//! What a contact does to a velocity: restitution, Coulomb friction, and rest.

use nalgebra::Vector3;

/// Sweeps over contacts that are held together, at most.
const SWEEPS: usize = 12;

/// Change of the velocity in a sweep, relative to it, below which the next ones would change
/// nothing [-].
const ROUNDING: f64 = 1e-15;

/// A place of a triangle or solid.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Triangle {
        triangle: u32,
        /// Barycentric coordinates [-].
        weights: [f64; 3],
    },
    Solid {
        /// Number after those of the triangles.
        solid: u32,
    },
}

impl Place {
    /// Number of the triangle or solid.
    pub fn number(&self) -> u32 {
        match *self {
            Self::Triangle { triangle, .. } => triangle,
            Self::Solid { solid } => solid,
        }
    }
}

/// A place of a surface that a particle touches, for the rest of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    pub place: Place,
    /// Distance of the touched layer from the surface, along its normal `[m]`.
    pub offset: f64,
    /// Unit normal towards the particle.
    pub normal: Vector3<f64>,
    /// Of the place, along its path over the step `[m/s]`.
    pub velocity: Vector3<f64>,
    /// Coulomb friction coefficient [-].
    pub friction: f64,
    /// Velocity change along the normal within the current leg `[m/s]`.
    pub push: f64,
    /// Velocity change across the normal within the current leg `[m/s]`.
    pub rub: Vector3<f64>,
}

impl Contact {
    /// Velocity change of the particle within the current leg `[m/s]`.
    pub fn change(&self) -> Vector3<f64> {
        self.push * self.normal + self.rub
    }
}

/// Velocity change `[m/s]` of a particle of velocity `v` that hits `contact`.
///
/// With w = v − u relative to the place, w_n = w·n < 0 and its tangential part w_t, Newton's restitution
/// and Coulomb's law ask for Δv = j_n n − min(μ j_n, |w_t|) w_t/|w_t|, j_n = −(1 + e) w_n.
pub(crate) fn bounce(contact: &Contact, restitution: f64, v: Vector3<f64>) -> Vector3<f64> {
    let (n, w) = (contact.normal, v - contact.velocity);
    let wn = w.dot(&n);
    if wn >= 0.0 {
        return Vector3::zeros();
    }
    let jn = -(1.0 + restitution) * wn;
    jn * n + limited(-(w - wn * n), contact.friction * jn)
}

/// Keeps the velocity `v` at the end of a leg from going into any of `held`; returns what it becomes.
///
/// Each contact asks for 0 ≤ λ_n ⊥ (v − u)·n ≥ 0 and |λ_t| ≤ μ λ_n against sliding. One contact is solved
/// exactly; several by projected Gauss-Seidel over accumulated changes
/// (E. Catto: Iterative dynamics with temporal coherence. GDC 2005), then once more along the normals.
pub(crate) fn hold(held: &mut [Contact], mut v: Vector3<f64>) -> Vector3<f64> {
    for contact in held.iter_mut() {
        (contact.push, contact.rub) = (0.0, Vector3::zeros());
    }
    let sweeps = if held.len() > 1 { SWEEPS } else { 1 };
    for _ in 0..sweeps {
        let mut changed = 0.0;
        for contact in held.iter_mut() {
            let before = v;
            push(contact, &mut v);
            let (n, w) = (contact.normal, v - contact.velocity);
            let rub = limited(contact.rub - (w - w.dot(&n) * n), contact.friction * contact.push);
            v += rub - contact.rub;
            contact.rub = rub;
            changed += (v - before).norm_squared();
        }
        if changed <= ROUNDING * ROUNDING * v.norm_squared() {
            break;
        }
    }
    if held.len() > 1 {
        held.iter_mut().for_each(|contact| push(contact, &mut v));
    }
    v
}

fn push(contact: &mut Contact, v: &mut Vector3<f64>) {
    let more = (contact.velocity - *v).dot(&contact.normal).max(-contact.push);
    contact.push += more;
    *v += more * contact.normal;
}

/// `v`, or what points there with length `most`.
fn limited(v: Vector3<f64>, most: f64) -> Vector3<f64> {
    let norm = v.norm();
    if norm <= most { v } else { most / norm * v }
}
