//! Surfaces: shape once, motion from the carriers.

use nalgebra::{Point3, Vector3};
use serde::{Deserialize, Serialize};

use crate::{HandleId, HandleState, SimulatorError, path::quaternion};

/// What carries a surface.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Carrier {
    /// A rigid frame; the surface's vertices are given in its axes.
    Frame(HandleId),
    /// One Point a vertex.
    Points(Vec<HandleId>),
}

impl Carrier {
    /// The handles that carry, in the order in which [`crate::Motion`] lists their states.
    pub fn handles(&self) -> &[HandleId] {
        match self {
            Self::Frame(handle) => std::slice::from_ref(handle),
            Self::Points(handles) => handles,
        }
    }
}

/// Triangles, and lines for ropes and nets, that a simulator shows to others. How it moves is read from its carrier.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Surface {
    /// Unique within its simulator.
    pub name: String,
    /// What it moves with.
    pub carrier: Carrier,
    /// Vertices `[m]`: in the axes of the carrying Frame, or where the carrying Points were at first.
    pub vertices: Vec<[f64; 3]>,
    /// Corners, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Ends of lines that are no triangle's edge: ropes and nets. Cloth meets them; free particles pass between them.
    pub lines: Vec<[u32; 2]>,
    /// An open sheet, met from both sides. Otherwise outside is where the normals point.
    pub two_sided: bool,
    /// Coulomb friction coefficient of contact with it, unless the pair has its own `[-]`.
    pub friction: f64,
    /// Coefficient of restitution, likewise `[-]`.
    pub restitution: f64,
    /// Distance that others keep from it, likewise `[m]`.
    pub thickness: f64,
}

impl Surface {
    /// Checks that indices are in range, coordinates finite, and carriers as many as vertices.
    ///
    /// # Errors
    /// Names the first vertex, triangle, line or coefficient that is wrong.
    pub fn check(&self) -> Result<(), SimulatorError> {
        let refused = |thing: String, found: String, expected: &str| {
            Err(SimulatorError::refused(format!("surface `{}`, {thing}", self.name), found, expected))
        };
        if let Some(i) = self.vertices.iter().position(|v| v.iter().any(|x| !x.is_finite())) {
            return refused(format!("vertex {i}"), format!("{:?}", self.vertices[i]), "finite coordinates");
        }
        let n = self.vertices.len();
        if let Some(i) = self.triangles.iter().position(|t| t.iter().any(|&v| v as usize >= n)) {
            return refused(format!("triangle {i}"), format!("{:?}", self.triangles[i]), &format!("indices below {n}"));
        }
        if let Some(i) = self.lines.iter().position(|l| l.iter().any(|&v| v as usize >= n)) {
            return refused(format!("line {i}"), format!("{:?}", self.lines[i]), &format!("indices below {n}"));
        }
        if let Carrier::Points(points) = &self.carrier
            && points.len() != n
        {
            return refused(
                "carrier".into(),
                format!("{} Points", points.len()),
                &format!("one for each of {n} vertices"),
            );
        }
        check_pair(&format!("surface `{}`", self.name), self.friction, self.restitution, self.thickness)
    }

    /// The vertices `[m]` in the world, given the states of the carrier's handles.
    ///
    /// # Panics
    /// A Frame carries it and its state is missing.
    pub fn posed(&self, carriers: &[HandleState]) -> Vec<[f64; 3]> {
        match &self.carrier {
            Carrier::Points(_) => carriers.iter().map(|carrier| carrier.position).collect(),
            Carrier::Frame(_) => {
                let turn = quaternion(&carriers[0]);
                let shift = Vector3::from(carriers[0].position);
                self.vertices.iter().map(|&vertex| (turn * Point3::from(vertex) + shift).into()).collect()
            }
        }
    }
}

/// Checks friction >= 0, restitution in [0, 1], thickness >= 0.
///
/// # Errors
/// Names `of` and the coefficient that is wrong.
pub fn check_pair(of: &str, friction: f64, restitution: f64, thickness: f64) -> Result<(), SimulatorError> {
    let rows = [
        ("friction", friction, friction >= 0.0 && friction.is_finite(), "finite, at least 0"),
        ("restitution", restitution, (0.0..=1.0).contains(&restitution), "from 0 to 1"),
        ("thickness", thickness, thickness >= 0.0 && thickness.is_finite(), "finite, at least 0"),
    ];
    for (field, value, good, expected) in rows {
        if !good {
            return Err(SimulatorError::refused(format!("{of}, {field}"), value, expected));
        }
    }
    Ok(())
}
