//! All elements up to the end of an interval, by their own clocks or all together.

use std::time::Instant;

use nalgebra::Vector3;
use partita_simulator::Wrench;

use crate::{
    AviCloth, Integrator,
    flight::Flights,
    limits::Restrained,
    queue::Event,
    state::State,
    step::{Interval, Work},
};

type V3 = Vector3<f64>;

/// How near to the end of a step an event may come and be at it, of its span: so many spans are a step though rounding adds up.
const AT_END: f64 = 1e-9;

impl AviCloth {
    /// All elements up to the end of an interval, and what gravity turns on the way. Seconds that collisions took.
    pub(crate) fn advance(&mut self, interval: Interval) -> f64 {
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
        let Self { work, elements, parameters, records, .. } = self;
        let limit = parameters.limit.as_ref();
        let Work { next, queue, tension, accelerations, ways, contacts, meetings, given, counts, events, .. } = work;
        let State { nodes, clocks, strains, .. } = next;
        tension.start(elements, clocks, nodes.len());
        let mut flights = Flights::new(nodes, parameters.gravity, accelerations, ways, interval);
        let last = interval.step[0] + interval.step[1];
        let mut settled = 0.0;
        let rate = clocks.iter().map(|clock| clock.usual.recip()).sum();
        let mut from = interval.begin;
        while from < interval.end {
            let until = queue.start(from, interval.end, rate);
            for (element, clock) in (0..).zip(&*clocks) {
                queue.push(Event { time: clock.next, element });
            }
            while let Some(event) = queue.pop() {
                let Event { time, element } = event;
                let number = element as usize;
                let known = strains.get_mut(number);
                let stiffening = elements.act(number, time, clocks[number].span, known, &mut flights);
                let usual = elements.shortened(number, clocks[number].usual, stiffening);
                clocks[number].usual = usual;
                let held = match limit {
                    Some(limit) => tension.hold_back(elements, event, limit, clocks, &mut flights),
                    None => Restrained { span: usual, sides: 0 },
                };
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
                (clocks[number].next, clocks[number].span) = (due, held.span);
                queue.push(Event { time: due, element });
                counts.events += 1;
                counts.limited += held.sides;
                counts.early += u64::from(held.span < usual);
                if *records {
                    events.push((time, element));
                }
            }
            from = until;
        }
        (flights.moment, settled)
    }

    /// The synchronous twins: each triangle, hinge and vertex once in each of so many equal steps. What impulses from outside gave to the
    /// moment of the free.
    fn take_even_steps(&mut self, interval: Interval, longest: f64, forward: bool) -> V3 {
        let Self { work, elements, parameters, .. } = self;
        let limit = parameters.limit.as_ref();
        let Work { next, accelerations, ways, before, counts, .. } = work;
        let State { nodes, strains, .. } = next;
        let n = nodes.len();
        let mut flights = Flights::new(nodes, parameters.gravity, accelerations, ways, interval);
        let count = (interval.duration() / longest * (1.0 - AT_END)).ceil().max(1.0);
        let span = interval.duration() / count;
        for k in 1..=count as u64 {
            let done = k as f64 / count;
            let time = if done == 1.0 { interval.end } else { interval.begin + interval.duration() * done };
            if forward {
                before.clear();
                before.extend(flights.nodes.iter().map(|node| node.v));
                elements.act_all(span, strains, &mut flights);
                // Positions go on with the velocities from before.
                for (k, v) in before.iter().enumerate() {
                    let kick = flights.nodes[k].v - v;
                    flights.nodes[k].v = *v;
                    flights.reach(k, time);
                    flights.nodes[k].v += kick;
                }
            } else {
                (0..n).for_each(|k| flights.reach(k, time));
                elements.act_all(span, strains, &mut flights);
            }
            if let Some(limit) = limit {
                for patch in &elements.patches {
                    let sides = (0..3).filter(|&side| patch.hold_side(side, limit, span, &mut flights));
                    counts.limited += sides.count() as u64;
                }
            }
            counts.events += elements.patches.len() as u64;
        }
        flights.moment
    }
}
