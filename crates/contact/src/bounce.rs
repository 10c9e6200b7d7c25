//! Restitution: what obstacles stopped leaves them with e times the velocity of its approach.
//!
//! Contacts keep the cloth out of obstacles without restitution. At the end of the step, impulses at those that stopped
//! something bring the relative velocity along each normal to at least e times that of the start of the step (J. J.
//! Moreau: Numerical aspects of the sweeping process. Comput. Methods Appl. Mech. Eng. 177, 1999). Where forces of a
//! simulator's own stopped it, like springs, impulses also take back what these gave beyond that.
//!
//! The rest of the step at that velocity would be a displacement without forces of the cloth: a vertex that taut cloth
//! drew at a ball with 7 m/s went 13 cm off its neighbours in 8 ms, and the strain gave energy.
//!
//! The velocity of an obstacle is its mean over the step. Where its motion is iterated with the reaction, cloth of r times
//! its mass leaves with (e + q)/(1 + q) of the approach, q = (1 + e) r/2. Cloth that is led out of solids, and vertices
//! that move as one, are not thrown back.

use nalgebra::Vector3;

use crate::{
    Contacts, Pushes,
    contacts::Meeting,
    near::Near,
    respond::{Contact, most_push, sweep},
};

type V3 = Vector3<f64>;

/// Change of velocity at which sweeps end, unless they come to [`crate::Parameters::sweeps`] before, relative to the largest
/// that is asked for or was needed [-].
const TOLERANCE: f64 = 1e-3;

impl Contacts {
    /// Velocity with which an obstacle throws back what comes with the velocity `approach`; 0 up to the threshold `[m/s]`.
    pub(crate) fn thrown_back(&self, meeting: &Meeting, approach: f64) -> f64 {
        if approach > self.parameters.rates.restitution_threshold { meeting.restitution * approach } else { 0.0 }
    }

    /// Adds a contact of [`Contacts::find_near`] whose forces gave an impulse along its normal `[N s]` over `dt` `[s]`: in
    /// the next [`Contacts::resolve`] features leave each other there with their restitution, or part by what they are too
    /// near ([`crate::ContactRates::depenetration`]). Does nothing between cloth and cloth.
    pub fn add_bounce(&mut self, near: &Near, impulse: f64, dt: f64) {
        if near.obstacle.is_none() {
            return;
        }
        let &Near { pair, obstacle, weights, normal: n, drift, friction, gap, thickness, bounce, .. } = near;
        let parting = self.parameters.rates.recovered(dt) * (-gap).clamp(0.0, thickness) / dt;
        let (least, drift, given) = (bounce.max(parting), drift / dt, impulse);
        let unloaded = Contact::unloaded(pair, obstacle);
        self.work.bounces.push(Contact { weights, n, drift, friction, bounce, least, given, ..unloaded });
    }

    /// Adds all contacts that gave impulses over a step of `dt` `[s]`, with `begin` where that began `[m]`: in the next
    /// [`Contacts::resolve`] obstacles throw back what they stopped there.
    pub fn add_bounces(&mut self, pushes: &Pushes, begin: &[V3], dt: f64) {
        for contact in &pushes.contacts {
            self.keep_bounce(contact, contact.drift + contact.place(begin), dt);
        }
    }

    /// Keeps a contact that stopped something in a part of the step of `dt` `[s]`, if its obstacle throws that back. `drift` is
    /// the one over this part `[m]`.
    pub(crate) fn keep_bounce(&mut self, contact: &Contact, drift: V3, dt: f64) {
        if contact.bounce > 0.0 && contact.push > 0.0 {
            let (least, drift, drag, push) = (contact.bounce, drift / dt, V3::zeros(), 0.0);
            self.work.bounces.push(Contact { least, drift, drag, push, ..contact.clone() });
        }
    }

    /// Throws the cloth back where obstacles stopped it in the step.
    pub(crate) fn throw_back(&mut self) {
        let mut bounces = std::mem::take(&mut self.work.bounces);
        if !bounces.is_empty() {
            // Contacts without restitution are one a place already.
            if bounces.iter().any(|contact| contact.bounce > 0.0) {
                keep_one_each(&mut bounces);
            }
            let work = &mut self.work;
            for contact in &mut bounces {
                contact.most = most_push(&contact.pair.vertices, &contact.weights, &work.w, contact.least);
            }
            for (v, (impulse, w)) in work.last.iter_mut().zip(work.impulses.iter().zip(&work.w)) {
                *v += *w * impulse;
            }
            for given in &work.given {
                given.parts(work.w.len()).for_each(|(k, c)| work.last[k] += c * work.w[k] * given.impulse);
            }
            let mut fastest = bounces.iter().fold(0.0, |most: f64, contact| most.max(contact.least));
            let mut visits = 0;
            for _ in 0..self.parameters.sweeps {
                visits += bounces.len();
                let change = sweep(&mut bounces, &mut work.last, &work.w, &work.w);
                fastest = fastest.max(change);
                if change <= TOLERANCE * fastest {
                    break;
                }
            }
            self.charge(visits);
            for contact in bounces.drain(..) {
                let impulse = contact.push * contact.n + contact.drag;
                self.give_at(1, contact.pair.vertices, contact.weights, impulse, contact.obstacle);
            }
        }
        self.work.bounces = bounces;
    }
}

/// Keeps one contact of those between the same places, the one that asks for most, with all that their forces gave.
fn keep_one_each(bounces: &mut Vec<Contact>) {
    let key = |contact: &Contact| (contact.pair.places(&contact.weights), contact.obstacle);
    bounces.sort_unstable_by(|a, b| key(a).cmp(&key(b)).then(b.least.total_cmp(&a.least)));
    bounces.dedup_by(|next, kept| {
        let is_same = key(next) == key(kept);
        if is_same {
            kept.given += next.given;
        }
        is_same
    });
}
