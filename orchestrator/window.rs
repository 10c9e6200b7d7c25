//! One window, and a short piece of it that is taken first where carriers may have to be stopped.
//!
//! Followers ask for impulses in the window before that in which they act. Before the first window,
//! and before one that is longer than the last, there is none that looked so far ahead.

use partita_simulator::{Outcome, Wrench};

use crate::{
    coupled::InterfaceState,
    engine::{Engine, Failure, Push, START, WindowReport},
    totals::Totals,
};

/// Part of a window that shows what carriers would have to be stopped for within the rest [-].
const PIECE: f64 = 1.0 / 1024.0;

impl Engine {
    /// One window by the scene's scheme. Before the first one, and one that is longer than the last, a short piece of it shows what
    /// carriers would have to be stopped for within it; if that is anything, the piece stands and the rest follows.
    pub(crate) fn window(&mut self, dt: f64, pushes: &[Push]) -> Result<WindowReport, Failure> {
        self.to_iterate.clear();
        let (piece, last) = (dt * PIECE, self.state.last_dt);
        if dt < last {
            self.hold_for(dt / last);
        }
        if dt > last && self.can_strike() {
            let before = (piece < last).then(|| self.state.interfaces.clone());
            if before.is_some() {
                self.hold_for(piece / last);
            }
            if self.strikes_soon(piece, dt, pushes)? {
                return self.window_in_two(piece, dt, pushes);
            }
            if let Some(before) = before {
                self.state.interfaces = before;
            }
        }
        self.scheme.clone().window(self, dt, dt, pushes)
    }

    /// A window of `dt` whose first `piece` stands by itself `[s]`.
    fn window_in_two(&mut self, piece: f64, dt: f64, pushes: &[Push]) -> Result<WindowReport, Failure> {
        let scheme = self.scheme.clone();
        let (totals, window, end) = (self.state.totals.clone(), self.state.window, self.state.time + dt);
        let forces: Vec<_> = self.state.interfaces.iter().map(|interface| interface.force.clone()).collect();
        let iterated: Vec<_> = self.iterated().collect();
        let longest = self.state.longest_dt;
        let first = scheme.window(self, piece, dt - piece, pushes)?;
        self.state.longest_dt = longest;
        // Over so short a piece reactions are no forces to go on with: they act as the impulses that they are.
        for [i, s] in self.slot_indices().collect::<Vec<_>>() {
            let is_iterated = self.is_iterated([i, s]);
            let interface = &mut self.state.interfaces[i];
            interface.force[s] = forces[i][s];
            // The reaction to the force of the window before is part of what is pending, and of the force.
            let owed = if is_iterated { interface.pending[s] - interface.withheld[s] } else { self.pass.got[i][s] };
            interface.carry[s] = owed - interface.impacts[s];
        }
        self.iterate(&iterated);
        let mut report = scheme.window(self, dt - piece, dt, pushes)?;
        report.passes += first.passes;
        Ok(self.joined([first, report], &totals, window, end, dt))
    }

    /// Makes one window of two, whose passes are those of the second. `totals` are those before it.
    fn joined(
        &mut self,
        [first, mut report]: [WindowReport; 2],
        totals: &Totals,
        window: u64,
        end: f64,
        dt: f64,
    ) -> WindowReport {
        report.load_change = report.load_change.max(first.load_change);
        report.lag = report.lag.max(first.lag);
        report.work += first.work;
        report.gap = report.gap.max(first.gap);
        report.iterations.iter_mut().zip(&first.iterations).for_each(|(sum, more)| *sum += more);
        if report.outcome == Outcome::Converged {
            report.outcome = first.outcome;
        }
        (report.window, report.time) = (window, end);
        (self.state.window, self.state.time, self.state.last_dt) = (window + 1, end, dt);
        self.state.longest_dt = self.state.longest_dt.max(dt);
        self.state.totals.count_once(totals, window);
        report
    }

    /// A window of `dt` as two of half the length, each taken by `take`; the next one takes `next_dt` `[s]`. Where a half fails the engine
    /// is as before, and there is no report.
    pub(crate) fn in_halves(
        &mut self,
        dt: f64,
        next_dt: f64,
        mark: u64,
        mut take: impl FnMut(&mut Self, f64, f64) -> Result<WindowReport, Failure>,
    ) -> Result<Option<WindowReport>, Failure> {
        self.mark(mark, true)?;
        let (before, summaries, half) = (self.state.clone(), self.pass.summaries.clone(), 0.5 * dt);
        self.hold_for(0.5);
        let first = take(self, half, half);
        // Members that are not coupled have taken all of the window.
        let alone = self.pass.summaries.iter_mut().zip(&self.members);
        alone.filter(|(_, member)| !member.coupled).for_each(|(summary, _)| *summary = None);
        let halves = first.and_then(|first| Ok([first, take(self, half, next_dt)?]));
        let report = match halves {
            Ok(halves) => Some(self.joined(halves, &before.totals, before.window, before.time + dt, dt)),
            Err(_) => {
                self.retract(mark, true)?;
                self.mark(START, true)?;
                let passes = self.state.totals.passes;
                (self.state, self.pass.summaries) = (before, summaries);
                self.state.totals.passes = passes;
                None
            }
        };
        self.forget(mark);
        Ok(report)
    }

    /// Impulses that hold carriers over a window act over a `part` of it, since the next window is
    /// that much shorter. The rest never acts.
    fn hold_for(&mut self, part: f64) {
        for (interface, state) in self.interfaces.iter().zip(&mut self.state.interfaces) {
            let InterfaceState { holding, carry, pending, ledger, .. } = state;
            for (s, slot) in interface.slots.iter().enumerate() {
                if holding[s] == Wrench::ZERO {
                    continue;
                }
                let rest = holding[s].scaled(1.0 - part);
                for impulse in [&mut holding[s], &mut carry[s], &mut pending[s]] {
                    *impulse = *impulse - rest;
                }
                ledger.cancel(rest, &self.state.states[interface.leader][slot.watched]);
            }
        }
    }

    /// Whether a follower may have to stop a carrier.
    fn can_strike(&self) -> bool {
        self.contacts.iter().any(|&[i, _]| self.members[self.interfaces[i].follower].responds)
    }

    /// Whether carriers would have to be stopped within `next` after a step of `piece`, which is
    /// retracted `[s]`. What fails in so short a step says nothing of the window. Before the first
    /// window it is taken twice: once to find accelerations, such as that of gravity, and again
    /// with these, which shows whether anything has to be held against them.
    fn strikes_soon(&mut self, piece: f64, next: f64, pushes: &[Push]) -> Result<bool, Failure> {
        if !self.try_piece(piece, next, pushes)? {
            return Ok(false);
        }
        if self.state.last_dt == 0.0 {
            for i in 0..self.interfaces.len() {
                self.state.interfaces[i].accelerations = self.accelerations(i, piece);
            }
            if !self.try_piece(piece, next, pushes)? {
                return Ok(false);
            }
        }
        let mut ahead = self.pass.impacts.iter().chain(&self.pass.holding).flatten();
        Ok(ahead.any(|impulse| *impulse != Wrench::ZERO))
    }

    /// Takes a step and goes back; its pass stays to be read. Whether it succeeded.
    fn try_piece(&mut self, piece: f64, next: f64, pushes: &[Push]) -> Result<bool, Failure> {
        let passes = self.state.totals.passes;
        self.mark(START, true)?;
        let forces: Vec<_> = self.state.interfaces.iter().map(|interface| interface.force.clone()).collect();
        let tried = self.pass(piece, next, &forces, pushes, true);
        self.retract(START, true)?;
        self.forget(START);
        self.state.totals.passes = passes;
        Ok(tried.is_ok())
    }
}
