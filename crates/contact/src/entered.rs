//! Contacts of obstacles with kinematic cloth that is inside them, for `stops.rs`.
//!
//! Features of cloth that is led out of a solid pass through that solid's (`inside.rs`,
//! `regions.rs`). Kinematic cloth cannot be led. There the solid goes back, along the direction in
//! which the cloth would be led.
//!
//! Kinematic elements that a convex solid overlaps form regions as in `regions.rs`, for which normals
//! of the cloth are directions as well, since it keeps its shape. Corners of the overlap, and places
//! along the region's normal from the solid's vertices, are contacts: one element carries a solid that
//! lies on it as many would. So are caps of cylinders and cones that are deeper than the thickness.
//! What is round besides parts along the lines of nearest points. Of other solids, kinematic vertices
//! are contacts, each with its own way out.

use nalgebra::{Point3, Vector3};

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

/// Least depth of an overlap, in metres and by the size of coordinates [-]. Pairs that are less deep
/// touch ([`Contacts::is_hidden`]).
const LEAST: f64 = 1e-10;

/// Whether an overlap of elements with such coordinates is more than a touch, by its depth `[m]`.
fn is_deep<'a>(depth: f64, mut x: impl Iterator<Item = &'a V3>) -> bool {
    depth > LEAST || x.all(|x| depth > LEAST * x.amax())
}

/// Error of weights by rounding [-].
const ROUNDING: f64 = 1e-9;

/// Places that are closer are one, relative to the thickness [-].
const SAME: f64 = 1e-3;

/// Least depth of a place that is to part from the solid, relative to the largest of its region [-]. Less
/// deep ones, as around a corner that pokes through cloth, only get no deeper: they would contradict.
const DEEP: f64 = 0.5;

/// A kinematic element that a convex solid overlaps.
pub(crate) struct Entered {
    obstacle: u32,
    element: Element,
    /// Beyond which the element would be led, in the solid's axes; none where no motion is known
    /// that mends it.
    plane: Option<Plane>,
    places: Vec<Place>,
}

/// A place of an element at which it is in contact with the solid.
struct Place {
    /// Of the element's vertices.
    weights: V3,
    /// Along the plane's normal; less than 0 where the solid is yet to come `[m]`.
    depth: f64,
    /// Whether it is to part from the solid.
    parts: bool,
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
            let Some(solid) = core.convex.as_ref().filter(|_| !obstacle.one_sided) else { continue };
            let Some([begin, _]) = self.work.poses[number as usize] else { continue };
            let thickness = self.meeting(Some(number)).thickness;
            let x = |v: u32| begin.inverse_transform_point(&Point3::from(self.work.x[v as usize])).coords;
            let extent = core.extent + core.radius;
            let is_held = |v: &u32| ahead.inverse_masses[*v as usize] == 0.0 && !self.lets_through(number, *v);
            let is_beside =
                |x: &[V3; 3]| (0..3).any(|k| x.iter().all(|x| x[k] > extent) || x.iter().all(|x| x[k] < -extent));
            let overlap = |element: Element| {
                let at = element.map(x);
                if !element.iter().all(is_held) || is_beside(&at) {
                    return None;
                }
                let (corners, depth) = solid.overlap(&at)?;
                let is_in = match solid.is_round() {
                    true => solid.depth_in_round(at) > thickness,
                    false => is_deep(depth, element.iter().map(|v| &self.work.x[*v as usize])),
                };
                let places = corners.into_iter().map(|weights| Place { weights, depth: 0.0, parts: false }).collect();
                is_in.then_some(Entered { obstacle: number, element, plane: None, places })
            };
            let first = found.len();
            found.extend(self.elements().filter_map(overlap));
            let elements = found[first..].iter().map(|entered: &Entered| entered.element).collect();
            for island in self.islands(elements, &x) {
                let planes = island.planes(&Solid::Convex(solid, true)).unwrap_or_default();
                for (plane, vertices) in planes.into_iter().filter(|(plane, _)| !solid.is_curved_along(&plane.normal)) {
                    let is_of = |entered: &&mut Entered| {
                        entered.plane.is_none() && entered.element.iter().all(|v| vertices.binary_search(v).is_ok())
                    };
                    let mut region: Vec<_> = found[first..].iter_mut().filter(is_of).collect();
                    set_places(&mut region, plane, solid, &x);
                }
            }
        }
        found.retain(|entered| entered.plane.is_some());
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
        !solid.overlap(&[local(begin, &x); 3]).is_some_and(|(_, depth)| is_deep(depth, [&x].into_iter()))
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
                    && (known.arm - arm).norm() <= SAME * meeting.thickness
                    && known.sign * known.n.dot(&n) * sign > 1.0 - SAME
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
                let (Some(plane), Some([begin, _])) = (plane, &self.work.poses[*obstacle as usize]) else { continue };
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

/// Gives the elements of a region their plane, and the places at which they are in contact: corners of
/// their overlaps, and where vertices of a polyhedron come along the plane's normal. Vertices are at
/// `x` in the solid's axes `[m]`.
fn set_places(region: &mut [&mut Entered], plane: Plane, solid: &Convex, x: &dyn Fn(u32) -> V3) {
    let n = plane.normal;
    for entered in region.iter_mut() {
        let [a, b, c] = entered.element.map(x);
        for Place { weights, depth, .. } in &mut entered.places {
            *depth = solid.way_along(&n, &(weights.x * a + weights.y * b + weights.z * c));
        }
        let normal = (b - a).cross(&(c - a));
        let below = |p: &V3| {
            let depth = normal.dot(&(p - a)) / normal.dot(&n);
            let place = p - depth * n;
            let part = |p: &V3, q: &V3| normal.dot(&(q - p).cross(&(place - p))) / normal.norm_squared();
            let weights = V3::new(part(&b, &c), part(&c, &a), part(&a, &b));
            (weights.min() >= -ROUNDING).then_some(Place { weights, depth, parts: false })
        };
        entered.places.extend(solid.corners().iter().filter_map(below));
        entered.places.sort_by(|one, other| other.depth.total_cmp(&one.depth));
        entered.plane = Some(plane);
    }
    let places = region.iter().flat_map(|entered| &entered.places);
    let deepest = places.fold(0.0, |most: f64, place| most.max(place.depth));
    for place in region.iter_mut().flat_map(|entered| &mut entered.places) {
        place.parts = place.depth >= DEEP * deepest;
    }
}
