//! Laws of the frame of an example: Ctrl-C, errors, threads, and what can be made of a tape later.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use partita::prelude::*;
use partita_report::{Bound, Camera, Format, Options, Recorder, Report, ReportError, Scenery, Tape, render_tape, run};
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(10);
const CHILD: &str = "PARTITA_REPORT_RUN";

fn options(folder: &Path) -> Options {
    Options { out: folder.into(), export: vec![Format::Csv], ..Options::default() }
}

fn same(a: ExitCode, b: ExitCode) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

fn scenery() -> Scenery {
    Scenery::new(Camera::framing([[-1.0, -1.0, -1.0], [1.0; 3]])).still(0.25)
}

/// A crate that falls.
fn falling() -> partita::Result<Run> {
    let mut rigid = RigidBodies::new("rigid");
    rigid.add("crate", Body::dynamic(Shape::cuboid([0.8; 3])).at([0.0, 0.4, 0.0]))?;
    let mut scene = Scene::new(Rate::hz(48));
    scene.add(rigid);
    scene.build()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.ends_with(".mp4"));
    names.sort();
    names
}

/// This test again, in a process of its own, that works in `folder`.
fn child(test: &str, folder: &Path) -> Command {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", &format!("run::{test}"), "--nocapture"]).env(CHILD, folder);
    child
}

#[cfg(unix)]
fn press_ctrl_c() {
    Command::new("kill").args(["-INT", &std::process::id().to_string()]).status().unwrap();
}

/// Whether who started the tests has Ctrl-C ignored, as a shell does in the background.
fn is_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0").trim();
    let ignored = u64::from_str_radix(mask, 16).is_ok_and(|mask| mask & 2 != 0);
    if ignored {
        eprintln!("SKIPPED: Ctrl-C is ignored here");
    }
    ignored
}

fn folder_of_child() -> Option<std::path::PathBuf> {
    std::env::var_os(CHILD).map(Into::into)
}

/// The run ends with its window; tape, page, pictures, exports and table are of what there is.
#[test]
#[cfg(unix)]
fn ctrl_c_ends_a_run_with_all_its_files() {
    let interrupt = || {
        press_ctrl_c();
        // The signal is delivered to a thread that waits for it.
        let start = Instant::now();
        while !partita_report::interrupted() {
            assert!(start.elapsed() < PATIENCE, "no signal arrived");
            std::thread::yield_now();
        }
    };
    if let Some(folder) = folder_of_child() {
        let example = |report: &mut Report| -> Result<Recorder, Box<dyn std::error::Error>> {
            let mut of = falling()?;
            let recording = report.record_each(&mut of, 1000.0, scenery(), |run| {
                (run.windows() == 24).then(interrupt);
                Ok("")
            })?;
            assert_eq!(of.windows(), 24);
            report.check("fell", 1.0, Bound::equals(1.0), "");
            Ok(recording)
        };
        assert!(same(run("falling", &options(&folder), example), ExitCode::from(130)));
        return;
    }
    if is_ignored() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = child("ctrl_c_ends_a_run_with_all_its_files", folder.path()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    assert!(out.contains("STOP  stopped by Ctrl-C after 0.500 of 1000.000 s; checks cover that part only"), "{out}");
    assert!(err.contains("stopping at the next end of a window"), "{err}");
    let expected = ["csv", "gif", "html", "json", "png", "storyboard.png", "tape"].map(|end| format!("falling.{end}"));
    assert_eq!(names(folder.path()), expected);
    let json: Value = serde_json::from_slice(&fs::read(folder.path().join("falling.json")).unwrap()).unwrap();
    let [at, of] = ["at", "of"].map(|key| json["stopped"][key].as_f64().unwrap());
    let mut tape = Tape::open(folder.path().join("falling.tape")).unwrap();
    assert_eq!((of, tape.frames()), (1000.0, 13));
    // 24 windows of a 48th, summed.
    assert!((at - 0.5).abs() < 1e-12 && (tape.frame(12).unwrap().time - 0.5).abs() < 1e-12, "{at}");
}

/// A second Ctrl-C leaves no half-written file under a final name.
#[test]
#[cfg(unix)]
fn the_second_ctrl_c_leaves_at_once() {
    if let Some(folder) = folder_of_child() {
        run("falling", &options(&folder), |report| -> Result<Recorder, Box<dyn std::error::Error>> {
            report.record_each(&mut falling()?, 1000.0, scenery(), |_| -> Result<&str, _> {
                let start = Instant::now();
                loop {
                    press_ctrl_c();
                    assert!(start.elapsed() < PATIENCE, "no signal arrived");
                }
            })
        });
        return;
    }
    if is_ignored() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = child("the_second_ctrl_c_leaves_at_once", folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(names(folder.path()), ["falling.tape.partial"]);
}

/// A run that fails leaves its tape, says how to see it, and the tape can be rendered.
#[test]
fn an_error_leaves_a_tape_that_can_be_rendered() {
    if let Some(folder) = folder_of_child() {
        let example = |report: &mut Report| -> Result<Recorder, Box<dyn std::error::Error>> {
            report.record_each(&mut falling()?, 1.0, scenery(), |run| match run.windows() {
                24 => Err("the crate has had enough".into()),
                _ => Ok(""),
            })
        };
        assert!(same(run("falling", &options(&folder), example), ExitCode::FAILURE));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = child("an_error_leaves_a_tape_that_can_be_rendered", folder.path()).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && err.contains("error: the crate has had enough"), "{err}");
    let partial = folder.path().join("falling.tape.partial");
    assert!(err.contains(&format!("--example render -- {}", partial.display())), "{err}");

    let rendered = render_tape(&partial, folder.path(), 1, &[Format::Csv]).unwrap();
    let expected = ["csv", "gif", "html", "png", "storyboard.png", "tape.partial"].map(|end| format!("falling.{end}"));
    assert_eq!(names(folder.path()), expected);
    assert!(rendered.files.iter().all(|file| file.exists()) && rendered.files.len() >= 5, "{rendered:?}");
}

/// Rendered from its tape, a run has the same bytes in every file as when it was recorded.
#[test]
fn what_is_rendered_later_is_what_was_written_at_once() {
    let (at_once, later) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let report = Report::new("falling", &options(at_once.path())).unwrap();
    let recording = report.record(&mut falling().unwrap(), 0.5, scenery()).unwrap();
    assert!(same(report.finish(recording), ExitCode::SUCCESS));
    render_tape(at_once.path().join("falling.tape"), later.path(), 2, &[Format::Csv]).unwrap();
    for name in names(at_once.path()).iter().filter(|name| *name != "falling.tape") {
        assert!(fs::read(at_once.path().join(name)).unwrap() == fs::read(later.path().join(name)).unwrap(), "{name}");
    }
    assert_eq!(names(later.path()).len(), 6);
}

/// Rayon's global pool is made once a process. `--threads` that came too late is said.
#[test]
fn a_pool_of_another_size_is_an_error() {
    let (folder, found) = (tempfile::tempdir().unwrap(), rayon::current_num_threads());
    let with = |threads: usize| {
        let threads = std::num::NonZeroUsize::new(threads);
        run("falling", &Options { threads, ..options(folder.path()) }, |_| Ok::<_, ReportError>(None))
    };
    assert!(same(with(found), ExitCode::SUCCESS));
    assert!(same(with(found + 1), ExitCode::FAILURE));
}
