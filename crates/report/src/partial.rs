//! What is either complete or not there: it grows in a hidden folder beside its place, and moves there at the end.
//!
//! A file in that folder is locked as long as the process lives that made it. So what a killed one has left can be told
//! from what another one is writing: [`clear_away`] removes the first and leaves the second alone.
//!
//! A folder cannot replace another one in one go: the older one moves into the hidden folder, then the new one out of it.
//! Where it does not come to the second move, the older one is put back, at once or by the next run.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What could not be written, and what the system answered.
#[derive(Debug)]
pub(crate) struct Unwritten {
    pub path: PathBuf,
    pub source: io::Error,
}

/// Names the file in what the system answers.
pub(crate) fn writing(path: &Path) -> impl Fn(io::Error) -> Unwritten {
    move |source| Unwritten { path: path.into(), source }
}

/// A hidden folder `.NAME.PROCESS-COUNT.partial`; removed with all that is in it when dropped.
#[derive(Debug)]
pub(crate) struct Hidden {
    folder: PathBuf,
    /// Which it is beside.
    path: PathBuf,
    /// Locked until it is closed.
    _lock: File,
}

/// What may be in a hidden folder: the file that its process has locked,
const LOCK: &str = "lock";
/// what grows to be put in place,
pub(crate) const NEW: &str = "new";
/// what was in that place before,
pub(crate) const OLD: &str = "old";
/// what ffmpeg writes,
pub(crate) const FILM: &str = "film";
/// and streams that are not put together yet.
pub(crate) const SPOOL: &str = "spool";
const CONTENTS: [&str; 5] = [LOCK, NEW, OLD, FILM, SPOOL];

impl Hidden {
    /// Makes one beside `path`: in the same folder, since nothing can be moved to another file system.
    pub fn beside(path: &Path) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let folder = path.with_file_name(format!(".{name}.{}-{count}.partial", std::process::id()));
            match fs::create_dir(&folder) {
                // Of a killed process of the same number, in a container where numbers come back.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            let lock = locked(&folder.join(LOCK)).inspect_err(|_| drop(fs::remove_dir_all(&folder)))?;
            if let Some(lock) = lock {
                return Ok(Self { folder, path: path.into(), _lock: lock });
            }
        }
    }

    /// Where something of this name is in it.
    pub fn inside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let _ = take_down(&self.folder, &self.path);
    }
}

/// Removes a hidden folder. What was at `path` before and is replaced by nothing goes back there; where that cannot be,
/// the folder stays.
fn take_down(hidden: &Path, path: &Path) -> io::Result<()> {
    let [new, old] = [NEW, OLD].map(|name| hidden.join(name));
    if old.exists() && (new.exists() || !path.exists()) {
        fs::rename(old, path)?;
    }
    fs::remove_dir_all(hidden)
}

/// A new file with a lock; `None` where somebody took its folder for one that was left, and cleared it away.
fn locked(path: &Path) -> io::Result<Option<File>> {
    let file = match create_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(None),
        // Some file systems have no locks: there, nothing is cleared away.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    Ok(path.exists().then_some(file))
}

/// Takes down what killed processes left beside the files of a run of this name. What cannot be removed, or has anything
/// in it that is none of ours, stays, in nobody's way.
pub(crate) fn clear_away(folder: &Path, name: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let file_name = entry.file_name();
        let ending = file_name.to_str().and_then(|hidden| ending_of(hidden, name));
        if let (Some(ending), true) = (ending, entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            let _ = take_down_if_left(&entry.path(), &folder.join(format!("{name}.{ending}")));
        }
    }
}

/// ENDING, where this is `.NAME.ENDING.PROCESS-COUNT.partial`.
fn ending_of<'a>(hidden: &'a str, name: &str) -> Option<&'a str> {
    let rest = hidden.strip_prefix('.')?.strip_prefix(name)?.strip_prefix('.')?;
    let (ending, numbers) = rest.strip_suffix(".partial")?.rsplit_once('.')?;
    let (process, count) = numbers.split_once('-')?;
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    (!ending.is_empty() && is_number(process) && is_number(count)).then_some(ending)
}

fn take_down_if_left(hidden: &Path, path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).open(hidden.join(LOCK)) {
        Ok(lock) => {
            lock.try_lock()?;
            for entry in fs::read_dir(hidden)? {
                let name = entry?.file_name();
                if !CONTENTS.iter().any(|own| name == *own) {
                    return Err(io::Error::new(io::ErrorKind::DirectoryNotEmpty, "somebody's work is in it"));
                }
            }
            take_down(hidden, path)
        }
        // Its process was killed before it had a lock, or is about to make one: then it takes another folder.
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::remove_dir(hidden),
        Err(error) => Err(error),
    }
}

/// A file in the making.
#[derive(Debug)]
pub(crate) struct PartialFile {
    pub path: PathBuf,
    file: BufWriter<File>,
    hidden: Hidden,
}

impl PartialFile {
    /// Begins the file that will be `path`.
    pub fn create(path: &Path) -> Result<Self, Unwritten> {
        let hidden = Hidden::beside(path).map_err(writing(path))?;
        let file = create_file(&hidden.inside(NEW)).map_err(writing(path))?;
        Ok(Self { path: path.into(), file: BufWriter::with_capacity(1 << 18, file), hidden })
    }

    /// Appends.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), Unwritten> {
        self.file.write_all(bytes).map_err(writing(&self.path))
    }

    /// For what wants to write by itself.
    pub fn writer(&mut self) -> &mut BufWriter<File> {
        &mut self.file
    }

    /// Makes sure that all is on disk, and gives the file its final name.
    pub fn finish(self) -> Result<(), Unwritten> {
        let Self { path, file, hidden } = self;
        let written = file.into_inner().map_err(io::IntoInnerError::into_error).and_then(|file| file.sync_all());
        written.and_then(|()| fs::rename(hidden.inside(NEW), &path)).map_err(writing(&path))
    }
}

/// Refuses to write through a name that exists, links included.
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_there_when_it_is_finished_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.gif");
        let mut file = PartialFile::create(&path).unwrap();
        file.put(b"whole").unwrap();
        assert!(!path.exists() && names(folder.path()).len() == 1);
        file.finish().unwrap();
        assert_eq!((names(folder.path()), fs::read(&path).unwrap()), (vec!["a.gif".into()], b"whole".into()));

        PartialFile::create(&path).unwrap().put(b"half").unwrap();
        assert_eq!((names(folder.path()), fs::read(&path).unwrap()), (vec!["a.gif".into()], b"whole".into()));
    }

    /// A process that is killed leaves a folder whose lock is free, or, killed at once, one without a lock.
    #[test]
    fn what_killed_processes_left_is_cleared_away_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let left = |name: &str, files: &[&str]| {
            fs::create_dir(folder.path().join(name)).unwrap();
            files.iter().for_each(|file| fs::write(folder.path().join(name).join(file), "half").unwrap());
        };
        left(".a.mp4.7-0.partial", &[LOCK, NEW]);
        left(".a.gif.7-1.partial", &[]);
        left(".ab.gif.7-0.partial", &[LOCK, NEW]);
        left(".a.storyboard.png.7-22.partial", &[LOCK, NEW, SPOOL, FILM]);
        // Somebody's work, by its name or by what is in it.
        let others = [
            "a.partial",
            ".a.mine.partial",
            ".a.7-0.partial",
            ".a.mp4.7-.partial",
            ".a.mp4.7-x.partial",
            ".a.mp4.7.partial",
        ];
        others.iter().for_each(|name| left(name, &[LOCK, NEW]));
        left(".a.png.7-0.partial", &[LOCK, "thesis.txt"]);
        left(".a.png.7-1.partial", &[NEW]);
        fs::write(folder.path().join(".a.png.7-2.partial"), "a file").unwrap();
        let mut living = PartialFile::create(&folder.path().join("a.gif")).unwrap();

        clear_away(folder.path(), "a");
        let living_name = living.hidden.folder.file_name().unwrap().to_str().unwrap();
        let mut expected = [&others[..], &[living_name, ".ab.gif.7-0.partial"]].concat();
        expected.extend([".a.png.7-0.partial", ".a.png.7-1.partial", ".a.png.7-2.partial"]);
        expected.sort();
        assert_eq!(names(folder.path()), expected);
        living.put(b"whole").unwrap();
        living.finish().unwrap();
        assert_eq!(fs::read(folder.path().join("a.gif")).unwrap(), b"whole");
    }

    /// What was killed between the two moves of a folder had put the older one aside, and had not put the new one in place.
    #[test]
    fn the_older_folder_is_put_back_unless_it_was_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (hidden, path) = (folder.path().join(".a.obj.7-0.partial"), folder.path().join("a.obj"));
        let make = |at: &Path, words: &str| {
            fs::create_dir_all(at).unwrap();
            fs::write(at.join("0000.obj"), words).unwrap();
        };
        let found = || fs::read_to_string(path.join("0000.obj")).unwrap();

        make(&hidden.join(OLD), "old");
        make(&hidden.join(NEW), "new");
        fs::write(hidden.join(LOCK), "").unwrap();
        clear_away(folder.path(), "a");
        assert_eq!((names(folder.path()), found()), (vec!["a.obj".into()], "old".into()));

        // Something else has come there in between: both stay.
        make(&hidden.join(OLD), "older");
        make(&hidden.join(NEW), "new");
        fs::write(hidden.join(LOCK), "").unwrap();
        clear_away(folder.path(), "a");
        assert_eq!((names(&hidden), found()), ([LOCK, NEW, OLD].map(String::from).into(), "old".into()));

        // After both moves.
        fs::remove_dir_all(hidden.join(NEW)).unwrap();
        clear_away(folder.path(), "a");
        assert_eq!((names(folder.path()), found()), (vec!["a.obj".into()], "old".into()));
    }

    /// Bytes that wait in the buffer find `/dev/full` full; those that `/dev/null` took are on no disk, as it says.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_whose_last_bytes_are_not_on_disk_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.gif");
        for (device, kind) in [("/dev/full", io::ErrorKind::StorageFull), ("/dev/null", io::ErrorKind::InvalidInput)] {
            let mut file = PartialFile::create(&path).unwrap();
            file.file = BufWriter::new(OpenOptions::new().write(true).open(device).unwrap());
            file.put(b"whole").unwrap();
            let error = file.finish().unwrap_err();
            assert_eq!((error.path, error.source.kind()), (path.clone(), kind));
            assert_eq!(names(folder.path()), [""; 0]);
        }
    }

    /// In a container numbers of processes come back: a name that is taken is passed over.
    #[test]
    fn what_cannot_be_cleared_away_is_in_nobodys_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let number = |hidden: &Hidden| -> u64 {
            let name = hidden.folder.to_str().unwrap().strip_suffix(".partial").unwrap().to_string();
            name.rsplit_once('-').unwrap().1.parse().unwrap()
        };
        let next = number(&Hidden::beside(&path).unwrap()) + 1;
        // Other tests count on meanwhile.
        for count in next..next + 100 {
            let name = format!(".a.json.{}-{count}.partial", std::process::id());
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let mut file = PartialFile::create(&path).unwrap();
        file.put(b"whole").unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
    }
}
