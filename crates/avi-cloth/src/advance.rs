//! All elements up to the end of an interval, by their own clocks or all together.

use nalgebra::Vector3;
use partita_simulator::Wrench;

use crate::{
    AviCloth, Integrator,
    flight::{self, Flights},
    lane::{AT_END, Lane, Rules},
    meet::Encounters,
    parts::{self, Parts},
    queue::{Event, Queue},
    state::State,
    step::{Interval, Work},
    windows::{Outside, awake},
};

type V3 = Vector3<f64>;

impl AviCloth {
    /// All elements up to the end of an interval, and what gravity turns on the way. Seconds that collisions took.
    pub(crate) fn advance(&mut self, interval: Interval) -> f64 {
        if interval.duration() == 0.0 {
            return 0.0;
        }
        let moment = self.free_moment(interval);
        let (given, settled) = match self.parameters.integrator {
            Integrator::Asynchronous => self.run_events(interval),
            Integrator::SymplecticEuler { step } => (self.take_even_steps(interval, step, false), 0.0),
            Integrator::ForwardEuler { step } => (self.take_even_steps(interval, step, true), 0.0),
        };
        let torque = (moment + given).cross(&V3::from(self.parameters.gravity));
        self.work.next.external += Wrench { linear: [0.0; 3], angular: torque.into() };
        settled
    }

    /// \[TPS08\] algorithm 1. What impulses from outside gave to the moment of the free, and seconds that collisions took.
    fn run_events(&mut self, interval: Interval) -> (V3, f64) {
        let Self { work, elements, parameters, records, mesh, .. } = self;
        let Work {
            next,
            memory,
            taut,
            accelerations,
            ways,
            contacts,
            meetings,
            given,
            counts,
            events,
            parts,
            threads,
            in_parts,
            ..
        } = work;
        let (limit, gravity, records) = (parameters.limit.as_ref(), parameters.gravity, *records);
        let mut encounters = Encounters { contacts: contacts.as_ref(), meetings, given, events: 0, clocked: 0.0 };
        if elements.spans.len() >= 2 * parts::ELEMENTS_OF_A_PART && *threads != rayon::current_num_threads() {
            *threads = rayon::current_num_threads();
            *parts = Parts::suitable(elements, mesh, *threads);
        }
        if let Some(parts) = parts
            && parts.is_worth_while(&next.clocks, &encounters, interval.duration())
        {
            *in_parts = parts.count().max(*in_parts);
            parts.bring_in(next, accelerations, ways);
            let outside = Outside { interval, gravity, ways, limit, records };
            let obstacles = awake(parts.count(), || parts.run(outside, &mut encounters));
            parts.bring_home(next, ways);
            let begin = events.len();
            parts.parts.iter_mut().for_each(|part| part.memory.add_to(counts, events));
            events[begin..].sort_unstable_by_key(|(time, element)| (time.to_bits(), *element));
            return (obstacles + flight::moment(ways), encounters.seconds());
        }
        let State { nodes, clocks, strains, .. } = next;
        let flights = Flights::begin(nodes, gravity, accelerations, ways, interval);
        let rules = Rules { elements, limit, looks: interval.looks, last: interval.last(), records };
        let width = Queue::slots_of(clocks.len(), clocks.iter().map(|clock| clock.usual.recip()).sum());
        let mut lane = Lane::new(elements, flights, clocks, strains, taut);
        memory.forget();
        let mut from = interval.begin;
        while from < interval.end {
            let until = Queue::stretch(from, interval.end, width);
            memory.queue.start(from, until, width);
            for element in 0..elements.spans.len() as u32 {
                let time = lane.clocks[element as usize].next;
                memory.queue.push(Event { time, element, place: element });
            }
            while let Some(event) = memory.queue.pop(until) {
                let next = lane.act(event, &rules, memory, |span, flights| {
                    encounters.keep_apart(event, span, flights, &[]);
                });
                memory.queue.push(next);
            }
            from = until;
        }
        let moment = lane.flights.end() + flight::moment(ways);
        memory.add_to(counts, events);
        (moment, encounters.seconds())
    }

    /// The synchronous twins: each triangle, hinge and vertex once in each of so many equal steps. What impulses from outside gave to the
    /// moment of the free.
    fn take_even_steps(&mut self, interval: Interval, longest: f64, forward: bool) -> V3 {
        let Self { work, elements, parameters, .. } = self;
        let limit = parameters.limit.as_ref();
        let Work { next, accelerations, ways, before, counts, .. } = work;
        let State { nodes, strains, .. } = next;
        let n = nodes.len();
        let mut flights = Flights::begin(nodes, parameters.gravity, accelerations, ways, interval);
        let count = (interval.duration() / longest * (1.0 - AT_END)).ceil().max(1.0);
        let span = interval.duration() / count;
        for k in 1..=count as u64 {
            let done = k as f64 / count;
            let time = if done == 1.0 { interval.end } else { interval.begin + interval.duration() * done };
            if forward {
                before.clear();
                before.extend(flights.nodes.items.iter().map(|node| node.v));
                elements.act_all(span, strains, &mut flights);
                // Positions go on with the velocities from before.
                for (k, v) in before.iter().enumerate() {
                    let kick = flights.nodes[k].v - v;
                    flights.nodes[k].v = *v;
                    flights.reach(k, time);
                    flights.nodes[k].v += kick;
                }
            } else {
                for k in 0..n {
                    flights.reach(k, time);
                }
                elements.act_all(span, strains, &mut flights);
            }
            if let Some(limit) = limit {
                for patch in &elements.patches {
                    let sides = patch.own.iter().filter(|&side| patch.hold_side(side, limit, span, &mut flights));
                    counts.limited += sides.count() as u64;
                }
            }
            counts.events += elements.patches.len() as u64;
        }
        flights.end() + flight::moment(ways)
    }
}
