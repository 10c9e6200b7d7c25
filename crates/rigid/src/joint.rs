//! Joints in words, between two handles of one world.

use nalgebra::{UnitQuaternion, Vector3};
use partita_simulator::{HandleId, SimulatorError, check_not_negative, check_positive, check_vector};
use rapier3d_f64::{
    math::{Pose, Vector},
    prelude::{
        GenericJoint, GenericJointBuilder, JointAxesMask, JointAxis, MotorModel, RigidBody, RigidBodyHandle,
        RopeJointBuilder, SpringJointBuilder,
    },
};
use serde::{Deserialize, Serialize};

use crate::{
    RigidBodies,
    bodies::{Target, frame_position},
    convert::{glam_rotation, rotation},
    shape::FARTHEST,
};

/// What a joint leaves free.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
enum Type {
    /// All turning.
    Ball,
    /// Turning around an axis.
    Hinge,
    /// Sliding along an axis.
    Prismatic,
    /// Nothing.
    Fixed,
    /// All, up to a distance between two points.
    Rope { length: f64 },
    /// All, against a force that grows with the distance between two points.
    Spring { rest_length: f64, stiffness: f64, damping: f64 },
}

/// A joint to be added with [`RigidBodies::join`]. `a` and `b` are Frames of bodies or Points fixed in
/// them; at least one of the two bodies moves freely.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Joint {
    what: Type,
    a: HandleId,
    b: HandleId,
    anchor: Option<[f64; 3]>,
    axis: [f64; 3],
    limits: Option<[f64; 2]>,
    contacts: bool,
}

impl Joint {
    fn new(what: Type, a: HandleId, b: HandleId) -> Self {
        Self { what, a, b, anchor: None, axis: [0.0, 0.0, 1.0], limits: None, contacts: false }
    }

    /// Holds a point of `a` at a point of `b`; all turning is free.
    pub fn ball(a: HandleId, b: HandleId) -> Self {
        Self::new(Type::Ball, a, b)
    }

    /// Leaves only turning around [`Joint::axis`] free.
    pub fn hinge(a: HandleId, b: HandleId) -> Self {
        Self::new(Type::Hinge, a, b)
    }

    /// Leaves only sliding along [`Joint::axis`] free.
    pub fn prismatic(a: HandleId, b: HandleId) -> Self {
        Self::new(Type::Prismatic, a, b)
    }

    /// Holds `b` to `a` as they are when joined.
    pub fn fixed(a: HandleId, b: HandleId) -> Self {
        Self::new(Type::Fixed, a, b)
    }

    /// Keeps the handles within `length` `[m]` of each other.
    pub fn rope(a: HandleId, b: HandleId, length: f64) -> Self {
        Self::new(Type::Rope { length }, a, b)
    }

    /// A spring between the handles: rest length `[m]`, stiffness [N/m], damping [N s/m].
    ///
    /// Rapier integrates it implicitly, which damps it further, the more the larger the substep.
    pub fn spring(a: HandleId, b: HandleId, rest_length: f64, stiffness: f64, damping: f64) -> Self {
        Self::new(Type::Spring { rest_length, stiffness, damping }, a, b)
    }

    /// Where the joint is now, in the world `[m]`. Default: at `a`. Ropes and springs go from handle
    /// to handle and have none.
    pub fn anchor(mut self, anchor: [f64; 3]) -> Self {
        self.anchor = Some(anchor);
        self
    }

    /// The free axis of a hinge or prismatic joint in the world, of any length. Default Z.
    pub fn axis(mut self, axis: [f64; 3]) -> Self {
        self.axis = axis;
        self
    }

    /// Limits of the free angle `[rad]` or way `[m]`, counted from where it is now.
    pub fn limits(mut self, limits: [f64; 2]) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Whether the joined bodies collide with each other. Default no.
    pub fn contacts(mut self, contacts: bool) -> Self {
        self.contacts = contacts;
        self
    }

    /// # Errors
    /// Names the first number that is wrong.
    fn check(&self, of: &str) -> Result<(), SimulatorError> {
        let field = |field: &str| format!("{of}, {field}");
        if let Some(anchor) = self.anchor {
            check_vector(&field("anchor [m]"), anchor)?;
            crate::shape::check_points(&field("anchor"), &[anchor])?;
        }
        check_vector(&field("axis"), self.axis)?;
        if !(1.0e-9..1.0e9).contains(&Vector3::from(self.axis).norm()) {
            return Err(SimulatorError::refused(
                field("axis"),
                format!("{:?}", self.axis),
                "a length from 1e-9 to 1e9",
            ));
        }
        if let Some([low, high]) = self.limits {
            check_vector(&field("limits"), [low, high, 0.0])?;
            if low > high || !matches!(self.what, Type::Hinge | Type::Prismatic) {
                let found = format!("{:?} of a {:?}", [low, high], self.what);
                return Err(SimulatorError::refused(
                    field("limits"),
                    found,
                    "low <= high, of a hinge or prismatic joint",
                ));
            }
        }
        match self.what {
            Type::Rope { length } => check_length(&field("length [m]"), length),
            Type::Spring { rest_length, stiffness, damping } => {
                check_not_negative(&field("rest_length [m]"), rest_length)?;
                check_positive(&field("stiffness [N/m]"), stiffness)?;
                check_not_negative(&field("damping [N s/m]"), damping)
            }
            _ => Ok(()),
        }
    }
}

fn check_length(field: &str, length: f64) -> Result<(), SimulatorError> {
    check_positive(field, length)?;
    if length <= FARTHEST {
        Ok(())
    } else {
        Err(SimulatorError::refused(field, length, format!("at most {FARTHEST:e}")))
    }
}

impl RigidBodies {
    /// Joins two bodies of this world where they now are.
    ///
    /// # Errors
    /// The name is taken, a handle is foreign, both are of one body or neither moves freely, or a
    /// number is wrong. Nothing was joined.
    pub fn join(&mut self, name: &str, joint: Joint) -> Result<(), SimulatorError> {
        self.parameters.check()?;
        let of = format!("joint `{name}`");
        if self.joints.iter().any(|taken| taken == name) {
            return Err(SimulatorError::refused("joint name", format!("`{name}` twice"), "a name used once"));
        }
        joint.check(&of)?;
        let (one, point_a) = self.end_of(joint.a)?;
        let (two, point_b) = self.end_of(joint.b)?;
        if one == two {
            let found = format!("`{}` and `{}`", self.table.describe(joint.a), self.table.describe(joint.b));
            return Err(SimulatorError::refused(of, found, "handles of two bodies"));
        }
        let (first, second) = (&self.state.bodies[one], &self.state.bodies[two]);
        if !first.is_dynamic() && !second.is_dynamic() {
            return Err(SimulatorError::refused(of, "no body that moves freely", "at least one"));
        }
        let held_from_outside = !(first.is_dynamic() && second.is_dynamic());
        let mut data = build(&joint, first, second, point_a, point_b);
        data.set_contacts_enabled(joint.contacts);

        self.state.joints.insert(one, two, data, true);
        self.joints.push(name.into());
        if held_from_outside {
            self.state.external = None;
        }
        self.changed(&(name, joint));
        Ok(())
    }

    /// The body of a handle, and where in the world the handle is.
    fn end_of(&self, handle: HandleId) -> Result<(RigidBodyHandle, Vector), SimulatorError> {
        self.table.check(handle)?;
        match self.targets[handle.index as usize] {
            Target::Frame(body) => Ok((body, frame_position(&self.state.bodies[body]))),
            Target::Point(body, offset) => Ok((body, self.state.bodies[body].position() * offset)),
            Target::World => {
                let found = format!("`{}`", self.table.describe(handle));
                Err(SimulatorError::refused("handle", found, "a handle of a body"))
            }
        }
    }
}

fn build(joint: &Joint, first: &RigidBody, second: &RigidBody, at_a: Vector, at_b: Vector) -> GenericJoint {
    let anchor = joint.anchor.map_or(at_a, Vector::from_array);
    // Rapier's free axis is the X axis of the joint's frame, here given in both bodies' axes.
    let free = Vector3::from(joint.axis).normalize();
    let turn = UnitQuaternion::rotation_between(&Vector3::x(), &free)
        .unwrap_or_else(|| UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::PI));
    let frame_in = |body: &RigidBody| {
        let local = rotation(*body.rotation()).inverse() * turn;
        Pose::from_parts(local_point(body, anchor), glam_rotation(local))
    };
    let locked = |axes: JointAxesMask| {
        GenericJointBuilder::new(axes).local_frame1(frame_in(first)).local_frame2(frame_in(second)).build()
    };
    let mut data = match joint.what {
        Type::Ball => locked(JointAxesMask::LOCKED_SPHERICAL_AXES),
        Type::Hinge => locked(JointAxesMask::LOCKED_REVOLUTE_AXES),
        Type::Prismatic => locked(JointAxesMask::LOCKED_PRISMATIC_AXES),
        Type::Fixed => locked(JointAxesMask::LOCKED_FIXED_AXES),
        Type::Rope { length } => {
            let rope = RopeJointBuilder::new(length).local_anchor1(local_point(first, at_a));
            rope.local_anchor2(local_point(second, at_b)).build().into()
        }
        Type::Spring { rest_length, stiffness, damping } => {
            let spring = SpringJointBuilder::new(rest_length, stiffness, damping);
            let spring = spring.spring_model(MotorModel::ForceBased).local_anchor1(local_point(first, at_a));
            spring.local_anchor2(local_point(second, at_b)).build().into()
        }
    };
    if let Some(limits) = joint.limits {
        let axis = if joint.what == Type::Hinge { JointAxis::AngX } else { JointAxis::LinX };
        data.set_limits(axis, limits);
    }
    data
}

fn local_point(body: &RigidBody, point: Vector) -> Vector {
    body.position().inverse() * point
}
