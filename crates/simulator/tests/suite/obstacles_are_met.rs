//! Law 8 on a follower of obstacles: a box that is met keeps it, one that is not met breaks it.

use std::{any::Any, sync::Arc};

use partita_simulator::{
    Follows, Guide, HandleId, HandleState, HandleTable, Identity, Inputs, Kind, Ledger, Motion, Reaction, Simulator,
    SimulatorError, Snapshot, StepReport, Surface, Wrench, check, check_guides, laws,
};
use serde::{Deserialize, Serialize};

/// How the marbles take an obstacle.
#[derive(Clone, Copy, PartialEq)]
enum Contact {
    /// They stay above its highest vertex.
    Sound,
    /// They fall through it.
    Unseen,
    /// They stay above, but say it was another carrier.
    OnACarrierThatDoesNotExist,
    /// They put torques on the Points that carry it.
    TurnsPoints,
    /// The torque that they report is about the world's origin, not about the carrier.
    TurnsAboutTheOrigin,
    /// They go on being lifted when it is gone.
    EvenWithoutMotion,
}

const MASS: f64 = 0.2;

/// Two marbles, free but for obstacles, which they take for floors as high as their highest vertex.
struct Marbles {
    table: HandleTable,
    follows: Follows,
    contact: Contact,
    guides: Vec<Guide>,
    state: State,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct State {
    time: f64,
    positions: Vec<[f64; 3]>,
    velocities: Vec<[f64; 3]>,
}

impl Marbles {
    fn new(follows: Follows, contact: Contact) -> Self {
        let mut table = HandleTable::new("marbles", "marbles");
        table.add("marbles", Kind::Point, 2).unwrap();
        let positions = vec![[0.0; 3], [0.2, 0.0, 0.0]];
        let state = State { velocities: vec![[0.0; 3]; 2], positions, ..State::default() };
        Self { table, follows, contact, guides: Vec::new(), state }
    }

    fn of(&self) -> Identity {
        Identity::new(&self.table, &self.guides)
    }

    /// Height and speed of the floor that obstacle number `i` is at the end of its motion.
    fn floor(&self, i: usize, motion: &Motion) -> Option<(f64, f64)> {
        let Guide::Obstacle { surface, thickness, .. } = &self.guides[i] else { return None };
        if self.contact == Contact::Unseen {
            return None;
        }
        let heights = surface.posed(&motion.end).into_iter().map(|[_, y, _]| y);
        Some((heights.fold(f64::NEG_INFINITY, f64::max) + thickness, motion.end[0].velocity[1]))
    }

    /// The impulse −`gained` y at `x` on guide `i`: on the box's Frame with its torque, or shared by the
    /// top corners so that they together turn the box as much.
    fn reactions(&self, i: usize, motion: &Motion, x: [f64; 3], gained: f64) -> Vec<Reaction> {
        let Guide::Obstacle { surface, .. } = &self.guides[i] else { return Vec::new() };
        let reaction = |carrier: u32, share: f64, angular| {
            let impulse = Wrench { linear: [0.0, -gained * share, 0.0], angular };
            Reaction { guide: i as u32, carrier, impulse }
        };
        let corners = surface.posed(&motion.end);
        let middle = [0, 1, 2].map(|axis| 0.5 * (corners[0][axis] + corners[7][axis]));
        let r = [0, 1, 2].map(|axis| x[axis] - middle[axis]);
        match (surface.carrier.handles().len(), self.contact) {
            (1, Contact::OnACarrierThatDoesNotExist) => vec![reaction(1, 1.0, [0.0; 3])],
            (1, Contact::TurnsAboutTheOrigin) => vec![reaction(0, 1.0, [x[2] * gained, 0.0, -x[0] * gained])],
            (1, _) => vec![reaction(0, 1.0, [r[2] * gained, 0.0, -r[0] * gained])],
            (_, contact) => {
                let torque = if contact == Contact::TurnsPoints { [gained, 0.0, 0.0] } else { [0.0; 3] };
                let side = |corner: usize, axis: usize| r[axis] / (corners[corner][axis] - middle[axis]);
                let share = |corner: usize| 0.25 * (1.0 + side(corner, 0)) * (1.0 + side(corner, 2));
                [2, 3, 6, 7].map(|corner| reaction(corner as u32, share(corner), torque)).into()
            }
        }
    }
}

impl Simulator for Marbles {
    fn name(&self) -> &str {
        "marbles"
    }

    fn time(&self) -> f64 {
        self.state.time
    }

    fn handles(&self) -> &HandleTable {
        &self.table
    }

    fn read(&self, handles: &[HandleId], out: &mut [HandleState]) -> Result<(), SimulatorError> {
        let State { positions, velocities, .. } = &self.state;
        self.table.read_with(handles, out, |i| HandleState::point(positions[i], velocities[i]))
    }

    fn surfaces(&self) -> &[Arc<Surface>] {
        &[]
    }

    fn step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        check(&self.table, &self.guides, dt, inputs)?;
        let mut next = self.state.clone();
        let loads = inputs.loads.iter().map(|(handle, load)| (handle, load.scaled(dt)));
        for (handle, impulse) in loads.chain(inputs.impulses.iter().map(|(handle, impulse)| (handle, *impulse))) {
            let v = &mut next.velocities[handle.index as usize];
            (0..3).for_each(|axis| v[axis] += impulse.linear[axis] / MASS);
        }
        for (x, v) in next.positions.iter_mut().zip(&next.velocities) {
            (0..3).for_each(|axis| x[axis] += dt * v[axis]);
        }
        let mut reactions = Vec::new();
        for (i, motion) in inputs.motions.iter().enumerate() {
            let Some(motion) = motion else { continue };
            let Some((floor, speed)) = self.floor(i, motion) else { continue };
            for (x, v) in next.positions.iter_mut().zip(&mut next.velocities).filter(|(x, _)| x[1] < floor) {
                let gained = MASS * (speed - v[1]).max(0.0);
                (x[1], v[1]) = (floor, v[1].max(speed));
                reactions.extend(self.reactions(i, motion, *x, gained));
            }
        }
        reactions.sort_by_key(|reaction| (reaction.guide, reaction.carrier));
        next.time += dt;
        let numbers = next.positions.iter().chain(&next.velocities).flatten();
        if !numbers.into_iter().all(|x| x.is_finite()) {
            return Err(SimulatorError::failed("marbles", format!("{:?}", next.velocities), "finite numbers"));
        }
        if self.contact == Contact::EvenWithoutMotion && inputs.motions.iter().all(Option::is_none) {
            reactions.push(Reaction { guide: 0, carrier: 0, impulse: Wrench::ZERO });
        }
        self.state = next;
        Ok(StepReport { reactions, ..StepReport::new(self.state.time) })
    }

    fn snapshot(&self, reuse: Option<Snapshot>) -> Snapshot {
        Snapshot::renew(reuse, self.of(), self.state.time, &self.state)
    }

    fn retract(&mut self, to: &Snapshot) -> Result<(), SimulatorError> {
        self.state.clone_from(to.get(self.of())?);
        Ok(())
    }

    fn snapshot_from_bytes(&self, bytes: &[u8]) -> Result<Snapshot, SimulatorError> {
        Snapshot::from_bytes::<State>(self.of(), bytes)
    }

    fn follows(&self) -> Follows {
        self.follows
    }

    fn follow(&mut self, guides: Vec<Guide>) -> Result<(), SimulatorError> {
        check_guides(&self.table, self.follows, &self.guides, &guides)?;
        self.guides = guides;
        Ok(())
    }

    fn ledger(&self) -> Option<Ledger> {
        let State { positions: x, velocities: v, .. } = &self.state;
        let sum = |axis: usize| MASS * v.iter().map(|v| v[axis]).sum::<f64>();
        let turn = |a: usize, b: usize| MASS * x.iter().zip(v).map(|(x, v)| x[a] * v[b] - x[b] * v[a]).sum::<f64>();
        Some(Ledger {
            mass: 2.0 * MASS,
            momentum: [sum(0), sum(1), sum(2)],
            angular_momentum: [turn(1, 2), turn(2, 0), turn(0, 1)],
            external: Some(Wrench::ZERO),
            ..Ledger::default()
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

const RIGID: Follows = Follows {
    points: false,
    frames: false,
    rigid_surfaces: true,
    deforming_surfaces: false,
    lines: false,
    impacts: false,
    tolerance: 0.0,
};
const DEFORMING: Follows = Follows { rigid_surfaces: false, deforming_surfaces: true, ..RIGID };
const BOTH: Follows = Follows { rigid_surfaces: true, ..DEFORMING };

fn law_8(follows: Follows, contact: Contact) -> Result<(), String> {
    let make = || -> Box<dyn Simulator> { Box::new(Marbles::new(follows, contact)) };
    let suite = laws::Suite { make: &make, dt: 1.0 / 1024.0, load: 0.01, free: &make };
    laws::law_8(&suite).map_err(|broken| broken.to_string())
}

mod marbles_that_meet_both_kinds_of_box {
    use super::*;
    partita_simulator::simulator_laws!(
        Marbles::new(BOTH, Contact::Sound),
        dt = 1.0 / 1024.0,
        load = 0.01,
        free = Marbles::new(BOTH, Contact::Sound),
    );
}

#[test]
fn a_box_of_either_kind_is_met() {
    for follows in [RIGID, DEFORMING, BOTH] {
        law_8(follows, Contact::Sound).unwrap();
    }
}

/// A simulator that follows both kinds must meet both: the second kind has a trace of its own.
#[test]
fn a_box_that_is_not_met_breaks_the_law() {
    for follows in [RIGID, DEFORMING, BOTH] {
        let message = law_8(follows, Contact::Unseen).unwrap_err();
        assert!(message.starts_with("law 8") && message.contains("guide 0, a box pushed up"), "{message}");
    }
}

#[test]
fn reactions_on_carriers_that_do_not_exist_break_the_law() {
    let message = law_8(RIGID, Contact::OnACarrierThatDoesNotExist).unwrap_err();
    assert!(message.contains("reaction 0 is on a carrier that does not exist"), "{message}");
}

#[test]
fn a_torque_on_a_point_breaks_the_law() {
    for follows in [DEFORMING, BOTH] {
        let message = law_8(follows, Contact::TurnsPoints).unwrap_err();
        assert!(message.contains("reaction 0 has a torque on a Point"), "{message}");
    }
}

/// Where the momentum is right and only the lever arm is not.
#[test]
fn a_torque_about_another_place_than_the_carrier_breaks_the_law() {
    let message = law_8(RIGID, Contact::TurnsAboutTheOrigin).unwrap_err();
    assert!(message.contains("law 8") && message.contains("angular momentum grew by"), "{message}");
}

#[test]
fn a_reaction_of_a_guide_that_does_not_act_breaks_the_law() {
    let message = law_8(RIGID, Contact::EvenWithoutMotion).unwrap_err();
    assert!(message.contains("at step 72: reaction 0 is of a guide without motion"), "{message}");
}
