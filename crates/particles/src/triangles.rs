//! Broad phase: the triangles and solids of all obstacles, swept over a step, in parry's bounding volume hierarchy.
//! Numbers count triangles first, then solids. Half-spaces have no box and are tried by themselves.
//!
//! The tree is a cache: a query gives the triangles whose boxes meet the query's, in their order,
//! whatever the tree's shape, so a refitted tree and a new one give the same bits.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use parry3d_f64::{
    bounding_volume::Aabb,
    math::Vector,
    partitioning::{Bvh, BvhBuildStrategy, BvhNode},
    query::PointQuery,
    shape::Triangle,
};
use partita_simulator::{Carrier, Guide, HandleState, Motion, SimulatorError, Surface};

use crate::solids::Solid;

/// Distance that a particle keeps from the surface that it touches `[m]`: far above rounding (1e-13 at
/// 1 km), far below what can be seen. Everything thinner than this is not resolved.
pub(crate) const STANDOFF: f64 = 1e-5;

/// A particle no deeper than this inside a closed surface was caught there, between surfaces that
/// closed in, and belongs outside `[m]`: rigid bodies overlap by about as much where they press on each other.
pub(crate) const CAUGHT: f64 = 1e-3;

/// Coordinates beyond this `[m]` are refused: products of them must stay finite.
const FARTHEST: f64 = 1e50;

/// New trees are built after so many refits, since moving triangles spoil an old one.
const REFITS: u32 = 240;

/// One obstacle guide, without its motion.
#[derive(Debug)]
pub(crate) struct Obstacle {
    /// Number of the guide.
    pub guide: usize,
    pub friction: f64,
    pub restitution: f64,
    /// Kept from the surface: radius and the pair's thickness `[m]`.
    pub distance: f64,
    pub two_sided: bool,
    /// One-sided, and every edge has a triangle on either side: it has an inside.
    pub closed: bool,
    /// Carried by a Frame.
    pub rigid: bool,
    /// Own handles that do not meet it, sorted.
    pub except: Vec<u32>,
    first_vertex: usize,
    /// Number among the solids.
    solid: Option<usize>,
    thickness: f64,
}

/// A triangle over one step: corners move linearly, unit normals at both ends.
#[derive(Clone, Debug)]
pub(crate) struct Swept {
    pub obstacle: u32,
    /// Numbers of the corners within the surface.
    pub vertices: [u32; 3],
    pub begin: [Vector3<f64>; 3],
    pub end: [Vector3<f64>; 3],
    pub normals: [Vector3<f64>; 2],
}

impl Swept {
    /// The corners, `offset` along the normals, at fraction `f` of the step.
    pub fn corners(&self, f: f64, offset: f64) -> [Vector3<f64>; 3] {
        let out = offset * self.normals[0].lerp(&self.normals[1], f);
        std::array::from_fn(|k| self.begin[k].lerp(&self.end[k], f) + out)
    }

    /// How far the point with these coordinates, `offset` along the normals, moves over the step.
    pub fn path(&self, weights: &[f64; 3], offset: f64) -> Vector3<f64> {
        let turn = offset * (self.normals[1] - self.normals[0]);
        (0..3).map(|k| weights[k] * (self.end[k] - self.begin[k])).sum::<Vector3<f64>>() + turn
    }
}

/// All obstacles and the tree over their triangles.
#[derive(Default)]
pub(crate) struct Triangles {
    pub obstacles: Vec<Obstacle>,
    pub swept: Vec<Swept>,
    pub solids: Vec<Solid>,
    vertices: [Vec<Vector3<f64>>; 2],
    /// Which obstacles the tree holds, and which triangle each leaf is.
    active: Vec<bool>,
    leaves: Vec<u32>,
    tree: Bvh,
    refits: u32,
}

impl Triangles {
    /// Of all obstacles among `guides`.
    pub fn new(guides: &[Guide]) -> Self {
        let mut new = Self::default();
        let mut vertices = 0;
        for (number, guide) in guides.iter().enumerate() {
            let Guide::Obstacle { surface, friction, restitution, thickness, except } = guide else { continue };
            let obstacle = new.obstacles.len() as u32;
            let mut except: Vec<u32> = except.iter().map(|handle| handle.index).collect();
            except.sort_unstable();
            new.obstacles.push(Obstacle {
                guide: number,
                friction: *friction,
                restitution: *restitution,
                distance: 0.0,
                two_sided: surface.two_sided,
                closed: !surface.two_sided && is_closed(&surface.triangles),
                rigid: matches!(surface.carrier, Carrier::Frame(_)),
                except,
                first_vertex: vertices,
                solid: surface.primitive.map(|_| new.solids.len()),
                thickness: *thickness,
            });
            if let Some(primitive) = &surface.primitive {
                new.solids.push(Solid::new(obstacle, primitive));
                continue;
            }
            let zero = [Vector3::zeros(); 3];
            new.swept.extend(surface.triangles.iter().map(|&vertices| Swept {
                obstacle,
                vertices,
                begin: zero,
                end: zero,
                normals: [Vector3::zeros(); 2],
            }));
            vertices += surface.vertices.len();
        }
        new.vertices = [vec![Vector3::zeros(); vertices], vec![Vector3::zeros(); vertices]];
        new
    }

    /// Moves the triangles along `motions` and the tree with them; what has no motion is out of it.
    pub fn sweep(&mut self, guides: &[Guide], motions: &[Option<Motion>], radius: f64) -> Result<(), SimulatorError> {
        let motion = |guide: usize| motions.get(guide).and_then(Option::as_ref);
        for obstacle in &mut self.obstacles {
            obstacle.distance = radius + obstacle.thickness;
            let Guide::Obstacle { surface, .. } = &guides[obstacle.guide] else { continue };
            let Some(motion) = motion(obstacle.guide) else { continue };
            if let Some(solid) = obstacle.solid {
                let far = |state: &HandleState| Vector3::from(state.position).amax() > FARTHEST;
                if let Some(state) = [&motion.begin[0], &motion.end[0]].into_iter().find(|state| far(state)) {
                    return Err(SimulatorError::refused(
                        format!("motion of guide {}", obstacle.guide),
                        format!("a Frame at {:?}", state.position),
                        format!("coordinates within {FARTHEST:e} m"),
                    ));
                }
                self.solids[solid].place(&motion.begin[0], &motion.end[0]);
                continue;
            }
            let range = obstacle.first_vertex..obstacle.first_vertex + surface.vertices.len();
            pose(surface, &motion.begin, &mut self.vertices[0][range.clone()]);
            pose(surface, &motion.end, &mut self.vertices[1][range.clone()]);
            for (when, vertices) in ["begin", "end"].iter().zip(&self.vertices) {
                let far = |v: &&Vector3<f64>| v.amax().is_nan() || v.amax() > FARTHEST;
                if let Some(vertex) = vertices[range.clone()].iter().find(far) {
                    return Err(SimulatorError::refused(
                        format!("motion of guide {}, {when}", obstacle.guide),
                        format!("a vertex at {:?}", vertex.as_slice()),
                        format!("coordinates within {FARTHEST:e} m"),
                    ));
                }
            }
        }

        let obstacles = &self.obstacles;
        let moves = |triangle: &Swept| motion(obstacles[triangle.obstacle as usize].guide).is_some();
        for triangle in self.swept.iter_mut().filter(|triangle| moves(triangle)) {
            let first = obstacles[triangle.obstacle as usize].first_vertex;
            let corners = |vertices: &[Vector3<f64>]| triangle.vertices.map(|k| vertices[first + k as usize]);
            (triangle.begin, triangle.end) = (corners(&self.vertices[0]), corners(&self.vertices[1]));
            triangle.normals = [normal(&triangle.begin), normal(&triangle.end)];
        }

        let changed = obstacles.len() != self.active.len()
            || obstacles.iter().zip(&self.active).any(|(o, &active)| motion(o.guide).is_some() != active);
        if changed || self.refits >= REFITS {
            self.active.clear();
            self.active.extend(obstacles.iter().map(|obstacle| motion(obstacle.guide).is_some()));
            self.build();
        } else {
            self.refit();
        }
        Ok(())
    }

    fn build(&mut self) {
        let active = |&k: &u32| self.active[self.obstacle_of(k) as usize] && !self.is_half_space(k);
        self.leaves = (0..(self.swept.len() + self.solids.len()) as u32).filter(active).collect();
        let boxes = self.leaves.iter().map(|&k| self.bounds(k)).enumerate();
        self.tree = Bvh::from_iter(BvhBuildStrategy::Binned, boxes);
        self.refits = 0;
    }

    fn refit(&mut self) {
        for leaf in 0..self.leaves.len() {
            let bounds = self.bounds(self.leaves[leaf]);
            self.tree.insert_or_update_partially(bounds, leaf as u32, 0.0);
        }
        self.tree.refit_without_opt();
        self.refits += 1;
    }

    /// Obstacle of a triangle or solid.
    pub fn obstacle_of(&self, number: u32) -> u32 {
        match self.solid(number) {
            Some(solid) => solid.obstacle,
            None => self.swept[number as usize].obstacle,
        }
    }

    /// Solid of a number past those of triangles.
    pub fn solid(&self, number: u32) -> Option<&Solid> {
        self.solids.get((number as usize).checked_sub(self.swept.len())?)
    }

    fn is_half_space(&self, number: u32) -> bool {
        self.solid(number).is_some_and(Solid::is_half_space)
    }

    /// Distance from a solid within which contacts are `[m]`.
    pub fn reach(&self, solid: &Solid) -> f64 {
        self.obstacles[solid.obstacle as usize].distance + 2.0 * STANDOFF
    }

    /// Box around all that a swept triangle or solid can touch.
    fn bounds(&self, number: u32) -> Aabb {
        if let Some(solid) = self.solid(number) {
            return solid.bounds(self.reach(solid));
        }
        let swept = &self.swept[number as usize];
        let obstacle = &self.obstacles[swept.obstacle as usize];
        let inwards = if obstacle.closed { CAUGHT } else { 0.0 };
        let reach = inwards.max(obstacle.distance + 2.0 * STANDOFF);
        let [a, b] = [&swept.begin, &swept.end].map(|[p, q, r]| (p.inf(q).inf(r), p.sup(q).sup(r)));
        let (low, high) = (a.0.inf(&b.0).add_scalar(-reach), a.1.sup(&b.1).add_scalar(reach));
        Aabb::new(Vector::new(low.x, low.y, low.z), Vector::new(high.x, high.y, high.z))
    }

    /// Whether no obstacle has a motion.
    pub fn is_empty(&self) -> bool {
        !self.active.contains(&true)
    }

    /// Numbers of the triangles and solids whose boxes meet that of the segment from `a` to `b`, in order.
    pub fn near(&self, a: &Vector3<f64>, b: &Vector3<f64>, out: &mut Vec<u32>) {
        out.clear();
        let (low, high) = (a.inf(b), a.sup(b));
        let bounds = Aabb::new(Vector::new(low.x, low.y, low.z), Vector::new(high.x, high.y, high.z));
        let query = BvhNode::leaf(bounds, 0);
        out.extend(self.tree.leaves(|node: &BvhNode| node.intersects(&query)).map(|leaf| self.leaves[leaf as usize]));
        let first = self.swept.len() as u32;
        out.extend((first..).zip(&self.solids).filter_map(|(number, solid)| {
            let there = solid.is_half_space() && self.active[solid.obstacle as usize];
            (there && solid.is_near(a, b, self.reach(solid))).then_some(number)
        }));
        out.sort_unstable();
    }

    /// Forgets the tree, so that the next step builds a new one.
    #[cfg(test)]
    pub fn forget_tree(&mut self) {
        self.active.clear();
    }
}

/// Of a point from the nearest place of a triangle.
pub(crate) fn distance(x: &Vector3<f64>, corners: &[Vector3<f64>; 3]) -> f64 {
    let [a, b, c] = corners.map(|p| Vector::new(p.x, p.y, p.z));
    Triangle::new(a, b, c).distance_to_local_point(Vector::new(x.x, x.y, x.z), true)
}

/// Whether each edge is run along once either way.
fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let mut runs: Vec<_> = triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]).collect();
    let mut back: Vec<_> = runs.iter().map(|&(a, b)| (b, a)).collect();
    runs.sort_unstable();
    back.sort_unstable();
    runs == back
}

/// As [`Surface::posed`], into memory that is there.
fn pose(surface: &Surface, carriers: &[HandleState], out: &mut [Vector3<f64>]) {
    match &surface.carrier {
        Carrier::Points(_) => {
            out.iter_mut().zip(carriers).for_each(|(vertex, carrier)| *vertex = carrier.position.into());
        }
        Carrier::Frame(_) => {
            let [x, y, z, w] = carriers[0].orientation;
            let turn = UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z)).to_rotation_matrix();
            let shift = Vector3::from(carriers[0].position);
            out.iter_mut().zip(&surface.vertices).for_each(|(out, &v)| *out = turn * Vector3::from(v) + shift);
        }
    }
}

/// Unit normal; zero for a triangle without area.
pub(crate) fn normal([a, b, c]: &[Vector3<f64>; 3]) -> Vector3<f64> {
    (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Emitter, Particles};
    use partita_simulator::{HandleId, Inputs, Simulator};

    const CELLS: u32 = 12;

    /// Corners of a waving sheet at time `t`, row by row.
    fn wave(t: f64) -> Arc<[HandleState]> {
        let at = |i: u32| f64::from(i % (CELLS + 1)) / f64::from(CELLS) - 0.5;
        let height = |i: u32| 0.2 * (6.0 * at(i) + 9.0 * t).sin();
        let corner = |i: u32| HandleState::point([at(i) + height(i), height(i), at(i / (CELLS + 1))], [0.0; 3]);
        (0..(CELLS + 1) * (CELLS + 1)).map(corner).collect()
    }

    fn rain_on_a_wave() -> Particles {
        let begin = wave(0.0);
        let corners = |k: u32| {
            let a = k / CELLS * (CELLS + 1) + k % CELLS;
            [[a, a + CELLS + 1, a + 1], [a + 1, a + CELLS + 1, a + CELLS + 2]]
        };
        let surface = Surface {
            name: "wave".into(),
            carrier: Carrier::Points((0..begin.len() as u32).map(|index| HandleId { owner: 1, index }).collect()),
            vertices: begin.iter().map(|state| state.position).collect(),
            triangles: (0..CELLS * CELLS).flat_map(corners).collect(),
            lines: vec![],
            two_sided: true,
            primitive: None,
            friction: 0.3,
            restitution: 0.5,
            thickness: 0.0,
        };
        let emitter = Emitter::cuboid([0.0, 0.6, 0.0], [1.0, 0.4, 1.0]).rate(20_000.0).speed(3.0).lifetime(1.0);
        let mut rain = Particles::new("rain").emit(emitter);
        let (friction, restitution, thickness) = (0.3, 0.5, 0.002);
        let surface = Arc::new(surface);
        rain.follow(vec![Guide::Obstacle { surface, friction, restitution, thickness, except: vec![] }]).unwrap();
        rain
    }

    /// A tree that was refitted 100 times and one that is new in each step: the same bits.
    #[test]
    fn the_shape_of_the_tree_makes_no_difference() {
        let run = |forget: bool| {
            let mut rain = rain_on_a_wave();
            let mut reports = vec![];
            for i in 0..100 {
                if forget {
                    rain.work.triangles.forget_tree();
                }
                let t = f64::from(i) / 240.0;
                let motion = Motion { begin: wave(t), end: wave(t + 1.0 / 240.0) };
                let inputs = Inputs { motions: vec![Some(motion)], ..Inputs::default() };
                reports.push(rain.step(1.0 / 240.0, &inputs).unwrap());
            }
            (rain.snapshot(None).to_bytes(), reports)
        };
        let refitted = run(false);
        assert!(refitted.1.iter().map(|report| report.reactions.len()).sum::<usize>() > 1000);
        assert!(refitted == run(true));
    }

    /// Boxes that meet, found by trying all.
    #[test]
    fn near_triangles_are_those_of_brute_force() {
        let mut rain = rain_on_a_wave();
        let mut near = vec![];
        for i in 0..50 {
            let t = f64::from(i) / 30.0;
            let motions = [Some(Motion { begin: wave(t), end: wave(t + 0.02) })];
            rain.work.triangles.sweep(&rain.guides, &motions, 0.01).unwrap();
            let triangles = &rain.work.triangles;
            let a = Vector3::new((0.7 * t).sin(), 0.3 * t.cos(), (1.3 * t).cos()) * 0.5;
            let b = a + Vector3::new(0.1, -0.2, 0.05);
            triangles.near(&a, &b, &mut near);
            let query = Aabb::new(Vector::new(a.x, b.y, a.z), Vector::new(b.x, a.y, b.z));
            let all = (0..triangles.swept.len() as u32).filter(|&k| {
                use parry3d_f64::bounding_volume::BoundingVolume;
                triangles.bounds(k).intersects(&query)
            });
            assert_eq!(near, all.collect::<Vec<_>>());
        }
    }
}
