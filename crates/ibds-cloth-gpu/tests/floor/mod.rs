//! What is in the way in tests.

use std::sync::Arc;

use nalgebra::Isometry3;
use partita_mesh::Mesh;
use partita_simulator::{Carrier, Guide, HandleId, HandleState, Inputs, Motion, Primitive, PrimitiveShape, Surface};

/// A surface of triangles, or exactly a primitive along the same axes.
pub fn surface(mesh: &Mesh, shape: Option<PrimitiveShape>) -> Surface {
    let primitive = shape.map(|shape| Primitive { shape, position: [0.0; 3], orientation: [0.0, 0.0, 0.0, 1.0] });
    Surface {
        name: "obstacle".into(),
        carrier: Carrier::Frame(HandleId { owner: 7, index: 0 }),
        vertices: mesh.positions(),
        triangles: mesh.triangles().to_vec(),
        lines: vec![],
        two_sided: false,
        primitive,
        friction: 0.0,
        restitution: 0.0,
        thickness: 0.0,
    }
}

pub fn guide(surface: Surface, friction: f64, restitution: f64) -> Guide {
    Guide::Obstacle { surface: Arc::new(surface), friction, restitution, thickness: 1e-3, except: vec![] }
}

/// A floor whose top is at 0 where its frame is at (0, -0.1, 0).
pub fn floor(friction: f64, restitution: f64) -> Guide {
    let shape = PrimitiveShape::Cuboid { half_extents: [2.0, 0.1, 2.0] };
    guide(surface(&Mesh::cuboid([4.0, 0.2, 4.0]).unwrap(), Some(shape)), friction, restitution)
}

pub fn state(pose: &Isometry3<f64>) -> HandleState {
    HandleState { orientation: pose.rotation.coords.into(), ..HandleState::point(pose.translation.vector, [0.0; 3]) }
}

pub fn from_to(begin: &Isometry3<f64>, end: &Isometry3<f64>) -> Inputs {
    let motion = Motion { begin: Arc::new([state(begin)]), end: Arc::new([state(end)]) };
    Inputs { motions: vec![Some(motion)], ..Inputs::default() }
}

pub fn still(at: [f64; 3]) -> Inputs {
    let pose = Isometry3::translation(at[0], at[1], at[2]);
    from_to(&pose, &pose)
}
