//! Tests of coupling: its accuracy, runs and their mistakes.

mod accuracy;
#[path = "../common/mod.rs"]
mod common;
mod convergence;
mod determinism;
mod failing_trials;
mod faults;
mod going_back;
#[cfg(all(feature = "implicit-cloth", feature = "rigid"))]
mod halving;
mod jet;
mod ledger;
mod mistakes;
mod partition;
mod plausible;
mod resume;
mod settings;
mod spring;
mod tied_inertias;
mod tied_masses;
#[cfg(all(feature = "rigid", feature = "particles", feature = "implicit-cloth", feature = "ibds-cloth"))]
mod turntable;
