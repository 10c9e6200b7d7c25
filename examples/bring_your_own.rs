//! You will see crates, a ball and a log drop into a pond and float as Archimedes says. The pond is
//! a simulator written here, in 80 lines; rapier knows nothing of it.

use std::{any::Any, process::ExitCode, sync::Arc};

use nalgebra::Vector3;
use partita::prelude::*;
use partita::simulator::*;
use partita_report::{self as report, Bound, Camera, Colour, Drawing, Film, Look, Options, Report};

type V = Vector3<f64>;

/// Still water in a basin: it presses on whatever dips in and rises as much as that displaces.
struct Pond {
    table: HandleTable,
    area: f64,
    guides: Vec<Guide>,
    state: (f64, f64), // time `[s]`, level `[m]`
}

impl Pond {
    fn of(&self) -> (u64, u64) {
        (self.table.owner, layout_of(&(self.area, &self.guides)))
    }

    /// Force and torque about `c` of the pressure ρ g d on one triangle, exact: the part below the
    /// level is cut into triangles on which pressure times arm is quadratic, so that the three
    /// middles of edges integrate it. `drag` adds to the pressure where the face moves outwards.
    fn press(&self, [a, b, c]: [V; 3], speed: V, about: V) -> (Wrench, f64) {
        let (normal, depth) = ((b - a).cross(&(c - a)), |x: &V| self.state.1 - x.y);
        let mut wet = Vec::with_capacity(4);
        for (p, q) in [(a, b), (b, c), (c, a)] {
            let (dp, dq) = (depth(&p), depth(&q));
            wet.extend((dp > 0.0).then_some(p));
            wet.extend((dp * dq < 0.0).then(|| p + dp / (dp - dq) * (q - p)));
        }
        let (mut wrench, mut displaced) = (Wrench::ZERO, 0.0);
        let drag = normal.try_normalize(0.0).map_or(0.0, |n| 400.0 * speed.dot(&n));
        for i in 2..wet.len() {
            let (p, q, r) = (wet[0], wet[i - 1], wet[i]);
            let area = 0.5 * (q - p).cross(&(r - p));
            for x in [0.5 * (p + q), 0.5 * (q + r), 0.5 * (r + p)] {
                let force = -(1000.0 * 9.81 * depth(&x) + drag).max(0.0) * area / 3.0;
                wrench += Wrench { linear: force.into(), angular: (x - about).cross(&force).into() };
                displaced -= depth(&x) * area.y / 3.0;
            }
        }
        (wrench, displaced)
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
    fn surfaces(&self) -> &[Arc<Surface>] {
        &[]
    }
    fn read(&self, handles: &[HandleId], out: &mut [HandleState]) -> Result<(), SimulatorError> {
        self.table.read_with(handles, out, |_| HandleState::point([0.0, self.state.1, 0.0], [0.0; 3]))
    }
    fn step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        check(&self.table, &self.guides, dt, inputs)?;
        let (mut reactions, mut displaced) = (Vec::new(), 0.0);
        for (number, (guide, motion)) in self.guides.iter().zip(&inputs.motions).enumerate() {
            let (Guide::Obstacle { surface, .. }, Some(motion)) = (guide, motion) else { continue };
            let (before, after) = (surface.posed(&motion.begin), surface.posed(&motion.end));
            let (centre, mut sum) = (V::from(motion.end[0].position), Wrench::ZERO);
            for corners in &surface.triangles {
                let x = corners.map(|i| V::from(after[i as usize]));
                let speed = corners.map(|i| (V::from(after[i as usize]) - V::from(before[i as usize])) / (3.0 * dt));
                let (wrench, volume) = self.press(x, speed.iter().sum(), centre);
                (sum, displaced) = (sum + wrench, displaced + volume);
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
    fn snapshot_from_bytes(&self, time: f64, bytes: &[u8]) -> Result<Snapshot, SimulatorError> {
        Snapshot::from_bytes::<(f64, f64)>(self.of(), time, bytes)
    }
    fn follows(&self) -> Follows {
        Follows { rigid_surfaces: true, ..Follows::default() }
    }
    fn follow(&mut self, guides: Vec<Guide>) -> Result<(), SimulatorError> {
        check_guides(&self.table, self.follows(), &guides).map(|()| self.guides = guides)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    example(&Options::parse()).unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

fn example(options: &Options) -> Result<ExitCode, Failure> {
    let mut report = Report::new("bring_your_own", options)?;
    let seconds = options.seconds_or(6.0, 6.0);

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

    let mut film = Film::new(report::Picture { still_frame: Some(40), ..Default::default() }, camera())?;
    let progress = report.progress(seconds);
    while run.time() < seconds - 1e-9 {
        if film.is_due(run.time()) {
            film.frame(&draw(&mut run)?)?;
        }
        run.advance()?;
        progress.update(run.time(), "");
    }
    progress.finish();

    let level = run.look("pond", |pond: &Pond| pond.state.1)?;
    let bodies: f64 =
        crates.iter().map(|&(_, density)| density * 0.125).sum::<f64>() + 250.0 * 0.06545 + 600.0 * 0.09852;
    report.check(
        "level: displaced volume / area",
        level / (bodies / 1000.0 / 12.0),
        Bound::within(0.98, 1.02),
        "of Archimedes",
    );
    let ledger = run.ledgers().swap_remove(0);
    report.check("ledger: used + pending - got", ledger.closure(), Bound::at_most(1e-12), "of the impulses");
    let speed = |body, run: &mut Run| run.state(body).map(|state| Vector3::from(state.velocity).norm());
    let mut fastest: f64 = 0.0;
    for body in crates.iter().map(|row| row.0).chain([ball, log]) {
        fastest = fastest.max(speed(body, &mut run)?);
    }
    report.check("speed at the end", fastest, Bound::at_most(0.25), "m/s");
    println!("{}\n", run.report());
    Ok(report.finish(film))
}

fn camera() -> Camera {
    Camera::framing([[-1.9, -0.4, -0.9], [1.9, 1.6, 1.5]]).from_direction([0.35, 0.5, 1.0])
}

fn draw(run: &mut Run) -> Result<Drawing, Failure> {
    let mut drawing = Drawing::on_ground(-1.2);
    let level = run.look("pond", |pond: &Pond| pond.state.1)?;
    let side = 2.2;
    let water = [[-side, level, -side], [-side, level, side], [side, level, side], [side, level, -side]];
    drawing.mesh(&water, &[[0, 1, 2], [0, 2, 3]], Look::plain(Colour::WATER).gloss(0.6))?;
    for (i, posed) in run.picture()?.surfaces.iter().enumerate() {
        let look = if posed.surface.name.starts_with("crate") {
            Look::crate_wood(i as u64)
        } else {
            Look::plain(Colour::WOOD)
        };
        drawing.shape(&report::Shape::new(&posed.vertices, &posed.surface.triangles)?, look);
    }
    Ok(drawing)
}
