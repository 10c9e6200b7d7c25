//! You will see a cargo net between four beams catch crates, balls and a log that are dropped into it.
//!
//! \[BDB09\] D. Bayer, R. Diziol, J. Bender: Optimized Impulse-Based Dynamic Simulation. VRIPHYS 2009, section 3.4.
//!
//! The net is impulse-based: knots, and ropes between them that may be shorter but not longer. What falls into it is rapier's. What is
//! stopped at once is felt at once, so windows in which that changes much are taken again (`Relaxed`), and ropes give way by a stated
//! compliance: what hangs from ropes that do not would have to be borne as by a stone. Bodies keep a skin, which leaves room for ropes
//! between them.

/// What is looked at after every window.
mod cloth;

use std::process::ExitCode;

use clap::Parser;
use cloth::Failure;
use partita::prelude::*;
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery};

/// Knots along a side, the ropes between them `[m]`, how thick these are `[m]`, and the mass of a knot with its ropes `[kg]`.
const KNOTS: u32 = 17;
const ROPE: f64 = 0.12;
const THICKNESS: f64 = 0.014;
const KNOT_MASS: f64 = 0.02;
/// How much nearer to each other the beams are than the net is wide [-], and their height `[m]`.
const LOOSE: f64 = 0.9;
const HEIGHT: f64 = 1.3;
/// Thickness of a beam `[m]`.
const BEAM: f64 = 0.08;
/// How much longer a rope gets by each newton `[m/N]`.
const COMPLIANCE: f64 = 1e-4;

/// Names, shapes, masses `[kg]`, and where they begin `[m]`.
fn cargo() -> Vec<(&'static str, Shape, f64, [f64; 3])> {
    let crate_of = |edge| Shape::cuboid([edge; 3]);
    vec![
        ("crate 1", crate_of(0.32), 5.0, [0.25, HEIGHT + 0.2, 0.1]),
        ("ball 1", Shape::ball(0.15), 3.0, [-0.3, HEIGHT + 0.5, -0.2]),
        ("log", Shape::capsule_x(0.3, 0.1), 4.0, [0.0, HEIGHT + 1.0, 0.2]),
        ("crate 2", crate_of(0.26), 3.0, [-0.1, HEIGHT + 1.5, -0.15]),
        ("ball 2", Shape::ball(0.12), 2.0, [0.2, HEIGHT + 2.0, 0.0]),
    ]
}

#[derive(Parser)]
#[command(about = "A cargo net catches what is dropped into it")]
struct Flags {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    report::run("net", &Flags::parse().options, example)
}

fn example(report: &mut Report) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(5.0, 0.5);

    // Hung up, before there is anything to catch.
    let flat: Vec<[f64; 3]> = (0..KNOTS * KNOTS).map(|k| place(k, LOOSE)).collect();
    let (mut run, _) = scene(&flat, &[])?;
    run.for_seconds(report.options().pick(3.0, 0.5))?;
    let hung =
        run.look("net", |net: &IbdsCloth| net.positions().iter().map(|&x| x.into()).collect::<Vec<[f64; 3]>>())?;

    let (mut run, bodies) = scene(&hung, &cargo())?;
    // To where the net hangs down to, 0.4 m.
    let energy = cargo().iter().map(|(_, _, mass, place)| mass * 9.81 * (place[1] - HEIGHT + 0.4)).sum::<f64>();
    let (recording, seen) = cloth::record::<IbdsCloth>(report, &mut run, &["net"], seconds, scenery(), |_| Ok(()))?;
    seen.check(report, &run, (energy, "fall of the cargo"), (seconds >= 5.0).then_some(0.05));

    let lowest = cloth::places(&mut run, &bodies)?.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    // On the floor the middle of no body is as high.
    report.check("lowest body at the end", lowest, Bound::at_least(0.2), "m");
    report.figure("fastest body at the end [m/s]", cloth::fastest(&mut run, &bodies)?);
    report.note(run.report());
    Ok(recording)
}

/// Of a knot in the net, level and so much narrower than it is wide `[m]`.
fn place(knot: u32, narrower: f64) -> [f64; 3] {
    let [x, z] = [knot % KNOTS, knot / KNOTS].map(|k| narrower * ROPE * (f64::from(k) - 0.5 * f64::from(KNOTS - 1)));
    [x, HEIGHT, z]
}

/// The beam that a knot is tied to, if it is at the rim.
fn beam_of(knot: u32) -> Option<usize> {
    let [i, j] = [knot % KNOTS, knot / KNOTS];
    [i == 0, i + 1 == KNOTS, j == 0, j + 1 == KNOTS].iter().position(|is_there| *is_there)
}

/// The run, and what falls.
fn scene(knots: &[[f64; 3]], cargo: &[(&'static str, Shape, f64, [f64; 3])]) -> Result<(Run, Vec<HandleId>), Failure> {
    let wide: Vec<[f64; 3]> = (0..KNOTS * KNOTS).map(|k| place(k, 1.0)).collect();
    let along = (0..KNOTS * KNOTS).filter(|k| k % KNOTS + 1 < KNOTS).map(|k| [k, k + 1]);
    let across = (0..KNOTS * (KNOTS - 1)).map(|k| [k, k + KNOTS]);
    let net = Net::new(&wide, &vec![KNOT_MASS; wide.len()])?.ropes(along)?.ropes(across)?.compliance(COMPLIANCE)?;
    let net = IbdsCloth::new("net", net)?.with_positions(knots)?.thickness(THICKNESS);
    let net = net.substeps(2).max_iterations(300);

    let mut rigid = RigidBodies::new("rigid");
    rigid.add("floor", Body::fixed(Shape::cuboid([10.0, 1.0, 10.0])).at([0.0, -0.5, 0.0]))?;
    // Ropes end at the beams, not in them.
    let out = 0.5 * LOOSE * ROPE * f64::from(KNOTS - 1) + 0.5 * BEAM + THICKNESS;
    let [long, short] = [2.0 * out + BEAM, 2.0 * out - BEAM];
    let mut scene = Scene::new(Rate::hz(120));
    for (number, (size, at)) in [
        ([BEAM, BEAM, long], [-out, HEIGHT, 0.0]),
        ([BEAM, BEAM, long], [out, HEIGHT, 0.0]),
        ([short, BEAM, BEAM], [0.0, HEIGHT, -out]),
        ([short, BEAM, BEAM], [0.0, HEIGHT, out]),
    ]
    .into_iter()
    .enumerate()
    {
        let beam = rigid.add(&format!("beam {number}"), Body::fixed(Shape::cuboid(size)).skin(THICKNESS).at(at))?;
        let tied = (0..KNOTS * KNOTS).filter(|&knot| beam_of(knot) == Some(number));
        scene.attach(tied.map(|knot| net.particle(knot)).collect::<Vec<_>>(), beam);
    }
    for (number, [x, z]) in [[-out, -out], [out, -out], [-out, out], [out, out]].into_iter().enumerate() {
        let tall = HEIGHT - 0.5 * BEAM;
        let post = Body::fixed(Shape::cuboid([BEAM, tall, BEAM])).at([x, 0.5 * tall, z]);
        rigid.add(&format!("beam post {number}"), post)?;
    }
    let mut bodies = vec![];
    for (name, shape, mass, place) in cargo {
        let body = Body::dynamic(shape.clone()).mass(*mass).friction(0.5).damping(0.1, 1.0).skin(THICKNESS).at(*place);
        bodies.push(rigid.add(name, body)?);
    }
    scene.scheme(Relaxed::default().tolerance(0.01).passes(10));
    scene.contact("net", "rigid").friction(0.5);
    scene.add(rigid).add(net);
    Ok((scene.build()?, bodies))
}

fn scenery() -> Scenery {
    let camera = Camera::framing([[-1.1, 0.0, -1.1], [1.1, 1.8, 1.1]]).from_direction([-0.5, 0.55, 1.0]);
    Scenery::new(camera)
        .ground(0.0)
        .hide("rigid/floor")
        .look("rigid/beam", Look::plain(Colour::WOOD))
        .look("rigid/crate", Look::crate_wood(3))
        .look("rigid/ball", Look::plain(Colour::STEEL).gloss(0.7))
        .look("rigid/log", Look::plain(Colour::WOOD))
        .look("net", Look::plain(Colour::SIGNAL))
}
