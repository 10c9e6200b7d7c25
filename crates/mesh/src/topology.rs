//! Edges, fans and islands: who is whose neighbour.

use serde::{Deserialize, Serialize};

use crate::MeshError;

/// An edge with its one or two triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// Its ends; triangle `left` runs from the first to the second.
    pub vertices: [u32; 2],
    /// The triangle at its left, seen from outside.
    pub left: u32,
    /// The triangle at its right; none at a boundary.
    pub right: Option<u32>,
}

/// Two triangles that can bend about their common edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hinge {
    /// The common edge.
    pub edge: [u32; 2],
    /// The corners opposite to it, in the left and in the right triangle.
    pub opposite: [u32; 2],
    /// The left and the right triangle.
    pub triangles: [u32; 2],
}

/// A side of a triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HalfEdge {
    /// Ends in order of number.
    pub ends: [u32; 2],
    pub triangle: u32,
    /// The triangle runs from the lower to the higher end.
    pub forward: bool,
}

/// All sides of all triangles, those of one edge together, in order.
pub(crate) fn half_edges(triangles: &[[u32; 3]]) -> Vec<HalfEdge> {
    let mut halves = Vec::with_capacity(3 * triangles.len());
    for (triangle, &[a, b, c]) in (0..).zip(triangles) {
        for (i, j) in [(a, b), (b, c), (c, a)] {
            halves.push(HalfEdge { ends: [i.min(j), i.max(j)], triangle, forward: i < j });
        }
    }
    halves.sort_unstable();
    halves
}

/// The sides that meet at each edge.
pub(crate) fn at_edges(halves: &[HalfEdge]) -> impl Iterator<Item = &[HalfEdge]> {
    halves.chunk_by(|a, b| a.ends == b.ends)
}

/// Edges in order of their ends.
pub(crate) fn edges(triangles: &[[u32; 3]]) -> Result<Vec<Edge>, MeshError> {
    let halves = half_edges(triangles);
    let mut edges = Vec::with_capacity(halves.len() / 2 + 1);
    for meeting in at_edges(&halves) {
        let [low, high] = meeting[0].ends;
        let run = |forward: bool| if forward { [low, high] } else { [high, low] };
        edges.push(match *meeting {
            [one] => Edge { vertices: run(one.forward), left: one.triangle, right: None },
            [one, two] if one.forward != two.forward => {
                Edge { vertices: run(one.forward), left: one.triangle, right: Some(two.triangle) }
            }
            [one, two] => {
                let (first, second) = (one.triangle as usize, two.triangle as usize);
                return Err(MeshError::Flipped { vertices: [low, high], first, second });
            }
            _ => {
                let triangles = meeting.iter().map(|half| half.triangle as usize).collect();
                return Err(MeshError::NonManifoldEdge { vertices: [low, high], triangles });
            }
        });
    }
    Ok(edges)
}

/// Things that are joined step by step. A set is known by its smallest member.
pub(crate) struct Sets(Vec<u32>);

impl Sets {
    pub fn new(count: u32) -> Self {
        Sets((0..count).collect())
    }

    pub fn find(&mut self, mut i: u32) -> u32 {
        while self.0[i as usize] != i {
            let above = self.0[self.0[i as usize] as usize];
            self.0[i as usize] = above;
            i = above;
        }
        i
    }

    pub fn join(&mut self, i: u32, j: u32) {
        let (i, j) = (self.find(i), self.find(j));
        self.0[i.max(j) as usize] = i.min(j);
    }
}

/// For each corner of each triangle, the first corner of its fan: the triangles that one reaches around the corner's
/// vertex by crossing edges. `pairs` are the neighbours across each edge.
pub(crate) fn fans(triangles: &[[u32; 3]], pairs: impl Iterator<Item = ([u32; 2], [u32; 2])>) -> Vec<u32> {
    let mut sets = Sets::new(3 * triangles.len() as u32);
    let corner = |triangle: u32, vertex: u32| {
        let place = triangles[triangle as usize].iter().position(|&v| v == vertex);
        3 * triangle + place.expect("an edge's ends are corners of its triangles") as u32
    };
    for (ends, [one, two]) in pairs {
        for vertex in ends {
            sets.join(corner(one, vertex), corner(two, vertex));
        }
    }
    (0..3 * triangles.len() as u32).map(|corner| sets.find(corner)).collect()
}

/// Of so many things, triangles or vertices for example, the first of the island that each is in, where `pairs` belong together.
///
/// ```
/// use partita_mesh::islands;
///
/// assert_eq!(islands(5, [[3, 1], [4, 3]].into_iter()), [0, 1, 2, 1, 1]);
/// ```
///
/// # Panics
/// A pair is of something that there is not.
pub fn islands(count: usize, pairs: impl Iterator<Item = [u32; 2]>) -> Vec<u32> {
    let mut sets = Sets::new(count as u32);
    for [one, two] in pairs {
        sets.join(one, two);
    }
    (0..count as u32).map(|thing| sets.find(thing)).collect()
}
