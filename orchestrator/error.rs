//! What can be wrong with a scene, and with a run.

use partita_simulator::SimulatorError;

use crate::Warning;

/// Everything that is wrong with a scene, found before its first step.
#[derive(Debug, Clone, PartialEq)]
pub struct Mistakes(pub Vec<Mistake>);

impl std::fmt::Display for Mistakes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the scene has {} mistake{}:", self.0.len(), if self.0.len() == 1 { "" } else { "s" })?;
        self.0.iter().try_for_each(|mistake| write!(f, "\n  - {mistake}"))
    }
}

/// One thing that is wrong with a scene.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Mistake {
    /// There is nothing to simulate.
    #[error("no simulator was added")]
    Empty,
    /// Two simulators share a name.
    #[error("simulator name `{0}` is used twice")]
    NameTwice(String),
    /// A coupling names a simulator that is not there.
    #[error("{coupling}: no simulator is named `{name}`; there are {known}")]
    UnknownName {
        /// Which coupling.
        coupling: String,
        /// As written.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A handle belongs to no simulator of the scene, or does not exist in it.
    #[error("{coupling}: {error}")]
    Handle {
        /// Which coupling.
        coupling: String,
        /// Why not.
        error: SimulatorError,
    },
    /// A simulator cannot do what a coupling asks of it.
    #[error("{coupling}: `{simulator}` cannot follow {what}")]
    CannotFollow {
        /// Which coupling.
        coupling: String,
        /// The follower.
        simulator: String,
        /// What it would have to follow.
        what: String,
    },
    /// A body or cloth is of implausible mass or size, in a scene that is strict.
    #[error("{0}")]
    Implausible(crate::Warning),
    /// A coupling makes no sense.
    #[error("{coupling}: expected {expected}, found {found}")]
    Coupling {
        /// Which coupling.
        coupling: String,
        /// What was found.
        found: String,
        /// What would have been right.
        expected: String,
    },
    /// Followers lead their leaders.
    #[error("couplings run in a circle: {0}; each simulator must step after those it follows")]
    Circle(String),
    /// A number of the scene is out of range.
    #[error("{thing}: expected {expected}, found {found}")]
    Value {
        /// Which one.
        thing: String,
        /// What was found.
        found: String,
        /// What would have been right.
        expected: String,
    },
}

/// Why a call did nothing. The run is as it was before the call.
///
/// Its `Debug` is its `Display`, so that a `main` that returns it prints words.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The scene cannot be built.
    #[error("{0}")]
    Scene(Mistakes),
    /// A simulator refused or failed a step; all simulators are back at the window's start.
    #[error("window {window} at {time} s, simulator `{simulator}`: {error}")]
    Window {
        /// Number of the window, from 0.
        window: u64,
        /// Its start `[s]`.
        time: f64,
        /// Whose error it is.
        simulator: String,
        /// What happened.
        error: SimulatorError,
    },
    /// A simulator refused what it was given outside of any run: a body, a parameter.
    #[error("{0}")]
    Setup(SimulatorError),
    /// A simulator of the run refused a call, or panicked when it was looked at.
    #[error("simulator `{simulator}`: {error}")]
    Simulator {
        /// Whose error it is.
        simulator: String,
        /// What happened.
        error: SimulatorError,
    },
    /// A bad argument.
    #[error("{thing}: expected {expected}, found {found}")]
    Refused {
        /// Which one.
        thing: String,
        /// What was found.
        found: String,
        /// What would have been right.
        expected: String,
    },
    /// New warning in a window of a [`crate::Scene::strict`] scene. The run is at the start of that
    /// window.
    #[error("window {window} at {time} s: {warning}")]
    Inaccurate {
        /// Number of the window, from 0.
        window: u64,
        /// Its start `[s]`.
        time: f64,
        /// Warning of that window.
        warning: Box<Warning>,
    },
    /// A simulator could not return to the last accepted window. The run continues once the
    /// simulator can, or is replaced ([`crate::Run::replace`]).
    #[error("simulator `{simulator}` cannot return to the last accepted window; repair or replace it: {error}")]
    Stuck {
        /// Which one.
        simulator: String,
        /// What happened.
        error: SimulatorError,
    },
}

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Error {
    pub(crate) fn refused(thing: impl ToString, found: impl ToString, expected: impl ToString) -> Self {
        Self::Refused { thing: thing.to_string(), found: found.to_string(), expected: expected.to_string() }
    }
}

impl From<SimulatorError> for Error {
    fn from(error: SimulatorError) -> Self {
        Self::Setup(error)
    }
}

/// What partita returns.
pub type Result<T> = std::result::Result<T, Error>;
