//! The bench `random`: energy that scenes from seeds (`random_scene.rs`) gain without external work.
//!
//! The sum of all energies may not rise, for two windows in a row, above that of the start by more than 1 % of the
//! energy that moves. A value is the fraction of the scenes in which it does without a report by the cloth, or which
//! fail. The worst and those without a report follow, each with the seed that reproduces it.

use partita::{Relaxed, Scheme};

use crate::{
    Effort,
    random_scene::{Bodies, METHODS, MOST, run},
    table::{Failure, Table, Target},
};

/// Simulated time of a scene `[s]`.
const SECONDS: f64 = 0.6;

/// Worst scenes that are printed for each method and scheme.
const WORST: usize = 10;

/// See the module.
///
/// # Errors
/// A scene cannot be built, or the JSON file cannot be written.
pub fn bench(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let scenes = if effort.quick { 2 } else { effort.scenes };
    for (number, method) in METHODS.into_iter().enumerate() {
        for scheme in [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()] {
            let seeds = (0..u64::from(scenes)).map(|k| 3 * k + number as u64);
            let scene = |seed| {
                let bodies = if seed % 2 == 0 { Bodies::Aligned } else { Bodies::Turning };
                run(seed, bodies, method, scheme.clone(), SECONDS)
            };
            let mut found = seeds.map(scene).collect::<Result<Vec<_>, Failure>>()?;
            found.sort_by(|a, b| b.gain.total_cmp(&a.gain));
            let name = if scheme == Scheme::Interleaved { "interleaved" } else { "relaxed" };
            let part = |count: usize| count as f64 / f64::from(scenes);
            let silent = || found.iter().filter(|found| found.gain > MOST && !found.is_reported);
            let case = format!("{method}, {name}: scenes that gain energy, not reported");
            table.row(&case, "of the scenes", Some(Target::AtMost(0.0)), &[part(silent().count())])?;
            let gaining = found.iter().filter(|found| found.gain > MOST).count();
            table.row(
                &format!("{method}, {name}: scenes that gain energy"),
                "of the scenes",
                None,
                &[part(gaining)],
            )?;
            let crossing = found.iter().filter(|found| found.silent_crossings > 0).count();
            let case = format!("{method}, {name}: scenes that cross, not reported");
            table.row(&case, "of the scenes", Some(Target::AtMost(0.0)), &[part(crossing)])?;
            let longest = found.iter().map(|found| found.longest).fold(0.0, f64::max);
            table.row(&format!("{method}, {name}: longest window"), "s", None, &[longest])?;
            for worst in found.iter().take(WORST.min(gaining)) {
                table.remark(&worst.about);
            }
            for silent in silent().take(WORST) {
                table.remark(&format!("not reported: {}", silent.about));
            }
            for crossing in found.iter().filter(|found| found.silent_crossings > 0).take(WORST) {
                table.remark(&format!(
                    "crosses at the end of {} windows: {}",
                    crossing.silent_crossings, crossing.about
                ));
            }
        }
    }
    Ok(())
}
