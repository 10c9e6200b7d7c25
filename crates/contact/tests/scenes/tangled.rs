//! What crosses at the begin: told of, led apart, never thrown about.

use std::f64::consts::PI;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use partita_contact::{Obstacle, Parameters, Path, Shape, State};
use partita_mesh::Mesh;

use crate::common::{Cloth, Random, flat};

type V3 = Vector3<f64>;

const DT: f64 = 1.0 / 60.0;

/// Goes on until nothing is crossed, within so many steps, and then as long again, in which nothing is any more.
fn comes_apart(cloth: &mut Cloth, paths: &[Path<'_>], crossings: &dyn Fn(&Cloth) -> usize, within: usize) {
    assert!(crossings(cloth) > 0);
    let report = cloth.step(DT, paths);
    assert!(!report.tangled.is_empty() && !cloth.state.is_apart());
    let steps = (1..within).find(|_| {
        cloth.step(DT, paths);
        crossings(cloth) == 0
    });
    let steps = steps.unwrap_or_else(|| panic!("{} are left", crossings(cloth)));
    for _ in 0..steps {
        cloth.step(DT, paths);
        assert_eq!(crossings(cloth), 0);
    }
    assert!(cloth.state.is_apart());
}

fn tilted(size: f64, at: [f64; 3]) -> Mesh {
    flat([9, 9], [size, size], 0.0).turned([0.0, 0.0, 1.0], 0.6).unwrap().at(at).unwrap()
}

/// Two sheets through each other as the strokes of an X; that ends at their borders only, 0.1 m away. And only a corner.
#[test]
fn sheets_that_cross_come_apart() {
    for at in [[0.003, 0.001, 0.002], [0.103, 0.035, 0.032]] {
        let sheets = [flat([10, 10], [0.2, 0.2], 0.0), tilted(0.2, at)];
        let mut cloth = Cloth::new(&Mesh::joined(&sheets).unwrap(), Parameters::default(), vec![]);
        cloth.gravity = V3::zeros();
        comes_apart(&mut cloth, &[], &Cloth::crossings, 300);
    }
}

/// The tip of a cone is through a sheet, a vertex of it inside; of a closed one, which knows that, and of one without all of
/// its base, which does not.
#[test]
fn cloth_comes_off_a_tip() {
    let cone = Mesh::cone(0.06, 0.02, 7).unwrap();
    for triangles in [cone.triangles(), &cone.triangles()[1..]] {
        let shape = Shape::Mesh { vertices: cone.positions(), triangles: triangles.to_vec(), lines: vec![] };
        let mut cloth = Cloth::new(&flat([6, 6], [0.2, 0.2], 0.024), Parameters::default(), vec![Obstacle::new(shape)]);
        cloth.gravity = V3::zeros();
        let crossings = |cloth: &Cloth| cloth.crossings_with(cone.vertices(), triangles);
        comes_apart(&mut cloth, &[Path::still(Isometry3::identity())], &crossings, 200);
    }
}

/// One vertex of a sheet that falls on a plate a millimetre thin is below it: it comes up, none of the others goes down.
#[test]
fn cloth_comes_back_through_a_thin_plate() {
    let plate = Obstacle::new(Shape::Cuboid { half_extents: [0.2, 0.0005, 0.2] }).friction(0.2);
    let mut cloth = Cloth::new(&flat([8, 8], [0.2, 0.2], 0.0015), Parameters::default(), vec![plate]);
    let middle = cloth.x.iter().position(|x| x.xz().norm() < 1e-9).unwrap();
    cloth.x[middle].y = -0.003;
    let below = |cloth: &Cloth| cloth.x.iter().filter(|x| x.y < 0.0005).count();
    comes_apart(&mut cloth, &[Path::still(Isometry3::identity())], &below, 10);
}

/// Two cones press a sheet between their tips until one is through it, and draw back.
#[test]
fn what_is_pierced_closes() {
    let cone = Mesh::cone(0.06, 0.02, 7).unwrap();
    let obstacle =
        Obstacle::new(Shape::Mesh { vertices: cone.positions(), triangles: cone.triangles().to_vec(), lines: vec![] });
    let sheet = flat([6, 6], [0.2, 0.2], 0.0).at([0.005, 0.0, 0.003]).unwrap();
    let mut cloth = Cloth::new(&sheet, Parameters::default(), vec![obstacle.clone(), obstacle]);
    cloth.gravity = V3::zeros();
    // Their tips come from 20 mm apart to 10 mm past each other in half a second, and go back.
    let pose = |step: usize, sign: f64| {
        let apart = 0.02 - 0.03 * (step.min(60) as f64 / 60.0 * PI).sin();
        let turn = UnitQuaternion::from_axis_angle(&V3::x_axis(), if sign > 0.0 { PI } else { 0.0 });
        let tip = V3::new(0.001 * sign, 0.5 * sign * apart, 0.0);
        Isometry3::from_parts((tip - turn * V3::new(0.0, 0.03, 0.0)).into(), turn)
    };
    let (mut pierced, mut pinched) = (0, 0);
    for step in 0..120 {
        let path = |sign| Path::Frame { begin: pose(step, sign), end: pose(step + 1, sign) };
        pinched += cloth.step(DT, &[path(1.0), path(-1.0)]).pinched.len();
        let crossed = |sign| {
            let there: Vec<V3> =
                cone.vertices().iter().map(|v| (pose(step + 1, sign) * Point3::from(*v)).coords).collect();
            cloth.crossings_with(&there, cone.triangles())
        };
        let now = crossed(1.0) + crossed(-1.0);
        pierced += now;
        assert!(step < 100 || now == 0 && cloth.state.is_apart());
        assert_eq!(cloth.crossings(), 0);
    }
    assert!(pierced > 0 && pinched > 0);
}

/// Four sheets through each other at random, with some 150 crossings: both momenta are kept, nothing gets much faster than the
/// thickness a step, 0.06 m/s, that leads it apart (springs that are stretched meanwhile give back up to 20 times that), and
/// most are untangled in 5 s.
#[test]
fn tangles_do_not_explode() {
    let (mut at_first, mut left) = (0, 0);
    for seed in 0..10_u32 {
        let angle = |k: u32| f64::from((seed * 7 + k * 13) % 29) / 29.0 * 6.0;
        let sheet = |k: u32| {
            let axis = [angle(k).sin(), angle(k + 1).cos(), angle(k + 2).sin() + 0.1];
            let at = [0.01 * angle(k), 0.007 * angle(k + 5), 0.009 * angle(k + 6)];
            flat([6, 6], [0.2, 0.2], 0.0).turned(axis, angle(k + 3)).unwrap().at(at).unwrap()
        };
        let mut cloth = Cloth::new(
            &Mesh::joined(&[sheet(0), sheet(1), sheet(2), sheet(3)]).unwrap(),
            Parameters::default(),
            vec![],
        );
        (cloth.gravity, cloth.substeps) = (V3::zeros(), 1);
        at_first += cloth.crossings();
        for _ in 0..300 {
            cloth.step(DT, &[]);
            assert!(cloth.v.iter().all(|v| v.norm() < 2.0), "seed {seed}");
        }
        left += cloth.crossings();
        let momenta = (0..cloth.x.len()).map(|k| (cloth.v[k] / cloth.inverse_masses[k], cloth.x[k]));
        let (whole, angular) = momenta.fold((V3::zeros(), V3::zeros()), |(p, l), (v, x)| (p + v, l + x.cross(&v)));
        // Of 32 g at about 1 m/s: rounding.
        assert!(whole.norm() < 1e-14 && angular.norm() < 1e-12, "seed {seed}: {} {}", whole.norm(), angular.norm());
    }
    assert!(left < at_first / 2, "{left} of {at_first}");
}

/// An obstacle that was not there and appears amid the cloth is told of as if the run began there: with a box also what is in
/// it, to be led out.
#[test]
fn what_appears_is_looked_at() {
    let (sheet, still) = (flat([10, 10], [0.2, 0.2], 0.0), Path::still(Isometry3::identity()));
    let thin = Mesh::cone(0.06, 0.02, 7).unwrap();
    let thin = Shape::Mesh { vertices: thin.positions(), triangles: thin.triangles()[1..].to_vec(), lines: vec![] };
    for (shape, solid) in [(Shape::Cuboid { half_extents: [0.05; 3] }, true), (thin, false)] {
        let mut cloth = Cloth::new(&sheet, Parameters::default(), vec![Obstacle::new(shape)]);
        cloth.gravity = V3::zeros();
        cloth.step(DT, &[Path::Absent]);
        assert!(cloth.state.is_apart());
        let report = cloth.step(DT, std::slice::from_ref(&still));
        assert!(!report.tangled.is_empty() && !cloth.state.is_apart());
        assert_eq!(!cloth.state.inside().is_empty(), solid);
    }
}

/// A sheet that starts 5 mm inside a slab is led out of it, or kept as deep as it is, so that it neither
/// rises nor sinks. Its depth is reported with the thickness by which it has to be out.
#[test]
fn depths_are_kept_where_nothing_is_led_out() {
    let (sheet, still) = (flat([6, 6], [0.2, 0.2], -0.005), Path::still(Isometry3::identity()));
    for kept in [false, true] {
        let slab = Shape::Mesh {
            vertices: Mesh::cuboid([1.0, 0.2, 1.0]).unwrap().at([0.0, -0.1, 0.0]).unwrap().positions(),
            triangles: Mesh::cuboid([1.0, 0.2, 1.0]).unwrap().triangles().to_vec(),
            lines: vec![],
        };
        let mut cloth = Cloth::new(&sheet, Parameters::default(), vec![Obstacle::new(slab)]);
        cloth.state = State::unseen(1);
        if kept {
            cloth.contacts.keep_depths();
        }
        let thickness = 0.5 * cloth.contacts.parameters().thickness;
        for step in 0..20 {
            let report = cloth.step(DT, std::slice::from_ref(&still));
            let deepest = cloth.x.iter().fold(0.0, |deepest: f64, x| deepest.max(-x.y));
            if kept {
                assert!((deepest - 0.005).abs() < 1e-12, "step {step}: {deepest}");
                assert!((report.depth - 0.005 - thickness).abs() < 1e-12, "{}", report.depth);
            } else {
                assert!(deepest < 0.005, "step {step}: {deepest}");
                assert!(report.depth < 0.005 + thickness + 1e-12, "{}", report.depth);
            }
        }
    }
}

/// A blade of one triangle stands through a level one that is twice as wide, both far from each other's corners.
fn pierced() -> (Vec<V3>, [[u32; 3]; 2]) {
    let level = [V3::new(-0.2, 0.0, -0.2), V3::new(0.3, 0.0, -0.2), V3::new(-0.1, 0.0, 0.3)];
    let blade = [V3::new(-0.01, -0.08, 0.02), V3::new(0.03, -0.07, -0.05), V3::new(0.02, 0.06, 0.01)];
    (level.into_iter().chain(blade).collect(), [[0, 1, 2], [3, 4, 5]])
}

/// Where one of two that cross does not give way, be it an obstacle or pinned, the other goes across itself: edges of the blade
/// at right angles to themselves, a triangle along its normal. That of G which is along it moves it through itself. To rounding
/// of directions.
#[test]
fn what_alone_gives_way_goes_across_itself() {
    let (x, triangles) = pierced();
    let normal = (x[1] - x[0]).cross(&(x[2] - x[0])).normalize();
    let judge = |impulses: &[V3], blade: bool| {
        let [from, to, top] = [3, 4, 5].map(|k| x[k]);
        for (k, impulse) in impulses.iter().enumerate() {
            // At the tip there are both edges.
            let along = match k {
                _ if !blade => impulse - normal * normal.dot(impulse),
                0 => (top - from) * (top - from).dot(impulse) / (top - from).norm_squared(),
                1 => (top - to) * (top - to).dot(impulse) / (top - to).norm_squared(),
                _ => V3::zeros(),
            };
            assert!(impulse.norm() > 0.0 && along.norm() < 1e-12 * impulse.norm(), "vertex {k}: {impulse} {along}");
        }
    };
    for blade in [true, false] {
        // The one that is met in its frame, by its points, or held by pins.
        let (own, other) = if blade { (3..6, 0..3) } else { (0..3, 3..6) };
        let points = x[other.clone()].to_vec();
        let shape = Shape::Mesh {
            vertices: points.iter().map(|&x| x.into()).collect(),
            triangles: vec![[0, 1, 2]],
            lines: vec![],
        };
        for path in [Path::still(Isometry3::identity()), Path::Points { begin: &points, end: &points }] {
            let obstacle = Obstacle::new(shape.clone());
            let mut cloth = Cloth::of(x[own.clone()].to_vec(), &[[0, 1, 2]], Parameters::default(), vec![obstacle]);
            cloth.gravity = V3::zeros();
            let report = cloth.step(DT, std::slice::from_ref(&path));
            assert_eq!((report.tangled.len(), report.contacts, report.impacts), (3, 0, 0));
            judge(cloth.contacts.impulses(), blade);
            // What led it apart is taken from the obstacle, torque included: rounding of some 10 impulses.
            let impulses = cloth.contacts.impulses().iter().zip(&x[own.clone()]);
            let (mut linear, mut angular) =
                impulses.fold((V3::zeros(), V3::zeros()), |(p, l), (impulse, x)| (p + impulse, l + x.cross(impulse)));
            let size = linear.norm();
            for reaction in cloth.contacts.reactions() {
                let arm = points.get(reaction.carrier as usize).filter(|_| matches!(path, Path::Points { .. }));
                linear += reaction.linear;
                angular += reaction.angular + arm.map_or(V3::zeros(), |arm| arm.cross(&reaction.linear));
            }
            assert!(linear.norm() < 1e-14 * size.max(1e-3) && angular.norm() < 1e-14 * size.max(1e-3));
            assert!(!cloth.contacts.reactions().is_empty());
        }
        let mut cloth = Cloth::of(x.clone(), &triangles, Parameters::default(), vec![]);
        cloth.gravity = V3::zeros();
        other.for_each(|k| cloth.inverse_masses[k] = 0.0);
        cloth.step(DT, &[]);
        judge(&cloth.contacts.impulses()[own], blade);
    }
}

/// What crosses is led apart by a thickness a step, into however many intervals an obstacle that turns cuts it: speeds about the
/// same, where by a thickness an interval they would be those of a step many times shorter.
#[test]
fn a_turning_obstacle_does_not_lead_apart_faster() {
    let run = |angle: f64| {
        let box_beside = Obstacle::new(Shape::Cuboid { half_extents: [20.0; 3] });
        let sheets = Mesh::joined(&[flat([4, 4], [0.2, 0.2], 0.0), tilted(0.2, [0.003, 0.001, 0.002])]).unwrap();
        let mut cloth = Cloth::new(&sheets, Parameters::default(), vec![box_beside]);
        cloth.gravity = V3::zeros();
        let at = |angle: f64| Isometry3::new(V3::new(30.0, 0.0, 0.0), V3::new(angle, 0.0, 0.0));
        let report = cloth.step(DT, &[Path::Frame { begin: at(0.0), end: at(angle) }]);
        assert!(!report.tangled.is_empty() && (report.parts > 10 || angle == 0.0));
        cloth.v.iter().map(|v| v.norm()).fold(0.0, f64::max)
    };
    let still = run(0.0);
    for angle in [0.1, 1.0] {
        let turning = run(angle);
        assert!(turning < 2.0 * still, "{turning} m/s instead of {still}");
    }
}

/// `State::is_apart` is true only where nothing crosses. Boxes start inside a sheet that is held by its corners, and tumble:
/// cloth that is led out may cross a box again within a step that starts without a crossing.
#[test]
fn what_is_known_to_be_apart_is_apart() {
    let size = [0.06, 0.09, 0.042];
    let cuboid = Mesh::cuboid(size).unwrap();
    let mut random = Random(7);
    let mut known = 0;
    for scene in 0..24 {
        let shape = Shape::Cuboid { half_extents: size.map(|size| 0.5 * size) };
        let mut cloth = Cloth::new(&flat([6, 6], [0.3, 0.3], 0.0), Parameters::default(), vec![Obstacle::new(shape)]);
        cloth.gravity = V3::zeros();
        [0, 6, 42, 48].into_iter().for_each(|corner| cloth.inverse_masses[corner] = 0.0);
        let [at, way, turned, turn] = [0.05, 0.01, 3.0, 0.2].map(|size| size * random.vector());
        let turned = UnitQuaternion::from_scaled_axis(turned);
        let pose = |step: i32| {
            let step = f64::from(step);
            let turn = UnitQuaternion::from_scaled_axis(step * turn);
            Isometry3::from_parts((at + step * way).into(), turn * turned)
        };
        for step in 0..30 {
            let [begin, end] = [pose(step), pose(step + 1)];
            cloth.step(DT, &[Path::Frame { begin, end }]);
            let corners: Vec<V3> = cuboid.vertices().iter().map(|x| (end * Point3::from(*x)).coords).collect();
            let crossings = cloth.crossings_with(&corners, cuboid.triangles());
            assert!(crossings == 0 || !cloth.state.is_apart(), "scene {scene} step {step}: {crossings}");
            known += i32::from(cloth.state.is_apart());
        }
    }
    assert!(known > 240, "only {known} of 720 steps end apart");
}
