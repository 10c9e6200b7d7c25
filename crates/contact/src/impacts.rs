//! Impacts: what would pass through each other on its way.

use nalgebra::Vector3;
use rayon::prelude::*;

use crate::{
    ContactError, Contacts, Report, State,
    broad::Pair,
    ccd::Impact,
    distance::{Nearest, rounding},
};

type V3 = Vector3<f64>;

impl Contacts {
    /// \[BFA02\] section 7.3: what would still pass through each other gets a contact where it first touches.
    /// Whether nothing is left that would.
    pub(crate) fn stop_impacts(&mut self, state: &State, report: &mut Report, dt: f64) -> Result<bool, ContactError> {
        for _ in 0..self.parameters.impact_rounds {
            if self.is_clear(state)? {
                return Ok(true);
            }
            if self.work.rounds_left == 0 || self.is_low() {
                return Ok(false);
            }
            self.work.rounds_left -= 1;
            let before = self.work.contacts.len();
            for k in 0..self.work.pairs.len() {
                let Some(impact) = self.work.impacts[k] else { continue };
                let pair = self.work.pairs[k];
                let obstacle = self.obstacle(&pair);
                let contact = self.contact(pair, obstacle, &self.meeting(obstacle), &impact.nearest, dt);
                self.work.contacts.extend(contact);
            }
            report.rounds += 1;
            report.impacts += self.work.contacts.len() - before;
            self.note_changes(|contacts| contacts.sweeps());
        }
        self.is_clear(state)
    }

    /// Whether nothing collides on its way; what does is in [`Contacts::colliding`].
    pub(crate) fn is_clear(&mut self, state: &State) -> Result<bool, ContactError> {
        self.widen()?;
        self.charge_inspection();
        self.find_impacts(state);
        Ok(self.work.impacts.iter().all(Option::is_none))
    }

    /// Marks the vertices whose way `change` changes.
    pub(crate) fn note_changes(&mut self, change: impl FnOnce(&mut Self)) {
        self.work.before.clone_from(&self.work.u);
        change(self);
        self.outdate_count();
        let work = &mut self.work;
        for ((changed, before), now) in work.changed.iter_mut().zip(&work.before).zip(&work.u) {
            *changed = before != now;
        }
    }

    /// How far each vertex goes relative to the cloth's mean, which is cheap to compare with a gap.
    pub(crate) fn measure_speeds(&mut self) {
        let cloth = self.features.vertices();
        let work = &mut self.work;
        let mean = work.u[..cloth].iter().sum::<V3>() / cloth.max(1) as f64;
        work.speeds.clear();
        work.speeds.extend(work.u.iter().map(|u| (u - mean).norm()));
    }

    /// Impacts of all pairs with a vertex that changed its way; of the others, what was found before still holds.
    pub(crate) fn find_impacts(&mut self, state: &State) {
        self.measure_speeds();
        let mut impacts = std::mem::take(&mut self.work.impacts);
        impacts.resize(self.work.pairs.len(), None);
        let work = &self.work;
        let found = impacts.par_iter_mut().zip(work.pairs.par_iter().zip(&work.nearest));
        found.for_each(|(impact, (pair, near))| {
            if pair.vertices.iter().any(|&v| work.changed[v as usize]) {
                *impact = self.impact(state, pair, near);
            }
        });
        self.work.impacts = impacts;
    }

    fn impact(&self, state: &State, pair: &Pair, near: &Nearest) -> Option<Impact> {
        let work = &self.work;
        let obstacle = self.obstacle(pair);
        let meeting = self.meeting(obstacle);
        let gap = near.distance() - meeting.radius;
        // On a surface that tells its sides: moving in is an impact at once.
        if let Some(out) = self.out_of_touch(pair, near, obstacle) {
            let way: V3 = (0..4).map(|k| near.weights[k] * work.u[pair.vertices[k] as usize]).sum();
            return (out.dot(&way) < 0.0).then_some(Impact { time: 0.0, nearest: *near });
        }
        // Already inside: led out by its contact, and nothing to be kept from.
        let passes = || self.is_far_side(pair, near, obstacle) || self.is_inside(state, pair, obstacle);
        if passes() || self.is_let_go(pair) || self.is_stopped_by_edges(pair) {
            return None;
        }
        // So near to what is round that rounding hides the gap: moving in is an impact at once, where they are nearest at the end.
        if meeting.radius > 0.0 && self.is_hidden(pair, gap.abs()) {
            let ends = pair.vertices.map(|v| work.x[v as usize] + work.u[v as usize]);
            let then = self.nearest_at(pair, &ends);
            let reach = ends.iter().fold(meeting.radius, |reach, x| reach.max(x.amax()));
            let least = gap.min(0.0) - rounding(reach);
            return (then.distance() - meeting.radius < least).then_some(Impact { time: 0.0, nearest: then });
        }
        if gap <= 0.0 {
            return None;
        }
        // Nearer than that, a pair may close by half of its gap in a step, however many parts that has.
        let kept = (self.parameters.separation * meeting.thickness).min(work.gap_kept * gap);
        let speed = |vertices: &[u32]| vertices.iter().fold(0.0_f64, |most, &v| most.max(work.speeds[v as usize]));
        let split = pair.kind.split();
        // Turning rims are faster than the ends of their axis.
        if self.round(pair, obstacle).is_none()
            && gap - kept > 1.001 * (speed(&pair.vertices[..split]) + speed(&pair.vertices[split..]))
        {
            return None;
        }
        self.impact_of(pair, *near, meeting.radius + kept, 0.1 * kept)
    }

    /// Pairs that collide as things are.
    pub(crate) fn colliding(&self) -> impl Iterator<Item = Pair> {
        let found = self.work.pairs.iter().zip(&self.work.impacts);
        found.filter(|(_, impact)| impact.is_some()).map(|(pair, _)| *pair)
    }
}
