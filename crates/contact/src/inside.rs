//! What is inside an obstacle: it was there at first, or was pinched in there, and has to come out.
//!
//! A path tells no inside from outside, so this is state: which vertices are inside which obstacle. They are led out to the
//! nearest place of its surface, slowly, and while they are inside nothing else keeps their features from that obstacle.
//! Solids that know their inside: half-spaces, boxes, and closed meshes with a frame. Cloth that crosses them is led out in regions
//! (`regions.rs`), if it can be.

use nalgebra::{Isometry3, Point3, Vector3};
use parry3d_f64::{
    math::Vector,
    query::{PointQuery, PointQueryWithLocation},
    shape::{TriMesh, TriMeshFlags},
};

use crate::{Path, Shape, State, broad::Pair, contacts::Contacts, distance::Kind, obstacle::Core, respond::Contact};

type V3 = Vector3<f64>;

/// The surface of a closed mesh, with which side is out.
pub(crate) fn solid(vertices: &[V3], triangles: &[[u32; 3]]) -> Option<TriMesh> {
    let mut runs: Vec<_> = triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]).collect();
    let mut back: Vec<_> = runs.iter().map(|&(a, b)| (b, a)).collect();
    runs.sort_unstable();
    back.sort_unstable();
    let closed = runs == back && runs.windows(2).all(|two| two[0] != two[1]);
    let points = || vertices.iter().map(|v| Vector::new(v.x, v.y, v.z)).collect();
    closed.then(|| TriMesh::with_flags(points(), triangles.to_vec(), TriMeshFlags::ORIENTED).ok())?
}

/// Distance from a surface at which rounding of coordinates hides the side `[m]`.
fn hidden(x: &V3) -> f64 {
    1e-9 * (1.0 + x.amax())
}

impl Core {
    /// Whether a point, in the frame's axes, is inside.
    pub(crate) fn contains(&self, shape: &Shape, x: &V3) -> bool {
        match shape {
            // On the plane or nearer than rounding lets a pair be told from one that touches.
            Shape::HalfSpace => x.y <= hidden(x),
            _ => {
                let at = Vector::new(x.x, x.y, x.z);
                self.solid.as_ref().is_some_and(|solid| solid.project_local_point(at, false).is_inside)
            }
        }
    }

    /// Whether a point, in the frame's axes, is inside a solid that knows its inside, cylinders and cones included.
    pub(crate) fn holds(&self, shape: &Shape, x: &V3) -> bool {
        self.revolved.is_some_and(|solid| solid.at_rest().contains(x)) || self.contains(shape, x)
    }

    /// The way out of a point that is inside, in the frame's axes: the nearest place of the surface, and the direction there. So near to
    /// the surface that rounding hides the direction, it is the normal of the nearest triangle.
    pub(crate) fn way_out(&self, shape: &Shape, x: &V3) -> Option<[V3; 2]> {
        if !self.contains(shape, x) {
            return None;
        }
        let solid = match shape {
            Shape::HalfSpace => return Some([V3::new(x.x, 0.0, x.z), V3::y()]),
            _ => self.solid.as_ref()?,
        };
        let (found, (triangle, _)) = solid.project_local_point_and_get_location(Vector::new(x.x, x.y, x.z), false);
        let place = V3::new(found.point.x, found.point.y, found.point.z);
        let way = place - x;
        if way.norm() > hidden(x) {
            return Some([place, way.normalize()]);
        }
        let [a, b, c] = self.features.triangles()[triangle as usize].map(|v| self.vertices[v as usize]);
        Some([place, (b - a).cross(&(c - a)).try_normalize(0.0)?])
    }
}

impl Contacts {
    /// The state to begin from, of a surface at `x` `[m]` and obstacles that are at the begin of `paths`: finds the vertices
    /// that are inside half-spaces, boxes, and closed meshes moved by a frame. A ball or capsule pushes off what is in it as
    /// any contact does; closed meshes that are moved by their points know no inside.
    pub fn look(&self, x: &[V3], paths: &[Path<'_>]) -> State {
        let mut inside = vec![];
        for (number, (path, (obstacle, core))) in (0..).zip(paths.iter().zip(&self.obstacles)) {
            let Path::Frame { begin, .. } = path else { continue };
            let is_inside = |x: &V3| core.contains(&obstacle.shape, &local(begin, x));
            let inside_it = (0..).zip(x).filter(|(v, x)| is_inside(x) && !self.lets_through(number, *v));
            inside.extend(inside_it.map(|(vertex, _)| [vertex, number]));
        }
        inside.sort_unstable();
        State { inside, ..State::default() }
    }

    /// Obstacles that were not there in the last step and now are may be anywhere.
    pub(crate) fn meet_the_new(&mut self, state: &mut State, x: &[V3], paths: &[Path<'_>]) {
        let is_there = |number: &u32| paths[*number as usize] != Path::Absent;
        let absent = std::mem::take(&mut state.absent);
        self.embed(state, x, paths, |number| is_there(&number) && absent.binary_search(&number).is_ok());
        state.absent = absent;
        if state.absent.iter().any(is_there) {
            state.apart = false;
            let inside = self.look(x, paths).inside.into_iter().filter(|[_, number]| state.absent.contains(number));
            state.inside.extend(inside.collect::<Vec<_>>());
            state.inside.sort_unstable();
            state.inside.dedup();
        }
        state.absent.clear();
        state.absent.extend((0..paths.len() as u32).filter(|number| !is_there(number)));
    }

    /// Keeps those that still are inside, and pushes contacts that lead them out.
    pub(crate) fn lead_out(&mut self, state: &mut State) {
        let leading = self.leading();
        state.inside.retain(|&[vertex, number]| {
            let (obstacle, core) = &self.obstacles[number as usize];
            let Some([begin, end]) = &self.work.poses[number as usize] else { return false };
            let x = self.work.x[vertex as usize];
            let Some([out, way]) = core.way_out(&obstacle.shape, &local(begin, &x)) else { return false };
            let [place, then] = [begin, end].map(|pose| (pose * Point3::from(out)).coords);
            let meeting = self.work.meetings[number as usize];
            let n = begin * way;
            if self.work.w[vertex as usize] > 0.0 {
                self.work.depth = self.work.depth.max((place - x).norm() + meeting.thickness);
            }
            let pair = Pair { kind: Kind::PointTriangle, vertices: [vertex; 4] };
            self.work.contacts.push(Contact {
                weights: [1.0, 0.0, 0.0, 0.0],
                n,
                drift: place - then,
                least: leading * meeting.thickness,
                friction: meeting.friction,
                ..Contact::unloaded(pair, Some(number))
            });
            true
        });
    }

    /// Whether a pair is of an obstacle and of a feature that is led out of it: one with a vertex inside, or all of it in a region.
    pub(crate) fn is_inside(&self, state: &State, pair: &Pair, obstacle: Option<u32>) -> bool {
        let Some(obstacle) = obstacle else { return false };
        !state.inside.is_empty() && pair.vertices.iter().any(|&v| state.holds(v, obstacle))
            || !state.regions.is_empty() && self.is_led_pair(state, pair, obstacle)
    }

    /// Whether a vertex is inside an obstacle at the begin, and from now on led out.
    pub(crate) fn lead(&self, state: &mut State, vertex: u32, number: u32) -> bool {
        let (obstacle, core) = &self.obstacles[number as usize];
        let Some([begin, _]) = &self.work.poses[number as usize] else { return false };
        let x = self.work.x[vertex as usize];
        let is_inside = core.contains(&obstacle.shape, &local(begin, &x));
        if is_inside && let Err(place) = state.inside.binary_search(&[vertex, number]) {
            state.inside.insert(place, [vertex, number]);
        }
        is_inside
    }

    /// Adds those of `vertices` that are inside an obstacle at the end of the interval.
    pub(crate) fn note_inside(&self, state: &mut State, vertices: &[u32]) {
        for (number, (poses, (obstacle, core))) in (0..).zip(self.work.poses.iter().zip(&self.obstacles)) {
            let Some([_, end]) = poses else { continue };
            for &vertex in vertices {
                let x = self.work.x[vertex as usize] + self.work.u[vertex as usize];
                if core.contains(&obstacle.shape, &local(end, &x)) && !self.lets_through(number, vertex) {
                    state.inside.push([vertex, number]);
                }
            }
        }
        state.inside.sort_unstable();
        state.inside.dedup();
    }
}

/// A point in the axes of a pose `[m]`.
pub(crate) fn local(pose: &Isometry3<f64>, x: &V3) -> V3 {
    pose.inverse_transform_point(&Point3::from(*x)).coords
}
