//! Cloth as simple as can be: masses on springs, symplectic Euler. All that keeps it from passing through anything is
//! what is tested.

use nalgebra::Vector3;
use partita_contact::{Contacts, Features, Obstacle, Parameters, Path, Report, Step, crossings};
use partita_mesh::Mesh;

type V3 = Vector3<f64>;

pub const G: f64 = 9.81;

pub struct Cloth {
    pub x: Vec<V3>,
    pub v: Vec<V3>,
    pub inverse_masses: Vec<f64>,
    pub contacts: Contacts,
    /// Ends, rest length, stiffness.
    springs: Vec<(usize, usize, f64, f64)>,
    pub gravity: V3,
    pub substeps: usize,
}

impl Cloth {
    /// 0.2 kg/m², springs along edges and, ten times weaker, across them.
    pub fn new(mesh: &Mesh, parameters: Parameters, obstacles: Vec<Obstacle>) -> Self {
        let x = mesh.vertices().to_vec();
        let features = Features::new(x.len(), mesh.triangles(), &[]).unwrap();
        let mut masses = vec![0.0; x.len()];
        for t in mesh.triangles() {
            let [a, b, c] = t.map(|v| x[v as usize]);
            let area = 0.5 * (b - a).cross(&(c - a)).norm();
            t.iter().for_each(|&v| masses[v as usize] += 0.2 * area / 3.0);
        }
        let length = |i: u32, j: u32| (x[i as usize] - x[j as usize]).norm();
        let spring = |[i, j]: [u32; 2], stiffness: f64| (i as usize, j as usize, length(i, j), stiffness);
        let along = mesh.edges().iter().map(|edge| spring(edge.vertices, 20.0));
        let across = mesh.hinges().map(|hinge| spring(hinge.opposite, 2.0));
        Self {
            v: vec![V3::zeros(); x.len()],
            inverse_masses: masses.iter().map(|m| 1.0 / m).collect(),
            contacts: Contacts::new(features, parameters, obstacles).unwrap(),
            springs: along.chain(across).collect(),
            gravity: V3::new(0.0, -G, 0.0),
            substeps: 4,
            x,
        }
    }

    /// One step: springs and gravity in substeps, then contact over the whole of it.
    pub fn step(&mut self, dt: f64, paths: &[Path<'_>]) -> Report {
        let h = dt / self.substeps as f64;
        let mut end = self.x.clone();
        for _ in 0..self.substeps {
            let mut forces = vec![V3::zeros(); end.len()];
            for &(i, j, rest, stiffness) in &self.springs {
                let along = end[j] - end[i];
                let length = along.norm();
                let speed = (self.v[j] - self.v[i]).dot(&along) / length;
                let f = (stiffness * (length - rest) + 0.002 * speed) / length * along;
                forces[i] += f;
                forces[j] -= f;
            }
            for k in 0..end.len() {
                let w = self.inverse_masses[k];
                if w > 0.0 {
                    self.v[k] += h * (self.gravity + w * forces[k]);
                }
                end[k] += h * self.v[k];
            }
        }
        let step = Step { dt, begin: &self.x, inverse_masses: &self.inverse_masses, paths };
        let report = self.contacts.resolve(&step, &mut end).unwrap();
        for (k, impulse) in self.contacts.impulses().iter().enumerate() {
            self.v[k] += self.inverse_masses[k] * impulse;
        }
        self.x = end;
        report
    }

    /// Of its edges and its triangles.
    pub fn crossings(&self) -> usize {
        let features = self.contacts.features();
        crossings(&self.x, features.edges(), features.triangles()).len()
    }
}
