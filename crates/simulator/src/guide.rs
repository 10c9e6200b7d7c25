//! Guides, what a follower gives way to, and the inputs of a step.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Carrier, HandleId, HandleState, Kind, Response, Surface, Wrench};

/// Something of another simulator that this one gives way to. It never learns whose it is; guides
/// are numbered as they were given.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Guide {
    /// The own handle ends the step with the position and velocity of its carrier, which is of the
    /// same kind.
    Attachment {
        /// Which of the own handles.
        own: HandleId,
    },
    /// A surface that must not be crossed. The coefficients are those of this pair, used as they are.
    Obstacle {
        /// Shape and kind of carrier.
        surface: Arc<Surface>,
        /// Coulomb friction coefficient `[-]`.
        friction: f64,
        /// Coefficient of restitution `[-]`.
        restitution: f64,
        /// Distance kept `[m]`, on top of the own.
        thickness: f64,
        /// Own handles that do not meet it.
        except: Vec<HandleId>,
    },
}

impl Guide {
    /// How many handles carry it: one, or one a vertex.
    pub fn carriers(&self) -> usize {
        match self {
            Self::Attachment { .. } => 1,
            Self::Obstacle { surface, .. } => surface.carrier.handles().len(),
        }
    }
}

/// A guide's carriers at the begin and at the end of a step.
///
/// Between the two an obstacle moves linearly (Points) or by lerp and slerp (Frame) and has *the
/// velocity of that path*: \[PD97\] footnote 3 interpolates the end velocities instead, with which
/// particles that rest on an accelerating box fall through it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Motion {
    /// At the begin, one a carrier.
    pub begin: Arc<[HandleState]>,
    /// At the end.
    pub end: Arc<[HandleState]>,
}

/// All that acts on one step from outside. Nothing of it outlives the step.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Inputs {
    /// Forces on own handles, constant over the step `[N, N m]`; several on one handle add up in this order.
    pub loads: Vec<(HandleId, Wrench)>,
    /// Impulses on own handles that act at the start of the step, all at once `[N s, N m s]`.
    pub impulses: Vec<(HandleId, Wrench)>,
    /// One a guide, or empty. `None`: the guide does not act in this step.
    pub motions: Vec<Option<Motion>>,
    /// Responses of each guide's carriers, one a guide, or empty. `None`: no impulse moves them.
    pub responses: Vec<Option<Arc<[Response]>>>,
}

impl Inputs {
    /// A free step.
    pub const NONE: &Self =
        &Self { loads: Vec::new(), impulses: Vec::new(), motions: Vec::new(), responses: Vec::new() };
}

/// What a simulator can follow; a scene refuses the rest before its first step.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Follows {
    /// Attachments of Points.
    pub points: bool,
    /// Attachments of Frames.
    pub frames: bool,
    /// Obstacles carried by a Frame.
    pub rigid_surfaces: bool,
    /// Obstacles carried by Points.
    pub deforming_surfaces: bool,
    /// Obstacles that have lines and no triangles.
    pub lines: bool,
    /// Impacts, by the responses of carriers, where it cannot give way. Without, it is given no responses.
    pub impacts: bool,
    /// How far an attached own handle may end from its carrier `[m]`; 0 for exactly.
    pub tolerance: f64,
}

impl Follows {
    /// What an attachment of an own handle of this kind is called, and whether it can be followed.
    pub fn attachment(&self, own: Kind) -> (&'static str, bool) {
        match own {
            Kind::Point => ("an attached Point", self.points),
            Kind::Frame => ("an attached Frame", self.frames),
        }
    }

    /// What such an obstacle is called, and whether it can be followed.
    pub fn obstacle(&self, surface: &Surface) -> (&'static str, bool) {
        if surface.triangles.is_empty() && !surface.lines.is_empty() && !self.lines {
            return ("an obstacle of lines", false);
        }
        match surface.carrier {
            Carrier::Frame(_) => ("a rigid obstacle", self.rigid_surfaces),
            Carrier::Points(_) => ("a deforming obstacle", self.deforming_surfaces),
        }
    }
}
