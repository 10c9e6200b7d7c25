//! Many streams out of one pass over a tape.
//!
//! A tape goes frame by frame, but some formats want one thing through all frames, then the next thing. The streams
//! grow together in one hidden file, piece by piece, and are read back one by one: memory stays at a buffer a stream,
//! the tape is read once, and the disk needs room for the export twice.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::ExportError;
use super::error::writing;
use crate::partial::{Hidden, SPOOL, create_file};

/// Bytes that a stream gathers before it writes a piece.
const PIECE: usize = 4096;

/// Which stream of a spool.
#[derive(Clone, Copy)]
pub(super) struct Stream(usize);

pub(super) struct Spool {
    /// The file that it is for.
    target: PathBuf,
    file: File,
    /// Where the file is.
    _hidden: Hidden,
    end: u64,
    streams: Vec<Pieces>,
}

#[derive(Default)]
struct Pieces {
    buffer: Vec<u8>,
    /// Begin and length of each, in order `[bytes]`.
    written: Vec<(u64, usize)>,
    length: u64,
}

impl Spool {
    /// An empty spool beside `target`, where there will be room for its like.
    pub fn create(target: &Path) -> Result<Self, ExportError> {
        let hidden = Hidden::beside(target).map_err(writing(target))?;
        let file = create_file(&hidden.inside(SPOOL)).map_err(writing(target))?;
        Ok(Self { target: target.into(), file, _hidden: hidden, end: 0, streams: Vec::new() })
    }

    /// A new stream.
    pub fn stream(&mut self) -> Stream {
        self.streams.push(Pieces::default());
        Stream(self.streams.len() - 1)
    }

    /// Bytes in a stream so far.
    pub fn length(&self, stream: Stream) -> u64 {
        self.streams[stream.0].length
    }

    /// Appends to a stream.
    pub fn put(&mut self, stream: Stream, bytes: &[u8]) -> Result<(), ExportError> {
        let pieces = &mut self.streams[stream.0];
        pieces.buffer.extend_from_slice(bytes);
        pieces.length += bytes.len() as u64;
        if pieces.buffer.len() >= PIECE {
            self.file.write_all(&pieces.buffer).map_err(writing(&self.target))?;
            pieces.written.push((self.end, pieces.buffer.len()));
            self.end += pieces.buffer.len() as u64;
            pieces.buffer = Vec::new();
        }
        Ok(())
    }

    /// Hands a whole stream over, in order. Nothing can be put into the spool after that.
    pub fn read(
        &mut self,
        stream: Stream,
        mut take: impl FnMut(&[u8]) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let pieces = &self.streams[stream.0];
        let mut bytes = Vec::new();
        for &(begin, length) in &pieces.written {
            bytes.resize(length, 0);
            let read = self.file.seek(SeekFrom::Start(begin)).and_then(|_| self.file.read_exact(&mut bytes));
            read.map_err(writing(&self.target))?;
            take(&bytes)?;
        }
        take(&pieces.buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of all sizes, put in turns, come back stream by stream; and the file goes away.
    #[test]
    fn streams_come_back_whole_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::create(&folder.path().join("a.npz")).unwrap();
        let streams: Vec<Stream> = (0..3).map(|_| spool.stream()).collect();
        let mut expected = vec![Vec::new(); 3];
        for i in 0..3000usize {
            let bytes: Vec<u8> = (0..i * 7 % 61).map(|k| (i + k) as u8).collect();
            expected[i % 3].extend_from_slice(&bytes);
            spool.put(streams[i % 3], &bytes).unwrap();
        }
        for (stream, expected) in streams.iter().zip(&expected) {
            let mut found = Vec::new();
            spool
                .read(*stream, |bytes| {
                    found.extend_from_slice(bytes);
                    Ok(())
                })
                .unwrap();
            assert_eq!(&found, expected);
            assert_eq!(spool.length(*stream), expected.len() as u64);
        }
        drop(spool);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
