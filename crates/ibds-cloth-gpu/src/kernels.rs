//! The shaders and what they are bound to.

use wgpu::{
    BindGroupLayout, BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType, BufferBindingType, ComputePipeline,
    ComputePipelineDescriptor, Device, PipelineLayoutDescriptor, ShaderModuleDescriptor, ShaderSource, ShaderStages,
};

use crate::memory::{BEHIND, KEEP_OUT, LOOK, LinkSlot, MEASURE};

/// Threads of a workgroup.
pub(crate) const WORKGROUP: u32 = 256;
/// Sweeps between two looks at the flags, at most.
pub(crate) const SWEEPS: u32 = 64;

/// Flags behind those of sweeps.
pub(crate) mod flag {
    use super::SWEEPS;

    /// Largest errors of lengths, of rates and of struts, of what they may be; these are of the last part alone.
    pub const LENGTHS: u32 = SWEEPS;
    pub const RATES: u32 = SWEEPS + 1;
    pub const STRUTS: u32 = SWEEPS + 2;
    pub const OF_PART: u32 = 3;
    /// Whether more is met than there are contacts for.
    pub const MORE: u32 = SWEEPS + 3;
    /// What particles lack in the end of the distance from obstacles, and from each other, of what they may.
    pub const DEPTH: u32 = SWEEPS + 4;
    pub const NEAR: u32 = SWEEPS + 5;
    /// How far they move against each other, of how far they may.
    pub const FAST: u32 = SWEEPS + 6;
    /// How many pairs of particles there is room needed for.
    pub const PAIRS: u32 = SWEEPS + 7;
    pub const ALL: u32 = SWEEPS + 8;
}

/// How exact contacts are, of their distance [-].
pub(crate) const ENOUGH: f64 = 0.1;

/// How far from the middle of its way a particle of a cloth that meets itself may move against another in a part, of their distance [-].
pub(crate) const FARTHEST: f64 = 8.0;

/// Pairs that a particle may be in: balls that do not overlap have a few dozen.
pub(crate) const MOST_PAIRS: u32 = 256;

/// What shaders have from here.
fn constants() -> String {
    let whole = [
        ("WORKGROUP", WORKGROUP),
        ("SWEEPS", SWEEPS),
        ("LENGTHS", flag::LENGTHS),
        ("RATES", flag::RATES),
        ("STRUTS", flag::STRUTS),
        ("MORE", flag::MORE),
        ("DEPTH", flag::DEPTH),
        ("NEAR", flag::NEAR),
        ("FAST", flag::FAST),
        ("PAIRS", flag::PAIRS),
        ("FIND", 0),
        ("LOOK", LOOK - SWEEPS),
        ("KEEP_OUT", KEEP_OUT - SWEEPS),
        ("MEASURE", MEASURE - SWEEPS),
        ("MOST_PAIRS", MOST_PAIRS),
        ("BEHIND", BEHIND as u32),
        ("ROPE", LinkSlot::ROPE),
        ("BEGINS", LinkSlot::BEGINS),
        ("STRUT", LinkSlot::STRUT),
        ("NONE", u32::MAX),
    ];
    let whole = whole.map(|(name, value)| format!("const {name}: u32 = {value}u;\n"));
    let real =
        [("ENOUGH", ENOUGH), ("FARTHEST", FARTHEST)].map(|(name, value)| format!("const {name}: f32 = {value:?};\n"));
    [whole.concat(), real.concat()].concat()
}

const COMMON: &str = include_str!("shaders/common.wgsl");
const LINKS: &str = concat!(include_str!("shaders/errors.wgsl"), include_str!("shaders/links.wgsl"));
const PATHS: &str = concat!(include_str!("shaders/errors.wgsl"), include_str!("shaders/paths.wgsl"));
const SPRINGS: &str = include_str!("shaders/springs.wgsl");
const PARTICLES: &str = include_str!("shaders/particles.wgsl");
const PAIRS: &str = include_str!("shaders/pairs.wgsl");
const OBSTACLES: &str = concat!(include_str!("shaders/distances.wgsl"), include_str!("shaders/obstacles.wgsl"));

const SHADERS: [(&str, &str); 6] = [
    ("links", LINKS),
    ("paths", PATHS),
    ("springs", SPRINGS),
    ("particles", PARTICLES),
    ("obstacles", OBSTACLES),
    ("pairs", PAIRS),
];

/// One pipeline a stage, named as in the shaders.
pub(crate) struct Kernels {
    pub memory: BindGroupLayout,
    pub range: BindGroupLayout,
    pub begin: ComputePipeline,
    pub add_loads: ComputePipeline,
    pub add_springs: ComputePipeline,
    pub predict: ComputePipeline,
    pub sum_moments: ComputePipeline,
    pub hold: ComputePipeline,
    pub sweep_lengths: ComputePipeline,
    pub sweep_path_lengths: ComputePipeline,
    pub measure_lengths: ComputePipeline,
    pub advance: ComputePipeline,
    pub hold_velocities: ComputePipeline,
    pub begin_rates: ComputePipeline,
    pub sweep_rates: ComputePipeline,
    pub sweep_path_rates: ComputePipeline,
    pub measure_rates: ComputePipeline,
    pub end_rates: ComputePipeline,
    pub book: ComputePipeline,
    pub find_contacts: ComputePipeline,
    pub sweep_contact_lengths: ComputePipeline,
    pub sum_pushes: ComputePipeline,
    pub close: ComputePipeline,
    pub sweep_contact_rates: ComputePipeline,
    pub sum_rate_pushes: ComputePipeline,
    pub sum_wrenches: ComputePipeline,
    pub bound_ways: ComputePipeline,
    pub insert: ComputePipeline,
    pub find_pairs: ComputePipeline,
    pub sweep_pair_lengths: ComputePipeline,
    pub apply_pair_lengths: ComputePipeline,
    pub close_pairs: ComputePipeline,
    pub sweep_pair_rates: ComputePipeline,
    pub apply_pair_rates: ComputePipeline,
}

/// A shader with what all share in front of it.
fn source(own: &str) -> String {
    format!("{}\n{COMMON}\n{own}", constants())
}

fn entry(binding: u32, ty: BufferBindingType, has_dynamic_offset: bool) -> BindGroupLayoutEntry {
    let ty = BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None };
    BindGroupLayoutEntry { binding, visibility: ShaderStages::COMPUTE, ty, count: None }
}

impl Kernels {
    pub fn new(device: &Device) -> Self {
        let storage = |binding: u32| entry(binding, BufferBindingType::Storage { read_only: binding == 4 }, false);
        let uniform = |binding: u32| entry(binding, BufferBindingType::Uniform, true);
        let entries: Vec<BindGroupLayoutEntry> = std::iter::once(uniform(0)).chain((1..=8).map(storage)).collect();
        let memory =
            device.create_bind_group_layout(&BindGroupLayoutDescriptor { label: Some("memory"), entries: &entries });
        let range = device
            .create_bind_group_layout(&BindGroupLayoutDescriptor { label: Some("range"), entries: &[uniform(0)] });
        let layout = device.create_pipeline_layout(&PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&memory), Some(&range)],
            immediate_size: 0,
        });
        let module = |label: &str, own: &str| {
            let source = ShaderSource::Wgsl(source(own).into());
            device.create_shader_module(ShaderModuleDescriptor { label: Some(label), source })
        };
        let [links, paths, springs, particles, obstacles, pairs] = SHADERS.map(|(label, own)| module(label, own));
        let stage = |module: &wgpu::ShaderModule, entry_point: &str| {
            device.create_compute_pipeline(&ComputePipelineDescriptor {
                label: Some(entry_point),
                layout: Some(&layout),
                module,
                entry_point: Some(entry_point),
                compilation_options: Default::default(),
                cache: None,
            })
        };
        Self {
            begin: stage(&particles, "begin"),
            add_loads: stage(&particles, "add_loads"),
            add_springs: stage(&springs, "add_springs"),
            predict: stage(&particles, "predict"),
            sum_moments: stage(&particles, "sum_moments"),
            hold: stage(&particles, "hold"),
            sweep_lengths: stage(&links, "sweep_lengths"),
            sweep_path_lengths: stage(&paths, "sweep_path_lengths"),
            measure_lengths: stage(&links, "measure_lengths"),
            advance: stage(&particles, "advance"),
            hold_velocities: stage(&particles, "hold_velocities"),
            begin_rates: stage(&particles, "begin_rates"),
            sweep_rates: stage(&links, "sweep_rates"),
            sweep_path_rates: stage(&paths, "sweep_path_rates"),
            measure_rates: stage(&links, "measure_rates"),
            end_rates: stage(&particles, "end_rates"),
            book: stage(&particles, "book"),
            find_contacts: stage(&obstacles, "find_contacts"),
            sweep_contact_lengths: stage(&obstacles, "sweep_contact_lengths"),
            sum_pushes: stage(&obstacles, "sum_pushes"),
            close: stage(&obstacles, "close"),
            sweep_contact_rates: stage(&obstacles, "sweep_contact_rates"),
            sum_rate_pushes: stage(&obstacles, "sum_rate_pushes"),
            sum_wrenches: stage(&obstacles, "sum_wrenches"),
            bound_ways: stage(&pairs, "bound_ways"),
            insert: stage(&pairs, "insert"),
            find_pairs: stage(&pairs, "find_pairs"),
            sweep_pair_lengths: stage(&pairs, "sweep_pair_lengths"),
            apply_pair_lengths: stage(&pairs, "apply_pair_lengths"),
            close_pairs: stage(&pairs, "close_pairs"),
            sweep_pair_rates: stage(&pairs, "sweep_pair_rates"),
            apply_pair_rates: stage(&pairs, "apply_pair_rates"),
            memory,
            range,
        }
    }
}

#[cfg(test)]
mod tests {
    use naga::{
        proc::Layouter,
        valid::{Capabilities, ValidationFlags, Validator},
    };

    use super::*;
    use crate::{
        memory::{Body, CONTACTS, Entry, LEAST_BUCKETS, MEMBER, PAIR, Part, SpringSlot},
        obstacles::Obstacle,
    };

    /// Without a device: each shader can be read and is valid with nothing but what WebGPU promises.
    #[test]
    fn shaders_are_valid() {
        for (name, own) in SHADERS {
            let module = naga::front::wgsl::parse_str(&source(own))
                .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(&source(own))));
            let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
            validator
                .validate(&module)
                .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(&source(own))));
        }
    }

    /// Records are as large on both sides.
    #[test]
    fn shaders_have_the_same_records() {
        let sizes = [
            ("Part", size_of::<Part>() as u64, 16),
            ("Body", size_of::<Body>() as u64, 1),
            ("Held", size_of::<Entry>() as u64, 1),
            ("Link", size_of::<LinkSlot>() as u64, 1),
            ("Spring", size_of::<SpringSlot>() as u64, 1),
            ("Obstacle", size_of::<Obstacle>() as u64, 1),
            ("Contact", CONTACTS / 4, 1),
            ("Pair", PAIR, 1),
            ("Member", MEMBER, 1),
        ];
        for (_, own) in SHADERS {
            let module = naga::front::wgsl::parse_str(&source(own)).unwrap();
            let mut layouter = Layouter::default();
            layouter.update(module.to_ctx()).unwrap();
            for (handle, ty) in module.types.iter() {
                let size = u64::from(layouter[handle].size);
                if let Some((name, expected, to)) = sizes.iter().find(|(name, ..)| ty.name.as_deref() == Some(name)) {
                    assert_eq!(size, expected.next_multiple_of(*to), "{name}");
                }
            }
        }
    }

    /// The cells around one are in as many buckets, so that none is looked into twice: different numbers by the least number of buckets are so
    /// by all of which that is a part.
    #[test]
    fn cells_beside_each_other_are_in_different_buckets() {
        let line = PAIRS.lines().find(|line| line.contains("bitcast<vec3u>(cell) *")).unwrap();
        let (_, numbers) = line.split_once(" vec3u(").unwrap();
        let numbers: Vec<u64> =
            numbers.split('u').filter_map(|n| n.trim_start_matches([',', ' ']).parse().ok()).collect();
        let [a, b, c] = numbers[..] else { panic!("{line}") };
        let cells = (0..27).map(|k| [k % 3, k / 3 % 3, k / 9]);
        let mut buckets: Vec<u64> = cells.map(|[x, y, z]| (a * x + b * y + c * z) % LEAST_BUCKETS).collect();
        buckets.sort_unstable();
        buckets.dedup();
        assert_eq!(buckets.len(), 27);
    }
}
