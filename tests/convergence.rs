//! \[PD97\] footnote 1: "increased accuracy is simply obtained by reducing the time step".

mod common;

use common::hanging_chain;
use partita::prelude::*;

/// Where the support is after 0.5 s `[m]`, interleaved.
fn end(rate: f64, scheme: Scheme) -> [f64; 3] {
    let (mut scene, support) = hanging_chain(5, rate);
    scene.scheme(scheme);
    let mut run = scene.build().unwrap();
    run.for_seconds(0.5).unwrap();
    run.state(support).unwrap().position
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
}

/// Both simulators are of first order, so halving the window halves the error; 0.2 is what remains
/// of the second-order term at these windows.
#[test]
fn halving_the_window_halves_the_coupled_error() {
    for scheme in [Scheme::Interleaved, Relaxed::default().into()] {
        let reference = end(65536.0, Relaxed::default().into());
        let errors: Vec<f64> =
            [512.0, 1024.0, 2048.0].into_iter().map(|rate| distance(end(rate, scheme.clone()), reference)).collect();
        for pair in errors.windows(2) {
            let ratio = pair[0] / pair[1];
            assert!((ratio - 2.0).abs() < 0.2, "{scheme:?}: {errors:?}");
        }
    }
}

/// What interleaving differs from the strong coupling by falls with the window too.
#[test]
fn interleaving_approaches_the_strong_coupling() {
    let gaps: Vec<f64> = [256.0, 1024.0, 4096.0]
        .into_iter()
        .map(|rate| distance(end(rate, Scheme::Interleaved), end(rate, Relaxed::default().into())))
        .collect();
    for pair in gaps.windows(2) {
        assert!((3.0..5.0).contains(&(pair[0] / pair[1])), "{gaps:?}");
    }
}

/// Different substeps on either side (row C11): over each window the impulse on one side is the
/// impulse on the other, taken from the simulators' own momenta.
#[test]
fn substeps_on_either_side_exchange_equal_impulses() {
    for (above, below) in [(1, 7), (3, 5), (4, 1)] {
        let (mut scene, _) = hanging_chain(6, 256.0);
        scene.substeps("support", above).substeps("chain", below);
        let mut run = scene.build().unwrap();
        for _ in 0..200 {
            run.advance().unwrap();
            let (support, chain) =
                (run.simulator_ledger("support").unwrap().unwrap(), run.simulator_ledger("chain").unwrap().unwrap());
            let pending = run.ledgers()[0].pending.linear;
            let scale: f64 = support.external.unwrap().linear.iter().map(|x| x.abs()).sum();
            for i in 0..3 {
                let kept = support.momentum[i] + chain.momentum[i] + pending[i];
                let given = support.external.unwrap().linear[i] + chain.external.unwrap().linear[i];
                // The support starts with 1.5 N s upwards.
                let start = [0.0, 1.5, 0.0][i];
                assert!(
                    (kept - given - start).abs() < 1e-12 * (1.0 + scale),
                    "{above}:{below}, axis {i}: {kept} {given}"
                );
            }
        }
    }
}
