//! The bench `rigid`: time of a step of rigid bodies, of snapshots and of retraction.
//!
//! The scenes are a wall of 100 boxes that have settled for a second, and 100 boxes that tumble,
//! at 60 Hz. Each group gives ratios to its first case:
//!
//! - Rapier's substeps to Rapier alone: what the `Simulator` interface costs, with its copies.
//! - Own substeps to Rapier alone: what joint impulses of whole steps cost.
//! - Snapshots and retraction to a step.
//! - Exact free rotation to Rapier's correction.

use std::{hint::black_box, time::Instant};

use partita::{
    prelude::*,
    rigid::rapier::prelude::{ColliderBuilder, PhysicsWorld, RigidBodyBuilder, Vector},
    simulator::Inputs,
};

use crate::{
    Effort,
    table::{Failure, Table, median},
};

/// Length of a step `[s]`.
const DT: f64 = 1.0 / 60.0;

/// A name and what is measured under it.
type Case<'a> = (&'static str, Box<dyn FnMut() -> Result<(), Failure> + 'a>);

/// All cases.
///
/// # Errors
/// The JSON file cannot be written.
pub fn bench(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    table.case("wall of 100 boxes", "us", None, |table| steps(table, effort))?;
    table.case("wall of 100 boxes, its state", "us", None, |table| states(table, effort))?;
    table.case("100 boxes that tumble", "us", None, |table| rotations(table, effort))
}

fn steps(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let [mut own, mut own_once] = [wall(4, 1, 4)?, wall(4, 1, 1)?];
    let [mut theirs, mut theirs_once] = [wall(1, 4, 4)?, wall(1, 4, 1)?];
    let [mut bare, mut bare_once] = [bare_wall(4), bare_wall(1)];
    let cases = [
        case("Rapier alone, 1 x 4 substeps", || {
            bare.step();
            Ok(())
        }),
        case("Rapier's substeps 1 x 4", || Ok(theirs.step(DT, Inputs::NONE)?)),
        case("own substeps 4 x 1", || Ok(own.step(DT, Inputs::NONE)?)),
        case("Rapier alone, 1 x 4 substeps, 1 sweep", || {
            bare_once.step();
            Ok(())
        }),
        case("Rapier's substeps 1 x 4, 1 sweep", || Ok(theirs_once.step(DT, Inputs::NONE)?)),
        case("own substeps 4 x 1, 1 sweep", || Ok(own_once.step(DT, Inputs::NONE)?)),
    ];
    in_turns(table, effort, "wall of 100 boxes", cases)
}

fn states(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let [mut stepped, marked, mut tried, mut retracted] =
        [wall(4, 1, 4)?, wall(4, 1, 4)?, wall(4, 1, 4)?, wall(4, 1, 4)?];
    let mark = retracted.snapshot(None);
    let bytes = mark.to_bytes();
    let cases = [
        case("a step", || Ok(stepped.step(DT, Inputs::NONE)?)),
        case("a snapshot", || Ok(marked.snapshot(None))),
        case("a retraction", || Ok(retracted.retract(&mark)?)),
        case("a snapshot, a step and its retraction", || {
            let mark = tried.snapshot(None);
            tried.step(DT, Inputs::NONE)?;
            Ok(tried.retract(&mark)?)
        }),
        case("a snapshot to bytes", || Ok(mark.to_bytes())),
        case("a snapshot from bytes", || Ok(marked.snapshot_from_bytes(&bytes)?)),
    ];
    in_turns(table, effort, "wall of 100 boxes", cases)?;
    table.remark(&format!("a snapshot has {} bytes", bytes.len()));
    Ok(())
}

fn rotations(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let [mut exact, mut corrected] = [tumbling(true)?, tumbling(false)?];
    let cases = [
        case("Rapier's correction", || Ok(corrected.step(DT, Inputs::NONE)?)),
        case("exact free rotation", || Ok(exact.step(DT, Inputs::NONE)?)),
    ];
    in_turns(table, effort, "100 boxes that tumble", cases)
}

fn case<'a, T>(name: &'static str, mut run: impl FnMut() -> Result<T, Failure> + 'a) -> Case<'a> {
    let run = move || {
        black_box(run()?);
        Ok(())
    };
    (name, Box::new(run))
}

/// Microseconds of each case, and their ratio to the first case. The samples are interleaved.
fn in_turns<const N: usize>(
    table: &mut Table,
    effort: Effort,
    scene: &str,
    mut cases: [Case; N],
) -> Result<(), Failure> {
    let mut times = [(); N].map(|()| Vec::new());
    for _ in 0..effort.samples(200) {
        for ((_, run), times) in cases.iter_mut().zip(&mut times) {
            let start = Instant::now();
            run()?;
            times.push(1e6 * start.elapsed().as_secs_f64());
        }
    }
    for ((name, _), samples) in cases.iter().zip(&times) {
        table.row(&format!("{scene}: {name}"), "us", None, samples)?;
        table.remark(&format!("{:.3} of the first", median(samples) / median(&times[0])));
    }
    Ok(())
}

fn place(i: u32) -> [f64; 3] {
    [0.52 * f64::from(i % 10), 0.25 + 0.5 * f64::from(i / 10), 0.0]
}

fn wall(substeps: u32, iterations: u32, sweeps: u32) -> Result<RigidBodies, Failure> {
    let mut rigid = RigidBodies::new("wall").substeps(substeps).solver_iterations(iterations).sweeps(sweeps);
    rigid.add("floor", Body::fixed(Shape::cuboid([40.0, 1.0, 40.0])).at([0.0, -0.5, 0.0]))?;
    for i in 0..100 {
        rigid.add(&format!("{i}"), Body::dynamic(Shape::cuboid([0.5; 3])).at(place(i)))?;
    }
    for _ in 0..60 {
        rigid.step(DT, Inputs::NONE)?;
    }
    Ok(rigid)
}

fn bare_wall(sweeps: usize) -> PhysicsWorld {
    let mut world = PhysicsWorld::new();
    let parameters = &mut world.integration_parameters;
    parameters.dt = DT;
    parameters.num_internal_pgs_iterations = sweeps;
    // As `RigidBodies` chooses them for boxes of 0.5 m.
    parameters.length_unit = 0.5;
    parameters.normalized_contact_recycle_distance = 0.25 * parameters.normalized_prediction_distance;
    let floor = RigidBodyBuilder::fixed().translation(Vector::new(0.0, -0.5, 0.0));
    world.insert(floor, ColliderBuilder::cuboid(20.0, 0.5, 20.0));
    for i in 0..100 {
        let body = RigidBodyBuilder::dynamic().translation(Vector::from_array(place(i))).can_sleep(false);
        world.insert(body, ColliderBuilder::cuboid(0.25, 0.25, 0.25).density(1000.0));
    }
    (0..60).for_each(|_| world.step());
    world
}

/// 100 boxes of three different lengths that tumble freely, by 0.25 rad a step.
fn tumbling(free_rotation: bool) -> Result<RigidBodies, Failure> {
    let mut rigid = RigidBodies::new("tumbling").gravity([0.0; 3]).free_rotation(free_rotation);
    for i in 0..100 {
        let at = [2.0 * f64::from(i % 10), 2.0 * f64::from(i / 10), 0.0];
        let body = Body::dynamic(Shape::cuboid([0.5, 0.4, 0.2])).at(at).spin([1.0, 15.0, 2.0]);
        rigid.add(&format!("{i}"), body)?;
    }
    Ok(rigid)
}
