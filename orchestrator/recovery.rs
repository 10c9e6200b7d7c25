//! Recovery: after any failure the run is at its last accepted window.
//!
//! A window is accepted once every simulator has taken a snapshot at its end. After a failure all
//! simulators retract to the snapshot of the last accepted window. No step is repeated. So the run
//! loses no accepted window to a simulator whose every step fails, or that never replies again.
//!
//! A simulator that cannot retract is stuck, and no window starts until it can or is replaced.
//! Until then the orchestrator returns the last states of its watched handles.

use partita_simulator::{HandleId, HandleState, Simulator};

use crate::{
    Error, Result, Run,
    engine::{Engine, Failure},
    history::Mark,
    worker::Request,
};

/// Numbers of the snapshots of accepted windows, used alternately. Bit 63 separates them from those of rewind marks.
const ACCEPTED: [u64; 2] = [1 << 63, (1 << 63) + 1];

impl Engine {
    /// # Errors
    /// A simulator has timed out since the last recovery.
    fn check_timeouts(&self) -> std::result::Result<(), Failure> {
        let mut timeouts = self.seats.iter().enumerate().filter_map(|(member, seat)| Some((member, seat.timeout()?)));
        timeouts.next().map_or(Ok(()), |(member, error)| Err(Failure { member, error }))
    }
}

impl Run {
    /// Accepts the current state once every simulator has stored a snapshot of it.
    ///
    /// # Errors
    /// A simulator has timed out, even if its reply has arrived since: the state may depend on the clock. Or one
    /// gives no snapshot.
    pub(crate) fn accept(&mut self) -> std::result::Result<(), Failure> {
        self.engine.check_timeouts()?;
        let number = ACCEPTED[usize::from(self.accepted.number == ACCEPTED[0])];
        self.engine.mark(number, false)?;
        self.accepted = Mark { number, coupled: self.engine.state.clone() };
        Ok(())
    }

    /// Goes back to the last accepted state. Simulators that cannot are stuck.
    pub(crate) fn recover(&mut self) {
        for member in 0..self.engine.members.len() {
            let back = self.engine.ask(member, Request::Retract(self.accepted.number));
            match back {
                Ok(()) => self.engine.seats[member].clear_timeout(),
                Err(Failure { error, .. }) => drop(self.stuck.insert(member, error)),
            }
        }
        self.engine.resume(self.accepted.coupled.clone());
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
            self.engine.seats[member].wait_for_late_reply();
            if let Err(Failure { error, .. }) = self.engine.ask(member, Request::Retract(self.accepted.number)) {
                self.stuck.insert(member, error);
                return Err(self.error_of_stuck(member));
            }
            let kept: Vec<u64> = self.marks.kept.iter().map(|mark| mark.number).chain([self.accepted.number]).collect();
            self.engine.seats[member].retain(&kept);
            self.engine.seats[member].clear_timeout();
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
        let seat = self.engine.seats[member].with_simulator(simulator, self.accepted.number);
        self.engine.seats[member] = seat.map_err(|error| self.of(member, error))?;
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
    pub(crate) fn accepted_bytes(&self, member: usize) -> Result<Vec<u8>> {
        self.engine.seats[member].bytes(self.accepted.number).map_err(|error| self.of(member, error))
    }
}
