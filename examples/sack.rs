//! You will see a cloth with fruit in it drawn together at its rim to a sack, lifted by its neck, and left to hang.
//!
//! The fruit is rapier's, the cloth is an implicit one, held by hands that move along scripts; neither simulator knows of the
//! other. The fruit leads; what it takes to bear it in the cloth pushes it.

/// Sheets cut from a lattice, and what is looked at after every window.
mod cloth;

use std::{f64::consts::TAU, process::ExitCode};

use clap::Parser;
use cloth::{Cut, Failure};
use nalgebra::{UnitQuaternion, Vector3};
use partita::prelude::*;
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery};

type V3 = Vector3<f64>;

/// Cells across the cloth, its radius `[m]`, and the edge of a cell `[m]`.
const CELLS: u32 = 40;
const RADIUS: f64 = 0.52;
const EDGE: f64 = 2.0 * RADIUS / CELLS as f64;
/// Hands around its rim.
const HANDS: u32 = 8;
/// How far from the middle the hands are, flat, hung and drawn together, and how high `[m]`.
const WIDE: f64 = RADIUS - 0.02;
const HUNG: f64 = 0.41;
const NECK: f64 = 0.04;
const LOW: f64 = 0.6;
const HIGH: f64 = 0.95;
/// When the hands begin to draw it together, and how long that takes `[s]`.
const BEGIN: f64 = 0.6;
const TAKES: f64 = 2.0;

/// Names, radii `[m]` and masses `[kg]`.
const FRUIT: [(&str, f64, f64); 13] = {
    let (apple, orange, lime) = (("apple", 0.041, 0.2), ("orange", 0.045, 0.25), ("lime", 0.03, 0.08));
    [orange, apple, lime, apple, apple, orange, lime, orange, apple, lime, orange, apple, lime]
};

#[derive(Parser)]
#[command(about = "A cloth with fruit in it is drawn together to a sack and lifted")]
struct Flags {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    report::run("sack", &Flags::parse().options, example)
}

fn example(report: &mut Report) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(5.0, 0.5);

    // Hung up between the hands, then filled, until the fruit is at rest.
    let cut = cloth::cut([CELLS; 2], EDGE, |i, j| V3::new(place(i), 0.0, place(j)).norm() < RADIUS)?;
    let flat: Vec<V3> = cut.numbers.keys().map(|&[i, j]| V3::new(place(i), LOW, place(j))).collect();
    let hang = |t| smooth(t, 0.0, 0.8, [[WIDE, LOW, 0.0], [HUNG, LOW, 0.3]]);
    let (empty, _) = settled(&cut, &flat, &[], hang, 1.0)?;
    let still = |_| [[HUNG, LOW, 0.3], [0.0; 3]];
    let (hung, lying) = settled(&cut, &empty, &spread(&empty), still, report.options().pick(2.0, 0.5))?;

    let draw = |t| smooth(t, BEGIN, TAKES, [[HUNG, LOW, 0.3], [NECK, HIGH, 1.4]]);
    let (mut run, fruit) = scene(&cut, &hung, &lying, draw)?;
    let energy = ["cloth", "rigid"].iter().try_fold(0.0, |sum, name| {
        let ledger = run.simulator_ledger(name)?.ok_or("both keep ledgers")?;
        Ok::<f64, Failure>(sum + ledger.potential)
    })?;
    let (recording, seen) =
        cloth::record::<ImplicitCloth>(report, &mut run, &["cloth"], seconds, scenery(), |_| Ok(()))?;
    seen.check(report, &run, (energy, "potential at first"), (seconds >= 5.0).then_some(0.02));

    let neck = if seconds > BEGIN + TAKES { HIGH } else { LOW };
    let within = |x: &V3| x.xz().norm() < 0.5 * RADIUS && x.y > neck - RADIUS - 0.05 && x.y < neck;
    let inside = cloth::places(&mut run, &fruit)?.iter().filter(|x| within(x)).count();
    report.check("fruit in the sack at the end", inside as f64, Bound::equals(fruit.len() as f64), "");
    report.note(run.report());
    Ok(recording)
}

/// From the middle `[m]`.
fn place(k: u32) -> f64 {
    EDGE * (f64::from(k) - 0.5 * f64::from(CELLS))
}

/// Where a hand is, and what that changes by in a second: its distance from the middle and height `[m]`, and its pitch `[rad]`.
type Hold = [[f64; 3]; 2];

/// From one to another, beginning and ending gently.
fn smooth(t: f64, begin: f64, takes: f64, [from, to]: Hold) -> Hold {
    let (sin, cos) = (0.5 * TAU * ((t - begin) / takes).clamp(0.0, 1.0)).sin_cos();
    let (part, rate) = (0.5 * (1.0 - cos), 0.25 * TAU / takes * sin);
    let way: [f64; 3] = std::array::from_fn(|k| to[k] - from[k]);
    [std::array::from_fn(|k| from[k] + part * way[k]), way.map(|way| rate * way)]
}

/// Side by side, as low as the cloth lets them: one in the middle, six around it, six around these.
fn spread(x: &[V3]) -> Vec<V3> {
    let at = |(number, (_, radius, _)): (usize, &(&str, f64, f64))| {
        let far = [0.0, 0.095, 0.19][number.div_ceil(6)];
        let (sin, cos) = (TAU * number as f64 / 6.0).sin_cos();
        V3::new(far * cos, cloth::lowest(x, [far * cos, far * sin], radius + 3e-3), far * sin)
    };
    FRUIT.iter().enumerate().map(at).collect()
}

/// Where the cloth and the fruit come to be in some time `[s]`.
fn settled(
    cut: &Cut,
    x: &[V3],
    fruit: &[V3],
    hold: fn(f64) -> Hold,
    seconds: f64,
) -> Result<(Vec<V3>, Vec<V3>), Failure> {
    let (mut run, fruit) = scene(cut, x, fruit, hold)?;
    run.each_window(seconds, |_| match report::interrupted() {
        true => Err(Failure::from("stopped by Ctrl-C before the sack had settled")),
        false => Ok(()),
    })?;
    let x = run.look("cloth", |cloth: &ImplicitCloth| cloth.positions().to_vec())?;
    Ok((x, cloth::places(&mut run, &fruit)?))
}

/// The cloth where it is, in hands, with fruit where that is.
fn scene(cut: &Cut, x: &[V3], fruit_at: &[V3], hold: fn(f64) -> Hold) -> Result<(Run, Vec<HandleId>), Failure> {
    let positions: Vec<[f64; 3]> = x.iter().map(|&x| x.into()).collect();
    let canvas = Fabric::denim().stretch(6000.0).damping(0.01).bend_damping(0.02);
    let mut cloth = ImplicitCloth::new("cloth", cut.mesh.clone(), canvas)?.with_positions(&positions)?;
    let flat: Vec<V3> = cut.numbers.keys().map(|&[i, j]| V3::new(place(i), 0.0, place(j))).collect();
    for hand in 0..HANDS {
        let (sin, cos) = (TAU * (f64::from(hand) + 0.5) / f64::from(HANDS)).sin_cos();
        let (out, around) = (V3::new(cos, 0.0, sin), V3::new(-sin, 0.0, cos));
        let far = |x: &V3| (x - WIDE * out).norm();
        let nearest = (0..).zip(&flat).min_by(|(_, a), (_, b)| far(a).total_cmp(&far(b))).map(|(v, _)| v);
        cloth.pin_along(&format!("hand {hand}"), nearest.as_slice(), move |t| {
            let [[far, high, pitch], [far_rate, high_rate, pitch_rate]] = hold(t);
            // Outwards is up when the sack is closed.
            let turn = UnitQuaternion::from_scaled_axis(-pitch * around);
            HandleState {
                position: (far * out + high * V3::y()).into(),
                velocity: (far_rate * out + high_rate * V3::y()).into(),
                orientation: turn.coords.into(),
                spin: (-pitch_rate * around).into(),
            }
        })?;
    }

    let mut rigid = RigidBodies::new("rigid");
    rigid.add("floor", Body::fixed(Shape::cuboid([10.0, 1.0, 10.0])).at([0.0, -0.5, 0.0]))?;
    let mut fruit = vec![];
    for (number, ((name, radius, mass), at)) in FRUIT.iter().zip(fruit_at).enumerate() {
        let body = Body::dynamic(Shape::ball(*radius)).mass(*mass).friction(0.4).damping(0.1, 1.0);
        fruit.push(rigid.add(&format!("{name} {number}"), body.at((*at).into()))?);
    }
    let mut scene = Scene::new(Rate::hz(120));
    // Fruit that the cloth catches within a window would be pushed by what that took a window ago.
    scene.scheme(Relaxed::default().tolerance(0.1).floor(0.5).passes(4));
    scene.contact("cloth", "rigid").friction(0.3);
    scene.add(rigid).add(cloth);
    Ok((scene.build()?, fruit))
}

fn scenery() -> Scenery {
    let camera = Camera::framing([[-0.5, 0.1, -0.35], [0.5, 0.98, 0.35]]).from_direction([0.3, 0.6, 1.0]);
    Scenery::new(camera)
        .ground(0.0)
        .hide("rigid/floor")
        .look("rigid/apple", Look::plain(Colour::SIGNAL).gloss(0.5))
        .look("rigid/orange", Look::plain(Colour([232, 140, 40])).gloss(0.4))
        .look("rigid/lime", Look::plain(Colour::GREEN).gloss(0.4))
        .look("cloth", Look::plain(Colour([205, 186, 150])))
        .still(1.15)
}
