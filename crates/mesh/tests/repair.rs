//! What is mended, what it is told about, and what is beyond mending.

use partita_mesh::{Mesh, MeshError, Repair};

fn ball() -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let ball = Mesh::ball(1.0, 1).unwrap();
    (ball.positions(), ball.triangles().to_vec())
}

#[test]
fn a_good_mesh_is_left_as_it_is() {
    let (vertices, triangles) = ball();
    let (mesh, repairs) = Mesh::repaired(&vertices, &triangles).unwrap();
    assert!(repairs.is_empty(), "{repairs:?}");
    assert_eq!((mesh.positions(), mesh.triangles()), (vertices, triangles.as_slice()));
}

/// As an STL file has them: three own vertices for each triangle, here rounded to single precision.
#[test]
fn loose_triangles_are_welded() {
    let (vertices, triangles) = ball();
    let rounded = |i: u32| vertices[i as usize].map(|c| f64::from(c as f32));
    let loose: Vec<[f64; 3]> = triangles.as_flattened().iter().map(|&i| rounded(i)).collect();
    let apart: Vec<[u32; 3]> = (0..triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let (mesh, repairs) = Mesh::repaired(&loose, &apart).unwrap();
    assert!(mesh.is_closed() && mesh.euler_characteristic() == 2);
    assert_eq!(mesh.vertices().len(), vertices.len());
    assert_eq!(repairs.len(), loose.len() - vertices.len());
    assert!(repairs.iter().all(|r| matches!(r, Repair::Welded { vertex, into } if into < vertex)));
}

#[test]
fn flat_and_double_triangles_and_unused_vertices_are_dropped() {
    let (mut vertices, mut triangles) = ball();
    vertices.push([5.0; 3]);
    let first = triangles[0];
    triangles.push([first[2], first[1], first[0]]);
    triangles.push([3, 3, 4]);
    let (mesh, repairs) = Mesh::repaired(&vertices, &triangles).unwrap();
    assert_eq!(mesh.triangles(), ball().1);
    let flat = Repair::DroppedFlat { triangle: 81 };
    assert_eq!(repairs, [flat, Repair::DroppedDuplicate { triangle: 80, of: 0 }, Repair::DroppedVertex { vertex: 42 }]);
}

#[test]
fn turned_triangles_and_islands_that_are_inside_out_are_turned_back() {
    let (vertices, good) = ball();
    let mut triangles = good.clone();
    for t in [0, 7, 33] {
        triangles[t].swap(1, 2);
    }
    let (mesh, repairs) = Mesh::repaired(&vertices, &triangles).unwrap();
    assert_eq!(mesh.volume(), Mesh::new(&vertices, &good).unwrap().volume());
    assert_eq!(repairs, [0, 7, 33].map(|triangle| Repair::Turned { triangle }));

    let inside_out: Vec<[u32; 3]> = good.iter().map(|&[a, b, c]| [a, c, b]).collect();
    assert!(Mesh::new(&vertices, &inside_out).unwrap().volume().unwrap() < 0.0);
    let (mesh, repairs) = Mesh::repaired(&vertices, &inside_out).unwrap();
    assert!(mesh.volume().unwrap() > 0.0);
    assert_eq!(repairs.len(), good.len());
}

#[test]
fn an_open_island_keeps_the_side_of_its_first_triangle() {
    let sheet = Mesh::grid([3, 3], [1.0, 1.0]).unwrap();
    let mut triangles = sheet.triangles().to_vec();
    triangles[4].swap(0, 1);
    let (mesh, repairs) = Mesh::repaired(&sheet.positions(), &triangles).unwrap();
    assert_eq!(repairs, [Repair::Turned { triangle: 4 }]);
    for t in mesh.triangles() {
        let [a, b, c] = t.map(|i| mesh.vertices()[i as usize]);
        assert!((b - a).cross(&(c - a)).z > 0.0);
    }
}

#[test]
fn bow_ties_are_split() {
    let vertices =
        [[0., 0., 0.], [1., 0., 0.], [1., 1., 0.], [-1., 0., 0.], [-1., -1., 0.], [0., 0., 2.], [0., 1., 2.]];
    let (mesh, repairs) = Mesh::repaired(&vertices, &[[0, 1, 2], [0, 3, 4], [0, 5, 6]]).unwrap();
    assert_eq!(repairs, [Repair::Split { vertex: 0, copies: 2 }]);
    assert_eq!((mesh.vertices().len(), mesh.islands().len()), (9, 3));
    assert_eq!(mesh.vertices()[7], mesh.vertices()[0]);
}

#[test]
fn what_cannot_be_mended_is_an_error_with_the_given_numbers() {
    let (vertices, triangles) = ball();
    let refused = |v: &[[f64; 3]], t: &[[u32; 3]]| Mesh::repaired(v, t).unwrap_err();
    assert!(matches!(refused(&vertices, &[]), MeshError::Empty));
    assert!(matches!(refused(&vertices, &[[0, 0, 0]]), MeshError::Empty));
    assert!(matches!(refused(&vertices, &[[0, 1, 99]]), MeshError::Index { triangle: 0, vertex: 99, .. }));
    let mut broken = vertices.clone();
    broken[3][1] = f64::NAN;
    assert!(matches!(refused(&broken, &triangles), MeshError::Coordinate { vertex: 3, .. }));

    // A fin on an edge of the ball; a flat triangle before it shifts the numbers of what is kept.
    let [a, b, _] = triangles[0];
    let mut finned = vertices.clone();
    finned.push([3.0; 3]);
    let with_fin = [&[[0, 0, 1]], triangles.as_slice(), &[[a, b, 42]]].concat();
    let error = refused(&finned, &with_fin);
    let MeshError::NonManifoldEdge { triangles: at, .. } = &error else { panic!("{error}") };
    assert!(at.len() == 3 && at.contains(&1) && at.contains(&81), "{at:?}");
}

/// Five triangles in a ring with half a twist.
#[test]
fn a_moebius_strip_has_one_side() {
    let vertices: Vec<[f64; 3]> = (0..5)
        .map(|k| (f64::from(k) * 1.2566).sin_cos())
        .zip([0.0, 0.3, -0.2, 0.4, 0.1])
        .map(|((s, c), z)| [c, s, z])
        .collect();
    let triangles: Vec<[u32; 3]> = (0..5).map(|k| [k, (k + 1) % 5, (k + 2) % 5]).collect();
    assert!(matches!(Mesh::repaired(&vertices, &triangles), Err(MeshError::OneSided { .. })));
    assert!(matches!(Mesh::new(&vertices, &triangles), Err(MeshError::Flipped { .. })));
}
