//! What a run did and what it cost.

use std::fmt;

use partita_simulator::{Outcome, Stages};
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
    /// Largest change of the coupled loads in a window's last pass, relative to their size [-].
    pub worst_load_change: f64,
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
    /// Notes of simulators, and in how many windows each came.
    pub notes: Vec<(String, u64)>,
    /// Simulators whose own iterations stopped at a limit.
    pub stopped: Vec<Stopped>,
}

/// A simulator whose own iterations stopped at a limit, with more left over than it asks of itself; its state is finite and usable.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Stopped {
    /// Its name.
    pub simulator: String,
    /// In how many windows.
    pub windows: u64,
    /// Of these the one that is farthest beyond its bound.
    pub worst: Outcome,
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
            worst_gap: totals.worst_gap,
            ledgers: state.interfaces.iter().map(|interface| interface.ledger.clone()).collect(),
            simulators: names.zip(engine.clock.seconds.iter().copied()).collect(),
            stages: engine.clock.stages.clone(),
            taken: clock.taken,
            seconds: clock.windows.as_secs_f64(),
            coupling: clock.windows.as_secs_f64() - engine.clock.waiting,
            marking: clock.marks.as_secs_f64(),
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
            write!(f, "\n{simulator} stopped at a limit of its own in {windows} windows")?;
            if let Outcome::StoppedAt { error, bound, unit } = worst {
                write!(f, ", at worst with {error:.1e} {unit} left over where it asks for {bound:.1e}")?;
            }
        }
        self.notes.iter().try_for_each(|(note, count)| write!(f, "\n{count} x {note}"))
    }
}
