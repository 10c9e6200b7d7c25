//! Energy of a substep: corrections of positions move particles in full, but change velocities only
//! as far as that gives no energy.
//!
//! A correction C that puts an error of length right within one substep also becomes a velocity
//! C/h. Sweeps leave errors within [`Parameters::extensibility`](crate::Parameters::extensibility)
//! and then correct all of one at once, so that such velocities can be far above those that links
//! need. With a part s of the links' impulses the kinetic energy of the free particles is
//!
//!   K(s) = Σ m |u + s C/h|² / 2,   u = v₀ + h f/m,
//!
//! and the energy that was there or was given,
//!
//!   A(s) = K₀ + Σ f·(x₁ - x₀) + U₀ - U₁ - s Σ (p/h²)·(x₁ - x₀) over kinematic particles,
//!
//! with the links' potential energy U and p, h times the impulse of links and contacts on a kinematic
//! particle. The substep takes the largest s up to 1 with K(s) <= A(s). If there is none it takes the
//! s at which K - A is least. All links, and contacts of the cloth with itself, keep the same part of
//! their impulses, which conserves momentum.
//!
//! Substeps with contacts with obstacles, and those of cloth that guides carry, are left as they are:
//! there the coupling checks the energy.

use partita_cloth::largest_without_gain;

use crate::{net::Net, step::Work};

/// Gain that counts as rounding, relative to the energy of corrections [-].
const ROUNDING: f64 = 1e-9;

impl Work {
    /// Advances velocities over a substep of `h` seconds by forces and by corrections of positions. Returns
    /// whether that is more energy than there was or was given.
    ///
    /// With k = h f/m, d = C/h and predicted positions x + h v + `share` h² f/m, forces do the work
    /// f·(x₁ - x₀) = m k·(v + share k + d). The kinetic energy grows by m (v·d + d²/2 - (share - 1/2) k²) more
    /// than that.
    pub fn advance_velocities(&mut self, net: &Net, h: f64, share: f64) -> bool {
        let stored = self.stored_by_links(net, h);
        let Self { next, forces, inverse_masses, held, places, predicted, taken, .. } = self;
        let (mut gained, mut own, per_second) = (stored, 0.0, h.recip());
        for k in held.iter().map(|held| held.vertex) {
            gained += taken[k].dot(&(places[k] - next.positions[k])) * per_second * per_second;
        }
        // Kinematic particles have neither a kick nor a correction.
        let acted = net.masses.iter().zip(inverse_masses).zip(forces);
        let moved = next.velocities.iter_mut().zip(places.iter().zip(predicted));
        for (((m, w), f), (v, (place, predicted))) in acted.zip(moved) {
            let (kick, correction) = (h * *w * *f, (place - *predicted) * per_second);
            let square = m * correction.norm_squared();
            gained += m * v.dot(&correction) + 0.5 * square - (share - 0.5) * m * kick.norm_squared();
            own += square;
            *v += kick + correction;
        }
        gained > ROUNDING * own
    }

    /// Reduces impulses of links, and of contacts of the cloth with itself, in velocities that
    /// [`Self::advance_velocities`] found to gain energy.
    pub fn reduce_impulses(&mut self, net: &Net, h: f64) {
        let stored = self.stored_by_links(net, h);
        let Self { next, forces, inverse_masses, places, predicted, taken, .. } = self;
        let (mut gained, mut along, mut own, per_second) = (stored, 0.0, 0.0, h.recip());
        for (k, (&m, w)) in net.masses.iter().zip(&*inverse_masses).enumerate() {
            let displacement = places[k] - next.positions[k];
            if *w == 0.0 {
                along += taken[k].dot(&displacement) * per_second * per_second;
                continue;
            }
            let (kick, change) = (h * *w * forces[k], (places[k] - predicted[k]) * per_second);
            let unconstrained = next.velocities[k] - change;
            gained += m * kick.dot(&(unconstrained - 0.5 * kick)) - forces[k].dot(&displacement);
            along += m * unconstrained.dot(&change);
            own += 0.5 * m * change.norm_squared();
        }
        let part = largest_without_gain(gained, along, own);
        let corrections = places.iter().zip(&*predicted);
        for (v, (place, predicted)) in next.velocities.iter_mut().zip(corrections) {
            *v -= (1.0 - part) * per_second * (place - predicted);
        }
        taken.iter_mut().for_each(|impulse| *impulse *= part);
    }

    /// Change of the energy that links store over a substep of `h` seconds `[J]`.
    fn stored_by_links(&self, net: &Net, h: f64) -> f64 {
        if self.links.softening(h) == 0.0 {
            return 0.0;
        }
        net.stored_in_links(&self.places) - net.stored_in_links(&self.next.positions)
    }
}
