//! Tests of cloth with bodies and particles.

#[cfg(all(feature = "avi-cloth", feature = "rigid"))]
mod avi;
#[cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]
mod capstan;
#[cfg(all(feature = "implicit-cloth", feature = "particles", feature = "rigid"))]
mod cloth;
#[path = "../common/mod.rs"]
mod common;
#[cfg(all(feature = "ibds-cloth", feature = "rigid"))]
mod drum;
#[cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth"))]
mod hands;
#[cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]
mod held_cloth;
#[cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]
mod layers;
#[cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]
mod lengths_of_steps;
#[cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]
mod lifts;
#[cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "particles"))]
mod light_leaders;
#[cfg(all(feature = "ibds-cloth", feature = "rigid"))]
mod net;
#[cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]
mod pinched;
#[cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]
mod pins_and_rails;
#[cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]
mod rebounds;
#[cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]
mod scaling;
#[cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]
mod several_cloths;
#[cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]
mod sliding;
#[cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]
mod stacks;
#[cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]
mod starts;
#[cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]
mod trampoline;
