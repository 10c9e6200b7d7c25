//! What a step depends on besides its arguments.

use serde::{Deserialize, Serialize};

use crate::{ContactError, Contacts, pressed::Pressed, regions::Region};

/// What a step depends on besides its arguments.
///
/// It holds as long as the surface and every obstacle begin a step where they ended the one before. To begin with, and after
/// anything else (vertices moved by hand, an obstacle elsewhere at once), take that of [`Contacts::look`], or the default: then
/// nothing is inside anything, and whether anything crosses is looked for by the next step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct State {
    /// Vertex and obstacle, in order.
    pub(crate) inside: Vec<[u32; 2]>,
    /// Cloth that is led out of solids in regions.
    pub(crate) regions: Vec<Region>,
    /// Obstacles that cloth crosses with no motion known that mends it, and how many of its elements do.
    pub(crate) through: Vec<[u32; 2]>,
    /// Vertices that are let through with those that obstacles except, each with the number of the obstacle, in order.
    pub(crate) embedded: Vec<[u32; 2]>,
    /// Obstacles that were not there in the last step, in order.
    pub(crate) absent: Vec<u32>,
    /// Vertex and obstacle, in order, where another obstacle behind the vertex stops this one: the vertex does not.
    pub(crate) borne: Vec<[u32; 2]>,
    /// Vertices between obstacles that press against each other in the next step.
    pub(crate) pressed: Vec<Pressed>,
    /// Whether the last step left collisions, so that parts of the cloth may touch which nothing keeps on a side.
    pub(crate) unresolved: bool,
    /// Whether it is known that nothing crosses.
    pub(crate) apart: bool,
}

impl State {
    /// State of a surface of which nothing is known yet, among so many obstacles: its first step looks for what is inside which.
    pub fn unseen(obstacles: usize) -> Self {
        Self { absent: (0..obstacles as u32).collect(), ..Self::default() }
    }

    /// Vertices that are being led out of obstacles, each with the number of the obstacle, in order.
    pub fn inside(&self) -> &[[u32; 2]] {
        &self.inside
    }

    /// Whether it is known that no edge of the surface passes through it or an obstacle, and no obstacle's through it.
    pub fn is_apart(&self) -> bool {
        self.apart
    }

    /// Forgets loads by which obstacles press cloth between them, where [`Contacts::stops`] is not asked.
    pub fn forget_loads(&mut self) {
        self.borne.clear();
        self.pressed.clear();
    }

    pub(crate) fn holds(&self, vertex: u32, obstacle: u32) -> bool {
        self.inside.binary_search(&[vertex, obstacle]).is_ok()
    }

    /// One that was read from somewhere need not be of this surface.
    pub(crate) fn check(&self, contacts: &Contacts) -> Result<(), ContactError> {
        let (vertices, obstacles) = (contacts.features.vertices(), contacts.obstacles.len());
        let in_order =
            self.inside.is_sorted() && self.embedded.is_sorted() && self.borne.is_sorted() && self.absent.is_sorted();
        let known =
            self.inside.iter().chain(&self.embedded).all(|&[v, o]| (v as usize) < vertices && (o as usize) < obstacles);
        let known = known && self.regions.iter().all(|region| region.is_of(contacts));
        let of_pressed = |pressed: &Pressed| {
            let obstacles = pressed.sides.iter().all(|side| (side.obstacle as usize) < obstacles);
            (pressed.vertex as usize) < vertices && obstacles
        };
        let known = known && self.pressed.iter().all(of_pressed);
        let good = in_order && known && self.absent.iter().all(|&o| (o as usize) < obstacles);
        if good { Ok(()) } else { Err(ContactError::State { vertices, obstacles }) }
    }
}
