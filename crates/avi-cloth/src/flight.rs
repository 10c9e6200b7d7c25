//! Vertices between events: they fly freely, or along the way on which they are held, until somebody needs them at another time.
//!
//! In an interval all is told in a frame that falls freely from its begin on ([`Falling`]). There gravity is nowhere, and whoever is free
//! goes straight on with the velocity that it has, which is not touched: with parabolas an event took 126 ns for 117. Forces,
//! limits and contacts only know differences, which are the same in every frame.

use nalgebra::Vector3;
use partita_simulator::{HandleState, path::cubic};

use crate::{run::Run, state::Node, step::Interval};

type V3 = Vector3<f64>;

/// A vertex whose way is given: along the cubic between two states.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub vertex: usize,
    /// At the begin and the end of the step.
    pub states: [HandleState; 2],
    /// How fast it went before it was held so `[m/s]`.
    pub before: V3,
    /// To which guide it is attached; none if it is pinned or a hand's.
    pub guide: Option<u32>,
    /// What elements and contacts gave it in the step, which whoever holds it takes `[N s]`, and the moment of that about the world's
    /// origin `[N m s]`.
    pub taken: V3,
    pub turned: V3,
    /// What that, taken from the free, makes of their ∫ Σ m x dt up to the end of the interval `[kg m s]`.
    pub moment: V3,
}

impl Way {
    pub fn new(vertex: usize, states: [HandleState; 2], before: V3, guide: Option<u32>) -> Self {
        Self { vertex, states, before, guide, taken: V3::zeros(), turned: V3::zeros(), moment: V3::zeros() }
    }

    /// Whoever holds it takes an impulse at a place.
    pub fn take(&mut self, at: V3, impulse: V3) {
        self.taken += impulse;
        self.turned += at.cross(&impulse);
    }

    /// Where and how fast at a time, in a step with such a begin and duration `[s]`.
    pub fn at(&self, time: f64, [begin, dt]: [f64; 2]) -> (V3, V3) {
        let [from, to] = &self.states;
        let rests = from.position == to.position && from.velocity == [0.0; 3] && to.velocity == [0.0; 3];
        let at = if rests || time >= begin + dt { *to } else { cubic(from, to, dt, (time - begin) / dt) };
        (at.position.into(), at.velocity.into())
    }
}

/// What those who hold make of ∫ Σ m x dt of the free up to the end of the interval `[kg m s]`: in order of vertices.
pub(crate) fn moment(ways: &[Way]) -> V3 {
    ways.iter().map(|way| way.moment).sum()
}

/// A frame that rests at one time and falls freely.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Falling {
    /// `[m/s²]`
    gravity: V3,
    /// When it rests `[s]`.
    at_rest: f64,
}

impl Falling {
    /// How far it has come at a time, and how fast it is `[m, m/s]`.
    pub fn fallen(&self, time: f64) -> (V3, V3) {
        let t = time - self.at_rest;
        (0.5 * t * t * self.gravity, t * self.gravity)
    }
}

/// Vertices in an interval, in a frame that falls from its begin on.
pub(crate) struct Flights<'a> {
    pub nodes: Run<'a, Node>,
    pub frame: Falling,
    /// Of gravity and loads, of all vertices, where there are loads; constant over the step `[m/s²]`.
    pub accelerations: &'a [V3],
    /// Of what is held, in order of vertices.
    pub ways: &'a mut [Way],
    /// Of the step: begin and duration `[s]`.
    pub step: [f64; 2],
    /// End of the interval `[s]`.
    pub until: f64,
    /// What impulses of obstacles make of ∫ Σ m x dt of the free vertices up to the end of the interval `[kg m s]`.
    pub moment: V3,
}

impl<'a> Flights<'a> {
    /// Takes vertices into the frame.
    pub fn begin(
        nodes: &'a mut [Node],
        gravity: [f64; 3],
        accelerations: &'a [V3],
        ways: &'a mut [Way],
        interval: Interval,
    ) -> Self {
        let (step, until) = (interval.step, interval.end);
        let frame = Falling { gravity: gravity.into(), at_rest: interval.begin };
        for node in &mut *nodes {
            let (way, speed) = frame.fallen(node.time);
            node.x -= way;
            node.v -= speed;
        }
        ways.iter_mut().for_each(|way| way.moment = V3::zeros());
        Self { nodes: Run::of(nodes), frame, accelerations, ways, step, until, moment: V3::zeros() }
    }

    /// Takes vertices out of the frame, each at its time. What obstacles gave to the moment of the free.
    pub fn end(self) -> V3 {
        for node in self.nodes.items {
            let (way, speed) = self.frame.fallen(node.time);
            node.x += way;
            node.v += speed;
        }
        self.moment
    }

    /// Vertices before one, and the rest.
    pub fn split(self, vertex: usize) -> (Self, Self) {
        let Self { nodes, frame, accelerations, ways, step, until, moment } = self;
        let (nodes, more_nodes) = nodes.split(vertex);
        let (ways, more_ways) = ways.split_at_mut(ways.partition_point(|way| way.vertex < vertex));
        let more = Self { nodes: more_nodes, frame, accelerations, ways: more_ways, step, until, moment: V3::zeros() };
        (Self { nodes, frame, accelerations, ways, step, until, moment }, more)
    }

    /// The same for a while. What the loan adds to `moment` is lost: obstacles' impulses come outside of loans.
    pub fn lend(&mut self) -> Flights<'_> {
        let Self { nodes, frame, accelerations, ways, step, until, moment } = self;
        let (frame, accelerations, step, until, moment) = (*frame, *accelerations, *step, *until, *moment);
        Flights { nodes: nodes.lend(), frame, accelerations, ways, step, until, moment }
    }

    /// Takes a vertex to a time that is not before its own, and tells where it is then. Free ones fly, which is exact.
    #[inline(always)]
    pub fn reach(&mut self, k: usize, time: f64) -> V3 {
        let node = &mut self.nodes[k];
        if node.time != time && node.w != 0.0 {
            let x = if let Some(acceleration) = self.accelerations.get(k) {
                let (x, v) = node.at(time, acceleration - self.frame.gravity);
                node.v = v;
                x
            } else {
                node.x + (time - node.time) * node.v
            };
            (node.x, node.time) = (x, time);
            // Not from memory, where it is not yet. With one question after the other an event takes 3 to 16 % longer.
            return x;
        }
        if node.time != time {
            self.lead(k, time);
        }
        self.nodes[k].x
    }

    /// The same of a vertex that is held.
    #[inline(never)]
    fn lead(&mut self, k: usize, time: f64) {
        let Ok(number) = self.ways.binary_search_by_key(&k, |way| way.vertex) else { return };
        let ((x, v), (way, speed)) = (self.ways[number].at(time, self.step), self.frame.fallen(time));
        let node = &mut self.nodes[k];
        (node.x, node.v, node.time) = (x - way, v - speed, time);
    }

    /// An impulse on a vertex `[N s]`.
    #[inline(always)]
    pub fn push(&mut self, k: usize, impulse: V3) {
        let node = &mut self.nodes[k];
        if node.w == 0.0 {
            self.take(k, impulse);
        } else {
            node.v += node.w * impulse;
        }
    }

    /// The same on a vertex that is held: who holds it takes it, and the rest of the cloth is short of it.
    #[inline(never)]
    fn take(&mut self, k: usize, impulse: V3) {
        let Ok(number) = self.ways.binary_search_by_key(&k, |way| way.vertex) else { return };
        let (way, node) = (&mut self.ways[number], &self.nodes[k]);
        way.take(node.x + self.frame.fallen(node.time).0, impulse);
        way.moment -= 0.5 * (self.until - node.time).powi(2) * impulse;
    }

    /// Free vertices lose an impulse to an obstacle at a time.
    pub fn leave(&mut self, time: f64, impulse: V3) {
        self.moment -= 0.5 * (self.until - time).powi(2) * impulse;
    }
}
