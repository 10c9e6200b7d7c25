//! Where all vertices are and where they mean to go, and which of them may meet on the way.

use std::cell::LazyCell;

use nalgebra::{Isometry3, Point3, Vector3};
use rayon::prelude::*;

use crate::{
    ContactError, Contacts, Obstacle, Path, Shape, Step,
    broad::Bounds,
    contacts::{AHEAD, Meeting},
    features::Leaf,
    obstacle::Core,
};

type V3 = Vector3<f64>;

/// Most intervals that a step is cut into for obstacles that turn.
const INTERVALS: usize = 256;

/// How far a vertex may leave its intended way before pairs are looked for again, in thicknesses: within these bounds more
/// after a step where one did, less after one where none did, and enough for some steps of what is slow. Too much or too little
/// costs time.
const MARGINS: [f64; 2] = [0.25, 4.0];
const SHRINK: f64 = 0.95;

/// Steps after which pairs are looked for again anyway: those of slow vertices that were fast are more than there need to be.
const REUSED: u32 = 10;

impl Contacts {
    /// How many chords the turning obstacles need: of angle a and extent r one leaves the arc by r a²/8. Only those count
    /// that are where the cloth may come.
    pub(crate) fn intervals(&self, step: &Step<'_>, end: &[V3]) -> usize {
        // Looked at only where something turns.
        let cloth = LazyCell::new(|| {
            let reach = 2.0 * self.parameters.thickness;
            let ways = step.begin.iter().zip(end).map(|(x, end)| Bounds::swept(x, &(end - x), reach));
            ways.reduce(|all, one| all.join(&one))
        });
        let of = |(path, (meeting, (obstacle, core))): (&Path<'_>, (&Meeting, &(Obstacle, Core)))| {
            let Path::Frame { begin, end } = path else { return 1.0 };
            let angle = begin.rotation.angle_to(&end.rotation);
            let chords = (angle * (core.extent / (8.0 * 0.2 * meeting.thickness)).sqrt()).ceil();
            let [a, b] = [begin, end].map(|pose| pose.translation.vector);
            let around = core.extent + meeting.radius + 2.0 * meeting.thickness;
            let without_end = obstacle.shape == Shape::HalfSpace;
            let may_come = |cloth: Bounds| without_end || Bounds::swept(&a, &(b - a), around).meets(&cloth);
            if chords > 1.0 && cloth.is_some_and(may_come) { chords } else { 1.0 }
        };
        let most = step.paths.iter().zip(self.work.meetings.iter().zip(&self.obstacles)).map(of).fold(1.0, f64::max);
        (most as usize).min(INTERVALS)
    }

    /// Vertices, ways and poses of an interval, `part` of the step.
    pub(crate) fn place(&mut self, paths: &[Path<'_>], part: [f64; 2], dt: f64) {
        let n = self.features.vertices();
        let work = &mut self.work;
        work.x.truncate(n);
        work.turned.clear();
        work.turned.resize(n, V3::zeros());
        work.u.clear();
        work.u.extend(work.velocities.iter().map(|v| dt * v));
        work.poses.clear();
        for (path, (obstacle, core)) in paths.iter().zip(&self.obstacles) {
            match path {
                Path::Absent => {
                    work.x.extend(&core.vertices);
                    work.u.extend(core.vertices.iter().map(|_| V3::zeros()));
                    work.poses.push(None);
                }
                Path::Frame { begin, end } => {
                    let poses = part.map(|s| pose(begin, end, s));
                    if obstacle.shape == Shape::HalfSpace {
                        // The same places of both planes, however the frame slides within its own.
                        for a in plane_below(&work.x[..n], &work.u[..n], &poses[0]) {
                            let a = (poses[0] * Point3::from(a)).coords;
                            let up = poses[1] * V3::y();
                            work.x.push(a);
                            work.u.push(up.dot(&(poses[1].translation.vector - a)) * up);
                        }
                    } else {
                        for &vertex in &core.vertices {
                            let [a, b] = poses.map(|pose| (pose * Point3::from(vertex)).coords);
                            work.x.push(a);
                            work.u.push(b - a);
                        }
                    }
                    work.poses.push(Some(poses));
                }
                Path::Points { begin, end } => {
                    for (a, b) in begin.iter().zip(*end) {
                        work.x.push(a.lerp(b, part[0]));
                        work.u.push((b - a) * (part[1] - part[0]));
                    }
                    work.poses.push(None);
                }
            }
        }
        let present = paths.iter().map(|path| *path != Path::Absent);
        if !present.clone().eq(work.present.iter().copied()) || work.boxes.is_empty() {
            work.searched.clear();
            work.present.clear();
            work.present.extend(present);
            let there = |&(k, _): &(usize, &(Obstacle, Core))| work.present[k];
            let leaves = self.obstacles.iter().enumerate().filter(there).flat_map(|(k, (_, core))| {
                let first = work.first[k];
                core.features.leaves().iter().map(move |&leaf: &Leaf| (leaf, first))
            });
            work.others.hold(leaves);
        }
    }

    /// Of a vertex from the cloth's middle or an obstacle's surface, how far a contact reaches `[m]`.
    pub(crate) fn reach(&self, vertex: usize) -> f64 {
        let n = self.features.vertices();
        match vertex.checked_sub(n) {
            None => 0.5 * (1.0 + AHEAD) * self.parameters.thickness,
            Some(k) => {
                let number = self.work.owner[k] as usize;
                self.obstacles[number].1.radius + (1.0 + AHEAD) * self.obstacles[number].0.thickness
            }
        }
    }

    /// As [`Contacts::search`] anew, but where all go within the boxes of a search not long ago: its pairs are all that may meet
    /// still, and more of them change nothing.
    pub(crate) fn search_if_needed(&mut self) -> Result<(), ContactError> {
        let work = &mut self.work;
        if work.searched.len() != work.x.len() || work.reused >= REUSED {
            return self.search(true);
        }
        let moved = work.searched != work.x;
        let is_in = |k: usize| !self.leaves_its_box(k, &self.work.x[k]) && !self.leaves_its_box(k, &self.end(k));
        if !(0..self.work.x.len()).all(is_in) {
            return self.search(moved);
        }
        let work = &mut self.work;
        work.margin = (SHRINK * work.margin).max(MARGINS[0]);
        work.reused += u32::from(moved);
        if moved {
            self.find_nearest();
        }
        self.work.changed.fill(true);
        Ok(())
    }

    /// Pairs whose boxes meet, and their nearest points at the begin. `anew`: from where the vertices are meant to go;
    /// else the boxes grow by where they go now.
    ///
    /// # Errors
    /// More than there may be, though boxes are as small as can be: that says nothing of what was looked for before.
    pub(crate) fn search(&mut self, anew: bool) -> Result<(), ContactError> {
        let [least, most] = MARGINS;
        let mut margin = if anew { SHRINK * self.work.margin } else { 1.5 * self.work.margin };
        let holds = f64::from(REUSED) * self.fastest() / self.parameters.thickness;
        if holds <= most {
            margin = margin.max(holds);
        }
        self.work.margin = margin.clamp(least, most);
        self.work.searched.clear();
        if anew {
            self.work.boxes.clear();
        }
        self.grow_boxes(self.work.margin * self.parameters.thickness);
        if self.collect_pairs().is_err() {
            self.work.boxes.clear();
            self.grow_boxes(0.0);
            self.collect_pairs()?;
        }
        self.find_nearest();
        let work = &mut self.work;
        work.changed.clear();
        work.changed.resize(work.x.len(), true);
        work.reused = 0;
        Ok(())
    }

    /// The longest way of a vertex `[m]`.
    fn fastest(&self) -> f64 {
        self.work.u.iter().map(V3::norm_squared).fold(0.0, f64::max).sqrt()
    }

    /// By the vertices' ways.
    fn grow_boxes(&mut self, margin: f64) {
        for k in 0..self.work.x.len() {
            let around = margin + self.reach(k);
            let bounds = Bounds::swept(&self.work.x[k], &self.work.u[k], around);
            match self.work.boxes.get_mut(k) {
                Some(old) => *old = old.join(&bounds),
                None => self.work.boxes.push(bounds),
            }
        }
    }

    /// Whose boxes meet.
    fn collect_pairs(&mut self) -> Result<(), ContactError> {
        let work = &mut self.work;
        work.cloth.fit(&work.boxes);
        work.others.fit(&work.boxes);
        work.pairs.clear();
        let most = self.parameters.most_pairs;
        if self.parameters.self_contact {
            work.search.within(&work.cloth, &work.boxes, most, &mut work.pairs)?;
        }
        work.search.between(&work.cloth, &work.others, &work.boxes, most, &mut work.pairs)?;
        if self.obstacles.iter().any(|(obstacle, _)| !obstacle.except.is_empty()) {
            let mut pairs = std::mem::take(&mut self.work.pairs);
            pairs.retain(|pair| !self.is_let_through(&pair.vertices));
            self.work.pairs = pairs;
        }
        Ok(())
    }

    /// Of all pairs, as things are.
    fn find_nearest(&mut self) {
        let mut nearest = std::mem::take(&mut self.work.nearest);
        self.work.pairs.par_iter().map(|pair| self.nearest_of(pair)).collect_into_vec(&mut nearest);
        self.work.nearest = nearest;
        self.work.searched.clone_from(&self.work.x);
    }

    /// Whether these are with an obstacle that lets one of them through.
    pub(crate) fn is_let_through(&self, vertices: &[u32]) -> bool {
        let Some(number) = self.owner(vertices) else { return false };
        vertices.iter().any(|&v| self.obstacles[number as usize].0.lets_through(v))
    }

    /// Looks for pairs again if a vertex left its box.
    pub(crate) fn widen(&mut self) -> Result<(), ContactError> {
        let cloth = self.features.vertices();
        if (0..cloth).any(|k| self.work.changed[k] && self.leaves_its_box(k, &self.end(k))) {
            self.search(false)?;
        }
        Ok(())
    }

    /// Where a vertex goes.
    fn end(&self, k: usize) -> V3 {
        self.work.x[k] + self.work.u[k]
    }

    /// Whether a vertex reaches out of its box where it is `at`.
    fn leaves_its_box(&self, k: usize, at: &V3) -> bool {
        let (bounds, reach) = (&self.work.boxes[k], self.reach(k));
        !bounds.contains(&at.add_scalar(reach)) || !bounds.contains(&at.add_scalar(-reach))
    }
}

/// Where what is fixed in a frame, and is at `x` when that is at `begin`, is when that is at `end`.
pub(crate) fn carried(begin: &Isometry3<f64>, end: &Isometry3<f64>, x: &V3) -> V3 {
    (end * begin.inverse_transform_point(&Point3::from(*x))).coords
}

/// Between two poses: straight, turning evenly; exact at the ends.
fn pose(begin: &Isometry3<f64>, end: &Isometry3<f64>, s: f64) -> Isometry3<f64> {
    if s == 0.0 {
        return *begin;
    }
    if s == 1.0 {
        return *end;
    }
    let turn = (end.rotation * begin.rotation.inverse()).scaled_axis();
    let rotation = nalgebra::UnitQuaternion::from_scaled_axis(s * turn) * begin.rotation;
    Isometry3::from_parts(begin.translation.vector.lerp(&end.translation.vector, s).into(), rotation)
}

/// Of a half-space, a triangle of its plane that is under the whole way of the cloth, in the frame's axes.
fn plane_below(x: &[V3], u: &[V3], pose: &Isometry3<f64>) -> [V3; 3] {
    let (mut low, mut high) = (V3::repeat(f64::INFINITY), V3::repeat(-f64::INFINITY));
    for (x, u) in x.iter().zip(u) {
        for p in [*x, x + u] {
            let local = pose.inverse_transform_point(&p.into()).coords;
            (low, high) = (low.inf(&local), high.sup(&local));
        }
    }
    let middle = 0.5 * (low + high);
    // Room for what contacts change.
    let size = 10.0 * (high - low).amax() + 10.0;
    let corner = |x: f64, z: f64| V3::new(middle.x + size * x, 0.0, middle.z + size * z);
    [corner(-2.0, -1.0), corner(0.0, 2.0), corner(2.0, -1.0)]
}
