//! The bench `particles`: nanoseconds a particle, beside what memory allows.
//!
//! A step in free flight reads a position and a velocity and writes both: 96 bytes a particle. Beside it
//! runs the least that moves as many bytes over arrays of the same size, `x₁ = x + h v, v₁ = v + h g`; the
//! ratio of the two times says how far a step is from the memory's bandwidth.

use std::{f64::consts::TAU, hint::black_box, sync::Arc, time::Instant};

use partita::{
    prelude::*,
    simulator::{Carrier, Guide, Inputs, Motion, Snapshot, Surface},
};

use crate::{
    Effort,
    table::{Failure, Table, Target, median},
};

const DT: f64 = 1.0 / 240.0;

/// Moved by a step of one particle in free flight `[bytes]`: two vectors read, two written.
const BYTES: f64 = 96.0;

/// All cases.
///
/// # Errors
/// The JSON file cannot be written.
pub fn bench(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let unit = "ns/particle";
    table.case("free flight", unit, None, |table| free_flight(table, effort))?;
    for (place, warm) in [("falling", 60), ("landed", 150)] {
        let case = format!("20,000 among 10,082 triangles of a waving sheet, {place}");
        table.case(&case, unit, None, |table| among(table, effort, &case, sheet(), warm, &wave))?;
        let case = format!("20,000 among 10,000 triangles of a turning frame, {place}");
        table.case(&case, unit, None, |table| among(table, effort, &case, hills(), warm, &turn))?;
    }
    Ok(())
}

/// `n` particles in a slab above the obstacles, all there after the first step.
fn crowd(n: u32) -> Particles {
    let slab = Emitter::cuboid([0.0, 1.2, 0.0], [5.6, 1.6, 5.6]).rate(f64::from(n) / DT).stop(DT);
    Particles::new("crowd").emit(slab)
}

/// A quarter, half and a whole million in turns, and the same bytes moved by the least arithmetic.
fn free_flight(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let sizes: [u32; 3] = if effort.quick { [25_000, 50_000, 100_000] } else { [250_000, 500_000, 1_000_000] };
    let mut crowds = sizes.map(crowd);
    for (crowd, n) in crowds.iter_mut().zip(sizes) {
        crowd.step(DT, Inputs::NONE)?;
        crowd.step(DT, Inputs::NONE)?;
        if crowd.len() != n as usize {
            return Err(format!("{} particles instead of {n}", crowd.len()).into());
        }
    }
    let mut streams = sizes.map(|n| Stream::new(n as usize));
    let (mut flights, mut moves) = ([(); 3].map(|()| Vec::new()), [(); 3].map(|()| Vec::new()));
    for _ in 0..effort.samples(25) {
        for i in 0..sizes.len() {
            let start = Instant::now();
            crowds[i].step(DT, Inputs::NONE)?;
            flights[i].push(start.elapsed().as_secs_f64());
            let start = Instant::now();
            streams[i].run();
            moves[i].push(start.elapsed().as_secs_f64());
        }
    }

    for ((&n, flights), moves) in sizes.iter().zip(&flights).zip(&moves) {
        let each = |seconds: &[f64]| seconds.iter().map(|s| 1e9 * s / f64::from(n)).collect::<Vec<_>>();
        table.row(&format!("{n} in free flight"), "ns/particle", None, &each(flights))?;
        let ratios: Vec<_> = flights.iter().zip(moves).map(|(flight, stream)| flight / stream).collect();
        table.row(&format!("{n} in free flight, over moving their bytes"), "step/move", None, &ratios)?;
        let bandwidth = |seconds: &[f64]| seconds.iter().map(|s| 1e-9 * BYTES * f64::from(n) / s).collect::<Vec<_>>();
        table.row(&format!("{n} in free flight, {BYTES} bytes a particle"), "GB/s", None, &bandwidth(flights))?;
        table.row(&format!("moving the bytes of {n}"), "GB/s", None, &bandwidth(moves))?;
    }
    for i in 1..sizes.len() {
        let ratios: Vec<_> = flights[i].iter().zip(&flights[i - 1]).map(|(twice, once)| twice / once).collect();
        let case = format!("free flight, {} to {} particles", sizes[i - 1], sizes[i]);
        table.row(&case, "t(2n)/t(n)", Some(Target::AtMost(2.3)), &ratios)?;
    }
    Ok(())
}

/// Four arrays of vectors, as a step has them.
struct Stream {
    from: [Vec<f64>; 2],
    to: [Vec<f64>; 2],
}

impl Stream {
    fn new(n: usize) -> Self {
        let array = |x: f64| vec![x; 3 * n];
        Self { from: [array(1.0), array(2.0)], to: [array(3.0), array(4.0)] }
    }

    /// x₁ = x + h v, v₁ = v + h g, and the new ones become the old ones.
    fn run(&mut self) {
        let ([x, v], [x1, v1]) = (&self.from, &mut self.to);
        for (((x1, v1), x), v) in x1.iter_mut().zip(v1).zip(x).zip(v) {
            (*x1, *v1) = (x + DT * v, v - DT * 9.81);
        }
        std::mem::swap(&mut self.from, &mut self.to);
        black_box(self);
    }
}

/// The same step again and again, `warm` steps into the scene, and the same crowd in free flight.
fn among(
    table: &mut Table,
    effort: Effort,
    case: &str,
    guide: Guide,
    warm: u32,
    states: &dyn Fn(f64) -> Arc<[HandleState]>,
) -> Result<(), Failure> {
    let n = 20_000;
    let mut particles = crowd(n);
    particles.follow(vec![guide])?;
    let inputs = |step: u32| {
        let t = f64::from(step) * DT;
        Inputs { motions: vec![Some(Motion { begin: states(t), end: states(t + DT) })], ..Inputs::default() }
    };
    for step in 0..warm {
        particles.step(DT, &inputs(step))?;
    }
    let (begin, inputs): (Snapshot, Inputs) = (particles.snapshot(None), inputs(warm));
    let (mut stream, mut steps, mut moves) = (Stream::new(n as usize), Vec::new(), Vec::new());
    let mut stages: Vec<(String, Vec<f64>)> = Vec::new();
    for _ in 0..effort.samples(25) {
        particles.retract(&begin)?;
        let start = Instant::now();
        let report = particles.step(DT, &inputs)?;
        steps.push(start.elapsed().as_secs_f64());
        for (stage, seconds) in report.stages.0 {
            match stages.iter_mut().find(|(name, _)| *name == stage) {
                Some((_, all)) => all.push(seconds),
                None => stages.push((stage, vec![seconds])),
            }
        }
        let start = Instant::now();
        stream.run();
        moves.push(start.elapsed().as_secs_f64());
    }
    let each = |seconds: &[f64]| seconds.iter().map(|s| 1e9 * s / f64::from(n)).collect::<Vec<_>>();
    table.row(case, "ns/particle", None, &each(&steps))?;
    let ratios: Vec<_> = steps.iter().zip(&moves).map(|(step, stream)| step / stream).collect();
    table.row(&format!("{case}, over moving"), "step/move", None, &ratios)?;
    let split: Vec<_> =
        stages.iter().map(|(stage, seconds)| format!("{stage} {:.1}", 1e9 * median(seconds) / f64::from(n))).collect();
    table.remark(&format!("ns/particle by stage: {}", split.join(", ")));
    Ok(())
}

fn handle(index: u32) -> HandleId {
    HandleId { owner: 1, index }
}

fn obstacle(carrier: Carrier, vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Guide {
    let (friction, restitution, thickness) = (0.3, 0.3, 0.0);
    let surface = Surface {
        name: "obstacle".into(),
        carrier,
        vertices,
        triangles,
        lines: vec![],
        two_sided: true,
        primitive: None,
        friction,
        restitution,
        thickness,
    };
    Guide::Obstacle { surface: surface.into(), friction, restitution, thickness, except: Vec::new() }
}

/// The triangles of a grid of `rows` times `columns` cells.
fn cells(rows: u32, columns: u32) -> Vec<[u32; 3]> {
    let cell = |k: u32| {
        let a = k / columns * (columns + 1) + k % columns;
        let b = a + columns + 1;
        [[a, b, a + 1], [a + 1, b, b + 1]]
    };
    (0..rows * columns).flat_map(cell).collect()
}

/// Cells along each side of the waving sheet of 2 · 71² = 10,082 triangles, 6 m wide.
const CELLS: u32 = 71;

fn wave(t: f64) -> Arc<[HandleState]> {
    let at = |i: u32| 6.0 * f64::from(i) / f64::from(CELLS) - 3.0;
    let corner = |i: u32| {
        let (x, z) = (at(i % (CELLS + 1)), at(i / (CELLS + 1)));
        HandleState::point([x, 0.1 * (3.0 * x + 5.0 * t).sin() * (2.0 * z).cos(), z], [0.0; 3])
    };
    (0..(CELLS + 1) * (CELLS + 1)).map(corner).collect()
}

fn sheet() -> Guide {
    let corners = wave(0.0);
    let carrier = Carrier::Points((0..corners.len() as u32).map(handle).collect());
    obstacle(carrier, corners.iter().map(|corner| corner.position).collect(), cells(CELLS, CELLS))
}

/// Rigid hills of 2 · 50 · 100 = 10,000 triangles, 6 m wide, carried by one Frame.
fn hills() -> Guide {
    let corner = |i: u32| {
        let (x, z) = (6.0 * f64::from(i % 101) / 100.0 - 3.0, 6.0 * f64::from(i / 101) / 50.0 - 3.0);
        [x, 0.1 * (3.0 * x).sin() * (2.0 * z).cos(), z]
    };
    obstacle(Carrier::Frame(handle(0)), (0..51 * 101).map(corner).collect(), cells(50, 100))
}

/// Once around the upright axis in four seconds.
fn turn(t: f64) -> Arc<[HandleState]> {
    let half = 0.5 * TAU / 4.0 * t;
    let orientation = [0.0, half.sin(), 0.0, half.cos()];
    [HandleState { orientation, spin: [0.0, TAU / 4.0, 0.0], ..HandleState::default() }].into()
}
