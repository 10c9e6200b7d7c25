//! Makes page, pictures, film and exports of a tape, also of one whose run was cut short:
//!
//! ```sh
//! cargo run --release -p partita-report --example render -- out/crates.tape.partial --export npz,csv
//! ```

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use partita_report::{Format, Options, render_tape, tell};

#[derive(Parser)]
#[command(about = "Makes page, pictures, film and exports of a tape, also of one whose run was cut short")]
struct Flags {
    /// NAME.tape or NAME.tape.partial
    tape: PathBuf,
    /// Folder for all that is made; by default that of the tape.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Threads that draw; by default as many as the machine offers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Also writes the run in these formats, separated by commas
    #[arg(long, value_name = "FORMAT", value_enum, value_delimiter = ',')]
    export: Vec<Format>,
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    let folder = flags.out.as_deref().or(flags.tape.parent()).unwrap_or(Path::new(""));
    let threads = flags.threads.map_or_else(|| Options::default().threads(), usize::from);
    match render_tape(&flags.tape, folder, threads, &flags.export) {
        Ok(rendered) => {
            rendered.files.iter().for_each(|file| println!("{}", file.display()));
            rendered.notes.iter().for_each(|note| tell(format_args!("note: {note}")));
            ExitCode::SUCCESS
        }
        Err(error) => {
            tell(format_args!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}
