//! How cloth is cut: what shape its triangles have at rest, where the warp runs in them, and how they are folded.

use partita_cloth::not_started;
use partita_elastic::{Cut, Sheet};
use partita_simulator::SimulatorError;

use crate::AviCloth;

impl AviCloth {
    /// Turns the warp: along `warp` as far as that lies in a triangle's plane.
    ///
    /// # Errors
    /// As [`Cut::with_warp`], or there was a step.
    pub fn with_warp(self, warp: [f64; 3]) -> Result<Self, SimulatorError> {
        let cut = self.cut.clone().with_warp(warp)?;
        self.with_cut("warp", cut)
    }

    /// Cuts each triangle from flat cloth: coordinates of its corners along warp and weft `[m]`, in the order of the mesh's triangles and
    /// their corners. They give the shape at rest in place of the mesh's, the mass and the warp. Hinges are bent at rest as in the mesh,
    /// unless cloth is [`AviCloth::flat_at_rest`].
    ///
    /// # Errors
    /// As [`Cut::with_coordinates`], a triangle has no area, or there was a step.
    pub fn with_material_coordinates(self, coordinates: &[[[f64; 2]; 3]]) -> Result<Self, SimulatorError> {
        let cut = self.cut.clone().with_coordinates(coordinates, self.mesh.triangles().len())?;
        self.with_cut("material coordinates", cut)
    }

    /// Cloth that is flat where nothing bends it, however the mesh is folded: as garments are that are sewn from flat panels.
    ///
    /// # Errors
    /// There was a step.
    pub fn flat_at_rest(self) -> Result<Self, SimulatorError> {
        let cut = self.cut.clone().flat();
        self.with_cut("flat at rest", cut)
    }

    fn with_cut(mut self, thing: &str, cut: Cut) -> Result<Self, SimulatorError> {
        not_started(thing, self.state.time)?;
        self.sheet = Sheet::new(&self.mesh, &self.parameters.fabric, &cut)?;
        self.cut = cut;
        self.lay_out();
        Ok(self)
    }
}
