//! A world that the user built with rapier, taken as it is.

use partita_simulator::{HandleId, Kind, SimulatorError, hash_bytes};
use rapier3d_f64::{
    parry::shape::{Shape, TypedShape},
    pipeline::ActiveHooks,
    prelude::{Collider, PhysicsPipeline, PhysicsWorld, RigidBody, RigidBodyHandle},
};

use crate::{
    RigidBodies,
    bodies::{Member, Target},
    parameters::Parameters,
};

impl RigidBodies {
    /// The world that the user built, with all that is in it: bodies, colliders, joints, parameters.
    ///
    /// Each body's Frame is called `body N`, N its number in rapier's arena, and
    /// [`RigidBodies::frame`] finds it by rapier's handle. Colliders without a body are carried by a
    /// Frame called `world`, which stays at the origin. Rapier's substeps stay rapier's, so that the
    /// steps are those of `PhysicsWorld::step`; for guides, say `.substeps(4).solver_iterations(1)`.
    /// Forces that the user put on bodies stay on them, as they would in rapier.
    ///
    /// Parts of the world that other simulators do not see, or that rapier computes worse than bodies that were
    /// added here, are named in [`RigidBodies::notes`] and in the report of the first step.
    ///
    /// # Errors
    /// There are soft bodies, custom shapes, colliders that ask for hooks, or numbers that are not
    /// finite: what rapier does not write to bytes cannot be retracted exactly.
    pub fn from_world(name: &str, world: PhysicsWorld) -> Result<Self, SimulatorError> {
        check_world(&world)?;
        let mut rigid = Self::new(name);
        rigid.parameters = Parameters::read(world.gravity.to_array(), &world.integration_parameters);
        rigid.integration = world.integration_parameters;
        rigid.is_imported = true;
        rigid.parameters.check()?;

        let state = &mut rigid.state;
        (state.islands, state.broad_phase, state.narrow_phase) = (world.islands, world.broad_phase, world.narrow_phase);
        (state.bodies, state.colliders) = (world.bodies, world.colliders);
        (state.joints, state.multibody_joints) = (world.impulse_joints, world.multibody_joints);
        (state.soft_bodies, state.ccd) = (world.soft_bodies, world.ccd_solver);
        // Rapier would do so in its first step; masses are asked for before.
        for (_, body) in state.bodies.iter_mut() {
            body.recompute_mass_properties_from_colliders(&state.colliders);
        }
        if !nothing_acts_from_outside(&rigid) {
            rigid.state.external = None;
        }
        rigid.name_bodies()?;
        rigid.show_colliders()?;

        let mut state = rigid.state.clone();
        rigid.settle(&mut state, &mut PhysicsPipeline::new());
        let bytes = postcard::to_allocvec(&state)
            .map_err(|error| SimulatorError::refused("world", error, "a world that rapier can write to bytes"))?;
        rigid.changed(&hash_bytes(&bytes));
        Ok(rigid)
    }

    /// The Frame of a body by rapier's handle.
    ///
    /// # Errors
    /// There is no such body.
    pub fn frame(&self, body: RigidBodyHandle) -> Result<HandleId, SimulatorError> {
        let member = self.members.iter().find(|member| member.body == body);
        member.map(|member| member.frame).ok_or_else(|| {
            SimulatorError::refused("rapier handle", format!("{body:?}"), format!("a body of `{}`", self.name))
        })
    }

    /// What rapier knows of a body.
    ///
    /// # Errors
    /// `frame` is not the Frame of a body of this world.
    pub fn rigid_body(&self, frame: HandleId) -> Result<&RigidBody, SimulatorError> {
        Ok(&self.state.bodies[self.body_of(frame)?])
    }

    fn name_bodies(&mut self) -> Result<(), SimulatorError> {
        let bodies: Vec<RigidBodyHandle> = self.state.bodies.iter().map(|(body, _)| body).collect();
        for body in bodies {
            let name = format!("body {}", body.into_raw_parts().0);
            let rapiers = &self.state.bodies[body];
            let is_link = self.state.multibody_joints.attached_joints(body).next().is_some();
            let gyroscopic = rapiers.gyroscopic_forces_enabled() && rapiers.locked_axes().is_empty() && !is_link;
            let frame = self.table.add(&name, Kind::Frame, 1)?;
            self.targets.push(Target::Frame(body));
            self.members.push(Member { name, body, frame, script: None, gyroscopic });
        }
        Ok(())
    }

    fn show_colliders(&mut self) -> Result<(), SimulatorError> {
        let is_shown = |c: &Collider| {
            let parent_is_enabled = c.parent().is_none_or(|body| self.state.bodies[body].is_enabled());
            c.is_enabled() && parent_is_enabled && !c.is_sensor()
        };
        let solid: Vec<_> = self.state.colliders.iter().filter(|(_, c)| is_shown(c)).map(|(c, _)| c).collect();
        let mut world = None;
        for handle in solid {
            let collider = &self.state.colliders[handle];
            let material = (collider.friction(), collider.restitution(), collider.contact_skin());
            let (frame, free) = match collider.parent() {
                Some(body) => (self.frame(body)?, self.state.bodies[body].is_dynamic().then_some(body)),
                None => match world {
                    Some(frame) => (frame, None),
                    None => {
                        let frame = self.table.add("world", Kind::Frame, 1)?;
                        self.targets.push(Target::World);
                        (*world.insert(frame), None)
                    }
                },
            };
            let name = format!("{}/{}", self.table.describe(frame), handle.into_raw_parts().0);
            self.show(&name, frame, free, handle, material);
        }
        Ok(())
    }
}

fn check_world(world: &PhysicsWorld) -> Result<(), SimulatorError> {
    if world.soft_bodies.iter().next().is_some() {
        return Err(SimulatorError::refused("world", "soft bodies", "rigid bodies only"));
    }
    for (handle, body) in world.bodies.iter() {
        let finite = body.position().is_finite() && body.linvel().is_finite() && body.angvel().is_finite();
        if !finite {
            let thing = format!("body {}", handle.into_raw_parts().0);
            return Err(SimulatorError::refused(thing, "a number that is not finite", "a finite pose and velocity"));
        }
    }
    for (handle, collider) in world.colliders.iter() {
        let refused = |found: &str, expected: &str| {
            let thing = format!("collider {}", handle.into_raw_parts().0);
            Err(SimulatorError::refused(thing, found, expected))
        };
        if has_custom_shape(collider.shape()) {
            return refused("a custom shape", "one of rapier's shapes");
        }
        if asks_for_hooks(collider) {
            return refused("active hooks", "none, since a world does not hold its hooks");
        }
        if !collider.position().is_finite() || !collider.compute_aabb().mins.is_finite() {
            return refused("a number that is not finite", "a finite pose and shape");
        }
    }
    Ok(())
}

fn has_custom_shape(shape: &dyn Shape) -> bool {
    match shape.as_typed_shape() {
        TypedShape::Custom(_) => true,
        TypedShape::Compound(compound) => compound.shapes().iter().any(|(_, part)| has_custom_shape(&**part)),
        _ => false,
    }
}

fn asks_for_hooks(collider: &Collider) -> bool {
    collider.active_hooks() != ActiveHooks::empty()
}

/// Whether gravity and contacts with what is held are all that acts from outside.
fn nothing_acts_from_outside(rigid: &RigidBodies) -> bool {
    let state = &rigid.state;
    let free = |body: &RigidBody| {
        (body.linear_damping(), body.angular_damping()) == (0.0, 0.0)
            && body.locked_axes().is_empty()
            && body.user_force().length_squared() + body.user_torque().length_squared() == 0.0
    };
    state.bodies.iter().filter(|(_, body)| body.is_dynamic()).all(|(_, body)| free(body))
        && state.multibody_joints.iter().next().is_none()
        && state
            .joints
            .iter()
            .all(|(_, joint)| state.bodies[joint.body1()].is_dynamic() && state.bodies[joint.body2()].is_dynamic())
}
