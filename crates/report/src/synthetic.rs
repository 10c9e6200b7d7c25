//! Tapes for tests, made without a run.

use partita::simulator::{Carrier, Cloud, HandleTable, Kind, Surface};

use crate::{Begin, Camera, Colour, Frame, Look, Placement, Tape, TapeCloud, TapeSurface, TapeWriter};

/// A red square in the plane z = 0, of this edge `[m]`, shown unless hidden; carried by a Frame.
pub(crate) fn square(name: &str, edge: f64, shown: bool) -> TapeSurface {
    let mut table = HandleTable::new("test", "test");
    let h = 0.5 * edge;
    let surface = Surface {
        name: name.into(),
        carrier: Carrier::Frame(table.add(name, Kind::Frame, 1).unwrap()),
        vertices: vec![[-h, -h, 0.0], [h, -h, 0.0], [h, h, 0.0], [-h, h, 0.0]],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        lines: vec![],
        two_sided: true,
        primitive: None,
        friction: 0.0,
        restitution: 0.0,
        thickness: 0.0,
    };
    TapeSurface { simulator: 0, surface, look: shown.then(|| Look::plain(Colour([220, 20, 20]))) }
}

/// The same, shown and carried by its corners.
pub(crate) fn deforming(name: &str, edge: f64) -> TapeSurface {
    let (mut table, mut square) = (HandleTable::new("test", "test"), square(name, edge, true));
    table.add(name, Kind::Point, 4).unwrap();
    square.surface.carrier = Carrier::Points(table.iter().collect());
    square
}

/// Seen along -z, with the square from -1 to 1 in the picture.
pub(crate) fn begin(frames_per_second: f64, surfaces: Vec<TapeSurface>) -> Begin {
    Begin {
        name: "test".into(),
        command: vec![],
        seed: 1,
        provenance: vec![],
        parameters: "{}".into(),
        frames_per_second,
        start: 0.0,
        simulators: vec!["test".into()],
        interfaces: vec![],
        surfaces,
        clouds: vec![TapeCloud { radius: 0.1, look: Look::plain(Colour::WATER) }],
        ground: Some(-1.0),
        camera: Camera::framing([[-1.0; 3], [1.0; 3]]).from_direction([0.0, 0.0, 1.0]),
        still: None,
    }
}

/// An unturned Frame.
pub(crate) fn at(position: [f64; 3]) -> Placement {
    Placement::Rigid { position, orientation: [0.0, 0.0, 0.0, 1.0] }
}

/// A tape of these placements, frame by frame.
pub(crate) fn tape(begin: &Begin, frames: impl IntoIterator<Item = Vec<Placement>>) -> Tape {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.tape");
    let mut writer = TapeWriter::create(&path, begin).unwrap();
    for (number, surfaces) in frames.into_iter().enumerate() {
        let time = number as f64 / begin.frames_per_second;
        writer.frame(&Frame { time, surfaces, clouds: vec![Cloud::default()], ..Frame::default() }).unwrap();
    }
    writer.flush().unwrap();
    // An open file outlives its folder.
    Tape::open(&path).unwrap()
}
