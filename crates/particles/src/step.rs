//! One step from top to bottom, and its stages.

use nalgebra::Vector3;
use partita_simulator::{Guide, Inputs, Note, Reaction, SimulatorError, StageClock, StepReport, Wrench, check};
use rayon::prelude::*;

use crate::{
    Particles,
    collide::{CONTACTS, Encounters, Surroundings, Traveller},
    emitter::{Newborn, SERIALS, emitter_of},
    fly::{Flight, Leg},
    response::Place,
    triangles::Triangles,
};

/// Particles of one piece of parallel work. Sums are made within pieces, then over them in order, so
/// that no number of threads changes a bit.
const PIECE: usize = 1024;

/// Fewer particles than this are not worth a second thread.
const PARALLEL: usize = 4 * PIECE;

/// Memory that a step works in. Nothing in it outlives a step but as a cache.
#[derive(Default)]
pub(crate) struct Work {
    pub triangles: Triangles,
    positions: Vec<Vector3<f64>>,
    velocities: Vec<Vector3<f64>>,
    newborn: Vec<Newborn>,
    emitted: Vec<u64>,
    /// Force on each placed particle `[N]`; empty without loads.
    loads: Vec<Vector3<f64>>,
    /// Velocity of each placed particle at the start of the step, with the impulses that act then `[m/s]`; as long as loads.
    starts: Vec<Vector3<f64>>,
    /// Which placed particles end the step on a carrier; empty where none does.
    attached: Vec<bool>,
    pieces: Vec<Piece>,
    /// Impulses on all carriers of all guides, those of guide i from `first_carrier[i]` on.
    impulses: Vec<Wrench>,
    first_carrier: Vec<usize>,
}

#[derive(Default)]
struct Piece {
    /// Momentum that came from neither loads nor contacts, and angular momentum likewise.
    external: [Vector3<f64>; 2],
    /// Sum of all squares of positions and velocities: finite only if everything is.
    size: f64,
    encounters: Encounters,
}

impl Work {
    pub fn new(guides: &[Guide]) -> Self {
        let mut first = 0;
        let first_carrier = guides.iter().map(|guide| {
            first += guide.carriers();
            first - guide.carriers()
        });
        Self { triangles: Triangles::new(guides), first_carrier: first_carrier.collect(), ..Self::default() }
    }
}

impl Particles {
    pub(crate) fn take_step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        self.parameters.check()?;
        check(&self.table, &self.guides, dt, inputs)?;
        let mut report = StepReport::new(self.state.time + dt);
        let mut clock = StageClock::start();
        self.give_birth(dt)?;
        clock.lap("give birth");
        self.gather_loads(inputs);
        self.fly(dt);
        clock.lap("fly");
        self.work.triangles.sweep(&self.guides, &inputs.motions, self.parameters.radius)?;
        clock.lap("sweep triangles");
        self.collide(dt, inputs);
        self.collect_impulses(inputs, &mut report);
        clock.lap("collide");
        self.attach(inputs);
        clock.lap("attach");
        let external = self.external();
        self.check_finite(&external)?;

        // From here on nothing can fail.
        self.commit(external, report.time);
        self.retire();
        self.collect_reactions(&mut report);
        clock.lap("finish");
        report.stages = clock.stages;
        Ok(report)
    }

    /// Particles whose time of birth lies in the step, and room for everyone's next state.
    fn give_birth(&mut self, dt: f64) -> Result<(), SimulatorError> {
        let (state, work) = (&self.state, &mut self.work);
        let end = state.time + dt;
        work.newborn.clear();
        work.emitted.clear();
        work.emitted.extend_from_slice(&state.emitted);
        work.emitted.resize(self.parameters.emitters.len(), 0);
        let room = self.parameters.max_particles.saturating_sub(state.ids.len() as u64);
        for (number, (emitter, emitted)) in self.parameters.emitters.iter().zip(&mut work.emitted).enumerate() {
            let born = emitter.born_by(end).max(*emitted);
            // Whoever is gone by the end of the step is counted, but does not fly.
            let gone = emitter.lifetime.map_or(0, |lifetime| emitter.born_by(end - lifetime));
            let alive = (*emitted).max(gone)..born;
            let many = alive.end.saturating_sub(alive.start);
            let crowd = many.saturating_add(work.newborn.len() as u64);
            if crowd > room || born > SERIALS {
                let found = format!("{many} at once, {born} in all");
                let expected = format!("at most {} particles (max_particles)", self.parameters.max_particles);
                return Err(SimulatorError::failed(format!("emitter {number}"), found, expected));
            }
            work.newborn.extend(alive.map(|serial| emitter.newborn(number, serial)));
            *emitted = born;
        }
        let n = state.ids.len() + work.newborn.len();
        work.positions.resize(n, Vector3::zeros());
        work.velocities.resize(n, Vector3::zeros());
        work.pieces.resize_with(n.div_ceil(PIECE), Piece::default);
        Ok(())
    }

    fn gather_loads(&mut self, inputs: &Inputs) {
        let (placed, mass) = (self.table.len() as usize, self.parameters.mass);
        let Work { loads, starts, .. } = &mut self.work;
        loads.clear();
        starts.clear();
        if !inputs.loads.is_empty() || !inputs.impulses.is_empty() {
            loads.resize(placed, Vector3::zeros());
            starts.extend_from_slice(&self.state.velocities[..placed]);
        }
        for (handle, wrench) in &inputs.loads {
            loads[handle.index as usize] += Vector3::from(wrench.linear);
        }
        for (handle, impulse) in &inputs.impulses {
            starts[handle.index as usize] += Vector3::from(impulse.linear) / mass;
        }
    }

    /// Everyone's flight without obstacles, and the momentum that came of it.
    fn fly(&mut self, dt: f64) {
        let (state, mass) = (&self.state, self.parameters.mass);
        let Work { positions, velocities, newborn, loads, starts, pieces, .. } = &mut self.work;
        let flight = Flight::new(&self.parameters, &self.fields);
        let (decay, old, end) = (flight.decay(dt), state.ids.len(), state.time + dt);
        let (newborn, loads, starts) = (&*newborn, &*loads, &*starts);

        for_pieces(positions, velocities, pieces, |first, positions, velocities, piece| {
            let ([mut linear, mut angular], mut size) = ([Vector3::zeros(); 2], 0.0);
            // All gains but those by loads, whose impulses act where the particles were: v₁ − v and
            // x₁ × v₁ − x × v with x₁ = x + shift.
            let mut book = |x: Vector3<f64>, v: Vector3<f64>, leg: &Leg, by_load: Vector3<f64>| {
                let gain = leg.velocity - v - by_load;
                linear += gain;
                angular += x.cross(&gain) + leg.shift.cross(&leg.velocity);
                size += (x + leg.shift).norm_squared() + leg.velocity.norm_squared();
            };
            let here = first..(first + positions.len()).min(old).max(first);
            let unloaded = loads.len().clamp(here.start, here.end);
            for i in here.start..unloaded {
                let (x, v, load) = (state.positions[i], starts[i], loads[i] / mass);
                let leg = flight.leg(x, v, state.time, dt, load);
                book(x, v, &leg, dt * load);
                (positions[i - first], velocities[i - first]) = (x + leg.shift, leg.velocity);
            }
            for i in unloaded..here.end {
                let (x, v) = (state.positions[i], state.velocities[i]);
                let leg = match flight.uniform {
                    true => flight.uniform_leg(&decay, v, Vector3::zeros()),
                    false => flight.leg(x, v, state.time, dt, Vector3::zeros()),
                };
                book(x, v, &leg, Vector3::zeros());
                (positions[i - first], velocities[i - first]) = (x + leg.shift, leg.velocity);
            }
            for i in here.end..first + positions.len() {
                let Newborn { birth, position: x, velocity: v, .. } = newborn[i - old];
                let leg = flight.leg(x, v, birth, remainder(end, birth, dt), Vector3::zeros());
                book(x, v, &leg, Vector3::zeros());
                (positions[i - first], velocities[i - first]) = (x + leg.shift, leg.velocity);
            }
            piece.external = [mass * linear, mass * angular];
            piece.size = size;
            piece.encounters.impacts.clear();
            (piece.encounters.most, piece.encounters.riding) = (0, 0);
        });
    }

    /// Another way for those whose flight meets triangles ([`Surroundings::travel`]).
    fn collide(&mut self, dt: f64, inputs: &Inputs) {
        let attached = &mut self.work.attached;
        attached.clear();
        for (guide, motion) in self.guides.iter().zip(&inputs.motions) {
            if let (Guide::Attachment { own }, Some(_)) = (guide, motion) {
                attached.resize(self.table.len() as usize, false);
                attached[own.index as usize] = true;
            }
        }
        if self.work.triangles.is_empty() {
            return;
        }
        let (state, mass, placed) = (&self.state, self.parameters.mass, self.table.len() as usize);
        let Work { triangles, positions, velocities, newborn, loads, starts, attached, pieces, .. } = &mut self.work;
        let (newborn, loads, starts, attached, old) = (&*newborn, &*loads, &*starts, &*attached, state.ids.len());
        let flight = Flight::new(&self.parameters, &self.fields);
        let surroundings = Surroundings {
            parameters: &self.parameters,
            flight: &flight,
            triangles,
            motions: &inputs.motions,
            dt,
            time: state.time,
        };

        for_pieces(positions, velocities, pieces, |first, positions, velocities, piece| {
            for k in 0..positions.len() {
                let i = first + k;
                if attached.get(i) == Some(&true) {
                    continue;
                }
                let (x, v, fraction) = if i < old {
                    (state.positions[i], *starts.get(i).unwrap_or(&state.velocities[i]), 0.0)
                } else {
                    let born = &newborn[i - old];
                    let rest = remainder(state.time + dt, born.birth, dt);
                    (born.position, born.velocity, 1.0 - rest / dt)
                };
                let load = loads.get(i).map_or(Vector3::zeros(), |load| load / mass);
                let handle = (i < placed).then_some(i as u32);
                let seen = piece.encounters.impacts.len();
                let traveller = Traveller { x, v, fraction, load, handle, free_end: positions[k] };
                let Some((x1, v1)) = surroundings.travel(traveller, &mut piece.encounters) else { continue };

                // What differs from free flight beyond the contacts' own impulses is external too.
                let mut linear = v1 - velocities[k];
                let mut angular = x1.cross(&v1) - positions[k].cross(&velocities[k]);
                for impact in &piece.encounters.impacts[seen..] {
                    linear -= impact.change;
                    angular -= impact.position.cross(&impact.change);
                }
                piece.external[0] += mass * linear;
                piece.external[1] += mass * angular;
                piece.size += x1.norm_squared() + v1.norm_squared();
                (positions[k], velocities[k]) = (x1, v1);
            }
        });
    }

    /// Sums the impacts by carrier, in the order of the particles: −m Δv on what was hit, for a Frame with
    /// its torque (p − c) × (−m Δv) (\[PD97, §4.2\]), c where the Frame was then.
    fn collect_impulses(&mut self, inputs: &Inputs, report: &mut StepReport) {
        let Work { triangles, pieces, impulses, first_carrier, .. } = &mut self.work;
        impulses.clear();
        impulses.resize(self.guides.iter().map(Guide::carriers).sum(), Wrench::ZERO);
        let mut riding = 0;
        for encounters in pieces.iter().map(|piece| &piece.encounters) {
            report.iterations = report.iterations.max(encounters.most);
            riding += encounters.riding;
            for impact in &encounters.impacts {
                let obstacle = &triangles.obstacles[triangles.obstacle_of(impact.place.number()) as usize];
                let first = first_carrier[obstacle.guide];
                let impulse = -self.parameters.mass * impact.change;
                if obstacle.rigid {
                    let Some(motion) = &inputs.motions[obstacle.guide] else { continue };
                    let [begin, end] = [&motion.begin, &motion.end].map(|states| Vector3::from(states[0].position));
                    let lever = impact.position - begin.lerp(&end, impact.fraction);
                    impulses[first] += Wrench { linear: impulse.into(), angular: lever.cross(&impulse).into() };
                } else if let Place::Triangle { triangle, weights } = impact.place {
                    let swept = &triangles.swept[triangle as usize];
                    for (vertex, weight) in swept.vertices.iter().zip(weights) {
                        impulses[first + *vertex as usize] += Wrench::force(weight * impulse);
                    }
                }
            }
        }
        if riding > 0 {
            report.outcome.note(f64::from(riding), 0.0, "particles with more contacts than a step follows");
            report.note(Note::new(format!(
                "particles that met obstacles {CONTACTS} times in one step were carried along by one of these for the rest \
                 of it, instead of being followed further; a higher rate makes this rarer"
            )));
        }
    }

    /// Attached particles end where and as fast as their carriers; the reaction is what that took.
    fn attach(&mut self, inputs: &Inputs) {
        let mass = self.parameters.mass;
        let Work { positions, velocities, pieces, impulses, first_carrier, .. } = &mut self.work;
        for (number, (guide, motion)) in self.guides.iter().zip(&inputs.motions).enumerate() {
            let (Guide::Attachment { own }, Some(motion)) = (guide, motion) else { continue };
            let i = own.index as usize;
            let (x, v) = (Vector3::from(motion.end[0].position), Vector3::from(motion.end[0].velocity));
            let (free_x, free_v) = (positions[i], velocities[i]);
            impulses[first_carrier[number]] = Wrench::force(-mass * (v - free_v));
            // The impulse acts where the particle ends; that it is moved there is external.
            pieces[i / PIECE].external[1] += mass * (x - free_x).cross(&free_v);
            pieces[i / PIECE].size += x.norm_squared() + v.norm_squared();
            (positions[i], velocities[i]) = (x, v);
        }
    }

    /// Momentum and angular momentum that came from outside, other than through loads and guides.
    fn external(&self) -> [Vector3<f64>; 2] {
        let mut sum = [Vector3::zeros(); 2];
        for piece in &self.work.pieces {
            sum[0] += piece.external[0];
            sum[1] += piece.external[1];
        }
        for born in &self.work.newborn {
            sum[0] += self.parameters.mass * born.velocity;
            sum[1] += self.parameters.mass * born.position.cross(&born.velocity);
        }
        sum
    }

    /// Refuses a next state with numbers that are not finite or whose squares are not.
    fn check_finite(&self, external: &[Vector3<f64>; 2]) -> Result<(), SimulatorError> {
        let Work { positions, velocities, newborn, pieces, .. } = &self.work;
        let size: f64 = pieces.iter().map(|piece| piece.size).sum();
        if size.is_finite() && external.iter().flat_map(|v| v.iter()).all(|x| x.is_finite()) {
            return Ok(());
        }
        let squares = |i: usize| positions[i].norm_squared() + velocities[i].norm_squared();
        let Some(i) = (0..positions.len()).find(|&i| !squares(i).is_finite()) else {
            return Err(SimulatorError::failed("the sum of all momenta", format!("{external:?}"), "finite numbers"));
        };
        let id = self.state.ids.get(i).copied().unwrap_or_else(|| newborn[i - self.state.ids.len()].id);
        let found = format!("position {:?}, velocity {:?}", positions[i].as_slice(), velocities[i].as_slice());
        Err(SimulatorError::failed(format!("particle {id}"), found, "numbers with finite squares"))
    }

    /// Makes the next state the state.
    fn commit(&mut self, [linear, angular]: [Vector3<f64>; 2], time: f64) {
        let (state, work) = (&mut self.state, &mut self.work);
        std::mem::swap(&mut state.positions, &mut work.positions);
        std::mem::swap(&mut state.velocities, &mut work.velocities);
        state.emitted.clone_from(&work.emitted);
        for born in &work.newborn {
            state.ids.push(born.id);
            state.births.push(born.birth);
            state.next_end = state.next_end.min(end_of(&self.parameters.emitters, born.id, born.birth));
        }
        state.external += Wrench { linear: linear.into(), angular: angular.into() };
        state.time = time;
    }

    /// Removes the particles whose life is over; the others keep their order.
    fn retire(&mut self) {
        let state = &mut self.state;
        if state.time < state.next_end {
            return;
        }
        let emitters = &self.parameters.emitters;
        let (mut kept, mut next_end) = (0, f64::INFINITY);
        let [mut linear, mut angular] = [Vector3::zeros(); 2];
        for i in 0..state.ids.len() {
            let end = end_of(emitters, state.ids[i], state.births[i]);
            if end <= state.time {
                linear += self.parameters.mass * state.velocities[i];
                angular += self.parameters.mass * state.positions[i].cross(&state.velocities[i]);
                continue;
            }
            next_end = next_end.min(end);
            state.positions[kept] = state.positions[i];
            state.velocities[kept] = state.velocities[i];
            state.ids[kept] = state.ids[i];
            state.births[kept] = state.births[i];
            kept += 1;
        }
        state.positions.truncate(kept);
        state.velocities.truncate(kept);
        state.ids.truncate(kept);
        state.births.truncate(kept);
        state.next_end = next_end;
        state.external += -Wrench { linear: linear.into(), angular: angular.into() };
    }

    fn collect_reactions(&self, report: &mut StepReport) {
        for (guide, first) in self.work.first_carrier.iter().enumerate() {
            for carrier in 0..self.guides[guide].carriers() {
                let impulse = self.work.impulses[first + carrier];
                if impulse != Wrench::ZERO {
                    report.reactions.push(Reaction { guide: guide as u32, carrier: carrier as u32, impulse });
                }
            }
        }
    }
}

/// When a particle's life is over `[s]`.
fn end_of(emitters: &[crate::Emitter], id: u64, birth: f64) -> f64 {
    let lifetime = emitter_of(id).and_then(|emitter| emitters.get(emitter)?.lifetime);
    lifetime.map_or(f64::INFINITY, |lifetime| birth + lifetime)
}

/// What is left of the step from a birth on `[s]`.
fn remainder(end: f64, birth: f64, dt: f64) -> f64 {
    (end - birth).clamp(0.0, dt)
}

/// Calls `work` for each piece with the number of its first particle: on all threads of rayon's pool
/// where there are many, with the same pieces and so the same bits on one.
fn for_pieces(
    positions: &mut [Vector3<f64>],
    velocities: &mut [Vector3<f64>],
    pieces: &mut [Piece],
    work: impl Fn(usize, &mut [Vector3<f64>], &mut [Vector3<f64>], &mut Piece) + Sync,
) {
    if positions.len() >= PARALLEL && rayon::current_num_threads() > 1 {
        let states = positions.par_chunks_mut(PIECE).zip(velocities.par_chunks_mut(PIECE));
        states.zip(pieces).enumerate().for_each(|(k, ((x, v), piece))| work(k * PIECE, x, v, piece));
    } else {
        let states = positions.chunks_mut(PIECE).zip(velocities.chunks_mut(PIECE));
        states.zip(pieces).enumerate().for_each(|(k, ((x, v), piece))| work(k * PIECE, x, v, piece));
    }
}
