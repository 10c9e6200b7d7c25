//! For simulators that are asynchronous: pairs over an interval, one pair now.
//!
//! \[TPS08\] B. Thomaszewski, S. Pabst, W. Straßer: Asynchronous Cloth Simulation. CGI 2008, section 4. Its first stage is
//! [`Contacts::find_pairs`], its second [`Contacts::push_apart`] for each of [`Contacts::due_pairs`] that is due, its third
//! [`Contacts::resolve_deflected`] over the interval, which has the guarantee and knows what the second leaves out: touch.

use nalgebra::{Matrix3, Vector3};

use crate::{
    ContactError, Contacts, State, Step,
    broad::Pair,
    contacts::{AHEAD, Meeting},
    distance::Kind,
    regions::LED,
    repel::asked,
    respond::most_push,
};

type V3 = Vector3<f64>;

impl Contacts {
    /// Finds the pairs of features that may come within each other's reach while the surface goes from the begin of `step` to
    /// `end` `[m]` and obstacles along their paths, but for those that the last stage has to part since one is inside the other
    /// or they cross.
    ///
    /// # Errors
    /// As [`Contacts::resolve`], but for what touches.
    pub fn find_pairs(&mut self, state: &State, step: &Step<'_>, end: &[V3]) -> Result<(), ContactError> {
        let state = self.look_around(state, step, end)?;
        self.set_spans();
        let mut due = std::mem::take(&mut self.work.due);
        due.clear();
        // Where nearest points are depends on the event: all vertices of the cloth have to be such.
        let own = |pair: &&Pair| {
            let obstacle = self.obstacle(pair);
            !self.is_inside(&state, pair, obstacle)
                && !self.is_tangled(pair)
                && !self.is_borne(&state, pair, &[1.0; 4], obstacle)
        };
        due.extend(self.work.pairs.iter().filter(|pair| self.may_meet(pair)).filter(own));
        self.collect_led(&state);
        due.extend(self.work.led.iter().map(|led| led.pair));
        self.work.due = due;
        Ok(())
    }

    /// Of the last [`Contacts::find_pairs`]. Obstacles' vertices are numbered on from the surface's, see
    /// [`Contacts::vertices`].
    pub fn due_pairs(&self) -> &[Pair] {
        &self.work.due
    }

    /// Of the last [`Contacts::find_pairs`]: where each vertex, obstacles' after the surface's, was at the begin, and its way
    /// `[m]`.
    pub fn vertices(&self) -> (&[V3], &[V3]) {
        (&self.work.x, &self.work.u)
    }

    /// Whether a pair of the last [`Contacts::find_pairs`] stays apart if all goes straight on, so that the last stage would not push it
    /// (\[TPS08\] section 4, continuous geometric culling).
    pub fn stays_apart(&self, pair: &Pair) -> bool {
        let meeting = self.meeting(self.obstacle(pair));
        let [x, u] = [&self.work.x, &self.work.u].map(|of| pair.vertices.map(|v| of[v as usize]));
        if self.led(pair, &x).is_some() {
            return false;
        }
        let kept = meeting.radius + (1.0 + AHEAD) * meeting.thickness;
        if stay_apart(pair.kind, &x, &u, 1.0, kept) || self.is_stopped_by_edges(pair) {
            return true;
        }
        let begin = self.nearest_of(pair);
        begin.distance() >= kept && self.impact_of(pair, begin, kept, 0.1 * kept).is_none()
    }

    /// Impulses `[N s]` on the vertices of a pair, at `x` `[m]` with velocities `v` `[m/s]`, that keep it apart for `dt`
    /// `[s]`, a part of the interval: repelling where it is nearer than its thickness, stopping where it would meet within `dt`,
    /// with restitution and friction. Sides of obstacles are those at the start of the interval.
    /// None where it needs none. They are opposite, without torque between cloth and cloth that all moves, and nothing of infinite mass gets to move.
    pub fn push_apart(
        &self,
        pair: &Pair,
        x: &[V3; 4],
        v: &[V3; 4],
        inverse_masses: &[f64; 4],
        dt: f64,
    ) -> Option<[V3; 4]> {
        let obstacle = self.obstacle(pair);
        let meeting = self.meeting(obstacle);
        if let Some((n, gap)) = self.led(pair, x) {
            let lacking = meeting.thickness - gap;
            let least = if lacking < 0.0 { lacking } else { self.parameters.rates.recovered(dt) * lacking };
            let slip = || self.slip(pair, &LED, &x[0], x, &n);
            return push_along(&n, least / dt, &meeting, &LED, v, inverse_masses, slip);
        }
        if stay_apart(pair.kind, x, v, dt, meeting.radius + meeting.thickness) {
            return None;
        }
        if self.is_stopped_by_edges(pair) {
            return None;
        }
        let begin = self.nearest_at(pair, x);
        if self.is_far_side(pair, &begin, obstacle) || self.is_beside(pair, &begin, obstacle) {
            return None;
        }
        let gap = begin.distance() - meeting.radius;
        let near = if gap < meeting.thickness {
            begin
        } else if self.is_covered(pair) {
            // How a rim moves is not known of its one core vertex: its impacts are left to the last stage.
            return None;
        } else {
            let kept = meeting.radius + self.parameters.separation * meeting.thickness;
            self.impact_at(pair, [x, &v.map(|v| dt * v)], begin, kept, 0.1 * kept)?.nearest
        };
        let n = near.offset.try_normalize(0.0)?;
        let apart = self.apart(pair, &near, x, &n, &meeting);
        let mut least = asked(&meeting, apart, self.parameters.rates.recovered(dt)) / dt;
        if meeting.restitution > 0.0 {
            let approach = -n.dot(&(0..4).map(|k| near.weights[k] * v[k]).sum());
            let back = self.thrown_back(&meeting, approach);
            least = if back > 0.0 { least.max(back) } else { least };
        }
        let slip = || {
            let place = self.core_point(pair, &near, x, obstacle) - self.sign_of(pair, &near) * meeting.radius * n;
            self.slip(pair, &near.weights, &place, x, &n)
        };
        let mut impulses = push_along(&n, least, &meeting, &near.weights, v, inverse_masses, slip)?;
        if obstacle.is_none() {
            cancel_turn(x, inverse_masses, &mut impulses);
        }
        Some(impulses)
    }

    /// Velocity across `n` of an obstacle's surface beyond that of its core, at a `place` of it with the vertices at `x`, as it counts
    /// in the relative velocity ([`Contacts::slide`]) `[m/s]`. `x` may be in a frame that falls.
    fn slip(&self, pair: &Pair, weights: &[f64; 4], place: &V3, x: &[V3; 4], n: &V3) -> V3 {
        let Some(obstacle) = self.obstacle(pair) else { return V3::zeros() };
        let cloth = self.features.vertices();
        let of_core = || (0..4).filter(|&k| pair.vertices[k] as usize >= cloth);
        let begin: V3 = of_core().map(|k| weights[k].abs() * (self.work.x[pair.vertices[k] as usize] - x[k])).sum();
        let sign = of_core().map(|k| weights[k]).sum::<f64>().signum();
        sign / self.work.duration * self.slide(obstacle, &(place + begin), &self.core_way(pair, weights), n)
    }
}

/// Impulses that bring the relative velocity along n to `least` `[m/s]`, with friction, where what turns has a `slip` `[m/s]`; none if
/// it is that `[N s]`.
fn push_along(
    n: &V3,
    least: f64,
    meeting: &Meeting,
    c: &[f64; 4],
    v: &[V3; 4],
    inverse_masses: &[f64; 4],
    slip: impl FnOnce() -> V3,
) -> Option<[V3; 4]> {
    let mobility: f64 = (0..4).map(|k| c[k] * c[k] * inverse_masses[k]).sum();
    let relative: V3 = (0..4).map(|k| c[k] * v[k]).sum();
    let lacking = least - n.dot(&relative);
    let push = (lacking / mobility).min(most_push(&[0, 1, 2, 3], c, inverse_masses, lacking));
    if !(push > 0.0 && push.is_finite()) {
        return None;
    }
    let across = relative - n.dot(&relative) * n + if meeting.friction > 0.0 { slip() } else { V3::zeros() };
    let impulse = push * n - (across / mobility).cap_magnitude(meeting.friction * push);
    Some(c.map(|c| c * impulse))
}

/// Friction acts at either surface, a thickness apart: the four vertices turn as one rigid body against what that turns, which changes
/// nothing along the line between the nearest points.
fn cancel_turn(x: &[V3; 4], inverse_masses: &[f64; 4], impulses: &mut [V3; 4]) {
    if inverse_masses.contains(&0.0) {
        return;
    }
    let masses = inverse_masses.map(f64::recip);
    let centre: V3 = (0..4).map(|k| masses[k] * x[k]).sum::<V3>() / masses.iter().sum::<f64>();
    let arms = x.map(|x| x - centre);
    let turn: V3 = (0..4).map(|k| arms[k].cross(&impulses[k])).sum();
    let of =
        |k: usize| masses[k] * (Matrix3::from_diagonal_element(arms[k].norm_squared()) - arms[k] * arms[k].transpose());
    let Some(inverse) = (0..4).map(of).sum::<Matrix3<f64>>().try_inverse() else { return };
    let spin = inverse * turn;
    (0..4).for_each(|k| impulses[k] -= masses[k] * spin.cross(&arms[k]));
}

/// Whether boxes around the ways of the two features for `dt` `[s]` stay so far apart `[m]`.
#[inline]
fn stay_apart(kind: Kind, x: &[V3; 4], v: &[V3; 4], dt: f64, distance: f64) -> bool {
    let split = kind.split();
    (0..3).any(|axis| {
        let range = |vertices: std::ops::Range<usize>| {
            vertices.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], k| {
                let (from, to) = (x[k][axis], x[k][axis] + dt * v[k][axis]);
                [low.min(from.min(to)), high.max(from.max(to))]
            })
        };
        let ([low, high], [other_low, other_high]) = (range(0..split), range(split..4));
        low - other_high > distance || other_low - high > distance
    })
}
