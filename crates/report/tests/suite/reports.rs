//! Laws of reports: JSON that says what was found, an exit status that tells, files that are whole or absent.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use partita::prelude::*;
use partita_report::{Bound, Camera, Format, Options, Recorder, Report, ReportError, Scenery, Tape, TapeError, run};
use serde_json::{Value, json};

fn options(folder: &Path) -> Options {
    Options { out: folder.into(), ..Options::default() }
}

fn same(a: ExitCode, b: ExitCode) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A crate that falls for two frames.
fn recorded(report: &Report, scenery: Scenery) -> Result<Recorder, TapeError> {
    let mut rigid = RigidBodies::new("rigid");
    rigid.add("crate", Body::dynamic(Shape::cuboid([0.8; 3])).at([0.0, 0.4, 0.0])).unwrap();
    let mut scene = Scene::new(Rate::hz(48));
    scene.add(rigid);
    report.record(&mut scene.build().unwrap(), 1.0 / 24.0, scenery)
}

fn scenery() -> Scenery {
    Scenery::new(Camera::framing([[-1.0, 0.0, -1.0], [1.0; 3]])).ground(0.0)
}

#[test]
fn the_json_says_what_was_checked_and_stays_json_without_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("not/yet/there");
    let mut report = Report::new("crates", &Options { seed: 7, ..options(&out) }).unwrap();
    assert!(report.check("gap", 1e-13, Bound::at_most(1e-12), "m"));
    assert!(!report.check("energy", f64::NAN, Bound::within(0.0, f64::INFINITY), "J"));
    report.figure("b", 1.0);
    report.figure("a", f64::INFINITY);
    report.figure("b", 2.5);
    assert!(!report.passed());
    assert!(same(report.finish(None), ExitCode::FAILURE));

    let text = fs::read_to_string(out.join("crates.json")).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let expected = json!({
        "example": "crates",
        "warnings": [],
        "notes": [],
        "seed": 7,
        "command": std::env::args().collect::<Vec<_>>(),
        "checks": [
            {"name": "gap", "value": 1e-13, "bound": {"at_most": 1e-12}, "unit": "m", "pass": true},
            {"name": "energy", "value": null, "bound": {"within": [0.0, null]}, "unit": "J", "pass": false},
        ],
        "figures": {"b": 2.5, "a": null},
    });
    let mut value = value;
    let provenance = value.as_object_mut().unwrap().remove("provenance").unwrap();
    assert_eq!(provenance["partita"], env!("CARGO_PKG_VERSION"));
    assert_eq!(provenance["machine"], format!("{} {}", std::env::consts::OS, std::env::consts::ARCH));
    assert!(provenance["started"].as_str().unwrap().ends_with('Z'), "{provenance}");
    let parameters = value.as_object_mut().unwrap().remove("parameters").unwrap();
    assert_eq!((&parameters["options"]["seed"], &parameters["scene"]), (&json!(7), &Value::Null));
    assert_eq!(value, expected);
    assert!(text.find("\"b\"").unwrap() < text.find("\"a\"").unwrap(), "figures keep their order");
    assert_eq!(names(&out), ["crates.json"]);
}

#[test]
fn a_passed_run_writes_everything_and_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let mut report = Report::new("crates", &options(folder.path())).unwrap();
    assert!(names(folder.path()).is_empty(), "nothing is left before the run");
    report.check("crates", 30.0, Bound::equals(30.0), "");
    let recording = recorded(&report, scenery()).unwrap();
    assert_eq!(names(folder.path()), ["crates.tape.partial"]);
    assert!(same(report.finish(recording), ExitCode::SUCCESS));
    let mut left = names(folder.path());
    // Where the machine has ffmpeg.
    left.retain(|name| name != "crates.mp4");
    let expected = ["gif", "html", "json", "png", "storyboard.png", "tape"].map(|ending| format!("crates.{ending}"));
    assert_eq!(left, expected);
}

/// A run that was killed while it drew its film leaves a hidden folder; the next run of the same name removes it.
#[test]
fn what_a_killed_run_left_is_cleared_away_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join(".crates.mp4.7-0.partial");
    fs::create_dir(&left).unwrap();
    ["lock", "film"].iter().for_each(|name| fs::write(left.join(name), b"half").unwrap());
    Report::new("boards", &options(folder.path())).unwrap();
    assert_eq!(names(folder.path()).len(), 1);
    Report::new("crates", &options(folder.path())).unwrap();
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_blank_picture_fails_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let report = Report::new("crates", &options(folder.path())).unwrap();
    let recording = recorded(&report, scenery().hide("rigid")).unwrap();
    assert!(same(report.finish(recording), ExitCode::FAILURE));
}

#[test]
fn a_name_that_is_no_file_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["", "a/b", "..", "a b", "\0", &"x".repeat(101)] {
        let error = Report::new(name, &options(folder.path())).unwrap_err();
        assert!(matches!(error, ReportError::Name { .. }), "{error}");
    }
}

/// Refused before the run, not after it.
#[test]
fn folders_that_cannot_be_used_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("occupied");
    fs::write(&file, b"").unwrap();
    let error = Report::new("crates", &options(&file)).unwrap_err();
    assert!(matches!(error, ReportError::Folder { .. }) && error.to_string().contains("occupied"), "{error}");

    for name in ["crates.gif", "crates.storyboard.png", "crates.mp4"] {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(name)).unwrap();
        let error = Report::new("crates", &options(folder.path())).unwrap_err();
        assert!(matches!(error, ReportError::Write { .. }) && error.to_string().contains(name), "{error}");
    }
}

/// The folder vanishes during the run: an error, no panic, exit status 1.
#[test]
fn a_folder_that_is_lost_during_the_run_fails_it() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let report = Report::new("crates", &options(&out)).unwrap();
    let recording = recorded(&report, scenery()).unwrap();
    fs::remove_dir_all(&out).unwrap();
    assert!(same(report.finish(recording), ExitCode::FAILURE));
    assert!(!out.exists());
}

/// A picture that cannot be written fails the run, and costs it neither its tape nor its page; the film of an earlier
/// run does not stay beside these.
#[test]
fn a_picture_that_is_lost_leaves_the_tape() {
    let folder = tempfile::tempdir().unwrap();
    let report = Report::new("crates", &options(folder.path())).unwrap();
    let recording = recorded(&report, scenery()).unwrap();
    fs::create_dir(folder.path().join("crates.png")).unwrap();
    fs::write(folder.path().join("crates.gif"), b"of an earlier run").unwrap();
    assert!(same(report.finish(recording), ExitCode::FAILURE));
    assert_eq!(names(folder.path()), ["crates.html", "crates.json", "crates.png", "crates.tape"]);
    assert!(Tape::open(folder.path().join("crates.tape")).unwrap().end().is_some());
    assert!(folder.path().join("crates.html").is_file());
}

/// A run whose standard error is full or closed (`2>/dev/full`, `2>&1 | true`) does not end at a note. In a process of its
/// own, which runs this test again.
#[test]
#[cfg(target_os = "linux")]
fn words_that_nobody_reads_do_not_end_a_run() {
    if std::env::var_os("PARTITA_REPORT_CHILD").is_some() {
        let folder = tempfile::tempdir().unwrap();
        let report = Report::new("crates", &options(folder.path())).unwrap();
        report.progress(1.0).say("begun");
        fs::write(folder.path().join("crates.csv"), "of an earlier run").unwrap();
        let recording = recorded(&report, scenery()).unwrap();
        assert!(same(report.finish(recording), ExitCode::SUCCESS));
        let failed = run("crates", &options(folder.path()), |_| Err::<Recorder, _>("nothing to read"));
        assert!(same(failed, ExitCode::FAILURE));
        return;
    }
    let (reader, closed) = std::io::pipe().unwrap();
    drop(reader);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for nobody in [Stdio::from(full), Stdio::from(closed)] {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "reports::words_that_nobody_reads_do_not_end_a_run", "--nocapture"]);
        let status = child.env("PARTITA_REPORT_CHILD", "1").stdout(Stdio::null()).stderr(nobody).status().unwrap();
        assert!(status.success(), "{status}");
    }
}

/// Nobody writes through a link that lies where the tape is to be.
#[test]
#[cfg(unix)]
fn a_link_in_the_tapes_place_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("victim");
    fs::write(&victim, b"precious").unwrap();
    std::os::unix::fs::symlink(&victim, folder.path().join("crates.tape.partial")).unwrap();
    let report = Report::new("crates", &options(folder.path())).unwrap();
    let error = recorded(&report, scenery()).err().unwrap().to_string();
    assert!(error.contains("crates.tape.partial") && error.contains("link"), "{error}");
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
}

/// An export that fails is an error of the whole, and the others are there.
#[test]
fn an_export_that_fails_does_not_stop_the_others() {
    let out = tempfile::tempdir().unwrap();
    let export = vec![Format::Obj, Format::Csv, Format::Npz];
    let report = Report::new("fall", &Options { out: out.path().into(), export, ..Options::default() }).unwrap();
    let mut rigid = RigidBodies::new("rigid");
    rigid.add("ball", Body::dynamic(Shape::ball(0.5))).unwrap();
    let mut scene = Scene::new(Rate::hz(60));
    scene.add(rigid);
    let mut run = scene.build().unwrap();
    let camera = Camera::framing([[-1.0; 3], [1.0; 3]]);
    let recording = report.record(&mut run, 0.1, Scenery::new(camera)).unwrap();
    // Something of somebody else has come under its name.
    std::fs::create_dir(out.path().join("fall.obj")).unwrap();
    std::fs::write(out.path().join("fall.obj/thesis.txt"), "mine").unwrap();
    assert_eq!(report.finish(recording), ExitCode::FAILURE);
    assert!(out.path().join("fall.csv").is_file() && out.path().join("fall.npz").is_file());
    assert_eq!(std::fs::read_to_string(out.path().join("fall.obj/thesis.txt")).unwrap(), "mine");
}
