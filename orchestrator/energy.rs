//! Energy that a follower can have given in a pass: what it has lost, and what others gave it.
//!
//! A follower of energy E, from E₀ to E₁ in a pass, gives the work W = J·v̄ of each reaction J to its carrier, of mean
//! velocity v̄. Kinematic supports at rest do no work, so
//!
//!   Σ W <= E₀ - E₁ + work of the loads on it as a leader.
//!
//! A follower that cannot do what is asked of it may report reactions that drive a carrier with more. Its tank
//! ([`crate::passivity`]) gets that part of their work which keeps this balance. Wind and loads from outside count as
//! nothing: what they give through the follower does not drive a carrier whose loads find no fixed point. Followers whose
//! supports move are not checked. A passivity observer: B. Hannaford, J.-H. Ryu: Time-domain passivity control of haptic
//! interfaces, IEEE Transactions on Robotics and Automation 18(1), 2002.

use nalgebra::Vector3;
use partita_simulator::{Ledger, Wrench};

use crate::{engine::Engine, passivity::SlotIndex};

type V3 = Vector3<f64>;

/// Largest velocity of a kinematic support that counts as rest `[m/s]`: rounding.
const REST: f64 = 1e-9;

impl Engine {
    /// Ledger of a simulator after its last step, if it keeps one.
    pub(crate) fn ledger_of(&mut self, member: usize) -> Option<Ledger> {
        self.seats[member].look(|simulator| simulator.ledger()).ok().flatten()
    }

    /// Ledgers of the followers of these slots now, by member; none of a follower that has none.
    pub(crate) fn follower_ledgers(&mut self, slots: &[SlotIndex]) -> Vec<Option<Ledger>> {
        let mut ledgers = vec![None; self.members.len()];
        let contacts = slots.iter().filter(|&&[i, s]| self.interfaces[i].slots[s].is_contact());
        let mut followers: Vec<usize> = contacts.map(|&[i, _]| self.interfaces[i].follower).collect();
        followers.sort_unstable();
        followers.dedup();
        for follower in followers {
            ledgers[follower] = self.ledger_of(follower);
        }
        ledgers
    }

    /// Sets the fraction of the work of each follower's reactions that it can have given in the last pass, from its ledgers before
    /// and after that.
    pub(crate) fn balance(&mut self, before: &[Option<Ledger>], after: &[Option<Ledger>], dt: f64) {
        for (member, (before, after)) in before.iter().zip(after).enumerate() {
            let fraction = match (before, after) {
                (Some(before), Some(after)) => self.given_fraction(member, before, after, dt),
                _ => 1.0,
            };
            let interfaces = self.interfaces.iter().zip(&mut self.given_fractions);
            interfaces.filter(|(interface, _)| interface.follower == member).for_each(|(_, known)| *known = fraction);
        }
    }

    fn given_fraction(&self, member: usize, before: &Ledger, after: &Ledger, dt: f64) -> f64 {
        let Some(summary) = &self.pass.summaries[member] else { return 1.0 };
        if V3::from(summary.support_velocity).norm() + summary.support_spread > REST {
            return 1.0;
        }
        let energy = |ledger: &Ledger| ledger.kinetic + ledger.potential;
        let (mut available, mut driving) = (energy(before) - energy(after), 0.0);
        for (i, interface) in self.interfaces.iter().enumerate() {
            for (s, slot) in interface.slots.iter().enumerate() {
                let work = |impulse: Wrench| self.motion([i, s], dt).work(impulse);
                if interface.follower == member && self.pass.got[i][s] != Wrench::ZERO {
                    let given = work(self.pass.reaction([i, s]));
                    if slot.is_contact() && given > 0.0 { driving += given } else { available -= given }
                }
                if interface.leader == member {
                    // The work of an impact at the start is not that of its mean velocity.
                    if self.state.interfaces[i].impacts[s] != Wrench::ZERO {
                        return 1.0;
                    }
                    available += work(self.pass.used[i][s] + self.pass.added[i][s]);
                }
            }
        }
        if driving > 0.0 && driving > available { available.max(0.0) / driving } else { 1.0 }
    }
}
