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
// How alike normals of one side of an obstacle are: their cosine.
const SAME_SIDE: f32 = 0.5;
// Steps towards a surface: of a convex shape by Newton's method, of a volume by the distance from it. What is nearer than the distance and
// this much of it has come there.
const NEWTON: u32 = 16u;
const MARCH: u32 = 64u;
const NEAR_ENOUGH: f32 = 1e-3;

fn meets(k: u32, except: u32) -> bool {
    return except == NONE || (words[except + k / 32u] & (1u << (k % 32u))) == 0u;
}

// The contact of a particle that goes from where it begins to where it is by now. Of no obstacle if it stays away.
fn contact_with(number: u32, k: u32, bounces: bool) -> Contact {
    let x = bodies[k].x.xyz;
    let y = value(k);
    let o = part.first_obstacle + number;
    let none = Contact(vec3f(), 0.0, vec3f(), 0.0, vec3f(), NONE, vec3f());
    let d = obstacles[o].distance;
    let begin = obstacles[o].begin;
    let reach = begin.w + (1.0 + AHEAD) * d + distance(x, y) + distance(begin.xyz, obstacles[o].end.xyz);
    if distance(x, begin.xyz) > reach || !meets(k, obstacles[o].except) {
        return none;
    }
    let p0 = turned_back(obstacles[o].begin_turn, x - begin.xyz);
    let p1 = turned_back(obstacles[o].end_turn, y - obstacles[o].end.xyz);
    let way = p1 - p0;
    let far = length(way);
    let is_volume = obstacles[o].shape == VOLUME;
    let steps = select(NEWTON, MARCH, is_volume);
    // How far it is where it begins, then where it ends, then on the way to where it first touches.
    var before = 0.0;
    var after = 0.0;
    var n = vec3f();
    var m = vec3f();
    var found = 0.0;
    var is_met = false;
    var t = 0.0;
    for (var step = 0u; step < 2u + steps; step += 1u) {
        if step > 1u {
            if is_met || far == 0.0 {
                break;
            }
            if is_volume {
                // No surface is nearer than the distance from it.
                t += max(found - d, NEAR_ENOUGH * d) / far;
            } else {
                // Along a straight way the distance from what is convex is convex: no tangent of it is above it.
                let slope = dot(m, way);
                t = select(1.0, t + (found - d) / max(-slope, 1e-30), slope < 0.0);
            }
            if t >= 1.0 {
                break;
            }
        }
        let away = away_from(o, select(p0 + t * way, p1, step == 1u));
        if step == 1u {
            n = away.xyz;
            after = away.w;
            continue;
        }
        m = away.xyz;
        found = away.w;
        if step == 0u {
            before = found;
            is_met = before <= d;
            if before > (1.0 + AHEAD) * d + far {
                return none;
            }
        } else {
            // What comes along a surface has not come to it in so many steps, but has come near.
            is_met = found <= (1.0 + NEAR_ENOUGH) * d || step + 1u == 2u + steps;
        }
    }
    // It is kept out from where it ends, unless that is inside or on another side than where it came from.
    var at = p1;
    let first = p0 + min(t, 1.0) * way;
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
    // And what gravity adds in a part.
    let slow = (part.restitution_threshold + length(part.gravity) * part.h) * part.h;
    let restitution = obstacles[o].restitution;
    if bounces && closing > slow && restitution > 0.0 {
        least = max(least, restitution * closing - dot(n, first - p0));
    }
    let stuck = obstacles[o].end.xyz + turned(obstacles[o].end_turn, first);
    return Contact(turned(obstacles[o].end_turn, n), least, stuck, 0.0, vec3f(), number, vec3f());
}

fn count_of(k: u32) -> u32 {
    return u32(values[k].start.w);
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

// All obstacles that a particle may meet. To make contacts of what is near at the begin or in the way to where it would be, after the first
// round of what is met all the same, and of those that are as curved as their obstacle, anew where it is by now; to see whether there is
// more; for the last word, where contacts and links did not come to an end and links give way; or at last to measure what is lacking.
@compute @workgroup_size(WORKGROUP)
fn find_contacts(@builtin(global_invocation_id) id: vec3u) {
    let k = id.x;
    if k >= part.particles || values[k].moved.w == 0.0 {
        return;
    }
    let what = range.what;
    var deepest = 0.0;
    for (var number = 0u; number < part.obstacles; number += 1u) {
        let contact = contact_with(number, k, what == FIND || what == LOOK);
        let lacking = lacking_of(contact, k);
        deepest = max(deepest, lacking);
        let is_wanted = lacking > 1.0 || (what == FIND && range.sweep == 0u);
        if contact.obstacle == NONE || what == LOOK || what == MEASURE || !is_wanted {
            continue;
        }
        var slot = slot_of(k, number);
        let is_new = slot == count_of(k);
        if is_new {
            slot = slot_for(k, contact);
            if slot == SLOTS {
                continue;
            }
            contacts[SLOTS * k + slot] = contact;
        }
        let at = SLOTS * k + slot;
        if what == KEEP_OUT {
            let push = contact.least - dot(contact.n, value(k) - contact.stuck);
            contacts[at].push += push;
            contacts[at].given += push * contact.n;
            values[k].moved += vec4f(push * contact.n, 0.0);
        } else if !is_new {
            contacts[at].n = contact.n;
            contacts[at].least = contact.least + dot(contact.n, contact.stuck - contacts[at].stuck);
        }
    }
    if what == MEASURE {
        atomicMax(&flags[DEPTH], bitcast<u32>(deepest));
    } else if what == LOOK && deepest > 1.0 {
        atomicMax(&flags[MORE], 1u);
    }
}

// How much a particle lacks of what a contact asks for, of what it may.
fn lacking_of(contact: Contact, k: u32) -> f32 {
    if contact.obstacle == NONE {
        return 0.0;
    }
    let enough = ENOUGH * obstacles[part.first_obstacle + contact.obstacle].distance;
    return (contact.least - dot(contact.n, value(k) - contact.stuck)) / enough;
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
fn sweep_contact_lengths(@builtin(global_invocation_id) id: vec3u) {
    if id.x < part.particles && !is_over() && values[id.x].moved.w > 0.0 {
        sweep(id.x, false);
    }
}

@compute @workgroup_size(WORKGROUP)
fn sweep_contact_rates(@builtin(global_invocation_id) id: vec3u) {
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
