//! Bodies that hit kinematic cloth leave with their restitution, and rest on it, whatever supports it.

use crate::common::sample::Sample;
use crate::common::sheets::{CELLS, METHODS, level_sheet, vertices};
use partita::prelude::*;

/// Supports of vertices of the sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hold {
    Pins,
    Grip,
    FixedBody,
}

/// A sheet under gravity `[m/s²]` that supports hold at vertices, with contact as `change` asks, and a body.
fn scene(
    method: &str,
    gravity: f64,
    rate: f64,
    hold: Hold,
    held: &[u32],
    body: Body,
    change: impl FnOnce(&mut Scene),
) -> (Run, HandleId) {
    let mut rigid = RigidBodies::new("rigid").gravity([0.0, -gravity, 0.0]);
    let body = rigid.add("body", body).unwrap();
    let held_by = |by: Hold| if hold == by { held } else { &[] };
    let grip = (held_by(Hold::Grip), |_| HandleState::default());
    let (cloth, handles) = level_sheet(method, gravity, held_by(Hold::Pins), grip, held);
    let mut scene = Scene::new(Rate::hz(rate));
    change(&mut scene);
    if hold == Hold::FixedBody {
        let frame = rigid.add("frame", Body::fixed(Shape::ball(0.01)).at([0.0, -3.0, 0.0])).unwrap();
        scene.attach(handles, frame);
    }
    scene.add(rigid).add_boxed(cloth);
    (scene.build().unwrap(), body)
}

/// Velocity upwards of a ball `[kg]` after it came down on a sheet, aside of its middle `[m]`, relative to that before `[-]`.
fn rebound(
    method: &str,
    scheme: Scheme,
    hold: Hold,
    held: &[u32],
    e: f64,
    [mass, rate, speed, aside]: [f64; 4],
) -> f64 {
    let at = [0.007 + aside, 0.05 + 0.004 + 0.04 * speed, 0.003];
    let ball = Body::dynamic(Shape::ball(0.05)).mass(mass).at(at).velocity([0.0, -speed, 0.0]);
    let change = |scene: &mut Scene| {
        scene.scheme(scheme).contact("cloth", "rigid").restitution(e);
    };
    let (mut run, ball) = scene(method, 0.0, rate, hold, held, ball, change);
    run.for_seconds(0.25).unwrap();
    run.state(ball).unwrap().velocity[1] / speed
}

/// A ball that comes down on a sheet leaves it with e times its velocity: where all vertices are kinematic, and where only
/// those in the middle are, under it or at its rim, whatever supports them, at any mass and rate. Free cloth beside
/// the middle takes up half a percent; the rest is exact.
#[test]
fn bodies_leave_held_cloth_with_their_restitution() {
    let mut sample = Sample::one_in(5);
    let all = vertices(|_, _| true);
    let is_middle = |k: u32| k.abs_diff(CELLS / 2) <= 1;
    let patch = vertices(|column, row| is_middle(column) && is_middle(row));
    for method in METHODS {
        for scheme in [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()] {
            for hold in [Hold::Pins, Hold::Grip, Hold::FixedBody] {
                for (mass, rate, speed) in [(0.05, 60.0, 2.0), (0.5, 240.0, 1.0), (5.0, 120.0, 2.0), (50.0, 120.0, 0.5)]
                {
                    for e in [0.0, 0.5, 1.0] {
                        for (held, aside) in [(&all, 0.0), (&patch, 0.0), (&patch, 0.045)] {
                            if sample.leaves_out() {
                                continue;
                            }
                            let back = rebound(method, scheme.clone(), hold, held, e, [mass, rate, speed, aside]);
                            let case = format!(
                                "{method}, {scheme:?}, {hold:?} {} at {aside}, e = {e}, {mass} kg, {rate} Hz, {speed} m/s",
                                held.len()
                            );
                            assert!((back - e).abs() < 0.005, "{case}: {back}");
                        }
                    }
                }
            }
        }
    }
}

/// A body on a sheet that supports hold everywhere rests where it belongs, to a fifth of the thickness of 1 mm, stays within 2 mm of
/// where it came down, and is carried with m g on the mean of 0.8 s, to 1 %.
#[test]
fn bodies_rest_on_held_cloth() {
    let mut sample = Sample::one_in(5);
    const G: f64 = 9.81;
    let all = vertices(|_, _| true);
    let shapes = [
        (Shape::ball(0.05), 0.05),
        (Shape::cuboid([0.1, 0.06, 0.1]), 0.03),
        (Shape::capsule_x(0.05, 0.02), 0.02),
        (Shape::cylinder_y(0.04, 0.05), 0.02),
    ];
    let mut number = 0;
    for method in METHODS {
        for scheme in [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()] {
            for hold in [Hold::Pins, Hold::Grip, Hold::FixedBody] {
                for rate in [60.0, 120.0, 240.0] {
                    for mass in [0.05, 0.5, 5.0, 50.0] {
                        // Each mass and rate comes with each shape.
                        number += 1;
                        if sample.leaves_out() {
                            continue;
                        }
                        let (shape, half) = &shapes[(number + number / 4) % 4];
                        let body = Body::dynamic(shape.clone()).mass(mass).at([0.01, half + 0.01, 0.005]);
                        let contact = |scene: &mut Scene| {
                            scene.scheme(scheme.clone()).contact("cloth", "rigid");
                        };
                        let (mut run, body) = scene(method, G, rate, hold, &all, body, contact);
                        let case = format!("{method}, {scheme:?}, {hold:?}, {shape:?}, {mass} kg, {rate} Hz");
                        run.for_seconds(0.6).unwrap();
                        let (mut carried, windows) = (0.0, (0.8 * rate) as u32);
                        for _ in 0..windows {
                            run.advance().unwrap();
                            let loads = run.loads().filter(|load| load.handle == body);
                            carried += loads.map(|load| load.load.linear[1]).sum::<f64>() / (mass * G);
                            let [x, y, z] = run.state(body).unwrap().position;
                            let (aside, above) = ((x - 0.01).hypot(z - 0.005), y - half - 0.5e-3);
                            assert!(aside < 2e-3 && above.abs() < 2e-4, "{case}: {aside} m aside, {above} m above");
                        }
                        let carried = carried / f64::from(windows);
                        assert!((carried - 1.0).abs() < 0.01, "{case}: carried with {carried} of its weight");
                    }
                }
            }
        }
    }
}
