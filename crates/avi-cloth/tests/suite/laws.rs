//! Asynchronous cloth keeps the laws of the contract: clocks are state.

use partita_avi_cloth::{AviCloth, Bending, Fabric, Membrane, Parameters};
use partita_mesh::{Mesh, Side};
use partita_simulator::{HandleState, simulator_laws};

fn fabric() -> Fabric {
    Fabric { membrane: Membrane::StVenantKirchhoff { poisson: 0.2 }, ..Fabric::jersey() }
}

/// A sheet with two pinned corners.
fn hanging() -> AviCloth {
    let mesh = Mesh::grid([6, 5], [0.6, 0.5]).unwrap();
    let top = mesh.edge(Side::Top).unwrap();
    let mut cloth = AviCloth::new("hanging", mesh, fabric()).unwrap();
    cloth.pin(&[top[1], top[6]]).unwrap();
    cloth
}

/// A sheet that nothing holds.
fn free() -> AviCloth {
    AviCloth::new("free", Mesh::grid([4, 4], [0.4, 0.4]).unwrap(), fabric()).unwrap()
}

simulator_laws!(hanging(), dt = 1.0 / 256.0, load = 0.1, free = free());

/// The same for an irregular sheet whose hinges have clocks, without viscosity, shaken by a hand.
mod shaken {
    use super::*;

    fn irregular(name: &str) -> AviCloth {
        let mesh = Mesh::unstructured([0.4, 0.4], 60, |_| 1.0).unwrap();
        let fabric = Fabric { damping: 0.0, bend_damping: 0.0, ..Fabric::denim().stretch(400.0) };
        let parameters = Parameters { fabric, bending: Bending::Hinges, limit: None, ..Parameters::default() };
        AviCloth::with_parameters(name, mesh, parameters).unwrap()
    }

    fn shaken() -> AviCloth {
        let mut cloth = irregular("shaken");
        let wave = |t: f64| HandleState::point([0.0, 0.0, 0.01 * (9.0 * t).sin()], [0.0, 0.0, 0.09 * (9.0 * t).cos()]);
        cloth.pin_along("hand", &[2, 5], wave).unwrap();
        cloth
    }

    simulator_laws!(shaken(), dt = 1.0 / 256.0, load = 0.1, free = irregular("free"));
}
