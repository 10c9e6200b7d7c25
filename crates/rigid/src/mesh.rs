//! Triangles that others give: made a mesh, with a word on why it encloses no volume.

use std::collections::HashSet;

use nalgebra::Vector3;
use partita_mesh::{Mesh, MeshError, Repair};
use partita_simulator::SimulatorError;
use rapier3d_f64::{
    math::Vector,
    parry::shape::{SharedShape, TriMeshFlags},
};

/// A mesh that rapier can take.
#[derive(Clone, Debug)]
pub(crate) struct Solid {
    pub mesh: Mesh,
    /// Why it encloses no volume, if it does not: in the numbers of the user's vertices.
    pub open: Option<String>,
}

/// Mends what [`Mesh::repaired`] mends.
///
/// # Errors
/// Names the index that is out of range, or says that no triangle is left.
pub(crate) fn repaired(of: &str, vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<Solid, SimulatorError> {
    let (mesh, repairs) = Mesh::repaired(vertices, triangles).map_err(|error| match error {
        MeshError::Index { triangle, vertices: n, .. } => {
            let found = format!("{:?}", triangles[triangle]);
            SimulatorError::refused(format!("{of}, triangle {triangle}"), found, format!("indices below {n}"))
        }
        MeshError::Empty => {
            let found = format!("{} triangles, none with an area", triangles.len());
            SimulatorError::refused(format!("{of}, mesh"), found, "at least one triangle with an area")
        }
        other => SimulatorError::refused(format!("{of}, mesh"), other, "a triangle mesh"),
    })?;
    let open = opening(&mesh, &repairs, vertices);
    Ok(Solid { mesh, open })
}

/// What keeps a mesh from enclosing a volume: an edge of its boundary. If the mesh was parted or cut along one, that
/// one, since that is what to look at; most of what is parted heals, and is none.
fn opening(mesh: &Mesh, repairs: &[Repair], given: &[[f64; 3]]) -> Option<String> {
    let Some(edge) = mesh.boundary_edges().next() else {
        let hollow = mesh.volume().is_none_or(|volume| volume <= 1.0e-12 * extent(mesh).powi(3));
        return hollow.then(|| "no volume inside".into());
    };
    // Vertices stay where they were given, to the bit, so their places tell which they were.
    let place = |v: u32| <[f64; 3]>::from(mesh.vertices()[v as usize]).map(f64::to_bits);
    let between = |mut ends: [[u64; 3]; 2]| {
        ends.sort_unstable();
        ends
    };
    let boundary: HashSet<[[u64; 3]; 2]> =
        mesh.boundary_edges().map(|edge| between(edge.vertices.map(place))).collect();
    let is_open = |ends: [u32; 2]| boundary.contains(&between(ends.map(|v| given[v as usize].map(f64::to_bits))));
    let cut = repairs.iter().find_map(|repair| match *repair {
        Repair::Parted { vertices, triangles } if is_open(vertices) => {
            let [a, b] = vertices;
            Some(format!("{triangles} triangles at the edge between vertices {a} and {b}"))
        }
        Repair::Cut { vertices } if is_open(vertices) => {
            let [a, b] = vertices;
            Some(format!("a one-sided surface (a twist at the edge between vertices {a} and {b})"))
        }
        _ => None,
    });
    Some(cut.unwrap_or_else(|| {
        // The first of those at one place is the one that stays.
        let number = |v: u32| given.iter().position(|x| x.map(f64::to_bits) == place(v));
        let mut ends = edge.vertices.map(|v| number(v).expect("every vertex was given"));
        ends.sort_unstable();
        let [a, b] = ends;
        format!("one triangle at the edge between vertices {a} and {b}")
    }))
}

/// Whether a solid is convex: every vertex behind every face, to a millionth.
pub(crate) fn is_convex(Solid { mesh, open }: &Solid) -> bool {
    let slack = 1.0e-6 * extent(mesh);
    let vertices = mesh.vertices();
    open.is_none()
        && mesh.triangles().iter().all(|triangle| {
            let [a, b, c] = triangle.map(|v| vertices[v as usize]);
            let normal = (b - a).cross(&(c - a)).normalize();
            vertices.iter().all(|x| normal.dot(&(x - a)) <= slack)
        })
}

/// The triangles as a shape of rapier's: solid, or met from both sides.
///
/// # Errors
/// Rapier does not take them.
pub(crate) fn rapier_mesh(of: &str, solid: &Solid, two_sided: bool) -> Result<SharedShape, SimulatorError> {
    let flags = if solid.open.is_none() && !two_sided {
        TriMeshFlags::ORIENTED | TriMeshFlags::FIX_INTERNAL_EDGES
    } else {
        TriMeshFlags::FIX_INTERNAL_EDGES_TWO_SIDED
    };
    SharedShape::trimesh_with_flags(rapier_vertices(&solid.mesh), solid.mesh.triangles().to_vec(), flags)
        .map_err(|error| SimulatorError::refused(of, error, "a mesh rapier takes"))
}

pub(crate) fn rapier_vertices(mesh: &Mesh) -> Vec<Vector> {
    mesh.positions().into_iter().map(Vector::from_array).collect()
}

/// Longest edge of the axis-aligned box around the mesh.
fn extent(mesh: &Mesh) -> f64 {
    let [low, high] = mesh.bounds().map(Vector3::from);
    (high - low).max()
}
