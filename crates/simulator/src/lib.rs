//! The contract between simulators that know nothing of each other: *handle, step, retract*.
//!
//! \[PD97\] D. Baraff, A. Witkin: Partitioned Dynamics. CMU-RI-TR-97-33, 1997.
//!
//! A simulator is a black box. Others name things in it by **handle**, make it **step** under loads and
//! along given motions, and **retract** steps to try them again. That is enough to couple cloth to
//! rigid bodies to particles without any of them knowing the others.
//!
//! - [`Simulator`] is the contract; start there.
//! - [`write_your_own`] is a whole simulator in a hundred lines, step by step.
//! - [`laws`] is the suite that every simulator passes; [`simulator_laws!`] makes it your tests.
//! - [`reference`](mod@reference) holds two tiny simulators, one that leads and one that follows.
//!
//! ```
//! use partita_simulator::{reference::*, *};
//!
//! let mut chain = Chain::new("chain", &[[0.0, 0.0, 0.0], [0.0, -1.0, 0.0]], ChainParameters::default())?;
//! let before = chain.snapshot(None);
//!
//! let push = Inputs { loads: vec![(chain.point(1), Wrench::force([2.0, 0.0, 0.0]))], ..Inputs::default() };
//! let report = chain.step(0.01, &push)?;
//! assert_eq!(report.time, 0.01);
//!
//! chain.retract(&before)?; // as if the step had never been
//! assert_eq!(before.first_difference(&chain.snapshot(None)), None);
//! # Ok::<(), SimulatorError>(())
//! ```
//!
//! # Rules
//!
//! **Plain data.** `[f64; 3]`, quaternions (x, y, z, w), SI units, Y up, world frame, all of it serde: no
//! two crates need to agree on a mathematics library.
//!
//! **One call a step.** What acts from outside comes in with [`Inputs`], what came of it goes out with
//! [`StepReport`]. Nothing is pending between calls, and a call that fails has changed nothing.
//!
//! **Handles.** A *Point* is a material point (particle, vertex, place in a triangle or in a body), a
//! *Frame* a rigid frame, at the centre of mass if the body is free. A handle carries its owner; a
//! foreign one is refused. The table is configuration: things and guides are made before the first
//! snapshot, and a snapshot of another layout is refused.
//!
//! **Loads** act at their handle, move with it and are constant over the step. They last one step.
//!
//! **Guides** are what a follower gives way to, numbered, without their owner: an *attachment* ends the
//! step with its carrier's position and velocity, an *obstacle* must not be crossed. An obstacle moves
//! linearly (Points) or at constant velocity and spin (Frame), by as many turns as its spin says. `None` for a motion:
//! the guide does not act in this step. Who cannot follow exactly states a tolerance.
//!
//! **Reactions** are impulses *on the carrier*, their torque about the carrier where that was at the
//! moment of the impulse. Load = reaction / dt, without a change of sign.
//!
//! **Impulses** act at the start of a step, all at once. A follower that has no way to make room for a carrier, as at
//! pinned cloth, reports *impacts*: impulses of two bodies by the carrier's [`Mobility`], which the carrier receives at
//! the start of its next step, so that it never gets where there is no room. *Holding impulses* are spread over that step and
//! balance the carrier's other accelerations. Of guides whose impulses another carrier takes, [`StepReport::passed_on`] says so;
//! those of all others may be raised where something presses on the carrier. Contacts give no energy in the frame that moves
//! with the follower's kinematic supports: [`StepReport::support_velocity`].
//!
//! **Friction, restitution, thickness** belong to the pair. A surface proposes them, a scene may set
//! others, and the follower uses what its guide says.
//!
//! **Substeps** are the simulator's own affair; or others take n steps of dt/n with the same loads and
//! the motion cut in n ([`Motion::part`]).
//!
//! **The impossible**, as an inextensible sheet pulled from two sides, is [`Outcome::StoppedAt`] with
//! the error that is left, not a failure and never a run-away.
//!
//! # Laws
//!
//! 1. Retract restores every bit, of what follows too. 2. A repeated step gives the same bits. 3. A
//!    refused or failed call changes nothing. 4. Loads act once. 5. Loads are impulses. 6. Reading
//!    changes nothing; time advances by dt. 7. Non-finite values never leave a step. 8. A follower keeps
//!    attachments, and momentum is accounted for. 9. Free particles keep their ids.

mod check;
mod cloud;
mod error;
mod fields;
mod guide;
mod handle;
pub mod laws;
mod mobility;
mod note;
pub mod path;
pub mod reference;
mod report;
mod settings;
mod snapshot;
mod surface;
#[doc = include_str!("../docs/write_your_own_simulator.md")]
pub mod write_your_own {}

use std::{any::Any, sync::Arc};

pub use check::{check, check_guides, check_load};
pub use cloud::Cloud;
pub use error::{SimulatorError, check_finite, check_not_negative, check_positive, check_vector};
pub use guide::{Follows, Guide, Inputs, Motion};
pub use handle::{HandleGroup, HandleId, HandleState, HandleTable, Kind, Wrench, owner_of};
pub use mobility::{Mobility, Response};
pub use note::Note;
pub use report::{Ledger, Outcome, Precision, Reaction, StageClock, Stages, StepReport};
pub use settings::{Settings, settings_of};
pub use snapshot::{Identity, Snapshot, hash_bytes, layout_of};
pub use surface::{Carrier, Primitive, PrimitiveShape, Surface, check_pair};

/// A simulation as a black box: *handle* what is in it, *step* it, *retract* the step
/// (\[PD97\] §2: handles, a time step, and "the system to retract a time step").
///
/// One call a step: what acts from outside comes in with [`Simulator::step`], what came of it goes
/// out with the report, and nothing is pending between calls.
pub trait Simulator: Send {
    /// Unique within a scene.
    fn name(&self) -> &str;

    /// Simulated time `[s]`; the sum of the steps taken.
    fn time(&self) -> f64;

    // handle

    /// Named runs of Points and Frames.
    fn handles(&self) -> &HandleTable;

    /// The states of `handles` now, into `out`, which is as long.
    ///
    /// # Errors
    /// A handle is foreign or unknown, or `out` has another length.
    fn read(&self, handles: &[HandleId], out: &mut [HandleState]) -> Result<(), SimulatorError>;

    /// Mobility of a handle now, in world axes. `None`: not known, and measured by whoever needs it, with steps that are
    /// retracted. Of what is scripted, fixed or unknown here it is zero.
    fn mobility(&self, _handle: HandleId) -> Option<Mobility> {
        None
    }

    /// Shapes that others may bump into, given once; how they move is read from their carriers.
    fn surfaces(&self) -> &[Arc<Surface>] {
        &[]
    }

    // step

    /// Advances by `dt` `[s]` under `inputs`.
    ///
    /// # Errors
    /// A bad argument ([`check`]) or a step that could not be taken; all is as it was.
    fn step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError>;

    // retract

    /// All that a step reads or changes, in the memory of `reuse` where that can be.
    fn snapshot(&self, reuse: Option<Snapshot>) -> Snapshot;

    /// Goes back to `to`, to the last bit.
    ///
    /// # Errors
    /// The snapshot is of another simulator or layout.
    fn retract(&mut self, to: &Snapshot) -> Result<(), SimulatorError>;

    /// The snapshot whose [`Snapshot::to_bytes`] these are.
    ///
    /// # Errors
    /// They are not.
    fn snapshot_from_bytes(&self, bytes: &[u8]) -> Result<Snapshot, SimulatorError>;

    // follow: step consistently with motion that is given, and tell what that took (S_a of [PD97])

    /// What it can follow. Nothing, unless it says so.
    fn follows(&self) -> Follows {
        Follows::default()
    }

    /// Takes its guides, once and all together. They are configuration: snapshots from before are of
    /// another layout.
    ///
    /// # Errors
    /// It has taken some before, or cannot follow one of these ([`check_guides`]).
    fn follow(&mut self, guides: Vec<Guide>) -> Result<(), SimulatorError> {
        let found = format!("{} guides", guides.len());
        Err(SimulatorError::refused(self.name(), found, "a simulator that can follow"))
    }

    /// Checks the start of a run, before the first step, with guides at the start of `motions`, one a guide. Changes nothing.
    ///
    /// # Errors
    /// Names a parameter that no step would take, or surfaces of guides that pass through this simulator's own, where no motion is known that leads them apart, and how many
    /// triangles do.
    fn check_start(&mut self, _motions: &[Option<Motion>]) -> Result<(), SimulatorError> {
        Ok(())
    }

    // optional

    /// Momentum and energy, where they are known.
    fn ledger(&self) -> Option<Ledger> {
        None
    }

    /// Appends free particles, in any order, each with the [id](Cloud) that it keeps.
    fn cloud(&self, _out: &mut Cloud) {}

    /// Parameters by name, for tables and files ([`settings_of`]). Null by default; numbers that
    /// are not finite are `null`.
    fn settings(&self) -> Settings {
        Settings::Null
    }

    /// The concrete simulator, for those who know what they put in.
    fn as_any(&self) -> &dyn Any;
}
