//! A progress bar with simulated time and real-time factor, on standard error.

use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

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
        let style = ProgressStyle::with_template("{prefix} {bar:30} {msg}")
            .map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("=> "));
        let length = TICKS.max((seconds * TICKS as f64) as u64);
        let bar = ProgressBar::new(length).with_style(style).with_prefix(name.to_string());
        bar.set_message(format!("0.00 / {seconds:.2} s"));
        Progress { bar: bar.with_finish(indicatif::ProgressFinish::AndClear), begin: Instant::now() }
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
        if self.bar.is_hidden() { eprintln!("{line}") } else { self.bar.println(line) }
    }

    /// Removes the bar. Dropping does the same.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}
