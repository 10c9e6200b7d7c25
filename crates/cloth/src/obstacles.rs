//! Guides as obstacles of contact.

use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use partita_contact::{ContactError, ContactRates, Contacts, Obstacle, Path, Report, Shape, Touch};
use partita_mesh::Mesh;
use partita_simulator::{
    Carrier, Guide, HandleState, Motion, Note, Primitive, PrimitiveShape, Reaction, SimulatorError, StepReport,
    Surface, Wrench,
};

type V3 = Vector3<f64>;

/// Which guides are obstacles, in their order, and where those that deform are.
#[derive(Default)]
pub struct Obstacles {
    guides: Vec<usize>,
    /// Frame of each obstacle in the axes of the carrying Frame: that of a primitive, else the identity.
    frames: Vec<Isometry3<f64>>,
    /// Of each, at the begin and end of a part of a step; empty for what does not deform.
    points: Vec<[Vec<V3>; 2]>,
}

impl Obstacles {
    /// Of guides, and what contact knows of them.
    pub fn new(guides: &[Guide]) -> (Self, Vec<Obstacle>) {
        let (mut own, mut obstacles) = (Self::default(), vec![]);
        for (number, guide) in guides.iter().enumerate() {
            if let Some((obstacle, frame)) = obstacle(guide) {
                own.guides.push(number);
                own.frames.push(frame);
                own.points.push(Default::default());
                obstacles.push(obstacle);
            }
        }
        (own, obstacles)
    }

    /// The guide that an obstacle is.
    pub fn guide(&self, obstacle: u32) -> usize {
        self.guides[obstacle as usize]
    }

    /// Takes over where what deforms is. Guides without a motion are absent.
    pub fn place(&mut self, guides: &[Guide], motions: &[Option<Motion>]) {
        for (points, &number) in self.points.iter_mut().zip(&self.guides) {
            points.iter_mut().for_each(Vec::clear);
            let (Guide::Obstacle { surface, .. }, Some(Some(motion))) = (&guides[number], motions.get(number)) else {
                continue;
            };
            if let Carrier::Points(_) = surface.carrier {
                for (points, states) in points.iter_mut().zip([&motion.begin, &motion.end]) {
                    points.extend(states.iter().map(|state| V3::from(state.position)));
                }
            }
        }
    }

    /// Checks that no obstacle is through cloth at these positions `[m]` where no motion is known that leads them apart.
    ///
    /// # Errors
    /// Names the surfaces, and how many triangles of the cloth cross each.
    pub fn check_start(
        &mut self,
        contacts: &mut Contacts,
        guides: &[Guide],
        motions: &[Option<Motion>],
        positions: &[V3],
    ) -> Result<(), SimulatorError> {
        self.place(guides, motions);
        let through = contacts.find_through(positions, &self.paths(motions)).map_err(not_apart)?;
        let crossed = through.iter().filter_map(|&[obstacle, triangles]| match &guides[self.guide(obstacle)] {
            Guide::Obstacle { surface, .. } => Some(format!("{triangles} triangles through `{}`", surface.name)),
            Guide::Attachment { .. } => None,
        });
        let found: Vec<String> = crossed.collect();
        if found.is_empty() {
            return Ok(());
        }
        Err(SimulatorError::refused(
            "cloth",
            found.join(", "),
            "cloth that is on the near side of each body, or can get there: move the cloth or the body apart",
        ))
    }

    /// How each goes in a part of a step.
    pub fn paths<'a>(&'a self, motions: &[Option<Motion>]) -> Vec<Path<'a>> {
        let of = |(points, (&number, frame)): (&'a [Vec<V3>; 2], (&usize, &Isometry3<f64>))| match (
            motions.get(number),
            points,
        ) {
            (None | Some(None), _) => Path::Absent,
            (Some(Some(motion)), [begin, _]) if begin.is_empty() => {
                Path::Frame { begin: pose_of(&motion.begin[0]) * frame, end: pose_of(&motion.end[0]) * frame }
            }
            (Some(Some(_)), [begin, end]) => Path::Points { begin, end },
        };
        self.points.iter().zip(self.guides.iter().zip(&self.frames)).map(of).collect()
    }

    /// Adds the impulse `[N s]` of a contact to the reactions of its obstacle, with the positions of the
    /// cloth at the start and at the end of the motion `[m]`.
    pub fn book(
        &self,
        touch: &Touch,
        [starts, ends]: [&[V3]; 2],
        motions: &[Option<Motion>],
        contacts: &Contacts,
        reactions: &mut Vec<Reaction>,
    ) {
        let Some(guide) = touch.obstacle.map(|obstacle| self.guide(obstacle)) else { return };
        let Some(Some(motion)) = motions.get(guide) else { return };
        let reaction = |carrier: u32, impulse: Wrench| Reaction { guide: guide as u32, carrier, impulse };
        if let ([begin], [end]) = (&motion.begin[..], &motion.end[..]) {
            let parts = || touch.pair.parts(touch.weights, starts.len());
            let whole: f64 = parts().map(|(_, c)| c).sum();
            let arm_of = |positions: &[V3], frame: &HandleState| {
                parts().map(|(v, c)| c * positions[v]).sum::<V3>() / whole - V3::from(frame.position)
            };
            let impulse = -whole * touch.impulse;
            let arm = arm_of(starts, begin).lerp(&arm_of(ends, end), touch.at);
            let impulse = Wrench { linear: impulse.into(), angular: arm.cross(&impulse).into() };
            reactions.push(reaction(0, impulse));
        } else {
            for (&v, c) in touch.pair.vertices.iter().zip(touch.weights).filter(|(_, c)| *c != 0.0) {
                if let Some([_, carrier]) = contacts.owner_of(v) {
                    reactions.push(reaction(carrier, Wrench::force(c * touch.impulse)));
                }
            }
        }
    }

    /// Frame of an obstacle in the axes of the Frame that carries it.
    pub(crate) fn frame(&self, obstacle: u32) -> &Isometry3<f64> {
        &self.frames[obstacle as usize]
    }

    /// Impulses of the last [`Contacts::resolve`] on carriers, in a substep with these motions.
    pub fn reactions<'a>(
        &'a self,
        contacts: &'a Contacts,
        motions: &'a [Option<Motion>],
    ) -> impl Iterator<Item = Reaction> + 'a {
        contacts.reactions().iter().map(|reaction| {
            let guide = self.guide(reaction.obstacle);
            // About the carrier, which is where a primitive's own frame need not be.
            let arm = match motions.get(guide) {
                Some(Some(motion)) if motion.begin.len() == 1 => {
                    pose_of(&motion.begin[0]).rotation * self.frame(reaction.obstacle).translation.vector
                }
                _ => V3::zeros(),
            };
            let angular = reaction.angular + arm.cross(&reaction.linear);
            let impulse = Wrench { linear: reaction.linear.into(), angular: angular.into() };
            Reaction { guide: guide as u32, carrier: reaction.carrier, impulse }
        })
    }
}

/// The obstacle that a guide is, if it is one, and its frame in the axes of the carrying Frame.
fn obstacle(guide: &Guide) -> Option<(Obstacle, Isometry3<f64>)> {
    let Guide::Obstacle { surface, friction, restitution, thickness, except } = guide else { return None };
    let (shape, frame) = surface.primitive.as_ref().map_or_else(|| mesh(surface), exact);
    let is_mesh = matches!(shape, Shape::Mesh { .. });
    let obstacle = Obstacle::new(shape).friction(*friction).restitution(*restitution).thickness(*thickness);
    let obstacle = obstacle.except(except.iter().map(|handle| handle.index).collect());
    // A closed surface has an inside, an open one only sides.
    let closed = || Mesh::new(&surface.vertices, &surface.triangles).is_ok_and(|mesh| mesh.is_closed());
    let obstacle = if is_mesh && !surface.two_sided && !closed() { obstacle.one_sided() } else { obstacle };
    Some((obstacle, frame))
}

fn mesh(surface: &Surface) -> (Shape, Isometry3<f64>) {
    let Surface { vertices, triangles, lines, .. } = surface.clone();
    (Shape::Mesh { vertices, triangles, lines }, Isometry3::identity())
}

/// A primitive as it is, with its frame; the axes of round bodies lie along x in contact.
fn exact(primitive: &Primitive) -> (Shape, Isometry3<f64>) {
    let frame = pose(primitive.position, primitive.orientation);
    match primitive.shape {
        PrimitiveShape::HalfSpace => (Shape::HalfSpace, frame),
        PrimitiveShape::Ball { radius } => (Shape::Ball { radius }, frame),
        PrimitiveShape::Capsule { half_length, radius } => (Shape::Capsule { half_length, radius }, frame * along_y()),
        PrimitiveShape::Cylinder { half_length, radius } => {
            (Shape::Cylinder { half_length, radius }, frame * along_y())
        }
        PrimitiveShape::Cone { half_height, radius } => (Shape::Cone { half_height, radius }, frame * along_y()),
        PrimitiveShape::Cuboid { half_extents } => (Shape::Cuboid { half_extents }, frame),
    }
}

/// Turns x into y.
fn along_y() -> UnitQuaternion<f64> {
    UnitQuaternion::from_axis_angle(&V3::z_axis(), std::f64::consts::FRAC_PI_2)
}

fn pose_of(state: &HandleState) -> Isometry3<f64> {
    pose(state.position, state.orientation)
}

/// A position `[m]` and an orientation, (x, y, z, w) of a quaternion, as one.
pub fn pose(position: [f64; 3], [x, y, z, w]: [f64; 4]) -> Isometry3<f64> {
    Isometry3::from_parts(V3::from(position).into(), UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)))
}

/// Checks rates of contact.
///
/// # Errors
/// Names the first that is wrong, its value and the values it may have.
pub fn check_contact_rates(rates: &ContactRates) -> Result<(), SimulatorError> {
    let refused =
        |(thing, found, expected)| SimulatorError::refused(format!("contact_rates, {thing}"), found, expected);
    rates.mistake().map_or(Ok(()), |mistake| Err(refused(mistake)))
}

/// What a simulator says of contact that failed.
pub fn not_apart(error: ContactError) -> SimulatorError {
    SimulatorError::failed("contact", error, "cloth that can be kept apart")
}

/// Tells of what contact could not, or could only slowly, put right; once for all parts of a step.
pub fn note_contact(found: &Report, report: &mut StepReport) {
    let mut note = |does: bool, kind: &str| {
        if does {
            report.note(Note::new(kind));
        }
    };
    note(!found.pinched.is_empty(), "vertices are pinched between obstacles or pins");
    note(!found.tangled.is_empty(), "cloth crosses something at the start of the step and is led apart");
    note(found.led > 0, "cloth is inside an obstacle and is led out");
    note(found.unresolved > 0.0, "contact took all the work that a step may take; cloth may pass through something");
    if found.unresolved > 0.0 {
        report.outcome.note(found.unresolved, 0.0, "of a part of the step without contact");
    }
}
