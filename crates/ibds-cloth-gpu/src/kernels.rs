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
    pub look_for_contacts: ComputePipeline,
    pub find_more: ComputePipeline,
    pub push_lengths: ComputePipeline,
    pub keep_out: ComputePipeline,
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
    pub look_for_pairs: ComputePipeline,
    pub measure_pairs: ComputePipeline,
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
            look_for_contacts: stage(&obstacles, "look_for_contacts"),
            find_more: stage(&obstacles, "find_more"),
            push_lengths: stage(&obstacles, "push_lengths"),
            keep_out: stage(&obstacles, "keep_out"),
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
            look_for_pairs: stage(&pairs, "look_for_pairs"),
            measure_pairs: stage(&pairs, "measure_pairs"),
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
    use naga::valid::{Capabilities, ValidationFlags, Validator};

    use super::*;

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
}
