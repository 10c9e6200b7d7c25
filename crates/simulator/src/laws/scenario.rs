//! What every law is tried on: loads on four handles, the first Point held on a swinging path, and
//! a box pushed up from below; then a trace of all that can be seen.

use std::{f64::consts::TAU, sync::Arc};

use nalgebra::{UnitQuaternion, Vector3};

use super::{Broken, Suite, rising_box::rising_box};
use crate::{
    Carrier, Cloud, Guide, HandleId, HandleState, Inputs, Kind, Ledger, Mobility, Motion, Outcome, Response, Simulator,
    SimulatorError, Snapshot, StepReport, Wrench, fields, layout_of,
    path::{quaternion, xyzw},
};

/// Steps of a trace: the box meets what is lowest within the first third.
pub(super) const STEPS: usize = 72;

/// Amplitude of the swing, relative to the simulator's size.
pub(super) const SWING: f64 = 0.02;

const ORDINARY: &str = "7 (an ordinary step succeeds with finite values)";

/// A simulator with its guides, and the inputs of each of its steps.
pub(super) struct Scenario {
    pub simulator: Box<dyn Simulator>,
    pub guides: Vec<Guide>,
    /// Largest extent `[m]`; 1 for a single point.
    pub size: f64,
    dt: f64,
    load: f64,
    loaded: Vec<(HandleId, Kind)>,
    /// Where the carriers of each guide start.
    starts: Vec<Vec<HandleState>>,
}

/// All that can be seen between two steps.
pub(super) struct View {
    pub snapshot: Snapshot,
    pub time: f64,
    readings: Vec<HandleState>,
    ledger: Option<Ledger>,
    cloud: Cloud,
}

/// All that can be seen of one step.
pub(super) struct Seen {
    pub view: View,
    pub report: StepReport,
}

/// What one trace tries of that which the simulator says it follows.
#[derive(Clone, Copy)]
pub(super) struct Variant {
    /// Kind of the handle that is held.
    held: Option<Kind>,
    /// The box is carried by Points.
    deforming: Option<bool>,
}

/// All that the simulator says it follows, in as few traces as that takes. Every law uses the first.
pub(super) fn variants(simulator: &dyn Simulator) -> Vec<Variant> {
    let (follows, table) = (simulator.follows(), simulator.handles());
    let has = |kind| table.groups().iter().any(|group| group.kind == kind && group.count > 0);
    let held = [(follows.points, Kind::Point), (follows.frames, Kind::Frame)];
    let held: Vec<_> = held.into_iter().filter(|&(can, kind)| can && has(kind)).map(|(_, kind)| kind).collect();
    let boxes = [(follows.rigid_surfaces, false), (follows.deforming_surfaces, true)];
    let boxes: Vec<_> = boxes.into_iter().filter(|&(can, _)| can).map(|(_, deforming)| deforming).collect();
    (0..held.len().max(boxes.len()).max(1))
        .map(|i| Variant {
            held: held.get(i).or(held.first()).copied(),
            deforming: boxes.get(i).or(boxes.first()).copied(),
        })
        .collect()
}

impl Scenario {
    pub(super) fn new(suite: &Suite) -> Result<Self, Broken> {
        Self::variant(suite, 0)
    }

    /// The scenario of variant number `i`.
    pub(super) fn variant(suite: &Suite, i: usize) -> Result<Self, Broken> {
        suite.check()?;
        let mut simulator = (suite.make)();
        let handles: Vec<_> = simulator.handles().iter().collect();
        let states = read(&*simulator, &handles);
        let (low, high) = bounds(&*simulator, &states);
        let size = (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
        let size = if size > 0.0 { size } else { 1.0 };

        let Variant { held, deforming } = variants(&*simulator)[i];
        let (mut guides, mut starts) = (Vec::new(), Vec::new());
        if let Some(deforming) = deforming {
            let (surface, carriers) = rising_box(low, high, size, deforming);
            let (surface, thickness, except) = (Arc::new(surface), 0.002 * size, Vec::new());
            guides.push(Guide::Obstacle { surface, friction: 0.3, restitution: 0.2, thickness, except });
            starts.push(carriers);
        }
        if let Some(kind) = held {
            let i = hold_the_first_of(kind, &mut *simulator, &mut guides)?;
            starts.insert(0, vec![states[i]]);
        } else if !guides.is_empty() {
            simulator.follow(guides.clone()).map_err(not_taken)?;
        }

        let every = handles.len().div_ceil(4).max(1);
        let kind = |handle| simulator.handles().kind(handle).unwrap_or(Kind::Point);
        let loaded = handles.iter().step_by(every).map(|&handle| (handle, kind(handle))).collect();
        Ok(Self { simulator, guides, size, dt: suite.dt, load: suite.load, loaded, starts })
    }

    /// The inputs of step number `k`.
    pub(super) fn inputs(&self, k: usize) -> Inputs {
        let phase = k as f64;
        let wrench = |j: usize, kind: Kind, size: f64| {
            let (a, b) = (phase + j as f64, 2.0 * phase - j as f64);
            let linear = [a.cos(), b.sin(), (a + b).cos()].map(|x| size * x);
            let torque = [b.cos(), a.sin(), (b - a).sin()].map(|x| 0.1 * self.size * size * x);
            if kind == Kind::Frame { Wrench { linear, angular: torque } } else { Wrench::force(linear) }
        };
        let loaded = || self.loaded.iter().enumerate();
        let loads = loaded().map(|(j, &(handle, kind))| (handle, wrench(j, kind, self.load)));
        // In every third step, a quarter as large as the loads.
        let struck = loaded().filter(|(j, _)| (k + j).is_multiple_of(3));
        let impulses = struck.map(|(j, &(handle, kind))| (handle, wrench(j + 1, kind, 0.25 * self.load * self.dt)));
        let motions = self.guides.iter().zip(&self.starts).map(|(guide, starts)| {
            let at = |t: f64| starts.iter().map(|start| self.path(guide, start, t)).collect();
            Some(Motion { begin: at(phase * self.dt), end: at((phase + 1.0) * self.dt) })
        });
        let responses = self.guides.iter().map(|guide| Some(vec![self.response(guide); guide.carriers()].into()));
        Inputs {
            loads: loads.collect(),
            impulses: impulses.collect(),
            motions: motions.collect(),
            responses: responses.collect(),
        }
    }

    /// Carriers of a guide weigh what the load moves by a tenth of the simulator's size in 100 steps.
    fn response(&self, guide: &Guide) -> Response {
        let inverse_mass = 0.2 * self.size / (self.load * (100.0 * self.dt).powi(2));
        let is_frame = match guide {
            Guide::Attachment { own } => self.simulator.handles().kind(*own) == Ok(Kind::Frame),
            Guide::Obstacle { surface, .. } => matches!(surface.carrier, Carrier::Frame(_)),
        };
        let turns = if is_frame { inverse_mass / self.size.powi(2) } else { 0.0 };
        let inverse_inertia = [[turns, 0.0, 0.0], [0.0, turns, 0.0], [0.0, 0.0, turns]];
        let mobility = Mobility::body(inverse_mass, inverse_inertia);
        Response { mobility, acceleration: [0.1, -1.0, 0.2], next_step: self.dt, ..Response::default() }
    }

    /// Inputs that a scheme could try before those of step number `k`: other loads, half the motion.
    pub(super) fn trial(&self, k: usize) -> Inputs {
        let motions = self.guides.iter().zip(self.inputs(k).motions);
        let half = motions.map(|(guide, motion)| motion.map(|motion| motion.part(guide, self.dt, 2, 0)));
        Inputs { motions: half.collect(), ..self.inputs(STEPS + 7 * k) }
    }

    fn path(&self, guide: &Guide, start: &HandleState, t: f64) -> HandleState {
        match guide {
            Guide::Attachment { own } if self.simulator.handles().kind(*own) == Ok(Kind::Frame) => self.turn(start, t),
            Guide::Attachment { .. } => self.swing(start, t),
            Guide::Obstacle { .. } => self.lift(start, t),
        }
    }

    /// x₀ + a (sin ωt, (1 − cos ωt)/2, 0), 64 steps a turn, 2 % of the simulator's size.
    fn swing(&self, start: &HandleState, t: f64) -> HandleState {
        let (a, w) = (SWING * self.size, TAU / (64.0 * self.dt));
        let ([x, y, z], (sin, cos)) = (start.position, (w * t).sin_cos());
        HandleState::point([x + a * sin, y + 0.5 * a * (1.0 - cos), z], [a * w * cos, 0.5 * a * w * sin, 0.0])
    }

    /// The swing of a Frame, which turns about z by 0.02 sin ωt as it goes.
    fn turn(&self, start: &HandleState, t: f64) -> HandleState {
        let (a, w) = (SWING, TAU / (64.0 * self.dt));
        let turned = UnitQuaternion::from_scaled_axis(Vector3::z() * a * (w * t).sin()) * quaternion(start);
        HandleState { orientation: xyzw(turned), spin: [0.0, 0.0, a * w * (w * t).cos()], ..self.swing(start, t) }
    }

    /// Upwards by 10 % of the simulator's size over the trace.
    fn lift(&self, start: &HandleState, t: f64) -> HandleState {
        let speed = 0.1 * self.size / (STEPS as f64 * self.dt);
        let [x, y, z] = start.position;
        HandleState::point([x, y + speed * t, z], [0.0, speed, 0.0])
    }

    /// Takes step number `k`.
    pub(super) fn step(&mut self, k: usize) -> Result<Seen, Broken> {
        let inputs = self.inputs(k);
        self.step_with(k, &inputs)
    }

    /// Takes step number `k` with other inputs than its own.
    pub(super) fn step_with(&mut self, k: usize, inputs: &Inputs) -> Result<Seen, Broken> {
        let report = self.advance(k, inputs)?;
        let seen = Seen { view: self.view(None), report };
        match seen.not_finite() {
            Some(found) => Err(Broken::new(ORDINARY, k, found)),
            None => Ok(seen),
        }
    }

    /// Takes step number `k` and looks at nothing.
    pub(super) fn advance(&mut self, k: usize, inputs: &Inputs) -> Result<StepReport, Broken> {
        self.simulator.step(self.dt, inputs).map_err(|error| Broken::new(ORDINARY, k, error))
    }

    /// Takes part number `part` of `parts` of step number `k`, and looks at nothing.
    pub(super) fn advance_part(&mut self, k: usize, parts: u32, part: u32) -> Result<(), Broken> {
        let inputs = self.inputs(k);
        let cut = |(guide, motion): (&Guide, &Option<Motion>)| {
            motion.as_ref().map(|motion| motion.part(guide, self.dt, parts, part))
        };
        let motions = self.guides.iter().zip(&inputs.motions).map(cut).collect();
        let impulses = if part == 0 { inputs.impulses } else { Vec::new() };
        let taken = self.simulator.step(self.dt / f64::from(parts), &Inputs { motions, impulses, ..inputs });
        taken.map(drop).map_err(|error| Broken::new(ORDINARY, k, error))
    }

    /// Looks at everything.
    pub(super) fn view(&self, reuse: Option<Snapshot>) -> View {
        let handles: Vec<_> = self.simulator.handles().iter().collect();
        let mut cloud = Cloud::default();
        self.simulator.cloud(&mut cloud);
        View {
            snapshot: self.simulator.snapshot(reuse),
            time: self.simulator.time(),
            readings: read(&*self.simulator, &handles),
            ledger: self.simulator.ledger(),
            cloud,
        }
    }

    /// The whole trace.
    pub(super) fn trace(suite: &Suite) -> Result<Vec<Seen>, Broken> {
        let mut scenario = Self::new(suite)?;
        (0..STEPS).map(|k| scenario.step(k)).collect()
    }
}

/// Puts an attachment of the first handle of `kind` that the simulator lets be held before the
/// other `guides`, and gives it all of them. The number of that handle.
fn hold_the_first_of(kind: Kind, simulator: &mut dyn Simulator, guides: &mut Vec<Guide>) -> Result<usize, Broken> {
    let table = simulator.handles();
    let of_kind: Vec<_> = table.iter().enumerate().filter(|(_, own)| table.kind(*own) == Ok(kind)).collect();
    let mut refusal = SimulatorError::refused("suite", "no handle", "one that can be held");
    for (i, own) in of_kind {
        let with_it: Vec<_> = [Guide::Attachment { own }].into_iter().chain(guides.iter().cloned()).collect();
        match simulator.follow(with_it.clone()) {
            Ok(()) => {
                *guides = with_it;
                return Ok(i);
            }
            Err(error) => refusal = error,
        }
    }
    Err(not_taken(refusal))
}

fn not_taken(error: SimulatorError) -> Broken {
    Broken::new("8 (a follower takes its guides)", 0, error)
}

impl View {
    /// What differs, if anything does by a single bit.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        if let Some(field) = self.snapshot.first_difference(&other.snapshot) {
            return Some(format!("snapshot{field}"));
        }
        None.or_else(|| named("time", &self.time, &other.time))
            .or_else(|| named("readings", &self.readings, &other.readings))
            .or_else(|| named("ledger", &self.ledger, &other.ledger))
            .or_else(|| named("cloud", &self.cloud, &other.cloud))
    }
}

impl Seen {
    /// What differs, if anything does by a single bit.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        self.view.difference(&other.view).or_else(|| named("report", &self.timeless(), &other.timeless()))
    }

    pub(super) fn hash(&self) -> u64 {
        let View { snapshot, time, readings, ledger, cloud } = &self.view;
        layout_of(&(snapshot.to_bytes(), time, readings, ledger, cloud, self.timeless()))
    }

    /// The report without the seconds it took.
    fn timeless(&self) -> StepReport {
        StepReport { stages: Default::default(), ..self.report.clone() }
    }

    /// A value that is not finite, or is not a part of a whole. Energies are left out: those of a huge but finite speed
    /// overflow.
    pub(super) fn not_finite(&self) -> Option<String> {
        if let Some(i) = self.view.readings.iter().position(|state| !state.is_finite()) {
            return Some(format!("handle {i} is at {:?}", self.view.readings[i]));
        }
        if let Some(i) = self.view.cloud.positions.iter().position(|x| x.iter().any(|x| !x.is_finite())) {
            return Some(format!("point {i} of the cloud is at {:?}", self.view.cloud.positions[i]));
        }
        if let Some(reaction) = self.report.reactions.iter().find(|reaction| !reaction.impulse.is_finite()) {
            return Some(format!("{reaction:?}"));
        }
        if !(0.0..=1.0).contains(&self.report.budget_used) {
            return Some(format!("{} of the work of a step was used", self.report.budget_used));
        }
        match &self.report.outcome {
            Outcome::StoppedAt { error, bound, .. } if !(error + bound).is_finite() => {
                Some(format!("{:?}", self.report.outcome))
            }
            _ => None,
        }
    }
}

/// The first field in which two values differ, in the words `of.path: one / other`.
fn named(of: &str, one: &impl serde::Serialize, other: &impl serde::Serialize) -> Option<String> {
    if layout_of(one) == layout_of(other) {
        return None;
    }
    fields::first_difference(&fields::fields(one), &fields::fields(other)).map(|field| format!("{of}{field}"))
}

/// The states of `handles`, which are the simulator's own.
pub(super) fn read(simulator: &dyn Simulator, handles: &[HandleId]) -> Vec<HandleState> {
    let mut states = vec![HandleState::default(); handles.len()];
    simulator.read(handles, &mut states).expect("a simulator reads its own handles");
    states
}

/// The box around all handles, surfaces and clouds.
fn bounds(simulator: &dyn Simulator, states: &[HandleState]) -> ([f64; 3], [f64; 3]) {
    let mut points: Vec<[f64; 3]> = states.iter().map(|state| state.position).collect();
    for surface in simulator.surfaces() {
        points.extend(surface.posed(&read(simulator, surface.carrier.handles())));
    }
    let mut cloud = Cloud::default();
    simulator.cloud(&mut cloud);
    points.extend(cloud.positions);
    let reach =
        |pick: fn(f64, f64) -> f64, start: f64| [0, 1, 2].map(|axis| points.iter().map(|x| x[axis]).fold(start, pick));
    if points.is_empty() {
        ([0.0; 3], [0.0; 3])
    } else {
        (reach(f64::min, f64::INFINITY), reach(f64::max, f64::NEG_INFINITY))
    }
}
