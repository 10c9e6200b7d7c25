//! Recovery: after any failure the run is at its last accepted window.
//!
//! Before each window, every simulator takes a snapshot. After a failure all simulators retract to
//! it. No step is repeated, so a simulator whose every step fails loses no accepted window.
//!
//! A simulator that cannot retract is stuck, and no window starts until it can or is replaced.
//! Until then the orchestrator returns the last states of its watched handles, and [`Run::save`]
//! stores its snapshot.

use partita_simulator::{HandleId, HandleState, Simulator};

use crate::{
    Error, Result, Run,
    coupled::Coupled,
    engine::{COMMITTED, Failure},
    worker::{Reply, Request},
};

impl Run {
    /// Keeps the state from which the next window, or a way back, starts.
    pub(crate) fn commit(&mut self) -> std::result::Result<Coupled, Failure> {
        self.engine.mark(COMMITTED, false)?;
        Ok(self.engine.state.clone())
    }

    /// Goes back to the state that was committed. Simulators that cannot are stuck.
    pub(crate) fn recover(&mut self, committed: Coupled) {
        for member in 0..self.engine.members.len() {
            let back = self.engine.ask(member, Request::Retract(COMMITTED));
            if let Err(Failure { error, .. }) = back {
                self.stuck.insert(member, error);
            }
        }
        self.engine.resume(committed);
    }

    /// Error of a window that starts at `time` `[s]`.
    pub(crate) fn window_error(&self, window: u64, time: f64, Failure { member, error }: Failure) -> Error {
        Error::Window { window, time, simulator: self.engine.members[member].name.clone(), error }
    }

    /// Lets simulators that are stuck try again to go back.
    ///
    /// # Errors
    /// One still cannot.
    pub(crate) fn unstick(&mut self) -> Result<()> {
        while let Some(&member) = self.stuck.keys().next() {
            if let Err(Failure { error, .. }) = self.engine.ask(member, Request::Retract(COMMITTED)) {
                self.stuck.insert(member, error);
                return Err(self.error_of_stuck(member));
            }
            self.stuck.remove(&member);
        }
        Ok(())
    }

    /// Replaces a simulator by one of the same name and layout, such as one built by the same code.
    /// The new simulator continues from the last accepted window.
    ///
    /// # Errors
    /// No simulator of the run has this name, or the new one refuses the guides or the snapshot.
    /// The old simulator then stays.
    pub fn replace(&mut self, simulator: impl Simulator + 'static) -> Result<()> {
        self.replace_boxed(Box::new(simulator))
    }

    /// As [`Run::replace`].
    ///
    /// # Errors
    /// As [`Run::replace`].
    pub fn replace_boxed(&mut self, simulator: Box<dyn Simulator>) -> Result<()> {
        let member = self.member_named(simulator.name())?;
        if self.stuck.is_empty() {
            self.commit().map_err(|Failure { member, error }| self.of(member, error))?;
        }
        if let Err(Failure { error, .. }) = self.engine.ask(member, Request::Replace(simulator, COMMITTED)) {
            return Err(self.of(member, error));
        }
        self.stuck.remove(&member);
        Ok(())
    }

    /// State of a handle of a stuck simulator, at the last accepted window.
    pub(crate) fn state_of_stuck(&self, member: usize, handle: HandleId) -> Result<HandleState> {
        let watched = self.engine.members[member].watched.iter().position(|&watched| watched == handle);
        let known = watched.map(|watched| self.engine.state.states[member][watched]);
        known.ok_or_else(|| self.error_of_stuck(member))
    }

    pub(crate) fn error_of_stuck(&self, member: usize) -> Error {
        Error::Stuck { simulator: self.engine.members[member].name.clone(), error: self.stuck[&member].clone() }
    }

    /// State of a simulator at the last accepted window, as bytes.
    pub(crate) fn committed_bytes(&mut self, member: usize) -> Result<Vec<u8>> {
        self.engine.seats[member].post(Request::Bytes(COMMITTED));
        let Reply::Bytes(bytes) = self.engine.seats[member].wait() else { unreachable!("bytes are answered by bytes") };
        bytes.map_err(|error| self.of(member, error))
    }
}
