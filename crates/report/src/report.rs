//! The report of one run: checks, figures, and the files that hold them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gif::EncodingError;
use partita::Run;

use crate::checks::{Document, table};
use crate::mp4::Mp4;
use crate::partial::PartialFile;
use crate::pictures::{Settings, develop, film_rate};
use crate::tape::{command, versions};
use crate::write::{names_files, prepare_folder, write_atomically};
use crate::{
    Bound, Check, Options, PictureError, Progress, Recorder, ReportError, Scenery, Tape, TapeError, export, page,
};

/// Checks and figures of one run, written by [`Report::finish`] as `NAME.json`, with its seed, command and versions.
/// Where the run was recorded, there are its `NAME.tape`, a page to replay it `NAME.html`, a picture `NAME.png`, five of
/// them in `NAME.storyboard.png`, and a film `NAME.gif`; also `NAME.mp4`, where `ffmpeg` is found, and what `--export`
/// asks for.
#[derive(Debug)]
pub struct Report {
    name: String,
    options: Options,
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
    /// A name unfit for a file, a folder that cannot be made or written to, or something under the name of an export
    /// that is none.
    pub fn new(name: &str, options: &Options) -> Result<Self, ReportError> {
        if !names_files(name) {
            return Err(ReportError::Name { name: name.into() });
        }
        let report = Report { name: name.into(), options: options.clone(), checks: vec![], figures: vec![] };
        let endings = ["json", "png", "storyboard.png", "gif", "mp4", "html", "tape", "tape.partial"];
        prepare_folder(&options.out, name, &endings)?;
        for format in &options.export {
            format.check(&options.out, name)?;
        }
        Ok(report)
    }

    /// Where the file with this ending is or will be written.
    pub fn path(&self, ending: &str) -> PathBuf {
        self.options.out.join(format!("{}.{ending}", self.name))
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

    /// Begins the tape of `run`, for a loop of your own: call [`Recorder::window`] after each window.
    ///
    /// # Errors
    ///
    /// The tape cannot be written, or a simulator panicked while it was looked at.
    pub fn recorder(&self, run: &mut Run, scenery: Scenery) -> Result<Recorder, TapeError> {
        let (begin, still) = scenery.begin(&self.name, &self.options, run)?;
        Recorder::new(self.path("tape.partial"), begin, still, run)
    }

    /// Runs for `seconds` `[s]` with a progress bar, and records it.
    ///
    /// # Errors
    ///
    /// As [`Report::recorder`], or a simulator fails; the tape up to there stays as `NAME.tape.partial`.
    pub fn record(&self, run: &mut Run, seconds: f64, scenery: Scenery) -> Result<Recorder, TapeError> {
        let mut recorder = self.recorder(run, scenery)?;
        let (progress, first, begin) = (self.progress(seconds), run.windows(), run.time());
        run.each_window(seconds, |run| {
            progress.update(run.time() - begin, "");
            if run.windows() > first { recorder.window(run) } else { Ok(()) }
        })?;
        if run.windows() > first {
            recorder.window(run)?;
        }
        recorder.last(run)?;
        progress.finish();
        Ok(recorder)
    }

    /// Writes the files and prints the table: success if every check passed and every file was written, else exit
    /// status 1. With a recording, "picture is not blank" joins the checks.
    pub fn finish(mut self, recording: impl Into<Option<Recorder>>) -> ExitCode {
        let written = self.write(recording.into());
        // A closed pipe must not turn a passed run into a panic.
        let _ = write!(std::io::stdout(), "{}", table(&self.name, &self.checks, &self.figures));
        match written {
            Ok(paths) => {
                let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
                let _ = writeln!(std::io::stdout(), "\nwrote {}", paths.join(", "));
            }
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::FAILURE;
            }
        }
        if self.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// Pictures first, since their check belongs into the JSON; then that, the tape, and what is made of it.
    fn write(&mut self, recording: Option<Recorder>) -> Result<Vec<PathBuf>, ReportError> {
        let mut written = Vec::new();
        let mut recording = recording;
        let drawn = match &mut recording {
            Some(recorder) => self.write_pictures(recorder, &mut written),
            None => Ok(()),
        };
        let document = Document {
            example: &self.name,
            seed: self.options.seed,
            command: command(),
            versions: versions().into_iter().collect(),
            checks: &self.checks,
            figures: &self.figures,
        };
        let json = serde_json::to_string_pretty(&document).expect("strings and numbers are always JSON") + "\n";
        let told = self.write_file("json", json.as_bytes(), &mut written);
        // A picture that could not be drawn or written does not cost the run its tape.
        let taped = recording.map_or(Ok(()), |recorder| self.write_tape(recorder, json, &mut written));
        drawn.and(told).and(taped).map(|()| written)
    }

    fn write_tape(&self, recorder: Recorder, json: String, written: &mut Vec<PathBuf>) -> Result<(), ReportError> {
        let path = self.path("tape");
        recorder.finish(json, &path)?;
        written.push(path.clone());
        let page = page(&mut Tape::open(&path)?)?;
        page.notes.iter().for_each(|note| eprintln!("{}.html: {note}", self.name));
        self.write_file("html", page.html.as_bytes(), written)?;
        self.write_exports(&path, written)
    }

    fn write_pictures(&mut self, recorder: &mut Recorder, written: &mut Vec<PathBuf>) -> Result<(), ReportError> {
        let (mut tape, threads) = (recorder.tape()?, self.options.threads());
        let settings = Settings { threads, still: recorder.still(), ..Settings::default() };
        let rate = film_rate(tape.begin())?;
        let mut mp4 = Mp4::begin("ffmpeg".as_ref(), &self.path("mp4"), settings.film, rate, threads);
        let mut gif = PartialFile::create(&self.path("gif"))?;
        let pictures = develop(&mut tape, &settings, gif.writer(), mp4.as_mut()).map_err(|error| match error {
            ReportError::Picture(PictureError::Gif(EncodingError::Io(source))) => {
                ReportError::Write { path: self.path("gif"), source }
            }
            error => error,
        })?;
        if pictures.skipped > 0 {
            self.figure("not finite, not drawn", pictures.skipped as f64);
        }
        self.check("picture is not blank", pictures.still.detail(), Bound::at_least(crate::image::BLANK_BELOW), "");
        self.write_file("png", &pictures.still.png()?, written)?;
        self.write_file("storyboard.png", &pictures.storyboard.png()?, written)?;
        gif.finish()?;
        written.push(self.path("gif"));
        written.extend(mp4.and_then(Mp4::finish));
        Ok(())
    }

    fn write_exports(&self, tape: &Path, written: &mut Vec<PathBuf>) -> Result<(), ReportError> {
        for (i, format) in self.options.export.iter().enumerate() {
            if !self.options.export[..i].contains(format) {
                written.push(export(&mut Tape::open(tape)?, *format, &self.options.out)?);
            }
        }
        Ok(())
    }

    fn write_file(&self, ending: &str, bytes: &[u8], written: &mut Vec<PathBuf>) -> Result<(), ReportError> {
        let path = self.path(ending);
        write_atomically(&path, bytes)?;
        written.push(path);
        Ok(())
    }
}
