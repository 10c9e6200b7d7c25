//! One step from top to bottom, and its stages.

use nalgebra::Vector3;
use partita_cloth::{
    Ended, Held, Islands, Moment, Obstacles, Support, Vertices, absurd_load, not_apart, note_contact, report_supports,
};
use partita_contact::{ContactRates, Contacts, Near, PressingSide, Touch};
use partita_simulator::{
    HandleId, Inputs, Motion, Note, Outcome, Reaction, SimulatorError, StageClock, StepReport, Wrench, check,
};

use crate::{
    ImplicitCloth, Integrator,
    balance::{Led, MayGive},
    blocks::Blocks,
    integrate::{Memory, Problem, integrate},
    links::{Link, Push, Scale, pinched},
    rounds::HOLDS,
    solve::Constraint,
    state::State,
};

type V3 = Vector3<f64>;

/// Most parts that a step is taken in.
const PARTS: u32 = 32;

/// How many times as stiff as what the cloth resists a contact with is at least and at most, where the cloth is free: so stiff that what a
/// contact bears moves it by a part of the thickness, and no stiffer than the matrix is anyway.
const CONTACT: [f64; 2] = [0.05, 0.5];

/// In steps in which a pair recovers less of its missing distance than this, contacts are no stiffer than in one where it
/// recovers so much [-]: what begins too near is not thrown out within whatever the step is.
const BRISK: f64 = 6e-3;

/// Smallest useful reduction of the excess energy by halving so short a part of a step [-]: a
/// constant force, such as that of a contact that starts closed, gains as much over the bound in
/// shorter ones.
const HELPS: f64 = 0.9;

/// A part of a step is too long where no change of velocities balances so much of the forces [-].
const UNBALANCED: f64 = 0.5;

/// Impulse of a load, relative to [`Vertices::largest_impulse`], beyond which contact that ends at its limit of work is
/// due to the load [-].
const ABSURD: f64 = 1e4;

/// Note of a step in which nothing is led out of obstacles, since that would give the cloth energy.
const KEPT: &str = "cloth stays inside an obstacle or crosses something: to lead it out would give it energy";

/// Memory that a step works in. Nothing in it outlives a step but as a cache.
pub(crate) struct Work {
    pub matrix: Blocks,
    pub memory: Memory,
    pub contacts: Contacts,
    pub inverse_masses: Vec<f64>,
    /// At the begin of a part, and after it.
    pub begin: State,
    pub next: State,
    /// Vertices that are held.
    pub held: Vec<Held>,
    pub constraints: Vec<Constraint>,
    pub targets: Vec<V3>,
    /// Loads, and loads with gravity `[N]`.
    pub loads: Vec<V3>,
    pub forces: Vec<V3>,
    /// What is near at the begin of a part, and as contacts.
    pub near: Vec<Near>,
    pub links: Vec<Link>,
    /// [`crate::integrate::Ended::unbalanced`] of the last substep.
    pub unbalanced: f64,
    /// [`partita_contact::Report::depth`] of the last substep `[m]`.
    pub depth: f64,
    pub islands: Islands,
    /// Of vertices, as long as twice the area around them `[m²]`; how an obstacle pushes each, and whether another does so against it.
    pub normals: Vec<V3>,
    pub squeezes: Vec<(Option<Push>, bool)>,
    pub obstacles: Obstacles,
    pub reactions: Vec<Reaction>,
    pub impacts: Vec<Reaction>,
    pub holding: Vec<Reaction>,
}

impl ImplicitCloth {
    pub(crate) fn take_step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        self.parameters.check()?;
        check(&self.table, &self.guides, dt, inputs)?;
        self.holds.check_step(self.state.time, dt)?;
        self.gather_loads(inputs);
        let report = self.try_step(dt, inputs)?;
        // From here on nothing can fail.
        std::mem::swap(&mut self.state, &mut self.work.next);
        Ok(report)
    }

    /// The step, to `work.next`: in parts so short that each stretches the cloth no more than it may (\[BW98\] section 6), gives it
    /// hardly any energy that nobody gave (`balance.rs`), and that the air does not throw it beyond its own speed; the shortest is taken
    /// as it comes.
    fn try_step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        let end = self.state.time + dt;
        let mut report = StepReport { substeps: 0, ..StepReport::new(end) };
        self.work.next.clone_from(&self.state);
        self.work.reactions.clear();
        self.work.contacts.start_step();
        self.strike(inputs);
        let (mut done, mut length, mut tried) = (0, PARTS, f64::INFINITY);
        // Energy of the substep after which nothing was led out any more.
        let mut refused = 0.0;
        while done < PARTS {
            let parts_for_air = dt * self.sheet.air_rate(&self.work.next.velocities, &self.parameters);
            while length > 1 && f64::from(PARTS / length) < parts_for_air {
                length /= 2;
            }
            let (parts, part) = (PARTS / length, done / length);
            let motions: Vec<Option<Motion>> = (self.guides.iter().zip(&inputs.motions))
                .map(|(guide, motion)| motion.as_ref().map(|motion| motion.part(guide, dt, parts, part)))
                .collect();
            let then = done + length;
            let time = if then == PARTS { end } else { self.state.time + dt / f64::from(PARTS) * f64::from(then) };
            let Work { held, next, .. } = &mut self.work;
            self.holds.ask(time, &self.guides, &motions, &next.positions, held)?;
            self.work.begin.clone_from(&self.work.next);
            let booked = self.work.reactions.len();
            let (outcome, notes) = (report.outcome.clone(), report.notes.len());
            let duration = dt / f64::from(parts);
            let taken = self.take_part([duration, dt], &motions, &mut report);
            taken.map_err(|error| self.absurd_load(dt, inputs, 1.0).unwrap_or(error))?;
            let excess = self.excess(duration, &motions, booked, self.may_give(duration, inputs));
            let over = excess.map_or(0.0, |(error, bound, _)| error / bound);
            let is_long = over > 0.0 && (over < HELPS * tried || !self.gains_by_contact(duration));
            if length > 1 && (is_long || self.stretches_far()) {
                tried = if over > 0.0 { over } else { f64::INFINITY };
                self.take_back(booked, &mut report, outcome, notes);
                length /= 2;
                continue;
            }
            self.check_balance(dt, inputs)?;
            let most = self.may_give_at_most(duration);
            let excess = excess.and_then(|_| self.excess(duration, &motions, booked, most));
            let given = excess.map_or(0.0, |(gained, may, _)| if self.is_in_balance() { gained - may } else { 0.0 });
            let is_led = self.work.depth > 0.0 && self.work.contacts.leads();
            if is_led && !self.may_lead(given) {
                self.take_back(booked, &mut report, outcome, notes);
                self.work.contacts.keep_depths();
                refused = given;
                continue;
            }
            if given < std::mem::take(&mut refused) {
                report.note(Note::new(KEPT));
            }
            if let Some((error, bound, unit)) = excess {
                report.outcome.note(error, bound, unit);
            }
            report.substeps += 1;
            (done, tried) = (done + length, f64::INFINITY);
            // The next is as long as one twice as long could start there.
            if length < PARTS && done.is_multiple_of(2 * length) {
                length *= 2;
            }
        }
        self.work.next.time = end;
        report.budget_used = self.work.contacts.budget_used();
        report.passed_on = self.stop_carriers(inputs);
        report_supports(&self.work.held, inputs, &mut report);
        report.add_up(&mut self.work.reactions);
        report.add_up_impacts(&mut self.work.impacts);
        report.add_up_holding(&mut self.work.holding);
        Ok(report)
    }

    /// Takes back the part of a step that was just taken, with reactions and notes from such numbers on.
    fn take_back(&mut self, reactions: usize, report: &mut StepReport, outcome: Outcome, notes: usize) {
        self.work.next.clone_from(&self.work.begin);
        self.work.reactions.truncate(reactions);
        report.outcome = outcome;
        report.notes.truncate(notes);
    }

    /// Whether the part of a step that was just taken stretched the cloth by more than it may.
    fn stretches_far(&self) -> bool {
        let Work { begin, next, .. } = &self.work;
        self.sheet.stretches(&begin.positions, &next.positions) > self.parameters.max_stretch
    }

    /// Whether it may be the constant force of a contact that gave energy in a part of a step that
    /// was just taken, of `duration` `[s]`, and not its length.
    fn gains_by_contact(&self, duration: f64) -> bool {
        let pushes = |link: &Link| link.force != V3::zeros();
        duration < self.stiffness_time(duration) && self.is_in_balance() && self.work.links.iter().any(pushes)
    }

    /// Whether forces were balanced well enough in the part of a step that was just taken.
    fn is_in_balance(&self) -> bool {
        self.work.unbalanced <= UNBALANCED
    }

    /// Error of the part of a step that was just taken, with reactions from such a number on, if it was too long for balance
    /// or energy: its value, bound and unit.
    fn excess(
        &self,
        dt: f64,
        motions: &[Option<Motion>],
        booked: usize,
        may: MayGive,
    ) -> Option<(f64, f64, &'static str)> {
        let Work { reactions, unbalanced, .. } = &self.work;
        if !self.is_in_balance() {
            return Some((*unbalanced, UNBALANCED, "of the forces in the shortest substep"));
        }
        let [gained, most] = self.gain(dt, motions, &reactions[booked..], may);
        (gained > most).then_some((gained, most, "J that nobody gave in a substep"))
    }

    /// # Errors
    /// Names the largest load or impulse of a step of `dt` `[s]`, where no change of velocities balances it in the
    /// shortest part, or where it moves the cloth so much that contact ends at its limit of work.
    fn check_balance(&self, dt: f64, inputs: &Inputs) -> Result<(), SimulatorError> {
        let absurd = match self.is_in_balance() {
            false => self.absurd_load(dt, inputs, 1.0),
            true if self.work.contacts.is_low() => self.absurd_load(dt, inputs, ABSURD),
            true => None,
        };
        absurd.map_or(Ok(()), Err)
    }

    /// Error of a step that failed, if a load is to blame: its impulse is so many times [`Vertices::largest_impulse`].
    fn absurd_load(&self, dt: f64, inputs: &Inputs, times: f64) -> Option<SimulatorError> {
        let on_vertices = |(handle, wrench): &(HandleId, Wrench)| {
            let impulse = V3::from(wrench.linear);
            self.places[handle.index as usize].parts().map(move |(vertex, weight)| (vertex, weight * impulse))
        };
        let impulses = inputs.impulses.iter().flat_map(on_vertices);
        let own = self.vertices_of(&self.state).largest_impulse(self.parameters.gravity, dt);
        let moves = |vertex: usize| self.work.inverse_masses[vertex] > 0.0;
        absurd_load(&self.work.loads, impulses, moves, dt, times * own)
    }

    fn take_part(
        &mut self,
        [dt, whole]: [f64; 2],
        motions: &[Option<Motion>],
        report: &mut StepReport,
    ) -> Result<(), SimulatorError> {
        let mut clock = StageClock::start();
        self.constrain(dt);
        self.find_near([dt, whole], motions)?;
        clock.lap("find contacts");
        self.integrate(dt, &mut clock, report);
        self.hold(dt);
        self.keep_angular_momentum(dt);
        self.remember_links();
        self.book_links(dt, motions);
        clock.lap("integrate");
        self.check_finite()?;
        self.keep_apart(dt, motions, report)?;
        clock.lap("contact");
        clock.stages.0.iter().for_each(|(stage, seconds)| report.stages.add(stage, *seconds));
        self.check_finite()
    }

    /// Adds the impulses that act at the start of the step; supports take those on kinematic vertices.
    fn strike(&mut self, inputs: &Inputs) {
        let Work { next, reactions, .. } = &mut self.work;
        if !inputs.impulses.is_empty() {
            // A jump is no motion for a method over two steps to go on from.
            next.before = None;
        }
        for (handle, impulse) in &inputs.impulses {
            for (vertex, weight) in self.places[handle.index as usize].parts() {
                let impulse = weight * V3::from(impulse.linear);
                match self.holds.support(vertex as u32, &self.guides, &inputs.motions) {
                    Support::None => next.velocities[vertex] += impulse / self.sheet.masses[vertex],
                    support => support.take(impulse, next.positions[vertex], reactions, &mut next.external),
                }
            }
        }
    }

    fn gather_loads(&mut self, inputs: &Inputs) {
        let Work { loads, forces, .. } = &mut self.work;
        loads.clear();
        loads.resize(self.sheet.masses.len(), V3::zeros());
        for (handle, wrench) in &inputs.loads {
            let force = V3::from(wrench.linear);
            for (vertex, weight) in self.places[handle.index as usize].parts() {
                loads[vertex] += weight * force;
            }
        }
        let gravity = V3::from(self.parameters.gravity);
        forces.clear();
        forces.extend(loads.iter().zip(&self.sheet.masses).map(|(load, m)| load + *m * gravity));
    }

    /// What of velocities is given: of what is held or attached.
    fn constrain(&mut self, dt: f64) {
        let Work { held, constraints, targets, inverse_masses, next, .. } = &mut self.work;
        let n = self.sheet.masses.len();
        constraints.clear();
        constraints.resize(n, Constraint::Free);
        targets.clear();
        targets.resize(n, V3::zeros());
        for held in &*held {
            constraints[held.vertex] = Constraint::Fixed;
            targets[held.vertex] = (held.position - next.positions[held.vertex]) / dt;
        }
        inverse_masses.clear();
        inverse_masses.extend(
            self.sheet
                .masses
                .iter()
                .zip(&*constraints)
                .map(|(m, c)| if *c == Constraint::Fixed { 0.0 } else { 1.0 / m }),
        );
    }

    /// Time step that contacts are made stiff for in a part of a step of `dt` `[s]`.
    fn stiffness_time(&self, dt: f64) -> f64 {
        dt.max(BRISK / self.parameters.contact_rates.depenetration)
    }

    /// Contacts that act in a part of `dt` of a step of `whole` `[s]`, from pairs that are near at its start.
    fn find_near(&mut self, [dt, whole]: [f64; 2], motions: &[Option<Motion>]) -> Result<(), SimulatorError> {
        let (sheet, fabric) = (&self.sheet, &self.parameters.fabric);
        let gravity = V3::from(self.parameters.gravity).norm();
        let ContactRates { slip_tolerance, .. } = self.parameters.contact_rates;
        let shortest = self.stiffness_time(dt);
        let of_pinched = shortest.max(0.5 * whole);
        let Work { next, contacts, inverse_masses, obstacles, near, links, memory, normals, squeezes, .. } =
            &mut self.work;
        obstacles.place(&self.guides, motions);
        let paths = obstacles.paths(motions);
        let step = partita_contact::Step {
            dt,
            begin: &next.positions,
            velocities: Some([&next.velocities; 2]),
            inverse_masses,
            paths: &paths,
        };
        memory.x.clear();
        memory.x.extend(next.positions.iter().zip(&next.velocities).map(|(x, v)| x + dt * v));
        contacts.find_near(&next.contact, &step, &memory.x, near).map_err(not_apart)?;
        // Springs between what is prescribed on both sides would only push the obstacle about.
        near.retain(|near| near.way_made > 0.0);
        links.clear();
        let stage = self.parameters.integrator.stage();
        let vertices = sheet.masses.len();
        let as_one = |near: &Near, of: &dyn Fn(usize) -> f64| {
            near.pair.parts(near.weights, vertices).map(|(v, c)| c * c / of(v)).sum::<f64>().recip()
        };
        if !near.is_empty() {
            sheet.normals(&next.positions, normals);
        }
        links.extend(near.iter().zip(pinched(near, normals, squeezes)).map(|(near, pinched)| {
            // Springs that were the stiffer the shorter the part would store more in each.
            let stiffness = if pinched {
                [as_one(near, &|v| sheet.masses[v] / (of_pinched * of_pinched)); 2]
            } else {
                CONTACT.map(|share| share * as_one(near, &|v| sheet.resistance(v, fabric, shortest)))
            }
            .map(|stiffness| near.way_made * stiffness);
            let known = next.normal_forces.binary_search_by(|(pair, _)| pair.cmp(&near.pair));
            let mass = as_one(near, &|v| sheet.masses[v]);
            let mut there = *near;
            contacts.turn(&mut there, |v| stage * dt * next.velocities[v], stage);
            Link::new(
                [near, &there],
                Scale { stiffness, mass, gravity, slip_tolerance },
                known.ok().map(|k| next.normal_forces[k].1),
                &next.velocities,
                dt,
            )
        }));
        links.extend(contacts.pressings(&next.contact, dt).flat_map(|pressing| {
            let stiffness = CONTACT[1] * sheet.resistance(pressing.vertex as usize, fabric, shortest);
            let is_rough = |side: &PressingSide| side.most > 0.0;
            let of =
                |side: PressingSide| Link::pressed(&pressing, &side, [stiffness, slip_tolerance], &next.velocities, dt);
            pressing.sides.into_iter().filter(is_rough).map(of).collect::<Vec<_>>()
        }));
        Ok(())
    }

    fn integrate(&mut self, dt: f64, clock: &mut StageClock, report: &mut StepReport) {
        let Work { matrix, memory, next, constraints, targets, forces, links, contacts, .. } = &mut self.work;
        let (sheet, parameters) = (&self.sheet, &self.parameters);
        let problem = Problem { sheet, parameters, state: next, dt, constraints, targets, forces, contacts };
        let ended = integrate(&problem, matrix, memory, links, clock);
        report.iterations += ended.iterations;
        let tolerance = self.parameters.tolerance;
        let of_scale = "of the forces or gravity";
        report.outcome.note(ended.error, tolerance, of_scale);
        report.outcome.note(ended.contacts, HOLDS * tolerance, of_scale);
        self.work.unbalanced = ended.unbalanced;
        if let Some([error, bound]) = ended.newton {
            report.outcome.note(error, bound, "m/s");
        }
    }

    /// Puts what is held where it has to be, and books what that and other forces gave. What the solver left over is taken by
    /// those that hold the cloth; where nobody does, all of it moves a little slower or faster.
    fn hold(&mut self, dt: f64) {
        let Work { memory, next, constraints, loads, held, reactions, .. } = &mut self.work;
        let masses = &self.sheet.masses;
        let holding = constraints.iter().filter(|c| **c == Constraint::Fixed).count();
        let is_free = |k: &usize| constraints[*k] != Constraint::Fixed;
        let left: V3 = (0..masses.len()).filter(is_free).map(|k| memory.impulses[k]).sum();
        if holding == 0 {
            let whole: f64 = masses.iter().sum();
            memory.v.iter_mut().for_each(|v| *v -= left / whole);
        }
        let share = if holding == 0 { V3::zeros() } else { left / holding as f64 };
        let (mut linear, mut angular) = (V3::zeros(), V3::zeros());
        let mut external = |x: &V3, impulse: V3| {
            linear += impulse;
            angular += x.cross(&impulse);
        };
        let acted = memory.acted.iter().zip(&memory.carried).zip(&*loads);
        for (x, ((acted, carried), load)) in next.positions.iter().zip(acted) {
            external(x, acted + carried - dt * load);
        }
        for &Held { vertex: v, position, velocity, guide } in &*held {
            memory.impulses[v] += masses[v] * (velocity - memory.v[v]);
            (memory.x[v], memory.v[v]) = (position, velocity);
            let impulse = memory.impulses[v] + share;
            match guide {
                None => external(&position, impulse),
                Some(guide) => reactions.push(Reaction { guide, carrier: 0, impulse: Wrench::force(-impulse) }),
            }
        }
        next.external += Wrench { linear: linear.into(), angular: angular.into() };
    }

    /// Puts back the angular momentum that one linear solve takes from cloth that nothing carries.
    fn keep_angular_momentum(&mut self, dt: f64) {
        let Work { memory, next, constraints, links, islands, .. } = &mut self.work;
        let carried = constraints.iter().enumerate().filter(|(_, c)| **c != Constraint::Free).map(|(k, _)| k);
        if self.parameters.integrator != Integrator::Linearised || !islands.start(carried) {
            return;
        }
        let (masses, x) = (&self.sheet.masses, &next.positions);
        let mut gained = self.sheet.energy(&memory.x) - self.sheet.energy(x);
        for (k, &m) in masses.iter().enumerate() {
            islands.add(k, &x[k], memory.acted[k]);
            gained += 0.5 * m * (memory.v[k].norm_squared() - next.velocities[k].norm_squared());
            gained -= memory.acted[k].dot(&(memory.x[k] - x[k])) / dt;
        }
        for link in links.iter() {
            let at = if link.is_turned() { &memory.x } else { x };
            link.parts(masses.len()).for_each(|(k, c)| islands.add(k, &at[k], dt * c * link.force));
        }
        let to = Moment { x: &memory.x, v: &memory.v };
        islands.solve(masses, Moment { x, v: &next.velocities }, to);
        islands.put_back(masses, &memory.x, &mut memory.v, gained);
    }

    /// How hard contacts pushed, for the next part.
    fn remember_links(&mut self) {
        let Work { next, links, .. } = &mut self.work;
        next.normal_forces.clear();
        let forces = links.iter().map(|link| (link.near.pair, link.normal_force()));
        next.normal_forces.extend(forces.filter(|(_, force)| *force > 0.0));
        next.normal_forces.sort_unstable_by_key(|(pair, _)| *pair);
    }

    /// Adds impulses of contacts to the reactions of obstacles, where their normals are: turned ones at the end of the part
    /// ([`Contacts::turn`]), so that cloth that slides around a bar without friction does not turn it.
    fn book_links(&mut self, dt: f64, motions: &[Option<Motion>]) {
        let Work { memory, next, contacts, obstacles, links, reactions, .. } = &mut self.work;
        for link in links.iter().filter(|link| link.force != V3::zeros()) {
            let Near { pair, obstacle, weights, .. } = link.near;
            let touch = Touch { pair, obstacle, weights, impulse: dt * link.force, at: f64::from(link.is_turned()) };
            obstacles.book(&touch, [&next.positions, &memory.x], motions, contacts, reactions);
        }
    }

    /// Nothing passes through anything, from where the cloth is to where it would be.
    fn keep_apart(
        &mut self,
        dt: f64,
        motions: &[Option<Motion>],
        report: &mut StepReport,
    ) -> Result<(), SimulatorError> {
        let Work { memory, next, contacts, inverse_masses, obstacles, held, links, reactions, depth, .. } =
            &mut self.work;
        let paths = obstacles.paths(motions);
        let step = partita_contact::Step {
            dt,
            begin: &next.positions,
            velocities: Some([&next.velocities, &memory.v]),
            inverse_masses,
            paths: &paths,
        };
        let pushing = links.iter().filter(|link| link.is_spring() && link.normal_force() > 0.0);
        pushing.for_each(|link| contacts.add_bounce(&link.near, dt * link.normal_force(), dt));
        let found = contacts.resolve(&mut next.contact, &step, &mut memory.x).map_err(not_apart)?;
        for (k, impulse) in contacts.impulses().iter().enumerate() {
            memory.v[k] += inverse_masses[k] * impulse;
        }
        reactions.extend(obstacles.reactions(contacts, motions));
        // What contacts took from pins and what is attached goes to who holds these.
        for &Held { vertex, position, guide, .. } in &*held {
            let taken = contacts.impulses()[vertex];
            match guide {
                None => next.external += Wrench { linear: (-taken).into(), angular: (-position.cross(&taken)).into() },
                Some(guide) => reactions.push(Reaction { guide, carrier: 0, impulse: Wrench::force(taken) }),
            }
        }
        *depth = found.depth;
        if found.depth == 0.0 && found.unresolved == 0.0 {
            next.led = Led::default();
        }
        note_contact(&found, report);
        std::mem::swap(&mut next.positions, &mut memory.x);
        std::mem::swap(&mut next.velocities, &mut memory.v);
        if self.parameters.integrator == Integrator::Bdf2 {
            // What contact changes at once is no motion to go on from: it would be given back as a bounce.
            let is_free = !touches(links, contacts);
            next.before = is_free.then(|| (memory.x.clone(), memory.v.clone(), dt));
        }
        Ok(())
    }

    /// Computes impacts on carriers that come to where the cloth cannot give way. Returns the guides whose impacts
    /// other carriers take.
    fn stop_carriers(&mut self, inputs: &Inputs) -> Vec<u32> {
        let Work { contacts, obstacles, next, inverse_masses, held, reactions, impacts, holding, .. } = &mut self.work;
        let State { contact, positions, velocities, external, .. } = next;
        impacts.clear();
        holding.clear();
        let guides = &self.guides;
        let cloth = Ended { inputs, guides, contact, positions, velocities, inverse_masses, held };
        obstacles.stop_carriers(contacts, cloth, reactions, [holding, impacts], external)
    }

    fn check_finite(&self) -> Result<(), SimulatorError> {
        let Work { memory, next, .. } = &self.work;
        let masses = &self.sheet.masses;
        Vertices { positions: &memory.x, velocities: &memory.v, masses }.check_finite()?;
        self.vertices_of(next).check_finite()
    }
}

/// Whether contacts acted on the cloth in the last substep.
pub(crate) fn touches(links: &[Link], contacts: &Contacts) -> bool {
    links.iter().any(|link| link.force != V3::zeros())
        || contacts.impulses().iter().any(|impulse| *impulse != V3::zeros())
}
