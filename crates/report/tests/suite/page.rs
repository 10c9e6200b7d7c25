//! Laws of pages: what is on the tape comes back within half a step, nothing is fetched, nothing is injected.

use crate::pages::{AT, Point, away, begin, header, page_of, section, surface, tape};
use partita::simulator::Cloud;
use partita_report::{Begin, Force, Frame, Numbers, Page, Placement, page};
use serde_json::{Value, json};

fn floats(bytes: &[u8]) -> Vec<f32> {
    let n = bytes.len() / 4;
    (0..n).map(|i| f32::from_le_bytes([0, 1, 2, 3].map(|k| bytes[k * n + i]))).collect()
}

/// Positions of a track by frame, relative to the page's origin; `None` where a point is hidden.
fn decoded(page: &Page, track: &Value) -> Vec<Vec<Option<Point>>> {
    let bytes = section(page, &track["section"]);
    let (mut at, mut frames) = (0, Vec::<Vec<[u16; 3]>>::new());
    // Of the frames before, those who are still there; each at its place.
    let (mut last, mut before) = (Vec::<[u16; 3]>::new(), Vec::<[u16; 3]>::new());
    for (count, gone) in numbers(&track["counts"]).into_iter().zip(gone(page, track)) {
        for codes in [&mut last, &mut before] {
            let mut place = 0;
            codes.retain(|_| {
                place += 1;
                !gone.contains(&(place - 1))
            });
        }
        let mut codes = vec![[0u16; 3]; count];
        for axis in 0..3 {
            for i in 0..count {
                let folded = u16::from(bytes[at + i]) | u16::from(bytes[at + count + i]) << 8;
                let rest = (folded >> 1) ^ (folded & 1).wrapping_neg();
                let foretold = match (last.get(i), before.get(i)) {
                    (Some(a), Some(b)) => a[axis].wrapping_mul(2).wrapping_sub(b[axis]),
                    (Some(a), None) => a[axis],
                    _ if i > last.len() => codes[i - 1][axis],
                    _ => 0,
                };
                codes[i][axis] = foretold.wrapping_add(rest);
            }
            at += 2 * count;
        }
        (before, last) = (last, codes.clone());
        frames.push(codes);
    }
    assert_eq!(at, bytes.len());
    let number = |name: &str, k: usize| track[name][k].as_f64().unwrap();
    let place = |code: &[u16; 3]| {
        (code[0] < u16::MAX).then(|| [0, 1, 2].map(|k| number("low", k) + f64::from(code[k]) * number("step", k)))
    };
    frames.iter().map(|codes| codes.iter().map(place).collect()).collect()
}

fn numbers(list: &Value) -> Vec<usize> {
    list.as_array().unwrap().iter().map(|number| number.as_u64().unwrap() as usize).collect()
}

/// By frame, the places in the frame before whose points are gone.
fn gone(page: &Page, track: &Value) -> Vec<Vec<usize>> {
    let gone = &track["gone"];
    if gone.is_null() {
        return vec![vec![]; numbers(&track["counts"]).len()];
    }
    let bytes = section(page, &gone["section"]);
    let n = bytes.len() / 4;
    let mut gaps = (0..n).map(|i| u32::from_le_bytes([0, 1, 2, 3].map(|k| bytes[k * n + i])) as usize);
    let mut places = |count: usize| {
        gaps.by_ref()
            .take(count)
            .scan(0, |next, gap| {
                *next += gap + 1;
                Some(*next - 1)
            })
            .collect()
    };
    numbers(&gone["counts"]).into_iter().map(&mut places).collect()
}

/// Who is at which place: those who stay keep their order, newcomers come last.
fn in_order(frames: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let mut orders = vec![Vec::new()];
    for ids in frames {
        let earlier = &orders[orders.len() - 1];
        let stay = earlier.iter().filter(|id| ids.contains(id));
        orders.push(stay.chain(ids.iter().filter(|id| !earlier.contains(id))).copied().collect());
    }
    orders.split_off(1)
}

/// Within half a step, and a rounding of single precision at the size of the scene.
fn assert_near(found: &[Vec<Option<Point>>], expected: &[Vec<Point>], track: &Value) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            let shown = expected.iter().all(|x| x.is_finite() && x.abs() < 1e8);
            assert_eq!(found.is_some(), shown, "{expected:?}");
            let Some(found) = found else { continue };
            for k in 0..3 {
                let bound = 0.5 * track["step"][k].as_f64().unwrap() + 1e-6;
                let error = (found[k] + AT[k] - expected[k]).abs();
                assert!(error <= bound, "{found:?} for {expected:?}: {error:e} > {bound:e}");
            }
        }
    }
}

/// A sheet that waves and drops that come, fly, vanish and are not finite: all comes back within half of 1/65534 of the
/// extent of its motion.
#[test]
fn positions_come_back_within_half_a_step() {
    let place = |i: usize| [(i / 9) as f64 * 0.1, 0.5, (i % 9) as f64 * 0.1];
    let waved = |f: usize, i: usize| {
        let [x, y, z] = place(i);
        away([x, y + 0.2 * (3.0 * x + 0.4 * f as f64).sin(), z])
    };
    let flown = |f: usize, i: usize| {
        let (t, s) = (f as f64 / 24.0, i as f64);
        away([s.sin() * 3.0 + 2.0 * t, 4.0 + s.cos() - 4.9 * t * t, 0.1 * s * (7.0 * t).sin()])
    };
    let cells = (0..8).flat_map(|i| (0..8).map(move |j| 9 * i + j));
    let triangles = cells.flat_map(|a: u32| [[a, a + 1, a + 10], [a, a + 10, a + 9]]).collect();
    let rest = (0..81).map(|i| away(place(i))).collect();
    let begin = Begin { surfaces: vec![surface("sheet", rest, triangles, false)], ..begin("waving") };

    // Some stay for long, others for a frame; twice all go at once.
    let crowds: Vec<Vec<u64>> = vec![
        (0..5).collect(),
        (0..9).collect(),
        vec![0, 2, 3, 4, 8, 11, 12],
        (2..40).collect(),
        (2..40).step_by(3).chain([40, 41, 90]).collect(),
        vec![],
        vec![50, 53, 54],
        vec![1 << 60, u64::MAX],
    ];
    let cloth: Vec<Vec<Point>> = (0..crowds.len()).map(|f| (0..81).map(|i| waved(f, i)).collect()).collect();
    let drop = |f: usize, id: u64| match (f, id) {
        (3, 7) => [f64::NAN, 0.0, 0.0],
        (4, 5) => [0.0, 1e9, 0.0],
        _ => flown(f, (id % 97) as usize),
    };
    let drops = |crowds: &[Vec<u64>]| -> Vec<Vec<Point>> {
        crowds.iter().enumerate().map(|(f, ids)| ids.iter().map(|&id| drop(f, id)).collect()).collect()
    };
    let frames =
        cloth.iter().zip(drops(&crowds)).zip(&crowds).enumerate().map(|(f, ((cloth, positions), ids))| Frame {
            time: f as f64 / 24.0,
            surfaces: vec![Placement::Deformed(cloth.clone())],
            clouds: vec![Cloud { positions, ids: ids.clone() }],
            ..Frame::default()
        });
    let page = page_of(&begin, frames);

    let header = header(&page);
    let (sheet, cloud) = (&header["surfaces"][0]["track"], &header["clouds"][0]["track"]);
    assert_near(&decoded(&page, sheet), &cloth, sheet);
    assert_near(&decoded(&page, cloud), &drops(&in_order(&crowds)), cloud);
    assert!(page.notes.is_empty(), "{:?}", page.notes);
    // One point out of reach has not made the steps of all others coarse.
    assert!(cloud["step"].as_array().unwrap().iter().all(|step| step.as_f64().unwrap() < 1e-3));
}

#[test]
fn poses_and_forces_come_back_in_single_precision() {
    let shape = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let begin = Begin { surfaces: vec![surface("plate", shape, vec![[0, 1, 2]], true)], ..begin("turning") };
    let pose = |f: usize| {
        let angle = 0.1 * f as f64;
        (away([angle, 0.3, -angle * angle]), [0.0, angle.sin(), 0.0, angle.cos()])
    };
    let frames = (0..6).map(|f| {
        let (position, orientation) = pose(f);
        let force = Force { interface: 0, position, force: [1.0, f as f64, -0.1], torque: [0.0; 3] };
        let surfaces = vec![Placement::Rigid { position, orientation }];
        Frame {
            time: f as f64 / 24.0,
            surfaces,
            clouds: vec![Cloud::default()],
            forces: vec![force; f],
            ..Frame::default()
        }
    });
    let page = page_of(&begin, frames);

    let header = header(&page);
    let words = floats(&section(&page, &header["surfaces"][0]["poses"]));
    let mut bits = [0u32; 7];
    for (f, seven) in words.chunks(7).enumerate() {
        (0..7).for_each(|k| bits[k] ^= seven[k].to_bits());
        let (position, orientation) = pose(f);
        for k in 0..3 {
            assert!((f64::from(f32::from_bits(bits[k])) + AT[k] - position[k]).abs() < 1e-6);
        }
        assert_eq!([3, 4, 5, 6].map(|k| f32::from_bits(bits[k])), orientation.map(|x| x as f32));
    }
    let forces = floats(&section(&page, &header["forces"]["section"]));
    assert_eq!(header["forces"]["counts"], json!([0, 1, 2, 3, 4, 5]));
    assert_eq!(forces.len(), 7 * 15);
    assert_eq!(forces[4..7], [1.0, 1.0, -0.1]);
}

/// The browser is told to fetch nothing, and there is nothing it could fetch.
#[test]
fn a_page_is_one_file_of_less_than_a_megabyte_and_its_data() {
    let page = page_of(&begin("empty"), [Frame { clouds: vec![Cloud::default()], ..Frame::default() }]);
    assert!(page.html.len() < 200_000, "{} bytes", page.html.len());
    assert!(page.html.contains("default-src 'none'"));
    for word in
        ["http:", "https:", "src=", "href=", "@import", "url(", "fetch(", "import(", "XMLHttpRequest", "WebSocket"]
    {
        assert!(!page.html.contains(word), "{word}");
    }
}

#[test]
fn names_cannot_become_elements() {
    let evil = "</script><b>&\u{2028}<!--<script>";
    let vertices = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let begin = Begin {
        command: vec![evil.into(), "@script@ @blob@".into()],
        simulators: vec![evil.into()],
        surfaces: vec![surface(evil, vertices, vec![[0, 1, 2]], true)],
        ..begin(evil)
    };
    let folder = tempfile::tempdir().unwrap();
    let document = json!({"checks": [{"name": evil, "value": 1, "bound": {"at_most": 2}, "unit": evil, "pass": true}]});
    let still = Placement::Rigid { position: AT, orientation: [0.0, 0.0, 0.0, 1.0] };
    let frame = Frame { surfaces: vec![still], clouds: vec![Cloud::default()], ..Frame::default() };
    let page = page(&mut tape(folder.path(), &begin, [frame], Some(&document.to_string()))).unwrap();

    assert!(!page.html.contains("<b>") && !page.html.contains("<!--<script>"));
    let clean = page_of(&self::begin("clean"), []);
    let scripts = |page: &Page| page.html.matches("</script").count();
    assert_eq!(scripts(&page), scripts(&clean));
    let header = header(&page);
    for name in [&header["name"], &header["command"][0], &header["simulators"][0], &header["surfaces"][0]["name"]] {
        assert_eq!(name, evil);
    }
    assert_eq!(header["command"][1], "@script@ @blob@");
    let report: Value = serde_json::from_str(header["report"].as_str().unwrap()).unwrap();
    assert_eq!(report, document);
}

/// Above 50 000 vertices one particle in two, or four, is shown: whoever is, is so in each frame. The page says so.
#[test]
fn many_particles_are_thinned_and_noted() {
    // In rows of a thousand, so that the place tells who it is; every second id.
    let place = |i: u64| [0.01 * (i % 1000) as f64, 0.01 * (i / 1000) as f64, 0.0];
    let drops =
        |n: u64| Cloud { positions: (0..n).map(|i| away(place(i))).collect(), ids: (0..n).map(|i| 2 * i).collect() };
    let counts = [30_000, 60_000, 130_000, 100];
    let frames = counts.iter().enumerate();
    let frames = frames.map(|(f, &n)| Frame { time: f as f64 / 24.0, clouds: vec![drops(n)], ..Frame::default() });
    let page = page_of(&begin("flood"), frames);

    assert!(page.notes.iter().any(|note| note.contains("decimated: one free particle in 4")), "{:?}", page.notes);
    let header = header(&page);
    assert_eq!(header["notes"][0], page.notes[0]);
    let who = |point: &Option<Point>| {
        let [column, row] = [0, 1].map(|k| (100.0 * point.unwrap()[k]).round() as u64);
        column + 1000 * row
    };
    let found = decoded(&page, &header["clouds"][0]["track"]);
    let found: Vec<Vec<u64>> = found.iter().map(|points| points.iter().map(who).collect()).collect();
    for (shown, n) in found.iter().zip(counts) {
        assert!(shown.len().abs_diff(n as usize / 4) <= 10, "{} of {n}", shown.len());
        let mut shown = shown.clone();
        shown.sort_unstable();
        let expected: Vec<u64> = found[2].iter().copied().filter(|&i| i < n).collect();
        assert_eq!(shown.len(), expected.len());
        assert!(expected.iter().all(|i| shown.binary_search(i).is_ok()), "others of {n}");
    }
}

/// Noise does not deflate: 60 frames of 50 000 drops are 18 MB of codes and 24 MB of text.
#[test]
fn a_large_page_is_noted() {
    let mut state = 1u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1 << 24) as f64
    };
    let frames = (0..60).map(|f| {
        let positions = (0..50_000).map(|_| away([noise(), noise(), noise()])).collect();
        let drops = Cloud { positions, ids: (0..50_000).collect() };
        Frame { time: f as f64 / 24.0, clouds: vec![drops], ..Frame::default() }
    });
    let page = page_of(&begin("noise"), frames.collect::<Vec<_>>());
    assert!(page.html.len() > 20_000_000);
    assert!(page.notes.iter().any(|note| note.contains("a page of 2")), "{:?}", page.notes);
}

/// 96 frames a second of tape are 24 of the page and the last one; charts have all of them.
#[test]
fn a_page_takes_24_frames_a_second() {
    let numbers = |f: usize| Numbers { gap: f as f64, passes: 1.0, ..Numbers::default() };
    let frames = (0..=98).map(|f| Frame {
        time: f as f64 / 96.0,
        clouds: vec![Cloud::default()],
        numbers: numbers(f),
        ..Frame::default()
    });
    let page = page_of(&Begin { frames_per_second: 96.0, ..begin("fast") }, frames);
    let header = header(&page);
    let times: Vec<f64> = header["times"].as_array().unwrap().iter().map(|time| time.as_f64().unwrap()).collect();
    let mut expected: Vec<f64> = (0..=24).map(|f| f as f64 / 24.0).collect();
    expected.push(98.0 / 96.0);
    assert_eq!(times.len(), expected.len());
    assert!(times.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{times:?}");
    assert_eq!(header["charts"]["gap"].as_array().unwrap().len(), 99);
}

/// A run that was killed leaves a tape without an end, and still has a page.
#[test]
fn a_tape_that_was_cut_short_has_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let page = page(&mut tape(folder.path(), &begin("short"), [], None)).unwrap();
    assert_eq!(header(&page)["report"], Value::Null);
}
