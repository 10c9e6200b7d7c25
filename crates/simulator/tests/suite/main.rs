//! Tests of the contract and of the simulators that are its reference.

mod broken_laws_are_found;
mod frames_are_held;
mod obstacles_are_met;
mod reference_simulators;
mod references_keep_the_laws;
mod refusals;
mod short_lived_particles;
mod snapshots;
