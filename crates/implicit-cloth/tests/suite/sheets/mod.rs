//! Sheets that tests of contact share, and what has to be so of any cloth that is held.

use std::f64::consts::FRAC_PI_2;

use nalgebra::Vector3;
use partita_mesh::Mesh;
use partita_simulator::{Inputs, Simulator};

type V3 = Vector3<f64>;

/// A level sheet with its middle so high above the origin.
pub fn flat(cells: u32, size: f64, height: f64) -> Mesh {
    let mesh = Mesh::grid([cells; 2], [size; 2]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    let [low, high] = mesh.bounds();
    let middle = [0, 1, 2].map(|k| -0.5 * (low[k] + high[k]));
    mesh.at([middle[0], middle[1] + height, middle[2]]).unwrap()
}

/// A larger sheet about to fall on one of four vertices, which come first; and velocities `[m/s]`.
pub fn falling_on_another() -> (Mesh, Vec<[f64; 3]>) {
    let (below, above) = (flat(1, 0.1, 0.0), flat(4, 0.2, 0.005));
    let held = below.vertices().len() as u32;
    let vertices: Vec<[f64; 3]> = below.positions().into_iter().chain(above.positions()).collect();
    let mut triangles = below.triangles().to_vec();
    triangles.extend(above.triangles().iter().map(|t| t.map(|v| v + held)));
    let velocities = (0..vertices.len()).map(|v| if v < held as usize { [0.0; 3] } else { [0.1, -1.0, 0.0] });
    (Mesh::new(&vertices, &triangles).unwrap(), velocities.collect())
}

/// In each of 30 steps cloth gains the momentum that pins, carriers and gravity give, to rounding. What carriers gave `[N s]`.
pub fn given_by_carriers(cloth: &mut impl Simulator, dt: f64, inputs: &Inputs) -> V3 {
    let mut given = V3::zeros();
    for step in 0..30 {
        let before = cloth.ledger().unwrap();
        let report = cloth.step(dt, inputs).unwrap();
        let now = cloth.ledger().unwrap();
        let [gained, external] =
            [(before.momentum, now.momentum), (before.external.unwrap().linear, now.external.unwrap().linear)]
                .map(|(before, now)| V3::from(now) - V3::from(before));
        let taken: V3 = report.reactions.iter().map(|reaction| V3::from(reaction.impulse.linear)).sum();
        assert!((gained - external + taken).norm() < 1e-13 * now.mass, "step {step}: {}", gained - external + taken);
        given -= taken;
    }
    given
}
