//! Where loops begin and stop: warm starts, limited impulses, budgets.

use nalgebra::Vector3;
use partita_ibds_cloth::{IbdsCloth, Net, Optimisations, Solver};
use partita_mesh::{Mesh, Side};
use partita_simulator::{Inputs, Outcome, Simulator, Wrench, simulator_laws};

type V3 = Vector3<f64>;

const H: f64 = 0.01;
const SOLVERS: [Solver; 7] = [
    Solver::Auto,
    Solver::Newton,
    Solver::Paths,
    Solver::GaussSeidel(Optimisations::NONE),
    Solver::GaussSeidel(Optimisations { skipping: true, ..Optimisations::NONE }),
    Solver::GaussSeidel(Optimisations { anticipation: false, ..Optimisations::ALL }),
    Solver::GaussSeidel(Optimisations::ALL),
];

/// A sheet that hangs from its upper edge.
fn hanging() -> IbdsCloth {
    let mesh = Mesh::grid([6, 5], [0.6, 0.5]).unwrap();
    let mut cloth = IbdsCloth::new("hanging", Net::sheet(&mesh, 0.2).unwrap()).unwrap();
    cloth.pin(&mesh.edge(Side::Top).unwrap()).unwrap();
    cloth
}

fn free() -> IbdsCloth {
    IbdsCloth::new("free", Net::sheet(&Mesh::grid([4, 4], [0.4, 0.4]).unwrap(), 0.2).unwrap()).unwrap()
}

simulator_laws!(hanging().warm_start(true), dt = 1.0 / 256.0, load = 0.1, free = free());

/// What hangs still needs next to nothing once it is told what links pulled with; where it hangs does not change. Newton's method is told
/// nothing, and needs less anyway.
#[test]
fn a_warm_start_spares_sweeps_and_changes_nothing() {
    for solver in SOLVERS {
        let after = |warm: bool| {
            let mut cloth = hanging().solver(solver).extensibility(1e-6).max_iterations(100_000).warm_start(warm);
            let mut sweeps = 0;
            for k in 0..40 {
                assert_eq!(cloth.step(H, Inputs::NONE).unwrap().outcome, Outcome::Converged);
                sweeps += if k < 20 { 0 } else { cloth.counts().iterations };
            }
            (cloth.positions().to_vec(), sweeps)
        };
        let [(cold, many), (warm, few)] = [false, true].map(after);
        // Five links below each other, each off by at most 1e-6 of 0.1 m in either run, and along by more where they slant.
        let off = cold.iter().zip(&warm).map(|(a, b): (&V3, &V3)| (a - b).norm()).fold(0.0, f64::max);
        assert!(off < 5e-6, "{solver:?}: {off} m");
        let most = if matches!(solver, Solver::Newton | Solver::Auto) { 6 * 20 } else { many / 2 };
        assert!(few <= most, "{solver:?}: {few} sweeps, {many} cold");
    }
}

/// What a warm start gave too much is taken back: a pair that was pulled apart for two steps, and then let be, rests.
#[test]
fn a_warm_start_leaves_what_rests_at_rest() {
    for solver in SOLVERS {
        let net = Net::chain([0.0; 3], [1.0, 0.0, 0.0], 1, 2.0).unwrap();
        let mut pair = IbdsCloth::new("pair", net).unwrap().gravity([0.0; 3]).solver(solver).warm_start(true);
        for k in 0..20 {
            let pull = if k < 2 { 20.0 } else { 0.0 };
            let load = |(k, side): (u32, f64)| (pair.particle(k), Wrench::force(V3::new(side * pull, 0.0, 0.0)));
            let loads = [(0, -1.0), (1, 1.0)].map(load).to_vec();
            pair.step(H, &Inputs { loads, ..Inputs::default() }).unwrap();
        }
        let speed = pair.velocities().iter().map(|v| v.norm()).fold(0.0, f64::max);
        assert!(speed < 1e-9, "{solver:?}: {speed} m/s");
    }
}

/// A correction gives no more than it may; with sweeps enough links are right all the same.
#[test]
fn impulses_are_limited() {
    for solver in SOLVERS {
        let pulled = |sweeps: u32, most: f64| {
            let net = Net::chain([0.0; 3], [1.0, 0.0, 0.0], 1, 2.0).unwrap();
            let cloth = IbdsCloth::new("pair", net).unwrap().gravity([0.0; 3]).solver(solver).extensibility(1e-6);
            let cloth = cloth.with_velocities(&[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]).unwrap();
            let mut cloth = cloth.max_impulse(Some(most)).max_iterations(sweeps);
            let outcome = cloth.step(H, Inputs::NONE).unwrap().outcome;
            (cloth.velocities()[0].x, outcome == Outcome::Converged)
        };
        // Of 1 kg at 1 m/s, that takes 1 N s.
        let (velocity, is_right) = pulled(1, 0.25);
        assert!((velocity + 0.75).abs() < 1e-12 && !is_right, "{solver:?}: {velocity} m/s");
        let (velocity, is_right) = pulled(100, 0.25);
        // Off by at most 1e-6 of a metre, half of that each, in a step.
        assert!(velocity.abs() < 1e-4 && is_right, "{solver:?}: {velocity} m/s");
    }
}

/// Without time nothing is corrected, which the report says; with more than enough nothing changes, but that Newton's method, which cannot
/// be stopped, is left out.
#[test]
fn a_budget_of_time_stops_loops() {
    for solver in SOLVERS {
        let after = |solver: Solver, budget: Option<f64>| {
            let mut cloth = hanging().solver(solver).velocity_tolerance(Some(0.01)).time_budget(budget);
            let report = cloth.step(H, Inputs::NONE).unwrap();
            (cloth.positions().to_vec(), report.outcome, cloth.counts().iterations)
        };
        let (_, outcome, sweeps) = after(solver, Some(1e-12));
        assert!(
            matches!(outcome, Outcome::StoppedAt { .. }) && sweeps <= 2,
            "{solver:?}: {outcome:?}, {sweeps} sweeps"
        );
        let with_enough = after(solver, Some(3600.0));
        let solver = if matches!(solver, Solver::Newton | Solver::Auto) { Solver::Paths } else { solver };
        assert_eq!(with_enough, after(solver, None), "{solver:?}");
    }
}

/// What is wrong is said.
#[test]
fn wrong_limits_are_refused() {
    let cloth = hanging;
    for (cloth, told) in [
        (cloth().time_budget(Some(0.0)), "time_budget [s]"),
        (cloth().max_impulse(Some(f64::NAN)), "max_impulse [N s]"),
        (cloth().velocity_tolerance(Some(-1.0)), "velocity_tolerance [m/s]"),
    ] {
        let error = cloth.checked().err().map(|error| error.to_string()).unwrap();
        assert!(error.contains(told), "{error}");
    }
}
