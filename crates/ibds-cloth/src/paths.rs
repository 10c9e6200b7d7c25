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
//! what is added to the diagonal keeps it from that. What sits still, w = 0, splits a path by itself.
//!
//! The graph is taken apart once, into paths that go as straight on as they can. Paths that share no particle that moves do not
//! matter to each other, and four of them are solved side by side: each has to wait for its own divisions only. All that do not
//! matter to each other are a group, a colour of the graph, and large groups are swept by all threads, with the same results as by one:
//! they share only particles that are held, and what those get is added up in one order.

use std::collections::VecDeque;

use rayon::prelude::*;

use crate::{
    batch::{Batch, Scratch},
    lanes::LANES,
    link_error::LinkError,
    links::AtParticles,
    net::{LinkKind, Net},
    solvers::{Swept, System},
    values::{Own, Shared},
};

/// A path goes on only where it turns by less than this cosine says [-].
const STRAIGHT: f64 = 0.8;

/// Links of a group from which on all threads work on it. Two cores take as long as one for groups of 10,000 to 20,000 links, 0.7 of that for
/// 40,000, 0.62 for 96,000, where one takes 9 ns a link.
const PARALLEL: usize = 20_000;

/// A path that is none.
const NONE: u32 = u32::MAX;

/// A row of links.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    /// One more than links.
    pub particles: Vec<u32>,
    /// Numbers of links, and whether they run along it.
    pub links: Vec<(u32, bool)>,
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

impl Paths {
    /// Takes a graph apart. What comes last in a sweep is left most exact: paths at what is held.
    pub fn new(net: &Net, is_held: impl Fn(u32) -> bool) -> Self {
        let mut paths = paths(net);
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
            let is_large = paths.iter().map(|path| path.links.len()).sum::<usize>() >= PARALLEL;
            let mut batches: VecDeque<Batch> = paths.chunks(LANES).map(|paths| Batch::new(net, paths)).collect();
            let parallel = is_large && batches.len() > 1;
            // Long and short ones by turns, so that parts of as many take threads as long.
            let by_turns =
                (0..batches.len()).filter_map(|k| if k % 2 == 0 { batches.pop_back() } else { batches.pop_front() });
            Group { batches: by_turns.collect(), parallel }
        };
        Self { groups: groups.into_iter().map(of_paths).collect() }
    }

    /// Whether there is a group that more than one thread works on.
    pub fn use_threads(&self) -> bool {
        rayon::current_num_threads() > 1 && self.groups.iter().any(|group| group.parallel)
    }

    /// Memory to sweep with.
    pub fn memory(&self) -> Memory {
        let longest = self.groups.iter().flat_map(|group| &group.batches).map(|batch| batch.links.len()).max();
        Memory { scratches: vec![Scratch::new(longest.unwrap_or(0))] }
    }

    /// All of them once, but for those of which no link is off by more than is left alone.
    pub fn sweep(&self, system: &mut System<'_>, error: &impl LinkError, memory: &mut Memory) -> Swept {
        let mut swept = Swept::default();
        let System { y, taken, pulls, fixed } = system;
        let (scratches, threads) = (&mut memory.scratches, rayon::current_num_threads());
        for Group { batches, parallel } in &self.groups {
            if *parallel && threads > 1 {
                let values = Shared::new(y, pulls);
                let part = batches.len().div_ceil(threads);
                if scratches.len() < threads {
                    scratches.resize(threads, scratches[0].clone());
                }
                let parts = batches.par_chunks(part).zip(&mut *scratches);
                parts.for_each(|(batches, scratch)| {
                    batches.iter().for_each(|batch| batch.sweep(fixed, &values, error, scratch));
                });
            } else {
                let values = Own::new(y, pulls);
                batches.iter().for_each(|batch| batch.sweep(fixed, &values, error, &mut scratches[0]));
            }
            // In the order of batches, whichever thread swept them.
            for Scratch { taken: sums, swept: own, .. } in &mut *scratches {
                sums.drain(..).for_each(|(particle, sum)| taken[particle as usize] += sum);
                swept.join(&std::mem::take(own));
            }
        }
        swept
    }
}

/// All links of a net, each in one path, which goes as straight on as it can; braces in paths of their own.
pub fn paths(net: &Net) -> Vec<Path> {
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

/// What sweeps work in, for each thread that ever did.
#[derive(Default)]
pub(crate) struct Memory {
    scratches: Vec<Scratch>,
}

#[cfg(test)]
mod tests {
    use nalgebra::{SimdValue, Vector3};

    use super::*;
    use crate::{links::Links, solvers::Fixed};

    /// Threads have work from where the tests of `physics.rs` try them: on groups of 159 x 160 links.
    #[test]
    fn large_groups_are_for_all_threads() {
        let number = |k: u32| f64::from(k);
        let positions: Vec<[f64; 3]> = (0..160 * 160).map(|k| [number(k % 160), number(k / 160), 0.0]).collect();
        let rows = (0..160_u32).flat_map(|row| (1..160).map(move |k| [160 * row + k - 1, 160 * row + k]));
        let net = Net::new(&positions, &vec![1.0; positions.len()]).unwrap().bars(rows).unwrap();
        let paths = Paths::new(&net, |_| false);
        assert!(paths.groups.iter().all(|group| group.parallel && group.batches.len() == 160_usize.div_ceil(LANES)));
    }

    /// Rows of bars and ropes that give way, and meet in a particle that is held, give the same to the bit, whichever threads sweep them.
    #[test]
    fn what_is_held_is_given_the_same_by_any_number_of_threads() {
        let (rows, links) = (44, 500);
        let place = |row: u32, k: u32| {
            let (angle, far) = (f64::from(row), 0.01 * f64::from(k));
            [far * angle.cos(), far * angle.sin(), 1e-4 * f64::from(k * row).sin()]
        };
        let places: Vec<[f64; 3]> =
            [[0.0; 3]].into_iter().chain((0..rows).flat_map(|row| (1..=links).map(move |k| place(row, k)))).collect();
        let particle = move |row: u32, k: u32| if k == 0 { 0 } else { row * links + k };
        let ends = (0..rows).flat_map(|row| (0..links).map(move |k| [particle(row, k), particle(row, k + 1)]));
        let (bars, ropes): (Vec<_>, Vec<_>) = ends.partition(|ends: &[u32; 2]| !ends[1].is_multiple_of(3));
        let net = Net::new(&places, &vec![1.0; places.len()]).unwrap().bars(bars).unwrap().ropes(ropes).unwrap();
        let net = net.compliance(0.1).unwrap();
        let (paths, links) = (Paths::new(&net, |k| k == 0), Links::new(&net));
        assert!(paths.groups.len() == 1 && paths.groups[0].parallel);
        let w: Vec<f64> = (0..places.len()).map(|k| if k == 0 { 0.0 } else { 1.0 }).collect();
        let allowed = vec![1e-9; links.len()];
        let fixed =
            Fixed { w: &w, links: &links, allowed: &allowed, softening: 1.0, largest: f64::INFINITY, leave: 0.0 };
        let taken_by = |threads: usize| {
            let (mut y, mut pulls) = (net.positions.clone(), vec![0.0; links.len()]);
            y.iter_mut().enumerate().for_each(|(k, y)| y.z += 1e-3 * (k as f64).sin());
            let mut taken = vec![Vector3::zeros(); y.len()];
            let mut system = System { y: &mut y, taken: &mut taken, pulls: &mut pulls, fixed };
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
                let mut memory = paths.memory();
                for _ in 0..2 {
                    paths.sweep(&mut system, &links.lengths(), &mut memory);
                }
            });
            (taken[0], y, pulls)
        };
        let alone = taken_by(1);
        assert!(alone.0.norm() > 0.0 && [2, 3, 7].into_iter().all(|threads| taken_by(threads) == alone));
    }

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
                let is_link = |(k, _): &(usize, _)| batch.is_link[*k].extract(lane) == 1.0;
                for (k, links) in batch.links.iter().enumerate().filter(is_link) {
                    let [from, to] = [k, k + 1].map(|k| batch.particles[k][lane]);
                    let along = if batch.forward[k].extract(lane) == 1.0 { [from, to] } else { [to, from] };
                    assert_eq!(net.links[links[lane] as usize].particles, along);
                    times[links[lane] as usize] += 1;
                }
            }
            let lanes = (0..LANES).map(|lane| batch.particles.iter().map(move |particles| particles[lane]));
            let mut all: Vec<u32> = vec![];
            for (lane, particles) in lanes.enumerate().filter(|(lane, _)| batch.is_link[0].extract(*lane) == 1.0) {
                let links = batch.is_link.iter().filter(|is_link| is_link.extract(lane) == 1.0).count();
                all.extend(particles.take(links + 1).filter(|&k| !is_held(k)));
            }
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count);
        }
        assert!(times.iter().all(|times| *times == 1));
    }
}
