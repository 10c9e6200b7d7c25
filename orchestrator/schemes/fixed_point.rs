//! Fixed-point iteration on the loads of a window: passes repeated in place by retract, until the
//! loads that the leaders felt are those that the followers report.
//!
//! With x the loads, r = G(x) - x their residual and P a factor for each slot, the next iterate is
//! Anderson's, D. Anderson: Iterative procedures for nonlinear integral equations, JACM 1965:
//!
//!   x ← x̄ + P r̄,   x̄ = x_b + Σ θ_k (x_k - x_b),   r̄ = r_b + Σ θ_k (r_k - r_b),
//!
//! where b is the trial of the smallest residual so far, k are the last others, and θ makes |r̄|
//! smallest. For linear G of n modes this ends after n + 2 passes. P is scaled by the secant of two
//! trials, Aitken's factor, for the next window, and at once where a trial is no better than the
//! best.
//!
//! G has kinks where contacts end: where two trials in a row are worse than the best, the next is
//! found between the best and one on the other side of the solution (r_b·r_k < 0) by the secant,
//! with the Illinois rule of regula falsi: each time that end stays its residual counts half.
//!
//! A contact that is new starts from P = 1/(1 + m₁/m₂), with the ratio of the masses that the first
//! pass shows: a follower that was at rest takes the impulse J = m₁ v̄, so m₁/m₂ = J·M J/(J·v̄).

use nalgebra::Vector3;
use partita_simulator::{Outcome, Wrench};

use super::{Relaxed, halving::Effort};
use crate::{
    bounded::Bounded,
    coupled::InterfaceState,
    engine::{Engine, Failure, Push, START, WindowReport},
    passivity::{SlotIndex, work},
};

type V3 = Vector3<f64>;

/// Smallest factor that the first pass may ask for: a body at rest shows no ratio of masses [-].
const LEAST: f64 = 1e-3;

/// Halvings of one change of the loads before the iteration stops at the best trial.
const HALVINGS: u32 = 12;

/// Trials besides the best that are kept: more than the modes of one body.
const HISTORY: usize = 8;

/// A difference of residuals is left out if less of it than this is independent of the newer ones
/// [-].
const INDEPENDENT: f64 = 1e-2;

/// Passes from which on they show how far others support a carrier: from one to the next, what other carriers do may hide
/// that it is free.
const ENOUGH: usize = 4;

/// Trials in a row that are no better than the best before the iteration searches between two.
const STALLED: u32 = 2;

/// Loads and their residual.
#[derive(Clone)]
struct Trial {
    x: Vec<f64>,
    r: Vec<f64>,
    /// [`Engine::given`] of each slot `[J]`.
    given: Vec<f64>,
}

impl Trial {
    fn size(&self) -> f64 {
        norm(&self.r)
    }

    fn minus(&self, other: &Self) -> Self {
        let of = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
        Self { x: of(&self.x, &other.x), r: of(&self.r, &other.r), given: vec![] }
    }

    fn add(&mut self, factor: f64, other: &Self) {
        self.x.iter_mut().zip(&other.x).for_each(|(x, other)| *x += factor * other);
        self.r.iter_mut().zip(&other.r).for_each(|(r, other)| *r += factor * other);
    }

    fn is_opposite(&self, other: &Self) -> bool {
        dot(&self.r, &other.r) < 0.0
    }
}

/// Loads of an iteration that has converged or stopped.
pub(super) struct Solved {
    slots: Vec<SlotIndex>,
    forces: Vec<Vec<Wrench>>,
    /// Whether the load of each slot is found.
    converged: Vec<bool>,
    /// Fraction of its mobility that each carrier showed, see [`FixedPoint::mobility_shown`] [-].
    mobility_shown: Vec<f64>,
    pub effort: Effort,
    /// Whether so much is used that no further load is tried, see [`Relaxed::budget`].
    pub is_spent: bool,
    /// Whether no loads were found for a window of contacts, and there is work left to try halves of it.
    pub is_to_be_halved: bool,
    load_change: f64,
    outcome: Outcome,
}

impl Solved {
    /// Takes in slots for whose iteration no work is left: what they owe is bounded as if it had not
    /// converged.
    pub(super) fn join(&mut self, slots: &[SlotIndex]) {
        self.slots.extend(slots);
        self.converged.resize(self.slots.len(), false);
        self.mobility_shown.resize(self.slots.len(), 1.0);
        if self.outcome == Outcome::Converged {
            let unit = "contacts without an iteration".into();
            self.outcome = Outcome::StoppedAt { error: slots.len() as f64, bound: 0.0, unit };
        }
    }

    /// Makes the last pass the window, with its loads as a start for the next one. Owed impulses
    /// act as far as they add no energy. `others` carries over the loads of all other slots.
    pub(super) fn accept(self, engine: &mut Engine, dt: f64, others: impl FnOnce(&mut Engine)) -> WindowReport {
        let report = engine.accept(dt, self.effort.passes, self.load_change, self.outcome);
        others(engine);
        let owed =
            |interface: &InterfaceState, s: usize| interface.pending[s] - interface.impacts[s] - interface.holding[s];
        // A residual within its bound is paid; more than that may not add energy.
        let waiting = |interface: &InterfaceState, s: usize, has_converged: bool| {
            if has_converged { interface.withheld[s] } else { owed(interface, s) }
        };
        let of = |(k, &[i, s]): (usize, &SlotIndex)| {
            let interface = &engine.state.interfaces[i];
            let waiting = waiting(interface, s, self.converged[k]);
            // What is withheld brakes a carrier only in contact, not in free flight.
            let is_idle = engine.pass.got[i][s] == Wrench::ZERO;
            Bounded {
                slot: [i, s],
                load: if is_idle { waiting - interface.withheld[s] } else { waiting },
                applied: Wrench::ZERO,
                end: engine.next_velocities([i, s]),
                shown: self.mobility_shown[k],
                given: interface.passivity[s].tank.energy(),
                fraction: 0.0,
            }
        };
        let mut payable: Vec<Bounded> = self.slots.iter().enumerate().map(of).collect();
        engine.bound_together(&mut payable);
        for (Bounded { slot: [i, s], load, fraction, .. }, has_converged) in payable.into_iter().zip(self.converged) {
            let reaction = engine.pass.reaction([i, s]);
            let interface = &mut engine.state.interfaces[i];
            let owed = owed(interface, s);
            let passive = owed - waiting(interface, s, has_converged) + load.scaled(fraction);
            interface.carry[s] = passive + interface.holding[s];
            interface.withheld[s] = owed - passive;
            let keeps = !has_converged && reaction != Wrench::ZERO;
            interface.force[s] = if keeps { self.forces[i][s] } else { reaction.scaled(1.0 / dt) };
        }
        report
    }
}

/// Iterates on the loads of some slots; all others are interleaved.
pub(super) struct FixedPoint<'a> {
    parameters: &'a Relaxed,
    slots: Vec<SlotIndex>,
    /// Energy that the residual may add to each contact, relative to that of its carrier [-].
    energy: Option<f64>,
    effort: Effort,
    /// Impulse on each carrier in each pass `[N s]`, and what was added to it, and velocity and spin
    /// at its end `[m/s]`, `[rad/s]`.
    shown: Vec<Vec<([Wrench; 2], [V3; 2])>>,
    best: Option<Trial>,
    /// Newest first.
    others: Vec<Trial>,
    stalled: u32,
}

impl<'a> FixedPoint<'a> {
    pub(super) fn new(parameters: &'a Relaxed, slots: Vec<SlotIndex>, effort: Effort) -> Self {
        Self { parameters, slots, energy: None, effort, shown: vec![], best: None, others: vec![], stalled: 0 }
    }

    /// Converges also when the residual adds no more than this to the energy of any contact [-].
    pub(super) fn energy(self, energy: f64) -> Self {
        Self { energy: Some(energy), ..self }
    }

    /// Finds the loads of a window that is marked as [`START`], and leaves the engine after the
    /// pass with them.
    pub(super) fn solve(
        mut self,
        engine: &mut Engine,
        dt: f64,
        next_dt: f64,
        pushes: &[Push],
    ) -> Result<Solved, Failure> {
        let mut forces: Vec<_> = engine.state.interfaces.iter().map(|interface| interface.force.clone()).collect();
        let mut x: Vec<f64> = self.rows(engine, self.slots.iter().map(|&[i, s]| forces[i][s])).collect();
        let (before, ledgers) = (self.effort.used, engine.follower_ledgers(&self.slots));
        let (mut passes, mut most, mut halvings, mut giving_up) = (0, 0.0_f64, 0, false);
        let (load_change, outcome, is_spent, is_to_be_halved) = loop {
            if passes > 0 {
                engine.retract(START, true)?;
            }
            let passed = engine.pass(dt, next_dt, &forces, pushes, self.effort.passes > 0);
            passes += 1;
            self.effort.add(engine);
            // A pass that fails used less than it would have.
            most = most.max(engine.budget_used());
            let is_spent = self.effort.used - before + 0.5 * most > self.parameters.budget;
            let may_go_on = passes < self.parameters.passes && !is_spent;
            if let Err(failure) = passed {
                if !engine.members[failure.member].coupled {
                    // No load of a coupling changes what it does.
                    return Err(failure);
                }
                match &self.best {
                    // The loads carried over fail: without them, or not at all.
                    None if x.iter().all(|&x| x == 0.0) => return Err(failure),
                    None => x.fill(0.0),
                    Some(best) if giving_up && x == best.x => return Err(failure),
                    Some(best) if giving_up => x.clone_from(&best.x),
                    Some(best) if halvings == HALVINGS || !may_go_on => {
                        giving_up = true;
                        x = self.bounded(engine, best, &forces, dt);
                    }
                    Some(best) => {
                        halvings += 1;
                        x.iter_mut().zip(&best.x).for_each(|(x, best)| *x = 0.5 * (*x + best));
                    }
                }
                self.unstack(engine, &x, &mut forces);
                continue;
            }
            halvings = 0;
            let shown = |&[i, s]: &SlotIndex| {
                ([forces[i][s].scaled(dt), engine.pass.added[i][s]], engine.end_velocities([i, s]))
            };
            self.shown.push(self.slots.iter().map(shown).collect());

            let after = engine.follower_ledgers(&self.slots);
            engine.balance(&ledgers, &after, dt);
            // Without impulses that are meant for the next window.
            let reactions = self.slots.iter().map(|&slot| engine.pass.reaction(slot).scaled(1.0 / dt));
            let r = self.rows(engine, reactions).zip(&x).map(|(reaction, x)| reaction - x).collect();
            let given = self.slots.iter().map(|&[i, s]| engine.given([i, s], forces[i][s].scaled(dt), dt)).collect();
            let trial = Trial { x: x.clone(), r, given };
            let (size, change, gap) = (norm(&x).max(trial.size()), trial.size(), engine.gap());
            let relative = if change <= self.parameters.floor { 0.0 } else { change / size };
            let is_passive =
                |energy: f64| self.slots.iter().all(|&slot| engine.residual_energy(slot, dt, next_dt) <= energy);
            let fits = relative <= self.parameters.tolerance || self.energy.is_some_and(is_passive);
            if fits && gap <= self.parameters.gap {
                break (relative, Outcome::Converged, is_spent, false);
            }
            let may_halve = self.effort.may_halve(engine, dt, self.parameters, most)
                && self.slots.iter().any(|&slot| engine.contact(slot, dt).is_some());
            if !giving_up && !may_go_on && !may_halve {
                giving_up = true;
                let best = self.best.as_ref().filter(|best| best.size() < change).unwrap_or(&trial);
                let last = self.bounded(engine, best, &forces, dt);
                if last != x {
                    x = last;
                    self.unstack(engine, &x, &mut forces);
                    continue;
                }
            }
            if giving_up || !may_go_on {
                let stopped = |error, bound, unit: &str| Outcome::StoppedAt { error, bound, unit: unit.into() };
                let outcome = if relative > self.parameters.tolerance {
                    stopped(relative, self.parameters.tolerance, "of the coupled loads")
                } else {
                    stopped(gap, self.parameters.gap, "m")
                };
                break (relative, outcome, is_spent, may_halve && !giving_up);
            }
            if self.best.is_none() {
                self.estimate(engine, dt);
            }
            x = self.next(engine, trial);
            self.unstack(engine, &x, &mut forces);
        };

        self.rescale(engine);
        // Loads that converge change too little from pass to pass to show it.
        let has_converged = outcome == Outcome::Converged;
        let mobility_shown = if has_converged { vec![1.0; self.slots.len()] } else { self.mobility_shown(engine) };
        let converged = vec![has_converged; self.slots.len()];
        let Self { slots, effort, .. } = self;
        Ok(Solved { slots, forces, converged, mobility_shown, effort, is_spent, is_to_be_halved, load_change, outcome })
    }

    /// Loads for the next pass, after `trial`.
    fn next(&mut self, engine: &mut Engine, trial: Trial) -> Vec<f64> {
        let Some(best) = self.best.take() else {
            let x = self.advanced(engine, &trial.x, &trial.r);
            self.best = Some(trial);
            return x;
        };
        let is_better = trial.size() < best.size();
        let (best, newer) = if is_better { (trial, best) } else { (best, trial) };
        self.stalled = if is_better { 0 } else { self.stalled + 1 };
        self.others.insert(0, newer);
        self.others.truncate(HISTORY);
        let sum = match self.others.iter().find(|other| other.is_opposite(&best)) {
            Some(end) if self.stalled >= STALLED => {
                let mut end = end.clone();
                let weight = 0.5_f64.powi((self.stalled - STALLED) as i32);
                end.r.iter_mut().for_each(|r| *r *= weight);
                combined(&best, &[end])
            }
            _ => combined(&best, &self.others),
        };
        self.best = Some(best);
        if self.stalled > 0 {
            self.rescale(engine);
        }
        self.advanced(engine, &sum.x, &sum.r)
    }

    /// Loads of a trial, bounded so that in a contact none reverses its carrier's motion as it
    /// would be without them, or drives it with more energy than the follower gave. All other loads
    /// are those of `forces`.
    fn bounded(&self, engine: &Engine, trial: &Trial, forces: &[Vec<Wrench>], dt: f64) -> Vec<f64> {
        let impulses = |rows: &[f64]| {
            let mut loads = forces.to_vec();
            self.unstack(engine, rows, &mut loads);
            self.slots.iter().map(|&[i, s]| loads[i][s].scaled(dt)).collect::<Vec<_>>()
        };
        let reported: Vec<f64> = trial.x.iter().zip(&trial.r).map(|(x, r)| x + r).collect();
        let (tried, reported) = (impulses(&trial.x), impulses(&reported));
        // Later loads may be so large that carriers meet others, hence by the first pass.
        let shown = self.mobility_shown(engine);
        let first = self.slots.iter().zip(&self.shown[0]).zip(&shown);
        let mut bounded: Vec<Bounded> = first
            .zip(&trial.given)
            .zip(tried)
            .map(|((((&slot, ([applied, _], end)), &shown), &given), load)| Bounded {
                slot,
                load,
                applied: *applied,
                end: *end,
                shown,
                given,
                fraction: 0.0,
            })
            .collect();
        engine.pay_what_is_owed(&mut bounded, &reported);
        engine.bound_together(&mut bounded);
        self.rows(engine, bounded.iter().map(|bounded| bounded.load.scaled(bounded.fraction / dt))).collect()
    }

    /// Largest fraction of its mobility that each carrier showed from one pass to the next, along
    /// the change of its impulse: less than 1 where others support it [-]. It is 1 where no pass
    /// shows it: where there were too few, no impulse changed, or the carrier went against the
    /// change, for other impulses.
    fn mobility_shown(&self, engine: &Engine) -> Vec<f64> {
        if self.shown.len() < ENOUGH {
            return vec![1.0; self.slots.len()];
        }
        let of = |k: usize| {
            let fraction = |passes: &[Vec<([Wrench; 2], [V3; 2])>]| {
                let [(before, from), (after, to)] = [passes[0][k], passes[1][k]];
                let change = after[0] + after[1] - before[0] - before[1];
                let found = work(change, [0, 1].map(|k| to[k] - from[k]));
                let stated = work(change, engine.change(self.slots[k], change));
                (stated > 0.0 && found >= 0.0).then(|| (found / stated).min(1.0))
            };
            self.shown.windows(2).filter_map(fraction).reduce(f64::max).unwrap_or(1.0)
        };
        (0..self.slots.len()).map(of).collect()
    }

    /// x + P r.
    fn advanced(&self, engine: &Engine, x: &[f64], r: &[f64]) -> Vec<f64> {
        x.iter().zip(r).zip(self.factors(engine)).map(|((x, r), factor)| x + factor * r).collect()
    }

    /// P, for each row.
    fn factors(&self, engine: &Engine) -> impl Iterator<Item = f64> {
        self.slots.iter().flat_map(|&[i, s]| [engine.state.interfaces[i].factors[s]; 6])
    }

    /// Factors of contacts that are new, from the first pass.
    fn estimate(&self, engine: &mut Engine, dt: f64) {
        for &[i, s] in &self.slots {
            if engine.state.interfaces[i].force[s] == Wrench::ZERO {
                let ratio = engine.mass_ratio([i, s], dt);
                engine.state.interfaces[i].factors[s] = self.clamped((1.0 / (1.0 + ratio)).max(LEAST));
            }
        }
    }

    /// Multiplies all factors by one number so that P Δr is nearest to -Δx between the best and the
    /// newest other trial, relative to the factors. A secant of each slot alone would ascribe to it
    /// what the loads of others changed.
    fn rescale(&self, engine: &mut Engine) {
        let (Some(best), Some(other)) = (&self.best, self.others.first()) else { return };
        let step = best.minus(other);
        let relative: Vec<f64> = step.x.iter().zip(self.factors(engine)).map(|(x, factor)| x / factor).collect();
        let scale = -dot(&relative, &step.r) / dot(&step.r, &step.r);
        if scale > 0.0 && scale.is_finite() {
            for &[i, s] in &self.slots {
                let factor = &mut engine.state.interfaces[i].factors[s];
                *factor = self.clamped(scale * *factor);
            }
        }
    }

    fn clamped(&self, factor: f64) -> f64 {
        factor.clamp(self.parameters.factor[0], self.parameters.factor[1])
    }

    /// Wrenches, one for each slot, as one vector of forces: torques are divided by the extent of
    /// their handle.
    fn rows(&self, engine: &Engine, wrenches: impl Iterator<Item = Wrench>) -> impl Iterator<Item = f64> {
        self.slots.iter().zip(wrenches).flat_map(|(&[i, s], wrench)| {
            let extent = engine.interfaces[i].slots[s].extent;
            let ([a, b, c], [d, e, f]) = (wrench.linear, wrench.angular.map(|x| x / extent));
            [a, b, c, d, e, f]
        })
    }

    /// The inverse of [`FixedPoint::rows`].
    fn unstack(&self, engine: &Engine, x: &[f64], wrenches: &mut [Vec<Wrench>]) {
        for (&[i, s], row) in self.slots.iter().zip(x.chunks_exact(6)) {
            let extent = engine.interfaces[i].slots[s].extent;
            let angular = [row[3], row[4], row[5]].map(|x| x * extent);
            wrenches[i][s] = Wrench { linear: [row[0], row[1], row[2]], angular };
        }
    }
}

/// The combination x̄ of trials, and its residual r̄, that is smallest.
///
/// The differences of residuals are made orthogonal, newest first, by the modified Gram-Schmidt
/// process. Each keeps the step in x that belongs to it.
fn combined(best: &Trial, others: &[Trial]) -> Trial {
    let mut basis: Vec<Trial> = vec![];
    for other in others {
        let mut step = other.minus(best);
        let size = step.size();
        for known in &basis {
            step.add(-dot(&known.r, &step.r), known);
        }
        if step.size() > INDEPENDENT * size {
            let size = step.size();
            step.x.iter_mut().chain(&mut step.r).for_each(|x| *x /= size);
            basis.push(step);
        }
    }
    let mut sum = best.clone();
    for step in &basis {
        sum.add(-dot(&step.r, &sum.r), step);
    }
    sum
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}
