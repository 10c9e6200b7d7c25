//! Asynchronous cloth with bodies: statics, momentum, as leader and as follower.

use std::f64::consts::FRAC_PI_2;

use crate::common;
use nalgebra::Vector3;
use partita::{avi_cloth::Membrane, prelude::*};
use partita_mesh::{Mesh, Side};

type V3 = Vector3<f64>;

/// Of 0.5 kg in a square metre, without lateral contraction.
fn fabric() -> Fabric {
    let fabric =
        Fabric::cotton().membrane(Membrane::StVenantKirchhoff { poisson: 0.0 }).damping(2e-3).bend_damping(2e-3);
    fabric.stretch(2000.0).shear(1000.0).density(0.5)
}

/// A ball at rest on cloth that is pinned at its border is carried by it, and both by the pins (C4).
#[test]
fn cloth_carries_a_ball_and_pins_carry_both() {
    let mesh = Mesh::grid([10, 10], [1.0, 1.0]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    let mesh = mesh.at([-0.5, 0.0, -0.5]).unwrap();
    let border: Vec<u32> = mesh.boundary_edges().flat_map(|edge| edge.vertices).collect();
    let mut cloth = AviCloth::new("sheet", mesh, fabric()).unwrap();
    cloth.pin(&border).unwrap();
    let mut rigid = RigidBodies::new("rigid");
    rigid.add("ball", Body::dynamic(Shape::ball(0.1)).mass(1.0).at([0.0, 0.1, 0.0]).damping(1.0, 1.0)).unwrap();
    let mut scene = Scene::new(Rate::hz(480));
    scene.contact("sheet", "rigid");
    scene.add(rigid).add(cloth);
    let mut run = scene.build().unwrap();
    // Then it has bounced long enough: in the eighth second they are off by half a hundredth.
    run.for_seconds(7.0).unwrap();
    common::assert_pins_carry(&mut run);
}

/// A body that is tied to a strip's lower corners leads it and feels its weight; so does one that a strip leads. What one loses the other
/// gets or is pending, in every window (C1).
#[test]
fn what_one_loses_the_other_gets() {
    let mesh = Mesh::grid([4, 12], [0.2, 0.6]).unwrap();
    let (top, bottom) = (mesh.edge(Side::Top).unwrap(), mesh.edge(Side::Bottom).unwrap());
    let mut strip = AviCloth::new("strip", mesh, fabric()).unwrap();
    strip.pin(&top).unwrap();
    let mut rigid = RigidBodies::new("rigid");
    let bar = Body::dynamic(Shape::cuboid([0.2, 0.02, 0.02])).mass(2.0).at([0.1, -0.61, 0.0]).velocity([0.0, 0.0, 0.3]);
    let bar = rigid.add("bar", bar).unwrap();
    let mut scene = Scene::new(Rate::hz(960));
    scene.scheme(Relaxed::default());
    scene.attach(strip.vertices(&bottom), bar);
    scene.add(rigid).add(strip);
    let mut run = scene.build().unwrap();
    let mut lowest: f64 = 0.0;
    while run.time() < 1.0 {
        run.advance().unwrap();
        let ledger = &run.ledgers()[0];
        let [used, got, pending] = [ledger.used, ledger.got, ledger.pending].map(|wrench| V3::from(wrench.linear));
        assert!((got - used - pending).norm() < 1e-9 * (1.0 + got.norm()), "{used} {got} {pending}");
        lowest = lowest.min(run.state(bar).unwrap().position[1]);
    }
    // 19.6 N on 0.2 m of 2000 N/m stretch 0.6 m by 3 cm, and twice that at first.
    assert!(lowest > -0.70 && lowest < -0.62, "{lowest}");
}

/// A ball that hits a sheet held at its corners faster than the sheet's limits of strain allow leaves no more energy behind than the ball had
/// and the coupling put in, which the ledger says, and 2 % for the explicit integrator.
#[test]
fn cloth_that_is_hit_beyond_its_limits_gains_what_the_ledger_says() {
    for (cells, mass, speed, hz) in
        [(6, 0.2, 15.0, 120.0), (8, 0.2, 14.0, 120.0), (6, 0.5, 8.0, 60.0), (10, 0.1, 20.0, 240.0)]
    {
        let mesh = Mesh::grid([cells; 2], [0.4; 2]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
        let mesh = mesh.at([-0.2, 0.0, -0.2]).unwrap();
        let count = mesh.vertices().len() as u32;
        let mut cloth = AviCloth::new("cloth", mesh, Fabric::jersey().undamped()).unwrap();
        cloth.pin(&[0, cells, count - 1 - cells, count - 1]).unwrap();
        let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
        let ball = Body::dynamic(Shape::ball(0.05)).mass(mass).at([0.02, 0.15, -0.01]).velocity([0.0, -speed, 0.0]);
        rigid.add("ball", ball).unwrap();
        let mut scene = Scene::new(Rate::hz(hz));
        scene.contact("cloth", "rigid");
        scene.add(rigid).add(cloth);
        let mut run = scene.build().unwrap();
        let start = 0.5 * mass * speed * speed;
        let mut most = 0.0_f64;
        for _ in 0..(0.3 * hz) as u32 {
            run.advance().unwrap();
            let energy = |run: &mut Run, name: &str| {
                let ledger = run.simulator_ledger(name).unwrap().unwrap();
                ledger.kinetic + ledger.potential
            };
            let now = energy(&mut run, "rigid") + energy(&mut run, "cloth");
            let put_in: f64 = run.ledgers().iter().map(|ledger| ledger.work.max(0.0)).sum();
            most = most.max((now - start - put_in) / start);
        }
        assert!(most < 0.02, "{cells} cells, {mass} kg at {speed} m/s, {hz} Hz: gains {most} of the ball's energy");
    }
}
