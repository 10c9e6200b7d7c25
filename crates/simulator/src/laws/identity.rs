//! The law of free particles: each is told by its id.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Broken, Suite,
    scenario::{STEPS, Scenario},
};
use crate::Cloud;

const KEPT: &str = "9 (free particles keep their ids)";

/// A step is cut in so many for particles to be followed from one place to the next.
const PARTS: u32 = 16;

/// Who is where `[m]`.
type Places = BTreeMap<u64, [f64; 3]>;

/// Each particle of a cloud has an id of its own, which it keeps as long as it lives and nobody has after it.
///
/// Who keeps an id moves the less, the shorter the step; who only got the id of another is elsewhere at once. So in a
/// step cut in 16 nobody may go a quarter of what anybody goes in a whole step, nor a thousandth of the simulator's size.
/// That holds for those who live through the whole step: how fast others are nobody knows.
///
/// # Errors
/// Names the step and the id.
pub fn law_9(suite: &Suite) -> Result<(), Broken> {
    let mut scenario = Scenario::new(suite)?;
    let mut before = places(&scenario, 0)?;
    let (mut gone, mut farthest) = (BTreeSet::<u64>::new(), 0.0f64);
    for k in 0..STEPS {
        scenario.advance(k, &scenario.inputs(k))?;
        let now = places(&scenario, k)?;
        if let Some(id) = now.keys().find(|&id| gone.contains(id)) {
            return Err(Broken::new(KEPT, k, format!("id {id} is there again, after it was gone")));
        }
        farthest = moves(&before, &now).fold(farthest, |most, (_, distance)| most.max(distance));
        gone.extend(before.keys().filter(|id| !now.contains_key(id)));
        before = now;
    }
    nobody_jumps(suite, farthest)
}

/// The same steps, each in parts.
fn nobody_jumps(suite: &Suite, farthest: f64) -> Result<(), Broken> {
    let mut scenario = Scenario::new(suite)?;
    let bound = f64::max(0.25 * farthest, 1e-3 * scenario.size);
    let mut begin = places(&scenario, 0)?;
    for k in 0..STEPS {
        let mut path = vec![begin];
        for part in 0..PARTS {
            scenario.advance_part(k, PARTS, part)?;
            path.push(places(&scenario, k)?);
        }
        let (first, last) = (&path[0], &path[path.len() - 1]);
        let survives = |id: &u64| first.contains_key(id) && last.contains_key(id);
        let jumps = |(id, distance): &(u64, f64)| survives(id) && *distance > bound;
        if let Some((id, distance)) = path.windows(2).flat_map(|pair| moves(&pair[0], &pair[1])).find(jumps) {
            let found = format!("id {id} is {distance:.3e} m away after a {PARTS}th of the step");
            return Err(Broken::new(KEPT, k, format!("{found}, expected at most {bound:.3e} m")));
        }
        begin = path.swap_remove(PARTS as usize);
    }
    Ok(())
}

fn places(scenario: &Scenario, k: usize) -> Result<Places, Broken> {
    let mut cloud = Cloud::default();
    scenario.simulator.cloud(&mut cloud);
    let cloud = cloud.by_id().map_err(|error| Broken::new(KEPT, k, error))?;
    Ok(cloud.ids.into_iter().zip(cloud.positions).collect())
}

/// How far those went `[m]` who are in both.
fn moves(before: &Places, now: &Places) -> impl Iterator<Item = (u64, f64)> {
    before.iter().filter_map(|(&id, x)| {
        let y = now.get(&id)?;
        Some((id, (0..3).map(|k| (y[k] - x[k]).powi(2)).sum::<f64>().sqrt()))
    })
}
