//! Files and folders that are either complete or not there.
//!
//! Both grow under a hidden name beside the final one and are renamed at the end. What a killed process leaves under a
//! hidden name is in nobody's way, since each run looks for a free one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::ExportError;
use super::error::writing;

/// A file in the making.
pub(super) struct PartialFile {
    pub path: PathBuf,
    partial: PathBuf,
    file: Option<BufWriter<File>>,
}

impl PartialFile {
    /// Begins the file that will be `path`.
    pub fn create(path: &Path) -> Result<Self, ExportError> {
        let (partial, file) = hidden(path, create_file).map_err(writing(path))?;
        Ok(Self { path: path.into(), partial, file: Some(BufWriter::with_capacity(1 << 18, file)) })
    }

    /// Appends.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        self.writer().write_all(bytes).map_err(writing(&self.path))
    }

    /// For what wants to write by itself.
    pub fn writer(&mut self) -> &mut BufWriter<File> {
        self.file.as_mut().expect("only `finish` takes it away")
    }

    /// Makes sure that all is on disk, and gives the file its final name.
    pub fn finish(mut self) -> Result<(), ExportError> {
        let written = self.writer().flush().and_then(|()| self.writer().get_ref().sync_all());
        self.file = None; // closed, or some systems would not rename it
        written.and_then(|()| fs::rename(&self.partial, &self.path)).map_err(writing(&self.path))
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        self.file = None;
        let _ = fs::remove_file(&self.partial); // after `finish` there is none
    }
}

/// A folder in the making.
pub(super) struct PartialFolder {
    path: PathBuf,
    partial: PathBuf,
    is_own: fn(&str) -> bool,
}

impl PartialFolder {
    /// Begins the folder that will be `path`, of files that `is_own` knows.
    pub fn create(path: &Path, is_own: fn(&str) -> bool) -> Result<Self, ExportError> {
        let (partial, ()) = hidden(path, |path| fs::create_dir(path)).map_err(writing(path))?;
        Ok(Self { path: path.into(), partial, is_own })
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
        let file = options.write(true).open(self.partial.join(name));
        file.and_then(|mut file| file.write_all(bytes)).map_err(writing(&self.path.join(name)))
    }

    /// Makes sure that all is on disk, and puts the folder in place of an older one.
    pub fn finish(self) -> Result<(), ExportError> {
        let failed = writing(&self.path);
        sync_files(&self.partial).map_err(&failed)?;
        check_folder(&self.path, self.is_own)?;
        if !self.path.exists() {
            return fs::rename(&self.partial, &self.path).map_err(failed);
        }
        let (old, ()) = hidden(&self.path, |free| fs::create_dir(free)).map_err(&failed)?;
        let inside = old.join("old");
        let replaced = fs::rename(&self.path, &inside).and_then(|()| {
            fs::rename(&self.partial, &self.path).inspect_err(|_| {
                let _ = fs::rename(&inside, &self.path);
            })
        });
        if replaced.is_ok() {
            let _ = fs::remove_dir_all(&old); // hidden and in nobody's way, should it stay
        } else {
            let _ = fs::remove_dir(&old); // only if empty: the older export is never lost
        }
        replaced.map_err(failed)
    }
}

impl Drop for PartialFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.partial); // after `finish` there is none
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

pub(super) fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).open(path)
}

/// Makes something under a free hidden name beside `path`: in the same folder, since renaming does not cross file
/// systems.
pub(super) fn hidden<T>(path: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut count = 0;
    loop {
        let free = path.with_file_name(format!(".{name}.{}-{count}.partial", std::process::id()));
        match make(&free) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => count += 1,
            made => return made.map(|made| (free, made)),
        }
    }
}

fn sync_files(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        OpenOptions::new().write(true).open(entry?.path())?.sync_all()?;
    }
    Ok(())
}
