//! Newton's method: all links of a net are corrected at once, so that errors travel any way in one step.
//!
//! Linearised as for a path (`paths.rs`), the impulses λ that make all errors e vanish solve A λ = e with A = J W Jᵀ + S: each pair of
//! links that share a particle of inverse mass w has an entry,
//!
//!   A_kk = w_i + w_j + s_k,   A_kl = w n_k·n_l, or less that where one begins and the other ends at the particle.
//!
//! A flat sheet with diagonals has more links than directions to move in, which makes A singular, and nearly so where it bends a little.
//! What is nearly free to move is thrown then: a link whose end goes aside by δ is too long by δ²/2l. So A gets a little more on its
//! diagonal, D, and more of that where errors fall less than they should (Levenberg and Marquardt). D λ is left of e then: most of it
//! where nothing can be moved, as by the tension of a taut row between particles that are held, which would pull at these as hard as D
//! is small. Links of which much is left, and which are right anyway, are let be; of others, what is left by more than they may be off is
//! not asked for again in a step. A step after which errors are larger is taken by half, and half of that. What it leaves off in a few
//! links, sweeps over paths put right (`solvers.rs`), for a hundredth of what another step would cost.
//!
//! Factors from before as a preconditioner of conjugate gradients were tried, on a sheet of 40 x 30 with diagonals: eight rounds leave 0.3
//! to 1 of the errors, and cost as much as new factors do.

use nalgebra::Vector3;

use crate::{
    cholesky::{self, Cholesky},
    link_error::LinkError,
    links::Beside,
    net::Net,
    solvers::{Swept, System},
};

type V3 = Vector3<f64>;

/// What the diagonal has more of at first, of it; at least, and at most; and by which factor that changes [-].
const SOFT: f64 = 1e-5;
const HARDEST: f64 = 1e-6;
const SOFTEST: f64 = 1e-2;
const CHANGE: f64 = 10.0;

/// If errors fall by less than this share of what they would if directions stayed, the next step is softer, and by more than the other
/// harder [-].
const LITTLE: f64 = 0.25;
const MUCH: f64 = 0.75;

/// Of what more than this is left cannot be corrected [-].
const MUCH_LEFT: f64 = 0.5;

/// No step is taken by less than this share of it [-].
const LEAST: f64 = 1.0 / 16.0;

/// A step costs no less than so many sweeps in any net [-].
const FEWEST: f64 = 3.0;

/// Solves of a step, at most, until no rope would push.
const SLACK: u32 = 3;

/// Memory of the method.
#[derive(Default)]
pub(crate) struct Newton {
    /// Of particles, whether each is held.
    held: Vec<bool>,
    /// About what a step costs at least, in visits of links.
    least_cost: f64,
    /// None until a step might be due; then none within if they would be too large.
    factors: Option<Option<Cholesky>>,
    equations: Equations,
    impulses: Vec<f64>,
}

/// The system of equations where links are now.
#[derive(Default)]
struct Equations {
    directions: Vec<V3>,
    /// What is to be corrected, 0 of links that do not pull.
    errors: Vec<f64>,
    active: Vec<bool>,
    /// Of A `[1/kg]`, and what that has more of, of what it has by inverse masses [-].
    diagonal: Vec<f64>,
    soft: f64,
    /// Sum of squares of errors, each of what it may be, and what is left of each error by a whole step if directions stay.
    sum: f64,
    left: Vec<f64>,
    /// By how much each error is to change.
    aims: Vec<f64>,
    /// What particles get, and where that would bring them.
    sums: Vec<V3>,
    trial: Vec<V3>,
}

impl Newton {
    /// Of a net of which some particles are held.
    pub fn new(net: &Net, held: Vec<bool>) -> Self {
        let ends = net.links.iter().map(|link| link.particles);
        let least_cost = cholesky::least_cost(ends, &held).max(FEWEST * net.links.len() as f64);
        Self { held, least_cost, ..Self::default() }
    }

    /// A loop begins.
    pub fn begin(&mut self) {
        self.equations.soft = SOFT;
    }

    /// Whether what was spent, in visits of links, is as much as a step costs; never if none can be taken. Which numbers its factors have
    /// is not found before it might be: that takes as long as 45 to 90 sweeps over sheets of any size, once.
    pub fn is_due(&mut self, system: &System<'_>, spent: f64) -> bool {
        let Self { held, least_cost, factors, .. } = self;
        if spent < *least_cost || *least_cost == f64::INFINITY {
            return false;
        }
        let factors = factors.get_or_insert_with(|| Cholesky::new(system.links.of_net(), held));
        factors.as_ref().is_some_and(|factors| spent >= factors.cost)
    }

    /// All links of the net once, if one is off by more than is left alone. None if that does not make errors smaller.
    pub fn step(&mut self, system: &mut System<'_>, error: &impl LinkError) -> Option<Swept> {
        let Self { factors: Some(Some(factors)), equations, impulses, .. } = self else { return None };
        let worst = equations.measure(system, error);
        if worst <= system.leave {
            return Some(Swept { worst, ..Swept::default() });
        }
        for _ in 0..SLACK {
            if !equations.factorise(system, factors) {
                return None;
            }
            equations.aims.clone_from(&equations.errors);
            equations.solve(system, factors, impulses);
            if equations.let_be(system) {
                equations.solve(system, factors, impulses);
            }
            if !equations.let_go(system, impulses) {
                break;
            }
        }
        let corrects = equations.apply(system, error, impulses);
        corrects.then_some(Swept { worst, corrections: 1, ..Swept::default() })
    }
}

impl Equations {
    /// Directions and errors of all links of the net; the largest error, of what it may be [-].
    fn measure(&mut self, system: &System<'_>, error: &impl LinkError) -> f64 {
        self.directions.clear();
        self.errors.clear();
        self.active.clear();
        self.diagonal.clear();
        let (mut worst, mut sum): (f64, f64) = (0.0, 0.0);
        for (link, ends) in system.links.of_net().iter().enumerate() {
            let (n, e) = system.error(link, ends.map(|k| &system.y[k as usize]), error);
            let w: f64 = ends.iter().map(|k| system.w[*k as usize]).sum();
            let own = (1.0 + self.soft) * w + system.softness::<f64>(link);
            let is_slack = system.is_slack(link, e, system.pulls[link]);
            let is_active = !is_slack && own > 0.0;
            let of_allowed = if is_slack || own == 0.0 { 0.0 } else { e.abs() / system.allowed[link] };
            worst = worst.max(of_allowed);
            sum += of_allowed * of_allowed;
            self.directions.push(n);
            self.errors.push(if is_active { e } else { 0.0 });
            self.active.push(is_active);
            self.diagonal.push(own);
        }
        self.sum = sum;
        worst
    }

    fn factorise(&self, system: &System<'_>, factors: &mut Cholesky) -> bool {
        let Self { directions, active, diagonal, .. } = self;
        let adds = |k: usize, &Beside { link, particle, sign }: &Beside| {
            let both = active[k] && active[link as usize];
            let turn = || sign * directions[k].dot(&directions[link as usize]);
            if both { system.w[particle as usize] * turn() } else { 0.0 }
        };
        factors.factorise(|k| if active[k] { diagonal[k] } else { 1.0 }, adds)
    }

    /// Impulses for what is to be changed, and what they leave of errors, D λ.
    fn solve(&mut self, system: &System<'_>, factors: &mut Cholesky, impulses: &mut Vec<f64>) {
        impulses.clone_from(&self.aims);
        factors.solve(impulses);
        self.left.clear();
        let of_links = impulses.iter().zip(&self.active).enumerate();
        self.left.extend(of_links.map(|(link, (impulse, is_active))| {
            let [i, j] = system.links.ends[link].map(|k| system.w[k as usize]);
            if *is_active { self.soft * (i + j) * impulse } else { 0.0 }
        }));
    }

    /// Ropes that would push pull no more. Whether there were some.
    fn let_go(&mut self, system: &System<'_>, impulses: &[f64]) -> bool {
        let mut any = false;
        for (link, &impulse) in impulses.iter().enumerate() {
            if self.active[link] && impulse < 0.0 && system.is_slack(link, impulse, system.pulls[link]) {
                (self.active[link], self.errors[link], self.aims[link]) = (false, 0.0, 0.0);
                any = true;
            }
        }
        any
    }

    /// A link that is right anyway is let be if much of its error is left; of others, what is left by more than it may be is not asked for
    /// again. Whether there was one.
    fn let_be(&mut self, system: &System<'_>) -> bool {
        let mut any = false;
        for (link, (aim, left)) in self.aims.iter_mut().zip(&self.left).enumerate() {
            let (e, allowed) = (self.errors[link], system.allowed[link]);
            let is_let_be = *aim != 0.0 && e.abs() <= allowed && left.abs() > MUCH_LEFT * e.abs();
            if is_let_be || left.abs() > allowed {
                *aim = if is_let_be { 0.0 } else { e - left };
                any = true;
            }
        }
        any
    }

    /// Gives particles so much of their impulses that links do not turn too far for directions to hold and errors fall. Whether they do.
    fn apply(&mut self, system: &mut System<'_>, error: &impl LinkError, impulses: &mut [f64]) -> bool {
        for (link, impulse) in impulses.iter_mut().enumerate() {
            *impulse = system.within_limits(link, *impulse, system.pulls[link]);
        }
        let mut share = 1.0 / self.add_up(system, error, impulses);
        let mut is_first = true;
        while share >= LEAST {
            let [after, expected] = self.try_share(system, error, impulses, share);
            let fall = (self.sum - after) / (self.sum - expected);
            if std::mem::take(&mut is_first) {
                let change = if fall > MUCH {
                    1.0 / CHANGE
                } else if fall > LITTLE {
                    1.0
                } else {
                    CHANGE
                };
                self.soft = (change * self.soft).clamp(HARDEST, SOFTEST);
            }
            if after < self.sum {
                system.pulls.iter_mut().zip(&*impulses).for_each(|(pull, impulse)| *pull += share * impulse);
                for (particle, sum) in self.sums.iter().enumerate() {
                    system.push(particle, &(share * sum));
                }
                return true;
            }
            share *= 0.5;
        }
        false
    }

    /// What particles get from their links. How far two that are linked go apart at most, of how far they may, or 1 if that is more.
    fn add_up(&mut self, system: &System<'_>, error: &impl LinkError, impulses: &[f64]) -> f64 {
        let Self { directions, sums, .. } = self;
        let links = system.links.of_net();
        sums.clear();
        sums.resize(system.y.len(), V3::zeros());
        for (ends, (n, impulse)) in links.iter().zip(directions.iter().zip(impulses)) {
            let [i, j] = ends.map(|k| k as usize);
            sums[i] += *impulse * n;
            sums[j] -= *impulse * n;
        }
        let far = |(link, ends): (usize, &[u32; 2])| {
            let [i, j] = ends.map(|k| system.w[k as usize] * sums[k as usize]);
            (j - i).norm() / error.reach::<f64>(link)
        };
        links.iter().enumerate().map(far).fold(1.0, f64::max)
    }

    /// Sums of squares of errors, each of what it may be, after a share of impulses, and if directions stayed.
    fn try_share(&mut self, system: &System<'_>, error: &impl LinkError, impulses: &[f64], share: f64) -> [f64; 2] {
        let places = system.y.iter().zip(system.w.iter().zip(&self.sums));
        self.trial.clear();
        self.trial.extend(places.map(|(y, (w, sum))| y + share * *w * sum));
        let (mut after, mut expected) = (0.0, 0.0);
        let of_links = system.links.of_net().iter().zip(&self.diagonal).enumerate();
        for (link, (ends, _)) in of_links.filter(|(_, (_, own))| **own > 0.0) {
            let [i, j] = ends.map(|k| &self.trial[k as usize]);
            let pulled = system.pulls[link] + share * impulses[link];
            let e = error.of(link, i, j, 1.0).1 - system.softness::<f64>(link) * pulled;
            let left = self.errors[link] - share * (self.aims[link] - self.left[link]);
            let squares = [if system.is_slack(link, e, pulled) { 0.0 } else { e * e }, left * left];
            let [own_after, own_expected] = squares.map(|square| square / system.allowed[link].powi(2));
            after += own_after;
            expected += own_expected;
        }
        [after, expected]
    }
}
