//! Sums over all windows of a run: passes, what did not converge, notes.

use partita_simulator::Outcome;
use serde::{Deserialize, Serialize};

use crate::{report::Stopped, worker::StepSummary};

/// Sums over all windows so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub passes: u64,
    pub unconverged: u64,
    pub worst_load_change: f64,
    pub worst_gap: f64,
    /// Note, and in how many windows.
    pub notes: Vec<(String, u64)>,
    pub stopped: Vec<Stopped>,
}

impl Totals {
    /// Counts a simulator's notes, and steps that it stopped short.
    pub(crate) fn note(&mut self, simulator: &str, summary: &StepSummary) {
        if let Outcome::StoppedAt { error, bound, unit } = &summary.outcome {
            match self.stopped.iter_mut().find(|stopped| stopped.simulator == simulator) {
                Some(known) => {
                    known.windows += 1;
                    known.worst.note(*error, *bound, unit);
                }
                None => {
                    let worst = summary.outcome.clone();
                    self.stopped.push(Stopped { simulator: simulator.into(), windows: 1, worst });
                }
            }
        }
        summary.notes.iter().for_each(|note| self.add_note(format!("{simulator}: {note}")));
    }

    /// Counts windows once that were taken in pieces: what has grown since `before` has grown by one.
    pub(crate) fn count_once(&mut self, before: &Self) {
        self.unconverged = self.unconverged.min(before.unconverged + 1);
        // New entries are last.
        for (k, stopped) in self.stopped.iter_mut().enumerate() {
            stopped.windows = stopped.windows.min(before.stopped.get(k).map_or(0, |before| before.windows) + 1);
        }
        for (k, (_, count)) in self.notes.iter_mut().enumerate() {
            *count = (*count).min(before.notes.get(k).map_or(0, |(_, before)| *before) + 1);
        }
    }

    /// Counts a note; of many different ones only the first are listed, the others share one entry.
    pub(crate) fn add_note(&mut self, note: String) {
        /// Different texts that are listed; more would be a log.
        const LISTED: usize = 32;
        const OTHERS: &str = "other notes, which are not listed";
        let entry = |notes: &[(String, u64)], note: &str| notes.iter().position(|(text, _)| text == note);
        let note = match entry(&self.notes, &note) {
            None if self.notes.len() >= LISTED => OTHERS.into(),
            _ => note,
        };
        match entry(&self.notes, &note) {
            Some(known) => self.notes[known].1 += 1,
            None => self.notes.push((note, 1)),
        }
    }
}
