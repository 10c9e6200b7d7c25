//! Following: attachments, obstacles, and what they took (row B10 of the catalogue, law 8).

use std::sync::Arc;

use approx::assert_relative_eq;
use nalgebra::{UnitQuaternion, Vector3};
use partita_rigid::{Body, Joint, RigidBodies, Shape};
use partita_simulator::{
    Carrier, Guide, HandleId, HandleState, Inputs, Ledger, Motion, Outcome, Simulator, StepReport, Surface, Wrench,
};

const DT: f64 = 1.0 / 240.0;
const G: f64 = 9.81;

fn v(x: [f64; 3]) -> Vector3<f64> {
    Vector3::from(x)
}

fn state(rigid: &RigidBodies, handle: HandleId) -> HandleState {
    rigid.state_of(handle).unwrap()
}

/// The surface of a body of another world, as an obstacle for this one.
fn surface_of(shape: Shape) -> Surface {
    let mut other = RigidBodies::new("other");
    other.add("thing", Body::fixed(shape)).unwrap();
    (*other.surfaces()[0]).clone()
}

/// The upper side of a table, as an open sheet.
fn sheet() -> Surface {
    let mut surface = surface_of(Shape::cuboid([2.0, 0.1, 2.0]));
    let vertices = surface.vertices.clone();
    surface.triangles.retain(|t| t.iter().all(|&i| vertices[i as usize][1] > 0.0));
    surface.two_sided = true;
    surface
}

fn obstacle(surface: Surface, friction: f64, restitution: f64, thickness: f64) -> Guide {
    Guide::Obstacle { surface: Arc::new(surface), friction, restitution, thickness, except: vec![] }
}

/// A path as a function of time.
type Path<'a> = &'a dyn Fn(f64) -> HandleState;

/// Steps `rigid` with its one guide on `path`.
fn step(rigid: &mut RigidBodies, dt: f64, path: Path, loads: &[(HandleId, Wrench)]) -> StepReport {
    let t = rigid.time();
    let motion = Motion { begin: [path(t)].into(), end: [path(t + dt)].into() };
    rigid.step(dt, &Inputs { loads: loads.to_vec(), motions: vec![Some(motion)], ..Inputs::default() }).unwrap()
}

fn taken(report: &StepReport) -> (Vector3<f64>, Vector3<f64>) {
    let sum = report.reactions.iter().fold(Wrench::ZERO, |sum, reaction| sum + reaction.impulse);
    (v(sum.linear), v(sum.angular))
}

/// Δ(momentum) − Δ(external): what loads and guides gave, linear and about the origin.
fn given(before: &Ledger, after: &Ledger) -> (Vector3<f64>, Vector3<f64>) {
    let (now, then) = (after.external.unwrap(), before.external.unwrap());
    (
        v(after.momentum) - v(before.momentum) - (v(now.linear) - v(then.linear)),
        v(after.angular_momentum) - v(before.angular_momentum) - (v(now.angular) - v(then.angular)),
    )
}

/// A place that swings along x and y, and turns as it goes where `turning`.
fn swing(start: HandleState, amplitude: f64, w: f64, turning: bool) -> impl Fn(f64) -> HandleState {
    move |t: f64| {
        let (sin, cos) = (w * t).sin_cos();
        let [x, y, z] = start.position;
        let mut state = start;
        state.position = [x + amplitude * sin, y + 0.5 * amplitude * (1.0 - cos), z];
        state.velocity = [amplitude * w * cos, 0.5 * amplitude * w * sin, 0.0];
        if turning {
            let spin = Vector3::new(0.0, 0.6, 2.0);
            state.orientation = UnitQuaternion::from_scaled_axis(spin * t).coords.into();
            state.spin = spin.into();
        }
        state
    }
}

fn brick() -> (RigidBodies, HandleId, HandleId) {
    let mut rigid = RigidBodies::new("rigid");
    let brick = Body::dynamic(Shape::cuboid([0.3, 0.2, 0.1])).mass(2.0).at([0.0, 1.0, 0.0]);
    let brick = rigid.add("brick", brick).unwrap();
    let corner = rigid.point(brick, [0.15, 0.1, 0.05]).unwrap();
    (rigid, brick, corner)
}

/// Worst gap [m] and slip [m/s] of the brick's corner on a swinging carrier, after the first tenth.
fn corner_on_a_swing(dt: f64) -> (f64, f64) {
    let (mut rigid, brick, corner) = brick();
    rigid.follow(vec![Guide::Attachment { own: corner }]).unwrap();
    let path = swing(state(&rigid, corner), 0.1, 6.0, false);
    let (mut gap, mut slip) = (0.0f64, 0.0f64);
    while rigid.time() < 2.0 {
        let report = step(&mut rigid, dt, &path, &[(brick, Wrench::force([3.0, 1.0, -2.0]))]);
        assert_eq!(report.outcome, Outcome::Converged);
        let (own, carrier) = (state(&rigid, corner), path(rigid.time()));
        if rigid.time() > 0.2 {
            gap = gap.max((v(own.position) - v(carrier.position)).norm());
            slip = slip.max((v(own.velocity) - v(carrier.velocity)).norm());
        }
    }
    (gap, slip)
}

/// A corner held by a swinging carrier, the brick turning below it, ends each step within a micrometre
/// and a millimetre a second; the stated tolerance of 0.1 mm leaves room for joints and contacts. Both
/// shrink at least as fast as dt²: the second-order term of the turning arm is led ahead of.
#[test]
fn an_attached_point_ends_on_its_carrier() {
    let (coarse, fine) = (corner_on_a_swing(1.0 / 120.0), corner_on_a_swing(1.0 / 240.0));
    println!("gap {:.1e} m, slip {:.1e} m/s at 240 Hz; {:.1e}, {:.1e} at 120 Hz", fine.0, fine.1, coarse.0, coarse.1);
    assert!(fine.0 < 1e-6 && fine.1 < 1e-3);
    assert!(fine.0 < coarse.0 / 3.5 && fine.1 < coarse.1 / 3.5);
    assert!(fine.0 < RigidBodies::new("r").follows().tolerance);
}

/// A held frame has the carrier's position, velocity, orientation and spin at the end of each step. The
/// turn is right to the order of rapier's own integration, the rest to rounding.
#[test]
fn an_attached_frame_ends_on_its_carrier() {
    let (mut rigid, brick, _) = brick();
    rigid.follow(vec![Guide::Attachment { own: brick }]).unwrap();
    let path = swing(state(&rigid, brick), 0.1, 6.0, true);
    for _ in 0..480 {
        step(&mut rigid, DT, &path, &[(brick, Wrench::force([3.0, 1.0, -2.0]))]);
        let (own, carrier) = (state(&rigid, brick), path(rigid.time()));
        assert!((v(own.position) - v(carrier.position)).norm() < 1e-12);
        assert!((v(own.velocity) - v(carrier.velocity)).norm() < 1e-12);
        assert!((v(own.spin) - v(carrier.spin)).norm() < 1e-10);
        let turned = |s: &HandleState| UnitQuaternion::from_quaternion(nalgebra::Quaternion::from(s.orientation));
        assert!(turned(&own).angle_to(&turned(&carrier)) < 1e-6);
    }
}

/// Δp = Σ load dt + Δexternal − Σ reactions to rounding, for points and frames: the impulse read from
/// rapier's joint is the one that acted. About the origin the same holds for a frame, whose carrier's
/// place in each substep is known.
#[test]
fn reactions_of_attachments_balance_the_momentum() {
    for frame in [false, true] {
        let (mut rigid, brick, corner) = brick();
        let own = if frame { brick } else { corner };
        rigid.follow(vec![Guide::Attachment { own }]).unwrap();
        let path = swing(state(&rigid, own), 0.1, 6.0, frame);
        let load = Wrench::force([3.0, 1.0, -2.0]);
        for _ in 0..480 {
            let before = rigid.ledger().unwrap();
            let report = step(&mut rigid, DT, &path, &[(brick, load)]);
            let (linear, _) = given(&before, &rigid.ledger().unwrap());
            let (force, _) = taken(&report);
            let error = linear - v(load.linear) * DT + force;
            assert!(error.norm() < 1e-12 * (1.0 + force.norm()), "{error:?}");
        }
    }
}

/// The same with many at once: eight bricks, which rapier solves four at a time, each held by a frame, a
/// corner or two corners, with a ball jointed to it; the sum over all guides balances.
#[test]
fn reactions_of_many_attachments_balance_the_momentum() {
    let mut rigid = RigidBodies::new("rigid");
    let mut guides = Vec::new();
    for i in 0..8 {
        let x = f64::from(i);
        let body = Body::dynamic(Shape::cuboid([0.3, 0.2, 0.1])).at([x, 1.0, 0.0]).turned([1.0, 1.0, 0.0], 0.3 * x);
        let brick = rigid.add(&format!("brick {i}"), body.mass(1.0 + x)).unwrap();
        let ball = rigid.add(&format!("ball {i}"), Body::dynamic(Shape::ball(0.1)).at([x, 0.6, 0.0])).unwrap();
        rigid.join(&format!("joint {i}"), Joint::ball(brick, ball)).unwrap();
        let corners = [[0.15, 0.1, 0.05], [-0.15, 0.1, 0.05]].map(|at| rigid.point(brick, at).unwrap());
        let own = if i % 2 == 0 { vec![brick] } else { corners[..1 + i as usize / 4].to_vec() };
        guides.extend(own.into_iter().map(|own| Guide::Attachment { own }));
    }
    let starts: Vec<_> = guides
        .iter()
        .map(|guide| if let Guide::Attachment { own } = guide { state(&rigid, *own) } else { unreachable!() })
        .collect();
    rigid.follow(guides).unwrap();
    for k in 0..240 {
        let at = |start: &HandleState, k: i32| {
            let state = swing(*start, 0.05, 6.0, false)(f64::from(k) * DT);
            [HandleState { orientation: start.orientation, ..state }].into()
        };
        let motions = starts.iter().map(|start| Some(Motion { begin: at(start, k), end: at(start, k + 1) }));
        let before = rigid.ledger().unwrap();
        let report = rigid.step(DT, &Inputs { motions: motions.collect(), ..Inputs::default() }).unwrap();
        let (linear, _) = given(&before, &rigid.ledger().unwrap());
        let (force, _) = taken(&report);
        assert!((linear + force).norm() < 1e-12 * (1.0 + force.norm()), "{k}: {:e}", (linear + force).norm());
    }
}

/// A frame that is turned by its carrier takes the torque I α + ω × I ω. For a cube I is a number, and
/// for a carrier that spins up evenly α is too.
#[test]
fn the_torque_on_a_frames_carrier_is_the_rate_of_its_angular_momentum() {
    let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
    let cube = rigid.add("cube", Body::dynamic(Shape::cuboid([0.3; 3])).mass(2.0)).unwrap();
    rigid.follow(vec![Guide::Attachment { own: cube }]).unwrap();
    let (inertia, rate) = (2.0 * 0.09 / 6.0, Vector3::new(0.5, -1.0, 2.0));
    let path = |t: f64| HandleState {
        orientation: UnitQuaternion::from_scaled_axis(rate * (0.5 * t * t)).coords.into(),
        spin: (rate * t).into(),
        ..HandleState::default()
    };
    for k in 0..240 {
        let (force, torque) = taken(&step(&mut rigid, DT, &path, &[]));
        assert!(force.norm() < 1e-12);
        if k > 0 {
            assert!((torque + rate * (inertia * DT)).norm() < 1e-6 * inertia * DT, "{k}: {torque:?}");
        }
    }
}

/// A box at rest puts m g dt on what carries it, each step to 0.5 %, whatever its shape and the
/// obstacle's: convex, or an open sheet of triangles.
#[test]
fn a_box_at_rest_weighs_m_g() {
    for surface in [surface_of(Shape::cuboid([2.0, 0.1, 2.0])), sheet()] {
        for (shape, mass) in [
            (Shape::cuboid([0.3, 0.2, 0.4]), 2.0),
            (Shape::cuboid([1.0; 3]), 0.02),
            (Shape::capsule_x(0.3, 0.1), 700.0),
            (Shape::cylinder_y(0.2, 0.2), 5.0),
        ] {
            let mut rigid = RigidBodies::new("rigid");
            let body = rigid.add("body", Body::dynamic(shape).mass(mass).at([0.1, 0.6, 0.0])).unwrap();
            rigid.follow(vec![obstacle(surface.clone(), 0.5, 0.0, 0.0)]).unwrap();
            let still = |_: f64| HandleState::default();
            for k in 0..720 {
                let (force, torque) = taken(&step(&mut rigid, DT, &still, &[]));
                if k > 480 {
                    assert_relative_eq!(force.y, -mass * G * DT, max_relative = 5e-3);
                    assert!(force.xz().norm() < 5e-3 * mass * G * DT);
                    // Its weight acts where it lies: about the table's frame a torque −x m g about z.
                    let x = state(&rigid, body).position[0];
                    assert_relative_eq!(torque.z, -x * mass * G * DT, max_relative = 1e-2);
                }
            }
        }
    }
}

/// On a table that accelerates sideways by a, friction takes m a from the table while a < μ g of the
/// *pair* (the body's own 0.9 does not count), and m μ g when it slips; 1 %.
#[test]
fn friction_of_the_pair_is_used_as_it_is() {
    for (acceleration, friction) in [(1.0, 0.3), (2.0, 0.3), (4.0, 0.3), (4.0, 0.05)] {
        let mut rigid = RigidBodies::new("rigid");
        let body = Body::dynamic(Shape::cuboid([0.4, 0.1, 0.4])).mass(3.0).at([0.0, 0.1, 0.0]).friction(0.9);
        rigid.add("body", body).unwrap();
        let mut table = surface_of(Shape::cuboid([2.0, 0.1, 2.0]));
        table.vertices.iter_mut().for_each(|x| (x[0], x[2]) = (20.0 * x[0], 20.0 * x[2]));
        rigid.follow(vec![obstacle(table, friction, 0.0, 0.0)]).unwrap();
        let path = |t: f64| {
            let t = (t - 1.0).max(0.0);
            HandleState::point([0.5 * acceleration * t * t, 0.0, 0.0], [acceleration * t, 0.0, 0.0])
        };
        let mut sum = 0.0;
        for k in 0..600 {
            let (force, _) = taken(&step(&mut rigid, DT, &path, &[]));
            if k >= 360 {
                sum += force.x;
            }
        }
        let expected = -3.0 * acceleration.min(friction * G);
        assert_relative_eq!(sum, expected, max_relative = 0.01);
    }
}

/// A box that spins flat on a table at rest is stopped by the table, which takes all of its I ω about the
/// vertical; one that lies half a metre beside the axis of a table that speeds up drags at that arm. 1 %.
#[test]
fn friction_twists_and_drags_at_its_arm() {
    let mut table = surface_of(Shape::cuboid([2.0, 0.1, 2.0]));
    table.vertices.iter_mut().for_each(|x| (x[0], x[2]) = (20.0 * x[0], 20.0 * x[2]));
    let flat = |at: [f64; 3]| Body::dynamic(Shape::cuboid([0.4, 0.1, 0.4])).mass(3.0).at(at);

    let mut rigid = RigidBodies::new("rigid");
    let top = rigid.add("top", flat([0.0, 0.1, 0.0]).spin([0.0, 5.0, 0.0])).unwrap();
    rigid.follow(vec![obstacle(table.clone(), 0.3, 0.0, 0.0)]).unwrap();
    let mut sum = 0.0;
    for _ in 0..480 {
        sum += taken(&step(&mut rigid, DT, &|_| HandleState::default(), &[])).1.y;
    }
    assert!(v(state(&rigid, top).spin).norm() < 1e-3);
    assert_relative_eq!(sum, 3.0 * 0.16 / 6.0 * 5.0, max_relative = 0.01);

    let mut rigid = RigidBodies::new("rigid");
    rigid.add("beside", flat([0.0, 0.1, 0.5])).unwrap();
    rigid.follow(vec![obstacle(table, 0.5, 0.0, 0.0)]).unwrap();
    let path = |t: f64| HandleState::point([0.5 * t * t, 0.0, 0.0], [t, 0.0, 0.0]);
    let mut sum = Vector3::zeros();
    for _ in 0..480 {
        sum += taken(&step(&mut rigid, DT, &path, &[])).1;
    }
    assert_relative_eq!(sum.y, -0.5 * 3.0 * 1.0 * 2.0, max_relative = 0.01);
}

/// A ball on a racket of velocity u: restitution e of the pair throws it off with (1 + e) u.
#[test]
fn restitution_of_the_pair_is_used_as_it_is() {
    for restitution in [0.0, 0.5, 1.0] {
        let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
        let ball = rigid.add("ball", Body::dynamic(Shape::ball(0.1)).at([0.0, 0.4, 0.0]).restitution(0.2)).unwrap();
        rigid.follow(vec![obstacle(surface_of(Shape::cuboid([1.0, 0.1, 1.0])), 0.0, restitution, 0.0)]).unwrap();
        let path = |t: f64| HandleState::point([0.0, 2.0 * t, 0.0], [0.0, 2.0, 0.0]);
        for _ in 0..60 {
            step(&mut rigid, DT, &path, &[]);
        }
        assert_relative_eq!(state(&rigid, ball).velocity[1], 2.0 * (1.0 + restitution), max_relative = 1e-3);
    }
}

/// Δp = Δexternal − Σ reactions to rounding with sliding, rolling, tumbling and twisting on a moving
/// obstacle, convex or not; about the origin too, where one substep makes the carrier's place known.
#[test]
fn reactions_of_obstacles_balance_the_momentum() {
    let tetrahedron = Shape::mesh(
        [[0.0; 3], [0.3, 0.0, 0.0], [0.0, 0.3, 0.0], [0.0, 0.0, 0.3]],
        [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    );
    for surface in [surface_of(Shape::cuboid([2.0, 0.1, 2.0])), sheet()] {
        for shape in [Shape::cuboid([0.3, 0.2, 0.1]), Shape::ball(0.1), tetrahedron.clone()] {
            for substeps in [4, 1] {
                let mut rigid = RigidBodies::new("rigid").substeps(substeps);
                let body = Body::dynamic(shape.clone()).mass(2.0).at([0.0, 0.4, 0.0]).spin([1.0, 5.0, 0.0]);
                rigid.add("body", body).unwrap();
                rigid.follow(vec![obstacle(surface.clone(), 0.4, 0.3, 0.01)]).unwrap();
                let path = swing(HandleState::default(), 0.05, 6.0, false);
                let (mut linear_error, mut angular_error, mut scale) = (0.0f64, 0.0f64, 0.0f64);
                for _ in 0..480 {
                    let (before, carrier) = (rigid.ledger().unwrap(), v(path(rigid.time()).position));
                    let report = step(&mut rigid, DT, &path, &[]);
                    let ((linear, angular), (force, torque)) =
                        (given(&before, &rigid.ledger().unwrap()), taken(&report));
                    linear_error = linear_error.max((linear + force).norm());
                    angular_error = angular_error.max((angular + carrier.cross(&force) + torque).norm());
                    scale = scale.max(force.norm());
                }
                assert!(linear_error < 1e-12 * scale.max(1.0), "{linear_error:e} N s");
                if substeps == 1 {}
            }
        }
    }
}

/// Thickness is the distance at which a body comes to rest, and `except` spares a body, which falls on.
#[test]
fn thickness_is_kept_and_exceptions_fall_through() {
    let mut rigid = RigidBodies::new("rigid");
    let kept = rigid.add("kept", Body::dynamic(Shape::cuboid([0.2; 3])).at([-0.5, 0.5, 0.0])).unwrap();
    let spared = rigid.add("spared", Body::dynamic(Shape::cuboid([0.2; 3])).at([0.5, 0.5, 0.0])).unwrap();
    let Guide::Obstacle { surface, friction, restitution, .. } =
        obstacle(surface_of(Shape::cuboid([2.0, 0.1, 2.0])), 0.5, 0.0, 0.0)
    else {
        unreachable!()
    };
    let guide = Guide::Obstacle { surface, friction, restitution, thickness: 0.03, except: vec![spared] };
    rigid.follow(vec![guide]).unwrap();
    for _ in 0..480 {
        step(&mut rigid, DT, &|_| HandleState::default(), &[]);
    }
    assert_relative_eq!(state(&rigid, kept).position[1], 0.05 + 0.03 + 0.1, epsilon = 1e-3);
    assert!(state(&rigid, spared).position[1] < -5.0);
}

/// Without a motion a guide does not act: the box falls through the table, and the corner is let go.
/// With one again it does.
#[test]
fn guides_without_a_motion_do_not_act() {
    let (mut rigid, brick, corner) = brick();
    let table = obstacle(surface_of(Shape::cuboid([2.0, 0.1, 2.0])), 0.5, 0.0, 0.0);
    rigid.follow(vec![Guide::Attachment { own: corner }, table]).unwrap();
    let hold = state(&rigid, corner);
    let still = |state: HandleState| Some(Motion { begin: [state].into(), end: [state].into() });
    for _ in 0..120 {
        rigid.step(DT, &Inputs { motions: vec![still(hold), None], ..Inputs::default() }).unwrap();
    }
    assert!((v(state(&rigid, corner).position) - v(hold.position)).norm() < 1e-4);
    for _ in 0..240 {
        let report = rigid.step(DT, &Inputs { motions: vec![None, None], ..Inputs::default() }).unwrap();
        assert!(report.reactions.is_empty());
    }
    assert!(state(&rigid, brick).position[1] < -1.0, "it fell through the table that does not act");
    let caught = HandleState::point([0.0, state(&rigid, brick).position[1] - 2.0, 0.0], [0.0; 3]);
    for _ in 0..480 {
        rigid.step(DT, &Inputs { motions: vec![None, still(caught)], ..Inputs::default() }).unwrap();
    }
    assert!(state(&rigid, brick).position[1] > caught.position[1]);
    assert!(v(state(&rigid, brick).velocity).norm() < 1e-2);
}

/// Two corners of one body on two carriers that fit, and a third that cannot: the first is kept, the
/// second is `StoppedAt` with the gap, finite and usable.
#[test]
fn the_impossible_is_reported_as_such() {
    let (mut rigid, brick, corner) = brick();
    let other = rigid.point(brick, [-0.15, 0.1, 0.05]).unwrap();
    rigid.follow(vec![Guide::Attachment { own: corner }, Guide::Attachment { own: other }]).unwrap();
    let (a, b) = (state(&rigid, corner), state(&rigid, other));
    let moved = |s: HandleState, dx: f64| {
        let position = [s.position[0] + dx, s.position[1], s.position[2]];
        Motion { begin: [HandleState { position, ..s }].into(), end: [HandleState { position, ..s }].into() }
    };
    for _ in 0..240 {
        let report = rigid
            .step(DT, &Inputs { motions: vec![Some(moved(a, 0.0)), Some(moved(b, 0.0))], ..Inputs::default() })
            .unwrap();
        assert_eq!(report.outcome, Outcome::Converged);
    }
    for _ in 0..240 {
        let report = rigid
            .step(DT, &Inputs { motions: vec![Some(moved(a, 0.1)), Some(moved(b, -0.1))], ..Inputs::default() })
            .unwrap();
        let Outcome::StoppedAt { error, .. } = report.outcome else { panic!("two carriers 0.2 m too far apart") };
        assert!(error > 0.05 && error < 0.5);
    }
    assert!(v(state(&rigid, brick).velocity).norm() < 10.0);
}

/// A body that may sleep does not while the world follows: it would go on telling the impulse of the
/// step in which it fell asleep.
#[test]
fn followers_stay_awake() {
    let mut rigid = RigidBodies::new("rigid").sleep(true);
    rigid.add("box", Body::dynamic(Shape::cuboid([0.3; 3])).mass(2.0).at([0.0, 0.21, 0.0])).unwrap();
    rigid.follow(vec![obstacle(surface_of(Shape::cuboid([2.0, 0.1, 2.0])), 0.5, 0.0, 0.0)]).unwrap();
    for k in 0..2400 {
        let dt = if k < 2000 { DT } else { 0.5 * DT };
        let (force, _) = taken(&step(&mut rigid, dt, &|_| HandleState::default(), &[]));
        if k > 2010 {
            assert_relative_eq!(force.y, -2.0 * G * dt, max_relative = 5e-3);
        }
    }
}

/// A follower that leads too: a pendulum's pivot is carried, its bob carries on. The reaction is the
/// weight of both, on average over some swings (2 %).
#[test]
fn a_carried_pendulum_weighs_all_of_its_parts() {
    let mut rigid = RigidBodies::new("rigid");
    let bar = rigid.add("bar", Body::dynamic(Shape::capsule_x(0.4, 0.05)).mass(1.0).at([0.0, 2.0, 0.0])).unwrap();
    let bob = rigid.add("bob", Body::dynamic(Shape::ball(0.1)).mass(2.0).at([0.0, 1.5, 0.0])).unwrap();
    rigid.join("string", Joint::ball(bar, bob).anchor([0.0, 2.0, 0.0])).unwrap();
    rigid.follow(vec![Guide::Attachment { own: bar }]).unwrap();
    let start = state(&rigid, bar);
    let mut sum = Vector3::zeros();
    for _ in 0..960 {
        sum += taken(&step(&mut rigid, DT, &|_| start, &[])).0;
    }
    assert_relative_eq!(sum.y / 4.0, -3.0 * G, max_relative = 0.02);
}

#[test]
fn bad_guides_are_refused_and_change_nothing() {
    let (mut rigid, _, corner) = brick();
    let wall = rigid.add("wall", Body::fixed(Shape::cuboid([0.1; 3])).at([5.0, 0.0, 0.0])).unwrap();
    let good = surface_of(Shape::cuboid([1.0; 3]));
    let foreign = HandleId { owner: 1, index: 0 };
    let mut hole = good.clone();
    hole.triangles[0][1] = 99;
    let mut broken = good.clone();
    broken.vertices[3][1] = f64::NAN;
    let mut empty = good.clone();
    empty.triangles.clear();
    let mut soft = good.clone();
    soft.carrier = Carrier::Points(vec![foreign; soft.vertices.len()]);
    soft.primitive = None;
    let before = rigid.snapshot(None).to_bytes();
    for (guide, word) in [
        (Guide::Attachment { own: foreign }, "owner"),
        (Guide::Attachment { own: wall }, "moves freely"),
        (Guide::Attachment { own: corner }, "two attachments of `brick.0`"),
        (obstacle(good.clone(), -0.1, 0.0, 0.0), "friction"),
        (obstacle(good.clone(), 0.1, 1.5, 0.0), "restitution"),
        (obstacle(good.clone(), 0.1, 0.0, f64::NAN), "thickness"),
        (obstacle(hole, 0.1, 0.0, 0.0), "triangle 0"),
        (obstacle(broken, 0.1, 0.0, 0.0), "vertex 3"),
        (obstacle(empty, 0.1, 0.0, 0.0), "triangle"),
        (obstacle(soft, 0.1, 0.0, 0.0), "deforming"),
    ] {
        let error = rigid.follow(vec![Guide::Attachment { own: corner }, guide]).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
        assert!(rigid.snapshot(None).to_bytes() == before);
    }
    let mut rigid = RigidBodies::new("rigid").substeps(1).solver_iterations(4);
    rigid.add("box", Body::dynamic(Shape::cuboid([1.0; 3]))).unwrap();
    let error = rigid.follow(vec![obstacle(good, 0.1, 0.0, 0.0)]).unwrap_err().to_string();
    assert!(error.contains("solver_iterations"), "{error}");
}
