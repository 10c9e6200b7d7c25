//! Cloth on a ball.

use crate::common::{Cloth, flat};
use approx::assert_relative_eq;
use nalgebra::Isometry3;
use partita_contact::{Obstacle, Parameters, Path, Shape};

/// A sheet that falls on a ball drapes over it, and nothing crosses in any step.
#[test]
fn a_sheet_drapes_over_a_ball() {
    let ball = Obstacle::new(Shape::Ball { radius: 0.15 }).friction(0.3);
    let parameters = Parameters { thickness: 2e-3, ..Parameters::default() };
    let mut cloth = Cloth::new(&flat([24, 24], [0.6, 0.6], 0.2), parameters, vec![ball]);
    for i in 0..480 {
        cloth.step(1.0 / 240.0, &[Path::still(Isometry3::identity())]);
        assert_eq!(cloth.crossings(), 0, "step {i}");
        assert!(cloth.x.iter().all(|x| x.norm() > 0.15), "step {i}");
    }
    // The middle lies on the ball, half its thickness off; the corners hang below its middle.
    let middle = cloth.x.len() / 2;
    assert_relative_eq!(cloth.x[middle].norm(), 0.151, max_relative = 0.01);
    assert!(cloth.x[0].y < 0.0 && cloth.x[cloth.x.len() - 1].y < 0.0);
}
