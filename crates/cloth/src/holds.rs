//! Vertices that are held: where they are, or by hands that move along scripts.

use std::sync::Arc;

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use partita_simulator::{
    Guide, HandleState, HandleTable, Inputs, Motion, Reaction, SimulatorError, StepReport, Wrench,
};
use serde::Serialize;

use crate::not_started;

type V3 = Vector3<f64>;

/// Who holds which vertices.
///
/// Serialised it is what a simulator's identity takes of it: a script by the hand's name alone.
#[derive(Default, Serialize)]
pub struct Holds {
    pins: Vec<u32>,
    hands: Vec<Hand>,
}

/// A frame that moves as a script says, and the vertices fixed in it.
#[derive(Serialize)]
struct Hand {
    name: String,
    vertices: Vec<u32>,
    /// Of the vertices, in its axes `[m]`.
    places: Vec<V3>,
    /// Diagonal of the box around all of the cloth at time 0 `[m]`.
    #[serde(skip)]
    size: f64,
    #[serde(skip)]
    script: Script,
}

type Script = Arc<dyn Fn(f64) -> HandleState + Send + Sync>;

/// Where a vertex whose way is given ends a part of a step, and how fast.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// Its number.
    pub vertex: usize,
    /// `[m]`
    pub position: V3,
    /// `[m/s]`
    pub velocity: V3,
    /// To which guide it is attached; none if it is pinned or a hand's.
    pub guide: Option<u32>,
}

/// Support of a vertex: the carrier of its prescribed motion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Support {
    /// Nothing: the vertex is free.
    None,
    /// A pin or a kinematic grip of the cloth's own.
    Own,
    /// The carrier of an attachment, by the number of the guide.
    Guide(u32),
}

/// Reports the velocity of all kinematic vertices, but for those that are attached to what yields: along their mean velocity, the
/// smallest component of any of them; 0 where one of them has none. Grips that lift a sheet and draw its border together
/// have the velocity of the lift.
pub fn report_supports(held: &[Held], inputs: &Inputs, report: &mut StepReport) {
    let yields = |guide: u32| inputs.responses.get(guide as usize).is_some_and(Option::is_some);
    let velocities = || held.iter().filter(|held| !held.guide.is_some_and(yields)).map(|held| held.velocity);
    let (sum, count) = velocities().fold((V3::zeros(), 0.0), |(sum, count), v| (sum + v, count + 1.0));
    let mean = sum / f64::max(count, 1.0);
    let share = |v: V3| v.dot(&mean) / mean.norm_squared();
    let least = velocities().map(share).fold(1.0, f64::min);
    let common = if least > 0.0 { least * mean } else { V3::zeros() };
    report.support_velocity = common.into();
    report.support_spread = velocities().map(|v| (v - common).norm()).fold(0.0, f64::max);
}

impl Support {
    /// Records that this support took `impulse` `[N s]`, which acted at `place` `[m]`, off a vertex.
    pub fn take(self, impulse: V3, place: V3, reactions: &mut Vec<Reaction>, external: &mut Wrench) {
        match self {
            Self::None => {}
            Self::Own => {
                let moment = place.cross(&impulse);
                *external += Wrench { linear: (-impulse).into(), angular: (-moment).into() };
            }
            Self::Guide(guide) => reactions.push(Reaction { guide, carrier: 0, impulse: Wrench::force(impulse) }),
        }
    }
}

impl Holds {
    /// Holds vertices where they are.
    ///
    /// # Errors
    /// Names one that does not exist among so many, or that a hand holds.
    pub fn pin(&mut self, vertices: &[u32], among: usize) -> Result<(), SimulatorError> {
        are_among(vertices, among)?;
        if let Some(v) = vertices.iter().find(|v| self.hands.iter().any(|hand| hand.vertices.contains(v))) {
            return Err(SimulatorError::refused("pin", format!("vertex {v}"), "one that no hand holds"));
        }
        self.pins.extend(vertices);
        self.pins.sort_unstable();
        self.pins.dedup();
        Ok(())
    }

    /// Holds vertices by a hand: a frame with position, orientation, velocity and spin at time t `[s]` as `script(t)` says. They are fixed
    /// in it at the places where they are at time 0.
    ///
    /// The script must depend on t alone: the same t, the same state, or a step repeated after going back is another one. It is
    /// configuration, which a snapshot does not hold: it knows a script by the hand's name alone. A step
    /// fails in which a vertex leaps by more than the size of the cloth ([`Holds::check_step`]).
    ///
    /// # Errors
    /// Names a vertex that does not exist or is held already; or the hand, if its name is taken or what its script says of time
    /// 0 is not finite or no unit quaternion.
    pub fn pin_along(
        &mut self,
        name: &str,
        vertices: &[u32],
        positions: &[V3],
        script: impl Fn(f64) -> HandleState + Send + Sync + 'static,
    ) -> Result<(), SimulatorError> {
        are_among(vertices, positions.len())?;
        for (k, v) in vertices.iter().enumerate() {
            if self.holds(*v) || vertices[..k].contains(v) {
                let found = format!("vertex {v}");
                return Err(SimulatorError::refused(format!("hand `{name}`"), found, "one that is not held already"));
            }
        }
        if self.hands.iter().any(|hand| hand.name == name) {
            return Err(SimulatorError::refused("hand", format!("`{name}` twice"), "a name used once"));
        }
        let (name, vertices) = (name.into(), vertices.to_vec());
        let mut hand = Hand { name, vertices, places: vec![], size: 0.0, script: Arc::new(script) };
        hand.take_hold(positions)?;
        self.hands.push(hand);
        Ok(())
    }

    /// Hands take hold of vertices where they are now at time 0.
    ///
    /// # Errors
    /// What a script says of time 0 makes no sense.
    pub fn take_hold(&mut self, positions: &[V3]) -> Result<(), SimulatorError> {
        self.hands.iter_mut().try_for_each(|hand| hand.take_hold(positions))
    }

    /// Whether hands move in a step of `dt` from `begin` `[s]` as cloth can follow.
    ///
    /// # Errors
    /// Names a hand by whose script a vertex ends the step farther from where its velocity at the start
    /// would carry it than the cloth is large. Cloth in such a step is wrong in any case, and takes long.
    pub fn check_step(&self, begin: f64, dt: f64) -> Result<(), SimulatorError> {
        for hand in &self.hands {
            let off = hand.deviation(begin, dt)?;
            if off > hand.size {
                let found = format!("{off:.3e} m off where its velocity would carry it in {dt:.3e} s");
                let expected =
                    format!("at most the size of the cloth, {:.3e} m (slower, or in shorter steps)", hand.size);
                return Err(SimulatorError::failed(hand.thing(begin + dt), found, expected));
            }
        }
        Ok(())
    }

    /// Whether a vertex is pinned, or a hand's.
    pub fn holds(&self, vertex: u32) -> bool {
        self.pins.contains(&vertex) || self.hands.iter().any(|hand| hand.vertices.contains(&vertex))
    }

    /// Support of a vertex in a step with such motions.
    pub fn support(&self, vertex: u32, guides: &[Guide], motions: &[Option<Motion>]) -> Support {
        if self.holds(vertex) {
            return Support::Own;
        }
        let carries = |(guide, motion): (&Guide, &Option<Motion>)| {
            matches!(guide, Guide::Attachment { own } if own.index == vertex) && motion.is_some()
        };
        let found = guides.iter().zip(motions).position(carries);
        found.map_or(Support::None, |guide| Support::Guide(guide as u32))
    }

    /// # Errors
    /// Names the first guide that is an attachment of a particle which is held.
    pub fn check_attachments(&self, table: &HandleTable, guides: &[Guide]) -> Result<(), SimulatorError> {
        for (number, guide) in guides.iter().enumerate() {
            if let Guide::Attachment { own } = guide
                && self.holds(own.index)
            {
                let found = format!("an attachment of {}", table.describe(*own));
                return Err(SimulatorError::refused(format!("guide {number}"), found, "a particle that is not held"));
            }
        }
        Ok(())
    }

    /// Where all that is held, or attached to what moves so, ends a part of a step at this time `[s]`, to `held`; what is pinned stays at
    /// its position. Guides without a motion hold nothing.
    ///
    /// # Errors
    /// What a script says is not finite or no unit quaternion.
    pub fn ask(
        &self,
        time: f64,
        guides: &[Guide],
        motions: &[Option<Motion>],
        positions: &[V3],
        held: &mut Vec<Held>,
    ) -> Result<(), SimulatorError> {
        held.clear();
        held.extend(self.pins.iter().map(|&v| {
            let vertex = v as usize;
            Held { vertex, position: positions[vertex], velocity: V3::zeros(), guide: None }
        }));
        for hand in &self.hands {
            let frame = hand.during(time)?;
            held.extend(hand.vertices.iter().zip(&hand.places).map(|(&v, place)| {
                let arm = frame.turn * place;
                Held {
                    vertex: v as usize,
                    position: frame.position + arm,
                    velocity: frame.velocity + frame.spin.cross(&arm),
                    guide: None,
                }
            }));
        }
        held.extend((0..).zip(guides.iter().zip(motions)).filter_map(|(number, pair)| {
            let (Guide::Attachment { own }, Some(motion)) = pair else { return None };
            let (position, velocity) = (motion.end[0].position.into(), motion.end[0].velocity.into());
            Some(Held { vertex: own.index as usize, position, velocity, guide: Some(number) })
        }));
        Ok(())
    }
}

/// # Errors
/// There was a step before this time `[s]`, or there are guides, and what is held has to be set before both.
pub fn may_hold(time: f64, guides: &[Guide]) -> Result<(), SimulatorError> {
    not_started("pins", time)?;
    if guides.is_empty() {
        return Ok(());
    }
    Err(SimulatorError::refused("pins", "guides", "pins before guides"))
}

fn are_among(vertices: &[u32], among: usize) -> Result<(), SimulatorError> {
    match vertices.iter().find(|v| **v as usize >= among) {
        Some(v) => Err(SimulatorError::refused("pin", format!("vertex {v}"), format!("one of {among} vertices"))),
        None => Ok(()),
    }
}

struct Frame {
    position: V3,
    turn: UnitQuaternion<f64>,
    velocity: V3,
    spin: V3,
}

const SENSE: &str = "finite numbers, a unit quaternion";

/// How far from 1 the square of a quaternion's norm may be [-].
const ROUNDING: f64 = 1e-6;

impl Hand {
    /// Fixes its vertices where they are at time 0.
    fn take_hold(&mut self, positions: &[V3]) -> Result<(), SimulatorError> {
        let frame =
            self.at(0.0).map_err(|found| SimulatorError::refused(self.thing(0.0), format!("{found:?}"), SENSE))?;
        let place = |&v: &u32| frame.turn.inverse() * (positions[v as usize] - frame.position);
        self.places = self.vertices.iter().map(place).collect();
        let low = positions.iter().copied().reduce(|low, x| low.inf(&x)).unwrap_or_default();
        let high = positions.iter().copied().reduce(|high, x| high.sup(&x)).unwrap_or_default();
        self.size = (high - low).norm();
        Ok(())
    }

    /// Largest distance of a vertex after a step of `dt` from `begin` `[s]` from where its velocity and
    /// spin at the start would have carried it `[m]`.
    fn deviation(&self, begin: f64, dt: f64) -> Result<f64, SimulatorError> {
        let [from, to] = [self.during(begin)?, self.during(begin + dt)?];
        let turn = UnitQuaternion::from_scaled_axis(dt * from.spin) * from.turn;
        let carried = from.position + dt * from.velocity;
        let off = |place: &V3| (to.position + to.turn * place - carried - turn * place).norm();
        Ok(self.places.iter().map(off).fold(0.0, f64::max))
    }

    /// Where the script has it in a step.
    fn during(&self, time: f64) -> Result<Frame, SimulatorError> {
        self.at(time).map_err(|found| SimulatorError::failed(self.thing(time), format!("{found:?}"), SENSE))
    }

    /// Where the script has it at a time, if that makes sense; else what it says.
    fn at(&self, time: f64) -> Result<Frame, HandleState> {
        let state = (self.script)(time);
        let [x, y, z, w] = state.orientation;
        let q = Quaternion::new(w, x, y, z);
        if !state.is_finite() || (q.norm_squared() - 1.0).abs() > ROUNDING {
            return Err(state);
        }
        let turn = UnitQuaternion::new_normalize(q);
        Ok(Frame { position: state.position.into(), turn, velocity: state.velocity.into(), spin: state.spin.into() })
    }

    fn thing(&self, time: f64) -> String {
        format!("script of hand `{}` at {time} s", self.name)
    }
}
