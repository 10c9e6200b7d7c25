//! You will see the same table laid twice: one cloth is pulled away slowly, and plates and glasses come along; the other is jerked
//! away from under them, and they stay.
//!
//! Cloth on a table bears what stands on it: each plate presses the cloth onto the table, and friction on both sides is that of
//! the plate's weight. As long as the cloth accelerates by less than μ g, what stands on it goes along. Where it is faster it slides
//! away underneath, and μ g is all that it gives (Coulomb's law). The cloth is implicit, table and dishes are rapier's.

mod cloth;

use std::{f64::consts::FRAC_PI_2, process::ExitCode};

use clap::Parser;
use partita::prelude::*;
use partita_mesh::Mesh;
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery};

use cloth::Failure;

const RATE: f64 = 480.0;
const GRAVITY: f64 = 9.81;
/// Friction of the cloth with all else, and of dishes with the table [-].
const FRICTION: f64 = 0.3;
/// Acceleration of the hand that pulls slowly, a sixth of μ g, and of the other, ten times μ g `[m/s²]`.
const SLOW: f64 = 0.5;
const FAST: f64 = 30.0;
/// When the jerk begins `[s]`.
const START: f64 = 0.1;
/// Half of the cloth's thickness, which is what it keeps from either side `[m]`.
const ROOM: f64 = 0.5e-3;
/// Size of a cloth and of a table `[m]`, and distance of either table from the middle of the picture.
const CLOTH: [f64; 2] = [0.7, 0.5];
const TABLE: [f64; 2] = [1.2, 0.6];
const ASIDE: f64 = 0.45;

/// A dish: name, radius and height `[m]`, mass `[kg]`, place from the middle of the cloth `[m]`.
const DISHES: [(&str, f64, f64, f64, [f64; 2]); 4] = [
    ("plate left", 0.11, 0.02, 0.5, [-0.14, 0.0]),
    ("plate right", 0.11, 0.02, 0.5, [0.14, 0.06]),
    ("glass left", 0.045, 0.07, 0.25, [0.0, -0.12]),
    ("glass right", 0.045, 0.07, 0.25, [0.24, -0.12]),
];

#[derive(Parser)]
#[command(about = "A tablecloth is pulled away under plates and glasses, slowly and by a jerk")]
struct Flags {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    report::run("tablecloth", &Flags::parse().options, example)
}

fn example(report: &mut Report) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(0.9, 0.25);

    let mut rigid = RigidBodies::new("rigid");
    let slow = lay(&mut rigid, "slowly", -ASIDE)?;
    let fast = lay(&mut rigid, "by a jerk", ASIDE)?;
    let mut scene = Scene::new(Rate::hz(RATE));
    for name in ["slowly", "by a jerk"] {
        scene.contact(name, "rigid").friction(FRICTION);
    }
    scene.add(rigid);
    scene.add(pulled("slowly", -ASIDE, SLOW, 0.0)?).add(pulled("by a jerk", ASIDE, FAST, START)?);
    let mut run = scene.build()?;

    // Speeds of the jerked dishes between two times at which the cloth, faster than they, is under all of them.
    let [from, to] = [START + 0.02, START + 0.08];
    let mut speeds = [[(0.0, 0.0); 2]; DISHES.len()];
    let before = cloth::places(&mut run, &[slow.clone(), fast.clone()].concat())?;
    let (recording, seen) =
        cloth::record::<ImplicitCloth>(report, &mut run, &["slowly", "by a jerk"], seconds, scenery(), |run| {
            for (speed, &dish) in speeds.iter_mut().zip(&fast) {
                let now = run.state(dish)?.velocity[0];
                for (speed, at) in speed.iter_mut().zip([from, to]) {
                    // Windows are whole.
                    if (run.time() - at).abs() < 0.5 / RATE {
                        *speed = (run.time(), now);
                    }
                }
            }
            Ok(())
        })?;
    seen.check_crossings(report);
    for ((name, ..), [first, last]) in DISHES.iter().zip(speeds) {
        let friction = (last.1 - first.1) / (last.0 - first.0) / (FRICTION * GRAVITY);
        report.check(&format!("{name}, jerked: acceleration over μ g"), friction, Bound::within(0.95, 1.05), "-");
    }
    let after = cloth::places(&mut run, &[slow.clone(), fast.clone()].concat())?;
    let hand = 0.5 * SLOW * run.time().powi(2);
    for (k, (name, ..)) in DISHES.iter().enumerate() {
        let [along, jerked] = [k, k + DISHES.len()].map(|k| after[k].x - before[k].x);
        if seconds >= 0.9 {
            report.check(
                &format!("{name}, slowly: way over the cloth's"),
                along / hand,
                Bound::within(0.95, 1.05),
                "-",
            );
        }
        report.figure(&format!("{name}, jerked: way [m]"), jerked);
    }
    report.note(run.report());
    Ok(recording)
}

/// A table with dishes on a cloth that is not there yet. The dishes.
fn lay(rigid: &mut RigidBodies, name: &str, z: f64) -> Result<Vec<HandleId>, SimulatorError> {
    let [length, width] = TABLE;
    let top = Body::fixed(Shape::cuboid([length, 0.04, width])).at([0.2, -0.02, z]).friction(FRICTION);
    rigid.add(&format!("table, {name}"), top)?;
    let dish = |&(dish, radius, height, mass, [x, aside]): &(&str, f64, f64, f64, [f64; 2])| {
        let at = [x, 2.0 * ROOM + 0.5 * height, z + aside];
        let body = Body::dynamic(Shape::cylinder_y(height, radius)).mass(mass).at(at).friction(FRICTION);
        rigid.add(&format!("{dish}, {name}"), body)
    };
    DISHES.iter().map(dish).collect()
}

/// A cloth on a table whose right edge a hand pulls with such an acceleration from a time on.
fn pulled(name: &str, z: f64, acceleration: f64, from: f64) -> Result<ImplicitCloth, Failure> {
    let mesh = Mesh::grid([28, 20], CLOTH)?.turned([1.0, 0.0, 0.0], -FRAC_PI_2)?;
    let mesh = mesh.at([-0.5 * CLOTH[0], ROOM, z - 0.5 * CLOTH[1]])?;
    let edge = mesh.edge(Side::Right)?;
    let mut cloth = ImplicitCloth::new(name, mesh, Fabric::denim().thickness(2.0 * ROOM))?;
    cloth.pin_along("hand", &edge, move |time| {
        let t = (time - from).max(0.0);
        let position = [0.5 * acceleration * t * t, 0.0, 0.0];
        HandleState { position, velocity: [acceleration * t, 0.0, 0.0], ..HandleState::default() }
    })?;
    Ok(cloth)
}

fn scenery() -> Scenery {
    let camera = Camera::framing([[-0.5, 0.0, -0.7], [0.9, 0.15, 0.7]]).from_direction([-0.15, 0.75, 1.0]);
    Scenery::new(camera)
        .look("rigid/table", Look::plain(Colour::WOOD))
        .look("rigid/plate", Look::plain(Colour::PAPER))
        .look("rigid/glass", Look::plain(Colour::WATER))
        .look("slowly", Look::plain(Colour::SIGNAL))
        .look("by a jerk", Look::plain(Colour::SIGNAL))
}
