//! How cloth is cut: what shape its triangles have at rest, where the warp runs in them, and how they are folded.

use partita_cloth::not_started;
use partita_elastic::Cut;
use partita_simulator::SimulatorError;

use crate::{ImplicitCloth, sheet::Sheet};

impl ImplicitCloth {
    /// Turns the warp: along `warp` as far as that lies in a triangle's plane.
    ///
    /// # Errors
    /// It is no direction, there are material coordinates, which have a warp of their own, or there was a step.
    pub fn with_warp(self, warp: [f64; 3]) -> Result<Self, SimulatorError> {
        let cut = self.cut.clone().with_warp(warp)?;
        self.with_cut("warp", cut)
    }

    /// Cuts each triangle from flat cloth: coordinates of its corners along warp and weft `[m]`, in the order of the mesh's
    /// triangles and their corners. They give the shape at rest in place of the mesh's, the mass and the warp. Hinges are bent
    /// at rest as in the mesh, unless cloth is [`ImplicitCloth::flat_at_rest`].
    ///
    /// Triangles need not agree where they meet, so panels are sewn by sharing the vertices of a seam. A triangle whose
    /// coordinates run clockwise shows the other side of the cloth, as a back panel does that is cut from the pattern of the
    /// front one: in its plane cloth has no sides, so that is as good.
    ///
    /// ```
    /// use partita_implicit_cloth::{Fabric, ImplicitCloth};
    /// use partita_mesh::Mesh;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // Of cloth that is a tenth smaller than the frame on which it is stretched.
    /// let mesh = Mesh::grid([10, 10], [1.0, 1.0])?;
    /// let small = |v: u32| [0, 1].map(|k| 0.9 * mesh.positions()[v as usize][k]);
    /// let coordinates: Vec<_> = mesh.triangles().iter().map(|t| t.map(small)).collect();
    /// let cloth = ImplicitCloth::new("drum", mesh, Fabric::jersey())?.with_material_coordinates(&coordinates)?;
    /// assert!((cloth.stretch() - 1.0 / 9.0).abs() < 1e-12);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// There are more or fewer than triangles, a number is not finite, a triangle has no area, or there was a step.
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
        (self.sheet, self.work.matrix) = Sheet::new(&self.mesh, &self.parameters.fabric, &cut)?;
        self.cut = cut;
        self.identity = Default::default();
        Ok(self)
    }
}
