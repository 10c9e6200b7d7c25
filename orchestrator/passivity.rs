//! Passivity of contacts: the energy that late reactions would add to the body they act on.
//!
//! A follower reports a reaction J for a window in which its leader's handle moves at v̄, so the
//! follower takes the energy -J·v̄. Interleaving applies J one window later, when the handle moves
//! at v̄′: the coupling itself adds W = J·(v̄′ - v̄), summed over windows. A window is predicted
//! from the handle's mobility M and its other accelerations a,
//!
//!   v̄′ = v + M J_impact + (M (J + J_holding) + a dt)/2.
//!
//! For a follower of mass m₁ on a body of mass m₂, W is (m₁/m₂)² of the body's kinetic energy per
//! window. Contacts whose W would pass a fraction of it are therefore iterated within the window,
//! until they end.
//!
//! Loads that find no fixed point are bounded: against the motion they stop it at most. Along it
//! they do no more work than the follower has given by driving its carrier, or in all, and the
//! carrier has not got yet. That energy is counted from window to window, as in an energy tank: M.
//! Franken et al., Bilateral telemanipulation with time delays, IEEE Transactions on Robotics
//! 27(4), 2011. What a follower cannot have given does not count ([`crate::energy`]). The bounds are in [`crate::bounded`].
//!
//! These bounds are in the frame that moves with the kinematic supports of the follower
//! ([`partita_simulator::StepReport::support_velocity`]). Supports that rest there do no work, so a carrier that they
//! lift through the follower gains no energy there either. Work of supports that move relative to it is not counted.
//! Both works of a reaction are those in the frame of its window.

use std::f64::consts::FRAC_PI_2;

use nalgebra::Vector3;
use partita_simulator::{HandleState, Mobility, Wrench};
use serde::{Deserialize, Serialize};

use crate::{
    Scheme,
    coupled::InterfaceState,
    engine::{Engine, Pass},
    plan::{Interface, Slot},
    responses::{Accelerations, lasting},
};

type V3 = Vector3<f64>;

/// Energy that delayed reactions may add to a contact, relative to the largest kinetic energy of
/// its carrier [-].
const ALLOWED: f64 = 0.01;

/// Energy that they may add in any case, relative to that of one window's other accelerations from
/// rest [-]: gravity and friction below it begin with as much.
const FALL: f64 = 0.5;

/// Kinetic energy from which reactions that drive a carrier count, of what its other accelerations
/// give it in one window [-]. A carrier that is driven from rest gets 1/n too much in n windows. If
/// windows count from the m-th on, that is 1/4m at most, below [`ALLOWED`] for m = √1000.
const DRIVEN: f64 = 1000.0;

/// Energy that such reactions add to a carrier in one window from which they count in any case,
/// likewise [-]: its weight drives a body that slides by friction with up to 2 μ², and a ball, which it
/// turns too, with 7 μ². More counts as an impact, which costs iterations.
const SUDDEN: f64 = 4.0;

/// Fraction of the largest energy of a contact that counts later on, so that a body rests after an
/// impact [-].
const FADED: f64 = 0.1;

/// Turn of a carrier in a window beyond which energy that the follower gives it does not count `[rad]`. A follower moves
/// along chords of the carrier's path, with directions that are wrong by half of it.
const COUNTED_TURN: f64 = FRAC_PI_2;

/// Energy of one contact between a follower and a handle of its leader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Passivity {
    /// Energy that reactions have added by their delay since the contact began `[J]`.
    pub work: f64,
    /// Work of the last window's reactions in that window `[J]`.
    pub taken: f64,
    /// Energy that the follower has given since then, less what the carrier has got.
    pub tank: Tank,
    /// Velocity of the frame in which the last reactions were given `[m/s]`.
    pub frame: [f64; 3],
    /// Largest kinetic energy that the carrier had since then, and that it would have gained in one
    /// window from rest by its other accelerations `[J]`.
    pub energies: [f64; 2],
    /// Whether the loads of this contact are iterated.
    pub iterated: bool,
}

impl Passivity {
    /// State after a window with such energies, in which the last reactions did the work `late`,
    /// and new ones the work `taken` `[J]`.
    fn after(self, energies: [f64; 2], late: f64, taken: f64) -> Self {
        let energies = [0, 1].map(|k| self.energies[k].max(energies[k]));
        let added = late - self.taken;
        let is_sudden = added > SUDDEN * energies[1];
        let is_driven = self.taken >= 0.0 && energies[0] < DRIVEN * energies[1] && !is_sudden;
        let added = if is_driven { 0.0 } else { added };
        Self { work: self.work + added, taken, energies, ..self }
    }

    /// State of a contact that has ended.
    fn ended(self) -> Self {
        Self { tank: self.tank.ended(), ..Self::default() }
    }

    /// Energy that an addition is compared with `[J]`.
    fn energy(&self) -> f64 {
        self.energies[0].max(self.energies[1])
    }
}

/// Energy that a follower has given and a carrier has not got: where either was driven, and in all
/// `[J]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tank([f64; 2]);

impl Tank {
    /// State after reactions that did the work `late`, and new ones that took the work `taken`
    /// `[J]`.
    fn after(self, late: f64, taken: f64) -> Self {
        let Self([driven, all]) = self;
        Self([driven + taken.max(0.0) - late.max(0.0), all + taken - late])
    }

    /// State after the end of a contact: what the carrier got without being given stays.
    fn ended(self) -> Self {
        Self(self.0.map(|given| given.min(0.0)))
    }

    /// Energy that reactions may still drive the carrier with: impulses that were withheld leave
    /// the tank full `[J]`.
    pub fn energy(self) -> f64 {
        self.0[0].min(self.0[1])
    }
}

/// Numbers of an interface and of one of its slots.
pub(crate) type SlotIndex = [usize; 2];

/// Motion of a handle over one window.
pub(crate) struct HandleMotion<'a> {
    slot: &'a Slot,
    /// Unit vector along which others bear the handle ([`crate::loaded`]); energies are those of a
    /// free one, which are larger.
    borne: Option<[f64; 3]>,
    pub start: &'a HandleState,
    pub end: &'a HandleState,
    dt: f64,
}

impl HandleMotion<'_> {
    /// Angle by which the handle turns in this window, by its mean spin `[rad]`.
    fn turn(&self) -> f64 {
        0.5 * self.dt * (V3::from(self.start.spin) + V3::from(self.end.spin)).norm()
    }

    /// Part of the work of reactions in this window that counts as given, of which the follower has given a `fraction` `[J]`.
    fn counted(&self, work: f64, fraction: f64) -> f64 {
        let fraction = if self.turn() > COUNTED_TURN { 0.0 } else { fraction };
        if work > 0.0 { fraction * work } else { work }
    }

    /// Work of an impulse that acts over this window `[J]`.
    pub(crate) fn work(&self, impulse: Wrench) -> f64 {
        self.work_in(V3::zeros(), impulse)
    }

    /// The same in a frame of such a velocity `[m/s]`, `[J]`.
    fn work_in(&self, frame: V3, impulse: Wrench) -> f64 {
        let mean = |a: [f64; 3], b: [f64; 3]| 0.5 * (V3::from(a) + V3::from(b));
        let velocity = mean(self.start.velocity, self.end.velocity) - frame;
        work(impulse, [velocity, mean(self.start.spin, self.end.spin)])
    }

    /// Work of an impulse that acts over the next window, of `next_dt` `[s]`, with a holding
    /// impulse, after an impact at its start `[J]`.
    fn work_next(
        &self,
        impulse: Wrench,
        [holding, impact]: [Wrench; 2],
        accelerations: &Accelerations,
        next_dt: f64,
    ) -> f64 {
        let change = |impulse| self.slot.change_borne(self.end, self.borne, impulse);
        let [sudden, smooth] = [impact, impulse + holding].map(change);
        let start = [self.end.velocity, self.end.spin].map(V3::from);
        let mean = [0, 1].map(|k| start[k] + sudden[k] + 0.5 * (smooth[k] + next_dt * V3::from(accelerations[k])));
        work(impulse, mean)
    }

    /// Kinetic energy at the start or the end, the larger, and from rest by `accelerations` over a window of
    /// `longest` `[s]`, by the mean mobility in all directions `[J]`.
    fn energies(&self, accelerations: &Accelerations, longest: f64) -> [f64; 2] {
        let mobility = self.slot.mobility_in(self.end);
        let inverse_masses = inverse_masses(&mobility);
        let at = |state: &HandleState| kinetic(inverse_masses, [state.velocity, state.spin]);
        let gained = accelerations.map(|a| a.map(|a| a * longest));
        [at(self.start).max(at(self.end)), kinetic(inverse_masses, gained)]
    }
}

/// Kinetic energy at a velocity and spin, from mean inverse masses `[J]`; 0 for immovable handles.
pub(crate) fn kinetic([linear, angular]: [f64; 2], [velocity, spin]: [[f64; 3]; 2]) -> f64 {
    let of = |velocity: [f64; 3], mean: f64| {
        if mean > 0.0 { 0.5 * V3::from(velocity).norm_squared() / mean } else { 0.0 }
    };
    of(velocity, linear) + of(spin, angular)
}

/// Means of a mobility over all directions, linear and angular [1/kg, 1/(kg m²)].
pub(crate) fn inverse_masses(mobility: &Mobility) -> [f64; 2] {
    [mobility.linear, mobility.angular].map(|inverse| (inverse[0][0] + inverse[1][1] + inverse[2][2]) / 3.0)
}

/// Work of an impulse at such a velocity and spin `[J]`.
pub(crate) fn work(impulse: Wrench, velocities: [V3; 2]) -> f64 {
    V3::from(impulse.linear).dot(&velocities[0]) + V3::from(impulse.angular).dot(&velocities[1])
}

impl Pass {
    /// Forgets what the follower of interface `i` has reported.
    pub(crate) fn clear_reports(&mut self, i: usize) {
        self.got[i].fill(Wrench::ZERO);
        self.impacts[i].fill(Wrench::ZERO);
        self.holding[i].fill(Wrench::ZERO);
        self.passed_on[i].fill(false);
    }

    /// Impulse that the motion of the last pass caused at a slot.
    pub(crate) fn reaction(&self, [i, s]: SlotIndex) -> Wrench {
        self.got[i][s] - self.impacts[i][s] - self.holding[i][s]
    }
}

impl Engine {
    /// Contacts whose delayed reactions would add too much energy, after a pass of `dt` `[s]` before a window of
    /// `next_dt`.
    ///
    /// Points of cloth or a net are no bodies by themselves: a drop that hits a lighter vertex at rest
    /// adds as much as the vertex then has, and little of its own loss. The energy that reactions
    /// add to all points of an interface is compared with the kinetic energy of the follower too.
    pub(crate) fn active_contacts(&mut self, dt: f64, next_dt: f64) -> Vec<SlotIndex> {
        let active: Vec<(SlotIndex, f64)> =
            self.contacts.iter().filter_map(|&slot| Some((slot, self.added_too_much(slot, dt, next_dt)?))).collect();
        let mut too_many = vec![];
        for of_interface in active.chunk_by(|(a, _), (b, _)| a[0] == b[0]) {
            let ([i, s], _) = of_interface[0];
            let added: f64 = of_interface.iter().map(|(_, added)| added).sum();
            let (is_body, follower) = (self.interfaces[i].slots[s].body.is_some(), self.interfaces[i].follower);
            if is_body || added > ALLOWED * self.kinetic(follower).unwrap_or(0.0) {
                too_many.extend(of_interface.iter().map(|(slot, _)| *slot));
            }
        }
        too_many
    }

    /// Energy that delayed reactions would have added to a contact after the next window, if that
    /// is too much `[J]`.
    fn added_too_much(&self, [i, s]: SlotIndex, dt: f64, next_dt: f64) -> Option<f64> {
        let known = &self.state.interfaces[i].passivity[s];
        let window = self.contact([i, s], dt).filter(|_| !known.iterated)?;
        let (reaction, ahead) = (self.pass.reaction([i, s]), [self.pass.holding[i][s], self.pass.impacts[i][s]]);
        let accelerations = self.lasting_at([i, s], &window);
        let [late, taken] = self.works([i, s], &window, [V3::zeros(); 2]);
        let then = window.work_next(reaction, ahead, &accelerations, next_dt);
        let energies = window.energies(&accelerations, dt.max(next_dt));
        let next = known.after(energies, late, taken).after(energies, then, 0.0);
        (next.work > (ALLOWED * next.energies[0]).max(FALL * next.energies[1])).then_some(next.work)
    }

    /// Kinetic energy of a simulator after its last step, if it reports one `[J]`.
    pub(crate) fn kinetic(&mut self, member: usize) -> Option<f64> {
        self.ledger_of(member).map(|ledger| ledger.kinetic)
    }

    /// Slots of all interfaces.
    pub(crate) fn slot_indices(&self) -> impl Iterator<Item = SlotIndex> + '_ {
        let interfaces = self.interfaces.iter().enumerate();
        interfaces.flat_map(|(i, interface)| (0..interface.slots.len()).map(move |s| [i, s]))
    }

    /// Whether the loads of a slot are iterated.
    pub(crate) fn is_iterated(&self, [i, s]: SlotIndex) -> bool {
        self.scheme != Scheme::Interleaved || self.state.interfaces[i].passivity[s].iterated
    }

    /// Slots whose loads are iterated.
    pub(crate) fn iterated(&self) -> impl Iterator<Item = SlotIndex> + '_ {
        self.slot_indices().filter(|&slot| self.is_iterated(slot))
    }

    /// Iterates these contacts from now on.
    pub(crate) fn iterate(&mut self, contacts: &[SlotIndex]) {
        contacts.iter().for_each(|&[i, s]| self.state.interfaces[i].passivity[s].iterated = true);
    }

    /// Mass of the follower that a reaction shows, over that of the leader's handle [-]. 0 where it
    /// does not oppose the motion.
    pub(crate) fn mass_ratio(&self, [i, s]: SlotIndex, dt: f64) -> f64 {
        let Some(window) = self.contact([i, s], dt) else { return 0.0 };
        let reaction = self.pass.reaction([i, s]);
        let opposing = -window.work(reaction);
        if opposing > 0.0 { work(reaction, window.slot.change_in(window.end, reaction)) / opposing } else { 0.0 }
    }

    /// Most energy that the residual of the loads of a slot adds, relative to that of its carrier
    /// [-].
    pub(crate) fn residual_energy(&self, [i, s]: SlotIndex, dt: f64, next_dt: f64) -> f64 {
        let Some(window) = self.contact([i, s], dt) else { return 0.0 };
        let interface = &self.state.interfaces[i];
        let residual = interface.pending[s] + self.pass.reaction([i, s]) - self.pass.used[i][s];
        let change = window.slot.change_in(window.end, residual);
        let energy = window.work(residual).abs() + 0.5 * work(residual, change);
        let energies = window.energies(&self.lasting_at([i, s], &window), dt.max(next_dt));
        let before = interface.passivity[s].energy();
        if energy > 0.0 { energy / energies[0].max(energies[1]).max(FADED * before) } else { 0.0 }
    }

    /// Work of the delayed reactions in the last pass, and of those that it reported, in frames of
    /// such velocities `[m/s]`, `[J]`. The follower gave no energy for impacts and holding impulses,
    /// which are computed for the window in which they act.
    fn works(&self, [i, s]: SlotIndex, window: &HandleMotion<'_>, frames: [V3; 2]) -> [f64; 2] {
        let interface = &self.state.interfaces[i];
        let late = self.pass.used[i][s] - interface.impacts[s] - interface.holding[s];
        let [before, now] = frames;
        [window.work_in(before, late), window.work_in(now, self.pass.reaction([i, s]))]
    }

    /// Accelerations of a slot by all but its follower that the last two windows had.
    fn lasting_at(&self, [i, s]: SlotIndex, window: &HandleMotion<'_>) -> Accelerations {
        let used = self.pass.used[i][s] + self.pass.added[i][s] + self.stops_of_others(window.slot);
        let now = window.slot.free_accelerations([window.start, window.end], window.borne, used, window.dt);
        lasting(&now, self.state.interfaces[i].accelerations.get(s))
    }

    /// Adds the last pass to the energies of contacts; one that has ended starts anew.
    pub(crate) fn record_passivity(&mut self, dt: f64) {
        for k in 0..self.contacts.len() {
            let [i, s] = self.contacts[k];
            let known = self.state.interfaces[i].passivity[s];
            let next = self.contact([i, s], dt).map(|window| {
                let [late, taken] = self.works([i, s], &window, [V3::zeros(); 2]);
                let energies = window.energies(&self.lasting_at([i, s], &window), dt);
                let frame = self.support_velocity(i);
                // Loads that are iterated are reactions of this window.
                let before = if self.is_iterated([i, s]) { frame } else { known.frame.into() };
                let [got, given] = self.works([i, s], &window, [before, frame]);
                let given = window.counted(given, self.given_fractions[i]);
                let tank = known.tank.after(got, given);
                // A follower that does not touch the carrier any more gives no energy to drive it.
                let tank = if self.pass.got[i][s] == Wrench::ZERO { tank.ended() } else { tank };
                Passivity { tank, frame: frame.into(), ..known.after(energies, late, taken) }
            });
            self.state.interfaces[i].passivity[s] = next.unwrap_or(known.ended());
        }
    }

    /// Motion of a slot in the last pass, if it is the movable carrier of a contact with impulses
    /// in it.
    pub(crate) fn contact(&self, [i, s]: SlotIndex, dt: f64) -> Option<HandleMotion<'_>> {
        let idle = self.pass.got[i][s] == Wrench::ZERO && self.pass.used[i][s] == Wrench::ZERO;
        (self.interfaces[i].slots[s].is_contact() && !idle).then(|| self.motion([i, s], dt))
    }

    /// Motion of the handle of a slot in the last pass.
    pub(crate) fn motion(&self, [i, s]: SlotIndex, dt: f64) -> HandleMotion<'_> {
        let Interface { leader, slots, .. } = &self.interfaces[i];
        let (slot, states, ends) = (&slots[s], &self.state.states[*leader], &self.pass.ends[*leader]);
        let borne = self.pass.borne[i][s];
        HandleMotion { slot, borne, start: &states[slot.watched], end: &ends[slot.watched], dt }
    }

    /// Whether the carrier of a contact owes its follower energy, beyond [`ALLOWED`].
    pub(crate) fn is_owed(&self, [i, s]: SlotIndex) -> bool {
        let known = &self.state.interfaces[i].passivity[s];
        known.tank.energy() < -ALLOWED * known.energy()
    }

    /// Number of slots, of all these, with the handle of one of them: each may move it as if its
    /// mobility were so many times what it is (mass splitting), so that all together add no more
    /// energy than each may [-].
    pub(crate) fn sharing(&self, slots: &[SlotIndex], [i, s]: SlotIndex) -> f64 {
        let others = self.interfaces[i].slots[s].others.iter();
        (1 + others.filter(|&other| slots.contains(other)).count()) as f64
    }

    /// Sum of what all followers put on the handle of a slot.
    fn on_handle(&self, [i, s]: SlotIndex, of: impl Fn(&InterfaceState) -> &Vec<Wrench>) -> Wrench {
        let others = self.interfaces[i].slots[s].others.iter();
        others.fold(of(&self.state.interfaces[i])[s], |sum, &[j, t]| sum + of(&self.state.interfaces[j])[t])
    }

    /// Velocity of the kinematic supports of an interface's follower at the end of its last step `[m/s]`.
    fn support_velocity(&self, interface: usize) -> V3 {
        let summary = self.pass.summaries[self.interfaces[interface].follower].as_ref();
        summary.map_or(V3::zeros(), |summary| summary.support_velocity.into())
    }

    /// Velocity and spin of the carrier of a slot in the next window, after its impacts and half its holding impulses,
    /// in the frame of the follower's kinematic supports `[m/s]`, `[rad/s]`.
    pub(crate) fn next_velocities(&self, slot: SlotIndex) -> [V3; 2] {
        let sudden = self.change(slot, self.on_handle(slot, |state| &state.impacts));
        let smooth = self.change(slot, self.on_handle(slot, |state| &state.holding));
        let end = self.end_velocities(slot);
        [0, 1].map(|k| end[k] + sudden[k] + 0.5 * smooth[k])
    }

    /// Velocity and spin of the carrier of a slot after the last pass, likewise `[m/s]`, `[rad/s]`.
    pub(crate) fn end_velocities(&self, [i, s]: SlotIndex) -> [V3; 2] {
        let Interface { leader, slots, .. } = &self.interfaces[i];
        let end = &self.pass.ends[*leader][slots[s].watched];
        [V3::from(end.velocity) - self.support_velocity(i), end.spin.into()]
    }

    /// Change of velocity and spin of the carrier of a slot by an impulse, as its mobility states
    /// it.
    pub(crate) fn change(&self, [i, s]: SlotIndex, impulse: Wrench) -> [V3; 2] {
        let Interface { leader, slots, .. } = &self.interfaces[i];
        slots[s].change_in(&self.pass.ends[*leader][slots[s].watched], impulse)
    }

    /// What the tank of a slot had to drive the carrier with in the last pass, in which the load
    /// impulse was `applied` `[J]`.
    pub(crate) fn given(&self, [i, s]: SlotIndex, applied: Wrench, dt: f64) -> f64 {
        let Some(window) = self.contact([i, s], dt) else { return 0.0 };
        let interface = &self.state.interfaces[i];
        let other = self.pass.used[i][s] - interface.impacts[s] - interface.holding[s] - applied;
        let frame = self.support_velocity(i);
        let [other, taken] = [other, self.pass.reaction([i, s])].map(|impulse| window.work_in(frame, impulse));
        interface.passivity[s].tank.after(other, window.counted(taken, self.given_fractions[i])).energy()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a follower gave by driving a carrier that did not get it stays in the tank, until it
    /// does. What it took from one that was stopped by less has to be given first.
    #[test]
    fn a_tank_holds_what_was_withheld() {
        let after = |windows: &[[f64; 2]]| {
            windows.iter().fold(Tank::default(), |tank, &[late, taken]| tank.after(late, taken)).energy()
        };
        assert_eq!(after(&[[0.0, 2.0], [0.0, 3.0]]), 5.0);
        assert_eq!(after(&[[0.0, 2.0], [2.0, 0.0]]), 0.0);
        assert_eq!(after(&[[-1.0, -4.0], [0.0, 5.0]]), 2.0);
        assert_eq!(after(&[[-4.0, -1.0], [0.0, 2.0]]), 2.0);
        assert!(after(&[[3.0, 1.0]]) < 0.0);
    }
}
