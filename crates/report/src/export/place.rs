//! Folders that are either complete or not there, and what may be replaced by an export.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::ExportError;
use super::error::writing;
use crate::partial::Hidden;

/// What grows in a hidden folder.
const NEW: &str = "new";

/// A folder in the making.
pub(super) struct PartialFolder {
    path: PathBuf,
    hidden: Hidden,
    is_own: fn(&str) -> bool,
}

impl PartialFolder {
    /// Begins the folder that will be `path`, of files that `is_own` knows.
    pub fn create(path: &Path, is_own: fn(&str) -> bool) -> Result<Self, ExportError> {
        let hidden = Hidden::beside(path).map_err(writing(path))?;
        fs::create_dir(hidden.inside(NEW)).map_err(writing(path))?;
        Ok(Self { path: path.into(), hidden, is_own })
    }

    /// The name of the folder, without its ending.
    pub fn stem(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Writes a file.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), ExportError> {
        self.put(name, OpenOptions::new().create_new(true), bytes)
    }

    /// Writes at the end of a file, which is made if need be: thousands of files can grow together, none stays open.
    pub fn append(&self, name: &str, bytes: &[u8]) -> Result<(), ExportError> {
        self.put(name, OpenOptions::new().create(true).append(true), bytes)
    }

    fn put(&self, name: &str, options: &mut OpenOptions, bytes: &[u8]) -> Result<(), ExportError> {
        debug_assert!((self.is_own)(name), "{name} would not be known again");
        let file = options.write(true).open(self.hidden.inside(NEW).join(name));
        file.and_then(|mut file| file.write_all(bytes)).map_err(writing(&self.path.join(name)))
    }

    /// Makes sure that all is on disk, and puts the folder in place of an older one.
    pub fn finish(self) -> Result<(), ExportError> {
        let Self { path, hidden, is_own } = self;
        let (new, old) = (hidden.inside(NEW), hidden.inside("old"));
        sync_files(&new).map_err(writing(&path))?;
        check_folder(&path, is_own)?;
        if path.exists() {
            fs::rename(&path, &old).map_err(writing(&path))?;
        }
        fs::rename(&new, &path).map_err(|source| {
            if old.exists() && fs::rename(&old, &path).is_err() {
                hidden.keep(); // the older export is never lost
            }
            writing(&path)(source)
        })
    }
}

/// Nothing may be there, or a file.
pub(super) fn check_file(path: &Path) -> Result<(), ExportError> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_dir() => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(writing(path)(source)),
        Ok(_) => {
            Err(ExportError::Occupied { path: path.into(), found: "a folder".into(), expected: "a file or nothing" })
        }
    }
}

/// Nothing may be there, or a folder that holds nothing but files of an older export: all else is somebody's work.
pub(super) fn check_folder(path: &Path, is_own: fn(&str) -> bool) -> Result<(), ExportError> {
    let occupied = |found: String| {
        let expected = "nothing, or a folder that holds an older export and nothing else";
        Err(ExportError::Occupied { path: path.into(), found, expected })
    };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(writing(path)(source)),
        Ok(found) if found.is_symlink() => return occupied("a link".into()),
        Ok(found) if !found.is_dir() => return occupied("a file".into()),
        Ok(_) => {}
    }
    for entry in fs::read_dir(path).map_err(writing(path))? {
        let entry = entry.map_err(writing(path))?;
        let (name, kind) = (entry.file_name(), entry.file_type().map_err(writing(path))?);
        if !kind.is_file() || !name.to_str().is_some_and(is_own) {
            return occupied(format!("a folder with {name:?} in it"));
        }
    }
    Ok(())
}

fn sync_files(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        OpenOptions::new().write(true).open(entry?.path())?.sync_all()?;
    }
    Ok(())
}
