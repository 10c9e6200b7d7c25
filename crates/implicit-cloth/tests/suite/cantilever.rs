//! A strip that is clamped at one end and bends under its own weight, against the elastica (M9).

use std::f64::consts::FRAC_PI_2;

use partita_implicit_cloth::{Fabric, ImplicitCloth};
use partita_mesh::Mesh;
use partita_simulator::{Inputs, Simulator};

const G: f64 = 9.81;
const LENGTH: f64 = 0.3;
const DENSITY: f64 = 0.15;

/// How far the end of a clamped elastica hangs down and reaches out, by its length, at `weight` = w L³/EI.
///
/// θ'' = -(w/EI) (L - s) cos θ for the angle θ below the horizontal along the arc s, θ(0) = 0, θ'(L) = 0: shot from the free end
/// by fourth order Runge-Kutta, with the angle there that makes the clamped one level.
fn elastica(weight: f64) -> [f64; 2] {
    let shoot = |end: f64| {
        // From the free end inwards, r = L - s in units of L: θ' = κ, κ' = -weight r cos θ.
        let rate = |r: f64, [angle, bend, _, _]: [f64; 4]| [bend, -weight * r * angle.cos(), angle.sin(), angle.cos()];
        let n = 2000;
        let h = 1.0 / f64::from(n);
        let mut y = [end, 0.0, 0.0, 0.0];
        for k in 0..n {
            let r = h * f64::from(k);
            let ahead = |slope: [f64; 4], by: f64| std::array::from_fn(|i| y[i] + by * slope[i]);
            let a = rate(r, y);
            let b = rate(r + 0.5 * h, ahead(a, 0.5 * h));
            let c = rate(r + 0.5 * h, ahead(b, 0.5 * h));
            let d = rate(r + h, ahead(c, h));
            y = std::array::from_fn(|i| y[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
        }
        y
    };
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if shoot(middle)[0] < 0.0 { low = middle } else { high = middle }
    }
    let [_, _, drop, reach] = shoot(low);
    [drop, reach]
}

/// The same of a strip of cloth with this rigidity, whose first hinges stand for half a cell on either side
/// of the clamp.
fn strip(rigidity: f64, cells: u32) -> [f64; 2] {
    let cell = LENGTH / (f64::from(cells) + 0.5);
    let mesh = Mesh::grid([cells + 1, 2], [LENGTH + 0.5 * cell, 2.0 * cell]).unwrap();
    let mesh = mesh.turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap().at([-cell, 0.0, 0.0]).unwrap();
    let clamped: Vec<u32> = (0..).zip(mesh.vertices()).filter(|(_, x)| x.x < 0.5 * cell).map(|(v, _)| v).collect();
    let fabric = Fabric::cotton().density(DENSITY).stretch(5000.0).shear(500.0).bend(rigidity).bend_damping(0.05);
    let mut cloth = ImplicitCloth::new("strip", mesh, fabric).unwrap().tolerance(1e-6);
    cloth.pin(&clamped).unwrap();
    for _ in 0..600 {
        cloth.step(1.0 / 30.0, Inputs::NONE).unwrap();
    }
    let fastest = cloth.velocities().iter().map(|v| v.norm()).fold(0.0, f64::max);
    assert!(fastest < 1e-4, "it still moves at {fastest} m/s");
    // The middle of the free end.
    let end = cloth.positions()[2 * cells as usize + 3];
    [-end.y / LENGTH, (end.x + 0.5 * cell) / LENGTH]
}

/// Nothing is fitted: it hangs as the elastica of the stated rigidity does, within 5 %. The bending energy
/// is right to 2 % (`partita-elastic`); at 100 the strip turns down within four of its 30 cells, and reaches
/// 0.006 of its length too far, 4 % of 0.16.
#[test]
fn a_clamped_strip_bends_as_the_elastica() {
    // Row M9 of the literature's values: drop and reach.
    for (weight, drop, reach) in [
        (1.0, 0.1235, 0.9912),
        (5.0, 0.4959, 0.8467),
        (10.0, 0.7002, 0.6564),
        (20.0, 0.8299, 0.4452),
        (50.0, 0.9079, 0.2450),
        (100.0, 0.9375, 0.1592),
    ] {
        let found = elastica(weight);
        assert!((found[0] - drop).abs() < 1e-4 && (found[1] - reach).abs() < 1e-4, "{weight}: {found:?}");
    }

    let cells = 30;
    let rigidity = |weight: f64| DENSITY * G * LENGTH.powi(3) / weight;
    for weight in [1.0, 5.0, 10.0, 20.0, 50.0, 100.0] {
        let (found, expected) = (strip(rigidity(weight), cells), elastica(weight));
        for (what, found, expected) in [("drop", found[0], expected[0]), ("reach", found[1], expected[1])] {
            assert!((found / expected - 1.0).abs() < 0.05, "{what} at {weight}: {found} for {expected}");
        }
    }
}
