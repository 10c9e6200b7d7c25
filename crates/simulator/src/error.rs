//! Errors that name the thing, what was found and what was expected.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a call did nothing. All is as it was before the call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum SimulatorError {
    /// A bad argument: handle, load (also one that overflows f32), time step, guide, motion,
    /// parameter, snapshot.
    Refused {
        /// What was wrong.
        thing: String,
        /// Its value.
        found: String,
        /// What would have been right.
        expected: String,
    },
    /// The step could not be taken: not finite, not converged where that is fatal, a quarantined
    /// body, a lost device.
    Failed {
        /// The culprit.
        thing: String,
        /// Its value.
        found: String,
        /// What would have been right.
        expected: String,
    },
}

impl SimulatorError {
    /// A [`SimulatorError::Refused`].
    pub fn refused(thing: impl fmt::Display, found: impl fmt::Display, expected: impl fmt::Display) -> Self {
        Self::Refused { thing: thing.to_string(), found: found.to_string(), expected: expected.to_string() }
    }

    /// A [`SimulatorError::Failed`].
    pub fn failed(thing: impl fmt::Display, found: impl fmt::Display, expected: impl fmt::Display) -> Self {
        Self::Failed { thing: thing.to_string(), found: found.to_string(), expected: expected.to_string() }
    }
}

impl fmt::Display for SimulatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { thing, found, expected } => write!(f, "{thing}: expected {expected}, found {found}"),
            Self::Failed { thing, found, expected } => {
                write!(f, "step failed at {thing}: expected {expected}, found {found}")
            }
        }
    }
}

impl std::error::Error for SimulatorError {}

/// Checks that `value` is finite.
///
/// # Errors
/// Names `field` and the value.
pub fn check_finite(field: &str, value: f64) -> Result<(), SimulatorError> {
    if value.is_finite() {
        Ok(())
    } else {
        Err(SimulatorError::refused(field, format!("{value:?}"), "a finite number"))
    }
}

/// Checks that `value` is finite and above zero.
///
/// # Errors
/// Names `field` and the value.
pub fn check_positive(field: &str, value: f64) -> Result<(), SimulatorError> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(SimulatorError::refused(field, format!("{value:?}"), "finite, above 0"))
    }
}

/// Checks that `value` is finite and not below zero.
///
/// # Errors
/// Names `field` and the value.
pub fn check_not_negative(field: &str, value: f64) -> Result<(), SimulatorError> {
    if value.is_finite() && value >= 0.0 {
        Ok(())
    } else {
        Err(SimulatorError::refused(field, format!("{value:?}"), "finite, at least 0"))
    }
}

/// Checks that all of `value` is finite.
///
/// # Errors
/// Names `field` and the value.
pub fn check_vector(field: &str, value: [f64; 3]) -> Result<(), SimulatorError> {
    if value.iter().all(|x| x.is_finite()) {
        Ok(())
    } else {
        Err(SimulatorError::refused(field, format!("{value:?}"), "finite numbers"))
    }
}
