//! A rigid body that turns as easily about every axis: with inertia I in all directions, τ = I ω̇
//! has no gyroscopic term and a step is exact in velocity and spin.

use std::sync::Arc;

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use partita::{
    prelude::*,
    simulator::{
        Carrier, Follows, Guide, HandleTable, Identity, Inputs, Kind, Reaction, Snapshot, StepReport, Surface, check,
        check_guides,
    },
};

pub struct Rotor {
    table: HandleTable,
    name: String,
    frame: HandleId,
    mass: f64,
    inertia: f64,
    drive: Wrench,
    surfaces: Vec<Arc<Surface>>,
    guides: Vec<Guide>,
    state: (f64, HandleState),
}

impl Rotor {
    /// At rest at the origin; mass `[kg]` and moment of inertia about any axis `[kg m²]`.
    pub fn new(name: &str, mass: f64, inertia: f64) -> Self {
        let mut table = HandleTable::new("rotor", name);
        let frame = table.add("frame", Kind::Frame, 1).unwrap();
        let (name, drive, state) = (name.into(), Wrench::ZERO, (0.0, HandleState::default()));
        Self { table, name, frame, mass, inertia, drive, surfaces: Vec::new(), guides: Vec::new(), state }
    }

    /// With a force and torque of its own [N, N m].
    pub fn driven(self, drive: Wrench) -> Self {
        Self { drive, ..self }
    }

    /// With a surface whose furthest vertex is `extent` `[m]` from the centre.
    pub fn reaching(self, extent: f64) -> Self {
        let surface = Surface {
            name: "fin".into(),
            carrier: Carrier::Frame(self.frame),
            vertices: vec![[0.0; 3], [0.5 * extent, 0.0, 0.0], [0.0, extent, 0.0]],
            triangles: vec![[0, 1, 2]],
            lines: vec![],
            two_sided: true,
            primitive: None,
            friction: 0.0,
            restitution: 0.0,
            thickness: 0.0,
        };
        Self { surfaces: vec![Arc::new(surface)], ..self }
    }

    pub fn frame(&self) -> HandleId {
        self.frame
    }

    fn of(&self) -> Identity {
        Identity::new(&self.table, &(self.mass, self.inertia, self.drive, &self.guides))
    }

    /// Symplectic Euler under a force and torque.
    fn moved(&self, dt: f64, wrench: Wrench) -> HandleState {
        let state = &self.state.1;
        let velocity = Vector3::from(state.velocity) + dt / self.mass * Vector3::from(wrench.linear);
        let spin = Vector3::from(state.spin) + dt / self.inertia * Vector3::from(wrench.angular);
        let [x, y, z, w] = state.orientation;
        let turn = UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z));
        HandleState {
            position: (Vector3::from(state.position) + dt * velocity).into(),
            velocity: velocity.into(),
            orientation: (UnitQuaternion::from_scaled_axis(dt * spin) * turn).coords.into(),
            spin: spin.into(),
        }
    }
}

impl Simulator for Rotor {
    fn name(&self) -> &str {
        &self.name
    }
    fn time(&self) -> f64 {
        self.state.0
    }
    fn handles(&self) -> &HandleTable {
        &self.table
    }
    fn read(&self, handles: &[HandleId], out: &mut [HandleState]) -> Result<(), SimulatorError> {
        self.table.read_with(handles, out, |_| self.state.1)
    }
    fn surfaces(&self) -> &[Arc<Surface>] {
        &self.surfaces
    }
    fn step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        check(&self.table, &self.guides, dt, inputs)?;
        let wrench = inputs.loads.iter().fold(self.drive, |sum, &(_, load)| sum + load);
        let struck = inputs.impulses.iter().fold(Wrench::ZERO, |sum, &(_, impulse)| sum + impulse);
        let free = self.moved(dt, wrench + struck.scaled(1.0 / dt));
        let mut report = StepReport::new(self.state.0 + dt);
        let end = match inputs.motions.first() {
            // On the carrier: what the free step has in momentum beyond the carrier's end.
            Some(Some(motion)) => {
                let (end, from) = (motion.end[0], |a: [f64; 3], b: [f64; 3]| Vector3::from(a) - Vector3::from(b));
                let linear = (self.mass * from(free.velocity, end.velocity)).into();
                let angular = (self.inertia * from(free.spin, end.spin)).into();
                report.reactions.push(Reaction { guide: 0, carrier: 0, impulse: Wrench { linear, angular } });
                end
            }
            _ => free,
        };
        self.state = (report.time, end);
        Ok(report)
    }
    fn snapshot(&self, reuse: Option<Snapshot>) -> Snapshot {
        Snapshot::renew(reuse, self.of(), self.state.0, &self.state)
    }
    fn retract(&mut self, to: &Snapshot) -> Result<(), SimulatorError> {
        to.get(self.of()).map(|state| self.state = *state)
    }
    fn snapshot_from_bytes(&self, bytes: &[u8]) -> Result<Snapshot, SimulatorError> {
        Snapshot::from_bytes::<(f64, HandleState)>(self.of(), bytes)
    }
    fn follows(&self) -> Follows {
        Follows { frames: true, ..Follows::default() }
    }
    fn follow(&mut self, guides: Vec<Guide>) -> Result<(), SimulatorError> {
        check_guides(&self.table, self.follows(), &self.guides, &guides).map(|()| self.guides = guides)
    }
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}
