//! Which element is next (\[TPS08\] algorithm 1): events in order of time, those at one time in order of elements.
//!
//! A calendar queue (R. Brown: Calendar queues: a fast O(1) priority queue implementation for the simulation event set problem.
//! Communications of the ACM 31, 1988): time is cut into slots of a dozen events, which are put in order when the slot's turn comes, and
//! taken from the front; an event hardly ever makes another in its own slot. That costs a third of what a heap does
//! (`benches/queue.rs`: 24 of 60 to 75 ns an event), whose every push and pop walks through memory. What comes later than a
//! stretch of so many slots waits outside: clocks know when it is.

/// An element and when it is due: ordered by time, which is never below 0, then by number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Event {
    /// `[s]`
    pub time: f64,
    pub element: u32,
    /// The element's number where cloth is cut into parts; else the same.
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

/// Events that are to be in a slot.
const EVENTS_OF_A_SLOT: f64 = 12.0;

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
    /// When a stretch ends that ends at `end` or before, with so many events in a second `[s]`.
    pub fn stretch(begin: f64, end: f64, rate: f64) -> f64 {
        let until = begin + EVENTS_OF_A_SLOT / rate * SLOTS as f64;
        // Where rounding would let it not get on, all of it is one stretch.
        if until > begin { end.min(until) } else { end }
    }

    /// Begins a stretch, without events, of which there will be so many in a second.
    pub fn start(&mut self, begin: f64, end: f64, rate: f64) {
        let width = EVENTS_OF_A_SLOT / rate;
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
        let due = &mut self.slots[self.slot];
        if self.taken == 0 {
            due.sort_unstable_by_key(Event::key);
        }
        let event = due[self.taken];
        if event.time > until {
            return None;
        }
        self.taken += 1;
        Some(event)
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
    /// So late that a slot is less than rounding of the time, a stretch is all that there is.
    #[test]
    fn a_stretch_always_gets_on() {
        assert_eq!(super::Queue::stretch(1e9, 1e9 + 1.0, 1e16), 1e9 + 1.0);
        let until = super::Queue::stretch(2.0, 1e9, 100.0);
        assert!(until > 2.0 && until < 1e9);
    }
}
