//! Exports: a finished tape as files that other programs read.
//!
//! | format | what it writes                 | units and precision                                            |
//! |--------|--------------------------------|----------------------------------------------------------------|
//! | `obj`  | `NAME.obj/0000.obj`, …         | world vertices `[m]`, every bit of `f64`                       |
//! | `usda` | `NAME.usda`                    | points `f32` about an `f64` origin `[m]`, time codes = frames  |
//! | `pc2`  | `NAME.pc2/SIMULATOR_SURFACE.pc2` | world vertices `[m]` in `f32`: 6e-8 of the distance from 0   |
//! | `vtk`  | `NAME.vtk/NAME.pvd`, `.vtp`    | world vertices `[m]`, strain `[-]`, forces `[N]`, all `f64`    |
//! | `npz`  | `NAME.npz`                     | everything with a number in it, `f64`                          |
//! | `csv`  | `NAME.csv`                     | the ledger, a row a frame; units in the header                 |
//!
//! All of them have Y up and show the tape's frames, as many a second as `--fps` says. Where a run ended before a frame
//! was due, its last frame is earlier; formats with a time for each frame say so, `obj` and `pc2`, which have none, leave
//! it out.
//!
//! | stage                                     | file         |
//! |-------------------------------------------|--------------|
//! | frame after frame, numbers checked once   | `reel.rs`    |
//! | names that other programs accept          | `names.rs`   |
//! | many streams out of one pass              | `spool.rs`   |
//! | whole under the final name, or not there  | `place.rs`   |
//! | one format each                           | `obj.rs`, `usda.rs`, `pc2.rs`, `vtk.rs`, `npz.rs`, `csv.rs` |
//!
//! Start at [`export`].

mod csv;
mod error;
mod names;
mod npz;
mod obj;
mod pc2;
mod place;
mod reel;
mod spool;
mod usda;
mod vtk;

use std::path::{Path, PathBuf};

pub use error::ExportError;

use crate::Tape;
use crate::partial::PartialFile;
use place::{PartialFolder, check_folder};
use reel::Reel;

/// What a tape can be exported as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum Format {
    /// Wavefront OBJ, a frame a file, in the folder NAME.obj
    Obj,
    /// Universal Scene Description as text, NAME.usda
    Usda,
    /// Point caches, a surface a file, in the folder NAME.pc2; a last frame that is off the rate is left out
    Pc2,
    /// ParaView's files with strain and forces, in the folder NAME.vtk
    Vtk,
    /// NumPy arrays, NAME.npz
    Npz,
    /// Energies, impulses, errors and costs, NAME.csv
    Csv,
}

impl Format {
    /// The end of the name, without its dot.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Obj => "obj",
            Self::Usda => "usda",
            Self::Pc2 => "pc2",
            Self::Vtk => "vtk",
            Self::Npz => "npz",
            Self::Csv => "csv",
        }
    }

    /// What it writes for a tape of this name: a file, or a folder of files.
    pub fn path(self, folder: &Path, name: &str) -> PathBuf {
        folder.join(format!("{name}.{}", self.ending()))
    }

    /// For a format of many files: tells its own files by their names.
    fn files(self) -> Option<fn(&str) -> bool> {
        match self {
            Self::Obj => Some(obj::is_own),
            Self::Pc2 => Some(pc2::is_own),
            Self::Vtk => Some(vtk::is_own),
            Self::Usda | Self::Npz | Self::Csv => None,
        }
    }

    /// Checks that an export can take its name: nothing is there, or an older export, which it will replace.
    ///
    /// # Errors
    /// A folder or something else stands where a file is to be, or a file, a link, or a folder that holds other things
    /// than an older export, where a folder is to be.
    pub fn check(self, folder: &Path, name: &str) -> Result<(), ExportError> {
        let path = self.path(folder, name);
        match self.files() {
            Some(is_own) => check_folder(&path, is_own),
            None => place::check_file(&path),
        }
    }
}

/// Writes the tape into `folder`, under the tape's name, and returns the file or folder to open. What an older export
/// left there is replaced when the new one is complete; after a failure it stays as it was.
///
/// # Errors
/// The tape cannot be read or holds what no file can show (numbers that are not finite), something else stands under the
/// name, or a file cannot be written.
pub fn export(tape: &mut Tape, format: Format, folder: &Path) -> Result<PathBuf, ExportError> {
    let mut reel = Reel::new(tape)?;
    let name = reel.begin.name.clone();
    format.check(folder, &name)?;
    let path = format.path(folder, &name);
    match format.files() {
        Some(is_own) => {
            let folder = PartialFolder::create(&path, is_own)?;
            match format {
                Format::Obj => obj::write(&mut reel, &folder)?,
                Format::Pc2 => pc2::write(&mut reel, &folder)?,
                Format::Vtk => vtk::write(&mut reel, &folder)?,
                Format::Usda | Format::Npz | Format::Csv => unreachable!("these are a file each"),
            }
            folder.finish()?;
        }
        None => {
            let mut file = PartialFile::create(&path)?;
            match format {
                Format::Usda => usda::write(&mut reel, &mut file)?,
                Format::Npz => npz::write(&mut reel, &mut file)?,
                Format::Csv => csv::write(&mut reel, &mut file)?,
                Format::Obj | Format::Pc2 | Format::Vtk => unreachable!("these are a folder each"),
            }
            file.finish()?;
        }
    }
    Ok(if format == Format::Vtk { path.join(format!("{name}.pvd")) } else { path })
}

/// Appends a formatted line to a `String`, which takes everything.
macro_rules! line {
    ($text:expr, $($words:tt)*) => {{
        use std::fmt::Write as _;
        writeln!($text, $($words)*).expect("a String takes everything")
    }};
}
use line;
