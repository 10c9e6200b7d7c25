//! Cloth of a hundred thousand vertices (L2).

use std::f64::consts::FRAC_PI_2;

use nalgebra::Vector3;
use partita_implicit_cloth::{Fabric, ImplicitCloth};
use partita_mesh::Mesh;
use partita_simulator::{Inputs, Outcome, Simulator};

/// It steps, converges, gains what gravity and pins give, and goes back to where it was, bit by bit.
#[test]
fn a_hundred_thousand_vertices_step_and_go_back() {
    let mesh = Mesh::grid([316; 2], [2.0; 2]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    let mut cloth = ImplicitCloth::new("large", mesh, Fabric::cotton()).unwrap();
    cloth.pin(&[0, 316]).unwrap();
    let start = cloth.snapshot(None);
    let ends = [(); 2].map(|()| {
        cloth.retract(&start).unwrap();
        let report = cloth.step(1.0 / 60.0, Inputs::NONE).unwrap();
        assert_eq!(report.outcome, Outcome::Converged);
        cloth.snapshot(None)
    });
    assert_eq!(ends[0].first_difference(&ends[1]), None);
    let ledger = cloth.ledger().unwrap();
    let [gained, given] = [ledger.momentum, ledger.external.unwrap().linear].map(Vector3::from);
    // 0.6 kg that has fallen for a sixtieth of a second: 0.1 N s, summed over 1e5 vertices.
    assert!(gained.norm() > 0.05 && (gained - given).norm() < 1e-12, "{gained}, {given}");
}
