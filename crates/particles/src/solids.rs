//! Solids with a closed form for the signed distance φ: contact with the exact surface instead of triangles.
//!
//! φ of a convex solid is convex. So Newton's method for the first zero of φ - level along a straight relative path never
//! passes it, and where the solid turns a bound on the curvature of that path keeps it so ([`Solid::first_hit`]).

use nalgebra::{Isometry3, Matrix3, Quaternion, Rotation3, UnitQuaternion, Vector3};
use parry3d_f64::{bounding_volume::Aabb, math::Vector};
use partita_simulator::{HandleState, Primitive, PrimitiveShape};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Height above the level at which a hit counts as found `[m]`: far below the standoff, far above rounding.
const FOUND: f64 = 1e-9;

/// Newton steps for a hit; nearly all take fewer than ten.
const STEPS: usize = 60;

/// A primitive over one step: its carrier moves straight and turns evenly.
#[derive(Clone, Debug)]
pub(crate) struct Solid {
    pub obstacle: u32,
    shape: PrimitiveShape,
    /// Frame of the shape in the carrier's axes.
    own: Isometry3<f64>,
    /// Position of the carrier at the start `[m]`; its displacement `[m]` and rotation vector [rad]
    /// over the step.
    begin: V3,
    way: V3,
    turn: V3,
    /// Axes of the shape at the start and the end, and its centre relative to the carrier `[m]`.
    ends: [(M3, V3); 2],
}

/// Height of a point above a solid's surface, and the outward normal there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Height {
    pub gap: f64,
    pub normal: V3,
}

impl Solid {
    pub fn new(obstacle: u32, primitive: &Primitive) -> Self {
        let own = pose(primitive.position, primitive.orientation);
        let zero = V3::zeros();
        let ends = [(M3::identity(), zero); 2];
        Self { obstacle, shape: primitive.shape, own, begin: zero, way: zero, turn: zero, ends }
    }

    /// Takes over where the carrier is at the start and at the end of a step.
    pub fn place(&mut self, begin: &HandleState, end: &HandleState) {
        let [from, to] = [begin, end].map(|state| pose(state.position, state.orientation));
        self.way = to.translation.vector - from.translation.vector;
        self.turn = match begin.orientation == end.orientation {
            true => V3::zeros(),
            false => (to.rotation * from.rotation.inverse()).scaled_axis(),
        };
        self.begin = from.translation.vector;
        self.ends = [from.rotation, to.rotation].map(|rotation| {
            let own = rotation * self.own;
            (own.rotation.to_rotation_matrix().into_inner(), own.translation.vector)
        });
    }

    pub fn turns(&self) -> bool {
        self.turn != V3::zeros()
    }

    pub fn is_half_space(&self) -> bool {
        self.shape == PrimitiveShape::HalfSpace
    }

    /// Position of the carrier at fraction `f` of the step `[m]`.
    pub fn centre(&self, f: f64) -> V3 {
        self.begin + f * self.way
    }

    /// Axes and centre of the shape at fraction `f` of the step.
    fn frame(&self, f: f64) -> (M3, V3) {
        let [start, end] = &self.ends;
        let (axes, arm) = match f {
            _ if f == 0.0 || !self.turns() => *start,
            1.0 => *end,
            _ => {
                let turn = Rotation3::from_scaled_axis(f * self.turn);
                (turn.matrix() * start.0, turn * start.1)
            }
        };
        (axes, self.centre(f) + arm)
    }

    /// Position at fraction `to` of the point that is fixed to the solid and at `x` at fraction `from`.
    pub fn carried(&self, x: &V3, from: f64, to: f64) -> V3 {
        if !self.turns() {
            return x + (to - from) * self.way;
        }
        let turn = UnitQuaternion::from_scaled_axis((to - from) * self.turn);
        self.centre(to) + turn * (x - self.centre(from))
    }

    /// Displacement per unit of the fraction of a point that is fixed to the solid and at `x` at fraction `f`.
    pub fn rate(&self, x: &V3, f: f64) -> V3 {
        self.way + self.turn.cross(&(x - self.centre(f)))
    }

    /// Height of `x` at fraction `f`.
    pub fn height(&self, x: &V3, f: f64) -> Height {
        let (axes, centre) = self.frame(f);
        let (gap, normal) = signed_distance(&self.shape, &axes.tr_mul(&(x - centre)));
        Height { gap, normal: axes * normal }
    }

    /// Fraction of the displacement `shift` of a point at which its height first falls to `level`.
    /// It is at `x` at fraction `f` of the step, at a height above that level.
    ///
    /// With g the height above the level, φ convex, and |ÿ| <= K of the path y in the solid's axes, g(s + δ) >= g + g' δ - K δ²/2.
    /// Each step goes to the zero of that. In a frame that turns by ω and moves by c, K = 2 ω |ẋ - ċ| + ω² |x - c|.
    pub fn first_hit(&self, (x, mut height): (&V3, Height), shift: &V3, f: f64, level: f64) -> Option<f64> {
        let (rest, turn) = (1.0 - f, (1.0 - f) * self.turn.norm());
        let far = (x - self.centre(f)).norm().max((x + shift - self.centre(1.0)).norm());
        let bend = 2.0 * turn * (shift - rest * self.way).norm() + turn * turn * far;
        let mut s = 0.0;
        for _ in 0..STEPS {
            let (at, now) = (x + s * shift, f + s * rest);
            if s > 0.0 {
                height = self.height(&at, now);
            }
            let Height { gap, normal } = height;
            let (g, slope) = (gap - level, normal.dot(&(shift - rest * self.rate(&at, now))));
            if g <= FOUND && slope < 0.0 {
                return Some(s);
            }
            let g = g.max(0.1 * FOUND);
            let step = 2.0 * g / ((slope * slope + 2.0 * bend * g).sqrt() - slope);
            s += step;
            // Also where nothing leads there: the step is then infinite or no number.
            if s.is_nan() || s >= 1.0 {
                return None;
            }
        }
        Some(s)
    }

    /// Box around all that is nearer than `reach` `[m]` to it within the step. Not of a half-space.
    pub fn bounds(&self, reach: f64) -> Aabb {
        let size = match self.shape {
            PrimitiveShape::HalfSpace => V3::zeros(),
            PrimitiveShape::Ball { radius } => V3::repeat(radius),
            PrimitiveShape::Capsule { half_length, radius } => V3::new(radius, half_length + radius, radius),
            PrimitiveShape::Cylinder { half_length, radius } => V3::new(radius, half_length, radius),
            PrimitiveShape::Cone { half_height, radius } => V3::new(radius, half_height, radius),
            PrimitiveShape::Cuboid { half_extents } => half_extents.into(),
        };
        // Between both ends a point leaves its chord by r (1 - cos(θ/2)) at most.
        let far = self.own.translation.vector.norm() + size.norm();
        let bulge = far * (1.0 - (0.5 * self.turn.norm()).cos());
        let corners = [0.0, 1.0].map(|f| {
            let (axes, centre) = self.frame(f);
            let half = axes.abs() * size;
            [centre - half, centre + half]
        });
        let low = corners[0][0].inf(&corners[1][0]).add_scalar(-reach - bulge);
        let high = corners[0][1].sup(&corners[1][1]).add_scalar(reach + bulge);
        Aabb::new(Vector::new(low.x, low.y, low.z), Vector::new(high.x, high.y, high.z))
    }

    /// Whether the segment from `a` to `b` may come nearer than `reach` `[m]` to a half-space.
    pub fn is_near(&self, a: &V3, b: &V3, reach: f64) -> bool {
        let ends = [(a, 0.0), (b, 0.0), (a, 1.0), (b, 1.0)];
        self.turns() || ends.iter().any(|(x, f)| self.height(x, *f).gap <= reach)
    }
}

fn pose(position: [f64; 3], [x, y, z, w]: [f64; 4]) -> Isometry3<f64> {
    Isometry3::from_parts(V3::from(position).into(), UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z)))
}

/// Signed distance `[m]` of a point in the shape's axes, and the outward normal at the nearest point of the surface.
fn signed_distance(shape: &PrimitiveShape, p: &V3) -> (f64, V3) {
    let around = |d: V3, radius: f64| {
        let distance = d.norm();
        (distance - radius, if distance > 0.0 { distance.recip() * d } else { V3::x() })
    };
    match *shape {
        PrimitiveShape::HalfSpace => (p.y, V3::y()),
        PrimitiveShape::Ball { radius } => around(*p, radius),
        PrimitiveShape::Capsule { half_length, radius } => {
            around(p - p.y.clamp(-half_length, half_length) * V3::y(), radius)
        }
        PrimitiveShape::Cuboid { half_extents } => {
            let half = V3::from(half_extents);
            let out = p - p.zip_map(&half, |x, half| x.clamp(-half, half));
            if out != V3::zeros() {
                return around(out, 0.0);
            }
            let depth = half - p.abs();
            let k = depth.imin();
            (-depth[k], p[k].signum() * V3::ith(k, 1.0))
        }
        PrimitiveShape::Cylinder { half_length, radius } => revolved(half_length, [radius; 2], p),
        PrimitiveShape::Cone { half_height, radius } => revolved(half_height, [radius, 0.0], p),
    }
}

/// Signed distance from the solid about the y axis with these radii at -half and half, the second no larger than the first.
fn revolved(half: f64, [a, b]: [f64; 2], p: &V3) -> (f64, V3) {
    let across = V3::new(p.x, 0.0, p.z);
    let (y, rho) = (p.y, across.norm());
    let radial = if rho > 0.0 { across / rho } else { V3::x() };
    let length = (2.0 * half).hypot(a - b);
    let out = [(a - b) / length, 2.0 * half / length];
    let slope = out[0] * V3::y() + out[1] * radial;
    let (below, above) = (-half - y, y - half);
    let side = out[0] * (y + half) + out[1] * (rho - a);
    let deepest = below.max(above).max(side);
    if deepest <= 0.0 {
        let n = match () {
            () if deepest == side => slope,
            () if deepest == above => V3::y(),
            () => -V3::y(),
        };
        return (deepest, n);
    }
    if below > 0.0 && rho <= a {
        return (below, -V3::y());
    }
    if above > 0.0 && rho <= b {
        return (above, V3::y());
    }
    let along = out[1] * (y + half) - out[0] * (rho - a);
    if (0.0..=length).contains(&along) {
        return (side, slope);
    }
    let [y, rho] = if along < 0.0 { [y + half, rho - a] } else { [y - half, rho - b] };
    let distance = y.hypot(rho);
    if distance > 0.0 { (distance, (y * V3::y() + rho * radial) / distance) } else { (0.0, slope) }
}
