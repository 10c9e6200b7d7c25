//! Implicit cloth keeps the laws of the contract.

use partita_implicit_cloth::{Fabric, ImplicitCloth};
use partita_mesh::{Mesh, Side};
use partita_simulator::simulator_laws;

/// A sheet with two pinned corners.
fn hanging() -> ImplicitCloth {
    let mesh = Mesh::grid([6, 5], [0.6, 0.5]).unwrap();
    let top = mesh.edge(Side::Top).unwrap();
    let mut cloth = ImplicitCloth::new("hanging", mesh, Fabric::cotton()).unwrap();
    cloth.pin(&[top[1], top[6]]).unwrap();
    cloth
}

/// A sheet that nothing holds.
fn free() -> ImplicitCloth {
    ImplicitCloth::new("free", Mesh::grid([4, 4], [0.4, 0.4]).unwrap(), Fabric::cotton()).unwrap()
}

simulator_laws!(hanging(), dt = 1.0 / 256.0, load = 0.1, free = free());
