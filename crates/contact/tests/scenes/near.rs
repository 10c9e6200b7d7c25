//! What is near, for those who resist contact by forces of their own.

use nalgebra::{Isometry3, Vector3};
use partita_contact::{Contacts, Features, Kind, Near, Obstacle, Parameters, Path, Shape, State, Step};
use partita_mesh::Mesh;

type V3 = Vector3<f64>;

const T: f64 = 1e-3;

fn near(mesh: &Mesh, x: &[V3], obstacles: &[(Obstacle, Isometry3<f64>)]) -> Vec<Near> {
    let features = Features::new(x.len(), mesh.triangles(), &[]).unwrap();
    let parameters = Parameters { thickness: T, ..Parameters::default() };
    let of = obstacles.iter().map(|(obstacle, _)| obstacle.clone()).collect();
    let mut contacts = Contacts::new(features, parameters, of).unwrap();
    let paths: Vec<Path<'_>> = obstacles.iter().map(|(_, pose)| Path::still(*pose)).collect();
    let step = Step { dt: 0.01, begin: x, velocities: None, inverse_masses: &vec![1.0; x.len()], paths: &paths };
    let mut found = vec![];
    contacts.find_near(&State::default(), &step, x, &mut found).unwrap();
    found
}

/// In a sharp crease two triangles share an edge, and the corner of one lies on the other, as far as the fold is from flat.
#[test]
fn a_crease_meets_itself() {
    let mesh = Mesh::new(
        &[[0.0, 0.0, 0.0], [0.02, 0.0, 0.0], [0.01, 0.0, 0.02], [0.012, 0.0, -0.01]],
        &[[0, 1, 2], [1, 0, 3]],
    )
    .unwrap();
    let folded = |height: f64| {
        let mut x = mesh.vertices().to_vec();
        x[3] = V3::new(0.012, height, 0.01);
        near(&mesh, &x, &[])
    };
    let [found] = folded(0.9 * T)[..] else { panic!("{:?}", folded(0.9 * T)) };
    assert_eq!(found.pair.vertices[0], 3);
    assert!((found.gap + 0.1 * T).abs() < 1e-12 && (found.normal - V3::y()).norm() < 1e-12, "{found:?}");
    assert!(folded(1.3 * T).is_empty());
}

/// Each vertex of cloth on a box meets one of its triangles, with the gap that is there, and all push straight out.
#[test]
fn vertices_meet_one_triangle_each() {
    let mesh = Mesh::grid([4, 4], [0.2, 0.2]).unwrap().turned([1.0, 0.0, 0.0], -std::f64::consts::FRAC_PI_2).unwrap();
    let cuboid = Obstacle::new(Shape::Cuboid { half_extents: [0.5; 3] });
    // Beside the diagonals of the box.
    let below = Isometry3::translation(0.013, -0.5 - 0.6 * T, 0.007);
    let found = near(&mesh, mesh.vertices(), &[(cuboid, below)]);
    let faces = found.iter().filter(|near| near.pair.kind == Kind::PointTriangle);
    let mut vertices: Vec<u32> = faces.map(|near| near.pair.vertices[0]).collect();
    vertices.sort_unstable();
    assert_eq!(vertices, (0..25).collect::<Vec<u32>>(), "{found:?}");
    let straight = |near: &Near| (near.normal - V3::y()).norm() < 1e-9 && (near.gap - 0.1 * T).abs() < 1e-12;
    assert!(found.iter().all(straight), "{found:?}");
}
