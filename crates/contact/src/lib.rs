//! Cloth that never passes through anything.
mod broad;
mod ccd;
mod check;
mod contacts;
mod crossing;
mod distance;
mod error;
mod features;
mod impacts;
mod inside;
mod obstacle;
mod parameters;
mod place;
mod repel;
mod report;
mod respond;
mod zones;

pub use ccd::{Impact, impact};
pub use contacts::{Contacts, Step};
pub use crossing::{crosses, crossings};
pub use distance::{Kind, Nearest, nearest, rounding};
pub use error::ContactError;
pub use features::Features;
pub use inside::State;
pub use obstacle::{Obstacle, Path, Shape};
pub use parameters::Parameters;
pub use report::{Reaction, Report, Seconds};
