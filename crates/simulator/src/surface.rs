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

/// What a surface is exactly, where its triangles only come near to it or show a part of it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Primitive {
    /// In its own axes.
    pub shape: PrimitiveShape,
    /// Its origin in the axes of the carrying Frame `[m]`.
    pub position: [f64; 3],
    /// Its axes in those of the carrying Frame, as a unit quaternion (x, y, z, w).
    pub orientation: [f64; 4],
}

/// Solids with a closed form for the distance from them.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum PrimitiveShape {
    /// All that is below y = 0.
    HalfSpace,
    /// About the origin.
    Ball {
        /// `[m]`
        radius: f64,
    },
    /// About the y axis.
    Capsule {
        /// Of the axis, from the middle `[m]`.
        half_length: f64,
        /// `[m]`
        radius: f64,
    },
    /// About the y axis, with flat caps.
    Cylinder {
        /// From the middle to a cap `[m]`.
        half_length: f64,
        /// `[m]`
        radius: f64,
    },
    /// About the y axis, its apex at positive y.
    Cone {
        /// From the middle to the apex, and to the base `[m]`.
        half_height: f64,
        /// Radius of the base `[m]`.
        radius: f64,
    },
    /// About the origin, along the axes.
    Cuboid {
        /// Half of each edge `[m]`.
        half_extents: [f64; 3],
    },
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
    /// What it is exactly, for those that can meet it so; the triangles are for all others. Of a Frame only.
    pub primitive: Option<Primitive>,
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
        if let Some(primitive) = &self.primitive
            && !(primitive.is_sound() && matches!(self.carrier, Carrier::Frame(_)))
        {
            let expected = "finite sizes above 0, a finite place and a unit quaternion in a Frame's axes";
            return refused("primitive".into(), format!("{primitive:?}"), expected);
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

impl Primitive {
    fn is_sound(&self) -> bool {
        let sizes = match self.shape {
            PrimitiveShape::HalfSpace => [1.0; 3],
            PrimitiveShape::Ball { radius } => [radius; 3],
            PrimitiveShape::Capsule { half_length, radius } => [half_length, radius, radius],
            PrimitiveShape::Cylinder { half_length, radius } => [half_length, radius, radius],
            PrimitiveShape::Cone { half_height, radius } => [half_height, radius, radius],
            PrimitiveShape::Cuboid { half_extents } => half_extents,
        };
        let [x, y, z, w] = self.orientation;
        let length = (x * x + y * y + z * z + w * w).sqrt();
        sizes.iter().all(|size| *size > 0.0 && size.is_finite())
            && self.position.iter().all(|x| x.is_finite())
            && (length - 1.0).abs() < 1e-9
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
