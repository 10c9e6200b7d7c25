//! Files as programs write them: polygons of any form, encodings, ends of lines, seams and T junctions.

use std::f64::consts::TAU;
use std::fmt::Write;

use nalgebra::{Rotation3, Vector3};
use partita_mesh::{Mesh, MeshError, Repair, Seam, read_obj_bytes};
use proptest::prelude::*;

type V3 = Vector3<f64>;

fn obj(vertices: &[V3], faces: &[Vec<usize>]) -> String {
    let mut text = String::new();
    vertices.iter().for_each(|x| writeln!(text, "v {:?} {:?} {:?}", x.x, x.y, x.z).unwrap());
    for face in faces {
        let corners: Vec<String> = face.iter().map(|corner| (corner + 1).to_string()).collect();
        writeln!(text, "f {}", corners.join(" ")).unwrap();
    }
    text
}

fn area_of(polygon: &[V3]) -> f64 {
    let next = |k: usize| polygon[(k + 1) % polygon.len()];
    0.5 * (0..polygon.len()).map(|k| polygon[k].cross(&next(k))).sum::<V3>().norm()
}

/// Area, corners, orientation and boundary of one polygon are those of its triangles.
fn check_polygon(polygon: &[V3]) {
    let text = obj(polygon, &[(0..polygon.len()).collect()]);
    let mesh = Mesh::from_obj_bytes("polygon", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(mesh.triangles().len(), polygon.len() - 2, "{text}");
    assert_eq!(mesh.boundary_edges().count(), polygon.len(), "{text}");
    assert_eq!(mesh.euler_characteristic(), 1, "{text}");
    let area = area_of(polygon);
    assert!((mesh.area() - area).abs() < 1e-9 * area, "{} m^2 of {area}\n{text}", mesh.area());
    let normal: V3 = (0..polygon.len()).map(|k| polygon[k].cross(&polygon[(k + 1) % polygon.len()])).sum();
    for corners in mesh.triangles() {
        let [a, b, c] = corners.map(|corner| mesh.vertices()[corner as usize]);
        assert!((b - a).cross(&(c - a)).dot(&normal) > 0.0, "{text}");
    }
}

#[test]
fn concave_polygons_have_their_area() {
    let flat = |points: &[[f64; 2]]| -> Vec<V3> { points.iter().map(|&[x, y]| V3::new(x, y, 0.0)).collect() };
    // An arrow of 1.5 m^2, of which a fan around its first corner makes 2.5 m^2.
    check_polygon(&flat(&[[0.0, 0.0], [2.0, -1.0], [0.5, 0.0], [2.0, 1.0]]));
    check_polygon(&flat(&[[2.0, -1.0], [0.5, 0.0], [2.0, 1.0], [0.0, 0.0]]));
    // Points on edges, also at the first corner; a comb; a spiral.
    check_polygon(&flat(&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 2.0], [0.0, 2.0]]));
    check_polygon(&flat(&[[1.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 0.0], [1.0 / 3.0, 0.0]]));
    let comb = (0..12).map(|k| [f64::from(k), if k % 2 == 0 { 1.0 } else { 5.0 }]).chain([[11.0, 0.0], [0.0, 0.0]]);
    let comb: Vec<[f64; 2]> = comb.rev().collect::<Vec<_>>();
    check_polygon(&flat(&comb));
    let arm = |offset: f64| {
        move |k: u32| {
            let angle = 0.3 * f64::from(k);
            [(1.0 + offset + 0.2 * angle) * angle.cos(), (1.0 + offset + 0.2 * angle) * angle.sin()]
        }
    };
    let spiral: Vec<[f64; 2]> = (0..60).map(arm(0.5)).chain((0..60).rev().map(arm(0.0))).collect();
    check_polygon(&flat(&spiral));
}

proptest! {
    /// Polygons whose corners are at random distances around a point, with points on their edges, in any plane.
    #[test]
    fn random_polygons_have_their_area(
        radii in proptest::collection::vec(0.2f64..1.0, 5..24),
        on_edges in proptest::collection::vec(proptest::option::of(0.1f64..0.9), 24),
        turn in proptest::array::uniform3(-3.0f64..3.0),
        at in proptest::array::uniform3(-2.0f64..2.0),
    ) {
        let n = radii.len();
        let turn = Rotation3::new(V3::from(turn));
        let corner = |k: usize| {
            let angle = TAU * (k % n) as f64 / n as f64;
            turn * (radii[k % n] * V3::new(angle.cos(), angle.sin(), 0.0)) + V3::from(at)
        };
        let polygon: Vec<V3> = (0..n)
            .flat_map(|k| {
                let between = on_edges[k].map(|s| corner(k).lerp(&corner(k + 1), s));
                std::iter::once(corner(k)).chain(between)
            })
            .collect();
        check_polygon(&polygon);
    }
}

#[test]
fn a_polygon_that_crosses_itself_is_refused_with_its_line() {
    let bow_tie = [[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.5]].map(|[x, y]: [f64; 2]| V3::new(x, y, 0.0));
    let error = read_obj_bytes("bow", obj(&bow_tie, &[vec![0, 1, 2, 3]]).as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "bow, line 5: face of 4 corners crosses itself; cut it into triangles");
}

/// A closed box of polygons, two of which have a corner on the edge between them.
#[test]
fn a_solid_with_a_vertex_on_an_edge_is_closed() {
    let mut vertices: Vec<V3> =
        (0..8).map(|k| V3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2))).collect();
    vertices.push(V3::new(0.25, 0.0, 0.0));
    let faces = [
        vec![0, 2, 3, 1, 8],
        vec![4, 5, 7, 6],
        vec![0, 8, 1, 5, 4],
        vec![2, 6, 7, 3],
        vec![0, 4, 6, 2],
        vec![1, 3, 7, 5],
    ];
    let mesh = Mesh::from_obj_bytes("box", obj(&vertices, &faces).as_bytes()).unwrap();
    assert!(mesh.is_closed() && (mesh.volume().unwrap() - 1.0).abs() < 1e-12, "{mesh:?}");
}

#[test]
fn encodings_and_ends_of_lines_are_read() {
    let text = "# größe\nv 0 0 0\nv 1 0 0\nv 0 1 0\n\nf 1 2 3\n";
    let expected = Mesh::from_obj_bytes("plain", text.as_bytes()).unwrap();
    let utf16 = |text: &str, unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit).collect::<Vec<u8>>();
    let with = |mark: &[u8], bytes: Vec<u8>| [mark, &bytes].concat();
    let files = [
        text.replace('\n', "\r").into_bytes(),
        text.replace('\n', "\r\n").into_bytes(),
        with(b"\xEF\xBB\xBF", text.into()),
        with(b"\xFF\xFE", utf16(text, u16::to_le_bytes)),
        with(b"\xFE\xFF", utf16(text, u16::to_be_bytes)),
        utf16(&text.replace('\n', "\r\n"), u16::to_le_bytes),
        utf16(text, u16::to_be_bytes),
        text.replace("größe", "gr\u{0}").replace("gr\u{0}", "?").into_bytes(),
    ];
    for (number, bytes) in files.iter().enumerate() {
        let mesh = Mesh::from_obj_bytes("file", bytes).unwrap_or_else(|error| panic!("file {number}: {error}"));
        assert_eq!(mesh, expected, "file {number}");
    }
    // Lines are counted as an editor does.
    for ends in ["\n", "\r", "\r\n"] {
        let error = read_obj_bytes("file", "v 0 0 0\nv 1 0 0\n\nf 1 2 x\n".replace('\n', ends).as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with("file, line 4: "), "{error}");
    }
}

#[test]
fn other_kinds_of_files_are_named() {
    for (bytes, kind) in [
        (&b"\x1f\x8b\x08\x00"[..], "gzip"),
        (b"PK\x03\x04...", "zip"),
        (b"glTF\x02\x00", "glTF"),
        (b"ply\nformat ascii 1.0\n", "PLY"),
        (b"solid cube\nfacet normal 0 0 1\n", "STL"),
        (b"Kaydara FBX Binary  \x00", "FBX"),
        (b"v 0 0 0\n\x00\x01\x02", "binary"),
        (b"v 0 0 0\n", "no faces"),
    ] {
        let error = read_obj_bytes("file", bytes).unwrap_err().to_string();
        assert!(error.contains(kind), "{error}");
    }
}

/// A sheet of two halves with vertices of their own along the middle.
#[test]
fn a_doubled_seam_is_told_and_mended() {
    for n in [1_u32, 2, 5, 40] {
        let half = |side: f64| Mesh::grid([n, n], [1.0, 1.0]).unwrap().at([side, 0.0, 0.0]).unwrap();
        let halves = Mesh::joined(&[half(0.0), half(1.0)]).unwrap();
        let seams = halves.seams();
        assert_eq!(seams.len(), n as usize, "{seams:?}");
        let places: Vec<V3> = halves.vertices().to_vec();
        let faces: Vec<Vec<usize>> =
            halves.triangles().iter().map(|t| t.iter().map(|&v| v as usize).collect()).collect();
        let text = obj(&places, &faces);
        let error = Mesh::from_obj_bytes("sheet", text.as_bytes()).unwrap_err();
        assert!(matches!(error, MeshError::Seams { seams, first: Seam::Doubled { .. }, .. } if seams == n as usize));
        assert!(error.to_string().contains("[1.0, "), "{error}");
        let (mesh, _) = read_obj_bytes("sheet", text.as_bytes()).unwrap().repaired().unwrap();
        assert!(mesh.islands().len() == 1 && mesh.seams().is_empty());
        assert_eq!(mesh.boundary_edges().count(), 6 * n as usize);
    }
}

/// Sheets of one and of several cells in height side by side, also turned.
#[test]
fn t_junctions_are_told_and_mended() {
    for (left, right) in [(1, 2), (1, 7), (2, 3), (3, 9), (4, 30)] {
        let sheet = |n: u32, x: f64| Mesh::grid([2, n], [1.0, 1.0]).unwrap().at([x, 0.0, 0.0]).unwrap();
        let sheets = Mesh::joined(&[sheet(left, 0.0), sheet(right, 1.0)]).unwrap();
        let sheets = sheets.turned([1.0, 2.0, -0.5], 0.7).unwrap();
        let area = sheets.area();
        assert!(sheets.seams().iter().any(|seam| matches!(seam, Seam::Junction { .. })), "{left} {right}");
        let (mesh, repairs) = Mesh::repaired(&sheets.positions(), sheets.triangles()).unwrap();
        assert!(repairs.iter().any(|repair| matches!(repair, Repair::Joined { .. })), "{repairs:?}");
        assert_eq!((mesh.islands().len(), mesh.seams()), (1, vec![]), "{left} {right}: {repairs:?}");
        assert!((mesh.area() - area).abs() < 1e-9, "{left} {right}: {}", mesh.area());
        assert_eq!(mesh.euler_characteristic(), 1, "{left} {right}");
    }
}

/// A slit within a sheet whose ends are shared is a seam too.
#[test]
fn a_slit_is_told_and_mended() {
    let grid = Mesh::grid([4, 4], [1.0, 1.0]).unwrap();
    // Down the middle, vertices 7, 12 and 17; triangles on the left of 12 get a copy.
    let mut vertices = grid.positions();
    vertices.push(vertices[12]);
    let triangles: Vec<[u32; 3]> = grid
        .triangles()
        .iter()
        .map(|corners| {
            let x: f64 = corners.iter().map(|&corner| vertices[corner as usize][0]).sum::<f64>() / 3.0;
            corners.map(|corner| if corner == 12 && x < vertices[12][0] { 25 } else { corner })
        })
        .collect();
    let slit = Mesh::new(&vertices, &triangles).unwrap();
    assert_eq!(slit.seams().len(), 2, "{:?}", slit.seams());
    let (mesh, _) = Mesh::repaired(&vertices, &triangles).unwrap();
    assert_eq!((mesh.seams(), mesh.vertices().len()), (vec![], 25));
}

/// A triangle that is nearly flat has no junction with itself, and is not turned.
#[test]
fn a_sliver_is_no_seam() {
    let vertices = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 1e-7, 0.0]];
    let sliver = Mesh::new(&vertices, &[[0, 1, 2]]).unwrap();
    assert!(sliver.seams().is_empty());
    let (mesh, repairs) = Mesh::repaired(&vertices, &[[0, 1, 2]]).unwrap();
    assert_eq!((mesh.triangles(), repairs.len()), (&[[0, 1, 2]][..], 0));
}

/// A concave polygon that names corners twice has its area.
#[test]
fn repeated_corners_of_a_polygon_count_once() {
    let corners = [[0., 0.], [2., 0.], [2., 1.], [1., 1.], [1., 2.], [0., 2.]];
    let corners = corners.map(|[x, y]: [f64; 2]| V3::new(x, y, 0.0));
    for face in [vec![2, 2, 3, 4, 5, 0, 1], vec![0, 1, 2, 3, 3, 3, 4, 5, 0]] {
        let mesh = Mesh::from_obj_bytes("L", obj(&corners, &[face]).as_bytes()).unwrap();
        assert!((mesh.area() - 3.0).abs() < 1e-12 && mesh.triangles().len() == 4, "{mesh:?}");
    }
}

/// A file of triangles with vertices of their own, as converted from STL: as many seams as edges within, found at once.
#[test]
fn a_soup_of_triangles_has_all_its_seams() {
    let grid = Mesh::grid([200, 200], [1.0, 1.0]).unwrap();
    let vertices: Vec<[f64; 3]> =
        grid.triangles().as_flattened().iter().map(|&corner| grid.vertices()[corner as usize].into()).collect();
    let triangles: Vec<[u32; 3]> = (0..grid.triangles().len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let start = std::time::Instant::now();
    let soup = Mesh::new(&vertices, &triangles).unwrap();
    let within = grid.edges().len() - grid.boundary_edges().count();
    assert_eq!(soup.seams().len(), within);
    // It takes some tenths of a second; the square of 80,000 triangles would take minutes.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// Vertices that touch an edge without an edge along it are no seam, nor are sheets apart.
#[test]
fn what_merely_touches_is_no_seam() {
    let square = |x: f64, angle: f64| {
        Mesh::grid([1, 1], [1.0, 1.0]).unwrap().turned([0.0, 0.0, 1.0], angle).unwrap().at([x, 0.0, 0.0]).unwrap()
    };
    // A corner that touches the middle of an edge, and a gap of a millimetre.
    for other in [square(0.5 + 0.5_f64.sqrt(), TAU / 8.0), square(1.001, 0.0)] {
        let both = Mesh::joined(&[square(0.0, 0.0), other]).unwrap();
        assert!(both.seams().is_empty(), "{:?}", both.seams());
        assert_eq!(Mesh::repaired(&both.positions(), both.triangles()).unwrap().1, []);
    }
}

#[test]
fn a_mesh_is_scaled_about_the_origin() {
    let mesh = Mesh::cuboid([1.0, 2.0, 3.0]).unwrap().at([10.0, 0.0, 0.0]).unwrap();
    let scaled = mesh.clone().scaled(1e-3).unwrap();
    assert!((scaled.volume().unwrap() - 6e-9).abs() < 1e-20);
    assert!((scaled.vertices()[0] - 1e-3 * mesh.vertices()[0]).norm() < 1e-15);
    for factor in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e99] {
        assert!(mesh.clone().scaled(factor).is_err(), "{factor}");
    }
}
