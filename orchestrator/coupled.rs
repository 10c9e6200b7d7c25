//! State of the coupling: all that the orchestrator itself carries from window to window.

use partita_simulator::{HandleState, Wrench};
use serde::{Deserialize, Serialize};

use crate::{
    accuracy::CouplingError, ledger::InterfaceLedger, passivity::Passivity, responses::Accelerations, totals::Totals,
};

/// All that the orchestrator itself carries from window to window.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Coupled {
    pub window: u64,
    pub time: f64,
    /// Watched handles, by member.
    pub states: Vec<Vec<HandleState>>,
    pub interfaces: Vec<InterfaceState>,
    /// By member, impulse of all loads on it so far [N s].
    pub given: Vec<[f64; 3]>,
    pub totals: Totals,
    /// Fraction of recent windows in which the coupling iteration missed its tolerance, and the
    /// same for each member `[-]`.
    pub short: f64,
    pub stopped: Vec<f64>,
    /// Length of the last window, and of the longest so far `[s]`; 0 before the first.
    pub last_dt: f64,
    pub longest_dt: f64,
}

/// State of one interface between windows, by slot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct InterfaceState {
    /// Λ to begin the next window with [N, N m].
    pub force: Vec<Wrench>,
    /// Impulse that acts in the next window besides it [N s, N m s].
    pub carry: Vec<Wrench>,
    /// Impulse that acts at the start of the next window [N s, N m s].
    pub impacts: Vec<Wrench>,
    /// Impulse of the last window that holds over the next one, part of `carry` [N s, N m s].
    pub holding: Vec<Wrench>,
    /// Part of what is pending that waits, since it would add energy [N s, N m s].
    pub withheld: Vec<Wrench>,
    /// Accelerations of the leader's handles in the last window by all but this follower; none before the first.
    pub accelerations: Vec<Accelerations>,
    /// Accelerations that the follower predicted for this window, but for those by other followers; none before the second.
    pub expected: Vec<Accelerations>,
    /// Whether other carriers take the impacts and holding impulses.
    pub passed_on: Vec<bool>,
    /// Unit vector along which other bodies bear the carrier; none where it is free
    /// ([`crate::loaded`]).
    pub borne: Vec<Option<[f64; 3]>>,
    /// Σ got − Σ used [N s, N m s].
    pub pending: Vec<Wrench>,
    pub ledger: InterfaceLedger,
    /// Factor of each load's residual in an iteration [-].
    pub factors: Vec<f64>,
    /// Energy that the coupling adds to each contact.
    pub passivity: Vec<Passivity>,
    /// Coupling error, averaged over recent windows.
    pub error: CouplingError,
}
