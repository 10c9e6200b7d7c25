use nalgebra::Vector3;
use partita_rigid::{Body, RigidBodies, Shape};
use partita_simulator::*;

fn v(x: [f64; 3]) -> Vector3<f64> {
    Vector3::from(x)
}

#[test]
fn probe_attach() {
    for frame in [false, true] {
        let mut r = RigidBodies::new("r");
        let b = r.add("b", Body::dynamic(Shape::cuboid([0.3, 0.2, 0.1])).mass(2.0).at([0., 1., 0.])).unwrap();
        let p = r.point(b, [0.15, 0.1, 0.05]).unwrap();
        let own = if frame { b } else { p };
        r.follow(vec![Guide::Attachment { own }]).unwrap();
        let s0 = r.state_of(own).unwrap();
        let dt = 1.0 / 240.0;
        let at = |t: f64| {
            let w = 6.0;
            let a = 0.1;
            let mut s = s0;
            s.position[0] += a * (w * t).sin();
            s.position[1] += a * (1.0 - (w * t).cos());
            s.velocity = [a * w * (w * t).cos(), a * w * (w * t).sin(), 0.0];
            if frame {
                let q = nalgebra::UnitQuaternion::from_scaled_axis(Vector3::new(0., 0.3, 1.0) * (2.0 * t));
                s.orientation = q.coords.into();
                s.spin = [0.0, 0.6, 2.0];
            }
            s
        };
        let (mut gap, mut slip, mut bal, mut abal) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
        for k in 0..480 {
            let t = k as f64 * dt;
            let before = r.ledger().unwrap();
            let rep = r
                .step(
                    dt,
                    &Inputs {
                        loads: vec![(b, Wrench::force([3.0, 1.0, -2.0]))],
                        motions: vec![Some(Motion { begin: [at(t)].into(), end: [at(t + dt)].into() })],
                    },
                )
                .unwrap();
            let after = r.ledger().unwrap();
            let s = r.state_of(own).unwrap();
            let e = at(t + dt);
            gap = gap.max((v(s.position) - v(e.position)).norm());
            if k > 0 {
                slip = slip.max(
                    (v(s.velocity) - v(e.velocity)).norm() + if frame { (v(s.spin) - v(e.spin)).norm() } else { 0.0 },
                );
            }
            let j = v(rep.reactions[0].impulse.linear);
            let d = v(after.momentum)
                - v(before.momentum)
                - (v(after.external.unwrap().linear) - v(before.external.unwrap().linear))
                - Vector3::new(3.0, 1.0, -2.0) * dt
                + j;
            bal = bal.max(d.norm() / j.norm());
            let x = v(at(t).position);
            let dl = v(after.angular_momentum)
                - v(before.angular_momentum)
                - (v(after.external.unwrap().angular) - v(before.external.unwrap().angular))
                - v(at(t).position).cross(&Vector3::zeros());
            let dload = v(r.state_of(b).unwrap().position).cross(&(Vector3::new(3.0, 1.0, -2.0) * dt));
            let dd = dl - dload + x.cross(&j) + v(rep.reactions[0].impulse.angular);
            abal = abal.max(dd.norm() / (x.cross(&j).norm() + 1e-3));
            if k == 100 {
                println!("{:?}", rep.reactions);
            }
        }
        println!("frame {frame}: gap {gap:e} slip {slip:e} balance {bal:e} angular {abal:e}");
    }
}

#[test]
fn probe_obstacle() {
    for (convex, own) in [
        (true, Shape::cuboid([0.3, 0.2, 0.1])),
        (false, Shape::cuboid([0.3, 0.2, 0.1])),
        (true, Shape::ball(0.1)),
        (false, Shape::ball(0.1)),
        (
            true,
            Shape::mesh(
                vec![[0., 0., 0.], [0.3, 0., 0.], [0., 0.3, 0.], [0., 0., 0.3]],
                vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
            ),
        ),
        (
            false,
            Shape::mesh(
                vec![[0., 0., 0.], [0.3, 0., 0.], [0., 0.3, 0.], [0., 0., 0.3]],
                vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
            ),
        ),
    ] {
        let mut r = RigidBodies::new("r");
        let b = r.add("b", Body::dynamic(own).mass(2.0).at([0., 0.2, 0.])).unwrap();
        let mut o = RigidBodies::new("o");
        let c = o.add("table", Body::fixed(Shape::cuboid([2.0, 0.1, 2.0]))).unwrap();
        let mut s = (*o.surfaces()[0]).clone();
        if !convex {
            s.triangles.retain(|t| t.iter().all(|&v| s.vertices[v as usize][1] > 0.0));
            s.two_sided = true;
        }
        let _ = c;
        r.follow(vec![Guide::Obstacle {
            surface: std::sync::Arc::new(s),
            friction: 0.4,
            restitution: 0.0,
            thickness: 0.01,
            except: vec![],
        }])
        .unwrap();
        let dt = 1.0 / 240.0;
        let at = |t: f64| {
            let w = 6.0;
            let a = 0.02;
            let mut s = HandleState::default();
            s.position = [a * 4.0 * (w * t).sin(), a * (1.0 - (w * t).cos()), 0.0];
            s.velocity = [4.0 * a * w * (w * t).cos(), a * w * (w * t).sin(), 0.0];
            s
        };
        let (mut bal, mut abal, mut total) = (0.0f64, 0.0f64, Vector3::zeros());
        for k in 0..480 {
            let t = k as f64 * dt;
            let before = r.ledger().unwrap();
            let rep = r
                .step(
                    dt,
                    &Inputs {
                        loads: vec![],
                        motions: vec![Some(Motion { begin: [at(t)].into(), end: [at(t + dt)].into() })],
                    },
                )
                .unwrap();
            let after = r.ledger().unwrap();
            let j: Vector3<f64> = rep.reactions.iter().map(|r| v(r.impulse.linear)).sum();
            let tq: Vector3<f64> = rep.reactions.iter().map(|r| v(r.impulse.angular)).sum();
            total += j;
            let d = v(after.momentum)
                - v(before.momentum)
                - (v(after.external.unwrap().linear) - v(before.external.unwrap().linear))
                + j;
            bal = bal.max(d.norm());
            let dl = v(after.angular_momentum)
                - v(before.angular_momentum)
                - (v(after.external.unwrap().angular) - v(before.external.unwrap().angular));
            let dd = dl + v(at(t).position).cross(&j) + tq;
            abal = abal.max(dd.norm());
        }
        println!(
            "convex {convex}: balance {bal:e} angular {abal:e} mean {:?} {:?}",
            total / 2.0,
            r.state_of(b).unwrap().position
        );
    }
}
