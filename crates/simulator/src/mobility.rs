//! Mobility: how a handle's velocity answers to impulses, and what a carrier does besides following
//! its motion.

use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Condition number of the angular mobility below which a body turns about every axis [-]. A steel
/// wire of 1 mm and 1 m has 3e5; a hinge whose mobility was measured has the inverse of the
/// measurement's error.
const FREE: f64 = 1e7;

/// Effective inverse mass of a handle: change of its velocity and spin by an impulse and a torque
/// impulse at it, in world axes. The 6x6 matrix is symmetric and positive semidefinite; it is zero
/// for what is scripted or fixed.
///
///   Δv = `linear` J + `coupling` τ,   Δω = `coupling`ᵀ J + `angular` τ
///
/// Matrices are arrays of rows.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Mobility {
    /// Velocity by impulse `[1/kg]`.
    pub linear: [[f64; 3]; 3],
    /// Velocity by torque impulse, and transposed spin by impulse `[1/(kg m)]`. Zero at a centre of
    /// mass.
    pub coupling: [[f64; 3]; 3],
    /// Spin by torque impulse `[1/(kg m²)]`. Zero for a Point.
    pub angular: [[f64; 3]; 3],
}

impl Mobility {
    /// Mobility of what no impulse moves.
    pub const ZERO: Self = Self { linear: [[0.0; 3]; 3], coupling: [[0.0; 3]; 3], angular: [[0.0; 3]; 3] };

    /// Mobility of a point mass, given its inverse mass `[1/kg]`.
    pub fn point(inverse_mass: f64) -> Self {
        Self { linear: rows(&M3::from_diagonal_element(inverse_mass)), ..Self::ZERO }
    }

    /// Mobility of a free rigid body at its centre of mass, given its inverse mass `[1/kg]` and its
    /// inverse inertia in world axes `[1/(kg m²)]`.
    pub fn body(inverse_mass: f64, inverse_inertia: [[f64; 3]; 3]) -> Self {
        Self { angular: inverse_inertia, ..Self::point(inverse_mass) }
    }

    /// Whether no impulse moves it.
    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        [self.linear, self.coupling, self.angular].iter().flatten().flatten().all(|x| x.is_finite())
    }

    /// Changes of velocity `[m/s]` and spin `[rad/s]` by an impulse `[N s]` and a torque impulse
    /// `[N m s]`.
    pub fn change(&self, impulse: V3, torque: V3) -> [V3; 2] {
        let [linear, coupling, angular] = [self.linear, self.coupling, self.angular].map(|of| matrix(&of));
        [linear * impulse + coupling * torque, coupling.transpose() * impulse + angular * torque]
    }

    /// Angular acceleration of a rigid body of this mobility that spins freely, by Euler's
    /// equation: -I⁻¹ (ω x I ω) with I⁻¹ = `angular` `[rad/s²]`. It is zero for what cannot turn
    /// about every axis, such as a door.
    pub fn precession(&self, spin: V3) -> V3 {
        let angular = matrix(&self.angular);
        let free = |inertia: &M3| inertia.norm() * angular.norm() < FREE;
        angular.try_inverse().filter(free).map_or(V3::zeros(), |inertia| -angular * spin.cross(&(inertia * spin)))
    }

    /// Mobility of a frame fixed to this one, `arm` away from it in world axes `[m]`.
    ///
    /// An impulse J at arm r is J and r x J here; the velocity there is v + ω x r. With R = \[r\]x:
    /// L' = L + C R + Rᵀ Cᵀ + Rᵀ A R, C' = C + Rᵀ A, A' = A.
    pub fn at(&self, arm: V3) -> Self {
        let [l, c, a] = [self.linear, self.coupling, self.angular].map(|of| matrix(&of));
        let r = arm.cross_matrix();
        let linear = l + c * r + r.transpose() * c.transpose() + r.transpose() * a * r;
        Self { linear: rows(&linear), coupling: rows(&(c + r.transpose() * a)), angular: self.angular }
    }

    /// Mobility of the place `arm` away as a Point, which no torque turns.
    pub fn point_at(&self, arm: V3) -> Self {
        Self { linear: self.at(arm).linear, ..Self::ZERO }
    }

    /// The same in axes turned by `turn`: R W Rᵀ of each part.
    pub fn turned(&self, turn: &UnitQuaternion<f64>) -> Self {
        let r = turn.to_rotation_matrix().into_inner();
        let of = |part: &[[f64; 3]; 3]| rows(&(r * matrix(part) * r.transpose()));
        Self { linear: of(&self.linear), coupling: of(&self.coupling), angular: of(&self.angular) }
    }
}

/// Response of a carrier to impulses, from which a follower that cannot give way computes the
/// impulse of two bodies.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Response {
    /// At the end of the step. Of a Point that is fixed in a rigid body it is that of a frame
    /// there.
    pub mobility: Mobility,
    /// Number of the rigid body that carries it: carriers of one number, of any guide, move as one.
    /// None where that is unknown.
    pub body: Option<u32>,
    /// Whether impulses on it may move carriers of other numbers too, as through joints.
    pub is_linked: bool,
    /// Acceleration that is expected in the next step `[m/s²]`, by all but impulses of this
    /// follower that are known only after this step.
    pub acceleration: [f64; 3],
    /// Angular acceleration likewise, without the precession of a body that spins freely
    /// ([`Mobility::precession`]) `[rad/s²]`.
    pub angular_acceleration: [f64; 3],
    /// Length of the carrier's next step, in which what is reported now acts `[s]`.
    pub next_step: f64,
    /// Whether this step is iterated, so that its reactions act within it. Otherwise they act in
    /// the next step, on top of these accelerations.
    pub is_iterated: bool,
}

impl Response {
    /// Whether every number is finite, and the next step takes time.
    pub fn is_sound(&self) -> bool {
        let numbers = self.acceleration.iter().chain(&self.angular_acceleration);
        self.mobility.is_finite()
            && numbers.into_iter().all(|x| x.is_finite())
            && self.next_step > 0.0
            && self.next_step.is_finite()
    }
}

fn matrix(rows: &[[f64; 3]; 3]) -> M3 {
    M3::from_fn(|i, k| rows[i][k])
}

fn rows(of: &M3) -> [[f64; 3]; 3] {
    [0, 1, 2].map(|i| [0, 1, 2].map(|k| of[(i, k)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dumbbell of 2 kg and 3 kg on a massless rod: an impulse at the first mass moves that by
    /// J/2 along the rod and, being free to turn, across it too, and leaves the other alone.
    #[test]
    fn a_mass_on_a_rod_answers_as_if_it_were_alone() {
        let (m, l): ([f64; 2], f64) = ([2.0, 3.0], 0.7);
        let centre = l * m[1] / (m[0] + m[1]);
        let inertia = m[0] * centre * centre + m[1] * (l - centre).powi(2);
        // About the rod's own axis x it turns by nothing that these points see.
        let inverse = [[0.0; 3], [0.0, 1.0 / inertia, 0.0], [0.0, 0.0, 1.0 / inertia]];
        let body = Mobility::body(1.0 / (m[0] + m[1]), inverse);
        let first = matrix(&body.at(V3::x() * -centre).linear);
        let expected = M3::from_diagonal(&V3::new(1.0 / (m[0] + m[1]), 1.0 / m[0], 1.0 / m[0]));
        assert!((first - expected).norm() < 1e-14, "{first}");
    }

    /// A torque-free top changes its spin by Euler's equations, in its own axes
    /// I₁ ω̇₁ = (I₂ - I₃) ω₂ ω₃ and so on. A hinge about a tilted axis has no such motion, whether its
    /// mobility is exact or measured with an error of 1e-10 either way.
    #[test]
    fn only_what_turns_about_every_axis_precesses() {
        let inertia = V3::new(1.0, 2.0, 4.0);
        let top = Mobility::body(1.0, rows(&M3::from_diagonal(&inertia.map(f64::recip))));
        let euler =
            V3::new((2.0 - 4.0) * 3.0 * 5.0 / 1.0, (4.0 - 1.0) * 5.0 * 2.0 / 2.0, (1.0 - 2.0) * 2.0 * 3.0 / 4.0);
        assert!((top.precession(V3::new(2.0, 3.0, 5.0)) - euler).norm() < 1e-12 * euler.norm());
        let axis = V3::new(1.0, 2.0, -0.5).normalize();
        for error in [0.0, 1e-10, -1e-10] {
            let measured = axis * axis.transpose() + M3::new(0.3, 1.0, -0.2, 1.0, 0.7, 0.4, -0.2, 0.4, 0.1) * error;
            assert_eq!(Mobility::body(1.0, rows(&measured)).precession(3.0 * axis), V3::zeros(), "{error}");
        }
    }

    /// Moving the frame there and back changes nothing, nor does turning with the body: exact
    /// identities, so rounding only.
    #[test]
    fn shifts_and_turns_undo_each_other() {
        let body = Mobility::body(0.5, [[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 4.0]]);
        let arm = V3::new(0.3, -1.0, 2.0);
        let turn = UnitQuaternion::from_scaled_axis(V3::new(1.0, 0.2, -0.4));
        let back = body.at(arm).at(-arm).turned(&turn).turned(&turn.inverse());
        let parts = |of: &Mobility| [of.linear, of.coupling, of.angular].map(|part| matrix(&part));
        for (one, other) in parts(&back).into_iter().zip(parts(&body)) {
            assert!((one - other).norm() < 1e-14 * 10.0, "{one} {other}");
        }
    }
}
