//! You will see a dome of soft shell, fine at its top and coarse at its rim, fall half a metre onto the floor, and come to rest as a dome.
//!
//! \[TPS08\] B. Thomaszewski, S. Pabst, W. Straßer: Asynchronous Cloth Simulation. CGI 2008, section 5, scene 2 and figure 7.
//!
//! 2,304 triangles, the largest of 160 times the area of the smallest. A method that advances all at once takes the smallest one's step; here each
//! has a clock of its own, and the large ones have few events. The rest shape is not flat: bending goes back to the dome.

/// What is looked at after every window.
mod cloth;

use std::{f64::consts::FRAC_PI_2, process::ExitCode};

use clap::Parser;
use cloth::Failure;
use partita::{avi_cloth::Membrane, prelude::*};
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery};

const RATE: f64 = 60.0;
/// Side of the square, how high the dome is above it, and the fall `[m]`.
const SIDE: f64 = 0.8;
const HEIGHT: f64 = 0.12;
const FALL: f64 = 0.5;

#[derive(Parser)]
#[command(about = "A graded dome falls on the floor")]
struct Flags {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    report::run("graded", &Flags::parse().options, example)
}

fn example(report: &mut Report) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(4.0, 0.2);

    let mesh = Mesh::graded([SIDE; 2], report.options().pick(2304, 500), 160.0)?.turned([1.0, 0.0, 0.0], -FRAC_PI_2)?;
    let mesh = mesh.at([-0.5 * SIDE, 0.0, -0.5 * SIDE])?;
    let lifted = |[x, _, z]: [f64; 3]| [x, FALL + HEIGHT * (-(x * x + z * z) / 0.03).exp(), z];
    let vertices: Vec<[f64; 3]> = mesh.positions().into_iter().map(lifted).collect();
    let mesh = Mesh::new(&vertices, mesh.triangles())?;
    report.figure("largest area, of the smallest", mesh.area_ratio());
    let fabric =
        Fabric::cotton().membrane(Membrane::StVenantKirchhoff { poisson: 0.0 }).damping(1e-4).bend_damping(1e-4);
    let fabric = fabric.stretch(300.0).shear(150.0).bend(1e-3).density(0.5).thickness(2e-3);
    let dome = AviCloth::new("dome", mesh, fabric)?;
    let shortest = dome.spans().iter().copied().fold(f64::INFINITY, f64::min);
    let (elements, rate) = (dome.spans().len() as f64, dome.spans().iter().map(|span| span.recip()).sum::<f64>());
    report.figure("shortest span [ms]", 1e3 * shortest);
    report.figure("events, of those if all had the shortest", rate * shortest / elements);
    let mass: f64 = dome.masses().iter().sum();

    let mut rigid = RigidBodies::new("rigid");
    rigid.add("floor", Body::fixed(Shape::cuboid([4.0, 0.5, 4.0])).at([0.0, -0.25, 0.0]))?;
    let mut scene = Scene::new(Rate::hz(RATE));
    scene.contact("dome", "rigid").friction(0.5);
    scene.add(rigid).add(dome);
    let mut run = scene.build()?;
    let (recording, seen) = cloth::record::<AviCloth>(report, &mut run, &["dome"], seconds, scenery(), |_| Ok(()))?;
    seen.check(report, &run, (mass * 9.81 * FALL, "fall"), (seconds >= 3.0).then_some(0.05));
    if seconds >= 3.0 {
        let top = run.look("dome", |dome: &AviCloth| dome.positions().iter().map(|x| x.y).fold(0.0, f64::max))?;
        report.check("height of the dome at the end, of that at rest", top / HEIGHT, Bound::within(0.7, 1.2), "-");
    }
    report.note(run.report());
    Ok(recording)
}

fn scenery() -> Scenery {
    let camera = Camera::framing([[-0.5, 0.0, -0.5], [0.5, 0.6, 0.5]]).from_direction([-0.4, 0.35, 1.0]);
    Scenery::new(camera).ground(0.0).hide("rigid").look("dome", Look::plain(Colour::SIGNAL))
}
