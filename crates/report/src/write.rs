//! Files that are either complete or not there.

use std::io::{self, Write};
use std::{fs, path::Path};

use crate::ReportError;
use crate::partial::{PartialFile, clear_away, writing};

/// Writes `bytes` into a hidden file, then moves it to `path`: there is always a whole file there, the old one or the new
/// one, also after Ctrl-C or on a full disk.
///
/// # Errors
///
/// [`ReportError::Write`] names `path`; nothing hidden is left.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    let mut file = PartialFile::create(path)?;
    file.put(bytes)?;
    Ok(file.finish()?)
}

/// Whether the names of a run's files can begin with this: 1 to 100 letters, digits, `-` or `_`.
pub(crate) fn names_files(name: &str) -> bool {
    let fit = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=100).contains(&name.len()) && name.chars().all(fit)
}

/// Makes the folder if need be, clears away what killed runs of this name left in it, and proves that files
/// `NAME.ENDING` can be written into it.
pub(crate) fn prepare_folder(folder: &Path, name: &str, endings: &[&str]) -> Result<(), ReportError> {
    let refused = |source| ReportError::Folder { folder: folder.into(), source };
    fs::create_dir_all(folder).map_err(refused)?;
    clear_away(folder, name);
    let probe = PartialFile::create(&folder.join(format!("{name}.probe")));
    let proven = probe.and_then(|mut probe| {
        probe.put(b"partita")?;
        probe.writer().flush().map_err(writing(folder))
    });
    proven.map_err(|error| refused(error.source))?;
    for ending in endings {
        let path = folder.join(format!("{name}.{ending}"));
        if path.is_dir() {
            let source = io::Error::new(io::ErrorKind::IsADirectory, "there is a folder of this name");
            return Err(ReportError::Write { path, source });
        }
    }
    Ok(())
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

    #[test]
    fn a_folder_that_is_a_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"").unwrap();
        for out in [file.clone(), file.join("below")] {
            let error = prepare_folder(&out, "a", &[]).unwrap_err();
            assert!(matches!(error, ReportError::Folder { .. }) && error.to_string().contains("file"), "{error}");
        }
    }
}
