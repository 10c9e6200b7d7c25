//! All that a step reads or changes, and how it is kept.

use crate::canonical::Canonical;
use partita_simulator::Wrench;
use rapier3d_f64::{
    math::Vector,
    prelude::{
        BroadPhaseBvh, CCDSolver, ColliderSet, ImpulseJointSet, IntegrationParameters, IslandManager,
        MultibodyJointSet, NarrowPhase, PhysicsHooks, PhysicsPipeline, RigidBodySet, SoftBodySet,
    },
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// All that a step reads or changes. The pipeline is not in it: that is memory to work in.
/// (A snapshot's bytes carry a seal: rapier would index with whatever a flipped bit says.)
#[derive(Clone, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub(crate) struct State {
    pub time: f64,
    pub islands: IslandManager,
    pub broad_phase: BroadPhaseBvh,
    pub narrow_phase: NarrowPhase,
    pub bodies: RigidBodySet,
    pub colliders: ColliderSet,
    pub joints: ImpulseJointSet,
    pub multibody_joints: MultibodyJointSet,
    pub soft_bodies: SoftBodySet,
    pub ccd: CCDSolver,
    /// Impulse of gravity since time 0, while nothing else acts from outside.
    pub external: Option<Wrench>,
}

impl State {
    pub fn new() -> Self {
        Self {
            time: 0.0,
            islands: IslandManager::new(),
            broad_phase: BroadPhaseBvh::default(),
            narrow_phase: NarrowPhase::new(),
            bodies: RigidBodySet::new(),
            colliders: ColliderSet::new(),
            joints: ImpulseJointSet::new(),
            multibody_joints: MultibodyJointSet::new(),
            soft_bodies: SoftBodySet::new(),
            ccd: CCDSolver::new(),
            external: Some(Wrench::ZERO),
        }
    }

    /// One step of rapier; `integration.dt` of zero takes in what the user changed, no more.
    pub fn advance(
        &mut self,
        pipeline: &mut PhysicsPipeline,
        gravity: [f64; 3],
        integration: &IntegrationParameters,
        hooks: &dyn PhysicsHooks,
    ) {
        pipeline.step(
            Vector::from_array(gravity),
            integration,
            &mut self.islands,
            &mut self.broad_phase,
            &mut self.narrow_phase,
            &mut self.bodies,
            &mut self.colliders,
            &mut self.joints,
            &mut self.multibody_joints,
            &mut self.soft_bodies,
            &mut self.ccd,
            hooks,
            &(),
        );
    }
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Inner<'a>(&'a State);
        impl Serialize for Inner<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                State::serialize(self.0, serializer)
            }
        }
        Canonical(&Inner(self)).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for State {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}
