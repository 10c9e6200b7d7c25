//! What a cloth is made of, in physical units, with presets.

use partita_simulator::{SimulatorError, check_not_negative, check_positive};
use serde::{Deserialize, Serialize};

use crate::{Membrane, membrane::Density};

/// A material. Warp is the first direction in the plane, weft the second ([`crate::Cut`]).
///
/// Presets are of the order of what the Kawabata evaluation system measures of such fabrics (S. Kawabata: The Standardization
/// and Analysis of Hand Evaluation, 1980): weight and bending as they are, stretch as soft as cloth is where it is worn, at
/// low loads.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fabric {
    /// Mass per area `[kg/m²]`.
    pub density: f64,
    /// Which energy resists stretch and shear.
    pub membrane: Membrane,
    /// Resistance to stretch along warp and weft: tension per width and strain `[N/m]`.
    pub stretch: [f64; 2],
    /// Resistance to shear `[N/m]`.
    pub shear: f64,
    /// Flexural rigidity: moment per width and curvature, of a bend along warp and along weft `[N m]`.
    ///
    /// A strip that is bent along the sides of a `Mesh::grid`, of any number and shape of cells, has this
    /// times its width within 3 %, where warp and weft differ by a third within 5 %. So has one of a grid whose
    /// diagonals all run one way. Others are stiffer: grids of square cells whose diagonals turn from row to row by
    /// up to 17 %, from column to column by up to 15 %, strips of two rows of cells twice as wide as long by up to
    /// 53 %, and meshes without rows by 2 to 13 %. At a clamp a strip starts to bend half a cell before the last pinned vertices.
    pub bend: [f64; 2],
    /// Viscosity as a time τ: a strain that changes at a rate adds the stress of τ times that rate as strain; 0 for none `[s]`.
    pub damping: f64,
    /// The same of bending `[s]`.
    pub bend_damping: f64,
    /// How far apart the middles of two layers stay; the middle keeps half of it from obstacles. From 1e-9 to 1e3 `[m]`.
    pub thickness: f64,
    /// Coulomb friction coefficient of the cloth with itself, and of followers on it; on a leader, the leader's counts. A pair's
    /// own comes before both `[-]`.
    pub friction: f64,
}

impl Default for Fabric {
    fn default() -> Self {
        Self::cotton()
    }
}

impl Fabric {
    /// Plain weave of medium weight.
    pub fn cotton() -> Self {
        Self {
            density: 0.15,
            membrane: Membrane::BaraffWitkin,
            stretch: [2000.0, 1500.0],
            shear: 100.0,
            bend: [8e-6, 6e-6],
            damping: 2e-3,
            bend_damping: 5e-3,
            thickness: 1e-3,
            friction: 0.4,
        }
    }

    /// Light, soft, slippery.
    pub fn silk() -> Self {
        let (stretch, bend) = ([1500.0, 1200.0], [2e-6, 1.5e-6]);
        Self { density: 0.07, stretch, shear: 40.0, bend, friction: 0.2, ..Self::cotton() }
    }

    /// Thick and soft.
    pub fn wool() -> Self {
        let (stretch, bend) = ([1000.0, 800.0], [1.5e-5, 1.2e-5]);
        Self { density: 0.3, stretch, shear: 60.0, bend, thickness: 2e-3, friction: 0.5, ..Self::cotton() }
    }

    /// Heavy and stiff.
    pub fn denim() -> Self {
        let (stretch, bend) = ([5000.0, 3000.0], [6e-5, 4e-5]);
        Self { density: 0.4, stretch, shear: 400.0, bend, thickness: 1.5e-3, ..Self::cotton() }
    }

    /// Knitted, gives way in all directions.
    pub fn jersey() -> Self {
        let (stretch, bend) = ([200.0, 120.0], [4e-6, 3e-6]);
        Self { density: 0.18, stretch, shear: 60.0, bend, ..Self::cotton() }
    }

    /// The same without damping of stretch, shear and bending: what an explicit method steps through fastest.
    pub fn undamped(self) -> Self {
        Self { damping: 0.0, bend_damping: 0.0, ..self }
    }

    /// See [`Fabric::density`] `[kg/m²]`.
    pub fn density(self, density: f64) -> Self {
        Self { density, ..self }
    }

    /// See [`Fabric::membrane`].
    pub fn membrane(self, membrane: Membrane) -> Self {
        Self { membrane, ..self }
    }

    /// See [`Fabric::stretch`], the same along warp and weft `[N/m]`.
    pub fn stretch(self, stretch: f64) -> Self {
        Self { stretch: [stretch; 2], ..self }
    }

    /// See [`Fabric::shear`] `[N/m]`.
    pub fn shear(self, shear: f64) -> Self {
        Self { shear, ..self }
    }

    /// See [`Fabric::bend`], the same along warp and weft `[N m]`.
    pub fn bend(self, bend: f64) -> Self {
        Self { bend: [bend; 2], ..self }
    }

    /// See [`Fabric::damping`] `[s]`.
    pub fn damping(self, damping: f64) -> Self {
        Self { damping, ..self }
    }

    /// See [`Fabric::bend_damping`] `[s]`.
    pub fn bend_damping(self, bend_damping: f64) -> Self {
        Self { bend_damping, ..self }
    }

    /// See [`Fabric::thickness`] `[m]`.
    pub fn thickness(self, thickness: f64) -> Self {
        Self { thickness, ..self }
    }

    /// See [`Fabric::friction`] `[-]`.
    pub fn friction(self, friction: f64) -> Self {
        Self { friction, ..self }
    }

    /// Checks every field.
    ///
    /// # Errors
    /// Names the first that is wrong, its value and what it could be.
    pub fn check(&self) -> Result<(), SimulatorError> {
        let Self { stretch: [warp, weft], bend: [bend_warp, bend_weft], .. } = *self;
        check_positive("fabric, density [kg/m²]", self.density)?;
        if let Membrane::StVenantKirchhoff { poisson } = self.membrane
            && !(poisson > -1.0 && poisson < 1.0)
        {
            return Err(SimulatorError::refused("fabric, membrane, poisson", poisson, "from -1 to 1, without these"));
        }
        check_positive("fabric, stretch along warp [N/m]", warp)?;
        check_positive("fabric, stretch along weft [N/m]", weft)?;
        check_not_negative("fabric, shear [N/m]", self.shear)?;
        check_not_negative("fabric, bend along warp [N m]", bend_warp)?;
        check_not_negative("fabric, bend along weft [N m]", bend_weft)?;
        check_not_negative("fabric, damping [s]", self.damping)?;
        check_not_negative("fabric, bend_damping [s]", self.bend_damping)?;
        if !(1e-9..=1e3).contains(&self.thickness) {
            return Err(SimulatorError::refused("fabric, thickness [m]", self.thickness, "from 1e-9 to 1e3"));
        }
        check_not_negative("fabric, friction [-]", self.friction)
    }

    /// The energy that resists stretch and shear.
    pub fn membrane_density(&self) -> Density {
        let [warp, weft] = self.stretch;
        match self.membrane {
            Membrane::BaraffWitkin => Density::BaraffWitkin { warp, weft, shear: self.shear },
            Membrane::StVenantKirchhoff { poisson } => {
                let sides = 1.0 - poisson * poisson;
                let coupling = poisson * (warp * weft).sqrt() / sides;
                Density::StVenantKirchhoff([warp / sides, coupling, weft / sides, self.shear])
            }
        }
    }
}
