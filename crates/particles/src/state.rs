//! All that a step reads or changes.

use nalgebra::Vector3;
use partita_simulator::Wrench;
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
