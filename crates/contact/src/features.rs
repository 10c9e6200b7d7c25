//! What a surface is made of: points, edges, triangles, each of them in one place only.

use crate::{ContactError, sides::Around};

/// The points, edges and triangles of one or several surfaces over the same vertices.
///
/// Any triangles will do: with boundary, with edges of three and more, in islands. Besides, edges without triangles
/// (ropes, nets) and vertices without either (particles) are features of their own.
#[derive(Debug, Clone, Default)]
pub struct Features {
    vertices: u32,
    edges: Vec<[u32; 2]>,
    triangles: Vec<[u32; 3]>,
    /// Edges of triangles, each with one that it is of, in order.
    sides: Vec<([u32; 2], u32)>,
    around: Around,
    /// The other ends of each vertex's edges: those of vertex v from `first_neighbour[v]` on.
    first_neighbour: Vec<u32>,
    neighbours: Vec<u32>,
    leaves: Vec<Leaf>,
}

/// What the broad phase holds: a triangle, a lone edge or a lone point, with the vertices and edges that are told of
/// here and not at a neighbour ("representative triangles": S. Curtis, R. Tamstorf, D. Manocha: Fast Collision Detection
/// for Deformable Models using Representative-Triangles. I3D 2008).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Leaf {
    /// Its vertices; repeated where there are fewer than three.
    pub vertices: [u32; 3],
    pub shape: Shape,
    /// Bit k: vertex k is told of here.
    points: u8,
    /// Bit k: the edge from vertex k to the next is told of here.
    edges: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Triangle,
    Edge,
    Point,
}

impl Leaf {
    pub fn points(&self) -> impl Iterator<Item = u32> {
        (0..3).filter(|k| self.points >> k & 1 == 1).map(|k| self.vertices[k])
    }

    pub fn edges(&self) -> impl Iterator<Item = [u32; 2]> {
        (0..3).filter(|k| self.edges >> k & 1 == 1).map(|k| [self.vertices[k], self.vertices[(k + 1) % 3]])
    }
}

impl Features {
    /// Of `vertices` vertices, `triangles`, and those of `lone_edges` that belong to no triangle, each once.
    ///
    /// # Errors
    /// Names the first triangle or edge with an index out of range or repeated.
    pub fn new(vertices: usize, triangles: &[[u32; 3]], lone_edges: &[[u32; 2]]) -> Result<Self, ContactError> {
        let count = u32::try_from(vertices).map_err(|_| ContactError::TooMany { count: vertices })?;
        let corners = triangles.iter().map(|t| &t[..]).enumerate().map(|(k, t)| ("triangle", k, t));
        let ends = lone_edges.iter().map(|e| &e[..]).enumerate().map(|(k, e)| ("edge", k, e));
        for (thing, number, members) in corners.chain(ends) {
            for (k, &vertex) in members.iter().enumerate() {
                if vertex >= count {
                    return Err(ContactError::Index { thing, number, vertex, vertices });
                }
                if members[..k].contains(&vertex) {
                    return Err(ContactError::Repeated { thing, number, vertex });
                }
            }
        }

        let mut told = vec![false; vertices];
        let mut sides: Vec<[u32; 2]> = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
        sides.iter_mut().for_each(|side| side.sort_unstable());
        // The first triangle of each edge tells of it.
        let mut order: Vec<u32> = (0..sides.len() as u32).collect();
        order.sort_unstable_by_key(|&k| (sides[k as usize], k));
        let mut first = vec![false; sides.len()];
        let mut edges = vec![];
        for same in order.chunk_by(|&a, &b| sides[a as usize] == sides[b as usize]) {
            first[same[0] as usize] = true;
            edges.push(sides[same[0] as usize]);
        }

        let mut tell = |vertices: &[u32]| {
            vertices.iter().enumerate().fold(0, |bits, (k, &v)| {
                let new = !std::mem::replace(&mut told[v as usize], true);
                bits | u8::from(new) << k
            })
        };
        let mut leaves = vec![];
        for (number, triangle) in triangles.iter().enumerate() {
            let edges = (0..3).fold(0, |bits, k| bits | u8::from(first[3 * number + k]) << k);
            leaves.push(Leaf { vertices: *triangle, shape: Shape::Triangle, points: tell(triangle), edges });
        }
        let mut lone: Vec<[u32; 2]> = lone_edges.iter().map(|&[a, b]| [a.min(b), a.max(b)]).collect();
        lone.sort_unstable();
        lone.dedup();
        lone.retain(|edge| edges.binary_search(edge).is_err());
        for &[a, b] in &lone {
            leaves.push(Leaf { vertices: [a, b, a], shape: Shape::Edge, points: tell(&[a, b]), edges: 1 });
        }
        for v in 0..count {
            if tell(&[v]) == 1 {
                leaves.push(Leaf { vertices: [v; 3], shape: Shape::Point, points: 1, edges: 1 });
            }
        }
        edges.extend(lone);
        let mut both: Vec<[u32; 2]> = edges.iter().flat_map(|&[a, b]| [[a, b], [b, a]]).collect();
        both.sort_unstable();
        let first_neighbour = (0..=count).map(|v| both.partition_point(|edge| edge[0] < v) as u32).collect();
        let sides = order.into_iter().map(|k| (sides[k as usize], k / 3)).collect();
        Ok(Self {
            vertices: count,
            edges,
            triangles: triangles.to_vec(),
            sides,
            around: Around::new(vertices, triangles),
            first_neighbour,
            neighbours: both.into_iter().map(|[_, other]| other).collect(),
            leaves,
        })
    }

    /// A triangle that is met by points only.
    pub(crate) fn face() -> Self {
        let leaf = Leaf { vertices: [0, 1, 2], shape: Shape::Triangle, points: 0, edges: 0 };
        Self {
            vertices: 3,
            edges: vec![],
            triangles: vec![[0, 1, 2]],
            sides: vec![],
            around: Around::new(3, &[[0, 1, 2]]),
            first_neighbour: vec![0; 4],
            neighbours: vec![],
            leaves: vec![leaf],
        }
    }

    /// A solid of revolution (`revolved.rs`): vertices of cloth meet all of it, and so do edges; triangles meet its two ends.
    pub(crate) fn revolved() -> Self {
        let leaf = Leaf { vertices: [0, 1, 2], shape: Shape::Triangle, points: 0b011, edges: 0b001 };
        Self {
            vertices: 3,
            edges: vec![[0, 1]],
            triangles: vec![],
            sides: vec![],
            around: Around::new(3, &[]),
            first_neighbour: vec![0; 4],
            neighbours: vec![],
            leaves: vec![leaf],
        }
    }

    /// How many vertices there are.
    pub fn vertices(&self) -> usize {
        self.vertices as usize
    }

    /// All edges, those of triangles first.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// All triangles, as given.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The triangles around a vertex.
    pub(crate) fn around(&self, vertex: u32) -> &[[u32; 3]] {
        self.around.of(vertex)
    }

    /// Vertices that share an edge with a vertex.
    pub(crate) fn neighbours(&self, vertex: u32) -> &[u32] {
        let [from, to] = [0, 1].map(|k| self.first_neighbour[vertex as usize + k] as usize);
        &self.neighbours[from..to]
    }

    /// The triangles that an edge is of.
    pub(crate) fn around_edge(&self, [a, b]: [u32; 2]) -> impl Iterator<Item = &[u32; 3]> {
        let edge = [a.min(b), a.max(b)];
        let from = self.sides.partition_point(|(side, _)| *side < edge);
        let same = self.sides[from..].iter().take_while(move |(side, _)| *side == edge);
        same.map(|(_, triangle)| &self.triangles[*triangle as usize])
    }

    pub(crate) fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }
}
