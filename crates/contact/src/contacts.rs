//! One step, from the intended motion to one without crossings.
//!
//! | stage                                                  | file         | \[BFA02\] |
//! |--------------------------------------------------------|--------------|---------|
//! | where all vertices are and mean to go; who may meet    | `place.rs`   |         |
//! | who is near at the begin: repulsion                    | `repel.rs`   | 7.2     |
//! | what starts in a solid is led out of it                | `regions.rs` |         |
//! | what else crosses at the begin is led apart            | `untangle.rs`|         |
//! | who would pass through whom: impacts                   | `impacts.rs` | 7.3     |
//! | what still would, moves as one                         | `zones.rs`   | 7.4     |
//! | what was stopped with restitution is thrown back       | `bounce.rs`  |         |
//!
//! Over an interval every vertex goes straight from x to x + u. Obstacles' vertices are numbered on from the cloth's; what
//! they do is given. An obstacle that turns does so in chords, in so many intervals that none leaves its arc by more than a
//! fifth of the thickness; at the end of each it is where it has to be. Where impulses do not keep all apart over an
//! interval it is quartered, twice at most (once where there are five intervals or more, not where there are 65), which makes
//! ways short against gaps; only then does anything move as one. What is told of impulses is relieved of what contacts only
//! do to each other (`relieve.rs`). Pairs are found in `broad.rs` and `ccd.rs`, impulses in
//! `respond.rs` and `torque.rs`; `sides.rs` and `inside.rs` know what is out of an obstacle and what is in it.

use std::time::Instant;

use nalgebra::{Isometry3, Vector3};

use crate::{
    ContactError, ContactRates, Features, Obstacle, Parameters, Path, Reaction, Report, State,
    allowance::Allowance,
    broad::{Bounds, Pair, Search, Tree},
    ccd::Impact,
    distance::Nearest,
    entered::Entered,
    obstacle::Core,
    regions::Led,
    relieve::Given,
    respond::Contact,
    torque::Group,
    untangle::Crossing,
    zones,
};

type V3 = Vector3<f64>;

/// Pairs farther apart than the thickness by this much of it are contacts too, which may close by that.
pub(crate) const AHEAD: f64 = 0.25;

/// A surface, all that it can meet, and the memory that a step needs.
///
/// The memory is no state: what a step does depends on its arguments only.
pub struct Contacts {
    pub(crate) parameters: Parameters,
    pub(crate) features: Features,
    pub(crate) obstacles: Vec<(Obstacle, Core)>,
    /// Whether what is inside an obstacle, or crosses something, is led out.
    pub(crate) leads: bool,
    pub(crate) work: Work,
}

/// What a step of the surface starts from.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Duration `[s]`.
    pub dt: f64,
    /// Positions at the begin `[m]`. What crosses there is led apart.
    pub begin: &'a [V3],
    /// Velocities of the vertices at the start and, without impulses of the step, at the end `[m/s]`; `None`: those of their
    /// displacements. Restitution is of the approach at the start: what gravity adds would be energy that nobody gave.
    pub velocities: Option<[&'a [V3]; 2]>,
    /// Inverse masses `[1/kg]`; a vertex with 0 goes where it is told.
    pub inverse_masses: &'a [f64],
    /// How each obstacle moves.
    pub paths: &'a [Path<'a>],
}

/// The parts of a step, one after the other: as many as obstacles that turn need, each quartered where impulses alone do not
/// keep all apart. Counted in the shortest that there may be.
struct Parts {
    done: usize,
    length: usize,
    longest: usize,
    whole: usize,
}

impl Parts {
    fn new(intervals: usize) -> Self {
        let longest = match intervals {
            ..5 => 16,
            5..65 => 4,
            _ => 1,
        };
        Self { done: 0, length: longest, longest, whole: intervals * longest }
    }

    /// Begin and end of the next, as fractions of the step.
    fn next(&self) -> Option<[f64; 2]> {
        let at = |k: usize| k as f64 / self.whole as f64;
        (self.done < self.whole).then(|| [at(self.done), at(self.done + self.length)])
    }

    fn is_least(&self) -> bool {
        self.length == 1
    }

    /// The next ends with the step.
    fn take_rest(&mut self) {
        self.length = self.whole - self.done;
    }

    fn quarter(&mut self) {
        self.length /= 4;
    }

    /// The next is as long as one four times as long could start there.
    fn done(&mut self) {
        self.done += self.length;
        if self.length < self.longest && self.done.is_multiple_of(4 * self.length) {
            self.length *= 4;
        }
    }
}

#[derive(Default)]
pub(crate) struct Work {
    /// Of all vertices, obstacles' after the cloth's `[m]`.
    pub x: Vec<V3>,
    /// From where the cloth's vertices would have come straight ([`Contacts::resolve_deflected`]) `[m]`.
    pub straight_begins: Vec<V3>,
    /// How far the begin was from there `[m]`.
    pub bent: Vec<V3>,
    /// Way over the interval `[m]`.
    pub u: Vec<V3>,
    /// Inverse masses of the cloth's vertices `[1/kg]`.
    pub w: Vec<f64>,
    /// Of the cloth's vertices from interval to interval `[m/s]`.
    pub velocities: Vec<V3>,
    /// The first vertex of each obstacle, and whose the vertices from the first obstacle's on are.
    pub first: Vec<u32>,
    pub owner: Vec<u32>,
    /// By obstacle: whether it is there and may come to the cloth, and its poses at the start and end of the interval.
    pub close: Vec<bool>,
    pub poses: Vec<Option<[Isometry3<f64>; 2]>>,
    /// Length of the step `[s]`.
    pub duration: f64,
    pub meetings: Vec<Meeting>,

    /// Boxes around the vertices' ways, how much farther they reach than they have to, and trees over them.
    pub boxes: Vec<Bounds>,
    pub margin: f64,
    pub cloth: Tree,
    pub others: Tree,
    /// Boxes around the vertices' ways in this interval, for counting pairs.
    pub spans: Vec<Bounds>,
    pub search: Search,
    /// Cloth that cannot give way, and what may come to it in the next step (`stops.rs`).
    pub anchors: Tree,
    pub ahead: Tree,
    /// Where vertices were when nearest points were looked for, nowhere if that failed; and how often with the same pairs.
    pub searched: Vec<V3>,
    pub reused: u32,
    pub pairs: Vec<Pair>,
    /// Of these, what an asynchronous simulator has to look after.
    pub due: Vec<Pair>,
    /// Of each pair: its nearest points at the begin, and the impact found last.
    pub nearest: Vec<Nearest>,
    pub impacts: Vec<Option<Impact>>,
    /// Vertices whose ways changed since impacts were looked for, and how far each goes.
    pub changed: Vec<bool>,
    pub speeds: Vec<f64>,

    /// What crosses at the begin, which pairs may pass because of that, in order, and which vertices have a part in it.
    pub crossings: Vec<Crossing>,
    pub let_go: Vec<Pair>,
    pub tangled: Vec<bool>,
    /// [`State::embedded`] of this step.
    pub embedded: Vec<[u32; 2]>,
    /// Vertices of regions that are inside, each with its obstacle, in order.
    pub within: Vec<[u32; 2]>,
    /// [`Report::depth`] of this interval `[m]`.
    pub depth: f64,
    /// Vertices that are led out of solids in regions, in order of pairs (`regions.rs`).
    pub led: Vec<Led>,
    /// Kinematic elements in convex solids at the start of the next step (`entered.rs`).
    pub entered: Vec<Entered>,

    pub contacts: Vec<Contact>,
    /// Memory in which contacts are put in order, and ways before a change.
    pub order: Vec<Key>,
    pub spare: Vec<Contact>,
    pub before: Vec<V3>,
    /// Torque of each contact that has been taken out again `[kg m²]`.
    pub cancelled: Vec<V3>,
    /// Which vertices contacts join, the sums over each group, and impulses that cancel its torque `[kg m]`.
    pub above: Vec<u32>,
    pub groups: Vec<Group>,
    pub turned: Vec<V3>,
    /// What a pair of tiny gap has to keep of it in a part of the step, and how much of what it is too near by it parts `[-]`.
    pub gap_kept: f64,
    pub parting: f64,
    pub allowance: Allowance,
    /// Velocities of the surface's vertices with which these come to what throws them back `[m/s]`.
    pub approach: Vec<V3>,
    /// Contacts that throw the cloth back at the end of the call, in velocities, and these at the end `[m/s]`.
    pub bounces: Vec<Contact>,
    pub last: Vec<V3>,
    /// Rounds of impacts that the step may still take.
    pub rounds_left: usize,
    /// All impulses of the step, and what is told of them.
    pub given: Vec<Given>,
    pub impulses: Vec<V3>,
    pub reactions: Vec<Reaction>,
}

/// Where a contact is and with whom; which it is.
type Key = ([[u32; 3]; 2], Option<u32>, u32);

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
            .map(|(number, mut obstacle)| {
                obstacle.except.sort_unstable();
                Core::new(number, &obstacle).map(|core| (obstacle, core))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let mut work = Work::default();
        work.cloth.hold(features.leaves().iter().map(|&leaf| (leaf, 0)));
        work.close = vec![false; obstacles.len()];
        work.impulses = vec![V3::zeros(); features.vertices()];
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
        Ok(Self { parameters, features, obstacles, leads: true, work })
    }

    /// As given.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Changes whether the surface meets itself, and the rates.
    pub fn set(&mut self, self_contact: bool, rates: ContactRates) {
        (self.parameters.self_contact, self.parameters.rates) = (self_contact, rates);
    }

    /// Keeps what is inside an obstacle, or crosses something, as deep as it is, until the next
    /// [`Contacts::start_step`]. To lead it out may give the surface energy.
    pub fn keep_depths(&mut self) {
        self.leads = false;
    }

    /// Whether what is inside an obstacle, or crosses something, is led out.
    pub fn leads(&self) -> bool {
        self.leads
    }

    /// Part of the way out that what is inside, or crosses something, goes in this interval [-].
    pub(crate) fn leading(&self) -> f64 {
        if self.leads { self.work.parting } else { 0.0 }
    }

    /// As given.
    pub fn obstacles(&self) -> impl ExactSizeIterator<Item = &Obstacle> {
        self.obstacles.iter().map(|(obstacle, _)| obstacle)
    }

    /// The surface.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Makes `end` `[m]`, where the surface would be after the step, a place that it reaches without passing through
    /// anything. The impulses that this took are in [`Contacts::impulses`] and [`Contacts::reactions`]; a vertex that came with
    /// velocity v goes on with v + w J, of its inverse mass w and impulse J.
    ///
    /// # Errors
    /// Names what is not finite, out of range, of the wrong length or at one place without crossing, or says that there are
    /// too many pairs. `end` and `state` are then as they were; impulses and reactions are lost.
    pub fn resolve(&mut self, state: &mut State, step: &Step<'_>, end: &mut [V3]) -> Result<Report, ContactError> {
        self.resolve_deflected(state, step, step.begin, end)
    }

    /// As [`Contacts::resolve`], for vertices that got other impulses on their way: `straight_begins` are from where they would have come
    /// straight to `end` with the velocities v that they have there, `end` - dt v `[m]`. About these impulses between cloth and cloth have
    /// no torque, which keeps angular momentum as it is in the end, but where cloth has to move as one or crosses itself.
    ///
    /// # Errors
    /// As [`Contacts::resolve`].
    pub fn resolve_deflected(
        &mut self,
        state: &mut State,
        step: &Step<'_>,
        straight_begins: &[V3],
        end: &mut [V3],
    ) -> Result<Report, ContactError> {
        let bounces = std::mem::take(&mut self.work.bounces);
        self.check(step, straight_begins, end)?;
        state.check(self)?;
        self.start_call();
        let mut report = Report::default();
        let n = self.features.vertices();
        self.start(step, end);
        let work = &mut self.work;
        work.bounces = bounces;
        work.straight_begins.clear();
        work.straight_begins.extend_from_slice(straight_begins);
        work.bent.clear();
        work.bent.extend(step.begin.iter().zip(straight_begins).map(|(begin, straight)| begin - straight));
        work.last.clear();
        match step.velocities {
            Some([_, end]) => work.last.extend_from_slice(end),
            None => {
                work.last.extend(end.iter().zip(straight_begins).map(|(end, straight)| (end - straight) / step.dt));
            }
        }
        let intervals = self.intervals(step, end);
        let mut parts = Parts::new(intervals);
        self.work.rounds_left = self.parameters.impact_rounds as usize * (intervals + 7);
        let before = state.clone();
        self.meet_the_new(state, step.begin, step.paths);
        while let Some(mut part) = parts.next() {
            if self.is_low() {
                parts.take_rest();
                part[1] = 1.0;
            }
            let dt = (part[1] - part[0]) * step.dt;
            match self.advance(state, &mut report, step.paths, part, dt, parts.is_least()) {
                Ok(true) => parts.done(),
                Ok(false) => parts.quarter(),
                Err(ContactError::TooManyPairs { most }) if !parts.is_least() => {
                    self.charge_search(most);
                    parts.quarter();
                }
                Err(ContactError::TooManyPairs { .. }) if self.is_limited_by_visits() => self.charge(usize::MAX),
                Err(error) => {
                    *state = before;
                    self.work.bounces.clear();
                    return Err(error);
                }
            }
        }
        self.throw_back();
        self.tell_impulses();
        // What is told where to go is there to the last bit.
        let free = (0..n).filter(|&k| step.inverse_masses[k] > 0.0);
        free.for_each(|k| end[k] = self.work.x[k]);
        Ok(report)
    }

    /// Goes on by a part of the step; false, and nothing but counted, if impulses do not keep all apart and `last` is not set.
    fn advance(
        &mut self,
        state: &mut State,
        report: &mut Report,
        paths: &[Path<'_>],
        part: [f64; 2],
        dt: f64,
        last: bool,
    ) -> Result<bool, ContactError> {
        let mut clock = Instant::now();
        let mut lap = || std::mem::replace(&mut clock, Instant::now()).elapsed().as_secs_f64();
        let share = part[1] - part[0];
        self.ask_for(share, dt);
        self.place_close(state, paths, part, dt);
        if self.is_spent() {
            self.pass(state);
            report.unresolved += share;
            self.end_part(report, share, dt);
            return Ok(true);
        }
        self.search_if_needed()?;
        self.find_crossings(state, report);
        if part[0] == 0.0 {
            match self.check_apart() {
                found if state.unresolved => state.unresolved = found.is_err(),
                found => found?,
            }
        }
        report.cost.pairs += lap();
        self.repel(state, report, dt);
        self.untangle();
        report.depth = report.depth.max(self.work.depth);
        report.cost.repel += lap();
        let clear = self.stop_impacts(state, report, dt)?;
        report.cost.impacts += lap();
        if !clear && !last && !self.is_low() {
            return Ok(false);
        }
        if !clear {
            if self.is_spent() {
                self.leave_unresolved(state);
            } else {
                zones::move_as_one(self, state, report, dt)?;
            }
            report.unresolved += if self.is_spent() { share } else { 0.0 };
        }
        report.cost.zones += lap();
        self.end_part(report, share, dt);
        Ok(true)
    }

    /// Takes over where the cloth goes in a part of the step.
    fn end_part(&mut self, report: &mut Report, share: f64, dt: f64) {
        report.parts += 1;
        self.note_impulses(dt);
        let work = &mut self.work;
        for k in 0..self.features.vertices() {
            work.velocities[k] = work.u[k] / dt;
            work.x[k] += work.u[k];
            // By as much of the way as the vertex has: at the end both ways are one.
            work.straight_begins[k] += work.u[k] + share * work.bent[k];
        }
    }

    /// What pairs have to keep of their gaps and make up of what they lack in such a share of a step, that takes `dt` `[s]`.
    pub(crate) fn ask_for(&mut self, share: f64, dt: f64) {
        self.work.gap_kept = 0.5_f64.powf(share);
        let rates = &self.parameters.rates;
        self.work.parting = (ContactRates::DEPENETRATION_PER_STEP * share).min(rates.depenetration * dt);
    }

    /// Takes over where a step begins and would end.
    pub(crate) fn start(&mut self, step: &Step<'_>, end: &[V3]) {
        let work = &mut self.work;
        work.duration = step.dt;
        work.x.clear();
        work.x.extend_from_slice(step.begin);
        work.w.clear();
        work.w.extend_from_slice(step.inverse_masses);
        work.velocities.clear();
        work.velocities.extend(end.iter().zip(step.begin).map(|(end, begin)| (end - begin) / step.dt));
        work.approach.clear();
        work.approach.extend_from_slice(step.velocities.map_or(&work.velocities, |[begin, _]| begin));
        work.impulses.clear();
        work.impulses.resize(self.features.vertices(), V3::zeros());
        work.reactions.clear();
        work.given.clear();
    }

    /// Of the last [`Contacts::resolve`], the impulse on each vertex of the surface `[N s]`; on one that goes where it is told,
    /// what that took from it.
    pub fn impulses(&self) -> &[V3] {
        &self.work.impulses
    }

    /// Of the last [`Contacts::resolve`], impulses on obstacles, by obstacle and carrier; force is impulse over dt.
    pub fn reactions(&self) -> &[Reaction] {
        &self.work.reactions
    }

    /// The obstacle that a pair is with.
    pub fn obstacle(&self, pair: &Pair) -> Option<u32> {
        self.owner(&pair.vertices)
    }

    /// The obstacle that one of these vertices is of.
    pub(crate) fn owner(&self, vertices: &[u32]) -> Option<u32> {
        let n = self.features.vertices() as u32;
        let other = vertices.iter().find(|&&v| v >= n)?;
        Some(self.work.owner[(other - n) as usize])
    }

    /// What the surface is made of that vertices are of, and the number of its first.
    pub(crate) fn surface_of(&self, vertices: &[u32]) -> (&Features, u32) {
        match self.owner(vertices) {
            Some(number) => (&self.obstacles[number as usize].1.features, self.work.first[number as usize]),
            None => (&self.features, 0),
        }
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

    /// Those of the contacts of an interval.
    fn note_impulses(&mut self, dt: f64) {
        let contacts = std::mem::take(&mut self.work.contacts);
        for contact in &contacts {
            let impulse = (contact.push * contact.n + contact.drag) / dt;
            self.give(contact.pair.vertices, contact.weights, impulse, contact.obstacle);
            self.keep_bounce(contact, contact.drift, dt);
        }
        self.work.contacts = contacts;
        let crossings = std::mem::take(&mut self.work.crossings);
        for crossing in &crossings {
            self.give(crossing.vertices, crossing.weights, crossing.push / dt * crossing.n, crossing.obstacle);
        }
        self.work.crossings = crossings;
        for (impulse, turned) in self.work.impulses.iter_mut().zip(&self.work.turned) {
            *impulse += turned / dt;
        }
    }
}
