//! Impulses of two bodies where cloth cannot give way: what stops an obstacle at kinematic
//! vertices.
//!
//! Cloth makes room for an obstacle by moving its free vertices. Where a contact has none, or next
//! to none beside a pin, the obstacle has to give way instead, by its own mobility. Its path over a
//! step is prescribed, so that is asked of its next step, before it gets there: with x the places
//! at the end of this step, h the length of the next one and n the normal where they would touch,
//! each such contact asks of the relative velocity v of its features
//!
//!   n·v >= -r/h - φ e,   r = n·Σ c x - thickness,   e = max(0, -r/h - n·(v₀ + h a)),
//!
//! where v₀ and a are velocities now and accelerations by all else. φ is the part of the way that
//! the cloth makes by itself (`makes_way` in `respond.rs`): 0 at kinematic cloth, growing
//! continuously to 1 a quarter of a cell beside a pin. With restitution n·v is at least that part
//! of the approach besides. Impulses j >= 0 along n, with Coulomb friction, solve all contacts
//! together by projected Gauss-Seidel. Their mobilities W are of the bodies that carry obstacles
//! and kinematic vertices (`bodies.rs`): a contact alone gets j = e/(n·W n). Supports of the
//! kinematic vertices take the opposite.
//!
//! The part of j that holds against accelerations acts as a force over the next step, so that what
//! rests stays at rest; all else is an impulse at its start.
//!
//! A body that tips or turns under these impulses may reach the cloth elsewhere. Its path with them
//! is inspected again, and contacts that it still violates at the end of the next step join the
//! system: an active-set iteration of at most `ROUNDS` passes, each from the impulses of the last.
//! Finally impulses are scaled so that they add no energy, except where they drive apart what is
//! too close (`keep_passive`). Newton's law of restitution may add some where bodies turn, with
//! friction or several contacts (T. R. Kane, D. A. Levinson: Dynamics: Theory and Applications,
//! 1985): there it is reduced (`reduce_restitution`).

use nalgebra::Vector3;

use crate::{
    ContactError, Contacts, Reaction, State,
    anchored::{Anchored, MISSED},
    backed::Backing,
    bodies::{Bodies, Changes},
    carriers::{Ahead, Carriers},
    pressed::Load,
};

type V3 = Vector3<f64>;

/// Sweeps over the contacts, and the change of impulses relative to the largest at which they end
/// [-].
const SWEEPS: usize = 200;
const SETTLED: f64 = 1e-9;

/// Change in the last sweep, relative to the largest impulse, above which contacts may contradict each
/// other [-]. They do not if it is less than half of that in the middle of all sweeps: impulses that
/// contradict grow by as much in every sweep.
const AGREED: f64 = 1e-3;

/// Times that contacts which impulses led bodies to are added.
const ROUNDS: usize = 4;

/// Impulses that stop obstacles. Forces are given as impulses over the next step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stops {
    /// On carriers, spread over the next step.
    pub forces: Vec<Reaction>,
    /// On carriers, at the start of the next step.
    pub impacts: Vec<Reaction>,
    /// Impulses on kinematic vertices, which their supports take.
    pub supports: Vec<Supported>,
    /// Obstacles whose impulses other bodies take: what backs the cloth, or carries its supports.
    pub passed_on: Vec<u32>,
}

/// An impulse on a kinematic vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Supported {
    /// Number of the vertex.
    pub vertex: u32,
    /// Point of action on the cloth `[m]`.
    pub place: V3,
    /// Spread over the next step `[N s]`.
    pub force: V3,
    /// At its start `[N s]`.
    pub impact: V3,
}

impl Contacts {
    /// Impulses that stop obstacles in the next step where kinematic cloth, or what cloth lies on,
    /// has no room for them. The state takes the loads with which obstacles press cloth between
    /// them, for its friction in the next step. It takes over the memory of the last step, so read
    /// what that gave before.
    ///
    /// # Errors
    /// As [`Contacts::resolve`], but for what touches. The state is then without loads.
    pub fn stops(&mut self, state: &mut State, ahead: &Ahead<'_>) -> Result<Stops, ContactError> {
        state.forget_loads();
        let Some(anchors) = self.find_anchors(ahead) else { return Ok(Stops::default()) };
        let mut bodies = Bodies::new(ahead);
        let mut contacts = self.find_anchored(state, ahead, &anchors, &bodies, None)?;
        let of_pair = |contact: &Anchored| {
            let backed = contact.pair.vertices.into_iter().zip(contact.backed).filter(|(_, backing)| backing.is_some());
            backed.map(|(vertex, _)| [vertex, contact.obstacle]).collect::<Vec<_>>()
        };
        state.borne.extend(contacts.iter().flat_map(of_pair));
        state.borne.sort_unstable();
        state.borne.dedup();
        if contacts.is_empty() {
            return Ok(Stops::default());
        }
        let (mut changes, mut are_settled) = solve(&mut contacts, &mut bodies);
        let within = MISSED * self.parameters.thickness;
        for _ in 0..ROUNDS {
            let mut missed = self.find_anchored(state, ahead, &anchors, &bodies, Some(&changes))?;
            missed.retain(|new| !contacts.iter().any(|known| known.is_at(new, within)));
            if missed.is_empty() {
                break;
            }
            contacts.extend(missed);
            (changes, are_settled) = solve(&mut contacts, &mut bodies);
        }
        for (group, is_settled) in contacts.chunk_by_mut(|a, b| a.group == b.group).zip(are_settled) {
            if !reduce_restitution(group, &bodies, &mut changes) {
                keep_passive(group, is_settled, &bodies, &mut changes);
            }
        }
        let (stops, loads) = self.told(&contacts, ahead);
        state.pressed = self.pressed(loads, ahead);
        Ok(stops)
    }

    /// Impulses of contacts on carriers and supports, and loads on what is between two obstacles.
    fn told(&self, contacts: &[Anchored], ahead: &Ahead<'_>) -> (Stops, Vec<Load>) {
        let cloth = self.features.vertices();
        let (mut stops, mut loads) = (Stops::default(), vec![]);
        let acts = |contact: &&Anchored| contact.push > 0.0 || contact.backed.iter().any(Option::is_some);
        for contact in contacts.iter().filter(acts) {
            let whole = contact.impulse();
            let (force, impact) = (contact.share * whole, (1.0 - contact.share) * whole);
            self.add_to_carriers(contact, force, &mut stops.forces, ahead);
            self.add_to_carriers(contact, impact, &mut stops.impacts, ahead);
            let place: V3 = contact.pair.parts(contact.weights, cloth).map(|(k, c)| c.abs() * ahead.positions[k]).sum();
            for (k, c) in contact.held(cloth, ahead) {
                let (vertex, force, impact) = (contact.pair.vertices[k], c * force, c * impact);
                let Some(Backing { obstacle, .. }) = contact.backed[k] else {
                    if ahead.supports.binary_search_by_key(&vertex, |support| support.vertex).is_ok() {
                        stops.passed_on.push(contact.obstacle);
                    }
                    stops.supports.push(Supported { vertex, place, force, impact });
                    continue;
                };
                let obstacles = [contact.obstacle, obstacle];
                stops.passed_on.extend(obstacles);
                loads.push(Load { vertex, obstacles, normal: contact.n, force: c.abs() * contact.push / ahead.dt });
                let Carriers::Frame(frame) = &ahead.carriers[obstacle as usize] else { continue };
                let arm = place - frame.pose.translation.vector;
                for (linear, out) in [(force, &mut stops.forces), (impact, &mut stops.impacts)] {
                    out.push(Reaction { obstacle, carrier: 0, linear, angular: arm.cross(&linear) });
                }
            }
        }
        (stops, loads)
    }

    /// Adds an impulse on the first feature of a contact to those on its obstacle's carriers.
    fn add_to_carriers(&self, contact: &Anchored, impulse: V3, out: &mut Vec<Reaction>, ahead: &Ahead<'_>) {
        let obstacle = contact.obstacle;
        if impulse == V3::zeros() {
            return;
        }
        if let Carriers::Frame(_) = ahead.carriers[obstacle as usize] {
            let linear = contact.sign * impulse;
            out.push(Reaction { obstacle, carrier: 0, linear, angular: contact.arm.cross(&linear) });
            return;
        }
        let first = self.work.first[obstacle as usize];
        for (&k, &c) in contact.pair.vertices.iter().zip(&contact.weights).filter(|(k, c)| **k >= first && **c != 0.0) {
            out.push(Reaction { obstacle, carrier: k - first, linear: c * impulse, angular: V3::zeros() });
        }
    }
}

/// Solves all contacts from the impulses that they have, in order of groups that share no body.
/// Returns what they change, and of each group whether its impulses have come to an end.
fn solve(contacts: &mut [Anchored], bodies: &mut Bodies) -> (Changes, Vec<bool>) {
    bodies.group(contacts);
    bodies.share(contacts);
    let mut changes = bodies.unchanged();
    set_changes(contacts, Anchored::impulse, bodies, &mut changes);
    let groups = contacts.chunk_by_mut(|a, b| a.group == b.group);
    let are_settled = groups.map(|group| solve_group(group, bodies, &mut changes)).collect();
    (changes, are_settled)
}

/// Projected Gauss-Seidel on contacts that share bodies. Whether impulses have come to an end.
fn solve_group(contacts: &mut [Anchored], bodies: &Bodies, changes: &mut Changes) -> bool {
    let along_and_trace = |contact: &Anchored| {
        let mobility = bodies.mobility(&contact.parts);
        (contact.n.dot(&(mobility * contact.n)), mobility.trace())
    };
    let mobilities: Vec<(f64, f64)> = contacts.iter().map(along_and_trace).collect();
    let (mut is_settled, mut in_the_middle) = (false, 0.0);
    for sweep in 0..SWEEPS {
        let (mut largest, mut most) = (0.0_f64, 0.0_f64);
        for (contact, &(along, trace)) in contacts.iter_mut().zip(&mobilities) {
            let n = contact.n;
            let before = contact.impulse();
            let v = contact.free + changes.relative(&contact.parts);
            contact.push = (contact.push + (contact.target - n.dot(&v)) / along).max(0.0);
            if contact.friction > 0.0 {
                let across = v - n.dot(&v) * n;
                // At least as large as the mobility along any direction across.
                let answer = (trace - along).max(along);
                contact.drag = (contact.drag - across / answer).cap_magnitude(contact.friction * contact.push);
            }
            let now = contact.impulse();
            bodies.apply(&contact.parts, &(now - before), changes);
            largest = largest.max(now.norm());
            most = most.max((now - before).norm());
        }
        if sweep == SWEEPS / 2 {
            in_the_middle = most;
        }
        is_settled = most <= AGREED * largest || most < 0.5 * in_the_middle;
        if most <= SETTLED * largest {
            break;
        }
    }
    is_settled
}

/// Sets changes to those by impulses on the contacts.
fn set_changes(contacts: &[Anchored], impulse: impl Fn(&Anchored) -> V3, bodies: &Bodies, changes: &mut Changes) {
    changes.clear(contacts);
    contacts.iter().for_each(|contact| bodies.apply(&contact.parts, &impulse(contact), changes));
}

/// Scales impulses of contacts that share bodies so that they add no energy but what drives
/// features apart that are too close. Those of contacts that contradict each other, as around a
/// body that cloth runs through, add none: they grow from sweep to sweep. Where impulses at the
/// start of the step would add energy that forces take again in it, more of them act as forces.
fn keep_passive(contacts: &mut [Anchored], is_settled: bool, bodies: &Bodies, changes: &mut Changes) {
    let driving = |contact: &Anchored| 0.5 * contact.push * contact.parting;
    let allowed: f64 = if is_settled { contacts.iter().map(driving).sum() } else { 0.0 };
    let [linear, square] = work_of(contacts, |contact| (contact.impulse(), contact.free), bodies, changes);
    // False for works that overflow, which say nothing of any contact of the group.
    let is_passive = linear + square <= allowed;
    let scale = if is_passive { 1.0 } else { (allowed - linear) / square };
    if scale > 0.0 && scale.is_finite() {
        for contact in contacts.iter_mut() {
            contact.push *= scale;
            contact.drag *= scale;
        }
    } else {
        contacts.iter_mut().for_each(|contact| (contact.push, contact.drag) = (0.0, V3::zeros()));
    }
    let at_start = |contact: &Anchored| ((1.0 - contact.share) * contact.impulse(), contact.free - contact.gained);
    let [linear, square] = work_of(contacts, at_start, bodies, changes);
    let of_start = |contact: &Anchored| (1.0 - contact.share) * driving(contact);
    let allowed = if is_settled { contacts.iter().map(of_start).sum() } else { 0.0 };
    if linear + square > allowed {
        // The allowed work scales with them. None where works overflow.
        let part = (allowed - linear) / square;
        let part = if part >= 0.0 { part.min(1.0) } else { 0.0 };
        contacts.iter_mut().for_each(|contact| contact.share = 1.0 - part * (1.0 - contact.share));
    }
}

/// Reduces what restitution adds to the impulses, if their work over the step is positive, until it
/// is 0 or that of the impulses without restitution. Returns whether it was.
///
/// Impulses p at the start of the step and forces of impulse f over it, j = p + f, do the work
/// j·v₀ + f·h a/2 + j·W j/2. It is quadratic in the part that acts of what restitution adds.
fn reduce_restitution(contacts: &mut [Anchored], bodies: &Bodies, changes: &mut Changes) -> bool {
    let in_step = |contact: &Anchored| contact.free - (1.0 - 0.5 * contact.share) * contact.gained;
    let work = |contacts: &[Anchored], changes: &mut Changes| -> f64 {
        work_of(contacts, |contact| (contact.impulse(), in_step(contact)), bodies, changes).iter().sum()
    };
    let is_thrown_back = |contact: &Anchored| contact.target != contact.inelastic_target;
    // Works that overflow are left to `keep_passive`.
    let is_active = |work: f64| work > 0.0 && work.is_finite();
    if !contacts.iter().any(is_thrown_back) || !is_active(work(contacts, changes)) {
        return false;
    }
    let thrown: Vec<(f64, V3)> = contacts.iter().map(|contact| (contact.push, contact.drag)).collect();
    contacts.iter_mut().for_each(|contact| contact.target = contact.inelastic_target);
    set_changes(contacts, Anchored::impulse, bodies, changes);
    let is_settled = solve_group(contacts, bodies, changes);
    keep_passive(contacts, is_settled, bodies, changes);

    let stopping: Vec<(f64, V3)> = contacts.iter().map(|contact| (contact.push, contact.drag)).collect();
    let mut work_with = |part: f64| {
        for (contact, ((push, drag), (more, further))) in contacts.iter_mut().zip(stopping.iter().zip(&thrown)) {
            (contact.push, contact.drag) = (push + part * (more - push), drag.lerp(further, part));
        }
        work(contacts, changes)
    };
    let [before, half, after] = [0.0, 0.5, 1.0].map(&mut work_with);
    let square = 2.0 * (before + after - 2.0 * half);
    let linear = after - before - square;
    let part = ((linear * linear + 4.0 * square * (-before).max(0.0)).sqrt() - linear) / (2.0 * square);
    // Not a number where nothing is thrown back.
    work_with(if part >= 0.0 { part.min(1.0) } else { 0.0 });
    true
}

/// Work of impulses on the contacts, given with the velocities that they find: by these, and by
/// what they change of them `[J]`.
fn work_of(
    contacts: &[Anchored],
    of: impl Fn(&Anchored) -> (V3, V3),
    bodies: &Bodies,
    changes: &mut Changes,
) -> [f64; 2] {
    set_changes(contacts, |contact| of(contact).0, bodies, changes);
    contacts.iter().fold([0.0; 2], |[linear, square], contact| {
        let (j, v) = of(contact);
        [linear + j.dot(&v), square + 0.5 * j.dot(&changes.relative(&contact.parts))]
    })
}
