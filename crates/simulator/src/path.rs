//! Paths of a guide's carriers within a step, and a step's motion cut into parts.
//!
//! Obstacles follow the straight path: constant velocity and spin. Attachments follow the cubic that
//! has position and velocity of both ends, so that an attached handle never jumps in velocity. Of all rotations
//! between two orientations, both take the one nearest to the mean spin, also beyond half a turn.

use std::f64::consts::{PI, TAU};

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

/// Rotation vector from `begin` to `end` within `dt` `[s]`, axis times angle `[rad]`. Of all
/// rotation vectors between these orientations it is nearest to p, dt times the mean spin.
///
/// With α n the shortest, the others are (α + 2πk) n. The nearest has k = round((p·n - α)/2π). If α
/// is 0, as after full turns, n is the axis of the mean spin.
pub fn rotation_between(begin: &HandleState, end: &HandleState, dt: f64) -> Vector3<f64> {
    let shortest = (quaternion(end) * quaternion(begin).inverse()).scaled_axis();
    let spun = 0.5 * dt * (Vector3::from(begin.spin) + Vector3::from(end.spin));
    // With less than half a turn by the spin, no longer rotation is nearer.
    if spun.norm() < PI - shortest.norm() {
        return shortest;
    }
    let angle = shortest.norm();
    let axis = if angle > 1.0e-9 { shortest / angle } else { spun.normalize() };
    axis * (angle + TAU * ((spun.dot(&axis) - angle) / TAU).round())
}

/// The state at fraction `s` of the straight path from `begin` to `end` within `dt` `[s]`:
/// constant velocity and spin.
pub fn straight(begin: &HandleState, end: &HandleState, dt: f64, s: f64) -> HandleState {
    let (x0, x1) = (Vector3::from(begin.position), Vector3::from(end.position));
    let q0 = quaternion(begin);
    let turn = rotation_between(begin, end, dt);
    HandleState {
        position: (x0 + s * (x1 - x0)).into(),
        velocity: ((x1 - x0) / dt).into(),
        orientation: xyzw(UnitQuaternion::from_scaled_axis(s * turn) * q0),
        spin: (turn / dt).into(),
    }
}

/// The state at fraction `s` of the cubic from `begin` to `end` within `dt` `[s]`.
///
/// The position is a cubic Hermite polynomial. So is δ, with q(s) = exp(δ(s)) exp(s θ) q₀ and θ the
/// rotation vector at constant spin. The spin is ω = (J(δ) δ' + exp(δ) θ)/dt, with J the left
/// Jacobian of SO(3) (J. Solà, J. Deray, D. Atchuthan: A micro Lie theory for state estimation in
/// robotics. arXiv:1812.01537, 2018, eq. 145). At both ends δ = 0 and J = I, so δ' = dt ω - θ.
pub fn cubic(begin: &HandleState, end: &HandleState, dt: f64, s: f64) -> HandleState {
    let (x0, x1) = (Vector3::from(begin.position), Vector3::from(end.position));
    let (v0, v1) = (Vector3::from(begin.velocity), Vector3::from(end.velocity));
    let (x, dx) = hermite(x0, dt * v0, x1, dt * v1, s);

    let turn = rotation_between(begin, end, dt);
    let (w0, w1) = (Vector3::from(begin.spin), Vector3::from(end.spin));
    let zero = Vector3::zeros();
    let (delta, rate) = hermite(zero, dt * w0 - turn, zero, dt * w1 - turn, s);
    let further = UnitQuaternion::from_scaled_axis(delta);
    HandleState {
        position: x.into(),
        velocity: (dx / dt).into(),
        orientation: xyzw(further * UnitQuaternion::from_scaled_axis(s * turn) * quaternion(begin)),
        spin: ((left_jacobian(delta) * rate + further * turn) / dt).into(),
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

    /// Rotation at constant spin, up to ten turns in a step and about any axis, is found again; so are
    /// full turns, which end where they start.
    #[test]
    fn rotation_follows_the_spin_beyond_half_a_turn() {
        let q0 = UnitQuaternion::from_scaled_axis(Vector3::new(0.3, -0.2, 0.5));
        for axis in [Vector3::y(), Vector3::new(1.0, -2.0, 0.5).normalize()] {
            for angle in [0.0, 0.1, 3.0, 3.3, TAU, 7.0, 31.0, 20.0 * PI, -3.3, -TAU, -40.0] {
                let (dt, turn) = (0.02, angle * axis);
                let spin = (turn / dt).into();
                let begin = HandleState { orientation: xyzw(q0), spin, ..Default::default() };
                let end = HandleState { orientation: xyzw(UnitQuaternion::from_scaled_axis(turn) * q0), ..begin };
                let found = rotation_between(&begin, &end, dt);
                assert!((found - turn).norm() < 1e-12 * (1.0 + angle.abs()), "{angle}: {found}");
                let halfway = straight(&begin, &end, dt, 0.5);
                let expected = UnitQuaternion::from_scaled_axis(0.5 * turn) * q0;
                assert!(quaternion(&halfway).angle_to(&expected) < 1e-12 * (1.0 + angle.abs()));
                assert!((Vector3::from(halfway.spin) - Vector3::from(spin)).norm() < 1e-9 * (1.0 + angle.abs()));
                // The cubic of constant spin is the same rotation.
                let halfway = cubic(&begin, &end, dt, 0.5);
                assert!(quaternion(&halfway).angle_to(&expected) < 1e-12 * (1.0 + angle.abs()), "{angle}");
            }
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
