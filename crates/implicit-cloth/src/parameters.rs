//! What never changes in a step, checked as a whole before one.

use nalgebra::Vector3;
use partita_cloth::check_contact_rates;
use partita_contact::ContactRates;
use partita_simulator::{SimulatorError, check_not_negative, check_positive, check_vector};
use serde::{Deserialize, Serialize};

use crate::{Fabric, ImplicitCloth};

/// Integration of velocities and positions over a step.
///
/// Angular momentum that a free sheet of cotton, 0.4 m, at 6 rad/s has after one second (`tests/suite/rotation.rs`) [-]:
///
/// | integrator | in its plane, 60 Hz | 240 Hz | about an axis in its plane, 60 Hz | 240 Hz |
/// |---|---|---|---|---|
/// | `Linearised` | 0.98 | 1.00 | 0.97 | 1.00 |
/// | `SemiImplicit`, damping 0 | 0.89 | 0.97 | 0.94 | 0.99 |
/// | `BackwardEuler` | 0.95 | 0.98 | 0.97 | 0.99 |
/// | `Bdf2`, `Midpoint` | 1.00 | 1.00 | 1.00 | 1.00 |
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub enum Integrator {
    /// Backward Euler with one linear solve: forces at the end of the step in first order around its begin (\[BW98\]
    /// section 3). First order; damps what is faster than the step. A step that would end with more energy than if nothing
    /// moved is taken again with up to four of Newton's steps. Cloth that nothing carries gets the angular momentum back that
    /// the linear solve takes from it, as far as its energy allows. For pictures and long steps.
    #[default]
    Linearised,
    /// Backward Euler with the forces at the end of the step (Newton, line search), where stiff cloth must not gain energy.
    BackwardEuler,
    /// Backward differentiation over two steps (backward Euler in the first, and after one with contacts). Second order, little
    /// damping at low frequencies.
    Bdf2,
    /// Implicit midpoint. Second order; keeps the energy of linear springs. Like [`Integrator::Bdf2`] for accuracy in short steps.
    Midpoint,
    /// Forces at the fraction ½ + `damping` of the step, in first order around its begin; 0 is the linearised midpoint, ½
    /// [`Integrator::Linearised`], and the same holds of its energy (the semi-implicit scheme of \[VMT05\], as in \[TPS08\] table 1).
    SemiImplicit {
        /// From 0 to ½ `[-]`.
        damping: f64,
    },
}

impl Integrator {
    /// Fraction of the step at which forces act [-].
    pub(crate) fn stage(&self) -> f64 {
        match *self {
            Self::Midpoint => 0.5,
            Self::SemiImplicit { damping } => 0.5 + damping,
            Self::Linearised | Self::BackwardEuler | Self::Bdf2 => 1.0,
        }
    }
}

/// What makes conjugate gradients faster.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Preconditioner {
    /// Incomplete Cholesky factors below 4,000 vertices, coarser levels beside them from there on.
    #[default]
    Auto,
    /// The inverse of each vertex's own block.
    BlockJacobi,
    /// Incomplete Cholesky factors on the matrix' own pattern; symmetric Gauss-Seidel where there are none.
    IncompleteCholesky,
    /// Incomplete Cholesky factors and coarser levels beside them: iterations grow little with the mesh.
    Multilevel,
    /// Cholesky factors of all but contacts of cloth with cloth, with others as they seem at the begin: few iterations, but factors
    /// are dear.
    Cholesky,
}

impl Preconditioner {
    /// What it is for so many vertices.
    pub(crate) fn for_rows(self, vertices: usize) -> Self {
        match self {
            Self::Auto if vertices < MULTILEVEL => Self::IncompleteCholesky,
            Self::Auto => Self::Multilevel,
            other => other,
        }
    }
}

/// Vertices from which on coarser levels are worth their cost: at 2,600 they cost as much as they save where cloth swings, and
/// more where it is draped; at 10,000 they save nine tenths where it hangs.
const MULTILEVEL: usize = 4000;

/// All parameters of [`ImplicitCloth`], which has a consuming setter of the same name for each but the fabric, of which it is
/// made. What is wrong with them is told by [`ImplicitCloth::checked`], or by the next step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Parameters {
    /// The material.
    pub fabric: Fabric,
    /// Of velocities and positions. Default [`Integrator::Linearised`].
    pub integrator: Integrator,
    /// Acceleration of gravity `[m/s²]`. Default (0, −9.81, 0).
    pub gravity: [f64; 3],
    /// Velocity of the air, the same everywhere `[m/s]`. It acts through drag, lift and skin drag alone, which are 0 by default, and
    /// as it is at the begin of a step, which is taken in up to 32 parts where cloth is too light for that. Default 0.
    pub wind: [f64; 3],
    /// Density of the air times drag coefficient: force along the relative wind is half of it times the area that the wind sees
    /// times the square of its speed `[kg/m³]`. Default 0.
    pub drag: f64,
    /// Density of the air times lift coefficient: force across the relative wind is half of it times area times sine and cosine
    /// of the angle between wind and surface times the square of the speed `[kg/m³]`. Default 0.
    pub lift: f64,
    /// Density of the air times coefficient of skin friction: force along the surface is half of it times area times the square
    /// of the speed along it `[kg/m³]`. Default 0.
    pub skin_drag: f64,
    /// Where conjugate gradients stop: what is left over, against the right-hand side, or against what gravity gives in the step if
    /// that is more, in the preconditioner's norm. Newton's steps end where no velocity changes by more than this times the
    /// sum of the fastest and of what gravity gives in the step, or than rounding. From 1e-14 to 0.1 `[-]`. Default 1e-3.
    pub tolerance: f64,
    /// Iterations after which the solver stops anyway, at least 1 `[-]`; the step's outcome is `StoppedAt` then. Default 1000.
    pub max_iterations: u32,
    /// Default [`Preconditioner::Auto`].
    pub preconditioner: Preconditioner,
    /// A step in which warp or weft grows by more than this fraction of its length at rest is taken in halves, down to a 32nd of
    /// it, which is accepted (\[BW98\] section 6). So is one that gives the cloth more energy than anybody gave it, by a tenth of
    /// that of its motion and what gravity gives in falling from rest for so long, whatever this is; then the outcome of a
    /// 32nd is `StoppedAt`. Above 0 `[-]`. Default 0.1.
    pub max_stretch: f64,
    /// Whether the cloth meets itself. Default true.
    pub self_contact: bool,
    /// Rates of contact. Default as of [`ContactRates`], but for a slip tolerance of 5e-4 m/s, from which on
    /// Newton's method finds friction in few steps.
    pub contact_rates: ContactRates,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            fabric: Fabric::default(),
            integrator: Integrator::default(),
            gravity: [0.0, -9.81, 0.0],
            wind: [0.0; 3],
            drag: 0.0,
            lift: 0.0,
            skin_drag: 0.0,
            tolerance: 1e-3,
            max_iterations: 1000,
            preconditioner: Preconditioner::default(),
            max_stretch: 0.1,
            self_contact: true,
            contact_rates: ContactRates { slip_tolerance: 5e-4, ..ContactRates::default() },
        }
    }
}

impl Parameters {
    /// How fast gravity makes in the time `[s]` what falls freely `[m/s]`.
    pub(crate) fn falls(&self, dt: f64) -> f64 {
        dt * Vector3::from(self.gravity).norm()
    }

    /// Checks every field.
    ///
    /// # Errors
    /// Names the first that is wrong, its value and what it could be.
    pub fn check(&self) -> Result<(), SimulatorError> {
        self.fabric.check()?;
        if let Integrator::SemiImplicit { damping } = self.integrator
            && !(0.0..=0.5).contains(&damping)
        {
            return Err(SimulatorError::refused("integrator, damping [-]", damping, "from 0 to 0.5"));
        }
        check_vector("gravity [m/s²]", self.gravity)?;
        check_vector("wind [m/s]", self.wind)?;
        check_not_negative("drag [kg/m³]", self.drag)?;
        check_not_negative("lift [kg/m³]", self.lift)?;
        check_not_negative("skin_drag [kg/m³]", self.skin_drag)?;
        if !(1e-14..=0.1).contains(&self.tolerance) {
            return Err(SimulatorError::refused("tolerance [-]", self.tolerance, "from 1e-14 to 0.1"));
        }
        check_positive("max_iterations [-]", f64::from(self.max_iterations))?;
        check_positive("max_stretch [-]", self.max_stretch)?;
        check_contact_rates(&self.contact_rates)
    }
}

impl ImplicitCloth {
    fn set(mut self, change: impl FnOnce(&mut Parameters)) -> Self {
        change(&mut self.parameters);
        let Parameters { self_contact, contact_rates, .. } = self.parameters;
        self.work.contacts.set(self_contact, contact_rates);
        self.identity = Default::default();
        self
    }

    /// See [`Parameters::integrator`].
    pub fn integrator(self, integrator: Integrator) -> Self {
        self.set(|p| p.integrator = integrator)
    }

    /// See [`Parameters::gravity`] `[m/s²]`.
    pub fn gravity(self, gravity: [f64; 3]) -> Self {
        self.set(|p| p.gravity = gravity)
    }

    /// See [`Parameters::wind`] `[m/s]`.
    pub fn wind(self, wind: [f64; 3]) -> Self {
        self.set(|p| p.wind = wind)
    }

    /// See [`Parameters::drag`] `[kg/m³]`.
    pub fn drag(self, drag: f64) -> Self {
        self.set(|p| p.drag = drag)
    }

    /// See [`Parameters::lift`] `[kg/m³]`.
    pub fn lift(self, lift: f64) -> Self {
        self.set(|p| p.lift = lift)
    }

    /// See [`Parameters::skin_drag`] `[kg/m³]`.
    pub fn skin_drag(self, skin_drag: f64) -> Self {
        self.set(|p| p.skin_drag = skin_drag)
    }

    /// See [`Parameters::tolerance`] [-].
    pub fn tolerance(self, tolerance: f64) -> Self {
        self.set(|p| p.tolerance = tolerance)
    }

    /// See [`Parameters::max_iterations`] [-].
    pub fn max_iterations(self, max_iterations: u32) -> Self {
        self.set(|p| p.max_iterations = max_iterations)
    }

    /// See [`Parameters::preconditioner`].
    pub fn preconditioner(self, preconditioner: Preconditioner) -> Self {
        self.set(|p| p.preconditioner = preconditioner)
    }

    /// See [`Parameters::max_stretch`] [-].
    pub fn max_stretch(self, max_stretch: f64) -> Self {
        self.set(|p| p.max_stretch = max_stretch)
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
