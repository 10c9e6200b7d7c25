//! Bodies that come at cloth anywhere gain no energy that nobody gave: random scenes of all methods and both schemes.

#![cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]

#[path = "../crates/bench/src/random_scene.rs"]
mod random_scene;

use partita::{Relaxed, Scheme};
use random_scene::{METHODS, MOST, Outcome, run};
use rayon::prelude::*;

const SCENES: u64 = 60;

/// Seeds other than those of `partita-bench -- random`, which begin at 0.
const FIRST: u64 = 1_000_000;

/// Seeds, methods and schemes of scenes that gained 3 to 40 times their energy: light bodies whose loads found no
/// fixed point.
const FOUND: [(u64, usize, usize); 3] = [(3_141_043, 1, 0), (3_141_021, 0, 1), (2_718_031, 1, 0)];

/// Simulated time of a scene, in which bodies of 2 m/s and more come to the cloth; the bench takes 0.6 s `[s]`.
const SECONDS: f64 = 0.15;

/// Parts of all scenes in which cloth may report that it cannot do what is asked of it, and gain [-]. AVI cloth that is stretched to a
/// multiple of its length does: 3 of 120 scenes of the bench.
const REPORTED: f64 = 0.1;

#[test]
fn energy_never_rises_above_what_was_given() {
    let scene = |(seed, method, scheme): (u64, usize, usize)| {
        let schemes = [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()];
        run(seed, METHODS[method], schemes[scheme].clone(), SECONDS).unwrap()
    };
    let scenes = (0..SCENES).map(|k| (FIRST + k, (k % 3) as usize, (k / 3 % 2) as usize)).chain(FOUND);
    let mut outcomes: Vec<Outcome> = scenes.collect::<Vec<_>>().into_par_iter().map(scene).collect();
    outcomes.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    outcomes.iter().take(10).for_each(|worst| println!("{worst:?}"));
    for outcome in &outcomes {
        assert!(outcome.gain.is_finite(), "{outcome:?}");
        assert!(outcome.gain <= MOST || outcome.is_reported, "{outcome:?}");
    }
    let reported = outcomes.iter().filter(|outcome| outcome.gain > MOST).count();
    assert!(reported as f64 <= REPORTED * SCENES as f64, "{reported} scenes gain, and say that they do");
}
