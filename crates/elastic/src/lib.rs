//! Elastic sheets: what cloth is made of, how it is cut, and how it resists stretch, shear and bending.
//!
//! \[BW98\] D. Baraff, A. Witkin: Large Steps in Cloth Simulation. SIGGRAPH 1998.
//! \[TPS08\] B. Thomaszewski, S. Pabst, W. Straßer: Asynchronous Cloth Simulation. CGI 2008.
//!
//! A [`Sheet`] is triangles that are stretched and sheared ([`Density`]) and hinges that are bent ([`hinge`]), as a [`Fabric`] has it and a
//! [`Cut`] shapes it at rest. Simulators that integrate it share this crate. (Asynchronous cloth has Bridson's moment of bending, which is
//! this one's near rest.) Start at [`Sheet`].

mod cut;
#[cfg(test)]
mod definite;
mod element;
mod fabric;
pub mod hinge;
mod membrane;
mod sheet;

pub use cut::Cut;
pub use element::Element;
pub use fabric::Fabric;
pub use hinge::Hinge;
pub use membrane::{Density, Membrane, Steps, Tangent, Triangle};
pub use sheet::Sheet;
