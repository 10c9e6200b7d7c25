//! What a step tells of impulses: all that was given in it, less what was given to and fro.
//!
//! Between obstacles that leave hardly any room, contacts push against each other for as long as they are swept, and one part of
//! a step against the next: the cloth gets the difference, and each obstacle would be told of all of it. Of all impulses q_j
//! that give each vertex the same, Σ c_jv q_j = J_v, those with the least Σ q_j² have nothing of that. They are
//! q_j = Σ c_jv y_v, where y solves Σ_jw c_jv c_jw y_w = J_v.

use nalgebra::Vector3;

use crate::{Contacts, Reaction};

type V3 = Vector3<f64>;

/// Obstacles push against each other where they push so many times as hard as the cloth is pushed `[-]`.
const SQUEEZED: f64 = 2.0;

/// Left over of what vertices get, relative, and iterations after which it may be more.
const TOLERANCE: f64 = 1e-12;
const MOST: usize = 100;

/// An impulse that vertices got by weights, those of one side less than 0.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub vertices: [u32; 5],
    pub weights: [f64; 5],
    /// Of what weighs 1 `[N s]`.
    pub impulse: V3,
    /// Who gave it, if it was not the cloth itself.
    pub obstacle: Option<u32>,
    /// Of a frame, by how far from its carrier it acts, times the weight of the cloth `[m]`.
    pub arm: V3,
}

impl Given {
    /// The parts that are cloth, among so many vertices.
    pub(crate) fn parts(&self, vertices: usize) -> impl Iterator<Item = (usize, f64)> {
        let all = self.vertices.map(|v| v as usize).into_iter().zip(self.weights);
        all.filter(move |(v, c)| *v < vertices && *c != 0.0)
    }

    fn whole(&self, vertices: usize) -> V3 {
        self.parts(vertices).map(|(_, c)| c).sum::<f64>() * self.impulse
    }
}

impl Contacts {
    /// Notes an impulse by weights, now.
    pub(crate) fn give<const N: usize>(
        &mut self,
        vertices: [u32; N],
        weights: [f64; N],
        impulse: V3,
        obstacle: Option<u32>,
    ) {
        self.give_at(0, vertices, weights, impulse, obstacle);
    }

    /// Notes an impulse by weights, with frames at the start (0) or at the end (1) of the last part of the step.
    pub(crate) fn give_at<const N: usize>(
        &mut self,
        end: usize,
        vertices: [u32; N],
        weights: [f64; N],
        impulse: V3,
        obstacle: Option<u32>,
    ) {
        if impulse == V3::zeros() {
            return;
        }
        let fill = |k: usize| if k < N { (vertices[k], weights[k]) } else { (vertices[0], 0.0) };
        let (vertices, weights) = (std::array::from_fn(|k| fill(k).0), std::array::from_fn(|k| fill(k).1));
        let mut given = Given { vertices, weights, impulse, obstacle, arm: V3::zeros() };
        let work = &mut self.work;
        if let Some(poses) = obstacle.and_then(|k| work.poses[k as usize].as_ref()) {
            // From where the surface would have set out, as angular momentum is told (`torque.rs`).
            let at = |v: usize| work.straight_begins[v] - poses[end].translation.vector;
            given.arm = given.parts(work.w.len()).map(|(v, c)| c * at(v)).sum();
        }
        work.given.push(given);
    }

    /// Tells what was given in the step, on the surface and on obstacles.
    pub(crate) fn tell_impulses(&mut self) {
        let n = self.features.vertices();
        let mut all = std::mem::take(&mut self.work.given);
        let left_over = if self.has_one_frame(&all) { None } else { relieve(&mut all, n) };
        if let Some(left_over) = left_over {
            self.give_left_over(&all, &left_over);
            all.append(&mut self.work.given);
        }
        for given in &all {
            given.parts(n).for_each(|(v, c)| self.work.impulses[v] += c * given.impulse);
            let Some(obstacle) = given.obstacle else { continue };
            let work = &mut self.work;
            if work.poses[obstacle as usize].is_some() {
                let (linear, angular) = (-given.whole(n), given.impulse.cross(&given.arm));
                work.reactions.push(Reaction { obstacle, carrier: 0, linear, angular });
                continue;
            }
            let first = work.first[obstacle as usize];
            let on = given.vertices.iter().zip(given.weights).filter(|(v, c)| **v >= first && *c != 0.0);
            let one = |(v, c): (&u32, f64)| (v - first, c * given.impulse);
            work.reactions.extend(on.map(one).map(|(carrier, linear)| Reaction {
                obstacle,
                carrier,
                linear,
                angular: V3::zeros(),
            }));
        }
        self.work.given = all;
        self.sum_reactions();
    }

    /// Whether at most one obstacle gave, a frame: it gets the sum, which is the same of all
    /// q_j.
    fn has_one_frame(&self, all: &[Given]) -> bool {
        let mut obstacles = all.iter().filter_map(|given| given.obstacle);
        let Some(first) = obstacles.next() else { return true };
        self.work.poses[first as usize].is_some() && obstacles.all(|obstacle| obstacle == first)
    }

    /// What vertices lack, by the obstacle that gave most: it is little.
    fn give_left_over(&mut self, all: &[Given], left_over: &[V3]) {
        let n = left_over.len();
        let by_obstacles = all.iter().filter(|given| given.obstacle.is_some());
        let most = by_obstacles.max_by(|a, b| a.whole(n).norm().total_cmp(&b.whole(n).norm()));
        let Some(Given { vertices, obstacle, .. }) = most else { return };
        let other = vertices.iter().copied().find(|&v| v as usize >= n);
        for (v, &impulse) in left_over.iter().enumerate() {
            let v = v as u32;
            self.give([v, other.unwrap_or(v)], [1.0, if other.is_some() { -1.0 } else { 0.0 }], impulse, *obstacle);
        }
    }

    /// One of each carrier.
    fn sum_reactions(&mut self) {
        let reactions = &mut self.work.reactions;
        // Without memory of its own; which of several comes first depends on nothing but their order before.
        reactions.sort_unstable_by_key(|reaction| (reaction.obstacle, reaction.carrier));
        reactions.dedup_by(|next, sum| {
            let same = (next.obstacle, next.carrier) == (sum.obstacle, sum.carrier);
            if same {
                sum.linear += next.linear;
                sum.angular += next.angular;
            }
            same
        });
    }
}

/// Takes back what obstacles gave each other through so many vertices, if they did. What vertices then lack is left over.
fn relieve(all: &mut [Given], n: usize) -> Option<Vec<V3>> {
    let told = all.iter().filter(|given| given.obstacle.is_some()).map(|given| given.whole(n).norm()).sum::<f64>();
    // Cheaper than what each vertex gets, and no more than that comes to.
    let whole: V3 = all.iter().map(|given| given.whole(n)).sum();
    if told <= SQUEEZED * whole.norm() {
        return None;
    }
    let mut got = vec![V3::zeros(); n];
    all.iter().for_each(|given| given.parts(n).for_each(|(v, c)| got[v] += c * given.impulse));
    if told <= SQUEEZED * got.iter().map(|j| j.norm()).sum::<f64>() {
        return None;
    }

    // Conjugate gradients, scaled by the diagonal.
    let mut diagonal = vec![0.0; n];
    all.iter().for_each(|given| given.parts(n).for_each(|(v, c)| diagonal[v] += c * c));
    let scale = |r: &V3, diagonal: &f64| if *diagonal > 0.0 { r / *diagonal } else { V3::zeros() };
    let dot = |a: &[V3], b: &[V3]| a.iter().zip(b).map(|(a, b)| a.dot(b)).sum::<f64>();
    let (mut y, mut image) = (vec![V3::zeros(); n], vec![V3::zeros(); n]);
    let mut direction: Vec<V3> = got.iter().zip(&diagonal).map(|(r, d)| scale(r, d)).collect();
    let mut residual = got;
    let mut left = dot(&residual, &direction);
    let enough = TOLERANCE * TOLERANCE * left;
    for _ in 0..MOST {
        if left <= enough {
            break;
        }
        image.fill(V3::zeros());
        for given in &*all {
            let sum: V3 = given.parts(n).map(|(v, c)| c * direction[v]).sum();
            given.parts(n).for_each(|(v, c)| image[v] += c * sum);
        }
        let step = left / dot(&direction, &image);
        y.iter_mut().zip(&direction).for_each(|(y, d)| *y += step * d);
        residual.iter_mut().zip(&image).for_each(|(r, a)| *r -= step * a);
        image.iter_mut().zip(&residual).zip(&diagonal).for_each(|((z, r), d)| *z = scale(r, d));
        let before = std::mem::replace(&mut left, dot(&residual, &image));
        direction.iter_mut().zip(&image).for_each(|(d, z)| *d = z + left / before * *d);
    }
    for given in &mut *all {
        given.impulse = given.parts(n).map(|(v, c)| c * y[v]).sum();
    }
    Some(residual)
}
