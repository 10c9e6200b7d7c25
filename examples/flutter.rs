//! You will see the same square of cloth let go level from two corners, by backward Euler on the left and with a clock for every triangle on
//! the right: the one is smooth and swings ever less, the other swings on, with all its folds.
//!
//! \[TPS08\] B. Thomaszewski, S. Pabst, W. Straßer: Asynchronous Cloth Simulation. CGI 2008, section 5, scene 1 and figure 2.
//!
//! 5,016 triangles without a preferred direction, E = 300 N/m, G = 150 N/m, 500 g/m², no damping; the asynchronous cloth with strain
//! limits of 10 %. Backward Euler takes one step a picture, 33 ms, which damps what is faster than that; the other about two hundred. The
//! right one passes nowhere through itself, which is looked at. The page's charts have the energies.

/// What is looked at after every window.
mod cloth;

use std::{f64::consts::FRAC_PI_2, process::ExitCode};

use clap::Parser;
use cloth::Failure;
use partita::{
    avi_cloth::Membrane,
    implicit_cloth::{Integrator, Parameters},
    prelude::*,
};
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery};

const RATE: f64 = 30.0;
/// Side of the squares, and how far their middles are from that of the picture `[m]`.
const SIDE: f64 = 1.6;
const ASIDE: f64 = 1.05;

#[derive(Parser)]
#[command(about = "Backward Euler beside asynchronous cloth")]
struct Flags {
    /// Triangles of either sheet.
    #[arg(long, value_name = "N", default_value = "5016")]
    triangles: u32,
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    report::run("flutter", &flags.options, |report| example(report, &flags))
}

fn example(report: &mut Report, flags: &Flags) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(4.0, 0.3);

    let fabric = Fabric::cotton().membrane(Membrane::StVenantKirchhoff { poisson: 0.0 }).undamped();
    let fabric = fabric.stretch(300.0).shear(150.0).bend(1e-5).density(0.5).thickness(4e-3);
    let (mesh, corners) = sheet(flags.triangles, -ASIDE)?;
    let parameters =
        Parameters { fabric, integrator: Integrator::Linearised, max_stretch: 100.0, ..Parameters::default() };
    let mut backward = ImplicitCloth::with_parameters("backward Euler", mesh, parameters)?;
    backward.pin(&corners)?;
    let (mesh, corners) = sheet(flags.triangles, ASIDE)?;
    let mut own_clocks = AviCloth::new("asynchronous", mesh, fabric)?;
    own_clocks.pin(&corners)?;

    let mut scene = Scene::new(Rate::hz(RATE));
    scene.add(backward).add(own_clocks);
    let mut run = scene.build()?;
    let names = ["backward Euler", "asynchronous"];
    let energies = |run: &mut Run| -> Result<[f64; 2], Failure> {
        let mut found = [0.0; 2];
        for (energy, name) in found.iter_mut().zip(names) {
            let ledger = run.simulator_ledger(name)?.ok_or("cloth has a ledger")?;
            *energy = (ledger.kinetic + ledger.potential) / (ledger.mass * 9.81 * SIDE);
        }
        Ok(found)
    };
    let start = energies(&mut run)?;
    let (mut strain, mut events) = (0.0_f64, 0);
    let (recording, seen) = cloth::record::<AviCloth>(report, &mut run, &[names[1]], seconds, scenery(), |run| {
        let (now, more) = run.look(names[1], |cloth: &AviCloth| (cloth.stretch(), cloth.counts().events))?;
        (strain, events) = (strain.max(now), events + more);
        Ok(())
    })?;
    seen.check_crossings(report);
    let kept = energies(&mut run)?;
    let [lost, own] = [start[0] - kept[0], start[1] - kept[1]];
    report.figure("energy lost by backward Euler, of the fall's", lost);
    report.figure("energy lost by asynchronous cloth, of the fall's", own);
    report.figure("events of asynchronous cloth", events as f64);
    if seconds >= 2.0 {
        report.check("energy lost, of what backward Euler lost", own / lost, Bound::within(0.0, 0.5), "-");
    }
    report.check("largest strain of an edge, in all windows", strain, Bound::at_most(0.101), "-");
    for (name, seconds) in run.report().simulators {
        report.figure(&format!("seconds a picture, {name}"), seconds / run.windows() as f64);
    }
    report.note(run.report());
    Ok(recording)
}

/// A level square, and the corners at its far side.
fn sheet(triangles: u32, x: f64) -> Result<(Mesh, [u32; 2]), Failure> {
    let mesh = Mesh::unstructured([SIDE; 2], triangles, |_| 1.0)?;
    let corner = |at: [f64; 3]| {
        let found = mesh.positions().iter().position(|x| *x == at);
        found.map(|v| v as u32).ok_or("a corner of the sheet")
    };
    let corners = [corner([0.0; 3])?, corner([SIDE, 0.0, 0.0])?];
    let mesh = mesh.turned([1.0, 0.0, 0.0], -FRAC_PI_2)?.at([x - 0.5 * SIDE, 0.0, 0.0])?;
    Ok((mesh, corners))
}

fn scenery() -> Scenery {
    let camera = Camera::framing([[-1.9, -1.75, -0.4], [1.9, 0.0, 0.4]]).from_direction([0.0, 0.2, 1.0]);
    Scenery::new(camera)
        .look("backward Euler", Look::plain(Colour::STEEL))
        .look("asynchronous", Look::plain(Colour::SIGNAL))
}
