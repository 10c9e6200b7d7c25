//! Cloth between two bodies bears what lies on it.

#![cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]

use std::f64::consts::FRAC_PI_2;

use partita::{prelude::*, simulator::Simulator};
use partita_mesh::Mesh;

const G: f64 = 9.81;

/// Distance that cloth keeps from a body's surface `[m]`: half of its thickness of 1 mm.
const ROOM: f64 = 0.5e-3;

fn cloths() -> [(&'static str, Box<dyn Simulator>); 3] {
    let mesh = || {
        let mesh = Mesh::grid([12; 2], [0.3; 2]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
        mesh.at([-0.15, ROOM, -0.15]).unwrap()
    };
    [
        ("implicit", Box::new(ImplicitCloth::new("cloth", mesh(), Fabric::cotton()).unwrap())),
        ("ibds", Box::new(IbdsCloth::new("cloth", Net::sheet(&mesh(), 0.15).unwrap()).unwrap())),
        ("avi", Box::new(AviCloth::new("cloth", mesh(), Fabric::jersey()).unwrap())),
    ]
}

#[test]
fn probe() {
    for hz in [120.0] {
        for mass in [0.1, 1.0, 20.0] {
            for worlds in [1, 2] {
                for (kind, cloth) in cloths() {
                    let t = std::time::Instant::now();
                    let mut rigid = RigidBodies::new("rigid");
                    let half = 0.05;
                    let at = [0.01, 2.0 * ROOM + half, 0.02];
                    let crate_ =
                        rigid.add("crate", Body::dynamic(Shape::cuboid([2.0 * half; 3])).mass(mass).at(at)).unwrap();
                    let mut other = RigidBodies::new("other");
                    let world = if worlds == 1 { &mut rigid } else { &mut other };
                    world.add("floor", Body::fixed(Shape::cuboid([1.0, 0.2, 1.0])).at([0.0, -0.1, 0.0])).unwrap();
                    let mut scene = Scene::new(Rate::hz(hz));
                    scene.contact("cloth", "rigid").friction(0.5);
                    if worlds == 2 {
                        scene.contact("cloth", "other").friction(0.5);
                        scene.add(other);
                    }
                    scene.add(rigid).add_boxed(cloth);
                    let mut run = scene.build().unwrap();
                    let (mut low, mut high) = (0.0_f64, 0.0_f64);
                    let mut weight = 0.0;
                    let n = (2.0 * hz) as u32;
                    for k in 0..n {
                        run.advance().unwrap();
                        let y = run.state(crate_).unwrap().position[1] - at[1];
                        low = low.min(y);
                        high = high.max(y);
                        if k >= n / 2 {
                            let loads = run.loads().collect::<Vec<_>>();
                            weight +=
                                loads.iter().filter(|l| l.handle == crate_).map(|l| l.load.linear[1]).sum::<f64>()
                                    / (n - n / 2) as f64;
                        }
                    }
                    let s = run.state(crate_).unwrap();
                    println!(
                        "P {:.1} {hz} {mass} {worlds} {kind}: {:.3} to {:.3} mm, end {:.3} tilt {:.4}, weight {:.4}",
                        t.elapsed().as_secs_f64(),
                        1e3 * low,
                        1e3 * high,
                        1e3 * (s.position[1] - at[1]),
                        s.orientation[3],
                        weight / (mass * G)
                    );
                }
            }
        }
    }
}
