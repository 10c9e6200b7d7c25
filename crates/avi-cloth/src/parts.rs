//! Cloth cut into parts, a thread each.
//!
//! A part has vertices and the elements that touch no others; what is left, across borders, is of no part. Elements and vertices are
//! numbered anew here, part by part, so that lists can be split among threads; what is of no part comes last among elements. How parts
//! advance at the same time, in the same order as if they did not, is in `windows.rs`.

use nalgebra::Vector3;
use partita_mesh::Mesh;

use crate::{
    elements::Elements,
    flight::Way,
    state::{Clock, Node, State, Strains},
    windows::{Bar, Part},
};

type V3 = Vector3<f64>;

/// So many elements a part has at least, if all have the same: below, more is lost by waiting for each other than won. With two parts of
/// 1,500 elements cloth took 1.3 times the time of one, of 2,500 1.1 times, of 3,500 and more 0.7 times (`avi-threads`' sheet).
pub(crate) const ELEMENTS_OF_A_PART: usize = 3000;

/// Largest share of events across borders with which cloth is cut, so that some of it may be in contact.
const MOST_ACROSS: f64 = 0.06;

/// Cloth in parts, with copies of its state for an interval.
pub(crate) struct Parts {
    pub elements: Elements,
    /// Of each part, and of what is of none, where its vertices, patches and folds begin; folds are counted after patches.
    pub begins: Vec<[usize; 3]>,
    /// The cloth's number of each vertex here.
    vertices: Vec<u32>,
    /// Of each of the cloth's vertices, its number here.
    pub places: Vec<u32>,
    /// The cloth's number of each element here.
    pub names: Vec<u32>,
    /// The part of each element here; beyond the last, none.
    pub homes: Vec<u32>,
    pub nodes: Vec<Node>,
    pub clocks: Vec<Clock>,
    pub strains: Vec<Strains>,
    pub accelerations: Vec<V3>,
    pub taut: Vec<u32>,
    pub bars: Vec<Bar>,
    /// Windows so far; which one a [`Bar`] is of.
    pub windows: u64,
    /// And one for what is of none.
    pub parts: Vec<Part>,
}

impl Parts {
    /// Cut into at most so many parts, and as many as are worth while; none if that is one.
    pub fn suitable(elements: &Elements, mesh: &Mesh, threads: usize) -> Option<Self> {
        let most = threads.min(elements.spans.len() / ELEMENTS_OF_A_PART);
        (2..=most).rev().find_map(|count| Self::new(elements, mesh, count))
    }

    /// None if too much is across borders.
    fn new(elements: &Elements, mesh: &Mesh, count: usize) -> Option<Self> {
        let x = mesh.vertices();
        let mut work = vec![0.0; x.len()];
        for (number, span) in elements.spans.iter().enumerate() {
            elements.touched(number).iter().for_each(|&v| work[v as usize] += span.recip());
        }
        let mut vertices: Vec<u32> = (0..x.len() as u32).collect();
        let mut firsts = vec![];
        cut(&mut vertices, 0, count, &work, x, &mut firsts);
        let mut part_of = vec![0; x.len()];
        for (k, &first) in firsts.iter().enumerate() {
            let end = firsts.get(k + 1).copied().unwrap_or(x.len());
            vertices[first..end].sort_unstable();
            vertices[first..end].iter().for_each(|&v| part_of[v as usize] = k as u32);
        }
        let mut places = vec![0; x.len()];
        (0..).zip(&vertices).for_each(|(place, &v)| places[v as usize] = place);

        let home = |&element: &u32| {
            let of = elements.touched(element as usize).map(|v| part_of[v as usize]);
            if of.iter().all(|part| *part == of[0]) { of[0] } else { count as u32 }
        };
        let (patches, all) = (elements.patches.len() as u32, elements.spans.len() as u32);
        let rate = |element: u32| elements.spans[element as usize].recip();
        let across: f64 = (0..all).filter(|element| home(element) == count as u32).map(rate).sum();
        if across >= MOST_ACROSS * (0..all).map(rate).sum::<f64>() {
            return None;
        }
        let mut names: Vec<u32> = (0..all).collect();
        names[..patches as usize].sort_by_key(home);
        names[patches as usize..].sort_by_key(home);
        let homes: Vec<u32> = names.iter().map(home).collect();
        let begin = |k: usize| {
            let before = |homes: &[u32]| homes.partition_point(|home| *home < k as u32);
            let (of_patches, of_folds) = homes.split_at(patches as usize);
            let vertex = firsts.get(k).copied().unwrap_or(x.len());
            [vertex, before(of_patches), patches as usize + before(of_folds)]
        };
        Some(Self {
            begins: (0..=count).map(begin).collect(),
            elements: elements.renumbered(&places, &vertices, &names),
            vertices,
            places,
            names,
            homes,
            nodes: vec![],
            clocks: vec![],
            strains: vec![],
            accelerations: vec![],
            taut: vec![],
            bars: vec![],
            windows: 0,
            parts: (0..=count).map(|_| Part::default()).collect(),
        })
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.parts.len() - 1
    }

    /// Copies what an interval begins with, and numbers ways as here.
    pub fn bring_in(&mut self, state: &State, accelerations: &[V3], ways: &mut [Way]) {
        refill(&mut self.nodes, &self.vertices, &state.nodes);
        refill(&mut self.clocks, &self.names, &state.clocks);
        refill(&mut self.strains, &self.names, &state.strains);
        refill(&mut self.accelerations, &self.vertices, accelerations);
        ways.iter_mut().for_each(|way| way.vertex = self.places[way.vertex] as usize);
        ways.sort_unstable_by_key(|way| way.vertex);
    }

    /// Copies what an interval ends with, and numbers ways as they were.
    pub fn bring_home(&self, state: &mut State, ways: &mut [Way]) {
        self.vertices.iter().zip(&self.nodes).for_each(|(&v, node)| state.nodes[v as usize] = *node);
        self.names.iter().zip(&self.clocks).for_each(|(&k, clock)| state.clocks[k as usize] = *clock);
        self.names.iter().zip(&self.strains).for_each(|(&k, strains)| state.strains[k as usize] = *strains);
        ways.iter_mut().for_each(|way| way.vertex = self.vertices[way.vertex] as usize);
        ways.sort_unstable_by_key(|way| way.vertex);
    }
}

/// A list in another order, or none of an empty one.
fn refill<T: Copy>(list: &mut Vec<T>, order: &[u32], from: &[T]) {
    list.clear();
    if !from.is_empty() {
        list.extend(order.iter().map(|&k| from[k as usize]));
    }
}

/// Sorts vertices into so many parts of about the same work, by cutting across the longest extent: recursive coordinate bisection (M. J.
/// Berger, S. H. Bokhari: A partitioning strategy for nonuniform problems on multiprocessors. IEEE Transactions on Computers C-36, 1987).
/// Where each begins is added to `firsts`.
fn cut(vertices: &mut [u32], first: usize, count: usize, work: &[f64], x: &[V3], firsts: &mut Vec<usize>) {
    if count == 1 {
        firsts.push(first);
        return;
    }
    let places = || vertices.iter().map(|&v| x[v as usize]);
    let extent = places().fold(V3::repeat(f64::NEG_INFINITY), |a, b| a.sup(&b))
        - places().fold(V3::repeat(f64::INFINITY), |a, b| a.inf(&b));
    let axis = extent.imax();
    vertices.sort_unstable_by(|&a, &b| x[a as usize][axis].total_cmp(&x[b as usize][axis]).then(a.cmp(&b)));
    let left = count / 2;
    let share = vertices.iter().map(|&v| work[v as usize]).sum::<f64>() * left as f64 / count as f64;
    let mut sum = 0.0;
    let within = vertices.iter().take_while(|&&v| {
        sum += work[v as usize];
        sum <= share
    });
    let at = within.count();
    let (one, other) = vertices.split_at_mut(at);
    cut(one, first, left, work, x, firsts);
    cut(other, first + at, count - left, work, x, firsts);
}

#[cfg(test)]
mod tests {
    use partita_simulator::{Inputs, Simulator};

    use super::*;
    use crate::{AviCloth, Bending, Fabric};

    /// How many parts a sheet has for so many threads, and so many windows after a step.
    fn parts(triangles: u32, bending: Bending, threads: usize) -> (usize, u64) {
        let mesh = Mesh::unstructured([1.6; 2], triangles, |_| 1.0).unwrap();
        let mut cloth = AviCloth::new("sheet", mesh, Fabric::jersey().undamped()).unwrap();
        cloth = cloth.self_contact(false).bending(bending);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| cloth.step(1.0 / 60.0, Inputs::NONE)).unwrap();
        cloth.work.parts.map_or((1, 0), |parts| (parts.count(), parts.windows))
    }

    #[test]
    fn large_cloth_has_a_part_for_each_of_a_few_threads() {
        assert_eq!(parts(5016, Bending::Triangles, 2), (1, 0));
        for (bending, most) in [(Bending::Triangles, 3), (Bending::Hinges, 7)] {
            assert_eq!(parts(9100, bending, 1), (1, 0));
            for threads in [2, 3] {
                let (count, windows) = parts(9100, bending, threads);
                assert!(count == threads && windows > 10, "{bending:?}, {threads} threads: {count}, {windows}");
            }
            // As many as are worth while, not none.
            let (count, windows) = parts(9100, bending, 16);
            assert!((3..=most).contains(&count) && windows > 10, "{bending:?}: {count}, {windows}");
        }
    }

    #[test]
    fn every_vertex_and_element_has_one_place() {
        let mesh = Mesh::unstructured([1.6; 2], 5016, |_| 1.0).unwrap();
        let cloth = AviCloth::new("sheet", mesh, Fabric::jersey()).unwrap();
        let parts = Parts::new(&cloth.elements, &cloth.mesh, 3).unwrap();
        let none = parts.count();
        for (place, &v) in parts.vertices.iter().enumerate() {
            assert_eq!(parts.places[v as usize] as usize, place);
        }
        let mut names = parts.names.clone();
        names.sort_unstable();
        assert!(names.into_iter().eq(0..cloth.elements.spans.len() as u32));
        let [work, most]: [f64; 2] = {
            let of = |home: u32| -> f64 {
                let spans = parts.homes.iter().zip(&parts.elements.spans);
                spans.filter(|(of, _)| **of == home).map(|(_, span)| span.recip()).sum()
            };
            let all = [0, 1, 2].map(of);
            [all.iter().sum::<f64>() / 3.0, all.into_iter().fold(0.0, f64::max)]
        };
        // But for a row of vertices, of some forty.
        assert!(most < 1.03 * work, "{most} of {work}");
        for (place, &home) in parts.homes.iter().enumerate() {
            let home = home as usize;
            let touched = parts.elements.touched(place).map(|v| v as usize);
            let is_in = |part: usize| {
                let [first, end] = [part, part + 1].map(|k| parts.begins[k][0]);
                touched.iter().all(|v| (first..end).contains(v))
            };
            assert!(if home < none { is_in(home) } else { (0..none).all(|part| !is_in(part)) }, "{place}");
        }
    }
}
