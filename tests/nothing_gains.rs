//! Bodies that come at cloth anywhere gain no energy that nobody gave, and nothing crosses in silence: random scenes of all methods
//! and both schemes.

#![cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]

#[path = "../crates/bench/src/random_scene.rs"]
mod random_scene;

#[path = "common/sample.rs"]
mod sample;

use partita::{Relaxed, Scheme};
use random_scene::{Bodies, METHODS, MOST, Outcome, run};
use rayon::prelude::*;
use sample::Sample;

const SCENES: u64 = 60;

/// Seeds other than those of `partita-bench -- random`, which begin at 0.
const FIRST: u64 = 1_000_000;

/// Seeds, methods and schemes of scenes that failed once. The first three gained 3 to 40 times their energy: light bodies whose
/// loads found no fixed point. A light body between cloth and a heavy one; AVI cloth under a fast body; a cylinder that had pierced
/// a pinned sheet, and one that had pierced a sheet held by a corner, in silence.
const FOUND: [(u64, usize, usize); 7] = [
    (3_141_043, 1, 0),
    (3_141_021, 0, 1),
    (2_718_031, 1, 0),
    (7_000_420, 0, 0),
    (7_000_305, 2, 1),
    (7_000_298, 1, 1),
    (7_000_162, 0, 0),
];

/// Simulated time of a scene, in which bodies of 2 m/s and more come to the cloth; the bench takes 0.6 s `[s]`.
const SECONDS: f64 = 0.3;

/// Fraction of all scenes in which cloth or the coupling may report that it cannot do what is asked of it, and gain [-]: of 900
/// scenes from seed 7,000,000 1.3 % do.
const REPORTED: f64 = 0.03;

/// Most that any has gained at its first report, where a scene ends, relative to the energy that moves [-]: five times what was
/// found.
const LARGEST: f64 = 0.1;

/// Wall clock of a window `[s]`: ten times what was found, since other work shares the machine.
const LONGEST: f64 = 2.0;

#[test]
fn energy_never_rises_and_nothing_crosses_in_silence() {
    let scene = |(bodies, (seed, method, scheme)): (Bodies, (u64, usize, usize))| {
        let schemes = [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()];
        run(seed, bodies, METHODS[method], schemes[scheme].clone(), SECONDS).unwrap()
    };
    let all = |bodies: Bodies| (0..SCENES).map(move |k| (bodies, (FIRST + k, (k % 3) as usize, (k / 3 % 2) as usize)));
    let mut sample = Sample::one_in(4);
    let scenes = all(Bodies::Aligned).chain(all(Bodies::Turning)).chain(FOUND.map(|found| (Bodies::Aligned, found)));
    let scenes = scenes.filter(|_| !sample.leaves_out());
    let mut outcomes: Vec<Outcome> = scenes.collect::<Vec<_>>().into_par_iter().map(scene).collect();
    outcomes.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    outcomes.iter().take(10).for_each(|worst| println!("{worst:?}"));
    for outcome in &outcomes {
        assert!(outcome.gain < LARGEST && outcome.longest < LONGEST, "{outcome:?}");
        assert!(outcome.gain <= MOST || outcome.is_reported, "{outcome:?}");
        assert_eq!(outcome.silent_crossings, 0, "{outcome:?}");
    }
    let reported = outcomes.iter().filter(|outcome| outcome.gain > MOST).count();
    assert!(reported as f64 <= REPORTED * outcomes.len() as f64, "{reported} scenes gain, and say that they do");
}
