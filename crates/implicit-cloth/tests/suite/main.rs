//! Tests of implicit cloth.

mod air;
mod bad_input;
mod cantilever;
mod common;
mod contact;
mod cut;
mod derivatives;
mod holds;
mod impact;
mod large;
mod laws;
mod physics;
mod rotation;
mod sheets;
