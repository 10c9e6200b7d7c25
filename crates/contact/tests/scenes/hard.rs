//! What makes cloth pass through things elsewhere.

use crate::common::{Cloth, flat};
use nalgebra::{Isometry3, Vector3};
use partita_contact::{ContactError, Contacts, Features, Obstacle, Parameters, Path, Shape, State, Step, crosses};
use partita_mesh::Mesh;

type V3 = Vector3<f64>;

/// A light ball shot into a pinned sheet at 1, 10, 100 m/s stays on its side (K4).
#[test]
fn no_ball_is_fast_enough() {
    for speed in [1.0, 10.0, 100.0] {
        let mesh = flat([20, 20], [0.5, 0.5], 0.0);
        let ball = Obstacle::new(Shape::Ball { radius: 0.05 });
        let mut cloth = Cloth::new(&mesh, Parameters::default(), vec![ball]);
        cloth.gravity = Vector3::zeros();
        for (x, w) in cloth.x.iter().zip(&mut cloth.inverse_masses) {
            if x.x.abs() > 0.249 || x.z.abs() > 0.249 {
                *w = 0.0;
            }
        }
        let mut y = 0.3;
        let dt = 1.0 / 60.0;
        let mut i = 0;
        while y > -0.3 && i < 40 {
            let [begin, end] = [y, y - dt * speed].map(|y| Isometry3::translation(0.0, y, 0.0));
            cloth.substeps = 16;
            let report = cloth.step(dt, &[Path::Frame { begin, end }]);
            y -= dt * speed;
            assert!(report.pinched.is_empty());
            assert_eq!(cloth.crossings(), 0, "{speed} step {i}");
            // How often one passes through the sheet on the way from the ball straight up: an odd number of times if the
            // ball were beyond it.
            let (from, to) = (Vector3::new(1e-4, y, 2e-4), Vector3::new(1e-4, 10.0, 2e-4));
            let corners = |t: &[u32; 3]| t.map(|v| cloth.x[v as usize]);
            let through = |[a, b, c]: [Vector3<f64>; 3]| crosses([&from, &to], [&a, &b, &c]);
            let below = cloth.contacts.features().triangles().iter().filter(|t| through(corners(t))).count();
            let inside = cloth.x.iter().filter(|x| (*x - Vector3::new(0.0, y, 0.0)).norm() < 0.05).count();
            assert_eq!((below % 2, inside), (0, 0), "{speed} step {i}: {report:?}");
            i += 1;
        }
    }
}

/// Layers that lie on each other, between plates that close on them and open again (K2, K3).
#[test]
fn layers_in_a_press() {
    let t = 2e-3;
    let layers: Vec<Mesh> = (0..4).map(|k| flat([12, 12], [0.3, 0.3], 1.01 * t * (f64::from(k) + 1.0))).collect();
    let plate = Obstacle::new(Shape::Cuboid { half_extents: [0.25, 0.05, 0.25] }).friction(0.3);
    let parameters = Parameters { thickness: t, ..Parameters::default() };
    let mut cloth = Cloth::new(&Mesh::joined(&layers).unwrap(), parameters, vec![plate.clone(), plate]);
    let dt = 1.0 / 240.0;
    let gap = |i: i32| {
        let s = f64::from(i) / 240.0;
        // Closes to a little more than the thickness of all layers, stays, opens.
        let closed = 4.2 * t;
        if s < 0.5 {
            0.05 + (closed - 0.05) * s / 0.5
        } else if s < 0.7 {
            closed
        } else {
            closed + (s - 0.7) * 0.1
        }
    };
    for i in 0..240 {
        let below = Path::still(Isometry3::translation(0.0, -0.05, 0.0));
        let pose = |i| Isometry3::translation(0.0, 0.05 + gap(i), 0.0);
        let report = cloth.step(dt, &[below, Path::Frame { begin: pose(i), end: pose(i + 1) }]);
        assert!(report.pinched.is_empty(), "step {i}");
        assert_eq!(cloth.crossings(), 0, "step {i}");
        assert!(cloth.x.iter().all(|x| x.y > 0.0 && x.y < gap(i + 1)), "step {i}");
        // Layers keep their order.
        let n = cloth.x.len() / 4;
        assert!((0..3 * n).all(|k| cloth.x[k].y < cloth.x[k + n].y), "step {i}");
    }
}

/// A long strip that falls upright on a floor folds into a pile (K1, small).
#[test]
fn a_ribbon_piles_up() {
    let mesh = Mesh::grid([4, 120], [0.04, 1.2]).unwrap();
    let low = mesh.bounds()[0][1];
    let mesh = mesh.at([0.0, 0.05 - low, 0.0]).unwrap();
    let floor = Obstacle::new(Shape::HalfSpace).friction(0.4);
    let mut cloth = Cloth::new(&mesh, Parameters { thickness: 2e-3, ..Parameters::default() }, vec![floor]);
    for (k, x) in cloth.x.iter_mut().enumerate() {
        x.z += 1e-3 * (20.0 * x.y).sin() + 1e-5 * (k % 7) as f64;
    }
    cloth.substeps = 24;
    let mut impacts = 0;
    for i in 0..360 {
        let report = cloth.step(1.0 / 240.0, &[Path::still(Isometry3::identity())]);
        impacts += report.impacts;
        assert_eq!(cloth.crossings(), 0, "step {i}");
        assert!(cloth.x.iter().all(|x| x.y > 0.0), "step {i}");
    }
    // In a pile of a few centimetres.
    assert!(impacts > 100 && cloth.x.iter().all(|x| x.y < 0.1));
}

/// Plates that close to less than the layers need: there is no solution, so cloth may be in the plates, but not in itself;
/// it is named, stays finite and slow, and is well again when the plates open.
#[test]
fn what_is_pinched_is_named_and_recovers() {
    let t = 2e-3;
    let layers: Vec<Mesh> = (0..3).map(|k| flat([10, 10], [0.2, 0.2], 1.01 * t * (f64::from(k) + 1.0))).collect();
    let plate = Obstacle::new(Shape::Cuboid { half_extents: [0.15, 0.05, 0.15] }).friction(0.3);
    let parameters = Parameters { thickness: t, ..Parameters::default() };
    let mut cloth = Cloth::new(&Mesh::joined(&layers).unwrap(), parameters, vec![plate.clone(), plate]);
    let dt = 1.0 / 240.0;
    let gap = |i: i32| {
        let s = f64::from(i) / 240.0;
        // Closes until the plates meet, stays, opens.
        if s < 0.5 {
            0.02 * (0.5 - s) / 0.5
        } else if s < 0.7 {
            0.0
        } else {
            (s - 0.7) * 0.1
        }
    };
    let mut pinched = 0;
    for i in 0..360 {
        let below = Path::still(Isometry3::translation(0.0, -0.05, 0.0));
        let pose = |i| Isometry3::translation(0.0, 0.05 + gap(i), 0.0);
        let report = cloth.step(dt, &[below, Path::Frame { begin: pose(i), end: pose(i + 1) }]);
        pinched += report.pinched.len();
        // Plates get what the cloth gets, 24 g at less than half a metre a second, and not what contacts push on for.
        let most = cloth.contacts.reactions().iter().map(|r| r.linear.norm()).fold(0.0, f64::max);
        assert!(most < 0.01, "step {i}: {most} N s");
        let fast = cloth.v.iter().map(|v| v.norm()).fold(0.0, f64::max);
        assert_eq!(cloth.crossings(), 0, "step {i}");
        assert!(fast < 3.0, "step {i}: {fast} m/s");
        if i > 300 {
            assert!(report.pinched.is_empty());
            assert!(cloth.x.iter().all(|x| x.y > 0.0 && x.y < gap(i + 1)), "step {i}");
        }
    }
    assert!(pinched > 0);
}

/// Twice the cloth makes about twice the pairs, also where all of it is in the box of one triangle a kilometre long, and
/// where it is so small that all is within a millimetre (L6).
#[test]
fn pairs_do_not_grow_quadratically() {
    let tested = |rows: u32, size: f64, giant: bool| {
        let (thickness, length) = (1e-3 * size, f64::from(rows) / 20.0 * size);
        let tilted = [[-500.0, -520.0, -300.0], [500.0, 480.0, -300.0], [0.0, -20.0, 600.0]];
        let giant = giant.then(|| {
            Obstacle::new(Shape::Mesh { vertices: tilted.to_vec(), triangles: vec![[0, 1, 2]], lines: vec![] })
        });
        let obstacles: Vec<_> = giant.into_iter().collect();
        let paths = vec![Path::still(Isometry3::identity()); obstacles.len()];
        let parameters = Parameters { thickness, ..Parameters::default() };
        let mut cloth = Cloth::new(&flat([20, rows], [size, length], 0.0), parameters, obstacles);
        cloth.gravity *= size;
        cloth.step(1.0 / 240.0, &paths).cost.tested as f64
    };
    for (size, giant) in [(1.0, false), (1.0, true), (1e-3, false), (1e-3, true)] {
        let [once, twice] = [40, 80].map(|rows| tested(rows, size, giant));
        assert!(twice / once < 2.1, "size {size} m, giant {giant}: {once} pairs, then {twice}");
    }
}

/// Cloth that explodes has every feature on every other's way: that is refused before memory is, nothing is changed, and the
/// next step is as if nothing had been. Where shorter parts of the step have fewer pairs, those are taken.
#[test]
fn an_explosion_is_refused() {
    let mesh = flat([20, 20], [0.2, 0.2], 0.0);
    let features = Features::new(mesh.vertices().len(), mesh.triangles(), &[]).unwrap();
    let resolve = |most_pairs: usize, size: f64| {
        let parameters = Parameters { most_pairs, ..Parameters::default() };
        let mut contacts = Contacts::new(features.clone(), parameters, vec![]).unwrap();
        let scatter = |k: usize| V3::new((k as f64).sin(), (3.0 * k as f64).sin(), (7.0 * k as f64).sin());
        let begin = mesh.vertices();
        let mut end: Vec<V3> = begin.iter().enumerate().map(|(k, x)| x + size * scatter(k)).collect();
        let (given, mut state) = (end.clone(), State::default());
        let step = Step { dt: 0.01, begin, velocities: None, inverse_masses: &vec![1e4; begin.len()], paths: &[] };
        let report = contacts.resolve(&mut state, &step, &mut end);
        if report.is_err() {
            assert!(end == given && state == State::default());
            end = begin.iter().map(|x| x + V3::y()).collect();
            let step = contacts.resolve(&mut state, &step, &mut end).unwrap();
            assert!(step.impacts == 0 && end.iter().all(|x| (x.y - 1.0).abs() < 1e-15));
        }
        report
    };
    assert_eq!(resolve(100_000, 1e6), Err(ContactError::TooManyPairs { most: 100_000 }));
    let [whole, parts] = [200_000, 50_000].map(|most| resolve(most, 0.04).unwrap());
    assert!(whole.cost.tested > 50_000 && whole.parts == 1 && parts.parts == 4);
}

/// A state from elsewhere, of another surface or obstacle, is refused; so are coordinates of obstacles that are not numbers, a
/// rotation that is none, a box moved by points.
#[test]
fn what_cannot_be_is_refused() {
    let mesh = flat([4, 4], [0.1, 0.1], 0.0);
    let features = Features::new(25, mesh.triangles(), &[]).unwrap();
    let shape = Shape::Mesh { vertices: mesh.positions(), triangles: mesh.triangles().to_vec(), lines: vec![] };
    let mut contacts = Contacts::new(features, Parameters::default(), vec![Obstacle::new(shape)]).unwrap();
    let below: Vec<V3> = mesh.vertices().iter().map(|x| x - V3::y()).collect();
    let mut refused = |state: &str, path: Path<'_>, expected: &str| {
        let mut state: State = serde_json::from_str(state).unwrap();
        let step =
            Step { dt: 0.01, begin: mesh.vertices(), velocities: None, inverse_masses: &[1e3; 25], paths: &[path] };
        let (before, mut end) = (state.clone(), mesh.vertices().to_vec());
        assert_eq!(contacts.resolve(&mut state, &step, &mut end).unwrap_err().to_string(), expected);
        assert!(state == before && end == mesh.vertices());
    };
    let other = "the state is of another surface than one of 25 vertices with 1 obstacles";
    for wrong in ["[[25,0]]", "[[3,1]]", "[[3,0],[2,0]]"] {
        for [inside, embedded] in [[wrong, "[]"], ["[]", wrong]] {
            let state = format!(
                r#"{{"inside":{inside},"regions":[],"through":[],"embedded":{embedded},"absent":[],"unresolved":false,"borne":[],"pressed":[],"apart":true}}"#
            );
            refused(&state, Path::Points { begin: &below, end: &below }, other);
        }
    }
    for [obstacle, vertices, support] in
        [["1", "[3]", "0"], ["0", "[25]", "0"], ["0", "[3,2]", "0"], ["0", "[3]", "25"]]
    {
        let plane = r#"{"normal":[0.0,1.0,0.0],"height":0.0}"#;
        let region = format!(r#"{{"obstacle":{obstacle},"vertices":{vertices},"plane":{plane},"support":{support}}}"#);
        let state = format!(
            r#"{{"inside":[],"regions":[{region}],"through":[],"embedded":[],"absent":[],"unresolved":false,"borne":[],"pressed":[],"apart":true}}"#
        );
        refused(&state, Path::Points { begin: &below, end: &below }, other);
    }
    let good = r#"{"inside":[],"regions":[],"through":[],"embedded":[],"absent":[],"unresolved":false,"borne":[],"pressed":[],"apart":false}"#;
    let mut broken = below.clone();
    broken[7].x = f64::NAN;
    let expected = "vertex 7 of obstacle 0 at the end is NaN; expected within 1e9 m";
    refused(good, Path::Points { begin: &below, end: &broken }, expected);
    let mut pose = Isometry3::translation(0.0, -1.0, 0.0);
    pose.rotation = nalgebra::Unit::new_unchecked(2.0 * pose.rotation.into_inner());
    refused(good, Path::still(pose), "the rotation of obstacle 0 has norm 2e0; expected a unit quaternion");

    let ball = Obstacle::new(Shape::Ball { radius: 0.1 });
    let features = || Features::new(25, mesh.triangles(), &[]).unwrap();
    let error = Contacts::new(features(), Parameters::default(), vec![ball.clone().one_sided()]).err().unwrap();
    assert_eq!(error.to_string(), "obstacle 0 is one-sided; expected a mesh for that");
    let mut contacts = Contacts::new(features(), Parameters::default(), vec![ball]).unwrap();
    let paths = [Path::Points { begin: &below, end: &below }];
    let step = Step { dt: 0.01, begin: mesh.vertices(), velocities: None, inverse_masses: &[1e3; 25], paths: &paths };
    let error = contacts.resolve(&mut State::default(), &step, &mut below.clone()).unwrap_err();
    assert_eq!(error.to_string(), "obstacle 0 is moved by its points; expected a mesh for that");
}

/// What is refused in a later part of a step changes nothing either: a sheet that goes through its middle has few pairs at first.
#[test]
fn an_implosion_is_refused() {
    let mesh = flat([20, 20], [0.2, 0.2], 0.0);
    let features = Features::new(mesh.vertices().len(), mesh.triangles(), &[]).unwrap();
    let parameters = Parameters { most_pairs: 40_000, ..Parameters::default() };
    let mut contacts = Contacts::new(features, parameters, vec![]).unwrap();
    let begin = mesh.vertices();
    let given: Vec<V3> = begin.iter().map(|x| -x).collect();
    let (mut end, mut state) = (given.clone(), State::default());
    let step = Step { dt: 0.01, begin, velocities: None, inverse_masses: &vec![1e4; begin.len()], paths: &[] };
    let report = contacts.resolve(&mut state, &step, &mut end);
    assert_eq!(report, Err(ContactError::TooManyPairs { most: 40_000 }));
    assert!(end == given && state == State::default());
    // That its first part would have gone.
    let mut end: Vec<V3> = begin.iter().map(|x| 0.8 * x).collect();
    contacts.resolve(&mut state, &step, &mut end).unwrap();
    assert!(state != State::default());
}

/// A box that falls on two layers on the floor with an edge ahead, far faster than a thickness a step: whatever parts of a step
/// and what is pierced do to and fro, floor and box are told of no more than twice of what all vertices get, and of all of that.
#[test]
fn cloth_does_not_stop_a_falling_box() {
    let t = 2e-3;
    let layers: Vec<Mesh> = (0..2).map(|k| flat([40, 40], [0.4, 0.4], 1.01 * t * (f64::from(k) + 1.0))).collect();
    let obstacles = [Shape::HalfSpace, Shape::Cuboid { half_extents: [0.1; 3] }];
    let obstacles = obstacles.map(|shape| Obstacle::new(shape).friction(0.3)).to_vec();
    let mut cloth =
        Cloth::new(&Mesh::joined(&layers).unwrap(), Parameters { thickness: t, ..Parameters::default() }, obstacles);
    let gap = |i: i32| (0.1 - 3.7 * f64::from(i) / 120.0).max(0.0);
    let pose = |i: i32| {
        let turned = nalgebra::UnitQuaternion::new(V3::new(0.3, 0.09, 0.6));
        Isometry3::from_parts(V3::new(0.0, 0.1 + gap(i), 0.0).into(), turned)
    };
    for i in 0..2 {
        let falling = Path::Frame { begin: pose(i), end: pose(i + 1) };
        cloth.step(1.0 / 120.0, &[Path::still(Isometry3::identity()), falling]);
        let told: f64 = cloth.contacts.reactions().iter().map(|r| r.linear.norm()).sum();
        let got: f64 = cloth.contacts.impulses().iter().map(|j| j.norm()).sum();
        assert!(told <= 2.0 * got, "step {i}: {told} of {got} N s");
        let sum: V3 = cloth.contacts.impulses().iter().sum();
        let other: V3 = cloth.contacts.reactions().iter().map(|r| r.linear).sum();
        assert!((sum + other).norm() <= 1e-12 * got, "step {i}");
    }
}
