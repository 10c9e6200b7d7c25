//! Shapes of bodies: what the user says, rapier's shape, and the checks between.

use partita_simulator::SimulatorError;
use rapier3d_f64::{
    math::{Pose, Vector},
    parry::shape::SharedShape,
};
use serde::{Deserialize, Serialize};

use crate::{
    convert::turn_y_to,
    mesh::{is_convex, rapier_mesh, rapier_vertices, repaired},
};

/// Sizes and coordinates that keep their squares and their inverses well inside `f64` [m].
const SMALLEST: f64 = 1.0e-6;
pub(crate) const FARTHEST: f64 = 1.0e9;
/// Longest by shortest length of a shape [-].
const SLENDEREST: f64 = 1.0e8;

/// The shape of a body, in the body's own axes, around its own origin. **Sizes are full sizes**,
/// never halves; radii are radii.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Shape {
    /// A box.
    Cuboid {
        /// Full edge lengths `[m]`.
        size: [f64; 3],
    },
    /// A ball.
    Ball {
        /// `[m]`
        radius: f64,
    },
    /// All points within `radius` of a piece of an axis.
    Capsule {
        /// 0, 1 or 2 for X, Y or Z.
        axis: u8,
        /// Of the piece of the axis, from the centre of one cap to that of the other `[m]`.
        length: f64,
        /// `[m]`
        radius: f64,
    },
    /// A solid round cylinder.
    Cylinder {
        /// 0, 1 or 2 for X, Y or Z.
        axis: u8,
        /// From end to end `[m]`.
        length: f64,
        /// `[m]`
        radius: f64,
    },
    /// The smallest convex body around points.
    Hull {
        /// `[m]`
        points: Vec<[f64; 3]>,
    },
    /// Triangles. A body that moves freely needs a closed, orientable mesh, since its mass is that
    /// of the volume inside; fixed and kinematic bodies may be open sheets, met from both sides.
    Mesh {
        /// `[m]`
        vertices: Vec<[f64; 3]>,
        /// Corners, counter-clockwise seen from outside.
        triangles: Vec<[u32; 3]>,
    },
}

impl Shape {
    /// A box with full edge lengths `size` `[m]`.
    pub fn cuboid(size: [f64; 3]) -> Self {
        Self::Cuboid { size }
    }

    /// A ball.
    pub fn ball(radius: f64) -> Self {
        Self::Ball { radius }
    }

    /// A capsule along X; `length` from centre to centre of its caps, so `length + 2 radius` long.
    pub fn capsule_x(length: f64, radius: f64) -> Self {
        Self::Capsule { axis: 0, length, radius }
    }

    /// A capsule along Y, as [`Shape::capsule_x`].
    pub fn capsule_y(length: f64, radius: f64) -> Self {
        Self::Capsule { axis: 1, length, radius }
    }

    /// A capsule along Z, as [`Shape::capsule_x`].
    pub fn capsule_z(length: f64, radius: f64) -> Self {
        Self::Capsule { axis: 2, length, radius }
    }

    /// A cylinder along X, `length` from end to end.
    pub fn cylinder_x(length: f64, radius: f64) -> Self {
        Self::Cylinder { axis: 0, length, radius }
    }

    /// A cylinder along Y, as [`Shape::cylinder_x`].
    pub fn cylinder_y(length: f64, radius: f64) -> Self {
        Self::Cylinder { axis: 1, length, radius }
    }

    /// A cylinder along Z, as [`Shape::cylinder_x`].
    pub fn cylinder_z(length: f64, radius: f64) -> Self {
        Self::Cylinder { axis: 2, length, radius }
    }

    /// The convex hull of `points`, which must not lie in one plane.
    pub fn hull(points: impl Into<Vec<[f64; 3]>>) -> Self {
        Self::Hull { points: points.into() }
    }

    /// A triangle mesh. Vertices at one place are joined, triangles without area or twice the same are
    /// dropped, those turned the wrong way turned, and where too many meet at an edge they are parted
    /// ([`partita_mesh::Mesh::repaired`]); what cannot be repaired is refused with its number.
    pub fn mesh(vertices: impl Into<Vec<[f64; 3]>>, triangles: impl Into<Vec<[u32; 3]>>) -> Self {
        Self::Mesh { vertices: vertices.into(), triangles: triangles.into() }
    }

    /// Rapier's shape, for a body that moves freely (`solid`) or not.
    ///
    /// # Errors
    /// Names the size, vertex, triangle or edge that is wrong.
    pub(crate) fn build(&self, of: &str, solid: bool) -> Result<SharedShape, SimulatorError> {
        match self {
            Self::Cuboid { size } => {
                size.iter()
                    .zip(["x", "y", "z"])
                    .try_for_each(|(&s, axis)| check_size(of, &format!("size {axis}"), s))?;
                check_slenderness(of, size)?;
                Ok(SharedShape::cuboid(0.5 * size[0], 0.5 * size[1], 0.5 * size[2]))
            }
            Self::Ball { radius } => {
                check_size(of, "radius", *radius)?;
                Ok(SharedShape::ball(*radius))
            }
            Self::Capsule { axis, length, radius } => {
                check_size(of, "length", *length)?;
                check_size(of, "radius", *radius)?;
                check_slenderness(of, &[*length, *radius])?;
                let end = along(of, *axis)? * (0.5 * length);
                Ok(SharedShape::capsule(-end, end, *radius))
            }
            Self::Cylinder { axis, length, radius } => {
                check_size(of, "length", *length)?;
                check_size(of, "radius", *radius)?;
                check_slenderness(of, &[*length, *radius])?;
                along(of, *axis)?;
                Ok(SharedShape::cylinder(0.5 * length, *radius))
            }
            Self::Hull { points } => hull(of, points),
            Self::Mesh { vertices, triangles } => {
                check_points(of, vertices)?;
                let mesh = repaired(of, vertices, triangles)?;
                if solid && let Some(fault) = &mesh.open {
                    return Err(SimulatorError::refused(
                        format!("{of}, mesh"),
                        fault,
                        "a closed orientable mesh (or `Shape::hull` of its vertices, or a fixed body)",
                    ));
                }
                // Rapier's meshes on meshes lose contacts, and its hulls do not.
                let as_hull = if solid && is_convex(&mesh) {
                    SharedShape::convex_hull(&rapier_vertices(&mesh.mesh))
                } else {
                    None
                };
                as_hull.map_or_else(|| rapier_mesh(&format!("{of}, mesh"), &mesh, false), Ok)
            }
        }
    }

    /// Where rapier's shape is in the body's axes: its cylinders stand along Y.
    pub(crate) fn place(&self) -> Pose {
        match self {
            Self::Cylinder { axis, .. } => turn_y_to(*axis),
            _ => Pose::IDENTITY,
        }
    }
}

fn check_size(of: &str, field: &str, size: f64) -> Result<(), SimulatorError> {
    if (SMALLEST..=FARTHEST).contains(&size) {
        return Ok(());
    }
    Err(SimulatorError::refused(format!("{of}, {field} [m]"), size, format!("from {SMALLEST:e} to {FARTHEST:e}")))
}

/// Triangles of the surface have an area to compute with.
fn check_slenderness(of: &str, lengths: &[f64]) -> Result<(), SimulatorError> {
    let (shortest, longest) = lengths.iter().fold((f64::MAX, 0.0f64), |(low, high), &s| (low.min(s), high.max(s)));
    if longest <= SLENDEREST * shortest {
        return Ok(());
    }
    let expected = format!("within a factor of {SLENDEREST:e} of each other");
    Err(SimulatorError::refused(format!("{of}, sizes [m]"), format!("{lengths:?}"), expected))
}

pub(crate) fn check_points(of: &str, points: &[[f64; 3]]) -> Result<(), SimulatorError> {
    let wrong = points.iter().position(|point| !point.iter().all(|x| x.abs() <= FARTHEST));
    wrong.map_or(Ok(()), |i| {
        let found = format!("{:?}", points[i]);
        Err(SimulatorError::refused(format!("{of}, vertex {i} [m]"), found, format!("finite, within {FARTHEST:e}")))
    })
}

fn along(of: &str, axis: u8) -> Result<Vector, SimulatorError> {
    match axis {
        0 => Ok(Vector::X),
        1 => Ok(Vector::Y),
        2 => Ok(Vector::Z),
        other => Err(SimulatorError::refused(format!("{of}, axis"), other, "0, 1 or 2")),
    }
}

fn hull(of: &str, points: &[[f64; 3]]) -> Result<SharedShape, SimulatorError> {
    check_points(of, points)?;
    let flat = || {
        let found = format!("{} points", points.len());
        SimulatorError::refused(format!("{of}, hull"), found, "at least 4 points that are not in one plane")
    };
    if points.len() < 4 || !spans_a_volume(points) {
        return Err(flat());
    }
    let points: Vec<Vector> = points.iter().map(|&p| Vector::from_array(p)).collect();
    let (vertices, triangles) = rapier3d_f64::parry::transformation::try_convex_hull(&points).map_err(|_| flat())?;
    SharedShape::convex_mesh(vertices, &triangles).ok_or_else(flat)
}

/// Whether the points are farther from every plane than a millionth of their extent: rapier's hull
/// of flatter ones has no volume to speak of.
fn spans_a_volume(points: &[[f64; 3]]) -> bool {
    use nalgebra::{Matrix3, Vector3};
    let points = points.iter().map(|&p| Vector3::from(p));
    let mean = points.clone().sum::<Vector3<f64>>() / points.len() as f64;
    let scatter: Matrix3<f64> = points.map(|p| (p - mean) * (p - mean).transpose()).sum();
    let spread = scatter.symmetric_eigenvalues();
    spread.min() > 1.0e-12 * spread.max()
}
