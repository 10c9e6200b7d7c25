//! Places of surfaces within a step: their positions, velocities and heights, on triangles and on solids.

use nalgebra::Vector3;

use crate::{
    collide::Surroundings,
    crossing::{is_inside, weights},
    fly::Leg,
    response::{Contact, Place},
    solids::{Height, Solid},
    triangles::{Obstacle, STANDOFF, Swept, normal},
};

type V3 = Vector3<f64>;

/// Fraction of its depth by which a particle inside a solid is led out in a step [-]: one of 10 cm is out after 60 steps.
const LED_OUT: f64 = 0.1;

/// Rest of a step below which a chord has no direction [-].
const SHORT: f64 = 1e-6;

/// A held surface that is another at the end of a leg.
pub(crate) struct Turn {
    /// The contact there.
    pub contact: Contact,
    /// Displacement along its normal that restores the gap; negative where the surface recedes
    /// `[m]`.
    pub miss: f64,
    /// Whether it turns away so far that a chord which falls from its tangent would enter it.
    pub recedes: bool,
}

/// A passage of a particle into a surface.
pub(crate) struct Hit {
    /// Fraction of the leg [-].
    pub s: f64,
    /// -1 where it comes from behind a triangle.
    pub side: f64,
    pub place: Place,
    pub offset: f64,
}

impl Surroundings<'_> {
    pub fn obstacle(&self, place: &Place) -> &Obstacle {
        &self.triangles.obstacles[self.triangles.obstacle_of(place.number()) as usize]
    }

    fn solid(&self, number: u32) -> &Solid {
        &self.triangles.solids[number as usize - self.triangles.swept.len()]
    }

    /// Fraction of a leg at which a particle stops before a hit, and the contact there: where the gap, shrinking at the rate of the
    /// passage, is the standoff.
    pub fn stop(&self, hit: &Hit, x: &V3, leg: &Leg, f: f64) -> (f64, Contact) {
        let at = f + hit.s * (1.0 - f);
        let (n, way) = match hit.place {
            Place::Triangle { triangle, weights } => {
                let swept = &self.triangles.swept[triangle as usize];
                (hit.side * normal(&swept.corners(at, hit.offset)), swept.path(&weights, hit.offset))
            }
            Place::Solid { solid } => {
                let (solid, now) = (self.solid(solid), x + hit.s * leg.shift);
                (solid.height(&now, at).normal, solid.rate(&now, at))
            }
        };
        let approach = ((1.0 - f) * way - leg.shift).dot(&n);
        let s = (hit.s - STANDOFF / approach.max(f64::MIN_POSITIVE)).max(0.0);
        let contact = match hit.place {
            Place::Triangle { triangle, weights } => self.contact(triangle, weights, hit.offset, n),
            Place::Solid { solid } => {
                let (x, stops) = (x + s * leg.shift, f + s * (1.0 - f));
                self.contact_of_solid(solid, (&x, self.solid(solid).height(&x, stops)), [stops; 2], hit.offset)
            }
        };
        (s, contact)
    }

    pub fn contact(&self, triangle: u32, weights: [f64; 3], offset: f64, normal: V3) -> Contact {
        let swept = &self.triangles.swept[triangle as usize];
        Contact {
            place: Place::Triangle { triangle, weights },
            offset,
            normal,
            velocity: swept.path(&weights, offset) / self.dt,
            friction: self.triangles.obstacles[swept.obstacle as usize].friction,
            push: 0.0,
            rub: V3::zeros(),
        }
    }

    /// Contact of a particle at `x` and this height at fraction `at`, on a leg from fraction `f`.
    ///
    /// Along the normal its velocity is that of the surface then; a turning ball has none. Across, it is that of the chord of the
    /// rest of the step, so that what rests on a turntable stays where it is.
    fn contact_of_solid(&self, number: u32, (x, height): (&V3, Height), [at, f]: [f64; 2], offset: f64) -> Contact {
        let (solid, n) = (self.solid(number), height.normal);
        let layer = x - (height.gap - offset) * n;
        let now = solid.rate(&layer, at);
        let chord = match 1.0 - f > SHORT && solid.turns() {
            true => (solid.carried(&layer, at, 1.0) - solid.carried(&layer, at, f)) / (1.0 - f),
            false => now,
        };
        Contact {
            place: Place::Solid { solid: number },
            offset,
            normal: n,
            velocity: (chord + (now - chord).dot(&n) * n) / self.dt,
            friction: self.triangles.obstacles[solid.obstacle as usize].friction,
            push: 0.0,
            rub: V3::zeros(),
        }
    }

    /// The contact of a particle that touches a solid, or is inside it, and goes on inwards.
    pub fn touched(&self, number: u32, x: &V3, f: f64, free: &Leg) -> Option<Contact> {
        let solid = self.solid(number);
        let height = solid.height(x, f);
        let gap = height.gap;
        if gap > self.triangles.reach(solid) {
            return None;
        }
        // Deeper than the distance to keep, it stays as deep as it is; inside, it is led out.
        let distance = self.triangles.obstacles[solid.obstacle as usize].distance;
        let contact = self.contact_of_solid(number, (x, height), [f; 2], distance.min(gap - STANDOFF).max(0.0));
        let led = if gap < 0.0 { self.most_led(&contact, gap) } else { 0.0 };
        let outwards = (free.shift - (1.0 - f) * self.dt * contact.velocity).dot(&contact.normal);
        (outwards < led).then_some(contact)
    }

    /// Entry of a leg into a solid: into the layer at the distance that is kept, for those that start within that into the surface.
    pub fn solid_hit(&self, number: u32, x: &V3, shift: &V3, f: f64) -> Option<Hit> {
        let solid = self.solid(number);
        let distance = self.triangles.obstacles[solid.obstacle as usize].distance;
        let height = solid.height(x, f);
        let offset = match height.gap {
            gap if gap > distance => distance,
            gap if gap > 0.0 => 0.0,
            _ => return None,
        };
        let s = solid.first_hit((x, height), shift, f, offset)?;
        Some(Hit { s, side: 1.0, place: Place::Solid { solid: number }, offset })
    }

    /// Largest displacement by which a particle at a gap is led out of a surface within a step `[m]`.
    pub fn most_led(&self, contact: &Contact, gap: f64) -> f64 {
        match contact.place {
            Place::Triangle { .. } => 2.0 * STANDOFF,
            Place::Solid { .. } => (LED_OUT * -gap).max(2.0 * STANDOFF),
        }
    }

    /// Height of `x` at fraction `f` above the touched layer.
    pub fn height(&self, contact: &Contact, x: &V3, f: f64) -> Height {
        match contact.place {
            Place::Triangle { triangle, weights } => {
                let (swept, normal) = (&self.triangles.swept[triangle as usize], contact.normal);
                Height { gap: (x - place(swept, &weights, f, contact.offset)).dot(&normal), normal }
            }
            Place::Solid { solid } => {
                let Height { gap, normal } = self.solid(solid).height(x, f);
                Height { gap: gap - contact.offset, normal }
            }
        }
    }

    /// The way of the point `x`, from fraction `f` to the end, if it were fixed over its place of the surface.
    pub fn ride(&self, x: &V3, f: f64, contact: &Contact) -> V3 {
        let gap = self.height(contact, x, f).gap;
        let (triangle, own) = match contact.place {
            Place::Triangle { triangle, weights } => (triangle, weights),
            Place::Solid { solid } => {
                let solid = self.solid(solid);
                let end = solid.carried(x, f, 1.0);
                return end + (STANDOFF - gap).max(0.0) * solid.height(&end, 1.0).normal - x;
            }
        };
        let swept = &self.triangles.swept[triangle as usize];
        let weights = weights(&swept.corners(f, contact.offset).map(|c| c - x)).unwrap_or(own);
        let gap = (x - place(swept, &weights, f, contact.offset)).dot(&contact.normal);
        let side = contact.normal.dot(&swept.normals[0].lerp(&swept.normals[1], f)).signum();
        place(swept, &weights, 1.0, contact.offset) + gap.max(STANDOFF) * side * swept.normals[1] - x
    }

    /// How a held surface turns along a leg from `x` at fraction `f`, at the height `from`: if it
    /// rises into the leg, or is round and recedes from what presses it.
    pub fn turned(&self, (x, from): (&V3, &Height), f: f64, leg: &Leg, contact: &Contact) -> Option<Turn> {
        let least = 1e-3 * STANDOFF;
        let end = x + leg.shift;
        let triangle = match contact.place {
            Place::Triangle { triangle, .. } => triangle,
            Place::Solid { solid: number } => {
                let solid = self.solid(number);
                let to = solid.height(&end, 1.0);
                let bend = to.normal - from.normal;
                if bend == V3::zeros() {
                    return None;
                }
                // The chord dips below both ends by r·Δn/8 of the relative way r, and keeps half of
                // the standoff there; its least gap, nearer to the start, is the standoff less a
                // quarter of the dip.
                let way = leg.shift - (1.0 - f) * solid.rate(x, f);
                let (start, end_gap, dip) = (from.gap, to.gap - contact.offset, 0.125 * way.dot(&bend));
                let miss = start.min(STANDOFF).max(2.0 * dip + STANDOFF - start.max(0.0)) - end_gap;
                let miss = if start < 0.0 { miss.min(start - end_gap) } else { miss };
                let turn = || Turn {
                    contact: self.contact_of_solid(number, (&end, to), [1.0, f], contact.offset),
                    miss,
                    recedes: dip > 2.0 * STANDOFF,
                };
                return (miss > least || contact.push > 0.0 && start >= 0.0).then(turn);
            }
        };
        let swept = &self.triangles.swept[triangle as usize];
        if swept.normals[0] == swept.normals[1] {
            return None;
        }
        let corners = swept.corners(1.0, contact.offset);
        let n = swept.normals[1] * contact.normal.dot(&swept.normals[0].lerp(&swept.normals[1], 0.5)).signum();
        let miss = STANDOFF - (end - corners[0]).dot(&n);
        let weights = weights(&corners.map(|c| c - end)).filter(is_inside)?;
        let contact = || self.contact(triangle, weights, contact.offset, n);
        (miss > least).then(|| Turn { contact: contact(), miss, recedes: false })
    }

    /// Velocity that the surface itself gains at a contact over the step, by its carriers' velocities `[m/s]`.
    pub fn surface_gain(&self, contact: &Contact, x: &V3, f: f64) -> V3 {
        let obstacle = self.obstacle(&contact.place);
        let Some(motion) = &self.motions[obstacle.guide] else { return V3::zeros() };
        let at = |k: usize| {
            let [begin, end] = [&motion.begin[k], &motion.end[k]];
            (begin, end, V3::from(end.velocity) - V3::from(begin.velocity))
        };
        let turned = |place: V3| {
            let (begin, end, gain) = at(0);
            let centre = V3::from(begin.position).lerp(&end.position.into(), f);
            gain + (V3::from(end.spin) - V3::from(begin.spin)).cross(&(place - centre))
        };
        match contact.place {
            Place::Solid { .. } => turned(x - self.height(contact, x, f).gap * contact.normal),
            Place::Triangle { triangle, weights } => {
                let swept = &self.triangles.swept[triangle as usize];
                match obstacle.rigid {
                    true => turned(place(swept, &weights, f, contact.offset)),
                    false => (0..3).map(|k| weights[k] * at(swept.vertices[k] as usize).2).sum(),
                }
            }
        }
    }
}

fn place(swept: &Swept, weights: &[f64; 3], f: f64, offset: f64) -> V3 {
    let corners = swept.corners(f, offset);
    (0..3).map(|k| weights[k] * corners[k]).sum()
}
