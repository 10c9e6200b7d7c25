//! Parameters of a world and of its bodies as plain data.

use std::collections::BTreeMap;

use partita_simulator::{Settings, settings_of};
use rapier3d_f64::prelude::{RigidBodyHandle, RigidBodyType};
use serde::Serialize;

use crate::{RigidBodies, parameters::Parameters};

#[derive(Serialize)]
struct World<'a> {
    #[serde(flatten)]
    parameters: &'a Parameters,
    bodies: BTreeMap<&'a str, Body>,
}

/// A body in metres, kilograms and seconds. Friction, restitution and skin are those of its first shape.
#[derive(Serialize)]
struct Body {
    motion: &'static str,
    mass: f64,
    friction: Option<f64>,
    restitution: Option<f64>,
    skin: Option<f64>,
    linear_damping: f64,
    angular_damping: f64,
}

impl RigidBodies {
    /// See [`partita_simulator::Simulator::settings`].
    pub(crate) fn world_settings(&self) -> Settings {
        let of = |body: RigidBodyHandle| {
            let body = &self.state.bodies[body];
            let shape = body.colliders().first().map(|&collider| &self.state.colliders[collider]);
            Body {
                motion: match body.body_type() {
                    RigidBodyType::Dynamic => "dynamic",
                    RigidBodyType::Fixed => "fixed",
                    RigidBodyType::KinematicPositionBased | RigidBodyType::KinematicVelocityBased => "kinematic",
                    RigidBodyType::SoftFrame => "soft",
                },
                mass: body.mass(),
                friction: shape.map(|shape| shape.friction()),
                restitution: shape.map(|shape| shape.restitution()),
                skin: shape.map(|shape| shape.contact_skin()),
                linear_damping: body.linear_damping(),
                angular_damping: body.angular_damping(),
            }
        };
        let bodies = self.members.iter().map(|member| (member.name.as_str(), of(member.body))).collect();
        settings_of(&World { parameters: &self.parameters, bodies })
    }
}
