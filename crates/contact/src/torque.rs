//! Angular momentum of cloth that meets cloth.
//!
//! An impulse j along the line between nearest points has no torque. At an impact later in the step that line is another
//! than at the begin, and friction acts across it; yet ways are straight over the whole step, so angular momentum is that
//! of the begin, and contacts add Σ (Σ c x) x j to it. After the sweeps that is taken out again by turning each group of
//! vertices that contacts join: u -= ω x r, I ω = torque. No motion of the group with that angular momentum has less
//! energy. Pins take torque themselves, so contacts with them are left as they are. Where there were other impulses on the way, the begin is
//! that of the straight way with the velocity of the end ([`Contacts::resolve_deflected`]): an impulse j adds w j to the velocity and
//! dt w j to the way, hence (x - dt v) x j to the angular momentum, with x and v at the end.

use nalgebra::{Matrix3, Vector3};

use crate::Contacts;

type V3 = Vector3<f64>;

/// The angular velocity of a body with this inertia and angular momentum; none about an axis on which all of it lies.
pub(crate) fn turn_of(inertia: Matrix3<f64>, angular: &V3) -> V3 {
    let least = 1e-8 * inertia.norm();
    inverse(inertia, least) * angular
}

/// Of a symmetric matrix, 0 along eigenvectors with values up to `least`.
pub(crate) fn inverse(of: Matrix3<f64>, least: f64) -> Matrix3<f64> {
    let eigen = of.symmetric_eigen();
    let inverse = eigen.eigenvalues.map(|value| if value > least { 1.0 / value } else { 0.0 });
    eigen.eigenvectors * Matrix3::from_diagonal(&inverse) * eigen.eigenvectors.transpose()
}

/// Of a point at `r` with mass `m`.
pub(crate) fn inertia(m: f64, r: &V3) -> Matrix3<f64> {
    m * (Matrix3::from_diagonal_element(r.norm_squared()) - r * r.transpose())
}

/// What a group of joined vertices has in all.
#[derive(Clone, Default)]
pub(crate) struct Group {
    mass: f64,
    moment: V3,
    torque: V3,
    inertia: Matrix3<f64>,
    turn: V3,
}

impl Contacts {
    pub(crate) fn cancel_torque(&mut self) {
        let cloth = self.features.vertices();
        let work = &mut self.work;
        work.above.clear();
        work.above.extend(0..cloth as u32);
        work.groups.clear();
        work.groups.resize(cloth, Group::default());
        work.cancelled.resize(work.contacts.len(), V3::zeros());
        let mut any = false;
        for (contact, cancelled) in work.contacts.iter().zip(&mut work.cancelled) {
            let of = contact.pair.vertices;
            if contact.obstacle.is_some() || of.iter().any(|&v| work.w[v as usize] == 0.0) {
                continue;
            }
            let arm: V3 = (0..4).map(|k| contact.weights[k] * work.straight_begins[of[k] as usize]).sum();
            let torque = arm.cross(&(contact.push * contact.n + contact.drag));
            if torque == *cancelled {
                continue;
            }
            for v in of {
                join(&mut work.above, of[0], v);
            }
            work.groups[of[0] as usize].torque += torque - *cancelled;
            *cancelled = torque;
            any = true;
        }
        if !any {
            return;
        }
        // All of a group goes to the first of it.
        for v in 0..cloth {
            let first = top(&work.above, v as u32) as usize;
            let torque = std::mem::take(&mut work.groups[v].torque);
            let group = &mut work.groups[first];
            group.torque += torque;
            if work.w[v] > 0.0 {
                group.mass += 1.0 / work.w[v];
                group.moment += work.straight_begins[v] / work.w[v];
            }
        }
        for v in (0..cloth).filter(|&v| work.w[v] > 0.0) {
            let group = &mut work.groups[top(&work.above, v as u32) as usize];
            group.inertia += inertia(1.0 / work.w[v], &(work.straight_begins[v] - group.moment / group.mass));
        }
        for group in work.groups.iter_mut().filter(|group| group.torque != V3::zeros()) {
            group.turn = turn_of(group.inertia, &group.torque);
        }
        for v in (0..cloth).filter(|&v| work.w[v] > 0.0) {
            let group = &work.groups[top(&work.above, v as u32) as usize];
            if group.turn != V3::zeros() {
                let way = group.turn.cross(&(work.straight_begins[v] - group.moment / group.mass));
                work.u[v] -= way;
                work.turned[v] -= way / work.w[v];
            }
        }
    }
}

/// The first of the group of `v`, where `above` leads from each vertex towards it.
pub(crate) fn top(above: &[u32], mut v: u32) -> u32 {
    while above[v as usize] != v {
        v = above[v as usize];
    }
    v
}

/// Makes one group of two.
pub(crate) fn join(above: &mut [u32], one: u32, other: u32) {
    let (one, other) = (top(above, one), top(above, other));
    above[one.max(other) as usize] = one.min(other);
}
