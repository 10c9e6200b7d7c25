//! Limits of an imported world: what others do not see of it, and what rapier computes worse than this crate.

use partita_simulator::Note;
use rapier3d_f64::{
    parry::shape::TypedShape,
    prelude::{
        CoefficientCombineRule, Collider, ColliderHandle, InteractionGroups, RigidBody, RigidBodyHandle, RigidBodyType,
    },
};

use crate::{RigidBodies, ledger::inertia, surfaces::tessellate};

/// One note for each kind of limit, with the bodies or colliders that it concerns.
pub(crate) fn notes(rigid: &RigidBodies) -> Vec<Note> {
    let state = &rigid.state;
    let name_of = |collider: ColliderHandle| {
        let parent = state.colliders[collider].parent();
        format!("{}/{}", parent.map_or("world", |body| rigid.name_of(body)), collider.into_raw_parts().0)
    };
    let members = |is_concerned: &dyn Fn(RigidBodyHandle) -> bool| -> Vec<String> {
        rigid.members.iter().filter(|member| is_concerned(member.body)).map(|member| member.name.clone()).collect()
    };
    let bodies = |is_concerned: &dyn Fn(&RigidBody) -> bool| members(&|body| is_concerned(&state.bodies[body]));
    let colliders = |is_concerned: &dyn Fn(&Collider) -> bool| -> Vec<String> {
        state
            .colliders
            .iter()
            .filter(|(_, collider)| is_concerned(collider))
            .map(|(handle, _)| name_of(handle))
            .collect()
    };
    let is_enabled = |collider: &Collider| {
        collider.is_enabled() && collider.parent().is_none_or(|body| state.bodies[body].is_enabled())
    };
    let is_solid = |collider: &Collider| is_enabled(collider) && !collider.is_sensor();
    let has_groups = |collider: &Collider| {
        [collider.collision_groups(), collider.solver_groups()]
            .iter()
            .any(|groups| ![InteractionGroups::default(), InteractionGroups::all()].contains(groups))
    };
    let has_rule = |collider: &Collider| {
        let rules = [collider.friction_combine_rule(), collider.restitution_combine_rule()];
        rules.iter().any(|rule| *rule != CoefficientCombineRule::Average)
    };
    let is_velocity_driven = |body: &RigidBody| body.body_type() == RigidBodyType::KinematicVelocityBased;
    let moves_freely = |body: &RigidBody| body.is_dynamic() && body.is_enabled();
    let is_gyroscopic = |body| rigid.members.iter().any(|member| member.body == body && member.gyroscopic);
    let has_gyroscopic_torque = |body: &RigidBody| {
        let moments = inertia(body).symmetric_eigenvalues();
        moves_freely(body) && moments.max() - moments.min() > 1.0e-3 * moments.max()
    };
    let limits = [
        (bodies(&|body| !body.is_enabled()), "are disabled; others do not see them"),
        (
            colliders(&|collider| !is_enabled(collider) && !collider.is_sensor()),
            "are disabled; they are no obstacles for others",
        ),
        (
            colliders(&|collider| is_enabled(collider) && collider.is_sensor()),
            "are sensors; they are no obstacles for others",
        ),
        (
            colliders(&|collider| is_solid(collider) && tessellate(collider.shape(), collider.position()).is_none()),
            "have no surface; they are no obstacles for others",
        ),
        (
            colliders(&|collider| {
                is_solid(collider) && matches!(collider.shape().as_typed_shape(), TypedShape::HalfSpace(_))
            }),
            "are half-spaces; where they are shown as a mesh, it is a square of 200 m",
        ),
        (
            colliders(&|collider| is_solid(collider) && has_groups(collider)),
            "have collision or solver groups, which apply within this world only; select surfaces by `Contact::only`",
        ),
        (
            colliders(&|collider| is_solid(collider) && has_rule(collider)),
            "have a rule for friction or restitution, which holds within this world only",
        ),
        (bodies(&|body| !body.locked_axes().is_empty()), "have locked axes; loads along those do nothing"),
        (
            members(&|body| state.multibody_joints.rigid_body_link(body).is_some()),
            "are links of multibodies; this world cannot follow others",
        ),
        (bodies(&|body| body.is_enabled() && is_velocity_driven(body)), "move at their velocity, whatever pushes them"),
        (
            bodies(&|body| moves_freely(body) && body.dominance_group() != 0),
            "have a dominance group, which holds in this world only",
        ),
        (bodies(&|body| moves_freely(body) && body.is_sleeping()), "are asleep; they wake when they are loaded"),
        (
            members(&|body| {
                !rigid.parameters.free_rotation && has_gyroscopic_torque(&state.bodies[body]) && is_gyroscopic(body)
            }),
            "rotate by rapier's explicit gyroscopic correction, which may gain energy; set `free_rotation(true)`",
        ),
        (
            bodies(&|body| rigid.parameters.impacts == 0 && moves_freely(body) && !body.is_ccd_enabled()),
            "have continuous collision detection with fixed bodies only; set `impacts(8)`",
        ),
    ];
    limits
        .into_iter()
        .filter(|(concerned, _)| !concerned.is_empty())
        .map(|(concerned, limit)| {
            let mut note = Note::new(limit);
            note.add_subjects(&concerned.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>(), false);
            note
        })
        .collect()
}
