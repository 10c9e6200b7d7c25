//! A chain of point masses: the smallest simulator that can follow.

use std::{any::Any, sync::Arc};

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::{
    Follows, Guide, HandleId, HandleState, HandleTable, Identity, Inputs, Kind, Ledger, Mobility, Precision, Reaction,
    Simulator, SimulatorError, Snapshot, StepReport, Surface, Wrench, check, check_guides, check_not_negative,
    check_positive, check_vector,
};

/// Parameters of a [`Chain`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChainParameters {
    /// Mass of each point `[kg]`. Default 0.1.
    pub mass: f64,
    /// Spring constant of each link `[N/m]`. Default 100.
    pub stiffness: f64,
    /// Damping of each link along itself `[N s/m]`. Default 0.
    pub damping: f64,
    /// Gravity `[m/s²]`. Default 9.81 downwards.
    pub gravity: [f64; 3],
}

impl Default for ChainParameters {
    fn default() -> Self {
        Self { mass: 0.1, stiffness: 100.0, damping: 0.0, gravity: [0.0, -9.81, 0.0] }
    }
}

/// Point masses in a row, joined by damped springs of the length they start with, by symplectic
/// Euler: stable for dt < √(m/k), two links pulling on each mass.
///
/// Follows attachments of its points: an attached point ends the step at its carrier's position
/// with its carrier's velocity, and the carrier gets the impulse that this took.
pub struct Chain {
    name: String,
    table: HandleTable,
    parameters: ChainParameters,
    rest_lengths: Vec<f64>,
    guides: Vec<Guide>,
    of: Identity,
    state: State,
}

#[derive(Serialize, Deserialize, Default)]
struct State {
    time: f64,
    positions: Vec<Vector3<f64>>,
    velocities: Vec<Vector3<f64>>,
    /// Impulse of gravity since time 0, and its moment about the origin.
    external: (Vector3<f64>, Vector3<f64>),
}

impl Clone for State {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// In the memory that is there, so that a snapshot taken again and again allocates nothing.
    fn clone_from(&mut self, from: &Self) {
        (self.time, self.external) = (from.time, from.external);
        self.positions.clone_from(&from.positions);
        self.velocities.clone_from(&from.velocities);
    }
}

impl Chain {
    /// A chain through `positions` `[m]`, at rest. A single position is a free point mass.
    ///
    /// # Errors
    /// No position, one that is not finite, two neighbours in one place, or a bad parameter.
    pub fn new(name: &str, positions: &[[f64; 3]], parameters: ChainParameters) -> Result<Self, SimulatorError> {
        check_positive("mass [kg]", parameters.mass)?;
        check_not_negative("stiffness [N/m]", parameters.stiffness)?;
        check_not_negative("damping [N s/m]", parameters.damping)?;
        check_vector("gravity [m/s²]", parameters.gravity)?;
        if positions.is_empty() {
            return Err(SimulatorError::refused("positions", "none", "at least one"));
        }
        for (i, &position) in positions.iter().enumerate() {
            check_vector(&format!("position {i} [m]"), position)?;
        }
        let positions: Vec<_> = positions.iter().map(|&x| Vector3::from(x)).collect();
        let rest_lengths: Vec<f64> = positions.windows(2).map(|pair| (pair[1] - pair[0]).norm()).collect();
        for (i, &length) in rest_lengths.iter().enumerate() {
            check_positive(&format!("length of link {i} [m]"), length)?;
        }

        let mut table = HandleTable::new("chain", name);
        table.add("points", Kind::Point, positions.len() as u32)?;
        let velocities = vec![Vector3::zeros(); positions.len()];
        let state = State { positions, velocities, ..State::default() };
        let guides = Vec::new();
        let of = Identity::new(&table, &(&parameters, &rest_lengths, &guides));
        Ok(Self { name: name.into(), table, parameters, rest_lengths, guides, of, state })
    }

    /// Point number `i`; a handle that every call refuses if there is none.
    pub fn point(&self, i: u32) -> HandleId {
        self.table.handle(i)
    }

    /// Positions of the points `[m]`.
    pub fn positions(&self) -> &[Vector3<f64>] {
        &self.state.positions
    }

    /// Gives every point this velocity `[m/s]`.
    ///
    /// # Errors
    /// A number is not finite.
    pub fn moving_at(mut self, velocity: [f64; 3]) -> Result<Self, SimulatorError> {
        check_vector("velocity [m/s]", velocity)?;
        self.state.velocities.fill(velocity.into());
        Ok(self)
    }

    /// Forces of the links on points that move at `v` `[N]`.
    fn link_forces(&self, v: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
        let ChainParameters { stiffness: k, damping: c, .. } = self.parameters;
        let x = &self.state.positions;
        let mut forces = vec![Vector3::zeros(); x.len()];
        for (i, l0) in self.rest_lengths.iter().enumerate() {
            let d = x[i + 1] - x[i];
            let Some(n) = d.try_normalize(0.0) else { continue };
            let f = (k * (d.norm() - l0) + c * (v[i + 1] - v[i]).dot(&n)) * n;
            forces[i] += f;
            forces[i + 1] -= f;
        }
        forces
    }

    /// Puts attached points where their carriers ended; the impulse on a carrier is −m Δv.
    fn follow_carriers(&self, next: &mut State, inputs: &Inputs) -> Vec<Reaction> {
        let m = self.parameters.mass;
        let attached = self.guides.iter().zip(&inputs.motions).enumerate();
        attached
            .filter_map(|(number, (guide, motion))| {
                let (Guide::Attachment { own }, Some(motion)) = (guide, motion) else { return None };
                let (i, end) = (own.index as usize, &motion.end[0]);
                let (x, v) = (Vector3::from(end.position), Vector3::from(end.velocity));
                let impulse = -m * (v - next.velocities[i]);
                (next.positions[i], next.velocities[i]) = (x, v);
                Some(Reaction { guide: number as u32, carrier: 0, impulse: Wrench::force(impulse) })
            })
            .collect()
    }
}

impl Simulator for Chain {
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
        let State { positions, velocities, .. } = &self.state;
        self.table.read_with(handles, out, |i| HandleState::point(positions[i], velocities[i]))
    }

    fn surfaces(&self) -> &[Arc<Surface>] {
        &[]
    }

    fn step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        check(&self.table, &self.guides, dt, inputs)?;
        let (m, g) = (self.parameters.mass, Vector3::from(self.parameters.gravity));
        let mut next = self.state.clone();
        for (handle, impulse) in &inputs.impulses {
            next.velocities[handle.index as usize] += Vector3::from(impulse.linear) / m;
        }
        let mut forces = self.link_forces(&next.velocities);
        for (handle, wrench) in &inputs.loads {
            forces[handle.index as usize] += Vector3::from(wrench.linear);
        }

        for (i, f) in forces.iter().enumerate() {
            next.velocities[i] += dt * (f / m + g);
            next.positions[i] += dt * next.velocities[i];
        }
        let reactions = self.follow_carriers(&mut next, inputs);
        // Symplectic Euler gives m x'×v' = m x×v + x×f dt: an impulse acts where the step began.
        for x in &self.state.positions {
            next.external.0 += dt * m * g;
            next.external.1 += x.cross(&(dt * m * g));
        }
        next.time += dt;

        if let Some(i) =
            next.positions.iter().zip(&next.velocities).position(|(x, v)| !(x + v).iter().all(|x| x.is_finite()))
        {
            let found = format!("position {:?}", next.positions[i]);
            return Err(SimulatorError::failed(format!("point {i}"), found, "finite numbers"));
        }
        self.state = next;
        Ok(StepReport { reactions, ..StepReport::new(self.state.time) })
    }

    fn mobility(&self, handle: HandleId) -> Option<Mobility> {
        // Links make neighbours answer too, but for a single point.
        let alone = self.rest_lengths.is_empty() && self.table.check(handle).is_ok();
        alone.then(|| Mobility::point(1.0 / self.parameters.mass))
    }

    fn snapshot(&self, reuse: Option<Snapshot>) -> Snapshot {
        Snapshot::renew(reuse, self.of, self.state.time, &self.state)
    }

    fn retract(&mut self, to: &Snapshot) -> Result<(), SimulatorError> {
        self.state.clone_from(to.get(self.of)?);
        Ok(())
    }

    fn snapshot_from_bytes(&self, bytes: &[u8]) -> Result<Snapshot, SimulatorError> {
        Snapshot::from_bytes::<State>(self.of, bytes)
    }

    fn follows(&self) -> Follows {
        Follows { points: true, ..Follows::default() }
    }

    fn follow(&mut self, guides: Vec<Guide>) -> Result<(), SimulatorError> {
        check_guides(&self.table, self.follows(), &self.guides, &guides)?;
        self.guides = guides;
        self.of = Identity::new(&self.table, &(&self.parameters, &self.rest_lengths, &self.guides));
        Ok(())
    }

    fn ledger(&self) -> Option<Ledger> {
        let ChainParameters { mass: m, stiffness: k, gravity, .. } = self.parameters;
        let (x, v) = (&self.state.positions, &self.state.velocities);
        let momentum: Vector3<f64> = m * v.iter().sum::<Vector3<f64>>();
        let spin: Vector3<f64> = m * x.iter().zip(v).map(|(x, v)| x.cross(v)).sum::<Vector3<f64>>();
        let springs = x.windows(2).zip(&self.rest_lengths).map(|(x, l0)| 0.5 * k * ((x[1] - x[0]).norm() - l0).powi(2));
        let heights = x.iter().map(|x| -m * Vector3::from(gravity).dot(x));
        Some(Ledger {
            mass: m * x.len() as f64,
            momentum: momentum.into(),
            angular_momentum: spin.into(),
            kinetic: 0.5 * m * v.iter().map(|v| v.norm_squared()).sum::<f64>(),
            potential: springs.chain(heights).sum(),
            external: Some(Wrench { linear: self.state.external.0.into(), angular: self.state.external.1.into() }),
            precision: Precision::Double,
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
