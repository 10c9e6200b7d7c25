//! Bodies that hit kinematic cloth leave with their restitution, whatever supports it.

#![cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]

#[path = "common/sheets.rs"]
mod sheets;

use partita::prelude::*;
use sheets::{CELLS, METHODS, level_sheet, vertices};

/// Supports of vertices of the sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hold {
    Pins,
    Grip,
    FixedBody,
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
    let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
    let at = [0.007 + aside, 0.05 + 0.004 + 0.04 * speed, 0.003];
    let ball = Body::dynamic(Shape::ball(0.05)).mass(mass).at(at).velocity([0.0, -speed, 0.0]);
    let ball = rigid.add("ball", ball).unwrap();
    let held_by = |by: Hold| if hold == by { held } else { &[] };
    let grip = (held_by(Hold::Grip), |_| HandleState::default());
    let (cloth, handles) = level_sheet(method, 0.0, held_by(Hold::Pins), grip, held);
    let mut scene = Scene::new(Rate::hz(rate));
    scene.scheme(scheme).contact("cloth", "rigid").restitution(e);
    if hold == Hold::FixedBody {
        let frame = rigid.add("frame", Body::fixed(Shape::ball(0.01)).at([0.0, -3.0, 0.0])).unwrap();
        scene.attach(handles, frame);
    }
    scene.add(rigid).add_boxed(cloth);
    let mut run = scene.build().unwrap();
    run.for_seconds(0.25).unwrap();
    run.state(ball).unwrap().velocity[1] / speed
}

/// A ball that comes down on a sheet leaves it with e times its velocity: where all vertices are kinematic, and where only
/// those in the middle are, under it or at its rim, whatever supports them, at any mass and rate. Free cloth beside
/// the middle takes up half a percent; the rest is exact.
#[test]
fn bodies_leave_held_cloth_with_their_restitution() {
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
