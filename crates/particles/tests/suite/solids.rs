//! Exact solutions on balls, capsules, cylinders, cones, cuboids and half-spaces.

use std::f64::consts::FRAC_PI_2;

use crate::common::*;
use nalgebra::{Isometry3, Vector3};
use parry3d_f64::{
    math::Vector,
    query::PointQuery,
    shape::{Ball, Capsule, Cone, Cuboid, Cylinder, HalfSpace},
};
use partita_particles::{Emitter, Integration, Particles};
use partita_simulator::{Guide, HandleState, Primitive, PrimitiveShape, Simulator, Surface};

type V3 = Vector3<f64>;

/// Standoff of a particle from a surface [m], by the crate's documentation.
const STANDOFF: f64 = 1e-5;

/// Exactly this shape in a Frame, at a place of its own. Triangles would do nothing: there are none.
fn exact_at(shape: PrimitiveShape, own: Isometry3<f64>) -> Surface {
    let (position, orientation) = (own.translation.vector.into(), own.rotation.coords.into());
    Surface { primitive: Some(Primitive { shape, position, orientation }), ..surface(vec![], vec![], false) }
}

fn exact(shape: PrimitiveShape) -> Surface {
    exact_at(shape, Isometry3::identity())
}

fn on(surface: Surface, friction: f64, restitution: f64) -> Particles {
    let mut particles = Particles::new("p");
    particles.follow(vec![obstacle(surface, friction, restitution)]).unwrap();
    particles
}

/// Each shape, and the same of another library.
fn shapes() -> [(PrimitiveShape, Box<dyn PointQuery>); 6] {
    [
        (PrimitiveShape::HalfSpace, Box::new(HalfSpace::new(Vector::Y))),
        (PrimitiveShape::Ball { radius: 0.3 }, Box::new(Ball::new(0.3))),
        (PrimitiveShape::Capsule { half_length: 0.2, radius: 0.1 }, Box::new(Capsule::new_y(0.2, 0.1))),
        (PrimitiveShape::Cylinder { half_length: 0.2, radius: 0.3 }, Box::new(Cylinder::new(0.2, 0.3))),
        (PrimitiveShape::Cone { half_height: 0.2, radius: 0.3 }, Box::new(Cone::new(0.2, 0.3))),
        (PrimitiveShape::Cuboid { half_extents: [0.3, 0.2, 0.1] }, Box::new(Cuboid::new(Vector::new(0.3, 0.2, 0.1)))),
    ]
}

fn distance(other: &dyn PointQuery, x: &V3) -> f64 {
    other.distance_to_local_point(Vector::new(x.x, x.y, x.z), true)
}

/// Released at rest at an angle θ₀ from the top of a ball, a particle without friction leaves where the ball would have to pull,
/// cos θ = 2/3 cos θ₀. In steps of 1/960 s it turns by v dt/R, up to 5e-3, and the last contact is seen a step late or early:
/// 0.5 % of the cosine.
#[test]
fn a_particle_leaves_a_ball_at_two_thirds() {
    for integration in [Integration::Parabola, Integration::SymplecticEuler] {
        for (radius, start) in [(1.0, 0.1_f64), (0.5, 0.3)] {
            let mut particle = on(exact(PrimitiveShape::Ball { radius }), 0.0, 0.0).integration(integration);
            let out = V3::new(start.sin(), start.cos(), 0.0);
            particle.add(((radius + STANDOFF) * out).into(), [0.0; 3]).unwrap();
            let mut cosine = 1.0;
            for _ in 0..3000 {
                let report = step_still(&mut particle, 1, 1.0 / 960.0);
                let x = particle.positions()[0];
                assert!(x.norm() > radius, "inside the ball at {x}");
                if !report.reactions.is_empty() {
                    cosine = x.y / x.norm();
                }
            }
            let expected = 2.0 / 3.0 * start.cos();
            assert!((cosine / expected - 1.0).abs() < 0.005, "left at cos θ = {cosine}, not {expected}");
        }
    }
}

/// At radius, thickness and standoff over the top, for a minute, with its weight on it: on flat and round tops and on a tip, which all
/// have an upright normal there, and on sides that lie level.
#[test]
fn particles_rest_at_their_radius_on_every_solid() {
    let lying = Isometry3::rotation(FRAC_PI_2 * V3::z());
    let level = Isometry3::rotation((0.3_f64).atan2(0.4) * V3::z() - FRAC_PI_2 * V3::z());
    let scenes = [
        (PrimitiveShape::HalfSpace, Isometry3::identity(), 0.0),
        (PrimitiveShape::Ball { radius: 0.3 }, Isometry3::identity(), 0.3),
        (PrimitiveShape::Capsule { half_length: 0.2, radius: 0.1 }, Isometry3::identity(), 0.3),
        (PrimitiveShape::Capsule { half_length: 0.2, radius: 0.1 }, lying, 0.1),
        (PrimitiveShape::Cylinder { half_length: 0.2, radius: 0.3 }, Isometry3::identity(), 0.2),
        (PrimitiveShape::Cylinder { half_length: 0.2, radius: 0.3 }, lying, 0.3),
        (PrimitiveShape::Cone { half_height: 0.2, radius: 0.3 }, Isometry3::identity(), 0.2),
        // The side is level: its plane is r h/√(h² + r²), h = 0.2 from the middle, with r the radius half-way up.
        (PrimitiveShape::Cone { half_height: 0.2, radius: 0.3 }, level, 0.15 * 0.8),
        (PrimitiveShape::Cuboid { half_extents: [0.3, 0.2, 0.1] }, Isometry3::identity(), 0.2),
        (PrimitiveShape::Cuboid { half_extents: [0.3, 0.2, 0.1] }, lying, 0.3),
    ];
    for (shape, own, top) in scenes {
        let own = Isometry3::translation(0.1, 0.0, -0.2) * own;
        let guide = Guide::Obstacle {
            surface: exact_at(shape, own).into(),
            friction: 0.5,
            restitution: 0.3,
            thickness: 0.005,
            except: vec![],
        };
        let mut grain = Particles::new("p").radius(0.01).mass(0.02);
        grain.follow(vec![guide]).unwrap();
        grain.add([0.1, top + 0.1, -0.2], [0.0; 3]).unwrap();
        let dt = 1.0 / 240.0;
        for _ in 0..480 {
            step_still(&mut grain, 1, dt);
        }
        let before = grain.positions()[0];
        for _ in 0..600 {
            let pushed = -reaction(&step_still(&mut grain, 1, dt)).y / (0.02 * dt);
            assert!((pushed / G - 1.0).abs() < 1e-9, "{shape:?}: {pushed} m/s²");
        }
        let x = grain.positions()[0];
        let expected = V3::new(0.1, top + 0.015, -0.2);
        assert!((x - expected).norm() < 2.0 * STANDOFF, "{shape:?}: at {x}, not {expected}");
        assert!((x - before).norm() < 1e-9, "{shape:?} moved by {}", (x - before).norm());
    }
}

/// Without gravity, what starts at rest inside comes out over the nearest place of the surface, to within the standoff. By a tenth
/// of its depth a step 30 cm are 20 µm after 92 steps.
#[test]
fn what_starts_inside_comes_out_at_the_nearest_face() {
    let mut chance = Chance(3);
    for (shape, other) in shapes() {
        let mut grains = on(exact(shape), 0.3, 0.5).gravity([0.0; 3]);
        let mut starts = vec![];
        while starts.len() < 200 {
            let x = V3::from(chance.vector(0.3));
            let projected = other.project_local_point(Vector::new(x.x, x.y, x.z), false);
            if projected.is_inside {
                starts.push((x, V3::new(projected.point.x, projected.point.y, projected.point.z)));
                grains.add(x.into(), [0.0; 3]).unwrap();
            }
        }
        for _ in 0..120 {
            step_still(&mut grains, 1, 1.0 / 240.0);
        }
        for ((start, place), x) in starts.iter().zip(grains.positions()) {
            let out = (place - start).norm() + 0.5 * STANDOFF;
            // Where two faces are equally near, within rounding, either is right.
            assert!(((x - start).norm() - out).abs() < 0.6 * STANDOFF, "{shape:?}: from {start} to {x}, not {place}");
            assert!((0.0..1.1 * STANDOFF).contains(&distance(&*other, x)), "{shape:?}: {x}");
        }
    }
}

/// A shot of 300 m/s at random places: none ends inside, and each that met nothing was on a line that meets nothing. Elastic and
/// without friction, all keep their energy. The solids turn by 17 degrees and go by 10 cm in the step.
#[test]
fn nothing_passes_at_any_speed() {
    let mut chance = Chance(5);
    for (shape, other) in shapes() {
        for turns in [false, true] {
            let mut shots = on(exact(shape), 0.0, 1.0).gravity([0.0; 3]).radius(0.002);
            let mut starts = vec![];
            while starts.len() < 500 {
                let x = 4.0 * V3::from(chance.vector(0.3));
                if distance(&*other, &x) > 0.1 {
                    let aim = V3::from(chance.vector(0.3)) - x;
                    shots.add(x.into(), (300.0 * aim.normalize()).into()).unwrap();
                    starts.push((x, aim.normalize()));
                }
            }
            let dt = 0.01;
            let (turn, way) = match turns {
                true => ([0.1, 0.2, 0.2], [0.06, -0.05, 0.06]),
                false => ([0.0; 3], [0.0; 3]),
            };
            let end = frame(way, [0.0; 3], turn, [0.0; 3]);
            shots.step(dt, &with(vec![motion(HandleState::default(), end)])).unwrap();
            let frame = Isometry3::new(way.into(), turn.into());
            let mut met = 0;
            for ((start, aim), (x, v)) in starts.iter().zip(shots.positions().iter().zip(shots.velocities())) {
                let local = frame.inverse_transform_point(&(*x).into()).coords;
                // Between the level of its radius and the surface rounding of a path that turns may take a micrometre.
                assert!(distance(&*other, &local) > 0.002 - 1e-6, "{shape:?}: {x} is inside");
                let has_met = (v - 300.0 * aim).norm() > 1e-9;
                met += u32::from(has_met);
                if !turns {
                    let samples = (0..3000).map(|k| distance(&*other, &(start + 1e-3 * f64::from(k) * aim)));
                    let least = samples.fold(f64::INFINITY, f64::min);
                    // Samples 1 mm apart, and the standoff.
                    assert!(has_met || least > 0.002 - 1e-4, "{shape:?} passed at {least} m");
                    assert!(!has_met || least < 0.002 + 2e-3, "{shape:?} met what is {least} m away");
                    assert!((v.norm() / 300.0 - 1.0).abs() < 1e-12);
                }
            }
            assert!(met > 100, "{shape:?}: {met} hits");
        }
    }
}

/// A particle leaves a solid without friction as fast as it slid, to rounding: from an edge or a
/// rim, or from the top of a ball if it is faster than √(g R). A radius rounds edges: there it may
/// gain what it falls by that at most. It falls from the start of the step in which it leaves at
/// the earliest and from its end at the latest; symplectic Euler falls by half a step more. No step
/// has more contacts than it may.
#[test]
fn what_slides_off_a_solid_falls() {
    let shapes = [
        PrimitiveShape::Cuboid { half_extents: [0.3, 0.2, 0.1] },
        PrimitiveShape::Cylinder { half_length: 0.2, radius: 0.3 },
        PrimitiveShape::Ball { radius: 0.2 },
    ];
    let ways = [(0.0, 0.0, 1.5), (-0.2123, 0.0, 0.5), (-0.2123, 0.1, 3.0), (0.2975, 0.0, 0.6), (-0.2123, -0.2, 11.4)];
    for shape in shapes {
        for (from, across, speed) in ways {
            let is_ball = matches!(shape, PrimitiveShape::Ball { .. });
            if is_ball && from != 0.0 {
                continue;
            }
            for (radius, integration) in [(0.0, Integration::Parabola), (0.01, Integration::SymplecticEuler)] {
                for hz in [60.0, 240.0, 960.0] {
                    let (dt, top) = (1.0 / hz, 0.2 + radius + STANDOFF);
                    let mut grain = on(exact(shape), 0.0, 0.0).integration(integration).radius(radius);
                    grain.add([from, top, 0.0], [speed, 0.0, across]).unwrap();
                    let edge = match shape {
                        PrimitiveShape::Ball { .. } => 0.0,
                        PrimitiveShape::Cuboid { .. } => (0.3 - from) / speed,
                        // Where (from + v t)² + (w t)² = 0.3².
                        _ => {
                            let (a, b, c) = (speed.powi(2) + across.powi(2), -from * speed, from * from - 0.09);
                            (b + (b * b - a * c).sqrt()) / a
                        }
                    };
                    let steps = ((edge + 0.15) * hz).ceil();
                    let what = format!("{shape:?}, radius {radius}, {speed} m/s from {from}, {hz} Hz");
                    for _ in 0..steps as u32 {
                        let report = step_still(&mut grain, 1, dt);
                        assert!(report.notes.is_empty(), "{what}: {:?}", report.notes);
                    }
                    let (time, x) = (steps * dt, grain.positions()[0]);
                    let straight = V3::new(from + speed * time, x.y, across * time);
                    let gains = (speed * speed + 2.0 * 9.81 * radius).sqrt() - speed;
                    let [ahead, _, beside] = (x - straight).into();
                    let bound = 1e-9 + gains * (time - edge);
                    assert!(ahead > -1e-9 && ahead < bound, "{what}: {ahead} m ahead, {bound} m at most");
                    assert!(beside.abs() < bound, "{what}: {beside} m beside, {bound} m at most");
                    let fall = |time: f64| 0.5 * 9.81 * time * time;
                    let [least, most] = [fall(time - edge - dt) - 1e-9, fall(time - edge + 1.5 * dt)];
                    assert!((least..=most).contains(&(top - x.y)), "{what}: {} m, not {least} to {most}", top - x.y);
                }
            }
        }
    }
}

/// Off a ball, incidence and reflection are at equal angles to the exact normal, within the way of a standoff over the radius.
#[test]
fn an_elastic_particle_is_reflected_by_the_exact_normal() {
    for offset in [0.0, 0.05, 0.15, 0.25] {
        let mut ball = on(exact(PrimitiveShape::Ball { radius: 0.3 }), 0.0, 1.0).gravity([0.0; 3]);
        ball.add([-1.0, offset, 0.0], [10.0, 0.0, 0.0]).unwrap();
        step_still(&mut ball, 1, 0.2);
        let sine: f64 = offset / 0.3;
        let n = V3::new(-(1.0 - sine * sine).sqrt(), sine, 0.0);
        let expected = 10.0 * (V3::x() - 2.0 * n.x * n);
        assert!((ball.velocities()[0] - expected).norm() < 10.0 * 10.0 * STANDOFF / 0.3, "{}", ball.velocities()[0]);
    }
}

/// A ball that spins at 50 rad/s moves no surface: without friction what lies on it feels nothing; with friction it is thrown
/// the way that the top goes.
#[test]
fn a_spinning_ball_drags_by_friction_only() {
    for friction in [0.0, 0.5] {
        let mut grain = on(exact(PrimitiveShape::Ball { radius: 0.3 }), friction, 0.0);
        grain.add([0.0, 0.3 + STANDOFF, 0.0], [0.0; 3]).unwrap();
        let dt = 1.0 / 240.0;
        for i in 0..48 {
            let [begin, end] = [i, i + 1].map(|i| {
                let turn = 50.0 * dt * f64::from(i);
                frame([0.0; 3], [0.0; 3], [0.0, 0.0, turn], [0.0, 0.0, 50.0])
            });
            grain.step(dt, &with(vec![motion(begin, end)])).unwrap();
        }
        let x = grain.positions()[0];
        if friction == 0.0 {
            assert!((x - V3::new(0.0, 0.3 + STANDOFF, 0.0)).norm() < 1e-9, "{x}");
        } else {
            // The top goes towards -x; it speeds up by μ g until it flies off.
            assert!(x.x < -0.05, "{x}");
        }
    }
}

/// A cloud falls on each solid above a floor, bounces and comes to rest: it is never inside either.
#[test]
fn a_cloud_on_a_solid_stays_outside() {
    for (shape, other) in shapes() {
        let cloud = Emitter::cuboid([0.0, 0.8, 0.0], [0.6, 0.4, 0.6]).rate(20_000.0).stop(0.025).seed(2);
        let mut rain = Particles::new("rain").radius(0.003).emit(cloud);
        let floor = exact_at(PrimitiveShape::HalfSpace, Isometry3::translation(0.0, -0.4, 0.0));
        rain.follow(vec![obstacle(exact(shape), 0.4, 0.3), obstacle(floor, 0.4, 0.3)]).unwrap();
        for step in 0..360 {
            step_still(&mut rain, 2, 1.0 / 120.0);
            for x in rain.positions() {
                assert!(distance(&*other, x) > 0.003 && x.y > -0.397, "{shape:?}, step {step}: {x}");
            }
        }
        assert!(rain.len() == 500);
    }
}
