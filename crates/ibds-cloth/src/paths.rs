//! Gauss-Seidel over paths: links in a row are solved as one.
//!
//! Link by link, an error moves by one particle a sweep; a path of m links that hangs at one end takes m² of them. Along a path the
//! system J W Jᵀ λ = e of its links is tridiagonal,
//!
//!   (w_k + w_k+1 + s) λ_k - w_k n_k-1·n_k λ_k-1 - w_k+1 n_k·n_k+1 λ_k+1 = e_k,
//!
//! with link k from particle k to k + 1 along n_k, softness s, so that it is solved in one pass forth and one back (Thomas): a chain
//! in as many sweeps as Newton's method takes, a sheet whose load goes along its threads in a few. Diagonally dominant, since
//! |n·n| <= 1: no pivot is smaller than the inverse mass of a path's end, or 0 if both ends are held and the path is straight, where
//! [`SOFT`] keeps it from that. What sits still, w = 0, splits a path by itself.
//!
//! The graph is taken apart once, into paths that go as straight on as they can. Paths that share no particle that moves do not
//! matter to each other, and four of them are solved side by side: each has to wait for its own divisions only. All that do not
//! matter to each other are a group, a colour of the graph, and large groups are solved on all threads: what each gives is
//! added up in one order, so that results are the same for any number of them.

use nalgebra::Vector3;
use rayon::prelude::*;

use crate::{
    link_error::LinkError,
    links::AtParticles,
    net::{LinkKind, Net},
    solvers::{Swept, System},
};

type V3 = Vector3<f64>;

/// A path goes on only where it turns by less than this cosine says [-].
const STRAIGHT: f64 = 0.8;

/// Added to the diagonal, of it [-].
const SOFT: f64 = 1e-4;

/// Solves of a path, at most, until no rope of it would push.
const SLACK: u32 = 3;

/// Paths side by side.
const LANES: usize = 4;

/// Links of a group from which on other threads are worth it: what they find has to be kept until it is added up, which is out of the
/// cache then. Two cores take 1.2 times the time of one for groups of 40,000 links, and 0.7 of it for 90,000.
const PARALLEL: usize = 60_000;

/// A link or particle that is none, where a path is shorter than those beside it.
const NONE: u32 = u32::MAX;

/// A row of links: particles, one more than links, and links with whether they run along it.
pub(crate) struct Path {
    pub particles: Vec<u32>,
    links: Vec<(u32, bool)>,
}

/// All links, each in one path.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    groups: Vec<Group>,
}

/// Paths that share no particle that moves.
#[derive(Debug)]
struct Group {
    batches: Vec<Batch>,
    /// Whether all threads work on it.
    parallel: bool,
}

/// Paths side by side, with what is at each place along them.
#[derive(Debug)]
struct Batch {
    particles: Vec<[u32; LANES]>,
    links: Vec<[u32; LANES]>,
    forward: Vec<[bool; LANES]>,
}

impl Paths {
    /// Takes a graph apart. What comes last in a sweep is left most exact: paths at what is held.
    pub fn new(net: &Net, is_held: impl Fn(u32) -> bool) -> Self {
        let mut paths = take_apart(net);
        paths.sort_by_key(|path| path.particles.iter().any(|&k| is_held(k)));
        // Of each group that has been begun, the particles that move.
        let mut groups: Vec<(Vec<bool>, Vec<Path>)> = vec![];
        for path in paths {
            let moves = |k: &&u32| !is_held(**k);
            let is_free = |met: &[bool]| path.particles.iter().filter(moves).all(|&k| !met[k as usize]);
            let number = groups.iter().position(|(met, _)| is_free(met)).unwrap_or(groups.len());
            if number == groups.len() {
                groups.push((vec![false; net.positions.len()], vec![]));
            }
            let (met, group) = &mut groups[number];
            path.particles.iter().filter(moves).for_each(|&k| met[k as usize] = true);
            group.push(path);
        }
        let of_paths = |(_, mut paths): (_, Vec<Path>)| {
            paths.sort_by_key(|path| path.links.len());
            let parallel = paths.iter().map(|path| path.links.len()).sum::<usize>() >= PARALLEL;
            Group { batches: paths.chunks(LANES).map(Batch::new).collect(), parallel }
        };
        Self { groups: groups.into_iter().map(of_paths).collect() }
    }

    /// Memory to sweep with.
    pub fn memory(&self) -> Memory {
        let longest = self.groups.iter().flat_map(|group| &group.batches).map(|batch| batch.links.len()).max();
        let at_once = self.groups.iter().filter(|group| group.parallel).map(|group| group.batches.len()).max();
        let rows = (0..at_once.unwrap_or(1)).map(|_| Rows::new(longest.unwrap_or(0))).collect();
        Memory { rows, found: vec![] }
    }

    /// All of them once, but for those of which no link is off by more than is left alone.
    pub fn sweep(&self, system: &mut System<'_>, error: &impl LinkError, memory: &mut Memory) -> Swept {
        let mut swept = Swept::default();
        for Group { batches, parallel } in &self.groups {
            let Memory { rows, found } = memory;
            if *parallel && rayon::current_num_threads() > 1 {
                let known = &*system;
                let finds = batches.par_iter().zip(&mut rows[..batches.len()]);
                finds.map(|(batch, rows)| batch.find(known, error, rows)).collect_into_vec(found);
                for ((batch, rows), found) in batches.iter().zip(rows).zip(&*found) {
                    batch.apply(system, rows, found, &mut swept);
                }
            } else {
                for batch in batches {
                    let found = batch.find(system, error, &mut rows[0]);
                    batch.apply(system, &rows[0], &found, &mut swept);
                }
            }
        }
        swept
    }
}

/// Paths that go as straight on as they can.
pub(crate) fn take_apart(net: &Net) -> Vec<Path> {
    let mut at = AtParticles::default();
    at.fill(&net.links.iter().map(|link| link.particles).collect::<Vec<_>>());
    let mut taken = vec![false; net.links.len()];
    // By which path each particle was met last.
    let mut met = vec![NONE; net.positions.len()];
    let mut paths: Vec<Path> = vec![];
    for link in 0..net.links.len() as u32 {
        if std::mem::replace(&mut taken[link as usize], true) {
            continue;
        }
        let [i, j] = net.links[link as usize].particles;
        let number = paths.len() as u32;
        // Braces go along what they brace, in paths of their own.
        let is_brace = |link: u32| net.links[link as usize].kind == LinkKind::Brace;
        (met[i as usize], met[j as usize]) = (number, number);
        let mut grow = |mut from: u32, to: u32| {
            let (mut here, mut particles, mut links) = (to, vec![to], vec![]);
            loop {
                let is_left = |other: u32| !taken[other as usize] && is_brace(other) == is_brace(link);
                let has_met = |k: u32| met[k as usize] == number;
                let found = straight_on(net, at.of(here), is_left, [from, here], has_met);
                let Some((link, next)) = found else { break };
                taken[link as usize] = true;
                met[next as usize] = number;
                links.push((link, net.links[link as usize].particles[0] == here));
                particles.push(next);
                (from, here) = (here, next);
            }
            (particles, links)
        };
        let ((after, links_after), (before, links_before)) = (grow(i, j), grow(j, i));
        let particles = before.into_iter().rev().chain(after).collect();
        let back = links_before.into_iter().rev().map(|(link, forward)| (link, !forward));
        let links = back.chain([(link, true)]).chain(links_after).collect();
        paths.push(Path { particles, links });
    }
    paths
}

/// Of links at the second particle that are left, the one that goes on straightest as seen from the first, to one that the path has not met.
fn straight_on(
    net: &Net,
    links: &[u32],
    is_left: impl Fn(u32) -> bool,
    [from, here]: [u32; 2],
    has_met: impl Fn(u32) -> bool,
) -> Option<(u32, u32)> {
    let x = |k: u32| net.positions[k as usize];
    let way = (x(here) - x(from)).try_normalize(0.0)?;
    let candidates = links.iter().filter(|&&link| is_left(link)).filter_map(|&link| {
        let [i, j] = net.links[link as usize].particles;
        let next = if i == here { j } else { i };
        let cosine = (x(next) - x(here)).try_normalize(0.0)?.dot(&way);
        (cosine > STRAIGHT && !has_met(next)).then_some((cosine, link, next))
    });
    candidates.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(_, link, next)| (link, next))
}

/// What sweeps work in: rows for each batch that is solved at once, and what was found of it.
#[derive(Default)]
pub(crate) struct Memory {
    rows: Vec<Rows>,
    found: Vec<Found>,
}

/// Of a batch: the largest error, of what it may be, and what share of its impulses each path takes, if they are needed [-].
struct Found {
    worst: f64,
    shares: Option<[f64; LANES]>,
}

/// Memory of the solve of a batch, by place along the paths.
struct Rows {
    directions: Vec<[V3; LANES]>,
    errors: Vec<[f64; LANES]>,
    /// Whether a link does nothing.
    slack: Vec<[bool; LANES]>,
    /// Above the diagonal, after elimination; impulses.
    upper: Vec<[f64; LANES]>,
    impulses: Vec<[f64; LANES]>,
    /// Of particles, from both their links.
    sums: Vec<[V3; LANES]>,
}

impl Rows {
    /// For paths of so many links.
    fn new(links: usize) -> Self {
        let zeros = || vec![[0.0; LANES]; links];
        Self {
            directions: vec![[V3::zeros(); LANES]; links],
            errors: zeros(),
            slack: vec![[true; LANES]; links],
            upper: zeros(),
            impulses: zeros(),
            sums: vec![[V3::zeros(); LANES]; links + 1],
        }
    }
}

impl Batch {
    /// Of up to as many paths as there are lanes.
    fn new(paths: &[Path]) -> Self {
        let length = paths.iter().map(|path| path.links.len()).max().unwrap_or(0);
        let of = |lane: usize, k: usize| paths.get(lane).and_then(|path| path.links.get(k));
        let lanes = std::array::from_fn::<usize, LANES, _>(|lane| lane);
        Self {
            particles: (0..=length)
                .map(|k| {
                    lanes.map(|lane| paths.get(lane).and_then(|path| path.particles.get(k)).copied().unwrap_or(NONE))
                })
                .collect(),
            links: (0..length).map(|k| lanes.map(|lane| of(lane, k).map_or(NONE, |link| link.0))).collect(),
            forward: (0..length).map(|k| lanes.map(|lane| of(lane, k).is_some_and(|link| link.1))).collect(),
        }
    }

    /// Impulses, and what particles get by them, if a link is off by more than is left alone.
    fn find(&self, system: &System<'_>, error: &impl LinkError, rows: &mut Rows) -> Found {
        let worst = self.measure(system, error, rows);
        if worst <= system.leave {
            return Found { worst, shares: None };
        }
        for _ in 0..SLACK {
            self.eliminate(system, rows);
            let mut pushes = false;
            for (k, links) in self.links.iter().enumerate() {
                for (lane, &link) in links.iter().enumerate() {
                    if link == NONE || rows.impulses[k][lane] >= 0.0 {
                        continue;
                    }
                    if system.is_slack(link as usize, rows.impulses[k][lane], system.pulls[link as usize]) {
                        rows.slack[k][lane] = true;
                        pushes = true;
                    }
                }
            }
            if !pushes {
                break;
            }
        }
        for (links, (impulses, slack)) in self.links.iter().zip(rows.impulses.iter_mut().zip(&rows.slack)) {
            for lane in (0..LANES).filter(|&lane| !slack[lane]) {
                impulses[lane] = system.within_limits(links[lane] as usize, impulses[lane]);
            }
        }
        Found { worst, shares: Some(self.add_up(system.w, error, rows)) }
    }

    /// Gives particles what was found.
    fn apply(&self, system: &mut System<'_>, rows: &Rows, found: &Found, swept: &mut Swept) {
        swept.worst = swept.worst.max(found.worst);
        let Some(shares) = found.shares else { return };
        swept.corrections += 1;
        for (links, (impulses, slack)) in self.links.iter().zip(rows.impulses.iter().zip(&rows.slack)) {
            for lane in 0..LANES {
                if !slack[lane] {
                    system.pulls[links[lane] as usize] += shares[lane] * impulses[lane];
                }
            }
        }
        for (particles, sums) in self.particles.iter().zip(&rows.sums) {
            for ((&particle, sum), share) in particles.iter().zip(sums).zip(shares) {
                if particle != NONE {
                    system.push(particle as usize, &(share * sum));
                }
            }
        }
    }

    /// What each particle gets from both its links, and how much of that each path takes, so that none goes too far for directions to
    /// hold: what is far from where it should be would be thrown about.
    fn add_up(&self, w: &[f64], error: &impl LinkError, rows: &mut Rows) -> [f64; LANES] {
        let Rows { directions, slack, impulses, sums, .. } = rows;
        let (mut before, mut too_far) = ([V3::zeros(); LANES], [1.0_f64; LANES]);
        for (k, links) in self.links.iter().enumerate() {
            for lane in 0..LANES {
                let own = if slack[k][lane] { V3::zeros() } else { impulses[k][lane] * directions[k][lane] };
                let sum = own - before[lane];
                (sums[k][lane], before[lane]) = (sum, own);
                if !slack[k][lane] {
                    let far = w[self.particles[k][lane] as usize] / error.reach(links[lane] as usize);
                    too_far[lane] = too_far[lane].max(far * far * sum.norm_squared());
                }
            }
        }
        sums[self.links.len()] = before.map(|before| -before);
        too_far.map(|square| square.sqrt().recip())
    }

    /// Directions and errors; the largest of what it may be [-].
    fn measure(&self, system: &System<'_>, error: &impl LinkError, rows: &mut Rows) -> f64 {
        let mut worst: f64 = 0.0;
        for (k, links) in self.links.iter().enumerate() {
            for (lane, &link) in links.iter().enumerate() {
                rows.slack[k][lane] = true;
                if link == NONE {
                    continue;
                }
                let [here, next] = [k, k + 1].map(|k| &system.y[self.particles[k][lane] as usize]);
                let (n, e) = system.error(link as usize, [here, next], self.forward[k][lane], error);
                (rows.directions[k][lane], rows.errors[k][lane]) = (n, e);
                let of_allowed = e.abs() / system.allowed[link as usize];
                let is_slack = system.is_slack(link as usize, e, system.pulls[link as usize]);
                if !(is_slack || of_allowed > 1.0 && !system.gives(link as usize)) {
                    rows.slack[k][lane] = false;
                    worst = worst.max(of_allowed);
                }
            }
        }
        worst
    }

    /// Impulses of the tridiagonal systems; links that are slack have none.
    fn eliminate(&self, system: &System<'_>, rows: &mut Rows) {
        let Rows { directions, errors, slack, upper, impulses, .. } = rows;
        let weight = |k: usize, lane: usize| system.w.get(self.particles[k][lane] as usize).copied().unwrap_or(0.0);
        let m = self.links.len();
        let (mut above, mut last) = ([0.0; LANES], [0.0; LANES]);
        for k in 0..m {
            for lane in 0..LANES {
                let [own, next] = [weight(k, lane), weight(k + 1, lane)];
                let soft = if slack[k][lane] { 0.0 } else { system.softness(self.links[k][lane] as usize) };
                if slack[k][lane] || own + next + soft == 0.0 {
                    (above[lane], last[lane]) = (0.0, 0.0);
                } else {
                    let turn = |k: usize| directions[k - 1][lane].dot(&directions[k][lane]);
                    let lower = if k > 0 && !slack[k - 1][lane] { -own * turn(k) } else { 0.0 };
                    let right = if k + 1 < m && !slack[k + 1][lane] { -next * turn(k + 1) } else { 0.0 };
                    let pivot = (1.0 + SOFT) * (own + next) + soft - lower * above[lane];
                    last[lane] = (errors[k][lane] - lower * last[lane]) / pivot;
                    above[lane] = right / pivot;
                }
            }
            (upper[k], impulses[k]) = (above, last);
        }
        for k in (0..m.saturating_sub(1)).rev() {
            for lane in 0..LANES {
                impulses[k][lane] -= upper[k][lane] * impulses[k + 1][lane];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each link is in one path, between the particles that it joins; paths side by side share none that moves.
    #[test]
    fn paths_take_every_link_once() {
        let positions: Vec<[f64; 3]> =
            (0..40).map(|k| [f64::from(k).sin(), f64::from(k * k).cos(), 0.1 * f64::from(k)]).collect();
        let pairs = (0..40).flat_map(|i| [[i, (i + 1) % 40], [i, (7 * i + 3) % 40], [(i + 1) % 40, i]]);
        let net = Net::new(&positions, &[1.0; 40]).unwrap().bars(pairs.filter(|[i, j]| i != j)).unwrap();
        let is_held = |k: u32| k.is_multiple_of(5);
        let paths = Paths::new(&net, is_held);
        let mut times = vec![0; net.links.len()];
        for batch in paths.groups.iter().flat_map(|group| &group.batches) {
            for lane in 0..LANES {
                for (k, links) in batch.links.iter().enumerate().filter(|(_, links)| links[lane] != NONE) {
                    let [from, to] = [k, k + 1].map(|k| batch.particles[k][lane]);
                    let along = if batch.forward[k][lane] { [from, to] } else { [to, from] };
                    assert_eq!(net.links[links[lane] as usize].particles, along);
                    times[links[lane] as usize] += 1;
                }
            }
            let mut all: Vec<u32> =
                batch.particles.iter().flatten().copied().filter(|&k| k != NONE && !is_held(k)).collect();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count);
        }
        assert!(times.iter().all(|times| *times == 1));
    }
}
