//! Cloth between two obstacles: free vertices that rest on one obstacle bear another one.
//!
//! A free vertex on an obstacle B cannot give way to an obstacle A that comes from the other side. It is a contact between A and B with
//! the thickness of both: their rooms add up, velocities and mobilities at the vertex are those of B, and B takes what A gets. `stops.rs`
//! solves it with the contacts of kinematic cloth.

use nalgebra::Vector3;

use crate::{
    Ahead, Carriers, Contacts, State,
    broad::{Bounds, Pair},
    contacts::AHEAD,
};

type V3 = Vector3<f64>;

/// Weight from which on a contact is one of a vertex [-].
pub(crate) const VERTEX: f64 = 0.99;

/// Cosine between the directions out of two obstacles below which they press against each other [-].
const AGAINST: f64 = -0.7;

/// A free vertex that rests on an obstacle that a frame carries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Backing {
    pub vertex: u32,
    pub obstacle: u32,
    /// Direction out of the obstacle.
    pub out: V3,
    /// Distance beyond the thickness `[m]`.
    pub room: f64,
    /// Place of the vertex from the frame's origin `[m]`.
    pub arm: V3,
}

impl Contacts {
    /// Pairs of the last interval in which free vertices rest on frames while another obstacle may come to them within the next step: pairs,
    /// and their obstacles.
    pub(crate) fn resting(&self, ahead: &Ahead<'_>) -> Vec<(Pair, u32)> {
        let cloth = self.features.vertices();
        let reach = (1.0 + AHEAD) * self.parameters.thickness;
        let may_be_pressed = |vertex: usize, by: u32| {
            let at = Bounds::swept(&ahead.positions[vertex], &(ahead.dt * ahead.velocities[vertex]), reach);
            let mut others = (0..self.obstacles.len()).filter(|&number| number != by as usize);
            others.any(|number| {
                let carriers = &ahead.carriers[number];
                self.may_come(number, carriers, ahead.dt, &at)
            })
        };
        let mut resting = vec![];
        for (pair, near) in self.work.pairs.iter().zip(&self.work.nearest) {
            let Some(obstacle) = self.obstacle(pair) else { continue };
            let Carriers::Frame(_) = ahead.carriers[obstacle as usize] else { continue };
            let meeting = self.meeting(Some(obstacle));
            let is_far = near.distance() - meeting.radius > (1.0 + AHEAD) * meeting.thickness;
            if is_far || self.is_beside_rim(pair, near, Some(obstacle)) {
                continue;
            }
            let mut parts = pair.parts(near.weights, cloth);
            let vertex = parts.find(|(_, c)| c.abs() > VERTEX).map(|(vertex, _)| vertex);
            let free = vertex.filter(|&vertex| ahead.inverse_masses[vertex] > 0.0);
            if free.is_some_and(|vertex| may_be_pressed(vertex, obstacle)) {
                resting.push((*pair, obstacle));
            }
        }
        resting
    }

    /// Whether what is behind the cloth of a pair stops the pair's obstacle, so that the cloth need not.
    pub(crate) fn is_borne(&self, state: &State, pair: &Pair, weights: &[f64; 4], obstacle: Option<u32>) -> bool {
        let Some(obstacle) = obstacle.filter(|_| !state.borne.is_empty()) else { return false };
        let mut parts = pair.parts(*weights, self.features.vertices()).filter(|(_, c)| *c != 0.0);
        parts.all(|(vertex, _)| state.borne.binary_search(&[vertex as u32, obstacle]).is_ok())
    }

    /// Vertices that rest on frames at the start of the next step, in order; obstacles are placed there.
    pub(crate) fn backings(&self, resting: &[(Pair, u32)], ahead: &Ahead<'_>) -> Vec<Backing> {
        let cloth = self.features.vertices();
        let mut all: Vec<Backing> = vec![];
        for &(pair, obstacle) in resting {
            let Carriers::Frame(frame) = &ahead.carriers[obstacle as usize] else { continue };
            let near = self.nearest_of(&pair);
            if self.is_beside_rim(&pair, &near, Some(obstacle)) {
                continue;
            }
            let part = pair.parts(near.weights, cloth).find(|(_, c)| c.abs() > VERTEX);
            let (Some((vertex, c)), Some(n)) = (part, self.direction(&pair, &near, Some(obstacle))) else { continue };
            let meeting = self.meeting(Some(obstacle));
            all.push(Backing {
                vertex: vertex as u32,
                obstacle,
                out: c.signum() * n,
                room: near.distance() - meeting.radius - meeting.thickness,
                arm: self.work.x[vertex] - frame.pose.translation.vector,
            });
        }
        all.sort_by(|a, b| (a.vertex, a.obstacle).cmp(&(b.vertex, b.obstacle)).then(a.room.total_cmp(&b.room)));
        all.dedup_by_key(|backing| (backing.vertex, backing.obstacle));
        all
    }
}

/// The backing of a vertex against an obstacle that presses it along `out`, its own direction out.
pub(crate) fn against<'a>(backings: &'a [Backing], vertex: u32, obstacle: u32, out: &V3) -> Option<&'a Backing> {
    of_vertex(backings, vertex).find(|backing| backing.obstacle != obstacle && backing.out.dot(out) < AGAINST)
}

/// Largest distance by which a vertex is closer than the thickness to obstacles that it rests on; none
/// where it rests on none `[m]`.
pub(crate) fn deeper(backings: &[Backing], vertex: u32) -> Option<f64> {
    of_vertex(backings, vertex).map(|backing| (-backing.room).max(0.0)).reduce(f64::max)
}

/// Backings of a vertex.
fn of_vertex(backings: &[Backing], vertex: u32) -> impl Iterator<Item = &Backing> {
    let from = backings.partition_point(|backing| backing.vertex < vertex);
    backings[from..].iter().take_while(move |backing| backing.vertex == vertex)
}
