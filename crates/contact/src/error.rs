//! What is wrong with what was given.

/// Why nothing was done. Vertices, edges, triangles and obstacles are numbered from 0, as they were given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ContactError {
    /// Indices are `u32`.
    #[error("{count} vertices are more than {}", u32::MAX)]
    TooMany {
        /// How many there would be.
        count: usize,
    },
    /// A vertex that does not exist.
    #[error("{thing} {number} names vertex {vertex}, but there are {vertices} vertices")]
    Index {
        /// Triangle or edge.
        thing: &'static str,
        /// Which.
        number: usize,
        /// The index that it holds.
        vertex: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// Corners of a triangle, ends of an edge have to differ.
    #[error("{thing} {number} names vertex {vertex} twice")]
    Repeated {
        /// Triangle or edge.
        thing: &'static str,
        /// Which.
        number: usize,
        /// The repeated index.
        vertex: u32,
    },
    /// A list has another length than what it is for.
    #[error("{count} {thing} for {expected} {of}")]
    Count {
        /// What was listed.
        thing: &'static str,
        /// How many there are.
        count: usize,
        /// How many there have to be.
        expected: usize,
        /// For what.
        of: &'static str,
    },
    /// A number out of its range.
    #[error("{thing} is {found:e}; expected {expected}")]
    Number {
        /// Which number, with the number of its vertex or obstacle.
        thing: String,
        /// Its value.
        found: f64,
        /// Which values it may have.
        expected: &'static str,
    },
    /// So many features may meet on their way that there is no memory for all pairs: most likely the surface is on its way to
    /// explode, or the thickness is too large for its triangles.
    #[error("more than {most} pairs of features may meet within the step; expected at most that many")]
    TooManyPairs {
        /// [`crate::Parameters::most_pairs`].
        most: usize,
    },
    /// A state that is not of this surface and these obstacles.
    #[error("the state is of another surface than one of {vertices} vertices with {obstacles} obstacles")]
    State {
        /// How many vertices there are.
        vertices: usize,
        /// How many obstacles there are.
        obstacles: usize,
    },
    /// An obstacle's orientation.
    #[error("the rotation of obstacle {obstacle} has norm {norm:e}; expected a unit quaternion")]
    Rotation {
        /// Which obstacle.
        obstacle: usize,
        /// Of its quaternion.
        norm: f64,
    },
    /// Only meshes can be moved by their points, only they have one side only.
    #[error("obstacle {obstacle} is {found}; expected a mesh for that")]
    NotMesh {
        /// Which obstacle.
        obstacle: usize,
        /// What is asked of it.
        found: &'static str,
    },
    /// Two features without a vertex in common are at the same place at the begin.
    #[error("{kind} of vertices {vertices:?} touch at the begin; parts at one place have to share vertices")]
    Touching {
        /// Point and triangle, or edge and edge.
        kind: &'static str,
        /// Of both features, as in [`crate::Kind`].
        vertices: [u32; 4],
    },
}
