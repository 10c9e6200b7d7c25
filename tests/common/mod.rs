//! Scenes shared by the tests of coupling.

#![allow(dead_code)] // Each program of tests uses some of them.

pub mod rotor;
pub mod sample;
#[cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth"))]
pub mod sheets;

use std::sync::{Arc, Mutex};

use partita::simulator::reference::{Chain, ChainParameters, MassOnSpring, SpringParameters};
use partita::{
    prelude::*,
    simulator::{Cloud, Follows, Guide, HandleTable, Inputs, Ledger, Mobility, Motion, Snapshot, StepReport, Surface},
};

/// A free point mass `[kg]` at the origin.
pub fn free_mass(name: &str, mass: f64) -> MassOnSpring {
    MassOnSpring::new(name, SpringParameters { mass, ..SpringParameters::default() }).unwrap()
}

/// A chain of one point: a follower that is a point mass `[kg]` at the origin, without gravity.
pub fn following_mass(name: &str, mass: f64) -> Chain {
    let parameters = ChainParameters { mass, gravity: [0.0; 3], ..ChainParameters::default() };
    Chain::new(name, &[[0.0; 3]], parameters).unwrap()
}

/// Two tied masses, the leader pushed by no one but its own gravity F/m = 1 m/s² along x.
pub fn tied_masses(leader: f64, follower: f64, dt: f64, scheme: impl Into<Scheme>) -> (Run, HandleId) {
    let parameters = SpringParameters { mass: leader, gravity: [1.0, 0.0, 0.0], ..SpringParameters::default() };
    let (mass, point) = (MassOnSpring::new("leader", parameters).unwrap(), following_mass("follower", follower));
    let handle = mass.mass();
    let mut scene = Scene::new(Rate::seconds(dt));
    scene.scheme(scheme).attach(point.point(0), handle);
    scene.add(mass).add(point);
    (scene.build().unwrap(), handle)
}

/// Asserts that over a second `sheet`, 0.5 kg of pinned cloth, bears a body of 1 kg, and its pins bear both.
pub fn assert_pins_carry(run: &mut Run) {
    const G: f64 = 9.81;
    let given = |run: &mut Run| {
        let ledger = run.simulator_ledger("sheet").unwrap().unwrap();
        let pins = ledger.external.unwrap().linear[1] + ledger.mass * G * run.time();
        (pins, run.ledgers()[0].got.linear[1])
    };
    let before = given(run);
    run.for_seconds(1.0).unwrap();
    let after = given(run);
    let (pins, push) = (after.0 - before.0, after.1 - before.1);
    assert!((pins / (1.5 * G) - 1.0).abs() < 0.01, "pins carry {pins} N of {} N", 1.5 * G);
    assert!((push / G - 1.0).abs() < 0.01, "cloth pushes with {push} N for {G} N");
}

/// √(k/m) of the chain in [`hanging_chain`], its fastest part [1/s].
pub const CHAIN_RATE: f64 = 50.0;

/// A heavy mass on a spring from which a chain of `n` points hangs, swinging.
pub fn hanging_chain(n: usize, rate: f64) -> (Scene, HandleId) {
    let spring = SpringParameters {
        mass: 5.0,
        stiffness: 200.0,
        damping: 0.2,
        anchor: [0.0, 1.0, 0.0],
        gravity: [0.0, -9.81, 0.0],
    };
    let support = MassOnSpring::new("support", spring).unwrap().started_at([0.1, 1.0, 0.0], [0.0, 0.3, 0.0]).unwrap();
    let positions: Vec<_> = (0..n).map(|i| [0.1 + 0.05 * i as f64, 1.0, 0.0]).collect();
    let chain = ChainParameters { mass: 0.02, stiffness: 50.0, damping: 0.05, ..ChainParameters::default() };
    let chain = Chain::new("chain", &positions, chain).unwrap();
    let handle = support.mass();
    let mut scene = Scene::new(Rate::hz(rate));
    scene.attach(chain.point(0), handle);
    scene.add(support).add(chain);
    (scene, handle)
}

/// Checks errors at windows h, h/2, h/4, … `[s]` against a method of first order in a scene whose own
/// rate is ω [1/s].
///
/// e(h) = a h (1 + β h + γ h² + …) gives r(h) = e(h)/e(h/2) = 2 + β h + O(h²): the ratio misses 2 by
/// half as much each time, so 2 r(h/2) − r(h) = 2 + O(h²). The series is one in ω h, so the two terms
/// are expected of the order of ω h and (ω h)².
pub fn assert_first_order(errors: &[f64], h: f64, rate: f64) {
    let ratios: Vec<f64> = errors.windows(2).map(|pair| pair[0] / pair[1]).collect();
    let small = |i: usize| rate * h / f64::from(1 << i);
    for (i, ratio) in ratios.iter().enumerate() {
        assert!((ratio - 2.0).abs() < small(i), "ratios {ratios:?} of {errors:?}, within {}", small(i));
    }
    for (i, pair) in ratios.windows(2).enumerate() {
        let open = 2.0 * pair[1] - pair[0] - 2.0;
        assert!(open.abs() < small(i).powi(2), "{open} of {ratios:?}, within {}", small(i).powi(2));
    }
}

/// A 64-bit hash of every simulator's state and of the ledgers.
pub fn hash(run: &mut Run, names: &[&str]) -> u64 {
    let bytes: Vec<_> = names.iter().map(|name| run.state_bytes(name).unwrap()).collect();
    let ledgers: Vec<_> =
        run.ledgers().iter().map(|ledger| (ledger.used, ledger.got, ledger.pending, ledger.lag, ledger.work)).collect();
    partita::simulator::layout_of(&(bytes, ledgers, run.time()))
}

/// What happens after a step of a [`Hooked`], given the inputs and what the step reports.
pub type Hook = Box<dyn Fn(&Inputs, &mut StepReport) -> Result<(), SimulatorError> + Send>;

/// Any simulator; after each step something may go wrong.
pub struct Hooked {
    inner: Box<dyn Simulator>,
    hook: Hook,
    /// Whether it states the mobilities that the simulator states.
    pub states_mobility: bool,
    /// What it was given to follow.
    pub guides: Arc<Mutex<Vec<Guide>>>,
}

impl Hooked {
    pub fn new(
        inner: impl Simulator + 'static,
        hook: impl Fn(&Inputs, &mut StepReport) -> Result<(), SimulatorError> + Send + 'static,
    ) -> Self {
        Self { inner: Box::new(inner), hook: Box::new(hook), states_mobility: true, guides: Arc::default() }
    }
}

impl Simulator for Hooked {
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
        self.inner.read(handles, out)
    }
    fn mobility(&self, handle: HandleId) -> Option<Mobility> {
        self.inner.mobility(handle).filter(|_| self.states_mobility)
    }
    fn surfaces(&self) -> &[Arc<Surface>] {
        self.inner.surfaces()
    }
    fn step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        let mut report = self.inner.step(dt, inputs)?;
        (self.hook)(inputs, &mut report).map(|()| report)
    }
    fn snapshot(&self, reuse: Option<Snapshot>) -> Snapshot {
        self.inner.snapshot(reuse)
    }
    fn retract(&mut self, to: &Snapshot) -> Result<(), SimulatorError> {
        self.inner.retract(to)
    }
    fn snapshot_from_bytes(&self, bytes: &[u8]) -> Result<Snapshot, SimulatorError> {
        self.inner.snapshot_from_bytes(bytes)
    }
    fn follows(&self) -> Follows {
        self.inner.follows()
    }
    fn check_start(&mut self, motions: &[Option<Motion>]) -> Result<(), SimulatorError> {
        self.inner.check_start(motions)
    }

    fn follow(&mut self, guides: Vec<Guide>) -> Result<(), SimulatorError> {
        *self.guides.lock().unwrap() = guides.clone();
        self.inner.follow(guides)
    }
    fn ledger(&self) -> Option<Ledger> {
        self.inner.ledger()
    }
    fn cloud(&self, out: &mut Cloud) {
        self.inner.cloud(out);
    }
    fn as_any(&self) -> &dyn std::any::Any {
        self.inner.as_any()
    }
}
