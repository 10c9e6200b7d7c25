//! Continuous collision detection without false negatives: additive CCD.
//!
//! \[LKJ21\] M. Li, D. M. Kaufman, C. Jiang: Codimensional Incremental Potential Contact. SIGGRAPH 2021, section 5 and
//! algorithm 1.
//!
//! While two features at distance d move, d falls no faster than the sum of how fast their vertices move, a common
//! motion taken off. So over (d - ξ)/speed nothing comes nearer than ξ: go so far, measure, go on, until the step is
//! over or nearly nothing is left of the way to ξ. No root of a polynomial is looked for, hence none is missed.
//!
//! That bound is poor where features slide past each other at a small gap. There a second one is better: features are convex,
//! so their distance is at least the gap n·a - n·b between the slabs that they fill along any unit vector n, and along the
//! line between the nearest points that gap is d. It is linear in time for each vertex a of one and b of the other. The
//! larger of the two advances is taken.

use nalgebra::Vector3;

use crate::distance::{Kind, Nearest, nearest, rounding};

type V3 = Vector3<f64>;

/// How much of a gap an advance leaves `[-]` (1 - s of \[LKJ21\]).
pub(crate) const LEFT: f64 = 0.1;

/// After so many advances a pair is said to touch where it is then; nearly all take fewer than ten.
pub(crate) const ADVANCES: usize = 200;

/// Two features that come as near to each other as they may.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Impact {
    /// When, as a fraction of the motion `[-]`. Before that they are farther apart.
    pub time: f64,
    /// Their nearest points then.
    pub nearest: Nearest,
}

/// When the features of `kind`, with vertices at `x` moving by `u` `[m]`, come within `separation` `[m]` of each other,
/// or none if they do not over the whole motion.
///
/// Right for every motion and shape: parallel, coplanar, degenerate, none at all. Features that are within `separation`
/// at the begin touch at time 0, so choose it below the distance at the begin. A pair may be said to touch that stays
/// up to `slack` `[m]` farther apart, and no more than a tenth of its first gap.
pub fn impact(kind: Kind, x: &[V3; 4], u: &[V3; 4], separation: f64, slack: f64) -> Option<Impact> {
    impact_from(kind, x, u, nearest(kind, x), separation, slack)
}

/// As [`impact`], with the nearest points at the begin.
pub(crate) fn impact_from(
    kind: Kind,
    x: &[V3; 4],
    u: &[V3; 4],
    begin: Nearest,
    separation: f64,
    slack: f64,
) -> Option<Impact> {
    let common = 0.25 * (u[0] + u[1] + u[2] + u[3]);
    let own = u.map(|u| u - common);
    let [a, b, c, d] = own.map(|u| u.norm());
    let speed = match kind {
        Kind::PointTriangle => a + b.max(c).max(d),
        Kind::EdgeEdge => a.max(b) + c.max(d),
    };
    // Rounding of the advance and of the speed are covered by half as much again.
    let reach = x.iter().zip(u).fold(0.0_f64, |r, (x, u)| r.max(x.amax() + u.amax()));
    let bound = separation + 1.5 * rounding(reach);

    let mut near = begin;
    let mut gap = near.distance() - bound;
    let enough = slack.min(LEFT * gap);
    let (mut time, mut now) = (0.0, *x);
    for _ in 0..ADVANCES {
        if gap <= enough || gap <= 0.0 {
            return Some(Impact { time, nearest: near });
        }
        // All the way while nothing has been found, else short of touching.
        if gap >= speed * (1.0 - time) {
            return None;
        }
        let advance = (gap / speed).max(between_slabs(kind, &now, &own, &near, bound));
        time += (1.0 - LEFT) * advance;
        if time >= 1.0 {
            return None;
        }
        now = std::array::from_fn(|k| x[k] + time * own[k]);
        near = nearest(kind, &now);
        gap = near.distance() - bound;
    }
    Some(Impact { time, nearest: near })
}

/// For how long the slabs that two features fill along the line between their nearest points stay `bound` apart.
fn between_slabs(kind: Kind, x: &[V3; 4], u: &[V3; 4], near: &Nearest, bound: f64) -> f64 {
    let n = near.offset / near.distance();
    let (height, speed) = (x.map(|x| n.dot(&x)), u.map(|u| n.dot(&u)));
    let mut time = f64::INFINITY;
    for a in 0..kind.split() {
        for b in kind.split()..4 {
            let (gap, closing) = (height[a] - height[b] - bound, speed[b] - speed[a]);
            // Of features that nearly touch, rounding of n may let the slabs overlap: then they tell nothing.
            if gap <= 0.0 {
                return 0.0;
            }
            if closing > 0.0 {
                time = time.min(gap / closing);
            }
        }
    }
    time
}
