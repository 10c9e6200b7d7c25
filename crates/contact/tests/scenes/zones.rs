//! The last resort, made to act by leaving impulses out: with no sweep and no round of impacts, all that collides moves as one.

use crate::common::{Cloth, flat, joined};
use nalgebra::{Matrix3, Vector3};
use partita_contact::{Obstacle, Parameters, Path, Shape};

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
    let shape = Shape::Mesh { vertices: floor.positions(), triangles: floor.triangles().to_vec() };
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
    let mut cloth = Cloth::new(&joined(&sheets), without_impulses(), vec![]);
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
