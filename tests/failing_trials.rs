//! Trials of an iteration may fail: the change of the load is halved, and where that does not help the
//! window stops at the last load that was good, and says so.

mod common;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::SeqCst},
};

use common::{Hooked, following_mass};
use partita::{
    prelude::*,
    simulator::{
        Outcome,
        reference::{MassOnSpring, SpringParameters},
    },
};

const DT: f64 = 1.0 / 128.0;

/// Tied masses of 1 kg and `ratio` kg under F = 1 N on the leader, which fails under any load
/// above `limit` [N] (its bits, so that it can change).
fn brittle(ratio: f64, limit: &Arc<AtomicU64>, relaxed: Relaxed) -> (Run, HandleId) {
    let parameters = SpringParameters { gravity: [1.0, 0.0, 0.0], ..SpringParameters::default() };
    let (leader, follower) = (MassOnSpring::new("leader", parameters).unwrap(), following_mass("follower", ratio));
    let (handle, limit) = (leader.mass(), limit.clone());
    let leader = Hooked::new(leader, move |inputs, _| {
        let limit = f64::from_bits(limit.load(SeqCst));
        match inputs.loads.iter().find(|(_, load)| load.linear[0].abs() > limit) {
            Some((_, load)) => Err(SimulatorError::failed("leader", format!("{load:?}"), format!("at most {limit} N"))),
            None => Ok(()),
        }
    });
    let mut scene = Scene::new(Rate::seconds(DT));
    scene.scheme(relaxed).attach(follower.point(0), handle);
    scene.add(leader).add(follower);
    (scene.build().unwrap(), handle)
}

/// r = 100: the first move goes to 100 N, past the limit; halved thrice it is good, and the secant's
/// factor is exact from there.
#[test]
fn a_failing_trial_is_halved_and_the_window_converges() {
    let limit = Arc::new(AtomicU64::new(20f64.to_bits()));
    let (mut run, handle) = brittle(100.0, &limit, Relaxed::default());
    let mut v = 0.0;
    for _ in 0..4 {
        let report = run.advance().unwrap();
        assert_eq!(report.outcome, Outcome::Converged);
        let now = run.state(handle).unwrap().velocity[0];
        let a = (now - std::mem::replace(&mut v, now)) / DT;
        assert!((a - 1.0 / 101.0).abs() < 1e-6 / 101.0, "{a}");
    }
}

/// A cap that leaves only failing trials: the good pass is taken again, without the load.
#[test]
fn where_halving_does_not_help_the_last_good_load_stands() {
    let limit = Arc::new(AtomicU64::new(1e-3_f64.to_bits()));
    let (mut run, handle) = brittle(100.0, &limit, Relaxed::default().passes(3));
    let report = run.advance().unwrap();
    assert!(matches!(report.outcome, Outcome::StoppedAt { .. }) && report.passes == 4, "{report:?}");
    assert_eq!(run.state(handle).unwrap().velocity[0], DT);
    // What the follower took is booked as pending: nothing is lost.
    let ledger = run.ledgers().swap_remove(0);
    assert_eq!((ledger.used.linear[0], ledger.pending), (0.0, ledger.got));
}

/// A load carried over from the last window that is now too much is given up for this one.
#[test]
fn a_carried_load_that_fails_is_given_up() {
    let limit = Arc::new(AtomicU64::new(20f64.to_bits()));
    let (mut run, handle) = brittle(0.5, &limit, Relaxed::default());
    run.advance().unwrap();
    limit.store(0.1_f64.to_bits(), SeqCst);
    let report = run.advance().unwrap();
    assert!(matches!(report.outcome, Outcome::StoppedAt { .. }), "{report:?}");
    assert!(run.state(handle).unwrap().velocity[0].is_finite());
}
