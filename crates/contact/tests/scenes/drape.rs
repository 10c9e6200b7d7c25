//! Cloth that is nothing but masses and springs, driven onto itself and onto obstacles.

use crate::common::Cloth;
use nalgebra::{Isometry3, Vector3};
use partita_contact::{Obstacle, Parameters, Path, Shape};
use partita_mesh::Mesh;

/// A sheet that falls on a ball drapes over it, and nothing crosses in any step.
#[test]
fn a_sheet_drapes_over_a_ball() {
    let mesh = Mesh::grid([24, 24], [0.6, 0.6]).unwrap().turned([1.0, 0.0, 0.0], -std::f64::consts::FRAC_PI_2).unwrap();
    let mesh = mesh.at([-0.3, 0.2, -0.3]).unwrap();
    let ball = Obstacle::new(Shape::Ball { radius: 0.15 }).friction(0.3);
    let mut cloth = Cloth::new(&mesh, Parameters { thickness: 2e-3, ..Parameters::default() }, vec![ball]);
    let middle = cloth.x.iter().map(|x| x.y).sum::<f64>() / cloth.x.len() as f64;
    println!("{middle} {:?}", mesh.bounds());
    for i in 0..480 {
        let report = cloth.step(1.0 / 240.0, &[Path::still(Isometry3::translation(0.0, 0.0, 0.0))]);
        if i % 20 == 0 {
            let least = cloth.x.iter().map(|x| x.norm()).fold(f64::INFINITY, f64::min);
            println!("{i} {least:.5} {report:?}");
        }
        assert_eq!(cloth.crossings(), 0, "step {i}");
        assert!(cloth.x.iter().all(|x| x.norm() > 0.15));
    }
    let _ = Vector3::<f64>::zeros();
}
