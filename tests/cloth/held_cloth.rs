//! Bodies that come to where cloth is held: the impulse on them is that of two bodies, whatever
//! holds the cloth.

use std::f64::consts::FRAC_PI_2;

use crate::common::sample::Sample;
use nalgebra::{Quaternion, UnitQuaternion, Vector3, Vector4};
use partita::{
    prelude::*,
    simulator::{Ledger, Simulator},
};
use partita_mesh::Mesh;

type V3 = Vector3<f64>;

const G: f64 = 9.81;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    Implicit,
    Ibds,
    Avi,
}
use Method::*;

const METHODS: [Method; 3] = [Implicit, Ibds, Avi];

/// A level square of 0.4 m about the y axis, of so many cells along each side.
fn sheet(cells: u32) -> Mesh {
    let mesh = Mesh::grid([cells; 2], [0.4; 2]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    mesh.at([-0.2, 0.0, -0.2]).unwrap()
}

/// The vertex of a sheet nearest to a place.
fn nearest(mesh: &Mesh, x: f64, z: f64) -> u32 {
    let far = |k: &u32| (mesh.positions()[*k as usize][0] - x).hypot(mesh.positions()[*k as usize][2] - z);
    (0..mesh.vertices().len() as u32).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap()
}

/// Cloth of a method under gravity `[m/s²]`, by itself, after a change.
macro_rules! cloth_with {
    ($method:expr, $mesh:expr, $gravity:expr, |$cloth:ident| $change:expr) => {
        match $method {
            Implicit => {
                let mut $cloth = ImplicitCloth::new("cloth", $mesh, Fabric::cotton()).unwrap().gravity($gravity);
                $change;
                Box::new($cloth) as Box<dyn Simulator>
            }
            Avi => {
                let fabric = Fabric::jersey().undamped();
                let mut $cloth = AviCloth::new("cloth", $mesh, fabric).unwrap().gravity($gravity);
                $change;
                Box::new($cloth)
            }
            Ibds => {
                let net = Net::sheet(&$mesh, 0.15).unwrap();
                let mut $cloth = IbdsCloth::new("cloth", net).unwrap().gravity($gravity);
                $change;
                Box::new($cloth)
            }
        }
    };
}

/// Cloth with pins, by itself.
fn cloth(method: Method, mesh: Mesh, gravity: bool, pins: &[u32]) -> Box<dyn Simulator> {
    let g = [0.0, if gravity { -G } else { 0.0 }, 0.0];
    cloth_with!(method, mesh, g, |cloth| cloth.pin(pins).unwrap())
}

fn scene(rate: f64, scheme: &Scheme, gravity: bool, body: Body, cloth: Box<dyn Simulator>) -> (Run, HandleId) {
    let mut rigid = RigidBodies::new("rigid").gravity([0.0, if gravity { -G } else { 0.0 }, 0.0]);
    let handle = rigid.add("body", body).unwrap();
    let mut scene = Scene::new(Rate::hz(rate));
    scene.scheme(scheme.clone());
    scene.contact("cloth", "rigid");
    scene.add(rigid).add_boxed(cloth);
    (scene.build().unwrap(), handle)
}

fn schemes() -> [Scheme; 2] {
    [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()]
}

/// A ball that falls on or beside a pin of a sheet without gravity never gets faster than it came,
/// 2 % for what the cloth gives back: the impulse on it goes continuously from free to held cloth,
/// 1e-9 m beside the pin and a cell away from it.
#[test]
fn nothing_is_thrown_by_a_pin() {
    for method in METHODS {
        for scheme in schemes() {
            for (rate, beside) in
                [(60.0, 1e-9), (120.0, 1e-3), (240.0, 1e-2), (60.0, 0.0), (120.0, 1e-5), (240.0, 3e-2)]
            {
                let mesh = sheet(10);
                let pin = nearest(&mesh, 0.0, 0.0);
                let cloth = cloth(method, mesh, false, &[pin]);
                let ball = Body::dynamic(Shape::ball(0.05)).mass(0.1);
                let ball = ball.at([beside, 0.0875, 0.3 * beside]).velocity([0.0, -2.0, 0.0]);
                let (mut run, ball) = scene(rate, &scheme, false, ball, cloth);
                let mut fastest = 0.0_f64;
                run.each_window(0.3, |run| -> partita::Result<()> {
                    fastest = fastest.max(V3::from(run.state(ball)?.velocity).norm());
                    Ok(())
                })
                .unwrap();
                assert!(fastest <= 2.0 * 1.02, "{method:?}, {scheme:?}, {rate} Hz, {beside} m: {fastest} m/s");
            }
        }
    }
}

/// A fast body whose path is over a pinned corner is stopped there, also where it has come to be
/// around the pin: the cloth beside the pin makes way for a part of its first window. A few windows
/// later its velocity at the pin is less than a fifth of what it was: how fast it slides on it.
#[test]
fn a_fast_body_does_not_pass_a_pin() {
    for method in METHODS {
        for scheme in schemes() {
            for (rate, speed, mass, beside) in [
                (240.0, 14.2, 15.0, 0.014),
                (240.0, 30.0, 50.0, 0.007),
                (120.0, 9.0, 1.0, 0.01),
                (60.0, 5.0, 6.0, 0.012),
            ] {
                for shape in [Shape::ball(0.05), Shape::cuboid([0.1; 3])] {
                    let mesh = sheet(8);
                    let corner = V3::from(mesh.positions()[0]);
                    let cloth = cloth(method, mesh, false, &[0]);
                    let about = format!("{method:?}, {scheme:?}, {rate} Hz, {speed} m/s, {shape:?}");
                    let way = V3::new(0.6, 0.0, 0.8);
                    let at = corner + beside * way + 0.12 * V3::y();
                    let body = Body::dynamic(shape).mass(mass).at(at.into()).velocity([0.0, -speed, 0.0]);
                    let (mut run, body) = scene(rate, &scheme, false, body, cloth);
                    let windows = (0.07 / speed * rate).ceil() as u32 + 4;
                    run.for_seconds(f64::from(windows) / rate).unwrap();
                    let state = run.state(body).unwrap();
                    let arm = corner - V3::from(state.position);
                    let left = (V3::from(state.velocity) + V3::from(state.spin).cross(&arm)).norm();
                    assert!(left < 0.2 * speed, "{about}: {left} m/s are left");
                    assert!(state.position[1] > 0.0, "{about}: it is at {:?}", state.position);
                }
            }
        }
    }
}

/// A level cylinder that spins on a wall of cloth is slowed by Coulomb's torque: about that of an even pressure,
/// 4/3 μ g/R, or more, up to that of a load on its rim, 2 μ g/R. More contacts than three have no one solution, and those
/// near the axis may bear more than their share: four fifths of the former are asked for.
#[test]
fn a_spinning_cylinder_is_slowed_on_its_cap() {
    for method in METHODS {
        for scheme in schemes() {
            for rate in [60.0, 240.0] {
                let mesh = sheet(8);
                let all: Vec<u32> = (0..mesh.vertices().len() as u32).collect();
                let (radius, friction) = (0.05, 0.3);
                let body =
                    Body::dynamic(Shape::cylinder_y(0.03, radius)).mass(0.7).friction(friction).spin([0.0, 40.0, 0.0]);
                let (mut run, body) =
                    scene(rate, &scheme, true, body.at([0.013, 0.0155, 0.007]), cloth(method, mesh, true, &all));
                run.for_seconds(0.1).unwrap();
                let from = run.state(body).unwrap().spin[1];
                run.for_seconds(0.2).unwrap();
                let slowed = (from - run.state(body).unwrap().spin[1]) / 0.2;
                let [even, rim] = [4.0 / 3.0, 2.0].map(|part| part * friction * G / radius);
                let about = format!("{method:?}, {scheme:?}, {rate} Hz");
                assert!(slowed > 0.8 * even && slowed < rim, "{about}: {slowed} rad/s² of {even} to {rim}");
            }
        }
    }
}

/// A sheet whose vertices are all pinned is a wall: it stops what comes, from either side and
/// however heavy, within the window in which that would touch, and gives nothing back. The impulse
/// is m v.
#[test]
fn cloth_that_is_pinned_everywhere_is_a_wall() {
    for method in METHODS {
        for scheme in schemes() {
            for (mass, rate, side) in [(0.05, 60.0, 1.0), (0.5, 120.0, -1.0), (5.0, 240.0, 1.0), (50.0, 60.0, -1.0)] {
                let mesh = sheet(8);
                let all: Vec<u32> = (0..mesh.vertices().len() as u32).collect();
                let cloth = cloth(method, mesh, false, &all);
                let ball = Body::dynamic(Shape::ball(0.05)).mass(mass);
                let ball = ball.at([0.013, 0.14 * side, 0.007]).velocity([0.0, -2.0 * side, 0.0]);
                let (mut run, ball) = scene(rate, &scheme, false, ball, cloth);
                run.for_seconds(0.4).unwrap();
                let (state, got) = (run.state(ball).unwrap(), run.ledgers()[0].got.linear[1]);
                let what = format!("{method:?}, {scheme:?}, {mass} kg, {rate} Hz: {state:?}");
                // Half the cloth's thickness of 1 mm away from it, to a tenth of that.
                assert!((state.position[1] * side - 0.0505).abs() < 1e-4, "{what}");
                assert!(V3::from(state.velocity).norm() < 1e-3, "{what}");
                assert!((got * side / (2.0 * mass) - 1.0).abs() < 1e-3, "{what}: {got} N s");
            }
        }
    }
}

/// A body that starts within a sheet that is pinned everywhere, up to 10 mm deep, goes back to the
/// side that it is on, gains no more energy than that takes, and does not fall through. A box whose
/// corner pokes through tips over until it is flat.
#[test]
fn a_body_that_starts_within_held_cloth_goes_back() {
    let mut sample = Sample::one_in(5);
    let hull = [[0.03, -0.02, 0.0], [-0.015, -0.02, 0.026], [-0.015, -0.02, -0.026], [0.0, 0.04, 0.0]];
    let cube = Mesh::cuboid([0.06; 3]).unwrap();
    let shapes = [
        ("box", Shape::cuboid([0.05; 3]), 0.025),
        ("plate", Shape::cuboid([0.15, 0.04, 0.13]), 0.02),
        ("mesh", Shape::mesh(cube.positions(), cube.triangles()), 0.03),
        ("hull", Shape::hull(hull), 0.02),
        ("ball", Shape::ball(0.03), 0.03),
        ("capsule", Shape::capsule_x(0.08, 0.02), 0.02),
        ("standing cylinder", Shape::cylinder_y(0.06, 0.03), 0.03),
        ("lying cylinder", Shape::cylinder_x(0.1, 0.03), 0.03),
    ];
    let mut case = 0_u32;
    for (what, shape, half) in shapes {
        for deep in [0.0, 1e-10, 1e-7, 1e-4, 1e-3, 1e-2] {
            for method in METHODS {
                case += 1;
                if sample.leaves_out() {
                    continue;
                }
                // Multiples of irrational parts of a turn spread evenly.
                let part = |step: f64| (f64::from(case) * step).fract();
                let rate = [60.0, 120.0, 240.0][(3.0 * part(0.618)) as usize];
                let scheme = &schemes()[usize::from(part(0.414) < 0.3)];
                let mass = 0.05 * 1000_f64.powf(part(0.732));
                let mesh = sheet(4 + (9.0 * part(0.236)) as u32);
                let all: Vec<u32> = (0..mesh.vertices().len() as u32).collect();
                let cloth = cloth(method, mesh, true, &all);
                let at = [0.1 * part(0.302) - 0.05, half - deep, 0.1 * part(0.873) - 0.05];
                let body = Body::dynamic(shape.clone()).mass(mass).at(at).turned([0.0, 1.0, 0.0], 6.0 * part(0.557));
                let (mut run, body) = scene(rate, scheme, true, body, cloth);
                let tag = format!("{what}, {deep} m, {method:?}, {scheme:?}, {mass} kg, {rate} Hz");
                let start = (rigid_energy(&mut run), run.state(body).unwrap().position[1]);
                run.each_window(1.0, |run| -> partita::Result<()> {
                    let gained = (rigid_energy(run) - start.0) / mass;
                    // Half the thickness of 1 mm on top of the depth, and as much for the motion.
                    assert!(gained < G * (deep + 1e-3), "{tag}: {gained} J/kg at {} s", run.time());
                    Ok(())
                })
                .unwrap();
                // At most at 6 / s of half the thickness. Cylinders may tip a little first.
                let risen = run.state(body).unwrap().position[1] - start.1;
                let left = if what.ends_with("cylinder") { 1.5e-3 } else { 0.2e-3 };
                assert!(risen > (deep + 0.5e-3).min(3e-3) - left, "{tag}: {risen} m");
            }
        }
    }
    for tilt in [0.02, 0.05, 0.2] {
        for rate in [30.0, 60.0, 240.0] {
            let mesh = sheet(8);
            let all: Vec<u32> = (0..mesh.vertices().len() as u32).collect();
            let turn = UnitQuaternion::from_scaled_axis(tilt * V3::new(0.7, 0.0, 0.4));
            let lowest = (turn.inverse() * V3::y()).abs().sum() * 0.025;
            let (axis, angle) = turn.axis_angle().unwrap();
            let body = Body::dynamic(Shape::cuboid([0.05; 3])).turned(axis.into_inner().into(), angle);
            let body = body.mass(0.3).at([0.01, lowest - 1e-4, 0.013]);
            let (mut run, body) = scene(rate, &Scheme::Interleaved, true, body, cloth(Implicit, mesh, true, &all));
            let start = rigid_energy(&mut run);
            run.each_window(1.0, |run| -> partita::Result<()> {
                let gained = (rigid_energy(run) - start) / 0.3;
                assert!(gained < G * 1.1e-3, "tilted by {tilt}, {rate} Hz: {gained} J/kg at {} s", run.time());
                Ok(())
            })
            .unwrap();
            let height = run.state(body).unwrap().position[1];
            assert!((height - 0.0255).abs() < 1e-3, "tilted by {tilt}, {rate} Hz: {height} m");
        }
    }
}

/// Energy of the rigid bodies of a run, with what their coupling owes them `[J]`.
fn rigid_energy(run: &mut Run) -> f64 {
    let ledger = run.simulator_ledger("rigid").unwrap().unwrap();
    let owed: f64 = run.ledgers().iter().map(|ledger| ledger.in_transit).sum();
    ledger.kinetic + ledger.potential - owed
}

/// The first window, which is taken in two pieces where something is to be stopped within it, is as
/// any other: under gravity, and with a longer window after a short one, speeds only grow by what
/// gravity gives, and the wall stands.
#[test]
fn the_first_and_a_longer_window_are_no_exception() {
    for method in METHODS {
        for scheme in schemes() {
            for gap in [0.0, 1e-3, 1e-2] {
                let mesh = sheet(8);
                let all: Vec<u32> = (0..mesh.vertices().len() as u32).collect();
                let cloth = cloth(method, mesh, true, &all);
                let ball = Body::dynamic(Shape::ball(0.05)).mass(0.2);
                let ball = ball.at([0.013, 0.0505 + gap, 0.007]).velocity([0.0, -1.0, 0.0]);
                let (mut run, ball) = scene(60.0, &scheme, true, ball, cloth);
                for (hz, windows) in [(60.0, 10), (600.0, 5), (60.0, 10)] {
                    run.set_rate(Rate::hz(hz)).unwrap();
                    for _ in 0..windows {
                        run.advance().unwrap();
                        let state = run.state(ball).unwrap();
                        let speed = V3::from(state.velocity).norm();
                        assert!(speed < 1.0 + 1.1 * G / 60.0, "{method:?}, {scheme:?}, {gap} m, {hz} Hz: {speed} m/s");
                        // Gravity is not known before a first window, in which it takes the ball
                        // down by g h²/2.
                        assert!(
                            state.position[1] > 0.0505 - 0.7 * G / 3600.0,
                            "{method:?}, {scheme:?}, {gap} m: {state:?}"
                        );
                    }
                }
                assert!(run.ledgers()[0].closure() < 1e-9);
            }
        }
    }
}

/// A cylinder or box that comes spinning at a sheet pinned everywhere tips and tumbles on it, so that it touches the sheet elsewhere
/// on its rim or with another corner at the end of a window. No point of it passes the sheet's middle. The spin is that of up to
/// 0.3 rad a window about each axis.
#[test]
fn nothing_tumbles_through_cloth_that_is_pinned_everywhere() {
    const HALF: [f64; 3] = [0.05, 0.03, 0.04];
    for seed in 0..24_u32 {
        for method in METHODS {
            for scheme in schemes() {
                // Multiples of irrational parts of a turn spread evenly.
                let part = |step: f64| (f64::from(seed + 1) * step).fract();
                let [axis, spin] = [[0.618, 0.414, 0.732], [0.236, 0.302, 0.873]]
                    .map(|steps| V3::from(steps.map(|step| 2.0 * part(step) - 1.0)));
                let rate = [60.0, 120.0, 240.0][seed as usize % 3];
                let is_round = seed % 2 == 0;
                let shape = match is_round {
                    true => Shape::cylinder_y(2.0 * HALF[1], HALF[0]),
                    false => Shape::cuboid(HALF.map(|half| 2.0 * half)),
                };
                let mesh = sheet(8);
                let all: Vec<u32> = (0..mesh.vertices().len() as u32).collect();
                let cloth = cloth(method, mesh, false, &all);
                let body = Body::dynamic(shape).mass(0.3).turned(axis.into(), 3.0 * part(0.557));
                let body = body.at([0.01, 0.09, 0.0]).velocity([0.3, -3.0, 0.1]).spin((0.3 * rate * spin).into());
                let (mut run, body) = scene(rate, &scheme, false, body, cloth);
                run.each_window(0.25, |run| -> partita::Result<()> {
                    let state = run.state(body)?;
                    let turn = UnitQuaternion::new_normalize(Quaternion::from(Vector4::from(state.orientation)));
                    let up = turn.inverse() * V3::y();
                    let deep = match is_round {
                        true => HALF[1] * up.y.abs() + HALF[0] * up.x.hypot(up.z),
                        false => V3::from(HALF).dot(&up.abs()),
                    };
                    let lowest = state.position[1] - deep;
                    assert!(lowest > 0.0, "seed {seed}, {method:?}, {scheme:?}: {lowest} m at {} s", run.time());
                    Ok(())
                })
                .unwrap();
            }
        }
    }
}

/// Cloth without gravity whose vertices are all in one grip, which moves up at a speed `[m/s]`.
fn gripped(method: Method, mesh: Mesh, speed: f64) -> Box<dyn Simulator> {
    let all: Vec<u32> = (0..mesh.vertices().len() as u32).collect();
    let grip = move |t: f64| HandleState {
        velocity: [0.0, speed, 0.0],
        ..HandleState::point([0.0, speed * t, 0.0], [0.0; 3])
    };
    cloth_with!(method, mesh, [0.0; 3], |cloth| cloth.pin_along("grip", &all, grip).unwrap())
}

/// Cloth in a grip that moves is a wall that moves: a ball that it hits, or that catches up with
/// it, goes on with the velocity u of the grip, by the impulse m (u - v).
#[test]
fn cloth_in_a_moving_grip_takes_a_body_along() {
    for method in METHODS {
        for scheme in schemes() {
            for (mass, rate, side, speed) in
                [(0.05, 60.0, 1.0, 0.5), (0.5, 120.0, -1.0, 0.5), (5.0, 240.0, 1.0, -0.7), (50.0, 60.0, -1.0, -0.3)]
            {
                let ball = Body::dynamic(Shape::ball(0.05)).mass(mass);
                let ball = ball.at([0.013, 0.14 * side, 0.007]).velocity([0.0, -2.0 * side, 0.0]);
                let (mut run, ball) = scene(rate, &scheme, false, ball, gripped(method, sheet(8), speed));
                run.for_seconds(0.4).unwrap();
                let (state, got) = (run.state(ball).unwrap(), run.ledgers()[0].got.linear[1]);
                let what = format!("{method:?}, {scheme:?}, {mass} kg, {rate} Hz, {speed} m/s: {state:?}");
                let above = (state.position[1] - speed * run.time()) * side;
                // Half the cloth's thickness of 1 mm away from it, to a tenth of that.
                assert!((above - 0.0505).abs() < 1e-4, "{what}");
                assert!((V3::from(state.velocity) - speed * V3::y()).norm() < 1e-3, "{what}");
                assert!((got / (mass * (speed + 2.0 * side)) - 1.0).abs() < 1e-3, "{what}: {got} N s");
            }
        }
    }
}

/// Cloth that is attached to a free body everywhere makes a tray of it: a ball that comes down on
/// it and the tray keep the momentum that the ball brought, with no more energy. In the middle they
/// go on together, to 0.5 % of the approach; beside it the ball turns the tray, by nearly 1 rad.
/// Angular momentum is kept to the angle of a window, 2 rad/s over 240 Hz.
#[test]
fn cloth_that_is_attached_to_a_free_body_shares_its_momentum() {
    for method in METHODS {
        for scheme in schemes() {
            for (mass, rate, a) in [(0.05, 60.0, 0.0), (0.5, 120.0, 0.0), (5.0, 240.0, 0.0), (0.5, 240.0, 0.13)] {
                let tray = Body::dynamic(Shape::cuboid([0.4, 0.02, 0.4])).mass(2.0).at([0.0, -0.3, 0.0]);
                let ball = Body::dynamic(Shape::ball(0.05)).mass(mass).at([a, 0.14, 0.0]).velocity([0.0, -2.0, 0.0]);
                let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
                let [tray, ball] = [("tray", tray), ("ball", ball)].map(|(name, body)| rigid.add(name, body).unwrap());
                let cloth = cloth(method, sheet(8), false, &[]);
                let points: Vec<HandleId> = cloth.handles().iter().collect();
                let mut scene = Scene::new(Rate::hz(rate));
                scene.scheme(scheme.clone());
                scene.attach(points, tray);
                scene.contact("cloth", "rigid");
                scene.add(rigid).add_boxed(cloth);
                let mut run = scene.build().unwrap();
                let what = format!("{method:?}, {scheme:?}, {mass} kg at {a} m, {rate} Hz");
                let start = 0.5 * mass * 4.0;
                run.each_window(0.4, |run| -> partita::Result<()> {
                    let mut of = |name: &str| run.simulator_ledger(name).map(|ledger| ledger.unwrap());
                    let energy = of("rigid")?.kinetic + of("cloth")?.kinetic + of("cloth")?.potential;
                    assert!(energy < 1.01 * start, "{what}: {energy} J of {start} at {} s", run.time());
                    Ok(())
                })
                .unwrap();
                let [rigid, sheet] = ["rigid", "cloth"].map(|name| run.simulator_ledger(name).unwrap().unwrap());
                let sum = |of: fn(&Ledger) -> [f64; 3]| V3::from(of(&rigid)) + V3::from(of(&sheet));
                let closure = sum(|of| of.momentum) + 2.0 * mass * V3::y();
                assert!(closure.norm() < 1e-3 * 2.0 * mass, "{what}: {closure:?} N s");
                let closure = sum(|of| of.angular_momentum) + 2.0 * mass * a * V3::z();
                assert!(closure.norm() < 0.01 * 2.0 * mass * 0.13, "{what}: {closure:?} N m s");
                let spin = run.state(tray).unwrap().spin[2];
                assert!(if a > 0.0 { spin < -1.0 } else { spin.abs() < 1e-6 }, "{what}: {spin} rad/s");
                let [tray, ball] = [tray, ball].map(|body| V3::from(run.state(body).unwrap().velocity));
                if a == 0.0 {
                    assert!((ball - tray).norm() < 5e-3 * 2.0, "{what}: {ball:?} and {tray:?}");
                }
            }
        }
    }
}

/// A ball that has left a sheet falls freely: what the coupling still owes it waits for the next contact. By interleaving the
/// last reaction acts up to two windows later.
#[test]
fn what_is_owed_does_not_hold_a_body_in_the_air() {
    let schemes = schemes();
    let all = METHODS.iter().flat_map(|&method| [0.005, 0.02, 0.1].map(|mass| (method, mass)));
    for ((method, mass), scheme) in all.flat_map(|one| schemes.iter().map(move |scheme| (one, scheme))) {
        let mesh = sheet(8);
        let border: Vec<u32> = (0..81).filter(|k| k % 9 % 8 == 0 || k / 9 % 8 == 0).collect();
        let ball = Body::dynamic(Shape::ball(0.03)).mass(mass).at([0.05, 0.08, 0.03]).velocity([2.0, -2.0, 1.0]);
        let mut rigid = RigidBodies::new("rigid");
        let handle = rigid.add("ball", ball).unwrap();
        let mut scene = Scene::new(Rate::hz(60.0));
        scene.scheme(scheme.clone());
        scene.contact("cloth", "rigid").restitution(0.5).friction(0.3);
        scene.add(rigid).add_boxed(cloth(method, mesh, true, &border));
        let mut run = scene.build().unwrap();
        let (mut last, mut free) = (-2.0, 0);
        while run.time() < 0.6 {
            run.advance().unwrap();
            let state = run.state(handle).unwrap();
            let gained = state.velocity[1] - last + G / 60.0;
            (last, free) = (state.velocity[1], if state.position[1] > 0.09 { free + 1 } else { 0 });
            assert!(
                free < 4 || gained.abs() < 1e-9,
                "{method:?}, {mass} kg, {scheme:?}, {} s: {gained} m/s",
                run.time()
            );
        }
    }
}
