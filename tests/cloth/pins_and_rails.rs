//! Bodies that hit cloth beside a pin or at a rail, by the energy of everything; leaders that do not state their mobility.

use std::f64::consts::{FRAC_PI_2, TAU};

use crate::common::Hooked;
use crate::common::sample::Sample;
use partita::{prelude::*, simulator::Simulator};
use partita_mesh::{Mesh, Side};

const G: f64 = 9.81;

/// Cloth of each method, with pins.
fn cloths(mesh: &Mesh, pins: &[u32]) -> [(&'static str, Box<dyn Simulator>); 3] {
    let mut implicit = ImplicitCloth::new("cloth", mesh.clone(), Fabric::cotton()).unwrap();
    implicit.pin(pins).unwrap();
    let mut ibds = IbdsCloth::new("cloth", Net::sheet(mesh, 0.15).unwrap()).unwrap();
    ibds.pin(pins).unwrap();
    let mut avi = AviCloth::new("cloth", mesh.clone(), Fabric::jersey().undamped()).unwrap();
    avi.pin(pins).unwrap();
    [("implicit", Box::new(implicit)), ("ibds", Box::new(ibds)), ("avi", Box::new(avi))]
}

fn schemes() -> [Scheme; 2] {
    [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()]
}

/// Energy of bodies and cloth, less what reactions have yet to take `[J]`.
fn energy(run: &mut Run) -> f64 {
    let ledgers = ["rigid", "cloth"].map(|name| run.simulator_ledger(name).unwrap().unwrap());
    let in_transit: f64 = run.ledgers().iter().map(|ledger| ledger.in_transit).sum();
    ledgers.iter().map(|ledger| ledger.kinetic + ledger.potential).sum::<f64>() - in_transit
}

/// Runs for some seconds, in which the energy is never above the start by a hundredth of `moving` `[J]` at the end of two
/// windows in a row: a reaction that has not converged is paid in the next one.
fn gains_nothing(run: &mut Run, seconds: f64, moving: f64, what: &str) {
    let (start, mut last) = (energy(run), 0.0);
    while run.time() < seconds {
        run.advance().unwrap();
        let now = (energy(run) - start) / moving;
        assert!(now.min(last) < 0.01, "{what}: {now} of the energy at {} s, {:?}", run.time(), run.report().stopped);
        last = now;
    }
}

/// The README's towel in cloth of each method, attached to a bar, with a ball that comes at the rail with 8 m/s.
#[test]
fn a_ball_at_the_rail_of_a_towel_gains_nothing() {
    let mut sample = Sample::one_in(4);
    let mesh = Mesh::grid([20, 20], [0.6, 0.6]).unwrap().at([-0.3, 1.48, 0.0]).unwrap();
    let top = mesh.edge(Side::Top).unwrap();
    for rate in [60.0, 120.0, 240.0] {
        for scheme in schemes() {
            for (kind, towel) in cloths(&mesh, &[]) {
                if sample.leaves_out() {
                    continue;
                }
                let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
                let bar = rigid.add("bar", Body::fixed(Shape::capsule_x(0.7, 0.01)).at([0.0, 1.5, 0.0])).unwrap();
                let ball = Body::dynamic(Shape::ball(0.05)).mass(0.1);
                let ball = rigid.add("ball", ball.at([0.0, 1.47, 0.5]).velocity([0.0, 0.0, -8.0])).unwrap();
                let mut scene = Scene::new(Rate::hz(rate));
                let owner = towel.handles().owner();
                scene.scheme(scheme.clone());
                scene.attach(top.iter().map(|&index| HandleId { owner, index }).collect::<Vec<_>>(), bar);
                scene.contact("cloth", "rigid");
                scene.add(rigid).add_boxed(towel);
                let mut run = scene.build().unwrap();
                let what = format!("{kind}, {scheme:?}, {rate} Hz");
                gains_nothing(&mut run, 0.3, 0.5 * 0.1 * 64.0, &what);
                assert!(run.state(ball).unwrap().velocity.iter().all(|v| v.abs() < 8.0), "{what}");
            }
        }
    }
}

/// A level square of 0.4 m, pinned at the vertex in its middle.
fn pinned_in_the_middle() -> (Mesh, [u32; 1]) {
    let mesh = Mesh::grid([10; 2], [0.4; 2]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    (mesh.at([-0.2, 0.0, -0.2]).unwrap(), [60])
}

/// Balls, boxes and capsules of 50 g to 5 kg fall from 0.3 m on a sheet that falls too but for one pin, on that or up to 5 cm
/// beside it.
#[test]
fn what_falls_beside_a_pin_gains_nothing() {
    let mut sample = Sample::one_in(5);
    let (mesh, pin) = pinned_in_the_middle();
    let shapes = [
        ("ball", Shape::ball(0.05), 0.05),
        ("box", Shape::cuboid([0.08, 0.06, 0.1]), 0.03),
        ("capsule", Shape::capsule_x(0.1, 0.03), 0.03),
    ];
    let mut case = 0_u32;
    for (shape_name, shape, half) in shapes {
        for beside in [0.0, 1e-6, 1e-3, 0.02, 0.05] {
            for scheme in schemes() {
                for (kind, cloth) in cloths(&mesh, &pin) {
                    case += 1;
                    if sample.leaves_out() {
                        continue;
                    }
                    // Multiples of irrational parts of a turn spread evenly.
                    let part = |step: f64| (f64::from(case) * step).fract();
                    let (rate, mass) = ([60.0, 120.0, 240.0][case as usize % 3], 0.05 * 100_f64.powf(part(0.732)));
                    let (sin, cos) = (TAU * part(0.618)).sin_cos();
                    let mut rigid = RigidBodies::new("rigid");
                    let body = Body::dynamic(shape.clone()).mass(mass);
                    let body = body.at([beside * cos, 0.3 + half, beside * sin]).turned([0.0, 1.0, 0.0], part(0.414));
                    rigid.add("body", body).unwrap();
                    let mut scene = Scene::new(Rate::hz(rate));
                    scene.scheme(scheme.clone()).contact("cloth", "rigid");
                    scene.add(rigid).add_boxed(cloth);
                    let mut run = scene.build().unwrap();
                    let what = format!("{shape_name} of {mass} kg {beside} m beside, {kind}, {scheme:?}, {rate} Hz");
                    gains_nothing(&mut run, 0.5, mass * G * 0.3, &what);
                }
            }
        }
    }
}

/// Held cloth stops a ball of a leader that does not state its mobility as one that does: it is measured.
#[test]
fn leaders_that_do_not_state_their_mobility_are_stopped_too() {
    let mesh = Mesh::grid([8; 2], [0.4; 2]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    let mesh = mesh.at([-0.2, 0.0, -0.2]).unwrap();
    let all: Vec<u32> = (0..81).collect();
    for number in 0..3 {
        for scheme in schemes() {
            for (mass, rate) in [(0.05, 60.0), (0.5, 240.0), (50.0, 120.0)] {
                let end = |is_stated: bool| {
                    let (kind, cloth) = cloths(&mesh, &all).into_iter().nth(number).unwrap();
                    let mut rigid = RigidBodies::new("rigid");
                    let ball = Body::dynamic(Shape::ball(0.05)).mass(mass).at([0.013, 0.14, 0.007]);
                    let ball = rigid.add("ball", ball.velocity([0.0, -2.0, 0.0])).unwrap();
                    let mut leader = Hooked::new(rigid, |_, _| Ok(()));
                    leader.states_mobility = is_stated;
                    let mut scene = Scene::new(Rate::hz(rate));
                    scene.scheme(scheme.clone()).contact("cloth", "rigid");
                    scene.add(leader).add_boxed(cloth);
                    let mut run = scene.build().unwrap();
                    run.for_seconds(0.4).unwrap();
                    assert!(run.report().notes.is_empty(), "{:?}", run.report().notes);
                    (kind, run.state(ball).unwrap().position)
                };
                let [(kind, stated), (_, measured)] = [true, false].map(end);
                let what = format!("{kind}, {scheme:?}, {mass} kg, {rate} Hz: {measured:?}, stated {stated:?}");
                // Half the thickness of 1 mm above the sheet; measured to a thousandth of a step of velocity.
                assert!((measured[1] - 0.0505).abs() < 2e-4, "{what}");
                assert!((0..3).all(|k| (measured[k] - stated[k]).abs() < 1e-4), "{what}");
            }
        }
    }
}

/// A leader that fails under any impulse has no mobility that could be measured, and the report names it.
#[test]
fn a_leader_that_cannot_be_measured_is_named() {
    let (mesh, pin) = pinned_in_the_middle();
    for (_, cloth) in cloths(&mesh, &pin) {
        let mut rigid = RigidBodies::new("rigid");
        rigid.add("ball", Body::dynamic(Shape::ball(0.05)).at([0.0, 0.3, 0.0])).unwrap();
        let mut leader = Hooked::new(rigid, |inputs, _| match inputs.impulses.is_empty() {
            true => Ok(()),
            false => Err(SimulatorError::failed("impulse", "any", "none")),
        });
        leader.states_mobility = false;
        let mut scene = Scene::new(Rate::hz(120.0));
        scene.contact("cloth", "rigid");
        scene.add(leader).add_boxed(cloth);
        let mut run = scene.build().unwrap();
        run.advance().unwrap();
        let notes = run.report().notes;
        assert!(notes[0].to_string().starts_with("rigid: its mobility cannot be measured"), "{notes:?}");
    }
}
