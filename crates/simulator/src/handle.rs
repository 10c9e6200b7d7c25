//! Handles: what others may read and load. Words for things, numbers for the machine.

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use crate::{SimulatorError, layout_of};

/// Names one handle of one simulator.
///
/// `owner` is [`owner_of`] the simulator's kind and name, the same in every process, so a handle of
/// another simulator is recognised and a scene needs no second numbering.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct HandleId {
    /// Whose it is.
    pub owner: u64,
    /// Which of the owner's handles.
    pub index: u32,
}

impl From<HandleId> for Vec<HandleId> {
    fn from(handle: HandleId) -> Self {
        vec![handle]
    }
}

/// What a handle holds on to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Kind {
    /// A material point: a particle, a vertex, a point fixed in a triangle or a body.
    Point,
    /// A rigid frame. That of a free body sits at its centre of mass.
    Frame,
}

/// A named run of handles of one kind; three thousand vertices are one group.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HandleGroup {
    /// Unique within the table.
    pub name: String,
    /// Of every handle of the group.
    pub kind: Kind,
    /// Index of the first.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// All handles of a simulator. Configuration, not state: it only grows and is in no snapshot.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct HandleTable {
    owner: u64,
    groups: Vec<HandleGroup>,
}

impl<'de> Deserialize<'de> for HandleTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename = "HandleTable")]
        struct Unchecked {
            owner: u64,
            groups: Vec<HandleGroup>,
        }
        let Unchecked { owner, groups } = Unchecked::deserialize(deserializer)?;
        let mut table = Self { owner, groups: Vec::with_capacity(groups.len()) };
        for HandleGroup { name, kind, first, count } in groups {
            let added = table.add(&name, kind, count).map_err(D::Error::custom)?;
            if added.index != first {
                return Err(D::Error::custom(format!("handle group `{name}` begins at {first}, not {}", added.index)));
            }
        }
        Ok(table)
    }
}

/// The owner number of a simulator: a hash of its kind ("particles") and its name ("hail").
pub fn owner_of(kind: &str, name: &str) -> u64 {
    layout_of(&(kind, name))
}

impl HandleTable {
    /// An empty table for the simulator `name` of kind `kind`.
    pub fn new(kind: &str, name: &str) -> Self {
        Self { owner: owner_of(kind, name), groups: Vec::new() }
    }

    /// As in [`HandleId::owner`].
    pub fn owner(&self) -> u64 {
        self.owner
    }

    /// In the order of their indices, without gaps.
    pub fn groups(&self) -> &[HandleGroup] {
        &self.groups
    }

    /// The handle number `index`. If there is none, whoever uses it says so.
    pub fn handle(&self, index: u32) -> HandleId {
        HandleId { owner: self.owner, index }
    }

    /// Number of handles.
    pub fn len(&self) -> u32 {
        self.groups.last().map_or(0, |group| group.first + group.count)
    }

    /// Whether there is no handle at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends `count` handles under `name`.
    ///
    /// # Errors
    /// `name` is taken, or there would be more than `u32::MAX` handles.
    pub fn add(&mut self, name: &str, kind: Kind, count: u32) -> Result<HandleId, SimulatorError> {
        if self.groups.iter().any(|group| group.name == name) {
            return Err(SimulatorError::refused("handle name", format!("`{name}` twice"), "a name used once"));
        }
        let first = self.room_for(count)?;
        self.groups.push(HandleGroup { name: name.into(), kind, first, count });
        Ok(self.handle(first))
    }

    /// Appends `count` handles to the last group and gives the first of them.
    ///
    /// # Errors
    /// There is no group, or there would be more than `u32::MAX` handles.
    pub fn extend(&mut self, count: u32) -> Result<HandleId, SimulatorError> {
        let first = self.room_for(count)?;
        let Some(group) = self.groups.last_mut() else {
            return Err(SimulatorError::refused("handle group", "none", "a group to extend"));
        };
        group.count += count;
        Ok(self.handle(first))
    }

    /// The number of the next handle, if `count` more have numbers.
    fn room_for(&self, count: u32) -> Result<u32, SimulatorError> {
        let first = self.len();
        match first.checked_add(count) {
            Some(_) => Ok(first),
            None => Err(SimulatorError::refused("handle count", format!("{first} + {count}"), "at most u32::MAX")),
        }
    }

    /// The group `name`.
    pub fn group(&self, name: &str) -> Option<&HandleGroup> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// All handles, in order.
    pub fn iter(&self) -> impl Iterator<Item = HandleId> + '_ {
        (0..self.len()).map(|index| self.handle(index))
    }

    /// The kind of `handle`.
    ///
    /// # Errors
    /// The handle belongs to another simulator or does not exist.
    pub fn kind(&self, handle: HandleId) -> Result<Kind, SimulatorError> {
        self.check(handle)?;
        let after = self.groups.partition_point(|group| group.first <= handle.index);
        Ok(self.groups[after - 1].kind)
    }

    /// [`crate::Simulator::read`] for a simulator that knows the state of its handle number `i`:
    /// all handles are checked before the first state is written.
    ///
    /// # Errors
    /// A handle is foreign or unknown, or `out` has another length.
    pub fn read_with(
        &self,
        handles: &[HandleId],
        out: &mut [HandleState],
        state: impl Fn(usize) -> HandleState,
    ) -> Result<(), SimulatorError> {
        if handles.len() != out.len() {
            return Err(SimulatorError::refused(
                "read",
                format!("{} places", out.len()),
                format!("{} handles", handles.len()),
            ));
        }
        handles.iter().try_for_each(|&handle| self.check(handle))?;
        handles.iter().zip(out).for_each(|(handle, place)| *place = state(handle.index as usize));
        Ok(())
    }

    /// A name for messages: the group's, with the position in it where the group has several.
    pub fn describe(&self, handle: HandleId) -> String {
        let group = self.groups.iter().rfind(|group| group.first <= handle.index && self.check(handle).is_ok());
        match group {
            Some(group) if group.count == 1 => group.name.clone(),
            Some(group) => format!("{}[{}]", group.name, handle.index - group.first),
            None => format!("{:x}/{}", handle.owner, handle.index),
        }
    }

    /// Checks that `handle` is one of these.
    ///
    /// # Errors
    /// The handle belongs to another simulator or does not exist.
    pub fn check(&self, handle: HandleId) -> Result<(), SimulatorError> {
        if handle.owner != self.owner {
            let found = format!("owner {:x}", handle.owner);
            return Err(SimulatorError::refused("handle", found, format!("owner {:x}", self.owner)));
        }
        if handle.index >= self.len() {
            return Err(SimulatorError::refused(
                "handle",
                format!("index {}", handle.index),
                format!("below {}", self.len()),
            ));
        }
        Ok(())
    }
}

/// Where a handle is and how it moves, in the world's frame.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct HandleState {
    /// Position `[m]`.
    pub position: [f64; 3],
    /// Velocity `[m/s]`.
    pub velocity: [f64; 3],
    /// Unit quaternion (x, y, z, w); the identity for a Point.
    pub orientation: [f64; 4],
    /// Angular velocity `[rad/s]`; zero for a Point.
    pub spin: [f64; 3],
}

impl Default for HandleState {
    fn default() -> Self {
        Self { position: [0.0; 3], velocity: [0.0; 3], orientation: [0.0, 0.0, 0.0, 1.0], spin: [0.0; 3] }
    }
}

impl HandleState {
    /// The state of a Point.
    pub fn point(position: impl Into<[f64; 3]>, velocity: impl Into<[f64; 3]>) -> Self {
        Self { position: position.into(), velocity: velocity.into(), ..Self::default() }
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        let numbers = self.position.iter().chain(&self.velocity).chain(&self.orientation).chain(&self.spin);
        numbers.into_iter().all(|number| number.is_finite())
    }
}

/// Force and torque `[N, N m]` as a load, or their impulses `[N s, N m s]`, at a handle and moving
/// with it, in world axes. A Point takes no torque.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Wrench {
    /// Force `[N]` or impulse `[N s]`.
    pub linear: [f64; 3],
    /// Torque `[N m]` or its impulse `[N m s]`, about the handle.
    pub angular: [f64; 3],
}

impl Wrench {
    /// No force, no torque.
    pub const ZERO: Self = Self { linear: [0.0; 3], angular: [0.0; 3] };

    /// A force (or impulse) without torque.
    pub fn force(linear: impl Into<[f64; 3]>) -> Self {
        Self { linear: linear.into(), angular: [0.0; 3] }
    }

    /// A torque (or its impulse) without force.
    pub fn torque(angular: impl Into<[f64; 3]>) -> Self {
        Self { linear: [0.0; 3], angular: angular.into() }
    }

    /// Both parts times `factor`.
    pub fn scaled(self, factor: f64) -> Self {
        Self { linear: self.linear.map(|x| x * factor), angular: self.angular.map(|x| x * factor) }
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.linear.iter().chain(&self.angular).all(|x| x.is_finite())
    }
}

impl std::ops::Add for Wrench {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let sum = |a: [f64; 3], b: [f64; 3]| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
        Self { linear: sum(self.linear, other.linear), angular: sum(self.angular, other.angular) }
    }
}

impl std::ops::AddAssign for Wrench {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl std::ops::Neg for Wrench {
    type Output = Self;

    fn neg(self) -> Self {
        self.scaled(-1.0)
    }
}

impl std::ops::Sub for Wrench {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}
