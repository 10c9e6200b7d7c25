//! Tapes for pages, made by hand, and what a viewer gets of a page.

use std::io::Read;
use std::path::Path;

use partita::simulator::{Carrier, HandleTable, Kind, Surface};
use partita_report::{Begin, Camera, Colour, End, Frame, Look, Page, Tape, TapeCloud, TapeSurface, TapeWriter, page};
use serde_json::Value;

pub type Point = [f64; 3];

/// Far from the world's origin, where single precision is coarse.
pub const AT: Point = [2.0e6, -3.0e5, 7.0e5];

pub fn away(x: Point) -> Point {
    [0, 1, 2].map(|k| x[k] + AT[k])
}

pub fn begin(name: &str) -> Begin {
    Begin {
        name: name.into(),
        command: vec!["run".into()],
        seed: 7,
        provenance: vec![],
        parameters: "{}".into(),
        frames_per_second: 24.0,
        start: 0.0,
        simulators: vec!["cloth".into()],
        interfaces: vec![("cloth".into(), "cloth".into())],
        surfaces: vec![],
        clouds: vec![TapeCloud { radius: 0.01, look: Look::plain(Colour::WATER) }],
        ground: Some(AT[1]),
        camera: Camera::framing([away([-1.0; 3]), away([1.0; 3])]),
        still: None,
    }
}

pub fn surface(name: &str, vertices: Vec<Point>, triangles: Vec<[u32; 3]>, rigid: bool) -> TapeSurface {
    let mut table = HandleTable::new("made up", name);
    let (kind, count) = if rigid { (Kind::Frame, 1) } else { (Kind::Point, vertices.len() as u32) };
    let first = table.add("all", kind, count).unwrap();
    let carrier = if rigid { Carrier::Frame(first) } else { Carrier::Points(table.iter().collect()) };
    let (friction, restitution, thickness) = (0.5, 0.0, 0.0);
    let name = name.into();
    let surface = Surface {
        name,
        carrier,
        vertices,
        triangles,
        lines: vec![],
        two_sided: true,
        primitive: None,
        friction,
        restitution,
        thickness,
    };
    TapeSurface { simulator: 0, surface, look: Some(Look::plain(Colour::SIGNAL)) }
}

pub fn tape(folder: &Path, begin: &Begin, frames: impl IntoIterator<Item = Frame>, end: Option<&str>) -> Tape {
    let path = folder.join("run.tape");
    let mut writer = TapeWriter::create(&path, begin).unwrap();
    frames.into_iter().for_each(|frame| writer.frame(&frame).unwrap());
    match end {
        Some(json) => writer.end(&End { json: json.into() }).unwrap(),
        None => writer.flush().unwrap(),
    }
    Tape::open(path).unwrap()
}

pub fn page_of(begin: &Begin, frames: impl IntoIterator<Item = Frame>) -> Page {
    let folder = tempfile::tempdir().unwrap();
    page(&mut tape(folder.path(), begin, frames, Some("{}"))).unwrap()
}

/// What stands in the element with this id.
fn element<'a>(html: &'a str, id: &str) -> &'a str {
    let (_, rest) = html.split_once(&format!("id=\"{id}\">")).unwrap();
    rest.split_once("</script>").unwrap().0
}

pub fn header(page: &Page) -> Value {
    serde_json::from_str(element(&page.html, "header")).unwrap()
}

/// The section of this number, as the viewer gets it.
pub fn section(page: &Page, number: &Value) -> Vec<u8> {
    let line = element(&page.html, "blob").lines().nth(number.as_u64().unwrap() as usize).unwrap();
    let mut plain = Vec::new();
    flate2::read::ZlibDecoder::new(&from_base64(line)[..]).read_to_end(&mut plain).unwrap();
    plain
}

fn from_base64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        other => panic!("{other} is no digit of base64"),
    };
    let text = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::new();
    for four in text.chunks(4) {
        let word = four.iter().fold(0u32, |word, &c| word << 6 | u32::from(digit(c))) << (6 * (4 - four.len()));
        bytes.extend(&word.to_be_bytes()[1..four.len()]);
    }
    bytes
}
