//! Broad phase: which features may come near each other, from boxes around where they can be.
//!
//! parry's tree is a cache: pairs come out in order of their leaves, whatever the tree's shape and past.

use nalgebra::Vector3;
use parry3d_f64::{
    bounding_volume::Aabb,
    math::Vector,
    partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace},
};

use crate::{
    distance::Kind,
    features::{Leaf, pairs},
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
    /// Around the way from `x` to `x + u`, `margin` farther out.
    pub fn swept(x: &V3, u: &V3, margin: f64) -> Self {
        let end = x + u;
        Self { low: x.inf(&end).add_scalar(-margin), high: x.sup(&end).add_scalar(margin) }
    }

    pub fn join(&self, other: &Self) -> Self {
        Self { low: self.low.inf(&other.low), high: self.high.sup(&other.high) }
    }

    pub fn meets(&self, other: &Self) -> bool {
        (0..3).all(|k| self.low[k] <= other.high[k] && other.low[k] <= self.high[k])
    }

    pub fn contains(&self, p: &V3) -> bool {
        (0..3).all(|k| self.low[k] <= p[k] && p[k] <= self.high[k])
    }

    fn of(boxes: &[Bounds], vertices: &[u32]) -> Self {
        vertices[1..].iter().fold(boxes[vertices[0] as usize], |all, &v| all.join(&boxes[v as usize]))
    }

    fn aabb(&self) -> Aabb {
        let corner = |v: &V3| Vector::new(v.x, v.y, v.z);
        Aabb::new(corner(&self.low), corner(&self.high))
    }
}

/// A tree over leaves, each with the number that its vertices start from.
#[derive(Default)]
pub(crate) struct Tree {
    leaves: Vec<(Leaf, u32)>,
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
        let bounds = |&(leaf, first): &(Leaf, u32)| Bounds::of(boxes, &leaf.vertices.map(|v| v + first)).aabb();
        if self.refits >= REFITS {
            self.tree = Bvh::from_iter(BvhBuildStrategy::Binned, self.leaves.iter().map(bounds).enumerate());
            self.refits = 0;
            return;
        }
        for (number, leaf) in (0..).zip(&self.leaves) {
            self.tree.insert_or_update_partially(bounds(leaf), number, 0.0);
        }
        self.tree.refit_without_opt();
        self.refits += 1;
    }
}

/// Two features that may meet: which, and their vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair {
    pub kind: Kind,
    pub vertices: [u32; 4],
}

/// Memory of a search, kept from one to the next.
#[derive(Default)]
pub(crate) struct Search {
    workspace: BvhWorkspace,
    met: Vec<[u32; 2]>,
}

impl Search {
    /// Pairs of features within one tree whose boxes meet.
    pub fn within(&mut self, tree: &Tree, boxes: &[Bounds], out: &mut Vec<Pair>) {
        self.met.clear();
        let met = &mut self.met;
        tree.tree.traverse_bvtt_single_tree::<false>(&mut self.workspace, &mut |a, b| met.push([a.min(b), a.max(b)]));
        met.sort_unstable();
        for &[a, b] in met.iter() {
            tell(&tree.leaves[a as usize], &tree.leaves[b as usize], boxes, out);
        }
    }

    /// Pairs of features, one of each tree, whose boxes meet.
    pub fn between(&mut self, one: &Tree, other: &Tree, boxes: &[Bounds], out: &mut Vec<Pair>) {
        if one.leaves.is_empty() || other.leaves.is_empty() {
            return;
        }
        self.met.clear();
        self.met.extend(one.tree.leaf_pairs(&other.tree, |a, b| a.intersects(b)).map(|(a, b)| [a, b]));
        self.met.sort_unstable();
        for &[a, b] in &self.met {
            tell(&one.leaves[a as usize], &other.leaves[b as usize], boxes, out);
        }
    }
}

/// The pairs of two leaves, those whose own boxes meet.
fn tell(&(a, a_first): &(Leaf, u32), &(b, b_first): &(Leaf, u32), boxes: &[Bounds], out: &mut Vec<Pair>) {
    pairs(&a, a_first, &b, b_first, |kind, vertices| {
        let split = if kind == Kind::PointTriangle { 1 } else { 2 };
        if Bounds::of(boxes, &vertices[..split]).meets(&Bounds::of(boxes, &vertices[split..])) {
            out.push(Pair { kind, vertices });
        }
    });
}
