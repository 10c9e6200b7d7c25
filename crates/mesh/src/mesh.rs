//! The mesh, what it promises, and what it can tell.

use nalgebra::{Unit, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};

use crate::topology::{Edge, Hinge, edges, fans, islands};
use crate::{MeshError, Side};

/// An oriented triangle mesh: a 2-manifold with or without boundary, in one or more islands (see the crate's table).
///
/// Serialised as vertices and triangles; what is read back is checked as by [`Mesh::new`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Mesh {
    vertices: Vec<Vector3<f64>>,
    triangles: Vec<[u32; 3]>,
    edges: Vec<Edge>,
    /// Cells across and down, if this is a grid.
    pub(crate) cells: Option<[u32; 2]>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    vertices: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
    #[serde(default)]
    cells: Option<[u32; 2]>,
}

impl From<Mesh> for Stored {
    fn from(mesh: Mesh) -> Self {
        Stored { vertices: mesh.positions(), triangles: mesh.triangles, cells: mesh.cells }
    }
}

impl TryFrom<Stored> for Mesh {
    type Error = MeshError;

    fn try_from(stored: Stored) -> Result<Self, MeshError> {
        let mesh = Mesh::new(&stored.vertices, &stored.triangles)?;
        let Some(cells) = stored.cells else { return Ok(mesh) };
        // Counted first, so that a file cannot ask for a huge grid to compare with.
        let is_grid = u64::from(cells[0]).checked_mul(2 * u64::from(cells[1])) == Some(mesh.triangles.len() as u64)
            && Mesh::grid(cells, [1.0, 1.0])?.triangles == mesh.triangles;
        if is_grid { Ok(Mesh { cells: stored.cells, ..mesh }) } else { Err(MeshError::NotAGrid) }
    }
}

/// Largest coordinate `[m]`: the cube of twice this is still a number.
pub(crate) const LARGEST: f64 = 1e100;
/// Smallest area of a triangle by its longest edge squared `[-]`: below, its normal is mostly rounding.
const FLATTEST: f64 = 1e-10;

impl Mesh {
    /// Checks vertices `[m]` and triangles, and finds the edges.
    ///
    /// # Errors
    ///
    /// Names the first element that breaks the promise in the crate's table.
    pub fn new(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<Self, MeshError> {
        check_counts(vertices.len(), triangles.len())?;
        let vertices = check_coordinates(vertices)?;
        for (t, triangle) in triangles.iter().enumerate() {
            check_triangle(t, triangle, &vertices)?;
        }
        if let Some(&(second, first)) = duplicates(triangles).first() {
            let mut corners = triangles[first];
            corners.sort_unstable();
            return Err(MeshError::DuplicateTriangle { first, second, vertices: corners });
        }
        let edges = edges(triangles)?;
        let mesh = Mesh { vertices, triangles: triangles.to_vec(), edges, cells: None };
        mesh.check_fans()?;
        Ok(mesh)
    }

    /// Every vertex has exactly one fan of triangles.
    fn check_fans(&self) -> Result<(), MeshError> {
        let pairs = self.edges.iter().filter_map(|e| e.right.map(|right| (e.vertices, [e.left, right])));
        let fan_of = fans(&self.triangles, pairs);
        let mut count = vec![0usize; self.vertices.len()];
        for (corner, &vertex) in self.triangles.as_flattened().iter().enumerate() {
            if fan_of[corner] as usize == corner {
                count[vertex as usize] += 1;
            }
        }
        match (0..).zip(count).find(|(_, fans)| *fans != 1) {
            Some((vertex, 0)) => Err(MeshError::UnusedVertex { vertex }),
            Some((vertex, fans)) => Err(MeshError::BowTie { vertex, fans }),
            None => Ok(()),
        }
    }

    /// Positions `[m]`.
    pub fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }

    /// Positions `[m]` as plain arrays, as the simulators' border and pictures want them.
    pub fn positions(&self) -> Vec<[f64; 3]> {
        self.vertices.iter().map(|&x| x.into()).collect()
    }

    /// Corners, counter-clockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Every edge once, in order of the numbers of its ends.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Edges with a single triangle.
    pub fn boundary_edges(&self) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(|edge| edge.right.is_none())
    }

    /// Edges with two triangles, and the corners opposite to them.
    pub fn hinges(&self) -> impl Iterator<Item = Hinge> {
        self.edges.iter().filter_map(|edge| {
            let triangles = [edge.left, edge.right?];
            let away = |t: u32| self.triangles[t as usize].into_iter().find(|v| !edge.vertices.contains(v));
            let opposite = triangles.map(|t| away(t).expect("a triangle has three corners"));
            Some(Hinge { edge: edge.vertices, opposite, triangles })
        })
    }

    /// Triangles of each island, islands in order of their first triangle.
    pub fn islands(&self) -> Vec<Vec<u32>> {
        let pairs = self.edges.iter().filter_map(|edge| edge.right.map(|right| [edge.left, right]));
        let island_of = islands(self.triangles.len(), pairs);
        let (mut all, mut place): (Vec<Vec<u32>>, _) = (vec![], vec![0; self.triangles.len()]);
        for (triangle, &first) in (0..).zip(&island_of) {
            if first == triangle {
                place[triangle as usize] = all.len();
                all.push(vec![]);
            }
            all[place[first as usize]].push(triangle);
        }
        all
    }

    /// Whether there is no boundary.
    pub fn is_closed(&self) -> bool {
        self.edges.iter().all(|edge| edge.right.is_some())
    }

    /// Vertices - edges + triangles: 2 for each closed island without handles, 1 for each disc.
    pub fn euler_characteristic(&self) -> i64 {
        self.vertices.len() as i64 - self.edges.len() as i64 + self.triangles.len() as i64
    }

    /// Enclosed volume `[m³]`, negative where closed islands are inside out; none for an open mesh.
    pub fn volume(&self) -> Option<f64> {
        // V = 1/6 Σ (a x b) · c, seen from a point nearby to lose fewer digits.
        let origin = self.vertices[0];
        let of_triangle = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| self.vertices[i as usize] - origin);
            a.cross(&b).dot(&c) / 6.0
        };
        self.is_closed().then(|| self.triangles.iter().map(of_triangle).sum())
    }

    /// Area `[m²]`.
    pub fn area(&self) -> f64 {
        self.triangles.iter().map(|t| area_and_longest(t, &self.vertices).0).sum()
    }

    /// Least and greatest coordinates `[m]`.
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        let first = self.vertices[0];
        let (low, high) = self.vertices.iter().fold((first, first), |(low, high), x| (low.inf(x), high.sup(x)));
        [low.into(), high.into()]
    }

    /// The mesh moved by `offset` `[m]`.
    ///
    /// # Errors
    ///
    /// When it would leave the range of coordinates, or so far away that triangles lose their area to rounding.
    pub fn at(self, offset: [f64; 3]) -> Result<Self, MeshError> {
        self.mapped(|x| x + Vector3::from(offset))
    }

    /// The mesh turned by `angle` `[rad]` around `axis` through the origin, which need not be of unit length.
    ///
    /// # Errors
    ///
    /// When that is no rotation: the axis is zero, or a number is not finite.
    pub fn turned(self, axis: [f64; 3], angle: f64) -> Result<Self, MeshError> {
        let axis = Vector3::from(axis);
        // Divided first, so that no square over- or underflows.
        let turn = UnitQuaternion::from_axis_angle(&Unit::new_normalize(axis / axis.amax()), angle);
        self.mapped(|x| turn * x)
    }

    /// The mesh scaled about the origin: by 0.001, from millimetres to metres.
    ///
    /// # Errors
    ///
    /// When the factor is not positive and finite, or as of [`Mesh::at`].
    pub fn scaled(self, factor: f64) -> Result<Self, MeshError> {
        if !(factor.is_finite() && factor > 0.0) {
            return Err(MeshError::Factor { value: factor });
        }
        self.mapped(|x| factor * x)
    }

    /// Several meshes as islands of one: vertices and triangles of the first, then of the next.
    ///
    /// # Errors
    ///
    /// As of [`Mesh::new`]: together they are none, or have more vertices than there are numbers.
    pub fn joined(meshes: &[Self]) -> Result<Self, MeshError> {
        let (mut vertices, mut triangles) = (vec![], vec![]);
        for mesh in meshes {
            let first = vertices.len() as u32;
            vertices.extend(mesh.positions());
            triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| first.saturating_add(v))));
        }
        Self::new(&vertices, &triangles)
    }

    /// Same topology, other places.
    fn mapped(mut self, map: impl Fn(Vector3<f64>) -> Vector3<f64>) -> Result<Self, MeshError> {
        let moved: Vec<[f64; 3]> = self.vertices.iter().map(|&x| map(x).into()).collect();
        self.vertices = check_coordinates(&moved)?;
        for (t, triangle) in self.triangles.iter().enumerate() {
            check_triangle(t, triangle, &self.vertices)?;
        }
        Ok(self)
    }

    /// Vertices along one side of a [`Mesh::grid`]: left to right, or top to bottom.
    ///
    /// # Errors
    ///
    /// [`MeshError::NotAGrid`] for other meshes.
    pub fn edge(&self, side: Side) -> Result<Vec<u32>, MeshError> {
        let [across, down] = self.cells.ok_or(MeshError::NotAGrid)?;
        let row = across + 1;
        Ok(match side {
            Side::Top => (0..=across).collect(),
            Side::Bottom => (0..=across).map(|i| down * row + i).collect(),
            Side::Left => (0..=down).map(|j| j * row).collect(),
            Side::Right => (0..=down).map(|j| j * row + across).collect(),
        })
    }
}

/// Before anything is computed with or allocated for these many.
pub(crate) fn check_counts(vertices: usize, triangles: usize) -> Result<(), MeshError> {
    if triangles == 0 {
        return Err(MeshError::Empty);
    }
    // Corners are numbered too.
    for (things, count, limit) in
        [("vertices", vertices, u32::MAX as usize), ("triangles", triangles, u32::MAX as usize / 3)]
    {
        if count > limit {
            return Err(MeshError::TooMany { things, count, limit });
        }
    }
    Ok(())
}

pub(crate) fn check_coordinates(vertices: &[[f64; 3]]) -> Result<Vec<Vector3<f64>>, MeshError> {
    match vertices.iter().position(|x| !x.iter().all(|c| c.abs() <= LARGEST)) {
        Some(vertex) => Err(MeshError::Coordinate { vertex, position: vertices[vertex] }),
        None => Ok(vertices.iter().map(|&x| x.into()).collect()),
    }
}

pub(crate) fn check_index(t: usize, triangle: &[u32; 3], vertices: usize) -> Result<(), MeshError> {
    match triangle.iter().find(|&&vertex| vertex as usize >= vertices) {
        Some(&vertex) => Err(MeshError::Index { triangle: t, vertex, vertices }),
        None => Ok(()),
    }
}

/// Indices in range, three different corners, an area.
pub(crate) fn check_triangle(t: usize, triangle: &[u32; 3], vertices: &[Vector3<f64>]) -> Result<(), MeshError> {
    check_index(t, triangle, vertices.len())?;
    let &[a, b, c] = triangle;
    if a == b || c == a || b == c {
        return Err(MeshError::RepeatedVertex { triangle: t, vertex: if a == b { a } else { c } });
    }
    let (area, longest) = area_and_longest(triangle, vertices);
    let bound = FLATTEST * longest * longest;
    if area > bound { Ok(()) } else { Err(MeshError::ZeroArea { triangle: t, area, bound }) }
}

/// Area `[m²]` and longest edge `[m]`.
fn area_and_longest(triangle: &[u32; 3], vertices: &[Vector3<f64>]) -> (f64, f64) {
    let [a, b, c] = triangle.map(|i| vertices[i as usize]);
    let (ab, ac, bc) = (b - a, c - a, c - b);
    let longest = ab.norm().max(ac.norm()).max(bc.norm());
    // Divided first: the square of an area leaves the range of numbers long before the area does.
    (0.5 * (ab / longest).cross(&(ac / longest)).norm() * longest * longest, longest)
}

/// Triangles with the corners of an earlier one: (this, the earlier one), in order.
pub(crate) fn duplicates(triangles: &[[u32; 3]]) -> Vec<(usize, usize)> {
    let mut sorted: Vec<([u32; 3], usize)> = triangles.iter().copied().zip(0..).collect();
    sorted.iter_mut().for_each(|(corners, _)| corners.sort_unstable());
    sorted.sort_unstable();
    let alike = sorted.chunk_by(|a, b| a.0 == b.0);
    let mut found: Vec<(usize, usize)> = alike.flat_map(|group| group[1..].iter().map(|t| (t.1, group[0].1))).collect();
    found.sort_unstable();
    found
}
