//! Which links share a particle.

use std::ops::Range;

use crate::net::Net;

/// All links, and beside each those that share a particle with it.
#[derive(Default)]
pub(crate) struct Links {
    pub ends: Vec<[u32; 2]>,
    /// Where the entries of a link begin, and of the next.
    first: Vec<u32>,
    beside: Vec<Beside>,
}

/// A link that shares a particle with another one.
#[derive(Clone, Copy)]
pub(crate) struct Beside {
    pub link: u32,
    /// By how much it shortens when the other one is given an impulse along the same direction: the inverse mass of what they share,
    /// less than 0 where one begins and the other ends there `[1/kg]`.
    pub mobility: f64,
}

impl Links {
    pub fn new(net: &Net, is_held: impl Fn(u32) -> bool) -> Self {
        let at = net.links_at();
        let mut links = Self { ends: net.links.iter().map(|link| link.particles).collect(), ..Self::default() };
        for (k, ends) in links.ends.iter().enumerate() {
            links.first.push(links.beside.len() as u32);
            let begin = links.beside.len();
            for &end in ends.iter().filter(|&&end| !is_held(end)) {
                let w = 1.0 / net.masses[end as usize];
                for &other in at[end as usize].iter().filter(|&&other| other as usize != k) {
                    let same = (ends[0] == end) == (links.ends[other as usize][0] == end);
                    links.beside.push(Beside { link: other, mobility: if same { w } else { -w } });
                }
            }
            links.beside[begin..].sort_by_key(|beside| beside.link);
        }
        links.first.push(links.beside.len() as u32);
        links
    }

    /// Where entries of a link are, in order.
    pub fn range(&self, link: usize) -> Range<usize> {
        self.first[link] as usize..self.first[link + 1] as usize
    }

    /// Links beside one, in order.
    pub fn beside(&self, link: usize) -> &[Beside] {
        &self.beside[self.range(link)]
    }
}
