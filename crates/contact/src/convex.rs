//! Convex solids by their supporting planes: which directions lead out, and how far.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::{
    Features,
    crossing::crosses,
    distance::{Kind, nearest},
    revolved::Revolved,
};

type V3 = Vector3<f64>;

/// Most faces of a solid whose directions are all tried.
const MOST_FACES: usize = 4096;
/// Cosine between a direction and the normal of a plane up to which it leads along the plane, not beyond it [-].
const BESIDE: f64 = 1e-6;
/// Cosine of the angle between a direction and the normal of a face that bears along it [-].
const FLAT: f64 = 0.99;
/// Directions around the axis of what is round that are tried.
const AROUND: usize = 32;

/// Plane n·x = height in the axes of a solid.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Plane {
    pub normal: V3,
    pub height: f64,
}

impl Plane {
    /// Distance of a point below the plane `[m]`.
    pub fn depth(&self, x: &V3) -> f64 {
        self.height - self.normal.dot(x)
    }
}

/// A convex solid: all within a radius of the hull of some points.
#[derive(Debug, Clone)]
pub(crate) struct Convex {
    points: Vec<V3>,
    /// `[m]`
    radius: f64,
    /// A cylinder or cone; points and radius are then those of its core.
    revolved: Option<Revolved>,
    /// Supporting planes that lead out: of faces, edges and corners, or all around what is round.
    ways: Vec<Plane>,
}

impl Convex {
    /// The solid within a closed surface, if no edge of it is concave.
    pub fn of_surface(points: &[V3], features: &Features) -> Option<Self> {
        let triangles = features.triangles();
        if triangles.len() > MOST_FACES {
            return None;
        }
        let normal = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| points[v as usize]);
            (b - a).cross(&(c - a)).try_normalize(0.0)
        };
        let size = points.iter().fold(0.0_f64, |size, x| size.max(x.amax()));
        for edge in features.edges() {
            for t in features.around_edge(*edge) {
                let Some(n) = normal(t) else { continue };
                let at = points[t[0] as usize];
                let mut corners = features.around_edge(*edge).flatten();
                if corners.any(|&v| n.dot(&(points[v as usize] - at)) > 1e-9 * size) {
                    return None;
                }
            }
        }
        let faces = triangles.iter().filter_map(normal);
        let mean = |around: &mut dyn Iterator<Item = &[u32; 3]>| {
            let mut normals: Vec<V3> = around.filter_map(normal).collect();
            keep_distinct(&mut normals);
            normals.iter().sum::<V3>().try_normalize(1e-3)
        };
        let edges = features.edges().iter().filter_map(|edge| mean(&mut features.around_edge(*edge)));
        let corners = (0..points.len() as u32).filter_map(|v| mean(&mut features.around(v).iter()));
        let ways = faces.chain(edges).chain(corners).collect();
        Some(Self { points: points.to_vec(), radius: 0.0, revolved: None, ways: vec![] }.with_ways(ways))
    }

    /// A ball about a point, or a capsule about the edge between two on the x axis.
    pub fn round(points: &[V3], radius: f64) -> Self {
        let around = (0..AROUND).map(|k| {
            let (sin, cos) = (std::f64::consts::TAU * k as f64 / AROUND as f64).sin_cos();
            V3::new(0.0, sin, cos)
        });
        let cube = (0..27).map(|k| V3::new((k % 3) as f64, (k / 3 % 3) as f64, (k / 9) as f64) - V3::repeat(1.0));
        let ways = around.chain(cube.filter_map(|n| n.try_normalize(0.0))).collect();
        Self { points: points.to_vec(), radius, revolved: None, ways: vec![] }.with_ways(ways)
    }

    /// A cylinder or cone about the x axis.
    pub fn revolved(solid: Revolved) -> Self {
        let sides = (0..AROUND).map(|k| solid.side(std::f64::consts::TAU * k as f64 / AROUND as f64));
        let rims = [V3::x(), -V3::x()].into_iter().flat_map(|cap| sides.clone().map(move |side| cap + side));
        let all = [V3::x(), -V3::x()].into_iter().chain(sides.clone()).chain(rims);
        let ways = all.filter_map(|n| n.try_normalize(1e-3)).collect();
        let end = solid.half * V3::x();
        let (points, radius) = (vec![-end, end], solid.radii[0]);
        Self { points, radius, revolved: Some(solid), ways: vec![] }.with_ways(ways)
    }

    /// With the supporting planes of these directions, each once.
    fn with_ways(mut self, mut directions: Vec<V3>) -> Self {
        keep_distinct(&mut directions);
        self.ways = directions.into_iter().map(|n| self.supporting(n)).collect();
        self
    }

    /// The plane of such a normal that touches the solid, which is below it.
    pub fn supporting(&self, normal: V3) -> Plane {
        if let Some(solid) = self.revolved {
            return Plane { normal, height: solid.support(&normal) };
        }
        let most = self.points.iter().fold(f64::NEG_INFINITY, |most, x| most.max(normal.dot(x)));
        Plane { normal, height: most + self.radius }
    }

    /// Planes that lead out, and two along a normal of cloth, if that is given.
    pub fn ways(&self, of_cloth: Option<V3>) -> impl Iterator<Item = Plane> {
        let along = of_cloth.map(|n| [n, -n]);
        self.ways.iter().copied().chain(along.into_iter().flatten().map(|n| self.supporting(n)))
    }

    /// Whether it is no polyhedron.
    pub fn is_round(&self) -> bool {
        self.radius > 0.0
    }

    /// Corners of the part of a triangle that is below all planes that lead out, as weights of the
    /// triangle's, and the depth of their mean `[m]`; none if there is no such part. Around what is
    /// round, planes leave half a percent of the radius.
    pub fn overlap(&self, triangle: &[V3; 3]) -> Option<(Vec<V3>, f64)> {
        let depths = |plane: &Plane| V3::from_fn(|k, _| plane.depth(&triangle[k]));
        let mut corners = vec![V3::x(), V3::y(), V3::z()];
        for plane in &self.ways {
            let depths = depths(plane);
            if depths.min() >= 0.0 {
                continue;
            }
            let whole = std::mem::take(&mut corners);
            let last = whole.last()?;
            let mut before = (*last, depths.dot(last));
            for corner in whole {
                let depth = depths.dot(&corner);
                if (depth >= 0.0) != (before.1 >= 0.0) {
                    corners.push(before.0.lerp(&corner, before.1 / (before.1 - depth)));
                }
                if depth >= 0.0 {
                    corners.push(corner);
                }
                before = (corner, depth);
            }
        }
        let mean = corners.iter().sum::<V3>() / corners.len() as f64;
        let depth = self.ways.iter().map(|plane| depths(plane).dot(&mean)).fold(f64::INFINITY, f64::min);
        (!corners.is_empty()).then_some((corners, depth))
    }

    /// Whether it has faces: balls and capsules have none.
    pub fn has_faces(&self) -> bool {
        !self.is_round() || self.revolved.is_some()
    }

    /// Whether it is round, and has no face nearly perpendicular to a direction.
    pub fn is_curved_along(&self, n: &V3) -> bool {
        self.is_round() && n.x.abs() < FLAT
    }

    /// Vertices of a polyhedron.
    pub fn corners(&self) -> &[V3] {
        if self.is_round() { &[] } else { &self.points }
    }

    /// Way from a point inside, along a direction, until it is beyond one of the planes that lead out `[m]`.
    pub fn way_along(&self, n: &V3, x: &V3) -> f64 {
        let ahead = self.ways.iter().map(|plane| (plane.normal.dot(n), plane)).filter(|(along, _)| *along > BESIDE);
        ahead.map(|(along, plane)| plane.depth(x) / along).fold(f64::INFINITY, f64::min)
    }

    /// Way from a point outside, along a direction, until it is below all planes that lead out `[m]`; none
    /// where it is below them or never comes there.
    pub fn way_to(&self, n: &V3, x: &V3) -> Option<f64> {
        let mut way = 0.0_f64;
        for plane in &self.ways {
            let (along, depth) = (plane.normal.dot(n), plane.depth(x));
            if along < -BESIDE {
                way = way.max(depth / along);
            } else if along <= BESIDE && depth < 0.0 {
                return None;
            }
        }
        (way > 0.0 && way <= self.way_along(n, x)).then_some(way)
    }

    /// Number of the point on a supporting plane.
    pub fn support(&self, plane: &Plane) -> u32 {
        let depth = |v: &u32| plane.depth(&self.points[*v as usize]);
        (0..self.points.len() as u32).min_by(|a, b| depth(a).total_cmp(&depth(b))).unwrap_or_default()
    }

    /// Width of the solid between a supporting plane and the opposite one `[m]`.
    pub fn width(&self, plane: &Plane) -> f64 {
        plane.height + self.supporting(-plane.normal).height
    }

    /// Largest distance by which a part of a triangle is within what is round, 0 where none is and for other solids `[m]`.
    pub fn depth_in_round(&self, corners: [V3; 3]) -> f64 {
        if self.radius == 0.0 {
            return 0.0;
        }
        let [a, b, c] = corners;
        let [p, q] = [self.points[0], self.points[self.points.len() - 1]];
        let beside = |k: usize| {
            let [low, high] = [a[k].min(b[k]).min(c[k]), a[k].max(b[k]).max(c[k])];
            high < p[k].min(q[k]) - self.radius || low > p[k].max(q[k]) + self.radius
        };
        if (0..3).any(beside) {
            return 0.0;
        }
        if let Some(solid) = self.revolved {
            return solid.at_rest().depth(&corners);
        }
        if crosses([&p, &q], [&a, &b, &c]) {
            return self.radius;
        }
        let sides = [(a, b), (b, c), (c, a)].map(|(a, b)| nearest(Kind::EdgeEdge, &[a, b, p, q]).distance());
        let ends = [p, q].map(|end| nearest(Kind::PointTriangle, &[end, a, b, c]).distance());
        let distance = sides.into_iter().chain(ends).fold(f64::INFINITY, f64::min);
        (self.radius - distance).max(0.0)
    }
}

/// Drops directions that are as one before, to 1e-6; keeps the order.
fn keep_distinct(directions: &mut Vec<V3>) {
    let mut kept: Vec<V3> = vec![];
    directions.retain(|n| {
        let new = kept.iter().all(|other| (n - other).norm() > 1e-6);
        if new {
            kept.push(*n);
        }
        new
    });
}
