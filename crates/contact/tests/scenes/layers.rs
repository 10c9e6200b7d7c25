//! Many layers, and thin ones.

use crate::{
    common::{Cloth, flat},
    sample::Sample,
};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use partita_contact::{Contacts, Features, Obstacle, Parameters, Path, Report, Shape};
use partita_mesh::Mesh;

type V3 = Vector3<f64>;

const LAYERS: usize = 10;

/// Which layers a ray passes through, from where it starts on.
fn layers_along(cloth: &Cloth, from: &V3, way: &V3) -> Vec<usize> {
    let triangles = cloth.contacts.features().triangles();
    let each = triangles.len() / LAYERS;
    let mut met: Vec<(f64, usize)> = vec![];
    for (k, t) in triangles.iter().enumerate() {
        // from + s way = a + p (b - a) + q (c - a).
        let [a, b, c] = t.map(|v| cloth.x[v as usize]);
        let matrix = nalgebra::Matrix3::from_columns(&[*way, a - b, a - c]);
        let Some([[s, p, q]]) = matrix.try_inverse().map(|inverse| (inverse * (a - from)).data.0) else { continue };
        if s > 0.0 && p >= 0.0 && q >= 0.0 && p + q <= 1.0 {
            met.push((s, k / each));
        }
    }
    met.sort_by(|a, b| a.0.total_cmp(&b.0));
    met.into_iter().map(|(_, layer)| layer).collect()
}

/// Ten sheets at 1.01 of their thickness fall on a ball, and on the corner of a box: nothing crosses in any step, and at
/// the end every ray from below passes through the layers in the order that they began with (K2).
#[test]
fn ten_layers_keep_their_order() {
    let t = 2e-3;
    let corner = UnitQuaternion::rotation_between(&V3::new(1.0, 1.0, 1.0), &V3::y()).unwrap();
    let below = V3::new(0.0, -0.1, 0.0);
    let half = 0.08;
    let places = [
        (Shape::Ball { radius: 0.1 }, Isometry3::from(below)),
        // Its corner is at the origin.
        (
            Shape::Cuboid { half_extents: [half; 3] },
            Isometry3::from_parts((-half * 3.0_f64.sqrt() * V3::y()).into(), corner),
        ),
    ];
    let mut sample = Sample::one_in(2);
    for (shape, pose) in places {
        if sample.leaves_out() {
            continue;
        }
        let sheets: Vec<Mesh> = (1..=LAYERS).map(|k| flat([10, 10], [0.2, 0.2], 1.01 * t * k as f64)).collect();
        let parameters = Parameters { thickness: t, ..Parameters::default() };
        let obstacle = Obstacle::new(shape.clone()).friction(0.4);
        let mut cloth = Cloth::new(&Mesh::joined(&sheets).unwrap(), parameters, vec![obstacle]);
        // Beside all symmetries, so that it is no symmetry that holds it.
        cloth.x.iter_mut().for_each(|x| *x += V3::new(0.0013, 0.0, 0.0007));
        cloth.substeps = 8;
        let mut all = Report::default();
        for i in 0..120 {
            // They hit it at a little more than what a fall of 5 cm gives.
            if i == 0 {
                cloth.v.fill(-V3::y());
            }
            let report = cloth.step(1.0 / 240.0, &[Path::still(pose)]);
            all.contacts += report.contacts;
            all.impacts += report.impacts;
            assert!(report.pinched.is_empty(), "{shape:?} step {i}");
            assert_eq!(cloth.crossings(), 0, "{shape:?} step {i}");
        }
        assert!(all.contacts > 10_000 && all.impacts > 100, "{shape:?}: {all:?}");
        // Within 25 degrees of up, where no sheet folds back.
        for i in 0..60 {
            let (angle, around) = (0.43 * (f64::from(i) / 60.0).sqrt(), 2.4 * f64::from(i));
            let way = V3::new(angle.sin() * around.cos(), angle.cos(), angle.sin() * around.sin());
            let found = layers_along(&cloth, &below, &way);
            assert_eq!(found, (0..LAYERS).collect::<Vec<_>>(), "{shape:?}, ray {i}");
        }
    }
}

/// Cloth of 1 mm and 0.1 mm falls on a ball, off it, and folds on the floor: triangles are 15 and 150 times as long as it
/// is thick. Nothing crosses in any step, and nothing is in the floor (K6).
#[test]
fn thin_cloth_folds() {
    for thickness in [1e-3, 1e-4] {
        let mesh = flat([20, 20], [0.3, 0.3], 0.13);
        let ball = Obstacle::new(Shape::Ball { radius: 0.06 }).friction(0.1);
        let floor = Obstacle::new(Shape::HalfSpace).friction(0.4);
        let parameters = Parameters { thickness, ..Parameters::default() };
        let mut cloth = Cloth::new(&mesh, parameters, vec![ball, floor]);
        cloth.substeps = 8;
        let centre = V3::new(0.031, 0.06, 0.017);
        let mut impacts = 0;
        for i in 0..240 {
            let pose = Isometry3::from(centre);
            let report = cloth.step(1.0 / 240.0, &[Path::still(pose), Path::still(Isometry3::identity())]);
            impacts += report.impacts;
            assert!(report.pinched.is_empty(), "{thickness} m, step {i}");
            assert_eq!(cloth.crossings(), 0, "{thickness} m, step {i}");
            let outside = |x: &V3| x.y > 0.0 && (x - centre).norm() > 0.06;
            assert!(cloth.x.iter().all(outside), "{thickness} m, step {i}");
        }
        // Its rim lies on the floor, in folds: the rim is longer than the circle that it lies on.
        let lying = cloth.x.iter().filter(|x| x.y < 0.01).count();
        assert!(impacts > 300 && lying > 50, "{thickness} m: {impacts} impacts, {lying} vertices on the floor");
    }
}

/// A ribbon of 0.1 mm, two hundred times as thin as its triangles are long, falls upright on the floor and onto itself
/// (K6).
#[test]
fn a_thin_ribbon_piles_up() {
    let mesh = Mesh::grid([2, 40], [0.04, 0.8]).unwrap();
    let low = mesh.bounds()[0][1];
    let mesh = mesh.at([0.0, 0.01 - low, 0.0]).unwrap();
    let floor = Obstacle::new(Shape::HalfSpace).friction(0.4);
    let mut cloth = Cloth::new(&mesh, Parameters { thickness: 1e-4, ..Parameters::default() }, vec![floor]);
    cloth.x.iter_mut().for_each(|x| x.z += 1e-2 * (25.0 * x.y).sin());
    cloth.substeps = 12;
    let mut impacts = 0;
    for i in 0..240 {
        let report = cloth.step(1.0 / 240.0, &[Path::still(Isometry3::identity())]);
        impacts += report.impacts;
        assert!(report.pinched.is_empty(), "step {i}");
        assert_eq!(cloth.crossings(), 0, "step {i}");
        assert!(cloth.x.iter().all(|x| x.y > 0.0), "step {i}");
    }
    assert!(impacts > 100 && cloth.x.iter().all(|x| x.y < 0.15), "{impacts} impacts");
}

/// What is too thin for the numbers is refused when it is made (K6).
#[test]
fn cloth_without_thickness_is_refused() {
    for thickness in [0.0, 1e-10, -1e-3, f64::NAN, f64::INFINITY] {
        let parameters = Parameters { thickness, ..Parameters::default() };
        let error = Contacts::new(Features::default(), parameters, vec![]).err().unwrap();
        assert_eq!(error.to_string(), format!("thickness is {thickness:e}; expected from 1e-9 to 1e3 m"));
    }
}

/// Lengths that are all 1024 times smaller or larger change nothing but the exponents of the numbers: there is no length in metres
/// below which something does not count as motion, gap or change. To the last bit, since 1024 is a power of two.
#[test]
fn size_does_not_matter() {
    let run = |size: f64| {
        let sheets = Mesh::joined(&[flat([6, 6], [0.2, 0.2], 0.102), flat([6, 6], [0.2, 0.2], 0.104)]).unwrap();
        let x: Vec<V3> = sheets.vertices().iter().map(|x| size * x).collect();
        let ball = Obstacle::new(Shape::Ball { radius: 0.1 * size }).friction(0.3).thickness(1e-3 * size);
        let parameters = Parameters { thickness: 1e-3 * size, ..Parameters::default() };
        let mut cloth = Cloth::of(x, sheets.triangles(), parameters, vec![ball]);
        cloth.gravity *= size;
        let number = |k: usize, by: f64| (by * k as f64).sin();
        let disorder = |k: usize| V3::new(number(k, 1.1), -3.0 + number(k, 1.3), number(k, 1.7));
        cloth.v = (0..cloth.x.len()).map(|k| size * disorder(k)).collect();
        let mut all = (0, 0, 0, 0);
        for i in 0..60 {
            let report = cloth.step(1.0 / 240.0, &[Path::still(Isometry3::identity())]);
            assert_eq!(cloth.crossings(), 0, "{size} step {i}");
            assert!(report.pinched.is_empty(), "{size} step {i}: {report:?}");
            all = (all.0 + report.contacts, all.1 + report.impacts, all.2 + report.rounds, all.3 + report.rigid);
        }
        let as_large: Vec<V3> = cloth.x.iter().map(|x| x / size).collect();
        (as_large, all)
    };
    let (x, counts) = run(1.0);
    assert!(counts.0 > 1000 && counts.1 > 100, "{counts:?}");
    for size in [1.0 / 1024.0, 1024.0] {
        let (other, found) = run(size);
        assert_eq!(found, counts, "contacts, impacts, rounds, vertices of zones at size {size}");
        assert!(other == x, "positions at size {size}");
    }
}
