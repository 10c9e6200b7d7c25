//! How a guide's carriers move within a step, and a step's motion cut into parts.
//!
//! Obstacles follow the straight path (lerp, slerp). Attachments follow the cubic that meets
//! position and velocity at both ends, so that an attached handle never jumps in velocity.

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

use crate::{Guide, HandleState, Motion};

impl Motion {
    /// The motion over part `i` of `n` equal parts of a step of `dt` `[s]`, along the path that
    /// belongs to `guide`.
    pub fn part(&self, guide: &Guide, dt: f64, n: u32, i: u32) -> Self {
        let n = f64::from(n);
        self.between(guide, dt, [f64::from(i) / n, f64::from(i + 1) / n])
    }

    /// The motion between two fractions from 0 to 1 of a step of `dt` `[s]`, along the same path.
    pub fn between(&self, guide: &Guide, dt: f64, [from, to]: [f64; 2]) -> Self {
        let at = |s: f64| -> std::sync::Arc<[HandleState]> {
            if s <= 0.0 {
                return self.begin.clone();
            }
            if s >= 1.0 {
                return self.end.clone();
            }
            let pairs = self.begin.iter().zip(self.end.iter());
            match guide {
                Guide::Obstacle { .. } => pairs.map(|(a, b)| straight(a, b, dt, s)).collect(),
                Guide::Attachment { .. } => pairs.map(|(a, b)| cubic(a, b, dt, s)).collect(),
            }
        };
        Self { begin: at(from), end: at(to) }
    }
}

/// The state at fraction `s` of the straight path from `begin` to `end` within `dt` `[s]`:
/// lerp, slerp, and the constant velocity and spin of that path.
pub fn straight(begin: &HandleState, end: &HandleState, dt: f64, s: f64) -> HandleState {
    let (x0, x1) = (Vector3::from(begin.position), Vector3::from(end.position));
    let q0 = quaternion(begin);
    let turn = (quaternion(end) * q0.inverse()).scaled_axis();
    HandleState {
        position: (x0 + s * (x1 - x0)).into(),
        velocity: ((x1 - x0) / dt).into(),
        orientation: xyzw(UnitQuaternion::from_scaled_axis(s * turn) * q0),
        spin: (turn / dt).into(),
    }
}

/// The state at fraction `s` of the cubic from `begin` to `end` within `dt` `[s]`.
///
/// Hermite's cubic in the position, and in θ with q(s) = exp(θ(s)) q₀, where the spin is
/// ω = J(θ) θ'/dt, J the left Jacobian of the rotation group (J. Solà, J. Deray, D. Atchuthan: A micro
/// Lie theory for state estimation in robotics. arXiv:1812.01537, 2018, eq. 145).
pub fn cubic(begin: &HandleState, end: &HandleState, dt: f64, s: f64) -> HandleState {
    let (x0, x1) = (Vector3::from(begin.position), Vector3::from(end.position));
    let (v0, v1) = (Vector3::from(begin.velocity), Vector3::from(end.velocity));
    let (x, dx) = hermite(x0, dt * v0, x1, dt * v1, s);

    let q0 = quaternion(begin);
    let turn = (quaternion(end) * q0.inverse()).scaled_axis();
    let (w0, w1) = (Vector3::from(begin.spin), Vector3::from(end.spin));
    let end_rate = left_jacobian(turn).try_inverse().unwrap_or_else(Matrix3::identity) * (dt * w1);
    let (theta, rate) = hermite(Vector3::zeros(), dt * w0, turn, end_rate, s);
    HandleState {
        position: x.into(),
        velocity: (dx / dt).into(),
        orientation: xyzw(UnitQuaternion::from_scaled_axis(theta) * q0),
        spin: (left_jacobian(theta) * rate / dt).into(),
    }
}

/// Value and derivative at `s` of the cubic with values a, b and derivatives da, db at 0 and 1.
fn hermite(
    a: Vector3<f64>,
    da: Vector3<f64>,
    b: Vector3<f64>,
    db: Vector3<f64>,
    s: f64,
) -> (Vector3<f64>, Vector3<f64>) {
    let r = 1.0 - s;
    let value = (1.0 + 2.0 * s) * r * r * a + s * r * r * da + s * s * (3.0 - 2.0 * s) * b - s * s * r * db;
    let slope = 6.0 * s * r * (b - a) + r * (1.0 - 3.0 * s) * da + s * (3.0 * s - 2.0) * db;
    (value, slope)
}

/// J(θ) = I + (1 − cos θ)/θ² [θ] + (θ − sin θ)/θ³ [θ]²; the first terms of the series near 0.
fn left_jacobian(theta: Vector3<f64>) -> Matrix3<f64> {
    let angle = theta.norm();
    let (a, b) = if angle < 1e-4 {
        (0.5 - angle * angle / 24.0, 1.0 / 6.0 - angle * angle / 120.0)
    } else {
        ((1.0 - angle.cos()) / (angle * angle), (angle - angle.sin()) / (angle * angle * angle))
    };
    let cross = theta.cross_matrix();
    Matrix3::identity() + a * cross + b * cross * cross
}

/// The orientation as nalgebra has it.
pub(crate) fn quaternion(state: &HandleState) -> UnitQuaternion<f64> {
    let [x, y, z, w] = state.orientation;
    UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z))
}

/// The inverse of [`quaternion`].
pub(crate) fn xyzw(q: UnitQuaternion<f64>) -> [f64; 4] {
    q.coords.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states() -> (HandleState, HandleState) {
        let q1 = UnitQuaternion::from_scaled_axis(Vector3::new(0.3, -0.2, 0.5));
        let begin = HandleState {
            position: [0.0, 1.0, 2.0],
            velocity: [3.0, 0.0, -1.0],
            spin: [1.0, 2.0, -0.5],
            ..Default::default()
        };
        let end = HandleState {
            position: [0.3, 1.1, 1.9],
            velocity: [2.0, 1.0, -2.0],
            orientation: xyzw(q1),
            spin: [2.0, -1.0, 3.0],
        };
        (begin, end)
    }

    /// Largest difference of any number of two states.
    fn distance(a: &HandleState, b: &HandleState) -> f64 {
        let numbers = |s: &HandleState| [&s.position[..], &s.velocity, &s.orientation, &s.spin].concat();
        numbers(a).iter().zip(numbers(b)).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn a_cubic_meets_both_ends_in_position_velocity_orientation_and_spin() {
        let (begin, end) = states();
        assert!(distance(&cubic(&begin, &end, 0.1, 0.0), &begin) < 1e-14);
        assert!(distance(&cubic(&begin, &end, 0.1, 1.0), &end) < 1e-13);
    }

    /// Central differences of position and orientation reproduce velocity and spin; the best of a
    /// sweep of difference steps is at the root of rounding, 1e-9 or better.
    #[test]
    fn velocity_and_spin_are_the_rates_of_position_and_orientation() {
        let (begin, end) = states();
        for path in [straight, cubic] {
            let best = (2..8)
                .map(|digits| {
                    let e = 10f64.powi(-digits);
                    let (a, b, here) = (
                        path(&begin, &end, 0.1, 0.4 - e),
                        path(&begin, &end, 0.1, 0.4 + e),
                        path(&begin, &end, 0.1, 0.4),
                    );
                    let h = 2.0 * e * 0.1;
                    let v = (Vector3::from(b.position) - Vector3::from(a.position)) / h;
                    let w = (quaternion(&b) * quaternion(&a).inverse()).scaled_axis() / h;
                    (v - Vector3::from(here.velocity)).norm() + (w - Vector3::from(here.spin)).norm()
                })
                .fold(f64::INFINITY, f64::min);
            assert!(best < 1e-8, "{best}");
        }
    }

    #[test]
    fn the_parts_of_a_motion_join_without_a_gap_and_keep_its_ends() {
        let (begin, end) = states();
        let motion = Motion { begin: [begin].into(), end: [end].into() };
        let guide = Guide::Attachment { own: crate::HandleId { owner: 0, index: 0 } };
        let parts: Vec<_> = (0..3).map(|i| motion.part(&guide, 0.1, 3, i)).collect();
        assert_eq!((&parts[0].begin, &parts[2].end), (&motion.begin, &motion.end));
        assert_eq!((&parts[0].end, &parts[1].end), (&parts[1].begin, &parts[2].begin));
    }
}
