// Contacts of particles with each other, as balls: pairs are found by a hashed grid [THMPG], and all are corrected at once [TBV].
//
// [THMPG] M. Teschner, B. Heidelberger, M. Müller, D. Pomeranets, M. Gross: Optimized spatial hashing for collision detection of deformable
// objects. VMV 2003.
// [TBV] R. Tonge, F. Benevolenski, A. Voroshilov: Mass splitting for jitter-free parallel rigid body simulation. SIGGRAPH 2012.
//
// A pair i < j asks that its particles end a part some `least` apart along n, with Coulomb friction across it:
//
//   n (y_j - y_i) >= least.
//
// Both particles have it in their lists. Each finds what it gives from the same numbers in the same order, so that what one gets the other
// loses, to the bit, though no thread writes what another reads. A particle that is in several pairs that push is taken for as many, each
// with a share of its mass: then all together do not do too much.

struct Pair {
    // From the particle with the lower number to the other.
    n: vec3f,
    // [m]. In the loop of velocities 0, or 1 of what did not push.
    least: f32,
    // How they would be apart if they stuck to each other from where they touch [m], or how that would change [m/s].
    stuck: vec3f,
    // Of the impulses on the second: how hard it pushes, and drags, times the part [N s²], or not [N s].
    push: f32,
    drag: vec3f,
    other: u32,
}

// A particle in the grid, and its pairs.
struct Member {
    // The middle of its way [m].
    middle: vec3f,
    // The one behind it in its bucket and one more, 0 if there is none.
    next: u32,
    // From there to the end [m].
    half: vec3f,
    // Where its pairs begin, and how many there are.
    first: u32,
    // What all of them give it in a sweep, and how many of them push then.
    change: vec3f,
    pushing: f32,
    count: u32,
    // Among how many its mass is shared out.
    shares: f32,
}

// Where particles are at rest, bits of places [m], and the number of what they are joined with.
@group(0) @binding(4) var<storage, read> at_rest: array<vec4u>;
// Two rooms, one for pairs and one for these and those added to them.
@group(0) @binding(5) var<storage, read_write> pairs: array<Pair>;
// Buckets, each the first particle and one more; behind them bounds of all ways, as numbers that are ordered as these are, how many pairs
// there are, and whether there were more than there is room for.
@group(0) @binding(7) var<storage, read_write> table: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> members: array<Member>;

// Behind the buckets and bounds: how many pairs there are, and whether there were too many.
const COUNT: u32 = 6u;
const FULL: u32 = 7u;
// What is joined and nearer at rest than this much of the distance.
const BESIDE: f32 = 1.3;
// What pairs may lack at least, of their distance: 32 bits do not tell much less of places.
const LEAST: f32 = 1e-4;

// Of pairs that there are at once.
fn room() -> u32 {
    return arrayLength(&pairs) / 2u;
}

fn buckets() -> u32 {
    return arrayLength(&table) - BEHIND;
}

fn is_finite(v: vec3f) -> bool {
    return all((bitcast<vec3u>(v) & vec3u(0x7f800000u)) != vec3u(0x7f800000u));
}

fn ordered(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    return select(bits | 0x80000000u, ~bits, (bits & 0x80000000u) != 0u);
}

fn of_ordered(bits: u32) -> f32 {
    return bitcast<f32>(select(~bits, bits & 0x7fffffffu, (bits & 0x80000000u) != 0u));
}

fn way(k: u32) -> vec3f {
    return value(k) - bodies[k].x.xyz;
}

var<workgroup> highest: array<vec3f, WORKGROUP>;
var<workgroup> lowest: array<vec3f, WORKGROUP>;

// Bounds of how particles move.
@compute @workgroup_size(WORKGROUP)
fn bound_ways(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let own = way(min(id.x, part.particles - 1u));
    let known = select(vec3f(), own, is_finite(own));
    highest[local.x] = known;
    lowest[local.x] = known;
    for (var width = WORKGROUP / 2u; width > 0u; width /= 2u) {
        workgroupBarrier();
        if local.x < width {
            highest[local.x] = max(highest[local.x], highest[local.x + width]);
            lowest[local.x] = min(lowest[local.x], lowest[local.x + width]);
        }
    }
    if local.x == 0u {
        for (var axis = 0u; axis < 3u; axis += 1u) {
            atomicMax(&table[buckets() + axis], ordered(highest[0][axis]));
            atomicMax(&table[buckets() + 3u + axis], ordered(-lowest[0][axis]));
        }
    }
}

// How far at most two particles move against each other, halved [m]: so far from the middle of a way the other can be from its own.
fn half_way() -> f32 {
    var across = vec3f();
    for (var axis = 0u; axis < 3u; axis += 1u) {
        let high = of_ordered(atomicLoad(&table[buckets() + axis]));
        across[axis] = high + of_ordered(atomicLoad(&table[buckets() + 3u + axis]));
    }
    return 0.5 * length(across);
}

// Cells as large as that two particles that come near have the middles of their ways in the same one or beside each other.
fn size_of_cells() -> f32 {
    return (1.0 + AHEAD) * part.self_distance + min(half_way(), FARTHEST * part.self_distance);
}

// Numbers of [THMPG], added up: the 27 cells around a particle are in as many buckets (a test in `kernels.rs`).
fn bucket_of(cell: vec3i) -> u32 {
    let numbers = bitcast<vec3u>(cell) * vec3u(73856093u, 19349663u, 83492791u);
    return (numbers.x + numbers.y + numbers.z) & (buckets() - 1u);
}

@compute @workgroup_size(WORKGROUP)
fn insert(@builtin(global_invocation_id) id: vec3u) {
    let k = id.x;
    if k >= part.particles {
        return;
    }
    if range.sweep == 0u {
        members[k].count = 0u;
    }
    if k == 0u {
        if range.what != LOOK {
            atomicMax(&flags[FAST], bitcast<u32>(half_way() / (FARTHEST * part.self_distance)));
        }
        atomicStore(&table[buckets() + FULL], select(0u, 1u, atomicLoad(&flags[PAIRS]) > room()));
    }
    members[k].middle = 0.5 * (value(k) + bodies[k].x.xyz);
    members[k].half = 0.5 * way(k);
    let place = members[k].middle / size_of_cells();
    if is_finite(place) {
        members[k].next = atomicExchange(&table[bucket_of(vec3i(floor(place)))], k + 1u);
    }
}

// Particles near one, bucket by bucket of the cells around its own.
struct Nearby {
    k: u32,
    middle: vec3f,
    half: vec3f,
    cell: vec3i,
    number: i32,
    next: u32,
}

fn nearby(k: u32) -> Nearby {
    let size = size_of_cells();
    let place = members[k].middle / size;
    let cell = vec3i(floor(place));
    return Nearby(k, members[k].middle, members[k].half, cell, select(27, 0, is_finite(place)), 0u);
}

// The next of them, in no certain order; `NONE` after the last.
fn next_of(near: ptr<function, Nearby>) -> u32 {
    var found = NONE;
    while found == NONE && ((*near).next != 0u || (*near).number < 27) {
        if (*near).next == 0u {
            let number = (*near).number;
            let around = vec3i(number % 3, number / 3 % 3, number / 9) - vec3i(1);
            (*near).next = atomicLoad(&table[bucket_of((*near).cell + around)]);
            (*near).number = number + 1;
        } else {
            let j = (*near).next - 1u;
            (*near).next = members[j].next;
            // How near two come in a part at least, if they go the straightest way.
            let against = distance(members[j].half, (*near).half);
            let nearest = distance(members[j].middle, (*near).middle) - against;
            if j != (*near).k && nearest <= (1.0 + AHEAD) * part.self_distance {
                found = j;
            }
        }
    }
    return found;
}

// What two particles ask of each other, of no other where they stay apart.
fn contact_of(i: u32, j: u32) -> Pair {
    let d = part.self_distance;
    let none = Pair(vec3f(), 0.0, vec3f(), 0.0, vec3f(), NONE);
    let apart = distance(bitcast<vec3f>(at_rest[i].xyz), bitcast<vec3f>(at_rest[j].xyz));
    let are_beside = at_rest[i].w == at_rest[j].w && apart < BESIDE * d;
    if are_beside || values[i].moved.w + values[j].moved.w == 0.0 {
        return none;
    }
    let begin = bodies[j].x.xyz - bodies[i].x.xyz;
    let end = between(vec2u(i, j));
    let way = end - begin;
    let before = length(begin);
    let after = length(end);
    // When they first touch, |begin + t way| = d, or else are nearest.
    let a = dot(way, way);
    let b = dot(begin, way);
    let root = b * b - a * (before - d) * (before + d);
    let touches = b < 0.0 && root >= 0.0 && (before - d) * (before + d) <= sqrt(max(root, 0.0)) - b;
    let is_met = before <= d || touches;
    if !is_met && after > (1.0 + AHEAD) * d {
        return none;
    }
    var t = 0.0;
    if before > d && b < 0.0 {
        t = min(select(-b / a, (before - d) * (before + d) / (sqrt(max(root, 0.0)) - b), touches), 1.0);
    }
    let touch = begin + t * way;
    let lacking = d - before;
    let least = select(d, before + part.parting * lacking, lacking > 0.0);
    // They are kept apart along the line that they end on if where they began is far enough along that too. Else along the one that they
    // touched on, along which it is: so all pairs of a particle can have what they ask for at once.
    var pair = Pair(unit(end), least, select(begin, touch, is_met), 0.0, vec3f(), j);
    if before > 0.0 && dot(pair.n, begin) < min(before, least) - 0.5 * enough(pair) {
        pair.n = unit(touch);
    }
    return pair;
}

fn unit(v: vec3f) -> vec3f {
    let size = length(v);
    return select(vec3f(1.0, 0.0, 0.0), v / size, size > 0.0);
}

// Less than 0 where it has enough, of what it may lack.
fn lacking_of(pair: Pair, ij: vec2u) -> f32 {
    return (pair.least - dot(pair.n, between(ij))) / enough(pair);
}

// What a pair may lack [m]: so much that it ends no nearer than the distance less `ENOUGH` of it, or than it began where that was nearer.
fn enough(pair: Pair) -> f32 {
    let most = ENOUGH * part.self_distance;
    return max(pair.least - part.self_distance + most, max(0.5 * part.parting * most, LEAST * part.self_distance));
}

fn in_order(k: u32, other: u32) -> vec2u {
    return vec2u(min(k, other), max(k, other));
}

fn has(k: u32, other: u32) -> bool {
    for (var at = members[k].first; at < members[k].first + members[k].count; at += 1u) {
        if pairs[at].other == other {
            return true;
        }
    }
    return false;
}

// Particles that come near one and are no pairs with it yet: how many that are pairs from now on, and what the worst of them lacks.
struct Seen {
    count: u32,
    worst: f32,
}

// After the first round only what has to be added is a pair from now on. If `place` is one in the other room, as many as these are kept
// there, in the order of their numbers.
fn visit(k: u32, place: u32, most: u32) -> Seen {
    var seen = Seen();
    var near = nearby(k);
    for (var j = next_of(&near); j != NONE; j = next_of(&near)) {
        let ij = in_order(k, j);
        var contact = contact_of(ij.x, ij.y);
        let lacking = lacking_of(contact, ij);
        if contact.other == NONE || has(k, j) {
            continue;
        }
        seen.worst = max(seen.worst, lacking);
        if (range.sweep > 0u && lacking <= 1.0) || seen.count == most {
            continue;
        }
        if place != NONE {
            contact.other = j;
            var at = place + seen.count;
            while at > place && pairs[at - 1u].other > j {
                pairs[at] = pairs[at - 1u];
                at -= 1u;
            }
            pairs[at] = contact;
        }
        seen.count += 1u;
    }
    return seen;
}

// Looks for what a particle meets: to keep pairs that there are and new ones in the other room; to see whether there are more; or at last to
// measure how near others are.
@compute @workgroup_size(WORKGROUP)
fn find_pairs(@builtin(global_invocation_id) id: vec3u) {
    let k = id.x;
    if k >= part.particles {
        return;
    }
    let finds = range.what == FIND;
    let before = members[k].first;
    let known = members[k].count;
    var worst = 0.0;
    for (var at = before; at < before + known && !finds; at += 1u) {
        worst = max(worst, lacking_of(pairs[at], in_order(k, pairs[at].other)));
    }
    if finds && atomicLoad(&table[buckets() + FULL]) != 0u {
        members[k].count = 0u;
        return;
    }
    // Only what was moved by half of what pairs were looked for ahead by can be in one that was not found at first: else its way is about
    // what it was then.
    let visits = finds || length(values[k].moved.xyz) > 0.5 * AHEAD * part.self_distance;
    var begin = 0u;
    var more = 0u;
    // To count them, then to keep them.
    for (var time = 0u; time < 2u && visits; time += 1u) {
        let keeps = time == 1u;
        let seen = visit(k, select(NONE, begin + known, keeps), select(NONE, more, keeps));
        worst = max(worst, seen.worst);
        more = seen.count;
        if keeps || !finds {
            break;
        }
        let all = select(known + more, NONE, known + more > MOST_PAIRS);
        let first = atomicAdd(&table[buckets() + COUNT], known + min(more, MOST_PAIRS));
        atomicMax(&flags[PAIRS], select(first + all, NONE, all == NONE));
        if all == NONE || first + all > room() {
            // The step is taken anew, with more room, if that helps.
            members[k].count = 0u;
            return;
        }
        begin = (range.sweep & 1u) * room() + first;
        for (var slot = 0u; slot < known; slot += 1u) {
            pairs[begin + slot] = pairs[before + slot];
        }
        if more == 0u {
            break;
        }
    }
    if finds {
        members[k].first = begin;
        members[k].count = known + more;
        members[k].shares = max(f32(known + more), 1.0);
    } else if range.what == MEASURE {
        atomicMax(&flags[NEAR], bitcast<u32>(worst));
    } else if worst > 1.0 {
        atomicMax(&flags[MORE], 1u);
    }
}

// All pairs of a particle, from where both are, which does not change meanwhile.
fn sweep(k: u32, is_rate: bool) {
    var change = vec3f();
    var pushing = 0.0;
    let end = members[k].first + members[k].count;
    for (var at = members[k].first; at < end; at += 1u) {
        let pair = pairs[at];
        if is_rate && pair.least > 0.0 {
            continue;
        }
        let ij = in_order(k, pair.other);
        let give = values[ij.x].moved.w * members[ij.x].shares + values[ij.y].moved.w * members[ij.y].shares;
        let apart = between(ij);
        let push = max(pair.push + (pair.least - dot(pair.n, apart)) / give, 0.0);
        let slid = apart - pair.stuck;
        var drag = pair.drag - (slid - dot(pair.n, slid) * pair.n) / give;
        let most = part.self_friction * push;
        let size = length(drag);
        if size > most {
            drag *= most / size;
        }
        let more = (push - pair.push) * pair.n + (drag - pair.drag);
        let moves = give * max(abs(push - pair.push), distance(drag, pair.drag));
        let ratio = moves / select(enough(pair), part.velocity_tolerance, is_rate);
        if ratio > 1.0 {
            atomicMax(&flags[range.sweep], bitcast<u32>(ratio));
        }
        pairs[at].push = push;
        pairs[at].drag = drag;
        change += select(-more, more, k == ij.y);
        pushing += select(0.0, 1.0, push > 0.0);
    }
    members[k].change = change;
    members[k].pushing = pushing;
}

@compute @workgroup_size(WORKGROUP)
fn sweep_pair_lengths(@builtin(global_invocation_id) id: vec3u) {
    if id.x < part.particles && !is_over() {
        sweep(id.x, false);
    }
}

@compute @workgroup_size(WORKGROUP)
fn sweep_pair_rates(@builtin(global_invocation_id) id: vec3u) {
    if id.x < part.particles && !is_over() {
        sweep(id.x, true);
    }
}

// What pairs gave to a particle moves it, or is taken by who holds it.
fn apply(k: u32, is_rate: bool) {
    if k >= part.particles || is_over() || members[k].count == 0u {
        return;
    }
    let change = members[k].change;
    let w = values[k].moved.w;
    if w > 0.0 {
        values[k].moved += vec4f(w * change, 0.0);
    } else if is_rate {
        asides[k].given += vec4f(change, 0.0);
    } else {
        asides[k].taken += vec4f(change, 0.0);
    }
    members[k].shares = max(members[k].pushing, 1.0);
}

@compute @workgroup_size(WORKGROUP)
fn apply_pair_lengths(@builtin(global_invocation_id) id: vec3u) {
    apply(id.x, false);
}

@compute @workgroup_size(WORKGROUP)
fn apply_pair_rates(@builtin(global_invocation_id) id: vec3u) {
    apply(id.x, true);
}

// Pairs become such of velocities.
@compute @workgroup_size(WORKGROUP)
fn close_pairs(@builtin(global_invocation_id) id: vec3u) {
    let k = id.x;
    if k >= part.particles {
        return;
    }
    let end = members[k].first + members[k].count;
    for (var at = members[k].first; at < end; at += 1u) {
        let pair = pairs[at];
        pairs[at] = Pair(pair.n, select(1.0, 0.0, pair.push > 0.0), vec3f(), 0.0, vec3f(), pair.other);
    }
}
