//! Paths side by side, the tridiagonal systems of which (`paths.rs`) are solved in lanes.

use nalgebra::{SimdBool, SimdComplexField, SimdPartialOrd, SimdValue, Vector3};

use crate::{
    lanes::{Four, LANES, Lanes, Mask},
    link_error::LinkError,
    net::{LinkKind, Net},
    paths::Path,
    solvers::{Fixed, Swept},
    values::Values,
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

/// What a thread works in.
#[derive(Clone)]
pub(crate) struct Scratch {
    rows: Vec<Row>,
    /// What particles that are held were given.
    pub taken: Vec<(u32, Vector3<f64>)>,
    pub swept: Swept,
}

impl Scratch {
    /// For batches of so many links one after the other.
    pub fn new(links: usize) -> Self {
        Self { rows: vec![Row::new(); links + 1], taken: vec![], swept: Swept::default() }
    }
}

/// Of the system of a batch what is at a place along the paths: a link, and the particle before it.
#[derive(Clone)]
struct Row {
    /// The link's impulse, what the particle gets from both its links, and its inverse mass.
    impulse: Four,
    sum: Vector3<Four>,
    weight: Four,
    /// Whether the link does something; direction and error, 0 where not.
    acts: Mask,
    direction: Vector3<Four>,
    error: Four,
    /// On the diagonal; above it, after elimination.
    diagonal: Four,
    upper: Four,
}

impl Row {
    fn new() -> Self {
        let (zero, zeros) = (Four::ZERO, Vector3::repeat(Four::ZERO));
        Self {
            impulse: zero,
            sum: zeros,
            weight: zero,
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

    /// Corrects all links at once, if one is off by more than is left alone.
    pub fn sweep(&self, fixed: &Fixed<'_>, values: &impl Values, error: &impl LinkError, scratch: &mut Scratch) {
        let Scratch { rows, taken, swept } = scratch;
        let rows = &mut rows[..=self.links.len()];
        let worst = self.measure(fixed, values, error, rows);
        swept.worst = swept.worst.max(worst);
        if worst <= fixed.leave {
            return;
        }
        swept.corrections += 1;
        for _ in 0..SLACK {
            self.eliminate(rows);
            if !(self.has_ropes && self.let_go(fixed, values, rows)) {
                break;
            }
        }
        if self.has_ropes || fixed.largest < f64::INFINITY {
            for (links, row) in self.links.iter().zip(&mut *rows) {
                let within = |lane: usize| {
                    fixed.within_limits(links[lane] as usize, row.impulse.extract(lane), values.pulled(links[lane]))
                };
                row.impulse = Four::from(std::array::from_fn(within)).select(row.acts, Four::ZERO);
            }
        }
        let shares = self.add_up(error, rows);
        self.apply(values, rows, shares, taken);
    }

    /// Directions and errors; the largest of what it may be [-]. What nothing can move does nothing.
    fn measure(&self, fixed: &Fixed<'_>, values: &impl Values, error: &impl LinkError, rows: &mut [Row]) -> f64 {
        let at = |k: usize| values.gather(self.particles[k]);
        let weight = |k: usize| Four::gather(fixed.w, self.particles[k]);
        let (mut worst, mut here, harder) = (Four::ZERO, at(0), Four::splat(1.0 + SOFT));
        rows[0].weight = weight(0);
        for (k, &links) in self.links.iter().enumerate() {
            let (there, next) = (at(k + 1), weight(k + 1));
            rows[k + 1].weight = next;
            let row = &mut rows[k];
            (row.direction, row.error) = error.of(links, &here, &there, self.forward[k]);
            row.diagonal = harder * (row.weight + next);
            if fixed.softening > 0.0 {
                let softness = fixed.softness::<Four>(links);
                row.error -= softness * Four::from(links.map(|link| values.pulled(link)));
                row.diagonal += softness;
            }
            let mut acts = (self.is_link[k] * row.diagonal).simd_gt(Four::ZERO);
            if self.has_ropes {
                acts = acts & !self.are_slack(fixed, values, k, row.error);
            }
            row.keep(acts);
            worst = worst.simd_max(row.error.simd_abs() / Four::gather(fixed.allowed, links));
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
            let right = if k + 1 == links { zero } else { -(next.weight * row.direction.dot(&next.direction)) };
            let row = &mut rows[k];
            let inverse = (Four::ONE / (row.diagonal - lower * above)).select(row.acts, zero);
            last = (row.error - lower * last) * inverse;
            above = right * inverse;
            (row.upper, row.impulse) = (above, last);
            lower = right;
        }
        for row in rows[..links].iter_mut().rev() {
            last = row.impulse - row.upper * last;
            row.impulse = last;
        }
    }

    /// Of links at a place, which do nothing at such errors.
    fn are_slack(&self, fixed: &Fixed<'_>, values: &impl Values, k: usize, errors: Four) -> Mask {
        let is_slack = |lane: usize| {
            let link = self.links[k][lane];
            f64::from(u8::from(fixed.is_slack(link as usize, errors.extract(lane), values.pulled(link))))
        };
        Four::from(std::array::from_fn(is_slack)).simd_gt(Four::ZERO)
    }

    /// Ropes that would push do nothing. Whether there were some.
    fn let_go(&self, fixed: &Fixed<'_>, values: &impl Values, rows: &mut [Row]) -> bool {
        let mut any = false;
        for (k, row) in rows[..self.links.len()].iter_mut().enumerate() {
            let pushes = row.acts & row.impulse.simd_lt(Four::ZERO) & self.are_slack(fixed, values, k, row.impulse);
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
            let own = if k < end { row.direction * row.impulse } else { Vector3::repeat(Four::ZERO) };
            row.sum = own - before;
            let far = row.weight / error.reach::<Four>(self.links[k.min(end - 1)]);
            too_far = too_far.simd_max(far * far * row.sum.norm_squared());
            before = own;
        }
        Four::ONE / too_far.simd_sqrt()
    }

    /// Gives particles their share of what was found, and notes what those get that are held.
    fn apply(&self, values: &impl Values, rows: &[Row], shares: Four, taken: &mut Vec<(u32, Vector3<f64>)>) {
        for (links, row) in self.links.iter().zip(rows) {
            let impulse = shares * row.impulse;
            links.iter().enumerate().for_each(|(lane, &link)| values.book(link, impulse.extract(lane)));
        }
        for (particles, row) in self.particles.iter().zip(rows) {
            let sum = row.sum * shares;
            let change = sum * row.weight;
            let all_move = row.weight.simd_gt(Four::ZERO).all();
            for (lane, &particle) in particles.iter().enumerate() {
                let of_lane = |vector: &Vector3<Four>| vector.map(|x| x.extract(lane));
                if all_move || row.weight.extract(lane) > 0.0 {
                    values.add(particle, &of_lane(&change));
                } else {
                    taken.push((particle, of_lane(&sum)));
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
        paths::{Paths, paths},
        solvers::System,
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
        assert_eq!(paths(&net).len(), rows.len());
        let held = [rows[3].1 + 3, rows[1].1, rows[1].1 + 3];
        let w: Vec<f64> = (0..).zip(&masses).map(|(k, m)| if held.contains(&k) { 0.0 } else { 1.0 / m }).collect();
        let stir =
            |x: V3, k: usize| x + 0.05 * V3::new((k as f64).sin(), (3.0 * k as f64).cos(), (5.0 * k as f64).sin());
        let begin: Vec<V3> = net.positions.iter().enumerate().map(|(k, x)| stir(*x, k)).collect();
        let before: Vec<f64> = (0..ends.len()).map(|link| 0.01 * link as f64).collect();

        let paths = Paths::new(&net, |k| held.contains(&k));
        let (links, allowed, mut memory) = (Links::new(&net), vec![1e-9; ends.len()], paths.memory());
        for _ in 0..2 {
            let (mut y, mut taken, mut pulls) = (begin.clone(), vec![V3::zeros(); begin.len()], before.clone());
            let (links, allowed) = (&links, &allowed);
            let fixed = Fixed { w: &w, links, allowed, softening: 2.0, largest: f64::INFINITY, leave: 0.0 };
            let mut system = System { y: &mut y, taken: &mut taken, pulls: &mut pulls, fixed };
            paths.sweep(&mut system, &links.lengths(), &mut memory);
            for (row, first) in &rows {
                let n = row.len();
                let particle = |k: usize| *first as usize + k;
                let way = |k: usize| (begin[particle(k + 1)] - begin[particle(k)]).normalize();
                let e = DVector::from_fn(n, |k, _| {
                    let length = (begin[particle(k + 1)] - begin[particle(k)]).norm();
                    length - net.links[row.start + k].rest_length - 2.0 * 0.01 * before[row.start + k]
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
                    assert!((pulls[row.start + k] - before[row.start + k] - impulses[k]).abs() < 1e-13);
                }
            }
        }
    }
}
