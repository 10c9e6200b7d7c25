//! Repulsion: what is near at the begin.

use nalgebra::Vector3;

use crate::{
    Contacts, Report, Shape, State,
    broad::Pair,
    contacts::{AHEAD, Meeting},
    distance::Nearest,
    near::Near,
    place::carried,
    respond::{Contact, makes_way, most_push, sweep},
};

type V3 = Vector3<f64>;

impl Contacts {
    /// \[BFA02\] section 7.2: what is near at the begin.
    pub(crate) fn repel(&mut self, state: &mut State, report: &mut Report, dt: f64) {
        self.work.contacts.clear();
        self.work.depth = 0.0;
        self.work.cancelled.clear();
        self.lead_out(state);
        report.cost.tested += self.work.pairs.len();
        let cloth = self.features.vertices();
        let mut contacts = std::mem::take(&mut self.work.contacts);
        for (pair, near) in self.work.pairs.iter().zip(&self.work.nearest) {
            let obstacle = self.obstacle(pair);
            let meeting = self.meeting(obstacle);
            let gap = near.distance() - meeting.radius;
            let near_enough = self.parameters.repels && gap < (1.0 + AHEAD) * meeting.thickness;
            if near_enough && !self.passes(state, pair, near, obstacle) && !self.is_tangled(pair) {
                let Some(contact) = self.contact(*pair, obstacle, &meeting, near, dt) else { continue };
                // Not those that will stay well apart; should others push them together, that is an impact.
                let closing = -contact.n.dot(&contact.relative(&self.work.u[..cloth]));
                if gap - closing < (1.0 + AHEAD) * meeting.thickness {
                    contacts.push(contact);
                }
            }
        }
        self.work.contacts = contacts;
        self.keep_one_each();
        self.lead_regions(state);
        let in_regions: usize = state.regions.iter().map(|region| region.vertices.len()).sum();
        report.led += if self.leads { in_regions + state.inside.len() } else { 0 };
        report.contacts += self.work.contacts.len();
        self.sweeps();
    }

    /// A contact of a pair whose nearest points are such, at the begin or at an impact.
    pub(crate) fn contact(
        &self,
        pair: Pair,
        obstacle: Option<u32>,
        meeting: &Meeting,
        near: &Nearest,
        dt: f64,
    ) -> Option<Contact> {
        let work = &self.work;
        let x = pair.vertices.map(|v| work.x[v as usize]);
        let n = self.direction(&pair, near, obstacle)?;
        let apart = self.apart(&pair, near, &x, &n, meeting);
        let mut contact = Contact {
            weights: near.weights,
            n,
            gap: apart - meeting.thickness,
            drift: self.drift(&pair, obstacle, meeting, near, &n),
            least: asked(meeting, apart, work.parting),
            friction: meeting.friction,
            ..Contact::unloaded(pair, obstacle)
        };
        let cloth = self.features.vertices();
        let closing = -n.dot(&contact.relative(&work.u[..cloth]));
        if meeting.restitution > 0.0 {
            let at_start = -n.dot(&(contact.place(&work.approach) + contact.drift / dt));
            contact.bounce = self.thrown_back(meeting, at_start.min(closing / dt));
        }
        contact.most = most_push(&pair.vertices, &near.weights, &work.w, contact.least.max(0.0) + closing.max(0.0));
        let mobility = contact.mobility(&work.w);
        if mobility > 0.0 {
            contact.alone = (contact.least + closing).max(0.0) / mobility;
        }
        Some(contact)
    }

    /// Linearises a contact after a `part` of the displacements of its vertices ([`Contacts::turn`]), with its
    /// friction across the normal there. None where the contact stays as it is, or the bound of its impulse
    /// would be another.
    pub(crate) fn turned(&self, contact: &Contact, part: f64) -> Option<Contact> {
        let mut near = self.near_of(contact);
        self.turn(&mut near, |v| part * self.work.u[v], part);
        let Near { weights, normal: n, drift, .. } = near;
        let is_bounded = makes_way(&contact.pair.vertices, &weights, &self.work.w) < 1.0;
        if n == contact.n || is_bounded || contact.most.is_finite() {
            return None;
        }
        let (least, drag) = (contact.least + contact.gap - near.gap, contact.drag - n.dot(&contact.drag) * n);
        Some(Contact { weights, n, at: part, drift, least, drag, ..contact.clone() })
    }

    /// Keeps one contact of those between the same places: a corner that is nearest to a corner is so in every pair of the
    /// features around either.
    pub(crate) fn keep_one_each(&mut self) {
        let work = &mut self.work;
        work.order.clear();
        work.order.extend(
            (0..).zip(&work.contacts).map(|(k, contact)| (contact.pair.places(&contact.weights), contact.obstacle, k)),
        );
        work.order.sort_unstable();
        work.order.dedup_by_key(|(places, obstacle, _)| (*places, *obstacle));
        work.spare.clear();
        work.spare.extend(work.order.iter().map(|&(.., k)| work.contacts[k as usize].clone()));
        std::mem::swap(&mut work.contacts, &mut work.spare);
    }

    /// Way of an obstacle's surface where it is touched, as it counts in the relative way `[m]`.
    pub(crate) fn drift(&self, pair: &Pair, obstacle: Option<u32>, meeting: &Meeting, near: &Nearest, n: &V3) -> V3 {
        let Some(number) = obstacle else { return V3::zeros() };
        let x = pair.vertices.map(|v| self.work.x[v as usize]);
        let sign = self.sign_of(pair, near);
        let place = self.core_point(pair, near, &x, obstacle) - sign * meeting.radius * n;
        let way = self.core_way(pair, &near.weights);
        let along = match self.round(pair, obstacle) {
            Some(_) => self.surface_way(number, &place, n) - n.dot(&way),
            None => 0.0,
        };
        sign * (way + along * n + self.slide(number, &place, &way, n))
    }

    /// Way of the point of an obstacle's core with a pair's weights `[m]`.
    pub(crate) fn core_way(&self, pair: &Pair, weights: &[f64; 4]) -> V3 {
        let cloth = self.features.vertices();
        let of_core = pair.vertices.iter().zip(weights).filter(|(v, _)| **v as usize >= cloth);
        of_core.map(|(&v, c)| c.abs() * self.work.u[v as usize]).sum()
    }

    /// Way across `n` of an obstacle's surface, at a `place` of it at the start, beyond that of the core there `[m]`: a radius turns
    /// about its core, and the plane of a half-space slides without its triangle.
    pub(crate) fn slide(&self, obstacle: u32, place: &V3, core: &V3, n: &V3) -> V3 {
        let (shape, of) = &self.obstacles[obstacle as usize];
        let slides = shape.shape == Shape::HalfSpace || of.radius > 0.0;
        let Some([begin, end]) = self.work.poses[obstacle as usize].as_ref().filter(|_| slides) else {
            return V3::zeros();
        };
        let way = carried(begin, end, place) - place - core;
        way - n.dot(&way) * n
    }

    /// Until nothing changes by more than a ten thousandth of the thickness.
    pub(crate) fn sweeps(&mut self) {
        let cloth = self.features.vertices();
        let work = &mut self.work;
        let mut visits = 0;
        for _ in 0..self.parameters.sweeps {
            visits += work.contacts.len();
            let most = sweep(&mut work.contacts, &mut work.u[..cloth], &work.w, &work.w);
            if most < 1e-4 * self.parameters.thickness {
                break;
            }
        }
        self.cancel_torque();
        self.charge(visits);
    }
}

/// Least displacement along the normal of features that are `apart` at the start ([`Contacts::apart`]): `part` of what they
/// lack of the thickness.
pub(crate) fn asked(meeting: &Meeting, apart: f64, part: f64) -> f64 {
    let lacking = meeting.thickness - apart;
    if lacking < 0.0 { lacking } else { part * lacking.min(meeting.thickness) }
}
