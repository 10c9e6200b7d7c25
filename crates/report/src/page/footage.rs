//! What a page shows of a tape: at most 24 frames a second, and no more points than browsers draw without stutter.

use nalgebra::Vector3;
use partita::simulator::Cloud;

use super::tracks::Point;
use crate::{Begin, Frame, Numbers, Placement, Tape, TapeError, strain::strains};

/// Frames by second of simulated time; the viewer moves smoothly between them.
const FRAMES_PER_SECOND: f64 = 24.0;
/// Vertices and particles of a frame that are shown.
const VERTICES: usize = 50_000;
/// Particles and vertices of deforming surfaces in all frames together: browsers hold no longer text than some 500 MB.
const POINTS: usize = 30_000_000;
/// Particles that are shown at least, beside surfaces however large.
const PARTICLES: usize = 5_000;
/// Points farther than this from the middle of what the camera frames are not shown, relative to the size of that: one
/// stray drop would make the steps of all others coarse.
const REACH: f64 = 32.0;

/// Frames as the page has them. Positions are relative to `origin`, so that single precision suffices.
pub(super) struct Footage {
    /// Middle of what the camera frames `[m]`.
    pub origin: Vector3<f64>,
    /// Nothing is shown farther from it `[m]`.
    pub reach: f32,
    pub frames: Vec<Shown>,
    /// Times and numbers of all frames of the tape.
    pub numbers: Vec<(f64, Numbers)>,
    /// A frame shows at most so many particles.
    particles: usize,
    /// One particle in so many is shown, a power of two, and every so-manieth frame.
    pub thinned: usize,
    skipped: usize,
    /// Particles, and vertices of deforming surfaces, in all frames; together at most so many.
    held: [usize; 2],
    most: usize,
    pub notes: Vec<String>,
}

/// One frame.
pub(super) struct Shown {
    pub time: f64,
    pub surfaces: Vec<Place>,
    pub clouds: Vec<Swarm>,
    /// Interface, position, force `[m, N]`.
    pub forces: Vec<[f32; 7]>,
}

/// The free particles of a simulator that are shown, by ascending id.
#[derive(Default)]
pub(super) struct Swarm {
    pub ids: Vec<u64>,
    pub points: Vec<Point>,
}

/// Where a surface is.
pub(super) enum Place {
    Rigid([f32; 7]),
    Deformed {
        vertices: Vec<Point>,
        strains: Vec<f32>,
    },
    /// It is recorded but not shown.
    Hidden,
}

impl Footage {
    pub fn of(tape: &mut Tape) -> Result<Self, TapeError> {
        Self::within(tape, POINTS)
    }

    /// With at most so many points in all frames.
    fn within(tape: &mut Tape, most: usize) -> Result<Self, TapeError> {
        let view = tape.begin().camera.view(16, 9);
        let (origin, radius) = view.map_or((Vector3::zeros(), 1.0), |view| (view.origin, f64::from(view.radius)));
        let reach = (REACH * radius) as f32;
        let begin = tape.begin().clone();
        let shown = begin.surfaces.iter().filter(|taped| taped.look.is_some());
        let vertices: usize = shown.map(|taped| taped.surface.vertices.len()).sum();
        let particles = VERTICES.saturating_sub(vertices).max(PARTICLES);
        let (frames, numbers, notes) = (vec![], vec![], vec![]);
        let mut footage =
            Self { origin, reach, frames, numbers, particles, thinned: 1, skipped: 1, held: [0; 2], most, notes };
        let last = tape.frames().saturating_sub(1);
        for number in 0..tape.frames() {
            let frame = tape.frame(number)?;
            // A window may end a rounding error before a frame's time.
            let rate = FRAMES_PER_SECOND / footage.skipped as f64;
            let due = (frame.time - begin.start) * rate >= footage.frames.len() as f64 - 1e-6;
            if due || number == last {
                footage.take(&begin, &frame);
            }
            footage.numbers.push((frame.time, frame.numbers));
        }
        footage.note(vertices);
        Ok(footage)
    }

    fn take(&mut self, begin: &Begin, frame: &Frame) {
        let place = |(placement, taped): (&Placement, &crate::TapeSurface)| match placement {
            _ if taped.look.is_none() => Place::Hidden,
            Placement::Rigid { position, orientation } => {
                let ([x, y, z], [i, j, k, w]) = (self.near(position), orientation.map(|q| q as f32));
                Place::Rigid([x, y, z, i, j, k, w])
            }
            Placement::Deformed(vertices) => Place::Deformed {
                vertices: vertices.iter().map(|x| self.near(x)).collect(),
                strains: strains(&taped.surface, vertices).into_iter().map(|strain| strain as f32).collect(),
            },
        };
        let force = |force: &crate::Force| {
            let ([x, y, z], [fx, fy, fz]) = (self.near(&force.position), force.force.map(|f| f as f32));
            [force.interface as f32, x, y, z, fx, fy, fz]
        };
        let thin = |cloud: &Cloud| {
            let near = |x| self.near(x);
            Swarm { ids: cloud.ids.clone(), points: cloud.positions.iter().map(near).collect() }.thinned(self.thinned)
        };
        self.frames.push(Shown {
            time: frame.time,
            surfaces: frame.surfaces.iter().zip(&begin.surfaces).map(place).collect(),
            clouds: frame.clouds.iter().map(thin).collect(),
            forces: frame.forces.iter().map(force).collect(),
        });
        let [particles, vertices] = self.frames.last().map_or([0; 2], |frame| [frame.particles(), frame.vertices()]);
        self.held = [self.held[0] + particles, self.held[1] + vertices];
        while self.frames.last().is_some_and(|frame| frame.particles() > self.particles) {
            self.thin();
        }
        while self.held[0] + self.held[1] > self.most && self.frames.len() > 1 {
            if self.held[0] > self.held[1] { self.thin() } else { self.skip() }
        }
    }

    /// Counts anew what all frames hold.
    fn count(&mut self) {
        self.held[0] = self.frames.iter().map(Shown::particles).sum();
        self.held[1] = self.frames.iter().map(Shown::vertices).sum();
    }

    /// Leaves out every second frame.
    fn skip(&mut self) {
        self.skipped *= 2;
        let mut number = 0;
        self.frames.retain(|_| {
            number += 1;
            number % 2 == 1
        });
        self.count();
    }

    fn near(&self, x: &[f64; 3]) -> Point {
        [0, 1, 2].map(|k| (x[k] - self.origin[k]) as f32)
    }

    /// Leaves out half of the particles, the same ones in all frames so far.
    fn thin(&mut self) {
        self.thinned *= 2;
        for cloud in self.frames.iter_mut().flat_map(|frame| &mut frame.clouds) {
            *cloud = std::mem::take(cloud).thinned(self.thinned);
        }
        self.count();
    }

    fn note(&mut self, vertices: usize) {
        if self.thinned > 1 {
            let shown = format!("decimated: one free particle in {} is shown, throughout", self.thinned);
            self.notes.push(format!("{shown}, so that a frame has at most {} of them", self.particles));
        }
        if self.skipped > 1 {
            let rate = FRAMES_PER_SECOND / self.skipped as f64;
            self.notes.push(format!("decimated: {rate} frames a second are shown, so that browsers can hold the page"));
        }
        if vertices > VERTICES {
            self.notes.push(format!("surfaces of {vertices} vertices are shown whole; slow machines may stutter"));
        }
    }
}

impl Shown {
    fn particles(&self) -> usize {
        self.clouds.iter().map(|cloud| cloud.ids.len()).sum()
    }

    /// Of deforming surfaces.
    fn vertices(&self) -> usize {
        let count = |place: &Place| if let Place::Deformed { vertices, .. } = place { vertices.len() } else { 0 };
        self.surfaces.iter().map(count).sum()
    }
}

/// 2⁶⁴ over the golden ratio: multiples of it, modulo 2⁶⁴, are spread as evenly as can be, also those of every second id.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Swarm {
    /// One particle in `many`, whatever its neighbours: shown in one frame, it is in all. `many` is a power of two.
    fn thinned(self, many: usize) -> Self {
        if many == 1 {
            return self;
        }
        let last = u64::MAX / many as u64;
        let all = self.ids.into_iter().zip(self.points);
        let (ids, points) = all.filter(|(id, _)| id.wrapping_mul(GOLDEN) <= last).unzip();
        Self { ids, points }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{begin, tape};

    /// A deforming square in each of 240 frames: 960 vertices. With room for 300 of them every fourth frame is shown, the
    /// first and the last among them, and a note says so.
    #[test]
    fn a_long_run_is_shown_by_fewer_frames() {
        let square = crate::synthetic::deforming("cloth", 1.0);
        let vertices = square.surface.vertices.clone();
        let frames = (0..240).map(|_| vec![Placement::Deformed(vertices.clone())]);
        let footage = Footage::within(&mut tape(&begin(24.0, vec![square]), frames), 300).unwrap();
        let times: Vec<f64> = footage.frames.iter().map(|frame| frame.time).collect();
        assert!(footage.frames.iter().map(Shown::vertices).sum::<usize>() <= 300);
        assert_eq!((times.len(), times[0], times[1], *times.last().unwrap()), (61, 0.0, 4.0 / 24.0, 239.0 / 24.0));
        assert!(footage.notes[0].starts_with("decimated: 6 frames a second"), "{:?}", footage.notes);
    }
}
