//! What never changes in a step, checked as a whole before one.

use partita_simulator::{SimulatorError, check_not_negative, check_positive, check_vector};
use serde::{Deserialize, Serialize};

use crate::Fabric;

/// How velocities and positions advance.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub enum Integrator {
    /// Backward Euler with one linear solve: forces at the end of the step in first order around its begin (\[BW98\]
    /// section 3). First order; damps what is faster than the step. A step that would end with more energy than if nothing
    /// moved is taken as [`Integrator::BackwardEuler`] instead.
    #[default]
    Linearised,
    /// Backward Euler with the forces at the end of the step (Newton, line search).
    BackwardEuler,
    /// Backward differentiation over two steps (the first is backward Euler). Second order, little damping at low frequencies.
    Bdf2,
    /// Implicit midpoint. Second order; keeps the energy of linear springs.
    Midpoint,
    /// Forces at the fraction ½ + `damping` of the step, in first order around its begin; 0 is the linearised midpoint, ½
    /// [`Integrator::Linearised`] (the semi-implicit scheme of \[VMT05\], as in \[TPS08\] table 1).
    SemiImplicit {
        /// From 0 to ½ `[-]`.
        damping: f64,
    },
}

/// What makes conjugate gradients faster.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Preconditioner {
    /// What was fastest for so many vertices where it was measured.
    #[default]
    Auto,
    /// The inverse of each vertex's own block.
    BlockJacobi,
    /// Incomplete Cholesky factors on the matrix' own pattern; symmetric Gauss-Seidel where there are none.
    IncompleteCholesky,
    /// These, and coarser levels beside them: iterations grow little with the mesh.
    Multilevel,
    /// The Cholesky factors of all but contacts of cloth with cloth: few iterations, each of them dear.
    Cholesky,
}

impl Preconditioner {
    pub(crate) fn measured_best(vertices: usize) -> Self {
        if vertices < MULTILEVEL { Self::IncompleteCholesky } else { Self::Multilevel }
    }
}

/// Vertices from which on coarser levels are worth their cost: at 2,600 they cost as much as they save where cloth hangs, and
/// more where it is draped; at 10,000 they save nine tenths where it hangs.
const MULTILEVEL: usize = 4000;

/// All parameters of [`crate::ImplicitCloth`], which has a consuming setter of the same name for each.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Parameters {
    /// The material.
    pub fabric: Fabric,
    /// Of velocities and positions. Default [`Integrator::Linearised`].
    pub integrator: Integrator,
    /// Acceleration of gravity `[m/s²]`. Default (0, −9.81, 0).
    pub gravity: [f64; 3],
    /// Velocity of the air `[m/s]`. Default 0.
    pub wind: [f64; 3],
    /// Density of the air times drag coefficient: force against the air along a triangle's normal is half of it times area
    /// times the square of the normal speed `[kg/m³]`. Default 0.
    pub drag: f64,
    /// The same along the surface: friction of air that flows along a triangle `[kg/m³]`. Default 0.
    pub skin_drag: f64,
    /// Left over of the equations where the solver stops, relative to the begin [-], and change of velocities where Newton's
    /// steps end, relative to 1 m/s and the fastest. Default 1e-3.
    pub tolerance: f64,
    /// Iterations after which the solver stops anyway, and says so [-]. Default 1000.
    pub max_iterations: u32,
    /// Default [`Preconditioner::Auto`].
    pub preconditioner: Preconditioner,
    /// A step that stretches an edge by more than that of its length is taken again in two halves, down to a sixteenth
    /// (\[BW98\] section 6) [-]. Default 0.1.
    pub max_stretch: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            fabric: Fabric::default(),
            integrator: Integrator::default(),
            gravity: [0.0, -9.81, 0.0],
            wind: [0.0; 3],
            drag: 0.0,
            skin_drag: 0.0,
            tolerance: 1e-3,
            max_iterations: 1000,
            preconditioner: Preconditioner::default(),
            max_stretch: 0.1,
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
        if let Integrator::SemiImplicit { damping } = self.integrator
            && !(0.0..=0.5).contains(&damping)
        {
            return Err(SimulatorError::refused("integrator, damping [-]", damping, "from 0 to 0.5"));
        }
        check_vector("gravity [m/s²]", self.gravity)?;
        check_vector("wind [m/s]", self.wind)?;
        check_not_negative("drag [kg/m³]", self.drag)?;
        check_not_negative("skin_drag [kg/m³]", self.skin_drag)?;
        if !(1e-14..=0.1).contains(&self.tolerance) {
            return Err(SimulatorError::refused("tolerance [-]", self.tolerance, "from 1e-14 to 0.1"));
        }
        check_positive("max_iterations [-]", f64::from(self.max_iterations))?;
        check_positive("max_stretch [-]", self.max_stretch)
    }
}
