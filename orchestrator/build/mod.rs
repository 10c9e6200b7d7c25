//! From a scene to a run: every mistake is found here, before the first step.

mod attachments;
mod check;
mod contacts;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use nalgebra::Vector3;
use partita_simulator::{Carrier, Guide, HandleId, HandleState, Kind, Mobility, Settings, Simulator};

use crate::{
    Error, Mistake, Mistakes, Run, Scene, Warning,
    engine::Engine,
    passivity::inverse_masses,
    plan::{Interface, Member, Slot, SpringPlan},
    plausible::implausible,
    scene::Spring,
    seat::{Mode, Seat},
    settings::settings,
    springs::SpringEnds,
};

pub(crate) fn build(scene: Scene) -> Result<Run, Error> {
    let (settings, implausible) = (settings(&scene), implausible(&scene.simulators, &scene.thresholds));
    let mut builder = Builder::new(scene);
    builder.check_simulators();
    builder.check_numbers();
    if builder.scene.is_strict {
        builder.mistakes.extend(implausible.iter().cloned().map(Mistake::Implausible));
    }
    builder.plan_attachments();
    builder.plan_contacts();
    builder.plan_springs();
    let order = builder.order();
    builder.follow();
    if !builder.mistakes.is_empty() {
        return Err(Error::Scene(Mistakes(builder.mistakes)));
    }
    builder.into_run(order, settings, implausible)
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
            responds: simulator.follows().impacts,
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

    fn wrong(&mut self, thing: impl ToString, found: impl ToString, expected: impl ToString) {
        let (thing, found, expected) = (thing.to_string(), found.to_string(), expected.to_string());
        self.mistakes.push(Mistake::Value { thing, found, expected });
    }

    fn bad_coupling(&mut self, coupling: &str, found: impl ToString, expected: impl ToString) {
        let (coupling, found, expected) = (coupling.to_string(), found.to_string(), expected.to_string());
        self.mistakes.push(Mistake::Coupling { coupling, found, expected });
    }

    fn cannot_follow(&mut self, coupling: &str, follower: usize, what: &str) {
        let (coupling, simulator) = (coupling.into(), self.members[follower].name.clone());
        self.mistakes.push(Mistake::CannotFollow { coupling, simulator, what: what.into() });
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

    /// Name of a handle with that of its simulator, for messages.
    fn handle_name(&self, handle: HandleId) -> String {
        match self.scene.simulators.iter().find(|simulator| simulator.handles().owner() == handle.owner) {
            Some(simulator) if handle.index < simulator.handles().len() => {
                format!("`{}` of `{}`", simulator.handles().describe(handle), simulator.name())
            }
            Some(simulator) => format!("handle {} of `{}`", handle.index, simulator.name()),
            None => "a handle of another scene".into(),
        }
    }

    /// Finds a handle and watches it.
    fn find(&mut self, coupling: &str, handle: HandleId) -> Option<Found> {
        let owner = self.scene.simulators.iter().position(|simulator| simulator.handles().owner() == handle.owner);
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
        let number = self.slots.len() as u32;
        *self.slots.entry((interface, handle)).or_insert_with(|| {
            let kind = leader.handles().kind(handle);
            slots.push(Slot {
                handle,
                watched,
                extent: extent(leader, handle),
                mobility: Mobility::ZERO,
                inverse_masses: leader.mobility(handle).map(|mobility| inverse_masses(&mobility)),
                is_linked: false,
                body: (kind == Ok(Kind::Frame)).then_some(number),
                others: vec![],
                collides: false,
            });
            slots.len() - 1
        })
    }

    fn plan_springs(&mut self) {
        for (number, Spring { ends, stiffness, damping, rest_length }) in
            std::mem::take(&mut self.scene.springs).into_iter().enumerate()
        {
            let [first, second] = ends.map(|end| self.handle_name(end));
            let coupling = format!("spring {number} between {first} and {second}");
            for (field, value) in
                [("stiffness [N/m]", stiffness), ("damping [N s/m]", damping), ("rest length [m]", rest_length)]
            {
                if !(value.is_finite() && value >= 0.0) {
                    self.wrong(format!("{coupling}, {field}"), value, "finite, at least 0");
                }
            }
            if stiffness == 0.0 && damping == 0.0 {
                self.bad_coupling(&coupling, "neither", "a stiffness or a damping above 0");
            }
            let (a, b) = (self.find(&coupling, ends[0]), self.find(&coupling, ends[1]));
            let (Some(a), Some(b)) = (a, b) else { continue };
            if a.member == b.member {
                self.bad_coupling(&coupling, "both ends in one simulator", "ends in two");
            }
            let ends_at = [(a.member, a.watched), (b.member, b.watched)];
            self.springs.push(SpringPlan {
                ends: ends_at,
                handles: ends,
                stiffness,
                damping,
                rest_length,
                measured: SpringEnds::default(),
            });
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
        // Members at a spring have to take the same pieces of a window as its other end.
        for member in self.springs.iter().flat_map(|spring| spring.ends).map(|(member, _)| member) {
            self.members[member].coupled = true;
        }
        levels
    }

    /// Hands the guides over: what a simulator has against them is a mistake like others.
    fn follow(&mut self) {
        for (simulator, guides) in self.scene.simulators.iter_mut().zip(&self.guides) {
            if !guides.is_empty()
                && let Err(error) = simulator.follow(guides.clone())
            {
                let coupling = format!("guides of `{}`", simulator.name());
                self.mistakes.push(Mistake::Handle { coupling, error });
            }
        }
    }

    fn into_run(self, levels: Vec<Vec<usize>>, settings: Settings, implausible: Vec<Warning>) -> Result<Run, Error> {
        let Self { scene, members, interfaces, guides, springs, .. } = self;
        let time = scene.simulators[0].time();
        let timeout = scene.timeout.map(Duration::from_secs_f64);
        let mode = if scene.threads || timeout.is_some() { Mode::Threads(timeout) } else { Mode::InLine };
        let mut seats = Vec::new();
        for ((simulator, member), guides) in scene.simulators.into_iter().zip(&members).zip(guides) {
            let seat = Seat::new(mode, simulator, guides, member.watched.clone());
            seats.push(seat.map_err(|error| Error::Simulator { simulator: member.name.clone(), error })?);
        }
        let is_strict = scene.is_strict;
        let mut engine = Engine::new(members, seats, levels, interfaces, springs, scene.scheme, scene.rate.dt)?;
        engine.thresholds = scene.thresholds;
        implausible.into_iter().for_each(|warning| engine.state.totals.warn(warning));
        let mistakes = engine.check_start();
        if !mistakes.is_empty() {
            return Err(Error::Scene(Mistakes(mistakes)));
        }
        Run::new(engine, scene.rate, scene.rewind, is_strict, settings, time)
    }
}

/// How far what `handle` carries reaches from it `[m]`; 1 where it carries nothing.
fn extent(simulator: &dyn Simulator, handle: HandleId) -> f64 {
    let carried = simulator.surfaces().iter().filter(|surface| surface.carrier == Carrier::Frame(handle));
    let reach =
        carried.flat_map(|surface| &surface.vertices).map(|&vertex| Vector3::from(vertex).norm()).fold(0.0, f64::max);
    if reach > 0.0 { reach } else { 1.0 }
}
