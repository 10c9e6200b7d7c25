//! What a step took.

use nalgebra::Vector3;

/// What an obstacle got from the surface in a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reaction {
    /// Which obstacle.
    pub obstacle: u32,
    /// Which of its vertices, where each has a path of its own; else 0.
    pub carrier: u32,
    /// Impulse on it `[N s]`.
    pub linear: Vector3<f64>,
    /// Of a frame: torque impulse about its origin where that was at the begin of the step's part `[N m s]`.
    pub angular: Vector3<f64>,
}

/// What a step found and did. All is well where nothing is `pinched` or `tangled`; several `parts`, `rigid` and `held` say
/// that it was hard. Counts are sums over all parts, with those that were cut into shorter ones.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// Parts that the step was cut into, since obstacles turn or impulses did not suffice.
    pub parts: u32,
    /// Places near enough at the begin to push each other.
    pub contacts: usize,
    /// Impacts, in all rounds.
    pub impacts: usize,
    /// Rounds of impacts.
    pub rounds: u32,
    /// Vertices of free zones that moved as one rigid body.
    pub rigid: usize,
    /// Vertices of zones that moved with the obstacle or the pins that they touch, since nothing less kept them apart.
    pub held: usize,
    /// Vertices of edges and triangles that crossed something at the begin of a part, in order; they are led apart.
    pub tangled: Vec<u32>,
    /// Vertices inside obstacles at the start of a part that are led out.
    pub led: usize,
    /// Largest distance that a free vertex inside an obstacle has to go to be out, or, where features
    /// cross, ten times the thickness `[m]`.
    pub depth: f64,
    /// Vertices between obstacles or pins that leave them no room, in order; there, cloth may be inside obstacles or pierced
    /// by them.
    pub pinched: Vec<u32>,
    /// Part of the step that passed without contact or with contact that was not finished, since all visits were spent
    /// ([`crate::Parameters::visits`]) [-]. Cloth may cross anything there.
    pub unresolved: f64,
    /// What it cost.
    pub cost: Cost,
}

/// Seconds by stage, and how much was looked at. Depends on clock and memory, hence equal to any other.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    /// Pairs of features whose boxes met.
    pub tested: usize,
    /// Placing vertices, broad phase, nearest points.
    pub pairs: f64,
    /// Repulsion.
    pub repel: f64,
    /// Rounds of impacts.
    pub impacts: f64,
    /// Zones.
    pub zones: f64,
}

impl Cost {
    /// Of all stages `[s]`.
    pub fn seconds(&self) -> f64 {
        self.pairs + self.repel + self.impacts + self.zones
    }
}

impl PartialEq for Cost {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
