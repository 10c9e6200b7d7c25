//! Folders that are either complete or not there, and what may be replaced by an export.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::ExportError;
use super::error::writing;
use crate::partial::{Hidden, NEW, OLD};

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
        sync_files(&hidden.inside(NEW)).map_err(writing(&path))?;
        check_folder(&path, is_own)?;
        put_in_place(&hidden, &path).map_err(writing(&path))
    }
}

/// The older export is never lost: where the second move fails or is never made, `hidden` gives it back.
fn put_in_place(hidden: &Hidden, path: &Path) -> io::Result<()> {
    if path.exists() {
        fs::rename(path, hidden.inside(OLD))?;
    }
    fs::rename(hidden.inside(NEW), path)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_folder_is_back_where_the_new_one_cannot_be_put_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.obj");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("0000.obj"), "old").unwrap();
        let partial = PartialFolder::create(&path, |_| true).unwrap();
        // So that the second move fails, and not the first.
        fs::remove_dir(partial.hidden.inside(NEW)).unwrap();
        put_in_place(&partial.hidden, &path).unwrap_err();
        assert!(!path.exists());
        drop(partial);
        assert_eq!(fs::read_to_string(path.join("0000.obj")).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing hidden is left");
    }
}
