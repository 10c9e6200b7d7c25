//! Impulse-based cloth on a device keeps the laws of the contract.

mod device;

use device::{gpu, is_there};
use partita_ibds_cloth::Net;
use partita_ibds_cloth_gpu::IbdsClothGpu;
use partita_mesh::{Mesh, Side};
use partita_simulator::simulator_laws;

/// A sheet that is pinned at one particle: what a guide moves does not have to be farther from that than links allow. Few sweeps, since a
/// device in software takes long for each.
fn hanging() -> IbdsClothGpu {
    let mesh = Mesh::grid([6, 5], [0.6, 0.5]).unwrap();
    let mut cloth = IbdsClothGpu::new("hanging", Net::sheet(&mesh, 0.2).unwrap(), &gpu()).unwrap();
    cloth.pin(&[mesh.edge(Side::Top).unwrap()[3]]).unwrap();
    cloth.substeps(2).velocity_tolerance(Some(0.01)).max_iterations(20)
}

/// A sheet that nothing holds.
fn free() -> IbdsClothGpu {
    let mesh = Mesh::grid([4, 4], [0.4, 0.4]).unwrap();
    IbdsClothGpu::new("free", Net::sheet(&mesh, 0.2).unwrap(), &gpu()).unwrap()
}

simulator_laws!(hanging(), dt = 1.0 / 256.0, load = 0.1, free = free(), when = is_there());
