//! Regions of cloth that start in a solid: one plane for each, beyond which all of it is led.
//!
//! Vertices that each take the shortest path out are led apart where these paths differ, as around the rim of a box. A region is a
//! connected set of cloth elements (triangles, edges of nets) that cross the solid or have vertices in it. It is led along one
//! direction n, until all its vertices are beyond the plane n·x = h that supports the solid: a triangle of them cannot cross it.
//! Of a solid that is not convex the plane supports the part that the region passes along n (`concave.rs`).
//!
//! Candidates for n are normals of faces, edges and corners. Their depth is the largest h - n·x of the region's vertices, and the
//! least depth wins, if the region is on the near side: cloth that a solid is through has vertices beyond the solid's middle along
//! every n. Cloth that is wrapped around a solid has no such n either; there each element goes its own least depth, unless elements
//! that share a vertex would go opposite ways. Otherwise the solid is through the cloth: no motion is known that mends it.

use std::slice;

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::{
    ContactError, Path, State, Step,
    broad::Pair,
    concave::{Concave, MOST_WAYS},
    contacts::{AHEAD, Contacts},
    convex::{Convex, Plane},
    distance::Kind,
    inside::local,
    near::Near,
    obstacle::{Core, Obstacle},
    place::carried,
    respond::{Contact, makes_way},
    torque::{join, top},
};

type V3 = Vector3<f64>;

/// Largest depth of a region: fraction of the solid's width along n, beyond which the other side is as near [-].
const NEAR_SIDE: f64 = 0.45;
/// Largest depth of a region, relative to its own radius: cloth that has to go farther would be drawn out to a spike [-].
const SPIKE: f64 = 2.0;
/// Joint way of a region is taken up to this multiple of the least depths of its elements [-].
const JOINT: f64 = 2.0;
/// Cosine of the angle beyond which ways of neighbouring elements oppose each other [-].
const OPPOSED: f64 = -0.5;
/// Distance beyond its plane at which a region is released, relative to the thickness: as contacts that rest have it, so that none
/// pushes it at once [-].
const RELEASED: f64 = 0.9;
/// Cloth that is led out of a solid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Region {
    pub obstacle: u32,
    /// Vertices, in order.
    pub vertices: Vec<u32>,
    plane: Plane,
    /// Vertex of the obstacle on the plane.
    support: u32,
}

impl Region {
    /// Whether it can be a region of this cloth and its obstacles.
    pub fn is_of(&self, contacts: &Contacts) -> bool {
        let supports = |(_, core): &(Obstacle, Core)| (self.support as usize) < core.vertices.len();
        let vertices = contacts.features.vertices();
        contacts.obstacles.get(self.obstacle as usize).is_some_and(supports)
            && self.vertices.is_sorted()
            && self.vertices.last().is_some_and(|&v| (v as usize) < vertices)
    }

    fn holds(&self, vertex: u32) -> bool {
        self.vertices.binary_search(&vertex).is_ok()
    }

    /// Whether another one would lead a vertex of this one back.
    fn opposes(&self, other: &Self) -> bool {
        self.obstacle == other.obstacle
            && self.plane.normal.dot(&other.plane.normal) < OPPOSED
            && other.vertices.iter().any(|&v| self.holds(v))
    }

    /// Leads the vertices of another one as well.
    fn join(&mut self, other: Self) {
        self.vertices.extend(other.vertices);
        keep_once(&mut self.vertices);
    }
}

/// A cloth element: corners of a triangle, or ends of an edge and the second of them again.
pub(crate) type Element = [u32; 3];

/// A connected set of elements, and where their vertices are in the solid's axes.
pub(crate) struct Island<'a> {
    pub elements: Vec<Element>,
    vertices: Vec<u32>,
    x: &'a dyn Fn(u32) -> V3,
}

/// What cloth is led out of.
pub(crate) enum Solid<'a> {
    /// And whether normals of the cloth are tried besides its own.
    Convex(&'a Convex, bool),
    Concave(Concave<'a>),
}

impl Solid<'_> {
    /// Planes beyond which elements with such corners are out, some farther than `deepest` `[m]`. `normal` is that of their cloth.
    fn ways(&self, corners: &[[V3; 3]], deepest: f64, normal: impl FnOnce() -> Option<V3>) -> Vec<Plane> {
        match self {
            Self::Convex(solid, along_cloth) => solid.ways(along_cloth.then(normal).flatten()).collect(),
            Self::Concave(solid) => solid.ways(corners, deepest, normal()),
        }
    }

    /// Width of the solid along the normal of a plane, where the elements are `[m]`.
    fn width(&self, plane: &Plane, corners: &[[V3; 3]]) -> f64 {
        match self {
            Self::Convex(solid, _) => solid.width(plane),
            Self::Concave(solid) => solid.width(plane, corners),
        }
    }

    /// Number of a vertex of the solid on a plane, or of one that is nearest to it among those near some points.
    fn support(&self, plane: &Plane, points: impl Iterator<Item = V3>) -> u32 {
        match self {
            Self::Convex(solid, _) => solid.support(plane),
            Self::Concave(solid) => solid.support(plane, points),
        }
    }
}

impl Island<'_> {
    /// Deepest vertex of some below a plane `[m]`.
    fn depth(&self, vertices: &[u32], plane: &Plane) -> f64 {
        vertices.iter().fold(0.0, |most: f64, &v| most.max(plane.depth(&(self.x)(v))))
    }

    /// Positions of the corners of some elements `[m]`.
    fn corners(&self, elements: &[Element]) -> Vec<[V3; 3]> {
        elements.iter().map(|e| e.map(self.x)).collect()
    }

    /// Half the diagonal of the box around vertices `[m]`.
    fn radius(&self, vertices: &[u32]) -> f64 {
        let all = vertices.iter().map(|&v| (self.x)(v));
        let (low, high) = all.fold((V3::repeat(f64::INFINITY), V3::repeat(f64::NEG_INFINITY)), |(low, high), x| {
            (low.inf(&x), high.sup(&x))
        });
        0.5 * (high - low).norm()
    }

    /// Area-weighted mean normal of its triangles.
    fn normal(&self) -> Option<V3> {
        let normal = |&[a, b, c]: &Element| {
            let [a, b, c] = [a, b, c].map(self.x);
            (b - a).cross(&(c - a))
        };
        self.elements.iter().map(normal).sum::<V3>().try_normalize(0.0)
    }

    /// Ways out of some elements that are on the near side and no spike, with their depths `[m]`, least first.
    fn ways(&self, solid: &Solid<'_>, elements: &[Element]) -> Vec<(f64, Plane)> {
        let mut vertices = elements.concat();
        keep_once(&mut vertices);
        let spike = SPIKE * self.radius(&vertices);
        let corners = self.corners(elements);
        let all = solid.ways(&corners, spike, || self.normal());
        let mut ways: Vec<_> = all.into_iter().map(|way| (self.depth(&vertices, &way), way)).collect();
        ways.retain(|(depth, way)| *depth <= spike && *depth <= NEAR_SIDE * solid.width(way, &corners));
        ways.sort_by(|a, b| a.0.total_cmp(&b.0));
        ways
    }

    /// Planes beyond which its elements have to come, each with vertices; none where no motion is known.
    pub fn planes(&self, solid: &Solid<'_>) -> Option<Vec<(Plane, Vec<u32>)>> {
        let least: Vec<_> =
            self.elements.iter().map(|e| self.ways(solid, slice::from_ref(e)).first().copied()).collect();
        let deepest = least.iter().flatten().fold(0.0, |most: f64, (depth, _)| most.max(*depth));
        let ways = self.ways(solid, &self.elements);
        let joint = ways.first().copied();
        let as_one = |(_, plane)| vec![(plane, self.vertices.clone())];
        match joint {
            Some(joint) if joint.0 <= JOINT * deepest => Some(as_one(joint)),
            _ => self.by_element(&least).or(joint.map(as_one)),
        }
    }

    /// Planes of elements that each go their own `least` depth.
    fn by_element(&self, least: &[Option<(f64, Plane)>]) -> Option<Vec<(Plane, Vec<u32>)>> {
        let planes: Vec<Plane> = least.iter().map(|way| way.map(|(_, plane)| plane)).collect::<Option<_>>()?;
        let mut at: Vec<(u32, V3)> = vec![];
        for (element, plane) in self.elements.iter().zip(&planes) {
            at.extend(element.map(|v| (v, plane.normal)));
        }
        at.sort_by_key(|(v, _)| *v);
        for same in at.chunk_by(|a, b| a.0 == b.0) {
            let opposed = |n: &V3| same.iter().any(|(_, other)| n.dot(other) < OPPOSED);
            if same.iter().any(|(_, n)| opposed(n)) {
                return None;
            }
        }
        let mut regions: Vec<(Plane, Vec<u32>)> = vec![];
        for (element, plane) in self.elements.iter().zip(planes) {
            match regions.iter_mut().find(|(other, _)| *other == plane) {
                Some((_, vertices)) => vertices.extend(element),
                None => regions.push((plane, element.to_vec())),
            }
        }
        regions.iter_mut().for_each(|(_, vertices)| keep_once(vertices));
        Some(regions)
    }
}

fn keep_once<T: Ord>(values: &mut Vec<T>) {
    values.sort_unstable();
    values.dedup();
}

impl Contacts {
    /// Convex obstacles, capsules and balls that are through the surface at `x` `[m]` with no motion known that mends it, each with the number
    /// of triangles and lone edges that cross it. Obstacles are at the start of `paths`.
    ///
    /// # Errors
    /// As [`Contacts::resolve`].
    pub fn find_through(&mut self, x: &[V3], paths: &[Path<'_>]) -> Result<Vec<[u32; 2]>, ContactError> {
        let inverse_masses = vec![1.0; x.len()];
        let step = Step { dt: 1.0, begin: x, velocities: None, inverse_masses: &inverse_masses, paths };
        let unseen = State::unseen(self.obstacles.len());
        Ok(self.look_around(&unseen, &step, x)?.through)
    }

    /// Finds regions of cloth in solids, from vertices known to be inside and what crosses: edge, then triangle. Those that are led
    /// along a region are taken out of either.
    pub(crate) fn find_regions(&mut self, state: &mut State, met: &mut Vec<[u32; 5]>) {
        let mut charged = 0;
        for number in 0..self.obstacles.len() as u32 {
            let (obstacle, core) = &self.obstacles[number as usize];
            let Some([begin, _]) = self.work.poses[number as usize] else { continue };
            if core.convex.is_none() && (core.solid.is_none() || obstacle.one_sided) {
                continue;
            }
            if state.through.iter().any(|[obstacle, _]| *obstacle == number) {
                continue;
            }
            let x = |v: u32| local(&begin, &self.work.x[v as usize]);
            let elements = self.elements_in(state, number, met, &x);
            if elements.is_empty() {
                continue;
            }
            let mut through = 0;
            for island in self.islands(elements, &x) {
                let solid = match &core.convex {
                    Some(convex) => Solid::Convex(convex, convex.is_round()),
                    None => {
                        charged += MOST_WAYS * island.elements.len();
                        let reach = SPIKE * island.radius(&island.vertices);
                        let corners = island.corners(&island.elements);
                        let Some(solid) = Concave::new(core, &obstacle.shape, &corners, reach) else { continue };
                        Solid::Concave(solid)
                    }
                };
                let Some(planes) = island.planes(&solid) else {
                    through += island.elements.len() as u32;
                    continue;
                };
                for (plane, vertices) in planes {
                    let support = solid.support(&plane, vertices.iter().map(|&v| x(v)));
                    let region = Region { obstacle: number, vertices, plane, support };
                    match state.regions.iter_mut().find(|other| core.convex.is_none() && other.opposes(&region)) {
                        Some(other) => other.join(region),
                        None => state.regions.push(region),
                    }
                }
            }
            if through > 0 {
                state.through.push([number, through]);
            }
        }
        self.charge(charged);
        let regions = &state.regions;
        let led = |v: u32, obstacle: u32| regions.iter().any(|r| r.obstacle == obstacle && r.holds(v));
        state.inside.retain(|&[v, obstacle]| !led(v, obstacle));
        met.retain(|vertices| !self.owner(vertices).is_some_and(|obstacle| self.is_led(state, vertices, obstacle)));
    }

    /// Elements of the cloth that cross an obstacle or have vertices inside it, and are in no region yet.
    fn elements_in(&self, state: &mut State, number: u32, met: &[[u32; 5]], x: &dyn Fn(u32) -> V3) -> Vec<Element> {
        let core = &self.obstacles[number as usize].1;
        let mut elements = match core.radius > 0.0 {
            true => self.elements_deep_in(number, x),
            false => self.elements_through(state, number, met),
        };
        // Kinematic cloth cannot be led.
        let is_free = |element: &Element| element.iter().any(|&v| self.work.w[v as usize] > 0.0);
        elements.retain(|element| is_free(element) && !self.is_led(state, element, number));
        // Next to a region it goes with that. Where the solid is not convex, its own way may differ.
        let goes_along = |region: &&mut Region| region.obstacle == number && core.convex.is_some();
        for region in state.regions.iter_mut().filter(goes_along) {
            while let Some(k) = elements.iter().position(|element| element.iter().any(|&v| region.holds(v))) {
                region.vertices.extend(elements.swap_remove(k));
                keep_once(&mut region.vertices);
            }
        }
        elements.sort_unstable();
        elements
    }

    /// Elements within what is round, if one of them is deeper than the thickness: less deep ones are led out by their contacts.
    fn elements_deep_in(&self, number: u32, x: &dyn Fn(u32) -> V3) -> Vec<Element> {
        let elements = self.elements_in_round(number, x);
        let deepest = elements.iter().fold(0.0, |most: f64, (depth, _)| most.max(*depth));
        match deepest > self.work.meetings[number as usize].thickness {
            true => elements.into_iter().map(|(_, element)| element).collect(),
            false => vec![],
        }
    }

    /// Elements that intersect a ball, capsule, cylinder or cone, with their depths `[m]`; vertices are at `x` in the solid's
    /// axes `[m]`. None for other solids.
    pub(crate) fn elements_in_round(&self, number: u32, x: &dyn Fn(u32) -> V3) -> Vec<(f64, Element)> {
        let core = &self.obstacles[number as usize].1;
        let Some(convex) = core.convex.as_ref().filter(|_| core.radius > 0.0) else { return vec![] };
        let depth = |element: &Element| match element.iter().any(|&v| self.lets_through(number, v)) {
            true => 0.0,
            false => convex.depth_in_round(element.map(x)),
        };
        self.elements().map(|e| (depth(&e), e)).filter(|(depth, _)| *depth > 0.0).collect()
    }

    /// Elements that cross an obstacle with edges or faces, or have vertices inside it.
    fn elements_through(&self, state: &State, number: u32, met: &[[u32; 5]]) -> Vec<Element> {
        let cloth = self.features.vertices() as u32;
        let (mut edges, mut faces) = (vec![], vec![]);
        for vertices in met.iter().filter(|vertices| self.owner(*vertices) == Some(number)) {
            match *vertices {
                [p, q, ..] if p < cloth => edges.push([p.min(q), p.max(q)]),
                [_, _, a, b, c] => faces.push([a, b, c]),
            }
        }
        keep_once(&mut edges);
        keep_once(&mut faces);
        let mut inside = vec![false; cloth as usize];
        state.inside.iter().filter(|[_, o]| *o == number).for_each(|[v, _]| inside[*v as usize] = true);
        if edges.is_empty() && faces.is_empty() && !inside.contains(&true) {
            return vec![];
        }
        let crosses = |&[a, b, c]: &Element| {
            let side = |p: u32, q: u32| edges.binary_search(&[p.min(q), p.max(q)]).is_ok();
            let within = [a, b, c].iter().any(|&v| inside[v as usize]);
            within || side(a, b) || side(b, c) || side(c, a) || faces.binary_search(&[a, b, c]).is_ok()
        };
        let passes = |element: &Element| element.iter().any(|&v| self.lets_through(number, v));
        self.elements().filter(|element| crosses(element) && !passes(element)).collect()
    }

    /// All triangles and lone edges of the cloth.
    pub(crate) fn elements(&self) -> impl Iterator<Item = Element> {
        let features = &self.features;
        let lone = features.edges().iter().filter(|edge| features.around_edge(**edge).next().is_none());
        features.triangles().iter().copied().chain(lone.map(|&[a, b]| [a, b, b]))
    }

    /// Elements by connection.
    pub(crate) fn islands<'a>(&self, elements: Vec<Element>, x: &'a dyn Fn(u32) -> V3) -> Vec<Island<'a>> {
        let mut above: Vec<u32> = (0..self.features.vertices() as u32).collect();
        for [a, b, c] in &elements {
            join(&mut above, *a, *b);
            join(&mut above, *b, *c);
        }
        let mut by_root: Vec<(u32, Element)> = elements.into_iter().map(|e| (top(&above, e[0]), e)).collect();
        by_root.sort_unstable();
        let of = |same: &[(u32, Element)]| {
            let elements: Vec<Element> = same.iter().map(|(_, element)| *element).collect();
            let mut vertices = elements.concat();
            keep_once(&mut vertices);
            Island { elements, vertices, x }
        };
        by_root.chunk_by(|a, b| a.0 == b.0).map(of).collect()
    }

    /// Whether all cloth vertices among these are in one region that is led out of an obstacle.
    pub(crate) fn is_led(&self, state: &State, vertices: &[u32], obstacle: u32) -> bool {
        let cloth = self.features.vertices() as u32;
        let of = |region: &&Region| region.obstacle == obstacle;
        state.regions.iter().filter(of).any(|region| vertices.iter().all(|&v| v >= cloth || region.holds(v)))
    }

    /// Whether a pair is let go since its cloth is in a region: but a vertex that is outside stays so.
    pub(crate) fn is_led_pair(&self, state: &State, pair: &Pair, obstacle: u32) -> bool {
        let vertex = pair.vertices[0];
        let is_vertex = pair.kind == Kind::PointTriangle && (vertex as usize) < self.features.vertices();
        let stays_out = is_vertex && self.work.within.binary_search(&[vertex, obstacle]).is_err();
        !stays_out && self.is_led(state, &pair.vertices, obstacle)
    }

    /// Notes which vertices of regions are inside their solids at the start of the part.
    pub(crate) fn note_within(&mut self, state: &State) {
        let mut within = std::mem::take(&mut self.work.within);
        within.clear();
        for region in &state.regions {
            let (obstacle, core) = &self.obstacles[region.obstacle as usize];
            let Some([begin, _]) = self.work.poses[region.obstacle as usize] else { continue };
            let x = |v: u32| local(&begin, &self.work.x[v as usize]);
            let inside = region.vertices.iter().filter(|&&v| core.holds(&obstacle.shape, &x(v)));
            within.extend(inside.map(|&v| [v, region.obstacle]));
        }
        keep_once(&mut within);
        self.work.within = within;
    }

    /// Drops regions that are out, and pushes contacts that lead the others beyond their planes: by a part of what is lacking.
    pub(crate) fn lead_regions(&mut self, state: &mut State) {
        let State { regions, inside, .. } = state;
        regions.retain(|region| {
            let (obstacle, core) = &self.obstacles[region.obstacle as usize];
            let released = -RELEASED * self.work.meetings[region.obstacle as usize].thickness;
            let stays = self.planes_of(region).is_some_and(|mut planes| planes.any(|(_, depth, _)| depth > released));
            if let Some([begin, _]) = self.work.poses[region.obstacle as usize]
                && core.convex.is_none()
                && !stays
            {
                // The plane leads out of a part of the solid. Cloth that went along it may have come under another.
                let is_in = |v: u32| core.contains(&obstacle.shape, &local(&begin, &self.work.x[v as usize]));
                let left = region.vertices.iter().filter(|&&v| is_in(v));
                inside.extend(left.map(|&v| [v, region.obstacle]));
            }
            stays
        });
        keep_once(inside);
        let free =
            |(led, depth, _): (Led, f64, V3)| (self.work.w[led.pair.vertices[0] as usize] > 0.0).then_some(depth);
        let deepest = |region: &Region| {
            let thickness = self.work.meetings[region.obstacle as usize].thickness;
            let depths = self.planes_of(region).into_iter().flatten().filter_map(free);
            depths.fold(0.0, |most: f64, depth| most.max(depth + thickness))
        };
        self.work.depth = state.regions.iter().map(deepest).fold(self.work.depth, f64::max);
        let mut contacts = std::mem::take(&mut self.work.contacts);
        for region in &state.regions {
            let meeting = self.work.meetings[region.obstacle as usize];
            contacts.extend(self.planes_of(region).into_iter().flatten().map(|(led, depth, drift)| {
                let lacking = depth + meeting.thickness;
                Contact {
                    weights: LED,
                    n: led.n,
                    drift,
                    least: if lacking < 0.0 { lacking } else { self.leading() * lacking },
                    friction: meeting.friction,
                    ..Contact::unloaded(led.pair, Some(region.obstacle))
                }
            }));
        }
        self.work.contacts = contacts;
    }

    /// Contact of each vertex of a region with its plane, depth below the plane, and displacement of the plane there as it counts in the
    /// relative one `[m]`; none if the obstacle is absent.
    pub(crate) fn planes_of(&self, region: &Region) -> Option<impl Iterator<Item = (Led, f64, V3)>> {
        let work = &self.work;
        let [begin, end] = work.poses[region.obstacle as usize]?;
        let support = work.first[region.obstacle as usize] + region.support;
        Some(region.vertices.iter().map(move |&vertex| {
            let x = work.x[vertex as usize];
            let depth = region.plane.depth(&local(&begin, &x));
            let n = begin.rotation * region.plane.normal;
            let place = x + depth * n;
            let pair = Pair { kind: Kind::PointTriangle, vertices: [vertex, support, support, support] };
            let offset = -depth - n.dot(&(x - work.x[support as usize]));
            (Led { pair, n, offset }, depth, place - carried(&begin, &end, &place))
        }))
    }

    /// Takes over what leads regions at the start of a step, for simulators that push by themselves ([`Contacts::led`]).
    pub(crate) fn collect_led(&mut self, state: &State) {
        let mut led = std::mem::take(&mut self.work.led);
        led.clear();
        let planes = state.regions.iter().filter_map(|region| self.planes_of(region)).flatten();
        led.extend(planes.map(|(led, ..)| led));
        led.sort_by_key(|led| led.pair);
        self.work.led = led;
    }

    /// Direction in which a vertex, now at the first of these positions, lacks most of its distance from a plane that leads it out, and that
    /// distance `[m]`; none if the pair is no such.
    pub(crate) fn led(&self, pair: &Pair, x: &[V3; 4]) -> Option<(V3, f64)> {
        let all = &self.work.led;
        let from = all.partition_point(|led| led.pair < *pair);
        let same = all[from..].iter().take_while(|led| led.pair == *pair);
        same.map(|led| (led.n, led.n.dot(&(x[0] - x[1])) + led.offset)).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Adds contacts of vertices with planes that lead them out, for simulators that resist by forces.
    pub(crate) fn add_near_led(&self, state: &State, out: &mut Vec<Near>) {
        for region in &state.regions {
            let Some(planes) = self.planes_of(region) else { continue };
            let meeting = self.work.meetings[region.obstacle as usize];
            // Where depths are kept, what is inside touches at its depth.
            let least = if self.leads { -meeting.thickness } else { AHEAD * meeting.thickness };
            out.extend(planes.map(|(led, depth, drift)| Near {
                pair: led.pair,
                obstacle: Some(region.obstacle),
                weights: LED,
                normal: led.n,
                gap: (-depth - meeting.thickness).max(least),
                thickness: meeting.thickness,
                drift,
                friction: meeting.friction,
                way_made: makes_way(&led.pair.vertices, &LED, &self.work.w),
                bounce: 0.0,
            }));
        }
    }
}

/// Weights of a vertex and of a plane's supporting vertex, thrice.
pub(crate) const LED: [f64; 4] = [1.0, -1.0, 0.0, 0.0];

/// A vertex and the supporting vertex of the plane beyond which it has to come, and the plane's normal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Led {
    pub pair: Pair,
    pub n: V3,
    /// Distance of the supporting vertex beyond the plane, less than 0 where a radius is around it `[m]`.
    pub offset: f64,
}
