// Obstacles and how far places are from them. Written behind `common.wgsl` in front of what meets obstacles.

const HALF_SPACE: u32 = 0u;
const BALL: u32 = 1u;
const CAPSULE: u32 = 2u;
const CUBOID: u32 = 3u;
const VOLUME: u32 = 4u;

const NONE: u32 = 0xffffffffu;

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

// The distance in a volume and its gradient, linear along each axis between samples.
fn in_volume(o: ptr<function, Obstacle>, p: vec3f) -> vec4f {
    let cells = (*o).samples - 1u;
    let place = clamp((p - (*o).corner.xyz) / (*o).spacing, vec3f(), vec3f(cells));
    let cell = min(vec3u(place), cells - 1u);
    let s = place - vec3f(cell);
    let row = (*o).samples.x;
    let layer = row * (*o).samples.y;
    let k = (*o).first_sample + cell.x + row * cell.y + layer * cell.z;
    let low = bitcast<vec4f>(vec4u(words[k], words[k + row], words[k + layer], words[k + layer + row]));
    let high =
        bitcast<vec4f>(vec4u(words[k + 1u], words[k + row + 1u], words[k + layer + 1u], words[k + layer + row + 1u]));
    let along_x = mix(low, high, s.x);
    let along_y = mix(along_x.xz, along_x.yw, s.y);
    let slope = high - low;
    let slope_x = mix(mix(slope.x, slope.y, s.y), mix(slope.z, slope.w, s.y), s.z);
    let slope_y = mix(along_x.y - along_x.x, along_x.w - along_x.z, s.z);
    return vec4f(vec3f(slope_x, slope_y, along_y.y - along_y.x) / (*o).spacing, mix(along_y.x, along_y.y, s.z));
}

// From the surface of an obstacle to a place in its axes, less than 0 inside [m].
fn distance_from(o: ptr<function, Obstacle>, p: vec3f) -> f32 {
    switch (*o).shape {
        case HALF_SPACE: {
            return p.y;
        }
        case BALL: {
            return length(p) - (*o).size.x;
        }
        case CAPSULE: {
            return length(p - vec3f(0.0, clamp(p.y, -(*o).size.y, (*o).size.y), 0.0)) - (*o).size.x;
        }
        case CUBOID: {
            let q = abs(p) - (*o).size.xyz;
            return length(max(q, vec3f())) + min(max(q.x, max(q.y, q.z)), 0.0);
        }
        default: {
            // Outside of its samples no less than this: to the box around it, or by the nearest sample.
            let from_samples = distance(p, clamp(p, (*o).corner.xyz, -(*o).corner.xyz));
            let from_box = length(max(abs(p) - (*o).size.xyz, vec3f()));
            let found = in_volume(o, p).w;
            return select(found, max(from_box, found - from_samples), from_samples > 0.0);
        }
    }
}

fn direction(v: vec3f) -> vec3f {
    let length = length(v);
    return select(vec3f(0.0, 1.0, 0.0), v / length, length > 0.0);
}

// Where that grows most.
fn outwards(o: ptr<function, Obstacle>, p: vec3f) -> vec3f {
    switch (*o).shape {
        case HALF_SPACE: {
            return vec3f(0.0, 1.0, 0.0);
        }
        case BALL: {
            return direction(p);
        }
        case CAPSULE: {
            return direction(p - vec3f(0.0, clamp(p.y, -(*o).size.y, (*o).size.y), 0.0));
        }
        case CUBOID: {
            let q = abs(p) - (*o).size.xyz;
            let side = select(vec3f(1.0), vec3f(-1.0), p < vec3f());
            let most = max(q.x, max(q.y, q.z));
            // Inside, or on it, the nearest face; of several the first.
            let first = select(select(vec3f(0.0, 0.0, 1.0), vec3f(0.0, 1.0, 0.0), q.y == most), vec3f(1.0, 0.0, 0.0), q.x == most);
            return side * select(first, direction(max(q, vec3f())), most > 0.0);
        }
        default: {
            return direction(in_volume(o, p).xyz);
        }
    }
}
