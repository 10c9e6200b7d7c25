//! The tangents that steps take.

use nalgebra::{Vector2, Vector3};

use crate::{Density, Triangle};

type V3 = Vector3<f64>;

const DENSITIES: [Density; 4] = [
    Density::BaraffWitkin { warp: 300.0, weft: 200.0, shear: 50.0 },
    Density::BaraffWitkin { warp: 1.0, weft: 1000.0, shear: 0.0 },
    Density::StVenantKirchhoff([300.0, 0.0, 300.0, 150.0]),
    Density::StVenantKirchhoff([400.0, 90.0, 200.0, 60.0]),
];

struct Random(u64);

impl Random {
    /// From -1 to 1.
    fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> V3 {
        V3::from_fn(|_, _| self.number())
    }
}

/// A triangle at rest and one in space: of ordinary shape, nearly without area, or the other way round.
fn triangle(random: &mut Random, kind: usize) -> (Triangle, [V3; 3]) {
    loop {
        let rest = [(); 3].map(|()| Vector2::new(random.number(), random.number()));
        let mut x = [(); 3].map(|()| random.vector());
        match kind % 4 {
            1 => x[2] = x[0].lerp(&x[1], random.number()) + 1e-3 * random.vector(),
            2 => x = rest.map(|p| V3::new(-p.x, p.y, 0.0) + 1e-3 * random.vector()),
            3 => x = rest.map(|p| 0.2 * V3::new(p.x, p.y, 0.0) + 1e-3 * random.vector()),
            _ => {}
        }
        let triangle = Triangle::new([0, 1, 2], rest);
        if triangle.area > 0.05 {
            return (triangle, x);
        }
    }
}

/// What steps take is positive semidefinite, and the same where nothing is compressed or sheared: at rest.
#[test]
fn the_definite_tangent_is_definite() {
    let mut random = Random(2);
    for state in 0..1000 {
        let (triangle, x) = triangle(&mut random, state);
        let rest = {
            let (u, v) = (random.vector().normalize(), random.vector());
            [u, (v - u.dot(&v) * u).normalize()]
        };
        for density in DENSITIES {
            for tangent in [density.tangent(&triangle.steps_of(&x), true), density.viscous(&triangle.steps_of(&x))] {
                let whole = nalgebra::SMatrix::<f64, 6, 6>::from_fn(|i, j| tangent[i / 3][j / 3][(i % 3, j % 3)]);
                let least = whole.symmetric_eigenvalues().min();
                assert!(least >= -1e-12 * whole.norm(), "state {state}: {least} of {density:?}");
            }
            for (exact, definite) in density.tangent(&rest, false).iter().zip(&density.tangent(&rest, true)) {
                assert!((exact[0] - definite[0]).norm() + (exact[1] - definite[1]).norm() < 1e-9);
            }
        }
    }
}

/// Rigid motions cost no energy, and a stretch by s along the warp costs what the formula says.
#[test]
fn energies_are_those_of_the_formulas() {
    let mut random = Random(3);
    for density in DENSITIES {
        let turn = nalgebra::Rotation3::new(3.0 * random.vector());
        let at_rest = [turn * V3::x(), turn * V3::y()];
        assert!(density.energy(&at_rest) < 1e-25);
        let stretched = density.energy(&[1.1 * at_rest[0], at_rest[1]]);
        let expected = match density {
            Density::BaraffWitkin { warp, .. } => 0.5 * warp * 0.01,
            Density::StVenantKirchhoff([c0, ..]) => 0.5 * c0 * (0.5 * (1.21 - 1.0_f64)).powi(2),
        };
        assert!((stretched - expected).abs() < 1e-12 * expected);
    }
}
