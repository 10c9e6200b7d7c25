//! Seams: boundary edges that coincide without sharing vertices, so that the surface is
//! disconnected.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use nalgebra::Vector3;

use crate::Mesh;
use crate::repair::{weld, weld_tolerance};

type V3 = Vector3<f64>;

/// Largest number of boxes along an edge, on average over all edges. Heuristic.
const MOST_BOXES: f64 = 64.0;

/// Seam: coincident boundary edges that are not connected. Vertices are numbered as in the mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Seam {
    /// Two boundary edges with coincident ends and different vertices.
    Doubled {
        /// Ends of one edge.
        vertices: [u32; 2],
        /// Ends of the other, in the same order.
        others: [u32; 2],
        /// Position of the first vertex `[m]`.
        position: [f64; 3],
    },
    /// T junction: a vertex and one of its edges lie on another boundary edge.
    Junction {
        /// The vertex.
        vertex: u32,
        /// Ends of the edge on which it lies.
        edge: [u32; 2],
        /// Position of the vertex `[m]`.
        position: [f64; 3],
    },
}

impl fmt::Display for Seam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Doubled { vertices, others, position } => {
                write!(f, "edges {vertices:?} and {others:?} at {position:?} m lie on each other and are not joined")
            }
            Self::Junction { vertex, edge, position } => {
                write!(f, "vertex {vertex} at {position:?} m lies on edge {edge:?} and is not joined to it")
            }
        }
    }
}

impl Mesh {
    /// Seams of the mesh, which [`Mesh::repaired`] joins. Positions coincide within its welding
    /// tolerance. A vertex on an edge is no seam unless one of its own edges lies along that edge.
    pub fn seams(&self) -> Vec<Seam> {
        let x = self.vertices();
        let boundary: Vec<[u32; 2]> = self.boundary_edges().map(|edge| edge.vertices).collect();
        let triangles: Vec<[u32; 3]> = self.boundary_edges().map(|edge| self.triangles()[edge.left as usize]).collect();
        let tolerance = weld_tolerance(x);
        let at = |vertex: u32| -> [f64; 3] { x[vertex as usize].into() };
        let mut seams = vec![];
        // The first edge between two welded places.
        let into = weld(x, tolerance, &mut vec![]);
        let mut known: HashMap<[u32; 2], [u32; 2]> = HashMap::new();
        for &[a, b] in &boundary {
            let [p, q] = [into[a as usize], into[b as usize]];
            let vertices = if p <= q { [a, b] } else { [b, a] };
            match known.entry([p.min(q), p.max(q)]) {
                Entry::Occupied(first) if p != q => {
                    seams.push(Seam::Doubled {
                        vertices: *first.get(),
                        others: vertices,
                        position: at(first.get()[0]),
                    });
                }
                Entry::Occupied(_) => {}
                Entry::Vacant(place) => _ = place.insert(vertices),
            }
        }
        let seam =
            |(number, vertex): (usize, u32)| Seam::Junction { vertex, edge: boundary[number], position: at(vertex) };
        seams.extend(junctions(x, &boundary, &triangles, tolerance).into_iter().map(seam));
        seams
    }
}

/// Boundary vertex that lies on a boundary edge of which it is no end.
struct Touch {
    vertex: u32,
    /// Whether the vertex coincides with an end of the edge.
    at_end: bool,
    /// Position along the edge, from 0 to 1 `[-]`.
    s: f64,
}

/// Touching vertices of each boundary edge, ordered along the edge.
///
/// Vertices are hashed into a grid with cells of the median edge length. Each edge queries the cells
/// around sample points one cell apart.
fn touches(x: &[V3], boundary: &[[u32; 2]], tolerance: f64) -> Vec<Vec<Touch>> {
    let place = |vertex: u32| x[vertex as usize];
    let way_of = |&[a, b]: &[u32; 2]| place(b) - place(a);
    let Some(&[first, _]) = boundary.first() else { return vec![] };
    let corners = boundary.as_flattened().iter().map(|&vertex| place(vertex));
    let low = corners.fold(place(first), |low, x| low.inf(&x));
    let mut lengths: Vec<f64> = boundary.iter().map(|edge| way_of(edge).norm()).collect();
    lengths.sort_by(f64::total_cmp);
    let most = MOST_BOXES * boundary.len() as f64;
    let width = lengths[lengths.len() / 2].max(4.0 * tolerance).max(lengths.iter().sum::<f64>() / most);
    let box_of = |x: V3| -> [i64; 3] { ((x - low) / width).map(|c| c.floor() as i64).into() };
    let mut boxes: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    let mut vertices: Vec<u32> = boundary.as_flattened().to_vec();
    vertices.sort_unstable();
    vertices.dedup();
    vertices.iter().for_each(|&vertex| boxes.entry(box_of(place(vertex))).or_default().push(vertex));
    let on = |edge: &[u32; 2]| {
        let (&[a, b], way) = (edge, way_of(edge));
        let steps = (way.norm() / width).ceil().max(1.0) as u32;
        let mut near: Vec<u32> = (0..=steps)
            .flat_map(|k| {
                let [i, j, k] = box_of(place(a) + f64::from(k) / f64::from(steps) * way);
                (0..27).map(move |n| [i + n % 3 - 1, j + n / 3 % 3 - 1, k + n / 9 - 1])
            })
            .filter_map(|place| boxes.get(&place))
            .flatten()
            .copied()
            .collect();
        near.sort_unstable();
        near.dedup();
        let touch = |vertex: u32| {
            let from = place(vertex) - place(a);
            let s = (from.dot(&way) / way.norm_squared()).clamp(0.0, 1.0);
            let is_on = vertex != a && vertex != b && (from - s * way).norm() <= tolerance;
            let at_end = from.norm().min((place(vertex) - place(b)).norm()) <= tolerance;
            is_on.then_some(Touch { vertex, at_end, s })
        };
        let mut touches: Vec<Touch> = near.into_iter().filter_map(touch).collect();
        touches.sort_by(|a, b| a.s.total_cmp(&b.s));
        touches
    };
    boundary.iter().map(on).collect()
}

/// T junctions: number of the boundary edge, and a vertex between its ends with an edge along it. `triangles` are those
/// of the edges.
pub(crate) fn junctions(x: &[V3], boundary: &[[u32; 2]], triangles: &[[u32; 3]], tolerance: f64) -> Vec<(usize, u32)> {
    let (mut found, edges) = (vec![], by_end(boundary));
    for (number, (&[a, b], on)) in boundary.iter().zip(&touches(x, boundary, tolerance)).enumerate() {
        let is_at = |vertex: u32| {
            let near = |end: u32| vertex == end || (x[vertex as usize] - x[end as usize]).norm() <= tolerance;
            near(a) || near(b) || on.iter().any(|touch| touch.vertex == vertex)
        };
        // A flat triangle has its own corner on its longest edge.
        let is_other = |touch: &&Touch| !touch.at_end && !triangles[number].contains(&touch.vertex);
        for touch in on.iter().filter(is_other) {
            let v = touch.vertex;
            let is_along = |&[c, d]: &[u32; 2]| {
                is_at(if c == v { d } else { c }) || [a, b].iter().any(|&end| is_between(x, end, [c, d], tolerance))
            };
            if edges[&v].iter().any(is_along) {
                found.push((number, v));
            }
        }
    }
    found
}

/// Whether a vertex lies on an edge, within the tolerance.
fn is_between(x: &[V3], vertex: u32, [a, b]: [u32; 2], tolerance: f64) -> bool {
    let [vertex, a, b] = [vertex, a, b].map(|vertex| x[vertex as usize]);
    let s = ((vertex - a).dot(&(b - a)) / (b - a).norm_squared()).clamp(0.0, 1.0);
    (vertex - a.lerp(&b, s)).norm() <= tolerance
}

/// Edges of the boundary by end.
fn by_end(boundary: &[[u32; 2]]) -> HashMap<u32, Vec<[u32; 2]>> {
    let mut edges: HashMap<u32, Vec<[u32; 2]>> = HashMap::new();
    for edge in boundary {
        edge.iter().for_each(|&end| edges.entry(end).or_default().push(*edge));
    }
    edges
}
