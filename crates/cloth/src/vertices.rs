//! What is said of vertices, whatever moves them.

use nalgebra::Vector3;
use partita_simulator::{Ledger, SimulatorError, Wrench, check_vector};

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

    /// Impulse beyond which a load of a step of `dt` `[s]` is absurd: all mass times the sum of the largest velocity
    /// relative to the mean one, of what gravity `[m/s²]` adds, and of that which crosses the cloth in the step `[N s]`.
    pub fn largest_impulse(&self, gravity: [f64; 3], dt: f64) -> f64 {
        let mean = self.velocities.iter().sum::<V3>() / self.velocities.len() as f64;
        let fastest = self.velocities.iter().map(|v| (v - mean).norm()).fold(0.0, f64::max);
        let (low, high) = self
            .positions
            .iter()
            .fold((self.positions[0], self.positions[0]), |(low, high), x| (low.inf(x), high.sup(x)));
        self.masses.iter().sum::<f64>() * (fastest + dt * V3::from(gravity).norm() + (high - low).norm() / dt)
    }

    /// # Errors
    /// Names the first position or velocity that is not finite.
    pub fn check_finite(&self) -> Result<(), SimulatorError> {
        check_finite(self.positions.iter(), self.velocities.iter())
    }
}

/// Error of a step of `dt` `[s]` that failed or tore the cloth, if a load `[N]` or an impulse `[N s]` on a vertex is to
/// blame: the largest one, if its impulse is above `least` `[N s]`. Only vertices that move count, not kinematic ones.
pub fn absurd_load(
    loads: &[V3],
    impulses: impl Iterator<Item = (usize, V3)>,
    moves: impl Fn(usize) -> bool,
    dt: f64,
    least: f64,
) -> Option<SimulatorError> {
    let loads = loads.iter().enumerate().map(|(vertex, load)| (dt * load.norm(), vertex, load.norm(), ["load", "N"]));
    let impulses = impulses.map(|(vertex, j)| (j.norm(), vertex, j.norm(), ["impulse", "N s"]));
    let moving = loads.chain(impulses).filter(|&(_, vertex, ..)| moves(vertex));
    let (given, vertex, size, [what, unit]) = moving.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let expected = "a load that the cloth can give way to within a step";
    let error = || SimulatorError::failed(format!("{what} on vertex {vertex}"), format!("{size:e} {unit}"), expected);
    (given > least).then(error)
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
