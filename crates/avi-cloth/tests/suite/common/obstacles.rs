//! What cloth meets.

use std::sync::Arc;

use nalgebra::Vector3;
use partita_mesh::Mesh;
use partita_simulator::{Carrier, Guide, HandleId, HandleState, HandleTable, Inputs, Motion, Surface};

type V3 = Vector3<f64>;

/// A guide along which a frame, or each vertex, carries the mesh, without restitution.
pub fn obstacle(mesh: &Mesh, friction: f64, deforms: bool) -> Guide {
    let owner = HandleTable::new("tests", "obstacle").owner();
    let handle = |index: u32| HandleId { owner, index };
    let surface = Surface {
        name: "obstacle".into(),
        carrier: if deforms {
            Carrier::Points((0..mesh.vertices().len() as u32).map(handle).collect())
        } else {
            Carrier::Frame(handle(0))
        },
        vertices: mesh.positions(),
        triangles: mesh.triangles().to_vec(),
        two_sided: false,
        lines: vec![],
        primitive: None,
        friction,
        restitution: 0.0,
        thickness: 0.0,
    };
    Guide::Obstacle { surface: Arc::new(surface), friction, restitution: 0.0, thickness: 0.0, except: vec![] }
}

pub fn from_to(begin: HandleState, end: HandleState) -> Inputs {
    Inputs { motions: vec![Some(Motion { begin: Arc::new([begin]), end: Arc::new([end]) })], ..Inputs::default() }
}

pub fn still(at: V3) -> Inputs {
    let state = HandleState::point(at, [0.0; 3]);
    from_to(state, state)
}
