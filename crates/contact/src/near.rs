//! What is near, for simulators that resist contact by forces of their own before [`Contacts::resolve`] has the last word.

use nalgebra::Vector3;

use crate::{
    ContactError, Contacts, Nearest, Report, Shape, State, Step,
    broad::Pair,
    contacts::AHEAD,
    regions::LED,
    repel::asked,
    respond::{Contact, makes_way},
};

type V3 = Vector3<f64>;

/// By how much of a right angle a direction may lead into a triangle beside it and still be across `[-]`.
pub(crate) const ASKEW: f64 = 1e-2;

/// Two features near each other at the begin of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// Which. Obstacles' vertices are numbered on from the surface's ([`Contacts::owner_of`]).
    pub pair: Pair,
    /// The obstacle that one of them is of.
    pub obstacle: Option<u32>,
    /// Of the vertices at the nearest points, those of the second feature less than 0.
    pub weights: [f64; 4],
    /// From the second to the first.
    pub normal: V3,
    /// How far apart they are beyond the thickness, below 0 where they are too near; no less than the thickness below `[m]`.
    pub gap: f64,
    /// Of the pair, obstacle's and half the cloth's, or the cloth's `[m]`.
    pub thickness: f64,
    /// How the obstacle moves there over the step, as it counts in the way of the first feature relative to the second `[m]`.
    pub drift: V3,
    /// Of the pair `[-]`.
    pub friction: f64,
    /// Part of the way out of contact that the cloth can make by itself: 0 where all of it is kinematic, 1 where it is free [-].
    pub way_made: f64,
    /// Velocity along the normal with which the obstacle throws the cloth back: its restitution times that of the
    /// approach, or 0 `[m/s]`.
    pub bounce: f64,
}

impl Contacts {
    /// All that is nearer than the thickness and a quarter of it at the begin of `step`, one a place, in an order that depends on
    /// nothing but them. What passes freely is left out: what is inside, behind a one-sided mesh, or crosses.
    ///
    /// # Errors
    /// As [`Contacts::resolve`], but for what touches.
    pub fn find_near(
        &mut self,
        state: &State,
        step: &Step<'_>,
        end: &[V3],
        out: &mut Vec<Near>,
    ) -> Result<(), ContactError> {
        let state = self.look_around(state, step, end)?;
        self.collect_near(&state, step.dt);
        out.clear();
        out.extend(self.work.contacts.iter().map(|contact| self.near_of(contact)));
        self.add_near_led(&state, out);
        Ok(())
    }

    /// Features of a contact as they are near each other.
    pub(crate) fn near_of(&self, contact: &Contact) -> Near {
        let thickness = self.meeting(contact.obstacle).thickness;
        Near {
            pair: contact.pair,
            obstacle: contact.obstacle,
            weights: contact.weights,
            normal: contact.n,
            gap: contact.gap.max(-thickness),
            thickness,
            drift: contact.drift,
            friction: contact.friction,
            way_made: makes_way(&contact.pair.vertices, &contact.weights, &self.work.w),
            bounce: contact.bounce,
        }
    }

    /// Takes over where a step begins and would end, and what is there to meet. The state then.
    pub(crate) fn look_around(&mut self, state: &State, step: &Step<'_>, end: &[V3]) -> Result<State, ContactError> {
        self.check(step, step.begin, end)?;
        state.check(self)?;
        self.start(step, end);
        self.place_close(state, step.paths, [0.0, 1.0], step.dt);
        self.start_call();
        let mut state = state.clone();
        self.meet_the_new(&mut state, step.begin, step.paths);
        if self.is_spent() {
            self.forget_pairs();
        } else {
            match self.search_if_needed() {
                Err(ContactError::TooManyPairs { most }) if self.is_limited_by_visits() => {
                    self.charge_search(most);
                    self.forget_pairs();
                }
                found => found?,
            }
        }
        if self.is_spent() {
            self.work.crossings.clear();
            self.note_within(&state);
        } else {
            self.find_crossings(&mut state, &mut Report::default());
        }
        Ok(state)
    }

    /// Contacts of what is near at the start, one a place.
    pub(crate) fn collect_near(&mut self, state: &State, dt: f64) {
        let mut contacts = std::mem::take(&mut self.work.contacts);
        contacts.clear();
        for (pair, near) in self.work.pairs.iter().zip(&self.work.nearest) {
            let obstacle = self.obstacle(pair);
            let meeting = self.meeting(obstacle);
            if near.distance() - meeting.radius < (1.0 + AHEAD) * meeting.thickness
                && !self.passes(state, pair, near, obstacle)
                && !self.is_tangled(pair)
                && self.is_nearest(pair, near)
            {
                contacts.extend(self.contact(*pair, obstacle, &meeting, near, dt));
            }
        }
        self.work.contacts = contacts;
        self.keep_one_each();
    }

    /// Whether a pair that is near does not push: its cloth is inside or behind the obstacle or beside its face, or something else stops
    /// the obstacle.
    pub(crate) fn passes(&self, state: &State, pair: &Pair, near: &Nearest, obstacle: Option<u32>) -> bool {
        self.is_inside(state, pair, obstacle)
            || self.is_far_side(pair, near, obstacle)
            || self.is_beside(pair, near, obstacle)
            || self.is_borne(state, pair, &near.weights, obstacle)
    }

    /// Whether the surfaces that a pair is of have no nearer points right beside its own, as where an edge in the middle of a flat
    /// face is near to a vertex beside it: such pairs push askew, and the face pushes already.
    fn is_nearest(&self, pair: &Pair, near: &Nearest) -> bool {
        [true, false].into_iter().all(|first| self.leads_away(pair, near, first, 0.0, ASKEW, |_| true))
    }

    /// Whether all triangles around the `first` or the second feature of a pair lead away from the other one, but for where they
    /// come to that one's own vertices, as beside a crease. `near` is after a part of the interval. A triangle leads there if a
    /// vertex that `counts` lies in its direction by a sine of more than `askew` [-]; obstacles' vertices are numbered on from the
    /// surface's.
    pub(crate) fn leads_away(
        &self,
        pair: &Pair,
        near: &Nearest,
        first: bool,
        part: f64,
        askew: f64,
        counts: impl Fn(u32) -> bool,
    ) -> bool {
        let split = pair.kind.split();
        let (own, others) =
            if first { (0..split, &pair.vertices[split..]) } else { (split..4, &pair.vertices[..split]) };
        let towards = if first { -near.offset } else { near.offset };
        let mut place = [0; 3];
        let with_part = own.filter(|&k| near.weights[k] != 0.0);
        let count = with_part.enumerate().map(|(i, k)| place[i] = pair.vertices[k]).count();
        let place = &place[..count];

        let (features, from) = self.surface_of(place);
        let x = |v: u32| self.work.x[(v + from) as usize] + part * self.work.u[(v + from) as usize];
        let away = |way: V3| way.dot(&towards) <= askew * way.norm() * towards.norm();
        let leads = |v: u32| !others.contains(&(v + from)) && counts(v + from);
        match *place {
            [v] => {
                let v = v - from;
                let next = features.around(v).iter().flatten().filter(|&&next| next != v && leads(next));
                next.into_iter().all(|&next| away(x(next) - x(v)))
            }
            [a, b] => {
                let [a, b] = [a - from, b - from];
                let along = (x(b) - x(a)).normalize();
                features.around_edge([a, b]).all(|t| {
                    let third = t.iter().find(|&&v| v != a && v != b && leads(v));
                    let third = third.map_or(V3::zeros(), |&v| x(v) - x(a));
                    away(third - along.dot(&third) * along)
                })
            }
            _ => true,
        }
    }

    /// Linearises the gap to an obstacle at the end of a displacement instead of its start: there are the normal, the weights and,
    /// to first order, the gap then. `way` is the displacement of each cloth vertex at `part` of the step `[m]`. Call it after
    /// [`Contacts::find_near`] of the same step, with a contact from there.
    ///
    /// Forces at the end of a step balance tension there. A normal of its start lags by v dt/r around a bar of radius r, and holds
    /// cloth that slides at v back with that part of all that presses it on the bar.
    ///
    /// Only the part of the displacement along the surface counts. The contact stays as it is where edges turn a normal all at once (of
    /// meshes, boxes and caps), where its normal would turn by more than 60 degrees, and where rounding or depth hides it.
    pub fn turn(&self, near: &mut Near, way: impl Fn(usize) -> V3, part: f64) {
        if !self.is_on_side(near) {
            return;
        }
        let (cloth, meeting) = (self.features.vertices(), self.meeting(near.obstacle));
        let (pair, n) = (near.pair, near.normal);
        if near.weights == LED || near.gap <= -near.thickness || self.is_hidden(&pair, near.gap + near.thickness) {
            return;
        }
        let mut u =
            pair.vertices.map(|v| if (v as usize) < cloth { way(v as usize) } else { part * self.work.u[v as usize] });
        let along: f64 = (0..4).map(|k| near.weights[k] * u[k].dot(&n)).sum();
        for (k, u) in u.iter_mut().enumerate().filter(|(k, _)| (pair.vertices[*k] as usize) < cloth) {
            let sign = if k < pair.kind.split() { 1.0 } else { -1.0 };
            *u -= sign * along * n;
        }
        let x: [V3; 4] = std::array::from_fn(|k| self.work.x[pair.vertices[k] as usize] + u[k]);
        let there = self.nearest_at(&pair, &x);
        let Some(normal) = there.offset.try_normalize(0.0) else { return };
        if normal.dot(&n) < 0.5 {
            return;
        }
        let drift = self.drift(&pair, near.obstacle, &meeting, &there, &normal);
        let gap = -asked(&meeting, self.apart(&pair, &there, &x, &normal, &meeting), 1.0);
        let way: V3 = (0..4).filter(|&k| (pair.vertices[k] as usize) < cloth).map(|k| there.weights[k] * u[k]).sum();
        near.gap = gap - normal.dot(&(way + part * drift));
        (near.weights, near.normal, near.drift) = (there.weights, normal, drift);
    }

    /// Whether a contact is with a ball, a capsule or the side of a cylinder, whose normals turn smoothly.
    fn is_on_side(&self, near: &Near) -> bool {
        let Some(obstacle) = near.obstacle else { return false };
        if self.round(&near.pair, near.obstacle).is_none() {
            return self.obstacles[obstacle as usize].1.radius > 0.0;
        }
        let [from, to] = self.ends(&self.work.x, obstacle);
        matches!(self.obstacles[obstacle as usize].0.shape, Shape::Cylinder { .. })
            && (to - from).dot(&near.normal).abs() < ASKEW * (to - from).norm()
    }

    /// Of a vertex numbered on from the surface's: its obstacle, and its number there.
    pub fn owner_of(&self, vertex: u32) -> Option<[u32; 2]> {
        let obstacle = self.owner(&[vertex])?;
        Some([obstacle, vertex - self.work.first[obstacle as usize]])
    }
}
