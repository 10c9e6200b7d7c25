//! The loads of every window found by iteration, within bounds that the user sets.

use serde::{Deserialize, Serialize};

use super::{BadParameter, fixed_point::FixedPoint, halving::Effort};
use crate::engine::{Engine, Failure, Push, START, WindowReport};

/// Parameters of [`Scheme::Relaxed`](crate::Scheme::Relaxed).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Relaxed {
    /// Converged when the loads change by less than this, relative to their size [-]. Default 1e-6.
    pub tolerance: f64,
    /// Loads that differ by less than this are the same `[N]`. Default 1e-9.
    pub floor: f64,
    /// Converged when no attached handle is further from its carrier `[m]`. Default 1e-3.
    pub gap: f64,
    /// Most passes a window, or a half of one; one more where the last trial failed, was not the best, or had to be
    /// bounded. Default 24.
    pub passes: u32,
    /// Work that the passes of a window may take, relative to the limit of one step
    /// ([`partita_simulator::StepReport::budget_used`]) [-]. No further load is tried if less than half of such a
    /// pass as those before is left of it. The last trial may be followed by one more pass, as with
    /// [`Relaxed::passes`]. Default 0.75.
    pub budget: f64,
    /// Most times that a window is halved, and its halves again, where no loads are found for a contact within [`Relaxed::passes`]:
    /// a load is the mean of a window, and that of a ball which comes and goes within it may be none. Halves are tried while
    /// all passes of the window are at most 128, and take at most one and a half times the work of one step. Of 20 random scenes
    /// that gained energy 14 do not with 1. With 2 or 3 others gain: impulse-based cloth that is taut may kick in very short
    /// windows. A window that is longer than all before may be halved up to four times more, until its pieces are as short
    /// as those. Default 1.
    pub halvings: u32,
    /// Factors of residuals are kept within these [-]. Default from 1e-6 to 2: a lower end of 0.1 diverges
    /// where the follower outweighs the leader more than ten times.
    pub factor: [f64; 2],
}

impl Default for Relaxed {
    fn default() -> Self {
        Self { tolerance: 1e-6, floor: 1e-9, gap: 1e-3, passes: 24, budget: 0.75, halvings: 1, factor: [1e-6, 2.0] }
    }
}

impl Relaxed {
    /// As [`Relaxed::tolerance`].
    pub fn tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// As [`Relaxed::floor`].
    pub fn floor(self, floor: f64) -> Self {
        Self { floor, ..self }
    }

    /// As [`Relaxed::factor`].
    pub fn factor(self, factor: [f64; 2]) -> Self {
        Self { factor, ..self }
    }

    /// As [`Relaxed::gap`].
    pub fn gap(self, gap: f64) -> Self {
        Self { gap, ..self }
    }

    /// As [`Relaxed::passes`].
    pub fn passes(self, passes: u32) -> Self {
        Self { passes, ..self }
    }

    /// As [`Relaxed::budget`].
    pub fn budget(self, budget: f64) -> Self {
        Self { budget, ..self }
    }

    /// As [`Relaxed::halvings`].
    pub fn halvings(self, halvings: u32) -> Self {
        Self { halvings, ..self }
    }

    /// Thing, found, expected of each parameter that is out of range.
    pub(super) fn mistakes(&self) -> Vec<BadParameter> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let [low, high] = self.factor;
        [
            ("relaxed, tolerance", self.tolerance.to_string(), "finite, above 0", positive(self.tolerance)),
            (
                "relaxed, floor [N]",
                self.floor.to_string(),
                "finite, at least 0",
                self.floor == 0.0 || positive(self.floor),
            ),
            ("relaxed, gap [m]", self.gap.to_string(), "finite, above 0", positive(self.gap)),
            ("relaxed, budget", self.budget.to_string(), "above 0", self.budget > 0.0),
            ("relaxed, halvings", self.halvings.to_string(), "at most 8", self.halvings <= 8),
            ("relaxed, passes", self.passes.to_string(), "at least 1", self.passes > 0),
            (
                "relaxed, factor",
                format!("{:?}", self.factor),
                "0 < low <= high",
                positive(low) && high.is_finite() && low <= high,
            ),
        ]
        .into_iter()
        .filter(|row| !row.3)
        .map(|(thing, found, expected, _)| (thing, found, expected))
        .collect()
    }
}

pub(super) fn window(
    engine: &mut Engine,
    relaxed: &Relaxed,
    dt: f64,
    next_dt: f64,
    pushes: &[Push],
    effort: &mut Effort,
) -> Result<WindowReport, Failure> {
    engine.mark(START, true)?;
    loop {
        let slots = engine.iterated().collect();
        let solved = FixedPoint::new(relaxed, slots, *effort).solve(engine, dt, next_dt, pushes)?;
        *effort = solved.effort;
        if !solved.is_to_be_halved {
            return Ok(solved.accept(engine, dt, |_| {}));
        }
        let take =
            |engine: &mut Engine, dt, next_dt, effort: &mut _| window(engine, relaxed, dt, next_dt, pushes, effort);
        if let Some(report) = effort.in_halves(engine, dt, next_dt, take)? {
            return Ok(report);
        }
    }
}
