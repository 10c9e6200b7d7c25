//! What a page has besides binary data, as JSON. Names here are the names in `data.js`.

use partita::simulator::Carrier;
use serde::Serialize;

use super::blob::Blob;
use super::footage::{Footage, Place, Swarm};
use super::order::Order;
use super::shades::Shades;
use super::tracks::{Encoder, Grid, Point};
use crate::{Begin, Camera, Finish, Look, Numbers, Tape, TapeSurface};

#[derive(Serialize)]
pub(super) struct Header {
    name: String,
    command: Vec<String>,
    seed: u64,
    provenance: Vec<(String, String)>,
    /// Options and parameters, as JSON.
    parameters: String,
    simulators: Vec<String>,
    interfaces: Vec<(String, String)>,
    /// Of the frames `[s]`.
    times: Vec<f64>,
    /// All positions are relative to it `[m]`.
    origin: [f64; 3],
    ground: Option<f64>,
    camera: Camera,
    /// Strain at the ends of the scale of colours `[-]`.
    strain_scale: f64,
    surfaces: Vec<SurfaceHeader>,
    clouds: Vec<CloudHeader>,
    forces: ForcesHeader,
    charts: Charts,
    /// The document of checks and figures, whose order another parser might lose; `None` where the run was cut short.
    report: Option<String>,
    pub notes: Vec<String>,
}

#[derive(Serialize)]
struct Paint {
    colour: [u8; 3],
    boards: bool,
    gloss: f32,
    seed: u64,
}

#[derive(Serialize)]
struct SurfaceHeader {
    name: String,
    simulator: usize,
    paint: Paint,
    two_sided: bool,
    /// Sections of the shape: coordinates, and three indices a triangle.
    vertices: usize,
    triangles: usize,
    /// Section of the poses, seven numbers a frame; `None` where it deforms.
    poses: Option<usize>,
    track: Option<TrackHeader>,
    /// Section of the strains, a byte a vertex and frame; `None` where it does not deform.
    strains: Option<usize>,
}

#[derive(Serialize)]
struct CloudHeader {
    simulator: usize,
    radius: f64,
    paint: Paint,
    track: TrackHeader,
    /// One particle in so many is shown.
    thinned: usize,
}

#[derive(Serialize)]
struct TrackHeader {
    low: Point,
    step: Point,
    /// Points of each frame.
    counts: Vec<usize>,
    section: usize,
    /// `None` where points are never gone.
    gone: Option<GoneHeader>,
}

/// Places in the frame before whose points are no longer there, each as the number of those between it and the last one.
#[derive(Serialize)]
struct GoneHeader {
    /// By frame.
    counts: Vec<usize>,
    section: usize,
}

#[derive(Serialize)]
struct ForcesHeader {
    counts: Vec<usize>,
    section: usize,
}

/// Numbers of all frames of the tape, in columns; `null` where there is none.
#[derive(Serialize)]
struct Charts {
    times: Vec<f64>,
    kinetic: Vec<Vec<Option<f32>>>,
    potential: Vec<Vec<Option<f32>>>,
    work: Vec<f32>,
    momentum_error: Vec<Option<f32>>,
    /// |Σ pending| of all interfaces.
    pending: Vec<f32>,
    gap: Vec<f32>,
    passes: Vec<f32>,
    iterations: Vec<Vec<f32>>,
    stages: Vec<Stage>,
    strains: Vec<Strains>,
}

/// Strains of a surface that deforms [-].
#[derive(Serialize)]
struct Strains {
    name: String,
    largest: Vec<Option<f32>>,
    mean: Vec<Option<f32>>,
}

#[derive(Serialize)]
struct Stage {
    name: String,
    /// A window.
    milliseconds: Vec<f32>,
}

impl Header {
    /// Puts all binary data into the blob.
    pub fn of(tape: &Tape, footage: &Footage, blob: &mut Blob) -> Self {
        let begin = tape.begin();
        let counts = footage.frames.iter().map(|frame| frame.forces.len()).collect();
        let forces = footage.frames.iter().flat_map(|frame| frame.forces.as_flattened());
        let forces = ForcesHeader { counts, section: blob.put_words(forces.map(|x| x.to_bits())) };
        let shades = Shades::of(&footage.frames);
        Self {
            name: begin.name.clone(),
            command: begin.command.clone(),
            seed: begin.seed,
            provenance: begin.provenance.clone(),
            parameters: begin.parameters.clone(),
            simulators: begin.simulators.clone(),
            interfaces: begin.interfaces.clone(),
            times: footage.frames.iter().map(|frame| frame.time).collect(),
            origin: footage.origin.into(),
            ground: begin.ground,
            camera: begin.camera,
            strain_scale: shades.scale,
            surfaces: surfaces(begin, footage, &shades, blob),
            clouds: clouds(begin, footage, blob),
            forces,
            charts: Charts::of(begin, &footage.numbers),
            report: tape.end().map(|end| end.json.clone()),
            notes: Vec::new(),
        }
    }

    /// As text that may stand in a script element: nothing in it ends the element or opens a comment.
    pub fn json(&self) -> String {
        let json = serde_json::to_string(self).expect("strings and numbers are always JSON");
        // Outside of strings JSON has none of these.
        json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
    }
}

fn surfaces(begin: &Begin, footage: &Footage, shades: &Shades, blob: &mut Blob) -> Vec<SurfaceHeader> {
    let mut headers = Vec::new();
    for (i, taped) in begin.surfaces.iter().enumerate() {
        let (Some(look), surface) = (taped.look, &taped.surface) else { continue };
        let rigid = matches!(surface.carrier, Carrier::Frame(_));
        // Shapes in the axes of a body are near its origin; those in the world may be far from the world's.
        let offset = if rigid { [0.0; 3] } else { footage.origin.into() };
        let corner = |x: &[f64; 3]| [0, 1, 2].map(|k| ((x[k] - offset[k]) as f32).to_bits());
        headers.push(SurfaceHeader {
            name: surface.name.clone(),
            simulator: taped.simulator,
            paint: paint(look),
            two_sided: surface.two_sided,
            vertices: blob.put_words(surface.vertices.iter().flat_map(corner)),
            triangles: blob.put_words(surface.triangles.iter().flatten().copied()),
            poses: rigid.then(|| poses(i, footage, blob)),
            track: (!rigid).then(|| {
                track(footage, blob, |frame| match &footage.frames[frame].surfaces[i] {
                    Place::Deformed { vertices, .. } => vertices,
                    _ => &[],
                })
            }),
            strains: (!rigid).then(|| blob.put(shades.codes(&footage.frames, i))),
        });
    }
    headers
}

fn clouds(begin: &Begin, footage: &Footage, blob: &mut Blob) -> Vec<CloudHeader> {
    let shown = |i: &usize| footage.frames.iter().any(|frame| !frame.clouds[*i].ids.is_empty());
    let cloud = |i: usize| CloudHeader {
        simulator: i,
        radius: begin.clouds[i].radius,
        paint: paint(begin.clouds[i].look),
        track: cloud_track(footage, blob, |frame| &footage.frames[frame].clouds[i]),
        thinned: footage.thinned,
    };
    (0..begin.clouds.len()).filter(shown).map(cloud).collect()
}

/// Position and orientation of each frame. A body that rests repeats its bits, which the difference makes zeros.
fn poses(surface: usize, footage: &Footage, blob: &mut Blob) -> usize {
    let mut before = [0u32; 7];
    let mut words = Vec::with_capacity(7 * footage.frames.len());
    for frame in &footage.frames {
        let Place::Rigid(pose) = frame.surfaces[surface] else { continue };
        let bits = pose.map(f32::to_bits);
        words.extend((0..7).map(|k| bits[k] ^ before[k]));
        before = bits;
    }
    blob.put_words(words.into_iter())
}

fn track<'a>(footage: &'a Footage, blob: &mut Blob, points: impl Fn(usize) -> &'a [Point]) -> TrackHeader {
    let frames = || (0..footage.frames.len()).map(&points);
    let grid = Grid::around(frames(), footage.reach);
    let (mut encoder, mut bytes) = (Encoder::new(grid, footage.reach), Vec::new());
    frames().for_each(|points| encoder.frame(points, &mut bytes));
    let counts = frames().map(<[Point]>::len).collect();
    TrackHeader { low: grid.low, step: grid.step, counts, section: blob.put(bytes), gone: None }
}

fn cloud_track<'a>(footage: &'a Footage, blob: &mut Blob, swarm: impl Fn(usize) -> &'a Swarm) -> TrackHeader {
    let frames = || (0..footage.frames.len()).map(&swarm);
    let grid = Grid::around(frames().map(|swarm| swarm.points.as_slice()), footage.reach);
    let (mut encoder, mut bytes, mut order) = (Encoder::new(grid, footage.reach), Vec::new(), Order::default());
    let (mut counts, mut gaps) = (Vec::new(), Vec::new());
    for swarm in frames() {
        let gone = order.next(&swarm.ids);
        encoder.forget(&gone);
        encoder.frame(&order.placed(&swarm.points), &mut bytes);
        gaps.extend(gone.iter().scan(0, |next, &place| Some(place - std::mem::replace(next, place + 1))));
        counts.push(gone.len());
    }
    let gone = Some(GoneHeader { counts, section: blob.put_words(gaps.into_iter()) });
    let counts = frames().map(|swarm| swarm.ids.len()).collect();
    TrackHeader { low: grid.low, step: grid.step, counts, section: blob.put(bytes), gone }
}

fn paint(look: Look) -> Paint {
    Paint {
        colour: look.colour.0,
        boards: look.finish == Finish::Boards,
        gloss: look.gloss,
        seed: look.seed % (1 << 24),
    }
}

impl Charts {
    fn of(begin: &Begin, numbers: &[(f64, Numbers)]) -> Self {
        let column = |of: &dyn Fn(&Numbers) -> f64| numbers.iter().map(|(_, n)| of(n) as f32).collect::<Vec<f32>>();
        let energy = |kind: usize| {
            let of = |s: usize| {
                move |n: &Numbers| n.energies.get(s).copied().flatten().map(|energies| energies[kind] as f32)
            };
            (0..begin.simulators.len()).map(|s| numbers.iter().map(|(_, n)| of(s)(n)).collect()).collect()
        };
        let iterations = |s: usize| column(&|n| n.iterations.get(s).copied().unwrap_or(0.0));
        Self {
            times: numbers.iter().map(|(time, _)| *time).collect(),
            kinetic: energy(0),
            potential: energy(1),
            work: column(&|n| n.work),
            momentum_error: numbers.iter().map(|(_, n)| n.momentum_error.map(|error| error as f32)).collect(),
            pending: column(&pending),
            gap: column(&|n| n.gap),
            passes: column(&|n| n.passes),
            iterations: (0..begin.simulators.len()).map(iterations).collect(),
            stages: stages(begin, numbers),
            strains: strains(begin, numbers),
        }
    }
}

fn strains(begin: &Begin, numbers: &[(f64, Numbers)]) -> Vec<Strains> {
    let deforming = |taped: &TapeSurface| matches!(taped.surface.carrier, Carrier::Points(_)) && taped.look.is_some();
    let surfaces = begin.surfaces.iter().enumerate().filter(|(_, taped)| deforming(taped));
    let column = |number: usize, kind: usize| {
        let of = move |numbers: &Numbers| numbers.strains.get(number).copied().flatten();
        numbers.iter().map(|(_, n)| of(n).map(|strains| strains[kind] as f32)).collect()
    };
    let strains = |(number, taped): (usize, &TapeSurface)| Strains {
        name: format!("{}/{}", begin.simulators[taped.simulator], taped.surface.name),
        largest: column(number, 0),
        mean: column(number, 1),
    };
    surfaces.map(strains).collect()
}

/// What followers reported and leaders have not felt yet, summed over all interfaces `[N s]`.
fn pending(numbers: &Numbers) -> f64 {
    let sum = |k: usize| numbers.impulses.iter().map(|[_, _, pending]| pending[k]).sum::<f64>();
    (sum(0).powi(2) + sum(1).powi(2) + sum(2).powi(2)).sqrt()
}

/// By simulator and stage, in the order in which they turn up; the coupling itself last.
fn stages(begin: &Begin, numbers: &[(f64, Numbers)]) -> Vec<Stage> {
    let mut stages = Vec::new();
    for (s, simulator) in begin.simulators.iter().enumerate() {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in numbers.iter().filter_map(|(_, n)| n.stages.get(s)).flatten() {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        for name in names {
            let milliseconds = numbers.iter().map(|(_, n)| n.stage(s, name).unwrap_or(0.0) as f32).collect();
            stages.push(Stage { name: format!("{simulator}: {name}"), milliseconds });
        }
    }
    let coupling = numbers.iter().map(|(_, n)| n.coupling as f32).collect();
    stages.push(Stage { name: "coupling".into(), milliseconds: coupling });
    stages
}
