//! You will see a jet of drops knock over a pyramid of crates and spray off it: \[PD97\] figure 1.
//!
//! \[PD97\] D. Baraff, A. Witkin: Partitioned Dynamics. CMU-RI-TR-97-33, 1997.
//!
//! The crates are rapier's, the jet is a particle system; neither knows of the other. The crates
//! lead, the jet follows and says what bouncing off took, and that pushes the crates.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser;
use nalgebra::Vector3;
use partita::prelude::*;
use partita_mesh::read_obj;
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery, tell};

/// Edge of a crate `[m]`, and its mass `[kg]`.
const EDGE: f64 = 0.5;
const MASS: f64 = 4.0;
/// Crates along the side of the lowest layer; each layer above has one less: 16 + 9 + 4 + 1.
const BASE: usize = 4;
/// Mass of a drop `[kg]`, and its speed at the nozzle `[m/s]`.
const DROP: f64 = 0.02;
const SPEED: f64 = 15.0;

#[derive(Parser)]
#[command(about = "A jet of drops knocks over a pyramid of crates and sprays off it")]
struct Flags {
    #[command(flatten)]
    options: Options,
    /// Puts this mesh into the jet's way, scaled to 1.3 m.
    #[arg(long, value_name = "FILE.obj")]
    obstacle: Option<PathBuf>,
    /// The obstacle can be knocked away: 20 kg.
    #[arg(long, requires = "obstacle")]
    dynamic: bool,
}

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let flags = Flags::parse();
    report::run("crates", &flags.options, |report| example(report, &flags))
}

fn example(report: &mut Report, flags: &Flags) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(4.0, 1.0);

    let mut rigid = RigidBodies::new("rigid");
    rigid.add("floor", Body::fixed(Shape::cuboid([40.0, 1.0, 40.0])).at([0.0, -0.5, 0.0]).friction(0.6))?;
    let crates = pyramid(&mut rigid)?;
    if let Some(file) = &flags.obstacle {
        add_obstacle(&mut rigid, file, flags.dynamic)?;
    }

    let nozzle =
        Emitter::disc([-6.0, 0.9, 0.0], 0.25).direction([1.0, 0.15, 0.0]).speed(SPEED).spread(0.02).rate(2000.0);
    let jet = Particles::new("jet").mass(DROP).emit(nozzle.seed(report.options().seed));

    let mut scene = Scene::new(Rate::hz(240));
    scene.contact("jet", "rigid").friction(0.2).restitution(0.25);
    scene.add(rigid).add(jet);
    let mut run = scene.build()?;

    let start = places(&mut run, &crates)?;
    let recording = report.record(&mut run, seconds, scenery())?;

    check(report, &mut run, &crates, &start, flags.obstacle.is_some())?;
    report.note(run.report());
    Ok(recording)
}

/// Square layers, each half a crate in from the one below.
fn pyramid(rigid: &mut RigidBodies) -> Result<Vec<HandleId>, SimulatorError> {
    let mut crates = Vec::new();
    for layer in 0..BASE {
        let side = BASE - layer;
        let place = |i: usize| (i as f64 - 0.5 * (side as f64 - 1.0)) * (EDGE + 0.01);
        for i in 0..side * side {
            let body = Body::dynamic(Shape::cuboid([EDGE; 3])).mass(MASS).friction(0.5);
            let body = body.at([place(i / side), (layer as f64 + 0.5) * EDGE, place(i % side)]);
            crates.push(rigid.add(&format!("crate {layer}/{i}"), body)?);
        }
    }
    Ok(crates)
}

/// A mesh of the user's, 1.3 m large, on the floor before the pyramid: made sound where it can be,
/// else its convex hull.
fn add_obstacle(rigid: &mut RigidBodies, file: &Path, dynamic: bool) -> Result<(), Failure> {
    let soup = read_obj(file)?;
    let (mut vertices, mut triangles) = (soup.vertices.clone(), None);
    match soup.repaired() {
        Ok((mesh, repairs)) => {
            repairs.iter().take(3).for_each(|repair| tell(format_args!("{}: {repair}", file.display())));
            if repairs.len() > 3 {
                tell(format_args!("{}: and {} more repairs", file.display(), repairs.len() - 3));
            }
            if !dynamic || mesh.is_closed() {
                (vertices, triangles) = (mesh.positions(), Some(mesh.triangles().to_vec()));
            }
        }
        Err(error) => tell(error),
    }

    let extreme = |pick: fn(f64, f64) -> f64, start| [0, 1, 2].map(|k| vertices.iter().map(|x| x[k]).fold(start, pick));
    let (low, high) = (Vector3::from(extreme(f64::min, f64::MAX)), Vector3::from(extreme(f64::max, f64::MIN)));
    let foot = Vector3::new(0.5 * (low.x + high.x), low.y, 0.5 * (low.z + high.z));
    let scale = 1.3 / (high - low).amax();
    if !scale.is_finite() {
        return Err(format!("{}: all its vertices are at one place", file.display()).into());
    }
    let placed: Vec<[f64; 3]> = vertices.iter().map(|&x| (scale * (Vector3::from(x) - foot)).into()).collect();
    let shape = match triangles {
        Some(triangles) => Shape::mesh(placed, triangles),
        None => {
            tell(format_args!("{}: its convex hull is taken", file.display()));
            Shape::hull(placed)
        }
    };
    let body = if dynamic { Body::dynamic(shape).mass(20.0) } else { Body::fixed(shape) };
    rigid.add("obstacle", body.at([-2.0, 0.01, 0.0]))?;
    Ok(())
}

fn places(run: &mut Run, crates: &[HandleId]) -> partita::Result<Vec<Vector3<f64>>> {
    crates.iter().map(|&body| Ok(run.state(body)?.position.into())).collect()
}

fn check(
    report: &mut Report,
    run: &mut Run,
    crates: &[HandleId],
    start: &[Vector3<f64>],
    own_mesh: bool,
) -> Result<(), Failure> {
    let seconds = run.time();
    let ledger = run.ledgers().swap_remove(0);
    report.check("books: used + pending - got", ledger.closure(), Bound::at_most(1e-12), "of the impulses");
    report.check("jet: its own momentum against the ledger", jet_imbalance(run)?, Bound::at_most(1e-11), "relative");
    // A drop caught between two bodies that touch is inside one of them by as much as they overlap;
    // how far a user's mesh may overlap with crates is rapier's business.
    let depth = deepest_inside(run, crates)?;
    match own_mesh {
        true => report.figure("deepest drop inside a crate at the end [m]", depth),
        false => drop(report.check("deepest drop inside a crate at the end", depth, Bound::at_most(0.01 * EDGE), "m")),
    }

    let moved = |to: &[Vector3<f64>]| start.iter().zip(to).map(|(a, b)| (b - a).norm()).collect::<Vec<_>>();
    let knocked = moved(&places(run, crates)?).into_iter().filter(|&distance| distance > EDGE).count();
    if seconds >= 2.0 && !own_mesh {
        // Two seconds of jet knock over most of the 14 that stand on others.
        report.check("crates knocked over", knocked as f64, Bound::at_least(8.0), "crates");
    } else {
        report.figure("crates knocked over", knocked as f64);
    }
    let sunk = moved(&alone(seconds)?).into_iter().fold(0.0, f64::max);
    report.check("largest move of a crate without coupling", sunk, Bound::at_most(0.02 * EDGE), "m");

    let run = run.report();
    report.figure("crates", crates.len() as f64);
    report.figure("impulse on the crates, x [N s]", ledger.got.linear[0]);
    report.figure("energy of the coupling [J]", ledger.work);
    report.figure("windows a second", run.windows as f64 / run.seconds);
    report.figure("share of the rigid side", run.simulators[0].1 / run.seconds);
    Ok(())
}

/// |Δp − external + reactions| of the jet by its own account, over the impulse it gave.
fn jet_imbalance(run: &mut Run) -> Result<f64, Failure> {
    let jet = run.simulator_ledger("jet")?.ok_or("the jet keeps a ledger")?;
    let (external, got) = (jet.external.ok_or("the jet knows what acts on it")?.linear, run.ledgers()[0].got.linear);
    let open = (0..3).map(|i| (jet.momentum[i] - external[i] + got[i]).abs()).fold(0.0, f64::max);
    let size = (0..3).map(|i| external[i].abs() + got[i].abs()).fold(1e-300, f64::max);
    Ok(open / size)
}

/// How deep inside a crate the deepest drop is `[m]`; 0 where all are outside.
fn deepest_inside(run: &mut Run, crates: &[HandleId]) -> partita::Result<f64> {
    let poses = crates.iter().map(|&body| run.state(body)).collect::<partita::Result<Vec<_>>>()?;
    run.look("jet", move |jet: &Particles| {
        let depth = |x: &Vector3<f64>, pose: &HandleState| {
            let [i, j, k, w] = pose.orientation;
            let turn = nalgebra::UnitQuaternion::new_normalize(nalgebra::Quaternion::new(w, i, j, k));
            0.5 * EDGE - (turn.inverse() * (x - Vector3::from(pose.position))).amax()
        };
        let all = jet.positions().iter().flat_map(|x| poses.iter().map(move |pose| depth(x, pose)));
        all.fold(0.0, f64::max)
    })
}

/// Where the crates end when nothing is coupled to them.
fn alone(seconds: f64) -> Result<Vec<Vector3<f64>>, Failure> {
    let mut rigid = RigidBodies::new("alone");
    rigid.add("floor", Body::fixed(Shape::cuboid([40.0, 1.0, 40.0])).at([0.0, -0.5, 0.0]).friction(0.6))?;
    let crates = pyramid(&mut rigid)?;
    let mut scene = Scene::new(Rate::hz(240));
    scene.add(rigid);
    let mut run = scene.build()?;
    run.for_seconds(seconds)?;
    Ok(places(&mut run, &crates)?)
}

fn scenery() -> Scenery {
    let camera = Camera::framing([[-2.2, 0.0, -1.4], [3.0, 2.1, 1.6]]).from_direction([-0.55, 0.36, 1.0]);
    let drops = Look::plain(Colour::WATER);
    Scenery::new(camera)
        .ground(0.0)
        .hide("rigid/floor")
        .look("rigid/crate", Look::crate_wood(0))
        .cloud("jet", 0.013, drops)
}
