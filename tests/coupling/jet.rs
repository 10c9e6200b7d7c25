//! A jet of particles on a crate (row C3): forces that follow from momentum alone.

use partita::{InterfaceLedger, prelude::*};

/// 2 kg/s at 5 m/s along x, from a disc small enough to hit the face.
const FLOW: f64 = 2.0;
const SPEED: f64 = 5.0;

fn jet(height: f64) -> Particles {
    let emitter = Emitter::disc([-3.0, height, 0.0], 0.05).direction([1.0, 0.0, 0.0]).speed(SPEED).rate(2000.0).seed(3);
    Particles::new("jet").mass(FLOW / 2000.0).gravity([0.0; 3]).emit(emitter)
}

/// The jet on one body, and the ledger after each window of 1/240 s.
fn run(body: Body, height: f64, restitution: f64, seconds: f64) -> (Run, HandleId, Vec<InterfaceLedger>) {
    let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
    let crate_ = rigid.add("crate", body).unwrap();
    let mut scene = Scene::new(Rate::hz(240));
    scene.contact("jet", "rigid").restitution(restitution).friction(0.0);
    scene.add(rigid).add(jet(height));
    let mut run = scene.build().unwrap();
    let mut ledgers = Vec::new();
    run.each_window(seconds, |run| -> partita::Result<()> {
        ledgers.push(run.ledgers().swap_remove(0));
        Ok(())
    })
    .unwrap();
    ledgers.push(run.ledgers().swap_remove(0));
    (run, crate_, ledgers)
}

fn cube() -> Shape {
    Shape::cuboid([0.5; 3])
}

/// Mean force [N] and torque about the crate [N m] between two times `[s]`.
fn mean(ledgers: &[InterfaceLedger], from: f64, to: f64) -> Wrench {
    let at = |t: f64| ledgers[(t * 240.0_f64).round() as usize].got;
    (at(to) - at(from)).scaled(1.0 / (to - from))
}

/// F = ṁ v where the particles stop, 2 ṁ v where they return. 1 % as in the row: what is counted in
/// a second is 2000 particles more or less one window's eight.
#[test]
fn a_held_crate_feels_the_momentum_of_the_jet() {
    for (restitution, force) in [(0.0, 10.0), (1.0, 20.0), (0.5, 15.0)] {
        let (_, _, ledgers) = run(Body::fixed(cube()), 0.0, restitution, 2.0);
        let mean = mean(&ledgers, 1.0, 2.0);
        assert!((mean.linear[0] - force).abs() < 0.01 * force, "e = {restitution}: {mean:?}");
        assert!(mean.linear[1].abs() + mean.linear[2].abs() < 1e-9, "{mean:?}");
    }
}

/// Torque (p − c) × f, with p on the face where the jet's middle hits it (\[PD97\] §4.2).
#[test]
fn an_eccentric_jet_turns_the_crate() {
    let (_, _, ledgers) = run(Body::fixed(cube()), 0.15, 0.0, 2.0);
    let torque = mean(&ledgers, 1.0, 2.0).angular;
    assert!((torque[2] - -0.15 * 10.0).abs() < 0.01 * 1.5, "{torque:?}");
    // The disc's own points scatter by 0.05 m around its middle: mean of 2000, three sigma.
    assert!(torque[1].abs() < 3.0 * 0.025 / 2000f64.sqrt() * 10.0, "{torque:?}");
}

/// A crate that moves away at u meets (v − u)/v of the flow, each at v − u: F = ṁ (v − u)²/v.
#[test]
fn a_receding_crate_feels_less() {
    for u in [-1.0, 1.0, 2.0] {
        let body = Body::kinematic(cube(), move |t| Pose::at([u * t, 0.0, 0.0])).script_name(&format!("recede at {u}"));
        let (_, _, ledgers) = run(body, 0.0, 0.0, 1.5);
        let (force, expected) = (mean(&ledgers, 1.0, 1.5).linear[0], FLOW * (SPEED - u).powi(2) / SPEED);
        assert!((force - expected).abs() < 0.01 * expected, "u = {u}: {force} N of {expected} N");
    }
}

/// A free crate of 10 kg under an elastic jet: with w = v − u, 10 ẇ = −2 ṁ w²/v, so
/// 1/w = 1/v + 2 ṁ t/(10 v); t from when the jet arrives. Recoiling drops meet nobody.
#[test]
fn a_free_crate_runs_away_from_an_elastic_jet() {
    let (mut run, crate_, _) = run(Body::dynamic(cube()).mass(10.0), 0.0, 1.0, 1.55);
    let u = run.state(crate_).unwrap().velocity[0];
    let arrival = 2.75 / SPEED;
    let w = 1.0 / (1.0 / SPEED + 2.0 * FLOW * (run.time() - arrival) / (10.0 * SPEED));
    assert!((u - (SPEED - w)).abs() < 0.01 * u, "{u} m/s of {}", SPEED - w);
}
