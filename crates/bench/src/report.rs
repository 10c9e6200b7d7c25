//! The bench `report`: what it costs to record a run, over the run itself.

use std::{path::PathBuf, time::Instant};

use partita_report::{Camera, Options, Report, Scenery};

use crate::{
    Effort,
    crates::{self, Flow},
    table::{Failure, Table, Target},
};

/// Tape and page together, over the simulation [-].
const TARGET: Option<Target> = Some(Target::AtMost(0.1));

/// A folder that is gone with its owner.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The example `crates`, 24 frames a second.
///
/// # Errors
/// The JSON file cannot be written.
pub fn bench(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let case = "crates";
    table.case(case, "of the simulation", TARGET, |table| {
        let folder = Folder(std::env::temp_dir().join(format!("partita-bench-{}", std::process::id())));
        let report = Report::new("crates", &Options { out: folder.0.clone(), ..Options::default() })?;
        let windows = if effort.quick { 240 } else { 4 * crates::HZ };
        let [mut both, mut tapes, mut pages, mut milliseconds, mut tape_sizes, mut page_sizes] =
            [(); 6].map(|()| Vec::new());
        for _ in 0..effort.samples(7) {
            let mut run = crates::scene(Flow::NORMAL)?.coupled()?;
            let (mut simulating, mut recording, mut paging) = (0.0, 0.0, 0.0);
            let mut lap = Instant::now();
            let mut timed = |clock: &mut f64| {
                *clock += lap.elapsed().as_secs_f64();
                lap = Instant::now();
            };
            let scenery = Scenery::new(Camera::framing([[-2.2, 0.0, -1.4], [3.0, 2.1, 1.6]]));
            let mut recorder = report.recorder(&mut run, scenery)?;
            timed(&mut recording);
            for _ in 0..windows {
                run.advance()?;
                timed(&mut simulating);
                recorder.window(&mut run)?;
                timed(&mut recording);
            }
            let mut tape = recorder.tape()?;
            timed(&mut recording);
            let page = partita_report::page(&mut tape)?;
            std::fs::write(report.path("html"), &page.html)?;
            timed(&mut paging);
            if tape.frames() as u32 != windows / 10 + 1 {
                return Err(format!("{} frames of {windows} windows", tape.frames()).into());
            }
            tapes.push(recording / simulating);
            pages.push(paging / simulating);
            both.push((recording + paging) / simulating);
            milliseconds.push(1e3 * paging);
            let bytes = |ending| std::fs::metadata(report.path(ending)).map(|file| file.len() as f64 / 1e6);
            tape_sizes.push(bytes("tape.partial")?);
            page_sizes.push(bytes("html")?);
        }
        table.row(case, "of the simulation", TARGET, &both)?;
        table.row(&format!("{case}: tape"), "of the simulation", None, &tapes)?;
        table.row(&format!("{case}: page"), "of the simulation", None, &pages)?;
        table.row(&format!("{case}: page"), "ms", None, &milliseconds)?;
        table.row(&format!("{case}: tape"), "MB", None, &tape_sizes)?;
        table.row(&format!("{case}: page"), "MB", None, &page_sizes)
    })
}
