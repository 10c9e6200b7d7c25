//! Bodies that others bear, such as a table by the floor: impulses along n = J/|J| do not move
//! them.
//!
//! A search shows it: neither J nor what is added to it changes the body's velocity along n. From
//! then on followers get the mobility P W P, with P near 1 - nnᵀ for velocities and near nnᵀ for
//! spins, until J moves the body in a step or has another direction. That is right where n is a
//! principal axis through the centre of mass.

use nalgebra::Vector3;
use partita_simulator::Wrench;

use super::directions::{Direction, Group};
use crate::{
    engine::Engine,
    passivity::{HandleMotion, SlotIndex},
    plan::Interface,
};

/// Change of velocity, over that by J alone, below which a body may be borne [-]. A box at the
/// bottom of a pile of two equal ones changes by a half.
const BORNE: f64 = 0.2;

/// The same by added impulses from one trial to another, below which it is borne [-]. Rapier's
/// floors give way by 0.004.
const STILL: f64 = 0.05;

/// Cosine of the angle to the direction in which a body is borne, up to which impulses are still
/// borne: 30° [-].
const SAME: f64 = 0.87;

/// A body that the impulses of a step did not move.
pub(super) struct Still {
    pub slot: SlotIndex,
    /// Velocity after the step without added impulses `[m/s]`.
    velocity: Vector3<f64>,
    /// Unit vector of its impulses.
    pub direction: [f64; 3],
    /// Requested impulse along it, and the largest that was added `[N s]`.
    asked: f64,
    added: f64,
}

impl Still {
    /// Whether more was added than half of what was requested: less shows no more than the leader's
    /// rounding.
    pub fn is_shown(&self) -> bool {
        self.asked > 0.0 && self.added > 0.5 * self.asked
    }
}

impl Engine {
    /// Forgets that others bear bodies of `leaders` where these move under what presses on them.
    pub(crate) fn check_borne(&mut self, leaders: &[usize], dt: f64) {
        for k in 0..self.contacts.len() {
            let [i, s] = self.contacts[k];
            let Some(n) = self.pass.borne[i][s] else { continue };
            let is_there = |now: [f64; 3]| Vector3::from(n).dot(&Vector3::from(now)) > SAME;
            if leaders.contains(&self.interfaces[i].leader) && !self.bearing([i, s], dt).is_some_and(is_there) {
                self.pass.borne[i][s] = None;
            }
        }
    }

    /// Direction of the impulses on a body in the last step, if others took them: if its velocity
    /// along them changed by less than a fifth of what they would give a free one.
    fn bearing(&self, [i, s]: SlotIndex, dt: f64) -> Option<[f64; 3]> {
        let used = self.pass.used[i][s] + self.pass.added[i][s] + self.stops_of_others(&self.interfaces[i].slots[s]);
        let n = Vector3::from(used.linear).try_normalize(0.0)?;
        let HandleMotion { start, end, .. } = self.motion([i, s], dt);
        let along = |v: [f64; 3]| n.dot(&Vector3::from(v));
        let alone = n.dot(&self.change([i, s], used)[0]);
        ((along(end.velocity) - along(start.velocity)).abs() < BORNE * alone).then(|| n.into())
    }

    /// Bodies that cloth presses against others, and that the impulses of the last step did not
    /// move.
    pub(super) fn still(&self, group: &Group, dt: f64) -> Vec<Still> {
        let is_movable = |&([i, s], _): &(SlotIndex, Wrench)| {
            self.pass.borne[i][s].is_none() && !self.interfaces[i].slots[s].mobility.is_zero()
        };
        let between_movable = |direction: &&Direction| !direction.taken.is_empty() && direction.parts().all(is_movable);
        let of = |direction: &Direction| {
            let mut still = direction.parts().filter_map(|&(slot, _)| {
                let (velocity, direction) = (self.velocity(slot), self.bearing(slot, dt)?);
                let asked = Vector3::from(direction).dot(&Vector3::from(self.asked(slot).linear));
                Some(Still { slot, velocity, direction, asked, added: 0.0 })
            });
            // One of both sides: cloth between two that do not move bears nothing.
            still.next().filter(|_| still.next().is_none())
        };
        group.directions.iter().filter(between_movable).filter_map(of).collect()
    }

    /// Whether added impulses of the last step did not change its velocity; notes the largest of
    /// them.
    pub(super) fn is_still(&self, still: &mut Still) -> bool {
        let ([i, s], along) = (still.slot, Vector3::from(still.direction));
        still.added = still.added.max(along.dot(&Vector3::from(self.pass.added[i][s].linear)));
        let alone = self.change([i, s], self.pass.added[i][s])[0];
        along.dot(&(self.velocity([i, s]) - still.velocity)).abs() <= STILL * along.dot(&alone)
    }

    /// Velocity of a slot's carrier after the last step `[m/s]`.
    fn velocity(&self, [i, s]: SlotIndex) -> Vector3<f64> {
        let Interface { leader, slots, .. } = &self.interfaces[i];
        self.pass.ends[*leader][slots[s].watched].velocity.into()
    }

    /// Change of velocity and spin of the carrier of a slot by an impulse, as others bear it.
    pub(crate) fn answer(&self, [i, s]: SlotIndex, impulse: Wrench) -> [Vector3<f64>; 2] {
        let Interface { leader, slots, .. } = &self.interfaces[i];
        slots[s].change_borne(&self.pass.ends[*leader][slots[s].watched], self.pass.borne[i][s], impulse)
    }
}
