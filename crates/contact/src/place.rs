//! Where all vertices are and where they mean to go, and which of them may meet on the way.

use std::cell::LazyCell;

use nalgebra::{Isometry3, Point3, Vector3};
use rayon::prelude::*;

use crate::{ContactError, Contacts, Path, Shape, State, Step, broad::Bounds, contacts::AHEAD, features::Leaf};

type V3 = Vector3<f64>;

/// Most intervals that a step is cut into for obstacles that turn.
const INTERVALS: usize = 256;

/// How far a vertex may leave its intended way before pairs are looked for again, in thicknesses:
/// within these bounds more after a step where one did, less after one where none did, and enough
/// for some steps of what is slow. Too much or too little costs time.
const MARGINS: [f64; 2] = [0.25, 4.0];
const SHRINK: f64 = 0.95;

/// Steps after which pairs are looked for again anyway: those of slow vertices that were fast are
/// more than there need to be.
const REUSED: u32 = 10;

/// Part of its extent by which rounding may place a vertex outside the sphere around its frame [-].
const ROUNDING: f64 = 1e-12;

/// Whether points with these displacements, enlarged by `reach` `[m]`, enter a box.
pub(crate) fn points_enter(points: impl Iterator<Item = (V3, V3)>, reach: f64, around: &Bounds) -> bool {
    let swept = points.map(|(at, way)| Bounds::swept(&at, &way, reach)).reduce(|all, one| all.join(&one));
    swept.is_some_and(|swept| swept.meets(around))
}

impl Contacts {
    /// How many chords the turning obstacles need: of angle a and extent r one leaves the arc by r
    /// a²/8. Only those count that are where the cloth may come.
    pub(crate) fn intervals(&self, step: &Step<'_>, end: &[V3]) -> usize {
        // Looked at only where something turns.
        let cloth = LazyCell::new(|| self.swept(step, end));
        let of = |(number, path): (usize, &Path<'_>)| {
            let Path::Frame { begin, end } = path else { return 1.0 };
            let angle = begin.rotation.angle_to(&end.rotation);
            let (meeting, (_, core)) = (&self.work.meetings[number], &self.obstacles[number]);
            let chords = (angle * (core.extent / (8.0 * 0.2 * meeting.thickness)).sqrt()).ceil();
            if chords > 1.0 && cloth.is_some_and(|cloth| self.may_reach(number, path, &cloth)) { chords } else { 1.0 }
        };
        let most = step.paths.iter().enumerate().map(of).fold(1.0, f64::max);
        (most as usize).min(INTERVALS)
    }

    /// Largest displacement in a step, relative to the mean displacement of the cloth, of a vertex
    /// or of a place on an obstacle that may reach the cloth `[m]`. 0 where none may. A half-space
    /// counts by its frame alone.
    pub fn relative_displacement(&self, step: &Step<'_>, end: &[V3]) -> f64 {
        let Some(cloth) = self.swept(step, end) else { return 0.0 };
        let mean = step.begin.iter().zip(end).map(|(x, end)| end - x).sum::<V3>() / step.begin.len() as f64;
        let relative = |(x, end): (&V3, &V3)| (end - x - mean).norm();
        let of = |(number, path): (usize, &Path<'_>)| match path {
            _ if !self.may_reach(number, path, &cloth) => None,
            Path::Absent => None,
            Path::Frame { begin, end } => {
                let (obstacle, core) = &self.obstacles[number];
                let extent = if obstacle.shape == Shape::HalfSpace { 0.0 } else { core.extent };
                let turned = extent * begin.rotation.angle_to(&end.rotation);
                Some(turned + relative((&begin.translation.vector, &end.translation.vector)))
            }
            Path::Points { begin, end } => begin.iter().zip(*end).map(relative).reduce(f64::max),
        };
        let of_obstacles = step.paths.iter().enumerate().filter_map(of).reduce(f64::max);
        if of_obstacles.is_none() && !self.parameters.self_contact {
            return 0.0;
        }
        step.begin.iter().zip(end).map(relative).chain(of_obstacles).fold(0.0, f64::max)
    }

    /// Box around the paths of the cloth's vertices in a step.
    fn swept(&self, step: &Step<'_>, end: &[V3]) -> Option<Bounds> {
        let reach = 2.0 * self.parameters.thickness;
        let ways = step.begin.iter().zip(end).map(|(x, end)| Bounds::swept(x, &(end - x), reach));
        ways.reduce(|all, one| all.join(&one))
    }

    /// Whether an obstacle may come into a box around the cloth on its path.
    fn may_reach(&self, number: usize, path: &Path<'_>, cloth: &Bounds) -> bool {
        let meeting = &self.work.meetings[number];
        let reach = meeting.radius + 2.0 * meeting.thickness;
        match path {
            Path::Absent => false,
            Path::Frame { begin, end } => self.frame_enters(number, [begin, end], reach, cloth),
            Path::Points { begin, end } => {
                points_enter(begin.iter().zip(*end).map(|(x, end)| (*x, end - x)), reach, cloth)
            }
        }
    }

    /// Whether an obstacle, enlarged by `reach` `[m]`, may enter a box as its frame goes from one
    /// pose to another.
    pub(crate) fn frame_enters(
        &self,
        number: usize,
        [begin, end]: [&Isometry3<f64>; 2],
        reach: f64,
        around: &Bounds,
    ) -> bool {
        let (obstacle, core) = &self.obstacles[number];
        let [a, b] = [begin, end].map(|pose| pose.translation.vector);
        if obstacle.shape != Shape::HalfSpace {
            return Bounds::swept(&a, &(b - a), core.extent + reach).meets(around);
        }
        let up = begin.rotation * V3::y();
        begin.rotation != end.rotation || around.low_along(&up) < up.dot(&a).max(up.dot(&b)) + reach
    }

    /// Positions and displacements of all vertices, and poses, over an interval: `part` of the
    /// step.
    pub(crate) fn place(&mut self, paths: &[Path<'_>], part: [f64; 2], dt: f64) {
        self.place_cloth(paths, part, dt);
        for (number, path) in paths.iter().enumerate() {
            self.place_obstacle(number, path, part);
        }
    }

    /// As [`Contacts::place`], but for obstacles that are too far away to matter: only those that
    /// may come to the cloth are placed and searched for pairs.
    pub(crate) fn place_close(&mut self, state: &State, paths: &[Path<'_>], part: [f64; 2], dt: f64) {
        self.place_cloth(paths, part, dt);
        // Pairs from an earlier search may be used again, in boxes which are larger than those of
        // this interval.
        let boxes = &self.work.boxes;
        let [_, margin] = MARGINS;
        let around = (0..self.features.vertices()).map(|k| {
            let reach = self.reach(k) + margin * self.parameters.thickness;
            let bounds = Bounds::swept(&self.work.x[k], &self.work.u[k], reach);
            boxes.get(k).map_or(bounds, |old| old.join(&bounds))
        });
        let around = around.reduce(|all, one| all.join(&one));
        let mut close = std::mem::take(&mut self.work.close);
        let before = close.clone();
        close.clear();
        for (number, path) in paths.iter().enumerate() {
            // Points are placed in any case, since nothing else bounds them.
            if let Path::Points { .. } = path {
                self.place_obstacle(number, path, part);
            }
            let in_region = || state.regions.iter().any(|region| region.obstacle as usize == number);
            let comes =
                || self.bounds_of_obstacle(number).is_none_or(|bounds| around.is_some_and(|a| a.meets(&bounds)));
            close.push(*path != Path::Absent && (comes() || in_region()));
            if close[number] && matches!(path, Path::Frame { .. }) {
                self.place_obstacle(number, path, part);
            }
        }
        let changed = before != close;
        self.work.close = close;
        if changed || self.work.boxes.is_empty() {
            self.work.searched.clear();
            self.hold_close();
        }
    }

    /// Places the cloth, and the frames of obstacles.
    fn place_cloth(&mut self, paths: &[Path<'_>], part: [f64; 2], dt: f64) {
        let n = self.features.vertices();
        let work = &mut self.work;
        let all = n + work.owner.len();
        work.x.resize(all, V3::zeros());
        work.turned.clear();
        work.turned.resize(n, V3::zeros());
        work.u.clear();
        work.u.extend(work.velocities.iter().map(|v| dt * v));
        work.u.resize(all, V3::zeros());
        work.poses.clear();
        work.poses.extend(paths.iter().map(|path| match path {
            Path::Frame { begin, end } => Some(part.map(|s| pose(begin, end, s))),
            Path::Absent | Path::Points { .. } => None,
        }));
    }

    /// Places the vertices of an obstacle.
    fn place_obstacle(&mut self, number: usize, path: &Path<'_>, part: [f64; 2]) {
        match path {
            Path::Absent => {
                let first = self.work.first[number] as usize;
                let vertices = &self.obstacles[number].1.vertices;
                self.work.x[first..][..vertices.len()].copy_from_slice(vertices);
            }
            Path::Frame { .. } => self.place_in_frame(number),
            Path::Points { begin, end } => {
                let first = self.work.first[number] as usize;
                for (k, (a, b)) in begin.iter().zip(*end).enumerate() {
                    self.work.x[first + k] = a.lerp(b, part[0]);
                    self.work.u[first + k] = (b - a) * (part[1] - part[0]);
                }
            }
        }
    }

    /// Places the vertices of an obstacle that a frame carries.
    fn place_in_frame(&mut self, number: usize) {
        let n = self.features.vertices();
        let work = &mut self.work;
        let first = work.first[number] as usize;
        let (obstacle, core) = &self.obstacles[number];
        let Some(poses) = work.poses[number] else { return };
        if obstacle.shape == Shape::HalfSpace {
            // The same places of both planes, however the frame slides within its own.
            for (k, a) in plane_below(&work.x[..n], &work.u[..n], &poses[0]).into_iter().enumerate() {
                let a = (poses[0] * Point3::from(a)).coords;
                let up = poses[1] * V3::y();
                work.x[first + k] = a;
                work.u[first + k] = up.dot(&(poses[1].translation.vector - a)) * up;
            }
            return;
        }
        for (k, &vertex) in core.vertices.iter().enumerate() {
            let [a, b] = poses.map(|pose| (pose * Point3::from(vertex)).coords);
            work.x[first + k] = a;
            work.u[first + k] = b - a;
        }
    }

    /// Box around the path of an obstacle over the interval, as far as contacts reach; none of a
    /// half-space, which has no end.
    fn bounds_of_obstacle(&self, number: usize) -> Option<Bounds> {
        let (obstacle, core) = &self.obstacles[number];
        let first = self.work.first[number] as usize;
        match &self.work.poses[number] {
            Some(_) if obstacle.shape == Shape::HalfSpace => None,
            // Chords of vertices stay in the hull of the spheres around both positions of the
            // frame.
            Some([begin, end]) => {
                let [a, b] = [begin, end].map(|pose| pose.translation.vector);
                Some(Bounds::swept(&a, &(b - a), self.reach(first) + (1.0 + ROUNDING) * core.extent))
            }
            None => {
                let swept = |k: usize| Bounds::swept(&self.work.x[k], &self.work.u[k], self.reach(k));
                (first..first + core.vertices.len()).map(swept).reduce(|all, one| all.join(&one))
            }
        }
    }

    /// Takes the close obstacles into the tree.
    fn hold_close(&mut self) {
        let work = &mut self.work;
        let leaves = self.obstacles.iter().enumerate().filter(|(k, _)| work.close[*k]).flat_map(|(k, (_, core))| {
            let first = work.first[k];
            core.features.leaves().iter().map(move |&leaf: &Leaf| (leaf, first))
        });
        work.others.hold(leaves);
    }

    /// Places obstacles that the cloth comes to after all, where its boxes have grown.
    fn approach(&mut self) {
        let around = self.work.boxes[..self.features.vertices()].iter().copied().reduce(|all, one| all.join(&one));
        let mut found = false;
        for number in 0..self.obstacles.len() {
            // Those that their points move are always placed, and those that are absent have
            // neither.
            let comes = |bounds: Bounds| around.is_some_and(|around| around.meets(&bounds));
            let is_frame = self.work.poses[number].is_some();
            if !self.work.close[number] && is_frame && self.bounds_of_obstacle(number).is_some_and(comes) {
                self.work.close[number] = true;
                self.place_in_frame(number);
                found = true;
            }
        }
        if found {
            self.hold_close();
        }
    }

    /// Numbers of the vertices that may have a part in pairs: the cloth's, and those of close
    /// obstacles.
    fn tracked(&self) -> impl Iterator<Item = usize> {
        let of = |k: usize| {
            let first = self.work.first[k] as usize;
            first..first + self.obstacles[k].1.vertices.len()
        };
        let close = (0..self.obstacles.len()).filter(|k| self.work.close[*k]);
        (0..self.features.vertices()).chain(close.flat_map(of))
    }

    /// Of a vertex from the cloth's middle or an obstacle's surface, how far a contact reaches
    /// `[m]`.
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

    /// As [`Contacts::search`] anew, but where all go within the boxes of a search not long ago:
    /// its pairs are all that may meet still, and more of them change nothing.
    pub(crate) fn search_if_needed(&mut self) -> Result<(), ContactError> {
        self.update_pairs()?;
        self.count_pairs();
        self.charge_inspection();
        Ok(())
    }

    fn update_pairs(&mut self) -> Result<(), ContactError> {
        let work = &mut self.work;
        if work.searched.len() != work.x.len() || work.reused >= REUSED {
            return self.search(true);
        }
        let moved = work.searched != work.x;
        let is_in = |k: usize| !self.leaves_its_box(k, &self.work.x[k]) && !self.leaves_its_box(k, &self.end(k));
        if !self.tracked().all(is_in) {
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

    /// Pairs whose boxes meet, and their nearest points at the begin. `anew`: from where the
    /// vertices are meant to go; else the boxes grow by where they go now.
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

    /// Grows boxes by the displacements of the vertices. Those of far obstacles stay empty.
    fn grow_boxes(&mut self, margin: f64) {
        self.work.boxes.resize(self.work.x.len(), Bounds::EMPTY);
        let grow = |all: &mut Self, k: usize| {
            let bounds = Bounds::swept(&all.work.x[k], &all.work.u[k], margin + all.reach(k));
            all.work.boxes[k] = all.work.boxes[k].join(&bounds);
        };
        let cloth = self.features.vertices();
        (0..cloth).for_each(|k| grow(self, k));
        self.approach();
        for number in (0..self.obstacles.len()).filter(|k| self.work.close[*k]).collect::<Vec<_>>() {
            let first = self.work.first[number] as usize;
            (first..first + self.obstacles[number].1.vertices.len()).for_each(|k| grow(self, k));
        }
    }

    /// Whose boxes meet.
    fn collect_pairs(&mut self) -> Result<(), ContactError> {
        let most = self.most_pairs();
        let work = &mut self.work;
        work.cloth.fit(&work.boxes);
        work.others.fit(&work.boxes);
        work.pairs.clear();
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
        vertices.iter().any(|&v| self.lets_through(number, v))
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

/// Of a half-space, a triangle of its plane that is under the whole way of the cloth, in the
/// frame's axes.
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
