//! You will see crates, a ball and a log drop into a pond and float as Archimedes says. The pond is
//! a simulator written here, in under 80 lines; rapier knows nothing of it.

use std::{any::Any, process::ExitCode, sync::Arc};

use nalgebra::Vector3;
use partita::prelude::*;
use partita::simulator::*;
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery};

/// Of the basin `[m²]`.
const AREA: f64 = 12.0;

/// Still water in a basin: it presses on whatever dips in and rises as much as that displaces.
struct Pond {
    table: HandleTable,
    surfaces: [Arc<Surface>; 1],
    guides: Vec<Guide>,
    state: (f64, f64), // time `[s]`, level `[m]`
}

impl Pond {
    fn of(&self) -> Identity {
        Identity::new(&self.table, &(&self.surfaces, &self.guides))
    }

    /// Adds the force, and torque about the body's centre, of the pressure ρ g d on one triangle, and
    /// the volume above it. Exact: the part below the level is cut into triangles, on which pressure
    /// times arm is quadratic, so that the middles of their edges integrate it. Drag is 200 N s/m³.
    fn press(&self, [a, b, c]: [Vector3<f64>; 3], body: &HandleState, sum: &mut Wrench, volume: &mut f64) {
        let [centre, v, w] = [body.position, body.velocity, body.spin].map(Vector3::from);
        let depth = |x: &Vector3<f64>| self.state.1 - x.y;
        let mut wet = Vec::new();
        for (p, q) in [(a, b), (b, c), (c, a)] {
            let (dp, dq) = (depth(&p), depth(&q));
            wet.extend((dp > 0.0).then_some(p));
            wet.extend((dp * dq < 0.0).then(|| p + dp / (dp - dq) * (q - p)));
        }
        for i in 2..wet.len() {
            let (p, q, r) = (wet[0], wet[i - 1], wet[i]);
            let area = 0.5 * (q - p).cross(&(r - p));
            for x in [0.5 * (p + q), 0.5 * (q + r), 0.5 * (r + p)] {
                let force = -(9810.0 * depth(&x) * area + 200.0 * area.norm() * (v + w.cross(&(x - centre)))) / 3.0;
                *sum += Wrench { linear: force.into(), angular: (x - centre).cross(&force).into() };
                *volume -= depth(&x) * area.y / 3.0;
            }
        }
    }
}

impl Simulator for Pond {
    fn name(&self) -> &str {
        "pond"
    }
    fn time(&self) -> f64 {
        self.state.0
    }
    fn handles(&self) -> &HandleTable {
        &self.table
    }
    fn read(&self, handles: &[HandleId], out: &mut [HandleState]) -> Result<(), SimulatorError> {
        self.table.read_with(handles, out, |_| HandleState::point([0.0, self.state.1, 0.0], [0.0; 3]))
    }
    fn surfaces(&self) -> &[Arc<Surface>] {
        &self.surfaces
    }
    fn step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        check(&self.table, &self.guides, dt, inputs)?;
        let (mut reactions, mut displaced) = (Vec::new(), 0.0);
        for (number, (guide, motion)) in self.guides.iter().zip(&inputs.motions).enumerate() {
            let (Guide::Obstacle { surface, .. }, Some(motion)) = (guide, motion) else { continue };
            let (x, mut sum) = (surface.posed(&motion.end), Wrench::ZERO);
            for corners in &surface.triangles {
                self.press(corners.map(|i| x[i as usize].into()), &motion.end[0], &mut sum, &mut displaced);
            }
            reactions.push(Reaction { guide: number as u32, carrier: 0, impulse: sum.scaled(dt) });
        }
        self.state = (self.state.0 + dt, displaced / AREA);
        Ok(StepReport { reactions, ..StepReport::new(self.state.0) })
    }
    fn snapshot(&self, reuse: Option<Snapshot>) -> Snapshot {
        Snapshot::renew(reuse, self.of(), self.state.0, &self.state)
    }
    fn retract(&mut self, to: &Snapshot) -> Result<(), SimulatorError> {
        to.get(self.of()).map(|state| self.state = *state)
    }
    fn snapshot_from_bytes(&self, bytes: &[u8]) -> Result<Snapshot, SimulatorError> {
        Snapshot::from_bytes::<(f64, f64)>(self.of(), bytes)
    }
    fn follows(&self) -> Follows {
        Follows { rigid_surfaces: true, ..Follows::default() }
    }
    fn follow(&mut self, guides: Vec<Guide>) -> Result<(), SimulatorError> {
        check_guides(&self.table, self.follows(), &self.guides, &guides).map(|()| self.guides = guides)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    report::run("bring_your_own", &Options::parse(), example)
}

fn example(report: &mut Report) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(6.0, 5.0);

    let mut rigid = RigidBodies::new("rigid");
    let mut crates = Vec::new();
    for (i, density) in [300.0, 480.0, 700.0].into_iter().enumerate() {
        let body =
            Body::dynamic(Shape::cuboid([0.5; 3])).density(density).at([i as f64 - 1.0, 0.5 + 0.25 * i as f64, 0.0]);
        crates.push((rigid.add(&format!("crate {i}"), body.turned([1.0, 0.0, 1.0], 0.3))?, density));
    }
    let ball = rigid.add("ball", Body::dynamic(Shape::ball(0.25)).density(250.0).at([-0.4, 0.8, 0.6]))?;
    let log = rigid.add(
        "log",
        Body::dynamic(Shape::cylinder_x(1.6, 0.14)).density(600.0).at([0.3, 1.0, 0.9]).turned([0.0, 0.0, 1.0], 0.5),
    )?;
    let side = 0.5 * AREA.sqrt();
    for (i, [x, z]) in [[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]].into_iter().enumerate() {
        let size: [f64; 2] = [x, z].map(|along| if along == 0.0 { 2.0 * side + 0.2 } else { 0.1 });
        let wall = Body::fixed(Shape::cuboid([size[0], 0.7, size[1]]));
        rigid.add(&format!("wall {i}"), wall.at([x * (side + 0.05), -0.15, z * (side + 0.05)]))?;
    }
    let pond = pond(side)?;

    let mut scene = Scene::new(Rate::hz(240));
    scene.contact("pond", "rigid").only(["crate 0", "crate 1", "crate 2", "ball", "log"]);
    scene.add(rigid).add(pond);
    let mut run = scene.build()?;

    let recording = report.record(&mut run, seconds, scenery())?;

    let ledger = run.ledgers().swap_remove(0);
    report.check("books: used + pending - got", ledger.closure(), Bound::at_most(1e-12), "of the impulses");
    let level = run.look("pond", |pond: &Pond| pond.state.1)?;
    let bodies: f64 =
        crates.iter().map(|&(_, density)| density * 0.125).sum::<f64>() + 250.0 * 0.06545 + 600.0 * 0.09852;
    let floats = level / (bodies / 1000.0 / AREA);
    let mut fastest: f64 = 0.0;
    for body in crates.iter().map(|row| row.0).chain([ball, log]) {
        fastest = fastest.max(Vector3::from(run.state(body)?.velocity).norm());
    }
    if seconds >= 5.0 {
        report.check("level: displaced volume / area", floats, Bound::within(0.98, 1.02), "of Archimedes");
        report.check("speed at the end", fastest, Bound::at_most(0.25), "m/s");
    } else {
        // They still bob: Archimedes is about rest.
        report.figure("level [of Archimedes]", floats);
        report.figure("speed at the end [m/s]", fastest);
    }
    report.note(run.report());
    Ok(recording)
}

/// A pond of half this width, at rest. Its surface is shown, and rises with its level.
fn pond(side: f64) -> Result<Pond, Failure> {
    let mut table = HandleTable::new("pond", "pond");
    let water = Surface {
        name: "water".into(),
        carrier: Carrier::Frame(table.add("level", Kind::Frame, 1)?),
        vertices: vec![[-side, 0.0, -side], [-side, 0.0, side], [side, 0.0, side], [side, 0.0, -side]],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        lines: vec![],
        two_sided: true,
        primitive: None,
        friction: 0.0,
        restitution: 0.0,
        thickness: 0.0,
    };
    Ok(Pond { table, surfaces: [Arc::new(water)], guides: Vec::new(), state: (0.0, 0.0) })
}

fn scenery() -> Scenery {
    let camera = Camera::framing([[-1.75, -0.5, -1.75], [1.75, 1.1, 1.75]]).from_direction([0.45, 0.62, 1.0]);
    Scenery::new(camera)
        .ground(-0.5)
        .look("pond/water", Look::plain(Colour::WATER).gloss(0.6))
        .look("rigid/wall", Look::plain(Colour::PAPER))
        .look("rigid/crate", Look::crate_wood(0))
        .look("rigid/ball", Look::plain(Colour::SIGNAL))
        .look("rigid/log", Look::plain(Colour::WOOD))
        .still(3.0)
}
