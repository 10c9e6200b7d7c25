//! What tests of contact share.

use std::sync::Arc;

use partita_mesh::Mesh;
use partita_simulator::{Carrier, Guide, HandleId, HandleTable, Surface};

/// A guide along which a frame carries the mesh, without restitution.
pub fn obstacle(mesh: &Mesh, friction: f64) -> Guide {
    obstacle_of(mesh.positions(), mesh.triangles().to_vec(), vec![], friction)
}

/// The same of triangles and lines.
pub fn obstacle_of(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>, lines: Vec<[u32; 2]>, friction: f64) -> Guide {
    let owner = HandleTable::new("tests", "obstacle").owner();
    let surface = Surface {
        name: "obstacle".into(),
        carrier: Carrier::Frame(HandleId { owner, index: 0 }),
        vertices,
        triangles,
        two_sided: !lines.is_empty(),
        lines,
        primitive: None,
        friction,
        restitution: 0.0,
        thickness: 0.0,
    };
    Guide::Obstacle { surface: Arc::new(surface), friction, restitution: 0.0, thickness: 0.0, except: vec![] }
}
