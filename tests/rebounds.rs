//! Bodies that hit kinematic cloth leave with their restitution, whatever supports it.

#![cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]

use std::f64::consts::FRAC_PI_2;

use partita::{prelude::*, simulator::Simulator};
use partita_mesh::Mesh;

/// Cells of a level sheet of 0.4 m across.
const CELLS: u32 = 8;

/// Supports of vertices of the sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hold {
    Pins,
    Hand,
    FixedBody,
}

/// A sheet, and handles of the vertices that a body is to hold.
fn sheet(method: &str, hold: Hold, held: &[u32]) -> (Box<dyn Simulator>, Vec<HandleId>) {
    let mesh = Mesh::grid([CELLS; 2], [0.4; 2]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    let mesh = mesh.at([-0.2, 0.0, -0.2]).unwrap();
    let pinned = if hold == Hold::Pins { held } else { &[] };
    let gripped = if hold == Hold::Hand { held } else { &[] };
    let still = |_: f64| HandleState::default();
    macro_rules! with {
        ($cloth:expr, $handle:ident) => {{
            let mut cloth = $cloth.gravity([0.0; 3]);
            cloth.pin(pinned).unwrap();
            cloth.pin_along("hand", gripped, still).unwrap();
            let handles = held.iter().map(|&k| cloth.$handle(k)).collect();
            (Box::new(cloth) as Box<dyn Simulator>, handles)
        }};
    }
    match method {
        "implicit" => with!(ImplicitCloth::new("cloth", mesh, Fabric::cotton()).unwrap(), vertex),
        "ibds" => with!(IbdsCloth::new("cloth", Net::sheet(&mesh, 0.15).unwrap()).unwrap().thickness(0.001), particle),
        _ => with!(AviCloth::new("cloth", mesh, Fabric::jersey().undamped()).unwrap(), vertex),
    }
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
    let (cloth, handles) = sheet(method, hold, held);
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
/// those in the middle are, under it or at its rim, whatever supports them, at any mass and rate. Half a percent is for
/// what free cloth beside the middle takes up; the rest is exact.
#[test]
fn bodies_leave_held_cloth_with_their_restitution() {
    let all: Vec<u32> = (0..(CELLS + 1).pow(2)).collect();
    let middle = |k: &u32| (k % (CELLS + 1)).abs_diff(CELLS / 2) <= 1 && (k / (CELLS + 1)).abs_diff(CELLS / 2) <= 1;
    let patch: Vec<u32> = all.iter().copied().filter(middle).collect();
    for method in ["implicit", "ibds", "avi"] {
        for scheme in [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()] {
            for hold in [Hold::Pins, Hold::Hand, Hold::FixedBody] {
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
