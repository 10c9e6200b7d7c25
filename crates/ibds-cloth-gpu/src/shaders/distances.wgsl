// Obstacles and how far places are from them. Written behind `common.wgsl` in front of what meets obstacles.

const HALF_SPACE: u32 = 0u;
const BALL: u32 = 1u;
const CAPSULE: u32 = 2u;
const CUBOID: u32 = 3u;
const VOLUME: u32 = 4u;

struct Obstacle {
    // Where it is at the begin and the end of a part [m], and how it is turned. `begin.w`: what is farther from there is not of it [m].
    begin: vec4f,
    begin_turn: vec4f,
    end: vec4f,
    end_turn: vec4f,
    // Half of each edge; or a radius in x, and half of a capsule's axis in y; or of a volume half of the box around it [m].
    size: vec4f,
    // The corner that a volume's samples begin at [m].
    corner: vec4f,
    // What torques are about, at the begin and the end [m].
    origin: vec4f,
    end_origin: vec4f,
    shape: u32,
    // What is kept from it [m].
    distance: f32,
    friction: f32,
    restitution: f32,
    // Of a volume: how many samples along each axis, where the first of them is in `words`, and how far they are apart [m].
    samples: vec3u,
    first_sample: u32,
    spacing: vec3f,
    // Where the bits of particles begin that do not meet it, in `words`; or `NONE`.
    except: u32,
}

@group(0) @binding(4) var<storage, read> obstacles: array<Obstacle>;
@group(0) @binding(7) var<storage, read_write> words: array<u32>;

fn turned(q: vec4f, v: vec3f) -> vec3f {
    return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v);
}

fn turned_back(q: vec4f, v: vec3f) -> vec3f {
    return turned(vec4f(-q.xyz, q.w), v);
}

// Of a volume where it grows most and the distance from it, linear along each axis between samples.
fn in_volume(o: u32, p: vec3f) -> vec4f {
    let corner = obstacles[o].corner.xyz;
    let spacing = obstacles[o].spacing;
    let samples = obstacles[o].samples;
    let cells = samples - 1u;
    let place = clamp((p - corner) / spacing, vec3f(), vec3f(cells));
    let cell = min(vec3u(place), cells - 1u);
    let s = place - vec3f(cell);
    let row = samples.x;
    let layer = row * samples.y;
    let k = obstacles[o].first_sample + cell.x + row * cell.y + layer * cell.z;
    let low = bitcast<vec4f>(vec4u(words[k], words[k + row], words[k + layer], words[k + layer + row]));
    let high =
        bitcast<vec4f>(vec4u(words[k + 1u], words[k + row + 1u], words[k + layer + 1u], words[k + layer + row + 1u]));
    let along_x = mix(low, high, s.x);
    let along_y = mix(along_x.xz, along_x.yw, s.y);
    let slope = high - low;
    let slope_x = mix(mix(slope.x, slope.y, s.y), mix(slope.z, slope.w, s.y), s.z);
    let slope_y = mix(along_x.y - along_x.x, along_x.w - along_x.z, s.z);
    let found = mix(along_y.x, along_y.y, s.z);
    // Outside of its samples no less than this: to the box around it, or by the nearest sample.
    let from_samples = distance(p, clamp(p, corner, -corner));
    let from_box = length(max(abs(p) - obstacles[o].size.xyz, vec3f()));
    let distance = select(found, max(from_box, found - from_samples), from_samples > 0.0);
    return vec4f(direction(vec3f(slope_x, slope_y, along_y.y - along_y.x) / spacing), distance);
}

fn direction(v: vec3f) -> vec3f {
    let length = length(v);
    return select(vec3f(0.0, 1.0, 0.0), v / length, length > 0.0);
}

// From a box with such halves of edges.
fn from_box(size: vec3f, p: vec3f) -> vec4f {
    let q = abs(p) - size;
    let side = select(vec3f(1.0), vec3f(-1.0), p < vec3f());
    let most = max(q.x, max(q.y, q.z));
    // Inside, or on it, the nearest face; of several the first.
    let first = select(select(vec3f(0.0, 0.0, 1.0), vec3f(0.0, 1.0, 0.0), q.y == most), vec3f(1.0, 0.0, 0.0), q.x == most);
    let beyond = max(q, vec3f());
    return vec4f(side * select(first, direction(beyond), most > 0.0), length(beyond) + min(most, 0.0));
}

// At a place in an obstacle's axes, the direction in which the distance from its surface grows most, and that distance, less than 0 inside
// [m].
fn away_from(o: u32, p: vec3f) -> vec4f {
    let size = obstacles[o].size.xyz;
    switch obstacles[o].shape {
        case HALF_SPACE: {
            return vec4f(0.0, 1.0, 0.0, p.y);
        }
        case BALL, CAPSULE: {
            // A ball has no axis.
            let from_axis = p - vec3f(0.0, clamp(p.y, -size.y, size.y), 0.0);
            return vec4f(direction(from_axis), length(from_axis) - size.x);
        }
        case CUBOID: {
            return from_box(size, p);
        }
        default: {
            return in_volume(o, p);
        }
    }
}
