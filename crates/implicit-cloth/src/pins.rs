//! Vertices that are held: where they are, or by hands that move along scripts.

use std::sync::Arc;

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use partita_simulator::{HandleState, SimulatorError};

use crate::ImplicitCloth;

type V3 = Vector3<f64>;

/// A frame that moves as a script says, and the vertices fixed in it.
pub(crate) struct Hand {
    pub name: String,
    pub vertices: Vec<u32>,
    /// Of the vertices, in its axes `[m]`.
    pub places: Vec<V3>,
    script: Arc<dyn Fn(f64) -> HandleState + Send + Sync>,
}

/// Where a vertex that is held ends a part of a step, and how fast.
pub(crate) struct Held {
    pub vertex: usize,
    /// `[m]`
    pub position: V3,
    /// `[m/s]`
    pub velocity: V3,
}

impl Hand {
    /// Fixes its vertices where they are at time 0.
    pub fn take_hold(&mut self, positions: &[V3]) -> Result<(), SimulatorError> {
        let frame =
            self.at(0.0).map_err(|found| SimulatorError::refused(self.thing(0.0), format!("{found:?}"), SENSE))?;
        let place = |&v: &u32| frame.turn.inverse() * (positions[v as usize] - frame.position);
        self.places = self.vertices.iter().map(place).collect();
        Ok(())
    }

    /// Where the script has it at a time, if that makes sense; else what it says.
    fn at(&self, time: f64) -> Result<Frame, HandleState> {
        let state = (self.script)(time);
        let [x, y, z, w] = state.orientation;
        let q = Quaternion::new(w, x, y, z);
        if !state.is_finite() || (q.norm_squared() - 1.0).abs() > 1e-6 {
            return Err(state);
        }
        let turn = UnitQuaternion::new_normalize(q);
        Ok(Frame { position: state.position.into(), turn, velocity: state.velocity.into(), spin: state.spin.into() })
    }

    fn thing(&self, time: f64) -> String {
        format!("script of hand `{}` at {time} s", self.name)
    }
}

struct Frame {
    position: V3,
    turn: UnitQuaternion<f64>,
    velocity: V3,
    spin: V3,
}

const SENSE: &str = "finite numbers, a unit quaternion";

impl ImplicitCloth {
    /// Holds vertices where they are. What is held cannot be attached.
    ///
    /// # Errors
    /// Names one that does not exist or that a hand holds, or says that the cloth is in a scene or there was a step.
    pub fn pin(&mut self, vertices: &[u32]) -> Result<(), SimulatorError> {
        self.check_pins(vertices)?;
        if let Some(v) = vertices.iter().find(|v| self.hands.iter().any(|hand| hand.vertices.contains(v))) {
            return Err(SimulatorError::refused("pin", format!("vertex {v}"), "one that no hand holds"));
        }
        self.pins.extend(vertices);
        self.pins.sort_unstable();
        self.pins.dedup();
        self.identity = Default::default();
        Ok(())
    }

    /// Holds vertices by a hand: a frame with position, orientation, velocity and spin `[rad/s]` at time t `[s]` as `script(t)` says,
    /// which have to fit each other. They are fixed
    /// in it at the places where they are at time 0, and end each step, or part of one, with exactly its position and velocity.
    ///
    /// The script must depend on t alone: the same t, the same state, or a step repeated after going back is another one.
    /// It is configuration, which a snapshot does not hold: it knows a script by the hand's name alone.
    ///
    /// ```
    /// use partita_implicit_cloth::{Fabric, ImplicitCloth};
    /// use partita_mesh::{Mesh, Side};
    /// use partita_simulator::{HandleState, Inputs, Simulator};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mesh = Mesh::grid([4, 4], [0.2, 0.2])?;
    /// let top = mesh.edge(Side::Top)?;
    /// let mut towel = ImplicitCloth::new("towel", mesh, Fabric::cotton())?;
    /// towel.pin_along("shaking", &top, |t| {
    ///     let (sin, cos) = (20.0 * t).sin_cos();
    ///     HandleState::point([0.0, 0.0, 0.02 * sin], [0.0, 0.0, 0.4 * cos])
    /// })?;
    /// towel.step(0.02, Inputs::NONE)?;
    /// assert_eq!(towel.positions()[0].z, 0.02 * 0.4_f64.sin());
    /// assert_eq!(towel.velocities()[0].z, 0.4 * 0.4_f64.cos());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Names a vertex that does not exist or is held already; or the hand, if its name is taken or what its script says of time
    /// 0 is not finite or no unit quaternion; or says that there are guides or there was a step.
    pub fn pin_along(
        &mut self,
        name: &str,
        vertices: &[u32],
        script: impl Fn(f64) -> HandleState + Send + Sync + 'static,
    ) -> Result<(), SimulatorError> {
        self.check_pins(vertices)?;
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
        let mut hand = Hand { name, vertices, places: vec![], script: Arc::new(script) };
        hand.take_hold(&self.state.positions)?;
        self.hands.push(hand);
        self.identity = Default::default();
        Ok(())
    }

    fn check_pins(&self, vertices: &[u32]) -> Result<(), SimulatorError> {
        self.not_started("pins")?;
        if !self.guides.is_empty() {
            return Err(SimulatorError::refused("pins", "guides", "pins before guides"));
        }
        let n = self.sheet.masses.len();
        match vertices.iter().find(|v| **v as usize >= n) {
            Some(v) => Err(SimulatorError::refused("pin", format!("vertex {v}"), format!("one of {n} vertices"))),
            None => Ok(()),
        }
    }

    /// Whether a vertex is pinned, or a hand's.
    pub(crate) fn holds(&self, vertex: u32) -> bool {
        self.pins.contains(&vertex) || self.hands.iter().any(|hand| hand.vertices.contains(&vertex))
    }

    /// Where what is held ends a part of a step at this time, to `work.held`.
    pub(crate) fn ask_hands(&mut self, time: f64) -> Result<(), SimulatorError> {
        let (held, positions) = (&mut self.work.held, &self.work.next.positions);
        held.clear();
        held.extend(self.pins.iter().map(|&v| {
            let vertex = v as usize;
            Held { vertex, position: positions[vertex], velocity: V3::zeros() }
        }));
        for hand in &self.hands {
            let frame =
                hand.at(time).map_err(|found| SimulatorError::failed(hand.thing(time), format!("{found:?}"), SENSE))?;
            held.extend(hand.vertices.iter().zip(&hand.places).map(|(&v, place)| {
                let arm = frame.turn * place;
                Held {
                    vertex: v as usize,
                    position: frame.position + arm,
                    velocity: frame.velocity + frame.spin.cross(&arm),
                }
            }));
        }
        Ok(())
    }
}
