//! Interleaved simulation, \[PD97\] §3: "S_b takes a step, subject to the force that S_a computed in
//! the last one; then S_a takes a step consistent with S_b's motion".
//!
//! Contacts whose late reactions would add energy ([`crate::passivity`]) are iterated instead,
//! until they end. A window for which no loads are found is taken in halves. Contacts that are found when the work of
//! the window is spent have their reactions bounded at once, as of an iteration that has not converged.

use partita_simulator::{Outcome, Wrench};

use super::{Relaxed, fixed_point::FixedPoint, halving::Effort};
use crate::{
    coupled::InterfaceState,
    engine::{Engine, Failure, Push, START, WindowReport},
    responses::lasting_load,
};

/// Passes for one set of iterated contacts; a window has one set more for each contact that joins. A limit of
/// cost: more passes were not compared on the same scenes.
const PASSES: u32 = 7;

/// Energy that the residual of an iterated contact may add in a window, relative to the largest kinetic energy
/// of its carrier [-]: a tenth of what delayed reactions may add.
const ENERGY: f64 = 1e-3;

pub(super) fn window(
    engine: &mut Engine,
    dt: f64,
    next_dt: f64,
    pushes: &[Push],
    effort: &mut Effort,
) -> Result<WindowReport, Failure> {
    if effort.halvings > 0 || engine.contacts.iter().any(|&slot| engine.is_iterated(slot)) {
        return iterated(engine, dt, next_dt, pushes, effort);
    }
    let forces: Vec<_> =
        engine.state.interfaces.iter_mut().map(|interface| std::mem::take(&mut interface.force)).collect();
    let passed = engine.pass(dt, next_dt, &forces, pushes, false);
    for (interface, force) in engine.state.interfaces.iter_mut().zip(forces) {
        interface.force = force;
    }
    passed?;
    let active = engine.active_contacts(dt, next_dt);
    engine.to_iterate.extend(active);
    let report = engine.accept(dt, 1, 0.0, Outcome::Converged);
    carry_over(engine, dt);
    Ok(report)
}

/// A window in which some contacts are iterated.
fn iterated(
    engine: &mut Engine,
    dt: f64,
    next_dt: f64,
    pushes: &[Push],
    effort: &mut Effort,
) -> Result<WindowReport, Failure> {
    let parameters = Relaxed::default().tolerance(1e-3).gap(f64::INFINITY).passes(PASSES);
    engine.mark(START, true)?;
    let (solved, late) = loop {
        let slots = engine.iterated().collect();
        let iteration = FixedPoint::new(&parameters, slots, *effort).energy(ENERGY);
        let mut solved = iteration.solve(engine, dt, next_dt, pushes)?;
        *effort = solved.effort;
        if solved.is_to_be_halved {
            let take = |engine: &mut Engine, dt, next_dt, effort: &mut _| window(engine, dt, next_dt, pushes, effort);
            match effort.in_halves(engine, dt, next_dt, take)? {
                Some(report) => return Ok(report),
                None => continue,
            }
        }
        let more = engine.active_contacts(dt, next_dt);
        if more.is_empty() {
            break (solved, more);
        }
        if solved.is_spent {
            solved.join(&more);
            break (solved, more);
        }
        engine.iterate(&more);
        engine.retract(START, true)?;
    };
    let report = solved.accept(engine, dt, |engine| carry_over(engine, dt));
    engine.iterate(&late);
    Ok(report)
}

/// The force is carried over: λ⁽ⁱ⁺¹⁾ = G(λ⁽ⁱ⁾), [PD97] eq. 3. Where the next window has another
/// length its impulse differs from what was got; the difference stays pending and is carried too.
/// Impacts act at the start of the next window, and holding impulses over it, as they are.
///
/// In a window shorter than others before, an impulse may have shown as a force that is too large to
/// go on with in a longer one. Only the part that was there before is carried over as a force.
fn carry_over(engine: &mut Engine, dt: f64) {
    let is_short = dt < engine.state.longest_dt;
    for (interface, got) in engine.state.interfaces.iter_mut().zip(&engine.pass.got) {
        let InterfaceState { force, carry, impacts, holding, withheld, pending, .. } = interface;
        for (i, &got) in got.iter().enumerate() {
            let late = if pending[i] == got { Wrench::ZERO } else { pending[i] - got - withheld[i] };
            let reaction = got - impacts[i] - holding[i];
            let now = reaction.scaled(1.0 / dt);
            force[i] = if is_short { lasting_load(&now, &force[i]) } else { now };
            let sudden = if is_short { reaction - force[i].scaled(dt) } else { Wrench::ZERO };
            carry[i] = late + holding[i] + sudden;
        }
    }
}
