//! Single bodies against exact solutions (rows B1, B3, B5 of the catalogue, and traps of rapier's).

use std::f64::consts::PI;

use approx::assert_relative_eq;
use nalgebra::{UnitQuaternion, Vector3};
use partita_rigid::{Body, RigidBodies, Shape};
use partita_simulator::{HandleId, Inputs, Simulator, Wrench};

const DT: f64 = 1.0 / 240.0;

fn weightless(body: Body) -> (RigidBodies, HandleId) {
    let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
    let handle = rigid.add("body", body).unwrap();
    (rigid, handle)
}

fn run(rigid: &mut RigidBodies, dt: f64, seconds: f64, inputs: &Inputs) {
    for _ in 0..(seconds / dt).round() as usize {
        rigid.step(dt, inputs).unwrap();
    }
}

/// Fall from rest with n substeps of symplectic Euler: x = g t (t + h) / 2, h = dt / n. Rapier's own
/// 4 substeps and ours are the same formula: 4.92544 m after 1 s at 60 Hz.
#[test]
fn a_body_falls_by_the_sum_of_its_substeps() {
    for (substeps, iterations, dt) in [(4, 1, 1.0 / 60.0), (1, 4, 1.0 / 60.0), (1, 1, 0.01), (3, 2, 0.02)] {
        let mut rigid = RigidBodies::new("rigid").substeps(substeps).solver_iterations(iterations);
        let ball = rigid.add("ball", Body::dynamic(Shape::ball(0.1)).at([0.3, 2.0, -0.1])).unwrap();
        run(&mut rigid, dt, 1.0, Inputs::NONE);
        let h = dt / f64::from(substeps * iterations);
        let state = rigid.state_of(ball).unwrap();
        assert_relative_eq!(2.0 - state.position[1], 9.81 * (1.0 + h) / 2.0, max_relative = 1e-12);
        assert_relative_eq!(state.velocity[1], -9.81, max_relative = 1e-12);
    }
}

/// v = F t / m and ω = τ t / I with I = 8 m / 12 for a cube of 2 m, so loads act over exactly the steps
/// they are given to.
#[test]
fn force_and_torque_on_a_cube_give_the_exact_speeds() {
    let (mass, force, torque) = (500.0, [700.0, -300.0, 450.0], [0.0, 120.0, 0.0]);
    let (mut rigid, cube) = weightless(Body::dynamic(Shape::cuboid([2.0; 3])).mass(mass));
    let load = Wrench { linear: force, angular: torque };
    run(&mut rigid, DT, 2.0, &Inputs { loads: vec![(cube, load)], ..Inputs::default() });
    let state = rigid.state_of(cube).unwrap();
    for axis in 0..3 {
        assert_relative_eq!(state.velocity[axis], force[axis] * 2.0 / mass, max_relative = 1e-12);
        assert_relative_eq!(state.spin[axis], torque[axis] * 2.0 / (8.0 * mass / 12.0), max_relative = 1e-12);
    }
    let before = rigid.state_of(cube).unwrap();
    run(&mut rigid, DT, 0.1, Inputs::NONE);
    let after = rigid.state_of(cube).unwrap();
    // The spin goes through free rotation, which rounds.
    assert_eq!(before.velocity, after.velocity, "the load acted once more");
    assert_relative_eq!(before.spin[1], after.spin[1], max_relative = 1e-12);
}

/// Mass, centre and inertia are those of the solid: one torque shows the moment of inertia about its
/// axis. Exact formulas; 1e-8 is rapier's own rounding where it turns an inertia tensor (`cylinder_x`).
#[test]
fn shapes_have_the_moments_of_inertia_of_solids() {
    let (r, l, density) = (0.2, 0.5, 700.0);
    let tube = PI * r * r * l * density;
    let caps = 4.0 / 3.0 * PI * r * r * r * density;
    let across = tube * (l * l / 12.0 + r * r / 4.0) + caps * (0.4 * r * r + l * l / 4.0 + 0.375 * l * r);
    let cases = [
        (Shape::cuboid([0.2, 0.4, 0.6]), 0.048 * density, [0.52, 0.40, 0.20].map(|s| 0.048 * density * s / 12.0)),
        (Shape::ball(r), caps, [0.4 * caps * r * r; 3]),
        (
            Shape::cylinder_x(l, r),
            tube,
            [0.5 * tube * r * r, tube * (3.0 * r * r + l * l) / 12.0, tube * (3.0 * r * r + l * l) / 12.0],
        ),
        (Shape::capsule_z(l, r), tube + caps, [across, across, 0.5 * tube * r * r + 0.4 * caps * r * r]),
    ];
    for (shape, mass, inertia) in cases {
        for axis in 0..3 {
            let (mut rigid, body) = weightless(Body::dynamic(shape.clone()).density(density));
            assert_relative_eq!(rigid.ledger().unwrap().mass, mass, max_relative = 1e-12);
            let mut torque = [0.0; 3];
            torque[axis] = 1.0e-3;
            rigid.step(DT, &Inputs { loads: vec![(body, Wrench::torque(torque))], ..Inputs::default() }).unwrap();
            let spin = rigid.state_of(body).unwrap().spin[axis];
            assert_relative_eq!(spin, 1.0e-3 * DT / inertia[axis], max_relative = 1e-8);
        }
    }
}

/// Two equal balls that meet head on swap their velocities (Jolt asks for 1e-5; rapier's speculative
/// contact gives 1e-12), and so do ones of another size and direction.
#[test]
fn elastic_balls_of_one_mass_swap_velocities() {
    for (radius, direction) in [(1.0, Vector3::x()), (0.3, Vector3::new(1.0, 2.0, -0.5).normalize())] {
        let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
        let ball = || Body::dynamic(Shape::ball(radius)).restitution(1.0).friction(0.0);
        let at = |s: f64| (direction * s).into();
        let a = rigid.add("a", ball().at(at(-3.0)).velocity(at(5.0))).unwrap();
        let b = rigid.add("b", ball().at(at(3.0)).velocity(at(-10.0))).unwrap();
        run(&mut rigid, DT, 1.0, Inputs::NONE);
        let velocity = |handle| Vector3::from(rigid.state_of(handle).unwrap().velocity);
        assert!((velocity(a) + 10.0 * direction).norm() < 1e-5, "{}", velocity(a));
        assert!((velocity(b) - 5.0 * direction).norm() < 1e-5, "{}", velocity(b));
    }
}

/// A free body's Frame is at its centre of mass, not at rapier's origin: this tetrahedron's is a
/// quarter of the way along each edge. It flies straight on while the origin circles around it.
#[test]
fn the_frame_of_a_free_body_is_its_centre_of_mass() {
    let vertices = [[0.0; 3], [0.4, 0.0, 0.0], [0.0, 0.4, 0.0], [0.0, 0.0, 0.4]];
    let shape = Shape::mesh(vertices, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]);
    let (mut rigid, body) =
        weightless(Body::dynamic(shape).at([1.0, 2.0, 3.0]).velocity([0.5, 0.0, 0.0]).spin([0.0, 3.0, 1.0]));
    let corner = rigid.point(body, vertices[1]).unwrap();
    let state = rigid.state_of(body).unwrap();
    for (x, expected) in state.position.iter().zip([1.1, 2.1, 3.1]) {
        assert_relative_eq!(*x, expected, max_relative = 1e-12);
    }
    let expected = Vector3::from(state.velocity)
        + Vector3::from(state.spin)
            .cross(&(Vector3::from(rigid.state_of(corner).unwrap().position) - Vector3::from(state.position)));
    assert_relative_eq!(Vector3::from(rigid.state_of(corner).unwrap().velocity), expected, epsilon = 1e-12);

    let surface = rigid.surfaces()[0].clone();
    run(&mut rigid, DT, 1.0, Inputs::NONE);
    let state = rigid.state_of(body).unwrap();
    assert_relative_eq!(state.position[0], 1.6, max_relative = 1e-12);
    assert_relative_eq!(state.position[1], 2.1, max_relative = 1e-12);
    // The surface is given in the axes of that frame, so posing it finds the corner where it is read.
    let corner = rigid.state_of(corner).unwrap().position;
    let nearest = surface
        .posed(&[state])
        .iter()
        .map(|v| (Vector3::from(*v) - Vector3::from(corner)).norm())
        .fold(f64::INFINITY, f64::min);
    assert!(nearest < 1e-12, "{nearest}");
}

/// What the ledger books for gravity is what the bodies gained, linear and about the origin, to rounding:
/// rapier adds it to the velocities before it moves anything.
#[test]
fn the_ledger_knows_what_gravity_gave() {
    let mut rigid = RigidBodies::new("rigid").gravity([1.0, -9.81, 0.5]);
    rigid.add("near", Body::dynamic(Shape::ball(0.1)).at([1.0, 2.0, 3.0]).velocity([3.0, 1.0, -2.0])).unwrap();
    rigid.add("far", Body::dynamic(Shape::ball(0.2)).at([-40.0, 2.0, 30.0]).spin([0.0, 2.0, 0.0])).unwrap();
    let before = rigid.ledger().unwrap();
    run(&mut rigid, DT, 1.0, Inputs::NONE);
    let after = rigid.ledger().unwrap();
    let external = after.external.unwrap();
    let gained = |now: [f64; 3], then: [f64; 3]| Vector3::from(now) - Vector3::from(then);
    assert_relative_eq!(gained(after.momentum, before.momentum), Vector3::from(external.linear), max_relative = 1e-12);
    assert_relative_eq!(
        gained(after.angular_momentum, before.angular_momentum),
        Vector3::from(external.angular),
        max_relative = 1e-11
    );
    // The energy of a fall: what is lost in height is gained in speed, up to h g per m/s of symplectic Euler.
    let lost = before.potential - after.potential;
    assert_relative_eq!(after.kinetic - before.kinetic, lost, max_relative = 0.01);
}

/// A load on a Point turns the body as r × F does, with the arm of each substep's begin.
#[test]
fn a_load_on_a_point_acts_where_the_point_is() {
    let (mut rigid, body) = weightless(Body::dynamic(Shape::cuboid([0.4, 0.2, 0.3])).mass(3.0));
    let point = rigid.point(body, [0.2, 0.1, -0.15]).unwrap();
    let force = Vector3::new(0.3, -2.0, 1.0);
    let arm = Vector3::from(rigid.state_of(point).unwrap().position);
    rigid.step(DT, &Inputs { loads: vec![(point, Wrench::force(force))], ..Inputs::default() }).unwrap();
    let ledger = rigid.ledger().unwrap();
    assert_relative_eq!(Vector3::from(ledger.momentum), force * DT, max_relative = 1e-12);
    // The arm moves while the step lasts: by |Δr| |F| dt at most.
    let moved = (Vector3::from(rigid.state_of(point).unwrap().position) - arm).norm();
    assert!((Vector3::from(ledger.angular_momentum) - arm.cross(&force) * DT).norm() <= moved * force.norm() * DT);
}

/// Rapier cuts a body's spin to an eighth of a turn a step unless told otherwise. 100 turns a second at
/// 60 Hz are far beyond that.
#[test]
fn fast_spin_is_not_cut_down() {
    let spin = 200.0 * PI;
    let (mut rigid, body) = weightless(Body::dynamic(Shape::ball(0.1)).spin([0.0, spin, 0.0]));
    run(&mut rigid, 1.0 / 60.0, 1.0, Inputs::NONE);
    assert_relative_eq!(rigid.state_of(body).unwrap().spin[1], spin, max_relative = 1e-9);
}

/// A body faster than the top speed is slowed down by rapier, and the report says so; below it nothing
/// is cut: 3 km/s, which rapier's default of 400 m/s would, stays.
#[test]
fn a_body_that_reaches_the_top_speed_is_reported() {
    let (mut rigid, body) = weightless(Body::dynamic(Shape::ball(0.1)).mass(1.0).velocity([3000.0, 0.0, 0.0]));
    let report = rigid.step(DT, Inputs::NONE).unwrap();
    assert!(report.notes.is_empty());
    assert_eq!(rigid.state_of(body).unwrap().velocity, [3000.0, 0.0, 0.0]);

    let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]).top_speed(100.0);
    let body = rigid.add("bullet", Body::dynamic(Shape::ball(0.1)).mass(1.0)).unwrap();
    let report =
        rigid.step(DT, &Inputs { loads: vec![(body, Wrench::force([1.0e6, 0.0, 0.0]))], ..Inputs::default() }).unwrap();
    assert!(
        report.notes.iter().map(ToString::to_string).any(|note| note.contains("bullet") && note.contains("100")),
        "{:?}",
        report.notes
    );
    assert_relative_eq!(rigid.state_of(body).unwrap().velocity[0], 100.0, max_relative = 1e-9);
    assert_eq!(rigid.ledger().unwrap().external, None, "momentum was lost, and the ledger must not claim otherwise");
}

/// A kinematic body is where its script says, to the last bit, and reports the velocity of that way.
#[test]
fn a_scripted_body_follows_its_script() {
    let script = |t: f64| partita_rigid::Pose::at([t.sin(), 1.0, 0.0]).turned([0.0, 1.0, 0.0], 0.5 * t);
    let mut rigid = RigidBodies::new("rigid");
    let door = rigid.add("door", Body::kinematic(Shape::cuboid([1.0, 2.0, 0.1]), script)).unwrap();
    for k in 1..=100 {
        rigid.step(DT, Inputs::NONE).unwrap();
        let (t, h) = (k as f64 * DT, DT / 4.0);
        let state = rigid.state_of(door).unwrap();
        assert_relative_eq!(state.position[0], t.sin(), epsilon = 1e-12);
        assert_relative_eq!(state.velocity[0], (t.sin() - (t - h).sin()) / h, epsilon = 1e-9);
        assert_relative_eq!(state.spin[1], 0.5, epsilon = 1e-9);
        let turned = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.5 * t);
        assert_relative_eq!(state.orientation[1], turned.j, epsilon = 1e-9);
    }
}
