//! Everything that is drawn, as one list of facets and one of spheres, relative to the centre of view.

use nalgebra::{Point3, Vector3};

use crate::colour::unit_hash;
use crate::drawing::{Drawing, Geometry};

/// A triangle with normals at its corners `[m]`.
pub(crate) struct Facet {
    pub corners: [Vector3<f32>; 3],
    pub normals: [Vector3<f32>; 3],
    /// Which item of the drawing.
    pub item: u32,
    /// Which triangle of its shape.
    pub triangle: u32,
}

/// A ball `[m]`.
pub(crate) struct Sphere {
    pub centre: Vector3<f32>,
    pub radius: f32,
    /// Tells one of many from its neighbours, 0 to 1 `[-]`; a single one has 0.375, which changes nothing.
    pub tint: f32,
    pub item: u32,
}

pub(crate) struct Scene {
    pub facets: Vec<Facet>,
    pub spheres: Vec<Sphere>,
    /// Height of the ground `[m]`.
    pub ground: Option<f32>,
    /// How many triangles and points were left out.
    pub skipped: usize,
}

/// Triangles and points that are not finite, or further than this from the centre of view `[m]`, are left out: beyond,
/// products of single-precision coordinates overflow.
const FARTHEST: f32 = 1e9;

pub(crate) fn gather(drawing: &Drawing, origin: Vector3<f64>) -> Scene {
    let ground = drawing.ground.map(|height| (height - origin.y) as f32).filter(|height| height.abs() < FARTHEST);
    let mut scene = Scene { facets: vec![], spheres: vec![], ground, skipped: 0 };
    let drawable = |v: &Vector3<f32>| v.iter().all(|c| c.abs() < FARTHEST);

    for (item, content) in (0..).zip(&drawing.items) {
        match &content.geometry {
            Geometry::Body { shape, pose } => {
                let surface = &shape.0;
                let placed: Vec<Vector3<f32>> = surface
                    .vertices
                    .iter()
                    .map(|&v| ((pose * Point3::from(v)).coords - origin).cast::<f32>())
                    .collect();
                let turn = pose.rotation.cast::<f32>();
                for ((triangle, corners), normals) in (0..).zip(&surface.triangles).zip(&surface.normals) {
                    let corners = corners.map(|i| placed[i as usize]);
                    if corners.iter().all(drawable) {
                        let normals = normals.map(|n| turn * n);
                        scene.facets.push(Facet { corners, normals, item, triangle });
                    } else {
                        scene.skipped += 1;
                    }
                }
            }
            Geometry::Points { positions, radius } => {
                let radius = *radius as f32;
                let sized = radius > 0.0 && radius < FARTHEST;
                for (number, &position) in (0..).zip(positions) {
                    let centre = (Vector3::from(position) - origin).cast::<f32>();
                    if sized && drawable(&centre) {
                        let tint = if positions.len() > 1 { unit_hash(number, item) } else { 0.375 };
                        scene.spheres.push(Sphere { centre, radius, tint, item });
                    } else {
                        scene.skipped += 1;
                    }
                }
            }
        }
    }
    scene
}
