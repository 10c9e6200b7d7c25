//! The report of one run: checks, figures, and the files that hold them.

use std::cell::Cell;
use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use partita::Run;

use crate::checks::{Document, InWords, table};
use crate::products::{ENDINGS, Products, file_of};
use crate::provenance::{command, parameters, provenance};
use crate::tape::Told;
use crate::write::{names_files, prepare_folder};
use crate::{Bound, Check, Options, Progress, Recorder, ReportError, Scenery, Tape, TapeError, interrupt, interrupted};

/// Checks and figures of one run, written by [`Report::finish`] as `NAME.json`, with its seed, command, provenance and parameters.
/// Where the run was recorded, there are its `NAME.tape`, a page to replay it `NAME.html`, a picture `NAME.png`, five of
/// them in `NAME.storyboard.png`, and a film `NAME.gif`; also `NAME.mp4`, where `ffmpeg` is found, and what `--export`
/// asks for.
#[derive(Debug)]
pub struct Report {
    name: String,
    options: Options,
    checks: Vec<Check>,
    figures: Vec<(String, f64)>,
    /// Whether a recording was started.
    recorded: Cell<bool>,
}

/// Ending of a tape that is being written.
pub(crate) const PARTIAL: &str = "tape.partial";

/// Writes a line to standard error; where that is closed or full, nobody reads it, and nothing else comes of it.
pub fn tell(line: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{line}");
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
        let (name, recorded) = (name.to_string(), Cell::new(false));
        let report = Report { name, options: options.clone(), checks: vec![], figures: vec![], recorded };
        provenance();
        prepare_folder(&options.out, &report.name, &[&ENDINGS[..], &[PARTIAL]].concat())?;
        for format in &options.export {
            format.check(&options.out, &report.name)?;
        }
        Ok(report)
    }

    /// Where the file with this ending is or will be written.
    pub fn path(&self, ending: &str) -> PathBuf {
        file_of(&self.options.out, &self.name, ending)
    }

    /// The options that the report was made with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// A progress bar for a run of `seconds` of simulated time; lines where standard error is no terminal.
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
        // A device that is full is told at the end, a closed pipe not at all.
        let _ = writeln!(io::stdout(), "{words}\n");
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
        let begin = scenery.begin(&self.name, &self.options, run)?;
        let recorder = Recorder::new(self.path(PARTIAL), begin, self.options.exact_frames, run)?;
        self.recorded.set(true);
        Ok(recorder)
    }

    pub(crate) fn has_recorded(&self) -> bool {
        self.recorded.get()
    }

    /// Runs for `seconds` `[s]` with a progress bar, and records it. In [`crate::run`], Ctrl-C ends it earlier.
    ///
    /// # Errors
    ///
    /// As [`Report::recorder`], or a simulator fails; the tape up to there stays as `NAME.tape.partial`.
    pub fn record(&self, run: &mut Run, seconds: f64, scenery: Scenery) -> Result<Recorder, TapeError> {
        self.recorded(run, seconds, scenery, |_| Ok(""))
    }

    /// Does the same as [`Report::record`], and calls `each` after each window. The words that it
    /// returns follow the progress bar: `Ok("")` for none.
    ///
    /// # Errors
    ///
    /// As [`Report::record`], or an error of `each`.
    pub fn record_each<W: AsRef<str>>(
        &self,
        run: &mut Run,
        seconds: f64,
        scenery: Scenery,
        each: impl FnMut(&mut Run) -> Result<W, Box<dyn Error>>,
    ) -> Result<Recorder, Box<dyn Error>> {
        self.recorded(run, seconds, scenery, each)
    }

    fn recorded<W: AsRef<str>, E: From<partita::Error> + From<TapeError>>(
        &self,
        run: &mut Run,
        seconds: f64,
        scenery: Scenery,
        mut each: impl FnMut(&mut Run) -> Result<W, E>,
    ) -> Result<Recorder, E> {
        let windows = run.windows_in(seconds)?;
        let mut recorder = self.recorder(run, scenery)?;
        let (progress, start) = (self.progress(seconds), run.time());
        for _ in 0..windows {
            if interrupted() {
                recorder.interrupted(seconds);
                break;
            }
            run.advance()?;
            recorder.window(run)?;
            progress.update(run.time() - start, each(run)?.as_ref());
        }
        recorder.last(run)?;
        progress.finish();
        Ok(recorder)
    }

    /// Writes the files and prints the table. Status 0: every check passed and all output was
    /// written; 130: stopped by Ctrl-C; else 1. A recording adds the check "picture is not blank".
    ///
    /// Beside a new tape stands nothing of an earlier run but exports that this one was not asked for: a film is removed
    /// where this one makes none. Without a new tape all stays that this one did not replace. A note names what stays.
    pub fn finish(mut self, recording: impl Into<Option<Recorder>>) -> ExitCode {
        let was_interrupted = interrupted();
        let (name, options) = (self.name.clone(), self.options.clone());
        let mut made = Products::new(&name, &options.out, options.threads(), &options.export);
        let recording = recording.into();
        let told = recording.as_ref().map(|recorder| recorder.told().clone()).unwrap_or_default();
        let written = self.write(recording, &told, &mut made);
        made.progress.finish();
        let mut text = table(&self.name, &self.checks, &told, &self.figures);
        if written.is_ok() {
            let paths: Vec<String> = made.files.iter().map(|path| path.display().to_string()).collect();
            text += &format!("\nwrote {}\n", paths.join(", "));
        }
        let printed = print(io::stdout(), &text);
        made.notes.iter().for_each(|note| tell(format_args!("note: {note}")));
        if let Err(error) = &written {
            tell(format_args!("error: {error}"));
        }
        if let Err(error) = &printed {
            tell(format_args!("error: the table could not be printed: {error}"));
        }
        match (written.is_ok() && printed.is_ok(), was_interrupted) {
            (true, true) => ExitCode::from(interrupt::STATUS),
            (true, false) if self.passed() => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        }
    }

    /// Pictures first, since their check belongs into the JSON; then that, the tape, and what is made of it.
    fn write(&mut self, recording: Option<Recorder>, told: &Told, products: &mut Products) -> Result<(), ReportError> {
        let mut recording = recording;
        let drawn = recording.as_mut().map_or(Ok(()), |recorder| self.draw(recorder, products));
        let document = Document {
            example: &self.name,
            seed: self.options.seed,
            command: command(),
            provenance: provenance().into_iter().collect(),
            simulated_seconds: told.seconds.map(|[simulated, _]| simulated),
            wall_seconds: told.seconds.map(|[_, wall]| wall),
            stopped: told.interrupted.as_ref().map(InWords::new),
            checks: &self.checks,
            warnings: InWords::all(&told.warnings),
            notes: InWords::all(&told.notes),
            figures: &self.figures,
            parameters: parameters(&self.options, &told.scene),
        };
        let json = serde_json::to_string_pretty(&document).expect("strings and numbers are always JSON") + "\n";
        let told = products.write("json", json.as_bytes());
        // A picture that could not be drawn or written does not cost the run its tape.
        let taped = recording.map_or(Ok(()), |recorder| self.write_tape(recorder, json, products));
        products.note_stale_files(None);
        drawn.and(told).and(taped)
    }

    fn draw(&mut self, recorder: &mut Recorder, products: &mut Products) -> Result<(), ReportError> {
        let drawn = products.pictures(&mut recorder.tape()?)?;
        if drawn.skipped > 0 {
            self.figure("not finite, not drawn", drawn.skipped as f64);
        }
        self.check("picture is not blank", drawn.detail, Bound::at_least(crate::image::BLANK_BELOW), "");
        Ok(())
    }

    fn write_tape(&self, recorder: Recorder, json: String, products: &mut Products) -> Result<(), ReportError> {
        let path = self.path("tape");
        recorder.finish(json, &path)?;
        products.files.push(path.clone());
        let mut tape = Tape::open(&path)?;
        let played = products.page(&mut tape);
        played.and(products.exports(&mut tape))
    }
}

/// A closed pipe is no error: who reads has read enough.
fn print(mut to: impl Write, text: &str) -> io::Result<()> {
    match to.write_all(text.as_bytes()).and_then(|()| to.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Whether it was not recorded or its tape failed: nothing is lost, and a note names each file that is not of it.
    #[test]
    fn a_run_without_a_tape_removes_nothing_and_names_what_stays() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { out: folder.path().into(), ..Options::default() };
        let mut report = Report::new("crates", &options).unwrap();
        let stay = ["crates.gif", "crates.html", "crates.tape", "crates.obj"].map(|name| folder.path().join(name));
        let told = stay.each_ref().map(|path| format!("{} was there before, and stays", path.display()));
        stay.iter().for_each(|path| fs::write(path, "of an earlier run").unwrap());
        let mut made = Products::new("crates", folder.path(), 1, &[]);
        report.write(None, &Told::default(), &mut made).unwrap();
        assert_eq!((made.files.as_slice(), made.notes.as_slice()), (&[report.path("json")][..], &told[..]));

        let run = || {
            let mut scene = partita::Scene::new(partita::Rate::hz(48));
            scene.add(partita::simulator::reference::MassOnSpring::new("mass", Default::default()).unwrap());
            scene.build().unwrap()
        };
        let scenery = || Scenery::new(crate::Camera::framing([[-1.0; 3], [1.0; 3]]));
        let recording = report.record(&mut run(), 0.1, scenery()).unwrap();
        fs::remove_file(&stay[2]).unwrap();
        fs::create_dir(&stay[2]).unwrap(); // which a file cannot replace
        let mut made = Products::new("crates", folder.path(), 1, &[]);
        report.write(Some(recording), &Told::default(), &mut made).unwrap_err();
        assert!(!made.files.contains(&stay[2]) && stay.iter().all(|path| path.exists()));
        assert!(told[1..].iter().all(|words| made.notes.contains(words)), "{:?}", made.notes);
    }

    /// `/dev/full` has no space left, ever; a pipe that is closed is one whose reader has gone, as `head` does.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_table_that_cannot_be_printed_is_an_error_and_one_that_nobody_reads_is_none() {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let full = io::LineWriter::new(full); // as standard output
        assert_eq!(print(full, "a table\n").unwrap_err().kind(), io::ErrorKind::StorageFull);
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        print(writer, "a table\n").unwrap();
    }
}
