//! What a run leaves behind: a tape, a page, pictures and a film of it, a table of checks, a JSON file.
//!
//! An example is a function that takes a [`Report`], records its run, adds its checks and returns the recording.
//! [`run`] starts the threads, handles Ctrl-C, calls it and returns the exit status. The same without [`run`]:
//!
//! ```
//! use partita::prelude::*;
//! use partita_report::{Bound, Camera, Look, Options, Report, Scenery};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let options = Options { out: folder.path().into(), ..Options::default() }; // else: `Options::parse()`
//! let mut report = Report::new("falling", &options)?;
//!
//! let mut rigid = RigidBodies::new("rigid");
//! let body = rigid.add("crate", Body::dynamic(Shape::cuboid([0.4; 3])).at([0.0, 1.5, 0.0]))?;
//! let mut scene = Scene::new(Rate::hz(240));
//! scene.add(rigid);
//! let mut run = scene.build()?;
//!
//! let camera = Camera::framing([[-1.0, 0.0, -1.0], [1.0, 2.0, 1.0]]).from_direction([1.0, 0.5, 2.0]);
//! let scenery = Scenery::new(camera).ground(0.0).look("rigid/crate", Look::crate_wood(0));
//! let recording = report.record(&mut run, options.seconds_or(0.1, 0.1), scenery)?;
//!
//! report.check("stays above ground", run.state(body)?.position[1], Bound::at_least(0.2), "m");
//! let status = report.finish(recording); // the exit status of `main`
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
//! | frames to MP4, by ffmpeg         | `mp4.rs`        |
//! | which frame tells most           | `telling.rs`    |
//! | five frames side by side         | `storyboard.rs` |
//! | all of these from a tape         | `pictures.rs`   |
//! | those and page and exports, as files | `products.rs` |
//! | whole under its name, or not there | `partial.rs`  |
//!
//! The page, which plays the tape in a browser, is made in `page/`.
//!
//! Start at [`Report`].

mod boards;
mod camera;
mod checks;
mod colour;
mod drawing;
mod error;
mod export;
mod film;
mod gather;
mod image;
mod interrupt;
mod mp4;
mod options;
mod page;
mod palette;
mod partial;
mod pictures;
mod products;
mod progress;
mod provenance;
mod raster;
mod report;
mod runner;
mod shade;
mod shadow;
mod storyboard;
mod strain;
#[cfg(test)]
mod synthetic;
mod tape;
mod telling;
mod write;

pub use camera::Camera;
pub use checks::{Bound, Check};
pub use colour::Colour;
pub use drawing::{Drawing, Finish, Look, Shape};
pub use error::{PictureError, ReportError};
pub use export::{ExportError, Format, export};
pub use image::Image;
pub use interrupt::interrupted;
/// `--out`, `--seconds`, `--threads`, `--seed`, `--fps`, `--quick`, `--export`.
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
pub use page::{Page, page};
pub use products::{Rendered, render_tape};
pub use progress::Progress;
pub use report::{Report, tell};
pub use runner::run;
pub use shade::render;
pub use tape::{
    Begin, End, Force, Frame, Numbers, Placement, Recorder, Scenery, Tape, TapeCloud, TapeError, TapeSurface,
    TapeWriter,
};
pub use write::write_atomically;
