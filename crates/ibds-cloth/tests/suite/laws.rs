//! Impulse-based cloth keeps the laws of the contract.

use partita_ibds_cloth::{IbdsCloth, Net};
use partita_mesh::{Mesh, Side};
use partita_simulator::{Inputs, Simulator, simulator_laws};

/// A sheet that is pinned at one particle: what a guide moves does not have to be farther from that than links allow.
fn hanging() -> IbdsCloth {
    let mesh = Mesh::grid([6, 5], [0.6, 0.5]).unwrap();
    let mut cloth = IbdsCloth::new("hanging", Net::sheet(&mesh, 0.2).unwrap()).unwrap();
    cloth.pin(&[mesh.edge(Side::Top).unwrap()[3]]).unwrap();
    cloth.substeps(2)
}

/// A sheet that nothing holds.
fn free() -> IbdsCloth {
    IbdsCloth::new("free", Net::sheet(&Mesh::grid([4, 4], [0.4, 0.4]).unwrap(), 0.2).unwrap()).unwrap()
}

simulator_laws!(hanging(), dt = 1.0 / 256.0, load = 0.1, free = free());

/// The same where Newton's method takes over, with whole steps.
mod tight {
    use super::*;

    fn tight() -> IbdsCloth {
        hanging().substeps(1).extensibility(1e-6).velocity_tolerance(Some(0.01))
    }

    simulator_laws!(tight(), dt = 1.0 / 256.0, load = 0.1, free = free());

    #[test]
    fn newtons_method_takes_over() {
        let mut cloth = tight();
        let steps: u32 = (0..20)
            .map(|_| {
                cloth.step(1.0 / 256.0, Inputs::NONE).unwrap();
                cloth.counts().newton_steps
            })
            .sum();
        assert!(steps > 0);
    }
}

/// The same for two sheets that lie on each other, the lower one pinned at its corners.
mod layered {
    use super::*;

    /// Layers of so many cells, the upper one smaller, turned and touching at first.
    fn layers() -> IbdsCloth {
        let lower = Mesh::grid([4, 4], [0.4, 0.4]).unwrap();
        let upper = Mesh::grid([3, 3], [0.25, 0.25]).unwrap().turned([0.0, 0.0, 1.0], 0.3).unwrap();
        let upper = upper.at([0.12, -0.11, 0.0009]).unwrap();
        let n = lower.vertices().len() as u32;
        let vertices: Vec<[f64; 3]> = lower.positions().into_iter().chain(upper.positions()).collect();
        let upper = upper.triangles().iter().map(|t| t.map(|v| v + n));
        let triangles: Vec<[u32; 3]> = lower.triangles().iter().copied().chain(upper).collect();
        let both = Mesh::new(&vertices, &triangles).unwrap();
        let mut cloth = IbdsCloth::new("layers", Net::sheet(&both, 0.2).unwrap()).unwrap();
        cloth.pin(&[0, 4, 20, 24]).unwrap();
        cloth.gravity([0.0, 0.0, -9.81]).velocity_tolerance(Some(0.01))
    }

    simulator_laws!(layers(), dt = 1.0 / 256.0, load = 0.1, free = free());
}
