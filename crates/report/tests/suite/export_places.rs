//! Laws of where exports go: whole or not there, nobody's work is lost, what can be known is known before the run.

use std::fs;
use std::path::Path;

use crate::common::{begin, tape, tape_with};
use partita::prelude::*;
use partita_report::{
    Camera, End, ExportError, Format, Frame, Options, Report, ReportError, Scenery, Tape, TapeWriter, export,
};
use tempfile::tempdir;

const ALL: [Format; 6] = [Format::Obj, Format::Usda, Format::Pc2, Format::Vtk, Format::Npz, Format::Csv];
const FOLDERS: [Format; 3] = [Format::Obj, Format::Pc2, Format::Vtk];

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn export_all(tape: &mut Tape, folder: &Path) {
    for format in ALL {
        export(tape, format, folder).unwrap();
    }
}

/// Names and contents of everything below.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| {
        let path = folder.join(&name);
        match path.is_dir() {
            true => contents(&path),
            false => vec![(path.display().to_string(), fs::read(path).unwrap())],
        }
    };
    names(folder).into_iter().flat_map(read).collect()
}

#[test]
fn an_older_export_is_replaced_whole() {
    let folder = tempdir().unwrap();
    for frames in [5, 2] {
        let mut tape = tape(folder.path(), "odd", frames);
        export_all(&mut tape, folder.path());
    }
    assert_eq!(names(&folder.path().join("odd.obj")), ["0000.obj", "0001.obj"]);
    assert_eq!(names(&folder.path().join("odd.vtk")).len(), 1 + 2 * 2);
    let expected = ["odd.csv", "odd.npz", "odd.obj", "odd.pc2", "odd.tape", "odd.usda", "odd.vtk"];
    assert_eq!(names(folder.path()), expected, "nothing hidden is left");
}

#[test]
fn the_same_tape_gives_the_same_bytes() {
    let folder = tempdir().unwrap();
    let mut tape = tape(folder.path(), "odd", 3);
    let [once, again] = [0, 1].map(|_| {
        export_all(&mut tape, folder.path());
        contents(folder.path())
    });
    assert!(once == again);
}

/// The fourth frame cannot be written: the older export stays, to the last byte, and nothing else.
#[test]
fn a_failed_export_leaves_the_older_one() {
    let folder = tempdir().unwrap();
    let mut good = tape(folder.path(), "odd", 5);
    export_all(&mut good, folder.path());
    let mut bad = tape_with(folder.path(), "odd", 5, |number, frame: &mut Frame| {
        frame.numbers.gap = if number == 3 { f64::NAN } else { 0.0 };
    });
    let before = contents(folder.path());
    for format in ALL {
        export(&mut bad, format, folder.path()).unwrap_err();
    }
    assert!(contents(folder.path()) == before);
}

/// A file for a folder, a folder for a file, or a folder with anything in it that is none of ours.
#[test]
fn what_is_no_export_is_never_replaced() {
    let folder = tempdir().unwrap();
    let mut tape = tape(folder.path(), "odd", 2);
    for format in ALL {
        let path = format.path(folder.path(), "odd");
        if FOLDERS.contains(&format) {
            fs::write(&path, "mine").unwrap();
            let error = format.check(folder.path(), "odd").unwrap_err().to_string();
            assert!(error.contains(path.to_str().unwrap()) && error.contains("found a file"), "{error}");
            fs::remove_file(&path).unwrap();

            export(&mut tape, format, folder.path()).unwrap();
            fs::write(path.join("notes.txt"), "mine").unwrap();
        } else {
            fs::create_dir(&path).unwrap();
        }
        let before = contents(folder.path());
        let error = export(&mut tape, format, folder.path()).unwrap_err();
        assert!(matches!(error, ExportError::Occupied { .. }) && error.to_string().contains("folder"), "{error}");
        assert!(contents(folder.path()) == before);
    }
    let error = Format::Vtk.check(folder.path(), "odd").unwrap_err().to_string();
    assert!(error.contains("notes.txt"), "{error}");
}

#[test]
#[cfg(unix)]
fn a_link_is_not_replaced_by_a_folder() {
    let folder = tempdir().unwrap();
    let elsewhere = tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("odd.obj")).unwrap();
    let error = Format::Obj.check(folder.path(), "odd").unwrap_err().to_string();
    assert!(error.contains("found a link"), "{error}");
}

#[test]
fn a_folder_that_is_gone_is_an_error_with_the_path() {
    let folder = tempdir().unwrap();
    let mut tape = tape(folder.path(), "odd", 2);
    let gone = folder.path().join("gone");
    for format in ALL {
        let error = export(&mut tape, format, &gone).unwrap_err();
        assert!(matches!(&error, ExportError::Write { path, .. } if path.starts_with(&gone)), "{error}");
    }
    assert!(!gone.exists());
}

/// Hidden leftovers of a killed process, even one of this process's number, are in nobody's way.
#[test]
fn leftovers_do_no_harm() {
    let folder = tempdir().unwrap();
    let mut tape = tape(folder.path(), "odd", 2);
    for ending in ["obj", "npz"] {
        let left = folder.path().join(format!(".odd.{ending}.{}-0.partial", std::process::id()));
        fs::create_dir(&left).unwrap();
        fs::write(left.join("0000.obj"), "half").unwrap();
    }
    export_all(&mut tape, folder.path());
    export_all(&mut tape, folder.path());
}

#[test]
fn a_name_that_leads_elsewhere_and_a_tape_without_frames_are_refused() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("tape");
    for (name, words) in [("../odd", "\"../odd\""), ("", "1 to 100"), ("odd", "frames is 0, expected at least 1")] {
        TapeWriter::create(&path, &begin(name)).unwrap().end(&End { json: "{}".into() }).unwrap();
        let mut tape = Tape::open(&path).unwrap();
        let error = export(&mut tape, Format::Csv, folder.path()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

fn options(folder: &Path, flags: &[&str]) -> Options {
    #[derive(clap::Parser)]
    struct Flags {
        #[command(flatten)]
        options: Options,
    }
    let out = folder.to_str().unwrap();
    <Flags as clap::Parser>::parse_from([&["example", "--out", out], flags].concat()).options
}

/// A crate that falls for two frames, with a report that is told by flags.
fn run(folder: &Path, flags: &[&str]) -> Result<String, ReportError> {
    let report = Report::new("crates", &options(folder, flags))?;
    let mut rigid = RigidBodies::new("rigid");
    rigid.add("crate", Body::dynamic(Shape::cuboid([0.8; 3])).at([0.0, 0.4, 0.0])).unwrap();
    let mut scene = Scene::new(Rate::hz(48));
    scene.add(rigid);
    let scenery = Scenery::new(Camera::framing([[-1.0, 0.0, -1.0], [1.0; 3]])).ground(0.0);
    let recording = report.record(&mut scene.build().unwrap(), 1.0 / 24.0, scenery).unwrap();
    Ok(format!("{:?}", report.finish(recording)))
}

#[test]
fn flags_say_what_is_exported() {
    let folder = tempdir().unwrap();
    let success = format!("{:?}", std::process::ExitCode::SUCCESS);
    assert_eq!(run(folder.path(), &["--export", "obj,csv", "--export=obj,npz"]).unwrap(), success);
    let exports: Vec<String> = names(folder.path())
        .into_iter()
        .filter(|name| ["csv", "npz", "obj", "usda", "pc2", "vtk"].iter().any(|ending| name.ends_with(ending)))
        .collect();
    assert_eq!(exports, ["crates.csv", "crates.npz", "crates.obj"]);
}

/// Before anything runs, not after it.
#[test]
fn a_clash_of_names_is_told_before_the_run() {
    let folder = tempdir().unwrap();
    fs::create_dir(folder.path().join("crates.obj")).unwrap();
    fs::write(folder.path().join("crates.obj/teapot.obj"), "v 0 0 0").unwrap();
    let error = run(folder.path(), &["--export", "csv,obj"]).unwrap_err();
    assert!(matches!(&error, ReportError::Export(error) if matches!(**error, ExportError::Occupied { .. })), "{error}");
    assert!(error.to_string().contains("crates.obj") && error.to_string().contains("teapot.obj"), "{error}");
    assert_eq!(names(folder.path()), ["crates.obj"], "nothing was written");
    run(folder.path(), &["--export", "csv"]).unwrap();
}
