//! The bench `overhead`: a coupled run over the sum of the same simulators run alone.
//!
//! \[PD97\] D. Baraff, A. Witkin: Partitioned Dynamics. CMU-RI-TR-97-33, 1997, §5: "the overhead imposed
//! by interleaved simulation is negligible"; the rigid side takes about 40 % of figure 1.
//!
//! Alone, each simulator replays the loads and guide motions that it was given in the coupled run,
//! and ends with the same bytes. Coupled, marks for rewinding are taken at their default share and
//! the ledger is kept.

use std::time::Instant;

use partita::{
    prelude::*,
    simulator::{Inputs, Snapshot, reference::*},
};

use crate::{
    Effort,
    crates::{self, Flow},
    record::{Duel, Make, Setup},
    table::{Failure, Table, Target},
};

/// Largest overhead of coupling, coupled over alone [-].
const TARGET: Option<Target> = Some(Target::AtMost(1.02));

/// All cases.
///
/// # Errors
/// The JSON file cannot be written.
pub fn bench(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let windows = if effort.quick { 48 } else { 480 };
    real(table, effort, "crates", Flow::NORMAL, if effort.quick { 60 } else { 120 }, windows)?;
    real(table, effort, "crates, 20,000 live particles", Flow::FULL, Flow::FULL_AFTER, windows / 2)?;
    for pairs in [1, 2, 4, 8, 16, 32, 50, 64] {
        small(table, effort, &format!("{pairs} pairs of tied masses"), pairs, "pair", &|| tied_masses(pairs))?;
    }
    for handles in [125, 250, 500, 1000] {
        small(table, effort, &format!("{handles} attached handles"), handles, "handle", &|| tied_chains(handles))?;
    }
    for forces in [125, 250, 500, 1000] {
        pushed(table, effort, forces)?;
    }
    Ok(())
}

/// The crates: the ratio, what of it the run's own clocks see (marks and work between the simulators;
/// the rest is simulators that are slower or faster in the run than alone), the shares, marks, and mark
/// and retract against a step.
fn real(table: &mut Table, effort: Effort, case: &str, flow: Flow, warm: usize, windows: usize) -> Result<(), Failure> {
    table.case(case, "coupled/alone", TARGET, |table| {
        let mut duel = Duel::new(&|| crates::scene(flow), warm, windows, 4)?;
        duel.round(false)?;
        duel.check()?;
        let [mut ratios, mut turns, mut shares, mut clocks, mut simulators, mut marks, mut coupling] =
            [(); 7].map(|()| Vec::new());
        for _ in 0..effort.samples(15) {
            duel.back()?;
            let before = duel.run.report();
            let round = duel.round(false)?;
            let after = duel.run.report();
            ratios.push(round.coupled / round.sum());
            shares.push(round.alone[0] / round.sum());
            marks.push((after.marking - before.marking) / round.coupled);
            let inside: f64 = after.simulators.iter().zip(&before.simulators).map(|(a, b)| a.1 - b.1).sum();
            clocks.push((after.seconds - before.seconds + after.marking - before.marking) / inside);
            simulators.push(inside / round.sum());
            coupling.push((after.seconds - before.seconds - inside) / round.coupled);
            duel.back()?;
            let round = duel.round(true)?;
            turns.push(round.coupled / round.sum());
        }
        table.row(case, "coupled/alone", TARGET, &ratios)?;
        table.remark("alone and coupled again end with the bytes of the recorded run");
        table.row(&format!("{case}, against turns"), "coupled/alone in turns", None, &turns)?;
        table.row(&format!("{case}, by the run's own clocks"), "coupled/simulators", None, &clocks)?;
        table.row(&format!("{case}, its simulators in the run"), "coupled/alone", None, &simulators)?;
        table.row(&format!("{case}: share of the rigid side"), "of alone (paper 0.4)", None, &shares)?;
        table.row(&format!("{case}: marks"), "of the coupled run", None, &marks)?;
        table.row(&format!("{case}: between the simulators"), "of the coupled run", None, &coupling)?;
        retract(table, effort, case, &mut duel)
    })
}

/// Snapshot and retract of all simulators against their steps.
fn retract(table: &mut Table, effort: Effort, case: &str, duel: &mut Duel) -> Result<(), Failure> {
    duel.back()?;
    let warm = duel.warm;
    let mut inputs = duel.alone.iter().map(|alone| alone.first_inputs(warm)).collect::<Vec<_>>();
    let mut kept: Vec<Option<Snapshot>> = duel.alone.iter().map(|_| None).collect();
    let mut samples = Vec::new();
    for _ in 0..effort.samples(60) {
        let (mut stepping, mut going_back) = (0.0, 0.0);
        for ((alone, (dt, inputs)), kept) in duel.alone.iter_mut().zip(&mut inputs).zip(&mut kept) {
            let start = Instant::now();
            let mark = alone.simulator.snapshot(kept.take());
            going_back += start.elapsed().as_secs_f64();
            let start = Instant::now();
            alone.simulator.step(*dt, inputs)?;
            stepping += start.elapsed().as_secs_f64();
            let start = Instant::now();
            alone.simulator.retract(&mark)?;
            going_back += start.elapsed().as_secs_f64();
            *kept = Some(mark);
        }
        samples.push(going_back / stepping);
    }
    table.row(&format!("{case}: mark and retract"), "of a step", None, &samples)
}

/// Simulators that do next to nothing: what the coupling itself costs, a window and a thing coupled.
fn small(table: &mut Table, effort: Effort, case: &str, things: u32, thing: &str, make: &Make) -> Result<(), Failure> {
    let unit = format!("ns/window/{thing}");
    table.case(case, &unit, None, |table| {
        let work = if effort.quick { 2_000 } else { 40_000 };
        let windows = (work / things as usize).max(20);
        let mut duel = Duel::new(make, windows / 10, windows, windows.div_ceil(20))?;
        duel.round(false)?;
        duel.check()?;
        let (mut costs, mut ratios) = (Vec::new(), Vec::new());
        for _ in 0..effort.samples(9) {
            duel.back()?;
            let round = duel.round(false)?;
            costs.push(1e9 * (round.coupled - round.sum()) / duel.windows() / f64::from(things));
            ratios.push(round.coupled / round.sum());
        }
        table.row(case, &unit, None, &costs)?;
        table.row(&format!("{case}, ratio"), "coupled/alone", None, &ratios)
    })
}

/// Independent pairs in one scene: a mass on a spring that leads, a lighter one tied to it.
fn tied_masses(pairs: u32) -> Result<Setup, Failure> {
    let mut setup = Setup { simulators: Vec::new(), scene: Scene::new(Rate::hz(1024)) };
    for i in 0..pairs {
        let anchor = [f64::from(i), 0.0, 0.0];
        let spring = SpringParameters { stiffness: 100.0, anchor, ..SpringParameters::default() };
        let leader = MassOnSpring::new(&format!("leader {i}"), spring)?;
        let follower = Chain::new(&format!("follower {i}"), &[anchor], ChainParameters::default())?;
        setup.scene.attach(follower.point(0), leader.mass());
        setup.simulators.extend([Box::new(leader) as Box<dyn Simulator>, Box::new(follower)]);
    }
    Ok(setup)
}

/// Two chains, each point of the lighter one on a point of the other.
fn tied_chains(handles: u32) -> Result<Setup, Failure> {
    let places: Vec<_> = (0..handles).map(|i| [f64::from(i), 0.0, 0.0]).collect();
    let leader = Chain::new("leader", &places, ChainParameters::default())?;
    let follower = Chain::new("follower", &places, ChainParameters { mass: 0.01, ..ChainParameters::default() })?;
    let points = |chain: &Chain| (0..handles).map(|i| chain.point(i)).collect::<Vec<_>>();
    let mut scene = Scene::new(Rate::hz(1024));
    scene.attach(points(&follower), points(&leader));
    Ok(Setup { simulators: vec![Box::new(leader), Box::new(follower)], scene })
}

/// A chain with a force pushed on each of its points in each window, against the same chain alone.
fn pushed(table: &mut Table, effort: Effort, forces: u32) -> Result<(), Failure> {
    let (case, unit) = (format!("{forces} forces pushed"), "ns/window/force");
    table.case(&case, unit, None, |table| {
        let places: Vec<_> = (0..forces).map(|i| [f64::from(i), 0.0, 0.0]).collect();
        let chain = || Chain::new("chain", &places, ChainParameters::default());
        let mut alone = chain()?;
        let load = Wrench::force([0.0, 0.1, 0.0]);
        let points: Vec<_> = (0..forces).map(|i| alone.point(i)).collect();
        let inputs = Inputs { loads: points.iter().map(|&point| (point, load)).collect(), ..Inputs::default() };
        let rate = Rate::hz(1024);
        let mut run = Setup { simulators: vec![Box::new(chain()?)], scene: Scene::new(rate) }.coupled()?;

        let windows = (if effort.quick { 2_000 } else { 20_000 }) / forces;
        let mut costs = Vec::new();
        for _ in 0..effort.samples(9) {
            let (mut coupled, mut stepping) = (0.0, 0.0);
            for _ in 0..windows {
                let start = Instant::now();
                for &point in &points {
                    run.push(point, load)?;
                }
                run.advance()?;
                coupled += start.elapsed().as_secs_f64();
                let start = Instant::now();
                alone.step(rate.dt(), &inputs)?;
                stepping += start.elapsed().as_secs_f64();
            }
            costs.push(1e9 * (coupled - stepping) / f64::from(windows) / f64::from(forces));
        }
        if run.state_bytes("chain")? != alone.snapshot(None).to_bytes() {
            return Err("the chain alone ends with other bytes than in the run".into());
        }
        table.row(&case, unit, None, &costs)
    })
}
