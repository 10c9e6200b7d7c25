//! All that is made of a tape: pictures, film, page and exports.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use gif::EncodingError;

use crate::mp4::Mp4;
use crate::partial::PartialFile;
use crate::pictures::{Settings, develop, film_rate};
use crate::progress::Making;
use crate::write::{names_files, prepare_folder, write_atomically};
use crate::{Format, PictureError, ReportError, Tape, export, page};

/// Endings of the files that every recorded run makes; the film as MP4 where it can.
pub(crate) const ENDINGS: [&str; 7] = ["json", "png", "storyboard.png", "gif", "mp4", "html", "tape"];

/// Files made of a tape by [`render_tape`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rendered {
    /// Paths of all files, in the order in which they were written.
    pub files: Vec<PathBuf>,
    /// Sentences on what was left out or could not be made.
    pub notes: Vec<String>,
}

/// Renders page, pictures, film and requested exports of a tape into `folder`, under the tape's name.
///
/// The tape can be that of a run that was cut short, `NAME.tape.partial`. The JSON file is written
/// if the tape has its end. `threads` draw the pictures, which are the same for any number.
///
/// ```no_run
/// use partita_report::{Format, render_tape};
///
/// let rendered = render_tape("out/crates.tape.partial", "out", 2, &[Format::Csv])?;
/// println!("{:?}", rendered.files);
/// # Ok::<(), partita_report::ReportError>(())
/// ```
///
/// # Errors
///
/// The tape cannot be read, its name is unfit for files, the folder cannot be written, a picture
/// cannot be drawn, or an export fails. Other exports are still written.
pub fn render_tape(
    tape: impl AsRef<Path>,
    folder: impl AsRef<Path>,
    threads: usize,
    exports: &[Format],
) -> Result<Rendered, ReportError> {
    let (path, folder) = (tape.as_ref(), folder.as_ref());
    let mut tape = Tape::open(path)?;
    let name = tape.begin().name.clone();
    if !names_files(&name) {
        return Err(ReportError::Name { name });
    }
    let made = ENDINGS.iter().filter(|ending| **ending != "tape");
    prepare_folder(folder, &name, &made.copied().collect::<Vec<_>>())?;
    for format in exports {
        format.check(folder, &name)?;
    }
    let mut products = Products::new(&name, folder, threads, exports);
    products.pictures(&mut tape)?;
    if let Some(end) = tape.end() {
        products.write("json", end.json.as_bytes())?;
    }
    products.page(&mut tape)?;
    products.exports(&mut tape)?;
    products.progress.finish();
    products.note_stale_files(Some(path));
    let Products { files, notes, .. } = products;
    Ok(Rendered { files, notes })
}

/// The file of this name and ending.
pub(crate) fn file_of(folder: &Path, name: &str, ending: &str) -> PathBuf {
    folder.join(format!("{name}.{ending}"))
}

/// Makes files of a tape, side by side.
pub(crate) struct Products<'a> {
    name: &'a str,
    folder: &'a Path,
    threads: usize,
    exports: &'a [Format],
    /// Files written so far.
    pub files: Vec<PathBuf>,
    /// Sentences for the user.
    pub notes: Vec<String>,
    pub progress: Making,
}

/// Facts on the pictures of a tape, for the table.
pub(crate) struct Drawn {
    /// Detail of the large picture, [`crate::Image::detail`].
    pub detail: f64,
    /// Triangles and points of the film that were not finite.
    pub skipped: usize,
}

impl<'a> Products<'a> {
    pub fn new(name: &'a str, folder: &'a Path, threads: usize, exports: &'a [Format]) -> Self {
        Self { name, folder, threads, exports, files: vec![], notes: vec![], progress: Making::new(name) }
    }

    fn path(&self, ending: &str) -> PathBuf {
        file_of(self.folder, self.name, ending)
    }

    pub fn write(&mut self, ending: &str, bytes: &[u8]) -> Result<(), ReportError> {
        let path = self.path(ending);
        write_atomically(&path, bytes)?;
        self.files.push(path);
        Ok(())
    }

    pub fn page(&mut self, tape: &mut Tape) -> Result<(), ReportError> {
        self.progress.update(0, 1, "page");
        let page = page(tape)?;
        self.notes.extend(page.notes.iter().map(|note| format!("{}.html: {note}", self.name)));
        self.write("html", page.html.as_bytes())
    }

    pub fn pictures(&mut self, tape: &mut Tape) -> Result<Drawn, ReportError> {
        let settings = Settings { threads: self.threads, ..Settings::default() };
        let rate = film_rate(tape.begin())?;
        let mp4 = Mp4::begin("ffmpeg".as_ref(), &self.path("mp4"), settings.film, rate, self.threads);
        let mut mp4 = mp4.unwrap_or_else(|note| {
            self.notes.push(note);
            None
        });
        let mut gif = PartialFile::create(&self.path("gif"))?;
        let pictures =
            develop(tape, &settings, gif.writer(), mp4.as_mut(), &self.progress).map_err(|error| match error {
                ReportError::Picture(PictureError::Gif(EncodingError::Io(source))) => {
                    ReportError::Write { path: self.path("gif"), source }
                }
                error => error,
            })?;
        self.write("png", &pictures.still.png()?)?;
        self.write("storyboard.png", &pictures.storyboard.png()?)?;
        gif.finish()?;
        self.files.push(self.path("gif"));
        match mp4.map(Mp4::finish) {
            Some(Ok(path)) => self.files.push(path),
            Some(Err(note)) => self.notes.push(note),
            None => {}
        }
        Ok(Drawn { detail: pictures.still.detail(), skipped: pictures.skipped })
    }

    pub fn exports(&mut self, tape: &mut Tape) -> Result<(), ReportError> {
        let mut failed = Ok(());
        for (i, format) in self.exports.iter().enumerate() {
            if self.exports[..i].contains(format) {
                continue;
            }
            self.progress.update(i, self.exports.len(), &format!("export: {}", format.ending()));
            match export(tape, *format, self.folder) {
                Ok(path) => self.files.push(path),
                // The others do not depend on it. The first error is the one of the whole.
                Err(error) if failed.is_ok() => failed = Err(error.into()),
                Err(error) => self.notes.push(error.to_string()),
            }
        }
        failed
    }

    /// Names files in notes that were there before and have not been written anew. Beside a new tape,
    /// removes those that every recorded run makes. The tape that was rendered, `source`, is none of them.
    pub fn note_stale_files(&mut self, source: Option<&Path>) {
        let usual = ENDINGS.map(|ending| self.path(ending));
        let exports = Format::value_variants().iter().map(|format| format.path(self.folder, self.name));
        let taped = self.files.contains(&self.path("tape"));
        for path in usual.iter().cloned().chain(exports) {
            if source == Some(&path) || self.files.iter().any(|file| file.starts_with(&path)) {
                continue;
            }
            if taped && usual.contains(&path) && fs::remove_file(&path).is_ok() {
                self.notes.push(format!("{} was of an earlier run, and is removed", path.display()));
            } else if path.exists() {
                self.notes.push(format!("{} was there before, and stays", path.display()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The film of an earlier run is no film of this one; exports are somebody's work, whether of this run or not.
    #[test]
    fn what_an_earlier_run_left_is_removed_or_named() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["crates.png", "crates.mp4", "crates.tape", "crates.csv", "crates.npz", "crates.vtk", "other.mp4"];
        files.iter().for_each(|name| fs::write(folder.path().join(name), name).unwrap());
        let path = |name: &str| folder.path().join(name);
        let mut products = Products::new("crates", folder.path(), 1, &[]);
        products.files = ["crates.png", "crates.tape", "crates.npz", "crates.vtk/crates.pvd"].map(path).into();
        products.note_stale_files(None);
        let left: Vec<&str> = files.into_iter().filter(|name| path(name).exists()).collect();
        assert_eq!(left, ["crates.png", "crates.tape", "crates.csv", "crates.npz", "crates.vtk", "other.mp4"]);
        let told = [("mp4", "was of an earlier run, and is removed"), ("csv", "was there before, and stays")];
        let words = told.map(|(ending, words)| format!("{} {words}", path(&format!("crates.{ending}")).display()));
        assert_eq!(products.notes, words);
    }
}
