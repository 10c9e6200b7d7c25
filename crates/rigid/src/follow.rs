//! Following: surfaces of others as moving obstacles, own handles held to theirs, and what that took.
//!
//! Rapier knows neither, but it knows kinematic bodies. An obstacle is one with the surface's
//! shape, sent along its path. What holds an own handle is one without a shape, and a joint.

use nalgebra::{Matrix3, Vector3};
use partita_simulator::{
    Carrier, Follows, Guide, HandleId, HandleState, Inputs, Reaction, SimulatorError, Wrench, check_guides,
};
use rapier3d_f64::{
    math::{MAX_MANIFOLD_POINTS, Pose, Rotation, Vector},
    parry::shape::SharedShape,
    prelude::{
        ActiveHooks, ColliderBuilder, ColliderHandle, ContactModificationContext, ContactPair, FrictionModel,
        GenericJointBuilder, ImpulseJointHandle, JointAxesMask, PairFilterContext, PhysicsHooks, RigidBody,
        RigidBodyBuilder, RigidBodyHandle, SolverFlags, SpringCoefficients,
    },
};

use crate::{
    RigidBodies,
    bodies::{Target, centre_of},
    convert::{rotation, vector},
    mesh::{Solid, is_convex, rapier_mesh, rapier_vertices, repaired},
    shape::check_points,
};

/// How far an attached handle may end from its carrier `[m]`; see the test of the same name.
pub(crate) const TOLERANCE: f64 = 1.0e-4;

/// What stands in for a guide in rapier's world.
pub(crate) struct StandIn {
    pub body: RigidBodyHandle,
    part: Part,
}

enum Part {
    Obstacle { collider: ColliderHandle },
    Attachment { joint: ImpulseJointHandle, own: RigidBodyHandle, offset: Vector, frame: bool },
}

/// A guide with nothing wrong, in rapier's terms.
enum Checked {
    Obstacle(Obstacle),
    Attachment { own: RigidBodyHandle, offset: Vector, frame: bool },
}

struct Obstacle {
    shape: SharedShape,
    thickness: f64,
    friction: f64,
    restitution: f64,
    except: Vec<RigidBodyHandle>,
}

/// The obstacles' own rules for pairs: their coefficients as they are, and whom they do not meet.
#[derive(Default)]
pub(crate) struct PairRules {
    obstacles: Vec<PairRule>,
}

struct PairRule {
    collider: ColliderHandle,
    friction: f64,
    restitution: f64,
    except: Vec<RigidBodyHandle>,
}

impl PairRules {
    /// Whether the collider stands in for an obstacle.
    pub fn knows(&self, collider: ColliderHandle) -> bool {
        self.of(collider, collider).is_some()
    }

    fn of(&self, one: ColliderHandle, two: ColliderHandle) -> Option<&PairRule> {
        self.obstacles.iter().find(|rule| rule.collider == one || rule.collider == two)
    }
}

impl PhysicsHooks for PairRules {
    fn filter_contact_pair(&self, pair: &PairFilterContext) -> Option<SolverFlags> {
        let excepted = self.of(pair.collider1, pair.collider2).is_some_and(|rule| {
            [pair.rigid_body1, pair.rigid_body2].iter().flatten().any(|body| rule.except.contains(body))
        });
        if excepted { None } else { Some(SolverFlags::COMPUTE_RIGID_IMPULSES) }
    }

    fn modify_solver_contacts(&self, pair: &mut ContactModificationContext) {
        if let Some(rule) = self.of(pair.collider1, pair.collider2)
            && let Some(manifold) = pair.rigid_mut()
        {
            (*manifold.friction, *manifold.restitution) = (rule.friction, rule.restitution);
        }
    }
}

/// What the reactions of one substep are read with, taken before rapier moves anything.
pub(crate) struct SubstepStart {
    /// By guide: where the carrier is at the begin.
    carriers: Vec<Option<Vector3<f64>>>,
    /// By guide, for attachments.
    joint_rows: Vec<Option<JointRows>>,
    /// Centres of mass by the number of the body.
    centres: Vec<Vector3<f64>>,
}

impl RigidBodies {
    pub(crate) fn can_follow() -> Follows {
        Follows {
            points: true,
            frames: true,
            rigid_surfaces: true,
            deforming_surfaces: false,
            lines: false,
            impacts: false,
            tolerance: TOLERANCE,
        }
    }

    /// # Errors
    /// A guide is not one to follow. Then none was taken.
    pub(crate) fn take_guides(&mut self, guides: Vec<Guide>) -> Result<(), SimulatorError> {
        self.parameters.check()?;
        check_guides(&self.table, Self::can_follow(), &self.guides, &guides)?;
        if !guides.is_empty() && self.parameters.solver_iterations != 1 {
            let found = self.parameters.solver_iterations;
            let expected = "1 with guides (rapier reports a joint's impulse for the last one only); use `substeps`";
            return Err(SimulatorError::refused("solver_iterations", found, expected));
        }
        if !guides.is_empty() && self.integration.friction_model != FrictionModel::Simplified {
            let found = format!("{:?}", self.integration.friction_model);
            return Err(SimulatorError::refused("friction_model", found, "Simplified with guides"));
        }
        if !guides.is_empty() && self.state.multibody_joints.iter().next().is_some() {
            // Their contacts and joints go through another solver, which reports in other terms.
            return Err(SimulatorError::refused("guides", "a world with multibody joints", "impulse joints only"));
        }
        let checked =
            guides.iter().enumerate().map(|(i, guide)| self.check_guide(i, guide)).collect::<Result<Vec<_>, _>>()?;

        for guide in checked {
            let stand_in = match guide {
                Checked::Obstacle(obstacle) => self.stand_in_for_obstacle(obstacle),
                Checked::Attachment { own, offset, frame } => self.stand_in_for_carrier(own, offset, frame),
            };
            self.stand_ins.push(stand_in);
        }
        // A sleeping body would report the impulses of when it fell asleep.
        for member in &self.members {
            let body = &mut self.state.bodies[member.body];
            body.activation_mut().normalized_linear_threshold = -1.0;
            body.activation_mut().angular_threshold = -1.0;
            body.wake_up(true);
        }
        self.changed(&guides);
        self.guides = guides;
        Ok(())
    }

    /// What stands in for the guide, with all checked that could be wrong.
    fn check_guide(&self, number: usize, guide: &Guide) -> Result<Checked, SimulatorError> {
        match guide {
            Guide::Attachment { own } => match self.targets[own.index as usize] {
                Target::Frame(body) if self.state.bodies[body].is_dynamic() => {
                    let offset = self.state.bodies[body].local_center_of_mass();
                    Ok(Checked::Attachment { own: body, offset, frame: true })
                }
                Target::Point(body, offset) if self.state.bodies[body].is_dynamic() => {
                    Ok(Checked::Attachment { own: body, offset, frame: false })
                }
                _ => {
                    let thing = format!("guide {number}, own");
                    let found = format!("`{}`", self.table.describe(*own));
                    Err(SimulatorError::refused(thing, found, "a handle of a body that moves freely"))
                }
            },
            Guide::Obstacle { surface, thickness, friction, restitution, except } => {
                debug_assert!(matches!(surface.carrier, Carrier::Frame(_)), "`check_guides` refuses others");
                let of = format!("guide {number}, surface `{}`", surface.name);
                check_points(&of, &surface.vertices)?;
                let solid = repaired(&of, &surface.vertices, &surface.triangles)?;
                let shape = obstacle_shape(&of, &solid, surface.two_sided, *thickness)?;
                let body_of = |handle: &HandleId| match self.targets[handle.index as usize] {
                    Target::Frame(body) | Target::Point(body, _) => Some(body),
                    Target::World => None,
                };
                let (thickness, friction, restitution) = (*thickness, *friction, *restitution);
                let except = except.iter().filter_map(body_of).collect();
                Ok(Checked::Obstacle(Obstacle { shape, thickness, friction, restitution, except }))
            }
        }
    }

    fn stand_in_for_obstacle(&mut self, obstacle: Obstacle) -> StandIn {
        let Obstacle { shape, thickness, friction, restitution, except } = obstacle;
        let body = self.state.bodies.insert(RigidBodyBuilder::kinematic_position_based().enabled(false));
        let mut hooks = ActiveHooks::MODIFY_SOLVER_CONTACTS;
        if !except.is_empty() {
            hooks |= ActiveHooks::FILTER_CONTACT_PAIRS;
        }
        let skin = if shape.as_trimesh().is_some() { thickness } else { 0.0 };
        let collider = ColliderBuilder::new(shape).contact_skin(skin).active_hooks(hooks);
        let collider = self.state.colliders.insert_with_parent(collider, body, &mut self.state.bodies);
        self.rules.obstacles.push(PairRule { collider, friction, restitution, except });
        StandIn { body, part: Part::Obstacle { collider } }
    }

    fn stand_in_for_carrier(&mut self, own: RigidBodyHandle, offset: Vector, frame: bool) -> StandIn {
        let body = self.state.bodies.insert(RigidBodyBuilder::kinematic_velocity_based().enabled(false));
        let axes = if frame { JointAxesMask::LOCKED_FIXED_AXES } else { JointAxesMask::LOCKED_SPHERICAL_AXES };
        // As hard as rapier can: the default 1e6 Hz leaves 3e-4 of an error at 1 kHz.
        let hard = SpringCoefficients { natural_frequency: 1.0e12, damping_ratio: 1.0 };
        let joint = GenericJointBuilder::new(axes).local_anchor2(offset).softness(hard).contacts_enabled(true);
        let joint = self.state.joints.insert(body, own, joint, true);
        StandIn { body, part: Part::Attachment { joint, own, offset, frame } }
    }

    /// Sends obstacles and carriers from one fraction of the step to another, and notes what the reactions need.
    pub(crate) fn drive_guides(&mut self, dt: f64, [from, to]: [f64; 2], inputs: &Inputs) -> SubstepStart {
        let h = dt * (to - from);
        let mut start = SubstepStart { carriers: Vec::new(), joint_rows: Vec::new(), centres: Vec::new() };
        for number in 0..self.stand_ins.len() {
            let motion = inputs.motions.get(number).and_then(Option::as_ref);
            let stand_in = &self.stand_ins[number];
            let body = &mut self.state.bodies[stand_in.body];
            if body.is_enabled() != motion.is_some() {
                body.set_enabled(motion.is_some());
            }
            let (begin, end) = match motion {
                Some(motion) => {
                    let part = motion.between(&self.guides[number], dt, [from, to]);
                    (part.begin[0], part.end[0])
                }
                None => {
                    start.carriers.push(None);
                    start.joint_rows.push(None);
                    continue;
                }
            };
            start.carriers.push(Some(Vector3::from(begin.position)));
            match stand_in.part {
                Part::Obstacle { .. } => {
                    let pose = pose_of(&begin);
                    if *body.position() != pose {
                        body.set_position(pose, true);
                    }
                    body.set_next_kinematic_position(pose_of(&end));
                    start.joint_rows.push(None);
                }
                Part::Attachment { own, offset, frame, .. } => {
                    let held = &self.state.bodies[own];
                    let arm = held.position() * offset - centre_of(held);
                    let spin = held.angvel();
                    let body = &mut self.state.bodies[stand_in.body];
                    if frame {
                        lead_frame(body, &end, h);
                    } else {
                        lead_point(body, &end, h, spin, arm);
                    }
                    let lead = rotation(*body.rotation());
                    start.joint_rows.push(Some(JointRows::new(&self.state.bodies[own], offset, frame.then_some(lead))));
                }
            }
        }
        if !self.stand_ins.is_empty() {
            self.note_centres(&mut start);
        }
        start
    }

    fn note_centres(&self, start: &mut SubstepStart) {
        for (handle, body) in self.state.bodies.iter() {
            let number = handle.into_raw_parts().0 as usize;
            if start.centres.len() <= number {
                start.centres.resize(number + 1, Vector3::zeros());
            }
            start.centres[number] = vector(centre_of(body));
        }
    }

    /// The largest distance that an attached handle ended from its carrier `[m]`.
    pub(crate) fn widest_gap(&self, inputs: &Inputs) -> f64 {
        let gaps = self.guides.iter().zip(&inputs.motions).filter_map(|(guide, motion)| match (guide, motion) {
            (Guide::Attachment { own }, Some(motion)) => {
                let own = self.state_at(self.targets[own.index as usize]);
                Some((Vector3::from(own.position) - Vector3::from(motion.end[0].position)).norm())
            }
            _ => None,
        });
        gaps.fold(0.0, f64::max)
    }

    /// Adds what the last substep put on each guide's carrier.
    pub(crate) fn book_reactions(&self, start: &SubstepStart, reactions: &mut [Wrench]) {
        for (number, stand_in) in self.stand_ins.iter().enumerate() {
            let Some(carrier) = start.carriers[number] else { continue };
            match &stand_in.part {
                Part::Obstacle { collider } => {
                    for pair in self.state.narrow_phase.contact_pairs_with(*collider) {
                        reactions[number] += on_obstacle(pair, *collider, &carrier, start);
                    }
                }
                Part::Attachment { joint, frame, .. } => {
                    let rows = start.joint_rows[number].as_ref().expect("an attachment that acts");
                    let joint = self.state.joints.get(*joint).expect("joints are never removed");
                    let impulses: Vec<f64> = (0..6).map(|i| joint.impulses[i]).collect();
                    reactions[number] += rows.on_carrier(&impulses, *frame);
                }
            }
        }
    }
}

/// A convex surface becomes a solid, which nothing can get caught in; any other its triangles.
///
/// The thickness of a solid is rounded onto it: with a `contact_skin` of more than 2 cm rapier loses
/// contact points of hulls, and what lies on them rocks.
fn obstacle_shape(of: &str, solid: &Solid, two_sided: bool, thickness: f64) -> Result<SharedShape, SimulatorError> {
    if !two_sided && is_convex(solid) {
        let vertices = rapier_vertices(&solid.mesh);
        let hull = if thickness > 0.0 {
            SharedShape::round_convex_hull(&vertices, thickness)
        } else {
            SharedShape::convex_hull(&vertices)
        };
        if let Some(hull) = hull {
            return Ok(hull);
        }
    }
    rapier_mesh(of, solid, two_sided)
}

/// Reactions as the report has them.
pub(crate) fn listed(reactions: &[Wrench]) -> Vec<Reaction> {
    let acting = reactions.iter().enumerate().filter(|(_, impulse)| **impulse != Wrench::ZERO);
    acting.map(|(guide, &impulse)| Reaction { guide: guide as u32, carrier: 0, impulse }).collect()
}

fn pose_of(state: &HandleState) -> Pose {
    let turn = Rotation::from_array(state.orientation).normalize();
    Pose::from_parts(Vector::from_array(state.position), turn)
}

/// Places a stand-in so that with the carrier's *end* velocity it arrives at the carrier's end. The
/// joint then brings the own frame to that place with that velocity, both at once.
fn lead_frame(body: &mut RigidBody, end: &HandleState, h: f64) {
    let (velocity, spin) = (Vector::from_array(end.velocity), Vector::from_array(end.spin));
    let mut pose = pose_of(end);
    pose.translation -= velocity * h;
    pose.rotation = Rotation::from_scaled_axis(spin * -h) * pose.rotation;
    body.set_position(pose, true);
    body.set_linvel(velocity, true);
    body.set_angvel(spin, true);
}

/// The same for a Point at `arm` from the centre of mass of a body with spin ω. Rapier keeps the arm r
/// through the substep, while the true one becomes r + h ω × r + h²/2 ω × (ω × r): the place that
/// is led to lies behind by the last term, and the velocity by h ω × (ω × r).
fn lead_point(body: &mut RigidBody, end: &HandleState, h: f64, spin: Vector, arm: Vector) {
    let inwards = spin.cross(spin.cross(arm));
    let velocity = Vector::from_array(end.velocity) - inwards * h;
    let place = Vector::from_array(end.position) - inwards * (0.5 * h * h);
    body.set_position(Pose::from_translation(place - velocity * h), true);
    body.set_linvel(velocity, true);
}

/// The impulse of a pair of colliders on the obstacle, about where its carrier is.
///
/// Each point of a manifold presses along the normal. Friction acts once a manifold, in the middle of
/// its points, with a twist about the normal where there are several; each point has a copy of both
/// (`writeback_impulses` in rapier 0.36, `contact_constraint/contact_with_twist_friction.rs`).
fn on_obstacle(pair: &ContactPair, obstacle: ColliderHandle, carrier: &Vector3<f64>, start: &SubstepStart) -> Wrench {
    let first = pair.collider1 == obstacle;
    // Rapier's impulses are those on the first body.
    let sign = if first { 1.0 } else { -1.0 };
    let (mut force, mut torque) = (Vector3::zeros(), Vector3::zeros());
    for manifold in pair.solver_manifolds() {
        let data = &manifold.data;
        let Some(other) = (if first { data.rigid_body2 } else { data.rigid_body1 }) else { continue };
        let centre = start.centres[other.into_raw_parts().0 as usize] - carrier;
        let normal = -sign * vector(data.normal);
        let count = data.solver_contacts.len().min(MAX_MANIFOLD_POINTS);
        let points = data.solver_contacts[..count]
            .iter()
            .map(|contact| &manifold.points[contact.contact_indices()[0] as usize].data);
        let mut middle = Vector3::zeros();
        for point in points.clone() {
            let arm = centre + vector(if first { point.solver_dp2 } else { point.solver_dp1 });
            force += normal * point.impulse;
            torque += arm.cross(&normal) * point.impulse;
            middle += arm / count as f64;
        }
        if let Some(point) = points.clone().next() {
            let friction = sign * vector(point.warmstart_tangent_world);
            let twist = if count > 1 { point.warmstart_twist_impulse } else { 0.0 };
            force += friction;
            torque += middle.cross(&friction) + normal * twist;
        }
    }
    Wrench { linear: force.into(), angular: torque.into() }
}

/// What turns the impulses that rapier reports for a joint into a force and a torque.
///
/// Rapier solves the rows J of a joint after making them orthogonal in M⁻¹ (modified
/// Gram-Schmidt), and reports one impulse λ for each of *those* rows. So the impulse is Σ λᵢ J'ᵢ, with
/// the same J' made again here; the carrier's side of M⁻¹ is zero, as for every kinematic body.
///
/// This repeats rapier 0.36.1, `src/dynamics/solver/joint_constraint/joint_constraint_helper.rs`: the rows of
/// `new`, `lock_linear` and `lock_angular`, and `finalize_constraints`. Another version may have other ones;
/// the tests that balance the reactions of attachments (`tests/suite/following.rs`) tell.
pub(crate) struct JointRows {
    rows: Vec<Row>,
}

#[derive(Clone, Copy)]
struct Row {
    linear: Vector3<f64>,
    angular: Vector3<f64>,
}

impl JointRows {
    /// Of a Point `offset` from the body's origin, or of the frame at its centre of mass turned
    /// against `lead`.
    fn new(own: &RigidBody, offset: Vector, lead: Option<nalgebra::UnitQuaternion<f64>>) -> Self {
        let properties = own.mass_properties();
        let inverse_mass = vector(properties.effective_inv_mass);
        let inverse_inertia = inverse_inertia(own);
        let arm = vector(own.position() * offset - centre_of(own));
        let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
        let lead_axes = lead.map_or(Matrix3::identity(), |q| q.to_rotation_matrix().into_inner());
        let mut rows: Vec<Row> = axes
            .iter()
            .map(|axis| lead_axes * axis)
            .map(|axis| Row { linear: axis, angular: arm.cross(&axis) })
            .collect();
        if let Some(lead) = lead {
            let turn = angular_rows(&lead, &rotation(*own.rotation()));
            rows.extend(turn.column_iter().map(|row| Row { linear: Vector3::zeros(), angular: row.into() }));
        }
        orthogonalise(&mut rows, &inverse_mass, &inverse_inertia);
        Self { rows }
    }

    /// On the carrier: of a Point no torque, since the line of action goes through it.
    fn on_carrier(&self, impulses: &[f64], frame: bool) -> Wrench {
        let (mut force, mut torque) = (Vector3::zeros(), Vector3::zeros());
        for (row, &impulse) in self.rows.iter().zip(impulses) {
            force += impulse * row.linear;
            torque += impulse * row.angular;
        }
        Wrench { linear: force.into(), angular: if frame { torque.into() } else { [0.0; 3] } }
    }
}

fn inverse_inertia(body: &RigidBody) -> Matrix3<f64> {
    let i = &body.mass_properties().effective_world_inv_inertia;
    Matrix3::new(i.m11, i.m12, i.m13, i.m12, i.m22, i.m23, i.m13, i.m23, i.m33)
}

/// Columns: derivative of the imaginary part of q₁* q₂ by turning, rapier's rows for a locked rotation
/// (0.36.1, `diff_conj1_2` in `src/utils/rotation_ops.rs`, with the sign of `JointConstraintHelper::new`).
fn angular_rows(q1: &nalgebra::UnitQuaternion<f64>, q2: &nalgebra::UnitQuaternion<f64>) -> Matrix3<f64> {
    let (v1, v2, w1, w2) = (q1.imag(), q2.imag(), q1.w, q2.w);
    let rows = (v1 * v2.transpose() + Matrix3::identity() * (w1 * w2) - (v1 * w2 + v2 * w1).cross_matrix()
        + v1.cross_matrix() * v2.cross_matrix())
        * 0.5;
    let sign = 1.0f64.copysign(q1.coords.dot(&q2.coords));
    rows.transpose() * sign
}

/// As rapier 0.36.1 does in `finalize_constraints`, for rows without limits of their impulse.
fn orthogonalise(rows: &mut [Row], inverse_mass: &Vector3<f64>, inverse_inertia: &Matrix3<f64>) {
    let dot = |a: &Row, b: &Row| {
        a.linear.dot(&inverse_mass.component_mul(&b.linear)) + (inverse_inertia * a.angular).dot(&b.angular)
    };
    for j in 0..rows.len() {
        let row = rows[j];
        let square = dot(&row, &row);
        for other in &mut rows[j + 1..] {
            let part = dot(other, &row) / square;
            other.linear -= part * row.linear;
            other.angular -= part * row.angular;
        }
    }
}
