//! In which order links and springs are on a device: group by group, none of which has a particle twice.

use nalgebra::Vector3;
use partita_ibds_cloth::{Link, LinkKind, Net, Path, Spring, Strut, paths};
use partita_mesh::islands;

use crate::{
    groups::groups,
    kernels::WORKGROUP,
    memory::{LinkSlot, SpringSlot},
    parameters::Solver,
};

/// A group: where it begins, how many slots it has, and how many links the longest of its paths.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Range {
    pub first: u32,
    pub count: u32,
    pub longest: u32,
}

/// Of each particle bits of its place at rest `[m]`, and which others it is joined with, as `pairs.wgsl` has it.
pub(crate) struct AtRest(pub Vec<[u32; 4]>);

impl AtRest {
    pub fn new(net: &Net) -> Self {
        let joined = net.links().iter().map(|link| link.particles).chain(net.all_springs().iter().map(|s| s.particles));
        let pieces = islands(net.positions().len(), joined);
        let bits = |(x, piece): (&Vector3<f64>, u32)| {
            let [x, y, z] = <[f64; 3]>::from(*x).map(|x| (x as f32).to_bits());
            [x, y, z, piece]
        };
        Self(net.positions().iter().zip(pieces).map(bits).collect())
    }
}

/// Links in the slots that threads take, and springs.
pub(crate) struct Order {
    pub links: Vec<LinkSlot>,
    pub link_groups: Vec<Range>,
    pub springs: Vec<SpringSlot>,
    pub spring_groups: Vec<Range>,
}

/// A row of links that a workgroup takes, or a part of one: its particles and links.
struct Piece<'a> {
    particles: &'a [u32],
    slots: Vec<LinkSlot>,
}

impl AsRef<[u32]> for Piece<'_> {
    fn as_ref(&self) -> &[u32] {
        self.particles
    }
}

impl Order {
    /// Of a net in which some particles are held, for a solver.
    pub fn new(net: &Net, solver: Solver, is_held: impl Fn(u32) -> bool) -> Self {
        let (links, link_groups) = match solver {
            Solver::Links => {
                let links = net.links().iter().map(|link| (link.particles, of_link(link, true, true)));
                let struts = net.all_struts().iter().map(|strut| (strut.particles, of_strut(strut)));
                let all: Vec<([u32; 2], LinkSlot)> = links.chain(struts).collect();
                in_groups(&all, |(particles, _)| *particles, |(_, slot)| *slot)
            }
            Solver::Paths => in_blocks(net, is_held),
        };
        let (springs, spring_groups) = in_groups(net.all_springs(), |spring| spring.particles, of_spring);
        Self { links, link_groups, springs, spring_groups }
    }
}

fn of_link(link: &Link, forward: bool, begins: bool) -> LinkSlot {
    let [i, j] = link.particles;
    let particles = if forward { [i, j] } else { [j, i] };
    let (rest, compliance) = (link.rest_length as f32, link.compliance as f32);
    let bits = if link.kind == LinkKind::Rope { LinkSlot::ROPE } else { 0 };
    LinkSlot::new(particles, if begins { bits | LinkSlot::BEGINS } else { bits }, rest, compliance)
}

/// A path of its own.
fn of_strut(strut: &Strut) -> LinkSlot {
    LinkSlot::new(strut.particles, LinkSlot::STRUT | LinkSlot::BEGINS, strut.distance as f32, 0.0)
}

fn of_spring(spring: &Spring) -> SpringSlot {
    let [rest, stiffness, damping] = [spring.rest_length, spring.stiffness, spring.damping].map(|x| x as f32);
    SpringSlot { particles: spring.particles, rest, stiffness, damping }
}

/// What joins pairs of particles, group by group, and where groups are.
fn in_groups<T, S>(all: &[T], pair: impl Fn(&T) -> [u32; 2], slot: impl Fn(&T) -> S) -> (Vec<S>, Vec<Range>) {
    let groups = groups(&all.iter().map(pair).collect::<Vec<_>>());
    let mut first = 0;
    let ranges = groups.iter().map(|group| {
        let range = Range { first, count: group.len() as u32, longest: 1 };
        first += range.count;
        range
    });
    (groups.iter().flatten().map(|&k| slot(&all[k as usize])).collect(), ranges.collect())
}

/// Paths, or parts of them, as whole ones as a workgroup takes. What comes last in a sweep is left most exact: paths at what is held.
fn in_blocks(net: &Net, is_held: impl Fn(u32) -> bool) -> (Vec<LinkSlot>, Vec<Range>) {
    let mut paths = paths(net);
    paths.sort_by_key(|path| path.particles.iter().any(|&k| is_held(k)));
    let struts = net.all_struts().iter();
    let struts = struts.map(|strut| Piece { particles: &strut.particles, slots: vec![of_strut(strut)] });
    let pieces: Vec<Piece<'_>> = paths.iter().flat_map(|path| in_pieces(net, path)).chain(struts).collect();
    let (mut slots, mut ranges) = (vec![], vec![]);
    for group in groups(&pieces) {
        let first = slots.len();
        let pieces = || group.iter().map(|&k| &pieces[k as usize]);
        for Piece { slots: own, .. } in pieces() {
            let room = (slots.len() - first).next_multiple_of(WORKGROUP as usize) - (slots.len() - first);
            if room < own.len() && room > 0 {
                slots.resize(slots.len() + room, LinkSlot::NONE);
            }
            slots.extend(own);
        }
        slots.resize(first + (slots.len() - first).next_multiple_of(WORKGROUP as usize), LinkSlot::NONE);
        let longest = pieces().map(|piece| piece.slots.len()).max().unwrap_or(0);
        let range = [first, slots.len() - first, longest].map(|x| x as u32);
        ranges.push(Range { first: range[0], count: range[1], longest: range[2] });
    }
    (slots, ranges)
}

/// No longer than a workgroup has threads.
fn in_pieces<'a>(net: &'a Net, path: &'a Path) -> impl Iterator<Item = Piece<'a>> {
    let most = WORKGROUP as usize;
    path.links.chunks(most).enumerate().map(move |(number, links)| {
        let first = number * most;
        let slot =
            |(k, (link, forward)): (usize, &(u32, bool))| of_link(&net.links()[*link as usize], *forward, k == 0);
        let slots = links.iter().enumerate().map(slot).collect();
        Piece { particles: &path.particles[first..=first + links.len()], slots }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of a few to 700 links: each link is in one slot, beside those of its path in the same workgroup; no particle is twice in a group
    /// but where a path goes on.
    #[test]
    fn paths_are_whole_in_a_workgroup() {
        let lengths = [3_u32, 700, 255, 256, 1, 257, 90, 100, 80];
        let (mut places, mut bars) = (vec![], vec![]);
        for (row, links) in lengths.into_iter().enumerate() {
            let first = places.len() as u32;
            places.extend((0..=links).map(|k| [f64::from(k), row as f64, 0.0]));
            bars.extend((first..first + links).map(|k| if k % 3 == 0 { [k + 1, k] } else { [k, k + 1] }));
        }
        let net = Net::new(&places, &vec![1.0; places.len()]).unwrap().bars(bars.iter().copied()).unwrap();
        let order = Order::new(&net, Solver::Paths, |_| false);
        let mut found: Vec<[u32; 2]> = vec![];
        for Range { first, count, longest } in order.link_groups {
            assert!(count % WORKGROUP == 0 && longest <= WORKGROUP);
            let mut met = vec![false; places.len()];
            for block in order.links[first as usize..][..count as usize].chunks(WORKGROUP as usize) {
                let mut end = None;
                for slot in block {
                    let Some([i, j]) = slot.particles() else { continue };
                    found.push([i.min(j), i.max(j)]);
                    assert!(slot.begins() || end == Some(i), "{i} after {end:?}");
                    for k in [i, j].into_iter().filter(|k| slot.begins() || Some(*k) != end) {
                        assert!(!std::mem::replace(&mut met[k as usize], true), "particle {k}");
                    }
                    end = Some(j);
                }
            }
        }
        found.sort_unstable();
        let mut expected: Vec<[u32; 2]> = bars.into_iter().map(|[i, j]| [i.min(j), i.max(j)]).collect();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}
