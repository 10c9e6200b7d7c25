//! What crosses at the begin is led apart: intersection contour minimization.
//!
//! \[VM06\] P. Volino, N. Magnenat-Thalmann: Resolving Surface Collisions through Intersection Contour Minimization.
//! SIGGRAPH 2006.
//!
//! Surfaces cross along a contour, with a corner P wherever an edge passes through a triangle. Which side is right nobody
//! can tell, but what shortens the contour leads out. E is the direction of the edge, N the triangle's normal, R the sum of
//! the directions in which the contour leaves P, one along each triangle at the edge. If the edge goes by a and the triangle
//! by b, P goes by a - E N·(a - b)/(N·E), and the contour grows by R·that less. Opposite impulses that move the edge by d
//! against the triangle give a = μ d and b = -(1 - μ) d, where μ is the edge's part of their mobility; so it grows by G·d
//! less,
//!
//!   G = μ R - (E·R)/(E·N) N,
//!
//! which is half of what \[VM06\] has, where both are equally mobile. Along G the two part by up to a thickness a step of
//! a 60th of a second.
//!
//! To get there, features have to pass each other that otherwise may not: the edge and those of the triangle, and that end of
//! the edge that comes through the triangle, not the other. Where the contour is straight G is 0 and tells nothing, so the
//! ends have votes from all edges around them. Pairs of which both features have a part in crossings do not repel each other.

use std::collections::BTreeMap;

use nalgebra::{Point3, Vector3};

use crate::{
    Report, Shape, State, allowance::CROSSING, broad::Pair, contacts::Contacts, crossing::crosses, distance::Kind,
    respond::most_push,
};

type V3 = Vector3<f64>;

/// Times that crossings are gone through, so that those that share vertices heed each other.
const SWEEPS: usize = 4;

/// How many times farther apart than what is too near.
const LED_APART: f64 = 10.0;

/// From which difference of votes on an end of an edge comes through `[-]`.
const DECIDED: f64 = 0.1;

/// An edge that passes through a triangle.
#[derive(Debug, Clone)]
pub(crate) struct Crossing {
    /// Of the edge, then of the triangle.
    pub vertices: [u32; 5],
    /// The obstacle that one of them is of.
    pub obstacle: Option<u32>,
    /// Of the vertices at their common point, those of the triangle less than 0.
    pub weights: [f64; 5],
    /// Along which the edge has to go against the triangle.
    pub n: V3,
    /// How far at least `[m]`.
    least: f64,
    /// Which end of the edge comes through the triangle that way, and |G|, how clear that is `[-]`.
    through: usize,
    clear: f64,
    /// Sum of impulses along n `[kg m]`, and what it may be at most.
    pub push: f64,
    most: f64,
}

impl Crossing {
    /// Pairs of their features that may pass: the edge with the triangle's, and the end that has more `votes` to come through.
    fn let_go(&self, votes: &[f64]) -> impl Iterator<Item = Pair> {
        let [p, q, a, b, c] = self.vertices;
        let edge = |a, b| Pair { kind: Kind::EdgeEdge, vertices: [p, q, a, b] };
        let more = votes[p as usize] - votes[q as usize];
        let end = if more > 0.0 { p } else { q };
        let point = Pair { kind: Kind::PointTriangle, vertices: [end, a, b, c] };
        let point = (more.abs() > DECIDED).then_some(point);
        [edge(a, b), edge(b, c), edge(c, a)].into_iter().chain(point).map(Pair::in_order)
    }
}

impl Contacts {
    /// What crosses at the begin, unless the state knows that nothing does.
    pub(crate) fn find_crossings(&mut self, state: &mut State, report: &mut Report) {
        self.work.crossings.clear();
        self.work.let_go.clear();
        if state.apart {
            self.note_within(state);
            return;
        }
        let mut met = vec![];
        let work = &mut self.work;
        let cross = |[p, q]: [u32; 2], triangle: [u32; 3]| {
            let at = |v: u32| &work.x[v as usize];
            let ([p, q], [a, b, c]) = ([p, q].map(at), triangle.map(at));
            let beside = |k: usize| {
                let (low, high) = (p[k].min(q[k]), p[k].max(q[k]));
                a[k].max(b[k]).max(c[k]) < low || high < a[k].min(b[k]).min(c[k])
            };
            !(0..3).any(beside) && crosses([p, q], [a, b, c])
        };
        work.search.crossings(&work.cloth, &work.others, cross, &mut met);
        met.retain(|vertices| !self.tells_sides(vertices) && !self.is_let_through(vertices));
        let in_round = self.crossing_round();
        let is_clear = met.is_empty() && in_round.is_empty();
        // Elements that are led out may cross again within the step; a plane has no edges and faces to cross.
        let is_plane = |[_, obstacle]: &[u32; 2]| self.obstacles[*obstacle as usize].0.shape == Shape::HalfSpace;
        state.apart = is_clear && state.regions.is_empty() && state.inside.iter().all(is_plane);
        let cloth = self.features.vertices() as u32;
        report.tangled.extend(met.iter().flatten().filter(|&&v| v < cloth));
        report.tangled.extend(in_round);
        report.tangled.sort_unstable();
        report.tangled.dedup();
        if is_clear {
            state.through.clear();
        }
        self.find_regions(state, &mut met);
        self.note_within(state);
        self.charge(CROSSING * met.len());
        let mut known = BTreeMap::new();
        met.retain(|vertices| !self.is_led_out(state, vertices, &mut known));
        let crossings: Vec<Crossing> = met.iter().map(|&vertices| self.crossing(vertices)).collect();

        let work = &mut self.work;
        work.tangled.clear();
        work.tangled.resize(work.x.len(), false);
        let mut votes = vec![0.0; work.x.len()];
        for crossing in &crossings {
            crossing.vertices.iter().for_each(|&v| work.tangled[v as usize] = true);
            votes[crossing.vertices[crossing.through] as usize] += crossing.clear;
        }
        work.let_go.extend(crossings.iter().flat_map(|crossing| crossing.let_go(&votes)));
        work.let_go.sort_unstable();
        work.crossings = crossings;
    }

    /// Vertices of elements that intersect a ball, capsule, cylinder or cone, which have no edges and faces to cross.
    fn crossing_round(&self) -> Vec<u32> {
        let mut found = vec![];
        for (number, poses) in (0..).zip(&self.work.poses).filter(|(number, _)| self.work.close[*number as usize]) {
            let Some([begin, _]) = poses else { continue };
            let x = |v: u32| begin.inverse_transform_point(&Point3::from(self.work.x[v as usize])).coords;
            found.extend(self.elements_in_round(number, &x).into_iter().flat_map(|(_, element)| element));
        }
        found
    }

    /// Whether these are with an obstacle that has one side only, which of itself lets nothing but out.
    fn tells_sides(&self, vertices: &[u32; 5]) -> bool {
        let obstacle = self.owner(vertices).map(|number| &self.obstacles[number as usize].0);
        obstacle.is_some_and(|obstacle| obstacle.one_sided || obstacle.shape == Shape::HalfSpace)
    }

    /// Whether one of these is inside a solid, which is enough to lead it out.
    fn is_led_out(&self, state: &mut State, vertices: &[u32; 5], known: &mut BTreeMap<[u32; 2], bool>) -> bool {
        let Some(number) = self.owner(vertices) else { return false };
        let cloth = self.features.vertices() as u32;
        let mut led = false;
        for &v in vertices.iter().filter(|&&v| v < cloth) {
            led |= *known.entry([v, number]).or_insert_with(|| self.lead(state, v, number));
        }
        led
    }

    fn crossing(&self, vertices: [u32; 5]) -> Crossing {
        let obstacle = self.owner(&vertices);
        let x = vertices.map(|v| self.work.x[v as usize]);
        let normal = (x[3] - x[2]).cross(&(x[4] - x[2]));
        let heights = [0, 1].map(|k| normal.dot(&(x[k] - x[2])));
        let s = heights[0] / (heights[0] - heights[1]);
        let s = if s.is_finite() { s } else { 0.5 };
        let place = x[0].lerp(&x[1], s);
        let area = |k: usize, l: usize| normal.dot(&(x[k] - place).cross(&(x[l] - place))).max(0.0);
        let areas = [area(3, 4), area(4, 2), area(2, 3)];
        let whole: f64 = areas.iter().sum();
        let [i, j, k] = areas.map(|area| if whole > 0.0 { area / whole } else { 1.0 / 3.0 });
        let weights = [1.0 - s, s, -i, -j, -k];

        let mobility = |of: std::ops::Range<usize>| -> f64 {
            of.map(|k| weights[k] * weights[k] * self.work.w.get(vertices[k] as usize).unwrap_or(&0.0)).sum()
        };
        let (one, other) = (mobility(0..2), mobility(2..5));
        let leaving = self.contour([vertices[0], vertices[1]], &normal);
        let way = shortening(&(x[1] - x[0]), &normal, &leaving, one / (one + other));
        let size = way.norm();
        let known = size > 0.0 && size.is_finite();
        let n = if known { way / size } else { V3::zeros() };
        let least = LED_APART * self.leading() * self.meeting(obstacle).thickness * size.min(1.0);
        let through = usize::from((heights[0] > heights[1]) == (n.dot(&normal) > 0.0));
        let clear = if known { size.min(1.0) } else { 0.0 };
        Crossing { vertices, obstacle, weights, n, least, through, clear, push: 0.0, most: 0.0 }
    }

    /// R: how the contour leaves a crossing with a triangle of such a normal, along the triangles at the edge.
    fn contour(&self, edge: [u32; 2], normal: &V3) -> V3 {
        let (features, first) = self.surface_of(&edge);
        let x = |v: u32| self.work.x[(v + first) as usize];
        let [p, q] = edge.map(|v| v - first);
        let along = x(q) - x(p);
        let of = |t: &[u32; 3]| -> Option<V3> {
            let third = *t.iter().find(|&&v| v != p && v != q)?;
            let face = along.cross(&(x(third) - x(p)));
            let line = normal.cross(&face).try_normalize(0.0)?;
            // Into the triangle: from its edge towards its third corner.
            Some(if face.cross(&along).dot(&line) > 0.0 { line } else { -line })
        };
        features.around_edge([p, q]).filter_map(of).sum()
    }

    /// Leads apart what crosses.
    pub(crate) fn untangle(&mut self) {
        let is_free = |v: &u32| self.work.w.get(*v as usize).is_some_and(|w| *w > 0.0);
        let free = self.work.crossings.iter().filter(|crossing| crossing.vertices.iter().any(is_free));
        let depths = free.map(|crossing| LED_APART * self.meeting(crossing.obstacle).thickness);
        self.work.depth = depths.fold(self.work.depth, f64::max);
        let work = &mut self.work;
        for sweep in 0..SWEEPS {
            for crossing in &mut work.crossings {
                let parts = || crossing.vertices.iter().map(|&v| v as usize).zip(&crossing.weights);
                let mobility: f64 = parts().map(|(v, c)| c * c * work.w.get(v).unwrap_or(&0.0)).sum();
                let way: f64 = parts().map(|(v, c)| c * crossing.n.dot(&work.u[v])).sum();
                let lacking = crossing.least - way;
                // Crossings that share vertices and ask for opposite ways must not drive each other on.
                if sweep == 0 {
                    crossing.most = match lacking > 0.0 {
                        true => {
                            most_push(&crossing.vertices, &crossing.weights, &work.w, lacking).min(lacking / mobility)
                        }
                        false => 0.0,
                    };
                }
                let push = (lacking / mobility).min(crossing.most - crossing.push);
                if push > 0.0 && push.is_finite() {
                    for (v, c) in parts() {
                        work.u[v] += c * work.w.get(v).unwrap_or(&0.0) * push * crossing.n;
                    }
                    crossing.push += push;
                }
            }
        }
    }

    /// Whether both features of a pair are of something that crosses.
    pub(crate) fn is_tangled(&self, pair: &Pair) -> bool {
        let (one, other) = pair.vertices.split_at(pair.kind.split());
        let tangled = |of: &[u32]| of.iter().any(|&v| self.work.tangled[v as usize]);
        !self.work.let_go.is_empty() && tangled(one) && tangled(other)
    }

    /// Whether a pair is of an edge and a triangle that cross, and may pass.
    pub(crate) fn is_let_go(&self, pair: &Pair) -> bool {
        self.is_tangled(pair) && self.work.let_go.binary_search(&pair.in_order()).is_ok()
    }
}

/// G, of an edge and a normal of any length: by how much the contour gets shorter by a way of the edge against the triangle,
/// of which the edge's own is the `share`.
fn shortening(edge: &V3, normal: &V3, leaving: &V3, share: f64) -> V3 {
    let (along, across) = (edge.normalize(), normal.normalize());
    share * leaving - along.dot(leaving) / along.dot(&across) * across
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The corner found anew where edge and plane are after a small way, and its distance from where the contour goes on. Central
    /// differences over 1e-5 of lengths about 1 are good to 1e-9; flat angles make that up to a hundred times worse.
    #[test]
    fn the_contour_shortens_along_g() {
        let (mut seed, mut tried) = (1_u64, 0);
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        while tried < 1000 {
            let [from, edge, normal, way, one, other] = [(); 6].map(|()| V3::from_fn(|_, _| random()));
            let share = 0.5 * (random() + 1.0);
            if edge.normalize().dot(&normal.normalize()).abs() < 0.2 {
                continue;
            }
            tried += 1;
            // Edge and plane meet at the origin at first; from there the contour goes to two places of the plane.
            let places = [one, other].map(|v| v - normal * normal.dot(&v) / normal.norm_squared());
            let length = |s: f64| -> f64 {
                let (begin, of_plane) = (from.dot(&normal) * edge + share * s * way, (share - 1.0) * s * way);
                let corner = begin - edge * normal.dot(&(begin - of_plane)) / normal.dot(&edge);
                places.iter().map(|place| (corner - place).norm()).sum()
            };
            let leaving = places[0].normalize() + places[1].normalize();
            let found = (length(-1e-5) - length(1e-5)) / 2e-5;
            let expected = shortening(&edge, &normal, &leaving, share).dot(&way);
            let least = places.iter().map(|place| place.norm()).fold(1.0, f64::min);
            assert!((found - expected).abs() < 1e-7 / (least * least), "{found} {expected}");
        }
    }
}
