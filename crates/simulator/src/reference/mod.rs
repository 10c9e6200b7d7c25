//! Two tiny simulators, for tests, for documentation, and to copy from.

mod chain;
mod mass_on_spring;

pub use chain::{Chain, ChainParameters};
pub use mass_on_spring::{MassOnSpring, SpringParameters};
