//! What is said of vertices, whatever moves them.

use nalgebra::Vector3;
use partita_simulator::{Inputs, Ledger, SimulatorError, Wrench, check_vector};

type V3 = Vector3<f64>;

/// Where vertices are, how fast they go, and their masses, one entry each.
#[derive(Clone, Copy, Debug)]
pub struct Vertices<'a> {
    /// `[m]`
    pub positions: &'a [V3],
    /// `[m/s]`
    pub velocities: &'a [V3],
    /// `[kg]`
    pub masses: &'a [f64],
}

impl Vertices<'_> {
    /// Their books in a field of gravity `[m/s²]`, with the energy that they store `[J]` and what [`Ledger::external`] says: potential
    /// energy is what is stored and that of gravity (zero at the origin).
    pub fn ledger(&self, gravity: [f64; 3], stored: f64, external: Wrench) -> Ledger {
        let g = V3::from(gravity);
        let mass = self.masses.iter().sum();
        let mut ledger = Ledger { mass, potential: stored, external: Some(external), ..Ledger::default() };
        let [mut linear, mut angular] = [V3::zeros(); 2];
        for ((x, v), m) in self.positions.iter().zip(self.velocities).zip(self.masses) {
            linear += *m * v;
            angular += *m * x.cross(v);
            ledger.kinetic += 0.5 * m * v.norm_squared();
            ledger.potential -= m * g.dot(x);
        }
        (ledger.momentum, ledger.angular_momentum) = (linear.into(), angular.into());
        ledger
    }

    /// # Errors
    /// Names the first position or velocity that is not finite.
    pub fn check_finite(&self) -> Result<(), SimulatorError> {
        check_finite(self.positions.iter(), self.velocities.iter())
    }
}

/// Displacement by one load in a step, relative to the longest edge, from which on the load is to blame for a step that
/// failed [-].
const ABSURD: f64 = 1e3;

/// Error of a step that failed or tore the cloth, where a load or an impulse is to blame: the one that by itself displaces
/// its vertex farthest in the step of `dt` `[s]`, if that is a thousand of the longest edges `[m]`. Loads on kinematic
/// vertices, of `inverse_masses` 0 `[1/kg]`, displace nothing.
pub fn absurd_load(inputs: &Inputs, inverse_masses: &[f64], dt: f64, longest_edge: f64) -> Option<SimulatorError> {
    let loads = inputs.loads.iter().map(|(handle, load)| ("load", "N", handle.index, load, dt * dt));
    let impulses = inputs.impulses.iter().map(|(handle, impulse)| ("impulse", "N s", handle.index, impulse, dt));
    let displacements = loads.chain(impulses).map(|(what, unit, vertex, wrench, factor)| {
        let size = V3::from(wrench.linear).norm();
        let inverse_mass = inverse_masses.get(vertex as usize).copied().unwrap_or(0.0);
        (factor * inverse_mass * size, size, what, unit, vertex)
    });
    let (displacement, size, what, unit, vertex) = displacements.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let expected = "a load that the cloth can give way to within a step";
    let error = || SimulatorError::failed(format!("{what} on vertex {vertex}"), format!("{size:e} {unit}"), expected);
    (displacement > ABSURD * longest_edge).then(error)
}

/// # Errors
/// Names the first of these positions or velocities that is not finite, one a vertex.
pub fn check_finite<'a>(
    positions: impl Iterator<Item = &'a V3> + Clone,
    velocities: impl Iterator<Item = &'a V3> + Clone,
) -> Result<(), SimulatorError> {
    let is_finite = |x: &V3| x.norm_squared().is_finite();
    // Without branches, since nearly always all are.
    let are_finite = |all: bool, x: &V3| all & is_finite(x);
    if positions.clone().fold(true, are_finite) & velocities.clone().fold(true, are_finite) {
        return Ok(());
    }
    let check = |what: &str, (v, x): (usize, &V3)| match is_finite(x) {
        true => Ok(()),
        false => Err(SimulatorError::failed(format!("{what} of vertex {v}"), format!("{x:?}"), "finite")),
    };
    positions.enumerate().try_for_each(|x| check("position [m]", x))?;
    velocities.enumerate().try_for_each(|v| check("velocity [m/s]", v))
}

/// One vector for each of so many vertices, of a cloth at such a time `[s]`.
///
/// # Errors
/// There are more or fewer, a number is not finite, or there was a step.
pub fn begin_with(thing: &str, values: &[[f64; 3]], vertices: usize, time: f64) -> Result<Vec<V3>, SimulatorError> {
    not_started(thing, time)?;
    if values.len() != vertices {
        return Err(SimulatorError::refused(thing, values.len(), format!("one for each of {vertices} vertices")));
    }
    values.iter().enumerate().try_for_each(|(v, x)| check_vector(&format!("{thing} of vertex {v}"), *x))?;
    Ok(values.iter().map(|&x| x.into()).collect())
}

/// # Errors
/// There was a step before this time `[s]`, and the thing has to be set before the first.
pub fn not_started(thing: &str, time: f64) -> Result<(), SimulatorError> {
    if time == 0.0 {
        return Ok(());
    }
    Err(SimulatorError::refused(thing, format!("time {time} s"), "to be set before the first step"))
}
