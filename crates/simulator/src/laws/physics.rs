//! Laws of physics: loads are impulses, momentum is accounted for, attachments are kept.

use nalgebra::Vector3;

use super::{
    Broken, Suite,
    scenario::{STEPS, SWING, Scenario, read, variants},
};
use crate::{
    Carrier, Guide, HandleId, Inputs, Kind, Ledger, Precision, Reaction, Simulator, StepReport, Wrench,
    path::quaternion,
};

const IMPULSE: &str = "5 (loads are impulses)";
const MOBILITY: &str = "10 (stated mobility is what an impulse does)";
const FOLLOW: &str = "8 (a follower keeps attachments, momentum is accounted for)";

/// Rounding of an orientation [-].
const ROUNDING: f64 = 1e-9;

/// `free` with load F, or with impulse F dt, minus `free` without gains F dt of momentum, and r × F dt
/// of angular momentum, to |Δr| |F| dt: the load moves with its handle.
///
/// # Errors
/// Names the handle and the two impulses.
pub fn law_5(suite: &Suite) -> Result<(), Broken> {
    suite.check()?;
    let handles: Vec<_> = (suite.free)().handles().iter().take(4).collect();
    if handles.is_empty() {
        return Err(Broken::new(IMPULSE, 0, "`free` has no handles, so nothing can be loaded"));
    }
    for (j, &handle) in handles.iter().enumerate() {
        let (mut pushed, mut left) = ((suite.free)(), (suite.free)());
        let kind = pushed.handles().kind(handle).map_err(|error| Broken::new(IMPULSE, 0, error))?;
        let (force, torque) = push(suite, kind);
        let wrench = Wrench { linear: force.into(), angular: torque.into() };
        // By turns as a load and as an impulse of the same size.
        for k in 0..4 {
            let inputs = match k % 2 {
                0 => Inputs { loads: vec![(handle, wrench)], ..Inputs::default() },
                _ => Inputs { impulses: vec![(handle, wrench.scaled(suite.dt))], ..Inputs::default() },
            };
            let mark = left.snapshot(None);
            pushed.retract(&mark).map_err(|error| Broken::new(IMPULSE, k, error))?;
            let r = Vector3::from(read(&*pushed, &[handle])[0].position);
            step(&mut *pushed, suite.dt, &inputs, k)?;
            step(&mut *left, suite.dt, Inputs::NONE, k)?;

            let (with, without) = (known(&*pushed)?, known(&*left)?);
            let gained = Vector3::from(with.momentum) - Vector3::from(without.momentum);
            let rounding = with.precision.rounding();
            let allowed = rounding * (force.norm() * suite.dt + Vector3::from(without.momentum).norm());
            if allowed > 0.01 * force.norm() * suite.dt {
                let found = format!("`load` = {} N is lost beside {:?} N s of `free`", suite.load, without.momentum);
                return Err(Broken::new(IMPULSE, k, found));
            }
            if !within(gained - suite.dt * force, allowed) {
                let found = format!("handle {j}: {force:?} N over {} s gave {gained:?} N s", suite.dt);
                return Err(Broken::new(IMPULSE, k, found));
            }

            let turned = Vector3::from(with.angular_momentum) - Vector3::from(without.angular_momentum);
            let expected = suite.dt * (r.cross(&force) + torque);
            let moved = (Vector3::from(read(&*pushed, &[handle])[0].position) - r).norm();
            let allowed = moved * force.norm() * suite.dt
                + rounding * (expected.norm() + Vector3::from(without.angular_momentum).norm());
            if !within(turned - expected, allowed) {
                let found = format!("handle {j}: gained {turned:?} N m s, expected {expected:?} to {allowed:e}");
                return Err(Broken::new(IMPULSE, k, found));
            }
        }
    }
    Ok(())
}

/// Stated mobilities of the first handles of `free` agree with the changes of velocity by an impulse along, and a torque impulse
/// about, each axis in one step. The tolerance of a hundredth is for forces that depend on velocities and answer within the step.
/// Handles without a stated mobility are skipped.
///
/// # Errors
/// Names the handle, the axis and the two velocities.
pub fn law_10(suite: &Suite) -> Result<(), Broken> {
    suite.check()?;
    let mut simulator = (suite.free)();
    let handles: Vec<_> = simulator.handles().iter().take(4).collect();
    let start = simulator.snapshot(None);
    for (j, &handle) in handles.iter().enumerate() {
        let Some(mobility) = simulator.mobility(handle) else { continue };
        let kind = simulator.handles().kind(handle).map_err(|error| Broken::new(MOBILITY, 0, error))?;
        let mut velocities = |inputs: &Inputs| -> Result<[Vector3<f64>; 2], Broken> {
            simulator.retract(&start).map_err(|error| Broken::new(MOBILITY, 0, error))?;
            step(&mut *simulator, suite.dt, inputs, 0)?;
            let state = read(&*simulator, &[handle])[0];
            Ok([state.velocity.into(), state.spin.into()])
        };
        let left = velocities(Inputs::NONE)?;
        let size = suite.load * suite.dt;
        for axis in 0..if kind == Kind::Frame { 6 } else { 3 } {
            let unit = |first: usize| Vector3::from_fn(|k, _| if first + k == axis { size } else { 0.0 });
            let (impulse, torque) = (unit(0), unit(3));
            let wrench = Wrench { linear: impulse.into(), angular: torque.into() };
            let pushed = velocities(&Inputs { impulses: vec![(handle, wrench)], ..Inputs::default() })?;
            let stated = mobility.change(impulse, torque);
            for (what, k) in [("velocity", 0), ("spin", 1)] {
                let changed = pushed[k] - left[k];
                let rounding = Precision::Double.rounding() * (left[k].norm() + stated[k].norm());
                if !within(changed - stated[k], 0.01 * stated[k].norm() + rounding) {
                    let found =
                        format!("handle {j}, axis {axis}: {what} changed by {changed:?}, stated is {:?}", stated[k]);
                    return Err(Broken::new(MOBILITY, 0, found));
                }
            }
        }
    }
    Ok(())
}

/// Force and torque on a handle of `kind` of `free`.
pub(super) fn push(suite: &Suite, kind: Kind) -> (Vector3<f64>, Vector3<f64>) {
    let torque = if kind == Kind::Frame { Vector3::new(-0.2, 0.1, 0.4) } else { Vector3::zeros() };
    (Vector3::new(0.3, -0.8, 0.5) * suite.load, torque * suite.load)
}

/// One step of `free`.
pub(super) fn step(simulator: &mut dyn Simulator, dt: f64, inputs: &Inputs, k: usize) -> Result<(), Broken> {
    simulator.step(dt, inputs).map(|_| ()).map_err(|error| Broken::new(IMPULSE, k, format!("`free`: {error}")))
}

/// The ledger of `free`.
pub(super) fn known(simulator: &dyn Simulator) -> Result<Ledger, Broken> {
    simulator.ledger().ok_or_else(|| Broken::new(IMPULSE, 0, "`free` has no ledger, so its momentum is not known"))
}

/// Whether `error` is at most `allowed`; NaN is not.
fn within(error: Vector3<f64>, allowed: f64) -> bool {
    error.norm() <= allowed
}

/// An attached handle ends each step within the stated tolerance of its carrier, in velocity too
/// where that is zero; what a guide takes is reported, on carriers that exist, and a guide without
/// motion does not act; and Δp = Σ load dt + Δexternal − Σ reactions where the ledger knows `external`,
/// in each step to rounding, and likewise for angular momentum over the trace, to a tenth of the
/// simulator's size as lever arm.
///
/// Everything that the simulator says it follows is tried, a Frame as well as a Point, a deforming
/// box as well as a rigid one. The box must be met, so the lowest part of the scene has to be loose.
///
/// # Errors
/// Names the step and the gap, the reaction, or the two sides of a balance.
pub fn law_8(suite: &Suite) -> Result<(), Broken> {
    for i in 0..variants(&*(suite.make)()).len() {
        let mut scenario = Scenario::variant(suite, i)?;
        followed(suite, &mut scenario)?;
        let_go(suite, &mut scenario)?;
    }
    Ok(())
}

/// The whole trace, with all guides in motion.
fn followed(suite: &Suite, scenario: &mut Scenario) -> Result<(), Broken> {
    let tolerance = scenario.simulator.follows().tolerance;
    let swing = SWING * scenario.size;
    if !scenario.guides.is_empty() && !(0.0..swing).contains(&tolerance) {
        let found = format!("a tolerance of {tolerance:e} m says nothing of a Point that swings by {swing:e} m");
        return Err(Broken::new(FOLLOW, 0, found));
    }
    let mut taken = vec![0.0; scenario.guides.len()];
    let mut turned = Turned::default();
    for k in 0..STEPS {
        let inputs = scenario.inputs(k);
        let before = scenario.simulator.ledger();
        let places = places(scenario, &inputs);
        let seen = scenario.step_with(k, &inputs)?;
        for (guide, motion) in scenario.guides.iter().zip(inputs.motions.iter().flatten()) {
            if let Guide::Attachment { own } = guide {
                kept(scenario, k, *own, &motion.end[0], tolerance)?;
            }
        }
        sound(k, scenario, &inputs, &seen.report.reactions)?;
        sound(k, scenario, &inputs, &seen.report.impacts)?;
        sound(k, scenario, &inputs, &seen.report.holding)?;
        let StepReport { reactions, impacts, holding, .. } = &seen.report;
        let reactions: &Vec<_> = &reactions.iter().chain(impacts).chain(holding).copied().collect();
        reactions.iter().for_each(|r| taken[r.guide as usize] += Vector3::from(r.impulse.linear).norm());
        balance(suite, k, &inputs, before, scenario.simulator.ledger(), reactions)?;
        turned.book(suite.dt, &inputs, &places, before, scenario.simulator.ledger(), reactions);
    }
    turned.balance(scenario.size)?;
    let Some(i) = taken.iter().position(|impulse| *impulse == 0.0) else { return Ok(()) };
    let found = match scenario.guides[i] {
        Guide::Attachment { .. } => format!("guide {i} held a handle on a swing and no reaction was reported"),
        Guide::Obstacle { .. } => format!(
            "guide {i}, a box pushed up from below by a tenth of the simulator's size, met nothing: no reaction was \
             reported. Are obstacles met, and is what lies lowest in the suite's scene loose?"
        ),
    };
    Err(Broken::new(FOLLOW, STEPS - 1, found))
}

/// Steps without motions: no guide acts, whether they are `None` or left out.
fn let_go(suite: &Suite, scenario: &mut Scenario) -> Result<(), Broken> {
    for k in STEPS..STEPS + 4 {
        let left_out = Inputs { motions: Vec::new(), ..scenario.inputs(k) };
        let none = Inputs { motions: vec![None; scenario.guides.len()], ..left_out.clone() };
        let (mark, before) = (scenario.simulator.snapshot(None), scenario.simulator.ledger());
        let first = scenario.step_with(k, &none)?;
        scenario.simulator.retract(&mark).map_err(|error| Broken::new(FOLLOW, k, error))?;
        let second = scenario.step_with(k, &left_out)?;
        if let Some(field) = first.difference(&second) {
            let found = format!("guides without motion: {field} where motions are left out");
            return Err(Broken::new(FOLLOW, k, found));
        }
        sound(k, scenario, &none, &first.report.reactions)?;
        sound(k, scenario, &none, &first.report.impacts)?;
        sound(k, scenario, &none, &first.report.holding)?;
        balance(suite, k, &none, before, scenario.simulator.ledger(), &first.report.reactions)?;
    }
    Ok(())
}

/// Whether `own` ended the step where its carrier did; a turn is judged at the simulator's size.
fn kept(
    scenario: &Scenario,
    k: usize,
    own: HandleId,
    carrier: &crate::HandleState,
    tolerance: f64,
) -> Result<(), Broken> {
    let own = read(&*scenario.simulator, &[own])[0];
    let gap = Vector3::from(own.position) - Vector3::from(carrier.position);
    let slip = Vector3::from(own.velocity) - Vector3::from(carrier.velocity);
    let turn = (quaternion(&own) * quaternion(carrier).inverse()).scaled_axis() * scenario.size;
    let velocity_kept = tolerance > 0.0 || within(slip, 0.0);
    if within(gap, tolerance) && within(turn, tolerance.max(ROUNDING * scenario.size)) && velocity_kept {
        return Ok(());
    }
    let (gap, slip, turn) = (gap.norm(), slip.norm(), turn.norm());
    let found = format!(
        "the held handle is {gap:e} m and {slip:e} m/s off its carrier (turned by {turn:e} m at the \
         simulator's size), tolerance {tolerance:e} m"
    );
    Err(Broken::new(FOLLOW, k, found))
}

/// Reactions are on carriers that exist, of guides that act, sorted, and without torque on a Point.
fn sound(k: usize, scenario: &Scenario, inputs: &Inputs, reactions: &[Reaction]) -> Result<(), Broken> {
    for (i, reaction) in reactions.iter().enumerate() {
        let number = reaction.guide as usize;
        let trouble = match scenario.guides.get(number) {
            None => Some("is of a guide that does not exist"),
            Some(_) if !matches!(inputs.motions.get(number), Some(Some(_))) => Some("is of a guide without motion"),
            Some(guide) if reaction.carrier as usize >= guide.carriers() => Some("is on a carrier that does not exist"),
            Some(guide) if carried_by_points(scenario, guide) && reaction.impulse.angular != [0.0; 3] => {
                Some("has a torque on a Point")
            }
            Some(_) if i > 0 && key(&reactions[i - 1]) > key(reaction) => Some("is not in order"),
            Some(_) => None,
        };
        if let Some(trouble) = trouble {
            return Err(Broken::new(FOLLOW, k, format!("reaction {i} {trouble}: {reaction:?}")));
        }
    }
    Ok(())
}

fn carried_by_points(scenario: &Scenario, guide: &Guide) -> bool {
    match guide {
        Guide::Attachment { own } => scenario.simulator.handles().kind(*own) == Ok(Kind::Point),
        Guide::Obstacle { surface, .. } => matches!(surface.carrier, Carrier::Points(_)),
    }
}

fn key(reaction: &Reaction) -> (u32, u32) {
    (reaction.guide, reaction.carrier)
}

/// Impulses of loads over a step, and those that act at its start `[N s, N m s]`, each with its handle.
fn from_loads(dt: f64, inputs: &Inputs) -> impl Iterator<Item = (HandleId, Wrench)> + '_ {
    let loads = inputs.loads.iter().map(move |(handle, load)| (*handle, load.scaled(dt)));
    loads.chain(inputs.impulses.iter().copied())
}

/// Δp = Σ load dt + Δexternal − Σ reactions, where both ledgers know `external`.
fn balance(
    suite: &Suite,
    k: usize,
    inputs: &Inputs,
    before: Option<Ledger>,
    after: Option<Ledger>,
    reactions: &[Reaction],
) -> Result<(), Broken> {
    let (Some(before), Some(after)) = (before, after) else { return Ok(()) };
    let (Some(earlier), Some(external)) = (before.external, after.external) else { return Ok(()) };
    let loads: Vector3<f64> = from_loads(suite.dt, inputs).map(|(_, wrench)| Vector3::from(wrench.linear)).sum();
    let given: Vector3<f64> = reactions.iter().map(|reaction| Vector3::from(reaction.impulse.linear)).sum();
    let from_outside = Vector3::from(external.linear) - Vector3::from(earlier.linear);
    let gained = Vector3::from(after.momentum) - Vector3::from(before.momentum);
    let expected = loads + from_outside - given;
    let summed = [loads, given, Vector3::from(external.linear), Vector3::from(after.momentum)];
    let scale = summed.iter().map(|x| x.norm()).fold(0.0, f64::max);
    if !within(gained - expected, after.precision.rounding() * scale) {
        let found = format!("momentum grew by {gained:?}, loads + external − reactions are {expected:?} N s");
        return Err(Broken::new(FOLLOW, k, found));
    }
    Ok(())
}

/// Where the loaded handles are `[m]`.
fn places(scenario: &Scenario, inputs: &Inputs) -> Vec<Vector3<f64>> {
    let handles: Vec<_> = from_loads(0.0, inputs).map(|(handle, _)| handle).collect();
    read(&*scenario.simulator, &handles).iter().map(|state| Vector3::from(state.position)).collect()
}

/// Angular momentum about the origin over a trace `[N m s]`.
#[derive(Default)]
struct Turned {
    gained: Vector3<f64>,
    expected: Vector3<f64>,
    /// Of all loads and reactions `[N s]`.
    impulses: f64,
}

impl Turned {
    /// Adds a step: ΔL = Σ (r × F + τ) dt + Δexternal − Σ (c × J + T), c in the middle of the carrier's path.
    fn book(
        &mut self,
        dt: f64,
        inputs: &Inputs,
        places: &[Vector3<f64>],
        before: Option<Ledger>,
        after: Option<Ledger>,
        reactions: &[Reaction],
    ) {
        let (Some(before), Some(after)) = (before, after) else { return };
        let (Some(earlier), Some(external)) = (before.external, after.external) else { return };
        self.gained += Vector3::from(after.angular_momentum) - Vector3::from(before.angular_momentum);
        self.expected += Vector3::from(external.angular) - Vector3::from(earlier.angular);
        for ((_, wrench), place) in from_loads(dt, inputs).zip(places) {
            self.add(*place, wrench);
        }
        for reaction in reactions {
            let Some(Some(motion)) = inputs.motions.get(reaction.guide as usize) else { continue };
            let [begin, end] = [&motion.begin, &motion.end].map(|states| states[reaction.carrier as usize].position);
            self.add(0.5 * (Vector3::from(begin) + Vector3::from(end)), -reaction.impulse);
        }
    }

    fn add(&mut self, at: Vector3<f64>, impulse: Wrench) {
        let linear = Vector3::from(impulse.linear);
        self.expected += at.cross(&linear) + Vector3::from(impulse.angular);
        self.impulses += linear.norm();
    }

    /// To a tenth of the simulator's size as lever arm of all impulses: positions that are corrected,
    /// handles and carriers that move within a step take much less of it, a torque about another place
    /// than the carrier or of the wrong sign takes more.
    fn balance(&self, size: f64) -> Result<(), Broken> {
        let allowed = 0.1 * size * self.impulses;
        if within(self.gained - self.expected, allowed) {
            return Ok(());
        }
        let Self { gained, expected, .. } = self;
        let found = format!(
            "over the trace angular momentum grew by {gained:?}, loads + external − reactions are {expected:?} \
             to {allowed:e} N m s"
        );
        Err(Broken::new(FOLLOW, STEPS - 1, found))
    }
}
