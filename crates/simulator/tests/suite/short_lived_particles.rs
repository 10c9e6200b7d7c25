//! Law 9 on particles that nobody can follow through a whole step: sparks that fly fast and burn out at once.

use std::any::Any;

use partita_simulator::{
    Cloud, HandleId, HandleState, HandleTable, Inputs, Simulator, SimulatorError, Snapshot, StepReport,
    laws::{self, Broken, Suite},
    reference::{Chain, ChainParameters},
};

/// `[s]`
const DT: f64 = 1.0 / 1024.0;
/// Of a spark `[m/s]`: 4 % of the chain's size in a 16th of a step.
const SPEED: f64 = 300.0;
/// From one spark to the next, and from its birth to its end `[s]`.
const BETWEEN: f64 = 0.26 * DT;
const LIFETIME: f64 = 0.7 * DT;

/// A chain that sprays sparks, each where its age has brought it.
struct Sparkler {
    chain: Chain,
    /// One glows on for good, and sinks slowly.
    ember: bool,
    /// Its id goes to and fro between it and another one.
    passes_on: bool,
}

impl Simulator for Sparkler {
    fn cloud(&self, out: &mut Cloud) {
        let time = self.time();
        let newest = (time / BETWEEN) as u64;
        for number in newest.saturating_sub(3)..=newest {
            let age = time - number as f64 * BETWEEN;
            if (0.0..LIFETIME).contains(&age) {
                out.push(number, [SPEED * age, 0.0, 0.0]);
            }
        }
        if self.ember {
            // A metre to the side, and back.
            let side = if self.passes_on { (time / DT / 40.0).floor() % 2.0 } else { 0.0 };
            out.push(u64::MAX, [0.0, -0.1 * time, side]);
        }
    }

    fn name(&self) -> &str {
        self.chain.name()
    }

    fn time(&self) -> f64 {
        self.chain.time()
    }

    fn handles(&self) -> &HandleTable {
        self.chain.handles()
    }

    fn read(&self, handles: &[HandleId], out: &mut [HandleState]) -> Result<(), SimulatorError> {
        self.chain.read(handles, out)
    }

    fn step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        self.chain.step(dt, inputs)
    }

    fn snapshot(&self, reuse: Option<Snapshot>) -> Snapshot {
        self.chain.snapshot(reuse)
    }

    fn retract(&mut self, to: &Snapshot) -> Result<(), SimulatorError> {
        self.chain.retract(to)
    }

    fn snapshot_from_bytes(&self, bytes: &[u8]) -> Result<Snapshot, SimulatorError> {
        self.chain.snapshot_from_bytes(bytes)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn law_9(ember: bool, passes_on: bool) -> Result<(), Broken> {
    let make = || -> Box<dyn Simulator> {
        let positions: Vec<_> = (0..6).map(|i| [0.1 * f64::from(i), 0.3, 0.0]).collect();
        let chain = Chain::new("chain", &positions, ChainParameters::default()).unwrap();
        Box::new(Sparkler { chain, ember, passes_on })
    };
    laws::law_9(&Suite { make: &make, dt: DT, load: 0.1, free: &make })
}

/// No spark lives through a step, so that none tells how far a spark may go in a 16th of one.
#[test]
fn sound_sparks_keep_law_9() {
    law_9(false, false).unwrap();
}

/// Nor does a slow particle beside them tell that.
#[test]
fn sound_sparks_beside_a_slow_ember_keep_law_9() {
    law_9(true, false).unwrap();
}

#[test]
fn an_ember_whose_id_passes_on_is_found_among_sparks() {
    let message = law_9(true, true).unwrap_err().to_string();
    assert!(message.contains("id 18446744073709551615 is 1.000e0 m away after a 16th of the step"), "{message}");
}
