//! How cloth is cut: what shape its triangles have at rest, where the warp runs in them, and how they are folded.

use nalgebra::{Vector2, Vector3};
use partita_mesh::Mesh;
use partita_simulator::SimulatorError;
use serde::Serialize;

type V2 = Vector2<f64>;
type V3 = Vector3<f64>;

/// Smallest area of a triangle by its longest edge squared [-], as meshes have it: below, it is mostly rounding.
const FLATTEST: f64 = 1e-10;

/// The rest shape.
#[derive(Clone, Debug, Serialize)]
pub struct Cut {
    pattern: Pattern,
    /// Whether hinges are flat at rest, instead of as in the mesh.
    flat: bool,
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

    /// The same with the warp along a direction in space, as far as that lies in a triangle's plane.
    ///
    /// # Errors
    /// It is no direction, or there are material coordinates, which have a warp of their own.
    pub fn with_warp(self, warp: [f64; 3]) -> Result<Self, SimulatorError> {
        if !V3::from(warp).norm().is_normal() {
            return Err(SimulatorError::refused("warp", format!("{warp:?}"), "a direction: finite, not 0"));
        }
        if let Pattern::Coordinates(_) = self.pattern {
            return Err(SimulatorError::refused("warp", format!("{warp:?}"), "none beside material coordinates"));
        }
        Ok(Self { pattern: Pattern::AsMesh { warp }, ..self })
    }

    /// The same with each of so many triangles cut from flat cloth: coordinates of its corners along warp and weft `[m]`.
    ///
    /// # Errors
    /// There are more or fewer than triangles, or a number is not finite.
    pub fn with_coordinates(self, coordinates: &[[[f64; 2]; 3]], triangles: usize) -> Result<Self, SimulatorError> {
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
        Ok(Self { pattern: Pattern::Coordinates(coordinates.to_vec()), ..self })
    }

    /// The same with hinges flat at rest, instead of as in the mesh.
    pub fn flat(self) -> Self {
        Self { flat: true, ..self }
    }

    /// Whether hinges are flat at rest.
    pub fn is_flat(&self) -> bool {
        self.flat
    }

    /// Corners of a triangle along warp and weft `[m]`.
    ///
    /// # Errors
    /// It has hardly any area.
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
