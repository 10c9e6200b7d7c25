//! \[PD97\] footnote 1: "increased accuracy is simply obtained by reducing the time step".

use crate::common::{CHAIN_RATE, assert_first_order, hanging_chain};
use partita::prelude::*;

/// Where the support is after 0.5 s `[m]`.
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

/// Both simulators are of first order, so halving the window halves the coupled error. It is taken
/// between one window and half of it, |x(h) − x(h/2)| = a h/2 + O(h²), which asks for no reference.
#[test]
fn halving_the_window_halves_the_coupled_error() {
    for scheme in [Scheme::Interleaved, Relaxed::default().into()] {
        let ends = [512.0, 1024.0, 2048.0, 4096.0].map(|rate| end(rate, scheme.clone()));
        let errors: Vec<f64> = ends.windows(2).map(|pair| distance(pair[0], pair[1])).collect();
        assert_first_order(&errors, 1.0 / 512.0, CHAIN_RATE);
    }
}

/// What interleaving differs from the strong coupling by is the load of one window ago: it falls
/// with the window too.
#[test]
fn interleaving_approaches_the_strong_coupling() {
    let gaps = [256.0, 512.0, 1024.0]
        .map(|rate| distance(end(rate, Scheme::Interleaved), end(rate, Relaxed::default().into())));
    assert_first_order(&gaps, 1.0 / 256.0, CHAIN_RATE);
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
                // The support starts with 1.5 N s upwards. Each of 200 windows of up to 8 steps may round a
                // sum by 1.1e-16 of its size: 1.8e-13.
                let start = [0.0, 1.5, 0.0][i];
                assert!(
                    (kept - given - start).abs() < 2e-13 * (1.0 + scale),
                    "{above}:{below}, axis {i}: {kept} {given}"
                );
            }
        }
    }
}
