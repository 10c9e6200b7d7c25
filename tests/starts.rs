//! Cloth that starts within a body comes out on the near side.

#![cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]

use std::f64::consts::FRAC_PI_2;

use partita::{prelude::*, simulator::Simulator};
use partita_mesh::Mesh;

const G: f64 = 9.81;

/// A level square of 0.2 m at a height.
fn sheet(height: f64) -> Mesh {
    let mesh = Mesh::grid([8; 2], [0.2; 2]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    mesh.at([-0.1, height, -0.1]).unwrap()
}

fn cloths(height: f64) -> [Box<dyn Simulator>; 3] {
    let mesh = || sheet(height);
    [
        Box::new(ImplicitCloth::new("cloth", mesh(), Fabric::cotton()).unwrap()),
        Box::new(IbdsCloth::new("cloth", Net::sheet(&mesh(), 0.15).unwrap()).unwrap()),
        Box::new(AviCloth::new("cloth", mesh(), Fabric::jersey().undamped()).unwrap()),
    ]
}

/// Bodies whose top is level at height 0 under all of the sheet, and their names.
fn bodies() -> Vec<(&'static str, Body)> {
    let mesh = Mesh::cuboid([1.0, 0.4, 1.0]).unwrap();
    vec![
        ("slab", Body::fixed(Shape::cuboid([1.0, 0.4, 1.0])).at([0.0, -0.2, 0.0])),
        ("mesh", Body::fixed(Shape::mesh(mesh.positions(), mesh.triangles())).at([0.0, -0.2, 0.0])),
    ]
}

/// Whatever it starts on, and however deep below its top, from rounding to 5 mm: cloth comes out at the top, is never given more
/// energy than lifting it takes, and then rests there.
#[test]
fn cloth_that_starts_inside_comes_out_on_the_near_side() {
    for deep in [0.0, 1e-12, 1e-8, 1e-3, 5e-3] {
        for (what, body) in bodies() {
            for cloth in cloths(-deep) {
                let kind = cloth.handles().owner();
                let mut rigid = RigidBodies::new("rigid");
                rigid.add("body", body.clone()).unwrap();
                let mut scene = Scene::new(Rate::hz(120.0));
                scene.contact("cloth", "rigid").friction(0.3);
                scene.add(rigid).add_boxed(cloth);
                let mut run = scene.build().unwrap();
                let energy = |run: &mut Run| {
                    let ledger = run.simulator_ledger("cloth").unwrap().unwrap();
                    (ledger.kinetic + ledger.potential, ledger.mass)
                };
                let (start, mass) = energy(&mut run);
                // It is led out by six half thicknesses a second; half as long again.
                for _ in 0..(120.0 * (1.0 + 1.5 * deep / 3e-3)) as u32 {
                    run.advance().unwrap();
                    // Half the thickness of 1 mm on top of its depth, and as much again for what springs of contact store.
                    let (now, _) = energy(&mut run);
                    assert!(
                        now - start < mass * G * (deep + 1e-3),
                        "{what}, {kind:x}, {deep} m: {} J/kg",
                        (now - start) / mass
                    );
                }
                let picture = run.picture().unwrap();
                let cloth = picture.surfaces.iter().find(|surface| surface.simulator == "cloth").unwrap();
                let heights: Vec<f64> = cloth.carriers.iter().map(|vertex| vertex.position[1]).collect();
                let (low, high) =
                    (heights.iter().fold(1.0, |a: f64, b| a.min(*b)), heights.iter().fold(-1.0, |a: f64, b| a.max(*b)));
                assert!(low > 0.0 && high < 2e-3, "{what}, {kind:x}, {deep} m: from {low} to {high} m");
            }
        }
    }
}
