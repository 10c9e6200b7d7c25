//! You will see a sheet, held at an edge, swing down on a ball that hangs beside it, and push it away.
//!
//! \[BDB09\] D. Bayer, R. Diziol, J. Bender: Optimized Impulse-Based Dynamic Simulation. VRIPHYS 2009, section 5.
//!
//! The sheet is impulse-based cloth of 20 x 20 particles, inextensible to 1 %, as the one of \[BDB09\] figure 5 that swings onto a ball;
//! here the ball is rapier's and hangs from a peg, so that it gets what it takes to stop the sheet. What is stopped at once is felt at once:
//! windows in which that changes much are taken again (`Relaxed`; interleaved, the coupling gives 8 % of the fall's energy).

/// What is looked at after every window.
mod cloth;

use std::{f64::consts::FRAC_PI_2, process::ExitCode};

use clap::Parser;
use cloth::Failure;
use nalgebra::Vector3;
use partita::prelude::*;
use partita_mesh::{Mesh, Side};
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery};

type V3 = Vector3<f64>;

/// Particles along an edge of a metre, the height that they begin at `[m]`, and the mass of all `[kg]`.
const PARTICLES: u32 = 20;
const HEIGHT: f64 = 1.3;
const SHEET: f64 = 0.2;
/// Radius of the ball `[m]`, and its mass `[kg]`.
const RADIUS: f64 = 0.18;
const BALL: f64 = 0.5;

#[derive(Parser)]
#[command(about = "A sheet swings down on a ball and pushes it away")]
struct Flags {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    report::run("swing", &Flags::parse().options, example)
}

fn example(report: &mut Report) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(4.0, 0.5);

    let cells = PARTICLES - 1;
    let mesh = Mesh::grid([cells; 2], [1.0; 2])?.turned([1.0, 0.0, 0.0], -FRAC_PI_2)?.at([0.0, HEIGHT, -0.5])?;
    let held = mesh.edge(Side::Left)?;
    let mut sheet = IbdsCloth::new("sheet", Net::sheet(&mesh, SHEET)?)?.substeps(4);
    sheet.pin(&held)?;

    let mut rigid = RigidBodies::new("rigid");
    let peg = V3::new(-0.2, HEIGHT + 0.3, 0.0);
    let nail = rigid.add("peg", Body::fixed(Shape::ball(0.02)).at(peg.into()))?;
    let hangs = peg - V3::y() * 0.9;
    let ball = rigid.add("ball", Body::dynamic(Shape::ball(RADIUS)).mass(BALL).damping(0.2, 2.0).at(hangs.into()))?;
    rigid.join("string", Joint::ball(nail, ball).anchor(peg.into()))?;

    let mut scene = Scene::new(Rate::hz(100));
    scene.scheme(Relaxed::default().tolerance(0.01).passes(10));
    scene.contact("sheet", "rigid").friction(0.3);
    scene.add(rigid).add(sheet);
    let mut run = scene.build()?;

    let mut swung = 0.0_f64;
    let (recording, seen) = cloth::record::<IbdsCloth>(report, &mut run, &["sheet"], seconds, scenery(), |run| {
        swung = swung.max((V3::from(run.state(ball)?.position) - hangs).norm());
        Ok(())
    })?;
    seen.check(report, &run, (SHEET * 9.81 * 0.5, "sheet's fall"), None);
    if seconds >= 2.0 {
        report.check("farthest that the ball swung", swung, Bound::within(0.05, 1.2), "m");
    }
    report.note(run.report());
    Ok(recording)
}

fn scenery() -> Scenery {
    let camera = Camera::framing([[-1.0, 0.1, -0.6], [1.0, 1.7, 0.6]]).from_direction([-0.5, 0.35, 1.0]);
    Scenery::new(camera)
        .ground(0.0)
        .look("rigid", Look::plain(Colour::STEEL))
        .look("sheet", Look::plain(Colour::SIGNAL))
}
