//! Limits of strain and strain rate.

mod common {
    pub mod cloth;
}

use std::f64::consts::FRAC_PI_2;

use common::cloth::{elastic, make, plain};
use nalgebra::Vector3;
use partita_avi_cloth::{AviCloth, Limit, Parameters};
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

/// Between ε_n,lim and ε_c,lim a side does not grow, but is not pulled back either; beyond ε_c,lim it is put back, though nothing
/// moves; and neither moves the centre of mass.
#[test]
fn limits_stop_what_grows_and_put_back_what_is_too_long() {
    let (mesh, parameters) = (triangle(), limp());
    let span = 1e-3;
    let run = |strain: f64, growth: f64| {
        let mut at = mesh.positions();
        at[1][0] *= 1.0 + strain;
        let speeds = [[0.0; 3], [0.1 * growth / span, 0.0, 0.0], [0.0; 3]];
        let cloth = make(mesh.clone(), parameters.clone()).with_positions(&at).unwrap();
        let mut cloth = cloth.with_velocities(&speeds).unwrap().with_spans(&[span]).unwrap();
        let centre = |cloth: &AviCloth| -> V3 { cloth.positions().iter().sum::<V3>() / 3.0 };
        let expected = centre(&cloth) + 5.0 * span * V3::from(speeds[1]) / 3.0;
        cloth.step(5.0 * span, Inputs::NONE).unwrap();
        assert!((centre(&cloth) - expected).norm() < 1e-12, "{strain}, {growth}");
        cloth.stretch()
    };
    // It goes on to its first event before it is stopped.
    let stopped = run(0.08, 0.005);
    assert!((0.0845..0.0855).contains(&stopped), "{stopped}");
    let kept = run(0.09, 0.0);
    assert!((kept - 0.09).abs() < 1e-6, "{kept}");
    let back = run(0.2, 0.0);
    assert!((0.095..0.1005).contains(&back), "{back}");
}

/// A side that is too long by little is put back as one that is by much.
#[test]
fn what_is_too_long_by_little_is_put_back() {
    let mesh = triangle();
    let mut at = mesh.positions();
    at[1][0] *= 1.102;
    let mut cloth = make(mesh, limp()).with_positions(&at).unwrap().with_spans(&[1e-3]).unwrap();
    cloth.step(5e-3, Inputs::NONE).unwrap();
    // Slack is 1e-4.
    assert!(cloth.stretch() < 0.1 + 1.001e-4, "{}", cloth.stretch());
}

/// With limits no edge is longer by more than the tenth that is allowed, though forces alone would let them be much longer (A9).
#[test]
fn edges_keep_their_limits() {
    let mesh = Mesh::unstructured([0.5, 0.5], 300, |_| 1.0).unwrap();
    let n = mesh.vertices().len() as u32;
    let at = |x: f64| (0..n).find(|&v| (mesh.vertices()[v as usize] - V3::new(x, 0.0, 0.0)).norm() < 1e-9).unwrap();
    let corners = [at(0.0), at(0.5)];
    let stretch = |limit: Option<Limit>| {
        let parameters = Parameters { limit, gravity: [0.0, -G, 0.0], ..plain(elastic().stretch(60.0).shear(30.0)) };
        let mut cloth = make(mesh.clone().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap(), parameters);
        cloth.pin(&corners).unwrap();
        let mut most: f64 = 0.0;
        for _ in 0..60 {
            cloth.step(1.0 / 30.0, Inputs::NONE).unwrap();
            most = most.max(cloth.stretch());
        }
        most
    };
    assert!(stretch(None) > 0.3, "{}", stretch(None));
    let most = stretch(Some(Limit::default()));
    assert!(most < 0.101, "{most}");
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
