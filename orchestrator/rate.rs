//! How long a window is.

use serde::{Deserialize, Serialize};

/// Length of a coupling window.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Rate {
    /// `[s]`; checked when the scene is built.
    pub(crate) dt: f64,
}

impl Rate {
    /// Windows a second.
    pub fn hz(windows: impl Into<f64>) -> Self {
        Self { dt: 1.0 / windows.into() }
    }

    /// Seconds a window.
    pub fn seconds(dt: f64) -> Self {
        Self { dt }
    }

    /// Length of a window `[s]`.
    pub fn dt(self) -> f64 {
        self.dt
    }
}
