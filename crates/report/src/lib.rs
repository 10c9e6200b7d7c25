//! What a run leaves behind: a table of checks, a JSON file, a picture and a film.
//!
//! An example parses [`Options`], makes a [`Report`] (which checks the folder before anything runs), draws into a
//! [`Film`] while it simulates, states its checks, and ends with [`Report::finish`]:
//!
//! ```
//! use partita_report::{Bound, Camera, Colour, Drawing, Film, FilmSettings, Look, Options, Report, Shape};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let options = Options { out: folder.path().into(), ..Options::default() }; // else: `Options::parse()`
//! let mut report = Report::new("falling", &options)?;
//! let seconds = options.seconds_or(0.5, 0.1);
//!
//! let camera = Camera::framing([[-1.0, 0.0, -1.0], [1.0, 2.0, 1.0]]).from_direction([1.0, 0.5, 2.0]);
//! let mut film = Film::new(FilmSettings { width: 64, height: 40, still: [96, 60], ..FilmSettings::default() }, camera)?;
//! let crate_shape = Shape::cuboid([0.4; 3])?;
//!
//! let bar = report.progress(seconds);
//! let (mut time, dt, mut height) = (0.0, 1.0 / 240.0, 1.5);
//! while time < seconds {
//!     time += dt;
//!     height = 1.5 - 0.5 * 9.81 * time * time;
//!     bar.update(time, "");
//!     if film.is_due(time) {
//!         let mut drawing = Drawing::on_ground(0.0);
//!         drawing.body(&crate_shape, [0.0, height, 0.0], [0.0, 0.0, 0.0, 1.0], Look::crate_wood(1));
//!         drawing.points(&[[0.5, 1.0, 0.0]], 0.05, Look::plain(Colour::WATER));
//!         film.frame(&drawing)?;
//!     }
//! }
//! bar.finish();
//!
//! report.check("stays above ground", height, Bound::at_least(0.2), "m");
//! report.figure("final height", height);
//! let status = report.finish(film); // the exit status of `main`
//! # assert_eq!(format!("{status:?}"), format!("{:?}", std::process::ExitCode::SUCCESS));
//! # Ok(())
//! # }
//! ```
//!
//! Pictures come from a small software rasteriser, so they need no GPU, window or system package:
//!
//! | stage                            | file            |
//! |----------------------------------|-----------------|
//! | what is to be seen               | `drawing.rs`    |
//! | from where                       | `camera.rs`     |
//! | one list of facets and spheres   | `gather.rs`     |
//! | what the light sees              | `shadow.rs`     |
//! | what the eye sees, by sample     | `raster.rs`     |
//! | colour, by pixel                 | `shade.rs`      |
//! | frames to GIF                    | `film.rs`, `palette.rs` |
//!
//! Start at [`Report`] and [`Film`].

mod boards;
mod camera;
mod checks;
mod colour;
mod drawing;
mod error;
mod film;
mod gather;
mod image;
mod options;
mod palette;
mod progress;
mod raster;
mod report;
mod shade;
mod shadow;
mod write;

pub use camera::Camera;
pub use checks::{Bound, Check};
pub use colour::Colour;
pub use drawing::{Drawing, Finish, Look, Shape};
pub use error::{PictureError, ReportError};
pub use film::{Film, FilmSettings};
pub use image::Image;
/// `--out`, `--seconds`, `--threads`, `--seed`, `--quick`.
///
/// An example without flags of its own calls [`Options::parse`]; another one flattens this into its own parser:
///
/// ```
/// # use partita_report::Options;
/// use clap::Parser;
///
/// #[derive(Parser)]
/// struct Flags {
///     #[command(flatten)]
///     options: Options,
///     /// Number of crates.
///     #[arg(long, default_value_t = 30)]
///     crates: usize,
/// }
/// let flags = Flags::parse_from(["crates", "--quick", "--crates", "40"]);
/// assert!(flags.options.quick && flags.crates == 40);
/// ```
pub use options::Options;
pub use progress::Progress;
pub use report::{Report, exit};
pub use shade::render;
pub use write::write_atomically;
