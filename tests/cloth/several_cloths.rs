//! Bodies that several cloths stop at once: each of these knows what the others put on the body.

use std::f64::consts::FRAC_PI_2;

use nalgebra::Vector3;
use partita::prelude::*;
use partita_mesh::Mesh;

type V3 = Vector3<f64>;

const G: f64 = 9.81;

/// Adds sheets of the three methods in turn, all of whose vertices are pinned, to a scene with one body.
fn scene(rate: f64, scheme: Scheme, gravity: f64, body: Body, sheets: Vec<Mesh>, start: usize) -> (Run, HandleId) {
    let g = [0.0, -gravity, 0.0];
    let mut rigid = RigidBodies::new("rigid").gravity(g);
    let body = rigid.add("body", body).unwrap();
    let mut scene = Scene::new(Rate::hz(rate));
    scene.scheme(scheme);
    for (k, mesh) in sheets.into_iter().enumerate() {
        let (name, all) = (format!("sheet {k}"), (0..mesh.vertices().len() as u32).collect::<Vec<_>>());
        match (start + k) % 3 {
            0 => {
                let mut cloth = ImplicitCloth::new(&name, mesh, Fabric::cotton()).unwrap().gravity(g);
                cloth.pin(&all).unwrap();
                scene.add(cloth);
            }
            1 => {
                let mut cloth = AviCloth::new(&name, mesh, Fabric::jersey().undamped()).unwrap().gravity(g);
                cloth.pin(&all).unwrap();
                scene.add(cloth);
            }
            _ => {
                let mut cloth = IbdsCloth::new(&name, Net::sheet(&mesh, 0.15).unwrap()).unwrap().gravity(g);
                cloth.pin(&all).unwrap();
                scene.add(cloth);
            }
        }
        scene.contact(&name, "rigid");
    }
    scene.add(rigid);
    (scene.build().unwrap(), body)
}

/// A level square of 0.4 m with its corner at a place.
fn sheet(corner: [f64; 3]) -> Mesh {
    let mesh = Mesh::grid([8; 2], [0.4; 2]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    mesh.at(corner).unwrap()
}

/// Layers under each other, tiles that join under the body, and the two sides of a groove.
fn arrangements() -> Vec<(&'static str, Vec<Mesh>)> {
    let layers = |count: u32, apart: f64| (0..count).map(|k| sheet([-0.2, -apart * f64::from(k), -0.2])).collect();
    let tiles = [[-0.4, -0.4], [0.0, -0.4], [-0.4, 0.0], [0.0, 0.0]].map(|[x, z]| sheet([x, 0.0, z]));
    let groove = [1.0, -1.0].map(|side| {
        let flat = sheet([if side > 0.0 { 0.0 } else { -0.4 }, 0.0, -0.2]);
        flat.turned([0.0, 0.0, 1.0], side * 0.1).unwrap()
    });
    vec![
        ("two layers", layers(2, 1.1e-3)),
        ("three layers", layers(3, 2e-4)),
        ("four tiles", tiles.into()),
        ("groove", groove.into()),
    ]
}

/// A body that comes at several sheets which are pinned everywhere is stopped, and gets no energy. It does not leave them
/// faster than a twentieth of how it came, and keeps less than a twentieth of its energy: sheets that are inclined or touch
/// it with their edges stop it one after the other, so it may slide off sideways.
#[test]
fn several_sheets_stop_a_body_once() {
    let relaxed: Scheme = Relaxed::default().tolerance(1e-3).into();
    for (what, sheets) in arrangements() {
        for (k, (rate, shape)) in [
            (60.0, Shape::ball(0.05)),
            (120.0, Shape::cuboid([0.1, 0.06, 0.1])),
            (240.0, Shape::ball(0.05)),
            (60.0, Shape::cuboid([0.1, 0.06, 0.1])),
        ]
        .into_iter()
        .enumerate()
        {
            for scheme in [Scheme::Interleaved, relaxed.clone()] {
                let about = format!("{what}, {rate} Hz, {shape:?}, {scheme:?}");
                let body = Body::dynamic(shape.clone()).mass(0.5).at([0.012, 0.15, 0.004]).velocity([0.0, -2.0, 0.0]);
                let (mut run, body) = scene(rate, scheme, 0.0, body, sheets.clone(), k);
                let start = run.simulator_ledger("rigid").unwrap().unwrap().kinetic;
                for _ in 0..(0.2 * rate) as u32 {
                    run.advance().unwrap();
                    let now = run.simulator_ledger("rigid").unwrap().unwrap().kinetic;
                    assert!(now < 1.001 * start, "{about}: {now} J of {start} J");
                }
                let velocity = V3::from(run.state(body).unwrap().velocity);
                assert!(velocity.y < 0.1, "{about}: it leaves with {velocity:?}");
                let left = run.simulator_ledger("rigid").unwrap().unwrap().kinetic;
                assert!(left < 0.05 * start, "{about}: {left} J of {start} J are left");
            }
        }
    }
}

/// A body that rests on several sheets stays, and they bear its weight. It may creep by a hundredth of its width a second,
/// since friction of each sheet is found against the last window's of those after it.
#[test]
fn several_sheets_bear_a_body_once() {
    for (what, sheets) in arrangements() {
        for (k, rate) in [60.0, 240.0].into_iter().enumerate() {
            let about = format!("{what}, {rate} Hz");
            let body = Body::dynamic(Shape::cuboid([0.1, 0.06, 0.1])).mass(0.5).at([0.012, 0.032, 0.004]);
            let (mut run, body) = scene(rate, Scheme::Interleaved, G, body, sheets.clone(), k);
            run.for_seconds(0.5).unwrap();
            let before = run.ledgers().iter().map(|ledger| ledger.used.linear[1]).sum::<f64>();
            let from = run.state(body).unwrap().position;
            run.for_seconds(0.5).unwrap();
            let borne = run.ledgers().iter().map(|ledger| ledger.used.linear[1]).sum::<f64>() - before;
            let moved = (V3::from(run.state(body).unwrap().position) - V3::from(from)).norm();
            assert!((borne / (0.5 * G * 0.5) - 1.0).abs() < 0.01, "{about}: {borne} N s borne");
            assert!(moved < 5e-3, "{about}: it moved by {moved} m");
        }
    }
}
