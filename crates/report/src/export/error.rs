//! Why a tape could not be exported.

use std::io;
use std::path::{Path, PathBuf};

use crate::TapeError;
use crate::partial::Unwritten;

/// Why an export could not be written. What was under its name before is still there.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A tape's name becomes the name of files.
    #[error("a tape's name must be 1 to 100 letters, digits, '-' or '_' to name its exports, got {name:?}")]
    Name {
        /// The name that the tape has.
        name: String,
    },
    /// Something that is no export stands where one is to be.
    #[error("{} cannot be replaced by an export: found {found}, expected {expected}", .path.display())]
    Occupied {
        /// Where the export is to be.
        path: PathBuf,
        /// What is there.
        found: String,
        /// What may be there.
        expected: &'static str,
    },
    /// The tape holds what no file can show.
    #[error("{thing} is {found}, expected {expected}")]
    Unsound {
        /// Name of the tape, frame, and what in it.
        thing: String,
        /// What was found.
        found: String,
        /// What can be exported.
        expected: String,
    },
    /// The tape could not be read.
    #[error(transparent)]
    Tape(#[from] TapeError),
    /// A file could not be written.
    #[error("{} could not be written: {source}", .path.display())]
    Write {
        /// The final name of the file.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
}

impl From<Unwritten> for ExportError {
    fn from(Unwritten { path, source }: Unwritten) -> Self {
        Self::Write { path, source }
    }
}

/// Names the file in what the system answers.
pub(super) fn writing(path: &Path) -> impl Fn(io::Error) -> ExportError {
    move |source| ExportError::Write { path: path.into(), source }
}
