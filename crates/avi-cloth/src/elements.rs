//! What has a clock: triangles with half of each of their hinges, or hinges by themselves.
//!
//! The potential is a sum over elements, V = Σ V_e, and an event of e gives the impulses -Δt ∂V_e/∂x to *all* vertices on which V_e depends,
//! which is what makes the integrator variational (\[TPS08\] section 2; \[LMOW04\] A. Lew, J. E. Marsden, M. Ortiz, M. West: Variational time
//! integrators. IJNME 60, 2004). With bending at triangles, V_e is a triangle's membrane energy and half the energy of its three hinges:
//! each hinge counts once in all, and momenta are kept.
//!
//! Spans: Δt = α h √(ρ/(λ + 2 μ)) of the membrane (\[TPS08\] equation 3), with h the radius of the inscribed circle, and λ + 2 μ the larger
//! stiffness along warp and weft, but no more than α 2/ω of the fastest mode of a triangle by itself, a third of its mass at each
//! corner, which is less where shear is many times stiffer.
//!
//! For bending, hinges of stiffness k are elements of rank one, g g^T k. Shared out by κ = k |g|² of each of its hinges, a vertex has the mass
//! m κ/K in one of them, of their sum K. No mode of all is faster than that of the fastest element (B. M. Irons, G. Treharne: A bound
//! theorem in eigenvalues, 1971), ω² = Σ_i κ_i/(m_i κ_i/K_i) = Σ_i K_i/m_i, so that Δt = α 2/ω is stable where all clocks agree; where
//! they do not, clocks may beat with modes below that, which α leaves some room for.
//!
//! Viscosity τ acts by the mean strain rate of the span before (`event.rs`): for a mode, with a = ω² Δt²,
//! z² - (2 - a - a τ/Δt) z + 1 - a τ/Δt = 0, which does not grow as long as ω² (Δt² + 2 τ Δt) <= 4: spans are no longer than
//! α (√(τ² + 4/ω²) - τ).

use nalgebra::{SMatrix, Vector3};
use partita_elastic::{Cut, Density, Fabric, Sheet};
use partita_mesh::Mesh;

use crate::{
    Bending, Integrator, Parameters,
    fold::{Left, fold},
};

type V3 = Vector3<f64>;

/// Beyond this, strain at rest is more than rounding: the mesh is not as the cloth is cut.
const ROUNDING: f64 = 1e-12;

/// A triangle, and what lies beyond its sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patch {
    pub vertices: [u32; 3],
    /// The corner opposite of each side, from a vertex to the next, in the triangle beyond it; where there is none, stiffness is 0.
    pub beyond: [u32; 3],
    /// At rest `[m²]`.
    pub area: f64,
    /// Of how sides from the first vertex make steps along warp and weft `[1/m]`.
    pub steps: [[f64; 2]; 2],
    /// What rounding leaves of strain at rest, where the mesh is as it is cut.
    pub rest: [f64; 3],
    /// Of half of each hinge `[N m]`.
    pub stiffness: [f64; 3],
    /// sin(θ₀/2) of each hinge.
    pub sines: [f64; 3],
    /// Of sides at rest `[m]`.
    pub lengths: [f64; 3],
}

/// Two triangles that bend by a clock of their own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold {
    pub vertices: [u32; 4],
    /// `[N m]`
    pub stiffness: f64,
    /// sin(θ₀/2)
    pub sine: f64,
}

/// All that has a clock.
#[derive(Clone, Debug)]
pub(crate) struct Elements {
    pub law: Density,
    /// Viscosity of membrane and bending, as times `[s]`.
    pub damping: [f64; 2],
    pub patches: Vec<Patch>,
    pub folds: Vec<Fold>,
    /// Of patches, then of folds `[s]`.
    pub spans: Vec<f64>,
    /// Patches around each vertex: where its list begins, and one more.
    first: Vec<u32>,
    around: Vec<u32>,
}

impl Elements {
    pub fn new(mesh: &Mesh, sheet: &Sheet, cut: &Cut, parameters: &Parameters) -> Self {
        let Parameters { fabric, bending, courant, integrator, .. } = parameters;
        // In even steps each hinge once.
        let alone = *bending == Bending::Hinges || *integrator != Integrator::Asynchronous;
        let x = mesh.vertices();
        // By the very arithmetic of an event, so that nothing moves at rest.
        let sine = |vertices: [u32; 4], left: &Left| {
            let [a, b, c, d] = vertices.map(|v| x[v as usize]);
            let known = if cut.is_flat() { None } else { fold([&a, &b, &c, &d], left) };
            known.map_or(0.0, |(sine, _)| sine)
        };
        let mut patches: Vec<Patch> = sheet.triangles.iter().map(|t| Patch::new(t, &sheet.density, x)).collect();
        let span = |t: &partita_elastic::Triangle| {
            let mode = damped(mode_time(t, &sheet.density, fabric), fabric.damping);
            courant * wave_time(t, &sheet.density, fabric).min(mode)
        };
        let mut spans: Vec<f64> = sheet.triangles.iter().map(span).collect();
        let mut times = bending_times(sheet, x);
        times.iter_mut().for_each(|time| *time = damped(*time, fabric.bend_damping));
        let mut folds = vec![];
        for ((hinge, at_rest), time) in mesh.hinges().zip(&sheet.hinges).zip(&times) {
            if at_rest.stiffness == 0.0 {
                continue;
            }
            let [a, b, c, d] = at_rest.vertices;
            if alone {
                let left = Left::new(&[a, b, c].map(|v| x[v as usize]));
                let vertices = at_rest.vertices;
                folds.push(Fold { vertices, stiffness: at_rest.stiffness, sine: sine(vertices, &left) });
                spans.push(courant * time);
                continue;
            }
            // Seen from the triangle at the right, the edge runs the other way.
            for (triangle, [a, b, c, d]) in hinge.triangles.into_iter().zip([[a, b, c, d], [b, a, d, c]]) {
                let patch = &mut patches[triangle as usize];
                let side = (0..3).find(|&k| patch.vertices[k] == a).expect("a hinge is a side of its triangles");
                patch.beyond[side] = d;
                patch.stiffness[side] = 0.5 * at_rest.stiffness;
                patch.sines[side] = sine([a, b, c, d], &Left::new(&patch.vertices.map(|v| x[v as usize])));
                let span = &mut spans[triangle as usize];
                *span = span.min(courant * time);
            }
        }
        let damping = [fabric.damping, fabric.bend_damping];
        let (mut first, mut around) = (vec![0; x.len() + 1], vec![0; 3 * patches.len()]);
        patches.iter().flat_map(|patch| patch.vertices).for_each(|v| first[v as usize] += 1);
        let mut sum = 0;
        for count in &mut first {
            sum += *count;
            *count = sum;
        }
        for (number, patch) in (0..).zip(&patches) {
            for v in patch.vertices {
                first[v as usize] -= 1;
                around[first[v as usize] as usize] = number;
            }
        }
        Self { law: sheet.density, damping, patches, folds, spans, first, around }
    }

    /// Patches with a corner at a vertex.
    pub fn around(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.around[self.first[v] as usize..self.first[v + 1] as usize]
    }

    /// The shortest span `[s]`.
    pub fn shortest(&self) -> f64 {
        self.spans.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Events in a second `[1/s]`.
    pub fn rate(&self) -> f64 {
        self.spans.iter().map(|span| span.recip()).sum()
    }

    /// Of stretch, shear and bending, with vertices at `x` `[J]`.
    pub fn energy(&self, x: impl Fn(u32) -> V3) -> f64 {
        let patches = self.patches.iter().map(|patch| patch.energy(&self.law, &x));
        let bent = |[a, b, c, d]: [u32; 4], k: f64, sine: f64| bent(&[a, b, c, d].map(&x), k, sine);
        patches.sum::<f64>() + self.folds.iter().map(|f| bent(f.vertices, f.stiffness, f.sine)).sum::<f64>()
    }
}

/// Energy of a hinge `[J]`.
fn bent([a, b, c, d]: &[V3; 4], stiffness: f64, sine: f64) -> f64 {
    let known = fold([a, b, c, d], &Left::new(&[*a, *b, *c]));
    known.map_or(0.0, |(s, _)| crate::fold::energy(stiffness, s, sine))
}

impl Patch {
    fn new(triangle: &partita_elastic::Triangle, law: &Density, x: &[V3]) -> Self {
        let vertices = triangle.vertices;
        let mut patch = Self {
            vertices,
            beyond: vertices,
            area: triangle.area,
            steps: triangle.steps.map(|[_, b, c]| [b, c]),
            rest: [0.0; 3],
            stiffness: [0.0; 3],
            sines: [0.0; 3],
            lengths: triangle.sides(),
        };
        let strain = law.strain(&patch.steps_of(&vertices.map(|v| x[v as usize])));
        if strain.iter().all(|e| e.abs() < ROUNDING) {
            patch.rest = strain;
        }
        patch
    }

    /// Steps along warp and weft, of positions; of velocities, how fast they change.
    #[inline(always)]
    pub fn steps_of(&self, [a, b, c]: &[V3; 3]) -> [V3; 2] {
        let (p, q) = (b - a, c - a);
        self.steps.map(|[by_p, by_q]| by_p * p + by_q * q)
    }

    fn energy(&self, law: &Density, x: &impl Fn(u32) -> V3) -> f64 {
        let at = self.vertices.map(x);
        let membrane = self.area * law.energy(&self.steps_of(&at));
        let hinges = (0..3).filter(|&k| self.stiffness[k] != 0.0).map(|k| {
            let corners = [at[k], at[(k + 1) % 3], at[(k + 2) % 3], x(self.beyond[k])];
            bent(&corners, self.stiffness[k], self.sines[k])
        });
        membrane + hinges.sum::<f64>()
    }
}

/// For a wave in the membrane to cross the inscribed circle's radius `[s]`.
fn wave_time(triangle: &partita_elastic::Triangle, law: &Density, fabric: &Fabric) -> f64 {
    let stiffest = match *law {
        Density::BaraffWitkin { warp, weft, .. } => warp.max(weft),
        Density::StVenantKirchhoff([warp, _, weft, _]) => warp.max(weft),
    };
    let radius = 2.0 * triangle.area / triangle.sides().iter().sum::<f64>();
    radius * (fabric.density / stiffest).sqrt()
}

/// 2/ω of the fastest mode of a triangle by itself `[s]`.
fn mode_time(triangle: &partita_elastic::Triangle, law: &Density, fabric: &Fabric) -> f64 {
    let tangent = law.tangent(&[V3::x(), V3::y()], true);
    let stiffness = |i: usize, j: usize| triangle.stiffness(&tangent, i, j);
    let whole = SMatrix::<f64, 9, 9>::from_fn(|i, j| stiffness(i / 3, j / 3)[(i % 3, j % 3)]);
    let fastest = whole.symmetric_eigenvalues().max() / (fabric.density * triangle.area / 3.0);
    2.0 / fastest.sqrt()
}

/// The longest stable span of a mode with 2/ω `[s]` and viscosity τ `[s]`.
fn damped(time: f64, tau: f64) -> f64 {
    // √(τ² + t²) - τ without cancellation; what hardly resists takes any time.
    if tau == 0.0 || time.is_infinite() { time } else { time * (time / (tau + tau.hypot(time))) }
}

/// Of each hinge, 2/ω `[s]`.
fn bending_times(sheet: &Sheet, x: &[V3]) -> Vec<f64> {
    let mut around = vec![0.0; x.len()];
    for hinge in &sheet.hinges {
        let gradient = partita_elastic::hinge::gradient(&hinge.positions(x)).unwrap_or_default();
        for (&v, g) in hinge.vertices.iter().zip(&gradient) {
            around[v as usize] += hinge.stiffness * g.norm_squared();
        }
    }
    let square = |hinge: &partita_elastic::Hinge| {
        hinge.vertices.iter().map(|&v| around[v as usize] / sheet.masses[v as usize]).sum::<f64>()
    };
    sheet.hinges.iter().map(|hinge| 2.0 / square(hinge).sqrt()).collect()
}
