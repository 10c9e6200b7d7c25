//! Impulses on carriers that come to where the cloth cannot give way ([`Contacts::stops`]).

use std::collections::BTreeMap;

use nalgebra::{Isometry3, Matrix3, Vector3};
use partita_contact::{Ahead, Carrier, Carriers, Contacts, Mobility, State};
use partita_simulator::{Guide, HandleState, Inputs, Motion, Reaction, Response, Wrench};

use crate::{Held, Obstacles, Support, pose};

type V3 = Vector3<f64>;

/// Cloth at the end of a step.
pub struct Ended<'a> {
    /// Inputs of the step.
    pub inputs: &'a Inputs,
    /// All guides.
    pub guides: &'a [Guide],
    /// State of contact.
    pub contact: &'a mut State,
    /// `[m]`
    pub positions: &'a [V3],
    /// `[m/s]`
    pub velocities: &'a [V3],
    /// 0 for what is kinematic `[1/kg]`.
    pub inverse_masses: &'a [f64],
    /// Kinematic vertices.
    pub held: &'a [Held],
}

impl Obstacles {
    /// Adds impulses that stop carriers in their next step where the cloth has no room for them: `holding` is
    /// spread over that step, `impacts` act at its start. Both include the share of carriers of attachments;
    /// `external` takes that of the cloth's own supports. `reactions` of this step count as pending where the
    /// response is not iterated. Adds nothing without responses. Returns the guides whose impulses other carriers
    /// take. Call it last, since it takes over the memory of `contacts`.
    pub fn stop_carriers(
        &self,
        contacts: &mut Contacts,
        cloth: Ended<'_>,
        reactions: &[Reaction],
        [holding, impacts]: [&mut Vec<Reaction>; 2],
        external: &mut Wrench,
    ) -> Vec<u32> {
        let response = |guide: usize| cloth.inputs.responses.get(guide).and_then(Option::as_deref);
        cloth.contact.forget_loads();
        let Some(first) = (0..cloth.guides.len()).find_map(|guide| response(guide)?.first()) else { return vec![] };
        let pending = Pending::of(cloth.inputs, reactions, first.next_step);
        let carriers: Vec<Carriers> = (0..contacts.obstacles().len() as u32)
            .map(|obstacle| {
                let guide = self.guide(obstacle);
                match cloth.inputs.motions.get(guide) {
                    Some(Some(motion)) => {
                        let guide_of = &cloth.guides[guide];
                        let mut carriers = carriers_of(guide_of, motion, response(guide), self.frame(obstacle));
                        pending.add_to(&mut carriers, guide as u32);
                        carriers
                    }
                    _ => Carriers::Absent,
                }
            })
            .collect();
        let support = |held: &Held| {
            let guide = held.guide?;
            let response = response(guide as usize)?.first()?;
            let mobility = matrices(&response.mobility);
            let at = &cloth.positions[held.vertex];
            let [pending, _] = pending.gained(One::of(guide, 0, response.body), at, &mobility);
            (mobility != Mobility::default()).then(|| partita_contact::Support {
                vertex: held.vertex as u32,
                mobility,
                body: response.body,
                is_linked: response.is_linked || response.body.is_none(),
                acceleration: V3::from(response.acceleration) + pending,
            })
        };
        let mut supports: Vec<_> = cloth.held.iter().filter_map(support).collect();
        supports.sort_by_key(|support| support.vertex);
        let ahead = Ahead {
            dt: first.next_step,
            positions: cloth.positions,
            velocities: cloth.velocities,
            inverse_masses: cloth.inverse_masses,
            supports: &supports,
            carriers: &carriers,
        };
        // Numbers that contact refuses of the next step are refused in that step, if it comes to
        // them.
        let Ok(stops) = contacts.stops(cloth.contact, &ahead) else { return vec![] };
        let reaction = |of: &partita_contact::Reaction| {
            let guide = self.guide(of.obstacle);
            // About the carrier, where it ends this step.
            let arm = match (&carriers[of.obstacle as usize], &cloth.inputs.motions[guide]) {
                (Carriers::Frame(frame), Some(motion)) => {
                    frame.pose.translation.vector - V3::from(motion.end[0].position)
                }
                _ => V3::zeros(),
            };
            let angular = of.angular + arm.cross(&of.linear);
            let impulse = Wrench { linear: of.linear.into(), angular: angular.into() };
            Reaction { guide: guide as u32, carrier: of.carrier, impulse }
        };
        holding.extend(stops.forces.iter().map(reaction));
        impacts.extend(stops.impacts.iter().map(reaction));
        let mut passed_on: Vec<u32> = stops.passed_on.iter().map(|&obstacle| self.guide(obstacle) as u32).collect();
        for of in &stops.supports {
            let held = cloth.held.iter().find(|held| held.vertex == of.vertex as usize);
            let guide = held.and_then(|held| held.guide);
            passed_on.extend(guide);
            let support = guide.map_or(Support::Own, Support::Guide);
            support.take(of.force, of.place, holding, external);
            support.take(of.impact, of.place, impacts, external);
        }
        passed_on.sort_unstable();
        passed_on.dedup();
        passed_on
    }
}

/// Carriers of an obstacle at the end of a motion; of a Frame, the obstacle's own `frame` in it.
fn carriers_of(guide: &Guide, motion: &Motion, responses: Option<&[Response]>, frame: &Isometry3<f64>) -> Carriers {
    let Guide::Obstacle { surface, .. } = guide else { return Carriers::Absent };
    let carrier = |(k, state): (usize, &HandleState), frame: &Isometry3<f64>| {
        let response = responses.map_or_else(Response::default, |responses| responses[k]);
        let carrying = pose(state.position, state.orientation);
        let arm = carrying.rotation * frame.translation.vector;
        let (spin, angular_acceleration) = (V3::from(state.spin), V3::from(response.angular_acceleration));
        let turning = angular_acceleration + response.mobility.precession(spin);
        Carrier {
            pose: carrying * frame,
            velocity: V3::from(state.velocity) + spin.cross(&arm),
            spin,
            mobility: matrices(&response.mobility.at(arm)),
            body: response.body,
            is_linked: response.is_linked,
            acceleration: V3::from(response.acceleration) + turning.cross(&arm),
            angular_acceleration,
            pending: [V3::zeros(); 2],
        }
    };
    match surface.carrier {
        partita_simulator::Carrier::Frame(_) => Carriers::Frame(Box::new(carrier((0, &motion.end[0]), frame))),
        partita_simulator::Carrier::Points(_) => {
            let of = |numbered| carrier(numbered, &Isometry3::identity());
            Carriers::Points(motion.end.iter().enumerate().map(of).collect())
        }
    }
}

/// Impulses that the cloth puts on carriers, which act over their next step, where the loads of
/// these are not iterated.
struct Pending {
    /// Sums of impulses and of their moments about the world's origin on what moves as one.
    sums: BTreeMap<One, [V3; 2]>,
    /// Length of that step `[s]`.
    dt: f64,
}

/// A rigid body by its number, or a carrier by its guide and its number there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum One {
    Body(u32),
    Carrier(u32, u32),
}

impl One {
    fn of(guide: u32, carrier: u32, body: Option<u32>) -> Self {
        body.map_or(Self::Carrier(guide, carrier), Self::Body)
    }
}

impl Pending {
    fn of(inputs: &Inputs, reactions: &[Reaction], dt: f64) -> Self {
        let mut sums = BTreeMap::<One, [V3; 2]>::new();
        for &Reaction { guide, carrier, impulse } in reactions {
            let responses = inputs.responses.get(guide as usize).and_then(Option::as_deref);
            let response = responses.and_then(|responses| responses.get(carrier as usize));
            let Some(response) = response.filter(|response| !response.is_iterated) else { continue };
            let Some(Some(motion)) = inputs.motions.get(guide as usize) else { continue };
            let at = V3::from(motion.end[carrier as usize].position);
            let [linear, angular] = [impulse.linear, impulse.angular].map(V3::from);
            let [sum, moment] = sums.entry(One::of(guide, carrier, response.body)).or_default();
            *sum += linear;
            *moment += angular + at.cross(&linear);
        }
        Self { sums, dt }
    }

    /// Accelerations by them of a place on what moves as one, linear and angular `[m/s²]`, `[rad/s²]`.
    fn gained(&self, one: One, at: &V3, mobility: &Mobility) -> [V3; 2] {
        let Some([impulse, moment]) = self.sums.get(&one) else { return [V3::zeros(); 2] };
        mobility.change(impulse, &(moment - at.cross(impulse))).map(|change| change / self.dt)
    }

    /// Adds them to the carriers of a guide.
    fn add_to(&self, carriers: &mut Carriers, guide: u32) {
        let add = |(number, carrier): (usize, &mut Carrier)| {
            let one = One::of(guide, number as u32, carrier.body);
            carrier.pending = self.gained(one, &carrier.pose.translation.vector, &carrier.mobility);
        };
        match carriers {
            Carriers::Absent => {}
            Carriers::Frame(frame) => add((0, frame)),
            Carriers::Points(points) => points.iter_mut().enumerate().for_each(add),
        }
    }
}

fn matrices(of: &partita_simulator::Mobility) -> Mobility {
    let [linear, coupling, angular] =
        [of.linear, of.coupling, of.angular].map(|rows| Matrix3::from_fn(|i, k| rows[i][k]));
    Mobility { linear, coupling, angular }
}
