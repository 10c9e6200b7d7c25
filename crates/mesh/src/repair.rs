//! Mending what users bring: from a heap of triangles to a mesh, with a list of what was done.

use std::collections::HashMap;
use std::fmt;

use nalgebra::Vector3;

use crate::mesh::{check_coordinates, check_counts, check_index, check_triangle, duplicates};
use crate::topology::{HalfEdge, at_edges, fans, half_edges, non_manifold};
use crate::{Mesh, MeshError};

/// One thing that [`Mesh::repaired`] did. Vertices and triangles are numbered as they were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// This vertex was at the place of an earlier one, which took over.
    Welded {
        /// The vertex that is gone.
        vertex: u32,
        /// The earlier one.
        into: u32,
    },
    /// This triangle had a corner twice, or no area.
    DroppedFlat {
        /// The triangle that is gone.
        triangle: usize,
    },
    /// This triangle had the corners of an earlier one.
    DroppedDuplicate {
        /// The triangle that is gone.
        triangle: usize,
        /// The earlier one.
        of: usize,
    },
    /// This triangle was turned, so that its island has one outside.
    Turned {
        /// The triangle.
        triangle: usize,
    },
    /// This vertex joined several fans of triangles; all but the first got a copy.
    Split {
        /// The vertex.
        vertex: u32,
        /// Copies made.
        copies: usize,
    },
    /// This vertex was in no triangle that is left.
    DroppedVertex {
        /// The vertex that is gone.
        vertex: u32,
    },
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Repair::Welded { vertex, into } => write!(f, "vertex {vertex} welded into vertex {into} at the same place"),
            Repair::DroppedFlat { triangle } => write!(f, "triangle {triangle} dropped: it has no area"),
            Repair::DroppedDuplicate { triangle, of } => {
                write!(f, "triangle {triangle} dropped: it has the corners of triangle {of}")
            }
            Repair::Turned { triangle } => write!(f, "triangle {triangle} turned to have its outside outside"),
            Repair::Split { vertex, copies } => {
                write!(f, "vertex {vertex} got {copies} copies, one for each further fan of triangles")
            }
            Repair::DroppedVertex { vertex } => write!(f, "vertex {vertex} dropped: it belongs to no triangle"),
        }
    }
}

/// Vertices nearer than this, relative to the diagonal of the bounds `[-]`, are at one place: some rounding in single
/// precision.
const WELD: f64 = 2e-7;

impl Mesh {
    /// Makes a mesh of triangles that [`Mesh::new`] may refuse, and tells what it took. In this order:
    /// vertices at one place (nearer than 2e-7 of the diagonal) are welded, triangles that are flat or appear twice are
    /// dropped, neighbours are turned to agree and closed islands so that they enclose a positive volume, bow-ties are
    /// split, unused vertices dropped. Vertices and triangles that stay keep their order; copies come last.
    ///
    /// An open island keeps the orientation of its first triangle. A slit between vertices at one place is closed.
    ///
    /// # Errors
    ///
    /// What cannot be mended without guessing: coordinates that are not finite, indices out of range, an edge with more
    /// than two triangles, a surface with only one side, or nothing left.
    pub fn repaired(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<(Self, Vec<Repair>), MeshError> {
        check_counts(vertices.len(), triangles.len())?;
        let positions = check_coordinates(vertices)?;
        for (t, triangle) in triangles.iter().enumerate() {
            check_index(t, triangle, positions.len())?;
        }

        let mut repairs = vec![];
        let into = weld(&positions, &mut repairs);
        let mut kept = drop_useless(triangles, &into, &positions, &mut repairs);
        if kept.is_empty() {
            return Err(MeshError::Empty);
        }
        orient(&mut kept, &positions, &mut repairs)?;
        let mut corners: Vec<[u32; 3]> = kept.iter().map(|kept| kept.corners).collect();
        let originals = split_bow_ties(&mut corners, positions.len(), &mut repairs)?;
        let (vertices, triangles) = drop_unused(vertices, &originals, &corners, &into, &mut repairs);
        Ok((Mesh::new(&vertices, &triangles)?, repairs))
    }
}

/// A triangle that stays, with its first number.
struct Kept {
    corners: [u32; 3],
    number: usize,
}

/// For each vertex, the first one at its place.
fn weld(positions: &[Vector3<f64>], repairs: &mut Vec<Repair>) -> Vec<u32> {
    let low = positions.iter().fold(positions[0], |low, x| low.inf(x));
    let high = positions.iter().fold(positions[0], |high, x| high.sup(x));
    let tolerance = WELD * (high - low).norm();
    // Boxes of twice the tolerance: what is near lies in this box or a neighbour. All at one place: a single box.
    let width = if tolerance > 0.0 { 2.0 * tolerance } else { 1.0 };
    let box_of = |x: &Vector3<f64>| -> [i64; 3] { ((x - low) / width).map(|c| c.floor() as i64).into() };

    // Only vertices that stay are in a box, so that chains of near ones do not collapse.
    let mut boxes: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    let mut into = Vec::with_capacity(positions.len());
    for (vertex, x) in (0..).zip(positions) {
        let [i, j, k] = box_of(x);
        let neighbours = (0..27).map(|n| [i + n % 3 - 1, j + n / 3 % 3 - 1, k + n / 9 - 1]);
        let near = neighbours
            .filter_map(|place| boxes.get(&place))
            .flatten()
            .filter(|&&other| (positions[other as usize] - x).norm() <= tolerance)
            .min();
        match near {
            Some(&first) => {
                repairs.push(Repair::Welded { vertex, into: first });
                into.push(first);
            }
            None => {
                boxes.entry([i, j, k]).or_default().push(vertex);
                into.push(vertex);
            }
        }
    }
    into
}

/// Triangles with three different corners, an area, and no earlier twin.
fn drop_useless(
    triangles: &[[u32; 3]],
    into: &[u32],
    positions: &[Vector3<f64>],
    repairs: &mut Vec<Repair>,
) -> Vec<Kept> {
    let welded = triangles.iter().map(|corners| corners.map(|i| into[i as usize]));
    let mut kept: Vec<Kept> = vec![];
    for (number, corners) in welded.enumerate() {
        if check_triangle(number, &corners, positions).is_ok() {
            kept.push(Kept { corners, number });
        } else {
            repairs.push(Repair::DroppedFlat { triangle: number });
        }
    }
    let corners: Vec<[u32; 3]> = kept.iter().map(|kept| kept.corners).collect();
    let mut twin = vec![false; kept.len()];
    for (second, first) in duplicates(&corners) {
        twin[second] = true;
        repairs.push(Repair::DroppedDuplicate { triangle: kept[second].number, of: kept[first].number });
    }
    let mut twins = twin.into_iter();
    kept.retain(|_| !twins.next().unwrap_or(false));
    kept
}

/// Turns triangles until neighbours agree, then closed islands that are inside out.
fn orient(kept: &mut [Kept], positions: &[Vector3<f64>], repairs: &mut Vec<Repair>) -> Result<(), MeshError> {
    let corners: Vec<[u32; 3]> = kept.iter().map(|kept| kept.corners).collect();
    let halves = half_edges(&corners);
    let numbered = |half: &HalfEdge| HalfEdge { triangle: kept[half.triangle as usize].number as u32, ..*half };
    if let Some(meeting) = at_edges(&halves).find(|meeting| meeting.len() > 2) {
        return Err(non_manifold(&meeting.iter().map(numbered).collect::<Vec<_>>()));
    }

    // Neighbours, and whether they disagree.
    let mut neighbours: Vec<Vec<(u32, bool)>> = vec![vec![]; kept.len()];
    let mut open = vec![false; kept.len()];
    for meeting in at_edges(&halves) {
        match meeting {
            [a, b] => {
                neighbours[a.triangle as usize].push((b.triangle, a.forward == b.forward));
                neighbours[b.triangle as usize].push((a.triangle, a.forward == b.forward));
            }
            _ => open[meeting[0].triangle as usize] = true,
        }
    }

    let mut turned: Vec<Option<bool>> = vec![None; kept.len()];
    for first in 0..kept.len() {
        if turned[first].is_some() {
            continue;
        }
        turned[first] = Some(false);
        let mut island = vec![first];
        let mut next = 0;
        while let Some(&triangle) = island.get(next) {
            next += 1;
            for &(neighbour, disagrees) in &neighbours[triangle] {
                let neighbour = neighbour as usize;
                if turned[neighbour].is_none() {
                    turned[neighbour] = turned[triangle].map(|turned| turned != disagrees);
                    island.push(neighbour);
                }
            }
        }
        if island.iter().all(|&t| !open[t]) {
            // Six times the volume, with the turns so far.
            let origin = positions[corners[first][0] as usize];
            let volume: f64 = island
                .iter()
                .map(|&t| {
                    let [a, b, c] = corners[t].map(|i| positions[i as usize] - origin);
                    let volume = a.cross(&b).dot(&c);
                    if turned[t] == Some(true) { -volume } else { volume }
                })
                .sum();
            if volume < 0.0 {
                island.iter().for_each(|&t| turned[t] = turned[t].map(|turned| !turned));
            }
        }
    }

    for meeting in at_edges(&halves) {
        if let [a, b] = meeting {
            let run = |half: &HalfEdge| half.forward != (turned[half.triangle as usize] == Some(true));
            if run(a) == run(b) {
                let triangle = kept[a.triangle as usize].number;
                return Err(MeshError::OneSided { vertices: a.ends, triangle });
            }
        }
    }
    for (kept, _) in kept.iter_mut().zip(&turned).filter(|(_, turned)| **turned == Some(true)) {
        kept.corners.swap(1, 2);
        repairs.push(Repair::Turned { triangle: kept.number });
    }
    Ok(())
}

/// Gives each further fan of a vertex a copy of it. Returns, for each copy, the vertex that it copies.
fn split_bow_ties(corners: &mut [[u32; 3]], vertices: usize, repairs: &mut Vec<Repair>) -> Result<Vec<u32>, MeshError> {
    let halves = half_edges(corners);
    let pairs = at_edges(&halves).filter_map(|meeting| match meeting {
        [a, b] => Some((a.ends, [a.triangle, b.triangle])),
        _ => None,
    });
    let fan_of = fans(corners, pairs);

    let mut first_fan: Vec<Option<u32>> = vec![None; vertices];
    let mut copy_of_fan: HashMap<u32, u32> = HashMap::new();
    let mut originals: Vec<u32> = vec![];
    for (corner, vertex) in corners.as_flattened_mut().iter_mut().enumerate() {
        let fan = fan_of[corner];
        if *first_fan[*vertex as usize].get_or_insert(fan) != fan {
            let original = *vertex;
            *vertex = *copy_of_fan.entry(fan).or_insert_with(|| {
                originals.push(original);
                (vertices + originals.len() - 1) as u32
            });
        }
    }
    check_counts(vertices + originals.len(), corners.len())?;
    let mut sorted = originals.clone();
    sorted.sort_unstable();
    repairs.extend(sorted.chunk_by(|a, b| a == b).map(|same| Repair::Split { vertex: same[0], copies: same.len() }));
    Ok(originals)
}

/// Vertices that are in triangles, renumbered in their order.
fn drop_unused(
    vertices: &[[f64; 3]],
    originals: &[u32],
    corners: &[[u32; 3]],
    into: &[u32],
    repairs: &mut Vec<Repair>,
) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let mut used = vec![false; vertices.len() + originals.len()];
    corners.as_flattened().iter().for_each(|&i| used[i as usize] = true);
    let (mut positions, mut number) = (vec![], vec![0; used.len()]);
    for (vertex, &used) in used.iter().enumerate() {
        if used {
            number[vertex] = positions.len() as u32;
            let original = vertex.checked_sub(vertices.len()).map_or(vertex, |copy| originals[copy] as usize);
            positions.push(vertices[original]);
        } else if into[vertex] as usize == vertex {
            // Those that were welded are told of already.
            repairs.push(Repair::DroppedVertex { vertex: vertex as u32 });
        }
    }
    (positions, corners.iter().map(|corners| corners.map(|i| number[i as usize])).collect())
}
