//! Limits of strain and of strain rate (\[TPS08\] section 3, after X. Provot: Deformation constraints in a mass-spring
//! model, 1995).
//!
//! A side with the strain ε and the strain rate ε̇ whose element has an event, the next after Δt, gets
//! equal and opposite impulses at its ends. They change its rate to
//!
//!   ε̇′ = max(0, (ε_n,lim - ε)/Δt)     up to ε_c,lim, where ε̇ is larger: it grows to ε_n,lim at most;
//!   ε̇′ = -min(ε̇, (ε - ε_c,lim)/Δt)   beyond ε_c,lim, where it grows: it rebounds.
//!
//! Since |ε̇′| <= |ε̇|, no impulse adds energy; momentum and angular momentum are kept. A side beyond its
//! limit that does not grow is left to forces. The paper moves its ends instead: neighbours that are
//! moved at once store energy in each other (a sheet that a ball had stretched by half gained 500 times
//! the ball's energy), and angular momentum is lost.
//!
//! In a corner by which all of a cloth hangs, forces alone would stretch sides by half. There limits
//! bear the load. Impulses once in a span would let neighbours pull a side out by another tenth between
//! them. So sides that are at their limits are *taut*: an event that moves one of their ends holds them
//! back, and one that is held back calls the taut sides at its ends, until nothing changes much. In the
//! paper each element does so once in its own event.

use std::collections::VecDeque;

use crate::{
    Limit,
    elements::{Elements, Patch},
    flight::Flights,
    lane::{Lane, Memory, Rules},
    queue::Event,
    state::{Clock, Sides},
};

/// How many times earlier than usual an event may come.
const EARLIEST: f64 = 16.0;

/// Sides that one event checks at most; those left are beyond their limits until a later event.
const MOST_LOOKS: f64 = 256.0;

/// As few as that, where cloth is far beyond its limits.
const LEAST_LOOKS: f64 = 16.0;

/// What is let be: strain that is too much, or would be by the next event [-].
const SLACK: f64 = 1e-4;

/// Of each vertex, how many taut sides it ends.
pub(crate) fn count_taut(elements: &Elements, clocks: &[Clock], vertices: usize, taut: &mut Vec<u32>) {
    taut.clear();
    taut.resize(vertices, 0);
    for (patch, clock) in elements.patches.iter().zip(clocks) {
        clock.taut.iter().flat_map(|side| patch.ends(side)).for_each(|v| taut[v as usize] += 1);
    }
}

impl Limit {
    /// Number of sides that one event may check in an interval that starts with such a largest strain. Where something
    /// pulls cloth out farther than its limit, no number of impulses is enough and each event takes all that it may:
    /// the number falls with the square of the strain.
    pub(crate) fn looks(&self, stretch: f64) -> u32 {
        let within = (self.strain / stretch.max(self.strain)).powi(2);
        (MOST_LOOKS * within).max(LEAST_LOOKS) as u32
    }
}

impl Lane<'_> {
    /// Limits, after an event of an element. The time until its next `[s]`.
    #[inline(always)]
    pub fn hold_back(&mut self, event: Event, limit: &Limit, rules: &Rules<'_>, memory: &mut Memory) -> f64 {
        let Rules { elements, looks, .. } = *rules;
        let element = event.place as usize;
        let clock = &mut self.clocks[element];
        let mut span = clock.usual;
        if let Some(patch) = elements.patches.get(element) {
            let taut = patch.taut_sides(limit, span, &self.flights);
            if taut != clock.taut {
                for side in (0..3).filter(|&side| taut.contain(side) != clock.taut.contain(side)) {
                    for v in patch.ends(side) {
                        let around = &mut self.taut[v as usize];
                        *around = if taut.contain(side) { *around + 1 } else { *around - 1 };
                    }
                }
                clock.taut = taut;
            }
        }
        let moved = elements.touched(element);
        if moved.iter().any(|&v| self.taut[v as usize] > 0) {
            if let Some(patch) = elements.patches.get(element) {
                span = patch.next_span(limit, span, &self.flights);
            }
            moved.iter().for_each(|&v| self.call(elements, v, &mut memory.called));
            self.hold_called(elements, event.time, (limit, looks), memory);
        }
        span
    }

    /// Checks so many of the sides that were called and those that they call.
    #[inline(never)]
    fn hold_called(&mut self, elements: &Elements, time: f64, (limit, most): (&Limit, u32), memory: &mut Memory) {
        let mut looks = 0;
        while let Some((number, side)) = memory.called.pop_front() {
            let (clock, side) = (&mut self.clocks[number as usize], side as usize);
            let span = clock.usual;
            looks += 1;
            if looks > most {
                clock.called.set(side, false);
                memory.given_up += 1;
                continue;
            }
            memory.checked += 1;
            let patch = &elements.patches[number as usize];
            let ends = patch.ends(side);
            for v in ends {
                self.flights.reach(v as usize, time);
            }
            if patch.hold_side(side, limit, span, &mut self.flights) {
                memory.limited += 1;
                ends.iter().for_each(|&v| self.call(elements, v, &mut memory.called));
            }
            // Only now, so that it does not call itself.
            self.clocks[number as usize].called.set(side, false);
        }
    }

    /// Queues the taut sides that a vertex ends. Triangles of other lanes have none there: else the vertex were barred (`windows.rs`).
    fn call(&mut self, elements: &Elements, vertex: u32, called: &mut VecDeque<(u32, u32)>) {
        if self.taut[vertex as usize] == 0 {
            return;
        }
        for corner in elements.around(vertex) {
            let Some(clock) = self.clocks.get_mut(corner.patch as usize) else { continue };
            for side in clock.taut.and(corner.sides).without(clock.called).iter() {
                clock.called.set(side, true);
                called.push_back((corner.patch, side as u32));
            }
        }
    }
}

impl Limit {
    /// Whether a side does not grow too fast, by more than some: of its vector d the square `[m²]`, Δt d·ḋ `[m²]`, and
    /// its length at rest `[m]`.
    #[inline(always)]
    fn lets_be(&self, square: f64, growth: f64, length: f64) -> bool {
        let at_most = |strain: f64| (1.0 + strain) * length;
        if square > at_most(self.predicted).powi(2) {
            let slack = if square > at_most(self.strain + SLACK).powi(2) { 0.0 } else { SLACK * length };
            return !is_beyond(square, growth, slack);
        }
        !is_beyond(square, square + growth, at_most(self.predicted + SLACK))
    }
}

/// Whether d·y/|d| is more than so much, of |d|² and d·y: without a root, which is most of what limits would cost.
#[inline(always)]
fn is_beyond(square: f64, product: f64, most: f64) -> bool {
    product > 0.0 && product * product > most * most * square
}

impl Patch {
    /// Strain of a side, and its rate `[1/s]`.
    #[inline(always)]
    fn strain(&self, side: usize, flights: &Flights<'_>) -> [f64; 2] {
        let [i, j] = self.ends(side).map(|v| &flights.nodes[v as usize]);
        let apart = j.x - i.x;
        let now = apart.norm();
        [now / self.lengths[side] - 1.0, apart.dot(&(j.v - i.v)) / (now * self.lengths[side])]
    }

    /// Its own sides that would be strained by more than they may at the next event, or are.
    #[inline(always)]
    fn taut_sides(&self, limit: &Limit, span: f64, flights: &Flights<'_>) -> Sides {
        let mut taut = Sides::default();
        for side in self.own.iter() {
            let [i, j] = self.ends(side).map(|v| &flights.nodes[v as usize]);
            let apart = j.x - i.x;
            let (square, growth) = (apart.norm_squared(), span * apart.dot(&(j.v - i.v)));
            let longest = (1.0 + limit.predicted) * self.lengths[side];
            taut.set(side, square > longest * longest || is_beyond(square, square + growth, longest));
        }
        taut
    }

    /// Until when no side is strained by more than twice what it may be at the next event (\[TPS08\] section 4).
    fn next_span(&self, limit: &Limit, span: f64, flights: &Flights<'_>) -> f64 {
        let until = (0..3).map(|side| {
            let [strain, rate] = self.strain(side, flights);
            if rate > 0.0 { (2.0 * limit.predicted - strain) / rate } else { f64::INFINITY }
        });
        until.fold(span, f64::min).max(span / EARLIEST)
    }

    /// Holds a side back by its limits. Returns whether it got an impulse.
    pub fn hold_side(&self, side: usize, limit: &Limit, span: f64, flights: &mut Flights<'_>) -> bool {
        let [i, j] = self.ends(side).map(|v| v as usize);
        let length = self.lengths[side];
        let [from, to] = [&flights.nodes[i], &flights.nodes[j]];
        let mobility = from.w + to.w;
        let apart = to.x - from.x;
        if mobility == 0.0 || limit.lets_be(apart.norm_squared(), span * apart.dot(&(to.v - from.v)), length) {
            return false;
        }
        let [strain, rate] = self.strain(side, flights);
        let most = ((limit.predicted - strain) / span).max(0.0);
        if rate <= most {
            return false;
        }
        let back = ((strain - limit.strain) / span).clamp(0.0, rate);
        let impulse = (rate - most + back) * length / mobility * apart.normalize();
        flights.push(i, impulse);
        flights.push(j, -impulse);
        true
    }
}

#[cfg(test)]
mod tests {
    use partita_mesh::Mesh;

    use crate::{AviCloth, Fabric};

    /// Those at the boundary too; and it is the one with the shorter span.
    #[test]
    fn one_triangle_looks_at_each_side() {
        let mesh = Mesh::unstructured([1.0; 2], 200, |_| 1.0).unwrap();
        let sorted = |mut ends: [u32; 2]| {
            ends.sort_unstable();
            ends
        };
        let mut edges: Vec<[u32; 2]> = mesh.edges().iter().map(|edge| sorted(edge.vertices)).collect();
        edges.sort_unstable();
        let AviCloth { elements, .. } = AviCloth::new("sheet", mesh.clone(), Fabric::jersey()).unwrap();
        let own = elements.patches.iter().flat_map(|patch| patch.own.iter().map(|side| sorted(patch.ends(side))));
        let mut sides: Vec<[u32; 2]> = own.collect();
        sides.sort_unstable();
        assert_eq!(sides, edges);
        let shortest = |edge: &partita_mesh::Edge| {
            let spans = [Some(edge.left), edge.right].into_iter().flatten().map(|t| elements.spans[t as usize]);
            spans.fold(f64::INFINITY, f64::min)
        };
        for edge in mesh.edges() {
            let has = |t: usize| {
                let patch = &elements.patches[t];
                patch.own.iter().any(|side| sorted(patch.ends(side)) == sorted(edge.vertices))
            };
            let owner = (0..elements.patches.len()).find(|&t| has(t)).unwrap();
            assert_eq!(elements.spans[owner], shortest(edge));
        }
    }
}
