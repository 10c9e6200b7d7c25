//! Carriers of obstacles and the state ahead, from which `stops.rs` finds impulses of two bodies.

use nalgebra::{Isometry3, Matrix3, UnitQuaternion, Vector3};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Condition number of the angular mobility below which a body turns about every axis [-].
const FREE: f64 = 1e7;

/// Change of velocity and spin by an impulse and a torque impulse: Δv = `linear` J + `coupling` τ,
/// Δω = `coupling`ᵀ J + `angular` τ.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Mobility {
    /// `[1/kg]`
    pub linear: M3,
    /// `[1/(kg m)]`
    pub coupling: M3,
    /// `[1/(kg m²)]`
    pub angular: M3,
}

impl Mobility {
    /// Change of velocity and spin.
    pub fn change(&self, impulse: &V3, torque: &V3) -> [V3; 2] {
        [self.linear * impulse + self.coupling * torque, self.coupling.transpose() * impulse + self.angular * torque]
    }

    /// Velocity of the point at `arm` by an impulse there.
    pub(crate) fn at(&self, arm: &V3) -> M3 {
        let r = arm.cross_matrix();
        let mixed = self.coupling * r;
        self.linear + mixed + mixed.transpose() + r.transpose() * self.angular * r
    }

    pub(crate) fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

/// A carrier of an obstacle at the end of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Carrier {
    /// Pose of a frame; of a point its position alone.
    pub pose: Isometry3<f64>,
    /// `[m/s]`
    pub velocity: V3,
    /// `[rad/s]`
    pub spin: V3,
    /// At the pose.
    pub mobility: Mobility,
    /// Number of the rigid body, if others may be of the same one.
    pub body: Option<u32>,
    /// Whether other bodies may move with it in ways that are unknown.
    pub is_linked: bool,
    /// By all but this cloth, as expected for the next step `[m/s²]`.
    pub acceleration: V3,
    /// Likewise, without the precession of a body that spins freely `[rad/s²]`.
    pub angular_acceleration: V3,
    /// By impulses of the cloth in this step, which act over the next one: linear `[m/s²]` and
    /// angular `[rad/s²]`.
    pub pending: [V3; 2],
}

/// State of the cloth and of carriers at the start of the next step.
#[derive(Debug, Clone, Copy)]
pub struct Ahead<'a> {
    /// Length of the next step `[s]`.
    pub dt: f64,
    /// Positions of the surface `[m]`.
    pub positions: &'a [V3],
    /// Velocities of the surface `[m/s]`.
    pub velocities: &'a [V3],
    /// Inverse masses `[1/kg]`; 0 where the motion is prescribed.
    pub inverse_masses: &'a [f64],
    /// Supports of kinematic vertices that yield, in order of the vertices.
    pub supports: &'a [Support],
    /// Carriers of each obstacle.
    pub carriers: &'a [Carriers],
}

/// Support of a kinematic vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Support {
    /// Number of the vertex.
    pub vertex: u32,
    /// At the vertex.
    pub mobility: Mobility,
    /// Number of the rigid body, if others may be of the same one.
    pub body: Option<u32>,
    /// Whether other bodies may move with it in ways that are unknown.
    pub is_linked: bool,
    /// Of the vertex, by all that acts on the support `[m/s²]`.
    pub acceleration: V3,
}

/// Carriers of an obstacle.
#[derive(Debug, Clone, PartialEq)]
pub enum Carriers {
    /// The obstacle is absent.
    Absent,
    /// One frame carries all of it.
    Frame(Box<Carrier>),
    /// A point carries each vertex.
    Points(Vec<Carrier>),
}

impl Carriers {
    pub(crate) fn all(&self) -> &[Carrier] {
        match self {
            Self::Absent => &[],
            Self::Frame(frame) => std::slice::from_ref(&**frame),
            Self::Points(points) => points,
        }
    }

    /// Whether an impulse moves any of them.
    pub(crate) fn yields(&self) -> bool {
        self.all().iter().any(|carrier| !carrier.mobility.is_zero())
    }
}

impl Carrier {
    /// At the end of the next step, if nothing stops it `[m/s]`.
    pub(crate) fn next_velocity(&self, h: f64) -> V3 {
        self.velocity + h * self.accelerations()[0]
    }

    /// Expected for the next step if nothing stops it, linear `[m/s²]` and, without precession,
    /// angular `[rad/s²]`.
    pub(crate) fn accelerations(&self) -> [V3; 2] {
        [self.acceleration + self.pending[0], self.angular_acceleration + self.pending[1]]
    }

    /// Acceleration at `arm` from the origin by what acts on it, without terms of the spin
    /// `[m/s²]`.
    pub(crate) fn acceleration_at(&self, arm: &V3) -> V3 {
        let [linear, angular] = self.accelerations();
        linear + angular.cross(arm)
    }

    /// Angular acceleration of a body that spins freely: -I⁻¹ (ω x I ω) `[rad/s²]`. Zero for what
    /// cannot turn about every axis.
    pub(crate) fn precession(&self) -> V3 {
        let (spin, angular) = (&self.spin, &self.mobility.angular);
        let free = |inertia: &M3| inertia.norm() * angular.norm() < FREE;
        angular.try_inverse().filter(free).map_or(V3::zeros(), |inertia| -angular * spin.cross(&(inertia * spin)))
    }

    /// Pose at the end of the next step, if nothing stops it.
    pub(crate) fn next_pose(&self, h: f64) -> Isometry3<f64> {
        let gained = h * (self.accelerations()[1] + self.precession());
        let turn = UnitQuaternion::from_scaled_axis(h * (self.spin + gained));
        let at = self.pose.translation.vector + h * self.next_velocity(h);
        Isometry3::from_parts(at.into(), turn * self.pose.rotation)
    }
}

/// Positions of carriers at the start and at the end of the next step `[m]`.
pub(crate) fn points(carriers: &[Carrier], h: f64) -> [Vec<V3>; 2] {
    let at = |carrier: &Carrier| carrier.pose.translation.vector;
    let then = |carrier: &Carrier| at(carrier) + h * carrier.next_velocity(h);
    [carriers.iter().map(at).collect(), carriers.iter().map(then).collect()]
}
