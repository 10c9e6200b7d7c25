//! Emitters: exact counts, and the same particles at any step.

use std::collections::BTreeMap;

use crate::common::*;
use nalgebra::Vector3;
use partita_particles::{Emitter, Integration, Particles};
use partita_simulator::{Cloud, Inputs, Simulator};

/// Steps of `dt`, or of random length, the last one cut, to `seconds`.
fn run(p: &mut Particles, dt: Option<f64>, seconds: f64) {
    let mut chance = Chance(9);
    if let Some(dt) = dt {
        (0..(seconds / dt).round() as u32).for_each(|_| drop(p.step(dt, Inputs::NONE).unwrap()));
        return;
    }
    while p.time() < seconds {
        p.step((0.05 * chance.unit()).min(seconds - p.time()), Inputs::NONE).unwrap();
    }
}

const STEPS: [Option<f64>; 4] = [Some(1.0 / 24.0), Some(1.0 / 60.0), Some(1.0 / 1000.0), None];

/// 1,000 a second for 10 s are 10,000, at any step; so for rates that no step divides.
#[test]
fn counts_are_exact_at_any_step() {
    for (rate, seconds) in [(1000.0, 10.0), (333.3, 3.0), (0.7, 10.0), (12_345.0, 1.0)] {
        for dt in STEPS {
            let mut p = Particles::new("p").emit(Emitter::point([0.0; 3]).rate(rate));
            run(&mut p, dt, seconds);
            assert_eq!(p.emitted(), (rate * seconds + 1e-6f64).floor() as u64, "rate {rate}, dt {dt:?}");
            assert_eq!(p.len() as u64, p.emitted());
        }
    }
}

/// Same ids, births, places and speeds at any step, to the rounding of time: the parabola is exact, and everyone
/// flies from the time of birth on.
#[test]
fn the_same_particles_come_at_any_step() {
    let at = |dt: Option<f64>| {
        let emitter = Emitter::disc([0.0, 2.0, 0.0], 0.5).rate(400.0).speed(3.0).spread(0.5).lifetime(0.301).seed(11);
        let other = Emitter::cuboid([1.0, 0.0, 0.0], [0.2, 0.4, 0.6]).rate(77.0).start(0.25).stop(0.75).seed(11);
        let mut p = Particles::new("p").drag(0.001).emit(emitter).emit(other);
        run(&mut p, dt, 1.0);
        let numbers = p.positions().iter().zip(p.velocities()).zip(p.births()).map(|((x, v), b)| (*x, *v, *b));
        p.ids().iter().copied().zip(numbers).collect::<BTreeMap<u64, (Vector3<f64>, Vector3<f64>, f64)>>()
    };
    let reference = at(Some(1.0));
    // 121 of the last 0.301 s, and ⌊77/2⌋ of the other.
    assert_eq!(reference.len(), 121 + 38);
    for dt in STEPS {
        let other = at(dt);
        assert!(other.keys().eq(reference.keys()));
        for (id, (x, v, birth)) in &other {
            let (x0, v0, birth0) = reference[id];
            assert!((x - x0).norm() < 1e-10 && (v - v0).norm() < 1e-10 && *birth == birth0);
        }
    }
}

/// Particles go when their age is up, in the order of their births; the others stay as they were.
#[test]
fn lifetimes_end() {
    let mut p = Particles::new("p")
        .emit(Emitter::point([0.0; 3]).rate(100.0).lifetime(0.5))
        .integration(Integration::SymplecticEuler);
    p.add([1.0, 0.0, 0.0], [0.0; 3]).unwrap();
    for i in 1..=200 {
        p.step(0.01, Inputs::NONE).unwrap();
        // Born at 10 ms, 20 ms, …: in the 50th step after its own a particle goes.
        let alive = i64::from(i.min(50));
        assert!((p.len() as i64 - 1 - alive).abs() <= 1, "{} at step {i}", p.len());
        assert!(p.births()[1..].windows(2).all(|pair| pair[0] < pair[1]));
        assert!(p.births()[1..].iter().all(|birth| p.time() - birth < 0.5));
    }
    assert_eq!((p.emitted(), p.ids()[0]), (200, 0));
    let mut shown = Cloud::default();
    p.cloud(&mut shown);
    assert_eq!((shown.len(), shown.ids.as_slice()), (p.len(), p.ids()));
}

/// A step never makes more than the limit, and says which emitter wants to; also for absurd rates and steps.
#[test]
fn crowds_are_refused_before_memory_is_asked_for() {
    for (emitter, dt) in [
        (Emitter::point([0.0; 3]).rate(1000.0), 1.0),
        (Emitter::point([0.0; 3]).rate(1e300), 1e-3),
        (Emitter::point([0.0; 3]).rate(1e9), 1e3),
    ] {
        let mut p = Particles::new("p").max_particles(500).emit(emitter);
        let error = p.step(dt, Inputs::NONE).unwrap_err().to_string();
        assert!(error.contains("emitter 0") && error.contains("500"), "{error}");
        assert_eq!((p.len(), p.emitted(), p.time()), (0, 0, 0.0));
    }
    // Whose whole life fits into the step is counted only.
    let mut p = Particles::new("p").max_particles(500).emit(Emitter::point([0.0; 3]).rate(1e6).lifetime(1e-4));
    p.step(100.0, Inputs::NONE).unwrap();
    assert_eq!((p.emitted(), p.len() <= 101), (100_000_000, true));
}
