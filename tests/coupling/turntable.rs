//! A turntable of 10 to 400 rad/s, at 60 Hz up to a whole turn a window and at 300 Hz, drags what lies on it forwards.

use std::f64::consts::FRAC_PI_2;

use nalgebra::Vector3;
use partita::{particles::Particles, prelude::*};

/// Speeds of the table `[rad/s]`.
const SPINS: [f64; 8] = [10.0, 60.0, 125.0, 140.0, 198.0, 230.0, 377.0, 400.0];

/// A scene with a scripted table whose upper side is at height 0.
fn table(spin: f64, hz: f64) -> (Scene, RigidBodies) {
    let mut rigid = RigidBodies::new("table");
    let pose = move |t: f64| Pose::at([0.0, -0.05, 0.0]).turned([0.0, 1.0, 0.0], spin * t);
    let body = Body::kinematic(Shape::cylinder_y(0.1, 0.5), pose).friction(0.5);
    rigid.add("table", body).unwrap();
    (Scene::new(Rate::hz(hz)), rigid)
}

/// Mean velocity around the axis, relative to that of the table, of points near the axis.
fn dragged(x: &[[f64; 3]], v: &[[f64; 3]], spin: f64) -> f64 {
    let around = |(x, v): (&[f64; 3], &[f64; 3])| x[2] * v[0] - x[0] * v[2];
    let inertia: f64 = x.iter().map(|x| x[0] * x[0] + x[2] * x[2]).sum();
    x.iter().zip(v).map(around).sum::<f64>() / inertia / spin
}

/// A crate in the middle of the table, in another world, spins up with it: by 3/2 μ g / R_eff t at most, and
/// never backwards.
#[test]
fn a_crate_is_dragged_forwards() {
    for spin in SPINS {
        let (mut scene, rigid) = table(spin, 60.0);
        let mut other = RigidBodies::new("crate");
        let body = Body::dynamic(Shape::cuboid([0.2, 0.1, 0.2])).at([0.0, 0.0501, 0.0]).friction(0.5);
        let body = other.add("crate", body).unwrap();
        scene.contact("crate", "table").friction(0.5);
        scene.add(rigid).add(other);
        let mut run = scene.build().unwrap();
        let mut last = 0.0;
        for _ in 0..30 {
            run.advance().unwrap();
            let now = run.state(body).unwrap().spin[1];
            assert!(now > -0.1 && now < 1.05 * spin, "{spin} rad/s: {now} rad/s");
            last = now;
        }
        println!("table at {spin} rad/s: crate at {last} rad/s");
        assert!(last > 5.0, "{spin} rad/s: {last} rad/s");
        let notes = run.report().notes;
        assert!(notes.is_empty(), "{spin} rad/s: {notes:?}");
    }
}

/// Cloth on the table, at its middle.
fn cloths() -> [(&'static str, Box<dyn Simulator>); 2] {
    let mesh = || Mesh::grid([6; 2], [0.2; 2]).unwrap().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    let mesh = || mesh().at([-0.1, 0.001, 0.1]).unwrap();
    let implicit = ImplicitCloth::new("cloth", mesh(), Fabric::denim()).unwrap();
    let ibds = IbdsCloth::new("cloth", Net::sheet(&mesh(), 0.3).unwrap()).unwrap();
    [("implicit", Box::new(implicit)), ("IBDS", Box::new(ibds))]
}

#[test]
fn cloth_is_dragged_forwards() {
    for (spin, hz) in SPINS.into_iter().flat_map(|spin| [(spin, 60.0), (spin, 300.0)]) {
        for (kind, cloth) in cloths() {
            let (mut scene, rigid) = table(spin, hz);
            scene.contact("cloth", "table").friction(0.5);
            scene.add(rigid).add_boxed(cloth);
            let mut run = scene.build().unwrap();
            for k in 0..(hz / 3.0) as u32 {
                run.advance().unwrap();
                let (x, v) = points(&mut run);
                let now = dragged(&x, &v, spin);
                assert!(now > -0.01 && now < 1.05, "{kind}, {spin} rad/s at {hz} Hz, window {k}: {now} of the table");
            }
            let (x, v) = points(&mut run);
            println!("table at {spin} rad/s, {hz} Hz: {kind} at {:.3} of it", dragged(&x, &v, spin));
            assert!(dragged(&x, &v, spin) * spin > 1.0, "{kind}, {spin} rad/s at {hz} Hz");
        }
    }
}

/// Positions `[m]` and velocities `[m/s]` of points.
type Points = (Vec<[f64; 3]>, Vec<[f64; 3]>);

fn arrays(x: &[Vector3<f64>], v: &[Vector3<f64>]) -> Points {
    let of = |x: &[Vector3<f64>]| x.iter().map(|x| (*x).into()).collect();
    (of(x), of(v))
}

/// Points of the cloth.
fn points(run: &mut Run) -> Points {
    let implicit = run.look("cloth", |cloth: &ImplicitCloth| arrays(cloth.positions(), cloth.velocities()));
    implicit.or_else(|_| run.look("cloth", |cloth: &IbdsCloth| arrays(cloth.positions(), cloth.velocities()))).unwrap()
}

#[test]
fn particles_are_dragged_forwards() {
    for spin in SPINS {
        let (mut scene, rigid) = table(spin, 60.0);
        let mut particles = Particles::new("grains");
        let places: Vec<[f64; 3]> =
            (0..25).map(|k| [0.04 * f64::from(k % 5) - 0.08, 0.006, 0.04 * f64::from(k / 5) - 0.08]).collect();
        for &x in &places {
            particles.add(x, [0.0; 3]).unwrap();
        }
        scene.contact("grains", "table").friction(0.5);
        scene.add(rigid).add(particles);
        let mut run = scene.build().unwrap();
        for _ in 0..6 {
            run.advance().unwrap();
        }
        let of = |grains: &Particles| arrays(grains.positions(), grains.velocities());
        let (x, v) = run.look("grains", of).unwrap();
        let now = dragged(&x, &v, spin);
        println!("table at {spin} rad/s: grains at {now:.3} of it");
        assert!(now * spin > 0.5 && now < 1.05, "{spin} rad/s: {now}");
    }
}
