//! Surfaces of bodies: watertight triangle meshes, corners counter-clockwise seen from outside.

use partita_mesh::{Mesh, MeshError};
use rapier3d_f64::{
    math::{Pose, Vector},
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
}

/// The surface of `shape` in the axes of `frame`; `None` for what encloses and covers nothing, and for what is so thin
/// that its triangles have no area.
pub(crate) fn tessellate(shape: &dyn Shape, frame: &Pose) -> Option<Skin> {
    let skin = match shape.as_typed_shape() {
        TypedShape::Cuboid(cuboid) => closed(Mesh::cuboid((2.0 * cuboid.half_extents).to_array()))?,
        TypedShape::Ball(ball) => closed(Mesh::ball(ball.radius, SUBDIVISIONS))?,
        TypedShape::Capsule(capsule) => {
            let (length, radius) = (capsule.height(), capsule.radius);
            let mesh =
                if length > 0.0 { Mesh::capsule(length, radius, SEGMENTS) } else { Mesh::ball(radius, SUBDIVISIONS) };
            moved(closed(mesh)?, &capsule.canonical_transform())
        }
        TypedShape::Cylinder(cylinder) => {
            closed(Mesh::cylinder(2.0 * cylinder.half_height, cylinder.radius, SEGMENTS))?
        }
        TypedShape::Cone(cone) => closed(Mesh::cone(2.0 * cone.half_height, cone.radius, SEGMENTS))?,
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
        TypedShape::HalfSpace(half) => square(half.normal),
        TypedShape::Compound(compound) => {
            let parts = compound.shapes().iter().filter_map(|(pose, part)| tessellate(&**part, pose));
            parts.reduce(joined)?
        }
        _ => return None,
    };
    Some(moved(skin, frame))
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
    Skin { vertices: mesh.positions(), triangles: mesh.triangles().to_vec(), open }
}

fn square(normal: Vector) -> Skin {
    let u = normal.any_orthonormal_vector() * (0.5 * GROUND);
    let v = normal.cross(u);
    let vertices = [-u - v, u - v, u + v, v - u].map(|p| p.to_array()).to_vec();
    Skin { vertices, triangles: vec![[0, 1, 2], [0, 2, 3]], open: true }
}

fn welded((vertices, triangles): (Vec<Vector>, Vec<[u32; 3]>)) -> Option<Skin> {
    let vertices: Vec<[f64; 3]> = vertices.iter().map(|v| v.to_array()).collect();
    let solid = repaired("surface", &vertices, &triangles).ok()?;
    Some(skin(&solid.mesh, solid.open.is_some()))
}

fn moved(mut skin: Skin, pose: &Pose) -> Skin {
    skin.vertices.iter_mut().for_each(|v| *v = (pose * Vector::from_array(*v)).to_array());
    skin
}

fn joined(mut a: Skin, b: Skin) -> Skin {
    let shift = a.vertices.len() as u32;
    a.vertices.extend(b.vertices);
    a.triangles.extend(b.triangles.iter().map(|t| t.map(|v| v + shift)));
    a.open |= b.open;
    a
}
