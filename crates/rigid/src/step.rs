//! One time step: drive, load, solve, look after the result.

use std::collections::HashSet;

use nalgebra::Vector3;
use partita_simulator::{
    Guide, Inputs, Note, Outcome, SimulatorError, Snapshot, StageClock, StepReport, Wrench, check,
};
use rapier3d_f64::{
    math::{Pose, Rotation, Vector},
    prelude::{IntegrationParameters, PhysicsPipeline, RigidBody, RigidBodyHandle},
};

use crate::{
    RigidBodies,
    bodies::{Target, centre_of},
    convert::vector,
    follow::{SubstepStart, TOLERANCE, listed},
    sweep::Impact,
};

/// Steps between two copies of the state from which a failed step is undone.
const STEPS_BETWEEN_COPIES: usize = 16;

/// A state and the steps since: enough to be again where the last good step ended, bit for bit,
/// without a copy of the world before every step (a sixth of a step's time).
pub(crate) struct Undo {
    from: Snapshot,
    steps: Vec<TakenStep>,
}

/// All that a step was made of. No script is asked again: one that does not depend on time alone would
/// give other poses, and the state would be another one than before the failed step.
struct TakenStep {
    dt: f64,
    inputs: Inputs,
    poses: ScriptPoses,
}

/// Target poses of scripted bodies, one list for each evaluation of the scripts in a step.
type ScriptPoses = Vec<Vec<(RigidBodyHandle, Pose)>>;

/// State of the current step.
struct Step<'a> {
    /// Time at its start `[s]`.
    start: f64,
    dt: f64,
    inputs: &'a Inputs,
    poses: &'a mut ScriptPoses,
    /// Number of evaluations of the scripts so far.
    drives: usize,
    report: StepReport,
    clock: StageClock,
    /// By guide.
    reactions: Vec<Wrench>,
}

impl Undo {
    pub fn starting(from: Snapshot) -> Self {
        Self { from, steps: Vec::new() }
    }
}

/// What a loaded body had before the load: forces of the user's own, and when it may sleep.
struct Kept {
    body: RigidBodyHandle,
    force: Vector,
    torque: Vector,
    sleeps_below: (f64, f64),
}

impl Kept {
    /// Takes note, and keeps the body awake: one at rest would otherwise fall asleep in a substep of half
    /// a second *before* its load acts, and the load would be lost.
    fn of(handle: RigidBodyHandle, body: &mut RigidBody) -> Self {
        let (force, torque) = (body.user_force(), body.user_torque());
        let activation = body.activation_mut();
        let sleeps_below = (activation.normalized_linear_threshold, activation.angular_threshold);
        (activation.normalized_linear_threshold, activation.angular_threshold) = (-1.0, -1.0);
        Self { body: handle, force, torque, sleeps_below }
    }
}

impl RigidBodies {
    pub(crate) fn take_step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        check(&self.table, &self.guides, dt, inputs)?;
        self.parameters.check()?;
        self.take_in_what_is_new();
        let mut undo = self.take_undo();

        let mut poses = ScriptPoses::new();
        let result = self.advance(dt, inputs, &mut poses);
        match result {
            Ok(_) => undo.steps.push(TakenStep { dt, inputs: inputs.clone(), poses }),
            Err(_) => self.undo_failed_step(&mut undo),
        }
        self.undo = Some(undo);
        result
    }

    /// `substeps` steps of rapier, with `poses` where they are known, else those that scripts give now.
    /// When one fails, the state is of no use.
    fn advance(&mut self, dt: f64, inputs: &Inputs, poses: &mut ScriptPoses) -> Result<StepReport, SimulatorError> {
        let n = self.parameters.substeps;
        let end = self.state.time + dt;
        let mut step = Step {
            start: self.state.time,
            dt,
            inputs,
            poses,
            drives: 0,
            report: StepReport::new(end),
            clock: StageClock::start(),
            reactions: vec![Wrench::ZERO; self.guides.len()],
        };
        step.report.substeps = 0;
        if self.state.time == 0.0 {
            step.report.notes = self.notes();
        }
        self.apply_impulses(inputs);
        for k in 1..=n {
            let fraction = |k: u32| f64::from(k) / f64::from(n);
            self.take_substep(&mut step, [fraction(k - 1), fraction(k)])?;
        }
        let Step { mut report, clock, reactions, .. } = step;
        report.stages = clock.stages;
        report.iterations = report.substeps * self.parameters.solver_iterations * self.parameters.sweeps;
        report.reactions = listed(&reactions);
        let gap = self.widest_gap(inputs);
        if gap > TOLERANCE {
            report.outcome = Outcome::StoppedAt { error: gap, bound: TOLERANCE, unit: "m".into() };
        }
        self.state.time = end;
        Ok(report)
    }

    /// One substep, between two fractions of the step, cut at the impacts of fast bodies.
    fn take_substep(&mut self, step: &mut Step, [mut from, end]: [f64; 2]) -> Result<(), SimulatorError> {
        let mut cuts = self.parameters.impacts;
        let mut over_impact = None;
        while from < end {
            let mut to = over_impact.take().map_or(end, |length: f64| end.min(from + length));
            let mut is_over_impact = to < end;
            let mut start = self.drive(step, [from, to])?;
            let kept = self.apply_loads(step.dt * (to - from), step.inputs)?;
            let impact = self.first_impact(step.dt * (to - from));
            if !is_over_impact && let Some(impact) = impact {
                if cuts == 0 {
                    step.report.note(self.note_of_impact(&impact));
                } else {
                    cuts -= 1;
                    let [before, over] =
                        [impact.time - 0.5 * impact.of_prediction, impact.of_prediction].map(|t| t / step.dt);
                    is_over_impact = before <= 0.0;
                    to = end.min(from + if is_over_impact { over } else { before });
                    over_impact = (!is_over_impact).then_some(over);
                    start = self.drive(step, [from, to])?;
                }
            }
            self.take_piece(step, step.dt * (to - from), is_over_impact, kept, &start)?;
            from = to;
        }
        Ok(())
    }

    /// Sends scripted bodies and guides on their way between two fractions of the step.
    fn drive(&mut self, step: &mut Step, [from, to]: [f64; 2]) -> Result<SubstepStart, SimulatorError> {
        if step.poses.len() == step.drives {
            let then = step.start + step.dt * to;
            step.poses.push(self.ask_scripts(then)?);
        }
        self.drive_scripts(&step.poses[step.drives]);
        step.drives += 1;
        Ok(self.drive_guides(step.dt, [from, to], step.inputs))
    }

    /// One step of rapier, by `h`, with all contacts found anew where it goes over an impact of fast bodies.
    fn take_piece(
        &mut self,
        step: &mut Step,
        h: f64,
        is_over_impact: bool,
        kept: Vec<Kept>,
        start: &SubstepStart,
    ) -> Result<(), SimulatorError> {
        let report = &mut step.report;
        report.substeps += 1;
        self.start_rotations(h, report);
        self.book_gravity(h);
        step.clock.lap("prepare");

        // Rapier leaves contacts as they are of bodies that moved little, but little is much for these.
        let contact_recycling = self.integration.contact_recycling && !is_over_impact;
        let integration = IntegrationParameters { dt: h, contact_recycling, ..self.integration };
        self.state.advance(&mut self.pipeline, self.parameters.gravity, &integration, &self.rules);
        step.clock.lap("rapier");

        self.take_loads_off(kept);
        self.check_quarantine()?;
        self.finish_rotations(h);
        self.check_speeds(h, report)?;
        self.note_overlaps(report);
        self.note_crossings(report);
        self.book_reactions(start, &mut step.reactions);
        self.book_contacts();
        step.clock.lap("look after");
        Ok(())
    }

    fn note_of_impact(&self, impact: &Impact) -> Note {
        let [one, two] = impact.bodies.map(|body| self.name_in_report(body));
        let kind = format!(
            "may have passed through each other; a substep had more than {} impacts of fast bodies",
            self.parameters.impacts
        );
        Note::about(format!("`{one}` and `{two}`"), kind)
    }

    /// Where scripted bodies are at time `then`.
    fn ask_scripts(&self, then: f64) -> Result<Vec<(RigidBodyHandle, Pose)>, SimulatorError> {
        let scripted = self.members.iter().filter_map(|member| Some((member, member.script.as_ref()?)));
        let poses = scripted.map(|(member, script)| {
            let pose = script(then);
            pose.check(&format!("script of body `{}` at {then} s", member.name)).map_err(as_failure)?;
            Ok((member.body, pose.to_rapier()))
        });
        poses.collect()
    }

    fn drive_scripts(&mut self, poses: &[(RigidBodyHandle, Pose)]) {
        for &(body, pose) in poses {
            self.state.bodies[body].set_next_kinematic_position(pose);
        }
    }

    /// Puts the loads on, each at its handle, and gives back the forces that the user of a whole
    /// world had put on the same bodies. Lever arms of Points are those in the middle of the substep:
    /// those at its start would change the angular momentum at a rate of first order in h.
    fn apply_loads(&mut self, h: f64, inputs: &Inputs) -> Result<Vec<Kept>, SimulatorError> {
        let mut kept = Vec::new();
        let mut loaded = HashSet::new();
        for &(handle, wrench) in &inputs.loads {
            let (body, point) = match self.targets[handle.index as usize] {
                Target::Frame(body) => (body, None),
                Target::Point(body, offset) => (body, Some(offset)),
                Target::World => continue,
            };
            if wrench == Wrench::ZERO || !self.state.bodies[body].is_dynamic() {
                continue;
            }
            let body_handle = body;
            let body = &mut self.state.bodies[body];
            if loaded.insert(body_handle) {
                kept.push(Kept::of(body_handle, body));
            }
            let force = Vector::from_array(wrench.linear);
            match point {
                Some(offset) => {
                    let centre = centre_of(body);
                    let half_turn = Rotation::from_scaled_axis(body.angvel() * (0.5 * h));
                    body.add_force_at_point(force, centre + half_turn * (body.position() * offset - centre), true);
                }
                None => {
                    body.add_force(force, true);
                    body.add_torque(Vector::from_array(wrench.angular), true);
                }
            }
        }
        for kept in &kept {
            self.check_load(kept.body, h)?;
        }
        Ok(kept)
    }

    /// Changes velocities by the impulses that act at the start of the step, each at its handle.
    fn apply_impulses(&mut self, inputs: &Inputs) {
        for &(handle, wrench) in &inputs.impulses {
            let (body, point) = match self.targets[handle.index as usize] {
                Target::Frame(body) => (body, None),
                Target::Point(body, offset) => (body, Some(offset)),
                Target::World => continue,
            };
            let body = &mut self.state.bodies[body];
            if wrench == Wrench::ZERO || !body.is_dynamic() {
                continue;
            }
            let impulse = Vector::from_array(wrench.linear);
            match point {
                Some(offset) => body.apply_impulse_at_point(impulse, body.position() * offset, true),
                None => {
                    body.apply_impulse(impulse, true);
                    body.apply_torque_impulse(Vector::from_array(wrench.angular), true);
                }
            }
        }
    }

    /// Rapier squares speeds, and an overflow there would stop the body instead of flinging it away.
    fn check_load(&self, handle: RigidBodyHandle, h: f64) -> Result<(), SimulatorError> {
        let body = &self.state.bodies[handle];
        let speed = body.linvel() + body.user_force() * (h / body.mass());
        let spin = body.user_torque() * h;
        let fastest = speed.abs().max_element().max(spin.abs().max_element());
        if fastest < 1.0e100 {
            return Ok(());
        }
        let thing = format!("load on body `{}`", self.name_of(handle));
        Err(SimulatorError::failed(thing, format!("a speed of {fastest:e} m/s"), "below 1e100 m/s"))
    }

    fn take_loads_off(&mut self, kept: Vec<Kept>) {
        for kept in kept {
            let body = &mut self.state.bodies[kept.body];
            body.reset_forces(false);
            body.reset_torques(false);
            body.add_force(kept.force, false);
            body.add_torque(kept.torque, false);
            let activation = body.activation_mut();
            (activation.normalized_linear_threshold, activation.angular_threshold) = kept.sleeps_below;
        }
    }

    /// Rapier puts what is not finite out of action, and goes on.
    fn check_quarantine(&self) -> Result<(), SimulatorError> {
        let quarantine = self.pipeline.quarantine();
        let body = quarantine.bodies().first().copied();
        let collider = || quarantine.colliders().first().and_then(|c| self.state.colliders.get(*c)?.parent());
        match body.or_else(collider) {
            Some(body) => {
                let thing = format!("body `{}`", self.name_of(body));
                Err(SimulatorError::failed(thing, "a number that is not finite", "a finite pose, velocity and shape"))
            }
            None if quarantine.colliders().is_empty() => Ok(()),
            None => Err(SimulatorError::failed("a collider", "a number that is not finite", "finite numbers")),
        }
    }

    /// Tells of bodies that rapier slowed down: to the top speed, or to an eighth of a turn a step
    /// where a user's world does not allow more (ours do).
    fn check_speeds(&mut self, h: f64, report: &mut StepReport) -> Result<(), SimulatorError> {
        let top = self.integration.max_linear_velocity();
        let top_spin = std::f64::consts::FRAC_PI_4 / h;
        for member in &self.members {
            let body = &self.state.bodies[member.body];
            if !body.is_dynamic() {
                continue;
            }
            let (speed, spin) = (body.linvel().length(), body.angvel().length());
            if !(speed + spin).is_finite() || !body.position().is_finite() {
                let thing = format!("body `{}`", member.name);
                return Err(SimulatorError::failed(thing, "a number that is not finite", "finite pose and velocity"));
            }
            let mut slowed = |what: &str, top: f64| {
                let subject = format!("`{}`", member.name);
                report.note(Note::about(subject, format!("slowed down to the top {what} of {top}")));
                self.state.external = None;
            };
            if speed >= top * (1.0 - 1.0e-9) {
                slowed("speed [m/s]", top);
            }
            if spin >= top_spin * (1.0 - 1.0e-9) && !body.is_fast_rotation_allowed() {
                slowed("spin [rad/s]", top_spin);
            }
        }
        Ok(())
    }

    fn take_in_what_is_new(&mut self) {
        if std::mem::take(&mut self.unsettled) {
            let mut state = std::mem::replace(&mut self.state, crate::state::State::new());
            let mut pipeline = std::mem::take(&mut self.pipeline);
            self.settle(&mut state, &mut pipeline);
            (self.state, self.pipeline) = (state, pipeline);
            self.measure_extents();
        }
    }

    /// What undoes the step to come, with a new copy of the state where the last one is old.
    fn take_undo(&mut self) -> Undo {
        match self.undo.take() {
            Some(undo) if undo.steps.len() < STEPS_BETWEEN_COPIES => undo,
            old => Undo::starting(self.snapshot_now(old.map(|undo| undo.from))),
        }
    }

    /// Back to the copy of the state, and again through the steps since, which give the same bits.
    fn undo_failed_step(&mut self, undo: &mut Undo) {
        self.restore(&undo.from).expect("a snapshot of the same layout");
        for TakenStep { dt, inputs, poses } in &mut undo.steps {
            self.advance(*dt, inputs, poses).expect("a repeated step gives the same bits");
        }
    }

    /// The state of `to`, with fresh memory to work in: rapier's pipeline remembers by epochs that
    /// start again with the state.
    pub(crate) fn restore(&mut self, to: &Snapshot) -> Result<(), SimulatorError> {
        self.state = to.get::<crate::state::State>(self.of())?.clone();
        self.pipeline = PhysicsPipeline::new();
        if std::mem::take(&mut self.unsettled) {
            self.measure_extents();
        }
        Ok(())
    }

    pub(crate) fn name_of(&self, body: RigidBodyHandle) -> &str {
        let member = self.members.iter().find(|member| member.body == body);
        member.map_or("(a carrier)", |member| &member.name)
    }

    /// The name of a body, of the surface that it stands in for, or of the world where a collider has no body.
    pub(crate) fn name_in_report(&self, body: Option<RigidBodyHandle>) -> &str {
        let Some(body) = body else { return "world" };
        let guide = self.stand_ins.iter().position(|stand_in| stand_in.body == body).map(|number| &self.guides[number]);
        match guide {
            Some(Guide::Obstacle { surface, .. }) => &surface.name,
            _ => self.name_of(body),
        }
    }
}

fn as_failure(error: SimulatorError) -> SimulatorError {
    match error {
        SimulatorError::Refused { thing, found, expected } => SimulatorError::Failed { thing, found, expected },
        failed => failed,
    }
}

/// Momentum that gravity gives a body in time `h`, and its moment about the origin.
pub(crate) fn gravity_on(body: &RigidBody, gravity: [f64; 3], h: f64) -> (Vector3<f64>, Vector3<f64>) {
    let impulse = Vector3::from(gravity) * (body.mass() * body.gravity_scale() * h);
    (impulse, vector(centre_of(body)).cross(&impulse))
}
