//! Impulses on bodies that held cloth stops while others press on them: bodies that lie on them, or
//! hang at them by joints.
//!
//! A follower asks for an impulse J that gives its carrier a certain velocity at the end of the next
//! window. It knows the mobility W of the carrier by itself and the accelerations a that it has had
//! so far: v₁ = v₀ + W J + a dt. Under other loads the carrier falls short of that by the fraction
//! ε = J·(v₀ + W J + a dt - v₁) / J·W J. The leader's step is then repeated with the load s J/dt more;
//! s with ε = 0 is found by the secant method from s = ε. What something else stops within the window, such
//! as a floor below the cloth, has come there all the same: by how much its mean velocity along J is below
//! v₀, v₁ and what is expected counts for ε.
//!
//! Added impulses may not add energy: the leader's kinetic energy may exceed that of the step with
//! less impulse by the work of the impulses at most, on carriers that move as expected.
//!
//! Where cloth passes an impulse on to other carriers, such as a floor on which it lies, these take what is
//! added with the opposite sign. That is done where they are immovable: what is added between free bodies makes
//! one fall as short as the other no longer does.

use nalgebra::Vector3;
use partita_simulator::Wrench;

use crate::{
    engine::{Engine, Failure, Push},
    passivity::{HandleMotion, SlotIndex, work},
    plan::Interface,
    worker::Request,
};

/// Fraction of an impulse by which a carrier may fall short [-]. Under ten times its own mass, a body on cloth on a
/// floor sinks by 0.3 mm a window of 60 Hz with it, until the follower asks for more; with 0.02 it sinks through.
/// Stacks on held cloth rock for longer with less: with 0.005 by 0.1 m/s after two seconds.
const TOLERANCE: f64 = 0.01;

/// Fraction of the kinetic energy lost so far within which two steps lose the same [-]: contacts
/// among bodies are solved to about that.
const NOISE: f64 = 0.02;

/// Most repeated steps of a leader in a pass: the second one finds s where answers are linear.
const REPEATS: u32 = 8;

/// Factor of s where more impulse leaves a carrier no less short [-]. A body on another of a tenth of its mass,
/// of which a floor bears nearly all, needs s of 10 and starts from 0.05: four times that.
const GROWTH: f64 = 4.0;

/// Number of the mark before a leader's step that may be repeated.
pub(crate) const STEP: u64 = u64::MAX - 1;

/// A step of a leader with added impulses.
#[derive(Clone)]
struct LoadedStep {
    /// s of each slot [-].
    factors: Vec<f64>,
    /// ε of each slot [-].
    shortfalls: Vec<f64>,
    /// Kinetic energy of the leader after it `[J]`.
    kinetic: f64,
    /// Work of the impulses (1 + s) J that drive their carriers, if these move as expected `[J]`.
    driven: f64,
}

impl LoadedStep {
    /// Largest ε that another s may change: one below 0 asks for less than J where s is 0 [-].
    fn error(&self) -> f64 {
        let of = |(&short, &factor): (&f64, &f64)| if factor > 0.0 { short.abs() } else { short.max(0.0) };
        self.shortfalls.iter().zip(&self.factors).map(of).fold(0.0, f64::max)
    }

    fn is_converged(&self) -> bool {
        self.error() <= TOLERANCE
    }

    /// Whether it has no more kinetic energy than the accepted step with the next smaller impulses,
    /// but for what the impulses do. The first of `accepted` is without added impulses.
    fn is_passive(&self, accepted: &[Self]) -> bool {
        let size = |step: &Self| step.factors.iter().sum::<f64>();
        let smaller = accepted.iter().filter(|step| size(step) <= size(self));
        let Some(less) = smaller.max_by(|a, b| size(a).total_cmp(&size(b))) else { return false };
        let noise = NOISE * (accepted[0].kinetic - less.kinetic);
        self.kinetic - less.kinetic <= (self.driven - less.driven).max(noise).max(0.0)
    }

    /// Factors for the next step, by the secant through this one and `last`, up to [`GROWTH`] times these: that
    /// many where more impulse leaves a carrier no less short, since something else bore it before.
    fn next(&self, last: &Self) -> Vec<f64> {
        let of = |k: usize| {
            let (step, gain) = (self.factors[k] - last.factors[k], last.shortfalls[k] - self.shortfalls[k]);
            let most = if step > 0.0 { GROWTH * self.factors[k] } else { f64::INFINITY };
            match self.factors[k] {
                factor if step * gain > 0.0 => (factor + self.shortfalls[k] * step / gain).clamp(0.0, most),
                factor if step != 0.0 && self.shortfalls[k] > 0.0 => GROWTH * factor,
                factor => factor,
            }
        };
        (0..self.factors.len()).map(of).collect()
    }

    /// Factors for the next step where this one gains energy: more where carriers are short, else halfway to `best`.
    fn retreat(&self, best: &Self) -> Vec<f64> {
        let of = |k: usize| match self.shortfalls[k] > 0.0 {
            true => GROWTH * self.factors[k],
            false => 0.5 * (self.factors[k] + best.factors[k]),
        };
        (0..self.factors.len()).map(of).collect()
    }
}

impl Engine {
    /// Slots of bodies of leader `m` with impulses in this window that may be raised.
    fn raisable(&self, m: usize) -> impl Iterator<Item = SlotIndex> + '_ {
        let is_raisable = |&[i, s]: &SlotIndex| {
            let state = &self.state.interfaces[i];
            let is_asked = !state.expected.is_empty() && self.asked([i, s]) != Wrench::ZERO;
            is_asked && (!state.passed_on[s] || self.passes_on_to_immovable([i, s]))
        };
        self.bodies[m].iter().copied().filter(is_raisable)
    }

    /// Slots that take what the follower passes on from this one, with weights: how far their impulses are
    /// against this one's [N² s²].
    fn takers(&self, [i, s]: SlotIndex) -> impl Iterator<Item = (SlotIndex, f64)> + '_ {
        let (follower, asked) = (self.interfaces[i].follower, Vector3::from(self.asked([i, s]).linear));
        let of_follower = self.interfaces.iter().enumerate().filter(move |(_, other)| other.follower == follower);
        let slots = of_follower.flat_map(|(j, other)| (0..other.slots.len()).map(move |t| [j, t]));
        let taken = move |[j, t]: SlotIndex| match self.state.interfaces[j].passed_on[t] {
            true => -asked.dot(&Vector3::from(self.asked([j, t]).linear)),
            false => 0.0,
        };
        slots.map(move |slot| (slot, taken(slot))).filter(|&(_, taken)| taken > 0.0)
    }

    /// Whether all that take what is passed on are immovable bodies.
    fn passes_on_to_immovable(&self, slot: SlotIndex) -> bool {
        let is_immovable = |([j, t], _): (SlotIndex, f64)| {
            let taker = &self.interfaces[j].slots[t];
            taker.body.is_some() && taker.mobility.is_zero()
        };
        self.takers(slot).next().is_some() && self.takers(slot).all(is_immovable)
    }

    /// Sets what is added to the impulses of slots, and taken by others, to these parts of what was asked for.
    fn add(&mut self, slots: &[SlotIndex], factors: &[f64]) {
        let at = |engine: &Self, [i, s]: SlotIndex| {
            let Interface { leader, slots, .. } = &engine.interfaces[i];
            Vector3::from(engine.state.states[*leader][slots[s].watched].position)
        };
        let mut takers = vec![];
        for (&slot, &factor) in slots.iter().zip(factors) {
            let added = self.asked(slot).scaled(factor);
            takers.push((slot, added));
            if !self.state.interfaces[slot[0]].passed_on[slot[1]] {
                continue;
            }
            let whole: f64 = self.takers(slot).map(|(_, taken)| taken).sum();
            takers.extend(self.takers(slot).map(|(taker, taken)| {
                let linear = Vector3::from(added.linear);
                let angular = Vector3::from(added.angular) + (at(self, slot) - at(self, taker)).cross(&linear);
                (taker, Wrench { angular: angular.into(), ..added }.scaled(-taken / whole))
            }));
        }
        takers.iter().for_each(|&([i, s], _)| self.pass.added[i][s] = Wrench::ZERO);
        takers.iter().for_each(|&([i, s], added)| self.pass.added[i][s] += added);
    }

    /// Marks leader `m` if its next step may have to be repeated.
    pub(crate) fn mark_step(&mut self, m: usize) -> Result<(), Failure> {
        let may_be_repeated = self.raisable(m).next().is_some();
        if may_be_repeated { self.ask(m, Request::Mark(STEP)) } else { Ok(()) }
    }

    /// Repeats the step of leader `m` with larger impulses where its bodies have fallen short of what
    /// their followers expect.
    pub(crate) fn raise_impulses(&mut self, m: usize, dt: f64, next_dt: f64, pushes: &[Push]) -> Result<(), Failure> {
        let slots: Vec<SlotIndex> = self.raisable(m).collect();
        if slots.is_empty() {
            return Ok(());
        }
        let raised = match slots.iter().all(|&slot| self.shortfall(slot, dt) <= TOLERANCE) {
            true => Ok(()),
            false => self.search(m, &slots, dt, next_dt, pushes),
        };
        self.ask(m, Request::Forget(STEP)).and(raised)
    }

    fn search(&mut self, m: usize, slots: &[SlotIndex], dt: f64, next_dt: f64, pushes: &[Push]) -> Result<(), Failure> {
        let Some(plain) = self.loaded_step(slots, vec![0.0; slots.len()], m, dt) else { return Ok(()) };
        // Each of several followers of one handle makes up its share.
        let first = plain.shortfalls.iter().zip(slots).map(|(short, &slot)| short.max(0.0) / self.sharing(slots, slot));
        let (mut factors, mut best) = (first.collect::<Vec<_>>(), plain.clone());
        let (mut last, mut accepted) = (plain.clone(), vec![plain]);
        let mut taken = vec![0.0; slots.len()];
        for _ in 0..REPEATS {
            if best.is_converged() || factors == last.factors {
                break;
            }
            let stepped = self.step_again(m, slots, &factors, dt, next_dt, pushes);
            taken.clone_from(&factors);
            let Some(step) = stepped.ok().and_then(|()| self.loaded_step(slots, factors.clone(), m, dt)) else {
                factors.iter_mut().zip(&best.factors).for_each(|(factor, best)| *factor = 0.5 * (*factor + best));
                continue;
            };
            let is_passive = step.is_passive(&accepted);
            factors = if is_passive { step.next(&last) } else { step.retreat(&best) };
            if is_passive {
                if step.error() < best.error() {
                    best = step.clone();
                }
                accepted.push(step.clone());
            }
            last = step;
        }
        match taken == best.factors {
            true => Ok(()),
            false => self.step_again(m, slots, &best.factors, dt, next_dt, pushes),
        }
    }

    /// Repeats the step of leader `m` with added impulses on slots.
    fn step_again(
        &mut self,
        m: usize,
        slots: &[SlotIndex],
        factors: &[f64],
        dt: f64,
        next_dt: f64,
        pushes: &[Push],
    ) -> Result<(), Failure> {
        self.add(slots, factors);
        self.ask(m, Request::Retract(STEP))?;
        // A leader may follow others.
        for (i, _) in self.interfaces.iter().enumerate().filter(|(_, interface)| interface.follower == m) {
            self.pass.clear_reports(i);
        }
        self.post_step(m, dt, next_dt, pushes);
        self.collect(m).map_err(|error| Failure { member: m, error })
    }

    fn ask(&mut self, m: usize, request: Request) -> Result<(), Failure> {
        self.seats[m].ask(request).map_err(|error| Failure { member: m, error })
    }

    /// J [N s, N m s].
    fn asked(&self, [i, s]: SlotIndex) -> Wrench {
        let state = &self.state.interfaces[i];
        state.impacts[s] + state.holding[s]
    }

    /// The last step of leader `m`; none if it reports no energy.
    fn loaded_step(&mut self, slots: &[SlotIndex], factors: Vec<f64>, m: usize, dt: f64) -> Option<LoadedStep> {
        let kinetic = self.kinetic(m)?;
        let driven = slots.iter().map(|&[i, s]| {
            let impulse = self.asked([i, s]) + self.pass.added[i][s];
            // Work is linear in the motion: the mean of what is expected is less by half of what is beyond.
            let expected = self.motion([i, s], dt).work(impulse) - 0.5 * work(impulse, self.beyond([i, s], dt));
            expected.max(0.0)
        });
        let driven = driven.sum();
        let shortfalls = slots.iter().map(|&slot| self.shortfall(slot, dt)).collect();
        Some(LoadedStep { factors, shortfalls, kinetic, driven })
    }

    /// ε after the last step of the leader [-].
    fn shortfall(&self, slot: SlotIndex, dt: f64) -> f64 {
        let asked = self.asked(slot);
        let by_itself = work(asked, self.change(slot, asked));
        let along = |v: Vector3<f64>| Vector3::from(asked.linear).dot(&v);
        let (beyond, HandleMotion { start, end, .. }) = (self.beyond(slot, dt), self.motion(slot, dt));
        let [before, after] = [start, end].map(|state| Vector3::from(state.velocity));
        let least = along(before).min(along(after)).min(along(after - beyond[0]));
        let passed = (least - along(Vector3::from(end.position) - Vector3::from(start.position)) / dt).max(0.0);
        if by_itself > 0.0 { (passed - work(asked, beyond)) / by_itself } else { 0.0 }
    }

    /// v₁ less v₀ + W J + a dt after the last step of the leader, linear and angular `[m/s]`, `[rad/s]`.
    fn beyond(&self, [i, s]: SlotIndex, dt: f64) -> [Vector3<f64>; 2] {
        let (now, expected) = (self.acceleration([i, s], dt), self.state.interfaces[i].expected[s]);
        let others = self.interfaces[i].slots[s].others.iter();
        let added = others.fold(self.pass.added[i][s], |sum, &[j, t]| sum + self.pass.added[j][t]);
        let added = self.change([i, s], added);
        [0, 1].map(|k| dt * (Vector3::from(now[k]) - Vector3::from(expected[k])) + added[k])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(factor: f64, shortfall: f64, kinetic: f64, driven: f64) -> LoadedStep {
        LoadedStep { factors: vec![factor], shortfalls: vec![shortfall], kinetic, driven }
    }

    /// A body of 1 kg stopped from 1 m/s under one of 3 kg: ε = 1 - (1 + s)/4, found by one secant.
    #[test]
    fn linear_answers_take_two_steps() {
        let of = |s: f64| step(s, 1.0 - 0.25 * (1.0 + s), 0.0, 0.0);
        let (plain, first) = (of(0.0), of(0.75));
        let second = of(first.next(&plain)[0]);
        assert!(!plain.is_converged() && !first.is_converged() && second.is_converged(), "{:?}", second.factors);
    }

    /// A floor bears nearly all of a pile of four times the lowest body's mass, until s is 2.
    #[test]
    fn the_search_goes_past_what_a_floor_bears() {
        let of = |s: f64| step(s, if s < 2.0 { 0.05 } else { 1.0 - 0.25 * (1.0 + s) }, 0.0, 0.0);
        let (mut last, mut here, mut repeats) = (of(0.0), of(0.05), 1);
        while !here.is_converged() && repeats < REPEATS {
            (last, here) = (here.clone(), of(here.next(&last)[0]));
            repeats += 1;
        }
        assert!((here.factors[0] - 3.0).abs() < 0.1, "{repeats} repeats: {:?}", here.factors);
    }

    /// Impulses that stop take energy, those that drive give as much as they work, and where less
    /// impulse is compared with none, energy may come back.
    #[test]
    fn added_impulses_do_not_add_energy() {
        let accepted = [step(0.0, 0.5, 4.0, 0.0), step(1.0, -0.2, 1.0, 0.0)];
        assert!(step(0.5, 0.1, 2.0, 0.0).is_passive(&accepted));
        assert!(!step(0.5, 0.1, 4.1, 0.0).is_passive(&accepted));
        assert!(!step(2.0, 0.1, 1.1, 0.0).is_passive(&accepted));
        assert!(step(2.0, 0.1, 1.1, 0.2).is_passive(&accepted));
    }

    /// A carrier that others lift is not to be stopped by less, so what is sought for others goes on.
    #[test]
    fn carriers_that_others_lift_count_for_nothing() {
        let of = |s: f64| LoadedStep {
            factors: vec![0.0, s],
            shortfalls: vec![-3.0, 0.5 - 0.5 * s],
            ..step(0.0, 0.0, 0.0, 0.0)
        };
        assert!(of(1.0).is_converged() && of(0.5).error() < of(0.0).error());
    }
}
