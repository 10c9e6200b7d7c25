//! Fast bodies and thin ones: a ball of 1 cm at a plate of 2 mm, at up to 1,000 m/s.

use std::sync::Arc;

use nalgebra::{UnitQuaternion, Vector3};
use partita_rigid::{Body, Pose, RigidBodies, Shape};
use partita_simulator::{Guide, HandleState, Inputs, Motion, Simulator, Surface};

const PLATE: [f64; 3] = [0.5, 0.002, 0.5];
const RADIUS: f64 = 0.005;

/// Kind of the plate.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Plate {
    Fixed,
    Scripted,
    /// A script that moves the plate at a ball at rest.
    Swung,
    /// Free, of a mass in kg.
    Free(f64),
    /// A fixed body of another world.
    StandIn,
    /// A body of another world that moves at a ball at rest.
    SwungStandIn,
    Mesh,
}

fn plate_surface() -> Surface {
    let mut other = RigidBodies::new("other");
    other.add("plate", Body::fixed(Shape::cuboid(PLATE))).unwrap();
    (*other.surfaces()[0]).clone()
}

/// Steps the world, with its guide, if it has one, at height `height(t)`.
fn step(rigid: &mut RigidBodies, dt: f64, height: &dyn Fn(f64) -> f64, guided: bool) -> Vec<String> {
    let t = rigid.time();
    let state = |t: f64| HandleState {
        position: [0.0, height(t), 0.0],
        velocity: [0.0, (height(t + 1.0e-6) - height(t)) / 1.0e-6, 0.0],
        ..HandleState::default()
    };
    let motion = Motion { begin: [state(t)].into(), end: [state(t + dt)].into() };
    let motions = if guided { vec![Some(motion)] } else { vec![] };
    rigid.step(dt, &Inputs { motions, ..Inputs::default() }).unwrap().notes.iter().map(ToString::to_string).collect()
}

/// Whether the ball passes through the plate within 0.1 s, and the notes.
fn shoot(plate: Plate, speed: f64, dt: f64, start: f64, restitution: f64) -> (bool, Vec<String>) {
    let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]).substeps(1);
    let swung = matches!(plate, Plate::Swung | Plate::SwungStandIn);
    let height = move |t: f64| if swung { (speed * t).min(0.02 * speed) } else { 0.0 };
    let sheet = Shape::mesh(
        [[-0.25, 0.0, -0.25], [0.25, 0.0, -0.25], [0.25, 0.0, 0.25], [-0.25, 0.0, 0.25]],
        [[0, 2, 1], [0, 3, 2]],
    );
    let body = match plate {
        Plate::Fixed => Some(Body::fixed(Shape::cuboid(PLATE))),
        Plate::Mesh => Some(Body::fixed(sheet)),
        Plate::Scripted | Plate::Swung => {
            Some(Body::kinematic(Shape::cuboid(PLATE), move |t| Pose::at([0.0, height(t), 0.0])))
        }
        Plate::Free(mass) => Some(Body::dynamic(Shape::cuboid(PLATE)).mass(mass)),
        Plate::StandIn | Plate::SwungStandIn => None,
    };
    let plate_body = body.map(|body| rigid.add("plate", body.restitution(restitution)).unwrap());
    let ball = Body::dynamic(Shape::ball(RADIUS)).at([0.01, start, -0.02]).restitution(restitution);
    let ball = rigid.add("ball", if swung { ball } else { ball.velocity([0.0, -speed, 0.0]) }).unwrap();
    let guided = plate_body.is_none();
    if guided {
        let surface = Arc::new(plate_surface());
        let guide = Guide::Obstacle { surface, friction: 0.5, restitution, thickness: 0.0, except: vec![] };
        rigid.follow(vec![guide]).unwrap();
    }
    let state = |rigid: &RigidBodies| {
        let plate = plate_body.map(|plate| rigid.state_of(plate).unwrap());
        let at_height = HandleState { position: [0.0, height(rigid.time()), 0.0], ..HandleState::default() };
        (Vector3::from(rigid.state_of(ball).unwrap().position), plate.unwrap_or(at_height))
    };
    let mut notes = Vec::new();
    let mut before = state(&rigid);
    while rigid.time() < 0.1 {
        // One substep a step, so that it can be seen between substeps; the dynamics are the same.
        notes.extend(step(&mut rigid, dt / 4.0, &height, guided));
        let now = state(&rigid);
        if crosses(&before, &now, dt / 4.0) {
            return (true, notes);
        }
        before = now;
    }
    (false, notes)
}

/// Whether the ball's centre goes through the plate between two states, each with its velocities.
fn crosses(before: &(Vector3<f64>, HandleState), now: &(Vector3<f64>, HandleState), dt: f64) -> bool {
    let relative = |s: f64| {
        let lerp = |a: Vector3<f64>, b: Vector3<f64>| a + s * (b - a);
        let [x, y, z, w] = before.1.orientation;
        let start = UnitQuaternion::new_normalize(nalgebra::Quaternion::new(w, x, y, z));
        let turned = UnitQuaternion::from_scaled_axis(Vector3::from(now.1.spin) * (s * dt)) * start;
        turned.inverse() * (lerp(before.0, now.0) - lerp(before.1.position.into(), now.1.position.into()))
    };
    (0..32).any(|k| {
        let [a, b] = [k, k + 1].map(|k| relative(f64::from(k) / 32.0));
        let crossing = a + (b - a) * (a.y / (a.y - b.y));
        a.y * b.y <= 0.0 && crossing.x.abs().max(crossing.z.abs()) < 0.5 * PLATE[0]
    })
}

/// The ball stays on its side of the plate, or the report names both: at 1 to 1,000 m/s, at 60 and 240 Hz.
#[test]
fn no_body_passes_through_another_in_silence() {
    let plates = [
        Plate::Fixed,
        Plate::Mesh,
        Plate::Scripted,
        Plate::Swung,
        Plate::Free(0.001),
        Plate::Free(1.0),
        Plate::StandIn,
        Plate::SwungStandIn,
    ];
    let (mut silent, mut told) = (Vec::new(), Vec::new());
    for plate in plates {
        for speed in [1.0, 3.0, 10.0, 30.0, 100.0, 400.0, 1000.0] {
            for dt in [1.0 / 60.0, 1.0 / 240.0] {
                for start in [0.03, 0.071, 0.2, 0.513] {
                    for restitution in [0.0, 0.8] {
                        let (passed, notes) = shoot(plate, speed, dt, start, restitution);
                        if !passed {
                            continue;
                        }
                        if notes.iter().any(|note| note.contains("`ball`")) {
                            told.push((plate, speed));
                        } else {
                            silent.push((plate, speed, dt, start, restitution));
                        }
                    }
                }
            }
        }
    }
    println!("passed through: {} in silence, {} told", silent.len(), told.len());
    assert!(silent.is_empty(), "{silent:?}");
    // Only the plate of 1 g, which the hit spins by 0.1 rad and more a substep, sweeps over the ball.
    let is_spun = |(plate, speed): &(Plate, f64)| *plate == Plate::Free(0.001) && *speed >= 400.0;
    assert!(told.iter().all(is_spun), "{told:?}");
}

/// Two free balls of 1 cm that collide head-on at up to 1.5 km/s swap velocities at any step size.
#[test]
fn small_fast_balls_swap_velocities() {
    for speed in [1.0, 30.0, 1000.0] {
        for dt in [1.0 / 60.0, 1.0 / 240.0] {
            for apart in [0.02, 0.1, 0.37] {
                let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
                let ball = |x: f64, v: f64| {
                    Body::dynamic(Shape::ball(RADIUS)).at([x, 0.0, 0.0]).velocity([v, 0.0, 0.0]).restitution(1.0)
                };
                let left = rigid.add("left", ball(-apart, speed)).unwrap();
                let right = rigid.add("right", ball(apart, -0.5 * speed)).unwrap();
                while rigid.time() * speed < 2.0 * apart {
                    let report = rigid.step(dt, Inputs::NONE).unwrap();
                    assert!(report.notes.is_empty(), "{:?}", report.notes);
                }
                let [a, b] = [left, right].map(|ball| rigid.state_of(ball).unwrap().velocity[0] / speed);
                // Rapier's restitution leaves 1e-5 of the speed (see `elastic_balls_of_one_mass_swap_velocities`).
                assert!(
                    (a + 0.5).abs() < 1.0e-4 && (b - 1.0).abs() < 1.0e-4,
                    "{speed} m/s, {dt} s, {apart} m: {a} {b}"
                );
            }
        }
    }
}

/// Fast motion along a surface is no impact: a puck at 50 m/s and a wheel of 100 rad/s raise no note.
#[test]
fn sliding_and_rolling_raise_no_alarm() {
    let puck =
        Body::dynamic(Shape::cylinder_y(0.02, 0.04)).friction(0.0).at([0.0, 0.01, 0.0]).velocity([50.0, 0.0, 0.0]);
    let wheel = Body::dynamic(Shape::cylinder_z(0.1, 0.3)).at([0.0, 0.3, 0.0]).velocity([30.0, 0.0, 0.0]);
    for (name, body) in [("puck", puck), ("wheel", wheel.spin([0.0, 0.0, -100.0]))] {
        for dt in [1.0 / 60.0, 1.0 / 240.0] {
            let mut rigid = RigidBodies::new("rigid");
            rigid
                .add("floor", Body::fixed(Shape::cuboid([200.0, 0.1, 4.0])).friction(0.5).at([0.0, -0.05, 0.0]))
                .unwrap();
            rigid.add(name, body.clone()).unwrap();
            while rigid.time() < 1.0 {
                let report = rigid.step(dt, Inputs::NONE).unwrap();
                assert!(report.notes.is_empty(), "{name}, {dt} s: {:?}", report.notes);
                assert_eq!(report.substeps, 4, "{name}, {dt} s: a cut");
            }
        }
    }
}
