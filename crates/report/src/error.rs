//! Why a report or a picture could not be made.

use std::path::PathBuf;

use crate::partial::Unwritten;

/// Why a report could not be begun or written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A report's name becomes the name of its files.
    #[error("report name {name:?} must be 1 to 100 letters, digits, '-' or '_', since it names files")]
    Name {
        /// The name that was given.
        name: String,
    },
    /// The output folder cannot be made or written to.
    #[error("output folder {} cannot be used: {source}", .folder.display())]
    Folder {
        /// The folder of `--out`.
        folder: PathBuf,
        /// What the system answered.
        source: std::io::Error,
    },
    /// A file could not be written; nothing half-written is left under its name.
    #[error("{} could not be written: {source}", .path.display())]
    Write {
        /// The final name of the file.
        path: PathBuf,
        /// What the system answered.
        source: std::io::Error,
    },
    /// Rayon could not start its threads.
    #[error("--threads {threads}: {source}")]
    NoThreads {
        /// Threads asked for.
        threads: usize,
        /// Error of the system.
        source: rayon::ThreadPoolBuildError,
    },
    /// Rayon's global pool already exists with another size than `--threads`.
    #[error("--threads {expected}: the program already runs {found} worker threads")]
    Threads {
        /// Threads asked for.
        expected: usize,
        /// Threads of the pool.
        found: usize,
    },
    /// A picture or film could not be made.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// The tape could not be written or read.
    #[error(transparent)]
    Tape(#[from] crate::TapeError),
    /// An export cannot be written; what was under its name before is still there.
    #[error(transparent)]
    Export(Box<crate::ExportError>),
}

impl From<crate::ExportError> for ReportError {
    fn from(error: crate::ExportError) -> Self {
        Self::Export(error.into())
    }
}

impl From<Unwritten> for ReportError {
    fn from(Unwritten { path, source }: Unwritten) -> Self {
        Self::Write { path, source }
    }
}

/// Why a picture could not be drawn, encoded or decoded.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// A picture has at least one pixel and at most 8192 a side.
    #[error("a picture must be 1 to 8192 pixels wide and high, got {width} x {height}")]
    Size {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// Samples by pixel and side out of range.
    #[error("a picture takes 1 to 8 samples by pixel and side, got {samples}")]
    Samples {
        /// The number that was given.
        samples: u32,
    },
    /// A film takes time.
    #[error("a film needs a positive number of frames a second, got {frames_per_second}")]
    FrameRate {
        /// The rate that was given.
        frames_per_second: f64,
    },
    /// The camera cannot frame these bounds.
    #[error("bounds to frame must be finite with minimum <= maximum, got {minimum:?} to {maximum:?}")]
    Bounds {
        /// Lower corner `[m]`.
        minimum: [f64; 3],
        /// Upper corner `[m]`.
        maximum: [f64; 3],
    },
    /// The camera needs a direction to look from.
    #[error("viewing direction must be finite and not zero, got {direction:?}")]
    Direction {
        /// The direction that was given.
        direction: [f64; 3],
    },
    /// The camera's opening angle or margin is out of range.
    #[error("{name} must be {expected}, got {value}")]
    Lens {
        /// Field of view or margin.
        name: &'static str,
        /// The range.
        expected: &'static str,
        /// What was given.
        value: f64,
    },
    /// A triangle of a shape names a vertex that does not exist.
    #[error("triangle {triangle} names vertex {vertex}, but there are {vertices} vertices")]
    Index {
        /// Which triangle.
        triangle: usize,
        /// The index that it holds.
        vertex: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// A tape that was cut short before its first frame has no picture.
    #[error("there is no frame to draw")]
    NoFrame,
    /// GIF encoding failed.
    #[error("GIF encoding failed: {0}")]
    Gif(#[from] gif::EncodingError),
    /// PNG encoding failed.
    #[error("PNG encoding failed: {0}")]
    PngEncoding(#[from] png::EncodingError),
    /// PNG decoding failed.
    #[error("PNG decoding failed: {0}")]
    PngDecoding(#[from] png::DecodingError),
    /// The PNG is of a kind that this crate does not write.
    #[error("PNG must be 8-bit RGB, got {colour}")]
    PngKind {
        /// What was found.
        colour: String,
    },
}
