//! Exact crossings: what has passed through what, without rounding.
//!
//! \[She97\] J. R. Shewchuk: Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates. Discrete &
//! Computational Geometry 18, 1997 (crate `robust`).

use nalgebra::Vector3;
use parry3d_f64::{
    bounding_volume::Aabb,
    math::Vector,
    partitioning::{Bvh, BvhBuildStrategy, BvhNode},
};
use robust::{Coord3D, orient3d};

type V3 = Vector3<f64>;

/// Whether the segment passes properly through the triangle: its ends lie strictly on either side of the plane, and
/// the line strictly within. What merely touches, and all that lies in one plane, does not cross.
pub fn crosses(segment: [&V3; 2], triangle: [&V3; 3]) -> bool {
    let [p, q] = segment;
    let [a, b, c] = triangle;
    let (from, to) = (side(a, b, c, p), side(a, b, c, q));
    if from * to >= 0.0 {
        return false;
    }
    let turns = [side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)];
    turns.iter().all(|&turn| turn > 0.0) || turns.iter().all(|&turn| turn < 0.0)
}

/// The sign of the volume of a tetrahedron, exact.
fn side(a: &V3, b: &V3, c: &V3, d: &V3) -> f64 {
    let [a, b, c, d] = [a, b, c, d].map(|p| Coord3D { x: p.x, y: p.y, z: p.z });
    // The sign alone: the product of two volumes could underflow to 0.
    let volume = orient3d(a, b, c, d);
    if volume == 0.0 { 0.0 } else { volume.signum() }
}

/// Every edge of `edges` that passes properly through a triangle of `triangles` with which it shares no vertex:
/// `[edge, triangle]`, in order.
pub fn crossings(x: &[V3], edges: &[[u32; 2]], triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let bounds = |corners: &[u32]| {
        let (low, high) =
            corners.iter().fold((V3::repeat(f64::INFINITY), V3::repeat(-f64::INFINITY)), |(low, high), &k| {
                (low.inf(&x[k as usize]), high.sup(&x[k as usize]))
            });
        Aabb::new(Vector::new(low.x, low.y, low.z), Vector::new(high.x, high.y, high.z))
    };
    let tree = Bvh::from_iter(BvhBuildStrategy::Binned, triangles.iter().map(|t| bounds(t)).enumerate());
    let mut found = vec![];
    for (edge, ends) in (0..).zip(edges) {
        let query = BvhNode::leaf(bounds(ends), 0);
        for triangle in tree.leaves(|node: &BvhNode| node.intersects(&query)) {
            let corners = triangles[triangle as usize];
            let apart = !corners.iter().any(|corner| ends.contains(corner));
            if apart && crosses(ends.map(|k| &x[k as usize]), corners.map(|k| &x[k as usize])) {
                found.push([edge, triangle]);
            }
        }
    }
    found.sort_unstable();
    found
}
