//! Impulse-based cloth keeps the laws of the contract.

use partita_ibds_cloth::{IbdsCloth, Net};
use partita_mesh::{Mesh, Side};
use partita_simulator::simulator_laws;

/// A sheet with two pinned corners.
fn hanging() -> IbdsCloth {
    let mesh = Mesh::grid([6, 5], [0.6, 0.5]).unwrap();
    let top = mesh.edge(Side::Top).unwrap();
    let mut cloth = IbdsCloth::new("hanging", Net::sheet(&mesh, 0.2).unwrap()).unwrap();
    cloth.pin(&[top[1], top[6]]).unwrap();
    cloth.substeps(2).velocity_tolerance(Some(0.01))
}

/// A sheet that nothing holds.
fn free() -> IbdsCloth {
    IbdsCloth::new("free", Net::sheet(&Mesh::grid([4, 4], [0.4, 0.4]).unwrap(), 0.2).unwrap()).unwrap()
}

simulator_laws!(hanging(), dt = 1.0 / 256.0, load = 0.1, free = free());
