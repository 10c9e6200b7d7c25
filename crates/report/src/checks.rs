//! Checks: a figure, the bound it has to keep, and the table that shows both.

use std::collections::BTreeMap;
use std::fmt;

use partita::{RunNote, Warning};
use serde::{Serialize, Serializer};

use crate::tape::{Interrupted, Told};

/// What a figure has to keep to pass. A figure or bound that is not a number never passes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// value <= bound
    #[serde(serialize_with = "number_or_null")]
    AtMost(f64),
    /// value >= bound
    #[serde(serialize_with = "number_or_null")]
    AtLeast(f64),
    /// low <= value <= high
    Within(f64, f64),
    /// value == bound, to the last bit (counts, for example)
    #[serde(serialize_with = "number_or_null")]
    Equals(f64),
}

impl Bound {
    /// Passes when value <= `bound`.
    pub fn at_most(bound: f64) -> Self {
        Bound::AtMost(bound)
    }

    /// Passes when value >= `bound`.
    pub fn at_least(bound: f64) -> Self {
        Bound::AtLeast(bound)
    }

    /// Passes when `low` <= value <= `high`.
    pub fn within(low: f64, high: f64) -> Self {
        Bound::Within(low, high)
    }

    /// Passes when value == `bound` exactly.
    pub fn equals(bound: f64) -> Self {
        Bound::Equals(bound)
    }

    /// Whether `value` is finite and keeps the bound.
    pub fn holds(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Bound::AtMost(bound) => value <= bound,
                Bound::AtLeast(bound) => value >= bound,
                Bound::Within(low, high) => low <= value && value <= high,
                Bound::Equals(bound) => value == bound,
            }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Bound::AtMost(bound) => write!(f, "<= {}", short(bound)),
            Bound::AtLeast(bound) => write!(f, ">= {}", short(bound)),
            Bound::Within(low, high) => write!(f, "{} .. {}", short(low), short(high)),
            Bound::Equals(bound) => write!(f, "== {}", short(bound)),
        }
    }
}

/// One line of the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// What is checked, in a few words.
    pub name: String,
    /// The figure that was found; `null` in JSON where it is not finite.
    #[serde(serialize_with = "number_or_null")]
    pub value: f64,
    /// What it has to keep.
    pub bound: Bound,
    /// Unit of figure and bound; empty for pure numbers.
    pub unit: String,
    /// Whether it does.
    pub pass: bool,
}

/// The file `NAME.json`: what was run, as its tape says it, and what came of it.
#[derive(Serialize)]
pub(crate) struct Document<'a> {
    pub example: &'a str,
    pub seed: u64,
    pub command: Vec<String>,
    pub provenance: BTreeMap<String, String>,
    /// Simulated time and wall-clock time of a recorded run `[s]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulated_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_seconds: Option<f64>,
    /// Present where the run was stopped before its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<InWords<'a, Interrupted>>,
    pub checks: &'a [Check],
    pub warnings: Vec<InWords<'a, Warning>>,
    pub notes: Vec<InWords<'a, RunNote>>,
    #[serde(serialize_with = "as_map")]
    pub figures: &'a [(String, f64)],
    pub parameters: partita::simulator::Settings,
}

/// A warning or note with its numbers, and as the table says it.
#[derive(Serialize)]
pub(crate) struct InWords<'a, T> {
    text: String,
    #[serde(flatten)]
    of: &'a T,
}

impl<'a, T: fmt::Display> InWords<'a, T> {
    pub fn new(of: &'a T) -> Self {
        Self { text: of.to_string(), of }
    }

    pub fn all(of: &'a [T]) -> Vec<Self> {
        of.iter().map(Self::new).collect()
    }
}

/// JSON has no NaN and no infinity.
fn number_or_null<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    Some(*value).filter(|value| value.is_finite()).serialize(to)
}

/// In the order in which they were given.
fn as_map<S: Serializer>(figures: &&[(String, f64)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(figures.iter().map(|(name, value)| (name, Some(*value).filter(|value| value.is_finite()))))
}

/// The table of checks, warnings and figures, aligned, as it is printed at the end of a run.
pub(crate) fn table(example: &str, checks: &[Check], told: &Told, figures: &[(String, f64)]) -> String {
    let head = ["check", "found", "bound", "unit"].map(String::from);
    let rows: Vec<[String; 4]> =
        checks.iter().map(|c| [c.name.clone(), short(c.value), c.bound.to_string(), c.unit.clone()]).collect();
    let width = |column: usize| rows.iter().chain([&head]).map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(width);
    let line = |verdict: &str, [name, value, bound, unit]: &[String; 4]| {
        let text = format!(
            "{verdict:<4}  {name:<0$}  {value:>1$}  {bound:<2$}  {unit:<3$}",
            widths[0], widths[1], widths[2], widths[3]
        );
        text.trim_end().to_string() + "\n"
    };

    let mut out = format!("\n{example}\n");
    if checks.is_empty() {
        out += "no checks\n";
    } else {
        out += &line("", &head);
        for (check, row) in checks.iter().zip(&rows) {
            out += &line(if check.pass { "PASS" } else { "FAIL" }, row);
        }
    }
    if let Some(interrupted) = &told.interrupted {
        out += &format!("STOP  {interrupted}\n");
    }
    told.warnings.iter().for_each(|warning| out += &format!("WARN  {warning}\n"));
    if !figures.is_empty() {
        let name_width = figures.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        out += "\n";
        for (name, value) in figures {
            out += &format!("      {name:<name_width$}  {}\n", short(*value));
        }
    }
    out
}

/// Four significant digits; powers of ten where plain digits would be long.
fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".into()
    } else if !value.is_finite() {
        value.to_string()
    } else if value.fract() == 0.0 && size < 1e9 {
        format!("{value:.0}")
    } else if !(1e-3..1e5).contains(&size) {
        let text = format!("{value:.3e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
    } else {
        let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
        let text = format!("{value:.decimals$}");
        if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_include_their_ends() {
        for (bound, inside, outside) in [
            (Bound::at_most(1.0), vec![-5.0, 1.0], vec![1.0 + 1e-15, 2.0]),
            (Bound::at_least(1.0), vec![1.0, 7.0], vec![0.999, -1.0]),
            (Bound::within(-1.0, 2.0), vec![-1.0, 0.0, 2.0], vec![-1.1, 2.1]),
            (Bound::equals(30.0), vec![30.0], vec![29.0, 31.0]),
        ] {
            assert!(inside.iter().all(|&value| bound.holds(value)), "{bound}");
            assert!(!outside.iter().any(|&value| bound.holds(value)), "{bound}");
        }
    }

    #[test]
    fn what_is_not_a_number_never_passes() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for bound in [Bound::at_most(1.0), Bound::at_least(1.0), Bound::within(-1.0, 1.0), Bound::equals(bad)] {
                assert!(!bound.holds(bad), "{bad} {bound}");
            }
        }
        for bound in [Bound::at_most(f64::NAN), Bound::at_least(f64::NAN), Bound::within(f64::NAN, 1.0)] {
            assert!(!bound.holds(0.0), "{bound}");
        }
        assert!(Bound::at_most(f64::INFINITY).holds(1e300));
    }

    #[test]
    fn figures_are_short_and_readable() {
        for (value, text) in [
            (0.0, "0"),
            (30.0, "30"),
            (0.5, "0.5"),
            (93.2481, "93.25"),
            (1.0e-12, "1e-12"),
            (3.14159e-16, "3.142e-16"),
            (123456.7, "1.235e5"),
            (-2.41243, "-2.412"),
            (99999.9, "100000"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn the_table_is_aligned() {
        let check = |name: &str, value: f64, bound: Bound| Check {
            name: name.into(),
            value,
            bound,
            unit: "m".into(),
            pass: bound.holds(value),
        };
        let checks = [check("gap", 0.25, Bound::at_most(0.5)), check("a longer name", f64::NAN, Bound::equals(2.0))];
        let text = table("crates", &checks, &Told::default(), &[("windows per second".into(), 93.2)]);
        assert_eq!(
            text,
            "\ncrates\n      check          found  bound   unit\nPASS  gap             0.25  <= 0.5  m\n\
             FAIL  a longer name    NaN  == 2    m\n\n      windows per second  93.2\n"
        );
    }
}
