//! All that a step reads or changes.

use nalgebra::Vector3;
use partita_simulator::{SimulatorError, Wrench};
use serde::{Deserialize, Serialize};

/// One entry a particle in each of the first four: placed particles first, in the order of their
/// handles, then emitted ones in the order of their births.
#[derive(PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    /// `[m]`
    pub positions: Vec<Vector3<f64>>,
    /// `[m/s]`
    pub velocities: Vec<Vector3<f64>>,
    pub ids: Vec<u64>,
    /// Times of birth `[s]`.
    pub births: Vec<f64>,
    /// `[s]`
    pub time: f64,
    /// Particles born so far, one number an emitter.
    pub emitted: Vec<u64>,
    /// Nobody goes before this time `[s]`.
    pub next_end: f64,
    /// As in [`partita_simulator::Ledger::external`].
    pub external: Wrench,
}

impl State {
    /// Whether `self` can be a state of a simulator with so many placed particles and emitters.
    pub fn check(&self, placed: usize, emitters: usize) -> Result<(), SimulatorError> {
        let n = self.positions.len();
        let refused = |thing: &str, found: String, expected: String| {
            Err(SimulatorError::refused(format!("snapshot, {thing}"), found, expected))
        };
        let lengths = [self.velocities.len(), self.ids.len(), self.births.len()];
        if lengths != [n; 3] {
            return refused("lengths", format!("{lengths:?}"), format!("{n} of each"));
        }
        if n < placed || self.emitted.len() != emitters && !self.emitted.is_empty() {
            return refused(
                "counts",
                format!("{n} particles, {} emitters", self.emitted.len()),
                format!("at least {placed} particles, {emitters} emitters"),
            );
        }
        let numbers = self.positions.iter().chain(&self.velocities).flat_map(|v| v.iter());
        if let Some(bad) = numbers.chain(&self.births).chain([&self.time]).find(|x| !x.is_finite()) {
            return refused("numbers", bad.to_string(), "finite numbers".into());
        }
        Ok(())
    }
}

/// Reuses the memory that is there, which the derived one does not.
impl Clone for State {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, from: &Self) {
        let Self { positions, velocities, ids, births, time, emitted, next_end, external } = from;
        self.positions.clone_from(positions);
        self.velocities.clone_from(velocities);
        self.ids.clone_from(ids);
        self.births.clone_from(births);
        self.time = *time;
        self.emitted.clone_from(emitted);
        self.next_end = *next_end;
        self.external = *external;
    }
}
