//! What a step costs, how, and what the safety around it adds: `cargo bench -p partita-rigid`.
//!
//! A wall of 100 boxes at 60 Hz, settled for a second, read the ratios:
//! - `own substeps 4 x 1` to `rapier's substeps 1 x 4`: what whole-step joint impulses cost;
//! - the latter to `rapier alone`: the contract, with its copies against failed steps;
//! - `free rotation` to `rapier's correction`: what exact rotation costs;
//! - `snapshot`, `retract`, `bytes` to a step.

#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use partita_rigid::{
    Body, RigidBodies, Shape,
    rapier::prelude::{ColliderBuilder, PhysicsWorld, RigidBodyBuilder, Vector},
};
use partita_simulator::{Inputs, Simulator};

const DT: f64 = 1.0 / 60.0;

fn place(i: u32) -> [f64; 3] {
    [0.52 * f64::from(i % 10), 0.25 + 0.5 * f64::from(i / 10), 0.0]
}

fn wall(substeps: u32, iterations: u32, sweeps: u32) -> RigidBodies {
    let mut rigid = RigidBodies::new("wall").substeps(substeps).solver_iterations(iterations).sweeps(sweeps);
    rigid.add("floor", Body::fixed(Shape::cuboid([40.0, 1.0, 40.0])).at([0.0, -0.5, 0.0])).unwrap();
    for i in 0..100 {
        rigid.add(&format!("{i}"), Body::dynamic(Shape::cuboid([0.5; 3])).at(place(i))).unwrap();
    }
    (0..60).for_each(|_| drop(rigid.step(DT, Inputs::NONE).unwrap()));
    rigid
}

fn bare_wall(sweeps: usize) -> PhysicsWorld {
    let mut world = PhysicsWorld::new();
    world.integration_parameters.dt = DT;
    world.integration_parameters.num_internal_pgs_iterations = sweeps;
    let floor = RigidBodyBuilder::fixed().translation(Vector::new(0.0, -0.5, 0.0));
    world.insert(floor, ColliderBuilder::cuboid(20.0, 0.5, 20.0));
    for i in 0..100 {
        let body = RigidBodyBuilder::dynamic().translation(Vector::from_array(place(i))).can_sleep(false);
        world.insert(body, ColliderBuilder::cuboid(0.25, 0.25, 0.25).density(1000.0));
    }
    (0..60).for_each(|_| world.step());
    world
}

fn steps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("wall of 100 boxes, a step");
    for (name, substeps, iterations, sweeps) in [
        ("own substeps 4 x 1", 4, 1, 4),
        ("own substeps 4 x 1, 1 sweep", 4, 1, 1),
        ("rapier's substeps 1 x 4", 1, 4, 4),
        ("rapier's substeps 1 x 4, 1 sweep", 1, 4, 1),
    ] {
        let mut rigid = wall(substeps, iterations, sweeps);
        group.bench_function(name, |bench| bench.iter(|| rigid.step(DT, Inputs::NONE).unwrap()));
    }
    for sweeps in [4, 1] {
        let mut world = bare_wall(sweeps);
        group.bench_function(format!("rapier alone 1 x 4, {sweeps} sweep(s)"), |bench| bench.iter(|| world.step()));
    }
    group.finish();
}

/// 100 boxes of three different lengths that tumble freely, by 0.25 rad a step.
fn tumbling(free_rotation: bool) -> RigidBodies {
    let mut rigid = RigidBodies::new("tumbling").gravity([0.0; 3]).free_rotation(free_rotation);
    for i in 0..100 {
        let at = [2.0 * f64::from(i % 10), 2.0 * f64::from(i / 10), 0.0];
        rigid
            .add(&format!("{i}"), Body::dynamic(Shape::cuboid([0.5, 0.4, 0.2])).at(at).spin([1.0, 15.0, 2.0]))
            .unwrap();
    }
    rigid
}

fn rotations(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("100 boxes that tumble, a step");
    for (name, free_rotation) in [("free rotation", true), ("rapier's correction", false)] {
        let mut rigid = tumbling(free_rotation);
        group.bench_function(name, |bench| bench.iter(|| rigid.step(DT, Inputs::NONE).unwrap()));
    }
    group.finish();
}

fn states(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("wall of 100 boxes, its state");
    let mut rigid = wall(4, 1, 4);
    let mark = rigid.snapshot(None);
    group.bench_function("snapshot", |bench| bench.iter(|| rigid.snapshot(None)));
    group.bench_function("retract", |bench| bench.iter(|| rigid.retract(&mark).unwrap()));
    group.bench_function("snapshot, step, retract", |bench| {
        bench.iter(|| {
            let mark = rigid.snapshot(None);
            rigid.step(DT, Inputs::NONE).unwrap();
            rigid.retract(&mark).unwrap();
        });
    });
    group.bench_function("to bytes", |bench| bench.iter(|| mark.to_bytes()));
    let bytes = mark.to_bytes();
    println!("{} bytes", bytes.len());
    group.bench_function("from bytes", |bench| bench.iter(|| rigid.snapshot_from_bytes(&bytes).unwrap()));
    group.finish();
}

criterion_group!(benches, steps, rotations, states);
criterion_main!(benches);
