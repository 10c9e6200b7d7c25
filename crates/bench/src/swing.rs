//! The bench `swing`: a sheet that swings from an edge, at what cost and how exactly.
//!
//! A sheet of a metre and 0.2 kg, n x n particles of equal mass, one edge pinned, released level, g = 10 m/s², 200 windows of
//! 10 ms with any steps inside. Set D has the axis edges and one diagonal a cell, set A the axis edges alone. A run counts only if
//! no link of its set is longer than it may be at the end of any window, and the motion is right: the mean height falls
//! below -0.4 m first at the end of a window between 0.35 and 0.38 s, the mean x (pinned at 0, out to +1 m) comes below -0.42 m,
//! and the energy over m g L ends no lower than -0.16 and is never above the begin by more than 0.005.
//!
//! Peers on one core, milliseconds a window: PositionBasedDynamics (`pypbd` 2.2.2, XPBD in substeps, set D) 0.21 at 10 % and 1.36
//! at 1 % for 20 x 20, 1.69 and 12.2 for 40 x 40, 66 at 10 % for 100 x 100, 1 % reached by none; MuJoCo 4 0.88 and 10.6 at 1 %
//! with twice the damping.
//!
//! `--dump DIR` writes positions and velocities at the end of every window of the first run of a case, as little-endian doubles:
//! for each window all positions, then all velocities, three numbers a particle.

use std::{fs, io::Write as _, time::Instant};

use partita::{
    ibds_cloth::{IbdsCloth, Net},
    simulator::{Inputs, Simulator},
};

use crate::{
    Effort,
    table::{Failure, Table, Target, median},
};

const WINDOWS: usize = 200;
const DT: f64 = 0.01;
const G: f64 = 10.0;
const MASS: f64 = 0.2;

/// Particles along an edge, diagonals, allowed stretch [-], target `[ms]`.
const CASES: [(u32, bool, f64, Option<f64>); 10] = [
    (20, true, 0.1, Some(0.10)),
    (20, true, 0.01, Some(0.20)),
    (40, true, 0.1, Some(0.80)),
    (40, true, 0.01, Some(1.5)),
    (100, true, 0.1, Some(20.0)),
    (100, true, 0.01, Some(60.0)),
    (20, false, 0.01, None),
    (40, false, 0.01, None),
    (100, false, 0.01, None),
    (40, false, 1e-5, Some(10.0)),
];

/// All cases.
///
/// # Errors
/// A file cannot be written.
pub fn bench(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    for (n, diagonals, allowed, target) in CASES {
        if effort.quick && n > 20 {
            continue;
        }
        let set = if diagonals { 'D' } else { 'A' };
        let case = format!("{n} x {n}, set {set}, {} %", 100.0 * allowed);
        let target = target.map(Target::AtMost);
        table.case(&case, "ms a window", target, |table| {
            let mut runs = vec![];
            for k in 0..effort.samples(5) {
                let dump = if k == 0 { table.dump(&format!("swing-{n}-{set}-{allowed}.f64"))? } else { None };
                runs.push(run(n, diagonals, allowed, dump)?);
            }
            let worst = |of: fn(&Run) -> f64| runs.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
            let wrong = runs[0].wrong(allowed);
            if let Some(wrong) = wrong {
                return Err(wrong.into());
            }
            table.row(&case, "ms a window", target, &runs.iter().map(|run| run.cost).collect::<Vec<f64>>())?;
            table.row(
                &format!("{case}: largest stretch"),
                "-",
                Some(Target::AtMost(allowed)),
                &[worst(|r| r.stretch)],
            )?;
            table.row(&format!("{case}: energy in the end"), "m g L", Some(Target::AtLeast(-0.16)), &[runs[0].end])?;
            table.row(&format!("{case}: iterations"), "a window", None, &[runs[0].iterations])
        })?;
    }
    Ok(())
}

/// How a swing went.
struct Run {
    /// A window, the median `[ms]`.
    cost: f64,
    /// [-]
    stretch: f64,
    /// End of the first window below -0.4 m `[s]`.
    falls: Option<f64>,
    /// Lowest mean x `[m]`.
    back: f64,
    /// Energy over m g L, highest and in the end [-].
    highest: f64,
    end: f64,
    iterations: f64,
}

impl Run {
    /// Why it does not count, if so.
    fn wrong(&self, allowed: f64) -> Option<String> {
        let Self { stretch, falls, back, highest, end, .. } = *self;
        if stretch > allowed {
            Some(format!("a link is stretched by {stretch:.2e}, not {allowed:.0e}"))
        } else if !falls.is_some_and(|t| (0.35 - 1e-9..0.38 + 1e-9).contains(&t)) {
            Some(format!("the mean height is below -0.4 m at {falls:?}, not from 0.35 to 0.38 s"))
        } else if back >= -0.42 {
            Some(format!("the mean x comes to {back:.3}, not below -0.42 m"))
        } else if highest > 0.005 || end < -0.16 {
            Some(format!("the energy rises to {highest:.4} and ends at {end:.3} m g L, not up to 0.005 and from -0.16"))
        } else {
            None
        }
    }
}

/// One edge is pinned at x = 0, in the plane y = 0.
///
/// # Errors
/// None, as it is.
pub fn sheet(n: u32, diagonals: bool, allowed: f64) -> Result<IbdsCloth, Failure> {
    let (count, step) = (n * n, 1.0 / f64::from(n - 1));
    let place = |k: u32| [step * f64::from(k % n), 0.0, step * f64::from(k / n)];
    let positions: Vec<[f64; 3]> = (0..count).map(place).collect();
    let number = |row: u32, column: u32| row * n + column;
    let across = (1..n).flat_map(|row| (0..n).map(move |column| [number(row - 1, column), number(row, column)]));
    let along = (0..n).flat_map(|row| (1..n).map(move |column| [number(row, column - 1), number(row, column)]));
    let slant = (1..n).flat_map(|row| (1..n).map(move |column| [number(row, column - 1), number(row - 1, column)]));
    let mut net = Net::new(&positions, &vec![MASS / f64::from(count); count as usize])?.bars(across)?;
    if diagonals {
        net = net.bars(slant)?;
    }
    let mut cloth = IbdsCloth::new("sheet", net.bars(along)?)?;
    cloth.pin(&(0..n).map(|row| number(row, 0)).collect::<Vec<u32>>())?;
    // The fewest parts of a window that keep the energy; all but the last are swept once.
    let parts = if n > 40 {
        8
    } else if n > 20 {
        6
    } else {
        5
    };
    Ok(cloth.gravity([0.0, -G, 0.0]).extensibility(0.8 * allowed).substeps(parts).self_contact(false))
}

fn run(n: u32, diagonals: bool, allowed: f64, mut dump: Option<fs::File>) -> Result<Run, Failure> {
    let mut cloth = sheet(n, diagonals, allowed)?;
    let particles = f64::from(n * n);
    let (mut costs, mut iterations) = (vec![], 0);
    let mut run = Run { cost: 0.0, stretch: 0.0, falls: None, back: 1.0, highest: 0.0, end: 0.0, iterations: 0.0 };
    for window in 1..=WINDOWS {
        let start = Instant::now();
        let report = cloth.step(DT, Inputs::NONE)?;
        costs.push(1e3 * start.elapsed().as_secs_f64());
        iterations += report.iterations;
        run.stretch = run.stretch.max(cloth.stretch());
        let mean = |k: usize| cloth.positions().iter().map(|x| x[k]).sum::<f64>() / particles;
        if mean(1) < -0.4 && run.falls.is_none() {
            run.falls = Some(DT * window as f64);
        }
        run.back = run.back.min(mean(0));
        let kinetic = cloth.velocities().iter().map(|v| 0.5 * v.norm_squared()).sum::<f64>() / particles;
        run.end = kinetic / G + mean(1);
        run.highest = run.highest.max(run.end);
        if let Some(file) = &mut dump {
            let numbers = cloth.positions().iter().chain(cloth.velocities()).flatten();
            file.write_all(&numbers.flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>())?;
        }
    }
    run.cost = median(&costs);
    run.iterations = f64::from(iterations) / WINDOWS as f64;
    Ok(run)
}
