//! The pass repeated in place by retract, accelerated by Aitken's factor, until the load that the
//! leaders felt is the load that the followers report.

use partita_simulator::{Outcome, Wrench};
use serde::{Deserialize, Serialize};

use super::{Aitken, BadParameter};
use crate::engine::{Engine, Failure, InterfaceState, Push, START, WindowReport};

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
    /// Most passes a window; one more where the last trial failed and the good one before it is
    /// taken again. Default 24.
    pub passes: u32,
    /// Aitken's factor is kept within these [-]. Default from 1e-6 to 2: a lower end of 0.1 diverges
    /// where the follower outweighs the leader more than ten times.
    pub factor: [f64; 2],
}

impl Default for Relaxed {
    fn default() -> Self {
        Self { tolerance: 1e-6, floor: 1e-9, gap: 1e-3, passes: 24, factor: [1e-6, 2.0] }
    }
}

/// Halvings of one change of Λ before the iteration stops at the last load that was good.
const HALVINGS: u32 = 12;

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

/// What the iteration of one window leaves to that of the next.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Memory {
    /// Aitken's factor.
    factor: f64,
}

impl Default for Memory {
    fn default() -> Self {
        Self { factor: 1.0 }
    }
}

pub(super) fn window(
    engine: &mut Engine,
    relaxed: &Relaxed,
    dt: f64,
    next_dt: f64,
    pushes: &[Push],
) -> Result<WindowReport, Failure> {
    engine.mark(START, true)?;
    let mut forces: Vec<_> = engine.state.interfaces.iter().map(|interface| interface.force.clone()).collect();
    let mut aitken = Aitken::new(engine.state.memory.relaxed.factor, relaxed.factor);
    let (mut x, mut residual) = (stack(engine, &forces), Vec::new());
    let mut good: Option<Vec<f64>> = None;
    let (mut passes, mut halvings, mut giving_up) = (0, 0, false);

    let (load_change, outcome) = loop {
        if passes > 0 {
            engine.retract(START, true)?;
        }
        passes += 1;
        if let Err(failure) = engine.pass(dt, next_dt, &forces, pushes, passes > 1) {
            match &good {
                // The load carried over fails: without it, or not at all.
                None if x.iter().all(|&x| x == 0.0) => return Err(failure),
                None => x.fill(0.0),
                Some(_) if giving_up => return Err(failure),
                // The last load that was good, once more, to stop there.
                Some(good) if halvings == HALVINGS || passes >= relaxed.passes => {
                    giving_up = true;
                    x.clone_from(good);
                }
                Some(good) => {
                    halvings += 1;
                    aitken.halve();
                    x.iter_mut().zip(good).for_each(|(x, good)| *x = 0.5 * (*x + good));
                }
            }
            unstack(engine, &x, &mut forces);
            continue;
        }
        halvings = 0;

        // r = G(Λ) − Λ, without what acts at the start of the next window.
        residual.clear();
        let got = stack_scaled(engine, &engine.pass.got, 1.0 / dt);
        let impacts = stack_scaled(engine, &engine.pass.impacts, 1.0 / dt);
        residual.extend(got.zip(impacts).zip(&x).map(|((got, impact), x)| got - impact - x));
        let size = norm(&x).max(norm(&residual));
        let (change, gap) = (norm(&residual), engine.gap());
        let relative = if change <= relaxed.floor { 0.0 } else { change / size };
        if relative <= relaxed.tolerance && gap <= relaxed.gap {
            break (relative, Outcome::Converged);
        }
        if giving_up || passes >= relaxed.passes {
            let stopped = |error, bound, unit: &str| Outcome::StoppedAt { error, bound, unit: unit.into() };
            break (
                relative,
                match relative <= relaxed.tolerance {
                    true => stopped(gap, relaxed.gap, "m"),
                    false => stopped(relative, relaxed.tolerance, "of the coupled loads"),
                },
            );
        }
        good = Some(x.clone());
        aitken.advance(&mut x, &residual);
        unstack(engine, &x, &mut forces);
    };

    let report = engine.accept(dt, passes, load_change, outcome);
    engine.state.memory.relaxed.factor = aitken.factor();
    for (interface, force) in engine.state.interfaces.iter_mut().zip(forces) {
        interface.force = force;
        let InterfaceState { carry, pending, impacts, .. } = interface;
        for (carry, (pending, impact)) in carry.iter_mut().zip(pending.iter().zip(&*impacts)) {
            *carry = *pending - *impact;
        }
    }
    Ok(report)
}

/// All wrenches as one vector of forces: torques divided by the reach of what they turn.
fn stack(engine: &Engine, wrenches: &[Vec<Wrench>]) -> Vec<f64> {
    stack_scaled(engine, wrenches, 1.0).collect()
}

fn stack_scaled<'a>(engine: &'a Engine, wrenches: &'a [Vec<Wrench>], factor: f64) -> impl Iterator<Item = f64> + 'a {
    let rows =
        engine.interfaces.iter().zip(wrenches).flat_map(|(interface, wrenches)| interface.slots.iter().zip(wrenches));
    rows.flat_map(move |(slot, wrench)| {
        let ([a, b, c], [d, e, f]) = (wrench.linear, wrench.angular.map(|x| x / slot.extent));
        [a, b, c, d, e, f].map(|x| x * factor)
    })
}

/// The inverse of [`stack`].
fn unstack(engine: &Engine, x: &[f64], wrenches: &mut [Vec<Wrench>]) {
    let mut rows = x.chunks_exact(6);
    for (interface, wrenches) in engine.interfaces.iter().zip(wrenches) {
        for (slot, wrench) in interface.slots.iter().zip(wrenches) {
            if let Some(&[a, b, c, d, e, f]) = rows.next() {
                *wrench = Wrench { linear: [a, b, c], angular: [d, e, f].map(|x| x * slot.extent) };
            }
        }
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
