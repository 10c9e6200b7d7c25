//! Windows whose loads find no fixed point, taken in halves.
//!
//! The load of a window is one mean of it. Where a body comes to cloth and leaves it again within the window, or light cloth has to
//! push it back, no mean load gives a motion that asks for that load. In half of the window the same body moves half as far, and
//! a spring k of the cloth under a mass m counts as k h²/m, a quarter.

use super::Relaxed;
use crate::{
    engine::{Engine, Failure, START, WindowReport},
    loaded::STEP,
};

/// Most halvings of a window for being longer than all before.
const LONGER: f64 = 4.0;

/// Work of a window, relative to the limit of one step, up to which halves of it are tried [-].
const MOST_USED: f64 = 1.5;

/// Passes of a window after which no piece of it is halved.
const MOST_PASSES: u32 = 128;

/// Number of the mark at the start of a window that is halved; less than that for its halves.
const HALVES: u64 = STEP - 1;

/// Work of a window so far, and the piece of it that is taken.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Passes. Simulators that are not coupled take all of the window in the first.
    pub passes: u32,
    /// Sum of [`Engine::budget_used`] of these passes [-].
    pub used: f64,
    /// Times that the window was halved to get this piece.
    pub halvings: u32,
    /// Halvings that make pieces as short as the longest window before.
    longer: u32,
}

impl Effort {
    /// That of a window of `dt` `[s]` before its first pass.
    pub(super) fn new(engine: &Engine, dt: f64) -> Self {
        let longest = engine.state.longest_dt;
        let longer = if longest > 0.0 { (dt / longest).log2().clamp(0.0, LONGER) as u32 } else { 0 };
        Self { passes: 0, used: 0.0, halvings: 0, longer }
    }

    /// Adds the last pass.
    pub(super) fn add(&mut self, engine: &Engine) {
        self.passes += 1;
        self.used += engine.budget_used();
    }

    /// Whether a piece of `dt` `[s]` may be halved, of which the passes took `most` of the work of one step [-]. A window much shorter
    /// than others before is not.
    pub(super) fn may_halve(&self, engine: &Engine, dt: f64, parameters: &Relaxed, most: f64) -> bool {
        self.halvings < parameters.halvings + self.longer
            && self.used + 2.0 * most <= MOST_USED
            && self.passes < MOST_PASSES
            && f64::from(2 << self.halvings) * dt > engine.state.longest_dt
    }

    /// Takes a piece that is marked as [`START`] in two halves, see [`Engine::in_halves`]. Where one fails, there is no report, and
    /// no piece of the window is halved any more.
    pub(super) fn in_halves(
        &mut self,
        engine: &mut Engine,
        dt: f64,
        next_dt: f64,
        take: impl Fn(&mut Engine, f64, f64, &mut Self) -> Result<WindowReport, Failure>,
    ) -> Result<Option<WindowReport>, Failure> {
        let halvings = self.halvings;
        self.halvings += 1;
        engine.retract(START, true)?;
        let mark = HALVES - u64::from(halvings);
        let report = engine.in_halves(dt, next_dt, mark, |engine, dt, next_dt| take(engine, dt, next_dt, self))?;
        self.halvings = if report.is_some() { halvings } else { u32::MAX };
        Ok(report)
    }
}
