//! One step, from the intended motion to one without crossings.
//!
//! Over an interval every vertex goes straight from x to x + u. Obstacles' vertices are numbered on from the cloth's; what
//! they do is given. An obstacle that turns does so in chords, in so many intervals that none leaves its arc by more than a
//! fifth of the thickness; at the end of each it is where it has to be.

use nalgebra::{Isometry3, Point3, Vector3};
use rayon::prelude::*;

use crate::{
    ContactError, Features, Kind, Obstacle, Parameters, Path, Reaction, Report, State,
    broad::{Bounds, Pair, Search, Tree},
    ccd::{Impact, impact_from},
    distance::{Nearest, nearest},
    features::Leaf,
    obstacle::{Core, Shape},
    respond::{Contact, Spin, sweep},
    zones,
};

type V3 = Vector3<f64>;

/// Most intervals that a step is cut into for obstacles that turn.
const INTERVALS: usize = 256;

/// Pairs farther apart than the thickness by this much of it are contacts too, which may close by that.
const AHEAD: f64 = 0.25;

/// How much of what a pair is too near by it parts in a step `[-]` (\[BFA02\] section 7.2).
pub(crate) const PART: f64 = 0.1;

/// How far a vertex may leave its intended way before pairs are looked for again, in thicknesses: within these bounds more
/// after a step where one did, less after one where none did. Too much or too little costs time and changes nothing.
const MARGINS: [f64; 2] = [0.25, 4.0];

/// A surface, all that it can meet, and the memory that a step needs.
///
/// The memory is no state: what a step does depends on its arguments only.
pub struct Contacts {
    pub(crate) parameters: Parameters,
    pub(crate) features: Features,
    pub(crate) obstacles: Vec<(Obstacle, Core)>,
    pub(crate) work: Work,
}

/// What a step of the surface starts from.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Duration `[s]`.
    pub dt: f64,
    /// Positions at the begin `[m]`, where nothing crosses.
    pub begin: &'a [V3],
    /// Inverse masses `[1/kg]`; a vertex with 0 goes where it is told.
    pub inverse_masses: &'a [f64],
    /// How each obstacle moves.
    pub paths: &'a [Path<'a>],
}

#[derive(Default)]
pub(crate) struct Work {
    /// Of all vertices, obstacles' after the cloth's `[m]`.
    pub x: Vec<V3>,
    /// Way over the interval `[m]`.
    pub u: Vec<V3>,
    /// Inverse masses of the cloth's vertices `[1/kg]`.
    pub w: Vec<f64>,
    /// The first vertex of each obstacle.
    pub first: Vec<u32>,
    /// Poses at the begin and end of the interval, of obstacles that have them.
    pub poses: Vec<Option<[Isometry3<f64>; 2]>>,
    pub meetings: Vec<Meeting>,
    owner: Vec<u32>,
    present: Vec<bool>,
    margin: f64,
    boxes: Vec<Bounds>,
    cloth: Tree,
    others: Tree,
    search: Search,
    pub pairs: Vec<Pair>,
    nearest: Vec<Nearest>,
    impacts: Vec<Option<Impact>>,
    pub contacts: Vec<Contact>,
    spins: Vec<Spin>,
    pub changed: Vec<bool>,
    speeds: Vec<f64>,
    pub widened: f64,
    velocities: Vec<V3>,
    impulses: Vec<V3>,
    pub reactions: Vec<Reaction>,
}

/// What keeps a kind of pair apart: the cloth and itself, or the cloth and one obstacle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meeting {
    /// Around the features `[m]`.
    pub radius: f64,
    /// On top of that `[m]`.
    pub thickness: f64,
    pub friction: f64,
    pub restitution: f64,
}

impl Contacts {
    /// Of a surface, and what can be in its way.
    ///
    /// # Errors
    /// Names the first parameter or obstacle that is wrong.
    pub fn new(features: Features, parameters: Parameters, obstacles: Vec<Obstacle>) -> Result<Self, ContactError> {
        parameters.check()?;
        let obstacles = (obstacles.into_iter().enumerate())
            .map(|(number, obstacle)| Core::new(number, &obstacle).map(|core| (obstacle, core)))
            .collect::<Result<Vec<_>, _>>()?;
        let mut work = Work::default();
        work.cloth.hold(features.leaves().iter().map(|&leaf| (leaf, 0)));
        work.present = vec![false; obstacles.len()];
        let mut next = features.vertices() as u32;
        for (number, (obstacle, core)) in obstacles.iter().enumerate() {
            work.first.push(next);
            next += core.vertices.len() as u32;
            work.owner.resize(next as usize - features.vertices(), number as u32);
            work.meetings.push(Meeting {
                radius: core.radius,
                thickness: 0.5 * parameters.thickness + obstacle.thickness,
                friction: obstacle.friction,
                restitution: obstacle.restitution,
            });
        }
        Ok(Self { parameters, features, obstacles, work })
    }

    /// The surface.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Makes `end` `[m]`, where the surface would be after the step, a place that it reaches without passing through
    /// anything. Where it went by then, and what that took, is in the report, in [`Contacts::impulses`] and
    /// [`Contacts::reactions`].
    ///
    /// # Errors
    /// Names what is not finite, out of range or of the wrong length; `end` is as it was.
    pub fn resolve(&mut self, state: &mut State, step: &Step<'_>, end: &mut [V3]) -> Result<Report, ContactError> {
        self.check(step, end)?;
        let mut report = Report::default();
        let n = self.features.vertices();
        let work = &mut self.work;
        work.x.clear();
        work.x.extend_from_slice(step.begin);
        work.w.clear();
        work.w.extend_from_slice(step.inverse_masses);
        work.velocities.clear();
        work.velocities.extend(end.iter().zip(step.begin).map(|(end, begin)| (end - begin) / step.dt));
        work.impulses.clear();
        work.impulses.resize(n, V3::zeros());
        work.reactions.clear();

        let intervals = self.intervals(step.paths);
        let dt = step.dt / intervals as f64;
        for interval in 0..intervals {
            let part = [interval, interval + 1].map(|k| k as f64 / intervals as f64);
            let clock = std::time::Instant::now();
            let mut last = 0.0;
            let mut lap = |k: usize, report: &mut Report| {
                let now = clock.elapsed().as_secs_f64();
                report.stages[k] += now - last;
                report.seconds += now - last;
                last = now;
            };
            self.place(step.paths, part, dt);
            lap(0, &mut report);
            self.find_pairs(true);
            lap(1, &mut report);
            self.repel(state, &mut report, dt);
            lap(2, &mut report);
            let clear = self.stop_impacts(state, &mut report, dt);
            lap(3, &mut report);
            if !clear {
                zones::move_as_one(self, state, &mut report, dt);
            }
            lap(4, &mut report);
            report.stages[5] = self.work.widened / 100.0;
            self.work.widened = 0.0;
            self.book(dt);
            let work = &mut self.work;
            for k in 0..n {
                work.velocities[k] = work.u[k] / dt;
                work.x[k] += work.u[k];
            }
        }
        end.copy_from_slice(&self.work.x[..n]);
        Ok(report)
    }

    /// Impulse on each vertex of the surface `[N s]`; on one that goes where it is told, what that took from it.
    pub fn impulses(&self) -> &[V3] {
        &self.work.impulses
    }

    /// Impulses on obstacles, by obstacle and carrier.
    pub fn reactions(&self) -> &[Reaction] {
        &self.work.reactions
    }

    fn check(&self, step: &Step<'_>, end: &[V3]) -> Result<(), ContactError> {
        let n = self.features.vertices();
        let count = |thing, count, expected, of| {
            if count == expected { Ok(()) } else { Err(ContactError::Count { thing, count, expected, of }) }
        };
        count("positions at the begin", step.begin.len(), n, "vertices")?;
        count("positions at the end", end.len(), n, "vertices")?;
        count("inverse masses", step.inverse_masses.len(), n, "vertices")?;
        count("paths", step.paths.len(), self.obstacles.len(), "obstacles")?;
        let number = |good: bool, thing: &dyn Fn() -> String, found: f64, expected| {
            if good { Ok(()) } else { Err(ContactError::Number { thing: thing(), found, expected }) }
        };
        let dt = step.dt;
        number((1e-12..=1e3).contains(&dt), &|| "time step".into(), dt, "from 1e-12 to 1e3 s")?;
        let coordinates = "within 1e9 m";
        for (when, positions) in [("begin", step.begin), ("end", end)] {
            for (k, x) in positions.iter().enumerate() {
                number(
                    x.iter().all(|c| c.abs() <= 1e9),
                    &|| format!("vertex {k} at the {when}"),
                    x.amax(),
                    coordinates,
                )?;
            }
        }
        for (k, &w) in step.inverse_masses.iter().enumerate() {
            number((0.0..=1e30).contains(&w), &|| format!("inverse mass {k}"), w, "from 0 to 1e30 1/kg")?;
        }
        for (k, (path, (obstacle, core))) in step.paths.iter().zip(&self.obstacles).enumerate() {
            match path {
                Path::Absent => {}
                Path::Frame { begin, end } => {
                    for pose in [begin, end] {
                        let (x, q) = (pose.translation.vector, pose.rotation.coords);
                        let good = x.iter().all(|c| c.abs() <= 1e9) && (q.norm() - 1.0).abs() < 1e-6;
                        number(good, &|| format!("pose of obstacle {k}"), x.amax(), coordinates)?;
                    }
                }
                Path::Points { begin, end } => {
                    if !matches!(obstacle.shape, Shape::Mesh { .. }) {
                        let expected = "a frame: only meshes are moved by their points";
                        return number(false, &|| format!("path of obstacle {k}"), f64::NAN, expected);
                    }
                    for points in [begin, end] {
                        count("points", points.len(), core.vertices.len(), "vertices of an obstacle")?;
                        let far = |x: &&V3| !x.iter().all(|c| c.abs() <= 1e9);
                        let worst = points.iter().find(far).map_or(0.0, |x| x.amax());
                        number(worst == 0.0, &|| format!("a point of obstacle {k}"), worst, coordinates)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// How many chords the turning obstacles need: of angle a and extent r one leaves the arc by r a²/8.
    fn intervals(&self, paths: &[Path<'_>]) -> usize {
        let of = |(path, (meeting, (_, core))): (&Path<'_>, (&Meeting, &(Obstacle, Core)))| {
            let Path::Frame { begin, end } = path else { return 1.0 };
            let angle = begin.rotation.angle_to(&end.rotation);
            (angle * (core.extent / (8.0 * 0.2 * meeting.thickness)).sqrt()).ceil()
        };
        let most = paths.iter().zip(self.work.meetings.iter().zip(&self.obstacles)).map(of).fold(1.0, f64::max);
        (most as usize).min(INTERVALS)
    }

    /// Vertices, ways and poses of an interval, `part` of the step.
    fn place(&mut self, paths: &[Path<'_>], part: [f64; 2], dt: f64) {
        let n = self.features.vertices();
        let work = &mut self.work;
        work.x.truncate(n);
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
                    let plane = plane_below(&work.x[..n], &work.u[..n], &poses[0]);
                    let vertices = if obstacle.shape == Shape::HalfSpace { &plane[..] } else { &core.vertices };
                    for &vertex in vertices {
                        let [a, b] = poses.map(|pose| (pose * Point3::from(vertex)).coords);
                        work.x.push(a);
                        work.u.push(b - a);
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
    fn reach(&self, vertex: usize) -> f64 {
        let n = self.features.vertices();
        match vertex.checked_sub(n) {
            None => 0.5 * (1.0 + AHEAD) * self.parameters.thickness,
            Some(k) => {
                let number = self.work.owner[k] as usize;
                self.obstacles[number].1.radius + (1.0 + AHEAD) * self.obstacles[number].0.thickness
            }
        }
    }

    /// Pairs whose boxes meet, and their nearest points at the begin. `anew`: from where the vertices are meant to go;
    /// else the boxes grow by where they go now.
    fn find_pairs(&mut self, anew: bool) {
        let [least, most] = MARGINS;
        self.work.margin = if anew { 0.95 * self.work.margin } else { 1.5 * self.work.margin }.clamp(least, most);
        let margin = self.work.margin * self.parameters.thickness;
        if anew {
            self.work.boxes.clear();
        }
        for k in 0..self.work.x.len() {
            let around = margin + self.reach(k);
            let bounds = Bounds::swept(&self.work.x[k], &self.work.u[k], around);
            match self.work.boxes.get_mut(k) {
                Some(old) => *old = old.join(&bounds),
                None => self.work.boxes.push(bounds),
            }
        }
        let work = &mut self.work;
        work.cloth.fit(&work.boxes);
        work.others.fit(&work.boxes);
        work.pairs.clear();
        work.search.within(&work.cloth, &work.boxes, &mut work.pairs);
        work.search.between(&work.cloth, &work.others, &work.boxes, &mut work.pairs);
        let x = &work.x;
        work.pairs
            .par_iter()
            .map(|pair| nearest(pair.kind, &pair.vertices.map(|v| x[v as usize])))
            .collect_into_vec(&mut work.nearest);
        work.changed.clear();
        work.changed.resize(work.x.len(), true);
    }

    /// The obstacle that a pair is with.
    pub(crate) fn obstacle(&self, pair: &Pair) -> Option<u32> {
        let n = self.features.vertices() as u32;
        let other = pair.vertices.iter().find(|&&v| v >= n)?;
        Some(self.work.owner[(other - n) as usize])
    }

    pub(crate) fn meeting(&self, obstacle: Option<u32>) -> Meeting {
        match obstacle {
            Some(k) => self.work.meetings[k as usize],
            None => Meeting {
                radius: 0.0,
                thickness: self.parameters.thickness,
                friction: self.parameters.friction,
                restitution: 0.0,
            },
        }
    }

    /// \[BFA02\] section 7.2: what is near at the begin.
    fn repel(&mut self, state: &mut State, report: &mut Report, dt: f64) {
        self.work.contacts.clear();
        self.lead_out(state);
        report.pairs += self.work.pairs.len();
        let cloth = self.features.vertices();
        let mut contacts = std::mem::take(&mut self.work.contacts);
        for (pair, near) in self.work.pairs.iter().zip(&self.work.nearest) {
            let obstacle = self.obstacle(pair);
            let meeting = self.meeting(obstacle);
            let gap = near.distance() - meeting.radius;
            if gap < (1.0 + AHEAD) * meeting.thickness && !self.is_inside(state, pair, obstacle) {
                let Some(contact) = self.contact(*pair, obstacle, &meeting, near, dt) else { continue };
                // Not those that will stay well apart; should others push them together, that is an impact.
                let closing = -contact.n.dot(&contact.relative(&self.work.u[..cloth]));
                if gap - closing < (1.0 + AHEAD) * meeting.thickness {
                    contacts.push(contact);
                }
            }
        }
        once_each(&mut contacts);
        report.contacts += contacts.len();
        self.work.contacts = contacts;
        self.work.spins.clear();
        self.add_spins(0);
        self.sweeps();
    }

    /// A contact of a pair whose nearest points are such, at the begin or at an impact.
    fn contact(
        &self,
        pair: Pair,
        obstacle: Option<u32>,
        meeting: &Meeting,
        near: &Nearest,
        dt: f64,
    ) -> Option<Contact> {
        let work = &self.work;
        let x = pair.vertices.map(|v| work.x[v as usize]);
        let n = near.offset.try_normalize(0.0)?;
        // How far apart the same places are along n at the begin.
        let apart: f64 = (0..4).map(|k| near.weights[k] * x[k].dot(&n)).sum::<f64>() - meeting.radius;
        let lacking = meeting.thickness - apart;
        let mut contact = Contact {
            pair,
            obstacle,
            spin: None,
            weights: near.weights,
            n,
            drift: self.drift(&pair, obstacle, meeting, near, &n),
            least: if lacking < 0.0 { lacking } else { PART * lacking.min(meeting.thickness) },
            friction: meeting.friction,
            push: 0.0,
            drag: V3::zeros(),
        };
        let cloth = self.features.vertices();
        if obstacle.is_some() && meeting.restitution > 0.0 {
            let speed = -n.dot(&contact.relative(&work.u[..cloth])) / dt;
            if speed > self.parameters.restitution_threshold {
                contact.least = contact.least.max(meeting.restitution * speed * dt);
            }
        }
        Some(contact)
    }

    /// To contacts of the cloth with itself, from one on.
    fn add_spins(&mut self, from: usize) {
        let work = &mut self.work;
        for contact in work.contacts[from..].iter_mut().filter(|contact| contact.obstacle.is_none()) {
            let of = contact.pair.vertices;
            if let Some(spin) = Spin::new(&of.map(|v| work.x[v as usize]), &of.map(|v| work.w[v as usize])) {
                contact.spin = Some(work.spins.len() as u32);
                work.spins.push(spin);
            }
        }
    }

    /// Way of an obstacle's surface where it is touched, as it counts in the relative way.
    fn drift(&self, pair: &Pair, obstacle: Option<u32>, meeting: &Meeting, near: &Nearest, n: &V3) -> V3 {
        let Some(obstacle) = obstacle else { return V3::zeros() };
        let cloth = self.features.vertices();
        let mut core = V3::zeros();
        let (mut place, mut sign) = (V3::zeros(), 0.0);
        for (&c, &v) in near.weights.iter().zip(&pair.vertices).filter(|(_, v)| **v as usize >= cloth) {
            core += c * self.work.u[v as usize];
            place += c * self.work.x[v as usize];
            sign += c;
        }
        // The core's own way; a radius around it turns too, which shows across n only.
        if let Some([begin, end]) = &self.work.poses[obstacle as usize]
            && meeting.radius > 0.0
        {
            let arm = -sign * meeting.radius * n;
            let touched = sign * place + arm;
            let turned = end.rotation * (begin.rotation.inverse() * arm) - arm;
            debug_assert!(touched.iter().all(|c| c.is_finite()));
            core += sign * (turned - n.dot(&turned) * n);
        }
        core
    }

    /// Until nothing changes by more than a ten thousandth of the thickness.
    fn sweeps(&mut self) {
        let cloth = self.features.vertices();
        let work = &mut self.work;
        for _ in 0..self.parameters.sweeps {
            let most = sweep(&mut work.contacts, &work.spins, &mut work.u[..cloth], &work.w);
            if most < 1e-4 * self.parameters.thickness {
                break;
            }
        }
    }

    /// \[BFA02\] section 7.3: what would still pass through each other gets a contact where it first touches.
    /// Whether nothing is left that would.
    fn stop_impacts(&mut self, state: &State, report: &mut Report, dt: f64) -> bool {
        for _ in 0..self.parameters.impact_rounds {
            if self.is_clear(state) {
                return true;
            }
            let before = self.work.contacts.len();
            for k in 0..self.work.pairs.len() {
                let Some(impact) = self.work.impacts[k] else { continue };
                let pair = self.work.pairs[k];
                let obstacle = self.obstacle(&pair);
                let contact = self.contact(pair, obstacle, &self.meeting(obstacle), &impact.nearest, dt);
                self.work.contacts.extend(contact);
            }
            self.add_spins(before);
            report.rounds += 1;
            report.impacts += self.work.contacts.len() - before;
            self.note_changes(|contacts| contacts.sweeps());
        }
        self.is_clear(state)
    }

    /// Whether nothing collides on its way; what does is in [`Contacts::colliding`].
    pub(crate) fn is_clear(&mut self, state: &State) -> bool {
        self.widen();
        self.find_impacts(state);
        self.work.impacts.iter().all(Option::is_none)
    }

    /// Marks the vertices whose way `change` changes.
    pub(crate) fn note_changes(&mut self, change: impl FnOnce(&mut Self)) {
        let before = self.work.u.clone();
        change(self);
        let work = &mut self.work;
        for ((changed, before), now) in work.changed.iter_mut().zip(&before).zip(&work.u) {
            *changed = before != now;
        }
    }

    /// Looks for pairs again if a vertex left its box.
    fn widen(&mut self) {
        let cloth = self.features.vertices();
        let reach = self.reach(0);
        let left = |k: usize| {
            let (end, bounds) = (self.work.x[k] + self.work.u[k], &self.work.boxes[k]);
            !bounds.contains(&end.add_scalar(reach)) || !bounds.contains(&end.add_scalar(-reach))
        };
        if (0..cloth).any(|k| self.work.changed[k] && left(k)) {
            self.work.widened += 1.0;
            self.find_pairs(false);
        }
    }

    /// How far each vertex goes relative to the cloth's mean, which is cheap to compare with a gap.
    fn measure_speeds(&mut self) {
        let cloth = self.features.vertices();
        let work = &mut self.work;
        let mean = work.u[..cloth].iter().sum::<V3>() / cloth.max(1) as f64;
        work.speeds.clear();
        work.speeds.extend(work.u.iter().map(|u| (u - mean).norm()));
    }

    /// Impacts of all pairs with a vertex that changed its way; none for the others, which have been found free.
    fn find_impacts(&mut self, state: &State) {
        let mut impacts = std::mem::take(&mut self.work.impacts);
        self.measure_speeds();
        let work = &self.work;
        let of = |(pair, near): (&Pair, &Nearest)| {
            if !pair.vertices.iter().any(|&v| work.changed[v as usize]) {
                return None;
            }
            let obstacle = self.obstacle(pair);
            let meeting = self.meeting(obstacle);
            let gap = near.distance() - meeting.radius;
            // Already inside: led out by its contact, and nothing to be kept from.
            if gap <= 0.0 || self.is_inside(state, pair, obstacle) {
                return None;
            }
            let kept = (self.parameters.separation * meeting.thickness).min(0.5 * gap);
            let speed = |vertices: &[u32]| vertices.iter().fold(0.0_f64, |most, &v| most.max(work.speeds[v as usize]));
            let split = if pair.kind == Kind::PointTriangle { 1 } else { 2 };
            if gap - kept > 1.001 * (speed(&pair.vertices[..split]) + speed(&pair.vertices[split..])) {
                return None;
            }
            let [x, u] = [&work.x, &work.u].map(|of| pair.vertices.map(|v| of[v as usize]));
            impact_from(pair.kind, &x, &u, *near, meeting.radius + kept, 0.1 * kept)
        };
        (work.pairs.par_iter().zip(&work.nearest)).map(of).collect_into_vec(&mut impacts);
        self.work.impacts = impacts;
    }

    /// Pairs that collide as things are.
    pub(crate) fn colliding(&self) -> impl Iterator<Item = Pair> {
        let found = self.work.pairs.iter().zip(&self.work.impacts);
        found.filter(|(_, impact)| impact.is_some()).map(|(pair, _)| *pair)
    }

    pub(crate) fn add_impulse(&mut self, vertex: usize, impulse: &V3) {
        self.work.impulses[vertex] += impulse;
    }

    /// Impulses of the contacts of an interval, on the surface and on obstacles.
    fn book(&mut self, dt: f64) {
        let cloth = self.features.vertices();
        let mut contacts = std::mem::take(&mut self.work.contacts);
        for contact in &contacts {
            let impulse = (contact.push * contact.n + contact.drag) / dt;
            if impulse == V3::zeros() {
                continue;
            }
            let on = contact.impulses(&self.work.spins, &impulse);
            let (mut whole, mut torque) = (V3::zeros(), V3::zeros());
            for (&v, p) in contact.pair.vertices.iter().zip(&on).filter(|(v, _)| (**v as usize) < cloth) {
                self.work.impulses[v as usize] += p;
                whole += p;
                torque += self.work.x[v as usize].cross(p);
            }
            let Some(obstacle) = contact.obstacle else { continue };
            match &self.work.poses[obstacle as usize] {
                Some([begin, _]) => {
                    let angular = begin.translation.vector.cross(&whole) - torque;
                    self.work.reactions.push(Reaction { obstacle, carrier: 0, linear: -whole, angular });
                }
                None => {
                    let first = self.work.first[obstacle as usize];
                    for (&v, &linear) in contact.pair.vertices.iter().zip(&on).filter(|(v, _)| **v as usize >= cloth) {
                        let angular = V3::zeros();
                        self.work.reactions.push(Reaction { obstacle, carrier: v - first, linear, angular });
                    }
                }
            }
        }
        contacts.clear();
        self.work.contacts = contacts;
        let reactions = &mut self.work.reactions;
        reactions.sort_by_key(|reaction| (reaction.obstacle, reaction.carrier));
        reactions.dedup_by(|next, sum| {
            let same = (next.obstacle, next.carrier) == (sum.obstacle, sum.carrier);
            if same {
                sum.linear += next.linear;
                sum.angular += next.angular;
            }
            same
        });
    }
}

/// Keeps one contact of those between the same places: a corner that is nearest to a corner is so in every pair of the
/// features around either.
fn once_each(contacts: &mut Vec<Contact>) {
    contacts.sort_by_cached_key(Contact::places);
    contacts.dedup_by_key(|contact| contact.places());
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
    // Room for what contacts change, and for the plane's own motion.
    let size = 2.0 * (high - low).amax() + 1.0;
    let corner = |x: f64, z: f64| V3::new(middle.x + size * x, 0.0, middle.z + size * z);
    [corner(-2.0, -1.0), corner(0.0, 2.0), corner(2.0, -1.0)]
}
