//! What is to be seen: shapes, bodies, deforming meshes, points, a ground.

use std::sync::Arc;

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};

use crate::{Colour, PictureError};

/// How a surface looks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// Base colour.
    pub colour: Colour,
    /// What is painted on it.
    pub finish: Finish,
    /// Strength of the highlight, 0 (chalk) to 1 (wet) `[-]`.
    pub gloss: f32,
    /// Tells alike things apart: grain and tint of boards.
    pub seed: u64,
}

/// What is painted on a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Finish {
    /// Nothing.
    Plain,
    /// Boards in a frame, on the faces of [`Shape::cuboid`]; elsewhere as `Plain`.
    Boards,
}

impl Look {
    /// One colour, hardly glossy.
    pub fn plain(colour: Colour) -> Self {
        Look { colour, finish: Finish::Plain, gloss: 0.15, seed: 0 }
    }

    /// A wooden crate; another `seed` is another crate.
    pub fn crate_wood(seed: u64) -> Self {
        Look { finish: Finish::Boards, gloss: 0.06, ..Look::plain(Colour::WOOD) }.numbered(seed)
    }

    /// As the `number`-th of many alike: boards get a grain and a tint of their own, plain things stay as they are.
    pub(crate) fn numbered(self, number: u64) -> Self {
        match self.finish {
            Finish::Plain => self,
            Finish::Boards => Look { colour: self.colour.varied(number, 0.13), seed: number, ..self },
        }
    }

    /// With a highlight, 0 (chalk) to 1 (wet).
    pub fn gloss(self, gloss: f32) -> Self {
        Look { gloss, ..self }
    }
}

/// Triangles with normals, made once and drawn often. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Shape(pub(crate) Arc<Surface>);

#[derive(Debug)]
pub(crate) struct Surface {
    pub vertices: Vec<Vector3<f64>>,
    pub triangles: Vec<[u32; 3]>,
    /// One for each corner of each triangle: where an edge is sharp, its sides do not share normals.
    pub normals: Vec<[Vector3<f32>; 3]>,
    /// Where the corners lie on a rectangular face, for [`Finish::Boards`]. Empty if there are no such faces.
    pub faces: Vec<Face>,
}

/// A triangle's place on its rectangular face `[m]`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Face {
    pub corners: [[f32; 2]; 3],
    pub size: [f32; 2],
    pub number: u32,
}

/// Edges of a [`Shape`] with a smaller angle between their faces are shaded as one smooth surface `[degrees]`.
const CREASE: f64 = 35.0;
/// The same for [`Drawing::mesh`]: folds of cloth are round.
const CREASE_OF_CLOTH: f64 = 75.0;

impl Shape {
    /// A shape from vertices `[m]` and triangles. Edges whose faces meet at more than 35 degrees stay sharp.
    ///
    /// Triangles with a vertex that is not finite are not drawn; [`crate::Film::skipped`] counts them.
    ///
    /// # Errors
    ///
    /// [`PictureError::Index`] where a triangle names a vertex that does not exist.
    pub fn new(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<Self, PictureError> {
        Shape::with_crease(vertices, triangles, CREASE)
    }

    /// As [`Shape::new`], sharp above `crease` `[degrees]`: 0 shows every facet, 180 none.
    ///
    /// # Errors
    ///
    /// As [`Shape::new`].
    pub fn with_crease(vertices: &[[f64; 3]], triangles: &[[u32; 3]], crease: f64) -> Result<Self, PictureError> {
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&vertex| vertex as usize >= vertices.len()) {
                return Err(PictureError::Index { triangle, vertex, vertices: vertices.len() });
            }
        }
        let vertices: Vec<Vector3<f64>> = vertices.iter().map(|&v| v.into()).collect();
        let normals = corner_normals(&vertices, triangles, crease);
        Ok(Shape(Arc::new(Surface { vertices, triangles: triangles.to_vec(), normals, faces: vec![] })))
    }

    /// A box with full edge lengths `size` `[m]`, whose faces can carry [`Finish::Boards`].
    ///
    /// # Errors
    ///
    /// [`PictureError::ShapeSize`] unless they are positive and finite.
    pub fn cuboid(size: [f64; 3]) -> Result<Self, PictureError> {
        if !size.iter().all(|&s| s > 0.0 && s.is_finite()) {
            return Err(PictureError::ShapeSize { shape: "cuboid", sizes: size.to_vec() });
        }
        let (mut vertices, mut triangles, mut faces) = (vec![], vec![], vec![]);
        for axis in 0..3 {
            for side in [-1.0, 1.0] {
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                let face = [size[u] as f32, size[v] as f32];
                let first = vertices.len() as u32;
                for [s, t] in [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]] {
                    let mut corner = [0.0; 3];
                    (corner[axis], corner[u], corner[v]) = (0.5 * side * size[axis], s * size[u], t * size[v]);
                    vertices.push(corner);
                }
                // Counter-clockwise from outside.
                let halves = if side > 0.0 { [[0, 1, 2], [0, 2, 3]] } else { [[0, 2, 1], [0, 3, 2]] };
                let place = |k: u32| [[0.0, 0.0], [face[0], 0.0], face, [0.0, face[1]]][k as usize];
                for half in halves {
                    triangles.push(half.map(|k| first + k));
                    let number = 2 * axis as u32 + u32::from(side > 0.0);
                    faces.push(Face { corners: half.map(place), size: face, number });
                }
            }
        }
        let shape = Shape::new(&vertices, &triangles)?;
        let surface = Arc::into_inner(shape.0).expect("made a line above");
        Ok(Shape(Arc::new(Surface { faces, ..surface })))
    }
}

/// Everything that one picture shows, in world coordinates `[m]` with Y up.
///
/// Things that are not finite are left out of the picture rather than spoiling it; [`crate::Film::skipped`] tells how
/// many.
#[derive(Debug, Clone, Default)]
pub struct Drawing {
    pub(crate) items: Vec<Item>,
    pub(crate) ground: Option<f64>,
}

#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub geometry: Geometry,
    pub look: Look,
}

#[derive(Debug, Clone)]
pub(crate) enum Geometry {
    Body { shape: Shape, pose: Isometry3<f64> },
    Points { positions: Vec<[f64; 3]>, radius: f64 },
}

impl Drawing {
    /// Nothing in front of the background.
    pub fn new() -> Self {
        Drawing::default()
    }

    /// An endless ground at this height `[m]`.
    pub fn on_ground(height: f64) -> Self {
        Drawing { ground: Some(height), ..Drawing::default() }
    }

    /// Adds a rigid body: `shape` turned by the quaternion `rotation` (x, y, z, w), then moved to `position` `[m]`.
    pub fn body(&mut self, shape: &Shape, position: [f64; 3], rotation: [f64; 4], look: Look) -> &mut Self {
        let rotation = UnitQuaternion::new_normalize(Quaternion::from(rotation));
        let pose = Isometry3::from_parts(Translation3::from(position), rotation);
        self.push(Geometry::Body { shape: shape.clone(), pose }, look)
    }

    /// Adds a shape that already is where it should be, such as a floor or a wall.
    pub fn shape(&mut self, shape: &Shape, look: Look) -> &mut Self {
        self.push(Geometry::Body { shape: shape.clone(), pose: Isometry3::identity() }, look)
    }

    /// Adds a deforming mesh such as cloth: vertices `[m]` in world coordinates, triangles; both sides are seen.
    ///
    /// # Errors
    ///
    /// As [`Shape::new`].
    pub fn mesh(
        &mut self,
        vertices: &[[f64; 3]],
        triangles: &[[u32; 3]],
        look: Look,
    ) -> Result<&mut Self, PictureError> {
        let shape = Shape::with_crease(vertices, triangles, CREASE_OF_CLOTH)?;
        Ok(self.push(Geometry::Body { shape, pose: Isometry3::identity() }, look))
    }

    /// Adds little balls of this radius `[m]` (drops, hail, particles), each at least a pixel wide; also large single
    /// balls, which are perfectly round.
    pub fn points(&mut self, positions: &[[f64; 3]], radius: f64, look: Look) -> &mut Self {
        self.push(Geometry::Points { positions: positions.to_vec(), radius }, look)
    }

    fn push(&mut self, geometry: Geometry, look: Look) -> &mut Self {
        self.items.push(Item { geometry, look });
        self
    }
}

/// For each corner the mean of the normals around its vertex, weighted by angle, of those faces that meet the corner's
/// own face at less than `crease` `[degrees]`.
fn corner_normals(vertices: &[Vector3<f64>], triangles: &[[u32; 3]], crease: f64) -> Vec<[Vector3<f32>; 3]> {
    let corner = |t: &[u32; 3], k: usize| vertices[t[k % 3] as usize];
    let flat: Vec<Vector3<f64>> = triangles
        .iter()
        .map(|t| (corner(t, 1) - corner(t, 0)).cross(&(corner(t, 2) - corner(t, 0))))
        .map(|n| n.try_normalize(f64::MIN_POSITIVE).unwrap_or_default())
        .collect();
    let weighted: Vec<[Vector3<f64>; 3]> = triangles
        .iter()
        .zip(&flat)
        .map(|(t, n)| {
            [0, 1, 2].map(|k| n * (corner(t, k + 1) - corner(t, k)).angle(&(corner(t, k + 2) - corner(t, k))))
        })
        .collect();

    // Corners around vertex i: around[first[i] .. first[i + 1]].
    let mut first = vec![0usize; vertices.len() + 1];
    triangles.as_flattened().iter().for_each(|&i| first[i as usize + 1] += 1);
    (0..vertices.len()).for_each(|i| first[i + 1] += first[i]);
    let (mut around, mut next) = (vec![(0, 0); 3 * triangles.len()], first.clone());
    for (t, corners) in triangles.iter().enumerate() {
        for (k, &i) in corners.iter().enumerate() {
            around[next[i as usize]] = (t, k);
            next[i as usize] += 1;
        }
    }

    let cos_crease = crease.to_radians().cos() - 1e-9;
    let normal = |t: usize, i: u32| {
        let here = &around[first[i as usize]..first[i as usize + 1]];
        let near = here.iter().filter(|(other, _)| flat[*other].dot(&flat[t]) >= cos_crease);
        let sum: Vector3<f64> = near.map(|&(other, k)| weighted[other][k]).sum();
        sum.try_normalize(1e-12).unwrap_or(flat[t]).cast::<f32>()
    };
    (0..triangles.len()).map(|t| triangles[t].map(|i| normal(t, i))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cube with eight shared vertices: every face keeps its own normal, so it looks like a box.
    #[test]
    fn sharp_edges_stay_sharp_and_shallow_ones_become_smooth() {
        let folded = |height: f64| {
            let vertices = [[0.0, 0.0, -1.0], [0.0, 0.0, 1.0], [-1.0, -height, 0.0], [1.0, -height, 0.0]];
            Shape::new(&vertices, &[[0, 2, 1], [0, 1, 3]]).unwrap()
        };
        let ridge = |shape: &Shape| (shape.0.normals[0][0], shape.0.normals[1][0]);
        let (left, right) = ridge(&folded(0.1)); // 11 degrees
        assert!((left - right).norm() < 1e-6 && (left - Vector3::y()).norm() < 1e-6);
        let (left, right) = ridge(&folded(1.0)); // 90 degrees
        assert!(left.dot(&right).abs() < 1e-6);
    }

    #[test]
    fn cuboid_normals_point_outward() {
        let shape = Shape::cuboid([0.2, 0.4, 0.6]).unwrap();
        let surface = &shape.0;
        assert_eq!((surface.vertices.len(), surface.triangles.len(), surface.faces.len()), (24, 12, 12));
        for (triangle, normals) in surface.triangles.iter().zip(&surface.normals) {
            for (&i, normal) in triangle.iter().zip(normals) {
                assert!(surface.vertices[i as usize].cast::<f32>().dot(normal) > 0.0);
                assert_eq!(normal.abs().max(), 1.0);
            }
        }
    }

    #[test]
    fn an_index_out_of_range_is_an_error_that_names_the_triangle() {
        let error = Shape::new(&[[0.0; 3]; 3], &[[0, 1, 2], [0, 1, 7]]).unwrap_err();
        assert!(matches!(error, PictureError::Index { triangle: 1, vertex: 7, vertices: 3 }), "{error}");
    }

    #[test]
    fn absurd_cuboids_are_errors() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Shape::cuboid([1.0, bad, 1.0]).is_err(), "{bad}");
        }
    }
}
