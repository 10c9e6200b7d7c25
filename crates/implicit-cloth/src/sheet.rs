//! The cloth at rest, and the forces and stiffness that it has elsewhere.

use nalgebra::{Matrix3, Vector2, Vector3};
use partita_mesh::Mesh;
use partita_simulator::SimulatorError;

use crate::{
    Fabric,
    blocks::Blocks,
    cut::Cut,
    hinge::{self, Hinge},
    membrane::{Density, Triangle},
};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Topology, rest shape and masses. Nothing of it changes in a step.
pub(crate) struct Sheet {
    pub triangles: Vec<Triangle>,
    pub hinges: Vec<Hinge>,
    pub density: Density,
    /// `[kg]`
    pub masses: Vec<f64>,
    /// By which the membrane at rest resists a vertex that moves alone, the mean over directions `[N/m]`.
    stiffness: Vec<f64>,
    /// Where the blocks of each triangle and hinge are in the matrix, row by row.
    triangle_places: Vec<[u32; 9]>,
    hinge_places: Vec<[u32; 16]>,
}

/// What acts on the vertices around a state, in first order.
pub(crate) struct Forces<'a> {
    /// Where and how fast they are.
    pub x: &'a [V3],
    /// Half-way there from the begin of the step. Strain rates are measured there, where a turn has none, however far it goes.
    pub middle: &'a [V3],
    pub v: &'a [V3],
    /// How far from there the forces are wanted `[m]`.
    pub way: &'a [V3],
    /// Whether with the exact Jacobian, which a scheme of second order needs; else with the definite one of the matrix.
    pub exact: bool,
    /// Of the step in which they act `[s]`.
    pub dt: f64,
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
        let triangle_places =
            triangles.iter().map(|t| std::array::from_fn(|k| matrix.place(t.vertices[k / 3], t.vertices[k % 3])));
        let hinge_places =
            hinges.iter().map(|h| std::array::from_fn(|k| matrix.place(h.vertices[k / 4], h.vertices[k % 4])));
        let density = fabric.membrane_density();
        let mut stiffness = vec![0.0; x.len()];
        for t in &triangles {
            t.resistance(&density).into_iter().zip(t.vertices).for_each(|(k, v)| stiffness[v as usize] += k);
        }
        let sheet = Self {
            stiffness,
            triangle_places: triangle_places.collect(),
            hinge_places: hinge_places.collect(),
            density,
            triangles,
            hinges,
            masses,
        };
        Ok((sheet, matrix))
    }

    /// By which a vertex that moves alone in `dt` is resisted by the membrane, its damping and inertia `[N/m]`.
    pub fn resistance(&self, vertex: usize, fabric: &Fabric, dt: f64) -> f64 {
        (1.0 + fabric.damping / dt) * self.stiffness[vertex] + self.masses[vertex] / (dt * dt)
    }

    /// Of stretch, shear and bending `[J]`.
    pub fn energy(&self, x: &[V3]) -> f64 {
        let membrane: f64 = self.triangles.iter().map(|t| t.area * self.density.energy(&t.steps_of(x))).sum();
        membrane + self.hinges.iter().map(|h| h.energy(&h.positions(x))).sum::<f64>()
    }

    /// Elastic forces and damping at `way` from a state in first order, added to `out` `[N]`; and, added to `matrix`, dt² of
    /// their stiffness and dt of their damping. Of bending that leaves out what changes with the angle's second derivative,
    /// which may be indefinite.
    pub fn forces(&self, at: &Forces<'_>, fabric: &Fabric, out: &mut [V3], matrix: &mut Blocks) {
        let values = matrix.values();
        let (h, h2) = (at.dt, at.dt * at.dt);
        let damping = fabric.damping;
        for (t, places) in self.triangles.iter().zip(&self.triangle_places) {
            let steps = t.steps_of(at.x);
            let elastic = self.density.tangent(&steps, true);
            let viscous = self.density.viscous(&t.steps_of(at.middle));
            let (far, fast) = (t.steps_of(at.way), t.steps_of(at.v));
            let exact = if at.exact { self.density.tangent(&steps, false) } else { elastic };
            let mut stress = self.density.stress(&steps);
            for c in 0..2 {
                for d in 0..2 {
                    stress[c] += exact[c][d] * far[d] + damping * viscous[c][d] * fast[d];
                }
            }
            for (&v, force) in t.vertices.iter().zip(t.forces(&stress)) {
                out[v as usize] += force;
            }
            let both: [[M3; 2]; 2] =
                std::array::from_fn(|c| std::array::from_fn(|d| h2 * elastic[c][d] + h * damping * viscous[c][d]));
            for (k, &place) in places.iter().enumerate() {
                values[place as usize] += t.stiffness(&both, k / 3, k % 3);
            }
        }
        for (hinge, places) in self.hinges.iter().zip(&self.hinge_places) {
            let x = hinge.positions(at.x);
            // A triangle without area has no angle, and is kept from that by what is in its plane.
            let (Some(g), Some(m)) = (hinge::gradient(&x), hinge::gradient(&hinge.positions(at.middle))) else {
                continue;
            };
            let along =
                |g: &[V3; 4], of: &[V3]| -> f64 { (0..4).map(|k| g[k].dot(&of[hinge.vertices[k] as usize])).sum() };
            let (bent, turning) = (hinge.bent(&x) + along(&g, at.way), fabric.bend_damping * along(&m, at.v));
            let k = hinge.stiffness;
            for (i, &v) in hinge.vertices.iter().enumerate() {
                out[v as usize] -= k * (bent * g[i] + turning * m[i]);
            }
            if at.exact {
                let (angle, second) = (hinge.bent(&x), hinge::hessian(&x));
                for (row, &v) in second.iter().zip(&hinge.vertices) {
                    let far = row.iter().zip(&hinge.vertices).map(|(block, &v)| block * at.way[v as usize]);
                    out[v as usize] -= k * angle * far.sum::<V3>();
                }
            }
            let (h2, h) = (k * h2, k * h * fabric.bend_damping);
            for (k, &place) in places.iter().enumerate() {
                let (i, j) = (k / 4, k % 4);
                values[place as usize] += h2 * g[i] * g[j].transpose() + h * m[i] * m[j].transpose();
            }
        }
    }

    /// v·D v, the power that damping takes `[W]`.
    pub fn dissipation(&self, x: &[V3], v: &[V3], fabric: &Fabric) -> f64 {
        let mut sum = 0.0;
        for t in &self.triangles {
            let (viscous, fast) = (self.density.viscous(&t.steps_of(x)), t.steps_of(v));
            for (c, row) in viscous.iter().enumerate() {
                for (d, block) in row.iter().enumerate() {
                    sum += fabric.damping * t.area * fast[c].dot(&(block * fast[d]));
                }
            }
        }
        for hinge in &self.hinges {
            let Some(g) = hinge::gradient(&hinge.positions(x)) else { continue };
            let fast: f64 = (0..4).map(|k| g[k].dot(&v[hinge.vertices[k] as usize])).sum();
            sum += fabric.bend_damping * hinge.stiffness * fast * fast;
        }
        sum
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
