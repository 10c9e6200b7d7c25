//! The command line that every example understands.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Parser;

use crate::Format;

// Clap would show a doc comment here in place of an example's own words; it stands at the re-export.
#[expect(missing_docs, reason = "documented where it is exported")]
#[derive(Debug, Clone, PartialEq, clap::Args)]
pub struct Options {
    /// Folder for all that the run leaves: tape, page, pictures, film, JSON file and exports.
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub out: PathBuf,

    /// Simulated time in seconds, from 0.001 to 86400 (a day); each example has a default of its own.
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = parse_seconds)]
    pub seconds: Option<f64>,

    /// Worker threads, at most 1024; by default as many as the machine offers.
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<NonZeroUsize>,

    /// Seed of everything random: the same seed gives the same run.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Frames by second of simulated time, from 0.01 to 1000, on the tape and in all that is made of it.
    #[arg(long, value_name = "N", default_value_t = 24.0, allow_negative_numbers = true, value_parser = parse_fps)]
    pub fps: f64,

    /// Shows only the ends of windows, at the highest frame rate up to `--fps` that divides the
    /// scene's rate. By default, frames within a window are interpolated.
    #[arg(long)]
    pub exact_frames: bool,

    /// A smaller and shorter run of the same scene, for continuous integration.
    #[arg(long)]
    pub quick: bool,

    /// Also writes the run in these formats, separated by commas
    #[arg(long, value_name = "FORMAT", value_enum, value_delimiter = ',')]
    pub export: Vec<Format>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            out: "out".into(),
            seconds: None,
            threads: None,
            seed: 1,
            fps: 24.0,
            exact_frames: false,
            quick: false,
            export: Vec::new(),
        }
    }
}

#[derive(clap::Parser)]
struct Alone {
    #[command(flatten)]
    options: Options,
}

impl Options {
    /// Reads the command line; on `--help` or a mistake, prints and leaves the process as clap does.
    pub fn parse() -> Self {
        Alone::parse().options
    }

    /// Simulated time `[s]`: what `--seconds` says, else `full`, or `quick` under `--quick`.
    pub fn seconds_or(&self, full: f64, quick: f64) -> f64 {
        self.seconds.unwrap_or(if self.quick { quick } else { full })
    }

    /// `full`, or `quick` under `--quick`: sizes and counts of a scene.
    pub fn pick<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Worker threads: what `--threads` says, else what the machine offers, else one.
    pub fn threads(&self) -> usize {
        self.threads.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
    }
}

/// What `--seconds` may be `[s]`: an instant, which still has a window and a frame, to a day, which ends.
const SECONDS: std::ops::RangeInclusive<f64> = 1e-3..=86_400.0;

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if SECONDS.contains(&seconds) => Ok(seconds),
        _ => Err(format!("expected a number of seconds from {} to {}", SECONDS.start(), SECONDS.end())),
    }
}

fn parse_fps(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(fps) if (0.01..=1000.0).contains(&fps) => Ok(fps),
        _ => Err("expected a number of frames a second from 0.01 to 1000".into()),
    }
}

fn parse_threads(text: &str) -> Result<NonZeroUsize, String> {
    match text.parse::<NonZeroUsize>() {
        Ok(threads) if threads.get() <= 1024 => Ok(threads),
        _ => Err("expected a whole number from 1 to 1024".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(flags: &[&str]) -> Result<Options, clap::Error> {
        Alone::try_parse_from(std::iter::once(&"example").chain(flags)).map(|alone| alone.options)
    }

    #[test]
    fn no_flags_are_the_defaults() {
        assert_eq!(parsed(&[]).unwrap(), Options::default());
        assert_eq!(Options::default().seconds_or(4.0, 1.0), 4.0);
    }

    #[test]
    fn quick_shortens_what_seconds_does_not_fix() {
        assert_eq!(parsed(&["--quick"]).unwrap().seconds_or(4.0, 1.0), 1.0);
        assert_eq!(parsed(&["--quick", "--seconds", "2.5"]).unwrap().seconds_or(4.0, 1.0), 2.5);
    }

    #[test]
    fn absurd_flags_are_refused() {
        for seconds in ["nan", "-1", "0", "inf", "1e999", "1e300", "86401", "1e-300", "0.0009"] {
            let error = parsed(&[&format!("--seconds={seconds}")]).unwrap_err().to_string();
            assert!(error.contains("expected a number of seconds from 0.001 to 86400"), "{seconds}: {error}");
        }
        for flag in ["--threads=0", "--threads=-2", "--threads=99999999", "--seed=x"] {
            assert!(parsed(&[flag]).is_err(), "{flag}");
        }
        assert!(["--seconds=0.001", "--seconds=86400"].iter().all(|flag| parsed(&[flag]).is_ok()));
    }
}
