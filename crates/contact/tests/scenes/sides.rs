//! Which side of an obstacle is out.

use crate::common::{Cloth, flat};
use nalgebra::{Isometry3, Vector3};
use partita_contact::{Contacts, Features, Obstacle, Pair, Parameters, Path, Shape, State, Step};
use partita_mesh::Mesh;

type V3 = Vector3<f64>;

fn mesh(of: &Mesh) -> Shape {
    Shape::Mesh { vertices: of.positions(), triangles: of.triangles().to_vec(), lines: vec![] }
}

/// A sheet laid exactly on top of a solid, at no distance from its faces, edges and corners, or by rounding a little below,
/// is kept on top, without any state. Where its edges lie along those of the solid, as with six cells, it may stay there.
#[test]
fn what_touches_a_solid_stays_outside() {
    let solid = Mesh::cuboid([0.1, 0.05, 0.1]).unwrap();
    let top = solid.bounds()[1][1];
    let points = solid.vertices().to_vec();
    let frame = Path::still(Isometry3::identity());
    let still = Path::Points { begin: &points, end: &points };
    let half = solid.bounds()[1];
    let plane = Path::still(Isometry3::translation(0.0, top, 0.0));
    let cases = [
        ("box", Shape::Cuboid { half_extents: half }, &frame),
        ("mesh by frame", mesh(&solid), &frame),
        ("mesh by points", mesh(&solid), &still),
        ("half-space", Shape::HalfSpace, &plane),
    ];
    for (name, shape, path) in cases {
        // Wider than the solid: its corners touch triangles and its edges edges.
        for (cells, below) in [([4, 4], 0.0), ([5, 5], 0.0), ([6, 6], 0.0), ([4, 4], 1e-16), ([5, 5], -1e-16)] {
            let obstacle = Obstacle::new(shape.clone()).friction(0.5);
            let mut cloth = Cloth::new(&flat(cells, [0.3, 0.3], 0.0), Parameters::default(), vec![obstacle]);
            cloth.x.iter_mut().for_each(|x| x.y = top - below);
            let over = |x: &V3| x.x.abs() < half[0] - 1e-3 && x.z.abs() < half[2] - 1e-3;
            let over: Vec<usize> = (0..cloth.x.len()).filter(|&k| over(&cloth.x[k])).collect();
            for i in 0..30 {
                cloth.step(1.0 / 120.0, std::slice::from_ref(path));
                let low = over.iter().map(|&k| cloth.x[k].y).fold(f64::INFINITY, f64::min);
                assert!(low >= top, "{name} {cells:?} {below} step {i}: {low}");
                let through = cloth.crossings_with(solid.vertices(), solid.triangles());
                assert!(name == "half-space" || through == 0, "{name} {cells:?} {below} step {i}: {through}");
                assert_eq!(cloth.crossings(), 0, "{name} {cells:?} {below} step {i}");
            }
        }
    }
}

/// A one-sided mesh stops what comes from outside and lets pass what comes from behind, faces, edges and corners alike.
#[test]
fn a_one_sided_mesh_is_met_from_outside_only() {
    let plate = flat([3, 3], [0.4, 0.4], 0.0);
    let [a, b, c] = plate.triangles()[0].map(|v| plate.vertices()[v as usize]);
    let up = (b - a).cross(&(c - a)).y.signum();
    for sign in [1.0, -1.0] {
        for one_sided in [true, false] {
            let mut obstacle = Obstacle::new(mesh(&plate));
            obstacle.one_sided = one_sided;
            let mut cloth = Cloth::new(&flat([7, 7], [0.2, 0.2], 0.02), Parameters::default(), vec![obstacle]);
            cloth.gravity = V3::zeros();
            // Above moving down, or below moving up; a little askew, so that edges meet edges.
            for (k, (x, v)) in cloth.x.iter_mut().zip(&mut cloth.v).enumerate() {
                x.y = sign * (x.y + 0.1 * x.x + 1e-3 * (k % 5) as f64);
                v.y = -sign;
            }
            for _ in 0..30 {
                let report = cloth.step(1.0 / 240.0, &[Path::still(Isometry3::identity())]);
                assert!(report.pinched.is_empty());
            }
            let stopped = !one_sided || sign == up;
            let side = if stopped { sign } else { -sign };
            assert!(cloth.x.iter().all(|x| x.y * side > 0.0), "from {sign}, one-sided {one_sided}");
            // What passes freely keeps its speed, but for its springs, which are off their rest by a few millimetres.
            let kept = cloth.v.iter().all(|v| (v.y + sign).abs() < 0.1);
            assert_eq!(kept, !stopped, "from {sign}, one-sided {one_sided}");
        }
    }
}

/// A pair by itself, as asynchronous cloth asks for it: behind a one-sided mesh or crossing it is left alone. Inside
/// a solid each of its three vertices is led out, and nothing else.
#[test]
fn a_pair_knows_its_side() {
    let plate = flat([3, 3], [0.4, 0.4], 0.0);
    let [a, b, c] = plate.triangles()[0].map(|v| plate.vertices()[v as usize]);
    let up = (b - a).cross(&(c - a)).y.signum();
    let still = [Path::still(Isometry3::identity())];
    let pushed = |obstacle: Obstacle, inside: bool, corners: [V3; 3]| {
        let features = Features::new(3, &[[0, 1, 2]], &[]).unwrap();
        let mut contacts = Contacts::new(features, Parameters::default(), vec![obstacle]).unwrap();
        let state = if inside { contacts.look(&corners, &still) } else { State::default() };
        let step = Step { dt: 0.01, begin: &corners, velocities: None, inverse_masses: &[1e3; 3], paths: &still };
        contacts.find_pairs(&state, &step, &corners).unwrap();
        let x = contacts.vertices().0;
        let push = |pair: &Pair| {
            let w = pair.vertices.map(|v| if v < 3 { 1e3 } else { 0.0 });
            contacts.push_apart(pair, &pair.vertices.map(|v| x[v as usize]), &[V3::zeros(); 4], &w, 0.01)
        };
        contacts.due_pairs().iter().filter_map(push).count()
    };
    let level = |height: f64| [[0.01, 0.02], [0.05, 0.03], [0.02, 0.06]].map(|[x, z]| V3::new(x, height, z));
    let one_sided = Obstacle::new(mesh(&plate)).one_sided();
    assert!(pushed(one_sided.clone(), false, level(3e-4 * up)) > 0);
    assert_eq!(pushed(one_sided, false, level(-3e-4 * up)), 0);
    let solid = || Obstacle::new(Shape::Cuboid { half_extents: [0.1, 0.01, 0.1] });
    assert!(pushed(solid(), true, level(0.01 + 3e-4)) > 0);
    assert_eq!(pushed(solid(), true, level(0.01 - 3e-4)), 3);
    let [a, b, c] = level(3e-4);
    assert!(pushed(Obstacle::new(mesh(&plate)), false, [a, b, c]) > 0);
    assert_eq!(pushed(Obstacle::new(mesh(&plate)), false, [a, b, V3::new(c.x, -3e-4, c.z)]), 0);
}

/// A sheet that is fixed to a box at one vertex, a little inside it, stays so while the others lie on the box.
#[test]
fn what_is_fixed_to_an_obstacle_does_not_meet_it() {
    let still = [Path::still(Isometry3::identity())];
    let sheet = flat([8, 8], [0.2, 0.2], 0.011);
    let middle = sheet.vertices().iter().position(|x| x.xz().norm() < 1e-9).unwrap();
    for fixed in [true, false] {
        let except = if fixed { vec![middle as u32] } else { vec![] };
        let obstacle = Obstacle::new(Shape::Cuboid { half_extents: [0.2, 0.01, 0.2] }).friction(0.3).except(except);
        let mut cloth = Cloth::new(&sheet, Parameters::default(), vec![obstacle]);
        cloth.x[middle].y = 0.009;
        cloth.inverse_masses[middle] = 0.0;
        let (mut inside, mut tangled) = (0, 0);
        for _ in 0..60 {
            let report = cloth.step(1.0 / 240.0, &still);
            tangled += report.tangled.len();
            inside += cloth.state.inside().len();
            // A pin that is inside is led out by nobody.
            assert!(cloth.x.iter().enumerate().all(|(k, x)| k == middle || x.y > 0.01));
        }
        assert_eq!(inside + tangled == 0, fixed);
    }
}

/// Which side of a tip is out does not depend on how many triangles one of its faces is cut into: no point that goes straight at
/// it gets past.
#[test]
fn a_tip_is_met_from_all_sides() {
    // Nearly flat, up along y: one face of a single triangle to +x, and one to -x in a fan.
    let (low, width, depth, fan) = (-0.1, 0.05, 0.004, 24_u32);
    let mut vertices = vec![[0.0; 3], [depth, low, 0.0], [-depth, low, -width], [-depth, low, width]];
    vertices.extend((1..fan).map(|k| [-depth, low, width * (2.0 * f64::from(k) / f64::from(fan) - 1.0)]));
    let along: Vec<u32> = std::iter::once(2).chain(4..4 + fan - 1).chain([3]).collect();
    let mut triangles = vec![[0, 1, 2], [0, 3, 1]];
    triangles.extend(along.windows(2).map(|two| [0, two[0], two[1]]));
    let [a, b, c] = [0, 1, 2].map(|k: usize| V3::from(vertices[triangles[0][k] as usize]));
    let outward = (b - a).cross(&(c - a)).x > 0.0;
    if !outward {
        triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }
    for k in 0..16 {
        // Straight at the tip, from +x through above to -x.
        let angle = std::f64::consts::PI * (f64::from(k) + 0.5) / 16.0;
        let from = V3::new(angle.cos(), angle.sin(), 0.0);
        let shape = Shape::Mesh { vertices: vertices.clone(), triangles: triangles.clone(), lines: vec![] };
        let obstacle = Obstacle::new(shape).one_sided();
        let features = Features::new(1, &[], &[]).unwrap();
        let mut contacts = Contacts::new(features, Parameters::default(), vec![obstacle]).unwrap();
        let (begin, mut end) = ([0.01 * from], [-0.01 * from]);
        let paths = [Path::still(Isometry3::identity())];
        let step = Step { dt: 0.01, begin: &begin, velocities: None, inverse_masses: &[1e3], paths: &paths };
        contacts.resolve(&mut State::default(), &step, &mut end).unwrap();
        assert!(end[0].dot(&from) > 0.0, "from {from}: {}", end[0]);
    }
}
