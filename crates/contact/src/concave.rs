//! Closed surfaces that are not convex: along which directions elements of cloth come out, and how far.
//!
//! A convex solid is below each of its supporting planes (`convex.rs`). Of another solid only that part of the surface counts
//! which an element passes. Displaced by t n, the element sweeps a prism. Each triangle of the surface, clipped to the prism,
//! is in the way over an interval of t. The element is out at the least t that is within no interval, if it is outside of the
//! solid there. Its plane is at the highest place that it has passed.

use std::collections::BTreeMap;

use nalgebra::Vector3;

use crate::{
    Shape,
    broad::Bounds,
    convex::{Plane, keep_distinct},
    obstacle::Core,
};

type V3 = Vector3<f64>;

/// Most directions that are tried for one region of cloth [-].
const MOST_WAYS: usize = 256;
/// Lengths that count as none, relative to the size of an element [-].
const TINY: f64 = 1e-9;
/// Displacement after which an element that touches the surface from outside has entered the solid, relative to its size [-].
const ENTERED: f64 = 1e-6;

/// The part of a closed surface that is near a region of cloth, in the solid's axes.
pub(crate) struct Concave<'a> {
    core: &'a Core,
    shape: &'a Shape,
    facets: Vec<Facet>,
    /// Largest displacement that is looked at `[m]`.
    reach: f64,
}

struct Facet {
    vertices: [u32; 3],
    corners: [V3; 3],
    normal: V3,
    bounds: Bounds,
}

/// What is in the way of an element that is displaced along a direction.
struct Obstruction {
    /// First and last displacement at which it touches the element `[m]`.
    from: f64,
    to: f64,
    /// Its largest coordinate along the direction `[m]`.
    top: f64,
}

impl<'a> Concave<'a> {
    /// The surface up to `reach` `[m]` from points of cloth.
    pub fn around(core: &'a Core, shape: &'a Shape, points: impl Iterator<Item = V3>, reach: f64) -> Self {
        let around = points.fold(Bounds::EMPTY, |all, x| all.join(&Bounds::swept(&x, &V3::zeros(), reach)));
        let facet = |&vertices: &[u32; 3]| {
            let corners = vertices.map(|v| core.vertices[v as usize]);
            let [a, b, c] = corners;
            let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
            Some(Facet { vertices, corners, normal, bounds: bounds(&corners, 0.0) })
        };
        let facets = core.features.triangles().iter().filter_map(facet).filter(|facet| facet.bounds.meets(&around));
        Self { core, shape, facets: facets.collect(), reach }
    }

    /// Planes beyond which all of these elements are out: with normals of faces near them, and means of those around a vertex.
    pub fn ways(&self, elements: &[[V3; 3]]) -> Vec<Plane> {
        let near: Vec<Bounds> = elements.iter().map(|corners| bounds(corners, size(corners))).collect();
        let is_near = |facet: &&Facet| near.iter().any(|near| near.meets(&facet.bounds));
        let facets: Vec<&Facet> = self.facets.iter().filter(is_near).collect();
        let mut around = BTreeMap::<u32, Vec<V3>>::new();
        for facet in &facets {
            facet.vertices.iter().for_each(|&v| around.entry(v).or_default().push(facet.normal));
        }
        let mut directions: Vec<V3> = facets.iter().map(|facet| facet.normal).collect();
        directions.extend(around.into_values().filter_map(|mut normals| {
            keep_distinct(&mut normals);
            normals.iter().sum::<V3>().try_normalize(1e-3)
        }));
        keep_distinct(&mut directions);
        directions.truncate(MOST_WAYS);
        let plane = |n: V3| Plane { normal: n, height: self.highest(elements, |e| self.height(&n, e, 0.0)) };
        directions.into_iter().map(plane).filter(|plane| plane.height < f64::INFINITY).collect()
    }

    /// Width of the solid along the normal of a plane, from the plane to where elements come out in the opposite direction `[m]`. Less
    /// than 0 if none enters the solid in that direction, infinite if one does not come out.
    pub fn width(&self, plane: &Plane, elements: &[[V3; 3]]) -> f64 {
        plane.height + self.highest(elements, |e| self.height(&-plane.normal, e, ENTERED * size(e)))
    }

    fn highest(&self, elements: &[[V3; 3]], height: impl Fn(&[V3; 3]) -> f64) -> f64 {
        elements.iter().map(height).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Number of the obstacle's vertex that is nearest to a plane, of those near the cloth.
    pub fn support(&self, plane: &Plane) -> u32 {
        let all = self.facets.iter().flat_map(|facet| facet.vertices.into_iter().zip(&facet.corners));
        let nearest = all.min_by(|a, b| plane.depth(a.1).abs().total_cmp(&plane.depth(b.1).abs()));
        nearest.map_or(0, |(v, _)| v)
    }

    /// Coordinate along `n` beyond which an element is out that enters or is in the solid after a displacement by `from` `[m]`. Without
    /// bound if it is in the solid up to the largest displacement. With a `from` above 0, less than any number if it is out there.
    fn height(&self, n: &V3, element: &[V3; 3], from: f64) -> f64 {
        let (prism, tiny) = (Prism::new(n, element), TINY * size(element));
        let way = |x: &V3| Bounds::swept(x, &(self.reach * n), tiny);
        let swept = element.iter().fold(Bounds::EMPTY, |all, x| all.join(&way(x)));
        let near = self.facets.iter().filter(|facet| facet.bounds.meets(&swept));
        let obstructions: Vec<Obstruction> = near.filter_map(|facet| prism.clip(&facet.corners)).collect();
        let lowest = element.iter().map(|x| n.dot(x)).fold(f64::INFINITY, f64::min);
        let mut stops: Vec<f64> = obstructions.iter().map(|o| o.to).filter(|&to| to > from).collect();
        stops.push(from);
        stops.sort_by(f64::total_cmp);
        let middle = (element[0] + element[1] + element[2]) / 3.0;
        let is_out = |&t: &f64| {
            let crosses = |o: &Obstruction| o.from < t - tiny && t + tiny < o.to;
            !obstructions.iter().any(crosses) && !self.core.contains(self.shape, &(middle + (t + 2.0 * tiny) * n))
        };
        match stops.into_iter().take_while(|&t| t <= self.reach).find(is_out) {
            None => f64::INFINITY,
            Some(out) if out == from && from > 0.0 => f64::NEG_INFINITY,
            Some(out) => {
                let passed = obstructions.iter().filter(|o| o.to >= 0.0 && o.to <= out + tiny);
                passed.fold(lowest, |height, o| height.max(o.top))
            }
        }
    }
}

/// What an element sweeps along a direction.
struct Prism {
    /// Across the direction, and along it.
    axes: [V3; 3],
    /// Half-spaces across the direction: inward normal, and the least coordinate along it `[m]`.
    sides: Vec<([f64; 2], f64)>,
    /// The element's coordinate along the direction: at the origin `[m]`, and its slopes [-].
    base: [f64; 3],
}

impl Prism {
    fn new(n: &V3, element: &[V3; 3]) -> Self {
        let across = n.cross(&V3::ith(n.iamin(), 1.0)).normalize();
        let axes = [across, n.cross(&across), *n];
        let at = element.map(|x| [axes[0].dot(&x), axes[1].dot(&x), n.dot(&x)]);
        let way = |i: usize, j: usize| [at[j][0] - at[i][0], at[j][1] - at[i][1]];
        let length = |[x, y]: [f64; 2]| (x * x + y * y).sqrt();
        let tiny = TINY * size(element);
        let ([ax, ay], [bx, by]) = (way(0, 1), way(0, 2));
        let area = ax * by - ay * bx;
        if area.abs() > tiny * length([ax, ay]).max(length([bx, by])) {
            let [az, bz] = [at[1][2] - at[0][2], at[2][2] - at[0][2]];
            let slopes = [(az * by - bz * ay) / area, (bz * ax - az * bx) / area];
            let base = [at[0][2] - slopes[0] * at[0][0] - slopes[1] * at[0][1], slopes[0], slopes[1]];
            let side = |(i, j): (usize, usize)| {
                let [x, y] = way(i, j).map(|c| c * area.signum());
                ([-y, x], -y * at[i][0] + x * at[i][1])
            };
            return Self { axes, sides: [(0, 1), (1, 2), (2, 0)].map(side).to_vec(), base };
        }
        // An edge, or a triangle along the direction, of which the lowest corner counts.
        let ends = [(0, 1), (1, 2), (2, 0)]
            .into_iter()
            .max_by(|&(a, b), &(c, d)| length(way(a, b)).total_cmp(&length(way(c, d))));
        let (i, j) = ends.unwrap_or((0, 1));
        let long = length(way(i, j));
        let [x, y] = if long > tiny { way(i, j).map(|c| c / long) } else { [1.0, 0.0] };
        let along = |k: usize| x * at[k][0] + y * at[k][1];
        let beside = -y * at[i][0] + x * at[i][1];
        let sides = vec![
            ([x, y], along(i) - tiny),
            ([-x, -y], -along(j) - tiny),
            ([-y, x], beside - tiny),
            ([y, -x], -beside - tiny),
        ];
        let lowest = at.iter().map(|at| at[2]).fold(f64::INFINITY, f64::min);
        let is_edge = element[1] == element[2] && long > tiny;
        let slope = if is_edge { (at[j][2] - at[i][2]) / long } else { 0.0 };
        let base = if is_edge { at[i][2] - slope * along(i) } else { lowest };
        Self { axes, sides, base: [base, slope * x, slope * y] }
    }

    /// A triangle as far as it is within the prism.
    fn clip(&self, corners: &[V3; 3]) -> Option<Obstruction> {
        let mut polygon: Vec<[f64; 3]> = corners.iter().map(|x| self.axes.map(|axis| axis.dot(x))).collect();
        for &([x, y], least) in &self.sides {
            let inside = |p: &[f64; 3]| x * p[0] + y * p[1] - least;
            let mut clipped = vec![];
            for (k, p) in polygon.iter().enumerate() {
                let q = &polygon[(k + 1) % polygon.len()];
                let (one, other) = (inside(p), inside(q));
                if one >= 0.0 {
                    clipped.push(*p);
                }
                if (one < 0.0) != (other < 0.0) {
                    let s = one / (one - other);
                    clipped.push(std::array::from_fn(|c| p[c] + s * (q[c] - p[c])));
                }
            }
            polygon = clipped;
            if polygon.is_empty() {
                return None;
            }
        }
        let [height, along, across] = self.base;
        let all = polygon.iter().map(|p| (p[2] - height - along * p[0] - across * p[1], p[2]));
        let none = Obstruction { from: f64::INFINITY, to: f64::NEG_INFINITY, top: f64::NEG_INFINITY };
        Some(all.fold(none, |o, (t, z)| Obstruction { from: o.from.min(t), to: o.to.max(t), top: o.top.max(z) }))
    }
}

fn bounds(corners: &[V3; 3], margin: f64) -> Bounds {
    corners.iter().fold(Bounds::EMPTY, |all, x| all.join(&Bounds::swept(x, &V3::zeros(), margin)))
}

/// Longest side of an element `[m]`.
fn size([a, b, c]: &[V3; 3]) -> f64 {
    (b - a).norm().max((c - b).norm()).max((a - c).norm())
}
