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
//! As for a ball or capsule, [`Nearest::offset`] has the length φ + R with the largest radius R, which is above 0 inside too;
//! only the normal and the gap φ are read from it, never the core's vertices.

use nalgebra::{UnitQuaternion, Vector3};

use crate::{
    Contacts,
    broad::Pair,
    ccd::{ADVANCES, Impact, LEFT, impact_from},
    contacts::Meeting,
    crossing::crosses,
    distance::{Kind, Nearest, nearest, rounding},
    near::ASKEW,
};

type V3 = Vector3<f64>;

/// Slope of φ below which an edge counts as parallel to the surface, so that an end stands for it [-]. The distance is then
/// wrong by no more than this part of the edge.
const FLAT: f64 = 1e-9;

/// Most rounds in which the least distance along an edge is found: two of them halve the bracket at least.
const ROUNDS: u32 = 100;

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
        let length = (2.0 * half).hypot(radii[0] - radii[1]);
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
        let across = r - z * self.axis;
        let rho = across.norm();
        let radial = across.try_normalize(0.0).unwrap_or_else(|| {
            let least = self.axis.iamin();
            self.axis.cross(&V3::ith(least, 1.0)).normalize()
        });
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
        let distance = z.hypot(rho);
        if distance > 0.0 { (distance, (z * axis + rho * radial) / distance) } else { (0.0, slope) }
    }

    /// Fraction of the edge from `a` to `b` at which the signed distance is least, that distance, and the outward normal.
    fn edge(&self, a: &V3, b: &V3) -> (f64, f64, V3) {
        let way = b - a;
        let size = way.norm();
        let at = |t: f64| {
            let (gap, n) = self.point(&(a + t * way));
            (gap, n, n.dot(&way))
        };
        let (gap, n, slope) = at(0.0);
        if slope >= -FLAT * size {
            return (0.0, gap, n);
        }
        let mut low = (0.0, slope);
        let (gap, n, slope) = at(1.0);
        if slope <= FLAT * size {
            return (1.0, gap, n);
        }
        let mut high = (1.0, slope);
        let mut least = (1.0, gap, n);
        // Regula falsi, with a bisection after each round that does not halve the bracket, as where the slope jumps.
        let mut halves = true;
        for _ in 0..ROUNDS {
            let width = high.0 - low.0;
            let secant = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
            let t = if halves { secant } else { low.0 + 0.5 * width };
            let (gap, n, slope) = at(t);
            if gap < least.1 {
                least = (t, gap, n);
            }
            if slope.abs() <= 1e-12 * size || width <= 1e-14 {
                break;
            }
            if slope < 0.0 {
                low = (t, slope)
            } else {
                high = (t, slope)
            }
            halves = high.0 - low.0 <= 0.5 * width;
        }
        least
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

impl Feature {
    fn of(pair: &Pair, first: u32) -> Self {
        match pair.kind {
            Kind::EdgeEdge => Self::Edge,
            Kind::PointTriangle if pair.vertices[0] < first => Self::Vertex,
            Kind::PointTriangle => Self::Triangle { rim: (pair.vertices[0] - first) as usize },
        }
    }

    /// The cloth's vertices of four.
    fn cloth(&self, x: &[V3; 4]) -> [V3; 3] {
        match self {
            Self::Vertex => [x[0]; 3],
            Self::Edge => [x[0], x[1], x[1]],
            Self::Triangle { .. } => [x[1], x[2], x[3]],
        }
    }

    /// Core vertices 0 and 1 among the four of a pair, if both are.
    fn ends(&self, x: &[V3; 4]) -> Option<[V3; 2]> {
        match self {
            Self::Vertex => Some([x[1], x[2]]),
            Self::Edge => Some([x[2], x[3]]),
            Self::Triangle { .. } => None,
        }
    }

    /// A pair's nearest points, of which those of cloth are `apart` from the surface along the normal.
    fn nearest(&self, posed: &Posed, q: &V3, measured: &Measured, apart: f64) -> Nearest {
        let radius = posed.radii[0];
        let offset = (apart + radius).max(0.5 * f64::EPSILON * radius) * measured.n;
        let ([a, b, c], [d, e]) = (measured.weights, posed.core_weights(q));
        match self {
            Self::Vertex => Nearest { offset, weights: [1.0, -d, -e, 0.0] },
            Self::Edge => Nearest { offset, weights: [a, b, -d, -e] },
            Self::Triangle { .. } => Nearest { offset: -offset, weights: [1.0, -a, -b, -c] },
        }
    }
}

/// A pair with a solid of revolution.
pub(crate) struct Round<'a> {
    solid: &'a Revolved,
    feature: Feature,
}

impl Round<'_> {
    /// Nearest points of the pair with cloth and core at these positions.
    pub fn nearest(&self, x: &[V3; 4], ends: &[V3; 2]) -> Nearest {
        let (posed, x) = (self.solid.at(ends), self.feature.cloth(x));
        let measured = posed.measure(&self.feature, &x);
        let q = place(&x, &measured.weights) - measured.gap * measured.n;
        self.feature.nearest(&posed, &q, &measured, measured.gap)
    }

    /// Whether the pair is of a triangle without a rim point of the solid under its inside.
    fn is_beside_rim(&self, near: &Nearest) -> bool {
        matches!(self.feature, Feature::Triangle { .. }) && near.weights[1..].contains(&0.0)
    }

    /// First impact within `separation` of the surface, as [`crate::impact`]. The nearest points are those at the impact, taken
    /// back to the start of the motion along with what they are fixed to.
    pub fn impact(
        &self,
        [x, u]: [&[V3; 4]; 2],
        [ends, ways]: [&[V3; 2]; 2],
        separation: f64,
        slack: f64,
    ) -> Option<Impact> {
        let (x, u) = (self.feature.cloth(x), self.feature.cloth(u));
        let reach = x.iter().zip(&u).fold(0.0_f64, |r, (x, u)| r.max(x.amax() + u.amax()));
        let bound = separation + 1.5 * rounding(reach + self.solid.extent());
        let common = 0.5 * (ways[0] + ways[1]);
        // The axis turns by no more than the ends part relative to each other, at their least distance.
        let (apart, parts) = ((ends[1] - ends[0]).norm(), (ways[1] - ways[0]).norm());
        let turning = self.solid.extent() * parts / (apart - parts).max(0.1 * apart);
        let own = u.map(|u| u - common);
        let speed = own.iter().fold(0.0_f64, |most, u| most.max(u.norm())) + turning;
        let at = |time: f64| {
            let posed = self.solid.at(&[0, 1].map(|k| ends[k] + time * ways[k]));
            let now = [0, 1, 2].map(|k| x[k] + time * u[k]);
            (posed.measure(&self.feature, &now), posed, now)
        };
        let mut time = 0.0;
        let (mut found, mut posed, mut now) = at(time);
        let enough = if found.gap > bound { slack.min(LEFT * (found.gap - bound)) } else { slack };
        // Edges keep half of their own gap at least, or as much as this pair.
        let beside = || 0.9 * bound.min(0.5 * self.solid.at(ends).edges(&x).gap);
        let mut kept_by_edges = None;
        for _ in 0..ADVANCES {
            if !found.touches && found.gap <= bound {
                found = posed.edges(&now);
            }
            let least = if found.touches { bound } else { *kept_by_edges.get_or_insert_with(beside) };
            let gap = found.gap - least;
            match found.touches {
                true if gap <= enough => break,
                // So near, its edge has the impact.
                false if gap <= 0.1 * least => return None,
                _ => {}
            }
            // For so long no vertex comes nearer than that to the slab that the solid fills along the normal.
            let slab = now.iter().zip(&own).fold(f64::INFINITY, |time, (x, u)| {
                let height = found.n.dot(x) - found.top - least;
                if height > 0.0 { time.min(height / (turning - found.n.dot(u)).max(0.0)) } else { 0.0 }
            });
            let advance = (gap / speed).max(slab);
            // All the way while nothing has been found, else short of touching.
            if advance >= 1.0 - time {
                return None;
            }
            time += (1.0 - LEFT) * advance;
            (found, posed, now) = at(time);
        }
        if !found.touches {
            found = posed.edges(&now);
        }
        let p = place(&now, &found.weights);
        let then = self.solid.at(ends);
        let q = posed.carried(&then, &(p - found.gap * found.n));
        let apart = found.n.dot(&(place(&x, &found.weights) - q));
        Some(Impact { time, nearest: self.feature.nearest(&then, &q, &found, apart) })
    }
}

fn place(x: &[V3; 3], weights: &[f64; 3]) -> V3 {
    (0..3).map(|k| weights[k] * x[k]).sum()
}

impl Contacts {
    /// The solid of revolution that a pair is with.
    pub(crate) fn round(&self, pair: &Pair, obstacle: Option<u32>) -> Option<Round<'_>> {
        let solid = self.obstacles[obstacle? as usize].1.revolved.as_ref()?;
        Some(Round { solid, feature: Feature::of(pair, self.work.first[obstacle? as usize]) })
    }

    /// Core vertices 0 and 1 of an obstacle, in positions or displacements of all vertices.
    pub(crate) fn ends(&self, of: &[V3], obstacle: u32) -> [V3; 2] {
        let first = self.work.first[obstacle as usize] as usize;
        [of[first], of[first + 1]]
    }

    /// Nearest points of a pair at the start of the interval.
    pub(crate) fn nearest_of(&self, pair: &Pair) -> Nearest {
        self.nearest_at(pair, &pair.vertices.map(|v| self.work.x[v as usize]))
    }

    /// Nearest points of a pair with its vertices at `x`. Of rims one core vertex is known: the axis is that at the start of the interval.
    pub(crate) fn nearest_at(&self, pair: &Pair, x: &[V3; 4]) -> Nearest {
        let obstacle = self.obstacle(pair);
        let Some(round) = self.round(pair, obstacle) else { return nearest(pair.kind, x) };
        let ends = round.feature.ends(x).unwrap_or_else(|| {
            let moved = x[0] - self.work.x[pair.vertices[0] as usize];
            self.ends(&self.work.x, obstacle.unwrap_or_default()).map(|end| end + moved)
        });
        round.nearest(x, &ends)
    }

    /// Nearest points of a pair at the end of the interval.
    pub(crate) fn nearest_then(&self, pair: &Pair) -> Nearest {
        let x = pair.vertices.map(|v| self.work.x[v as usize] + self.work.u[v as usize]);
        let obstacle = self.obstacle(pair);
        let Some(round) = self.round(pair, obstacle) else { return nearest(pair.kind, &x) };
        let ends = round.feature.ends(&x).unwrap_or_else(|| {
            let [from, way] = [&self.work.x, &self.work.u].map(|of| self.ends(of, obstacle.unwrap_or_default()));
            [from[0] + way[0], from[1] + way[1]]
        });
        round.nearest(&x, &ends)
    }

    /// First impact of a pair in the interval, as [`crate::impact`].
    pub(crate) fn impact_of(&self, pair: &Pair, begin: Nearest, separation: f64, slack: f64) -> Option<Impact> {
        let [x, u] = [&self.work.x, &self.work.u].map(|of| pair.vertices.map(|v| of[v as usize]));
        self.impact_at(pair, [&x, &u], begin, separation, slack)
    }

    /// First impact of a pair with its vertices at x moving by u. Rims are where they are in the interval.
    pub(crate) fn impact_at(
        &self,
        pair: &Pair,
        [x, u]: [&[V3; 4]; 2],
        begin: Nearest,
        separation: f64,
        slack: f64,
    ) -> Option<Impact> {
        let obstacle = self.obstacle(pair);
        let Some(round) = self.round(pair, obstacle) else {
            return impact_from(pair.kind, x, u, begin, separation, slack);
        };
        let ends = [(x, &self.work.x), (u, &self.work.u)]
            .map(|(own, of)| round.feature.ends(own).unwrap_or_else(|| self.ends(of, obstacle.unwrap_or_default())));
        round.impact([x, u], [&ends[0], &ends[1]], separation - round.solid.radii[0], slack)
    }

    /// Whether edges keep a pair's cloth apart as well: of vertices that have some, which only share their weight, and of rims, which
    /// only their pairs in the interval tell.
    pub(crate) fn is_covered(&self, pair: &Pair) -> bool {
        self.round(pair, self.obstacle(pair)).is_some_and(|round| match round.feature {
            Feature::Vertex => !self.features.neighbours(pair.vertices[0]).is_empty(),
            Feature::Edge => false,
            Feature::Triangle { .. } => true,
        })
    }

    /// Whether a pair is of a vertex whose edges have its impacts.
    pub(crate) fn is_stopped_by_edges(&self, pair: &Pair) -> bool {
        pair.vertices[0] < self.features.vertices() as u32 && self.is_covered(pair)
    }

    /// Whether a pair with a solid of revolution has no contact, since cloth beside its nearest point is nearer: triangles without a
    /// rim point under their inside, and vertices from which an edge leads towards the surface.
    pub(crate) fn is_beside(&self, pair: &Pair, near: &Nearest, obstacle: Option<u32>) -> bool {
        let Some(round) = self.round(pair, obstacle) else { return false };
        match round.feature {
            Feature::Edge => false,
            Feature::Triangle { .. } => round.is_beside_rim(near),
            Feature::Vertex => {
                let (x, v) = (&self.work.x, pair.vertices[0]);
                let leads = |way: V3| way.dot(&near.offset) < -ASKEW * way.norm() * near.distance();
                self.features.neighbours(v).iter().any(|&other| leads(x[other as usize] - x[v as usize]))
            }
        }
    }

    /// Whether a pair is of a triangle without a rim point of the solid under its inside.
    pub(crate) fn is_beside_rim(&self, pair: &Pair, near: &Nearest, obstacle: Option<u32>) -> bool {
        self.round(pair, obstacle).is_some_and(|round| round.is_beside_rim(near))
    }

    /// Whether a pair is of the centre of a level cap under which an edge of the triangle lies. That has contacts along the cap, whose
    /// friction has an arm; one at the centre would bear all by itself.
    pub(crate) fn is_centre_of_cap(&self, pair: &Pair, near: &Nearest, x: &[V3; 4]) -> bool {
        let Some(Round { solid, feature: Feature::Triangle { rim } }) = self.round(pair, self.obstacle(pair)) else {
            return false;
        };
        let [from, to] = self.ends(&self.work.x, self.obstacle(pair).unwrap_or_default());
        let is_level = (to - from).normalize().cross(&near.offset).norm() <= FLAT * near.distance();
        let area = (x[2] - x[1]).cross(&(x[3] - x[1])).norm();
        let height = |k: usize, edge: V3| near.weights[k].abs() * area / edge.norm();
        let nearest = height(1, x[3] - x[2]).min(height(2, x[1] - x[3])).min(height(3, x[2] - x[1]));
        is_level && nearest < solid.radii[rim]
    }

    /// Point of the core that a contact is with, with the vertices at `x`: the contact's radius below the surface.
    pub(crate) fn core_point(&self, pair: &Pair, near: &Nearest, x: &[V3; 4], obstacle: Option<u32>) -> V3 {
        let cloth = self.features.vertices();
        let x = |k: usize| x[k];
        let is_cloth = |k: &usize| (pair.vertices[*k] as usize) < cloth;
        let sign: f64 = (0..4).filter(|k| !is_cloth(k)).map(|k| near.weights[k]).sum::<f64>().signum();
        match self.round(pair, obstacle) {
            Some(_) => sign * (near.offset - (0..4).filter(is_cloth).map(|k| near.weights[k] * x(k)).sum::<V3>()),
            None => (0..4).filter(|k| !is_cloth(k)).map(|k| sign * near.weights[k] * x(k)).sum(),
        }
    }

    /// Distance of a contact's points along `n` at the start of the interval, where the vertices are at `x`.
    pub(crate) fn apart(&self, pair: &Pair, near: &Nearest, x: &[V3; 4], n: &V3, meeting: &Meeting) -> f64 {
        match self.round(pair, self.obstacle(pair)) {
            Some(_) => near.distance() - meeting.radius,
            None => (0..4).map(|k| near.weights[k] * x[k].dot(n)).sum::<f64>() - meeting.radius,
        }
    }

    /// Displacement over the interval of a round solid's surface along its outward normal `n`, at a point of it.
    pub(crate) fn surface_way(&self, obstacle: u32, place: &V3, n: &V3) -> f64 {
        let Some(solid) = &self.obstacles[obstacle as usize].1.revolved else { return 0.0 };
        let [ends, ways] = [&self.work.x, &self.work.u].map(|of| self.ends(of, obstacle));
        let (begin, end) = (solid.at(&ends), solid.at(&[ends[0] + ways[0], ends[1] + ways[1]]));
        n.dot(&(begin.carried(&end, place) - place))
    }
}

#[cfg(test)]
mod tests;
