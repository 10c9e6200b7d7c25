//! Seams: edges of the boundary that lie on each other without being joined, so that the surface falls apart there.

use std::collections::HashMap;
use std::fmt;

use nalgebra::Vector3;

use crate::Mesh;
use crate::repair::weld_tolerance;

type V3 = Vector3<f64>;

/// Most boxes along the diagonal of all.
const MOST_BOXES: f64 = 1e3;

/// Where a surface looks joined and is not. Vertices are numbered as in the mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Seam {
    /// Two edges of the boundary have their ends at the same places.
    Doubled {
        /// Ends of one edge.
        vertices: [u32; 2],
        /// Ends of the other, in the same order.
        others: [u32; 2],
        /// Where the first of them is `[m]`.
        position: [f64; 3],
    },
    /// A vertex lies on an edge of the boundary, as does one of its own edges.
    Junction {
        /// The vertex.
        vertex: u32,
        /// Ends of the edge on which it lies.
        edge: [u32; 2],
        /// Where it is `[m]`.
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
    /// Every seam of the mesh; [`Mesh::repaired`] mends them. Places are the same if nearer than it welds. A vertex that
    /// merely touches an edge makes none.
    pub fn seams(&self) -> Vec<Seam> {
        let x = self.vertices();
        let boundary: Vec<[u32; 2]> = self.boundary_edges().map(|edge| edge.vertices).collect();
        let tolerance = weld_tolerance(x);
        let (touches, edges) = (touches(x, &boundary, tolerance), by_end(&boundary));
        let at = |vertex: u32| -> [f64; 3] { x[vertex as usize].into() };
        let same = |a: u32, b: u32| a != b && (x[a as usize] - x[b as usize]).norm() <= tolerance;
        let mut seams = vec![];
        for (number, &[a, b]) in boundary.iter().enumerate() {
            let beside = touches[number].iter().filter(|touch| touch.at_end);
            for other in beside.flat_map(|touch| edges[&touch.vertex].iter().copied()) {
                let doubled = [other, [other[1], other[0]]].into_iter().find(|&[c, d]| same(a, c) && same(b, d));
                if let Some(others) = doubled.filter(|others| [a, b].iter().min() < others.iter().min()) {
                    let seam = Seam::Doubled { vertices: [a, b], others, position: at(a) };
                    if !seams.contains(&seam) {
                        seams.push(seam);
                    }
                }
            }
        }
        let junctions = junctions(x, &boundary, &touches, tolerance);
        let seam =
            |(number, vertex): (usize, u32)| Seam::Junction { vertex, edge: boundary[number], position: at(vertex) };
        seams.extend(junctions.into_iter().map(seam));
        seams
    }
}

/// A vertex of the boundary on an edge of it that is not its own.
pub(crate) struct Touch {
    vertex: u32,
    /// At an end, or between the ends.
    at_end: bool,
    /// Where on the edge, from 0 to 1.
    s: f64,
}

/// Vertices of the boundary on each of its edges, in order along that.
///
/// Vertices are sorted into boxes as wide as a mean edge; an edge looks around points on it that are a box apart.
pub(crate) fn touches(x: &[V3], boundary: &[[u32; 2]], tolerance: f64) -> Vec<Vec<Touch>> {
    let place = |vertex: u32| x[vertex as usize];
    let way_of = |&[a, b]: &[u32; 2]| place(b) - place(a);
    let Some(&[first, _]) = boundary.first() else { return vec![] };
    let corners = boundary.as_flattened().iter().map(|&vertex| place(vertex));
    let (low, high) = corners.fold((place(first), place(first)), |(low, high), x| (low.inf(&x), high.sup(&x)));
    let mean = boundary.iter().map(|edge| way_of(edge).norm()).sum::<f64>() / boundary.len() as f64;
    let width = mean.max((high - low).norm() / MOST_BOXES).max(4.0 * tolerance);
    let box_of = |x: V3| -> [i64; 3] { ((x - low) / width).map(|c| c.floor() as i64).into() };
    let mut boxes: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    for &vertex in boundary.as_flattened() {
        let here = boxes.entry(box_of(place(vertex))).or_default();
        if !here.contains(&vertex) {
            here.push(vertex);
        }
    }
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

/// Edges, by number, and vertices that lie between their ends, as does an edge of the vertex.
pub(crate) fn junctions(x: &[V3], boundary: &[[u32; 2]], touches: &[Vec<Touch>], tolerance: f64) -> Vec<(usize, u32)> {
    let (mut found, edges) = (vec![], by_end(boundary));
    for (number, (&[a, b], on)) in boundary.iter().zip(touches).enumerate() {
        let is_at = |vertex: u32| {
            let near = |end: u32| vertex == end || (x[vertex as usize] - x[end as usize]).norm() <= tolerance;
            near(a) || near(b) || on.iter().any(|touch| touch.vertex == vertex)
        };
        for touch in on.iter().filter(|touch| !touch.at_end) {
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

/// Whether a vertex lies on an edge.
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
