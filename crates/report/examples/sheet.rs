//! A sheet waves over two boxes while hail falls: `sheet [FOLDER]` writes `sheet.tape` and its page `sheet.html`.
//!
//! The motion is made up, so that the page of a deforming surface can be looked at and tested without any simulator.

#[path = "../tests/suite/common/shapes.rs"]
mod shapes;

use std::error::Error;
use std::f64::consts::TAU;
use std::path::PathBuf;

use partita::simulator::{Carrier, Cloud, HandleTable, Kind, Surface};
use partita_report::{
    Begin, Camera, Colour, End, Force, Frame, Look, Numbers, Placement, Tape, TapeCloud, TapeSurface, TapeWriter, page,
    tell, write_atomically,
};

use shapes::{cuboid, surface};

/// Vertices of the sheet, a side.
const SIDE: usize = 64;
const FRAMES: usize = 72;
const HAIL: usize = 400;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or("out".into()));
    std::fs::create_dir_all(&folder)?;
    let tape = folder.join("sheet.tape");
    write(&tape)?;
    let page = page(&mut Tape::open(&tape)?)?;
    page.notes.iter().for_each(|note| tell(format_args!("sheet.html: {note}")));
    write_atomically(&folder.join("sheet.html"), page.html.as_bytes())?;
    Ok(())
}

fn write(path: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let mut writer = TapeWriter::create(path, &begin())?;
    for number in 0..FRAMES {
        writer.frame(&frame(number as f64 / 24.0))?;
    }
    let waves = r#"{"name": "waves", "value": 1.5, "bound": {"at_least": 1}, "unit": "Hz", "pass": true}"#;
    let still = r#"{"name": "hangs still", "value": 0.16, "bound": {"at_most": 0.001}, "unit": "m", "pass": false}"#;
    writer.end(&End {
        json: format!(r#"{{"example": "sheet", "checks": [{waves}, {still}], "figures": {{"vertices": 4096}}}}"#),
    })?;
    Ok(())
}

fn begin() -> Begin {
    let rest: Vec<[f64; 3]> = places().map(|[u, v]| [u, 1.2, v]).collect();
    let camera = Camera::framing([[-1.3, 0.0, -1.1], [1.3, 1.75, 1.1]]).from_direction([0.6, 0.42, 1.0]);
    let cube = |name: &str, size| taped(1, Colour::WOOD, cuboid(name, size));
    Begin {
        name: "sheet".into(),
        command: std::env::args().collect(),
        seed: 23,
        provenance: vec![("partita".into(), env!("CARGO_PKG_VERSION").into())],
        parameters: r#"{"options": {"seed": 23}}"#.into(),
        frames_per_second: 24.0,
        start: 0.0,
        simulators: ["sheet", "boxes", "hail"].map(String::from).into(),
        interfaces: vec![("sheet".into(), "boxes".into()), ("hail".into(), "sheet".into())],
        surfaces: vec![
            taped(0, Colour::SIGNAL, sheet(rest)),
            TapeSurface { look: Some(Look::crate_wood(3)), ..cube("crate", [0.6, 0.6, 0.6]) },
            cube("plank", [1.0, 0.12, 0.3]),
        ],
        clouds: [0.01, 0.01, 0.014].map(|radius| TapeCloud { radius, look: Look::plain(Colour::ICE) }).into(),
        ground: Some(0.0),
        camera,
        still: None,
    }
}

fn taped(simulator: usize, colour: Colour, surface: Surface) -> TapeSurface {
    TapeSurface { simulator, surface, look: Some(Look::plain(colour)) }
}

/// Places of the sheet's vertices, -1 to 1 along both sides.
fn places() -> impl Iterator<Item = [f64; 2]> {
    let place = |k: usize| 2.0 * k as f64 / (SIDE - 1) as f64 - 1.0;
    (0..SIDE * SIDE).map(move |i| [place(i / SIDE), place(i % SIDE)])
}

fn sheet(vertices: Vec<[f64; 3]>) -> Surface {
    let mut table = HandleTable::new("made up", "sheet");
    table.add("vertices", Kind::Point, vertices.len() as u32).expect("a name of its own");
    let index = |i: usize, j: usize| (i * SIDE + j) as u32;
    let cells = (0..SIDE - 1).flat_map(|i| (0..SIDE - 1).map(move |j| (i, j)));
    let halves = |(i, j)| {
        let [a, b, c, d] = [index(i, j), index(i, j + 1), index(i + 1, j + 1), index(i + 1, j)];
        [[a, b, c], [a, c, d]]
    };
    let carrier = Carrier::Points(table.iter().collect());
    surface("cloth", carrier, vertices, cells.flat_map(halves).collect(), true)
}

fn frame(time: f64) -> Frame {
    let height =
        |[u, v]: [f64; 2]| 1.2 + 0.16 * (0.3 + time.min(1.0)) * (2.2 * u - 3.0 * time).sin() * (1.7 * v + time).cos();
    let turn = 0.4 * time;
    let crate_pose = Placement::Rigid {
        position: [-0.45, 0.3, 0.1],
        orientation: [0.0, (0.5 * turn).sin(), 0.0, (0.5 * turn).cos()],
    };
    let sway = 0.25 * (TAU * 0.5 * time).sin();
    let plank_pose = Placement::Rigid { position: [0.55, 0.06, 0.2 + sway], orientation: [0.0, 0.0, 0.0, 1.0] };
    let fallen = |i: usize| {
        let (a, b) = ((i as f64 * 0.618).fract() * 1.8 - 0.9, (i as f64 * 0.414).fract() * 1.8 - 0.9);
        let age = (time - i as f64 * 0.006).max(0.0);
        [a, (2.6 - 4.9 * age * age).max(height([a, b]) + 0.014), b]
    };
    let mut hail = Cloud::default();
    // Each stone melts after a time of its own.
    let here = |i: usize| (0.0..0.6 + 0.6 * (i as f64 * 0.732).fract()).contains(&(time - i as f64 * 0.006));
    (0..HAIL).filter(|&i| here(i)).for_each(|i| hail.push(i as u64, fallen(i)));
    let pull = |u: f64, v: f64| Force {
        interface: 0,
        position: [u, height([u, v]), v],
        force: [40.0 * u, 25.0 + 20.0 * (3.0 * time + u).sin(), 40.0 * v],
        torque: [0.0; 3],
    };
    Frame {
        time,
        window: (time * 240.0) as u64,
        surfaces: vec![
            Placement::Deformed(places().map(|[u, v]| [u, height([u, v]), v]).collect()),
            crate_pose,
            plank_pose,
        ],
        clouds: vec![Cloud::default(), Cloud::default(), hail],
        forces: [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]].map(|[u, v]| pull(u, v)).into(),
        numbers: numbers(time),
        inputs: vec![],
    }
}

fn numbers(time: f64) -> Numbers {
    let wave = (2.0 * time).sin();
    Numbers {
        energies: vec![Some([3.0 + wave, 8.0 - wave]), Some([0.4 * time, 2.0]), Some([time, 1.0 - 0.2 * time])],
        work: -0.02 * time,
        momentum_error: Some(1e-13 * (1.0 + 40.0 * time)),
        gap: 1e-6 * 10f64.powf(wave),
        load_change: 1e-4,
        passes: 2.0 + wave.round(),
        iterations: vec![14.0 + 4.0 * wave, 8.0, 0.0],
        stages: vec![
            vec![("bend".into(), 0.8 + 0.1 * wave), ("solve".into(), 2.1 - 0.3 * wave)],
            vec![("step".into(), 0.4)],
            vec![("fly".into(), 0.1), ("collide".into(), 0.2 * time)],
        ],
        coupling: 0.05,
        // On their way: |(0.3, 0.4, 0)| and |(0, 0, 1.2)| make 1.3 times this.
        impulses: vec![[0.3, 0.4, 0.0], [0.0, 0.0, 1.2]].into_iter().map(|p| impulses(p.map(|k| k * time))).collect(),
        windows: 10,
        strains: vec![Some([0.02 + 0.01 * wave, 0.005 * wave]), None, None],
    }
}

/// Used, got and pending, of which the last is `pending`.
fn impulses([x, y, z]: [f64; 3]) -> [[f64; 6]; 3] {
    [[0.0; 6], [7.0; 6], [x, y, z, 9.0, 9.0, 9.0]]
}
