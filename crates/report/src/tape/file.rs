//! The file of a tape: written record by record, read back one at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use partita::{RunSnapshot, simulator::hash_bytes};
use serde::{Serialize, de::DeserializeOwned};

use super::sound::{fault_of_begin, fault_of_frame};
use super::{Begin, End, Frame};

const MAGIC: &[u8; 12] = b"partita tape";
const VERSION: u32 = 6;
/// Kind, length and seal of a record, and a seal of these.
const HEAD: usize = 1 + 4 + 8 + 4;

const BEGIN: u8 = 1;
const FRAME: u8 = 2;
const SNAPSHOT: u8 = 3;
const END: u8 = 4;

/// Why a tape could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TapeError {
    /// The file could not be opened, written or read.
    #[error("tape {}: {source}", .path.display())]
    File {
        /// Of the tape.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// Another run writes it now.
    #[error("tape {} is being written by another run; give this one another folder (--out)", .path.display())]
    InUse {
        /// Of the tape.
        path: PathBuf,
    },
    /// It is something else.
    #[error("{} is not a tape: it does not begin with \"partita tape\"", .path.display())]
    NotATape {
        /// Of the file.
        path: PathBuf,
    },
    /// It is of an older or a newer program.
    #[error("tape {} is of another version ({found}, this program reads {VERSION})", .path.display())]
    Version {
        /// Of the tape.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// Bytes were changed.
    #[error("tape {} is corrupt at byte {at}: {found}", .path.display())]
    Corrupt {
        /// Of the tape.
        path: PathBuf,
        /// Where the record begins.
        at: u64,
        /// What is wrong with it.
        found: String,
    },
    /// There is no such frame.
    #[error("tape {} has {frames} frames, no number {number}", .path.display())]
    NoFrame {
        /// Of the tape.
        path: PathBuf,
        /// That was asked for.
        number: usize,
        /// That there are.
        frames: usize,
    },
    /// A begin or a frame that cannot be written, since it does not fit together.
    #[error("tape {}: {fault}", .path.display())]
    Unsound {
        /// Of the tape.
        path: PathBuf,
        /// Which surface, cloud or force, what was found and what expected.
        fault: String,
    },
    /// A record is longer than 4 GiB.
    #[error("tape {}: a record of {bytes} bytes; at most 4 GiB", .path.display())]
    TooLong {
        /// Of the tape.
        path: PathBuf,
        /// Its length.
        bytes: usize,
    },
    /// A tape takes one window after the other.
    #[error("tape {}: expected the run after {expected} windows, found it after {found}", .path.display())]
    NotNext {
        /// Of the tape.
        path: PathBuf,
        /// Windows that the run has taken.
        found: u64,
        /// One more than when it was last looked at.
        expected: u64,
    },
    /// The run refused or failed to go on from a frame.
    #[error(transparent)]
    Run(#[from] partita::Error),
}

/// A tape in the making. What is written is on disk as soon as the buffer of 256 kB is full.
pub struct TapeWriter {
    path: PathBuf,
    /// Which frames have to fit.
    begin: Begin,
    file: BufWriter<File>,
    /// For the next record's memory.
    payload: Vec<u8>,
}

impl TapeWriter {
    /// Begins a tape at `path`; what was there is replaced.
    ///
    /// # Errors
    /// A surface is not sound, the file cannot be made, or another process is writing it.
    pub fn create(path: &Path, begin: &Begin) -> Result<Self, TapeError> {
        if let Some(fault) = fault_of_begin(begin) {
            return Err(TapeError::Unsound { path: path.into(), fault });
        }
        let failed = |source| TapeError::File { path: path.into(), source };
        if path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
            let source = io::Error::new(io::ErrorKind::AlreadyExists, "a link of this name is in the way");
            return Err(failed(source));
        }
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(failed)?;
        match file.try_lock() {
            // Devices and some file systems have no locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => return Err(TapeError::InUse { path: path.into() }),
        }
        if file.metadata().map_err(failed)?.is_file() {
            file.set_len(0).map_err(failed)?;
        }
        Self::begun(path, file, begin)
    }

    fn begun(path: &Path, file: File, begin: &Begin) -> Result<Self, TapeError> {
        let failed = |source| TapeError::File { path: path.into(), source };
        let file = BufWriter::with_capacity(1 << 18, file);
        let mut writer = Self { path: path.into(), begin: begin.clone(), file, payload: Vec::new() };
        writer.file.write_all(MAGIC).map_err(failed)?;
        writer.file.write_all(&VERSION.to_le_bytes()).map_err(failed)?;
        writer.record(BEGIN, begin)?;
        Ok(writer)
    }

    /// Appends a frame.
    ///
    /// # Errors
    /// The file cannot be written, the frame's surfaces, clouds or forces do not fit the begin, or the ids of a cloud do
    /// not ascend, one a position.
    pub fn frame(&mut self, frame: &Frame) -> Result<(), TapeError> {
        if let Some(fault) = fault_of_frame(&self.begin, frame) {
            return Err(TapeError::Unsound { path: self.path.clone(), fault: format!("a frame's {fault}") });
        }
        self.record(FRAME, frame)
    }

    /// Appends a snapshot, of the run at the end of the last frame's window.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn snapshot(&mut self, snapshot: &RunSnapshot) -> Result<(), TapeError> {
        self.record(SNAPSHOT, snapshot)
    }

    /// Hands what is in the buffer to the system.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&mut self) -> Result<(), TapeError> {
        self.file.flush().map_err(|source| TapeError::File { path: self.path.clone(), source })
    }

    /// Writes the last record and makes sure that all is on disk.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn end(mut self, end: &End) -> Result<(), TapeError> {
        self.record(END, end)?;
        let failed = |source| TapeError::File { path: self.path.clone(), source };
        self.file.flush().map_err(failed)?;
        self.file.get_ref().sync_all().map_err(failed)
    }

    fn record(&mut self, kind: u8, content: &impl Serialize) -> Result<(), TapeError> {
        self.payload.clear();
        self.payload.push(kind);
        let payload = postcard::to_extend(content, std::mem::take(&mut self.payload));
        self.payload = payload.expect("records are plain data, which postcard can always write");
        let bytes = self.payload.len() - 1;
        let length = u32::try_from(bytes).map_err(|_| TapeError::TooLong { path: self.path.clone(), bytes })?;
        let head = Place { at: 0, kind, length, seal: hash_bytes(&self.payload) }.head();
        let written = self.file.write_all(&head).and_then(|()| self.file.write_all(&self.payload[1..]));
        written.map_err(|source| TapeError::File { path: self.path.clone(), source })
    }
}

/// A tape that was written, also one whose writing was cut short. Frames are read when they are asked for, so that its
/// length does not matter.
#[derive(Debug)]
pub struct Tape {
    path: PathBuf,
    file: File,
    begin: Begin,
    frames: Vec<Place>,
    /// Number of the frame that precedes it, and its place.
    snapshots: Vec<(usize, Place)>,
    end: Option<End>,
    torn: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    /// Where the record begins.
    at: u64,
    kind: u8,
    length: u32,
    seal: u64,
}

impl Place {
    fn head(&self) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        head[0] = self.kind;
        head[1..5].copy_from_slice(&self.length.to_le_bytes());
        head[5..13].copy_from_slice(&self.seal.to_le_bytes());
        let seal = hash_bytes(&head[..13]) as u32;
        head[13..].copy_from_slice(&seal.to_le_bytes());
        head
    }

    /// What a head says, if it is sound.
    fn of_head(at: u64, head: &[u8; HEAD]) -> Option<Self> {
        let [kind, a, b, c, d, seal @ .., _, _, _, _] = *head;
        let place = Self { at, kind, length: u32::from_le_bytes([a, b, c, d]), seal: u64::from_le_bytes(seal) };
        (place.head() == *head).then_some(place)
    }
}

impl Tape {
    /// Opens a tape and checks every record, and the surfaces.
    ///
    /// # Errors
    /// There is no file, it is no tape, of another version, or corrupt anywhere but in its last record.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TapeError> {
        let path = path.as_ref().to_path_buf();
        let failed = |source| TapeError::File { path: path.clone(), source };
        let mut file = File::open(&path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        let mut magic = [0; 16];
        match file.read_exact(&mut magic) {
            Ok(()) if magic[..12] == *MAGIC => {}
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(failed(error)),
            _ => return Err(TapeError::NotATape { path }),
        }
        let found = u32::from_le_bytes([magic[12], magic[13], magic[14], magic[15]]);
        if found != VERSION {
            return Err(TapeError::Version { path, found });
        }

        let (mut begin, mut frames, mut snapshots, mut end, mut torn) = (None, Vec::new(), Vec::new(), None, None);
        let mut at = magic.len() as u64;
        while at < size {
            let (place, payload) = match next_record(&mut file, at, size).map_err(failed)? {
                Record::Whole(place, payload) => (place, payload),
                Record::Torn => {
                    torn = Some(at);
                    break;
                }
                Record::BadHead => {
                    return Err(TapeError::Corrupt { path, at, found: "the head of a record was changed".into() });
                }
            };
            let next = at + (HEAD as u64) + u64::from(place.length);
            let content = match sealed(&path, place, &payload) {
                Ok(content) => content,
                Err(_) if next == size => {
                    torn = Some(at);
                    break;
                }
                Err(error) => return Err(error),
            };
            match place.kind {
                BEGIN if begin.is_none() => {
                    let whole = decoded(&path, place, content)?;
                    if let Some(fault) = fault_of_begin(&whole) {
                        return Err(corrupt(&path, place, fault));
                    }
                    begin = Some(whole);
                }
                FRAME => frames.push(place),
                SNAPSHOT => snapshots.push((frames.len(), place)),
                END => end = Some(decoded(&path, place, content)?),
                kind => return Err(corrupt(&path, place, format!("a record of kind {kind}"))),
            }
            at = next;
        }
        let begin = begin.ok_or_else(|| TapeError::Corrupt { path: path.clone(), at: 16, found: "no begin".into() })?;
        Ok(Self { path, file, begin, frames, snapshots, end, torn })
    }

    /// What does not change over the run.
    pub fn begin(&self) -> &Begin {
        &self.begin
    }

    /// How the run ended; `None` where it was cut short.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Where a torn record was left out at the end, if one was `[byte]`.
    pub fn torn(&self) -> Option<u64> {
        self.torn
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Reads frame `number`, from 0.
    ///
    /// # Errors
    /// There is no such frame, it does not fit the begin, its clouds make no sense, or the file has changed since it was
    /// opened.
    pub fn frame(&mut self, number: usize) -> Result<Frame, TapeError> {
        let none = || TapeError::NoFrame { path: self.path.clone(), number, frames: self.frames.len() };
        let place = *self.frames.get(number).ok_or_else(none)?;
        let frame: Frame = self.read(place)?;
        match fault_of_frame(&self.begin, &frame) {
            Some(fault) => Err(corrupt(&self.path, place, format!("frame {number}, {fault}"))),
            None => Ok(frame),
        }
    }

    /// Number of frames at equal distances, from the first one on: all but a last one that shows where the run ended,
    /// earlier than a frame was due.
    ///
    /// # Errors
    /// As [`Tape::frame`].
    pub fn steady_frames(&mut self) -> Result<usize, TapeError> {
        let Some(last) = self.frames().checked_sub(1) else { return Ok(0) };
        let [first, end] = [self.frame(0)?.time, self.frame(last)?.time];
        // A window may end a rounding error before a frame's time.
        let due = (end - first) * self.begin.frames_per_second >= last as f64 - 1e-6;
        Ok(if due { last + 1 } else { last })
    }

    /// Brings `run`, built of the same scene, to the end of the window of frame `number`: back to the last snapshot before
    /// it, and through the windows since. From there it goes on with the same bits as the run that was recorded.
    ///
    /// # Errors
    /// There is no such frame, the run is of another scene, or a simulator fails.
    pub fn resume(&mut self, run: &mut partita::Run, number: usize) -> Result<(), TapeError> {
        let target = self.frame(number)?.window;
        let before = self.snapshots.partition_point(|&(frames, _)| frames <= number + 1);
        for i in (0..before).rev() {
            let (first, place) = self.snapshots[i];
            let snapshot: RunSnapshot = self.read(place)?;
            if snapshot.window() > target {
                continue;
            }
            run.restore(&snapshot)?;
            for frame in first..=number {
                for window in self.frame(frame)?.inputs {
                    run.play(&window)?;
                }
            }
            return Ok(());
        }
        let found = "no snapshot before the frame".to_string();
        Err(TapeError::Corrupt { path: self.path.clone(), at: 16, found })
    }

    fn read<T: DeserializeOwned>(&mut self, place: Place) -> Result<T, TapeError> {
        let mut payload = vec![0; place.length as usize + 1];
        payload[0] = place.kind;
        let read = self.file.seek(SeekFrom::Start(place.at + HEAD as u64));
        let read = read.and_then(|_| self.file.read_exact(&mut payload[1..]));
        read.map_err(|source| TapeError::File { path: self.path.clone(), source })?;
        decoded(&self.path, place, sealed(&self.path, place, &payload)?)
    }
}

enum Record {
    /// With its payload, after its kind.
    Whole(Place, Vec<u8>),
    /// The file ends in it, or has not been filled from here on.
    Torn,
    /// It never was one.
    BadHead,
}

fn next_record(file: &mut File, at: u64, size: u64) -> io::Result<Record> {
    if size - at < HEAD as u64 {
        return Ok(Record::Torn);
    }
    let mut head = [0; HEAD];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut head)?;
    let Some(place) = Place::of_head(at, &head) else {
        let mut rest = Vec::new();
        file.read_to_end(&mut rest)?;
        let unfilled = head.iter().chain(&rest).all(|&byte| byte == 0);
        return Ok(if unfilled { Record::Torn } else { Record::BadHead });
    };
    if size - at - (HEAD as u64) < u64::from(place.length) {
        return Ok(Record::Torn);
    }
    let mut payload = vec![0; place.length as usize + 1];
    payload[0] = place.kind;
    file.read_exact(&mut payload[1..])?;
    Ok(Record::Whole(place, payload))
}

/// The payload without its kind, if the seal is right.
fn sealed<'a>(path: &Path, place: Place, payload: &'a [u8]) -> Result<&'a [u8], TapeError> {
    let found = hash_bytes(payload);
    if found == place.seal {
        return Ok(&payload[1..]);
    }
    Err(corrupt(path, place, format!("seal {:x} of bytes with seal {found:x}", place.seal)))
}

fn decoded<T: DeserializeOwned>(path: &Path, place: Place, content: &[u8]) -> Result<T, TapeError> {
    postcard::from_bytes(content).map_err(|error| corrupt(path, place, error.to_string()))
}

fn corrupt(path: &Path, place: Place, found: String) -> TapeError {
    TapeError::Corrupt { path: path.into(), at: place.at, found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::{Settings, develop};
    use crate::progress::Making;
    use crate::synthetic::{at, begin, deforming, square};
    use crate::{Force, Format, Numbers, Placement, export, page};

    /// A frame as it lies on the tape, with a cloud of two positions and these runs of ids.
    fn frame(runs: &[[u64; 2]]) -> impl Serialize {
        let clouds = vec![(runs.to_vec(), vec![[0.0f64; 3]; 2])];
        let (surfaces, forces) = (vec![at([0.0; 3])], Vec::<Force>::new());
        (0.0f64, 0u64, surfaces, clouds, forces, Numbers::default(), Vec::<partita::WindowInputs>::new())
    }

    /// What a seal does not show, since it was written like that.
    #[test]
    fn ids_that_do_not_fit_their_positions_are_corrupt() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("odd.tape");
        let mut writer = TapeWriter::create(&path, &begin(24.0, vec![square("square", 1.0, true)])).unwrap();
        let runs: [&[[u64; 2]]; 4] = [&[[7, 2]], &[[7, 1]], &[[7, 1], [3, u64::MAX]], &[[u64::MAX, 2]]];
        for runs in runs {
            writer.record(FRAME, &frame(runs)).unwrap();
        }
        writer.end(&End { json: "{}".into() }).unwrap();
        let mut tape = Tape::open(&path).unwrap();
        assert_eq!(tape.frame(0).unwrap().clouds[0].ids, [7, 8]);
        for (number, words) in [(1, "found 1 ids"), (2, "found 3 ids"), (3, "ascending ids, each once")] {
            let error = tape.frame(number).unwrap_err().to_string();
            assert!(error.contains("odd.tape is corrupt at byte") && error.contains(words), "{error}");
        }
    }

    /// Written by another program, with seals that are right: an error for whoever reads it.
    #[test]
    fn what_does_not_fit_together_is_corrupt_for_page_pictures_and_exports() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("odd.tape");
        let begin = begin(24.0, vec![deforming("cloth", 1.0)]);
        let end = || End { json: "{}".into() };
        let mut writer = TapeWriter::create(&path, &begin).unwrap();
        let surfaces = vec![Placement::Deformed(vec![[0.0; 3]; 3])];
        let frame = Frame { surfaces, clouds: vec![Default::default()], ..Frame::default() };
        let refused = writer.frame(&frame).unwrap_err().to_string();
        assert!(refused.contains("odd.tape: a frame's surface `test/cloth`, number of vertices"), "{refused}");
        writer.record(FRAME, &frame).unwrap();
        writer.end(&end()).unwrap();
        let mut tape = Tape::open(&path).unwrap();
        let errors = [
            page(&mut tape).err().unwrap().to_string(),
            develop(&mut tape, &Settings::default(), io::sink(), None, &Making::new("")).err().unwrap().to_string(),
            export(&mut tape, Format::Obj, folder.path()).unwrap_err().to_string(),
        ];
        for error in errors {
            let words = "frame 0, surface `test/cloth`, number of vertices: expected 4, found 3";
            assert!(error.contains("odd.tape is corrupt at byte") && error.ends_with(words), "{error}");
        }

        let mut odd = begin;
        odd.surfaces[0].surface.triangles[0] = [0, 1, 9];
        let refused = TapeWriter::create(&path, &odd).err().unwrap();
        TapeWriter::begun(&path, File::create(&path).unwrap(), &odd).unwrap().end(&end()).unwrap();
        for error in [refused, Tape::open(&path).unwrap_err()].map(|error| error.to_string()) {
            assert!(
                error.ends_with("surface `cloth`, triangle 0: expected indices below 4, found [0, 1, 9]"),
                "{error}"
            );
        }
    }
}
