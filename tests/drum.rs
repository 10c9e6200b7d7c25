//! Ropes over drums: round bodies are round.

#![cfg(all(feature = "ibds-cloth", feature = "rigid"))]

use std::f64::consts::PI;

use partita::prelude::*;

const G: f64 = 9.81;
/// Radius of the drum `[m]`.
const R: f64 = 0.1;

/// Mass of each particle between the weights `[kg]`.
const MASS: f64 = 1e-4;

/// A rope of `segments` that lies over a fixed drum, with weights `[kg]` at its ends, and how far
/// the first has sunk.
struct Machine {
    run: Run,
    start: f64,
}

impl Machine {
    fn new(drum: Shape, segments: u32, weights: [f64; 2], friction: f64, hz: f64, extensibility: f64) -> Self {
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
        let rope = IbdsCloth::new("rope", net).unwrap().extensibility(extensibility);
        let mut scene = Scene::new(Rate::hz(hz));
        scene.contact("rope", "rigid").friction(friction);
        scene.add(rigid).add(rope);
        Self { run: scene.build().unwrap(), start: positions[0][1] }
    }

    /// How far it has sunk after so many seconds more `[m]`.
    fn sunk(&mut self, seconds: f64) -> f64 {
        self.run.for_seconds(seconds).unwrap();
        self.start - self.run.look("rope", |rope: &IbdsCloth| rope.positions()[0].y).unwrap()
    }
}

/// Without friction 0.6 kg sinks against 0.5 kg as in Atwood's machine, a = g (m₁ - m₂)/(m₁ + m₂ +
/// m), whether the rope's segments are in step with facets that a mesh of the drum would have or
/// not: to 1 % at 960 Hz. In longer steps vertices stop where they come to the drum, which costs up
/// to 3 % at 480 Hz.
#[test]
fn a_rope_slides_over_a_drum_as_in_atwoods_machine() {
    for (name, drum) in [("capsule", Shape::capsule_x(0.3, R)), ("cylinder", Shape::cylinder_x(0.3, R))] {
        for (hz, bound) in [(480.0, 0.03), (960.0, 0.01)] {
            for segments in [48, 56, 64, 65, 80, 100, 128] {
                let mut machine = Machine::new(drum.clone(), segments, [0.6, 0.5], 0.0, hz, 0.01);
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

/// Mass on the first side under which a rope slides that way with an acceleration a, however
/// slowly, against `other` `[kg]`.
///
/// On the drum its tension t grows with the angle θ from the top by dt/dθ = μ (t + λ g r cos θ) + λ
/// r (a - g sin θ), with λ its mass per length. Beside it hang l of it on either side: t = (m₂ + λ
/// l)(g + a) where it comes on, and t = (m₁ + λ l)(g - a) where it leaves.
fn balancing(friction: f64, other: f64, segments: u32, a: f64) -> f64 {
    let (hangs, steps) = (0.6, 2_000);
    let density = MASS * f64::from(segments) / (2.0 * hangs + PI * R);
    let mut tension = (other + density * hangs) * (G + a);
    let slope =
        |angle: f64, t: f64| friction * (t + density * G * R * angle.cos()) + density * R * (a - G * angle.sin());
    let h = PI / f64::from(steps);
    for k in 0..steps {
        let angle = -0.5 * PI + h * f64::from(k);
        let middle = tension + 0.5 * h * slope(angle, tension);
        tension += h * slope(angle + 0.5 * h, middle);
    }
    tension / (G - a) - density * hangs
}

/// Acceleration with which a rope slides under a mass on the first side; 0 if it holds `[m/s²]`.
fn sliding(friction: f64, [mass, other]: [f64; 2], segments: u32) -> f64 {
    let [mut low, mut high] = [0.0, 0.9 * G];
    for _ in 0..60 {
        let a = 0.5 * (low + high);
        if balancing(friction, other, segments, a) < mass { low = a } else { high = a }
    }
    low
}

/// With friction a rope holds on the drum with 0.98 of the mass that just makes it slide by the capstan equation, and slides with
/// 1.02 of it. It starts without tension and slides at first, so speeds are measured after 0.5 s: held, it creeps with no more than
/// half of what gravity gives in a step; else it goes on with its acceleration to 0.03 m/s², 0.6 % of the ratio of tensions.
/// Links within 0.1 % of their length: the default of 1 % lets tension waver by more than 2 %. Fewer segments than one per 9
/// degrees take longer to come to rest.
#[test]
fn a_rope_holds_and_slips_on_a_drum_as_the_capstan_equation_says() {
    for (name, drum) in [("capsule", Shape::capsule_x(0.3, R)), ("cylinder", Shape::cylinder_x(0.3, R))] {
        for (friction, segments, hz) in [(0.15, 100, 480.0), (0.3, 128, 480.0), (0.3, 100, 960.0), (0.5, 128, 960.0)] {
            let critical = balancing(friction, 0.2, segments, 0.0);
            for ratio in [0.98, 1.02] {
                let masses = [ratio * critical, 0.2];
                let mut machine = Machine::new(drum.clone(), segments, masses, friction, hz, 1e-3);
                let [begin, soon, late, end] = [0.5, 0.1, 0.2, 0.1].map(|seconds| machine.sunk(seconds));
                let [before, after] = [(soon - begin) / 0.1, (end - late) / 0.1];
                let (a, exact) = ((after - before) / 0.3, sliding(friction, masses, segments));
                let what = format!("{name}, friction {friction}, {segments} segments, {hz} Hz: {ratio} of the ratio");
                if ratio < 1.0 {
                    assert!(exact < 1e-9 && after < 0.5 * G / hz, "{what}: {before} m/s, then {after} m/s");
                } else {
                    assert!(exact > 0.09 && (a - exact).abs() < 0.03, "{what}: {a} m/s² for {exact} m/s²");
                }
            }
        }
    }
}
