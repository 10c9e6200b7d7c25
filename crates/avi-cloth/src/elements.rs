//! What has a clock: triangles with some of their hinges, or hinges by themselves.
//!
//! The potential is a sum over elements, V = Σ V_e, and an event of e gives the impulses -Δt ∂V_e/∂x to *all* vertices on which V_e depends,
//! which is what makes the integrator variational (\[TPS08\] section 2; \[LMOW04\] A. Lew, J. E. Marsden, M. Ortiz, M. West: Variational time
//! integrators. IJNME 60, 2004). With bending at triangles, V_e is a triangle's membrane energy and the energy of the hinges that are its
//! own: each hinge belongs to one of its two triangles, so that it counts, and costs, once.
//!
//! How long spans are is told by `spans.rs`.

use nalgebra::Vector3;
use partita_elastic::{Cut, Density, Hinge, Sheet};
use partita_mesh::Mesh;

use crate::{
    Bending, Integrator, Parameters,
    fold::{Left, fold, sine},
    lists::Lists,
    spans,
    state::Sides,
};

type V3 = Vector3<f64>;

/// Beyond this, strain at rest is more than rounding: the mesh is not as the cloth is cut.
const ROUNDING: f64 = 1e-12;

/// So many times shorter spans become where a triangle is stretched, at most: what explodes is not to take for ever.
const SHORTEST: f64 = 16.0;

/// A triangle, and what lies beyond its sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patch {
    pub vertices: [u32; 3],
    /// Of each side, from a vertex to the next, whose hinge is its own: the corner opposite in the triangle beyond it. These sides come
    /// first; of the others stiffness is 0.
    pub beyond: [u32; 3],
    /// At rest `[m²]`.
    pub area: f64,
    /// Of how sides from the first vertex make steps along warp and weft `[1/m]`.
    pub steps: [[f64; 2]; 2],
    /// What rounding leaves of strain at rest, where the mesh is as it is cut.
    pub rest: [f64; 3],
    /// Of each hinge `[N m]`.
    pub stiffness: [f64; 3],
    /// sin(θ₀/2) of each hinge.
    pub sines: [f64; 3],
    /// Of sides at rest `[m]`.
    pub lengths: [f64; 3],
    /// Sides that limits look at with its events: of the two triangles at a side, the one with the shorter span has it.
    pub own: Sides,
}

/// A side of a triangle to which its hinge belongs.
#[derive(Clone, Copy)]
struct Side {
    /// From where it runs to the next corner.
    begin: u32,
    /// Corner of the other triangle.
    beyond: u32,
    /// `[N m]`
    stiffness: f64,
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
    /// What patches, then folds wait from event to event where they are not stretched `[s]`.
    pub spans: Vec<f64>,
    /// Whether they wait less where they are.
    pub adapts: bool,
    /// Corners at each vertex.
    around: Lists<Corner>,
}

/// Of a patch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Corner {
    pub patch: u32,
    /// The sides that it ends.
    pub sides: Sides,
}

impl Elements {
    pub fn new(mesh: &Mesh, sheet: &Sheet, cut: &Cut, parameters: &Parameters) -> Self {
        let Parameters { fabric, bending, courant, integrator, estimate, .. } = parameters;
        // In even steps each hinge once.
        let alone = *bending == Bending::Hinges || *integrator != Integrator::Asynchronous;
        let x = mesh.vertices();
        let rest_sine = |vertices: [u32; 4], left: &Left| {
            if cut.is_flat() { 0.0 } else { sine(&vertices.map(|v| x[v as usize]), left) }
        };
        let (mut folds, mut sides) = (vec![], vec![vec![]; sheet.triangles.len()]);
        for (hinge, at_rest) in mesh.hinges().zip(&sheet.hinges) {
            let Hinge { vertices, stiffness, .. } = *at_rest;
            if stiffness == 0.0 {
                continue;
            }
            let [a, b, c, d] = vertices;
            if alone {
                let left = Left::new(&[a, b, c].map(|v| x[v as usize]));
                folds.push(Fold { vertices, stiffness, sine: rest_sine(vertices, &left) });
                continue;
            }
            // It belongs to the triangle that has fewer. Seen from that at the right the edge runs the other way.
            let [left, right] = hinge.triangles.map(|t| t as usize);
            if sides[left].len() <= sides[right].len() {
                sides[left].push(Side { begin: a, beyond: d, stiffness });
            } else {
                sides[right].push(Side { begin: b, beyond: c, stiffness });
            }
        }
        let mut patches: Vec<Patch> =
            sheet.triangles.iter().zip(&sides).map(|(t, sides)| Patch::new(t, sides)).collect();
        for patch in &mut patches {
            let at = patch.vertices.map(|v| x[v as usize]);
            // By the very arithmetic of an event, so that nothing moves at rest.
            let strain = sheet.density.strain(&patch.steps_of(&at));
            if strain.iter().all(|e| e.abs() < ROUNDING) {
                patch.rest = strain;
            }
            let left = Left::new(&at);
            for k in 0..3 {
                patch.sines[k] = rest_sine(patch.hinge(k), &left);
            }
        }
        let mut spans = spans::estimated(&patches, &folds, x, sheet, fabric, *estimate);
        spans.iter_mut().for_each(|span| *span *= courant);
        let damping = [fabric.damping, fabric.bend_damping];
        let corners = (0..).zip(&patches).flat_map(|(number, patch)| {
            [0, 1, 2].map(|k| (patch.vertices[k], Corner { patch: number, sides: Sides::at_corner(k) }))
        });
        let mut around = Lists::default();
        around.fill(x.len(), &corners.collect::<Vec<_>>());
        let mut elements = Self { law: sheet.density, damping, patches, folds, spans, adapts: true, around };
        elements.share_sides(mesh);
        elements
    }

    /// Says which triangle limits look at a side with, by spans.
    pub fn share_sides(&mut self, mesh: &Mesh) {
        let Self { patches, spans, .. } = self;
        patches.iter_mut().for_each(|patch| patch.own = Sides::default());
        for edge in mesh.edges() {
            let is_right = edge.right.filter(|&right| spans[right as usize] < spans[edge.left as usize]);
            let patch = &mut patches[is_right.unwrap_or(edge.left) as usize];
            let is_it = |side: &usize| {
                let [a, b] = patch.ends(*side);
                edge.vertices == [a, b] || edge.vertices == [b, a]
            };
            if let Some(side) = (0..3).find(is_it) {
                patch.own.set(side, true);
            }
        }
    }

    /// The same in another order: with the new number of each vertex, the old number of each new, and the old numbers of elements.
    pub fn renumbered(&self, places: &[u32], vertices: &[u32], names: &[u32]) -> Self {
        let place = |v: u32| places[v as usize];
        let (of_patches, of_folds) = names.split_at(self.patches.len());
        let patch = |&name: &u32| {
            let patch = self.patches[name as usize];
            Patch { vertices: patch.vertices.map(place), beyond: patch.beyond.map(place), ..patch }
        };
        let fold = |&name: &u32| {
            let fold = self.folds[name as usize - self.patches.len()];
            Fold { vertices: fold.vertices.map(place), ..fold }
        };
        let mut patches = vec![0; of_patches.len()];
        (0..).zip(of_patches).for_each(|(place, &name)| patches[name as usize] = place);
        // In the old order, in which limits go through them.
        let corner = |corner: &Corner| Corner { patch: patches[corner.patch as usize], ..*corner };
        let corners = (0..).zip(vertices).flat_map(|(v, &old)| self.around(old).iter().map(move |at| (v, corner(at))));
        let mut around = Lists::default();
        around.fill(vertices.len(), &corners.collect::<Vec<_>>());
        Self {
            patches: of_patches.iter().map(patch).collect(),
            folds: of_folds.iter().map(fold).collect(),
            spans: names.iter().map(|&name| self.spans[name as usize]).collect(),
            around,
            ..*self
        }
    }

    /// Vertices to which an element's forces give impulses (limits and contacts may move more); what is not needed repeats one.
    #[inline(always)]
    pub fn touched(&self, element: usize) -> [u32; 6] {
        if let Some(patch) = self.patches.get(element) {
            let ([a, b, c], [d, e, f]) = (patch.vertices, patch.beyond);
            [a, b, c, d, e, f]
        } else {
            let [a, b, c, d] = self.folds[element - self.patches.len()].vertices;
            [a, b, c, d, a, a]
        }
    }

    /// Corners of patches at a vertex.
    pub fn around(&self, vertex: u32) -> &[Corner] {
        self.around.of(vertex)
    }

    /// The span of an element from now on, that had such a one and is so many times stiffer than at rest now `[s]`. It never grows again
    /// (`spans.rs`).
    #[inline(always)]
    pub fn shortened(&self, element: usize, span: f64, stiffening: f64) -> f64 {
        let rest = self.spans[element];
        let fits = !self.adapts || stiffening * span <= rest;
        if fits { span } else { rest / stiffening.min(SHORTEST) }
    }

    /// Of an element with vertices at such places: how many times stiffer than at rest it is, at most. Hinges are always 1.
    pub fn stiffening(&self, element: usize, x: impl Fn(u32) -> V3) -> f64 {
        let of = |patch: &Patch| self.law.stiffening(self.law.strain(&patch.steps_of(&patch.vertices.map(x))));
        self.patches.get(element).map_or(1.0, of)
    }

    /// The largest strain of an edge with vertices at `x` `[m]`, below 0 where all are shorter than at rest [-].
    pub fn stretch(&self, x: impl Fn(u32) -> V3) -> f64 {
        self.patches.iter().flat_map(|patch| patch.strains(&x)).fold(f64::NEG_INFINITY, f64::max)
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
    /// With corners turned so that sides whose hinges are its own come first.
    fn new(triangle: &partita_elastic::Triangle, sides: &[Side]) -> Self {
        let bends = |k: usize| sides.iter().find(|side| side.begin == triangle.vertices[k % 3]);
        let first = (0..3).find(|&k| bends(k).is_some() && bends(k + 2).is_none()).unwrap_or(0);
        let order = [first, (first + 1) % 3, (first + 2) % 3];
        let vertices = order.map(|k| triangle.vertices[k]);
        let lengths = triangle.sides();
        Self {
            vertices,
            beyond: std::array::from_fn(|k| bends(order[k]).map_or(vertices[k], |side| side.beyond)),
            area: triangle.area,
            steps: triangle.steps.map(|by| [by[order[1]], by[order[2]]]),
            rest: [0.0; 3],
            stiffness: order.map(|k| bends(k).map_or(0.0, |side| side.stiffness)),
            sines: [0.0; 3],
            lengths: order.map(|k| lengths[k]),
            own: Sides::default(),
        }
    }

    /// Where a side begins and ends.
    #[inline(always)]
    pub fn ends(&self, side: usize) -> [u32; 2] {
        [self.vertices[side], self.vertices[(side + 1) % 3]]
    }

    /// Strains of its sides with vertices at `x` `[m]` [-].
    pub fn strains(&self, x: impl Fn(u32) -> V3) -> [f64; 3] {
        let at = self.vertices.map(x);
        std::array::from_fn(|k| (at[(k + 1) % 3] - at[k]).norm() / self.lengths[k] - 1.0)
    }

    /// Vertices of the hinge at a side.
    pub fn hinge(&self, side: usize) -> [u32; 4] {
        [self.vertices[side], self.vertices[(side + 1) % 3], self.vertices[(side + 2) % 3], self.beyond[side]]
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
        let hinges = (0..3).take_while(|&k| self.stiffness[k] != 0.0);
        membrane + hinges.map(|k| bent(&self.hinge(k).map(x), self.stiffness[k], self.sines[k])).sum::<f64>()
    }
}
