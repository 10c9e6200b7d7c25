//! Two tied masses, the exact solution of which is a = F/(m_a + m_b): rows C6 and C7.

use crate::common::tied_masses;
use partita::{prelude::*, simulator::Outcome};

const DT: f64 = 1.0 / 128.0;

/// The leader's acceleration in each window `[m/s²]`.
fn accelerations(run: &mut Run, handle: HandleId, windows: usize) -> Vec<f64> {
    let mut v = run.state(handle).unwrap().velocity[0];
    let mut accelerate = || {
        run.advance().unwrap();
        let before = std::mem::replace(&mut v, run.state(handle).unwrap().velocity[0]);
        (v - before) / DT
    };
    (0..windows).map(|_| accelerate()).collect()
}

/// a(n+1) = F/m_b − r a(n): the relative error after window n is r^(n+1), alternating in sign.
#[test]
fn interleaving_leaves_the_error_that_the_mass_ratio_predicts() {
    for ratio in [0.1, 0.3, 0.5, 0.9, 1.0, 1.5] {
        let (mut run, handle) = tied_masses(2.0, 2.0 * ratio, DT, Scheme::Interleaved);
        let exact = 1.0 / (1.0 + ratio);
        for (n, a) in accelerations(&mut run, handle, 12).into_iter().enumerate() {
            let (error, expected) = ((a - exact) / exact, -(-ratio).powi(n as i32 + 1));
            // 1 % as in the row; the floor is rounding of velocities of the order of 0.1 m/s over DT.
            assert!(
                (error - expected).abs() < 0.01 * expected.abs() + 1e-12,
                "r = {ratio}, window {n}: {error} against {expected}"
            );
        }
    }
}

/// The secant is exact for one scalar unknown, so the third pass confirms the solution.
#[test]
fn relaxation_solves_any_mass_ratio_in_five_passes() {
    for ratio in [1e-4, 1e-2, 0.5, 1.0, 2.0, 1e2, 1e4] {
        let (mut run, handle) = tied_masses(2.0, 2.0 * ratio, DT, Relaxed::default());
        let exact = 1.0 / (1.0 + ratio);
        let mut v = 0.0;
        for window in 0..6 {
            let report = run.advance().unwrap();
            let now = run.state(handle).unwrap().velocity[0];
            let a = (now - std::mem::replace(&mut v, now)) / DT;
            assert_eq!(report.outcome, Outcome::Converged, "r = {ratio}");
            assert!(report.passes <= 5, "r = {ratio}: {} passes", report.passes);
            assert!((a - exact).abs() < 1e-6 * exact, "r = {ratio}, window {window}: {a} against {exact}");
        }
    }
}

/// A cap that is too low is reported as such, with the error that is left.
#[test]
fn an_iteration_that_stops_short_says_so() {
    let (mut run, _) = tied_masses(1.0, 10.0, DT, Relaxed::default().passes(2));
    let report = run.advance().unwrap();
    let Outcome::StoppedAt { error, bound, .. } = report.outcome else { panic!("{:?}", report.outcome) };
    assert!(error > 0.1 && bound == 1e-6, "{error} {bound}");
    // The first trial was the better one, and is taken again.
    assert_eq!((report.passes, run.report().unconverged), (3, 1));
}

/// The follower's end is the leader's end in every window of either scheme: the geometry is right
/// even where the force is not (\[PD97\] §2.5).
#[test]
fn the_tie_never_opens() {
    for (ratio, scheme) in [(0.5, Scheme::Interleaved), (3.0, Relaxed::default().into())] {
        let (mut run, _) = tied_masses(1.0, ratio, DT, scheme);
        for _ in 0..20 {
            assert_eq!(run.advance().unwrap().gap, 0.0);
        }
    }
}

/// Windows of changing length: what a window uses differs from what the last one got, the
/// difference stays pending, and nothing is lost. Impulses from the simulators' own momenta.
#[test]
fn momentum_is_kept_when_the_window_changes() {
    for scheme in [Scheme::Interleaved, Relaxed::default().passes(3).into()] {
        let (mut run, _) = tied_masses(2.0, 1.0, DT, scheme);
        for window in 0..60 {
            run.set_rate(Rate::seconds(DT * [1.0, 0.8, 1.3, 1.1][window % 4])).unwrap();
            run.advance().unwrap();
            let (leader, follower) =
                (run.simulator_ledger("leader").unwrap().unwrap(), run.simulator_ledger("follower").unwrap().unwrap());
            let given = leader.external.unwrap().linear[0];
            let pending = run.ledgers()[0].pending.linear[0];
            let total = leader.momentum[0] + follower.momentum[0] + pending;
            assert!((total - given).abs() < 1e-13, "window {window}: {total} of {given} N s");
        }
    }
}

/// A follower that keeps its attachment only nearly (rapier, within 1e-4 m): the gap is a bound of
/// its own, and a window that cannot meet it says so in metres.
#[test]
fn a_gap_that_stays_open_is_said() {
    for (gap, closes) in [(1e-4, true), (1e-15, false)] {
        let leader = crate::common::free_mass("leader", 10.0).started_at([0.1, 0.1, 0.0], [0.5, 0.0, 0.0]).unwrap();
        let mut rigid = RigidBodies::new("rigid");
        let body =
            rigid.add("box", Body::dynamic(Shape::cuboid([0.2; 3])).mass(1.0).velocity([0.5, 0.0, 0.0])).unwrap();
        let corner = rigid.point(body, [0.1, 0.1, 0.0]).unwrap();
        let mut scene = Scene::new(Rate::seconds(DT));
        scene.scheme(Relaxed::default().tolerance(1e-3).gap(gap)).attach(corner, leader.mass());
        scene.add(leader).add(rigid);
        let mut run = scene.build().unwrap();
        for _ in 0..10 {
            let report = run.advance().unwrap();
            match report.outcome {
                Outcome::Converged => assert!(closes && report.gap <= gap, "{report:?}"),
                Outcome::StoppedAt { error, bound, unit } => {
                    assert!(!closes && unit == "m" && error == report.gap && bound == gap, "{error} {bound} {unit}");
                }
            }
        }
    }
}

/// The factor of one window serves the next: with another load it is right at once, and the second pass confirms. So it
/// is after going back, which brings it back as well.
#[test]
fn the_relaxation_factor_is_kept_from_window_to_window() {
    let (mut run, handle) = tied_masses(2.0, 3.0, DT, Relaxed::default());
    assert_eq!(run.advance().unwrap().passes, 3);
    for force in [5.0, -2.0, 40.0] {
        run.push(handle, Wrench::force([force, 0.0, 0.0])).unwrap();
        assert_eq!(run.advance().unwrap().passes, 2, "{force} N");
    }
    run.rewind_to(1).unwrap();
    run.push(handle, Wrench::force([7.0, 0.0, 0.0])).unwrap();
    assert_eq!(run.advance().unwrap().passes, 2);
    run.rewind_to(0).unwrap();
    assert_eq!(run.advance().unwrap().passes, 3);
}
