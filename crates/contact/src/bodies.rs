//! Rigid bodies and points that impulses move, for `stops.rs`: each one of its own, whatever
//! obstacles and vertices it carries.
//!
//! The relative velocity at a contact is linear in the velocities of the bodies there. With V and ω
//! of a body at its origin, and weights c of places r from there, its part is
//!
//!   Σ c (V + ω x r) = c̄ V + ω x m,   c̄ = Σ c,   m = Σ c r,
//!
//! and an impulse J of the contact acts on the body with the impulse c̄ J and the torque m x J.

use nalgebra::{Matrix3, Vector3};

use crate::{Ahead, Carrier, Carriers, Mobility, anchored::Anchored};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// A rigid body or a point.
struct Body {
    /// Origin, at the start of the next step `[m]`.
    origin: V3,
    /// At the origin.
    mobility: Mobility,
    /// Whether others may move with it in ways that are unknown.
    is_linked: bool,
}

/// All that impulses may move.
pub(crate) struct Bodies {
    all: Vec<Body>,
    /// First body of each obstacle; points have one each.
    of_obstacles: Vec<u32>,
    /// Body of each support, in their order.
    of_supports: Vec<u32>,
    /// Number of linked bodies in contacts [-]. A contact sees their mobility multiplied by this
    /// (mass splitting), which gives impulses that are too small, not too large.
    sharing: f64,
}

/// Part of a body in the relative velocity at a contact.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub body: u32,
    /// Sum of weights c̄ [-], and of weights times places m `[m]`.
    weight: f64,
    moment: V3,
}

/// Changes of velocity `[m/s]` and spin `[rad/s]` of each body at its origin.
pub(crate) struct Changes(Vec<[V3; 2]>);

impl Bodies {
    pub fn new(ahead: &Ahead<'_>) -> Self {
        let mut all: Vec<Body> = vec![];
        let mut numbers: Vec<(u32, u32)> = vec![];
        let mut add = |number: Option<u32>, body: Body| {
            let known = number.and_then(|number| numbers.iter().find(|(known, _)| *known == number));
            if let Some((_, index)) = known {
                return *index;
            }
            let index = all.len() as u32;
            numbers.extend(number.map(|number| (number, index)));
            all.push(body);
            index
        };
        let carried = |carrier: &Carrier| Body {
            origin: carrier.pose.translation.vector,
            mobility: carrier.mobility,
            is_linked: carrier.is_linked,
        };
        let of_obstacles = (ahead.carriers.iter())
            .map(|carriers| match carriers {
                Carriers::Absent => 0,
                Carriers::Frame(frame) => add(frame.body, carried(frame)),
                Carriers::Points(points) => {
                    points.iter().map(|point| add(None, carried(point))).min().unwrap_or_default()
                }
            })
            .collect();
        let of_supports = (ahead.supports.iter())
            .map(|support| {
                let origin = ahead.positions[support.vertex as usize];
                add(support.body, Body { origin, mobility: support.mobility, is_linked: support.is_linked })
            })
            .collect();
        Self { all, of_obstacles, of_supports, sharing: 1.0 }
    }

    /// The body of an obstacle's frame, or of one of its points.
    pub fn of_obstacle(&self, obstacle: u32, point: u32) -> u32 {
        self.of_obstacles[obstacle as usize] + point
    }

    /// The body that supports a vertex, and the acceleration of that by all else `[m/s²]`.
    pub fn of_support(&self, vertex: u32, ahead: &Ahead<'_>) -> Option<(u32, V3)> {
        let found = ahead.supports.binary_search_by_key(&vertex, |support| support.vertex);
        found.ok().map(|k| (self.of_supports[k], ahead.supports[k].acceleration))
    }

    /// Adds a place with a weight to the parts of a contact. What cannot move has none.
    pub fn add(&self, parts: &mut Vec<Part>, body: u32, weight: f64, place: &V3) {
        let Body { origin, mobility, .. } = &self.all[body as usize];
        if mobility.is_zero() {
            return;
        }
        self.join(parts, &Part { body, weight, moment: weight * (place - origin) });
    }

    /// Adds a part to those of a contact.
    pub fn join(&self, parts: &mut Vec<Part>, part: &Part) {
        match parts.iter_mut().find(|known| known.body == part.body) {
            Some(known) => {
                known.weight += part.weight;
                known.moment += part.moment;
            }
            None => parts.push(*part),
        }
    }

    /// Puts contacts in order of groups that share no body.
    pub fn group(&self, contacts: &mut [Anchored]) {
        // Each body leads to one of a smaller number in its group.
        let mut leads: Vec<u32> = (0..self.all.len() as u32).collect();
        let first = |leads: &mut [u32], mut body: u32| {
            while leads[body as usize] != body {
                leads[body as usize] = leads[leads[body as usize] as usize];
                body = leads[body as usize];
            }
            body
        };
        for contact in contacts.iter() {
            for two in contact.parts.windows(2) {
                let [a, b] = [0, 1].map(|k| first(&mut leads, two[k].body));
                leads[a.max(b) as usize] = a.min(b);
            }
        }
        contacts.iter_mut().for_each(|contact| contact.group = first(&mut leads, contact.parts[0].body));
        contacts.sort_by_key(|contact| contact.group);
    }

    /// Counts the linked bodies in contacts.
    pub fn share(&mut self, contacts: &[Anchored]) {
        let parts = contacts.iter().flat_map(|contact| &contact.parts);
        let mut linked: Vec<u32> =
            parts.map(|part| part.body).filter(|&body| self.all[body as usize].is_linked).collect();
        linked.sort_unstable();
        linked.dedup();
        self.sharing = linked.len().max(1) as f64;
    }

    /// Change of the relative velocity by an impulse of the contact `[1/kg]`.
    pub fn mobility(&self, parts: &[Part]) -> M3 {
        let of = |part: &Part| {
            let Mobility { linear, coupling, angular } = &self.all[part.body as usize].mobility;
            let (c, m) = (part.weight, part.moment.cross_matrix());
            let mixed = c * coupling * m;
            self.factor(part) * (c * c * linear + mixed + mixed.transpose() + m.transpose() * angular * m)
        };
        parts.iter().map(of).sum()
    }

    /// No changes.
    pub fn unchanged(&self) -> Changes {
        Changes(vec![[V3::zeros(); 2]; self.all.len()])
    }

    /// Adds what an impulse of a contact changes.
    pub fn apply(&self, parts: &[Part], impulse: &V3, changes: &mut Changes) {
        for part in parts {
            let body = &self.all[part.body as usize];
            let [v, w] = body.mobility.change(&(part.weight * impulse), &part.moment.cross(impulse));
            let [velocity, spin] = &mut changes.0[part.body as usize];
            *velocity += self.factor(part) * v;
            *spin += self.factor(part) * w;
        }
    }

    fn factor(&self, part: &Part) -> f64 {
        if self.all[part.body as usize].is_linked { self.sharing } else { 1.0 }
    }

    /// Carriers with the velocities that they then have.
    pub fn moved(&self, carriers: &[Carriers], changes: &Changes) -> Vec<Carriers> {
        let mut moved = carriers.to_vec();
        for (carriers, &first) in moved.iter_mut().zip(&self.of_obstacles) {
            match carriers {
                Carriers::Absent => {}
                Carriers::Frame(frame) => {
                    frame.velocity += self.at(changes, first, &frame.pose.translation.vector);
                    frame.spin += changes.0[first as usize][1];
                }
                Carriers::Points(points) => {
                    let of = &changes.0[first as usize..];
                    points.iter_mut().zip(of).for_each(|(point, [change, _])| point.velocity += change);
                }
            }
        }
        moved
    }

    /// Vertices with supports, and the changes of their velocities `[m/s]`.
    pub fn moved_supports<'a>(
        &'a self,
        changes: &'a Changes,
        ahead: &'a Ahead<'_>,
    ) -> impl Iterator<Item = (usize, V3)> + 'a {
        ahead.supports.iter().zip(&self.of_supports).map(move |(support, &body)| {
            let vertex = support.vertex as usize;
            (vertex, self.at(changes, body, &ahead.positions[vertex]))
        })
    }

    /// Change of the velocity of a place on a body.
    fn at(&self, changes: &Changes, body: u32, place: &V3) -> V3 {
        let [velocity, spin] = changes.0[body as usize];
        velocity + spin.cross(&(place - self.all[body as usize].origin))
    }
}

impl Changes {
    /// Forgets the changes of the bodies in contacts.
    pub fn clear(&mut self, contacts: &[Anchored]) {
        let parts = contacts.iter().flat_map(|contact| &contact.parts);
        parts.for_each(|part| self.0[part.body as usize] = [V3::zeros(); 2]);
    }

    /// Change of the relative velocity at a contact `[m/s]`.
    pub fn relative(&self, parts: &[Part]) -> V3 {
        let of = |part: &Part| {
            let [velocity, spin] = self.0[part.body as usize];
            part.weight * velocity + spin.cross(&part.moment)
        };
        parts.iter().map(of).sum()
    }
}
