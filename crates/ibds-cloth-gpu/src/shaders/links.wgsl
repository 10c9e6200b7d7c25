// Links that share no particle, each corrected as if it were alone ([BBD09] sections 3.2 and 3.3).

struct Link {
    // Bit 31 of the first: a rope, which does not push.
    first: u32,
    second: u32,
    // [m]
    rest: f32,
    // [m/N]
    compliance: f32,
}

const ROPE: u32 = 0x80000000u;

@group(0) @binding(4) var<storage, read> links: array<Link>;

// The direction of a link, 0 where there is none, and how much too far apart its values are.
struct Error {
    n: vec3f,
    e: f32,
}

fn ends(link: Link) -> vec2u {
    return vec2u(link.first & ~ROPE, link.second);
}

fn of_length(k: u32, link: Link, ij: vec2u) -> Error {
    let apart = values[ij.y].xyz - values[ij.x].xyz;
    let length = length(apart);
    let inverse = select(0.0, 1.0 / length, length > 0.0);
    return Error(apart * inverse, length - link.rest - softness(link) * pulls[k]);
}

fn of_rate(k: u32, link: Link, ij: vec2u) -> Error {
    let apart = bodies[ij.y].x.xyz - bodies[ij.x].x.xyz;
    let length = length(apart);
    // What gives way may swing, and what is slack and gave nothing is free.
    let is_slack = (link.first & ROPE) != 0u && length <= link.rest && pulls[k] == 0.0;
    if is_slack || link.compliance > 0.0 || length == 0.0 {
        return Error(vec3f(), 0.0);
    }
    let n = apart / length;
    return Error(n, dot(n, values[ij.y].xyz - values[ij.x].xyz));
}

fn softness(link: Link) -> f32 {
    return link.compliance / (part.h * part.h);
}

// Of what an error may be; 0 of a rope that does nothing: one that gives way takes back what it gave too much.
fn of_allowed(link: Link, e: f32, pulled: f32, allowed: f32) -> f32 {
    let takes_back = pulled > 0.0 && link.compliance > 0.0;
    let is_slack = (link.first & ROPE) != 0u && e <= 0.0 && !takes_back;
    return select(abs(e) / allowed, 0.0, is_slack);
}

fn allowed_of(link: Link) -> f32 {
    return part.extensibility * select(link.rest, part.mean_rest, link.rest == 0.0);
}

// A link's impulse on both its particles. `pull` is where it notes that.
fn correct(link: Link, ij: vec2u, found: Error, softness: f32, pull: u32, allowed: f32) -> vec3f {
    let is_rope = (link.first & ROPE) != 0u;
    let pulled = pulls[pull];
    let ratio = of_allowed(link, found.e, pulled, allowed);
    let give = values[ij.x].w + values[ij.y].w + softness;
    if ratio <= 1.0 || give == 0.0 {
        return vec3f();
    }
    atomicMax(&flags[range.sweep], bitcast<u32>(ratio));
    let impulse = max(found.e / give, select(-3.4e38, -pulled, is_rope));
    pulls[pull] = pulled + impulse;
    values[ij.x] += vec4f(values[ij.x].w * impulse * found.n, 0.0);
    values[ij.y] -= vec4f(values[ij.y].w * impulse * found.n, 0.0);
    return impulse * found.n;
}

@compute @workgroup_size(WORKGROUP)
fn sweep_lengths(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= range.count || is_over() {
        return;
    }
    let k = range.first + id.x;
    let link = links[k];
    let ij = ends(link);
    let impulse = correct(link, ij, of_length(k, link, ij), softness(link), k, allowed_of(link));
    if values[ij.x].w == 0.0 {
        asides[ij.x].taken += vec4f(impulse, 0.0);
    }
    if values[ij.y].w == 0.0 {
        asides[ij.y].taken -= vec4f(impulse, 0.0);
    }
}

@compute @workgroup_size(WORKGROUP)
fn sweep_rates(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= range.count || is_over() {
        return;
    }
    let k = range.first + id.x;
    let link = links[k];
    let ij = ends(link);
    let impulse = correct(link, ij, of_rate(k, link, ij), 0.0, part.links + k, part.velocity_tolerance);
    if values[ij.x].w == 0.0 {
        asides[ij.x].given += vec4f(impulse, 0.0);
    }
    if values[ij.y].w == 0.0 {
        asides[ij.y].given -= vec4f(impulse, 0.0);
    }
}

@compute @workgroup_size(WORKGROUP)
fn measure_lengths(@builtin(global_invocation_id) id: vec3u) {
    if id.x < part.links {
        let link = links[id.x];
        let found = of_length(id.x, link, ends(link));
        atomicMax(&flags[LENGTHS], bitcast<u32>(of_allowed(link, found.e, pulls[id.x], allowed_of(link))));
    }
}

@compute @workgroup_size(WORKGROUP)
fn measure_rates(@builtin(global_invocation_id) id: vec3u) {
    if id.x < part.links {
        let link = links[id.x];
        let found = of_rate(id.x, link, ends(link));
        let pulled = pulls[part.links + id.x];
        atomicMax(&flags[RATES], bitcast<u32>(of_allowed(link, found.e, pulled, part.velocity_tolerance)));
    }
}
