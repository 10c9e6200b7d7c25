//! Laws of states: retract, repetition, reading.

use std::process::Command;

use super::{
    Broken, Suite,
    scenario::{STEPS, Scenario, Seen, read},
};
use crate::{StepReport, layout_of};

const RETRACT: &str = "1 (retract restores every bit)";
const REPEAT: &str = "2 (a repeated step gives the same bits)";
const READ: &str = "6 (reading changes nothing, time advances by dt)";

/// Fails where `now` is not, to the last bit, what the trace saw at step `k`.
fn same(law: &'static str, how: &str, k: usize, now: &Seen, trace: &[Seen]) -> Result<(), Broken> {
    match now.difference(&trace[k]) {
        Some(field) => Err(Broken::new(law, k, format!("{how}: {field} in the run that never left"))),
        None => Ok(()),
    }
}

/// After any number of steps, `retract`: every later snapshot, reading and report is identical, to
/// the last bit, to that of a run that never left.
///
/// # Errors
/// Names the step and the first field that differs.
pub fn law_1(suite: &Suite) -> Result<(), Broken> {
    let trace = Scenario::trace(suite)?;
    far_and_back(suite, &trace)?;
    before_each_step(suite, &trace)?;
    again_and_again(suite, &trace)?;
    through_bytes(suite, &trace)
}

/// Marks, `away` steps and back, from free flight and from contact, then on to the end.
fn far_and_back(suite: &Suite, trace: &[Seen]) -> Result<(), Broken> {
    for (start, away) in [(0, 60), (9, 1), (9, 7), (9, 60), (30, 7), (30, 40)] {
        let mut scenario = Scenario::new(suite)?;
        for k in 0..start {
            scenario.step(k)?;
        }
        let mark = scenario.simulator.snapshot(None);
        for k in start..(start + away).min(STEPS) {
            scenario.step(k)?;
        }
        retract(&mut scenario, &mark, start)?;
        let how = format!("after {away} steps and back to step {start}");
        for k in start..STEPS {
            same(RETRACT, &how, k, &scenario.step(k)?, trace)?;
        }
    }
    Ok(())
}

/// A trial step with other inputs before each step: trials leave no trace.
fn before_each_step(suite: &Suite, trace: &[Seen]) -> Result<(), Broken> {
    let mut scenario = Scenario::new(suite)?;
    let mut kept = None;
    for k in 0..STEPS {
        let mark = scenario.simulator.snapshot(kept.take());
        let trial = scenario.inputs(STEPS + 7 * k);
        scenario.step_with(k, &trial)?;
        retract(&mut scenario, &mark, k)?;
        same(RETRACT, "with a trial step before each step", k, &scenario.step(k)?, trace)?;
        kept = Some(mark);
    }
    Ok(())
}

/// One snapshot a hundred times, then two in turn.
fn again_and_again(suite: &Suite, trace: &[Seen]) -> Result<(), Broken> {
    let (first, second) = (STEPS / 2, STEPS / 2 + 5);
    let mut scenario = Scenario::new(suite)?;
    let mut marks = Vec::new();
    for k in 0..=second {
        if k == first || k == second {
            marks.push(scenario.simulator.snapshot(None));
        }
        scenario.step(k)?;
    }
    for _ in 0..100 {
        retract(&mut scenario, &marks[0], first)?;
        same(RETRACT, "to one snapshot a hundred times", first, &scenario.step(first)?, trace)?;
    }
    for _ in 0..5 {
        for (k, mark) in [(first, &marks[0]), (second, &marks[1])] {
            retract(&mut scenario, mark, k)?;
            same(RETRACT, "to two snapshots in turn", k, &scenario.step(k)?, trace)?;
        }
    }
    Ok(())
}

/// A fresh simulator that is given the bytes of a mark goes on as the first one did.
fn through_bytes(suite: &Suite, trace: &[Seen]) -> Result<(), Broken> {
    for start in [1, STEPS / 3, 2 * STEPS / 3] {
        let mut scenario = Scenario::new(suite)?;
        let saved = &trace[start - 1].snapshot;
        let mark = scenario.simulator.snapshot_from_bytes(saved.time(), &saved.to_bytes());
        let mark = mark.map_err(|error| Broken::new(RETRACT, start, error))?;
        retract(&mut scenario, &mark, start)?;
        for k in start..STEPS {
            same(RETRACT, &format!("through the bytes of step {start}"), k, &scenario.step(k)?, trace)?;
        }
    }
    Ok(())
}

/// Retracts, and sees that the state is the mark's again.
fn retract(scenario: &mut Scenario, mark: &crate::Snapshot, k: usize) -> Result<(), Broken> {
    scenario.simulator.retract(mark).map_err(|error| Broken::new(RETRACT, k, error))?;
    match scenario.simulator.snapshot(None).first_difference(mark) {
        Some(field) => Err(Broken::new(RETRACT, k, format!("right after: snapshot{field} in the mark"))),
        None => Ok(()),
    }
}

/// Set for the processes that law 2 starts.
const CHILD: &str = "PARTITA_LAW_CHILD";

/// Two runs give the same bits, here and in fresh processes with 1, 2, 3 and 7 threads (of rayon's
/// pool). `test` is the path of the calling test, which is run again in those processes.
///
/// # Errors
/// Names the step and the first field that differs, or the process.
pub fn law_2(suite: &Suite, test: &str) -> Result<(), Broken> {
    let trace = Scenario::trace(suite)?;
    let hash = layout_of(&trace.iter().map(Seen::hash).collect::<Vec<_>>());
    if std::env::var_os(CHILD).is_some() {
        println!("\nhash {hash:016x}");
        return Ok(());
    }
    let again = Scenario::trace(suite)?;
    for (k, seen) in again.iter().enumerate() {
        same(REPEAT, "in a second run", k, seen, &trace)?;
    }
    let program = std::env::current_exe().map_err(|error| Broken::new(REPEAT, 0, error))?;
    let name = test.split_once("::").map_or(test, |(_, within_crate)| within_crate);
    for threads in ["1", "2", "3", "7"] {
        let mut child = Command::new(&program);
        child.args([name, "--exact", "--nocapture"]).env(CHILD, "1").env("RAYON_NUM_THREADS", threads);
        let output = child.output().map_err(|error| Broken::new(REPEAT, 0, error))?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !text.contains(&format!("hash {hash:016x}")) {
            return Err(Broken::new(
                REPEAT,
                STEPS,
                format!("in a fresh process with {threads} threads: not hash {hash:016x} but\n{text}"),
            ));
        }
    }
    Ok(())
}

/// Reading handles, ledger, cloud and snapshots changes nothing; time advances by dt, to the last
/// bit where dt is a power of two.
///
/// # Errors
/// Names the step and the first field that differs.
pub fn law_6(suite: &Suite) -> Result<(), Broken> {
    let trace = Scenario::trace(suite)?;
    let mut scenario = Scenario::new(suite)?;
    let exact = suite.dt.to_bits() & ((1 << 52) - 1) == 0;
    for k in 0..STEPS {
        let handles: Vec<_> = scenario.simulator.handles().iter().collect();
        let before = scenario.simulator.snapshot(None);
        read(&*scenario.simulator, &handles);
        scenario.simulator.ledger();
        scenario.simulator.cloud(&mut Vec::new());
        before.to_bytes();
        let silent = StepReport::new(0.0);
        if let Some(field) = scenario.look(silent).snapshot.first_difference(&before) {
            return Err(Broken::new(READ, k, format!("after reading: snapshot{field} before")));
        }
        same(READ, "with readings between steps", k, &scenario.step(k)?, &trace)?;

        let (time, expected) = (scenario.simulator.time(), (k + 1) as f64 * suite.dt);
        let allowed = if exact { 0.0 } else { 1e-12 * expected };
        if (time - expected).abs() > allowed || trace[k].report.time != time {
            let found = format!("time {time:?}, report {:?}, expected {expected:?}", trace[k].report.time);
            return Err(Broken::new(READ, k, found));
        }
    }
    Ok(())
}
