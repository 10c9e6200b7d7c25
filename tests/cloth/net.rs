//! Impulse-based cloth and nets with bodies.

use std::f64::consts::FRAC_PI_2;

use nalgebra::Vector3;
use partita::prelude::*;
use partita_contact::crossings;
use partita_mesh::Mesh;

type V3 = Vector3<f64>;

const G: f64 = 9.81;

/// 10 kg of ball of 0.15 m, 0.2 m over a sheet of 1 m and 0.2 kg that is pinned at its corners (\[BDB09\] section 5): nothing passes,
/// and impulses are booked. That what cannot give way would have to stop the ball at once is beyond plain interleaving; links that get
/// a millimetre longer by 10 N, and `Relaxed`, never give the ball more energy than it had, but for what symplectic Euler is off by.
#[test]
fn a_heavy_ball_does_not_pass() {
    for (scheme, compliance) in [(Scheme::Interleaved, 0.0), (Relaxed::default().into(), 1e-4)] {
        let mesh = Mesh::grid([10, 10], [1.0, 1.0]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
        let mesh = mesh.at([-0.5, 0.0, -0.5]).unwrap();
        let net = Net::sheet(&mesh, 0.2).unwrap().compliance(compliance).unwrap();
        let mut sheet = IbdsCloth::new("sheet", net).unwrap();
        sheet.pin(&[0, 10, 110, 120]).unwrap();
        let mut rigid = RigidBodies::new("rigid");
        let ball = rigid.add("ball", Body::dynamic(Shape::ball(0.15)).mass(10.0).at([0.0, 0.35, 0.0])).unwrap();
        let mut scene = Scene::new(Rate::hz(100.0));
        scene.scheme(scheme);
        scene.contact("sheet", "rigid");
        scene.add(rigid).add(sheet);
        let mut run = scene.build().unwrap();

        let sphere = Mesh::ball(0.15, 2).unwrap();
        let n = mesh.vertices().len() as u32;
        let round = sphere.triangles().iter().map(|t| t.map(|v| v + n));
        let triangles: Vec<[u32; 3]> = mesh.triangles().iter().copied().chain(round).collect();
        let edges: Vec<[u32; 2]> = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
        while run.time() < 1.0 {
            run.advance().unwrap();
            let state = run.state(ball).unwrap();
            // As large as a ball within the one that the cloth met.
            let at = V3::from(state.position);
            let mut all = run.look("sheet", |sheet: &IbdsCloth| sheet.positions().to_vec()).unwrap();
            all.extend(sphere.vertices().iter().map(|x| at + 0.95 * x));
            assert_eq!(crossings(&all, &edges, &triangles), Vec::<[u32; 2]>::new(), "{} s", run.time());
            let speed = V3::from(state.velocity).norm();
            let gained = 0.5 * speed * speed + G * (at.y - 0.35) - 0.5 * G / 100.0 * speed;
            assert!(gained < 0.0 || compliance == 0.0, "{gained} J/kg gained at {} s", run.time());
        }
        let ledger = &run.ledgers()[0];
        let [used, got, pending] = [ledger.used, ledger.got, ledger.pending].map(|wrench| V3::from(wrench.linear));
        assert!((used + pending - got).norm() < 1e-13 * got.norm(), "{used} + {pending} - {got}");
    }
}

/// Planks of 1 to 3 kg that ropes carry from bank to bank, started taut and level, with loads found together by
/// iteration: the coupling adds no more than 1 % of the energy that the planks' fall of a tenth of the span frees. The
/// pull on one plank depends on the motion of all, so a factor for each load alone does not converge.
#[test]
fn bodies_that_hang_on_one_net_are_solved_together() {
    for (number, hz) in [(4, 120.0), (9, 240.0), (14, 240.0)] {
        let (pitch, ends) = (0.22, [0.085, -0.085]);
        let span = pitch * f64::from(number + 1);
        let mut rigid = RigidBodies::new("rigid");
        let (mut knots, mut ropes, mut bodies) = (vec![], vec![], vec![]);
        for k in 0..=number + 1 {
            let at = pitch * f64::from(k);
            let is_bank = k == 0 || k == number + 1;
            let shape = Shape::cuboid([0.15, 0.03, 0.9]);
            let mass = 1.0 + f64::from(k % 3);
            let body = if is_bank { Body::fixed(shape) } else { Body::dynamic(shape).mass(mass) };
            bodies.push((rigid.add(&format!("plank {k}"), body.at([at, 0.0, 0.0])).unwrap(), mass, is_bank));
            for (side, z) in [-0.45, 0.45].into_iter().enumerate() {
                let number = 4 * k as u32 + 2 * side as u32;
                knots.extend(ends.map(|end| [at - end, 0.0, z]));
                ropes.push([number, number + 1]);
                if k > 0 {
                    ropes.push([number - 3, number]);
                }
            }
        }
        let net = Net::new(&knots, &vec![0.05; knots.len()]).unwrap().ropes(ropes).unwrap().compliance(1e-5).unwrap();
        let ropes = IbdsCloth::new("ropes", net).unwrap();
        let mut scene = Scene::new(Rate::hz(hz));
        for (k, &(body, ..)) in bodies.iter().enumerate() {
            scene.attach((0..4).map(|i| ropes.particle(4 * k as u32 + i)).collect::<Vec<_>>(), body);
        }
        scene.scheme(Relaxed::default().tolerance(0.002).passes(20));
        scene.add(rigid).add(ropes);
        let mut run = scene.build().unwrap();
        let weight: f64 = bodies.iter().filter(|body| !body.2).map(|body| G * body.1).sum();
        while run.time() < 1.0 {
            run.advance().unwrap();
            let energy = run.ledgers()[0].work;
            assert!(energy < 0.01 * weight * 0.1 * span, "{number} planks: {energy} J at {} s", run.time());
        }
    }
}
