//! A point mass on a spring: the smallest simulator that can lead.

use std::{any::Any, sync::Arc};

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::{
    HandleId, HandleState, HandleTable, Identity, Inputs, Kind, Ledger, Precision, Simulator, SimulatorError, Snapshot,
    StepReport, Surface, Wrench, check, check_not_negative, check_positive, check_vector,
};

/// Parameters of a [`MassOnSpring`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SpringParameters {
    /// Mass `[kg]`. Default 1.
    pub mass: f64,
    /// Spring constant `[N/m]`; 0 leaves the mass free. Default 0.
    pub stiffness: f64,
    /// Force constant against velocity `[N s/m]`. Default 0.
    pub damping: f64,
    /// Where the spring is fixed and has no force `[m]`.
    pub anchor: [f64; 3],
    /// Gravity `[m/s²]`. Default none.
    pub gravity: [f64; 3],
}

impl Default for SpringParameters {
    fn default() -> Self {
        Self { mass: 1.0, stiffness: 0.0, damping: 0.0, anchor: [0.0; 3], gravity: [0.0; 3] }
    }
}

/// A point mass on a damped spring of rest length zero, by symplectic Euler:
/// v += dt (F − k (x − a) − c v)/m + dt g, then x += dt v.
pub struct MassOnSpring {
    name: String,
    table: HandleTable,
    parameters: SpringParameters,
    state: State,
}

#[derive(Clone, Serialize, Deserialize)]
struct State {
    time: f64,
    position: Vector3<f64>,
    velocity: Vector3<f64>,
    /// Impulse and its moment about the origin, of spring, damper and gravity since time 0.
    external: (Vector3<f64>, Vector3<f64>),
}

impl MassOnSpring {
    /// At rest at the anchor.
    ///
    /// # Errors
    /// A parameter is not finite, the mass is not positive, or stiffness or damping is negative.
    pub fn new(name: &str, parameters: SpringParameters) -> Result<Self, SimulatorError> {
        check_positive("mass [kg]", parameters.mass)?;
        check_not_negative("stiffness [N/m]", parameters.stiffness)?;
        check_not_negative("damping [N s/m]", parameters.damping)?;
        check_vector("anchor [m]", parameters.anchor)?;
        check_vector("gravity [m/s²]", parameters.gravity)?;
        let mut table = HandleTable::new("mass-on-spring", name);
        table.add("mass", Kind::Point, 1)?;
        let position = parameters.anchor.into();
        let state = State { time: 0.0, position, velocity: Vector3::zeros(), external: Default::default() };
        Ok(Self { name: name.into(), table, parameters, state })
    }

    /// Moves the mass there `[m]`, with that velocity `[m/s]`.
    ///
    /// # Errors
    /// A number is not finite.
    pub fn started_at(mut self, position: [f64; 3], velocity: [f64; 3]) -> Result<Self, SimulatorError> {
        check_vector("position [m]", position)?;
        check_vector("velocity [m/s]", velocity)?;
        (self.state.position, self.state.velocity) = (position.into(), velocity.into());
        Ok(self)
    }

    /// The mass.
    pub fn mass(&self) -> HandleId {
        self.table.handle(0)
    }

    fn of(&self) -> Identity {
        Identity::new(&self.table, &self.parameters)
    }
}

impl Simulator for MassOnSpring {
    fn name(&self) -> &str {
        &self.name
    }

    fn time(&self) -> f64 {
        self.state.time
    }

    fn handles(&self) -> &HandleTable {
        &self.table
    }

    fn read(&self, handles: &[HandleId], out: &mut [HandleState]) -> Result<(), SimulatorError> {
        self.table.read_with(handles, out, |_| HandleState::point(self.state.position, self.state.velocity))
    }

    fn surfaces(&self) -> &[Arc<Surface>] {
        &[]
    }

    fn step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        check(&self.table, &[], dt, inputs)?;
        let SpringParameters { mass, stiffness, damping, anchor, gravity } = self.parameters;
        let struck: Vector3<f64> = inputs.impulses.iter().map(|(_, impulse)| Vector3::from(impulse.linear)).sum();
        let (x, v) = (self.state.position, self.state.velocity + struck / mass);

        let load: Vector3<f64> = inputs.loads.iter().map(|(_, wrench)| Vector3::from(wrench.linear)).sum();
        let own = mass * Vector3::from(gravity) - stiffness * (x - Vector3::from(anchor)) - damping * v;
        let mut next = self.state.clone();
        next.velocity = v + dt / mass * (load + own);
        next.position += dt * next.velocity;
        next.external.0 += dt * own;
        // m x'×v' = m x×v + x×f dt, since x' − x is along v': an impulse acts where the step began.
        next.external.1 += x.cross(&(dt * own));
        next.time += dt;

        if !(next.position + next.velocity).iter().all(|x| x.is_finite()) {
            return Err(SimulatorError::failed("mass", format!("velocity {:?}", next.velocity), "finite numbers"));
        }
        self.state = next;
        Ok(StepReport::new(self.state.time))
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

    fn ledger(&self) -> Option<Ledger> {
        let SpringParameters { mass, stiffness, anchor, gravity, .. } = self.parameters;
        let (x, v) = (self.state.position, self.state.velocity);
        Some(Ledger {
            mass,
            momentum: (mass * v).into(),
            angular_momentum: (mass * x.cross(&v)).into(),
            kinetic: 0.5 * mass * v.norm_squared(),
            potential: 0.5 * stiffness * (x - Vector3::from(anchor)).norm_squared()
                - mass * Vector3::from(gravity).dot(&x),
            external: Some(Wrench { linear: self.state.external.0.into(), angular: self.state.external.1.into() }),
            precision: Precision::Double,
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
