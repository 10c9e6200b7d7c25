//! One step from top to bottom, and its stages (\[BDB09\] figure 1).

use std::time::Instant;

use nalgebra::Vector3;
use partita_cloth::{Held, Islands, Moment, Obstacles, Support, absurd_load, report_supports};
use partita_contact::{Contacts, Pushes, Touch};
use partita_simulator::{Inputs, Motion, Reaction, SimulatorError, StageClock, StepReport, Wrench, check};

use crate::{
    IbdsCloth, Integrator, Parameters, Solver,
    link_error::Rates,
    links::Links,
    meet::contacts,
    solvers::{Counts, Fixed, Limit, Meeting, Solvers, System},
    state::State,
};

type V3 = Vector3<f64>;

/// Rounds of the loop of places, in which contacts are added with what is in the way then.
const ROUNDS: u32 = 4;

/// Most times that friction of pressed particles is found anew in a loop of places.
const FRICTIONS: u32 = 6;

/// Parts for which Newton's method goes on before sweeps are tried again: where these fail they cost as much as it does, a twentieth.
const GOES_ON: u32 = 20;

/// Error of a link's length, relative to that at rest, with which a load that is to blame fails the step [-].
const TORN: f64 = 1e3;

/// How exact the loop of places makes contacts, of the thickness [-].
const CLOSE: f64 = 0.1;

/// Memory that a step works in. Nothing in it outlives a step but what the configuration gives.
#[derive(Default)]
pub(crate) struct Work {
    /// When loops stop in any case.
    pub until: Option<Instant>,
    pub solvers: Solvers,
    pub links: Links,
    pub next: State,
    /// Loads, and with these gravity and springs `[N]`.
    pub forces: Vec<V3>,
    pub loads: Vec<V3>,
    /// 0 for what is held `[1/kg]`.
    pub inverse_masses: Vec<f64>,
    /// The same for links in the loop of places, in which friction makes pressed particles heavier `[1/kg]`.
    pub weighed: Vec<f64>,
    /// Error of friction on pressed particles in the last loop of places, of Coulomb's [-].
    pub friction_error: f64,
    /// What is held, and how fast that went at the begin of a part `[m/s]`.
    pub held: Vec<Held>,
    pub before: Vec<V3>,
    /// Where particles are at the begin and the end of a part, and would be without links `[m]`.
    pub begin: Vec<V3>,
    pub places: Vec<V3>,
    pub predicted: Vec<V3>,
    /// Velocities at the start of a part `[m/s]`; impulses of forces over it `[N s]`, none where something carries every island.
    pub start_velocities: Vec<V3>,
    pub impulses: Vec<V3>,
    pub islands: Islands,
    /// Impulses on what is held, times the part, and without.
    pub taken: Vec<V3>,
    pub given: Vec<V3>,
    pub directions: Vec<V3>,
    /// Errors that links may have, of length or of its rate `[m]`, `[m/s]`.
    pub allowed: Vec<f64>,
    /// Whether the last step left the length of a link wrong by more than [`TORN`].
    pub is_torn: bool,
    /// Of the last step.
    pub counts: Counts,
    /// What links gave in a loop.
    pub pulls: Vec<f64>,
    /// None where nothing can be met; also where that has changed.
    pub contacts: Option<Contacts>,
    pub obstacles: Obstacles,
    /// Of the loops of places and of velocities.
    pub pushes: Pushes,
    pub rates: Pushes,
    pub reactions: Vec<Reaction>,
    pub impacts: Vec<Reaction>,
    pub holding: Vec<Reaction>,
}

impl IbdsCloth {
    pub(crate) fn take_step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        self.parameters.check()?;
        check(&self.table, &self.guides, dt, inputs)?;
        self.holds.check_step(self.state.time, dt)?;
        let parts = self.parameters.substeps;
        let mut report = StepReport { substeps: parts, ..StepReport::new(self.state.time + dt) };
        if self.work.contacts.is_none() {
            let (obstacles, met) = Obstacles::new(&self.guides);
            self.work.contacts = contacts(&self.net, &self.parameters, met)?;
            self.work.obstacles = obstacles;
        }
        self.work.contacts.iter_mut().for_each(Contacts::start_step);
        self.gather_loads(inputs);
        self.work.next.clone_from(&self.state);
        self.work.reactions.clear();
        self.work.counts = Counts::default();
        self.strike(inputs);
        let start = Instant::now();
        let mut clock = StageClock::start();
        for part in 0..parts {
            self.work.until = self.parameters.until(start, part);
            self.gather_forces();
            let motions: Vec<Option<Motion>> = (self.guides.iter().zip(&inputs.motions))
                .map(|(guide, motion)| motion.as_ref().map(|motion| motion.part(guide, dt, parts, part)))
                .collect();
            let is_last = part + 1 == parts;
            let time = self.state.time + dt / f64::from(parts) * f64::from(part + 1);
            self.hold(if is_last { report.time } else { time }, &motions)?;
            self.work.obstacles.place(&self.guides, &motions);
            let taken = self.take_part(dt / f64::from(parts), is_last, &motions, &mut clock, &mut report);
            let sound = taken.and_then(|()| self.vertices_of(&self.work.next).check_finite());
            sound.map_err(|error| self.absurd_load(dt, inputs).unwrap_or(error))?;
        }
        report.stages = clock.stages;
        self.work.next.time = report.time;
        report.iterations = self.work.counts.iterations;
        report.budget_used = self.work.contacts.as_ref().map_or(0.0, Contacts::budget_used);
        report.passed_on = self.stop_carriers(inputs);
        report_supports(&self.work.held, inputs, &mut report);
        report.add_up(&mut self.work.reactions);
        report.add_up_impacts(&mut self.work.impacts);
        report.add_up_holding(&mut self.work.holding);
        if self.work.is_torn
            && let Some(error) = self.absurd_load(dt, inputs)
        {
            return Err(error);
        }
        // From here on nothing can fail.
        std::mem::swap(&mut self.state, &mut self.work.next);
        Ok(report)
    }

    /// Error of a step that failed or left links torn, if a load is to blame ([`partita_cloth::Vertices::largest_impulse`]).
    fn absurd_load(&self, dt: f64, inputs: &Inputs) -> Option<SimulatorError> {
        let Work { loads, inverse_masses, .. } = &self.work;
        let impulses = inputs.impulses.iter().map(|(handle, j)| (handle.index as usize, V3::from(j.linear)));
        let least = self.vertices_of(&self.state).largest_impulse(self.parameters.gravity, dt);
        absurd_load(loads, impulses, |vertex| inverse_masses[vertex] > 0.0, dt, least)
    }

    fn take_part(
        &mut self,
        h: f64,
        is_last: bool,
        motions: &[Option<Motion>],
        clock: &mut StageClock,
        report: &mut StepReport,
    ) -> Result<(), SimulatorError> {
        self.predict(h);
        clock.lap("predict");
        let before = self.work.counts.newton_steps;
        let mut worst = self.correct_lengths(h, is_last, motions)?;
        let has_stepped = self.work.counts.newton_steps > before;
        self.keep_pulls(h, worst <= 1.0 && !has_stepped);
        self.add_pushes();
        self.advance(h);
        clock.lap("correct lengths");
        let has_touched = self.keep_apart(h, motions, report)?;
        clock.lap("keep apart");
        if has_touched {
            self.work.links.add_closed(&self.net, &self.work.places, self.parameters.strut_tolerance);
            self.prepare_links();
            worst = self.worst_length(h, |system, link| system.can_move(link));
        }
        std::mem::swap(&mut self.work.begin, &mut self.work.next.positions);
        self.work.next.positions.clone_from(&self.work.places);
        report.outcome.note(self.work.friction_error, Pushes::FRICTION_ERROR, "of friction under a load");
        if is_last {
            self.note_lengths(h, report);
        }
        self.correct_rates(h, is_last, report);
        clock.lap("correct velocities");
        if !has_touched {
            self.keep_angular_momentum();
        }
        let has_stepped = self.work.counts.newton_steps > before;
        let newton = &mut self.work.next.newton;
        *newton = match *newton {
            _ if worst > 1.0 => 0,
            0 if has_stepped => GOES_ON,
            parts => parts.saturating_sub(1),
        };
        self.book_pushes(h, motions);
        self.book_held(h);
        clock.lap("finish");
        Ok(())
    }

    /// Adds the impulses that act at the start of the step; supports take those on kinematic particles.
    fn strike(&mut self, inputs: &Inputs) {
        let Work { next, reactions, .. } = &mut self.work;
        for (handle, impulse) in &inputs.impulses {
            let (k, impulse) = (handle.index as usize, V3::from(impulse.linear));
            match self.holds.support(handle.index, &self.guides, &inputs.motions) {
                Support::None => next.velocities[k] += impulse / self.net.masses[k],
                support => support.take(impulse, next.positions[k], reactions, &mut next.external),
            }
        }
    }

    fn gather_loads(&mut self, inputs: &Inputs) {
        let loads = &mut self.work.loads;
        loads.clear();
        loads.resize(self.net.masses.len(), V3::zeros());
        for (handle, wrench) in &inputs.loads {
            loads[handle.index as usize] += V3::from(wrench.linear);
        }
    }

    /// Loads, gravity and springs, constant over a part (\[BBD09\] section 4.3).
    fn gather_forces(&mut self) {
        let Work { loads, forces, next, .. } = &mut self.work;
        let gravity = V3::from(self.parameters.gravity);
        forces.clear();
        forces.extend(loads.iter().zip(&self.net.masses).map(|(load, m)| load + *m * gravity));
        for spring in &self.net.springs {
            let [i, j] = spring.particles.map(|k| k as usize);
            let apart = next.positions[j] - next.positions[i];
            let length = apart.norm();
            if length > 0.0 {
                let n = apart / length;
                let rate = n.dot(&(next.velocities[j] - next.velocities[i]));
                let pull = (spring.stiffness * (length - spring.rest_length) + spring.damping * rate) * n;
                forces[i] += pull;
                forces[j] -= pull;
            }
        }
    }

    /// What moves as it is told until a time: pins, what hands hold, and what is attached.
    fn hold(&mut self, time: f64, motions: &[Option<Motion>]) -> Result<(), SimulatorError> {
        let Work { held, before, inverse_masses, next, .. } = &mut self.work;
        self.holds.ask(time, &self.guides, motions, &next.positions, held)?;
        before.clear();
        before.extend(held.iter().map(|held| next.velocities[held.vertex]));
        inverse_masses.clear();
        inverse_masses.extend(self.net.masses.iter().map(|m| 1.0 / m));
        held.iter().for_each(|held| inverse_masses[held.vertex] = 0.0);
        Ok(())
    }

    /// Where particles would be without links (\[BDB09\] equation 2).
    fn predict(&mut self, h: f64) {
        let Work {
            next,
            forces,
            inverse_masses,
            held,
            places,
            predicted,
            start_velocities,
            impulses,
            islands,
            taken,
            given,
            ..
        } = &mut self.work;
        let share = self.parameters.integrator.share();
        predicted.clear();
        let (x, v) = (next.positions.iter(), next.velocities.iter());
        let bodies = x.zip(v).zip(forces.iter().zip(&*inverse_masses));
        predicted.extend(bodies.map(|((x, v), (f, w))| x + h * v + share * h * h * *w * f));
        held.iter().for_each(|held| predicted[held.vertex] = held.position);
        places.clone_from(predicted);
        impulses.clear();
        start_velocities.clone_from(&next.velocities);
        if islands.start(held.iter().map(|held| held.vertex)) {
            impulses.extend(forces.iter().map(|f| h * f));
        }
        for sum in [taken, given] {
            sum.clear();
            sum.resize(places.len(), V3::zeros());
        }
    }

    /// The loop of places, over a part of `h`. Where longer parts before left errors of lengths, only as much of them is taken out as would
    /// have been in that time by then: in a short part all of it would become velocities, error/h.
    fn correct_lengths(&mut self, h: f64, is_last: bool, motions: &[Option<Motion>]) -> Result<f64, SimulatorError> {
        let settling = self.work.next.settling.max(h);
        let kept = 1.0 - h / settling;
        if kept > 0.0 {
            let Work { links, next, .. } = &mut self.work;
            links.keep_errors(&self.net, &next.positions, kept);
        }
        let worst = self.loop_over_lengths(h, is_last, motions);
        if kept > 0.0 {
            let Work { links, next, .. } = &mut self.work;
            links.keep_errors(&self.net, &next.positions, 0.0);
        }
        self.work.next.settling = (settling - h).max(h);
        worst
    }

    /// The loop of places (\[BDB09\] section 3.2): links, and contacts with what is near or in the way. The largest error of a link that can
    /// be moved, of what it may be.
    fn loop_over_lengths(&mut self, h: f64, is_last: bool, motions: &[Option<Motion>]) -> Result<f64, SimulatorError> {
        self.find_pushes(h, motions, true)?;
        let Work { links, next, places, allowed, pulls, .. } = &mut self.work;
        links.choose_struts(&self.net, &next.positions, places);
        allowed.clear();
        pulls.clear();
        self.begin_with_friction(None);
        let Work { links, .. } = &mut self.work;
        let softening = links.softening(h);
        let (solver, &Parameters { max_impulse, thickness, .. }) = (self.chosen(), &self.parameters);
        let largest = max_impulse.map_or(f64::INFINITY, |most| most * h);
        let limit = self.limit();
        self.begin_with_pulls(h);
        let (mut round, mut frictions) = (1, 1);
        loop {
            self.prepare_links();
            let Work { solvers, links, places, inverse_masses, weighed, taken, allowed, pulls, pushes, .. } =
                &mut self.work;
            let lengths = links.lengths();
            let leave = if self.parameters.warm_start && round == 1 { 0.0 } else { 1.0 };
            let w = weighed;
            let fixed = Fixed { w, links, allowed, softening, largest, leave };
            let mut system = System { y: places, taken, pulls, fixed };
            let meeting = Meeting { pushes, enough: CLOSE * thickness, inverse_masses };
            let ended = solvers.correct(&mut system, &lengths, meeting, solver, (limit, is_last));
            self.work.counts.join(&ended.counts);
            let Work { pushes, places, inverse_masses, friction_error, .. } = &mut self.work;
            *friction_error = pushes.find_friction(places, inverse_masses);
            if *friction_error > Pushes::FRICTION_ERROR && frictions < FRICTIONS && !limit.is_late() {
                let about = places.clone();
                self.begin_with_friction(Some(&about));
                self.begin_with_pulls(h);
                frictions += 1;
                continue;
            }
            let struts = self.work.links.add_closed(&self.net, &self.work.places, self.parameters.strut_tolerance);
            if round == ROUNDS || limit.is_late() {
                // Struts that were added last have not been solved, but count.
                self.prepare_links();
                return Ok(self.worst_length(h, |system, link| system.can_move(link)));
            }
            let contacts = self.find_pushes(h, motions, false)?;
            if struts + contacts == 0 {
                return Ok(ended.worst);
            }
            round += 1;
        }
    }

    /// Begins the loop of places with friction on pressed particles that is linear around such positions `[m]`, at first those without.
    fn begin_with_friction(&mut self, about: Option<&[V3]>) {
        let Work { pushes, predicted, places, inverse_masses, weighed, taken, pulls, .. } = &mut self.work;
        weighed.clone_from(inverse_masses);
        if about.is_some() {
            places.clone_from(predicted);
            pulls.fill(0.0);
            taken.fill(V3::zeros());
        }
        if pushes.has_pressed() {
            pushes.linearise_friction(about.unwrap_or(predicted), places, weighed);
        }
    }

    /// Where sweeps cost as much as Newton's method would, and that puts links right, it goes on: to change from the one to the other
    /// gives energy, as what sweeps leave alone is put right at once.
    fn chosen(&self) -> Solver {
        let Parameters { solver, .. } = self.parameters;
        if solver == Solver::Auto && self.work.next.newton > 0 { Solver::Newton } else { solver }
    }

    fn limit(&self) -> Limit {
        Limit { sweeps: self.parameters.max_iterations, until: self.work.until }
    }

    /// Writes down what links pulled with, for the next part to begin with.
    fn keep_pulls(&mut self, h: f64, are_right: bool) {
        if self.parameters.warm_start {
            let Work { next, pulls, .. } = &mut self.work;
            next.pulls.clear();
            // What cannot be put right would pull harder with every step, and Newton's method is free to let links pull at each other.
            let kept = if are_right { self.net.links.len() } else { 0 };
            next.pulls.extend(pulls[..kept].iter().map(|pull| pull / (h * h)));
        }
    }

    /// Bars and braces pull as they did, along where they would be.
    fn begin_with_pulls(&mut self, h: f64) {
        if !self.parameters.warm_start {
            return;
        }
        self.prepare_links();
        let Work { links, next, places, weighed, taken, allowed, pulls, .. } = &mut self.work;
        let (w, softening, largest, leave) = (weighed, 0.0, f64::INFINITY, 1.0);
        let lengths = links.lengths();
        let fixed = Fixed { w, links, allowed, softening, largest, leave };
        let mut system = System { y: places, taken, pulls, fixed };
        for (link, force) in next.pulls.iter().enumerate().filter(|(link, _)| !links.is_rope(*link)) {
            let (n, _) = system.error(link, links.ends[link].map(|k| &system.y[k as usize]), &lengths);
            system.pull(link, h * h * force, &n);
        }
    }

    /// What solvers need to know of links, also of struts that have been added.
    fn prepare_links(&mut self) {
        let Work { links, allowed, pulls, .. } = &mut self.work;
        let Parameters { extensibility, strut_tolerance, solver, .. } = self.parameters;
        links.prepare(solver);
        let (of_net, struts) = links.scale.split_at(links.struts().start);
        let known = [allowed.len().min(of_net.len()), allowed.len().saturating_sub(of_net.len())];
        allowed.extend(of_net[known[0]..].iter().map(|scale| extensibility * scale));
        allowed.extend(struts[known[1]..].iter().map(|scale| strut_tolerance * scale));
        pulls.resize(links.len(), 0.0);
    }

    /// The largest error of the links and struts that are asked for, of what it may be.
    fn worst_length(&mut self, h: f64, is_asked: impl Fn(&System<'_>, usize) -> bool) -> f64 {
        let Work { links, places, inverse_masses, taken, allowed, pulls, .. } = &mut self.work;
        let (lengths, softening) = (links.lengths(), links.softening(h));
        let (w, largest, leave) = (inverse_masses, f64::INFINITY, 1.0);
        let fixed = Fixed { w, links, allowed, softening, largest, leave };
        let system = System { y: places, taken, pulls, fixed };
        system.worst(&lengths, |link| is_asked(&system, link))
    }

    /// Reports the largest errors of links and struts, if one is above its bound; also if nothing of it can be
    /// moved. Errors are of lengths at rest: the loop of a short step is right where it keeps errors of longer
    /// ones, and the cloth is not.
    fn note_lengths(&mut self, h: f64, report: &mut StepReport) {
        self.work.is_torn = false;
        if self.worst_length(h, |_, _| true) > 1.0 {
            let [links, struts] =
                [false, true].map(|kind| self.worst_length(h, |system, link| system.links.is_strut(link) == kind));
            let Parameters { extensibility, strut_tolerance, .. } = self.parameters;
            self.work.is_torn = extensibility * links > TORN;
            report.outcome.note(extensibility * links, extensibility, "of the rest length");
            report.outcome.note(strut_tolerance * struts, strut_tolerance, "of a strut's distance");
        }
    }

    /// Velocities from positions: v + h F/m, and what corrections added, over h. Where no obstacle touches
    /// and no guide carries a particle, links and contacts of the cloth with itself give no energy. Carriers
    /// need the whole reaction: the coupling iterates it with their motion, and checks its energy.
    fn advance(&mut self, h: f64) {
        let gains = self.work.advance_velocities(&self.net, h, self.parameters.integrator.share());
        let Work { pushes, held, .. } = &self.work;
        let is_carried = || held.iter().any(|held| held.guide.is_some());
        let is_touched = || acting(pushes).any(|touch| touch.obstacle.is_some());
        if gains && !is_carried() && !is_touched() {
            self.work.reduce_impulses(&self.net, h);
        }
        let Work { next, held, .. } = &mut self.work;
        held.iter().for_each(|held| next.velocities[held.vertex] = held.velocity);
    }

    /// The loop of velocities (\[BDB09\] section 3.2), where links are as long as they may be.
    fn correct_rates(&mut self, h: f64, is_last: bool, report: &mut StepReport) {
        self.work.rates.clear();
        let &Parameters { max_impulse, velocity_tolerance: Some(tolerance), .. } = &self.parameters else { return };
        let solver = self.chosen();
        let (limit, largest) = (self.limit(), max_impulse.unwrap_or(f64::INFINITY));
        let Work {
            solvers,
            links,
            next,
            places,
            begin,
            inverse_masses,
            given,
            directions,
            allowed,
            pulls,
            pushes,
            rates,
            ..
        } = &mut self.work;
        directions.clear();
        directions.extend(links.ends.iter().enumerate().map(|(link, ends)| {
            let [i, j] = ends.map(|k| places[k as usize]);
            let length = (j - i).norm();
            // What gives way may swing, and what is slack and gave nothing is free.
            let too_long = length - links.rest[link];
            let is_slack = links.is_slack(link, too_long) && pulls[link] == 0.0;
            let is_loose = is_slack || links.compliance[link] > 0.0;
            if is_loose || length == 0.0 { V3::zeros() } else { (j - i) / length }
        }));
        allowed.fill(tolerance);
        pulls.fill(0.0);
        let y = &mut next.velocities;
        let (w, taken, softening, leave) = (inverse_masses, given, 0.0, 1.0);
        let fixed = Fixed { w, links, allowed, softening, largest, leave };
        let mut system = System { y, taken, pulls, fixed };
        rates.keep_closed(pushes, begin, h);
        let (rate, meeting) = (Rates { directions }, Meeting { pushes: rates, enough: tolerance, inverse_masses: w });
        let ended = solvers.correct(&mut system, &rate, meeting, solver, (limit, is_last));
        if is_last {
            let worst = ended.worst.max(system.worst(&rate, |link| !system.can_move(link)));
            report.outcome.note(tolerance * worst, tolerance, "m/s");
        }
        self.work.counts.join(&ended.counts);
    }

    /// Puts back the angular momentum that velocities from positions lose, of what nothing carries and, in this part, nothing
    /// touches: impulses of links are along where these end, and act on particles where they start.
    fn keep_angular_momentum(&mut self) {
        let Work { next, begin, start_velocities, impulses, predicted, islands, pushes, rates, .. } = &mut self.work;
        if impulses.is_empty() || acting(pushes).chain(acting(rates)).next().is_some() {
            return;
        }
        let masses = &self.net.masses;
        let mut gained = 0.0;
        for (k, &m) in masses.iter().enumerate() {
            let place = match self.parameters.integrator {
                Integrator::SymplecticEuler => begin[k],
                Integrator::Parabola => 0.5 * (begin[k] + predicted[k]),
            };
            islands.add(k, &place, impulses[k]);
            gained += 0.5 * m * (next.velocities[k].norm_squared() - start_velocities[k].norm_squared());
            // Impulses over a part are forces along the way that it went with the mean of its velocities.
            gained -= 0.5 * impulses[k].dot(&(next.velocities[k] + start_velocities[k]));
        }
        islands.solve(
            masses,
            Moment { x: begin, v: start_velocities },
            Moment { x: &next.positions, v: &next.velocities },
        );
        islands.put_back(masses, &next.positions, &mut next.velocities, gained);
    }

    /// What it took to hold particles: their change of momentum, less what forces and links gave them.
    fn book_held(&mut self, h: f64) {
        let Work { next, begin, predicted, forces, held, before, taken, given, reactions, .. } = &mut self.work;
        // Of all m, and of m x where the change of m x × v is the moment of the force.
        let (mut mass, mut moment) = (0.0, V3::zeros());
        for (m, (begin, predicted)) in self.net.masses.iter().zip(begin.iter().zip(&*predicted)) {
            mass += m;
            moment += match self.parameters.integrator {
                Integrator::SymplecticEuler => *m * begin,
                Integrator::Parabola => 0.5 * *m * (begin + predicted),
            };
        }
        let gravity = h * V3::from(self.parameters.gravity);
        let (mut linear, mut angular) = (mass * gravity, moment.cross(&gravity));
        let mut external = |x: &V3, impulse: V3| {
            linear += impulse;
            angular += x.cross(&impulse);
        };
        for (&Held { vertex: k, position, velocity, guide }, before) in held.iter().zip(&*before) {
            let links = taken[k] / h + given[k];
            let impulse = self.net.masses[k] * (velocity - before) - h * forces[k] - links;
            match guide {
                None => external(&position, impulse),
                Some(guide) => reactions.push(Reaction { guide, carrier: 0, impulse: Wrench::force(-impulse) }),
            }
        }
        next.external += Wrench { linear: linear.into(), angular: angular.into() };
    }
}

/// Contacts with an impulse.
pub(crate) fn acting(pushes: &Pushes) -> impl Iterator<Item = Touch> + '_ {
    pushes.touches().filter(|touch| touch.impulse != V3::zeros())
}
