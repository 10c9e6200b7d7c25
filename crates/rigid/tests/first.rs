use partita_rigid::*;
use partita_simulator::*;
fn stack() -> RigidBodies {
    let mut r = RigidBodies::new("rigid");
    r.add("floor", Body::fixed(Shape::cuboid([10.0, 1.0, 10.0])).at([0.0, -0.5, 0.0])).unwrap();
    for i in 0..5 {
        for j in 0..3 {
            r.add(
                &format!("b{i}{j}"),
                Body::dynamic(if (i + j) % 2 == 0 { Shape::cuboid([1.0; 3]) } else { Shape::capsule_z(0.6, 0.4) })
                    .at([j as f64 * 0.7, 0.55 + 1.05 * i as f64, 0.01 * i as f64]),
            )
            .unwrap();
        }
    }
    r
}
#[test]
fn bytes_law() {
    let mut a = stack();
    let mut b = stack();
    for k in 0..300 {
        let body = a.body("b00").unwrap();
        let inputs =
            Inputs { loads: vec![(body, Wrench::force([50.0 * (k as f64 * 0.1).sin(), 0.0, 3.0]))], motions: vec![] };
        let mark = b.snapshot(None);
        let bytes = mark.to_bytes();
        b.step(1.0 / 60.0, &Inputs { loads: vec![(body, Wrench::force([5000.0, 1000.0, 0.0]))], motions: vec![] })
            .unwrap();
        if k % 2 == 0 {
            b.retract(&mark).unwrap();
        } else {
            let m = b.snapshot_from_bytes(mark.time(), &bytes).unwrap();
            b.retract(&m).unwrap();
        }
        assert!(b.snapshot(None).to_bytes() == bytes, "same {k}");
        a.step(1.0 / 60.0, &inputs).unwrap();
        b.step(1.0 / 60.0, &inputs).unwrap();
        let (x, y) = (a.snapshot(None).to_bytes(), b.snapshot(None).to_bytes());
        assert!(x == y, "step {k} {} {}", x.len(), y.len());
    }
    println!("{:?}", a.state_of(a.body("b40").unwrap()));
}
