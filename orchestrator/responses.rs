//! Responses of carriers, from which followers compute the impulse of two bodies.
//!
//! A leader may state its mobilities; those that it does not are measured once with the three
//! verbs: a step with a unit impulse, less a step without, retracted. Those of Frames are kept in
//! the carrier's axes and turn with it; a Point has no axes, so its mobility stays as it was.

use nalgebra::{Matrix3, Vector3};
use partita_simulator::{HandleState, Mobility, Response, Wrench};

use crate::{
    engine::Engine,
    passivity::SlotIndex,
    plan::{Carriers, GuidePlan, Interface, Slot, orientation_of},
};

type V3 = Vector3<f64>;

/// Part of a motion that remains to a handle where others bear it [-]. With 0 an impulse on it
/// alone would have no bound; with 0.1 a box of four times a table's mass sinks through cloth on
/// it.
const YIELDS: f64 = 0.03;

/// Accelerations of a handle, linear and angular `[m/s²]`, `[rad/s²]`.
pub(crate) type Accelerations = [[f64; 3]; 2];

impl Slot {
    /// Mobility of the handle in world axes, where the handle is in `state`.
    pub(crate) fn mobility_in(&self, state: &HandleState) -> Mobility {
        match state.orientation == HandleState::default().orientation {
            true => self.mobility,
            false => self.mobility.turned(&orientation_of(state)),
        }
    }

    /// Mobility of a handle that others bear along a unit vector: it moves across it and turns
    /// about it, and else by [`YIELDS`]² as much.
    pub(crate) fn mobility_borne(&self, state: &HandleState, borne: Option<[f64; 3]>) -> Mobility {
        let mobility = self.mobility_in(state);
        borne.map_or(mobility, |n| across(&mobility, V3::from(n)))
    }

    /// Change of the handle's velocity and spin by an impulse, where it is in `state` `[m/s]`,
    /// `[rad/s]`.
    pub(crate) fn change_in(&self, state: &HandleState, impulse: Wrench) -> [V3; 2] {
        self.change_borne(state, None, impulse)
    }

    /// The same with [`Slot::mobility_borne`].
    pub(crate) fn change_borne(&self, state: &HandleState, borne: Option<[f64; 3]>, impulse: Wrench) -> [V3; 2] {
        self.mobility_borne(state, borne).change(impulse.linear.into(), impulse.angular.into())
    }

    /// Accelerations in a window of `dt` `[s]` by all but the impulse `used` of this interface and,
    /// of a body, its precession p at the spin that `used` leaves: a = (v₁ - v₀ - W used)/dt - p.
    /// It goes with the spin, which impulses change.
    pub(crate) fn free_accelerations(
        &self,
        [from, to]: [&HandleState; 2],
        borne: Option<[f64; 3]>,
        used: Wrench,
        dt: f64,
    ) -> Accelerations {
        let given = self.change_borne(to, borne, used);
        let free =
            |before: [f64; 3], after: [f64; 3], given: V3| ((V3::from(after) - V3::from(before) - given) / dt).into();
        let mean = 0.5 * (V3::from(from.spin) + given[1] + V3::from(to.spin));
        let angular = V3::from(free(from.spin, to.spin, given[1])) - self.mobility_borne(to, borne).precession(mean);
        [free(from.velocity, to.velocity, given[0]), angular.into()]
    }
}

/// Mobility P W P of what others bear along `n`.
fn across(mobility: &Mobility, n: V3) -> Mobility {
    let along: Matrix3<f64> = n * n.transpose();
    let moves = Matrix3::identity() - (1.0 - YIELDS) * along;
    let turns = YIELDS * Matrix3::identity() + (1.0 - YIELDS) * along;
    // Arrays of rows are columns here, so parts are transposed.
    let of = |rows: [[f64; 3]; 3], left: &Matrix3<f64>, right: &Matrix3<f64>| -> [[f64; 3]; 3] {
        (right * Matrix3::from(rows) * left).into()
    };
    Mobility {
        linear: of(mobility.linear, &moves, &moves),
        coupling: of(mobility.coupling, &moves, &turns),
        angular: of(mobility.angular, &turns, &turns),
    }
}

/// Accelerations that both windows had, component by component: the smaller of two of one sign,
/// else none. An impact from elsewhere is in one window only, and is not expected again. Before a
/// second window none is known to last.
pub(crate) fn lasting(now: &Accelerations, before: Option<&Accelerations>) -> Accelerations {
    let Some(before) = before else { return Accelerations::default() };
    [0, 1].map(|i| [0, 1, 2].map(|k| common(now[i][k], before[i][k])))
}

/// Load that was there before as well, likewise [N, N m].
pub(crate) fn lasting_load(now: &Wrench, before: &Wrench) -> Wrench {
    let of = |now: [f64; 3], before: [f64; 3]| [0, 1, 2].map(|k| common(now[k], before[k]));
    Wrench { linear: of(now.linear, before.linear), angular: of(now.angular, before.angular) }
}

/// The smaller of two numbers of one sign; 0 of others.
fn common(a: f64, b: f64) -> f64 {
    if a * b > 0.0 { a.signum() * a.abs().min(b.abs()) } else { 0.0 }
}

impl GuidePlan {
    /// Responses of the guide's carriers at the end of a window, given the leader's watched
    /// `states` then, and the lasting accelerations by slot; none if no impulse moves any of them.
    pub(crate) fn responses(
        &self,
        slots: &[Slot],
        states: &[HandleState],
        accelerations: &[Accelerations],
        borne: &[Option<[f64; 3]>],
        is_iterated: impl Fn(usize) -> bool,
        next_step: f64,
    ) -> Option<std::sync::Arc<[Response]>> {
        let of = |watched: usize, slot: usize, arm: Option<V3>| {
            let mobility = slots[slot].mobility_borne(&states[watched], borne[slot]);
            let [linear, angular] = accelerations[slot];
            let response = Response {
                mobility,
                body: slots[slot].body,
                is_linked: slots[slot].is_linked,
                acceleration: linear,
                angular_acceleration: angular,
                next_step,
                is_iterated: is_iterated(slot),
            };
            let Some(arm) = arm else { return response };
            let turning = V3::from(angular) + mobility.precession(states[watched].spin.into());
            let acceleration = (V3::from(linear) + turning.cross(&arm)).into();
            Response { mobility: mobility.at(arm), acceleration, ..response }
        };
        match &self.carriers {
            Carriers::Handles { watched, slots: numbers } => {
                let yields = numbers.iter().any(|&slot| !slots[slot].mobility.is_zero());
                yields.then(|| watched.iter().zip(numbers).map(|(&watched, &slot)| of(watched, slot, None)).collect())
            }
            Carriers::Fixed { watched, slot, kind, position, .. } => {
                let arm = orientation_of(&states[*watched]) * position;
                let yields = !slots[*slot].mobility.is_zero();
                yields.then(|| {
                    let mut response = of(*watched, *slot, Some(arm));
                    if *kind == partita_simulator::Kind::Point {
                        response.angular_acceleration = [0.0; 3];
                    }
                    [response].into()
                })
            }
        }
    }
}

impl Engine {
    /// Accelerations of an interface's handles in this pass; none if nothing uses them.
    pub(crate) fn accelerations(&self, interface: usize, dt: f64) -> Vec<Accelerations> {
        let Interface { follower, slots, .. } = &self.interfaces[interface];
        let from = self.contacts.partition_point(|&[i, _]| i < interface);
        let has_contacts = self.contacts.get(from).is_some_and(|&[i, _]| i == interface);
        if !self.members[*follower].responds && !has_contacts {
            return Vec::new();
        }
        (0..slots.len()).map(|s| self.acceleration([interface, s], dt)).collect()
    }

    /// Accelerations of a slot's handle in this pass by all but its follower, and by all but
    /// impacts and holding impulses of others. Where its loads are iterated, by all but its own too.
    pub(crate) fn acceleration(&self, [i, s]: SlotIndex, dt: f64) -> Accelerations {
        let Interface { leader, slots, .. } = &self.interfaces[i];
        let slot = &slots[s];
        let [from, to] = [&self.state.states, &self.pass.ends].map(|states| &states[*leader][slot.watched]);
        let before = &self.state.interfaces[i];
        let used = match self.is_iterated([i, s]) {
            true => before.impacts[s] + before.holding[s],
            false => self.pass.used[i][s],
        };
        let used = used + self.pass.added[i][s] + self.stops_of_others(slot);
        slot.free_accelerations([from, to], self.pass.borne[i][s], used, dt)
    }

    /// Impacts and holding impulses of other interfaces that act on a handle in this window.
    pub(crate) fn stops_of_others(&self, slot: &Slot) -> Wrench {
        let of = |&[j, t]: &[usize; 2]| {
            let state = &self.state.interfaces[j];
            state.impacts[t] + state.holding[t] + self.pass.added[j][t]
        };
        slot.others.iter().map(of).fold(Wrench::ZERO, |sum, stop| sum + stop)
    }

    /// Accelerations that an interface's follower has to expect in the next window, of `next_dt`: those that the window
    /// before had as well, and those by impacts and holding impulses of other followers. Followers that stop one handle
    /// do so one after the other: of those that have stepped in this pass the impulses are known, and the others are
    /// expected to go on holding as they do.
    pub(crate) fn expected(&self, interface: usize, dt: f64, next_dt: f64) -> Vec<Accelerations> {
        let before = &self.state.interfaces[interface].accelerations;
        let Interface { slots, .. } = &self.interfaces[interface];
        let now = self.accelerations(interface, dt);
        let of = |(number, now): (usize, &Accelerations)| {
            let slot = &slots[number];
            let others = slot.others.iter().fold(Wrench::ZERO, |sum, &[j, t]| {
                let force = match self.has_stepped[self.interfaces[j].follower] {
                    true => (self.pass.impacts[j][t] + self.pass.holding[j][t]).scaled(1.0 / next_dt),
                    false => self.state.interfaces[j].holding[t].scaled(1.0 / dt),
                };
                sum + force
            });
            let by_others = self.answer([interface, number], others);
            let lasting = lasting(now, before.get(number));
            [0, 1].map(|k| (V3::from(lasting[k]) + by_others[k]).into())
        };
        now.iter().enumerate().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table on a floor slides and turns on it, and hardly else.
    #[test]
    fn what_others_bear_moves_across_them() {
        let inertia = [[2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 4.0]];
        let mobility = across(&Mobility::body(0.5, inertia), V3::y());
        let [v, w] = mobility.change(V3::from_element(1.0), V3::from_element(1.0));
        let least = YIELDS * YIELDS;
        assert!((v - V3::new(0.5, 0.5 * least, 0.5)).norm() < 1e-12, "{v:?}");
        assert!((w - V3::new(2.0 * least, 3.0, 4.0 * least)).norm() < 1e-12, "{w:?}");
    }

    #[test]
    fn only_what_lasts_is_expected_again() {
        let now = [[1.0, -2.0, 3.0], [0.0, 5.0, -1.0]];
        let before = [[2.0, -1.0, -3.0], [1.0, 4.0, -9.0]];
        assert_eq!(lasting(&now, Some(&before)), [[1.0, -1.0, 0.0], [0.0, 4.0, -1.0]]);
        assert_eq!(lasting(&now, None), Accelerations::default());
    }
}
