//! Particles that keep their distance from each other, on a device.

mod device;

use device::{gpu, is_there};
use partita_ibds_cloth::{IbdsCloth, Net};
use partita_ibds_cloth_gpu::{IbdsClothGpu, Solver};
use partita_simulator::{Inputs, Outcome, Simulator};

const H: f64 = 0.01;
const G: f64 = 9.81;
const SOLVERS: [Solver; 2] = [Solver::Links, Solver::Paths];

fn balls(places: &[[f64; 3]], masses: &[f64], pairs: &[[u32; 2]]) -> IbdsClothGpu {
    let net = Net::new(places, masses).unwrap().struts(pairs.iter().copied(), 0.2).unwrap();
    IbdsClothGpu::new("balls", net, &gpu()).unwrap()
}

fn step(cloth: &mut impl Simulator) {
    assert_eq!(cloth.step(H, Inputs::NONE).unwrap().outcome, Outcome::Converged);
}

/// As on the CPU: two balls that meet go on with the mean of their velocities by mass, a third from behind meets both; pulled apart, they part.
#[test]
fn balls_that_meet_go_on_together_and_can_part() {
    if !is_there() {
        return;
    }
    for solver in SOLVERS {
        let cloth = balls(&[[0.0; 3], [0.3, 0.0, 0.0], [-0.5, 0.0, 0.0]], &[1.0, 3.0, 2.0], &[[0, 1], [0, 2], [1, 2]]);
        let cloth = cloth.solver(solver).gravity([0.0; 3]).strut_tolerance(1e-5).max_iterations(1000);
        let velocities = [[2.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [4.0, 0.0, 0.0]];
        let mut cloth = cloth.with_velocities(&velocities).unwrap().velocity_tolerance(Some(1e-5));
        (0..4).for_each(|_| step(&mut cloth));
        for k in [0, 1] {
            assert!((cloth.velocities()[k].x + 0.25).abs() < 1e-5, "{solver:?}: {}", cloth.velocities()[k].x);
        }
        assert_eq!(cloth.velocities()[2].x, 4.0);
        (0..20).for_each(|_| step(&mut cloth));
        // Places right to 1e-5 of 0.2 m are speeds right to that by a step.
        let expected = (2.0 - 3.0 + 8.0) / 6.0;
        let off = cloth.velocities().iter().map(|v| (v.x - expected).abs()).fold(0.0, f64::max);
        assert!(off < 2e-6 / H, "{solver:?}: {off} m/s");
        let gap = |i: usize, j: usize| (cloth.positions()[i] - cloth.positions()[j]).norm();
        assert!(gap(0, 1) >= 0.2 * (1.0 - 2e-5) && gap(0, 2) >= 0.2 * (1.0 - 2e-5), "{solver:?}");

        let away = [[0.3, 0.0, 0.0], [0.5, 0.1, 0.0]];
        let apart = balls(&[[0.0; 3], [0.2, 0.0, 0.0]], &[1.0, 3.0], &[[0, 1]]).solver(solver).gravity([0.0; 3]);
        let mut apart = apart.with_velocities(&away).unwrap().velocity_tolerance(Some(1e-5));
        step(&mut apart);
        let kept = apart
            .velocities()
            .iter()
            .zip(away)
            .all(|(v, kept)| <[f64; 3]>::from(*v).map(|x| x as f32) == kept.map(|x| x as f32));
        assert!(kept, "{solver:?}: {:?}", apart.velocities());
    }
}

/// Balls at one place part, one way or another.
#[test]
fn balls_at_one_place_part() {
    if !is_there() {
        return;
    }
    for solver in SOLVERS {
        let mut cloth = balls(&[[1.0; 3]; 2], &[1.0, 3.0], &[[0, 1]]).solver(solver).gravity([0.0; 3]);
        step(&mut cloth);
        let apart = (cloth.positions()[1] - cloth.positions()[0]).norm();
        assert!((apart - 0.2).abs() <= 0.01 * 0.2, "{solver:?}: {apart} m");
    }
}

/// Balls on top of each other rest a distance apart, and who holds the lowest bears the weight of the others.
#[test]
fn a_column_of_balls_rests_on_the_lowest() {
    if !is_there() {
        return;
    }
    for solver in SOLVERS {
        let places: Vec<[f64; 3]> = (0..4).map(|k| [0.0, 0.21 * f64::from(k), 0.0]).collect();
        let masses = [1.0, 0.5, 3.0, 0.1];
        let mut cloth = balls(&places, &masses, &[[0, 1], [1, 2], [2, 3]]);
        cloth.pin(&[0]).unwrap();
        let mut cloth = cloth.solver(solver).strut_tolerance(1e-4).max_iterations(10_000);
        (0..60).for_each(|_| step(&mut cloth));
        let before = cloth.ledger().unwrap().external.unwrap().linear[1];
        (0..60).for_each(|_| step(&mut cloth));
        for k in 1..4 {
            // What is left alone until it is 20 µm too near, and then is put right in a step, goes up by that.
            let gap = cloth.positions()[k].y - cloth.positions()[k - 1].y;
            assert!((gap - 0.2).abs() < 4e-5, "{solver:?}: {gap} m");
        }
        // Gravity is external too, as is what holds: together nothing but the change of momentum: 4 kg at the 2 mm/s that 20 µm a step are.
        let given = cloth.ledger().unwrap().external.unwrap().linear[1] - before;
        assert!(given.abs() < 4.0 * 2e-3, "{solver:?}: {given} N s of {}", 0.6 * G * masses.iter().sum::<f64>());
    }
}

/// A ball of eight times the free mass of a sheet that sags between two edges is caught where the CPU's catches it.
#[test]
fn a_ball_is_caught_by_a_sheet() {
    if !is_there() {
        return;
    }
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
    // Those that may come near: each is a group of its own, since all share the ball.
    let near = |k: &u32| (k % 11).abs_diff(5) <= 2 && (k / 11).abs_diff(5) <= 2;
    let net = net.struts((0..121).filter(near).map(|k| [121, k]), 0.2).unwrap();
    let edges: Vec<u32> = (0..11).flat_map(|row| [11 * row, 11 * row + 10]).collect();
    let mut here = IbdsCloth::new("sheet", net.clone()).unwrap();
    let mut there = IbdsClothGpu::new("sheet", net, &gpu()).unwrap();
    here.pin(&edges).unwrap();
    there.pin(&edges).unwrap();
    let mut here = here.velocity_tolerance(Some(0.01)).max_iterations(100_000);
    let mut there = there.velocity_tolerance(Some(0.01)).max_iterations(10_000);
    for _ in 0..100 {
        step(&mut here);
        step(&mut there);
        let x = there.positions();
        let nearest = x[..121].iter().map(|x2| (x2 - x[121]).norm()).fold(f64::INFINITY, f64::min);
        assert!(nearest >= 0.2 * 0.99 - 1e-6, "{nearest} m");
    }
    assert!(there.velocities()[121].norm() < 0.3, "{} m/s", there.velocities()[121].norm());
    // Links of a metre 1 % longer or shorter, of which a sag of a tenth makes 0.02 m, and struts of 0.2 m by 2 mm, as between solvers there.
    let apart = (here.positions()[121] - there.positions()[121]).norm();
    assert!(apart < 0.03, "{apart} m");
}

/// A distance that 32 bits cannot tell where particles are is refused, whatever links may be off by.
#[test]
fn wrong_struts_are_refused() {
    if !is_there() {
        return;
    }
    let cloth = balls(&[[0.0; 3], [3e5, 0.0, 0.0]], &[1.0, 1.0], &[[0, 1]]).extensibility(1e-3);
    let error = cloth.checked().err().unwrap().to_string();
    assert!(error.contains("strut_tolerance [-]") && error.contains("what 32 bits can tell"), "{error}");
    let cloth = balls(&[[0.0; 3], [0.3, 0.0, 0.0]], &[1.0, 1.0], &[[0, 1]]).strut_tolerance(1e-8);
    let error = cloth.checked().err().unwrap().to_string();
    assert!(error.contains("strut_tolerance [-]") && error.contains("0.00000001"), "{error}");
}
