//! The simulator as a user builds it: bodies and points by name.

use std::{borrow::Cow, sync::Arc};

use partita_simulator::{
    Carrier, Guide, HandleId, HandleState, HandleTable, Identity, Kind, Note, Primitive, SimulatorError, Snapshot,
    Surface, check_vector, layout_of,
};
use rapier3d_f64::{
    math::{Pose, Vector},
    prelude::{ColliderHandle, IntegrationParameters, PhysicsPipeline, RigidBody, RigidBodyHandle, SpringCoefficients},
};

use crate::{
    body::{Body, Role, Script},
    convert,
    follow::{PairRules, StandIn},
    limits,
    parameters::Parameters,
    rotation::FreeRotation,
    state::State,
    step::Undo,
    surfaces::{Skin, tessellate},
    sweep::{Crossing, Extent, RECYCLED},
};

/// Depth by which bodies may sink into each other under their weight, relative to their smallest extent [-].
const SINK: f64 = 0.0025;

/// A world of rigid bodies.
///
/// ```
/// use partita_rigid::{Body, RigidBodies, Shape};
/// use partita_simulator::{Inputs, Simulator};
///
/// let mut rigid = RigidBodies::new("rigid");
/// rigid.add("floor", Body::fixed(Shape::cuboid([4.0, 0.1, 4.0])))?;
/// let rod = rigid.add("rod", Body::dynamic(Shape::capsule_x(0.6, 0.03)).at([0.0, 2.0, 0.0]).density(400.0))?;
/// let tip = rigid.point(rod, [0.3, 0.0, 0.0])?;
/// rigid.step(1.0 / 240.0, Inputs::NONE)?;
/// # let _ = tip;
/// # Ok::<(), partita_simulator::SimulatorError>(())
/// ```
pub struct RigidBodies {
    pub(crate) name: String,
    pub(crate) parameters: Parameters,
    /// What `parameters` leave open, of rapier's choice or of the user's world.
    pub(crate) integration: IntegrationParameters,
    /// Whether the world, with its integration parameters, was built by the user with rapier.
    pub(crate) is_imported: bool,
    /// Smallest extent of a body that moves freely `[m]`; infinite without one.
    pub(crate) smallest_size: f64,
    pub(crate) table: HandleTable,
    /// What each handle holds on to, by its index.
    pub(crate) targets: Vec<Target>,
    pub(crate) members: Vec<Member>,
    pub(crate) surfaces: Vec<Arc<Surface>>,
    /// Limits of what was added.
    pub(crate) notes: Vec<Note>,
    /// A hash over all that was added, in order.
    pub(crate) configuration: u64,
    /// Names of joints.
    pub(crate) joints: Vec<String>,
    pub(crate) guides: Vec<Guide>,
    /// One a guide.
    pub(crate) stand_ins: Vec<StandIn>,
    pub(crate) rules: PairRules,
    pub(crate) state: State,
    /// Whether something was added that rapier has not taken in yet.
    pub(crate) unsettled: bool,
    /// Extents of solid colliders, by their number.
    pub(crate) extents: Vec<Option<Extent>>,
    /// Pairs that may pass each other in the current piece of a substep.
    pub(crate) crossings: Vec<Crossing>,
    /// Rotations of the current substep.
    pub(crate) rotations: Vec<FreeRotation>,
    pub(crate) undo: Option<Undo>,
    pub(crate) pipeline: PhysicsPipeline,
}

/// What a handle holds on to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// The frame of a body: at the centre of mass where it moves freely, else at its origin.
    Frame(RigidBodyHandle),
    /// A point fixed in a body, in its own axes from its origin.
    Point(RigidBodyHandle, Vector),
    /// The world's frame, which carries colliders without a body.
    World,
}

/// A body under its name.
pub(crate) struct Member {
    pub name: String,
    pub body: RigidBodyHandle,
    pub frame: HandleId,
    pub script: Option<Script>,
    /// Whether gyroscopic torques act on it.
    pub gyroscopic: bool,
}

impl RigidBodies {
    /// An empty world with gravity.
    pub fn new(name: &str) -> Self {
        let parameters = Parameters::default();
        let mut integration = IntegrationParameters::default();
        integration.normalized_contact_recycle_distance = RECYCLED * integration.normalized_prediction_distance;
        parameters.write(&mut integration);
        Self {
            name: name.into(),
            parameters,
            integration,
            is_imported: false,
            smallest_size: f64::INFINITY,
            table: HandleTable::new("rigid", name),
            targets: Vec::new(),
            members: Vec::new(),
            surfaces: Vec::new(),
            notes: Vec::new(),
            configuration: 0,
            joints: Vec::new(),
            guides: Vec::new(),
            stand_ins: Vec::new(),
            rules: PairRules::default(),
            state: State::new(),
            unsettled: true,
            extents: Vec::new(),
            crossings: Vec::new(),
            rotations: Vec::new(),
            undo: None,
            pipeline: PhysicsPipeline::new(),
        }
    }

    /// All parameters at once. What is wrong with them is told by the next `add` or step.
    pub fn with(mut self, parameters: Parameters) -> Self {
        self.parameters = parameters;
        self.fit_integration();
        self.unsettled = true;
        self.undo = None;
        self
    }

    /// Acceleration of free fall [m/s²].
    pub fn gravity(self, gravity: [f64; 3]) -> Self {
        let parameters = Parameters { gravity, ..self.parameters.clone() };
        self.with(parameters)
    }

    /// [`Parameters::substeps`]
    pub fn substeps(self, substeps: u32) -> Self {
        let parameters = Parameters { substeps, ..self.parameters.clone() };
        self.with(parameters)
    }

    /// [`Parameters::solver_iterations`]
    pub fn solver_iterations(self, solver_iterations: u32) -> Self {
        let parameters = Parameters { solver_iterations, ..self.parameters.clone() };
        self.with(parameters)
    }

    /// [`Parameters::sweeps`]
    pub fn sweeps(self, sweeps: u32) -> Self {
        let parameters = Parameters { sweeps, ..self.parameters.clone() };
        self.with(parameters)
    }

    /// [`Parameters::top_speed`]
    pub fn top_speed(self, top_speed: f64) -> Self {
        let parameters = Parameters { top_speed, ..self.parameters.clone() };
        self.with(parameters)
    }

    /// [`Parameters::free_rotation`]
    pub fn free_rotation(self, free_rotation: bool) -> Self {
        let parameters = Parameters { free_rotation, ..self.parameters.clone() };
        self.with(parameters)
    }

    /// [`Parameters::impacts`]
    pub fn impacts(self, impacts: u32) -> Self {
        let parameters = Parameters { impacts, ..self.parameters.clone() };
        self.with(parameters)
    }

    /// [`Parameters::sleep`], for bodies that are added later.
    pub fn sleep(self, sleep: bool) -> Self {
        let parameters = Parameters { sleep, ..self.parameters.clone() };
        self.with(parameters)
    }

    /// The parameters as they are.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Limits of what was imported or added, which the report of the first step repeats: parts of a world of
    /// rapier's that others do not see, or bodies whose contacts are known to be poor.
    pub fn notes(&self) -> Vec<Note> {
        let imported = if self.is_imported { limits::notes(self) } else { Vec::new() };
        imported.into_iter().chain(self.notes.iter().cloned()).collect()
    }

    /// Adds a body; its frame is the handle that comes back, under the same name.
    ///
    /// # Errors
    /// The name is taken, or a parameter, a number or the shape is wrong. Nothing was added.
    pub fn add(&mut self, name: &str, body: Body) -> Result<HandleId, SimulatorError> {
        self.parameters.check()?;
        let (rigid_body, collider) = body.build(name, self.state.time, &self.parameters)?;
        let size = 2.0 * collider.shape.compute_local_aabb().half_extents().min_element();
        let is_concave = collider.shape.as_trimesh().is_some();
        let rigid_body = rigid_body.can_sleep(self.parameters.sleep && self.guides.is_empty());
        let frame = self.table.add(name, Kind::Frame, 1)?;
        let handle = self.state.bodies.insert(rigid_body);
        let collider = self.state.colliders.insert_with_parent(collider, handle, &mut self.state.bodies);
        self.targets.push(Target::Frame(handle));
        self.members.push(Member {
            name: name.into(),
            body: handle,
            frame,
            script: body.script.clone(),
            gyroscopic: true,
        });
        let material = (body.friction, body.restitution, body.thickness);
        self.show(name, frame, self.state.bodies[handle].is_dynamic().then_some(handle), collider, material);
        if body.role == Role::Dynamic {
            self.smallest_size = self.smallest_size.min(size);
            self.fit_integration();
            if is_concave {
                let kind = "concave mesh that moves freely, which may lose contacts with other meshes; make it of several \
                            hulls";
                Note::about(format!("`{name}`"), kind).add_to(&mut self.notes);
            }
        }
        if body.role == Role::Dynamic && (body.linear_damping, body.angular_damping) != (0.0, 0.0) {
            self.state.external = None;
        }
        self.changed(&(name, body));
        Ok(frame)
    }

    /// A Point fixed in a body, at `offset` `[m]` in the body's own axes from its origin. Its name is
    /// the body's with a number: `rod.0`.
    ///
    /// # Errors
    /// `body` is not the frame of a body of this world, or `offset` is not finite.
    pub fn point(&mut self, body: HandleId, offset: [f64; 3]) -> Result<HandleId, SimulatorError> {
        check_vector("offset [m]", offset)?;
        crate::shape::check_points("offset", &[offset])?;
        let handle = self.body_of(body)?;
        let member = self.table.describe(body);
        let points = self.targets.iter().filter(|t| matches!(t, Target::Point(of, _) if *of == handle)).count();
        let point = self.table.add(&format!("{member}.{points}"), Kind::Point, 1)?;
        self.targets.push(Target::Point(handle, Vector::from_array(offset)));
        self.changed(&(point, offset));
        Ok(point)
    }

    /// The frame of the body `name`.
    ///
    /// # Errors
    /// There is none.
    pub fn body(&self, name: &str) -> Result<HandleId, SimulatorError> {
        let member = self.members.iter().find(|member| member.name == name);
        member.map(|member| member.frame).ok_or_else(|| {
            let names: Vec<_> = self.members.iter().map(|member| member.name.as_str()).collect();
            SimulatorError::refused("body", format!("`{name}`"), format!("one of {names:?}"))
        })
    }

    /// The state of one handle now.
    ///
    /// # Errors
    /// The handle is foreign.
    pub fn state_of(&self, handle: HandleId) -> Result<HandleState, SimulatorError> {
        self.table.check(handle)?;
        Ok(self.state_at(self.targets[handle.index as usize]))
    }

    /// The rapier body behind a Frame.
    pub(crate) fn body_of(&self, frame: HandleId) -> Result<RigidBodyHandle, SimulatorError> {
        self.table.check(frame)?;
        match self.targets[frame.index as usize] {
            Target::Frame(body) => Ok(body),
            _ => {
                let found = format!("`{}`", self.table.describe(frame));
                Err(SimulatorError::refused("handle", found, "the frame of a body"))
            }
        }
    }

    /// Shows a collider's surface, carried by `frame`, whose origin is the centre of mass of `free`.
    pub(crate) fn show(
        &mut self,
        name: &str,
        frame: HandleId,
        free: Option<RigidBodyHandle>,
        collider: ColliderHandle,
        (friction, restitution, thickness): (f64, f64, f64),
    ) {
        let collider = &self.state.colliders[collider];
        let place = match collider.position_wrt_parent() {
            Some(place) => *place,
            None => *collider.position(),
        };
        let centre = free.map_or(Vector::ZERO, |body| self.state.bodies[body].local_center_of_mass());
        let place = Pose::from_translation(-centre) * place;
        let Some(Skin { vertices, triangles, open, primitive }) = tessellate(collider.shape(), &place) else { return };
        let primitive = primitive.map(|(shape, pose)| Primitive {
            shape,
            position: pose.translation.to_array(),
            orientation: pose.rotation.to_array(),
        });
        self.surfaces.push(Arc::new(Surface {
            name: name.into(),
            carrier: Carrier::Frame(frame),
            vertices,
            triangles,
            lines: vec![],
            two_sided: open,
            primitive,
            friction,
            restitution,
            thickness,
        }));
    }

    /// Fits rapier's lengths and contact stiffness to the smallest body that moves freely.
    ///
    /// Contacts are springs of angular frequency ω, so bodies sink by g/ω²: 0.28 mm at rapier's 30
    /// Hz. Bodies smaller than 11 cm get stiffer contacts, so that they sink by at most [`SINK`] of
    /// their size. (Contacts with fixed bodies have twice the frequency.)
    fn fit_integration(&mut self) {
        let own = IntegrationParameters::default();
        if self.is_imported {
            return self.parameters.write(&mut self.integration);
        }
        let gravity = nalgebra::Vector3::from(self.parameters.gravity).norm();
        let frequency = (gravity / (SINK * self.smallest_size)).sqrt() / std::f64::consts::TAU;
        let stiffer = (frequency / own.contact_softness.natural_frequency).max(1.0);
        let softness = |of: SpringCoefficients<f64>| SpringCoefficients {
            natural_frequency: of.natural_frequency * stiffer,
            ..of
        };
        self.integration.contact_softness = softness(own.contact_softness);
        self.integration.static_contact_softness = softness(own.static_contact_softness);
        self.integration.length_unit = self.smallest_size.min(own.length_unit);
        self.parameters.write(&mut self.integration);
    }

    /// Notes that the configuration grew by `what`.
    pub(crate) fn changed(&mut self, what: &impl serde::Serialize) {
        self.configuration = layout_of(&(self.configuration, layout_of(what)));
        self.unsettled = true;
        self.undo = None;
    }

    /// Whose snapshots these are.
    pub(crate) fn of(&self) -> Identity {
        Identity::new(&self.table, &(self.configuration, &self.parameters, &self.integration))
    }

    /// The state with all that was added taken in, so that it is complete in bytes: rapier leaves
    /// its list of new joints out of them.
    pub(crate) fn settled(&self) -> Cow<'_, State> {
        if !self.unsettled {
            return Cow::Borrowed(&self.state);
        }
        let mut state = self.state.clone();
        self.settle(&mut state, &mut PhysicsPipeline::new());
        Cow::Owned(state)
    }

    pub(crate) fn settle(&self, state: &mut State, pipeline: &mut PhysicsPipeline) {
        for member in self.members.iter().filter(|member| member.gyroscopic) {
            state.bodies[member.body].enable_gyroscopic_forces(!self.parameters.free_rotation);
        }
        let still = IntegrationParameters { dt: 0.0, ..self.integration };
        state.advance(pipeline, self.parameters.gravity, &still, &self.rules);
    }

    pub(crate) fn snapshot_now(&self, reuse: Option<Snapshot>) -> Snapshot {
        let state = self.settled();
        Snapshot::renew(reuse, self.of(), state.time, &*state)
    }

    pub(crate) fn state_at(&self, target: Target) -> HandleState {
        let bodies = &self.state.bodies;
        match target {
            Target::World => HandleState::default(),
            Target::Frame(body) => {
                let body = &bodies[body];
                let position = frame_position(body);
                HandleState {
                    position: position.to_array(),
                    velocity: velocity_at(body, position).to_array(),
                    orientation: convert::array(convert::rotation(*body.rotation())),
                    spin: body.angvel().to_array(),
                }
            }
            Target::Point(body, offset) => {
                let body = &bodies[body];
                let position = body.position() * offset;
                HandleState::point(position.to_array(), velocity_at(body, position).to_array())
            }
        }
    }
}

/// Centre of mass now. Rapier's own copy in world axes is not up to date before the first step.
pub(crate) fn centre_of(body: &RigidBody) -> Vector {
    body.position() * body.local_center_of_mass()
}

/// Where the Frame of a body is.
pub(crate) fn frame_position(body: &RigidBody) -> Vector {
    if body.is_dynamic() { centre_of(body) } else { body.translation() }
}

pub(crate) fn velocity_at(body: &RigidBody, point: Vector) -> Vector {
    body.linvel() + body.angvel().cross(point - centre_of(body))
}
