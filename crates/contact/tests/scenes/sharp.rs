//! Needles, knives, corners, twists.

use crate::common::{Cloth, flat};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use partita_contact::{Obstacle, Parameters, Path, Report, Shape};
use partita_mesh::Mesh;

type V3 = Vector3<f64>;

/// A knife: a prism with an edge as thin as a micrometre, up along z.
fn knife() -> Mesh {
    let (h, w, l) = (0.1, 0.02, 0.3);
    let profile = [[-w, -h], [w, -h], [0.0, 0.0]];
    let at = |[x, y]: [f64; 2], z: f64| [x, y, z];
    let vertices: Vec<_> = [-l, l].iter().flat_map(|&z| profile.map(|p| at(p, z))).collect();
    let triangles = [[0, 2, 1], [3, 4, 5], [0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4], [2, 0, 3], [2, 3, 5]];
    Mesh::new(&vertices, &triangles).unwrap()
}

fn mesh(of: &Mesh) -> Shape {
    Shape::Mesh { vertices: of.positions(), triangles: of.triangles().to_vec(), lines: vec![] }
}

/// A sheet falls at 3 m/s on a needle, a knife, a corner and an edge of a box (K5). Crossings of cloth with cloth, of cloth
/// with the obstacle, and of the obstacle with cloth are counted exactly, in each step.
#[test]
fn nothing_is_sharp_enough() {
    let needle = Mesh::cone(0.2, 0.004, 8).unwrap();
    let cube = Mesh::cuboid([0.1; 3]).unwrap();
    let corner = UnitQuaternion::rotation_between(&V3::new(1.0, 1.0, 1.0), &V3::y()).unwrap();
    let up = UnitQuaternion::rotation_between(&V3::x(), &V3::y()).unwrap();
    let places = [
        ("needle", needle.clone(), Isometry3::from_parts(V3::new(0.003, -0.1, 0.001).into(), up)),
        ("knife", knife(), Isometry3::translation(0.002, 0.0, 0.0)),
        ("corner", cube.clone(), Isometry3::from_parts(V3::new(0.003, -0.0866, 0.001).into(), corner)),
        ("box", cube, Isometry3::translation(0.01, -0.05, 0.013)),
    ];
    for (name, obstacle, pose) in places {
        let posed: Vec<V3> = obstacle.vertices().iter().map(|&v| (pose * nalgebra::Point3::from(v)).coords).collect();
        let shape = Obstacle::new(mesh(&obstacle)).friction(0.2);
        let mut cloth = Cloth::new(&flat([16, 16], [0.3, 0.3], 0.03), Parameters::default(), vec![shape]);
        cloth.v.iter_mut().for_each(|v| v.y = -3.0);
        let mut all = Report::default();
        for i in 0..60 {
            let report = cloth.step(1.0 / 120.0, &[Path::still(pose)]);
            all.impacts += report.impacts;
            assert!(report.pinched.is_empty());
            assert_eq!(cloth.crossings(), 0, "{name} step {i}");
            assert_eq!(cloth.crossings_with(&posed, obstacle.triangles()), 0, "{name} step {i}");
        }
        assert!(all.impacts > 10, "{name} was not met");
    }
}

/// A tube of cloth whose ends turn against each other, five times in all (K7).
#[test]
fn a_tube_is_wrung() {
    let (around, along, radius, length) = (24_u32, 32_u32, 0.05, 0.3);
    let mut vertices = vec![];
    let mut triangles = vec![];
    for j in 0..=along {
        for i in 0..around {
            let angle = std::f64::consts::TAU * f64::from(i) / f64::from(around);
            vertices.push([
                length * (f64::from(j) / f64::from(along) - 0.5),
                radius * angle.cos(),
                radius * angle.sin(),
            ]);
            if j < along {
                let [a, b] = [j * around + i, j * around + (i + 1) % around];
                triangles.extend([[a, b, a + around], [b, b + around, a + around]]);
            }
        }
    }
    let tube = Mesh::new(&vertices, &triangles).unwrap();
    let mut cloth = Cloth::new(&tube, Parameters { thickness: 1e-3, ..Parameters::default() }, vec![]);
    cloth.gravity = V3::zeros();
    let ends = |x: &V3| x.x.abs() > 0.5 * length - 1e-9;
    let held: Vec<usize> = (0..cloth.x.len()).filter(|&k| ends(&cloth.x[k])).collect();
    held.iter().for_each(|&k| cloth.inverse_masses[k] = 0.0);
    let dt = 1.0 / 120.0;
    let mut all = Report::default();
    let turns = 2.5;
    for i in 0..360 {
        // Turn the ends, and let them come nearer so that the cloth is not torn.
        let speed = turns * std::f64::consts::TAU / (360.0 * dt);
        for &k in &held {
            let x = cloth.x[k];
            let sign = x.x.signum();
            // In chords that end on the circle.
            let turn = nalgebra::Rotation3::from_axis_angle(&V3::x_axis(), sign * speed * dt);
            let mut to = turn * x;
            to.x -= sign * 0.05 * dt / 3.0;
            cloth.v[k] = (to - x) / dt;
        }
        let report = cloth.step(dt, &[]);
        all.impacts += report.impacts;
        assert!(report.pinched.is_empty());
        assert_eq!(cloth.crossings(), 0, "step {i}");
    }
    assert!(all.impacts > 1000, "{all:?}");
}
