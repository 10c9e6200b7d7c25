//! The first and the last of the three stages of collisions (\[TPS08\] section 4); the second is in `meet.rs`.

use nalgebra::Vector3;
use partita_cloth::{Ended, not_apart, note_contact};
use partita_simulator::{Inputs, Motion, SimulatorError, StepReport};

use crate::{
    AviCloth, Integrator,
    flight::Way,
    meet::Given,
    state::{Node, State},
    step::{Interval, Work},
};

type V3 = Vector3<f64>;

/// Displacement in a contact interval, relative to the cloth's mean and to its shortest edge at rest, above which the
/// interval is divided [-]. The last stage displaces vertices by as much, which strains their elements at once: of 300
/// random scenes (`partita-bench -- random`) 29 gained energy without a bound, 3 with 0.5, and 3 with 0.25.
const FARTHEST: f64 = 0.5;

/// Most parts of a contact interval.
const PARTS: f64 = 16.0;

impl AviCloth {
    /// Number of parts into which each of `whole` contact intervals of a step is divided, so that nothing moves far in one.
    pub(crate) fn refinement(&mut self, dt: f64, whole: u32, motions: &[Option<Motion>]) -> u32 {
        let gravity = V3::from(self.parameters.gravity);
        let Work { contacts, obstacles, begin, end, next, accelerations, ways, inverse_masses, .. } = &mut self.work;
        let Some(contacts) = contacts.as_ref().filter(|_| dt > 0.0) else { return 1 };
        obstacles.place(&self.guides, motions);
        let step = [next.time, dt];
        fly_on(&next.nodes, gravity, accelerations, ways, step[0], step, begin);
        fly_on(&next.nodes, gravity, accelerations, ways, step[0] + dt, step, end);
        let paths = obstacles.paths(motions);
        let step = partita_contact::Step { dt, begin, velocities: None, inverse_masses, paths: &paths };
        let farthest = contacts.relative_displacement(&step, end) / f64::from(whole);
        let lengths = self.elements.patches.iter().flat_map(|patch| patch.lengths);
        let shortest = lengths.fold(f64::INFINITY, f64::min);
        (farthest / (FARTHEST * shortest)).ceil().clamp(1.0, PARTS).max(1.0) as u32
    }

    /// What may meet in an interval, from where all is to where it would fly on to.
    pub(crate) fn find_pairs(&mut self, interval: Interval, motions: &[Option<Motion>]) -> Result<(), SimulatorError> {
        let gravity = V3::from(self.parameters.gravity);
        let Work {
            contacts, obstacles, begin, end, next, accelerations, ways, meetings, inverse_masses, counts, ..
        } = &mut self.work;
        let Some(contacts) = contacts else { return Ok(()) };
        obstacles.place(&self.guides, motions);
        fly_on(&next.nodes, gravity, accelerations, ways, interval.begin, interval.step, begin);
        meetings.clear();
        let dt = interval.duration();
        if self.parameters.integrator != Integrator::Asynchronous || dt == 0.0 {
            return Ok(());
        }
        fly_on(&next.nodes, gravity, accelerations, ways, interval.end, interval.step, end);
        let paths = obstacles.paths(motions);
        let step = partita_contact::Step { dt, begin, velocities: None, inverse_masses, paths: &paths };
        contacts.find_pairs(&next.contact, &step, end).map_err(not_apart)?;
        let [found, culled] = meetings.find(contacts, &self.owners, next, interval, self.parameters.culling);
        meetings.press(contacts, &self.elements, next);
        counts.found += found;
        counts.culled += culled;
        Ok(())
    }

    /// Nothing has passed through anything, from where all was to where all is now. Whoever that changes comes to the end of the interval.
    pub(crate) fn put_right(
        &mut self,
        interval: Interval,
        motions: &[Option<Motion>],
        report: &mut StepReport,
    ) -> Result<(), SimulatorError> {
        let gravity = V3::from(self.parameters.gravity);
        let dt = interval.duration();
        let Work {
            contacts,
            obstacles,
            begin,
            end,
            straight_begins,
            next,
            accelerations,
            ways,
            inverse_masses,
            meetings,
            given,
            reactions,
            counts,
            ..
        } = &mut self.work;
        let Some(contacts) = contacts.as_mut().filter(|_| dt > 0.0) else { return Ok(()) };
        fly_on(&next.nodes, gravity, accelerations, ways, interval.end, interval.step, end);
        let paths = obstacles.paths(motions);
        let step = partita_contact::Step { dt, begin, velocities: None, inverse_masses, paths: &paths };
        let by = |k: usize| *accelerations.get(k).unwrap_or(&gravity);
        let straight = |(k, (node, x)): (usize, (&Node, &V3))| x - dt * node.at(interval.end, by(k)).1;
        straight_begins.clear();
        straight_begins.extend(next.nodes.iter().zip(&*end).enumerate().map(straight));
        let found = contacts.resolve_deflected(&mut next.contact, &step, straight_begins, end).map_err(not_apart)?;
        let pushed = contacts.impulses().iter().enumerate().filter(|(_, impulse)| **impulse != V3::zeros());
        for (k, impulse) in pushed {
            if let Ok(held) = ways.binary_search_by_key(&k, |way| way.vertex) {
                ways[held].take(end[k], *impulse);
                continue;
            }
            let node = &mut next.nodes[k];
            node.fly(interval.end, by(k));
            node.v += node.w * impulse;
            node.x = end[k];
        }
        let reaction = |given: Given| given.reaction(&self.guides, obstacles, motions, interval);
        reactions.extend(given.drain(..).filter_map(reaction));
        reactions.extend(obstacles.reactions(contacts, motions));
        counts.handled += meetings.handled();
        counts.missed += found.impacts;
        note_contact(&found, report);
        Ok(())
    }
}

impl AviCloth {
    /// Computes impacts on carriers that come to where the cloth cannot give way. Returns the guides whose impacts
    /// other carriers take.
    pub(crate) fn stop_carriers(&mut self, inputs: &Inputs) -> Vec<u32> {
        let Work {
            contacts,
            obstacles,
            next,
            inverse_masses,
            held,
            begin,
            velocities,
            reactions,
            impacts,
            holding,
            ..
        } = &mut self.work;
        impacts.clear();
        holding.clear();
        let Some(contacts) = contacts else { return vec![] };
        // Vertices have times of their own; what was loaded has come to the end of the step.
        let gravity = V3::from(self.parameters.gravity);
        begin.clear();
        velocities.clear();
        for (x, v) in next.nodes.iter().map(|node| node.at(next.time, gravity)) {
            begin.push(x);
            velocities.push(v);
        }
        let State { contact, external, .. } = next;
        let (guides, positions) = (&self.guides, begin);
        let cloth = Ended { inputs, guides, contact, positions, velocities, inverse_masses, held };
        obstacles.stop_carriers(contacts, cloth, reactions, [holding, impacts], external)
    }
}

/// Where vertices would be at a time, without moving any.
fn fly_on(
    nodes: &[Node],
    gravity: V3,
    accelerations: &[V3],
    ways: &[Way],
    time: f64,
    step: [f64; 2],
    out: &mut Vec<V3>,
) {
    out.clear();
    out.extend(nodes.iter().enumerate().map(|(k, node)| node.at(time, *accelerations.get(k).unwrap_or(&gravity)).0));
    ways.iter().for_each(|way| out[way.vertex] = way.at(time, step).0);
}
