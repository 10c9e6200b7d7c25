//! Which side of an obstacle is out, where its triangles tell: of closed ones, one-sided ones and half-spaces.
//!
//! \[BA05\] J. A. Bærentzen, H. Aanæs: Signed Distance Computation Using the Angle Weighted Pseudonormal. IEEE TVCG 11, 2005.

use nalgebra::Vector3;

use crate::{
    Contacts,
    broad::Pair,
    distance::{Kind, Nearest},
    obstacle::Core,
};

type V3 = Vector3<f64>;

/// Nearer than this, in metres and by the size of coordinates, rounding hides on which side a feature is `[-]`.
const HIDDEN: f64 = 1e-9;

/// The triangles around each vertex.
#[derive(Debug, Clone, Default)]
pub(crate) struct Around {
    /// Where those of a vertex begin.
    first: Vec<u32>,
    triangles: Vec<[u32; 3]>,
}

impl Around {
    pub fn new(vertices: usize, triangles: &[[u32; 3]]) -> Self {
        let mut corners: Vec<(u32, [u32; 3])> = triangles.iter().flat_map(|t| t.map(|v| (v, *t))).collect();
        corners.sort_by_key(|(v, _)| *v);
        let first = (0..=vertices as u32).map(|v| corners.partition_point(|(of, _)| *of < v) as u32).collect();
        Self { first, triangles: corners.into_iter().map(|(_, t)| t).collect() }
    }

    pub fn of(&self, vertex: u32) -> &[[u32; 3]] {
        let [from, to] = [0, 1].map(|k| self.first[vertex as usize + k] as usize);
        &self.triangles[from..to]
    }
}

impl Core {
    /// Out of the surface, where the obstacle's vertices are at `x` and those in `place` span the nearest feature:
    /// perpendicular to a triangle, between those at an edge, at a vertex their mean by angle (\[BA05\] eq. 4).
    fn outward(&self, x: &[V3], place: &[u32]) -> Option<V3> {
        let around = self.features.around(*place.first().filter(|_| self.tells_sides)?);
        let mut sum = V3::zeros();
        for t in around.iter().filter(|t| place.iter().all(|v| t.contains(v))) {
            let [a, b, c] = t.map(|v| x[v as usize]);
            let Some(normal) = (b - a).cross(&(c - a)).try_normalize(0.0) else { continue };
            let angle = match *place {
                [v] if v == t[0] => (b - a).angle(&(c - a)),
                [v] if v == t[1] => (a - b).angle(&(c - b)),
                [_] => (a - c).angle(&(b - c)),
                _ => 1.0,
            };
            sum += angle * normal;
        }
        sum.try_normalize(0.0)
    }
}

impl Contacts {
    /// From the second to the first feature of a pair with an obstacle, across the obstacle's surface and out of it.
    fn out(&self, pair: &Pair, near: &Nearest, obstacle: u32) -> Option<V3> {
        let first = self.work.first[obstacle as usize];
        let core = &self.obstacles[obstacle as usize].1;
        let (mut place, mut count, mut sign) = ([0; 3], 0, 0.0);
        for k in (0..4).filter(|&k| pair.vertices[k] >= first && near.weights[k] != 0.0) {
            place[count] = pair.vertices[k] - first;
            count += 1;
            sign = near.weights[k];
        }
        let x = &self.work.x[first as usize..][..core.vertices.len()];
        core.outward(x, &place[..count]).map(|out| if sign < 0.0 { out } else { -out })
    }

    /// Whether a pair is behind a one-sided obstacle, where it passes freely.
    pub(crate) fn is_far_side(&self, pair: &Pair, near: &Nearest, obstacle: Option<u32>) -> bool {
        let Some(obstacle) = obstacle.filter(|&k| self.obstacles[k as usize].0.one_sided) else { return false };
        !self.is_hidden(pair, near.distance())
            && self.out(pair, near, obstacle).is_some_and(|out| out.dot(&near.offset) < 0.0)
    }

    /// Of a pair that touches an obstacle that tells its sides, the direction out, from the second to the first feature:
    /// perpendicular to the triangle or to both edges, if these are not parallel.
    pub(crate) fn out_of_touch(&self, pair: &Pair, near: &Nearest, obstacle: Option<u32>) -> Option<V3> {
        let out = obstacle
            .filter(|_| self.is_hidden(pair, near.distance()))
            .and_then(|obstacle| self.out(pair, near, obstacle))?;
        let [a, b, c, d] = pair.vertices.map(|v| self.work.x[v as usize]);
        let (one, other) = match pair.kind {
            Kind::PointTriangle => (c - b, d - b),
            Kind::EdgeEdge => (b - a, d - c),
        };
        let across = one.cross(&other);
        let parallel = across.norm() <= 1e-6 * one.norm() * other.norm();
        if parallel { Some(out) } else { (out.dot(&across).signum() * across).try_normalize(0.0) }
    }

    /// Whether rounding hides on which side of a surface a pair is, at such a distance from it `[m]`.
    pub(crate) fn is_hidden(&self, pair: &Pair, distance: f64) -> bool {
        let reach = || pair.vertices.iter().fold(0.0_f64, |most, &v| most.max(self.work.x[v as usize].amax()));
        distance <= HIDDEN && distance <= HIDDEN * reach()
    }

    /// Along which direction a pair is to be kept apart: the line between its nearest points, or out of an obstacle that it
    /// touches. None if it touches and nothing tells.
    pub(crate) fn direction(&self, pair: &Pair, near: &Nearest, obstacle: Option<u32>) -> Option<V3> {
        self.out_of_touch(pair, near, obstacle).or_else(|| near.offset.try_normalize(0.0))
    }
}
