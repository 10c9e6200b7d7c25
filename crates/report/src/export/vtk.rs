//! ParaView's files: `NAME.pvd` lists, by time, a `.vtp` of surfaces and particles and a `.vtp` of forces.
//!
//! | file                | array       | at      | what                                                              |
//! |---------------------|-------------|---------|-------------------------------------------------------------------|
//! | `surfaces_0000.vtp` | `strain`    | points  | largest relative change of an edge's length since the surface's first shape `[-]`; 0 on what is rigid |
//! |                     | `simulator` | points  | which one, as an index into `simulators`                          |
//! |                     | `surface`   | points  | which one, as an index into `surfaces`; -1 for particles          |
//! |                     | `id`        | points  | of a particle, its own for life; -1 on surfaces                   |
//! | `forces_0000.vtp`   | `force`     | handles | mean of the coupling since the last frame `[N]`                   |
//! |                     | `torque`    | handles | likewise `[N m]`                                                  |
//! |                     | `interface` | handles | which one, as an index into `interfaces`                          |
//!
//! Positions are in the world `[m]`. Numbers are little-endian, in base64, without loss but for ids from 2⁶³ on: VTK's are
//! signed, so that these are less by 2⁶⁴, and the last of all is -1 as on surfaces.

use super::place::PartialFolder;
use super::reel::Reel;
use super::{ExportError, line};
use crate::{Begin, Frame, Placement, strain::strains};
use base64::{Engine, engine::general_purpose::STANDARD};

/// `NAME.pvd`, `surfaces_0000.vtp`, `forces_0000.vtp` and so on.
pub(super) fn is_own(name: &str) -> bool {
    let number = |text: &str| text.len() >= 4 && text.bytes().all(|b| b.is_ascii_digit());
    let frame = name.strip_suffix(".vtp").and_then(|stem| stem.split_once('_'));
    name.ends_with(".pvd") || frame.is_some_and(|(kind, n)| matches!(kind, "surfaces" | "forces") && number(n))
}

pub(super) fn write(reel: &mut Reel, folder: &PartialFolder) -> Result<(), ExportError> {
    let (titles, _) = reel.titles();
    let mut list =
        String::from("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n");
    while let Some((number, frame)) = reel.next_frame()? {
        let files = [("surfaces", surfaces(&reel.begin, &titles, &frame)), ("forces", forces(&reel.begin, &frame))];
        for (part, (kind, text)) in files.iter().enumerate() {
            let name = format!("{kind}_{number:04}.vtp");
            folder.write(&name, text.as_bytes())?;
            line!(list, "<DataSet timestep=\"{:?}\" part=\"{part}\" file=\"{name}\"/>", frame.time);
        }
    }
    list += "</Collection>\n</VTKFile>\n";
    folder.write(&format!("{}.pvd", folder.stem()), list.as_bytes())
}

/// Points with their arrays, of which some are corners of triangles and the rest stand for themselves.
#[derive(Default)]
struct Poly {
    points: Vec<[f64; 3]>,
    triangles: Vec<[i64; 3]>,
    /// Points from here on stand for themselves.
    loose_from: usize,
    /// Name, components, values.
    floats: Vec<(&'static str, usize, Vec<f64>)>,
    indices: Vec<(&'static str, Vec<i64>)>,
    /// Name and words.
    words: Vec<(&'static str, Vec<String>)>,
}

fn surfaces(begin: &Begin, titles: &[String], frame: &Frame) -> String {
    let mut poly = Poly::default();
    let (mut strain, mut simulator, mut surface) = (Vec::new(), Vec::new(), Vec::new());
    for (number, (taped, placement)) in begin.surfaces.iter().zip(&frame.surfaces).enumerate() {
        let (first, vertices) = (poly.points.len(), placement.vertices(&taped.surface));
        poly.triangles.extend(taped.surface.triangles.iter().map(|t| t.map(|i| (first + i as usize) as i64)));
        strain.extend(match placement {
            Placement::Deformed(vertices) => strains(&taped.surface, vertices),
            Placement::Rigid { .. } => vec![0.0; vertices.len()],
        });
        simulator.extend(vec![taped.simulator as i64; vertices.len()]);
        surface.extend(vec![number as i64; vertices.len()]);
        poly.points.extend(vertices);
    }
    poly.loose_from = poly.points.len();
    let mut ids = vec![-1; poly.points.len()];
    for (number, cloud) in frame.clouds.iter().enumerate() {
        strain.extend(vec![0.0; cloud.len()]);
        simulator.extend(vec![number as i64; cloud.len()]);
        surface.extend(vec![-1; cloud.len()]);
        ids.extend(cloud.ids.iter().map(|&id| id as i64));
        poly.points.extend(&cloud.positions);
    }
    poly.floats = vec![("strain", 1, strain)];
    poly.indices = vec![("simulator", simulator), ("surface", surface), ("id", ids)];
    poly.words = vec![("simulators", begin.simulators.clone()), ("surfaces", titles.to_vec())];
    poly.text(frame.time)
}

fn forces(begin: &Begin, frame: &Frame) -> String {
    let flat = |values: Vec<[f64; 3]>| values.as_flattened().to_vec();
    let interfaces = begin.interfaces.iter().map(|(follower, leader)| format!("{follower} on {leader}")).collect();
    let poly = Poly {
        points: frame.forces.iter().map(|force| force.position).collect(),
        floats: vec![
            ("force", 3, flat(frame.forces.iter().map(|force| force.force).collect())),
            ("torque", 3, flat(frame.forces.iter().map(|force| force.torque).collect())),
        ],
        indices: vec![("interface", frame.forces.iter().map(|force| force.interface as i64).collect())],
        words: vec![("interfaces", interfaces)],
        ..Poly::default()
    };
    poly.text(frame.time)
}

impl Poly {
    fn text(&self, time: f64) -> String {
        let (points, triangles) = (self.points.len(), self.triangles.len());
        let loose: Vec<i64> = (self.loose_from as i64..points as i64).collect();
        let mut text = String::from("<?xml version=\"1.0\"?>\n");
        line!(
            text,
            "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>"
        );
        line!(text, "<FieldData>");
        put_floats(&mut text, "TimeValue", 1, &[time], " NumberOfTuples=\"1\"");
        self.words.iter().for_each(|(name, words)| put_words(&mut text, name, words));
        line!(text, "</FieldData>");

        let loose_count = loose.len();
        line!(
            text,
            "<Piece NumberOfPoints=\"{points}\" NumberOfVerts=\"{loose_count}\" NumberOfLines=\"0\" \
             NumberOfStrips=\"0\" NumberOfPolys=\"{triangles}\">\n<PointData>"
        );
        self.floats.iter().for_each(|(name, components, values)| put_floats(&mut text, name, *components, values, ""));
        self.indices.iter().for_each(|(name, values)| put_integers(&mut text, name, values));
        line!(text, "</PointData>\n<Points>");
        put_floats(&mut text, "Points", 3, self.points.as_flattened(), "");
        line!(text, "</Points>\n<Verts>");
        put_cells(&mut text, &loose, 1);
        line!(text, "</Verts>\n<Polys>");
        put_cells(&mut text, self.triangles.as_flattened(), 3);
        line!(text, "</Polys>\n</Piece>\n</PolyData>\n</VTKFile>");
        text
    }
}

/// Cells of `size` corners each: the corners of all, and where each cell's end.
fn put_cells(text: &mut String, corners: &[i64], size: usize) {
    put_integers(text, "connectivity", corners);
    let ends: Vec<i64> = (1..=corners.len() / size).map(|i| (i * size) as i64).collect();
    put_integers(text, "offsets", &ends);
}

fn put_floats(text: &mut String, name: &str, components: usize, values: &[f64], more: &str) {
    let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let kind = format!("type=\"Float64\" Name=\"{name}\" NumberOfComponents=\"{components}\"{more}");
    put_array(text, &kind, bytes);
}

fn put_integers(text: &mut String, name: &str, values: &[i64]) {
    let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    put_array(text, &format!("type=\"Int64\" Name=\"{name}\""), bytes);
}

/// The number of bytes, then the bytes, as one stretch of base64.
fn put_array(text: &mut String, kind: &str, mut bytes: Vec<u8>) {
    let length = (bytes.len() as u64).to_le_bytes();
    bytes.splice(0..0, length);
    *text += &format!("<DataArray {kind} format=\"binary\">");
    STANDARD.encode_string(&bytes, text);
    line!(text, "</DataArray>");
}

/// Each word is its bytes as numbers and a zero.
fn put_words(text: &mut String, name: &str, words: &[String]) {
    let bytes = words.iter().flat_map(|word| word.bytes().filter(|&b| b != 0).chain([0]));
    let numbers: Vec<String> = bytes.map(|byte| byte.to_string()).collect();
    let count = words.len();
    line!(
        text,
        "<Array type=\"String\" Name=\"{name}\" NumberOfTuples=\"{count}\" format=\"ascii\">{}</Array>",
        numbers.join(" ")
    );
}
