//! Mobilities of handles, stated by their simulator or measured with the three verbs.

use std::collections::BTreeMap;

use nalgebra::Vector3;
use partita_simulator::{HandleId, HandleState, Inputs, Kind, Mobility, Simulator, SimulatorError, Wrench};

/// First impulse to try `[N s]`, and what it has to change velocities by, or spins: so little that
/// nothing else notices, and so much that rounding does not matter `[m/s]`, `[rad/s]`.
const IMPULSE: f64 = 1e-3;
const CHANGES: [f64; 3] = [1e-5, 1e-3, 1e-2];

/// Change of velocity below which an axis counts as blocked: what a joint's solver leaves is no
/// mobility `[m/s]`.
const ROUNDING: f64 = 1e-13;

/// Impulses that are tried, each scaled by what the last one did.
const TRIALS: usize = 4;

/// Mobilities of `handles` in world axes, as a step of `dt` `[s]` shows them, and whether they were
/// measured; the simulator is as before.
///
/// Frames are measured one by one. Points are measured all at once, with equal impulses on all of
/// them: of points that hang together it is how they answer together, which is how a body that is
/// stopped by many of them finds them.
///
/// # Errors
/// A step or a retract failed.
pub(crate) fn mobilities(
    simulator: &mut dyn Simulator,
    handles: &[HandleId],
    dt: f64,
) -> Result<Vec<(Mobility, bool)>, SimulatorError> {
    let stated: Vec<Option<Mobility>> = handles.iter().map(|&handle| simulator.mobility(handle)).collect();
    let unknown = |kind: Kind| -> Vec<HandleId> {
        let of_kind = |handle: &HandleId| simulator.handles().kind(*handle) == Ok(kind);
        handles
            .iter()
            .zip(&stated)
            .filter(|(handle, stated)| stated.is_none() && of_kind(handle))
            .map(|(h, _)| *h)
            .collect()
    };
    let (points, frames) = (unknown(Kind::Point), unknown(Kind::Frame));
    let mut measured = BTreeMap::new();
    if !points.is_empty() {
        measured.extend(together(simulator, &points, dt, 3)?);
    }
    for frame in frames {
        measured.extend(together(simulator, &[frame], dt, 6)?);
    }
    let of = |(handle, stated): (&HandleId, Option<Mobility>)| {
        (stated.or_else(|| measured.get(handle).copied()).unwrap_or(Mobility::ZERO), stated.is_none())
    };
    Ok(handles.iter().zip(stated).map(of).collect())
}

/// States of handles after `n` steps of `dt / n` `[s]` without and with a load on the first one `[N]`; the simulator is as
/// before.
///
/// # Errors
/// A step or a retract failed.
pub(crate) fn answers(
    simulator: &mut dyn Simulator,
    handles: &[HandleId],
    load: [f64; 3],
    [dt, n]: [f64; 2],
) -> Result<[Vec<HandleState>; 2], SimulatorError> {
    let start = simulator.snapshot(None);
    let mut after = |loads: Vec<(HandleId, Wrench)>| {
        let inputs = Inputs { loads, ..Inputs::default() };
        let stepped = (0..n as u32).try_for_each(|_| simulator.step(dt / n, &inputs).map(|_| ()));
        let mut states = vec![HandleState::default(); handles.len()];
        let read = stepped.and_then(|()| simulator.read(handles, &mut states));
        simulator.retract(&start)?;
        read.map(|()| states)
    };
    Ok([after(vec![])?, after(vec![(handles[0], Wrench::force(load))])?])
}

/// Answers of handles to equal impulses on all of them, along as many axes: three of force, then
/// three of torque.
fn together(
    simulator: &mut dyn Simulator,
    handles: &[HandleId],
    dt: f64,
    axes: usize,
) -> Result<Vec<(HandleId, Mobility)>, SimulatorError> {
    let start = simulator.snapshot(None);
    let mut states = |inputs: &Inputs| -> Result<Vec<HandleState>, SimulatorError> {
        let stepped = simulator.step(dt, inputs);
        let mut states = vec![HandleState::default(); handles.len()];
        let read = stepped.and_then(|_| simulator.read(handles, &mut states));
        simulator.retract(&start)?;
        read.map(|()| states)
    };
    let free = states(Inputs::NONE)?;
    let mut found: Vec<_> = handles.iter().map(|&handle| (handle, Mobility::ZERO)).collect();
    for axis in 0..axes {
        let mut size = IMPULSE;
        for _ in 0..TRIALS {
            let unit = |first: usize| [0, 1, 2].map(|k| if first + k == axis { size } else { 0.0 });
            let wrench = Wrench { linear: unit(0), angular: unit(3) };
            let impulses = handles.iter().map(|&handle| (handle, wrench)).collect();
            let pushed = states(&Inputs { impulses, ..Inputs::default() })?;
            let mut largest = 0.0_f64;
            for ((_, mobility), (pushed, free)) in found.iter_mut().zip(pushed.iter().zip(&free)) {
                let change = |a: [f64; 3], b: [f64; 3]| Vector3::from(a) - Vector3::from(b);
                let [v, w] = [change(pushed.velocity, free.velocity), change(pushed.spin, free.spin)];
                largest = largest.max(v.norm()).max(w.norm());
                let is_noise = v.norm().max(w.norm()) < ROUNDING;
                for k in (0..3).filter(|_| !is_noise) {
                    if axis < 3 {
                        mobility.linear[k][axis] = v[k] / size;
                    } else {
                        mobility.coupling[k][axis - 3] = v[k] / size;
                        mobility.angular[k][axis - 3] = w[k] / size;
                    }
                }
            }
            let [low, aim, high] = CHANGES;
            if largest < ROUNDING || (low..=high).contains(&largest) {
                break;
            }
            size *= aim / largest;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use partita_simulator::reference::{Chain, ChainParameters, MassOnSpring, SpringParameters};

    use super::*;

    /// A mass on a spring answers with 1/m to an impulse at the start of a symplectic Euler step,
    /// over ten decades of mass, and is afterwards as before. Rounding of velocities is that of
    /// changes of a thousandth.
    #[test]
    fn what_is_not_stated_is_measured() {
        for mass in [1e-6, 1e-2, 3.0, 1e4] {
            let mut simulator = MassOnSpring::new("mass", SpringParameters { mass, ..Default::default() }).unwrap();
            simulator = simulator.started_at([0.1, 0.0, 0.0], [3.0, 0.0, 0.0]).unwrap();
            let (handle, before) = (simulator.mass(), simulator.snapshot(None));
            let found = mobilities(&mut simulator, &[handle], 0.01).unwrap()[0].0;
            for (i, row) in found.linear.iter().enumerate() {
                for (k, value) in row.iter().enumerate() {
                    let expected = if i == k { 1.0 / mass } else { 0.0 };
                    assert!((value * mass - expected * mass).abs() < 1e-9, "{mass} kg: {found:?}");
                }
            }
            assert_eq!(before.first_difference(&simulator.snapshot(None)), None);
        }
    }

    /// Points of a chain are measured together, and pull at nobody then; a point by itself says
    /// what it weighs.
    #[test]
    fn points_that_hang_together_are_measured_together() {
        let positions: Vec<[f64; 3]> = (0..5).map(|k| [0.1 * f64::from(k), 0.0, 0.0]).collect();
        let mut chain = Chain::new("chain", &positions, ChainParameters::default()).unwrap();
        let handles: Vec<HandleId> = chain.handles().iter().collect();
        for (mobility, _) in mobilities(&mut chain, &handles, 0.01).unwrap() {
            assert!((mobility.linear[1][1] * ChainParameters::default().mass - 1.0).abs() < 1e-9, "{mobility:?}");
        }
        let mut single = Chain::new("single", &positions[..1], ChainParameters::default()).unwrap();
        let handle = single.point(0);
        let stated = single.mobility(handle).unwrap();
        assert_eq!(mobilities(&mut single, &[handle], 0.01).unwrap(), [(stated, false)]);
    }

    /// Rigid bodies state the mobilities that steps show, of a free box that is turned, of a fixed one and of one along a
    /// script: the latter two have mobility 0.
    #[cfg(feature = "rigid")]
    #[test]
    fn rigid_bodies_state_what_is_measured() {
        use partita_rigid::{Body, Pose, RigidBodies, Shape};

        let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
        let shape = || Shape::cuboid([0.1, 0.2, 0.5]);
        let moving = |t: f64| Pose { position: [3.0 + t, 0.0, 0.0], ..Pose::default() };
        let free = Body::dynamic(shape()).mass(0.7).turned([1.0, 2.0, -0.5], 0.8);
        let handles = [
            rigid.add("free", free).unwrap(),
            rigid.add("fixed", Body::fixed(shape()).at([0.0, 3.0, 0.0])).unwrap(),
            rigid.add("scripted", Body::kinematic(shape(), moving)).unwrap(),
        ];
        for (k, &handle) in handles.iter().enumerate() {
            let stated = rigid.mobility(handle).unwrap();
            let (_, measured) = together(&mut rigid, &[handle], 0.01, 6).unwrap()[0];
            assert_eq!(stated.is_zero(), k > 0, "{stated:?}");
            // Torques of the spin itself are of second order in the impulse.
            let pairs = [(stated.linear, measured.linear), (stated.angular, measured.angular)];
            for (stated, measured) in pairs.iter().flat_map(|(a, b)| a.iter().flatten().zip(b.iter().flatten())) {
                assert!((stated - measured).abs() <= 1e-3 * stated.abs() + 1e-4, "{k}: {stated} for {measured}");
            }
        }
    }
}
