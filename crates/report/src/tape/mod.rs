//! The tape: what a run leaves, frame by frame, on disk while it runs.
//!
//! A tape is a header (magic words, version) and records, each with a seal. First comes [`Begin`]: what does not change
//! (command, seed, provenance, parameters, shapes, looks). Then [`Frame`]s, between them snapshots of the whole run from which it can
//! be taken up again, at last [`End`]. A process that is killed leaves a torn record at the end, and nothing but that is
//! lost; a seal that is wrong anywhere else is an error.
//!
//! Positions are as the run has them. Ids of free particles ascend, and are written as runs of neighbours.
//!
//! ```text
//! "partita tape" | version: u32 | record | record | …
//! record: kind: u8 | length: u32 | seal: u64 (FNV-1a of kind and payload) | seal of these: u32 | payload (postcard)
//! ```

mod clouds;
mod file;
mod numbers;
mod recorder;
mod shot;
mod sound;
mod tubes;

use partita::{
    WindowInputs,
    simulator::{Cloud, Surface},
};
use serde::{Deserialize, Serialize};

use crate::{Camera, Look};

pub use file::{Tape, TapeError, TapeWriter};
pub use numbers::Numbers;
pub(crate) use recorder::{Interrupted, Told};
pub use recorder::{Recorder, Scenery};

/// What does not change over a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Begin {
    /// Name of the example or scene.
    pub name: String,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// Seed of everything random.
    pub seed: u64,
    /// Names and values: version of partita, commit, machine, CPU, start of the process.
    pub provenance: Vec<(String, String)>,
    /// Options and parameters of the scene and its simulators, as JSON.
    pub parameters: String,
    /// Frames by second of simulated time `[1/s]`.
    pub frames_per_second: f64,
    /// Simulated time at the begin `[s]`.
    pub start: f64,
    /// Names of the simulators.
    pub simulators: Vec<String>,
    /// Follower and leader of each interface.
    pub interfaces: Vec<(String, String)>,
    /// Everything with triangles; what has lines has tubes around them instead.
    pub surfaces: Vec<TapeSurface>,
    /// The free particles of each simulator.
    pub clouds: Vec<TapeCloud>,
    /// Height of the ground that is drawn `[m]`.
    pub ground: Option<f64>,
    /// Where the scene is seen from at first.
    pub camera: Camera,
    /// Time of the large picture `[s]`; by default that of the frame in which most happens.
    pub still: Option<f64>,
}

/// A surface of a simulator, and how it is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TapeSurface {
    /// Which simulator, as an index into [`Begin::simulators`].
    pub simulator: usize,
    /// Shape, and what carries it: where that is a Frame, frames give its pose, else every vertex.
    pub surface: Surface,
    /// How it looks; `None` where it is recorded but not shown.
    pub look: Option<Look>,
}

/// The free particles of a simulator, and how they are shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TapeCloud {
    /// Of the balls that are drawn `[m]`.
    pub radius: f64,
    /// How they look.
    pub look: Look,
}

/// The run at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Simulated time `[s]`. Frame k is at start + k/`frames_per_second`; the last frame may be at
    /// the earlier end of the run.
    pub time: f64,
    /// Number of completed windows, including the window that contains the frame. Within that
    /// window positions are interpolated; forces and numbers are those at its end.
    pub window: u64,
    /// Where each of [`Begin::surfaces`] is.
    pub surfaces: Vec<Placement>,
    /// Who is where of each of [`Begin::clouds`], by ascending id.
    #[serde(with = "clouds")]
    pub clouds: Vec<Cloud>,
    /// What the couplings do to handles.
    pub forces: Vec<Force>,
    /// What charts show.
    pub numbers: Numbers,
    /// What came from outside in the windows since the last frame, so that they can be played again.
    pub inputs: Vec<WindowInputs>,
}

/// Where a surface is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Placement {
    /// Carried by a Frame.
    Rigid {
        /// Of the Frame `[m]`.
        position: [f64; 3],
        /// Unit quaternion (x, y, z, w).
        orientation: [f64; 4],
    },
    /// Carried by Points: each vertex `[m]`.
    Deformed(Vec<[f64; 3]>),
}

/// The mean force of a coupling on a handle since the last frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Force {
    /// Which of [`Begin::interfaces`].
    pub interface: usize,
    /// Where the handle is `[m]`.
    pub position: [f64; 3],
    /// `[N]`
    pub force: [f64; 3],
    /// `[N m]`; zero on Points.
    pub torque: [f64; 3],
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// The document that is also written as `NAME.json`: seed, command, provenance, parameters, checks and figures.
    pub json: String,
}

impl Placement {
    /// The vertices of `surface` in the world `[m]`.
    pub fn vertices(&self, surface: &Surface) -> Vec<[f64; 3]> {
        match self {
            Self::Deformed(vertices) => vertices.clone(),
            &Self::Rigid { position, orientation } => {
                let carrier = partita::simulator::HandleState { position, orientation, ..Default::default() };
                surface.posed(&[carrier])
            }
        }
    }
}
