//! Narrow phase: when does a point that moves linearly pass through a triangle whose corners do?
//!
//! When point and corners lie in one plane, a root of a cubic: X. Provot, Collision and self-collision handling in
//! cloth model dedicated to design garments. Computer Animation and Simulation '97, pp. 177–189, 1997.

use nalgebra::Vector3;

/// A passage of the point through the triangle.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Crossing {
    /// When, as a fraction of the motion [-].
    pub s: f64,
    /// Barycentric coordinates of the place [-].
    pub weights: [f64; 3],
    /// 1 for a passage from the side that the normal points to, −1 from the other one.
    pub side: f64,
}

/// How far outside an edge still counts as inside, in barycentric coordinates [-]. Two triangles that
/// share an edge find the passage at slightly different times (rounding); with this no path slips between.
const EDGE: f64 = 1e-7;

/// The first passage, `corners` being those of the triangle relative to the point at the begin and at
/// the end of the motion: from the side of the normal only, or from either side.
///
/// With corners a_k(s), s in [0, 1], relative to the point, the triangle's normal times twice its area is
/// N(s) = (a₁ − a₀) × (a₂ − a₀), and f(s) = −a₀·N is the point's height times |N|: a cubic in s, the
/// product of a linear and a quadratic one. Its Bernstein coefficients come from theirs; if all have one
/// sign there is no root (most candidates end here). Else every stretch between its extrema with a
/// change of sign has one root, and that is a passage if the point is inside the triangle then.
/// A triangle without area (N = 0) has no inside.
pub(crate) fn first_crossing(corners: &[[Vector3<f64>; 3]; 2], both_sides: bool) -> Option<Crossing> {
    let [[a0, a1, a2], [e0, e1, e2]] = corners;
    let (p, q) = (a1 - a0, a2 - a0);
    let (r, t) = (e1 - e0, e2 - e0);
    let n = [p.cross(&q), 0.5 * (p.cross(&t) + r.cross(&q)), r.cross(&t)];
    let b = [
        -a0.dot(&n[0]),
        -(e0.dot(&n[0]) + 2.0 * a0.dot(&n[1])) / 3.0,
        -(2.0 * e0.dot(&n[1]) + a0.dot(&n[2])) / 3.0,
        -e0.dot(&n[2]),
    ];
    if b.iter().all(|&x| x > 0.0) || b.iter().all(|&x| x < 0.0) {
        return None;
    }

    let mut from = 0.0;
    for to in extrema(&b).into_iter().chain([1.0]) {
        let (above, above_after) = (value(&b, from) >= 0.0, value(&b, to) >= 0.0);
        if above != above_after && (both_sides || above) {
            let s = root(&b, from, to);
            if let Some(weights) = inside(corners, s) {
                return Some(Crossing { s, weights, side: if above { 1.0 } else { -1.0 } });
            }
        }
        from = to;
    }
    None
}

/// The cubic with Bernstein coefficients `b` at `s` (de Casteljau, which stays within their range).
fn value(b: &[f64; 4], s: f64) -> f64 {
    let r = 1.0 - s;
    let c = [r * b[0] + s * b[1], r * b[1] + s * b[2], r * b[2] + s * b[3]];
    let d = [r * c[0] + s * c[1], r * c[1] + s * c[2]];
    r * d[0] + s * d[1]
}

/// Where the derivative, d₀ (1−s)² + 2 d₁ s (1−s) + d₂ s², is 0 within (0, 1), in order; 1 where it is not.
fn extrema(b: &[f64; 4]) -> [f64; 2] {
    let d = [b[1] - b[0], b[2] - b[1], b[3] - b[2]];
    let (a, half, c) = (d[0] - 2.0 * d[1] + d[2], d[1] - d[0], d[0]);
    let discriminant = half * half - a * c;
    if discriminant.is_nan() || discriminant < 0.0 {
        return [1.0; 2];
    }
    // Both roots without cancellation: q/a and c/q, q = −(half + sign(half) √discriminant).
    let q = -(half + half.signum() * discriminant.sqrt());
    let clip = |s: f64| if s > 0.0 && s < 1.0 { s } else { 1.0 };
    let (one, two) = (clip(q / a), clip(c / q));
    [one.min(two), one.max(two)]
}

/// The root between `l` and `r`, where the signs differ: Newton's method, bisecting where that leaves
/// the bracket, to the last bits.
fn root(b: &[f64; 4], mut l: f64, mut r: f64) -> f64 {
    let above = value(b, l) >= 0.0;
    let mut s = 0.5 * (l + r);
    for _ in 0..100 {
        let f = value(b, s);
        if (f >= 0.0) == above {
            l = s
        } else {
            r = s
        }
        let [d0, d1, d2] = [b[1] - b[0], b[2] - b[1], b[3] - b[2]];
        let u = 1.0 - s;
        let newton = s - f / (3.0 * (d0 * u * u + 2.0 * d1 * s * u + d2 * s * s));
        let next = if newton > l && newton < r { newton } else { 0.5 * (l + r) };
        if (next - s).abs() <= 1e-16 || r - l <= 1e-16 {
            return next;
        }
        s = next;
    }
    s
}

/// Barycentric coordinates of the origin in the triangle at `s`, if it is inside.
fn inside([begin, end]: &[[Vector3<f64>; 3]; 2], s: f64) -> Option<[f64; 3]> {
    let c: [Vector3<f64>; 3] = std::array::from_fn(|k| begin[k].lerp(&end[k], s));
    let weights = weights(&c)?;
    weights.iter().all(|&w| w >= -EDGE).then_some(weights)
}

/// Barycentric coordinates of the origin's projection onto the triangle `c`; `None` if that has no area.
///
/// With N as above, w₀ = (c₁ × c₂)·N/|N|² and so on around: areas of the parts over the area of all.
pub(crate) fn weights(c: &[Vector3<f64>; 3]) -> Option<[f64; 3]> {
    let n = (c[1] - c[0]).cross(&(c[2] - c[0]));
    let square = n.norm_squared();
    if !square.is_normal() {
        return None;
    }
    let [w0, w1] = [c[1].cross(&c[2]).dot(&n) / square, c[2].cross(&c[0]).dot(&n) / square];
    Some([w0, w1, 1.0 - w0 - w1])
}

/// Whether the origin's projection lies inside a triangle with these coordinates.
pub(crate) fn is_inside(weights: &[f64; 3]) -> bool {
    weights.iter().all(|&w| w >= -EDGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Corners = [[Vector3<f64>; 3]; 2];

    fn corners() -> impl Strategy<Value = Corners> {
        let vector = || prop::array::uniform3(-1.0f64..1.0).prop_map(Vector3::from);
        prop::array::uniform2(prop::array::uniform3(vector()))
    }

    /// Height of the point over the triangle's plane and its coordinates in it, at `s`.
    fn at([begin, end]: &Corners, s: f64) -> (f64, [f64; 3]) {
        let c: [_; 3] = std::array::from_fn(|k| begin[k].lerp(&end[k], s));
        let n = (c[1] - c[0]).cross(&(c[2] - c[0]));
        (-c[0].dot(&n.normalize()), weights(&c).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Brute force: 4,000 samples of the motion show a passage wherever the height changes its sign
        /// while the point is well inside. The first of them is found, and nothing before it is that is
        /// clear of the edges; what is found lies in the plane and inside.
        #[test]
        fn passages_are_those_of_a_fine_sampling(corners in corners(), both in any::<bool>()) {
            let n = 4000;
            let found = first_crossing(&corners, both);
            if let Some(Crossing { s, weights, side }) = found {
                let (height, again) = at(&corners, s);
                prop_assert!((0.0..=1.0).contains(&s) && height.abs() < 1e-9, "{height} m off the plane");
                prop_assert!(is_inside(&weights) && (0..3).all(|k| (weights[k] - again[k]).abs() < 1e-9));
                prop_assert!(side == 1.0 || both);
                // From that side: a little before and after, unless it only touches.
                let (before, after) = (at(&corners, s - 1e-7).0, at(&corners, s + 1e-7).0);
                prop_assert!(side * before >= -1e-12 && side * after <= 1e-12, "{before} {after}");
            }
            let mut last = at(&corners, 0.0);
            for i in 1..=n {
                let s = f64::from(i) / f64::from(n);
                let next = at(&corners, s);
                let passes = last.0 > 0.0 && next.0 < 0.0 || both && last.0 < 0.0 && next.0 > 0.0;
                let inside = last.1.iter().chain(&next.1).all(|&w| w > 0.02) && (last.0 - next.0).abs() < 0.1;
                if passes && inside {
                    let found = found.map(|crossing| crossing.s);
                    prop_assert!(found.is_some_and(|found| found <= s), "sampled by {s}, found {found:?}");
                    break;
                }
                last = next;
            }
        }

        /// A known passage: the triangle is placed so that the point is in it at s.
        #[test]
        fn a_planted_passage_is_found(corners in corners(), s in 0.01f64..0.99, a in 0.0f64..1.0, b in 0.0f64..1.0) {
            let (a, b) = if a + b > 1.0 { (1.0 - a, 1.0 - b) } else { (a, b) };
            let mut corners = corners;
            let middle: [Vector3<f64>; 3] = std::array::from_fn(|k| corners[0][k].lerp(&corners[1][k], s));
            let place = a * middle[0] + b * middle[1] + (1.0 - a - b) * middle[2];
            corners.iter_mut().flatten().for_each(|corner| *corner -= place);
            let (before, after) = (at(&corners, s - 1e-3).0, at(&corners, s + 1e-3).0);
            prop_assume!(before * after < 0.0 && before.abs() > 1e-6 && after.abs() > 1e-6);
            let found = first_crossing(&corners, true);
            prop_assert!(found.is_some_and(|crossing| crossing.s <= s + 1e-9), "{found:?} at {s}");
        }
    }

    /// Three times through, by a cubic with three roots: from the first one on, each with its side.
    #[test]
    fn a_triangle_that_turns_is_passed_several_times() {
        // Height over the plane through a wide triangle: (s − 0.2)(s − 0.5)(s − 0.9) up to a factor.
        // Bernstein coefficients from the power ones c₀ … c₃: sums with weights 1/3, 2/3, 1.
        let c = [-0.09, 0.73, -1.6, 1.0];
        let b = [c[0], c[0] + c[1] / 3.0, c[0] + 2.0 * c[1] / 3.0 + c[2] / 3.0, c.iter().sum()];
        let [l, r] = extrema(&b);
        for (bracket, exact) in [((0.0, l), 0.2), ((l, r), 0.5), ((r, 1.0), 0.9)] {
            assert!((root(&b, bracket.0, bracket.1) - exact).abs() < 1e-14);
        }
    }

    /// A triangle without area, one that does not move, and numbers that are none: no passage, no panic.
    #[test]
    fn degenerate_triangles_are_never_passed() {
        let (o, x, y) = (Vector3::zeros(), Vector3::x(), Vector3::y());
        let far = Vector3::new(0.1, 0.1, 1.0);
        for triangle in [[o, o, o], [o, x, 2.0 * x], [o, x, x]] {
            assert_eq!(first_crossing(&[triangle.map(|c| c - far), triangle.map(|c| c + far)], true), None);
        }
        let still = [o, x, y].map(|c| c - far);
        assert_eq!(first_crossing(&[still, still], true), None);
        let nan = Vector3::from_element(f64::NAN);
        assert_eq!(first_crossing(&[[nan; 3], [o, x, y]], true), None);
    }
}
