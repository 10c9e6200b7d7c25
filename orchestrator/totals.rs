//! Sums over all windows of a run: passes, unconverged windows, warnings and notes.

use partita_simulator::{Note, Outcome};
use serde::{Deserialize, Serialize};

use crate::{
    report::{RunNote, Stopped, Warning, Windows},
    worker::StepSummary,
};

/// Largest number of listed kinds of notes, so that reports stay short. Heuristic.
const KINDS: usize = 32;

/// Sums over all windows so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub passes: u64,
    pub unconverged: u64,
    pub worst_load_change: f64,
    pub worst_lag: f64,
    pub worst_gap: f64,
    pub warnings: Vec<Warning>,
    pub notes: Vec<RunNote>,
    pub stopped: Vec<Stopped>,
}

impl Totals {
    /// Counts a simulator's notes, and steps that it stopped short.
    pub(crate) fn note(&mut self, simulator: &str, summary: &StepSummary, window: u64) {
        if let Outcome::StoppedAt { error, bound, unit } = &summary.outcome {
            match self.stopped.iter_mut().find(|stopped| stopped.simulator == simulator) {
                Some(known) => {
                    known.windows.add(window);
                    known.worst.note(*error, *bound, unit);
                }
                None => {
                    let worst = summary.outcome.clone();
                    self.stopped.push(Stopped { simulator: simulator.into(), windows: Windows::one(window), worst });
                }
            }
        }
        summary.notes.iter().for_each(|note| self.add_note(simulator, note, window));
    }

    /// Counts a note. Kinds beyond the first [`KINDS`] share one entry.
    pub(crate) fn add_note(&mut self, source: &str, note: &Note, window: u64) {
        const OTHERS: &str = "others";
        let is_known = |known: &&mut RunNote| known.source == source && known.note.kind == note.kind;
        if let Some(known) = self.notes.iter_mut().find(is_known) {
            known.windows.add(window);
            known.note.add_subjects(&note.subjects, note.more);
        } else if self.notes.len() < KINDS || source == OTHERS {
            self.notes.push(RunNote { source: source.into(), note: note.clone(), windows: Windows::one(window) });
        } else {
            self.add_note(OTHERS, &Note::new("notes that are not listed"), window);
        }
    }

    /// Counts a warning of a window.
    pub(crate) fn warn(&mut self, warning: Warning) {
        match self.warnings.iter_mut().find(|known| known.is_alike(&warning)) {
            Some(known) => known.join(&warning),
            None => self.warnings.push(warning),
        }
    }

    /// First warning that is not among those of `before`.
    pub(crate) fn new_warning(&self, before: &Self) -> Option<&Warning> {
        self.warnings.iter().find(|warning| !before.warnings.iter().any(|known| known.is_alike(warning)))
    }

    /// Counts a window that was taken in pieces once: each count exceeds that of `before` by at
    /// most 1.
    pub(crate) fn count_once(&mut self, before: &Self, window: u64) {
        self.unconverged = self.unconverged.min(before.unconverged + 1);
        // New entries are last.
        for (k, stopped) in self.stopped.iter_mut().enumerate() {
            stopped.windows.count_once(before.stopped.get(k).map(|before| before.windows), window);
        }
        for (k, note) in self.notes.iter_mut().enumerate() {
            note.windows.count_once(before.notes.get(k).map(|before| before.windows), window);
        }
        for (k, warning) in self.warnings.iter_mut().enumerate() {
            warning.windows.count_once(before.warnings.get(k).map(|before| before.windows), window);
            warning.worst = warning.worst.min(window);
        }
    }
}
