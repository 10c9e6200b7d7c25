//! Emitters: how many particles are born by a time, when each of them is, where and how fast.
//!
//! All of it is a function of the emitter and the particle's serial number, never of the step, so
//! the same particles come at any step size.

use std::f64::consts::{PI, TAU};

use nalgebra::{Unit, UnitQuaternion, Vector3};
use partita_simulator::{SimulatorError, check_finite, check_not_negative, check_positive, check_vector};
use serde::{Deserialize, Serialize};

use crate::parameters::check_direction;

/// Where particles are born.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum EmitterShape {
    /// At one point.
    Point {
        /// `[m]`
        centre: [f64; 3],
    },
    /// Uniformly on a disc across the emitter's direction.
    Disc {
        /// `[m]`
        centre: [f64; 3],
        /// `[m]`
        radius: f64,
    },
    /// Uniformly in a box along the axes.
    Cuboid {
        /// `[m]`
        centre: [f64; 3],
        /// Full edge lengths `[m]`.
        size: [f64; 3],
    },
}

/// A source of particles.
///
/// ```
/// use partita_particles::Emitter;
/// let drizzle = Emitter::disc([0.0, 4.0, 0.0], 0.5).rate(200.0).speed(5.0).spread(0.1).lifetime(3.0).seed(7);
/// assert_eq!(drizzle.born_by(10.0), 2000);
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Emitter {
    /// Where particles are born.
    pub shape: EmitterShape,
    /// Middle of the directions of flight, of any length but 0 [-]. Default (0, −1, 0).
    pub direction: [f64; 3],
    /// Births in a second `[1/s]`, evenly spaced. Default 100.
    pub rate: f64,
    /// At birth `[m/s]`. Default 0.
    pub speed: f64,
    /// Half the opening angle of the cone of directions, evenly filled `[rad]`, up to π. Default 0.
    pub spread: f64,
    /// Age at which a particle goes `[s]`, at the end of the step; `None`: never. Default `None`.
    pub lifetime: Option<f64>,
    /// Of the random numbers. Default 0.
    pub seed: u64,
    /// Before which nothing is born `[s]`. Default 0.
    pub start: f64,
    /// After which nothing is born `[s]`; `None`: never stops. Default `None`.
    pub stop: Option<f64>,
}

impl Default for Emitter {
    fn default() -> Self {
        Self {
            shape: EmitterShape::Point { centre: [0.0; 3] },
            direction: [0.0, -1.0, 0.0],
            rate: 100.0,
            speed: 0.0,
            spread: 0.0,
            lifetime: None,
            seed: 0,
            start: 0.0,
            stop: None,
        }
    }
}

/// A particle at its birth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newborn {
    pub id: u64,
    pub birth: f64,
    pub position: Vector3<f64>,
    pub velocity: Vector3<f64>,
}

/// Births that a sum of steps may miss by rounding of the time still count `[particles]`.
const ROUNDING: f64 = 1e-6;

impl Emitter {
    /// Births at one point `[m]`.
    pub fn point(centre: [f64; 3]) -> Self {
        Self { shape: EmitterShape::Point { centre }, ..Self::default() }
    }

    /// Births on a disc `[m]` across the direction.
    pub fn disc(centre: [f64; 3], radius: f64) -> Self {
        Self { shape: EmitterShape::Disc { centre, radius }, ..Self::default() }
    }

    /// Births in a box along the axes, with full edge lengths `size` `[m]`.
    pub fn cuboid(centre: [f64; 3], size: [f64; 3]) -> Self {
        Self { shape: EmitterShape::Cuboid { centre, size }, ..Self::default() }
    }

    /// See [`Emitter::direction`].
    pub fn direction(self, direction: [f64; 3]) -> Self {
        Self { direction, ..self }
    }

    /// See [`Emitter::rate`].
    pub fn rate(self, rate: f64) -> Self {
        Self { rate, ..self }
    }

    /// See [`Emitter::speed`].
    pub fn speed(self, speed: f64) -> Self {
        Self { speed, ..self }
    }

    /// See [`Emitter::spread`].
    pub fn spread(self, spread: f64) -> Self {
        Self { spread, ..self }
    }

    /// See [`Emitter::lifetime`].
    pub fn lifetime(self, lifetime: f64) -> Self {
        Self { lifetime: Some(lifetime), ..self }
    }

    /// See [`Emitter::seed`].
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// See [`Emitter::start`].
    pub fn start(self, start: f64) -> Self {
        Self { start, ..self }
    }

    /// See [`Emitter::stop`].
    pub fn stop(self, stop: f64) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// How many particles are born by `time` `[s]`: ⌊rate (time − start)⌋, with a millionth of a
    /// particle for the rounding of a time that is a sum of steps.
    pub fn born_by(&self, time: f64) -> u64 {
        let until = self.stop.map_or(time, |stop| time.min(stop));
        (self.rate * (until - self.start) + ROUNDING).max(0.0) as u64 // `as` stops at the ends of u64
    }

    /// When particle `serial` is born `[s]`.
    pub(crate) fn birth(&self, serial: u64) -> f64 {
        self.start + (serial + 1) as f64 / self.rate
    }

    /// Particle `serial` of emitter number `emitter`, at its birth.
    pub(crate) fn newborn(&self, emitter: usize, serial: u64) -> Newborn {
        let mut random = Random::new(self.seed, emitter as u64, serial);
        let axis = Unit::new_normalize(Vector3::from(self.direction));
        let position = match self.shape {
            EmitterShape::Point { centre } => centre.into(),
            EmitterShape::Disc { centre, radius } => {
                // Uniform by area: r = R √u.
                let (r, phi) = (radius * random.unit().sqrt(), TAU * random.unit());
                Vector3::from(centre) + across(axis, r, phi)
            }
            EmitterShape::Cuboid { centre, size } => {
                let place = Vector3::from_fn(|_, _| random.unit() - 0.5);
                Vector3::from(centre) + place.component_mul(&Vector3::from(size))
            }
        };
        // Uniform by solid angle: cos θ is uniform in [cos spread, 1].
        let cosine = 1.0 - random.unit() * (1.0 - self.spread.cos());
        let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
        let direction = axis.scale(cosine) + across(axis, sine, TAU * random.unit());
        Newborn { id: id_of(emitter, serial), birth: self.birth(serial), position, velocity: self.speed * direction }
    }

    pub(crate) fn check(&self, number: usize) -> Result<(), SimulatorError> {
        let of = |field: &str| format!("emitter {number}, {field}");
        let (centre, sizes) = match self.shape {
            EmitterShape::Point { centre } => (centre, [0.0; 3]),
            EmitterShape::Disc { centre, radius } => (centre, [radius; 3]),
            EmitterShape::Cuboid { centre, size } => (centre, size),
        };
        check_vector(&of("centre [m]"), centre)?;
        sizes.iter().try_for_each(|&size| check_not_negative(&of("size [m]"), size))?;
        check_direction(&of("direction"), self.direction)?;
        check_not_negative(&of("rate [1/s]"), self.rate)?;
        check_not_negative(&of("speed [m/s]"), self.speed)?;
        if !(0.0..=PI).contains(&self.spread) {
            return Err(SimulatorError::refused(of("spread [rad]"), self.spread, "from 0 to π"));
        }
        self.lifetime.map_or(Ok(()), |lifetime| check_positive(&of("lifetime [s]"), lifetime))?;
        check_not_negative(&of("start [s]"), self.start)?;
        self.stop.map_or(Ok(()), |stop| check_finite(&of("stop [s]"), stop))
    }
}

/// Serial numbers of one emitter lie below this; ids of placed particles too.
pub(crate) const SERIALS: u64 = 1 << 44;

/// The id of an emitted particle: emitter and serial number. Placed particles have 0, 1, 2, …
fn id_of(emitter: usize, serial: u64) -> u64 {
    (emitter as u64 + 1) * SERIALS + serial
}

/// Which emitter a particle came from; `None` for placed ones.
pub(crate) fn emitter_of(id: u64) -> Option<usize> {
    (id / SERIALS).checked_sub(1).map(|emitter| emitter as usize)
}

/// The vector of length `r` at angle `phi` in the plane across `axis`.
fn across(axis: Unit<Vector3<f64>>, r: f64, phi: f64) -> Vector3<f64> {
    let least = axis.iamin();
    let first = axis.cross(&Vector3::ith(least, 1.0)).normalize();
    UnitQuaternion::from_axis_angle(&axis, phi) * (r * first)
}

/// SplitMix64 (G. Steele, D. Lea, C. Flood: Fast Splittable Pseudorandom Number Generators, 2014),
/// begun at a hash of seed, emitter and serial number: no generator state to keep or to retract.
struct Random(u64);

impl Random {
    fn new(seed: u64, emitter: u64, serial: u64) -> Self {
        let begin = Self(seed).next() ^ Self(emitter.wrapping_mul(0xd134_2543_de82_ef95)).next();
        Self(Self(begin.wrapping_add(serial.wrapping_mul(0xa076_1d64_78bd_642f))).next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1), 53 bits.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (-53.0f64).exp2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moments of what an emitter makes, against the uniform distributions it promises: n = 20,000
    /// draws leave a standard error below 1 %; the bound is four of them.
    #[test]
    fn births_fill_disc_box_and_cone_evenly() {
        let n = 20_000;
        let axis = Vector3::new(1.0, 2.0, -0.5).normalize();
        let disc = Emitter::disc([1.0, 2.0, 3.0], 0.7).direction(axis.into()).speed(3.0).spread(0.6).seed(5);
        let (mut r2, mut cosine) = (0.0, 0.0);
        for serial in 0..n {
            let born = disc.newborn(2, serial);
            let r = born.position - Vector3::new(1.0, 2.0, 3.0);
            assert!(r.dot(&axis).abs() < 1e-12 && r.norm() <= 0.7);
            assert!((born.velocity.norm() - 3.0).abs() < 1e-12);
            r2 += r.norm_squared() / n as f64;
            cosine += born.velocity.dot(&axis) / 3.0 / n as f64;
        }
        assert!((r2 / (0.5 * 0.49) - 1.0).abs() < 0.04, "{r2}");
        assert!((cosine - 0.5 * (1.0 + 0.6f64.cos())).abs() < 0.004, "{cosine}");

        let cuboid = Emitter::cuboid([0.0; 3], [2.0, 4.0, 6.0]);
        let mut squares = Vector3::zeros();
        for serial in 0..n {
            let x = cuboid.newborn(0, serial).position;
            squares += x.component_mul(&x) / n as f64;
        }
        for (k, h) in [1.0f64, 2.0, 3.0].iter().enumerate() {
            assert!((squares[k] / (h * h / 3.0) - 1.0).abs() < 0.04, "{squares}");
        }
    }

    #[test]
    fn ids_tell_the_emitter() {
        assert_eq!(emitter_of(id_of(3, 17)), Some(3));
        assert_eq!(emitter_of(17), None);
    }
}
