//! Which element is next (\[TPS08\] algorithm 1): events in order of time, those at one time in order of elements.
//!
//! A calendar queue (R. Brown: Calendar queues: a fast O(1) priority queue implementation for the simulation event set problem.
//! Communications of the ACM 31, 1988): time is cut into slots of some 250 events, which are put in order when the slot's turn comes, and
//! taken from the front. For that they are shared out among twice as many bins, where seldom more than two meet, so that each is compared with
//! the one before and hardly more: with sorted slots of a dozen, an event took 82 ns for 74 (`avi-table1`'s). A heap, whose every push and pop
//! walks through memory, costs three times as much (bench `avi-queue`: 12 and 38 ns an event). Events beyond the current
//! stretch of slots stay outside the queue.

/// An element and when it is due: ordered by time, which is never below 0, then by number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Event {
    /// `[s]`
    pub time: f64,
    pub element: u32,
    /// Its number in parts, where cloth is cut into these (`parts.rs`); else the same.
    pub place: u32,
}

impl Event {
    /// Floats from 0 up are in the order of their bits.
    pub fn key(&self) -> (u64, u32) {
        (self.time.to_bits(), self.element)
    }
}

/// Slots of a stretch, at most.
const SLOTS: usize = 4096;

/// Events that are to be in a slot: some 250, but so few of all elements' that an event hardly ever makes another in its own slot.
const EVENTS_OF_A_SLOT: f64 = 256.0;
const SHARE_OF_A_SLOT: f64 = 1.0 / 16.0;

/// Into so many bins a slot's events are put in order, with at most so many in one of them: else they are sorted.
const BINS: usize = 512;
const MOST_OF_A_BIN: u16 = 16;

/// Events of a stretch of time.
pub(crate) struct Queue {
    begin: f64,
    end: f64,
    width: f64,
    /// As many as are in use, and maybe more.
    slots: Vec<Vec<Event>>,
    count: usize,
    /// Of the slots before this all are done.
    slot: usize,
    /// Of what is in its turn, so many are done.
    taken: usize,
    /// To put a slot in order with.
    ordered: Vec<Event>,
    ends: [u16; BINS],
}

impl Default for Queue {
    fn default() -> Self {
        let [begin, end, width] = [0.0; 3];
        Self { begin, end, width, slots: vec![], count: 0, slot: 0, taken: 0, ordered: vec![], ends: [0; BINS] }
    }
}

impl Queue {
    /// How long slots are for so many elements, that have so many events in a second `[s]`.
    pub fn slots_of(elements: usize, rate: f64) -> f64 {
        (SHARE_OF_A_SLOT * elements as f64).clamp(1.0, EVENTS_OF_A_SLOT) / rate
    }

    /// When a stretch ends that ends at `end` or before, with slots of such a length `[s]`.
    pub fn stretch(begin: f64, end: f64, width: f64) -> f64 {
        let until = begin + width * SLOTS as f64;
        // Where rounding would let it not get on, all of it is one stretch.
        if until > begin { end.min(until) } else { end }
    }

    /// Begins a stretch, without events, with slots of such a length `[s]`.
    pub fn start(&mut self, begin: f64, end: f64, width: f64) {
        self.slots.iter_mut().for_each(Vec::clear);
        // What rounding puts beyond the last is in the last.
        self.count = ((end - begin) / width).ceil().clamp(1.0, SLOTS as f64) as usize + 1;
        if self.slots.len() < self.count {
            self.slots.resize_with(self.count, Vec::new);
        }
        (self.begin, self.end, self.width) = (begin, end, width);
        (self.slot, self.taken) = (0, 0);
    }

    fn slot_of(&self, time: f64) -> usize {
        (((time - self.begin) / self.width) as usize).min(self.count - 1)
    }

    /// Takes an event, if it is in the stretch.
    #[inline(always)]
    pub fn push(&mut self, event: Event) {
        if event.time > self.end {
            return;
        }
        let at = self.slot_of(event.time);
        if at > self.slot || self.taken == 0 {
            self.slots[at].push(event);
            return;
        }
        // In its turn already: where it belongs among those that are left.
        let due = &mut self.slots[self.slot];
        let place = self.taken + due[self.taken..].partition_point(|other| other.key() < event.key());
        due.insert(place, event);
    }

    /// The next event that is not after a time of the stretch. That time must never go back, and nothing may be pushed any more that is due
    /// before an earlier one.
    #[inline(always)]
    pub fn pop(&mut self, until: f64) -> Option<Event> {
        while self.taken == self.slots[self.slot].len() {
            if self.slot == self.slot_of(until) {
                return None;
            }
            self.slots[self.slot].clear();
            (self.slot, self.taken) = (self.slot + 1, 0);
        }
        if self.taken == 0 {
            self.put_in_order();
        }
        let event = self.slots[self.slot][self.taken];
        if event.time > until {
            return None;
        }
        self.taken += 1;
        Some(event)
    }

    /// The slot whose turn has come.
    #[inline(never)]
    fn put_in_order(&mut self) {
        let Self { slots, slot, ordered, ends, begin, width, .. } = self;
        let due = &mut slots[*slot];
        let (first, bins) = (*begin + *width * *slot as f64, BINS as f64 / *width);
        let bin = |event: &Event| (((event.time - first) * bins) as usize).min(BINS - 1);
        ends.fill(0);
        due.iter().for_each(|event| ends[bin(event)] = ends[bin(event)].saturating_add(1));
        let (mut end, mut most) = (0_u16, 0);
        for count in ends.iter_mut() {
            most = most.max(*count);
            end = end.saturating_add(*count);
            *count = end;
        }
        if most > MOST_OF_A_BIN {
            due.sort_unstable_by_key(Event::key);
            return;
        }
        ordered.clear();
        ordered.extend_from_slice(due);
        for event in due.iter().rev() {
            let place = &mut ends[bin(event)];
            *place -= 1;
            ordered[usize::from(*place)] = *event;
        }
        for k in 1..ordered.len() {
            let event = ordered[k];
            let mut place = k;
            while place > 0 && event.key() < ordered[place - 1].key() {
                ordered[place] = ordered[place - 1];
                place -= 1;
            }
            ordered[place] = event;
        }
        std::mem::swap(due, ordered);
    }

    /// The events up to a time, in any order.
    pub fn due(&self, until: f64) -> impl Iterator<Item = &Event> {
        let now = self.slots[self.slot][self.taken..].iter();
        let later = self.slots[self.slot..=self.slot_of(until)].iter().skip(1).flatten();
        now.chain(later).filter(move |event| event.time <= until)
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, Queue};

    /// All events of elements with such spans up to a time, which is two stretches at least.
    fn run(spans: &[f64], end: f64) -> Vec<Event> {
        let width = Queue::slots_of(spans.len(), spans.iter().map(|span| span.recip()).sum());
        let (mut queue, mut next, mut all) = (Queue::default(), spans.to_vec(), vec![]);
        let mut from = 0.0;
        while from < end {
            let until = Queue::stretch(from, end.min(from + 0.6 * end), width);
            queue.start(from, until, width);
            (0..).zip(&next).for_each(|(element, &time)| queue.push(Event { time, element, place: element }));
            while let Some(event) = queue.pop(until) {
                all.push(event);
                let due = &mut next[event.element as usize];
                *due += spans[event.element as usize];
                queue.push(Event { time: *due, ..event });
            }
            from = until;
        }
        all
    }

    /// Spread out, all at once (more in a bin than are put in order there), in two heaps, of very different spans, so that events make others
    /// in their own slots; of many elements, of few, of one.
    #[test]
    fn events_come_in_order_and_none_is_lost() {
        let cases: [&dyn Fn(usize) -> f64; 4] = [
            &|k| 1.0 + ((k * 7919) % 1000) as f64 / 1000.0,
            &|_| 1.0,
            &|k| 1.0 + 1e-9 * ((k * 31) % 97) as f64 + if k.is_multiple_of(2) { 0.3 } else { 0.0 },
            &|k| if k.is_multiple_of(50) { 1e-3 } else { 1.0 + ((k * 7919) % 1000) as f64 / 1000.0 },
        ];
        for elements in [1, 7, 300, 5000] {
            for (case, span) in cases.iter().enumerate() {
                let spans: Vec<f64> = (0..elements).map(span).collect();
                let all = run(&spans, 10.0);
                assert!(all.windows(2).all(|two| two[0].key() < two[1].key()), "{elements} elements, case {case}");
                let count = |span: &f64| {
                    let mut due = *span;
                    let times = std::iter::from_fn(|| (due <= 10.0).then(|| due += span));
                    times.count()
                };
                assert_eq!(all.len(), spans.iter().map(count).sum::<usize>(), "{elements} elements, case {case}");
            }
        }
    }

    /// So late that a slot is less than rounding of the time, a stretch is all that there is.
    #[test]
    fn a_stretch_always_gets_on() {
        assert_eq!(Queue::stretch(1e9, 1e9 + 1.0, 1e-15), 1e9 + 1.0);
        let until = Queue::stretch(2.0, 1e9, 0.1);
        assert!(until > 2.0 && until < 1e9);
    }
}
