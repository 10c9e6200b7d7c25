//! The contract.

use std::{any::Any, sync::Arc};

use partita_simulator::{
    Follows, Guide, HandleId, HandleState, HandleTable, Inputs, Ledger, Mobility, Motion, Settings, Simulator,
    SimulatorError, Snapshot, StepReport, Surface,
};

use crate::{RigidBodies, state::State, step::Undo};

impl Simulator for RigidBodies {
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
        self.table.read_with(handles, out, |index| self.state_at(self.targets[index]))
    }

    fn surfaces(&self) -> &[Arc<Surface>] {
        &self.surfaces
    }

    fn mobility(&self, handle: HandleId) -> Option<Mobility> {
        self.table.check(handle).ok().and_then(|()| self.mobility_of(self.targets[handle.index as usize]))
    }

    fn step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        self.take_step(dt, inputs)
    }

    fn snapshot(&self, reuse: Option<Snapshot>) -> Snapshot {
        self.snapshot_now(reuse)
    }

    fn retract(&mut self, to: &Snapshot) -> Result<(), SimulatorError> {
        self.restore(to)?;
        self.undo = Some(Undo::starting(to.clone()));
        Ok(())
    }

    fn snapshot_from_bytes(&self, bytes: &[u8]) -> Result<Snapshot, SimulatorError> {
        Snapshot::from_bytes::<State>(self.of(), bytes)
    }

    fn follows(&self) -> Follows {
        Self::can_follow()
    }

    fn check_start(&mut self, _motions: &[Option<Motion>]) -> Result<(), SimulatorError> {
        self.parameters.check()
    }

    fn follow(&mut self, guides: Vec<Guide>) -> Result<(), SimulatorError> {
        self.take_guides(guides)
    }

    fn ledger(&self) -> Option<Ledger> {
        Some(self.sum_up())
    }

    fn settings(&self) -> Settings {
        self.world_settings()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
