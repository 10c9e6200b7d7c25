//! Schemes: how the coupled loads Λ of a window are found.
//!
//! One pass with Λ on the leaders gives G(Λ), what the followers report over dt; in the linear case
//! G(Λ) = A⁻¹(D − BΛ) (\[PD97\] eq. 3), and the coupled solution is Λ = G(Λ).

use serde::{Deserialize, Serialize};

mod aitken;
pub(crate) mod interleaved;
pub(crate) mod relaxed;

use aitken::Aitken;
pub use relaxed::Relaxed;

/// How the coupled loads of a window are found.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub enum Scheme {
    /// \[PD97\] §3: this window's load is what the last one reported. One pass, no retract. With r the
    /// follower's mass over the leader's, the error of two tied masses after n windows is r^(n+1):
    /// it wants heavy leaders.
    #[default]
    Interleaved,
    /// The pass repeated in place until load and report agree.
    Relaxed(Relaxed),
}

impl From<Relaxed> for Scheme {
    fn from(relaxed: Relaxed) -> Self {
        Self::Relaxed(relaxed)
    }
}
