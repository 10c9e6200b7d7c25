//! Directions along which impulses are adjusted: J on a body, and -J on those that take it where
//! cloth passes it on.

use nalgebra::Vector3;
use partita_simulator::Wrench;

use super::trial::Bounds;
use crate::{engine::Engine, passivity::SlotIndex, plan::Interface};

/// Leaders whose steps are repeated together, and what is adjusted in them.
pub(crate) struct Group {
    pub leaders: Vec<usize>,
    pub(super) directions: Vec<Direction>,
}

/// Requested impulse J on a body, and parts of -J on bodies to which cloth passes it on.
pub(super) struct Direction {
    /// J `[N s]`, `[N m s]`.
    pub asked: (SlotIndex, Wrench),
    /// Parts of -J.
    pub taken: Vec<(SlotIndex, Wrench)>,
    /// Fraction of J that is passed on [-].
    passed_on: f64,
}

impl Direction {
    /// Bounds of s and ε.
    pub fn bounds(&self) -> Bounds {
        if self.taken.is_empty() { Bounds::STOPPED } else { Bounds { least: -self.passed_on, ..Bounds::PRESSED } }
    }

    pub fn parts(&self) -> impl Iterator<Item = &(SlotIndex, Wrench)> {
        std::iter::once(&self.asked).chain(&self.taken)
    }
}

impl Group {
    fn shares_leader(&self, other: &Self) -> bool {
        self.leaders.iter().any(|m| other.leaders.contains(m))
    }
}

impl Engine {
    /// Groups of those of `leaders` whose steps are repeated together, with their directions.
    pub(crate) fn loaded_groups(&self, leaders: &[usize]) -> Vec<Group> {
        let mut groups: Vec<Group> = vec![];
        for direction in self.directions(leaders) {
            let mut merged = Group { leaders: self.leaders_of(&direction), directions: vec![] };
            // Groups that share a leader become one.
            let (joined, others) = groups.into_iter().partition(|group: &Group| group.shares_leader(&merged));
            groups = others;
            for group in joined {
                merged.leaders.extend(group.leaders);
                merged.directions.extend(group.directions);
            }
            merged.leaders.sort_unstable();
            merged.leaders.dedup();
            merged.directions.push(direction);
            groups.push(merged);
        }
        groups
    }

    /// Directions of impulses on bodies of `leaders` in this window. Of two bodies that press cloth
    /// between them only the one with the smaller impulse has one: several may press it against the
    /// other.
    fn directions(&self, leaders: &[usize]) -> Vec<Direction> {
        let slots = leaders.iter().flat_map(|&m| self.bodies[m].iter().copied());
        let is_asked =
            |&[i, s]: &SlotIndex| !self.state.interfaces[i].expected.is_empty() && self.asked([i, s]) != Wrench::ZERO;
        let mut slots: Vec<(SlotIndex, f64)> =
            slots.filter(is_asked).map(|slot| (slot, Vector3::from(self.asked(slot).linear).norm())).collect();
        slots.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        let mut directions: Vec<Direction> = vec![];
        for (slot, _) in slots {
            let Some(direction) = self.direction(slot, leaders) else { continue };
            let is_taken = |(slot, _): &(SlotIndex, Wrench)| directions.iter().any(|other| other.asked.0 == *slot);
            if !direction.taken.iter().any(is_taken) {
                directions.push(direction);
            }
        }
        directions.sort_by_key(|direction| direction.asked.0);
        directions
    }

    /// Direction of a slot; none where what takes its impulse is no body, steps at another level,
    /// is missing, or is one of several that can move.
    fn direction(&self, slot: SlotIndex, leaders: &[usize]) -> Option<Direction> {
        let asked = self.asked(slot);
        let mut direction = Direction { asked: (slot, asked), taken: vec![], passed_on: 0.0 };
        if !self.state.interfaces[slot[0]].passed_on[slot[1]] {
            return Some(direction);
        }
        let takers: Vec<(SlotIndex, f64)> = self.takers(slot).collect();
        let may_take = |&([i, s], _): &(SlotIndex, f64)| {
            let (Interface { leader, .. }, taker) = (&self.interfaces[i], &self.interfaces[i].slots[s]);
            let moves_along = leaders.contains(leader) && !self.state.interfaces[i].expected.is_empty();
            taker.body.is_some() && (taker.mobility.is_zero() || moves_along)
        };
        let movable = takers.iter().filter(|([i, s], _)| !self.interfaces[*i].slots[*s].mobility.is_zero()).count();
        // Which of several is pressed is not known.
        if takers.is_empty() || movable > 1 || !takers.iter().all(may_take) {
            return None;
        }
        let at = |[i, s]: SlotIndex| {
            let Interface { leader, slots, .. } = &self.interfaces[i];
            Vector3::from(self.state.states[*leader][slots[s].watched].position)
        };
        let linear = Vector3::from(asked.linear);
        let (taken, square) = (takers.iter().map(|(_, taken)| taken).sum::<f64>(), linear.norm_squared());
        direction.passed_on = (taken / square).min(1.0);
        let whole = taken.max(square);
        direction.taken.extend(takers.into_iter().map(|(taker, taken)| {
            let angular = Vector3::from(asked.angular) + (at(slot) - at(taker)).cross(&linear);
            (taker, Wrench { angular: angular.into(), ..asked }.scaled(-taken / whole))
        }));
        Some(direction)
    }

    /// Slots to which the follower passes on the impulse of this one, with weights: -J·J_t `[N²
    /// s²]`.
    fn takers(&self, [i, s]: SlotIndex) -> impl Iterator<Item = (SlotIndex, f64)> + '_ {
        let (follower, asked) = (self.interfaces[i].follower, Vector3::from(self.asked([i, s]).linear));
        let of_follower = self.interfaces.iter().enumerate().filter(move |(_, other)| other.follower == follower);
        let slots = of_follower.flat_map(|(j, other)| (0..other.slots.len()).map(move |t| [j, t]));
        let taken = move |[j, t]: SlotIndex| match self.state.interfaces[j].passed_on[t] {
            true => -asked.dot(&Vector3::from(self.asked([j, t]).linear)),
            false => 0.0,
        };
        slots.map(move |slot| (slot, taken(slot))).filter(|&(_, taken)| taken > 0.0)
    }

    /// Parts of a direction on bodies that can move.
    pub(super) fn movable<'a>(&'a self, direction: &'a Direction) -> impl Iterator<Item = &'a (SlotIndex, Wrench)> {
        direction.parts().filter(|([i, s], _)| !self.interfaces[*i].slots[*s].mobility.is_zero())
    }

    /// Leaders whose bodies move by a direction.
    fn leaders_of(&self, direction: &Direction) -> Vec<usize> {
        self.movable(direction).map(|([i, _], _)| self.interfaces[*i].leader).collect()
    }

    /// Sets the added impulses of slots to `factors` times these directions. Those on immovable
    /// bodies, which other groups may press as well, change from `before` times these.
    pub(super) fn add(&mut self, directions: &[Direction], before: &[f64], factors: &[f64]) {
        let is_shared = |engine: &Self, [i, s]: SlotIndex| engine.interfaces[i].slots[s].mobility.is_zero();
        for &([i, s], _) in directions.iter().flat_map(Direction::parts) {
            if !is_shared(self, [i, s]) {
                self.pass.added[i][s] = Wrench::ZERO;
            }
        }
        for (direction, (before, factor)) in directions.iter().zip(before.iter().zip(factors)) {
            for &([i, s], part) in direction.parts() {
                let factor = if is_shared(self, [i, s]) { factor - before } else { *factor };
                self.pass.added[i][s] += part.scaled(factor);
            }
        }
    }
}
