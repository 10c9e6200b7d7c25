//! The same bits for any number of threads, after retracting, and under attachments.

use std::sync::Arc;

use crate::common::*;
use nalgebra::Vector3;
use partita_particles::{Emitter, Integration, Particles};
use partita_simulator::{Carrier, Guide, HandleState, Inputs, Motion, Simulator, StepReport, Surface};

/// Rain on a box that moves and turns and on a sheet that waves; more particles than one thread's share.
fn storm() -> Particles {
    let emitter = Emitter::cuboid([0.0, 1.0, 0.0], [2.0, 0.6, 2.0]).rate(20_000.0).speed(6.0).spread(0.3).seed(4);
    let mut storm = Particles::new("storm").drag(0.0002).emit(emitter.lifetime(1.0));
    for i in 0..6000u32 {
        storm
            .add(
                [0.02 * f64::from(i % 77) - 0.7, 0.5 + 1e-4 * f64::from(i), 0.02 * f64::from(i / 77) - 0.7],
                [0.0, -3.0, 0.0],
            )
            .unwrap();
    }
    storm.follow(vec![obstacle(cuboid([1.0, 0.4, 1.0], false), 0.4, 0.3), obstacle(waving_sheet(), 0.2, 0.5)]).unwrap();
    storm
}

fn waving_sheet() -> Surface {
    let mut sheet = Surface { two_sided: true, ..sheet(1.2, 12) };
    sheet.carrier = Carrier::Points((0..sheet.vertices.len() as u32).map(carrier).collect());
    sheet
}

fn wave(t: f64) -> Arc<[HandleState]> {
    let at = |&[x, _, z]: &[f64; 3]| HandleState::point([x, -0.3 + 0.1 * (4.0 * x + 9.0 * t).sin(), z], [0.0; 3]);
    waving_sheet().vertices.iter().map(at).collect()
}

fn inputs(i: u32, dt: f64) -> Inputs {
    let at = |t: f64| frame([0.0, 0.2 * (5.0 * t).sin(), 0.0], [0.0; 3], [0.3 * t, 2.0 * t, 0.0], [0.0; 3]);
    let (t, end) = (f64::from(i) * dt, f64::from(i + 1) * dt);
    with(vec![motion(at(t), at(end)), Some(Motion { begin: wave(t), end: wave(end) })])
}

const DT: f64 = 1.0 / 120.0;

fn run(storm: &mut Particles, from: u32, to: u32) -> Vec<StepReport> {
    (from..to).map(|i| storm.step(DT, &inputs(i, DT)).unwrap()).collect()
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut storm = storm();
            let reports = run(&mut storm, 0, 30);
            (storm.snapshot(None).to_bytes(), reports)
        })
    };
    let one = on(1);
    assert!(one.1.iter().map(|report| report.reactions.len()).sum::<usize>() > 1000, "too little contact to tell");
    for threads in [2, 3, 7, 16] {
        assert!(on(threads) == one, "{threads} threads");
    }
}

/// Retracting in the middle of it all, or stepping through another simulator's snapshot: the cache (memory, tree)
/// that the way there left makes no difference.
#[test]
fn the_way_to_a_state_leaves_no_trace() {
    let mut straight = storm();
    run(&mut straight, 0, 20);
    let mark = straight.snapshot(None);
    let reports = run(&mut straight, 20, 30);
    let end = straight.snapshot(None).to_bytes();

    straight.retract(&mark).unwrap();
    assert!(run(&mut straight, 20, 30) == reports && straight.snapshot(None).to_bytes() == end);

    let mut fresh = storm();
    let mark = fresh.snapshot_from_bytes(&mark.to_bytes()).unwrap();
    fresh.retract(&mark).unwrap();
    assert!(run(&mut fresh, 20, 30) == reports && fresh.snapshot(None).to_bytes() == end);
}

/// Momentum among contacts, births and deaths: Δp = external − reactions, also for the angular one about the
/// origin where reactions are on a Frame.
#[test]
fn momentum_is_accounted_for_in_a_storm() {
    let mut storm = storm();
    for i in 0..30 {
        let before = storm.ledger().unwrap();
        let motions = inputs(i, DT);
        let report = storm.step(DT, &motions).unwrap();
        let after = storm.ledger().unwrap();
        let [p0, p1] = [before, after].map(|l| Vector3::from(l.momentum));
        let [e0, e1] = [before, after].map(|l| Vector3::from(l.external.unwrap().linear));
        assert!((p1 - p0 - (e1 - e0) + reaction(&report)).norm() < 1e-11);
    }
}

/// In a field-free box the angular momentum that the particles lose about the origin is what the box gets.
#[test]
fn a_torque_is_what_the_particles_lose() {
    let mut gas = Particles::new("gas").gravity([0.0; 3]);
    gas.follow(vec![obstacle(cuboid([1.0, 0.8, 1.2], true), 0.3, 0.9)]).unwrap();
    let mut chance = Chance(3);
    for _ in 0..200 {
        gas.add(chance.vector(0.39), chance.vector(10.0)).unwrap();
    }
    let momenta = |gas: &Particles| {
        let ledger = gas.ledger().unwrap();
        (Vector3::from(ledger.momentum), Vector3::from(ledger.angular_momentum), ledger.external.unwrap())
    };
    let (p0, l0, _) = momenta(&gas);
    let (mut impulse, mut torque) = (Vector3::zeros(), Vector3::zeros());
    for _ in 0..50 {
        // The Frame does not move, so its torques are about the origin.
        let report = step_still(&mut gas, 1, 0.01);
        impulse += reaction(&report);
        torque += report.reactions.iter().map(|r| Vector3::from(r.impulse.angular)).sum::<Vector3<f64>>();
    }
    let (p1, l1, external) = momenta(&gas);
    assert!(impulse.norm() > 0.01 && (p1 - p0 + impulse).norm() < 1e-12);
    assert!((l1 - l0 + torque).norm() < 1e-12);
    assert!(Vector3::from(external.linear).norm() < 1e-12 && Vector3::from(external.angular).norm() < 1e-12);
}

/// Attached particles end with their carriers, exactly, under either integration; the reaction is what that took.
#[test]
fn attached_particles_end_with_their_carriers() {
    for integration in [Integration::Parabola, Integration::SymplecticEuler] {
        let mut pair = Particles::new("p").mass(0.25).integration(integration);
        let held = pair.add([1.0, 2.0, 3.0], [0.0; 3]).unwrap();
        pair.add([0.0; 3], [0.0; 3]).unwrap();
        pair.follow(vec![obstacle(sheet(1.0, 1), 0.0, 0.0), Guide::Attachment { own: held }]).unwrap();
        let end = HandleState::point([1.1, 1.9, 3.3], [2.0, 0.0, -1.0]);
        let report = pair.step(0.1, &with(vec![None, motion(HandleState::default(), end)])).unwrap();
        let mut out = [end; 2];
        pair.read(&[held, pair.particle(1)], &mut out).unwrap();
        assert_eq!(out[0], end);
        assert_eq!((report.reactions.len(), report.reactions[0].guide), (1, 1));
        // m (v_end − v_free), v_free = g dt
        let took: Vector3<f64> = 0.25 * (Vector3::new(2.0, 0.0, -1.0) - Vector3::new(0.0, -0.981, 0.0));
        assert!((reaction(&report) + took).norm() < 1e-15);
        // Let go, it flies on.
        pair.step(0.1, &Inputs::default()).unwrap();
        assert!(pair.velocities()[0].y < -0.9);
    }
}
