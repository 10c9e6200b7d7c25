//! You will see the sheet of a public demonstration of impulse-based dynamics swing from two corners, long-drawn, beside one that is not.
//!
//! J. Bender: Impulse-Based Dynamic Simulation, interactive page, with its defaults: 40 x 30 particles, two fixed corners, steps
//! of 5 ms, symplectic Euler, two iterations of each loop, 0.5 kg a particle.
//!
//! Two iterations link by link leave that sheet longer than it may be, which the run says of every window; the other one takes steps
//! of Newton's method until its links are as long as they may be. Neither meets itself, as on the page.

use std::process::ExitCode;

use clap::Parser;
use partita::{
    ibds_cloth::{Optimisations, Solver},
    prelude::*,
};
use partita_mesh::{Mesh, Side};
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery};

type Failure = Box<dyn std::error::Error>;

/// Particles along a sheet, and down from its fixed corners; how far they are from each other `[m]`, and the mass of one `[kg]`.
const PARTICLES: [u32; 2] = [40, 30];
const APART: f64 = 0.05;
const MASS: f64 = 0.5;
const RATE: f64 = 200.0;

#[derive(Parser)]
#[command(about = "The sheet of a public demonstration swings from two corners, link by link and by Newton's method")]
struct Flags {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    report::run("ibds_page", &Flags::parse().options, example)
}

fn example(report: &mut Report) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(6.0, 0.5);
    let mut scene = Scene::new(Rate::hz(RATE));
    // However little links are off, they are corrected, but twice only.
    let by_link = Solver::GaussSeidel(Optimisations::NONE);
    scene.add(sheet("links", -1.1)?.solver(by_link).extensibility(1e-6).max_iterations(2));
    scene.add(sheet("newton", 1.1)?.solver(Solver::Newton).extensibility(0.01).max_iterations(1000));
    let mut run = scene.build()?;

    let mut stretched = [0.0_f64; 2];
    let recording = report.record_each(&mut run, seconds, scenery(), |run| {
        for (name, stretched) in ["links", "newton"].into_iter().zip(&mut stretched) {
            *stretched = stretched.max(run.look(name, IbdsCloth::stretch)?);
        }
        Ok("")
    })?;

    let [links, newton] = stretched;
    report.figure("largest stretch link by link [-]", links);
    report.check("largest stretch by Newton's method", newton, Bound::at_most(0.0101), "-");
    for (name, seconds) in run.report().simulators {
        report.figure(&format!("ms a step, {name}"), 1e3 * seconds / run.windows() as f64);
    }
    report.note(run.report());
    Ok(recording)
}

/// A sheet in the plane y = 0, fixed at the corners of its far edge.
fn sheet(name: &str, x: f64) -> Result<IbdsCloth, Failure> {
    let cells = PARTICLES.map(|n| n - 1);
    let size = cells.map(|n| APART * f64::from(n));
    let mesh = Mesh::grid(cells, size)?.turned([1.0, 0.0, 0.0], -std::f64::consts::FRAC_PI_2)?;
    let mesh = mesh.at([x - 0.5 * size[0], 0.0, 0.0])?;
    let far = mesh.edge(Side::Top)?;
    // Every particle weighs the same, as on the page.
    let net = Net::new(&mesh.positions(), &vec![MASS; mesh.vertices().len()])?;
    let net = net.bars(mesh.edges().iter().map(|edge| edge.vertices))?.triangles(mesh.triangles())?;
    let mut cloth = IbdsCloth::new(name, net)?;
    cloth.pin(&[far[0], far[far.len() - 1]])?;
    Ok(cloth.self_contact(false).velocity_tolerance(Some(0.01)))
}

fn scenery() -> Scenery {
    let camera = Camera::framing([[-2.1, -1.9, -1.6], [2.1, 0.2, 0.4]]).from_direction([-0.25, 0.3, 1.0]);
    Scenery::new(camera)
        .look("links", Look::plain(Colour::SIGNAL))
        .look("newton", Look::plain(Colour::WATER))
        .still(2.75)
}
