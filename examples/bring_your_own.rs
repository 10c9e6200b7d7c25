//! You will see crates, a ball and a log drop into a pond and float as Archimedes says. The pond is
//! a simulator written here, in under 80 lines; rapier knows nothing of it.

use std::{any::Any, process::ExitCode};

use nalgebra::Vector3;
use partita::prelude::*;
use partita::simulator::*;
use partita_report::{self as report, Bound, Camera, Colour, Drawing, Film, Look, Options, Report};

/// Still water in a basin: it presses on whatever dips in and rises as much as that displaces.
struct Pond {
    table: HandleTable,
    area: f64,
    guides: Vec<Guide>,
    state: (f64, f64), // time `[s]`, level `[m]`
}

impl Pond {
    fn of(&self) -> Identity {
        Identity::new(&self.table, &(self.area, &self.guides))
    }

    /// Adds the force, and torque about the body's centre, of the pressure ρ g d on one triangle, and
    /// returns the volume above it. Exact: the part below the level is cut into triangles, on which pressure
    /// times arm is quadratic, so that the middles of their edges integrate it. Drag is 200 N s/m³.
    fn press(&self, [a, b, c]: [Vector3<f64>; 3], body: &HandleState, sum: &mut Wrench) -> f64 {
        let [centre, v, w] = [body.position, body.velocity, body.spin].map(Vector3::from);
        let depth = |x: &Vector3<f64>| self.state.1 - x.y;
        let mut wet = Vec::new();
        for (p, q) in [(a, b), (b, c), (c, a)] {
            let (dp, dq) = (depth(&p), depth(&q));
            wet.extend((dp > 0.0).then_some(p));
            wet.extend((dp * dq < 0.0).then(|| p + dp / (dp - dq) * (q - p)));
        }
        let mut displaced = 0.0;
        for i in 2..wet.len() {
            let (p, q, r) = (wet[0], wet[i - 1], wet[i]);
            let area = 0.5 * (q - p).cross(&(r - p));
            for x in [0.5 * (p + q), 0.5 * (q + r), 0.5 * (r + p)] {
                let drag = 200.0 * area.norm() * (v + w.cross(&(x - centre)));
                let force = -(1000.0 * 9.81 * depth(&x) * area + drag) / 3.0;
                *sum += Wrench { linear: force.into(), angular: (x - centre).cross(&force).into() };
                displaced -= depth(&x) * area.y / 3.0;
            }
        }
        displaced
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
    fn step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        check(&self.table, &self.guides, dt, inputs)?;
        let (mut reactions, mut displaced) = (Vec::new(), 0.0);
        for (number, (guide, motion)) in self.guides.iter().zip(&inputs.motions).enumerate() {
            let (Guide::Obstacle { surface, .. }, Some(motion)) = (guide, motion) else { continue };
            let (x, mut sum) = (surface.posed(&motion.end), Wrench::ZERO);
            for corners in &surface.triangles {
                displaced += self.press(corners.map(|i| x[i as usize].into()), &motion.end[0], &mut sum);
            }
            reactions.push(Reaction { guide: number as u32, carrier: 0, impulse: sum.scaled(dt) });
        }
        self.state = (self.state.0 + dt, displaced / self.area);
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
    report::exit(example(&Options::parse()))
}

fn example(options: &Options) -> Result<ExitCode, Failure> {
    let mut report = Report::new("bring_your_own", options)?;
    let seconds = options.seconds_or(6.0, 5.0);

    let mut rigid = RigidBodies::new("rigid");
    let mut crates = Vec::new();
    for (i, density) in [300.0, 480.0, 700.0].into_iter().enumerate() {
        let body =
            Body::dynamic(Shape::cuboid([0.5; 3])).density(density).at([i as f64 - 1.0, 0.8 + 0.7 * i as f64, 0.0]);
        crates.push((rigid.add(&format!("crate {i}"), body.turned([1.0, 0.0, 1.0], 0.3))?, density));
    }
    let ball = rigid.add("ball", Body::dynamic(Shape::ball(0.25)).density(250.0).at([-0.4, 1.6, 0.6]))?;
    let log = rigid.add(
        "log",
        Body::dynamic(Shape::cylinder_x(1.6, 0.14)).density(600.0).at([0.3, 2.4, 0.9]).turned([0.0, 0.0, 1.0], 0.5),
    )?;
    let pond = Pond { table: HandleTable::new("pond", "pond"), area: 12.0, guides: Vec::new(), state: (0.0, 0.0) };

    let mut scene = Scene::new(Rate::hz(240));
    scene.contact("pond", "rigid");
    scene.add(rigid).add(pond);
    let mut run = scene.build()?;

    let mut film = Film::new(report::FilmSettings { still_frame: Some(72), ..Default::default() }, camera())?;
    let progress = report.progress(seconds);
    run.each_window(seconds, |run| -> Result<(), Failure> {
        progress.update(run.time(), "");
        if film.is_due(run.time()) {
            film.frame(&draw(run)?)?;
        }
        Ok(())
    })?;
    progress.finish();

    let ledger = run.ledgers().swap_remove(0);
    report.check("books: used + pending - got", ledger.closure(), Bound::at_most(1e-12), "of the impulses");
    let level = run.look("pond", |pond: &Pond| pond.state.1)?;
    let bodies: f64 =
        crates.iter().map(|&(_, density)| density * 0.125).sum::<f64>() + 250.0 * 0.06545 + 600.0 * 0.09852;
    let floats = level / (bodies / 1000.0 / 12.0);
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
    Ok(report.finish(film))
}

fn camera() -> Camera {
    Camera::framing([[-1.75, -0.5, -1.75], [1.75, 0.8, 1.75]]).from_direction([0.45, 0.62, 1.0])
}

/// The basin's walls, the water between them, and what floats.
fn draw(run: &mut Run) -> Result<Drawing, Failure> {
    let mut drawing = Drawing::on_ground(-0.5);
    let level = run.look("pond", |pond: &Pond| pond.state.1)?;
    let (side, upright) = (0.5 * 12f64.sqrt(), [0.0, 0.0, 0.0, 1.0]);
    let length = 2.0 * side + 0.2;
    let (long, across) = (report::Shape::cuboid([length, 0.7, 0.1])?, report::Shape::cuboid([0.1, 0.7, length])?);
    for sign in [-1.0, 1.0] {
        drawing.body(&long, [0.0, -0.15, sign * (side + 0.05)], upright, Look::plain(Colour::PAPER));
        drawing.body(&across, [sign * (side + 0.05), -0.15, 0.0], upright, Look::plain(Colour::PAPER));
    }
    let water = [[-side, level, -side], [-side, level, side], [side, level, side], [side, level, -side]];
    drawing.mesh(&water, &[[0, 1, 2], [0, 2, 3]], Look::plain(Colour::WATER).gloss(0.6))?;
    let crate_shape = report::Shape::cuboid([0.5; 3])?;
    for (i, posed) in run.picture()?.surfaces.iter().enumerate() {
        if posed.surface.name.starts_with("crate") {
            let state = run.state(posed.surface.carrier.handles()[0])?;
            drawing.body(&crate_shape, state.position, state.orientation, Look::crate_wood(i as u64));
        } else {
            let shape = report::Shape::new(&posed.vertices, &posed.surface.triangles)?;
            drawing.shape(&shape, Look::plain(if posed.surface.name == "log" { Colour::WOOD } else { Colour::SIGNAL }));
        }
    }
    Ok(drawing)
}
