//! You will see a jet of drops hit a curtain, which gives way, swings with its rail, and lets none of them through.
//!
//! Rail and arms are rapier's, the curtain is an implicit cloth, the jet a particle system; none knows of the others. The rail
//! leads the curtain, the curtain leads the jet: drops that bounce off push the curtain, which pulls at the rail that it hangs from.

/// Sheets cut from a lattice, and what is looked at after every window.
mod cloth;

use std::{f64::consts::TAU, process::ExitCode};

use clap::Parser;
use cloth::Failure;
use nalgebra::Vector3;
use partita::prelude::*;
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery};

type V3 = Vector3<f64>;

/// Cells across and down the curtain, and their edge `[m]`.
const CELLS: [u32; 2] = [72, 48];
const EDGE: f64 = 0.03;
/// Cells of a pleat, and the steepest slope of it `[rad]`.
const PLEAT: f64 = 8.0;
const SLOPE: f64 = 1.0;
/// Heights of the rail, and of the beam above it that its arms hang from `[m]`.
const RAIL: f64 = 1.52;
const BEAM: f64 = 1.8;
/// Mass of a drop `[kg]`, how fast it leaves the nozzle `[m/s]`, and how many do so in a second.
const DROP: f64 = 4e-5;
const SPEED: f64 = 7.0;
const RATE: f64 = 8000.0;
/// When the jet is shut `[s]`.
const SHUT: f64 = 2.5;

#[derive(Parser)]
#[command(about = "A jet of drops hits a curtain, which gives way and lets none of them through")]
struct Flags {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    report::run("curtain_jet", &Flags::parse().options, example)
}

fn example(report: &mut Report) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(5.0, 0.5);

    let mut rigid = RigidBodies::new("rigid");
    rigid.add("floor", Body::fixed(Shape::cuboid([12.0, 1.0, 12.0])).at([0.0, -0.5, 0.0]))?;
    let rail = hang_rail(&mut rigid)?;
    let (curtain, top) = curtain()?;
    let nozzle = Emitter::disc([0.0, 0.75, 1.6], 0.05).direction([0.0, 0.12, -1.0]).speed(SPEED).spread(0.04);
    let nozzle = nozzle.rate(RATE).stop(SHUT).lifetime(1.5).seed(report.options().seed);
    let jet = Particles::new("jet").mass(DROP).radius(2e-3).emit(nozzle);

    let mut scene = Scene::new(Rate::hz(120));
    scene.contact("curtain", "rigid").friction(0.3);
    scene.contact("jet", "curtain").friction(0.2).restitution(0.3);
    scene.contact("jet", "rigid").friction(0.2).restitution(0.3);
    scene.attach(top.iter().map(|&v| curtain.vertex(v)).collect::<Vec<_>>(), rail);
    scene.add(rigid).add(curtain).add(jet);
    let mut run = scene.build()?;

    let start: V3 = run.state(rail)?.position.into();
    let potential = run.simulator_ledger("curtain")?.ok_or("cloth keeps a ledger")?.potential;
    let (mut behind, mut dent, mut swing, mut upwards) = (0, 0.0_f64, 0.0_f64, 0);
    let (recording, seen) =
        cloth::record::<ImplicitCloth>(report, &mut run, &["curtain"], seconds, scenery(), |run| {
            let x = run.look("curtain", |curtain: &ImplicitCloth| curtain.positions().to_vec())?;
            let drops = run.look("jet", |jet: &Particles| [jet.positions().to_vec(), jet.velocities().to_vec()])?;
            behind = behind.max(passed(&x, &drops[0]));
            upwards = upwards.max(drops[1].iter().filter(|v| v.z > 0.0).count());
            dent = dent.max(-x.iter().map(|x| x.z).fold(0.0, f64::min));
            swing = swing.max((V3::from(run.state(rail)?.position) - start).norm());
            Ok(())
        })?;
    let jet = 0.5 * DROP * SPEED * SPEED * RATE * seconds.min(SHUT);
    seen.check(report, &run, (potential + jet, "potential at first and the jet's energy"), None);
    report.check("drops that went through the curtain", behind as f64, Bound::equals(0.0), "");
    if seconds >= 2.0 {
        report.check("drops that came back, at most", upwards as f64, Bound::at_least(0.1 * RATE), "");
        report.check("farthest that the curtain gave way", dent, Bound::within(0.1, 1.2), "m");
        report.check("farthest that the rail swung", swing, Bound::within(0.005, 0.28), "m");
    }
    report.note(run.report());
    Ok(recording)
}

/// A rail on two arms that hang from a beam.
fn hang_rail(rigid: &mut RigidBodies) -> Result<HandleId, SimulatorError> {
    let length = 1.75;
    let beam = rigid.add("beam", Body::fixed(Shape::cuboid([length, 0.05, 0.05])).at([0.0, BEAM, 0.0]))?;
    let rail = rigid.add("rail", Body::dynamic(Shape::capsule_x(length, 0.014)).mass(6.0).at([0.0, RAIL, 0.0]))?;
    for (name, side) in [("left", -0.5), ("right", 0.5)] {
        let x = side * (length - 0.05);
        let arm = Body::dynamic(Shape::cuboid([0.02, BEAM - RAIL, 0.02])).mass(0.5);
        let arm = rigid.add(&format!("arm {name}"), arm.at([x, 0.5 * (BEAM + RAIL), 0.0]))?;
        let hinge = Joint::hinge(beam, arm).axis([1.0, 0.0, 0.0]).anchor([x, BEAM, 0.0]);
        rigid.join(&format!("{name} on the beam"), hinge)?;
        rigid.join(&format!("{name} on the rail"), Joint::fixed(arm, rail))?;
    }
    Ok(rail)
}

/// The curtain in pleats, and its vertices along the rail.
fn curtain() -> Result<(ImplicitCloth, Vec<u32>), Failure> {
    let cut = cloth::cut(CELLS, EDGE, |_, _| true)?;
    let mut line = vec![[0.0, 0.0]];
    for i in 0..CELLS[0] {
        let slope = SLOPE * (TAU * (f64::from(i) + 0.5) / PLEAT).cos();
        let [x, z] = line[i as usize];
        line.push([x + EDGE * slope.cos(), z + EDGE * slope.sin()]);
    }
    let half = 0.5 * line[CELLS[0] as usize][0];
    let place = |&[i, j]: &[u32; 2]| {
        let [x, z] = line[i as usize];
        [x - half, RAIL - 0.03 - EDGE * f64::from(j), z]
    };
    let positions: Vec<[f64; 3]> = cut.numbers.keys().map(place).collect();
    let top = cut.numbers.iter().filter(|(at, _)| at[1] == 0).map(|(_, &v)| v).collect();
    let velvet = Fabric::wool().density(0.5).stretch(3000.0);
    Ok((ImplicitCloth::new("curtain", cut.mesh, velvet)?.with_positions(&positions)?, top))
}

/// Drops that are behind the curtain, where it is wide and low enough that they must have gone through.
fn passed(curtain: &[V3], drops: &[V3]) -> usize {
    let low = |x: &V3| x.x.abs() < 0.5 && (0.4..1.4).contains(&x.y);
    let farther = |drop: &&V3| {
        let near = curtain.iter().filter(|x| (x.xy() - drop.xy()).norm() < 0.1);
        near.map(|x| x.z).fold(f64::INFINITY, f64::min) > drop.z + 0.05
    };
    drops.iter().filter(|x| low(x)).filter(farther).count()
}

fn scenery() -> Scenery {
    let camera = Camera::framing([[-0.9, 0.0, -0.5], [0.9, 1.82, 0.9]]).from_direction([0.75, 0.35, 1.0]);
    Scenery::new(camera)
        .ground(0.0)
        .hide("rigid/floor")
        .look("rigid/beam", Look::plain(Colour::WOOD))
        .look("rigid/arm", Look::plain(Colour::STEEL).gloss(0.6))
        .look("rigid/rail", Look::plain(Colour::STEEL).gloss(0.6))
        .look("curtain", Look::plain(Colour([150, 40, 60])))
        .cloud("jet", 0.006, Look::plain(Colour::WATER))
        .still(1.25)
}
