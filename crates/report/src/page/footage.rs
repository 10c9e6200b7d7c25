//! What a page shows of a tape: at most 24 frames a second, and no more points than browsers draw without stutter.

use nalgebra::Vector3;

use super::tracks::Point;
use crate::{Begin, Frame, Numbers, Placement, Tape, TapeError};

/// Frames by second of simulated time; the viewer moves smoothly between them.
const FRAMES_PER_SECOND: f64 = 24.0;
/// Vertices and particles of a frame that are shown.
const VERTICES: usize = 50_000;
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
    /// Of each cloud every so-manieth point is shown.
    pub thinned: usize,
    pub notes: Vec<String>,
}

/// One frame.
pub(super) struct Shown {
    pub time: f64,
    pub surfaces: Vec<Place>,
    pub clouds: Vec<Vec<Point>>,
    /// Interface, position, force `[m, N]`.
    pub forces: Vec<[f32; 7]>,
}

/// Where a surface is.
pub(super) enum Place {
    Rigid([f32; 7]),
    Deformed(Vec<Point>),
    /// It is recorded but not shown.
    Hidden,
}

impl Footage {
    pub fn of(tape: &mut Tape) -> Result<Self, TapeError> {
        let view = tape.begin().camera.view(16, 9);
        let (origin, radius) = view.map_or((Vector3::zeros(), 1.0), |view| (view.origin, f64::from(view.radius)));
        let reach = (REACH * radius) as f32;
        let begin = tape.begin().clone();
        let shown = begin.surfaces.iter().filter(|taped| taped.look.is_some());
        let vertices: usize = shown.map(|taped| taped.surface.vertices.len()).sum();
        let particles = VERTICES.saturating_sub(vertices).max(PARTICLES);
        let (frames, numbers, notes) = (vec![], vec![], vec![]);
        let mut footage = Self { origin, reach, frames, numbers, particles, thinned: 1, notes };
        let last = tape.frames().saturating_sub(1);
        for number in 0..tape.frames() {
            let frame = tape.frame(number)?;
            // A window may end a rounding error before a frame's time.
            let due = (frame.time - begin.start) * FRAMES_PER_SECOND >= footage.frames.len() as f64 - 1e-6;
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
            Placement::Deformed(vertices) => Place::Deformed(vertices.iter().map(|x| self.near(x)).collect()),
        };
        let force = |force: &crate::Force| {
            let ([x, y, z], [fx, fy, fz]) = (self.near(&force.position), force.force.map(|f| f as f32));
            [force.interface as f32, x, y, z, fx, fy, fz]
        };
        let thin = |cloud: &Vec<[f64; 3]>| cloud.iter().step_by(self.thinned).map(|x| self.near(x)).collect();
        self.frames.push(Shown {
            time: frame.time,
            surfaces: frame.surfaces.iter().zip(&begin.surfaces).map(place).collect(),
            clouds: frame.clouds.iter().map(thin).collect(),
            forces: frame.forces.iter().map(force).collect(),
        });
        while self.frames.last().is_some_and(|frame| frame.particles() > self.particles) {
            self.thin();
        }
    }

    fn near(&self, x: &[f64; 3]) -> Point {
        [0, 1, 2].map(|k| (x[k] - self.origin[k]) as f32)
    }

    /// Leaves out every second particle of all frames so far, the same in each.
    fn thin(&mut self) {
        self.thinned *= 2;
        for cloud in self.frames.iter_mut().flat_map(|frame| &mut frame.clouds) {
            *cloud = cloud.iter().step_by(2).copied().collect();
        }
    }

    fn note(&mut self, vertices: usize) {
        if self.thinned > 1 {
            let shown = format!("decimated: one free particle in {} is shown", self.thinned);
            self.notes.push(format!("{shown}, so that a frame has at most {} of them", self.particles));
        }
        if vertices > VERTICES {
            self.notes.push(format!("surfaces of {vertices} vertices are shown whole; slow machines may stutter"));
        }
    }
}

impl Shown {
    fn particles(&self) -> usize {
        self.clouds.iter().map(Vec::len).sum()
    }
}
