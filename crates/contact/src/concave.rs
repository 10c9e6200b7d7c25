//! Closed surfaces that are not convex: along which directions elements of cloth come out, and how far.
//!
//! A convex solid is below each of its supporting planes (`convex.rs`). Of another solid only that part of the surface counts
//! which an element passes. Displaced by t n, the element sweeps a prism. Each triangle of the surface, clipped to the prism,
//! is in the way over an interval of t. The element is out at the least t that is within no interval, if it is outside of the
//! solid there. Its plane is at the highest place that it has passed.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::Vector3;
use parry3d_f64::shape::TriMesh;

use crate::{Shape, broad::Bounds, convex::Plane, obstacle::Core};

type V3 = Vector3<f64>;

/// Most directions that are tried for some elements [-]: no fewer than cells of the coarsest of [`CELLS`] on the unit sphere.
pub(crate) const MOST_WAYS: usize = 128;
/// Most pairs of elements and near triangles [-]. Each pair may be clipped once for each of the directions.
const MOST_PAIRS: usize = 60_000;
/// Cells of the unit length in which only the first of all directions is tried, coarser ones where there are too many [-].
const CELLS: [f64; 5] = [1e6, 16.0, 8.0, 4.0, 2.0];
/// Lengths that count as none, relative to the size of an element [-].
const TINY: f64 = 1e-9;
/// Displacement after which an element that touches the surface from outside has entered the solid, relative to its size [-].
const ENTERED: f64 = 1e-6;

/// A closed surface, in the axes of its solid.
pub(crate) struct Concave<'a> {
    core: &'a Core,
    shape: &'a Shape,
    surface: &'a TriMesh,
    /// Largest displacement that is looked at `[m]`.
    reach: f64,
}

/// What is in the way of an element that is displaced along a direction.
struct Obstruction {
    /// First and last displacement at which it touches the element `[m]`.
    from: f64,
    to: f64,
    /// Its least and largest coordinate along the direction `[m]`.
    bottom: f64,
    top: f64,
}

/// Coordinates along a direction between which an element is out `[m]`.
struct Room {
    floor: f64,
    roof: f64,
}

impl<'a> Concave<'a> {
    /// The surface of a solid that these elements leave within `reach` `[m]`; none of an open surface, or where more of it is near
    /// than can be tried.
    pub fn new(core: &'a Core, shape: &'a Shape, elements: &[[V3; 3]], reach: f64) -> Option<Self> {
        let solid = Self { core, shape, surface: core.solid.as_ref()?, reach };
        let near = solid.surface.bvh().intersect_aabb(&around(elements, reach).aabb()).count();
        (near * elements.len() <= MOST_PAIRS).then_some(solid)
    }

    /// Planes at most `deepest` `[m]` away beyond which all of these elements are out. Their normals are: that of the cloth, either
    /// way; those of near triangles; and means of the triangles around a vertex.
    pub fn ways(&self, elements: &[[V3; 3]], deepest: f64, of_cloth: Option<V3>) -> Vec<Plane> {
        let mut directions: Vec<V3> = of_cloth.into_iter().flat_map(|n| [n, -n]).collect();
        let mut at = BTreeMap::<u32, Vec<V3>>::new();
        for (vertices, [a, b, c]) in self.near(around(elements, deepest)) {
            let Some(normal) = (b - a).cross(&(c - a)).try_normalize(0.0) else { continue };
            directions.push(normal);
            vertices.iter().for_each(|&v| at.entry(v).or_default().push(normal));
        }
        let mean = |normals: Vec<V3>| first_in_cells(&normals, CELLS[0]).iter().sum::<V3>().try_normalize(1e-3);
        directions.extend(at.into_values().filter_map(mean));
        let distinct = CELLS.iter().map(|&cells| first_in_cells(&directions, cells));
        let distinct = distinct.reduce(|finer, coarser| if finer.len() <= MOST_WAYS { finer } else { coarser });
        distinct.into_iter().flatten().filter_map(|n| self.beyond(n, elements, deepest)).collect()
    }

    /// Plane of a normal beyond which all of these elements are out, and none comes up against something else.
    fn beyond(&self, normal: V3, elements: &[[V3; 3]], deepest: f64) -> Option<Plane> {
        let lowest = elements.iter().flatten().map(|x| normal.dot(x)).fold(f64::INFINITY, f64::min);
        let mut all = Room { floor: f64::NEG_INFINITY, roof: f64::INFINITY };
        for element in elements {
            let room = self.room(&normal, element, 0.0)?;
            all = Room { floor: all.floor.max(room.floor), roof: all.roof.min(room.roof) };
            if all.floor - lowest > deepest {
                return None;
            }
        }
        (all.floor < all.roof).then_some(Plane { normal, height: all.floor })
    }

    /// Width of the solid along the normal of a plane, from the plane to where elements come out in the opposite direction `[m]`. Less
    /// than 0 if none enters the solid in that direction, infinite if one does not come out.
    pub fn width(&self, plane: &Plane, elements: &[[V3; 3]]) -> f64 {
        let floor =
            |e: &[V3; 3]| self.room(&-plane.normal, e, ENTERED * size(e)).map_or(f64::INFINITY, |room| room.floor);
        plane.height + elements.iter().map(floor).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Number of the solid's vertex that is nearest to a plane, of those within reach of some points.
    pub fn support(&self, plane: &Plane, points: impl Iterator<Item = V3>) -> u32 {
        let around = points.fold(Bounds::EMPTY, |all, x| all.join(&Bounds::swept(&x, &V3::zeros(), self.reach)));
        let all = self.near(around).flat_map(|(vertices, corners)| vertices.into_iter().zip(corners));
        let nearest = all.min_by(|a, b| plane.depth(&a.1).abs().total_cmp(&plane.depth(&b.1).abs()));
        nearest.map_or(0, |(v, _)| v)
    }

    /// Triangles of the surface whose boxes meet another.
    fn near(&self, around: Bounds) -> impl Iterator<Item = ([u32; 3], [V3; 3])> {
        let mut numbers: Vec<u32> = self.surface.bvh().intersect_aabb(&around.aabb()).collect();
        numbers.sort_unstable();
        numbers.into_iter().map(|number| {
            let vertices = self.core.features.triangles()[number as usize];
            (vertices, vertices.map(|v| self.core.vertices[v as usize]))
        })
    }

    /// Where an element is out along `n` that enters or is in the solid after a displacement by `from` `[m]`; none if it is in
    /// up to the largest displacement. If it is out there, and `from` is above 0, the floor is less than any number.
    fn room(&self, n: &V3, element: &[V3; 3], from: f64) -> Option<Room> {
        let (prism, tiny) = (Prism::new(n, element), TINY * size(element));
        let near = self.near(bounds(element, &(self.reach * n), tiny));
        let obstructions: Vec<Obstruction> = near.filter_map(|(_, corners)| prism.clip(&corners)).collect();
        let mut stops: Vec<f64> = obstructions.iter().map(|o| o.to).filter(|&to| to > from).collect();
        stops.push(from);
        stops.sort_by(f64::total_cmp);
        let middle = (element[0] + element[1] + element[2]) / 3.0;
        // A little beyond a stop, which may be a seam where the next triangle goes on.
        let is_out = |&t: &f64| {
            let t = t + 2.0 * tiny;
            let crosses = |o: &Obstruction| o.from < t && t < o.to;
            !obstructions.iter().any(crosses) && !self.core.contains(self.shape, &(middle + t * n))
        };
        let out = stops.into_iter().take_while(|&t| t <= self.reach).find(is_out)?;
        let farther = obstructions.iter().filter(|o| o.to > out + tiny);
        let roof = farther.fold(f64::INFINITY, |roof, o| roof.min(o.bottom));
        if out == from && from > 0.0 {
            return Some(Room { floor: f64::NEG_INFINITY, roof });
        }
        let lowest = element.iter().map(|x| n.dot(x)).fold(f64::INFINITY, f64::min);
        let passed = obstructions.iter().filter(|o| o.to >= 0.0 && o.to <= out + tiny);
        Some(Room { floor: passed.fold(lowest, |floor, o| floor.max(o.top)), roof })
    }
}

/// The first direction in each of cells of so many to the unit length, in order.
fn first_in_cells(directions: &[V3], cells: f64) -> Vec<V3> {
    let mut known = BTreeSet::new();
    let mut is_first = |n: &&V3| known.insert([0, 1, 2].map(|k| (cells * n[k]).round() as i64));
    directions.iter().filter(|n| is_first(n)).copied().collect()
}

/// What an element sweeps along a direction.
struct Prism {
    /// Across the direction, and along it.
    axes: [V3; 3],
    /// Half-spaces across the direction: inward normal, and the least coordinate along it `[m]`.
    sides: Vec<([f64; 2], f64)>,
    /// The element's coordinate along the direction: at the origin `[m]`, and its slopes [-].
    base: [f64; 3],
    /// By how much it extends beyond that along the direction `[m]`.
    tall: f64,
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
            return Self { axes, sides: [(0, 1), (1, 2), (2, 0)].map(side).to_vec(), base, tall: 0.0 };
        }
        // An edge across the direction, or an element along it, between its lowest and its highest corner.
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
        let [lowest, highest] =
            at.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], at| [low.min(at[2]), high.max(at[2])]);
        let is_edge = element[1] == element[2] && long > tiny;
        let slope = if is_edge { (at[j][2] - at[i][2]) / long } else { 0.0 };
        let base = if is_edge { at[i][2] - slope * along(i) } else { lowest };
        let tall = if is_edge { 0.0 } else { highest - lowest };
        Self { axes, sides, base: [base, slope * x, slope * y], tall }
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
        let [low, high] = [f64::INFINITY, f64::NEG_INFINITY];
        Some(all.fold(Obstruction { from: low, to: high, bottom: low, top: high }, |o, (t, z)| Obstruction {
            from: o.from.min(t - self.tall),
            to: o.to.max(t),
            bottom: o.bottom.min(z),
            top: o.top.max(z),
        }))
    }
}

/// Box around elements, enlarged by a margin `[m]`.
fn around(elements: &[[V3; 3]], margin: f64) -> Bounds {
    elements.iter().fold(Bounds::EMPTY, |all, corners| all.join(&bounds(corners, &V3::zeros(), margin)))
}

/// Box around the corners of an element that is displaced.
fn bounds(corners: &[V3; 3], way: &V3, margin: f64) -> Bounds {
    corners.iter().fold(Bounds::EMPTY, |all, x| all.join(&Bounds::swept(x, way, margin)))
}

/// Longest side of an element `[m]`.
fn size([a, b, c]: &[V3; 3]) -> f64 {
    (b - a).norm().max((c - b).norm()).max((a - c).norm())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Obstacle;

    /// A profile in the plane z = 0, closed and cut into triangles, as a prism of length 1.
    fn prism(profile: &[[f64; 2]], triangles: &[[u32; 3]]) -> Shape {
        let n = profile.len() as u32;
        let vertices = [-0.5, 0.5].into_iter().flat_map(|z| profile.iter().map(move |[x, y]| [*x, *y, z])).collect();
        let caps = triangles.iter().flat_map(|&[a, b, c]| [[a, c, b], [a + n, b + n, c + n]]);
        let sides = (0..n).map(|k| (k, (k + 1) % n)).flat_map(|(k, l)| [[k, l, l + n], [k, l + n, k + n]]);
        Shape::Mesh { vertices, triangles: caps.chain(sides).collect(), lines: vec![] }
    }

    fn block() -> Shape {
        prism(&[[-0.1, -0.1], [0.1, -0.1], [0.1, 0.0], [-0.1, 0.0]], &[[0, 1, 2], [0, 2, 3]])
    }

    /// Heights of planes upwards beyond which elements are out.
    fn upwards(shape: &Shape, elements: &[[V3; 3]]) -> Vec<f64> {
        let core = Core::new(0, &Obstacle::new(shape.clone())).unwrap();
        let solid = Concave::new(&core, shape, elements, 0.5).unwrap();
        solid.ways(elements, 0.5, None).iter().filter(|way| way.normal.y > 1.0 - 1e-12).map(|way| way.height).collect()
    }

    /// Level, tilted and standing elements and lone edges that dip into the top of a block come out beyond its top.
    #[test]
    fn elements_come_out_beyond_the_top_of_a_block() {
        let [a, b] = [V3::new(-0.02, -0.002, 0.01), V3::new(0.02, -0.002, 0.02)];
        for up in [-0.003, -0.002, 0.001, 0.03] {
            for aside in [0.0, 1e-12, 1e-4, 0.03] {
                let c = V3::new(0.0, up, 0.015 + aside);
                for element in [[a, b, c], [a, c, c]] {
                    let found = upwards(&block(), &[element]);
                    assert!(found.len() == 1 && found[0].abs() < 1e-12, "{element:?}: {found:?}");
                }
            }
        }
    }

    /// A sheet under the upper arm of a C, and beside it: what is on the lower arm comes out there, both together do not.
    #[test]
    fn nothing_is_led_into_an_overhang() {
        let low = [[-0.05, -0.2], [0.05, -0.2], [0.05, -0.01], [0.02, -0.01], [0.02, -0.06], [-0.02, -0.06]];
        let profile = [&low[..], &[[-0.02, -0.03], [0.015, -0.03], [0.015, 0.02], [-0.05, 0.02]]].concat();
        let triangles = [[0, 5, 9], [0, 1, 5], [1, 4, 5], [1, 2, 4], [2, 3, 4], [5, 6, 9], [6, 7, 8], [6, 8, 9]];
        let shape = prism(&profile, &triangles);
        let element = |x: f64| [V3::new(x, -0.065, 0.0), V3::new(x + 0.01, -0.065, 0.0), V3::new(x, -0.065, 0.01)];
        let (under, beside) = (element(0.0), element(0.025));
        let near = |found: Vec<f64>, height: f64| found.len() == 1 && (found[0] - height).abs() < 1e-12;
        assert!(near(upwards(&shape, &[under]), -0.06));
        assert!(near(upwards(&shape, &[beside]), -0.01));
        assert_eq!(upwards(&shape, &[under, beside]), []);
    }
}
