//! Limits of strain and strain rate.

use std::f64::consts::FRAC_PI_2;

use crate::common::{
    cloth::{elastic, make, plain},
    random::Random,
};
use nalgebra::Vector3;
use partita_avi_cloth::{Limit, Parameters};
use partita_mesh::{Mesh, Side};
use partita_simulator::{HandleState, Inputs, Outcome, Simulator};

type V3 = Vector3<f64>;

const G: f64 = 9.81;

/// A triangle, with legs of 0.1 m along x and down.
fn triangle() -> Mesh {
    Mesh::new(&[[0.0; 3], [0.1, 0.0, 0.0], [0.0, -0.1, 0.0]], &[[0, 2, 1]]).unwrap()
}

/// With limits, of hardly any stiffness.
fn limp() -> Parameters {
    Parameters { limit: Some(Limit::default()), ..plain(elastic().stretch(1e-6).shear(1e-6)) }
}

/// A side between ε_n,lim and ε_c,lim does not grow. One beyond ε_c,lim goes back as fast as it grew, and stays where it
/// did not grow.
#[test]
fn limits_stop_what_grows_and_let_it_rebound() {
    let (mesh, parameters) = (triangle(), limp());
    let span = 1e-3;
    // The other leg is short, so that only this side is beyond its limits.
    let run = |strain: f64, growth: f64| {
        let mut at = mesh.positions();
        at[1][0] *= 1.0 + strain;
        at[2][1] *= 0.5;
        let speeds = [[0.0; 3], [0.1 * growth / span, 0.0, 0.0], [0.0; 3]];
        let cloth = make(mesh.clone(), parameters.clone()).with_positions(&at).unwrap();
        let mut cloth = cloth.with_velocities(&speeds).unwrap().with_spans(&[span]).unwrap();
        cloth.step(5.0 * span, Inputs::NONE).unwrap();
        cloth.stretch()
    };
    // It goes on to its first event before it is stopped. Impulses along it do not turn it.
    for (strain, growth, expected) in
        [(0.08, 0.005, 0.085), (0.09, 0.0, 0.09), (0.2, 0.0, 0.2), (0.2, 0.005, 0.205 - 4.0 * 0.005)]
    {
        let stretch = run(strain, growth);
        assert!((stretch - expected).abs() < 1e-5, "{strain}, {growth}: {stretch} for {expected}");
    }
}

/// Limits add no energy and keep momentum and angular momentum, wherever vertices begin and however fast: up to half
/// beyond their limits, with forces that do next to nothing.
#[test]
fn limits_are_passive() {
    let mesh = Mesh::unstructured([0.5, 0.5], 100, |_| 1.0).unwrap();
    for seed in 0..12 {
        let mut random = Random(seed);
        let mut vector = |size: f64| -> [f64; 3] { (size * random.vector()).into() };
        let at: Vec<_> =
            mesh.positions().iter().map(|x| (V3::from(*x) * 1.2 + V3::from(vector(0.01))).into()).collect();
        let speeds: Vec<_> = at.iter().map(|_| vector(3.0)).collect();
        let spans: Vec<f64> = mesh.triangles().iter().map(|_| 1e-4 * (1.5 + random.number())).collect();
        let cloth = make(mesh.clone(), limp()).with_positions(&at).unwrap().with_velocities(&speeds).unwrap();
        let mut cloth = cloth.with_spans(&spans).unwrap();
        let mut last = cloth.ledger().unwrap();
        let [mut limited, begin] = [0.0, last.kinetic];
        for _ in 0..10 {
            cloth.step(1e-3, Inputs::NONE).unwrap();
            limited += cloth.counts().limited as f64;
            let now = cloth.ledger().unwrap();
            // Forces of 1e-6 N/m on edges of centimetres; else rounding.
            assert!(
                now.kinetic < last.kinetic + 1e-7 * begin,
                "seed {seed}: {} J after {} J",
                now.kinetic,
                last.kinetic
            );
            for (now, last) in [(now.momentum, last.momentum), (now.angular_momentum, last.angular_momentum)] {
                let change = V3::from(now) - V3::from(last);
                assert!(change.norm() < 1e-12, "seed {seed}: {change}");
            }
            last = now;
        }
        assert!(limited > 100.0 && last.kinetic < 0.9 * begin, "{limited}, {} of {begin} J", last.kinetic);
    }
}

/// With limits no edge is longer by more than the tenth that is allowed, though forces alone would let them be much longer (A9).
#[test]
fn edges_keep_their_limits() {
    let mesh = Mesh::unstructured([0.5, 0.5], 300, |_| 1.0).unwrap();
    let n = mesh.vertices().len() as u32;
    let at = |x: f64| (0..n).find(|&v| (mesh.vertices()[v as usize] - V3::new(x, 0.0, 0.0)).norm() < 1e-9).unwrap();
    let corners = [at(0.0), at(0.5)];
    let stretch = |stiffness: f64, limit: Option<Limit>| {
        let parameters =
            Parameters { limit, gravity: [0.0, -G, 0.0], ..plain(elastic().stretch(stiffness).shear(0.5 * stiffness)) };
        let mut cloth = make(mesh.clone().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap(), parameters);
        cloth.pin(&corners).unwrap();
        let mut most: f64 = 0.0;
        for _ in 0..60 {
            cloth.step(1.0 / 30.0, Inputs::NONE).unwrap();
            most = most.max(cloth.stretch());
        }
        most
    };
    let without = stretch(60.0, None);
    assert!(without > 0.3, "{without}");
    // In the second limits bear nearly all of the load.
    for stiffness in [60.0, 6.0] {
        let most = stretch(stiffness, Some(Limit::default()));
        assert!(most < 0.101, "{stiffness} N/m: {most}");
    }
}

/// An element whose side would be strained by more than 2 ε_n,lim at its next event has it as soon as that is so (\[TPS08\] section 4): a
/// side that is strained by 0.1 then, and grows by 0.1 in a span, after half a span.
#[test]
fn an_event_comes_earlier_where_strain_would_be_large() {
    let (mesh, span) = (triangle(), 1e-3);
    let speeds = [[0.0; 3], [0.01 / span, 0.0, 0.0], [0.0; 3]];
    let cloth = make(mesh, limp()).with_velocities(&speeds).unwrap();
    let mut cloth = cloth.with_spans(&[span]).unwrap();
    cloth.record_events();
    cloth.step(1.9 * span, Inputs::NONE).unwrap();
    let times: Vec<f64> = cloth.events().iter().map(|(time, _)| time / span).collect();
    assert!(times.len() == 2 && (times[0] - 1.0).abs() < 1e-9 && (times[1] - 1.5).abs() < 1e-6, "{times:?}");
    assert_eq!(cloth.counts().early, 1);
}

/// Limits that cannot be kept, between two hands that tear at the cloth, are given up after so many looks and left to later events: steps
/// end, and say that they stopped short.
#[test]
fn what_cannot_be_kept_is_given_up_and_told() {
    let mesh = Mesh::grid([6, 6], [0.3, 0.3]).unwrap();
    let mut cloth = make(mesh.clone(), Parameters { limit: Some(Limit::default()), ..plain(elastic()) });
    for (side, sign) in [(Side::Left, -1.0), (Side::Right, 1.0)] {
        let name = format!("{side:?}");
        let tear = move |t: f64| HandleState::point([sign * t, 0.0, 0.0], [sign, 0.0, 0.0]);
        cloth.pin_along(&name, &mesh.edge(side).unwrap(), tear).unwrap();
    }
    let mut given_up = 0;
    for frame in 1..=3 {
        let report = cloth.step(0.01, Inputs::NONE).unwrap();
        given_up += cloth.counts().given_up;
        let torn = 0.02 * f64::from(frame) / 0.3;
        assert!(cloth.stretch() > 0.99 * torn);
        let told = matches!(report.outcome, Outcome::StoppedAt { error, bound: 0.1, .. } if error == cloth.stretch());
        assert_eq!(told, cloth.stretch() > 0.101, "{:?}", report.outcome);
    }
    assert!(given_up > 0);
}
