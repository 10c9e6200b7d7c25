//! The last resort, made to act by leaving impulses out: with no sweep and no round of impacts, all that collides moves as one.

use crate::common::{Cloth, flat};
use nalgebra::{Isometry3, Matrix3, Vector3};
use partita_contact::{Obstacle, Parameters, Path, Shape};
use partita_mesh::Mesh;

type V3 = Vector3<f64>;

const DT: f64 = 1.0 / 120.0;

fn without_impulses() -> Parameters {
    Parameters { sweeps: 0, impact_rounds: 0, ..Parameters::default() }
}

/// How a place goes on in a step in which all is turned, sheared, stretched and lifted by `way` metres.
fn affine(x: &V3, way: f64) -> V3 {
    let gradient = Matrix3::new(0.02, -0.03, 0.01, 0.02, 0.0, 0.015, 0.0, -0.02, -0.01);
    x + gradient * x + V3::y() * way
}

/// Cloth that is carried by a mesh of which every point goes its own way, where all of these make one affine map, goes with
/// it: there is room, and so none of it crosses and none is pinched.
#[test]
fn a_mesh_that_deforms_evenly_carries_cloth() {
    let floor = flat([3, 3], [0.5, 0.5], 0.0);
    let shape = Shape::Mesh { vertices: floor.positions(), triangles: floor.triangles().to_vec(), lines: vec![] };
    let mut cloth = Cloth::new(&flat([8, 8], [0.3, 0.3], 3e-3), without_impulses(), vec![Obstacle::new(shape)]);
    let mut points = floor.vertices().to_vec();
    let mut held = 0;
    for i in 0..30 {
        let end: Vec<V3> = points.iter().map(|x| affine(x, 5e-3)).collect();
        let report = cloth.step(DT, &[Path::Points { begin: &points, end: &end }]);
        points = end;
        held += report.held;
        assert!(report.pinched.is_empty(), "step {i}");
        assert_eq!(cloth.crossings(), 0, "step {i}");
        assert_eq!(cloth.crossings_with(&points, floor.triangles()), 0, "step {i}");
    }
    assert!(held > 1000, "{held}");
}

/// Pins that are moved by one affine map carry the cloth that lies on theirs.
#[test]
fn pins_that_move_evenly_carry_cloth() {
    let sheets = [flat([8, 8], [0.3, 0.3], 0.0), flat([6, 6], [0.4, 0.4], 3e-3)];
    let mut cloth = Cloth::new(&Mesh::joined(&sheets).unwrap(), without_impulses(), vec![]);
    cloth.gravity *= 0.3;
    let pins: Vec<usize> = (0..81).filter(|&k| cloth.x[k].x.abs().max(cloth.x[k].z.abs()) > 0.149).collect();
    pins.iter().for_each(|&k| cloth.inverse_masses[k] = 0.0);
    let mut held = 0;
    for i in 0..30 {
        for &k in &pins {
            cloth.v[k] = (affine(&cloth.x[k], 5e-3) - cloth.x[k]) / DT;
        }
        let report = cloth.step(DT, &[]);
        held += report.held;
        assert!(report.pinched.is_empty(), "step {i}");
        assert_eq!(cloth.crossings(), 0, "step {i}");
    }
    assert!(held > 100, "{held}");
}

/// Impulses on cloth and on all that holds it are opposite, and so are their torques, where two obstacles share what a zone takes.
#[test]
fn what_holds_a_zone_together_takes_it_once() {
    let plate = Obstacle::new(Shape::Cuboid { half_extents: [0.08, 0.02, 0.2] });
    // Both plates come up under one sheet, beside the origin.
    let sheet = flat([8, 8], [0.3, 0.3], 2e-3).at([0.5, 0.0, 0.3]).unwrap();
    let mut cloth = Cloth::new(&sheet, without_impulses(), vec![plate.clone(), plate]);
    let (mut held, speed) = (0.0, 0.6);
    for i in 0..30 {
        let pose = |i: u32, side: f64| Isometry3::translation(0.5 + 0.1 * side, speed * DT * f64::from(i) - 0.02, 0.3);
        let path = |side: f64| Path::Frame { begin: pose(i, side), end: pose(i + 1, side) };
        let begin = cloth.x.clone();
        let report = cloth.step(DT, &[path(-1.0), path(1.0)]);
        assert_eq!((report.pinched.len(), cloth.crossings()), (0, 0), "step {i}");
        let (mut linear, mut angular, mut size) = (V3::zeros(), V3::zeros(), 0.0);
        for (x, impulse) in begin.iter().zip(cloth.contacts.impulses()) {
            (linear, angular, size) = (linear + impulse, angular + x.cross(impulse), size + impulse.norm());
        }
        for (reaction, side) in cloth.contacts.reactions().iter().zip([-1.0, 1.0]) {
            linear += reaction.linear;
            angular += reaction.angular + pose(i, side).translation.vector.cross(&reaction.linear);
        }
        // To rounding. Torques are those of later parts of the step, to which all has gone on at about that speed.
        assert!(linear.norm() <= 1e-12 * size, "step {i}: {linear}");
        assert!(angular.norm() <= 2.0 * speed * DT * size, "step {i}: {angular}");
        held += if cloth.contacts.reactions().len() == 2 { size } else { 0.0 };
    }
    assert!(held > 1e-3, "{held} N s");
}

/// Plates that pass through each other within a step leave what is between them no room; but it does not turn inside out.
#[test]
fn layers_between_plates_that_pass_keep_their_order() {
    let plate = Obstacle::new(Shape::Cuboid { half_extents: [0.2, 0.02, 0.2] });
    let layers = [1.0, 2.0, 3.0].map(|k| flat([6, 6], [0.3, 0.3], 1.5e-3 * k));
    let mut cloth = Cloth::new(&Mesh::joined(&layers).unwrap(), without_impulses(), vec![plate.clone(), plate]);
    cloth.gravity = V3::zeros();
    let path = |from: f64, to: f64| Path::Frame {
        begin: Isometry3::translation(0.0, from, 0.0),
        end: Isometry3::translation(0.0, to, 0.0),
    };
    let report = cloth.step(DT, &[path(-0.02, 0.08), path(0.026, -0.08)]);
    assert!(!report.pinched.is_empty());
    let n = cloth.x.len() / 3;
    assert!((0..2 * n).all(|k| cloth.x[k].y < cloth.x[k + n].y));
    assert_eq!(cloth.crossings(), 0);
}
