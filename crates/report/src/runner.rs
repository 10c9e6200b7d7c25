//! Runner of every example: worker threads, Ctrl-C, files, exit status.

use std::error::Error;
use std::process::ExitCode;

use crate::report::PARTIAL;
use crate::{Options, Recorder, Report, ReportError, interrupt, tell};

/// Runs an example and writes its report; returns the exit status of `main`.
///
/// In order:
///
/// 1. Makes the folder of [`Report::new`], and rayon's global pool of [`Options::threads`].
/// 2. Calls `example`, which records its run by [`Report::record`], adds checks, and returns the
///    recording, or `None`.
/// 3. Writes the files and prints the table, as [`Report::finish`] does.
///
/// The status is 0 if every check passed and every file was written, else 1. Errors are printed.
/// After Ctrl-C the recording ends with the current window; its files are written, and the status is
/// 130. Steps before the recording are not cut short.
///
/// ```no_run
/// use partita::prelude::*;
/// use partita_report::{self as report, Camera, Options, Recorder, Report, Scenery};
///
/// fn main() -> std::process::ExitCode {
///     report::run("falling", &Options::parse(), falling)
/// }
///
/// fn falling(report: &mut Report) -> Result<Recorder, Box<dyn std::error::Error>> {
///     let mut rigid = RigidBodies::new("rigid");
///     rigid.add("crate", Body::dynamic(Shape::cuboid([0.4; 3])).at([0.0, 1.5, 0.0]))?;
///     let mut scene = Scene::new(Rate::hz(240));
///     scene.add(rigid);
///     let mut run = scene.build()?;
///     let camera = Camera::framing([[-1.0, 0.0, -1.0], [1.0, 2.0, 1.0]]);
///     Ok(report.record(&mut run, report.options().seconds_or(0.5, 0.1), Scenery::new(camera))?)
/// }
/// ```
pub fn run<R, E>(name: &str, options: &Options, example: impl FnOnce(&mut Report) -> Result<R, E>) -> ExitCode
where
    R: Into<Option<Recorder>>,
    E: Into<Box<dyn Error>>,
{
    framed(name, options, example).unwrap_or_else(|error| {
        tell(format_args!("error: {error}"));
        ExitCode::FAILURE
    })
}

fn framed<R, E>(
    name: &str,
    options: &Options,
    example: impl FnOnce(&mut Report) -> Result<R, E>,
) -> Result<ExitCode, Box<dyn Error>>
where
    R: Into<Option<Recorder>>,
    E: Into<Box<dyn Error>>,
{
    let mut report = Report::new(name, options)?;
    start_threads(options.threads())?;
    interrupt::listen();
    let recording = example(&mut report).map_err(|error| {
        if report.has_recorded() {
            tell(format_args!(
                "note: {0} contains the run up to the error; render it with: cargo run --release -p partita-report \
                 --example render -- {0}",
                report.path(PARTIAL).display()
            ));
        }
        error.into()
    })?;
    Ok(report.finish(recording))
}

/// Makes the pool in which simulators compute, unless it has the size already.
fn start_threads(threads: usize) -> Result<(), ReportError> {
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build_global() {
        Err(source) if std::error::Error::source(&source).is_some() => Err(ReportError::NoThreads { threads, source }),
        Err(_) if rayon::current_num_threads() != threads => {
            Err(ReportError::Threads { expected: threads, found: rayon::current_num_threads() })
        }
        _ => Ok(()),
    }
}
