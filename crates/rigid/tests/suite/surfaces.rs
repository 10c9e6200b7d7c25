//! Surfaces that others bump into: watertight, outward, where the body is.

use std::collections::HashMap;

use approx::assert_relative_eq;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use partita_rigid::{
    Body, RigidBodies, Shape,
    rapier::prelude::{ColliderBuilder, PhysicsWorld, RigidBodyBuilder, SharedShape, Vector},
};
use partita_simulator::{Carrier, Primitive, PrimitiveShape, Simulator, Surface};

fn surface_of(body: Body) -> (RigidBodies, Surface) {
    let mut rigid = RigidBodies::new("rigid");
    rigid.add("body", body).unwrap();
    let surface = (*rigid.surfaces()[0]).clone();
    (rigid, surface)
}

/// Volume [m³] and centre of the solid inside.
fn volume(surface: &Surface) -> (f64, Vector3<f64>) {
    let mut sum = (0.0, Vector3::zeros());
    for triangle in &surface.triangles {
        let [a, b, c] = triangle.map(|v| Vector3::from(surface.vertices[v as usize]));
        let part = a.dot(&b.cross(&c)) / 6.0;
        sum.0 += part;
        sum.1 += part * (a + b + c) / 4.0;
    }
    (sum.0, sum.1 / sum.0)
}

/// Each edge is passed once in each direction, so nothing leaks, and no two vertices are at one place.
fn assert_watertight(surface: &Surface) {
    let mut edges: HashMap<(u32, u32), i32> = HashMap::new();
    for &[a, b, c] in &surface.triangles {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            *edges.entry((from.min(to), from.max(to))).or_default() += if from < to { 1 } else { 1000 };
        }
    }
    assert!(edges.values().all(|&passes| passes == 1001), "an open or doubled edge");
    for (i, a) in surface.vertices.iter().enumerate() {
        for b in &surface.vertices[..i] {
            assert!((Vector3::from(*a) - Vector3::from(*b)).norm() > 1e-9, "two vertices at {a:?}");
        }
    }
}

fn shapes() -> Vec<(Shape, f64, usize)> {
    use std::f64::consts::PI;
    let (r, l) = (0.2, 0.5);
    let (tube, ball) = (PI * r * r * l, 4.0 / 3.0 * PI * r * r * r);
    let corners: Vec<[f64; 3]> = (0..8u32).map(|i| [0, 1, 2].map(|axis| f64::from(i >> axis & 1))).collect();
    vec![
        (Shape::cuboid([0.2, 0.4, 0.6]), 0.048, 12),
        (Shape::ball(r), ball, 0),
        (Shape::capsule_x(l, r), tube + ball, 0),
        (Shape::capsule_y(l, r), tube + ball, 0),
        (Shape::capsule_z(l, r), tube + ball, 0),
        (Shape::cylinder_x(l, r), tube, 0),
        (Shape::cylinder_y(l, r), tube, 0),
        (Shape::cylinder_z(l, r), tube, 0),
        (Shape::hull(corners), 1.0, 12),
        (
            Shape::mesh(
                [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
                [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
            ),
            1.0 / 6.0,
            4,
        ),
    ]
}

/// Closed, wound outwards (its volume is positive), of the solid's volume to the 2.5 % that 32 flat sides
/// cut off a round one, and about the centre of mass of the body that carries it.
#[test]
fn surfaces_are_watertight_and_outward() {
    for (shape, solid, triangles) in shapes() {
        let (rigid, surface) = surface_of(Body::dynamic(shape.clone()).at([3.0, 1.0, -2.0]).friction(0.7));
        assert_watertight(&surface);
        let (volume, centre) = volume(&surface);
        assert_relative_eq!(volume, solid, max_relative = 0.025);
        assert!(volume < solid * (1.0 + 1e-12) && centre.norm() < 1e-12, "{shape:?}: {volume} {centre}");
        assert!(triangles == 0 || triangles == surface.triangles.len());
        assert!(!surface.two_sided && surface.friction == 0.7);
        assert_eq!(surface.carrier, Carrier::Frame(rigid.body("body").unwrap()));
        surface.check().unwrap();
    }
}

/// The long axis is where the name says: `capsule_x` is longest along X.
#[test]
fn axes_are_where_their_names_say() {
    for (shape, axis) in [
        (Shape::capsule_x(1.0, 0.1), 0),
        (Shape::capsule_y(1.0, 0.1), 1),
        (Shape::capsule_z(1.0, 0.1), 2),
        (Shape::cylinder_x(1.2, 0.1), 0),
        (Shape::cylinder_y(1.2, 0.1), 1),
        (Shape::cylinder_z(1.2, 0.1), 2),
    ] {
        let (_, surface) = surface_of(Body::fixed(shape));
        for other in 0..3 {
            let reach = surface.vertices.iter().map(|v| v[other]).fold(0.0, f64::max);
            assert_relative_eq!(reach, if other == axis { 0.6 } else { 0.1 }, max_relative = 0.01);
        }
    }
}

/// The surface's vertices, posed by the Frame, are on rapier's shape: a ball dropped onto each fixed shape
/// comes to rest on the surface others see, to the sagitta of its sides (0.5 % of the radius).
#[test]
fn what_is_seen_is_what_is_hit() {
    for (shape, _, _) in shapes() {
        let mut rigid = RigidBodies::new("rigid");
        rigid.add("body", Body::fixed(shape.clone())).unwrap();
        let surface = rigid.surfaces()[0].clone();
        let top = surface.vertices.iter().map(|v| v[1]).fold(f64::MIN, f64::max);
        let x = if matches!(shape, Shape::Hull { .. }) { 0.5 } else { 0.0 };
        let z = x;
        // Held on its axis, so that it cannot roll off.
        let ball = rigid.add("ball", Body::dynamic(Shape::ball(0.1)).at([x, top + 0.3, z]).damping(0.0, 0.0)).unwrap();
        let rail = rigid.add("rail", Body::fixed(Shape::ball(0.01)).at([x, top + 9.0, z])).unwrap();
        rigid.join("rail", partita_rigid::Joint::prismatic(rail, ball).axis([0.0, 1.0, 0.0])).unwrap();
        for _ in 0..480 {
            rigid.step(1.0 / 240.0, partita_simulator::Inputs::NONE).unwrap();
        }
        let pointed = matches!(shape, Shape::Mesh { .. });
        let y = rigid.state_of(ball).unwrap().position[1];
        assert!((y - top - 0.1).abs() < if pointed { 0.1 } else { 2e-3 }, "{shape:?}: {y}, top at {top}");
    }
}

/// How far a place is from a primitive, and which way is out of it.
fn distance(shape: PrimitiveShape, x: &Vector3<f64>) -> f64 {
    match shape {
        PrimitiveShape::HalfSpace => x.y,
        PrimitiveShape::Ball { radius } => x.norm() - radius,
        PrimitiveShape::Capsule { half_length, radius } => {
            (x - Vector3::y() * x.y.clamp(-half_length, half_length)).norm() - radius
        }
        PrimitiveShape::Cylinder { half_length, radius } => (x.xz().norm() - radius).max(x.y.abs() - half_length),
        PrimitiveShape::Cone { half_height, radius } => {
            let side = Vector3::new(2.0 * half_height, radius, 0.0).normalize();
            (side.x * x.xz().norm() + side.y * (x.y - half_height)).max(-half_height - x.y)
        }
        PrimitiveShape::Cuboid { half_extents } => (x.abs() - Vector3::from(half_extents)).max(),
    }
}

/// Every corner of a primitive's triangles is on it, in the axes of the body that carries it, and a step outwards leaves it; what is none
/// says so.
#[test]
fn primitives_are_where_their_triangles_are() {
    let of_shapes = shapes().into_iter().map(|(shape, ..)| {
        let body = Body::dynamic(shape).at([3.0, 1.0, -2.0]).turned([1.0, 2.0, 0.5], 0.7);
        surface_of(body).1
    });
    // Of a body with two shapes, and on its own.
    let mut world = PhysicsWorld::new();
    let body = world.insert_body(RigidBodyBuilder::dynamic().translation(Vector::new(0.7, 3.0, 0.1)));
    world.insert_collider(ColliderBuilder::ball(0.3).translation(Vector::new(-0.4, 0.0, 0.0)), Some(body));
    let tilted = ColliderBuilder::cuboid(0.1, 0.2, 0.1).translation(Vector::new(0.4, 0.0, 0.0));
    world.insert_collider(tilted.rotation(Vector::new(0.1, 0.2, 0.3)), Some(body));
    world.insert_collider(ColliderBuilder::cone(0.3, 0.2).translation(Vector::new(0.0, 2.0, 0.0)), None);
    let ground = ColliderBuilder::new(SharedShape::halfspace(Vector::new(0.6, 0.8, 0.0)))
        .translation(Vector::new(0.0, -1.0, 0.0));
    world.insert_collider(ground, None);
    let rigid = RigidBodies::from_world("rigid", world).unwrap();
    let of_world: Vec<Surface> = rigid.surfaces().iter().map(|surface| (**surface).clone()).collect();
    let mut found = 0;
    for surface in of_shapes.chain(of_world) {
        let Some(Primitive { shape, position, orientation: [x, y, z, w] }) = surface.primitive else { continue };
        found += 1;
        surface.check().unwrap();
        let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        let local = |x: Vector3<f64>| turn.inverse() * (x - Vector3::from(position));
        for &vertex in &surface.vertices {
            let off = distance(shape, &local(vertex.into()));
            assert!(off.abs() < 1e-12, "{shape:?}: {vertex:?} is {off} m off");
        }
        for triangle in &surface.triangles {
            let [a, b, c] = triangle.map(|v| Vector3::from(surface.vertices[v as usize]));
            let out = 0.1 * (b - a).cross(&(c - a)).normalize();
            assert!(distance(shape, &local((a + b + c) / 3.0 + out)) > 0.09, "{shape:?} faces inwards");
        }
    }
    assert_eq!(found, 12, "a box, a ball, three capsules, three cylinders, and four of the world");
}
