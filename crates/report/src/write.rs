//! Files that are either complete or not there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ReportError;

/// Writes `bytes` into a hidden file beside `path`, then renames it: under `path` there is always a whole file, the
/// old one or the new one, also after Ctrl-C or on a full disk.
///
/// # Errors
///
/// [`ReportError::Write`] names `path`; the hidden file is removed.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    let partial = partial_name(path);
    write_and_rename(&partial, path, bytes).map_err(|source| {
        let _ = fs::remove_file(&partial);
        ReportError::Write { path: path.into(), source }
    })
}

fn write_and_rename(partial: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = create(partial)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    fs::rename(partial, path)
}

/// Whether the names of a run's files can begin with this: 1 to 100 letters, digits, `-` or `_`.
pub(crate) fn names_files(name: &str) -> bool {
    let fit = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=100).contains(&name.len()) && name.chars().all(fit)
}

/// Makes the folder if need be, and proves that files of this name can be written into it.
pub(crate) fn prepare_folder(folder: &Path, names: &[PathBuf]) -> Result<(), ReportError> {
    let refused = |source| ReportError::Folder { folder: folder.into(), source };
    fs::create_dir_all(folder).map_err(refused)?;
    let probe = partial_name(&folder.join("probe"));
    let written = create(&probe).and_then(|mut file| file.write_all(b"partita"));
    let _ = fs::remove_file(&probe);
    written.map_err(refused)?;
    for path in names {
        if path.is_dir() {
            let source = io::Error::new(io::ErrorKind::IsADirectory, "there is a folder of this name");
            return Err(ReportError::Write { path: path.clone(), source });
        }
    }
    Ok(())
}

/// Refuses to write through a name that exists, links included.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// `.NAME.PROCESS-COUNT.partial`, in the same folder, since renaming does not cross file systems. A name that a killed
/// process of the same number has left is passed over.
pub(crate) fn partial_name(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let partial = path.with_file_name(format!(".{name}.{}-{count}.partial", std::process::id()));
        if partial.symlink_metadata().is_err() {
            return partial;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn writing_replaces_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        write_atomically(&path, b"old").unwrap();
        write_atomically(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["a.json"]);
    }

    /// As a killed process of the same number leaves it, in a container where numbers come back.
    #[test]
    fn what_a_killed_process_left_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        for _ in 0..3 {
            fs::write(partial_name(&path), b"half").unwrap();
        }
        let next = partial_name(&path);
        assert!(!next.exists());
        write_atomically(&path, b"whole").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
    }

    /// Renaming a file over a folder fails after the bytes are written: the same path as a disk that fills up.
    #[test]
    fn a_failed_write_names_the_path_and_removes_its_traces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        fs::create_dir(&path).unwrap();
        let error = write_atomically(&path, b"bytes").unwrap_err();
        assert!(error.to_string().contains("a.png"), "{error}");
        assert_eq!(names(folder.path()), ["a.png"]);
    }

    /// `/dev/full` answers "no space left on device" to every write.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (partial, path) = (folder.path().join(".a.partial"), folder.path().join("a.gif"));
        let mut full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        assert!(full.write_all(b"bytes").is_err());
        fs::create_dir(&partial).unwrap();
        assert!(write_and_rename(&partial, &path, b"bytes").is_err());
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_that_is_a_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"").unwrap();
        for out in [file.clone(), file.join("below")] {
            let error = prepare_folder(&out, &[]).unwrap_err();
            assert!(matches!(error, ReportError::Folder { .. }) && error.to_string().contains("file"), "{error}");
        }
    }
}
