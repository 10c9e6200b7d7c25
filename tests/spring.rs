//! A spring between two simulators: a weak force computed outside and injected (\[PD97\] §1.2).

mod common;

use common::free_mass;
use partita::prelude::*;

/// Masses of 1 and 3 kg, 30 N/m, so ω² = k (1/m₁ + 1/m₂) = 40 /s². The force of a window is that of
/// its begin, which makes the pair symplectic Euler: from rest, with cos θ = 1 − (ω h)²/2, the
/// stretch after n windows is D cos((n + ½) θ)/cos(θ/2).
#[test]
fn two_masses_on_a_spring_follow_the_discrete_solution() {
    let (h, stretch, rest) = (1.0 / 64.0, 0.2, 0.5);
    let a = free_mass("a", 1.0);
    let b = free_mass("b", 3.0).started_at([0.0, rest + stretch, 0.0], [0.0; 3]).unwrap();
    let (first, second) = (a.mass(), b.mass());
    let mut scene = Scene::new(Rate::seconds(h));
    scene.spring(first, second).stiffness(30.0).rest_length(rest);
    scene.add(a).add(b);
    let mut run = scene.build().unwrap();
    let theta = (1.0 - 0.5 * 40.0 * h * h).acos();
    for n in 1..=1000 {
        run.advance().unwrap();
        let (x, y) = (run.state(first).unwrap(), run.state(second).unwrap());
        let exact = stretch * ((f64::from(n) + 0.5) * theta).cos() / (0.5 * theta).cos();
        // Rounding, which grows with the number of windows.
        assert!((y.position[1] - x.position[1] - rest - exact).abs() < 1e-11, "window {n}");
        assert!((x.velocity[1] + 3.0 * y.velocity[1]).abs() < 1e-13, "window {n}: momentum");
    }
}

/// A damped spring ends at its rest length, at rest.
#[test]
fn damping_brings_a_spring_to_rest() {
    let a = free_mass("a", 1.0);
    let b = free_mass("b", 1.0).started_at([0.8, 0.0, 0.6], [0.0; 3]).unwrap();
    let (first, second) = (a.mass(), b.mass());
    let mut scene = Scene::new(Rate::hz(128));
    scene.spring(first, second).stiffness(50.0).damping(4.0).rest_length(0.5);
    scene.add(a).add(b);
    let mut run = scene.build().unwrap();
    run.for_seconds(10.0).unwrap();
    let (x, y) = (run.state(first).unwrap(), run.state(second).unwrap());
    let d: Vec<f64> = (0..3).map(|i| y.position[i] - x.position[i]).collect();
    let length = d.iter().map(|x| x * x).sum::<f64>().sqrt();
    // Damping ratio 4 s⁻¹ over 10 s leaves e⁻⁴⁰ of the stretch.
    assert!((length - 0.5).abs() < 1e-12 && x.velocity.iter().all(|v| v.abs() < 1e-12), "{length} {x:?}");
}
