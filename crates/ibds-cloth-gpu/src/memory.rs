//! A net in the memory of a device, and what a step works in there.

use std::num::NonZero;

use bytemuck::{Pod, Zeroable};
use partita_cloth::Held;
use wgpu::{BindGroup, BindGroupDescriptor, BindGroupEntry, BindingResource, Buffer, BufferBinding, BufferUsages};

use crate::{
    gpu::{Gpu, GpuError},
    kernels::{SWEEPS, WORKGROUP, flag},
    obstacles::{Obstacle, Obstacles},
    order::{AtRest, Order, Range},
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
    pub strut_tolerance: f32,
    pub mean_rest: f32,
    pub velocity_tolerance: f32,
    pub first_sum: u32,
    pub obstacles: u32,
    pub first_obstacle: u32,
    pub first_partial: u32,
    pub first_wrench: u32,
    pub parting: f32,
    pub restitution_threshold: f32,
    pub self_distance: f32,
    pub self_friction: f32,
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

/// A link, or none.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct LinkSlot {
    first: u32,
    second: u32,
    rest: f32,
    compliance: f32,
}

impl LinkSlot {
    /// It does not push.
    pub const ROPE: u32 = 1 << 31;
    /// A path begins with it.
    pub const BEGINS: u32 = 1 << 30;
    /// It does not pull.
    pub const STRUT: u32 = 1 << 29;
    /// No link.
    pub const NONE: Self = Self { first: 0, second: u32::MAX, rest: 0.0, compliance: 0.0 };

    /// With bits that say what it is.
    pub fn new([first, second]: [u32; 2], bits: u32, rest: f32, compliance: f32) -> Self {
        Self { first: first | bits, second, rest, compliance }
    }
}

#[cfg(test)]
impl LinkSlot {
    pub fn particles(&self) -> Option<[u32; 2]> {
        (self.second != u32::MAX).then_some([self.first & !(Self::ROPE | Self::BEGINS | Self::STRUT), self.second])
    }

    pub fn begins(&self) -> bool {
        self.first & Self::BEGINS != 0
    }
}

/// A particle's contacts in `obstacles.wgsl`; a pair, and what a particle has of its pairs, in `pairs.wgsl` `[B]`.
pub(crate) const CONTACTS: u64 = 4 * 64;
pub(crate) const PAIR: u64 = 48;
pub(crate) const MEMBER: u64 = 64;

/// Of the table in which pairs are found: buckets at least, and numbers behind them: bounds, a count, and whether that was too much.
pub(crate) const LEAST_BUCKETS: u64 = 64;
pub(crate) const BEHIND: u64 = 8;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(crate) struct SpringSlot {
    pub particles: [u32; 2],
    pub rest: f32,
    pub stiffness: f32,
    pub damping: f32,
}

/// What is linked and what is in the way, as the device takes it.
pub(crate) struct Plan {
    pub order: Order,
    pub obstacles: Obstacles,
    /// Where it meets itself.
    pub at_rest: Option<AtRest>,
}

/// For how much there is room: entries of what is held or loaded, all parts together; parts; and pairs of particles that meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Room {
    pub entries: u32,
    pub parts: u32,
    pub pairs: u32,
}

/// The first sweep of a loop.
pub(crate) const FIRST: u32 = SWEEPS;
/// Looking for contacts to see whether there are more, for the last word, and to measure how near all are in the end.
pub(crate) const LOOK: u32 = SWEEPS + 1;
pub(crate) const KEEP_OUT: u32 = SWEEPS + 2;
pub(crate) const MEASURE: u32 = SWEEPS + 3;
/// How many of all of these there are.
const ROWS: u32 = SWEEPS + 4;

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
    /// Of links, with those that are empty.
    pub slots: u32,
    pub springs: Vec<Range>,
    /// Of a part of a step, as many as there are guides for.
    pub obstacles: Buffer,
    /// Of the grid in which particles that meet are found; none where the cloth does not meet itself.
    pub table: Option<Buffer>,
    /// With links, with springs; where there are some, with obstacles and contacts, and with pairs of particles.
    pub with_links: BindGroup,
    pub with_springs: BindGroup,
    pub with_obstacles: Option<BindGroup>,
    pub with_pairs: Option<BindGroup>,
    pub ranges: BindGroup,
    pub room: Room,
}

impl Memory {
    /// Of so many particles.
    pub fn new(gpu: &Gpu, n: usize, plan: &Plan, room: Room) -> Result<Self, GpuError> {
        gpu.tidy();
        let (Plan { order, obstacles: met, at_rest }, Room { entries, parts, pairs }) = (plan, room);
        let (n, met_by) = (n as u64, met.len() as u64);
        let storage = BufferUsages::STORAGE;
        let Order { links, link_groups, springs, spring_groups } = order;
        let threads = links.len().max(springs.len()) as u64;
        if threads > gpu.most_threads() {
            return Err(gpu.limit("threads of a dispatch, one for each link", gpu.most_threads(), threads));
        }
        let ranges = u64::from(ROWS) * (link_groups.len() as u64 + 1) + spring_groups.len() as u64;
        let (needed, found) = (ranges * u64::from(ALIGNED), u64::from(u32::MAX));
        if needed > found {
            // As many groups as links, paths or springs meet at a particle.
            return Err(gpu.limit("size of ranges of groups [B]", found, needed));
        }

        let sums = n.div_ceil(u64::from(WORKGROUP)).max(1);
        let sums = sums * (u64::from(parts) + 2 * met_by) + 2 * met_by * u64::from(parts);
        let bodies = gpu.buffer("bodies", n * size_of::<Body>() as u64, storage)?;
        let values = gpu.buffer("values", n * 32, storage)?;
        let asides = gpu.buffer("asides", n * 48, storage)?;
        let link_buffer = gpu.filled("links", links, storage)?;
        let spring_buffer = gpu.filled("springs", springs, storage)?;
        let pulls = gpu.buffer("pulls", links.len() as u64 * 8, storage)?;
        let flags = gpu.buffer("flags", u64::from(flag::ALL) * 4, storage)?;
        let held = gpu.buffer("held", u64::from(entries) * size_of::<Entry>() as u64, storage)?;
        let sums = gpu.buffer("sums", sums * 16, storage)?;
        let obstacles = gpu.buffer("obstacles", met_by * u64::from(parts) * size_of::<Obstacle>() as u64, storage)?;
        let parts_buffer = gpu.buffer("parts", u64::from(ALIGNED * parts), BufferUsages::UNIFORM)?;
        let staging =
            gpu.buffer("staging", bodies.size() + held.size() + sums.size() + flags.size(), BufferUsages::MAP_READ)?;

        // A range for each group and sweep, and one for its contacts, so that shaders know which one they are in; then the first of a
        // loop, and what else contacts are looked for.
        let contacts_of_all = Range { first: 0, count: n as u32, longest: 1 };
        let rows = (0..SWEEPS).map(|sweep| [sweep, 0, 0]).chain([[0, 1, 0]]);
        let rows = rows.chain([LOOK, KEEP_OUT, MEASURE].map(|row| [SWEEPS, 0, row - SWEEPS]));
        let of_links =
            rows.flat_map(|row| link_groups.iter().copied().chain([contacts_of_all]).map(move |range| (range, row)));
        let of_all = of_links.chain(spring_groups.iter().map(|range| (*range, [0; 3])));
        let mut numbers = vec![0_u32; (ALIGNED / 4) as usize * ranges as usize];
        for (slot, (range, [sweep, is_first, what])) in numbers.chunks_exact_mut((ALIGNED / 4) as usize).zip(of_all) {
            slot[..6].copy_from_slice(&[range.first, range.count, sweep, range.longest, is_first, what]);
        }
        let range_buffer = gpu.filled("ranges", &numbers, BufferUsages::UNIFORM)?;

        let with = |[read, pulls, held, sums]: [&Buffer; 4]| {
            let resources = [
                part_of(&parts_buffer),
                bound(&bodies),
                bound(&values),
                bound(&asides),
                bound(read),
                bound(pulls),
                bound(&flags),
                bound(held),
                bound(sums),
            ];
            let entries: Vec<BindGroupEntry> =
                (0..).zip(resources).map(|(binding, resource)| BindGroupEntry { binding, resource }).collect();
            let layout = &gpu.kernels.memory;
            gpu.device.create_bind_group(&BindGroupDescriptor { label: Some("memory"), layout, entries: &entries })
        };
        let with_links = with([&link_buffer, &pulls, &held, &sums]);
        let with_springs = with([&spring_buffer, &pulls, &held, &sums]);
        let mut with_obstacles = None;
        if met_by > 0 {
            let contacts = gpu.buffer("contacts", n * CONTACTS, storage)?;
            let distances = gpu.filled("distances", &met.words, storage)?;
            with_obstacles = Some(with([&obstacles, &contacts, &distances, &sums]));
        }
        let (mut table, mut with_pairs) = (None, None);
        if let Some(AtRest(words)) = at_rest {
            let places = gpu.filled("places at rest", words, storage)?;
            let met = gpu.buffer("pairs", 2 * u64::from(pairs) * PAIR, storage)?;
            let buckets =
                gpu.buffer("buckets", ((2 * n).next_power_of_two().max(LEAST_BUCKETS) + BEHIND) * 4, storage)?;
            let members = gpu.buffer("members", n * MEMBER, storage)?;
            with_pairs = Some(with([&places, &met, &buckets, &members]));
            table = Some(buckets);
        }
        let ranges = gpu.device.create_bind_group(&BindGroupDescriptor {
            label: Some("ranges"),
            layout: &gpu.kernels.range,
            entries: &[BindGroupEntry { binding: 0, resource: part_of(&range_buffer) }],
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
            links: link_groups.clone(),
            slots: links.len() as u32,
            springs: spring_groups.clone(),
            with_links,
            with_springs,
            with_obstacles,
            obstacles,
            table,
            with_pairs,
            ranges,
            room,
        })
    }

    /// Where in `ranges` a group of links is in a sweep since the last look, or in [`FIRST`].
    pub fn range_of_links(&self, sweep: u32, group: usize) -> u32 {
        ALIGNED * (sweep * (self.links.len() as u32 + 1) + group as u32)
    }

    /// Where all particles are in a sweep, or a round of looking for contacts.
    pub fn range_of_contacts(&self, sweep: u32) -> u32 {
        self.range_of_links(sweep, self.links.len())
    }

    /// Where a group of springs is.
    pub fn range_of_springs(&self, group: usize) -> u32 {
        self.range_of_links(ROWS, group)
    }
}

fn bound(buffer: &Buffer) -> BindingResource<'_> {
    BindingResource::Buffer(buffer.as_entire_buffer_binding())
}

/// As many bytes as are seen at once of uniforms, from an offset on.
fn part_of(buffer: &Buffer) -> BindingResource<'_> {
    BindingResource::Buffer(BufferBinding { buffer, offset: 0, size: NonZero::new(ALIGNED.into()) })
}
