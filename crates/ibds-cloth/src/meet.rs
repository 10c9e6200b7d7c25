//! What the cloth meets: contacts in the loop of places, and the last word of [`partita_contact`].

use nalgebra::Vector3;
use partita_cloth::{Ended, not_apart, note_contact};
use partita_contact::{Contacts, Features, Obstacle, Pushes, Step, Touch};
use partita_simulator::{Inputs, Motion, SimulatorError, StepReport};

use crate::{
    IbdsCloth, Net, Parameters,
    state::State,
    step::{Work, acting},
};

type V3 = Vector3<f64>;

/// Of a net among obstacles; none if it meets nothing.
///
/// # Errors
/// Names an obstacle that is wrong.
pub(crate) fn contacts(
    net: &Net,
    parameters: &Parameters,
    obstacles: Vec<Obstacle>,
) -> Result<Option<Contacts>, SimulatorError> {
    let &Parameters { thickness, friction, self_contact, contact_rates: rates, .. } = parameters;
    if obstacles.is_empty() && !self_contact {
        return Ok(None);
    }
    let refused = |error| SimulatorError::refused("contact", error, "cloth and obstacles that can meet");
    let features = Features::new(net.positions.len(), &net.triangles, &net.lone_edges()).map_err(refused)?;
    let parameters = partita_contact::Parameters {
        thickness,
        friction,
        self_contact,
        rates,
        ..partita_contact::Parameters::default()
    };
    Contacts::new(features, parameters, obstacles).map(Some).map_err(refused)
}

impl IbdsCloth {
    /// Contacts with what is near, or more of them with what would be met all the same on the way. How many more.
    pub(crate) fn find_pushes(
        &mut self,
        h: f64,
        motions: &[Option<Motion>],
        is_first: bool,
    ) -> Result<usize, SimulatorError> {
        let Work { contacts, obstacles, next, inverse_masses, weighed, places, pushes, .. } = &mut self.work;
        let Some(contacts) = contacts else {
            pushes.clear();
            return Ok(0);
        };
        let paths = obstacles.paths(motions);
        let step = Step {
            dt: h,
            begin: &next.positions,
            velocities: Some([&next.velocities; 2]),
            inverse_masses,
            paths: &paths,
        };
        let found = if is_first {
            contacts.push_near(&next.contact, &step, places, pushes).map(|()| 0)
        } else {
            contacts.push_impacts(&next.contact, &step, places, weighed, pushes)
        };
        found.map_err(not_apart)
    }

    /// Adds what contacts in the loop of places gave to kinematic particles to what links gave them.
    pub(crate) fn add_pushes(&mut self) {
        let Work { inverse_masses, pushes, taken, .. } = &mut self.work;
        add_to_held(pushes, inverse_masses, taken);
    }

    /// Reactions of obstacles to contacts in the loops, and what the loop of velocities gave to kinematic particles.
    pub(crate) fn book_pushes(&mut self, h: f64, motions: &[Option<Motion>]) {
        let Work { contacts, obstacles, begin, next, inverse_masses, pushes, rates, given, reactions, .. } =
            &mut self.work;
        let Some(contacts) = contacts else { return };
        add_to_held(rates, inverse_masses, given);
        // Velocities are corrected at positions of the end.
        for (pushes, scale, least) in [(pushes, 1.0 / h, 0.0), (rates, 1.0, 1.0)] {
            for touch in acting(pushes) {
                let touch = Touch { impulse: scale * touch.impulse, at: touch.at.max(least), ..touch };
                obstacles.book(&touch, [begin, &next.positions], motions, contacts, reactions);
            }
        }
    }

    /// Nothing passes through anything, from where particles are to where they would be. Whether that took impulses.
    pub(crate) fn keep_apart(
        &mut self,
        h: f64,
        motions: &[Option<Motion>],
        report: &mut StepReport,
    ) -> Result<bool, SimulatorError> {
        let Work {
            contacts: Some(contacts),
            obstacles,
            next,
            start_velocities,
            inverse_masses,
            places,
            pushes,
            given,
            reactions,
            ..
        } = &mut self.work
        else {
            return Ok(false);
        };
        let paths = obstacles.paths(motions);
        let step = Step {
            dt: h,
            begin: &next.positions,
            velocities: Some([start_velocities, &next.velocities]),
            inverse_masses,
            paths: &paths,
        };
        contacts.add_bounces(pushes, &next.positions, h);
        let found = contacts.resolve(&mut next.contact, &step, places).map_err(not_apart)?;
        for (k, impulse) in contacts.impulses().iter().enumerate() {
            if inverse_masses[k] > 0.0 {
                next.velocities[k] += inverse_masses[k] * impulse;
            } else {
                given[k] += impulse;
            }
        }
        reactions.extend(obstacles.reactions(contacts, motions));
        note_contact(&found, report);
        Ok(contacts.impulses().iter().any(|impulse| *impulse != V3::zeros()))
    }

    /// Computes impacts on carriers that come to where the cloth cannot give way. Returns the guides whose impacts
    /// other carriers take.
    pub(crate) fn stop_carriers(&mut self, inputs: &Inputs) -> Vec<u32> {
        let Work { contacts, obstacles, next, inverse_masses, held, reactions, impacts, holding, .. } = &mut self.work;
        impacts.clear();
        holding.clear();
        let Some(contacts) = contacts else { return vec![] };
        let State { contact, positions, velocities, external, .. } = next;
        let guides = &self.guides;
        let cloth = Ended { inputs, guides, contact, positions, velocities, inverse_masses, held };
        obstacles.stop_carriers(contacts, cloth, reactions, [holding, impacts], external)
    }
}

/// Adds impulses of contacts on kinematic particles to sums, one for each particle.
fn add_to_held(pushes: &Pushes, inverse_masses: &[f64], sums: &mut [V3]) {
    for touch in pushes.touches() {
        let held = touch.pair.parts(touch.weights, sums.len()).filter(|(k, _)| inverse_masses[*k] == 0.0);
        held.for_each(|(k, c)| sums[k] += c * touch.impulse);
    }
}
