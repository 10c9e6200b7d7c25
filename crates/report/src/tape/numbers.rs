//! The numbers of a frame: what charts show and `csv` lists.

use serde::{Deserialize, Serialize};

/// Energies, momenta, errors and costs over the windows since the last frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Numbers {
    /// Kinetic and potential energy of each simulator that keeps a ledger `[J]`.
    pub energies: Vec<Option<[f64; 2]>>,
    /// Energy that the couplings have put in since the begin `[J]`.
    pub work: f64,
    /// |Σ p − p₀ − external − given + got| over the simulators that know what acts on them from outside, `given` being
    /// the impulse of all loads on them: their own errors, whatever the coupling loses `[N s]`. `None` where there is none.
    pub momentum_error: Option<f64>,
    /// Largest distance of an attached handle from its carrier in these windows `[m]`.
    pub gap: f64,
    /// Largest change of the coupled loads in a window's last pass, relative to their size [-].
    pub load_change: f64,
    /// Passes of the coupling, a window [-].
    pub passes: f64,
    /// Iterations of each simulator, a window [-].
    pub iterations: Vec<f64>,
    /// Stages of each simulator with the milliseconds that they took, a window.
    pub stages: Vec<Vec<(String, f64)>>,
    /// Milliseconds of the orchestrator itself, a window.
    pub coupling: f64,
    /// By interface, impulses on the leader since the begin: used, got, pending, linear then angular [N s, N m s].
    pub impulses: Vec<[[f64; 6]; 3]>,
    /// Windows that these numbers are of.
    pub windows: u64,
    /// By surface that deforms: largest strain of an edge, and the strain of all edges together, since
    /// the first shape [-]. `None` for rigid surfaces.
    pub strains: Vec<Option<[f64; 2]>>,
}

impl Numbers {
    /// Time of a stage of a simulator in a window [ms]; none if it did not run.
    pub(crate) fn stage(&self, simulator: usize, name: &str) -> Option<f64> {
        let stages = self.stages.get(simulator)?;
        stages.iter().find(|(stage, _)| stage == name).map(|(_, milliseconds)| *milliseconds)
    }
}
