//! One pass: leaders step under given loads, followers step consistently with their motion and say
//! what that took. Every scheme is made of passes.

use nalgebra::Vector3;
use partita_simulator::{HandleId, HandleState, Inputs, Note, Outcome, SimulatorError, Stages, Wrench};

use crate::{
    Error, Mistake, Scheme, Thresholds,
    accuracy::{CouplingError, WindowError},
    coupled::{Coupled, InterfaceState},
    ledger::InterfaceLedger,
    loaded::STEP,
    passivity::{Passivity, SlotIndex, inverse_masses},
    plan::{GuidePlan, Interface, Member, Slot, SpringPlan, motion, orientation_of},
    responses::lasting,
    seat::Seat,
    totals::Totals,
    worker::{Reply, Request, StepSummary},
};

/// A load that someone outside the scene puts on a handle of a member.
pub(crate) type Push = (usize, HandleId, Wrench);

/// A member that refused or failed.
pub(crate) struct Failure {
    pub member: usize,
    pub error: SimulatorError,
}

/// What one pass gave.
#[derive(Default)]
pub(crate) struct Pass {
    /// Impulses on the leaders' handles that followers asked for, by interface and slot.
    pub used: Vec<Vec<Wrench>>,
    /// Impulses besides those, on carriers under other loads ([`crate::loaded`]).
    pub added: Vec<Vec<Wrench>>,
    /// Impulses that the followers put on them, impacts included.
    pub got: Vec<Vec<Wrench>>,
    /// Those for the start of the next window.
    pub impacts: Vec<Vec<Wrench>>,
    /// Those that hold handles over the next window.
    pub holding: Vec<Vec<Wrench>>,
    /// Whether other carriers take impacts and holding impulses.
    pub passed_on: Vec<Vec<bool>>,
    /// Unit vector along which other bodies bear a carrier.
    pub borne: Vec<Vec<Option<[f64; 3]>>>,
    /// Watched handles at the end, by member.
    pub ends: Vec<Vec<HandleState>>,
    /// By member.
    pub summaries: Vec<Option<StepSummary>>,
}

/// How a window ended.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowReport {
    /// Number of the window, from 0.
    pub window: u64,
    /// Time at its end `[s]`.
    pub time: f64,
    /// Passes that it took; 1 without iteration.
    pub passes: u32,
    /// Whether the iteration met its bound; a plain interleaved window asks for none.
    pub outcome: Outcome,
    /// Change of the coupled loads in the last pass, relative to their size; 0 without iteration
    /// `[-]`.
    pub load_change: f64,
    /// Largest difference of an interface between applied and reported loads, relative to their
    /// size. Every scheme measures it `[-]`.
    pub lag: f64,
    /// Energy that the coupling adds by this difference `[J]`.
    pub work: f64,
    /// Largest distance of an attached handle from its carrier `[m]`.
    pub gap: f64,
    /// Iterations that each simulator reported, in the order in which they were added.
    pub iterations: Vec<u32>,
}

/// Number of the mark at the start of a window that may be taken again.
pub(crate) const START: u64 = u64::MAX;

pub(crate) struct Engine {
    pub members: Vec<Member>,
    pub seats: Vec<Seat>,
    levels: Vec<Vec<usize>>,
    /// Members that have stepped in this pass.
    pub has_stepped: Vec<bool>,
    pub interfaces: Vec<Interface>,
    pub springs: Vec<SpringPlan>,
    /// Slots of bodies and points that followers collide with and can move.
    pub contacts: Vec<SlotIndex>,
    /// Those of bodies, by leader.
    pub bodies: Vec<Vec<SlotIndex>>,
    pub scheme: Scheme,
    pub thresholds: Thresholds,
    pub state: Coupled,
    pub pass: Pass,
    /// Contacts that the last window should have iterated; the caller repeats the window if there are any.
    pub to_iterate: Vec<SlotIndex>,
    /// Fraction of the work of reactions along the motion of their carriers that the follower can have given in the last
    /// pass, by interface ([`crate::energy`]) [-].
    pub given_fractions: Vec<f64>,
    pub clock: SimulatorClock,
    /// Memory of the inputs and of the states that come back, by member.
    pub(crate) inputs: Vec<Inputs>,
    pub(crate) spare_states: Vec<Vec<HandleState>>,
}

/// Where the time of the windows goes.
#[derive(Clone, Default)]
pub(crate) struct SimulatorClock {
    /// Inside each simulator's steps `[s]`.
    pub seconds: Vec<f64>,
    /// The same by stage.
    pub stages: Vec<Stages>,
    /// In which the orchestrator waited for them `[s]`.
    pub waiting: f64,
}

impl Engine {
    pub(crate) fn new(
        members: Vec<Member>,
        mut seats: Vec<Seat>,
        levels: Vec<Vec<usize>>,
        interfaces: Vec<Interface>,
        springs: Vec<SpringPlan>,
        scheme: Scheme,
        dt: f64,
    ) -> Result<Self, Error> {
        let (mut interfaces, mut totals) = (interfaces, Totals::default());
        for guide in members.iter().flat_map(|member| &member.guides).filter(|guide| guide.own.is_none()) {
            let slots = &mut interfaces[guide.interface].slots;
            guide.slots().for_each(|slot| slots[slot].collides = true);
        }
        for interface in &mut interfaces {
            let responds = members[interface.follower].responds;
            // A follower without responses, such as particles, is checked against points alone: they are light.
            let is_used = |slot: &Slot| responds || (slot.collides && slot.body.is_none());
            if !interface.slots.iter().any(is_used) {
                continue;
            }
            let handles: Vec<HandleId> = interface.slots.iter().map(|slot| slot.handle).collect();
            let mobilities = match seats[interface.leader].mobilities(handles, dt) {
                Ok(mobilities) => mobilities,
                Err(error) => {
                    let [leader, follower] = [interface.leader, interface.follower].map(|m| &members[m].name);
                    let kind = format!(
                        "its mobility cannot be measured ({error}); {follower} takes it for immovable and does not stop \
                         it where kinematic vertices leave no room: implement `Simulator::mobility`"
                    );
                    totals.add_note(leader, &Note::new(kind), 0);
                    continue;
                }
            };
            for (slot, (mobility, is_linked)) in interface.slots.iter_mut().zip(mobilities) {
                if is_used(slot) {
                    (slot.mobility, slot.is_linked) = (mobility, is_linked);
                    slot.inverse_masses = Some(inverse_masses(&mobility));
                }
            }
        }
        crate::plan::find_others(&mut interfaces);
        let mut springs = springs;
        crate::springs::measure(&mut springs, &members, &mut seats, dt)
            .into_iter()
            .for_each(|(source, note)| totals.add_note(&source, &note, 0));
        let mut states = Vec::new();
        for (seat, member) in seats.iter_mut().zip(&members) {
            let watched = member.watched.clone();
            let read = seat.look(move |simulator| {
                let mut states = vec![HandleState::default(); watched.len()];
                simulator.read(&watched, &mut states).map(|()| states)
            });
            let read = read.and_then(|states| states);
            states.push(read.map_err(|error| Error::Simulator { simulator: member.name.clone(), error })?);
        }
        let idle = |interface: &Interface| {
            let zeros = vec![Wrench::ZERO; interface.slots.len()];
            let names = (members[interface.follower].name.clone(), members[interface.leader].name.clone());
            InterfaceState {
                force: zeros.clone(),
                carry: zeros.clone(),
                impacts: zeros.clone(),
                holding: zeros.clone(),
                withheld: zeros.clone(),
                accelerations: Vec::new(),
                expected: Vec::new(),
                passed_on: vec![false; interface.slots.len()],
                borne: vec![None; interface.slots.len()],
                pending: zeros,
                ledger: InterfaceLedger::new(names),
                factors: vec![1.0; interface.slots.len()],
                passivity: vec![Passivity::default(); interface.slots.len()],
                error: CouplingError::default(),
            }
        };
        let zeros: Vec<_> = interfaces.iter().map(|interface| vec![Wrench::ZERO; interface.slots.len()]).collect();
        for (interface, member) in interfaces.iter_mut().map(|interface| (&mut interface.slots, interface.leader)) {
            for slot in interface {
                let back = orientation_of(&states[member][slot.watched]).inverse();
                slot.mobility = slot.mobility.turned(&back);
            }
        }
        let contacts = crate::plan::contacts(&interfaces);
        let mut bodies = vec![vec![]; members.len()];
        for &[i, s] in contacts.iter().filter(|&&[i, s]| interfaces[i].slots[s].body.is_some()) {
            bodies[interfaces[i].leader].push([i, s]);
        }
        let levels =
            levels.into_iter().flat_map(|level| crate::plan::one_after_the_other(&level, &interfaces)).collect();
        let pass = Pass {
            used: zeros.clone(),
            added: zeros.clone(),
            passed_on: zeros.iter().map(|slots| vec![false; slots.len()]).collect(),
            borne: zeros.iter().map(|slots| vec![None; slots.len()]).collect(),
            impacts: zeros.clone(),
            holding: zeros.clone(),
            got: zeros,
            ends: states.clone(),
            summaries: vec![None; members.len()],
        };
        let given_fractions = vec![1.0; interfaces.len()];
        let (interface_states, n) = (interfaces.iter().map(idle).collect(), members.len());
        let state = Coupled {
            window: 0,
            time: 0.0,
            states,
            interfaces: interface_states,
            given: vec![[0.0; 3]; n],
            totals,
            short: 0.0,
            stopped: vec![0.0; n],
            last_dt: 0.0,
            longest_dt: 0.0,
        };
        let inputs = vec![Inputs::default(); n];
        Ok(Self {
            members,
            seats,
            levels,
            has_stepped: vec![false; n],
            given_fractions,
            interfaces,
            springs,
            contacts,
            bodies,
            scheme,
            thresholds: Thresholds::default(),
            state,
            pass,
            to_iterate: Vec::new(),
            clock: SimulatorClock { seconds: vec![0.0; n], stages: vec![Stages::default(); n], waiting: 0.0 },
            inputs,
            spare_states: vec![Vec::new(); n],
        })
    }

    /// Asks simulators whether they can start with their parameters, from where they and their guides are.
    pub(crate) fn check_start(&mut self) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        for (member, seat) in self.members.iter().zip(&mut self.seats) {
            let states = |guide: &GuidePlan| guide.carrier_states(&self.state.states[guide.leader]).collect::<Vec<_>>();
            let still = |states: Vec<_>| Some(motion(None, states.iter().copied(), states.iter().copied()));
            let motions = member.guides.iter().map(|guide| still(states(guide))).collect();
            if let Err(error) = seat.ask(Request::CheckStart(motions)) {
                mistakes.push(Mistake::Handle { coupling: format!("start of `{}`", member.name), error });
            }
        }
        mistakes
    }

    /// One pass with the loads Λ = `forces` on the leaders: G(Λ) dt is left in `self.pass.got`.
    /// A `repeated` pass leaves out members that take no part in a coupling. The window after this one takes `next_dt`, as far as is
    /// known.
    pub(crate) fn pass(
        &mut self,
        dt: f64,
        next_dt: f64,
        forces: &[Vec<Wrench>],
        pushes: &[Push],
        repeated: bool,
    ) -> Result<(), Failure> {
        for (i, interface) in self.state.interfaces.iter().enumerate() {
            let extra = interface.carry.iter().zip(&interface.impacts);
            for ((used, force), (carry, impact)) in self.pass.used[i].iter_mut().zip(&forces[i]).zip(extra) {
                *used = force.scaled(dt) + *carry + *impact;
            }
            self.pass.added[i].fill(Wrench::ZERO);
            self.pass.borne[i].clone_from(&interface.borne);
        }
        (0..self.interfaces.len()).for_each(|i| self.pass.clear_reports(i));
        self.given_fractions.fill(1.0);
        self.has_stepped.fill(false);
        for level in 0..self.levels.len() {
            let in_this_pass = |&m: &usize| !repeated || self.members[m].coupled;
            let stepping: Vec<usize> = self.levels[level].iter().copied().filter(in_this_pass).collect();
            let loaded = self.loaded_groups(&stepping);
            let stepped = self.step_loaded(&stepping, &loaded, dt, next_dt, pushes);
            for &m in loaded.iter().flat_map(|group| &group.leaders) {
                self.ask(m, Request::Forget(STEP))?;
            }
            stepped?;
            self.check_borne(&stepping, dt);
            stepping.iter().for_each(|&m| self.has_stepped[m] = true);
        }
        self.state.totals.passes += 1;
        Ok(())
    }

    /// Takes the steps of members, those with threads at the same time, and returns the first
    /// failure.
    pub(crate) fn step_all(
        &mut self,
        members: &[usize],
        dt: f64,
        next_dt: f64,
        pushes: &[Push],
    ) -> Result<(), Failure> {
        for &m in members {
            let inputs = self.inputs_of(m, dt, next_dt, pushes);
            let states = std::mem::take(&mut self.spare_states[m]);
            let n = self.members[m].substeps * crate::reported::parts(self.members[m].substeps, &inputs.motions, dt);
            self.seats[m].post(Request::Step { dt, n, inputs, states });
        }
        let mut failure = None;
        for &m in members {
            if let Err(error) = self.collect(m, dt) {
                failure.get_or_insert(Failure { member: m, error });
            }
        }
        failure.map_or(Ok(()), Err)
    }

    /// Loads and motions of member `m` for this pass; its leaders have stepped.
    fn inputs_of(&mut self, m: usize, dt: f64, next_dt: f64, pushes: &[Push]) -> Inputs {
        let mut inputs = std::mem::take(&mut self.inputs[m]);
        inputs.loads.clear();
        inputs.loads.extend(pushes.iter().filter(|push| push.0 == m).map(|&(_, handle, wrench)| (handle, wrench)));
        for spring in &self.springs {
            spring.add_loads(m, &self.state.states, dt, &mut inputs.loads);
        }
        inputs.impulses.clear();
        for (i, interface) in self.interfaces.iter().enumerate().filter(|(_, interface)| interface.leader == m) {
            for (s, (slot, &used)) in interface.slots.iter().zip(&self.pass.used[i]).enumerate() {
                let impact = self.state.interfaces[i].impacts[s];
                if impact != Wrench::ZERO {
                    inputs.impulses.push((slot.handle, impact));
                }
                let spread = used - impact + self.pass.added[i][s];
                if spread != Wrench::ZERO {
                    inputs.loads.push((slot.handle, spread.scaled(1.0 / dt)));
                }
            }
        }
        inputs.motions.resize(self.members[m].guides.len(), None);
        for (guide, place) in self.members[m].guides.iter().zip(&mut inputs.motions) {
            let begin = guide.carrier_states(&self.state.states[guide.leader]);
            let end = guide.carrier_states(&self.pass.ends[guide.leader]);
            *place = Some(motion(place.take(), begin, end));
        }
        inputs.responses.clear();
        if self.members[m].responds && self.members[m].guides.iter().any(|guide| guide.own.is_none()) {
            let of = |(i, interface): (usize, &Interface)| match interface.follower == m {
                true => self.expected(i, dt, next_dt),
                false => vec![],
            };
            let expected: Vec<_> = self.interfaces.iter().enumerate().map(of).collect();
            inputs.responses.extend(self.members[m].guides.iter().map(|guide| {
                let (interface, leader) = (guide.interface, guide.leader);
                let slots = &self.interfaces[interface].slots;
                let is_iterated = |slot| self.is_iterated([interface, slot]);
                let (ends, borne) = (&self.pass.ends[leader], &self.pass.borne[interface]);
                guide.responses(slots, ends, &expected[interface], borne, is_iterated, next_dt)
            }));
        }
        inputs
    }

    /// Largest distance of an attached handle from its carrier after the last pass `[m]`; that of a
    /// Frame is also its angle to the carrier times the reach of what it is fixed to.
    pub(crate) fn gap(&self) -> f64 {
        let of = |(m, member): (usize, &'_ Member)| -> f64 {
            let gaps = member.guides.iter().filter_map(|guide| {
                let own = &self.pass.ends[m][guide.own?];
                let carrier = guide.carrier_states(&self.pass.ends[guide.leader]).next()?;
                let distance = (Vector3::from(own.position) - Vector3::from(carrier.position)).norm();
                Some(match guide.reach(&self.interfaces[guide.interface].slots) {
                    0.0 => distance,
                    reach => distance.max(reach * orientation_of(own).angle_to(&orientation_of(&carrier))),
                })
            });
            gaps.fold(0.0, f64::max)
        };
        self.members.iter().enumerate().map(of).fold(0.0, f64::max)
    }

    /// Part of its limit of work that the busiest simulator took in the last pass [-].
    pub(crate) fn budget_used(&self) -> f64 {
        let stepped = self.pass.summaries.iter().zip(&self.members).zip(&self.has_stepped);
        let coupled = stepped.filter(|((_, member), has_stepped)| member.coupled && **has_stepped);
        coupled.filter_map(|((summary, _), _)| Some(summary.as_ref()?.budget_used)).fold(0.0, f64::max)
    }

    /// Makes the last pass the window: books it, and moves the time on.
    pub(crate) fn accept(&mut self, dt: f64, passes: u32, load_change: f64, outcome: Outcome) -> WindowReport {
        let gap = self.gap();
        let WindowError { lag, work } = self.measure_errors(dt);
        self.record_passivity(dt);
        for i in 0..self.interfaces.len() {
            let now = self.accelerations(i, dt);
            let InterfaceState { accelerations, expected, .. } = &mut self.state.interfaces[i];
            expected.clear();
            expected.extend(now.iter().enumerate().map(|(s, now)| lasting(now, accelerations.get(s))));
            *accelerations = now;
        }
        for (i, interface) in self.state.interfaces.iter_mut().enumerate() {
            interface.impacts.clone_from(&self.pass.impacts[i]);
            interface.holding.clone_from(&self.pass.holding[i]);
            interface.passed_on.clone_from(&self.pass.passed_on[i]);
            interface.borne.clone_from(&self.pass.borne[i]);
        }
        let state = &mut self.state;
        for (i, interface) in self.interfaces.iter().enumerate() {
            let InterfaceState { pending, ledger, .. } = &mut state.interfaces[i];
            let (begin, end) = (&state.states[interface.leader], &self.pass.ends[interface.leader]);
            let Pass { used, got, added, .. } = &self.pass;
            ledger.book(&interface.slots, [begin, end], &used[i], &got[i], &added[i], pending);
        }
        for (given, inputs) in state.given.iter_mut().zip(&self.inputs) {
            for (_, load) in &inputs.loads {
                (0..3).for_each(|k| given[k] += dt * load.linear[k]);
            }
            for (_, impulse) in &inputs.impulses {
                (0..3).for_each(|k| given[k] += impulse.linear[k]);
            }
        }
        for (states, ends) in state.states.iter_mut().zip(&self.pass.ends) {
            states.copy_from_slice(ends);
        }
        let mut iterations = Vec::with_capacity(self.members.len());
        for (summary, member) in self.pass.summaries.iter().zip(&self.members) {
            iterations.push(summary.as_ref().map_or(0, |summary| summary.iterations));
            if let Some(summary) = summary {
                state.totals.note(&member.name, summary, state.window);
            }
        }
        self.warn(gap, &outcome);
        let state = &mut self.state;
        state.totals.worst_lag = state.totals.worst_lag.max(lag);
        state.totals.worst_gap = state.totals.worst_gap.max(gap);
        state.totals.worst_load_change = state.totals.worst_load_change.max(load_change);
        state.totals.unconverged += u64::from(outcome != Outcome::Converged);
        state.window += 1;
        state.time += dt;
        state.last_dt = dt;
        state.longest_dt = state.longest_dt.max(dt);
        WindowReport {
            window: state.window - 1,
            time: state.time,
            passes,
            outcome,
            load_change,
            lag,
            work,
            gap,
            iterations,
        }
    }

    /// Every seat keeps a snapshot under `number`; only the coupled ones if so.
    pub(crate) fn mark(&mut self, number: u64, only_coupled: bool) -> Result<(), Failure> {
        self.ask_all(only_coupled, || Request::Mark(number))
    }

    /// Every seat goes back to `number`.
    pub(crate) fn retract(&mut self, number: u64, only_coupled: bool) -> Result<(), Failure> {
        self.ask_all(only_coupled, || Request::Retract(number))
    }

    /// Every seat drops `number`.
    pub(crate) fn forget(&mut self, number: u64) {
        // Forgetting cannot fail.
        let _ = self.ask_all(false, || Request::Forget(number));
    }

    fn ask_all(&mut self, only_coupled: bool, request: impl Fn() -> Request) -> Result<(), Failure> {
        let asked: Vec<usize> = (0..self.seats.len()).filter(|&m| !only_coupled || self.members[m].coupled).collect();
        asked.iter().for_each(|&m| self.seats[m].post(request()));
        let mut failure = None;
        for m in asked {
            if let Err(error) = self.seats[m].wait().and_then(Reply::done) {
                failure.get_or_insert(Failure { member: m, error });
            }
        }
        failure.map_or(Ok(()), Err)
    }

    /// Goes on from `state`; the seats have been retracted to its mark.
    pub(crate) fn resume(&mut self, state: Coupled) {
        self.state = state;
    }
}
