//! Forces and Jacobians against central differences (M3).

use nalgebra::{Matrix3, Vector2, Vector3};

use crate::{
    hinge::{Hinge, angle, gradient, hessian},
    membrane::{Density, Triangle},
};

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

/// The smallest error of central differences of `f` at 0 over steps from 1e-2 to 1e-9, relative to `scale`.
fn error(f: &dyn Fn(f64) -> f64, derivative: f64, scale: f64) -> f64 {
    let at = |h: f64| ((f(h) - f(-h)) / (2.0 * h) - derivative).abs() / scale;
    (2..10).map(|k| at(0.1_f64.powi(k))).fold(f64::INFINITY, f64::min)
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

/// The force is the negative gradient of the energy, the stiffness the negative gradient of the force: at 1,000 states, to
/// 1e-6 and 1e-5 of their sizes. And it is symmetric.
#[test]
fn membranes_derive_from_their_energy() {
    let mut random = Random(1);
    for state in 0..1000 {
        let (triangle, x) = triangle(&mut random, state);
        let density = DENSITIES[state / 4 % DENSITIES.len()];
        let way = [(); 3].map(|()| random.vector());
        let at = |h: f64| [0, 1, 2].map(|k| x[k] + h * way[k]);
        let energy = |h: f64| triangle.area * density.energy(&triangle.steps_of(&at(h)));
        let forces = |h: f64| triangle.forces(&density.stress(&triangle.steps_of(&at(h))));
        let now = forces(0.0);
        let power: f64 = (0..3).map(|k| now[k].dot(&way[k])).sum();
        let size: f64 = now.iter().map(|f| f.norm()).sum();
        assert!(error(&energy, -power, size) < 1e-6, "state {state}: force of {density:?}");

        let tangent = density.tangent(&triangle.steps_of(&x), false);
        let block = |i: usize, j: usize| triangle.stiffness(&tangent, i, j);
        let largest = (0..9).map(|k| block(k / 3, k % 3).norm()).fold(0.0, f64::max);
        for i in 0..3 {
            let expected: V3 = (0..3).map(|j| -block(i, j) * way[j]).sum();
            for axis in 0..3 {
                let force = |h: f64| forces(h)[i][axis];
                assert!(error(&force, expected[axis], largest) < 1e-5, "state {state}: stiffness of {density:?}");
            }
            for j in 0..3 {
                assert!((block(i, j) - block(j, i).transpose()).norm() <= 1e-12 * largest, "state {state}");
            }
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

/// Bent at random, folded shut nearly, nearly flat, one triangle a sliver.
fn bent(random: &mut Random, kind: usize) -> [V3; 4] {
    loop {
        let mut x = [(); 4].map(|()| random.vector());
        match kind % 4 {
            1 => x[3] = x[2] + 0.02 * random.vector(),
            2 => x[3] = x[0] + x[1] - x[2] + 0.02 * random.vector(),
            3 => x[2] = x[0].lerp(&x[1], 0.5 * random.number() + 0.5) + 0.1 * random.vector(),
            _ => {}
        }
        let height = |p: &V3| (p - x[0]).cross(&(x[1] - x[0])).norm();
        if (x[1] - x[0]).norm() > 0.2 && height(&x[2]) > 0.02 && height(&x[3]) > 0.02 {
            return x;
        }
    }
}

/// Gradient and Hessian of the angle, at 1,000 states.
#[test]
fn the_angle_derives() {
    let mut random = Random(4);
    for state in 0..1000 {
        let x = bent(&mut random, state);
        let way = [(); 4].map(|()| random.vector());
        let at = |h: f64| [0, 1, 2, 3].map(|k| x[k] + h * way[k]);
        // The angle may jump by a full turn.
        let hinge = Hinge { vertices: [0, 1, 2, 3], angle: angle(&x), stiffness: 1.0 };
        let first = gradient(&x).unwrap();
        let largest = first.iter().map(|g| g.norm()).fold(0.0, f64::max);
        let expected: f64 = (0..4).map(|k| first[k].dot(&way[k])).sum();
        assert!(error(&|h| hinge.bent(&at(h)), expected, largest) < 1e-6, "state {state}");

        let second = hessian(&x);
        let size = second.iter().flatten().map(|block: &Matrix3<f64>| block.norm()).fold(0.0, f64::max);
        for (i, row) in second.iter().enumerate() {
            let expected: V3 = row.iter().zip(&way).map(|(block, way)| block * way).sum();
            for axis in 0..3 {
                let of = |h: f64| gradient(&at(h)).unwrap()[i][axis];
                assert!(error(&of, expected[axis], size) < 1e-5, "state {state}: {i} {axis}");
            }
            for (j, block) in row.iter().enumerate() {
                assert!((block - second[j][i].transpose()).norm() < 1e-12 * size, "state {state}");
            }
        }
    }
}
