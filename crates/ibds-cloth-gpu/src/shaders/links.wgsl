// Links that share no particle, each corrected as if it were alone ([BBD09] sections 3.2 and 3.3).

// A link's impulse on both its particles. `pull` is where it notes that.
fn correct(link: Link, ij: vec2u, found: Error, softness: f32, pull: u32, allowed: f32) -> vec3f {
    let is_rope = (link.first & ROPE) != 0u;
    let pulled = pulls[pull];
    let ratio = of_allowed(link, found.e, pulled, allowed);
    let give = values[ij.x].moved.w + values[ij.y].moved.w + softness;
    if ratio <= 1.0 || give == 0.0 {
        return vec3f();
    }
    atomicMax(&flags[range.sweep], bitcast<u32>(ratio));
    let impulse = max(found.e / give, select(-3.4e38, -pulled, is_rope));
    pulls[pull] = pulled + impulse;
    values[ij.x].moved += vec4f(values[ij.x].moved.w * impulse * found.n, 0.0);
    values[ij.y].moved -= vec4f(values[ij.y].moved.w * impulse * found.n, 0.0);
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
    if values[ij.x].moved.w == 0.0 {
        asides[ij.x].taken += vec4f(impulse, 0.0);
    }
    if values[ij.y].moved.w == 0.0 {
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
    if values[ij.x].moved.w == 0.0 {
        asides[ij.x].given += vec4f(impulse, 0.0);
    }
    if values[ij.y].moved.w == 0.0 {
        asides[ij.y].given -= vec4f(impulse, 0.0);
    }
}

@compute @workgroup_size(WORKGROUP)
fn measure_lengths(@builtin(global_invocation_id) id: vec3u) {
    if id.x < part.links {
        let link = links[id.x];
        if link.second == NONE {
            return;
        }
        let found = of_length(id.x, link, ends(link));
        let which = select(LENGTHS, STRUTS, (link.first & STRUT) != 0u);
        atomicMax(&flags[which], bitcast<u32>(of_allowed(link, found.e, pulls[id.x], allowed_of(link))));
    }
}

@compute @workgroup_size(WORKGROUP)
fn measure_rates(@builtin(global_invocation_id) id: vec3u) {
    if id.x < part.links {
        let link = links[id.x];
        if link.second == NONE {
            return;
        }
        let found = of_rate(id.x, link, ends(link));
        let pulled = pulls[part.links + id.x];
        atomicMax(&flags[RATES], bitcast<u32>(of_allowed(link, found.e, pulled, part.velocity_tolerance)));
    }
}
