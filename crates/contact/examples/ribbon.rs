//! You will see a ribbon of 8,000 triangles come down on a floor and fold onto itself in layers, after \[TPS08\] figure 5.
//!
//! `cargo run --release -p partita-contact --example ribbon [-- --seconds S --out DIR]`:
//! a minute and a half on two cores, film and page included.
//!
//! The cloth is masses and springs, as the tests have it; all that keeps its layers apart is this crate. What crosses and
//! what is pinched is counted exactly, in every frame, and one of either is a failure.
//!
//! \[TPS08\] B. Thomaszewski, S. Pabst, W. Straßer: Asynchronous Cloth Simulation. CGI 2008.

/// Cloth as the tests have it.
#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../tests/scenes/common.rs"]
mod springs;

use std::{any::Any, process::ExitCode, sync::Arc, time::Instant};

use nalgebra::{Isometry3, Vector3};
use partita::{prelude::*, simulator::*};
use partita_contact::{Obstacle, Parameters, Path, Report, Shape, State};
use partita_mesh::Mesh;
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Scenery};

use springs::Cloth;

type V3 = Vector3<f64>;
type Failure = Box<dyn std::error::Error>;

/// Cells across and along the ribbon, of two triangles each; its width and length `[m]`; its thickness `[m]`.
const CELLS: [u32; 2] = [20, 200];
const SIZE: [f64; 2] = [0.2, 2.0];
const THICKNESS: f64 = 2e-3;
/// How fast its upper end is let down `[m/s]`, and for how long, until it is let go `[s]`.
const SPEED: f64 = 0.8;
const HELD: f64 = 2.3;

/// Masses and springs as a simulator of a run, so that the run can be recorded. Nothing is coupled to it, so it takes
/// neither loads nor guides.
struct Ribbon {
    table: HandleTable,
    surfaces: [Arc<Surface>; 1],
    cloth: Cloth,
    /// Inverse masses while its upper end is held, and after that `[1/kg]`.
    held: Vec<f64>,
    free: Vec<f64>,
    time: f64,
    last: Frame,
}

/// What the last step came to.
#[derive(Clone, Default)]
struct Frame {
    report: Report,
    crossings: usize,
    /// Of the lowest and highest vertex `[m]`.
    heights: [f64; 2],
    /// That the step took on the clock, and its contacts of it `[s]`.
    seconds: [f64; 2],
}

impl Ribbon {
    /// Upright, a little above the floor, and not quite even, so that it knows where to fold.
    fn new() -> Result<Self, Failure> {
        let mesh = Mesh::grid(CELLS, SIZE)?;
        let [low, high] = mesh.bounds();
        let mesh = mesh.at([-0.5 * (low[0] + high[0]), 0.02 - low[1], 0.0])?;
        let floor = Obstacle::new(Shape::HalfSpace).friction(0.5);
        let parameters = Parameters { thickness: THICKNESS, friction: 0.5, ..Parameters::default() };
        let mut cloth = Cloth::new(&mesh, parameters, vec![floor]);
        cloth.substeps = 24;
        let (mut held, free) = (cloth.inverse_masses.clone(), cloth.inverse_masses.clone());
        let top = mesh.bounds()[1][1] - 1e-9;
        for (x, w) in cloth.x.iter_mut().zip(&mut held) {
            if x.y > top {
                *w = 0.0;
            }
            x.z += 0.012 * (26.0 * x.y).sin();
        }
        cloth.v.fill(-SPEED * V3::y());

        let mut table = HandleTable::new("ribbon", "ribbon");
        table.add("vertices", Kind::Point, cloth.x.len() as u32)?;
        let surface = Surface {
            name: "cloth".into(),
            carrier: Carrier::Points(table.iter().collect()),
            vertices: cloth.x.iter().map(|&x| x.into()).collect(),
            triangles: mesh.triangles().to_vec(),
            lines: vec![],
            two_sided: true,
            primitive: None,
            friction: 0.3,
            restitution: 0.0,
            thickness: 0.5 * THICKNESS,
        };
        Ok(Self { table, surfaces: [Arc::new(surface)], cloth, held, free, time: 0.0, last: Frame::default() })
    }

    fn of(&self) -> Identity {
        Identity::new(&self.table, &self.surfaces)
    }
}

impl Simulator for Ribbon {
    fn name(&self) -> &str {
        "ribbon"
    }
    fn time(&self) -> f64 {
        self.time
    }
    fn handles(&self) -> &HandleTable {
        &self.table
    }
    fn read(&self, handles: &[HandleId], out: &mut [HandleState]) -> Result<(), SimulatorError> {
        self.table.read_with(handles, out, |k| HandleState::point(self.cloth.x[k], self.cloth.v[k]))
    }
    fn surfaces(&self) -> &[Arc<Surface>] {
        &self.surfaces
    }
    fn step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        check(&self.table, &[], dt, inputs)?;
        let cloth = &mut self.cloth;
        cloth.inverse_masses.clone_from(if self.time < HELD { &self.held } else { &self.free });
        let clock = Instant::now();
        let report = cloth.step(dt, &[Path::still(Isometry3::identity())]);
        let seconds = [clock.elapsed().as_secs_f64(), report.cost.seconds()];
        let heights = [f64::min, f64::max].map(|pick| cloth.x.iter().map(|x| x.y).reduce(pick).unwrap_or_default());
        self.last = Frame { report, crossings: cloth.crossings(), heights, seconds };
        self.time += dt;
        Ok(StepReport::new(self.time))
    }
    fn snapshot(&self, reuse: Option<Snapshot>) -> Snapshot {
        let state = (self.cloth.x.clone(), self.cloth.v.clone(), self.cloth.state.clone(), self.time);
        Snapshot::renew(reuse, self.of(), self.time, &state)
    }
    fn retract(&mut self, to: &Snapshot) -> Result<(), SimulatorError> {
        to.get::<Kept>(self.of()).map(|(x, v, state, time)| {
            (self.cloth.x, self.cloth.v, self.cloth.state, self.time) = (x.clone(), v.clone(), state.clone(), *time);
        })
    }
    fn snapshot_from_bytes(&self, bytes: &[u8]) -> Result<Snapshot, SimulatorError> {
        Snapshot::from_bytes::<Kept>(self.of(), bytes)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Positions, velocities, what is inside the floor, time.
type Kept = (Vec<V3>, Vec<V3>, State, f64);

fn main() -> ExitCode {
    report::run("ribbon", &Options::parse(), example)
}

fn example(report: &mut report::Report) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(3.0, 0.1);
    let mut scene = Scene::new(Rate::hz(240));
    scene.add(Ribbon::new()?);
    let mut run = scene.build()?;

    let mut frames = vec![];
    println!("  time  contacts  impacts  rigid  crossings  pinched  ms a step  of contact  height");
    let recording = report.record_each(&mut run, seconds, scenery(), |run| {
        let frame = run.look("ribbon", |ribbon: &Ribbon| ribbon.last.clone())?;
        if frames.len() % 20 == 19 {
            row(run.time(), &frame);
        }
        frames.push(frame);
        Ok("")
    })?;

    let sum = |of: fn(&Frame) -> usize| frames.iter().map(of).sum::<usize>() as f64;
    let mean = |of: fn(&Frame) -> f64| frames.iter().map(of).sum::<f64>() / frames.len() as f64;
    println!(
        "in all {} frames: {} contacts, {} impacts, {} crossings, {} pinched",
        frames.len(),
        sum(|frame| frame.report.contacts),
        sum(|frame| frame.report.impacts),
        sum(|frame| frame.crossings),
        sum(|frame| frame.report.pinched.len()),
    );
    report.check("crossings, in all frames", sum(|frame| frame.crossings), Bound::equals(0.0), "");
    report.check("pinched vertices, in all frames", sum(|frame| frame.report.pinched.len()), Bound::equals(0.0), "");
    let lowest = frames.iter().map(|frame| frame.heights[0]).fold(f64::INFINITY, f64::min);
    report.check("lowest vertex", lowest, Bound::at_least(0.0), "m");
    report.figure("contacts, in all frames", sum(|frame| frame.report.contacts));
    report.figure("impacts, in all frames", sum(|frame| frame.report.impacts));
    report.figure("a step [ms]", 1e3 * mean(|frame| frame.seconds[0]));
    report.figure("its contacts [ms]", 1e3 * mean(|frame| frame.seconds[1]));
    Ok(recording)
}

fn row(time: f64, frame: &Frame) {
    println!(
        "{time:4.2} s {:9} {:8} {:6} {:10} {:8} {:10.1} {:11.1} {:5.2} m",
        frame.report.contacts,
        frame.report.impacts,
        frame.report.rigid,
        frame.crossings,
        frame.report.pinched.len(),
        1e3 * frame.seconds[0],
        1e3 * frame.seconds[1],
        frame.heights[1],
    );
}

/// The lower part, into which the ribbon comes from above.
fn scenery() -> Scenery {
    let camera = Camera::framing([[-0.13, 0.0, -0.15], [0.13, 0.3, 0.15]]).from_direction([1.0, 0.45, 0.8]);
    Scenery::new(camera).ground(0.0).look("ribbon", Look::plain(Colour::SIGNAL)).still(2.2)
}
