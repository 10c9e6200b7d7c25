//! Rapier speaks glam, the contract plain arrays, our formulas nalgebra: the borders between.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use rapier3d_f64::math::{Pose as RapierPose, Rotation, Vector};

pub(crate) fn vector(v: Vector) -> Vector3<f64> {
    Vector3::new(v.x, v.y, v.z)
}

pub(crate) fn rotation(q: Rotation) -> UnitQuaternion<f64> {
    UnitQuaternion::new_unchecked(Quaternion::new(q.w, q.x, q.y, q.z))
}

pub(crate) fn glam_rotation(q: UnitQuaternion<f64>) -> Rotation {
    Rotation::from_xyzw(q.i, q.j, q.k, q.w)
}

pub(crate) fn quaternion([x, y, z, w]: [f64; 4]) -> UnitQuaternion<f64> {
    UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z))
}

pub(crate) fn array(q: UnitQuaternion<f64>) -> [f64; 4] {
    [q.i, q.j, q.k, q.w]
}

/// The pose that takes the Y axis to axis 0 (X) or 2 (Z).
pub(crate) fn turn_y_to(axis: u8) -> RapierPose {
    let half = std::f64::consts::FRAC_PI_2;
    match axis {
        0 => RapierPose::from_parts(Vector::ZERO, Rotation::from_rotation_z(-half)),
        2 => RapierPose::from_parts(Vector::ZERO, Rotation::from_rotation_x(half)),
        _ => RapierPose::IDENTITY,
    }
}
