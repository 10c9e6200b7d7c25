//! What every cloth shares, however it is simulated: who holds its vertices ([`Holds`]), what it meets ([`Obstacles`]), and what is said
//! of vertices ([`Vertices`]).

mod holds;
mod obstacles;
mod rotation;
mod stops;
mod vertices;

pub use holds::{Held, Holds, Support, may_hold, report_supports};
pub use obstacles::{Obstacles, check_contact_rates, not_apart, note_contact, pose};
pub use rotation::{Islands, Moment, largest_without_gain};
pub use stops::Ended;
pub use vertices::{Vertices, absurd_load, begin_with, check_finite, not_started};
