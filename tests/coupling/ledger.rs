//! The ledger closes, and nothing is lost between simulators (rows C1, C2).

use nalgebra::Vector3;
use partita::{
    prelude::*,
    simulator::{
        Ledger,
        reference::{Chain, ChainParameters},
    },
};

/// Weightless: two crates, a chain that drags behind one of them, and particles that fly at both.
/// All masses move freely, so the simulators' own ledgers know all that acts from outside: nothing.
fn weightless(dt: f64) -> Scene {
    let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
    let cube = || Body::dynamic(Shape::cuboid([0.4; 3])).mass(3.0);
    let first = rigid.add("first", cube().velocity([0.2, 0.0, 0.0]).spin([0.3, 0.5, -0.2])).unwrap();
    rigid.add("second", cube().at([1.5, 0.2, 0.1]).velocity([-0.3, 0.1, 0.0])).unwrap();

    let links: Vec<_> = (0..6).map(|i| [-0.2 - 0.1 * f64::from(i), 0.0, 0.0]).collect();
    let chain = ChainParameters { mass: 0.02, stiffness: 40.0, damping: 0.02, gravity: [0.0; 3] };
    let chain = Chain::new("chain", &links, chain).unwrap();

    let mut dust = Particles::new("dust").mass(0.01).gravity([0.0; 3]);
    for i in 0..60 {
        let (a, b) = (f64::from(i) * 2.4, f64::from(i) * 0.05);
        let place = [2.0 * a.cos() * (0.5 + b), 2.0 * a.sin() * (0.5 + b), -0.4 + 0.8 * (a * 3.3).sin()];
        dust.add(place, place.map(|x| -0.4 * x)).unwrap();
    }

    let mut scene = Scene::new(Rate::seconds(dt));
    scene.attach(chain.point(0), first);
    scene.contact("dust", "rigid").restitution(0.5).friction(0.3);
    scene.add(rigid).add(chain).add(dust);
    scene
}

fn ledgers(run: &mut Run) -> [Ledger; 3] {
    ["rigid", "chain", "dust"].map(|name| run.simulator_ledger(name).unwrap().unwrap())
}

fn sum(of: impl Iterator<Item = [f64; 3]>) -> Vector3<f64> {
    of.map(Vector3::from).sum()
}

/// C1 for every window and pair, with impulses from the simulators' own momenta; C2 over 1e4 windows.
#[test]
fn momentum_is_constant_with_what_is_pending() {
    for scheme in [Scheme::Interleaved, Relaxed::default().passes(8).into()] {
        let mut scene = weightless(1.0 / 512.0);
        scene.scheme(scheme.clone());
        let mut run = scene.build().unwrap();
        let start = sum(ledgers(&mut run).iter().map(|ledger| ledger.momentum));
        let windows = if scheme == Scheme::Interleaved { 10_000 } else { 1_000 };
        let mut last = (ledgers(&mut run), run.ledgers());
        for window in 0..windows {
            run.advance().unwrap();
            let (now, booked) = (ledgers(&mut run), run.ledgers());
            let pending = sum(booked.iter().map(|ledger| ledger.pending.linear));
            let total = sum(now.iter().map(|ledger| ledger.momentum)) + pending;
            assert!((total - start).norm() < 1e-11 * start.norm(), "window {window}: {total:?} of {start:?}");

            // Each side by itself: the followers lost what they gave, the leader gained what was used.
            let change = |i: usize| Vector3::from(now[i].momentum) - Vector3::from(last.0[i].momentum);
            let booked_change = |part: fn(&partita::InterfaceLedger) -> [f64; 3], i: usize| {
                Vector3::from(part(&booked[i])) - Vector3::from(part(&last.1[i]))
            };
            for (i, ledger) in booked.iter().enumerate() {
                let follower = if ledger.follower == "chain" { 1 } else { 2 };
                let open = change(follower) + booked_change(|ledger| ledger.got.linear, i);
                // Rounding of momenta of the order of 1 N s.
                assert!(open.norm() < 1e-12, "window {window}, {}: {open:?}", ledger.follower);
                assert!(ledger.closure() < 1e-12, "window {window}: {}", ledger.closure());
            }
            let used: Vector3<f64> = (0..booked.len()).map(|i| booked_change(|ledger| ledger.used.linear, i)).sum();
            assert!((change(0) - used).norm() < 1e-12, "window {window}, rigid: {:?} of {used:?}", change(0));
            last = (now, booked);
        }
        let met = last.1.iter().all(|ledger| Vector3::from(ledger.got.linear).norm() > 1e-3);
        assert!(met, "chain and dust have acted on the crates");
    }
}

/// The angular momentum that late application costs halves with the window.
#[test]
fn the_lag_halves_with_the_window() {
    let lag = |dt: f64| {
        let mut run = weightless(dt).build().unwrap();
        run.for_seconds(1.0).unwrap();
        sum(run.ledgers().iter().filter(|ledger| ledger.follower == "chain").map(|ledger| ledger.lag)).norm()
    };
    let lags = [1.0 / 256.0, 1.0 / 512.0, 1.0 / 1024.0].map(lag);
    // The chain's rate √(k/m) = √(40 N/m / 0.02 kg).
    crate::common::assert_first_order(&lags, 1.0 / 256.0, 2000f64.sqrt());
}

/// The simulators' own angular momenta, with what is pending, miss the start by what late
/// application costs: of first order in the window.
#[test]
fn angular_momentum_is_kept_to_first_order() {
    let defect = |dt: f64| {
        let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
        let body = Body::dynamic(Shape::cuboid([0.4; 3])).mass(3.0).velocity([0.2, 0.5, 0.0]).spin([0.3, 0.5, -1.2]);
        let first = rigid.add("first", body).unwrap();
        let links: Vec<_> = (0..6).map(|i| [-0.2 - 0.1 * f64::from(i), 0.0, 0.0]).collect();
        let chain = ChainParameters { mass: 0.05, stiffness: 40.0, damping: 0.02, gravity: [0.0; 3] };
        let chain = Chain::new("chain", &links, chain).unwrap();
        let mut scene = Scene::new(Rate::seconds(dt));
        scene.attach(chain.point(0), first);
        scene.add(rigid).add(chain);
        let mut run = scene.build().unwrap();
        let total = |run: &mut Run| {
            let own = ["rigid", "chain"].map(|name| run.simulator_ledger(name).unwrap().unwrap().angular_momentum);
            let (x, pending) = (Vector3::from(run.state(first).unwrap().position), run.ledgers()[0].pending);
            sum(own.into_iter()) + x.cross(&Vector3::from(pending.linear)) + Vector3::from(pending.angular)
        };
        let start = total(&mut run);
        run.for_seconds(1.0).unwrap();
        (total(&mut run) - start).norm() / start.norm()
    };
    let defects = [1.0 / 256.0, 1.0 / 512.0, 1.0 / 1024.0].map(defect);
    // The chain's rate √(k/m) = √(40 N/m / 0.05 kg).
    crate::common::assert_first_order(&defects, 1.0 / 256.0, 800f64.sqrt());
}

/// The energy of the coupling is what appears beyond the work of the outer force: for tied masses,
/// exactly, Δ(kinetic) = Σ F dt·v̄ + W.
#[test]
fn the_energy_of_the_coupling_is_what_appears_from_nowhere() {
    let dt = 1.0 / 64.0;
    let (mut run, handle) = crate::common::tied_masses(2.0, 1.4, dt, Scheme::Interleaved);
    let (mut v, mut outer) = (0.0, 0.0);
    for window in 0..30 {
        run.advance().unwrap();
        let now = run.state(handle).unwrap().velocity[0];
        outer += 2.0 * dt * 0.5 * (v + now);
        v = now;
        let kinetic: f64 =
            ["leader", "follower"].iter().map(|name| run.simulator_ledger(name).unwrap().unwrap().kinetic).sum();
        let work = run.ledgers()[0].work;
        assert!((kinetic - outer - work).abs() < 1e-13, "window {window}: {kinetic} J, {outer} J, {work} J");
        assert!(window > 0 || (work - 0.5 * 1.4 * dt * dt).abs() < 1e-15, "first window: half m_a v², {work} J");
    }
}
