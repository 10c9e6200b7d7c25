//! You will see a fine sheet, of 65,536 particles unless `--particles` says otherwise, fall over three balls on the ground, on a device,
//! or on the CPU where there is none.
//!
//! \[BBD09\] D. Bayer, J. Bender, R. Diziol: Impulse-based dynamic simulation on the GPU. CGVCVIP 2009, figure 4: 65,536 particles, more than
//! 130,000 links along threads, and a few thousand contacts.

/// Cloth on a device, or on the CPU.
mod device;

use std::{f64::consts::FRAC_PI_2, process::ExitCode};

use clap::Parser;
use device::{Added, Failure, add, cloth, look, stretch};
use nalgebra::Vector3;
use partita::prelude::*;
use partita_mesh::Mesh;
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery};

type V3 = Vector3<f64>;

/// Size of the sheet `[m]`, its mass `[kg]`, and the height that it falls from `[m]`.
const SIZE: f64 = 2.0;
const MASS: f64 = 0.8;
const HEIGHT: f64 = 0.75;
/// Middles of the balls and their radii `[m]`.
const BALLS: [([f64; 3], f64); 3] = [([0.0, 0.35, -0.1], 0.35), ([-0.6, 0.25, 0.4], 0.25), ([0.55, 0.2, 0.45], 0.2)];

const RATE: f64 = 100.0;

#[derive(Parser)]
#[command(about = "A fine sheet falls over balls, on a device or on the CPU")]
struct Flags {
    #[command(flatten)]
    options: Options,
    /// How many particles the sheet has, about: the next square number.
    #[arg(long, default_value_t = 65_536, value_parser = clap::value_parser!(u32).range(4..=16_000_000))]
    particles: u32,
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    report::run("million", &flags.options, |report| example(report, &flags))
}

fn example(report: &mut Report, flags: &Flags) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(2.0, 0.1);
    let side = f64::from(flags.particles).sqrt().ceil() as u32;
    let mesh = Mesh::grid([side - 1; 2], [SIZE; 2])?.turned([1.0, 0.0, 0.0], -FRAC_PI_2)?;
    let middle = mesh.vertices().iter().sum::<V3>() / mesh.vertices().len() as f64;
    let mesh = mesh.at([-middle.x, HEIGHT - middle.y, -middle.z])?;
    let net = cloth(&mesh, side, MASS / f64::from(side * side))?;
    let mut rigid = RigidBodies::new("rigid");
    rigid.add("ground", Body::fixed(Shape::cuboid([20.0, 1.0, 20.0])).at([0.0, -0.5, 0.0]))?;
    for (number, (at, radius)) in BALLS.into_iter().enumerate() {
        rigid.add(&format!("ball {number}"), Body::fixed(Shape::ball(radius)).at(at))?;
    }
    let mut scene = Scene::new(Rate::hz(RATE));
    // Cells that are pulled along a diagonal are flat where balls are not: by the square of that over eight radii.
    let flat = (2.0 * SIZE / f64::from(side - 1)).powi(2) / (8.0 * 0.2);
    scene.contact("sheet", "rigid").friction(0.4).thickness(1e-3 + flat);
    scene.add(rigid);
    let Added { on_device, .. } = add(&mut scene, "sheet", net, &[], 1)?;
    let mut run = scene.build()?;

    let (mut longest, mut deepest) = (0.0_f64, 0.0_f64);
    let recording = report.record_each(&mut run, seconds, scenery(), |run| {
        let (stretched, depth) = look(run, "sheet", on_device, |net, x, _| (stretch(net, x), depth(x)))?;
        (longest, deepest) = (longest.max(stretched), deepest.max(depth));
        Ok("")
    })?;

    report.check("deepest that a particle was in a ball or the ground", deepest, Bound::at_most(1e-4), "m");
    report.figure("longest link, too long by [-]", longest);
    for (name, seconds) in run.report().simulators {
        report.figure(&format!("ms a window, {name}"), 1e3 * seconds / run.windows() as f64);
    }
    report.note(run.report());
    Ok(recording)
}

/// How deep the deepest particle is in what it lies on `[m]`.
fn depth(positions: &[V3]) -> f64 {
    let of = |x: &V3| {
        let balls = BALLS.iter().map(|(at, radius)| radius - (x - V3::from(*at)).norm());
        balls.fold(-x.y, f64::max)
    };
    positions.iter().map(of).fold(0.0, f64::max)
}

fn scenery() -> Scenery {
    let camera = Camera::framing([[-1.1, 0.0, -1.1], [1.1, 0.8, 1.1]]).from_direction([0.4, 0.7, 1.0]);
    Scenery::new(camera)
        .look("sheet", Look::plain(Colour::SIGNAL))
        .look("rigid", Look::plain(Colour::WATER))
        .ground(0.0)
        .still(1.0)
}
