//! What a run did and what it cost.

use std::fmt;

use partita_simulator::{Note, Outcome, Stages};
use serde::{Deserialize, Serialize};

use crate::{InterfaceLedger, engine::Engine, run::Clock};

/// What a run did and what it cost; printed as a small table.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// Windows taken.
    pub windows: u64,
    /// Simulated time since the begin `[s]`.
    pub simulated: f64,
    /// Passes, retracted ones included.
    pub passes: u64,
    /// Windows whose iteration stopped short of its bound.
    pub unconverged: u64,
    /// Largest change of the coupled loads in the last pass of an iterated window, relative to
    /// their size `[-]`.
    pub worst_load_change: f64,
    /// Largest difference in a window between applied and reported loads, relative to their size
    /// `[-]`. It is 1 if a contact starts in that window.
    pub worst_lag: f64,
    /// Largest distance of an attached handle from its carrier `[m]`.
    pub worst_gap: f64,
    /// By interface.
    pub ledgers: Vec<InterfaceLedger>,
    /// Name of each simulator and the seconds spent in its steps; on threads they overlap.
    pub simulators: Vec<(String, f64)>,
    /// Stages of each simulator and their seconds.
    pub stages: Vec<Stages>,
    /// Windows that were taken, those that were gone back over included; what times are a mean of.
    pub taken: u64,
    /// Seconds spent in those windows, simulators included.
    pub seconds: f64,
    /// Seconds of them that the orchestrator itself took.
    pub coupling: f64,
    /// Seconds spent on marks, besides.
    pub marking: f64,
    /// Errors beyond their thresholds ([`crate::Thresholds`]).
    pub warnings: Vec<Warning>,
    /// Notes of simulators and of the coupling.
    pub notes: Vec<RunNote>,
    /// Simulators whose own iterations stopped at a limit.
    pub stopped: Vec<Stopped>,
}

/// Windows in which something happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Windows {
    /// Number of them.
    pub count: u64,
    /// Number of the first one, from 0.
    pub first: u64,
    /// Number of the last one.
    pub last: u64,
}

impl Windows {
    pub(crate) fn one(window: u64) -> Self {
        Self { count: 1, first: window, last: window }
    }

    /// Adds a window, once.
    pub(crate) fn add(&mut self, window: u64) {
        if window != self.last {
            (self.count, self.last) = (self.count + 1, window);
        }
    }

    /// Counts a window that was taken in pieces at most once beyond the count `before`.
    pub(crate) fn count_once(&mut self, before: Option<Self>, window: u64) {
        self.count = self.count.min(before.map_or(0, |before| before.count) + 1);
        (self.first, self.last) = (self.first.min(window), self.last.min(window));
    }
}

impl fmt::Display for Windows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, first, last } = self;
        match (count, last - first + 1) {
            (1, _) => write!(f, "in window {first}"),
            (count, all) if *count == all => write!(f, "in windows {first}-{last}"),
            (count, _) => write!(f, "in {count} of windows {first}-{last}"),
        }
    }
}

/// A simulator whose own iterations stopped at a limit, with more left over than it asks of itself; its state is finite and usable.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Stopped {
    /// Its name.
    pub simulator: String,
    /// Windows in which it stopped.
    pub windows: Windows,
    /// Of these the one that is farthest beyond its bound.
    pub worst: Outcome,
}

/// Note with its source and its windows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunNote {
    /// Name of the simulator or of the part of the coupling.
    pub source: String,
    /// Kind and first subjects.
    pub note: Note,
    /// Windows in which it was reported.
    pub windows: Windows,
}

impl fmt::Display for RunNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.source, self.note, self.windows)
    }
}

/// Kind of a [`Warning`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub enum WarningKind {
    /// Difference between applied and reported loads of the same window.
    Lag,
    /// Energy that the coupling adds.
    Work,
    /// Distance of an attached handle from its carrier.
    Gap,
    /// Coupling iteration that misses its tolerance.
    Unconverged,
    /// Iteration of a simulator that misses its tolerance.
    Stopped,
    /// Mass of a body over its bounding box, found when the scene is built.
    Density,
    /// Mass of a cloth over its area, found when the scene is built.
    ArealDensity,
    /// Mass of a body or cloth against those of the others, found when the scene is built.
    Mass,
    /// Size of a body or cloth against those of the others, found when the scene is built.
    Size,
}

impl WarningKind {
    /// Whether it concerns the scene as built, not a window.
    pub fn is_of_scene(self) -> bool {
        matches!(self, Self::Density | Self::ArealDensity | Self::Mass | Self::Size)
    }
}

/// Error beyond its threshold, which makes its windows inaccurate, or an implausible density, mass
/// or size.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Warning {
    /// Kind of the error.
    pub kind: WarningKind,
    /// Name of the simulator, "FOLLOWER on LEADER", "coupling", or "SIMULATOR/BODY".
    pub source: String,
    /// Windows in which it exceeded the threshold.
    pub windows: Windows,
    /// Number of the window with the largest error relative to its reference.
    pub worst: u64,
    /// Error in the worst window: `[J]` for [`WarningKind::Work`], `[m]` for [`WarningKind::Gap`],
    /// else a fraction `[-]`. Density `[kg/m³]`, `[kg/m²]`, mass `[kg]` or size `[m]` for kinds of the scene.
    pub error: f64,
    /// Kinetic energy for [`WarningKind::Work`] `[J]`; the bound of a density, or the median of
    /// the other masses or sizes, for kinds of the scene; else 1.
    pub reference: f64,
    /// Whether the scheme iterates all loads.
    pub is_iterated: bool,
}

impl Warning {
    pub(crate) fn new(
        kind: WarningKind,
        source: String,
        window: u64,
        [error, reference]: [f64; 2],
        is_iterated: bool,
    ) -> Self {
        Self { kind, source, windows: Windows::one(window), worst: window, error, reference, is_iterated }
    }

    /// Whether it is of the same kind and source.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        self.kind == other.kind && self.source == other.source
    }

    /// Merges a later warning of the same kind and source.
    pub(crate) fn join(&mut self, later: &Self) {
        self.windows.add(later.windows.last);
        if later.error * self.reference > self.error * later.reference {
            (self.worst, self.error, self.reference) = (later.worst, later.error, later.reference);
        }
    }

    /// Remedy that usually reduces the error.
    pub fn advice(&self) -> &'static str {
        match (self.kind, self.is_iterated) {
            (kind, _) if kind.is_of_scene() => "check its mass, its size and their units",
            (WarningKind::Stopped, _) => "increase its substeps, its iteration limit or the scene's rate",
            (_, false) => "use `Relaxed` or a higher rate",
            (_, true) => "use a higher rate or more `passes`",
        }
    }
}

/// Bound of a density in words.
fn bound(warning: &Warning, unit: &str) -> String {
    let side = if warning.error > warning.reference { "most" } else { "least" };
    format!("expected at {side} {:.0e} {unit}", warning.reference)
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, source, windows, error, reference, .. } = self;
        let percent = 100.0 * error;
        match kind {
            WarningKind::Lag => {
                write!(f, "{source}: applied and reported loads differed by {percent:.0} % of their size on average")
            }
            WarningKind::Work => {
                write!(f, "{source}: the coupling added {error:.2e} J to a kinetic energy of {reference:.2e} J")
            }
            WarningKind::Gap => write!(f, "{source}: an attached handle was {error:.2e} m from its carrier"),
            WarningKind::Unconverged => {
                write!(f, "{source}: the iteration missed its tolerance in {percent:.0} % of recent windows")
            }
            WarningKind::Stopped => {
                write!(f, "{source}: its own iterations missed their tolerance in {percent:.0} % of recent windows")
            }
            WarningKind::Density => {
                write!(f, "{source}: density {error:.1e} kg/m³ (mass over bounding box), {}", bound(self, "kg/m³"))
            }
            WarningKind::ArealDensity => {
                write!(f, "{source}: areal density {error:.1e} kg/m², {}", bound(self, "kg/m²"))
            }
            WarningKind::Mass => write!(f, "{source}: mass {error:.1e} kg, median of the others {reference:.1e} kg"),
            WarningKind::Size => write!(f, "{source}: size {error:.1e} m, median of the others {reference:.1e} m"),
        }?;
        if kind.is_of_scene() {
            return write!(f, "; {}", self.advice());
        }
        write!(f, ", {windows}")?;
        if windows.count > 1 {
            write!(f, ", worst in {}", self.worst)?;
        }
        write!(f, "; {}", self.advice())
    }
}

impl RunReport {
    pub(crate) fn new(engine: &Engine, start: f64, clock: Clock) -> Self {
        let (state, totals) = (&engine.state, &engine.state.totals);
        let names = engine.members.iter().map(|member| member.name.clone());
        Self {
            windows: state.window,
            simulated: state.time - start,
            passes: totals.passes,
            unconverged: totals.unconverged,
            worst_load_change: totals.worst_load_change,
            worst_lag: totals.worst_lag,
            worst_gap: totals.worst_gap,
            ledgers: state.interfaces.iter().map(|interface| interface.ledger.clone()).collect(),
            simulators: names.zip(engine.clock.seconds.iter().copied()).collect(),
            stages: engine.clock.stages.clone(),
            taken: clock.taken,
            seconds: clock.windows.as_secs_f64(),
            coupling: clock.windows.as_secs_f64() - engine.clock.waiting,
            marking: clock.marks.as_secs_f64(),
            warnings: totals.warnings.clone(),
            notes: totals.notes.clone(),
            stopped: totals.stopped.clone(),
        }
    }
}

impl fmt::Display for RunReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per_window = 1e3 / self.taken.max(1) as f64;
        writeln!(
            f,
            "{} windows, {:.3} s simulated in {:.3} s",
            self.windows,
            self.simulated,
            self.seconds + self.marking
        )?;
        self.warnings.iter().try_for_each(|warning| writeln!(f, "WARN  {warning}"))?;
        writeln!(
            f,
            "{:.2} passes a window; the coupling stopped short of its bound in {} windows",
            self.passes as f64 / self.windows.max(1) as f64,
            self.unconverged
        )?;
        writeln!(
            f,
            "largest gap {:.3e} m, largest change of a load in a window's last pass {:.1e} of its size",
            self.worst_gap, self.worst_load_change
        )?;
        for ledger in &self.ledgers {
            let InterfaceLedger { follower, leader, got, work, .. } = ledger;
            let [x, y, z] = got.linear;
            let closure = ledger.closure();
            writeln!(
                f,
                "{follower} on {leader}: impulse ({x:.4}, {y:.4}, {z:.4}) N s, open {closure:.1e}, energy of the coupling {work:.3e} J"
            )?;
        }
        for (name, seconds) in &self.simulators {
            writeln!(f, "{:>9.4} ms a window  {name}", seconds * per_window)?;
        }
        writeln!(f, "{:>9.4} ms a window  coupling", self.coupling * per_window)?;
        write!(f, "{:>9.4} ms a window  marks", self.marking * per_window)?;
        for Stopped { simulator, windows, worst } in &self.stopped {
            write!(f, "\n{simulator} stopped at a limit of its own {windows}")?;
            if let Outcome::StoppedAt { error, bound, unit } = worst {
                write!(f, ", at worst with {error:.1e} {unit} left over where it asks for {bound:.1e}")?;
            }
        }
        self.notes.iter().try_for_each(|note| write!(f, "\n{note}"))
    }
}
