//! Tests of particles.

mod common;
mod contact;
mod determinism;
mod emission;
mod flight;
mod laws;
mod refusal;
mod solids;
