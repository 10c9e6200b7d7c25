//! One step from top to bottom, and its stages.

use std::time::Instant;

use nalgebra::Vector3;
use partita_cloth::{Held, Obstacles, not_apart, note_contact};
use partita_contact::Contacts;
use partita_simulator::{HandleState, Inputs, Motion, Outcome, Reaction, SimulatorError, StepReport, Wrench, check};

use crate::{
    AviCloth, Counts, Integrator, Limit,
    flight::{Flights, Way},
    limits::{Held as HeldBack, Tension},
    meet::{Given, Meetings},
    queue::{Event, Queue},
    state::{Node, State},
};

type V3 = Vector3<f64>;

/// Most times the shortest span that a step may be long: what is asked for by mistake is not to take hours.
const LONGEST: f64 = 1e6;

/// How near to the end of a step an event may come and be at it, of its span: so many spans are a step though rounding adds up.
const AT_END: f64 = 1e-9;

/// Memory that a step works in. Nothing in it outlives a step but what the configuration gives, and what is told of the last step.
#[derive(Default)]
pub(crate) struct Work {
    pub next: State,
    pub queue: Queue,
    pub tension: Tension,
    /// Of vertices: loads `[N]`, what these and gravity make `[m/s²]`, and 0 for what is held `[1/kg]`.
    pub loads: Vec<V3>,
    pub accelerations: Vec<V3>,
    pub inverse_masses: Vec<f64>,
    pub held: Vec<Held>,
    pub ways: Vec<Way>,
    /// Where vertices are at the begin and would be at the end of an interval `[m]`; velocities before forces acted `[m/s]`.
    pub begin: Vec<V3>,
    pub end: Vec<V3>,
    pub before: Vec<V3>,
    /// None where nothing can be met; also where that has changed.
    pub contacts: Option<Contacts>,
    pub obstacles: Obstacles,
    pub meetings: Meetings,
    pub given: Vec<Given>,
    pub reactions: Vec<Reaction>,
    /// Of the last step.
    pub counts: Counts,
    pub events: Vec<(f64, u32)>,
}

impl AviCloth {
    pub(crate) fn take_step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        self.parameters.check()?;
        check(&self.table, &self.guides, dt, inputs)?;
        let longest = LONGEST * self.elements.shortest();
        if dt > longest {
            return Err(SimulatorError::refused(
                "dt [s]",
                dt,
                format!("at most {longest}, {LONGEST:e} of the shortest spans"),
            ));
        }
        self.prepare_contacts()?;
        let begin = self.state.time;
        let mut report = StepReport::new(begin + dt);
        self.work.next.clone_from(&self.state);
        self.work.reactions.clear();
        self.work.counts = Counts::default();
        self.work.events.clear();
        self.hold(begin, dt, inputs)?;

        let parts = match self.work.contacts {
            Some(_) => (dt / self.parameters.contact_interval).ceil().max(1.0) as u32,
            None => 1,
        };
        for part in 0..parts {
            let at = |k: u32| if k == parts { begin + dt } else { begin + dt * (f64::from(k) / f64::from(parts)) };
            let motions: Vec<Option<Motion>> = (self.guides.iter().zip(&inputs.motions))
                .map(|(guide, motion)| motion.as_ref().map(|motion| motion.part(guide, dt, parts, part)))
                .collect();
            let interval = [at(part), at(part + 1)];
            let start = Instant::now();
            self.find_pairs(interval, [begin, dt], &motions)?;
            let found = start.elapsed().as_secs_f64();
            let settled = self.advance(interval, [begin, dt]);
            let (solved, start) = (start.elapsed().as_secs_f64() - found - settled, Instant::now());
            self.keep_apart(interval, [begin, dt], &motions, &mut report)?;
            report.stages.add("solve", solved);
            report.stages.add("contact", found + settled + start.elapsed().as_secs_f64());
        }
        self.book(dt, inputs);
        self.work.next.time = report.time;
        self.check_finite()?;
        report.substeps = parts;
        report.iterations = u32::try_from(self.work.counts.events).unwrap_or(u32::MAX);
        report.add_up(&mut self.work.reactions);
        // From here on nothing can fail.
        std::mem::swap(&mut self.state, &mut self.work.next);
        self.note_strain(&mut report.outcome);
        Ok(report)
    }

    /// Who is held, and what acts on the rest. Whoever something new acts on comes to the begin of the step first.
    fn hold(&mut self, begin: f64, dt: f64, inputs: &Inputs) -> Result<(), SimulatorError> {
        let Self { work, sheet, holds, guides, parameters, .. } = self;
        let gravity = V3::from(parameters.gravity);
        let n = sheet.masses.len();
        work.loads.clear();
        work.loads.resize(n, V3::zeros());
        inputs.loads.iter().for_each(|(handle, load)| work.loads[handle.index as usize] += V3::from(load.linear));
        work.accelerations.clear();
        work.accelerations.resize(n, gravity);
        for (node, m) in work.next.nodes.iter_mut().zip(&sheet.masses) {
            node.w = 1.0 / m;
        }
        work.ways.clear();
        work.begin.clear();
        work.begin.extend(work.next.nodes.iter().map(|node| node.at(begin, gravity).0));
        holds.ask(begin + dt, guides, &inputs.motions, &work.begin, &mut work.held)?;
        let loaded = (0..n).filter(|&k| work.loads[k] != V3::zeros());
        let mut called: Vec<usize> = loaded.chain(work.held.iter().map(|held| held.vertex)).collect();
        let mut flights = Flights {
            nodes: &mut work.next.nodes,
            accelerations: &work.accelerations,
            masses: &sheet.masses,
            ways: &mut [],
            step: [begin, dt],
            moment: V3::zeros(),
        };
        called.drain(..).for_each(|k| flights.reach(k, begin));
        let torque = flights.moment.cross(&gravity);
        work.next.external += Wrench { linear: [0.0; 3], angular: torque.into() };
        for ((a, load), m) in work.accelerations.iter_mut().zip(&work.loads).zip(&sheet.masses) {
            *a += load / *m;
        }
        for held in &work.held {
            let node = &mut work.next.nodes[held.vertex];
            node.w = 0.0;
            let from = HandleState::point(node.x, node.v);
            let to = HandleState::point(held.position, held.velocity);
            work.ways.push(Way::new(held.vertex, [from, to], held.guide));
        }
        work.ways.sort_by_key(|way| way.vertex);
        work.inverse_masses.clear();
        work.inverse_masses.extend(work.next.nodes.iter().map(|node| node.w));
        Ok(())
    }

    /// The first stage of collisions: what may meet in an interval.
    fn find_pairs(
        &mut self,
        interval: [f64; 2],
        step: [f64; 2],
        motions: &[Option<Motion>],
    ) -> Result<(), SimulatorError> {
        let Work {
            contacts: Some(contacts),
            obstacles,
            begin,
            end,
            next,
            accelerations,
            ways,
            inverse_masses,
            meetings,
            counts,
            ..
        } = &mut self.work
        else {
            return Ok(());
        };
        obstacles.place(&self.guides, motions);
        fly_on(&next.nodes, accelerations, ways, interval[0], step, begin);
        fly_on(&next.nodes, accelerations, ways, interval[1], step, end);
        let dt = interval[1] - interval[0];
        meetings.clear();
        if self.parameters.integrator != Integrator::Asynchronous || dt == 0.0 {
            return Ok(());
        }
        let paths = obstacles.paths(motions);
        let given = partita_contact::Step { dt, begin, inverse_masses, paths: &paths };
        contacts.find_pairs(&next.contact, &given, end).map_err(not_apart)?;
        let triangles = self.elements.patches.len();
        let [found, culled] =
            meetings.find(contacts, &self.owners, triangles, [interval[0], dt], self.parameters.culling);
        counts.found += found;
        counts.culled += culled;
        Ok(())
    }

    /// All elements up to the end of an interval. Seconds that collisions took.
    fn advance(&mut self, interval: [f64; 2], step: [f64; 2]) -> f64 {
        match self.parameters.integrator {
            Integrator::Asynchronous => self.run_events(interval, step),
            Integrator::SymplecticEuler { step: longest } => self.take_even_steps(interval, step, longest, false),
            Integrator::ForwardEuler { step: longest } => self.take_even_steps(interval, step, longest, true),
        }
    }

    /// \[TPS08\] algorithm 1.
    fn run_events(&mut self, [begin, end]: [f64; 2], step: [f64; 2]) -> f64 {
        let Self { work, elements, sheet, parameters, shortest, records, .. } = self;
        let limit = parameters.limit.as_ref();
        let last = step[0] + step[1];
        let Work { next, queue, tension, accelerations, ways, contacts, meetings, given, counts, events, .. } = work;
        let State { nodes, clocks, strains, external, .. } = next;
        tension.start(elements, clocks, nodes.len());
        let mut flights = Flights { nodes, accelerations, masses: &sheet.masses, ways, step, moment: V3::zeros() };
        let mut settled = 0.0;
        let mut from = begin;
        while from < end {
            let until = queue.start(from, end, *shortest);
            for (element, clock) in (0..).zip(&*clocks) {
                queue.push(Event { time: clock.next, element });
            }
            while let Some(Event { time, element }) = queue.pop() {
                let number = element as usize;
                elements.act(number, time, clocks[number].span, strains.get_mut(number), &mut flights);
                let mut held = HeldBack { span: elements.spans[number], sides: 0 };
                if let Some(limit) = limit {
                    held = tension.hold_back(elements, number, time, limit, clocks, &mut flights);
                }
                if let Some(contacts) = contacts.as_ref()
                    && meetings.concern(number)
                {
                    let start = Instant::now();
                    meetings.settle(number, time, held.span, contacts, &mut flights, given);
                    settled += start.elapsed().as_secs_f64();
                }
                let mut due = time + held.span;
                if (due - last).abs() < AT_END * held.span {
                    due = last;
                }
                counts.events += 1;
                counts.limited += held.sides;
                counts.early += u64::from(held.span < elements.spans[number]);
                (clocks[number].next, clocks[number].span) = (due, held.span);
                queue.push(Event { time: due, element });
                if *records {
                    events.push((time, element));
                }
            }
            from = until;
        }
        *external += Wrench { linear: [0.0; 3], angular: flights.moment.cross(&V3::from(parameters.gravity)).into() };
        settled
    }

    /// The synchronous twins: each element, hinge and vertex once in each of so many equal steps.
    fn take_even_steps(&mut self, [begin, end]: [f64; 2], step: [f64; 2], longest: f64, forward: bool) -> f64 {
        let Self { work, elements, sheet, parameters, .. } = self;
        let limit = parameters.limit.as_ref();
        let Work { next, accelerations, ways, before, counts, .. } = work;
        let State { nodes, strains, external, .. } = next;
        let n = nodes.len();
        let mut flights = Flights { nodes, accelerations, masses: &sheet.masses, ways, step, moment: V3::zeros() };
        let count = ((end - begin) / longest * (1.0 - AT_END)).ceil().max(1.0);
        let span = (end - begin) / count;
        for k in 1..=count as u64 {
            let time = if k as f64 == count { end } else { begin + (end - begin) * (k as f64 / count) };
            if forward {
                before.clear();
                before.extend(flights.nodes.iter().map(|node| node.v));
                elements.act_all(span, strains, &mut flights);
                for (node, v) in flights.nodes.iter_mut().zip(&mut *before) {
                    std::mem::swap(&mut node.v, v);
                }
                (0..n).for_each(|k| flights.reach(k, time));
                for (k, (v, a)) in before.iter().zip(accelerations.iter()).enumerate() {
                    if flights.nodes[k].w > 0.0 {
                        flights.nodes[k].v = v + span * a;
                    }
                }
            } else {
                (0..n).for_each(|k| flights.reach(k, time));
                elements.act_all(span, strains, &mut flights);
            }
            if let Some(limit) = limit {
                for patch in &elements.patches {
                    counts.limited +=
                        (0..3).map(|k| u64::from(patch.hold_side(k, limit, span, &mut flights))).sum::<u64>();
                }
            }
            counts.events += elements.spans.len() as u64;
        }
        *external += Wrench { linear: [0.0; 3], angular: flights.moment.cross(&V3::from(parameters.gravity)).into() };
        0.0
    }

    /// The third stage of collisions: nothing has passed through anything, from where all was to where all is now.
    fn keep_apart(
        &mut self,
        interval: [f64; 2],
        step: [f64; 2],
        motions: &[Option<Motion>],
        report: &mut StepReport,
    ) -> Result<(), SimulatorError> {
        let Work {
            contacts: Some(contacts),
            obstacles,
            begin,
            end,
            next,
            accelerations,
            inverse_masses,
            ways,
            meetings,
            given,
            reactions,
            counts,
            ..
        } = &mut self.work
        else {
            return Ok(());
        };
        let [from, time] = interval;
        let dt = time - from;
        if dt == 0.0 {
            return Ok(());
        }
        let reaction = |given: &Given| given.reaction(&self.guides, obstacles, motions, [from, dt]);
        reactions.extend(given.iter().filter_map(reaction));
        given.clear();
        fly_on(&next.nodes, accelerations, ways, time, step, end);
        let paths = obstacles.paths(motions);
        let given = partita_contact::Step { dt, begin, inverse_masses, paths: &paths };
        let found = contacts.resolve(&mut next.contact, &given, end).map_err(not_apart)?;
        counts.handled += meetings.handled();
        counts.missed += found.impacts;
        let mut flights = Flights {
            nodes: &mut next.nodes,
            accelerations,
            masses: &self.sheet.masses,
            ways,
            step,
            moment: V3::zeros(),
        };
        for (k, impulse) in contacts.impulses().iter().enumerate() {
            if *impulse != V3::zeros() {
                flights.reach(k, time);
                flights.push(k, *impulse);
                flights.nodes[k].x = end[k];
            }
        }
        let torque = flights.moment.cross(&V3::from(self.parameters.gravity));
        next.external += Wrench { linear: [0.0; 3], angular: torque.into() };
        reactions.extend(obstacles.reactions(contacts));
        note_contact(&found, report);
        Ok(())
    }

    /// Whoever was held or loaded comes to the end of the step, and what that took is booked: for what is held, its change of momentum less
    /// what gravity, loads, elements and contacts gave.
    fn book(&mut self, dt: f64, inputs: &Inputs) {
        let Self { work, sheet, parameters, state, .. } = self;
        let begin = state.time;
        let gravity = V3::from(parameters.gravity);
        let mut linear = dt * sheet.masses.iter().sum::<f64>() * gravity;
        let mut angular = V3::zeros();
        let mut flights = Flights {
            nodes: &mut work.next.nodes,
            accelerations: &work.accelerations,
            masses: &sheet.masses,
            ways: &mut work.ways,
            step: [begin, dt],
            moment: V3::zeros(),
        };
        inputs.loads.iter().for_each(|(handle, _)| flights.reach(handle.index as usize, begin + dt));
        angular += flights.moment.cross(&gravity);
        for way in &work.ways {
            let node = &mut work.next.nodes[way.vertex];
            let ([from, to], m) = (&way.states, sheet.masses[way.vertex]);
            (node.x, node.v, node.time) = (to.position.into(), to.velocity.into(), begin + dt);
            let [x0, v0] = [from.position, from.velocity].map(V3::from);
            let load = dt * work.loads[way.vertex];
            let middle = 0.5 * (x0 + node.x);
            let weight = dt * m * gravity;
            let impulse = m * (node.v - v0) - way.taken - load - weight;
            match way.guide {
                None => {
                    linear += impulse;
                    angular += m * (node.x.cross(&node.v) - x0.cross(&v0)) - way.turned - middle.cross(&load);
                }
                Some(guide) => {
                    angular += middle.cross(&weight);
                    work.reactions.push(Reaction { guide, carrier: 0, impulse: Wrench::force(-impulse) });
                }
            }
        }
        work.next.external += Wrench { linear: linear.into(), angular: angular.into() };
    }

    /// Whether limits are kept, to a hundredth.
    fn note_strain(&self, outcome: &mut Outcome) {
        if let Some(Limit { strain, .. }) = self.parameters.limit {
            let worst = self.stretch();
            if worst > 1.01 * strain {
                outcome.note(worst, strain, "of an edge's length at rest");
            }
        }
    }

    fn check_finite(&self) -> Result<(), SimulatorError> {
        for (v, node) in self.work.next.nodes.iter().enumerate() {
            for (what, of) in [("position [m]", node.x), ("velocity [m/s]", node.v)] {
                if !of.norm_squared().is_finite() {
                    return Err(SimulatorError::failed(format!("{what} of vertex {v}"), format!("{of:?}"), "finite"));
                }
            }
        }
        Ok(())
    }
}

/// Where vertices would be at a time, without moving any.
fn fly_on(nodes: &[Node], accelerations: &[V3], ways: &[Way], time: f64, step: [f64; 2], out: &mut Vec<V3>) {
    out.clear();
    out.extend(nodes.iter().zip(accelerations).map(|(node, &a)| node.at(time, a).0));
    ways.iter().for_each(|way| out[way.vertex] = way.at(time, step).0);
}
