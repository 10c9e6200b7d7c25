//! Where the time of a step goes.

use std::time::Instant;

use partita_simulator::Stages;

/// Seconds by stage.
pub(crate) struct Clock {
    last: Instant,
    pub stages: Stages,
}

impl Clock {
    pub fn start() -> Self {
        Self { last: Instant::now(), stages: Stages::default() }
    }

    /// Books what passed since the last lap under a stage.
    pub fn lap(&mut self, stage: &str) {
        let now = Instant::now();
        self.stages.add(stage, (now - self.last).as_secs_f64());
        self.last = now;
    }
}
