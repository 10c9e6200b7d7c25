//! Retract and determinism (rows R1, R2, R4 to R8 and L3 of the catalogue), failed steps included.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Instant,
};

use partita_rigid::{Body, Joint, Pose, RigidBodies, Shape};
use partita_simulator::{HandleId, Identity, Inputs, Simulator, SimulatorError, Snapshot, Wrench, hash_bytes};

const DT: f64 = 1.0 / 120.0;

/// A pile of boxes, balls, capsules and a mesh that falls in a heap beside a swinging chain, stirred by a
/// scripted paddle.
fn pile(sleep: bool) -> RigidBodies {
    let mut rigid = RigidBodies::new("pile").sleep(sleep);
    rigid.add("floor", Body::fixed(Shape::cuboid([20.0, 1.0, 20.0])).at([0.0, -0.5, 0.0])).unwrap();
    let tetrahedron = Shape::mesh(
        [[0.0; 3], [0.4, 0.0, 0.0], [0.0, 0.4, 0.0], [0.0, 0.0, 0.4]],
        [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    );
    let shapes = [
        Shape::cuboid([0.4, 0.3, 0.2]),
        Shape::ball(0.15),
        Shape::capsule_z(0.3, 0.1),
        tetrahedron,
        Shape::cylinder_x(0.3, 0.15),
    ];
    for i in 0..15 {
        let (x, y) = (0.05 * f64::from(i % 3), 0.3 + 0.35 * f64::from(i));
        rigid.add(&format!("thing {i}"), Body::dynamic(shapes[i as usize % 5].clone()).at([x, y, 0.02 * x])).unwrap();
    }
    let mut above = rigid.add("post", Body::fixed(Shape::ball(0.05)).at([0.6, 2.0, 0.0])).unwrap();
    for i in 0..5 {
        let x = 0.6 + 0.2 * f64::from(i);
        let link = Body::dynamic(Shape::capsule_x(0.12, 0.03)).at([x + 0.1, 2.0, 0.0]);
        let link = rigid.add(&format!("link {i}"), link).unwrap();
        rigid.join(&format!("joint {i}"), Joint::ball(above, link).anchor([x, 2.0, 0.0])).unwrap();
        above = link;
    }
    if !sleep {
        let paddle = |t: f64| Pose::at([-0.6 + 0.3 * t.sin(), 0.2, 0.0]).turned([0.0, 1.0, 0.0], t);
        rigid.add("paddle", Body::kinematic(Shape::cuboid([0.1, 0.4, 1.0]), paddle)).unwrap();
    }
    rigid
}

fn hash(rigid: &RigidBodies) -> u64 {
    hash_bytes(&rigid.snapshot(None).to_bytes())
}

fn push(rigid: &RigidBodies, size: f64, k: usize) -> Inputs {
    let angle = k as f64;
    let load = |name: &str, wrench| (rigid.body(name).unwrap(), wrench);
    let force = Wrench::force([size * angle.cos(), 0.3 * size, size * angle.sin()]);
    let torque = Wrench::torque([0.0, 0.1 * size, 0.0]);
    Inputs { loads: vec![load("thing 4", force), load("link 3", force.scaled(0.1) + torque)], ..Inputs::default() }
}

/// R1: after k steps with loads, retract: every byte is that of the mark.
#[test]
fn retract_brings_every_byte_back() {
    let mut rigid = pile(false);
    for k in 0..100 {
        rigid.step(DT, &push(&rigid, 20.0, k)).unwrap();
    }
    for away in [1, 7, 60] {
        let mark = rigid.snapshot(None);
        let before = mark.to_bytes();
        for k in 0..away {
            rigid.step(DT, &push(&rigid, 200.0, k)).unwrap();
        }
        rigid.retract(&mark).unwrap();
        assert!(rigid.snapshot(None).to_bytes() == before, "after {away} steps");
        assert!(mark.to_bytes() == before, "the mark itself changed");
    }
}

/// R2, R6, R8, R11: a trial step with other loads before each of 600 steps, taken back by a clone or
/// through bytes in turn, leaves no trace while contacts begin and end, the pile falls asleep and is
/// woken again; and a second world built the same gives the same bytes. Compared at every step.
#[test]
fn trial_steps_leave_no_trace() {
    for sleep in [false, true] {
        let (mut straight, mut trying) = (pile(sleep), pile(sleep));
        let mut asleep = 0;
        for k in 0..600 {
            let loaded = !sleep || (500..510).contains(&k);
            let inputs = if loaded { push(&straight, 20.0, k) } else { Inputs::default() };
            let mark = trying.snapshot(None);
            let trial = push(&trying, 300.0, k);
            trying.step(if k % 3 == 0 { DT } else { 2.0 * DT }, &trial).unwrap();
            let mark = if k % 2 == 0 { mark } else { trying.snapshot_from_bytes(&mark.to_bytes()).unwrap() };
            trying.retract(&mark).unwrap();
            let one = straight.step(DT, &inputs).unwrap();
            let two = trying.step(DT, &inputs).unwrap();
            assert_eq!(one, two, "the reports of step {k}");
            assert_eq!(hash(&straight), hash(&trying), "sleep {sleep}, step {k}");
            let sleeps = |i| straight.rigid_body(straight.body(&format!("thing {i}")).unwrap()).unwrap().is_sleeping();
            asleep += usize::from((0..15).any(sleeps));
        }
        assert_eq!(asleep > 0, sleep, "the pile was asleep in {asleep} steps");
        assert!(!sleep || asleep < 590, "and was awake before");
    }
}

/// R4: one mark, a hundred times.
#[test]
fn one_mark_serves_a_hundred_times() {
    let mut rigid = pile(false);
    for k in 0..60 {
        rigid.step(DT, &push(&rigid, 20.0, k)).unwrap();
    }
    let mark = rigid.snapshot(None);
    let mut next = None;
    for _ in 0..100 {
        rigid.retract(&mark).unwrap();
        rigid.step(DT, Inputs::NONE).unwrap();
        let found = hash(&rigid);
        assert_eq!(*next.get_or_insert(found), found);
    }
}

/// R5: what was made after a mark is not in it, so the mark is refused; nothing else ever is at that
/// handle, and the older handles go on.
#[test]
fn a_mark_from_before_a_body_is_refused() {
    let mut rigid = pile(false);
    rigid.step(DT, Inputs::NONE).unwrap();
    let (mark, old) = (rigid.snapshot(None), rigid.body("thing 4").unwrap());
    let late = rigid.add("late", Body::dynamic(Shape::ball(0.1)).at([3.0, 1.0, 0.0])).unwrap();
    let before = hash(&rigid);
    let error = rigid.retract(&mark).unwrap_err();
    assert!(matches!(error, SimulatorError::Refused { ref thing, .. } if thing == "snapshot"), "{error}");
    assert!(rigid.snapshot_from_bytes(&mark.to_bytes()).is_err());
    assert_eq!(hash(&rigid), before);
    rigid.step(DT, Inputs::NONE).unwrap();
    assert!(rigid.state_of(late).unwrap().position[0] == 3.0 && rigid.state_of(old).is_ok());
    // The same for points, joints and parameters.
    let mark = rigid.snapshot(None);
    rigid.point(late, [0.1, 0.0, 0.0]).unwrap();
    assert!(rigid.retract(&mark).is_err());
    let mark = rigid.snapshot(None);
    rigid.join("late", Joint::rope(old, late, 9.0)).unwrap();
    assert!(rigid.retract(&mark).is_err());
    let mark = rigid.snapshot(None);
    let mut rigid = rigid.gravity([0.0, -1.62, 0.0]);
    assert!(rigid.retract(&mark).is_err());
}

/// R7: foreign and corrupted marks are errors and change nothing. Bytes carry a seal, so a flipped bit
/// anywhere is found before rapier would index with it.
#[test]
fn foreign_and_corrupted_marks_are_refused() {
    let mut rigid = pile(false);
    for k in 0..30 {
        rigid.step(DT, &push(&rigid, 20.0, k)).unwrap();
    }
    let (before, mark) = (hash(&rigid), rigid.snapshot(None));
    let mut namesake = RigidBodies::new("pile");
    namesake.add("floor", Body::fixed(Shape::cuboid([1.0; 3]))).unwrap();
    let foreign = [
        Snapshot::new(Identity { owner: 1, layout: 2 }, 0.0, 3_u32),
        namesake.snapshot(None),
        RigidBodies::new("x").snapshot(None),
    ];
    for foreign in &foreign {
        assert!(rigid.retract(foreign).is_err());
        assert!(rigid.snapshot_from_bytes(&foreign.to_bytes()).is_err());
    }
    let bytes = mark.to_bytes();
    for i in (0..bytes.len()).step_by(bytes.len() / 97) {
        let mut flipped = bytes.clone();
        flipped[i] ^= 1 << (i % 8);
        assert!(rigid.snapshot_from_bytes(&flipped).is_err(), "a bit flipped in byte {i}");
        assert!(rigid.snapshot_from_bytes(&bytes[..i]).is_err(), "cut at byte {i}");
    }
    assert_eq!(hash(&rigid), before);
    assert!(rigid.snapshot_from_bytes(&bytes).is_ok());
}

/// Rapier's pipeline keeps its joint rows while the number of changes of the awake set stays the same. A
/// trial in which X falls asleep and a step in which Y does have the same number and other sets: with
/// the pipeline of the trial, the joint would act on the wrong bodies.
#[test]
fn a_trial_in_which_another_body_sleeps_leaves_no_trace() {
    let make = || {
        let mut rigid = RigidBodies::new("rigid").sleep(true).gravity([0.0; 3]);
        for (i, name) in ["x", "y", "z"].into_iter().enumerate() {
            rigid.add(name, Body::dynamic(Shape::ball(0.1)).at([10.0 * i as f64, 5.0, 0.0])).unwrap();
        }
        let a = rigid.add("a", Body::dynamic(Shape::ball(0.1)).velocity([0.0, 1.0, 0.0])).unwrap();
        let b = rigid.add("b", Body::dynamic(Shape::ball(0.2)).at([0.5, 0.0, 0.0]).spin([1.0, 0.0, 3.0])).unwrap();
        rigid.join("joint", Joint::ball(a, b)).unwrap();
        rigid
    };
    let asleep = |rigid: &RigidBodies| rigid.rigid_body(rigid.body("x").unwrap()).unwrap().is_sleeping();
    let mut rigid = make();
    let mut until = 0;
    while !asleep(&rigid) {
        rigid.step(DT, Inputs::NONE).unwrap();
        until += 1;
    }
    let on = |rigid: &RigidBodies, name| {
        let load = Wrench::force([0.1, 0.0, 0.0]);
        Inputs { loads: vec![(rigid.body(name).unwrap(), load)], ..Inputs::default() }
    };
    let run = |trial: bool| {
        // One substep, so that the step in which they fall asleep is all of the trial.
        let mut rigid = make().substeps(1);
        for _ in 0..until - 1 {
            rigid.step(DT, Inputs::NONE).unwrap();
        }
        for k in 0..8 {
            if trial {
                let mark = rigid.snapshot(None);
                let load = on(&rigid, "y");
                rigid.step(DT, &load).unwrap();
                rigid.retract(&mark).unwrap();
            }
            let load = on(&rigid, "x");
            rigid.step(DT, if k < 4 { &load } else { Inputs::NONE }).unwrap();
        }
        for _ in 0..60 {
            rigid.step(DT, Inputs::NONE).unwrap();
        }
        hash(&rigid)
    };
    assert_eq!(run(true), run(false));
}

/// Joints are taken in by rapier's next step, and its list of new ones is in no bytes: a snapshot
/// taken right after `join` has to be complete nevertheless.
#[test]
fn a_snapshot_right_after_joining_is_complete() {
    let (mut straight, mut restored) = (pile(true), pile(true));
    let mark = restored.snapshot(None);
    let mark = restored.snapshot_from_bytes(&mark.to_bytes()).unwrap();
    restored.retract(&mark).unwrap();
    for k in 0..400 {
        straight.step(DT, Inputs::NONE).unwrap();
        restored.step(DT, Inputs::NONE).unwrap();
        assert_eq!(hash(&straight), hash(&restored), "step {k}");
    }
}

/// A step that fails in the middle, after rapier has moved everything, leaves every byte as it was, and
/// the run goes on as if it had not been tried; at every age of the copy it is undone from.
#[test]
fn a_failed_step_changes_nothing() {
    // Well at quarters of DT, where our steps have their substeps, and not finite in between.
    let make = || {
        let mut rigid = pile(false);
        let script = |t: f64| {
            let quarters = 4.0 * t / DT;
            let between = (quarters - quarters.round()).abs() > 0.25;
            Pose::at([if between { f64::NAN } else { 2.0 }, 0.5, 0.0])
        };
        rigid.add("gate", Body::kinematic(Shape::cuboid([0.1; 3]), script)).unwrap();
        rigid
    };
    let (mut straight, mut tried) = (make(), make());
    for k in 0..40 {
        let before = hash(&tried);
        // The substeps of this one end at 1.1, 2.2 and 3.3 quarters: two pass, the third does not.
        let error = tried.step(1.1 * DT, &push(&tried, 50.0, k)).unwrap_err();
        assert!(matches!(error, SimulatorError::Failed { .. }) && error.to_string().contains("gate"), "{error}");
        assert_eq!(hash(&tried), before, "step {k}");
        let inputs = push(&straight, 20.0, k);
        assert_eq!(straight.step(DT, &inputs).unwrap(), tried.step(DT, &inputs).unwrap());
        assert_eq!(hash(&straight), hash(&tried), "step {k}");
    }
}

/// A script that breaks its promise and counts its calls makes no step repeatable, but a failed one is
/// undone all the same: what scripts said is kept, and they are not asked again.
#[test]
fn a_failed_step_is_undone_whatever_the_script() {
    let calls = AtomicU32::new(0);
    let script = move |t: f64| {
        let quarters = 4.0 * t / DT;
        let between = (quarters - quarters.round()).abs() > 0.25;
        let x = 2.0 + 0.01 * f64::from(calls.fetch_add(1, Ordering::Relaxed));
        Pose::at([if between || x > 3.5 { f64::NAN } else { x }, 0.5, 0.0])
    };
    let mut rigid = pile(false);
    rigid.add("gate", Body::kinematic(Shape::cuboid([0.1; 3]), script)).unwrap();
    // One call by `add`, four by a good step and three by a failed one: 148 after 21 of each.
    for k in 0..21 {
        rigid.step(DT, &push(&rigid, 20.0, k)).unwrap();
        let before = hash(&rigid);
        let error = rigid.step(1.1 * DT, &push(&rigid, 50.0, k)).unwrap_err();
        assert!(matches!(error, SimulatorError::Failed { .. }) && error.to_string().contains("gate"), "{error}");
        assert_eq!(hash(&rigid), before, "step {k}");
    }
}

/// A sleeping body and the sleeping neighbours that lean on it wake under a load.
#[test]
fn a_load_wakes_a_body_and_its_neighbours() {
    let mut rigid = RigidBodies::new("rigid").sleep(true);
    rigid.add("floor", Body::fixed(Shape::cuboid([10.0, 1.0, 10.0])).at([0.0, -0.5, 0.0])).unwrap();
    let boxes: Vec<HandleId> = (0..3)
        .map(|i| {
            let body = Body::dynamic(Shape::cuboid([0.5; 3])).at([0.0, 0.25 + 0.5 * f64::from(i), 0.0]).mass(1.0);
            rigid.add(&format!("{i}"), body).unwrap()
        })
        .collect();
    for _ in 0..600 {
        rigid.step(DT, Inputs::NONE).unwrap();
    }
    let asleep = |rigid: &RigidBodies| boxes.iter().all(|&b| rigid.rigid_body(b).unwrap().is_sleeping());
    assert!(asleep(&rigid));
    let height = rigid.state_of(boxes[2]).unwrap().position[1];
    // Lifting the lowest lifts all.
    for _ in 0..60 {
        let lift = Wrench::force([0.0, 60.0, 0.0]);
        rigid.step(DT, &Inputs { loads: vec![(boxes[0], lift)], ..Inputs::default() }).unwrap();
    }
    assert!(!asleep(&rigid));
    assert!(rigid.state_of(boxes[2]).unwrap().position[1] > height + 0.3);
    // Let go, they fall back, and may sleep again.
    for _ in 0..600 {
        rigid.step(DT, Inputs::NONE).unwrap();
    }
    assert!(asleep(&rigid));
}

/// Rapier puts a body at rest to sleep after half a second, which one long substep is, and *then* asks for
/// forces: a load on it has to act nevertheless.
#[test]
fn a_load_on_a_resting_body_acts_in_a_long_step() {
    let mut rigid = RigidBodies::new("rigid").sleep(true).gravity([0.0; 3]).substeps(1);
    let ball = rigid.add("ball", Body::dynamic(Shape::ball(0.1)).mass(2.0)).unwrap();
    for k in 1..=3 {
        let load = Wrench::force([4.0, 0.0, 0.0]);
        rigid.step(1.0, &Inputs { loads: vec![(ball, load)], ..Inputs::default() }).unwrap();
        assert_eq!(rigid.state_of(ball).unwrap().velocity, [2.0 * f64::from(k), 0.0, 0.0]);
    }
}

/// A grid of boxes that falls and then sleeps; the ratio of the times is printed, never asserted.
fn fall_asleep(side: i32) {
    let mut rigid = RigidBodies::new("many").sleep(true);
    rigid.add("floor", Body::fixed(Shape::cuboid([400.0, 1.0, 400.0])).at([0.0, -0.5, 0.0])).unwrap();
    for i in 0..side {
        for j in 0..side {
            let at = [f64::from(i), 0.5, f64::from(j)];
            rigid.add(&format!("{i} {j}"), Body::dynamic(Shape::cuboid([0.5; 3])).at(at)).unwrap();
        }
    }
    let last = rigid.body("0 0").unwrap();
    let time = |rigid: &mut RigidBodies, steps: u32| {
        let clock = Instant::now();
        (0..steps).for_each(|_| drop(rigid.step(1.0 / 60.0, Inputs::NONE).unwrap()));
        clock.elapsed().as_secs_f64() / f64::from(steps)
    };
    time(&mut rigid, 30);
    let awake = time(&mut rigid, 30);
    time(&mut rigid, 240);
    assert!(rigid.rigid_body(last).unwrap().is_sleeping());
    let asleep = time(&mut rigid, 64);
    let ratio = 100.0 * asleep / awake;
    println!("{} bodies: awake {:.2} ms, asleep {:.3} ms a step, {ratio:.1} %", side * side, 1e3 * awake, 1e3 * asleep);
}

/// L3; `--nocapture` prints what sleeping costs.
#[test]
fn ten_thousand_bodies_fall_asleep() {
    fall_asleep(100);
}
