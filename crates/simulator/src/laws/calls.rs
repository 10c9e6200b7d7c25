//! Laws of calls: what is refused, what fails, what acts once.

use std::sync::Arc;

use nalgebra::Vector3;

use super::{
    Broken, Suite,
    physics::{push, step},
    rising_box::rising_box,
    scenario::{STEPS, Scenario, Seen},
};
use crate::{
    Guide, HandleId, HandleState, HandleTable, Identity, Inputs, Kind, Motion, Simulator, SimulatorError, Snapshot,
    Surface, Wrench,
};

const REFUSED: &str = "3 (a refused or failed call changes nothing)";
const ONCE: &str = "4 (loads act once)";
const FINITE: &str = "7 (non-finite values never leave a step)";

/// A bad argument is refused with an error that names thing, value and expectation, and nothing has
/// changed: neither the state nor, in hidden places, the steps that follow.
///
/// # Errors
/// Names the call that was accepted, or the field that it changed.
pub fn law_3(suite: &Suite) -> Result<(), Broken> {
    for start in [0, STEPS / 2] {
        let mut scenario = Scenario::new(suite)?;
        let mut untouched = Scenario::new(suite)?;
        for k in 0..start {
            scenario.step(k)?;
            untouched.step(k)?;
        }
        refused_steps(suite, &mut scenario, start)?;
        refused_snapshots(suite, &mut scenario, start)?;
        for k in start..start + 3 {
            if let Some(field) = scenario.step(k)?.difference(&untouched.step(k)?) {
                let found = format!("after refused calls: {field} in a simulator that never refused one");
                return Err(Broken::new(REFUSED, k, found));
            }
        }
    }
    refused_guides(suite)
}

fn refused_steps(suite: &Suite, scenario: &mut Scenario, k: usize) -> Result<(), Broken> {
    let before = scenario.simulator.snapshot(None);
    for (what, dt, inputs) in bad_steps(scenario, suite.dt, k) {
        let result = scenario.simulator.step(dt, &inputs).map(|_| ());
        unchanged(&*scenario.simulator, &before, k, &what, result)?;
    }
    for (what, handles, places) in bad_readings(scenario) {
        let result = scenario.simulator.read(&handles, &mut vec![Default::default(); places]);
        unchanged(&*scenario.simulator, &before, k, what, result)?;
    }
    Ok(())
}

/// Snapshots of others, and bytes that are cut, too long or changed.
fn refused_snapshots(suite: &Suite, scenario: &mut Scenario, k: usize) -> Result<(), Broken> {
    let before = scenario.simulator.snapshot(None);
    let other = (suite.free)();
    let mut foreign = vec![Snapshot::new(Identity { owner: 1, layout: 1 }, 0.0, 7_u32)];
    if other.handles().owner() != scenario.simulator.handles().owner() {
        foreign.push(other.snapshot(None));
    }
    for snapshot in foreign {
        let result = scenario.simulator.retract(&snapshot);
        unchanged(&*scenario.simulator, &before, k, "a foreign snapshot", result)?;
    }

    let bytes = before.to_bytes();
    let places = || (0..bytes.len()).step_by(bytes.len().div_ceil(64).max(1));
    let cut = places().map(|n| (format!("a snapshot cut to {n} of {} bytes", bytes.len()), bytes[..n].to_vec()));
    let longer = [("a snapshot with one byte too many".to_string(), [&bytes[..], &[0]].concat())];
    for (what, bytes) in cut.chain(longer) {
        let result = scenario.simulator.snapshot_from_bytes(&bytes).map(|_| ());
        unchanged(&*scenario.simulator, &before, k, &what, result)?;
    }
    for i in places() {
        let mut flipped = bytes.clone();
        flipped[i] = !flipped[i];
        let result = scenario.simulator.snapshot_from_bytes(&flipped).map(|_| ());
        unchanged(&*scenario.simulator, &before, k, &format!("a snapshot with bits flipped in byte {i}"), result)?;
    }
    Ok(())
}

/// Guides that a fresh simulator refuses; and once it has taken some, more of them are refused, and
/// so is a mark from before, since its layout is another.
fn refused_guides(suite: &Suite) -> Result<(), Broken> {
    let mut simulator = (suite.make)();
    let before = simulator.snapshot(None);
    for (what, guides) in bad_guides(&*simulator) {
        let result = simulator.follow(guides);
        unchanged(&*simulator, &before, 0, &what, result)?;
        if let Err(error) = simulator.retract(&before) {
            return Err(Broken::new(REFUSED, 0, format!("{what} changed the layout: {error}")));
        }
    }
    let mut scenario = Scenario::new(suite)?;
    if scenario.guides.is_empty() {
        return Ok(());
    }
    let with_guides = scenario.simulator.snapshot(None);
    let again = scenario.simulator.follow(scenario.guides.clone());
    unchanged(&*scenario.simulator, &with_guides, 0, "a second list of guides", again)?;
    let result = scenario.simulator.retract(&before);
    unchanged(&*scenario.simulator, &with_guides, 0, "a snapshot from before the guides", result)
}

fn bad_guides(simulator: &dyn Simulator) -> Vec<(String, Vec<Guide>)> {
    let (table, follows) = (simulator.handles(), simulator.follows());
    let attach = |own| Guide::Attachment { own };
    let mut bad = vec![
        ("an attachment of a foreign handle".into(), vec![attach(foreign(table))]),
        ("an attachment of a handle that does not exist".into(), vec![attach(table.handle(table.len()))]),
    ];
    for (kind, can) in [(Kind::Point, follows.points), (Kind::Frame, follows.frames)] {
        if let Some(own) = table.iter().find(|&handle| !can && table.kind(handle) == Ok(kind)) {
            bad.push((format!("an attachment of a {kind:?}, which it does not follow"), vec![attach(own)]));
        }
    }
    for (deforming, can) in [(false, follows.rigid_surfaces), (true, follows.deforming_surfaces)] {
        let mut obstacle = |what: &str, friction: f64, change: &dyn Fn(&mut Surface)| {
            let (mut surface, _) = rising_box([0.0; 3], [1.0; 3], 1.0, deforming);
            change(&mut surface);
            let (surface, except) = (Arc::new(surface), Vec::new());
            let guide = Guide::Obstacle { surface, friction, restitution: 0.0, thickness: 0.0, except };
            bad.push((format!("{what} (deforming: {deforming})"), vec![guide]));
        };
        if can {
            obstacle("an obstacle with a NaN vertex", 0.0, &|surface| surface.vertices[2][1] = f64::NAN);
            obstacle("an obstacle with a corner that does not exist", 0.0, &|surface| surface.triangles[3][0] = 8);
            obstacle("an obstacle of friction −1", -1.0, &|_| ());
        } else {
            obstacle("an obstacle, which it does not follow", 0.0, &|_| ());
        }
    }
    bad
}

fn foreign(table: &HandleTable) -> HandleId {
    HandleId { owner: !table.owner(), index: 0 }
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
    let last = table.handle(table.len().wrapping_sub(1));
    let foreign = foreign(table);
    with_load("a load on a foreign handle", foreign, Wrench::ZERO);
    with_load("a load on a handle that does not exist", table.handle(table.len()), Wrench::ZERO);
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
        let mut spoil = |what: &str, change: &dyn Fn(&mut Motion)| {
            let mut inputs = good.clone();
            inputs.motions[0].iter_mut().for_each(change);
            bad.push((what.into(), dt, inputs));
        };
        let first = |states: &Arc<[HandleState]>, change: &dyn Fn(&mut HandleState)| -> Arc<[HandleState]> {
            let mut states = states.to_vec();
            change(&mut states[0]);
            states.into()
        };
        spoil("a NaN at the end of a motion", &|m| m.end = first(&m.end, &|state| state.position[1] = f64::NAN));
        spoil("a NaN at the begin of a motion", &|m| m.begin = first(&m.begin, &|state| state.velocity[2] = f64::NAN));
        spoil("an orientation that is no unit quaternion", &|m| {
            m.end = first(&m.end, &|state| state.orientation = [0.0; 4]);
        });
        spoil("a motion without carriers", &|m| m.end = [].into());
        spoil("a motion of too many carriers", &|m| m.begin = [&m.begin[..], &m.begin[..]].concat().into());
    }
    bad
}

fn bad_readings(scenario: &Scenario) -> Vec<(&'static str, Vec<HandleId>, usize)> {
    let table = scenario.simulator.handles();
    let first: Vec<_> = table.iter().take(1).collect();
    let mut bad = vec![
        ("reading a foreign handle", vec![foreign(table)], 1),
        ("reading a handle that does not exist", vec![table.handle(table.len())], 1),
        ("reading into too many places", first.clone(), 2),
    ];
    if !first.is_empty() {
        bad.push(("reading into too few places", first, 0));
    }
    bad
}

/// Fails unless `result` is an error that says something and the state is still `before`.
fn unchanged(
    simulator: &dyn Simulator,
    before: &Snapshot,
    k: usize,
    what: &str,
    result: Result<(), SimulatorError>,
) -> Result<(), Broken> {
    match result {
        Ok(()) => return Err(Broken::new(REFUSED, k, format!("{what} was accepted"))),
        Err(error) => speaks(&error).map_err(|found| Broken::new(REFUSED, k, format!("{what}: {found}")))?,
    }
    match simulator.snapshot(None).first_difference(before) {
        Some(field) => Err(Broken::new(REFUSED, k, format!("{what} changed snapshot{field} before"))),
        None => Ok(()),
    }
}

/// Whether an error fills thing, found and expected; if not, which it leaves empty.
fn speaks(error: &SimulatorError) -> Result<(), String> {
    let (SimulatorError::Refused { thing, found, expected } | SimulatorError::Failed { thing, found, expected }) =
        error;
    let fields = [("thing", thing), ("found", found), ("expected", expected)];
    match fields.iter().find(|(_, text)| text.trim().is_empty()) {
        Some((name, _)) => Err(format!("the error leaves `{name}` empty")),
        None => Ok(()),
    }
}

/// A retracted load leaves no trace, and the step after a loaded one is that of a free run from
/// there: nothing is pending, neither hidden nor, as `free` shows where its ledger is known, in the
/// state.
///
/// # Errors
/// Names the step and the first field that differs.
pub fn law_4(suite: &Suite) -> Result<(), Broken> {
    let mut scenario = Scenario::new(suite)?;
    let mut other = Scenario::new(suite)?;
    let broken = |k: usize| move |error: SimulatorError| Broken::new(ONCE, k, error);
    for k in 0..STEPS / 2 {
        let free = Inputs { loads: Vec::new(), ..scenario.inputs(k) };
        let mark = scenario.simulator.snapshot(None);
        let unloaded = scenario.step_with(k, &free)?;
        scenario.simulator.retract(&mark).map_err(broken(k))?;
        scenario.step(k)?;
        scenario.simulator.retract(&mark).map_err(broken(k))?;
        if let Some(field) = scenario.step_with(k, &free)?.difference(&unloaded) {
            return Err(Broken::new(ONCE, k, format!("after a retracted load: {field} without it")));
        }
        scenario.simulator.retract(&mark).map_err(broken(k))?;
        let loaded = scenario.step(k)?.view;

        let next = Inputs { loads: Vec::new(), ..scenario.inputs(k + 1) };
        let bytes = other.simulator.snapshot_from_bytes(&loaded.snapshot.to_bytes());
        bytes.and_then(|mark| other.simulator.retract(&mark)).map_err(broken(k))?;
        if let Some(field) = scenario.step_with(k + 1, &next)?.difference(&other.step_with(k + 1, &next)?) {
            let found = format!("after a loaded step: {field} in a simulator that never felt the load");
            return Err(Broken::new(ONCE, k + 1, found));
        }
        scenario.simulator.retract(&loaded.snapshot).map_err(broken(k))?;
    }
    nothing_is_pending(suite)
}

/// After a step with load F and one without, `free` has F dt more momentum than without either, to a
/// tenth: what acts again, or late, is off by as much as it is of the load.
fn nothing_is_pending(suite: &Suite) -> Result<(), Broken> {
    let (mut pushed, mut left) = ((suite.free)(), (suite.free)());
    let Some(handle) = pushed.handles().iter().next() else { return Ok(()) };
    let (force, _) = push(suite, Kind::Point);
    let inputs = Inputs { loads: vec![(handle, Wrench::force(force))], ..Inputs::default() };
    for k in 0..3 {
        step(&mut *pushed, suite.dt, if k == 0 { &inputs } else { Inputs::NONE }, k)?;
        step(&mut *left, suite.dt, Inputs::NONE, k)?;
        let (Some(with), Some(without)) = (pushed.ledger(), left.ledger()) else { return Ok(()) };
        let gained = Vector3::from(with.momentum) - Vector3::from(without.momentum);
        let expected = suite.dt * force;
        let kept = (gained - expected).norm() <= 0.1 * expected.norm();
        if !kept {
            let found = format!("`free`, loaded once: momentum grew by {gained:?} N s, the load was {expected:?}");
            return Err(Broken::new(ONCE, k, found));
        }
    }
    Ok(())
}

/// Huge loads, huge and tiny steps either leave finite values or become an error that names the
/// culprit and changes nothing; f32 overflows at 3.4e38 N.
///
/// # Errors
/// Names the step and the value.
pub fn law_7(suite: &Suite) -> Result<(), Broken> {
    let mut scenario = Scenario::new(suite)?;
    let first = scenario.inputs(0);
    let start = scenario.simulator.snapshot(None);
    let ordinary = scenario.step(0)?;
    for (what, size, dt) in [
        ("a load of 1e39 N", 1e39, suite.dt),
        ("a load of 1e300 N", 1e300, suite.dt),
        ("a load of 1e200 N over 1e3 s", 1e200, 1e3),
        ("a step of 1e-300 s", 1.0, 1e-300),
    ] {
        scenario.simulator.retract(&start).map_err(|error| Broken::new(FINITE, 0, error))?;
        for k in 0..4 {
            let mut inputs = first.clone();
            inputs.motions.fill(None);
            inputs.loads.iter_mut().for_each(|(_, wrench)| *wrench = wrench.scaled(size / suite.load));
            let before = scenario.view(None);
            match scenario.simulator.step(dt, &inputs) {
                Err(error) => {
                    speaks(&error).map_err(|found| Broken::new(FINITE, k, format!("{what}: {found}")))?;
                    if let Some(field) = scenario.view(None).difference(&before) {
                        let found = format!("{what} failed and changed {field} before");
                        return Err(Broken::new(REFUSED, k, found));
                    }
                }
                Ok(report) => {
                    let seen = Seen { view: scenario.view(None), report };
                    if let Some(found) = seen.not_finite() {
                        return Err(Broken::new(FINITE, k, format!("{what}: {found}")));
                    }
                }
            }
        }
        scenario.simulator.retract(&start).map_err(|error| Broken::new(FINITE, 0, error))?;
        if let Some(field) = scenario.step(0)?.difference(&ordinary) {
            let found = format!("after {what} and back: {field} in a run without it");
            return Err(Broken::new(FINITE, 0, found));
        }
    }
    Ok(())
}
