//! What never changes in a step, checked as a whole before one.

use partita_cloth::check_contact_rates;
use partita_contact::ContactRates;
use partita_elastic::Fabric;
use partita_simulator::{SimulatorError, check_positive, check_vector};
use serde::{Deserialize, Serialize};

use crate::AviCloth;

/// In which order elements and vertices advance.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub enum Integrator {
    /// Every element has its own clock (\[TPS08\] algorithm 1).
    #[default]
    Asynchronous,
    /// All at once: positions, then velocities by the forces there. The same as [`Integrator::Asynchronous`] where all clocks agree;
    /// here to compare with.
    SymplecticEuler {
        /// Longest step `[s]`.
        step: f64,
    },
    /// All at once: velocities by the forces before positions moved. Gains energy in every step; here to compare with.
    ForwardEuler {
        /// Longest step `[s]`.
        step: f64,
    },
}

/// Where bending is evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Bending {
    /// With triangles, each hinge with one of its two (\[TPS08\] figure 4, right). For cloth, whose triangles are stiffer in their plane.
    #[default]
    Triangles,
    /// With elements of their own, each hinge by its own clock: for shells that are stiffer in bending than in their plane.
    Hinges,
}

/// What spans are told from, the times that elements wait from event to event; they take α of it ([`Parameters::courant`]). A triangle that
/// is stretched further than ever before has shorter spans from then on: as many times shorter as it is stiffer there than at rest, at most
/// 16 times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Estimate {
    /// 2/ω of the element's fastest mode, with the masses that its vertices have for it; with viscosity, what is stable with that. Stable up
    /// to α = 1 where all clocks agree, and some two and a half times [`Estimate::Wave`].
    #[default]
    Mode,
    /// Of triangles h √(ρ/(λ + 2 μ)), with the radius h of the inscribed circle (\[TPS08\] equation 3), where [`Estimate::Mode`] is not
    /// shorter still; of hinges by themselves [`Estimate::Mode`].
    Wave,
}

/// How far edges may be stretched before more is done than forces do (\[TPS08\] section 3).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limit {
    /// ε_c,lim: an edge that is strained by more and grows rebounds towards it, no faster than it grew. Above 0 `[-]`.
    /// Default 0.1.
    pub strain: f64,
    /// ε_n,lim: an edge that would be strained by more at its element's next event does not grow any faster than to it; twice this, and that
    /// event comes earlier. Above 0, at most `strain` `[-]`. Default 0.075.
    pub predicted: f64,
}

impl Default for Limit {
    fn default() -> Self {
        Self { strain: 0.1, predicted: 0.075 }
    }
}

/// All parameters of [`AviCloth`], which has a consuming setter of the same name for each but the fabric, of which it is made. What is
/// wrong with them is told by [`AviCloth::checked`], or by the next step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Parameters {
    /// The material.
    pub fabric: Fabric,
    /// Default [`Integrator::Asynchronous`].
    pub integrator: Integrator,
    /// Default [`Bending::Triangles`].
    pub bending: Bending,
    /// Default [`Estimate::Mode`].
    pub estimate: Estimate,
    /// α, of [`Parameters::estimate`]: above 0 `[-]`. Up to 1 is stable where clocks agree, but asynchronous ones beat: without viscosity and
    /// limits, cloth that folds and snaps gains a fifth of the energy of its fall in a minute at 0.8, some hundredths at 0.5, and less than
    /// one at 0.25. Default 0.25.
    pub courant: f64,
    /// Default as of [`Limit`]; `None`: forces alone.
    pub limit: Option<Limit>,
    /// Acceleration of gravity `[m/s²]`. Default (0, −9.81, 0).
    pub gravity: [f64; 3],
    /// Whether the cloth meets itself. Default true.
    pub self_contact: bool,
    /// Δt_c: longest contact interval, after which pairs are searched anew and missed impacts are resolved `[s]`. Where something
    /// moves farther in it than half of the shortest edge, relative to the cloth as a whole, the interval is divided, into 16
    /// parts at most. Default 0.01.
    pub contact_interval: f64,
    /// Whether pairs of the cloth with itself that would stay apart, going straight on for the interval, are
    /// left to the last stage (\[TPS08\] section 4, continuous geometric culling). Pairs with obstacles are
    /// only where events would take too much work. Default true.
    pub culling: bool,
    /// Rates of contact. Default as of [`ContactRates`].
    pub contact_rates: ContactRates,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            fabric: Fabric::default(),
            integrator: Integrator::default(),
            bending: Bending::default(),
            estimate: Estimate::default(),
            courant: 0.25,
            limit: Some(Limit::default()),
            gravity: [0.0, -9.81, 0.0],
            self_contact: true,
            contact_interval: 0.01,
            culling: true,
            contact_rates: ContactRates::default(),
        }
    }
}

impl Parameters {
    /// Checks every field.
    ///
    /// # Errors
    /// Names the first that is wrong, its value and what it could be.
    pub fn check(&self) -> Result<(), SimulatorError> {
        self.fabric.check()?;
        match self.integrator {
            Integrator::Asynchronous => {}
            Integrator::SymplecticEuler { step } | Integrator::ForwardEuler { step } => {
                check_positive("integrator, step [s]", step)?;
            }
        }
        check_positive("courant [-]", self.courant)?;
        if let Some(Limit { strain, predicted }) = self.limit {
            check_positive("limit, strain [-]", strain)?;
            if !(predicted > 0.0 && predicted <= strain) {
                let expected = format!("above 0, at most {strain}");
                return Err(SimulatorError::refused("limit, predicted [-]", predicted, expected));
            }
        }
        check_vector("gravity [m/s²]", self.gravity)?;
        check_positive("contact_interval [s]", self.contact_interval)?;
        check_contact_rates(&self.contact_rates)
    }
}

impl AviCloth {
    fn set(mut self, change: impl FnOnce(&mut Parameters)) -> Self {
        change(&mut self.parameters);
        self.identity = Default::default();
        self
    }

    /// The same of what elements and their spans depend on: clocks begin anew, and spans that were given are forgotten.
    fn set_elements(mut self, change: impl FnOnce(&mut Parameters)) -> Self {
        self.bring_together();
        change(&mut self.parameters);
        self.lay_out();
        self
    }

    /// See [`Parameters::integrator`]. Clocks begin anew, and spans that were given are forgotten.
    pub fn integrator(mut self, integrator: Integrator) -> Self {
        // Contacts are others where events do not repel.
        self.work.contacts = None;
        self.set_elements(|p| p.integrator = integrator)
    }

    /// See [`Parameters::bending`]. Clocks begin anew, and spans that were given are forgotten.
    pub fn bending(self, bending: Bending) -> Self {
        self.set_elements(|p| p.bending = bending)
    }

    /// See [`Parameters::estimate`]. Clocks begin anew, and spans that were given are forgotten.
    pub fn estimate(self, estimate: Estimate) -> Self {
        self.set_elements(|p| p.estimate = estimate)
    }

    /// See [`Parameters::courant`] `[-]`. Clocks begin anew, and spans that were given are forgotten.
    pub fn courant(self, courant: f64) -> Self {
        self.set_elements(|p| p.courant = courant)
    }

    /// See [`Parameters::limit`].
    pub fn limit(self, limit: Option<Limit>) -> Self {
        self.set(|p| p.limit = limit)
    }

    /// See [`Parameters::gravity`] `[m/s²]`.
    pub fn gravity(mut self, gravity: [f64; 3]) -> Self {
        self.bring_together();
        self.set(|p| p.gravity = gravity)
    }

    /// See [`Parameters::self_contact`].
    pub fn self_contact(mut self, self_contact: bool) -> Self {
        self.work.contacts = None;
        self.set(|p| p.self_contact = self_contact)
    }

    /// See [`Parameters::contact_interval`] `[s]`.
    pub fn contact_interval(self, contact_interval: f64) -> Self {
        self.set(|p| p.contact_interval = contact_interval)
    }

    /// See [`Parameters::culling`].
    pub fn culling(self, culling: bool) -> Self {
        self.set(|p| p.culling = culling)
    }

    /// See [`Parameters::contact_rates`].
    pub fn contact_rates(mut self, contact_rates: ContactRates) -> Self {
        self.work.contacts = None;
        self.set(|p| p.contact_rates = contact_rates)
    }

    /// The same, if all parameters are right.
    ///
    /// # Errors
    /// Names the first that is wrong ([`Parameters::check`]).
    pub fn checked(self) -> Result<Self, SimulatorError> {
        self.parameters.check()?;
        Ok(self)
    }
}
