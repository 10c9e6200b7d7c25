//! Progress on standard error, as bars or lines: of a run, with simulated time and real-time factor, and of what is made after it.

use std::cell::Cell;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::tell;

/// A bar, cleared when dropped; where standard error is no terminal, a line every few seconds.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    name: String,
    /// Simulated time of the run `[s]`.
    seconds: f64,
    begin: Instant,
    /// When the last line was printed.
    told: Cell<Instant>,
}

/// Time between lines.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// Ticks of the bar by second of simulated time.
const TICKS: u64 = 1000;

impl Progress {
    pub(crate) fn new(name: &str, seconds: f64) -> Self {
        let bar = bar(name, TICKS.max((seconds * TICKS as f64) as u64));
        bar.set_message(format!("0.00 / {seconds:.2} s"));
        let now = Instant::now();
        Progress { bar, name: name.into(), seconds, begin: now, told: Cell::new(now) }
    }

    /// Shows that the simulation has reached `time` `[s]`; `words` follow the real-time factor
    /// ("iterations 3, gap 0.1 mm").
    pub fn update(&self, time: f64, words: &str) {
        let (real, total) = (self.begin.elapsed().as_secs_f64(), self.seconds);
        let speed = time / real.max(f64::MIN_POSITIVE);
        if self.bar.is_hidden() {
            if self.told.get().elapsed() >= BETWEEN_LINES {
                self.told.set(Instant::now());
                tell(line(&self.name, [time, total, real], words));
            }
            return;
        }
        self.bar.set_position((time * TICKS as f64) as u64);
        self.bar.set_message(format!("{time:.2} / {total:.2} s  {speed:.2} x real time  {words}"));
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

/// Progress of a run in words: simulated time of all `[s]`, and real time so far and to come `[s]`.
fn line(name: &str, [time, total, real]: [f64; 3], words: &str) -> String {
    let left = if time > 0.0 { format!("{:.0} s left", (total - time).max(0.0) * real / time) } else { String::new() };
    let parts = [format!("{time:.2} of {total:.2} s after {real:.0} s"), left, words.into()];
    format!("{name}: {}", parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", "))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_and_how_long() {
        assert_eq!(line("crates", [0.5, 2.0, 10.0], ""), "crates: 0.50 of 2.00 s after 10 s, 30 s left");
        assert_eq!(line("crates", [0.0, 2.0, 6.0], "gap 0"), "crates: 0.00 of 2.00 s after 6 s, gap 0");
    }
}
