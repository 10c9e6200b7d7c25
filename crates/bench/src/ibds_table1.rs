//! The bench `ibds-table1`: how much faster the optimisations of impulse-based dynamics make it.
//!
//! \[BDB09\] D. Bayer, R. Diziol, J. Bender: Optimized Impulse-Based Dynamic Simulation. VRIPHYS 2009, section 5.
//!
//! A sheet of a metre, 20 x 20 particles joined along the axes, in three scenes (`ibds_scenes.rs`), 200 steps of 10 ms, g = 10 m/s², by
//! the exact parabola: links longer by at most 0.001 %, 1 % and 10 %, contacts of particles to a tenth of their distance, with and
//! without the velocity loop (0.01 m/s), with each of the optimisations of sections 4.2 to 4.4 and all of them, with 4.1 everywhere and
//! building the sheet counted in. The baseline is the paper's, a root at every visit; beside it is one of today, which tells
//! from squares whether a link has to be corrected. Rows of the paper are its table 1 (figures 2 and 3 in numbers).
//!
//! What the paper leaves open: masses, here 0.2 kg, and 2 kg where the sphere falls on the sheet, which hangs between edges
//! that are 0.9 m apart. Level between edges a metre apart it is taut from the start: what tells a sweep of a tension along links
//! that go straight on is 1e-6 of their own error, and 0.001 % takes more than a million sweeps a step.

use partita::ibds_cloth::Optimisations;

use crate::{
    Effort,
    ibds_figure4::figure4,
    ibds_scenes::{Case, Ran, STEPS, Scene},
    table::{Failure, Table, Target, median},
};

pub const NONE: Optimisations = Optimisations::NONE;

/// Runs of a case are repeated as long as they took less than this together `[ms]`.
const ENOUGH: f64 = 10_000.0;

/// What \[BDB09\] table 1 says of an optimisation: its name, which they are, and times faster at best, at worst, on average.
type Claim = (&'static str, Optimisations, Option<[f64; 3]>);

const CLAIMS: [Claim; 8] = [
    ("4.3", Optimisations { skipping: true, ..NONE }, Some([1.31, 0.96, 1.01])),
    ("4.2", Optimisations { anticipation: true, ..NONE }, Some([1.83, 1.31, 1.46])),
    ("4.2 & 4.3", Optimisations { kept_directions: false, ..Optimisations::ALL }, Some([2.30, 1.40, 1.60])),
    ("4.4", Optimisations { kept_directions: true, ..NONE }, None),
    ("4.3 & 4.4", Optimisations { anticipation: false, ..Optimisations::ALL }, Some([4.40, 1.01, 1.66])),
    ("4.2 & 4.4", Optimisations { skipping: false, ..Optimisations::ALL }, Some([3.75, 1.68, 2.51])),
    ("4.2 & 4.3 & 4.4", Optimisations::ALL, Some([11.35, 2.16, 3.44])),
    ("squares instead of roots", Optimisations { squares: true, ..NONE }, None),
];

/// All cases.
///
/// # Errors
/// The JSON file cannot be written.
pub fn bench(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let mut faster: Vec<Vec<f64>> = vec![vec![]; CLAIMS.len()];
    for (scene, name) in Scene::ALL {
        for strain in [1e-5, 0.01, 0.1] {
            for rates in [false, true] {
                let text = format!("{name}, {} %{}", 100.0 * strain, if rates { ", velocity loop" } else { "" });
                let case = Case { scene, particles: 20, strain, rates };
                table.case(&text, "ms", None, |table| compare(table, effort, &text, &case, &mut faster))?;
            }
        }
    }
    for ((name, _, paper), faster) in CLAIMS.iter().zip(&faster).filter(|(_, faster)| !faster.is_empty()) {
        let best = faster.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let worst = faster.iter().copied().fold(f64::INFINITY, f64::min);
        let average = faster.iter().sum::<f64>() / faster.len() as f64;
        let of_paper = |k: usize| paper.map_or(String::new(), |paper| format!(" (2009: {})", paper[k]));
        let all = (*name == "4.2 & 4.3 & 4.4").then_some(Target::AtLeast(2.0));
        table.row(&format!("{name}: best"), &format!("times faster{}", of_paper(0)), None, &[best])?;
        table.row(&format!("{name}: worst"), &format!("times faster{}", of_paper(1)), None, &[worst])?;
        table.row(&format!("{name}: average"), &format!("times faster{}", of_paper(2)), all, &[average])?;
    }
    figure4(table, effort)
}

/// All optimisations in turn, and how many times faster than the baseline each was.
fn compare(table: &mut Table, effort: Effort, text: &str, case: &Case, faster: &mut [Vec<f64>]) -> Result<(), Failure> {
    let all: Vec<(&str, Optimisations)> =
        [("none", NONE)].into_iter().chain(CLAIMS.iter().map(|(name, with, _)| (*name, *with))).collect();
    let mut runs: Vec<Vec<Ran>> = all.iter().map(|_| vec![]).collect();
    for _ in 0..effort.samples(3) {
        for ((_, with), runs) in all.iter().zip(&mut runs) {
            if runs.iter().map(|ran: &Ran| ran.cost).sum::<f64>() < ENOUGH {
                runs.push(case.run(*with, if effort.quick { 10 } else { STEPS })?);
            }
        }
    }
    let costs = |runs: &[Ran]| runs.iter().map(|ran| ran.cost).collect::<Vec<f64>>();
    let baseline = median(&costs(&runs[0]));
    for (k, ((name, _), runs)) in all.iter().zip(&runs).enumerate() {
        table.row_with(&format!("{text}: {name}"), "ms", None, &costs(runs), &runs[0].details())?;
        if k > 0 {
            faster[k - 1].push(baseline / median(&costs(runs)));
        }
    }
    Ok(())
}
