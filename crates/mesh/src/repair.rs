//! Mending what users bring: from a heap of triangles to a mesh, with a list of what was done.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;

use nalgebra::Vector3;

use crate::mesh::{check_coordinates, check_counts, check_index, check_triangle, duplicates};
use crate::polygon::cut;
use crate::seams::junctions;
use crate::shells::{Shell, inside_out};
use crate::topology::{HalfEdge, at_edges, fans, half_edges, islands};
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
    /// This vertex lay on an edge of the boundary, and was made a corner of its triangle.
    Joined {
        /// The vertex.
        vertex: u32,
        /// Ends of the edge.
        edge: [u32; 2],
    },
    /// More than two triangles met at this edge, and were parted there.
    Parted {
        /// Its ends.
        vertices: [u32; 2],
        /// How many triangles met.
        triangles: usize,
    },
    /// The surface had only one side, and was cut along this edge.
    Cut {
        /// Its ends.
        vertices: [u32; 2],
    },
    /// This vertex joined several fans of triangles; all but the first got a copy.
    Split {
        /// The vertex.
        vertex: u32,
        /// Copies made.
        copies: usize,
    },
    /// This triangle was turned, so that its island has one outside.
    Turned {
        /// The triangle.
        triangle: usize,
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
            Repair::Joined { vertex, edge } => write!(f, "vertex {vertex} joined to edge {edge:?}, on which it lay"),
            Repair::Parted { vertices, triangles } => {
                write!(f, "edge {vertices:?} parted: {triangles} triangles met there, at most 2 are possible")
            }
            Repair::Cut { vertices } => write!(f, "edge {vertices:?} cut: the surface had only one side"),
            Repair::Split { vertex, copies } => {
                write!(f, "vertex {vertex} got {copies} copies, one for each further fan of triangles")
            }
            Repair::Turned { triangle } => write!(f, "triangle {triangle} turned to have its outside outside"),
            Repair::DroppedVertex { vertex } => write!(f, "vertex {vertex} dropped: it belongs to no triangle"),
        }
    }
}

/// Rounding of each coordinate to a neighbour in single precision moves a vertex by at most this, relative to the
/// largest coordinate `[-]`: √3 · 2⁻²³.
const WELD: f64 = 2.1e-7;

impl Mesh {
    /// Makes a mesh of triangles that [`Mesh::new`] may refuse, and tells what it took. In this order: vertices at one
    /// place are welded, triangles that are flat or appear twice are dropped, edges of the boundary joined with vertices that lie on
    /// them ([`Mesh::seams`]), edges with too many triangles parted,
    /// neighbours turned to agree and one-sided surfaces cut, vertices split where their triangles fall apart, closed
    /// islands turned so that solids face outwards and cavities inwards, unused vertices dropped. Vertices and
    /// triangles that stay keep their order; copies come last.
    ///
    /// Vertices are at one place if nearer than 2.1e-7 of the largest coordinate (2 mm at 10 km), which single
    /// precision cannot tell apart, and than 2.1e-7 of the diagonal of the bounds, so that details stay far from the
    /// origin.
    ///
    /// Where more than two triangles meet at an edge, which of them were meant as neighbours cannot be known:
    /// directions and angles would be guesses, as in a corner of three walls. So all are parted there, except that two
    /// stay neighbours if they are the only ones there of one piece, that is, hang together elsewhere, over edges with
    /// two triangles. Boxes that touch along an edge so become closed boxes, and a fin leaves its box closed.
    ///
    /// A one-sided surface is cut where a walk over it from its first triangle meets itself and disagrees; it goes
    /// breadth first, so the cut is short.
    ///
    /// What is parted or cut gets vertices of its own, as far as that falls apart: around a lone edge within a surface,
    /// both ends of which stay whole, two triangles remain neighbours.
    ///
    /// An open island keeps the orientation of its first triangle. A closed one within a solid is the wall of a cavity
    /// if most of its triangles were given facing the other way than those around it, else a second solid; within a
    /// cavity it is a core; within nothing, a solid. A body that was given inside out as a whole so keeps its cavities;
    /// a room given facing inwards, with things in it that face outwards, is taken for one. A slit that was given is
    /// closed by welding.
    ///
    /// # Errors
    ///
    /// Coordinates that are not finite, indices out of range, no triangle left, or more than `u32` can count.
    pub fn repaired(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<(Self, Vec<Repair>), MeshError> {
        check_counts(vertices.len(), triangles.len())?;
        let positions = check_coordinates(vertices)?;
        for (t, triangle) in triangles.iter().enumerate() {
            check_index(t, triangle, positions.len())?;
        }

        let mut repairs = vec![];
        let tolerance = weld_tolerance(&positions);
        let into = weld(&positions, tolerance, &mut repairs);
        let mut corners: Vec<[u32; 3]> = triangles.iter().map(|corners| corners.map(|i| into[i as usize])).collect();
        let mut numbers: Vec<usize> = (0..corners.len()).collect();
        drop_useless(&mut corners, &mut numbers, &positions, &mut repairs);
        if corners.is_empty() {
            return Err(MeshError::Empty);
        }
        join_junctions(&mut corners, &mut numbers, &positions, tolerance, &mut repairs);
        drop_useless(&mut corners, &mut numbers, &positions, &mut repairs);
        let mut neighbours = part_edges(&corners, &mut repairs);
        let mut turned = turn_to_agree(corners.len(), &neighbours);
        cut_seams(&mut neighbours, &turned, &mut repairs);
        let originals = split_vertices(&mut corners, &neighbours, positions.len(), &mut repairs)?;
        turn_outwards(&mut turned, &corners, &positions, &originals, tolerance);
        for (t, _) in turned.iter().enumerate().filter(|(_, turned)| **turned) {
            corners[t].swap(1, 2);
            repairs.push(Repair::Turned { triangle: numbers[t] });
        }
        let (vertices, triangles) = drop_unused(vertices, &originals, &corners, &into, &mut repairs);
        Ok((Mesh::new(&vertices, &triangles)?, repairs))
    }
}

/// Vertices nearer than this `[m]` are at one place.
///
/// Relative to the largest coordinate, since that is what single precision resolves: 2 mm at 10 km. Something small far
/// from the origin can only have come in double precision; relative to its own size, so that its details stay.
pub(crate) fn weld_tolerance(positions: &[Vector3<f64>]) -> f64 {
    let Some(&first) = positions.first() else { return 0.0 };
    let (low, high) = positions.iter().fold((first, first), |(low, high), x| (low.inf(x), high.sup(x)));
    WELD * low.amax().max(high.amax()).min((high - low).norm())
}

/// For each vertex, the first one at its place.
pub(crate) fn weld(positions: &[Vector3<f64>], tolerance: f64, repairs: &mut Vec<Repair>) -> Vec<u32> {
    let low = positions.iter().fold(positions[0], |low, x| low.inf(x));
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

/// Retains triangles with three different corners, a positive area and no earlier duplicate.
fn drop_useless(
    corners: &mut Vec<[u32; 3]>,
    numbers: &mut Vec<usize>,
    positions: &[Vector3<f64>],
    repairs: &mut Vec<Repair>,
) {
    let mut kept = vec![true; corners.len()];
    for (t, triangle) in corners.iter().enumerate() {
        if check_triangle(t, triangle, positions).is_err() {
            kept[t] = false;
            repairs.push(Repair::DroppedFlat { triangle: numbers[t] });
        }
    }
    retain(corners, numbers, &kept);
    let mut kept = vec![true; corners.len()];
    for (second, first) in duplicates(corners) {
        kept[second] = false;
        repairs.push(Repair::DroppedDuplicate { triangle: numbers[second], of: numbers[first] });
    }
    retain(corners, numbers, &kept);
}

fn retain(corners: &mut Vec<[u32; 3]>, numbers: &mut Vec<usize>, kept: &[bool]) {
    let mut all = kept.iter();
    corners.retain(|_| all.next().is_some_and(|kept| *kept));
    let mut all = kept.iter();
    numbers.retain(|_| all.next().is_some_and(|kept| *kept));
}

/// Resolves T junctions: boundary vertices on another boundary edge become corners of its triangle,
/// which is triangulated again. New triangles keep the number of the triangle that they replace.
fn join_junctions(
    corners: &mut Vec<[u32; 3]>,
    numbers: &mut Vec<usize>,
    positions: &[Vector3<f64>],
    tolerance: f64,
    repairs: &mut Vec<Repair>,
) {
    let halves = half_edges(corners);
    let open: Vec<HalfEdge> =
        at_edges(&halves).filter(|meeting| meeting.len() == 1).map(|meeting| meeting[0]).collect();
    let boundary: Vec<[u32; 2]> = open.iter().map(|half| half.ends).collect();
    let triangles: Vec<[u32; 3]> = open.iter().map(|half| corners[half.triangle as usize]).collect();
    // By triangle, the vertices on each of its edges, in order from the first to the second end.
    let mut on: BTreeMap<usize, Vec<([u32; 2], u32)>> = BTreeMap::new();
    for (number, vertex) in junctions(positions, &boundary, &triangles, tolerance) {
        on.entry(open[number].triangle as usize).or_default().push((boundary[number], vertex));
    }
    for (triangle, on) in on {
        let mut polygon = vec![];
        for k in 0..3 {
            let [from, to] = [corners[triangle][k], corners[triangle][(k + 1) % 3]];
            polygon.push(from);
            let along =
                |wanted: [u32; 2]| on.iter().filter(move |(edge, _)| *edge == wanted).map(|(_, vertex)| *vertex);
            polygon.extend(along([from, to]));
            polygon.extend(along([to, from]).collect::<Vec<_>>().into_iter().rev());
        }
        let places: Vec<Vector3<f64>> = polygon.iter().map(|&vertex| positions[vertex as usize]).collect();
        let Ok(parts) = cut(&places) else { continue };
        repairs.extend(on.iter().map(|&(edge, vertex)| Repair::Joined { vertex, edge }));
        let mut parts = parts.into_iter().map(|part| part.map(|k| polygon[k as usize]));
        corners[triangle] = parts.next().unwrap_or(corners[triangle]);
        for part in parts {
            corners.push(part);
            numbers.push(numbers[triangle]);
        }
    }
}

/// Those that stay neighbours: the sides of two triangles that are the only ones of their piece at an edge.
fn part_edges(corners: &[[u32; 3]], repairs: &mut Vec<Repair>) -> Vec<[HalfEdge; 2]> {
    let halves = half_edges(corners);
    let pairs = at_edges(&halves).filter_map(|meeting| match meeting {
        [a, b] => Some([a.triangle, b.triangle]),
        _ => None,
    });
    let pieces = islands(corners.len(), pairs);
    let piece = |half: &HalfEdge| pieces[half.triangle as usize];

    let mut neighbours = vec![];
    for meeting in at_edges(&halves) {
        if meeting.len() > 2 {
            repairs.push(Repair::Parted { vertices: meeting[0].ends, triangles: meeting.len() });
        }
        let mut by_piece = meeting.to_vec();
        by_piece.sort_by_key(piece);
        for same in by_piece.chunk_by(|a, b| piece(a) == piece(b)) {
            if let &[a, b] = same {
                neighbours.push([a, b]);
            }
        }
    }
    neighbours
}

/// Which triangles to turn so that neighbours agree, where that is possible.
fn turn_to_agree(triangles: usize, neighbours: &[[HalfEdge; 2]]) -> Vec<bool> {
    // Neighbours, and whether they disagree.
    let mut beside: Vec<Vec<(usize, bool)>> = vec![vec![]; triangles];
    for [a, b] in neighbours {
        let disagree = a.forward == b.forward;
        beside[a.triangle as usize].push((b.triangle as usize, disagree));
        beside[b.triangle as usize].push((a.triangle as usize, disagree));
    }

    let (mut turned, mut reached) = (vec![false; triangles], vec![false; triangles]);
    for first in 0..triangles {
        let mut walk = VecDeque::from([first]);
        while let Some(triangle) = walk.pop_front() {
            reached[triangle] = true;
            for &(next, disagree) in &beside[triangle] {
                if !std::mem::replace(&mut reached[next], true) {
                    turned[next] = turned[triangle] != disagree;
                    walk.push_back(next);
                }
            }
        }
    }
    turned
}

/// Those that disagree even so are neighbours no more.
///
/// Around a vertex whose fan is closed, an even number of neighbours disagrees, so a cut goes through it or passes it:
/// the triangles on its two sides never hang together around an end of it.
fn cut_seams(neighbours: &mut Vec<[HalfEdge; 2]>, turned: &[bool], repairs: &mut Vec<Repair>) {
    let forward = |half: &HalfEdge| half.forward != turned[half.triangle as usize];
    neighbours.retain(|[a, b]| {
        let agree = forward(a) != forward(b);
        if !agree {
            repairs.push(Repair::Cut { vertices: a.ends });
        }
        agree
    });
}

/// Gives each further fan of a vertex a copy of it. Returns, for each copy, the vertex that it copies.
///
/// Then at most two triangles share both ends of an edge, and they agree. A fan is a row or a ring of triangles of one
/// piece, and neighbours are the only ones of their piece at an edge, so others there can only be the two ends of a row
/// that comes back to where it began; and those of a row that agree around one end of the edge agree at it.
fn split_vertices(
    corners: &mut [[u32; 3]],
    neighbours: &[[HalfEdge; 2]],
    vertices: usize,
    repairs: &mut Vec<Repair>,
) -> Result<Vec<u32>, MeshError> {
    let fan_of = fans(corners, neighbours.iter().map(|[a, b]| (a.ends, [a.triangle, b.triangle])));

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

/// Turns closed islands that are inside out, cavities aside.
fn turn_outwards(
    turned: &mut [bool],
    corners: &[[u32; 3]],
    positions: &[Vector3<f64>],
    originals: &[u32],
    tolerance: f64,
) {
    let halves = half_edges(corners);
    let pairs = at_edges(&halves).filter_map(|meeting| match meeting {
        [a, b] => Some([a.triangle, b.triangle]),
        _ => None,
    });
    let island_of = islands(corners.len(), pairs);
    let mut open = vec![false; corners.len()];
    for meeting in at_edges(&halves).filter(|meeting| meeting.len() == 1) {
        open[island_of[meeting[0].triangle as usize] as usize] = true;
    }
    let position = |i: u32| match (i as usize).checked_sub(positions.len()) {
        Some(copy) => positions[originals[copy] as usize],
        None => positions[i as usize],
    };

    // Triangles of each closed island as they are now, and how many are turned.
    let mut closed: BTreeMap<u32, (Vec<_>, usize)> = BTreeMap::new();
    for (t, corners) in corners.iter().enumerate().filter(|(t, _)| !open[island_of[*t] as usize]) {
        let [a, b, c] = corners.map(position);
        let (triangles, count) = closed.entry(island_of[t]).or_default();
        triangles.push(if turned[t] { [a, c, b] } else { [a, b, c] });
        *count += usize::from(turned[t]);
    }
    let (numbers, shells): (Vec<u32>, Vec<Shell>) =
        closed.into_iter().map(|(number, (triangles, turned))| (number, Shell::new(triangles, turned))).unzip();
    let inside_out = inside_out(&shells, tolerance);
    for (turned, island) in turned.iter_mut().zip(&island_of) {
        *turned ^= numbers.binary_search(island).is_ok_and(|place| inside_out[place]);
    }
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
