//! Positions over time as whole numbers of 16 bits, written as what a straight path does not foretell.
//!
//! A track is one cloud or deforming surface. Its bounds over the run are cut into 65534 steps an axis, so a position is
//! off by half a step at most. A code is foretold from the two frames before, `2 a − b`: what rests or flies evenly leaves
//! zeros, and what falls leaves one constant. The remainder, modulo 2¹⁶, is folded to put small ones of both signs into the
//! low byte (0, −1, 1, −2, … as 0, 1, 2, 3, …).

use super::blob::planes;

/// A position relative to the page's origin `[m]`.
pub(super) type Point = [f32; 3];

/// Code of the first axis for a point that is not shown: not finite, or far outside of the scene.
pub(super) const HIDDEN: u16 = u16::MAX;
/// Steps between bounds.
const STEPS: f32 = 65534.0;

/// Where the codes of a track lie `[m]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Grid {
    pub low: Point,
    pub step: Point,
}

impl Grid {
    /// Spans all points within `reach` of the origin `[m]`.
    pub fn around<'a>(frames: impl Iterator<Item = &'a [Point]>, reach: f32) -> Self {
        let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for point in frames.flatten().filter(|point| shown(point, reach)) {
            for k in 0..3 {
                low[k] = low[k].min(point[k]);
                high[k] = high[k].max(point[k]);
            }
        }
        if low[0] > high[0] {
            return Self { low: [0.0; 3], step: [0.0; 3] };
        }
        Self { low, step: [0, 1, 2].map(|k| (high[k] - low[k]) / STEPS) }
    }

    fn codes(&self, point: &Point, reach: f32) -> [u16; 3] {
        if !shown(point, reach) {
            return [HIDDEN, 0, 0];
        }
        [0, 1, 2].map(|k| if self.step[k] > 0.0 { ((point[k] - self.low[k]) / self.step[k] + 0.5) as u16 } else { 0 })
    }
}

fn shown(point: &Point, reach: f32) -> bool {
    point.iter().all(|x| x.abs() <= reach)
}

/// Encodes frames one after the other.
pub(super) struct Encoder {
    grid: Grid,
    reach: f32,
    /// Of the last frame and the one before, by axis.
    before: [[Vec<u16>; 3]; 2],
}

impl Encoder {
    pub fn new(grid: Grid, reach: f32) -> Self {
        Self { grid, reach, before: Default::default() }
    }

    /// Appends a frame: by axis, low bytes then high bytes.
    pub fn frame(&mut self, points: &[Point], out: &mut Vec<u8>) {
        let codes: Vec<[u16; 3]> = points.iter().map(|point| self.grid.codes(point, self.reach)).collect();
        let axes = [0, 1, 2].map(|axis| codes.iter().map(|code| code[axis]).collect::<Vec<u16>>());
        let [last, before] = &self.before;
        for axis in 0..3 {
            let rest = remainders(&axes[axis], &last[axis], &before[axis]);
            out.extend(planes(&rest));
        }
        let [last, before] = &mut self.before;
        std::mem::swap(last, before);
        *last = axes;
    }
}

/// What is not foretold: from two frames, else from one, else from the point before in the same frame.
fn remainders(now: &[u16], last: &[u16], before: &[u16]) -> Vec<[u8; 2]> {
    let (both, one) = (now.len().min(last.len()).min(before.len()), now.len().min(last.len()));
    let mut rest = Vec::with_capacity(now.len());
    let straight = now[..both].iter().zip(&last[..both]).zip(&before[..both]);
    rest.extend(straight.map(|((&c, &a), &b)| folded(c, a.wrapping_mul(2).wrapping_sub(b))));
    rest.extend(now[both..one].iter().zip(&last[both..one]).map(|(&c, &a)| folded(c, a)));
    let new = &now[one..];
    rest.extend(new.iter().scan(0, |before, &c| Some(folded(c, std::mem::replace(before, c)))));
    rest
}

fn folded(code: u16, foretold: u16) -> [u8; 2] {
    let rest = code.wrapping_sub(foretold) as i16;
    ((rest << 1) ^ (rest >> 15)).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the viewer does, in its words.
    fn decoded(bytes: &[u8], counts: &[usize]) -> Vec<Vec<[u16; 3]>> {
        let (mut at, mut frames) = (0, Vec::<Vec<[u16; 3]>>::new());
        for &count in counts {
            let mut codes = vec![[0u16; 3]; count];
            for axis in 0..3 {
                for i in 0..count {
                    let folded = u16::from(bytes[at + i]) | u16::from(bytes[at + count + i]) << 8;
                    let rest = (folded >> 1) ^ (folded & 1).wrapping_neg();
                    let earlier = |back: usize| frames.len().checked_sub(back).and_then(|f| frames[f].get(i));
                    let first_new = frames.last().map_or(0, |frame| frame.len().min(count));
                    let foretold = match (earlier(1), earlier(2)) {
                        (Some(a), Some(b)) => a[axis].wrapping_mul(2).wrapping_sub(b[axis]),
                        (Some(a), None) => a[axis],
                        _ if i > first_new => codes[i - 1][axis],
                        _ => 0,
                    };
                    codes[i][axis] = foretold.wrapping_add(rest);
                }
                at += 2 * count;
            }
            frames.push(codes);
        }
        assert_eq!(at, bytes.len());
        frames
    }

    /// Points that fly, turn up, vanish and are not finite come back within half a step.
    #[test]
    fn positions_come_back_within_half_a_step() {
        let point = |f: usize, i: usize| -> Point {
            let (t, s) = (f as f32 / 24.0, i as f32);
            [s.sin() * 3.0 + 2.0 * t, 4.0 + s.cos() - 4.9 * t * t, 0.1 * s * (7.0 * t).sin()]
        };
        let mut frames: Vec<Vec<Point>> = [5, 9, 9, 40, 40, 17, 18, 0, 3]
            .iter()
            .enumerate()
            .map(|(f, &n)| (0..n).map(|i| point(f, i)).collect())
            .collect();
        frames[3][7] = [f32::NAN, 0.0, 0.0];
        frames[4][2] = [0.0, 1e9, 0.0];
        let grid = Grid::around(frames.iter().map(Vec::as_slice), 100.0);
        let (mut encoder, mut bytes) = (Encoder::new(grid, 100.0), vec![]);
        frames.iter().for_each(|frame| encoder.frame(frame, &mut bytes));

        let counts: Vec<usize> = frames.iter().map(Vec::len).collect();
        for (codes, points) in decoded(&bytes, &counts).iter().zip(&frames) {
            for (code, point) in codes.iter().zip(points) {
                if !shown(point, 100.0) {
                    assert_eq!(code[0], HIDDEN);
                    continue;
                }
                for k in 0..3 {
                    let back = grid.low[k] + f32::from(code[k]) * grid.step[k];
                    // Half a step, and rounding of single precision.
                    assert!((back - point[k]).abs() <= 0.501 * grid.step[k] + 1e-6, "{back} for {}", point[k]);
                    assert!(code[k] < HIDDEN);
                }
            }
        }
    }
}
