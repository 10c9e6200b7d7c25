//! Cylinders and cones: exact contact with the round surface instead of facets.
//!
//! The solid is a surface of revolution about the line between its core vertices 0 and 1; vertex 2 lies on vertex 0, so that
//! the three are a triangle for the broad phase. Its pairs with cloth:
//!
//! | cloth    | pair                         | nearest point of the solid                                       |
//! |----------|------------------------------|------------------------------------------------------------------|
//! | vertex   | `PointTriangle [v, 0, 1, 2]` | closed form in the meridian plane                                |
//! | edge     | `EdgeEdge [a, b, 0, 1]`      | at the least signed distance along the edge                      |
//! | triangle | `PointTriangle [k, a, b, c]` | support point of rim k (or the apex) against the triangle's plane |
//!
//! These are enough: a triangle is nearest to a convex solid at a vertex, on an edge, or inside where both have one normal.
//! There the solid has a rim point, the apex, a generator or a cap. A generator ends at two rims or passes under an edge of
//! the triangle. So does a cap, or it lies wholly under the triangle, and then its centre stands for it. Edges have their ends,
//! so vertices with edges need no impacts; their contacts share the weight where cloth lies flat.
//!
//! The signed distance φ of a convex solid is convex, so along an edge its slope n·e grows and the root of that is unique.
//! As for a ball or capsule, [`crate::Nearest::offset`] has the length φ + R with the largest radius R, which is above 0 inside too;
//! only the normal and the gap φ are read from it, never the core's vertices.

use nalgebra::{UnitQuaternion, Vector3};

use crate::{
    crossing::crosses,
    distance::{Kind, nearest},
};

mod pairs;

type V3 = Vector3<f64>;

/// Slope of φ below which an edge counts as parallel to the surface, so that an end stands for it [-]. The distance is then
/// wrong by no more than this part of the edge.
const FLAT: f64 = 1e-9;

/// Most rounds in which the least distance along an edge is found: of three, one halves the bracket at least [-].
const ROUNDS: u32 = 200;

/// Least fraction of either core vertex at a contact [-]: both always take part, so that a vertex of cloth is at one and the same
/// place in all of its pairs.
const BOTH: f64 = 1e-6;

/// Half length and the radii at both ends `[m]`; the second may be 0, and is no larger than the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Revolved {
    pub half: f64,
    pub radii: [f64; 2],
}

/// A solid of revolution at its place.
pub(crate) struct Posed {
    centre: V3,
    axis: V3,
    half: f64,
    radii: [f64; 2],
    /// Outward normal of the side along the axis and across it [-], and length of a generator `[m]`.
    out: [f64; 2],
    length: f64,
}

/// Signed distance of a feature of cloth from the solid.
struct Measured {
    /// `[m]`
    gap: f64,
    /// Outward normal of the solid.
    n: V3,
    /// Largest coordinate of the solid, or of its rim, along the normal `[m]`.
    top: f64,
    /// Weights of the cloth's vertices at the nearest point [-].
    weights: [f64; 3],
    /// False where a rim point is not under the triangle: then `gap` is a lower bound, and edges and vertices of the triangle are
    /// nearer than its inside.
    touches: bool,
}

/// A place on an edge, and the solid there.
#[derive(Clone, Copy)]
struct Along {
    /// Fraction of the edge [-].
    t: f64,
    /// Signed distance `[m]`, and its slope over the whole edge `[m]`.
    gap: f64,
    slope: f64,
    /// Outward normal.
    n: V3,
}

impl Along {
    fn found(self) -> (f64, f64, V3) {
        (self.t, self.gap, self.n)
    }
}

/// A feature of cloth, against all of the solid or one of its rims.
enum Feature {
    Vertex,
    Edge,
    Triangle { rim: usize },
}

impl Revolved {
    /// In its own frame, where its axis is that of x.
    pub fn at_rest(&self) -> Posed {
        self.at(&[-self.half * V3::x(), self.half * V3::x()])
    }

    /// Largest coordinate along a unit vector, in its own frame `[m]`.
    pub fn support(&self, n: &V3) -> f64 {
        let across = n.y.hypot(n.z);
        (self.radii[0] * across - self.half * n.x).max(self.radii[1] * across + self.half * n.x)
    }

    /// Outward normal of its side at an angle about the axis, in its own frame.
    pub fn side(&self, angle: f64) -> V3 {
        let [along, across] = self.at_rest().out;
        V3::new(along, across * angle.cos(), across * angle.sin())
    }

    pub fn at(&self, ends: &[V3; 2]) -> Posed {
        let Self { half, radii } = *self;
        let length = (4.0 * half * half + (radii[0] - radii[1]).powi(2)).sqrt();
        Posed {
            centre: 0.5 * (ends[0] + ends[1]),
            axis: (ends[1] - ends[0]).try_normalize(0.0).unwrap_or_else(V3::x),
            half,
            radii,
            out: [(radii[0] - radii[1]) / length, 2.0 * half / length],
            length,
        }
    }

    /// Distance of the farthest point from the centre `[m]`.
    fn extent(&self) -> f64 {
        self.half.hypot(self.radii[0].max(self.radii[1]))
    }
}

impl Posed {
    /// Signed distance of a point and the outward normal at the nearest point of the surface.
    fn point(&self, p: &V3) -> (f64, V3) {
        let r = p - self.centre;
        let z = self.axis.dot(&r);
        // Near the axis rounding has a part along it. Taken off twice, nothing of that is left.
        let once = r - z * self.axis;
        let across = once - self.axis.dot(&once) * self.axis;
        let rho = across.norm();
        let radial = if rho > 8.0 * f64::EPSILON * r.norm() {
            across / rho
        } else {
            let least = self.axis.iamin();
            self.axis.cross(&V3::ith(least, 1.0)).normalize()
        };
        let (Self { axis, half, out, length, .. }, [a, b]) = (self, self.radii);
        let slope = out[0] * axis + out[1] * radial;
        let (below, above) = (-half - z, z - half);
        let side = out[0] * (z + half) + out[1] * (rho - a);
        if below <= 0.0 && above <= 0.0 && side <= 0.0 {
            let nearest = below.max(above).max(side);
            let n = if nearest == side {
                slope
            } else if nearest == above {
                *axis
            } else {
                -axis
            };
            return (nearest, n);
        }
        if below > 0.0 && rho <= a {
            return (below, -axis);
        }
        if above > 0.0 && rho <= b {
            return (above, *axis);
        }
        let along = out[1] * (z + half) - out[0] * (rho - a);
        if (0.0..=*length).contains(&along) {
            return (side, slope);
        }
        let [z, rho] = if along < 0.0 { [z + half, rho - a] } else { [z - half, rho - b] };
        let distance = (z * z + rho * rho).sqrt();
        if distance > 0.0 { (distance, (z * axis + rho * radial) / distance) } else { (0.0, slope) }
    }

    /// Fraction of the edge from `a` to `b` at which the signed distance is least, that distance, and the outward normal.
    ///
    /// The distance is convex along the edge. The first candidate for its minimum is where the edge is nearest to the axis,
    /// exact for the side of a cylinder. Then three take turns. Regula falsi on the slope is exact for a parabola. The
    /// intersection of the tangents at the ends of the bracket is exact for a kink, and bounds the distance from below.
    /// The third is the middle, or regula falsi again where a turn has halved the bracket.
    fn edge(&self, a: &V3, b: &V3) -> (f64, f64, V3) {
        let way = b - a;
        let size = way.norm();
        let at = |t: f64| {
            let (gap, n) = self.point(&(a + t * way));
            Along { t, gap, n, slope: n.dot(&way) }
        };
        let [mut low, mut high] = [at(0.0), at(1.0)];
        if low.slope >= -FLAT * size {
            return low.found();
        }
        if high.slope <= FLAT * size {
            return high.found();
        }
        let mut least = if low.gap < high.gap { low } else { high };
        let across = way - way.dot(&self.axis) * self.axis;
        let mut t = (self.centre - a).dot(&across) / across.norm_squared();
        let mut last_width = 1.0;
        for round in 0..ROUNDS {
            // Also where t is not a number.
            if !(low.t < t && t < high.t) {
                t = 0.5 * (low.t + high.t);
            }
            let now = at(t);
            if now.gap < least.gap {
                least = now;
            }
            if now.slope.abs() <= 1e-12 * size {
                return now.found();
            }
            if now.slope < 0.0 {
                low = now
            } else {
                high = now
            }
            let steeper = high.slope - low.slope;
            let secant = (low.t * high.slope - high.t * low.slope) / steeper;
            let tangents = (low.gap - high.gap + high.t * high.slope - low.t * low.slope) / steeper;
            let bound = low.gap + low.slope * (tangents - low.t);
            let width = high.t - low.t;
            if least.gap - bound <= f64::EPSILON * (least.gap.abs() + size) || width <= 1e-14 {
                break;
            }
            t = match round % 3 {
                0 => secant,
                1 => tangents,
                _ if width <= 0.5 * last_width => secant,
                _ => 0.5 * (low.t + high.t),
            };
            if round % 3 == 2 {
                last_width = width.min(0.5 * last_width);
            }
        }
        least.found()
    }

    /// The support point of a rim against the plane of a triangle.
    fn rim(&self, rim: usize, x: &[V3; 3]) -> Measured {
        let [a, b, c] = x;
        let end = if rim == 0 { -self.half } else { self.half };
        let (middle, radius) = (self.centre + end * self.axis, self.radii[rim]);
        let near = nearest(Kind::PointTriangle, &[middle, *a, *b, *c]);
        let from_middle = near.distance() - radius;
        let n = (-near.offset).try_normalize(0.0).unwrap_or(self.axis);
        let top = n.dot(&middle) + radius;
        let mut beside = Measured { gap: from_middle, n, top, weights: [1.0, 0.0, 0.0], touches: false };
        let Some(normal) = (b - a).cross(&(c - a)).try_normalize(0.0) else { return beside };
        let n = if normal.dot(&(a - self.centre)) < 0.0 { -normal } else { normal };
        let across = n - n.dot(&self.axis) * self.axis;
        let size = across.norm();
        let support = if size > FLAT { middle + radius / size * across } else { middle };
        let gap = n.dot(&(a - support));
        let foot = support + gap * n;
        let area = |p: &V3, q: &V3| (p - foot).cross(&(q - foot)).dot(&normal);
        let areas = [area(b, c), area(c, a), area(a, b)];
        // Past the plane the support point has come through the triangle only if its foot is inside the solid.
        if areas.iter().all(|&area| area > 0.0) && (gap >= 0.0 || self.point(&foot).0 <= FLAT * self.radii[0]) {
            let whole: f64 = areas.iter().sum();
            return Measured { gap, n, top: n.dot(&support), weights: areas.map(|area| area / whole), touches: true };
        }
        if gap > from_middle {
            (beside.gap, beside.n, beside.top) = (gap, n, n.dot(&support));
        }
        if beside.gap > 0.0 { beside } else { self.edges(x) }
    }

    /// A triangle's edges.
    fn edges(&self, x: &[V3; 3]) -> Measured {
        let found = [[0, 1], [1, 2], [2, 0]].map(|[a, b]| (a, b, self.edge(&x[a], &x[b])));
        let least = |one: usize, other: usize| if found[other].2.1 < found[one].2.1 { other } else { one };
        let (a, b, (t, gap, n)) = found[least(least(0, 1), 2)];
        let mut weights = [0.0; 3];
        (weights[a], weights[b]) = (1.0 - t, t);
        Measured { gap, n, top: n.dot(&place(x, &weights)) - gap, weights, touches: false }
    }

    /// Largest distance by which a part of a triangle is within the solid, 0 where none is `[m]`.
    pub fn depth(&self, x: &[V3; 3]) -> f64 {
        let [a, b, c] = x;
        let [from, to] = [-1.0, 1.0].map(|end| self.centre + end * self.half * self.axis);
        if crosses([&from, &to], [a, b, c]) {
            let normal = (b - a).cross(&(c - a));
            let [below, above] = [normal.dot(&(a - from)), normal.dot(&(a - to))];
            return (-self.point(&from.lerp(&to, below / (below - above))).0).max(0.0);
        }
        let rims = [0, 1].map(|rim| self.rim(rim, x)).into_iter().filter(|measured| measured.touches);
        rims.fold(-self.edges(x).gap, |depth, measured| depth.max(-measured.gap)).max(0.0)
    }

    /// Whether a point is within the solid.
    pub fn contains(&self, p: &V3) -> bool {
        self.point(p).0 < 0.0
    }

    fn measure(&self, feature: &Feature, x: &[V3; 3]) -> Measured {
        match feature {
            Feature::Vertex => {
                let (gap, n) = self.point(&x[0]);
                Measured { gap, n, top: n.dot(&x[0]) - gap, weights: [1.0, 0.0, 0.0], touches: true }
            }
            Feature::Edge => {
                let (t, gap, n) = self.edge(&x[0], &x[1]);
                let weights = [1.0 - t, t, 0.0];
                Measured { gap, n, top: n.dot(&place(x, &weights)) - gap, weights, touches: true }
            }
            Feature::Triangle { rim } => self.rim(*rim, x),
        }
    }

    /// Fractions of the core vertices 0 and 1 at a point of the surface.
    fn core_weights(&self, q: &V3) -> [f64; 2] {
        let z = self.axis.dot(&(q - self.centre));
        let second = (0.5 * (1.0 + z / self.half)).clamp(BOTH, 1.0 - BOTH);
        [1.0 - second, second]
    }

    /// Position of a point of the solid at another place of it, without the spin about the axis, which moves no surface.
    fn carried(&self, to: &Self, q: &V3) -> V3 {
        let turn = UnitQuaternion::rotation_between(&self.axis, &to.axis).unwrap_or_default();
        to.centre + turn * (q - self.centre)
    }
}

fn place(x: &[V3; 3], weights: &[f64; 3]) -> V3 {
    (0..3).map(|k| weights[k] * x[k]).sum()
}

#[cfg(test)]
mod tests;
