//! The cloth at rest.

use std::ops::Deref;

use nalgebra::Vector3;
use partita_elastic::{Cut, Fabric, Triangle};
use partita_mesh::Mesh;
use partita_simulator::SimulatorError;

use crate::{assembly::Places, blocks::Blocks};

type V3 = Vector3<f64>;

/// A sheet, and what solving for it needs beside. Nothing of it changes in a step.
pub(crate) struct Sheet {
    elastic: partita_elastic::Sheet,
    /// By which the membrane at rest resists a vertex that moves alone, the mean over directions `[N/m]`.
    stiffness: Vec<f64>,
    pub places: Places,
}

impl Deref for Sheet {
    type Target = partita_elastic::Sheet;

    fn deref(&self) -> &Self::Target {
        &self.elastic
    }
}

/// Error of a distance by rounding of the dozen coordinates of a triangle, relative to the largest [-].
const ROUNDING: f64 = 16.0 * f64::EPSILON;

impl Sheet {
    /// At rest as it is cut.
    pub fn new(mesh: &Mesh, fabric: &Fabric, cut: &Cut) -> Result<(Self, Blocks), SimulatorError> {
        let elastic = partita_elastic::Sheet::new(mesh, fabric, cut)?;
        let n = elastic.masses.len();
        let across = elastic.hinges.iter().map(|hinge| [hinge.vertices[2], hinge.vertices[3]]);
        let matrix = Blocks::new(n, mesh.edges().iter().map(|edge| edge.vertices).chain(across));
        let mut stiffness = vec![0.0; n];
        for t in &elastic.triangles {
            t.resistance(&elastic.density).into_iter().zip(t.vertices).for_each(|(k, v)| stiffness[v as usize] += k);
        }
        let places = Places::new(&elastic.triangles, &elastic.hinges, &matrix);
        Ok((Self { elastic, stiffness, places }, matrix))
    }

    /// By which a vertex that moves alone in `dt` is resisted by the membrane, its damping and inertia `[N/m]`.
    pub fn resistance(&self, vertex: usize, fabric: &Fabric, dt: f64) -> f64 {
        (1.0 + fabric.damping / dt) * self.stiffness[vertex] + self.masses[vertex] / (dt * dt)
    }

    /// Force of the membrane on a vertex by rounding of positions within `reach` `[m]` `[N]`: some ε of each of a dozen coordinates.
    pub fn rounding(&self, vertex: usize, reach: f64) -> f64 {
        ROUNDING * reach * self.stiffness[vertex]
    }

    /// Energy of the membrane by such rounding of a vertex that is at rest otherwise `[J]`.
    pub fn energy_of_rounding(&self, vertex: usize, reach: f64) -> f64 {
        0.5 * ROUNDING * reach * self.rounding(vertex, reach)
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

    /// By how much warp or weft is stretched at most from one state to another, beyond its length at rest [-].
    pub fn stretches(&self, before: &[V3], after: &[V3]) -> f64 {
        let grows = |t: &Triangle| {
            let pairs = t.steps_of(before).into_iter().zip(t.steps_of(after));
            pairs.map(|(before, after)| after.norm() - before.norm().max(1.0)).fold(0.0, f64::max)
        };
        self.triangles.iter().map(grows).fold(0.0, f64::max)
    }
}
