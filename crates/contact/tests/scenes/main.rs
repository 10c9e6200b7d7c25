//! Scenes with cloth that is nothing but masses and springs.

mod common;
mod drape;
mod hard;
mod layers;
mod near;
mod physics;
mod random;
mod round;
#[path = "../../../../tests/common/sample.rs"]
mod sample;
mod shapes;
mod sharp;
mod sides;
mod stops;
mod tangled;
mod work;
mod zones;
