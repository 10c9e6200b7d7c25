//! One kind of simulator twice, as a partition (\[PD97\] §5; rows C10 and C12).

use crate::common::{assert_first_order, following_mass, free_mass};
use nalgebra::Vector3;
use partita::prelude::*;

/// A heavy bar (4 kg) that tumbles, with a light box (0.5 kg) fixed to it half a metre away.
fn bar() -> Body {
    Body::dynamic(Shape::cuboid([1.2, 0.3, 0.3])).mass(4.0).velocity([0.3, 2.0, 0.0]).spin([0.0, 0.4, 1.0])
}

fn light() -> Body {
    let arm = Vector3::new(0.3, 0.25, 0.0);
    let spin = Vector3::new(0.0, 0.4, 1.0);
    let velocity = Vector3::new(0.3, 2.0, 0.0) + spin.cross(&arm);
    Body::dynamic(Shape::cuboid([0.2; 3])).mass(0.5).at(arm.into()).velocity(velocity.into()).spin(spin.into())
}

/// Where the bar is after `seconds` when one rapier world holds both.
fn together(rate: f64, seconds: f64) -> [f64; 3] {
    let mut world = RigidBodies::new("world");
    let (bar, light) = (world.add("bar", bar()).unwrap(), world.add("light", light()).unwrap());
    world.join("weld", Joint::fixed(bar, light).anchor([0.15, 0.2, 0.0])).unwrap();
    let mut scene = Scene::new(Rate::hz(rate));
    scene.add(world);
    let mut run = scene.build().unwrap();
    run.for_seconds(seconds).unwrap();
    run.state(bar).unwrap().position
}

/// The same with a world for each; the bar leads.
fn apart(rate: f64, seconds: f64) -> [f64; 3] {
    let (mut heavy, mut small) = (RigidBodies::new("heavy"), RigidBodies::new("small"));
    let (bar, light) = (heavy.add("bar", bar()).unwrap(), small.add("light", light()).unwrap());
    let mut scene = Scene::new(Rate::hz(rate));
    scene.attach(light, bar);
    scene.add(heavy).add(small);
    let mut run = scene.build().unwrap();
    run.for_seconds(seconds).unwrap();
    run.state(bar).unwrap().position
}

/// C10: two worlds do what one does, to 1 mm after 2 s, and the difference falls with the window.
#[test]
fn two_worlds_are_one() {
    let differences =
        [120.0, 240.0, 480.0].map(|rate| (Vector3::from(together(rate, 2.0)) - Vector3::from(apart(rate, 2.0))).norm());
    assert!(differences[1] < 1e-3, "{differences:?}");
    // The scene's own rate is the spin, |(0, 0.4, 1)| = 1.08 rad/s.
    assert_first_order(&differences, 1.0 / 120.0, 1.08);
}

/// C12: the order in which simulators are added decides only the order of sums.
#[test]
fn the_order_of_adding_does_not_matter() {
    let ends = [false, true].map(|reversed| {
        let leader = free_mass("leader", 3.0).started_at([0.0; 3], [0.1, 0.0, 0.0]).unwrap();
        let handle = leader.mass();
        let mut scene = Scene::new(Rate::hz(240.0));
        let followers = [("a", 0.2), ("b", 0.5), ("c", 0.9)].map(|(name, mass)| following_mass(name, mass));
        for follower in &followers {
            scene.attach(follower.point(0), handle);
        }
        let mut simulators: Vec<Box<dyn Simulator>> = vec![Box::new(leader)];
        simulators.extend(followers.into_iter().map(|follower| Box::new(follower) as Box<dyn Simulator>));
        if reversed {
            simulators.reverse();
        }
        for simulator in simulators {
            scene.add_boxed(simulator);
        }
        let mut run = scene.build().unwrap();
        for _ in 0..100 {
            run.push(handle, Wrench::force([0.0, 0.7, 0.0])).unwrap();
            run.advance().unwrap();
        }
        Vector3::from(run.state(handle).unwrap().position)
    });
    // Each of 100 windows may round the velocity, below 0.07 m/s, by 1.1e-16 of itself: 3e-16 m after 0.42 s,
    // and the exchange passes an error of the load on with ratio (0.2 + 0.5 + 0.9)/3: twice as much.
    assert!((ends[0] - ends[1]).norm() < 1e-15, "{ends:?}");
}
