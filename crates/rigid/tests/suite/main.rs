//! Tests of rigid bodies.

mod bodies;
mod contacts;
mod following;
mod joints;
mod laws;
mod refusals;
mod rotation;
mod sizes;
mod states;
mod surfaces;
mod tunnelling;
mod world;
