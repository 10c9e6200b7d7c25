//! Universal Scene Description as text: simulators are Xforms, surfaces Meshes, particles Points.
//!
//! - Y up, a unit is a metre, a time code a frame: where windows do not end with frames, codes are not whole.
//! - A rigid surface has its points once, and `translate` and `orient` over time in double precision.
//! - A deforming one has points over time. USD keeps them in single precision, so they are told from the middle of the
//!   first frame's, to which `translate` brings them: good for 6e-8 of the distance from there.
//! - Particles have their `ids` over time, one a point and for life; USD's are signed, so that those from 2⁶³ on are less
//!   by 2⁶⁴.
//! - Prims are named by letters, digits and `_`; the names on the tape are their `displayName`. `displayColor` is the
//!   look's colour in linear light. What is recorded but not shown is there, and invisible.

use super::names::{Unique, identifier};
use super::reel::Reel;
use super::spool::{Spool, Stream};
use super::{ExportError, line};
use crate::partial::PartialFile;
use crate::{Begin, Colour, Frame, Placement, TapeSurface};
use partita::simulator::Carrier;

/// Samples of what changes over time, by surface or cloud.
enum Motion {
    Rigid { translate: Stream, orient: Stream },
    Deformed { middle: [f64; 3], points: Stream, extent: Stream },
    Cloud { points: Stream, ids: Stream, extent: Stream, any: bool },
}

pub(super) fn write(reel: &mut Reel, file: &mut PartialFile) -> Result<(), ExportError> {
    let mut spool = Spool::create(&file.path)?;
    let mut surfaces: Vec<Motion> = reel.begin.surfaces.iter().map(|taped| Motion::of(taped, &mut spool)).collect();
    let mut clouds: Vec<Motion> = reel.begin.clouds.iter().map(|_| Motion::of_cloud(&mut spool)).collect();
    let mut last = 0.0;
    while let Some((number, frame)) = reel.next_frame()? {
        last = reel.time_code(frame.time);
        put_samples((number == 0, last), &frame, &reel.begin, &mut surfaces, &mut clouds, &mut spool)?;
    }

    let begin = &reel.begin;
    file.put(head(begin, last).as_bytes())?;
    let mut names = Unique::default();
    for (number, simulator) in begin.simulators.iter().enumerate() {
        file.put(opening(1, "Xform", &names.name(&identifier(simulator)), simulator).as_bytes())?;
        let mut names = Unique::default();
        for (taped, motion) in begin.surfaces.iter().zip(&surfaces).filter(|(taped, _)| taped.simulator == number) {
            let title = &taped.surface.name;
            file.put(opening(2, "Mesh", &names.name(&identifier(title)), title).as_bytes())?;
            file.put(shape(taped).as_bytes())?;
            put_motion(motion, &mut spool, file)?;
            file.put(b"        }\n")?;
        }
        if let Some(motion @ Motion::Cloud { any: true, .. }) = clouds.get(number) {
            let cloud = &begin.clouds[number];
            file.put(opening(2, "Points", &names.name("particles"), "particles").as_bytes())?;
            file.put(colour(cloud.look.colour).as_bytes())?;
            let width = 2.0 * cloud.radius as f32;
            file.put(format!("            float[] widths = [{width:?}] (interpolation = \"constant\")\n").as_bytes())?;
            put_motion(motion, &mut spool, file)?;
            file.put(b"        }\n")?;
        }
        file.put(b"    }\n")?;
    }
    Ok(file.put(b"}\n")?)
}

impl Motion {
    fn of(taped: &TapeSurface, spool: &mut Spool) -> Self {
        match taped.surface.carrier {
            Carrier::Frame(_) => Self::Rigid { translate: spool.stream(), orient: spool.stream() },
            Carrier::Points(_) => Self::Deformed { middle: [0.0; 3], points: spool.stream(), extent: spool.stream() },
        }
    }

    fn of_cloud(spool: &mut Spool) -> Self {
        Self::Cloud { points: spool.stream(), ids: spool.stream(), extent: spool.stream(), any: false }
    }
}

/// Appends the frame, which is the first or not, to every stream at its time code.
fn put_samples(
    (first, code): (bool, f64),
    frame: &Frame,
    begin: &Begin,
    surfaces: &mut [Motion],
    clouds: &mut [Motion],
    spool: &mut Spool,
) -> Result<(), ExportError> {
    let mut put =
        |stream: Stream, value: String| spool.put(stream, format!("                {code}: {value},\n").as_bytes());
    for (motion, placement) in surfaces.iter_mut().zip(&frame.surfaces) {
        match (motion, placement) {
            (Motion::Rigid { translate, orient }, Placement::Rigid { position, orientation }) => {
                put(*translate, tuple(position))?;
                put(*orient, tuple(&real_first(*orientation)))?;
            }
            (Motion::Deformed { middle, points, extent }, Placement::Deformed(vertices)) => {
                if first {
                    let [low, high] = bounds(vertices);
                    *middle = std::array::from_fn(|k| 0.5 * (low[k] + high[k]));
                }
                let own: Vec<[f64; 3]> = vertices.iter().map(|x| [0, 1, 2].map(|k| x[k] - middle[k])).collect();
                put(*points, list(&own))?;
                put(*extent, list(&bounds(&own)))?;
            }
            _ => unreachable!("the tape checks that placements fit their carriers"),
        }
    }
    for ((motion, cloud), taped) in clouds.iter_mut().zip(&frame.clouds).zip(&begin.clouds) {
        if let Motion::Cloud { points, ids, extent, any } = motion {
            *any |= !cloud.is_empty();
            let [low, high] = bounds(&cloud.positions);
            put(*points, list(&cloud.positions))?;
            // USD's are signed.
            let words: Vec<String> = cloud.ids.iter().map(|&id| (id as i64).to_string()).collect();
            put(*ids, format!("[{}]", words.join(", ")))?;
            put(*extent, list(&[low.map(|x| x - taped.radius), high.map(|x| x + taped.radius)]))?;
        }
    }
    Ok(())
}

fn put_motion(motion: &Motion, spool: &mut Spool, file: &mut PartialFile) -> Result<(), ExportError> {
    let mut samples = |attribute: &str, stream: Stream| -> Result<(), ExportError> {
        file.put(format!("            {attribute}.timeSamples = {{\n").as_bytes())?;
        spool.read(stream, |bytes| Ok(file.put(bytes)?))?;
        Ok(file.put(b"            }\n")?)
    };
    match motion {
        Motion::Rigid { translate, orient } => {
            samples("double3 xformOp:translate", *translate)?;
            samples("quatd xformOp:orient", *orient)?;
            file.put(b"            uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]\n")?;
        }
        Motion::Deformed { middle, points, extent } => {
            samples("point3f[] points", *points)?;
            samples("float3[] extent", *extent)?;
            file.put(format!("            double3 xformOp:translate = {}\n", tuple(middle)).as_bytes())?;
            file.put(b"            uniform token[] xformOpOrder = [\"xformOp:translate\"]\n")?;
        }
        Motion::Cloud { points, ids, extent, .. } => {
            samples("point3f[] points", *points)?;
            samples("int64[] ids", *ids)?;
            samples("float3[] extent", *extent)?;
        }
    }
    Ok(())
}

fn head(begin: &Begin, last: f64) -> String {
    let (root, rate) = (identifier(&begin.name), begin.frames_per_second);
    let mut text = String::from("#usda 1.0\n(\n");
    line!(text, "    defaultPrim = \"{root}\"");
    line!(text, "    doc = {}", string(&format!("Recorded by partita: {}", begin.command.join(" "))));
    line!(text, "    startTimeCode = 0\n    endTimeCode = {last}");
    line!(text, "    timeCodesPerSecond = {rate}\n    framesPerSecond = {rate}");
    line!(text, "    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n");
    text + &opening(0, "Xform", &root, &begin.name)
}

fn opening(depth: usize, kind: &str, name: &str, title: &str) -> String {
    let indent = "    ".repeat(depth);
    format!("{indent}def {kind} \"{name}\" (\n{indent}    displayName = {}\n{indent})\n{indent}{{\n", string(title))
}

/// What of a surface does not change.
fn shape(taped: &TapeSurface) -> String {
    let surface = &taped.surface;
    let corners: Vec<String> = surface.triangles.as_flattened().iter().map(u32::to_string).collect();
    let mut text = String::new();
    line!(text, "            int[] faceVertexCounts = [{}]", vec!["3"; surface.triangles.len()].join(", "));
    line!(text, "            int[] faceVertexIndices = [{}]", corners.join(", "));
    line!(text, "            uniform token subdivisionScheme = \"none\"");
    line!(text, "            uniform bool doubleSided = {}", u8::from(surface.two_sided));
    match &taped.look {
        Some(look) => text += &colour(look.colour),
        None => line!(text, "            token visibility = \"invisible\""),
    }
    if let Carrier::Frame(_) = surface.carrier {
        line!(text, "            point3f[] points = {}", list(&surface.vertices));
        line!(text, "            float3[] extent = {}", list(&bounds(&surface.vertices)));
    }
    text
}

fn colour(colour: Colour) -> String {
    let [r, g, b]: [f32; 3] = colour.linear().into();
    format!("            color3f[] primvars:displayColor = [({r:?}, {g:?}, {b:?})]\n")
}

/// Lowest and highest corner; both zero where there are no points.
fn bounds(points: &[[f64; 3]]) -> [[f64; 3]; 2] {
    let Some(first) = points.first() else { return [[0.0; 3]; 2] };
    let extreme = |pick: fn(f64, f64) -> f64| points.iter().fold(*first, |a, b| [0, 1, 2].map(|k| pick(a[k], b[k])));
    [extreme(f64::min), extreme(f64::max)]
}

/// (w, x, y, z) of length 1, as USD writes quaternions.
fn real_first([x, y, z, w]: [f64; 4]) -> [f64; 4] {
    let length = (x * x + y * y + z * z + w * w).sqrt();
    [w, x, y, z].map(|c| c / length)
}

fn tuple(values: &[f64]) -> String {
    format!("({})", values.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(", "))
}

/// In single precision, with the digits that this needs.
fn list(points: &[[f64; 3]]) -> String {
    let mut text = String::with_capacity(34 * points.len() + 2);
    text.push('[');
    for (i, point) in points.iter().enumerate() {
        use std::fmt::Write;
        let [x, y, z] = point.map(|x| x as f32);
        let comma = if i == 0 { "" } else { ", " };
        write!(text, "{comma}({x:?}, {y:?}, {z:?})").expect("a String takes everything");
    }
    text.push(']');
    text
}

fn string(words: &str) -> String {
    let mut text = String::from('"');
    for c in words.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text += "\\n",
            c if c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    text + "\""
}
