//! Impulses on bodies that cloth stops while others press on them: bodies that lie on them, or hang
//! at them by joints.
//!
//! A follower asks for an impulse J that gives its carrier a certain velocity at the end of the
//! next window. It knows the mobility W of the carrier by itself and the accelerations a that it
//! has had so far: v₁ = v₀ + W J + a dt. Under other loads the carrier falls short of that by the
//! fraction ε = J·(v₀ + W J + a dt - v₁) / J·W J. The leader repeats its step with the load s J/dt
//! more. The secant method, started at s = ε, finds s with ε = 0.
//!
//! An obstacle such as a floor below the cloth may stop the carrier within the window. Its
//! velocities then look right, but it has come too far. By how much its mean velocity along J is
//! below v₀, v₁ and the expected velocity counts for ε.
//!
//! Added impulses may not add energy. The kinetic energy of the leaders may exceed that of the step
//! with less impulse by the work of the impulses at most, on carriers that move as expected.
//!
//! Cloth that is pressed between two bodies passes J on: one gets J, the other -J, and together
//! they have a relative velocity. ε is then summed over both, each with its own v and W
//! ([`directions`]). Two free bodies have ε = 0. A box of mass m on a table of mass M on the floor
//! has J = m M g dt/(m + M), ε = m/(m + M) and s = m/M, so (1 + s) J = m g dt. Steps of both
//! leaders are repeated. A table that no J moves is borne by others; its followers then get a
//! reduced mobility ([`borne`]).
//!
//! Where cloth is pressed, s may be negative, down to -1. The lowest box of a pile responds with
//! the mass of the whole pile, so J takes several windows to come right. With s ≥ 0 the pile would
//! hop.

mod borne;
mod directions;
mod trial;

use nalgebra::Vector3;
use partita_simulator::Wrench;

use self::{
    borne::Still,
    directions::{Direction, Group},
    trial::LoadedStep,
};
use crate::{
    engine::{Engine, Failure, Push},
    passivity::{HandleMotion, SlotIndex, work},
    worker::Request,
};

/// Most trials of a search; the best one may be repeated once more. Two find s where responses are
/// linear.
const REPEATS: u32 = 8;

/// Number of the mark before a leader's step that may be repeated.
pub(crate) const STEP: u64 = u64::MAX - 1;

impl Engine {
    /// Takes the steps of members, and adjusts the impulses of groups of them. Those are marked as
    /// [`STEP`] from then on.
    pub(crate) fn step_loaded(
        &mut self,
        members: &[usize],
        groups: &[Group],
        dt: f64,
        next_dt: f64,
        pushes: &[Push],
    ) -> Result<(), Failure> {
        groups.iter().flat_map(|group| &group.leaders).try_for_each(|&m| self.ask(m, Request::Mark(STEP)))?;
        self.step_all(members, dt, next_dt, pushes)?;
        groups.iter().try_for_each(|group| self.adjust_impulses(group, dt, next_dt, pushes))
    }

    /// Repeats the steps of a group with other impulses where its bodies fall short of the expected
    /// motion, or exceed it where cloth is pressed between them.
    fn adjust_impulses(&mut self, group: &Group, dt: f64, next_dt: f64, pushes: &[Push]) -> Result<(), Failure> {
        let is_found = |direction: &Direction| direction.bounds().error(self.shortfall(direction, dt), 0.0) <= 1.0;
        match group.directions.iter().all(is_found) {
            true => Ok(()),
            false => self.search(group, dt, next_dt, pushes),
        }
    }

    fn search(&mut self, group: &Group, dt: f64, next_dt: f64, pushes: &[Push]) -> Result<(), Failure> {
        let Some(plain) = self.loaded_step(group, vec![0.0; group.directions.len()], dt) else { return Ok(()) };
        // Each of several followers of one handle makes up its share.
        let slots: Vec<SlotIndex> = group.directions.iter().map(|direction| direction.asked.0).collect();
        let first = plain.shortfalls.iter().zip(&plain.bounds).zip(&slots);
        let first = first.map(|((short, bounds), &slot)| short.max(bounds.least) / self.sharing(&slots, slot));
        let mut still = self.still(group, dt);
        let (mut factors, mut best) = (first.collect::<Vec<_>>(), plain.clone());
        let (mut last, mut accepted) = (plain.clone(), vec![plain]);
        let mut taken = vec![0.0; factors.len()];
        for _ in 0..REPEATS {
            if best.is_converged() || factors == last.factors {
                break;
            }
            let stepped = self.step_again(group, [&taken, &factors], dt, next_dt, pushes);
            taken.clone_from(&factors);
            let Some(step) = stepped.ok().and_then(|()| self.loaded_step(group, factors.clone(), dt)) else {
                factors.iter_mut().zip(&best.factors).for_each(|(factor, best)| *factor = 0.5 * (*factor + best));
                continue;
            };
            still.retain_mut(|still| self.is_still(still));
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
        if taken != best.factors {
            self.step_again(group, [&taken, &best.factors], dt, next_dt, pushes)?;
        }
        for Still { slot: [i, s], direction, .. } in still.into_iter().filter(Still::is_shown) {
            self.pass.borne[i][s] = Some(direction);
        }
        Ok(())
    }

    /// Repeats the step of the leaders of a group with added impulses.
    fn step_again(
        &mut self,
        group: &Group,
        [before, factors]: [&[f64]; 2],
        dt: f64,
        next_dt: f64,
        pushes: &[Push],
    ) -> Result<(), Failure> {
        self.add(&group.directions, before, factors);
        for &m in &group.leaders {
            self.ask(m, Request::Retract(STEP))?;
            // A leader may follow others.
            for (i, _) in self.interfaces.iter().enumerate().filter(|(_, interface)| interface.follower == m) {
                self.pass.clear_reports(i);
            }
        }
        self.step_all(&group.leaders, dt, next_dt, pushes)
    }

    /// Asks member `m`.
    pub(crate) fn ask(&mut self, m: usize, request: Request) -> Result<(), Failure> {
        self.seats[m].ask(request).map_err(|error| Failure { member: m, error })
    }

    /// Requested impulse J of this window: impact and holding impulse `[N s]`, `[N m s]`.
    fn asked(&self, [i, s]: SlotIndex) -> Wrench {
        let state = &self.state.interfaces[i];
        state.impacts[s] + state.holding[s]
    }

    /// The last step of a group; none if one of its leaders reports no energy, or numbers that are
    /// not finite.
    fn loaded_step(&mut self, group: &Group, factors: Vec<f64>, dt: f64) -> Option<LoadedStep> {
        let kinetic = group.leaders.iter().map(|&m| self.kinetic(m)).sum::<Option<f64>>()?;
        let driven = group.directions.iter().zip(&factors).map(|(direction, factor)| {
            let of = |&(slot, part): &(SlotIndex, Wrench)| {
                let impulse = part.scaled(1.0 + factor);
                // Work is linear in the motion: the expected mean is less by half of the excess.
                self.motion(slot, dt).work(impulse) - 0.5 * work(impulse, self.beyond(slot, dt))
            };
            self.movable(direction).map(of).sum::<f64>().max(0.0)
        });
        let driven = driven.sum();
        let shortfalls = group.directions.iter().map(|direction| self.shortfall(direction, dt)).collect();
        let bounds = group.directions.iter().map(Direction::bounds).collect();
        let step = LoadedStep { factors, shortfalls, bounds, kinetic, driven };
        step.is_finite().then_some(step)
    }

    /// ε after the last step of the leaders [-].
    fn shortfall(&self, direction: &Direction, dt: f64) -> f64 {
        let (mut by_itself, mut beyond, mut velocities, mut way) = (0.0, 0.0, [0.0; 3], 0.0);
        for &(slot, part) in self.movable(direction) {
            let along = |v: [f64; 3]| Vector3::from(part.linear).dot(&Vector3::from(v));
            let (more, HandleMotion { start, end, .. }) = (self.beyond(slot, dt), self.motion(slot, dt));
            by_itself += work(part, self.answer(slot, part));
            beyond += work(part, more);
            let [before, after] = [start, end].map(|state| along(state.velocity));
            let expected = after - along(more[0].into());
            [before, after, expected].iter().zip(&mut velocities).for_each(|(v, sum)| *sum += v);
            way += along(end.position) - along(start.position);
        }
        let least = velocities.into_iter().fold(f64::INFINITY, f64::min);
        let passed = (least - way / dt).max(0.0);
        if by_itself > 0.0 { (passed - beyond) / by_itself } else { 0.0 }
    }

    /// Excess velocity v₁ - (v₀ + W J + a dt) after the last step, linear and angular `[m/s]`,
    /// `[rad/s]`.
    fn beyond(&self, [i, s]: SlotIndex, dt: f64) -> [Vector3<f64>; 2] {
        let (now, expected) = (self.acceleration([i, s], dt), self.state.interfaces[i].expected[s]);
        let others = self.interfaces[i].slots[s].others.iter();
        let added = others.fold(self.pass.added[i][s], |sum, &[j, t]| sum + self.pass.added[j][t]);
        let added = self.answer([i, s], added);
        [0, 1].map(|k| dt * (Vector3::from(now[k]) - Vector3::from(expected[k])) + added[k])
    }
}
