//! Results of a step, checked where they come in: a simulator that reports nonsense is named in that window.

use std::{f64::consts::FRAC_PI_2, time::Instant};

use nalgebra::Vector3;
use partita_simulator::{
    HandleId, HandleState, HandleTable, Kind, Motion, Note, SimulatorError, path::rotation_between,
};

use crate::{Scheme, engine::Engine, plan::Member, worker::Reply};

/// Largest rotation of a carrier in one step of a follower `[rad]`. Contact takes the shortest
/// rotation between the ends of a step and applies friction once. At 1 rad a step, a table drags a
/// grain sideways.
const TURN_OF_A_STEP: f64 = 0.5;

/// Largest factor by which spinning carriers multiply the substeps of a follower [-].
const MOST_PARTS: f64 = 64.0;

/// Kinds of impulses that a follower reports.
enum Reported {
    /// Caused by the motion of this window.
    Reaction,
    /// Holds the carrier over the next window.
    Holding,
    /// Acts at the start of the next window.
    Impact,
}

impl Engine {
    /// Takes in what member `m` answers to its step of `dt` `[s]`, if it is sound.
    pub(crate) fn collect(&mut self, m: usize, dt: f64) -> Result<(), SimulatorError> {
        let waited = self.seats[m].is_on_thread().then(Instant::now);
        let Reply::Stepped(stepped) = self.seats[m].wait()? else { unreachable!("a step is answered by a step") };
        // In line the step was taken when it was posted.
        self.clock.waiting += waited.map_or(stepped.seconds, |waited| waited.elapsed().as_secs_f64());
        self.inputs[m] = stepped.inputs;
        self.clock.seconds[m] += stepped.seconds;
        let mut summary = match stepped.outcome {
            Ok(summary) => summary,
            Err(error) => {
                self.spare_states[m] = stepped.states;
                return Err(error);
            }
        };
        for (stage, seconds) in &summary.stages.0 {
            self.clock.stages[m].add(stage, *seconds);
        }
        match check_states(&self.members[m], [&self.state.states[m], &stepped.states], dt) {
            Ok(notes) => notes.into_iter().for_each(|note| note.add_to(&mut summary.notes)),
            Err(error) => {
                self.spare_states[m] = stepped.states;
                return Err(error);
            }
        }
        self.spare_states[m] = std::mem::replace(&mut self.pass.ends[m], stepped.states);
        let is_iterated = self.scheme != Scheme::Interleaved;
        let reactions = stepped.reactions.iter().map(|reaction| (reaction, Reported::Reaction));
        let holding = stepped.holding.iter().map(|reaction| (reaction, Reported::Holding));
        let impacts = stepped.impacts.iter().map(|reaction| (reaction, Reported::Impact));
        for (reaction, kind) in reactions.chain(holding).chain(impacts) {
            let guide = self.members[m].guides.get(reaction.guide as usize);
            let onto = guide.and_then(|guide| {
                // The wrench acts over the window if that is iterated, else from its end on.
                let end = self.pass.ends[guide.leader].as_slice();
                let start = if is_iterated { self.state.states[guide.leader].as_slice() } else { end };
                let leader = [start, end];
                Some((guide.interface, guide.onto_slot(reaction.carrier as usize, reaction.impulse, leader)?))
            });
            let Some((interface, (slot, impulse))) = onto else {
                let found = format!("carrier {} of guide {}", reaction.carrier, reaction.guide);
                return Err(SimulatorError::failed("reaction", found, "a carrier of a guide that it was given"));
            };
            if !impulse.is_finite() {
                return Err(SimulatorError::failed(
                    format!("reaction on guide {}", reaction.guide),
                    format!("{impulse:?}"),
                    "finite numbers",
                ));
            }
            self.pass.got[interface][slot] += impulse;
            match kind {
                Reported::Reaction => {}
                Reported::Holding => self.pass.holding[interface][slot] += impulse,
                Reported::Impact => self.pass.impacts[interface][slot] += impulse,
            }
        }
        for guide in stepped.passed_on {
            let Some(guide) = self.members[m].guides.get(guide as usize) else {
                return Err(SimulatorError::failed("guide passed on", guide, "a guide that it was given"));
            };
            guide.slots().for_each(|slot| self.pass.passed_on[guide.interface][slot] = true);
        }
        if !(summary.support_velocity.iter().all(|v| v.is_finite()) && summary.support_spread.is_finite()) {
            let found = format!("{:?} and {} m/s", summary.support_velocity, summary.support_spread);
            return Err(SimulatorError::failed("velocity of kinematic supports", found, "finite numbers"));
        }
        self.pass.summaries[m] = Some(summary);
        Ok(())
    }
}

/// Rotation that is not computed exactly, far below [`TURN_OF_A_STEP`] `[rad]`.
const SMALL_TURN: f64 = 0.02;

/// Steps that a follower takes for each of its own in a window of `dt` `[s]`, so that no carrier turns by
/// more than [`TURN_OF_A_STEP`] in one.
pub(crate) fn parts(substeps: u32, motions: &[Option<Motion>], dt: f64) -> u32 {
    let turn_of = |motion: &Motion| turn(motion, dt);
    let turn = motions.iter().flatten().map(turn_of).fold(0.0, f64::max);
    (turn / (TURN_OF_A_STEP * f64::from(substeps))).ceil().clamp(1.0, MOST_PARTS) as u32
}

/// Whether a carrier turns by more than `n` steps of a follower resolve.
pub(crate) fn turns_too_far(n: u32, motion: &Motion, dt: f64) -> bool {
    turn(motion, dt) > TURN_OF_A_STEP * (1.0 + 1.0e-9) * f64::from(n)
}

/// Largest rotation of a carrier, or a bound of it if that is below [`SMALL_TURN`] `[rad]`.
fn turn(motion: &Motion, dt: f64) -> f64 {
    let sum = |x: [f64; 3]| x.iter().map(|x| x.abs()).sum::<f64>();
    let turn_of = |(begin, end): (&HandleState, &HandleState)| {
        let cosine: f64 = begin.orientation.iter().zip(&end.orientation).map(|(a, b)| a * b).sum();
        // Neither far from the same orientation nor a whole turn away by the spin.
        let is_small =
            cosine.abs() > 1.0 - SMALL_TURN * SMALL_TURN / 8.0 && dt * (sum(begin.spin) + sum(end.spin)) < 1.0;
        if is_small { SMALL_TURN } else { rotation_between(begin, end, dt).norm() }
    };
    motion.begin.iter().zip(motion.end.iter()).map(turn_of).fold(0.0, f64::max)
}

/// Checks the states at the end of a step of `dt` `[s]`, and returns notes on motions that they do not determine.
///
/// # Errors
/// A state is not finite, the orientation of a Frame is not a unit quaternion, or its rotation contradicts
/// its spin.
fn check_states(member: &Member, [starts, ends]: [&[HandleState]; 2], dt: f64) -> Result<Vec<Note>, SimulatorError> {
    let mut notes = Vec::new();
    for ((&handle, start), end) in member.watched.iter().zip(starts).zip(ends) {
        check_finite_state(&member.table, handle, end)?;
        let thing = || format!("state of {}", member.table.describe(handle));
        // Points, and what does not rotate.
        let is_unrotated = |state: &HandleState| state.orientation == [0.0, 0.0, 0.0, 1.0] && state.spin == [0.0; 3];
        if is_unrotated(start) && is_unrotated(end) || member.table.kind(handle)? == Kind::Point {
            continue;
        }
        let squared: f64 = end.orientation.iter().map(|x| x * x).sum();
        if (squared - 1.0).abs() > 1.0e-6 {
            let found = format!("{:?}", end.orientation);
            return Err(SimulatorError::failed(thing(), found, "a unit quaternion (x, y, z, w) as orientation"));
        }
        match explained(start, end, dt) {
            Explained::Yes => {}
            Explained::Tumbles => {
                let kind = "tumbles so fast that its rotation within a window is ambiguous; raise the scene's rate";
                Note::about(format!("`{}`", member.table.describe(handle)), kind).add_to(&mut notes);
            }
            Explained::No { turned, spun } => {
                let found =
                    format!("rotation by {turned:.2} rad, but dt times spin is {spun:.2} rad, for dt = {dt:.3e} s");
                let expected = "a spin in rad/s consistent with the rotation, or a higher scene rate";
                return Err(SimulatorError::failed(thing(), found, expected));
            }
        }
    }
    Ok(notes)
}

/// # Errors
/// The state is not finite.
pub(crate) fn check_finite_state(
    table: &HandleTable,
    handle: HandleId,
    state: &HandleState,
) -> Result<(), SimulatorError> {
    if state.is_finite() {
        return Ok(());
    }
    let thing = format!("state of {}", table.describe(handle));
    Err(SimulatorError::failed(thing, format!("{state:?}"), "finite numbers"))
}

/// Whether a spin explains a rotation.
enum Explained {
    Yes,
    /// The axis changes too much for the ends of the step to tell.
    Tumbles,
    /// About one axis, by these angles `[rad]`.
    No {
        turned: f64,
        spun: f64,
    },
}

/// Compares the rotation nearest to the mean spin with it. They may differ by half of the spin's change, as where
/// that is sudden, by the curvature of the motion, and by a quarter of a turn.
fn explained(start: &HandleState, end: &HandleState, dt: f64) -> Explained {
    let [before, after] = [start.spin, end.spin].map(Vector3::from);
    let (turn, spun) = (rotation_between(start, end, dt), 0.5 * dt * (before + after));
    let allowed = FRAC_PI_2 + 0.5 * dt * (after - before).norm() + 0.25 * spun.norm();
    if (turn - spun).norm() <= allowed {
        return Explained::Yes;
    }
    // A body at rest at both ends may have turned in between. Axes are one if within eight degrees.
    let is_along = |a: &Vector3<f64>, b: &Vector3<f64>| a.cross(b).norm() <= 0.14 * a.norm() * b.norm();
    if spun.norm() > FRAC_PI_2 && is_along(&before, &after) && is_along(&turn, &spun) {
        Explained::No { turned: turn.norm(), spun: spun.norm() }
    } else {
        Explained::Tumbles
    }
}
