//! From a scene to a run: every mistake is found here, before the first step.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use nalgebra::{UnitQuaternion, Vector3};
use partita_simulator::{Carrier, Guide, HandleId, HandleState, Kind, Simulator, Surface, check_pair};

use crate::{
    Error, Mistake, Mistakes, Run, Scene,
    engine::Engine,
    plan::{Carriers, GuidePlan, Interface, Member, Slot, SpringPlan, orientation_of},
    scene::{Attach, Contact, Spring},
    worker::{Seat, Worker},
};

/// Attached Points may start this far apart `[m]`; further, and the follower would jump.
const TOUCHING: f64 = 1e-6;

pub(crate) fn build(scene: Scene) -> Result<Run, Error> {
    let mut builder = Builder::new(scene);
    builder.check_simulators();
    builder.check_numbers();
    builder.plan_attachments();
    builder.plan_contacts();
    builder.plan_springs();
    let order = builder.order();
    builder.follow();
    if !builder.mistakes.is_empty() {
        return Err(Error::Scene(Mistakes(builder.mistakes)));
    }
    builder.into_run(order)
}

struct Builder {
    scene: Scene,
    members: Vec<Member>,
    interfaces: Vec<Interface>,
    /// By follower, as it will number them.
    guides: Vec<Vec<Guide>>,
    springs: Vec<SpringPlan>,
    /// Number of each watched handle, by member.
    watched: BTreeMap<(usize, HandleId), usize>,
    /// Number of each slot, by interface.
    slots: BTreeMap<(usize, HandleId), usize>,
    mistakes: Vec<Mistake>,
}

/// Where a handle is: member, watched number, state now.
struct Found {
    member: usize,
    watched: usize,
    kind: Kind,
    state: HandleState,
}

impl Builder {
    fn new(scene: Scene) -> Self {
        let member = |simulator: &dyn Simulator| Member {
            name: simulator.name().into(),
            substeps: 1,
            table: simulator.handles().clone(),
            watched: Vec::new(),
            guides: Vec::new(),
            coupled: false,
        };
        let members: Vec<_> = scene.simulators.iter().map(|simulator| member(&**simulator)).collect();
        let guides = vec![Vec::new(); members.len()];
        Self {
            scene,
            members,
            interfaces: Vec::new(),
            guides,
            springs: Vec::new(),
            watched: BTreeMap::new(),
            slots: BTreeMap::new(),
            mistakes: Vec::new(),
        }
    }

    fn check_simulators(&mut self) {
        if self.members.is_empty() {
            self.mistakes.push(Mistake::Empty);
        }
        let mut seen = BTreeSet::new();
        for member in &self.members {
            if !seen.insert(&member.name) {
                self.mistakes.push(Mistake::NameTwice(member.name.clone()));
            }
        }
        let times: Vec<_> =
            self.scene.simulators.iter().map(|simulator| (simulator.name().to_string(), simulator.time())).collect();
        for (name, time) in &times {
            if *time != times[0].1 {
                self.wrong(
                    format!("time of `{name}`"),
                    format!("{time} s"),
                    format!("{} s as in `{}`", times[0].1, times[0].0),
                );
            }
        }
    }

    fn check_numbers(&mut self) {
        let dt = self.scene.rate.dt;
        if !(dt.is_finite() && dt > 0.0) {
            self.wrong("window of the rate [s]", dt, "finite, above 0");
        }
        let rewind = self.scene.rewind;
        if !(rewind.share >= 0.0 && rewind.share <= 1.0) {
            self.wrong("rewind, share", rewind.share, "from 0 to 1");
        }
        if rewind.marks < 2 {
            self.wrong("rewind, marks", rewind.marks, "at least 2");
        }
        for (thing, found, expected) in self.scene.scheme.mistakes() {
            self.wrong(thing, found, expected);
        }
        for (name, n) in std::mem::take(&mut self.scene.substeps) {
            let coupling = format!("substeps of `{name}`");
            if n == 0 {
                self.wrong(&coupling, n, "at least 1");
            }
            if let Some(member) = self.named(&coupling, &name) {
                self.members[member].substeps = n;
            }
        }
    }

    fn wrong(&mut self, thing: impl ToString, found: impl ToString, expected: impl ToString) {
        let (thing, found, expected) = (thing.to_string(), found.to_string(), expected.to_string());
        self.mistakes.push(Mistake::Value { thing, found, expected });
    }

    fn bad_coupling(&mut self, coupling: &str, found: impl ToString, expected: impl ToString) {
        let (coupling, found, expected) = (coupling.to_string(), found.to_string(), expected.to_string());
        self.mistakes.push(Mistake::Coupling { coupling, found, expected });
    }

    fn named(&mut self, coupling: &str, name: &str) -> Option<usize> {
        let found = self.members.iter().position(|member| member.name == name);
        if found.is_none() {
            let known: Vec<_> = self.members.iter().map(|member| format!("`{}`", member.name)).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            self.mistakes.push(Mistake::UnknownName { coupling: coupling.into(), name: name.into(), known });
        }
        found
    }

    /// Finds a handle and watches it.
    fn find(&mut self, coupling: &str, handle: HandleId) -> Option<Found> {
        let owner = self.scene.simulators.iter().position(|simulator| simulator.handles().owner == handle.owner);
        let Some(member) = owner else {
            let found = format!("a handle of none of them (owner {:x})", handle.owner);
            self.bad_coupling(coupling, found, "a handle of a simulator of this scene");
            return None;
        };
        let simulator = &self.scene.simulators[member];
        let mut state = [HandleState::default()];
        match simulator.handles().kind(handle).and_then(|kind| simulator.read(&[handle], &mut state).map(|()| kind)) {
            Ok(kind) => Some(Found { member, watched: self.watch(member, handle), kind, state: state[0] }),
            Err(error) => {
                self.mistakes.push(Mistake::Handle { coupling: coupling.into(), error });
                None
            }
        }
    }

    fn watch(&mut self, member: usize, handle: HandleId) -> usize {
        let watched = &mut self.members[member].watched;
        *self.watched.entry((member, handle)).or_insert_with(|| {
            watched.push(handle);
            watched.len() - 1
        })
    }

    fn interface(&mut self, follower: usize, leader: usize) -> usize {
        let known =
            self.interfaces.iter().position(|interface| (interface.follower, interface.leader) == (follower, leader));
        known.unwrap_or_else(|| {
            self.interfaces.push(Interface { follower, leader, slots: Vec::new() });
            self.interfaces.len() - 1
        })
    }

    fn slot(&mut self, interface: usize, handle: HandleId, watched: usize) -> usize {
        let Interface { leader, slots, .. } = &mut self.interfaces[interface];
        let leader = &*self.scene.simulators[*leader];
        *self.slots.entry((interface, handle)).or_insert_with(|| {
            slots.push(Slot { handle, watched, extent: extent(leader, handle) });
            slots.len() - 1
        })
    }

    fn plan_attachments(&mut self) {
        let mut attached = BTreeSet::new();
        for (number, Attach { own, to }) in std::mem::take(&mut self.scene.attachments).into_iter().enumerate() {
            let coupling = format!("attachment {number}");
            if own.is_empty() {
                self.bad_coupling(&coupling, "no handle", "at least one");
            }
            if to.len() != 1 && to.len() != own.len() {
                self.bad_coupling(
                    &coupling,
                    format!("{} handles to {}", own.len(), to.len()),
                    "one to attach to, or one for each",
                );
                continue;
            }
            for (i, &handle) in own.iter().enumerate() {
                let carrier = if to.len() == 1 { to[0] } else { to[i] };
                if !attached.insert(handle) {
                    self.bad_coupling(&coupling, format!("handle {i} is attached twice"), "once");
                    continue;
                }
                let (own, carrier) = (self.find(&coupling, handle), self.find(&coupling, carrier));
                if let (Some(own), Some(carrier)) = (own, carrier) {
                    self.plan_attachment(&coupling, handle, own, carrier);
                }
            }
        }
    }

    fn plan_attachment(&mut self, coupling: &str, handle: HandleId, own: Found, carrier: Found) {
        let (follower, leader) = (own.member, carrier.member);
        if follower == leader {
            return self.bad_coupling(coupling, "both handles of one simulator", "handles of two");
        }
        let follows = self.scene.simulators[follower].follows();
        if !(if own.kind == Kind::Point { follows.points } else { follows.frames }) {
            let (simulator, what) = (self.members[follower].name.clone(), format!("an attached {:?}", own.kind));
            return self.mistakes.push(Mistake::CannotFollow { coupling: coupling.into(), simulator, what });
        }
        let distance = (Vector3::from(own.state.position) - Vector3::from(carrier.state.position)).norm();
        if carrier.kind == Kind::Point && own.kind == Kind::Frame {
            return self.bad_coupling(
                coupling,
                "a Frame attached to a Point",
                "a Point to a Point, or either to a Frame",
            );
        }
        if carrier.kind == Kind::Point && distance > TOUCHING {
            return self.bad_coupling(coupling, format!("Points {distance} m apart"), format!("within {TOUCHING} m"));
        }
        let leader_handle = self.members[leader].watched[carrier.watched];
        let interface = self.interface(follower, leader);
        let slot = self.slot(interface, leader_handle, carrier.watched);
        let carriers = match carrier.kind {
            Kind::Point => Carriers::Handles { watched: vec![carrier.watched], slots: vec![slot] },
            Kind::Frame => {
                let back = orientation_of(&carrier.state).inverse();
                let arm = Vector3::from(own.state.position) - Vector3::from(carrier.state.position);
                let turn = if own.kind == Kind::Frame {
                    back * orientation_of(&own.state)
                } else {
                    UnitQuaternion::identity()
                };
                Carriers::Fixed {
                    watched: carrier.watched,
                    slot,
                    kind: own.kind,
                    position: back * arm,
                    orientation: turn,
                }
            }
        };
        self.members[follower].guides.push(GuidePlan { interface, leader, carriers, own: Some(own.watched) });
        self.guides[follower].push(Guide::Attachment { own: handle });
    }

    fn plan_contacts(&mut self) {
        let mut seen = BTreeSet::new();
        for contact in std::mem::take(&mut self.scene.contacts) {
            let coupling = format!("contact of `{}` with `{}`", contact.follower, contact.leader);
            let (friction, restitution) = (contact.friction.unwrap_or(0.0), contact.restitution.unwrap_or(0.0));
            let pair = check_pair(&coupling, friction, restitution, contact.thickness.unwrap_or(0.0));
            let (follower, leader) = (self.named(&coupling, &contact.follower), self.named(&coupling, &contact.leader));
            if let Err(error) = pair {
                self.mistakes.push(Mistake::Handle { coupling, error });
                continue;
            }
            let (Some(follower), Some(leader)) = (follower, leader) else { continue };
            if follower == leader {
                self.bad_coupling(&coupling, "one simulator", "two");
                continue;
            }
            let surfaces: Vec<_> = self.scene.simulators[leader].surfaces().to_vec();
            if surfaces.is_empty() {
                self.bad_coupling(&coupling, format!("no surface of `{}`", contact.leader), "at least one");
            }
            if let Some(only) = &contact.only {
                let unknown: Vec<_> = only
                    .iter()
                    .filter(|name| !surfaces.iter().any(|surface| surface.name == **name))
                    .cloned()
                    .collect();
                for name in unknown {
                    self.bad_coupling(
                        &coupling,
                        format!("no surface `{name}` of `{}`", contact.leader),
                        "the name of a surface",
                    );
                }
            }
            for surface in surfaces {
                if contact.only.as_ref().is_some_and(|only| !only.contains(&surface.name)) {
                    continue;
                }
                if !seen.insert((follower, leader, surface.name.clone())) {
                    self.bad_coupling(&coupling, format!("surface `{}` twice", surface.name), "each surface once");
                    continue;
                }
                self.plan_contact(&coupling, &contact, follower, leader, surface);
            }
        }
    }

    fn plan_contact(
        &mut self,
        coupling: &str,
        contact: &Contact,
        follower: usize,
        leader: usize,
        surface: Arc<Surface>,
    ) {
        let friction = contact.friction.unwrap_or(surface.friction);
        let restitution = contact.restitution.unwrap_or(surface.restitution);
        let thickness = contact.thickness.unwrap_or(surface.thickness);
        let follows = self.scene.simulators[follower].follows();
        let (what, can) = match surface.carrier {
            Carrier::Frame(_) => ("a rigid surface", follows.rigid_surfaces),
            Carrier::Points(_) => ("a deforming surface", follows.deforming_surfaces),
        };
        if !can {
            let simulator = self.members[follower].name.clone();
            return self.mistakes.push(Mistake::CannotFollow {
                coupling: coupling.into(),
                simulator,
                what: what.into(),
            });
        }
        let mut carriers: Vec<(usize, usize)> = Vec::new();
        let interface = self.interface(follower, leader);
        for &handle in surface.carrier.handles() {
            let Some(found) = self.find(coupling, handle) else { return };
            carriers.push((found.watched, self.slot(interface, handle, found.watched)));
        }
        let except = self.attached_to(follower, interface, carriers.iter().map(|&(_, slot)| slot).collect());
        let (watched, slots) = carriers.into_iter().unzip();
        self.members[follower].guides.push(GuidePlan {
            interface,
            leader,
            carriers: Carriers::Handles { watched, slots },
            own: None,
        });
        self.guides[follower].push(Guide::Obstacle { surface, friction, restitution, thickness, except });
    }

    /// The follower's handles that are attached to what carries a surface: they do not collide with it.
    fn attached_to(&self, follower: usize, interface: usize, carriers: BTreeSet<usize>) -> Vec<HandleId> {
        let plans = self.members[follower].guides.iter().zip(&self.guides[follower]);
        plans
            .filter_map(|(plan, guide)| {
                let Guide::Attachment { own } = guide else { return None };
                let slot = match &plan.carriers {
                    Carriers::Fixed { slot, .. } => *slot,
                    Carriers::Handles { slots, .. } => slots[0],
                };
                (plan.interface == interface && carriers.contains(&slot)).then_some(*own)
            })
            .collect()
    }

    fn plan_springs(&mut self) {
        for (number, Spring { ends, stiffness, damping, rest_length }) in
            std::mem::take(&mut self.scene.springs).into_iter().enumerate()
        {
            let coupling = format!("spring {number}");
            for (field, value) in
                [("stiffness [N/m]", stiffness), ("damping [N s/m]", damping), ("rest length [m]", rest_length)]
            {
                if !(value.is_finite() && value >= 0.0) {
                    self.wrong(format!("{coupling}, {field}"), value, "finite, at least 0");
                }
            }
            let (a, b) = (self.find(&coupling, ends[0]), self.find(&coupling, ends[1]));
            let (Some(a), Some(b)) = (a, b) else { continue };
            if a.member == b.member {
                self.bad_coupling(&coupling, "both ends in one simulator", "ends in two");
            }
            let ends_at = [(a.member, a.watched), (b.member, b.watched)];
            self.springs.push(SpringPlan { ends: ends_at, handles: ends, stiffness, damping, rest_length });
        }
    }

    /// Members by depth in the graph of couplings, ties as they were added.
    fn order(&mut self) -> Vec<Vec<usize>> {
        let n = self.members.len();
        let edges: BTreeSet<_> =
            self.interfaces.iter().map(|interface| (interface.leader, interface.follower)).collect();
        let mut waiting: BTreeMap<usize, usize> =
            (0..n).map(|i| (i, edges.iter().filter(|edge| edge.1 == i).count())).collect();
        let mut levels = Vec::new();
        while !waiting.is_empty() {
            let ready: Vec<usize> = waiting.iter().filter(|entry| *entry.1 == 0).map(|entry| *entry.0).collect();
            if ready.is_empty() {
                let names: Vec<_> = waiting.keys().map(|&i| format!("`{}`", self.members[i].name)).collect();
                self.mistakes.push(Mistake::Circle(names.join(", ")));
                break;
            }
            for &done in &ready {
                waiting.remove(&done);
                for (_, follower) in edges.iter().filter(|edge| edge.0 == done) {
                    *waiting.get_mut(follower).expect("a follower waits for its leader") -= 1;
                }
            }
            levels.push(ready);
        }
        for interface in &self.interfaces {
            self.members[interface.leader].coupled = true;
            self.members[interface.follower].coupled = true;
        }
        levels
    }

    /// Hands the guides over; skipped where something is wrong already, since a simulator takes
    /// its guides once.
    fn follow(&mut self) {
        if !self.mistakes.is_empty() {
            return;
        }
        for (simulator, guides) in self.scene.simulators.iter_mut().zip(&self.guides) {
            if !guides.is_empty()
                && let Err(error) = simulator.follow(guides.clone())
            {
                let coupling = format!("guides of `{}`", simulator.name());
                self.mistakes.push(Mistake::Handle { coupling, error });
            }
        }
    }

    fn into_run(self, levels: Vec<Vec<usize>>) -> Result<Run, Error> {
        let Self { scene, members, interfaces, guides, springs, .. } = self;
        let time = scene.simulators[0].time();
        let mut seats = Vec::new();
        for ((simulator, member), guides) in scene.simulators.into_iter().zip(&members).zip(guides) {
            let worker = Worker::new(simulator, guides, member.watched.clone());
            seats.push(match scene.threads {
                false => Seat::here(worker),
                true => Seat::thread(&member.name, worker)
                    .map_err(|error| Error::refused("thread", error, "a thread for each simulator"))?,
            });
        }
        let engine = Engine::new(members, seats, levels, interfaces, springs, scene.scheme)?;
        Run::new(engine, scene.rate, scene.rewind, time)
    }
}

/// How far what `handle` carries reaches from it `[m]`; 1 where it carries nothing.
fn extent(simulator: &dyn Simulator, handle: HandleId) -> f64 {
    let carried = simulator.surfaces().iter().filter(|surface| surface.carrier == Carrier::Frame(handle));
    let reach =
        carried.flat_map(|surface| &surface.vertices).map(|&vertex| Vector3::from(vertex).norm()).fold(0.0, f64::max);
    if reach > 0.0 { reach } else { 1.0 }
}
