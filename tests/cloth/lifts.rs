//! Cloth by whose border a body is lifted and carried along.
//!
//! A border that moves steadily along a script does no work in the frame in which it rests: there the
//! body never gains energy, and it stays on the cloth. It also stays there where the border is drawn together.

use crate::common::sample::Sample;
use crate::common::sheets::{CELLS, METHODS, level_sheet, vertices};
use partita::{
    prelude::*,
    simulator::{Outcome, Simulator},
};

type V3 = nalgebra::Vector3<f64>;

const G: f64 = 9.81;

/// Sag that no ball causes as long as it does not fall through `[m]`: jersey under 0.5 kg sags by 0.06 m.
const SAG: f64 = 0.1;

/// Support of the border of the sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mover {
    Grip,
    KinematicBody,
}

/// Way and velocity of the border at a time `[s]`, `[m]`, `[m/s]`.
type Script = fn(f64, V3) -> [V3; 2];

/// Steadily with the velocity.
fn steadily(t: f64, velocity: V3) -> [V3; 2] {
    [t * velocity, velocity]
}

/// From rest to rest in 0.3 s, at most with the velocity.
fn and_stops(t: f64, velocity: V3) -> [V3; 2] {
    let s = (t / 0.3).min(1.0);
    [0.2 * s * s * (3.0 - 2.0 * s) * velocity, 4.0 * s * (1.0 - s) * velocity]
}

/// A level sheet with its border along a script, or handles of the border.
fn sheet(method: &str, mover: Mover, script: Script, velocity: V3) -> (Box<dyn Simulator>, Vec<HandleId>) {
    let is_outside = |k: u32| k == 0 || k == CELLS;
    let border = vertices(|column, row| is_outside(column) || is_outside(row));
    let script = move |t: f64| {
        let [way, velocity] = script(t, velocity);
        HandleState { position: way.into(), velocity: velocity.into(), ..HandleState::default() }
    };
    let gripped = if mover == Mover::Grip { &border[..] } else { &[] };
    level_sheet(method, G, &[], (gripped, script), &border)
}

/// Ball on a sheet that is moved.
struct Carried {
    method: &'static str,
    scheme: Scheme,
    mover: Mover,
    script: Script,
    velocity: V3,
    /// Whether the ball starts with the velocity, not at rest.
    moves: bool,
    /// `[kg]`, `[1/s]`
    mass: f64,
    rate: f64,
}

/// Energy of a ball in the frame of the border, relative to its mass, at the start and at most over some seconds, and
/// how deep its middle got under the border `[J/kg]`, `[J/kg]`, `[m]`. Of impulse-based cloth, energy counts until the first window
/// whose loads do not converge: links that are taut may kick the ball then.
fn carried(scene: Carried, seconds: f64) -> [f64; 3] {
    const RADIUS: f64 = 0.037;
    let Carried { method, scheme, mover, script, velocity, moves, mass, rate } = scene;
    let mut rigid = RigidBodies::new("rigid").gravity([0.0, -G, 0.0]);
    let start = V3::new(0.011, RADIUS + 0.003, 0.007);
    let own = if moves { velocity } else { V3::zeros() };
    let ball = Body::dynamic(Shape::ball(RADIUS)).mass(mass).at(start.into()).velocity(own.into());
    let ball = rigid.add("ball", ball).unwrap();
    let (cloth, points) = sheet(method, mover, script, velocity);
    let mut scene = Scene::new(Rate::hz(rate));
    scene.scheme(scheme).contact("cloth", "rigid");
    if mover == Mover::KinematicBody {
        // Out of the way.
        let at = V3::new(0.0, -3.0, 0.0);
        let script = move |t: f64| Pose { position: (at + script(t, velocity)[0]).into(), ..Pose::default() };
        let frame = rigid.add("frame", Body::kinematic(Shape::ball(0.01), script)).unwrap();
        scene.attach(points, frame);
    }
    scene.add(rigid).add_boxed(cloth);
    let mut run = scene.build().unwrap();
    let (mut energy, mut depth, mut counts) = (f64::NEG_INFINITY, 0.0_f64, true);
    for window in 1..=(seconds * rate) as u32 {
        let outcome = run.advance().unwrap().outcome;
        counts &= method != "ibds" || outcome == Outcome::Converged;
        let state = run.state(ball).unwrap();
        let [way, velocity] = script(f64::from(window) / rate, velocity);
        let place = V3::from(state.position) - way;
        let speed = (V3::from(state.velocity) - velocity).norm();
        if counts {
            energy = energy.max(0.5 * speed * speed + G * place.y);
        }
        depth = depth.max(-place.y);
    }
    [0.5 * (own - script(0.0, velocity)[1]).norm_squared() + G * start.y, energy, depth]
}

/// Lifted from rest or carried along, by a kinematic grip or by a body along a script, a ball gains nothing in
/// the frame of the border, and does not fall through.
#[test]
fn a_ball_that_is_lifted_by_cloth_gains_nothing_in_the_frame_of_the_border() {
    let mut sample = Sample::one_in(5);
    let up = V3::new(0.0, 1.0, 0.0);
    let across = V3::new(1.0, 0.0, 0.0);
    for method in METHODS {
        for scheme in [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()] {
            for (velocity, moves, mass, rate) in [
                (0.05 * up, false, 0.1, 120.0),
                (0.5 * up, false, 0.5, 60.0),
                (1.7 * up, false, 0.05, 120.0),
                (1.7 * up, true, 0.1, 60.0),
                (-0.5 * up, true, 0.3, 120.0),
                (across, true, 0.1, 120.0),
            ] {
                for mover in [Mover::Grip, Mover::KinematicBody] {
                    if sample.leaves_out() {
                        continue;
                    }
                    let case = format!("{method}, {scheme:?}, {mover:?}, {velocity:?} m/s, {mass} kg, {rate} Hz");
                    let (scheme, script) = (scheme.clone(), steadily);
                    let scene = Carried { method, scheme, mover, script, velocity, moves, mass, rate };
                    let [start, energy, depth] = carried(scene, 0.3);
                    assert!(energy <= start * (1.0 + 1e-9), "{case}: {energy} of {start} J/kg");
                    assert!(depth < SAG, "{case}: {depth} m under the border");
                }
            }
        }
    }
}

/// A border that goes up or aside and stops gives a ball no more than what that has at its own largest velocity twice
/// over, as an elastic sheet could, and the ball stays on the sheet.
#[test]
fn a_border_that_stops_throws_no_ball() {
    let mut sample = Sample::one_in(4);
    let (up, across) = (V3::new(0.0, 1.0, 0.0), V3::new(1.0, 0.0, 0.0));
    for method in METHODS {
        for scheme in [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()] {
            for (velocity, mass, rate) in [(0.75 * up, 0.1, 120.0), (0.5 * across, 0.5, 60.0), (-0.5 * up, 0.05, 120.0)]
            {
                if sample.leaves_out() {
                    continue;
                }
                let case = format!("{method}, {scheme:?}, {velocity:?} m/s, {mass} kg, {rate} Hz");
                let (scheme, mover, script) = (scheme.clone(), Mover::Grip, and_stops);
                let scene = Carried { method, scheme, mover, script, velocity, moves: false, mass, rate };
                let [start, energy, depth] = carried(scene, 0.6);
                assert!(energy <= start + 2.0 * velocity.norm_squared(), "{case}: {energy} of {start} J/kg");
                assert!(depth < SAG, "{case}: {depth} m under the border");
            }
        }
    }
}

/// Two bodies along scripts that lift a sheet by opposite edges and draw these together, to a third of their distance,
/// lift a ball on it: in the end the middle of the ball is no deeper under the edges than a sheet without stretch lets its
/// lowest point be. The ball gains nothing in the frame that goes up with the edges.
#[test]
fn a_ball_comes_along_where_the_border_is_lifted_and_drawn_together() {
    let mut sample = Sample::one_in(4);
    const UP: f64 = 0.25;
    const INWARDS: f64 = 0.13;
    const SECONDS: f64 = 1.0;
    const WIDTH: f64 = 0.4;
    let edge = |column: u32| vertices(move |k, _| k == column);
    for method in METHODS {
        for scheme in [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()] {
            for (mass, rate) in [(0.05, 60.0), (0.2, 120.0), (0.5, 240.0)] {
                if sample.leaves_out() {
                    continue;
                }
                let mut rigid = RigidBodies::new("rigid").gravity([0.0, -G, 0.0]);
                let ball = Body::dynamic(Shape::ball(0.037)).mass(mass).at([0.011, 0.04, 0.007]);
                let ball = rigid.add("ball", ball).unwrap();
                let both: Vec<u32> = edge(0).into_iter().chain(edge(CELLS)).collect();
                let (cloth, handles) = level_sheet(method, G, &[], (&[], |_| HandleState::default()), &both);
                let mut scene = Scene::new(Rate::hz(rate));
                scene.scheme(scheme.clone()).contact("cloth", "rigid").friction(0.3);
                for (side, handles) in [-1.0, 1.0].into_iter().zip(handles.chunks(handles.len() / 2)) {
                    let script =
                        move |t: f64| Pose { position: [side * (2.0 - INWARDS * t), UP * t, 0.0], ..Pose::default() };
                    let frame = Body::kinematic(Shape::ball(0.01), script);
                    let frame = rigid.add(&format!("frame at {side}"), frame).unwrap();
                    scene.attach(handles.to_vec(), frame);
                }
                scene.add(rigid).add_boxed(cloth);
                let mut run = scene.build().unwrap();
                let case = format!("{method}, {scheme:?}, {mass} kg, {rate} Hz");
                while run.time() < SECONDS - 1e-9 {
                    run.advance().unwrap();
                    let HandleState { position, velocity, .. } = run.state(ball).unwrap();
                    let speed = (V3::from(velocity) - V3::new(0.0, UP, 0.0)).norm();
                    let energy = 0.5 * speed * speed + G * (position[1] - UP * run.time());
                    assert!(energy < 0.5 * UP * UP + G * 0.04, "{case}: {energy} J/kg at {} s", run.time());
                }
                let state = run.state(ball).unwrap();
                let half = 0.5 * WIDTH - INWARDS * SECONDS;
                let sag = ((0.5 * WIDTH).powi(2) - half * half).sqrt();
                let depth = UP * SECONDS - state.position[1];
                assert!(depth < sag, "{case}: {depth} m under the edges, where the sag is {sag} m");
            }
        }
    }
}
