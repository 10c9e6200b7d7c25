//! `not_blank FILE.png ...` leaves with exit status 1 unless each picture can be read and shows something.

use std::process::ExitCode;

use partita_report::{Image, tell};

fn main() -> ExitCode {
    let blank = |path: &String| match std::fs::read(path).map(|bytes| Image::from_png(&bytes)) {
        Ok(Ok(image)) if !image.is_blank() => false,
        Ok(Ok(_)) => {
            tell(format_args!("{path}: the picture is blank"));
            true
        }
        Ok(Err(error)) => {
            tell(format_args!("{path}: {error}"));
            true
        }
        Err(error) => {
            tell(format_args!("{path}: {error}"));
            true
        }
    };
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let bad = paths.iter().filter(|path| blank(path)).count();
    if bad > 0 || paths.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
