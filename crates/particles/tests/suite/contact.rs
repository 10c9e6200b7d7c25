//! Bouncing, sliding, resting: exact solutions of a particle on planes and boxes.

use crate::common::*;
use nalgebra::Vector3;
use partita_particles::{Integration, Particles};
use partita_simulator::{Guide, Inputs, Primitive, PrimitiveShape, Simulator, Surface, Wrench};
use proptest::prelude::*;

/// Standoff of a particle from a face [m], by the crate's documentation.
const STANDOFF: f64 = 1e-5;

fn on(surface: Surface, friction: f64, restitution: f64) -> Particles {
    let mut particles = Particles::new("p");
    particles.follow(vec![obstacle(surface, friction, restitution)]).unwrap();
    particles
}

/// Heights of the tops between bounces [m], and when it came to rest [s].
fn bounces(height: f64, restitution: f64, dt: f64, integration: Integration) -> (Vec<f64>, f64) {
    let mut ball = on(sheet(1.0, 1), 0.5, restitution).integration(integration);
    ball.add([0.1, height, 0.2], [0.0; 3]).unwrap();
    let (mut tops, mut rest) = (vec![], 0.0);
    let mut before = Vector3::zeros();
    for i in 0..(8.0 / dt) as u32 {
        step_still(&mut ball, 1, dt);
        let (x, v) = (ball.positions()[0], ball.velocities()[0]);
        assert!(x.y > 0.0 && v.y.is_finite());
        if before.y > 0.0 && v.y <= 0.0 && v.y != 0.0 {
            tops.push(x.y + 0.5 * v.y * v.y / G);
        }
        if v.y != 0.0 {
            rest = f64::from(i + 1) * dt;
        }
        before = v;
    }
    (tops, rest)
}

/// Tops e²h, e⁴h, e⁶h; rest after √(2h/g) (1 + 2e/(1 − e)). The parabola is exact in flight; an impact is
/// off by the chord's sagitta g dt²/8 (2e-5 m), of which 0.1 % of the top is far more. It comes to rest
/// early by the bounces below 2 g dt, 4 g dt/(1 − e)/g = 0.056 s, 2 % of the whole.
#[test]
fn a_dropped_ball_bounces_to_its_tops_and_comes_to_rest() {
    for (height, e) in [(1.0, 0.7), (0.4, 0.5), (2.0, 0.8)] {
        let dt = 1.0 / 960.0;
        let (tops, rest) = bounces(height, e, dt, Integration::Parabola);
        for (k, top) in tops.iter().take(3).enumerate() {
            let exact = height * f64::powi(e, 2 * (k as i32 + 1));
            assert!((top - exact).abs() < 1e-3 * exact + STANDOFF, "e = {e}: top {k} at {top}, {exact}");
        }
        assert!(tops.len() >= 3);
        let exact = (2.0 * height / G).sqrt() * (1.0 + 2.0 * e / (1.0 - e));
        assert!(rest < 1.001 * exact && rest > 0.96 * exact, "rest after {rest} s, {exact}");
    }
}

/// Symplectic Euler kicks before it drifts: speed at impact is off by up to g dt, the tops to first order.
#[test]
fn tops_under_symplectic_euler_are_right_to_first_order() {
    let error = |dt: f64| {
        let (tops, rest) = bounces(1.0, 0.7, dt, Integration::SymplecticEuler);
        assert!(rest < 1.02 * 2.5586);
        (tops[0] - 0.49).abs()
    };
    assert!(error(1.0 / 240.0) < 0.02 && error(1.0 / 1920.0) < 0.0025);
}

/// Perfect restitution keeps the energy, at large steps too.
#[test]
fn a_perfectly_elastic_ball_comes_back_to_its_height() {
    for dt in [1.0 / 30.0, 1.0 / 240.0] {
        let (tops, _) = bounces(1.0, 1.0, dt, Integration::Parabola);
        // Each of the five bounces adds an error of at most the sagitta g dt²/8 in height, twice.
        let bound = 2.0 * G * dt * dt / 8.0;
        for (k, top) in tops.iter().enumerate() {
            assert!((top - 1.0).abs() < bound * (k + 1) as f64 + 1e-4, "dt = {dt}: {tops:?}");
        }
    }
}

/// Drag brakes a fast ball by much in one step; that is no sign of rest, so it bounces as it should.
#[test]
fn drag_does_not_dull_a_bounce() {
    let mut ball = on(sheet(1.0, 1), 0.0, 0.8).drag(0.02).gravity([0.0; 3]);
    ball.add([0.1, 1e-4, 0.2], [0.0, -20.0, 0.0]).unwrap();
    let dt = 1.0 / 60.0;
    step_still(&mut ball, 1, dt);
    // v(t) = v₀ e^(−c t) throughout but for the impact, c = 20 /s.
    assert!(
        (ball.velocities()[0].y / (0.8 * 20.0 * (-20.0 * dt).exp()) - 1.0).abs() < 1e-3,
        "{}",
        ball.velocities()[0]
    );
}

/// Where a particle on a plane of this slope [rad] is after a time, how fast, starting at `speed` down it.
fn slide(slope: f64, friction: f64, speed: f64, seconds: f64, integration: Integration) -> (f64, f64) {
    let (c, s) = (slope.cos(), slope.sin());
    let down = Vector3::new(c, -s, 0.0);
    let mut particle = Particles::new("p").gravity([0.0, -G, 0.0]).integration(integration);
    let plane = sheet(20.0, 3);
    particle.follow(vec![obstacle(plane, friction, 0.3)]).unwrap();
    let begin = STANDOFF * Vector3::new(s, c, 0.0);
    particle.add(begin.into(), (speed * down).into()).unwrap();
    let dt = 1.0 / 240.0;
    let tilted = frame([0.0; 3], [0.0; 3], [0.0, 0.0, -slope], [0.0; 3]);
    for _ in 0..(seconds / dt).round() as u32 {
        particle.step(dt, &with(vec![motion(tilted, tilted)])).unwrap();
    }
    ((particle.positions()[0] - begin).dot(&down), particle.velocities()[0].dot(&down))
}

/// It holds below atan μ (to rounding) and slides above; the table's case is μ = 0.5, 26.565 deg ± 1.
#[test]
fn friction_holds_below_its_angle_and_lets_go_above() {
    for integration in [Integration::Parabola, Integration::SymplecticEuler] {
        for friction in [0.2f64, 0.5, 0.9] {
            let angle = friction.atan();
            let (x, v) = slide(angle - 0.01, friction, 0.0, 2.0, integration);
            assert!(x.abs() < 1e-9 && v.abs() < 1e-9, "μ = {friction}: {x} m, {v} m/s");
            assert!(slide(angle + 0.01, friction, 0.0, 2.0, integration).1 > 0.05);
        }
    }
}

/// a = g (sin − μ cos), to rounding in the velocity, since every step's impulses are exact.
#[test]
fn a_slide_accelerates_by_what_friction_leaves() {
    for (degrees, friction) in [(35.0f64, 0.4), (20.0, 0.1), (60.0, 1.0), (10.0, 0.0)] {
        let slope = degrees.to_radians();
        let a = G * (slope.sin() - friction * slope.cos());
        for integration in [Integration::Parabola, Integration::SymplecticEuler] {
            let (_, v) = slide(slope, friction, 0.0, 1.0, integration);
            assert!((v / a - 1.0).abs() < 1e-9, "{v} m/s after 1 s, {a}");
        }
    }
}

/// v²/(2 μ g), within half a step's way at the speed of the last step.
#[test]
fn a_sliding_particle_stops_in_its_distance() {
    for (speed, friction) in [(2.0, 0.5), (3.0, 0.3), (0.5, 0.8)] {
        let (x, v) = slide(0.0, friction, speed, 2.0, Integration::Parabola);
        let exact = speed * speed / (2.0 * friction * G);
        assert!(v == 0.0 && (x / exact - 1.0).abs() < 2e-3, "{x} m, {exact}");
    }
}

/// A resting particle presses with its weight, and does not stir: reaction m g dt in every step, and the
/// ledger's external impulse is gravity's.
#[test]
fn rest_is_still_and_presses_with_the_weight() {
    for integration in [Integration::Parabola, Integration::SymplecticEuler] {
        let mut grains = on(sheet(1.0, 4), 0.4, 0.6).mass(0.02).drag(0.003).integration(integration);
        for i in 0..25 {
            // Some over edges and corners of the triangles, some inside.
            grains.add([0.25 * f64::from(i % 5) - 0.5, 1e-5, 0.21 * f64::from(i / 5) - 0.5], [0.0; 3]).unwrap();
        }
        let dt = 1.0 / 60.0;
        for _ in 0..10 {
            step_still(&mut grains, 1, dt);
        }
        let positions = grains.positions().to_vec();
        let external = grains.ledger().unwrap().external.unwrap().linear[1];
        for _ in 0..600 {
            let report = step_still(&mut grains, 1, dt);
            let weight = 25.0 * 0.02 * G * dt;
            assert!((reaction(&report) - Vector3::new(0.0, -weight, 0.0)).norm() < 1e-12 * weight);
        }
        // 600 roundings of 1e-17 m at heights of 1e-5 m; no creep.
        let far = grains.positions().iter().zip(&positions).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max);
        assert!(far < 1e-13, "moved by {far} m in 10 s");
        let external = grains.ledger().unwrap().external.unwrap().linear[1] - external;
        assert!((external / (-25.0 * 0.02 * G * 10.0) - 1.0).abs() < 1e-9, "{external}");
    }
}

/// Particles on a box that is jerked up and down, sideways and round stay on it ([PD97] footnote 3's
/// velocities would let them through); friction carries them along.
#[test]
fn particles_ride_on_a_box_that_accelerates_and_turns() {
    let path = |t: f64| {
        frame(
            [0.3 * (3.0 * t).sin(), 0.4 * t * t, 0.0],
            [0.9 * (3.0 * t).cos(), 0.8 * t, 0.0],
            [0.0, 2.0 * t, 0.0],
            [0.0, 2.0, 0.0],
        )
    };
    let shape = PrimitiveShape::Cuboid { half_extents: [1.0, 0.2, 1.0] };
    let primitive = Primitive { shape, position: [0.0; 3], orientation: [0.0, 0.0, 0.0, 1.0] };
    for (exact, restitution, integration) in [
        (false, 0.0, Integration::Parabola),
        (false, 0.5, Integration::Parabola),
        (false, 0.5, Integration::SymplecticEuler),
        (true, 0.0, Integration::Parabola),
        (true, 0.5, Integration::SymplecticEuler),
    ] {
        let surface = Surface { primitive: exact.then_some(primitive), ..cuboid([2.0, 0.4, 2.0], false) };
        let mut grains = on(surface, 2.0, restitution).integration(integration);
        for i in 0..9 {
            grains
                .add([0.2 * f64::from(i % 3) - 0.2, 0.2 + 1e-5, 0.2 * f64::from(i / 3) - 0.2], [0.9, 0.0, 0.0])
                .unwrap();
        }
        let dt = 1.0 / 120.0;
        for i in 0..360 {
            let t = f64::from(i) * dt;
            let report = grains.step(dt, &with(vec![motion(path(t), path(t + dt))])).unwrap();
            let pushed = -reaction(&report).y / (9.0 * 0.001 * dt);
            // Weight and acceleration, 0.8 m/s²; the first steps take up the jump in speed.
            assert!(i < 5 || (pushed - G - 0.8).abs() < 1e-6, "step {i}: {pushed} m/s²");
        }
        for x in grains.positions() {
            let (x, end) = (x - Vector3::from(path(3.0).position), path(3.0).orientation);
            let turn =
                nalgebra::UnitQuaternion::new_normalize(nalgebra::Quaternion::new(end[3], end[0], end[1], end[2]));
            let local = turn.inverse() * x;
            assert!((local.y - 0.2 - STANDOFF).abs() < 1e-9 && local.xz().amax() < 0.25, "{local}");
        }
    }
}

/// Impulse and torque of one impact on a Frame: −m Δv, (p − c) × (−m Δv), c where it is at the impact.
#[test]
fn an_impact_is_one_wrench_on_the_frame() {
    let mut ball = on(sheet(2.0, 1), 0.0, 0.8).mass(0.5).gravity([0.0; 3]);
    ball.add([0.7, 1.0, -0.4], [0.0, -10.0, 0.0]).unwrap();
    // The floor rises at 2 m/s and slides along: they meet after 1/12 s, when it is at 1/6 m.
    let (begin, end) = (
        frame([0.0; 3], [3.0, 2.0, 0.0], [0.0; 3], [0.0; 3]),
        frame([0.6, 0.4, 0.0], [3.0, 2.0, 0.0], [0.0; 3], [0.0; 3]),
    );
    let report = ball.step(0.2, &with(vec![motion(begin, end)])).unwrap();
    let wrench = report.reactions[0].impulse;
    let impulse = -0.5 * 1.8 * 12.0;
    assert!((Vector3::from(wrench.linear) - Vector3::new(0.0, impulse, 0.0)).norm() < 1e-12);
    let lever = Vector3::new(0.7 - 0.25, 0.0, -0.4);
    // The particle stops 10 µm before the floor, 1 µs early.
    assert!((Vector3::from(wrench.angular) - lever.cross(&Vector3::new(0.0, impulse, 0.0))).norm() < 1e-4);
    assert!((ball.velocities()[0].y - 11.6).abs() < 1e-12);
    let ledger = ball.ledger().unwrap();
    assert!(ledger.external.unwrap().linear == [0.0; 3]);
}

/// On a deforming sheet the impulse goes to the corners, by the place; its sum is the whole.
#[test]
fn an_impact_on_points_is_shared_by_the_corners() {
    let mut triangle = surface(vec![[0.0; 3], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], vec![[0, 1, 2]], true);
    triangle.carrier = partita_simulator::Carrier::Points((0..3).map(carrier).collect());
    let mut ball = on(triangle.clone(), 0.0, 0.5).gravity([0.0; 3]).mass(2.0);
    ball.add([0.3, -0.5, 0.2], [0.0, 10.0, 0.0]).unwrap();
    let states: std::sync::Arc<[_]> =
        triangle.vertices.iter().map(|&v| partita_simulator::HandleState::point(v, [0.0; 3])).collect();
    let still = Some(partita_simulator::Motion { begin: states.clone(), end: states });
    let report = ball.step(0.1, &with(vec![still])).unwrap();
    let shares: Vec<f64> = report.reactions.iter().map(|r| r.impulse.linear[1] / 30.0).collect();
    for (share, weight) in shares.iter().zip([0.5, 0.2, 0.3]) {
        assert!((share - weight).abs() < 1e-12, "{shares:?}");
    }
}

/// Elastic flights between two walls, many in one step: the way folded between them is the exact solution.
#[test]
fn several_bounces_in_one_step() {
    let mut ball = Particles::new("p").gravity([0.0; 3]);
    ball.follow(vec![obstacle(cuboid([1.0; 3], true), 0.0, 1.0)]).unwrap();
    ball.add([0.1, 0.05, -0.2], [30.0, 7.0, 3.0]).unwrap();
    step_still(&mut ball, 1, 0.1);
    let fold = |x: f64| {
        let y = (x + 0.5).rem_euclid(2.0);
        if y > 1.0 { 1.5 - y } else { y - 0.5 }
    };
    let exact = Vector3::new(fold(0.1 + 3.0), fold(0.05 + 0.7), fold(-0.2 + 0.3));
    // Each turn comes one standoff early, at each end.
    assert!((ball.positions()[0] - exact).norm() < 10.0 * STANDOFF, "{} {exact}", ball.positions()[0]);
    assert!((ball.velocities()[0].norm() - 958f64.sqrt()).abs() < 1e-12);
}

/// One-sided surfaces let out what is inside; two-sided ones let nothing pass.
#[test]
fn sides() {
    for two_sided in [false, true] {
        let mut plane = sheet(1.0, 1);
        plane.two_sided = two_sided;
        let mut pair = on(plane, 0.0, 1.0).gravity([0.0; 3]);
        pair.add([0.1, 0.5, 0.2], [0.0, -10.0, 0.0]).unwrap();
        pair.add([0.1, -0.5, 0.2], [0.0, 10.0, 0.0]).unwrap();
        step_still(&mut pair, 1, 0.1);
        assert!(pair.positions()[0].y > 0.0);
        assert_eq!(pair.positions()[1].y < 0.0, two_sided);
    }
}

/// Radius and the pair's thickness add up to the distance kept, on both sides of a sheet.
#[test]
fn thickness_is_kept() {
    for side in [1.0, -1.0] {
        let mut plane = sheet(1.0, 2);
        plane.two_sided = true;
        let mut ball = Particles::new("p").radius(0.01).gravity([0.0, -G * side, 0.0]);
        let guide =
            Guide::Obstacle { surface: plane.into(), friction: 0.5, restitution: 0.4, thickness: 0.02, except: vec![] };
        ball.follow(vec![guide]).unwrap();
        ball.add([0.1, 0.3 * side, 0.2], [0.0; 3]).unwrap();
        ball.add([0.4, 0.02 * side, 0.2], [0.0; 3]).unwrap();
        for _ in 0..600 {
            step_still(&mut ball, 1, 1.0 / 240.0);
        }
        assert!((ball.positions()[0].y * side - 0.03).abs() < 2.0 * STANDOFF, "{}", ball.positions()[0].y);
        // Who begins nearer stays as near.
        assert!((ball.positions()[1].y * side - 0.02).abs() < 2.0 * STANDOFF, "{}", ball.positions()[1].y);
    }
}

/// Excepted handles do not meet the obstacle, nor does anyone while it has no motion.
#[test]
fn exceptions_and_absent_motions() {
    let mut pair = Particles::new("p").gravity([0.0; 3]);
    let first = pair.add([0.1, 0.5, 0.2], [0.0, -10.0, 0.0]).unwrap();
    pair.add([0.2, 0.5, 0.2], [0.0, -10.0, 0.0]).unwrap();
    let guide = Guide::Obstacle {
        surface: sheet(1.0, 1).into(),
        friction: 0.0,
        restitution: 1.0,
        thickness: 0.0,
        except: vec![first],
    };
    pair.follow(vec![guide]).unwrap();
    let begin = pair.snapshot(None);
    step_still(&mut pair, 1, 0.1);
    assert!(pair.positions()[0].y < 0.0 && pair.positions()[1].y > 0.0);
    for inputs in [with(vec![None]), Inputs::default()] {
        pair.retract(&begin).unwrap();
        pair.step(0.1, &inputs).unwrap();
        assert!(pair.positions()[1].y < 0.0);
    }
}

/// Shared edges and corners do not leak: particles aimed exactly at those of a fine sheet that rises.
#[test]
fn no_particle_slips_between_triangles() {
    let n = 8;
    for rise in [0.0, 5.0, -7.0] {
        let mut rain = on(sheet(1.0, n), 0.2, 0.0).gravity([0.0; 3]);
        let meet = 1.0 / (20.0 + rise);
        for i in 1..4 * n {
            for j in 1..4 * n {
                let at = |i: u32| 2.0 * f64::from(i) / f64::from(4 * n) - 1.0;
                // They come to corners, edges, diagonals and insides when they meet the sheet.
                rain.add([at(i) + 3.0 * meet, 1.0, at(j) - meet], [-3.0, -20.0, 1.0]).unwrap();
            }
        }
        let end = frame([0.0, 0.1 * rise, 0.0], [0.0; 3], [0.0; 3], [0.0; 3]);
        rain.step(0.1, &with(vec![motion(still(), end)])).unwrap();
        let leaked = rain.positions().iter().filter(|x| x.y <= 0.1 * rise).count();
        assert_eq!(leaked, 0, "rising at {rise} m/s");
    }
}

/// A floor that tilts up into a fast slide: the leg follows it at once, instead of by hundreds of contacts each
/// some micrometres on (gap 10 µm, closing by ½ · 2 v ω t²: 50 µs a contact, of 8 ms).
#[test]
fn a_slide_on_a_tilting_floor_takes_few_contacts() {
    for integration in [Integration::Parabola, Integration::SymplecticEuler] {
        let mut particle = on(sheet(20.0, 1), 0.0, 0.0).integration(integration);
        particle.add([0.0, STANDOFF, 0.5], [40.0, 0.0, 0.0]).unwrap();
        let (dt, omega, mut contacts) = (1.0 / 120.0, 5.0, 0);
        for i in 0..30 {
            let at = |i: u32| frame([0.0; 3], [0.0; 3], [0.0, 0.0, omega * dt * f64::from(i)], [0.0, 0.0, omega]);
            let report = particle.step(dt, &with(vec![motion(at(i), at(i + 1))])).unwrap();
            assert!(report.iterations <= 32 && report.notes.is_empty(), "{} contacts", report.iterations);
            contacts += report.iterations;
            let (s, c) = (omega * dt * f64::from(i + 1)).sin_cos();
            let height = particle.positions()[0].dot(&Vector3::new(-s, c, 0.0));
            assert!(height > 0.0 && height < 1e-3, "{height} m over the floor in step {i}");
        }
        // The most in the one step in which it passes the edge between the triangles.
        assert!(contacts <= 60, "{contacts} contacts in 30 steps");
        // Along the floor r grows as r'' = ω² r − g sin ωt: r = a sinh ωt + b sin ωt, b = g/2ω², a = v/ω − b.
        let (t, b) = (0.25f64, G / (2.0 * omega * omega));
        let exact = (40.0 / omega - b) * (omega * t).sinh() + b * (omega * t).sin();
        // First order in the step: ω dt/2 of the 12 m.
        assert!(
            (particle.positions()[0].norm() / exact - 1.0).abs() < 0.03,
            "{} {exact}",
            particle.positions()[0].norm()
        );
    }
}

/// The corners of a two-sided sheet jump up and down at random; particles stay above or below it.
#[test]
fn nothing_passes_a_fluttering_sheet() {
    let n = 6;
    let mut chance = Chance(17);
    for (restitution, thickness) in [(0.0, 0.0), (0.6, 0.0), (0.3, 0.01)] {
        let mut sheet = Surface { two_sided: true, ..sheet(1.0, n) };
        sheet.carrier = partita_simulator::Carrier::Points((0..sheet.vertices.len() as u32).map(carrier).collect());
        let corners = sheet.vertices.clone();
        let surface = sheet.into();
        // Pulled to the sheet from both sides.
        let mut grains = Particles::new("p").gravity([0.0; 3]).field("pull", |x, _, _| [0.0, -20.0 * x[1], 0.0]);
        let guide = Guide::Obstacle { surface, friction: 0.3, restitution, thickness, except: vec![] };
        grains.follow(vec![guide]).unwrap();
        for i in 0..400 {
            let [x, y, z] = chance.vector(0.9);
            let above = if i % 2 == 0 { 1.0 } else { -1.0 };
            grains.add([x, above * (0.3 + y.abs()), z], chance.vector(3.0)).unwrap();
        }
        let mut here = vec![true; 400];
        let mut heights = vec![0.0; corners.len()];
        for _ in 0..60 {
            let states = |heights: &[f64]| -> std::sync::Arc<[_]> {
                let state =
                    |(&[x, _, z], &y): (&[f64; 3], &f64)| partita_simulator::HandleState::point([x, y, z], [0.0; 3]);
                corners.iter().zip(heights).map(state).collect()
            };
            let begin = states(&heights);
            heights.iter_mut().for_each(|height| *height = 0.2 * (2.0 * chance.unit() - 1.0));
            let motion = partita_simulator::Motion { begin, end: states(&heights) };
            grains.step(1.0 / 100.0, &with(vec![Some(motion)])).unwrap();
            for (i, x) in grains.positions().iter().enumerate() {
                // The height of the sheet's triangle over or under the particle; who leaves it sideways is let go.
                let at = |x: f64| (x + 1.0) / 2.0 * f64::from(n);
                let (u, w) = (at(x.x), at(x.z));
                here[i] &= u > 0.0 && w > 0.0 && u < f64::from(n) && w < f64::from(n);
                if !here[i] {
                    continue;
                }
                let corner = |di: u32, dj: u32| heights[((u as u32 + di) * (n + 1) + w as u32 + dj) as usize];
                let (a, b, c, d) = (corner(0, 0), corner(0, 1), corner(1, 1), corner(1, 0));
                let (u, w) = (u.fract(), w.fract());
                let height = if w >= u { a + w * (b - a) + u * (c - b) } else { a + u * (d - a) + w * (c - d) };
                let above = if i % 2 == 0 { 1.0 } else { -1.0 };
                assert!(above * (x.y - height) > 0.0, "particle {i} by {} m", x.y - height);
            }
        }
        assert!(here.iter().filter(|here| **here).count() > 50, "too few left to tell");
    }
}

/// A random path of a box: constant velocity and spin within the step, changed at each.
fn shaken(
    seed: u64,
    half: [f64; 3],
    inward: bool,
    turn: f64,
    restitution: f64,
    integration: Integration,
) -> (Particles, Vec<Vector3<f64>>) {
    let mut chance = Chance(seed);
    let mut grains = Particles::new("p").integration(integration);
    grains.follow(vec![obstacle(cuboid(half.map(|h| 2.0 * h), inward), 0.5 * chance.unit(), restitution)]).unwrap();
    for i in 0..60 {
        let x: Vector3<f64> = Vector3::from(chance.vector(1.0));
        // Inside, or on a shell around the box's corners.
        let x = if inward {
            0.9 * x.component_mul(&Vector3::from(half))
        } else {
            x.normalize() * (1.05 * Vector3::from(half).norm())
        };
        let v = if i % 3 == 0 { [0.0; 3] } else { chance.vector(20.0) };
        grains.add(x.into(), v).unwrap();
    }
    let (mut x, mut q) = (Vector3::zeros(), nalgebra::UnitQuaternion::identity());
    let pose = |x: Vector3<f64>, q: nalgebra::UnitQuaternion<f64>| partita_simulator::HandleState {
        position: x.into(),
        orientation: q.coords.into(),
        ..Default::default()
    };
    for _ in 0..20 {
        let dt = 10f64.powf(-3.0 * chance.unit() - 0.7);
        let begin = pose(x, q);
        x += dt * Vector3::from(chance.vector(10.0));
        q = nalgebra::UnitQuaternion::from_scaled_axis(Vector3::from(chance.vector(turn))) * q;
        grains.step(dt, &with(vec![motion(begin, pose(x, q))])).unwrap();
    }
    let local = grains.positions().iter().map(|p| q.inverse() * (p - x)).collect();
    (grains, local)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// No particle ever gets into a closed box that is moved and turned at random.
    #[test]
    fn nothing_gets_into_a_moving_box(seed in any::<u64>(), e in 0.0f64..1.0, turn in 0.0f64..1.0, symplectic in any::<bool>()) {
        let integration = if symplectic { Integration::SymplecticEuler } else { Integration::Parabola };
        let half = [0.5, 0.2, 0.8];
        let (_, local) = shaken(seed, half, false, turn, e, integration);
        for x in local {
            let depth = (0..3).map(|k| half[k] - x[k].abs()).fold(f64::INFINITY, f64::min);
            prop_assert!(depth <= 0.0, "{depth} m inside");
        }
    }

    /// Nor does anyone get out of one whose normals point inward.
    #[test]
    fn nothing_gets_out_of_a_shaken_box(seed in any::<u64>(), e in 0.0f64..1.0, turn in 0.0f64..0.3, symplectic in any::<bool>()) {
        let integration = if symplectic { Integration::SymplecticEuler } else { Integration::Parabola };
        let half = [0.5, 0.2, 0.8];
        let (_, local) = shaken(seed, half, true, turn, e, integration);
        for x in local {
            let depth = (0..3).map(|k| half[k] - x[k].abs()).fold(f64::INFINITY, f64::min);
            prop_assert!(depth >= 0.0, "{depth} m outside");
        }
    }
}

/// Block and ceiling close in on particles and overlap by 0.4 mm (as rigid bodies do): the particles,
/// pulled up by a load meanwhile, or not, are caught inside of one of the two. Then these part, and the
/// particles come to lie on the block.
#[test]
fn who_was_caught_between_closing_bodies_is_outside_when_they_part() {
    let (overlap, dt) = (4e-4, 1.0 / 240.0);
    let mut deepest = [0.0_f64; 2];
    // Shares of the block in closing and in opening, and the load over the weight.
    for (closing, opening, load) in
        [(1.0, 0.0, 0.0), (0.5, 0.2, 0.0), (1.0, 0.0, 2.0), (0.5, 0.2, 2.0), (0.0, 1.0, 2.0)]
    {
        let mut p = Particles::new("p");
        for i in 0..9 {
            p.add([0.05 * f64::from(i % 3 - 1), 1e-5, 0.04 * f64::from(i / 3 - 1)], [0.0; 3]).unwrap();
        }
        p.follow(vec![obstacle(cuboid([1.0, 0.5, 1.0], false), 0.5, 0.0); 2]).unwrap();
        let weight = p.parameters().mass * G;
        let lifted: Vec<_> = p.handles().iter().map(|h| (h, Wrench::force([0.0, load * weight, 0.0]))).collect();
        let faces = |step: i32| {
            let closed = (0.1 + overlap) * f64::from(step.min(100)) / 100.0;
            let open = 0.1 * f64::from((step - 200).max(0)) / 100.0;
            [closing * closed - opening * open, 0.1 - (1.0 - closing) * closed + (1.0 - opening) * open]
        };
        for step in 0..600 {
            let (here, there) = (faces(step), faces(step + 1));
            let moving = |i: usize| {
                let speed = (there[i] - here[i]) / dt;
                let at = |y| frame([0.0, y + [-0.25, 0.25][i], 0.0], [0.0, speed, 0.0], [0.0; 3], [0.0; 3]);
                motion(at(here[i]), at(there[i]))
            };
            let loads = if step < 150 { lifted.clone() } else { vec![] };
            p.step(dt, &Inputs { loads, ..with(vec![moving(0), moving(1)]) }).unwrap();
            for x in p.positions() {
                deepest = [deepest[0].max(there[0] - x.y), deepest[1].max(x.y - there[1])];
            }
        }
        let heights: Vec<f64> = p.positions().iter().map(|x| x.y - faces(600)[0]).collect();
        let on_top = heights.iter().all(|height| (0.0..3e-5).contains(height));
        assert!(on_top, "shares {closing}, {opening}, load {load}: {heights:?}");
    }
    assert!(deepest.iter().all(|depth| (overlap..overlap + 3e-5).contains(depth)), "{deepest:?}");
}

/// A closed ridge, 0.5 mm high: whoever flies off above it is outside, though its faces lie behind.
#[test]
fn who_is_outside_beyond_a_thin_part_flies_on() {
    let (h, w) = (5e-4, 0.2);
    let vertices = vec![[-w, 0.0, -w], [w, 0.0, -w], [0.0, h, -w], [-w, 0.0, w], [w, 0.0, w], [0.0, h, w]];
    let triangles = vec![[0, 2, 1], [3, 4, 5], [0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4], [2, 0, 3], [2, 3, 5]];
    let plate = cuboid([0.4, h, 0.4], false);
    // Over the ridge's crest, and on either side of a plate; away from it.
    let cases = [(surface(vertices, triangles, false), h, 1.0), (plate.clone(), 0.5 * h, 1.0), (plate, -0.5 * h, -1.0)];
    for (shape, face, away) in cases {
        for height in [2e-5, 1e-4, 3e-4, 4.9e-4, 9e-4] {
            let mut p = Particles::new("p");
            for x in [0.0, 1e-5, -3e-5, 0.01] {
                p.add([x, face + away * height, 0.013], [0.0, away, 0.0]).unwrap();
            }
            p.follow(vec![obstacle(shape.clone(), 0.5, 0.0)]).unwrap();
            let dt = 1.0 / 240.0;
            let report = step_still(&mut p, 1, dt);
            assert_eq!(reaction(&report), Vector3::zeros(), "{height} m from {face}");
            assert!(p.velocities().iter().all(|v| (v.y - (away - G * dt)).abs() < 1e-12), "{:?}", p.velocities());
        }
    }
}

/// Up to a millimetre inside a closed surface counts as caught: it is held and comes out. Deeper is inside
/// and falls; and an open surface has no inside.
#[test]
fn a_millimetre_inside_is_caught_and_more_is_inside() {
    let after = |shape: Surface, y: f64| {
        let mut p = Particles::new("p");
        p.add([0.01, y, 0.02], [0.0; 3]).unwrap();
        p.follow(vec![obstacle(shape, 0.5, 0.0)]).unwrap();
        (0..120).for_each(|_| drop(step_still(&mut p, 1, 1.0 / 240.0)));
        p.positions()[0].y
    };
    let block = || cuboid([1.0, 0.5, 1.0], false);
    let top = 0.25;
    assert!((after(block(), top - 9e-4) - top).abs() < 2e-5);
    assert!(after(block(), top - 1.1e-3) < top - 0.5);
    assert!(after(sheet(0.5, 4), -5e-4) < -1.0);
}
