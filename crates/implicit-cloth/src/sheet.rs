//! The cloth at rest.

use nalgebra::{Vector2, Vector3};
use partita_mesh::Mesh;
use partita_simulator::SimulatorError;

use crate::{
    Fabric, Parameters,
    assembly::Places,
    blocks::Blocks,
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
    /// Ends of all edges, and their lengths at rest `[m]`.
    pub edges: Vec<([u32; 2], f64)>,
    pub places: Places,
}

impl Sheet {
    /// At rest as the mesh is, with the warp along `warp` as far as that lies in a triangle's plane.
    pub fn new(mesh: &Mesh, fabric: &Fabric, warp: V3) -> Result<(Self, Blocks), SimulatorError> {
        let x = mesh.vertices();
        let mut masses = vec![0.0; x.len()];
        let mut triangles = Vec::with_capacity(mesh.triangles().len());
        let mut warps = Vec::with_capacity(mesh.triangles().len());
        for (number, t) in mesh.triangles().iter().enumerate() {
            let [a, b, c] = t.map(|v| x[v as usize]);
            let normal = (b - a).cross(&(c - a)).normalize();
            let within = |v: V3| (v - normal.dot(&v) * normal).try_normalize(1e-6);
            // Where the warp is across the triangle, any direction of it is as good.
            let u = within(warp).unwrap_or_else(|| (b - a).normalize());
            let v = normal.cross(&u);
            let flat = [a, b, c].map(|p| Vector2::new(u.dot(&(p - a)), v.dot(&(p - a))));
            let triangle = Triangle::new(*t, flat);
            let steep = triangle.steps.as_flattened().iter().fold(0.0_f64, |most, s| most.max(s.abs()));
            if !(triangle.area > 0.0 && steep.is_finite()) {
                let found = format!("area {:e} m²", triangle.area);
                return Err(SimulatorError::refused(format!("triangle {number}"), found, "some area"));
            }
            t.iter().for_each(|&v| masses[v as usize] += fabric.density * triangle.area / 3.0);
            triangles.push(triangle);
            warps.push(u);
        }
        let hinges = mesh.hinges().map(|hinge| {
            let [left, right] = hinge.triangles.map(|t| t as usize);
            let vertices = [hinge.edge[0], hinge.edge[1], hinge.opposite[0], hinge.opposite[1]];
            let at = vertices.map(|v| x[v as usize]);
            let edge = at[1] - at[0];
            // It bends across its edge: by how much of that is along the warp.
            let along = edge.normalize().dot(&warps[left]).powi(2);
            let [warp, weft] = fabric.bend;
            let rigidity = warp * (1.0 - along) + weft * along;
            let stiffness = 3.0 * rigidity * edge.norm_squared() / (triangles[left].area + triangles[right].area);
            Hinge { vertices, angle: hinge::angle(&at), stiffness }
        });
        let hinges: Vec<Hinge> = hinges.collect();
        let across = hinges.iter().map(|hinge| [hinge.vertices[2], hinge.vertices[3]]);
        let matrix = Blocks::new(x.len(), mesh.edges().iter().map(|edge| edge.vertices).chain(across));
        let length = |[i, j]: [u32; 2]| (x[i as usize] - x[j as usize]).norm();
        let sheet = Self {
            places: Places::new(&triangles, &hinges, &matrix),
            edges: mesh.edges().iter().map(|edge| (edge.vertices, length(edge.vertices))).collect(),
            density: fabric.membrane_density(),
            triangles,
            hinges,
            masses,
        };
        Ok((sheet, matrix))
    }

    /// Of the air, added to `out` `[N]`: ½ ρ A |u_n| u_n n of what blows through a triangle, and the same of what flows along.
    pub fn wind(&self, x: &[V3], v: &[V3], parameters: &Parameters, out: &mut [V3]) {
        let wind = V3::from(parameters.wind);
        if parameters.drag == 0.0 && parameters.skin_drag == 0.0 {
            return;
        }
        for t in &self.triangles {
            let [a, b, c] = t.vertices.map(|i| i as usize);
            let area = 0.5 * (x[b] - x[a]).cross(&(x[c] - x[a]));
            let Some(n) = area.try_normalize(0.0) else { continue };
            let u = wind - (v[a] + v[b] + v[c]) / 3.0;
            let through = n.dot(&u) * n;
            let along = u - through;
            let force = parameters.drag * through.norm() * through + parameters.skin_drag * along.norm() * along;
            for i in [a, b, c] {
                out[i] += area.norm() / 6.0 * force;
            }
        }
    }

    /// The largest strain of an edge that is longer than at rest `[-]`.
    pub fn stretch(&self, x: &[V3]) -> f64 {
        let strain = |&([i, j], rest): &([u32; 2], f64)| (x[i as usize] - x[j as usize]).norm() / rest - 1.0;
        self.edges.iter().map(strain).fold(0.0, f64::max)
    }
}
