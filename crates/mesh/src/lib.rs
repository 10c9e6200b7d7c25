//! Triangle meshes whose topology is checked once, so that nobody has to check it again.
//!
//! A [`Mesh`] is an oriented 2-manifold, with or without boundary: an edge has one or two triangles, neighbours agree
//! on which side is outside, the triangles around a vertex form one fan. It may have several islands. What is not such
//! a mesh is a [`MeshError`] that names the element, or is mended by [`Mesh::repaired`].
//!
//! | found in a file or generator                         | [`Mesh::new`] | [`Mesh::repaired`]       |
//! |------------------------------------------------------|---------------|--------------------------|
//! | coordinate not finite or beyond 1e100 m              | refused       | refused                  |
//! | index out of range, no triangle, more than `u32` can count | refused | refused                  |
//! | corner repeated in a triangle, triangle without area | refused       | dropped                  |
//! | triangle twice                                       | refused       | second one dropped       |
//! | edge with more than two triangles                    | refused       | parted                   |
//! | neighbours that disagree about outside               | refused       | turned                   |
//! | surface with only one side                           | refused       | cut                      |
//! | closed island inside out                             | allowed       | turned, unless a cavity  |
//! | fans that touch in one vertex (bow-tie)              | refused       | vertex split             |
//! | vertex without triangle                              | refused       | dropped                  |
//! | vertices at one place                                | allowed: a slit or seam | welded         |
//! | several islands                                      | allowed       | allowed                  |
//!
//! ```
//! use partita_mesh::{Mesh, Side};
//!
//! # fn main() -> Result<(), partita_mesh::MeshError> {
//! let sheet = Mesh::grid([40, 30], [1.0, 0.75])?.at([-0.5, 2.0, 0.0])?;
//! let top = sheet.edge(Side::Top)?;
//! assert_eq!(top.len(), 41);
//! assert!(top.iter().all(|&i| sheet.vertices()[i as usize].y == 2.0));
//! assert!(!sheet.is_closed());
//! # Ok(())
//! # }
//! ```
//!
//! Lengths are in metres, Y is up, triangles run counter-clockwise seen from outside. Start at [`Mesh`].

mod error;
mod generators;
mod mesh;
mod obj;
mod polygon;
mod repair;
mod seams;
mod shells;
mod topology;
mod unstructured;

pub use error::MeshError;
pub use generators::Side;
pub use mesh::Mesh;
pub use obj::{Soup, read_obj, read_obj_bytes};
pub use repair::Repair;
pub use seams::Seam;
pub use topology::{Edge, Hinge, islands};
