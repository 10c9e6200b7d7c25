//! Going back: a mark now and then, and the inputs from outside since. Rewind and undo retract to a
//! mark and repeat the windows since, which is exact because a repeated step gives the same bits.

use std::{collections::BTreeMap, time::Duration};

use crate::{coupled::Coupled, engine::Push, passivity::SlotIndex, scene::Rewind};

/// A snapshot of every simulator, kept by the seats under `number`, and of the orchestrator.
pub(crate) struct Mark {
    pub number: u64,
    pub coupled: Coupled,
}

/// Marks in the order of their windows; the first is that of window 0.
pub(crate) struct Marks {
    settings: Rewind,
    pub kept: Vec<Mark>,
    next_number: u64,
    /// What the last mark took, and what has run since.
    cost: Duration,
    run_since: Duration,
}

impl Marks {
    pub(crate) fn new(settings: Rewind) -> Self {
        Self { settings, kept: Vec::new(), next_number: 0, cost: Duration::ZERO, run_since: Duration::MAX }
    }

    /// Whether enough has run for another mark to be within its share of the time.
    pub(crate) fn due(&self) -> bool {
        self.kept.is_empty() || self.run_since.as_secs_f64() * self.settings.share >= self.cost.as_secs_f64()
    }

    pub(crate) fn ran(&mut self, time: Duration) {
        self.run_since = self.run_since.saturating_add(time);
    }

    pub(crate) fn next_number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    /// Keeps a mark that took `cost`. Gives back the number of one that is to be forgotten for it.
    pub(crate) fn keep(&mut self, mark: Mark, cost: Duration) -> Option<u64> {
        (self.cost, self.run_since) = (cost, Duration::ZERO);
        self.kept.push(mark);
        (self.kept.len() > self.settings.marks).then(|| self.kept.remove(self.least_needed()).number)
    }

    /// The mark whose gap, once it is gone, is smallest against its age: so gaps grow with age.
    /// The first and the last stay.
    fn least_needed(&self) -> usize {
        let window = |i: usize| self.kept[i].coupled.window as f64;
        let now = window(self.kept.len() - 1);
        let weight = |i: usize| (window(i + 1) - window(i - 1)) / (now - window(i) + 1.0);
        (1..self.kept.len() - 1).min_by(|&i, &j| weight(i).total_cmp(&weight(j))).unwrap_or(0)
    }

    /// The last mark at or before `window`.
    pub(crate) fn before(&self, window: u64) -> usize {
        self.kept.partition_point(|mark| mark.coupled.window <= window) - 1
    }

    /// Keeps `mark` alone; gives back the numbers of the others.
    pub(crate) fn restart(&mut self, mark: Mark) -> Vec<u64> {
        (self.cost, self.run_since) = (Duration::ZERO, Duration::ZERO);
        std::mem::replace(&mut self.kept, vec![mark]).iter().map(|mark| mark.number).collect()
    }

    /// Drops the marks after `window`; gives back their numbers.
    pub(crate) fn truncate(&mut self, window: u64) -> Vec<u64> {
        let keep = self.before(window) + 1;
        self.kept.drain(keep..).map(|mark| mark.number).collect()
    }
}

/// What came from outside: the length of windows where it changed, and the loads pushed. It is all
/// kept, since a run can go back to its begin; a run without pushes keeps nothing a window.
#[derive(Default)]
pub(crate) struct Journal {
    /// Number of the first window that is, or will be, recorded.
    start: u64,
    /// That after the last one.
    end: u64,
    lengths: BTreeMap<u64, f64>,
    pushes: BTreeMap<u64, Vec<Push>>,
    /// Contacts that are iterated from this window on.
    iterated: BTreeMap<u64, Vec<SlotIndex>>,
}

impl Journal {
    /// An empty one, of a run that goes on at `window`.
    pub(crate) fn starting(window: u64) -> Self {
        Self { start: window, end: window, ..Self::default() }
    }

    /// Number of the first window that can be gone back to.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    pub(crate) fn record(&mut self, window: u64, dt: f64, pushes: &[Push]) {
        self.end = window + 1;
        if self.lengths.last_key_value().is_none_or(|(_, last)| *last != dt) {
            self.lengths.insert(window, dt);
        }
        if !pushes.is_empty() {
            self.pushes.insert(window, pushes.to_vec());
        }
    }

    /// Number of the next window.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Length of a recorded window `[s]`.
    pub(crate) fn dt(&self, window: u64) -> f64 {
        *self.lengths.range(..=window).next_back().expect("a window is recorded before it is replayed").1
    }

    pub(crate) fn pushes(&self, window: u64) -> &[Push] {
        self.pushes.get(&window).map_or(&[], Vec::as_slice)
    }

    /// Records that these contacts are iterated from `window` on, which was taken again for it.
    pub(crate) fn iterate(&mut self, window: u64, contacts: &[SlotIndex]) {
        self.iterated.insert(window, contacts.to_vec());
    }

    pub(crate) fn iterated(&self, window: u64) -> &[SlotIndex] {
        self.iterated.get(&window).map_or(&[], Vec::as_slice)
    }

    /// Forgets `window` and all after it.
    pub(crate) fn truncate(&mut self, window: u64) {
        self.end = self.end.min(window);
        self.lengths.split_off(&window);
        self.pushes.split_off(&window);
        self.iterated.split_off(&window);
    }

    /// The first window that begins at or after `now − seconds`, if `window` windows have led to `now`.
    pub(crate) fn window_before(&self, window: u64, seconds: f64) -> u64 {
        let (mut left, mut at) = (seconds, window);
        for (&start, &dt) in self.lengths.range(..window).rev() {
            let here = (left / dt + 1e-9).floor().min((at - start) as f64);
            at -= here as u64;
            left -= here * dt;
            if at > start {
                break;
            }
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::totals::Totals;

    fn mark(window: u64) -> Mark {
        let (states, interfaces) = (Vec::new(), Vec::new());
        let totals = Totals::default();
        let given = Vec::new();
        let (short, stopped) = (0.0, vec![]);
        let coupled = Coupled {
            window,
            time: 0.0,
            states,
            interfaces,
            given,
            totals,
            short,
            stopped,
            last_dt: 0.0,
            longest_dt: 0.0,
        };
        Mark { number: window, coupled }
    }

    /// Never more than were asked for, the first and the last among them, and gaps that grow with
    /// age: none is wider than a third of its age but for rounding to windows.
    #[test]
    fn marks_thin_out_with_age() {
        let mut marks = Marks::new(Rewind { share: 1.0, marks: 12 });
        for window in 0..2000 {
            marks.keep(mark(window), Duration::ZERO);
            assert!(marks.kept.len() <= 12);
            let kept: Vec<u64> = marks.kept.iter().map(|mark| mark.coupled.window).collect();
            assert_eq!((kept[0], *kept.last().unwrap()), (0, window));
            for pair in kept.windows(2).filter(|_| window > 100) {
                let age = window - pair[0];
                assert!(pair[1] - pair[0] <= age / 3 * 2 + 2, "window {window}: {kept:?}");
            }
        }
    }

    #[test]
    fn the_mark_before_a_window_is_found_and_later_ones_go() {
        let mut marks = Marks::new(Rewind { share: 1.0, marks: 12 });
        for window in [0, 3, 7] {
            assert_eq!(marks.keep(mark(window), Duration::ZERO), None);
        }
        assert_eq!([0, 2, 3, 6, 7, 9].map(|window| marks.before(window)), [0, 0, 1, 1, 2, 2]);
        assert_eq!(marks.truncate(5), [7]);
    }
}
