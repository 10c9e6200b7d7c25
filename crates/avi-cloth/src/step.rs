//! One step from top to bottom.

use std::time::Instant;

use nalgebra::Vector3;
use partita_cloth::{Held, Obstacles, Vertices, absurd_load, check_finite, report_supports};
use partita_contact::Contacts;
use partita_simulator::{Inputs, Motion, Outcome, Reaction, SimulatorError, StepReport, check};

use crate::{
    AviCloth, Counts, Integrator, Limit,
    flight::Way,
    lane::Memory,
    meet::{Given, Meetings},
    parts::Parts,
    state::State,
};

type V3 = Vector3<f64>;

/// Most times the shortest span that a step may be long: what is asked for by mistake is not to take hours.
const LONGEST: f64 = 1e6;

/// Allowances of contact work in a step of fewer contact intervals; longer steps have one an interval [-].
const ALLOWANCES: u32 = 4;

/// Longest that an interval takes `[s]`: the frame in which vertices are told falls far, and far off places have fewer digits.
const LONGEST_FALL: f64 = 1.0;

/// Memory that a step works in. Nothing in it outlives a step but what the configuration gives, and what is told of the last step.
#[derive(Default)]
pub(crate) struct Work {
    pub next: State,
    pub memory: Memory,
    /// Of each vertex, how many taut sides it ends.
    pub taut: Vec<u32>,
    /// None where cutting gains nothing.
    pub parts: Option<Parts>,
    /// For how many threads that was found; 0: it was not yet.
    pub threads: usize,
    /// In how many the last step's events were, at most.
    pub in_parts: usize,
    /// Of vertices: loads `[N]`; what these and gravity make, empty where there are none `[m/s²]`; and 0 for what is held `[1/kg]`.
    pub loads: Vec<V3>,
    pub accelerations: Vec<V3>,
    pub inverse_masses: Vec<f64>,
    pub held: Vec<Held>,
    pub ways: Vec<Way>,
    /// Where vertices are at the begin and would be at the end of an interval `[m]`.
    pub begin: Vec<V3>,
    pub end: Vec<V3>,
    /// From where they would have come to the end straight `[m]`.
    pub straight_begins: Vec<V3>,
    /// Velocities before forces acted `[m/s]`.
    pub before: Vec<V3>,
    /// None where nothing can be met; also where that has changed.
    pub contacts: Option<Contacts>,
    pub obstacles: Obstacles,
    pub meetings: Meetings,
    pub given: Vec<Given>,
    pub reactions: Vec<Reaction>,
    pub impacts: Vec<Reaction>,
    pub holding: Vec<Reaction>,
    /// Velocities of the vertices at the end of a step `[m/s]`.
    pub velocities: Vec<V3>,
    /// Of the last step.
    pub counts: Counts,
    pub events: Vec<(f64, u32)>,
}

/// A part of a step, in which what may meet is looked for once and vertices are told in one falling frame.
#[derive(Clone, Copy)]
pub(crate) struct Interval {
    /// `[s]`
    pub begin: f64,
    pub end: f64,
    /// Of the step: begin and duration `[s]`.
    pub step: [f64; 2],
    /// Fraction of an allowance of contact work for its events [-].
    pub share: f64,
    /// Number of sides that each of its events may check against limits [-].
    pub looks: u32,
}

impl Interval {
    pub fn duration(&self) -> f64 {
        self.end - self.begin
    }

    /// When the step ends `[s]`.
    pub fn last(&self) -> f64 {
        self.step[0] + self.step[1]
    }
}

impl AviCloth {
    pub(crate) fn take_step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        self.parameters.check()?;
        check(&self.table, &self.guides, dt, inputs)?;
        self.holds.check_step(self.state.time, dt)?;
        self.check_duration(dt)?;
        self.prepare_contacts()?;
        let begin = self.state.time;
        let mut report = StepReport::new(begin + dt);
        self.work.next.clone_from(&self.state);
        self.work.reactions.clear();
        self.work.given.clear();
        self.work.counts = Counts::default();
        self.work.in_parts = 1;
        self.work.events.clear();
        self.hold(begin, dt, inputs)?;

        let longest = match self.work.contacts {
            Some(_) => self.parameters.contact_interval.min(LONGEST_FALL),
            None => LONGEST_FALL,
        };
        let whole = (dt / longest).ceil().max(1.0) as u32;
        let finer = self.refinement(dt, whole, &inputs.motions);
        let count = whole * finer;
        let each = count.div_ceil(whole.max(ALLOWANCES));
        // An allowance counts by the larger of what contact between events used of it, and what events used.
        let (allowances, mut used, mut by_events) = (f64::from(count.div_ceil(each)), 0.0, 0.0);
        for part in 0..count {
            if part.is_multiple_of(each) {
                self.work.contacts.iter_mut().for_each(Contacts::start_step);
            }
            let at = |k: u32| if k == count { report.time } else { begin + dt * (f64::from(k) / f64::from(count)) };
            let share = f64::from(each).recip();
            let (nodes, gravity) = (&self.work.next.nodes, V3::from(self.parameters.gravity));
            let start = at(part);
            let stretch = || self.elements.stretch(|v| nodes[v as usize].at(start, gravity).0);
            let looks = self.parameters.limit.map_or(0, |limit| limit.looks(stretch()));
            let interval = Interval { begin: start, end: at(part + 1), step: [begin, dt], share, looks };
            let motions: Vec<Option<Motion>> = (self.guides.iter().zip(&inputs.motions))
                .map(|(guide, motion)| motion.as_ref().map(|motion| motion.part(guide, dt, count, part)))
                .collect();
            let before = self.work.counts.checked;
            let taken = self.take_interval(interval, &motions, &mut report);
            taken.map_err(|error| self.absurd_load(dt, inputs).unwrap_or(error))?;
            if let Some(contacts) = &self.work.contacts {
                // A side that is checked against limits costs about as much as a pair.
                let checked = (self.work.counts.checked - before) as f64;
                by_events += self.work.meetings.budget_used + contacts.budget_of_events(checked);
                if (part + 1).is_multiple_of(each) || part + 1 == count {
                    used += contacts.budget_used().max(std::mem::take(&mut by_events)).min(1.0);
                }
            }
        }
        report.budget_used = used / allowances;
        self.book(dt, inputs);
        self.work.next.time = report.time;
        let nodes = &self.work.next.nodes;
        let sound = check_finite(nodes.iter().map(|node| &node.x), nodes.iter().map(|node| &node.v));
        sound.map_err(|error| self.absurd_load(dt, inputs).unwrap_or(error))?;
        report.substeps = count;
        report.iterations = u32::try_from(self.work.counts.events).unwrap_or(u32::MAX);
        report.passed_on = self.stop_carriers(inputs);
        report_supports(&self.work.held, inputs, &mut report);
        report.add_up(&mut self.work.reactions);
        report.add_up_impacts(&mut self.work.impacts);
        report.add_up_holding(&mut self.work.holding);
        // From here on nothing can fail.
        std::mem::swap(&mut self.state, &mut self.work.next);
        self.note_strain(&mut report.outcome);
        Ok(report)
    }

    /// Error of a step that failed, if a load is to blame ([`Vertices::largest_impulse`]).
    fn absurd_load(&self, dt: f64, inputs: &Inputs) -> Option<SimulatorError> {
        let impulses = inputs.impulses.iter().map(|(handle, j)| (handle.index as usize, V3::from(j.linear)));
        let (positions, velocities) = (self.positions(), self.velocities());
        let start = Vertices { positions: &positions, velocities: &velocities, masses: &self.sheet.masses };
        let least = start.largest_impulse(self.parameters.gravity, dt);
        let moves = |vertex: usize| self.work.next.nodes[vertex].w > 0.0;
        absurd_load(&self.work.loads, impulses, moves, dt, least)
    }

    /// Whether a step is short enough to end.
    fn check_duration(&self, dt: f64) -> Result<(), SimulatorError> {
        let (shortest, of_what) = match self.parameters.integrator {
            Integrator::Asynchronous => {
                let spans = &self.elements.spans;
                if let Some(k) = spans.iter().position(|span| span.is_nan() || *span <= 0.0) {
                    let expected = "above 0 (softer, less damped or heavier cloth)";
                    return Err(SimulatorError::refused(format!("span [s] of element {k}"), spans[k], expected));
                }
                let shortest = self.state.clocks.iter().map(|clock| clock.usual).fold(f64::INFINITY, f64::min);
                (shortest, "the shortest span (coarser mesh, softer, less damped)")
            }
            Integrator::SymplecticEuler { step } | Integrator::ForwardEuler { step } => (step, "the integrator's step"),
        };
        let interval = self.parameters.contact_interval;
        for (unit, of_what) in [(shortest, of_what), (interval, "the contact interval"), (LONGEST_FALL, "a second")] {
            let longest = LONGEST * unit;
            if dt > longest {
                let expected = format!("at most {longest} s, {LONGEST:e} times {of_what}");
                return Err(SimulatorError::refused("dt [s]", dt, expected));
            }
        }
        Ok(())
    }

    fn take_interval(
        &mut self,
        interval: Interval,
        motions: &[Option<Motion>],
        report: &mut StepReport,
    ) -> Result<(), SimulatorError> {
        let start = Instant::now();
        self.find_pairs(interval, motions)?;
        let found = start.elapsed().as_secs_f64();
        let settled = self.advance(interval);
        let advanced = start.elapsed().as_secs_f64();
        self.put_right(interval, motions, report)?;
        // What collisions took is told by a few (`meet.rs`).
        let solved = (advanced - found - settled).max(0.0);
        report.stages.add("solve", solved);
        report.stages.add("contact", start.elapsed().as_secs_f64() - solved);
        Ok(())
    }

    /// Whether limits are kept, to a hundredth.
    fn note_strain(&self, outcome: &mut Outcome) {
        if let Some(Limit { strain, .. }) = self.parameters.limit {
            let worst = self.stretch();
            if worst > 1.01 * strain {
                outcome.note(worst, strain, "of an edge's length at rest");
            }
        }
    }
}
