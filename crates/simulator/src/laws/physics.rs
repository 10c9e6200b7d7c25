//! Laws of physics: loads are impulses, momentum is accounted for, attachments are kept.

use nalgebra::Vector3;

use super::{
    Broken, Suite,
    scenario::{STEPS, Scenario, read},
};
use crate::{Inputs, Kind, Ledger, Wrench};

const IMPULSE: &str = "5 (loads are impulses)";
const FOLLOW: &str = "8 (a follower keeps attachments, momentum is accounted for)";

/// Rounding of sums over some thousands of things in f64, relative to the largest that is summed.
const ROUNDING: f64 = 1e-9;

/// `free` with load F minus `free` without gains F dt of momentum, and r × F dt of angular
/// momentum, to |Δr| |F| dt: the load moves with its handle.
///
/// # Errors
/// Names the handle and the two impulses.
pub fn law_5(suite: &Suite) -> Result<(), Broken> {
    let ledger = |simulator: &dyn crate::Simulator| {
        simulator.ledger().ok_or_else(|| Broken::new(IMPULSE, 0, "`free` has no ledger, so its momentum is not known"))
    };
    let handles: Vec<_> = (suite.free)().handles().iter().take(4).collect();
    for (j, &handle) in handles.iter().enumerate() {
        let (mut pushed, mut left) = ((suite.free)(), (suite.free)());
        let kind = pushed.handles().kind(handle).map_err(|error| Broken::new(IMPULSE, 0, error))?;
        let force = Vector3::new(0.3, -0.8, 0.5) * suite.load;
        let torque = if kind == Kind::Frame { Vector3::new(-0.2, 0.1, 0.4) * suite.load } else { Vector3::zeros() };
        let wrench = Wrench { linear: force.into(), angular: torque.into() };
        for k in 0..3 {
            let mark = left.snapshot(None);
            pushed.retract(&mark).map_err(|error| Broken::new(IMPULSE, k, error))?;
            let r = Vector3::from(read(&*pushed, &[handle])[0].position);
            let step = |simulator: &mut dyn crate::Simulator, inputs: &Inputs| {
                simulator.step(suite.dt, inputs).map_err(|error| Broken::new(IMPULSE, k, error))
            };
            step(&mut *pushed, &Inputs { loads: vec![(handle, wrench)], ..Inputs::default() })?;
            step(&mut *left, Inputs::NONE)?;

            let (with, without) = (ledger(&*pushed)?, ledger(&*left)?);
            let gained = Vector3::from(with.momentum) - Vector3::from(without.momentum);
            let scale = force.norm() * suite.dt + Vector3::from(without.momentum).norm();
            if (gained - suite.dt * force).norm() > ROUNDING * scale {
                let found = format!("handle {j}: {force:?} N over {} s gave {gained:?} N s", suite.dt);
                return Err(Broken::new(IMPULSE, k, found));
            }

            let turned = Vector3::from(with.angular_momentum) - Vector3::from(without.angular_momentum);
            let expected = suite.dt * (r.cross(&force) + torque);
            let moved = (Vector3::from(read(&*pushed, &[handle])[0].position) - r).norm();
            let allowed = moved * force.norm() * suite.dt
                + ROUNDING * (expected.norm() + Vector3::from(without.angular_momentum).norm());
            if (turned - expected).norm() > allowed {
                let found = format!("handle {j}: gained {turned:?} N m s, expected {expected:?} to {allowed:e}");
                return Err(Broken::new(IMPULSE, k, found));
            }
        }
    }
    Ok(())
}

/// An attached handle ends each step within the stated tolerance of its carrier, in velocity too
/// where that is zero; and Δp = Σ load dt + Δexternal − Σ reactions where the ledger knows `external`.
///
/// # Errors
/// Names the step and the gap, or the two sides of the balance.
pub fn law_8(suite: &Suite) -> Result<(), Broken> {
    let mut scenario = Scenario::new(suite)?;
    let first_point = {
        let table = scenario.simulator.handles();
        table.iter().find(|&handle| table.kind(handle) == Ok(Kind::Point))
    };
    let follows = scenario.simulator.follows();
    for k in 0..STEPS {
        let inputs = scenario.inputs(k);
        let before = scenario.simulator.ledger();
        let seen = scenario.step_with(k, &inputs)?;
        if let (true, Some(point)) = (follows.points, first_point)
            && let Some(Some(motion)) = inputs.motions.first()
        {
            let (own, carrier) = (read(&*scenario.simulator, &[point])[0], motion.end[0]);
            let gap = (Vector3::from(own.position) - Vector3::from(carrier.position)).norm();
            let slip = (Vector3::from(own.velocity) - Vector3::from(carrier.velocity)).norm();
            if gap > follows.tolerance || (follows.tolerance == 0.0 && slip > 0.0) {
                let found = format!(
                    "the held Point is {gap:e} m and {slip:e} m/s off its carrier, tolerance {:e} m",
                    follows.tolerance
                );
                return Err(Broken::new(FOLLOW, k, found));
            }
        }
        if let (Some(before), Some(after)) = (before, scenario.simulator.ledger()) {
            balance(suite, k, &inputs, &before, &after, &seen.report.reactions)?;
        }
    }
    Ok(())
}

fn balance(
    suite: &Suite,
    k: usize,
    inputs: &Inputs,
    before: &Ledger,
    after: &Ledger,
    reactions: &[crate::Reaction],
) -> Result<(), Broken> {
    let (Some(external), Some(earlier)) = (after.external, before.external) else { return Ok(()) };
    let loads: Vector3<f64> = inputs.loads.iter().map(|(_, wrench)| suite.dt * Vector3::from(wrench.linear)).sum();
    let given: Vector3<f64> = reactions.iter().map(|reaction| Vector3::from(reaction.impulse.linear)).sum();
    let from_outside = Vector3::from(external.linear) - Vector3::from(earlier.linear);
    let gained = Vector3::from(after.momentum) - Vector3::from(before.momentum);
    let expected = loads + from_outside - given;
    let scale = [loads, given, Vector3::from(external.linear), Vector3::from(after.momentum)]
        .map(|x| x.norm())
        .into_iter()
        .fold(0.0, f64::max);
    if (gained - expected).norm() > ROUNDING * scale {
        let found = format!("momentum grew by {gained:?}, loads + external − reactions are {expected:?} N s");
        return Err(Broken::new(FOLLOW, k, found));
    }
    Ok(())
}
