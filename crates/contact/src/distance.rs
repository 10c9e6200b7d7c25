//! Distances between features: point and triangle, edge and edge.
//!
//! Each answer is the distance of two points that are *on* the features, the least over all ways in which the nearest
//! points can lie (within, on an edge, at a corner). So it is never below the true distance but for the last rounding,
//! and above it by no more than [`rounding`], slivers, parallel edges and points in place of edges included:
//! where a system is ill-conditioned its solution is corrected along the direction in which it is not.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

type V3 = Vector3<f64>;

/// Which two features a pair is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// A point and a triangle: `[point, corner, corner, corner]`.
    PointTriangle,
    /// Two edges: `[end, end, other end, other end]`. An edge may be a point.
    EdgeEdge,
}

impl Kind {
    /// How many of the four vertices are the first feature's.
    pub(crate) fn split(self) -> usize {
        match self {
            Self::PointTriangle => 1,
            Self::EdgeEdge => 2,
        }
    }
}

/// The nearest points of two features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// From the nearest point of the second feature to that of the first `[m]`.
    pub offset: V3,
    /// What each vertex has in it `[-]`: `offset` = Σ `weights[k] x[k]`; 1 in all for the first feature, -1 for the second.
    pub weights: [f64; 4],
}

impl Nearest {
    /// Between the nearest points `[m]`.
    pub fn distance(&self) -> f64 {
        self.offset.norm()
    }
}

/// By how much a distance of vertices within `reach` of the origin may be wrong `[m]`.
///
/// Differences of coordinates round to ε `reach`, and the corrections leave a few ε of the features' size;
/// `distances_are_those_of_exact_arithmetic` finds no more than a tenth of this.
pub fn rounding(reach: f64) -> f64 {
    64.0 * f64::EPSILON * reach
}

/// The nearest points of the two features of `kind` with vertices `x` `[m]`.
pub fn nearest(kind: Kind, x: &[V3; 4]) -> Nearest {
    match kind {
        Kind::PointTriangle => point_triangle(x),
        Kind::EdgeEdge => edge_edge(x),
    }
}

/// `x[0]` and the triangle `x[1..4]`.
fn point_triangle(x: &[V3; 4]) -> Nearest {
    // All seen from the point.
    let y = [x[1] - x[0], x[2] - x[0], x[3] - x[0]];
    if let Some(weights) = foot_on_plane(&y) {
        let offset = -(weights[0] * y[0] + weights[1] * y[1] + weights[2] * y[2]);
        return Nearest { offset, weights: [1.0, -weights[0], -weights[1], -weights[2]] };
    }
    let mut best = (f64::INFINITY, Nearest { offset: V3::zeros(), weights: [0.0; 4] });
    for [i, j] in [[0, 1], [1, 2], [2, 0]] {
        let t = nearest_on_segment(&y[i], &y[j]);
        let offset = -(y[i] + t * (y[j] - y[i]));
        let square = offset.norm_squared();
        if square < best.0 {
            let mut weights = [1.0, 0.0, 0.0, 0.0];
            weights[1 + i] = t - 1.0;
            weights[1 + j] = -t;
            best = (square, Nearest { offset, weights });
        }
    }
    best.1
}

/// Barycentric coordinates of the origin's foot on the plane of a triangle, if it is within the triangle.
///
/// With the longest edge e from o, the apex at h from o and h' = h - (h·e) e/|e|², the foot of p is at
/// w = (p - o)·h'/|h'|² of the height and u = (p - o - w h)·e/|e|² of the base. Of a sliver h' loses digits, so it is made
/// orthogonal twice; u, taken after w, makes good along e what w has wrong.
fn foot_on_plane(y: &[V3; 3]) -> Option<[f64; 3]> {
    let lengths = [0, 1, 2].map(|k| (y[(k + 1) % 3] - y[k]).norm_squared());
    let o = if lengths[0] >= lengths[1] && lengths[0] >= lengths[2] {
        0
    } else if lengths[1] >= lengths[2] {
        1
    } else {
        2
    };
    let (q, apex) = ((o + 1) % 3, (o + 2) % 3);
    let (e, h, ee) = (y[q] - y[o], y[apex] - y[o], lengths[o]);
    let once = h - (h.dot(&e) / ee) * e;
    let height = once - (once.dot(&e) / ee) * e;
    let hh = height.norm_squared();
    // Flatter than what rounding leaves of a height: the edges are all there is.
    if ee == 0.0 || hh <= (8.0 * f64::EPSILON).powi(2) * ee {
        return None;
    }
    let w = -y[o].dot(&height) / hh;
    let u = -(y[o] + w * h).dot(&e) / ee;
    let weights = [1.0 - u - w, u, w];
    if weights.iter().any(|&w| w < 0.0) {
        return None;
    }
    let mut sorted = [0.0; 3];
    (sorted[o], sorted[q], sorted[apex]) = (weights[0], weights[1], weights[2]);
    Some(sorted)
}

/// Where the segment from `a` to `b` is nearest to the origin, as a fraction.
fn nearest_on_segment(a: &V3, b: &V3) -> f64 {
    let along = b - a;
    let square = along.norm_squared();
    if square > 0.0 { (-a.dot(&along) / square).clamp(0.0, 1.0) } else { 0.0 }
}

/// The edges `x[0..2]` and `x[2..4]`.
fn edge_edge(x: &[V3; 4]) -> Nearest {
    let (u, v, r) = (x[1] - x[0], x[3] - x[2], x[2] - x[0]);
    // x₀ + s u and x₂ + t v are nearest where their difference is along n = u x v: s = (r x v)·n/|n|².
    // Of nearly parallel edges s loses digits along both alike; the t nearest to it makes good for that.
    let n = u.cross(&v);
    let nn = n.norm_squared();
    if nn > (8.0 * f64::EPSILON).powi(2) * u.norm_squared() * v.norm_squared() {
        let s = r.cross(&v).dot(&n) / nn;
        if (0.0..=1.0).contains(&s) {
            let t = (s * u - r).dot(&v) / v.norm_squared();
            if (0.0..=1.0).contains(&t) {
                return between(s, t, &u, &v, &r);
            }
        }
    }
    // Otherwise one of them is at an end.
    let ends = [
        (0.0, nearest_on_segment(&r, &(r + v))),
        (1.0, nearest_on_segment(&(r - u), &(r + v - u))),
        (nearest_on_segment(&-r, &(u - r)), 0.0),
        (nearest_on_segment(&(-r - v), &(u - r - v)), 1.0),
    ];
    let mut best = between(ends[0].0, ends[0].1, &u, &v, &r);
    for &(s, t) in &ends[1..] {
        let other = between(s, t, &u, &v, &r);
        if other.offset.norm_squared() < best.offset.norm_squared() {
            best = other;
        }
    }
    best
}

fn between(s: f64, t: f64, u: &V3, v: &V3, r: &V3) -> Nearest {
    Nearest { offset: s * u - t * v - r, weights: [1.0 - s, s, t - 1.0, -t] }
}
