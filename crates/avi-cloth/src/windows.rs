//! Events of several parts of cloth at the same time, with the same bits as one after the other.
//!
//! An event reads and changes its element's vertices, and what depends on order is the order of events at each vertex. So a window of time
//! is taken in two rounds:
//!
//! 1. Each part by itself does its events in order of time, but for those that would touch a *barred* vertex: that is put off, and bars its
//!    own vertices from its time on. At first vertices are barred from when an element of no part is due there.
//! 2. Then one thread does what was put off and what is of no part, in order of time.
//!
//! An event of the first round has no vertex at which an earlier one is left for the second, so each vertex has its events in order.
//!
//! Limits let an event move more than its own vertices: whatever hangs together with them by taut sides. So the ends of sides that are
//! taut, or become so, are united (R. E. Tarjan, J. van Leeuwen: Worst-case analysis of set union algorithms. JACM 31, 1984, with path
//! halving), and barred together; those of taut sides of what is of no part are barred from the beginning.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use nalgebra::Vector3;

use crate::{
    Limit,
    flight::{Flights, Way},
    lane::{Lane, Memory, Rules},
    meet::Encounters,
    parts::Parts,
    queue::{Event, Queue},
    run::Run,
    state::Clock,
    step::Interval,
};

type V3 = Vector3<f64>;

/// Events of a window, for each element. In longer ones more is put off, in shorter ones more time goes into waiting for each other.
const EVENTS_OF_A_WINDOW: f64 = 0.3;

/// Largest share of events of no part, across borders or in contact, for it to be worth while: two to four times as much is put off.
const MOST_OF_NO_PART: f64 = 0.1;

/// Without work for so long, a thread gives up for the interval.
const PATIENCE: Duration = Duration::from_micros(500);

/// Before and after all events.
const ALWAYS: (u64, u32) = (0, 0);
const NEVER: (u64, u32) = (u64::MAX, u32::MAX);

/// Who works on a part. Aligned, so that threads do not write to one line of memory.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Part {
    pub memory: Memory,
    /// Events in a second.
    rate: f64,
    put_off: Vec<Event>,
}

/// From which event on a vertex is barred, and with whom it is united.
#[derive(Clone, Copy, Default)]
pub(crate) struct Bar {
    from: (u64, u32),
    parent: u32,
    /// In which window this holds; in others the vertex is not barred, and alone.
    window: u64,
}

/// Bars of vertices; united are the ends of taut sides.
struct Bars<'a> {
    bars: Run<'a, Bar>,
    window: u64,
}

impl Bars<'_> {
    fn split(self, vertex: usize) -> (Self, Self) {
        let (bars, more) = self.bars.split(vertex);
        let window = self.window;
        (Self { bars, window }, Self { bars: more, window })
    }

    /// Who stands for a vertex and all that are united with it.
    #[inline(always)]
    fn root(&mut self, vertex: u32) -> u32 {
        let mut vertex = vertex;
        loop {
            let Bar { parent, window, .. } = self.bars[vertex as usize];
            if window != self.window || parent == vertex {
                return vertex;
            }
            // Whoever is a parent is of this window.
            self.bars[vertex as usize].parent = self.bars[parent as usize].parent;
            vertex = parent;
        }
    }

    /// What is known of a root.
    fn of(&mut self, root: u32) -> &mut Bar {
        let bar = &mut self.bars[root as usize];
        if bar.window != self.window {
            *bar = Bar { from: NEVER, parent: root, window: self.window };
        }
        bar
    }

    #[inline(always)]
    fn is_barred(&self, root: u32, at: (u64, u32)) -> bool {
        let bar = &self.bars[root as usize];
        bar.window == self.window && bar.from < at
    }

    fn bar(&mut self, root: u32, from: (u64, u32)) {
        let bar = self.of(root);
        bar.from = bar.from.min(from);
    }

    fn unite(&mut self, ends: [u32; 2]) {
        let [one, other] = ends.map(|v| self.root(v));
        let of_other = self.of(other);
        of_other.parent = one;
        let from = of_other.from;
        self.bar(one, from);
    }

    /// Unites ends of taut sides, and bars those of patches from number `patches` on, which are of no part.
    fn set(&mut self, lane: &Lane<'_>, rules: &Rules<'_>, patches: usize) {
        if rules.limit.is_none() {
            return;
        }
        for vertex in (0..lane.taut.items.len() as u32).filter(|&v| lane.taut[v as usize] > 0) {
            for corner in rules.elements.around(vertex) {
                let number = corner.patch as usize;
                for side in lane.clocks[number].taut.and(corner.sides).iter() {
                    if number < patches {
                        self.unite(rules.elements.patches[number].ends(side));
                    } else {
                        let root = self.root(vertex);
                        self.bar(root, ALWAYS);
                    }
                }
            }
        }
    }
}

impl Part {
    /// The events of a window, but for those that are put off.
    fn advance(&mut self, mut lane: Lane<'_>, mut bars: Bars<'_>, rules: &Rules<'_>, until: f64) {
        let Self { memory, put_off, .. } = self;
        while let Some(event) = memory.queue.pop(until) {
            let touched = rules.elements.touched(event.place as usize);
            let roots = touched.map(|v| bars.root(v));
            if roots.iter().any(|&root| bars.is_barred(root, event.key())) {
                roots.iter().for_each(|&root| bars.bar(root, event.key()));
                put_off.push(event);
                continue;
            }
            let next = lane.act(event, rules, memory, |_, _| {});
            for side in lane.clocks[event.place as usize].taut.iter() {
                bars.unite([touched[side], touched[(side + 1) % 3]]);
            }
            memory.queue.push(next);
        }
    }
}

/// Keeps so many threads looking for work while something is done by one, which shares it out again and again: to wake one up takes as long
/// as a window.
pub(crate) fn awake<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    /// Also where it panics.
    struct AtLast<'a>(&'a AtomicBool);
    impl Drop for AtLast<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
        }
    }
    let done = AtomicBool::new(false);
    let all = || {
        let _done = AtLast(&done);
        work()
    };
    rayon::join(all, || look_all(threads - 1, &done)).0
}

/// On so many threads.
fn look_all(threads: usize, done: &AtomicBool) {
    if threads > 1 {
        rayon::join(|| look_for_work(done), || look_all(threads - 1, done));
    } else {
        look_for_work(done);
    }
}

/// Until all is done; or there was no work for long, since whoever would end it may be waiting for this thread.
fn look_for_work(done: &AtomicBool) {
    let mut last = Instant::now();
    while !done.load(Ordering::Acquire) && last.elapsed() < PATIENCE {
        if rayon::yield_now() == Some(rayon::Yield::Executed) {
            last = Instant::now();
        } else {
            std::thread::yield_now();
        }
    }
}

/// A window of parts, a thread each.
fn advance_all(
    parts: &mut [Part],
    begins: &[[usize; 3]],
    lane: Lane<'_>,
    bars: Bars<'_>,
    rules: &Rules<'_>,
    until: f64,
) {
    if let [part] = parts {
        return part.advance(lane, bars, rules, until);
    }
    let half = parts.len() / 2;
    let (left, right) = parts.split_at_mut(half);
    let (lane, more_lane) = lane.split(begins[half]);
    let (bars, more_bars) = bars.split(begins[half][0]);
    rayon::join(
        || advance_all(left, begins, lane, bars, rules, until),
        || advance_all(right, &begins[half..], more_lane, more_bars, rules, until),
    );
}

/// What a run takes beside the cloth's state.
pub(crate) struct Outside<'a> {
    pub interval: Interval,
    /// `[m/s²]`
    pub gravity: [f64; 3],
    pub ways: &'a mut [Way],
    pub limit: Option<&'a Limit>,
    pub records: bool,
}

/// The part of an event; what has pairs to look after is of none.
fn home(homes: &[u32], none: usize, event: &Event, encounters: &Encounters<'_>) -> usize {
    if encounters.concern(event.element) { none } else { homes[event.place as usize] as usize }
}

impl Parts {
    /// Counts how busy each part is in an interval `[s]`. Whether to take it in parts is worth while.
    pub fn is_worth_while(&mut self, clocks: &[Clock], encounters: &Encounters<'_>, duration: f64) -> bool {
        self.parts.iter_mut().for_each(|part| part.rate = 0.0);
        let none = self.count();
        for (place, &element) in (0..).zip(&self.names) {
            let Clock { next, usual, .. } = clocks[element as usize];
            let home = home(&self.homes, none, &Event { time: next, element, place }, encounters);
            self.parts[home].rate += usual.recip();
        }
        let rate: f64 = self.parts.iter().map(|part| part.rate).sum();
        self.parts[none].rate < MOST_OF_NO_PART * rate && rate * duration > EVENTS_OF_A_WINDOW * self.names.len() as f64
    }

    /// All events of an interval, of what was brought in. What impulses of obstacles gave to the moment of the free.
    pub fn run(&mut self, outside: Outside<'_>, encounters: &mut Encounters<'_>) -> V3 {
        let Outside { interval, gravity, ways, limit, records } = outside;
        let Self {
            elements,
            begins,
            places,
            names,
            homes,
            nodes,
            clocks,
            strains,
            accelerations,
            taut,
            bars,
            windows,
            parts,
            ..
        } = self;
        let rules = Rules { elements, limit, looks: interval.looks, last: interval.last(), records };
        let flights = Flights::begin(nodes, gravity, accelerations, ways, interval);
        let mut lane = Lane::new(elements, flights, clocks, strains, taut);
        let none = parts.len() - 1;
        let rate: f64 = parts.iter().map(|part| part.rate).sum();
        let longest = EVENTS_OF_A_WINDOW * names.len() as f64 / rate;
        bars.resize(places.len(), Bar::default());
        // Something is left only after a panic.
        for part in &mut *parts {
            part.put_off.clear();
            part.memory.forget();
        }
        let mut from = interval.begin;
        while from < interval.end {
            let until = Queue::stretch(from, interval.end, Queue::slots_of(names.len(), rate));
            for part in &mut *parts {
                let elements = (names.len() as f64 * (part.rate / rate)) as usize;
                part.memory.queue.start(from, until, Queue::slots_of(elements, part.rate));
            }
            for (place, &element) in (0..).zip(&*names) {
                let event = Event { time: lane.clocks[place as usize].next, element, place };
                parts[home(homes, none, &event, encounters)].memory.queue.push(event);
            }
            while from < until {
                let to = from + longest;
                let to = if to > from && to < until { to } else { until };
                *windows += 1;
                let mut all = Bars { bars: Run::of(bars), window: *windows };
                all.set(&lane, &rules, begins[none][1]);
                for event in parts[none].memory.queue.due(to) {
                    let touched = elements.touched(event.place as usize).into_iter();
                    let met = encounters.vertices(event.element).map(|v| places[v as usize]);
                    touched.chain(met).for_each(|v| {
                        let root = all.root(v);
                        all.bar(root, event.key());
                    });
                }
                let (inner, _) = lane.lend().split(begins[none]);
                advance_all(&mut parts[..none], begins, inner, all, &rules, to);
                let (inner, rest) = parts.split_at_mut(none);
                let queue = &mut rest[0].memory.queue;
                inner.iter_mut().flat_map(|part| part.put_off.drain(..)).for_each(|event| queue.push(event));
                while let Some(event) = parts[none].memory.queue.pop(to) {
                    let next = lane.act(event, &rules, &mut parts[none].memory, |span, flights| {
                        encounters.keep_apart(event, span, flights, places);
                    });
                    let home = if next.time > to { home(homes, none, &next, encounters) } else { none };
                    parts[home].memory.queue.push(next);
                }
                from = to;
            }
        }
        lane.flights.end()
    }
}
