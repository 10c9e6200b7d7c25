//! The report of one run: checks, figures, and the files that hold them.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use gif::EncodingError;
use partita::Run;

use crate::checks::{Document, InWords, table};
use crate::mp4::Mp4;
use crate::partial::PartialFile;
use crate::pictures::{Settings, develop, film_rate};
use crate::progress::Making;
use crate::tape::{Told, command, versions};
use crate::write::{names_files, prepare_folder, write_atomically};
use crate::{
    Bound, Check, Format, Options, PictureError, Progress, Recorder, ReportError, Scenery, Tape, TapeError, export,
    page,
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

/// Of the files that every recorded run makes; the film as MP4 where it can.
const ENDINGS: [&str; 7] = ["json", "png", "storyboard.png", "gif", "mp4", "html", "tape"];
/// Of a tape that grows.
const GROWING: &str = "tape.partial";

/// The exit status of `main`: what the example came to, or 1 where it ended with an error, which is printed.
pub fn exit(outcome: Result<ExitCode, impl std::fmt::Display>) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        tell(format_args!("error: {error}"));
        ExitCode::FAILURE
    })
}

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
        let report = Report { name: name.into(), options: options.clone(), checks: vec![], figures: vec![] };
        prepare_folder(&options.out, name, &[&ENDINGS[..], &[GROWING]].concat())?;
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
        let (begin, still) = scenery.begin(&self.name, &self.options, run)?;
        Recorder::new(self.path(GROWING), begin, still, self.options.exact_frames, run)
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

    /// Writes the files and prints the table: success if every check passed, every file was written and the table was
    /// printed, else exit status 1. With a recording, "picture is not blank" joins the checks.
    ///
    /// Beside a new tape stands nothing of an earlier run but exports that this one was not asked for: a film is removed
    /// where this one makes none. Without a new tape all stays that this one did not replace. A note names what stays.
    pub fn finish(mut self, recording: impl Into<Option<Recorder>>) -> ExitCode {
        let mut made = Made::new(&self.name);
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
        if written.is_ok() && printed.is_ok() && self.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// Pictures first, since their check belongs into the JSON; then that, the tape, and what is made of it.
    fn write(&mut self, recording: Option<Recorder>, told: &Told, made: &mut Made) -> Result<(), ReportError> {
        let mut recording = recording;
        let drawn = match &mut recording {
            Some(recorder) => self.write_pictures(recorder, made),
            None => Ok(()),
        };
        let document = Document {
            example: &self.name,
            seed: self.options.seed,
            command: command(),
            versions: versions().into_iter().collect(),
            checks: &self.checks,
            warnings: InWords::all(&told.warnings),
            notes: InWords::all(&told.notes),
            figures: &self.figures,
        };
        let json = serde_json::to_string_pretty(&document).expect("strings and numbers are always JSON") + "\n";
        let told = self.write_file("json", json.as_bytes(), made);
        // A picture that could not be drawn or written does not cost the run its tape.
        let taped = recording.map_or(Ok(()), |recorder| self.write_tape(recorder, json, made));
        self.part_from_earlier_runs(made);
        drawn.and(told).and(taped)
    }

    fn write_tape(&self, recorder: Recorder, json: String, made: &mut Made) -> Result<(), ReportError> {
        let path = self.path("tape");
        recorder.finish(json, &path)?;
        made.files.push(path.clone());
        let played = self.write_page(&path, made);
        let exported = self.write_exports(&path, made);
        played.and(exported)
    }

    fn write_page(&self, tape: &Path, made: &mut Made) -> Result<(), ReportError> {
        made.progress.update(0, 1, "page");
        let page = page(&mut Tape::open(tape)?)?;
        made.notes.extend(page.notes.iter().map(|note| format!("{}.html: {note}", self.name)));
        self.write_file("html", page.html.as_bytes(), made)
    }

    fn write_pictures(&mut self, recorder: &mut Recorder, made: &mut Made) -> Result<(), ReportError> {
        let (mut tape, threads) = (recorder.tape()?, self.options.threads());
        let settings = Settings { threads, still: recorder.still(), ..Settings::default() };
        let rate = film_rate(tape.begin())?;
        let mp4 = Mp4::begin("ffmpeg".as_ref(), &self.path("mp4"), settings.film, rate, threads);
        let mut mp4 = mp4.unwrap_or_else(|note| {
            made.notes.push(note);
            None
        });
        let mut gif = PartialFile::create(&self.path("gif"))?;
        let pictures =
            develop(&mut tape, &settings, gif.writer(), mp4.as_mut(), &made.progress).map_err(|error| match error {
                ReportError::Picture(PictureError::Gif(EncodingError::Io(source))) => {
                    ReportError::Write { path: self.path("gif"), source }
                }
                error => error,
            })?;
        if pictures.skipped > 0 {
            self.figure("not finite, not drawn", pictures.skipped as f64);
        }
        self.check("picture is not blank", pictures.still.detail(), Bound::at_least(crate::image::BLANK_BELOW), "");
        self.write_file("png", &pictures.still.png()?, made)?;
        self.write_file("storyboard.png", &pictures.storyboard.png()?, made)?;
        gif.finish()?;
        made.files.push(self.path("gif"));
        match mp4.map(Mp4::finish) {
            Some(Ok(path)) => made.files.push(path),
            Some(Err(note)) => made.notes.push(note),
            None => {}
        }
        Ok(())
    }

    fn write_exports(&self, tape: &Path, made: &mut Made) -> Result<(), ReportError> {
        let mut failed = Ok(());
        for (i, format) in self.options.export.iter().enumerate() {
            if self.options.export[..i].contains(format) {
                continue;
            }
            made.progress.update(i, self.options.export.len(), &format!("export: {}", format.ending()));
            match export(&mut Tape::open(tape)?, *format, &self.options.out) {
                Ok(path) => made.files.push(path),
                // The others do not depend on it. The first error is the one of the whole.
                Err(error) if failed.is_ok() => failed = Err(error.into()),
                Err(error) => made.notes.push(error.to_string()),
            }
        }
        failed
    }

    /// Beside a new tape, removes what every recorded run makes and this one did not. Tells of what stays and is not of
    /// this run.
    fn part_from_earlier_runs(&self, made: &mut Made) {
        let usual = ENDINGS.map(|ending| self.path(ending));
        let exports = Format::value_variants().iter().map(|format| format.path(&self.options.out, &self.name));
        let taped = made.files.contains(&self.path("tape"));
        for path in usual.iter().cloned().chain(exports) {
            if made.files.iter().any(|file| file.starts_with(&path)) {
                continue;
            }
            if taped && usual.contains(&path) && fs::remove_file(&path).is_ok() {
                made.notes.push(format!("{} was of an earlier run, and is removed", path.display()));
            } else if path.exists() {
                made.notes.push(format!("{} is not of this run: it was there before, and stays", path.display()));
            }
        }
    }

    fn write_file(&self, ending: &str, bytes: &[u8], made: &mut Made) -> Result<(), ReportError> {
        let path = self.path(ending);
        write_atomically(&path, bytes)?;
        made.files.push(path);
        Ok(())
    }
}

/// What a run has made.
struct Made {
    files: Vec<PathBuf>,
    /// What is to be known of it.
    notes: Vec<String>,
    progress: Making,
}

impl Made {
    fn new(name: &str) -> Self {
        Self { files: vec![], notes: vec![], progress: Making::new(name) }
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
    use super::*;

    /// The film of an earlier run is no film of this one; exports are somebody's work, whether of this run or not.
    #[test]
    fn what_an_earlier_run_left_is_removed_or_named() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { out: folder.path().into(), ..Options::default() };
        let report = Report::new("crates", &options).unwrap();
        let files = ["crates.png", "crates.mp4", "crates.tape", "crates.csv", "crates.npz", "crates.vtk", "other.mp4"];
        files.iter().for_each(|name| fs::write(folder.path().join(name), name).unwrap());
        let path = |name: &str| folder.path().join(name);
        let mut made = Made::new("crates");
        made.files = ["crates.png", "crates.tape", "crates.npz", "crates.vtk/crates.pvd"].map(path).into();
        report.part_from_earlier_runs(&mut made);
        let left: Vec<&str> = files.into_iter().filter(|name| path(name).exists()).collect();
        assert_eq!(left, ["crates.png", "crates.tape", "crates.csv", "crates.npz", "crates.vtk", "other.mp4"]);
        let told = [
            ("mp4", "was of an earlier run, and is removed"),
            ("csv", "is not of this run: it was there before, and stays"),
        ];
        assert_eq!(made.notes, told.map(|(ending, words)| format!("{} {words}", report.path(ending).display())));
    }

    /// Whether it was not recorded or its tape failed: nothing is lost, and a note names each file that is not of it.
    #[test]
    fn a_run_without_a_tape_removes_nothing_and_names_what_stays() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { out: folder.path().into(), ..Options::default() };
        let mut report = Report::new("crates", &options).unwrap();
        let stay = ["crates.gif", "crates.html", "crates.tape", "crates.obj"].map(|name| folder.path().join(name));
        let told = stay
            .each_ref()
            .map(|path| format!("{} is not of this run: it was there before, and stays", path.display()));
        stay.iter().for_each(|path| fs::write(path, "of an earlier run").unwrap());
        let mut made = Made::new("crates");
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
        let mut made = Made::new("crates");
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
