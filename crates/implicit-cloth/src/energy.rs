//! Energy that a part of a step gives to the cloth, and nobody gave.
//!
//! What meets an obstacle stops within a step, while the rest of the cloth goes on to its end: in a long step that stretches the cloth
//! by far more than its motion was worth. So does what a linear step cannot see, as where a hand sets out at once. From x, v to x', v' the
//! cloth gains
//!
//!   Σ_f ½ m (v'² - v²) + E(x') - E(x) - Σ a·(x' - x)/dt - Σ_k (J_k - I_k - m (u_k - v_k))·u_k + Σ_o R_o·u_o,
//!
//! of free vertices f; impulses a of what acts on it; held vertices k, which go at u, of impulses J that this took, of which contacts
//! took -I; obstacles o, which go at u too and got the impulses R. An exact step gains nothing, implicit ones less.

use nalgebra::Vector3;
use partita_simulator::{Guide, Motion, Reaction};

use crate::{ImplicitCloth, solve::Constraint, step::Work};

type V3 = Vector3<f64>;

/// Most that a part of a step may give, of the mean energy of motion at its begin and end [-].
const GAIN: f64 = 0.1;

impl ImplicitCloth {
    /// Whether the part of a step that was just taken, with such reactions, gave more than it may: by a tenth of what the cloth moves
    /// with, and what falling from rest for as long would be off by.
    pub(crate) fn gains(&self, dt: f64, motions: &[Option<Motion>], reactions: &[Reaction]) -> bool {
        let Work { begin, next, memory, constraints, targets, contacts, .. } = &self.work;
        let falls = dt * V3::from(self.parameters.gravity).norm();
        let mut gained = self.sheet.energy_gained(&begin.positions, &next.positions);
        let mut may = 0.0;
        for (k, &m) in self.sheet.masses.iter().enumerate() {
            let [before, after] = [begin, next].map(|state| state.velocities[k]);
            let [slow, fast] = [before, after].map(|v| 0.5 * m * v.norm_squared());
            may += 0.5 * GAIN * (slow + fast) + m * falls * falls;
            gained -= memory.acted[k].dot(&(next.positions[k] - begin.positions[k])) / dt;
            gained += match constraints[k] {
                Constraint::Fixed => {
                    let taken = memory.impulses[k] - contacts.impulses()[k];
                    (m * (targets[k] - before) - taken).dot(&targets[k])
                }
                _ => fast - slow,
            };
        }
        for reaction in reactions {
            let guide = reaction.guide as usize;
            if let (Guide::Obstacle { .. }, Some(motion)) = (&self.guides[guide], &motions[guide]) {
                gained += work(reaction, motion, dt);
            }
        }
        gained > may
    }
}

/// On its carrier as that moves `[J]`.
fn work(reaction: &Reaction, motion: &Motion, dt: f64) -> f64 {
    let [begin, end] = [&motion.begin, &motion.end].map(|states| states[reaction.carrier as usize]);
    let way = V3::from(end.position) - V3::from(begin.position);
    let spin = 0.5 * (V3::from(begin.spin) + V3::from(end.spin));
    V3::from(reaction.impulse.linear).dot(&way) / dt + V3::from(reaction.impulse.angular).dot(&spin)
}
