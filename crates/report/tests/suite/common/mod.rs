//! Tapes made by hand: a waving sheet, a tumbling box on a hidden floor, drops that come and go, names that no format
//! likes.

mod shapes;

use std::path::Path;

use partita::simulator::{Carrier, Cloud, HandleTable, Kind, Surface};
use partita_report::{
    Begin, Camera, Colour, End, Force, Frame, Look, Numbers, Placement, Tape, TapeCloud, TapeSurface, TapeWriter,
};

use shapes::{cuboid, surface};

/// Vertices of the sheet along either side, and their distance `[m]`.
pub const SIDE: [usize; 2] = [13, 9];
pub const SPACING: f64 = 0.1;
pub const SHEET: &str = "sheet, \"waving\"";
pub const SIMULATORS: [&str; 3] = ["flag é/1", "rigid", "2 jets, \"warm\"\n# and cold"];

/// What does not change: names that need care in every format, two of which become alike.
pub fn begin(name: &str) -> Begin {
    let mut surfaces = vec![taped(0, sheet(SHEET), Some(Colour::SIGNAL))];
    surfaces.push(taped(1, cuboid("crate 0/0", [0.4, 0.3, 0.2]), Some(Colour::WOOD)));
    surfaces.push(taped(1, cuboid("crate 0 0", [0.1; 3]), Some(Colour::ICE)));
    surfaces.push(taped(1, cuboid("floor\\", [20.0, 0.5, 20.0]), None));
    surfaces.push(taped(2, cuboid("日本\nv 0 0 0", [0.2; 3]), Some(Colour::GREEN)));
    Begin {
        name: name.into(),
        command: vec!["example".into(), "--note".into(), "a \"quoted\" \\ word\n".into()],
        seed: 1,
        provenance: vec![],
        parameters: "{}".into(),
        frames_per_second: 24.0,
        start: 0.5,
        simulators: SIMULATORS.map(String::from).to_vec(),
        interfaces: vec![(SIMULATORS[0].into(), "rigid".into()), (SIMULATORS[2].into(), "rigid".into())],
        surfaces,
        clouds: vec![TapeCloud { radius: 0.013, look: Look::plain(Colour::WATER) }; 3],
        ground: Some(0.0),
        camera: Camera::framing([[-1.0; 3], [1.0; 3]]),
        still: None,
    }
}

/// Frame `number` of the run that never was.
pub fn frame(begin: &Begin, number: usize) -> Frame {
    let time = begin.start + number as f64 / begin.frames_per_second;
    let elapsed = time - begin.start;
    let surfaces = begin.surfaces.iter().enumerate().map(|(i, taped)| match taped.surface.carrier {
        Carrier::Points(_) => Placement::Deformed(waved(&taped.surface, elapsed)),
        Carrier::Frame(_) if i == 1 => tumbling(elapsed),
        Carrier::Frame(_) => resting([0.1 * i as f64, -0.25 * i as f64, 1.0 / 3.0]),
    });
    // None, then more and more, then fewer.
    let drops = (3 * number).min(40_usize.saturating_sub(number));
    // The first ones go first.
    let gone = number / 2;
    let drop = |i: usize| [-1.0 + 0.1 * i as f64, 1.0 / (1.0 + i as f64), 0.01 * number as f64];
    let mut cloud = Cloud::default();
    (gone..gone + drops).for_each(|i| cloud.push(1 + 2 * i as u64, drop(i)));
    let force = |interface: usize| Force {
        interface,
        position: [0.1 * number as f64, 1.0, 1.0 / 3.0],
        force: [0.0, -9.81 * interface as f64, 1e-7],
        torque: [1.0 / 7.0, 0.0, 0.0],
    };
    Frame {
        time,
        window: 10 * number as u64,
        surfaces: surfaces.collect(),
        clouds: vec![Cloud::default(), Cloud::default(), cloud],
        forces: (0..(number + 2) % 3).map(force).collect(),
        numbers: numbers(number),
        inputs: vec![],
    }
}

fn numbers(number: usize) -> Numbers {
    let x = number as f64 / 3.0;
    let mut stages = vec![vec![("predict, \"fast\"".to_string(), 0.5 + x)], vec![("step".to_string(), 1.0)], vec![]];
    if number > 2 {
        stages[0].push(("late".into(), 0.25));
    }
    Numbers {
        energies: vec![Some([x, -x]), Some([2.0 * x, 0.1]), None],
        work: -x,
        momentum_error: (number > 0).then_some(1e-13 * x),
        gap: 1e-6 * x,
        load_change: 0.5,
        passes: 1.0 + x,
        iterations: vec![x, 2.0, 0.0],
        stages,
        coupling: 0.01,
        impulses: vec![[1.0, 2.0, 3.0].map(|k| [x, 0.0, -k * x, k, 2.0, 3.0]), [[1e-300, x, 1e22, 0.1, 0.2, 0.3]; 3]],
        windows: 10,
        strains: vec![Some([0.1 * x, -0.01 * x]), None, None, None, None],
    }
}

/// Writes and opens `NAME.tape` in `folder`, with `frames` frames that `change` has had its way with.
pub fn tape_with(folder: &Path, name: &str, frames: usize, mut change: impl FnMut(usize, &mut Frame)) -> Tape {
    let (path, begin) = (folder.join(format!("{name}.tape")), begin(name));
    let mut writer = TapeWriter::create(&path, &begin).unwrap();
    for number in 0..frames {
        let mut frame = frame(&begin, number);
        change(number, &mut frame);
        writer.frame(&frame).unwrap();
    }
    writer.end(&End { json: "{}".into() }).unwrap();
    Tape::open(&path).unwrap()
}

pub fn tape(folder: &Path, name: &str, frames: usize) -> Tape {
    tape_with(folder, name, frames, |_, _| {})
}

fn taped(simulator: usize, surface: Surface, colour: Option<Colour>) -> TapeSurface {
    TapeSurface { simulator, surface, look: colour.map(Look::plain) }
}

/// Level, 5 m up and 40 m away, where single precision is no longer good to a micrometre.
fn sheet(name: &str) -> Surface {
    let [m, n] = SIDE;
    let place = |i: usize| [40.0 + SPACING * (i % m) as f64, 5.0, SPACING * (i / m) as f64];
    let vertices: Vec<[f64; 3]> = (0..m * n).map(place).collect();
    let cells = (0..n - 1).flat_map(|row| (0..m - 1).map(move |column| (row * m + column) as u32));
    let m = m as u32;
    let triangles = cells.flat_map(|a| [[a, a + m, a + 1], [a + 1, a + m, a + m + 1]]).collect();
    let mut table = HandleTable::new("cloth", name);
    table.add("vertices", Kind::Point, vertices.len() as u32).unwrap();
    surface(name, Carrier::Points(table.iter().collect()), vertices, triangles, true)
}

/// A wave runs along the sheet, which is stretched by a tenth along x by the end of the first second.
fn waved(sheet: &Surface, elapsed: f64) -> Vec<[f64; 3]> {
    let wave = |[x, y, z]: [f64; 3]| {
        let height = 0.2 * (6.0 * (x - 40.0) - 5.0 * elapsed).sin() * elapsed;
        [40.0 + (x - 40.0) * (1.0 + 0.1 * elapsed), y + height, z]
    };
    sheet.vertices.iter().map(|&x| wave(x)).collect()
}

/// Falls and turns about an axis that is none of the world's; at first hardly.
fn tumbling(elapsed: f64) -> Placement {
    let angle = 7.0 * elapsed * elapsed;
    let axis = [2.0 / 7.0, 3.0 / 7.0, 6.0 / 7.0];
    let [x, y, z] = axis.map(|c| c * (0.5 * angle).sin());
    Placement::Rigid {
        position: [elapsed, 3.0 - 4.905 * elapsed * elapsed, 0.1],
        orientation: [x, y, z, (0.5 * angle).cos()],
    }
}

fn resting(position: [f64; 3]) -> Placement {
    Placement::Rigid { position, orientation: [0.0, 0.0, 0.0, 1.0] }
}
