//! A coupled run beside the same simulators alone: each alone is given, step by step, the loads and
//! guide motions that it got in the coupled run.

use std::{
    any::Any,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use partita::{
    Run, Scene,
    simulator::{
        Cloud, Follows, Guide, HandleId, HandleState, HandleTable, Inputs, Ledger, Mobility, Motion, Simulator,
        SimulatorError, Snapshot, StepReport, Surface,
    },
};

use crate::table::Failure;

/// A scene's simulators, and the scene with its couplings, to which they are yet to be added.
pub struct Setup {
    /// In the order in which they are added.
    pub simulators: Vec<Box<dyn Simulator>>,
    /// Without simulators.
    pub scene: Scene,
}

impl Setup {
    /// The run.
    ///
    /// # Errors
    /// The scene has mistakes.
    pub fn coupled(self) -> Result<Run, Failure> {
        let Self { simulators, mut scene } = self;
        for simulator in simulators {
            scene.add_boxed(simulator);
        }
        Ok(scene.build()?)
    }

    fn recorded(self) -> Result<(Run, Vec<SharedLog>), Failure> {
        let logs: Vec<SharedLog> = self.simulators.iter().map(|_| SharedLog::default()).collect();
        let record = |(inner, log): (_, &SharedLog)| Box::new(Recorder { inner, log: log.clone() }) as _;
        let simulators = self.simulators.into_iter().zip(&logs).map(record).collect();
        Ok((Self { simulators, scene: self.scene }.coupled()?, logs))
    }
}

/// What one simulator was given.
#[derive(Default)]
struct Log {
    guides: Vec<Guide>,
    steps: Vec<(f64, Inputs)>,
}

type SharedLog = Arc<Mutex<Log>>;

fn open(log: &SharedLog) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands everything on and writes down guides and steps.
struct Recorder {
    inner: Box<dyn Simulator>,
    log: SharedLog,
}

impl Simulator for Recorder {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn time(&self) -> f64 {
        self.inner.time()
    }

    fn handles(&self) -> &HandleTable {
        self.inner.handles()
    }

    fn read(&self, handles: &[HandleId], out: &mut [HandleState]) -> Result<(), SimulatorError> {
        self.inner.read(handles, out)
    }

    fn mobility(&self, handle: HandleId) -> Option<Mobility> {
        self.inner.mobility(handle)
    }

    fn surfaces(&self) -> &[Arc<Surface>] {
        self.inner.surfaces()
    }

    fn step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        let report = self.inner.step(dt, inputs)?;
        open(&self.log).steps.push((dt, inputs.clone()));
        Ok(report)
    }

    fn snapshot(&self, reuse: Option<Snapshot>) -> Snapshot {
        self.inner.snapshot(reuse)
    }

    fn retract(&mut self, to: &Snapshot) -> Result<(), SimulatorError> {
        self.inner.retract(to)?;
        // As if the steps since had never been.
        let mut log = open(&self.log);
        let mut time: f64 = log.steps.iter().map(|(dt, _)| dt).sum();
        while time > to.time() + 1e-12 * time {
            let Some((dt, _)) = log.steps.pop() else { break };
            time -= dt;
        }
        Ok(())
    }

    fn snapshot_from_bytes(&self, bytes: &[u8]) -> Result<Snapshot, SimulatorError> {
        self.inner.snapshot_from_bytes(bytes)
    }

    fn follows(&self) -> Follows {
        self.inner.follows()
    }

    fn check_start(&mut self, motions: &[Option<Motion>]) -> Result<(), SimulatorError> {
        self.inner.check_start(motions)
    }

    fn follow(&mut self, guides: Vec<Guide>) -> Result<(), SimulatorError> {
        self.inner.follow(guides.clone())?;
        open(&self.log).guides = guides;
        Ok(())
    }

    fn ledger(&self) -> Option<Ledger> {
        self.inner.ledger()
    }

    fn cloud(&self, out: &mut Cloud) {
        self.inner.cloud(out);
    }

    fn as_any(&self) -> &dyn Any {
        self.inner.as_any()
    }
}

/// A simulator by itself, with what it was given in the coupled run.
pub struct Alone {
    /// It.
    pub simulator: Box<dyn Simulator>,
    log: Log,
    /// Its state before the timed windows.
    begin: Snapshot,
    /// Its bytes at the end of the coupled run.
    end: Vec<u8>,
}

impl Alone {
    fn replay(&mut self, steps: std::ops::Range<usize>) -> Result<(), SimulatorError> {
        self.log.steps[steps].iter().try_for_each(|(dt, inputs)| self.simulator.step(*dt, inputs).map(|_| ()))
    }

    /// What it is given in the first of the timed windows.
    pub fn first_inputs(&self, warm: usize) -> (f64, Inputs) {
        self.log.steps[warm].clone()
    }
}

/// The coupled run and the simulators alone, side by side over the same windows.
pub struct Duel {
    /// Coupled.
    pub run: Run,
    /// Alone.
    pub alone: Vec<Alone>,
    /// Windows before those that are timed.
    pub warm: usize,
    windows: usize,
    chunk: usize,
}

/// Seconds for the timed windows.
pub struct Round {
    /// Of the coupled run.
    pub coupled: f64,
    /// Of each simulator alone.
    pub alone: Vec<f64>,
}

impl Round {
    /// Of all simulators alone.
    pub fn sum(&self) -> f64 {
        self.alone.iter().sum()
    }
}

impl Duel {
    /// Records a coupled run of `warm + windows` windows and gets ready to play its last `windows`,
    /// `chunk` at a time, coupled and alone.
    ///
    /// # Errors
    /// The scene has mistakes, or a simulator fails.
    pub fn new(make: &Make, warm: usize, windows: usize, chunk: usize) -> Result<Self, Failure> {
        let (mut recorded, logs) = make()?.recorded()?;
        for _ in 0..warm + windows {
            recorded.advance()?;
        }
        let mut alone = Vec::new();
        for (mut simulator, log) in make()?.simulators.into_iter().zip(&logs) {
            let (end, log) = (recorded.state_bytes(simulator.name())?, std::mem::take(&mut *open(log)));
            if log.steps.len() != warm + windows {
                return Err(format!(
                    "{} steps of {} for {} windows",
                    log.steps.len(),
                    simulator.name(),
                    warm + windows
                )
                .into());
            }
            if !log.guides.is_empty() {
                simulator.follow(log.guides.clone())?;
            }
            let begin = simulator.snapshot(None);
            let mut one = Alone { simulator, log, begin, end };
            one.replay(0..warm)?;
            one.begin = one.simulator.snapshot(None);
            alone.push(one);
        }
        drop(recorded);
        let mut run = make()?.coupled()?;
        for _ in 0..warm {
            run.advance()?;
        }
        Ok(Self { run, alone, warm, windows, chunk })
    }

    /// Back to the first timed window.
    ///
    /// # Errors
    /// A simulator fails.
    pub fn back(&mut self) -> Result<(), Failure> {
        self.run.rewind_to(self.warm as u64)?;
        for Alone { simulator, begin, .. } in &mut self.alone {
            simulator.retract(begin)?;
        }
        Ok(())
    }

    /// All timed windows once, from the first on ([`Duel::back`]), in turns: a chunk coupled, the same chunk
    /// alone, and the other way round for every second one, so that what else the machine does hits both alike. Alone, each
    /// simulator takes its chunk by itself; `in_turns`, they step one after the other, window by
    /// window as when coupled, and push each other out of the caches as much.
    ///
    /// # Errors
    /// A simulator fails.
    pub fn round(&mut self, in_turns: bool) -> Result<Round, Failure> {
        let mut round = Round { coupled: 0.0, alone: vec![0.0; self.alone.len()] };
        for (turn, first) in (0..self.windows).step_by(self.chunk).enumerate() {
            let windows = first..(first + self.chunk).min(self.windows);
            for part in 0..2 {
                if (turn + part) % 2 == 0 {
                    let start = Instant::now();
                    for _ in windows.clone() {
                        self.run.advance()?;
                    }
                    round.coupled += start.elapsed().as_secs_f64();
                } else {
                    let length = if in_turns { 1 } else { self.chunk };
                    for first in windows.clone().step_by(length) {
                        let steps = self.warm + first..self.warm + (first + length).min(windows.end);
                        for (alone, seconds) in self.alone.iter_mut().zip(&mut round.alone) {
                            let start = Instant::now();
                            alone.replay(steps.clone())?;
                            *seconds += start.elapsed().as_secs_f64();
                        }
                    }
                }
            }
        }
        Ok(round)
    }

    /// Whether coupled and alone have both ended with every bit of the recorded run.
    ///
    /// # Errors
    /// Names the simulator that has not.
    pub fn check(&mut self) -> Result<(), Failure> {
        for Alone { simulator, end, .. } in &self.alone {
            let name = simulator.name();
            for (which, bytes) in
                [("alone", simulator.snapshot(None).to_bytes()), ("coupled again", self.run.state_bytes(name)?)]
            {
                if bytes != *end {
                    return Err(format!("`{name}` {which} ends with other bytes than recorded").into());
                }
            }
        }
        Ok(())
    }

    /// Timed windows in a round.
    pub fn windows(&self) -> f64 {
        self.windows as f64
    }
}

/// Makes the same scene again and again.
pub type Make<'a> = dyn Fn() -> Result<Setup, Failure> + 'a;
