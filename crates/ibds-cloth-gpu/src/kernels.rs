//! The shaders and what they are bound to.

use wgpu::{
    BindGroupLayout, BindGroupLayoutDescriptor, BindGroupLayoutEntry, BindingType, BufferBindingType, ComputePipeline,
    ComputePipelineDescriptor, Device, PipelineLayoutDescriptor, ShaderModuleDescriptor, ShaderSource, ShaderStages,
};

/// Threads of a workgroup, as the shaders have it.
pub(crate) const WORKGROUP: u32 = 256;
/// Sweeps between two looks at the flags, at most; and numbers of flags behind theirs.
pub(crate) const SWEEPS: u32 = 64;
pub(crate) const FLAGS: u32 = SWEEPS + 8;
/// Of these so many are of the last part alone, and this says whether contacts were added.
pub(crate) const OF_PARTS: u32 = 3;
pub(crate) const MORE: u32 = SWEEPS + 3;

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
    pub find: ComputePipeline,
    pub push_lengths: ComputePipeline,
    pub sum_pushes: ComputePipeline,
    pub close: ComputePipeline,
    pub push_rates: ComputePipeline,
    pub sum_rate_pushes: ComputePipeline,
    pub sum_wrenches: ComputePipeline,
    pub bound_ways: ComputePipeline,
    pub insert: ComputePipeline,
    pub meet: ComputePipeline,
    pub part_lengths: ComputePipeline,
    pub take_lengths: ComputePipeline,
    pub close_pairs: ComputePipeline,
    pub part_rates: ComputePipeline,
    pub take_rates: ComputePipeline,
}

/// A shader with what all share in front of it.
fn source(own: &str) -> String {
    format!("{COMMON}\n{own}")
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
            find: stage(&obstacles, "find"),
            push_lengths: stage(&obstacles, "push_lengths"),
            sum_pushes: stage(&obstacles, "sum_pushes"),
            close: stage(&obstacles, "close"),
            push_rates: stage(&obstacles, "push_rates"),
            sum_rate_pushes: stage(&obstacles, "sum_rate_pushes"),
            sum_wrenches: stage(&obstacles, "sum_wrenches"),
            bound_ways: stage(&pairs, "bound_ways"),
            insert: stage(&pairs, "insert"),
            meet: stage(&pairs, "meet"),
            part_lengths: stage(&pairs, "part_lengths"),
            take_lengths: stage(&pairs, "take_lengths"),
            close_pairs: stage(&pairs, "close_pairs"),
            part_rates: stage(&pairs, "part_rates"),
            take_rates: stage(&pairs, "take_rates"),
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
        back::{ENOUGH, FARTHEST},
        memory::{
            BOUNDS, Body, CONTACTS, Entry, KEEP_OUT, LEAST_BUCKETS, LOOK, LinkSlot, MEASURE, MEMBER, PAIR, Part,
            SpringSlot,
        },
        obstacles::Obstacle,
        step::MOST_PAIRS,
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

    /// What both sides have to know is the same on both: constants, and sizes of records.
    #[test]
    fn shaders_have_the_same_numbers() {
        let all = SHADERS.map(|(_, own)| own).concat() + COMMON;
        for (name, value) in [
            ("WORKGROUP: u32", WORKGROUP.to_string()),
            ("SWEEPS: u32", SWEEPS.to_string()),
            ("LENGTHS: u32", SWEEPS.to_string()),
            ("MORE: u32", MORE.to_string()),
            ("PAIRS: u32", (FLAGS - 1).to_string()),
            ("ENOUGH: f32", ENOUGH.to_string()),
            ("FARTHEST: f32", format!("{:.1}", 0.5 * FARTHEST)),
            ("BOUNDS: u32", format!("{BOUNDS}u")),
            ("MOST_PAIRS: u32", format!("{MOST_PAIRS}u")),
            ("LOOK: u32", format!("{}u", LOOK - SWEEPS)),
            ("KEEP_OUT: u32", format!("{}u", KEEP_OUT - SWEEPS)),
            ("MEASURE: u32", format!("{}u", MEASURE - SWEEPS)),
        ] {
            let found: Vec<&str> = all.lines().filter(|line| line.starts_with(&format!("const {name} ="))).collect();
            let expected = format!("const {name} = {value};");
            assert!(!found.is_empty() && found.iter().all(|line| *line == expected), "{expected} {found:?}");
        }
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
