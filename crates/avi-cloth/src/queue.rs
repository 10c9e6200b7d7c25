//! Which element is next (\[TPS08\] algorithm 1): events in order of time, those at one time in order of elements.
//!
//! Time is cut into slots of a dozen events, which are put in order when the slot's turn comes, and taken from the front; an event hardly
//! ever makes another in its own slot. That costs a third of what a heap does
//! (`benches/queue.rs`: 24 of 60 to 75 ns an event), whose every push and pop walks through memory. What comes later than a
//! stretch of so many slots waits outside: clocks know when it is.

/// An element and when it is due: ordered by time, which is never below 0, then by number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Event {
    /// `[s]`
    pub time: f64,
    pub element: u32,
}

impl Event {
    /// Floats from 0 up are in the order of their bits.
    fn key(&self) -> (u64, u32) {
        (self.time.to_bits(), self.element)
    }
}

/// Slots of a stretch, at most.
const SLOTS: usize = 4096;

/// Events that are to be in a slot.
const EVENTS: f64 = 12.0;

/// Events of a stretch of time.
#[derive(Default)]
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
}

impl Queue {
    /// Begins a stretch, without events, of which there will be so many in a second, that ends at `end` or before. When that is `[s]`.
    pub fn start(&mut self, begin: f64, end: f64, rate: f64) -> f64 {
        let width = EVENTS / rate;
        self.slots.iter_mut().for_each(Vec::clear);
        let count = ((end - begin) / width).ceil().clamp(1.0, SLOTS as f64);
        self.count = count as usize + 1;
        if self.slots.len() < self.count {
            self.slots.resize_with(self.count, Vec::new);
        }
        let until = begin + width * count;
        // Where rounding would let it not get on, all of it is one stretch.
        self.end = if until > begin { end.min(until) } else { end };
        (self.begin, self.width) = (begin, width);
        (self.slot, self.taken) = (0, 0);
        self.end
    }

    /// Takes an event, if it is in the stretch.
    pub fn push(&mut self, event: Event) {
        if event.time > self.end {
            return;
        }
        let at = (((event.time - self.begin) / self.width) as usize).min(self.count - 1);
        if at > self.slot || self.taken == 0 {
            self.slots[at].push(event);
            return;
        }
        // In its turn already: where it belongs among those that are left.
        let due = &mut self.slots[self.slot];
        let place = self.taken + due[self.taken..].partition_point(|other| other.key() < event.key());
        due.insert(place, event);
    }

    /// The next event, if there is one in the stretch.
    pub fn pop(&mut self) -> Option<Event> {
        while self.taken == self.slots[self.slot].len() {
            if self.slot + 1 == self.count {
                return None;
            }
            self.slots[self.slot].clear();
            (self.slot, self.taken) = (self.slot + 1, 0);
        }
        let due = &mut self.slots[self.slot];
        if self.taken == 0 {
            due.sort_unstable_by_key(Event::key);
        }
        self.taken += 1;
        Some(due[self.taken - 1])
    }
}
