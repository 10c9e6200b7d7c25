//! Laws of calls: what is refused, what fails, what acts once.

use super::{
    Broken, Suite,
    scenario::{STEPS, Scenario, read},
};
use crate::{HandleId, Inputs, Kind, SimulatorError, Snapshot, Wrench};

const REFUSED: &str = "3 (a refused or failed call changes nothing)";
const ONCE: &str = "4 (loads act once)";
const FINITE: &str = "7 (non-finite values never leave a step)";

/// A bad argument is refused with an error that names thing, value and expectation; a load too
/// large to compute with may fail the step. Either way nothing has changed.
///
/// # Errors
/// Names the call that was accepted, or the field that it changed.
pub fn law_3(suite: &Suite) -> Result<(), Broken> {
    for start in [0, STEPS / 2] {
        let mut scenario = Scenario::new(suite)?;
        for k in 0..start {
            scenario.step(k)?;
        }
        let before = scenario.simulator.snapshot(None);
        for (what, dt, inputs) in bad_steps(&scenario, suite.dt, start) {
            let result = scenario.simulator.step(dt, &inputs).map(|_| ());
            unchanged(&scenario, &before, start, &what, result)?;
        }
        for (what, handles, places) in bad_readings(&scenario) {
            let result = scenario.simulator.read(&handles, &mut vec![Default::default(); places]);
            unchanged(&scenario, &before, start, what, result)?;
        }
        let foreign = Snapshot::new((1, 1), 0.0, 7_u32);
        let result = scenario.simulator.retract(&foreign);
        unchanged(&scenario, &before, start, "a foreign snapshot", result)?;
        let bytes = before.to_bytes();
        for (what, bytes) in [
            ("no bytes", &[][..]),
            ("half of the bytes", &bytes[..bytes.len() / 2]),
            ("one byte too many", &[&bytes[..], &[0]].concat()),
        ] {
            let result = scenario.simulator.snapshot_from_bytes(0.0, bytes).map(|_| ());
            unchanged(&scenario, &before, start, what, result)?;
        }
    }
    Ok(())
}

fn bad_steps(scenario: &Scenario, dt: f64, k: usize) -> Vec<(String, f64, Inputs)> {
    let table = scenario.simulator.handles();
    let good = scenario.inputs(k);
    let mut bad: Vec<_> = [0.0, -dt, f64::NAN, f64::INFINITY].map(|dt| (format!("dt = {dt}"), dt, good.clone())).into();
    let mut with_load = |what: &str, handle, wrench| {
        let mut inputs = good.clone();
        inputs.loads.push((handle, wrench));
        bad.push((what.into(), dt, inputs));
    };
    let last = HandleId { owner: table.owner, index: table.len().wrapping_sub(1) };
    with_load("a load on a foreign handle", HandleId { owner: !table.owner, index: 0 }, Wrench::ZERO);
    with_load("a load on a handle that does not exist", HandleId { index: table.len(), ..last }, Wrench::ZERO);
    if !table.is_empty() {
        with_load("a NaN load", last, Wrench::force([0.0, f64::NAN, 0.0]));
        with_load("an infinite torque", last, Wrench::torque([f64::INFINITY, 0.0, 0.0]));
    }
    if let Some(point) = table.iter().find(|&handle| table.kind(handle) == Ok(Kind::Point)) {
        with_load("a torque on a Point", point, Wrench::torque([1.0, 0.0, 0.0]));
    }

    let mut inputs = good.clone();
    inputs.motions.push(None);
    inputs.motions.push(None);
    bad.push(("motions of guides that do not exist".into(), dt, inputs));
    if !good.motions.is_empty() {
        let mut spoil = |what: &str, change: &dyn Fn(&mut crate::HandleState)| {
            let mut inputs = good.clone();
            if let Some(motion) = inputs.motions[0].as_mut() {
                let mut end = motion.end.to_vec();
                change(&mut end[0]);
                motion.end = end.into();
            }
            bad.push((what.into(), dt, inputs));
        };
        spoil("a NaN in a motion", &|state| state.position[1] = f64::NAN);
        spoil("an orientation that is no unit quaternion", &|state| state.orientation = [0.0; 4]);
        let mut inputs = good.clone();
        if let Some(motion) = inputs.motions[0].as_mut() {
            motion.end = [].into();
        }
        bad.push(("a motion without carriers".into(), dt, inputs));
    }
    bad
}

fn bad_readings(scenario: &Scenario) -> [(&'static str, Vec<HandleId>, usize); 3] {
    let table = scenario.simulator.handles();
    [
        ("reading a foreign handle", vec![HandleId { owner: !table.owner, index: 0 }], 1),
        ("reading a handle that does not exist", vec![HandleId { owner: table.owner, index: table.len() }], 1),
        ("reading into too few places", table.iter().take(1).collect(), 0),
    ]
}

/// Fails unless `result` is an error that says something and the state is still `before`.
fn unchanged(
    scenario: &Scenario,
    before: &Snapshot,
    k: usize,
    what: &str,
    result: Result<(), SimulatorError>,
) -> Result<(), Broken> {
    let nothing_to_read = what == "reading into too few places" && scenario.simulator.handles().is_empty();
    match result {
        Ok(()) if nothing_to_read => return Ok(()),
        Ok(()) => return Err(Broken::new(REFUSED, k, format!("{what} was accepted"))),
        Err(SimulatorError::Refused { thing, found, expected })
        | Err(SimulatorError::Failed { thing, found, expected })
            if thing.is_empty() || found.is_empty() || expected.is_empty() =>
        {
            return Err(Broken::new(REFUSED, k, format!("{what}: the error leaves thing, found or expected empty")));
        }
        Err(_) => {}
    }
    match scenario.simulator.snapshot(None).first_difference(before) {
        Some(field) => Err(Broken::new(REFUSED, k, format!("{what} changed snapshot{field} before"))),
        None => Ok(()),
    }
}

/// A retracted load leaves no trace, and the step after a loaded one is that of a free run from
/// there: nothing is pending in hidden state.
///
/// # Errors
/// Names the step and the first field that differs.
pub fn law_4(suite: &Suite) -> Result<(), Broken> {
    let mut scenario = Scenario::new(suite)?;
    let mut other = Scenario::new(suite)?;
    for k in 0..STEPS / 2 {
        let free = Inputs { loads: Vec::new(), ..scenario.inputs(k) };
        let mark = scenario.simulator.snapshot(None);
        let unloaded = scenario.step_with(k, &free)?;
        scenario.simulator.retract(&mark).map_err(|error| Broken::new(ONCE, k, error))?;
        scenario.step(k)?;
        scenario.simulator.retract(&mark).map_err(|error| Broken::new(ONCE, k, error))?;
        if let Some(field) = scenario.step_with(k, &free)?.difference(&unloaded) {
            return Err(Broken::new(ONCE, k, format!("after a retracted load: {field} without it")));
        }
        scenario.simulator.retract(&mark).map_err(|error| Broken::new(ONCE, k, error))?;
        let loaded = scenario.step(k)?;

        let next = Inputs { loads: Vec::new(), ..scenario.inputs(k + 1) };
        let bytes = other.simulator.snapshot_from_bytes(loaded.snapshot.time(), &loaded.snapshot.to_bytes());
        bytes.and_then(|mark| other.simulator.retract(&mark)).map_err(|error| Broken::new(ONCE, k, error))?;
        let after = scenario.simulator.snapshot(None);
        if let Some(field) = scenario.step_with(k + 1, &next)?.difference(&other.step_with(k + 1, &next)?) {
            return Err(Broken::new(
                ONCE,
                k + 1,
                format!("after a loaded step: {field} in a simulator that never felt the load"),
            ));
        }
        scenario.simulator.retract(&after).map_err(|error| Broken::new(ONCE, k, error))?;
    }
    Ok(())
}

/// Huge loads and steps either leave a finite state or become an error that names the culprit and
/// changes nothing.
///
/// # Errors
/// Names the step and the handle.
pub fn law_7(suite: &Suite) -> Result<(), Broken> {
    let mut scenario = Scenario::new(suite)?;
    let start = scenario.simulator.snapshot(None);
    let handles: Vec<_> = scenario.simulator.handles().iter().collect();
    for (what, size, dt) in [
        ("a load of 1e300 N", 1e300, suite.dt),
        ("a load of 1e200 N over 1e3 s", 1e200, 1e3),
        ("a step of 1e-300 s", 1.0, 1e-300),
    ] {
        for k in 0..4 {
            let mut inputs = scenario.inputs(0);
            inputs.motions.fill(None);
            inputs.loads.iter_mut().for_each(|(_, wrench)| *wrench = wrench.scaled(size / suite.load));
            let before = scenario.simulator.snapshot(None);
            match scenario.simulator.step(dt, &inputs) {
                Err(error) if error.to_string().is_empty() => {
                    return Err(Broken::new(FINITE, k, format!("{what}: the error is empty")));
                }
                Err(_) => {
                    if let Some(field) = scenario.simulator.snapshot(None).first_difference(&before) {
                        return Err(Broken::new(
                            REFUSED,
                            k,
                            format!("{what} failed and changed snapshot{field} before"),
                        ));
                    }
                }
                Ok(_) => {
                    let states = read(&*scenario.simulator, &handles);
                    if let Some(i) = states.iter().position(|state| !state.is_finite()) {
                        return Err(Broken::new(FINITE, k, format!("{what}: handle {i} is at {:?}", states[i])));
                    }
                }
            }
        }
        scenario.simulator.retract(&start).map_err(|error| Broken::new(FINITE, 0, error))?;
    }
    Ok(())
}
