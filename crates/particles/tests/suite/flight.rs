//! Free flight: exact solutions, orders of convergence, and what the ledger says.

use crate::common::*;
use nalgebra::Vector3;
use partita_particles::{Attractor, Emitter, Integration, Particles, Vortex};
use partita_simulator::{Inputs, Simulator, Wrench};

fn one(particles: Particles, x: [f64; 3], v: [f64; 3]) -> Particles {
    let mut particles = particles;
    particles.add(x, v).unwrap();
    particles
}

fn run(particles: &mut Particles, dt: f64, steps: u32) {
    for _ in 0..steps {
        particles.step(dt, Inputs::NONE).unwrap();
    }
}

/// After n steps of h: the parabola g t²/2, symplectic Euler g t (t + h)/2. For 1 s at 1/60: 4.905, 4.98675 m.
#[test]
fn a_fall_is_the_parabola_or_its_symplectic_neighbour() {
    for n in [60u32, 7, 240] {
        let h = 1.0 / f64::from(n);
        let drop = |integration| {
            let mut p = one(Particles::new("p").integration(integration), [0.0; 3], [0.0; 3]);
            run(&mut p, h, n);
            -p.positions()[0].y
        };
        assert!((drop(Integration::Parabola) - 4.905).abs() < 1e-12);
        assert!((drop(Integration::SymplecticEuler) - 0.5 * G * (1.0 + h)).abs() < 1e-12);
    }
}

/// A smooth field that depends on place, speed and time, all with drag, wind and a vortex: halving the
/// step halves (symplectic Euler) or quarters (the parabola) the error. Reference: 64 times finer.
#[test]
fn halving_the_step_shows_the_order() {
    let end = |integration, n: u32| {
        let field =
            |x: [f64; 3], v: [f64; 3], t: f64| [-4.0 * x[0] + 0.3 * t.sin(), -4.0 * x[1] - 0.2 * v[0], x[0] * x[1]];
        let p = Particles::new("p")
            .mass(0.1)
            .drag(0.02)
            .quadratic_drag(0.03)
            .wind([0.4, 0.0, 0.1])
            .integration(integration);
        let p = p.vortex(Vortex { centre: [0.2; 3], axis: [0.0, 2.0, 1.0], circulation: 3.0, core: 0.5 });
        let p =
            p.attractor(Attractor { centre: [1.0, 0.0, 1.0], strength: 2.0, softening: 0.4 }).field("smooth", field);
        let mut p = one(p, [0.5, 0.0, -0.3], [0.0, 1.0, 0.2]);
        run(&mut p, 1.0 / f64::from(n), n);
        p.positions()[0]
    };
    for (integration, ratio, tolerance) in [(Integration::SymplecticEuler, 2.0, 0.1), (Integration::Parabola, 4.0, 0.2)]
    {
        let exact = end(Integration::Parabola, 64 * 320);
        let errors: Vec<f64> = [40, 80, 160, 320].iter().map(|&n| (end(integration, n) - exact).norm()).collect();
        for pair in errors.windows(2) {
            assert!((pair[0] / pair[1] - ratio).abs() < tolerance, "{integration:?}: {errors:?}");
        }
    }
}

/// m = 1, k = 100 through a field of one's own. Symplectic Euler turns by θ with cos θ = 1 − (ωh)²/2 a
/// step, so its frequency is 2 asin(ωh/2)/(ωh) times the true one: 1.000417 at ωh = 0.1.
#[test]
fn a_spring_has_the_frequency_of_symplectic_euler_for_ever() {
    for h in [0.01f64, 0.03] {
        let spring = Particles::new("p").mass(1.0).gravity([0.0; 3]).integration(Integration::SymplecticEuler);
        let mut p = one(spring.field("spring", |x, _, _| x.map(|x| -100.0 * x)), [1.0, 0.0, 0.0], [0.0; 3]);
        // Zero crossings of x, by linear interpolation, are half a period apart.
        let (mut first, mut last, mut count, mut before) = (0.0, 0.0, 0, 1.0);
        let steps = if h == 0.01 { 1_000_000 } else { 100_000 };
        let mut most: f64 = 0.0;
        for i in 1..=steps {
            p.step(h, Inputs::NONE).unwrap();
            let x = p.positions()[0].x;
            if i > steps - 1000 {
                most = most.max(x.abs());
            }
            if i <= 100_000 && before < 0.0 && x >= 0.0 {
                last = (f64::from(i) - x / (x - before)) * h;
                count += 1;
                if count == 1 {
                    first = last;
                }
            }
            before = x;
        }
        let omega = std::f64::consts::TAU * f64::from(count - 1) / (last - first);
        let exact = 2.0 * (0.5 * 10.0 * h).asin() / (10.0 * h);
        assert!((omega / 10.0 - exact).abs() < 1e-5, "{omega} {exact}");
        // Bounded: the energy that it keeps differs from the spring's by (ωh)/2 relative at most.
        assert!((most - 1.0).abs() < 0.01 + 0.1 * (10.0 * h) * (10.0 * h), "amplitude {most}");
    }
}

/// Linear drag is solved exactly at any step: v = (mg/k)(1 − e^(−kt/m)); 0.981 m/s and 63.21 % of it after
/// 0.1 s for k = 0.01, m = 1 g. The parabola's position is exact too.
#[test]
fn linear_drag_is_exact_at_any_step() {
    for (k, m) in [(0.01, 0.001), (0.3, 2.0), (5.0, 0.01)] {
        for (dt, n) in [(0.1, 1), (0.05, 2), (0.001, 100)] {
            for integration in [Integration::Parabola, Integration::SymplecticEuler] {
                let p = Particles::new("p").mass(m).drag(k).wind([2.0, 0.0, 0.0]).integration(integration);
                let mut p = one(p, [0.0; 3], [2.0, 0.0, 0.0]);
                run(&mut p, dt, n);
                let (terminal, tau) = (m * G / k, m / k);
                let v = terminal * (1.0 - (-0.1 / tau).exp());
                assert!((p.velocities()[0].y / -v - 1.0).abs() < 1e-12);
                if integration == Integration::Parabola {
                    let x = Vector3::new(0.2, -terminal * 0.1 + tau * v, 0.0);
                    // The fall is a difference of larger numbers.
                    assert!((p.positions()[0] - x).norm() < 1e-13 * (1.0 + terminal), "{} {x}", p.positions()[0]);
                }
            }
        }
    }
}

/// Quadratic drag: terminal speed √(m g/q), and no overshoot at steps a thousand times its time scale.
#[test]
fn quadratic_drag_ends_at_its_terminal_speed() {
    for dt in [0.001, 0.1, 10.0] {
        let mut p = one(Particles::new("p").quadratic_drag(1e-4), [0.0; 3], [0.0, -100.0, 0.0]);
        let mut speed = 100.0;
        for _ in 0..(20.0f64 / dt).max(40.0) as u32 {
            p.step(dt, Inputs::NONE).unwrap();
            assert!(-p.velocities()[0].y < speed * (1.0 + 1e-9) || speed < 9.905);
            speed = -p.velocities()[0].y;
        }
        assert!((speed / (0.001 * G / 1e-4f64).sqrt() - 1.0).abs() < 1e-6, "dt = {dt}: {speed}");
    }
}

/// A circular orbit around an attractor keeps its radius; a vortex carries a light particle around.
#[test]
fn attractors_and_vortices_turn_particles() {
    let attractor = Attractor { centre: [1.0, 0.0, 0.0], strength: 4.0, softening: 0.3 };
    let r: f64 = 2.0;
    let speed = (4.0 * r * r / (r * r + 0.09f64).powf(1.5)).sqrt();
    let p = Particles::new("p").gravity([0.0; 3]).attractor(attractor);
    let mut p = one(p, [1.0 + r, 0.0, 0.0], [0.0, 0.0, speed]);
    let energy = |p: &Particles| p.ledger().map(|l| l.kinetic + l.potential).unwrap();
    let e0 = energy(&p);
    run(&mut p, 1e-3, 10_000);
    // Second order: h² ω²/12 of the radius, some turns long.
    assert!(((p.positions()[0] - Vector3::x()).norm() - r).abs() < 1e-5);
    assert!((energy(&p) / e0 - 1.0).abs() < 1e-6);

    let vortex = Vortex { centre: [0.0; 3], axis: [0.0, 1.0, 0.0], circulation: 5.0, core: 0.1 };
    let mut p = one(Particles::new("p").gravity([0.0; 3]).drag(10.0).vortex(vortex), [1.0, 0.0, 0.0], [0.0; 3]);
    p.step(0.01, Inputs::NONE).unwrap();
    let v = p.velocities()[0];
    // Right-handed about +y: from +x towards −z, at Γ/2π r/(r² + core²).
    assert!((v.z + 5.0 / std::f64::consts::TAU / 1.01).abs() < 0.02, "{v}");
}

/// External impulses are known: m g t for those that fly, momentum of the born, less that of the gone;
/// with drag and all, momentum is loads and external together, to rounding.
#[test]
fn the_ledger_accounts_for_momentum() {
    let emitter = Emitter::disc([0.0, 1.0, 0.0], 0.2).rate(500.0).speed(2.0).spread(0.4).lifetime(0.07).seed(1);
    let p = Particles::new("p").mass(0.01).drag(0.02).wind([1.0, 0.0, 0.0]).emit(emitter);
    let mut p = one(one(p, [0.3, 0.0, 0.0], [0.0, 1.0, 0.0]), [0.0, 0.5, 0.0], [0.0; 3]);
    let (mut loads, mut torques) = (Vector3::zeros(), Vector3::zeros());
    let begin = p.ledger().unwrap();
    for i in 0..200 {
        let force = Vector3::new(0.1, 0.02 * f64::from(i % 7), -0.05);
        loads += 0.003 * force;
        torques += 0.003 * p.positions()[0].cross(&force);
        let inputs = Inputs { loads: vec![(p.particle(0), Wrench::force(force))], ..Inputs::default() };
        p.step(0.003, &inputs).unwrap();
    }
    let (end, external) = (p.ledger().unwrap(), p.ledger().unwrap().external.unwrap());
    let change = Vector3::from(end.momentum) - Vector3::from(begin.momentum);
    assert!((change - loads - Vector3::from(external.linear)).norm() < 1e-13);
    let change = Vector3::from(end.angular_momentum) - Vector3::from(begin.angular_momentum);
    assert!((change - torques - Vector3::from(external.angular)).norm() < 1e-13);

    let mut p = one(Particles::new("p").mass(0.5), [3.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
    run(&mut p, 0.01, 100);
    let external = p.ledger().unwrap().external.unwrap();
    assert!((external.linear[1] + 0.5 * G).abs() < 1e-12);
    // x × m g over time: x = 3, so −3 m g about z, and z grows with t: +t²/2 m g about x.
    assert!((external.angular[2] + 1.5 * G).abs() < 1e-12 && (external.angular[0] - 0.25 * G).abs() < 1e-12);
}

/// A million particles, a hundred steps: it finishes, and all of them fall.
#[test]
fn a_million_particles_fly() {
    let mut p = Particles::new("p").emit(Emitter::cuboid([0.0; 3], [2.0; 3]).rate(1e8).stop(0.01));
    run(&mut p, 0.01, 101);
    assert_eq!(p.len(), 1_000_000);
    assert!(p.positions().iter().all(|x| x.y < -3.0));
}
