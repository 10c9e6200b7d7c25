//! A tape as exports see it: frame after frame, with numbers that are checked once, so that no format has to. That they
//! fit together is checked by the tape.

use super::ExportError;
use super::names::Unique;
use crate::{Begin, Frame, Numbers, Placement, Tape};

/// Largest coordinate that can be exported `[m]`: beyond, sums and single precision overflow.
const LARGEST: f64 = 1e30;

/// Simulator and stage, by simulator, then in order of first appearance.
pub(super) type Stages = Vec<(usize, String)>;

/// Reads a tape from its first frame to its last.
pub(super) struct Reel<'a> {
    tape: &'a mut Tape,
    pub begin: Begin,
    next: usize,
    /// Of the last frame that was read `[s]`.
    time: f64,
    /// Of the first frame `[s]`.
    first: f64,
}

impl<'a> Reel<'a> {
    /// Checks what does not change over the run.
    pub fn new(tape: &'a mut Tape) -> Result<Self, ExportError> {
        let begin = tape.begin().clone();
        if !crate::write::names_files(&begin.name) {
            return Err(ExportError::Name { name: begin.name });
        }
        let reel = Self { tape, begin, next: 0, time: f64::NEG_INFINITY, first: 0.0 };
        if reel.tape.frames() == 0 {
            return Err(reel.unsound("its number of frames", 0, "at least 1"));
        }
        if !(reel.begin.frames_per_second.is_finite() && reel.begin.frames_per_second > 0.0) {
            let found = reel.begin.frames_per_second;
            return Err(reel.unsound("its number of frames a second", found, "a positive number"));
        }
        Ok(reel)
    }

    /// Frames on the tape.
    pub fn frames(&self) -> usize {
        self.tape.frames()
    }

    /// The next frame with its number, or `None` after the last one.
    pub fn next_frame(&mut self) -> Result<Option<(usize, Frame)>, ExportError> {
        if self.next == self.tape.frames() {
            return Ok(None);
        }
        let (number, frame) = (self.next, self.tape.frame(self.next)?);
        self.check(number, &frame)?;
        if number == 0 {
            self.first = frame.time;
        }
        self.time = frame.time;
        self.next += 1;
        Ok(Some((number, frame)))
    }

    /// As [`Tape::steady_frames`].
    pub fn steady_frames(&mut self) -> Result<usize, ExportError> {
        Ok(self.tape.steady_frames()?)
    }

    /// Back to the first frame.
    pub fn rewind(&mut self) {
        (self.next, self.time) = (0, f64::NEG_INFINITY);
    }

    /// Stages of all frames, since one may first run in the middle of a run. Rewinds.
    pub fn stages(&mut self) -> Result<Stages, ExportError> {
        let mut stages = Vec::new();
        self.rewind();
        while let Some((_, frame)) = self.next_frame()? {
            for (simulator, list) in frame.numbers.stages.iter().enumerate() {
                for (stage, _) in list {
                    if !stages.iter().any(|(s, name)| *s == simulator && name == stage) {
                        stages.push((simulator, stage.clone()));
                    }
                }
            }
        }
        self.rewind();
        stages.sort_by_key(|(simulator, _)| *simulator);
        stages.retain(|(simulator, _)| *simulator < self.begin.simulators.len());
        Ok(stages)
    }

    /// Where `time` `[s]` stands, in frames since the first one, to a millionth: whole where windows end with frames.
    pub fn time_code(&self, time: f64) -> f64 {
        ((time - self.first) * self.begin.frames_per_second * 1e6).round() / 1e6
    }

    /// `simulator/surface` by surface, then `simulator/particles` by cloud; names that differ, as one line each.
    pub fn titles(&self) -> (Vec<String>, Vec<String>) {
        let (begin, mut names) = (&self.begin, Unique::default());
        let titled = |(simulator, name): (usize, &str)| format!("{}/{name}", begin.simulators[simulator]);
        let surfaces = begin.surfaces.iter().map(|s| titled((s.simulator, &s.surface.name)));
        let surfaces = surfaces.map(|title| names.name(&super::names::one_line(&title))).collect();
        let clouds = (0..begin.clouds.len()).map(|i| titled((i, "particles")));
        let clouds = clouds.map(|title| names.name(&super::names::one_line(&title))).collect();
        (surfaces, clouds)
    }

    fn check(&self, number: usize, frame: &Frame) -> Result<(), ExportError> {
        let bad = |thing: &str, found: String, expected: String| {
            Err(self.unsound(&format!("frame {number}, {thing}"), found, expected))
        };
        if !(frame.time.is_finite() && frame.time > self.time) {
            return bad("time", format!("{} s", frame.time), format!("a time after {} s", self.time));
        }
        let fit = |x: &[f64]| x.iter().all(|x| x.abs() <= LARGEST);
        let numbers = || format!("numbers of at most {LARGEST:e}");
        for (taped, placement) in self.begin.surfaces.iter().zip(&frame.surfaces) {
            let thing = format!("surface `{}/{}`", self.begin.simulators[taped.simulator], taped.surface.name);
            match placement {
                Placement::Rigid { position, orientation } => {
                    let size = orientation.iter().map(|x| x * x).sum::<f64>();
                    if !fit(position) || !(0.5..2.0).contains(&size) {
                        let found = format!("at {position:?}, turned by {orientation:?}");
                        return bad(&thing, found, format!("{} and a unit quaternion", numbers()));
                    }
                }
                Placement::Deformed(vertices) => {
                    if let Some(i) = vertices.iter().position(|x| !fit(x)) {
                        return bad(&format!("{thing}, vertex {i}"), format!("{:?}", vertices[i]), numbers());
                    }
                }
            }
        }
        for (simulator, cloud) in self.begin.simulators.iter().zip(&frame.clouds) {
            let points = &cloud.positions;
            if let Some(i) = points.iter().position(|x| !fit(x)) {
                return bad(&format!("particle {i} of `{simulator}`"), format!("{:?}", points[i]), numbers());
            }
        }
        for (i, force) in frame.forces.iter().enumerate() {
            if !fit(force.position.as_slice()) || !fit(&force.force) || !fit(&force.torque) {
                return bad(&format!("force {i}"), format!("{force:?}"), numbers());
            }
        }
        match first_not_finite(&frame.numbers) {
            Some((thing, found)) => bad(thing, found.to_string(), "a finite number".into()),
            None => Ok(()),
        }
    }

    fn unsound(&self, thing: &str, found: impl ToString, expected: impl ToString) -> ExportError {
        let thing = format!("tape of {}: {thing}", self.begin.name);
        ExportError::Unsound { thing, found: found.to_string(), expected: expected.to_string() }
    }
}

fn first_not_finite(n: &Numbers) -> Option<(&'static str, f64)> {
    let groups: [(&'static str, Vec<f64>); 10] = [
        ("work", vec![n.work]),
        ("momentum error", n.momentum_error.into_iter().collect()),
        ("gap", vec![n.gap]),
        ("change of the loads", vec![n.load_change]),
        ("number of passes", vec![n.passes]),
        ("time of the coupling", vec![n.coupling]),
        ("energy", n.energies.iter().flatten().flatten().copied().collect()),
        ("number of iterations", n.iterations.clone()),
        ("time of a stage", n.stages.iter().flatten().map(|stage| stage.1).collect()),
        ("impulse", n.impulses.as_flattened().as_flattened().to_vec()),
    ];
    let mut all = groups.into_iter().flat_map(|(thing, values)| values.into_iter().map(move |value| (thing, value)));
    all.find(|(_, value)| !value.is_finite())
}
