//! Watching a run: each window is counted, each frame written.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use partita::simulator::{Settings, Wrench};
use partita::{Run, RunNote, Warning};
use serde::Serialize;

use super::shot::Shot;
use super::tubes::with_tubes;
use super::{Begin, End, Force, Frame, Numbers, Tape, TapeCloud, TapeError, TapeSurface, TapeWriter};
use crate::provenance::{command, parameters, provenance};
use crate::strain::Edges;
use crate::{Camera, Colour, Look, Options, Placement};

/// How a scene is shown: from where, and how what looks.
///
/// Surfaces are named `simulator/surface`. A rule is for all names that begin with its words; the last rule that fits
/// a name counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenery {
    camera: Camera,
    ground: Option<f64>,
    rules: Vec<(String, Option<Look>)>,
    clouds: Vec<(String, f64, Look)>,
    still: Option<f64>,
}

impl Scenery {
    /// Seen by `camera`. Surfaces are of steel, free particles drops of water, 1 cm in radius.
    pub fn new(camera: Camera) -> Self {
        Self { camera, ground: None, rules: Vec::new(), clouds: Vec::new(), still: None }
    }

    /// Draws an endless ground at this height `[m]`.
    pub fn ground(self, height: f64) -> Self {
        Self { ground: Some(height), ..self }
    }

    /// How the surfaces look whose names begin with `words`. Each gets a seed of its own, so that boards differ.
    pub fn look(mut self, words: &str, look: Look) -> Self {
        self.rules.push((words.into(), Some(look)));
        self
    }

    /// Records the surfaces whose names begin with `words`, but does not show them: a floor that the ground shows.
    pub fn hide(mut self, words: &str) -> Self {
        self.rules.push((words.into(), None));
        self
    }

    /// Radius `[m]` and look of the balls that show a simulator's free particles.
    pub fn cloud(mut self, simulator: &str, radius: f64, look: Look) -> Self {
        self.clouds.push((simulator.into(), radius, look));
        self
    }

    /// Takes the picture from the frame nearest to `time` `[s]`, not from the one in which most moves.
    pub fn still(self, time: f64) -> Self {
        Self { still: Some(time), ..self }
    }

    /// Constant data of `run`.
    pub(crate) fn begin(self, name: &str, options: &Options, run: &mut Run) -> Result<Begin, TapeError> {
        let simulators: Vec<String> = run.simulators().map(String::from).collect();
        let interfaces = run.ledgers().into_iter().map(|ledger| (ledger.follower, ledger.leader)).collect();
        let taped = |(number, posed): (usize, partita::PosedSurface)| TapeSurface {
            simulator: simulators.iter().position(|name| *name == posed.simulator).unwrap_or_default(),
            look: self.look_of(&format!("{}/{}", posed.simulator, posed.surface.name), number),
            surface: with_tubes(&posed.surface),
        };
        let surfaces = run.picture()?.surfaces.into_iter().enumerate().map(taped).collect();
        let cloud = |name: &String| {
            let (radius, look) = self.cloud_of(name);
            TapeCloud { radius, look }
        };
        let clouds = simulators.iter().map(cloud).collect();
        Ok(Begin {
            name: name.into(),
            command: command(),
            seed: options.seed,
            provenance: provenance(),
            parameters: parameters(options, run.settings()).to_string(),
            frames_per_second: frame_rate(options, run.rate().dt()),
            start: run.time(),
            simulators,
            interfaces,
            surfaces,
            clouds,
            ground: self.ground,
            camera: self.camera,
            still: self.still,
        })
    }

    fn look_of(&self, name: &str, number: usize) -> Option<Look> {
        let rule = self.rules.iter().rfind(|(words, _)| name.starts_with(words.as_str()));
        let look = rule.map_or(Some(Look::plain(Colour::STEEL)), |(_, look)| *look);
        look.map(|look| look.numbered(number as u64))
    }

    fn cloud_of(&self, simulator: &str) -> (f64, Look) {
        let rule = self.clouds.iter().rfind(|(name, ..)| name == simulator);
        rule.map_or((0.01, Look::plain(Colour::WATER)), |&(_, radius, look)| (radius, look))
    }
}

/// Frame rate for windows of `dt` `[s]`: at most one frame a window, and only at ends of windows
/// for [`Options::exact_frames`] `[1/s]`.
fn frame_rate(options: &Options, dt: f64) -> f64 {
    let windows = 1.0 / (options.fps * dt);
    match options.exact_frames {
        true => 1.0 / (dt * (windows - 1e-9).ceil().max(1.0)),
        false => options.fps.min(1.0 / dt),
    }
}

/// Writes the tape of a run that is going on.
pub struct Recorder {
    path: PathBuf,
    writer: TapeWriter,
    begin: Begin,
    /// Frames written.
    frames: u64,
    /// Frames between snapshots.
    stride: u64,
    sums: Sums,
    before: Before,
    /// First window that no frame has the inputs of.
    inputs_from: u64,
    /// Windows that were taken when it last looked, and the time then `[s]`.
    windows: u64,
    time: f64,
    /// Whether frames are at ends of windows only.
    exact: bool,
    /// State at the end of the last window, if a frame is due within the next window.
    previous: Option<Shot>,
    /// Numbers of the last frame.
    numbers: Numbers,
    /// Time of the last frame `[s]`.
    shown: f64,
    /// Warnings and notes up to the last recorded window.
    told: Told,
    started: Instant,
    /// Edges of each surface as the simulator has it, without the tubes that lines are drawn as.
    edges: Vec<Edges>,
}

/// Simulated time after which a run was stopped by Ctrl-C, and the time that was asked for `[s]`.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Interrupted {
    pub at: f64,
    pub of: f64,
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stopped by Ctrl-C after {:.3} of {:.3} s; checks cover that part only", self.at, self.of)
    }
}

/// Facts on a recorded run for the JSON file and the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    /// Simulated time, and wall-clock time from the start of the recording to its last window `[s]`.
    pub seconds: Option<[f64; 2]>,
    /// Parameters of the scene.
    pub scene: Settings,
    pub interrupted: Option<Interrupted>,
    pub warnings: Vec<Warning>,
    pub notes: Vec<RunNote>,
}

impl Told {
    fn update(&mut self, run: &Run) {
        if self.warnings != run.warnings() {
            self.warnings = run.warnings().to_vec();
        }
        if self.notes != run.notes() {
            self.notes = run.notes().to_vec();
        }
    }
}

/// Over the windows since the last frame.
#[derive(Default)]
struct Sums {
    windows: u64,
    seconds: f64,
    /// Loads times the length of their windows, in the order of [`Run::loads`] [N s, N m s].
    loads: Vec<Wrench>,
    gap: f64,
    load_change: f64,
    passes: u64,
    iterations: Vec<u64>,
}

/// Clocks at the last frame, and what momenta were at the first.
#[derive(Default)]
struct Before {
    stages: Vec<Vec<(String, f64)>>,
    coupling: f64,
    momenta: Vec<Option<[f64; 3]>>,
}

/// By default a tape holds a snapshot of the whole run for every second of its frames.
const SECONDS_BETWEEN_SNAPSHOTS: f64 = 1.0;

impl Recorder {
    /// Begins the tape at `path`, with a snapshot and the first frame.
    ///
    /// # Errors
    /// The file cannot be made, the camera sees nothing, or a simulator panicked while it was looked at.
    pub(crate) fn new(path: PathBuf, begin: Begin, exact: bool, run: &mut Run) -> Result<Self, TapeError> {
        let writer = TapeWriter::create(&path, &begin)?;
        let stride = (SECONDS_BETWEEN_SNAPSHOTS * begin.frames_per_second).ceil().max(1.0) as u64;
        let (sums, inputs_from, windows) = (Sums::default(), run.windows(), run.windows());
        let mut before = Before::default();
        (before.stages, before.coupling) = clocks(run);
        before.momenta = momenta(run, &begin)?;
        let mut recorder = Self {
            path,
            writer,
            begin,
            frames: 0,
            stride,
            sums,
            before,
            inputs_from,
            windows,
            time: run.time(),
            exact,
            previous: None,
            numbers: Numbers::default(),
            shown: f64::NEG_INFINITY,
            told: Told { scene: run.settings().clone(), ..Told::default() },
            started: Instant::now(),
            edges: run.picture()?.surfaces.iter().map(|posed| Edges::of(&posed.surface)).collect(),
        };
        recorder.told.update(run);
        recorder.frames_until_now(run)?;
        Ok(recorder)
    }

    /// Takes in the window that `run` has just taken, and writes a frame where one is due.
    ///
    /// # Errors
    /// The tape cannot be written, or the run has gone back: a tape goes only forwards.
    pub fn window(&mut self, run: &mut Run) -> Result<(), TapeError> {
        if run.windows() != self.windows + 1 {
            let (path, found, expected) = (self.path.clone(), run.windows(), self.windows + 1);
            return Err(TapeError::NotNext { path, found, expected });
        }
        self.windows += 1;
        self.told.update(run);
        self.told.seconds = Some([run.time() - self.begin.start, self.started.elapsed().as_secs_f64()]);
        self.sums.add(run, run.time() - std::mem::replace(&mut self.time, run.time()));
        self.frames_until_now(run)
    }

    /// Writes the frames that are due. Keeps the current state if the next window needs it for
    /// interpolation.
    fn frames_until_now(&mut self, run: &mut Run) -> Result<(), TapeError> {
        let rate = self.begin.frames_per_second;
        // A window may end a rounding error before a frame's time.
        let rounding = 1e-6 / rate;
        let (start, previous) = (self.begin.start, self.previous.take());
        let due_at = |frames: u64| start + frames as f64 / rate;
        let mut now = None;
        if due_at(self.frames) <= run.time() + rounding {
            now = Some(Shot::of(run, &self.begin)?);
        }
        while let Some(end) = &now
            && due_at(self.frames) <= end.time + rounding
        {
            let time = due_at(self.frames);
            if time >= end.time - rounding || self.exact {
                self.frame(run, end)?;
                while due_at(self.frames) <= end.time + rounding {
                    self.frames += 1;
                }
                continue;
            }
            let between = match &previous {
                Some(start) => start.between(end, time),
                // Windows have become longer than the last one.
                None => end.back_to(time),
            };
            self.frame(run, &between)?;
        }
        let next = due_at(self.frames);
        if !self.exact && next < run.time() + run.rate().dt() - rounding {
            self.previous = Some(now.map_or_else(|| Shot::of(run, &self.begin), Ok)?);
        }
        Ok(())
    }

    /// Writes a last frame where the run is, if it has gone on since the last one.
    ///
    /// # Errors
    /// The tape cannot be written.
    pub fn last(&mut self, run: &mut Run) -> Result<(), TapeError> {
        if self.shown < run.time() - 1e-6 / self.begin.frames_per_second {
            let end = Shot::of(run, &self.begin)?;
            return self.frame(run, &end);
        }
        Ok(())
    }

    /// What is on the tape so far.
    ///
    /// # Errors
    /// It cannot be written or read.
    pub fn tape(&mut self) -> Result<Tape, TapeError> {
        self.writer.flush()?;
        Tape::open(&self.path)
    }

    /// Notes that the run was stopped before its end, `of` this many seconds of simulated time.
    /// Table, JSON and page say so.
    pub fn interrupted(&mut self, of: f64) {
        self.told.interrupted = Some(Interrupted { at: self.time - self.begin.start, of });
    }

    /// Warnings and notes of the run so far.
    pub(crate) fn told(&self) -> &Told {
        &self.told
    }

    /// Writes the end and gives the file its final name.
    pub(crate) fn finish(self, json: String, path: &Path) -> Result<(), TapeError> {
        self.writer.end(&End { json })?;
        std::fs::rename(&self.path, path).map_err(|source| TapeError::File { path: path.into(), source })
    }

    /// Writes a frame within the last window of `run`, or at its end.
    fn frame(&mut self, run: &mut Run, shot: &Shot) -> Result<(), TapeError> {
        // The first frame of a window has counted its windows and costs.
        if self.sums.windows > 0 || self.frames == 0 {
            self.numbers = self.numbers(run)?;
        } else {
            self.numbers.windows = 0;
        }
        self.shown = shot.time;
        let surfaces = shot.placements();
        self.numbers.strains = self.strains(&surfaces);
        let frame = Frame {
            time: shot.time,
            window: run.windows(),
            surfaces,
            clouds: shot.clouds.clone(),
            forces: self.sums.forces(run, &shot.handles),
            numbers: self.numbers.clone(),
            inputs: run.inputs_since(self.inputs_from),
        };
        self.writer.frame(&frame)?;
        if self.frames.is_multiple_of(self.stride) {
            self.writer.snapshot(&run.save()?)?;
        }
        self.inputs_from = run.windows();
        self.sums.start_again();
        self.frames += 1;
        Ok(())
    }

    fn numbers(&mut self, run: &mut Run) -> Result<Numbers, TapeError> {
        let windows = self.sums.windows.max(1) as f64;
        let (stages, coupling) = clocks(run);
        let since = |now: &[(String, f64)], before: Option<&Vec<(String, f64)>>| -> Vec<(String, f64)> {
            let old = |stage: &str| before.and_then(|list| list.iter().find(|(name, _)| name == stage));
            let took = |(name, seconds): &(String, f64)| seconds - old(name).map_or(0.0, |(_, seconds)| *seconds);
            now.iter().map(|stage| (stage.0.clone(), 1e3 * took(stage) / windows)).collect()
        };
        let mut energies = Vec::new();
        for name in &self.begin.simulators {
            energies.push(run.simulator_ledger(name)?.map(|ledger| [ledger.kinetic, ledger.potential]));
        }
        let ledgers = run.ledgers();
        let six = |wrench: Wrench| {
            let ([a, b, c], [d, e, f]) = (wrench.linear, wrench.angular);
            [a, b, c, d, e, f]
        };
        let numbers = Numbers {
            energies,
            work: ledgers.iter().map(|ledger| ledger.work).sum(),
            momentum_error: self.momentum_error(run)?,
            gap: self.sums.gap,
            load_change: self.sums.load_change,
            passes: self.sums.passes as f64 / windows,
            iterations: self.sums.iterations.iter().map(|&sum| sum as f64 / windows).collect(),
            stages: stages.iter().enumerate().map(|(i, now)| since(now, self.before.stages.get(i))).collect(),
            coupling: 1e3 * (coupling - self.before.coupling) / windows,
            impulses: ledgers.iter().map(|ledger| [ledger.used, ledger.got, ledger.pending].map(six)).collect(),
            windows: self.sums.windows,
            strains: vec![],
        };
        (self.before.stages, self.before.coupling) = (stages, coupling);
        Ok(numbers)
    }

    fn strains(&self, placements: &[Placement]) -> Vec<Option<[f64; 2]>> {
        let strain = |(edges, placement): (&Edges, &Placement)| match placement {
            Placement::Deformed(vertices) => Some(edges.strain(vertices)),
            Placement::Rigid { .. } => None,
        };
        self.edges.iter().zip(placements).map(strain).collect()
    }

    /// |Σ p − external − given + got, now less at the begin| over the simulators that know `external`.
    fn momentum_error(&self, run: &mut Run) -> Result<Option<f64>, TapeError> {
        let (mut open, mut known) = ([0.0; 3], false);
        for (now, first) in momenta(run, &self.begin)?.iter().zip(&self.before.momenta) {
            if let (Some(now), Some(first)) = (now, first) {
                known = true;
                (0..3).for_each(|k| open[k] += now[k] - first[k]);
            }
        }
        Ok(known.then(|| open.iter().map(|x| x * x).sum::<f64>().sqrt()))
    }
}

/// Each simulator's p − external − given + got, which only its own errors change; `None` where it does not know.
fn momenta(run: &mut Run, begin: &Begin) -> Result<Vec<Option<[f64; 3]>>, TapeError> {
    let ledgers = run.ledgers();
    let mut momenta = Vec::new();
    for name in &begin.simulators {
        let given = run.impulse_given(name)?;
        let own = run.simulator_ledger(name)?.and_then(|ledger| Some((ledger.momentum, ledger.external?.linear)));
        momenta.push(own.map(|(p, external)| {
            let got = |k: usize| ledgers.iter().filter(|l| l.follower == *name).map(|l| l.got.linear[k]).sum::<f64>();
            std::array::from_fn(|k| p[k] - external[k] - given[k] + got(k))
        }));
    }
    Ok(momenta)
}

/// Seconds by simulator and stage so far, and those of the coupling itself. A simulator without stages has "step".
fn clocks(run: &Run) -> (Vec<Vec<(String, f64)>>, f64) {
    let report = run.report();
    let stages = report.stages.into_iter().zip(&report.simulators);
    let named = stages.map(|(stages, (_, seconds))| match stages.0.is_empty() && *seconds > 0.0 {
        true => vec![("step".to_string(), *seconds)],
        false => stages.0,
    });
    (named.collect(), report.coupling)
}

impl Sums {
    /// A window of `dt` `[s]`.
    fn add(&mut self, run: &Run, dt: f64) {
        let Some(window) = run.last_window() else { return };
        if self.windows == 0 {
            self.seconds = 0.0;
            self.loads.clear();
        }
        self.windows += 1;
        self.seconds += dt;
        self.gap = self.gap.max(window.gap);
        self.load_change = self.load_change.max(window.load_change);
        self.passes += u64::from(window.passes);
        self.iterations.resize(window.iterations.len(), 0);
        self.iterations.iter_mut().zip(&window.iterations).for_each(|(sum, &n)| *sum += u64::from(n));
        for (i, load) in run.loads().enumerate() {
            match self.loads.get_mut(i) {
                Some(sum) => *sum += load.load.scaled(dt),
                None => self.loads.push(load.load.scaled(dt)),
            }
        }
    }

    /// Resets the sums. Loads stay until the next window, for further frames of the same window.
    fn start_again(&mut self) {
        let Self { windows, gap, load_change, passes, iterations, .. } = self;
        (*windows, *gap, *load_change, *passes) = (0, 0.0, 0.0, 0);
        iterations.clear();
    }

    /// Mean loads over the windows, applied at the positions `handles`.
    fn forces(&self, run: &Run, handles: &[[f64; 3]]) -> Vec<Force> {
        let share = if self.seconds > 0.0 { 1.0 / self.seconds } else { 0.0 };
        let means = run.loads().zip(handles).zip(&self.loads).map(|((load, at), sum)| (load, at, sum.scaled(share)));
        means
            .filter(|(.., mean)| *mean != Wrench::ZERO)
            .map(|(load, &position, mean)| Force {
                interface: load.interface,
                position,
                force: mean.linear,
                torque: mean.angular,
            })
            .collect()
    }
}
