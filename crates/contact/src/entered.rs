//! Contacts of obstacles with kinematic cloth that is inside them, for `stops.rs`.
//!
//! Features of cloth that is led out of a solid pass through that solid's (`inside.rs`,
//! `regions.rs`). Kinematic cloth cannot be led. There the solid goes back, along the direction in
//! which the cloth would be led.
//!
//! Kinematic elements that a convex solid overlaps form regions as in `regions.rs`. The cloth's own
//! normals are directions of them as well, since it keeps its shape. Contacts along a region's normal are
//! at corners of the overlap, at vertices of the elements, and where vertices of the solid come: one
//! element carries a solid that lies on it as many would. Caps of cylinders and cones that are deeper
//! than the thickness count as faces. Other round surfaces part along the lines of nearest points. Of
//! other solids, kinematic vertices are contacts, each with its own way out.

use nalgebra::Vector3;

use crate::{
    Ahead, Carriers, Contacts, State,
    anchored::Anchored,
    bodies::Bodies,
    broad::Pair,
    convex::{Convex, Plane},
    distance::Kind,
    inside::local,
    regions::{Element, LED, Solid},
};

type V3 = Vector3<f64>;

/// Least depth of an overlap, in metres and by the size of coordinates [-]. It is less than the
/// distance at which a pair touches ([`Contacts::is_hidden`]), so that none is neither.
const LEAST: f64 = 1e-10;

/// Error of weights by rounding [-].
const WEIGHT_ERROR: f64 = 1e-9;

/// Distance of places that count as one, relative to the thickness [-], and cosine of the angle
/// between their normals.
const SAME_PLACE: f64 = 1e-3;
const SAME_NORMAL: f64 = 1.0 - 1e-3;

/// Least depth of a place that is to part from the solid, relative to the largest of its region [-].
/// Less deep ones, as around a corner that pokes through cloth, only get no deeper.
const DEEP: f64 = 0.5;

/// A kinematic element that a convex solid overlaps.
pub(crate) struct Entered {
    obstacle: u32,
    element: Element,
    /// Beyond which the element would be led, in the solid's axes.
    plane: Plane,
    places: Vec<Place>,
}

/// A place of an element at which it is in contact with the solid.
struct Place {
    /// Parts of the element's vertices in it [-].
    weights: V3,
    /// Along the plane's normal; less than 0 where the solid is yet to come `[m]`.
    depth: f64,
    /// Whether it is to part from the solid.
    parts: bool,
}

/// Whether an overlap of such a depth is more than a touch, with coordinates up to a size `[m]`.
fn is_deep(depth: f64, size: f64) -> bool {
    depth > LEAST * size.min(1.0)
}

impl Contacts {
    /// The solid of an obstacle, if it is a convex polyhedron that keeps cloth out.
    fn polyhedron(&self, number: u32) -> Option<&Convex> {
        let (obstacle, core) = &self.obstacles[number as usize];
        core.convex.as_ref().filter(|solid| !solid.is_round() && !obstacle.one_sided)
    }

    /// Kinematic elements that convex solids overlap, of those obstacles that are `near`.
    pub(crate) fn find_entered(&self, state: &State, ahead: &Ahead<'_>, near: &[bool]) -> Vec<Entered> {
        let mut found = vec![];
        if state.is_apart() {
            return found;
        }
        for number in (0..self.obstacles.len() as u32).filter(|number| near[*number as usize]) {
            let (obstacle, core) = &self.obstacles[number as usize];
            let keeps_out = |solid: &&Convex| solid.has_faces() && !obstacle.one_sided;
            let Some(solid) = core.convex.as_ref().filter(keeps_out) else { continue };
            let Some([begin, _]) = self.work.poses[number as usize] else { continue };
            let thickness = self.meeting(Some(number)).thickness;
            let x = |v: u32| local(&begin, &self.work.x[v as usize]);
            let extent = core.extent + core.radius;
            let is_beside =
                |x: &[V3; 3]| (0..3).any(|k| x.iter().all(|x| x[k] > extent) || x.iter().all(|x| x[k] < -extent));
            let is_held = |v: &u32| ahead.inverse_masses[*v as usize] == 0.0 && !self.lets_through(number, *v);
            let overlap = |element: Element| {
                let at = element.map(x);
                if !element.iter().all(is_held) || is_beside(&at) {
                    return None;
                }
                let (corners, depth) = solid.overlap(&at)?;
                let size = element.iter().fold(0.0_f64, |size, v| size.max(self.work.x[*v as usize].amax()));
                let is_in = match solid.is_round() {
                    true => solid.depth_in_round(at) > thickness,
                    false => is_deep(depth, size),
                };
                is_in.then_some((element, corners))
            };
            let mut overlaps: Vec<Overlap> = self.elements().filter_map(overlap).collect();
            for island in self.islands(overlaps.iter().map(|(element, _)| *element).collect(), &x) {
                let planes = island.planes(&Solid::Convex(solid, true)).unwrap_or_default();
                for (plane, vertices) in planes.into_iter().filter(|(plane, _)| !solid.is_curved_along(&plane.normal)) {
                    let is_of = |(element, _): &Overlap| element.iter().all(|v| vertices.binary_search(v).is_ok());
                    let (region, others) = overlaps.into_iter().partition(is_of);
                    overlaps = others;
                    found.extend(entered(number, region, plane, solid, &x));
                }
            }
        }
        found
    }

    /// Whether all cloth vertices of a pair with an obstacle are of one element in it.
    pub(crate) fn is_entered(&self, pair: &Pair) -> bool {
        let (cloth, obstacle) = (self.features.vertices() as u32, self.obstacle(pair));
        let mut with = self.work.entered.iter().filter(|entered| Some(entered.obstacle) == obstacle);
        with.any(|entered| pair.vertices.iter().all(|v| *v >= cloth || entered.element.contains(v)))
    }

    /// Whether a kinematic vertex that counts as inside an obstacle merely touches it, to rounding.
    fn touches(&self, vertex: u32, number: u32, ahead: &Ahead<'_>) -> bool {
        let is_held = ahead.inverse_masses[vertex as usize] == 0.0;
        let Some(solid) = self.polyhedron(number).filter(|_| is_held) else { return false };
        let Some([begin, _]) = &self.work.poses[number as usize] else { return false };
        let x = self.work.x[vertex as usize];
        !solid.overlap(&[local(begin, &x); 3]).is_some_and(|(_, depth)| is_deep(depth, x.amax()))
    }

    /// Whether a pair is of an obstacle and of cloth that is to leave it.
    pub(crate) fn leaves(&self, state: &State, pair: &Pair, obstacle: u32, ahead: &Ahead<'_>) -> bool {
        let is_in = |&v: &u32| state.holds(v, obstacle) && !self.touches(v, obstacle, ahead);
        !state.inside.is_empty() && pair.vertices.iter().any(is_in)
            || !state.regions.is_empty() && self.is_led_pair(state, pair, obstacle)
    }

    /// Contacts by which obstacles that are `near` leave kinematic cloth.
    pub(crate) fn leaving(&self, state: &State, ahead: &Ahead<'_>, bodies: &Bodies, near: &[bool]) -> Vec<Anchored> {
        let entered = &self.work.entered;
        let mut found: Vec<Anchored> = vec![];
        let mut add = |pair: Pair, weights: [f64; 4], obstacle: u32, n: V3, sign: f64, depth: f64, parts: bool| {
            let Carriers::Frame(frame) = &ahead.carriers[obstacle as usize] else { return };
            let cloth = self.features.vertices();
            let place: V3 = pair.parts(weights, cloth).map(|(v, c)| c.abs() * ahead.positions[v]).sum();
            let arm = place - frame.pose.translation.vector;
            let meeting = self.meeting(Some(obstacle));
            let is_same = |known: &Anchored| {
                known.obstacle == obstacle
                    && (known.arm - arm).norm() <= SAME_PLACE * meeting.thickness
                    && known.sign * known.n.dot(&n) * sign > SAME_NORMAL
            };
            if found.iter().any(is_same) {
                return;
            }
            let unloaded = Anchored::unloaded(pair, obstacle, n, sign);
            let mut contact = Anchored { weights, arm, friction: meeting.friction, ..unloaded };
            let Some(motion) = self.motion_at(&mut contact, ahead, bodies) else { return };
            let room = -depth - meeting.thickness;
            let room = if parts { room } else { room.max(0.0) };
            self.ask(&mut contact, &motion, room, 0.0, &meeting, (ahead.dt, false));
            found.push(contact);
        };
        // The deepest first, as one contact counts where several are.
        for parts in [true, false] {
            for Entered { obstacle, element: [a, b, c], plane, places } in entered {
                let Some([begin, _]) = &self.work.poses[*obstacle as usize] else { continue };
                let n = begin.rotation * plane.normal;
                let vertices = [self.work.first[*obstacle as usize], *a, *b, *c];
                for place in places.iter().filter(|place| place.parts == parts) {
                    let weights = [1.0, -place.weights.x, -place.weights.y, -place.weights.z];
                    let pair = Pair { kind: Kind::PointTriangle, vertices };
                    add(pair, weights, *obstacle, -n, 1.0, place.depth, parts);
                }
            }
        }
        let is_known = |vertex: u32, number: u32| {
            entered.iter().any(|entered| entered.obstacle == number && entered.element.contains(&vertex))
        };
        let is_held = |v: u32, obstacle: u32| ahead.inverse_masses[v as usize] == 0.0 && near[obstacle as usize];
        for region in &state.regions {
            let (obstacle, core) = &self.obstacles[region.obstacle as usize];
            let Some([begin, _]) = &self.work.poses[region.obstacle as usize] else { continue };
            // Regions have vertices beside what they cross as well.
            let is_inside = |v: u32| {
                is_held(v, region.obstacle)
                    && !is_known(v, region.obstacle)
                    && core.depth(&obstacle.shape, &local(begin, &ahead.positions[v as usize])) > 0.0
            };
            let inside =
                self.planes_of(region).into_iter().flatten().filter(|(led, ..)| is_inside(led.pair.vertices[0]));
            for (led, depth, _) in inside {
                add(led.pair, LED, region.obstacle, led.n, -1.0, depth, true);
            }
        }
        let others = state.inside.iter().filter(|[vertex, number]| {
            is_held(*vertex, *number) && !self.touches(*vertex, *number, ahead) && !is_known(*vertex, *number)
        });
        for &[vertex, number] in others {
            let (obstacle, core) = &self.obstacles[number as usize];
            let Some([begin, _]) = &self.work.poses[number as usize] else { continue };
            let x = local(begin, &ahead.positions[vertex as usize]);
            let Some([out, way]) = core.way_out(&obstacle.shape, &x) else { continue };
            let pair = Pair { kind: Kind::PointTriangle, vertices: [vertex; 4] };
            add(pair, [1.0, 0.0, 0.0, 0.0], number, begin * way, -1.0, (out - x).norm(), true);
        }
        found
    }
}

/// An element that a solid overlaps, and the corners of the overlap by their weights.
type Overlap = (Element, Vec<V3>);

/// The elements of a region that leaves an obstacle beyond a plane, with the places at which they are
/// in contact. Vertices are at `x` in the solid's axes `[m]`.
fn entered(obstacle: u32, region: Vec<Overlap>, plane: Plane, solid: &Convex, x: &dyn Fn(u32) -> V3) -> Vec<Entered> {
    let n = plane.normal;
    let place = |weights, depth| Place { weights, depth, parts: false };
    let of_element = |(element, corners): Overlap| {
        let [a, b, c] = element.map(x);
        let at = |weights: &V3| weights.x * a + weights.y * b + weights.z * c;
        let inside = corners.into_iter().map(|weights| place(weights, solid.way_along(&n, &at(&weights))));
        let own = [V3::x(), V3::y(), V3::z()].into_iter();
        let ahead = own.filter_map(|weights| Some(place(weights, -solid.way_to(&-n, &at(&weights))?)));
        let normal = (b - a).cross(&(c - a));
        let over = |p: &V3| {
            let depth = normal.dot(&(p - a)) / normal.dot(&n);
            let q = p - depth * n;
            let part = |one: &V3, other: &V3| normal.dot(&(other - one).cross(&(q - one))) / normal.norm_squared();
            let weights = V3::new(part(&b, &c), part(&c, &a), part(&a, &b));
            (weights.min() >= -WEIGHT_ERROR).then(|| place(weights, depth))
        };
        let mut places: Vec<Place> = inside.chain(ahead).chain(solid.corners().iter().filter_map(over)).collect();
        places.sort_by(|one, other| other.depth.total_cmp(&one.depth));
        Entered { obstacle, element, plane, places }
    };
    let mut region: Vec<Entered> = region.into_iter().map(of_element).collect();
    let places = region.iter().flat_map(|entered| &entered.places);
    let deepest = places.fold(0.0, |most: f64, place| most.max(place.depth));
    for place in region.iter_mut().flat_map(|entered| &mut entered.places) {
        place.parts = place.depth >= DEEP * deepest;
    }
    region
}
