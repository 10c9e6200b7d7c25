//! The contract between simulators that know nothing of each other: *handle, step, retract*.
//!
//! [PD97] D. Baraff, A. Witkin: Partitioned Dynamics. CMU-RI-TR-97-33, 1997.
//!
//! Everything at this border is plain data: `[f64; 3]`, quaternions (x, y, z, w), SI units, Y up,
//! world frame. Start at [`Simulator`].

mod check;
mod error;
mod fields;
mod guide;
mod handle;
pub mod laws;
pub mod path;
pub mod reference;
mod report;
mod snapshot;
mod surface;

use std::{any::Any, sync::Arc};

pub use check::{check, check_guides};
pub use error::{SimulatorError, check_finite, check_not_negative, check_positive, check_vector};
pub use guide::{Follows, Guide, Inputs, Motion};
pub use handle::{HandleGroup, HandleId, HandleState, HandleTable, Kind, Wrench, owner_of};
pub use report::{Ledger, Outcome, Reaction, Stages, StepReport};
pub use snapshot::{Snapshot, hash_bytes, layout_of};
pub use surface::{Carrier, Surface, check_pair};

/// A simulation as a black box: *handle* what is in it, *step* it, *retract* the step
/// ([PD97] §2: handles, a time step, and "the system to retract a time step").
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

    /// Shapes that others may bump into, given once; how they move is read from their carriers.
    fn surfaces(&self) -> &[Arc<Surface>];

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
    fn snapshot_from_bytes(&self, time: f64, bytes: &[u8]) -> Result<Snapshot, SimulatorError>;

    // follow: step consistently with motion that is given, and tell what that took (S_a of [PD97])

    /// What it can follow. Nothing, unless it says so.
    fn follows(&self) -> Follows {
        Follows::default()
    }

    /// Takes its guides, once, before the first step and snapshot.
    ///
    /// # Errors
    /// It cannot follow one of them ([`check_guides`]).
    fn follow(&mut self, guides: Vec<Guide>) -> Result<(), SimulatorError> {
        let found = format!("{} guides", guides.len());
        Err(SimulatorError::refused(self.name(), found, "a simulator that can follow"))
    }

    // optional

    /// Momentum and energy, where they are known.
    fn ledger(&self) -> Option<Ledger> {
        None
    }

    /// Appends points to show that are no handles `[m]`: free particles.
    fn cloud(&self, _out: &mut Vec<[f64; 3]>) {}

    /// The concrete simulator, for those who know what they put in.
    fn as_any(&self) -> &dyn Any;
}
