//! Cloth as simple as can be: masses on springs, symplectic Euler. All that keeps it from passing through anything is
//! what is tested.

use nalgebra::Vector3;
use partita_contact::{Contacts, Features, Obstacle, Parameters, Path, Report, State, Step, crossings};
use partita_mesh::Mesh;

type V3 = Vector3<f64>;

pub const G: f64 = 9.81;

/// A level sheet about the y axis.
pub fn flat(cells: [u32; 2], size: [f64; 2], height: f64) -> Mesh {
    let mesh = Mesh::grid(cells, size).unwrap().turned([1.0, 0.0, 0.0], -std::f64::consts::FRAC_PI_2).unwrap();
    let [low, high] = mesh.bounds();
    let middle = [0, 1, 2].map(|k| -0.5 * (low[k] + high[k]));
    mesh.at([middle[0], middle[1] + height, middle[2]]).unwrap()
}

/// Vectors within a cube, the same for the same seed.
pub struct Random(pub u64);

impl Random {
    pub fn vector(&mut self) -> V3 {
        V3::from_fn(|_, _| {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        })
    }
}

pub struct Cloth {
    pub x: Vec<V3>,
    pub v: Vec<V3>,
    pub inverse_masses: Vec<f64>,
    pub contacts: Contacts,
    pub state: State,
    /// Ends, rest length, share of the stiffness that a step allows.
    springs: Vec<(usize, usize, f64, f64)>,
    pub gravity: V3,
    pub substeps: usize,
}

impl Cloth {
    /// 0.2 kg/m²; springs along edges and, ten times weaker, across them, as stiff as a step allows.
    pub fn new(mesh: &Mesh, parameters: Parameters, obstacles: Vec<Obstacle>) -> Self {
        let x = mesh.vertices().to_vec();
        let length = |i: u32, j: u32| (x[i as usize] - x[j as usize]).norm();
        let spring = |[i, j]: [u32; 2], share: f64| (i as usize, j as usize, length(i, j), share);
        let along = mesh.edges().iter().map(|edge| spring(edge.vertices, 1.0));
        let across = mesh.hinges().map(|hinge| spring(hinge.opposite, 0.1));
        let springs = along.chain(across).collect();
        Self { springs, ..Self::of(x, mesh.triangles(), parameters, obstacles) }
    }

    /// Of any triangles, with springs along edges only; what has no area weighs 1 mg a vertex.
    pub fn of(x: Vec<V3>, triangles: &[[u32; 3]], parameters: Parameters, obstacles: Vec<Obstacle>) -> Self {
        let features = Features::new(x.len(), triangles, &[]).unwrap();
        let mut masses = vec![0.0; x.len()];
        for t in triangles {
            let [a, b, c] = t.map(|v| x[v as usize]);
            let area = 0.5 * (b - a).cross(&(c - a)).norm();
            t.iter().for_each(|&v| masses[v as usize] += 0.2 * area / 3.0);
        }
        let ends = features.edges().iter().map(|edge| edge.map(|v| v as usize));
        let along = ends.map(|[i, j]| (i, j, (x[i] - x[j]).norm(), 1.0));
        Self {
            v: vec![V3::zeros(); x.len()],
            inverse_masses: masses.iter().map(|&m| if m > 0.0 { 1.0 / m } else { 1e6 }).collect(),
            // One without length has no direction.
            springs: along.filter(|spring| spring.2 > 0.0).collect(),
            contacts: Contacts::new(features, parameters, obstacles).unwrap(),
            state: State::default(),
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
            for &(i, j, rest, share) in &self.springs {
                let along = end[j] - end[i];
                let length = along.norm();
                let speed = (self.v[j] - self.v[i]).dot(&along) / length;
                // Of a vertex with eight springs ω h stays below 1, where symplectic Euler is stable up to 2.
                let w = self.inverse_masses[i] + self.inverse_masses[j];
                if w == 0.0 {
                    continue;
                }
                let (k, c) = (share * 0.1 / (w * h * h), share * 0.02 / (w * h));
                let f = (k * (length - rest) + c * speed) / length * along;
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
        let step = Step { dt, begin: &self.x, velocities: None, inverse_masses: &self.inverse_masses, paths };
        let report = self.contacts.resolve(&mut self.state, &step, &mut end).unwrap();
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

    /// Of its edges and the triangles of another surface, and of that one's edges and its triangles.
    pub fn crossings_with(&self, others: &[V3], triangles: &[[u32; 3]]) -> usize {
        let n = self.x.len() as u32;
        let x: Vec<V3> = self.x.iter().chain(others).copied().collect();
        let features = Features::new(others.len(), triangles, &[]).unwrap();
        let edges: Vec<_> = features.edges().iter().map(|edge| edge.map(|v| v + n)).collect();
        let triangles: Vec<_> = triangles.iter().map(|t| t.map(|v| v + n)).collect();
        let own = self.contacts.features();
        crossings(&x, &edges, own.triangles()).len() + crossings(&x, own.edges(), &triangles).len()
    }
}
