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
    /// 1 for links that run along their path, -1 for others; 1 for links, and 0 where a path is shorter than others.
    pub forward: Vec<Four>,
    pub is_link: Vec<Four>,
    has_ropes: bool,
}

/// Of a batch: the largest error, of what it may be, and what share of its impulses each path takes, if they are needed [-].
#[derive(Clone, Default)]
pub(crate) struct Found {
    worst: f64,
    shares: Option<Four>,
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
            let [row, next] = &mut rows[k..k + 2] else { return };
            let right = if k + 1 == links { zero } else { -(next.gives.weight * row.direction.dot(&next.direction)) };
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
