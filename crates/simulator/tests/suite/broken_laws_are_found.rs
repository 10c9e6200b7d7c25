//! Each law finds the fault that it is there for: a sound simulator with one planted fault at a time.

use std::{any::Any, cell::Cell, sync::Arc};

use partita_simulator::{
    Cloud, Follows, Guide, HandleId, HandleState, HandleTable, Identity, Inputs, Ledger, Mobility, Motion, Precision,
    Simulator, SimulatorError, Snapshot, StepReport, Surface, Wrench,
    laws::{self, Broken, Suite},
    reference::{Chain, ChainParameters},
};
use serde::{Deserialize, Serialize};

/// What is wrong with a [`Faulty`].
#[derive(Clone, Copy, PartialEq, Debug)]
enum Fault {
    Nothing,
    CountsStepsOutsideItsState,
    LedgerOutsideItsState,
    ReusesMarksAsTheyAre,
    DependsOnTheProcess,
    DependsOnTheRun,
    AcceptsNan,
    MovesWhenItRefuses,
    RemembersRefusals,
    SaysNothing,
    TakesForeignGuides,
    TakesGuidesTwice,
    TakesMarksFromBeforeItsGuides,
    LoadsActTwiceFromHiddenState,
    LoadsActTwiceFromItsState,
    HalvesImpulses,
    HalvesLoads,
    LoadsActBesideTheHandle,
    StatesTwiceItsMobility,
    LedgerIsNan,
    LedgerIsMissing,
    SingleLosesAHundredth,
    ReadingNudges,
    TimeDrifts,
    StepsTooLong,
    HidesNonFinite,
    FailsAfterMoving,
    ReportsNan,
    KeepsReactions,
    KeepsReactionsAndLedger,
    FlipsReactions,
    HoldsBeside,
    HoldsTooSlow,
    ToleratesAnything,
    ReactsToNobody,
    IdsOutsideItsState,
    IdsAreTooFew,
    IdsAreTwice,
    IdsPassOn,
    IdsComeBack,
}
use Fault::*;

/// A chain with a fault.
struct Faulty {
    inner: Chain,
    fault: Fault,
    /// Whatever the fault remembers where no snapshot sees it.
    hidden: Cell<f64>,
    pending: Vec<(HandleId, Wrench)>,
    poisoned: bool,
    guided: bool,
}

/// Snapshots of the faults that keep something else in them than the chain does.
#[derive(Clone, Serialize, Deserialize)]
struct Kept {
    chain: Vec<u8>,
    pending: Vec<(HandleId, Wrench)>,
}

impl Faulty {
    fn new(fault: Fault) -> Self {
        let positions: Vec<_> = (0..6).map(|i| [0.1 * f64::from(i), 0.3, 0.0]).collect();
        let inner = Chain::new("chain", &positions, ChainParameters::default()).unwrap();
        Self { inner, fault, hidden: Cell::new(0.0), pending: Vec::new(), poisoned: false, guided: false }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn keeps_its_own_snapshots(&self) -> bool {
        self.is(LoadsActTwiceFromItsState)
    }

    fn of(&self) -> Identity {
        Identity { owner: self.inner.handles().owner(), layout: 0 }
    }

    /// What the step is made to feel.
    fn spoiled(&mut self, inputs: &Inputs) -> Inputs {
        let mut inputs = inputs.clone();
        // Point 0 is held.
        let nudge = |size: f64| (self.inner.point(1), Wrench::force([0.0, 0.0, size]));
        match self.fault {
            CountsStepsOutsideItsState => {
                self.hidden.set(self.hidden.get() + 1e-6);
                inputs.loads.push(nudge(self.hidden.get()));
            }
            ReadingNudges | RemembersRefusals => inputs.loads.push(nudge(self.hidden.replace(0.0))),
            DependsOnTheProcess => inputs.loads.push(nudge(1e-6 * f64::from(std::process::id()))),
            DependsOnTheRun => {
                let place = std::ptr::from_ref(&self.pending) as usize ^ std::ptr::from_ref(&self.inner) as usize;
                let since = std::time::UNIX_EPOCH.elapsed().unwrap().subsec_nanos();
                inputs.loads.push(nudge(1e-6 * (place as f64 + f64::from(since))));
            }
            HalvesImpulses => inputs.impulses.iter_mut().for_each(|(_, wrench)| *wrench = wrench.scaled(0.5)),
            HalvesLoads => inputs.loads.iter_mut().for_each(|(_, wrench)| *wrench = wrench.scaled(0.5)),
            LoadsActBesideTheHandle => {
                let n = self.inner.handles().len();
                inputs.loads.iter_mut().for_each(|(handle, _)| handle.index = (handle.index + 1) % n);
            }
            LoadsActTwiceFromHiddenState | LoadsActTwiceFromItsState => {
                let earlier = std::mem::replace(&mut self.pending, inputs.loads.clone());
                inputs.loads.extend(earlier);
            }
            HoldsTooSlow => inputs.motions.iter_mut().flatten().for_each(|motion| motion.end = slower(motion)),
            HoldsBeside => inputs.motions.iter_mut().flatten().for_each(|motion| motion.end = beside(motion)),
            _ => {}
        }
        inputs
    }
}

/// The end of a motion, 1 mm off.
fn beside(motion: &Motion) -> Arc<[HandleState]> {
    let shifted = motion.end.iter().map(|state| {
        let [x, y, z] = state.position;
        HandleState { position: [x, y + 1e-3, z], ..*state }
    });
    shifted.collect()
}

/// The end of a motion, in its place but a millionth slower.
fn slower(motion: &Motion) -> Arc<[HandleState]> {
    let slowed = motion.end.iter().map(|state| {
        let velocity = state.velocity.map(|v| v * (1.0 - 1e-6));
        HandleState { velocity, ..*state }
    });
    slowed.collect()
}

impl Simulator for Faulty {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn time(&self) -> f64 {
        self.inner.time() * if self.is(TimeDrifts) { 1.0 + 1e-12 } else { 1.0 }
    }

    fn handles(&self) -> &HandleTable {
        self.inner.handles()
    }

    fn read(&self, handles: &[HandleId], out: &mut [HandleState]) -> Result<(), SimulatorError> {
        self.inner.read(handles, out)?;
        if self.is(ReadingNudges) {
            self.hidden.set(1e-6);
        }
        if self.poisoned {
            out.iter_mut().for_each(|state| state.velocity[1] = f64::NAN);
        }
        Ok(())
    }

    fn mobility(&self, handle: HandleId) -> Option<Mobility> {
        let stated = Some(Mobility::point(2.0 / ChainParameters::default().mass));
        if self.is(StatesTwiceItsMobility) { stated } else { self.inner.mobility(handle) }
    }

    fn surfaces(&self) -> &[Arc<Surface>] {
        &[]
    }

    fn step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        // The faulty inputs only count in a step that is taken.
        let unguided = Inputs { motions: vec![], responses: vec![], ..inputs.clone() };
        let checked = partita_simulator::check(self.handles(), &[], dt, &unguided);
        let inputs = if checked.is_ok() { self.spoiled(inputs) } else { inputs.clone() };
        let longer = if self.is(StepsTooLong) { 1.0 + 1e-12 } else { 1.0 };
        let mut result = self.inner.step(dt * longer, &inputs);
        self.poisoned = false;
        match (&mut result, self.fault) {
            (Err(_), AcceptsNan) if inputs.loads.iter().any(|(_, wrench)| !wrench.is_finite()) => {
                return Ok(StepReport::new(self.inner.time()));
            }
            (Err(_), MovesWhenItRefuses) => drop(self.inner.step(1e-3, Inputs::NONE)),
            (Err(_), RemembersRefusals) => self.hidden.set(1e-6),
            (Err(_), SaysNothing) => return Err(SimulatorError::refused("", "", "")),
            (Err(SimulatorError::Failed { .. }), HidesNonFinite) => {
                self.poisoned = true;
                return Ok(StepReport::new(self.inner.time()));
            }
            (Err(SimulatorError::Failed { .. }), FailsAfterMoving) => self.poisoned = true,
            (Ok(_), IdsOutsideItsState) => self.hidden.set(self.hidden.get() + 1.0),
            (Ok(report), LedgerOutsideItsState) => self.hidden.set(self.hidden.get() + report.time),
            (Ok(report), KeepsReactions | KeepsReactionsAndLedger) => report.reactions.clear(),
            (Ok(report), FlipsReactions) => report.reactions.iter_mut().for_each(|r| r.impulse = -r.impulse),
            (Ok(report), ReactsToNobody) => report.reactions.iter_mut().for_each(|r| r.guide += 1),
            (Ok(report), ReportsNan) => report.reactions.iter_mut().for_each(|r| r.impulse.linear[0] = f64::NAN),
            (Ok(report), TimeDrifts) => report.time *= 1.0 + 1e-12,
            _ => {}
        }
        result
    }

    fn snapshot(&self, reuse: Option<Snapshot>) -> Snapshot {
        if self.keeps_its_own_snapshots() {
            let kept = Kept { chain: self.inner.snapshot(None).to_bytes(), pending: self.pending.clone() };
            return Snapshot::new(self.of(), self.inner.time(), kept);
        }
        match reuse {
            Some(old) if self.is(ReusesMarksAsTheyAre) => old,
            reuse => self.inner.snapshot(reuse),
        }
    }

    fn retract(&mut self, to: &Snapshot) -> Result<(), SimulatorError> {
        if self.keeps_its_own_snapshots() {
            let kept: &Kept = to.get(self.of())?;
            self.inner.retract(&self.inner.snapshot_from_bytes(&kept.chain)?)?;
            self.pending.clone_from(&kept.pending);
            return Ok(());
        }
        let own = to.identity().owner == self.inner.handles().owner();
        match self.inner.retract(to) {
            Err(_) if own && self.is(TakesMarksFromBeforeItsGuides) => Ok(()),
            result => result,
        }
    }

    fn snapshot_from_bytes(&self, bytes: &[u8]) -> Result<Snapshot, SimulatorError> {
        if self.keeps_its_own_snapshots() {
            return Snapshot::from_bytes::<Kept>(self.of(), bytes);
        }
        self.inner.snapshot_from_bytes(bytes)
    }

    fn follows(&self) -> Follows {
        let tolerance = if self.is(ToleratesAnything) { 1.0 } else { 0.0 };
        Follows { tolerance, ..self.inner.follows() }
    }

    fn follow(&mut self, guides: Vec<Guide>) -> Result<(), SimulatorError> {
        match self.inner.follow(guides) {
            Err(_) if self.is(TakesForeignGuides) || self.is(TakesGuidesTwice) && self.guided => Ok(()),
            result => result.inspect(|()| self.guided = true),
        }
    }

    fn ledger(&self) -> Option<Ledger> {
        let ledger = self.inner.ledger()?;
        match self.fault {
            KeepsReactionsAndLedger => Some(Ledger { external: None, ..ledger }),
            LedgerIsMissing => None,
            SingleLosesAHundredth => {
                let momentum = ledger.momentum.map(|p| 0.99 * p);
                Some(Ledger { momentum, precision: Precision::Single, ..ledger })
            }
            LedgerIsNan => Some(Ledger { momentum: [f64::NAN; 3], ..ledger }),
            LedgerOutsideItsState => Some(Ledger { kinetic: self.hidden.get(), ..ledger }),
            _ => Some(ledger),
        }
    }

    /// The points of the chain.
    fn cloud(&self, out: &mut Cloud) {
        let handles: Vec<_> = self.inner.handles().iter().collect();
        let mut states = vec![HandleState::default(); handles.len()];
        self.inner.read(&handles, &mut states).unwrap();
        // Also in the middle of a step that is cut.
        let (n, steps) = (states.len() as u64, (self.inner.time() * 1024.0) as u64);
        for (i, state) in (0..).zip(&states) {
            match self.fault {
                IdsOutsideItsState => out.push(i + 100 * self.hidden.get() as u64, state.position),
                IdsAreTooFew if i == 3 => out.positions.push(state.position),
                IdsAreTwice if i == 3 => out.push(4, state.position),
                IdsPassOn => out.push((i + steps / 40) % n, state.position),
                IdsComeBack if i == 3 && steps == 50 => {}
                _ => out.push(i, state.position),
            }
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// What `law` says of a chain with this fault, as a suite's `make` and as its `free`.
fn judge(law: impl Fn(&Suite) -> Result<(), Broken>, fault: Fault) -> Result<(), Broken> {
    let make = || -> Box<dyn Simulator> { Box::new(Faulty::new(fault)) };
    law(&Suite { make: &make, dt: 1.0 / 1024.0, load: 0.1, free: &make })
}

/// Asserts that `law` finds `fault` and says so in a message with all of `words`.
fn finds(law: impl Fn(&Suite) -> Result<(), Broken>, fault: Fault, words: &[&str]) {
    let message = judge(law, fault).expect_err("the fault slipped through").to_string();
    for word in words.iter().chain(&["is broken at step "]) {
        assert!(message.contains(word), "{fault:?}: `{word}` is not in: {message}");
    }
}

/// Law 2 for the test of that name, which its fresh processes run again.
fn law_2_in(test: &str) -> impl Fn(&Suite) -> Result<(), Broken> {
    let test = format!("{}::{test}", module_path!());
    move |suite| laws::law_2(suite, &test)
}

/// Without a fault the wrapper keeps every law, so that what the other tests find is the fault.
#[test]
fn the_wrapper_itself_keeps_the_laws() {
    let most = [laws::law_1, laws::law_3, laws::law_4, laws::law_5, laws::law_6, laws::law_7, laws::law_8, laws::law_9];
    for law in most {
        judge(law, Nothing).unwrap();
    }
    judge(law_2_in("the_wrapper_itself_keeps_the_laws"), Nothing).unwrap();
}

#[test]
fn law_1_finds_state_that_the_snapshot_forgets_and_names_the_field() {
    finds(laws::law_1, CountsStepsOutsideItsState, &["law 1", "snapshot.positions[1][2]: ", "bits", "never left"]);
}

#[test]
fn law_1_finds_a_ledger_that_is_not_part_of_the_state() {
    finds(laws::law_1, LedgerOutsideItsState, &["law 1", "ledger.kinetic: "]);
}

#[test]
fn law_1_finds_marks_that_are_not_taken_anew_when_their_memory_is_reused() {
    finds(laws::law_1, ReusesMarksAsTheyAre, &["law 1", "step 1", "right after retract: time: 0.0 "]);
}

/// The process alone differs, so that only the fresh processes show it.
#[test]
fn law_2_finds_results_that_depend_on_the_process_and_names_the_field() {
    let law = law_2_in("law_2_finds_results_that_depend_on_the_process_and_names_the_field");
    if std::env::var_os("PARTITA_LAW_CHILD").is_some() {
        judge(law, DependsOnTheProcess).unwrap();
        return;
    }
    finds(law, DependsOnTheProcess, &["law 2", "step 0", "fresh process with 1 threads", "snapshot.positions[1][2]: "]);
}

#[test]
fn law_2_finds_results_that_depend_on_the_run() {
    finds(law_2_in("no_such_test"), DependsOnTheRun, &["law 2", "in a second run", "snapshot.positions[1][2]: "]);
}

/// A wrong path of the test would otherwise make the fresh processes prove nothing.
#[test]
fn law_2_says_so_when_the_fresh_process_does_not_answer() {
    finds(law_2_in("no_such_test"), Nothing, &["law 2", "no answer", "no_such_test"]);
}

#[test]
fn law_3_finds_a_bad_load_that_is_accepted() {
    finds(laws::law_3, AcceptsNan, &["law 3", "a NaN load was accepted"]);
}

#[test]
fn law_3_finds_a_refused_call_that_changes_the_state() {
    finds(laws::law_3, MovesWhenItRefuses, &["law 3", "dt = 0 changed snapshot.time: "]);
}

#[test]
fn law_3_finds_a_refused_call_that_changes_what_follows() {
    finds(laws::law_3, RemembersRefusals, &["law 3", "after refused calls: snapshot.positions[1][2]: "]);
}

#[test]
fn law_3_finds_errors_that_say_nothing() {
    finds(laws::law_3, SaysNothing, &["law 3", "dt = 0: the error leaves `thing` empty"]);
}

#[test]
fn law_3_finds_guides_that_should_have_been_refused() {
    finds(laws::law_3, TakesForeignGuides, &["law 3", "an attachment of a foreign handle was accepted"]);
    finds(laws::law_3, TakesGuidesTwice, &["law 3", "a second list of guides was accepted"]);
}

#[test]
fn law_3_finds_a_mark_that_is_accepted_though_the_layout_changed() {
    finds(laws::law_3, TakesMarksFromBeforeItsGuides, &["law 3", "a snapshot from before the guides was accepted"]);
}

#[test]
fn law_4_finds_a_load_that_stays_pending_in_hidden_state() {
    finds(laws::law_4, LoadsActTwiceFromHiddenState, &["law 4", "after a retracted load: snapshot", "without it"]);
}

#[test]
fn law_4_finds_a_load_that_acts_twice_even_if_that_is_in_the_snapshot() {
    finds(laws::law_4, LoadsActTwiceFromItsState, &["law 4", "step 1", "loaded once: momentum grew by"]);
}

#[test]
fn law_5_finds_a_load_that_is_halved() {
    finds(laws::law_5, HalvesLoads, &["law 5", "handle 0", "N s"]);
}

#[test]
fn law_5_finds_an_impulse_that_is_halved() {
    finds(laws::law_5, HalvesImpulses, &["law 5", "step 1", "handle 0", "N s"]);
}

#[test]
fn law_10_finds_a_mobility_that_is_twice_what_an_impulse_does() {
    finds(laws::law_10, StatesTwiceItsMobility, &["law 10", "handle 0, axis 0: velocity changed by"]);
}

#[test]
fn law_5_finds_a_load_at_the_wrong_lever_arm() {
    finds(laws::law_5, LoadsActBesideTheHandle, &["law 5", "handle 0: gained", "N m s, expected"]);
}

#[test]
fn law_5_is_not_content_with_a_ledger_that_is_nan_or_missing_or_too_heavy_to_see_the_load() {
    finds(laws::law_5, LedgerIsNan, &["law 5", "NaN"]);
    finds(laws::law_5, LedgerIsMissing, &["law 5", "no ledger"]);
    let heavy = || -> Box<dyn Simulator> {
        let parameters = ChainParameters { mass: 1e9, ..Default::default() };
        Box::new(Chain::new("heavy", &[[0.0; 3]], parameters).unwrap().moving_at([10.0, 0.0, 0.0]).unwrap())
    };
    let suite = Suite { make: &heavy, dt: 1.0 / 1024.0, load: 0.1, free: &heavy };
    let message = laws::law_5(&suite).unwrap_err().to_string();
    assert!(message.contains("`load` = 0.1 N is lost beside"), "{message}");
}

/// The trace itself reads after each step, so a run that nobody reads is what shows it.
#[test]
fn law_6_finds_a_reading_that_changes_something() {
    finds(laws::law_6, ReadingNudges, &["law 6", "after reading: snapshot.positions[1][2]: ", "was not read"]);
}

#[test]
fn law_6_finds_time_that_drifts_by_a_millionth_of_a_millionth() {
    finds(laws::law_6, TimeDrifts, &["law 6", "step 0", "time 0.000976562500000", "expected 0.0009765625"]);
    finds(laws::law_6, StepsTooLong, &["law 6", "step 0", "time 0.000976562500000", "expected 0.0009765625"]);
}

#[test]
fn law_7_finds_nan_that_leaves_a_step() {
    finds(laws::law_7, HidesNonFinite, &["law 7", "1e300 N", "NaN"]);
    finds(laws::law_7, ReportsNan, &["law 7", "step 0", "Reaction", "NaN"]);
}

#[test]
fn law_7_finds_a_failed_step_that_changes_something_or_names_nothing() {
    finds(laws::law_7, FailsAfterMoving, &["law 3", "failed and changed readings[0].velocity[1]: NaN"]);
    finds(laws::law_7, SaysNothing, &["law 7", "the error leaves `thing` empty"]);
}

#[test]
fn law_8_finds_reactions_that_are_not_reported() {
    finds(laws::law_8, KeepsReactions, &["law 8", "step 0", "momentum grew by", "reactions are"]);
    finds(laws::law_8, KeepsReactionsAndLedger, &["law 8", "no reaction was reported"]);
}

#[test]
fn law_8_finds_reactions_of_the_wrong_sign_or_of_nobody() {
    finds(laws::law_8, FlipsReactions, &["law 8", "momentum grew by"]);
    finds(laws::law_8, ReactsToNobody, &["law 8", "reaction 0 is of a guide that does not exist"]);
}

#[test]
fn law_8_finds_an_attachment_that_is_off_by_a_millimetre_or_a_millionth_of_its_speed() {
    finds(
        laws::law_8,
        HoldsBeside,
        &["law 8", "step 0", "the held handle is 1.0000", "m/s off its carrier", "tolerance 0e0 m"],
    );
    finds(laws::law_8, HoldsTooSlow, &["law 8", "step 0", "the held handle is 0e0 m and ", "tolerance 0e0 m"]);
    finds(laws::law_8, ToleratesAnything, &["law 8", "a tolerance of 1e0 m says nothing"]);
}

/// Who computes with 32 bits may round, and no more.
#[test]
fn laws_5_and_8_find_what_32_bits_do_not_lose() {
    finds(laws::law_5, SingleLosesAHundredth, &["law 5", "N over"]);
    finds(laws::law_8, SingleLosesAHundredth, &["law 8", "momentum grew"]);
}

#[test]
fn law_8_does_not_take_nan_for_balanced() {
    finds(laws::law_8, LedgerIsNan, &["law 8", "NaN"]);
}

#[test]
fn law_1_finds_ids_that_are_not_part_of_the_state() {
    finds(laws::law_1, IdsOutsideItsState, &["law 1", "right after retract: cloud.ids[0]: "]);
}

#[test]
fn law_9_finds_particles_without_an_id_of_their_own() {
    finds(laws::law_9, IdsAreTooFew, &["law 9", "step 0", "expected one for each of 6 positions, found 5 ids"]);
    finds(laws::law_9, IdsAreTwice, &["law 9", "step 0", "found id 4 after id 4"]);
}

#[test]
fn law_9_finds_ids_that_pass_from_one_particle_to_another() {
    finds(laws::law_9, IdsPassOn, &["law 9", "step 39", "id 0 is 5.07", "m away after a 16th of the step"]);
}

#[test]
fn law_9_finds_an_id_that_comes_back() {
    finds(laws::law_9, IdsComeBack, &["law 9", "step 50", "id 3 is there again"]);
}

/// A suite that could not show anything is not passed.
#[test]
fn a_suite_without_a_load_or_a_step_is_refused() {
    let make = || -> Box<dyn Simulator> { Box::new(Faulty::new(Nothing)) };
    for (dt, load, field) in [(0.0, 0.1, "dt [s]"), (f64::NAN, 0.1, "dt [s]"), (0.001, 0.0, "load [N]")] {
        for law in [laws::law_1, laws::law_5] {
            let message = law(&Suite { make: &make, dt, load, free: &make }).unwrap_err().to_string();
            assert!(message.contains(field), "{message}");
        }
    }
}
