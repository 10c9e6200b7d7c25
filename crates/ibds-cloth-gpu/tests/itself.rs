//! A cloth on a device that meets itself: particles as balls.

mod device;
mod floor;

use device::{gpu, is_there};
use floor::{floor, from_to, still};
use nalgebra::{Isometry3, Vector3};
use partita_ibds_cloth::Net;
use partita_ibds_cloth_gpu::{IbdsClothGpu, Solver};
use partita_simulator::{Inputs, Outcome, Simulator};

type V3 = Vector3<f64>;

const H: f64 = 0.01;
const G: f64 = 9.81;
/// How far apart particles are kept `[m]`, and how exactly.
const D: f64 = 0.1;
const ENOUGH: f64 = 0.1 * D;

/// Particles that nothing joins and nothing pulls.
fn particles(places: &[[f64; 3]], masses: &[f64], velocities: &[[f64; 3]]) -> IbdsClothGpu {
    let cloth = IbdsClothGpu::new("particles", Net::new(places, masses).unwrap(), &gpu()).unwrap();
    let cloth = cloth.with_velocities(velocities).unwrap().self_contact(true).self_distance(Some(D));
    cloth.gravity([0.0; 3]).friction(0.0)
}

fn step(cloth: &mut IbdsClothGpu) -> Outcome {
    cloth.step(H, Inputs::NONE).unwrap().outcome
}

fn nearest(x: &[V3], is_asked: impl Fn(usize, usize) -> bool) -> f64 {
    let pairs = (0..x.len()).flat_map(|j| (0..j).map(move |i| (i, j))).filter(|(i, j)| is_asked(*i, *j));
    pairs.map(|(i, j)| (x[j] - x[i]).norm()).fold(f64::INFINITY, f64::min)
}

fn momentum(cloth: &IbdsClothGpu, masses: &[f64]) -> [V3; 2] {
    let (x, v) = (cloth.positions(), cloth.velocities());
    let each = || masses.iter().zip(x.iter().zip(v));
    [each().map(|(m, (_, v))| *m * v).sum(), each().map(|(m, (x, v))| *m * x.cross(v)).sum()]
}

/// Two particles that meet head-on go on with the mean of their velocities by mass, a distance apart, however fast they come, up to so
/// fast that the step says so.
#[test]
fn particles_that_meet_go_on_together() {
    if !is_there() {
        return;
    }
    for solver in [Solver::Links, Solver::Paths] {
        for speed in [0.5, 5.0, 50.0, 150.0] {
            let (masses, velocities) = ([1.0, 3.0], [[0.6 * speed, 0.0, 0.0], [-0.4 * speed, 0.0, 0.0]]);
            let mut cloth = particles(&[[0.0; 3], [0.3, 0.0, 0.0]], &masses, &velocities)
                .solver(solver)
                .velocity_tolerance(Some(1e-4));
            let steps = (0.3 / speed / H) as usize + 2;
            for _ in 0..steps {
                assert_eq!(step(&mut cloth), Outcome::Converged, "{speed} m/s");
            }
            let apart = cloth.positions()[1] - cloth.positions()[0];
            assert!((apart.norm() - D).abs() < 1e-6 && apart.x > 0.0, "{speed} m/s: {apart:?}");
            for v in cloth.velocities() {
                assert!((v - V3::new(-0.15 * speed, 0.0, 0.0)).norm() < 1e-4 + 1e-5 * speed, "{speed} m/s: {v:?}");
            }
            let [p, _] = momentum(&cloth, &masses);
            assert!((p - V3::new(-0.6 * speed, 0.0, 0.0)).norm() < 2e-6 * speed, "{p:?}");
        }
        let mut fast = particles(&[[0.0; 3], [30.0, 0.0, 0.0]], &[1.0; 2], &[[170.0, 0.0, 0.0], [0.0; 3]]);
        let Outcome::StoppedAt { error, bound, unit } = step(&mut fast) else { panic!("fast") };
        assert!(
            (error - 1.7).abs() < 1e-5 && (bound - 1.6).abs() < 1e-12 && unit.starts_with("m of motion"),
            "{error} {bound} {unit}"
        );
    }
}

/// A particle that comes to one that is held at a slant loses what friction takes: no more than its coefficient of what the push was, and no
/// more than it slides.
#[test]
fn friction_is_coulombs() {
    if !is_there() {
        return;
    }
    for (friction, expected) in [(0.0, 1.0), (0.25, 0.75), (2.0, 0.0)] {
        // They touch in the middle of a short step; the line between them turns by a hundredth meanwhile.
        let (dt, begin) = (0.01 * D, [1.0, -1.0, 0.0]);
        let mut cloth = particles(&[[0.0; 3], [0.0, D + 0.5 * dt, 0.0]], &[1.0, 2.0], &[[0.0; 3], begin]);
        cloth.pin(&[0]).unwrap();
        let mut cloth = cloth.friction(friction).velocity_tolerance(Some(1e-4));
        assert_eq!(cloth.step(dt, Inputs::NONE).unwrap().outcome, Outcome::Converged);
        let v = cloth.velocities()[1];
        assert!(v.y.abs() < 0.02 && (v.x - expected).abs() < 0.02, "{friction}: {v:?}");
        let given = V3::from(cloth.ledger().unwrap().external.unwrap().linear);
        let gained = 2.0 * (v - V3::from(begin));
        assert!((given - gained).norm() < 1e-5, "{friction}: {given:?} for {gained:?}");
    }
}

/// Particles that begin too near, even at one place, are led apart slowly, and part.
#[test]
fn what_is_too_near_is_led_apart() {
    if !is_there() {
        return;
    }
    for begin in [0.0, 0.5 * D] {
        let mut cloth = particles(&[[0.0; 3], [0.0, begin, 0.0]], &[1.0, 2.0], &[[0.0; 3]; 2]);
        for k in 0..20 {
            assert_eq!(step(&mut cloth), Outcome::Converged);
            let [x, v] = [cloth.positions(), cloth.velocities()].map(|of| (of[1] - of[0]).norm());
            // Six times a second what they lack at first, and no step more.
            assert!((v - 6.0 * (D - begin)).abs() < 1e-5, "{k}: {v} m/s");
            assert!((x - begin - H * v * f64::from(k + 1)).abs() < 1e-6, "{k}: {x} m");
        }
        assert!((cloth.positions()[1] - cloth.positions()[0]).norm() > D);
    }
}

/// Numbers from 0 to 1 that look like chance.
fn wild(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 33) as f64 / f64::from(1_u32 << 31)
}

/// Four hundred particles of masses 100 apart, thrown at each other in a space that they fill to a third: whatever a step does, none is
/// nearer to another than it may be, unless the step says so, and momentum is what it was. All pairs are looked at here, none of a grid.
#[test]
fn none_comes_too_near_in_a_crowd() {
    if !is_there() {
        return;
    }
    let mut seed = 7;
    let cell = |k: u32, axis: u32| 1.3 * D * f64::from(k / 8_u32.pow(axis) % 8);
    let mut vector = |of: f64| [0; 3].map(|_| of * (wild(&mut seed) - 0.5));
    let places: Vec<[f64; 3]> = (0..400)
        .map(|k| {
            let jitter = vector(0.2 * D);
            [0, 1, 2].map(|axis| cell(k, axis as u32) + jitter[axis])
        })
        .collect();
    let masses: Vec<f64> = (0..400).map(|k| 10_f64.powf(f64::from(k % 5) / 2.0 - 1.0)).collect();
    // Towards the middle, and by chance.
    let velocities: Vec<[f64; 3]> = places
        .iter()
        .map(|x| {
            let other = vector(6.0);
            [0, 1, 2].map(|axis| -5.0 * (x[axis] - 0.45) + other[axis])
        })
        .collect();
    let make = || particles(&places, &masses, &velocities).max_iterations(400);
    let (mut cloth, mut again) = (make(), make());
    let [p, l] = momentum(&cloth, &masses);
    let scale: f64 = masses.iter().zip(&velocities).map(|(m, v)| m * V3::from(*v).norm()).sum();
    let mut met = 0;
    for k in 0..60 {
        let outcome = step(&mut cloth);
        assert_eq!(outcome, Outcome::Converged, "{k}");
        assert!(step(&mut again) == outcome && cloth.positions() == again.positions(), "{k}: other bits");
        let least = nearest(cloth.positions(), |_, _| true);
        assert!(least > D - 1.001 * ENOUGH, "{k}: {least} m");
        met += u32::from(least < D);
    }
    assert!(met > 20, "{met}");
    // What a single sweep does not put right is told.
    let mut hasty = make().max_iterations(1);
    let told = (0..20).find_map(|_| match step(&mut hasty) {
        Outcome::StoppedAt { error, unit, .. } => Some((error, unit)),
        Outcome::Converged => None,
    });
    let (error, unit) = told.unwrap();
    let least = nearest(hasty.positions(), |_, _| true);
    assert!(unit == "of the distance from itself" && error > 0.1 && least < D - ENOUGH, "{error} {unit}, {least} m");
    let [q, t] = momentum(&cloth, &masses);
    // Pushes are along the lines that particles end on, as those of links are, so that angular momentum is kept to the first order.
    assert!((p - q).norm() < 1e-6 * scale && (l - t).norm() < 0.01 * scale, "{p:?} {q:?}, {l:?} {t:?} of {scale}");
}

/// A grid of n x n particles, a link apart, at a height, as net.
fn sheet_at(n: u32, link: f64, heights: &[f64]) -> (Net, u32) {
    let side = n + 1;
    let mut places = vec![];
    let mut bars = vec![];
    for (number, height) in (0..).zip(heights) {
        let first = number * side * side;
        for k in 0..side * side {
            let shift = 0.5 * link * f64::from(number);
            let [x, z] = [k % side, k / side];
            places.push([link * f64::from(x) + shift, *height, link * f64::from(z) + 0.6 * shift]);
            bars.extend((x < n).then_some([first + k, first + k + 1]));
            bars.extend((z < n).then_some([first + k, first + k + side]));
        }
    }
    let net = Net::new(&places, &vec![0.001; places.len()]).unwrap().bars(bars).unwrap();
    (net, side * side)
}

/// A sheet falls on one that is held all along, and lies there: no particle of one comes through the other, it comes to rest with friction,
/// and who holds the lower one bears the weight of both. The same bits twice, also with going back.
#[test]
fn a_sheet_lies_on_another() {
    if !is_there() {
        return;
    }
    let make = || {
        let (net, each) = sheet_at(8, 0.1, &[0.0, 0.2]);
        let mut cloth = IbdsClothGpu::new("sheets", net, &gpu()).unwrap();
        cloth.pin(&(0..each).collect::<Vec<u32>>()).unwrap();
        cloth.self_contact(true).self_distance(Some(D)).friction(0.5).max_iterations(400)
    };
    let each = 81;
    let mut cloth = make();
    let mut before = 0.0;
    for k in 0..100 {
        assert_eq!(step(&mut cloth), Outcome::Converged, "{k}");
        let least = nearest(cloth.positions(), |i, j| i < each && j >= each);
        assert!(least > D - 1.001 * ENOUGH, "{k}: {least} m");
        if k == 49 {
            before = cloth.ledger().unwrap().external.unwrap().linear[1];
        }
    }
    let upper = &cloth.positions()[each..];
    // A particle lies on four others no lower than this, at the rim on fewer.
    let lowest = upper.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    assert!(lowest > 0.0 && lowest < D, "{lowest} m");
    let fastest = cloth.velocities().iter().map(|v| v.norm()).fold(0.0, f64::max);
    assert!(fastest < 0.1, "{fastest} m/s");
    let given = cloth.ledger().unwrap().external.unwrap().linear[1] - before;
    assert!(given.abs() < 0.01 * 0.5 * 0.081 * G, "{given} N s");

    let mut again = make();
    for k in 0..100 {
        if k % 9 == 4 {
            let mark = again.snapshot(None);
            step(&mut again);
            again.retract(&mark).unwrap();
        }
        step(&mut again);
    }
    assert!(again.snapshot(None).to_bytes() == cloth.snapshot(None).to_bytes());
}

/// Unless a distance is said, nothing comes through the meshes of a net of squares, wherever and however fast it comes.
#[test]
fn nothing_comes_through_a_mesh() {
    if !is_there() {
        return;
    }
    let (sheet, each) = sheet_at(20, D, &[0.0]);
    let mut seed = 3;
    for (speed, slant) in [(0.3, 0.0), (3.0, 0.5), (30.0, 0.2), (100.0, 0.0)] {
        // A particle a cell and a half from the next, at another place in each, and the last in the middle.
        let mut places: Vec<[f64; 3]> = sheet.positions().iter().map(|&x| x.into()).collect();
        let spots = (0..25).map(|k| [k % 5, k / 5].map(|n| (3.0 + 3.0 * f64::from(n) + wild(&mut seed)) * D));
        places.extend(spots.chain([[19.5 * D; 2]]).map(|[x, z]| [x, 0.15, z]));
        let mut velocities = vec![[0.0; 3]; each as usize];
        velocities.resize(places.len(), [slant * speed, -speed, -0.3 * slant * speed]);
        let net = Net::new(&places, &vec![0.01; places.len()]).unwrap();
        let net = net.bars(sheet.links().iter().map(|link| link.particles)).unwrap();
        let mut cloth = IbdsClothGpu::new("net", net, &gpu()).unwrap();
        cloth.pin(&(0..each).collect::<Vec<u32>>()).unwrap();
        let mut cloth = cloth.with_velocities(&velocities).unwrap().self_contact(true).max_iterations(400);
        for _ in 0..(0.3 / speed / H) as usize + 30 {
            assert_eq!(step(&mut cloth), Outcome::Converged, "{speed} m/s");
        }
        // What bounced off sideways may have left the sheet.
        let inside = |x: &&V3| (0.0..2.0).contains(&x.x) && (0.0..2.0).contains(&x.z);
        let loose = &cloth.positions()[each as usize..];
        let lowest = loose.iter().filter(inside).map(|x| x.y).fold(f64::INFINITY, f64::min);
        let inside = loose.iter().filter(inside).count();
        assert!(lowest > 0.0 && inside >= 10, "{speed} m/s: {lowest} m, {inside} of {}", loose.len());
    }
}

/// Three sheets fall on a floor together and lie there in the order that they came in, since what is stopped by the floor stops what is above.
#[test]
fn sheets_lie_on_each_other_on_a_floor() {
    if !is_there() {
        return;
    }
    let (net, each) = sheet_at(6, D, &[0.3, 0.45, 0.6]);
    let mut cloth = IbdsClothGpu::new("sheets", net, &gpu()).unwrap();
    cloth.follow(vec![floor(0.5, 0.0)]).unwrap();
    let down = vec![[0.0, -4.0, 0.0]; 3 * each as usize];
    let mut cloth = cloth.with_velocities(&down).unwrap().self_contact(true).self_distance(Some(D)).max_iterations(400);
    for k in 0..100 {
        let outcome = cloth.step(H, &still([0.0, -0.1, 0.0])).unwrap().outcome;
        let of = |k: usize| k / each as usize;
        let least = nearest(cloth.positions(), |i, j| of(i) != of(j));
        assert_eq!(outcome, Outcome::Converged, "{k}");
        assert!(least > D - 1.001 * ENOUGH, "{k}: {least} m");
    }
    let mean = |sheet: u32| {
        let all = &cloth.positions()[(sheet * each) as usize..][..each as usize];
        all.iter().map(|x| x.y).sum::<f64>() / f64::from(each)
    };
    let heights = [0, 1, 2].map(mean);
    // Particles of the next are above cells, no lower than 0.7 of a link, and some may have rolled off the rim.
    assert!(heights[0] < 0.01 && heights[1] > 0.6 * D && heights[2] > heights[1] + 0.5 * D, "{heights:?}");
}

/// A chain that falls in a heap on itself: what is joined and beside each other at rest is let be, all else stays apart.
#[test]
fn a_chain_falls_in_a_heap() {
    if !is_there() {
        return;
    }
    let place = |k: u32| {
        let k = f64::from(k);
        [0.02 * (1.3 * k).sin(), 0.05 + 0.99 * D * k, 0.02 * (1.7 * k).cos()]
    };
    let net = Net::new(&(0..21).map(place).collect::<Vec<_>>(), &[0.01; 21]).unwrap();
    let net = net.bars((0..20).map(|k| [k, k + 1])).unwrap();
    let mut cloth = IbdsClothGpu::new("chain", net, &gpu()).unwrap();
    cloth.follow(vec![floor(0.3, 0.0)]).unwrap();
    let mut cloth = cloth.self_contact(true).self_distance(Some(D)).max_iterations(400);
    let mut met = 0;
    for k in 0..150 {
        let outcome = cloth.step(H, &still([0.0, -0.1, 0.0])).unwrap().outcome;
        assert_eq!(outcome, Outcome::Converged, "{k}");
        let least = nearest(cloth.positions(), |i, j| j - i > 1);
        assert!(least > D - 1.001 * ENOUGH, "{k}: {least} m");
        met += u32::from(least < D + ENOUGH);
    }
    let highest = cloth.positions().iter().map(|x| x.y).fold(0.0, f64::max);
    assert!(met > 50 && highest < 0.4, "{met} {highest} m");
}

/// Where more come together than there was room for, the step is taken anew with more: the same bits as where there was room all along.
#[test]
fn there_is_room_for_all_pairs() {
    if !is_there() {
        return;
    }
    let places: Vec<[f64; 3]> = (0..60).map(|k| [0.001 * f64::from(k), 0.002 * f64::from(k % 7), 0.0]).collect();
    let make = || particles(&places, &vec![1.0; places.len()], &vec![[0.0; 3]; places.len()]);
    let (mut cloth, mut again) = (make(), make());
    // All with all: 3,540 in two lists, and room for 1,024 at first. The second has had to make room before.
    let mark = again.snapshot(None);
    step(&mut again);
    again.retract(&mark).unwrap();
    for _ in 0..5 {
        assert_eq!(step(&mut cloth), step(&mut again));
    }
    assert!(cloth.snapshot(None).to_bytes() == again.snapshot(None).to_bytes());
    assert!(
        nearest(cloth.positions(), |_, _| true)
            > 2.0 * nearest(&places.iter().map(|x| V3::from(*x)).collect::<Vec<_>>(), |_, _| true)
    );
}

/// More than a particle can meet at once is an error, and changes nothing.
#[test]
fn a_crowd_is_refused() {
    if !is_there() {
        return;
    }
    let places: Vec<[f64; 3]> = (0..300).map(|k| [1e-4 * f64::from(k), 0.0, 0.0]).collect();
    let mut cloth = particles(&places, &vec![1.0; places.len()], &vec![[0.0; 3]; places.len()]);
    for _ in 0..2 {
        let error = cloth.step(H, Inputs::NONE).unwrap_err().to_string();
        assert!(error.contains("256") && error.contains("self_distance"), "{error}");
        assert!(cloth.time() == 0.0 && cloth.positions()[299] == V3::from(places[299]));
    }
    let mut fewer = cloth.self_distance(Some(1e-3));
    step(&mut fewer);
}

/// In parts of a step, with a velocity loop, in real time, with going back: the same bits and reports, however often flags are looked at and
/// however much room there was.
#[test]
fn the_same_step_gives_the_same_bits() {
    if !is_there() {
        return;
    }
    for real_time in [false, true] {
        let make = || {
            let (net, each) = sheet_at(6, D, &[0.0, 0.12]);
            let down = [vec![[0.0; 3]; each as usize], vec![[0.5, -8.0, 0.0]; each as usize]].concat();
            let mut cloth = IbdsClothGpu::new("sheets", net, &gpu()).unwrap();
            cloth.pin(&[0, 6, 42, 48]).unwrap();
            let cloth = cloth.with_velocities(&down).unwrap().self_contact(true).self_distance(Some(0.3));
            cloth.substeps(2).velocity_tolerance(Some(0.01)).max_iterations(40).real_time(real_time)
        };
        let (mut cloth, mut again) = (make(), make());
        for _ in 0..12 {
            let mark = again.snapshot(None);
            let first = again.step(H, Inputs::NONE).unwrap();
            again.retract(&mark).unwrap();
            let second = again.step(H, Inputs::NONE).unwrap();
            let alone = cloth.step(H, Inputs::NONE).unwrap();
            assert!(first == alone && second == alone, "{first:?}, {second:?}, {alone:?}");
        }
        assert!(again.snapshot(None).to_bytes() == cloth.snapshot(None).to_bytes());
    }
}

/// What slides on something that lies on a floor is stopped by friction as Coulomb says, in v² / 2 μ g, though where both fall neither is
/// predicted to meet the other.
#[test]
fn what_slides_on_a_layer_is_stopped() {
    if !is_there() {
        return;
    }
    // So short a way that it is level: by its square over twice the distance, a hundredth of a degree.
    let (friction, speed, dt, low) = (0.4, 0.05, 1e-3, 1.5e-3);
    let places = [[0.0, low, 0.0], [0.0, low + D, 0.0]];
    let mut cloth = particles(&places, &[1e3, 1.0], &[[0.0; 3], [speed, 0.0, 0.0]]);
    cloth.follow(vec![floor(10.0, 0.0)]).unwrap();
    let mut cloth = cloth.gravity([0.0, -G, 0.0]).friction(friction);
    for _ in 0..30 {
        assert_eq!(cloth.step(dt, &still([0.0, -0.1, 0.0])).unwrap().outcome, Outcome::Converged);
    }
    let [x, v] = [cloth.positions()[1], cloth.velocities()[1]];
    // Where velocities act after forces do, half a step's way less; and the rest of a step's friction.
    let expected = speed * speed / (2.0 * friction * G) - 0.5 * speed * dt;
    assert!((x.x - expected).abs() < 0.05 * expected && v.norm() < 0.01 * speed, "{} m of {expected}, {v:?}", x.x);

    // A floor that comes up takes the lower one to the other, which would have stayed away from it, and sticks to it then.
    let places = [[0.0, low, 0.0], [0.0, low + 1.1 * D, 0.0]];
    let mut cloth = particles(&places, &[1e3, 1.0], &[[0.0; 3], [speed, 0.0, 0.0]]);
    cloth.follow(vec![floor(10.0, 0.0)]).unwrap();
    let mut cloth = cloth.friction(10.0);
    let [begin, end] = [-0.1, -0.1 + 0.3 * D].map(|y| Isometry3::translation(0.0, y, 0.0));
    assert_eq!(cloth.step(dt, &from_to(&begin, &end)).unwrap().outcome, Outcome::Converged);
    let v = cloth.velocities()[1];
    assert!(v.y > 0.1 * D / dt && v.x.abs() < 0.1 * speed, "{v:?}");
}

/// What is joined and beside each other at rest does not meet, though it is nearer than the distance.
#[test]
fn what_is_beside_at_rest_is_let_be() {
    if !is_there() {
        return;
    }
    let (net, _) = sheet_at(6, D, &[0.0]);
    let mut cloth = IbdsClothGpu::new("sheet", net.clone(), &gpu()).unwrap().gravity([0.0; 3]);
    cloth = cloth.self_contact(true).self_distance(Some(1.5 * D));
    assert_eq!(step(&mut cloth), Outcome::Converged);
    let moved = cloth.positions().iter().zip(net.positions()).map(|(x, rest)| (x - rest).norm()).fold(0.0, f64::max);
    // Places are rounded.
    assert!(moved < 1e-6, "{moved} m");
}

/// What is wrong is told; what is far away or as fast as numbers go ends in an error and changes nothing.
#[test]
fn what_is_wrong_is_refused() {
    if !is_there() {
        return;
    }
    let make = || particles(&[[0.0; 3], [3.0, 0.0, 0.0]], &[1.0; 2], &[[0.0; 3]; 2]);
    for (distance, expected) in [
        (Some(-1.0), "self_distance [m]"),
        (Some(f64::NAN), "self_distance [m]"),
        (Some(1e-8), "from 1e-6 to 1e3"),
        (Some(1e-5), "32 bits"),
    ] {
        let mut cloth = make().self_distance(distance);
        let error = cloth.step(H, Inputs::NONE).unwrap_err().to_string();
        assert!(error.contains(expected), "{distance:?}: {error}");
        assert!(cloth.time() == 0.0);
    }
    let net = Net::new(&[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], &[1.0; 3]).unwrap();
    let mut loose = IbdsClothGpu::new("loose", net.triangles(&[[0, 1, 2]]).unwrap(), &gpu()).unwrap();
    let error = loose.step(H, Inputs::NONE).unwrap_err().to_string();
    assert!(error.contains("self_distance: expected a distance, where no link has a length"), "{error}");
    assert!(loose.self_contact(false).step(H, Inputs::NONE).is_ok());
    let mut fast = make().with_velocities(&[[3e38, 0.0, 0.0], [-3e38, 3e38, 0.0]]).unwrap();
    assert!(fast.step(1e3, Inputs::NONE).is_err() && fast.time() == 0.0);
    let mut far = make().with_positions(&[[1e30, 0.0, 0.0], [-1e30, 1e20, 0.0]]).unwrap();
    assert!(far.step(H, Inputs::NONE).is_err() && far.time() == 0.0);
}
