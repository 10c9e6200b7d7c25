//! What the air does to cloth, against exact solutions. Mass and air act on vertices in the same proportion, so a flat sheet moves as
//! one and stays flat.

use nalgebra::{Rotation3, Vector3};
use partita_implicit_cloth::{Fabric, ImplicitCloth};
use partita_mesh::Mesh;
use partita_simulator::{Inputs, Simulator};

type V3 = Vector3<f64>;

const G: f64 = 9.81;
const DENSITY: f64 = 0.1;

/// A sheet whose plane is at `angle` to the horizontal, its upper side to -x for angles from 0 to 90°.
fn plate(angle: f64) -> ImplicitCloth {
    let mesh = Mesh::grid([3, 2], [0.6, 0.4]).unwrap().turned([1.0, 0.0, 0.0], -std::f64::consts::FRAC_PI_2).unwrap();
    let mesh = mesh.turned([0.0, 0.0, 1.0], angle).unwrap();
    ImplicitCloth::new("plate", mesh, Fabric::cotton().density(DENSITY)).unwrap().gravity([0.0; 3]).tolerance(1e-10)
}

fn velocity(cloth: &ImplicitCloth) -> V3 {
    let first = cloth.velocities()[0];
    let worst = cloth.velocities().iter().map(|v| (v - first).norm()).fold(0.0, f64::max);
    assert!(worst < 1e-9 * (1.0 + first.norm()), "{worst} m/s apart at {} s", cloth.time());
    first
}

/// A level sheet falls as v_t tanh(g t/v_t), v_t = sqrt(2 g σ/ρ C_D) with mass per area σ: in the end exactly, on the way to first
/// order.
#[test]
fn a_level_sheet_falls_at_its_terminal_velocity() {
    let drag = 1.2;
    let terminal = (2.0 * G * DENSITY / drag).sqrt();
    let fall = |dt: f64, time: f64| {
        let mut cloth = plate(0.0).gravity([0.0, -G, 0.0]).drag(drag).lift(0.7).skin_drag(0.1);
        for _ in 0..(time / dt).round() as u32 {
            cloth.step(dt, Inputs::NONE).unwrap();
        }
        -velocity(&cloth).y
    };
    assert!((fall(0.01, 3.0) / terminal - 1.0).abs() < 1e-9);
    let exact = terminal * (G * 0.1 / terminal).tanh();
    let errors = [0.01, 0.005, 0.0025].map(|dt| (fall(dt, 0.1) - exact).abs());
    assert!(errors.windows(2).all(|two| (two[0] / two[1] - 2.0).abs() < 0.1), "{errors:?}");
}

/// At an angle α to the wind, drag is ½ ρ C_D A sin α u², lift ½ ρ C_L A sin α cos α u² across it, skin drag ½ ρ C_S A cos² α u²
/// along the plane: whichever side is up, and as long as only the difference of wind and cloth is the same.
#[test]
fn a_tilted_plate_has_lift_and_drag() {
    let (speed, dt) = (5.0, 1e-6);
    let gain = |cloth: ImplicitCloth, motion: V3| {
        let moving = vec![motion.into(); cloth.positions().len()];
        let mut cloth = cloth.wind((V3::x() * speed + motion).into()).with_velocities(&moving).unwrap();
        cloth.step(dt, Inputs::NONE).unwrap();
        // Per ½ ρ u² and area.
        (velocity(&cloth) - motion) / dt * DENSITY / (0.5 * speed * speed)
    };
    for angle in [0.0_f64, 0.2, 0.7, 1.2, std::f64::consts::FRAC_PI_2] {
        let (sin, cos) = angle.sin_cos();
        for turned_over in [0.0, std::f64::consts::PI] {
            let plate = || plate(angle + turned_over);
            for motion in [V3::zeros(), V3::new(3.0, -4.0, 1.0)] {
                // Rounding of velocities by the short step.
                let near =
                    |found: V3, expected: V3| assert!((found - expected).norm() < 1e-8, "{angle}: {found}, {expected}");
                near(gain(plate().drag(1.5), motion), V3::x() * 1.5 * sin);
                // The lee of a plate that rises downwind is below it.
                near(gain(plate().lift(1.5), motion), -V3::y() * 1.5 * sin * cos);
                near(gain(plate().skin_drag(0.4), motion), V3::new(cos, sin, 0.0) * 0.4 * cos * cos);
            }
        }
    }
}

/// A sheet whose plane is at α to its path glides on steadily at γ below the horizontal, tan γ = D/L = C_D/(C_L cos α), at the speed at
/// which both together carry it. (Not for long: what is as soft as cloth begins to flutter.)
#[test]
fn a_glider_goes_at_the_angle_of_its_polar() {
    let (drag, lift) = (0.4, 2.0);
    for alpha in [0.1_f64, 0.4, 0.8] {
        let glide = (drag / (lift * alpha.cos())).atan();
        let both = (drag * alpha.sin()).hypot(lift * alpha.sin() * alpha.cos());
        let speed = (DENSITY * G / (0.5 * both)).sqrt();
        // Its front is lower than its back where the path is steeper than the plane.
        let cloth = plate(alpha - glide).gravity([0.0, -G, 0.0]).drag(drag).lift(lift);
        let start = V3::new(glide.cos(), -glide.sin(), 0.0) * speed;
        let mut cloth = cloth.with_velocities(&[start.into(); 12]).unwrap();
        for _ in 0..100 {
            cloth.step(1e-3, Inputs::NONE).unwrap();
            assert!((velocity(&cloth) - start).norm() < 1e-9, "{alpha}: {}", velocity(&cloth) - start);
        }
    }
}

/// A wavy sheet.
fn leaf() -> Mesh {
    let mesh = Mesh::grid([6, 6], [0.3, 0.3]).unwrap();
    let wavy: Vec<[f64; 3]> = mesh.vertices().iter().map(|x| [x.x, x.y, 0.03 * (12.0 * x.x).cos()]).collect();
    Mesh::new(&wavy, mesh.triangles()).unwrap()
}

/// Wind that blows cloth along blows it as if cloth in still air went the other way, and no direction is preferred.
#[test]
fn only_the_motion_against_the_air_counts() {
    let wind = V3::new(4.0, 1.0, 2.0);
    let flutter = |wind: V3, start: V3, turn: Rotation3<f64>| {
        let mesh = leaf();
        let turned: Vec<[f64; 3]> = mesh.vertices().iter().map(|x| (turn * x).into()).collect();
        let mesh = Mesh::new(&turned, mesh.triangles()).unwrap();
        let cloth =
            ImplicitCloth::new("leaf", mesh, Fabric::silk()).unwrap().with_warp((turn * V3::x()).into()).unwrap();
        let cloth = cloth.gravity([0.0; 3]).wind((turn * wind).into()).drag(1.2).lift(1.0).skin_drag(0.02);
        let velocities = vec![(turn * start).into(); cloth.positions().len()];
        let mut cloth = cloth.tolerance(1e-12).with_velocities(&velocities).unwrap();
        (0..100).for_each(|_| drop(cloth.step(2e-3, Inputs::NONE).unwrap()));
        cloth.positions().iter().map(|x| turn.inverse() * x - 0.2 * start).collect::<Vec<V3>>()
    };
    let still = flutter(wind, V3::zeros(), Rotation3::identity());
    let blown = flutter(V3::zeros(), -wind, Rotation3::identity());
    let turned = flutter(wind, V3::zeros(), Rotation3::new(V3::new(0.3, -1.0, 2.0)));
    for other in [blown, turned] {
        assert!(still.iter().zip(&other).all(|(a, b)| (a - b).norm() < 1e-9));
    }
    // It did not move as one.
    let moved: Vec<V3> = still.iter().zip(leaf().vertices()).map(|(x, rest)| x - rest).collect();
    assert!((moved[0] - moved[24]).norm() > 0.01, "{}", (moved[0] - moved[24]).norm());
}

/// Cloth much lighter than the air that a step blows past it comes to the wind's speed and no farther, level or as a sheet that
/// folds: a twentieth for what one triangle's lift does to others.
#[test]
fn wind_carries_light_cloth_no_faster_than_itself() {
    for (speed, dt) in [(16.0, 1.0 / 60.0), (60.0, 1.0 / 60.0), (16.0, 0.2), (2000.0, 0.1)] {
        let mesh = Mesh::grid([6, 6], [0.5, 0.5]).unwrap().turned([1.0, 0.3, 0.0], 0.7).unwrap();
        let cloth = ImplicitCloth::new("silk", mesh, Fabric::silk()).unwrap();
        let mut cloth = cloth.gravity([0.0; 3]).wind([speed, 0.0, 0.0]).drag(1.2).lift(1.0).skin_drag(0.01);
        for _ in 0..60 {
            cloth.step(dt, Inputs::NONE).unwrap();
            let most = cloth.velocities().iter().map(|v| v.norm()).fold(0.0, f64::max);
            assert!(most < 1.05 * speed, "{most} m/s in a wind of {speed} m/s at {} s", cloth.time());
        }
        let mean = cloth.velocities().iter().map(|v| v.x).sum::<f64>() / cloth.velocities().len() as f64;
        assert!(mean > 0.5 * speed, "{mean} m/s in a wind of {speed} m/s");
    }
}
