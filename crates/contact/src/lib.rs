//! Cloth that never passes through anything: continuous collision detection and response for moving surfaces.
//!
//! [`Contacts::resolve`] takes where a surface is and where its integrator would have it at the end of a step, and makes of
//! that a place which it reaches without passing through itself, other cloth or obstacles, together with the impulses that
//! this took. It is shared by every cloth of this workspace and depends on none.
//!
//! \[BFA02\] R. Bridson, R. Fedkiw, J. Anderson: Robust Treatment of Collisions, Contact and Friction for Cloth Animation.
//! SIGGRAPH 2002.
//!
//! ```
//! use nalgebra::{Isometry3, Vector3};
//! use partita_contact::{Contacts, Features, Obstacle, Parameters, Path, Shape, State, Step};
//!
//! # fn main() -> Result<(), partita_contact::ContactError> {
//! // A triangle falls on a floor from 5 cm.
//! let features = Features::new(3, &[[0, 1, 2]], &[])?;
//! let floor = Obstacle::new(Shape::HalfSpace).friction(0.3);
//! let mut contacts = Contacts::new(features, Parameters::default(), vec![floor])?;
//! let still = [Path::still(Isometry3::identity())];
//! let mut x = [Vector3::new(0.0, 0.05, 0.0), Vector3::new(0.1, 0.05, 0.0), Vector3::new(0.0, 0.05, 0.1)];
//! let (mut v, w, dt) = ([Vector3::zeros(); 3], [1e3; 3], 0.01);
//!
//! let mut state = contacts.look(&x, &still);
//! let mut floor_got = 0.0;
//! for _ in 0..50 {
//!     // What the cloth itself would do: here nothing but fall.
//!     v.iter_mut().for_each(|v| v.y -= 9.81 * dt);
//!     let mut end = [0, 1, 2].map(|k| x[k] + dt * v[k]);
//!     let step = Step { dt, begin: &x, velocities: None, inverse_masses: &w, paths: &still };
//!     let report = contacts.resolve(&mut state, &step, &mut end)?;
//!     assert!(report.pinched.is_empty() && report.tangled.is_empty());
//!     contacts.impulses().iter().enumerate().for_each(|(k, impulse)| v[k] += w[k] * impulse);
//!     floor_got += contacts.reactions().iter().map(|reaction| reaction.linear.y).sum::<f64>();
//!     x = end;
//! }
//!
//! // It lies half its thickness of 1 mm above the floor, which has taken all the momentum that gravity gave.
//! assert!(x.iter().all(|x| (x.y - 0.5e-3).abs() < 1e-5));
//! assert!((floor_got + 3.0 / 1e3 * 9.81 * 0.5).abs() < 1e-4);
//! # Ok(())
//! # }
//! ```
//!
//! # What is guaranteed
//!
//! A surface that crosses nothing at the start crosses nothing at the end, unless the step ends at its limit of work
//! ([`Report::unresolved`], [`Parameters::visits`]). Every pair of features that can meet is found
//! ([`Contacts::due_pairs`]; equal to brute force), and none is let go before additive CCD ([`impact`]) has shown that it stays
//! apart, which never errs on the wrong side. Impulses settle nearly all, where need be in shorter parts of the step; what they
//! cannot, moves as one.
//! Obstacles and pins go where they are told, so where several of them leave no room there is no solution: those vertices
//! are in [`Report::pinched`], and those inside an obstacle are led out when it makes room ([`State`]). Between two obstacles
//! the cloth still does not cross itself; between pins that are moved through each other it may.
//!
//! An obstacle that can be moved by impulses need not get there: [`Contacts::stops`] looks a step ahead, and says which impulses
//! of two bodies stop obstacles where kinematic vertices leave them no room, or where free cloth lies on another obstacle that bears
//! them through it.
//!
//! Cloth that starts within a solid, or crosses it, is led out of it on the near side ([`Report::led`]), or kept as deep as it is
//! ([`Contacts::keep_depths`]), since leading it out may take work. Where no motion is
//! known that does, since the solid is in on one side and out on the other, [`Contacts::find_through`] says so before the first step.
//!
//! Linear and angular momentum are kept between cloth and cloth, to rounding; a pin takes what its contacts ask of it.
//! What obstacles get is in [`Contacts::reactions`]. Results do not depend on the number of threads or on earlier steps.
//!
//! # What is not
//!
//! - Loads pass through free cloth between rigid obstacles only. Between obstacles that deform, or layers of cloth, contacts see
//!   the cloth's own weight.
//! - Cloth that crosses other cloth, or an open surface, at the start is led apart along what shortens the contour of the crossing
//!   ([`Report::tangled`], [`State::is_apart`]), and so is what a pinch has pierced. That mostly ends with nothing crossing,
//!   but need not: a rope through a sheet stays as it is.
//! - A ball, capsule, cylinder or cone that a pinch presses past its centre or axis through the cloth is not told of, and stays
//!   there.
//! - Cloth at no distance at all from an open mesh that is met from both sides has no side, and is not kept from it. Closed
//!   and one-sided meshes, boxes and half-spaces tell which side is out; cloth that touches them there is pushed off, or
//!   held in place where its edges lie along theirs.
//!
//! Vectors and poses are nalgebra's (0.35), lengths in metres, masses in kilograms, Y is up. Start at [`Contacts`].

mod allowance;
mod anchored;
mod asynchronous;
mod backed;
mod bodies;
mod bounce;
mod broad;
mod carriers;
mod ccd;
mod check;
mod concave;
mod contacts;
mod convex;
mod crossing;
mod distance;
mod embedded;
mod entered;
mod error;
mod features;
mod impacts;
mod inside;
mod near;
mod obstacle;
mod parameters;
mod place;
mod pressed;
mod pushes;
mod regions;
mod relieve;
mod repel;
mod report;
mod respond;
mod revolved;
mod sides;
mod state;
mod stops;
mod torque;
mod untangle;
mod zones;

pub use broad::Pair;
pub use carriers::{Ahead, Carrier, Carriers, Mobility, Support};
pub use ccd::{Impact, impact};
pub use contacts::{Contacts, Step};
pub use crossing::{crosses, crossings};
pub use distance::{Kind, Nearest, nearest, rounding};
pub use error::ContactError;
pub use features::Features;
pub use near::Near;
pub use obstacle::{Obstacle, Path, Shape};
pub use parameters::{ContactRates, Parameters};
pub use pressed::{Pressing, PressingSide};
pub use pushes::{Pushes, Touch};
pub use report::{Cost, Reaction, Report};
pub use state::State;
pub use stops::{Stops, Supported};
