//! Time of a step: free flight beside the copy that memory allows, and flight among moving triangles.
//!
//! `cargo bench -p partita-particles`; with `RAYON_NUM_THREADS=1` for one core.
#![allow(missing_docs)] // `criterion_group!` writes a public function

use std::{hint::black_box, sync::Arc};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use partita_particles::{Emitter, Particles};
use partita_simulator::{Carrier, Guide, HandleId, HandleState, Inputs, Motion, Simulator, Surface};

const DT: f64 = 1.0 / 240.0;

/// `n` particles from a slab above the obstacles, all there after the first step.
fn crowd(n: f64) -> Particles {
    Particles::new("crowd").emit(Emitter::cuboid([0.0, 1.2, 0.0], [5.6, 1.6, 5.6]).rate(n / DT).stop(DT))
}

fn guide(name: &str, carrier: Carrier, vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Guide {
    let (friction, restitution, thickness) = (0.3, 0.3, 0.0);
    let (name, two_sided) = (name.into(), matches!(carrier, Carrier::Points(_)));
    let surface = Surface {
        name,
        carrier,
        vertices,
        triangles,
        lines: vec![],
        two_sided,
        primitive: None,
        friction,
        restitution,
        thickness,
    };
    Guide::Obstacle { surface: surface.into(), friction, restitution, thickness, except: vec![] }
}

fn handle(index: u32) -> HandleId {
    HandleId { owner: 1, index }
}

fn cuboid(number: u32) -> Guide {
    let half = [0.4, 0.2, 0.4];
    let corner = |i: usize| std::array::from_fn(|k| if i >> k & 1 == 1 { half[k] } else { -half[k] });
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    guide("box", Carrier::Frame(handle(number)), (0..8).map(corner).collect(), triangles)
}

/// Thirty boxes that bob up and down.
fn bobbing(t: f64) -> Inputs {
    let at = |i: u32, t: f64| {
        let height = 0.1 * (3.0 * t + f64::from(i)).sin();
        HandleState::point([f64::from(i % 6) - 2.5, height, f64::from(i / 6) - 2.0], [0.0; 3])
    };
    let motion = |i| Some(Motion { begin: [at(i, t)].into(), end: [at(i, t + DT)].into() });
    Inputs { motions: (0..30).map(motion).collect(), ..Inputs::default() }
}

/// Cells along each side of the waving sheet of 2 · 71² = 10,082 triangles.
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
    let cell = |k: u32| {
        let a = k / CELLS * (CELLS + 1) + k % CELLS;
        [[a, a + CELLS + 1, a + 1], [a + 1, a + CELLS + 1, a + CELLS + 2]]
    };
    let carrier = Carrier::Points((0..corners.len() as u32).map(handle).collect());
    let vertices = corners.iter().map(|corner| corner.position).collect();
    guide("sheet", carrier, vertices, (0..CELLS * CELLS).flat_map(cell).collect())
}

/// A step from the same state again and again, `warm` steps into the scene.
fn among(c: &mut Criterion, name: &str, guides: Vec<Guide>, warm: u32, inputs: impl Fn(f64) -> Inputs) {
    let mut particles = crowd(20_000.0);
    particles.follow(guides).unwrap();
    (0..warm).for_each(|i| drop(particles.step(DT, &inputs(f64::from(i) * DT)).unwrap()));
    let (begin, inputs) = (particles.snapshot(None), inputs(f64::from(warm) * DT));
    let mut group = c.benchmark_group("step");
    group.throughput(Throughput::Elements(20_000)).bench_function(name, |b| {
        b.iter(|| {
            particles.retract(&begin).unwrap();
            particles.step(DT, &inputs).unwrap()
        });
    });
}

fn step(c: &mut Criterion) {
    let mut group = c.benchmark_group("step");
    let (from, mut to) = (vec![1.0f64; 6_000_000], vec![0.0f64; 6_000_000]);
    group.throughput(Throughput::Elements(1_000_000));
    group.bench_function("copy of a million states", |b| b.iter(|| to.copy_from_slice(black_box(&from))));
    let mut free = crowd(1e6);
    free.step(DT, Inputs::NONE).unwrap();
    group.bench_function("a million in free flight", |b| b.iter(|| free.step(DT, Inputs::NONE).unwrap()));
    group.finish();

    for (when, warm) in [("falling", 60), ("landed", 150)] {
        among(c, &format!("20,000 among 30 boxes, {when}"), (0..30).map(cuboid).collect(), warm, bobbing);
        let waving = |t: f64| {
            let motion = Motion { begin: wave(t), end: wave(t + DT) };
            Inputs { motions: vec![Some(motion)], ..Inputs::default() }
        };
        among(c, &format!("20,000 among 10,082 triangles, {when}"), vec![sheet()], warm, waving);
    }
}

criterion_group!(benches, step);
criterion_main!(benches);
