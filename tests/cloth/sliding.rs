//! Bodies slide and roll on held cloth as on the plane that it is, whatever edges its triangles have.

use std::f64::consts::FRAC_PI_2;

use crate::common::sample::Sample;
use partita::{prelude::*, simulator::Simulator};
use partita_mesh::Mesh;

const G: f64 = 9.81;

/// Distance that cloth keeps from a body's surface `[m]`: half of its thickness of 1 mm.
const ROOM: f64 = 0.5e-3;

/// A level sheet of 1.2 x 0.4 m, pinned everywhere, turned about the vertical so that bodies cross its edges askew.
fn wall(method: &str) -> Box<dyn Simulator> {
    let mesh = Mesh::grid([24, 8], [1.2, 0.4]).unwrap().at([-0.6, 0.2, 0.0]).unwrap();
    let mesh = mesh.turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap().turned([0.0, 1.0, 0.0], 0.1).unwrap();
    let all: Vec<u32> = (0..mesh.vertices().len() as u32).collect();
    match method {
        "implicit" => {
            let mut cloth = ImplicitCloth::new("cloth", mesh, Fabric::cotton()).unwrap();
            cloth.pin(&all).unwrap();
            Box::new(cloth)
        }
        "ibds" => {
            let mut cloth = IbdsCloth::new("cloth", Net::sheet(&mesh, 0.15).unwrap()).unwrap();
            cloth.pin(&all).unwrap();
            Box::new(cloth)
        }
        _ => {
            let mut cloth = AviCloth::new("cloth", mesh, Fabric::jersey()).unwrap();
            cloth.pin(&all).unwrap();
            Box::new(cloth)
        }
    }
}

/// A run with a body on the wall, under gravity that leans by an angle along x, and the body.
fn on_wall(method: &str, scheme: &Scheme, body: Body, lean: f64, friction: f64, hz: f64) -> (Run, HandleId) {
    let mut rigid = RigidBodies::new("rigid").gravity([G * lean.sin(), -G * lean.cos(), 0.0]);
    let body = rigid.add("body", body).unwrap();
    let mut scene = Scene::new(Rate::hz(hz));
    scene.scheme(scheme.clone()).contact("cloth", "rigid").friction(friction);
    scene.add(rigid).add_boxed(wall(method));
    (scene.build().unwrap(), body)
}

const METHODS: [&str; 3] = ["implicit", "ibds", "avi"];

fn schemes() -> [Scheme; 2] {
    [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()]
}

/// Without friction bodies keep their velocity, 1 m/s, within 1e-3. They came to rest, or turned
/// round, at edges of the cloth's own triangles ahead of them.
#[test]
fn bodies_keep_their_velocity_without_friction() {
    let mut sample = Sample::one_in(4);
    let shapes = [
        ("box", Shape::cuboid([0.1, 0.06, 0.08]), 0.03),
        ("ball", Shape::ball(0.05), 0.05),
        ("puck", Shape::cylinder_y(0.04, 0.05), 0.02),
        ("bar along", Shape::capsule_x(0.1, 0.03), 0.03),
        ("bar across", Shape::capsule_z(0.1, 0.03), 0.03),
    ];
    for method in METHODS {
        for (name, shape, high) in &shapes {
            for hz in [24.0, 100.0, 1000.0] {
                if sample.leaves_out() {
                    continue;
                }
                let body =
                    Body::dynamic(shape.clone()).mass(2.0).at([-0.3, ROOM + high, 0.01]).velocity([1.0, 0.0, 0.0]);
                let (mut run, body) = on_wall(method, &Scheme::Interleaved, body, 0.0, 0.0, hz);
                run.for_seconds(0.5).unwrap();
                let state = run.state(body).unwrap();
                let [vx, _, vz] = state.velocity;
                assert!(
                    (vx - 1.0).abs() < 1e-3 && vz.abs() < 1e-3 && (state.position[1] - ROOM - high).abs() < 1e-5,
                    "{method}, {name}, {hz} Hz: {state:?}"
                );
            }
        }
    }
}

/// A box that slides at v comes to rest after v²/2μg, but for v dt/2 of steps that are not short,
/// and stays. On a slope it goes with g (sin α - μ cos α), and stays where that is negative.
#[test]
fn friction_is_coulombs() {
    let mut sample = Sample::one_in(4);
    for method in METHODS {
        for scheme in schemes() {
            for hz in [24.0, 100.0, 240.0, 1000.0] {
                if sample.leaves_out() {
                    continue;
                }
                let (v, friction) = (1.0, 0.4);
                let body = || Body::dynamic(Shape::cuboid([0.1, 0.06, 0.08])).mass(2.0).at([-0.3, ROOM + 0.03, 0.01]);
                let (mut run, moving) = on_wall(method, &scheme, body().velocity([v, 0.0, 0.0]), 0.0, friction, hz);
                run.for_seconds(0.5).unwrap();
                let state = run.state(moving).unwrap();
                let (way, expected) = (state.position[0] + 0.3, v * v / (2.0 * friction * G));
                assert!(
                    (way - expected).abs() < 0.5 * v / hz && state.velocity[0].abs() < 1e-6,
                    "{method}, {scheme:?}, {hz} Hz: {way} m, expected {expected}, {state:?}"
                );

                for (lean, friction) in [(20.0_f64, 0.2), (20.0, 0.5)] {
                    let lean = lean.to_radians();
                    let (mut run, sliding) = on_wall(method, &scheme, body(), lean, friction, hz);
                    run.for_seconds(0.4).unwrap();
                    let velocity = run.state(sliding).unwrap().velocity[0];
                    let (expected, t) = (G * (lean.sin() - friction * lean.cos()).max(0.0), run.time());
                    // The first window has no friction, which is found in it.
                    let first = if expected > 0.0 { friction * G / hz } else { 1e-6 };
                    assert!(
                        (velocity - expected * t).abs() < 1e-3 * expected * t + first,
                        "{method}, {scheme:?}, {hz} Hz, {friction}: {velocity} m/s, expected {}",
                        expected * t
                    );
                }
            }
        }
    }
}

/// A ball that spins at ω about a level axis is driven by friction until it rolls, at v = 2/7 ω R.
#[test]
fn a_spinning_ball_ends_rolling() {
    let mut sample = Sample::one_in(3);
    let (radius, spin) = (0.05, 60.0);
    for method in METHODS {
        for scheme in schemes() {
            for hz in [100.0, 240.0, 1000.0] {
                if sample.leaves_out() {
                    continue;
                }
                let ball = Body::dynamic(Shape::ball(radius)).mass(1.0).at([-0.4, ROOM + radius, 0.01]);
                let (mut run, ball) = on_wall(method, &scheme, ball.spin([0.0, 0.0, -spin]), 0.0, 0.5, hz);
                run.for_seconds(0.4).unwrap();
                let state = run.state(ball).unwrap();
                let expected = 2.0 / 7.0 * spin * radius;
                assert!(
                    (state.velocity[0] / expected - 1.0).abs() < 1e-3
                        && (state.velocity[0] + radius * state.spin[2]).abs() < 1e-3,
                    "{method}, {scheme:?}, {hz} Hz: {state:?}, expected {expected} m/s"
                );
            }
        }
    }
}
