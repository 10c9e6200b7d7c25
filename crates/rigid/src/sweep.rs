//! Continuous collision detection: a substep ends where bodies too fast for it collide.
//!
//! Rapier detects contacts at the start of a substep, up to its prediction distance apart. Two
//! bodies that approach by more than their thickness in a substep may pass each other undetected.
//! Rapier's own continuous collision detection takes the other body at rest in its end pose, and
//! ignores all but fixed bodies by default.
//!
//! So each substep is predicted here with constant velocities; a driven body moves to its target.
//! The first impact cuts the substep into three pieces:
//!
//! 1. to just before the impact;
//! 2. over the impact, which rapier's contact stops exactly, since the pair is within the
//!    prediction distance;
//! 3. the rest, with the velocities after the impact.
//!
//! [`crate::Parameters::impacts`] bounds the number of cuts. The report names the pair of the next
//! impact.

use partita_simulator::{Note, StepReport};
use rapier3d_f64::{
    math::{Pose, Rotation, Vector},
    parry::{
        bounding_volume::{Aabb, BoundingVolume},
        query::{NonlinearRigidMotion, Ray, ShapeCastOptions, cast_shapes, cast_shapes_nonlinear, contact},
        shape::{Shape, TypedShape},
    },
    pipeline::PairFilterContext,
    prelude::{Collider, ColliderHandle, PhysicsHooks, RigidBody, RigidBodyHandle, RigidBodyType},
};

use crate::{
    RigidBodies,
    convert::{rotation, vector},
};

/// Safe approach of two bodies in a substep, relative to the sum of their half thicknesses [-].
/// From 1 on they may end on each other's far side.
const SAFE_APPROACH: f64 = 0.75;

/// Safe approach of two bodies in a substep, relative to rapier's prediction distance [-]. It
/// leaves room for the drift [`RECYCLED`] since contacts were last detected.
const SAFE_OF_PREDICTION: f64 = 0.5;

/// Rapier's recycle distance, below which it reuses contacts, relative to its prediction distance
/// [-]. Rapier's default is 2.5, and 1 for a pair without contacts. Such a pair may then touch
/// before its contacts are recomputed.
pub(crate) const RECYCLED: f64 = 0.25;

/// Half thickness and radius of a collider.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    /// Smallest half extent of its box in its own axes `[m]`; 0 for meshes, which are surfaces, and
    /// infinite for half-spaces, which have no far side.
    half_thickness: f64,
    /// Radius of the ball around the centre of mass of its body that holds it `[m]`.
    radius: f64,
}

/// A collision before the end of a substep.
pub(crate) struct Impact {
    /// Time from now `[s]`.
    pub time: f64,
    /// Time in which the two approach by rapier's prediction distance `[s]`.
    pub of_prediction: f64,
    pub bodies: [Option<RigidBodyHandle>; 2],
}

/// Predicted motion of a collider over a substep of h.
struct Sweep {
    collider: ColliderHandle,
    body: Option<RigidBodyHandle>,
    moves_freely: bool,
    extent: Extent,
    /// Velocity of the centre `[m/s]`.
    linear: Vector,
    /// Angular velocity `[rad/s]`.
    angular: Vector,
    /// Largest displacement of a point of it by rotation `[m]`.
    turn: f64,
    /// Largest displacement of a point of it `[m]`.
    displacement: f64,
}

/// Geometry of a sweep.
struct Swept {
    start: Pose,
    /// Point about which it turns, in the axes of the collider.
    centre: Vector,
    /// Box around all that it sweeps over.
    bounds: Aabb,
}

/// Pair of colliders to check for tunnelling after a piece of a substep: the first is convex.
pub(crate) struct Crossing {
    of: ColliderHandle,
    other: ColliderHandle,
    /// Centre of `of` at the start of the piece, outside `other` and in its axes `[m]`.
    start: Vector,
}

const MORE_SUBSTEPS: &str = "the motion is too fast, or the load too large, for this step; use more substeps";

impl Sweep {
    /// Displacement above which bodies of this half thickness may pass each other unseen `[m]`.
    fn safe_displacement(prediction: f64, half_thickness: f64) -> f64 {
        (SAFE_OF_PREDICTION * prediction).max(SAFE_APPROACH * half_thickness)
    }

    /// Whether it may pass another one unseen; of each such pair, the faster one may.
    fn is_fast(&self, prediction: f64) -> bool {
        self.displacement > 0.5 * Self::safe_displacement(prediction, self.extent.half_thickness)
    }
}

impl RigidBodies {
    /// Measures all colliders.
    pub(crate) fn measure_extents(&mut self) {
        self.extents.clear();
        for (handle, collider) in self.state.colliders.iter() {
            let number = handle.into_raw_parts().0 as usize;
            if self.extents.len() <= number {
                self.extents.resize(number + 1, None);
            }
            self.extents[number] = (!collider.is_sensor()).then(|| extent(collider, self.centre_in(collider)));
        }
    }

    /// Extent of a solid collider.
    fn extent_of(&self, collider: ColliderHandle) -> Option<Extent> {
        *self.extents.get(collider.into_raw_parts().0 as usize)?
    }

    /// The first collision within the next `h` of bodies that approach by more than is safe.
    pub(crate) fn first_impact(&mut self, h: f64) -> Option<Impact> {
        self.crossings.clear();
        let prediction = self.integration.prediction_distance();
        if self.parameters.impacts == 0 || !self.predict(h).any(|sweep| sweep.is_fast(prediction)) {
            return None;
        }
        let with_geometry = |sweep| {
            let swept = self.swept(&sweep, h);
            (sweep, swept)
        };
        let sweeps: Vec<(Sweep, Swept)> = self.predict(h).map(with_geometry).collect();
        let mut crossings = std::mem::take(&mut self.crossings);
        let mut first: Option<Impact> = None;
        for (i, a) in sweeps.iter().enumerate().filter(|(_, (a, _))| a.is_fast(prediction)) {
            for (j, b) in sweeps.iter().enumerate() {
                let again = j < i && b.0.is_fast(prediction);
                if i == j || again || !self.may_pass(a, b, prediction) {
                    continue;
                }
                crossings.extend(self.crossing(a, b).into_iter().chain(self.crossing(b, a)));
                let end = first.as_ref().map_or(h, |impact| impact.time);
                first = self.impact_of(a, b, end, h).or(first);
            }
        }
        self.crossings = crossings;
        first
    }

    /// Candidate for tunnelling: a convex collider whose centre is outside the other one.
    fn crossing(&self, (of, of_swept): &(Sweep, Swept), (other, swept): &(Sweep, Swept)) -> Option<Crossing> {
        let [one, two] = [of, other].map(|sweep| self.state.colliders[sweep.collider].shape());
        let start = swept.start.inverse() * (of_swept.start * one.compute_local_aabb().center());
        let is_watched = one.is_convex() && !two.contains_local_point(start);
        is_watched.then_some(Crossing { of: of.collider, other: other.collider, start })
    }

    /// Names pairs of which one's centre went into or through the other in the last piece of a substep.
    pub(crate) fn note_crossings(&self, report: &mut StepReport) {
        for Crossing { of, other, start } in &self.crossings {
            let [one, two] = [of, other].map(|collider| &self.state.colliders[*collider]);
            let end = self.pose_of_collider(two).inverse()
                * (self.pose_of_collider(one) * one.shape().compute_local_aabb().center());
            if two.shape().cast_local_ray(&Ray::new(*start, end - start), 1.0, false).is_some() {
                let [one, two] = [one, two].map(|collider| self.name_in_report(collider.parent()));
                let kind = format!("the first entered or passed through the second; {MORE_SUBSTEPS}");
                report.note(Note::about(format!("`{one}` and `{two}`"), kind));
            }
        }
    }

    /// Names pairs that overlap so far that contact may push them out on their far sides.
    pub(crate) fn note_overlaps(&self, report: &mut StepReport) {
        let half_thickness = |collider| self.extent_of(collider).map(|extent| extent.half_thickness);
        for pair in self.state.narrow_phase.contact_pairs() {
            let Some((a, b)) = half_thickness(pair.collider1).zip(half_thickness(pair.collider2)) else { continue };
            let limit = SAFE_APPROACH * (a + b);
            let mut contacts = pair.solver_manifolds().iter().flat_map(|manifold| &manifold.data.solver_contacts);
            if a.min(b) == 0.0 || !contacts.any(|contact| contact.dist < -limit) {
                continue;
            }
            // Where shapes touch exactly, rapier may report a contact that is none.
            let [one, two] = [pair.collider1, pair.collider2].map(|collider| &self.state.colliders[collider]);
            let [at_one, at_two] = [one, two].map(|collider| self.pose_of_collider(collider));
            let nearest = contact(&at_one, one.shape(), &at_two, two.shape(), 0.0);
            if nearest.is_ok_and(|nearest| nearest.is_some_and(|nearest| nearest.dist < -limit)) {
                let [one, two] = [one, two].map(|collider| self.name_in_report(collider.parent()));
                let kind = format!("overlap by over 3/8 of their total thickness; {MORE_SUBSTEPS}");
                report.note(Note::about(format!("`{one}` and `{two}`"), kind));
            }
        }
    }

    /// The predicted motions of all solid colliders over `h`.
    fn predict(&self, h: f64) -> impl Iterator<Item = Sweep> {
        let gravity = Vector::from_array(self.parameters.gravity);
        // A stand-in that was enabled just now still has a disabled collider, until rapier's next step.
        let is_solid = |collider, of: &Collider| of.is_enabled() || self.rules.knows(collider);
        self.state.colliders.iter().filter(move |(collider, of)| is_solid(*collider, of)).filter_map(
            move |(collider, of)| {
                let extent = self.extent_of(collider)?;
                let still = (Vector::ZERO, Vector::ZERO);
                let body = of.parent().map(|body| &self.state.bodies[body]);
                let (linear, angular) = match body {
                    Some(body) if !body.is_enabled() => return None,
                    Some(body) if body.is_dynamic() => {
                        let acceleration = gravity * body.gravity_scale() + body.user_force() / body.mass();
                        (body.linvel() + acceleration * h, body.angvel())
                    }
                    Some(body) if body.body_type() == RigidBodyType::KinematicVelocityBased => {
                        (body.linvel(), body.angvel())
                    }
                    Some(body) if body.is_kinematic() => {
                        let (from, to) = (body.position(), body.next_position());
                        let turn = rotation(to.rotation) * rotation(from.rotation).inverse();
                        let centre = body.local_center_of_mass();
                        ((to * centre - from * centre) / h, Vector::from_array((turn.scaled_axis() / h).into()))
                    }
                    _ => still,
                };
                // No point of a body that turns ends farther away than its diameter.
                let turn = (angular.length() * h).min(2.0) * extent.radius;
                Some(Sweep {
                    collider,
                    body: of.parent(),
                    moves_freely: body.is_some_and(RigidBody::is_dynamic),
                    extent,
                    linear,
                    angular,
                    turn,
                    displacement: linear.length() * h + turn,
                })
            },
        )
    }

    fn swept(&self, sweep: &Sweep, h: f64) -> Swept {
        let collider = &self.state.colliders[sweep.collider];
        let start = self.pose_of_collider(collider);
        let here = collider.shape().compute_aabb(&start).loosened(sweep.turn + collider.contact_skin());
        let there = Aabb::new(here.mins + sweep.linear * h, here.maxs + sweep.linear * h);
        Swept { start, centre: self.centre_in(collider), bounds: here.merged(&there) }
    }

    /// Rapier's own copy may be that of its last step.
    fn pose_of_collider(&self, collider: &Collider) -> Pose {
        collider.parent().map_or(*collider.position(), |body| self.state.bodies[body].position() * place_of(collider))
    }

    /// Centre of mass of a collider's body, in the axes of the collider.
    fn centre_in(&self, collider: &Collider) -> Vector {
        let Some(body) = collider.parent() else { return Vector::ZERO };
        place_of(collider).inverse() * self.state.bodies[body].local_center_of_mass()
    }

    /// Whether two colliders collide by the rules of the world, and come close enough, fast enough.
    fn may_pass(&self, (a, a_swept): &(Sweep, Swept), (b, b_swept): &(Sweep, Swept), prediction: f64) -> bool {
        let half_thickness = a.extent.half_thickness + b.extent.half_thickness;
        if a.body == b.body
            || !(a.moves_freely || b.moves_freely)
            || a.displacement + b.displacement <= Sweep::safe_displacement(prediction, half_thickness)
            || !a_swept.bounds.intersects(&b_swept.bounds)
        {
            return false;
        }
        let (one, two) = (&self.state.colliders[a.collider], &self.state.colliders[b.collider]);
        let pair = PairFilterContext {
            bodies: &self.state.bodies,
            colliders: &self.state.colliders,
            rigid_body1: a.body,
            rigid_body2: b.body,
            collider1: a.collider,
            collider2: b.collider,
        };
        let is_joined_without_contacts = || {
            let bodies = a.body.zip(b.body);
            bodies.is_some_and(|(a, b)| {
                self.state.joints.joints_between(a, b).any(|(_, joint)| !joint.data.contacts_enabled())
            })
        };
        one.collision_groups().test(two.collision_groups())
            && one.solver_groups().test(two.solver_groups())
            && self.rules.filter_contact_pair(&pair).is_some()
            && !is_joined_without_contacts()
    }

    /// The collision of two colliders, if it is before `end` and too fast for the length `h` of the substep.
    fn impact_of(
        &self,
        (a, a_swept): &(Sweep, Swept),
        (b, b_swept): &(Sweep, Swept),
        end: f64,
        h: f64,
    ) -> Option<Impact> {
        let (one, two) = (&self.state.colliders[a.collider], &self.state.colliders[b.collider]);
        let (start_one, start_two) = (&a_swept.start, &b_swept.start);
        let half_thickness = a.extent.half_thickness + b.extent.half_thickness;
        let prediction = self.integration.prediction_distance();
        // Velocity at time t of a point that is given in the axes of its collider.
        let velocity = |s: &Sweep, of: &Swept, point: Vector, t: f64| {
            let turned = Rotation::from_scaled_axis(s.angular * t) * of.start.rotation;
            s.linear + s.angular.cross(turned * (point - of.centre))
        };
        // A collision at time t, unless they slide along each other or approach slowly enough for rapier.
        let impact = |t: f64, normal: Vector, [point_one, point_two]: [Vector; 2]| {
            let normal = Rotation::from_scaled_axis(a.angular * t) * start_one.rotation * normal;
            let approach = normal.dot(velocity(a, a_swept, point_one, t) - velocity(b, b_swept, point_two, t));
            (approach * h > Sweep::safe_displacement(prediction, half_thickness)).then(|| Impact {
                time: t,
                of_prediction: prediction / approach,
                bodies: [a.body, b.body],
            })
        };
        if let Ok(Some(near)) = contact(start_one, one.shape(), start_two, two.shape(), prediction) {
            // Here points and normal are in the world's axes.
            let points = [start_one.inverse() * near.point1, start_two.inverse() * near.point2];
            return impact(0.0, start_one.rotation.inverse() * near.normal1, points);
        }
        let hit = if a.turn + b.turn > SAFE_APPROACH * half_thickness {
            let motion = |s: &Sweep, of: &Swept| NonlinearRigidMotion::new(of.start, of.centre, s.linear, s.angular);
            let (first, second) = (motion(a, a_swept), motion(b, b_swept));
            cast_shapes_nonlinear(&first, one.shape(), &second, two.shape(), 0.0, end, false)
        } else {
            let options = ShapeCastOptions {
                max_time_of_impact: end,
                target_distance: one.contact_skin() + two.contact_skin(),
                stop_at_penetration: false,
                compute_impact_geometry_on_penetration: false,
            };
            cast_shapes(start_one, a.linear, one.shape(), start_two, b.linear, two.shape(), options)
        };
        let hit = hit.ok()??;
        impact(hit.time_of_impact, hit.normal1, [hit.witness1, hit.witness2])
    }
}

/// Pose of a collider in the axes of its body.
fn place_of(collider: &Collider) -> Pose {
    collider.position_wrt_parent().copied().unwrap_or(Pose::IDENTITY)
}

fn extent(collider: &Collider, centre: Vector) -> Extent {
    let shape = collider.shape();
    let bounds = shape.compute_local_aabb();
    let farthest = (bounds.center() - centre).abs() + bounds.half_extents();
    match shape.as_typed_shape() {
        TypedShape::HalfSpace(_) => Extent { half_thickness: f64::INFINITY, radius: 0.0 },
        _ => Extent { half_thickness: half_thickness(shape), radius: vector(farthest).norm() },
    }
}

fn half_thickness(shape: &dyn Shape) -> f64 {
    match shape.as_typed_shape() {
        TypedShape::TriMesh(_) | TypedShape::HeightField(_) | TypedShape::Triangle(_) | TypedShape::Polyline(_) => 0.0,
        TypedShape::Compound(compound) => {
            compound.shapes().iter().map(|(_, part)| half_thickness(&**part)).fold(f64::INFINITY, f64::min)
        }
        _ => shape.compute_local_aabb().half_extents().min_element(),
    }
}
