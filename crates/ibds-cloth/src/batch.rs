//! Paths side by side, the tridiagonal systems of which (`paths.rs`) are solved in lanes.

use nalgebra::{SimdBool, SimdComplexField, SimdPartialOrd, SimdValue, Vector3};

use crate::{
    lanes::{Four, LANES, Lanes, Mask},
    link_error::LinkError,
    net::{LinkKind, Net},
    paths::Path,
    solvers::{Swept, System},
};

/// Added to the diagonal, of it [-].
const SOFT: f64 = 1e-4;

/// Solves of a path, at most, until no rope of it would push.
const SLACK: u32 = 3;

/// Paths side by side, with what is at each place along them.
#[derive(Debug)]
pub(crate) struct Batch {
    pub particles: Vec<[u32; LANES]>,
    pub links: Vec<[u32; LANES]>,
    /// 1 for links that run along their path, -1 for others.
    pub forward: Vec<Four>,
    /// 1 for links, 0 where a path is shorter than others.
    pub is_link: Vec<Four>,
    has_ropes: bool,
}

/// Of a batch: the largest error, of what it may be, and what share of its impulses each path takes, if they are needed [-].
#[derive(Clone, Default)]
pub(crate) struct Found {
    worst: f64,
    pub shares: Option<Four>,
}

/// Of the system of a batch what is at a place along the paths: a link, and the particle before it.
#[derive(Clone)]
pub(crate) struct Row {
    pub gives: Gives,
    /// Whether the link does something; direction and error, 0 where not.
    acts: Mask,
    direction: Vector3<Four>,
    error: Four,
    /// On the diagonal; above it, after elimination.
    diagonal: Four,
    upper: Four,
}

/// Of a place what is found in the end: impulse of the link, what the particle before it gets from both its links, and its inverse mass.
#[derive(Clone)]
pub(crate) struct Gives {
    impulse: Four,
    sum: Vector3<Four>,
    weight: Four,
}

impl Row {
    pub fn new() -> Self {
        let (zero, zeros) = (Four::ZERO, Vector3::repeat(Four::ZERO));
        Self {
            gives: Gives { impulse: zero, sum: zeros, weight: zero },
            acts: zero.simd_gt(zero),
            direction: zeros,
            error: zero,
            diagonal: zero,
            upper: zero,
        }
    }

    /// Links go where they do not act.
    fn keep(&mut self, acts: Mask) {
        self.acts = acts;
        self.error = self.error.select(acts, Four::ZERO);
        self.direction = self.direction.map(|x| x.select(acts, Four::ZERO));
    }
}

impl Batch {
    /// Of up to as many paths as there are lanes. Where a path is shorter than others, or there is none, lanes go on with what there is
    /// anyway, which then does nothing.
    pub fn new(net: &Net, paths: &[Path]) -> Self {
        let length = paths.iter().map(|path| path.links.len()).max().unwrap_or(0);
        let lanes = std::array::from_fn::<usize, LANES, _>(|lane| lane);
        let path = |lane: usize| &paths[if lane < paths.len() { lane } else { 0 }];
        let link = |lane: usize, k: usize| path(lane).links[k.min(path(lane).links.len() - 1)];
        let particle = |lane: usize, k: usize| path(lane).particles[k.min(path(lane).links.len())];
        let is_link = |lane: usize, k: usize| paths.get(lane).is_some_and(|path| k < path.links.len());
        let numbers =
            |of: &dyn Fn(usize, usize) -> f64| (0..length).map(|k| lanes.map(|lane| of(lane, k)).into()).collect();
        let is_rope = |(link, _): &(u32, bool)| net.links[*link as usize].kind == LinkKind::Rope;
        Self {
            particles: (0..=length).map(|k| lanes.map(|lane| particle(lane, k))).collect(),
            links: (0..length).map(|k| lanes.map(|lane| link(lane, k).0)).collect(),
            forward: numbers(&|lane, k| if link(lane, k).1 { 1.0 } else { -1.0 }),
            is_link: numbers(&|lane, k| f64::from(u8::from(is_link(lane, k)))),
            has_ropes: paths.iter().flat_map(|path| &path.links).any(is_rope),
        }
    }

    /// Impulses, and what particles get by them, if a link is off by more than is left alone.
    pub fn find(&self, system: &System<'_>, error: &impl LinkError, rows: &mut [Row]) -> Found {
        let rows = &mut rows[..=self.links.len()];
        let worst = self.measure(system, error, rows);
        if worst <= system.leave {
            return Found { worst, shares: None };
        }
        for _ in 0..SLACK {
            self.eliminate(rows);
            if !(self.has_ropes && self.let_go(system, rows)) {
                break;
            }
        }
        if self.has_ropes || system.largest < f64::INFINITY {
            for (links, row) in self.links.iter().zip(&mut *rows) {
                let within = |lane: usize| system.within_limits(links[lane] as usize, row.gives.impulse.extract(lane));
                row.gives.impulse = Four::from(std::array::from_fn(within)).select(row.acts, Four::ZERO);
            }
        }
        Found { worst, shares: Some(self.add_up(error, rows)) }
    }

    /// Directions and errors; the largest of what it may be [-]. What nothing can move does nothing.
    fn measure(&self, system: &System<'_>, error: &impl LinkError, rows: &mut [Row]) -> f64 {
        let at = |k: usize| Four::gather_vectors(system.y, self.particles[k]);
        let weight = |k: usize| Four::gather(system.w, self.particles[k]);
        let (mut worst, mut here, harder) = (Four::ZERO, at(0), Four::splat(1.0 + SOFT));
        rows[0].gives.weight = weight(0);
        for (k, &links) in self.links.iter().enumerate() {
            let (there, next) = (at(k + 1), weight(k + 1));
            rows[k + 1].gives.weight = next;
            let row = &mut rows[k];
            (row.direction, row.error) = system.error(links, [&here, &there], self.forward[k], error);
            row.diagonal = harder * (row.gives.weight + next) + system.softness::<Four>(links);
            let mut acts = (self.is_link[k] * row.diagonal).simd_gt(Four::ZERO);
            if self.has_ropes {
                acts = acts & !self.are_slack(system, k, row.error);
            }
            row.keep(acts);
            worst = worst.simd_max(row.error.simd_abs() / Four::gather(system.allowed, links));
            here = there;
        }
        worst.simd_horizontal_max()
    }

    /// Impulses of the tridiagonal systems; links that do nothing have none.
    fn eliminate(&self, rows: &mut [Row]) {
        let (links, zero) = (self.links.len(), Four::ZERO);
        let (mut lower, mut above, mut last) = (zero, zero, zero);
        for k in 0..links {
            let (row, next) = (&rows[k], &rows[k + 1]);
            let right = if k + 1 == links { zero } else { -(next.gives.weight * row.direction.dot(&next.direction)) };
            let row = &mut rows[k];
            let inverse = (Four::ONE / (row.diagonal - lower * above)).select(row.acts, zero);
            last = (row.error - lower * last) * inverse;
            above = right * inverse;
            (row.upper, row.gives.impulse) = (above, last);
            lower = right;
        }
        for row in rows[..links].iter_mut().rev() {
            last = row.gives.impulse - row.upper * last;
            row.gives.impulse = last;
        }
    }

    /// Of links at a place, which do nothing at such errors.
    fn are_slack(&self, system: &System<'_>, k: usize, errors: Four) -> Mask {
        let is_slack = |lane: usize| {
            let link = self.links[k][lane] as usize;
            f64::from(u8::from(system.is_slack(link, errors.extract(lane), system.pulls[link])))
        };
        Four::from(std::array::from_fn(is_slack)).simd_gt(Four::ZERO)
    }

    /// Ropes that would push do nothing. Whether there were some.
    fn let_go(&self, system: &System<'_>, rows: &mut [Row]) -> bool {
        let mut any = false;
        for (k, row) in rows[..self.links.len()].iter_mut().enumerate() {
            let pushes =
                row.acts & row.gives.impulse.simd_lt(Four::ZERO) & self.are_slack(system, k, row.gives.impulse);
            if pushes.any() {
                row.keep(row.acts & !pushes);
                any = true;
            }
        }
        any
    }

    /// What each particle gets from both its links, and how much of that each path takes, so that none goes too far for directions to
    /// hold: what is far from where it should be would be thrown about.
    fn add_up(&self, error: &impl LinkError, rows: &mut [Row]) -> Four {
        let (mut before, mut too_far) = (Vector3::repeat(Four::ZERO), Four::ONE);
        let end = self.links.len();
        for (k, row) in rows.iter_mut().enumerate() {
            let own = if k < end { row.direction * row.gives.impulse } else { Vector3::repeat(Four::ZERO) };
            row.gives.sum = own - before;
            let far = row.gives.weight / error.reach::<Four>(self.links[k.min(end - 1)]);
            too_far = too_far.simd_max(far * far * row.gives.sum.norm_squared());
            before = own;
        }
        Four::ONE / too_far.simd_sqrt()
    }

    /// Gives particles what was found.
    pub fn apply<'a>(
        &self,
        system: &mut System<'_>,
        gives: impl Iterator<Item = &'a Gives> + Clone,
        found: &Found,
        swept: &mut Swept,
    ) {
        swept.worst = swept.worst.max(found.worst);
        let Some(shares) = found.shares else { return };
        swept.corrections += 1;
        for (links, gives) in self.links.iter().zip(gives.clone()) {
            let impulse = shares * gives.impulse;
            for (lane, &link) in links.iter().enumerate() {
                system.pulls[link as usize] += impulse.extract(lane);
            }
        }
        for (particles, gives) in self.particles.iter().zip(gives) {
            let sum = gives.sum * shares;
            let change = sum * gives.weight;
            for (lane, &particle) in particles.iter().enumerate() {
                system.y[particle as usize] += change.map(|x| x.extract(lane));
            }
            if gives.weight.simd_le(Four::ZERO).any() {
                let is_held = |(lane, _): &(usize, _)| gives.weight.extract(*lane) == 0.0;
                for (lane, &particle) in particles.iter().enumerate().filter(is_held) {
                    system.taken[particle as usize] += sum.map(|x| x.extract(lane));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    use super::*;
    use crate::{
        links::Links,
        paths::{Paths, take_apart},
    };

    type V3 = Vector3<f64>;

    /// Rows of 1 to 8 links, zigzag, every second link named backwards; in one a particle in the middle is held, in
    /// another both ends. What a sweep gives is what a dense solve of each row's system says; again after a longer one was in the same memory.
    #[test]
    fn a_sweep_is_a_dense_solve_of_each_row() {
        let (mut places, mut ends, mut rows) = (vec![], vec![], vec![]);
        for (row, links) in [1_u32, 3, 4, 7, 2, 6, 5, 8].into_iter().enumerate() {
            let first = places.len() as u32;
            places.extend((0..=links).map(|k| [f64::from(k), 0.2 * f64::from(k % 2), row as f64]));
            rows.push((ends.len()..ends.len() + links as usize, first));
            ends.extend((first..first + links).map(|k| if k % 2 == 0 { [k, k + 1] } else { [k + 1, k] }));
        }
        let masses: Vec<f64> = (0..places.len()).map(|k| 0.5 + 0.1 * k as f64).collect();
        let net = Net::new(&places, &masses).unwrap().bars(ends.iter().copied()).unwrap().compliance(0.01).unwrap();
        assert_eq!(take_apart(&net).len(), rows.len());
        let held = [rows[3].1 + 3, rows[1].1, rows[1].1 + 3];
        let w: Vec<f64> = (0..).zip(&masses).map(|(k, m)| if held.contains(&k) { 0.0 } else { 1.0 / m }).collect();
        let stir =
            |x: V3, k: usize| x + 0.05 * V3::new((k as f64).sin(), (3.0 * k as f64).cos(), (5.0 * k as f64).sin());
        let begin: Vec<V3> = net.positions.iter().enumerate().map(|(k, x)| stir(*x, k)).collect();
        let given: Vec<f64> = (0..ends.len()).map(|link| 0.01 * link as f64).collect();

        let paths = Paths::new(&net, |k| held.contains(&k));
        let (links, allowed, mut memory) = (Links::new(&net), vec![1e-9; ends.len()], paths.memory());
        for _ in 0..2 {
            let (mut y, mut taken, mut pulls) = (begin.clone(), vec![V3::zeros(); begin.len()], given.clone());
            let mut system = System {
                y: &mut y,
                w: &w,
                taken: &mut taken,
                links: &links,
                allowed: &allowed,
                pulls: &mut pulls,
                softening: 2.0,
                largest: f64::INFINITY,
                leave: 0.0,
            };
            paths.sweep(&mut system, &links.lengths(), &mut memory);
            for (row, first) in &rows {
                let n = row.len();
                let particle = |k: usize| *first as usize + k;
                let way = |k: usize| (begin[particle(k + 1)] - begin[particle(k)]).normalize();
                let e = DVector::from_fn(n, |k, _| {
                    let length = (begin[particle(k + 1)] - begin[particle(k)]).norm();
                    length - net.links[row.start + k].rest_length - 2.0 * 0.01 * given[row.start + k]
                });
                let a = DMatrix::from_fn(n, n, |k, l| match k.abs_diff(l) {
                    0 => (1.0 + SOFT) * (w[particle(k)] + w[particle(k + 1)]) + 2.0 * 0.01,
                    1 => -w[particle(k.max(l))] * way(k).dot(&way(l)),
                    _ => 0.0,
                });
                let impulses = a.lu().solve(&e).unwrap();
                for k in 0..=n {
                    let along = |k: usize| impulses[k] * way(k);
                    let sum =
                        if k < n { along(k) } else { V3::zeros() } - if k > 0 { along(k - 1) } else { V3::zeros() };
                    let k = particle(k);
                    // Of numbers about 1, after some ten divisions.
                    assert!((y[k] - begin[k] - w[k] * sum).norm() < 1e-13, "particle {k}");
                    let expected = if w[k] == 0.0 { sum } else { V3::zeros() };
                    assert!((taken[k] - expected).norm() < 1e-13, "particle {k}");
                }
                for k in 0..n {
                    assert!((pulls[row.start + k] - given[row.start + k] - impulses[k]).abs() < 1e-13);
                }
            }
        }
    }
}
