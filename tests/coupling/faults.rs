//! Faults at any verb of a simulator: the run is at its last accepted window, can be read and saved there, and goes
//! on as if nothing had been once the simulator is well or replaced.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::sleep,
    time::{Duration, Instant},
};

use crate::common::following_mass;
use partita::{
    prelude::*,
    simulator::{
        Cloud, Follows, Guide, HandleTable, Inputs, Ledger, Mobility, Reaction, Snapshot, StepReport, Surface,
        reference::{MassOnSpring, SpringParameters},
    },
};

const DT: f64 = 1.0 / 64.0;

/// Timeout of scenes in which simulators may hang `[s]`.
const TIMEOUT: f64 = 0.1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Step,
    Read,
    Snapshot,
    Retract,
    Cloud,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Error,
    Panic,
    /// Not a number, in what the verb reports.
    Nan,
    /// A panic after the verb did its work, and an error after it.
    Late,
    /// No reply until the fault is cleared; for twice the timeout if the fault strikes a limited number of times.
    Hang,
}

/// A fault from call number `from` of a verb on, `times` times.
#[derive(Clone, Copy, Debug)]
struct Fault {
    verb: Verb,
    kind: Kind,
    from: u32,
    times: u32,
}

/// Faults, each with the calls of its verb so far.
#[derive(Default)]
struct Plan(Vec<(Fault, u32)>);

impl Plan {
    fn strikes(&mut self, verb: Verb) -> Option<Kind> {
        let mut kind = None;
        for (fault, calls) in self.0.iter_mut().filter(|(fault, _)| fault.verb == verb) {
            *calls += 1;
            if *calls > fault.from && *calls <= fault.from.saturating_add(fault.times) {
                kind = Some(fault.kind);
            }
        }
        kind
    }
}

/// Any simulator, with a plan of faults.
struct Faulty<S> {
    inner: S,
    plan: Arc<Mutex<Plan>>,
    /// Spin about Y that it reports of all handles instead of their own `[rad/s]`.
    spin: Option<f64>,
}

impl<S> Faulty<S> {
    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn strikes(&self, verb: Verb) -> Option<Kind> {
        let kind = self.plan().strikes(verb);
        match kind {
            Some(Kind::Panic) => panic!("planned at {verb:?}"),
            Some(Kind::Hang) => {
                let start = Instant::now();
                let hangs = |(fault, _): &(Fault, u32)| {
                    fault.kind == Kind::Hang
                        && (fault.times == u32::MAX || start.elapsed().as_secs_f64() < 2.0 * TIMEOUT)
                };
                while self.plan().0.iter().any(hangs) {
                    sleep(Duration::from_millis(1));
                }
                None
            }
            _ => kind,
        }
    }
}

fn planned(verb: Verb) -> SimulatorError {
    SimulatorError::failed("fault", format!("{verb:?}"), "none")
}

impl<S: Simulator> Simulator for Faulty<S> {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn time(&self) -> f64 {
        self.inner.time()
    }
    fn handles(&self) -> &HandleTable {
        self.inner.handles()
    }
    fn read(&self, handles: &[HandleId], out: &mut [HandleState]) -> Result<(), SimulatorError> {
        let kind = self.strikes(Verb::Read);
        if let Some(Kind::Error | Kind::Late) = kind {
            return Err(planned(Verb::Read));
        }
        self.inner.read(handles, out)?;
        for state in out {
            if kind == Some(Kind::Nan) {
                state.velocity[1] = f64::NAN;
            }
            state.spin = self.spin.map_or(state.spin, |spin| [0.0, spin, 0.0]);
        }
        Ok(())
    }
    fn mobility(&self, handle: HandleId) -> Option<Mobility> {
        self.inner.mobility(handle)
    }
    fn surfaces(&self) -> &[Arc<Surface>] {
        self.inner.surfaces()
    }
    fn step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        let kind = self.strikes(Verb::Step);
        if kind == Some(Kind::Error) {
            return Err(planned(Verb::Step));
        }
        let mut report = self.inner.step(dt, inputs)?;
        match kind {
            Some(Kind::Late) => return Err(planned(Verb::Step)),
            Some(Kind::Nan) => {
                let impulse = Wrench::force([f64::NAN, 0.0, 0.0]);
                report.reactions.push(Reaction { guide: 0, carrier: 0, impulse });
            }
            _ => {}
        }
        Ok(report)
    }
    fn snapshot(&self, reuse: Option<Snapshot>) -> Snapshot {
        assert!(!matches!(self.strikes(Verb::Snapshot), Some(Kind::Error | Kind::Late)), "planned at a snapshot");
        self.inner.snapshot(reuse)
    }
    fn retract(&mut self, to: &Snapshot) -> Result<(), SimulatorError> {
        match self.strikes(Verb::Retract) {
            Some(Kind::Error) => Err(planned(Verb::Retract)),
            Some(Kind::Late | Kind::Nan) => self.inner.retract(to).and(Err(planned(Verb::Retract))),
            _ => self.inner.retract(to),
        }
    }
    fn snapshot_from_bytes(&self, bytes: &[u8]) -> Result<Snapshot, SimulatorError> {
        self.inner.snapshot_from_bytes(bytes)
    }
    fn follows(&self) -> Follows {
        self.inner.follows()
    }
    fn follow(&mut self, guides: Vec<Guide>) -> Result<(), SimulatorError> {
        self.inner.follow(guides)
    }
    fn ledger(&self) -> Option<Ledger> {
        self.inner.ledger()
    }
    fn cloud(&self, out: &mut Cloud) {
        self.inner.cloud(out);
        if self.strikes(Verb::Cloud) == Some(Kind::Nan) {
            out.push(7, [0.0, f64::NAN, 0.0]);
        }
    }
    fn as_any(&self) -> &dyn std::any::Any {
        self.inner.as_any()
    }
}

/// A generator of random numbers (G. Steele, D. Lea, C. Flood: Fast Splittable Pseudorandom Number Generators, 2014).
struct SplitMix(u64);

impl SplitMix {
    /// A number below `n`.
    fn below(&mut self, n: u32) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % u64::from(n)) as usize
    }
}

type Plans = [Arc<Mutex<Plan>>; 2];

fn leader(plan: &Arc<Mutex<Plan>>) -> Faulty<MassOnSpring> {
    let parameters = SpringParameters { gravity: [1.0, -2.0, 0.0], ..SpringParameters::default() };
    Faulty { inner: MassOnSpring::new("leader", parameters).unwrap(), plan: plan.clone(), spin: None }
}

/// Tied masses of 1 kg and 0.5 kg, either of which may fail.
fn scene_of(scheme: &Scheme, threads: bool) -> (Run, Plans, HandleId) {
    let plans = Plans::default();
    let (leader, follower) = (leader(&plans[0]), following_mass("follower", 0.5));
    let (handle, point) = (leader.inner.mass(), follower.point(0));
    let follower = Faulty { inner: follower, plan: plans[1].clone(), spin: None };
    let mut scene = Scene::new(Rate::seconds(DT));
    scene.scheme(scheme.clone()).attach(point, handle);
    if threads {
        scene.timeout(TIMEOUT);
    }
    scene.add(leader).add(follower);
    (scene.build().unwrap(), plans, handle)
}

fn bits(state: HandleState) -> Vec<u64> {
    [state.position, state.velocity].concat().iter().map(|x| x.to_bits()).collect()
}

/// A thousand programs: a scheme, a fault at a verb of either simulator, once or for ever, and the time at which it is
/// mended or the simulator replaced. At every failure the run is at the last accepted window.
#[test]
fn no_fault_costs_an_accepted_window() {
    const WINDOWS: usize = 8;
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic.to_string().contains("planned at") {
            print(panic);
        }
    }));
    let schemes = [Scheme::Interleaved, Relaxed::default().into()];
    let mut expected = Vec::new();
    for scheme in &schemes {
        let (mut run, _, handle) = scene_of(scheme, false);
        let mut states = vec![run.state(handle).unwrap()];
        for _ in 0..WINDOWS {
            run.advance().unwrap();
            states.push(run.state(handle).unwrap());
        }
        expected.push(states);
    }
    let (mut failures, mut stuck, mut replaced, mut timeouts) = (0, 0, 0, 0);
    for seed in 0..1000 {
        let mut random = SplitMix(seed);
        let which = random.below(2);
        let (scheme, expected) = (&schemes[which], &expected[which]);
        let threads = seed % 5 == 0;
        let (mut run, plans, handle) = scene_of(scheme, threads);
        let fault = |random: &mut SplitMix| Fault {
            verb: [Verb::Step, Verb::Read, Verb::Snapshot, Verb::Retract][random.below(4)],
            // Hangs need threads.
            kind: [Kind::Error, Kind::Panic, Kind::Nan, Kind::Late, Kind::Hang]
                [random.below(4 + u32::from(seed % 10 == 0))],
            from: random.below(16) as u32,
            times: [1, 2, u32::MAX][random.below(3)],
        };
        let patience = 1 + random.below(3);
        // Two faults, of one simulator or of both, so that one may strike while the run goes back from the other.
        let faults = [(); 2].map(|()| (random.below(2), fault(&mut random)));
        for (member, fault) in faults {
            plans[member].lock().unwrap().0.push((fault, 0));
        }
        let what = format!("seed {seed}, {scheme:?}, {faults:?}");
        let (mut accepted, mut failed, mut last, mut attempts) = (0, 0, run.state(handle).ok(), 0);
        while accepted < WINDOWS {
            attempts += 1;
            assert!(attempts < 100, "{what}: the run does not recover");
            let advanced = run.advance();
            match advanced {
                Ok(_) => {
                    accepted += 1;
                    last = None;
                }
                Err(error) => {
                    failures += 1;
                    failed += 1;
                    let words = error.to_string();
                    stuck += usize::from(matches!(error, partita::Error::Stuck { .. }));
                    timeouts += usize::from(words.contains("timeout"));
                    let is_named = |(member, _): &(usize, Fault)| words.contains(["leader", "follower"][*member]);
                    assert!(faults.iter().any(is_named), "{what}: {words}");
                }
            }
            assert_eq!(run.windows(), accepted as u64, "{what}");
            assert!((run.time() - accepted as f64 * DT).abs() < 1e-12, "{what}: {}", run.time());
            // A fault may be at the very look at the state.
            let state = run.state(handle).ok();
            if let Some((state, last)) = state.zip(last) {
                assert_eq!(bits(state), bits(last), "{what}: after {accepted} windows");
            }
            last = last.or(state);
            if let Some(state) = state {
                // A trial of an iteration that fails leads to the same loads within the tolerance by another way.
                let [now, then] = [state.velocity[0], expected[accepted].velocity[0]];
                let tolerance = if which == 0 { 0.0 } else { 1e-5 * (1e-3 + then.abs()) };
                assert!((now - then).abs() <= tolerance, "{what}: {now} for {then} m/s");
            }
            if failed == patience {
                failed = 0;
                // The saved run continues elsewhere.
                let (mut other, _, _) = scene_of(scheme, false);
                other.restore(&run.save().unwrap()).unwrap();
                let other = other.state(handle).unwrap();
                assert!(last.is_none_or(|last| bits(other) == bits(last)), "{what}: saved");
                for plan in &plans {
                    *plan.lock().unwrap_or_else(PoisonError::into_inner) = Plan::default();
                }
                if seed % 2 == 0 {
                    run.replace(leader(&plans[0])).unwrap();
                    replaced += 1;
                }
            }
        }
    }
    println!("{failures} failures, {stuck} while stuck, {timeouts} timeouts, {replaced} replaced");
    assert!(failures > 500 && stuck > 10 && replaced > 50 && timeouts > 10);
}

/// A simulator that never replies again to a verb is named after the timeout. The run can be saved without it, and
/// continues with a replacement as if nothing had happened.
#[test]
fn a_simulator_that_never_replies_is_replaced() {
    for scheme in [Scheme::Interleaved, Relaxed::default().into()] {
        let (mut other, _, handle) = scene_of(&scheme, false);
        (0..8).for_each(|_| drop(other.advance().unwrap()));
        let expected = bits(other.state(handle).unwrap());
        other.rewind_to(2).unwrap();
        let second = bits(other.state(handle).unwrap());
        for verb in [Verb::Step, Verb::Read, Verb::Snapshot, Verb::Retract] {
            let (mut run, plans, handle) = scene_of(&scheme, true);
            (0..4).for_each(|_| drop(run.advance().unwrap()));
            let before = bits(run.state(handle).unwrap());
            let mut faults = vec![(Fault { verb, kind: Kind::Hang, from: 0, times: u32::MAX }, 0)];
            if verb == Verb::Retract {
                faults.push((Fault { verb: Verb::Step, kind: Kind::Error, from: 0, times: 1 }, 0));
            }
            plans[0].lock().unwrap().0 = faults;
            let start = Instant::now();
            let error = run.advance().unwrap_err().to_string();
            assert!(error.contains("`leader`"), "{verb:?}: {error}");
            let again = run.advance().unwrap_err();
            assert!(matches!(again, partita::Error::Stuck { .. }), "{verb:?}: {again}");
            assert!(again.to_string().contains("timeout"), "{verb:?}: {again}");
            assert!(start.elapsed().as_secs_f64() < 20.0 * TIMEOUT, "{verb:?}: {:?}", start.elapsed());
            assert_eq!((run.windows(), bits(run.state(handle).unwrap())), (4, before), "{verb:?}");
            let (mut elsewhere, _, _) = scene_of(&scheme, false);
            elsewhere.restore(&run.save().unwrap()).unwrap();
            run.replace(leader(&Arc::default())).unwrap();
            for run in [&mut run, &mut elsewhere] {
                (0..4).for_each(|_| drop(run.advance().unwrap()));
                assert_eq!(bits(run.state(handle).unwrap()), expected, "{verb:?}");
            }
            run.rewind_to(2).unwrap();
            assert_eq!(bits(run.state(handle).unwrap()), second, "{verb:?}");
        }
    }
}

/// A query that times out leaves the last state known, and a build in which a simulator does not reply names it.
#[test]
fn a_query_or_a_build_that_times_out_is_an_error() {
    let hang = |verb| (Fault { verb, kind: Kind::Hang, from: 0, times: u32::MAX }, 0);
    let (mut run, plans, handle) = scene_of(&Scheme::Interleaved, true);
    (0..4).for_each(|_| drop(run.advance().unwrap()));
    let before = bits(run.state(handle).unwrap());
    plans[0].lock().unwrap().0 = vec![hang(Verb::Cloud)];
    let words = run.picture().unwrap_err().to_string();
    assert!(words.contains("`leader`") && words.contains("timeout"), "{words}");
    assert_eq!(bits(run.state(handle).unwrap()), before);
    assert!(matches!(run.advance(), Err(partita::Error::Stuck { .. })));
    plans[0].lock().unwrap().0.clear();
    run.advance().unwrap();

    for verb in [Verb::Read, Verb::Snapshot] {
        let plan = Arc::new(Mutex::new(Plan(vec![hang(verb)])));
        let mut scene = Scene::new(Rate::seconds(DT));
        scene.timeout(TIMEOUT).add(leader(&plan));
        let words = scene.build().err().expect("the simulator does not reply").to_string();
        assert!(words.contains("`leader`") && words.contains("timeout"), "{verb:?}: {words}");
        plan.lock().unwrap().0.clear();
    }
}

/// A simulator that replies too late in any one of its steps costs that window, and no bit of the run.
#[test]
fn a_late_reply_changes_no_bit() {
    for scheme in [Scheme::Interleaved, Relaxed::default().into()] {
        let (mut other, _, handle) = scene_of(&scheme, false);
        (0..3).for_each(|_| drop(other.advance().unwrap()));
        let expected = bits(other.state(handle).unwrap());
        for (member, from) in (0..2).flat_map(|member| (0..8).map(move |from| (member, from))) {
            let (mut run, plans, handle) = scene_of(&scheme, true);
            let fault = Fault { verb: Verb::Step, kind: Kind::Hang, from, times: 1 };
            plans[member].lock().unwrap().0 = vec![(fault, 0)];
            let (mut failed, mut attempts) = (0, 0);
            while run.windows() < 3 {
                failed += u32::from(run.advance().is_err());
                attempts += 1;
                assert!(attempts < 20, "{scheme:?}, member {member}, step {from}: does not recover");
            }
            assert!(failed > 0 || from > 2, "{scheme:?}, member {member}, step {from}: accepted late");
            assert_eq!(bits(run.state(handle).unwrap()), expected, "{scheme:?}, member {member}, step {from}");
        }
    }
}

/// `picture` names a particle whose position is not finite.
#[test]
fn a_particle_with_a_position_that_is_not_finite_is_named() {
    let (mut run, plans, _) = scene_of(&Scheme::Interleaved, false);
    plans[1].lock().unwrap().0.push((Fault { verb: Verb::Cloud, kind: Kind::Nan, from: 0, times: 1 }, 0));
    let words = run.picture().unwrap_err().to_string();
    assert!(words.contains("`follower`") && words.contains("particle 7") && words.contains("NaN"), "{words}");
    assert!(run.picture().is_ok());
}

/// A way back that fails leaves the run where it was, and works once the simulator is well.
#[test]
fn a_failed_rewind_changes_nothing() {
    let (mut run, plans, handle) = scene_of(&Scheme::Interleaved, false);
    let mut states = vec![];
    for _ in 0..10 {
        states.push(bits(run.state(handle).unwrap()));
        run.advance().unwrap();
    }
    let here = bits(run.state(handle).unwrap());
    for verb in [Verb::Step, Verb::Retract] {
        let fault = Fault { verb, kind: Kind::Error, from: 1, times: u32::MAX };
        plans[1].lock().unwrap().0 = vec![(fault, 0)];
        // Between marks windows are repeated, so that some of these fail in a step.
        let failed = (0..10).filter(|&window| run.rewind_to(window).is_err()).count();
        assert!(failed > 0, "{verb:?}");
        plans[1].lock().unwrap().0.clear();
        while run.windows() < 10 {
            run.advance().unwrap();
        }
        assert_eq!(bits(run.state(handle).unwrap()), here, "{verb:?}");
    }
    run.rewind_to(4).unwrap();
    assert_eq!(bits(run.state(handle).unwrap()), states[4]);
}

/// A simulator whose rotation contradicts its spin is named, with its handle, in the window in which it reports that; one that is
/// at rest at both ends of a window, or spins as it turns, is not.
#[test]
#[cfg(feature = "rigid")]
fn a_rotation_that_contradicts_its_spin_is_named() {
    // Spin that the table reports, and the one with which it turns [rad/s], in windows of 1/60 s.
    for (reported, turning, is_refused) in
        [(400.0, 400.0, false), (10.0, 10.0, false), (130.0, 0.0, true), (300.0, 130.0, true), (0.0, 100.0, false)]
    {
        let mut rigid = RigidBodies::new("rigid");
        let pose = move |t: f64| Pose::default().turned([0.0, 1.0, 0.0], turning * t);
        rigid.add("table", Body::kinematic(Shape::cylinder_y(0.1, 0.5), pose)).unwrap();
        let mut other = RigidBodies::new("other");
        other.add("box", Body::dynamic(Shape::cuboid([0.1; 3])).at([0.0, 0.2, 0.0])).unwrap();
        let rigid = Faulty { inner: rigid, plan: Arc::default(), spin: Some(reported) };
        let mut scene = Scene::new(Rate::hz(60));
        scene.contact("other", "rigid");
        scene.add(rigid).add(other);
        let result = scene.build().unwrap().advance();
        let words = result.as_ref().err().map(ToString::to_string).unwrap_or_default();
        assert_eq!(result.is_err(), is_refused, "{reported} for {turning} rad/s: {words}");
        assert!(!is_refused || words.contains("`rigid`") && words.contains("table"), "{words}");
    }
}
