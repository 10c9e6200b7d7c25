//! A run is saved as plain data and taken up again by another one of the same scene.

use crate::common::{hanging_chain, hash};
use partita::{RunSnapshot, prelude::*, simulator::Inputs};

const NAMES: [&str; 2] = ["support", "chain"];

fn built(scheme: impl Into<Scheme>, threads: bool) -> (Run, HandleId) {
    let (mut scene, handle) = hanging_chain(6, 240.0);
    scene.scheme(scheme).threads(threads);
    (scene.build().unwrap(), handle)
}

fn through_bytes(snapshot: &RunSnapshot) -> RunSnapshot {
    postcard::from_bytes(&postcard::to_allocvec(snapshot).unwrap()).unwrap()
}

/// From the snapshot on, every window has the same bits: in the run that was saved, in a new one, and in one that has
/// been elsewhere; inline and on threads, whatever the scheme carries, with a load that was pushed but not yet taken.
#[test]
fn a_restored_run_goes_on_with_the_same_bits() {
    for scheme in [Scheme::Interleaved, Relaxed::default().into()] {
        let (mut run, handle) = built(scheme.clone(), false);
        run.for_seconds(0.2).unwrap();
        run.set_rate(Rate::hz(200.0)).unwrap();
        run.push(handle, Wrench::force([3.0, 0.0, 1.0])).unwrap();
        let saved = through_bytes(&run.save().unwrap());
        assert_eq!((saved.window(), saved.time()), (run.windows(), run.time()));

        let (mut fresh, _) = built(scheme.clone(), true);
        let (mut elsewhere, other) = built(scheme.clone(), false);
        elsewhere.push(other, Wrench::force([0.0, 9.0, 0.0])).unwrap();
        elsewhere.for_seconds(0.7).unwrap();
        for restored in [&mut fresh, &mut elsewhere] {
            restored.restore(&saved).unwrap();
            assert_eq!((restored.windows(), restored.time()), (saved.window(), saved.time()));
        }
        for window in 0..60 {
            let reports = [&mut run, &mut fresh, &mut elsewhere].map(|run| run.advance().unwrap());
            let hashes = [&mut run, &mut fresh, &mut elsewhere].map(|run| hash(run, &NAMES));
            assert!(reports.iter().all(|report| *report == reports[0]), "window {window}");
            assert!(hashes.iter().all(|hash| *hash == hashes[0]), "window {window}");
        }
        let totals = [&run, &fresh, &elsewhere].map(|run| (run.report().windows, run.report().simulated));
        assert_eq!(totals, [totals[0]; 3]);
    }
}

/// What came from outside since the snapshot is enough to reach any later window.
#[test]
fn windows_are_played_from_their_inputs() {
    let (mut run, handle) = built(Scheme::Interleaved, false);
    run.for_seconds(0.1).unwrap();
    let saved = run.save().unwrap();
    for window in 0..30 {
        if window % 4 == 0 {
            run.push(handle, Wrench::force([f64::from(window), 0.0, 0.0])).unwrap();
        }
        run.set_rate(Rate::hz(if window < 15 { 240.0 } else { 100.0 })).unwrap();
        run.advance().unwrap();
    }
    let inputs = run.inputs_since(saved.window());
    assert_eq!((inputs.len(), inputs[4].pushes.len(), inputs[20].dt), (30, 1, 0.01));

    let (mut other, _) = built(Scheme::Interleaved, false);
    other.restore(&saved).unwrap();
    inputs.iter().for_each(|inputs| other.play(inputs).unwrap());
    assert_eq!(hash(&mut other, &NAMES), hash(&mut run, &NAMES));
    assert_eq!(other.inputs_since(0), inputs);
}

/// A restored run can go back as far as it was restored, and no further.
#[test]
fn a_restored_run_rewinds_to_where_it_was_restored() {
    let (mut run, _) = built(Scheme::Interleaved, false);
    run.for_seconds(0.1).unwrap();
    let saved = run.save().unwrap();
    let (mut restored, _) = built(Scheme::Interleaved, false);
    restored.restore(&saved).unwrap();
    let begin = hash(&mut restored, &NAMES);
    restored.for_seconds(0.3).unwrap();
    restored.rewind(9.0).unwrap();
    assert_eq!((restored.windows(), hash(&mut restored, &NAMES)), (saved.window(), begin));
    let error = restored.undo().unwrap_err().to_string();
    assert!(error.contains(&format!("at least {}", saved.window())), "{error}");
    assert_eq!(hash(&mut restored, &NAMES), begin);
}

/// Another scene, other parameters, changed bytes: an error that says so, and nothing has changed.
#[test]
fn snapshots_of_another_scene_are_refused() {
    let (mut run, _) = built(Scheme::Interleaved, false);
    run.for_seconds(0.1).unwrap();
    let saved = run.save().unwrap();
    let (longer, _) = hanging_chain(7, 240.0);
    let others = [longer.build().unwrap(), built(Relaxed::default(), false).0];
    for mut other in others {
        let before = hash(&mut other, &NAMES);
        let error = other.restore(&saved).unwrap_err().to_string();
        assert!(error.contains("snapshot"), "{error}");
        assert_eq!((other.windows(), hash(&mut other, &NAMES)), (0, before));
        other.advance().unwrap();
    }

    // One simulator's bytes flipped: the seal is wrong, and the simulators before it are not changed either.
    let bytes = postcard::to_allocvec(&saved).unwrap();
    let chain = run.state_bytes("chain").unwrap();
    let at = bytes.windows(chain.len()).position(|window| window == chain).unwrap();
    let mut flipped = bytes.clone();
    flipped[at + chain.len() / 2] ^= 1;
    let (mut other, _) = built(Scheme::Interleaved, false);
    let before = hash(&mut other, &NAMES);
    let error = other.restore(&postcard::from_bytes(&flipped).unwrap()).unwrap_err().to_string();
    assert!(error.contains("chain") && error.contains("changed"), "{error}");
    assert_eq!(hash(&mut other, &NAMES), before);
    other.restore(&saved).unwrap();
}

/// Seconds are counted from where the saved run began, and what was pushed before a window is played does not join it.
#[test]
fn a_restored_run_began_when_the_saved_one_did() {
    let built = |settled: bool| {
        let mut mass = crate::common::free_mass("mass", 2.0);
        if settled {
            mass.step(0.5, Inputs::NONE).unwrap();
        }
        let handle = mass.mass();
        let mut scene = Scene::new(Rate::hz(64));
        scene.add(mass);
        (scene.build().unwrap(), handle)
    };
    let ((mut run, handle), (mut other, _)) = (built(true), built(false));
    run.for_seconds(0.25).unwrap();
    let saved = run.save().unwrap();
    run.push(handle, Wrench::force([1.0, 0.0, 0.0])).unwrap();
    run.advance().unwrap();

    other.restore(&saved).unwrap();
    other.push(handle, Wrench::force([9.0, 9.0, 9.0])).unwrap();
    other.play(&run.inputs_since(saved.window())[0]).unwrap();
    assert_eq!((other.time(), other.report().simulated), (0.75 + 1.0 / 64.0, 0.25 + 1.0 / 64.0));
    assert_eq!(hash(&mut other, &["mass"]), hash(&mut run, &["mass"]));
}
