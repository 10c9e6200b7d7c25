//! Surfaces of bodies: watertight triangle meshes, corners counter-clockwise seen from outside.

use partita_mesh::{Mesh, MeshError};
use partita_simulator::PrimitiveShape;
use rapier3d_f64::{
    math::{Pose, Rotation, Vector},
    parry::shape::{Shape, TypedShape},
};

use crate::mesh::repaired;

/// Around a round shape. A chord then misses the true circle by 0.5 % of the radius.
const SEGMENTS: u32 = 32;
/// Of a ball: 642 vertices, facets within 0.5 % of the radius.
const SUBDIVISIONS: u32 = 3;
/// A half-space is shown as a square this wide `[m]`.
const GROUND: f64 = 200.0;

/// What is shown of a collider.
pub(crate) struct Skin {
    pub vertices: Vec<[f64; 3]>,
    pub triangles: Vec<[u32; 3]>,
    /// It encloses no volume.
    pub open: bool,
    /// What it is exactly, and where.
    pub primitive: Option<(PrimitiveShape, Pose)>,
}

/// The surface of `shape` in the axes of `frame`; `None` for what encloses and covers nothing, and for what is so thin
/// that its triangles have no area.
pub(crate) fn tessellate(shape: &dyn Shape, frame: &Pose) -> Option<Skin> {
    let skin = match shape.as_typed_shape() {
        TypedShape::Cuboid(cuboid) => {
            let half_extents = cuboid.half_extents.to_array();
            closed(Mesh::cuboid(half_extents.map(|half| 2.0 * half)))?.is(PrimitiveShape::Cuboid { half_extents })
        }
        TypedShape::Ball(ball) => round(ball.radius)?,
        TypedShape::Capsule(capsule) => {
            let (length, radius) = (capsule.height(), capsule.radius);
            let skin = if length > 0.0 {
                let shape = PrimitiveShape::Capsule { half_length: 0.5 * length, radius };
                closed(Mesh::capsule(length, radius, SEGMENTS))?.is(shape)
            } else {
                round(radius)?
            };
            moved(skin, &capsule.canonical_transform())
        }
        TypedShape::Cylinder(cylinder) => {
            let (half_length, radius) = (cylinder.half_height, cylinder.radius);
            let shape = PrimitiveShape::Cylinder { half_length, radius };
            closed(Mesh::cylinder(2.0 * half_length, radius, SEGMENTS))?.is(shape)
        }
        TypedShape::Cone(cone) => {
            let (half_height, radius) = (cone.half_height, cone.radius);
            let shape = PrimitiveShape::Cone { half_height, radius };
            closed(Mesh::cone(2.0 * half_height, radius, SEGMENTS))?.is(shape)
        }
        TypedShape::ConvexPolyhedron(hull) => welded(hull.to_trimesh())?,
        TypedShape::TriMesh(mesh) => welded((mesh.vertices().to_vec(), mesh.indices().to_vec()))?,
        TypedShape::HeightField(field) => welded(field.to_trimesh())?,
        TypedShape::Voxels(voxels) => welded(voxels.to_trimesh())?,
        TypedShape::RoundCuboid(round) => {
            let half = round.inner_shape.half_extents + Vector::splat(round.border_radius);
            closed(Mesh::cuboid((2.0 * half).to_array()))?
        }
        TypedShape::RoundCylinder(round) => {
            let (h, r, b) = (round.inner_shape.half_height, round.inner_shape.radius, round.border_radius);
            revolved(&[[0.0, -h - b], [r, -h - b], [r + b, -h], [r + b, h], [r, h + b], [0.0, h + b]])?
        }
        TypedShape::RoundCone(round) => {
            let (h, r, b) = (round.inner_shape.half_height, round.inner_shape.radius, round.border_radius);
            revolved(&[[0.0, -h - b], [r, -h - b], [r + b, -h], [0.0, h + b]])?
        }
        TypedShape::RoundConvexPolyhedron(round) => welded(round.inner_shape.to_trimesh())?,
        TypedShape::Triangle(t) => welded((vec![t.a, t.b, t.c], vec![[0, 1, 2]]))?,
        TypedShape::HalfSpace(half) => {
            let up = Pose::from_rotation(Rotation::from_rotation_arc(Vector::Y, half.normal));
            moved(square().is(PrimitiveShape::HalfSpace), &up)
        }
        TypedShape::Compound(compound) => {
            let parts = compound.shapes().iter().filter_map(|(pose, part)| tessellate(&**part, pose));
            parts.reduce(joined)?
        }
        _ => return None,
    };
    Some(moved(skin, frame))
}

impl Skin {
    /// The same of what is exactly this, along the same axes.
    fn is(self, shape: PrimitiveShape) -> Self {
        Self { primitive: Some((shape, Pose::IDENTITY)), ..self }
    }
}

fn round(radius: f64) -> Option<Skin> {
    Some(closed(Mesh::ball(radius, SUBDIVISIONS))?.is(PrimitiveShape::Ball { radius }))
}

fn closed(mesh: Result<Mesh, MeshError>) -> Option<Skin> {
    mesh.ok().map(|mesh| skin(&mesh, false))
}

/// A profile turned around Y. A border of no radius leaves points of it at one place.
fn revolved(profile: &[[f64; 2]]) -> Option<Skin> {
    let mut profile = profile.to_vec();
    profile.dedup();
    closed(Mesh::revolved(&profile, SEGMENTS))
}

fn skin(mesh: &Mesh, open: bool) -> Skin {
    Skin { vertices: mesh.positions(), triangles: mesh.triangles().to_vec(), open, primitive: None }
}

/// Of the ground, seen from above.
fn square() -> Skin {
    let half = 0.5 * GROUND;
    let vertices = [[-half, -half], [-half, half], [half, half], [half, -half]].map(|[x, z]| [x, 0.0, z]).to_vec();
    Skin { vertices, triangles: vec![[0, 1, 2], [0, 2, 3]], open: true, primitive: None }
}

fn welded((vertices, triangles): (Vec<Vector>, Vec<[u32; 3]>)) -> Option<Skin> {
    let vertices: Vec<[f64; 3]> = vertices.iter().map(|v| v.to_array()).collect();
    let solid = repaired("surface", &vertices, &triangles).ok()?;
    Some(skin(&solid.mesh, solid.open.is_some()))
}

fn moved(mut skin: Skin, pose: &Pose) -> Skin {
    skin.vertices.iter_mut().for_each(|v| *v = (pose * Vector::from_array(*v)).to_array());
    skin.primitive = skin.primitive.map(|(shape, own)| (shape, pose * own));
    skin
}

fn joined(mut a: Skin, b: Skin) -> Skin {
    let shift = a.vertices.len() as u32;
    a.vertices.extend(b.vertices);
    a.triangles.extend(b.triangles.iter().map(|t| t.map(|v| v + shift)));
    a.open |= b.open;
    a.primitive = None;
    a
}
