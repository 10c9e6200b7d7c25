//! Vertices between events: they fly freely, or along the way on which they are held, until somebody needs them at another time.

use nalgebra::Vector3;
use partita_simulator::{HandleState, path::cubic};

use crate::state::Node;

type V3 = Vector3<f64>;

/// A vertex whose way is given: along the cubic between two states.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub vertex: usize,
    /// At the begin and the end of the step.
    pub states: [HandleState; 2],
    /// To which guide it is attached; none if it is pinned or a hand's.
    pub guide: Option<u32>,
    /// What elements and contacts gave it in the step, which whoever holds it takes `[N s]`, and the moment of that about the world's
    /// origin `[N m s]`.
    pub taken: V3,
    pub turned: V3,
}

impl Way {
    pub fn new(vertex: usize, states: [HandleState; 2], guide: Option<u32>) -> Self {
        Self { vertex, states, guide, taken: V3::zeros(), turned: V3::zeros() }
    }

    /// Where and how fast at a time, in a step with such a begin and duration `[s]`.
    pub fn at(&self, time: f64, [begin, dt]: [f64; 2]) -> (V3, V3) {
        let [from, to] = &self.states;
        let at = if from == to || time >= begin + dt { *to } else { cubic(from, to, dt, (time - begin) / dt) };
        (at.position.into(), at.velocity.into())
    }
}

/// All vertices in a step.
pub(crate) struct Flights<'a> {
    pub nodes: &'a mut [Node],
    /// Of gravity and loads, constant over the step `[m/s²]`.
    pub accelerations: &'a [V3],
    /// `[kg]`
    pub masses: &'a [f64],
    /// Of what is held, in order of vertices.
    pub ways: &'a mut [Way],
    /// Of the step: begin and duration `[s]`.
    pub step: [f64; 2],
    /// Σ ∫ m x dt of what flew freely `[kg m s]`: gravity's torque is its cross product with g.
    pub moment: V3,
}

impl Flights<'_> {
    /// Takes a vertex to a time that is not before its own. Free ones fly along the parabola, which is exact.
    #[inline(always)]
    pub fn reach(&mut self, k: usize, time: f64) {
        let node = &mut self.nodes[k];
        let tau = time - node.time;
        if tau == 0.0 {
            return;
        }
        if node.w == 0.0 {
            self.lead(k, time);
            return;
        }
        let a = self.accelerations[k];
        let x = node.x + (tau * node.v + (0.5 * tau * tau) * a);
        // ∫ x dt = ½ τ (x₀ + x₁) - τ³ a/12, and a part along g has no torque.
        self.moment += (0.5 * self.masses[k] * tau) * (node.x + x);
        node.x = x;
        node.v += tau * a;
        node.time = time;
    }

    /// The same of a vertex that is held.
    fn lead(&mut self, k: usize, time: f64) {
        let Ok(number) = self.ways.binary_search_by_key(&k, |way| way.vertex) else { return };
        let (x, v) = self.ways[number].at(time, self.step);
        let node = &mut self.nodes[k];
        (node.x, node.v, node.time) = (x, v, time);
    }

    /// An impulse on a vertex `[N s]`.
    #[inline(always)]
    pub fn push(&mut self, k: usize, impulse: V3) {
        let node = &mut self.nodes[k];
        if node.w != 0.0 {
            node.v += node.w * impulse;
        } else if let Ok(number) = self.ways.binary_search_by_key(&k, |way| way.vertex) {
            let way = &mut self.ways[number];
            way.taken += impulse;
            way.turned += self.nodes[k].x.cross(&impulse);
        }
    }
}
