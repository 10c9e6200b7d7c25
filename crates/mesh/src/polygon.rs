//! Triangulation of polygons.
//!
//! Strictly convex polygons become a fan around their first corner. Others are projected along
//! their normal, which is M. Newell's sum of cross products. A constrained Delaunay triangulation
//! of the projection follows, and its inner triangles are kept. Collinear corners are kept too,
//! since without them a neighbour that shares them would be disconnected.

use std::f64::consts::TAU;

use nalgebra::{Vector2, Vector3};
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};

type V2 = Vector2<f64>;

/// Smallest doubled area of a triangle, relative to the square of its longest edge `[-]`. Smaller
/// triangles join collinear corners and exist by rounding only. Heuristic.
const FLATTEST: f64 = 1e-10;

/// Largest number of corners of a nonconvex polygon. It bounds the quadratic cost of the
/// point-in-polygon tests. Heuristic.
const MOST_CORNERS: usize = 4096;

/// Tolerance of the doubled area, relative to the square of the polygon's size `[-]`. It is far
/// above rounding. Heuristic.
const ROUNDING: f64 = 1e-9;

/// Reason why a polygon cannot be triangulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Uncut {
    CrossesItself,
    TooManyCorners,
}

impl std::fmt::Display for Uncut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::CrossesItself => f.write_str("crosses itself; cut it into triangles"),
            Self::TooManyCorners => {
                write!(f, "is not convex, with more than {MOST_CORNERS} corners; cut it into triangles")
            }
        }
    }
}

/// Triangles of a polygon with at least three corners, as numbers of these, with the orientation of the polygon. One
/// without an area becomes a fan. Of corners in a row at one place only the last counts.
pub(crate) fn cut(corners: &[Vector3<f64>]) -> Result<Vec<[u32; 3]>, Uncut> {
    let fan = || (1..corners.len() as u32 - 1).map(|k| [0, k, k + 1]).collect();
    if corners.len() == 3 {
        return Ok(fan());
    }
    let following = |k: usize| (k + 1) % corners.len();
    let is_last = |k: &u32| corners[*k as usize] != corners[following(*k as usize)];
    let distinct: Vec<u32> = (0..corners.len() as u32).filter(is_last).collect();
    if distinct.len() >= 3 && distinct.len() < corners.len() {
        let places: Vec<Vector3<f64>> = distinct.iter().map(|&k| corners[k as usize]).collect();
        return Ok(cut(&places)?.into_iter().map(|triangle| triangle.map(|k| distinct[k as usize])).collect());
    }
    let size = corners.iter().map(|x| (x - corners[0]).amax()).fold(0.0, f64::max);
    let scaled: Vec<Vector3<f64>> = corners.iter().map(|x| (x - corners[0]) / size).collect();
    let normal: Vector3<f64> = (0..corners.len()).map(|k| scaled[k].cross(&scaled[following(k)])).sum();
    if size == 0.0 || normal.norm() <= ROUNDING {
        return Ok(fan());
    }
    let u = normal.cross(&Vector3::ith(normal.iamin(), 1.0)).normalize();
    let v = normal.normalize().cross(&u);
    let flat: Vec<V2> = scaled.iter().map(|x| V2::new(u.dot(x), v.dot(x))).collect();
    if is_strictly_convex(&flat) {
        return Ok(fan());
    }
    if corners.len() > MOST_CORNERS {
        return Err(Uncut::TooManyCorners);
    }
    let triangles = triangulated(&flat).ok_or(Uncut::CrossesItself)?;
    let area: f64 = triangles.iter().map(|triangle| doubled_area(triangle.map(|k| flat[k as usize]))).sum();
    if (area - normal.norm()).abs() > ROUNDING { Err(Uncut::CrossesItself) } else { Ok(triangles) }
}

/// Whether the polygon turns left at every corner and has the winding number 1.
fn is_strictly_convex(x: &[V2]) -> bool {
    let n = x.len();
    let edge = |k: usize| x[(k + 1) % n] - x[k % n];
    let turn = |k: usize| edge(k).perp(&edge(k + 1)).atan2(edge(k).dot(&edge(k + 1)));
    (0..n).all(|k| turn(k) > 1e-6) && ((0..n).map(turn).sum::<f64>() - TAU).abs() < 1e-3
}

/// Inner triangles of a constrained Delaunay triangulation; none if edges intersect.
fn triangulated(x: &[V2]) -> Option<Vec<[u32; 3]>> {
    let mut mesh = ConstrainedDelaunayTriangulation::<Point2<f64>>::new();
    let mut handles = Vec::with_capacity(x.len());
    // First corner of each handle; coincident corners share a handle.
    let mut corner_of = Vec::new();
    for (corner, point) in (0..).zip(x) {
        let handle = mesh.insert(Point2::new(point.x, point.y)).ok()?;
        if handle.index() == corner_of.len() {
            corner_of.push(corner);
        }
        handles.push(handle);
    }
    for k in 0..x.len() {
        let [from, to] = [handles[k], handles[(k + 1) % x.len()]];
        if from != to {
            if !mesh.can_add_constraint(from, to) {
                return None;
            }
            mesh.add_constraint(from, to);
        }
    }
    let corners = mesh.inner_faces().map(|face| face.vertices().map(|vertex| corner_of[vertex.index()]));
    let is_part = |corners: &[u32; 3]| {
        let [a, b, c] = corners.map(|k| x[k as usize]);
        let longest = (b - a).norm_squared().max((c - b).norm_squared()).max((a - c).norm_squared());
        doubled_area([a, b, c]) > FLATTEST * longest && is_inside(x, (a + b + c) / 3.0)
    };
    Some(corners.filter(is_part).collect())
}

/// Whether a ray from the point crosses an odd number of edges.
fn is_inside(x: &[V2], point: V2) -> bool {
    let crosses = |k: &usize| {
        let [a, b] = [x[*k], x[(k + 1) % x.len()]];
        (a.y > point.y) != (b.y > point.y) && point.x < a.x + (point.y - a.y) / (b.y - a.y) * (b.x - a.x)
    };
    (0..x.len()).filter(crosses).count() % 2 == 1
}

fn doubled_area([a, b, c]: [V2; 3]) -> f64 {
    (b - a).perp(&(c - a))
}
