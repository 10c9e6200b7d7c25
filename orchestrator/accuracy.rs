//! Coupling error of every window, under every scheme, and warnings where it is large.
//!
//! In each window the leader applies the load impulse L, and the follower reports the reaction J.
//! An exact coupling has L = J. Each interface has two errors in a window:
//!
//! - lag: Σ |L - J| / max(Σ |L|, Σ |J|), with torques divided by the extent of their handle `[-]`,
//! - work: Σ (L - J)·v̄, the energy that the coupling adds `[J]`.
//!
//! A run warns if the mean lag of attachments exceeds [`Thresholds::lag`]. It also warns if the
//! summed work exceeds [`Thresholds::work`] times the reference energy. Contacts are not in the
//! mean lag, since impacts make it large without an error. Mean and sum start at 0 and decay by
//! 1/32 in each window. So a full error warns after 22 windows.
//!
//! The reference energy is the kinetic energy of the leader's handles and of the follower. It is a
//! maximum that decays by 1/512 in each window. Impacts and holding impulses are excluded: the
//! follower predicts them for the window in which they act.

use partita_simulator::{Outcome, Wrench};
use serde::{Deserialize, Serialize};

use crate::{
    Scheme,
    coupled::InterfaceState,
    engine::Engine,
    passivity::kinetic,
    plan::{Interface, Slot},
    report::{Warning, WarningKind},
};

/// Time constant of the averages of errors, in windows `[-]`. Heuristic.
const WINDOWS: f64 = 32.0;

/// Time constant of the maximum of the reference energy, in windows `[-]`. Heuristic: bodies that
/// come to rest jitter, and their energy alone would be too small a reference.
const ENERGY_WINDOWS: f64 = 512.0;

/// Smallest load for which the lag of a window counts, relative to the mean load `[-]`. Heuristic.
const SIGNIFICANT: f64 = 0.25;

/// Mean load of a window that counts as rounding, relative to the leader's momentum `[-]`. It is
/// far above the rounding of velocities.
const ROUNDING: f64 = 1e-12;

/// Smallest reference energy of a handle, relative to the energy that its other accelerations give
/// it in one window from rest `[-]`. Heuristic: bodies at rest have velocities of rounding size.
const REST_ENERGY: f64 = 16.0;

/// Number of loaded windows before the work is checked against its threshold `[-]`. Heuristic: from
/// rest all kinetic energy is new, and the first load of a follower arrives one window late.
const START: u32 = 8;

/// Threshold of the work before that `[-]`: from here on a single impact has doubled the energy.
const EARLY_WORK: f64 = 0.5;

/// Errors beyond which a run warns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Thresholds {
    /// Mean difference between applied and reported loads, relative to their size `[-]`. Default
    /// 0.5.
    pub lag: f64,
    /// Energy that the coupling adds, relative to the kinetic energy of the coupled handles and the
    /// follower `[-]`. Default 0.1.
    pub work: f64,
    /// Distance of an attached handle from its carrier `[m]`. Default 1e-3.
    pub gap: f64,
    /// Fraction of recent windows in which an iteration missed its tolerance `[-]`. Default 0.25.
    pub stopped: f64,
    /// Density of a body or cloth, relative to the nearer end of the plausible range `[-]`: 1e-3 to
    /// 1e5 kg/m³ of a body's bounding box, 1e-4 to 1e3 kg/m² of cloth. Default 1.
    pub density: f64,
    /// Mass of a body or cloth over the median mass of the others that move, or its inverse `[-]`.
    /// Default 1e8.
    pub mass: f64,
    /// Size of a body or cloth over the median size of the others that move, or its inverse `[-]`.
    /// Default 1e3.
    pub size: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { lag: 0.5, work: 0.1, gap: 1e-3, stopped: 0.25, density: 1.0, mass: 1e8, size: 1e3 }
    }
}

impl Thresholds {
    /// Infinite thresholds, which disable all warnings.
    pub fn none() -> Self {
        let infinite = f64::INFINITY;
        Self {
            lag: infinite,
            work: infinite,
            gap: infinite,
            stopped: infinite,
            density: infinite,
            mass: infinite,
            size: infinite,
        }
    }

    /// As [`Thresholds::lag`].
    pub fn lag(self, lag: f64) -> Self {
        Self { lag, ..self }
    }

    /// As [`Thresholds::work`].
    pub fn work(self, work: f64) -> Self {
        Self { work, ..self }
    }

    /// As [`Thresholds::gap`].
    pub fn gap(self, gap: f64) -> Self {
        Self { gap, ..self }
    }

    /// As [`Thresholds::stopped`].
    pub fn stopped(self, stopped: f64) -> Self {
        Self { stopped, ..self }
    }

    /// As [`Thresholds::density`].
    pub fn density(self, density: f64) -> Self {
        Self { density, ..self }
    }

    /// As [`Thresholds::mass`].
    pub fn mass(self, mass: f64) -> Self {
        Self { mass, ..self }
    }

    /// As [`Thresholds::size`].
    pub fn size(self, size: f64) -> Self {
        Self { size, ..self }
    }

    /// Name, value and expectation of each threshold that is too small.
    pub(crate) fn mistakes(&self) -> impl Iterator<Item = (&'static str, f64, &'static str)> {
        let errors = [("lag", self.lag), ("work", self.work), ("gap [m]", self.gap), ("stopped", self.stopped)];
        let ratios = [("density", self.density), ("mass", self.mass), ("size", self.size)];
        let errors = errors.into_iter().filter(|(_, value)| value.is_nan() || *value <= 0.0);
        let ratios = ratios.into_iter().filter(|(_, value)| value.is_nan() || *value < 1.0);
        let with = |expected| move |(name, value)| (name, value, expected);
        errors.map(with("above 0")).chain(ratios.map(with("at least 1")))
    }
}

/// Errors of one interface over the last windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CouplingError {
    /// Number of loaded windows so far, at most [`START`].
    windows: u32,
    /// Mean lag [-], and mean load per window `[N s]`.
    lag: f64,
    load: f64,
    /// Energy that the coupling added, and reference energy `[J]`.
    work: f64,
    energy: f64,
}

impl CouplingError {
    /// Adds a window: the lags of all loads and of attachments, the work and the kinetic energy
    /// `[J]`.
    fn add(&mut self, [all, attached]: [&Magnitudes; 2], work: f64, energy: f64) {
        if all.size() > 0.0 {
            self.windows = START.min(self.windows + 1);
        }
        let load = attached.size();
        let is_significant = load > 0.0 && load >= SIGNIFICANT * self.load;
        self.lag = faded(self.lag, if is_significant { attached.relative().min(1.0) } else { 0.0 });
        self.load = faded(self.load, load);
        self.work = ((1.0 - 1.0 / WINDOWS) * self.work + work).max(0.0);
        self.energy = ((1.0 - 1.0 / ENERGY_WINDOWS) * self.energy).max(energy);
    }
}

/// Summed magnitudes of load impulses, reactions and their differences in one window `[N s]`.
#[derive(Clone, Copy, Default)]
struct Magnitudes {
    difference: f64,
    load: f64,
    reaction: f64,
}

impl Magnitudes {
    fn add(&mut self, [difference, load, reaction]: [f64; 3]) {
        self.difference += difference;
        self.load += load;
        self.reaction += reaction;
    }

    fn size(&self) -> f64 {
        self.load.max(self.reaction)
    }

    fn relative(&self) -> f64 {
        if self.size() > 0.0 { self.difference / self.size() } else { 0.0 }
    }
}

/// Exponential average after a new value.
fn faded(mean: f64, new: f64) -> f64 {
    mean + (new - mean) / WINDOWS
}

/// Errors of the last window over all interfaces.
pub(crate) struct WindowError {
    /// Largest lag [-].
    pub lag: f64,
    /// Energy that the coupling added `[J]`.
    pub work: f64,
}

impl Engine {
    /// Measures the error of the last pass over `dt` `[s]`, before it is added to the ledger.
    pub(crate) fn measure_errors(&mut self, dt: f64) -> WindowError {
        let mut largest = WindowError { lag: 0.0, work: 0.0 };
        for i in 0..self.interfaces.len() {
            let (mut all, mut attached, mut put_in, mut energy) =
                (Magnitudes::default(), Magnitudes::default(), 0.0, 0.0);
            let slots = &self.interfaces[i].slots;
            for (s, slot) in slots.iter().enumerate().filter(|(_, slot)| slot.can_move()) {
                let state = &self.state.interfaces[i];
                let load = self.pass.used[i][s] - state.impacts[s] - state.holding[s];
                let reaction = self.pass.reaction([i, s]);
                if load == Wrench::ZERO && reaction == Wrench::ZERO {
                    continue;
                }
                let motion = self.motion([i, s], dt);
                put_in += motion.work(load - reaction);
                let gained = state.accelerations.get(s).map_or([[0.0; 3]; 2], |a| a.map(|a| a.map(|a| a * dt)));
                energy += slot.energy([motion.end.velocity, motion.end.spin]) + REST_ENERGY * slot.energy(gained);
                let sizes = [load - reaction, load, reaction].map(|impulse| slot.size(impulse));
                all.add(sizes);
                if !slot.collides {
                    attached.add(sizes);
                }
            }
            let InterfaceState { ledger, error, .. } = &mut self.state.interfaces[i];
            ledger.work += put_in;
            error.add([&all, &attached], put_in, energy);
            if error.work > self.thresholds.work * error.energy {
                let Interface { follower, leader, ref slots } = self.interfaces[i];
                let of_leader = slots.iter().any(|slot| slot.inverse_masses.is_none()).then_some(leader);
                let known = [Some(follower), of_leader].into_iter().flatten().filter_map(|member| self.kinetic(member));
                let moving = energy + known.sum::<f64>();
                let error = &mut self.state.interfaces[i].error;
                error.energy = error.energy.max(moving);
            }
            largest.lag = largest.lag.max(all.relative());
            largest.work += put_in;
        }
        largest
    }

    /// Warns of errors beyond their thresholds, in the window that ends now.
    pub(crate) fn warn(&mut self, gap: f64, outcome: &Outcome) {
        let (window, thresholds) = (self.state.window, self.thresholds);
        let is_iterated = self.scheme != Scheme::Interleaved;
        let is_rounding: Vec<bool> = (0..self.interfaces.len())
            .map(|i| {
                let CouplingError { lag, load, .. } = self.state.interfaces[i].error;
                lag > thresholds.lag && load <= ROUNDING * self.momentum(self.interfaces[i].leader)
            })
            .collect();
        let mut warnings = Vec::new();
        let mut check = |kind: WarningKind, source: &dyn Fn() -> String, error: f64, bound: f64, threshold: f64| {
            if error > threshold * bound {
                warnings.push(Warning::new(kind, source(), window, [error, bound], is_iterated));
            }
        };
        for ((plan, state), is_rounding) in self.interfaces.iter().zip(&self.state.interfaces).zip(is_rounding) {
            let source = || format!("{} on {}", self.members[plan.follower].name, self.members[plan.leader].name);
            let CouplingError { windows, lag, work, energy, .. } = state.error;
            if !is_rounding {
                check(WarningKind::Lag, &source, lag, 1.0, thresholds.lag);
            }
            if energy > 0.0 {
                let threshold = if windows == START { thresholds.work } else { thresholds.work.max(EARLY_WORK) };
                check(WarningKind::Work, &source, work, energy, threshold);
            }
        }
        let coupling = || String::from("coupling");
        check(WarningKind::Gap, &coupling, gap, 1.0, thresholds.gap);
        let missed = |outcome: &Outcome| f64::from(*outcome != Outcome::Converged);
        self.state.short = faded(self.state.short, missed(outcome));
        check(WarningKind::Unconverged, &coupling, self.state.short, 1.0, thresholds.stopped);
        for (member, (stopped, summary)) in self.state.stopped.iter_mut().zip(&self.pass.summaries).enumerate() {
            let Some(summary) = summary else { continue };
            *stopped = faded(*stopped, missed(&summary.outcome));
            let source = || self.members[member].name.clone();
            check(WarningKind::Stopped, &source, *stopped, 1.0, thresholds.stopped);
        }
        warnings.into_iter().for_each(|warning| self.state.totals.warn(warning));
    }

    /// Momentum of a simulator if all of it moves one way, 0 if it reports none `[N s]`.
    fn momentum(&mut self, member: usize) -> f64 {
        self.ledger_of(member).map_or(0.0, |ledger| (2.0 * ledger.kinetic * ledger.mass).max(0.0).sqrt())
    }
}

impl Slot {
    /// Whether an impulse may move the handle. An unknown mobility counts as movable.
    fn can_move(&self) -> bool {
        self.inverse_masses.is_none_or(|[linear, angular]| linear > 0.0 || angular > 0.0)
    }

    /// Magnitude of an impulse, with the torque divided by the handle's extent `[N s]`.
    fn size(&self, impulse: Wrench) -> f64 {
        let norm = |x: [f64; 3]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        norm(impulse.linear) + norm(impulse.angular) / self.extent
    }

    /// Kinetic energy of the handle at a velocity and spin, 0 if its mobility is unknown `[J]`.
    fn energy(&self, velocities: [[f64; 3]; 2]) -> f64 {
        kinetic(self.inverse_masses.unwrap_or_default(), velocities)
    }
}
