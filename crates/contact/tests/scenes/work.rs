//! Limits of the work of a step.

use crate::common::{Cloth, flat};
use nalgebra::{Isometry3, Vector3};
use partita_contact::{Obstacle, Parameters, Path, Shape};
use partita_mesh::Mesh;

type V3 = Vector3<f64>;

fn mesh_of(mesh: &Mesh) -> Shape {
    Shape::Mesh { vertices: mesh.positions(), triangles: mesh.triangles().to_vec(), lines: vec![] }
}

/// A sheet of 100 vertices, and a ball of 5120 triangles that goes through all of it in its plane within one step.
fn jump(parameters: Parameters) -> (Cloth, [Path<'static>; 1]) {
    let sheet = flat([9, 9], [0.5, 0.5], 0.0);
    let ball = Obstacle::new(mesh_of(&Mesh::ball(0.1, 4).unwrap())).friction(0.3);
    let [begin, end] = [-0.6, 0.6].map(|x| Isometry3::translation(x, 0.01, 0.0));
    (Cloth::new(&sheet, parameters, vec![ball]), [Path::Frame { begin, end }])
}

/// Pairs that are tested stay within the visits that a step may take, whatever happens in it. With few, cloth may pass through
/// and the report says so; with the default it does not.
#[test]
fn the_work_of_a_step_is_bounded_by_a_count() {
    for visits in [1, 100, 1000, Parameters::default().visits] {
        let (mut cloth, path) = jump(Parameters { visits, ..Parameters::default() });
        let allowed = visits as usize * cloth.x.len();
        let report = cloth.step(1.0 / 60.0, &path);
        let few = visits < Parameters::default().visits;
        assert!(report.unresolved <= 1.0 && (report.unresolved > 0.0) == few, "{visits}: {report:?}");
        // Boxes of a search have a margin, so it finds a few pairs more than count.
        assert!(report.cost.tested <= 2 * allowed, "{visits}: {} pairs", report.cost.tested);
        assert!(cloth.x.iter().chain(&cloth.v).all(|x| x.iter().all(|c| c.is_finite())));
        assert!(few || cloth.crossings() == 0, "{visits}");
        assert!(!few || !cloth.state.is_apart());
        let [Path::Frame { end, .. }] = path else { unreachable!() };
        let after = cloth.step(1.0 / 60.0, &[Path::still(end)]);
        assert!(few || after.unresolved == 0.0, "{visits}: {after:?}");
    }
}

/// What a step does depends on nothing that an earlier step left in memory, also where it ends at the limit.
#[test]
fn a_step_at_its_limit_gives_the_same_bits_after_other_steps() {
    for visits in [100, 1000, 3000] {
        let parameters = Parameters { visits, ..Parameters::default() };
        let (mut fresh, path) = jump(parameters);
        let (mut used, _) = jump(parameters);
        let (x, v, state) = (used.x.clone(), used.v.clone(), used.state.clone());
        for y in [0.3, 0.15, 0.12, 0.11] {
            used.step(1.0 / 60.0, &[Path::still(Isometry3::translation(0.0, y, 0.0))]);
        }
        (used.x, used.v, used.state) = (x, v, state);
        let reports = [fresh.step(1.0 / 60.0, &path), used.step(1.0 / 60.0, &path)];
        assert_eq!(reports[0], reports[1], "{visits}");
        assert_eq!((&fresh.x, &fresh.v), (&used.x, &used.v), "{visits}");
    }
}

/// A small cloth on a table takes a hundredth of the visits that its step may take.
#[test]
fn cloth_at_rest_is_far_from_the_limit() {
    let parameters = Parameters { visits: Parameters::default().visits / 100, ..Parameters::default() };
    let sheet = flat([9, 9], [0.5, 0.5], 0.01);
    let mut cloth = Cloth::new(&sheet, parameters, vec![Obstacle::new(mesh_of(&Mesh::cuboid([1.0; 3]).unwrap()))]);
    for _ in 0..60 {
        let report = cloth.step(1.0 / 60.0, &[Path::still(Isometry3::translation(0.0, -0.5, 0.0))]);
        assert_eq!(report.unresolved, 0.0, "{report:?}");
    }
}

/// A far obstacle changes no bit, whether it has one triangle or thousands.
#[test]
fn a_far_obstacle_changes_nothing() {
    let run = |far: &[Obstacle]| {
        let table = Obstacle::new(Shape::Cuboid { half_extents: [0.2, 0.1, 0.2] }).friction(0.3);
        let obstacles = [vec![table], far.to_vec()].concat();
        let mut cloth = Cloth::new(&flat([9, 9], [0.5, 0.5], 0.01), Parameters::default(), obstacles);
        for k in 0..60 {
            let turn = Vector3::y() * f64::from(k);
            let away = |turn| Isometry3::new(V3::new(1.5, 0.0, 0.0), turn);
            let table = Path::still(Isometry3::translation(0.0, -0.1, 0.0));
            let far = far.iter().map(|_| Path::Frame { begin: away(turn), end: away(turn + V3::y()) });
            cloth.step(1.0 / 60.0, &[vec![table], far.collect()].concat());
        }
        (cloth.x, cloth.v)
    };
    let ball = Obstacle::new(Shape::Ball { radius: 0.1 });
    let fine = Obstacle::new(mesh_of(&Mesh::ball(0.1, 4).unwrap()));
    assert_eq!(run(&[]), run(&[ball, fine]));
}

/// Cloth that one obstacle throws towards another, which was far from where it would have gone, does not get through that.
#[test]
fn thrown_cloth_does_not_pass_what_was_far() {
    let sheet = flat([4, 4], [0.1, 0.1], 0.0);
    let bat = Obstacle::new(Shape::Cuboid { half_extents: [0.2, 0.05, 0.2] }).restitution(1.0);
    let wall = Obstacle::new(mesh_of(&Mesh::cuboid([1.0, 0.02, 1.0]).unwrap()));
    let mut cloth = Cloth::new(&sheet, Parameters::default(), vec![bat, wall]);
    let [begin, end] = [-0.06, 0.44].map(|y| Isometry3::translation(0.0, y, 0.0));
    let wall = Path::still(Isometry3::translation(0.0, 0.62, 0.0));
    cloth.step(1.0 / 60.0, &[Path::Frame { begin, end }, wall]);
    assert!(cloth.x.iter().all(|x| x.y > 0.48 && x.y < 0.61), "{:?}", cloth.x);
}
