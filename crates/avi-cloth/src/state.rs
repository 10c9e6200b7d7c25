//! All that a step reads or changes.

use nalgebra::Vector3;
use partita_simulator::Wrench;
use serde::{Deserialize, Serialize};

type V3 = Vector3<f64>;

/// A vertex at its own time, from which it flies on until an element needs it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub(crate) struct Node {
    /// `[m]`
    pub x: V3,
    /// `[s]`
    pub time: f64,
    /// `[m/s]`
    pub v: V3,
    /// Inverse mass, 0 for what is held in the step `[1/kg]`. No state: each step begins with it.
    #[serde(skip)]
    pub w: f64,
}

impl Node {
    /// Where and how fast it would be at a time, flying freely with an acceleration.
    #[inline(always)]
    pub fn at(&self, time: f64, acceleration: V3) -> (V3, V3) {
        let tau = time - self.time;
        if tau == 0.0 {
            return (self.x, self.v);
        }
        (self.x + tau * (self.v + (0.5 * tau) * acceleration), self.v + tau * acceleration)
    }

    /// Goes there.
    #[inline(always)]
    pub fn fly(&mut self, time: f64, acceleration: V3) {
        (self.x, self.v) = self.at(time, acceleration);
        self.time = time;
    }
}

/// An element's clock.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Clock {
    /// Of its next event `[s]`.
    pub next: f64,
    /// Since the one before: for how long its forces act then `[s]`.
    pub span: f64,
    /// From event to event, unless limits call for the next earlier `[s]`.
    pub usual: f64,
    /// Sides that were at their limits with its last event.
    pub taut: Sides,
    /// Those that limits are to look at. No state: none after each event.
    #[serde(skip)]
    pub called: Sides,
}

/// Some of a triangle's sides, from a corner to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sides(u8);

impl Sides {
    /// Those that a corner ends: the one that begins there, and the one before.
    pub fn at_corner(corner: usize) -> Self {
        Self(1 << corner | 1 << ((corner + 2) % 3))
    }

    pub fn contain(self, side: usize) -> bool {
        self.0 & (1 << side) != 0
    }

    /// Those that are in both.
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those that are not in the other.
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub fn set(&mut self, side: usize, is_in: bool) {
        self.0 = self.0 & !(1 << side) | u8::from(is_in) << side;
    }

    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..3).filter(move |&side| self.contain(side))
    }
}

/// Of an element with its last event.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Strains {
    /// Of the membrane, along warp, weft and between.
    pub membrane: [f64; 3],
    /// sin(θ/2) of its hinges; of a hinge by itself, the first.
    pub sines: [f64; 3],
}

#[derive(PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    /// `[s]`
    pub time: f64,
    /// One a vertex.
    pub nodes: Vec<Node>,
    /// One an element: triangles, then hinges that have clocks.
    pub clocks: Vec<Clock>,
    /// The same, where there is viscosity; else none.
    pub strains: Vec<Strains>,
    /// What contact goes on from.
    pub contact: partita_contact::State,
    /// As in [`partita_simulator::Ledger::external`].
    pub external: Wrench,
}

/// Reuses the memory that is there, which the derived one does not.
impl Clone for State {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, from: &Self) {
        let Self { time, nodes, clocks, strains, contact, external } = from;
        self.time = *time;
        self.nodes.clone_from(nodes);
        self.clocks.clone_from(clocks);
        self.strains.clone_from(strains);
        self.contact.clone_from(contact);
        self.external = *external;
    }
}
