//! Loads of contacts that find no fixed point, bounded so that they add no energy.
//!
//! A carrier shows a mobility φ M, φ <= 1 where others support it. The part c of an impulse against its
//! motion stops it at most: c·v + φ c·M c <= 0. One that drives it does no more work than its follower
//! has given to drive it: c·v + φ c·M c/2 <= `given` `[J]`.
//!
//! Several followers of one carrier stop it together. Each impulse is bounded at the velocity that the
//! others leave, in at most 16 rounds (projected Gauss-Seidel). For impulses J_k that brake, the
//! fractions s_k tend to those of the smallest kinetic energy of v + φ M Σ s_k J_k, 0 <= s_k <= 1.
//! Bounded each for itself, two cloths let a body sink between them.

use nalgebra::Vector3;
use partita_simulator::Wrench;

use crate::{
    engine::Engine,
    passivity::{SlotIndex, work},
};

type V3 = Vector3<f64>;

/// Rounds over the impulses on one carrier.
const ROUNDS: usize = 16;

/// Load impulse of a contact that is to be bounded.
pub(crate) struct Bounded {
    pub slot: SlotIndex,
    pub load: Wrench,
    /// Impulse of that load in a pass, and velocity and spin of the carrier at its end `[m/s]`, `[rad/s]`.
    pub applied: Wrench,
    pub end: [V3; 2],
    /// Fraction φ of its mobility that the carrier showed [-].
    pub shown: f64,
    /// Energy that the follower has given to drive the carrier `[J]`.
    pub given: f64,
    /// Fraction of the load that adds no energy [-].
    pub fraction: f64,
}

impl Engine {
    /// Takes what a follower `reported` in the place of its load where the carrier owes it energy and that
    /// brakes the carrier more.
    pub(crate) fn pay_what_is_owed(&self, loads: &mut [Bounded], reported: &[Wrench]) {
        let together = self.on_one_carrier(loads);
        for k in 0..loads.len() {
            let (slot, shown) = (loads[k].slot, shown(loads, &together[k]));
            let velocities = self.velocities_with(loads, &together[k], k);
            let taken = |load: Wrench| {
                let (along, own) = (work(load, velocities), shown * work(load, self.change(slot, load)));
                let fraction = passive_fraction(along, own, 0.0);
                -fraction * (along + 0.5 * fraction * own)
            };
            if self.is_owed(slot) && taken(reported[k]) > taken(loads[k].load) {
                loads[k].load = reported[k];
            }
        }
    }

    /// Finds the fractions of loads that add no energy, those on one carrier together.
    pub(crate) fn bound_together(&self, loads: &mut [Bounded]) {
        let together = self.on_one_carrier(loads);
        for round in 0..ROUNDS {
            let mut has_changed = false;
            for k in (0..loads.len()).filter(|&k| round == 0 || together[k].len() > 1) {
                let velocities = self.velocities_with(loads, &together[k], k);
                let Bounded { slot, load, given, fraction, .. } = loads[k];
                let shown = shown(loads, &together[k]);
                loads[k].fraction = self.passive_fraction(slot, load, &velocities, shown, given);
                has_changed |= loads[k].fraction != fraction;
            }
            if !has_changed {
                break;
            }
        }
    }

    /// Numbers of the loads on the carrier of each, its own included.
    fn on_one_carrier(&self, loads: &[Bounded]) -> Vec<Vec<usize>> {
        let mut by_slot: Vec<(SlotIndex, usize)> = loads.iter().enumerate().map(|(k, load)| (load.slot, k)).collect();
        by_slot.sort_unstable();
        let number = |slot: &SlotIndex| {
            let place = by_slot.binary_search_by(|(known, _)| known.cmp(slot)).ok()?;
            Some(by_slot[place].1)
        };
        let others = |[i, s]: SlotIndex| self.interfaces[i].slots[s].others.iter().filter_map(number);
        loads.iter().enumerate().map(|(k, load)| std::iter::once(k).chain(others(load.slot)).collect()).collect()
    }

    /// Velocity and spin of the carrier of the k-th load at the end of the window, with the bounded impulses of
    /// the others of `together` and without its own `[m/s]`, `[rad/s]`.
    fn velocities_with(&self, loads: &[Bounded], together: &[usize], k: usize) -> [V3; 2] {
        let change = together.iter().fold(Wrench::ZERO, |sum, &j| {
            let now = if j == k { Wrench::ZERO } else { loads[j].load.scaled(loads[j].fraction) };
            sum + now - loads[j].applied
        });
        let change = self.change(loads[k].slot, change);
        let shown = shown(loads, together);
        [0, 1].map(|i| loads[k].end[i] + shown * change[i])
    }

    /// Fraction of an impulse on a slot that adds no energy beyond what its follower has `given`, where the
    /// carrier moves at `velocities`. 1 for one that is not a contact's, or moves nothing [-].
    fn passive_fraction(
        &self,
        [i, s]: SlotIndex,
        impulse: Wrench,
        velocities: &[V3; 2],
        shown: f64,
        given: f64,
    ) -> f64 {
        let by_itself = work(impulse, self.change([i, s], impulse));
        if !self.interfaces[i].slots[s].collides || by_itself <= 0.0 {
            return 1.0;
        }
        let along = work(impulse, *velocities);
        passive_fraction(along, shown * by_itself, given)
    }
}

/// Fraction φ of its mobility that a carrier showed by any of the loads of `together` [-]. Changes of the other
/// loads can hide it from one of them.
fn shown(loads: &[Bounded], together: &[usize]) -> f64 {
    together.iter().fold(0.0, |most: f64, &k| most.max(loads[k].shown))
}

/// Largest fraction s of an impulse, up to 1, with s along + s² own <= 0 where it is against the
/// motion, else with s along + s² own/2 <= given. Impulses against the motion may not use what is
/// given: of 1,800 random scenes five more gain where they may.
fn passive_fraction(along: f64, own: f64, given: f64) -> f64 {
    let given = given.max(0.0);
    if along < 0.0 {
        return (-along / own).min(1.0);
    }
    // The root without cancellation; 0/0 where nothing is given and nothing moves.
    let root = along + (along * along + 2.0 * own * given).sqrt();
    if root > 0.0 { (2.0 * given / root).min(1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An impulse stops its carrier at most, or drives it with as much energy as there is; a
    /// carrier that nothing yields is pushed against its motion in full.
    #[test]
    fn fractions_of_impulses_are_passive() {
        assert_eq!(passive_fraction(-3.0, 1.0, 0.0), 1.0);
        assert_eq!(passive_fraction(-3.0, 12.0, 5.0), 0.25);
        assert_eq!(passive_fraction(-3.0, 0.0, 0.0), 1.0);
        assert_eq!(passive_fraction(3.0, 1.0, 0.0), 0.0);
        assert_eq!(passive_fraction(3.0, 1.0, -1.0), 0.0);
        assert_eq!(passive_fraction(0.0, 0.0, 0.0), 0.0);
        assert_eq!(passive_fraction(3.0, 0.0, 1.5), 0.5);
        assert_eq!(passive_fraction(3.0, 1.0, 3.5), 1.0);
        let s = passive_fraction(3.0, 4.0, 1.0);
        assert!(s < 1.0 && (3.0 * s + 2.0 * s * s - 1.0).abs() < 1e-12, "{s}");
    }
}
