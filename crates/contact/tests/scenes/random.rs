//! Cloth and obstacles at random: what nobody thought of.
//!
//! Every scene is made so that nothing crosses or touches at its begin. Judged is by exact crossings, and by distances of
//! all pairs, none left out by a search.

use std::cell::Cell;

use crate::{
    common::{Random, flat},
    sample::takes_all,
};
use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use partita_contact::{
    ContactError, Contacts, Features, Kind, Obstacle, Parameters, Path, Report, Shape, State, Step, crossings, nearest,
    rounding,
};
use partita_mesh::Mesh;
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

type V3 = Vector3<f64>;

/// A piece of cloth, before it is put in its place.
#[derive(Debug, Clone)]
enum Piece {
    /// Triangles one by one, slivers too.
    Soup(Vec<[V3; 3]>),
    /// Level sheets at 1.01 of the thickness.
    Stack(u32),
    Sheet([u32; 2]),
}

#[derive(Debug, Clone)]
enum Body {
    Ball(f64),
    Capsule(f64, f64),
    Box([f64; 3]),
    HalfSpace,
    /// A closed mesh, a sheet, one triangle: moved by its frame, or else by its points, each by so much on its own.
    Mesh(u32, Option<f64>),
}

/// Where something is, and where it goes from there.
#[derive(Debug, Clone)]
struct Motion {
    at: V3,
    turned: V3,
    way: V3,
    turn: V3,
}

#[derive(Debug, Clone)]
struct Scene {
    pieces: Vec<(Piece, Motion)>,
    /// Of all vertices `[m]` in a step, by so much in disorder.
    disorder: f64,
    bodies: Vec<(Body, Motion)>,
    thickness: f64,
    friction: f64,
    seed: u64,
}

fn vector(size: f64) -> impl Strategy<Value = V3> {
    prop::array::uniform3(-size..=size).prop_map(V3::from)
}

/// From 0.01 to 1 of `most`, or nothing.
fn amount(most: f64) -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), (-2.0..=0.0_f64).prop_map(move |power| most * 10.0_f64.powf(power))]
}

fn motion(reach: f64, way: f64, turn: f64) -> impl Strategy<Value = Motion> {
    let turn = prop_oneof![Just(0.0), Just(turn), 0.0..=turn];
    (vector(reach), vector(3.0), (vector(1.0), amount(way)), (vector(1.0), turn)).prop_map(
        |(at, turned, (to, way), (axis, turn))| Motion {
            at,
            turned,
            way: way * to,
            turn: turn * axis.try_normalize(1e-3).unwrap_or_else(V3::x),
        },
    )
}

fn piece() -> impl Strategy<Value = Piece> {
    let triangle = prop_oneof![
        prop::array::uniform3(vector(0.05)),
        (vector(0.06), vector(0.06), 0.0..=1.0_f64, vector(1e-5)).prop_map(|(a, b, s, off)| [
            a,
            b,
            a.lerp(&b, s) + off
        ]),
    ];
    prop_oneof![
        prop::collection::vec(triangle, 1..6).prop_map(Piece::Soup),
        (2..5_u32).prop_map(Piece::Stack),
        prop::array::uniform2(1..4_u32).prop_map(Piece::Sheet),
    ]
}

fn body() -> impl Strategy<Value = Body> {
    prop_oneof![
        (0.005..0.05).prop_map(Body::Ball),
        (0.01..0.06, 0.005..0.02).prop_map(|(half, radius)| Body::Capsule(half, radius)),
        prop::array::uniform3(0.005..0.05).prop_map(Body::Box),
        Just(Body::HalfSpace),
        (0..3_u32, prop::option::of(amount(0.02))).prop_map(|(which, own)| Body::Mesh(which, own)),
    ]
}

fn scene() -> impl Strategy<Value = Scene> {
    (
        prop::collection::vec((piece(), motion(0.05, 0.1, 0.0)), 1..4),
        amount(0.05),
        prop::collection::vec((body(), motion(0.08, 0.1, 1.0)), 0..3),
        prop_oneof![Just(1e-3), Just(5e-3), Just(1e-4)],
        prop_oneof![Just(0.0), Just(0.5)],
        any::<u64>(),
    )
        .prop_map(|(pieces, disorder, bodies, thickness, friction, seed)| Scene {
            pieces,
            disorder,
            bodies,
            thickness,
            friction,
            seed,
        })
}

fn pose(motion: &Motion, step: f64) -> Isometry3<f64> {
    let turned = UnitQuaternion::from_scaled_axis(motion.turned);
    let turn = UnitQuaternion::from_scaled_axis(step * motion.turn);
    Isometry3::from_parts((motion.at + step * motion.way).into(), turn * turned)
}

/// The triangles and edges of cloth at the begin, and where each vertex is and goes.
struct Surface {
    features: Features,
    x: Vec<V3>,
    way: Vec<V3>,
}

impl Surface {
    fn of(scene: &Scene) -> Self {
        let (mut x, mut way, mut triangles) = (vec![], vec![], vec![]);
        for (piece, motion) in &scene.pieces {
            let meshes: Vec<Mesh> = match piece {
                Piece::Soup(_) => vec![],
                Piece::Stack(layers) => {
                    (0..*layers).map(|k| flat([2, 2], [0.06, 0.06], 1.01 * scene.thickness * f64::from(k))).collect()
                }
                Piece::Sheet(cells) => vec![flat(*cells, [0.08, 0.08], 0.0)],
            };
            let pose = pose(motion, 0.0);
            let mut add = |points: &[V3], corners: &[[u32; 3]]| {
                let first = x.len() as u32;
                x.extend(points.iter().map(|&p| (pose * Point3::from(p)).coords));
                way.resize(x.len(), motion.way);
                triangles.extend(corners.iter().map(|t| t.map(|v| v + first)));
            };
            meshes.iter().for_each(|mesh| add(mesh.vertices(), mesh.triangles()));
            if let Piece::Soup(list) = piece {
                list.iter().for_each(|corners| add(corners, &[[0, 1, 2]]));
            }
        }
        let mut random = Random(scene.seed);
        way.iter_mut().for_each(|way| *way += scene.disorder * random.vector());
        Self { features: Features::new(x.len(), &triangles, &[]).unwrap(), x, way }
    }
}

/// An obstacle as it is judged: features with a radius around them, over vertices of its own.
struct Judged {
    obstacle: Obstacle,
    features: Features,
    radius: f64,
    half_space: bool,
    vertices: Vec<V3>,
    motion: Motion,
    /// Ways of its points on their own in a step `[m]`, where it is moved by them.
    own: Option<Vec<V3>>,
}

impl Judged {
    fn of((body, motion): &(Body, Motion), friction: f64, seed: u64) -> Self {
        let box_of = |half: &[f64; 3]| Mesh::cuboid(half.map(|half| 2.0 * half)).unwrap();
        let of_mesh = |mesh: &Mesh| (mesh.vertices().to_vec(), mesh.triangles().to_vec());
        let ((vertices, triangles), edges, radius, shape) = match body {
            Body::Ball(radius) => ((vec![V3::zeros()], vec![]), vec![], *radius, Shape::Ball { radius: *radius }),
            &Body::Capsule(half_length, radius) => {
                let ends = vec![-V3::x() * half_length, V3::x() * half_length];
                ((ends, vec![]), vec![[0, 1]], radius, Shape::Capsule { half_length, radius })
            }
            Body::Box(half) => (of_mesh(&box_of(half)), vec![], 0.0, Shape::Cuboid { half_extents: *half }),
            Body::HalfSpace => ((vec![], vec![]), vec![], 0.0, Shape::HalfSpace),
            Body::Mesh(which, _) => {
                let mesh = match which {
                    0 => Mesh::ball(0.04, 0).unwrap(),
                    1 => flat([2, 2], [0.1, 0.1], 0.0),
                    _ => Mesh::new(&[[0.05, 0.0, 0.0], [-0.03, 0.0, 0.04], [-0.03, 0.0, -0.04]], &[[0, 1, 2]]).unwrap(),
                };
                let shape =
                    Shape::Mesh { vertices: mesh.positions(), triangles: mesh.triangles().to_vec(), lines: vec![] };
                (of_mesh(&mesh), vec![], 0.0, shape)
            }
        };
        let mut random = Random(seed);
        let own = match body {
            Body::Mesh(_, Some(own)) => Some(vertices.iter().map(|_| *own * random.vector()).collect()),
            _ => None,
        };
        // Points go straight, so their frame must not turn.
        let turn = if own.is_some() { V3::zeros() } else { motion.turn };
        Self {
            obstacle: Obstacle::new(shape).friction(friction),
            features: Features::new(vertices.len(), &triangles, &edges).unwrap(),
            radius,
            half_space: matches!(body, Body::HalfSpace),
            vertices,
            motion: Motion { turn, ..motion.clone() },
            own,
        }
    }

    fn at(&self, step: f64) -> Vec<V3> {
        let pose = pose(&self.motion, step);
        let own = |k: usize| self.own.as_ref().map_or(V3::zeros(), |own| step * own[k]);
        self.vertices.iter().enumerate().map(|(k, &v)| (pose * Point3::from(v)).coords + own(k)).collect()
    }

    /// Features of the cloth, by their vertices, that are not as they have to be at `x` when this is as at `step`.
    fn faults(&self, cloth: &Features, x: &[V3], step: f64) -> Vec<Vec<u32>> {
        if self.half_space {
            let pose = pose(&self.motion, step);
            let height = |v: u32| pose.inverse_transform_point(&x[v as usize].into()).y;
            return (0..x.len() as u32).filter(|&v| height(v) < -rounding(1.0)).map(|v| vec![v]).collect();
        }
        let others = self.at(step);
        let of = |t: &[u32; 3]| t.map(|v| x[v as usize]);
        if self.radius > 0.0 {
            // A ball is met by triangles, a capsule by points and edges, and by triangles with its ends.
            let gap = |kind: Kind, at: [V3; 4]| nearest(kind, &at).distance() - self.radius;
            let near_end = |t: &[u32; 3]| {
                let [a, b, c] = of(t);
                others.iter().any(|&end| gap(Kind::PointTriangle, [end, a, b, c]) < -rounding(1.0))
            };
            let mut found: Vec<Vec<u32>> =
                cloth.triangles().iter().filter(|t| near_end(t)).map(|t| t.to_vec()).collect();
            if let &[from, to] = others.as_slice() {
                let near_axis = |&&[a, b]: &&[u32; 2]| {
                    gap(Kind::EdgeEdge, [x[a as usize], x[b as usize], from, to]) < -rounding(1.0)
                };
                found.extend(cloth.edges().iter().filter(near_axis).map(|edge| edge.to_vec()));
                found.extend(self.through(cloth, x, &others));
            }
            return found;
        }
        self.through(cloth, x, &others)
    }

    /// Features of the cloth with which an edge or triangle of this crosses.
    fn through(&self, cloth: &Features, x: &[V3], others: &[V3]) -> Vec<Vec<u32>> {
        let n = x.len() as u32;
        let all: Vec<V3> = x.iter().chain(others).copied().collect();
        let edges: Vec<_> = self.features.edges().iter().map(|edge| edge.map(|v| v + n)).collect();
        let triangles: Vec<_> = self.features.triangles().iter().map(|t| t.map(|v| v + n)).collect();
        let by_edges = crossings(&all, &edges, cloth.triangles());
        let by_triangles = crossings(&all, cloth.edges(), &triangles);
        let mut found: Vec<Vec<u32>> =
            by_edges.iter().map(|[_, triangle]| cloth.triangles()[*triangle as usize].to_vec()).collect();
        found.extend(by_triangles.iter().map(|[edge, _]| cloth.edges()[*edge as usize].to_vec()));
        found
    }

    /// The least distance of the cloth from it.
    fn gap(&self, cloth: &Features, x: &[V3]) -> f64 {
        if self.half_space {
            let pose = pose(&self.motion, 0.0);
            return x.iter().map(|&x| pose.inverse_transform_point(&x.into()).y).fold(f64::INFINITY, f64::min);
        }
        let others = self.at(0.0);
        let [own, its] = [(x, cloth), (&others[..], &self.features)];
        let mut least = f64::INFINITY;
        let mut note = |kind, at: [V3; 4]| least = least.min(nearest(kind, &at).distance());
        for ((points, _), (x, features)) in [(own, its), (its, own)] {
            for (&p, t) in points.iter().flat_map(|p| features.triangles().iter().map(move |t| (p, t))) {
                let [a, b, c] = t.map(|v| x[v as usize]);
                note(Kind::PointTriangle, [p, a, b, c]);
            }
        }
        for edge in cloth.edges() {
            let [a, b] = edge.map(|v| x[v as usize]);
            for other in self.features.edges() {
                let [c, d] = other.map(|v| others[v as usize]);
                note(Kind::EdgeEdge, [a, b, c, d]);
            }
        }
        least - self.radius
    }
}

fn own_crossings(features: &Features, x: &[V3]) -> usize {
    crossings(x, features.edges(), features.triangles()).len()
}

/// All that a step gives.
type Given = (Vec<V3>, Vec<V3>, State, Report);

const STEPS: u32 = 3;
const DT: f64 = 1.0 / 120.0;

fn resolved(
    contacts: &mut Contacts,
    x: &[V3],
    way: &[V3],
    state: &State,
    paths: &[Path<'_>],
) -> Result<Given, ContactError> {
    let mut end: Vec<V3> = x.iter().zip(way).map(|(x, way)| x + way).collect();
    let mut state = state.clone();
    // From heavy to light.
    let inverse_masses: Vec<f64> = (0..x.len()).map(|k| 1e3 * 10.0_f64.powi((k % 4) as i32)).collect();
    let step = Step { dt: DT, begin: x, velocities: None, inverse_masses: &inverse_masses, paths };
    let report = contacts.resolve(&mut state, &step, &mut end)?;
    Ok((end, contacts.impulses().to_vec(), state, report))
}

/// How often what happened, so that it is known that something did.
#[derive(Default)]
struct Tally {
    steps: Cell<usize>,
    contacts: Cell<usize>,
    impacts: Cell<usize>,
    turning: Cell<usize>,
    pinched: Cell<usize>,
}

fn count(cell: &Cell<usize>, by: usize) {
    cell.set(cell.get() + by);
}

fn judge(scene: &Scene, tally: &Tally) -> Result<(), TestCaseError> {
    let surface = Surface::of(scene);
    let features = &surface.features;
    let bodies: Vec<Judged> =
        (0..).zip(&scene.bodies).map(|(k, body)| Judged::of(body, scene.friction, scene.seed ^ k)).collect();
    let clear = own_crossings(features, &surface.x) == 0
        && bodies
            .iter()
            .all(|body| body.gap(features, &surface.x) > 1e-9 && body.faults(features, &surface.x, 0.0).is_empty());
    prop_assume!(clear);

    // Without a limit of work, nothing may cross.
    let (thickness, friction) = (scene.thickness, scene.friction);
    let parameters = Parameters { thickness, friction, visits: u32::MAX, ..Parameters::default() };
    let obstacles = || bodies.iter().map(|body| body.obstacle.clone()).collect();
    let made = || Contacts::new(features.clone(), parameters, obstacles()).unwrap();
    let mut contacts = made();
    let (mut x, mut state) = (surface.x.clone(), State::default());
    for step in 0..STEPS {
        let [begin, end] = [f64::from(step), f64::from(step + 1)];
        let places: Vec<_> = bodies.iter().map(|body| (body.at(begin), body.at(end))).collect();
        let paths: Vec<Path<'_>> = (bodies.iter().zip(&places))
            .map(|(body, (from, to))| match body.own {
                Some(_) => Path::Points { begin: from, end: to },
                None => Path::Frame { begin: pose(&body.motion, begin), end: pose(&body.motion, end) },
            })
            .collect();
        let given = match resolved(&mut contacts, &x, &surface.way, &state, &paths) {
            Err(ContactError::Touching { .. }) if step == 0 => return Err(TestCaseError::reject("touching")),
            given => given.unwrap(),
        };
        // The same bits again, from new memory.
        prop_assert!(resolved(&mut made(), &x, &surface.way, &state, &paths).unwrap() == given, "another result");
        let (to, impulses, after, report) = given;
        prop_assert!(to.iter().chain(&impulses).all(|x| x.iter().all(|c| c.is_finite())), "not finite");
        count(&tally.steps, 1);
        count(&tally.contacts, report.contacts);
        count(&tally.impacts, report.impacts);
        count(&tally.pinched, usize::from(!report.pinched.is_empty()));

        let is_pinched = |feature: &Vec<u32>| feature.iter().any(|v| report.pinched.contains(v));
        // Where nothing turns and the step has one part, the way is straight, and is looked at all along.
        let turns = bodies.iter().any(|body| body.motion.turn != V3::zeros());
        count(&tally.turning, usize::from(turns));
        let straight = !turns && report.parts == 1;
        for part in (1..=8).map(|k| f64::from(k) / 8.0).skip(if straight { 0 } else { 7 }) {
            let at: Vec<V3> = x.iter().zip(&to).map(|(x, to)| x.lerp(to, part)).collect();
            let at = if part == 1.0 { &to } else { &at };
            prop_assert_eq!(own_crossings(features, at), 0, "cloth through cloth at {} of step {}", part, step);
            for (k, body) in bodies.iter().enumerate() {
                let mut faults = body.faults(features, at, begin + part);
                faults.retain(|feature| !is_pinched(feature));
                prop_assert!(faults.is_empty(), "{faults:?} through {k} at {part} of step {step}: {report:?}");
            }
        }
        (x, state) = (to, after);
        if !report.pinched.is_empty() {
            break;
        }
    }
    Ok(())
}

/// Nothing that does not cross at the begin crosses at the end: cloth and cloth never, cloth and an obstacle only where a
/// vertex is named as pinched. All numbers are finite, and the same a second time.
#[test]
fn nothing_comes_to_cross_in_random_scenes() {
    let tally = Tally::default();
    let cases = if takes_all() { 800 } else { 200 };
    let config = Config { cases, max_global_rejects: 20_000, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, proptest::test_runner::TestRng::deterministic_rng(Default::default()))
        .run(&scene(), |scene| judge(&scene, &tally))
        .unwrap();
    let [steps, contacts, impacts, turning, pinched] =
        [&tally.steps, &tally.contacts, &tally.impacts, &tally.turning, &tally.pinched].map(Cell::get);
    println!(
        "{steps} steps, {turning} with something that turns, {contacts} contacts, {impacts} impacts, {pinched} pinch"
    );
    assert!(contacts > 1000 && impacts > 1000 && turning > 100 && pinched > 0 && pinched < steps / 4);
}
