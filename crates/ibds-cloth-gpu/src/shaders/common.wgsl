// What all shaders share: a part of a step, and the memory of a net. Written in front of each of them, behind constants of `kernels.rs`.

struct Part {
    gravity: vec3f,
    // [s]
    h: f32,
    // Of h² times the acceleration, what a place moves by.
    share: f32,
    particles: u32,
    // Where entries of this part begin in `held`, and how many there are; likewise of loads.
    first_held: u32,
    held: u32,
    first_load: u32,
    loads: u32,
    links: u32,
    // Error that a link may have, of its rest length [-], or of the mean one where it has none [m].
    extensibility: f32,
    // Of struts, of their distance [-].
    strut_tolerance: f32,
    mean_rest: f32,
    // How fast links may grow [m/s].
    velocity_tolerance: f32,
    // Where sums of this part begin in `sums`.
    first_sum: u32,
    // How many obstacles there are, and where those of this part begin; where what groups of particles gave to them begins in `sums`, and
    // what all did.
    obstacles: u32,
    first_obstacle: u32,
    first_partial: u32,
    first_wrench: u32,
    // How much of what a particle is too near by it is led away in this part [-].
    parting: f32,
    // Normal speed up to which nothing bounces [m/s].
    restitution_threshold: f32,
    // How far particles stay away from each other [m], and friction there [-].
    self_distance: f32,
    self_friction: f32,
}

// A particle: where it is, with its inverse mass [1/kg], and how fast [m/s].
struct Body {
    x: vec4f,
    v: vec4f,
}

// What the loops bring together: places where particles would be without links [m], and by how much these moved them; in the loop of
// velocities 0 and velocities [m/s]. Kept apart, since what is added to a place is rounded as the place is, and momentum with it.
struct Value {
    // Inverse mass, 0 for what is held.
    moved: vec4f,
    // How many contacts the particle has.
    start: vec4f,
}

// Of a particle in a part: force of loads and springs [N], and if it is held what links gave: impulses times the part [N s²], and impulses
// of the loop of velocities [N s].
struct Aside {
    force: vec4f,
    taken: vec4f,
    given: vec4f,
}

// A particle that is held: where it ends, how fast, how fast it began, what that took [N s]. Or one that is loaded, with the force in the
// place of the impulse [N].
struct Held {
    position: vec3f,
    particle: u32,
    velocity: vec3f,
    // [kg]
    mass: f32,
    before: vec4f,
    impulse: vec4f,
}

// A group of links, the sweep that they are in, counted from the last look at the flags, and how many links its longest path has. In the
// first sweep of a loop over paths all are corrected. For all particles at once: the sweep, or which round of looking for contacts it is, and
// what for.
struct Range {
    first: u32,
    count: u32,
    sweep: u32,
    longest: u32,
    is_first: u32,
    what: u32,
}

// What comes nearer than a distance and this much of it is a contact.
const AHEAD: f32 = 0.25;

@group(0) @binding(0) var<uniform> part: Part;
@group(0) @binding(1) var<storage, read_write> bodies: array<Body>;
@group(0) @binding(2) var<storage, read_write> values: array<Value>;
@group(0) @binding(3) var<storage, read_write> asides: array<Aside>;
// Of links what they gave: first all of the loop of places, then all of that of velocities.
@group(0) @binding(5) var<storage, read_write> pulls: array<f32>;
// Largest error of links that a sweep corrected, of what it may be; bits of positive numbers are ordered as these are.
@group(0) @binding(6) var<storage, read_write> flags: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> held: array<Held>;
@group(0) @binding(8) var<storage, read_write> sums: array<vec4f>;
@group(1) @binding(0) var<uniform> range: Range;

// After a sweep that corrected nothing none does.
fn is_over() -> bool {
    return range.sweep > 0u && atomicLoad(&flags[range.sweep - 1u]) == 0u;
}

fn value(k: u32) -> vec3f {
    return values[k].start.xyz + values[k].moved.xyz;
}

// From one particle's value to another's.
fn between(ij: vec2u) -> vec3f {
    return (values[ij.y].start.xyz - values[ij.x].start.xyz) + (values[ij.y].moved.xyz - values[ij.x].moved.xyz);
}

fn acceleration(k: u32) -> vec3f {
    return part.gravity + bodies[k].x.w * asides[k].force.xyz;
}
