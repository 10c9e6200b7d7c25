//! The reference simulators against exact solutions of their discrete equations.

use std::f64::consts::PI;

use partita_simulator::{
    Guide, HandleState, Inputs, Motion, Simulator, Wrench,
    reference::{Chain, ChainParameters, MassOnSpring, SpringParameters},
};

/// m = 1 kg, k = 100 N/m, so ω = 10 rad/s, released at rest 1 m from the anchor.
fn spring() -> MassOnSpring {
    let parameters = SpringParameters { stiffness: 100.0, ..Default::default() };
    MassOnSpring::new("spring", parameters).unwrap().started_at([1.0, 0.0, 0.0], [0.0; 3]).unwrap()
}

fn position(simulator: &MassOnSpring) -> f64 {
    let mut state = [HandleState::default()];
    simulator.read(&[simulator.mass()], &mut state).unwrap();
    state[0].position[0]
}

/// Symplectic Euler obeys x(n+1) − 2 cos θ x(n) + x(n−1) = 0 with θ = 2 asin(ωh/2). From rest at x₀
/// that is x(n) = x₀ cos((n + ½) θ) / cos(θ/2). Rounding moves the phase by some 1e-16 a step.
#[test]
fn the_spring_is_the_closed_form_of_symplectic_euler() {
    let (h, mut spring) = (0.01, spring());
    let theta = 2.0 * f64::asin(10.0 * h / 2.0);
    for n in 1..=100_000_u32 {
        spring.step(h, Inputs::NONE).unwrap();
        let exact = f64::cos((f64::from(n) + 0.5) * theta) / f64::cos(theta / 2.0);
        assert!((position(&spring) - exact).abs() < 1e-9, "step {n}: {} {exact}", position(&spring));
    }
}

/// Over a million steps the frequency, counted by zero crossings, is 2 asin(ωh/2)/(ωh) = 1.000417 of
/// ω, and the amplitude is the first one to 1 % (it is to 1e-9).
#[test]
fn a_million_steps_keep_the_springs_discrete_frequency_and_amplitude() {
    let (h, mut spring) = (0.01, spring());
    let (mut before, mut crossings, mut highest) = (position(&spring), Vec::new(), 0.0_f64);
    for n in 0..1_000_000_u32 {
        spring.step(h, Inputs::NONE).unwrap();
        let x = position(&spring);
        if before > 0.0 && x <= 0.0 {
            crossings.push((f64::from(n) + before / (before - x)) * h);
        }
        if n >= 999_000 {
            highest = highest.max(x.abs());
        }
        before = x;
    }
    let turns = (crossings.len() - 1) as f64;
    let ratio = 2.0 * PI * turns / (crossings[crossings.len() - 1] - crossings[0]) / 10.0;
    assert!((ratio - 1.000_417).abs() < 1e-6, "{ratio}");
    // A sample lies within half a step of each crest: cos(θ/2) of the amplitude at least, 0.1 % less.
    let amplitude = 1.0 / f64::cos(f64::asin(0.05));
    assert!((highest / amplitude - 1.0).abs() < 0.01, "{highest} {amplitude}");
}

/// h g (1 + 2 + … + n) h = 4.98675 m after 1 s in 60 steps, where the parabola has 4.905 m.
#[test]
fn free_fall_is_that_of_symplectic_euler() {
    let parameters = SpringParameters { gravity: [0.0, -9.81, 0.0], ..Default::default() };
    let mut mass = MassOnSpring::new("falling", parameters).unwrap();
    for _ in 0..60 {
        mass.step(1.0 / 60.0, Inputs::NONE).unwrap();
    }
    let mut state = [HandleState::default()];
    mass.read(&[mass.mass()], &mut state).unwrap();
    assert!((state[0].position[1] + 4.986_75).abs() < 1e-12, "{:?}", state[0]);
}

/// A chain that was hit at one end and tumbles.
fn tumbling(gravity: [f64; 3]) -> Chain {
    let positions: Vec<_> = (0..8).map(|i| [0.1 * f64::from(i), 1.0, 0.05 * f64::from(i * i)]).collect();
    let parameters = ChainParameters { damping: 0.02, gravity, ..Default::default() };
    let mut chain = Chain::new("tumbling", &positions, parameters).unwrap().moving_at([0.5, 2.0, -1.0]).unwrap();
    let hit = Inputs { loads: vec![(chain.point(7), Wrench::force([3.0, -8.0, 20.0]))], ..Inputs::default() };
    chain.step(0.005, &hit).unwrap();
    chain
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt()
}

/// Links pull along themselves in opposite pairs, and symplectic Euler turns x×v at the old x: both
/// momenta stay put up to rounding, some 1e-16 a step.
#[test]
fn a_free_chain_keeps_its_linear_and_angular_momentum() {
    let mut chain = tumbling([0.0; 3]);
    let first = chain.ledger().unwrap();
    for _ in 0..20_000 {
        chain.step(0.005, Inputs::NONE).unwrap();
    }
    let last = chain.ledger().unwrap();
    assert!(distance(first.momentum, last.momentum) < 1e-12, "{first:?} {last:?}");
    // 100 s at 2 m/s carry the chain 230 m off; the sum is of terms of 0.8 kg · 230 m · 2.3 m/s.
    assert!(distance(first.angular_momentum, last.angular_momentum) < 1e-12 * 400.0, "{first:?} {last:?}");
    assert_eq!(first.external, last.external);
}

/// What gravity gave, booked at the place where it acted, is all that momenta gained.
#[test]
fn a_falling_chain_gains_what_its_ledger_calls_external() {
    let mut chain = tumbling([0.0, -9.81, 0.0]);
    let first = chain.ledger().unwrap();
    for _ in 0..400 {
        chain.step(0.005, Inputs::NONE).unwrap();
    }
    let last = chain.ledger().unwrap();
    let external = last.external.unwrap() - first.external.unwrap();
    let sum = |a: [f64; 3], b: [f64; 3]| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
    // The sum has 3,200 terms, each rounded to some 1e-15.
    assert!((external.linear[1] + 8.0 * 0.1 * 9.81 * 2.0).abs() < 1e-11, "{external:?}");
    assert!(distance(last.momentum, sum(first.momentum, external.linear)) < 1e-11);
    assert!(distance(last.angular_momentum, sum(first.angular_momentum, external.angular)) < 1e-10);
}

/// So does the spring's, whose anchor turns it about the origin.
#[test]
fn a_spring_gains_what_its_ledger_calls_external() {
    let parameters = SpringParameters {
        mass: 0.3,
        stiffness: 20.0,
        damping: 0.2,
        anchor: [1.0, 2.0, 0.5],
        gravity: [0.0, -9.81, 0.0],
    };
    let mut mass = MassOnSpring::new("m", parameters).unwrap().started_at([0.2, 2.5, 0.0], [1.0, 0.0, 2.0]).unwrap();
    let first = mass.ledger().unwrap();
    for _ in 0..1_000 {
        mass.step(0.005, Inputs::NONE).unwrap();
    }
    let (last, external) = (mass.ledger().unwrap(), mass.ledger().unwrap().external.unwrap());
    let gained = |a: [f64; 3], b: [f64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    assert!(distance(gained(last.momentum, first.momentum), external.linear) < 1e-11);
    assert!(distance(gained(last.angular_momentum, first.angular_momentum), external.angular) < 1e-11);
}

/// Hung by its first point, the chain comes to rest: the carrier bears the weight n m g, downwards, and
/// link i stretches by the weight below it over k. The slowest mode falls by e^-29 in the 20 s.
#[test]
fn a_hanging_chain_pulls_at_its_carrier_with_its_weight() {
    let (n, h) = (5, 1e-3);
    let positions: Vec<_> = (0..n).map(|i| [0.0, -0.1 * f64::from(i), 0.0]).collect();
    let parameters = ChainParameters { damping: 3.0, ..Default::default() };
    let mut chain = Chain::new("hanging", &positions, parameters).unwrap();
    chain.follow(vec![Guide::Attachment { own: chain.point(0) }]).unwrap();
    let still = HandleState::point([0.0; 3], [0.0; 3]);
    let held =
        Inputs { motions: vec![Some(Motion { begin: [still].into(), end: [still].into() })], ..Inputs::default() };
    let mut pull = Wrench::ZERO;
    for _ in 0..20_000 {
        pull = chain.step(h, &held).unwrap().reactions[0].impulse.scaled(1.0 / h);
    }
    let weight = f64::from(n) * 0.1 * 9.81;
    assert!(distance(pull.linear, [0.0, -weight, 0.0]) < 1e-9 * weight, "{pull:?}");
    assert_eq!(pull.angular, [0.0; 3]);
    for (i, pair) in chain.positions().windows(2).enumerate() {
        let stretch = (f64::from(n - 1) - i as f64) * 0.1 * 9.81 / 100.0;
        assert!(((pair[1] - pair[0]).norm() - 0.1 - stretch).abs() < 1e-9, "link {i}: {pair:?}");
    }
}

/// A point that is dragged along a straight line at constant speed reports what it takes to keep up:
/// first m v against its rest, then nothing, since a single point feels nothing else.
#[test]
fn a_dragged_point_reports_the_impulse_that_its_start_took() {
    let parameters = ChainParameters { gravity: [0.0; 3], ..Default::default() };
    let mut point = Chain::new("point", &[[0.0; 3]], parameters).unwrap();
    point.follow(vec![Guide::Attachment { own: point.point(0) }]).unwrap();
    let at = |k: u32| HandleState::point([0.5 * f64::from(k), 0.0, 0.0], [5.0, 0.0, 0.0]);
    for k in 0..3 {
        let motion = Motion { begin: [at(k)].into(), end: [at(k + 1)].into() };
        let report = point.step(0.1, &Inputs { motions: vec![Some(motion)], ..Inputs::default() }).unwrap();
        let expected = if k == 0 { -0.1 * 5.0 } else { 0.0 };
        assert_eq!(report.reactions[0].impulse.linear, [expected, 0.0, 0.0]);
        let mut state = [HandleState::default()];
        point.read(&[point.point(0)], &mut state).unwrap();
        assert_eq!(state[0], at(k + 1));
    }
}
