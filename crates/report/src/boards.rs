//! The painted wood of a crate's face: planks with grain, held by a frame of boards.

use nalgebra::Vector3;

use crate::colour::unit_hash;
use crate::drawing::Face;
use crate::shade::line;

/// Width of the frame's boards, relative to the face's shorter side `[-]`.
const FRAME: f32 = 0.15;
/// Half a gap between boards, likewise.
const GAP: f32 = 0.009;

/// Colour of a face at `place` `[m]`. Lines are averaged over a pixel's `footprint` `[m]`, so that distant crates do not
/// glitter.
pub(crate) fn boards(wood: Vector3<f32>, [u, v]: [f32; 2], face: &Face, seed: u64, footprint: f32) -> Vector3<f32> {
    let [width, height] = face.size;
    let short = width.min(height);
    let (frame, gap) = (FRAME * short, GAP * short);
    let (from_side, from_end) = (u.min(width - u), v.min(height - v));
    let crate_and_face = (seed as u32).wrapping_mul(6) + face.number;

    // Boards run along v: the two at the sides in full, those at the ends between them, planks behind.
    let upright = from_side < frame;
    let (board, along, across) = if upright {
        (u32::from(u > 0.5 * width), v, u)
    } else if from_end < frame {
        (2 + u32::from(v > 0.5 * height), u, v)
    } else {
        let planks = ((width - 2.0 * frame) / (0.19 * short)).round().max(1.0);
        (4 + ((u - frame) / (width - 2.0 * frame) * planks) as u32, v, u)
    };

    let tint = 1.0 + 0.16 * (unit_hash(crate_and_face, board) - 0.5);
    let grain = 1.0 + 0.10 * grain(across / short, along / short, crate_and_face * 16 + board, footprint / short);

    let shade = if board < 4 {
        let seam = if upright { 0.0 } else { line(from_side - frame, gap, footprint) };
        let rim = line(from_side.min(from_end), gap, footprint);
        (1.0 - 0.45 * seam) * (1.0 - 0.30 * rim)
    } else {
        let planks = ((width - 2.0 * frame) / (0.19 * short)).round().max(1.0);
        let plank = (width - 2.0 * frame) / planks;
        let within = (u - frame).rem_euclid(plank);
        let joint = line(within.min(plank - within), gap, footprint);
        // The frame stands proud and shades the planks beside it.
        let beside = (from_side - frame).min(from_end - frame) / (0.05 * short);
        0.80 * (1.0 - 0.55 * joint) * (1.0 - 0.42 * (1.0 - beside.clamp(0.0, 1.0)).powi(2))
    };
    wood * tint * grain * shade
}

/// Streaks along a board [-1 .. 1]; they fade where a pixel is wider than they are.
fn grain(across: f32, along: f32, board: u32, footprint: f32) -> f32 {
    let streaks = |fineness: f32, length: f32| {
        let fade = (1.0 - footprint * fineness).clamp(0.0, 1.0);
        fade * (2.0 * value_noise(across * fineness, along / length, board) - 1.0)
    };
    0.6 * streaks(22.0, 0.45) + 0.4 * streaks(60.0, 0.3)
}

/// Smooth noise in 0 .. 1 from numbers at whole places.
fn value_noise(x: f32, y: f32, seed: u32) -> f32 {
    let (i, j) = (x.floor(), y.floor());
    let ease = |t: f32| t * t * (3.0 - 2.0 * t);
    let (s, t) = (ease(x - i), ease(y - j));
    let at =
        |di: i32, dj: i32| unit_hash((i as i32 + di) as u32 ^ seed.wrapping_mul(0x2545_F491), (j as i32 + dj) as u32);
    let upper = at(0, 0) * (1.0 - s) + at(1, 0) * s;
    let lower = at(0, 1) * (1.0 - s) + at(1, 1) * s;
    upper * (1.0 - t) + lower * t
}
