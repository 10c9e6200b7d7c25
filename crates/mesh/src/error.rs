//! What is wrong with a mesh, and where.

use std::path::PathBuf;

use crate::Seam;

/// Why something is not a mesh. Vertices and triangles are numbered from 0, as they were given.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// Nothing to simulate.
    #[error("mesh has no triangle")]
    Empty,
    /// Indices are `u32`.
    #[error("{count} {things} are more than {limit}")]
    TooMany {
        /// What there is too much of.
        things: &'static str,
        /// How many there would be, saturated.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// Beyond 1e100 m, areas and volumes overflow.
    #[error("vertex {vertex} is at {position:?} m; coordinates must be finite and at most 1e100")]
    Coordinate {
        /// Which vertex.
        vertex: usize,
        /// Where it is `[m]`.
        position: [f64; 3],
    },
    /// A corner that does not exist.
    #[error("triangle {triangle} names vertex {vertex}, but there are {vertices} vertices")]
    Index {
        /// Which triangle.
        triangle: usize,
        /// The index that it holds.
        vertex: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// A triangle with fewer than three different corners.
    #[error("triangle {triangle} names vertex {vertex} twice")]
    RepeatedVertex {
        /// Which triangle.
        triangle: usize,
        /// The repeated corner.
        vertex: u32,
    },
    /// A triangle flatter than rounding lets one compute with.
    #[error("triangle {triangle} has area {area:e} m^2, at most {bound:e} m^2 (1e-10 of its longest edge squared)")]
    ZeroArea {
        /// Which triangle.
        triangle: usize,
        /// Its area `[m²]`.
        area: f64,
        /// What it has to exceed `[m²]`.
        bound: f64,
    },
    /// Two triangles with the same three corners, whatever their orientation.
    #[error("triangles {first} and {second} have the same corners {vertices:?}")]
    DuplicateTriangle {
        /// The first of them.
        first: usize,
        /// The second.
        second: usize,
        /// Their corners, in order of number.
        vertices: [u32; 3],
    },
    /// More than two triangles at one edge.
    #[error("edge {vertices:?} has {} triangles ({triangles:?}), at most 2 are possible on a surface", .triangles.len())]
    NonManifoldEdge {
        /// Its ends.
        vertices: [u32; 2],
        /// All its triangles.
        triangles: Vec<usize>,
    },
    /// Two neighbours that run along their common edge in the same direction.
    #[error("triangles {first} and {second} disagree at edge {vertices:?} about which side is outside")]
    Flipped {
        /// Ends of the common edge.
        vertices: [u32; 2],
        /// The first of them.
        first: usize,
        /// The second.
        second: usize,
    },
    /// Parts of a surface that touch in a single vertex.
    #[error("{fans} separate fans of triangles touch in vertex {vertex}")]
    BowTie {
        /// Which vertex.
        vertex: u32,
        /// How many fans.
        fans: usize,
    },
    /// A vertex that would be a particle without mass.
    #[error("vertex {vertex} belongs to no triangle")]
    UnusedVertex {
        /// Which vertex.
        vertex: u32,
    },
    /// Generator argument: how finely.
    #[error("{name} must be {expected}, got {count}")]
    Resolution {
        /// Cells, segments or subdivisions.
        name: &'static str,
        /// The range.
        expected: &'static str,
        /// What was given.
        count: u32,
    },
    /// Generator argument: how large.
    #[error("{name} must be positive, finite and at most 1e100 m, got {value}")]
    Size {
        /// Which length.
        name: &'static str,
        /// What was given.
        value: f64,
    },
    /// Scale factor that is not positive and finite.
    #[error("a mesh is scaled by a positive, finite factor, got {value}")]
    Factor {
        /// Value of the factor.
        value: f64,
    },
    /// Generator argument: a point of a profile that cannot be turned about the axis.
    #[error("profile point {point} (distance from the axis, height) is {found:?} m; expected {expected}")]
    Profile {
        /// Which point.
        point: usize,
        /// Distance from the axis and height `[m]`.
        found: [f64; 2],
        /// What is wanted of it.
        expected: &'static str,
    },
    /// Sides are known of [`crate::Mesh::grid`] only.
    #[error("only a grid has sides; this mesh was not made by Mesh::grid")]
    NotAGrid,
    /// A line of an OBJ file that means nothing.
    #[error("{file}, line {line}: {problem}")]
    ObjLine {
        /// The file's name, or what the caller calls it.
        file: String,
        /// From 1.
        line: usize,
        /// What was found and expected.
        problem: String,
    },
    /// A whole OBJ file that cannot be read as one.
    #[error("{file}: {problem}")]
    Obj {
        /// The file's name, or what the caller calls it.
        file: String,
        /// What was found.
        problem: String,
    },
    /// The triangles of an OBJ file are no mesh. Vertices are numbered from 0 in the order in which faces name them.
    #[error("{file}, line {line}: {source}")]
    ObjMesh {
        /// The file's name, or what the caller calls it.
        file: String,
        /// Line of the (first) face that the problem names; 1 where it names none.
        line: usize,
        /// The problem.
        source: Box<MeshError>,
    },
    /// OBJ file with seams, where its surface is disconnected.
    #[error("{file}: seams: {seams}; first seam: {first}; `read_obj(..)?.repaired()` joins them")]
    Seams {
        /// The file's name, or what the caller calls it.
        file: String,
        /// Number of seams.
        seams: usize,
        /// The first of them.
        first: Seam,
    },
    /// A file that cannot be opened or read.
    #[error("{} cannot be read: {source}", .path.display())]
    Io {
        /// Its path.
        path: PathBuf,
        /// What the system answered.
        source: std::io::Error,
    },
}

impl MeshError {
    /// A triangle that the error is about, if any.
    pub fn triangle(&self) -> Option<usize> {
        match self {
            MeshError::Index { triangle, .. }
            | MeshError::RepeatedVertex { triangle, .. }
            | MeshError::ZeroArea { triangle, .. } => Some(*triangle),
            MeshError::DuplicateTriangle { second, .. } | MeshError::Flipped { second, .. } => Some(*second),
            MeshError::NonManifoldEdge { triangles, .. } => triangles.last().copied(),
            _ => None,
        }
    }
}
