//! Bending of two triangles about their common edge, after Bridson.
//!
//! \[BMF03\] R. Bridson, S. Marino, R. Fedkiw: Simulation of Clothing with Folds and Wrinkles. SCA 2003, section 4: forces along the bending
//! mode, which is the gradient of the angle θ between the triangles, in proportion to sin(θ/2) less what that is at rest,
//!
//!   dE/dθ = 2 k (sin(θ/2) - s₀),   E = 4 k (√(1 - s₀²) - √(1 - s²)) - 4 k s₀ (asin s - asin s₀),   s = sin(θ/2),
//!
//! so that near rest E = ½ k (θ - θ₀)² for what is flat there, as [`partita_elastic::hinge`] has it with the same k. Different from
//! \[BMF03\], whose k has the areas of the moment in it: with those at rest forces have an energy, which this integrator keeps.
//!
//! With normals N = e × (c - a) and M = (d - a) × e of the triangles at the left and the right of the edge e from a to b, whose other
//! corners are c and d, Q = -N·(d - a), P = N·M and r = |N| |M|: sin θ = |e| Q/r and cos θ = P/r, hence
//!
//!   s = sin θ/(2 cos(θ/2)) = |e| Q/√(2 r (r + P)),
//!
//! which is exactly 0 where Q is, and by |s| = √((1 - P/r)/2) where the fold is sharper than a right angle.

use nalgebra::Vector3;

type V3 = Vector3<f64>;

/// Smallest height of a triangle over the edge, of that edge, for which there is an angle [-].
const FLATTEST: f64 = 1e-6;

/// The triangle at the left of an edge, all three of whose edges may be folded.
pub(crate) struct Left {
    normal: V3,
    /// |N|, and 1/|N|².
    length: f64,
    inverse_square: f64,
}

impl Left {
    #[inline(always)]
    pub fn new([a, b, c]: &[V3; 3]) -> Self {
        let normal = (b - a).cross(&(c - a));
        let square = normal.norm_squared();
        Self { normal, length: square.sqrt(), inverse_square: 1.0 / square }
    }
}

/// sin(θ/2), and ∂θ/∂x of a, b, c and d `[rad/m]`; none where a triangle has hardly any area.
#[inline(always)]
pub(crate) fn fold([a, b, c, d]: [&V3; 4], left: &Left) -> Option<(f64, [V3; 4])> {
    let (e, q) = (b - a, d - a);
    let right = q.cross(&e);
    let (e2, r2) = (e.norm_squared(), right.norm_squared());
    let least = FLATTEST * e2;
    if r2 <= least * least || left.length <= least {
        return None;
    }
    let (height, p, r) = (-left.normal.dot(&q), left.normal.dot(&right), left.length * r2.sqrt());
    let length = e2.sqrt();
    let (by_c, by_d) = (-length * left.inverse_square * left.normal, -length / r2 * right);
    let (s, t) = (e.dot(&(c - a)) / e2, e.dot(&q) / e2);
    let by_b = -s * by_c - t * by_d;
    let sine = if p > 0.0 {
        length * height / (2.0 * r * (r + p)).sqrt()
    } else {
        (0.5 * (1.0 - p / r)).max(0.0).sqrt().copysign(height)
    };
    Some((sine, [-(by_b + by_c + by_d), by_b, by_c, by_d]))
}

/// sin(θ/2) by the very arithmetic of an event; 0 where there is no angle.
pub(crate) fn sine([a, b, c, d]: &[V3; 4], left: &Left) -> f64 {
    fold([a, b, c, d], left).map_or(0.0, |(sine, _)| sine)
}

/// E by the sines of the half angles, now and at rest `[J]`.
pub(crate) fn energy(k: f64, s: f64, s0: f64) -> f64 {
    let [cosine, cosine0] = [s, s0].map(|s| (1.0 - s * s).max(0.0).sqrt());
    let turned = s.clamp(-1.0, 1.0).asin() - s0.clamp(-1.0, 1.0).asin();
    // √(1 - s₀²) - √(1 - s²) without cancellation.
    let even = if cosine + cosine0 > 0.0 { (s * s - s0 * s0) / (cosine + cosine0) } else { 0.0 };
    4.0 * k * (even - s0 * turned)
}

#[cfg(test)]
mod tests {
    use partita_elastic::hinge;

    use super::*;

    fn folded(degrees: f64) -> [V3; 4] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let x = [[0.1, 0.2, 0.0], [1.1, 0.2, 0.0], [0.4, 1.2, 0.0], [0.7, 0.2 - 0.8 * cos, 0.8 * sin]];
        x.map(V3::from)
    }

    fn of(x: &[V3; 4]) -> (f64, [V3; 4]) {
        let [a, b, c, d] = x;
        fold([a, b, c, d], &Left::new(&[*a, *b, *c])).unwrap()
    }

    /// The sine is that of half the angle, and the gradient that of the angle, which another crate derived.
    #[test]
    fn angle_and_gradient_are_those_of_the_hinge() {
        for degrees in [-179.0, -120.0, -90.0, -89.0, -1e-7, 0.0, 1e-3, 30.0, 91.0, 150.0, 179.0_f64] {
            let x = folded(degrees);
            let (sine, gradient) = of(&x);
            assert!((sine - (0.5 * hinge::angle(&x)).sin()).abs() < 1e-15, "{degrees}°: {sine}");
            let expected = hinge::gradient(&x).unwrap();
            assert!(gradient.iter().zip(&expected).all(|(g, e)| (g - e).norm() < 1e-13), "{degrees}°");
        }
        assert_eq!(of(&folded(0.0)).0, 0.0);
    }

    /// dE/dθ = 2 k (s - s₀), by central differences; E is 0 at rest and that of the hinge near it.
    #[test]
    fn the_moment_derives_from_the_energy() {
        let (k, h) = (0.3, 1e-5_f64);
        for rest in [0.0, -40.0, 100.0_f64] {
            let s0 = of(&folded(rest)).0;
            assert_eq!(energy(k, s0, s0), 0.0);
            for degrees in [-150.0, -20.0, 0.5, 70.0, 130.0_f64] {
                let at = |more: f64| of(&folded(degrees + more.to_degrees()));
                // A larger angle of this fold is a smaller θ or a larger: by its sine.
                let turned = (at(h).0.asin() - at(-h).0.asin()) * 2.0;
                let slope = (energy(k, at(h).0, s0) - energy(k, at(-h).0, s0)) / turned;
                let expected = 2.0 * k * (at(0.0).0 - s0);
                assert!((slope - expected).abs() < 1e-8, "{rest}°, {degrees}°: {slope} for {expected}");
            }
        }
        let (small, flat) = (of(&folded(0.01)).0, 0.5 * k * 0.01_f64.to_radians().powi(2));
        assert!((energy(k, small, 0.0) / flat - 1.0).abs() < 1e-7);
    }

    #[test]
    fn what_has_no_area_has_no_angle() {
        let mut x = folded(20.0);
        x[3] = x[0].lerp(&x[1], 0.3);
        let [a, b, c, d] = &x;
        assert!(fold([a, b, c, d], &Left::new(&[*a, *b, *c])).is_none());
    }
}
