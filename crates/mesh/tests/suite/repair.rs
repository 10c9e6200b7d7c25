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

/// Meshes as one heap of triangles; those that are marked are given inside out.
fn heap(parts: &[(&Mesh, bool)]) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let (mut vertices, mut triangles) = (vec![], vec![]);
    for (mesh, inside_out) in parts {
        let shift = vertices.len() as u32;
        let shifted = mesh.triangles().iter().map(|t| t.map(|v| v + shift));
        triangles.extend(shifted.map(|[a, b, c]| if *inside_out { [a, c, b] } else { [a, b, c] }));
        vertices.extend(mesh.positions());
    }
    (vertices, triangles)
}

/// Volume that a heap of closed meshes encloses once it is repaired.
fn repaired_volume(parts: &[(&Mesh, bool)]) -> f64 {
    let (vertices, triangles) = heap(parts);
    Mesh::repaired(&vertices, &triangles).unwrap().0.volume().unwrap()
}

fn cube(size: f64, at: [f64; 3]) -> Mesh {
    Mesh::cuboid([size; 3]).unwrap().at(at).unwrap()
}

const WAYS: [bool; 2] = [false, true];

/// A shell within another that is given the other way is a cavity; beside it, or the same way, it is not.
#[test]
fn cavities_stay() {
    let outer = Mesh::ball(2.0, 2).unwrap();
    for (radius, at, inside_out, sign) in [
        (1.0, [0.5, 0.0, 0.2], true, -1.0),
        (1.0, [0.5, 0.0, 0.2], false, 1.0),
        // Within the bounds, beside the ball; and with more than half of it in the ball, but not all.
        (0.3, [1.6, 1.6, 1.6], true, 1.0),
        (1.0, [1.1, 0.0, 0.0], true, 1.0),
        (1.0, [-1.1, 0.0, 0.0], true, 1.0),
        (1.0, [0.0, 1.1, 0.0], true, 1.0),
        (1.0, [0.0, -1.1, 0.0], true, 1.0),
        (1.0, [0.0, 0.0, 1.1], true, 1.0),
        (1.0, [0.0, 0.0, -1.1], true, 1.0),
    ] {
        let inner = Mesh::ball(radius, 1).unwrap().at(at).unwrap();
        let volume = outer.volume().unwrap() + sign * inner.volume().unwrap();
        let (outer, inner) = ((&outer, false), (&inner, inside_out));
        for parts in [[outer, inner], [inner, outer]] {
            approx::assert_relative_eq!(repaired_volume(&parts), volume, max_relative = 1e-12);
        }
        // The same with something far away on each axis.
        for far in [[9.0, 0.0, 0.0], [0.0, 9.0, 0.0], [0.0, 0.0, 9.0]] {
            let far = cube(1.0, far);
            approx::assert_relative_eq!(
                repaired_volume(&[outer, inner, (&far, true)]),
                volume + 1.0,
                max_relative = 1e-12
            );
        }
    }
}

/// Which shell a line meets where does not depend on whether it goes through a vertex or along an edge.
#[test]
fn cavities_stay_behind_vertices_and_edges() {
    let corners = [[6., 0., 0.], [-6., 0., 0.], [0., 6., 0.], [0., -6., 0.], [0., 0., 6.], [0., 0., -6.]];
    let faces = [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];
    let outer = Mesh::new(&corners, &faces).unwrap();
    // The middle of its greatest face as seen along x is at the origin.
    let corners = [[0.0, 1.0, -0.5], [0.0, -1.0, -0.5], [0.0, 0.0, 1.0], [-0.5, 0.1, 0.1]];
    let inner = Mesh::new(&corners, &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]).unwrap();
    assert!(inner.volume().unwrap() > 0.0 && outer.volume().unwrap() == 288.0);
    for (at, sign) in [
        ([0.0, 0.0, 0.0], -1.0),
        ([1.0, 0.5, 0.0], -1.0),
        ([-1.0, 0.0, 0.5], -1.0),
        ([0.0, -0.5, 0.0], -1.0),
        ([2.0, 0.0, -0.5], -1.0),
        // Just beside.
        ([4.5, 3.0, 3.0], 1.0),
        ([-4.5, 2.0, 4.0], 1.0),
        ([-4.5, -3.0, 3.0], 1.0),
        ([4.5, 4.0, -2.0], 1.0),
    ] {
        let inner = inner.clone().at(at).unwrap();
        let volume = 288.0 + sign * inner.volume().unwrap();
        approx::assert_relative_eq!(repaired_volume(&[(&outer, false), (&inner, true)]), volume, max_relative = 1e-12);
    }
    // Beside a tetrahedron, as high as the middle one of three corners.
    let corners = [[0., 0., -6.], [-6., 2., 6.], [6., 3., 6.], [0., 6., 6.]];
    let outer = Mesh::new(&corners, &[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]).unwrap();
    let inner = inner.at([3.0, 2.0, -4.0]).unwrap();
    assert!(outer.volume().unwrap() > 0.0);
    let volume = outer.volume().unwrap() + inner.volume().unwrap();
    approx::assert_relative_eq!(repaired_volume(&[(&outer, false), (&inner, true)]), volume, max_relative = 1e-12);
}

/// Two cubes that share a corner, and so half of the inner one's faces lie in the outer one's; or two cubes that share
/// parts of one face or edge only. Given inside out as a whole, it is the same body.
#[test]
fn a_cavity_may_touch_its_shell() {
    let outer = cube(2.0, [0.0; 3]);
    for at in [[0.5, 0.5, 0.5], [-0.5, 0.5, -0.5], [0.5, 0.25, 0.0], [0.25, 0.5, -0.5], [0.0, 0.0, -0.5]] {
        let inner = cube(1.0, at);
        // Whichever triangle is first.
        for (inside_out, first) in WAYS.into_iter().flat_map(|way| (0..12).map(move |first| (way, first))) {
            let mut triangles = inner.triangles().to_vec();
            triangles.rotate_left(first);
            let inner = Mesh::new(&inner.positions(), &triangles).unwrap();
            let (outer, inner) = ((&outer, inside_out), (&inner, !inside_out));
            for parts in [[outer, inner], [inner, outer]] {
                approx::assert_relative_eq!(repaired_volume(&parts), 7.0, max_relative = 1e-14);
            }
        }
    }
}

/// A ball that touches all six faces of its cube, so that both have the same bounds; and a cup with a gap within its
/// wall, where the middle between walls is not inside.
#[test]
fn shells_of_any_form_may_be_hollow() {
    let cup = [[0.0, 0.0], [3.0, 0.0], [3.0, 3.0], [2.0, 3.0], [2.0, 1.0], [0.0, 1.0]];
    let gap = [[0.0, 0.25], [2.75, 0.25], [2.75, 2.75], [2.25, 2.75], [2.25, 0.75], [0.0, 0.75]];
    for (outer, inner) in [
        (cube(4.0, [0.0; 3]), Mesh::ball(2.0, 2).unwrap()),
        (Mesh::revolved(&cup, 16).unwrap(), Mesh::revolved(&gap, 16).unwrap()),
    ] {
        let volume = outer.volume().unwrap() - inner.volume().unwrap();
        for inside_out in WAYS {
            let parts = [(&outer, inside_out), (&inner, !inside_out)];
            approx::assert_relative_eq!(repaired_volume(&parts), volume, max_relative = 1e-12);
        }
    }
}

/// How three shells within each other are given, and what they are. Only how they face relative to each other counts.
#[test]
fn nested_shells_are_solids_and_cavities_in_turn() {
    let cubes = [cube(3.0, [0.0; 3]), cube(2.0, [0.2, 0.1, 0.0]), cube(1.0, [0.1, 0.3, -0.2])];
    for (second_is_opposite, third_is_opposite, volume) in [
        // Opposite to the first: a body, its cavity, and a core however that is given.
        (true, false, 27.0 - 8.0 + 1.0),
        (true, true, 27.0 - 8.0 + 1.0),
        // A solid drawn into another, alone, with one more, or hollow.
        (false, false, 27.0 + 8.0 + 1.0),
        (false, true, 27.0 + 8.0 - 1.0),
    ] {
        for inside_out in WAYS {
            let given = [inside_out, inside_out ^ second_is_opposite, inside_out ^ third_is_opposite];
            for [i, j, k] in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                let parts = [i, j, k].map(|n| (&cubes[n], given[n]));
                approx::assert_relative_eq!(repaired_volume(&parts), volume, max_relative = 1e-14);
            }
        }
    }
    // Beside each other in one cavity, and a hollow core.
    let room = [cube(9.0, [0.0; 3]), cube(8.0, [0.0; 3])];
    let core = cubes.each_ref().map(|cube| cube.clone().at([2.0, 0.0, 0.0]).unwrap());
    for way in 0..8 {
        let [first, second, beside] = [0, 1, 2].map(|bit| way >> bit & 1 == 1);
        let other = cube(2.0, [-2.0, 0.0, 0.0]);
        let parts = [(&room[1], true), (&core[0], first), (&other, beside), (&core[1], second), (&room[0], false)];
        let hollow = if first == second { 8.0 } else { -8.0 };
        approx::assert_relative_eq!(repaired_volume(&parts), 729.0 - 512.0 + 27.0 + hollow + 8.0, max_relative = 1e-14);
    }
}

/// Most triangles say how a shell was given, so a few that are wrong change nothing, even the first.
#[test]
fn a_cavity_with_a_turned_triangle_stays_a_cavity() {
    let (outer, inner) = (cube(2.0, [0.0; 3]), cube(1.0, [0.1, 0.2, 0.3]));
    for inside_out in WAYS {
        let (vertices, good) = heap(&[(&outer, inside_out), (&inner, !inside_out)]);
        for wrong in 0..24 {
            let mut triangles = good.clone();
            triangles[wrong].swap(0, 1);
            let (mesh, repairs) = Mesh::repaired(&vertices, &triangles).unwrap();
            approx::assert_relative_eq!(mesh.volume().unwrap(), 7.0, max_relative = 1e-14);
            assert_eq!(repairs.len(), if inside_out { 23 } else { 1 }, "{repairs:?}");
            assert!(repairs.contains(&Repair::Turned { triangle: wrong }) != inside_out);
        }
    }
}

/// A bowl that is open above, with its outside given upwards: it has no inside to be turned by.
#[test]
fn an_open_island_keeps_the_side_of_its_first_triangle() {
    let ball = Mesh::ball(1.0, 2).unwrap();
    let below = |t: &&[u32; 3]| t.iter().all(|&i| ball.vertices()[i as usize].y < 0.1);
    let mut triangles: Vec<[u32; 3]> = ball.triangles().iter().filter(below).map(|&[a, b, c]| [a, c, b]).collect();
    triangles[4].swap(0, 1);
    let (mesh, repairs) = Mesh::repaired(&ball.positions(), &triangles).unwrap();
    assert!(mesh.boundary_edges().count() > 0 && mesh.islands().len() == 1);
    let turned: Vec<&Repair> = repairs.iter().filter(|repair| matches!(repair, Repair::Turned { .. })).collect();
    assert_eq!(turned, [&Repair::Turned { triangle: 4 }]);
    for t in mesh.triangles() {
        let [a, b, c] = t.map(|i| mesh.vertices()[i as usize]);
        assert!((b - a).cross(&(c - a)).dot(&a) < 0.0);
    }
}

/// Thousands of shells, each given inside out, are sorted rather than compared with each other.
#[test]
fn many_shells_are_turned_in_little_time() {
    let unit = cube(0.5, [0.0; 3]);
    let place = |i: u32| [i % 18, i / 18 % 18, i / 324].map(f64::from);
    let cubes: Vec<Mesh> = (0..5832).map(|i| unit.clone().at(place(i)).unwrap()).collect();
    let room = cube(20.0, [8.5; 3]);
    let mut parts: Vec<(&Mesh, bool)> = cubes.iter().map(|cube| (cube, true)).collect();
    let start = std::time::Instant::now();
    approx::assert_relative_eq!(repaired_volume(&parts), 729.0, max_relative = 1e-12);
    // All of them cavities.
    parts.push((&room, false));
    approx::assert_relative_eq!(repaired_volume(&parts), 8000.0 - 729.0, max_relative = 1e-12);
    // A third of a second on one slow core.
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

/// Copies of a corner that rounding to single precision has moved to the next number in every coordinate.
#[test]
fn what_single_precision_cannot_tell_apart_is_welded() {
    let cuboid = cube(2.0, [0.0; 3]);
    let rounded = |(n, &i): (usize, &u32)| {
        let x = cuboid.vertices()[i as usize].map(|c| c as f32);
        x.map(|c| f64::from(if n % 2 == 0 { c } else { c.signum() * c.abs().next_up() })).into()
    };
    let loose: Vec<[f64; 3]> = cuboid.triangles().as_flattened().iter().enumerate().map(rounded).collect();
    let apart: Vec<[u32; 3]> = (0..12).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let (mesh, _) = Mesh::repaired(&loose, &apart).unwrap();
    assert!(mesh.is_closed() && mesh.vertices().len() == 8);
}

/// Around the origin, what single precision can tell apart stays; far from it, what is small beside the distance does.
#[test]
fn details_are_not_welded() {
    let corner = [[-1.0; 3], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0 - 4e-7]];
    let (mesh, repairs) = Mesh::repaired(&corner, &[[0, 1, 2]]).unwrap();
    assert!(mesh.vertices().len() == 3 && repairs.is_empty(), "{repairs:?}");
    let far = Mesh::ball(1.0, 2).unwrap().at([4e6, 0.0, 5e6]).unwrap();
    let (mesh, repairs) = Mesh::repaired(&far.positions(), far.triangles()).unwrap();
    assert!(mesh == far && repairs.is_empty(), "{repairs:?}");
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

/// A walk breadth first goes round a band both ways at once and meets itself on the far side: the seam goes across.
#[test]
fn the_seam_of_a_wide_moebius_strip_is_short() {
    let (around, across) = (200u32, 20u32);
    let vertex = |i: u32, j: u32| {
        let half = std::f64::consts::PI * f64::from(i) / f64::from(around);
        let (r, (sin, cos)) = (0.03 * (f64::from(j) - 10.0), (2.0 * half).sin_cos());
        [(1.0 + r * half.cos()) * cos, (1.0 + r * half.cos()) * sin, r * half.sin()]
    };
    let vertices: Vec<[f64; 3]> = (0..around).flat_map(|i| (0..=across).map(move |j| vertex(i, j))).collect();
    let number = |i: u32, j: u32| if i == around { across - j } else { i * (across + 1) + j };
    let cell = |i: u32, j: u32| {
        let [a, b, c, d] = [number(i, j), number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)];
        [[a, b, c], [a, c, d]]
    };
    let mut triangles: Vec<[u32; 3]> = (0..around).flat_map(|i| (0..across).flat_map(move |j| cell(i, j))).collect();
    // In no order: rows in order would guide any walk straight across.
    let mut random = 12345u64;
    for i in (1..triangles.len()).rev() {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        triangles.swap(i, (random >> 33) as usize % (i + 1));
    }
    let (mesh, repairs) = Mesh::repaired(&vertices, &triangles).unwrap();
    let cuts = repairs.iter().filter(|repair| matches!(repair, Repair::Cut { .. })).count();
    assert!(cuts <= 2 * across as usize, "{cuts}");
    assert_eq!((mesh.islands().len(), mesh.euler_characteristic()), (1, 1));
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

/// Total area of triangles `[m²]`.
fn area(triangles: &BTreeSet<[[i64; 3]; 3]>) -> f64 {
    let vector = |x: [i64; 3]| nalgebra::Vector3::from(x.map(|x| x as f64));
    triangles.iter().map(|[a, b, c]| 0.5 * (vector(*b) - vector(*a)).cross(&(vector(*c) - vector(*a))).norm()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// With one triangle that has an area, any tangle becomes a mesh, of the same triangles; where vertices on edges were
    /// joined, of parts of these.
    #[test]
    fn every_tangle_becomes_a_mesh((vertices, triangles) in any_tangle()) {
        let given = places(&vertices, &triangles);
        match Mesh::repaired(&vertices, &triangles) {
            Ok((mesh, repairs)) => {
                let positions = mesh.positions();
                prop_assert_eq!(&Mesh::new(&positions, mesh.triangles()).unwrap(), &mesh);
                if repairs.iter().any(|repair| matches!(repair, Repair::Joined { .. })) {
                    prop_assert!(mesh.area() <= area(&given) * (1.0 + 1e-12));
                    return Ok(());
                }
                prop_assert_eq!(mesh.triangles().len(), given.len());
                prop_assert_eq!(&places(&positions, mesh.triangles()), &given);
                let (again, _) = Mesh::repaired(&positions, mesh.triangles()).unwrap();
                prop_assert_eq!(again.triangles().len(), given.len());
            }
            Err(error) => prop_assert!(given.is_empty() && matches!(error, MeshError::Empty), "{}", error),
        }
    }
}
