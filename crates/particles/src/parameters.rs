//! What never changes in a step, checked as a whole before one.

use partita_simulator::{SimulatorError, check_finite, check_not_negative, check_positive, check_vector};
use serde::{Deserialize, Serialize};

use crate::Emitter;

/// How velocities and positions advance where nothing is in the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Integration {
    /// First order: the velocity takes the whole step's force, the position moves with the new
    /// velocity. Energy of an oscillator stays bounded for ever.
    SymplecticEuler,
    /// Second order: exact for uniform fields and linear drag (without drag the parabola), velocity
    /// Verlet with one prediction for all others.
    #[default]
    Parabola,
}

/// A vortex in the air: wind around a line. It moves particles by their drag.
///
/// Air velocity u = Γ/2π (a × r)/(|r|² + core²), r the distance vector from the axis a.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vortex {
    /// A point of the axis `[m]`.
    pub centre: [f64; 3],
    /// Direction of the axis, of any length but 0 [-]. The air turns right-handed about it.
    pub axis: [f64; 3],
    /// Circulation Γ far outside `[m²/s]`; negative turns the other way.
    pub circulation: f64,
    /// Radius within which the air turns like a wheel `[m]`, above 0.
    pub core: f64,
}

/// A point that attracts: acceleration a = μ r/(|r|² + softening²)^(3/2), r from particle to centre.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attractor {
    /// Where it is `[m]`.
    pub centre: [f64; 3],
    /// μ, G times its mass `[m³/s²]`; negative repels.
    pub strength: f64,
    /// Length that keeps the acceleration finite at the centre `[m]`, above 0.
    pub softening: f64,
}

/// All parameters of [`crate::Particles`], which has a consuming setter of the same name for each.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Parameters {
    /// Of each particle `[kg]`. Default 0.001.
    pub mass: f64,
    /// Distance that a particle's centre keeps from surfaces, on top of the pair's thickness `[m]`. Default 0.
    pub radius: f64,
    /// Acceleration of gravity `[m/s²]`. Default (0, −9.81, 0).
    pub gravity: [f64; 3],
    /// Linear drag k, force −k (v − wind) `[N s/m]`. Default 0.
    pub drag: f64,
    /// Quadratic drag q, force −q |v − wind| (v − wind) `[N s²/m²]`. Default 0.
    pub quadratic_drag: f64,
    /// Velocity of the air `[m/s]`; felt through drag only. Default 0.
    pub wind: [f64; 3],
    /// Added to the wind.
    pub vortices: Vec<Vortex>,
    /// Points that attract.
    pub attractors: Vec<Attractor>,
    /// Sources of particles.
    pub emitters: Vec<Emitter>,
    /// Of velocities and positions. Default [`Integration::Parabola`].
    pub integration: Integration,
    /// A step that would make more particles fails [-]. Default 20 million.
    pub max_particles: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            mass: 0.001,
            radius: 0.0,
            gravity: [0.0, -9.81, 0.0],
            drag: 0.0,
            quadratic_drag: 0.0,
            wind: [0.0; 3],
            vortices: Vec::new(),
            attractors: Vec::new(),
            emitters: Vec::new(),
            integration: Integration::default(),
            max_particles: 20_000_000,
        }
    }
}

impl Parameters {
    /// Checks every field.
    ///
    /// # Errors
    /// Names the first that is wrong, its value and what it could be.
    pub fn check(&self) -> Result<(), SimulatorError> {
        check_positive("mass [kg]", self.mass)?;
        check_not_negative("radius [m]", self.radius)?;
        check_vector("gravity [m/s²]", self.gravity)?;
        check_not_negative("drag [N s/m]", self.drag)?;
        check_not_negative("quadratic_drag [N s²/m²]", self.quadratic_drag)?;
        check_vector("wind [m/s]", self.wind)?;
        for (i, vortex) in self.vortices.iter().enumerate() {
            check_vector(&format!("vortex {i}, centre [m]"), vortex.centre)?;
            check_direction(&format!("vortex {i}, axis"), vortex.axis)?;
            check_finite(&format!("vortex {i}, circulation [m²/s]"), vortex.circulation)?;
            check_positive(&format!("vortex {i}, core [m]"), vortex.core)?;
        }
        for (i, attractor) in self.attractors.iter().enumerate() {
            check_vector(&format!("attractor {i}, centre [m]"), attractor.centre)?;
            check_finite(&format!("attractor {i}, strength [m³/s²]"), attractor.strength)?;
            check_positive(&format!("attractor {i}, softening [m]"), attractor.softening)?;
        }
        self.emitters.iter().enumerate().try_for_each(|(i, emitter)| emitter.check(i))
    }
}

/// Checks that `value` is finite and has a direction that can be computed.
pub(crate) fn check_direction(field: &str, value: [f64; 3]) -> Result<(), SimulatorError> {
    let norm = nalgebra::Vector3::from(value).norm();
    if norm.is_normal() && value.iter().all(|x| x.is_finite()) {
        Ok(())
    } else {
        Err(SimulatorError::refused(field, format!("{value:?}"), "a direction: finite, not 0"))
    }
}
