//! What is refused, by name and number, and what a mesh tells about itself.

use partita_mesh::{Mesh, MeshError};
use proptest::prelude::*;

/// Four corners around the z axis and the two poles: an octahedron.
fn octahedron() -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let vertices = vec![[1., 0., 0.], [0., 1., 0.], [-1., 0., 0.], [0., -1., 0.], [0., 0., 1.], [0., 0., -1.]];
    let faces = (0..4).flat_map(|k| [[k, (k + 1) % 4, 4], [(k + 1) % 4, k, 5]]).collect();
    (vertices, faces)
}

fn refusal(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> MeshError {
    Mesh::new(vertices, triangles).unwrap_err()
}

#[test]
fn an_octahedron_is_a_closed_surface_with_known_measures() {
    let (vertices, triangles) = octahedron();
    let mesh = Mesh::new(&vertices, &triangles).unwrap();
    assert_eq!((mesh.edges().len(), mesh.hinges().count(), mesh.boundary_edges().count()), (12, 12, 0));
    assert!(mesh.is_closed() && mesh.euler_characteristic() == 2 && mesh.islands() == [(0..8).collect::<Vec<_>>()]);
    approx::assert_relative_eq!(mesh.volume().unwrap(), 4.0 / 3.0, max_relative = 1e-15);
    approx::assert_relative_eq!(mesh.area(), 4.0 * 3f64.sqrt(), max_relative = 1e-15);
    assert_eq!(mesh.bounds(), [[-1.0; 3], [1.0; 3]]);
}

#[test]
fn hinges_know_their_four_corners() {
    let square = [[0., 0., 0.], [1., 0., 0.], [1., 1., 0.], [0., 1., 0.]];
    let mesh = Mesh::new(&square, &[[0, 1, 2], [0, 2, 3]]).unwrap();
    let hinges: Vec<_> = mesh.hinges().collect();
    assert_eq!(hinges.len(), 1);
    // Triangle 1 runs from 0 to 2 and is at the left; triangle 0 at the right.
    assert_eq!((hinges[0].edge, hinges[0].opposite, hinges[0].triangles), ([2, 0], [1, 3], [0, 1]));
    assert_eq!(mesh.boundary_edges().count(), 4);
    assert!(mesh.volume().is_none() && mesh.euler_characteristic() == 1);
    for edge in mesh.edges() {
        let corners = mesh.triangles()[edge.left as usize];
        let place = corners.iter().position(|&c| c == edge.vertices[0]).unwrap();
        assert_eq!(corners[(place + 1) % 3], edge.vertices[1], "the left triangle runs along its edge");
    }
}

#[test]
fn no_triangle_is_no_mesh() {
    assert!(matches!(refusal(&[], &[]), MeshError::Empty));
    assert!(matches!(refusal(&[[0.0; 3]], &[]), MeshError::Empty));
}

#[test]
fn coordinates_that_are_no_numbers_are_named() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
        for axis in 0..3 {
            let (mut vertices, triangles) = octahedron();
            vertices[3][axis] = bad;
            assert!(matches!(refusal(&vertices, &triangles), MeshError::Coordinate { vertex: 3, .. }));
        }
    }
}

#[test]
fn indices_out_of_range_and_repeated_corners_are_named() {
    let (vertices, mut triangles) = octahedron();
    for index in [6, u32::MAX] {
        triangles[5] = [0, index, 1];
        assert!(
            matches!(refusal(&vertices, &triangles), MeshError::Index { triangle: 5, vertex, vertices: 6 } if vertex == index)
        );
    }
    for corners in [[1, 1, 2], [2, 1, 1], [1, 2, 1], [1, 1, 1]] {
        triangles[5] = corners;
        assert!(matches!(refusal(&vertices, &triangles), MeshError::RepeatedVertex { triangle: 5, vertex: 1 }));
    }
}

/// The bound is relative: a tiny triangle is one, a sliver is none, at any scale.
#[test]
fn flat_triangles_are_refused_at_any_scale() {
    for scale in [1e-80, 1e-6, 1.0, 1e6, 1e90] {
        let triangle = |height: f64| [[0., 0., 0.], [scale, 0., 0.], [0.5 * scale, height * scale, 0.]];
        assert!(Mesh::new(&triangle(1e-9), &[[0, 1, 2]]).is_ok(), "{scale}");
        for flat in [0.0, 1e-10] {
            let error = refusal(&triangle(flat), &[[0, 1, 2]]);
            assert!(matches!(error, MeshError::ZeroArea { triangle: 0, .. }), "{scale}: {error}");
        }
    }
    // Denormal: squares vanish.
    assert!(matches!(
        refusal(&[[0., 0., 0.], [1e-310, 0., 0.], [0., 1e-310, 0.]], &[[0, 1, 2]]),
        MeshError::ZeroArea { .. }
    ));
}

#[test]
fn twins_are_refused_whatever_their_orientation() {
    let (vertices, triangles) = octahedron();
    let [a, b, c] = triangles[2];
    for twin in [[a, b, c], [b, c, a], [c, b, a]] {
        let doubled = [triangles.as_slice(), &[twin]].concat();
        assert!(matches!(refusal(&vertices, &doubled), MeshError::DuplicateTriangle { first: 2, second: 8, .. }));
    }
}

#[test]
fn an_edge_with_three_triangles_is_refused() {
    let vertices = [[0., 0., 0.], [0., 1., 0.], [1., 0., 0.], [-1., 0., 0.], [0., 0., 1.]];
    let error = refusal(&vertices, &[[0, 2, 1], [1, 3, 0], [0, 4, 1]]);
    let MeshError::NonManifoldEdge { vertices, triangles } = &error else { panic!("{error}") };
    assert_eq!((vertices, triangles.len()), (&[0, 1], 3));
}

#[test]
fn a_turned_neighbour_is_refused() {
    let (vertices, mut triangles) = octahedron();
    triangles[3].swap(0, 1);
    let error = refusal(&vertices, &triangles);
    assert!(matches!(error, MeshError::Flipped { first, second, .. } if first == 3 || second == 3), "{error}");
}

#[test]
fn triangles_that_touch_in_one_vertex_are_refused() {
    let vertices = [[0., 0., 0.], [1., 0., 0.], [1., 1., 0.], [-1., 0., 0.], [-1., -1., 0.]];
    let error = refusal(&vertices, &[[0, 1, 2], [0, 3, 4]]);
    assert!(matches!(error, MeshError::BowTie { vertex: 0, fans: 2 }), "{error}");
}

#[test]
fn a_vertex_without_triangle_is_refused() {
    let (mut vertices, triangles) = octahedron();
    vertices.push([9.0; 3]);
    assert!(matches!(refusal(&vertices, &triangles), MeshError::UnusedVertex { vertex: 6 }));
}

#[test]
fn several_islands_and_vertices_at_one_place_are_allowed() {
    let (mut vertices, mut triangles) = octahedron();
    vertices.extend(octahedron().0);
    triangles.extend(octahedron().1.iter().map(|t| t.map(|i| i + 6)));
    let mesh = Mesh::new(&vertices, &triangles).unwrap();
    assert_eq!(mesh.islands(), [(0..8).collect::<Vec<_>>(), (8..16).collect()]);
    assert!(mesh.is_closed() && mesh.euler_characteristic() == 4);
}

#[test]
fn moving_keeps_shape_and_refuses_nonsense() {
    let ball = Mesh::ball(0.5, 1).unwrap();
    let (volume, edges) = (ball.volume().unwrap(), ball.edges().to_vec());
    let moved = ball.turned([0.1, -0.2, 0.3], 1.5).unwrap().at([3.0, -2.0, 1e3]).unwrap();
    approx::assert_relative_eq!(moved.volume().unwrap(), volume, max_relative = 1e-9);
    assert_eq!(moved.edges(), edges);
    assert!(matches!(moved.clone().at([f64::NAN, 0., 0.]), Err(MeshError::Coordinate { .. })));
    for (axis, angle) in [([0.0; 3], 1.0), ([f64::NAN, 1.0, 0.0], 1.0), ([0.0, 1.0, 0.0], f64::INFINITY)] {
        assert!(matches!(moved.clone().turned(axis, angle), Err(MeshError::Coordinate { .. })));
    }
    // So far away, all corners round to one place.
    assert!(matches!(moved.at([1e30; 3]), Err(MeshError::ZeroArea { .. })));
}

/// A quarter turn around x takes y to z, whatever the length of the axis.
#[test]
fn turns_are_right_handed() {
    for length in [1e-200, 0.3, 1.0, 1e200] {
        let mesh = Mesh::cuboid([1.0, 2.0, 3.0]).unwrap().at([0.0, 5.0, 0.0]).unwrap();
        let [low, high] = mesh.turned([length, 0.0, 0.0], std::f64::consts::FRAC_PI_2).unwrap().bounds();
        for (found, exact) in low.into_iter().chain(high).zip([-0.5, -1.5, 4.0, 0.5, 1.5, 6.0]) {
            approx::assert_relative_eq!(found, exact, max_relative = 1e-14);
        }
    }
}

#[test]
fn a_stored_mesh_is_checked_when_read() {
    let grid = Mesh::grid([3, 2], [1.0, 1.0]).unwrap();
    let text = serde_json::to_string(&grid).unwrap();
    assert_eq!(serde_json::from_str::<Mesh>(&text).unwrap(), grid);
    let refused = |text: String| serde_json::from_str::<Mesh>(&text).unwrap_err().to_string();
    assert!(refused(text.replace("[0,4,5]", "[0,4,99]")).contains("vertex 99"));
    assert!(refused(text.replace("[3,2]", "[2,3]")).contains("grid"));
    assert!(refused(text.replace("[3,2]", "[4294967295,4294967295]")).contains("grid"));
    assert!(refused(text.replace("\"cells\"", "\"sells\"")).contains("sells"));
}

fn any_soup() -> impl Strategy<Value = (Vec<[f64; 3]>, Vec<[u32; 3]>)> {
    let coordinate = prop_oneof![8 => (-2i32..3).prop_map(f64::from), 1 => any::<f64>()];
    let index = prop_oneof![30 => 0u32..9, 1 => any::<u32>()];
    (
        prop::collection::vec(prop::array::uniform3(coordinate), 0..9),
        prop::collection::vec(prop::array::uniform3(index), 0..14),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever comes in: a mesh that keeps its promise, or an error; and what is repaired needs no second repair but
    /// for split vertices, which lie at one place. Only what has no triangles to speak of is beyond repair.
    #[test]
    fn anything_is_a_mesh_or_an_error((vertices, triangles) in any_soup()) {
        if let Ok(mesh) = Mesh::new(&vertices, &triangles) {
            prop_assert_eq!(mesh.triangles(), &triangles);
            prop_assert_eq!(3 * triangles.len(), 2 * mesh.hinges().count() + mesh.boundary_edges().count());
            prop_assert_eq!(mesh.islands().concat().len(), triangles.len());
        }
        match Mesh::repaired(&vertices, &triangles) {
            Ok((mesh, _)) => {
                prop_assert!(Mesh::new(&mesh.positions(), mesh.triangles()).is_ok());
                let (again, _) = Mesh::repaired(&mesh.positions(), mesh.triangles()).unwrap();
                prop_assert_eq!(again.triangles().len(), mesh.triangles().len());
            }
            Err(MeshError::Coordinate { .. } | MeshError::Index { .. } | MeshError::Empty) => {}
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}

/// Islands of their own, one after the other; what cannot be one mesh says so.
#[test]
fn joined_meshes_are_islands() {
    let [ball, cube] = [Mesh::ball(0.5, 1).unwrap(), Mesh::cuboid([1.0; 3]).unwrap().at([3.0, 0.0, 0.0]).unwrap()];
    let both = Mesh::joined(&[ball.clone(), cube.clone()]).unwrap();
    assert_eq!(both.islands().len(), 2);
    assert_eq!(both.positions(), [ball.positions(), cube.positions()].concat());
    let volume = |mesh: &Mesh| mesh.volume().unwrap();
    assert!((volume(&both) - volume(&ball) - volume(&cube)).abs() < 1e-12);
    assert_eq!(Mesh::joined(&[]).is_err(), Mesh::new(&[], &[]).is_err());
}
