//! Joints against exact solutions (row B7 and the chain of B11), and bad ones.

use approx::assert_relative_eq;
use nalgebra::Vector3;
use partita_rigid::{Body, Joint, RigidBodies, Shape};
use partita_simulator::{HandleId, Inputs, Simulator, SimulatorError, Wrench};

const DT: f64 = 1.0 / 240.0;
const G: f64 = 9.81;

fn position(rigid: &RigidBodies, handle: HandleId) -> Vector3<f64> {
    Vector3::from(rigid.state_of(handle).unwrap().position)
}

fn run(rigid: &mut RigidBodies, seconds: f64) {
    for _ in 0..(seconds / DT).round() as usize {
        rigid.step(DT, Inputs::NONE).unwrap();
    }
}

/// Period of a rod of `length` that swings about its end from `amplitude` [rad], between its first and
/// third passage through the lowest point, interpolated.
fn period(length: f64, amplitude: f64) -> f64 {
    let mut rigid = RigidBodies::new("pendulum");
    let post = rigid.add("post", Body::fixed(Shape::ball(0.01))).unwrap();
    // A thin box hangs from the origin, turned about Z by the amplitude.
    let centre = [0.5 * length * amplitude.sin(), -0.5 * length * amplitude.cos(), 0.0];
    let shape = Shape::cuboid([0.001, length, 0.001]);
    let rod = rigid.add("rod", Body::dynamic(shape).at(centre).turned([0.0, 0.0, 1.0], amplitude)).unwrap();
    rigid.join("hinge", Joint::hinge(post, rod).anchor([0.0; 3])).unwrap();
    let (mut passages, mut last) = (Vec::new(), position(&rigid, rod).x);
    while passages.len() < 3 {
        rigid.step(DT, Inputs::NONE).unwrap();
        let x = position(&rigid, rod).x;
        if last.signum() != x.signum() {
            passages.push(rigid.time() - DT * x / (x - last));
        }
        last = x;
    }
    passages[2] - passages[0]
}

/// A rod of 1 m about its end: 2π √(2 L / 3 g) = 1.63795 s for small swings, times K(sin 45°) / (π/2) =
/// 1.18034 from 90°; 1 %. Times √L for another length.
#[test]
fn a_rod_swings_with_its_period() {
    for length in [1.0, 0.4] {
        let small = std::f64::consts::TAU * (2.0 * length / (3.0 * G)).sqrt();
        assert_relative_eq!(period(length, 0.05), small, max_relative = 0.01);
        assert_relative_eq!(period(length, std::f64::consts::FRAC_PI_2), 1.18034 * small, max_relative = 0.01);
    }
}

/// A chain of ten links under a ball a thousand times as heavy as one of them stretches by less than 2 %
/// with extra substeps; with the default four by how much is printed.
#[test]
fn a_chain_with_a_heavy_end_hardly_stretches() {
    let stretch = |substeps| {
        let mut rigid = RigidBodies::new("chain").substeps(substeps);
        let mut above = rigid.add("post", Body::fixed(Shape::ball(0.02))).unwrap();
        for i in 0..10 {
            let y = -0.05 - 0.1 * f64::from(i);
            let link = rigid
                .add(&format!("link {i}"), Body::dynamic(Shape::capsule_y(0.06, 0.01)).at([0.0, y, 0.0]).mass(0.1));
            let link = link.unwrap();
            rigid.join(&format!("joint {i}"), Joint::ball(above, link).anchor([0.0, y + 0.05, 0.0])).unwrap();
            above = link;
        }
        let ball = rigid.add("ball", Body::dynamic(Shape::ball(0.2)).at([0.0, -1.2, 0.0]).mass(100.0)).unwrap();
        rigid.join("last", Joint::ball(above, ball).anchor([0.0, -1.0, 0.0])).unwrap();
        let mut worst = 0.0f64;
        for _ in 0..(3.0 / DT) as usize {
            rigid.step(DT, Inputs::NONE).unwrap();
            worst = worst.max(-0.2 - position(&rigid, ball).y - 1.0);
        }
        worst
    };
    let (default, extra) = (stretch(4), stretch(16));
    println!("1000:1 chain stretches by {:.2} % with 4 substeps, {:.2} % with 16", 100.0 * default, 100.0 * extra);
    assert!(extra < 0.02, "{extra}");
}

/// A rope lets its ends come together but not apart; its weight hangs at its length (0.1 %).
#[test]
fn a_rope_holds_its_length() {
    let mut rigid = RigidBodies::new("rope");
    let post = rigid.add("post", Body::fixed(Shape::ball(0.05)).at([0.0, 2.0, 0.0])).unwrap();
    let ball = rigid.add("ball", Body::dynamic(Shape::ball(0.1)).at([0.3, 1.9, 0.0]).mass(2.0)).unwrap();
    rigid.join("rope", Joint::rope(post, ball, 0.8)).unwrap();
    for _ in 0..1200 {
        rigid.step(DT, Inputs::NONE).unwrap();
        let length = (position(&rigid, ball) - position(&rigid, post)).norm();
        assert!(length < 0.8 * 1.001, "{length}");
    }
}

/// A spring of stiffness k under weight m g hangs m g / k longer, once its damping has brought it to rest.
#[test]
fn a_spring_carries_a_weight_where_hooke_says() {
    for (mass, stiffness, rest) in [(1.0, 100.0, 0.5), (3.0, 900.0, 0.2)] {
        let mut rigid = RigidBodies::new("spring");
        let post = rigid.add("post", Body::fixed(Shape::ball(0.05)).at([0.0, 2.0, 0.0])).unwrap();
        let body = Body::dynamic(Shape::ball(0.04)).at([0.0, 2.0 - rest, 0.0]).mass(mass);
        let ball = rigid.add("ball", body).unwrap();
        rigid.join("spring", Joint::spring(post, ball, rest, stiffness, 5.0)).unwrap();
        run(&mut rigid, 10.0);
        let length = 2.0 - position(&rigid, ball).y;
        assert_relative_eq!(length, rest + mass * G / stiffness, max_relative = 1e-3);
    }
}

/// A prismatic joint leaves its axis free and nothing else; limits stop it.
#[test]
fn a_prismatic_joint_slides_along_its_axis_up_to_its_limit() {
    let mut rigid = RigidBodies::new("slider").gravity([0.0; 3]);
    let rail = rigid.add("rail", Body::fixed(Shape::cuboid([0.1; 3]))).unwrap();
    let cart = rigid.add("cart", Body::dynamic(Shape::cuboid([0.2; 3])).at([0.0, 0.5, 0.0]).mass(2.0)).unwrap();
    let axis = Vector3::new(1.0, 0.0, 1.0).normalize();
    rigid.join("rail", Joint::prismatic(rail, cart).axis(axis.into()).limits([-0.1, 0.4])).unwrap();
    let start = position(&rigid, cart);
    let load = Inputs { loads: vec![(cart, Wrench::force([3.0, 5.0, 1.0]))], ..Inputs::default() };
    for k in 1..=30 {
        rigid.step(DT, &load).unwrap();
        let moved = position(&rigid, cart) - start;
        assert!((moved - axis * moved.dot(&axis)).norm() < 1e-6, "{moved:?}");
        // Free along the axis: x = a t (t + h) / 2 with a = F·n / m.
        let (t, h) = (f64::from(k) * DT, DT / 4.0);
        let along = Vector3::new(3.0, 5.0, 1.0).dot(&axis) / 2.0 * t * (t + h) / 2.0;
        assert_relative_eq!(moved.dot(&axis), along, max_relative = 1e-3);
    }
    for _ in 0..480 {
        rigid.step(DT, &load).unwrap();
    }
    assert_relative_eq!((position(&rigid, cart) - start).dot(&axis), 0.4, epsilon = 2e-3);
}

/// A fixed joint between two bodies that nothing holds: they fly and turn as one, momentum included.
#[test]
fn fixed_bodies_move_as_one() {
    let mut rigid = RigidBodies::new("pair").gravity([0.0; 3]);
    let a = rigid.add("a", Body::dynamic(Shape::cuboid([0.3; 3])).mass(2.0)).unwrap();
    let b = rigid
        .add("b", Body::dynamic(Shape::ball(0.1)).at([0.5, 0.0, 0.0]).mass(1.0).velocity([0.0, 1.0, 0.0]))
        .unwrap();
    rigid.join("weld", Joint::fixed(a, b)).unwrap();
    let before = rigid.ledger().unwrap();
    run(&mut rigid, 2.0);
    let after = rigid.ledger().unwrap();
    assert_relative_eq!((position(&rigid, b) - position(&rigid, a)).norm(), 0.5, epsilon = 1e-4);
    let change = Vector3::from(after.momentum) - Vector3::from(before.momentum);
    assert!(change.norm() < 1e-12, "{change:?}");
    assert_relative_eq!(
        Vector3::from(after.angular_momentum),
        Vector3::from(before.angular_momentum),
        max_relative = 1e-2
    );
}

/// A hinge stops at its limits, which count from where it is when joined.
#[test]
fn a_hinge_stops_at_its_limits() {
    let mut rigid = RigidBodies::new("door");
    let post = rigid.add("post", Body::fixed(Shape::ball(0.01)).at([0.0, 1.0, 0.0])).unwrap();
    let flap = rigid.add("flap", Body::dynamic(Shape::cuboid([1.0, 0.1, 0.1])).at([0.5, 1.0, 0.0])).unwrap();
    rigid.join("hinge", Joint::hinge(post, flap).anchor([0.0, 1.0, 0.0]).limits([-0.5, 0.5])).unwrap();
    run(&mut rigid, 3.0);
    let x = position(&rigid, flap);
    assert_relative_eq!((1.0 - x.y).atan2(x.x), 0.5, epsilon = 5e-3);
}

#[test]
fn bad_joints_are_refused_and_change_nothing() {
    let mut rigid = RigidBodies::new("rigid");
    let post = rigid.add("post", Body::fixed(Shape::ball(0.1))).unwrap();
    let wall = rigid.add("wall", Body::fixed(Shape::ball(0.1)).at([1.0, 0.0, 0.0])).unwrap();
    let ball = rigid.add("ball", Body::dynamic(Shape::ball(0.1)).at([0.0, 1.0, 0.0])).unwrap();
    let point = rigid.point(ball, [0.1, 0.0, 0.0]).unwrap();
    rigid.join("taken", Joint::ball(post, ball)).unwrap();
    let mut other = RigidBodies::new("other");
    let foreign = other.add("ball", Body::dynamic(Shape::ball(0.1))).unwrap();
    let before = rigid.snapshot(None).to_bytes();
    let cases = [
        ("taken", Joint::ball(post, ball), "taken"),
        ("j", Joint::ball(post, foreign), "owner"),
        ("j", Joint::ball(post, wall), "moves freely"),
        ("j", Joint::ball(ball, point), "two bodies"),
        ("j", Joint::ball(post, ball).anchor([f64::NAN, 0.0, 0.0]), "anchor"),
        ("j", Joint::hinge(post, ball).axis([0.0; 3]), "axis"),
        ("j", Joint::hinge(post, ball).axis([f64::INFINITY, 0.0, 0.0]), "axis"),
        ("j", Joint::hinge(post, ball).limits([0.5, -0.5]), "limits"),
        ("j", Joint::ball(post, ball).limits([-0.5, 0.5]), "limits"),
        ("j", Joint::rope(post, ball, 0.0), "length"),
        ("j", Joint::rope(post, ball, -1.0), "length"),
        ("j", Joint::rope(post, ball, 1e300), "length"),
        ("j", Joint::spring(post, ball, 1.0, -5.0, 0.0), "stiffness"),
        ("j", Joint::spring(post, ball, 1.0, 5.0, f64::NAN), "damping"),
        ("j", Joint::spring(post, ball, f64::NAN, 5.0, 0.0), "rest_length"),
    ];
    for (name, joint, word) in cases {
        let error = rigid.join(name, joint.clone()).unwrap_err();
        assert!(matches!(error, SimulatorError::Refused { .. }));
        assert!(error.to_string().contains(word), "{joint:?}: {error}");
        assert!(rigid.snapshot(None).to_bytes() == before, "{joint:?} changed something");
    }
}
