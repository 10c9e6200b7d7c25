//! All that a step reads or changes.

use nalgebra::Vector3;
use partita_contact::Pair;
use partita_simulator::Wrench;
use serde::{Deserialize, Serialize};

use crate::balance::Led;

/// One entry a vertex in the first two.
#[derive(PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    /// `[m]`
    pub positions: Vec<Vector3<f64>>,
    /// `[m/s]`
    pub velocities: Vec<Vector3<f64>>,
    /// `[s]`
    pub time: f64,
    /// Positions and velocities a step ago, and how long that took `[s]`; none before the first, after contacts, and where nobody asks.
    pub before: Option<Before>,
    /// What contact goes on from.
    pub contact: partita_contact::State,
    /// Normal forces of contacts in the last part of a step, in order `[N]`.
    pub normal_forces: Vec<(Pair, f64)>,
    /// As in [`partita_simulator::Ledger::external`].
    pub external: Wrench,
    pub led: Led,
}

/// Positions, velocities, duration.
type Before = (Vec<Vector3<f64>>, Vec<Vector3<f64>>, f64);

/// Reuses the memory that is there, which the derived one does not.
impl Clone for State {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, from: &Self) {
        let Self { positions, velocities, time, before, contact, normal_forces, external, led } = from;
        self.positions.clone_from(positions);
        self.velocities.clone_from(velocities);
        self.time = *time;
        match (&mut self.before, before) {
            (Some((x, v, dt)), Some((from_x, from_v, from_dt))) => {
                x.clone_from(from_x);
                v.clone_from(from_v);
                *dt = *from_dt;
            }
            (own, from) => own.clone_from(from),
        }
        self.contact.clone_from(contact);
        self.normal_forces.clone_from(normal_forces);
        (self.external, self.led) = (*external, *led);
    }
}
