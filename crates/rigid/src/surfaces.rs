//! Surfaces of bodies: watertight triangle meshes, corners counter-clockwise seen from outside.

use std::f64::consts::{FRAC_PI_2, TAU};

use rapier3d_f64::{
    math::{Pose, Vector},
    parry::shape::{Shape, TypedShape},
};

use crate::mesh::{Mesh, repaired};

/// Around a round shape. A chord then misses the true circle by 0.5 % of the radius.
const SEGMENTS: u32 = 32;
/// From pole to equator of a cap.
const RINGS: u32 = 8;
/// A half-space is shown as a square this wide `[m]`.
const GROUND: f64 = 200.0;

/// The surface of `shape` in the axes of `frame`; `None` for what encloses and covers nothing.
pub(crate) fn tessellate(shape: &dyn Shape, frame: &Pose) -> Option<Mesh> {
    let mesh = match shape.as_typed_shape() {
        TypedShape::Cuboid(cuboid) => brick(cuboid.half_extents.to_array()),
        TypedShape::Ball(ball) => lathe(&cap(0.0, ball.radius, -FRAC_PI_2, FRAC_PI_2), Vector::Y),
        TypedShape::Capsule(capsule) => {
            let half = 0.5 * capsule.height();
            let mut profile = cap(-half, capsule.radius, -FRAC_PI_2, 0.0);
            profile.extend(cap(half, capsule.radius, 0.0, FRAC_PI_2));
            let axis = (capsule.segment.b - capsule.segment.a).normalize_or(Vector::Y);
            moved(lathe(&profile, axis), &Pose::from_translation(capsule.center()))
        }
        TypedShape::Cylinder(cylinder) => {
            let (h, r) = (cylinder.half_height, cylinder.radius);
            lathe(&[(-h, 0.0), (-h, r), (h, r), (h, 0.0)], Vector::Y)
        }
        TypedShape::Cone(cone) => {
            lathe(&[(-cone.half_height, 0.0), (-cone.half_height, cone.radius), (cone.half_height, 0.0)], Vector::Y)
        }
        TypedShape::ConvexPolyhedron(hull) => welded(hull.to_trimesh())?,
        TypedShape::TriMesh(mesh) => welded((mesh.vertices().to_vec(), mesh.indices().to_vec()))?,
        TypedShape::HeightField(field) => welded(field.to_trimesh())?,
        TypedShape::Voxels(voxels) => welded(voxels.to_trimesh())?,
        TypedShape::RoundCuboid(round) => {
            let size = round.inner_shape.half_extents + Vector::splat(round.border_radius);
            brick(size.to_array())
        }
        TypedShape::RoundCylinder(round) => {
            let (h, r, b) = (round.inner_shape.half_height, round.inner_shape.radius, round.border_radius);
            lathe(&[(-h - b, 0.0), (-h - b, r), (-h, r + b), (h, r + b), (h + b, r), (h + b, 0.0)], Vector::Y)
        }
        TypedShape::RoundCone(round) => {
            let (h, r, b) = (round.inner_shape.half_height, round.inner_shape.radius, round.border_radius);
            lathe(&[(-h - b, 0.0), (-h - b, r), (-h, r + b), (h + b, 0.0)], Vector::Y)
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
    Some(moved(mesh, frame))
}

fn brick([x, y, z]: [f64; 3]) -> Mesh {
    let corner =
        |i: u32| [if i & 1 == 0 { -x } else { x }, if i & 2 == 0 { -y } else { y }, if i & 4 == 0 { -z } else { z }];
    let faces: [[u32; 4]; 6] = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Mesh { vertices: (0..8).map(corner).collect(), triangles, open: None }
}

/// Points (height, distance from the axis) of a circle's arc around (`height`, 0).
fn cap(height: f64, radius: f64, from: f64, to: f64) -> Vec<(f64, f64)> {
    let rings = (RINGS as f64 * (to - from) / FRAC_PI_2).round() as u32;
    let angle = |i: u32| from + (to - from) * f64::from(i) / f64::from(rings);
    (0..=rings).map(|i| (height + radius * angle(i).sin(), radius * angle(i).cos())).collect()
}

/// A profile turned around an axis. Its first and last point lie on the axis.
fn lathe(profile: &[(f64, f64)], axis: Vector) -> Mesh {
    let (bottom, top) = (profile[0].0, profile[profile.len() - 1].0);
    let rings = &profile[1..profile.len() - 1];
    let mut vertices = vec![axis * bottom, axis * top];
    let across = axis.any_orthonormal_vector();
    let third = axis.cross(across);
    for &(height, radius) in rings {
        for k in 0..SEGMENTS {
            let (sin, cos) = (TAU * f64::from(k) / f64::from(SEGMENTS)).sin_cos();
            vertices.push(axis * height + (across * cos + third * sin) * radius);
        }
    }
    let at = |ring: u32, k: u32| 2 + ring * SEGMENTS + k % SEGMENTS;
    let last = rings.len() as u32 - 1;
    let mut triangles = Vec::new();
    for k in 0..SEGMENTS {
        triangles.push([0, at(0, k + 1), at(0, k)]);
        triangles.push([1, at(last, k), at(last, k + 1)]);
        for ring in 0..last {
            let [a, b, c, d] = [at(ring, k), at(ring, k + 1), at(ring + 1, k + 1), at(ring + 1, k)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    Mesh { vertices: vertices.iter().map(|v| v.to_array()).collect(), triangles, open: None }
}

fn square(normal: Vector) -> Mesh {
    let u = normal.any_orthonormal_vector() * (0.5 * GROUND);
    let v = normal.cross(u);
    let vertices = [-u - v, u - v, u + v, v - u].map(|p| p.to_array()).to_vec();
    Mesh { vertices, triangles: vec![[0, 1, 2], [0, 2, 3]], open: Some("a plane".into()) }
}

fn welded((vertices, triangles): (Vec<Vector>, Vec<[u32; 3]>)) -> Option<Mesh> {
    let vertices: Vec<[f64; 3]> = vertices.iter().map(|v| v.to_array()).collect();
    repaired("surface", &vertices, &triangles).ok()
}

fn moved(mut mesh: Mesh, pose: &Pose) -> Mesh {
    mesh.vertices.iter_mut().for_each(|v| *v = (pose * Vector::from_array(*v)).to_array());
    mesh
}

fn joined(mut a: Mesh, b: Mesh) -> Mesh {
    let shift = a.vertices.len() as u32;
    a.vertices.extend(b.vertices);
    a.triangles.extend(b.triangles.iter().map(|t| t.map(|v| v + shift)));
    a.open = a.open.or(b.open);
    a
}
