//! Particles that keep their distance from each other: contacts of balls ([BDB09] section 3.4).

use nalgebra::Vector3;
use partita_ibds_cloth::{IbdsCloth, Net, Optimisations, Solver};
use partita_simulator::{Inputs, Outcome, Simulator, simulator_laws};

type V3 = Vector3<f64>;

const H: f64 = 0.01;
const G: f64 = 9.81;
const SOLVERS: [Solver; 6] = [
    Solver::Auto,
    Solver::Newton,
    Solver::Paths,
    Solver::GaussSeidel(Optimisations::NONE),
    Solver::GaussSeidel(Optimisations { anticipation: false, ..Optimisations::ALL }),
    Solver::GaussSeidel(Optimisations::ALL),
];

fn step(cloth: &mut IbdsCloth) {
    assert_eq!(cloth.step(H, Inputs::NONE).unwrap().outcome, Outcome::Converged);
}

/// A sheet of 11 x 11 particles that sags between two edges, and a ball above it.
fn ball_on_a_sheet() -> IbdsCloth {
    let place = |k: u32| {
        let [x, z] = [k % 11, k / 11].map(|k| 0.1 * f64::from(k));
        [0.97 * x, -0.4 * x * (1.0 - x), z]
    };
    let mut positions: Vec<[f64; 3]> = (0..121).map(place).collect();
    let mut masses = vec![0.01; 121];
    positions.push([0.485, 0.12, 0.5]);
    masses.push(1.0);
    let along = (0..121).filter(|k| k % 11 < 10).map(|k| [k, k + 1]);
    let net = Net::new(&positions, &masses).unwrap().bars(along).unwrap().bars((0..110).map(|k| [k, k + 11])).unwrap();
    let net = net.struts((0..121).map(|k| [121, k]), 0.2).unwrap();
    let mut cloth = IbdsCloth::new("sheet", net).unwrap();
    cloth.pin(&(0..11).flat_map(|row| [11 * row, 11 * row + 10]).collect::<Vec<u32>>()).unwrap();
    cloth
}

fn free() -> IbdsCloth {
    let net = Net::new(&[[0.0; 3], [0.1, 0.0, 0.0]], &[1.0, 2.0]).unwrap().struts([[0, 1]], 0.2).unwrap();
    IbdsCloth::new("balls", net).unwrap()
}

simulator_laws!(ball_on_a_sheet(), dt = 1.0 / 256.0, load = 0.1, free = free());

/// Two balls meet head-on: nothing is given back, so both go on with the mean of their velocities by mass; a third that comes from behind
/// meets both. Nothing holds them together: pulled apart, they part.
#[test]
fn balls_that_meet_go_on_together_and_can_part() {
    for solver in SOLVERS {
        let places = [[0.0; 3], [0.3, 0.0, 0.0], [-0.5, 0.0, 0.0]];
        let net = Net::new(&places, &[1.0, 3.0, 2.0]).unwrap().struts([[0, 1], [0, 2], [1, 2]], 0.2).unwrap();
        let cloth = IbdsCloth::new("balls", net).unwrap().solver(solver).gravity([0.0; 3]).strut_tolerance(1e-6);
        let velocities = [[2.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [4.0, 0.0, 0.0]];
        let mut cloth =
            cloth.with_velocities(&velocities).unwrap().velocity_tolerance(Some(1e-9)).max_iterations(10_000);
        // Of 0.1 m at 3 m/s the last half millimetre is left to the step in which they meet.
        (0..4).for_each(|_| step(&mut cloth));
        for k in [0, 1] {
            assert!((cloth.velocities()[k].x + 0.25).abs() < 1e-6, "{solver:?}: {}", cloth.velocities()[k].x);
        }
        assert_eq!(cloth.velocities()[2].x, 4.0);
        (0..20).for_each(|_| step(&mut cloth));
        let expected = (2.0 - 3.0 + 8.0) / 6.0;
        let gap = |i: usize, j: usize| (cloth.positions()[i] - cloth.positions()[j]).norm();
        let off = cloth.velocities().iter().map(|v| (v.x - expected).abs()).fold(0.0, f64::max);
        // Places right to 1e-6 of 0.2 m are speeds right to that by a step.
        assert!(off < 2e-7 / H, "{solver:?}: {off} m/s");
        assert!(gap(0, 1) >= 0.2 * (1.0 - 1e-6) && gap(0, 2) >= 0.2 * (1.0 - 1e-6), "{solver:?}");

        let away = cloth.velocities().iter().zip([0.0, 1.0, -1.0]).map(|(v, more)| [v.x + more, 0.0, 0.0]);
        let (positions, away): (Vec<[f64; 3]>, Vec<[f64; 3]>) =
            (cloth.positions().iter().map(|x| (*x).into()).collect(), away.collect());
        let net = Net::new(&positions, &[1.0, 3.0, 2.0]).unwrap().struts([[0, 1], [0, 2]], 0.2).unwrap();
        let mut apart = IbdsCloth::new("balls", net).unwrap().solver(solver).gravity([0.0; 3]);
        apart = apart.with_velocities(&away).unwrap().velocity_tolerance(Some(1e-9));
        step(&mut apart);
        let kept =
            apart.velocities().iter().zip(&away).map(|(v, kept)| (v - V3::from(*kept)).norm()).fold(0.0, f64::max);
        assert!(kept < 1e-12, "{solver:?}: {kept} m/s");
    }
}

/// The velocity loop stops no balls that have not met, however much nearer to each other they may come than they have to be: these pass
/// each other 8 mm apart, still coming nearer.
#[test]
fn balls_do_not_meet_at_a_distance() {
    for solver in SOLVERS {
        let net = Net::new(&[[0.0; 3], [0.215, 0.0, 0.0]], &[1.0, 1.0]).unwrap().struts([[0, 1]], 0.2).unwrap();
        let cloth = IbdsCloth::new("balls", net).unwrap().solver(solver).gravity([0.0; 3]).strut_tolerance(0.1);
        let cloth = cloth.with_velocities(&[[0.4, -0.9, 0.0], [-0.4, 0.9, 0.0]]).unwrap();
        let mut cloth = cloth.velocity_tolerance(Some(0.01));
        step(&mut cloth);
        assert_eq!(cloth.velocities()[0], V3::new(0.4, -0.9, 0.0), "{solver:?}");
    }
}

/// Balls on top of each other come to rest a distance apart, and who holds the lowest feels the weight of the others.
#[test]
fn a_column_of_balls_rests_on_the_lowest() {
    for solver in SOLVERS {
        let places: Vec<[f64; 3]> = (0..4).map(|k| [0.0, 0.21 * f64::from(k), 0.0]).collect();
        let masses = [1.0, 0.5, 3.0, 0.1];
        let net = Net::new(&places, &masses).unwrap().struts((1..4).map(|k| [k - 1, k]), 0.2).unwrap();
        let mut cloth = IbdsCloth::new("column", net).unwrap();
        cloth.pin(&[0]).unwrap();
        let mut cloth =
            cloth.solver(solver).velocity_tolerance(Some(1e-6)).strut_tolerance(1e-5).max_iterations(100_000);
        (0..100).for_each(|_| step(&mut cloth));
        let before = cloth.ledger().unwrap().external.unwrap().linear[1];
        (0..100).for_each(|_| step(&mut cloth));
        for k in 1..4 {
            let gap = cloth.positions()[k].y - cloth.positions()[k - 1].y;
            // What is left alone until it is 2 µm too near, and then is put right in a step, goes up by that.
            assert!((gap - 0.2).abs() < 4e-6, "{solver:?}: {gap} m");
            assert!(cloth.velocities()[k].norm() < 1e-3, "{solver:?}: {} m/s", cloth.velocities()[k].norm());
        }
        // Gravity is external too, as is what holds: together nothing but the change of momentum, which there is none of.
        let given = cloth.ledger().unwrap().external.unwrap().linear[1] - before;
        assert!(given.abs() < 1e-3 * masses.iter().sum::<f64>() * G, "{solver:?}: {given} N s");
    }
}

/// A ball of eight times the sheet's free mass is caught, without being let through and without getting energy; all solvers agree on where.
#[test]
fn a_ball_is_caught_by_a_sheet() {
    let mut low = vec![];
    for solver in SOLVERS {
        let mut cloth = ball_on_a_sheet().solver(solver).velocity_tolerance(Some(0.01)).max_iterations(100_000);
        let energy = |cloth: &IbdsCloth| cloth.ledger().map(|ledger| ledger.kinetic + ledger.potential).unwrap();
        let begin = energy(&cloth);
        for _ in 0..200 {
            step(&mut cloth);
            let x = cloth.positions();
            let nearest = x[..121].iter().map(|x2| (x2 - x[121]).norm()).fold(f64::INFINITY, f64::min);
            assert!(nearest >= 0.2 * 0.99 - 1e-9, "{solver:?}: {nearest} m");
            // What links are off by and is put right, a millimetre of a kilogram.
            assert!(energy(&cloth) < begin + 1e-3 * G, "{solver:?}: {} J of {begin} J", energy(&cloth));
        }
        let ball = cloth.positions()[121];
        assert!(cloth.velocities()[121].norm() < 0.3, "{solver:?}: {} m/s", cloth.velocities()[121].norm());
        low.push(ball.y);
    }
    // Links 1 % longer or shorter than a metre of them, which sag by a tenth of it: 0.02 m more or less, and struts of 0.2 m by 2 mm.
    let spread =
        low.iter().copied().fold(f64::NEG_INFINITY, f64::max) - low.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(spread < 0.03, "{low:?}");
}

/// What is wrong is said.
#[test]
fn wrong_struts_are_refused() {
    let net = || Net::new(&[[0.0; 3], [1.0, 0.0, 0.0]], &[1.0, 1.0]).unwrap();
    for (ends, distance, told) in [
        ([0, 1], 0.0, "distance that struts keep [m]"),
        ([0, 1], f64::NAN, "distance that struts keep [m]"),
        ([0, 2], 0.1, "strut 0"),
        ([1, 1], 0.1, "strut 0"),
    ] {
        let error = net().struts([ends], distance).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
    assert!(IbdsCloth::new("net", net()).unwrap().strut_tolerance(0.0).checked().is_err());
}
