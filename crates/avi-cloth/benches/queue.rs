//! The queue of events beside a binary heap, `cargo bench -p partita-avi-cloth`: a hundred thousand events of elements with clocks of their
//! own, in the same order from both.

#![allow(missing_docs)]

use std::{cmp::Reverse, collections::BinaryHeap, hint::black_box};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// The crate's own, which is not public.
#[allow(dead_code, reason = "one thread asks for no events but the next")]
#[path = "../src/queue.rs"]
mod queue;

use queue::{Event, Queue};

const EVENTS: u64 = 100_000;

/// Spans of so many elements, the longest so many times the shortest, and the time of all events `[s]`.
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

/// A number that no other order of elements is likely to give.
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

fn queues(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("queue");
    group.throughput(Throughput::Elements(EVENTS));
    for (elements, ratio) in [(5016, 2.0), (2304, 12.65), (100_000, 2.0)] {
        let (spans, end) = clocks(elements, ratio);
        let mut queue = Queue::default();
        assert_eq!(by_heap(&spans, end), by_slots(&mut queue, &spans, end), "both in the same order");
        let name = |kind: &str| BenchmarkId::new(kind, format!("{elements} elements, spans 1:{ratio}"));
        group.bench_function(name("heap"), |b| b.iter(|| by_heap(black_box(&spans), end)));
        group.bench_function(name("slots"), |b| b.iter(|| by_slots(&mut queue, black_box(&spans), end)));
    }
    group.finish();
}

criterion_group!(benches, queues);
criterion_main!(benches);
