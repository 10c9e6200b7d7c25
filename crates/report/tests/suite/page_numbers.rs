//! Laws of what pages show in colours and curves: strains and the numbers of the tape, each as it was.

use crate::pages::{away, begin, header, page_of, section, surface};
use partita::simulator::Cloud;
use partita_report::{Begin, Frame, Numbers, Placement};
use serde_json::json;

/// Strain is that of the simulator's own positions in the very frame, however coarse the page's are: a cloth that only
/// turns and travels has none at all, one that grows by 1 % a frame has that everywhere.
#[test]
fn rigid_motions_are_not_strained_and_growth_is() {
    let place = |i: usize| [(i / 9) as f64 * 0.01, 0.5, (i % 9) as f64 * 0.01];
    let cells = (0..8).flat_map(|i| (0..8).map(move |j| 9 * i + j));
    let triangles: Vec<[u32; 3]> = cells.flat_map(|a: u32| [[a, a + 1, a + 10], [a, a + 10, a + 9]]).collect();
    let moved = |f: usize, i: usize, growth: f64| {
        let ([x, y, z], angle) = (place(i).map(|x| x * (1.0 + growth * f as f64)), 0.3 * f as f64);
        away([x * angle.cos() - y * angle.sin() + f as f64, x * angle.sin() + y * angle.cos(), z])
    };
    let cloth = |name: &str| surface(name, (0..81).map(|i| away(place(i))).collect(), triangles.clone(), false);
    let surfaces = vec![cloth("stiff"), cloth("growing")];
    let frames = (0..6).map(|f| Frame {
        time: f as f64 / 24.0,
        surfaces: [0.0, 0.01].map(|growth| Placement::Deformed((0..81).map(|i| moved(f, i, growth)).collect())).into(),
        clouds: vec![Cloud::default()],
        ..Frame::default()
    });
    let page = page_of(&Begin { surfaces, ..begin("moving") }, frames);

    let header = header(&page);
    let scale = header["strain_scale"].as_f64().unwrap();
    assert_eq!(scale, 0.05);
    assert!(section(&page, &header["surfaces"][0]["strains"]).iter().all(|&code| code == 0));
    let (codes, mut sums) = (section(&page, &header["surfaces"][1]["strains"]), vec![0u8; 81]);
    assert_eq!(codes.len(), 6 * 81);
    for (f, codes) in codes.chunks(81).enumerate() {
        for (sum, code) in sums.iter_mut().zip(codes) {
            *sum = sum.wrapping_add(*code);
            let error = f64::from(*sum as i8) / 63.0 * scale - 0.01 * f as f64;
            assert!(error.abs() < 0.501 * scale / 63.0, "off by {error} in frame {f}");
        }
    }
}

/// Charts have the numbers of the tape in columns, each under its own name, by simulator and frame.
#[test]
fn charts_have_the_numbers_of_their_names() {
    let numbers = |f: f64| Numbers {
        energies: vec![Some([1.0 + f, 2.0]), None, Some([3.0, 4.0 + f])],
        work: 5.0 + f,
        momentum_error: (f > 0.0).then_some(6.0 + f),
        gap: 7.0 + f,
        load_change: 8.0,
        passes: 9.0 + f,
        iterations: vec![10.0, 11.0 + f, 12.0],
        // The second stage of the first turns up late.
        stages: vec![
            [("bend", 13.0 + f), ("solve", 14.0)][..1 + f as usize].iter().map(|&(s, ms)| (s.into(), ms)).collect(),
            vec![],
            vec![("bend".into(), 15.0)],
        ],
        coupling: 16.0 + f,
        // Linear ones, with their signs, and of both couplings: |(3, 4, 0) + (-3, 0, 3 f)|.
        impulses: vec![
            [[17.0; 6], [18.0; 6], [3.0, 4.0, 0.0, 19.0, 19.0, 19.0]],
            [[17.0; 6], [18.0; 6], [-3.0, 0.0, 3.0 * f, 19.0, 19.0, 19.0]],
        ],
        windows: 20,
        strains: vec![],
    };
    let begin = Begin {
        simulators: ["a", "b", "c"].map(String::from).into(),
        clouds: vec![begin("").clouds[0].clone(); 3],
        ..begin("numbers")
    };
    let frames = [0.0, 1.0].map(|f| Frame {
        time: f,
        clouds: vec![Cloud::default(); 3],
        numbers: numbers(f),
        ..Frame::default()
    });
    let header = header(&page_of(&begin, frames));
    let stage = |name: &str, milliseconds: [f64; 2]| json!({"name": name, "milliseconds": milliseconds});
    let expected = json!({
        "times": [0.0, 1.0],
        "kinetic": [[1.0, 2.0], [null, null], [3.0, 3.0]],
        "potential": [[2.0, 2.0], [null, null], [4.0, 5.0]],
        "work": [5.0, 6.0],
        "momentum_error": [null, 7.0],
        "pending": [4.0, 5.0],
        "gap": [7.0, 8.0],
        "passes": [9.0, 10.0],
        "iterations": [[10.0, 10.0], [11.0, 12.0], [12.0, 12.0]],
        "stages": [
            stage("a: bend", [13.0, 14.0]), stage("a: solve", [0.0, 14.0]), stage("c: bend", [15.0, 15.0]),
            stage("coupling", [16.0, 17.0]),
        ],
        "strains": [],
    });
    assert_eq!(header["charts"], expected);
    assert_eq!((&header["seed"], &header["simulators"]), (&json!(7), &json!(["a", "b", "c"])));
}
