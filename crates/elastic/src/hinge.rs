//! Energy of bending: of two triangles about their common edge.
//!
//! \[BW98\] D. Baraff, A. Witkin: Large Steps in Cloth Simulation. SIGGRAPH 1998, section 4.4 (the angle as condition).
//! \[GHDS03\] E. Grinspun, A. Hirani, M. Desbrun, P. Schröder: Discrete Shells. SCA 2003 (weights, angles at rest).
//!
//!   E = ½ k (θ - θ₀)²,   k = D |e|² / (s₁ A₁ + s₂ A₂),
//!
//! with flexural rigidity D `[N m]`, the length of the edge and areas at rest. The compliances s of the
//! two triangles ([`compliances`]) make a strip as stiff as a beam of rigidity D times its width.
//!
//! With s = 1 a cylinder has the energy of a plate, but vertices do not stay on the cylinder. Where
//! diagonals alternate, every second vertex is no end of a diagonal. It moves off the cylinder, which
//! flattens the edges across the bend and folds the diagonals. A strip of square cells is then left with
//! 4/5 of D at any width, and one of cells that are four times as wide as long with 1/1.89. The price is
//! that cloth which is kept on a cylinder has more than ½ D κ² per area: D/s, 7/6 of D for square cells.
//!
//! Different from \[GHDS03\], whose weight is three times that of s = 1 and not measured on a plate.
//!
//! The angle's derivatives, where vertices 0 and 1 are the edge e, 2 and 3 the corners opposite on its left and right. N = e × (x2 -
//! x0) and M = (x3 - x0) × e are normals of the triangles, s and t say how far along the edge the corners' feet are:
//!
//!   ∂θ/∂x2 = -|e| N/|N|²,   ∂θ/∂x3 = -|e| M/|M|²,   s = e·(x2 - x0)/|e|²,   t = e·(x3 - x0)/|e|²,
//!   ∂θ/∂x0 = -(1 - s) ∂θ/∂x2 - (1 - t) ∂θ/∂x3,   ∂θ/∂x1 = -s ∂θ/∂x2 - t ∂θ/∂x3,
//!
//! the first since only the height over the edge turns the triangle, the second since neither moving nor turning all of it
//! changes the angle. They hold for every angle; second derivatives follow by the product rule.

use nalgebra::{Matrix3, RowVector3, Vector2, Vector3};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Iterations for [`compliances`]: moments across edges of right triangles are then right to 0.2 %.
const ITERATIONS: usize = 8;

/// Two triangles that bend.
#[derive(Clone, Debug)]
pub struct Hinge {
    /// Ends of the edge, then the corners opposite on its left and right.
    pub vertices: [u32; 4],
    /// At rest `[rad]`.
    pub angle: f64,
    /// k `[N m]`.
    pub stiffness: f64,
}

impl Hinge {
    /// Of its vertices `[m]`.
    pub fn positions(&self, x: &[V3]) -> [V3; 4] {
        self.vertices.map(|v| x[v as usize])
    }

    /// How far it is bent from rest, the short way round `[rad]`.
    pub fn bent(&self, x: &[V3; 4]) -> f64 {
        let more = angle(x) - self.angle;
        more - std::f64::consts::TAU * (more / std::f64::consts::TAU).round()
    }

    /// `[J]`
    pub fn energy(&self, x: &[V3; 4]) -> f64 {
        0.5 * self.stiffness * self.bent(x).powi(2)
    }
}

/// Between the normals `[rad]`, above 0 where the left normal points to the right triangle's far side: as the edge of a valley
/// seen from outside is below 0.
pub fn angle([a, b, c, d]: &[V3; 4]) -> f64 {
    let edge = b - a;
    let (left, right) = (edge.cross(&(c - a)), (d - a).cross(&edge));
    left.cross(&right).dot(&edge).atan2(left.dot(&right) * edge.norm())
}

/// Compliances s of a triangle's hinges, each in units of 1/D, where 1 is a plate that cannot leave the
/// cylinder \[-\]. Edge k runs from corner k to the next.
///
/// A uniform moment M per width turns edge e with nᵀM n, n its normal in the plane. Per area it stores
/// Σ s_e (n_eᵀM n_e)²/2D in the hinges and |M|²/2D in a plate. Equal for a bend across each edge f:
///
///   Σ_e P_fe s_e = 1,   P_fe = (n_f·n_e)⁴.
///
/// s_e ← s_e/(P s)_e starts from s = 1 and keeps s > 0, where the solution for obtuse triangles does not.
/// Equilateral triangles have s = 8/9.
pub fn compliances(corners: &[Vector2<f64>; 3]) -> [f64; 3] {
    // Normals of edges differ by the same angles as edges do.
    let n: [Vector2<f64>; 3] = std::array::from_fn(|k| (corners[(k + 1) % 3] - corners[k]).normalize());
    let mut s = [1.0; 3];
    for _ in 0..ITERATIONS {
        let sums = n.map(|f| (0..3).map(|e| n[e].dot(&f).powi(4) * s[e]).sum::<f64>());
        s = std::array::from_fn(|k| s[k] / sums[k]);
    }
    s
}

/// ∂θ/∂x of the four vertices `[rad/m]`; none if a triangle has no area.
pub fn gradient(x: &[V3; 4]) -> Option<[V3; 4]> {
    let [a, b, c, d] = x;
    let edge = b - a;
    let (left, right) = (edge.cross(&(c - a)), (d - a).cross(&edge));
    let (l2, r2, length) = (left.norm_squared(), right.norm_squared(), edge.norm());
    let (g, h) = (-length / l2 * left, -length / r2 * right);
    let [s, t] = [c, d].map(|x| edge.dot(&(x - a)) / (length * length));
    let all = [-(1.0 - s) * g - (1.0 - t) * h, -s * g - t * h, g, h];
    all.iter().all(|g| g.iter().all(|x| x.is_finite())).then_some(all)
}

/// ∂²θ/∂x_i ∂x_j `[rad/m²]`, for triangles with area.
pub fn hessian([a, b, c, d]: &[V3; 4]) -> [[M3; 4]; 4] {
    let edge = b - a;
    let length = edge.norm();
    let along = edge.transpose() / length;
    // Of the corner p at one side with normal N = ± e × (p - a): ∂θ/∂p and its derivatives by a, b and p.
    let side = |p: &V3, sign: f64| -> (V3, [M3; 3]) {
        let (arm, normal) = (p - a, sign * edge.cross(&(p - a)));
        let square = normal.norm_squared();
        let g = -length / square * normal;
        let by_normal = -length / square * (M3::identity() - 2.0 / square * normal * normal.transpose());
        let by_length = -normal / square * along;
        // dN = ± (de × arm + e × darm), de = db - da, darm = dp - da.
        let (of_edge, of_arm) = (-sign * arm.cross_matrix(), sign * edge.cross_matrix());
        let by_edge = by_normal * of_edge + by_length;
        let by_arm = by_normal * of_arm;
        (g, [-by_edge - by_arm, by_edge, by_arm])
    };
    // Of its foot: s, and its derivatives by a, b and p.
    let foot = |p: &V3| -> (f64, [RowVector3<f64>; 3]) {
        let arm = p - a;
        let square = length * length;
        let s = edge.dot(&arm) / square;
        let (by_edge, by_arm) = ((arm - 2.0 * s * edge).transpose() / square, edge.transpose() / square);
        (s, [-by_edge - by_arm, by_edge, by_arm])
    };
    let ((g, dg), (h, dh)) = (side(c, 1.0), side(d, -1.0));
    let ((s, ds), (t, dt)) = (foot(c), foot(d));
    let mut out = [[M3::zeros(); 4]; 4];
    for k in 0..4 {
        // Of vertex k, as number among a, b and the corner of either side; none if it is the other corner.
        let (left, right) = ([Some(0), Some(1), Some(2), None][k], [Some(0), Some(1), None, Some(2)][k]);
        let (dg, ds) = left.map_or((M3::zeros(), RowVector3::zeros()), |k| (dg[k], ds[k]));
        let (dh, dt) = right.map_or((M3::zeros(), RowVector3::zeros()), |k| (dh[k], dt[k]));
        out[2][k] = dg;
        out[3][k] = dh;
        out[0][k] = -(1.0 - s) * dg + g * ds - (1.0 - t) * dh + h * dt;
        out[1][k] = -s * dg - g * ds - t * dh - h * dt;
    }
    out
}
