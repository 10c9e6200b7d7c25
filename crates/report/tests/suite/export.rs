//! Laws of exports: what comes back is what was on the tape, to the last bit that the format has.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::common::{begin, frame, tape, tape_with};
use partita_report::{ExportError, Format, Frame, Placement, export};
use tempfile::{TempDir, tempdir};

const FRAMES: usize = 7;

/// The tape `odd` in one format; its folder.
fn exported(format: Format) -> TempDir {
    let folder = tempdir().unwrap();
    export(&mut tape(folder.path(), "odd", FRAMES), format, folder.path()).unwrap();
    folder
}

/// World vertices of all surfaces in a row, of frame `number`.
fn vertices(number: usize) -> Vec<Vec<[f64; 3]>> {
    let begin = begin("odd");
    let placed = frame(&begin, number).surfaces;
    placed.iter().zip(&begin.surfaces).map(|(placement, taped)| placement.vertices(&taped.surface)).collect()
}

fn drops(number: usize) -> Vec<[f64; 3]> {
    frame(&begin("odd"), number).clouds[2].positions.clone()
}

fn ids(number: usize) -> Vec<u64> {
    frame(&begin("odd"), number).clouds[2].ids.clone()
}

fn numbers<T: std::str::FromStr>(words: &str) -> Vec<T> {
    words.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn obj_brings_every_bit_back() {
    let folder = exported(Format::Obj);
    for number in 0..FRAMES {
        let text = fs::read_to_string(folder.path().join(format!("odd.obj/{number:04}.obj"))).unwrap();
        let lines = |kind: &str| -> Vec<String> {
            text.lines().filter_map(|line| line.strip_prefix(kind)).map(String::from).collect()
        };
        let found: Vec<Vec<f64>> = lines("v ").iter().map(|line| numbers(line)).collect();
        let expected: Vec<Vec<f64>> =
            vertices(number).concat().iter().chain(&drops(number)).map(|point| point.to_vec()).collect();
        assert_eq!(found, expected, "frame {number}");

        let mut first = 1;
        let mut corners: Vec<Vec<u32>> = Vec::new();
        for taped in &begin("odd").surfaces {
            corners.extend(taped.surface.triangles.iter().map(|t| t.map(|i| i + first).to_vec()));
            first += taped.surface.vertices.len() as u32;
        }
        assert_eq!(lines("f ").iter().map(|line| numbers(line)).collect::<Vec<Vec<u32>>>(), corners);
        assert_eq!(lines("p ").len(), drops(number).len());
        let objects: HashSet<String> = lines("o ").into_iter().collect();
        assert_eq!(objects.len(), 5 + usize::from(number > 0), "one each, and particles where there are some");
        assert!(
            text.lines().skip(1).all(|line| ["o ", "v ", "f ", "p "].contains(&&line[..2])),
            "no name breaks a line"
        );
    }
}

#[test]
fn point_caches_hold_every_vertex_in_single_precision() {
    let folder = exported(Format::Pc2);
    let names = [
        "flag___1_sheet___waving_",
        "rigid_crate_0_0",
        "rigid_crate_0_0_2",
        "rigid_floor_",
        "_2_jets___warm____and_cold____v_0_0_0",
    ];
    for (i, name) in names.iter().enumerate() {
        let bytes = fs::read(folder.path().join(format!("odd.pc2/{name}.pc2"))).unwrap();
        let n = vertices(0)[i].len();
        assert_eq!(&bytes[..12], b"POINTCACHE2\0");
        assert_eq!(bytes[12..20], [1i32, n as i32].map(i32::to_le_bytes).concat());
        assert_eq!(bytes[20..28], [0f32, 1.0].map(f32::to_le_bytes).concat());
        assert_eq!(bytes[28..32], (FRAMES as i32).to_le_bytes());
        let expected: Vec<u8> = (0..FRAMES)
            .flat_map(|number| vertices(number)[i].concat())
            .flat_map(|x| (x as f32).to_le_bytes())
            .collect();
        assert_eq!(bytes[32..], expected, "{name}");
    }
}

/// A run may end between two frames: other formats say when, a cache has no word for it.
#[test]
fn point_caches_leave_out_a_last_frame_that_is_too_early() {
    for (early, samples) in [(0.5 / 24.0, FRAMES - 1), (1e-9, FRAMES), (-1e-3, FRAMES)] {
        let folder = tempdir().unwrap();
        let ended = |number: usize, frame: &mut Frame| frame.time -= if number == FRAMES - 1 { early } else { 0.0 };
        let mut tape = tape_with(folder.path(), "odd", FRAMES, ended);
        let files = export(&mut tape, Format::Pc2, folder.path()).unwrap();
        let bytes = fs::read(files.join("rigid_crate_0_0.pc2")).unwrap();
        assert_eq!(bytes[28..32], (samples as i32).to_le_bytes(), "{early} s too early");
        assert_eq!(bytes.len(), 32 + samples * vertices(0)[1].len() * 12);
    }
}

/// Kind, shape and bytes of an array.
fn array(path: &Path, name: &str) -> (String, String, Vec<u8>) {
    let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
    let mut bytes = Vec::new();
    archive.by_name(&format!("{name}.npy")).unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let begin = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!((begin % 64, bytes[begin - 1]), (0, b'\n'));
    let header = String::from_utf8(bytes[10..begin].to_vec()).unwrap();
    let between = |a: &str, b: &str| header.split_once(a).unwrap().1.split_once(b).unwrap().0.to_string();
    (between("'descr': '", "'"), between("'shape': (", ")"), bytes[begin..].to_vec())
}

fn bytes_of(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[test]
fn arrays_hold_every_bit_and_tell_their_shape() {
    let folder = exported(Format::Npz);
    let (path, begin) = (folder.path().join("odd.npz"), begin("odd"));
    let all = |take: &dyn Fn(Frame) -> Vec<f64>| -> Vec<u8> {
        (0..FRAMES).flat_map(|number| bytes_of(&take(frame(&begin, number)))).collect()
    };
    let float = |shape: &str, bytes| ("<f8".to_string(), shape.to_string(), bytes);

    assert_eq!(array(&path, "frames_per_second"), float("", bytes_of(&[24.0])));
    assert_eq!(array(&path, "time"), float("7,", all(&|f| vec![f.time])));
    let sheet = all(&|f| f.surfaces[0].vertices(&begin.surfaces[0].surface).concat());
    assert_eq!(array(&path, "flag é/1/sheet, \"waving\"/vertices"), float("7, 117, 3,", sheet));
    let strains = all(&|f| f.numbers.strains[0].unwrap().to_vec());
    assert_eq!(array(&path, "flag é/1/sheet, \"waving\"/strain"), float("7, 2,", strains));
    let turns = all(&|f| match f.surfaces[1] {
        Placement::Rigid { orientation, .. } => orientation.to_vec(),
        Placement::Deformed(_) => unreachable!("a crate is rigid"),
    });
    assert_eq!(array(&path, "rigid/crate 0/0/orientation"), float("7, 4,", turns));

    let cloud = "2 jets, \"warm\"__ and cold/particles";
    let (_, shape, offsets) = array(&path, &format!("{cloud}/offsets"));
    let counts = (0..FRAMES).scan(0, |sum, number| {
        *sum += drops(number).len() as i64;
        Some(*sum)
    });
    let expected: Vec<u8> = std::iter::once(0).chain(counts).flat_map(i64::to_le_bytes).collect();
    assert_eq!((shape.as_str(), offsets), ("8,", expected));
    assert_eq!(array(&path, &format!("{cloud}/points")).2, all(&|f| f.clouds[2].positions.concat()));
    let all_ids: Vec<u64> = (0..FRAMES).flat_map(ids).collect();
    let bytes = all_ids.iter().copied().flat_map(u64::to_le_bytes).collect();
    assert_eq!(array(&path, &format!("{cloud}/ids")), ("<u8".into(), format!("{},", all_ids.len()), bytes));
    assert_eq!(array(&path, "forces/force").2, all(&|f| f.forces.iter().flat_map(|force| force.force).collect()));

    let unknown = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let kinetic = all(&|f| f.numbers.energies.iter().map(|e| unknown(e.map(|[kinetic, _]| kinetic))).collect());
    assert_eq!(array(&path, "kinetic"), float("7, 3,", kinetic));
    assert_eq!(array(&path, "momentum_error").2, all(&|f| vec![unknown(f.numbers.momentum_error)]));
    // By simulator, in the order in which they first ran: "predict", "late" from frame 3 on, and "step".
    let [predict, step] = [0, 1].map(|simulator| move |f: &Frame| f.numbers.stages[simulator][0].1);
    let late = |f: &Frame| f.numbers.stages[0].get(1).map_or(f64::NAN, |stage| stage.1);
    let times = all(&|f| vec![predict(&f), late(&f), step(&f)]);
    assert_eq!(array(&path, "stage_times"), float("7, 3,", times));
    let (kind, shape, _) = array(&path, "stages");
    assert_eq!((kind.as_str(), shape.as_str()), ("<U15", "3, 2,"));
    let impulses = all(&|f| f.numbers.impulses.as_flattened().concat());
    assert_eq!(array(&path, "impulses"), float("7, 2, 3, 6,", impulses));
    let (kind, shape, _) = array(&path, "interfaces");
    assert_eq!((kind.as_str(), shape.as_str()), ("<U25", "2, 2,"));
}

/// Cells of each row, quoted or not (RFC 4180).
fn table(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '"' if quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            c => cell.push(c),
        }
    }
    rows
}

#[test]
fn the_ledger_is_a_row_a_frame() {
    let folder = exported(Format::Csv);
    let rows = table(&fs::read_to_string(folder.path().join("odd.csv")).unwrap());
    assert_eq!(rows.len(), 1 + FRAMES);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "every row has every column");
    assert_eq!(rows[0].iter().collect::<HashSet<_>>().len(), rows[0].len(), "no column has the name of another");
    let cell = |number: usize, column: &str| {
        let i = rows[0].iter().position(|name| name == column).unwrap_or_else(|| panic!("{column}: {:?}", rows[0]));
        rows[1 + number][i].parse::<f64>().ok()
    };
    for number in 0..FRAMES {
        let frame = frame(&begin("odd"), number);
        let n = &frame.numbers;
        assert_eq!(cell(number, "time [s]"), Some(frame.time));
        assert_eq!(cell(number, "rigid: kinetic energy [J]"), n.energies[1].map(|[kinetic, _]| kinetic));
        assert_eq!(cell(number, "2 jets, \"warm\"\n# and cold: potential energy [J]"), None);
        assert_eq!(cell(number, "momentum error [N s]"), n.momentum_error);
        assert_eq!(cell(number, "flag é/1: predict, \"fast\" [ms]"), Some(n.stages[0][0].1));
        assert_eq!(cell(number, "flag é/1: late [ms]"), (number > 2).then_some(0.25), "a stage that first ran later");
        let strains = n.strains[0].unwrap();
        for (kind, strain) in ["largest", "mean"].into_iter().zip(strains) {
            assert_eq!(cell(number, &format!("flag é/1/sheet, \"waving\": {kind} strain [-]")), Some(strain));
        }
        let column = "2 jets, \"warm\"\n# and cold on rigid: impulse got z [N s]";
        assert_eq!(cell(number, column), Some(n.impulses[1][1][2]));
        let column = "flag é/1 on rigid: twist pending x [N m s]";
        assert_eq!(cell(number, column), Some(n.impulses[0][2][3]));
    }
}

/// The words between two others, each time.
fn between<'a>(text: &'a str, a: &'a str, b: &'a str) -> Vec<&'a str> {
    text.split(a).skip(1).map(|rest| rest.split_once(b).unwrap().0).collect()
}

fn from_base64(text: &str) -> Vec<u8> {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut have, mut bytes) = (0u32, 0, Vec::new());
    for letter in text.trim_end_matches('=').chars() {
        bits = bits << 6 | letters.find(letter).unwrap() as u32;
        have += 6;
        if have >= 8 {
            have -= 8;
            bytes.push((bits >> have) as u8);
        }
    }
    bytes
}

/// The sheet is stretched by a tenth in a second along the edges that run along x, as long as it is level.
#[test]
fn paraview_gets_vertices_strain_and_forces() {
    let folder = tempdir().unwrap();
    let flat = |_: usize, frame: &mut Frame| {
        if let Placement::Deformed(vertices) = &mut frame.surfaces[0] {
            vertices.iter_mut().for_each(|[_, y, _]| *y = 5.0);
        }
    };
    let opened = export(&mut tape_with(folder.path(), "odd", 3, flat), Format::Vtk, folder.path()).unwrap();
    let list = fs::read_to_string(&opened).unwrap();
    let times: Vec<f64> = between(&list, "timestep=\"", "\"").iter().map(|t| t.parse().unwrap()).collect();
    let time = |number| frame(&begin("odd"), number).time;
    assert_eq!(times, [time(0), time(0), time(1), time(1), time(2), time(2)]);

    let floats = |file: &str, name: &str| -> Vec<f64> {
        let text = fs::read_to_string(folder.path().join("odd.vtk").join(file)).unwrap();
        let rest = text.split_once(&format!("Name=\"{name}\"")).unwrap().1;
        let bytes = from_base64(rest.split_once('>').unwrap().1.split_once('<').unwrap().0);
        assert_eq!(bytes[..8], (bytes.len() as u64 - 8).to_le_bytes(), "the length comes first");
        bytes[8..].chunks(8).map(|eight| f64::from_le_bytes(eight.try_into().unwrap())).collect()
    };
    let strain = floats("surfaces_0002.vtp", "strain");
    let [m, n] = crate::common::SIDE;
    assert!(strain[..m * n].iter().all(|s| (s - 0.1 * 2.0 / 24.0).abs() < 1e-12), "{:?}", &strain[..m * n]);
    assert!(strain[m * n..].iter().all(|&s| s == 0.0), "what is rigid is not strained");
    let points = floats("surfaces_0002.vtp", "Points");
    assert_eq!(points[3 * m * n..], [vertices(2)[1..].concat(), drops(2)].concat().concat());
    let text = fs::read_to_string(folder.path().join("odd.vtk/surfaces_0002.vtp")).unwrap();
    let (_, rest) = text.split_once("Name=\"id\"").unwrap();
    let bytes = from_base64(rest.split_once('>').unwrap().1.split_once('<').unwrap().0);
    let own: Vec<i64> = bytes[8..].chunks(8).map(|eight| i64::from_le_bytes(eight.try_into().unwrap())).collect();
    let first = own.len() - drops(2).len();
    assert!(own[..first].iter().all(|&id| id == -1), "vertices have none");
    assert_eq!(own[first..], ids(2).iter().map(|&id| id as i64).collect::<Vec<_>>());
    let forces = frame(&begin("odd"), 0).forces;
    assert_eq!(forces.len(), 2);
    assert_eq!(floats("forces_0000.vtp", "force"), forces.iter().flat_map(|f| f.force).collect::<Vec<_>>());
    assert!(floats("forces_0001.vtp", "Points").is_empty(), "no force in the second frame");
}

#[test]
fn usd_has_a_prim_a_thing_and_a_sample_a_frame() {
    let folder = exported(Format::Usda);
    let text = fs::read_to_string(folder.path().join("odd.usda")).unwrap();
    assert!(text.starts_with("#usda 1.0\n"));
    assert_eq!(between(&text, "endTimeCode = ", "\n"), [(FRAMES - 1).to_string()]);
    assert_eq!(between(&text, "def Mesh \"", "\"").len(), 5);
    assert_eq!(between(&text, "def Points \"", "\""), ["particles"]);
    let prims = between(&text, "def ", "\n").into_iter().map(|line| line.split('"').nth(1).unwrap());
    let prims: Vec<&str> = prims.collect();
    let valid = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.is_empty();
    assert!(prims.iter().all(valid) && prims.iter().all(|name| !name.as_bytes()[0].is_ascii_digit()), "{prims:?}");
    assert_eq!(prims.iter().collect::<HashSet<_>>().len(), prims.len(), "here, all names differ");
    for samples in between(&text, ".timeSamples = {\n", "            }") {
        assert_eq!(samples.lines().count(), FRAMES);
    }
    let samples = between(between(&text, "int64[] ids.timeSamples = {\n", "}")[0], ": [", "]");
    let found: Vec<Vec<u64>> = samples.iter().map(|list| numbers(&list.replace(',', " "))).collect();
    assert_eq!(found, (0..FRAMES).map(ids).collect::<Vec<_>>());
    assert_eq!(text.matches("visibility = \"invisible\"").count(), 1, "the floor is there, but not shown");
    let depth = |open: char, close: char| {
        let outside = text.split('"').step_by(2).flat_map(str::chars);
        outside.map(|c| i32::from(c == open) - i32::from(c == close)).sum::<i32>()
    };
    let escaped = text.replace("\\\\", "").replace("\\\"", "");
    assert_eq!(escaped.matches('"').count() % 2, 0, "strings end");
    assert_eq!((depth('{', '}'), depth('[', ']')), (0, 0));
}

/// A window of 1/30 s does not end with frames: codes are times, not counts.
#[test]
fn time_codes_of_usd_are_true_to_the_clock() {
    let folder = tempdir().unwrap();
    let late = |number: usize, frame: &mut Frame| frame.time = 0.5 + (number as f64 / 24.0 * 30.0).ceil() / 30.0;
    export(&mut tape_with(folder.path(), "odd", 3, late), Format::Usda, folder.path()).unwrap();
    let text = fs::read_to_string(folder.path().join("odd.usda")).unwrap();
    let codes: Vec<f64> = numbers(between(&text, "endTimeCode = ", "\n")[0]);
    assert!((codes[0] - 24.0 * 3.0 / 30.0).abs() < 1e-9, "{codes:?}");
    assert!(text.contains("\n                1.6: "), "2 windows are 1.6 frames");
}

/// An error that names frame and thing, and no file.
#[test]
fn what_no_file_can_show_is_an_error() {
    let nowhere = |frame: &mut Frame| frame.clouds[2].positions[1][0] = f64::INFINITY;
    let torn = |frame: &mut Frame| match &mut frame.surfaces[0] {
        Placement::Deformed(vertices) => vertices[7][1] = f64::NAN,
        Placement::Rigid { .. } => unreachable!("the sheet deforms"),
    };
    let turned = |frame: &mut Frame| {
        frame.surfaces[1] = Placement::Rigid { position: [0.0; 3], orientation: [0.0; 4] };
    };
    let free = |frame: &mut Frame| frame.numbers.work = f64::NAN;
    let back = |frame: &mut Frame| frame.time = 0.0;
    type Change = fn(&mut Frame);
    let changes: [(Change, &str); 5] = [
        (nowhere, "particle 1 of `2 jets"),
        (torn, "surface `flag é/1/sheet, \"waving\"`, vertex 7 is [40.7"),
        (turned, "surface `rigid/crate 0/0` is at [0.0, 0.0, 0.0], turned by [0.0, 0.0, 0.0, 0.0]"),
        (free, "work is NaN, expected a finite number"),
        (back, "time is 0 s, expected a time after 0.58"),
    ];
    for (change, words) in changes {
        let folder = tempdir().unwrap();
        let mut tape = tape_with(folder.path(), "odd", 5, |number, frame| {
            if number == 3 {
                change(frame)
            }
        });
        for format in [Format::Obj, Format::Usda, Format::Pc2, Format::Vtk, Format::Npz, Format::Csv] {
            let error = export(&mut tape, format, folder.path()).unwrap_err();
            assert!(matches!(error, ExportError::Unsound { .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains("frame 3") && text.contains(words), "{text}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing but the tape");
    }
}
