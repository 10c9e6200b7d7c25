//! Interleaved simulation, \[PD97\] §3: "S_b takes a step, subject to the force that S_a computed in
//! the last one; then S_a takes a step consistent with S_b's motion".

use partita_simulator::{Outcome, Wrench};

use crate::engine::{Engine, Failure, InterfaceState, Push, WindowReport};

pub(super) fn window(engine: &mut Engine, dt: f64, next_dt: f64, pushes: &[Push]) -> Result<WindowReport, Failure> {
    let forces: Vec<_> =
        engine.state.interfaces.iter_mut().map(|interface| std::mem::take(&mut interface.force)).collect();
    let passed = engine.pass(dt, next_dt, &forces, pushes, false);
    for (interface, force) in engine.state.interfaces.iter_mut().zip(forces) {
        interface.force = force;
    }
    passed?;
    let report = engine.accept(dt, 1, 0.0, Outcome::Converged);

    // The force is carried over: λ⁽ⁱ⁺¹⁾ = G(λ⁽ⁱ⁾), [PD97] eq. 3. Where the next window has another
    // length its impulse differs from what was got; the difference stays pending and is carried too.
    // Impacts act at the start of the next window, as they are.
    for (interface, got) in engine.state.interfaces.iter_mut().zip(&engine.pass.got) {
        let InterfaceState { force, carry, impacts, pending, .. } = interface;
        for (i, &got) in got.iter().enumerate() {
            force[i] = (got - impacts[i]).scaled(1.0 / dt);
            carry[i] = if pending[i] == got { Wrench::ZERO } else { pending[i] - got };
        }
    }
    Ok(report)
}
