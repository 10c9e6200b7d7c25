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
//! with the links' potential energy U and p, h times the impulse of links on a kinematic particle.
//! The substep takes the largest s up to 1 with K(s) <= A(s). If there is none it takes the s at
//! which K - A is least. All links keep the same part of their impulses, which conserves momentum.
//!
//! Substeps with contacts, and those of cloth that guides carry, are left as they are: there the
//! coupling checks the energy.

use partita_cloth::largest_without_gain;

use crate::{net::Net, step::Work};

/// Gain that counts as rounding, relative to the kinetic energy of the substep [-].
const ROUNDING: f64 = 1e-9;

impl Work {
    /// Largest part of the links' impulses over a substep of `h` seconds that gives no energy [-].
    pub fn part_without_gain(&self, net: &Net, h: f64) -> f64 {
        let Self { next, forces, inverse_masses, places, predicted, taken, .. } = self;
        let (mut gained, mut along, mut own, mut kinetic) = (0.0, 0.0, 0.0, 0.0);
        for (k, (&m, w)) in net.masses.iter().zip(inverse_masses).enumerate() {
            let displacement = places[k] - next.positions[k];
            if *w == 0.0 {
                along += taken[k].dot(&displacement) / (h * h);
                continue;
            }
            let velocity = next.velocities[k];
            let unconstrained = velocity + h * *w * forces[k];
            let change = (places[k] - predicted[k]) / h;
            gained += 0.5 * m * (unconstrained.norm_squared() - velocity.norm_squared());
            gained -= forces[k].dot(&displacement);
            along += m * unconstrained.dot(&change);
            own += 0.5 * m * change.norm_squared();
            kinetic += 0.5 * m * unconstrained.norm_squared();
        }
        if self.links.softening(h) > 0.0 {
            gained += net.stored_in_links(places) - net.stored_in_links(&next.positions);
        }
        if gained + along + own <= ROUNDING * (kinetic + own) {
            return 1.0;
        }
        largest_without_gain(gained, along, own)
    }
}
