//! Links keep their length, and what hangs from them moves as it should.

use std::{f64::consts::PI, sync::Arc};

use nalgebra::Vector3;
use partita_ibds_cloth::{IbdsCloth, Integrator, Net, Optimisations, Solver};
use partita_simulator::{Guide, HandleState, Inputs, Motion, Outcome, Simulator, StepReport};

type V3 = Vector3<f64>;

const G: f64 = 9.81;
const SOLVERS: [Solver; 12] = [
    Solver::Auto,
    Solver::Newton,
    Solver::Paths,
    Solver::GaussSeidel(Optimisations::NONE),
    Solver::GaussSeidel(Optimisations { squares: true, ..Optimisations::NONE }),
    Solver::GaussSeidel(Optimisations { skipping: true, ..Optimisations::NONE }),
    Solver::GaussSeidel(Optimisations { kept_directions: true, ..Optimisations::NONE }),
    Solver::GaussSeidel(Optimisations { anticipation: false, ..Optimisations::ALL }),
    Solver::GaussSeidel(Optimisations { anticipation: true, ..Optimisations::NONE }),
    Solver::GaussSeidel(Optimisations { kept_directions: false, ..Optimisations::ALL }),
    Solver::GaussSeidel(Optimisations { skipping: false, ..Optimisations::ALL }),
    Solver::GaussSeidel(Optimisations::ALL),
];

/// n x n particles in the plane z = 0, a metre wide, bars along the axes and one diagonal a cell.
fn sheet(n: u32) -> Net {
    let step = 1.0 / f64::from(n - 1);
    let place = |k: u32| [step * f64::from(k % n), -step * f64::from(k / n), 0.0];
    let positions: Vec<[f64; 3]> = (0..n * n).map(place).collect();
    let number = |row: u32, column: u32| row * n + column;
    let down = (1..n).flat_map(|row| (0..n).map(move |column| [number(row - 1, column), number(row, column)]));
    let along = (0..n).flat_map(|row| (1..n).map(move |column| [number(row, column - 1), number(row, column)]));
    let slant = (1..n).flat_map(|row| (1..n).map(move |column| [number(row - 1, column - 1), number(row, column)]));
    let masses = vec![0.2 / f64::from(n * n); (n * n) as usize];
    Net::new(&positions, &masses).unwrap().bars(down).unwrap().bars(along).unwrap().bars(slant).unwrap()
}

/// The largest error of a link, of its length.
fn worst(cloth: &IbdsCloth) -> f64 {
    let x = cloth.positions();
    let of = |[i, j]: [u32; 2], rest: f64| ((x[i as usize] - x[j as usize]).norm() / rest - 1.0).abs();
    cloth.net().links().iter().map(|link| of(link.particles, link.rest_length)).fold(0.0, f64::max)
}

fn step(cloth: &mut IbdsCloth, dt: f64) -> StepReport {
    cloth.step(dt, Inputs::NONE).unwrap()
}

/// After each step all links are as long as they have to be, or the report says by how much one is not (I1, I2).
#[test]
fn links_keep_their_length_or_the_report_says_so() {
    for solver in SOLVERS {
        for (extensibility, most) in [(1e-3, 1000), (0.01, 100), (0.1, 100), (1e-6, 2)] {
            let mut cloth = IbdsCloth::new("sheet", sheet(8)).unwrap();
            cloth.pin(&[0, 7]).unwrap();
            let mut cloth = cloth.solver(solver).extensibility(extensibility).max_iterations(most);
            let mut told = 0;
            for _ in 0..100 {
                let report = step(&mut cloth, 0.01);
                match report.outcome {
                    Outcome::Converged => assert!(worst(&cloth) <= extensibility * (1.0 + 1e-9), "{}", worst(&cloth)),
                    Outcome::StoppedAt { error, bound, .. } => {
                        approx::assert_relative_eq!(error, worst(&cloth), max_relative = 1e-9);
                        assert!(bound == extensibility && error > bound && report.iterations == most);
                        told += 1;
                    }
                }
            }
            assert!((told > 0) == (most == 2), "{told} of 100 with {solver:?} to {extensibility} in {most}");
        }
    }
}

/// A mathematical pendulum from 90 degrees: T = 4 sqrt(l/g) K(sin 45°) = 2.36784 s, from 10 degrees 2.00989 s (I6). Half a percent is
/// what first order leaves at a millisecond.
#[test]
fn a_pendulum_keeps_time() {
    for (angle, period) in [(0.5 * PI, 2.36784), (PI / 18.0, 2.00989)] {
        for integrator in [Integrator::SymplecticEuler, Integrator::Parabola] {
            let (sin, cos) = f64::sin_cos(angle);
            let net = Net::new(&[[0.0; 3], [sin, -cos, 0.0]], &[1.0, 1.0]).unwrap().bars([[0, 1]]).unwrap();
            let mut cloth = IbdsCloth::new("pendulum", net).unwrap();
            cloth.pin(&[0]).unwrap();
            let mut cloth = cloth.integrator(integrator).extensibility(1e-9).velocity_tolerance(Some(1e-9));
            let mut passes = vec![];
            while passes.len() < 2 {
                let before = cloth.positions()[1].x;
                step(&mut cloth, 1e-3);
                let now = cloth.positions()[1].x;
                if before * now <= 0.0 {
                    passes.push(cloth.time() - 1e-3 * now / (now - before));
                }
            }
            // Half a swing, from the lowest place to there.
            approx::assert_relative_eq!(2.0 * (passes[1] - passes[0]), period, max_relative = 5e-3);
        }
    }
}

/// A chain of length 1.2 m over a span of 1 m hangs as a catenary: sag 0.29234 m; its ends pull at 0.76189 m of its weight a metre, its
/// middle at 0.46954 m of it (I7).
#[test]
fn a_chain_hangs_as_a_catenary() {
    let (links, mass) = (60, 0.3);
    let net = Net::chain([0.0; 3], [1.2, 0.0, 0.0], links, mass).unwrap();
    // From a V of the same length, whose ends are where they will be.
    let slope = (1.2_f64.powi(2) - 1.0).sqrt() / 1.2;
    let place = |k: u32| {
        let s = f64::from(k) / f64::from(links);
        [s, -0.6 * slope * (1.0 - (2.0 * s - 1.0).abs()), 0.0]
    };
    let places: Vec<[f64; 3]> = (0..=links).map(place).collect();
    let net = Net::new(&places, net.masses()).unwrap().bars((0..links).map(|k| [k, k + 1])).unwrap();
    let mut cloth = IbdsCloth::new("chain", net).unwrap();
    cloth.pin(&[0]).unwrap();
    let mut cloth = cloth.extensibility(1e-6).substeps(2);
    // Who holds the other end feels it.
    cloth.follow(vec![Guide::Attachment { own: cloth.particle(links) }]).unwrap();
    let still = Arc::new([HandleState::point([1.0, 0.0, 0.0], [0.0; 3])]);
    let motion = Motion { begin: still.clone(), end: still };
    let inputs = Inputs { motions: vec![Some(motion)], ..Inputs::default() };
    // It swings to and fro; over so long a time the means are those at rest.
    let (mut sag, mut pull) = (0.0, V3::zeros());
    for k in 0..3000 {
        let report = cloth.step(0.01, &inputs).unwrap();
        if k >= 1000 {
            sag -= cloth.positions().iter().map(|x| x.y).fold(0.0, f64::min) / 2000.0;
            pull += V3::from(report.reactions[0].impulse.linear) / 0.01 / 2000.0;
        }
    }
    approx::assert_relative_eq!(sag, 0.29234, max_relative = 0.01);
    // By weight a metre; along it all, the pull across is that in the middle.
    let weight = mass * G / 1.2;
    approx::assert_relative_eq!(pull.norm(), 0.76189 * weight, max_relative = 0.02);
    approx::assert_relative_eq!(-pull.x, 0.46954 * weight, max_relative = 0.02);
}

/// Corrections come in opposite pairs, so a free net keeps its momentum, to what rounding of places makes of velocities in a step of
/// 0.01 s (I9).
#[test]
fn a_free_net_keeps_its_momentum() {
    for solver in SOLVERS {
        let net = sheet(6);
        let spin: Vec<[f64; 3]> =
            net.positions().iter().map(|x| (V3::new(0.3, 0.0, 0.1) + V3::new(1.0, 2.0, 3.0).cross(x)).into()).collect();
        let cloth = IbdsCloth::new("net", net).unwrap().with_velocities(&spin).unwrap();
        let mut cloth = cloth.gravity([0.0; 3]).solver(solver).extensibility(1e-4);
        let momentum = |cloth: &IbdsCloth| V3::from(cloth.ledger().unwrap().momentum);
        let before = momentum(&cloth);
        for _ in 0..1000 {
            step(&mut cloth, 0.01);
        }
        assert!((momentum(&cloth) - before).norm() < 1e-12 * before.norm());
    }
}

/// With the velocity loop no link grows faster than it may (I5).
#[test]
fn links_do_not_grow_faster_than_they_may() {
    for solver in SOLVERS {
        let mut cloth = IbdsCloth::new("sheet", sheet(8)).unwrap();
        cloth.pin(&[0]).unwrap();
        let mut cloth = cloth.solver(solver).velocity_tolerance(Some(1e-3)).max_iterations(1000);
        for _ in 0..50 {
            assert_eq!(step(&mut cloth, 0.01).outcome, Outcome::Converged);
            let (x, v) = (cloth.positions(), cloth.velocities());
            for link in cloth.net().links() {
                let [i, j] = link.particles.map(|k| k as usize);
                let rate = (x[j] - x[i]).normalize().dot(&(v[j] - v[i]));
                assert!(rate.abs() <= 1e-3 * (1.0 + 1e-9), "{rate} m/s");
            }
        }
    }
}

/// Two particles that a rope joins fall apart freely until it is taut, and no farther; whichever the rope names first, as told from one that
/// goes before it.
#[test]
fn a_rope_holds_from_its_length_on() {
    for (solver, ends) in SOLVERS.into_iter().flat_map(|solver| [(solver, [0, 1]), (solver, [1, 0])]) {
        let places = [[0.0; 3], [0.0, -1.0, 0.0], [0.0, 1.0, 0.0]];
        let net = Net::new(&places, &[1.0; 3]).unwrap().ropes([[2, 0], ends]).unwrap();
        let mut cloth = IbdsCloth::new("rope", net).unwrap().solver(solver).extensibility(1e-6);
        cloth = cloth.integrator(Integrator::Parabola).velocity_tolerance(Some(1e-6));
        cloth.pin(&[0, 2]).unwrap();
        cloth = cloth.with_velocities(&[[0.0; 3], [0.0, 2.0, 0.0], [0.0; 3]]).unwrap();
        for k in 1..=30 {
            step(&mut cloth, 0.01);
            let t = 0.01 * f64::from(k);
            approx::assert_relative_eq!(cloth.positions()[1].y, -1.0 + 2.0 * t - 0.5 * G * t * t, epsilon = 1e-12);
            // What is slack does not keep anybody sweeping.
            assert!(cloth.counts().iterations <= 2, "{solver:?}: {} sweeps", cloth.counts().iterations);
        }
        for _ in 0..100 {
            step(&mut cloth, 0.01);
            assert!(cloth.positions()[1].y >= -1.0 - 1e-6);
        }
        assert!((cloth.positions()[1].y + 1.0).abs() < 1e-5);
        assert!(cloth.velocities()[1].y >= -1e-6, "{solver:?}: {} m/s", cloth.velocities()[1].y);
    }
}

/// Where all links of a path, or of a net, are solved at once, nothing goes farther in a sweep than its link is long: directions hold.
#[test]
fn nothing_is_thrown_far() {
    for solver in [Solver::Paths, Solver::Newton, Solver::Auto] {
        let after = |sweeps: u32| {
            let net = Net::new(&[[0.0; 3], [1.0, 0.0, 0.0]], &[1.0, 1.0]).unwrap().bars([[0, 1]]).unwrap();
            let mut cloth = IbdsCloth::new("far", net).unwrap().gravity([0.0; 3]).solver(solver).max_iterations(sweeps);
            cloth.pin(&[0]).unwrap();
            let mut cloth = cloth.with_positions(&[[0.0; 3], [5.0, 0.0, 0.0]]).unwrap();
            step(&mut cloth, 0.01);
            cloth.positions()[1].x
        };
        for (sweeps, place) in [(1, 4.0), (2, 3.0), (3, 2.0), (10, 1.0)] {
            // With what is added to the diagonal, and a hundredth that a link may be off.
            let off = (after(sweeps) - place).abs();
            assert!(off < 1e-3, "{solver:?}: {off} m after {sweeps} sweeps");
        }
    }
}

/// What is hardly a net: a particle alone, two at one place, a link twice, two hundred at one particle, masses apart by 1e4. Nothing
/// of it makes a number that is none; what converges is told from what does not.
#[test]
fn degenerate_nets_converge_or_say_so() {
    let star: Vec<[f64; 3]> = std::iter::once([0.0; 3])
        .chain((0..200).map(|k| [f64::from(k).cos(), f64::from(k).sin(), 0.01 * f64::from(k)]))
        .collect();
    let nets = [
        Net::new(&[[0.0; 3], [1.0, 0.0, 0.0], [5.0, 0.0, 0.0]], &[1.0; 3]).unwrap().bars([[0, 1]]).unwrap(),
        Net::new(&[[0.0; 3], [0.0; 3], [1.0, 0.0, 0.0]], &[1.0; 3]).unwrap().bars([[0, 1], [1, 2]]).unwrap(),
        Net::new(&[[0.0; 3], [1.0, 0.0, 0.0]], &[1.0; 2]).unwrap().bars([[0, 1], [1, 0], [0, 1]]).unwrap(),
        Net::new(&star, &[0.01; 201]).unwrap().bars((1..=200).map(|k| [0, k])).unwrap(),
        Net::new(&[[0.0; 3], [1.0, 0.0, 0.0]], &[1e4, 1.0]).unwrap().bars([[0, 1]]).unwrap(),
    ];
    for net in nets {
        for solver in SOLVERS {
            let mut cloth = IbdsCloth::new("net", net.clone()).unwrap().solver(solver);
            cloth.pin(&[0]).unwrap();
            for _ in 0..50 {
                let report = step(&mut cloth, 0.01);
                assert_eq!(report.outcome == Outcome::Converged, worst_finite(&cloth) <= 0.01 * (1.0 + 1e-9));
            }
        }
    }
    for wrong in [
        Net::new(&[[f64::NAN, 0.0, 0.0]], &[1.0]),
        Net::new(&[[0.0; 3]], &[0.0]),
        Net::new(&[[0.0; 3]], &[]),
        Net::new(&[[0.0; 3]], &[1e-320]),
        Net::new(&[[0.0; 3]; 2], &[1.0; 2]).unwrap().bars([[0, 2]]),
        Net::new(&[[0.0; 3]; 2], &[1.0; 2]).unwrap().ropes([[1, 1]]),
        Net::chain([0.0; 3], [1.0; 3], 0, 1.0),
        Net::chain([0.0; 3], [1.0; 3], 3, -1.0),
    ] {
        assert!(wrong.is_err(), "{wrong:?}");
    }
}

/// The largest error of a link that has a length.
fn worst_finite(cloth: &IbdsCloth) -> f64 {
    assert!(cloth.positions().iter().chain(cloth.velocities()).all(|x| x.norm().is_finite()));
    let x = cloth.positions();
    let of = |[i, j]: [u32; 2], rest: f64| {
        let length = (x[i as usize] - x[j as usize]).norm();
        if rest > 0.0 { (length / rest - 1.0).abs() } else { length }
    };
    cloth.net().links().iter().map(|link| of(link.particles, link.rest_length)).fold(0.0, f64::max)
}

/// A chain is one path, so it takes as few sweeps as Newton's method takes steps, a few where it hardly turns in a step and a dozen
/// where its end whips; link by link it takes hundreds.
#[test]
fn a_chain_is_solved_at_once() {
    let iterations = |solver: Solver, links: u32| {
        let net = Net::chain([0.0; 3], [1.0, 0.0, 0.0], links, 1.0).unwrap();
        let mut cloth = IbdsCloth::new("chain", net).unwrap();
        cloth.pin(&[0]).unwrap();
        let mut cloth = cloth.solver(solver).extensibility(1e-6).max_iterations(100_000);
        (0..20).map(|_| step(&mut cloth, 0.01).iterations).max().unwrap()
    };
    assert!(iterations(Solver::Paths, 20) <= 6);
    assert!(iterations(Solver::Paths, 100) <= 15);
    assert!(iterations(Solver::GaussSeidel(Optimisations::NONE), 100) > 300);
}

/// Links that give way hang down by what is below them: each is longer by the compliance times that weight.
#[test]
fn links_give_way_by_their_compliance() {
    for solver in SOLVERS {
        let net = Net::chain([0.0; 3], [0.0, -1.0, 0.0], 10, 1.1).unwrap().compliance(1e-3).unwrap();
        let mut cloth = IbdsCloth::new("chain", net).unwrap().solver(solver).extensibility(1e-9);
        cloth.pin(&[0]).unwrap();
        let mut cloth = cloth.max_iterations(10_000);
        for _ in 0..1000 {
            assert_eq!(step(&mut cloth, 0.01).outcome, Outcome::Converged);
        }
        for k in 0..10 {
            let longer = cloth.positions()[k].y - cloth.positions()[k + 1].y - 0.1;
            approx::assert_relative_eq!(longer, 1e-3 * 0.1 * (10.0 - k as f64) * G, max_relative = 1e-3);
        }
    }
}

/// Between two particles that are held, such a link is a spring: who holds them feels how much too long it is by the compliance.
#[test]
fn what_gives_way_between_what_is_held_is_a_spring() {
    let ends = [[0.0; 3], [0.11, 0.0, 0.0]];
    for solver in SOLVERS {
        let net = Net::chain([0.0; 3], [0.1, 0.0, 0.0], 1, 1.0).unwrap().compliance(1e-3).unwrap();
        let spring = IbdsCloth::new("spring", net).unwrap().with_positions(&ends).unwrap().gravity([0.0; 3]);
        let mut spring = spring.solver(solver).extensibility(1e-9);
        spring.follow((0..2).map(|k| Guide::Attachment { own: spring.particle(k) }).collect()).unwrap();
        let still = |at| Arc::new([HandleState::point(at, [0.0; 3])]);
        let motions = ends.map(|at| Some(Motion { begin: still(at), end: still(at) })).to_vec();
        let report = spring.step(0.01, &Inputs { motions, ..Inputs::default() }).unwrap();
        assert_eq!(report.outcome, Outcome::Converged);
        for (reaction, side) in report.reactions.iter().zip([1.0, -1.0]) {
            approx::assert_relative_eq!(reaction.impulse.linear[0], side * 0.01 / 1e-3 * 0.01, max_relative = 1e-7);
        }
    }
}

/// Two ropes side by side bear half each: what the first took of it in a sweep, it gives back when the other one comes to its help.
#[test]
fn ropes_side_by_side_share_what_they_bear() {
    for solver in SOLVERS {
        let net = Net::new(&[[0.0; 3], [0.0, -1.0, 0.0]], &[1.0, 1.0]).unwrap().ropes([[0, 1], [0, 1]]).unwrap();
        let mut pair =
            IbdsCloth::new("pair", net.compliance(1e-3).unwrap()).unwrap().solver(solver).extensibility(1e-9);
        pair.pin(&[0]).unwrap();
        let mut pair = pair.max_iterations(10_000);
        (0..300).for_each(|_| drop(step(&mut pair, 1.0 / 30.0)));
        approx::assert_relative_eq!(-pair.positions()[1].y - 1.0, 0.5 * G * 1e-3, max_relative = 1e-5);
    }
}

/// A sheet with diagonals that swings from two corners loads one particle with all of it: sweeps path by path stall, Newton's method does not,
/// and the other solver finds that out by itself. Its energy falls: no step gives a thousandth of what the fall spends.
#[test]
fn a_sheet_that_swings_from_its_corners_is_as_long_as_it_may_be() {
    let run = |solver: Solver| {
        let mut cloth = IbdsCloth::new("sheet", sheet(20)).unwrap();
        cloth.pin(&[0, 19]).unwrap();
        let mut cloth = cloth.solver(solver).extensibility(1e-4).velocity_tolerance(Some(0.01)).gravity([0.0, 0.0, -G]);
        let energy = |cloth: &IbdsCloth| cloth.ledger().map(|ledger| ledger.kinetic + ledger.potential).unwrap();
        let (mut before, mut stopped) = (energy(&cloth), 0);
        for k in 0..100 {
            stopped += u32::from(step(&mut cloth, 0.005).outcome != Outcome::Converged);
            let now = energy(&cloth);
            assert!(solver == Solver::Paths || now < before + 1e-3 * 0.2 * G, "step {k}: {now} J after {before} J");
            before = now;
        }
        stopped
    };
    let [paths, newton, auto] = [Solver::Paths, Solver::Newton, Solver::Auto].map(run);
    assert!(paths > 30 && newton == 0 && auto == 0, "{paths} steps of 100 stopped, {newton}, {auto}");
}

/// Of a chain, a step of Newton's method and a sweep over its one path are the same, but for what is added to the diagonal: the
/// first a hundred-thousandth, the other a ten-thousandth, which leaves that much of the links' errors.
#[test]
fn of_a_chain_newtons_step_is_a_sweep() {
    let after = |solver: Solver| {
        let net = Net::chain([0.0; 3], [1.0, 0.0, 0.0], 10, 1.0).unwrap();
        let mut cloth = IbdsCloth::new("chain", net).unwrap();
        cloth.pin(&[0]).unwrap();
        let speeds: Vec<[f64; 3]> = (0..=10).map(|k| [0.0, f64::from(k * k), f64::from(k % 3)]).collect();
        let mut cloth = cloth.with_velocities(&speeds).unwrap().solver(solver).extensibility(1e-9).max_iterations(1);
        let corrected = step(&mut cloth, 1e-3);
        assert!(corrected.iterations == 1 && cloth.counts().newton_steps == u32::from(solver == Solver::Newton));
        (cloth.positions().to_vec(), speeds)
    };
    let ((paths, speeds), (newton, _)) = (after(Solver::Paths), after(Solver::Newton));
    let predicted = |k: usize| V3::from(speeds[k]) * 1e-3 + V3::new(0.1 * k as f64, -G * 1e-6, 0.0);
    let worst = |a: &dyn Fn(usize) -> V3| (1..=10).map(|k| (newton[k] - a(k)).norm()).fold(0.0, f64::max);
    let (apart, moved) = (worst(&|k| paths[k]), worst(&predicted));
    // The softest of the chain's modes is 0.02 as stiff as a link: a ten-thousandth counts fifty times there.
    assert!(apart < 50.0 * 1e-4 * moved && moved > 1e-6, "{apart} m of {moved} m");
}

/// At a hub of five thousand links, factors would fill a matrix: Newton's method steps aside.
#[test]
fn a_hub_of_thousands_is_swept() {
    let rim = 5000;
    let turn = |k: u32| 2.0 * PI * f64::from(k) / f64::from(rim);
    let place = |k: u32| if k == 0 { [0.0; 3] } else { [turn(k).cos(), turn(k).sin(), 0.0] };
    let places: Vec<[f64; 3]> = (0..=rim).map(place).collect();
    let net = Net::new(&places, &vec![0.01; places.len()]).unwrap().bars((1..=rim).map(|k| [0, k])).unwrap();
    let mut cloth = IbdsCloth::new("hub", net).unwrap();
    cloth.pin(&[1]).unwrap();
    let mut cloth = cloth.solver(Solver::Newton);
    for _ in 0..10 {
        assert_eq!(step(&mut cloth, 0.01).outcome, Outcome::Converged);
        assert_eq!(cloth.counts().newton_steps, 0);
    }
}

/// Groups of paths that all threads sweep give the same bits for any number of them, also of what they give to pins and attachments, and
/// where a net was made among others than it is swept by.
#[test]
fn threads_do_not_matter() {
    let n = 160;
    let pool = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let run = |made_by: usize, swept_by: usize| {
        let mut cloth = pool(made_by).install(|| {
            let mut cloth = IbdsCloth::new("sheet", sheet(n)).unwrap();
            cloth.pin(&[0, n - 1, n * n / 2 + n / 2]).unwrap();
            cloth.gravity([0.0, 0.0, -G]).max_iterations(5).solver(Solver::Paths)
        });
        cloth.follow(vec![Guide::Attachment { own: cloth.particle(n / 2) }]).unwrap();
        let still: Arc<[HandleState]> = [HandleState::point(cloth.positions()[n as usize / 2], V3::zeros())].into();
        let motion = Motion { begin: still.clone(), end: still };
        let inputs = Inputs { motions: vec![Some(motion)], ..Inputs::default() };
        let step = || cloth.step(0.01, &inputs).unwrap().reactions;
        let reactions: Vec<_> = pool(swept_by).install(|| std::iter::repeat_with(step).take(2).collect());
        (reactions, cloth.ledger(), cloth.positions().to_vec(), cloth.velocities().to_vec())
    };
    let alone = run(1, 1);
    assert!([(2, 2), (3, 3), (7, 7), (1, 3), (7, 2)].into_iter().all(|(made, swept)| run(made, swept) == alone));
}

/// Newton's method gives nothing where nothing can be moved: a row between two attachments that are farther apart than it is long, though
/// by no more than it may be, while a sheet beside it has to be corrected; nor does a pair that is held keep it from that.
#[test]
fn what_cannot_be_moved_is_not_pulled() {
    let (row, beside) = (8, sheet(6));
    let mut places: Vec<[f64; 3]> = (0..=row).map(|k| [0.05 * f64::from(k), 0.0, 1.0]).collect();
    let first = places.len() as u32;
    places.extend(beside.positions().iter().map(|&x| <[f64; 3]>::from(x)));
    let mut masses = vec![0.01; first as usize];
    masses.extend(beside.masses());
    let of_sheet = beside.links().iter().map(|link| link.particles.map(|k| k + first));
    let bars = (0..row).map(|k| [k, k + 1]).chain(of_sheet).chain([[0, row]]);
    let net = Net::new(&places, &masses).unwrap().bars(bars).unwrap();
    let mut cloth = IbdsCloth::new("both", net).unwrap();
    cloth.pin(&[first]).unwrap();
    let mut cloth = cloth.solver(Solver::Newton).gravity([0.0; 3]);
    // Half a percent too long: each bar by half of what it may be.
    let far = 0.05 * f64::from(row) * 1.005;
    for (k, place) in places[..first as usize].iter_mut().enumerate() {
        place[0] = far / f64::from(row) * k as f64;
    }
    let spins = |k: u32| if k < first { [0.0; 3] } else { [0.0, 0.0, 3.0 * places[k as usize][1]] };
    let speeds: Vec<[f64; 3]> = (0..places.len() as u32).map(spins).collect();
    cloth = cloth.with_positions(&places).unwrap().with_velocities(&speeds).unwrap();
    cloth.follow([0, row].map(|k| Guide::Attachment { own: cloth.particle(k) }).to_vec()).unwrap();
    let motions = [0.0, far].map(|x| {
        let still = Arc::new([HandleState::point([x, 0.0, 1.0], [0.0; 3])]);
        Some(Motion { begin: still.clone(), end: still })
    });
    let mut steps = 0;
    for _ in 0..20 {
        let report = cloth.step(0.005, &Inputs { motions: motions.to_vec(), ..Inputs::default() }).unwrap();
        steps += cloth.counts().newton_steps;
        assert_eq!(report.outcome, Outcome::Converged);
        // What it takes to put all of that right in a step, and not a hundred thousand times that.
        let most = 0.01 * 0.005 * far / (0.005 * 0.005) * 0.005 * 10.0;
        for reaction in &report.reactions {
            assert!(V3::from(reaction.impulse.linear).norm() < most, "{:?} N s of {most}", reaction.impulse);
        }
    }
    assert!(steps >= 20, "{steps}");
}

/// Particles that are sewn together, a link of no length, come together.
#[test]
fn a_seam_closes() {
    for solver in SOLVERS {
        let net = Net::new(&[[0.0; 3], [0.0; 3], [0.1, 0.0, 0.0]], &[1.0; 3]).unwrap().bars([[0, 1], [1, 2]]).unwrap();
        let cloth = IbdsCloth::new("seam", net).unwrap().solver(solver).gravity([0.0; 3]);
        let mut cloth = cloth.with_positions(&[[0.0, 0.03, 0.0], [0.0; 3], [0.1, 0.0, 0.0]]).unwrap();
        let outcomes: Vec<Outcome> = (0..10).map(|_| step(&mut cloth, 0.01).outcome).collect();
        assert_eq!(outcomes[9], Outcome::Converged, "{solver:?}: {outcomes:?}");
        assert!((cloth.positions()[1] - cloth.positions()[0]).norm() < 0.01 * 0.1);
        // Where nothing has a length, a metre is what tolerances are of.
        let net = Net::new(&[[0.0; 3]; 2], &[1.0; 2]).unwrap().bars([[0, 1]]).unwrap();
        let cloth = IbdsCloth::new("seam", net).unwrap().solver(solver).gravity([0.0; 3]);
        let mut cloth = cloth.with_positions(&[[0.0, 0.03, 0.0], [0.0; 3]]).unwrap();
        assert_eq!(step(&mut cloth, 0.01).outcome, Outcome::Converged, "{solver:?}");
        assert!((cloth.positions()[1] - cloth.positions()[0]).norm() < 1e-5);
    }
}
