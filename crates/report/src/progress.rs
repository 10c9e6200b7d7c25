//! Progress bars on standard error: of a run, with simulated time and real-time factor, and of what is made after it.

use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use crate::tell;

/// A bar that is drawn only where standard error is a terminal, and cleared when dropped.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    begin: Instant,
}

/// Ticks of the bar by second of simulated time.
const TICKS: u64 = 1000;

impl Progress {
    pub(crate) fn new(name: &str, seconds: f64) -> Self {
        let bar = bar(name, TICKS.max((seconds * TICKS as f64) as u64));
        bar.set_message(format!("0.00 / {seconds:.2} s"));
        Progress { bar, begin: Instant::now() }
    }

    /// Shows that the simulation has reached `time` `[s]`; `words` follow the real-time factor
    /// ("iterations 3, gap 0.1 mm").
    pub fn update(&self, time: f64, words: &str) {
        if self.bar.is_hidden() {
            return;
        }
        let real = self.begin.elapsed().as_secs_f64();
        let total = self.bar.length().unwrap_or(TICKS) as f64 / TICKS as f64;
        self.bar.set_position((time * TICKS as f64) as u64);
        self.bar.set_message(format!(
            "{time:.2} / {total:.2} s  {:.2} x real time  {words}",
            time / real.max(f64::MIN_POSITIVE)
        ));
    }

    /// Prints a line above the bar, or plainly where the bar is hidden.
    pub fn say(&self, line: &str) {
        if self.bar.is_hidden() { tell(line) } else { self.bar.println(line) }
    }

    /// Removes the bar. Dropping does the same.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}

/// The same bar, for what is made of a run once it is over.
pub(crate) struct Making {
    bar: ProgressBar,
}

impl Making {
    pub fn new(name: &str) -> Self {
        Making { bar: bar(name, 1) }
    }

    /// Shows that `done` of `all` parts are made, and `words` for what is being made.
    pub fn update(&self, done: usize, all: usize, words: &str) {
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(words.to_string());
        // Some parts take seconds, in which nothing else would bring the words to the screen.
        self.bar.force_draw();
    }

    /// Removes the bar. Dropping does the same.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn bar(name: &str, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} {bar:30} {msg}")
        .map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("=> "));
    let bar = ProgressBar::new(length).with_style(style).with_prefix(name.to_string());
    bar.with_finish(indicatif::ProgressFinish::AndClear)
}
