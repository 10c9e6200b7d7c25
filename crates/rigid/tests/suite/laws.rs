//! The laws of the contract.

use partita_rigid::{Body, Joint, RigidBodies, Shape};
use partita_simulator::simulator_laws;

/// A rod on a hinge, a ball on a rope, boxes and a capsule that meet, points in three bodies.
fn playground() -> RigidBodies {
    let mut rigid = RigidBodies::new("playground");
    let plank = Body::dynamic(Shape::cuboid([0.4, 0.05, 0.2])).at([-0.6, 1.6, 0.0]).density(300.0);
    let plank = rigid.add("plank", plank).unwrap();
    rigid.point(plank, [0.15, 0.025, 0.05]).unwrap();
    let post = rigid.add("post", Body::fixed(Shape::cuboid([0.2, 0.2, 0.2])).at([0.0, 2.0, 0.0])).unwrap();
    let rod = rigid.add("rod", Body::dynamic(Shape::capsule_x(0.6, 0.03)).at([0.3, 2.0, 0.0]).density(400.0)).unwrap();
    let tip = rigid.point(rod, [0.3, 0.0, 0.0]).unwrap();
    let ball = rigid.add("ball", Body::dynamic(Shape::ball(0.1)).at([0.6, 1.6, 0.0]).mass(0.5)).unwrap();
    rigid.join("hinge", Joint::hinge(post, rod).anchor([0.0, 2.0, 0.0])).unwrap();
    rigid.join("rope", Joint::rope(tip, ball, 0.4)).unwrap();
    for i in 0..4 {
        let shape = if i % 2 == 0 { Shape::cuboid([0.3, 0.1, 0.2]) } else { Shape::capsule_z(0.2, 0.06) };
        let body = Body::dynamic(shape).at([0.5 + 0.01 * f64::from(i), 0.9 - 0.13 * f64::from(i), 0.0]).density(300.0);
        rigid.add(&format!("falling {i}"), body).unwrap();
    }
    rigid
}

/// A box and a ball that nothing touches, and a point in each.
fn adrift() -> RigidBodies {
    let mut rigid = RigidBodies::new("adrift");
    let spin = [0.4, 1.0, -0.3];
    let brick = rigid.add("brick", Body::dynamic(Shape::cuboid([0.3, 0.2, 0.1])).mass(2.0).spin(spin)).unwrap();
    rigid.point(brick, [0.1, 0.05, -0.05]).unwrap();
    let ball = rigid.add("ball", Body::dynamic(Shape::ball(0.1)).at([2.0, 0.0, 0.0]).mass(1.0)).unwrap();
    rigid.point(ball, [0.0, 0.1, 0.0]).unwrap();
    rigid
}

simulator_laws!(playground(), dt = 1.0 / 256.0, load = 1.0, free = adrift());
