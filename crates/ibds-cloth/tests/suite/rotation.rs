//! Free nets keep their spin.

use nalgebra::Vector3;
use partita_ibds_cloth::{IbdsCloth, Integrator, Net};
use partita_mesh::Mesh;
use partita_simulator::{Inputs, Simulator};

type V3 = Vector3<f64>;

/// A sheet of 0.4 m that spins at 6 rad/s about an axis in its plane, across it or askew keeps 97 % of its angular momentum for a
/// second, and gains no energy: velocities from positions alone lose h²ω² of it a step, a third in a second at 60 Hz. Without and with
/// gravity, whose torque the ledger knows.
#[test]
fn a_free_sheet_keeps_its_angular_momentum() {
    for integrator in [Integrator::SymplecticEuler, Integrator::Parabola] {
        for (axis, hz, g) in [([0.0, 0.0, 1.0], 60, 0.0), ([1.0, 0.0, 0.0], 60, -9.81), ([0.3, -0.5, 0.8], 240, 0.0)] {
            let mesh = Mesh::grid([10, 10], [0.4, 0.4]).unwrap().at([-0.2, -0.2, 0.0]).unwrap();
            let spin = 6.0 * V3::from(axis).normalize();
            let v: Vec<[f64; 3]> = mesh.vertices().iter().map(|x| spin.cross(x).into()).collect();
            let cloth = IbdsCloth::new("sheet", Net::sheet(&mesh, 0.15).unwrap()).unwrap().gravity([0.0, g, 0.0]);
            let mut cloth = cloth.integrator(integrator).with_velocities(&v).unwrap();
            // But for gravity's torque.
            let spin_and_energy = |cloth: &IbdsCloth| {
                let ledger = cloth.ledger().unwrap();
                let own = V3::from(ledger.angular_momentum) - V3::from(ledger.external.unwrap().angular);
                (own, ledger.kinetic + ledger.potential)
            };
            let (before, energy) = spin_and_energy(&cloth);
            for _ in 0..hz {
                cloth.step(1.0 / f64::from(hz), Inputs::NONE).unwrap();
            }
            let (after, left) = spin_and_energy(&cloth);
            let kept = after.dot(&before) / before.norm_squared();
            assert!((0.97..1.001).contains(&kept), "{integrator:?}, {axis:?}, {hz} Hz: {kept}");
            assert!(left <= energy + 1e-3 * energy.abs(), "{integrator:?}, {axis:?}: {left} J of {energy} J");
        }
    }
}
