//! Impulses that stop carriers on which others press: bodies that lie on them, or hang at them by
//! joints.
//!
//! A follower asks for an impulse J that gives its carrier a certain velocity at the end of the next
//! window. It knows the mobility W of the carrier by itself and the accelerations a that it has had
//! so far: v₁ = v₀ + W J + a dt. Where others press on the carrier it falls short of that, by the
//! part ε = J·(v₀ + W J + a dt - v₁) / J·W J. The leader's step is then taken again with a load s J
//! over it, as what presses is one; s with ε = 0 is found by the secant method from s = ε.
//!
//! Such an impulse only takes energy off the leader, or gives it what it is seen to give: a step with
//! more kinetic energy than one with less impulse, plus the work (1 + s) J·(v₀ + v₁)/2, is not used.

use nalgebra::Vector3;
use partita_simulator::{HandleState, Wrench};

use crate::{
    engine::{Engine, Failure, Push},
    passivity::{SlotIndex, work},
    worker::Request,
};

/// Part of an impulse by which a carrier may fall short [-]. Less makes stacks on held cloth rock:
/// a tenth of 105 stacks more were not at rest after two seconds with 0.02.
const SHORT: f64 = 0.05;

/// Part of the kinetic energy that a step has lost already, up to which it may lose less again [-]:
/// stiff contacts among bodies are solved to about that.
const NOISE: f64 = 0.02;

/// Most steps in which an impulse is sought: of linear answers the second one finds it.
const TRIALS: u32 = 5;

/// Number of the mark before a leader's step that may be taken again.
const STEP: u64 = u64::MAX - 1;

/// A step with added impulses.
#[derive(Clone)]
struct Trial {
    /// s of each slot [-].
    factors: Vec<f64>,
    /// ε of each slot [-].
    shortfalls: Vec<f64>,
    /// Kinetic energy of the leader after it `[J]`.
    kinetic: f64,
    /// Work of all (1 + s) J, if it drives the leader `[J]`.
    driven: f64,
}

impl Trial {
    fn error(&self) -> f64 {
        self.shortfalls.iter().fold(0.0, |most: f64, short| most.max(short.abs()))
    }

    /// Whether a carrier falls short, or does more by what was added.
    fn is_off(&self) -> bool {
        let mut both = self.shortfalls.iter().zip(&self.factors);
        both.any(|(&short, &factor)| short > SHORT || (short < -SHORT && factor > 0.0))
    }

    /// Whether it gains no energy over `best`, a step with less impulse, but what the impulses give.
    fn is_passive(&self, best: &Self, plain: &Self) -> bool {
        let noise = NOISE * (plain.kinetic - best.kinetic);
        self.kinetic - best.kinetic <= (self.driven - best.driven).max(noise)
    }

    /// Factors for the next step, by the secant through this one and `last`.
    fn next(&self, last: &Self) -> Vec<f64> {
        let of = |k: usize| {
            let (step, gain) = (self.factors[k] - last.factors[k], last.shortfalls[k] - self.shortfalls[k]);
            let secant = if step * gain > 0.0 { self.shortfalls[k] * step / gain } else { 0.0 };
            (self.factors[k] + secant).max(0.0)
        };
        (0..self.factors.len()).map(of).collect()
    }
}

impl Engine {
    /// Slots of bodies of leader `m` that a follower stops in this window, where that takes nothing from other carriers.
    pub(crate) fn stopped_slots(&self, m: usize) -> Vec<SlotIndex> {
        let is_stopped = |&&[i, s]: &&SlotIndex| {
            let (interface, state) = (&self.interfaces[i], &self.state.interfaces[i]);
            let is_body = interface.leader == m && interface.slots[s].body.is_some();
            is_body && !state.passed_on[s] && !state.expected.is_empty() && self.stop([i, s]) != Wrench::ZERO
        };
        self.contacts.iter().filter(is_stopped).copied().collect()
    }

    /// Marks leader `m` before a step that may be taken again.
    pub(crate) fn mark_step(&mut self, m: usize) -> Result<(), Failure> {
        self.ask(m, Request::Mark(STEP))
    }

    /// Takes the step of leader `m` again with larger impulses where its bodies `slots` have fallen
    /// short of what their followers expect.
    pub(crate) fn make_up(
        &mut self,
        m: usize,
        slots: &[SlotIndex],
        dt: f64,
        next_dt: f64,
        pushes: &[Push],
    ) -> Result<(), Failure> {
        if let Some(plain) = self.trial(m, slots, vec![0.0; slots.len()], dt) {
            let mut factors: Vec<f64> = plain.shortfalls.iter().map(|short| short.max(0.0)).collect();
            let (mut best, mut last, mut tried) = (plain.clone(), plain.clone(), 0);
            while tried < TRIALS && last.is_off() && factors != last.factors {
                tried += 1;
                let stepped = self.step_again(m, slots, &factors, dt, next_dt, pushes);
                let found = stepped.ok().and_then(|()| self.trial(m, slots, factors.clone(), dt));
                let Some(trial) = found.filter(|trial| trial.is_passive(&best, &plain)) else {
                    factors.iter_mut().zip(&best.factors).for_each(|(factor, best)| *factor = 0.5 * (*factor + best));
                    continue;
                };
                factors = trial.next(&last);
                if trial.error() < best.error() {
                    best = trial.clone();
                }
                last = trial;
            }
            let is_best =
                |(&[i, s], &factor): (&SlotIndex, &f64)| self.pass.added[i][s] == self.stop([i, s]).scaled(factor);
            if !slots.iter().zip(&best.factors).all(is_best) {
                self.step_again(m, slots, &best.factors, dt, next_dt, pushes)?;
            }
        }
        self.ask(m, Request::Forget(STEP))
    }

    /// Takes the step of leader `m` again with added impulses on slots.
    fn step_again(
        &mut self,
        m: usize,
        slots: &[SlotIndex],
        factors: &[f64],
        dt: f64,
        next_dt: f64,
        pushes: &[Push],
    ) -> Result<(), Failure> {
        for (&[i, s], &factor) in slots.iter().zip(factors) {
            self.pass.added[i][s] = self.stop([i, s]).scaled(factor);
        }
        self.ask(m, Request::Retract(STEP))?;
        self.post_step(m, dt, next_dt, pushes);
        self.collect(m).map_err(|error| Failure { member: m, error })
    }

    fn ask(&mut self, m: usize, request: Request) -> Result<(), Failure> {
        self.seats[m].ask(request).map_err(|error| Failure { member: m, error })
    }

    /// J, which a follower asked for [N s, N m s].
    fn stop(&self, [i, s]: SlotIndex) -> Wrench {
        let state = &self.state.interfaces[i];
        state.impacts[s] + state.holding[s]
    }

    /// The last step of leader `m`; none if it does not say its energy.
    fn trial(&mut self, m: usize, slots: &[SlotIndex], factors: Vec<f64>, dt: f64) -> Option<Trial> {
        let kinetic = self.kinetic(m)?;
        let driven: f64 = slots.iter().map(|&slot| self.work_of_stop(slot)).sum();
        let shortfalls = slots.iter().map(|&slot| self.shortfall(slot, dt)).collect();
        Some(Trial { factors, shortfalls, kinetic, driven: driven.max(0.0) })
    }

    /// (1 + s) J·(v₀ + v₁)/2 in the last step of the leader `[J]`.
    fn work_of_stop(&self, [i, s]: SlotIndex) -> f64 {
        let [start, end] = self.ends_of([i, s]);
        let mean = |a: [f64; 3], b: [f64; 3]| 0.5 * (Vector3::from(a) + Vector3::from(b));
        let velocities = [mean(start.velocity, end.velocity), mean(start.spin, end.spin)];
        work(self.stop([i, s]) + self.pass.added[i][s], velocities)
    }

    /// ε after the last step of the leader [-].
    fn shortfall(&self, [i, s]: SlotIndex, dt: f64) -> f64 {
        let (now, expected) = (self.accelerations(i, dt)[s], self.state.interfaces[i].expected[s]);
        let added = self.change([i, s], self.pass.added[i][s]);
        let beyond = [0, 1].map(|k| dt * (Vector3::from(now[k]) - Vector3::from(expected[k])) + added[k]);
        let stop = self.stop([i, s]);
        let by_itself = work(stop, self.change([i, s], stop));
        if by_itself > 0.0 { -work(stop, beyond) / by_itself } else { 0.0 }
    }

    /// The handle of a slot before and after the last step of its leader.
    fn ends_of(&self, [i, s]: SlotIndex) -> [&HandleState; 2] {
        let interface = &self.interfaces[i];
        [&self.state.states, &self.pass.ends].map(|states| &states[interface.leader][interface.slots[s].watched])
    }
}
