//! Cloth in parts is cloth in one: the same bits with any number of threads.

use crate::common::{
    cloth::{elastic, make, plain},
    obstacles::{obstacle, still},
};
use nalgebra::Vector3;
use partita_avi_cloth::{AviCloth, Bending, Counts, Fabric, Limit, Parameters};
use partita_mesh::Mesh;
use partita_simulator::{HandleState, Inputs, Reaction, Simulator, Wrench};

type V3 = Vector3<f64>;

fn parameters() -> Parameters {
    Parameters { courant: 0.5, gravity: Parameters::default().gravity, ..plain(elastic().bend(1e-5)) }
}

/// Of most steps `[s]`.
const FRAME: f64 = 1.0 / 60.0;

/// What came of some steps, to the bit.
#[derive(PartialEq, Debug)]
struct Outcome {
    snapshot: Vec<u8>,
    counts: Vec<Counts>,
    events: Vec<Vec<(f64, u32)>>,
    reactions: Vec<Vec<Reaction>>,
}

/// And in how many parts it was.
fn outcome(mut cloth: AviCloth, inputs: &Inputs, dt: f64, steps: u32) -> (Outcome, usize) {
    let mut parts = 0;
    let mut outcome = Outcome { snapshot: vec![], counts: vec![], events: vec![], reactions: vec![] };
    cloth.record_events();
    for _ in 0..steps {
        let report = cloth.step(dt, inputs).unwrap();
        parts = parts.max(cloth.parts());
        outcome.counts.push(cloth.counts());
        outcome.events.push(cloth.events().to_vec());
        outcome.reactions.push(report.reactions);
    }
    outcome.snapshot = cloth.snapshot(None).to_bytes();
    (outcome, parts)
}

/// Asserts that two, three and five threads bring about in parts what one does in one, and returns that.
fn same_bits(cloth: impl Fn() -> AviCloth + Sync, inputs: &Inputs, dt: f64, steps: u32) -> Outcome {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| outcome(cloth(), inputs, dt, steps))
    };
    let (one, parts) = with(1);
    assert_eq!(parts, 1);
    for threads in [2, 3, 5] {
        let (several, parts) = with(threads);
        assert!((2..=threads).contains(&parts), "{parts} parts for {threads} threads");
        // Not all of it in a message.
        assert!(several == one, "{threads} threads are not one");
    }
    one
}

/// A level sheet 1.6 m wide, held by a corner, and shaken by another.
fn hanging(mesh: &Mesh, parameters: Parameters) -> AviCloth {
    let mut cloth = make(mesh.clone(), parameters);
    let nearest = |corner: V3| {
        let to = |v: &u32| (mesh.vertices()[*v as usize] - corner).norm();
        (0..mesh.vertices().len() as u32).min_by(|a, b| to(a).total_cmp(&to(b))).unwrap()
    };
    cloth.pin(&[nearest(V3::zeros())]).unwrap();
    let wave = |t: f64| HandleState::point([0.0, 0.0, 0.02 * (9.0 * t).sin()], [0.0, 0.0, 0.18 * (9.0 * t).cos()]);
    cloth.pin_along("hand", &[nearest(V3::new(1.6, 0.0, 0.0))], wave).unwrap();
    cloth
}

fn level(mesh: Mesh) -> Mesh {
    mesh.turned([1.0, 0.0, 0.0], -std::f64::consts::FRAC_PI_2).unwrap()
}

fn unstructured() -> Mesh {
    level(Mesh::unstructured([1.6; 2], 9100, |_| 1.0).unwrap())
}

#[test]
fn with_forces_alone() {
    let mesh = unstructured();
    let cloth = || hanging(&mesh, parameters());
    let mut inputs = Inputs::NONE.clone();
    inputs.loads =
        vec![(cloth().vertex(1000), Wrench::force([0.0, 0.3, 0.1])), (cloth().vertex(7), Wrench::force([0.1; 3]))];
    same_bits(cloth, &inputs, FRAME, 6);
}

#[test]
fn with_hinges_that_have_clocks_and_viscosity() {
    let mesh = unstructured();
    let fabric = Fabric { damping: 1e-4, bend_damping: 1e-4, ..parameters().fabric };
    same_bits(
        || hanging(&mesh, Parameters { fabric, bending: Bending::Hinges, ..parameters() }),
        Inputs::NONE,
        FRAME,
        3,
    );
}

/// Sums of what many who hold take have the order of vertices, whatever part these are in.
#[test]
fn with_many_held() {
    let flat = Mesh::unstructured([1.6; 2], 9100, |_| 1.0).unwrap();
    let n = flat.vertices().len();
    // As numbers come from other tools: all over the place, and about the origin.
    let number = |k: usize| (1009 * k % n) as u32;
    let mut vertices = vec![[0.0; 3]; n];
    for (k, [x, y, _]) in flat.positions().into_iter().enumerate() {
        let (x, y) = (x - 0.8, y + 0.8);
        vertices[number(k) as usize] = [x, y, 0.1 * x * y];
    }
    let triangles: Vec<[u32; 3]> = flat.triangles().iter().map(|t| t.map(|v| number(v as usize))).collect();
    let mesh = Mesh::new(&vertices, &triangles).unwrap();
    let held: Vec<u32> = (0..40).map(|k| (k * n / 40) as u32).collect();
    let cloth = || {
        let mut cloth = make(mesh.clone(), parameters());
        cloth.pin(&held).unwrap();
        cloth
    };
    same_bits(cloth, Inputs::NONE, 0.2, 4);
}

/// All clocks agree, so that order is by number alone.
#[test]
fn where_all_clocks_agree() {
    let mesh = level(Mesh::grid([80, 60], [1.6, 1.2]).unwrap());
    let triangles = mesh.triangles().len();
    same_bits(|| hanging(&mesh, parameters()).with_spans(&vec![2e-4; triangles]).unwrap(), Inputs::NONE, FRAME, 3);
}

/// Limits move whatever is taut: from corners on, lines of taut triangles run across all parts.
#[test]
fn with_limits() {
    let mesh = unstructured();
    let outcome = same_bits(
        || hanging(&mesh, Parameters { limit: Some(Limit::default()), ..parameters() }),
        Inputs::NONE,
        FRAME,
        24,
    );
    assert!(outcome.counts.iter().map(|counts| counts.limited).sum::<u64>() > 10_000, "{:?}", outcome.counts);
}

/// What meets something is of no part: a block below, and a small piece that comes down on the middle.
#[test]
fn with_an_obstacle_and_a_piece() {
    let sheet = level(Mesh::unstructured([2.0; 2], 9100, |_| 1.0).unwrap()).at([0.0, 0.055, 0.0]).unwrap();
    let piece = level(Mesh::grid([5, 5], [0.15, 0.15]).unwrap()).at([0.95, 0.08, 0.95]).unwrap();
    let mesh = Mesh::joined(&[sheet.clone(), piece]).unwrap();
    let falls = |k: usize| [0.0, if k < sheet.vertices().len() { 0.0 } else { -1.0 }, 0.0];
    let velocities: Vec<[f64; 3]> = (0..mesh.vertices().len()).map(falls).collect();
    let guide = obstacle(&Mesh::cuboid([0.3, 0.1, 0.3]).unwrap(), 0.5, false);
    let inputs = still(V3::new(0.35, -0.01, 0.35));
    let cloth = || {
        let parameters = Parameters { self_contact: true, ..parameters() };
        let cloth = make(mesh.clone(), parameters);
        let mut cloth = cloth.with_velocities(&velocities).unwrap();
        cloth.follow(vec![guide.clone()]).unwrap();
        cloth
    };
    let outcome = same_bits(cloth, &inputs, FRAME, 10);
    let handled: usize = outcome.counts.iter().map(|counts| counts.handled).sum();
    assert!(handled > 100 && outcome.reactions.iter().any(|reactions| !reactions.is_empty()), "{:?}", outcome.counts);
}
