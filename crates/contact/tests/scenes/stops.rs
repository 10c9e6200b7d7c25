//! Impulses that stop obstacles at kinematic cloth: those of two bodies.

use std::f64::consts::PI;

use nalgebra::{Isometry3, Matrix3, UnitQuaternion, Vector3};
use partita_contact::{
    Ahead, Carrier, Carriers, Contacts, Features, Mobility, Obstacle, Parameters, Path, Shape, State, Stops, Support,
};

type V3 = Vector3<f64>;

/// Length of the step, and half the thickness of the cloth `[s]`, `[m]`.
const H: f64 = 0.01;
const HALF: f64 = 0.5e-3;

/// A right triangle of a metre in the plane y = 0, with its right angle at the origin.
const TRIANGLE: [V3; 3] = [V3::new(0.0, 0.0, 0.0), V3::new(1.0, 0.0, 0.0), V3::new(0.0, 0.0, 1.0)];

fn contacts(shape: Shape, restitution: f64, friction: f64) -> Contacts {
    let features = Features::new(3, &[[0, 1, 2]], &[]).unwrap();
    let obstacle = Obstacle::new(shape).restitution(restitution).friction(friction);
    Contacts::new(features, Parameters::default(), vec![obstacle]).unwrap()
}

/// A free body of 2 kg with inertia 0.1 kg m² about each axis.
fn body(at: V3, velocity: V3) -> Carrier {
    Carrier {
        pose: Isometry3::translation(at.x, at.y, at.z),
        velocity,
        spin: V3::zeros(),
        mobility: Mobility {
            linear: Matrix3::from_diagonal_element(0.5),
            coupling: Matrix3::zeros(),
            angular: Matrix3::from_diagonal_element(10.0),
        },
        body: None,
        is_linked: false,
        acceleration: V3::zeros(),
        angular_acceleration: V3::zeros(),
        pending: [V3::zeros(); 2],
    }
}

fn stops(contacts: &mut Contacts, carrier: Carrier, inverse_masses: &[f64; 3]) -> Stops {
    let ahead = Ahead {
        dt: H,
        positions: &TRIANGLE,
        velocities: &[V3::zeros(); 3],
        inverse_masses,
        supports: &[],
        carriers: &[Carriers::Frame(Box::new(carrier))],
    };
    contacts.stops(&mut State::default(), &ahead).unwrap()
}

/// All impulses on the obstacle, of forces and at once.
fn sums(stops: &Stops) -> [V3; 2] {
    [&stops.forces, &stops.impacts].map(|of| of.iter().map(|reaction| reaction.linear).sum())
}

const BALL: Shape = Shape::Ball { radius: 0.1 };

/// A ball that comes at a triangle of three pins keeps the velocity that takes it there within the
/// step, and gives up the rest; or bounces. The supports get the opposite. Without an approach, or
/// without a way to get there in time, nothing happens.
#[test]
fn a_wall_takes_the_impulse_of_two_bodies() {
    for gap in [0.0, 0.005, 0.015] {
        let at = V3::new(0.3, 0.1 + HALF + gap, 0.3);
        let found = stops(&mut contacts(BALL, 0.0, 0.0), body(at, V3::new(0.0, -2.0, 0.0)), &[0.0; 3]);
        let [force, impact] = sums(&found);
        let expected = 2.0 * (2.0 - gap / H);
        assert!((impact - V3::y() * expected).norm() < 1e-3 * expected && force == V3::zeros(), "{gap} m: {impact:?}");
        let taken: V3 = found.supports.iter().map(|support| support.impact).sum();
        assert!((taken + impact).norm() < 1e-12 * expected);
    }
    let at = V3::new(0.3, 0.1 + HALF + 0.005, 0.3);
    let [_, impact] = sums(&stops(&mut contacts(BALL, 0.5, 0.0), body(at, V3::new(0.0, -2.0, 0.0)), &[0.0; 3]));
    assert!((impact - V3::y() * 2.0 * 1.5 * 2.0).norm() < 1e-9, "bounces: {impact:?}");
    for velocity in [V3::new(0.0, 2.0, 0.0), V3::new(1.0, 0.0, 0.0), V3::new(0.0, -0.4, 0.0)] {
        let found = stops(&mut contacts(BALL, 0.0, 0.0), body(at, velocity), &[0.0; 3]);
        assert!(sums(&found).iter().all(|sum| sum.norm() < 1e-9), "{velocity:?}: {found:?}");
    }
}

/// A half-space and a closed mesh that is not convex have come around three pins. Whatever takes them farther in is stopped
/// at once, and what takes them back is not held.
#[test]
fn what_is_around_pins_goes_no_farther() {
    // A solid below y = 0 with a notch in its side, upside down: 2 mm of it are below the pins.
    let corners = [[-1.0, -1.0], [2.0, -1.0], [0.5, -0.5], [2.0, 0.0], [-1.0, 0.0]];
    let vertices = [-1.0, 2.0].iter().flat_map(|&z| corners.map(|[x, y]| [x, y, z])).collect();
    let mut triangles = vec![[0, 2, 1], [0, 3, 2], [0, 4, 3], [5, 6, 7], [5, 7, 8], [5, 8, 9]];
    triangles.extend((0..5).flat_map(|k| [[k, (k + 1) % 5, (k + 1) % 5 + 5], [k, (k + 1) % 5 + 5, k + 5]]));
    let notched = Shape::Mesh { vertices, triangles, lines: vec![] };
    for shape in [Shape::HalfSpace, notched] {
        let impact = |velocity: f64| {
            let mut contacts = contacts(shape.clone(), 0.0, 0.0);
            let mut carrier = body(V3::new(0.0, -0.002, 1.0), V3::new(0.0, velocity, 0.0));
            carrier.pose.rotation = UnitQuaternion::from_axis_angle(&V3::x_axis(), PI);
            // It does not turn.
            carrier.mobility.angular = Matrix3::zeros();
            let paths = [Path::Frame { begin: carrier.pose, end: carrier.pose }];
            let mut state = contacts.look(&TRIANGLE, &paths);
            let carriers = [Carriers::Frame(Box::new(carrier))];
            let (velocities, inverse_masses) = (&[V3::zeros(); 3], &[0.0; 3]);
            let ahead =
                Ahead { dt: H, positions: &TRIANGLE, velocities, inverse_masses, supports: &[], carriers: &carriers };
            let [force, impact] = sums(&contacts.stops(&mut state, &ahead).unwrap());
            force + impact
        };
        let stopped = impact(-2.0);
        assert!((stopped.y - 4.0).abs() < 0.1, "{shape:?}: {stopped:?}");
        assert!(impact(0.5).norm() < 1e-9, "{shape:?}: {:?}", impact(0.5));
    }
}

/// A resting body is supported by a force, m g h; no impulse acts at once.
#[test]
fn what_rests_is_held_by_a_force() {
    let carrier =
        Carrier { acceleration: V3::new(0.0, -9.81, 0.0), ..body(V3::new(0.3, 0.1 + HALF, 0.3), V3::zeros()) };
    let [force, impact] = sums(&stops(&mut contacts(BALL, 0.0, 0.3), carrier, &[0.0; 3]));
    assert!((force - V3::y() * 2.0 * 9.81 * H).norm() < 1e-6 && impact.norm() < 1e-6, "{force:?} {impact:?}");
}

/// A bar that is hit at r from its centre answers with 1/m + r²/I, and friction takes no more than
/// its coefficient times the push.
#[test]
fn bodies_turn_and_rub() {
    let capsule = Shape::Capsule { half_length: 0.4, radius: 0.05 };
    // Its end, 0.4 m from the centre, comes to the corner of the triangle from outside.
    let at = V3::new(-0.4, 0.05 + HALF, -1e-3);
    let found = stops(&mut contacts(capsule, 0.0, 0.0), body(at, V3::new(0.0, -1.0, 0.0)), &[0.0; 3]);
    let [_, impact] = sums(&found);
    let expected = 1.0 / (0.5 + 10.0 * 0.16);
    assert!((impact.y - expected).abs() < 1e-2 * expected, "{impact:?} for {expected}");
    for (speed, slides) in [(0.2, false), (10.0, true)] {
        let ball = body(V3::new(0.3, 0.1 + HALF, 0.3), V3::new(speed, -2.0, 0.0));
        let [_, impact] = sums(&stops(&mut contacts(BALL, 0.0, 0.3), ball, &[0.0; 3]));
        let (push, rub) = (impact.y, V3::new(impact.x, 0.0, impact.z).norm());
        assert!((push - 4.0).abs() < 1e-6 && rub <= 0.3 * push * (1.0 + 1e-9), "{impact:?}");
        assert_eq!((rub > 0.299 * push), slides, "{speed} m/s: {impact:?}");
        assert!(impact.x < 0.0);
    }
}

/// From a pin to a quarter of a cell beside it the impulse falls from all that stops the ball to
/// none, without a jump: cloth that moves makes way by itself.
#[test]
fn the_impulse_is_continuous_from_held_to_free() {
    let impulse = |beside: f64| {
        let at = V3::new(beside, 0.1 + HALF, 0.0);
        // Vertex 0 is a pin, the others weigh a gram.
        let found = stops(&mut contacts(BALL, 0.0, 0.0), body(at, V3::new(0.0, -2.0, 0.0)), &[0.0, 1e3, 1e3]);
        sums(&found)[1].y
    };
    let mut last = 2.0 * 2.0;
    for beside in [0.0, 1e-9, 1e-6, 1e-3, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.24] {
        let found = impulse(beside);
        let expected = 4.0 * (1.0 - 16.0 * beside * beside);
        assert!((found - expected).abs() < 0.02 * 4.0 && found <= last * (1.0 + 1e-9), "{beside} m: {found} N s");
        last = found;
    }
    assert_eq!(impulse(0.26), 0.0);
    // Free cloth stops nothing ahead of time.
    let free = stops(&mut contacts(BALL, 0.0, 0.0), body(V3::new(0.0, 0.1 + HALF, 0.0), -2.0 * V3::y()), &[1e3; 3]);
    assert_eq!(free, Stops::default());
}

/// A box that comes down flat on three pins is stopped by all of them together: its momentum, and
/// no turn but for what the pins are beside its centre.
#[test]
fn contacts_of_one_body_are_solved_together() {
    let cuboid = Shape::Cuboid { half_extents: [0.6, 0.1, 0.6] };
    let centre = (TRIANGLE[0] + TRIANGLE[1] + TRIANGLE[2]) / 3.0;
    let at = centre + V3::y() * (0.1 + HALF);
    let found = stops(&mut contacts(cuboid, 0.0, 0.0), body(at, V3::new(0.0, -3.0, 0.0)), &[0.0; 3]);
    let [_, impact] = sums(&found);
    let turn: V3 = found.impacts.iter().map(|reaction| reaction.angular).sum();
    assert!((impact - V3::y() * 6.0).norm() < 1e-6 && turn.norm() < 1e-6, "{impact:?} {turn:?}");
}

/// A box that comes at three pins with any velocity and spin gains no energy in the step but what
/// its acceleration gives, for any restitution and friction.
#[test]
fn bodies_that_bounce_gain_nothing() {
    let mut seed = 17_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as f64 / 2.0_f64.powi(30) - 1.0
    };
    let half_extents = [0.15, 0.1, 0.15];
    let mut thrown = 0;
    for _ in 0..400 {
        let (restitution, friction) = ((2.0 * random().abs()).min(1.0), 0.5 * random().abs());
        let turn = UnitQuaternion::new(V3::new(random().powi(5), random(), random().powi(5)));
        // Its lowest corner is where the pins are.
        let reach: f64 = (0..3).map(|k| (turn * V3::ith(k, half_extents[k])).y.abs()).sum();
        let mut carrier = body(V3::new(0.3 + 0.2 * random(), reach + HALF, 0.3 + 0.2 * random()), V3::zeros());
        carrier.pose.rotation = turn;
        carrier.velocity = V3::new(random(), 2.0 * random(), random());
        carrier.spin = V3::new(random(), random(), random()) * 4.0;
        carrier.acceleration = V3::new(0.0, -100.0 * random().abs(), 0.0);
        let (v, spin, a) = (carrier.velocity, carrier.spin, carrier.acceleration);
        let found = stops(&mut contacts(Shape::Cuboid { half_extents }, restitution, friction), carrier, &[0.0; 3]);
        let [force, impact] = sums(&found);
        let turned: V3 = found.forces.iter().chain(&found.impacts).map(|reaction| reaction.angular).sum();
        let struck = v + impact / 2.0;
        let end = struck + force / 2.0 + H * a;
        let change = |mass: f64, before: V3, after: V3| 0.5 * mass * (after.norm_squared() - before.norm_squared());
        let by_forces = 2.0 * a.dot(&(0.5 * H * (struck + end)));
        let gained = change(2.0, v, end) + change(0.1, spin, spin + 10.0 * turned) - by_forces;
        let moving = v.norm_squared() + 0.05 * spin.norm_squared();
        // A force over the step holds what rises at less than h a: it does up to m (h a)²/8.
        let held = 2.0 / 8.0 * (H * a).norm_squared();
        assert!(gained <= held + 1e-9 * moving, "{gained} of {moving} J, restitution {restitution}");
        thrown += usize::from(struck.y > v.y);
    }
    assert!(thrown > 40, "{thrown} of 400 were stopped");
}

/// Nothing is found where nothing that yields comes near: no search, no impulse.
#[test]
fn what_is_far_or_immovable_is_left_alone() {
    let far = body(V3::new(0.3, 5.0, 0.3), V3::new(0.0, -2.0, 0.0));
    let fixed = Carrier { mobility: Mobility::default(), ..body(V3::new(0.3, 0.11, 0.3), V3::new(0.0, -2.0, 0.0)) };
    for carrier in [far, fixed] {
        assert_eq!(stops(&mut contacts(BALL, 0.0, 0.0), carrier, &[0.0; 3]), Stops::default());
    }
}

/// An edge between free vertices makes way by itself, however unlike these are and though its
/// triangle has a pin.
#[test]
fn free_edges_beside_a_pin_make_way() {
    let beside = V3::new(1.0, 0.0, 1.0).normalize() * 0.1;
    let at = V3::new(1.0 - 1e-5, 0.0, 1e-5) + beside + V3::y() * 1e-3;
    let found = stops(&mut contacts(BALL, 0.0, 0.0), body(at, -2.0 * beside.normalize()), &[0.0, 1.0, 1e7]);
    assert_eq!(found, Stops::default());
}

/// Impulse on the ball of 2 kg that comes at a triangle of supported vertices.
fn on_supported(at: V3, supports: &[Support]) -> V3 {
    let mut contacts = contacts(BALL, 0.0, 0.0);
    let ball = body(at + V3::y() * (0.1 + HALF), V3::new(0.0, -2.0, 0.0));
    let ahead = Ahead {
        dt: H,
        positions: &TRIANGLE,
        velocities: &[V3::zeros(); 3],
        inverse_masses: &[0.0; 3],
        supports,
        carriers: &[Carriers::Frame(Box::new(ball))],
    };
    let found = contacts.stops(&mut State::default(), &ahead).unwrap();
    let [_, impact] = sums(&found);
    let taken: V3 = found.supports.iter().map(|support| support.impact).sum();
    assert!((taken + impact).norm() < 1e-9 * impact.norm(), "{taken:?} {impact:?}");
    impact
}

/// Vertices that are fixed in one free body are stopped as that body, J = v/(1/m + 1/M + a²/I),
/// wherever a ball comes: three supports of the same body, whose mobility there is stated by each
/// of them.
#[test]
fn supports_on_one_body_answer_as_one() {
    let (mass, inertia) = (3.0, 0.2);
    let centre = (TRIANGLE[0] + TRIANGLE[1] + TRIANGLE[2]) / 3.0;
    let support = |k: usize| {
        let r = (TRIANGLE[k] - centre).cross_matrix();
        let angular = Matrix3::from_diagonal_element(1.0 / inertia);
        let linear = Matrix3::from_diagonal_element(1.0 / mass) + r.transpose() * angular * r;
        let mobility = Mobility { linear, coupling: r.transpose() * angular, angular };
        Support { vertex: k as u32, mobility, body: Some(7), is_linked: false, acceleration: V3::zeros() }
    };
    let supports = [0, 1, 2].map(support);
    for at in [centre, V3::new(0.3, 0.0, 0.1), V3::new(0.1, 0.0, 0.5)] {
        let expected = 2.0 / (1.0 / 2.0 + 1.0 / mass + (at - centre).norm_squared() / inertia);
        let found = on_supported(at, &supports);
        assert!((found - V3::y() * expected).norm() < 1e-6 * expected, "{at:?}: {found:?} for {expected}");
    }
}

/// Three bodies that are welded to one of 3 kg, each measured by itself, show its mobility each.
/// Three supports that counted as three such bodies would take three times the impulse; linked ones
/// share it.
#[test]
fn supports_that_are_linked_share_what_they_show() {
    let linear = Matrix3::from_diagonal_element(1.0 / 3.0);
    let mobility = Mobility { linear, ..Mobility::default() };
    let support =
        |k: u32, is_linked: bool| Support { vertex: k, mobility, body: Some(k), is_linked, acceleration: V3::zeros() };
    let centre = (TRIANGLE[0] + TRIANGLE[1] + TRIANGLE[2]) / 3.0;
    let [linked, free] = [true, false].map(|is_linked| on_supported(centre, &[0, 1, 2].map(|k| support(k, is_linked))));
    assert!((linked.y - 2.0 / (1.0 / 2.0 + 1.0 / 3.0)).abs() < 1e-6, "{linked:?}");
    assert!((free.y - 2.0 / (1.0 / 2.0 + 1.0 / 9.0)).abs() < 1e-6, "{free:?}");
}
