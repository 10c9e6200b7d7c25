//! Which links share a particle.

use std::ops::Range;

use crate::net::Net;

/// All links, and beside each those that share a particle with it, once somebody asks for these: a particle of m links has m² of them.
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
    /// What they share, and -1 where one begins and the other ends there, else 1.
    pub particle: u32,
    pub sign: f64,
}

impl Links {
    pub fn new(net: &Net) -> Self {
        Self { ends: net.links.iter().map(|link| link.particles).collect(), ..Self::default() }
    }

    /// Finds what is beside each link, if that is not known.
    pub fn find_beside(&mut self) {
        if !self.first.is_empty() {
            return;
        }
        let particles = self.ends.iter().flatten().max().map_or(0, |most| *most as usize + 1);
        let mut at = vec![vec![]; particles];
        for (link, ends) in self.ends.iter().enumerate() {
            ends.iter().for_each(|&k| at[k as usize].push(link as u32));
        }
        for (k, ends) in self.ends.iter().enumerate() {
            self.first.push(self.beside.len() as u32);
            let begin = self.beside.len();
            for &particle in ends {
                for &link in at[particle as usize].iter().filter(|&&link| link as usize != k) {
                    let same = (ends[0] == particle) == (self.ends[link as usize][0] == particle);
                    self.beside.push(Beside { link, particle, sign: if same { 1.0 } else { -1.0 } });
                }
            }
            self.beside[begin..].sort_by_key(|beside| beside.link);
        }
        self.first.push(self.beside.len() as u32);
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
