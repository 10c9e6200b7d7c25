//! Bodies in words: what moves how, made of what, where it starts.

use std::sync::Arc;

use nalgebra::{UnitQuaternion, Vector3};
use partita_simulator::{SimulatorError, check_finite, check_not_negative, check_pair, check_vector};
use rapier3d_f64::{
    math::{Pose as RapierPose, Rotation, Vector},
    prelude::{ColliderBuilder, RigidBodyBuilder, RigidBodyType, SharedShape},
};
use serde::{Deserialize, Serialize};

use crate::{
    convert,
    parameters::Parameters,
    shape::{FARTHEST, Shape},
};

/// Where something is and how it is turned.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Pose {
    /// Position `[m]`.
    pub position: [f64; 3],
    /// Unit quaternion (x, y, z, w).
    pub orientation: [f64; 4],
}

impl Default for Pose {
    fn default() -> Self {
        Self { position: [0.0; 3], orientation: [0.0, 0.0, 0.0, 1.0] }
    }
}

impl Pose {
    /// At `position` `[m]`, not turned.
    pub fn at(position: [f64; 3]) -> Self {
        Self { position, ..Self::default() }
    }

    /// Turned further, by `angle` `[rad]` around `axis`, which need not be of unit length.
    pub fn turned(self, axis: [f64; 3], angle: f64) -> Self {
        let axis = Vector3::from(axis);
        // The largest component first, so that no square overflows.
        let turn = UnitQuaternion::new((axis / axis.amax()).normalize() * angle);
        Self { orientation: convert::array(turn * convert::quaternion(self.orientation)), ..self }
    }

    /// # Errors
    /// A number is not finite, too far out, or the quaternion is far from unit length.
    pub(crate) fn check(&self, of: &str) -> Result<(), SimulatorError> {
        if !self.position.iter().all(|x| x.abs() <= FARTHEST) {
            let expected = format!("finite, within {FARTHEST:e}");
            return Err(SimulatorError::refused(
                format!("{of}, position [m]"),
                format!("{:?}", self.position),
                expected,
            ));
        }
        let squared: f64 = self.orientation.iter().map(|x| x * x).sum();
        if (squared - 1.0).abs() < 1.0e-6 {
            return Ok(());
        }
        let found = format!("{:?}", self.orientation);
        Err(SimulatorError::refused(format!("{of}, orientation"), found, "a unit quaternion (x, y, z, w)"))
    }

    pub(crate) fn to_rapier(self) -> RapierPose {
        let turn = Rotation::from_array(self.orientation).normalize();
        RapierPose::from_parts(Vector::from_array(self.position), turn)
    }
}

/// Largest mass of a free body `[kg]`. Rapier treats determinants of inverse masses below 1e-20
/// kg⁻² as zero. So a cube of 4.4e10 kg falls through the floor. With a tenth of the contact width,
/// a lighter one does.
const HEAVIEST: f64 = 1.0e9;

/// Smallest extents of free bodies `[m]`: first of primitives (box, ball, capsule, cylinder), then
/// of hulls and meshes. Smaller bodies lose contacts, since rapier's collision detection has
/// absolute tolerances.
const THINNEST: [f64; 2] = [1.0e-3, 5.0e-3];

/// With more, rapier loses contact points of hulls `[m]`.
const LARGEST_SKIN: f64 = 0.02;

/// How far a body with a skin looks ahead at most `[m]`.
const AHEAD: f64 = 0.1;

/// How a body moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Role {
    /// Never.
    Fixed,
    /// As its script says, whatever pushes it.
    Kinematic,
    /// By the forces on it.
    Dynamic,
}

pub(crate) type Script = Arc<dyn Fn(f64) -> Pose + Send + Sync>;

/// A body to be added with [`crate::RigidBodies::add`].
#[derive(Clone, Serialize, Deserialize)]
pub struct Body {
    pub(crate) role: Role,
    pub(crate) shape: Shape,
    pub(crate) pose: Pose,
    pub(crate) velocity: [f64; 3],
    pub(crate) spin: [f64; 3],
    pub(crate) density: f64,
    pub(crate) mass: Option<f64>,
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
    pub(crate) thickness: f64,
    pub(crate) skin: f64,
    pub(crate) linear_damping: f64,
    pub(crate) angular_damping: f64,
    pub(crate) script_name: String,
    #[serde(skip)]
    pub(crate) script: Option<Script>,
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Body").field("role", &self.role).field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl Body {
    fn new(role: Role, shape: Shape) -> Self {
        Self {
            role,
            shape,
            pose: Pose::default(),
            velocity: [0.0; 3],
            spin: [0.0; 3],
            density: 1000.0,
            mass: None,
            friction: 0.5,
            restitution: 0.0,
            thickness: 0.0,
            skin: 0.0,
            linear_damping: 0.0,
            angular_damping: 0.0,
            script_name: String::new(),
            script: None,
        }
    }

    /// A body that never moves.
    pub fn fixed(shape: Shape) -> Self {
        Self::new(Role::Fixed, shape)
    }

    /// A body that moves freely, by default of water's density.
    pub fn dynamic(shape: Shape) -> Self {
        Self::new(Role::Dynamic, shape)
    }

    /// A body that is at `script(t)` at time t `[s]`, whatever pushes it.
    ///
    /// The script must depend on t alone: the same t, the same pose, or a step repeated after going back is another one.
    /// It is configuration, which a snapshot does not hold; [`Body::script_name`] tells two apart.
    pub fn kinematic(shape: Shape, script: impl Fn(f64) -> Pose + Send + Sync + 'static) -> Self {
        Self { script: Some(Arc::new(script)), ..Self::new(Role::Kinematic, shape) }
    }

    /// Where its origin is `[m]`. A kinematic body's script says so instead.
    pub fn at(mut self, position: [f64; 3]) -> Self {
        self.pose.position = position;
        self
    }

    /// Turned by `angle` `[rad]` around `axis` through its origin.
    pub fn turned(mut self, axis: [f64; 3], angle: f64) -> Self {
        self.pose = self.pose.turned(axis, angle);
        self
    }

    /// Position and orientation at once.
    pub fn posed(mut self, pose: Pose) -> Self {
        self.pose = pose;
        self
    }

    /// Velocity of the centre of mass at the start `[m/s]`.
    pub fn velocity(mut self, velocity: [f64; 3]) -> Self {
        self.velocity = velocity;
        self
    }

    /// Angular velocity at the start `[rad/s]`.
    pub fn spin(mut self, spin: [f64; 3]) -> Self {
        self.spin = spin;
        self
    }

    /// Density `[kg/m³]`, default 1000.
    pub fn density(mut self, density: f64) -> Self {
        (self.density, self.mass) = (density, None);
        self
    }

    /// Mass `[kg]` instead of density, spread evenly over the shape's volume.
    pub fn mass(mut self, mass: f64) -> Self {
        self.mass = Some(mass);
        self
    }

    /// Coulomb friction coefficient [-], default 0.5. Two bodies of one world meet with the mean
    /// of theirs; other simulators ask the user, or take this one.
    pub fn friction(mut self, friction: f64) -> Self {
        self.friction = friction;
        self
    }

    /// Coefficient of restitution from 0 to 1 [-], default 0; shared as friction is.
    pub fn restitution(mut self, restitution: f64) -> Self {
        self.restitution = restitution;
        self
    }

    /// Distance that things of other simulators keep from its surface `[m]`, default 0.
    pub fn thickness(mut self, thickness: f64) -> Self {
        self.thickness = thickness;
        self
    }

    /// Distance that other bodies of its world keep from its surface, up to 2 cm `[m]`, default 0; two keep the sum of theirs.
    /// With as much as the cloth is thick, bodies that meet with cloth between them leave it room. One with a skin looks
    /// ahead for what it meets, so that its skin holds at speed.
    pub fn skin(mut self, skin: f64) -> Self {
        self.skin = skin;
        self
    }

    /// Decay of velocity and of spin [1/s], default 0 and 0.
    pub fn damping(mut self, linear: f64, angular: f64) -> Self {
        (self.linear_damping, self.angular_damping) = (linear, angular);
        self
    }

    /// A name for the script, so that a snapshot of another script's world is refused.
    pub fn script_name(mut self, name: &str) -> Self {
        self.script_name = name.into();
        self
    }

    /// Checks every field, and gives what rapier needs.
    ///
    /// # Errors
    /// Names the first field that is wrong.
    pub(crate) fn build(
        &self,
        name: &str,
        now: f64,
        parameters: &Parameters,
    ) -> Result<(RigidBodyBuilder, ColliderBuilder), SimulatorError> {
        let of = format!("body `{name}`");
        let field = |field: &str| format!("{of}, {field}");
        let pose = self.script.as_ref().map_or(self.pose, |script| script(now));
        pose.check(&of)?;
        check_vector(&field("spin [rad/s]"), self.spin)?;
        check_vector(&field("velocity [m/s]"), self.velocity)?;
        let speed = self.velocity.iter().fold(0.0f64, |fastest, v| fastest.max(v.abs()));
        if speed > parameters.top_speed {
            let expected = format!("at most top_speed, {:e}", parameters.top_speed);
            return Err(SimulatorError::refused(field("velocity [m/s]"), speed, expected));
        }
        check_finite(&field("density [kg/m³]"), self.density)?;
        check_not_negative(&field("linear_damping [1/s]"), self.linear_damping)?;
        check_not_negative(&field("angular_damping [1/s]"), self.angular_damping)?;
        check_pair(&of, self.friction, self.restitution, self.thickness)?;
        if !(0.0..=LARGEST_SKIN).contains(&self.skin) {
            return Err(SimulatorError::refused(field("skin [m]"), self.skin, format!("from 0 to {LARGEST_SKIN}")));
        }
        if self.role == Role::Dynamic {
            let (what, value) = self.mass.map_or(("density [kg/m³]", self.density), |mass| ("mass [kg]", mass));
            partita_simulator::check_positive(&field(what), value)?;
        }
        let shape = self.shape.build(&of, self.role == Role::Dynamic)?;
        if self.role == Role::Dynamic {
            self.check_mass(&of, &shape)?;
            check_smallness(&of, &self.shape, &shape)?;
        }
        Ok(self.builders(pose, shape))
    }

    /// Rapier takes an inverse below 1e-20 for zero, so mass and inertia need to keep away from there.
    fn check_mass(&self, of: &str, shape: &SharedShape) -> Result<(), SimulatorError> {
        let unit = shape.mass_properties(1.0);
        let factor = self.mass.map_or(self.density, |mass| mass / unit.mass());
        let inertia = unit.principal_inertia() * factor;
        let rows =
            [("mass", unit.mass() * factor), ("inertia", inertia.min_element()), ("inertia", inertia.max_element())];
        if unit.mass() * factor > HEAVIEST * (1.0 + 1.0e-9) {
            let expected = format!("at most {HEAVIEST:e}: take a larger unit of mass, or a kinematic body");
            return Err(SimulatorError::refused(format!("{of}, mass [kg]"), unit.mass() * factor, expected));
        }
        for (what, value) in rows {
            if !(1.0e-18..=1.0e18).contains(&value) {
                let thing = format!("{of}, {what} of its volume [kg, kg m²]");
                return Err(SimulatorError::refused(thing, value, "from 1e-18 to 1e18"));
            }
        }
        Ok(())
    }

    fn builders(&self, pose: Pose, shape: SharedShape) -> (RigidBodyBuilder, ColliderBuilder) {
        let kind = match self.role {
            Role::Fixed => RigidBodyType::Fixed,
            Role::Kinematic => RigidBodyType::KinematicPositionBased,
            Role::Dynamic => RigidBodyType::Dynamic,
        };
        let body = RigidBodyBuilder::new(kind)
            .pose(pose.to_rapier())
            .linvel(Vector::from_array(self.velocity))
            .angvel(Vector::from_array(self.spin))
            .linear_damping(self.linear_damping)
            .angular_damping(self.angular_damping)
            // Otherwise rapier cuts the spin down to an eighth of a turn a step, silently.
            .allow_fast_rotation(true)
            .soft_ccd_prediction(if self.skin > 0.0 { AHEAD } else { 0.0 });
        let collider = ColliderBuilder::new(shape)
            .contact_skin(self.skin)
            .position(self.shape.place())
            .friction(self.friction)
            .restitution(self.restitution);
        let collider = match self.mass {
            Some(mass) => collider.mass(mass),
            None => collider.density(self.density),
        };
        (body, collider)
    }
}

/// # Errors
/// The body is thinner than what rapier finds contacts of.
fn check_smallness(of: &str, shape: &Shape, rapiers: &SharedShape) -> Result<(), SimulatorError> {
    let extent = 2.0 * rapiers.compute_local_aabb().half_extents().min_element();
    let [of_primitives, of_meshes] = THINNEST;
    let is_mesh = matches!(shape, Shape::Hull { .. } | Shape::Mesh { .. });
    let (thinnest, kind) = if is_mesh { (of_meshes, "hull or mesh") } else { (of_primitives, "box or round body") };
    // A size that was given in decimals may be below by rounding.
    if extent >= thinnest * (1.0 - 1.0e-9) {
        return Ok(());
    }
    let expected = format!(
        "at least {thinnest:e} for a {kind} that moves freely: take a smaller unit of length, as millimetres with \
         gravity in mm/s²"
    );
    Err(SimulatorError::refused(format!("{of}, smallest extent [m]"), extent, expected))
}
