//! Rotation of bodies: Euler's equations, exact in energy and in angular momentum.
//!
//! Rapier's gyroscopic correction is explicit. It keeps the size of the angular momentum but not the
//! energy, and it linearises rotations: a rotation by h ω becomes one by 2 atan(h ω / 2). So
//! rapier's gyroscopic forces are disabled, and each substep has two corrections:
//!
//! 1. Before rapier's solve, the angular velocity is set to that at the end of free rotation,
//!    rotated back to the start orientation. Contacts and joints then act on it.
//! 2. After the solve, a body without angular impulses gets the orientation at the end of free
//!    rotation. Any other body is rotated by the angle that rapier's linearisation lacks.
//!
//! Free rotation is the implicit midpoint rule for the angular momentum L in body axes,
//! dL/dt = L × J L with J the inverse inertia. The rule conserves both quadratic invariants, |L|² and the
//! energy L·J L / 2. A step rotates by the Cayley transform of the midpoint's angular velocity. The
//! orientation takes the same rotation, which conserves L in world axes (\[HLW06\] VII.5.3).
//! Suzuki's composition of five such steps is of fourth order (\[HLW06\] II.4.4).
//!
//! [HLW06] E. Hairer, C. Lubich, G. Wanner: Geometric Numerical Integration. Springer, 2nd ed. 2006.

use nalgebra::{Matrix3, Quaternion, Unit, UnitQuaternion, Vector3};
use partita_simulator::{Note, StepReport};
use rapier3d_f64::{
    math::{Pose, Vector},
    prelude::{RigidBody, RigidBodyHandle},
};

use crate::{
    RigidBodies,
    bodies::centre_of,
    convert::{glam_rotation, rotation, vector},
    ledger::inertia,
};

/// Rotation θ in a substep below which rapier's integration is kept `[rad]`. Its error θ³/12 is
/// below rounding. The angular momentum turns by θ²/2 a substep, 1e-9 rad in two thousand substeps.
const NEGLIGIBLE_TURN: f64 = 1.0e-6;

/// Largest uncorrected error θ³/12 of rapier's rotation in a substep `[rad]`: that of 6 rad/s at
/// 1/960 s.
const NEGLIGIBLE_SHORTFALL: f64 = 2.0e-8;

/// Largest rotation in one fourth-order composition `[rad]`, for a relative phase error below 1e-5.
const TURN_OF_A_STEP: f64 = 0.25;

/// Maximum number of compositions in a substep [-], which bounds the work. They resolve 256 rad.
const MOST_STEPS: f64 = 1024.0;

/// Relative tolerance for "no impulse changed the angular velocity" [-]; rounding is below it.
const ROUNDING: f64 = 1.0e-12;

/// Rotation of one body over one substep.
pub(crate) struct FreeRotation {
    body: RigidBodyHandle,
    /// Orientation at the start.
    orientation: UnitQuaternion<f64>,
    /// Angular velocity at the start `[rad/s]`.
    start: Vector3<f64>,
    /// Angular velocity after rapier's solve, if nothing but loads and damping changes it `[rad/s]`.
    spin: Vector3<f64>,
    /// Change of the angular velocity by loads `[rad/s]`.
    loaded: Vector3<f64>,
    /// Free rotation without loads, from start to end in world axes.
    turn: UnitQuaternion<f64>,
}

impl RigidBodies {
    /// Gives spinning bodies the angular velocity, in their own axes, at the end of a free rotation of `h`.
    ///
    /// Loads are left to rapier here: where contacts and joints balance them, the body never has the
    /// angular velocity that they alone would give it.
    pub(crate) fn start_rotations(&mut self, h: f64, report: &mut StepReport) {
        self.rotations.clear();
        if !self.parameters.free_rotation {
            return;
        }
        for member in self.members.iter().filter(|member| member.gyroscopic) {
            let body = &mut self.state.bodies[member.body];
            let turns =
                body.is_dynamic() && body.mass_properties().local_mprops.principal_inertia().min_element() > 0.0;
            if !turns || !body.is_enabled() || body.is_sleeping() {
                continue;
            }
            let (start, torque) = (vector(body.angvel()), vector(body.user_torque()));
            let loaded = match torque == Vector3::zeros() {
                true => torque,
                false => inertia(body).try_inverse().unwrap_or_default() * torque * h,
            };
            if (start.norm() + loaded.norm()) * h < NEGLIGIBLE_TURN {
                continue;
            }
            let orientation = rotation(*body.rotation());
            let Some((turn, end)) = free_rotation(body, &orientation, start, h) else {
                let kind = "rotates too far in a substep to conserve its energy; use more substeps";
                report.note(Note::about(format!("`{}`", member.name), kind));
                continue;
            };
            let in_own_axes = turn.inverse() * end;
            body.set_angvel(Vector::from_array(in_own_axes.into()), false);
            let spin = (in_own_axes + loaded) / (1.0 + h * body.angular_damping());
            self.rotations.push(FreeRotation { body: member.body, orientation, start, spin, loaded, turn });
        }
    }

    /// Turns bodies to where their rotation over the substep ends.
    pub(crate) fn finish_rotations(&mut self, h: f64) {
        let n = f64::from(self.parameters.solver_iterations);
        for FreeRotation { body, orientation, start, spin, loaded, turn } in &self.rotations {
            let body = &mut self.state.bodies[*body];
            let after = vector(body.angvel());
            if (after - spin).norm() <= ROUNDING * spin.norm() {
                // Loads act at the start, and the rotation is that after them.
                let damping = 1.0 + h * body.angular_damping();
                let end = match *loaded == Vector3::zeros() {
                    true => Some((*turn, turn * spin * damping)),
                    false => free_rotation(body, orientation, start + loaded, h),
                };
                let Some((turn, end)) = end else { continue };
                turn_to(body, turn * orientation);
                body.set_angvel(Vector::from_array((end / damping).into()), false);
            } else if let Some((axis, speed)) = Unit::try_new_and_get(after, 0.0) {
                // Each of rapier's n rotations by θ/n falls short by θ/n - 2 atan(θ/2n).
                let angle = h * speed;
                let short = angle - 2.0 * n * (angle / (2.0 * n)).atan();
                if short > NEGLIGIBLE_SHORTFALL {
                    turn_to(body, UnitQuaternion::from_axis_angle(&axis, short) * rotation(*body.rotation()));
                }
            }
        }
    }
}

/// Free rotation of a body over time `h` from an orientation and an angular velocity: the rotation from start to
/// end, and the angular velocity at the end, both in world axes.
fn free_rotation(
    body: &RigidBody,
    orientation: &UnitQuaternion<f64>,
    start: Vector3<f64>,
    h: f64,
) -> Option<(UnitQuaternion<f64>, Vector3<f64>)> {
    let properties = &body.mass_properties().local_mprops;
    let axes = orientation * rotation(properties.principal_inertia_local_frame);
    let inertia = vector(properties.principal_inertia());
    let momentum = inertia.component_mul(&(axes.inverse() * start));
    let (turn, end) = rotate_freely(momentum, inertia, h)?;
    let turn = UnitQuaternion::new_normalize((axes * turn * axes.inverse()).into_inner());
    Some((turn, turn * axes * end))
}

/// Turns a body about its centre of mass to an orientation.
fn turn_to(body: &mut RigidBody, orientation: UnitQuaternion<f64>) {
    let centre = centre_of(body);
    // Rapier takes quaternions as they are, and an error of their length would grow from step to step.
    let orientation = glam_rotation(orientation).normalize();
    let position = centre - orientation * body.local_center_of_mass();
    body.set_position(Pose::from_parts(position, orientation), false);
}

/// Free rotation over time `h` of a body with angular momentum `momentum` and principal moments `inertia`,
/// in its principal axes: the rotation from start to end, and the angular velocity in the axes at the end.
/// `None` where the numbers are too large for the midpoint rule.
fn rotate_freely(momentum: Vector3<f64>, inertia: Vector3<f64>, h: f64) -> Option<(UnitQuaternion<f64>, Vector3<f64>)> {
    let inverse = inertia.map(|i| 1.0 / i);
    let spin = inverse.component_mul(&momentum);
    if inertia.max() - inertia.min() <= 1.0e-12 * inertia.max() {
        return Some((UnitQuaternion::from_scaled_axis(spin * h), spin));
    }
    let steps = (h * spin.norm() / TURN_OF_A_STEP).ceil().clamp(1.0, MOST_STEPS);
    let outer = 1.0 / (4.0 - 4f64.powf(1.0 / 3.0));
    let fractions = [outer, outer, 1.0 - 4.0 * outer, outer, outer];
    let (mut turn, mut l) = (UnitQuaternion::identity(), momentum);
    for _ in 0..steps as u32 {
        for fraction in fractions {
            let part = h / steps * fraction;
            let middle = midpoint(l, &inverse, part)?;
            let w = inverse.component_mul(&middle) * (0.5 * part);
            let cayley = UnitQuaternion::new_normalize(Quaternion::new(1.0, w.x, w.y, w.z));
            l = cayley.inverse() * l;
            turn *= cayley;
        }
    }
    Some((turn, inverse.component_mul(&l)))
}

/// The angular momentum m halfway through a step of `h` from `l`: m = l + h/2 m × J m, by Newton's
/// method. `None` if that does not converge.
fn midpoint(l: Vector3<f64>, inverse: &Vector3<f64>, h: f64) -> Option<Vector3<f64>> {
    let jacobian_of_cross = |m: &Vector3<f64>| {
        let w = inverse.component_mul(m);
        m.cross_matrix() * Matrix3::from_diagonal(inverse) - w.cross_matrix()
    };
    let mut m = l;
    for _ in 0..20 {
        let residual = m - l - m.cross(&inverse.component_mul(&m)) * (0.5 * h);
        if residual.norm() <= 4.0 * f64::EPSILON * l.norm() {
            return Some(m);
        }
        m -= (Matrix3::identity() - jacobian_of_cross(&m) * (0.5 * h)).try_inverse()? * residual;
    }
    None
}
