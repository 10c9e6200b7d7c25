//! How cloth is cut: what shape its triangles have at rest, where the warp runs in them, and how they are folded.

use nalgebra::{Vector2, Vector3};
use partita_cloth::not_started;
use partita_mesh::Mesh;
use partita_simulator::SimulatorError;
use serde::Serialize;

use crate::{ImplicitCloth, sheet::Sheet};

type V2 = Vector2<f64>;
type V3 = Vector3<f64>;

/// Smallest area of a triangle by its longest edge squared [-], as meshes have it: below, it is mostly rounding.
const FLATTEST: f64 = 1e-10;

/// The rest shape.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Cut {
    pattern: Pattern,
    /// Whether hinges are flat at rest, instead of as in the mesh.
    pub flat: bool,
}

/// The rest shape of triangles.
#[derive(Clone, Debug, Serialize)]
enum Pattern {
    /// As in the mesh, with a direction in space along which the warp is as far as that lies in a triangle's plane.
    AsMesh { warp: [f64; 3] },
    /// Of each triangle's corners, along warp and weft `[m]`.
    Coordinates(Vec<[[f64; 2]; 3]>),
}

impl Cut {
    /// As the mesh, with the warp along x.
    pub fn as_mesh() -> Self {
        Self { pattern: Pattern::AsMesh { warp: [1.0, 0.0, 0.0] }, flat: false }
    }

    /// Corners of a triangle along warp and weft `[m]`.
    pub fn corners(&self, mesh: &Mesh, triangle: usize) -> Result<[V2; 3], SimulatorError> {
        let corners = match &self.pattern {
            Pattern::AsMesh { warp } => {
                let [a, b, c] = mesh.triangles()[triangle].map(|v| mesh.vertices()[v as usize]);
                let (warp, normal) = (V3::from(*warp).normalize(), (b - a).cross(&(c - a)).normalize());
                let within = (warp - normal.dot(&warp) * normal).try_normalize(1e-6);
                // Where the warp is across the triangle, any direction of it is as good.
                let u = within.unwrap_or_else(|| (b - a).normalize());
                let v = normal.cross(&u);
                [a, b, c].map(|p| V2::new(u.dot(&(p - a)), v.dot(&(p - a))))
            }
            Pattern::Coordinates(all) => all[triangle].map(V2::from),
        };
        let [p, q, r] = [corners[1] - corners[0], corners[2] - corners[0], corners[2] - corners[1]];
        let (area, longest) = (0.5 * p.perp(&q).abs(), p.norm().max(q.norm()).max(r.norm()));
        if area.is_normal() && area > FLATTEST * longest * longest {
            return Ok(corners);
        }
        let (thing, found) = (format!("triangle {triangle}, area at rest [m²]"), format!("{area:e}"));
        Err(SimulatorError::refused(thing, found, format!("a finite one, above {:e}", FLATTEST * longest * longest)))
    }
}

impl ImplicitCloth {
    /// Turns the warp: along `warp` as far as that lies in a triangle's plane.
    ///
    /// # Errors
    /// It is no direction, there are material coordinates, which have a warp of their own, or there was a step.
    pub fn with_warp(self, warp: [f64; 3]) -> Result<Self, SimulatorError> {
        if !V3::from(warp).norm().is_normal() {
            return Err(SimulatorError::refused("warp", format!("{warp:?}"), "a direction: finite, not 0"));
        }
        if let Pattern::Coordinates(_) = self.cut.pattern {
            return Err(SimulatorError::refused("warp", format!("{warp:?}"), "none beside material coordinates"));
        }
        let cut = Cut { pattern: Pattern::AsMesh { warp }, ..self.cut };
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
        let triangles = self.mesh.triangles().len();
        if coordinates.len() != triangles {
            let expected = format!("one for each of {triangles} triangles");
            return Err(SimulatorError::refused("material coordinates", coordinates.len(), expected));
        }
        for (t, corners) in coordinates.iter().enumerate() {
            if let Some(corner) = corners.iter().position(|at| at.iter().any(|x| !x.is_finite())) {
                let thing = format!("material coordinates [m] of triangle {t}, corner {corner}");
                return Err(SimulatorError::refused(thing, format!("{:?}", corners[corner]), "finite numbers"));
            }
        }
        let cut = Cut { pattern: Pattern::Coordinates(coordinates.to_vec()), ..self.cut };
        self.with_cut("material coordinates", cut)
    }

    /// Cloth that is flat where nothing bends it, however the mesh is folded: as garments are that are sewn from flat panels.
    ///
    /// # Errors
    /// There was a step.
    pub fn flat_at_rest(self) -> Result<Self, SimulatorError> {
        let cut = Cut { flat: true, ..self.cut.clone() };
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
