// Links in a row, corrected at once: their system is tridiagonal (`paths.rs` of the cloth on the CPU). A workgroup takes as many whole paths as
// it has threads for links, and solves all of them by parallel cyclic reduction: in each round a link's equation takes in those of the
// links some places before and behind it, then twice as many, until none is left that it is coupled with.
//
// R. W. Hockney, C. R. Jesshope: Parallel Computers. Adam Hilger 1981, section 5.4.3.

// Added to the diagonal, of it: paths that are straight between two particles that are held.
const SOFT: f32 = 1e-4;
// Solves, at most, until no rope would push.
const SLACK: u32 = 3u;

// Of the link of each thread: direction and impulse; then what both its particles get.
var<workgroup> pulling: array<vec4f, WORKGROUP>;
// Equations: coupling with the link before, own, coupling with the one behind, error.
var<workgroup> equations: array<vec4f, WORKGROUP>;
var<workgroup> largest: atomic<u32>;
var<workgroup> told: u32;

// What thread 0 says of it is known to all.
fn tell(local: u32, value: u32) -> u32 {
    if local == 0u {
        told = value;
    }
    return workgroupUniformLoad(&told);
}

// The largest of all threads' numbers, none of them below 0.
fn largest_of(local: u32, value: f32) -> f32 {
    if local == 0u {
        atomicStore(&largest, 0u);
    }
    workgroupBarrier();
    atomicMax(&largest, bitcast<u32>(value));
    workgroupBarrier();
    return bitcast<f32>(tell(local, atomicLoad(&largest)));
}

fn equation_at(place: i32) -> vec4f {
    let is_there = place >= 0 && place < i32(WORKGROUP);
    return select(vec4f(0.0, 1.0, 0.0, 0.0), equations[clamp(place, 0, i32(WORKGROUP) - 1)], is_there);
}

// The own link's impulse, of paths with no more links than `range.longest`.
fn solve(local: u32, own: vec4f) -> f32 {
    var mine = own;
    for (var reach = 1u; reach < range.longest; reach *= 2u) {
        equations[local] = mine;
        workgroupBarrier();
        let before = equation_at(i32(local) - i32(reach));
        let behind = equation_at(i32(local) + i32(reach));
        let k = mine.x / before.y;
        let l = mine.z / behind.y;
        mine = vec4f(
            -k * before.x,
            mine.y - k * before.z - l * behind.x,
            -l * behind.z,
            mine.w - k * before.w - l * behind.w,
        );
        workgroupBarrier();
    }
    return mine.w / mine.y;
}

fn sweep(local: u32, k: u32, is_rate: bool) {
    if tell(local, select(0u, 1u, is_over())) != 0u {
        return;
    }
    let link = links[k];
    let is_link = link.second != NONE;
    let ij = select(vec2u(), ends(link), is_link);
    let is_rope = (link.first & ROPE) != 0u;
    let begins = (link.first & BEGINS) != 0u;
    let ends_here = local + 1u == WORKGROUP || !continues(k + 1u);
    let wi = values[ij.x].moved.w;
    let wj = values[ij.y].moved.w;
    let softness = select(softness(link), 0.0, is_rate);
    let pull = select(0u, part.links, is_rate) + k;
    let pulled = pulls[pull];
    var found = Error(vec3f(), 0.0);
    if is_rate {
        found = of_rate(k, link, ij);
    } else {
        found = of_length(k, link, ij);
    }
    let allowed = select(allowed_of(link), part.velocity_tolerance, is_rate);
    let diagonal = (1.0 + SOFT) * (wi + wj) + softness;
    var acts = is_link && diagonal > 0.0 && !lets_be(link, found.e, pulled);
    let worst = largest_of(local, select(0.0, abs(found.e) / allowed, acts));
    if worst <= f32(1u - range.is_first) {
        return;
    }
    if local == 0u {
        atomicMax(&flags[range.sweep], bitcast<u32>(worst));
    }

    var impulse = 0.0;
    for (var round = 0u; round < SLACK; round += 1u) {
        let n = select(vec3f(), found.n, acts);
        pulling[local] = vec4f(n, 0.0);
        workgroupBarrier();
        var own = vec4f(0.0, 1.0, 0.0, 0.0);
        if acts {
            let before = pulling[max(local, 1u) - 1u].xyz;
            let behind = pulling[min(local + 1u, WORKGROUP - 1u)].xyz;
            own = vec4f(
                select(-wi * dot(before, n), 0.0, begins),
                diagonal,
                select(-wj * dot(n, behind), 0.0, ends_here),
                found.e,
            );
        }
        workgroupBarrier();
        impulse = solve(local, own);
        let pushes = acts && is_rope && impulse < 0.0 && !takes_back(link, pulled);
        let any = largest_of(local, select(0.0, 1.0, pushes));
        if any == 0.0 {
            break;
        }
        acts = acts && !pushes;
    }
    impulse = select(0.0, max(impulse, select(-3.4e38, -pulled, is_rope)), acts);

    // What the particle behind the link gets from both its links, and the first one of a path from its only one.
    let own = impulse * found.n;
    pulling[local] = vec4f(own, 0.0);
    workgroupBarrier();
    var sum = -own;
    if !ends_here {
        sum += pulling[min(local + 1u, WORKGROUP - 1u)].xyz;
    }
    // None goes farther than a link is long, so that directions hold.
    var far = 0.0;
    if is_link && !is_rate {
        far = max(wj * length(sum), select(0.0, wi * length(own), begins)) / scale_of(link);
    }
    let share = 1.0 / max(1.0, largest_of(local, far));
    if !is_link {
        return;
    }
    pulls[pull] = pulled + share * impulse;
    give(ij.y, share * sum, is_rate);
    if begins {
        give(ij.x, share * own, is_rate);
    }
}

// Whether a slot has a link that goes on from the one before.
fn continues(k: u32) -> bool {
    return links[k].second != NONE && (links[k].first & BEGINS) == 0u;
}

fn give(particle: u32, impulse: vec3f, is_rate: bool) {
    let w = values[particle].moved.w;
    if w > 0.0 {
        values[particle].moved += vec4f(w * impulse, 0.0);
    } else if is_rate {
        asides[particle].given += vec4f(impulse, 0.0);
    } else {
        asides[particle].taken += vec4f(impulse, 0.0);
    }
}

@compute @workgroup_size(WORKGROUP)
fn sweep_path_lengths(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u) {
    sweep(local.x, range.first + id.x, false);
}

@compute @workgroup_size(WORKGROUP)
fn sweep_path_rates(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u) {
    sweep(local.x, range.first + id.x, true);
}
