//! Positions over time as whole numbers of 16 bits, written as what a straight path does not foretell.
//!
//! A track is one cloud or deforming surface. Its bounds over the run are cut into 65534 steps an axis, so a position is
//! off by half a step at most. A code is foretold from the two frames before, `2 a − b`: what rests or flies evenly leaves
//! zeros, and what falls leaves one constant. The remainder, modulo 2¹⁶, is folded to put small ones of both signs into the
//! low byte (0, −1, 1, −2, … as 0, 1, 2, 3, …). Points that are gone are left out of the two frames before, so that each is
//! foretold from its own.

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
    /// Of the last frame and the one before, by axis. In both, a point has the same place.
    before: [[Vec<u16>; 3]; 2],
}

impl Encoder {
    pub fn new(grid: Grid, reach: f32) -> Self {
        Self { grid, reach, before: Default::default() }
    }

    /// Leaves out the points at these places, in their order, of the last frame.
    pub fn forget(&mut self, gone: &[u32]) {
        for codes in self.before.iter_mut().flatten() {
            let (mut place, mut gone) = (0, gone.iter().peekable());
            codes.retain(|_| {
                place += 1;
                gone.next_if(|&&other| other + 1 == place).is_none()
            });
        }
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
