//! What crosses at the begin: told of, led apart, never thrown about.

use std::f64::consts::PI;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use partita_contact::{Obstacle, Parameters, Path, Shape};
use partita_mesh::Mesh;

use crate::common::{Cloth, flat, joined};

type V3 = Vector3<f64>;

const DT: f64 = 1.0 / 60.0;

/// Goes on until nothing is crossed, within so many steps, and then as long again, in which nothing is any more.
fn comes_apart(cloth: &mut Cloth, paths: &[Path<'_>], crossings: &dyn Fn(&Cloth) -> usize, within: usize) {
    assert!(crossings(cloth) > 0);
    let report = cloth.step(DT, paths);
    assert!(!report.tangled.is_empty() && !cloth.state.is_apart());
    let steps = (1..within).find(|_| {
        cloth.step(DT, paths);
        crossings(cloth) == 0
    });
    let steps = steps.unwrap_or_else(|| panic!("{} are left", crossings(cloth)));
    for _ in 0..steps {
        cloth.step(DT, paths);
        assert_eq!(crossings(cloth), 0);
    }
    assert!(cloth.state.is_apart());
}

fn tilted(size: f64, at: [f64; 3]) -> Mesh {
    flat([9, 9], [size, size], 0.0).turned([0.0, 0.0, 1.0], 0.6).unwrap().at(at).unwrap()
}

/// Two sheets through each other as the strokes of an X; that ends at their borders only, 0.1 m away. And only a corner.
#[test]
fn sheets_that_cross_come_apart() {
    for at in [[0.003, 0.001, 0.002], [0.103, 0.035, 0.032]] {
        let sheets = [flat([10, 10], [0.2, 0.2], 0.0), tilted(0.2, at)];
        let mut cloth = Cloth::new(&joined(&sheets), Parameters::default(), vec![]);
        cloth.gravity = V3::zeros();
        comes_apart(&mut cloth, &[], &Cloth::crossings, 300);
    }
}

/// The tip of a cone is through a sheet, a vertex of it inside; of a closed one, which knows that, and of one without all of
/// its base, which does not.
#[test]
fn cloth_comes_off_a_tip() {
    let cone = Mesh::cone(0.06, 0.02, 7).unwrap();
    for triangles in [cone.triangles(), &cone.triangles()[1..]] {
        let shape = Shape::Mesh { vertices: cone.positions(), triangles: triangles.to_vec() };
        let mut cloth = Cloth::new(&flat([6, 6], [0.2, 0.2], 0.024), Parameters::default(), vec![Obstacle::new(shape)]);
        cloth.gravity = V3::zeros();
        let crossings = |cloth: &Cloth| cloth.crossings_with(cone.vertices(), triangles);
        comes_apart(&mut cloth, &[Path::still(Isometry3::identity())], &crossings, 200);
    }
}

/// One vertex of a sheet that falls on a plate a millimetre thin is below it: it comes up, none of the others goes down.
#[test]
fn cloth_comes_back_through_a_thin_plate() {
    let plate = Obstacle::new(Shape::Cuboid { half_extents: [0.2, 0.0005, 0.2] }).friction(0.2);
    let mut cloth = Cloth::new(&flat([8, 8], [0.2, 0.2], 0.0015), Parameters::default(), vec![plate]);
    let middle = cloth.x.iter().position(|x| x.xz().norm() < 1e-9).unwrap();
    cloth.x[middle].y = -0.003;
    let below = |cloth: &Cloth| cloth.x.iter().filter(|x| x.y < 0.0005).count();
    comes_apart(&mut cloth, &[Path::still(Isometry3::identity())], &below, 10);
}

/// Two cones press a sheet between their tips until one is through it, and draw back.
#[test]
fn what_is_pierced_closes() {
    let cone = Mesh::cone(0.06, 0.02, 7).unwrap();
    let obstacle = Obstacle::new(Shape::Mesh { vertices: cone.positions(), triangles: cone.triangles().to_vec() });
    let sheet = flat([6, 6], [0.2, 0.2], 0.0).at([0.005, 0.0, 0.003]).unwrap();
    let mut cloth = Cloth::new(&sheet, Parameters::default(), vec![obstacle.clone(), obstacle]);
    cloth.gravity = V3::zeros();
    // Their tips come from 20 mm apart to 10 mm past each other in half a second, and go back.
    let pose = |step: usize, sign: f64| {
        let apart = 0.02 - 0.03 * (step.min(60) as f64 / 60.0 * PI).sin();
        let turn = UnitQuaternion::from_axis_angle(&V3::x_axis(), if sign > 0.0 { PI } else { 0.0 });
        let tip = V3::new(0.001 * sign, 0.5 * sign * apart, 0.0);
        Isometry3::from_parts((tip - turn * V3::new(0.0, 0.03, 0.0)).into(), turn)
    };
    let (mut pierced, mut pinched) = (0, 0);
    for step in 0..120 {
        let path = |sign| Path::Frame { begin: pose(step, sign), end: pose(step + 1, sign) };
        pinched += cloth.step(DT, &[path(1.0), path(-1.0)]).pinched.len();
        let crossed = |sign| {
            let there: Vec<V3> =
                cone.vertices().iter().map(|v| (pose(step + 1, sign) * Point3::from(*v)).coords).collect();
            cloth.crossings_with(&there, cone.triangles())
        };
        let now = crossed(1.0) + crossed(-1.0);
        pierced += now;
        assert!(step < 60 || now == 0 && cloth.state.is_apart());
        assert_eq!(cloth.crossings(), 0);
    }
    assert!(pierced > 0 && pinched > 0);
}

/// Four sheets through each other at random, with some 150 crossings: both momenta are kept, nothing gets much faster than the
/// thickness a step, 0.06 m/s, that leads it apart (springs that are stretched meanwhile give back up to 20 times that), and
/// most are untangled in 5 s.
#[test]
fn tangles_do_not_explode() {
    let (mut at_first, mut left) = (0, 0);
    for seed in 0..10_u32 {
        let angle = |k: u32| f64::from((seed * 7 + k * 13) % 29) / 29.0 * 6.0;
        let sheet = |k: u32| {
            let axis = [angle(k).sin(), angle(k + 1).cos(), angle(k + 2).sin() + 0.1];
            let at = [0.01 * angle(k), 0.007 * angle(k + 5), 0.009 * angle(k + 6)];
            flat([6, 6], [0.2, 0.2], 0.0).turned(axis, angle(k + 3)).unwrap().at(at).unwrap()
        };
        let mut cloth = Cloth::new(&joined(&[sheet(0), sheet(1), sheet(2), sheet(3)]), Parameters::default(), vec![]);
        (cloth.gravity, cloth.substeps) = (V3::zeros(), 1);
        at_first += cloth.crossings();
        for _ in 0..300 {
            cloth.step(DT, &[]);
            assert!(cloth.v.iter().all(|v| v.norm() < 2.0), "seed {seed}");
        }
        left += cloth.crossings();
        let momenta = (0..cloth.x.len()).map(|k| (cloth.v[k] / cloth.inverse_masses[k], cloth.x[k]));
        let (whole, angular) = momenta.fold((V3::zeros(), V3::zeros()), |(p, l), (v, x)| (p + v, l + x.cross(&v)));
        // Of 32 g at about 1 m/s: rounding.
        assert!(whole.norm() < 1e-14 && angular.norm() < 1e-12, "seed {seed}: {} {}", whole.norm(), angular.norm());
    }
    assert!(left < at_first / 2, "{left} of {at_first}");
}

/// An obstacle that was not there and appears amid the cloth is told of as if the run began there: with a box also what is in
/// it, to be led out.
#[test]
fn what_appears_is_looked_at() {
    let (sheet, still) = (flat([10, 10], [0.2, 0.2], 0.0), Path::still(Isometry3::identity()));
    let thin = Mesh::cone(0.06, 0.02, 7).unwrap();
    let thin = Shape::Mesh { vertices: thin.positions(), triangles: thin.triangles()[1..].to_vec() };
    for (shape, solid) in [(Shape::Cuboid { half_extents: [0.05; 3] }, true), (thin, false)] {
        let mut cloth = Cloth::new(&sheet, Parameters::default(), vec![Obstacle::new(shape)]);
        cloth.gravity = V3::zeros();
        cloth.step(DT, &[Path::Absent]);
        assert!(cloth.state.is_apart());
        let report = cloth.step(DT, std::slice::from_ref(&still));
        assert!(!report.tangled.is_empty() && !cloth.state.is_apart());
        assert_eq!(!cloth.state.inside().is_empty(), solid);
    }
}
