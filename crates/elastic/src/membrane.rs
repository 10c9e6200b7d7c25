//! Energies in the plane of a triangle: how far it is stretched and sheared.
//!
//! \[BW98\] D. Baraff, A. Witkin: Large Steps in Cloth Simulation. SIGGRAPH 1998, section 4.
//! \[TPS08\] B. Thomaszewski, S. Pabst, W. Straßer: Asynchronous Cloth Simulation. CGI 2008, section 3.
//!
//! Both are densities W over the material, per area at rest, of how a step in the material's warp and weft direction
//! becomes one in space: w_u = Σ a_i x_i, w_v = Σ b_i x_i, with numbers a and b of the triangle at rest. So with area A
//!
//!   f_i = -A (a_i P_u + b_i P_v),   P = ∂W/∂w,   -∂f_i/∂x_j = A Σ c_i d_j ∂²W/∂w_c ∂w_d.
//!
//! Different from \[BW98\], whose conditions are multiplied by the area and then squared: densities make the same cloth of
//! any mesh.
//!
//! Where cloth is compressed or sheared, ∂²W is indefinite, and then so may be the matrix of a step. `definite` leaves out
//! what makes it so: it is the exact second derivative where that is positive definite, and near the rest shape equal to it
//! in first order. Steps take the definite one; their forces stay exact.

use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};
use serde::{Deserialize, Serialize};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Which energy resists stretch and shear.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Membrane {
    /// W = ½ k_u (|w_u| - 1)² + ½ k_v (|w_v| - 1)² + ½ k_s (w_u·w_v)² (\[BW98\] section 4.2 and 4.3).
    #[default]
    BaraffWitkin,
    /// W = ½ E:C:E with Green's strain E (\[TPS08\] section 3), orthotropic along warp and weft.
    StVenantKirchhoff {
        /// Poisson's ratio `[-]`, from -1 to 1 without these.
        poisson: f64,
    },
}

/// A [`Membrane`] with its stiffnesses `[N/m]`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Density {
    /// Of [`Membrane::BaraffWitkin`].
    BaraffWitkin {
        /// k_u
        warp: f64,
        /// k_v
        weft: f64,
        /// k_s
        shear: f64,
    },
    /// S_uu = c0 E_uu + c1 E_vv, S_vv = c1 E_uu + c2 E_vv, S_uv = 2 c3 E_uv.
    StVenantKirchhoff([f64; 4]),
}

/// Steps in space along warp and weft.
pub type Steps = [V3; 2];

/// ∂²W/∂w_c ∂w_d for c, d of warp and weft.
pub type Tangent = [[M3; 2]; 2];

impl Density {
    /// W, the energy per area `[J/m²]`.
    pub fn energy(&self, steps: &Steps) -> f64 {
        let [u, v] = steps;
        match *self {
            Self::BaraffWitkin { warp, weft, shear } => {
                let square = |x: f64| x * x;
                0.5 * (warp * square(u.norm() - 1.0) + weft * square(v.norm() - 1.0) + shear * square(u.dot(v)))
            }
            Self::StVenantKirchhoff([c0, c1, c2, c3]) => {
                let [uu, vv, uv] = green(steps);
                0.5 * (c0 * uu * uu + 2.0 * c1 * uu * vv + c2 * vv * vv) + 2.0 * c3 * uv * uv
            }
        }
    }

    /// What it measures along warp, along weft and between: Green's strain, or |w_u| - 1, |w_v| - 1 and w_u·w_v [-].
    #[inline]
    pub fn strain(&self, steps: &Steps) -> [f64; 3] {
        let [u, v] = steps;
        match self {
            Self::BaraffWitkin { .. } => [u.norm() - 1.0, v.norm() - 1.0, u.dot(v)],
            Self::StVenantKirchhoff(_) => green(steps),
        }
    }

    /// ∂W/∂w_u and ∂W/∂w_v.
    pub fn stress(&self, steps: &Steps) -> Steps {
        self.stress_of(steps, self.strain(steps))
    }

    /// The same if what it measures were such a strain: with what viscosity adds.
    #[inline]
    pub fn stress_of(&self, steps: &Steps, strain: [f64; 3]) -> Steps {
        let [u, v] = steps;
        match *self {
            Self::BaraffWitkin { warp, weft, shear } => {
                let [uu, vv, uv] = strain;
                [warp * uu * direction(u) + shear * uv * v, weft * vv * direction(v) + shear * uv * u]
            }
            Self::StVenantKirchhoff(c) => {
                let [uu, vv, uv] = second_piola_kirchhoff(&c, strain);
                [uu * u + uv * v, uv * u + vv * v]
            }
        }
    }

    /// ∂²W at rest by strain along warp, along weft and by twice that between `[N/m]`.
    pub fn moduli(&self) -> M3 {
        match *self {
            Self::BaraffWitkin { warp, weft, shear } => M3::from_diagonal(&V3::new(warp, weft, shear)),
            Self::StVenantKirchhoff([c0, c1, c2, c3]) => M3::new(c0, c1, 0.0, c1, c2, 0.0, 0.0, 0.0, c3),
        }
    }

    /// About how many times stiffer than at rest it is with such a strain, at least 1. No second derivative is larger, against the largest at
    /// rest, for Poisson's ratios from 0 to 0.5.
    ///
    /// With [`Membrane::StVenantKirchhoff`], q + ½ (q - 1): strain's gradient grows with the largest squared stretch q of any direction, and
    /// its second derivative gives the stress.
    ///
    /// With [`Membrane::BaraffWitkin`], l² + (1 - 1/l) + l cos + ½ |w_u·w_v|, with the length l of the longer of warp and weft: of shear;
    /// across threads; of threads with shear, by the cosine between warp and weft; and of what shear has already.
    #[inline]
    pub fn stiffening(&self, [uu, vv, uv]: [f64; 3]) -> f64 {
        match self {
            Self::BaraffWitkin { .. } => {
                let longest = 1.0 + uu.max(vv).max(0.0);
                // Of warp with weft; where one has no length, anything.
                let cosine = (uv.abs() / ((1.0 + uu) * (1.0 + vv))).min(1.0);
                longest * longest + (1.0 - 1.0 / longest) + longest * cosine + 0.5 * uv.abs()
            }
            Self::StVenantKirchhoff(_) => {
                let square = 1.0 + 2.0 * (uu.max(vv) + uv.abs()).max(0.0);
                square + 0.5 * (square - 1.0)
            }
        }
    }

    /// ∂²W/∂w_c ∂w_d, or what of it is positive definite.
    pub fn tangent(&self, steps: &Steps, definite: bool) -> Tangent {
        let [u, v] = steps;
        match *self {
            Self::BaraffWitkin { warp, weft, shear } => {
                let along = |k: f64, w: &V3| {
                    let n = direction(w);
                    let length = w.norm();
                    // Across: negative where it is compressed.
                    let across = if length > 0.0 { 1.0 - 1.0 / length } else { 0.0 };
                    let across = if definite { across.max(0.0) } else { across };
                    k * (n * n.transpose() + across * (M3::identity() - n * n.transpose()))
                };
                let sheared = if definite { 0.0 } else { shear * u.dot(v) } * M3::identity();
                let mixed = shear * v * u.transpose() + sheared;
                [
                    [along(warp, u) + shear * v * v.transpose(), mixed],
                    [mixed.transpose(), along(weft, v) + shear * u * u.transpose()],
                ]
            }
            Self::StVenantKirchhoff(c) => {
                let [uu, vv, uv] = second_piola_kirchhoff(&c, green(steps));
                let stress = Matrix2::new(uu, uv, uv, vv);
                // Where it is under pressure, stress makes it indefinite.
                let stress = if definite { positive(stress) } else { stress };
                let of = |k: usize, l: usize| stress[(k, l)] * M3::identity();
                let [c0, c1, c2, c3] = c;
                let (uu, vv, uv) = (u * u.transpose(), v * v.transpose(), u * v.transpose());
                let mixed = of(0, 1) + c1 * uv + c3 * uv.transpose();
                [[of(0, 0) + c0 * uu + c3 * vv, mixed], [mixed.transpose(), of(1, 1) + c2 * vv + c3 * uu]]
            }
        }
    }

    /// ∂²W without what changes with the stress: how strain rates are resisted where damping goes with stiffness.
    pub fn viscous(&self, [u, v]: &Steps) -> Tangent {
        match *self {
            Self::BaraffWitkin { warp, weft, shear } => {
                let along = |k: f64, w: &V3| k * direction(w) * direction(w).transpose();
                let mixed = shear * v * u.transpose();
                [
                    [along(warp, u) + shear * v * v.transpose(), mixed],
                    [mixed.transpose(), along(weft, v) + shear * u * u.transpose()],
                ]
            }
            Self::StVenantKirchhoff([c0, c1, c2, c3]) => {
                let (uu, vv, uv) = (u * u.transpose(), v * v.transpose(), u * v.transpose());
                let mixed = c1 * uv + c3 * uv.transpose();
                [[c0 * uu + c3 * vv, mixed], [mixed.transpose(), c2 * vv + c3 * uu]]
            }
        }
    }
}

/// One triangle at rest.
#[derive(Clone, Debug)]
pub struct Triangle {
    /// Its corners.
    pub vertices: [u32; 3],
    /// At rest `[m²]`.
    pub area: f64,
    /// How positions make steps along warp and weft `[1/m]`: w_c = Σ c_i x_i.
    pub steps: [[f64; 3]; 2],
}

impl Triangle {
    /// From material coordinates of its corners `[m]`.
    pub fn new(vertices: [u32; 3], [a, b, c]: [Vector2<f64>; 3]) -> Self {
        let (p, q) = (b - a, c - a);
        let twice = p.x * q.y - p.y * q.x;
        // Inverse of the matrix with columns p and q.
        let (u, v) = ([q.y / twice, -p.y / twice], [-q.x / twice, p.x / twice]);
        let with_first = |[second, third]: [f64; 2]| [-second - third, second, third];
        Self { vertices, area: 0.5 * twice.abs(), steps: [with_first(u), with_first(v)] }
    }

    /// Lengths of its sides at rest `[m]`, from a corner to the next.
    pub fn sides(&self) -> [f64; 3] {
        // The inverse of what makes steps of sides makes sides of steps.
        let [[_, a, b], [_, c, d]] = self.steps;
        let inverse = 1.0 / (a * d - b * c);
        let (p, q) = (inverse * Vector2::new(d, -b), inverse * Vector2::new(-c, a));
        [p.norm(), (q - p).norm(), q.norm()]
    }

    /// Its steps with vertices at `x` `[m]`; of velocities, how fast they change.
    pub fn steps_of(&self, x: &[V3]) -> Steps {
        let [a, b, c] = self.vertices.map(|v| &x[v as usize]);
        self.steps.map(|[i, j, k]| i * a + j * b + k * c)
    }

    /// By which it resists each corner that moves alone from rest, the mean over directions `[N/m]`.
    pub fn resistance(&self, density: &Density) -> [f64; 3] {
        let tangent = density.tangent(&[V3::x(), V3::y()], true);
        std::array::from_fn(|i| {
            let own = (0..4).map(|k| self.steps[k / 2][i] * self.steps[k % 2][i] * tangent[k / 2][k % 2].trace());
            self.area / 3.0 * own.sum::<f64>()
        })
    }

    /// What a stress makes of forces on its corners `[N]`.
    pub fn forces(&self, [u, v]: &Steps) -> [V3; 3] {
        let [a, b] = &self.steps;
        std::array::from_fn(|i| -self.area * (a[i] * u + b[i] * v))
    }

    /// What a tangent makes of -∂f_i/∂x_j `[N/m]`.
    pub fn stiffness(&self, tangent: &Tangent, i: usize, j: usize) -> M3 {
        let mut sum = M3::zeros();
        for (c, row) in self.steps.iter().zip(tangent) {
            for (d, block) in self.steps.iter().zip(row) {
                sum += self.area * c[i] * d[j] * block;
            }
        }
        sum
    }
}

fn direction(w: &V3) -> V3 {
    w.try_normalize(0.0).unwrap_or_else(V3::zeros)
}

/// Green's strain: along warp, along weft, between them.
#[inline]
fn green([u, v]: &Steps) -> [f64; 3] {
    [0.5 * (u.norm_squared() - 1.0), 0.5 * (v.norm_squared() - 1.0), 0.5 * u.dot(v)]
}

/// The second Piola-Kirchhoff stress that Green's strain makes, in the same order `[N/m]` (\[TPS08\] section 3).
#[inline]
fn second_piola_kirchhoff([c0, c1, c2, c3]: &[f64; 4], [uu, vv, uv]: [f64; 3]) -> [f64; 3] {
    [c0 * uu + c1 * vv, c1 * uu + c2 * vv, 2.0 * c3 * uv]
}

/// Without the part of it along eigenvectors with values below 0.
fn positive(of: Matrix2<f64>) -> Matrix2<f64> {
    let eigen = of.symmetric_eigen();
    let values = eigen.eigenvalues.map(|value| value.max(0.0));
    eigen.eigenvectors * Matrix2::from_diagonal(&values) * eigen.eigenvectors.transpose()
}

#[cfg(test)]
mod tests {
    use nalgebra::{Matrix2x3, SMatrix};

    use super::*;

    const LAWS: [Density; 4] = [
        Density::StVenantKirchhoff([300.0, 0.0, 300.0, 150.0]),
        Density::StVenantKirchhoff([300.0, 90.0, 500.0, 20.0]),
        Density::BaraffWitkin { warp: 300.0, weft: 300.0, shear: 150.0 },
        Density::BaraffWitkin { warp: 100.0, weft: 900.0, shear: 40.0 },
    ];

    /// The largest eigenvalue of the second derivative.
    fn stiffest(law: &Density, steps: &Steps) -> f64 {
        let tangent = law.tangent(steps, false);
        SMatrix::<f64, 6, 6>::from_fn(|i, j| tangent[i / 3][j / 3][(i % 3, j % 3)]).symmetric_eigenvalues().max()
    }

    /// Moduli are what the second derivative at rest is along warp, weft and shear, with steps turned anyhow.
    #[test]
    fn moduli_are_the_second_derivative_at_rest() {
        let turned = nalgebra::Rotation3::from_euler_angles(0.3, -0.9, 2.0);
        let (u, v) = (turned * V3::x(), turned * V3::y());
        for law in LAWS {
            let (tangent, moduli) = (law.tangent(&[u, v], true), law.moduli());
            // By how steps change for a unit of each strain without a turn.
            let ways = [[u, V3::zeros()], [V3::zeros(), v], [0.5 * v, 0.5 * u]];
            let entry = |i: usize, j: usize| -> f64 {
                (0..4).map(|k| ways[i][k / 2].dot(&(tangent[k / 2][k % 2] * ways[j][k % 2]))).sum()
            };
            assert!((Matrix3::from_fn(entry) - moduli).norm() < 1e-12 * moduli.norm(), "{law:?}");
        }
    }

    /// No strain up to twice the length makes it stiffer than told; being stretched along the stiffer of warp and weft alone, as stiff.
    #[test]
    fn stiffening_bounds_the_second_derivative() {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        for law in LAWS {
            let rest = stiffest(&law, &[V3::x(), V3::y()]);
            for _ in 0..2000 {
                let shape = Matrix2x3::from_fn(|i, j| 2.0 * (random() - 0.5) + if i == j { 1.0 } else { 0.0 });
                let steps = [shape.row(0).transpose(), shape.row(1).transpose()];
                let told = law.stiffening(law.strain(&steps));
                let found = stiffest(&law, &steps) / rest;
                assert!(told >= 1.0 && found <= told * (1.0 + 1e-12), "{law:?}, {steps:?}: {found} of {told}");
            }
            assert_eq!(law.stiffening([0.0; 3]), 1.0);
        }
        let law = LAWS[0];
        let steps = [2.0 * V3::x(), V3::y()];
        assert!((stiffest(&law, &steps) / 300.0 / law.stiffening(law.strain(&steps)) - 1.0).abs() < 1e-12);
    }
}
