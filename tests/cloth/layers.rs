//! Bodies on two sheets that are held one above the other. The upper sheet is between the body and the lower
//! one, and all three act on each other at once. Such windows need not converge, which they say.

use std::f64::consts::FRAC_PI_2;

use crate::common::sample::Sample;
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
        "ibds" => {
            let mut cloth = IbdsCloth::new(name, Net::sheet(&mesh, 0.15).unwrap()).unwrap();
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
/// Largest energy above that of the start, relative to the fall of a ball by 0.13 m onto two sheets, 1 cm
/// apart, within 0.4 s. Also whether a window until then had not converged.
fn gain([high, low]: [&str; 2], hz: f64, mass: f64, scheme: Scheme) -> (f64, bool) {
    let mut scene = Scene::new(Rate::hz(hz));
    scene.scheme(scheme).contact("high", "rigid");
    scene.contact("low", "rigid");
    scene.contact("high", "low");
    let mut rigid = RigidBodies::new("rigid");
    rigid.add("ball", Body::dynamic(Shape::ball(0.06)).mass(mass).at([0.01, 0.2, 0.013])).unwrap();
    scene.add(rigid).add_boxed(sheet("low", low, 0.0)).add_boxed(sheet("high", high, 0.01));
    let mut run = scene.build().unwrap();
    let (start, fall, mut most) = (energy(&mut run), mass * 9.81 * 0.13, (0.0, false));
    while run.time() < 0.4 {
        run.advance().unwrap();
        let gained = (energy(&mut run) - start) / fall;
        if gained > most.0 {
            most = (gained, run.report().unconverged > 0);
        }
    }
    most
}

/// Of balls of 0.1 to 5 kg at 60 and 120 Hz at most a third gain more than a hundredth of their fall, and none
/// without a report. (Of 96 such balls on two implicit sheets, each a millimetre beside the last, a fifth do, and three
/// gain more than they fell.)
fn seldom_gains(sheets: [&str; 2]) {
    let mut sample = Sample::one_in(6);
    let mut gains = vec![];
    for (hz, mass) in [(60.0, 0.1), (60.0, 1.0), (60.0, 5.0), (120.0, 0.1), (120.0, 1.0), (120.0, 5.0)] {
        for scheme in [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()] {
            if sample.leaves_out() {
                continue;
            }
            let (gained, is_reported) = gain(sheets, hz, mass, scheme.clone());
            if gained > 0.01 {
                gains.push(format!("{gained} at {hz} Hz, {mass} kg, {scheme:?}"));
                assert!(is_reported, "{sheets:?}: {gains:?}");
            }
        }
    }
    assert!(gains.len() <= 4, "{sheets:?}: {gains:?}");
}

#[test]
fn a_ball_on_implicit_sheets() {
    seldom_gains(["implicit", "implicit"]);
}

#[test]
fn a_ball_on_an_implicit_and_an_asynchronous_sheet() {
    seldom_gains(["implicit", "avi"]);
}

#[test]
fn a_ball_on_an_implicit_and_an_impulse_based_sheet() {
    seldom_gains(["implicit", "ibds"]);
    seldom_gains(["ibds", "implicit"]);
}
