//! What can be set.

use serde::{Deserialize, Serialize};

use crate::ContactError;

/// Rates of contact that do not follow from the scene. Lengths, thicknesses and times of a scene that is scaled leave
/// everything else of contact as it was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContactRates {
    /// Part of its missing distance that a pair recovers in a second, at most: a tenth in a single step, which \[BFA02\]
    /// section 7.2 takes for steps of any length. Above 0 `[1/s]`. Default 6.
    pub depenetration: f64,
    /// Normal speed of approach up to which nothing is thrown back `[m/s]`. Default 0.1.
    pub restitution_threshold: f64,
    /// Slip speed below which friction may be less than Coulomb's, so that it is a continuous function of the
    /// slip: ε_v of \[LFS20\] section 5. Above 0 `[m/s]`. Default 1e-4.
    pub slip_tolerance: f64,
}

impl Default for ContactRates {
    fn default() -> Self {
        Self { depenetration: 6.0, restitution_threshold: 0.1, slip_tolerance: 1e-4 }
    }
}

impl ContactRates {
    /// Part of its missing distance that a pair recovers at most in a step [-] (\[BFA02\] section 7.2).
    pub const DEPENETRATION_PER_STEP: f64 = 0.1;

    /// Part of its missing distance that a pair recovers in a step of `dt` `[s]`.
    pub fn recovered(&self, dt: f64) -> f64 {
        Self::DEPENETRATION_PER_STEP.min(self.depenetration * dt)
    }

    /// The first field that is wrong, with its value and the values it may have.
    pub fn mistake(&self) -> Option<(&'static str, f64, &'static str)> {
        let positive = |found: f64| found > 0.0 && found.is_finite();
        let (threshold, tolerance) = (self.restitution_threshold, self.slip_tolerance);
        let fields = [
            ("depenetration [1/s]", self.depenetration, positive(self.depenetration), "a finite number above 0"),
            ("restitution threshold [m/s]", threshold, threshold >= 0.0, "at least 0"),
            ("slip tolerance [m/s]", tolerance, positive(tolerance), "a finite number above 0"),
        ];
        fields.into_iter().find(|field| !field.2).map(|(thing, found, _, expected)| (thing, found, expected))
    }
}

/// How a surface meets itself and others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// Thickness of the cloth `[m]`: how far the middles of two layers stay apart; the middle keeps half of it from an
    /// obstacle, on top of the obstacle's own. Default 1 mm.
    pub thickness: f64,
    /// Coulomb friction coefficient of the cloth with itself `[-]`. Default 0.3.
    pub friction: f64,
    /// Whether the surface meets itself. Default true.
    pub self_contact: bool,
    /// Distance that impacts keep, as a part of the pair's thickness; what is nearer at the begin keeps half of its gap in a
    /// step `[-]`. Default 0.1.
    pub separation: f64,
    /// Whether [`crate::Contacts::resolve`] repels what is nearer than the thickness at the start of a step, besides
    /// stopping impacts. Asynchronous cloth does without: its events repel by impulses, to which elements answer, while
    /// a repelled position stretches the cloth and nothing takes that energy from anywhere. Default true.
    pub repels: bool,
    /// Sweeps over the contacts before impacts are looked for, and in each round of impacts `[-]`. Default 12.
    pub sweeps: u32,
    /// Rounds of impacts before a part of the step is quartered, and before what still collides in the shortest moves as one
    /// `[-]`. A step takes no more than eight times as many, and so many for each interval more that an obstacle's turn
    /// asks for. Default 8.
    pub impact_rounds: u32,
    /// Most pairs of features that may be near each other at once `[-]`; each takes about 150 bytes. Default 30 million.
    pub most_pairs: usize,
    /// Most visits to pairs and contacts in a step, for each vertex of the surface `[-]`: after these the step ends without further contact,
    /// and [`crate::Report::unresolved`] says so. A visit takes 0.1 µs to 1 µs. Default 8,000.
    pub visits: u32,
    /// How fast pairs recover, from which speed they bounce, and from which they slip.
    pub rates: ContactRates,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            thickness: 1e-3,
            friction: 0.3,
            self_contact: true,
            separation: 0.1,
            repels: true,
            sweeps: 12,
            impact_rounds: 8,
            most_pairs: 30_000_000,
            visits: 8_000,
            rates: ContactRates::default(),
        }
    }
}

impl Parameters {
    pub(crate) fn check(&self) -> Result<(), ContactError> {
        let number = |thing: &str, found: f64, good: bool, expected| {
            if good { Ok(()) } else { Err(ContactError::Number { thing: thing.into(), found, expected }) }
        };
        let (t, f, s) = (self.thickness, self.friction, self.separation);
        number("thickness", t, (1e-9..=1e3).contains(&t), "from 1e-9 to 1e3 m")?;
        number("friction", f, f >= 0.0 && f.is_finite(), "a finite number, at least 0")?;
        number("most pairs", self.most_pairs as f64, self.most_pairs > 0, "at least 1")?;
        number("visits", f64::from(self.visits), self.visits > 0, "at least 1")?;
        number("separation", s, (0.01..=0.5).contains(&s), "from 0.01 to 0.5 of the thickness")?;
        let mistake = |(thing, found, expected)| number(thing, found, false, expected);
        self.rates.mistake().map_or(Ok(()), mistake)
    }
}
