//! Tests of asynchronous cloth.

mod common {
    pub mod cloth;
    pub mod obstacles;
    pub mod random;
}
mod books;
mod contact;
mod laws;
mod limits;
mod physics;
#[path = "../../../../tests/common/sample.rs"]
mod sample;
mod sliding;
mod spans;
mod threads;
