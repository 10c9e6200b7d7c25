//! What came of a step.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::{Note, Wrench};

/// Impulse `[N s, N m s]` that the follower put on a guide's carrier.
///
/// The torque is about the carrier where that was at the moment of the impulse (at the end of the
/// step where the method knows no moment). Sorted by guide, then carrier; zeros may be left out.
/// The load that carries it over is `impulse / dt`, without a change of sign.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reaction {
    /// Number of the guide.
    pub guide: u32,
    /// Number of the carrier within the guide.
    pub carrier: u32,
    /// On the carrier.
    pub impulse: Wrench,
}

/// Whether a step's iterations reached what they were asked for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Outcome {
    /// To the simulator's own tolerance.
    Converged,
    /// Stopped at a limit; the state is finite and usable.
    StoppedAt {
        /// Left over, in `unit`.
        error: f64,
        /// Asked for, in `unit`.
        bound: f64,
        /// Of both.
        unit: String,
    },
}

impl Outcome {
    /// Takes note of an error and its bound, and keeps of all that are beyond theirs the one that is so the most.
    ///
    /// ```
    /// use partita_simulator::Outcome;
    ///
    /// let mut outcome = Outcome::Converged;
    /// outcome.note(0.1, 1.0, "m");
    /// assert_eq!(outcome, Outcome::Converged);
    /// outcome.note(3.0, 1.0, "m");
    /// outcome.note(4.0, 2.0, "m/s");
    /// assert_eq!(outcome, Outcome::StoppedAt { error: 3.0, bound: 1.0, unit: "m".into() });
    /// ```
    pub fn note(&mut self, error: f64, bound: f64, unit: &str) {
        let worst = match self {
            Self::StoppedAt { error, bound, .. } => *error / *bound,
            Self::Converged => 1.0,
        };
        if error / bound > worst {
            *self = Self::StoppedAt { error, bound, unit: unit.into() };
        }
    }
}

/// What came of a step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StepReport {
    /// Time at the end `[s]`.
    pub time: f64,
    /// Inner steps taken.
    pub substeps: u32,
    /// Solver iterations, all inner steps together.
    pub iterations: u32,
    /// Work of this step relative to the most that a step may take, from 0 to 1 [-]. It is 0 where there is no such limit.
    pub budget_used: f64,
    /// Converged, or stopped where.
    pub outcome: Outcome,
    /// On the guides' carriers.
    pub reactions: Vec<Reaction>,
    /// Impulses that the guides' carriers receive at the start of their next step, on top of the reactions: what stops a
    /// carrier for which the follower has no way to make room. Sorted as the reactions.
    pub impacts: Vec<Reaction>,
    /// Impulses that hold carriers against their other accelerations over their next step, where the follower cannot make
    /// room. They act as reactions do, but no motion of this step caused them. Sorted as the reactions.
    pub holding: Vec<Reaction>,
    /// Guides whose impacts and holding impulses other carriers take, such as a body between which and another one cloth
    /// is pressed. Those of all other guides are taken by what holds the follower. Sorted.
    pub passed_on: Vec<u32>,
    /// Velocity of all kinematic supports, such as grips along scripts, at the end of the step: along their mean
    /// velocity, the smallest component of any of them `[m/s]`. Contacts may not give energy in the frame that moves so.
    /// It is 0 without such supports, and where one of them does not move along the mean velocity.
    pub support_velocity: [f64; 3],
    /// Largest velocity of a kinematic support relative to that `[m/s]`. Where both are 0 supports do no work, so the follower can
    /// give no more energy than it has ([`Ledger`]).
    pub support_spread: f64,
    /// What a person should know: a clipped speed, a repaired input.
    pub notes: Vec<Note>,
    /// Where the time went.
    pub stages: Stages,
}

impl StepReport {
    /// A report of one converged inner step that ended at `time` `[s]`.
    pub fn new(time: f64) -> Self {
        Self {
            time,
            substeps: 1,
            iterations: 0,
            budget_used: 0.0,
            outcome: Outcome::Converged,
            reactions: Vec::new(),
            impacts: Vec::new(),
            holding: Vec::new(),
            passed_on: Vec::new(),
            support_velocity: [0.0; 3],
            support_spread: 0.0,
            notes: Vec::new(),
            stages: Stages::default(),
        }
    }

    /// Adds a note, or only its subjects if a note of the same kind is listed.
    pub fn note(&mut self, note: Note) {
        note.add_to(&mut self.notes);
    }

    /// Takes reactions over in order, of one carrier their sum; the list is left empty.
    pub fn add_up(&mut self, reactions: &mut Vec<Reaction>) {
        sum_up(reactions, &mut self.reactions);
    }

    /// Takes impacts over in order, of one carrier their sum; the list is left empty.
    pub fn add_up_impacts(&mut self, impacts: &mut Vec<Reaction>) {
        sum_up(impacts, &mut self.impacts);
    }

    /// Takes holding impulses over in order, of one carrier their sum; the list is left empty.
    pub fn add_up_holding(&mut self, holding: &mut Vec<Reaction>) {
        sum_up(holding, &mut self.holding);
    }
}

/// Moves impulses to the end of `sums`, in order, one for each carrier.
fn sum_up(impulses: &mut Vec<Reaction>, sums: &mut Vec<Reaction>) {
    impulses.sort_by_key(|reaction| (reaction.guide, reaction.carrier));
    for reaction in impulses.drain(..) {
        match sums.last_mut() {
            Some(sum) if (sum.guide, sum.carrier) == (reaction.guide, reaction.carrier) => {
                sum.impulse += reaction.impulse;
            }
            _ => sums.push(reaction),
        }
    }
}

/// Seconds by stage. A wall clock is no result, so any two are equal.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stages(pub Vec<(String, f64)>);

impl Stages {
    /// Adds `seconds` to `stage`.
    pub fn add(&mut self, stage: &str, seconds: f64) {
        match self.0.iter_mut().find(|(name, _)| name == stage) {
            Some((_, sum)) => *sum += seconds,
            None => self.0.push((stage.into(), seconds)),
        }
    }
}

/// Clock of one step: seconds by stage.
///
/// ```
/// use partita_simulator::{StageClock, StepReport};
///
/// let mut clock = StageClock::start();
/// // ... predict ...
/// clock.lap("predict");
/// // ... solve ...
/// clock.lap("solve");
/// let report = StepReport { stages: clock.stages, ..StepReport::new(0.01) };
/// assert_eq!(report.stages.0[1].0, "solve");
/// ```
#[derive(Debug)]
pub struct StageClock {
    last: Instant,
    /// Seconds by stage up to the last lap.
    pub stages: Stages,
}

impl StageClock {
    /// Starts a clock without stages.
    pub fn start() -> Self {
        Self { last: Instant::now(), stages: Stages::default() }
    }

    /// Adds the time since the last lap, or since the start, to `stage`.
    pub fn lap(&mut self, stage: &str) {
        let now = Instant::now();
        self.stages.add(stage, (now - self.last).as_secs_f64());
        self.last = now;
    }
}

impl PartialEq for Stages {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// What a simulator computes with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Precision {
    /// 64 bits: sums over some thousands of things are right to a billionth.
    #[default]
    Double,
    /// 32 bits, as on most graphics devices: to a hundred-thousandth.
    Single,
}

impl Precision {
    /// Rounding of such sums, of the largest that is summed [-].
    pub fn rounding(self) -> f64 {
        match self {
            Self::Double => 1e-9,
            Self::Single => 1e-5,
        }
    }
}

/// Momentum and energy of a whole simulator.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Ledger {
    /// Of all that moves `[kg]`.
    pub mass: f64,
    /// Linear momentum `[N s]`.
    pub momentum: [f64; 3],
    /// Angular momentum about the world's origin `[N m s]`.
    pub angular_momentum: [f64; 3],
    /// Kinetic energy `[J]`.
    pub kinetic: f64,
    /// Potential energy `[J]`.
    pub potential: f64,
    /// Impulse since time 0 from all but loads and guides: gravity, fields, own supports, particles
    /// born and gone; torque about the world's origin. `None`: not known.
    pub external: Option<Wrench>,
    /// What all of that was computed with.
    pub precision: Precision,
}
