//! Broad phase: which features may come near each other, from boxes around where they can be.
//!
//! parry's tree is a cache: pairs come out in order of their leaves, whatever the tree's shape and past.

use nalgebra::Vector3;
use parry3d_f64::{
    bounding_volume::Aabb,
    math::Vector,
    partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace},
};
use serde::{Deserialize, Serialize};

use crate::{
    ContactError,
    distance::Kind,
    features::{Leaf, Shape},
};

type V3 = Vector3<f64>;

/// Moving leaves spoil a tree; a new one is built after so many refits.
const REFITS: u32 = 120;

/// Lowest and highest corner of a box along the axes `[m]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bounds {
    pub low: V3,
    pub high: V3,
}

impl Bounds {
    /// Contains nothing, and changes nothing that it is joined with.
    pub const EMPTY: Self = Self {
        low: V3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY),
        high: V3::new(-f64::INFINITY, -f64::INFINITY, -f64::INFINITY),
    };

    /// Around the way from `x` to `x + u`, `margin` farther out.
    pub fn swept(x: &V3, u: &V3, margin: f64) -> Self {
        let end = x + u;
        Self { low: x.inf(&end).add_scalar(-margin), high: x.sup(&end).add_scalar(margin) }
    }

    pub fn join(&self, other: &Self) -> Self {
        Self { low: self.low.inf(&other.low), high: self.high.sup(&other.high) }
    }

    pub fn meets(&self, other: &Self) -> bool {
        // Without branches: most pairs of a search meet.
        (0..3).fold(true, |meets, k| meets & (self.low[k] <= other.high[k]) & (other.low[k] <= self.high[k]))
    }

    pub fn contains(&self, p: &V3) -> bool {
        (0..3).all(|k| self.low[k] <= p[k] && p[k] <= self.high[k])
    }

    /// Least coordinate along a direction.
    pub fn low_along(&self, n: &V3) -> f64 {
        (0..3).map(|k| n[k] * if n[k] > 0.0 { self.low[k] } else { self.high[k] }).sum()
    }

    pub fn of(boxes: &[Bounds], vertices: &[u32]) -> Self {
        vertices[1..].iter().fold(boxes[vertices[0] as usize], |all, &v| all.join(&boxes[v as usize]))
    }

    pub fn aabb(&self) -> Aabb {
        let corner = |v: &V3| Vector::new(v.x, v.y, v.z);
        Aabb::new(corner(&self.low), corner(&self.high))
    }
}

/// A leaf, the number that its vertices start from, and its box.
type Met<'a> = (&'a Leaf, u32, &'a Bounds);

/// A tree over leaves, each with the number that its vertices start from.
#[derive(Default)]
pub(crate) struct Tree {
    leaves: Vec<(Leaf, u32)>,
    bounds: Vec<Bounds>,
    tree: Bvh,
    refits: u32,
}

impl Tree {
    /// Takes other leaves; the next [`Tree::fit`] builds anew.
    pub fn hold(&mut self, leaves: impl Iterator<Item = (Leaf, u32)>) {
        self.leaves.clear();
        self.leaves.extend(leaves);
        self.refits = REFITS;
    }

    /// To boxes of the vertices.
    pub fn fit(&mut self, boxes: &[Bounds]) {
        self.bounds.clear();
        let of = |&(leaf, first): &(Leaf, u32)| Bounds::of(boxes, &leaf.vertices.map(|v| v + first));
        self.bounds.extend(self.leaves.iter().map(of));
        if self.refits >= REFITS {
            let bounds = self.bounds.iter().map(Bounds::aabb).enumerate();
            self.tree = Bvh::from_iter(BvhBuildStrategy::Binned, bounds);
            self.refits = 0;
            return;
        }
        for (number, bounds) in (0..).zip(&self.bounds) {
            self.tree.insert_or_update_partially(bounds.aabb(), number, 0.0);
        }
        self.tree.refit_without_opt();
        self.refits += 1;
    }

    fn leaf(&self, number: u64) -> Met<'_> {
        let (leaf, first) = &self.leaves[number as usize];
        (leaf, *first, &self.bounds[number as usize])
    }
}

/// Two features that may meet: which, and their vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Pair {
    /// Point and triangle, or two edges.
    pub kind: Kind,
    /// Of the first feature, then of the second, as in [`Kind`].
    pub vertices: [u32; 4],
}

impl Pair {
    /// With such weights of the vertices, those that belong to the surface, which has so many, and have a part in it.
    pub fn parts(&self, weights: [f64; 4], vertices: usize) -> impl Iterator<Item = (usize, f64)> {
        let all = self.vertices.map(|v| v as usize).into_iter().zip(weights);
        all.filter(move |(v, c)| *v < vertices && *c != 0.0)
    }

    /// The vertices that have a part in its nearest points: of either feature in order, the lower feature first.
    pub(crate) fn places(&self, weights: &[f64; 4]) -> [[u32; 3]; 2] {
        let split = self.kind.split();
        let mut places = [[u32::MAX; 3]; 2];
        for (k, &v) in self.vertices.iter().enumerate().filter(|(k, _)| weights[*k] != 0.0) {
            let (feature, k) = if k < split { (0, k) } else { (1, k - split) };
            places[feature][k] = v;
        }
        places.iter_mut().for_each(|vertices| vertices.sort_unstable());
        places.sort_unstable();
        places
    }

    /// The same pair whichever feature, and which vertex of it, is told of first.
    pub(crate) fn in_order(mut self) -> Self {
        let (one, other) = self.vertices.split_at_mut(self.kind.split());
        one.sort_unstable();
        other.sort_unstable();
        if self.kind == Kind::EdgeEdge && one > other {
            one.swap_with_slice(other);
        }
        self
    }
}

/// Memory of a search, kept from one to the next.
#[derive(Default)]
pub(crate) struct Search {
    workspace: BvhWorkspace,
    /// Two leaves' numbers in one, which sort faster.
    met: Vec<u64>,
}

impl Search {
    /// Pairs of features within one tree whose boxes meet.
    ///
    /// # Errors
    /// More than `most`, with those that are in `out` already.
    pub fn within(
        &mut self,
        tree: &Tree,
        boxes: &[Bounds],
        most: usize,
        out: &mut Vec<Pair>,
    ) -> Result<(), ContactError> {
        self.meet_within(tree, most);
        self.tell(tree, tree, boxes, most, out)
    }

    /// Pairs of features, one of each tree, whose boxes meet.
    ///
    /// # Errors
    /// As [`Search::within`].
    pub fn between(
        &mut self,
        one: &Tree,
        other: &Tree,
        boxes: &[Bounds],
        most: usize,
        out: &mut Vec<Pair>,
    ) -> Result<(), ContactError> {
        self.meet_between(one, other, most);
        self.tell(one, other, boxes, most, out)
    }

    /// Of the leaves that met, in their order.
    fn tell(
        &self,
        one: &Tree,
        other: &Tree,
        boxes: &[Bounds],
        most: usize,
        out: &mut Vec<Pair>,
    ) -> Result<(), ContactError> {
        for both in self.meetings(one, other) {
            pairs(both, boxes, out);
            if out.len() > most {
                return Err(ContactError::TooManyPairs { most });
            }
        }
        if self.met.len() > most { Err(ContactError::TooManyPairs { most }) } else { Ok(()) }
    }

    /// Edges and triangles without a vertex in common that `cross`, within the cloth's tree and between it and the others'.
    pub fn crossings(
        &mut self,
        cloth: &Tree,
        others: &Tree,
        cross: impl Fn([u32; 2], [u32; 3]) -> bool,
        out: &mut Vec<[u32; 5]>,
    ) {
        let mut tell = |(edges, first, _): Met<'_>, (triangle, other, _): Met<'_>| {
            let corners = triangle.vertices.map(|v| v + other);
            let ends = edges.edges().map(|ends| ends.map(|v| v + first));
            let apart =
                ends.filter(|ends| triangle.shape == Shape::Triangle && !ends.iter().any(|v| corners.contains(v)));
            let [a, b, c] = corners;
            out.extend(apart.filter(|&ends| cross(ends, corners)).map(|[p, q]| [p, q, a, b, c]));
        };
        let mut both = |[a, b]: [Met<'_>; 2]| {
            tell(a, b);
            tell(b, a);
        };
        self.meet_within(cloth, usize::MAX);
        self.meetings(cloth, cloth).for_each(&mut both);
        self.meet_between(cloth, others, usize::MAX);
        self.meetings(cloth, others).for_each(&mut both);
    }

    /// Finds leaves that meet, up to one more than `most`.
    fn meet_within(&mut self, tree: &Tree, most: usize) {
        self.met.clear();
        let met = &mut self.met;
        let mut meet = |a: u32, b: u32| {
            if met.len() <= most {
                met.push(u64::from(a.min(b)) << 32 | u64::from(a.max(b)));
            }
        };
        tree.tree.traverse_bvtt_single_tree::<false>(&mut self.workspace, &mut meet);
        self.met.sort_unstable();
    }

    fn meet_between(&mut self, one: &Tree, other: &Tree, most: usize) {
        self.met.clear();
        if !one.leaves.is_empty() && !other.leaves.is_empty() {
            let meeting = one.tree.leaf_pairs(&other.tree, |a, b| a.intersects(b));
            self.met.extend(meeting.take(most.saturating_add(1)).map(|(a, b)| u64::from(a) << 32 | u64::from(b)));
            self.met.sort_unstable();
        }
    }

    /// The leaves that met, in their order.
    fn meetings<'a>(&self, one: &'a Tree, other: &'a Tree) -> impl Iterator<Item = [Met<'a>; 2]> {
        self.met.iter().map(|both| [one.leaf(both >> 32), other.leaf(both & u64::from(u32::MAX))])
    }
}

/// The pairs of features of two leaves, vertices numbered from the second of each. Pairs that share a vertex are none. A
/// point without an edge meets lone edges and points as an edge of no length; triangles meet it as a point, so that their
/// edges need not.
fn pairs([a, b]: [Met<'_>; 2], boxes: &[Bounds], out: &mut Vec<Pair>) {
    for ((points, first, _), (triangle, other, bounds)) in [(a, b), (b, a)] {
        if triangle.shape == Shape::Triangle {
            let [i, j, k] = triangle.vertices.map(|v| v + other);
            for p in points.points().map(|p| p + first).filter(|&p| p != i && p != j && p != k) {
                if boxes[p as usize].meets(bounds) {
                    out.push(Pair { kind: Kind::PointTriangle, vertices: [p, i, j, k] });
                }
            }
        }
    }
    let covered = |point: &Leaf, other: &Leaf| point.shape == Shape::Point && other.shape == Shape::Triangle;
    if covered(a.0, b.0) || covered(b.0, a.0) {
        return;
    }
    let edge = |[i, j]: [u32; 2], first: u32| {
        let ends = [i + first, j + first];
        (ends, Bounds::of(boxes, &ends))
    };
    for (e, bounds) in a.0.edges().map(|ends| edge(ends, a.1)).filter(|(_, bounds)| bounds.meets(b.2)) {
        for (f, other) in b.0.edges().map(|ends| edge(ends, b.1)) {
            if bounds.meets(&other) && !e.contains(&f[0]) && !e.contains(&f[1]) {
                out.push(Pair { kind: Kind::EdgeEdge, vertices: [e[0], e[1], f[0], f[1]] });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Features;

    /// Numbers from 0 to 1 without pattern, the same in each run.
    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn anywhere(seed: &mut u64, size: f64) -> V3 {
        V3::from_fn(|_, _| size * (random(seed) - 0.5))
    }

    /// Triangles in a soup that share vertices, edges and points besides.
    fn soup(seed: &mut u64, vertices: u32) -> Features {
        let mut index = || (random(seed) * f64::from(vertices)) as u32 % vertices;
        let mut triangles = vec![];
        let mut edges = vec![];
        for _ in 0..vertices / 2 {
            let (a, b, c, d) = (index(), index(), index(), index());
            if a != b && b != c && c != a {
                triangles.push([a, b, c]);
            } else if a != d {
                edges.push([a, d]);
            }
        }
        Features::new(vertices as usize, &triangles, &edges).unwrap()
    }

    /// All pairs of features whose boxes meet, by trying each with each.
    fn brute_force(one: &Features, first: u32, other: &Features, other_first: u32, boxes: &[Bounds]) -> Vec<Pair> {
        let same = first == other_first;
        let mut all = vec![];
        let mut tell = |kind, a: &[u32], b: &[u32]| {
            if !a.iter().any(|v| b.contains(v)) && Bounds::of(boxes, a).meets(&Bounds::of(boxes, b)) {
                let both = [a, b].concat();
                all.push(Pair { kind, vertices: [both[0], both[1], both[2], both[3]] });
            }
        };
        let points = |of: &Features, first: u32| first..first + of.vertices() as u32;
        let shift = |t: &[u32; 3], first: u32| t.map(|v| v + first);
        for p in points(one, first) {
            other.triangles().iter().for_each(|t| tell(Kind::PointTriangle, &[p], &shift(t, other_first)));
        }
        if !same {
            for p in points(other, other_first) {
                one.triangles().iter().for_each(|t| tell(Kind::PointTriangle, &[p], &shift(t, first)));
            }
        }
        let edges = |of: &Features, first: u32| -> Vec<([u32; 2], bool)> {
            let lone = |&&[a, b]: &&[u32; 2]| !of.triangles().iter().any(|t| t.contains(&a) && t.contains(&b));
            let in_use = |v: u32| of.edges().iter().any(|e| e.contains(&v));
            let alone = (0..of.vertices() as u32).filter(|&v| !in_use(v)).map(|v| [v + first; 2]);
            let real = of.edges().iter().map(|&[a, b]| ([a + first, b + first], !lone(&&[a, b])));
            real.chain(alone.map(|e| (e, false))).collect()
        };
        let (a, b) = (edges(one, first), edges(other, other_first));
        for (i, &(e, in_triangle)) in a.iter().enumerate() {
            for &(f, other_in_triangle) in if same { &b[i + 1..] } else { &b[..] } {
                // A point by itself meets triangles as a point.
                let covered = e[0] == e[1] && other_in_triangle || f[0] == f[1] && in_triangle;
                if !covered {
                    tell(Kind::EdgeEdge, &e, &f);
                }
            }
        }
        all
    }

    fn sorted(mut pairs: Vec<Pair>) -> Vec<Pair> {
        pairs.iter_mut().for_each(|pair| *pair = pair.in_order());
        pairs.sort_unstable();
        pairs
    }

    /// A thousand frames of soups that move, grow and shrink: neither a pair too few, nor one twice (K15). One obstacle is a
    /// single triangle, a tree of one leaf.
    #[test]
    fn pairs_are_those_of_brute_force() {
        let mut seed = 7;
        let mut search = Search::default();
        for round in 0..20 {
            let cloth = soup(&mut seed, 30);
            let other = if round % 3 == 0 { Features::new(3, &[[0, 1, 2]], &[]).unwrap() } else { soup(&mut seed, 12) };
            let (mut one, mut two) = (Tree::default(), Tree::default());
            one.hold(cloth.leaves().iter().map(|&leaf| (leaf, 0)));
            two.hold(other.leaves().iter().map(|&leaf| (leaf, 30)));
            let mut x: Vec<V3> = (0..30 + other.vertices()).map(|_| anywhere(&mut seed, 1.0)).collect();
            for _ in 0..50 {
                let u: Vec<V3> = x.iter().map(|_| anywhere(&mut seed, 0.3)).collect();
                let margin = 0.05 * random(&mut seed);
                let boxes: Vec<Bounds> = x.iter().zip(&u).map(|(x, u)| Bounds::swept(x, u, margin)).collect();
                one.fit(&boxes);
                two.fit(&boxes);
                let (mut own, mut both) = (vec![], vec![]);
                search.within(&one, &boxes, usize::MAX, &mut own).unwrap();
                search.between(&one, &two, &boxes, usize::MAX, &mut both).unwrap();
                assert_eq!(sorted(own), sorted(brute_force(&cloth, 0, &cloth, 0, &boxes)));
                assert_eq!(sorted(both), sorted(brute_force(&cloth, 0, &other, 30, &boxes)));
                x.iter_mut().zip(&u).for_each(|(x, u)| *x += u);
            }
        }
    }
}
