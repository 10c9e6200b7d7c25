//! Ropes over drums: round bodies are round.

#![cfg(all(feature = "ibds-cloth", feature = "rigid"))]

use std::f64::consts::PI;

use partita::prelude::*;

const G: f64 = 9.81;
/// Radius of the drum `[m]`.
const R: f64 = 0.1;

/// Mass of each particle between the weights `[kg]`.
const MASS: f64 = 1e-4;

/// A rope of `segments` that lies over a fixed drum, with weights `[kg]` at its ends, and how far the first has sunk.
struct Machine {
    run: Run,
    start: f64,
}

impl Machine {
    fn new(drum: Shape, segments: u32, weights: [f64; 2], friction: f64, hz: f64) -> Self {
        let mut rigid = RigidBodies::new("rigid");
        rigid.add("drum", Body::fixed(drum).friction(friction)).unwrap();
        // Half the thickness of 1 mm away from it, so much that chords between touch it.
        let hangs = 0.6;
        let step = (2.0 * hangs + PI * R) / f64::from(segments);
        let r = (R + 0.5e-3 + 1e-5) / (0.5 * step / R).cos();
        let place = |k: u32| {
            let s = f64::from(k) * step;
            match (s < hangs, s > hangs + PI * R) {
                (true, _) => [0.0, s - hangs, -r],
                (_, true) => [0.0, hangs + PI * R - s, r],
                _ => {
                    let angle = (s - hangs) / R;
                    [0.0, r * angle.sin(), -r * angle.cos()]
                }
            }
        };
        let positions: Vec<[f64; 3]> = (0..=segments).map(place).collect();
        let mut masses = vec![MASS; positions.len()];
        (masses[0], masses[segments as usize]) = (weights[0], weights[1]);
        let net = Net::new(&positions, &masses).unwrap().bars((0..segments).map(|k| [k, k + 1])).unwrap();
        let rope = IbdsCloth::new("rope", net).unwrap();
        let mut scene = Scene::new(Rate::hz(hz));
        scene.contact("rope", "rigid").friction(friction);
        scene.add(rigid).add(rope);
        Self { run: scene.build().unwrap(), start: positions[0][1] }
    }

    fn sunk(&mut self, seconds: f64) -> f64 {
        self.run.for_seconds(seconds).unwrap();
        self.start - self.run.look("rope", |rope: &IbdsCloth| rope.positions()[0].y).unwrap()
    }
}

/// Without friction 0.6 kg sinks against 0.5 kg as in Atwood's machine, a = g (m₁ - m₂)/(m₁ + m₂ + m), whether the rope's
/// segments are in step with facets that a mesh of the drum would have or not: to 1 % at 960 Hz. In longer steps vertices stop
/// where they come to the drum, which costs up to 3 % at 480 Hz.
#[test]
fn a_rope_slides_over_a_drum_as_in_atwoods_machine() {
    for (name, drum) in [("capsule", Shape::capsule_x(0.3, R)), ("cylinder", Shape::cylinder_x(0.3, R))] {
        for (hz, bound) in [(480.0, 0.03), (960.0, 0.01)] {
            for segments in [48, 56, 64, 65, 80, 100, 128] {
                let mut machine = Machine::new(drum.clone(), segments, [0.6, 0.5], 0.0, hz);
                let sunk = machine.sunk(0.5);
                let acceleration = G * 0.1 / (1.1 + MASS * f64::from(segments - 1));
                // Steps of first order in time go on by half a step.
                let expected = 0.5 * acceleration * 0.5 * (0.5 + 1.0 / hz);
                let what = format!("{name}, {segments} segments at {hz} Hz: {sunk} m for {expected} m");
                assert!((sunk / expected - 1.0).abs() < bound, "{what}");
            }
        }
    }
}
