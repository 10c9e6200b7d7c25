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
//!
//! Links act along their directions at the end of the step, loads at its start. Around a drum of radius r
//! these differ by v dt/r. The normal impulse that balances links at the start would hold a rope of speed v
//! back with that fraction of it, and one that balances loads at the end would drive it on. So after a first
//! solve contacts are linearised anew ([`Contacts::turn`]), at the fraction of the step that their impulse
//! has from links: the rest is what the predicted displacement would need by itself. Predicted positions
//! would not do for it, as links move them much farther than cloth slides. Reactions act at positions of that time:
//! without friction a drum gets no torque, while the angular momentum of a free particle changes at
//! its start.

use nalgebra::Vector3;

use crate::{
    ContactError, Contacts, State, Step,
    broad::Pair,
    pressed::Pressing,
    respond::{Contact, sweep},
};

type V3 = Vector3<f64>;

/// Largest turn of a normal in a step that is neglected `[rad]`. It holds cloth that slides back with
/// that fraction of the normal force.
const LEAST_TURN: f64 = 1e-4;

/// Contacts over a step, with the impulses that they gave so far.
#[derive(Debug, Default)]
pub struct Pushes {
    pub(crate) contacts: Vec<Contact>,
    pressed: Vec<Pressure>,
    /// Length of the step, where vertices are pressed `[s]`.
    dt: f64,
    /// [`crate::ContactRates::slip_tolerance`], below which a secant of friction would have no bound `[m/s]`.
    slip_tolerance: f64,
}

/// Friction of a vertex between two obstacles over a step, linear in its position: impulses -k (y - y_k) across the normal.
#[derive(Debug)]
struct Pressure {
    pressing: Pressing,
    /// Positions to which it would stick on either side, across the normal `[m]`.
    targets: [V3; 2],
    /// k of either side `[kg]`.
    coefficients: [f64; 2],
    /// Position without links and contacts `[m]`.
    free: V3,
    /// Displacement by contacts along their normals, from the last [`Pushes::find_friction`] on `[m]`.
    by_contacts: V3,
    /// Impulses of both sides times the step, from the last [`Pushes::find_friction`] on `[kg m]`.
    drags: [V3; 2],
}

impl Pressure {
    fn new(pressing: Pressing, begin: &V3, dt: f64) -> Self {
        let targets = pressing.sides.map(|side| pressing.across(begin) + dt * side.velocity);
        Self {
            pressing,
            targets,
            coefficients: [0.0; 2],
            free: *begin,
            by_contacts: V3::zeros(),
            drags: [V3::zeros(); 2],
        }
    }

    /// Coefficients at a position: secants of friction, with the slip at least `slip_tolerance` `[m/s]`.
    fn secants(&self, place: &V3, dt: f64, slip_tolerance: f64) -> [f64; 2] {
        let across = self.pressing.across(place);
        std::array::from_fn(|k| {
            let (side, slip) = (&self.pressing.sides[k], (across - self.targets[k]).norm() / dt);
            side.most * dt / slip.max(side.range).max(slip_tolerance)
        })
    }
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
    /// Fraction of the step at whose positions it acts ([`Contacts::turn`]) [-].
    pub at: f64,
}

impl Contact {
    /// Of the first feature relative to the second, but for what is an obstacle's.
    pub(crate) fn place(&self, x: &[V3]) -> V3 {
        self.pair.parts(self.weights, x.len()).map(|(v, c)| c * x[v]).sum()
    }
}

impl Pushes {
    /// Error of friction on pressed vertices up to which it is right [-].
    pub const FRICTION_ERROR: f64 = 0.05;

    /// Begins anew, with none.
    pub fn clear(&mut self) {
        self.contacts.clear();
        self.pressed.clear();
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.contacts.is_empty() && self.pressed.is_empty()
    }

    /// Begins anew with those of `places` that push at the end of a step of `dt` `[s]`, with `begin` where that began `[m]`: what is then
    /// swept are velocities `[m/s]`, with which they come no nearer, and impulses are in N s.
    pub fn keep_closed(&mut self, places: &Self, begin: &[V3], dt: f64) {
        self.clear();
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

    /// All contacts once, each as if it were alone: places at the end `[m]`, one a vertex of the
    /// surface, come apart. Inverse masses `[1/kg]` count along normals, and across them those that
    /// [`Pushes::linearise_friction`] left for links, `tangential`. Returns by how much the most changed
    /// `[m]`.
    pub fn sweep(&mut self, places: &mut [V3], inverse_masses: &[f64], tangential: &[f64]) -> f64 {
        sweep(&mut self.contacts, places, inverse_masses, tangential)
    }

    /// Whether obstacles press vertices between them.
    pub fn has_pressed(&self) -> bool {
        !self.pressed.is_empty()
    }

    /// Begins a loop over links anew, with friction on pressed vertices linear around the positions
    /// `about` `[m]`: the more friction, the less they give way. `places` `[m]` and `inverse_masses`
    /// `[1/kg]`, those of free vertices, become those with friction, for links and friction of contacts.
    /// Along normals contacts are swept with those of before.
    pub fn linearise_friction(&mut self, about: &[V3], places: &mut [V3], inverse_masses: &mut [f64]) {
        for contact in &mut self.contacts {
            (contact.push, contact.drag) = (0.0, V3::zeros());
        }
        for pressure in &mut self.pressed {
            let k = pressure.pressing.vertex as usize;
            pressure.coefficients = pressure.secants(&(about[k] - pressure.by_contacts), self.dt, self.slip_tolerance);
            let [first, second] = pressure.coefficients;
            let (mass, place) = (inverse_masses[k].recip(), &mut places[k]);
            let all = mass + first + second;
            let [one, other] = pressure.targets.map(|target| target - pressure.pressing.across(place));
            *place += (first * one + second * other) / all;
            inverse_masses[k] = all.recip();
        }
        self.pressed.iter_mut().for_each(|pressure| pressure.free = places[pressure.pressing.vertex as usize]);
    }

    /// Computes friction of pressed vertices at the positions that a loop came to `[m]`, where contacts
    /// were swept with `inverse_masses` `[1/kg]` along normals. Returns the largest error against
    /// Coulomb's law, of the friction that it asks for [-]: above [`Pushes::FRICTION_ERROR`], friction has
    /// to be linear around these positions.
    pub fn find_friction(&mut self, places: &[V3], inverse_masses: &[f64]) -> f64 {
        self.sum_contacts(places.len());
        let mut worst = 0.0_f64;
        for pressure in &mut self.pressed {
            let k = pressure.pressing.vertex as usize;
            // Along normals contacts move the vertex as if there were no friction, which holds against
            // where it would be without that.
            pressure.by_contacts *= inverse_masses[k];
            let place = places[k] - pressure.by_contacts;
            let secants = pressure.secants(&place, self.dt, self.slip_tolerance);
            let coefficients = pressure.coefficients;
            let errors = secants.iter().zip(&coefficients).filter(|(now, _)| **now > 0.0);
            worst = errors.fold(worst, |worst, (now, used)| worst.max((now - used).abs() / now));
            let across = pressure.pressing.across(&place);
            // Links also move the vertex along the normal as if friction were its mass: obstacles bear that.
            let along = pressure.pressing.normal.dot(&(place - pressure.free)) * pressure.pressing.normal;
            pressure.drags = std::array::from_fn(|k| coefficients[k] * (pressure.targets[k] - across - along));
        }
        worst
    }

    /// Sums the impulses of contacts along their normals on each pressed vertex, of so many vertices.
    fn sum_contacts(&mut self, vertices: usize) {
        let Self { contacts, pressed, .. } = self;
        pressed.iter_mut().for_each(|pressure| pressure.by_contacts = V3::zeros());
        if pressed.is_empty() {
            return;
        }
        for contact in contacts {
            let impulse = contact.push * contact.n;
            for (v, c) in contact.pair.parts(contact.weights, vertices) {
                // In the order of their vertices, which more than one may have.
                let from = pressed.partition_point(|pressure| (pressure.pressing.vertex as usize) < v);
                let of_vertex = pressed[from..].iter_mut().take_while(|p| p.pressing.vertex as usize == v);
                of_vertex.for_each(|pressure| pressure.by_contacts += c * impulse);
            }
        }
    }

    /// All, with impulses times the step `[kg m]`, or `[N s]` after [`Pushes::keep_closed`].
    pub fn touches(&self) -> impl Iterator<Item = Touch> + '_ {
        let contacts = self.contacts.iter().map(|contact| Touch {
            pair: contact.pair,
            obstacle: contact.obstacle,
            weights: contact.weights,
            impulse: contact.push * contact.n + contact.drag,
            at: contact.at,
        });
        let pressed = self.pressed.iter().flat_map(|pressure| {
            pressure.pressing.sides.iter().zip(pressure.drags).map(|(side, impulse)| side.touch(impulse))
        });
        contacts.chain(pressed)
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
        pushes.clear();
        self.move_to(pushes, step.begin);
        (pushes.dt, pushes.slip_tolerance) = (step.dt, self.parameters.rates.slip_tolerance);
        let is_free = |pressing: &Pressing| step.inverse_masses[pressing.vertex as usize] > 0.0;
        let pressed = self.pressings(&state, step.dt).filter(is_free);
        pushes
            .pressed
            .extend(pressed.map(|pressing| Pressure::new(pressing, &step.begin[pressing.vertex as usize], step.dt)));
        Ok(())
    }

    /// Continues after a solve that led to the positions `end` `[m]`. Contacts whose impulses balance links
    /// turn with these, which changes `end`, and impacts that are left get contacts. Returns the number
    /// of both. `tangential` inverse masses are those of [`Pushes::sweep`] `[1/kg]`.
    ///
    /// # Errors
    /// As [`Contacts::resolve`], but for what touches.
    pub fn push_impacts(
        &mut self,
        state: &State,
        step: &Step<'_>,
        end: &mut [V3],
        tangential: &[f64],
        pushes: &mut Pushes,
    ) -> Result<usize, ContactError> {
        let state = self.look_around(state, step, end)?;
        self.ask_for(1.0, step.dt);
        let turned = self.turn_pushes(step, end, tangential, pushes);
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
        Ok(turned + self.move_to(pushes, step.begin))
    }

    /// Turns each contact once by the part of its normal impulse that balances links, if its normal turns by more than
    /// [`LEAST_TURN`]. Its impulse turns with it. Contacts of pressed vertices stay. Returns the number of those turned.
    fn turn_pushes(&self, step: &Step<'_>, end: &mut [V3], tangential: &[f64], pushes: &mut Pushes) -> usize {
        let Pushes { contacts, pressed, .. } = pushes;
        let is_pressed = |v: &u32| pressed.binary_search_by_key(v, |pressure| pressure.pressing.vertex).is_ok();
        let mut count = 0;
        for contact in contacts.iter_mut().filter(|contact| contact.push > contact.alone && contact.at == 0.0) {
            if contact.pair.vertices.iter().any(is_pressed) {
                continue;
            }
            let Some(mut turned) = self.turned(contact, 1.0 - contact.alone / contact.push) else { continue };
            if (turned.n - contact.n).norm() <= LEAST_TURN {
                continue;
            }
            turned.drift -= turned.place(step.begin);
            for (contact, sign) in [(&*contact, -1.0), (&turned, 1.0)] {
                contact.apply(&(sign * contact.push * contact.n), end, step.inverse_masses);
                contact.apply(&(sign * contact.drag), end, tangential);
            }
            *contact = turned;
            count += 1;
        }
        count
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
