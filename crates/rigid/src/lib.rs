//! Rigid bodies: rapier3d (f64) behind the contract.
//!
//! Start at [`RigidBodies`].

mod bodies;
mod body;
mod convert;
mod follow;
mod joint;
mod ledger;
mod mesh;
mod parameters;
mod shape;
mod simulator;
mod state;
mod step;
mod surfaces;

pub use bodies::RigidBodies;
pub use body::{Body, Pose, Role};
pub use joint::Joint;
pub use parameters::Parameters;
pub use shape::Shape;
