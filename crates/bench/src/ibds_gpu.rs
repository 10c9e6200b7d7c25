//! The bench `ibds-gpu`: impulse-based cloth link by link and path by path, on one core and on a device, from 64 to 1,048,576 particles.
//!
//! \[BBD09\] D. Bayer, J. Bender, R. Diziol: Impulse-based dynamic simulation on the GPU. CGVCVIP 2009, section 5: a piece of cloth with links
//! along threads and at most 100 sweeps a step, by the number of particles. Theirs stretched by less than a hundredth with 1,024
//! particles and by 8 % with 16,384, and the device was ahead from 512 particles on.
//!
//! The sheet is a metre wide, held along an edge, let go level: what is most of all stretched counts, over all steps.

use std::{sync::Arc, time::Instant};

use partita::{
    ibds_cloth::{IbdsCloth, Net, Optimisations, Solver},
    ibds_cloth_gpu::{Gpu, IbdsClothGpu, Solver as OnDevice},
    simulator::{Inputs, Simulator},
};

use crate::{
    Effort, ibds_pieces, swing,
    table::{Failure, Table, Target, median},
};

/// Particles along an edge.
const SIDES: [u32; 8] = [8, 16, 32, 64, 128, 256, 512, 1024];

/// More than this takes a device in software minutes.
const MOST_IN_SOFTWARE: u32 = 128;

pub(crate) const SWEEPS: u32 = 100;
const DT: f64 = 0.01;

/// Simulated, unless it takes longer than that `[s]`.
const LONG: f64 = 4.0;

/// Of sheets of so many particles along an edge: how far they may stretch [-], and how long a step may take on a device `[ms]`.
const MAY_STRETCH: [(u32, f64); 2] = [(32, 0.01), (128, 0.08)];
const MAY_TAKE: [(u32, f64); 2] = [(256, 1e3 / 240.0), (1024, 16.0)];

/// From so many particles along an edge on a device has to be ahead of a core.
const AHEAD: u32 = 64;

/// All sizes.
///
/// # Errors
/// The JSON file cannot be written.
pub fn bench(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let gpu = match Gpu::new() {
        Ok(gpu) => gpu,
        Err(error) => return table.case("a device", "ms a step", None, |_| Err(error.into())),
    };
    let kind = if gpu.is_software() { "software: no goals" } else { "hardware" };
    table.remark(&format!("device: {} ({kind})", gpu.adapter()));
    let mut bandwidth = f64::NAN;
    table.case("a device, copying", "GB/s", None, |table| {
        bandwidth = 1e-9 * gpu.bandwidth()?;
        table.row("a device, copying", "GB/s", None, &[bandwidth])
    })?;
    let most = if effort.quick {
        16
    } else if gpu.is_software() {
        MOST_IN_SOFTWARE
    } else {
        u32::MAX
    };
    let mut ahead_from = None;
    for side in SIDES.into_iter().filter(|side| *side <= most) {
        let text = format!("{} particles", side * side);
        table.case(&text, "ms a step", None, |table| {
            let over = compare(table, effort, &text, side, (&gpu, bandwidth))?;
            ahead_from = if over < 1.0 { ahead_from.or(Some(side * side)) } else { None };
            Ok(())
        })?;
    }
    match ahead_from {
        Some(particles) => {
            let goal = (!gpu.is_software()).then_some(Target::AtMost(f64::from(AHEAD * AHEAD)));
            let text = "a device is ahead of a core, path by path, from";
            table.row(text, "particles", goal, &[f64::from(particles)])?;
        }
        None => table.remark("the device is not ahead of a core with the most particles"),
    }
    ibds_pieces::bench(table, effort, &gpu, most.saturating_mul(most))
}

/// How many times as long a device takes as a core, path by path.
fn compare(
    table: &mut Table,
    effort: Effort,
    text: &str,
    side: u32,
    (gpu, bandwidth): (&Arc<Gpu>, f64),
) -> Result<f64, Failure> {
    let net = swing::sheet(side, false, 1.0)?.net().clone();
    let edge: Vec<u32> = (0..side).map(|row| row * side).collect();
    let goal = |goals: &[(u32, f64)]| goals.iter().find(|(of, _)| *of == side).map(|(_, goal)| Target::AtMost(*goal));
    let on_hardware = |target: Option<Target>| target.filter(|_| !gpu.is_software());
    let mut best = f64::NAN;
    let squares = Solver::GaussSeidel(Optimisations { squares: true, ..Optimisations::NONE });
    for (way, on_core, on_device) in
        [("link by link", squares, OnDevice::Links), ("path by path", Solver::Paths, OnDevice::Paths)]
    {
        let mut here = IbdsCloth::new("sheet", net.clone())?;
        let mut there = IbdsClothGpu::new("sheet", net.clone(), gpu)?;
        here.pin(&edge)?;
        there.pin(&edge)?;
        let here = run(&mut here.solver(on_core).max_iterations(SWEEPS), &net, Inputs::NONE, effort)?;
        let mut cloth = there.solver(on_device).max_iterations(SWEEPS);
        let there = run(&mut cloth, &net, Inputs::NONE, effort)?;
        // Goals are for the better way.
        let is_best = on_device == OnDevice::default();
        let details = |ran: &Ran| [("iterations", ran.iterations), ("steps", ran.costs.len() as f64)];
        table.row_with(&format!("{text}, {way}: a core"), "ms a step", None, &here.costs, &details(&here))?;
        // A link, what it gave, and values at both ends read and written.
        let bytes = there.iterations * net.links().len() as f64 * (16.0 + 8.0 + 2.0 * (32.0 + 16.0));
        let [iterations, steps] = details(&there);
        let rate = bytes / (1e6 * median(&there.costs));
        let dispatches = there.iterations * cloth.groups_of_links() as f64;
        let details = [iterations, steps, ("dispatches", dispatches), ("GB/s", rate), ("of copying", rate / bandwidth)];
        let may_take = on_hardware(goal(&MAY_TAKE).filter(|_| is_best));
        table.row_with(&format!("{text}, {way}: a device"), "ms a step", may_take, &there.costs, &details)?;
        let over = median(&there.costs) / median(&here.costs);
        best = if is_best { over } else { best };
        let ahead = on_hardware((is_best && side >= AHEAD).then_some(Target::AtMost(1.0)));
        table.row(&format!("{text}, {way}: a device over a core"), "times", ahead, &[over])?;
        for (name, target, ran) in [("a core", None, &here), ("a device", goal(&MAY_STRETCH), &there)] {
            let target = target.filter(|_| is_best);
            table.row(&format!("{text}, {way}: largest stretch, {name}"), "-", target, &[ran.stretch])?;
        }
    }
    Ok(best)
}

/// How a run went.
pub(crate) struct Ran {
    /// Of each step `[ms]`.
    pub costs: Vec<f64>,
    /// A step, the mean.
    pub iterations: f64,
    /// Of the longest link in all steps, of its rest length [-].
    pub stretch: f64,
}

/// Steps with the same inputs.
///
/// # Errors
/// A step fails.
pub(crate) fn run(cloth: &mut impl Simulator, net: &Net, inputs: &Inputs, effort: Effort) -> Result<Ran, Failure> {
    let handles: Vec<_> = cloth.handles().iter().collect();
    let mut states = vec![Default::default(); handles.len()];
    let mut ran = Ran { costs: vec![], iterations: 0.0, stretch: 0.0 };
    let (start, steps) = (Instant::now(), if effort.quick { 3 } else { (LONG / DT) as usize });
    while ran.costs.len() < steps && (ran.costs.len() < 3 || start.elapsed().as_secs_f64() < LONG) {
        let begin = Instant::now();
        let report = cloth.step(DT, inputs)?;
        ran.costs.push(1e3 * begin.elapsed().as_secs_f64());
        ran.iterations += f64::from(report.iterations);
        cloth.read(&handles, &mut states)?;
        for link in net.links() {
            let [i, j] = link.particles.map(|k| nalgebra::Vector3::from(states[k as usize].position));
            ran.stretch = ran.stretch.max((j - i).norm() / link.rest_length - 1.0);
        }
    }
    ran.iterations /= ran.costs.len() as f64;
    Ok(ran)
}
