//! One particle's way through a step among moving triangles: legs of flight between contacts.
//!
//! A leg is swept as the straight segment from its begin to its end (the chord of the parabola), and no
//! position is ever reached but along a swept segment: a contact stops the particle [`STANDOFF`] before
//! the surface, on the way that it came. So nothing is leaked by pushing particles out of surfaces. One
//! that was caught between closing surfaces, and is a little inside of one when they part, is held by that
//! one and led out, a few micrometres a step and swept as well.

use nalgebra::Vector3;
use partita_simulator::Motion;

use crate::{
    Integration, Parameters,
    crossing::{first_crossing, is_inside, weights},
    fly::{Flight, Leg},
    places::Hit,
    response::{Contact, Place, bounce, hold},
    solids::Height,
    triangles::{CAUGHT, STANDOFF, Triangles, distance, normal},
};

/// After so many contacts in one step a particle does not bounce any more, so that it comes to rest.
const BOUNCES: u32 = 32;

/// After so many it rides on the last surface to the end of the step: no Zeno hang.
pub const CONTACTS: u32 = 64;

/// More contacts at once than this are not held; the first is let go.
const HELD: usize = 4;

/// What all particles of a step share.
pub(crate) struct Surroundings<'a> {
    pub parameters: &'a Parameters,
    pub flight: &'a Flight<'a>,
    pub triangles: &'a Triangles,
    pub motions: &'a [Option<Motion>],
    pub dt: f64,
    /// At the begin of the step `[s]`.
    pub time: f64,
}

/// A particle on its way.
pub(crate) struct Traveller {
    pub x: Vector3<f64>,
    pub v: Vector3<f64>,
    /// How much of the step is over [-].
    pub fraction: f64,
    /// Acceleration by loads `[m/s²]`.
    pub load: Vector3<f64>,
    /// Number of the own handle, for [`crate::triangles::Obstacle::except`].
    pub handle: Option<u32>,
    /// Where it would end without obstacles `[m]`.
    pub free_end: Vector3<f64>,
}

/// A velocity change of a particle at a place of a surface.
pub(crate) struct Impact {
    pub place: Place,
    /// When, as a fraction of the step [-].
    pub fraction: f64,
    /// Of the particle then `[m]`.
    pub position: Vector3<f64>,
    /// `[m/s]`
    pub change: Vector3<f64>,
}

/// Memory of one worker, and what came of its particles.
#[derive(Default)]
pub(crate) struct Encounters {
    near: Vec<u32>,
    held: Vec<Contact>,
    pub impacts: Vec<Impact>,
    /// Contacts of the particle that had most.
    pub most: u32,
    /// Particles that had to ride.
    pub riding: u32,
}

impl Surroundings<'_> {
    /// Where and how fast the particle ends; `None` if it meets nothing. New impacts are appended.
    pub fn travel(&self, traveller: Traveller, e: &mut Encounters) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let Traveller { mut x, mut v, fraction: mut f, load, handle, free_end } = traveller;
        self.triangles.near(&x, &free_end, &mut e.near);
        if e.near.is_empty() {
            return None;
        }
        let free = self.flight.leg(x, v, self.time + f * self.dt, (1.0 - f) * self.dt, load);
        let fields = free.velocity - v; // velocity that the fields give in the step
        let impacts_before = e.impacts.len();
        e.held.clear();
        self.touch(&x, &mut v, f, &free, fields, handle, e);

        for contacts in 0..CONTACTS {
            let h = (1.0 - f) * self.dt;
            let untouched = contacts == 0 && e.impacts.len() == impacts_before;
            let leg = if untouched { free } else { self.flight.leg(x, v, self.time + f * self.dt, h, load) };
            let leg = self.keep_off(&x, &v, f, h, leg, &mut e.held);
            let Some(hit) = self.first_hit(&x, &leg.shift, f, handle, &mut e.near) else {
                self.record_held(e, &x, &leg, f, 1.0);
                e.most = e.most.max(contacts);
                let met = e.impacts.len() > impacts_before || contacts > 0 || !e.held.is_empty();
                return met.then(|| (x + leg.shift, leg.velocity));
            };

            let (s, contact) = self.stop(&hit, &x, &leg, f);
            self.record_held(e, &x, &leg, f, s);
            x += s * leg.shift;
            v += s * (leg.velocity - v);
            f += s * (1.0 - f);

            let settle = contacts >= BOUNCES;
            v += self.respond(contact, &x, &v, f, fields, settle, e);
        }

        // Too many contacts: it keeps the velocity that they leave, but stays where it is on one of them.
        e.most = CONTACTS;
        e.riding += 1;
        let free = self.flight.leg(x, v, self.time + f * self.dt, (1.0 - f) * self.dt, load);
        let velocity = hold(&mut e.held, free.velocity);
        let rides = e.held.iter().rev().map(|contact| self.ride(&x, f, contact));
        let mut shift = rides.clone().next().unwrap_or_default();
        for ride in rides {
            if self.first_hit(&x, &ride, f, handle, &mut e.near).is_none() {
                shift = ride;
                break;
            }
        }
        let leg = Leg { shift, velocity, ..free };
        self.record_held(e, &x, &leg, f, 1.0);
        Some((x + leg.shift, leg.velocity))
    }

    /// Contacts that are there at the begin: places within the standoff (or within the distance that
    /// is kept, or in which it was caught) that the leg goes towards. A resting particle finds its
    /// surface here, without moving.
    #[allow(clippy::too_many_arguments)]
    fn touch(
        &self,
        x: &Vector3<f64>,
        v: &mut Vector3<f64>,
        f: f64,
        free: &Leg,
        fields: Vector3<f64>,
        handle: Option<u32>,
        e: &mut Encounters,
    ) {
        for i in 0..e.near.len() {
            let k = e.near[i];
            if !self.meets(k, handle) {
                continue;
            }
            if self.triangles.solid(k).is_some() {
                if let Some(contact) = self.touched(k, x, f, free) {
                    *v += self.respond(contact, x, v, f, fields, false, e);
                }
                continue;
            }
            let swept = &self.triangles.swept[k as usize];
            let obstacle = &self.triangles.obstacles[swept.obstacle as usize];
            let corners = swept.corners(f, 0.0);
            let outward = normal(&corners);
            let height = (x - corners[0]).dot(&outward);
            let side = if obstacle.two_sided && height < 0.0 { -1.0 } else { 1.0 };
            let height = side * height;
            let lowest = if obstacle.closed { -CAUGHT } else { -STANDOFF };
            if !(lowest..=obstacle.distance + 2.0 * STANDOFF).contains(&height) {
                continue;
            }
            let Some(weights) = weights(&corners.map(|c| c - x)).filter(is_inside) else { continue };
            if height < -STANDOFF && self.is_outside(x, f, swept.obstacle, -height, &e.near) {
                continue;
            }
            // Deeper than the distance to keep, it stays as deep as it is.
            let offset = side * obstacle.distance.min(height - STANDOFF).max(0.0);
            let contact = self.contact(k, weights, offset, side * outward);
            if (free.shift - (1.0 - f) * self.dt * contact.velocity).dot(&contact.normal) < 0.0 {
                *v += self.respond(contact, x, v, f, fields, false, e);
            }
        }
    }

    /// Whether the point, `depth` behind a face of the obstacle and over it, is outside all the same: beyond a part that
    /// is thinner than that. Then a face that has the point in front is nearer. A point inside has none: where its way to
    /// the nearest place of the surface ends, it ends from behind.
    fn is_outside(&self, x: &Vector3<f64>, f: f64, obstacle: u32, depth: f64, near: &[u32]) -> bool {
        near.iter()
            .filter_map(|&k| self.triangles.swept.get(k as usize))
            .filter(|swept| swept.obstacle == obstacle)
            .any(|swept| {
                let corners = swept.corners(f, 0.0);
                (x - corners[0]).dot(&normal(&corners)) > 0.0 && distance(x, &corners) < depth
            })
    }

    /// Velocity change at a new contact; from then on it is held unless the particle bounces off.
    ///
    /// Rest: an approach not faster than what the acceleration towards the surface gives in two steps
    /// (fields less surface) is what a resting particle shows, and is met without restitution.
    #[allow(clippy::too_many_arguments)]
    fn respond(
        &self,
        contact: Contact,
        x: &Vector3<f64>,
        v: &Vector3<f64>,
        f: f64,
        fields: Vector3<f64>,
        settle: bool,
        e: &mut Encounters,
    ) -> Vector3<f64> {
        let obstacle = self.obstacle(&contact.place);
        let approach = (contact.velocity - v).dot(&contact.normal);
        let slow = 2.0 * (self.surface_gain(&contact, x, f) - fields).dot(&contact.normal).max(0.0);
        let bounces = obstacle.restitution > 0.0 && approach > slow && !settle;

        let obstacle_of = |contact: &Contact| self.triangles.obstacle_of(contact.place.number());
        let same = |other: &Contact| {
            obstacle_of(other) == obstacle_of(&contact) && other.normal.dot(&contact.normal) > 1.0 - 1e-9
        };
        e.held.retain(|other| !same(other));
        if !bounces {
            if e.held.len() == HELD {
                e.held.remove(0);
            }
            e.held.push(contact);
        }
        let change = bounce(&contact, if bounces { obstacle.restitution } else { 0.0 }, *v);
        if change != Vector3::zeros() {
            e.impacts.push(Impact { place: contact.place, fraction: f, position: *x, change });
        }
        change
    }

    /// The leg that stays off all held contacts: velocities first, then gaps, as the surfaces are at the
    /// begin; then, where a surface turns into the leg, as it is at the end.
    ///
    /// A particle slides by r over a surface whose normal turns by Δn. Its gap along the leg is that of
    /// begin and end interpolated, less s (1 − s) r·Δn. For r·Δn > 0 the surface falls away from the begin's
    /// tangent; for r·Δn < 0 it rises, and whoever clears it at both ends clears it in between. A round solid
    /// that falls away is followed by what it still presses at the end of the leg. What it does not
    /// press any more there, or what is past an edge, leaves along the tangent: a chord that falls
    /// would enter the solid.
    fn keep_off(&self, x: &Vector3<f64>, v: &Vector3<f64>, f: f64, h: f64, free: Leg, held: &mut [Contact]) -> Leg {
        let mut leg = Leg { velocity: hold(held, free.velocity), ..free };
        let shift = |velocity: Vector3<f64>| match self.parameters.integration {
            Integration::SymplecticEuler => h * velocity,
            Integration::Parabola => 0.5 * h * (v + velocity),
        };
        if held.iter().any(|contact| contact.push > 0.0) {
            leg.shift = shift(leg.velocity);
        }
        let mut starts = [None; HELD];
        for (start, contact) in starts.iter_mut().zip(held.iter()) {
            *start = Some(self.height(contact, x, f));
        }
        let starts = starts.iter().flatten();
        for _ in 0..held.len() {
            for (contact, &Height { gap, .. }) in held.iter().zip(starts.clone()) {
                // Pressed against the surface, or inside a solid and led out.
                if contact.push <= 0.0 && (gap >= 0.0 || matches!(contact.place, Place::Triangle { .. })) {
                    continue;
                }
                let miss = STANDOFF - gap - (leg.shift - h * contact.velocity).dot(&contact.normal);
                if miss > 0.0 {
                    leg.shift += miss.min(self.most_led(contact, gap)) * contact.normal;
                }
            }
        }

        // Contacts as they are at the start, where they recede; after that, where they are left.
        let mut tangents = [None; HELD];
        let mut turns = false;
        for (k, (contact, start)) in held.iter_mut().zip(starts.clone()).enumerate() {
            if let Some(turn) = self.turned((x, start), f, &leg, contact) {
                tangents[k] = turn.recedes.then_some(*contact);
                *contact = turn.contact;
                turns = true;
            }
        }
        if turns {
            let mut velocity = hold(held, free.velocity);
            for (contact, tangent) in held.iter_mut().zip(&mut tangents) {
                *tangent = tangent.filter(|_| contact.push <= 0.0);
                *contact = tangent.unwrap_or(*contact);
            }
            if tangents.iter().any(Option::is_some) {
                velocity = hold(held, free.velocity);
            }
            // The push grows with the rise, so the mean velocity gains half of it, in either integration.
            leg = Leg { shift: leg.shift + 0.5 * h * (velocity - leg.velocity), velocity, ..leg };
            for _ in 0..held.len() {
                let stays = held.iter().zip(starts.clone()).zip(&tangents).filter(|(_, tangent)| tangent.is_none());
                for ((contact, start), _) in stays {
                    if let Some(turn) = self.turned((x, start), f, &leg, contact) {
                        leg.shift += turn.miss * turn.contact.normal;
                    }
                }
            }
        }
        leg
    }

    /// The first passage of the segment from `x` through a triangle or into a solid.
    fn first_hit(
        &self,
        x: &Vector3<f64>,
        shift: &Vector3<f64>,
        f: f64,
        handle: Option<u32>,
        near: &mut Vec<u32>,
    ) -> Option<Hit> {
        self.triangles.near(x, &(x + shift), near);
        let mut first: Option<Hit> = None;
        for &k in near.iter().filter(|&&k| self.meets(k, handle)) {
            if self.triangles.solid(k).is_some() {
                let hit = self.solid_hit(k, x, shift, f);
                first =
                    [first, hit].into_iter().flatten().reduce(|one, other| if other.s < one.s { other } else { one });
                continue;
            }
            let swept = &self.triangles.swept[k as usize];
            let obstacle = &self.triangles.obstacles[swept.obstacle as usize];
            let mut test = |offset: f64, both: bool, side: f64| {
                let end = x + shift;
                let relative = [swept.corners(f, offset).map(|c| c - x), swept.corners(1.0, offset).map(|c| c - end)];
                if let Some(crossing) = first_crossing(&relative, both)
                    && (side == 0.0 || crossing.side == side)
                    && first.as_ref().is_none_or(|other| crossing.s < other.s)
                {
                    let place = Place::Triangle { triangle: k, weights: crossing.weights };
                    first = Some(Hit { s: crossing.s, side: crossing.side, place, offset });
                }
            };
            test(0.0, obstacle.two_sided, 0.0);
            if obstacle.distance > 0.0 {
                test(obstacle.distance, false, 1.0);
                if obstacle.two_sided {
                    test(-obstacle.distance, true, -1.0);
                }
            }
        }
        first
    }

    fn meets(&self, number: u32, handle: Option<u32>) -> bool {
        let obstacle = &self.triangles.obstacles[self.triangles.obstacle_of(number) as usize];
        handle.is_none_or(|handle| obstacle.except.binary_search(&handle).is_err())
    }

    /// What the held contacts did on the part `s` of a leg, as impulses at the middle of that part. To
    /// change the velocity by Δ against drag a constant force has to give more, Δ/ease.
    fn record_held(&self, e: &mut Encounters, x: &Vector3<f64>, leg: &Leg, f: f64, s: f64) {
        for contact in &e.held {
            let change = s / leg.ease * contact.change();
            if change != Vector3::zeros() {
                e.impacts.push(Impact {
                    place: contact.place,
                    fraction: f + 0.5 * s * (1.0 - f),
                    position: x + 0.5 * s * leg.shift,
                    change,
                });
            }
        }
    }
}
