//! Contacts that a simulator sweeps together with constraints of its own, before [`Contacts::resolve`] has the last word.
//!
//! Links and contacts that know nothing of each other undo each other's work. Where both are in one loop, what is behind a
//! contact, the tension of a net or what hangs from it, is there when the contact gives way. What is near at the begin gets
//! a contact, and what would meet on the way gets one where it first touches, which speaks of where it ends (`repel.rs`):
//!
//!   n·Σ c (y - x) + n·drift >= b
//!
//! for places y at the end, x at the begin: the sweeps of `respond.rs`, with Σ c x taken into the drift. Linear momentum is kept;
//! angular momentum between cloth and cloth but for friction's offset by the thickness, which [`Contacts::resolve`] cancels and
//! these do not.

use nalgebra::Vector3;

use crate::{
    ContactError, Contacts, State, Step,
    broad::Pair,
    respond::{Contact, sweep},
};

type V3 = Vector3<f64>;

/// Contacts over a step, with the impulses that they gave so far.
#[derive(Debug, Default)]
pub struct Pushes {
    contacts: Vec<Contact>,
}

/// A contact, and what it gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touch {
    /// Between which features. Obstacles' vertices are numbered on from the surface's ([`Contacts::owner_of`]).
    pub pair: Pair,
    /// The obstacle that one of them is of.
    pub obstacle: Option<u32>,
    /// Of the vertices, those of the second feature less than 0.
    pub weights: [f64; 4],
    /// On the first feature: N s, or kg m, an impulse times the step.
    pub impulse: V3,
}

impl Contact {
    /// Of the first feature relative to the second, but for what is an obstacle's.
    fn place(&self, x: &[V3]) -> V3 {
        self.pair.parts(self.weights, x.len()).map(|(v, c)| c * x[v]).sum()
    }
}

impl Pushes {
    /// Begins anew, with none.
    pub fn clear(&mut self) {
        self.contacts.clear();
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.contacts.is_empty()
    }

    /// Begins anew with those of `places` that push at the end of a step of `dt` `[s]`, with `begin` where that began `[m]`: what is then
    /// swept are velocities `[m/s]`, with which they come no nearer, and impulses are in N s.
    pub fn keep_closed(&mut self, places: &Self, begin: &[V3], dt: f64) {
        self.contacts.clear();
        let closed = places.contacts.iter().filter(|contact| contact.push > 0.0);
        self.contacts.extend(closed.map(|contact| Contact {
            drift: (contact.drift + contact.place(begin)) / dt,
            least: 0.0,
            push: 0.0,
            most: contact.most / dt,
            drag: V3::zeros(),
            ..contact.clone()
        }));
    }

    /// All contacts once, each as if it were alone: places at the end `[m]`, one a vertex of the surface, come apart, by inverse masses
    /// `[1/kg]`. By how much the most changed `[m]`.
    pub fn sweep(&mut self, places: &mut [V3], inverse_masses: &[f64]) -> f64 {
        sweep(&mut self.contacts, places, inverse_masses)
    }

    /// All, with impulses times the step `[kg m]`, or `[N s]` after [`Pushes::keep_closed`].
    pub fn touches(&self) -> impl Iterator<Item = Touch> + '_ {
        self.contacts.iter().map(|contact| Touch {
            pair: contact.pair,
            obstacle: contact.obstacle,
            weights: contact.weights,
            impulse: contact.push * contact.n + contact.drag,
        })
    }
}

impl Contacts {
    /// Begins anew with what is near at the begin of `step`, which would end at `end` `[m]`.
    ///
    /// # Errors
    /// As [`Contacts::resolve`], but for what touches.
    pub fn push_near(
        &mut self,
        state: &State,
        step: &Step<'_>,
        end: &[V3],
        pushes: &mut Pushes,
    ) -> Result<(), ContactError> {
        let state = self.look_around(state, step, end)?;
        self.ask_for(1.0, step.dt);
        self.collect_near(&state, step.dt);
        pushes.contacts.clear();
        self.move_to(pushes, step.begin);
        Ok(())
    }

    /// Adds what would meet all the same on the way to `end` `[m]`, where what is near has been swept. How many were added.
    ///
    /// # Errors
    /// As [`Contacts::resolve`], but for what touches.
    pub fn push_impacts(
        &mut self,
        state: &State,
        step: &Step<'_>,
        end: &[V3],
        pushes: &mut Pushes,
    ) -> Result<usize, ContactError> {
        let state = self.look_around(state, step, end)?;
        self.ask_for(1.0, step.dt);
        self.work.contacts.clear();
        if !self.is_clear(&state)? {
            let mut contacts = std::mem::take(&mut self.work.contacts);
            let met = self.work.pairs.iter().zip(&self.work.impacts);
            contacts.extend(met.filter_map(|(pair, impact)| {
                let obstacle = self.obstacle(pair);
                self.contact(*pair, obstacle, &self.meeting(obstacle), &(*impact)?.nearest, step.dt)
            }));
            self.work.contacts = contacts;
        }
        Ok(self.move_to(pushes, step.begin))
    }

    /// Contacts of ways become such of places. How many there are.
    fn move_to(&mut self, pushes: &mut Pushes, begin: &[V3]) -> usize {
        let found = self.work.contacts.len();
        for mut contact in self.work.contacts.drain(..) {
            contact.drift -= contact.place(begin);
            pushes.contacts.push(contact);
        }
        found
    }
}
