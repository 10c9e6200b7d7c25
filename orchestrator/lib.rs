//! Two-way coupled simulation from simulators that know nothing of each other.
//!
//! \[PD97\] D. Baraff, A. Witkin: Partitioned Dynamics. CMU-RI-TR-97-33, 1997.
//!
//! Start at [`Scene`]; a scene that is built is a [`Run`].

mod accuracy;
mod bounded;
mod build;
mod coupled;
mod energy;
mod engine;
mod error;
mod history;
mod ledger;
mod loaded;
mod measure;
mod passivity;
mod picture;
mod plan;
mod plausible;
mod rate;
mod recovery;
mod report;
mod reported;
mod responses;
mod run;
mod scene;
mod schemes;
mod seat;
mod settings;
mod snapshot;
mod springs;
mod totals;
mod window;
mod worker;

pub use accuracy::Thresholds;
pub use engine::WindowReport;
pub use error::{Error, Mistake, Mistakes, Result};
pub use ledger::InterfaceLedger;
#[cfg(feature = "avi-cloth")]
pub use partita_avi_cloth as avi_cloth;
#[cfg(feature = "ibds-cloth")]
pub use partita_ibds_cloth as ibds_cloth;
#[cfg(feature = "ibds-cloth-gpu")]
pub use partita_ibds_cloth_gpu as ibds_cloth_gpu;
#[cfg(feature = "implicit-cloth")]
pub use partita_implicit_cloth as implicit_cloth;
#[cfg(feature = "particles")]
pub use partita_particles as particles;
#[cfg(feature = "rigid")]
pub use partita_rigid as rigid;
pub use partita_simulator as simulator;
pub use picture::{Picture, PosedSurface};
pub use rate::Rate;
pub use report::{RunNote, RunReport, Stopped, Warning, WarningKind, Windows};
pub use run::{CoupledLoad, Run};
pub use scene::{Contact, Rewind, Scene, Spring};
pub use schemes::{Relaxed, Scheme};
pub use snapshot::{RunSnapshot, WindowInputs};

/// All that a scene needs.
pub mod prelude {
    pub use crate::{Rate, Relaxed, Run, Scene, Scheme};
    #[cfg(feature = "avi-cloth")]
    pub use partita_avi_cloth::AviCloth;
    #[cfg(all(feature = "avi-cloth", not(feature = "implicit-cloth")))]
    pub use partita_avi_cloth::{Fabric, Mesh, Side};
    #[cfg(feature = "ibds-cloth")]
    pub use partita_ibds_cloth::{IbdsCloth, Net};
    #[cfg(feature = "ibds-cloth-gpu")]
    pub use partita_ibds_cloth_gpu::{Gpu, IbdsClothGpu};
    #[cfg(feature = "implicit-cloth")]
    pub use partita_implicit_cloth::{Fabric, ImplicitCloth, Mesh, Side};
    #[cfg(feature = "particles")]
    pub use partita_particles::{Emitter, Integration, Particles};
    #[cfg(feature = "rigid")]
    pub use partita_rigid::{Body, Joint, Pose, RigidBodies, Shape};
    pub use partita_simulator::{HandleId, HandleState, Simulator, SimulatorError, Wrench};
}

/// The README's code is compiled and run.
#[cfg(all(doctest, feature = "implicit-cloth", feature = "particles", feature = "rigid"))]
#[doc = include_str!("../README.md")]
struct Readme;
