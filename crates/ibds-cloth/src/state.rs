//! All that a step reads or changes.

use nalgebra::Vector3;
use partita_simulator::Wrench;
use serde::{Deserialize, Serialize};

/// One entry a particle in the first two.
#[derive(PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    /// `[m]`
    pub positions: Vec<Vector3<f64>>,
    /// `[m/s]`
    pub velocities: Vec<Vector3<f64>>,
    /// What each link of the net pulled with in the last part, if that is what the next one begins with `[N]`.
    pub pulls: Vec<f64>,
    /// Parts of steps for which Newton's method goes on, where it was needed.
    pub newton: u32,
    /// Time over which errors of lengths that longer parts left are still to be taken out `[s]`.
    pub settling: f64,
    /// `[s]`
    pub time: f64,
    /// What contact goes on from.
    pub contact: partita_contact::State,
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
        let Self { positions, velocities, pulls, newton, settling, time, contact, external } = from;
        self.positions.clone_from(positions);
        self.velocities.clone_from(velocities);
        self.pulls.clone_from(pulls);
        self.contact.clone_from(contact);
        (self.newton, self.settling, self.time, self.external) = (*newton, *settling, *time, *external);
    }
}
