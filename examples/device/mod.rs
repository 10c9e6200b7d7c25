//! Cloth on a device, or on the CPU where there is none: what the examples with it share.

use nalgebra::Vector3;
use partita::{ibds_cloth_gpu::GpuError, prelude::*};
use partita_mesh::Mesh;
use partita_report as report;

pub type Failure = Box<dyn std::error::Error>;

type V3 = Vector3<f64>;

/// How much longer the diagonal of a cell gets by a force `[m/N]`.
const SHEAR: f64 = 0.02;

/// What was added to a scene: whether it is on a device, and handles of its particles.
pub struct Added {
    pub on_device: bool,
    #[allow(dead_code, reason = "not every scene pushes them")]
    pub particles: Vec<HandleId>,
}

/// Adds a net with some particles pinned to a scene, where it is called `name`, and says in one line what simulates it. It meets itself: on a
/// device as balls of about a link, on the CPU with layers of 1 mm.
pub fn add(scene: &mut Scene, name: &str, net: Net, pins: &[u32], substeps: u32) -> Result<Added, Failure> {
    let numbers = 0..net.masses().len() as u32;
    match Gpu::new() {
        Ok(gpu) => {
            report::tell(format!("{} particles on {}", net.masses().len(), gpu.adapter()));
            let mut cloth = IbdsClothGpu::new(name, net, &gpu)?;
            cloth.pin(pins)?;
            let particles = numbers.map(|k| cloth.particle(k)).collect();
            scene.add(cloth.substeps(substeps).checked()?);
            Ok(Added { on_device: true, particles })
        }
        Err(error @ (GpuError::NoAdapter(_) | GpuError::Limit { .. } | GpuError::NoDevice(_))) => {
            report::tell(format!("{} particles on the CPU: {error}", net.masses().len()));
            let mut cloth = IbdsCloth::new(name, net)?;
            cloth.pin(pins)?;
            let particles = numbers.map(|k| cloth.particle(k)).collect();
            scene.add(cloth.substeps(substeps).checked()?);
            Ok(Added { on_device: false, particles })
        }
        Err(error) => Err(error.into()),
    }
}

/// A net of the edges of a mesh, or of several as one, cut from lattices with so many vertices in a row: threads that do not give way, and
/// links across them that get longer by [`SHEAR`]. Particles have such a mass each `[kg]`.
pub fn cloth(mesh: &Mesh, row: u32, mass: f64) -> Result<Net, Failure> {
    let edges = mesh.edges().iter().map(|edge| edge.vertices);
    let (threads, across): (Vec<_>, Vec<_>) = edges.partition(|[i, j]| [1, row].contains(&i.abs_diff(*j)));
    let net = Net::new(&mesh.positions(), &vec![mass; mesh.vertices().len()])?.bars(across)?.compliance(SHEAR)?;
    Ok(net.bars(threads)?.triangles(mesh.triangles())?)
}

/// What a cloth that was added is made of, positions `[m]` and velocities `[m/s]`.
pub fn look<R: Send + 'static>(
    run: &mut Run,
    name: &str,
    on_device: bool,
    see: impl FnOnce(&Net, &[V3], &[V3]) -> R + Send + 'static,
) -> partita::Result<R> {
    if on_device {
        run.look(name, |cloth: &IbdsClothGpu| see(cloth.net(), cloth.positions(), cloth.velocities()))
    } else {
        run.look(name, |cloth: &IbdsCloth| see(cloth.net(), cloth.positions(), cloth.velocities()))
    }
}

/// By how much the longest link is too long that does not give way, of its length [-].
pub fn stretch(net: &Net, positions: &[V3]) -> f64 {
    let of = |link: &partita::ibds_cloth::Link| {
        let [i, j] = link.particles.map(|k| positions[k as usize]);
        (j - i).norm() / link.rest_length - 1.0
    };
    net.links().iter().filter(|link| link.compliance == 0.0).map(of).fold(0.0, f64::max)
}
