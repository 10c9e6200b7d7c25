//! Rewind, undo, branches and recovery from a failure are one mechanism, and exact.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::SeqCst},
};

use crate::common::{Hooked, hanging_chain, hash};
use partita::{Error, Rewind, prelude::*, simulator::reference::MassOnSpring};

const NAMES: [&str; 2] = ["support", "chain"];

/// Marks at every window, at a few, and only at the first: the results must not depend on it.
const SETTINGS: [Rewind; 3] =
    [Rewind { share: 1.0, marks: 1000 }, Rewind { share: 1.0, marks: 4 }, Rewind { share: 0.0, marks: 2 }];

fn schemes() -> [Scheme; 2] {
    [Scheme::Interleaved, Relaxed::default().into()]
}

fn run(rewind: Rewind, scheme: Scheme, threads: bool) -> (Run, HandleId) {
    let (mut scene, handle) = hanging_chain(5, 256.0);
    scene.rewind(rewind).scheme(scheme).threads(threads);
    (scene.build().unwrap(), handle)
}

/// Window `k` of a run with loads pushed now and then, and windows of two lengths.
fn window(run: &mut Run, handle: HandleId, k: u64) {
    run.set_rate(Rate::hz(if k % 10 < 7 { 256.0 } else { 512.0 })).unwrap();
    if k % 5 == 2 {
        run.push(handle, Wrench::force([0.3 * k as f64, 1.0, -0.5])).unwrap();
    }
    run.advance().unwrap();
}

#[test]
fn going_back_and_on_gives_the_bits_of_a_run_that_never_left() {
    for scheme in schemes() {
        for rewind in SETTINGS {
            let (mut run, handle) = run(rewind, scheme.clone(), false);
            let mut hashes = vec![hash(&mut run, &NAMES)];
            for k in 0..60 {
                window(&mut run, handle, k);
                hashes.push(hash(&mut run, &NAMES));
            }
            for (from, to) in [(60, 59), (59, 33), (50, 0), (45, 44), (60, 10)] {
                for k in run.windows()..from {
                    window(&mut run, handle, k);
                }
                run.rewind_to(to).unwrap();
                for k in to..60 {
                    assert_eq!(
                        hash(&mut run, &NAMES),
                        hashes[k as usize],
                        "window {k} after {from} -> {to}, {rewind:?}, {scheme:?}"
                    );
                    window(&mut run, handle, k);
                }
            }
        }
    }
}

#[test]
fn seconds_and_undo_end_at_the_window_they_name() {
    let (mut run, handle) = run(Rewind::default(), Scheme::Interleaved, false);
    (0..40).for_each(|k| window(&mut run, handle, k));
    // Windows 37, 38 and 39 last 1/512 s each, those before 1/256 s: 0.01 s are 3 and 1.06 windows.
    run.rewind(0.01).unwrap();
    assert_eq!(run.windows(), 36);
    run.undo().unwrap();
    assert_eq!(run.windows(), 35);
    run.rewind(1e9).unwrap();
    assert_eq!((run.windows(), run.time()), (0, 0.0));
    assert!(run.undo().is_err());
    assert!(run.rewind_to(1).is_err());
    assert!(run.rewind(f64::NAN).is_err());
}

/// Whole windows, rounded up, but not for a last bit.
#[test]
fn seconds_are_rounded_up_to_windows() {
    let (mut run, _) = run(Rewind::default(), Scheme::Interleaved, false);
    run.set_rate(Rate::seconds(0.1)).unwrap();
    let mut windows = |seconds| {
        let before = run.windows();
        run.for_seconds(seconds).unwrap();
        run.windows() - before
    };
    assert_eq!([0.0, 1e-12, 0.1, 0.1 + 0.2, 0.35].map(&mut windows), [0, 1, 1, 3, 4]);
}

/// The length of a window is part of what a run goes back to.
#[test]
fn going_back_brings_back_the_rate() {
    let (mut run, handle) = run(Rewind::default(), Scheme::Interleaved, false);
    (0..20).for_each(|k| window(&mut run, handle, k));
    run.set_rate(Rate::seconds(1.0)).unwrap();
    run.rewind_to(9).unwrap();
    let before = run.time();
    run.advance().unwrap();
    assert_eq!(run.time() - before, 1.0 / 512.0);
}

/// A branch is another future: it leaves nothing of the first one behind.
#[test]
fn a_branch_forgets_the_future_that_it_left() {
    let (mut branched, handle) = run(Rewind::default(), Relaxed::default().into(), false);
    (0..30).for_each(|k| window(&mut branched, handle, k));
    branched.push(handle, Wrench::force([50.0, 0.0, 0.0])).unwrap();
    branched.for_seconds(0.1).unwrap();
    branched.rewind_to(12).unwrap();
    (12..30).for_each(|k| window(&mut branched, handle, k));

    let (mut straight, handle) = run(Rewind::default(), Relaxed::default().into(), false);
    (0..30).for_each(|k| window(&mut straight, handle, k));
    assert_eq!(hash(&mut branched, &NAMES), hash(&mut straight, &NAMES));
}

/// In line and on threads of their own.
#[test]
fn threads_give_the_same_bits() {
    for scheme in schemes() {
        let hashes = [false, true].map(|threads| {
            let (mut run, handle) = run(Rewind::default(), scheme.clone(), threads);
            (0..50).for_each(|k| window(&mut run, handle, k));
            run.rewind_to(20).unwrap();
            (20..50).for_each(|k| window(&mut run, handle, k));
            hash(&mut run, &NAMES)
        });
        assert_eq!(hashes[0], hashes[1], "{scheme:?}");
    }
}

const UNBEARABLE: [f64; 3] = [0.0, 0.0, 13.0];

/// Fails (1) or panics (2) after it has stepped under the push that it cannot bear, while `trouble`
/// says so.
fn troubled(inner: MassOnSpring, trouble: Arc<AtomicU32>) -> Hooked {
    Hooked::new(inner, move |inputs, _| match trouble.load(SeqCst) {
        _ if inputs.loads.iter().all(|(_, load)| load.linear != UNBEARABLE) => Ok(()),
        0 => Ok(()),
        1 => Err(SimulatorError::failed("a bolt", "broken", "whole")),
        _ => panic!("the bolt broke"),
    })
}

/// A third simulator fails or panics halfway through a window, in line and on threads: the error
/// names it, every other simulator is back at the window's start, and the run goes on as if
/// nothing had happened. That the troubled one had already stepped shows that it is retracted too.
#[test]
fn a_failure_takes_all_back_to_the_start_of_the_window() {
    for (trouble, text) in [(1, "a bolt"), (2, "the bolt broke")] {
        for (threads, scheme) in
            [(false, Scheme::Interleaved), (true, Scheme::Interleaved), (true, Relaxed::default().into())]
        {
            let (mut scene, handle) = hanging_chain(5, 256.0);
            let switch = Arc::new(AtomicU32::new(0));
            let (third, tie) = (crate::common::free_mass("third", 1.0), crate::common::following_mass("tie", 0.1));
            let third_mass = third.mass();
            scene.attach(tie.point(0), third_mass);
            scene.add(troubled(third, switch.clone())).add(tie).threads(threads).scheme(scheme);
            let mut run = scene.build().unwrap();
            let names = ["support", "chain", "third", "tie"];
            (0..20).for_each(|k| window(&mut run, handle, k));

            let before = hash(&mut run, &names);
            switch.store(trouble, SeqCst);
            run.push(handle, Wrench::force([1.0, 2.0, 3.0])).unwrap();
            run.push(third_mass, Wrench::force(UNBEARABLE)).unwrap();
            let error = run.advance().unwrap_err();
            switch.store(0, SeqCst);
            let Error::Window { window: 20, simulator, .. } = &error else { panic!("{error}") };
            assert_eq!(simulator, "third");
            assert!(error.to_string().contains(text), "{error}");
            assert_eq!(hash(&mut run, &names), before);

            // The load that was pushed for the failed window is still there for the next try.
            run.advance().unwrap();
            let tried = hash(&mut run, &names);
            run.rewind_to(20).unwrap();
            run.push(handle, Wrench::force([1.0, 2.0, 3.0])).unwrap();
            run.push(third_mass, Wrench::force(UNBEARABLE)).unwrap();
            run.advance().unwrap();
            assert_eq!(hash(&mut run, &names), tried);
        }
    }
}

/// What a run cost is never negative, on threads and after going back; what was gone back over
/// counts as taken.
#[test]
fn the_cost_of_a_run_adds_up() {
    for threads in [false, true] {
        let (mut run, handle) = run(Rewind::default(), Relaxed::default().into(), threads);
        (0..30).for_each(|k| window(&mut run, handle, k));
        run.rewind_to(3).unwrap();
        (3..10).for_each(|k| window(&mut run, handle, k));
        let report = run.report();
        assert_eq!((report.windows, report.taken), (10, 37));
        assert!(report.coupling >= 0.0 && report.coupling <= report.seconds, "{report}");
        assert!(report.simulators.iter().all(|(_, seconds)| *seconds >= 0.0 && *seconds <= report.seconds), "{report}");
    }
}
