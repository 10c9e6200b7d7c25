//! Schemes: how the coupled loads Λ of a window are found.
//!
//! One pass with Λ on the leaders gives G(Λ), what the followers report over dt; in the linear case
//! G(Λ) = A⁻¹(D − BΛ) (\[PD97\] eq. 3), and the coupled solution is Λ = G(Λ).
//!
//! A scheme is a file here and a variant of [`Scheme`]; the engine gives it passes and knows none of them.

use serde::{Deserialize, Serialize};

mod fixed_point;
mod halving;
mod interleaved;
mod relaxed;

use crate::engine::{Engine, Failure, Push, WindowReport};
use halving::Effort;
pub use relaxed::Relaxed;

/// How the coupled loads of a window are found.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub enum Scheme {
    /// \[PD97\] §3: this window's load is what the last one reported. One pass without retract,
    /// unless a contact is iterated. With r the follower's mass over the leader's, the error of two tied
    /// masses after n windows is r^(n+1): attachments want heavy leaders. A contact whose delayed
    /// reactions would add more than 1 % of its body's energy is iterated until it ends. Its first window
    /// is repeated from a mark. A window whose iteration finds no loads is taken in two halves
    /// ([`Relaxed::halvings`]), and may end as `StoppedAt`.
    #[default]
    Interleaved,
    /// The pass repeated in place until load and report agree, each for the price of one more step of all: for followers as heavy
    /// as their leaders or heavier, and for cloth that catches what falls. There a tolerance of 0.1 does, with a floor of some
    /// tenths of a body's weight.
    Relaxed(Relaxed),
}

impl From<Relaxed> for Scheme {
    fn from(relaxed: Relaxed) -> Self {
        Self::Relaxed(relaxed)
    }
}

/// A parameter that is out of range: thing, found, expected.
pub(crate) type BadParameter = (&'static str, String, &'static str);

impl Scheme {
    /// Every parameter that is out of range.
    pub(crate) fn mistakes(&self) -> Vec<BadParameter> {
        match self {
            Self::Interleaved => Vec::new(),
            Self::Relaxed(relaxed) => relaxed.mistakes(),
        }
    }

    /// Takes one window: finds its loads and leaves the engine at its end, the loads to begin the
    /// next one with in place. The next window takes `next_dt` `[s]`, as far as is known.
    pub(crate) fn window(
        &self,
        engine: &mut Engine,
        dt: f64,
        next_dt: f64,
        pushes: &[Push],
    ) -> Result<WindowReport, Failure> {
        let effort = &mut Effort::new(engine, dt);
        match self {
            Self::Interleaved => interleaved::window(engine, dt, next_dt, pushes, effort),
            Self::Relaxed(relaxed) => relaxed::window(engine, relaxed, dt, next_dt, pushes, effort),
        }
    }
}
