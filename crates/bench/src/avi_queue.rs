//! The bench `avi-queue`: the queue of events of asynchronous cloth over a binary heap.
//!
//! Both give a hundred thousand events, of elements with clocks of their own, in the same order.

use std::{cmp::Reverse, collections::BinaryHeap, hint::black_box, time::Instant};

use crate::{
    Effort,
    queue::{Event, Queue},
    table::{Failure, Table, median},
};

/// Events of a sample.
const EVENTS: u64 = 100_000;

/// All cases. Time steps of elements differ by a factor of 2 on regular sheets (\[TPS08\] table 1: 5,016
/// triangles). They differ by 12.65 on graded ones (table 2: 2,304 triangles).
///
/// # Errors
/// The two orders differ, or the JSON file cannot be written.
pub fn bench(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    for (elements, ratio) in [(5016, 2.0), (2304, 12.65), (100_000, 2.0)] {
        let case = format!("{elements} elements, spans 1:{ratio}");
        table.case(&case, "slots/heap", None, |table| compare(table, effort, &case, elements, ratio))?;
    }
    Ok(())
}

fn compare(table: &mut Table, effort: Effort, case: &str, elements: usize, ratio: f64) -> Result<(), Failure> {
    let (spans, end) = clocks(elements, ratio);
    let mut queue = Queue::default();
    let (mut ratios, mut each) = (vec![], [vec![], vec![]]);
    for _ in 0..effort.samples(25) {
        let (slots, by_slots) = timed(|| by_slots(&mut queue, black_box(&spans), end));
        let (heap, by_heap) = timed(|| by_heap(black_box(&spans), end));
        if by_slots != by_heap {
            return Err("the two orders of events differ".into());
        }
        ratios.push(slots / heap);
        each.iter_mut().zip([slots, heap]).for_each(|(each, seconds)| each.push(1e9 * seconds / EVENTS as f64));
    }
    table.row(case, "slots/heap", None, &ratios)?;
    table.remark(&format!("{:.1} ns and {:.1} ns an event", median(&each[0]), median(&each[1])));
    Ok(())
}

/// Seconds of a computation, and its result.
fn timed<T>(compute: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = compute();
    (start.elapsed().as_secs_f64(), result)
}

/// Random time steps of elements `[s]`, the longest `ratio` times the shortest, and the time of all
/// events `[s]`.
fn clocks(elements: usize, ratio: f64) -> (Vec<f64>, f64) {
    let mut random = 1_u64;
    let mut number = || {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 11) as f64 / (1_u64 << 53) as f64
    };
    let spans: Vec<f64> = (0..elements).map(|_| 2e-4 * ratio.powf(number())).collect();
    let rate: f64 = spans.iter().map(|span| span.recip()).sum();
    (spans, EVENTS as f64 / rate)
}

/// A hash of an order of elements, continued by one more.
fn mix(order: u64, element: u32) -> u64 {
    order.wrapping_mul(31).wrapping_add(u64::from(element))
}

fn by_heap(spans: &[f64], end: f64) -> u64 {
    let mut order = 0;
    let event = |(element, span): (u32, &f64)| Reverse((span.to_bits(), element));
    let mut heap: BinaryHeap<Reverse<(u64, u32)>> = (0..).zip(spans).map(event).collect();
    while let Some(mut top) = heap.peek_mut() {
        let Reverse((time, element)) = *top;
        let time = f64::from_bits(time);
        if time > end {
            break;
        }
        order = mix(order, element);
        *top = Reverse(((time + spans[element as usize]).to_bits(), element));
    }
    order
}

fn by_slots(queue: &mut Queue, spans: &[f64], end: f64) -> u64 {
    let mut order = 0;
    let mut next = spans.to_vec();
    let width = Queue::slots_of(spans.len(), spans.iter().map(|span| span.recip()).sum());
    let mut from = 0.0;
    while from < end {
        let until = Queue::stretch(from, end, width);
        queue.start(from, until, width);
        for (element, &time) in (0..).zip(&next) {
            queue.push(Event { time, element, place: element });
        }
        while let Some(Event { time, element, .. }) = queue.pop(until) {
            order = mix(order, element);
            let due = time + spans[element as usize];
            next[element as usize] = due;
            queue.push(Event { time: due, element, place: element });
        }
        from = until;
    }
    order
}
