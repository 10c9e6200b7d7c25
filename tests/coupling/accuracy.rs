//! Coupling error of two tied masses, compared with the exact solution under every scheme. Beyond a
//! threshold a run warns, and a strict run stops.

use crate::common::{following_mass, free_mass};
use partita::{Error, Mistake, Thresholds, Warning, WarningKind, prelude::*};

const DT: f64 = 1.0 / 128.0;

/// Force on the leader `[N]`, whose mass is 2 kg; the follower has `ratio` times that.
const FORCE: f64 = 3.0;
const MASS: f64 = 2.0;

fn tied(ratio: f64) -> (Scene, HandleId) {
    let (leader, follower) = (free_mass("leader", MASS), following_mass("follower", MASS * ratio));
    let mut scene = Scene::new(Rate::seconds(DT));
    let handle = leader.mass();
    scene.attach(follower.point(0), handle);
    scene.add(leader).add(follower);
    (scene, handle)
}

fn kinetic(run: &mut Run) -> f64 {
    ["leader", "follower"].map(|name| run.simulator_ledger(name).unwrap().unwrap().kinetic).iter().sum()
}

fn warnings(run: &Run, kind: WarningKind) -> Vec<Warning> {
    run.report().warnings.into_iter().filter(|warning| warning.kind == kind).collect()
}

/// Energy balance of both masses: the gain is the work of the force and of the coupling. It holds
/// to rounding for every mass ratio, scheme and window length.
#[test]
fn work_of_the_coupling_is_the_energy_that_nobody_gave() {
    let schemes = [Scheme::Interleaved, Relaxed::default().into(), Relaxed::default().passes(2).into()];
    for (ratio, scheme) in [0.3, 1.0, 1.7].into_iter().flat_map(|ratio| schemes.clone().map(|scheme| (ratio, scheme))) {
        let (mut scene, handle) = tied(ratio);
        scene.scheme(scheme);
        let mut run = scene.build().unwrap();
        for window in 0..30 {
            let dt = DT * [1.0, 0.7, 1.4][window % 3];
            run.set_rate(Rate::seconds(dt)).unwrap();
            run.push(handle, Wrench::force([FORCE, 0.0, 0.0])).unwrap();
            let (before, v) = (kinetic(&mut run), run.state(handle).unwrap().velocity[0]);
            let report = run.advance().unwrap();
            let (after, w) = (kinetic(&mut run), run.state(handle).unwrap().velocity[0]);
            let given = FORCE * dt * 0.5 * (v + w);
            let error = after - before - given - report.work;
            assert!(error.abs() <= 1e-11 * (after + before), "{ratio}, window {window}: {error} J of {}", report.work);
        }
    }
}

/// Acceleration a(n) = a (1 - (-r)^(n+1)) in window n, for the mass ratio r. The reaction is
/// m_a a(n), and the load is the reaction of the window before.
#[test]
fn lag_is_that_of_the_exact_solution() {
    for ratio in [0.1_f64, 0.5, 0.9, 1.0, 1.5] {
        let (scene, handle) = tied(ratio);
        let mut run = scene.build().unwrap();
        let reaction = |n: i32| if n < 0 { 0.0 } else { 1.0 - (-ratio).powi(n + 1) };
        for n in 0..12 {
            run.push(handle, Wrench::force([FORCE, 0.0, 0.0])).unwrap();
            let report = run.advance().unwrap();
            let [load, now] = [reaction(n - 1), reaction(n)];
            let expected = (load - now).abs() / load.abs().max(now.abs());
            assert!((report.lag - expected).abs() < 1e-9, "r = {ratio}, window {n}: {} for {expected}", report.lag);
        }
    }
}

/// Warnings of interleaved coupling. With equal masses the load alternates between full and zero.
/// Heavier followers gain energy. Lighter followers and iterated coupling cause no warning.
#[test]
fn what_interleaving_cannot_do_is_a_warning() {
    let run_of = |ratio: f64, scheme: Scheme| {
        let (mut scene, handle) = tied(ratio);
        scene.scheme(scheme);
        let mut run = scene.build().unwrap();
        for _ in 0..100 {
            run.push(handle, Wrench::force([FORCE, 0.0, 0.0])).unwrap();
            run.advance().unwrap();
        }
        run
    };
    for ratio in [0.01, 0.3, 0.6, 1.0, 1.1, 2.0, 5.0] {
        let run = run_of(ratio, Scheme::Interleaved);
        let (lag, work) = (warnings(&run, WarningKind::Lag), warnings(&run, WarningKind::Work));
        // With equal masses the work alternates in sign and decays relative to the kinetic energy.
        let [least, most] = [ratio > 1.0, ratio >= 1.0].map(usize::from);
        assert_eq!(lag.len(), most, "{ratio}: {lag:?}");
        assert!((least..=most).contains(&work.len()), "{ratio}: {work:?}");
        for warning in lag.iter().chain(&work).filter(|_| ratio > 1.0) {
            let windows = warning.windows;
            assert!(windows.last == 99 && windows.first < 40, "{ratio}: {warning}");
            assert!(windows.count > 60 && windows.count <= 100 - windows.first, "{ratio}: {warning}");
            assert!(warning.to_string().contains("follower on leader"), "{warning}");
            assert!(warning.advice().contains("Relaxed"), "{warning}");
        }
        let relaxed = run_of(ratio, Relaxed::default().into());
        assert!(relaxed.report().warnings.is_empty(), "{ratio}: {:?}", relaxed.report().warnings);
    }
    let short = run_of(5.0, Relaxed::default().passes(1).into());
    assert_eq!(warnings(&short, WarningKind::Unconverged).len(), 1, "{:?}", short.report().warnings);
}

/// A strict run refuses the window of a new warning, and keeps its state and loads. Earlier windows
/// are equal to those of a run that is not strict.
#[test]
fn a_strict_run_stops_before_the_window_that_warns() {
    let run_of = |strict: bool| {
        let (mut scene, handle) = tied(1.0);
        scene.strict(strict);
        (scene.build().unwrap(), handle)
    };
    let ((mut strict, handle), (mut other, same)) = (run_of(true), run_of(false));
    let error = loop {
        for (run, handle) in [(&mut strict, handle), (&mut other, same)] {
            run.push(handle, Wrench::force([FORCE, 0.0, 0.0])).unwrap();
        }
        match strict.advance() {
            Ok(report) => assert_eq!(report, other.advance().unwrap()),
            Err(error) => break error,
        }
    };
    let Error::Inaccurate { window, warning, .. } = &error else { panic!("{error}") };
    assert_eq!((*window, warning.windows.first), (strict.windows(), strict.windows()));
    assert_eq!(strict.state(handle), other.state(same));
    assert!(strict.report().warnings.is_empty());
    // The load stays in place, and the window ends as before.
    assert_eq!(strict.advance().unwrap_err(), error);
}

/// Thresholds change when a run warns, and infinite thresholds disable warnings. Thresholds that
/// are not positive are mistakes of the scene.
#[test]
fn thresholds_are_the_users() {
    let run_of = |thresholds: Thresholds| {
        let (mut scene, handle) = tied(0.9);
        scene.thresholds(thresholds);
        let mut run = scene.build()?;
        for _ in 0..100 {
            run.push(handle, Wrench::force([FORCE, 0.0, 0.0]))?;
            run.advance()?;
        }
        Ok::<_, Error>(run.report().warnings.len())
    };
    assert_eq!(run_of(Thresholds::default()).unwrap(), 0);
    assert_eq!(run_of(Thresholds::default().lag(0.1)).unwrap(), 1);
    assert_eq!(run_of(Thresholds::none()).unwrap(), 0);
    for (wrong, name) in [
        (Thresholds::default().lag(f64::NAN), "lag"),
        (Thresholds::default().work(-1.0), "work"),
        (Thresholds::default().gap(0.0), "gap"),
        (Thresholds::default().stopped(-f64::INFINITY), "stopped"),
    ] {
        let Err(Error::Scene(mistakes)) = run_of(wrong) else { panic!("{wrong:?} is accepted") };
        let names = |mistake: &Mistake| mistake.to_string().contains(&format!("thresholds, {name}"));
        assert!(mistakes.0.len() == 1 && names(&mistakes.0[0]), "{mistakes}");
    }
}

/// Rewinding a run reverts its warnings, and a saved run restores them.
#[test]
fn warnings_are_part_of_the_state() {
    let build = || {
        let (scene, handle) = tied(2.0);
        (scene.build().unwrap(), handle)
    };
    let (mut run, handle) = build();
    let advance = |run: &mut Run, handle: HandleId| {
        for _ in 0..60 {
            run.push(handle, Wrench::force([FORCE, 0.0, 0.0])).unwrap();
            run.advance().unwrap();
        }
    };
    advance(&mut run, handle);
    let told = run.report().warnings;
    assert!(!told.is_empty());
    let saved = run.save().unwrap();
    run.rewind_to(0).unwrap();
    assert!(run.report().warnings.is_empty());
    advance(&mut run, handle);
    assert_eq!(run.report().warnings, told);
    let (mut again, _) = build();
    again.restore(&saved).unwrap();
    assert_eq!(again.report().warnings, told);
}

/// Elastic balls of equal masses in two worlds interleave to five times their energy in a single impact: the warning comes in that
/// window, and a strict scene fails there.
#[test]
#[cfg(feature = "rigid")]
fn a_single_impact_that_adds_energy_is_warned_of() {
    for is_strict in [false, true] {
        let world = |name: &str, x: f64, speed: f64| {
            let mut world = RigidBodies::new(name).gravity([0.0; 3]);
            let ball = Body::dynamic(Shape::ball(0.1)).mass(1.0).at([x, 0.0, 0.0]).velocity([speed, 0.0, 0.0]);
            world.add("ball", ball.restitution(1.0)).unwrap();
            world
        };
        let mut scene = Scene::new(Rate::hz(240));
        scene.strict(is_strict).contact("b", "a").restitution(1.0).friction(0.0);
        scene.add(world("a", -0.5, 2.0)).add(world("b", 0.0, 0.0));
        let mut run = scene.build().unwrap();
        let advanced = run.for_seconds(0.5);
        let mut energy = |name: &str| run.simulator_ledger(name).unwrap().unwrap().kinetic;
        let energy = energy("a") + energy("b");
        let is_warned = run.warnings().iter().any(|warning| warning.kind == WarningKind::Work);
        match is_strict {
            true => assert!(matches!(advanced, Err(partita::Error::Inaccurate { .. })) && energy < 10.0, "{energy} J"),
            false => assert!(is_warned && energy > 4.0, "{energy} J"),
        }
    }
}
