//! Who leads whom, through which handles: the scene as the windows see it.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use partita_simulator::{HandleId, HandleState, HandleTable, Kind, Mobility, Motion, Wrench};
use serde::Serialize;

use crate::springs::SpringEnds;

/// One member of the plan: a simulator's place in the order of steps.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Member {
    pub name: String,
    /// Steps a window.
    pub substeps: u32,
    /// All its handles.
    pub table: HandleTable,
    /// Handles whose states are read after each step.
    pub watched: Vec<HandleId>,
    /// In the follower's numbering.
    pub guides: Vec<GuidePlan>,
    /// Takes part in some interface, so that iterations repeat it.
    pub coupled: bool,
    /// Uses responses of its guides' carriers.
    pub responds: bool,
}

/// Where a guide's motion comes from and where its reactions go.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct GuidePlan {
    pub interface: usize,
    pub leader: usize,
    pub carriers: Carriers,
    /// The follower's watched handle, of an attachment.
    pub own: Option<usize>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) enum Carriers {
    /// These watched handles of the leader; reactions go to these slots of the interface.
    Handles { watched: Vec<usize>, slots: Vec<usize> },
    /// A Point or Frame fixed in a watched Frame of the leader, at this pose in its axes.
    Fixed { watched: usize, slot: usize, kind: Kind, position: Vector3<f64>, orientation: UnitQuaternion<f64> },
}

/// All guides of one follower that one leader carries.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Interface {
    pub follower: usize,
    pub leader: usize,
    /// The leader's handles that take loads.
    pub slots: Vec<Slot>,
}

/// A handle of the leader that takes a load.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Slot {
    pub handle: HandleId,
    pub watched: usize,
    /// Of what the handle carries `[m]`; a torque over it is a force.
    pub extent: f64,
    /// Effective inverse mass, in the handle's own axes. Measured, so no part of what makes two
    /// scenes the same.
    #[serde(skip)]
    pub mobility: Mobility,
    /// Means of the stated or measured mobility over all directions, linear and angular, also for handles without
    /// contacts; none if it is unknown [1/kg, 1/(kg m²)].
    #[serde(skip)]
    pub inverse_masses: Option<[f64; 2]>,
    /// Whether others may move with it: its mobility is measured, not stated as that of a free
    /// body.
    #[serde(skip)]
    pub is_linked: bool,
    /// Number of the rigid body that the handle is, of all slots; none of a Point.
    #[serde(skip)]
    pub body: Option<u32>,
    /// Slots of other interfaces with the same handle.
    #[serde(skip)]
    pub others: Vec<[usize; 2]>,
    /// Whether a follower collides with what the handle carries.
    #[serde(skip)]
    pub collides: bool,
}

impl Slot {
    /// Whether a follower collides with the handle, and impulses move it.
    pub(crate) fn is_contact(&self) -> bool {
        self.collides && !self.mobility.is_zero()
    }
}

/// A spring between watched handles.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SpringPlan {
    pub ends: [(usize, usize); 2],
    pub handles: [HandleId; 2],
    pub stiffness: f64,
    pub damping: f64,
    pub rest_length: f64,
    /// Measured at the start, so no part of what makes two scenes the same.
    #[serde(skip)]
    pub measured: SpringEnds,
}

impl GuidePlan {
    /// The carriers' states, given the leader's watched ones.
    pub(crate) fn carrier_states<'a>(&'a self, leader: &'a [HandleState]) -> impl Iterator<Item = HandleState> + 'a {
        let (handles, fixed) = match &self.carriers {
            Carriers::Handles { watched, .. } => (watched.as_slice(), None),
            Carriers::Fixed { watched, kind, position, orientation, .. } => {
                (&[][..], Some(fixed_in(&leader[*watched], *kind, *position, *orientation)))
            }
        };
        handles.iter().map(|&i| leader[i]).chain(fixed)
    }

    /// Slots of the interface that reactions go to.
    pub(crate) fn slots(&self) -> impl Iterator<Item = usize> + '_ {
        let (handles, fixed) = match &self.carriers {
            Carriers::Handles { slots, .. } => (slots.as_slice(), None),
            Carriers::Fixed { slot, .. } => (&[][..], Some(*slot)),
        };
        handles.iter().copied().chain(fixed)
    }

    /// The reach of what a Frame is fixed to `[m]`; 0 for a Point, which has no angle to it.
    pub(crate) fn reach(&self, slots: &[Slot]) -> f64 {
        match &self.carriers {
            Carriers::Fixed { slot, kind: Kind::Frame, .. } => slots[*slot].extent,
            _ => 0.0,
        }
    }

    /// The slot and the wrench on it that result from an impulse on a carrier, if there is such a carrier.
    ///
    /// The lever arm is the mean of those in two states of the leader: the start and the end of the
    /// window in which the wrench acts. A mass m that a carrier leads from x₀ to x₁ changes its angular
    /// momentum by x₁ × m v₁ - x₀ × m v₀ = ½ (x₀ + x₁) × m (v₁ - v₀) + ½ (x₁ - x₀) × m (v₀ + v₁). The last
    /// term vanishes on lines and circles.
    pub(crate) fn onto_slot(
        &self,
        carrier: usize,
        impulse: Wrench,
        leader: [&[HandleState]; 2],
    ) -> Option<(usize, Wrench)> {
        match &self.carriers {
            Carriers::Handles { slots, .. } => Some((*slots.get(carrier)?, impulse)),
            Carriers::Fixed { .. } if carrier > 0 => None,
            Carriers::Fixed { watched, slot, position, .. } => {
                let [start, end] = leader.map(|states| orientation_of(&states[*watched]) * position);
                let arm = 0.5 * (start + end);
                let moment = arm.cross(&Vector3::from(impulse.linear)) + Vector3::from(impulse.angular);
                Some((*slot, Wrench { linear: impulse.linear, angular: moment.into() }))
            }
        }
    }
}

/// The state of a frame fixed at `position`, `orientation` in the axes of `frame`:
/// x = c + R p, v = v_c + ω × R p.
fn fixed_in(frame: &HandleState, kind: Kind, position: Vector3<f64>, orientation: UnitQuaternion<f64>) -> HandleState {
    let (turn, spin) = (orientation_of(frame), Vector3::from(frame.spin));
    let arm = turn * position;
    let point =
        HandleState::point(Vector3::from(frame.position) + arm, Vector3::from(frame.velocity) + spin.cross(&arm));
    match kind {
        Kind::Point => point,
        Kind::Frame => HandleState { orientation: (turn * orientation).coords.into(), spin: frame.spin, ..point },
    }
}

pub(crate) fn orientation_of(state: &HandleState) -> UnitQuaternion<f64> {
    let [x, y, z, w] = state.orientation;
    UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z))
}

/// A motion in the memory of an older one where nobody else holds that.
pub(crate) fn motion(
    old: Option<Motion>,
    begin: impl Iterator<Item = HandleState>,
    end: impl Iterator<Item = HandleState>,
) -> Motion {
    let mut motion = old.unwrap_or_else(|| Motion { begin: [].into(), end: [].into() });
    refill(&mut motion.begin, begin);
    refill(&mut motion.end, end);
    motion
}

fn refill(states: &mut std::sync::Arc<[HandleState]>, from: impl Iterator<Item = HandleState>) {
    match std::sync::Arc::get_mut(states) {
        Some(places) if !places.is_empty() => places.iter_mut().zip(from).for_each(|(place, state)| *place = state),
        _ => *states = from.collect(),
    }
}

/// Notes which slots of other interfaces have the same handle.
pub(crate) fn find_others(interfaces: &mut [Interface]) {
    let mut by_handle = BTreeMap::<_, Vec<[usize; 2]>>::new();
    for (i, interface) in interfaces.iter().enumerate() {
        for (s, slot) in interface.slots.iter().enumerate() {
            by_handle.entry((interface.leader, slot.watched)).or_default().push([i, s]);
        }
    }
    for (i, interface) in interfaces.iter_mut().enumerate() {
        for (s, slot) in interface.slots.iter_mut().enumerate() {
            let all = by_handle[&(interface.leader, slot.watched)].iter();
            slot.others = all.filter(|&&other| other != [i, s]).copied().collect();
        }
    }
}

/// Slots of handles that followers collide with, and that impulses move.
pub(crate) fn contacts(interfaces: &[Interface]) -> Vec<[usize; 2]> {
    let slots = interfaces
        .iter()
        .enumerate()
        .flat_map(|(i, interface)| interface.slots.iter().enumerate().map(move |(s, slot)| ([i, s], slot)));
    slots.filter(|(_, slot)| slot.is_contact()).map(|(index, _)| index).collect()
}

/// Members of a level in groups, so that no two of a group collide with one handle that impulses move: what the first of
/// them put on it counts for the next ([`crate::engine::Engine::expected`]).
pub(crate) fn one_after_the_other(level: &[usize], interfaces: &[Interface]) -> Vec<Vec<usize>> {
    let contacts = contacts(interfaces);
    let shared = contacts.iter().flat_map(|&[i, s]| {
        let others = interfaces[i].slots[s].others.iter().filter(|other| contacts.contains(other));
        others.map(move |&[j, _]| [interfaces[i].follower, interfaces[j].follower])
    });
    let shared: BTreeSet<[usize; 2]> = shared.collect();
    let mut groups: Vec<Vec<usize>> = vec![];
    for &m in level {
        let last = groups.iter().rposition(|group| group.iter().any(|&other| shared.contains(&[m, other])));
        let place = last.map_or(0, |last| last + 1);
        if place == groups.len() {
            groups.push(vec![]);
        }
        groups[place].push(m);
    }
    groups
}
