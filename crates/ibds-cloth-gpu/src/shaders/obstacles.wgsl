// Contacts of particles with obstacles ([BBD09] section 4.2).
//
// A contact asks that a particle, which ends a part at y, goes along n by some `least` relative to the obstacle, from where it touches:
//
//   n (y - s) >= least,   s where it would be if it stuck to the obstacle from there on.
//
// Pushes along n add up and may be taken back, friction is within the cone of the whole push. All are ways here: a particle's share of an
// impulse times the part, over its mass. In the loop of velocities n (v - u) >= 0 is asked for of those that pushed, u how fast the obstacle
// is there.

struct Contact {
    n: vec3f,
    // [m]. In the loop of velocities 0, or 1 of what did not push.
    least: f32,
    // s, then u.
    stuck: vec3f,
    push: f32,
    drag: vec3f,
    obstacle: u32,
    // All that it moved the particle by: other than push and drag it never turns.
    given: vec3f,
}

@group(0) @binding(5) var<storage, read_write> contacts: array<Contact>;

// Contacts that a particle can have.
const SLOTS: u32 = 4u;
// What is nearer than the distance and this much of it is a contact, which may close by that.
const AHEAD: f32 = 0.25;
// How exact contacts are, of their distance.
const ENOUGH: f32 = 0.1;
// What comes slower than this, and what gravity adds in a part, does not bounce [m/s].
const BOUNCES: f32 = 0.1;
// How alike normals of one side of an obstacle are: their cosine.
const SAME_SIDE: f32 = 0.5;
// Steps towards a surface.
const MARCH: u32 = 64u;

fn meets(k: u32, except: u32) -> bool {
    return except == NONE || (words[except + k / 32u] & (1u << (k % 32u))) == 0u;
}

// The contact of a particle that goes from where it begins to where it is by now. Of no obstacle if it stays away.
fn contact_with(number: u32, k: u32, bounces: bool) -> Contact {
    let x = bodies[k].x.xyz;
    let y = value(k);
    var o = obstacles[part.first_obstacle + number];
    let none = Contact(vec3f(), 0.0, vec3f(), 0.0, vec3f(), NONE, vec3f());
    let d = o.distance;
    let reach = o.begin.w + (1.0 + AHEAD) * d + distance(x, y) + distance(o.begin.xyz, o.end.xyz);
    if distance(x, o.begin.xyz) > reach || !meets(k, o.except) {
        return none;
    }
    let p0 = turned_back(o.begin_turn, x - o.begin.xyz);
    let p1 = turned_back(o.end_turn, y - o.end.xyz);
    let way = p1 - p0;
    let far = length(way);
    let before = distance_from(&o, p0);
    if before > (1.0 + AHEAD) * d + far {
        return none;
    }
    // Where the surface is first met: no surface is nearer than the distance from it.
    var is_met = before <= d;
    var t = 0.0;
    var found = before;
    for (var step = 0u; step < MARCH && !is_met && far > 0.0; step += 1u) {
        t += max(found - d, 1e-3 * d) / far;
        if t >= 1.0 {
            break;
        }
        found = distance_from(&o, p0 + t * way);
        // What comes along a surface has not come to it in so many steps, but has come near.
        is_met = found <= d || step + 1u == MARCH;
    }
    // It is kept out from where it ends, unless that is inside or on another side than where it came from.
    var at = p1;
    var after = distance_from(&o, p1);
    var n = outwards(&o, p1);
    let first = p0 + min(t, 1.0) * way;
    let m = outwards(&o, first);
    let passes = before > d && after > d;
    if is_met && (passes || after <= 0.0 || dot(m, n) < SAME_SIDE) {
        at = first;
        after = found;
        n = m;
    } else if after > (1.0 + AHEAD) * d {
        return none;
    }
    // What begins too near is led away slowly.
    let lacking = d - before;
    let end = select(d, before + part.parting * min(lacking, d), lacking > 0.0);
    var least = end - after + dot(n, at - first);
    let closing = -dot(n, way);
    let slow = (BOUNCES + length(part.gravity) * part.h) * part.h;
    if bounces && closing > slow && o.restitution > 0.0 {
        least = max(least, o.restitution * closing - dot(n, first - p0));
    }
    return Contact(turned(o.end_turn, n), least, o.end.xyz + turned(o.end_turn, first), 0.0, vec3f(), number, vec3f());
}

fn count_of(k: u32) -> u32 {
    return u32(values[k].start.w);
}

// What is near at the begin, or in the way to where a particle would be.
@compute @workgroup_size(WORKGROUP)
fn find(@builtin(global_invocation_id) id: vec3u) {
    let k = id.x;
    if k >= part.particles || values[k].moved.w == 0.0 {
        return;
    }
    for (var number = 0u; number < part.obstacles; number += 1u) {
        let contact = contact_with(number, k, true);
        if contact.obstacle != NONE {
            let slot = slot_for(k, contact);
            if slot < SLOTS {
                contacts[SLOTS * k + slot] = contact;
            }
        }
    }
}

// The slot of a particle's contact with an obstacle, or as many as there are.
fn slot_of(k: u32, number: u32) -> u32 {
    let count = count_of(k);
    var slot = 0u;
    while slot < count && contacts[SLOTS * k + slot].obstacle != number {
        slot += 1u;
    }
    return slot;
}

// A slot for a contact with another obstacle: a free one, or that of one which gave nothing and asks for less; or none, `SLOTS`.
fn slot_for(k: u32, contact: Contact) -> u32 {
    let count = count_of(k);
    if count < SLOTS {
        values[k].start.w = f32(count + 1u);
        return count;
    }
    var best = SLOTS;
    var least = lacking_of(contact, k);
    for (var slot = 0u; slot < SLOTS; slot += 1u) {
        let other = contacts[SLOTS * k + slot];
        let lacking = lacking_of(other, k);
        if all(other.given == vec3f()) && lacking < least {
            best = slot;
            least = lacking;
        }
    }
    return best;
}

// Makes contacts of what is met all the same; and of those that are as curved as their obstacle, anew where the particle is by now.
@compute @workgroup_size(WORKGROUP)
fn find_more(@builtin(global_invocation_id) id: vec3u) {
    let k = id.x;
    if k >= part.particles || values[k].moved.w == 0.0 {
        return;
    }
    for (var number = 0u; number < part.obstacles; number += 1u) {
        let contact = contact_with(number, k, true);
        if lacking_of(contact, k) <= 1.0 {
            continue;
        }
        var slot = slot_of(k, number);
        if slot < count_of(k) {
            let at = SLOTS * k + slot;
            contacts[at].n = contact.n;
            contacts[at].least = contact.least + dot(contact.n, contact.stuck - contacts[at].stuck);
        } else {
            slot = slot_for(k, contact);
            if slot == SLOTS {
                continue;
            }
            contacts[SLOTS * k + slot] = contact;
        }
    }
}

// Whether something is met all the same.
@compute @workgroup_size(WORKGROUP)
fn look_for_contacts(@builtin(global_invocation_id) id: vec3u) {
    let k = id.x;
    if k < part.particles && values[k].moved.w > 0.0 && deepest_of(k, true) > 1.0 {
        atomicMax(&flags[MORE], 1u);
    }
}

// What a particle lacks of a distance at most, of what it may.
fn deepest_of(k: u32, bounces: bool) -> f32 {
    var deepest = 0.0;
    for (var number = 0u; number < part.obstacles; number += 1u) {
        deepest = max(deepest, lacking_of(contact_with(number, k, bounces), k));
    }
    return deepest;
}

// How much a particle lacks of what a contact asks for, of what it may.
fn lacking_of(contact: Contact, k: u32) -> f32 {
    if contact.obstacle == NONE {
        return 0.0;
    }
    let enough = ENOUGH * obstacles[part.first_obstacle + contact.obstacle].distance;
    return (contact.least - dot(contact.n, value(k) - contact.stuck)) / enough;
}

// The last word: where contacts and links did not come to an end, links give way.
@compute @workgroup_size(WORKGROUP)
fn keep_out(@builtin(global_invocation_id) id: vec3u) {
    let k = id.x;
    if k >= part.particles || values[k].moved.w == 0.0 {
        return;
    }
    for (var number = 0u; number < part.obstacles; number += 1u) {
        let contact = contact_with(number, k, false);
        if lacking_of(contact, k) <= 1.0 {
            continue;
        }
        var slot = slot_of(k, number);
        if slot == count_of(k) {
            slot = slot_for(k, contact);
            if slot == SLOTS {
                continue;
            }
            contacts[SLOTS * k + slot] = contact;
        }
        let lacking = contact.least - dot(contact.n, value(k) - contact.stuck);
        contacts[SLOTS * k + slot].push += lacking;
        contacts[SLOTS * k + slot].given += lacking * contact.n;
        values[k].moved += vec4f(lacking * contact.n, 0.0);
    }
    atomicMax(&flags[DEPTH], bitcast<u32>(deepest_of(k, false)));
}

// All contacts of a particle, each as if it were alone. Changes of less than `enough` of each one's distance, or of one, are none.
fn sweep(k: u32, is_rate: bool) {
    let count = count_of(k);
    for (var slot = 0u; slot < count; slot += 1u) {
        var contact = contacts[SLOTS * k + slot];
        let o = part.first_obstacle + contact.obstacle;
        if is_rate && contact.least > 0.0 {
            continue;
        }
        let push = max(contact.push + contact.least - dot(contact.n, value(k) - contact.stuck), 0.0);
        var more = (push - contact.push) * contact.n;
        let way = value(k) + more - contact.stuck;
        var drag = contact.drag - (way - dot(contact.n, way) * contact.n);
        let most = obstacles[o].friction * push;
        let size = length(drag);
        if size > most {
            drag *= most / size;
        }
        more += drag - contact.drag;
        let change = max(abs(push - contact.push), distance(drag, contact.drag));
        let ratio = change / select(ENOUGH * obstacles[o].distance, part.velocity_tolerance, is_rate);
        if ratio > 1.0 {
            atomicMax(&flags[range.sweep], bitcast<u32>(ratio));
        }
        contacts[SLOTS * k + slot].push = push;
        contacts[SLOTS * k + slot].drag = drag;
        contacts[SLOTS * k + slot].given = contact.given + more;
        values[k].moved += vec4f(more, 0.0);
    }
}

@compute @workgroup_size(WORKGROUP)
fn push_lengths(@builtin(global_invocation_id) id: vec3u) {
    if id.x < part.particles && !is_over() && values[id.x].moved.w > 0.0 {
        sweep(id.x, false);
    }
}

@compute @workgroup_size(WORKGROUP)
fn push_rates(@builtin(global_invocation_id) id: vec3u) {
    if id.x < part.particles && !is_over() && values[id.x].moved.w > 0.0 {
        sweep(id.x, true);
    }
}

// Contacts become such of velocities.
@compute @workgroup_size(WORKGROUP)
fn close(@builtin(global_invocation_id) id: vec3u) {
    let k = id.x;
    if k >= part.particles || values[k].moved.w == 0.0 {
        return;
    }
    let count = count_of(k);
    for (var slot = 0u; slot < count; slot += 1u) {
        let contact = contacts[SLOTS * k + slot];
        let did_push = contact.push > 0.0;
        let o = part.first_obstacle + contact.obstacle;
        let place = turned_back(obstacles[o].end_turn, contact.stuck - obstacles[o].end.xyz);
        let before = obstacles[o].begin.xyz + turned(obstacles[o].begin_turn, place);
        let u = (contact.stuck - before) / part.h;
        contacts[SLOTS * k + slot] =
            Contact(contact.n, select(1.0, 0.0, did_push), u, 0.0, vec3f(), contact.obstacle, vec3f());
    }
}

var<workgroup> linear: array<vec3f, WORKGROUP>;
var<workgroup> angular: array<vec3f, WORKGROUP>;

// What threads of a workgroup have, added up in the order of their numbers halved and halved again.
fn add_up(local: u32) {
    for (var width = WORKGROUP / 2u; width > 0u; width /= 2u) {
        workgroupBarrier();
        if local < width {
            linear[local] += linear[local + width];
            angular[local] += angular[local + width];
        }
    }
    workgroupBarrier();
}

// What 256 particles gave to each obstacle: impulses [N s] where they are, and their torques. First those of places, which act where a part
// begins; then those of velocities, which act where it ends.
fn sum_of(k: u32, local: u32, group: u32, scale: f32, is_first: bool) {
    let is_there = k < part.particles;
    for (var number = 0u; number < part.obstacles; number += 1u) {
        var impulse = vec3f();
        var arm = vec3f();
        if is_there && values[k].moved.w > 0.0 {
            let slot = slot_of(k, number);
            if slot < count_of(k) {
                impulse = -contacts[SLOTS * k + slot].given * scale / values[k].moved.w;
                let o = part.first_obstacle + number;
                arm = bodies[k].x.xyz - select(obstacles[o].end_origin.xyz, obstacles[o].origin.xyz, is_first);
            }
        }
        linear[local] = impulse;
        angular[local] = cross(arm, impulse);
        add_up(local);
        if local == 0u {
            let at = part.first_partial + 2u * (number * workgroups() + group);
            sums[at] = select(sums[at], vec4f(), is_first) + vec4f(linear[0], 0.0);
            sums[at + 1u] = select(sums[at + 1u], vec4f(), is_first) + vec4f(angular[0], 0.0);
        }
        workgroupBarrier();
    }
}

fn workgroups() -> u32 {
    return (part.particles + WORKGROUP - 1u) / WORKGROUP;
}

@compute @workgroup_size(WORKGROUP)
fn sum_pushes(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(workgroup_id) group: vec3u,
) {
    sum_of(id.x, local.x, group.x, 1.0 / part.h, true);
}

@compute @workgroup_size(WORKGROUP)
fn sum_rate_pushes(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_id) local: vec3u,
    @builtin(workgroup_id) group: vec3u,
) {
    sum_of(id.x, local.x, group.x, 1.0, false);
}

// All that particles gave to an obstacle, one workgroup for each.
@compute @workgroup_size(WORKGROUP)
fn sum_wrenches(@builtin(local_invocation_id) local: vec3u, @builtin(workgroup_id) group: vec3u) {
    var impulse = vec3f();
    var torque = vec3f();
    for (var other = local.x; other < workgroups(); other += WORKGROUP) {
        let at = part.first_partial + 2u * (group.x * workgroups() + other);
        impulse += sums[at].xyz;
        torque += sums[at + 1u].xyz;
    }
    linear[local.x] = impulse;
    angular[local.x] = torque;
    add_up(local.x);
    if local.x == 0u {
        sums[part.first_wrench + 2u * group.x] = vec4f(linear[0], 0.0);
        sums[part.first_wrench + 2u * group.x + 1u] = vec4f(angular[0], 0.0);
    }
}
