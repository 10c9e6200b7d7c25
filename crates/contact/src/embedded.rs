//! Cloth that is fixed to an obstacle within it, as a thread to the middle of a ball.
//!
//! Vertices that an obstacle lets through may be anywhere in it. Cloth that hangs from them inside would
//! be led out against what fixes it. So vertices that are deeper in it than the thickness when it is first met, and
//! joined to such a vertex by edges inside, are let through as well, each until it is outside. Cloth that lies on
//! the surface is not deeper, and meets it.

use nalgebra::{Point3, Vector3};
use parry3d_f64::{math::Vector, query::PointQuery};

use crate::{Contacts, Path, Shape, State, obstacle::Core};

type V3 = Vector3<f64>;

impl Core {
    /// Depth of a point, in the frame's axes, in a solid that knows its inside; 0 outside `[m]`.
    pub(crate) fn depth(&self, shape: &Shape, x: &V3) -> f64 {
        if *shape == Shape::HalfSpace {
            return (-x.y).max(0.0);
        }
        if let Some(solid) = &self.solid {
            let at = Vector::new(x.x, x.y, x.z);
            let found = solid.project_local_point(at, false);
            return if found.is_inside { (found.point - at).length() } else { 0.0 };
        }
        self.convex.as_ref().map_or(0.0, |convex| convex.depth_in_round([*x; 3]))
    }
}

impl Contacts {
    /// Adds vertices of a surface at `x` `[m]` that are embedded in obstacles that `are_new`, and drops those that are
    /// outside by now.
    pub(crate) fn embed(&mut self, state: &mut State, x: &[V3], paths: &[Path<'_>], are_new: impl Fn(u32) -> bool) {
        let depth = |vertex: u32, number: u32| {
            let (obstacle, core) = &self.obstacles[number as usize];
            let Path::Frame { begin, .. } = &paths[number as usize] else { return 0.0 };
            core.depth(&obstacle.shape, &begin.inverse_transform_point(&Point3::from(x[vertex as usize])).coords)
        };
        state.embedded.retain(|&[vertex, number]| depth(vertex, number) > 0.0);
        for number in (0..paths.len() as u32).filter(|&number| are_new(number)) {
            let except = &self.obstacles[number as usize].0.except;
            let (thickness, first) = (self.work.meetings[number as usize].thickness, state.embedded.len());
            let is_in = |vertex: u32| except.binary_search(&vertex).is_err() && depth(vertex, number) > thickness;
            let mut next = except.clone();
            while let Some(vertex) = next.pop() {
                for &other in self.features.neighbours(vertex) {
                    if is_in(other) && !state.embedded[first..].contains(&[other, number]) {
                        state.embedded.push([other, number]);
                        next.push(other);
                    }
                }
            }
        }
        state.embedded.sort_unstable();
        state.embedded.dedup();
        if self.work.embedded != state.embedded {
            self.work.embedded.clone_from(&state.embedded);
            // Pairs of the last search are without those that it let through.
            self.work.searched.clear();
        }
    }

    /// Whether an obstacle lets a vertex through.
    pub(crate) fn lets_through(&self, number: u32, vertex: u32) -> bool {
        let is_excepted = self.obstacles[number as usize].0.except.binary_search(&vertex).is_ok();
        is_excepted || self.work.embedded.binary_search(&[vertex, number]).is_ok()
    }
}
