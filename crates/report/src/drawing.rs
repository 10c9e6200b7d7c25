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
    /// Boards in a frame, on the six faces of a box along its own axes; elsewhere as `Plain`.
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
    /// A closed box along the axes, of any size and anywhere, can carry [`Finish::Boards`].
    ///
    /// Triangles with a vertex that is not finite are not drawn.
    ///
    /// # Errors
    ///
    /// [`PictureError::Index`] where a triangle names a vertex that does not exist.
    pub fn new(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<Self, PictureError> {
        let shape = Shape::with_crease(vertices, triangles, CREASE)?;
        let surface = Arc::into_inner(shape.0).expect("made a line above");
        let faces = faces_of_box(vertices, triangles).unwrap_or_default();
        Ok(Shape(Arc::new(Surface { faces, ..surface })))
    }

    /// Without faces; sharp above `crease` `[degrees]`: 0 shows every facet, 180 none.
    fn with_crease(vertices: &[[f64; 3]], triangles: &[[u32; 3]], crease: f64) -> Result<Self, PictureError> {
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&vertex| vertex as usize >= vertices.len()) {
                return Err(PictureError::Index { triangle, vertex, vertices: vertices.len() });
            }
        }
        let vertices: Vec<Vector3<f64>> = vertices.iter().map(|&v| v.into()).collect();
        let normals = corner_normals(&vertices, triangles, crease);
        Ok(Shape(Arc::new(Surface { vertices, triangles: triangles.to_vec(), normals, faces: vec![] })))
    }
}

/// Everything that one picture shows, in world coordinates `[m]` with Y up.
///
/// Things that are not finite are left out of the picture rather than spoiling it.
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

/// Each triangle's place on its face, if these are the twelve halves of the six faces of a box along the axes, wherever
/// it is and however its faces are cut.
fn faces_of_box(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Option<Vec<Face>> {
    if triangles.len() != 12 {
        return None;
    }
    let extreme = |pick: fn(f64, f64) -> f64| {
        let along =
            |axis: usize| triangles.as_flattened().iter().map(move |&i| vertices[i as usize][axis]).reduce(pick);
        [0, 1, 2].map(|axis| along(axis).unwrap_or(f64::NAN))
    };
    let (low, high) = (extreme(f64::min), extreme(f64::max));
    let size = [0, 1, 2].map(|axis| high[axis] - low[axis]);
    if !size.iter().all(|&edge| edge > 0.0 && edge.is_finite()) {
        return None;
    }
    // Which corner of the box a vertex is, by axis: at the high end or at the low one, up to rounding.
    let corner = |i: u32| -> Option<[bool; 3]> {
        let [x, y, z] = [0, 1, 2].map(|axis| {
            let along = (vertices[i as usize][axis] - low[axis]) / size[axis];
            (along.min(1.0 - along).abs() < 1e-9).then_some(along > 0.5)
        });
        Some([x?, y?, z?])
    };

    let mut faces = Vec::with_capacity(12);
    // By face: of each half, the corner that it leaves out.
    let mut left_out: [Vec<[bool; 2]>; 6] = Default::default();
    for triangle in triangles {
        let [a, b, c] = [corner(triangle[0])?, corner(triangle[1])?, corner(triangle[2])?];
        let axis = (0..3).find(|&axis| a[axis] == b[axis] && b[axis] == c[axis])?;
        let plane = [(axis + 1) % 3, (axis + 2) % 3];
        let places = [a, b, c].map(|corner| plane.map(|k| corner[k]));
        if places[0] == places[1] || places[1] == places[2] || places[2] == places[0] {
            return None;
        }
        // All four places of a face have, by axis, an even number of high ones.
        let fourth = [0, 1].map(|k| places.iter().fold(false, |odd, place| odd ^ place[k]));
        let number = 2 * axis + usize::from(a[axis]);
        left_out[number].push(fourth);
        let size = plane.map(|k| size[k] as f32);
        let corners = places.map(|place| [0, 1].map(|k| if place[k] { size[k] } else { 0.0 }));
        faces.push(Face { corners, size, number: number as u32 });
    }
    // Two halves make a face if they leave out opposite corners.
    let whole = |out: &Vec<[bool; 2]>| out.len() == 2 && out[0][0] != out[1][0] && out[0][1] != out[1][1];
    left_out.iter().all(whole).then_some(faces)
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

    /// Eight corners and twelve triangles, as simulators record a box; corner k is at the high end of the axes whose bits
    /// it has.
    fn cuboid(low: [f64; 3], size: [f64; 3]) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
        let corner = |k: usize| [0, 1, 2].map(|axis| low[axis] + if k >> axis & 1 == 1 { size[axis] } else { 0.0 });
        let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let halves = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
        ((0..8).map(corner).collect(), halves.collect())
    }

    /// A triangle's corners lie on its face as they lie in space, and each face is covered once.
    #[test]
    fn a_box_anywhere_has_six_faces_for_boards() {
        for (low, size) in [([-0.1, -0.2, -0.3], [0.2, 0.4, 0.6]), ([1e4, -7.0, 0.3], [1e-3, 50.0, 0.1])] {
            let (vertices, mut triangles) = cuboid(low, size);
            triangles.reverse();
            triangles[4].rotate_left(1);
            let shape = Shape::new(&vertices, &triangles).unwrap();
            let surface = &shape.0;
            assert_eq!(surface.faces.len(), 12);
            let mut covered = [0.0; 6];
            for ((triangle, face), normals) in triangles.iter().zip(&surface.faces).zip(&surface.normals) {
                let number = face.number as usize;
                let (axis, outward) = (number / 2, if number % 2 == 1 { 1.0 } else { -1.0 });
                for ((&i, corner), normal) in triangle.iter().zip(face.corners).zip(normals) {
                    let expected = [(axis + 1) % 3, (axis + 2) % 3].map(|k| vertices[i as usize][k] - low[k]);
                    (0..2)
                        .for_each(|k| assert!((f64::from(corner[k]) - expected[k]).abs() < 1e-5 * size[axis].max(1.0)));
                    assert_eq!(normal[axis], outward);
                }
                let [a, b, c] = face.corners;
                covered[number] += 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])).abs();
            }
            for face in &surface.faces {
                let area = face.size[0] * face.size[1];
                assert!((covered[face.number as usize] - area).abs() < 1e-5 * area);
            }
        }
    }

    #[test]
    fn what_is_no_closed_box_has_no_faces() {
        let (vertices, triangles) = cuboid([0.0; 3], [1.0, 2.0, 3.0]);
        let faces =
            |vertices: &[[f64; 3]], triangles: &[[u32; 3]]| Shape::new(vertices, triangles).unwrap().0.faces.len();
        assert_eq!(faces(&vertices, &triangles), 12);
        assert_eq!(faces(&vertices, &triangles[1..]), 0, "open");
        let mut doubled = triangles.clone();
        doubled[1] = doubled[0];
        assert_eq!(faces(&vertices, &doubled), 0, "half a face twice");
        let mut overlapping = triangles.clone();
        overlapping[1] = [0, 4, 2];
        assert_eq!(faces(&vertices, &overlapping), 0, "halves of different cuts");
        let mut bent = vertices.clone();
        bent[7][0] += 1e-3;
        assert_eq!(faces(&bent, &triangles), 0, "bent");
        let flat: Vec<[f64; 3]> = vertices.iter().map(|&[x, _, z]| [x, 0.0, z]).collect();
        assert_eq!(faces(&flat, &triangles), 0, "flat");
        assert_eq!(faces(&[[f64::NAN; 3]; 8], &triangles), 0, "not finite");
        let sheared: Vec<[f64; 3]> = vertices.iter().map(|&[x, y, z]| [x + 0.5 * y, y, z]).collect();
        assert_eq!(faces(&sheared, &triangles), 0, "along other axes");
    }

    #[test]
    fn an_index_out_of_range_is_an_error_that_names_the_triangle() {
        let error = Shape::new(&[[0.0; 3]; 3], &[[0, 1, 2], [0, 1, 7]]).unwrap_err();
        assert!(matches!(error, PictureError::Index { triangle: 1, vertex: 7, vertices: 3 }), "{error}");
    }
}
