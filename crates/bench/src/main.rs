//! The benches of partita: `cargo run --release -p partita-bench -- NAME [--json FILE] [--quick]`.
//!
//! | name        | says |
//! |-------------|------|
//! | `overhead`  | what coupling costs over the same simulators alone |
//! | `contact`   | milliseconds of collision handling, by stage |
//! | `implicit`  | milliseconds of a step of implicit cloth, by stage |
//! | `swing`     | milliseconds of a window in which a sheet swings, inextensible to 10 %, 1 % and less |
//! | `ibds-table1` | times faster by each optimisation of impulse-based dynamics; sheets of 5 x 5 to 40 x 40 |
//! | `ibds-solvers` | milliseconds of a step of impulse-based cloth, by solver |
//! | `ibds-gpu`  | the same on a device, by the number of particles; with `--features ibds-cloth-gpu` |
//! | `avi-table1` | seconds of a sheet that swings, by asynchronous cloth and synchronous methods |
//! | `avi-table2` | the same of a graded dome that falls on the floor |
//! | `avi-threads` | events of asynchronous cloth on two threads over one |
//! | `avi-queue` | time of an event in the queue of asynchronous cloth, over a binary heap |
//! | `rigid`     | microseconds of a step of rigid bodies, beside Rapier alone, and of snapshots |
//! | `crates`    | windows a second of 30 crates under 20,000 particles |
//! | `particles` | nanoseconds a particle, beside what memory allows |
//! | `random`    | the part of scenes from seeds in which energy is gained that nobody gave, and the worst of them |
//! | `report`    | what it costs to record a run, over the run itself |
//!
//! Values are medians. What is compared is measured in turns within one run. All work is on one
//! thread unless `--threads` says otherwise. A missed target is a row like any other; the exit status is
//! 1 only where a case could not run.
//!
//! A new bench is a function in a file of its own and a line in `BENCHES`.

mod avi_queue;
mod avi_scenes;
mod avi_tables;
mod avi_threads;
mod contact;
mod crates;
mod ibds_figure4;
#[cfg(feature = "ibds-cloth-gpu")]
mod ibds_gpu;
#[cfg(feature = "ibds-cloth-gpu")]
mod ibds_pieces;
mod ibds_scenes;
mod ibds_solvers;
mod ibds_table1;
mod implicit;
mod overhead;
mod particles;
/// The queue of asynchronous cloth, which is not public.
#[expect(dead_code, reason = "the bench on one thread only pops")]
#[path = "../../avi-cloth/src/queue.rs"]
mod queue;
mod random;
mod random_scene;
mod record;
mod report;
mod rigid;
/// Cloth as the tests of `contact` have it.
#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../../contact/tests/scenes/common.rs"]
mod springs;
mod swing;
mod table;

use std::{
    fs::{self, File},
    num::{NonZeroU32, NonZeroUsize},
    path::PathBuf,
    process::ExitCode,
};

use clap::Parser;

use table::{Failure, Table};

/// How much to measure.
#[derive(Clone, Copy)]
pub struct Effort {
    /// In seconds, to see that all cases run; the values mean little.
    pub quick: bool,
    /// Scenes of `random` for each method and scheme.
    pub scenes: u32,
}

impl Effort {
    /// `full` samples of each case, or two.
    pub fn samples(self, full: usize) -> usize {
        if self.quick { 2 } else { full }
    }
}

type Bench = fn(&mut Table, Effort) -> Result<(), Failure>;

const BENCHES: &[(&str, &str, Bench)] = &[
    ("contact", "milliseconds of collision handling, by stage", contact::bench),
    ("implicit", "milliseconds of a step of implicit cloth, by stage", implicit::bench),
    ("overhead", "what coupling costs over the same simulators alone", overhead::bench),
    ("crates", "windows a second of 30 crates under 20,000 particles", crates::bench),
    ("particles", "nanoseconds a particle, beside what memory allows", particles::bench),
    ("swing", "milliseconds of a window in which a sheet swings", swing::bench),
    ("avi-table1", "seconds of a sheet that swings, by asynchronous cloth and others", avi_tables::table1),
    ("avi-table2", "seconds of a graded dome that falls, by asynchronous cloth and others", avi_tables::table2),
    ("avi-threads", "events of asynchronous cloth on two threads over one", avi_threads::threads),
    ("avi-queue", "time of an event in the queue of asynchronous cloth, over a binary heap", avi_queue::bench),
    ("ibds-table1", "times faster by each optimisation of impulse-based dynamics", ibds_table1::bench),
    ("ibds-solvers", "milliseconds of a step of impulse-based cloth, by solver", ibds_solvers::bench),
    #[cfg(feature = "ibds-cloth-gpu")]
    ("ibds-gpu", "milliseconds of a step of impulse-based cloth on a device", ibds_gpu::bench),
    ("random", "scenes from seeds in which bodies that come at cloth gain energy", random::bench),
    ("rigid", "microseconds of a step of rigid bodies, and of their snapshots", rigid::bench),
    ("report", "what it costs to record a run, over the run itself", report::bench),
];

#[derive(Parser)]
#[command(about = "The benches of partita")]
struct Flags {
    /// Which bench; see --list.
    #[arg(required_unless_present = "list")]
    name: Option<String>,
    /// Writes one JSON line a case into this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Few and short samples: whether everything runs.
    #[arg(long)]
    quick: bool,
    /// Threads of parallel simulators, but for those of `avi-*`, which say theirs.
    #[arg(long, value_name = "N", default_value = "1")]
    threads: NonZeroUsize,
    /// Writes what the runs of `swing` did, and figure 4 of `ibds-table1`, into this folder.
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    /// Scenes of `random` for each method and scheme, about a second each.
    #[arg(long, value_name = "N", default_value = "50")]
    scenes: NonZeroU32,
    /// Lists the benches.
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    run(&Flags::parse()).unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

fn run(flags: &Flags) -> Result<ExitCode, Failure> {
    if flags.list {
        BENCHES.iter().for_each(|(name, about, _)| println!("{name:<12} {about}"));
        return Ok(ExitCode::SUCCESS);
    }
    let name = flags.name.as_deref().unwrap_or_default();
    let Some((name, _, bench)) = BENCHES.iter().find(|(known, ..)| *known == name) else {
        let names = BENCHES.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ");
        return Err(format!("there is no bench `{name}`; there are {names}").into());
    };
    let json = match &flags.json {
        Some(path) => Some(File::create(path).map_err(|error| format!("cannot write {}: {error}", path.display()))?),
        None => None,
    };
    rayon::ThreadPoolBuilder::new().num_threads(flags.threads.get()).build_global()?;
    if cfg!(debug_assertions) {
        eprintln!("warning: without --release these numbers mean nothing");
    }
    println!("threads: {}{}", flags.threads, if flags.quick { ", quick: the values mean little" } else { "" });

    if let Some(folder) = &flags.dump {
        fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    }
    let mut table = Table::new(name, json, flags.dump.clone());
    bench(&mut table, Effort { quick: flags.quick, scenes: flags.scenes.get() })?;
    Ok(if table.broken() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
