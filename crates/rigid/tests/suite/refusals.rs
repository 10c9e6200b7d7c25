//! Bad input (rows X1, X6, X7, X8, X12 of the catalogue, X2 to X5 for meshes): a typed error that names
//! field and value, or a documented repair; nothing changes, nothing panics.

use partita_rigid::{Body, Parameters, Pose, RigidBodies, Shape};
use partita_simulator::{HandleId, HandleState, Inputs, Motion, Simulator, SimulatorError, Wrench, hash_bytes};

const DT: f64 = 1.0 / 240.0;
const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

fn world() -> (RigidBodies, HandleId) {
    let mut rigid = RigidBodies::new("rigid");
    rigid.add("floor", Body::fixed(Shape::cuboid([4.0, 0.1, 4.0]))).unwrap();
    let ball = rigid.add("ball", Body::dynamic(Shape::ball(0.1)).at([0.0, 1.0, 0.0])).unwrap();
    (rigid, ball)
}

fn hash(rigid: &RigidBodies) -> u64 {
    hash_bytes(&rigid.snapshot(None).to_bytes())
}

/// The message of a refusal.
fn refusal<T>(result: Result<T, SimulatorError>) -> String {
    match result.map(|_| ()) {
        Err(error @ SimulatorError::Refused { .. }) => error.to_string(),
        other => panic!("expected a refusal, found {other:?}"),
    }
}

fn cube() -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let mut rigid = RigidBodies::new("cube");
    rigid.add("cube", Body::fixed(Shape::cuboid([0.4; 3]))).unwrap();
    let surface = &rigid.surfaces()[0];
    (surface.vertices.clone(), surface.triangles.clone())
}

#[test]
fn bad_bodies_are_refused_and_change_nothing() {
    let (mut rigid, _) = world();
    let before = hash(&rigid);
    let ball = || Body::dynamic(Shape::ball(0.1));
    let spins = |_| Pose { orientation: [0.0; 4], ..Pose::default() };
    let cases = [
        ("ball", ball(), "`ball` twice"),
        ("b", ball().at([NAN, 0.0, 0.0]), "position"),
        ("b", ball().at([0.0, 1e300, 0.0]), "position"),
        ("b", ball().velocity([0.0, -INF, 0.0]), "velocity"),
        ("b", ball().velocity([0.0, 0.0, 1e300]), "top_speed"),
        ("b", ball().spin([NAN; 3]), "spin"),
        ("b", ball().turned([0.0; 3], 1.0), "orientation"),
        ("b", ball().posed(Pose { orientation: [0.0, 0.0, 0.0, 2.0], ..Pose::default() }), "orientation"),
        ("b", ball().density(0.0), "density"),
        ("b", ball().density(-5.0), "density"),
        ("b", ball().density(1e300), "mass"),
        ("b", ball().mass(0.0), "mass"),
        ("b", ball().mass(NAN), "mass"),
        ("b", ball().mass(-1.0), "mass"),
        ("b", ball().mass(1e-30), "mass"),
        ("b", ball().mass(f64::MIN_POSITIVE / 2.0), "mass"),
        ("b", ball().mass(1e21), "mass"),
        ("b", ball().friction(-0.1), "friction"),
        ("b", ball().friction(INF), "friction"),
        ("b", ball().restitution(1.1), "restitution"),
        ("b", ball().thickness(-1.0), "thickness"),
        ("b", ball().damping(-1.0, 0.0), "linear_damping"),
        ("b", ball().damping(0.0, NAN), "angular_damping"),
        ("b", Body::dynamic(Shape::ball(0.0)), "radius"),
        ("b", Body::dynamic(Shape::ball(NAN)), "radius"),
        ("b", Body::fixed(Shape::cuboid([1.0, 0.0, 1.0])), "size y"),
        ("b", Body::fixed(Shape::cuboid([1.0, 1.0, 1e300])), "size z"),
        ("b", Body::fixed(Shape::capsule_x(-1.0, 0.1)), "length"),
        ("b", Body::fixed(Shape::cylinder_z(1.0, 1e-320)), "radius"),
        ("b", Body::fixed(Shape::Capsule { axis: 3, length: 1.0, radius: 0.1 }), "axis"),
        ("b", Body::dynamic(Shape::hull([])), "hull"),
        ("b", Body::dynamic(Shape::hull([[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]])), "one plane"),
        ("b", Body::dynamic(Shape::hull([[0.0; 3]; 9])), "one plane"),
        ("b", Body::dynamic(Shape::hull([[0.0; 3], [NAN; 3], [0.0, 1.0, 0.0], [1.0, 1.0, 1.0]])), "vertex 1"),
        ("b", Body::kinematic(Shape::ball(0.1), |t| Pose::at([t, NAN, 0.0])), "position"),
        ("b", Body::kinematic(Shape::ball(0.1), spins), "orientation"),
    ];
    for (name, body, word) in cases {
        let error = refusal(rigid.add(name, body.clone()));
        assert!(error.contains(word), "`{word}` is not in: {error}");
        assert_eq!(hash(&rigid), before, "{error}");
        assert!(name != "b" || rigid.body("b").is_err(), "a name was left behind: {error}");
    }
    rigid.add("b", ball().at([2.0, 1.0, 0.0])).unwrap();
}

#[test]
fn bad_parameters_are_refused_before_anything_is_built() {
    for (rigid, word) in [
        (RigidBodies::new("r").gravity([0.0, NAN, 0.0]), "gravity"),
        (RigidBodies::new("r").substeps(0), "substeps"),
        (RigidBodies::new("r").substeps(u32::MAX), "substeps"),
        (RigidBodies::new("r").solver_iterations(0), "solver_iterations"),
        (RigidBodies::new("r").sweeps(0), "sweeps"),
        (RigidBodies::new("r").top_speed(-1.0), "top_speed"),
        (RigidBodies::new("r").top_speed(INF), "top_speed"),
    ] {
        let mut rigid = rigid;
        assert!(refusal(rigid.add("b", Body::dynamic(Shape::ball(0.1)))).contains(word));
        assert!(refusal(rigid.step(DT, Inputs::NONE)).contains(word));
    }
}

/// Parameters from a file: the names of the fields, all optional, no others.
#[test]
fn parameters_refuse_unknown_names() {
    let good: Parameters = serde_json::from_str(r#"{"substeps": 8, "sleep": true}"#).unwrap();
    assert_eq!(good, Parameters { substeps: 8, sleep: true, ..Parameters::default() });
    let error = serde_json::from_str::<Parameters>(r#"{"substep": 8}"#).unwrap_err().to_string();
    assert!(error.contains("substep") && error.contains("substeps"), "{error}");
}

/// X7: steps of no, negative, infinite and no length are refused; tiny and huge ones are taken, or
/// fail with a reason, and leave finite states.
#[test]
fn steps_of_any_length_are_taken_or_refused() {
    let (mut rigid, ball) = world();
    let before = hash(&rigid);
    for dt in [0.0, -DT, NAN, INF, -0.0] {
        assert!(refusal(rigid.step(dt, Inputs::NONE)).contains("dt"));
        assert_eq!(hash(&rigid), before);
    }
    for dt in [1e-12, 1e-300, f64::MIN_POSITIVE, 1e3, 1e6, 1e12] {
        let before = hash(&rigid);
        match rigid.step(dt, Inputs::NONE) {
            Ok(_) => assert!(rigid.state_of(ball).unwrap().is_finite(), "dt {dt}"),
            Err(error) => assert_eq!(hash(&rigid), before, "{error}"),
        }
    }
}

/// X12: handles of another world, of none, a Frame where a Point is meant and the other way round.
#[test]
fn foreign_handles_are_refused() {
    let (mut rigid, ball) = world();
    let point = rigid.point(ball, [0.0, 0.1, 0.0]).unwrap();
    let mut other = RigidBodies::new("other");
    let foreign = other.add("ball", Body::dynamic(Shape::ball(0.1))).unwrap();
    let beyond = HandleId { index: 99, ..ball };
    let before = hash(&rigid);
    for handle in [foreign, beyond] {
        let load = Inputs { loads: vec![(handle, Wrench::force([1.0; 3]))], ..Inputs::default() };
        refusal(rigid.step(DT, &load));
        refusal(rigid.point(handle, [0.0; 3]));
        refusal(rigid.state_of(handle));
        refusal(rigid.read(&[ball, handle], &mut [HandleState::default(); 2]));
        refusal(rigid.rigid_body(handle));
    }
    refusal(rigid.point(point, [0.0; 3]));
    refusal(rigid.point(ball, [0.0, NAN, 0.0]));
    refusal(rigid.point(ball, [0.0, 1e300, 0.0]));
    assert!(refusal(rigid.body("bal")).contains("\"ball\""), "the message lists the names there are");
    refusal(rigid.read(&[ball], &mut []));
    let torque = Inputs { loads: vec![(point, Wrench::torque([0.0, 1.0, 0.0]))], ..Inputs::default() };
    refusal(rigid.step(DT, &torque));
    let still = Motion { begin: [HandleState::default()].into(), end: [HandleState::default()].into() };
    refusal(rigid.step(DT, &Inputs { motions: vec![Some(still)], ..Inputs::default() }));
    assert_eq!(hash(&rigid), before);
    assert_eq!(rigid.body("ball").unwrap(), ball);
}

/// Loads from NaN to the largest number: refused, failed with a name, or finite with a note. Rapier
/// squares speeds, and would stop a body whose square overflows, silently.
#[test]
fn absurd_loads_never_leave_nonsense_behind() {
    for size in [1e-320, 1e10, 1e50, 1e99, 1e120, 1e155, 1e200, 1e300, f64::MAX, INF, NAN] {
        let (mut rigid, ball) = world();
        rigid.step(DT, Inputs::NONE).unwrap();
        let before = hash(&rigid);
        for wrench in [Wrench::force([size, 0.0, 0.0]), Wrench::torque([0.0, size, size])] {
            let load = Inputs { loads: vec![(ball, wrench)], ..Inputs::default() };
            let mark = rigid.snapshot(None);
            match rigid.step(DT, &load) {
                Err(error) => {
                    assert!(error.to_string().contains("ball") || error.to_string().contains("load 0"), "{error}");
                    assert_eq!(hash(&rigid), before);
                }
                Ok(report) => {
                    let state = rigid.state_of(ball).unwrap();
                    assert!(state.is_finite());
                    let pushed = size * DT / 4.0 / 4.18 > 1e5 && wrench.linear[0] != 0.0;
                    assert_eq!(pushed, !report.notes.is_empty(), "{size}: {:?}", report.notes);
                    assert!(!pushed || state.velocity[0] > 9e4, "stopped at {:?}", state.velocity);
                    rigid.retract(&mark).unwrap();
                }
            }
        }
    }
}

/// X8: a world without bodies steps.
#[test]
fn an_empty_world_steps() {
    let mut rigid = RigidBodies::new("nothing");
    for _ in 0..20 {
        rigid.step(DT, Inputs::NONE).unwrap();
    }
    let mark = rigid.snapshot(None);
    let again = rigid.snapshot_from_bytes(&mark.to_bytes()).unwrap();
    rigid.retract(&again).unwrap();
    assert_eq!((rigid.time(), rigid.ledger().unwrap().mass), (20.0 * DT, 0.0));
}

/// X2, X4, X5: what a mesh can do without is left out: double vertices (three to a triangle here, as in an
/// STL file), triangles without area, second copies, vertices of no triangle, faces turned the wrong way.
/// The repaired cube has the mass, the centre and the watertight surface of the clean one.
#[test]
fn broken_meshes_are_repaired_where_that_is_clear() {
    let (vertices, triangles) = cube();
    let soup: Vec<[f64; 3]> = triangles.iter().flatten().map(|&v| vertices[v as usize]).collect();
    let loose: Vec<[u32; 3]> = (0..triangles.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    let mut turned = triangles.clone();
    turned.iter_mut().step_by(3).for_each(|t| t.swap(0, 1));
    let inside_out: Vec<[u32; 3]> = triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
    let mut untidy = (vertices.clone(), triangles.clone());
    untidy.0.extend([[9.0, 9.0, 9.0], vertices[0]]);
    untidy.1.extend([[0, 0, 1], [0, 9, 3], triangles[5], [2, 2, 2]]);
    let cases =
        [(soup, loose), (vertices.clone(), turned), (vertices.clone(), inside_out), untidy, (vertices, triangles)];
    for (vertices, triangles) in cases {
        let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
        let body = Body::dynamic(Shape::mesh(vertices, triangles)).at([1.0, 0.0, 0.0]).density(500.0);
        let body = rigid.add("cube", body).unwrap();
        let mass = rigid.ledger().unwrap().mass;
        assert!((mass - 32.0).abs() < 1e-9, "{mass}");
        assert!((rigid.state_of(body).unwrap().position[0] - 1.0).abs() < 1e-12);
        let surface = &rigid.surfaces()[0];
        assert!(!surface.two_sided && surface.vertices.len() == 8 && surface.triangles.len() == 12);
    }
}

/// A body so thin that its surface would be of triangles without area is no body.
#[test]
fn shapes_far_longer_than_wide_are_refused() {
    let mut rigid = RigidBodies::new("rigid");
    let thin = [Shape::cuboid([1e3, 1e-6, 1.0]), Shape::capsule_x(1e3, 1e-6), Shape::cylinder_z(1e-6, 1e3)];
    for shape in thin {
        let error = refusal(rigid.add("thin", Body::fixed(shape)));
        assert!(error.contains("thin") && error.contains("1000.0") && error.contains("1e8"), "{error}");
    }
    for (name, shape) in [
        ("box", Shape::cuboid([99.0, 1e-6, 1.0])),
        ("rod", Shape::capsule_x(99.0, 1e-6)),
        ("disc", Shape::cylinder_z(1e-6, 99.0)),
    ] {
        rigid.add(name, Body::fixed(shape)).unwrap();
    }
    assert_eq!(rigid.surfaces().len(), 3);
}

/// Boxes that touch along an edge, where four triangles then meet, are two closed boxes: one body of twice the mass.
#[test]
fn boxes_that_touch_along_an_edge_may_move() {
    let (mut vertices, mut triangles) = cube();
    triangles.extend(triangles.clone().iter().map(|t| t.map(|v| v + 8)));
    vertices.extend(vertices.clone().iter().map(|[x, y, z]| [x + 0.4, y + 0.4, *z]));
    let mut rigid = RigidBodies::new("rigid");
    let shape = Shape::mesh(vertices, triangles);
    rigid.add("boxes", Body::dynamic(shape).at([0.0, 1.0, 0.0]).density(500.0)).unwrap();
    assert!((rigid.ledger().unwrap().mass - 64.0).abs() < 1e-9);
    assert!(!rigid.surfaces()[0].two_sided && rigid.surfaces()[0].triangles.len() == 24);
}

/// Boxes that touch along an edge are parted there, and each is whole again. A hole elsewhere is what to look at; one
/// at that edge keeps it open.
#[test]
fn an_edge_that_healed_is_not_blamed_for_a_hole() {
    let (mut vertices, mut triangles) = cube();
    triangles.extend(triangles.clone().iter().map(|t| t.map(|v| v + 8)));
    vertices.extend(vertices.clone().iter().map(|[x, y, z]| [x + 0.4, y + 0.4, *z]));
    let touches = |v: &u32| vertices[*v as usize][..2].iter().all(|x| (x - 0.2).abs() < 0.1);
    let with_hole = |corners_at_the_edge: usize| {
        let mut open = triangles.clone();
        let at_edge = |t: &[u32; 3]| t.iter().filter(|v| touches(v)).count() == corners_at_the_edge;
        let missing = open.remove(12 + open[12..].iter().position(at_edge).unwrap());
        let body = Body::dynamic(Shape::mesh(vertices.clone(), open));
        (missing, refusal(RigidBodies::new("rigid").add("boxes", body)))
    };
    let ([a, b, c], error) = with_hole(0);
    let sides = [(a, b), (b, c), (c, a)].map(|(i, j)| edge_between(i.min(j), i.max(j)));
    assert!(error.contains("one triangle at") && sides.iter().any(|side| error.contains(side)), "{error}");

    let (_, error) = with_hole(2);
    let common: Vec<u32> = (0..8).filter(touches).collect();
    let expected = format!("3 triangles at {}", edge_between(common[0], common[1]));
    assert!(error.contains(&expected), "{error}");
}

fn edge_between(a: u32, b: u32) -> String {
    format!("the edge between vertices {a} and {b}")
}

/// X2, X3, X9: what cannot be repaired is refused for a body that moves, with the edge or number; a fixed
/// body may be an open sheet, and is met from both sides.
#[test]
fn open_and_tangled_meshes_are_refused_for_moving_bodies_only() {
    let (vertices, triangles) = cube();
    let without = |n: usize| triangles.iter().copied().enumerate().filter(|(i, _)| *i != n).map(|(_, t)| t).collect();
    let hole: Vec<[u32; 3]> = without(4);
    let mut fin = triangles.clone();
    fin.push([0, 1, 6]);
    let moebius: Vec<[f64; 3]> = (0..5)
        .flat_map(|i| {
            let (a, half) = (f64::from(i) * 1.2566, f64::from(i) * 0.6283);
            [-0.2, 0.2]
                .map(|s: f64| [(1.0 + s * half.cos()) * a.cos(), s * half.sin(), (1.0 + s * half.cos()) * a.sin()])
        })
        .collect();
    let band: Vec<[u32; 3]> = (0..5u32)
        .flat_map(|i| {
            let (a, b) = (2 * i, 2 * i + 1);
            let (c, d) = if i == 4 { (1, 0) } else { (a + 2, a + 3) };
            [[a, b, c], [b, d, c]]
        })
        .collect();
    // A vertex before that no triangle uses shifts the numbers of those that stay, not those that are told.
    let unused: Vec<[f64; 3]> = [[[9.0; 3]].as_slice(), &vertices].concat();
    let shifted = hole.iter().map(|t| t.map(|v| v + 1)).collect();
    let [a, b, c] = triangles[4];
    let hole_at = |v: u32| [(a, b), (b, c), (c, a)].map(|(i, j)| edge_between(v + i.min(j), v + i.max(j)));
    let cases = [
        (vertices.clone(), hole, hole_at(0).to_vec()),
        (unused, shifted, hole_at(1).to_vec()),
        (vertices.clone(), fin, vec![edge_between(0, 1)]),
        (moebius, band, vec!["a twist at the edge between vertices".into()]),
    ];
    for (vertices, triangles, words) in cases {
        let mut rigid = RigidBodies::new("rigid");
        let shape = Shape::mesh(vertices, triangles);
        let error = refusal(rigid.add("moving", Body::dynamic(shape.clone())));
        assert!(words.iter().any(|word| error.contains(word)) && error.contains("hull"), "{error}");
        rigid.add("fixed", Body::fixed(shape)).unwrap();
        assert!(rigid.surfaces()[0].two_sided);
        let ball = rigid.add("ball", Body::dynamic(Shape::ball(0.05)).at([0.05, 1.0, 0.03])).unwrap();
        for _ in 0..240 {
            rigid.step(DT, Inputs::NONE).unwrap();
        }
        assert!(rigid.state_of(ball).unwrap().is_finite());
    }
    let mut rigid = RigidBodies::new("rigid");
    for (vertices, triangles, word) in [
        (vertices.clone(), vec![[0, 1, 8]], "triangle 0"),
        (vertices.clone(), vec![[0, 1, 2], [u32::MAX, 1, 2]], "triangle 1"),
        (vertices.clone(), vec![], "at least one"),
        (vec![], vec![], "at least one"),
        (vec![], vec![[0, 1, 2]], "triangle 0"),
        (vertices.clone(), vec![[0, 0, 1]], "at least one"),
        (vec![[0.0; 3], [1.0, INF, 0.0], [0.0, 1.0, 0.0]], vec![[0, 1, 2]], "vertex 1"),
        (vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 1e300]], vec![[0, 1, 2]], "vertex 2"),
        (vec![[0.5; 3]; 3], vec![[0, 1, 2]], "at least one"),
    ] {
        for body in [
            Body::fixed(Shape::mesh(vertices.clone(), triangles.clone())),
            Body::dynamic(Shape::mesh(vertices, triangles)),
        ] {
            let error = refusal(rigid.add("mesh", body));
            assert!(error.contains(word), "{error}");
        }
    }
    assert!(rigid.surfaces().is_empty() && rigid.handles().is_empty());
}
