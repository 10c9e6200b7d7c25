//! Rows: what was measured, against what, printed as a table and written as JSON lines.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Write},
    path::PathBuf,
};

use serde::Serialize;

/// A line on the standard output; where nobody reads that any more, the JSON file still gets its rows.
macro_rules! say {
    ($($format:tt)*) => { drop(writeln!(io::stdout(), $($format)*)) };
}

/// Whatever keeps a case from being run.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A bound for the value.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// Reached by values up to it.
    AtMost(f64),
    /// Reached by values from it on.
    AtLeast(f64),
}

impl Target {
    fn bound(self) -> f64 {
        match self {
            Self::AtMost(bound) | Self::AtLeast(bound) => bound,
        }
    }

    fn is_reached(self, value: f64) -> bool {
        match self {
            Self::AtMost(bound) => value <= bound,
            Self::AtLeast(bound) => value >= bound,
        }
    }
}

/// One case as a JSON line has it.
#[derive(Serialize)]
struct Row<'a> {
    bench: &'a str,
    case: &'a str,
    /// Median of the samples; null where the case could not run.
    value: Option<f64>,
    unit: &'a str,
    samples: &'a [f64],
    /// What else is to be known of the case.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    details: BTreeMap<&'a str, f64>,
    /// Null where there is none.
    target: Option<f64>,
    /// Null where there is no target, false where the case could not run.
    reached: Option<bool>,
    /// Why it could not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Takes rows as they come: a line on the standard output, and one in the file if there is one.
pub struct Table {
    bench: String,
    json: Option<File>,
    dump: Option<PathBuf>,
    broken: usize,
}

impl Table {
    /// Prints the head of the table.
    pub fn new(bench: &str, json: Option<File>, dump: Option<PathBuf>) -> Self {
        say!("{bench}\n{:<72} {:>12} {:<22} {:>18}  target", "case", "median", "unit", "from - to");
        Self { bench: bench.into(), json, dump, broken: 0 }
    }

    /// A row with the median of `samples`; without samples, or with a number that is not finite, one
    /// that could not run.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn row(&mut self, case: &str, unit: &str, target: Option<Target>, samples: &[f64]) -> Result<(), Failure> {
        self.row_with(case, unit, target, samples, &[])
    }

    /// The same with what else is to be known, each with its name: in a line below, and in the JSON line.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn row_with(
        &mut self,
        case: &str,
        unit: &str,
        target: Option<Target>,
        samples: &[f64],
        details: &[(&str, f64)],
    ) -> Result<(), Failure> {
        let median = median(samples);
        if !median.is_finite() {
            return self.failed(case, unit, target, &format!("a median of {median} of {} samples", samples.len()));
        }
        let reached = target.map(|target| target.is_reached(median));
        let low = samples.iter().copied().fold(f64::INFINITY, f64::min);
        let high = samples.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let verdict = match (target, reached) {
            (Some(target), Some(reached)) => {
                let sign = if matches!(target, Target::AtMost(_)) { "<=" } else { ">=" };
                format!("{sign} {} {}", target.bound(), if reached { "reached" } else { "MISSED" })
            }
            _ => "-".into(),
        };
        let range = format!("{} - {}", figures(low), figures(high));
        say!("{case:<72} {:>12} {unit:<22} {range:>18}  {verdict}", figures(median));
        if !details.is_empty() {
            let details: Vec<String> =
                details.iter().map(|(name, value)| format!("{name} {}", figures(*value))).collect();
            self.remark(&details.join(", "));
        }
        let target = target.map(Target::bound);
        self.write(&Row {
            bench: &self.bench.clone(),
            case,
            value: Some(median),
            unit,
            samples,
            details: details.iter().copied().collect(),
            target,
            reached,
            reason: None,
        })
    }

    /// The rows of one case, or one row that says why there are none.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn case(
        &mut self,
        case: &str,
        unit: &str,
        target: Option<Target>,
        measure: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match measure(self) {
            Ok(()) => Ok(()),
            Err(error) => self.failed(case, unit, target, &error.to_string()),
        }
    }

    fn failed(&mut self, case: &str, unit: &str, target: Option<Target>, reason: &str) -> Result<(), Failure> {
        self.broken += 1;
        say!("{case:<72} could not run: {reason}");
        let (target, reason) = (target.map(Target::bound), Some(reason.into()));
        self.write(&Row {
            bench: &self.bench.clone(),
            case,
            value: None,
            unit,
            samples: &[],
            details: BTreeMap::new(),
            target,
            reached: Some(false),
            reason,
        })
    }

    /// A new file in the folder for what runs did, if one was asked for.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn dump(&self, name: &str) -> Result<Option<File>, Failure> {
        let Some(folder) = &self.dump else { return Ok(None) };
        let path = folder.join(name);
        Ok(Some(File::create(&path).map_err(|error| format!("cannot write {}: {error}", path.display()))?))
    }

    /// A line below the row before.
    pub fn remark(&self, text: &str) {
        say!("    {text}");
    }

    /// Cases that could not run.
    pub fn broken(&self) -> usize {
        self.broken
    }

    fn write(&mut self, row: &Row) -> Result<(), Failure> {
        let Some(file) = &mut self.json else { return Ok(()) };
        let line = serde_json::to_string(row)?;
        writeln!(file, "{line}").map_err(|error: io::Error| format!("the JSON file: {error}").into())
    }
}

/// The middle of the samples, the mean of the two middle ones for an even number; NaN for none.
pub fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]),
    }
}

/// Four figures, without an exponent where that reads better.
fn figures(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        size if !(1e-3..1e7).contains(&size) => format!("{x:.3e}"),
        size if size >= 1000.0 => format!("{x:.0}"),
        size => format!("{x:.*}", (3.0 - size.log10().floor()) as usize),
    }
}
