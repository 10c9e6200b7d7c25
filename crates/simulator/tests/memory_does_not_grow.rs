//! The only test of its process, since it measures that process.

use partita_simulator::{
    Inputs, Simulator,
    reference::{Chain, ChainParameters},
};

/// Resident memory `[KiB]`, where the system tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// 1e5 cycles of mark, step, retract, with and without reuse, grow resident memory by less than 1 MiB
/// after the first thousand.
#[test]
fn marks_steps_and_retracts_do_not_grow_memory() {
    let positions: Vec<_> = (0..50).map(|i| [0.1 * f64::from(i), 0.0, 0.0]).collect();
    let mut chain = Chain::new("chain", &positions, ChainParameters::default()).unwrap();
    let (mut kept, mut early) = (None, None);
    for cycle in 0..100_000 {
        let mark = chain.snapshot(kept.take());
        chain.step(1e-3, Inputs::NONE).unwrap();
        chain.retract(&mark).unwrap();
        kept = (cycle % 3 > 0).then_some(mark);
        if cycle == 1_000 {
            early = resident();
        }
    }
    let (Some(early), Some(late)) = (early, resident()) else {
        eprintln!("SKIPPED: this system has no /proc/self/status, so resident memory is not known");
        return;
    };
    assert!(late < early + 1024, "{early} KiB after 1,000 cycles, {late} KiB after 100,000");
}
