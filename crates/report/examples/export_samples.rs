//! You will see nothing, but `FOLDER` holds `odd` in every format: a tape made by hand that no format likes, for readers
//! to be tried on. `cargo run -p partita-report --example export_samples -- FOLDER`

#[path = "../tests/suite/common/mod.rs"]
mod common;

use std::path::PathBuf;

use clap::ValueEnum;
use partita_report::{Format, export, tell};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("expected a folder to write to")?);
    std::fs::create_dir_all(&folder)?;
    let mut tape = common::tape(&folder, "odd", 25);
    for format in Format::value_variants() {
        tell(format_args!("wrote {}", export(&mut tape, *format, &folder)?.display()));
    }
    Ok(())
}
