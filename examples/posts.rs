//! You will see balls roll on a cloth between posts, which it pulls towards each other: \[PD97\] figure 4.
//!
//! \[PD97\] D. Baraff, A. Witkin: Partitioned Dynamics. CMU-RI-TR-97-33, 1997.
//!
//! The posts and balls are rapier's, the cloth is an implicit one; neither knows of the other. The cloth is attached to the
//! posts: they prescribe its motion and receive its reactions. With reactions delayed by a window, so stiff a cloth keeps the
//! posts gliding to and fro for ten seconds, even at 480 Hz. [`Relaxed`] iterates each window until loads and motions agree:
//! the posts rest after two seconds at 120 Hz.

/// Sheets cut from a lattice, and what is looked at after every window.
mod cloth;

use std::process::ExitCode;

use clap::Parser;
use cloth::{Cut, Failure};
use nalgebra::Vector3;
use partita::prelude::*;
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery};

type V3 = Vector3<f64>;

/// Cells of the lattice that the cloth is cut from, and their edge `[m]`.
const CELLS: [u32; 2] = [78, 40];
const EDGE: f64 = 0.03;
/// Height of the posts `[m]`, their radius at the top, within which the cloth is tied to them `[m]`, and their mass `[kg]`.
const HEIGHT: f64 = 1.1;
const TOP: f64 = 0.11;
const TIED: f64 = 0.045;
const POST: f64 = 8.0;
/// Friction of posts with the floor: they glide before they fall.
const GLIDE: f64 = 0.12;
/// Radius of a ball `[m]`, and its mass `[kg]`.
const RADIUS: f64 = 0.1;
const BALL: f64 = 0.3;
/// What of its turning rolling on cloth takes `[1/s]`.
const ROLLING: f64 = 5.0;

#[derive(Parser)]
#[command(about = "Balls roll on a cloth between posts, which it pulls towards each other")]
struct Flags {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    report::run("posts", &Flags::parse().options, example)
}

fn example(report: &mut Report) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(5.0, 0.5);

    // Hung up between posts that stand fast, before there are balls on it.
    let cut = cloth::cut(CELLS, EDGE, kept)?;
    let (mut run, ..) = scene(&cut, &sagging(&cut), Rate::hz(60), &[], Body::fixed)?;
    run.for_seconds(1.0)?;
    let hung = run.look("cloth", |cloth: &ImplicitCloth| cloth.positions().to_vec())?;

    let (mut run, posts, balls) = scene(&cut, &hung, Rate::hz(120), &BALLS, Body::dynamic)?;
    let start = cloth::places(&mut run, &posts)?;
    let mut energy = run.simulator_ledger("cloth")?.ok_or("cloth keeps a ledger")?.potential;
    for place in cloth::places(&mut run, &balls)? {
        energy += BALL * 9.81 * place.y;
    }
    let (recording, seen) =
        cloth::record::<ImplicitCloth>(report, &mut run, &["cloth"], seconds, scenery(), |_| Ok(()))?;
    seen.check(report, &run, (energy, "potential at first"), (seconds >= 5.0).then_some(0.02));
    report.figure("seconds a frame in 1997", 5.7);

    let now = cloth::places(&mut run, &posts)?;
    let moved = start.iter().zip(&now).map(|(a, b)| (b - a).norm()).fold(0.0, f64::max);
    if seconds >= 2.0 {
        report.check("largest move of a post", moved, Bound::at_least(0.02), "m");
    }
    let lowest = cloth::places(&mut run, &balls)?.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    report.check("lowest ball at the end", lowest, Bound::at_least(0.4), "m");
    report.figure("fastest ball at the end [m/s]", cloth::fastest(&mut run, &balls)?);
    report.note(run.report());
    Ok(recording)
}

/// 3,017 vertices and 5,802 triangles, as in the paper: a rectangle without its corners, with a tongue at the front.
fn kept(i: u32, j: u32) -> bool {
    let (side, front) = (i == 0 || i == 78, j == 0 || j == 37);
    let tongue = (36..=42).contains(&i) && !(j == 40 && (i == 36 || i == 42));
    j <= 37 && !(side && front) || tongue
}

/// Places in the lattice under which posts stand.
const POSTS: [[u32; 2]; 6] = [[4, 4], [39, 4], [74, 4], [4, 33], [39, 36], [74, 33]];

/// Places in the lattice above which balls begin, beside posts.
const BALLS: [[u32; 2]; 3] = [[12, 7], [46, 8], [66, 30]];

/// As long as at rest along x, level over the posts, down and up between them.
fn sagging(cut: &Cut) -> Vec<V3> {
    let mut line = vec![[0.0, HEIGHT]];
    for i in 0..CELLS[0] {
        let between = ((f64::from(i) + 0.5 - 4.0).rem_euclid(35.0) - 4.0) / 27.0;
        let slopes = (4..74).contains(&i) && (0.0..=1.0).contains(&between);
        let slope = if slopes { -0.7 * (std::f64::consts::TAU * between).sin() } else { 0.0 };
        let [x, y] = line[i as usize];
        line.push([x + EDGE * slope.cos(), y + EDGE * slope.sin()]);
    }
    let place = |&[i, j]: &[u32; 2]| {
        let [x, y] = line[i as usize];
        V3::new(x - line[39][0], y, EDGE * (f64::from(j) - 18.5))
    };
    cut.numbers.keys().map(place).collect()
}

/// The run, its posts, and its balls.
type Built = (Run, Vec<HandleId>, Vec<HandleId>);

/// Posts under a cloth that is there, and balls above places of it.
fn scene(cut: &Cut, x: &[V3], rate: Rate, balls: &[[u32; 2]], role: fn(Shape) -> Body) -> Result<Built, Failure> {
    let positions: Vec<[f64; 3]> = x.iter().map(|&x| x.into()).collect();
    let canvas = Fabric::denim().stretch(6000.0).damping(0.01).bend_damping(0.02);
    let cloth = ImplicitCloth::new("cloth", cut.mesh.clone(), canvas)?.with_positions(&positions)?;
    let place = |place: &[u32; 2]| x[cut.numbers[place] as usize];
    let mut scene = Scene::new(rate);
    let mut rigid = RigidBodies::new("rigid");
    rigid.add("floor", Body::fixed(Shape::cuboid([10.0, 1.0, 10.0])).at([0.0, -0.5, 0.0]).friction(GLIDE))?;

    let (mut posts, mut rolling) = (vec![], vec![]);
    for (number, foot) in POSTS.iter().enumerate() {
        let top = place(foot);
        let post =
            rigid.add(&format!("post {number}"), role(post()).mass(POST).friction(GLIDE).at([top.x, 0.0, top.z]))?;
        let near = (0..).zip(x).filter(|(_, x)| (*x - top).norm() < TIED);
        scene.attach(near.map(|(v, _)| cloth.vertex(v)).collect::<Vec<_>>(), post);
        posts.push(post);
    }
    for (number, above) in balls.iter().enumerate() {
        let over = place(above);
        let low = cloth::lowest(x, [over.x, over.z], RADIUS + 3e-3);
        let ball =
            Body::dynamic(Shape::ball(RADIUS)).mass(BALL).friction(0.4).damping(0.1, ROLLING).at([over.x, low, over.z]);
        rolling.push(rigid.add(&format!("ball {number}"), ball)?);
    }
    scene.contact("cloth", "rigid").friction(0.3);
    scene.scheme(Relaxed::default().tolerance(0.05).floor(0.1).passes(8));
    scene.add(rigid).add(cloth);
    Ok((scene.build()?, posts, rolling))
}

/// Round, broad at its foot, flat at its top.
fn post() -> Shape {
    let ring = |[radius, y]: [f64; 2]| {
        (0..32).map(move |k| {
            let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / 32.0).sin_cos();
            [radius * cos, y, radius * sin]
        })
    };
    let top = HEIGHT - 1e-3;
    let rings = [[0.18, 0.0], [0.18, 0.02], [TOP, top - 0.01], [TOP - 0.01, top]];
    Shape::hull(rings.into_iter().flat_map(ring).collect::<Vec<_>>())
}

fn scenery() -> Scenery {
    let camera = Camera::framing([[-1.25, 0.0, -0.7], [1.25, 1.3, 0.8]]).from_direction([-0.4, 0.55, 1.0]);
    Scenery::new(camera)
        .ground(0.0)
        .hide("rigid/floor")
        .look("rigid/post", Look::plain(Colour::WOOD))
        .look("rigid/ball", Look::plain(Colour::STEEL).gloss(0.7))
        .look("cloth", Look::plain(Colour::SIGNAL))
        .still(0.9)
}
