//! The ledger of an interface: what the leader was given, what the follower took, what is on the
//! way.

use nalgebra::Vector3;
use partita_simulator::{HandleState, Wrench};
use serde::{Deserialize, Serialize};

use crate::{passivity::work, plan::Slot};

/// Impulses between one follower and one leader since time 0, summed over the leader's handles.
///
/// Torques are about the handle on which they act. `used + pending = got + added`, to rounding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InterfaceLedger {
    /// Name of the follower.
    pub follower: String,
    /// Name of the leader.
    pub leader: String,
    /// On the leader's handles so far [N s, N m s].
    pub used: Wrench,
    /// Reported for them by the follower, less impulses that were to hold them in a window that
    /// came shorter [N s, N m s].
    pub got: Wrench,
    /// On handles under other loads, besides what the follower asked for; part of `used`. What holds the follower takes it,
    /// and the follower's own ledger does not know of it [N s, N m s].
    pub added: Wrench,
    /// Reported and not yet used; acts in the next window, but for what would add energy to a body
    /// there [N s, N m s].
    pub pending: Wrench,
    /// Energy that the follower has got, and that pending impulses have yet to take off the leader's handles: the sum of
    /// -J·(v + M J/2) over those that stop more than they drive, with the handle's velocity v and mobility M `[J]`.
    pub in_transit: f64,
    /// Angular momentum about the world's origin that came or went because an impulse acted later
    /// than it arose, v × J dt `[N m s]`. Halves with the window.
    pub lag: [f64; 3],
    /// Energy that the coupling adds, Σ (J_used − J_got)·v̄ + (τ_used − τ_got)·ω̄ `[J]`. The sum is
    /// over movable handles, with their mean velocity in the window. Impacts and holding impulses
    /// are excluded: the follower predicts them for the window in which they act.
    pub work: f64,
    /// Moments about the world's origin of what was used and got [N m s].
    moments: [Vector3<f64>; 2],
}

impl InterfaceLedger {
    pub(crate) fn new((follower, leader): (String, String)) -> Self {
        let zero = Wrench::ZERO;
        Self {
            follower,
            leader,
            used: zero,
            got: zero,
            added: zero,
            pending: zero,
            in_transit: 0.0,
            lag: [0.0; 3],
            work: 0.0,
            moments: [Vector3::zeros(); 2],
        }
    }

    /// Records one window with impulses by slot, given the leader's watched states at its start and end.
    pub(crate) fn book(
        &mut self,
        slots: &[Slot],
        [begin, end]: [&[HandleState]; 2],
        used: &[Wrench],
        got: &[Wrench],
        added: &[Wrench],
        pending: &mut [Wrench],
    ) {
        let mut pending_moment = Vector3::zeros();
        (self.pending, self.in_transit) = (Wrench::ZERO, 0.0);
        for (i, slot) in slots.iter().enumerate() {
            let (a, b) = (&begin[slot.watched], &end[slot.watched]);
            let mean = |x: [f64; 3], y: [f64; 3]| 0.5 * (Vector3::from(x) + Vector3::from(y));
            let x = mean(a.position, b.position);
            let residual = used[i] - got[i];
            pending[i] = pending[i] - residual;
            self.used += used[i] + added[i];
            self.got += got[i];
            self.added += added[i];
            self.pending += pending[i];
            self.moments[0] += moment(used[i] + added[i], &x);
            self.moments[1] += moment(got[i] + added[i], &x);
            pending_moment += moment(pending[i], &x);
            let stopped = -work(pending[i], [b.velocity, b.spin].map(Vector3::from));
            if stopped > 0.0 {
                self.in_transit += (stopped - 0.5 * work(pending[i], slot.change_in(b, pending[i]))).max(0.0);
            }
        }
        self.lag = (self.moments[1] - self.moments[0] - pending_moment).into();
    }

    /// Takes back a pending impulse on a handle.
    pub(crate) fn cancel(&mut self, impulse: Wrench, handle: &HandleState) {
        self.got = self.got - impulse;
        self.pending = self.pending - impulse;
        self.moments[1] -= moment(impulse, &handle.position.into());
    }

    /// |used + pending − got| over |used| + |got|, force and torque apart, the larger [-]: rounding.
    pub fn closure(&self) -> f64 {
        let open = self.used + self.pending - self.got - self.added;
        let relative = |part: fn(&Wrench) -> [f64; 3]| {
            let size = Vector3::from(part(&self.used)).norm() + Vector3::from(part(&self.got)).norm();
            if size > 0.0 { Vector3::from(part(&open)).norm() / size } else { 0.0 }
        };
        relative(|wrench| wrench.linear).max(relative(|wrench| wrench.angular))
    }
}

/// Moment about the world's origin of an impulse at x [N m s].
fn moment(impulse: Wrench, x: &Vector3<f64>) -> Vector3<f64> {
    x.cross(&Vector3::from(impulse.linear)) + Vector3::from(impulse.angular)
}
