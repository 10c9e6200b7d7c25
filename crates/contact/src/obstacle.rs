//! Obstacles: what is in the way, moves as it is told, and is told what the cloth did to it.
//!
//! Each is a core of points, edges and triangles with a radius around it: a ball is a point, a capsule an edge, a box
//! its eight corners. So all of them are met exactly, by the same pairs of features as cloth meets itself. Cylinders and
//! cones have such a core for the broad phase only; their distances are in `revolved.rs`.

use std::ops::RangeInclusive;

use nalgebra::{Isometry3, Vector3};
use parry3d_f64::shape::TriMesh;

use crate::{ContactError, Features, convex::Convex, inside::solid, revolved::Revolved};

type V3 = Vector3<f64>;

/// The shape of an obstacle, in the axes of its frame.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// All that is below the plane y = 0 of the frame.
    HalfSpace,
    /// About the frame's origin.
    Ball {
        /// `[m]`
        radius: f64,
    },
    /// About the frame's x axis.
    Capsule {
        /// Of the axis, from the middle `[m]`.
        half_length: f64,
        /// `[m]`
        radius: f64,
    },
    /// About the frame's x axis, with flat caps.
    Cylinder {
        /// From the middle to a cap `[m]`.
        half_length: f64,
        /// `[m]`
        radius: f64,
    },
    /// About the frame's x axis, its apex at positive x.
    Cone {
        /// From the middle to the apex, and to the base `[m]`.
        half_height: f64,
        /// Radius of the base `[m]`.
        radius: f64,
    },
    /// About the frame's origin, along its axes.
    Cuboid {
        /// Half of each edge `[m]`.
        half_extents: [f64; 3],
    },
    /// Triangles over vertices that are given in the frame's axes. Where each has a path of its own these places do not
    /// matter, only how many there are.
    Mesh {
        /// `[m]`
        vertices: Vec<[f64; 3]>,
        /// Corners, counter-clockwise seen from outside.
        triangles: Vec<[u32; 3]>,
        /// Ends of edges that are no triangle's: ropes and nets.
        lines: Vec<[u32; 2]>,
    },
}

/// Something in the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Obstacle {
    /// What it looks like.
    pub shape: Shape,
    /// Coulomb friction coefficient of the pair; the cloth's own does not enter `[-]`.
    pub friction: f64,
    /// Coefficient of restitution of the pair `[-]`.
    pub restitution: f64,
    /// Distance that is kept from it, on top of half the cloth's thickness `[m]`.
    pub thickness: f64,
    /// Of a mesh: whether only what comes from outside is stopped; what comes from behind passes.
    pub one_sided: bool,
    /// Vertices of the cloth that do not meet it, nor do the edges and triangles around them: they are fixed to it, say. Nor does cloth
    /// that hangs together with them deep inside it at the start, until it is outside.
    pub except: Vec<u32>,
}

impl Obstacle {
    /// Without friction, restitution and thickness, met from both sides.
    pub fn new(shape: Shape) -> Self {
        Self { shape, friction: 0.0, restitution: 0.0, thickness: 0.0, one_sided: false, except: vec![] }
    }

    /// Sets the friction coefficient `[-]`.
    pub fn friction(self, friction: f64) -> Self {
        Self { friction, ..self }
    }

    /// Sets the coefficient of restitution `[-]`.
    pub fn restitution(self, restitution: f64) -> Self {
        Self { restitution, ..self }
    }

    /// Sets the thickness `[m]`.
    pub fn thickness(self, thickness: f64) -> Self {
        Self { thickness, ..self }
    }

    /// Lets vertices of the cloth through, with the edges and triangles around them.
    pub fn except(self, except: Vec<u32>) -> Self {
        Self { except, ..self }
    }

    /// Makes a mesh stop only what comes from outside.
    pub fn one_sided(self) -> Self {
        Self { one_sided: true, ..self }
    }
}

/// How an obstacle moves over a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Path<'a> {
    /// Not there in this step.
    Absent,
    /// Its frame goes from one pose to the other, straight and turning evenly.
    Frame {
        /// Pose at the begin.
        begin: Isometry3<f64>,
        /// Pose at the end.
        end: Isometry3<f64>,
    },
    /// Each vertex of a mesh goes straight from one place to another `[m]`.
    Points {
        /// At the begin.
        begin: &'a [V3],
        /// At the end.
        end: &'a [V3],
    },
}

impl Path<'_> {
    /// Standing still at `pose`.
    pub fn still(pose: Isometry3<f64>) -> Self {
        Self::Frame { begin: pose, end: pose }
    }
}

/// An obstacle's features.
#[derive(Clone)]
pub(crate) struct Core {
    pub features: Features,
    /// In the frame's axes `[m]`.
    pub vertices: Vec<V3>,
    /// Around the features `[m]`.
    pub radius: f64,
    /// The farthest vertex from the frame's origin `[m]`.
    pub extent: f64,
    /// Exact surface of a cylinder or cone.
    pub revolved: Option<Revolved>,
    /// Of a box or closed mesh, what is in and what is out.
    pub solid: Option<TriMesh>,
    /// The solid, if it is convex.
    pub convex: Option<Convex>,
    /// Whether triangles tell which side is out.
    pub tells_sides: bool,
}

impl Core {
    pub fn new(which: usize, obstacle: &Obstacle) -> Result<Self, ContactError> {
        let range = |thing: &str, found: f64, good: RangeInclusive<f64>, expected| {
            let thing = format!("{thing} of obstacle {which}");
            if good.contains(&found) { Ok(found) } else { Err(ContactError::Number { thing, found, expected }) }
        };
        let number = |thing: &str, found, least, expected| range(thing, found, least..=f64::MAX, expected);
        let positive = "a finite number above 0";
        number("friction", obstacle.friction, 0.0, "a finite number, at least 0")?;
        number("thickness", obstacle.thickness, 0.0, "a finite number, at least 0")?;
        range("restitution", obstacle.restitution, 0.0..=1.0, "from 0 to 1")?;
        let tiny = f64::MIN_POSITIVE;
        let mut revolved = None;
        let mut round = |half: f64, radii: [f64; 2]| {
            revolved = Some(Revolved { half, radii });
            let end = half * V3::x();
            (vec![-end, end, -end], Features::revolved(), radii[0])
        };
        let (vertices, features, radius) = match &obstacle.shape {
            // A triangle of the plane, as large as the cloth asks for.
            Shape::HalfSpace => (vec![V3::x(); 3], Features::face(), 0.0),
            Shape::Ball { radius } => {
                (vec![V3::zeros()], Features::new(1, &[], &[])?, number("radius", *radius, tiny, positive)?)
            }
            Shape::Capsule { half_length, radius } => {
                let end = V3::x() * number("half length", *half_length, tiny, positive)?;
                (vec![-end, end], Features::new(2, &[], &[[0, 1]])?, number("radius", *radius, tiny, positive)?)
            }
            Shape::Cylinder { half_length, radius } => {
                let half = number("half length", *half_length, tiny, positive)?;
                round(half, [number("radius", *radius, tiny, positive)?; 2])
            }
            Shape::Cone { half_height, radius } => {
                let half = number("half height", *half_height, tiny, positive)?;
                round(half, [number("radius", *radius, tiny, positive)?, 0.0])
            }
            Shape::Cuboid { half_extents } => {
                for half in half_extents {
                    number("half extent", *half, tiny, positive)?;
                }
                let sign = |bit: u32, k: u32| if bit >> k & 1 == 0 { -1.0 } else { 1.0 };
                let corner = |bits: u32| V3::from_fn(|k, _| sign(bits, k as u32) * half_extents[k]);
                ((0..8).map(corner).collect(), Features::new(8, &CUBOID, &[])?, 0.0)
            }
            Shape::Mesh { vertices, triangles, lines } => {
                for (k, vertex) in vertices.iter().enumerate() {
                    for &c in vertex {
                        range(&format!("vertex {k}"), c, -1e100..=1e100, "finite coordinates within 1e100 m")?;
                    }
                }
                let of = vertices.iter().map(|&v| V3::from(v)).collect::<Vec<_>>();
                (of, Features::new(vertices.len(), triangles, lines)?, 0.0)
            }
        };
        if obstacle.one_sided && !matches!(obstacle.shape, Shape::Mesh { .. }) {
            return Err(ContactError::NotMesh { obstacle: which, found: "one-sided" });
        }
        let extent = vertices.iter().fold(0.0_f64, |extent, v| extent.max(v.norm()));
        let solid = if radius > 0.0 { None } else { solid(&vertices, features.triangles()) };
        let convex = match (revolved, radius > 0.0) {
            (Some(revolved), _) => Some(Convex::revolved(revolved)),
            (None, true) => Some(Convex::round(&vertices, radius)),
            (None, false) => solid.as_ref().and_then(|_| Convex::of_surface(&vertices, &features)),
        };
        let tells_sides = obstacle.one_sided || solid.is_some() || obstacle.shape == Shape::HalfSpace;
        Ok(Self { features, vertices, radius, extent, revolved, solid, convex, tells_sides })
    }
}

/// Corner k has bit 0 of k set where x > 0, bit 1 where y > 0, bit 2 where z > 0.
const CUBOID: [[u32; 3]; 12] = [
    [0, 4, 6],
    [0, 6, 2],
    [1, 3, 7],
    [1, 7, 5],
    [0, 1, 5],
    [0, 5, 4],
    [2, 6, 7],
    [2, 7, 3],
    [0, 2, 3],
    [0, 3, 1],
    [4, 5, 7],
    [4, 7, 6],
];
