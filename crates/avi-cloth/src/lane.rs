//! What a thread has of the cloth, and what an event does there.

use std::collections::VecDeque;

use crate::{
    Counts, Limit,
    elements::Elements,
    flight::Flights,
    limits::count_taut,
    queue::{Event, Queue},
    run::{OfElements, Run},
    state::{Clock, Strains},
};

/// How near to the end of a step an event may come and be at it, of its span: so many spans are a step though rounding adds up.
pub(crate) const AT_END: f64 = 1e-9;

/// Vertices that nobody else has at the time, and elements that touch no others.
pub(crate) struct Lane<'a> {
    pub flights: Flights<'a>,
    pub clocks: OfElements<'a, Clock>,
    /// Of none where there is no viscosity.
    pub strains: OfElements<'a, Strains>,
    /// How many taut sides a vertex ends.
    pub taut: Run<'a, u32>,
}

/// What is the same for all.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub elements: &'a Elements,
    pub limit: Option<&'a Limit>,
    /// Number of sides that an event may check against that [-].
    pub looks: u32,
    /// When the step ends `[s]`.
    pub last: f64,
    /// Whether events are written down.
    pub records: bool,
}

/// What a thread works with and writes down.
#[derive(Default)]
pub(crate) struct Memory {
    pub queue: Queue,
    /// Triangles and their sides that limits are to look at.
    pub called: VecDeque<(u32, u32)>,
    /// As in [`Counts`], of this thread.
    pub events: u64,
    pub limited: u64,
    pub checked: u64,
    pub given_up: u64,
    pub early: u64,
    pub recorded: Vec<(f64, u32)>,
}

impl Memory {
    /// Nothing is written down or to be looked at, as it is but after a panic.
    pub fn forget(&mut self) {
        self.called.clear();
        self.recorded.clear();
        (self.events, self.limited, self.checked, self.given_up, self.early) = (0, 0, 0, 0, 0);
    }

    /// Adds what was written down, in any order, and forgets it.
    pub fn add_to(&mut self, counts: &mut Counts, events: &mut Vec<(f64, u32)>) {
        counts.events += std::mem::take(&mut self.events);
        counts.limited += std::mem::take(&mut self.limited);
        counts.checked += std::mem::take(&mut self.checked);
        counts.given_up += std::mem::take(&mut self.given_up);
        counts.early += std::mem::take(&mut self.early);
        events.append(&mut self.recorded);
    }
}

impl<'a> Lane<'a> {
    /// Of everything.
    pub fn new(
        elements: &Elements,
        flights: Flights<'a>,
        clocks: &'a mut [Clock],
        strains: &'a mut [Strains],
        taut: &'a mut Vec<u32>,
    ) -> Self {
        count_taut(elements, clocks, flights.nodes.items.len(), taut);
        let patches = elements.patches.len();
        let (clocks, strains) = (OfElements::of(clocks, patches), OfElements::of(strains, patches));
        Self { flights, clocks, strains, taut: Run::of(taut) }
    }

    /// What has numbers before those of a vertex, a patch and a fold, and the rest.
    pub fn split(self, [vertex, patch, fold]: [usize; 3]) -> (Self, Self) {
        let (flights, more_flights) = self.flights.split(vertex);
        let (clocks, more_clocks) = self.clocks.split([patch, fold]);
        let (strains, more_strains) = self.strains.split([patch, fold]);
        let (taut, more_taut) = self.taut.split(vertex);
        let more = Self { flights: more_flights, clocks: more_clocks, strains: more_strains, taut: more_taut };
        (Self { flights, clocks, strains, taut }, more)
    }

    /// The same for a while.
    pub fn lend(&mut self) -> Lane<'_> {
        let Self { flights, clocks, strains, taut } = self;
        Lane { flights: flights.lend(), clocks: clocks.lend(), strains: strains.lend(), taut: taut.lend() }
    }

    /// Does an event; `keep_apart` is called with the span until the element's next, which is returned.
    #[inline(always)]
    pub fn act(
        &mut self,
        event: Event,
        rules: &Rules<'_>,
        memory: &mut Memory,
        keep_apart: impl FnOnce(f64, &mut Flights<'_>),
    ) -> Event {
        let (time, element) = (event.time, event.place as usize);
        let Clock { span, usual, .. } = self.clocks[element];
        let known = self.strains.get_mut(element);
        let stiffening = rules.elements.act(element, time, span, known, &mut self.flights);
        let usual = rules.elements.shortened(element, usual, stiffening);
        self.clocks[element].usual = usual;
        let span = rules.limit.map_or(usual, |limit| self.hold_back(event, limit, rules, memory));
        keep_apart(span, &mut self.flights);
        let mut due = time + span;
        if (due - rules.last).abs() < AT_END * span {
            due = rules.last;
        }
        let clock = &mut self.clocks[element];
        (clock.next, clock.span) = (due, span);
        memory.events += 1;
        memory.early += u64::from(span < usual);
        if rules.records {
            memory.recorded.push((time, event.element));
        }
        Event { time: due, ..event }
    }
}
