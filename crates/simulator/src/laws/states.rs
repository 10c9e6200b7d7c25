//! Laws of states: retract, repetition, reading.

use std::process::Command;

use super::{
    Broken, Suite,
    scenario::{STEPS, Scenario, Seen, View},
};
use crate::Snapshot;

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
        let mark = scenario.view(None);
        for k in start..(start + away).min(STEPS) {
            scenario.step(k)?;
        }
        retract(&mut scenario, &mark.snapshot, &mark, start)?;
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
        let mark = scenario.view(kept.take());
        let trial = scenario.trial(k);
        scenario.step_with(k, &trial)?;
        retract(&mut scenario, &mark.snapshot, &mark, k)?;
        same(RETRACT, "with a trial step before each step", k, &scenario.step(k)?, trace)?;
        kept = Some(mark.snapshot);
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
            marks.push(scenario.view(None));
        }
        scenario.step(k)?;
    }
    for _ in 0..100 {
        retract(&mut scenario, &marks[0].snapshot, &marks[0], first)?;
        same(RETRACT, "to one snapshot a hundred times", first, &scenario.step(first)?, trace)?;
    }
    for _ in 0..5 {
        for (k, mark) in [(first, &marks[0]), (second, &marks[1])] {
            retract(&mut scenario, &mark.snapshot, mark, k)?;
            same(RETRACT, "to two snapshots in turn", k, &scenario.step(k)?, trace)?;
        }
    }
    Ok(())
}

/// A fresh simulator that is given the bytes of a mark goes on as the first one did.
fn through_bytes(suite: &Suite, trace: &[Seen]) -> Result<(), Broken> {
    for start in [1, STEPS / 3, 2 * STEPS / 3] {
        let mut scenario = Scenario::new(suite)?;
        let saved = &trace[start - 1].view;
        let mark = scenario.simulator.snapshot_from_bytes(&saved.snapshot.to_bytes());
        let mark = mark.map_err(|error| Broken::new(RETRACT, start, error))?;
        retract(&mut scenario, &mark, saved, start)?;
        for k in start..STEPS {
            same(RETRACT, &format!("through the bytes of step {start}"), k, &scenario.step(k)?, trace)?;
        }
    }
    Ok(())
}

/// Retracts, and sees that everything looks as it did `then`.
fn retract(scenario: &mut Scenario, mark: &Snapshot, then: &View, k: usize) -> Result<(), Broken> {
    scenario.simulator.retract(mark).map_err(|error| Broken::new(RETRACT, k, error))?;
    match scenario.view(None).difference(then) {
        Some(field) => Err(Broken::new(RETRACT, k, format!("right after retract: {field} at the mark"))),
        None => Ok(()),
    }
}

/// Set for the processes that law 2 starts: `all`, or the number of the step whose bytes are asked for.
const CHILD: &str = "PARTITA_LAW_CHILD";

/// Two runs give the same bits, here and in fresh processes with 1, 2, 3 and 7 threads (of rayon's
/// pool). `test` is the path of the calling test, which is run again in those processes.
///
/// # Errors
/// Names the step and the first field that differs, or the process.
pub fn law_2(suite: &Suite, test: &str) -> Result<(), Broken> {
    let trace = Scenario::trace(suite)?;
    if let Ok(asked) = std::env::var(CHILD) {
        answer(&asked, &trace);
        return Ok(());
    }
    let again = Scenario::trace(suite)?;
    for (k, seen) in again.iter().enumerate() {
        same(REPEAT, "in a second run", k, seen, &trace)?;
    }
    for threads in ["1", "2", "3", "7"] {
        let text = ask(test, threads, "all")?;
        let differs = |(k, seen): (usize, &Seen)| !text.contains(&line(k, seen));
        if let Some(k) = trace.iter().enumerate().position(differs) {
            let field = differing_field(suite, test, threads, k, &trace[k])?;
            let found = format!("in a fresh process with {threads} threads: {field}");
            return Err(Broken::new(REPEAT, k, found));
        }
    }
    Ok(())
}

/// What a child tells of step `k`.
fn line(k: usize, seen: &Seen) -> String {
    format!("[law 2, step {k}: {:016x}]", seen.hash())
}

/// The child's side: a hash for each step, or the bytes of one step's snapshot.
fn answer(asked: &str, trace: &[Seen]) {
    match asked.parse::<usize>() {
        Ok(k) => {
            let bytes = trace[k].view.snapshot.to_bytes();
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            println!("\n[law 2, bytes: {digits}]");
        }
        Err(_) => trace.iter().enumerate().for_each(|(k, seen)| println!("\n{}", line(k, seen))),
    }
}

/// What a fresh process with that many threads prints when it runs `test` as a child.
fn ask(test: &str, threads: &str, what: &str) -> Result<String, Broken> {
    let failed = |error: std::io::Error| Broken::new(REPEAT, 0, format!("no fresh process: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let name = test.split_once("::").map_or(test, |(_, within_crate)| within_crate);
    let mut child = Command::new(&program);
    child.args([name, "--exact", "--nocapture"]).env(CHILD, what).env("RAYON_NUM_THREADS", threads);
    Ok(String::from_utf8_lossy(&child.output().map_err(failed)?.stdout).into_owned())
}

/// The first field in which a child's step `k` differs from `seen`.
fn differing_field(suite: &Suite, test: &str, threads: &str, k: usize, seen: &Seen) -> Result<String, Broken> {
    let text = ask(test, threads, &k.to_string())?;
    let told = text.split_once("[law 2, bytes: ").and_then(|(_, rest)| rest.split_once(']'));
    let Some((digits, _)) = told else {
        return Ok(format!("no answer; is `{test}` the path of the calling test? It printed\n{text}"));
    };
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap_or(""), 16).unwrap_or(0);
    let bytes: Vec<u8> = digits.as_bytes().chunks(2).map(byte).collect();
    let childs = Scenario::new(suite)?.simulator.snapshot_from_bytes(&bytes);
    let childs = childs.map_err(|error| Broken::new(REPEAT, k, error))?;
    Ok(match childs.first_difference(&seen.view.snapshot) {
        Some(field) => format!("snapshot{field} here"),
        None => "the snapshot is the same, a reading, the ledger, the cloud or the report is not".into(),
    })
}

/// Reading handles, ledger, cloud and snapshots changes nothing; time advances by dt, to the last
/// bit where dt is a power of two.
///
/// # Errors
/// Names the step and the first field that differs.
pub fn law_6(suite: &Suite) -> Result<(), Broken> {
    let trace = Scenario::trace(suite)?;
    silent_runs(suite, &trace)?;
    let mut scenario = Scenario::new(suite)?;
    let exact = suite.dt.to_bits() & ((1 << 52) - 1) == 0;
    for k in 0..STEPS {
        let before = scenario.view(None);
        before.snapshot.to_bytes();
        if let Some(field) = scenario.view(None).difference(&before) {
            return Err(Broken::new(READ, k, format!("after reading: {field} before")));
        }
        let seen = scenario.step(k)?;
        same(READ, "with readings between steps", k, &seen, &trace)?;

        let expected = (k + 1) as f64 * suite.dt;
        let allowed = if exact { 0.0 } else { 1e-12 * expected };
        let times = [seen.view.time, seen.view.snapshot.time(), seen.report.time];
        let good = (times[0] - expected).abs() <= allowed && times.iter().all(|time| *time == times[0]);
        if !good {
            let [time, snapshot, report] = times;
            let found = format!("time {time:?}, snapshot {snapshot:?}, report {report:?}, expected {expected:?}");
            return Err(Broken::new(READ, k, found));
        }
    }
    Ok(())
}

/// Runs that nobody looks at before their end, since the trace is itself read after each step.
fn silent_runs(suite: &Suite, trace: &[Seen]) -> Result<(), Broken> {
    for last in [0, 1, 2, STEPS / 2, STEPS - 1] {
        let mut scenario = Scenario::new(suite)?;
        for k in 0..last {
            let inputs = scenario.inputs(k);
            scenario.advance(k, &inputs)?;
        }
        let inputs = scenario.inputs(last);
        let report = scenario.advance(last, &inputs)?;
        let seen = Seen { view: scenario.view(None), report };
        if let Some(field) = trace[last].difference(&seen) {
            let found = format!("after reading: {field} in a run that was not read");
            return Err(Broken::new(READ, last, found));
        }
    }
    Ok(())
}
