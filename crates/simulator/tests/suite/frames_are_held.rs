//! Law 8 on a follower of Frames: its held Frame is carried along and turned.

use std::{any::Any, sync::Arc};

use partita_simulator::{
    Follows, Guide, HandleId, HandleState, HandleTable, Identity, Inputs, Kind, Reaction, Simulator, SimulatorError,
    Snapshot, StepReport, Surface, Wrench, check, check_guides, laws,
};

/// How the puppets take a carrier.
#[derive(Clone, Copy, PartialEq)]
enum Hold {
    Sound,
    /// They go along, but do not turn.
    Unturned,
}

/// Two frames of 1 kg that rest unless they are held; the first is nailed down and cannot be.
struct Puppets {
    table: HandleTable,
    hold: Hold,
    guides: Vec<Guide>,
    time: f64,
    frames: [HandleState; 2],
}

impl Puppets {
    fn new(hold: Hold) -> Self {
        let mut table = HandleTable::new("puppets", "puppets");
        table.add("puppets", Kind::Frame, 2).unwrap();
        let frames = [0.0, 0.5].map(|x| HandleState { position: [x, 0.0, 0.0], ..Default::default() });
        Self { table, hold, guides: Vec::new(), time: 0.0, frames }
    }

    fn of(&self) -> Identity {
        Identity::new(&self.table, &self.guides)
    }
}

impl Simulator for Puppets {
    fn name(&self) -> &str {
        "puppets"
    }

    fn time(&self) -> f64 {
        self.time
    }

    fn handles(&self) -> &HandleTable {
        &self.table
    }

    fn read(&self, handles: &[HandleId], out: &mut [HandleState]) -> Result<(), SimulatorError> {
        self.table.read_with(handles, out, |i| self.frames[i])
    }

    fn surfaces(&self) -> &[Arc<Surface>] {
        &[]
    }

    fn step(&mut self, dt: f64, inputs: &Inputs) -> Result<StepReport, SimulatorError> {
        check(&self.table, &self.guides, dt, inputs)?;
        let mut report = StepReport::new(self.time + dt);
        for (i, (guide, motion)) in self.guides.iter().zip(&inputs.motions).enumerate() {
            let (Guide::Attachment { own }, Some(motion)) = (guide, motion) else { continue };
            let (frame, end) = (&mut self.frames[own.index as usize], motion.end[0]);
            let impulse = [0, 1, 2].map(|axis| frame.velocity[axis] - end.velocity[axis]);
            report.reactions.push(Reaction { guide: i as u32, carrier: 0, impulse: Wrench::force(impulse) });
            *frame = match self.hold {
                Hold::Sound => end,
                Hold::Unturned => HandleState { orientation: frame.orientation, spin: frame.spin, ..end },
            };
        }
        self.time = report.time;
        Ok(report)
    }

    fn snapshot(&self, reuse: Option<Snapshot>) -> Snapshot {
        Snapshot::renew(reuse, self.of(), self.time, &(self.time, self.frames))
    }

    fn retract(&mut self, to: &Snapshot) -> Result<(), SimulatorError> {
        (self.time, self.frames) = *to.get::<(f64, [HandleState; 2])>(self.of())?;
        Ok(())
    }

    fn snapshot_from_bytes(&self, bytes: &[u8]) -> Result<Snapshot, SimulatorError> {
        Snapshot::from_bytes::<(f64, [HandleState; 2])>(self.of(), bytes)
    }

    fn follows(&self) -> Follows {
        Follows { frames: true, ..Follows::default() }
    }

    fn follow(&mut self, guides: Vec<Guide>) -> Result<(), SimulatorError> {
        check_guides(&self.table, self.follows(), &self.guides, &guides)?;
        let nailed = self.table.handle(0);
        if guides.contains(&Guide::Attachment { own: nailed }) {
            return Err(SimulatorError::refused("puppets[0]", "an attachment", "none, since it is nailed down"));
        }
        self.guides = guides;
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn broken(law: impl Fn(&laws::Suite) -> Result<(), laws::Broken>, hold: Hold) -> Option<String> {
    let make = || -> Box<dyn Simulator> { Box::new(Puppets::new(hold)) };
    let suite = laws::Suite { make: &make, dt: 1.0 / 256.0, load: 1.0, free: &make };
    law(&suite).err().map(|broken| broken.to_string())
}

/// The first Frame cannot be held, so the second is.
#[test]
fn a_frame_that_is_held_keeps_the_laws() {
    for law in [laws::law_1, laws::law_3, laws::law_4, laws::law_6, laws::law_7, laws::law_8] {
        assert_eq!(broken(law, Hold::Sound), None);
    }
}

#[test]
fn a_frame_that_does_not_turn_with_its_carrier_breaks_the_law() {
    let message = broken(laws::law_8, Hold::Unturned).unwrap();
    assert!(
        message.starts_with("law 8") && message.contains("0e0 m and 0e0 m/s off its carrier (turned by "),
        "{message}"
    );
}

/// Without a ledger nobody can tell what a load did.
#[test]
fn law_5_wants_a_ledger() {
    let message = broken(laws::law_5, Hold::Sound).unwrap();
    assert!(message.contains("`free` has no ledger"), "{message}");
}
