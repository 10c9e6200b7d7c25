//! The report of one run: checks, figures, and the files that hold them.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::checks::{Document, table};
use crate::write::{prepare_folder, write_atomically};
use crate::{Bound, Check, Film, Options, Progress, ReportError};

/// Checks and figures of one run, written as `NAME.json`, `NAME.png` and `NAME.gif` by [`Report::finish`].
#[derive(Debug)]
pub struct Report {
    name: String,
    folder: PathBuf,
    checks: Vec<Check>,
    figures: Vec<(String, f64)>,
}

/// The exit status of `main`: what the example came to, or 1 where it ended with an error, which is printed.
pub fn exit(outcome: Result<ExitCode, impl std::fmt::Display>) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

impl Report {
    /// Begins a report and makes its folder, so that a run never ends at a folder that cannot be written.
    ///
    /// # Errors
    ///
    /// A name unfit for a file, or a folder that cannot be made or written to.
    pub fn new(name: &str, options: &Options) -> Result<Self, ReportError> {
        let fit = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > 100 || !name.chars().all(fit) {
            return Err(ReportError::Name { name: name.into() });
        }
        let report = Report { name: name.into(), folder: options.out.clone(), checks: vec![], figures: vec![] };
        prepare_folder(&report.folder, &["json", "png", "gif"].map(|end| report.path(end)))?;
        Ok(report)
    }

    /// Where the file with this ending is or will be written.
    pub fn path(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.name))
    }

    /// A progress bar for a run of `seconds` of simulated time; hidden where standard error is no terminal.
    pub fn progress(&self, seconds: f64) -> Progress {
        Progress::new(&self.name, seconds)
    }

    /// Notes a check; returns whether it passed. A value that is not finite never passes.
    pub fn check(&mut self, name: &str, value: f64, bound: Bound, unit: &str) -> bool {
        let pass = bound.holds(value);
        self.checks.push(Check { name: name.into(), value, bound, unit: unit.into(), pass });
        pass
    }

    /// Notes a figure, to be read but not judged. A second figure of the same name replaces the first.
    pub fn figure(&mut self, name: &str, value: f64) {
        match self.figures.iter_mut().find(|(known, _)| known == name) {
            Some(figure) => figure.1 = value,
            None => self.figures.push((name.into(), value)),
        }
    }

    /// Prints words of the example's own, above the table.
    pub fn note(&self, words: impl std::fmt::Display) {
        // A closed pipe or a full device must not turn a run into a panic.
        let _ = writeln!(std::io::stdout(), "{words}\n");
    }

    /// Whether every check so far has passed.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.pass)
    }

    /// The checks so far, in order.
    pub fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// Writes the files and prints the table: success if every check passed and every file was written, else exit
    /// status 1. With a film, "picture is not blank" joins the checks.
    pub fn finish(mut self, film: impl Into<Option<Film>>) -> ExitCode {
        let written = self.write(film.into());
        // A closed pipe must not turn a passed run into a panic.
        let _ = write!(std::io::stdout(), "{}", table(&self.name, &self.checks, &self.figures));
        match written {
            Ok(endings) => {
                let paths: Vec<String> = endings.iter().map(|end| self.path(end).display().to_string()).collect();
                let _ = writeln!(std::io::stdout(), "\nwrote {}", paths.join(", "));
            }
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::FAILURE;
            }
        }
        if self.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// Film and picture first, JSON last: where the JSON is new, so is the rest.
    fn write(&mut self, film: Option<Film>) -> Result<Vec<&'static str>, ReportError> {
        let mut endings = vec!["json"];
        let drawn = film.map_or(Ok(()), |film| self.write_pictures(film, &mut endings));
        let document = Document { example: &self.name, checks: &self.checks, figures: &self.figures };
        let json = serde_json::to_string_pretty(&document).expect("strings and numbers are always JSON") + "\n";
        write_atomically(&self.path("json"), json.as_bytes())?;
        drawn.map(|()| endings)
    }

    fn write_pictures(&mut self, film: Film, endings: &mut Vec<&'static str>) -> Result<(), ReportError> {
        let skipped = film.skipped();
        if skipped > 0 {
            self.figure("not finite, not drawn", skipped as f64);
        }
        let (still, gif) = film.develop()?;
        self.check("picture is not blank", still.detail(), Bound::at_least(crate::image::BLANK_BELOW), "");
        write_atomically(&self.path("png"), &still.png()?)?;
        endings.push("png");
        write_atomically(&self.path("gif"), &gif)?;
        endings.push("gif");
        Ok(())
    }
}
