//! A run's state as plain data: to be kept in a file and taken up again by another process.

use partita_simulator::{HandleId, Wrench, layout_of};
use serde::{Deserialize, Serialize};

use crate::{
    Error, Rate, Result, Run,
    coupled::Coupled,
    engine::{Engine, Failure, Push},
    history::{Journal, Mark},
    seat::Seat,
    worker::Request,
};

/// All of a run at the begin of a window: the state of every simulator and what the coupling carries. A run that is
/// built of the same scene goes on from it with the same bits ([`Run::restore`]).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunSnapshot {
    /// Of members, couplings and scheme.
    scene: u64,
    /// When the run began `[s]`.
    start: f64,
    rate: f64,
    coupled: Coupled,
    /// [`partita_simulator::Snapshot::to_bytes`] of each member.
    simulators: Vec<Vec<u8>>,
    /// For the next window.
    pushes: Vec<Push>,
}

/// What came from outside in one window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowInputs {
    /// Length of the window `[s]`.
    pub dt: f64,
    /// Loads pushed [N, N m].
    pub pushes: Vec<(HandleId, Wrench)>,
}

impl RunSnapshot {
    /// Number of windows before it.
    pub fn window(&self) -> u64 {
        self.coupled.window
    }

    /// Simulated time `[s]`.
    pub fn time(&self) -> f64 {
        self.coupled.time
    }
}

impl Run {
    /// All of the run now.
    ///
    /// # Errors
    /// A state cannot be written as bytes.
    pub fn save(&mut self) -> Result<RunSnapshot> {
        let mut simulators = Vec::new();
        for member in 0..self.engine.members.len() {
            simulators.push(self.accepted_bytes(member)?);
        }
        Ok(RunSnapshot {
            scene: scene_of(&self.engine),
            start: self.start,
            rate: self.rate.dt,
            coupled: self.engine.state.clone(),
            simulators,
            pushes: self.pushes.clone(),
        })
    }

    /// Goes on from `snapshot`, of this run or of another one that was built of the same scene. There is no going back
    /// past it.
    ///
    /// # Errors
    /// It is of another scene, its bytes are not states of these simulators, or a simulator does not reply;
    /// nothing has changed then.
    pub fn restore(&mut self, snapshot: &RunSnapshot) -> Result<()> {
        let (scene, found) = (scene_of(&self.engine), snapshot.scene);
        if found != scene || snapshot.simulators.len() != self.engine.members.len() {
            let expected = format!("{scene:x}: the same simulators, couplings and scheme");
            return Err(Error::refused("snapshot of a run", format!("scene {found:x}"), expected));
        }
        self.engine.seats.iter_mut().for_each(Seat::wait_for_late_reply);
        let number = self.marks.next_number();
        for (member, bytes) in snapshot.simulators.iter().enumerate() {
            if let Err(error) = self.engine.seats[member].ask(Request::Adopt(number, bytes.clone())) {
                self.engine.forget(number);
                return Err(self.of(member, error));
            }
        }
        let restored = self.engine.retract(number, false).and_then(|()| {
            self.engine.resume(snapshot.coupled.clone());
            self.engine.seats.iter_mut().for_each(Seat::clear_timeout);
            self.accept()
        });
        if let Err(Failure { member, error }) = restored {
            self.recover();
            self.engine.forget(number);
            return Err(self.of(member, error));
        }
        self.stuck.clear();
        self.last_window = None;
        (self.start, self.rate) = (snapshot.start, Rate::seconds(snapshot.rate));
        self.pushes.clone_from(&snapshot.pushes);
        self.journal = Journal::starting(snapshot.window());
        for old in self.marks.restart(Mark { number, coupled: snapshot.coupled.clone() }) {
            self.engine.forget(old);
        }
        Ok(())
    }

    /// What came from outside in each window from number `window` on, as far as the run remembers: since its begin, or
    /// since it was restored.
    pub fn inputs_since(&self, window: u64) -> Vec<WindowInputs> {
        let windows = window.max(self.journal.start())..self.journal.end();
        let pushed = |window| self.journal.pushes(window).iter().map(|&(_, handle, load)| (handle, load)).collect();
        windows.map(|window| WindowInputs { dt: self.journal.dt(window), pushes: pushed(window) }).collect()
    }

    /// Takes a window with inputs of [`Run::inputs_since`] instead of what was pushed.
    ///
    /// # Errors
    /// As [`Run::set_rate`], [`Run::push`] and [`Run::advance`].
    pub fn play(&mut self, inputs: &WindowInputs) -> Result<()> {
        self.set_rate(Rate::seconds(inputs.dt))?;
        self.pushes.clear();
        inputs.pushes.iter().try_for_each(|&(handle, load)| self.push(handle, load))?;
        self.advance().map(|_| ())
    }
}

/// What a snapshot takes for granted besides the simulators' own layouts.
fn scene_of(engine: &Engine) -> u64 {
    layout_of(&(&engine.members, &engine.interfaces, &engine.springs, &engine.scheme))
}
