//! Frames are at equal times at any rate of the scene and of frames: a ball, a turning box and a particle advance equally.

use std::path::Path;

use partita::{particles::Particles, prelude::*};
use partita_report::{Camera, Format, Frame, Options, Placement, Report, Scenery, export};

const SPEED: f64 = 1.0;
/// Spin of the box: up to a third of a turn in a window at 30 Hz `[rad/s]`.
const SPIN: f64 = 60.0;
const SECONDS: f64 = 1.0;

/// A tape of uniform motion along x, in a run of windows of `hz`.
fn recorded(folder: &Path, hz: f64, fps: f64, exact_frames: bool) -> partita_report::Tape {
    let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
    let ball = Body::dynamic(Shape::ball(0.1)).velocity([SPEED, 0.0, 0.0]);
    rigid.add("ball", ball).unwrap();
    rigid.add("box", Body::dynamic(Shape::cuboid([0.1; 3])).at([0.0, 1.0, 0.0]).spin([0.0, 0.0, SPIN])).unwrap();
    let mut drops = Particles::new("drops").gravity([0.0; 3]);
    drops.add([0.0, 2.0, 0.0], [SPEED, 0.0, 0.0]).unwrap();
    let mut scene = Scene::new(Rate::hz(hz));
    scene.add(rigid).add(drops);
    let mut run = scene.build().unwrap();
    let report = Report::new("even", &Options { out: folder.into(), fps, exact_frames, ..Options::default() }).unwrap();
    let scenery = Scenery::new(Camera::framing([[-1.0; 3], [1.0; 3]]));
    let mut recorder = report.record(&mut run, SECONDS, scenery).unwrap();
    recorder.tape().unwrap()
}

fn rigid_of(frame: &Frame, number: usize) -> ([f64; 3], [f64; 4]) {
    let Placement::Rigid { position, orientation } = frame.surfaces[number] else { panic!("a rigid surface") };
    (position, orientation)
}

#[test]
fn uniform_motion_advances_equally() {
    let rates = [30.0, 48.0, 50.0, 60.0, 100.0, 144.0, 240.0, 1000.0];
    for (hz, fps) in rates.into_iter().flat_map(|hz| [24.0, 25.0, 30.0, 59.94].map(|fps| (hz, fps))) {
        let folder = tempfile::tempdir().unwrap();
        let mut tape = recorded(folder.path(), hz, fps, false);
        let rate = tape.begin().frames_per_second;
        assert_eq!(rate, f64::min(fps, hz));
        let frames = tape.frames();
        assert!(frames > (rate * SECONDS).floor() as usize, "{hz} Hz, {fps}: {frames} frames");
        for number in 0..frames {
            let frame = tape.frame(number).unwrap();
            // The last frame is the end of the run.
            let time = f64::min(number as f64 / rate, SECONDS);
            let what = format!("{hz} Hz, {fps} frames a second, frame {number}");
            assert!((frame.time - time).abs() < 1e-9, "{what}: {} s", frame.time);
            let ([x, ..], _) = rigid_of(&frame, 0);
            assert!((x - SPEED * time).abs() < 1e-9, "{what}: ball at {x} m");
            let (_, [.., z, w]) = rigid_of(&frame, 1);
            let half = 0.5 * SPIN * time;
            assert!((z * half.cos() - w * half.sin()).abs() < 1e-6, "{what}: box turned by {}", 2.0 * z.atan2(w));
            let x = frame.clouds[1].positions[0][0];
            assert!((x - SPEED * time).abs() < 1e-9, "{what}: particle at {x} m");
        }
    }
}

/// Windows that become longer than all before leave no frame out.
#[test]
fn longer_windows_keep_the_frames_even() {
    let folder = tempfile::tempdir().unwrap();
    let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
    rigid.add("ball", Body::dynamic(Shape::ball(0.1)).velocity([SPEED, 0.0, 0.0])).unwrap();
    let mut scene = Scene::new(Rate::hz(240));
    scene.add(rigid);
    let mut run = scene.build().unwrap();
    let report = Report::new("even", &Options { out: folder.path().into(), ..Options::default() }).unwrap();
    let mut recorder = report.recorder(&mut run, Scenery::new(Camera::framing([[-1.0; 3], [1.0; 3]]))).unwrap();
    for hz in [240.0, 10.0, 7.0, 100.0, 3.0] {
        run.set_rate(Rate::hz(hz)).unwrap();
        for _ in 0..7 {
            run.advance().unwrap();
            recorder.window(&mut run).unwrap();
        }
    }
    let mut tape = recorder.tape().unwrap();
    assert_eq!(tape.frames(), 1 + (24.0 * run.time()) as usize);
    for number in 0..tape.frames() {
        let frame = tape.frame(number).unwrap();
        let ([x, ..], _) = rigid_of(&frame, 0);
        let time = number as f64 / 24.0;
        assert!((frame.time - time).abs() < 1e-6 && (x - SPEED * time).abs() < 1e-6, "frame {number}: {x} m");
    }
}

/// Frames at ends of windows where that is asked for: bits of the run, at a rate that divides its own.
#[test]
fn exact_frames_are_windows() {
    for (hz, fps, rate) in [(100.0, 24.0, 20.0), (60.0, 24.0, 20.0), (240.0, 24.0, 24.0), (30.0, 60.0, 30.0)] {
        let folder = tempfile::tempdir().unwrap();
        let mut tape = recorded(folder.path(), hz, fps, true);
        assert!((tape.begin().frames_per_second - rate).abs() < 1e-9, "{hz} Hz, {fps}");
        for number in 0..tape.frames() {
            let frame = tape.frame(number).unwrap();
            assert!((frame.window as f64 / hz - frame.time).abs() < 1e-9, "{hz} Hz, {fps}, frame {number}");
            assert!((frame.time * rate - number as f64).abs() < 1e-6, "{hz} Hz, {fps}, frame {number}");
        }
    }
}

/// Formats without times have equally many frames, and the same steps.
#[test]
fn numbered_files_and_point_caches_advance_equally() {
    for hz in [30.0, 50.0, 60.0, 100.0] {
        let folder = tempfile::tempdir().unwrap();
        let mut tape = recorded(folder.path(), hz, 24.0, false);
        for format in [Format::Obj, Format::Pc2] {
            export(&mut tape, format, folder.path()).unwrap();
        }
        let first_x = |number: usize| -> Option<f64> {
            let text = std::fs::read_to_string(folder.path().join(format!("even.obj/{number:04}.obj"))).ok()?;
            text.lines().find_map(|line| line.strip_prefix("v "))?.split(' ').next()?.parse().ok()
        };
        let x: Vec<f64> = (0..).map_while(first_x).collect();
        assert_eq!(x.len(), 25, "{hz} Hz");
        let cache = std::fs::read(folder.path().join("even.pc2/rigid_ball.pc2")).unwrap();
        let word = |at: usize| [0, 1, 2, 3].map(|k| cache[at + k]);
        let (points, samples) = (i32::from_le_bytes(word(16)) as usize, i32::from_le_bytes(word(28)) as usize);
        assert_eq!(samples, 25, "{hz} Hz");
        for (number, pair) in x.windows(2).enumerate() {
            let step = SPEED / 24.0;
            assert!((pair[1] - pair[0] - step).abs() < 1e-9, "{hz} Hz, frame {number}: {}", pair[1] - pair[0]);
            let [a, b] = [number, number + 1].map(|frame| f32::from_le_bytes(word(32 + 12 * points * frame)));
            assert!((f64::from(b - a) - step).abs() < 1e-6, "{hz} Hz, sample {number}: {}", b - a);
        }
    }
}
