//! The bench `avi-threads`: events of asynchronous cloth on two threads, over the same on one.
//!
//! The swinging sheet of \[TPS08\]'s table 1 in two sizes, with α = 0.6; at its own of 5,016 triangles it is not cut. Two copies take each
//! step in turns, a sample each; both go the same way to the bit.

use std::time::Instant;

use partita::{
    avi_cloth::{Estimate, Integrator, Limit},
    simulator::{Inputs, Simulator},
};

use crate::{
    Effort,
    avi_scenes::Scene,
    table::{Failure, Table, median},
};

/// Length of a step `[s]`.
const STEP: f64 = 1.0 / 30.0;

/// α, about what is stable without limits.
const COURANT: f64 = 0.6;

/// See the module.
///
/// # Errors
/// A pool cannot be built, a step fails, both do not go the same way, or the JSON file cannot be written.
pub fn threads(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pools = [pool(1)?, pool(2)?];
    for triangles in if effort.quick { [6000, 7000] } else { [7000, 20_000] } {
        let scene = Scene::sheet(triangles)?;
        for limit in [None, Some(Limit::default())] {
            let cloth = || scene.explicit_cloth(Integrator::Asynchronous, (Estimate::Mode, COURANT), limit);
            let mut cloths = [cloth()?, cloth()?];
            let (mut ratios, mut each) = (vec![], [vec![], vec![]]);
            // The first few steps fall freely.
            for step in 0..if effort.quick { 4 } else { 60 } {
                let mut times = [0.0; 2];
                // Either goes first every other time.
                for k in [step % 2, 1 - step % 2] {
                    let begin = Instant::now();
                    pools[k].install(|| cloths[k].step(STEP, Inputs::NONE))?;
                    times[k] = begin.elapsed().as_secs_f64();
                }
                if step >= 3 {
                    let events = cloths[0].counts().events as f64;
                    ratios.push(times[1] / times[0]);
                    each.iter_mut().zip(times).for_each(|(each, time)| each.push(1e9 * time / events));
                }
            }
            if cloths[0].positions() != cloths[1].positions() {
                return Err("two threads do not bring about what one does".into());
            }
            let limits = if limit.is_some() { "with limits" } else { "without limits" };
            table.row(&format!("{triangles} triangles, {limits}: two threads / one"), "of the time", None, &ratios)?;
            table.remark(&format!("{:.1} ns and {:.1} ns an event", median(&each[1]), median(&each[0])));
        }
    }
    Ok(())
}
