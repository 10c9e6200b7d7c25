//! Responses: what followers are told of their carriers besides motion, so that they can report the impulse of two bodies.
//!
//! A leader may state its mobilities; those that it does not are measured once with the three verbs: a step with a unit
//! impulse, less a step without, retracted. They are kept in the carrier's axes and turn with it.

use nalgebra::Vector3;
use partita_simulator::{HandleState, Mobility, Response, Wrench};

use crate::plan::{Carriers, GuidePlan, Slot, orientation_of};

type V3 = Vector3<f64>;

/// Accelerations of a handle, linear and angular `[m/s²]`, `[rad/s²]`.
pub(crate) type Accelerations = [[f64; 3]; 2];

impl Slot {
    /// Mobility of the handle in world axes, where the handle is in `state`.
    fn mobility_in(&self, state: &HandleState) -> Mobility {
        match state.orientation == HandleState::default().orientation {
            true => self.mobility,
            false => self.mobility.turned(&orientation_of(state)),
        }
    }

    /// Accelerations in a window of `dt` `[s]` by all but the impulse `used` of this interface:
    /// a = (v₁ - v₀ - W used)/dt.
    pub(crate) fn free_accelerations(
        &self,
        from: &HandleState,
        to: &HandleState,
        used: Wrench,
        dt: f64,
    ) -> Accelerations {
        let given = self.mobility_in(to).change(used.linear.into(), used.angular.into());
        let free =
            |before: [f64; 3], after: [f64; 3], given: V3| ((V3::from(after) - V3::from(before) - given) / dt).into();
        [free(from.velocity, to.velocity, given[0]), free(from.spin, to.spin, given[1])]
    }
}

/// What both windows had, component by component: the smaller of two accelerations of one sign, else none. An impact
/// from elsewhere is in one window only, and is not to be expected again.
pub(crate) fn lasting(now: &Accelerations, before: Option<&Accelerations>) -> Accelerations {
    let Some(before) = before else { return *now };
    let of = |a: f64, b: f64| if a * b > 0.0 { a.signum() * a.abs().min(b.abs()) } else { 0.0 };
    [0, 1].map(|i| [0, 1, 2].map(|k| of(now[i][k], before[i][k])))
}

impl GuidePlan {
    /// Responses of the guide's carriers at the end of a window, given the leader's watched `states` then and the lasting
    /// accelerations by slot; none if no impulse moves any of them.
    pub(crate) fn responses(
        &self,
        slots: &[Slot],
        states: &[HandleState],
        accelerations: &[Accelerations],
        next_step: f64,
    ) -> Option<std::sync::Arc<[Response]>> {
        let of = |watched: usize, slot: usize, arm: Option<V3>| {
            let mobility = slots[slot].mobility_in(&states[watched]);
            let [linear, angular] = accelerations[slot];
            let Some(arm) = arm else {
                return Response { mobility, acceleration: linear, angular_acceleration: angular, next_step };
            };
            let linear = V3::from(linear) + V3::from(angular).cross(&arm);
            let mobility = mobility.at(arm);
            Response { mobility, acceleration: linear.into(), angular_acceleration: angular, next_step }
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
                        response.mobility = Mobility { linear: response.mobility.linear, ..Mobility::ZERO };
                        response.angular_acceleration = [0.0; 3];
                    }
                    [response].into()
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lasts_is_expected_again() {
        let now = [[1.0, -2.0, 3.0], [0.0, 5.0, -1.0]];
        let before = [[2.0, -1.0, -3.0], [1.0, 4.0, -9.0]];
        assert_eq!(lasting(&now, Some(&before)), [[1.0, -1.0, 0.0], [0.0, 4.0, -1.0]]);
        assert_eq!(lasting(&now, None), now);
    }
}
