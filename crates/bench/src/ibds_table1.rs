//! The bench `ibds-table1`: how much faster the optimisations of impulse-based dynamics make it.
//!
//! \[BDB09\] D. Bayer, R. Diziol, J. Bender: Optimized Impulse-Based Dynamic Simulation. VRIPHYS 2009, section 5.
//!
//! A sheet of a metre swings from an edge, 20 x 20 particles joined along the axes, 200 steps of 10 ms, g = 10 m/s², by
//! the exact parabola: links longer by at most 0.001 %, 1 % and 10 %, with and without the velocity loop (0.01 m/s), with each of
//! the optimisations of sections 4.2 to 4.4 and all of them, with 4.1 everywhere and building the sheet counted in. The baseline is the paper's, a
//! root at every visit; beside it is one of today, which tells from squares whether a link has to be corrected. This is the paper's first
//! scene; its other two, with contacts of particles, are not here yet.

use std::time::Instant;

use partita::{
    ibds_cloth::{Counts, IbdsCloth, Integrator, Net, Optimisations, Solver},
    simulator::{Inputs, Outcome, Simulator},
};

use crate::{
    Effort,
    table::{Failure, Table, Target, median},
};

const PARTICLES: u32 = 20;
const STEPS: usize = 200;
const H: f64 = 0.01;
const G: f64 = 10.0;
const MASS: f64 = 0.2;

const NONE: Optimisations = Optimisations::NONE;

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
    for strain in [1e-5, 0.01, 0.1] {
        for rates in [false, true] {
            let case = format!("swing, {} %{}", 100.0 * strain, if rates { ", velocity loop" } else { "" });
            table.case(&case, "ms", None, |table| compare(table, effort, &case, strain, rates, &mut faster))?;
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
    Ok(())
}

/// All optimisations in turn, and how many times faster than the baseline each was.
fn compare(
    table: &mut Table,
    effort: Effort,
    case: &str,
    strain: f64,
    rates: bool,
    faster: &mut [Vec<f64>],
) -> Result<(), Failure> {
    let all: Vec<(&str, Optimisations)> =
        [("none", NONE)].into_iter().chain(CLAIMS.iter().map(|(name, with, _)| (*name, *with))).collect();
    let mut runs: Vec<Vec<Run>> = all.iter().map(|_| vec![]).collect();
    for _ in 0..effort.samples(3) {
        for ((_, with), runs) in all.iter().zip(&mut runs) {
            runs.push(run(*with, strain, rates, if effort.quick { 10 } else { STEPS })?);
        }
    }
    let costs = |runs: &[Run]| runs.iter().map(|run| run.cost).collect::<Vec<f64>>();
    let baseline = median(&costs(&runs[0]));
    for (k, ((name, _), runs)) in all.iter().zip(&runs).enumerate() {
        table.row(&format!("{case}: {name}"), "ms", None, &costs(runs))?;
        let Run { counts, visits, corrections, stretch, .. } = runs[0];
        table.remark(&format!(
            "{counts} iterations, {visits} visits, {corrections} corrections, stretched by {:.2e} % at most",
            100.0 * stretch
        ));
        if k > 0 {
            faster[k - 1].push(baseline / median(&costs(runs)));
        }
    }
    Ok(())
}

/// How a run went.
struct Run {
    /// `[ms]`
    cost: f64,
    counts: u64,
    visits: u64,
    corrections: u64,
    /// [-]
    stretch: f64,
}

fn run(with: Optimisations, strain: f64, rates: bool, steps: usize) -> Result<Run, Failure> {
    let start = Instant::now();
    let mut cloth = sheet()?.solver(Solver::GaussSeidel(with)).extensibility(strain);
    cloth = cloth.velocity_tolerance(rates.then_some(0.01)).max_iterations(100_000);
    let mut run = Run { cost: 0.0, counts: 0, visits: 0, corrections: 0, stretch: 0.0 };
    for step in 0..steps {
        let report = cloth.step(H, Inputs::NONE)?;
        if report.outcome != Outcome::Converged {
            return Err(format!("step {step}, {with:?}: {:?}", report.outcome).into());
        }
        let Counts { iterations, visits, corrections } = cloth.counts();
        run.counts += u64::from(iterations);
        run.visits += visits;
        run.corrections += corrections;
        run.stretch = run.stretch.max(cloth.stretch());
    }
    run.cost = 1e3 * start.elapsed().as_secs_f64();
    Ok(run)
}

/// One edge is pinned at x = 0.
fn sheet() -> Result<IbdsCloth, Failure> {
    let (n, step) = (PARTICLES, 1.0 / f64::from(PARTICLES - 1));
    let positions: Vec<[f64; 3]> =
        (0..n * n).map(|k| [step * f64::from(k % n), 0.0, step * f64::from(k / n)]).collect();
    let across = (0..n * (n - 1)).map(|k| [k, k + n]);
    let along = (0..n * n).filter(|k| k % n + 1 < n).map(|k| [k, k + 1]);
    let net = Net::new(&positions, &vec![MASS / f64::from(n * n); positions.len()])?.bars(along)?.bars(across)?;
    let mut cloth = IbdsCloth::new("sheet", net)?.integrator(Integrator::Parabola);
    cloth.pin(&(0..n).map(|row| row * n).collect::<Vec<u32>>())?;
    Ok(cloth.gravity([0.0, -G, 0.0]))
}
