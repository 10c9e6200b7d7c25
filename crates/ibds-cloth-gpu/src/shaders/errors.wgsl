// Links, and how far they are off. Written behind `common.wgsl` in front of what corrects them.

// One thread's link. Bit 31 of the first particle: a rope, which does not push; bit 30: a path begins with it; bit 29: a strut, which does
// not pull.
struct Link {
    first: u32,
    second: u32,
    // [m]
    rest: f32,
    // [m/N]
    compliance: f32,
}

@group(0) @binding(4) var<storage, read> links: array<Link>;

// The direction of a link, 0 where there is none, and how much too far apart its values are.
struct Error {
    n: vec3f,
    e: f32,
}

fn ends(link: Link) -> vec2u {
    return vec2u(link.first & ~(ROPE | BEGINS | STRUT), link.second);
}

fn of_length(k: u32, link: Link, ij: vec2u) -> Error {
    let apart = between(ij);
    let length = length(apart);
    let inverse = select(0.0, 1.0 / length, length > 0.0);
    // What has to part and is at one place does so somehow.
    let any = select(vec3f(), vec3f(1.0, 0.0, 0.0), length == 0.0 && (link.first & STRUT) != 0u);
    return Error(apart * inverse + any, length - link.rest - softness(link) * pulls[k]);
}

fn of_rate(k: u32, link: Link, ij: vec2u) -> Error {
    let apart = bodies[ij.y].x.xyz - bodies[ij.x].x.xyz;
    let length = length(apart);
    // What gives way may swing, and what is slack and gave nothing is free.
    let is_rope = (link.first & ROPE) != 0u && length <= link.rest;
    let is_slack = (is_rope || (link.first & STRUT) != 0u) && pulls[k] == 0.0;
    if is_slack || link.compliance > 0.0 || length == 0.0 {
        return Error(vec3f(), 0.0);
    }
    let n = apart / length;
    return Error(n, dot(n, between(ij)));
}

fn softness(link: Link) -> f32 {
    return link.compliance / (part.h * part.h);
}

// Whether a rope that gives way takes back what it gave too much.
fn takes_back(link: Link, pulled: f32) -> bool {
    return pulled > 0.0 && link.compliance > 0.0;
}

// Whether a link leaves an error as it is: a rope that is short, a strut that is long.
fn lets_be(link: Link, e: f32, pulled: f32) -> bool {
    let is_rope = (link.first & ROPE) != 0u && e <= 0.0 && !takes_back(link, pulled);
    return is_rope || ((link.first & STRUT) != 0u && e >= 0.0);
}

// Of what an error may be; 0 where it is left as it is.
fn of_allowed(link: Link, e: f32, pulled: f32, allowed: f32) -> f32 {
    return select(abs(e) / allowed, 0.0, lets_be(link, e, pulled));
}

// What errors are measured by: the rest length, or the mean one where there is none [m].
fn scale_of(link: Link) -> f32 {
    return select(link.rest, part.mean_rest, link.rest == 0.0);
}

fn allowed_of(link: Link) -> f32 {
    return select(part.extensibility, part.strut_tolerance, (link.first & STRUT) != 0u) * scale_of(link);
}
