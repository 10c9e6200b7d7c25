//! What every law is tried on: loads on four handles, the first Point held on a swinging path, and
//! a box pushed up from below; then a trace of all that can be seen.

use std::{f64::consts::TAU, sync::Arc};

use super::{Broken, Suite};
use crate::{
    Carrier, Guide, HandleId, HandleState, HandleTable, Inputs, Kind, Motion, Simulator, Snapshot, StepReport, Surface,
    Wrench, hash_bytes, layout_of,
};

/// Steps of a trace: the box meets what is lowest within the first third.
pub(super) const STEPS: usize = 72;

/// A simulator with its guides, and the inputs of each of its steps.
pub(super) struct Scenario {
    pub simulator: Box<dyn Simulator>,
    dt: f64,
    load: f64,
    loaded: Vec<(HandleId, Kind)>,
    held: Option<HandleState>,
    lift: Option<HandleState>,
    size: f64,
}

/// All that can be seen of one step.
pub(super) struct Seen {
    pub snapshot: Snapshot,
    pub readings: Vec<HandleState>,
    pub report: StepReport,
}

impl Scenario {
    pub(super) fn new(suite: &Suite) -> Result<Self, Broken> {
        let mut simulator = (suite.make)();
        let handles: Vec<_> = simulator.handles().iter().collect();
        let states = read(&*simulator, &handles);
        let (low, high) = bounds(&*simulator, &states);
        let size = (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
        let size = if size > 0.0 { size } else { 1.0 };

        let follows = simulator.follows();
        let first_point = handles.iter().position(|&handle| simulator.handles().kind(handle) == Ok(Kind::Point));
        let held = first_point.filter(|_| follows.points);
        let (mut guides, mut lift) = (Vec::new(), None);
        if let Some(i) = held {
            guides.push(Guide::Attachment { own: handles[i] });
        }
        if follows.rigid_surfaces {
            let (surface, begin) = rising_box(low, high, size);
            let except = Vec::new();
            guides.push(Guide::Obstacle {
                surface: Arc::new(surface),
                friction: 0.3,
                restitution: 0.2,
                thickness: 0.002 * size,
                except,
            });
            lift = Some(begin);
        }
        if !guides.is_empty() {
            simulator.follow(guides).map_err(|error| Broken::new("8 (a follower takes its guides)", 0, error))?;
        }
        let every = handles.len().div_ceil(4).max(1);
        let loaded = handles
            .iter()
            .step_by(every)
            .map(|&handle| (handle, simulator.handles().kind(handle).unwrap_or(Kind::Point)));
        let loaded = loaded.collect();
        let held = held.map(|i| states[i]);
        Ok(Self { simulator, dt: suite.dt, load: suite.load, loaded, held, lift, size })
    }

    /// The inputs of step number `k`.
    pub(super) fn inputs(&self, k: usize) -> Inputs {
        let phase = k as f64;
        let loads = self.loaded.iter().enumerate().map(|(j, &(handle, kind))| {
            let (a, b) = (phase + j as f64, 2.0 * phase - j as f64);
            let linear = [a.cos(), b.sin(), (a + b).cos()].map(|x| self.load * x);
            let torque = [b.cos(), a.sin(), (b - a).sin()].map(|x| 0.1 * self.size * self.load * x);
            (handle, if kind == Kind::Frame { Wrench { linear, angular: torque } } else { Wrench::force(linear) })
        });
        let motion = |path: &dyn Fn(f64) -> HandleState| {
            let (begin, end) = (path(phase * self.dt), path((phase + 1.0) * self.dt));
            Some(Motion { begin: [begin].into(), end: [end].into() })
        };
        let swing = self.held.as_ref().map(|start| motion(&|t| self.swing(start, t)));
        let lift = self.lift.as_ref().map(|start| motion(&|t| self.lift(start, t)));
        Inputs { loads: loads.collect(), motions: swing.into_iter().chain(lift).collect() }
    }

    /// x₀ + a (sin ωt, (1 − cos ωt)/2, 0), 64 steps a turn, 2 % of the simulator's size.
    fn swing(&self, start: &HandleState, t: f64) -> HandleState {
        let (a, w) = (0.02 * self.size, TAU / (64.0 * self.dt));
        let ([x, y, z], (sin, cos)) = (start.position, (w * t).sin_cos());
        HandleState::point([x + a * sin, y + 0.5 * a * (1.0 - cos), z], [a * w * cos, 0.5 * a * w * sin, 0.0])
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
        let report = self
            .simulator
            .step(self.dt, inputs)
            .map_err(|error| Broken::new("7 (an ordinary step succeeds)", k, error))?;
        Ok(self.look(report))
    }

    pub(super) fn look(&self, report: StepReport) -> Seen {
        let handles: Vec<_> = self.simulator.handles().iter().collect();
        Seen { snapshot: self.simulator.snapshot(None), readings: read(&*self.simulator, &handles), report }
    }

    /// The whole trace.
    pub(super) fn trace(suite: &Suite) -> Result<Vec<Seen>, Broken> {
        let mut scenario = Self::new(suite)?;
        (0..STEPS).map(|k| scenario.step(k)).collect()
    }
}

impl Seen {
    /// What differs, if anything does by a single bit.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        if let Some(field) = self.snapshot.first_difference(&other.snapshot) {
            return Some(format!("snapshot{field}"));
        }
        let bits = |states: &[HandleState]| layout_of(&states);
        if let Some(i) = (0..self.readings.len()).find(|&i| bits(&self.readings[i..=i]) != bits(&other.readings[i..=i]))
        {
            return Some(format!("reading of handle {i}: {:?} / {:?}", self.readings[i], other.readings[i]));
        }
        let report = |seen: &Self| StepReport { stages: Default::default(), ..seen.report.clone() };
        (layout_of(&report(self)) != layout_of(&report(other)))
            .then(|| format!("report: {:?} / {:?}", self.report, other.report))
    }

    pub(super) fn hash(&self) -> u64 {
        let report = StepReport { stages: Default::default(), ..self.report.clone() };
        layout_of(&(hash_bytes(&self.snapshot.to_bytes()), &self.readings, report))
    }
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
    simulator.cloud(&mut points);
    let reach =
        |pick: fn(f64, f64) -> f64, start: f64| [0, 1, 2].map(|axis| points.iter().map(|x| x[axis]).fold(start, pick));
    if points.is_empty() {
        ([0.0; 3], [0.0; 3])
    } else {
        (reach(f64::min, f64::INFINITY), reach(f64::max, f64::NEG_INFINITY))
    }
}

/// A closed box a quarter wider than the bounds whose top lies 2 % of the size below them.
fn rising_box(low: [f64; 3], high: [f64; 3], size: f64) -> (Surface, HandleState) {
    let half = [0.5 * (high[0] - low[0]) + 0.25 * size, 0.25 * size, 0.5 * (high[2] - low[2]) + 0.25 * size];
    let corner = |i: usize| [0, 1, 2].map(|axis| if i >> axis & 1 == 1 { half[axis] } else { -half[axis] });
    let quads: [[u32; 4]; 6] = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let owner = HandleTable::new("laws", "box").owner;
    let surface = Surface {
        name: "box".into(),
        carrier: Carrier::Frame(HandleId { owner, index: 0 }),
        vertices: (0..8).map(corner).collect(),
        triangles: quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
        two_sided: false,
        friction: 0.3,
        restitution: 0.2,
        thickness: 0.0,
    };
    let middle = [0.5 * (low[0] + high[0]), low[1] - half[1] - 0.02 * size, 0.5 * (low[2] + high[2])];
    (surface, HandleState::point(middle, [0.0; 3]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six times the volume is the sum of the triangles' triple products; positive where they face out.
    #[test]
    fn the_box_faces_outwards() {
        let (surface, _) = rising_box([0.0; 3], [1.0; 3], 1.0);
        let x = |i: u32| nalgebra::Vector3::from(surface.vertices[i as usize]);
        let volume: f64 = surface.triangles.iter().map(|&[a, b, c]| x(a).dot(&x(b).cross(&x(c))) / 6.0).sum();
        assert!((volume - 1.5 * 0.5 * 1.5).abs() < 1e-12, "{volume}");
    }
}
