//! Tests of impulse-based cloth.

mod bending;
#[path = "../../../implicit-cloth/tests/suite/common/mod.rs"]
mod common;
mod contact;
mod energy;
mod held;
mod laws;
mod lengths_of_steps;
mod limits;
mod optimisations;
mod physics;
mod rotation;
#[path = "../../../implicit-cloth/tests/suite/sheets/mod.rs"]
mod sheets;
mod struts;
