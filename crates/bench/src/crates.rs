//! The scene of \[PD97\] figure 1, and the bench `crates`: how many windows a second.
//!
//! \[PD97\] D. Baraff, A. Witkin: Partitioned Dynamics. CMU-RI-TR-97-33, 1997.

use std::time::Instant;

use partita::prelude::*;

use crate::{
    Effort,
    record::Setup,
    table::{Failure, Table, Target},
};

/// Edge of a crate `[m]`, and its mass `[kg]`.
const EDGE: f64 = 0.5;
const MASS: f64 = 4.0;
/// Crates along the side of the lowest layer; each layer above has one less: 16 + 9 + 4 + 1.
const BASE: usize = 4;

/// How the jet flows. Rate times mass, and so the force of the jet, is the same for all.
#[derive(Clone, Copy)]
pub struct Flow {
    /// Drops a second.
    pub rate: f64,
    /// After which a drop goes `[s]`.
    pub lifetime: Option<f64>,
}

impl Flow {
    /// As the example `crates` has it.
    pub const NORMAL: Self = Self { rate: 2000.0, lifetime: None };
    /// 20,000 live drops from second 2 on.
    pub const FULL: Self = Self { rate: 10_000.0, lifetime: Some(2.0) };
    /// Windows after which [`Flow::FULL`] has all its drops.
    pub const FULL_AFTER: usize = 2 * HZ as usize + 1;
}

/// Windows a second.
pub const HZ: u32 = 240;

/// Thirty crates in a pyramid on a floor, and a jet of drops against it.
///
/// # Errors
/// None that is known.
pub fn scene(flow: Flow) -> Result<Setup, Failure> {
    let mut rigid = RigidBodies::new("rigid");
    rigid.add("floor", Body::fixed(Shape::cuboid([40.0, 1.0, 40.0])).at([0.0, -0.5, 0.0]).friction(0.6))?;
    for layer in 0..BASE {
        let side = BASE - layer;
        let place = |i: usize| (i as f64 - 0.5 * (side as f64 - 1.0)) * (EDGE + 0.01);
        for i in 0..side * side {
            let body = Body::dynamic(Shape::cuboid([EDGE; 3])).mass(MASS).friction(0.5);
            let body = body.at([place(i / side), (layer as f64 + 0.5) * EDGE, place(i % side)]);
            rigid.add(&format!("crate {layer}/{i}"), body)?;
        }
    }

    let nozzle = Emitter::disc([-6.0, 0.9, 0.0], 0.25).direction([1.0, 0.15, 0.0]).speed(15.0).spread(0.02).seed(1);
    let nozzle = Emitter { rate: flow.rate, lifetime: flow.lifetime, ..nozzle };
    let jet = Particles::new("jet").mass(40.0 / flow.rate).emit(nozzle);

    let mut scene = Scene::new(Rate::hz(HZ));
    scene.contact("jet", "rigid").friction(0.2).restitution(0.25);
    Ok(Setup { simulators: vec![Box::new(rigid), Box::new(jet)], scene })
}

/// Windows a second of the coupled run while 20,000 drops live, and where the time goes.
///
/// # Errors
/// The JSON file cannot be written.
pub fn bench(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let case = "20,000 live particles, 30 crates";
    let target = Some(Target::AtLeast(60.0));
    table.case(case, "windows/s", target, |table| {
        let (samples, windows) = (effort.samples(7), if effort.quick { 12 } else { 60 });
        let mut run = scene(Flow::FULL)?.coupled()?;
        for _ in 0..Flow::FULL_AFTER {
            run.advance()?;
        }
        let before = run.report();
        let mut rates = Vec::new();
        for _ in 0..samples {
            let start = Instant::now();
            for _ in 0..windows {
                run.advance()?;
            }
            rates.push(f64::from(windows) / start.elapsed().as_secs_f64());
        }
        let live = run.look("jet", |jet: &Particles| jet.len())?;
        if live != 20_000 {
            return Err(format!("{live} live particles instead of 20,000").into());
        }
        table.row(case, "windows/s", target, &rates)?;

        // Where the time goes, over all timed windows.
        let after = run.report();
        let n = (after.windows - before.windows) as f64;
        let mut others = after.seconds - before.seconds;
        for (m, (name, seconds)) in after.simulators.iter().enumerate() {
            let spent = seconds - before.simulators[m].1;
            others -= spent;
            table.row(&format!("{case}: {name}"), "ms/window", None, &[1e3 * spent / n])?;
            for (stage, seconds) in &after.stages[m].0 {
                let old = before.stages[m].0.iter().find(|(name, _)| name == stage).map_or(0.0, |(_, old)| *old);
                table.row(&format!("{case}: {name}, {stage}"), "ms/window", None, &[1e3 * (seconds - old) / n])?;
            }
        }
        table.row(&format!("{case}: coupling"), "ms/window", None, &[1e3 * others / n])?;
        let marks = after.marking - before.marking;
        table.row(&format!("{case}: marks"), "ms/window", None, &[1e3 * marks / n])
    })
}
