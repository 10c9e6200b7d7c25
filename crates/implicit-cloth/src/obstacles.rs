//! Guides as obstacles of contact.

use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use partita_contact::{Obstacle, Path, Shape};
use partita_mesh::Mesh;
use partita_simulator::{Carrier, Guide, HandleState, Motion};

type V3 = Vector3<f64>;

/// The obstacle that a guide is, if it is one.
pub(crate) fn obstacle(guide: &Guide) -> Option<Obstacle> {
    let Guide::Obstacle { surface, friction, restitution, thickness, except } = guide else { return None };
    let shape = Shape::Mesh { vertices: surface.vertices.clone(), triangles: surface.triangles.clone() };
    let obstacle = Obstacle::new(shape).friction(*friction).restitution(*restitution).thickness(*thickness);
    let obstacle = obstacle.except(except.iter().map(|handle| handle.index).collect());
    // A closed surface has an inside, an open one only sides.
    let closed = Mesh::new(&surface.vertices, &surface.triangles).is_ok_and(|mesh| mesh.is_closed());
    Some(if surface.two_sided || closed { obstacle } else { obstacle.one_sided() })
}

/// Where the points of a deforming obstacle are, at the begin and end.
#[derive(Default)]
pub(crate) struct Points([Vec<V3>; 2]);

impl Points {
    pub fn take(&mut self, guide: &Guide, motion: Option<&Motion>) {
        self.0.iter_mut().for_each(Vec::clear);
        let (Guide::Obstacle { surface, .. }, Some(motion)) = (guide, motion) else { return };
        if let Carrier::Points(_) = surface.carrier {
            for (points, states) in self.0.iter_mut().zip([&motion.begin, &motion.end]) {
                points.extend(states.iter().map(|state| V3::from(state.position)));
            }
        }
    }

    pub fn path(&self, motion: Option<&Motion>) -> Path<'_> {
        match (motion, &self.0) {
            (None, _) => Path::Absent,
            (Some(motion), [begin, _]) if begin.is_empty() => {
                Path::Frame { begin: pose(&motion.begin[0]), end: pose(&motion.end[0]) }
            }
            (Some(_), [begin, end]) => Path::Points { begin, end },
        }
    }
}

fn pose(state: &HandleState) -> Isometry3<f64> {
    let [x, y, z, w] = state.orientation;
    Isometry3::from_parts(V3::from(state.position).into(), UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)))
}
