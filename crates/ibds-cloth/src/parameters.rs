//! What never changes in a step, checked as a whole before one.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use partita_cloth::check_contact_rates;
use partita_contact::ContactRates;
use partita_simulator::{SimulatorError, check_not_negative, check_positive, check_vector};
use serde::{Deserialize, Serialize};

use crate::IbdsCloth;

/// How what forces do is integrated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Integrator {
    /// v += h F/m, then x += h v: the public demonstration of the method. What rests has no velocity.
    #[default]
    SymplecticEuler,
    /// x += h v + h² F/2m, v += h F/m: exact under constant forces (\[BDB09\] equations 1 and 2). What is held at rest has the
    /// velocity -h F/2m that the parabola ends with, unless the velocity loop takes that out.
    Parabola,
}

impl Integrator {
    /// Part of h² F/m by which a force displaces a particle in a substep [-].
    pub(crate) fn share(self) -> f64 {
        match self {
            Self::SymplecticEuler => 1.0,
            Self::Parabola => 0.5,
        }
    }
}

/// How the loops find impulses. All of them end where every link is as exact as it has to be; they differ in cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Solver {
    /// Link by link (\[BDB09\] section 3.2), with some of its optimisations.
    GaussSeidel(Optimisations),
    /// Path by path, each exactly: errors travel the length of a thread in one sweep.
    Paths,
    /// Newton's method over all links at once, with sweeps path by path that put right what a step leaves off, until they have cost as
    /// much as another. For sheets that hang from corners and for tight tolerances. As path by path where there are contacts or struts
    /// near, with [`Parameters::max_impulse`] or [`Parameters::time_budget`], and where factors would take more than 0.5 GB. Where links
    /// contradict each other, as a row of them between particles that are led too far apart, there is no answer, and the harder a solver
    /// tries, the harder they pull: let them give way ([`Net::compliance`]), and all solvers agree.
    ///
    /// [`Net::compliance`]: crate::Net::compliance
    Newton,
    /// Path by path, until sweeps have cost as much as a step of Newton's method, which then goes on for twenty parts of steps; where that is
    /// left out, path by path.
    #[default]
    Auto,
}

/// What spares Gauss-Seidel work (\[BDB09\] section 4), each by itself. The root of section 4.1 is taken once in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Optimisations {
    /// Whether a link is off is told from squares, before any root. Not in the paper; where there is anticipation, there is no root.
    pub squares: bool,
    /// Errors are not measured anew but changed by what corrects other links (section 4.2).
    pub anticipation: bool,
    /// Links that are as they may be are not visited until one that shares a particle is corrected (section 4.3): by flags of links with
    /// anticipation, else by 64 bits of particles; those of a particle with more are always visited.
    pub skipping: bool,
    /// Directions stay until all links are as they may be along them, and are then taken anew until all are so at once (section 4.4).
    pub kept_directions: bool,
}

impl Optimisations {
    /// Of the paper, none.
    pub const NONE: Self = Self { squares: false, anticipation: false, skipping: false, kept_directions: false };
    /// Of the paper, all.
    pub const ALL: Self = Self { squares: false, anticipation: true, skipping: true, kept_directions: true };
}

/// All parameters of [`IbdsCloth`], which has a consuming setter of the same name for each. What is wrong with them is told by
/// [`IbdsCloth::checked`], or by the next step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Parameters {
    /// Acceleration of gravity `[m/s²]`. Default (0, −9.81, 0).
    pub gravity: [f64; 3],
    /// Default [`Integrator::SymplecticEuler`].
    pub integrator: Integrator,
    /// By how much links may be longer or shorter than at rest, of their rest length, 0.01 for 1 % (\[BDB09\] section 5).
    /// From 1e-12 to 1 `[-]`. Default 0.01.
    ///
    /// Lengths within it are all alike: under a load of ten times its weight a strip wanders by millimetres at
    /// the default, and not at 1e-4. The outcome of a step is `StoppedAt` wherever a link is outside it, also
    /// where a step that is shorter than those before keeps a part of their errors.
    pub extensibility: f64,
    /// By how much a strut may be shorter than its distance, relative to that (`ε_d` of contacts in \[BDB09\] section 5, which takes
    /// 0.1). From 1e-12 to 1 `[-]`. Default 0.01.
    pub strut_tolerance: f64,
    /// How fast links may still grow or shrink at the end of a step, but for those that give way and those that are slack; none leaves the
    /// velocity loop out (\[BDB09\] section 3.2) `[m/s]`. Default none.
    pub velocity_tolerance: Option<f64>,
    /// Default [`Solver::Auto`].
    pub solver: Solver,
    /// Sweeps of each loop after which it stops anyway, at least 1, and as many again, up to three times, where something is in the way; the
    /// step's outcome is `StoppedAt` then (\[BBD09\] section 3.5). Default 100.
    pub max_iterations: u32,
    /// Wall-clock time of a step after which loops stop, however far they are (\[BBD09\] section 3.5). Results then depend on the machine:
    /// there is no going back to the bit, and `Relaxed`, which repeats windows, may not settle. For cloth by itself; looking for contacts
    /// is not counted `[s]`. Default none.
    pub time_budget: Option<f64>,
    /// The largest impulse of one correction of a link (\[BDB09\] section 4.2): what is far off is put right in more sweeps `[N s]`. Default
    /// none.
    pub max_impulse: Option<f64>,
    /// Whether the loop of places begins with what bars and braces gave in the part before, if that ended with all links right and by
    /// sweeps alone, and not with nothing as in the paper. Default false.
    pub warm_start: bool,
    /// Parts of a step, at least 1. Default 1.
    pub substeps: u32,
    /// Of sheets and ropes: how far the middles of two layers stay apart `[m]`. Shorter than links. Default 1 mm.
    pub thickness: f64,
    /// Coulomb friction coefficient of the cloth with itself, and of what meets it, unless the pair has its own `[-]`. Default 0.3.
    pub friction: f64,
    /// Whether it meets itself. Default: whether the net has triangles.
    pub self_contact: bool,
    /// Rates of contact. Default as of [`ContactRates`].
    pub contact_rates: ContactRates,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            gravity: [0.0, -9.81, 0.0],
            integrator: Integrator::default(),
            extensibility: 0.01,
            strut_tolerance: 0.01,
            velocity_tolerance: None,
            solver: Solver::default(),
            max_iterations: 100,
            time_budget: None,
            max_impulse: None,
            warm_start: false,
            substeps: 1,
            thickness: 1e-3,
            friction: 0.3,
            self_contact: false,
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
        check_vector("gravity [m/s²]", self.gravity)?;
        for (thing, share) in [("extensibility [-]", self.extensibility), ("strut_tolerance [-]", self.strut_tolerance)]
        {
            if !(1e-12..=1.0).contains(&share) {
                return Err(SimulatorError::refused(thing, share, "from 1e-12 to 1"));
            }
        }
        for (thing, value) in [
            ("velocity_tolerance [m/s]", self.velocity_tolerance),
            ("time_budget [s]", self.time_budget),
            ("max_impulse [N s]", self.max_impulse),
        ] {
            value.map_or(Ok(()), |value| check_positive(thing, value))?;
        }
        check_positive("max_iterations", f64::from(self.max_iterations))?;
        check_positive("substeps", f64::from(self.substeps))?;
        check_not_negative("friction [-]", self.friction)?;
        if !(1e-9..=1e3).contains(&self.thickness) {
            return Err(SimulatorError::refused("thickness [m]", self.thickness, "from 1e-9 to 1e3"));
        }
        check_contact_rates(&self.contact_rates)
    }

    /// When the loops of a part stop that belongs to a step which began so.
    pub(crate) fn until(&self, start: Instant, part: u32) -> Option<Instant> {
        let share = f64::from(part + 1) / f64::from(self.substeps);
        let budget = Duration::try_from_secs_f64(share * self.time_budget?).ok()?;
        start.checked_add(budget)
    }
}

impl IbdsCloth {
    fn set(mut self, change: impl FnOnce(&mut Parameters)) -> Self {
        change(&mut self.parameters);
        let Parameters { thickness, friction, .. } = self.parameters;
        if let [surface] = &mut self.surfaces[..] {
            let surface = Arc::make_mut(surface);
            (surface.thickness, surface.friction) = (0.5 * thickness, friction);
        }
        self.work.contacts = None;
        self.identity = Default::default();
        self
    }

    /// See [`Parameters::gravity`] `[m/s²]`.
    pub fn gravity(self, gravity: [f64; 3]) -> Self {
        self.set(|p| p.gravity = gravity)
    }

    /// See [`Parameters::integrator`].
    pub fn integrator(self, integrator: Integrator) -> Self {
        self.set(|p| p.integrator = integrator)
    }

    /// See [`Parameters::extensibility`] [-].
    pub fn extensibility(self, extensibility: f64) -> Self {
        self.set(|p| p.extensibility = extensibility)
    }

    /// See [`Parameters::strut_tolerance`] [-].
    pub fn strut_tolerance(self, strut_tolerance: f64) -> Self {
        self.set(|p| p.strut_tolerance = strut_tolerance)
    }

    /// See [`Parameters::velocity_tolerance`] `[m/s]`.
    pub fn velocity_tolerance(self, velocity_tolerance: Option<f64>) -> Self {
        self.set(|p| p.velocity_tolerance = velocity_tolerance)
    }

    /// See [`Parameters::solver`].
    pub fn solver(self, solver: Solver) -> Self {
        self.set(|p| p.solver = solver)
    }

    /// See [`Parameters::max_iterations`].
    pub fn max_iterations(self, max_iterations: u32) -> Self {
        self.set(|p| p.max_iterations = max_iterations)
    }

    /// See [`Parameters::time_budget`] `[s]`.
    pub fn time_budget(self, time_budget: Option<f64>) -> Self {
        self.set(|p| p.time_budget = time_budget)
    }

    /// See [`Parameters::max_impulse`] `[N s]`.
    pub fn max_impulse(self, max_impulse: Option<f64>) -> Self {
        self.set(|p| p.max_impulse = max_impulse)
    }

    /// See [`Parameters::warm_start`].
    pub fn warm_start(self, warm_start: bool) -> Self {
        self.set(|p| p.warm_start = warm_start)
    }

    /// See [`Parameters::substeps`].
    pub fn substeps(self, substeps: u32) -> Self {
        self.set(|p| p.substeps = substeps)
    }

    /// See [`Parameters::thickness`] `[m]`.
    pub fn thickness(self, thickness: f64) -> Self {
        self.set(|p| p.thickness = thickness)
    }

    /// See [`Parameters::friction`] [-].
    pub fn friction(self, friction: f64) -> Self {
        self.set(|p| p.friction = friction)
    }

    /// See [`Parameters::self_contact`].
    pub fn self_contact(self, self_contact: bool) -> Self {
        self.set(|p| p.self_contact = self_contact)
    }

    /// See [`Parameters::contact_rates`].
    pub fn contact_rates(self, contact_rates: ContactRates) -> Self {
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
