//! Mobility of bodies, as rapier's next step has it.

use partita_simulator::Mobility;
use rapier3d_f64::prelude::RigidBodyHandle;

use crate::{
    RigidBodies,
    bodies::{Target, centre_of},
    convert::vector,
};

impl RigidBodies {
    /// Mobility of what a handle stands for. Of bodies in joints, which answer together, it is not known.
    pub(crate) fn mobility_of(&self, target: Target) -> Option<Mobility> {
        match target {
            Target::World => Some(Mobility::ZERO),
            Target::Frame(body) => self.mobility_of_body(body),
            Target::Point(body, offset) => {
                let of = &self.state.bodies[body];
                let arm = of.position() * offset - centre_of(of);
                Some(self.mobility_of_body(body)?.point_at(vector(arm)))
            }
        }
    }

    /// About the centre of mass.
    fn mobility_of_body(&self, handle: RigidBodyHandle) -> Option<Mobility> {
        let body = &self.state.bodies[handle];
        if !body.is_dynamic() || !body.is_enabled() {
            return Some(Mobility::ZERO);
        }
        let is_joined = self.state.joints.attached_joints(handle).next().is_some()
            || self.state.multibody_joints.attached_joints(handle).next().is_some();
        if is_joined {
            return None;
        }
        // Rapier's own values in world axes are those of its last step.
        let mut of = body.mass_properties().clone();
        of.update_world_mass_properties(body.body_type(), body.position());
        let [x, y, z] = of.effective_inv_mass.to_array();
        let a = of.effective_world_inv_inertia;
        Some(Mobility {
            linear: [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]],
            angular: [[a.m11, a.m12, a.m13], [a.m12, a.m22, a.m23], [a.m13, a.m23, a.m33]],
            ..Mobility::ZERO
        })
    }
}
