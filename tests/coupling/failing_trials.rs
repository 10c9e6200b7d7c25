//! Trials of an iteration may fail: the change of the load is halved, and where that does not help the
//! window stops at the last load that was good, and says so. Some that do not fail are no solutions.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering::SeqCst},
};

use crate::common::{Hooked, following_mass};
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

/// A follower whose reactions change from pass to pass never converges. No further load is tried
/// where less than half a pass is left of the work of one step, and the window says so. Reactions
/// alternate in sign, so an even number of trials is followed by a pass with the better one. The
/// work of an uncoupled simulator does not count.
#[test]
fn the_passes_of_a_window_use_the_work_of_a_step() {
    for (budget_used, budget, passes) in
        [(0.0, 1.0, 25), (0.3, 1.0, 3), (0.34, 1.0, 3), (0.6, 1.0, 3), (0.8, 1.0, 1), (0.3, 2.0, 7)]
    {
        let parameters = SpringParameters { gravity: [1.0, 0.0, 0.0], ..SpringParameters::default() };
        let (leader, follower) = (MassOnSpring::new("leader", parameters).unwrap(), following_mass("follower", 1.0));
        let (handle, point, steps) = (leader.mass(), follower.point(0), AtomicU32::new(0));
        let follower = Hooked::new(follower, move |_, report| {
            let sign = if steps.fetch_add(1, SeqCst).is_multiple_of(2) { 1.0 } else { -1.0 };
            report.reactions.iter_mut().for_each(|reaction| reaction.impulse.linear[1] += 1e-3 * sign);
            report.budget_used = budget_used;
            Ok(())
        });
        let alone = MassOnSpring::new("alone", SpringParameters::default()).unwrap();
        let alone = Hooked::new(alone, |_, report| {
            report.budget_used = 1.0;
            Ok(())
        });
        let mut scene = Scene::new(Rate::seconds(DT));
        scene.scheme(Relaxed::default().budget(budget)).attach(point, handle);
        scene.add(leader).add(follower).add(alone);
        let report = scene.build().unwrap().advance().unwrap();
        assert!(matches!(report.outcome, Outcome::StoppedAt { .. }), "{report:?}");
        assert_eq!(report.passes, passes, "{budget_used} of {budget}: {report:?}");
    }
}

/// A follower that turns a ball by the same torque in each of its steps: the load that it reports is one that it gets. It takes
/// more steps where the ball turns farther, so that a torque that spins it by several turns is no solution.
#[test]
#[cfg(all(feature = "rigid", feature = "implicit-cloth"))]
fn a_load_that_grows_with_the_turn_is_no_solution() {
    use partita::simulator::{Reaction, Wrench};

    const INERTIA: f64 = 0.4 * 0.05 * 0.05;
    // 1000 rad/s are 7.8 rad a window, which the follower takes in 16 steps of at most half a radian.
    for (spin, change, steps, unit) in [
        (0.0, 1.0, 1.0, None),
        (0.0, 100.0, 1.0, None),
        (0.0, 10_000.0, 0.0, Some("of the coupled loads")),
        (1000.0, -1.0, 16.0, None),
    ] {
        let mesh = partita_mesh::Mesh::grid([1; 2], [0.1; 2]).unwrap().at([1.0, 0.0, 0.0]).unwrap();
        let cloth = ImplicitCloth::new("cloth", mesh, Fabric::cotton()).unwrap().gravity([0.0; 3]);
        let cloth = Hooked::new(cloth, move |_, report| {
            let impulse = Wrench { linear: [0.0; 3], angular: [0.0, 0.0, INERTIA * change] };
            report.reactions.push(Reaction { guide: 0, carrier: 0, impulse });
            Ok(())
        });
        let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
        let ball = Body::dynamic(Shape::ball(0.05)).mass(1.0).spin([0.0, 0.0, spin]);
        let ball = rigid.add("ball", ball).unwrap();
        let mut scene = Scene::new(Rate::seconds(DT));
        scene.scheme(Relaxed::default().halvings(0)).contact("cloth", "rigid");
        scene.add(rigid).add(cloth);
        let mut run = scene.build().unwrap();
        let outcome = run.advance().unwrap().outcome;
        let stopped = match &outcome {
            Outcome::StoppedAt { unit, .. } => Some(unit.as_str()),
            Outcome::Converged => None,
        };
        assert_eq!(stopped, unit, "{change} rad/s: {outcome:?}");
        let expected = spin + steps * change;
        let found = run.state(ball).unwrap().spin[2];
        assert!((found - expected).abs() < 0.01 * change.abs(), "{change} rad/s: {found} for {expected}");
    }
}

/// A follower whose reactions drive a ball by another impulse in each pass never converges. It has no energy that it could give,
/// nor do its supports, so the ball gets none.
#[test]
#[cfg(all(feature = "rigid", feature = "implicit-cloth"))]
fn a_follower_gives_no_more_energy_than_it_has() {
    use partita::simulator::{Reaction, Wrench};

    for mass in [0.01, 1.0, 100.0] {
        let mesh = partita_mesh::Mesh::grid([1; 2], [0.1; 2]).unwrap().at([1.0, 0.0, 0.0]).unwrap();
        let mut cloth = ImplicitCloth::new("cloth", mesh, Fabric::cotton()).unwrap().gravity([0.0; 3]);
        cloth.pin(&[0, 1]).unwrap();
        let steps = AtomicU32::new(0);
        let cloth = Hooked::new(cloth, move |_, report| {
            let times = 1 + steps.fetch_add(1, SeqCst) % 3;
            let impulse = Wrench::force([0.1 * mass * f64::from(times), 0.0, 0.0]);
            report.reactions.push(Reaction { guide: 0, carrier: 0, impulse });
            Ok(())
        });
        let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
        let ball = Body::dynamic(Shape::ball(0.05)).mass(mass).velocity([1.0, 0.0, 0.0]);
        let ball = rigid.add("ball", ball).unwrap();
        let mut scene = Scene::new(Rate::seconds(DT));
        scene.scheme(Relaxed::default()).contact("cloth", "rigid");
        scene.add(rigid).add(cloth);
        let mut run = scene.build().unwrap();
        for _ in 0..10 {
            run.advance().unwrap();
        }
        let speed = run.state(ball).unwrap().velocity[0];
        assert!(speed < 1.01, "{mass} kg: {speed} m/s");
    }
}
