//! A run: windows, looking, pushing, going back.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use partita_simulator::{HandleId, HandleState, Ledger, Settings, Simulator, SimulatorError, Wrench, check_load};

use crate::{
    Error, InterfaceLedger, Rate, Result, Rewind, RunNote, RunReport, Warning, WindowReport,
    engine::{Engine, Failure, Push},
    history::{Journal, Mark, Marks},
    reported::check_finite_state,
};

/// A scene in motion.
pub struct Run {
    pub(crate) engine: Engine,
    pub(crate) rate: Rate,
    pub(crate) start: f64,
    /// The last accepted window.
    pub(crate) accepted: Mark,
    pub(crate) marks: Marks,
    pub(crate) journal: Journal,
    /// For the next window.
    pub(crate) pushes: Vec<Push>,
    /// Simulators that could not go back to the last accepted window.
    pub(crate) stuck: BTreeMap<usize, SimulatorError>,
    pub(crate) last_window: Option<WindowReport>,
    /// Whether a warning is an error.
    is_strict: bool,
    settings: Settings,
    clock: Clock,
}

/// Where the run's own time goes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Clock {
    pub windows: Duration,
    pub taken: u64,
    pub marks: Duration,
}

/// What a coupling puts on a handle of its leader.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoupledLoad {
    /// Number of the interface, as in [`Run::ledgers`].
    pub interface: usize,
    /// The leader's.
    pub handle: HandleId,
    /// Of the handle, now.
    pub state: HandleState,
    /// What acts in the next window [N, N m].
    pub load: Wrench,
}

impl Run {
    pub(crate) fn new(
        mut engine: Engine,
        rate: Rate,
        rewind: Rewind,
        is_strict: bool,
        settings: Settings,
        start: f64,
    ) -> Result<Self> {
        let (marks, journal) = (Marks::new(rewind), Journal::default());
        engine.state.time = start;
        let accepted = Mark { number: 0, coupled: engine.state.clone() };
        let mut run = Self {
            engine,
            rate,
            start,
            accepted,
            marks,
            journal,
            pushes: Vec::new(),
            stuck: BTreeMap::new(),
            last_window: None,
            is_strict,
            settings,
            clock: Clock::default(),
        };
        run.accept().map_err(|Failure { member, error }| run.of(member, error))?;
        run.mark()?;
        Ok(run)
    }

    /// Simulated time `[s]`.
    pub fn time(&self) -> f64 {
        self.engine.state.time
    }

    /// Windows so far.
    pub fn windows(&self) -> u64 {
        self.engine.state.window
    }

    /// Advances by one window.
    ///
    /// # Errors
    /// A simulator refused, failed, panicked or timed out: the error names it. The run is back at the
    /// window's start, and loads pushed for it remain. A simulator that cannot go back there is
    /// stuck until it can or is replaced. A new warning is such an error in a
    /// [`crate::Scene::strict`] scene.
    pub fn advance(&mut self) -> Result<WindowReport> {
        self.unstick()?;
        if self.marks.due() {
            // Without this mark, going back takes longer; a simulator that cannot be marked has lost nothing.
            let _ = self.mark();
        }
        let (window, start) = (self.windows(), Instant::now());
        let taken = self.take_window();
        let took = start.elapsed();
        self.clock.windows += took;
        self.clock.taken += 1;
        self.marks.ran(took);
        match &taken {
            Ok(report) => {
                self.journal.record(window, self.rate.dt, &self.pushes);
                self.pushes.clear();
                self.last_window = Some(report.clone());
            }
            Err(_) => {
                self.recover();
                self.journal.truncate(window);
            }
        }
        taken
    }

    /// Takes the next window and accepts it.
    fn take_window(&mut self) -> Result<WindowReport> {
        let (window, time) = (self.windows(), self.time());
        let mut result = self.engine.window(self.rate.dt, &self.pushes);
        if result.is_ok() && !self.engine.to_iterate.is_empty() {
            result = self.repeat_window(window);
        }
        let report = result.map_err(|failure| self.window_error(window, time, failure))?;
        if self.is_strict
            && let Some(warning) = self.engine.state.totals.new_warning(&self.accepted.coupled.totals)
        {
            return Err(Error::Inaccurate { window, time, warning: Box::new(warning.clone()) });
        }
        self.accept().map_err(|failure| self.window_error(window, time, failure))?;
        Ok(report)
    }

    /// Advances by `seconds` `[s]`, rounded up to whole windows.
    ///
    /// # Errors
    /// `seconds` is negative or not finite, or as [`Run::advance`]; the windows before stand.
    pub fn for_seconds(&mut self, seconds: f64) -> Result<()> {
        self.each_window(seconds, |_| Ok(()))
    }

    /// As [`Run::for_seconds`], with `begin` called at the begin of every window: to look, to draw,
    /// to push.
    ///
    /// ```
    /// # use partita::{prelude::*, simulator::reference::MassOnSpring};
    /// # fn main() -> partita::Result<()> {
    /// # let mass = MassOnSpring::new("mass", Default::default())?;
    /// # let handle = mass.mass();
    /// # let mut scene = Scene::new(Rate::hz(64));
    /// # scene.add(mass);
    /// # let mut run = scene.build()?;
    /// let mut path = Vec::new();
    /// run.each_window(0.5, |run| {
    ///     path.push(run.state(handle)?.position);
    ///     run.push(handle, Wrench::force([1.0, 0.0, 0.0]))
    /// })?;
    /// assert_eq!((path.len(), path[0], run.time()), (32, [0.0; 3], 0.5));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Run::for_seconds`], or what `begin` returns; the windows before stand.
    pub fn each_window<E: From<Error>>(
        &mut self,
        seconds: f64,
        mut begin: impl FnMut(&mut Self) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        for _ in 0..self.windows_in(seconds)? {
            begin(self)?;
            self.advance()?;
        }
        Ok(())
    }

    /// Least number of windows that cover `seconds` `[s]`, as [`Run::for_seconds`] takes.
    ///
    /// # Errors
    /// `seconds` is negative or not finite.
    pub fn windows_in(&self, seconds: f64) -> Result<u64> {
        if !(seconds.is_finite() && seconds >= 0.0) {
            return Err(Error::refused("seconds", seconds, "finite, at least 0"));
        }
        // 0.1 + 0.2 are three windows of 0.1, though the sum is a bit more.
        Ok((seconds / self.rate.dt * (1.0 - 1e-12)).ceil() as u64)
    }

    /// Puts a load [N, N m] on a handle for the next window; several add up.
    ///
    /// # Errors
    /// The handle is not of this run, the load is not finite, or it is a torque on a Point.
    pub fn push(&mut self, handle: HandleId, load: Wrench) -> Result<()> {
        let member = self.member_of(handle)?;
        let table = &self.engine.members[member].table;
        check_load(table, handle, load).map_err(|error| self.of(member, error))?;
        self.pushes.push((member, handle, load));
        Ok(())
    }

    /// How long the next window is.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Changes the length of the windows to come.
    ///
    /// Interleaving carries the *force* over; the difference in impulse acts one window later. After a
    /// window that is shorter than others it is the part of the force that was there before, and the
    /// rest acts as an impulse. A change once in a while is harmless, but a length that jumps to and
    /// fro by a factor ρ pumps the exchange of attached handles up where ρ times the mass ratio is
    /// above one.
    ///
    /// # Errors
    /// It is not finite and positive.
    pub fn set_rate(&mut self, rate: Rate) -> Result<()> {
        if !(rate.dt.is_finite() && rate.dt > 0.0) {
            return Err(Error::refused("window [s]", rate.dt, "finite, above 0"));
        }
        self.rate = rate;
        Ok(())
    }

    // going back

    /// Repeats the last window from its start, iterating the contacts that would have added energy. If that fails, the window is taken
    /// as it was.
    fn repeat_window(&mut self, window: u64) -> std::result::Result<WindowReport, Failure> {
        let mut contacts = Vec::new();
        loop {
            let known = contacts.len();
            for contact in std::mem::take(&mut self.engine.to_iterate) {
                if !contacts.contains(&contact) {
                    contacts.push(contact);
                }
            }
            let has_more = contacts.len() > known;
            self.start_again()?;
            self.engine.iterate(&contacts);
            let result = self.engine.window(self.rate.dt, &self.pushes);
            if result.is_err() {
                self.start_again()?;
                return self.engine.window(self.rate.dt, &self.pushes);
            }
            if self.engine.to_iterate.is_empty() || !has_more {
                self.journal.iterate(window, &contacts);
                return result;
            }
        }
    }

    /// Goes back to the start of the window that is being taken.
    fn start_again(&mut self) -> std::result::Result<(), Failure> {
        self.engine.retract(self.accepted.number, false)?;
        self.engine.resume(self.accepted.coupled.clone());
        Ok(())
    }

    /// Goes back by `seconds` `[s]`, to the begin of a window, not past the run's own. From there
    /// the run goes on as if it had never been further; loads may now differ.
    ///
    /// # Errors
    /// `seconds` is negative or not finite.
    pub fn rewind(&mut self, seconds: f64) -> Result<()> {
        if !(seconds.is_finite() && seconds >= 0.0) {
            return Err(Error::refused("seconds", seconds, "finite, at least 0"));
        }
        let window = self.journal.window_before(self.windows(), seconds);
        self.rewind_to(window)
    }

    /// Goes back to the begin of window number `window`, with the rate that it had.
    ///
    /// # Errors
    /// It has not been reached yet, or is before the one at which the run was restored.
    pub fn rewind_to(&mut self, window: u64) -> Result<()> {
        if window > self.windows() {
            return Err(Error::refused("window", window, format!("at most {}", self.windows())));
        }
        if window < self.journal.start() {
            return Err(Error::refused("window", window, format!("at least {}", self.journal.start())));
        }
        self.go_to(window)?;
        if window < self.journal.end() {
            self.rate = Rate::seconds(self.journal.dt(window));
        }
        self.pushes.clear();
        self.last_window = None;
        self.journal.truncate(window);
        for number in self.marks.truncate(window) {
            self.engine.forget(number);
        }
        Ok(())
    }

    /// Goes back by one window.
    ///
    /// # Errors
    /// There is none.
    pub fn undo(&mut self) -> Result<()> {
        match self.windows().checked_sub(1) {
            Some(window) => self.rewind_to(window),
            None => Err(Error::refused("undo", "no window", "at least one")),
        }
    }

    /// Retracts to the last mark before `window` and plays the windows since again. Where that fails the run is where it was.
    fn go_to(&mut self, window: u64) -> Result<()> {
        self.unstick()?;
        let Mark { number, coupled } = &self.marks.kept[self.marks.before(window)];
        let (number, coupled) = (*number, coupled.clone());
        let clock = self.engine.clock.clone();
        let gone = self.engine.retract(number, false).and_then(|()| {
            self.engine.resume(coupled);
            for replayed in self.windows()..window {
                self.engine.iterate(self.journal.iterated(replayed));
                self.engine.window(self.journal.dt(replayed), self.journal.pushes(replayed))?;
            }
            self.accept()
        });
        self.engine.clock = clock;
        gone.map_err(|failure| {
            let error = self.window_error(self.windows(), self.time(), failure);
            self.recover();
            error
        })
    }

    fn mark(&mut self) -> Result<()> {
        let start = Instant::now();
        let number = self.marks.next_number();
        if let Err(Failure { member, error }) = self.engine.mark(number, false) {
            self.engine.forget(number);
            return Err(self.of(member, error));
        }
        let mark = Mark { number, coupled: self.engine.state.clone() };
        let cost = start.elapsed();
        self.clock.marks += cost;
        if let Some(old) = self.marks.keep(mark, cost) {
            self.engine.forget(old);
        }
        Ok(())
    }

    // looking

    /// The state of a handle now.
    ///
    /// # Errors
    /// The handle is not of this run.
    pub fn state(&mut self, handle: HandleId) -> Result<HandleState> {
        let member = self.member_of(handle)?;
        if self.stuck.contains_key(&member) {
            return self.state_of_stuck(member, handle);
        }
        self.look_at(member, move |simulator| {
            let mut state = [HandleState::default()];
            simulator.read(&[handle], &mut state)?;
            check_finite_state(simulator.handles(), handle, &state[0]).map(|()| state[0])
        })?
        .map_err(|error| self.of(member, error))
    }

    /// Looks at a simulator as what it is: `run.look("hail", |hail: &Particles| hail.len())`.
    ///
    /// # Errors
    /// There is none of that name, it is of another type, or `look` panicked.
    pub fn look<S: Simulator + 'static, R: Send + 'static>(
        &mut self,
        name: &str,
        look: impl FnOnce(&S) -> R + Send + 'static,
    ) -> Result<R> {
        let member = self.member_named(name)?;
        let seen = self.look_at(member, move |simulator| simulator.as_any().downcast_ref::<S>().map(look))?;
        seen.ok_or_else(|| Error::refused(format!("simulator `{name}`"), "another type", std::any::type_name::<S>()))
    }

    /// Momentum and energy of a simulator, where it knows them.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn simulator_ledger(&mut self, name: &str) -> Result<Option<Ledger>> {
        let member = self.member_named(name)?;
        self.look_at(member, |simulator| simulator.ledger())
    }

    /// The bytes of a simulator's state.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn state_bytes(&mut self, name: &str) -> Result<Vec<u8>> {
        let member = self.member_named(name)?;
        self.look_at(member, |simulator| simulator.snapshot(None).to_bytes())
    }

    /// Impulse of all loads on a simulator since the begin: of couplings, springs and pushes `[N s]`.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn impulse_given(&self, name: &str) -> Result<[f64; 3]> {
        Ok(self.engine.state.given[self.member_named(name)?])
    }

    /// Impulses of every interface, in the order of couplings.
    pub fn ledgers(&self) -> Vec<InterfaceLedger> {
        self.engine.state.interfaces.iter().map(|interface| interface.ledger.clone()).collect()
    }

    /// Parameters of the scene when it was built, by name: rate, scheme, couplings, and what each
    /// simulator reports ([`partita_simulator::Simulator::settings`]).
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Names of the simulators, in the order in which they were added.
    pub fn simulators(&self) -> impl Iterator<Item = &str> {
        self.engine.members.iter().map(|member| member.name.as_str())
    }

    /// How the last window ended; `None` before the first one, and just after going back.
    pub fn last_window(&self) -> Option<&WindowReport> {
        self.last_window.as_ref()
    }

    /// What the couplings put on handles of leaders in the next window.
    pub fn loads(&self) -> impl Iterator<Item = CoupledLoad> + '_ {
        let interfaces = self.engine.interfaces.iter().zip(&self.engine.state.interfaces).enumerate();
        let dt = self.rate.dt;
        interfaces.flat_map(move |(interface, (plan, state))| {
            let states = &self.engine.state.states[plan.leader];
            let slots = plan.slots.iter().zip(state.force.iter().zip(&state.carry).zip(&state.impacts));
            slots.map(move |(slot, ((&force, &carry), &impact))| CoupledLoad {
                interface,
                handle: slot.handle,
                state: states[slot.watched],
                load: force + (carry + impact).scaled(1.0 / dt),
            })
        })
    }

    /// Errors beyond their thresholds so far.
    pub fn warnings(&self) -> &[Warning] {
        &self.engine.state.totals.warnings
    }

    /// Notes of simulators and of the coupling so far.
    pub fn notes(&self) -> &[RunNote] {
        &self.engine.state.totals.notes
    }

    /// What the run did and what it cost so far.
    pub fn report(&self) -> RunReport {
        RunReport::new(&self.engine, self.start, self.clock)
    }

    /// Looks at a simulator where it lives; a panic there becomes an error that names it.
    pub(crate) fn look_at<R: Send + 'static>(
        &mut self,
        member: usize,
        look: impl FnOnce(&dyn Simulator) -> R + Send + 'static,
    ) -> Result<R> {
        if self.stuck.contains_key(&member) {
            return Err(self.error_of_stuck(member));
        }
        self.engine.seats[member].look(look).map_err(|error| {
            if self.engine.seats[member].timeout().is_some() {
                self.stuck.insert(member, error.clone());
            }
            self.of(member, error)
        })
    }

    pub(crate) fn of(&self, member: usize, error: SimulatorError) -> Error {
        Error::Simulator { simulator: self.engine.members[member].name.clone(), error }
    }

    pub(crate) fn member_of(&self, handle: HandleId) -> Result<usize> {
        let member = self.engine.members.iter().position(|member| member.table.owner() == handle.owner);
        let foreign = || Error::refused("handle", format!("owner {:x}", handle.owner), "a handle of this run");
        let member = member.ok_or_else(foreign)?;
        self.engine.members[member].table.check(handle).map_err(|error| self.of(member, error))?;
        Ok(member)
    }

    pub(crate) fn member_named(&self, name: &str) -> Result<usize> {
        let member = self.engine.members.iter().position(|member| member.name == name);
        member.ok_or_else(|| Error::refused("simulator", format!("`{name}`"), "the name of a simulator of this run"))
    }
}
