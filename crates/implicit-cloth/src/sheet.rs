//! The cloth at rest.

use nalgebra::{Vector2, Vector3};
use partita_mesh::Mesh;
use partita_simulator::SimulatorError;

use crate::{
    Fabric,
    assembly::Places,
    blocks::Blocks,
    cut::Cut,
    hinge::{self, Hinge},
    membrane::{Density, Triangle},
};

type V3 = Vector3<f64>;

/// Topology, rest shape and masses. Nothing of it changes in a step.
pub(crate) struct Sheet {
    pub triangles: Vec<Triangle>,
    pub hinges: Vec<Hinge>,
    pub density: Density,
    /// `[kg]`
    pub masses: Vec<f64>,
    /// By which the membrane at rest resists a vertex that moves alone, the mean over directions `[N/m]`.
    stiffness: Vec<f64>,
    pub places: Places,
}

impl Sheet {
    /// At rest as it is cut.
    pub fn new(mesh: &Mesh, fabric: &Fabric, cut: &Cut) -> Result<(Self, Blocks), SimulatorError> {
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
        let hinges = mesh.hinges().map(|hinge| {
            let sides = hinge.triangles.map(|t| side(t, hinge.edge));
            let areas: f64 = hinge.triangles.iter().map(|&t| triangles[t as usize].area).sum();
            let vertices = [hinge.edge[0], hinge.edge[1], hinge.opposite[0], hinge.opposite[1]];
            let angle = if cut.flat { 0.0 } else { hinge::angle(&vertices.map(|v| x[v as usize])) };
            // D |e|² of either triangle; it bends across the edge: by how much of that is along the warp.
            let [warp, weft] = fabric.bend;
            let rigidity = sides.map(|side| warp * side.y * side.y + weft * side.x * side.x);
            Hinge { vertices, angle, stiffness: 0.5 * (rigidity[0] + rigidity[1]) / areas }
        });
        let hinges: Vec<Hinge> = hinges.collect();
        let across = hinges.iter().map(|hinge| [hinge.vertices[2], hinge.vertices[3]]);
        let matrix = Blocks::new(x.len(), mesh.edges().iter().map(|edge| edge.vertices).chain(across));
        let density = fabric.membrane_density();
        let mut stiffness = vec![0.0; x.len()];
        for t in &triangles {
            t.resistance(&density).into_iter().zip(t.vertices).for_each(|(k, v)| stiffness[v as usize] += k);
        }
        let sheet =
            Self { stiffness, places: Places::new(&triangles, &hinges, &matrix), density, triangles, hinges, masses };
        Ok((sheet, matrix))
    }

    /// By which a vertex that moves alone in `dt` is resisted by the membrane, its damping and inertia `[N/m]`.
    pub fn resistance(&self, vertex: usize, fabric: &Fabric, dt: f64) -> f64 {
        (1.0 + fabric.damping / dt) * self.stiffness[vertex] + self.masses[vertex] / (dt * dt)
    }

    /// Of vertices, as long as twice the area around them `[m²]`.
    pub fn normals(&self, x: &[V3], out: &mut Vec<V3>) {
        out.clear();
        out.resize(x.len(), V3::zeros());
        for t in &self.triangles {
            let [a, b, c] = t.vertices.map(|v| x[v as usize]);
            let normal = (b - a).cross(&(c - a));
            t.vertices.iter().for_each(|&v| out[v as usize] += normal);
        }
    }

    /// The largest strain of warp or weft [-].
    pub fn stretch(&self, x: &[V3]) -> f64 {
        let strains = self.triangles.iter().flat_map(|t| t.steps_of(x)).map(|step| step.norm() - 1.0);
        strains.fold(0.0, f64::max)
    }

    /// By how much warp or weft is stretched at most from one state to another, beyond its length at rest [-].
    pub fn stretches(&self, before: &[V3], after: &[V3]) -> f64 {
        let grows = |t: &Triangle| {
            let pairs = t.steps_of(before).into_iter().zip(t.steps_of(after));
            pairs.map(|(before, after)| after.norm() - before.norm().max(1.0)).fold(0.0, f64::max)
        };
        self.triangles.iter().map(grows).fold(0.0, f64::max)
    }
}
