//! A loop: sweeps over all links until none is off by more than it may be.

use nalgebra::Vector3;
use partita_contact::Pushes;

use crate::{
    Solver, gauss_seidel,
    link_error::LinkError,
    net::Net,
    paths::{Paths, Rows},
};

type V3 = Vector3<f64>;

/// Values of particles that links bring together: predicted places `[m]`, or velocities `[m/s]`.
pub(crate) struct System<'a> {
    pub y: &'a mut [V3],
    /// Inverse masses, 0 for what is held `[1/kg]`.
    pub w: &'a [f64],
    /// What links gave to particles that are held: impulses, times the step in the loop of places.
    pub taken: &'a mut [V3],
    /// Whether a link is a rope.
    pub rope: &'a [bool],
    /// Error that each link may have, in the unit of `y`.
    pub allowed: &'a [f64],
    /// What each link gave so far: impulses, times the step in the loop of places; and by how much it gives way to that `[1/kg]`.
    pub pulls: &'a mut [f64],
    pub softness: f64,
}

impl System<'_> {
    /// Whether a link does nothing at such an error.
    pub fn is_slack(&self, link: usize, error: f64) -> bool {
        self.rope[link] && error <= 0.0
    }

    /// The direction of a link, and how much too far apart its values are for what it pulls.
    pub fn error(&self, link: usize, ends: [&V3; 2], forward: bool, error: &impl LinkError) -> (V3, f64) {
        let (n, e) = error.of(link, ends[0], ends[1], forward);
        (n, e - self.softness * self.pulls[link])
    }

    /// Gives a particle an impulse.
    pub fn push(&mut self, particle: usize, impulse: &V3) {
        let w = self.w[particle];
        if w > 0.0 {
            self.y[particle] += w * impulse;
        } else {
            self.taken[particle] += impulse;
        }
    }
}

/// How a sweep over all links went.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Swept {
    /// The largest error that was met, of what it may be [-].
    pub worst: f64,
    /// Links, or batches of paths, that were corrected.
    pub corrections: u32,
}

/// How a loop ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ended {
    pub iterations: u32,
    /// The largest error in the end, of what it may be [-].
    pub worst: f64,
}

/// What solvers know of the links, and their memory.
#[derive(Default)]
pub(crate) struct Solvers {
    ends: Vec<[u32; 2]>,
    paths: Paths,
    rows: Rows,
}

impl Solvers {
    pub fn new(net: &Net, is_held: impl Fn(u32) -> bool) -> Self {
        let paths = Paths::new(net, is_held);
        let mut rows = Rows::default();
        rows.resize(paths.longest());
        Self { ends: net.links.iter().map(|link| link.particles).collect(), paths, rows }
    }

    /// Sweeps contacts and links until both find nothing to correct: no link, and nothing that goes farther than `enough`. Paths are all corrected once: what is left alone until it is off by as much as it
    /// may be, and then is put right at once, gets that much by the step as a velocity.
    pub fn correct(
        &mut self,
        system: &mut System<'_>,
        error: &impl LinkError,
        (pushes, enough): (&mut Pushes, f64),
        solver: Solver,
        most: u32,
    ) -> Ended {
        for iterations in 1..=most {
            let pushed = pushes.sweep(system.y, system.w);
            let leave = if iterations == 1 { 0.0 } else { 1.0 };
            let swept = match solver {
                Solver::GaussSeidel => gauss_seidel::sweep(&self.ends, system, error),
                Solver::Paths => self.paths.sweep(system, error, leave, &mut self.rows),
            };
            if swept.corrections == 0 && pushed <= enough {
                return Ended { iterations, worst: swept.worst };
            }
        }
        Ended { iterations: most, worst: self.worst(system, error) }
    }

    /// The largest error of all links, of what it may be [-].
    pub fn worst(&self, system: &System<'_>, error: &impl LinkError) -> f64 {
        let of_allowed = |(link, ends): (usize, &[u32; 2])| {
            let e = system.error(link, ends.map(|k| &system.y[k as usize]), true, error).1;
            if system.is_slack(link, e) { 0.0 } else { e.abs() / system.allowed[link] }
        };
        self.ends.iter().enumerate().map(of_allowed).fold(0.0, f64::max)
    }
}
