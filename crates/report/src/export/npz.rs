//! NumPy arrays in a ZIP archive, not compressed: `numpy.load("NAME.npz")["rigid/crate/vertices"]`.
//!
//! | array                                    | shape                     | what                                     |
//! |------------------------------------------|---------------------------|------------------------------------------|
//! | `frames_per_second`                      | ()                        | `[1/s]`                                  |
//! | `simulators`, `interfaces`               | (s), (i, 2)               | names; follower, leader                  |
//! | `time`, `window`                         | (frames)                  | `[s]`, windows taken                     |
//! | `SIMULATOR/SURFACE/vertices`             | (frames, n, 3)            | in the world `[m]`                       |
//! | `…/triangles`, `…/rest`                  | (m, 3), (n, 3)            | corners; in its own axes, or at first    |
//! | `…/position`, `…/orientation`            | (frames, 3), (frames, 4)  | of a rigid one `[m]`, (x, y, z, w)       |
//! | `…/strain`                               | (frames, 2)               | of one that deforms: largest, mean [-]   |
//! | `SIMULATOR/particles/points`             | (all, 3)                  | frames one after the other `[m]`         |
//! | `…/ids`                                  | (all)                     | of each point: whose it is, for life     |
//! | `…/offsets`                              | (frames + 1)              | frame f: `points[offsets[f]:offsets[f+1]]` |
//! | `forces/position`, `/force`, `/torque`   | (all, 3)                  | `[m]`, `[N]`, `[N m]`                    |
//! | `forces/interface`, `forces/offsets`     | (all), (frames + 1)       | as with particles                        |
//! | `kinetic`, `potential`, `iterations`     | (frames, s)               | `[J]`, `[J]`, a window                   |
//! | `work`, `momentum_error`, `gap`, `load_change`, `passes`, `coupling` | (frames) | `[J]`, `[N s]`, `[m]`, `[-]`, a window, `[ms]` |
//! | `stages`, `stage_times`                  | (k, 2), (frames, k)       | simulator, stage; mean over the windows of a frame `[ms]` |
//! | `impulses`                               | (frames, i, 3, 6)         | used, got, pending `[N s]`, `[N m s]`    |
//!
//! Unknown values are NaN, also the times of stages that a frame does not have.

use std::io::{BufWriter, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::ExportError;
use super::error::writing;
use super::reel::{Reel, Stages};
use super::spool::{Spool, Stream};
use crate::partial::PartialFile;
use crate::{Begin, Frame, Placement};
use partita::simulator::Carrier;

const FLOAT: &str = "<f8";
const INTEGER: &str = "<i8";
const ID: &str = "<u8";
const INDEX: &str = "<u4";

/// Entries from here on need the large form of a ZIP header.
const LARGE: u64 = u32::MAX as u64;

/// All arrays of a file, growing row by row.
struct Arrays {
    spool: Spool,
    list: Vec<Array>,
}

struct Array {
    name: String,
    /// As NumPy writes it.
    kind: String,
    /// The first number counts rows; empty for a single value.
    shape: Vec<usize>,
    stream: Stream,
}

#[derive(Clone, Copy)]
struct Id(usize);

pub(super) fn write(reel: &mut Reel, file: &mut PartialFile) -> Result<(), ExportError> {
    let mut arrays = Arrays { spool: Spool::create(&file.path)?, list: Vec::new() };
    arrays.put_begin(&reel.begin)?;
    let surfaces = surface_arrays(reel, &mut arrays)?;
    let titles = reel.titles().1;
    let ids: Vec<Id> = titles.iter().map(|title| arrays.array(&format!("{title}/ids"), ID, &[0])).collect();
    let clouds: Vec<Runs> = titles.iter().map(|title| Runs::new(&mut arrays, title, &["points"])).collect();
    let forces = Runs::new(&mut arrays, "forces", &["position", "force", "torque"]);
    let interface = arrays.array("forces/interface", INTEGER, &[0]);
    let stages = reel.stages()?;
    let numbers = NumberArrays::new(&mut arrays, &reel.begin, stages)?;

    clouds.iter().chain([&forces]).try_for_each(|runs| runs.begin(&mut arrays))?;
    while let Some((_, frame)) = reel.next_frame()? {
        let taped = surfaces.iter().zip(&reel.begin.surfaces).zip(&frame.surfaces);
        for (number, ((arrays_of, taped), placement)) in taped.enumerate() {
            if let Some(strain) = arrays_of.strain {
                let strains = frame.numbers.strains.get(number).copied().flatten();
                arrays.floats(strain, &strains.unwrap_or([f64::NAN; 2]))?;
            }
            arrays.floats(arrays_of.vertices, placement.vertices(&taped.surface).as_flattened())?;
            if let (Some([position, orientation]), Placement::Rigid { position: x, orientation: q }) =
                (arrays_of.pose, placement)
            {
                arrays.floats(position, x)?;
                arrays.floats(orientation, q)?;
            }
        }
        for ((runs, &ids), cloud) in clouds.iter().zip(&ids).zip(&frame.clouds) {
            runs.frame(&mut arrays, std::slice::from_ref(&cloud.positions))?;
            cloud.ids.iter().try_for_each(|id| arrays.row(ids, &id.to_le_bytes()))?;
        }
        let columns = [
            frame.forces.iter().map(|force| force.position).collect(),
            frame.forces.iter().map(|force| force.force).collect(),
            frame.forces.iter().map(|force| force.torque).collect(),
        ];
        forces.frame(&mut arrays, &columns)?;
        for force in &frame.forces {
            arrays.row(interface, &(force.interface as i64).to_le_bytes())?;
        }
        numbers.frame(&mut arrays, &reel.begin, &frame)?;
    }

    let never_any = |runs: &Runs| arrays.list[runs.columns[0].0].shape[0] == 0;
    let never = clouds.iter().zip(&ids).filter(|(runs, _)| never_any(runs));
    let left_out: Vec<usize> = never.flat_map(|(runs, ids)| [runs.columns[0].0, runs.offsets.0, ids.0]).collect();
    arrays.archive(file, &left_out)
}

struct SurfaceArrays {
    vertices: Id,
    /// Position and orientation of a rigid one.
    pose: Option<[Id; 2]>,
    /// Largest and mean strain of one that deforms.
    strain: Option<Id>,
}

fn surface_arrays(reel: &Reel, arrays: &mut Arrays) -> Result<Vec<SurfaceArrays>, ExportError> {
    let mut surfaces = Vec::new();
    for (title, taped) in reel.titles().0.iter().zip(&reel.begin.surfaces) {
        let surface = &taped.surface;
        let vertices = arrays.array(&format!("{title}/vertices"), FLOAT, &[0, surface.vertices.len(), 3]);
        let triangles = arrays.array(&format!("{title}/triangles"), INDEX, &[0, 3]);
        for corners in &surface.triangles {
            arrays.row(triangles, &corners.map(u32::to_le_bytes).concat())?;
        }
        let rest = arrays.array(&format!("{title}/rest"), FLOAT, &[0, 3]);
        for vertex in &surface.vertices {
            arrays.floats(rest, vertex)?;
        }
        let pose = matches!(surface.carrier, Carrier::Frame(_)).then(|| {
            [("position", 3), ("orientation", 4)]
                .map(|(name, n)| arrays.array(&format!("{title}/{name}"), FLOAT, &[0, n]))
        });
        let strain = pose.is_none().then(|| arrays.array(&format!("{title}/strain"), FLOAT, &[0, 2]));
        surfaces.push(SurfaceArrays { vertices, pose, strain });
    }
    Ok(surfaces)
}

/// Points of which each frame has another number: all in a row, and where each frame's begin.
struct Runs {
    columns: Vec<Id>,
    offsets: Id,
}

impl Runs {
    fn new(arrays: &mut Arrays, title: &str, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|name| arrays.array(&format!("{title}/{name}"), FLOAT, &[0, 3])).collect();
        Self { columns, offsets: arrays.array(&format!("{title}/offsets"), INTEGER, &[0]) }
    }

    fn begin(&self, arrays: &mut Arrays) -> Result<(), ExportError> {
        arrays.row(self.offsets, &0i64.to_le_bytes())
    }

    fn frame(&self, arrays: &mut Arrays, columns: &[Vec<[f64; 3]>]) -> Result<(), ExportError> {
        for (column, points) in self.columns.iter().zip(columns) {
            for point in points {
                arrays.floats(*column, point)?;
            }
        }
        let all = arrays.list[self.columns[0].0].shape[0] as i64;
        arrays.row(self.offsets, &all.to_le_bytes())
    }
}

/// What charts show.
struct NumberArrays {
    window: Id,
    /// Time and the numbers of the whole run, in the order of [`NumberArrays::SINGLE`].
    single: Vec<Id>,
    kinetic: Id,
    potential: Id,
    iterations: Id,
    stages: Stages,
    stage_times: Id,
    impulses: Id,
}

impl NumberArrays {
    const SINGLE: [&str; 7] = ["time", "work", "momentum_error", "gap", "load_change", "passes", "coupling"];

    fn new(arrays: &mut Arrays, begin: &Begin, stages: Stages) -> Result<Self, ExportError> {
        let (simulators, interfaces) = (begin.simulators.len(), begin.interfaces.len());
        arrays.words(
            "stages",
            &[0, 2],
            stages.iter().flat_map(|(simulator, stage)| [&begin.simulators[*simulator], stage]).collect(),
        )?;
        Ok(Self {
            window: arrays.array("window", INTEGER, &[0]),
            single: Self::SINGLE.map(|name| arrays.array(name, FLOAT, &[0])).to_vec(),
            kinetic: arrays.array("kinetic", FLOAT, &[0, simulators]),
            potential: arrays.array("potential", FLOAT, &[0, simulators]),
            iterations: arrays.array("iterations", FLOAT, &[0, simulators]),
            stage_times: arrays.array("stage_times", FLOAT, &[0, stages.len()]),
            stages,
            impulses: arrays.array("impulses", FLOAT, &[0, interfaces, 3, 6]),
        })
    }

    fn frame(&self, arrays: &mut Arrays, begin: &Begin, frame: &Frame) -> Result<(), ExportError> {
        let n = &frame.numbers;
        arrays.row(self.window, &(frame.window as i64).to_le_bytes())?;
        let momentum_error = n.momentum_error.unwrap_or(f64::NAN);
        let single = [frame.time, n.work, momentum_error, n.gap, n.load_change, n.passes, n.coupling];
        for (&array, value) in self.single.iter().zip(single) {
            arrays.floats(array, &[value])?;
        }
        let simulators = 0..begin.simulators.len();
        for (k, array) in [self.kinetic, self.potential].into_iter().enumerate() {
            let energy = |i| n.energies.get(i).copied().flatten().map_or(f64::NAN, |pair: [f64; 2]| pair[k]);
            arrays.floats(array, &simulators.clone().map(energy).collect::<Vec<_>>())?;
        }
        let iterations = |i| n.iterations.get(i).copied().unwrap_or(f64::NAN);
        arrays.floats(self.iterations, &simulators.map(iterations).collect::<Vec<_>>())?;
        let times = self.stages.iter().map(|(simulator, stage)| n.stage(*simulator, stage).unwrap_or(f64::NAN));
        arrays.floats(self.stage_times, &times.collect::<Vec<_>>())?;
        let impulse = |i| n.impulses.get(i).copied().unwrap_or([[f64::NAN; 6]; 3]);
        let impulses: Vec<[[f64; 6]; 3]> = (0..begin.interfaces.len()).map(impulse).collect();
        arrays.floats(self.impulses, impulses.as_flattened().as_flattened())
    }
}

impl Arrays {
    /// A new array. The first number of its shape counts rows as they come.
    fn array(&mut self, name: &str, kind: &str, shape: &[usize]) -> Id {
        let stream = self.spool.stream();
        self.list.push(Array { name: name.into(), kind: kind.into(), shape: shape.to_vec(), stream });
        Id(self.list.len() - 1)
    }

    fn row(&mut self, array: Id, bytes: &[u8]) -> Result<(), ExportError> {
        let array = &mut self.list[array.0];
        array.shape.first_mut().into_iter().for_each(|rows| *rows += 1);
        self.spool.put(array.stream, bytes)
    }

    fn floats(&mut self, array: Id, values: &[f64]) -> Result<(), ExportError> {
        self.row(array, &values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
    }

    fn put_begin(&mut self, begin: &Begin) -> Result<(), ExportError> {
        let rate = self.array("frames_per_second", FLOAT, &[]);
        self.floats(rate, &[begin.frames_per_second])?;
        self.words("simulators", &[0], begin.simulators.iter().collect())?;
        self.words("interfaces", &[0, 2], begin.interfaces.iter().flat_map(|(a, b)| [a, b]).collect())
    }

    /// Names as NumPy has them: four bytes a character, each name filled up to the longest with zeros.
    fn words(&mut self, name: &str, shape: &[usize], words: Vec<&String>) -> Result<(), ExportError> {
        let longest = words.iter().map(|word| word.chars().count()).max().unwrap_or(0).max(1);
        let array = self.array(name, &format!("<U{longest}"), shape);
        for row in words.chunks(shape.iter().skip(1).product::<usize>().max(1)) {
            let padded = row.iter().flat_map(|w| w.chars().map(u32::from).chain(std::iter::repeat(0)).take(longest));
            self.row(array, &padded.flat_map(u32::to_le_bytes).collect::<Vec<u8>>())?;
        }
        Ok(())
    }

    /// Copies stream after stream into the archive.
    fn archive(&mut self, file: &mut PartialFile, left_out: &[usize]) -> Result<(), ExportError> {
        let path = file.path.clone();
        let failed = writing(&path);
        let mut archive: ZipWriter<&mut BufWriter<_>> = ZipWriter::new(file.writer());
        for (_, array) in self.list.iter().enumerate().filter(|(i, _)| !left_out.contains(i)) {
            let (header, length) = (array.header(), self.spool.length(array.stream));
            let large = header.len() as u64 + length >= LARGE;
            let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(large);
            let begun = archive.start_file(format!("{}.npy", array.name), options);
            begun.map_err(|error| failed(error.into()))?;
            archive.write_all(&header).map_err(&failed)?;
            self.spool.read(array.stream, |bytes| archive.write_all(bytes).map_err(&failed))?;
        }
        archive.finish().map_err(|error| failed(error.into()))?;
        Ok(())
    }
}

impl Array {
    /// Version 1.0 of NumPy's format: magic, length, a Python dictionary, filled up so that the data begin at a
    /// multiple of 64.
    fn header(&self) -> Vec<u8> {
        let sizes: Vec<String> = self.shape.iter().map(|size| format!("{size},")).collect();
        let (kind, sizes) = (&self.kind, sizes.join(" "));
        let mut words = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({sizes}), }}");
        let head = 10;
        let length = (head + words.len() + 1).next_multiple_of(64) - head;
        words = format!("{words:<width$}\n", width = length - 1);
        [b"\x93NUMPY\x01\x00".as_slice(), &(length as u16).to_le_bytes(), words.as_bytes()].concat()
    }
}
