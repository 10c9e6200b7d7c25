//! Rigid bodies: rapier3d (f64) behind the contract.
//!
//! Start at [`RigidBodies`].

mod bodies;
mod body;
mod canonical;
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
mod world;

pub use bodies::RigidBodies;
pub use body::{Body, Pose, Role};
pub use joint::Joint;
pub use parameters::Parameters;
pub use rapier3d_f64 as rapier;
pub use shape::Shape;
