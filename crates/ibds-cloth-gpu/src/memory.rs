//! A net in the memory of a device, and what a step works in there.

use std::num::NonZero;

use bytemuck::{Pod, Zeroable};
use partita_cloth::Held;
use partita_ibds_cloth::{LinkKind, Net};
use wgpu::{BindGroup, BindGroupDescriptor, BindGroupEntry, BindingResource, Buffer, BufferBinding, BufferUsages};

use crate::{
    gpu::{Gpu, GpuError},
    groups::groups,
    kernels::{FLAGS, SWEEPS, WORKGROUP},
    obstacles::{Obstacle, Obstacles},
};

/// Uniforms begin at multiples of this, which every device allows.
pub(crate) const ALIGNED: u32 = 256;

/// See `common.wgsl`, as the others.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Part {
    pub gravity: [f32; 3],
    pub h: f32,
    pub share: f32,
    pub particles: u32,
    pub first_held: u32,
    pub held: u32,
    pub first_load: u32,
    pub loads: u32,
    pub links: u32,
    pub extensibility: f32,
    pub mean_rest: f32,
    pub velocity_tolerance: f32,
    pub first_sum: u32,
    pub obstacles: u32,
    pub first_obstacle: u32,
    pub first_partial: u32,
    pub first_wrench: u32,
    pub parting: f32,
}

/// A particle's place with its inverse mass, and its velocity.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
pub(crate) struct Body {
    pub x: [f32; 4],
    pub v: [f32; 4],
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct Entry {
    position: [f32; 3],
    particle: u32,
    velocity: [f32; 3],
    mass: f32,
    before: [f32; 4],
    impulse: [f32; 4],
}

impl Entry {
    /// Of a particle of such a mass `[kg]` that is held.
    pub fn held(held: &Held, mass: f64) -> Self {
        let [position, velocity] =
            [held.position, held.velocity].map(|vector| <[f64; 3]>::from(vector).map(|x| x as f32));
        Self { position, particle: held.vertex as u32, velocity, mass: mass as f32, ..Self::zeroed() }
    }

    /// Of a particle that is loaded with a force `[N]`.
    pub fn load(particle: u32, force: [f32; 3]) -> Self {
        let [x, y, z] = force;
        Self { particle, impulse: [x, y, z, 0.0], ..Self::zeroed() }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Link {
    first: u32,
    second: u32,
    rest: f32,
    compliance: f32,
}

const ROPE: u32 = 1 << 31;

/// A particle's contacts in `obstacles.wgsl` `[B]`.
const CONTACTS: u64 = 4 * 64;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Spring {
    first: u32,
    second: u32,
    rest: f32,
    stiffness: f32,
    damping: f32,
}

/// Pairs that share no particle: where they begin, and how many they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    first: u32,
    pub count: u32,
}

/// All of it.
pub(crate) struct Memory {
    pub bodies: Buffer,
    pub parts: Buffer,
    pub held: Buffer,
    pub sums: Buffer,
    pub pulls: Buffer,
    pub flags: Buffer,
    /// What is read back.
    pub staging: Buffer,
    pub links: Vec<Range>,
    pub springs: Vec<Range>,
    /// Of a part of a step, as many as there are guides for.
    pub obstacles: Buffer,
    /// With links, with springs, and with obstacles and contacts.
    pub with_links: BindGroup,
    pub with_springs: BindGroup,
    pub with_obstacles: BindGroup,
    pub ranges: BindGroup,
    /// How many entries and parts there is room for.
    pub entries: u32,
    pub room: u32,
}

impl Memory {
    /// Of a net among obstacles, for steps of so many parts with so many entries of what is held or loaded, all parts together.
    pub fn new(gpu: &Gpu, net: &Net, met: &Obstacles, entries: u32, parts: u32) -> Result<Self, GpuError> {
        let (n, met_by) = (net.positions().len() as u64, met.len() as u64);
        let storage = BufferUsages::STORAGE;
        let (links, link_ranges) = in_groups(net.links(), |link| link.particles);
        let (springs, spring_ranges) = in_groups(net.all_springs(), |spring| spring.particles);
        let of_link = |link: &partita_ibds_cloth::Link| Link {
            first: link.particles[0] | if link.kind == LinkKind::Rope { ROPE } else { 0 },
            second: link.particles[1],
            rest: link.rest_length as f32,
            compliance: link.compliance as f32,
        };
        let of_spring = |spring: &partita_ibds_cloth::Spring| Spring {
            first: spring.particles[0],
            second: spring.particles[1],
            rest: spring.rest_length as f32,
            stiffness: spring.stiffness as f32,
            damping: spring.damping as f32,
        };
        let links: Vec<Link> = links.into_iter().map(of_link).collect();
        let springs: Vec<Spring> = springs.into_iter().map(of_spring).collect();
        let ranges = u64::from(SWEEPS) * (link_ranges.len() as u64 + 1) + spring_ranges.len() as u64;
        let (needed, found) = (ranges * u64::from(ALIGNED), u64::from(u32::MAX));
        if needed > found {
            // As many groups as links or springs meet at a particle.
            return Err(GpuError::Limit {
                adapter: gpu.adapter().into(),
                what: "size of ranges of groups [B]",
                found,
                needed,
            });
        }

        let sums = n.div_ceil(u64::from(WORKGROUP)).max(1);
        let sums = sums * (u64::from(parts) + 2 * met_by) + 2 * met_by * u64::from(parts);
        let bodies = gpu.buffer("bodies", n * size_of::<Body>() as u64, storage)?;
        let values = gpu.buffer("values", n * 16, storage)?;
        let asides = gpu.buffer("asides", n * 64, storage)?;
        let link_buffer = gpu.filled("links", &links, storage)?;
        let spring_buffer = gpu.filled("springs", &springs, storage)?;
        let pulls = gpu.buffer("pulls", links.len() as u64 * 8, storage)?;
        let flags = gpu.buffer("flags", u64::from(FLAGS) * 4, storage)?;
        let held = gpu.buffer("held", u64::from(entries) * size_of::<Entry>() as u64, storage)?;
        let sums = gpu.buffer("sums", sums * 16, storage)?;
        let obstacles = gpu.buffer("obstacles", met_by * u64::from(parts) * size_of::<Obstacle>() as u64, storage)?;
        let contacts = gpu.buffer("contacts", if met_by > 0 { n * CONTACTS } else { 0 }, storage)?;
        let distances = gpu.filled("distances", &met.words, storage)?;
        let parts_buffer = gpu.buffer("parts", u64::from(ALIGNED * parts), BufferUsages::UNIFORM)?;
        let staging =
            gpu.buffer("staging", bodies.size() + held.size() + sums.size() + flags.size(), BufferUsages::MAP_READ)?;

        // A range for each group and sweep, and one for its contacts, so that shaders know which one they are in.
        let contact_range = Range { first: 0, count: n as u32 };
        let of_sweep = || link_ranges.iter().copied().chain([contact_range]);
        let all: Vec<(Range, u32)> = (0..SWEEPS)
            .flat_map(|sweep| of_sweep().map(move |range| (range, sweep)))
            .chain(spring_ranges.iter().map(|range| (*range, 0)))
            .collect();
        let mut bytes = vec![0_u32; (ALIGNED / 4) as usize * all.len()];
        for (slot, (range, sweep)) in bytes.chunks_exact_mut((ALIGNED / 4) as usize).zip(&all) {
            slot[..3].copy_from_slice(&[range.first, range.count, *sweep]);
        }
        let range_buffer = gpu.filled("ranges", &bytes, BufferUsages::UNIFORM)?;

        let with = |pairs: &Buffer, pulls: &Buffer, held: &Buffer| {
            let resources = [
                part_of(&parts_buffer, size_of::<Part>() as u64),
                bound(&bodies),
                bound(&values),
                bound(&asides),
                bound(pairs),
                bound(pulls),
                bound(&flags),
                bound(held),
                bound(&sums),
            ];
            let entries: Vec<BindGroupEntry> =
                (0..).zip(resources).map(|(binding, resource)| BindGroupEntry { binding, resource }).collect();
            let layout = &gpu.kernels.memory;
            gpu.device.create_bind_group(&BindGroupDescriptor { label: Some("memory"), layout, entries: &entries })
        };
        let with_links = with(&link_buffer, &pulls, &held);
        let with_springs = with(&spring_buffer, &pulls, &held);
        let with_obstacles = with(&obstacles, &contacts, &distances);
        let ranges = gpu.device.create_bind_group(&BindGroupDescriptor {
            label: Some("ranges"),
            layout: &gpu.kernels.range,
            entries: &[BindGroupEntry { binding: 0, resource: part_of(&range_buffer, 16) }],
        });
        gpu.check()?;
        Ok(Self {
            bodies,
            parts: parts_buffer,
            held,
            sums,
            pulls,
            flags,
            staging,
            links: link_ranges,
            springs: spring_ranges,
            with_links,
            with_springs,
            with_obstacles,
            obstacles,
            ranges,
            entries,
            room: parts,
        })
    }

    /// Where in `ranges` a group of links is in a sweep, its contacts, and a group of springs.
    pub fn range_of_links(&self, sweep: u32, group: usize) -> u32 {
        ALIGNED * (sweep * (self.links.len() as u32 + 1) + group as u32)
    }

    pub fn range_of_contacts(&self, sweep: u32) -> u32 {
        self.range_of_links(sweep, self.links.len())
    }

    pub fn range_of_springs(&self, group: usize) -> u32 {
        self.range_of_links(SWEEPS, group)
    }
}

/// What joins pairs of particles, group by group, and where groups are.
fn in_groups<T>(all: &[T], pair: impl Fn(&T) -> [u32; 2]) -> (Vec<&T>, Vec<Range>) {
    let groups = groups(&all.iter().map(pair).collect::<Vec<_>>());
    let mut first = 0;
    let ranges = groups.iter().map(|group| {
        let range = Range { first, count: group.len() as u32 };
        first += range.count;
        range
    });
    (groups.iter().flatten().map(|&k| &all[k as usize]).collect(), ranges.collect())
}

fn bound(buffer: &Buffer) -> BindingResource<'_> {
    BindingResource::Buffer(buffer.as_entire_buffer_binding())
}

/// As many bytes as are seen at once, from an offset on.
fn part_of(buffer: &Buffer, size: u64) -> BindingResource<'_> {
    BindingResource::Buffer(BufferBinding { buffer, offset: 0, size: NonZero::new(size) })
}
