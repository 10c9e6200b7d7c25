//! Cloth on a device with rigid bodies, both ways.

mod device;

use std::f64::consts::FRAC_PI_2;

use device::{gpu, is_there};
use nalgebra::Vector3;
use partita::prelude::*;
use partita_ibds_cloth::Net;
use partita_ibds_cloth_gpu::IbdsClothGpu;
use partita_mesh::Mesh;

type V3 = Vector3<f64>;

const G: f64 = 9.81;

/// A ball of 1 kg falls into a net of 0.5 kg whose border is pinned and whose cords get a millimetre longer by 10 N. The net catches it; what
/// the ball has is what gravity and the net gave, and what the net has is what gravity, pins and the ball gave.
#[test]
fn a_ball_is_caught_and_all_impulses_are_booked() {
    if !is_there() {
        return;
    }
    let mesh = Mesh::grid([6, 6], [1.0, 1.0]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    let mesh = mesh.at([-0.5, 0.0, -0.5]).unwrap();
    let border: Vec<u32> = mesh.boundary_edges().flat_map(|edge| edge.vertices).collect();
    let net = Net::sheet(&mesh, 0.5).unwrap().compliance(1e-4).unwrap();
    let mut net = IbdsClothGpu::new("net", net, &gpu()).unwrap().max_iterations(20);
    net.pin(&border).unwrap();
    let mut rigid = RigidBodies::new("rigid");
    let ball = rigid.add("ball", Body::dynamic(Shape::ball(0.2)).mass(1.0).at([0.0, 0.3, 0.0])).unwrap();
    let mut scene = Scene::new(Rate::hz(100.0));
    scene.scheme(Relaxed::default());
    scene.contact("net", "rigid");
    scene.add(rigid).add(net);
    let mut run = scene.build().unwrap();

    while run.time() < 0.5 {
        run.advance().unwrap();
        let state = run.state(ball).unwrap();
        let (weight, momentum) = (G * run.time() * V3::y(), V3::from(state.velocity));
        let ledger = &run.ledgers()[0];
        let [used, got, pending] = [ledger.used, ledger.got, ledger.pending].map(|wrench| V3::from(wrench.linear));
        assert!((used + pending - got).norm() <= 1e-13 * got.norm(), "{used} + {pending} - {got}");
        assert!((used - weight - momentum).norm() < 1e-9, "{used} for {momentum}");
        let net = run.simulator_ledger("net").unwrap().unwrap();
        // To a hundred thousandth of what passes in a second.
        let off = V3::from(net.external.unwrap().linear) - got - V3::from(net.momentum);
        assert!(off.norm() < 1e-5 * 1.5 * G, "{off}");
        // Free fall would end a metre below.
        assert!(state.position[1] > 0.0, "{state:?} at {} s", run.time());
    }
    assert!(run.ledgers()[0].got.linear[1] > 0.5 * G * run.time(), "{:?}", run.ledgers()[0]);
}
