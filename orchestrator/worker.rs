//! A simulator and the requests that it answers ([`crate::seat`]).

use std::{
    any::Any,
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use partita_simulator::{
    Guide, HandleId, HandleState, Inputs, Mobility, Motion, Note, Outcome, Reaction, Simulator, SimulatorError,
    Snapshot, Stages, Wrench,
};

use crate::{measure, reported::turns_too_far};

/// A look at the simulator where it lives.
pub(crate) type Look = Box<dyn FnOnce(&dyn Simulator) + Send>;

pub(crate) enum Request {
    /// `n` steps of `dt / n`; the watched states come back in the memory of `states`.
    Step { dt: f64, n: u32, inputs: Inputs, states: Vec<HandleState> },
    /// Keep a snapshot under this number.
    Mark(u64),
    /// Go back to the snapshot of this number.
    Retract(u64),
    /// Drop the snapshot of this number.
    Forget(u64),
    /// Follow the guides, and restore the snapshot of this number.
    Enter(u64),
    /// Keep the snapshot of these bytes under this number.
    Adopt(u64, Vec<u8>),
    /// Look at it.
    Inspect(Look),
    /// Check the start, with these motions of the guides.
    CheckStart(Vec<Option<Motion>>),
    /// State or measure the mobilities of handles, as a step of `dt` shows them.
    Mobilities { handles: Vec<HandleId>, dt: f64 },
    /// States of handles after `n` steps of `dt / n` without and with a load on the first; the simulator is as before.
    Answers { handles: Vec<HandleId>, load: [f64; 3], dt: f64, n: u32 },
}

pub(crate) enum Reply {
    Stepped(Box<Stepped>),
    Done(Result<(), SimulatorError>),
    /// In world axes, one a handle.
    Mobilities(Result<Vec<(Mobility, bool)>, SimulatorError>),
    Answers(Result<[Vec<HandleState>; 2], SimulatorError>),
}

impl Reply {
    /// The error of a failed request; drops what a successful one returned.
    pub(crate) fn done(self) -> Result<(), SimulatorError> {
        match self {
            Self::Done(result) => result,
            Self::Stepped(stepped) => stepped.outcome.map(|_| ()),
            Self::Mobilities(result) => result.map(|_| ()),
            Self::Answers(result) => result.map(|_| ()),
        }
    }
}

/// What came of a step.
pub(crate) struct Stepped {
    pub outcome: Result<StepSummary, SimulatorError>,
    /// The watched handles after the step.
    pub states: Vec<HandleState>,
    /// Summed over the substeps, by guide, then carrier.
    pub reactions: Vec<Reaction>,
    /// For the start of the carriers' next window.
    pub impacts: Vec<Reaction>,
    /// Holds carriers over their next window.
    pub holding: Vec<Reaction>,
    /// Guides whose impulses for the next window other carriers take.
    pub passed_on: Vec<u32>,
    /// Of the simulator's own steps `[s]`.
    pub seconds: f64,
    /// Given back, so that their memory can be used again.
    pub inputs: Inputs,
}

/// The parts of the substeps' reports that the orchestrator passes on.
#[derive(Clone, Debug)]
pub(crate) struct StepSummary {
    pub iterations: u32,
    /// Mean of the substeps [-].
    pub budget_used: f64,
    pub outcome: Outcome,
    /// [`StepReport::support_velocity`] of the last substep `[m/s]`.
    pub support_velocity: [f64; 3],
    /// [`StepReport::support_spread`], the largest of all substeps `[m/s]`.
    pub support_spread: f64,
    pub notes: Vec<Note>,
    pub stages: Stages,
}

/// State that a seat shares with its worker: what a replacement needs. No lock is held while a
/// simulator runs.
pub(crate) struct Shared {
    guides: Vec<Guide>,
    watched: Vec<HandleId>,
    marks: Mutex<BTreeMap<u64, Snapshot>>,
}

impl Shared {
    pub(crate) fn new(guides: Vec<Guide>, watched: Vec<HandleId>) -> Self {
        Self { guides, watched, marks: Mutex::default() }
    }

    fn marks(&self) -> MutexGuard<'_, BTreeMap<u64, Snapshot>> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy for a replacement. Later changes to the snapshots of either do not affect the other.
    pub(crate) fn copy(&self) -> Self {
        let Self { guides, watched, .. } = self;
        Self { guides: guides.clone(), watched: watched.clone(), marks: Mutex::new(self.marks().clone()) }
    }

    /// Drops all snapshots but those of these numbers.
    pub(crate) fn retain(&self, numbers: &[u64]) {
        self.marks().retain(|number, _| numbers.contains(number));
    }

    /// The snapshot of this number.
    fn mark(&self, number: u64) -> Result<Snapshot, SimulatorError> {
        let mark = self.marks().get(&number).cloned();
        mark.ok_or_else(|| SimulatorError::refused("mark", number, "one that was kept"))
    }

    /// Bytes of the snapshot of this number.
    pub(crate) fn bytes(&self, number: u64) -> Result<Vec<u8>, SimulatorError> {
        let mark = self.mark(number)?;
        catch_unwind(AssertUnwindSafe(|| mark.to_bytes())).map_err(|panic| panicked(&*panic))
    }
}

/// A simulator that answers requests.
pub(crate) struct Worker {
    simulator: Box<dyn Simulator>,
    shared: Arc<Shared>,
    /// A forgotten snapshot, for its memory.
    spare: Option<Snapshot>,
}

impl Worker {
    pub(crate) fn new(simulator: Box<dyn Simulator>, shared: Arc<Shared>) -> Self {
        Self { simulator, shared, spare: None }
    }

    /// Answers one request. A panic of the simulator becomes an error.
    pub(crate) fn serve(&mut self, request: Request) -> Reply {
        match request {
            Request::Step { dt, n, inputs, states } => Reply::Stepped(Box::new(self.step(dt, n, inputs, states))),
            Request::Mark(number) => {
                let old = self.shared.marks().remove(&number);
                let reuse = old.or_else(|| self.spare.take());
                Reply::Done(self.guarded(|worker| {
                    let snapshot = worker.simulator.snapshot(reuse);
                    worker.shared.marks().insert(number, snapshot);
                    Ok(())
                }))
            }
            Request::Retract(number) => {
                Reply::Done(self.guarded(|worker| worker.simulator.retract(&worker.shared.mark(number)?)))
            }
            Request::Adopt(number, bytes) => Reply::Done(self.guarded(|worker| {
                let snapshot = worker.simulator.snapshot_from_bytes(&bytes)?;
                worker.shared.marks().insert(number, snapshot);
                Ok(())
            })),
            Request::Enter(number) => Reply::Done(self.guarded(|worker| {
                let Worker { simulator, shared, .. } = worker;
                if !shared.guides.is_empty() {
                    simulator.follow(shared.guides.clone())?;
                }
                simulator.retract(&shared.mark(number)?)
            })),
            Request::Forget(number) => {
                let forgotten = self.shared.marks().remove(&number);
                self.spare = forgotten.or_else(|| self.spare.take());
                Reply::Done(Ok(()))
            }
            Request::Inspect(look) => Reply::Done(self.guarded(|worker| {
                look(&*worker.simulator);
                Ok(())
            })),
            Request::CheckStart(motions) => Reply::Done(self.guarded(|worker| worker.simulator.check_start(&motions))),
            Request::Mobilities { handles, dt } => {
                Reply::Mobilities(self.guarded(|worker| measure::mobilities(&mut *worker.simulator, &handles, dt)))
            }
            Request::Answers { handles, load, dt, n } => Reply::Answers(
                self.guarded(|worker| measure::answers(&mut *worker.simulator, &handles, load, [dt, f64::from(n)])),
            ),
        }
    }

    fn step(&mut self, dt: f64, n: u32, inputs: Inputs, mut states: Vec<HandleState>) -> Stepped {
        let start = Instant::now();
        let [mut reactions, mut impacts, mut holding] = [const { Vec::new() }; 3];
        let mut passed_on = Vec::new();
        states.resize(self.shared.watched.len(), HandleState::default());
        let outcome = self.guarded(|worker| {
            let mut summary =
                worker.substeps(dt, n, &inputs, [&mut reactions, &mut impacts, &mut holding], &mut passed_on)?;
            worker.note_turns(dt, n, &inputs.motions, &mut summary.notes);
            worker.simulator.read(&worker.shared.watched, &mut states)?;
            Ok(summary)
        });
        let seconds = start.elapsed().as_secs_f64();
        Stepped { outcome, states, reactions, impacts, holding, passed_on, seconds, inputs }
    }

    /// Notes obstacles that turn by more in a window of `dt` `[s]` than `n` steps follow.
    fn note_turns(&self, dt: f64, n: u32, motions: &[Option<Motion>], notes: &mut Vec<Note>) {
        for (guide, motion) in self.shared.guides.iter().zip(motions) {
            let (Guide::Obstacle { surface, .. }, Some(motion)) = (guide, motion) else { continue };
            if turns_too_far(n, motion, dt) {
                let kind = "turns so far in a window that contact does not follow it; raise the scene's rate";
                Note::about(format!("`{}`", surface.name), kind).add_to(notes);
            }
        }
    }

    /// Loads stay as they are in every substep; motions are cut along their paths. Impulses act in the first substep, and the
    /// last one says what carriers receive next.
    fn substeps(
        &mut self,
        dt: f64,
        n: u32,
        inputs: &Inputs,
        [reactions, impacts, holding]: [&mut Vec<Reaction>; 3],
        passed_on: &mut Vec<u32>,
    ) -> Result<StepSummary, SimulatorError> {
        if n == 1 {
            let report = self.simulator.step(dt, inputs)?;
            (*reactions, *impacts, *holding) = (report.reactions, report.impacts, report.holding);
            *passed_on = report.passed_on;
            let stages = report.stages;
            return Ok(StepSummary {
                iterations: report.iterations,
                budget_used: report.budget_used,
                outcome: report.outcome,
                support_velocity: report.support_velocity,
                support_spread: report.support_spread,
                notes: report.notes,
                stages,
            });
        }
        let mut summary = StepSummary {
            iterations: 0,
            budget_used: 0.0,
            outcome: Outcome::Converged,
            support_velocity: [0.0; 3],
            support_spread: 0.0,
            notes: Vec::new(),
            stages: Stages::default(),
        };
        let mut sums: BTreeMap<(u32, u32), Wrench> = BTreeMap::new();
        for i in 0..n {
            let cut = |(guide, motion): (&Guide, &Option<_>)| {
                motion.as_ref().map(|motion: &Motion| motion.part(guide, dt, n, i))
            };
            let motions = self.shared.guides.iter().zip(&inputs.motions).map(cut).collect();
            let impulses = if i == 0 { inputs.impulses.clone() } else { Vec::new() };
            let responses = if i + 1 == n { inputs.responses.clone() } else { Vec::new() };
            let part = Inputs { loads: inputs.loads.clone(), impulses, motions, responses };
            let report = self.simulator.step(dt / f64::from(n), &part)?;
            impacts.extend(report.impacts);
            holding.extend(report.holding);
            passed_on.extend(report.passed_on);
            for Reaction { guide, carrier, impulse } in report.reactions {
                *sums.entry((guide, carrier)).or_default() += impulse;
            }
            summary.iterations += report.iterations;
            summary.budget_used += report.budget_used / f64::from(n);
            summary.outcome = worse(summary.outcome, report.outcome);
            summary.support_velocity = report.support_velocity;
            summary.support_spread = summary.support_spread.max(report.support_spread);
            report.notes.into_iter().for_each(|note| note.add_to(&mut summary.notes));
            for (stage, seconds) in report.stages.0 {
                summary.stages.add(&stage, seconds);
            }
        }
        reactions.extend(sums.into_iter().map(|((guide, carrier), impulse)| Reaction { guide, carrier, impulse }));
        Ok(summary)
    }

    fn guarded<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T, SimulatorError>) -> Result<T, SimulatorError> {
        catch_unwind(AssertUnwindSafe(|| act(self))).unwrap_or_else(|panic| Err(panicked(&*panic)))
    }
}

/// The outcome with the larger error relative to its bound.
fn worse(a: Outcome, b: Outcome) -> Outcome {
    let excess = |outcome: &Outcome| match outcome {
        Outcome::Converged => 0.0,
        Outcome::StoppedAt { error, bound, .. } => error / bound,
    };
    if excess(&b) > excess(&a) { b } else { a }
}

fn panicked(panic: &(dyn Any + Send)) -> SimulatorError {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into());
    SimulatorError::failed("simulator", format!("a panic: {text}"), "no panic")
}
