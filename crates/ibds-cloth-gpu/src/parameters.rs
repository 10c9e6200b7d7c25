//! Parameters: those of impulse-based cloth on the CPU that hold for groups of links too.

use std::{ops::RangeInclusive, sync::Arc};

use partita_cloth::check_contact_rates;
use partita_contact::ContactRates;
use partita_ibds_cloth::Integrator;
use partita_simulator::{SimulatorError, check_not_negative, check_positive, check_vector};
use serde::{Deserialize, Serialize};

use crate::{IbdsClothGpu, fits};

/// Parts of a step, at most: what they are given is brought to the device before the first.
const MOST_PARTS: u32 = 1 << 16;

const CELLS: RangeInclusive<u32> = 8..=256;

/// What is kept from obstacles and each other `[m]`.
const LENGTHS: RangeInclusive<f64> = 1e-6..=1e3;

/// How the loops find impulses. Both end where every link is as exact as it has to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Solver {
    /// Link by link (\[BBD09\] section 3.2): an error travels by a particle a group.
    Links,
    /// Path by path, each exactly: an error travels the length of a thread in one sweep, or 256 links of it.
    #[default]
    Paths,
}

/// All parameters of [`IbdsClothGpu`], which has a consuming setter of the same name for each. What is wrong with them is told by
/// [`IbdsClothGpu::checked`], or by the next step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Parameters {
    /// Acceleration of gravity `[m/s²]`. Default (0, −9.81, 0).
    pub gravity: [f64; 3],
    /// Default [`Integrator::SymplecticEuler`].
    pub integrator: Integrator,
    /// Default [`Solver::Paths`].
    pub solver: Solver,
    /// By how much links may be longer or shorter than at rest, of their rest length, 0.01 for 1 %. No less than four roundings of a place,
    /// of the shortest link's length, at first; up to 1 `[-]`. Default 0.01.
    pub extensibility: f64,
    /// By how much a strut may be shorter than its distance, relative to that; as [`Parameters::extensibility`] otherwise `[-]`. Default 0.01.
    pub strut_tolerance: f64,
    /// How fast links may still grow or shrink at the end of a step, but for those that give way and those that are slack; none leaves the
    /// velocity loop out `[m/s]`. Default none.
    pub velocity_tolerance: Option<f64>,
    /// Sweeps of each loop after which it stops anyway, at least 1, and as many again, up to three times, where something is in the way; the
    /// step's outcome is `StoppedAt` then (\[BBD09\] section 3.5).
    /// Default 100.
    pub max_iterations: u32,
    /// Whether loops take [`Parameters::max_iterations`] without a look in between at whether that is needed (\[BBD09\] section 3.5): the
    /// device is asked once a step, for what it found, and takes about as long in each but where more particles than ever come near each
    /// other. Contacts are looked for once a part then. Default
    /// false.
    pub real_time: bool,
    /// Parts of a step, from 1 to 65,536. Default 1.
    pub substeps: u32,
    /// Of sheets and ropes: half of it is kept from obstacles, on top of what these ask for. It does not keep layers apart, as on the CPU:
    /// [`Parameters::self_distance`] does. From 1e-6 to 1e3 `[m]`. Default 1 mm.
    pub thickness: f64,
    /// Coulomb friction coefficient of the cloth with itself, and of what meets it, unless the pair has its own `[-]`. Default 0.3.
    pub friction: f64,
    /// Whether it meets itself: its particles, as balls. Default: whether the net has triangles.
    pub self_contact: bool,
    /// How far particles of a cloth that meets itself stay away from each other, to a tenth. From 1e-6 to 1e3, and no more than 256 particles
    /// near one within that. None for 0.8 of the mean length of links at rest: about the least that lets none through a net of even squares,
    /// whose middles are 0.71 of a link from their corners; where cells are of other shapes or sizes, 0.8 of the longest diagonal is.
    /// What is nearer than 1.3 of it where the net has it, and of one piece (joined by links or springs, however many), is let be: give
    /// the net flat, and begin folded by [`IbdsClothGpu::with_positions`] `[m]`. Default none.
    pub self_distance: Option<f64>,
    /// Cells of a volume of distances along the longest side of the obstacle that it is of, from 8 to 256; fewer along shorter sides, but at
    /// least 8. What is smaller than a cell is not met. For closed surfaces that are no primitive. Default 48.
    pub volume_cells: u32,
    /// Rates of contact. Default as of [`ContactRates`], whose slip tolerance is not used here.
    pub contact_rates: ContactRates,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            gravity: [0.0, -9.81, 0.0],
            integrator: Integrator::default(),
            solver: Solver::default(),
            extensibility: 0.01,
            strut_tolerance: 0.01,
            velocity_tolerance: None,
            max_iterations: 100,
            real_time: false,
            substeps: 1,
            thickness: 1e-3,
            friction: 0.3,
            self_contact: false,
            self_distance: None,
            volume_cells: 48,
            contact_rates: ContactRates::default(),
        }
    }
}

impl Parameters {
    /// Checks every field, for links, and for struts, that can be told to be off by such a share of their length `[-]`.
    ///
    /// # Errors
    /// Names the first that is wrong, its value and what it could be.
    pub fn check(&self, [links, struts]: [f64; 2]) -> Result<(), SimulatorError> {
        check_vector("gravity [m/s²]", self.gravity)?;
        let rates = self.gravity.into_iter().chain(self.velocity_tolerance);
        if let Some(wrong) = rates.into_iter().find(|x| !fits(*x)) {
            return Err(SimulatorError::refused("gravity or velocity_tolerance", wrong, "what 32 bits can hold"));
        }
        for (thing, share, resolved) in
            [("extensibility [-]", self.extensibility, links), ("strut_tolerance [-]", self.strut_tolerance, struts)]
        {
            if !(resolved..=1.0).contains(&share) {
                let expected =
                    format!("from {resolved:.1e}, what 32 bits can tell of places and lengths like these, to 1");
                return Err(SimulatorError::refused(thing, share, expected));
            }
        }
        self.velocity_tolerance.map_or(Ok(()), |value| check_positive("velocity_tolerance [m/s]", value))?;
        check_positive("max_iterations", f64::from(self.max_iterations))?;
        if !(1..=MOST_PARTS).contains(&self.substeps) {
            return Err(SimulatorError::refused("substeps", self.substeps, format!("from 1 to {MOST_PARTS}")));
        }
        let lengths = [("thickness [m]", Some(self.thickness)), ("self_distance [m]", self.self_distance)];
        for (thing, length) in lengths.into_iter().filter_map(|(thing, length)| Some((thing, length?))) {
            if !LENGTHS.contains(&length) {
                let expected = format!("from {:e} to {:e}", LENGTHS.start(), LENGTHS.end());
                return Err(SimulatorError::refused(thing, length, expected));
            }
        }
        check_not_negative("friction [-]", self.friction)?;
        if !CELLS.contains(&self.volume_cells) {
            let expected = format!("from {} to {}", CELLS.start(), CELLS.end());
            return Err(SimulatorError::refused("volume_cells", self.volume_cells, expected));
        }
        check_contact_rates(&self.contact_rates)
    }
}

impl IbdsClothGpu {
    fn set(mut self, change: impl FnOnce(&mut Parameters)) -> Self {
        let laid_out = |p: &Parameters| (p.solver, p.thickness, p.volume_cells, p.self_contact, p.self_distance);
        let before = laid_out(&self.parameters);
        change(&mut self.parameters);
        if laid_out(&self.parameters) != before {
            self.plan = None;
        }
        let Parameters { thickness, friction, .. } = self.parameters;
        if let [surface] = &mut self.surfaces[..] {
            let surface = Arc::make_mut(surface);
            (surface.thickness, surface.friction) = (0.5 * thickness, friction);
        }
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

    /// See [`Parameters::solver`].
    pub fn solver(self, solver: Solver) -> Self {
        self.set(|p| p.solver = solver)
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

    /// See [`Parameters::max_iterations`].
    pub fn max_iterations(self, max_iterations: u32) -> Self {
        self.set(|p| p.max_iterations = max_iterations)
    }

    /// See [`Parameters::real_time`].
    pub fn real_time(self, real_time: bool) -> Self {
        self.set(|p| p.real_time = real_time)
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

    /// See [`Parameters::self_distance`] `[m]`.
    pub fn self_distance(self, self_distance: Option<f64>) -> Self {
        self.set(|p| p.self_distance = self_distance)
    }

    /// See [`Parameters::volume_cells`].
    pub fn volume_cells(self, volume_cells: u32) -> Self {
        self.set(|p| p.volume_cells = volume_cells)
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
        self.parameters.check(self.resolved)?;
        Ok(self)
    }
}
