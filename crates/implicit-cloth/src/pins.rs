//! Vertices that are held: where they are, or by hands that move along scripts.

use partita_cloth::may_hold;
use partita_simulator::{HandleState, SimulatorError};

use crate::ImplicitCloth;

impl ImplicitCloth {
    /// Holds vertices where they are. What is held cannot be attached.
    ///
    /// # Errors
    /// Names one that does not exist or that a hand holds, or says that the cloth is in a scene or there was a step.
    pub fn pin(&mut self, vertices: &[u32]) -> Result<(), SimulatorError> {
        may_hold(self.state.time, &self.guides)?;
        self.holds.pin(vertices, self.sheet.masses.len())?;
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
        may_hold(self.state.time, &self.guides)?;
        self.holds.pin_along(name, vertices, &self.state.positions, script)?;
        self.identity = Default::default();
        Ok(())
    }
}
