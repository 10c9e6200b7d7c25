//! A loop: sweeps over all links until none is off by more than it may be.

use std::{ops::Deref, time::Instant};

use nalgebra::Vector3;
use partita_contact::Pushes;

use crate::{
    Solver, anticipation, gauss_seidel,
    lanes::Lanes,
    link_error::LinkError,
    links::Links,
    net::Net,
    newton::Newton,
    paths::{self, Paths},
};

type V3 = Vector3<f64>;

/// Values of particles that links bring together: predicted places `[m]`, or velocities `[m/s]`.
pub(crate) struct System<'a> {
    pub y: &'a mut [V3],
    /// What links gave to particles that are held: impulses, times the step in the loop of places.
    pub taken: &'a mut [V3],
    /// What each link gave so far: impulses, times the step in the loop of places.
    pub pulls: &'a mut [f64],
    pub fixed: Fixed<'a>,
}

/// What stays as it is while a system is swept.
#[derive(Clone, Copy)]
pub(crate) struct Fixed<'a> {
    /// Inverse masses, 0 for what is held `[1/kg]`.
    pub w: &'a [f64],
    pub links: &'a Links,
    /// Error that each link may have, in the unit of `y`.
    pub allowed: &'a [f64],
    /// What makes of a link's compliance how much farther apart it lets its particles be by what it gave: 1/h², or 0 in the loop of
    /// velocities, and if none gives way `[1/s²]`.
    pub softening: f64,
    /// The largest that a correction gives, in the unit of `pulls`.
    pub largest: f64,
    /// How far links may be off in the next sweep without being corrected, of what they may be: 0 in the first after a warm start, and in the
    /// first over paths.
    pub leave: f64,
}

impl Fixed<'_> {
    /// Whether a link does nothing at such an error, where it has given so much: a rope that gives way takes back what it gave too much.
    pub fn is_slack(&self, link: usize, error: f64, pulled: f64) -> bool {
        self.links.is_slack(link, error) && !(pulled > 0.0 && self.links.compliance[link] > 0.0)
    }

    /// By how much a link gives way to what it gives `[1/kg]`.
    #[inline]
    pub fn softness<T: Lanes>(&self, link: T::Which) -> T {
        if self.softening == 0.0 {
            return T::zero();
        }
        T::splat(self.softening) * T::gather(&self.links.compliance, link)
    }

    /// Whether something of a link can be moved.
    pub fn can_move(&self, link: usize) -> bool {
        self.links.ends[link].iter().any(|&k| self.w[k as usize] > 0.0) || self.softness::<f64>(link) > 0.0
    }

    /// What a link that pulled with so much may give at once: no more than the limit, and of ropes no push.
    pub fn within_limits(&self, link: usize, pull: f64, pulled: f64) -> f64 {
        let least = if self.links.is_rope(link) { -pulled } else { f64::NEG_INFINITY };
        pull.clamp(-self.largest, self.largest).max(least)
    }
}

impl<'a> Deref for System<'a> {
    type Target = Fixed<'a>;

    fn deref(&self) -> &Fixed<'a> {
        &self.fixed
    }
}

impl System<'_> {
    /// The direction of a link, and how much too far apart its values are for what it pulls.
    #[inline]
    pub fn error(&self, link: usize, [first, second]: [&V3; 2], error: &impl LinkError) -> (V3, f64) {
        let (n, e) = error.of(link, first, second, 1.0);
        if self.softening == 0.0 { (n, e) } else { (n, e - self.softness::<f64>(link) * self.pulls[link]) }
    }

    /// The largest error of all links that are asked for, of what it may be [-].
    pub fn worst(&self, error: &impl LinkError, is_asked: impl Fn(usize) -> bool) -> f64 {
        let of_allowed = |link: usize| {
            let e = self.error(link, self.links.ends[link].map(|k| &self.y[k as usize]), error).1;
            if self.is_slack(link, e, self.pulls[link]) { 0.0 } else { e.abs() / self.allowed[link] }
        };
        (0..self.links.len()).filter(|link| is_asked(*link)).map(of_allowed).fold(0.0, f64::max)
    }

    /// Struts once, each as if it were alone.
    fn sweep_struts(&mut self, error: &impl LinkError) -> Swept {
        let mut swept = Swept::default();
        for link in self.links.struts() {
            let [i, j] = self.links.ends[link].map(|k| k as usize);
            let (n, e) = self.error(link, [&self.y[i], &self.y[j]], error);
            let does_nothing = self.is_slack(link, e, 0.0) || !self.can_move(link);
            let of_allowed = if does_nothing { 0.0 } else { e.abs() / self.allowed[link] };
            swept.worst = swept.worst.max(of_allowed);
            if of_allowed > self.leave {
                self.pull(link, e / (self.w[i] + self.w[j]), &n);
                swept.corrections += 1;
            }
        }
        swept
    }

    /// A link pulls at both its particles, along the direction from the first to the second, as far as it may at once.
    pub fn pull(&mut self, link: usize, pull: f64, n: &V3) {
        let pull = self.within_limits(link, pull, self.pulls[link]);
        let impulse = pull * n;
        self.pulls[link] += pull;
        let [i, j] = self.links.ends[link].map(|k| k as usize);
        self.push(i, &impulse);
        self.push(j, &-impulse);
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

/// Contacts that are solved in the same loop, and by how much they may still move what they part.
pub(crate) struct Meeting<'a> {
    pub pushes: &'a mut Pushes,
    pub enough: f64,
    /// Inverse masses for contacts: those of links count friction of pressed particles `[1/kg]`.
    pub inverse_masses: &'a [f64],
}

impl Meeting<'_> {
    /// All contacts once. By how much that moved something at most.
    pub fn sweep(&mut self, system: &mut System<'_>) -> f64 {
        self.pushes.sweep(system.y, self.inverse_masses, system.w)
    }
}

/// Where a loop stops in any case: after so many sweeps, or at a time.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    pub sweeps: u32,
    pub until: Option<Instant>,
}

impl Limit {
    pub fn is_reached(&self, counts: &Counts) -> bool {
        counts.iterations >= self.sweeps || self.is_late()
    }

    pub fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// How a sweep over all links went.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Swept {
    /// The largest error that was met of what can be moved, of what it may be [-].
    pub worst: f64,
    /// Links that were looked at, and links, or batches of paths, that were corrected.
    pub visits: u32,
    pub corrections: u32,
}

impl Swept {
    pub fn join(&mut self, other: &Self) {
        self.worst = self.worst.max(other.worst);
        self.visits += other.visits;
        self.corrections += other.corrections;
    }
}

/// What loops of a step did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Sweeps over all links.
    pub iterations: u32,
    /// Links that were looked at; by all but link by link all in every sweep, which is not counted.
    pub visits: u64,
    /// Of the sweeps, steps of Newton's method.
    pub newton_steps: u32,
    /// Links that were corrected; batches of paths, and steps of Newton's method.
    pub corrections: u64,
}

/// How a loop ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ended {
    pub counts: Counts,
    /// The largest error in the end of what can be moved, of what it may be [-].
    pub worst: f64,
}

impl Counts {
    pub(crate) fn join(&mut self, other: &Self) {
        self.iterations += other.iterations;
        self.visits += other.visits;
        self.corrections += other.corrections;
        self.newton_steps += other.newton_steps;
    }

    /// Adds a sweep.
    pub(crate) fn add(&mut self, swept: &Swept) {
        self.iterations += 1;
        self.visits += u64::from(swept.visits);
        self.corrections += u64::from(swept.corrections);
    }
}

/// What solvers know of the links, and their memory.
#[derive(Default)]
pub(crate) struct Solvers {
    gauss_seidel: gauss_seidel::Memory,
    anticipation: anticipation::Memory,
    paths: Paths,
    memory: paths::Memory,
    newton: Newton,
}

impl Solvers {
    pub fn new(net: &Net, is_held: impl Fn(u32) -> bool) -> Self {
        let held = (0..net.positions.len() as u32).map(&is_held).collect();
        let newton = Newton::new(net, held);
        let paths = Paths::new(net, is_held);
        Self { memory: paths.memory(), paths, newton, ..Self::default() }
    }

    /// Sweeps contacts and links until both find nothing to correct, or to a limit. In a part of a step before the last, paths are
    /// swept once where that finds no link off by more than it may be.
    pub fn correct(
        &mut self,
        system: &mut System<'_>,
        error: &impl LinkError,
        mut meeting: Meeting<'_>,
        solver: Solver,
        (limit, is_last): (Limit, bool),
    ) -> Ended {
        let counts = match solver {
            Solver::Paths | Solver::Newton | Solver::Auto => {
                let are_many = self.paths.use_threads();
                let correct = || self.correct_paths(system, error, meeting, solver, (limit, is_last));
                // Threads that are called for each group of paths from outside fall asleep in between.
                return if are_many { rayon::scope(|_| correct()) } else { correct() };
            }
            Solver::GaussSeidel(with) if with.anticipation => {
                self.anticipation.correct(system, error, &mut meeting, with, limit)
            }
            Solver::GaussSeidel(with) => self.gauss_seidel.correct(system, error, &mut meeting, with, limit),
        };
        Ended { counts, worst: system.worst(error, |link| system.can_move(link)) }
    }

    /// Paths are all corrected once: what is left alone until it is off by as much as it may be, and then is put right at once, gets that
    /// much by the step as a velocity.
    ///
    /// Where sweeps have cost as much as a step of Newton's method would, there is one, if that is asked for: about twice the work of
    /// whichever is right for the net at most. Contacts and struts, which push only, are left to sweeps, and so are links as long as there
    /// are some: in scene 3 of the paper steps in between spared no sweeps. So is what has to stop at a time, or at an impulse.
    fn correct_paths(
        &mut self,
        system: &mut System<'_>,
        error: &impl LinkError,
        mut meeting: Meeting<'_>,
        solver: Solver,
        (limit, is_last): (Limit, bool),
    ) -> Ended {
        let mut counts = Counts::default();
        let links = system.links.of_net().len() as f64;
        // In visits of links.
        let mut spent = if solver == Solver::Newton { f64::INFINITY } else { 0.0 };
        self.newton.begin();
        let is_whole = limit.until.is_none() && system.largest == f64::INFINITY;
        let may = solver != Solver::Paths && links > 0.0 && is_whole;
        system.fixed.leave = 0.0;
        while !limit.is_reached(&counts) {
            let moved = meeting.sweep(system);
            let mut swept = system.sweep_struts(error);
            let is_alone = meeting.pushes.is_empty() && system.links.struts().is_empty();
            let is_due = may && is_alone && self.newton.is_due(system, spent);
            let step = if is_due { self.newton.step(system, error) } else { None };
            spent = if is_due { 0.0 } else { spent + links };
            counts.newton_steps += step.as_ref().map_or(0, |step| step.corrections);
            swept.join(&step.unwrap_or_else(|| self.paths.sweep(system, error, &mut self.memory)));
            system.fixed.leave = 1.0;
            counts.add(&swept);
            let is_right = swept.corrections == 0 || !is_last && counts.iterations == 1 && swept.worst <= 1.0;
            if is_right && moved <= meeting.enough {
                return Ended { counts, worst: swept.worst };
            }
        }
        Ended { counts, worst: system.worst(error, |link| system.can_move(link)) }
    }
}
