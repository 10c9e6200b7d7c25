//! What is solved in a loop: the links of a net, struts that may close, and what shares a particle with what.

use std::ops::Range;

use nalgebra::Vector3;

use crate::{
    Solver,
    link_error::Lengths,
    net::{LinkKind, Net},
};

type V3 = Vector3<f64>;

/// Instead of the bit of a link at a particle that has more links than bits: it is always visited.
pub(crate) const ALWAYS: u64 = u64::MAX;

/// All links of a net, and after them those of its struts that may close in a step.
#[derive(Default)]
pub(crate) struct Links {
    pub ends: Vec<[u32; 2]>,
    /// Lengths `[m]`; by what errors are measured, which for those of no length is the mean of all, or a metre if none has one `[m]`.
    pub rest: Vec<f64>,
    pub scale: Vec<f64>,
    /// Whether each is a rope, and how it gives way `[m/N]`.
    rope: Vec<bool>,
    pub compliance: Vec<f64>,
    gives_way: bool,
    /// How many are not struts.
    of_net: usize,
    /// Which struts of the net the others are.
    closing: Vec<u32>,
    /// What solvers ask for, empty until one does: the bit of a link at either end, ...
    bits: Vec<[u64; 2]>,
    /// ... and beside each link those that share a particle with it, with where its entries begin, and of the next. A particle
    /// of m links has m² of them.
    first: Vec<u32>,
    beside: Vec<Beside>,
    at: AtParticles,
}

/// A link that shares a particle with another one.
#[derive(Clone, Copy)]
pub(crate) struct Beside {
    pub link: u32,
    /// What they share, and -1 where one begins and the other ends there, else 1.
    pub particle: u32,
    pub sign: f64,
}

/// Links by particle.
#[derive(Default)]
pub(crate) struct AtParticles {
    /// Where the links at a particle begin, and at the next.
    first: Vec<u32>,
    links: Vec<u32>,
}

impl AtParticles {
    /// Takes over which particles links end at.
    pub fn fill(&mut self, ends: &[[u32; 2]]) {
        let Self { first, links } = self;
        let particles = ends.iter().flatten().max().map_or(0, |most| *most as usize + 1);
        first.clear();
        first.resize(particles + 1, 0);
        ends.iter().flatten().for_each(|&k| first[k as usize] += 1);
        // Ends of the ranges, which become begins while they are filled from behind.
        let mut sum = 0;
        for count in first.iter_mut() {
            sum += *count;
            *count = sum;
        }
        links.clear();
        links.resize(2 * ends.len(), 0);
        for (link, of) in ends.iter().enumerate().rev() {
            for &k in of {
                first[k as usize] -= 1;
                links[first[k as usize] as usize] = link as u32;
            }
        }
    }

    /// Links at a particle that has some, in order.
    pub fn of(&self, particle: u32) -> &[u32] {
        &self.links[self.first[particle as usize] as usize..self.first[particle as usize + 1] as usize]
    }

    /// Links that share a particle with one, of those that end at these particles; for each particle that they share.
    pub fn beside<'a>(&'a self, ends: &'a [[u32; 2]], link: usize) -> impl Iterator<Item = Beside> + 'a {
        let own = &ends[link];
        own.iter().flat_map(move |&particle| {
            let others = self.of(particle).iter().filter(move |&&other| other as usize != link);
            others.map(move |&other| {
                let same = (own[0] == particle) == (ends[other as usize][0] == particle);
                Beside { link: other, particle, sign: if same { 1.0 } else { -1.0 } }
            })
        })
    }
}

impl Links {
    pub fn new(net: &Net) -> Self {
        let links = &net.links;
        let mean = net.mean_rest();
        Self {
            ends: links.iter().map(|link| link.particles).collect(),
            rest: links.iter().map(|link| link.rest_length).collect(),
            scale: links.iter().map(|link| if link.rest_length > 0.0 { link.rest_length } else { mean }).collect(),
            rope: links.iter().map(|link| link.kind == LinkKind::Rope).collect(),
            compliance: links.iter().map(|link| link.compliance).collect(),
            gives_way: links.iter().any(|link| link.compliance > 0.0),
            of_net: links.len(),
            ..Self::default()
        }
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Asks links of the net for rest lengths with such a part of the error that they have at these positions; 0 for none of it.
    pub fn keep_errors(&mut self, net: &Net, positions: &[V3], part: f64) {
        for (rest, link) in self.rest.iter_mut().zip(&net.links) {
            let [i, j] = link.particles.map(|k| positions[k as usize]);
            let error = (j - i).norm() - link.rest_length;
            let is_slack = link.kind == LinkKind::Rope && error < 0.0;
            *rest = link.rest_length + if is_slack || part == 0.0 { 0.0 } else { part * error };
        }
    }

    /// How far lengths are from where they should be.
    pub fn lengths(&self) -> Lengths<'_> {
        Lengths { rest: &self.rest, scale: &self.scale }
    }

    /// What makes of a compliance how far a link gives way to an impulse times a step: 1/h², or 0 if none does `[1/s²]`.
    pub fn softening(&self, h: f64) -> f64 {
        if self.gives_way { 1.0 / (h * h) } else { 0.0 }
    }

    /// Particles of links that are not struts.
    pub fn of_net(&self) -> &[[u32; 2]] {
        &self.ends[..self.of_net]
    }

    pub fn is_strut(&self, link: usize) -> bool {
        link >= self.of_net
    }

    pub fn struts(&self) -> Range<usize> {
        self.of_net..self.len()
    }

    pub fn is_rope(&self, link: usize) -> bool {
        self.rope[link]
    }

    /// Whether a link does nothing at such an error.
    pub fn is_slack(&self, link: usize, error: f64) -> bool {
        self.rope[link] & (error <= 0.0) | self.is_strut(link) & (error >= 0.0)
    }

    /// Chooses the struts that may close while particles go as they would without links.
    pub fn choose_struts(&mut self, net: &Net, begin: &[V3], places: &[V3]) {
        let may_close = net.struts.iter().zip(0..).filter(|(strut, _)| {
            let apart = |x: &[V3]| x[strut.particles[1] as usize] - x[strut.particles[0] as usize];
            let (from, to) = (apart(begin), apart(places));
            from.norm() < strut.distance + (to - from).norm()
        });
        let mut others = self.closing.iter();
        if !may_close.clone().all(|(_, k)| others.next() == Some(&k)) || others.next().is_some() {
            self.closing.clear();
            self.closing.extend(may_close.map(|(_, k)| k));
            self.append_struts(net, 0);
        }
    }

    /// Adds struts that have closed by more than they may all the same. How many were added.
    pub fn add_closed(&mut self, net: &Net, places: &[V3], tolerance: f64) -> usize {
        let known = self.closing.len();
        let is_closed = |k: u32| {
            let strut = &net.struts[k as usize];
            let [i, j] = strut.particles.map(|k| places[k as usize]);
            (j - i).norm() < (1.0 - tolerance) * strut.distance
        };
        let struts = 0..net.struts.len() as u32;
        for k in struts.filter(|k| is_closed(*k)) {
            if !self.closing[..known].contains(&k) {
                self.closing.push(k);
            }
        }
        let added = self.closing.len() - known;
        if added > 0 {
            self.append_struts(net, known);
        }
        added
    }

    /// Struts become links, from a number on.
    fn append_struts(&mut self, net: &Net, from: usize) {
        let known = self.of_net + from;
        self.ends.truncate(known);
        self.rest.truncate(known);
        self.scale.truncate(known);
        self.rope.truncate(known);
        self.compliance.truncate(known);
        for &k in &self.closing[from..] {
            let strut = &net.struts[k as usize];
            self.ends.push(strut.particles);
            self.rest.push(strut.distance);
            self.scale.push(strut.distance);
            self.rope.push(false);
            self.compliance.push(0.0);
        }
        self.bits.clear();
        self.first.clear();
    }

    /// Finds what a solver asks for, where that is not known.
    pub fn prepare(&mut self, solver: Solver) {
        let Solver::GaussSeidel(with) = solver else { return };
        if with.anticipation && self.first.is_empty() {
            self.find_beside();
        }
        if !with.anticipation && with.skipping && self.bits.is_empty() {
            self.find_bits();
        }
    }

    fn find_beside(&mut self) {
        let Self { ends, first, beside, at, .. } = self;
        at.fill(ends);
        beside.clear();
        for k in 0..ends.len() {
            first.push(beside.len() as u32);
            let begin = beside.len();
            beside.extend(at.beside(ends, k));
            beside[begin..].sort_unstable_by_key(|beside| (beside.link, beside.particle));
        }
        first.push(beside.len() as u32);
    }

    fn find_bits(&mut self) {
        self.at.fill(&self.ends);
        let mut seen = vec![0_u32; self.at.first.len()];
        let mut bit = |k: u32| {
            seen[k as usize] += 1;
            if self.at.of(k).len() > 64 { ALWAYS } else { 1 << (seen[k as usize] - 1) }
        };
        self.bits.extend(self.ends.iter().map(|ends| ends.map(&mut bit)));
    }

    /// Of \[BDB09\] section 4.3: the bits of a link at its particles.
    pub fn bits(&self, link: usize) -> [u64; 2] {
        self.bits[link]
    }

    /// Where entries of a link are, in order.
    pub fn range(&self, link: usize) -> Range<usize> {
        self.first[link] as usize..self.first[link + 1] as usize
    }

    /// Entries of all links.
    pub fn all_beside(&self) -> usize {
        self.beside.len()
    }

    /// Links beside one, in order.
    pub fn beside(&self, link: usize) -> &[Beside] {
        &self.beside[self.range(link)]
    }
}
