//! Passivity of contacts: the energy that late reactions would add to the body they act on.
//!
//! A follower reports a reaction J for a window in which its leader's handle moves at v̄, so the
//! follower takes the energy -J·v̄. Interleaving applies J one window later, when the handle moves
//! at v̄′: the coupling itself adds W = J·(v̄′ - v̄), summed over windows. A window is predicted
//! from the handle's mobility M and its other accelerations a,
//!
//!   v̄′ = v + M J_impact + (M J + a dt)/2.
//!
//! A light body adds more than it had: with a follower of mass m₁ on a body of mass m₂, W is
//! (m₁/m₂)² of the body's energy per window. Contacts whose W would pass a fraction of it are
//! therefore iterated within the window, until they end.

use nalgebra::Vector3;
use partita_simulator::{HandleState, Wrench};
use serde::{Deserialize, Serialize};

use crate::{
    Scheme,
    engine::{Engine, InterfaceState},
    plan::Slot,
    responses::{Accelerations, lasting},
};

type V3 = Vector3<f64>;

/// Energy that late reactions may add to a contact, of the largest kinetic energy of its carrier [-].
const ALLOWED: f64 = 0.01;

/// Kinetic energy from which reactions that drive a carrier count, of what its other accelerations give it in one window [-]. A carrier
/// that is driven from rest for n windows has got n² of one window's energy, n of it too much: 1 % after 100 windows.
const DRIVEN: f64 = 100.0;

/// Energy of one contact between a follower and a handle of its leader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Passivity {
    /// Energy that reactions have added by their delay since the contact began `[J]`.
    pub work: f64,
    /// Work of the last window's reactions in that window `[J]`.
    pub taken: f64,
    /// Largest kinetic energy that the carrier had since then, and that it would have gained in one window from rest by its other
    /// accelerations `[J]`.
    pub energies: [f64; 2],
    /// Whether the loads of this contact are iterated.
    pub iterated: bool,
}

impl Passivity {
    /// After a window with such energies, in which the last reactions did the work `late`, and new ones the work `taken` `[J]`.
    fn after(self, energies: [f64; 2], late: f64, taken: f64) -> Self {
        let energies = [0, 1].map(|k| self.energies[k].max(energies[k]));
        let counts = self.taken < 0.0 || energies[0] > DRIVEN * energies[1];
        let added = if counts { late - self.taken } else { 0.0 };
        Self { work: self.work + added, taken, energies, ..self }
    }

    /// Energy that an addition is compared with `[J]`.
    fn energy(&self) -> f64 {
        self.energies[0].max(self.energies[1])
    }
}

/// A slot of an interface.
pub(crate) type Place = [usize; 2];

/// Motion of a handle over one window.
struct Window<'a> {
    slot: &'a Slot,
    begin: &'a HandleState,
    end: &'a HandleState,
    dt: f64,
}

impl Window<'_> {
    /// Work of an impulse that acts over this window `[J]`.
    fn work(&self, impulse: Wrench) -> f64 {
        let mean = |a: [f64; 3], b: [f64; 3]| 0.5 * (V3::from(a) + V3::from(b));
        work(impulse, [mean(self.begin.velocity, self.end.velocity), mean(self.begin.spin, self.end.spin)])
    }

    /// Work of an impulse that acts over the next window, of `next_dt` `[s]`, with another one that holds, after an impact at its start `[J]`.
    fn work_next(
        &self,
        impulse: Wrench,
        [holding, impact]: [Wrench; 2],
        accelerations: &Accelerations,
        next_dt: f64,
    ) -> f64 {
        let mobility = self.slot.mobility_in(self.end);
        let smooth = impulse + holding;
        let sudden = mobility.change(impact.linear.into(), impact.angular.into());
        let smooth = mobility.change(smooth.linear.into(), smooth.angular.into());
        let start = [self.end.velocity, self.end.spin].map(V3::from);
        let mean = [0, 1].map(|k| start[k] + sudden[k] + 0.5 * (smooth[k] + next_dt * V3::from(accelerations[k])));
        work(impulse, mean)
    }

    /// Kinetic energy at the start or the end, the larger, and from rest by `accelerations` over a window of `longest` `[s]`, by the mean
    /// mobility in all directions `[J]`.
    fn energies(&self, accelerations: &Accelerations, longest: f64) -> [f64; 2] {
        let mobility = self.slot.mobility_in(self.end);
        let of = |velocity: [f64; 3], inverse: &[[f64; 3]; 3]| {
            let mean = (inverse[0][0] + inverse[1][1] + inverse[2][2]) / 3.0;
            if mean > 0.0 { 0.5 * V3::from(velocity).norm_squared() / mean } else { 0.0 }
        };
        let at = |state: &HandleState| of(state.velocity, &mobility.linear) + of(state.spin, &mobility.angular);
        let gained = accelerations.map(|a| a.map(|a| a * longest));
        let free = of(gained[0], &mobility.linear) + of(gained[1], &mobility.angular);
        [at(self.begin).max(at(self.end)), free]
    }
}

fn work(impulse: Wrench, velocities: [V3; 2]) -> f64 {
    V3::from(impulse.linear).dot(&velocities[0]) + V3::from(impulse.angular).dot(&velocities[1])
}

impl Engine {
    /// Places of all contacts whose late reactions would add too much energy, after a pass of `dt` `[s]` before a window of `next_dt`.
    pub(crate) fn active_contacts(&self, dt: f64, next_dt: f64) -> Vec<Place> {
        let is_active = |&[i, s]: &Place| {
            let known = &self.state.interfaces[i].passivity[s];
            let Some(window) = self.contact([i, s], dt).filter(|_| !known.iterated) else { return false };
            let (got, ahead) = (self.pass.got[i][s], [self.pass.holding[i][s], self.pass.impacts[i][s]]);
            let reaction = got - ahead[0] - ahead[1];
            let accelerations = self.lasting_at([i, s], &window);
            let [late, taken] = self.works([i, s], &window);
            let then = window.work_next(reaction, ahead, &accelerations, next_dt);
            let energies = window.energies(&accelerations, dt.max(next_dt));
            let next = known.after(energies, late, taken).after(energies, then, 0.0);
            next.work > ALLOWED * next.energy()
        };
        self.places().filter(is_active).collect()
    }

    /// Slots of all interfaces.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> + '_ {
        let interfaces = self.interfaces.iter().enumerate();
        interfaces.flat_map(|(i, interface)| (0..interface.slots.len()).map(move |s| [i, s]))
    }

    /// Whether the loads of a slot are iterated.
    pub(crate) fn is_iterated(&self, [i, s]: Place) -> bool {
        self.scheme != Scheme::Interleaved || self.state.interfaces[i].passivity[s].iterated
    }

    /// Slots whose loads are iterated.
    pub(crate) fn iterated(&self) -> impl Iterator<Item = Place> + '_ {
        self.places().filter(|&place| self.is_iterated(place))
    }

    /// Iterates these contacts from now on.
    pub(crate) fn iterate(&mut self, contacts: &[Place]) {
        for &[i, s] in contacts {
            let InterfaceState { passivity, force, carry, holding, .. } = &mut self.state.interfaces[i];
            passivity[s].iterated = true;
            // What holds over this window is no load to be found.
            if holding[s] != Wrench::ZERO {
                force[s] = force[s] - holding[s].scaled(1.0 / self.state.last_dt);
                carry[s] += holding[s];
            }
        }
    }

    /// Mass of the follower that a reaction shows, over that of the leader's handle [-]; 0 where it does not oppose the motion.
    pub(crate) fn mass_ratio(&self, [i, s]: Place, dt: f64) -> f64 {
        let Some(window) = self.contact([i, s], dt) else { return 0.0 };
        let reaction = self.pass.got[i][s] - self.pass.impacts[i][s] - self.pass.holding[i][s];
        let mobility = window.slot.mobility_in(window.end);
        let change = mobility.change(reaction.linear.into(), reaction.angular.into());
        let opposing = -window.work(reaction);
        if opposing > 0.0 { work(reaction, change) / opposing } else { 0.0 }
    }

    /// Energy that the residual of the loads of a slot would add, at most, of the largest that its carrier had [-].
    pub(crate) fn residual_energy(&self, [i, s]: Place, dt: f64, next_dt: f64) -> f64 {
        let Some(window) = self.contact([i, s], dt) else { return 0.0 };
        let interface = &self.state.interfaces[i];
        let ahead = self.pass.impacts[i][s] + self.pass.holding[i][s];
        let residual = interface.pending[s] + self.pass.got[i][s] - ahead - self.pass.used[i][s];
        let mobility = window.slot.mobility_in(window.end);
        let change = mobility.change(residual.linear.into(), residual.angular.into());
        let energy = window.work(residual).abs() + 0.5 * work(residual, change);
        let energies = window.energies(&self.lasting_at([i, s], &window), dt.max(next_dt));
        let [moving, falling] = [0, 1].map(|k| interface.passivity[s].energies[k].max(energies[k]));
        if energy > 0.0 { energy / moving.max(falling) } else { 0.0 }
    }

    /// Work of the reactions that act late in the last pass, and of those that it reported `[J]`. The follower gave no energy for
    /// impacts and for what holds, which are two bodies' impulses of the window in which they act.
    fn works(&self, [i, s]: Place, window: &Window<'_>) -> [f64; 2] {
        let interface = &self.state.interfaces[i];
        let late = self.pass.used[i][s] - interface.impacts[s] - interface.holding[s];
        let reported = self.pass.got[i][s] - self.pass.impacts[i][s] - self.pass.holding[i][s];
        [late, reported].map(|impulse| window.work(impulse))
    }

    /// Accelerations of a slot by all but its follower that the last two windows had.
    fn lasting_at(&self, [i, s]: Place, window: &Window<'_>) -> Accelerations {
        let now = window.slot.free_accelerations(window.begin, window.end, self.pass.used[i][s], window.dt);
        lasting(&now, self.state.interfaces[i].accelerations.get(s))
    }

    /// Adds the last pass to the energies of contacts; one that has ended starts anew.
    pub(crate) fn record_passivity(&mut self, dt: f64) {
        for i in 0..self.interfaces.len() {
            for s in 0..self.interfaces[i].slots.len() {
                let known = self.state.interfaces[i].passivity[s];
                let next = self.contact([i, s], dt).map(|window| {
                    let [late, taken] = self.works([i, s], &window);
                    known.after(window.energies(&self.lasting_at([i, s], &window), dt), late, taken)
                });
                self.state.interfaces[i].passivity[s] = next.unwrap_or_default();
            }
        }
    }

    /// Motion of a slot in the last pass, if it is a movable carrier of a contact that has put an impulse on it or taken one from it.
    fn contact(&self, [i, s]: Place, dt: f64) -> Option<Window<'_>> {
        let interface = &self.interfaces[i];
        let slot = &interface.slots[s];
        let idle = self.pass.got[i][s] == Wrench::ZERO && self.pass.used[i][s] == Wrench::ZERO;
        let collides = slot.collides && !idle && !slot.mobility.is_zero();
        let (begins, ends) = (&self.state.states[interface.leader], &self.pass.ends[interface.leader]);
        collides.then(|| Window { slot, begin: &begins[slot.watched], end: &ends[slot.watched], dt })
    }

    /// Part of an owed impulse that adds no energy to the carrier of a slot, where it is at the end of the last pass.
    ///
    /// The energy changes by c·v + c·M c/2; the rest stays pending.
    pub(crate) fn passive_part(&self, [i, s]: Place, owed: Wrench) -> Wrench {
        let (interface, slot) = (&self.interfaces[i], &self.interfaces[i].slots[s]);
        if !slot.collides || owed == Wrench::ZERO {
            return owed;
        }
        let end = &self.state.states[interface.leader][slot.watched];
        let change = slot.mobility_in(end).change(owed.linear.into(), owed.angular.into());
        let (along, across) = (work(owed, [end.velocity, end.spin].map(V3::from)), work(owed, change));
        if across > 0.0 { owed.scaled((-2.0 * along / across).clamp(0.0, 1.0)) } else { owed }
    }
}
