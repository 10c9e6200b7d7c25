//! Steps of any length.

use partita_ibds_cloth::{IbdsCloth, Integrator, Net};
use partita_mesh::{Mesh, Side};
use partita_simulator::{Inputs, Simulator};

/// A chain of a metre that swings down from level, and a sheet of half a metre that does.
fn swinging() -> [IbdsCloth; 2] {
    let positions: Vec<[f64; 3]> = (0..=20).map(|k| [0.05 * f64::from(k), 0.0, 0.0]).collect();
    let net = Net::new(&positions, &[0.01; 21]).unwrap().bars((0..20).map(|k| [k, k + 1])).unwrap();
    let mut chain = IbdsCloth::new("chain", net).unwrap();
    chain.pin(&[0]).unwrap();
    let mesh = Mesh::grid([10, 10], [0.5, 0.5]).unwrap().turned([1.0, 0.0, 0.0], -1.2).unwrap();
    let top = mesh.edge(Side::Top).unwrap();
    let mut sheet = IbdsCloth::new("sheet", Net::sheet(&mesh, 0.2).unwrap()).unwrap();
    sheet.pin(&top).unwrap();
    [chain, sheet]
}

fn energy(cloth: &IbdsCloth) -> f64 {
    let ledger = cloth.ledger().unwrap();
    ledger.kinetic + ledger.potential
}

/// A step shorter than those before, by up to ten millions, or longer, gives no more than a hundredth of what there
/// is to swing with: the errors of lengths that a long step leaves are not taken out within a short one.
#[test]
fn an_odd_step_hardly_changes_the_energy() {
    for integrator in [Integrator::SymplecticEuler, Integrator::Parabola] {
        for odd in [1e-9, 1e-6, 1e-4, 3e-3, 0.02] {
            for mut cloth in swinging() {
                cloth = cloth.integrator(integrator);
                let ledger = cloth.ledger().unwrap();
                for _ in 0..40 {
                    cloth.step(0.01, Inputs::NONE).unwrap();
                }
                let before = energy(&cloth);
                cloth.step(odd, Inputs::NONE).unwrap();
                let after = energy(&cloth);
                let swings = ledger.mass * 9.81 * 0.5;
                let most = 0.01 * swings;
                // A long step damps as long steps do.
                let lost = if odd > 0.01 { 0.5 * swings } else { most };
                assert!(
                    after - before < most && before - after < lost,
                    "{integrator:?}, {odd:e} s: {before} to {after} J"
                );
                for _ in 0..20 {
                    cloth.step(0.01, Inputs::NONE).unwrap();
                }
                assert!(energy(&cloth) < before + most, "{integrator:?}, {odd:e} s: {before} to {} J", energy(&cloth));
            }
        }
    }
}
