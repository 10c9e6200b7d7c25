//! What is mended, what it is told about, and what is beyond mending.

use std::collections::BTreeSet;

use partita_mesh::{Mesh, MeshError, Repair};
use proptest::prelude::*;

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

/// A shell within another that is given inside out is a cavity; beside it, or outside out, it is not.
#[test]
fn cavities_stay() {
    let outer = Mesh::ball(2.0, 2).unwrap();
    let (small, large) = (Mesh::ball(1.0, 1).unwrap().volume().unwrap(), outer.volume().unwrap());
    for (at, inside_out, volume) in [
        ([0.5, 0.0, 0.2], true, large - small),
        ([0.5, 0.0, 0.2], false, large + small),
        ([1.8, 1.8, 1.8], true, large + small),
    ] {
        let inner = Mesh::ball(1.0, 1).unwrap().at(at).unwrap();
        let shift = outer.vertices().len() as u32;
        let shifted = inner.triangles().iter().map(|&[a, b, c]| if inside_out { [a, c, b] } else { [a, b, c] });
        let triangles: Vec<[u32; 3]> =
            outer.triangles().iter().copied().chain(shifted.map(|t| t.map(|v| v + shift))).collect();
        let (mesh, _) = Mesh::repaired(&[outer.positions(), inner.positions()].concat(), &triangles).unwrap();
        approx::assert_relative_eq!(mesh.volume().unwrap(), volume, max_relative = 1e-12);
    }
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
fn what_cannot_be_mended_is_an_error() {
    let (vertices, triangles) = ball();
    let refused = |v: &[[f64; 3]], t: &[[u32; 3]]| Mesh::repaired(v, t).unwrap_err();
    assert!(matches!(refused(&vertices, &[]), MeshError::Empty));
    assert!(matches!(refused(&vertices, &[[0, 0, 0]]), MeshError::Empty));
    assert!(matches!(refused(&vertices, &[[0, 1, 99]]), MeshError::Index { triangle: 0, vertex: 99, .. }));
    let mut broken = vertices.clone();
    broken[3][1] = f64::NAN;
    assert!(matches!(refused(&broken, &triangles), MeshError::Coordinate { vertex: 3, .. }));
}

/// Three walls in a corner of no piece: which two of them to keep together would be a guess.
#[test]
fn three_triangles_at_an_edge_are_parted() {
    let vertices = [[0., 0., 0.], [0., 1., 0.], [1., 0., 0.], [-1., 0., 0.], [0., 0., 1.]];
    let (mesh, repairs) = Mesh::repaired(&vertices, &[[0, 2, 1], [1, 3, 0], [0, 4, 1]]).unwrap();
    let parted = Repair::Parted { vertices: [0, 1], triangles: 3 };
    let split = [0, 1].map(|vertex| Repair::Split { vertex, copies: 2 });
    assert_eq!(repairs, [&[parted][..], &split].concat());
    assert_eq!((mesh.islands().len(), mesh.boundary_edges().count(), mesh.vertices().len()), (3, 9, 9));
}

/// Numbers are those that were given, although a flat triangle before shifts those that are kept.
#[test]
fn a_fin_comes_off_and_leaves_the_ball_closed() {
    let (mut vertices, mut triangles) = ball();
    // Two edges of the ball in a row, so that neither end is whole without the other's.
    let [a, b, c] = triangles[0];
    vertices.push([3.0; 3]);
    triangles.insert(0, [0, 0, 1]);
    triangles.extend([[a, b, 42], [b, c, 42]]);
    let (mesh, repairs) = Mesh::repaired(&vertices, &triangles).unwrap();
    let islands = mesh.islands();
    assert_eq!(islands, [(0..80).collect::<Vec<_>>(), vec![80, 81]]);
    assert_eq!(mesh.boundary_edges().count(), 4);
    assert!(mesh.boundary_edges().all(|edge| edge.left >= 80), "the ball is closed");
    for [i, j] in [[a, b], [b, c]] {
        let vertices = [i.min(j), i.max(j)];
        assert!(repairs.contains(&Repair::Parted { vertices, triangles: 3 }), "{repairs:?}");
    }
    assert!(!repairs.iter().any(|repair| matches!(repair, Repair::Turned { .. } | Repair::Cut { .. })), "{repairs:?}");
}

/// Cuboids with 4 segments a side around y, so that the common edge is one of `rows` pieces.
fn column(rows: u32, x: f64) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let rings = (0..=rows).map(|row| [1.0, f64::from(row)]);
    let profile: Vec<[f64; 2]> = [[0.0, 0.0]].into_iter().chain(rings).chain([[0.0, f64::from(rows)]]).collect();
    let mesh = Mesh::revolved(&profile, 4).unwrap().at([x, 0.0, 0.0]).unwrap();
    (mesh.positions(), mesh.triangles().to_vec())
}

/// Four triangles meet at each piece of the edge along which two columns touch; each keeps its own two.
#[test]
fn columns_that_touch_along_an_edge_stay_closed() {
    for rows in [1, 2, 5] {
        let ((mut vertices, mut triangles), (more, others)) = (column(rows, 0.0), column(rows, 2.0));
        let shift = vertices.len() as u32;
        // One of them inside out, which is mended only if it is known to be closed.
        triangles.extend(others.iter().map(|&[a, b, c]| [a + shift, c + shift, b + shift]));
        vertices.extend(more);
        let (mesh, repairs) = Mesh::repaired(&vertices, &triangles).unwrap();
        let parted = |repair: &&Repair| matches!(repair, Repair::Parted { triangles: 4, .. });
        assert_eq!(repairs.iter().filter(parted).count(), rows as usize);
        assert_eq!((mesh.is_closed(), mesh.islands().len(), mesh.euler_characteristic()), (true, 2, 4));
        approx::assert_relative_eq!(mesh.volume().unwrap(), 4.0 * f64::from(rows), max_relative = 1e-14);
    }
}

/// Triangles in a ring with half a twist (for an odd number, two rows of vertices close crosswise).
#[test]
fn a_moebius_strip_is_cut_once_across() {
    let vertices: Vec<[f64; 3]> = (0..5)
        .map(|k| (f64::from(k) * 1.2566).sin_cos())
        .zip([0.0, 0.3, -0.2, 0.4, 0.1])
        .map(|((s, c), z)| [c, s, z])
        .collect();
    let triangles: Vec<[u32; 3]> = (0..5).map(|k| [k, (k + 1) % 5, (k + 2) % 5]).collect();
    assert!(matches!(Mesh::new(&vertices, &triangles), Err(MeshError::Flipped { .. })));
    let (mesh, repairs) = Mesh::repaired(&vertices, &triangles).unwrap();
    assert_eq!(repairs.iter().filter(|repair| matches!(repair, Repair::Cut { .. })).count(), 1, "{repairs:?}");
    // A strip: one disc.
    assert_eq!((mesh.islands().len(), mesh.euler_characteristic(), mesh.vertices().len()), (1, 1, 7));
}

/// The real projective plane on six vertices has no boundary to cut from: the seam is a closed line.
#[test]
fn a_closed_one_sided_surface_is_cut_open() {
    let vertices = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.], [1., 1., 0.3], [0.2, 1., 1.]];
    let triangles =
        [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5], [0, 5, 1], [1, 2, 4], [2, 3, 5], [3, 4, 1], [4, 5, 2], [5, 1, 3]];
    let (mesh, repairs) = Mesh::repaired(&vertices, &triangles).unwrap();
    assert!(repairs.iter().any(|repair| matches!(repair, Repair::Cut { .. })));
    assert!(!repairs.iter().any(|repair| matches!(repair, Repair::Parted { .. })));
    assert_eq!((mesh.triangles().len(), mesh.is_closed(), mesh.islands().len()), (10, false, 1));
}

/// Any number of triangles on few vertices of a lattice, so that most edges have too many.
fn any_tangle() -> impl Strategy<Value = (Vec<[f64; 3]>, Vec<[u32; 3]>)> {
    let place = prop::array::uniform3((-2i32..3).prop_map(f64::from));
    prop::collection::vec(place, 3..12).prop_flat_map(|vertices| {
        let index = 0..vertices.len() as u32;
        (Just(vertices), prop::collection::vec(prop::array::uniform3(index), 1..60))
    })
}

/// Places of the corners of all triangles with an area, in an order that forgets which way they run.
fn places(vertices: &[[f64; 3]], triangles: &[[u32; 3]]) -> BTreeSet<[[i64; 3]; 3]> {
    let places = triangles.iter().map(|t| t.map(|i| vertices[i as usize].map(|c| c as i64)));
    places
        .map(|mut corners| {
            corners.sort_unstable();
            corners
        })
        .filter(|[a, b, c]| {
            let [u, v] = [b, c].map(|to| nalgebra::Vector3::from(*to) - nalgebra::Vector3::from(*a));
            u.cross(&v) != nalgebra::Vector3::zeros()
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// With one triangle that has an area, any tangle becomes a mesh, of the same triangles.
    #[test]
    fn every_tangle_becomes_a_mesh((vertices, triangles) in any_tangle()) {
        let given = places(&vertices, &triangles);
        match Mesh::repaired(&vertices, &triangles) {
            Ok((mesh, _)) => {
                let positions = mesh.positions();
                prop_assert_eq!(&Mesh::new(&positions, mesh.triangles()).unwrap(), &mesh);
                prop_assert_eq!(mesh.triangles().len(), given.len());
                prop_assert_eq!(&places(&positions, mesh.triangles()), &given);
                let (again, _) = Mesh::repaired(&positions, mesh.triangles()).unwrap();
                prop_assert_eq!(again.triangles().len(), given.len());
            }
            Err(error) => prop_assert!(given.is_empty() && matches!(error, MeshError::Empty), "{}", error),
        }
    }
}
