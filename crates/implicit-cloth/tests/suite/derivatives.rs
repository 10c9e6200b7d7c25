//! Forces are gradients of energies and Jacobians derivatives of forces, at a thousand random states (M3).

use nalgebra::{Matrix3, Vector3};
use partita_implicit_cloth::{Element, Fabric, ImplicitCloth, Membrane};
use partita_mesh::Mesh;
use partita_simulator::{Inputs, Simulator};

type V3 = Vector3<f64>;

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

/// Two triangles with a common edge, of any shape at rest, of any fabric, folded at rest or not.
fn butterfly(random: &mut Random, kind: usize) -> ImplicitCloth {
    let membrane = match kind % 3 {
        0 => Membrane::BaraffWitkin,
        1 => Membrane::StVenantKirchhoff { poisson: 0.0 },
        _ => Membrane::StVenantKirchhoff { poisson: 0.9 * random.number() },
    };
    let mut stiffness = || 10.0_f64.powf(2.0 + random.number());
    let fabric = Fabric {
        membrane,
        stretch: [stiffness(), stiffness()],
        shear: if kind.is_multiple_of(2) { 0.0 } else { stiffness() },
        bend: [1e-4 * stiffness(), 1e-4 * stiffness()],
        damping: 0.0,
        bend_damping: 0.0,
        ..Fabric::cotton()
    };
    let folded = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.4, 1.0, 0.3], [0.6, -0.8, 0.1 + random.number()]];
    let mesh = Mesh::new(&folded, &[[0, 1, 2], [1, 0, 3]]).unwrap();
    let cloth = loop {
        let panel = |random: &mut Random| [(); 3].map(|()| [random.number(), random.number()]);
        let coordinates = [panel(random), panel(random)];
        let area =
            |[a, b, c]: [[f64; 2]; 3]| 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])).abs();
        if coordinates.iter().all(|panel| area(*panel) > 0.05) {
            let cloth = ImplicitCloth::new("butterfly", mesh, fabric).unwrap();
            break cloth.with_material_coordinates(&coordinates).unwrap();
        }
    };
    if kind.is_multiple_of(5) { cloth.flat_at_rest().unwrap() } else { cloth }
}

/// Anywhere; folded shut nearly; flat nearly; with a sliver; crushed to a fraction, nearly into a plane, and turned inside out.
fn positions(random: &mut Random, kind: usize) -> [V3; 4] {
    loop {
        let mut x = [(); 4].map(|()| random.vector());
        match kind % 5 {
            1 => x[3] = x[2] + 0.02 * random.vector(),
            2 => x[3] = x[0] + x[1] - x[2] + 0.02 * random.vector(),
            3 => x[2] = x[0].lerp(&x[1], 0.5 * random.number() + 0.5) + 0.1 * random.vector(),
            4 => x = x.map(|x| V3::new(-0.2 * x.x, 0.2 * x.y, 0.02 * x.z)),
            _ => {}
        }
        let length = (x[1] - x[0]).norm();
        let height = |p: &V3| (p - x[0]).cross(&(x[1] - x[0])).norm() / length;
        if length > 0.05 && height(&x[2]) > 0.02 && height(&x[3]) > 0.02 {
            return x;
        }
    }
}

/// The smallest error of central differences of `f` at 0 over steps from 1e-2 to 1e-9, relative to `scale`.
fn error(f: &dyn Fn(f64) -> f64, derivative: f64, scale: f64) -> f64 {
    let at = |h: f64| ((f(h) - f(-h)) / (2.0 * h) - derivative).abs() / scale;
    (2..10).map(|k| at(0.1_f64.powi(k))).fold(f64::INFINITY, f64::min)
}

/// Forces are the negative gradient of the energy to 1e-6 of their size, the Jacobian is the derivative of the forces to 1e-5 of
/// its size, and symmetric to 1e-12.
#[test]
fn forces_and_jacobians_derive_from_the_energy() {
    let mut random = Random(1);
    let mut terms = [0; 2];
    for state in 0..1000 {
        let cloth = butterfly(&mut random, state);
        let x = positions(&mut random, state);
        let way = [(); 4].map(|()| random.vector());
        let at = |h: f64| [0, 1, 2, 3].map(|k| x[k] + h * way[k]);
        for element in cloth.elements() {
            terms[element.vertices().len() - 3] += 1;
            check(&element, &at, &way, state);
        }
    }
    assert_eq!(terms, [2000, 1000]);
}

fn check(element: &Element<'_>, at: &dyn Fn(f64) -> [V3; 4], way: &[V3; 4], state: usize) {
    let what = format!("state {state}, vertices {:?}", element.vertices());
    let ways: Vec<V3> = element.vertices().iter().map(|&v| way[v as usize]).collect();
    let forces = element.forces(&at(0.0));
    let power: f64 = forces.iter().zip(&ways).map(|(force, way)| force.dot(way)).sum();
    let size: f64 = forces.iter().map(|force| force.norm()).sum();
    let found = error(&|h| element.energy(&at(h)), -power, size);
    assert!(found < 1e-6, "{what}: force is off by {found}");

    let jacobian = element.jacobian(&at(0.0));
    let largest = jacobian.iter().flatten().map(Matrix3::norm).fold(0.0, f64::max);
    for (i, row) in jacobian.iter().enumerate() {
        let expected: V3 = row.iter().zip(&ways).map(|(block, way)| block * way).sum();
        for axis in 0..3 {
            let found = error(&|h| element.forces(&at(h))[i][axis], expected[axis], largest);
            assert!(found < 1e-5, "{what}: Jacobian is off by {found}");
        }
        for (j, block) in row.iter().enumerate() {
            let skew = (block - jacobian[j][i].transpose()).norm() / largest;
            assert!(skew <= 1e-12, "{what}: Jacobian is asymmetric by {skew}");
        }
    }
}

/// The cloth's energy is the sum of its terms', its first acceleration from rest the sum of their forces over masses.
#[test]
fn the_terms_are_those_that_act() {
    let mut random = Random(2);
    for kind in 0..30 {
        let x = positions(&mut random, kind);
        let cloth = butterfly(&mut random, kind).with_positions(&x.map(Into::into)).unwrap().gravity([0.0; 3]);
        let mut cloth = cloth.tolerance(1e-14).max_stretch(10.0);
        let sum: f64 = cloth.elements().map(|element| element.energy(&x)).sum();
        assert!((cloth.elastic_energy() / sum - 1.0).abs() < 1e-14);
        let mut forces = [V3::zeros(); 4];
        for element in cloth.elements() {
            element.vertices().iter().zip(element.forces(&x)).for_each(|(&v, force)| forces[v as usize] += force);
        }
        // A step so short that nothing else counts.
        let dt = 1e-9;
        cloth.step(dt, Inputs::NONE).unwrap();
        let size = forces.iter().map(|force| force.norm()).fold(0.0, f64::max);
        for ((v, mass), force) in cloth.velocities().iter().zip(cloth.masses()).zip(&forces) {
            assert!((mass / dt * v - force).norm() < 1e-6 * size, "{kind}: {} for {force}", mass / dt * v);
        }
    }
}

/// An edge that is folded tightly at rest bends through flat on itself the short way: 20° beyond are as 20° before.
#[test]
fn folds_bend_the_short_way_round() {
    let folded = |degrees: f64| {
        let (sin, cos) = degrees.to_radians().sin_cos();
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.5, -cos, sin]]
    };
    let energy = |degrees: f64| {
        let mesh = Mesh::new(&folded(170.0), &[[0, 1, 2], [1, 0, 3]]).unwrap();
        let cloth = ImplicitCloth::new("fold", mesh, Fabric::cotton()).unwrap();
        cloth.with_positions(&folded(degrees)).unwrap().elastic_energy()
    };
    let [before, beyond] = [150.0, 190.0].map(energy);
    assert!(before > 0.0 && (beyond / before - 1.0).abs() < 1e-9, "{before} J, {beyond} J");
}
