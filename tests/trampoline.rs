//! Cloth and restitution: what bounces keeps e times its velocity, and no taut cloth gives a ball energy.

#![cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth", feature = "rigid"))]

use std::f64::consts::FRAC_PI_2;

use partita::prelude::*;
use partita_mesh::Mesh;

const G: f64 = 9.81;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    Implicit,
    Ibds,
    Avi,
}

const METHODS: [Method; 3] = [Method::Implicit, Method::Ibds, Method::Avi];

/// A level sheet at a height, pinned along its border or free, and bodies, in contact with a restitution.
fn scene(rate: f64, method: Method, [size, height]: [f64; 2], is_pinned: bool, body: Body, restitution: f64) -> Run {
    let g = [0.0, -G, 0.0];
    let mut rigid = RigidBodies::new("rigid").gravity(g);
    rigid.add("body", body).unwrap();
    let mesh = Mesh::grid([10; 2], [size; 2]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    let sides = [Side::Top, Side::Bottom, Side::Left, Side::Right];
    let mut border: Vec<u32> = sides.iter().flat_map(|&side| mesh.edge(side).unwrap()).collect();
    border.sort_unstable();
    border.dedup();
    let pinned = if is_pinned { border } else { vec![] };
    let mesh = mesh.at([-0.5 * size, height, -0.5 * size]).unwrap();
    let mut scene = Scene::new(Rate::hz(rate));
    match method {
        Method::Implicit => {
            let mut cloth = ImplicitCloth::new("cloth", mesh, Fabric::cotton()).unwrap().gravity(g);
            cloth.pin(&pinned).unwrap();
            scene.add(cloth);
        }
        Method::Ibds => {
            let mut cloth = IbdsCloth::new("cloth", Net::sheet(&mesh, 0.15).unwrap()).unwrap().gravity(g);
            cloth.pin(&pinned).unwrap();
            scene.add(cloth);
        }
        Method::Avi => {
            let mut cloth = AviCloth::new("cloth", mesh, Fabric::jersey().undamped()).unwrap().gravity(g);
            cloth.pin(&pinned).unwrap();
            scene.add(cloth);
        }
    }
    scene.contact("cloth", "rigid").friction(0.3).restitution(restitution);
    scene.add(rigid);
    scene.build().unwrap()
}

/// Total energy in two windows together stays below that of the start, but for 2 % of the ball's, and at 24 Hz, where
/// the ball moves by its own diameter in a window, for what implicit cloth gains there without restitution too: 15 %
/// and less.
#[test]
fn a_trampoline_with_restitution_gives_no_energy() {
    let scenes = [(24.0, 1.0, 0.3), (60.0, 1.0, 0.02), (60.0, 0.05, 0.02), (240.0, 0.05, 0.02)];
    for ((rate, mass, most), method) in scenes.into_iter().flat_map(|scene| METHODS.map(|method| (scene, method))) {
        // At 24 Hz links of inextensible nets cannot keep their lengths, and say so.
        for restitution in if rate < 30.0 && method == Method::Ibds { vec![] } else { vec![0.5, 1.0] } {
            let ball = Body::dynamic(Shape::ball(0.04)).mass(mass).at([0.05, 0.08, -0.03]).velocity([0.0, -2.0, 0.0]);
            let mut run = scene(rate, method, [0.5, 0.0], true, ball, restitution);
            let energy = |run: &mut Run| {
                let of = ["rigid", "cloth"].map(|name| run.simulator_ledger(name).unwrap().unwrap());
                let in_transit: f64 = run.ledgers().iter().map(|ledger| ledger.in_transit).sum();
                of.iter().map(|ledger| ledger.kinetic + ledger.potential).sum::<f64>() - in_transit
            };
            let start = energy(&mut run);
            let (mut last, scale) = (start, mass * (0.5 * 4.0 + 0.04 * G));
            for _ in 0..(0.6 * rate) as u32 {
                run.advance().unwrap();
                let now = energy(&mut run);
                let gained = (now.min(last) - start) / scale;
                assert!(gained < most, "{rate} Hz, {mass} kg, {restitution}, {method:?}: {gained}");
                last = now;
            }
        }
    }
}

/// A sheet that falls flat on a floor with v keeps e² of its energy, and gets no more. Asynchronous cloth bounces when it gets
/// there. The others do so at the end of a step with the velocity of its start: that is up to 2 g dt/v less, and
/// as integrators of first order have it, g dt/v.
#[test]
fn a_sheet_bounces_as_its_restitution_says() {
    let height: f64 = 0.5;
    for (rate, method) in [60.0, 240.0].into_iter().flat_map(|rate| METHODS.map(|method| (rate, method))) {
        for restitution in [0.0, 0.5, 1.0] {
            let floor = Body::fixed(Shape::cuboid([2.0, 0.2, 2.0])).at([0.0, -0.1, 0.0]);
            let mut run = scene(rate, method, [0.3, height], false, floor, restitution);
            // Half of the time up after the bounce, for e = 0.5.
            let [fall, up] = [1.0, 0.25].map(|part| part * (2.0 * height / G).sqrt());
            run.for_seconds(fall + up).unwrap();
            let ledger = run.simulator_ledger("cloth").unwrap().unwrap();
            let kept = (ledger.kinetic + ledger.potential) / (ledger.mass * G * height);
            let missing = if method == Method::Avi { 0.0 } else { 3.0 * G / rate / (2.0 * G * height).sqrt() };
            let expected = restitution * restitution;
            let range = expected * (1.0 - missing) - 0.01..expected + 0.01;
            assert!(range.contains(&kept), "{rate} Hz, {method:?}, {restitution}: {kept} of {expected}");
        }
    }
}
