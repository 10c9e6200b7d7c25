//! The stage "fly": what accelerates a particle between contacts, and the exact or second-order flight in them.

use std::{f64::consts::TAU, fmt, sync::Arc};

use nalgebra::Vector3;

use crate::{Integration, Parameters};

/// An acceleration `[m/s²]` at position `[m]`, velocity `[m/s]` and time `[s]`.
pub(crate) type Acceleration = dyn Fn([f64; 3], [f64; 3], f64) -> [f64; 3] + Send + Sync;

/// A field that the user wrote. Its name stands for it in layouts: code has no bytes to compare.
#[derive(Clone)]
pub(crate) struct Field {
    pub name: String,
    pub acceleration: Arc<Acceleration>,
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Field({})", self.name)
    }
}

/// All fields, as one step sees them.
pub(crate) struct Flight<'a> {
    parameters: &'a Parameters,
    custom: &'a [Field],
    gravity: Vector3<f64>,
    wind: Vector3<f64>,
    /// Whether acceleration, wind and drag coefficient are the same everywhere.
    pub uniform: bool,
}

/// A flight over some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leg {
    /// Displacement `[m]`.
    pub shift: Vector3<f64>,
    /// At the end `[m/s]`.
    pub velocity: Vector3<f64>,
    /// How much of a constant force's impulse shows in the velocity, φ₁ of [`Decay`]; 1 without drag [-].
    pub ease: f64,
}

/// Solution of v̇ = a − c (v − w) over a time h with constant a, c, w:
///
/// v(h) = w + keep (v − w) + gain a,   x(h) − x = h w + gain (v − w) + fall a,
///
/// keep = e^(−z), gain = h φ₁, fall = h² φ₂, z = c h, φ₁ = (1 − e^(−z))/z, φ₂ = (1 − φ₁)/z: the φ functions of
/// exponential integrators (M. Hochbruck, A. Ostermann: Exponential integrators. Acta Numerica 19, 2010, §2).
/// For z → 0 that is 1, h, h²/2, the parabola; for z → ∞ the particle moves with the air, so drag is
/// stable at any step and the terminal speed is exact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decay {
    h: f64,
    keep: f64,
    gain: f64,
    fall: f64,
    ease: f64,
}

impl Decay {
    pub fn new(c: f64, h: f64) -> Self {
        let z = c * h;
        if z == 0.0 {
            return Self { h, keep: 1.0, gain: h, fall: 0.5 * h * h, ease: 1.0 };
        }
        let phi1 = -(-z).exp_m1() / z;
        let phi2 = if z < 1e-2 {
            // Series, next term z⁶/40320: (1 − φ₁)/z would lose digits here.
            let terms = [-1.0 / 5040.0, 1.0 / 720.0, -1.0 / 120.0, 1.0 / 24.0, -1.0 / 6.0, 0.5];
            terms.iter().fold(0.0, |sum, term| sum * z + term)
        } else {
            (1.0 - phi1) / z
        };
        Self { h, keep: (-z).exp(), gain: h * phi1, fall: h * h * phi2, ease: phi1 }
    }

    fn leg(&self, integration: Integration, v: Vector3<f64>, w: Vector3<f64>, a: Vector3<f64>) -> Leg {
        let velocity = w + self.keep * (v - w) + self.gain * a;
        let shift = match integration {
            Integration::SymplecticEuler => self.h * velocity,
            Integration::Parabola => self.h * w + self.gain * (v - w) + self.fall * a,
        };
        Leg { shift, velocity, ease: self.ease }
    }
}

impl<'a> Flight<'a> {
    pub fn new(parameters: &'a Parameters, custom: &'a [Field]) -> Self {
        let p = parameters;
        let uniform = custom.is_empty() && p.attractors.is_empty() && p.vortices.is_empty() && p.quadratic_drag == 0.0;
        Self { parameters, custom, gravity: p.gravity.into(), wind: p.wind.into(), uniform }
    }

    /// The decay of a step of `h` in uniform fields, the same for every particle.
    pub fn decay(&self, h: f64) -> Decay {
        Decay::new(self.parameters.drag / self.parameters.mass, h)
    }

    /// Flight from velocity `v` in uniform fields.
    pub fn uniform_leg(&self, decay: &Decay, v: Vector3<f64>, load: Vector3<f64>) -> Leg {
        decay.leg(self.parameters.integration, v, self.wind, self.gravity + load)
    }

    /// Flight over `h` from position `x`, velocity `v` and time `t`; `load` is another acceleration.
    ///
    /// Second order: prediction with the fields at the begin; then acceleration, air and drag
    /// coefficient are the means of begin and predicted end (velocity Verlet, where nothing depends on v).
    pub fn leg(&self, x: Vector3<f64>, v: Vector3<f64>, t: f64, h: f64, load: Vector3<f64>) -> Leg {
        if self.uniform {
            return self.uniform_leg(&self.decay(h), v, load);
        }
        let (a0, w0, c0) = (self.acceleration(x, v, t) + load, self.air(x), self.drag_rate(v, self.air(x)));
        let first = Decay::new(c0, h).leg(self.parameters.integration, v, w0, a0);
        if self.parameters.integration == Integration::SymplecticEuler {
            return first;
        }
        let (x1, v1) = (x + first.shift, first.velocity);
        let (a1, w1) = (self.acceleration(x1, v1, t + h) + load, self.air(x1));
        let decay = Decay::new(0.5 * (c0 + self.drag_rate(v1, w1)), h);
        let mean = decay.leg(self.parameters.integration, v, 0.5 * (w0 + w1), 0.5 * (a0 + a1));
        Leg { shift: decay.leg(self.parameters.integration, v, 0.5 * (w0 + w1), a0).shift, ..mean }
    }

    /// Of gravity, attractors and the user's fields `[m/s²]`.
    fn acceleration(&self, x: Vector3<f64>, v: Vector3<f64>, t: f64) -> Vector3<f64> {
        let mut a = self.gravity;
        for attractor in &self.parameters.attractors {
            let r = Vector3::from(attractor.centre) - x;
            let distance = (r.norm_squared() + attractor.softening * attractor.softening).sqrt();
            a += attractor.strength / (distance * distance * distance) * r;
        }
        for field in self.custom {
            a += Vector3::from((field.acceleration)(x.into(), v.into(), t));
        }
        a
    }

    /// Velocity of the air `[m/s]`.
    fn air(&self, x: Vector3<f64>) -> Vector3<f64> {
        let mut w = self.wind;
        for vortex in &self.parameters.vortices {
            let axis = Vector3::from(vortex.axis).normalize();
            let r = x - Vector3::from(vortex.centre);
            let around = axis.cross(&r);
            w += vortex.circulation / (TAU * (around.norm_squared() + vortex.core * vortex.core)) * around;
        }
        w
    }

    /// c = (k + q |v − w|)/m `[1/s]`.
    fn drag_rate(&self, v: Vector3<f64>, w: Vector3<f64>) -> f64 {
        (self.parameters.drag + self.parameters.quadratic_drag * (v - w).norm()) / self.parameters.mass
    }
}
