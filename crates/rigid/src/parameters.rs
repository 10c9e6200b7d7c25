//! What a user may turn, in one plain struct.

use partita_simulator::{SimulatorError, check_positive, check_vector};
use rapier3d_f64::prelude::IntegrationParameters;
use serde::{Deserialize, Serialize};

/// Parameters of a whole world. They never change in a step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Parameters {
    /// Acceleration of free fall [m/s²]. Default 9.81 downwards (-Y).
    pub gravity: [f64; 3],
    /// Own inner steps, each a whole step of rapier with collision detection [-]. Default 4.
    ///
    /// Rapier's own substeps (`solver_iterations`) cost half of that, but it reports the impulse of a joint
    /// for the last of them only; own ones make every reaction the whole step's. Loads on Points
    /// are moved along once a substep, and obstacles follow their path in as many pieces.
    pub substeps: u32,
    /// Rapier's substeps within each own one (`num_solver_iterations`) [-]. Default 1, and
    /// attachments insist on it.
    pub solver_iterations: u32,
    /// Gauss-Seidel sweeps over the constraints in each of those [-]. Default 8: a stack of ten boxes
    /// then drifts by less than 1 mm. Larger means stiffer stacks and chains.
    pub sweeps: u32,
    /// Speed above which rapier cuts a body's velocity down, which the report then tells [m/s].
    /// Default 1e5 (rapier's own 400 is less than a bullet's).
    pub top_speed: f64,
    /// Whether bodies at rest may fall asleep [-]. Default no: an awake world reports this
    /// step's impulses everywhere. A load wakes a body and its neighbours.
    pub sleep: bool,
    /// Whether free rotation is integrated by the implicit midpoint rule, which conserves energy
    /// and angular momentum [-]. Otherwise rapier's explicit gyroscopic correction applies, which
    /// may gain energy. Default yes; no for [`crate::RigidBodies::from_world`], which keeps
    /// rapier's steps.
    pub free_rotation: bool,
    /// Maximum number of impacts of fast bodies at which a substep is cut [-]. Default 8. The
    /// report names the pair of the next impact, since its bodies may pass through each other.
    ///
    /// With 0 rapier's own continuous collision detection applies, with fixed bodies only and
    /// without a report. That is the default of [`crate::RigidBodies::from_world`].
    pub impacts: u32,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            gravity: [0.0, -9.81, 0.0],
            substeps: 4,
            solver_iterations: 1,
            sweeps: 8,
            top_speed: 1.0e5,
            sleep: false,
            free_rotation: true,
            impacts: 8,
        }
    }
}

impl Parameters {
    /// # Errors
    /// Names the first field that is wrong.
    pub(crate) fn check(&self) -> Result<(), SimulatorError> {
        check_vector("gravity [m/s²]", self.gravity)?;
        check_positive("top_speed [m/s]", self.top_speed)?;
        for (field, count, least) in [
            ("substeps", self.substeps, 1),
            ("solver_iterations", self.solver_iterations, 1),
            ("sweeps", self.sweeps, 1),
            ("impacts", self.impacts, 0),
        ] {
            if !(least..=10_000).contains(&count) {
                return Err(SimulatorError::refused(field, count, format!("from {least} to 10000")));
            }
        }
        Ok(())
    }

    /// Writes into rapier's parameters what this struct knows; the rest stays.
    pub(crate) fn write(&self, integration: &mut IntegrationParameters) {
        integration.num_solver_iterations = self.solver_iterations as usize;
        integration.num_internal_pgs_iterations = self.sweeps as usize;
        integration.normalized_max_linear_velocity = self.top_speed / integration.length_unit;
    }

    /// The parameters that a world of the user's was made with: its substeps stay rapier's.
    pub(crate) fn read(gravity: [f64; 3], integration: &IntegrationParameters) -> Self {
        Self {
            gravity,
            substeps: 1,
            solver_iterations: integration.num_solver_iterations as u32,
            sweeps: integration.num_internal_pgs_iterations as u32,
            top_speed: integration.max_linear_velocity(),
            sleep: true,
            free_rotation: false,
            impacts: 0,
        }
    }
}
