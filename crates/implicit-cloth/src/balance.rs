//! Energy that a part of a step gives to the cloth, and nobody gave.
//!
//! What meets an obstacle stops within a step, while the rest of the cloth goes on to its end: in a
//! long step that stretches the cloth by far more than its motion was worth. So does what a linear
//! step cannot see, as where a hand sets out at once. From x, v to x', v' the cloth gains
//!
//!   Σ_f ½ m (v'² - v²) + E(x') - E(x) - Σ a·(x' - x)/dt - Σ_k (J_k - I_k - m (v'_k - v_k) + c_k)·u_k + Σ_o R_o·u_o,
//!
//! of free vertices f; impulses a of what acts on it; held vertices k, which go at u, with impulses
//! J as solved for, I from contacts, and c that a method over two steps carried on; obstacles o,
//! which go at u too and got the impulses R. Without contacts an exact step gains nothing, implicit
//! ones less. What contacts store as springs is not in E: if they let go, that counts as given by
//! nobody.

use nalgebra::Vector3;
use partita_simulator::{Guide, Inputs, Motion, Reaction, path::straight};
use serde::{Deserialize, Serialize};

use crate::{
    ImplicitCloth,
    solve::Constraint,
    step::{Work, touches},
};

type V3 = Vector3<f64>;

/// Most that a part of a step may give, of the mean energy of motion at its begin and end [-].
const GAIN: f64 = 0.1;

/// Share of cloth that flies freely, if shorter substeps may do better [-]. Cloth that starts to spin is stretched by a
/// long step along its tangents: with [`GAIN`] it had up to 10 % more energy for some windows at 60 Hz. Substeps become
/// 1 % more.
const GAIN_ALONE: f64 = 0.002;

/// Energy by mass of a substep where no carrier answers to the cloth, relative to what it is where one does [-]. With 1, a
/// first substep of 60 Hz gained up to 0.03 J/kg in 1 % of starts in bodies; with 0.1 in none of 864.
const UNANSWERED: f64 = 0.1;

/// Energy that cloth may get from being led out of obstacles, relative to that of lifting all of it [-].
/// Cloth that starts inside gets that much. Led against its tension, it would get more in each step.
const LIFT: f64 = 1.5;

/// Cloth that is led out of obstacles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Led {
    /// Largest distance that it had to go since it has been inside `[m]`.
    depth: f64,
    /// Energy that this gave it since then, beyond what substeps may give `[J]`.
    given: f64,
}

/// Energy that a substep may give: a share of the mean kinetic energy at its start and end [-], and an energy of all mass
/// `[J/kg]`.
#[derive(Clone, Copy)]
pub(crate) struct MayGive {
    share: f64,
    of_mass: f64,
}

impl ImplicitCloth {
    /// Energy that a substep of `dt` `[s]` may give before it is taken in shorter ones. Where carriers answer to the cloth
    /// it is as much as may be given without a report: number and length of substeps jump with the loads, which no
    /// iteration can follow (example `sack`).
    pub(crate) fn may_give(&self, dt: f64, inputs: &Inputs) -> MayGive {
        let Work { constraints, links, contacts, .. } = &self.work;
        let is_free = constraints.iter().all(|constraint| *constraint == Constraint::Free);
        let at_most = self.may_give_at_most(dt);
        if is_free && !touches(links, contacts) {
            // Free fall by itself loses energy in an implicit step.
            MayGive { share: GAIN_ALONE, of_mass: 0.0 }
        } else if inputs.responses.iter().any(Option::is_some) {
            at_most
        } else {
            MayGive { of_mass: UNANSWERED * at_most.of_mass, ..at_most }
        }
    }

    /// Energy that one may give without a report.
    pub(crate) fn may_give_at_most(&self, dt: f64) -> MayGive {
        MayGive { share: GAIN, of_mass: self.parameters.falls(dt).powi(2) }
    }

    /// Whether the energy that leading has given stays within its bound: that of lifting all cloth, and
    /// of moving it as fast as depths recover. If so, what the last substep gave is added `[J]`.
    pub(crate) fn may_lead(&mut self, given: f64) -> bool {
        let Work { next, depth, .. } = &mut self.work;
        let led = Led { depth: next.led.depth.max(*depth), given: next.led.given + given.max(0.0) };
        let mass: f64 = self.sheet.masses.iter().sum();
        let speed = self.parameters.contact_rates.depenetration * led.depth;
        let lifting = self.parameters.falls(1.0) * led.depth;
        let may = given <= 0.0 || led.given <= mass * (LIFT * lifting + 0.5 * speed * speed);
        if may {
            next.led = led;
        }
        may
    }

    /// Energy that the part of a step that was just taken, with such reactions, gave, and what it
    /// may, with what rounding of positions and of the sum does `[J]`.
    pub(crate) fn gain(
        &self,
        dt: f64,
        motions: &[Option<Motion>],
        reactions: &[Reaction],
        MayGive { share, of_mass }: MayGive,
    ) -> [f64; 2] {
        let Work { begin, next, memory, constraints, targets, contacts, .. } = &self.work;
        let [stored, storing] = [begin, next].map(|state| self.sheet.energy(&state.positions));
        // Sum of all terms, and of their absolute values.
        let (mut gained, mut sizes) = (storing - stored, storing.abs() + stored.abs());
        let mut add = |term: f64| (gained, sizes) = (gained + term, sizes + term.abs());
        let mut may = 0.0;
        for (k, &m) in self.sheet.masses.iter().enumerate() {
            let [before, after] = [begin, next].map(|state| state.velocities[k]);
            let [slow, fast] = [before, after].map(|v| 0.5 * m * v.norm_squared());
            let rounded = f64::EPSILON * next.positions[k].amax() / dt;
            may += 0.5 * share * (slow + fast) + m * (of_mass + rounded * rounded);
            add(-memory.acted[k].dot(&(next.positions[k] - begin.positions[k])) / dt);
            add(match constraints[k] {
                Constraint::Fixed => {
                    let held = memory.impulses[k] - contacts.impulses()[k] + memory.carried[k];
                    (m * (after - before) - held).dot(&targets[k])
                }
                _ => fast - slow,
            });
        }
        for reaction in reactions {
            let guide = reaction.guide as usize;
            if let (Guide::Obstacle { .. }, Some(motion)) = (&self.guides[guide], &motions[guide]) {
                add(work(reaction, motion, dt));
            }
        }
        // Rounding of positions changes the membrane's energy E by no more than 2 √(E e) + e, with
        // e that of such displacements alone.
        let reach = next.positions.iter().fold(0.0, |reach: f64, x| reach.max(x.amax()));
        let alone: f64 = (0..self.sheet.masses.len()).map(|k| self.sheet.energy_of_rounding(k, reach)).sum();
        may += f64::EPSILON * self.sheet.masses.len() as f64 * sizes + 2.0 * alone;
        may += 2.0 * ((stored * alone).sqrt() + (storing * alone).sqrt());
        [gained, may]
    }
}

/// On its carrier, along the way that obstacles go: straight, and turning evenly `[J]`.
fn work(reaction: &Reaction, motion: &Motion, dt: f64) -> f64 {
    let [begin, end] = [&motion.begin, &motion.end].map(|states| &states[reaction.carrier as usize]);
    let way = straight(begin, end, dt, 0.0);
    let [linear, angular] = [reaction.impulse.linear, reaction.impulse.angular].map(V3::from);
    linear.dot(&V3::from(way.velocity)) + angular.dot(&V3::from(way.spin))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use nalgebra::UnitQuaternion;
    use partita_simulator::{HandleState, Wrench};

    use super::*;

    /// Force times way and torque times angle, over the time, by where the carrier goes and not by
    /// what it says of its spin: 2 N s along 3 m, 5 N m s about 0.5 rad.
    #[test]
    fn work_is_force_times_way() {
        let turn = UnitQuaternion::from_scaled_axis(V3::new(0.0, 0.5, 0.0)).coords;
        let begin = HandleState::point([1.0, 0.0, 0.0], [0.0; 3]);
        let end = HandleState {
            orientation: [turn.x, turn.y, turn.z, turn.w],
            ..HandleState::point([1.0, 0.0, 3.0], [0.0; 3])
        };
        let motion = Motion { begin: Arc::new([begin]), end: Arc::new([end]) };
        let impulse = Wrench { linear: [0.0, 0.0, 2.0], angular: [0.0, 5.0, 0.0] };
        let done = work(&Reaction { guide: 0, carrier: 0, impulse }, &motion, 0.1);
        approx::assert_relative_eq!(done, (2.0 * 3.0 + 5.0 * 0.5) / 0.1, max_relative = 1e-12);
    }
}
