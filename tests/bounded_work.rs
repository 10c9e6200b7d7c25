//! Work of a window is bounded, whatever leaders and loads do, and the report says what was left.
//! Cloth that nothing happens to costs least.

#![cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth"))]

mod common;

use std::{f64::consts::FRAC_PI_2, sync::Arc, time::Instant};

use common::Hooked;
use partita::{
    prelude::*,
    simulator::{
        Carrier, Guide, HandleId, HandleState, HandleTable, Inputs, Motion, Outcome, Simulator, SimulatorError,
        Surface, Wrench,
    },
};
use partita_mesh::{Mesh, Side};

/// Wall clock of a window of 100 vertices `[s]`: three times what the slowest takes, since other work shares the machine.
const MOST: f64 = 3.0;

fn guide(mesh: &Mesh) -> Guide {
    let owner = HandleTable::new("tests", "obstacle").owner();
    let surface = Surface {
        name: "obstacle".into(),
        carrier: Carrier::Frame(HandleId { owner, index: 0 }),
        vertices: mesh.positions(),
        triangles: mesh.triangles().to_vec(),
        two_sided: false,
        lines: vec![],
        primitive: None,
        friction: 0.3,
        restitution: 0.0,
        thickness: 0.0,
    };
    Guide::Obstacle { surface: Arc::new(surface), friction: 0.3, restitution: 0.0, thickness: 0.0, except: vec![] }
}

/// A name, a shape, and the state at the start of each window.
type Leader<'a> = (&'a str, &'a Mesh, &'a dyn Fn(u32) -> HandleState);

/// Upright sheets of 0.5 m and 100 vertices about the origin, held at both upper corners.
fn cloths() -> [(&'static str, Box<dyn Simulator>); 3] {
    let mesh = || Mesh::grid([9; 2], [0.5; 2]).unwrap().at([-0.25, 0.25, 0.0]).unwrap();
    let top = mesh().edge(Side::Top).unwrap();
    let corners = [top[0], top[9]];
    let mut implicit = ImplicitCloth::new("cloth", mesh(), Fabric::cotton()).unwrap();
    implicit.pin(&corners).unwrap();
    let mut ibds = IbdsCloth::new("cloth", Net::sheet(&mesh(), 0.15).unwrap()).unwrap();
    ibds.pin(&corners).unwrap();
    let mut avi = AviCloth::new("cloth", mesh(), Fabric::jersey().undamped()).unwrap();
    avi.pin(&corners).unwrap();
    [("implicit", Box::new(implicit)), ("ibds", Box::new(ibds)), ("avi", Box::new(avi))]
}

fn state(position: [f64; 3], axis: [f64; 3], angle: f64) -> HandleState {
    let (sin, cos) = (0.5 * angle).sin_cos();
    let [x, y, z] = axis.map(|a| a * sin);
    HandleState { position, orientation: [x, y, z, cos], ..Default::default() }
}

/// A ball of 5120 triangles that jumps 1.2 m through all of the sheet, along it or across it, also turning, and a bar that turns by 3 rad
/// in each window: every window ends in bounded time with finite numbers, and what stopped at the limit says so, once a window.
#[test]
fn windows_with_leaders_that_jump_or_turn_are_bounded() {
    let ball = Mesh::ball(0.1, 4).unwrap();
    let bar = Mesh::cuboid([0.6, 0.1, 0.05]).unwrap();
    let axis = [0.8, 0.6, 0.0];
    let along = |k: u32| state([if k < 3 { -0.6 } else { 0.6 }, 0.0, 0.01], axis, 0.0);
    let across = |k: u32| state([0.03, 0.01, if k < 3 { -0.6 } else { 0.6 }], axis, if k < 3 { 0.0 } else { 2.5 });
    let spinning = |k: u32| state([0.03, 0.01, 0.16], [0.0, 1.0, 0.0], 3.0 * f64::from(k));
    let paths: [Leader<'_>; 3] = [("along", &ball, &along), ("across", &ball, &across), ("spinning", &bar, &spinning)];
    let mut limited = 0;
    for (what, mesh, path) in paths {
        for (kind, mut cloth) in cloths() {
            cloth.follow(vec![guide(mesh)]).unwrap();
            for k in 0..6 {
                let motion = Motion { begin: [path(k)].into(), end: [path(k + 1)].into() };
                let inputs = Inputs { motions: vec![Some(motion)], ..Inputs::default() };
                let start = Instant::now();
                let report = cloth.step(1.0 / 60.0, &inputs).unwrap();
                let seconds = start.elapsed().as_secs_f64();
                assert!(seconds < MOST, "{what}, {kind}, window {k}: {seconds} s");
                let note = report
                    .notes
                    .iter()
                    .map(ToString::to_string)
                    .any(|note| note.contains("all the work that a step may take"));
                let stopped = matches!(&report.outcome, Outcome::StoppedAt { unit, .. } if unit.contains("contact"));
                assert_eq!(note, stopped, "{what}, {kind}, window {k}: {:?} {:?}", report.outcome, report.notes);
                limited += u32::from(note);
            }
            let handles: Vec<HandleId> = cloth.handles().iter().collect();
            let mut states = vec![HandleState::default(); handles.len()];
            cloth.read(&handles, &mut states).unwrap();
            assert!(states.iter().all(HandleState::is_finite), "{what}, {kind}");
        }
    }
    assert!(limited > 0);
}

/// A sheet that starts with a ball through it says so in each window, which takes bounded time.
#[test]
fn windows_of_crossed_cloth_are_bounded() {
    for subdivisions in [1, 4] {
        for (kind, mut cloth) in cloths() {
            cloth.follow(vec![guide(&Mesh::ball(0.1, subdivisions).unwrap())]).unwrap();
            let still: Arc<[HandleState]> = [state([0.02, 0.01, 0.0], [1.0, 0.0, 0.0], 0.0)].into();
            let motion = Motion { begin: still.clone(), end: still };
            let inputs = Inputs { motions: vec![Some(motion)], ..Inputs::default() };
            for k in 0..6 {
                let start = Instant::now();
                let report = cloth.step(1.0 / 60.0, &inputs).unwrap();
                let seconds = start.elapsed().as_secs_f64();
                assert!(seconds < MOST, "{subdivisions}, {kind}, window {k}: {seconds} s");
                let says = report.notes.iter().map(ToString::to_string).any(|note| note.contains("inside an obstacle"));
                assert!(says, "{subdivisions}, {kind}, window {k}: {:?}", report.notes);
            }
        }
    }
}

/// Level sheets of 0.4 m and 100 vertices, free or held at two corners, with gravity `[m/s²]`.
fn level_cloths(gravity: f64, pinned: bool) -> [(&'static str, Box<dyn Simulator>); 3] {
    let mesh = || Mesh::grid([9; 2], [0.4; 2]).unwrap().at([3.0, 1.0, 2.0]).unwrap();
    let (gravity, pins): (_, &[u32]) = ([0.0, -gravity, 0.0], if pinned { &[0, 9] } else { &[] });
    let mut implicit = ImplicitCloth::new("cloth", mesh(), Fabric::cotton()).unwrap().gravity(gravity);
    implicit.pin(pins).unwrap();
    let mut ibds = IbdsCloth::new("cloth", Net::sheet(&mesh(), 0.15).unwrap()).unwrap().gravity(gravity);
    ibds.pin(pins).unwrap();
    let mut avi = AviCloth::new("cloth", mesh(), Fabric::jersey().undamped()).unwrap().gravity(gravity);
    avi.pin(pins).unwrap();
    [("implicit", Box::new(implicit)), ("ibds", Box::new(ibds)), ("avi", Box::new(avi))]
}

/// A load of 1 to 1e18 N on one vertex of a quarter of a gram, or an impulse of so many N s: each step ends within its limits of work,
/// with finite numbers, or fails by the name of what acts and changes nothing. What fails with one fails with all larger ones,
/// and all fail from 1e6 N or 1e4 N s on. Free cloth takes the whole impulse.
#[test]
fn absurd_loads_are_named_by_every_cloth() {
    const VERTEX: u32 = 45;
    for (pinned, what, kind) in [false, true].into_iter().flat_map(|pinned| {
        ["load", "impulse"].into_iter().flat_map(move |what| (0..3).map(move |kind| (pinned, what, kind)))
    }) {
        let mut failed = 0;
        let (name, mut cloth) = level_cloths(9.81, pinned).into_iter().nth(kind).unwrap();
        let start = cloth.snapshot(None);
        let before = start.to_bytes();
        let handles: Vec<HandleId> = cloth.handles().iter().collect();
        for exponent in 0..=18 {
            let case = format!("{name}, pinned {pinned}, {what} of 1e{exponent}");
            let acts = vec![(handles[VERTEX as usize], Wrench::force([0.0, 0.0, 10_f64.powi(exponent)]))];
            let inputs = match what {
                "load" => Inputs { loads: acts, ..Inputs::default() },
                _ => Inputs { impulses: acts, ..Inputs::default() },
            };
            let begun = Instant::now();
            let stepped = cloth.step(1.0 / 60.0, &inputs);
            let seconds = begun.elapsed().as_secs_f64();
            assert!(seconds < MOST, "{case}: {seconds} s");
            match stepped {
                Ok(report) => {
                    assert_eq!(failed, 0, "{case}: a smaller one failed");
                    assert!(report.budget_used <= 1.0, "{case}: {}", report.budget_used);
                    let mut states = vec![HandleState::default(); handles.len()];
                    cloth.read(&handles, &mut states).unwrap();
                    assert!(states.iter().all(HandleState::is_finite), "{case}");
                    let largest = if what == "load" { 5 } else { 3 };
                    assert!(exponent <= largest, "{case}: did not fail");
                    let impulse = 10_f64.powi(exponent) * if what == "load" { 1.0 / 60.0 } else { 1.0 };
                    let found = cloth.ledger().unwrap().momentum[2];
                    assert!(pinned || (found / impulse - 1.0).abs() < 1e-6, "{case}: {found} N s");
                    cloth.retract(&start).unwrap();
                }
                Err(SimulatorError::Failed { thing, .. }) => {
                    failed += 1;
                    assert_eq!(thing, format!("{what} on vertex {VERTEX}"), "{case}");
                    assert_eq!(cloth.snapshot(None).to_bytes(), before, "{case}");
                }
                Err(error) => panic!("{case}: {error}"),
            }
        }
    }
}

/// Cloth at rest without stress and gravity takes no more work than cloth that falls or hangs.
#[test]
fn still_cloth_is_the_cheapest() {
    let work = |gravity: f64, pinned: bool| {
        level_cloths(gravity, pinned).map(|(name, mut cloth)| {
            let reports: Vec<_> = (0..60).map(|_| cloth.step(1.0 / 60.0, Inputs::NONE).unwrap()).collect();
            let iterations: u64 = reports.iter().map(|report| u64::from(report.iterations)).sum();
            (name, iterations, reports.iter().map(|report| report.budget_used).sum::<f64>())
        })
    };
    for pinned in [false, true] {
        for (still, moving) in work(0.0, pinned).into_iter().zip(work(9.81, pinned)) {
            assert!(still.1 <= moving.1 && still.2 <= moving.2, "{still:?}, with gravity {moving:?}");
        }
    }
}

/// A window has at most two passes on cloth that says of each step that it took all the work that it may, also when a
/// contact starts while others are iterated. Balls that land on it one after the other do not fall through and gain nothing.
#[test]
#[cfg(feature = "rigid")]
fn contacts_that_are_met_when_the_work_of_a_window_is_spent_are_bounded() {
    let most_passes = |budget_used: Option<f64>| {
        let mesh = Mesh::grid([9; 2], [0.4; 2]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
        let mesh = mesh.at([-0.2, 0.0, -0.2]).unwrap();
        let border: Vec<u32> = [Side::Left, Side::Right].iter().flat_map(|&side| mesh.edge(side).unwrap()).collect();
        let mut cloth = ImplicitCloth::new("cloth", mesh, Fabric::cotton()).unwrap();
        cloth.pin(&border).unwrap();
        let cloth = Hooked::new(cloth, move |_, report| {
            report.budget_used = budget_used.unwrap_or(report.budget_used);
            Ok(())
        });
        let mut rigid = RigidBodies::new("rigid");
        let balls = [-1.0, 0.0, 1.0].map(|k: f64| {
            let ball = Body::dynamic(Shape::ball(0.03)).mass(0.1).at([0.1 * k, 0.08 + 0.02 * (k + 1.0), 0.08 * k]);
            rigid.add(&format!("ball {k}"), ball).unwrap()
        });
        let mut scene = Scene::new(Rate::hz(120));
        scene.contact("cloth", "rigid");
        scene.add(rigid).add(cloth);
        let mut run = scene.build().unwrap();
        let energy =
            |state: HandleState| 0.5 * state.velocity.map(|v| v * v).iter().sum::<f64>() + 9.81 * state.position[1];
        let start = balls.map(|ball| energy(run.state(ball).unwrap()));
        let mut most = 0;
        for window in 0..60 {
            let report = run.advance().unwrap();
            most = most.max(report.passes);
            for (ball, start) in balls.iter().zip(start) {
                let now = energy(run.state(*ball).unwrap());
                assert!(now < 1.01 * start, "window {window}: {now} J/kg, at the start {start}");
                assert!(run.state(*ball).unwrap().position[1] > -0.1, "window {window}: fell through");
            }
        }
        most
    };
    let [most, spent] = [None, Some(1.0)].map(most_passes);
    assert!(most > 2 && spent == 2, "{most} passes, {spent} where the first takes all the work");
}

/// A pass of a thread that is attached to the body at its end takes as long with contact as without, but for a factor of ten against
/// noise: the thread does not collide with the body where it is attached. Where it did, a pass took 650 times as long.
#[test]
#[cfg(feature = "rigid")]
fn a_thread_does_not_collide_with_its_weight() {
    let seconds_a_pass = |contact: bool| {
        let mut rigid = RigidBodies::new("rigid");
        let bar = rigid.add("bar", Body::fixed(Shape::capsule_x(0.2, 0.01)).at([0.0, 1.0, 0.0])).unwrap();
        let weight = rigid.add("weight", Body::dynamic(Shape::ball(0.03)).mass(0.1).at([0.0, 0.5, 0.0])).unwrap();
        let thread = IbdsCloth::new("thread", Net::chain([0.0, 1.0, 0.0], [0.0, 0.5, 0.0], 20, 1e-3).unwrap()).unwrap();
        let mut scene = Scene::new(Rate::hz(120));
        scene.scheme(Relaxed::default());
        scene.attach(thread.particle(0), bar);
        scene.attach(thread.particle(20), weight);
        if contact {
            scene.contact("thread", "rigid");
        }
        scene.add(rigid).add(thread);
        let mut run = scene.build().unwrap();
        run.for_seconds(1.0).unwrap();
        let report = run.report();
        assert!(report.notes.is_empty(), "{:?}", report.notes);
        report.simulators[1].1 / report.passes as f64
    };
    let [without, with] = [false, true].map(seconds_a_pass);
    assert!(with < 10.0 * without, "{with} s a pass, without contact {without} s");
}
