//! What every step checks first, written once.

use std::collections::BTreeSet;

use crate::{
    Follows, Guide, HandleId, HandleState, HandleTable, Inputs, Kind, Motion, SimulatorError, Wrench, check_positive,
};

/// Checks all that comes into a step, so that a refused step has changed nothing.
///
/// # Errors
/// `dt` is not finite and positive; a load or an impulse is not finite, on a foreign handle, or a
/// torque on a Point; there are motions or responses for another number of guides; a motion has
/// another number of carriers than its guide, or is not finite, or has an orientation that is not a
/// unit quaternion; a response is not finite, or of another number of carriers.
pub fn check(table: &HandleTable, guides: &[Guide], dt: f64, inputs: &Inputs) -> Result<(), SimulatorError> {
    check_positive("dt [s]", dt)?;
    inputs.loads.iter().try_for_each(|&(handle, load)| check_wrench("load", table, handle, load))?;
    inputs.impulses.iter().try_for_each(|&(handle, impulse)| check_wrench("impulse", table, handle, impulse))?;
    if !inputs.motions.is_empty() && inputs.motions.len() != guides.len() {
        return Err(SimulatorError::refused(
            "motions",
            inputs.motions.len(),
            format!("one for each of {} guides, or none", guides.len()),
        ));
    }
    for (i, (guide, motion)) in guides.iter().zip(&inputs.motions).enumerate() {
        if let Some(motion) = motion {
            check_motion(i, guide, motion)?;
        }
    }
    if !inputs.responses.is_empty() && inputs.responses.len() != guides.len() {
        let expected = format!("one for each of {} guides, or none", guides.len());
        return Err(SimulatorError::refused("responses", inputs.responses.len(), expected));
    }
    for (i, (guide, responses)) in guides.iter().zip(&inputs.responses).enumerate() {
        let Some(responses) = responses else { continue };
        if responses.len() != guide.carriers() {
            let expected = format!("one for each of {} carriers", guide.carriers());
            return Err(SimulatorError::refused(format!("responses of guide {i}"), responses.len(), expected));
        }
        if let Some(k) = responses.iter().position(|response| !response.is_sound()) {
            let thing = format!("response of guide {i}, carrier {k}");
            let expected = "finite numbers, a next step above 0 s";
            return Err(SimulatorError::refused(thing, format!("{:?}", responses[k]), expected));
        }
    }
    Ok(())
}

/// Checks a load before it is put on `handle`.
///
/// # Errors
/// The handle is foreign or unknown, the load is not finite, or it is a torque on a Point.
pub fn check_load(table: &HandleTable, handle: HandleId, load: Wrench) -> Result<(), SimulatorError> {
    check_wrench("load", table, handle, load)
}

fn check_wrench(what: &str, table: &HandleTable, handle: HandleId, load: Wrench) -> Result<(), SimulatorError> {
    let kind = table.kind(handle)?;
    let thing = || format!("{what} on {}", table.describe(handle));
    if !load.is_finite() {
        return Err(SimulatorError::refused(thing(), format!("{load:?}"), "finite numbers"));
    }
    if kind == Kind::Point && load.angular != Wrench::ZERO.angular {
        return Err(SimulatorError::refused(thing(), format!("torque {:?}", load.angular), "no torque on a Point"));
    }
    Ok(())
}

fn check_motion(number: usize, guide: &Guide, motion: &Motion) -> Result<(), SimulatorError> {
    for (when, states) in [("begin", &motion.begin), ("end", &motion.end)] {
        let of = || format!("motion of guide {number}, {when}");
        if states.len() != guide.carriers() {
            return Err(SimulatorError::refused(
                of(),
                format!("{} states", states.len()),
                format!("one for each of {} carriers", guide.carriers()),
            ));
        }
        if let Some(i) = states.iter().position(|state| !state.is_finite()) {
            return Err(SimulatorError::refused(
                format!("{}, carrier {i}", of()),
                format!("{:?}", states[i]),
                "finite numbers",
            ));
        }
        if let Some(i) = states.iter().position(|state| !is_unit(state)) {
            return Err(SimulatorError::refused(
                format!("{}, carrier {i}", of()),
                format!("{:?}", states[i].orientation),
                "a unit quaternion",
            ));
        }
    }
    Ok(())
}

fn is_unit(state: &HandleState) -> bool {
    let squared: f64 = state.orientation.iter().map(|x| x * x).sum();
    (squared - 1.0).abs() < 1e-6
}

/// Checks guides before a simulator that has taken `taken` so far takes them: all at once, what it
/// follows, whose handles, each attached once, sound surfaces.
///
/// # Errors
/// Names the first guide that is wrong.
pub fn check_guides(
    table: &HandleTable,
    follows: Follows,
    taken: &[Guide],
    guides: &[Guide],
) -> Result<(), SimulatorError> {
    if !taken.is_empty() {
        let found = format!("{} guides after {}", guides.len(), taken.len());
        return Err(SimulatorError::refused("guides", found, "all guides at once"));
    }
    let mut attached = BTreeSet::new();
    for (i, guide) in guides.iter().enumerate() {
        let (what, can) = match guide {
            Guide::Attachment { own } => {
                let kind = table.kind(*own)?;
                if !attached.insert(*own) {
                    let found = format!("two attachments of `{}`", table.describe(*own));
                    return Err(SimulatorError::refused("guides", found, "one attachment a handle"));
                }
                follows.attachment(kind)
            }
            Guide::Obstacle { surface, friction, restitution, thickness, except } => {
                surface.check()?;
                crate::check_pair(&format!("guide {i}"), *friction, *restitution, *thickness)?;
                except.iter().try_for_each(|&handle| table.check(handle))?;
                follows.obstacle(surface)
            }
        };
        if !can {
            return Err(SimulatorError::refused(
                format!("guide {i}"),
                what,
                format!("what it can follow: {follows:?}"),
            ));
        }
    }
    Ok(())
}
