// Stages that take each particle by itself.

@compute @workgroup_size(WORKGROUP)
fn begin(@builtin(global_invocation_id) id: vec3u) {
    if id.x < part.particles {
        asides[id.x] = Aside(vec4f(), vec4f(), vec4f());
    }
}

@compute @workgroup_size(WORKGROUP)
fn add_loads(@builtin(global_invocation_id) id: vec3u) {
    if id.x < part.loads {
        let load = held[part.first_load + id.x];
        asides[load.particle].force += vec4f(load.impulse.xyz, 0.0);
    }
}

// Where particles would be without links ([BBD09] equation 2).
@compute @workgroup_size(WORKGROUP)
fn predict(@builtin(global_invocation_id) id: vec3u) {
    let k = id.x;
    if k < part.particles {
        let body = bodies[k];
        let place = body.x.xyz + part.h * body.v.xyz + part.share * part.h * part.h * acceleration(k);
        values[k] = Value(vec4f(0.0, 0.0, 0.0, body.x.w), vec4f(place, 0.0));
    }
}

@compute @workgroup_size(WORKGROUP)
fn hold(@builtin(global_invocation_id) id: vec3u) {
    if id.x < part.held {
        let q = part.first_held + id.x;
        let k = held[q].particle;
        held[q].before = bodies[k].v;
        values[k] = Value(vec4f(), vec4f(held[q].position, 0.0));
    }
}

// Velocities from places: v + h a, and what corrections added, over h.
@compute @workgroup_size(WORKGROUP)
fn advance(@builtin(global_invocation_id) id: vec3u) {
    let k = id.x;
    if k < part.particles {
        bodies[k].v += vec4f(part.h * acceleration(k) + values[k].moved.xyz / part.h, 0.0);
        bodies[k].x = vec4f(value(k), bodies[k].x.w);
    }
}

@compute @workgroup_size(WORKGROUP)
fn hold_velocities(@builtin(global_invocation_id) id: vec3u) {
    if id.x < part.held {
        let entry = held[part.first_held + id.x];
        bodies[entry.particle].v = vec4f(entry.velocity, 0.0);
    }
}

@compute @workgroup_size(WORKGROUP)
fn begin_rates(@builtin(global_invocation_id) id: vec3u) {
    if id.x < part.particles {
        values[id.x].moved = vec4f(bodies[id.x].v.xyz, values[id.x].moved.w);
        values[id.x].start = vec4f(0.0, 0.0, 0.0, values[id.x].start.w);
    }
}

@compute @workgroup_size(WORKGROUP)
fn end_rates(@builtin(global_invocation_id) id: vec3u) {
    if id.x < part.particles {
        bodies[id.x].v = vec4f(values[id.x].moved.xyz, 0.0);
    }
}

// What it took to hold particles: their change of momentum, less what forces and links gave them.
@compute @workgroup_size(WORKGROUP)
fn book(@builtin(global_invocation_id) id: vec3u) {
    if id.x < part.held {
        let q = part.first_held + id.x;
        let k = held[q].particle;
        let mass = held[q].mass;
        let links = asides[k].taken.xyz / part.h + asides[k].given.xyz;
        let forces = part.h * (asides[k].force.xyz + mass * part.gravity);
        let gained = mass * (held[q].velocity - held[q].before.xyz);
        held[q].impulse = vec4f(gained - forces - links, 0.0);
    }
}

var<workgroup> shared_sums: array<vec3f, WORKGROUP>;

// Of m x where the change of m x × v is the moment of gravity, in the order of particles.
@compute @workgroup_size(WORKGROUP)
fn sum_moments(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(workgroup_id) group: vec3u,
) {
    var own = vec3f();
    if id.x < part.particles {
        let body = bodies[id.x];
        let middle = select(body.x.xyz, 0.5 * (body.x.xyz + values[id.x].start.xyz), part.share != 1.0);
        own = middle / body.x.w;
    }
    shared_sums[local.x] = own;
    for (var width = WORKGROUP / 2u; width > 0u; width /= 2u) {
        workgroupBarrier();
        if local.x < width {
            shared_sums[local.x] += shared_sums[local.x + width];
        }
    }
    if local.x == 0u {
        sums[part.first_sum + group.x] = vec4f(shared_sums[0], 0.0);
    }
}
