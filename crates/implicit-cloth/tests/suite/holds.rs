//! What holds cloth and what it holds on to: points within triangles, pins, hands that move along scripts.

use std::sync::{Arc, Mutex};

use nalgebra::{UnitQuaternion, Vector3};
use partita_implicit_cloth::{Fabric, ImplicitCloth, Parameters};
use partita_mesh::Mesh;
use partita_simulator::{Guide, HandleState, Inputs, Ledger, Motion, Outcome, Simulator, SimulatorError, Wrench};

type V3 = Vector3<f64>;

const G: f64 = 9.81;

fn sheet(parameters: Parameters) -> ImplicitCloth {
    ImplicitCloth::with_parameters("sheet", Mesh::grid([5, 5], [0.5, 0.5]).unwrap(), parameters).unwrap()
}

fn weightless() -> Parameters {
    Parameters { gravity: [0.0; 3], tolerance: 1e-12, ..Parameters::default() }
}

fn state(cloth: &ImplicitCloth, handle: partita_simulator::HandleId) -> HandleState {
    let mut out = [HandleState::default()];
    cloth.read(&[handle], &mut out).unwrap();
    out[0]
}

fn ledger(cloth: &ImplicitCloth) -> Ledger {
    cloth.ledger().unwrap()
}

/// A load on a point within a triangle gives its impulse and its torque about the origin, up to the way that the cloth goes in
/// the step (law 5). The point is where its corners say.
#[test]
fn a_load_on_a_point_spreads_to_the_corners() {
    let (dt, weights, force) = (1.0 / 1024.0, [0.2, 0.3, 0.5], V3::new(0.1, -0.3, 0.2));
    let mut cloth = sheet(weightless());
    let points = [cloth.point(13, weights).unwrap(), cloth.point(0, [0.0, 1.0, 0.0]).unwrap()];
    let corners = Mesh::grid([5, 5], [0.5, 0.5]).unwrap().triangles()[13];
    let inputs = Inputs { loads: vec![(points[0], Wrench::force(force))], ..Inputs::default() };
    for _ in 0..5 {
        let before = (ledger(&cloth), V3::from(state(&cloth, points[0]).position));
        cloth.step(dt, &inputs).unwrap();
        let now = (ledger(&cloth), V3::from(state(&cloth, points[0]).position));
        let gained = V3::from(now.0.momentum) - V3::from(before.0.momentum);
        assert!((gained - dt * force).norm() < 1e-15, "{gained}");
        let turned = V3::from(now.0.angular_momentum) - V3::from(before.0.angular_momentum);
        let way = (now.1 - before.1).norm();
        assert!((turned - dt * before.1.cross(&force)).norm() < dt * way * force.norm() + 1e-15, "{turned}");
        for (of, found) in [(cloth.positions(), now.1), (cloth.velocities(), state(&cloth, points[0]).velocity.into())]
        {
            let expected: V3 = corners.iter().zip(weights).map(|(&v, weight)| weight * of[v as usize]).sum();
            assert!((found - expected).norm() < 1e-15);
        }
    }
    assert_eq!(state(&cloth, points[1]), state(&cloth, cloth.vertex(6)));
}

/// A frame that goes in a circle, turns and is there at time 0 anywhere.
fn swinging(t: f64) -> HandleState {
    let q = UnitQuaternion::from_scaled_axis(V3::new(0.0, 2.0 * t + 0.3, 0.0)).coords;
    HandleState {
        position: [0.1 * (5.0 * t).sin() + 3.0, 0.2 * t, 0.1 * (5.0 * t).cos()],
        velocity: [0.5 * (5.0 * t).cos(), 0.2, -0.5 * (5.0 * t).sin()],
        orientation: [q.x, q.y, q.z, q.w],
        spin: [0.0, 2.0, 0.0],
    }
}

/// What a hand holds moves with it as one, with the velocity that is its rate, whatever parts the step is taken in.
#[test]
fn what_a_hand_holds_goes_along_its_script() {
    for max_stretch in [1.0, 1e-3] {
        let mut cloth = sheet(Parameters { max_stretch, ..Parameters::default() });
        let rest = cloth.positions().to_vec();
        let top: Vec<u32> = (0..6).collect();
        cloth.pin_along("hand", &top, swinging).unwrap();
        let dt = 1.0 / 60.0;
        let mut parts = 0;
        for step in 1..=30 {
            parts += cloth.step(dt, Inputs::NONE).unwrap().substeps;
            let at = |t: f64, v: u32| {
                let (begin, now) = (swinging(0.0), swinging(t));
                let turn = UnitQuaternion::from_scaled_axis(V3::y() * 2.0 * t);
                V3::from(now.position) + turn * (rest[v as usize] - V3::from(begin.position))
            };
            for &v in &top {
                let t = cloth.time();
                assert!((t - dt * f64::from(step)).abs() < 1e-14);
                assert!((cloth.positions()[v as usize] - at(t, v)).norm() < 1e-14);
                // The difference over 2e-5 s, to 1e-10 times third derivatives of the order of 40 m/s³.
                let rate = (at(t + 1e-5, v) - at(t - 1e-5, v)) / 2e-5;
                assert!((cloth.velocities()[v as usize] - rate).norm() < 1e-8);
            }
        }
        // The first one, in which it starts at once, is shortened in any case.
        assert_eq!(parts > 40, max_stretch < 1.0, "{parts} parts");
    }
}

/// Parts of a step take a hand to where it is when they end: here all are as short as they may be, however long they were tried. Its
/// state at the start is asked for to see whether it leaps.
#[test]
fn a_script_is_asked_for_the_start_and_the_end_of_each_part() {
    let asked = Arc::new(Mutex::new(vec![]));
    let ear = asked.clone();
    let script = move |t: f64| {
        ear.lock().unwrap().push(t);
        HandleState::point([0.0, t, 0.0], [0.0, 1.0, 0.0])
    };
    let mut cloth = sheet(Parameters { max_stretch: 1e-9, ..Parameters::default() });
    cloth.pin_along("hand", &[0], script).unwrap();
    asked.lock().unwrap().clear();
    let parts = cloth.step(0.02, Inputs::NONE).unwrap().substeps;
    assert_eq!(parts, 32);
    let mut asked = asked.lock().unwrap().clone();
    asked.sort_by(f64::total_cmp);
    asked.dedup();
    assert_eq!(asked, (0..=32).map(|part| 0.02 / 32.0 * f64::from(part)).collect::<Vec<f64>>());
}

/// A hand and an attachment to something that moves likewise are the same, to the last bit of the cloth and to rounding of what
/// they take: one in the ledger, one as reactions.
#[test]
fn a_hand_is_an_attachment_of_ones_own() {
    let path =
        |t: f64| HandleState::point([0.03 * (9.0 * t).sin(), 0.0, 0.1 * t * t], [0.27 * (9.0 * t).cos(), 0.0, 0.2 * t]);
    let corners = [0, 5];
    let mut with_hand = sheet(weightless());
    with_hand.pin_along("hand", &corners, path).unwrap();
    let mut attached = sheet(weightless());
    let rest = attached.positions().to_vec();
    attached.follow(corners.map(|v| Guide::Attachment { own: attached.vertex(v) }).to_vec()).unwrap();
    let (dt, mut given) = (1.0 / 128.0, V3::zeros());
    for step in 0..40 {
        let at = |k: u32, v: u32| {
            let state = path(dt * f64::from(k));
            let position = V3::from(state.position) + rest[v as usize];
            Arc::new([HandleState::point(position, state.velocity)])
        };
        let motions = corners.map(|v| Some(Motion { begin: at(step, v), end: at(step + 1, v) })).to_vec();
        let report = attached.step(dt, &Inputs { motions, ..Inputs::default() }).unwrap();
        given -= report.reactions.iter().map(|reaction| V3::from(reaction.impulse.linear)).sum::<V3>();
        let before = ledger(&with_hand);
        assert_eq!(with_hand.step(dt, Inputs::NONE).unwrap().substeps, 1);
        assert_eq!(with_hand.positions(), attached.positions(), "step {step}");
        assert_eq!(with_hand.velocities(), attached.velocities(), "step {step}");
        // All momentum comes from the hand.
        let now = ledger(&with_hand);
        let [gained, taken] = [now.momentum, now.external.unwrap().linear];
        let [gained_before, taken_before] = [before.momentum, before.external.unwrap().linear];
        let open = V3::from(gained) - V3::from(gained_before) - V3::from(taken) + V3::from(taken_before);
        assert!(open.norm() < 1e-15, "step {step}: {open}");
        assert!((V3::from(taken) - given).norm() < 1e-14, "step {step}");
    }
}

/// Lifted at a constant acceleration a, the cloth pulls at the hand with m (g + a) once it has come to rest in it, and as a fixed pin
/// bears m g (M6).
#[test]
fn a_hand_feels_what_it_lifts() {
    for a in [0.0, 3.0] {
        let fabric = Fabric::cotton().damping(0.02).bend_damping(0.5);
        let mut cloth = sheet(Parameters { fabric, tolerance: 1e-8, ..Parameters::default() });
        let top: Vec<u32> = (0..6).collect();
        cloth
            .pin_along("lift", &top, move |t| HandleState::point([0.0, 0.5 * a * t * t, 0.0], [0.0, a * t, 0.0]))
            .unwrap();
        let run = |cloth: &mut ImplicitCloth| {
            for _ in 0..180 {
                cloth.step(1.0 / 60.0, Inputs::NONE).unwrap();
            }
            (ledger(cloth).external.unwrap().linear[1], ledger(cloth).mass)
        };
        let ((before, _), (after, mass)) = (run(&mut cloth), run(&mut cloth));
        // In three seconds, of gravity and hand together.
        let force = (after - before) / 3.0 + mass * G;
        assert!((force / (mass * (G + a)) - 1.0).abs() < 1e-3, "{force} N for {} N", mass * (G + a));
    }
}

/// A script that says nonsense is refused when it is given, and fails the step in which it does, which changes nothing.
#[test]
fn a_script_that_makes_no_sense_is_named() {
    let bad = [
        HandleState::point([f64::NAN, 0.0, 0.0], [0.0; 3]),
        HandleState::point([0.0; 3], [0.0, f64::INFINITY, 0.0]),
        HandleState { orientation: [0.0, 0.0, 0.0, 2.0], ..HandleState::default() },
    ];
    for bad in bad {
        let mut cloth = sheet(Parameters::default());
        let before = cloth.snapshot(None).to_bytes();
        let error = cloth.pin_along("shaky", &[0], move |_| bad).unwrap_err();
        assert!(matches!(error, SimulatorError::Refused { .. }));
        assert!(error.to_string().starts_with("script of hand `shaky` at 0 s: expected finite"), "{error}");
        assert_eq!(cloth.snapshot(None).to_bytes(), before);

        cloth.pin_along("shaky", &[0], move |t| if t > 0.03 { bad } else { HandleState::default() }).unwrap();
        (0..3).for_each(|_| drop(cloth.step(0.01, Inputs::NONE).unwrap()));
        let before = cloth.snapshot(None).to_bytes();
        let error = cloth.step(0.01, Inputs::NONE).unwrap_err();
        assert!(matches!(error, SimulatorError::Failed { .. }));
        assert!(error.to_string().contains("script of hand `shaky` at 0.04 s"), "{error}");
        assert_eq!(cloth.snapshot(None).to_bytes(), before);
    }
}

/// Pins, hands and points that are refused say why, and change nothing.
#[test]
fn what_cannot_be_held_is_named() {
    let mut cloth = sheet(Parameters::default());
    let still = |_: f64| HandleState::default();
    cloth.pin(&[3]).unwrap();
    cloth.pin_along("hand", &[0, 1], still).unwrap();
    let before = cloth.snapshot(None).to_bytes();
    let all = cloth.handles().len();
    let refusals = [
        (cloth.pin(&[1]), "pin: expected one that no hand holds, found vertex 1"),
        (cloth.pin(&[36]), "pin: expected one of 36 vertices, found vertex 36"),
        (cloth.pin_along("other", &[36], still), "pin: expected one of 36 vertices, found vertex 36"),
        (
            cloth.pin_along("other", &[4, 3], still),
            "hand `other`: expected one that is not held already, found vertex 3",
        ),
        (
            cloth.pin_along("other", &[4, 4], still),
            "hand `other`: expected one that is not held already, found vertex 4",
        ),
        (cloth.pin_along("hand", &[4], still), "hand: expected a name used once, found `hand` twice"),
        (cloth.point(50, [1.0, 0.0, 0.0]).map(drop), "point in triangle 50: expected one of 50 triangles, found 50"),
        (cloth.point(2, [0.5, 0.6, 0.0]).map(drop), "point in triangle 2, weights [-]: expected 0 to 1, with sum 1"),
        (cloth.point(2, [1.5, -0.5, 0.0]).map(drop), "point in triangle 2, weights [-]: expected 0 to 1, with sum 1"),
        (
            cloth.point(2, [f64::NAN, 0.5, 0.5]).map(drop),
            "point in triangle 2, weights [-]: expected 0 to 1, with sum 1",
        ),
        (cloth.follow(vec![Guide::Attachment { own: cloth.vertex(0) }]), "guide 0: expected a vertex that is not held"),
    ];
    for (result, text) in refusals {
        let error = result.unwrap_err().to_string();
        assert!(error.starts_with(text), "{error}");
    }
    assert_eq!((cloth.snapshot(None).to_bytes(), cloth.handles().len()), (before, all));

    cloth.step(0.01, Inputs::NONE).unwrap();
    let text = "to be set before the first step";
    assert!(cloth.pin(&[2]).unwrap_err().to_string().contains(text));
    assert!(cloth.pin_along("late", &[2], still).unwrap_err().to_string().contains(text));
    assert!(cloth.point(0, [1.0, 0.0, 0.0]).unwrap_err().to_string().contains(text));
}

/// Hands take hold of the cloth where it begins, also if that is said after them; its surface is there too.
#[test]
fn cloth_is_held_where_it_begins() {
    let begin: Vec<[f64; 3]> = sheet(weightless()).positions().iter().map(|x| [x.x + 1.0, x.y, 0.5]).collect();
    let before = |mut cloth: ImplicitCloth| {
        cloth.pin_along("hand", &[0, 5], swinging).unwrap();
        // Whatever was asked of it before.
        cloth.snapshot(None);
        cloth
    };
    let mut both = [
        before(sheet(weightless()).with_positions(&begin).unwrap()),
        before(sheet(weightless())).with_positions(&begin).unwrap(),
    ];
    assert!(both.iter().all(|cloth| cloth.surfaces()[0].vertices == begin));
    both.iter_mut().for_each(|cloth| drop(cloth.step(0.01, Inputs::NONE).unwrap()));
    let [one, other] = &both;
    assert_eq!(one.snapshot(None).first_difference(&other.snapshot(None)), None);
}

/// A snapshot belongs to cloth with the same hands, points and cut.
#[test]
fn snapshots_know_what_holds_the_cloth() {
    let still = |_: f64| HandleState::default();
    let plain = || sheet(Parameters::default());
    let held = |name: &str, vertices: &[u32]| {
        let mut cloth = plain();
        cloth.pin_along(name, vertices, still).unwrap();
        cloth
    };
    let with_point = |weights: [f64; 3]| {
        let mut cloth = plain();
        cloth.point(0, weights).unwrap();
        cloth
    };
    let mut all = [
        plain(),
        held("a", &[0]),
        held("b", &[0]),
        held("a", &[1]),
        with_point([1.0, 0.0, 0.0]),
        with_point([0.0, 1.0, 0.0]),
        plain().flat_at_rest().unwrap(),
        plain().with_warp([0.0, 1.0, 0.0]).unwrap(),
    ];
    let snapshots: Vec<_> = all.iter().map(|cloth| cloth.snapshot(None)).collect();
    for (i, cloth) in all.iter_mut().enumerate() {
        for (j, snapshot) in snapshots.iter().enumerate() {
            assert_eq!(cloth.retract(snapshot).is_ok(), i == j, "{i} to {j}");
        }
    }
}

/// What a part of a step said that was taken back is not in the report: in the whole step the solver stops at its most iterations,
/// in the parts that count it does not.
#[test]
fn a_part_that_is_taken_back_leaves_no_word() {
    let mesh = Mesh::grid([12, 12], [0.5, 0.5]).unwrap();
    let swirl: Vec<[f64; 3]> = mesh.positions().iter().map(|x| [0.0, 0.0, 3.0 * (20.0 * x[0]).sin()]).collect();
    let step = |max_stretch: f64| {
        let parameters = Parameters { max_iterations: 12, max_stretch, ..Parameters::default() };
        let cloth = ImplicitCloth::with_parameters("sheet", mesh.clone(), parameters).unwrap();
        let report = cloth.with_velocities(&swirl).unwrap().step(0.04, Inputs::NONE).unwrap();
        (report.substeps, report.outcome == Outcome::Converged)
    };
    assert_eq!([step(10.0), step(1e-9)], [(1, false), (32, true)]);
}

/// A sheet that two hands have pulled taut by 1 % and that has come to rest is in balance, with and without gravity: no step reports
/// energy that nobody gave, though its elastic energy is exact to rounding only, and nothing moves.
#[test]
fn taut_cloth_at_rest_gains_nothing() {
    for gravity in [0.0, G] {
        let parameters = Parameters { gravity: [0.0, -gravity, 0.0], ..Parameters::default() };
        let mut cloth = sheet(parameters);
        let pull = |t: f64| {
            let s = (t / 0.5).min(1.0);
            HandleState::point([0.005 * s * s * (3.0 - 2.0 * s), 0.0, 0.0], [0.01 * 6.0 * s * (1.0 - s), 0.0, 0.0])
        };
        let edge = |x: f64, mesh: &Mesh| -> Vec<u32> {
            (0..36).filter(|k| (mesh.positions()[*k as usize][0] - x).abs() < 1e-9).collect()
        };
        let mesh = Mesh::grid([5, 5], [0.5, 0.5]).unwrap();
        let ends = [edge(0.0, &mesh), edge(0.5, &mesh)];
        assert!(ends.iter().all(|end| end.len() == 6));
        cloth.pin(&ends[0]).unwrap();
        cloth.pin_along("hand", &ends[1], pull).unwrap();
        for k in 0..600 {
            let report = cloth.step(1.0 / 60.0, Inputs::NONE).unwrap();
            if k > 300 {
                assert_eq!(report.outcome, Outcome::Converged, "{gravity} m/s², step {k}");
                assert_eq!(report.substeps, 1, "{gravity} m/s², step {k}");
            }
        }
        let fastest = cloth.velocities().iter().map(V3::norm).fold(0.0, f64::max);
        assert!(fastest < 1e-3, "{fastest} m/s");
    }
}
