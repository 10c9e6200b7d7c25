//! The bench `ibds-solvers`: what steps of impulse-based cloth cost link by link, path by path, by Newton's method, and by the rule
//! that chooses between the last two.
//!
//! Sheets that hang from an edge load each of their paths by itself, and those that hang from corners all of them by one
//! particle; the tighter links are, the more of that has to be found. Scene 3 of \[BDB09\] (`ibds_scenes.rs`) has contacts of
//! particles. All begin level, and fall for 100 steps. Rows are means, since most steps cost little and a few much, with how many steps
//! were stopped after 1,000 sweeps. The rule is to cost at most twice what the better of the two does.

use std::time::Instant;

use partita::{
    ibds_cloth::{IbdsCloth, Net, Optimisations, Solver},
    simulator::{Inputs, Outcome, Simulator},
};
use partita_mesh::{Mesh, Side};

use crate::{
    Effort,
    ibds_scenes::Scene,
    swing,
    table::{Failure, Table, Target, median},
};

const STEPS: usize = 100;

/// Sweeps of a loop, at most.
const MOST: u32 = 1000;

const SOLVERS: [(&str, Solver); 4] = [
    ("link by link", Solver::GaussSeidel(Optimisations { squares: true, ..Optimisations::NONE })),
    ("path by path", Solver::Paths),
    ("Newton's method", Solver::Newton),
    ("chosen by itself", Solver::Auto),
];

/// What falls.
#[derive(Clone, Copy)]
enum Case {
    /// A sheet with diagonals, of so many cells of 5 cm, from two corners, in steps of 5 ms with a velocity loop.
    Corners([u32; 2]),
    /// The sheet of the bench `swing`: particles along an edge, and whether there are diagonals.
    Edge(u32, bool),
    /// Scene 3 of the paper.
    Dropped,
    /// A chain of so many links from one end, in steps of 5 ms.
    Chain(u32),
}

const CASES: [(&str, Case, &[f64]); 6] = [
    ("10 x 10 by corners", Case::Corners([9, 9]), &[0.1, 0.01, 1e-3, 1e-5]),
    ("40 x 30 by corners", Case::Corners([39, 29]), &[0.1, 0.01, 1e-3]),
    ("40 x 40 by an edge", Case::Edge(40, true), &[0.01, 1e-3, 1e-5]),
    ("40 x 40 by an edge, no diagonals", Case::Edge(40, false), &[0.01, 1e-5]),
    ("scene 3, sphere dropped", Case::Dropped, &[0.01, 1e-3]),
    ("chain of 200", Case::Chain(200), &[0.01, 1e-5]),
];

/// All cases.
///
/// # Errors
/// The JSON file cannot be written.
pub fn bench(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    for (name, case, allowed) in CASES {
        for &allowed in allowed {
            let text = format!("{name}, {} %", 100.0 * allowed);
            table.case(&text, "ms a step", None, |table| compare(table, effort, &text, case, allowed))?;
        }
    }
    Ok(())
}

fn compare(table: &mut Table, effort: Effort, text: &str, case: Case, allowed: f64) -> Result<(), Failure> {
    let mut runs: Vec<Vec<Ran>> = SOLVERS.iter().map(|_| vec![]).collect();
    for _ in 0..effort.samples(3) {
        for ((_, solver), runs) in SOLVERS.iter().zip(&mut runs) {
            runs.push(run(case.cloth()?.solver(*solver).extensibility(allowed), case.step(), effort)?);
        }
    }
    let costs: Vec<Vec<f64>> = runs.iter().map(|runs| runs.iter().map(|ran| ran.cost).collect()).collect();
    for (((name, _), runs), costs) in SOLVERS.iter().zip(&runs).zip(&costs) {
        let ran = &runs[0];
        let details = [("iterations", ran.iterations), ("Newton's steps", ran.newton), ("steps stopped", ran.stopped)];
        table.row_with(&format!("{text}: {name}"), "ms a step", None, costs, &details)?;
    }
    // Of those of which no more steps were stopped.
    let better = [1, 2].into_iter().filter(|&k| runs[k][0].stopped <= runs[3][0].stopped);
    let over = median(&costs[3]) / better.map(|k| median(&costs[k])).fold(f64::INFINITY, f64::min);
    table.row(&format!("{text}: chosen over the better"), "times", Some(Target::AtMost(2.0)), &[over])
}

impl Case {
    fn cloth(self) -> Result<IbdsCloth, Failure> {
        let cloth = match self {
            Self::Corners(cells) => {
                let mesh = Mesh::grid(cells, cells.map(|n| 0.05 * f64::from(n)))?;
                let mesh = mesh.turned([1.0, 0.0, 0.0], -std::f64::consts::FRAC_PI_2)?;
                let net = Net::new(&mesh.positions(), &vec![0.5; mesh.vertices().len()])?;
                let mut cloth = IbdsCloth::new("sheet", net.bars(mesh.edges().iter().map(|edge| edge.vertices))?)?;
                let far = mesh.edge(Side::Top)?;
                cloth.pin(&[far[0], far[far.len() - 1]])?;
                cloth.velocity_tolerance(Some(0.01))
            }
            Self::Edge(n, diagonals) => swing::sheet(n, diagonals, 1.0)?,
            Self::Dropped => Scene::Dropped.cloth(20)?,
            Self::Chain(links) => {
                let mut cloth = IbdsCloth::new("chain", Net::chain([0.0; 3], [1.0, 0.0, 0.0], links, 1.0)?)?;
                cloth.pin(&[0])?;
                cloth
            }
        };
        Ok(cloth.max_iterations(MOST))
    }

    /// `[s]`
    fn step(self) -> f64 {
        match self {
            Self::Corners(_) | Self::Chain(_) => 0.005,
            Self::Edge(..) | Self::Dropped => 0.01,
        }
    }
}

/// How a run went.
struct Ran {
    /// A step, the mean `[ms]`.
    cost: f64,
    /// A step.
    iterations: f64,
    newton: f64,
    stopped: f64,
}

fn run(mut cloth: IbdsCloth, dt: f64, effort: Effort) -> Result<Ran, Failure> {
    let steps = if effort.quick { 10 } else { STEPS };
    let (mut iterations, mut newton, mut stopped) = (0, 0, 0);
    let start = Instant::now();
    for _ in 0..steps {
        let report = cloth.step(dt, Inputs::NONE)?;
        iterations += report.iterations;
        newton += cloth.counts().newton_steps;
        stopped += u32::from(report.outcome != Outcome::Converged);
    }
    let cost = 1e3 * start.elapsed().as_secs_f64() / steps as f64;
    let mean = |sum: u32| f64::from(sum) / steps as f64;
    Ok(Ran { cost, iterations: mean(iterations), newton: mean(newton), stopped: f64::from(stopped) })
}
