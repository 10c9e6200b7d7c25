//! What an element does when it is due (\[TPS08\] algorithm 1, lines 9 to 15).
//!
//! Its vertices come to its time, then its forces, viscosity among them, act as one impulse for the time since its last event. Limits of
//! strain come after that (`limits.rs`).
//!
//! Viscous stress is τ C:Ė with the strain rate Ė (\[TPS08\] section 3), the mean since the last event: stress is C:(E + τ (E - E')/Δt), with E'
//! at that event, and so is zero where nothing moves, whatever the impulses between events that keep it there. The same of bending.

use nalgebra::Vector3;
use partita_elastic::Density;

use crate::{
    elements::{Elements, Fold, Patch},
    flight::Flights,
    fold::{Left, fold, sine},
    state::Strains,
};

type V3 = Vector3<f64>;

impl Elements {
    /// An event of an element at a time, whose forces act for so long `[s]`. How many times stiffer than at rest it is.
    #[inline(always)]
    pub fn act(
        &self,
        element: usize,
        time: f64,
        span: f64,
        last: Option<&mut Strains>,
        flights: &mut Flights<'_>,
    ) -> f64 {
        let Some(patch) = self.patches.get(element) else {
            let Fold { vertices, stiffness, sine } = &self.folds[element - self.patches.len()];
            let all = vertices.map(|v| v as usize);
            for k in all {
                flights.reach(k, time);
            }
            self.bend(all, *stiffness, *sine, span, last, flights);
            return 1.0;
        };
        let [a, b, c] = patch.vertices.map(|v| v as usize);
        let at = [flights.reach(a, time), flights.reach(b, time), flights.reach(c, time)];
        for k in 0..3 {
            if patch.stiffness[k] == 0.0 {
                break;
            }
            flights.reach(patch.beyond[k] as usize, time);
        }
        self.pull(patch, at, span, last, flights)
    }

    /// One event of all, with all vertices at one time.
    pub fn act_all(&self, span: f64, strains: &mut [Strains], flights: &mut Flights<'_>) {
        let mut strains = strains.iter_mut();
        for patch in &self.patches {
            let [a, b, c] = patch.vertices.map(|v| v as usize);
            let at = [flights.nodes[a].x, flights.nodes[b].x, flights.nodes[c].x];
            self.pull(patch, at, span, strains.next(), flights);
        }
        for Fold { vertices, stiffness, sine } in &self.folds {
            self.bend(vertices.map(|v| v as usize), *stiffness, *sine, span, strains.next(), flights);
        }
    }

    /// Impulses of a triangle whose corners are there, and of its hinges, with all vertices at one time. How many times stiffer than at
    /// rest it is.
    #[inline(always)]
    fn pull(
        &self,
        patch: &Patch,
        at: [V3; 3],
        span: f64,
        mut last: Option<&mut Strains>,
        flights: &mut Flights<'_>,
    ) -> f64 {
        let [flow, bend_flow] = self.damping.map(|tau| tau / span);
        let strains = last.as_deref_mut().map(|last| (&mut last.membrane, flow));
        let (forces, stiffening) = patch.membrane(&self.law, &at, strains);
        let left = Left::new(&at);
        // Turned from hinge to hinge, so that its edge runs from the first to the second. By index they would go through memory, and wait
        // for it: a quarter of a twin's step.
        let corner = |k: usize| (patch.vertices[k], at[k], span * forces[k]);
        let [mut i, mut j, mut l] = [corner(0), corner(1), corner(2)];
        for k in 0..3 {
            if patch.stiffness[k] == 0.0 {
                break;
            }
            let beyond = patch.beyond[k] as usize;
            if let Some((sine, gradient)) = fold([&i.1, &j.1, &l.1, &flights.nodes[beyond].x], &left) {
                let mut bent = sine - patch.sines[k];
                if let Some(last) = &mut last {
                    bent += bend_flow * (sine - std::mem::replace(&mut last.sines[k], sine));
                }
                let moment = -2.0 * span * patch.stiffness[k] * bent;
                i.2 += moment * gradient[0];
                j.2 += moment * gradient[1];
                l.2 += moment * gradient[2];
                flights.push(beyond, moment * gradient[3]);
            }
            (i, j, l) = (j, l, i);
        }
        for (v, _, impulse) in [i, j, l] {
            flights.push(v as usize, impulse);
        }
        stiffening
    }

    /// Impulses of a hinge, with all vertices at one time.
    #[inline(always)]
    fn bend(
        &self,
        vertices: [usize; 4],
        stiffness: f64,
        rest: f64,
        span: f64,
        last: Option<&mut Strains>,
        flights: &mut Flights<'_>,
    ) {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| &flights.nodes[vertices[k]].x);
        let Some((sine, gradient)) = fold([a, b, c, d], &Left::new(&[*a, *b, *c])) else { return };
        let mut bent = sine - rest;
        if let Some(last) = last {
            bent += self.damping[1] / span * (sine - std::mem::replace(&mut last.sines[0], sine));
        }
        vertices.iter().zip(gradient).for_each(|(&k, g)| flights.push(k, -2.0 * span * stiffness * bent * g));
    }

    /// Strains with vertices at such places, as viscosity has them.
    pub fn strains(&self, x: impl Fn(u32) -> V3) -> Vec<Strains> {
        let sine = |vertices: [u32; 4], left: &Left| sine(&vertices.map(&x), left);
        let of_patch = |patch: &Patch| {
            let at = patch.vertices.map(&x);
            let left = Left::new(&at);
            Strains {
                membrane: self.law.strain(&patch.steps_of(&at)),
                sines: [0, 1, 2].map(|k| sine(patch.hinge(k), &left)),
            }
        };
        let of_fold = |fold: &Fold| {
            let [a, b, c, _] = fold.vertices.map(&x);
            Strains { membrane: [0.0; 3], sines: [sine(fold.vertices, &Left::new(&[a, b, c])), 0.0, 0.0] }
        };
        self.patches.iter().map(of_patch).chain(self.folds.iter().map(of_fold)).collect()
    }
}

impl Patch {
    /// -∂/∂x of its membrane energy for its corners, and viscosity if there are strains at the last event and a time over the span `[N]`;
    /// and how many times stiffer than at rest it is.
    #[inline(always)]
    fn membrane(&self, law: &Density, at: &[V3; 3], last: Option<(&mut [f64; 3], f64)>) -> ([V3; 3], f64) {
        let steps = self.steps_of(at);
        let now = law.strain(&steps);
        let mut strain: [f64; 3] = std::array::from_fn(|k| now[k] - self.rest[k]);
        if let Some((last, flow)) = last {
            strain = std::array::from_fn(|k| strain[k] + flow * (now[k] - last[k]));
            *last = now;
        }
        let [along_u, along_v] = law.stress_of(&steps, strain);
        let [[ub, uc], [vb, vc]] = self.steps;
        let b = -self.area * (ub * along_u + vb * along_v);
        let c = -self.area * (uc * along_u + vc * along_v);
        ([-(b + c), b, c], law.stiffening(now))
    }
}
