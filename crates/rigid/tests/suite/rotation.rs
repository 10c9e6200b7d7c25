//! Free rotation against Euler's equations: invariants, phase, and the flips of the intermediate axis.

use nalgebra::{UnitQuaternion, Vector3};
use partita_rigid::{Body, RigidBodies, Shape};
use partita_simulator::{HandleId, HandleState, Inputs, Simulator, Wrench};

fn free(shape: Shape, spin: [f64; 3]) -> (RigidBodies, HandleId) {
    let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
    let body =
        rigid.add("body", Body::dynamic(shape).at([1.0, -2.0, 0.5]).velocity([3.0, 1.0, 0.0]).spin(spin)).unwrap();
    (rigid, body)
}

/// Kinetic energy of rotation `[J]` and angular momentum about the centre of mass `[kg m²/s]`.
fn invariants(rigid: &RigidBodies, body: HandleId) -> (f64, Vector3<f64>) {
    let (ledger, state) = (rigid.ledger().unwrap(), rigid.state_of(body).unwrap());
    let (p, x) = (Vector3::from(ledger.momentum), Vector3::from(state.position));
    let energy = ledger.kinetic - 0.5 * p.norm_squared() / ledger.mass;
    (energy, Vector3::from(ledger.angular_momentum) - x.cross(&p))
}

fn orientation(state: &HandleState) -> UnitQuaternion<f64> {
    let [x, y, z, w] = state.orientation;
    UnitQuaternion::new_normalize(nalgebra::Quaternion::new(w, x, y, z))
}

/// Energy and angular momentum stay to rounding over 10 s, up to 1 rad a step and far beyond:
/// 1e-9 is what thousands of steps of double precision leave, with an inertia ratio of 2,000.
#[test]
fn energy_and_angular_momentum_of_free_bodies_stay() {
    let tetrahedron = Shape::mesh(
        [[0.0; 3], [0.4, 0.0, 0.0], [0.0, 0.3, 0.0], [0.1, 0.0, 0.2]],
        [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    );
    let shapes = [
        ("disc", Shape::cylinder_y(0.2, 1.0)),
        ("rod", Shape::capsule_x(1.0, 0.02)),
        ("box", Shape::cuboid([1.0, 0.1, 0.5])),
        ("cube", Shape::cuboid([0.3; 3])),
        ("asymmetric top", tetrahedron),
    ];
    let axes = [[0.0, 1.0, 1.0e-3], [1.0, 1.0e-3, 0.0], [1.0e-3, 0.0, 1.0], [0.5, -0.7, 0.4]];
    for (name, shape) in shapes {
        for (axis, dt, turn) in
            axes.iter().flat_map(|axis| [(axis, 1.0 / 60.0, 1.0), (axis, 1.0 / 240.0, 0.9), (axis, 1.0 / 60.0, 20.0)])
        {
            let spin = Vector3::from(*axis).normalize() * (turn / dt);
            let (mut rigid, body) = free(shape.clone(), spin.into());
            let (energy, momentum) = invariants(&rigid, body);
            let (mut of_energy, mut of_momentum) = (0.0f64, 0.0f64);
            for _ in 0..(10.0 / dt) as usize {
                let report = rigid.step(dt, Inputs::NONE).unwrap();
                assert!(report.notes.is_empty(), "{:?}", report.notes);
                let (e, l) = invariants(&rigid, body);
                of_energy = of_energy.max((e - energy).abs() / energy);
                of_momentum = of_momentum.max((l - momentum).norm() / momentum.norm());
            }
            println!("{name}, {axis:?}, {turn} rad a step: energy {of_energy:.1e}, angular momentum {of_momentum:.1e}");
            assert!(of_energy < 1.0e-9 && of_momentum < 1.0e-9, "{name} {axis:?} {turn} {of_energy} {of_momentum}");
        }
    }
}

/// A body that turns about a principal axis has turned by ω t, at any step: rapier alone turns by
/// 2 atan(h ω / 2) a substep, 2 % less at half a radian.
#[test]
fn a_body_turns_by_its_spin() {
    for (shape, turn) in [(Shape::ball(0.1), 1.0), (Shape::cuboid([0.1, 0.2, 0.3]), 1.0), (Shape::ball(0.1), 3.0)] {
        let dt = 1.0 / 60.0;
        let (mut rigid, body) = free(shape, [0.0, turn / dt, 0.0]);
        for _ in 0..600 {
            rigid.step(dt, Inputs::NONE).unwrap();
        }
        let expected = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 600.0 * turn);
        let error = orientation(&rigid.state_of(body).unwrap()).angle_to(&expected);
        // The composition's phase error is below 1e-5 of the angle.
        assert!(error < 1.0e-5 * 600.0 * turn, "{error}");
    }
}

/// Complete elliptic integral of the first kind for modulus k, by the arithmetic-geometric mean.
fn elliptic_k(k2: f64) -> f64 {
    let (mut a, mut b) = (1.0, (1.0 - k2).sqrt());
    for _ in 0..60 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    std::f64::consts::PI / (2.0 * a)
}

/// A box that spins about its intermediate axis flips every 2 K(k) / rate seconds (L. Landau, E. Lifshitz:
/// Mechanics, §37). The last flip in 10 s comes at its time to 0.1 %, at up to 1 rad a step.
#[test]
fn the_intermediate_axis_flips_on_time() {
    for (size, dt, turn) in [
        ([0.4, 0.2, 0.1], 1.0 / 240.0, 0.1),
        ([0.4, 0.2, 0.1], 1.0 / 60.0, 0.5),
        ([0.4, 0.2, 0.1], 1.0 / 60.0, 1.0),
        ([1.0, 0.9, 0.2], 1.0 / 120.0, 1.0),
    ] {
        // Lengths fall from x to z, so moments rise: x is axis 1, y the intermediate one, z axis 3.
        let square = |i: usize| size[i] * size[i];
        let density = 1000.0 * size[0] * size[1] * size[2] / 12.0;
        let inertia = [square(1) + square(2), square(0) + square(2), square(0) + square(1)].map(|s| s * density);
        let spin = Vector3::new(1.0e-3, 1.0, 2.0e-3) * (turn / dt);
        let (mut rigid, body) = free(Shape::cuboid(size), spin.into());

        let [i1, i2, i3] = inertia;
        let twice_energy: f64 = (0..3).map(|i| inertia[i] * spin[i] * spin[i]).sum();
        let momentum2: f64 = (0..3).map(|i| (inertia[i] * spin[i]).powi(2)).sum();
        // Landau's formulas are for L² > 2 E I₂; otherwise axes 1 and 3 change places.
        let (i1, i3) = if momentum2 > twice_energy * i2 { (i1, i3) } else { (i3, i1) };
        let rate = ((i3 - i2) * (momentum2 - twice_energy * i1) / (i1 * i2 * i3)).sqrt();
        let k2 = (i2 - i1) * (twice_energy * i3 - momentum2) / ((i3 - i2) * (momentum2 - twice_energy * i1));
        let between = 2.0 * elliptic_k(k2) / rate;

        let along = |state: &HandleState| (orientation(state).inverse() * Vector3::from(state.spin)).y;
        let mut flips = Vec::new();
        let mut before = along(&rigid.state_of(body).unwrap());
        for k in 0..(10.0 / dt) as usize {
            rigid.step(dt, Inputs::NONE).unwrap();
            let now = along(&rigid.state_of(body).unwrap());
            if before * now < 0.0 {
                flips.push((k as f64 + before / (before - now)) * dt);
            }
            before = now;
        }
        assert!(flips.len() > 5, "{} flips", flips.len());
        let took = flips[flips.len() - 1] - flips[0];
        let expected = between * (flips.len() - 1) as f64;
        println!("{size:?}, {turn} rad a step: {} flips, {took:.5} s for {expected:.5}", flips.len());
        assert!((took - expected).abs() < 1.0e-3 * expected, "{took} for {expected}");
    }
}

/// A torque along the angular momentum of a free asymmetric body adds to it, and nothing else does.
#[test]
fn a_torque_adds_its_impulse_to_the_angular_momentum() {
    let (mut rigid, body) = free(Shape::cuboid([1.0, 0.1, 0.5]), [10.0, 20.0, -5.0]);
    let (_, before) = invariants(&rigid, body);
    let torque = Vector3::new(20.0, -3.0, 8.0);
    let load = Inputs { loads: vec![(body, Wrench { linear: [0.0; 3], angular: torque.into() })], ..Inputs::default() };
    for _ in 0..240 {
        rigid.step(1.0 / 240.0, &load).unwrap();
    }
    let (_, after) = invariants(&rigid, body);
    let error = (after - before - torque).norm() / before.norm();
    assert!(error < 1.0e-11, "{error}");
}

/// A disc on its face, a disc on its rim and a box on its end spin on a floor and gain no energy.
/// Contact impulses act on them, so their rotation is not free.
#[test]
fn spinning_bodies_on_a_floor_gain_no_energy() {
    for (name, shape, height, spin) in [
        ("disc on its face", Shape::cylinder_y(0.2, 1.0), 0.1, [0.2, 200.0, 0.0]),
        ("disc on its rim", Shape::cylinder_x(0.05, 0.3), 0.3, [1.0, 30.0, 0.0]),
        ("box on its end", Shape::cuboid([0.1, 0.4, 0.2]), 0.2, [0.1, 50.0, 0.2]),
    ] {
        for dt in [1.0 / 60.0, 1.0 / 240.0] {
            let mut rigid = RigidBodies::new("rigid");
            rigid.add("floor", Body::fixed(Shape::cuboid([40.0, 1.0, 40.0])).at([0.0, -0.5, 0.0])).unwrap();
            let body = Body::dynamic(shape.clone()).at([0.0, height, 0.0]).spin(spin);
            rigid.add("body", body).unwrap();
            let energy = |rigid: &RigidBodies| {
                let ledger = rigid.ledger().unwrap();
                ledger.kinetic + ledger.potential
            };
            let first = energy(&rigid);
            let mut most = first;
            for _ in 0..(3.0 / dt) as usize {
                rigid.step(dt, Inputs::NONE).unwrap();
                most = most.max(energy(&rigid));
            }
            println!("{name}, {dt:.4} s: {:.2e} of the energy gained", (most - first) / first);
            // A hundredth of the start is what contacts may lift it by while it settles.
            assert!(most - first < 0.01 * first, "{name}: {most} J of {first} J");
        }
    }
}
