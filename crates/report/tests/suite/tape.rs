//! Laws of tapes: what was recorded comes back, a torn end loses only what was torn, anything else is refused, and any
//! frame is a place to go on from.

use std::fs;
use std::path::{Path, PathBuf};

use partita::prelude::*;
use partita::simulator::{hash_bytes, reference::MassOnSpring};
use partita_report::{Camera, Options, Placement, Recorder, Report, Scenery, Tape, TapeError};

/// Drops on a crate, pushed now and then, with a rate that changes.
fn scene() -> (Run, HandleId) {
    let mut rigid = RigidBodies::new("rigid");
    let body = rigid.add("crate", Body::dynamic(Shape::cuboid([0.4; 3])).mass(2.0).at([0.0, 0.5, 0.0])).unwrap();
    let hail = Emitter::disc([0.0, 1.0, 0.0], 0.1).speed(8.0).rate(500.0).lifetime(0.2).seed(3);
    let hail = Particles::new("hail").mass(0.02).emit(hail);
    let mut scene = Scene::new(Rate::hz(120));
    scene.contact("hail", "rigid");
    scene.add(rigid).add(hail);
    (scene.build().unwrap(), body)
}

fn scenery() -> Scenery {
    Scenery::new(Camera::framing([[-1.0; 3], [1.0; 3]]))
}

fn options(folder: &Path) -> Options {
    Options { out: folder.into(), seed: 7, ..Options::default() }
}

/// Times at the start and the end of each window of the recording: 82 of 1/120 s and 78 of 1/100 s `[s]`.
fn ends() -> Vec<f64> {
    (0..=160).map(|k| f64::from(k.min(82)) / 120.0 + f64::from((k - 82).max(0)) / 100.0).collect()
}

/// Hashes of the state after every window, and the recording.
fn recorded(report: &Report) -> (Vec<u64>, Recorder) {
    let (mut run, body) = scene();
    let mut recorder = report.recorder(&mut run, scenery()).unwrap();
    let mut hashes = vec![hash(&mut run)];
    for window in 0..160 {
        if window % 7 == 0 {
            run.push(body, Wrench::force([0.0, 3.0, f64::from(window)])).unwrap();
        }
        run.set_rate(Rate::hz(if window < 82 { 120.0 } else { 100.0 })).unwrap();
        run.advance().unwrap();
        recorder.window(&mut run).unwrap();
        hashes.push(hash(&mut run));
    }
    (hashes, recorder)
}

fn hash(run: &mut Run) -> u64 {
    let bytes: Vec<u8> = ["rigid", "hail"].iter().flat_map(|name| run.state_bytes(name).unwrap()).collect();
    hash_bytes(&bytes)
}

/// A finished tape with its bytes.
fn tape(folder: &Path) -> (PathBuf, Vec<u8>, Vec<u64>) {
    let report = Report::new("drops", &options(folder)).unwrap();
    let (hashes, recorder) = recorded(&report);
    report.finish(recorder);
    let path = folder.join("drops.tape");
    let bytes = fs::read(&path).unwrap();
    (path, bytes, hashes)
}

#[test]
fn a_tape_tells_what_the_run_did() {
    let folder = tempfile::tempdir().unwrap();
    let (path, ..) = tape(folder.path());
    let mut tape = Tape::open(&path).unwrap();
    let begin = tape.begin().clone();
    assert_eq!((begin.name.as_str(), begin.seed, begin.frames_per_second), ("drops", 7, 24.0));
    assert_eq!(begin.simulators, ["rigid", "hail"]);
    assert_eq!(begin.interfaces, [("hail".into(), "rigid".into())]);
    assert_eq!(begin.command.first(), std::env::args().next().as_ref());
    assert!(begin.provenance.iter().any(|(name, _)| name == "partita"));
    assert!(tape.end().unwrap().json.contains("\"picture is not blank\"") && tape.torn().is_none());

    // A frame in the first window that ends at or after k/24 s.
    let ends = ends();
    let due = |k: usize| ends.iter().position(|end| end * 24.0 >= k as f64 - 1e-6).unwrap();
    assert_eq!(tape.frames(), 1 + (24.0 * ends[160] + 1e-6) as usize);
    let (mut run, body) = scene();
    let mut windows = 0;
    for number in 0..tape.frames() {
        let frame = tape.frame(number).unwrap();
        assert_eq!(frame.window, due(number) as u64);
        assert_eq!(
            (frame.inputs.len() as u64, frame.numbers.windows),
            (frame.window - windows, frame.window - windows)
        );
        windows = frame.window;
        frame.inputs.iter().for_each(|inputs| run.play(inputs).unwrap());
        assert!((frame.time - number as f64 / 24.0).abs() < 1e-6, "frame {number} at {} s", frame.time);

        let (state, picture) = (run.state(body).unwrap(), run.picture().unwrap());
        let Placement::Rigid { position, orientation } = frame.surfaces[0] else { panic!("a rigid surface") };
        let hail = picture.clouds.first().map(|(_, cloud)| cloud.clone()).unwrap_or_default();
        if (frame.time - run.time()).abs() < 1e-6 {
            assert_eq!((position, orientation), (state.position, state.orientation));
            assert_eq!(frame.surfaces[0].vertices(&begin.surfaces[0].surface), picture.surfaces[0].vertices());
            assert_eq!(frame.clouds[1], hail);
            assert_eq!(hail.ids, run.look("hail", |hail: &Particles| hail.ids().to_vec()).unwrap());
        } else {
            // Between two windows, it shows those that are there at both ends.
            assert!(frame.clouds[1].ids.iter().all(|id| hail.ids.contains(id)));
        }
        assert!(frame.clouds[0].is_empty());
        let ledger = run.simulator_ledger("rigid").unwrap().unwrap();
        assert_eq!(frame.numbers.energies[0], Some([ledger.kinetic, ledger.potential]));
        assert_eq!(frame.numbers.impulses[0][1][1], run.ledgers()[0].got.linear[1]);
        assert_eq!(frame.numbers.work, run.ledgers()[0].work);
        // Both know what acts on them: what is left is rounding of impulses of the order of 10 N s.
        assert!(frame.numbers.momentum_error.unwrap() < 1e-12, "{:?}", frame.numbers.momentum_error);
    }
    let error = tape.frame(tape.frames()).unwrap_err();
    assert!(error.to_string().contains("no number"), "{error}");
}

/// A force is the mean of the coupling's over the windows of its frame: their impulse, over their time, less what is
/// pending at either end.
#[test]
fn forces_are_means_over_their_frame() {
    let folder = tempfile::tempdir().unwrap();
    let (path, ..) = tape(folder.path());
    let mut tape = Tape::open(&path).unwrap();
    let mut before = tape.frame(0).unwrap();
    for number in 1..tape.frames() {
        let frame = tape.frame(number).unwrap();
        // The loads for the next windows: what was got in these, force and torque.
        let time = ends()[frame.window as usize] - ends()[before.window as usize];
        for k in 0..6 {
            let got = frame.numbers.impulses[0][1][k] - before.numbers.impulses[0][1][k];
            let part = |force: &partita_report::Force| [force.force, force.torque].as_flattened()[k];
            let mean: f64 = frame.forces.iter().map(part).sum();
            let (found, bound) = (mean * time, 1e-9 * got.abs().max(1.0));
            assert!((found - got).abs() < bound, "frame {number}, part {k}: {mean} over {time} s, got {got}");
        }
        before = frame;
    }
}

/// From any frame on with the same bits as the run that was recorded, also in a run that was elsewhere.
#[test]
fn a_run_is_taken_up_again_at_any_frame() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _, hashes) = tape(folder.path());
    let mut tape = Tape::open(&path).unwrap();
    let (mut run, _) = scene();
    for number in [5, 0, 23, 24, 25, 30, tape.frames() - 1, 1] {
        tape.resume(&mut run, number).unwrap();
        let frame = tape.frame(number).unwrap();
        assert_eq!(run.windows(), frame.window);
        assert!((0.0..0.01).contains(&(run.time() - frame.time + 1e-9)), "frame {number}");
        assert_eq!(hash(&mut run), hashes[frame.window as usize], "at frame {number}");
        // And on, through what came from outside.
        for next in number + 1..(number + 4).min(tape.frames()) {
            tape.frame(next).unwrap().inputs.iter().for_each(|inputs| run.play(inputs).unwrap());
            assert_eq!(hash(&mut run), hashes[run.windows() as usize], "from frame {number} to {next}");
        }
    }
    let mut other = Scene::new(Rate::hz(120));
    other.add(RigidBodies::new("rigid"));
    let error = tape.resume(&mut other.build().unwrap(), 3).unwrap_err();
    assert!(matches!(error, TapeError::Run(_)) && error.to_string().contains("same simulators"), "{error}");
}

/// A process that is killed leaves a file that ends anywhere: every whole frame before is there.
#[test]
fn a_torn_tape_loses_what_was_torn_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let (path, bytes, _) = tape(folder.path());
    let mut whole = Tape::open(&path).unwrap();
    let frames: Vec<_> = (0..whole.frames()).map(|number| whole.frame(number).unwrap()).collect();
    let torn_path = folder.path().join("torn.tape");
    let mut last = 0;
    for cut in (0..bytes.len()).step_by(997).chain(bytes.len() - 50..bytes.len()) {
        fs::write(&torn_path, &bytes[..cut]).unwrap();
        match Tape::open(&torn_path) {
            Ok(mut tape) => {
                assert!(tape.frames() >= last && tape.end().is_none(), "cut at {cut}");
                last = tape.frames();
                if last > 0 {
                    assert_eq!(tape.frame(last - 1).unwrap(), frames[last - 1], "cut at {cut}");
                }
            }
            // Before the begin is whole there is nothing to read.
            Err(error) => assert!(last == 0 && cut < 20_000, "cut at {cut}: {error}"),
        }
    }
    assert_eq!(last, frames.len(), "cut in the end, all frames are there");

    // Space that the system gave and never filled.
    fs::write(&torn_path, [&bytes[..], &[0; 5000]].concat()).unwrap();
    let tape = Tape::open(&torn_path).unwrap();
    assert_eq!((tape.frames(), tape.torn()), (frames.len(), Some(bytes.len() as u64)));
}

/// A flipped bit anywhere is found; in the last record it tears that one.
#[test]
fn a_corrupt_tape_is_refused_by_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let (_, bytes, _) = tape(folder.path());
    let path = folder.path().join("corrupt.tape");
    let mut refused = 0;
    for at in (0..bytes.len()).step_by(1009).chain(0..64) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        fs::write(&path, &changed).unwrap();
        match Tape::open(&path) {
            Err(TapeError::NotATape { .. }) => assert!(at < 12, "byte {at}"),
            Err(TapeError::Version { .. }) => assert!((12..16).contains(&at), "byte {at}"),
            Err(TapeError::Corrupt { at: record, .. }) => {
                assert!(record <= at as u64);
                refused += 1;
            }
            Err(error) => panic!("byte {at}: {error}"),
            Ok(tape) => assert!(tape.torn().is_some() && tape.end().is_none(), "byte {at}"),
        }
    }
    assert!(refused > 100);
}

#[test]
fn older_and_newer_tapes_and_other_files_are_refused_in_clear_words() {
    let folder = tempfile::tempdir().unwrap();
    let (path, mut bytes, _) = tape(folder.path());
    let own = bytes[12];
    for version in [own - 1, own + 1] {
        bytes[12] = version;
        fs::write(&path, &bytes).unwrap();
        let error = Tape::open(&path).unwrap_err().to_string();
        assert!(error.ends_with(&format!("is of another version ({version}, this program reads {own})")), "{error}");
    }
    for other in [&b""[..], b"partita", b"PNG and more than sixteen bytes"] {
        fs::write(&path, other).unwrap();
        assert!(matches!(Tape::open(&path), Err(TapeError::NotATape { .. })));
    }
    assert!(matches!(Tape::open(folder.path().join("nowhere")), Err(TapeError::File { .. })));
}

/// Ids ascend, one a position; a frame in which they do not is not written.
#[test]
fn a_frame_with_ids_that_make_no_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (path, ..) = tape(folder.path());
    let mut tape = Tape::open(&path).unwrap();
    let frame = tape.frame(9).unwrap();
    assert!(frame.clouds[1].len() > 3);
    let other = folder.path().join("other.tape");
    let mut writer = partita_report::TapeWriter::create(&other, tape.begin()).unwrap();
    type Change = fn(&mut Vec<u64>);
    let changes: [(Change, &str); 3] = [
        (|ids| ids.truncate(2), "expected one for each of"),
        (|ids| ids[1] = ids[0], "expected ascending ids, each once, found id"),
        (|ids| ids.swap(0, 1), "expected ascending ids, each once, found id"),
    ];
    for (change, words) in changes {
        let mut changed = frame.clone();
        change(&mut changed.clouds[1].ids);
        let error = writer.frame(&changed).unwrap_err().to_string();
        assert!(error.contains("other.tape: a frame's cloud number 1, ") && error.contains(words), "{error}");
    }
    writer.frame(&frame).unwrap();
    writer.flush().unwrap();
    let mut other = Tape::open(&other).unwrap();
    assert_eq!((other.frames(), other.frame(0).unwrap()), (1, frame));
}

/// A run that goes back under a recorder: the tape goes on only where the run does.
#[test]
fn a_tape_goes_only_forwards() {
    let folder = tempfile::tempdir().unwrap();
    let report = Report::new("drops", &options(folder.path())).unwrap();
    let (mut run, _) = scene();
    let mut recorder = report.recorder(&mut run, scenery()).unwrap();
    for _ in 0..9 {
        run.advance().unwrap();
        recorder.window(&mut run).unwrap();
    }
    run.undo().unwrap();
    let error = recorder.window(&mut run).unwrap_err().to_string();
    assert!(error.contains("expected the run after 10 windows, found it after 8"), "{error}");
    // Nothing of that is on the tape: where the run is again, it goes on.
    run.advance().unwrap();
    run.advance().unwrap();
    recorder.window(&mut run).unwrap();
}

/// `/dev/full` has no space left, ever.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error_that_names_the_tape() {
    let folder = tempfile::tempdir().unwrap();
    let (path, ..) = tape(folder.path());
    let mut tape = Tape::open(&path).unwrap();
    let mut full = partita_report::TapeWriter::create(Path::new("/dev/full"), tape.begin()).unwrap();
    let error = (0..tape.frames()).cycle().take(1000).find_map(|number| full.frame(&tape.frame(number).unwrap()).err());
    assert!(error.unwrap().to_string().contains("/dev/full"));
}

/// A second run of the same name into the same folder is told so, and leaves the first alone.
#[test]
fn two_runs_do_not_write_one_tape() {
    let folder = tempfile::tempdir().unwrap();
    let report = Report::new("drops", &options(folder.path())).unwrap();
    let (mut run, _) = scene();
    let mut recorder = report.recorder(&mut run, scenery()).unwrap();
    let error = report.recorder(&mut scene().0, scenery()).err().unwrap();
    assert!(matches!(error, TapeError::InUse { .. }) && error.to_string().contains("--out"), "{error}");
    for _ in 0..10 {
        run.advance().unwrap();
        recorder.window(&mut run).unwrap();
    }
    assert_eq!(recorder.tape().unwrap().frames(), 3);
    drop(recorder);
    // What a run left that was cut short is no hindrance.
    assert!(report.recorder(&mut run, scenery()).is_ok());
}

/// There is a frame a window at most, and always one of the end.
#[test]
fn the_end_of_a_run_is_on_its_tape() {
    let folder = tempfile::tempdir().unwrap();
    for (fps, seconds, frames, rate) in [(24.0, 0.24, 7, 24.0), (0.01, 0.05, 2, 0.01), (1000.0, 0.05, 7, 120.0)] {
        let report = Report::new("drops", &Options { fps, ..options(folder.path()) }).unwrap();
        let (mut run, body) = scene();
        let mut recorder = report.record(&mut run, seconds, scenery()).unwrap();
        let mut tape = recorder.tape().unwrap();
        assert_eq!((tape.frames(), tape.begin().frames_per_second), (frames, rate), "{fps} frames a second");
        let last = tape.frame(frames - 1).unwrap();
        let Placement::Rigid { position, .. } = last.surfaces[0] else { panic!("a rigid surface") };
        assert_eq!((last.time, position), (run.time(), run.state(body).unwrap().position));
    }
}

/// Milliseconds by simulator and stage are those that the run's clocks went on by, a window of the frame; a simulator
/// that names no stages has all its time in one.
#[test]
fn times_on_the_tape_are_those_of_the_runs_clocks() {
    let folder = tempfile::tempdir().unwrap();
    let report = Report::new("drops", &options(folder.path())).unwrap();
    let mut rigid = RigidBodies::new("rigid");
    rigid.add("crate", Body::dynamic(Shape::cuboid([0.4; 3]))).unwrap();
    let mut scene = Scene::new(Rate::hz(120));
    scene.add(MassOnSpring::new("mass", Default::default()).unwrap()).add(rigid);
    let mut run = scene.build().unwrap();
    run.for_seconds(0.1).unwrap();
    let mut recorder = report.recorder(&mut run, scenery()).unwrap();
    let mut clocks = vec![run.report()];
    for _ in 0..40 {
        run.advance().unwrap();
        recorder.window(&mut run).unwrap();
        clocks.push(run.report());
    }
    let mut tape = recorder.tape().unwrap();
    let first = tape.frame(0).unwrap().window;
    for number in 1..tape.frames() {
        let (frame, before) = (tape.frame(number).unwrap(), tape.frame(number - 1).unwrap());
        let [now, then] = [frame.window, before.window].map(|window| &clocks[(window - first) as usize]);
        let milliseconds = |now: f64, then: f64| 1e3 * (now - then) / (frame.window - before.window) as f64;
        for (i, (found, stages)) in frame.numbers.stages.iter().zip(&now.stages).enumerate() {
            let expected: Vec<(String, f64)> = match stages.0.as_slice() {
                [] => vec![("step".into(), milliseconds(now.simulators[i].1, then.simulators[i].1))],
                some => {
                    let stages = some.iter().zip(&then.stages[i].0);
                    stages.map(|((name, now), (_, then))| (name.clone(), milliseconds(*now, *then))).collect()
                }
            };
            assert_eq!(expected.len() == 1, i == 0, "the mass has no stages, bodies have some");
            assert!(expected.iter().any(|(_, time)| *time > 0.0), "{expected:?}");
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found.0, expected.0);
                assert!((found.1 - expected.1).abs() < 1e-9, "frame {number}: {found:?} for {expected:?}");
            }
            assert_eq!(found.len(), expected.len());
        }
        assert!((frame.numbers.coupling - milliseconds(now.coupling, then.coupling)).abs() < 1e-9);
    }
}

/// Two bodies tied to each other under loads that change: the gap of a frame is the largest of its
/// windows, and iterations and passes are means over them.
#[test]
fn numbers_are_of_all_windows_of_their_frame() {
    let folder = tempfile::tempdir().unwrap();
    let report = Report::new("drops", &options(folder.path())).unwrap();
    let mut leader = RigidBodies::new("leader");
    let hook = leader.add("hook", Body::dynamic(Shape::ball(0.2)).mass(5.0)).unwrap();
    let mut follower = RigidBodies::new("follower");
    let bob = follower.add("bob", Body::dynamic(Shape::ball(0.1)).mass(1.0)).unwrap();
    let mut scene = Scene::new(Rate::hz(120));
    scene.scheme(Relaxed::default()).attach(bob, hook);
    scene.add(leader).add(follower);
    let mut run = scene.build().unwrap();
    let mut recorder = report.recorder(&mut run, scenery()).unwrap();
    let mut windows = Vec::new();
    for window in 0..40 {
        let turn = f64::from(window);
        run.push(hook, Wrench { linear: [30.0 * turn.sin(), 0.0, 10.0], angular: [turn.cos(), 0.0, 2.0] }).unwrap();
        windows.push(run.advance().unwrap());
        recorder.window(&mut run).unwrap();
    }
    let mut tape = recorder.tape().unwrap();
    let mut varied = false;
    for number in 1..tape.frames() {
        let (frame, before) = (tape.frame(number).unwrap(), tape.frame(number - 1).unwrap());
        let own = &windows[before.window as usize..frame.window as usize];
        let largest = |of: fn(&partita::WindowReport) -> f64| own.iter().map(of).fold(0.0, f64::max);
        assert_eq!(frame.numbers.gap, largest(|window| window.gap));
        assert_eq!(frame.numbers.load_change, largest(|window| window.load_change));
        let mean = |of: &dyn Fn(&partita::WindowReport) -> u32| {
            own.iter().map(|window| f64::from(of(window))).sum::<f64>() / own.len() as f64
        };
        assert_eq!(frame.numbers.passes, mean(&|window| window.passes));
        assert_eq!(
            frame.numbers.iterations,
            [mean(&|window| window.iterations[0]), mean(&|window| window.iterations[1])]
        );
        varied |= own.last().is_some_and(|last| last.gap < frame.numbers.gap);
    }
    assert!(varied, "the largest gap is not always that of the last window");
}
