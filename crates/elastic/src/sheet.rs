//! The sheet at rest.

use nalgebra::{Vector2, Vector3};
use partita_mesh::Mesh;
use partita_simulator::SimulatorError;

use crate::{
    Cut, Fabric,
    hinge::{self, Hinge},
    membrane::{Density, Triangle},
};

type V3 = Vector3<f64>;

/// Elements and masses of a sheet as it is cut.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// In order of the mesh's.
    pub triangles: Vec<Triangle>,
    /// In order of the mesh's.
    pub hinges: Vec<Hinge>,
    /// What resists stretch and shear.
    pub density: Density,
    /// Of vertices, a third of each triangle's `[kg]`.
    pub masses: Vec<f64>,
}

impl Sheet {
    /// Of a mesh.
    ///
    /// # Errors
    /// A triangle has hardly any area, or a vertex so little mass that it cannot be divided by.
    pub fn new(mesh: &Mesh, fabric: &Fabric, cut: &Cut) -> Result<Self, SimulatorError> {
        let x = mesh.vertices();
        let corners: Result<Vec<[Vector2<f64>; 3]>, _> =
            (0..mesh.triangles().len()).map(|triangle| cut.corners(mesh, triangle)).collect();
        let corners = corners?;
        let triangles: Vec<Triangle> =
            mesh.triangles().iter().zip(&corners).map(|(&t, &corners)| Triangle::new(t, corners)).collect();
        let mut masses = vec![0.0; x.len()];
        for t in &triangles {
            t.vertices.iter().for_each(|&v| masses[v as usize] += fabric.density * t.area / 3.0);
        }
        if let Some(v) = masses.iter().position(|m: &f64| !(m.is_normal() && m.recip().is_normal())) {
            return Err(SimulatorError::refused(
                format!("vertex {v}, mass [kg]"),
                masses[v],
                "one that can be divided by",
            ));
        }
        // An edge as a side of one of its triangles.
        let side = |triangle: u32, ends: [u32; 2]| -> Vector2<f64> {
            let corner = |v: u32| mesh.triangles()[triangle as usize].iter().position(|&other| other == v);
            let [a, b] =
                ends.map(|v| corners[triangle as usize][corner(v).expect("an edge is a side of its triangles")]);
            b - a
        };
        let softness: Vec<[f64; 3]> = corners.iter().map(hinge::compliances).collect();
        let hinges = mesh.hinges().map(|hinge| {
            let sides = hinge.triangles.map(|t| side(t, hinge.edge));
            let vertices = [hinge.edge[0], hinge.edge[1], hinge.opposite[0], hinge.opposite[1]];
            let angle = if cut.is_flat() { 0.0 } else { hinge::angle(&vertices.map(|v| x[v as usize])) };
            // s A of either triangle; a side starts at the corner after the one opposite to it.
            let areas = hinge.triangles.iter().zip(hinge.opposite).map(|(&t, opposite)| {
                let corner = mesh.triangles()[t as usize].iter().position(|&v| v == opposite);
                let side = (corner.expect("a corner of the triangle") + 1) % 3;
                softness[t as usize][side] * triangles[t as usize].area
            });
            // D |e|² of either triangle; it bends across the edge: by how much of that is along the warp.
            let [warp, weft] = fabric.bend;
            let rigidity = sides.map(|side| warp * side.y * side.y + weft * side.x * side.x);
            Hinge { vertices, angle, stiffness: 0.5 * (rigidity[0] + rigidity[1]) / areas.sum::<f64>() }
        });
        let hinges = hinges.collect();
        Ok(Self { triangles, hinges, density: fabric.membrane_density(), masses })
    }

    /// The largest strain of warp or weft with vertices at `x` `[m]` [-].
    pub fn stretch(&self, x: &[V3]) -> f64 {
        let strains = self.triangles.iter().flat_map(|t| t.steps_of(x)).map(|step| step.norm() - 1.0);
        strains.fold(0.0, f64::max)
    }
}
