// Springs and dampers that share no particle, whose forces are constant over a part ([BBD09] sections 4.1 and 4.3).

struct Spring {
    first: u32,
    second: u32,
    // [m]
    rest: f32,
    // [N/m], [N s/m]
    stiffness: f32,
    damping: f32,
}

@group(0) @binding(4) var<storage, read> springs: array<Spring>;

@compute @workgroup_size(WORKGROUP)
fn add_springs(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= range.count {
        return;
    }
    let spring = springs[range.first + id.x];
    let i = spring.first;
    let j = spring.second;
    let apart = bodies[j].x.xyz - bodies[i].x.xyz;
    let length = length(apart);
    if length > 0.0 {
        let n = apart / length;
        let rate = dot(n, bodies[j].v.xyz - bodies[i].v.xyz);
        let pull = (spring.stiffness * (length - spring.rest) + spring.damping * rate) * n;
        asides[i].force += vec4f(pull, 0.0);
        asides[j].force -= vec4f(pull, 0.0);
    }
}
