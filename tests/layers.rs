//! Bodies on two sheets that are held one above the other: the upper one is between the body and the lower one, and the three act on
//! each other at once. No such window has to converge, but none gives energy.

#![cfg(all(feature = "avi-cloth", feature = "implicit-cloth", feature = "rigid"))]

use std::f64::consts::FRAC_PI_2;

use partita::{prelude::*, simulator::Simulator};
use partita_mesh::Mesh;

/// A level sheet of 0.4 m around the origin, moved up `[m]`, all of whose border is pinned.
fn sheet(name: &str, method: &str, up: f64) -> Box<dyn Simulator> {
    let mesh = Mesh::grid([8; 2], [0.4; 2]).unwrap().at([-0.2, 0.2, 0.0]).unwrap();
    let mesh = mesh.turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap().at([0.0, up, 0.0]).unwrap();
    let sides = [Side::Top, Side::Bottom, Side::Left, Side::Right];
    let mut border: Vec<u32> = sides.iter().flat_map(|&side| mesh.edge(side).unwrap()).collect();
    border.sort_unstable();
    border.dedup();
    match method {
        "implicit" => {
            let mut cloth = ImplicitCloth::new(name, mesh, Fabric::cotton()).unwrap();
            cloth.pin(&border).unwrap();
            Box::new(cloth)
        }
        _ => {
            let mut cloth = AviCloth::new(name, mesh, Fabric::jersey()).unwrap();
            cloth.pin(&border).unwrap();
            Box::new(cloth)
        }
    }
}

/// Energy of all simulators, less what reactions have yet to take `[J]`.
fn energy(run: &mut Run) -> f64 {
    let in_transit: f64 = run.ledgers().iter().map(|ledger| ledger.in_transit).sum();
    let ledgers = ["rigid", "low", "high"].map(|name| run.simulator_ledger(name).unwrap().unwrap());
    ledgers.iter().map(|ledger| ledger.kinetic + ledger.potential).sum::<f64>() - in_transit
}
/// A ball falls by 0.14 m onto the two sheets, which are 1 cm apart: in half a second the energy never exceeds that of the start by a
/// hundredth of that fall.
fn gains_nothing(high: &str, low: &str) {
    for (hz, mass) in [(60.0, 0.1), (60.0, 5.0), (120.0, 1.0)] {
        for scheme in [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()] {
            let what = format!("{high} on {low}, {hz} Hz, {mass} kg, {scheme:?}");
            let mut scene = Scene::new(Rate::hz(hz));
            scene.scheme(scheme).contact("high", "low");
            scene.contact("high", "rigid");
            scene.contact("low", "rigid");
            let mut rigid = RigidBodies::new("rigid");
            let ball = Body::dynamic(Shape::ball(0.06)).mass(mass).at([0.01, 0.2, 0.013]);
            rigid.add("ball", ball).unwrap();
            scene.add(rigid).add_boxed(sheet("low", low, 0.0)).add_boxed(sheet("high", high, 0.01));
            let mut run = scene.build().unwrap();
            let (start, fall) = (energy(&mut run), mass * 9.81 * 0.14);
            while run.time() < 0.5 {
                run.advance().unwrap();
                let gained = energy(&mut run) - start;
                assert!(gained < 0.01 * fall, "{what}: {gained} J of {fall} J at {} s", run.time());
            }
        }
    }
}

#[test]
fn a_ball_on_implicit_sheets_gains_nothing() {
    gains_nothing("implicit", "implicit");
}

#[test]
fn a_ball_on_sheets_of_two_methods_gains_nothing() {
    gains_nothing("implicit", "avi");
}
