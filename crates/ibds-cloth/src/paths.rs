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
//! matter to each other are a group, a colour of the graph, and large groups are solved on all threads: what each gives is
//! added up in one order, so that results are the same for any number of them.

use std::collections::VecDeque;

use rayon::prelude::*;

use crate::{
    batch::{Batch, Found, Gives, Row},
    lanes::LANES,
    link_error::LinkError,
    links::AtParticles,
    net::{LinkKind, Net},
    solvers::{Swept, System},
};

/// A path goes on only where it turns by less than this cosine says [-].
const STRAIGHT: f64 = 0.8;

/// Links of a group from which on other threads cost nothing: what they find, a good half of the work, has to be kept until it is added up,
/// which is out of the cache then. Two cores take 1.3 times the time of one for groups of 40,000 links, and as long as one for 90,000 and
/// for 160,000.
const PARALLEL: usize = 90_000;

/// A path that is none.
const NONE: u32 = u32::MAX;

/// A row of links: particles, one more than links, and links with whether they run along it.
pub(crate) struct Path {
    pub particles: Vec<u32>,
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
            let mut batches: VecDeque<Batch> = paths.chunks(LANES).map(|paths| Batch::new(net, paths)).collect();
            // Long and short ones by turns, so that parts of as many take threads as long.
            let by_turns =
                (0..batches.len()).filter_map(|k| if k % 2 == 0 { batches.pop_back() } else { batches.pop_front() });
            Group { batches: by_turns.collect(), parallel }
        };
        Self { groups: groups.into_iter().map(of_paths).collect() }
    }

    /// Memory to sweep with.
    pub fn memory(&self) -> Memory {
        let longest = self.groups.iter().flat_map(|group| &group.batches).map(|batch| batch.links.len()).max();
        let at_once = self.groups.iter().filter(|group| group.parallel).map(|group| group.batches.len()).max();
        let rows = vec![Row::new(); longest.unwrap_or(0) + 1];
        let known = Known { found: Found::default(), gives: vec![] };
        let threads = if at_once.is_some() { rayon::current_num_threads() } else { 1 };
        Memory { rows: vec![rows; threads], known: vec![known; at_once.unwrap_or(0)] }
    }

    /// All of them once, but for those of which no link is off by more than is left alone.
    pub fn sweep(&self, system: &mut System<'_>, error: &impl LinkError, memory: &mut Memory) -> Swept {
        let mut swept = Swept::default();
        for Group { batches, parallel } in &self.groups {
            let Memory { rows, known } = memory;
            if *parallel && rayon::current_num_threads() > 1 {
                let (before, part) = (&*system, batches.len().div_ceil(rows.len()));
                let parts = batches.par_chunks(part).zip(known.par_chunks_mut(part)).zip(rows);
                parts.for_each(|((batches, known), rows)| {
                    for (batch, Known { found, gives }) in batches.iter().zip(known) {
                        *found = batch.find(before, error, rows);
                        gives.clear();
                        if found.shares.is_some() {
                            gives.extend(rows[..batch.particles.len()].iter().map(|row| row.gives.clone()));
                        }
                    }
                });
                for (batch, Known { found, gives }) in batches.iter().zip(&*known) {
                    batch.apply(system, gives.iter(), found, &mut swept);
                }
            } else {
                for batch in batches {
                    let found = batch.find(system, error, &mut rows[0]);
                    batch.apply(system, rows[0].iter().map(|row| &row.gives), &found, &mut swept);
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

/// What sweeps work in: rows for each thread, and what is known of each batch that is solved at once.
#[derive(Default)]
pub(crate) struct Memory {
    rows: Vec<Vec<Row>>,
    known: Vec<Known>,
}

/// What was found of a batch, and by place along the paths.
#[derive(Clone)]
struct Known {
    found: Found,
    gives: Vec<Gives>,
}

#[cfg(test)]
mod tests {
    use nalgebra::SimdValue;

    use super::*;

    /// Threads have work from where the tests of `physics.rs` try them: on groups of 309 x 310 links.
    #[test]
    fn large_groups_are_for_all_threads() {
        let number = |k: u32| f64::from(k);
        let positions: Vec<[f64; 3]> = (0..310 * 310).map(|k| [number(k % 310), number(k / 310), 0.0]).collect();
        let rows = (0..310_u32).flat_map(|row| (1..310).map(move |k| [310 * row + k - 1, 310 * row + k]));
        let net = Net::new(&positions, &vec![1.0; positions.len()]).unwrap().bars(rows).unwrap();
        let paths = Paths::new(&net, |_| false);
        assert!(paths.groups.iter().all(|group| group.parallel && group.batches.len() == 310_usize.div_ceil(LANES)));
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
