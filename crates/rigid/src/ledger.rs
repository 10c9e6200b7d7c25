//! Momentum, energy, and the impulse of gravity.

use nalgebra::{Matrix3, Vector3};
use partita_simulator::{Ledger, Wrench};
use rapier3d_f64::prelude::{ContactPair, RigidBody};

use crate::{
    RigidBodies,
    bodies::centre_of,
    convert::{rotation, vector},
    step::gravity_on,
};

impl RigidBodies {
    pub(crate) fn sum_up(&self) -> Ledger {
        let gravity = Vector3::from(self.parameters.gravity);
        let mut ledger = Ledger::default();
        let (mut p, mut l) = (Vector3::zeros(), Vector3::zeros());
        for (_, body) in self.state.bodies.iter().filter(|(_, body)| body.is_dynamic() && body.is_enabled()) {
            let (m, x, v, w) = (body.mass(), vector(centre_of(body)), vector(body.linvel()), vector(body.angvel()));
            let spin = inertia(body) * w;
            p += m * v;
            l += x.cross(&(m * v)) + spin;
            ledger.mass += m;
            ledger.kinetic += 0.5 * m * v.norm_squared() + 0.5 * w.dot(&spin);
            ledger.potential -= m * body.gravity_scale() * gravity.dot(&x);
        }
        ledger.momentum = p.into();
        ledger.angular_momentum = l.into();
        ledger.external = self.state.external;
        ledger
    }

    /// Adds what gravity will give in the next `h` to the impulse from outside. Rapier adds it to the
    /// velocities before it moves anything, so its moment is about where the bodies now are.
    pub(crate) fn book_gravity(&mut self, h: f64) {
        let Some(external) = self.state.external else { return };
        let (mut p, mut l) = (Vector3::zeros(), Vector3::zeros());
        for (_, body) in self.state.bodies.iter().filter(|(_, body)| body.is_dynamic() && body.is_enabled()) {
            if body.is_sleeping() {
                self.state.external = None;
                return;
            }
            let (impulse, moment) = gravity_on(body, self.parameters.gravity, h);
            p += impulse;
            l += moment;
        }
        self.state.external = Some(external + Wrench { linear: p.into(), angular: l.into() });
    }

    /// A contact with something that gives way to nothing ends what is known of the outside: rapier
    /// reports that impulse, but to book what it reports would prove nothing.
    pub(crate) fn book_contacts(&mut self) {
        if self.state.external.is_none() {
            return;
        }
        let moves = |collider| {
            let parent = self.state.colliders.get(collider).and_then(|c| c.parent());
            parent.is_some_and(|body| self.state.bodies[body].is_dynamic())
        };
        let own = |pair: &ContactPair| !self.rules.knows(pair.collider1) && !self.rules.knows(pair.collider2);
        let held = self.state.narrow_phase.contact_pairs().filter(|pair| own(pair)).any(|pair| {
            let supported = !(moves(pair.collider1) && moves(pair.collider2));
            supported && pair.total_impulse_magnitude() != 0.0
        });
        if held {
            self.state.external = None;
        }
    }
}

/// Inertia tensor about the centre of mass in world axes [kg m²].
pub(crate) fn inertia(body: &RigidBody) -> Matrix3<f64> {
    let local = &body.mass_properties().local_mprops;
    let axes = (rotation(*body.rotation()) * rotation(local.principal_inertia_local_frame)).to_rotation_matrix();
    axes * Matrix3::from_diagonal(&vector(local.principal_inertia())) * axes.transpose()
}
