//! You will see a ball roll over a bridge of planks that hang from ropes, and the bridge swing below it.
//!
//! \[BDB09\] D. Bayer, R. Diziol, J. Bender: Optimized Impulse-Based Dynamic Simulation. VRIPHYS 2009, section 3.4.
//!
//! The ropes are one impulse-based net, the planks and the ball are rapier's: knots of the net are tied to the planks, go where these go,
//! and pull at them. What hangs from ropes that do not give way would have to be borne as by a stone, so these have a stated
//! compliance, and windows in which what they pull with changes much are taken again (`Relaxed`). Nobody meets the ropes.

/// What is looked at after every window.
mod cloth;

use std::process::ExitCode;

use clap::Parser;
use cloth::Failure;
use nalgebra::Vector3;
use partita::prelude::*;
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery};

type V3 = Vector3<f64>;

/// Planks, how long, thick and wide they are `[m]`, the gap between two of them `[m]`, and the mass of one `[kg]`.
const PLANKS: u32 = 15;
const PLANK: [f64; 3] = [0.18, 0.035, 0.9];
const GAP: f64 = 0.04;
const PLANK_MASS: f64 = 2.0;
/// How steep the bridge is at its ends [rad], how high it is in between, and how long the banks are `[m]`.
const STEEP: f64 = 0.35;
const HEIGHT: f64 = 1.2;
const BANK: f64 = 4.0;
/// How far ropes are from the middle `[m]`, how far the rails are above the planks `[m]`, and how thick ropes are `[m]`.
const ASIDE: f64 = 0.47;
const RAIL: f64 = 0.5;
const THICKNESS: f64 = 0.02;
/// Mass of a knot `[kg]`, and how much longer a rope gets by each newton `[m/N]`.
const KNOT_MASS: f64 = 0.05;
const COMPLIANCE: f64 = 1e-5;
/// Radius of the ball `[m]`, its mass `[kg]`, and how fast it comes `[m/s]`.
const RADIUS: f64 = 0.16;
const BALL_MASS: f64 = 8.0;
const SPEED: f64 = 2.8;

#[derive(Parser)]
#[command(about = "A ball rolls over a bridge of planks that hang from ropes")]
struct Flags {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    report::run("rope_bridge", &Flags::parse().options, example)
}

fn example(report: &mut Report) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(4.0, 0.5);

    let (mut run, planks, ball) = scene()?;
    let mut lowest = f64::INFINITY;
    let middle = planks[planks.len() / 2];
    let (recording, seen) = cloth::record::<IbdsCloth>(report, &mut run, &["ropes"], seconds, scenery(), |run| {
        lowest = lowest.min(run.state(middle)?.position[1]);
        Ok(())
    })?;
    seen.check(report, &run, (0.7 * BALL_MASS * SPEED * SPEED, "rolling ball's energy"), None);
    let place = V3::from(run.state(ball)?.position);
    if seconds >= 4.0 {
        report.check("where the ball is in the end, along the bridge", place.x, Bound::at_least(1.5), "m");
        report.check("the ball is on the other side, not below", place.y, Bound::at_least(HEIGHT), "m");
    }
    report.figure("lowest that the middle plank was [m]", lowest);
    report.note(run.report());
    Ok(recording)
}

/// Where the middle of a plank is, and how steep it is, where planks lie on an arc between two banks.
fn plank(number: u32) -> (V3, f64) {
    let angle = |k: u32| STEEP * (2.0 * f64::from(k) / f64::from(PLANKS - 1) - 1.0);
    let pitch = PLANK[0] + GAP;
    let step = |k: u32| 0.5 * pitch * (V3::new(angle(k).cos(), angle(k).sin(), 0.0));
    let mut place = V3::zeros();
    (0..number).for_each(|k| place += step(k) + step(k + 1));
    let mut whole = V3::zeros();
    (0..PLANKS - 1).for_each(|k| whole += step(k) + step(k + 1));
    (place - 0.5 * whole + V3::y() * HEIGHT, angle(number))
}

/// The run, its planks, and the ball.
fn scene() -> Result<(Run, Vec<HandleId>, HandleId), Failure> {
    let mut rigid = RigidBodies::new("rigid");
    let mut knots: Vec<V3> = vec![];
    let mut ropes: Vec<[u32; 2]> = vec![];
    // Knots that are tied, and to which body.
    let mut ties: Vec<(u32, HandleId)> = vec![];
    let mut knot = |place: V3| {
        knots.push(place);
        knots.len() as u32 - 1
    };
    let bank = |number: u32, side: f64| (plank(number).0 + V3::x() * side * (0.5 * PLANK[0] + GAP), side);
    let [west, east] = [bank(0, -1.0), bank(PLANKS - 1, 1.0)];
    let mut banks = vec![];
    for (name, (at, side)) in [("west", west), ("east", east)] {
        let top = at.y + 0.5 * PLANK[1];
        let body =
            Body::fixed(Shape::cuboid([BANK, top, 1.6])).at([at.x + side * 0.5 * BANK, 0.5 * top, 0.0]).friction(0.6);
        banks.push(rigid.add(&format!("bank {name}"), body)?);
        for (end, z) in [("left", -ASIDE), ("right", ASIDE)] {
            let post = Body::fixed(Shape::cuboid([0.06, RAIL + 0.1, 0.06]));
            rigid.add(&format!("post {name} {end}"), post.at([at.x + side * 0.03, top + 0.5 * RAIL + 0.05, z]))?;
        }
    }
    let mut planks = vec![];
    for k in 0..PLANKS {
        let (place, steep) = plank(k);
        let body = Body::dynamic(Shape::cuboid(PLANK)).mass(PLANK_MASS).friction(0.6).damping(0.3, 0.5);
        planks.push(rigid.add(&format!("plank {k}"), body.at(place.into()).turned([0.0, 0.0, 1.0], steep))?);
    }
    for z in [-ASIDE, ASIDE] {
        // From bank to bank: where a rope comes to a plank and where it leaves it; and a rail above.
        let (mut before, mut rail_before) = (None, None);
        let mut join = |from: Option<u32>, to: u32| ropes.extend(from.map(|from| [from, to]));
        let ends = |(at, side): (V3, f64)| [0.0, RAIL].map(|up| at + V3::new(-0.3 * side * THICKNESS, up, z));
        for (place, before) in ends(west).into_iter().zip([&mut before, &mut rail_before]) {
            let end = knot(place);
            ties.push((end, banks[0]));
            *before = Some(end);
        }
        for (k, &body) in (0..).zip(&planks) {
            let (place, steep) = plank(k);
            let along = (0.5 * PLANK[0] + 0.3 * THICKNESS) * V3::new(steep.cos(), steep.sin(), 0.0);
            let [comes, goes] = [place - along, place + along].map(|place| knot(place + V3::z() * z));
            ties.extend([(comes, body), (goes, body)]);
            join(before, comes);
            before = Some(goes);
            let rail = knot(place + V3::new(0.0, RAIL, z));
            join(rail_before, rail);
            join(Some(comes), rail);
            join(Some(goes), rail);
            rail_before = Some(rail);
        }
        for (place, before) in ends(east).into_iter().zip([before, rail_before]) {
            let end = knot(place);
            ties.push((end, banks[1]));
            join(before, end);
        }
    }
    let start = west.0 + V3::new(-0.8, 0.5 * PLANK[1] + RADIUS, 0.0);
    let ball = Body::dynamic(Shape::ball(RADIUS)).mass(BALL_MASS).friction(0.6).damping(0.0, 0.1).at(start.into());
    let ball = rigid.add("ball", ball.velocity([SPEED, 0.0, 0.0]).spin([0.0, 0.0, -SPEED / RADIUS]))?;

    let places: Vec<[f64; 3]> = knots.iter().map(|&place| place.into()).collect();
    let net = Net::new(&places, &vec![KNOT_MASS; places.len()])?.ropes(ropes)?.compliance(COMPLIANCE)?;
    let ropes = IbdsCloth::new("ropes", net)?.thickness(THICKNESS).substeps(2);
    let mut scene = Scene::new(Rate::hz(240));
    for body in planks.iter().chain(&banks) {
        let tied = ties.iter().filter(|(_, to)| to == body).map(|(knot, _)| ropes.particle(*knot));
        scene.attach(tied.collect::<Vec<_>>(), *body);
    }
    scene.scheme(Relaxed::default().tolerance(0.002).passes(20));
    scene.add(rigid).add(ropes);
    Ok((scene.build()?, planks, ball))
}

fn scenery() -> Scenery {
    let camera = Camera::framing([[-2.0, 0.2, -0.6], [2.0, 1.9, 0.6]]).from_direction([-0.35, 0.4, 1.0]);
    Scenery::new(camera)
        .ground(0.0)
        .look("rigid/bank", Look::plain(Colour([150, 146, 140])))
        .look("rigid/post", Look::plain(Colour::WOOD))
        .look("rigid/plank", Look::plain(Colour::WOOD))
        .look("rigid/ball", Look::plain(Colour::STEEL).gloss(0.7))
        .look("ropes", Look::plain(Colour::SIGNAL))
        .still(0.8)
}
