//! OBJ files: good, odd, broken and hostile.

use partita_mesh::{Mesh, MeshError, Repair, read_obj, read_obj_bytes};
use proptest::prelude::*;

/// A pyramid with a square base, in two groups, with everything a file may carry besides.
const PYRAMID: &str = "\u{feff}# a pyramid\r
mtllib nowhere.mtl
o pyramid
v 1 0 1 0.5 0.5 0.5
v 1 0 -1\t\r
v -1 0 -1
v -1 0 1
v 9 9 9 # no face names this one
v 0 1.5e0 0
vt 0 0
vn 0 1 0
g base
usemtl stone
s off
f 4/1/1 3/1/1 2/1/1 1/1/1
g sides
f 1//1 2//1 -1//1
f 2 3 6
l 1 2
f 3/1 4/1 \\
  6/1
f 4 1 -1
";

fn error(text: &str) -> MeshError {
    Mesh::from_obj_bytes("test.obj", text.as_bytes()).unwrap_err()
}

#[test]
fn a_file_with_groups_polygons_relative_indices_and_materials_is_one_closed_mesh() {
    let mesh = Mesh::from_obj_bytes("pyramid.obj", PYRAMID.as_bytes()).unwrap();
    assert_eq!((mesh.vertices().len(), mesh.triangles().len()), (5, 6));
    assert!(mesh.is_closed());
    // 1/3 base height
    approx::assert_relative_eq!(mesh.volume().unwrap(), 2.0, max_relative = 1e-15);
}

#[test]
fn coordinates_keep_double_precision() {
    let text = "v 0.1234567890123456 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    assert_eq!(Mesh::from_obj_bytes("x", text.as_bytes()).unwrap().vertices()[0].x, 0.1234567890123456);
}

#[test]
fn a_file_is_read_from_disk_and_a_missing_one_is_named() {
    let path = std::env::temp_dir().join(format!("partita-mesh-{}.obj", std::process::id()));
    std::fs::write(&path, PYRAMID).unwrap();
    let read = Mesh::from_obj(&path);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(read.unwrap(), Mesh::from_obj_bytes("x", PYRAMID.as_bytes()).unwrap());
    let missing = read_obj(&path).unwrap_err();
    assert!(matches!(missing, MeshError::Io { .. }) && missing.to_string().contains("partita-mesh-"), "{missing}");
    assert!(matches!(read_obj(std::env::temp_dir()), Err(MeshError::Io { .. })));
}

#[test]
fn empty_files_and_files_without_faces_are_errors() {
    for text in ["", "\n\n", "# nothing", "\u{feff}", "v 0 0 0\nv 1 0 0\n", "\\", "\\\n\\\n"] {
        assert!(matches!(error(text), MeshError::Obj { .. }), "{text:?}");
    }
}

#[test]
fn bad_lines_are_named() {
    let start = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    for line in [
        "f 1 2",
        "f",
        "f 1 2 4",
        "f 1 2 0",
        "f 1 2 -4",
        "f 1 2 x",
        "f 1 2 3.5",
        "f 1 2 99999999999999999999",
        "f 1 2 4294967299",
        "f 1 2 9223372036854775807",
        "f 1 2 -9223372036854775808",
        "f / / /",
        "v 1 2",
        "v 1 2 x",
        "v nan 0 0",
        "v 0 inf 0",
        "v 0 0 1e999",
        "v",
        "f 1 1 2",
    ] {
        let error = error(&format!("{start}# comment\n{line}\nf 1 2 3\n"));
        assert!(error.to_string().starts_with("test.obj, line 5: "), "{line}: {error}");
    }
    let long = format!("{start}f 1 2 {}", "x".repeat(100_000));
    assert!(error(&long).to_string().len() < 200);
}

#[test]
fn what_is_wrong_with_the_mesh_is_told_with_its_line() {
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n\nf 1 2 3\nf 2 3 4\n";
    let error = error(text);
    assert!(
        matches!(&error, MeshError::ObjMesh { line: 7, source, .. } if matches!(**source, MeshError::Flipped { .. }))
    );
    assert!(error.to_string().contains("line 7"), "{error}");
    let (mesh, repairs) = read_obj_bytes("x", text.as_bytes()).unwrap().repaired().unwrap();
    assert_eq!((mesh.triangles().len(), repairs), (2, vec![Repair::Turned { triangle: 1 }]));
}

#[test]
fn objects_that_do_not_touch_become_islands() {
    let text = "o a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\no b\nv 0 0 5\nv 1 0 5\nv 0 1 5\nf -3 -2 -1\n";
    assert_eq!(Mesh::from_obj_bytes("x", text.as_bytes()).unwrap().islands(), [[0], [1]]);
}

/// An error or a smaller mesh, never a panic.
#[test]
fn a_file_cut_at_every_byte_is_no_panic() {
    for length in 0..PYRAMID.len() {
        let _ = read_obj_bytes("x", &PYRAMID.as_bytes()[..length]).and_then(|soup| soup.repaired());
        let _ = Mesh::from_obj_bytes("x", &PYRAMID.as_bytes()[..length]);
    }
}

#[test]
fn one_changed_byte_is_no_panic() {
    for place in 0..PYRAMID.len() {
        for byte in [0, b' ', b'-', b'/', b'9', b'e', b'\n', b'\\', b'f', b'v', 0xff, PYRAMID.as_bytes()[place] ^ 1] {
            let mut bytes = PYRAMID.as_bytes().to_vec();
            bytes[place] = byte;
            let _ = Mesh::from_obj_bytes("x", &bytes);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn random_bytes_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = Mesh::from_obj_bytes("x", &bytes);
    }

    /// Random words that could be a file.
    #[test]
    fn random_words_are_no_panic(words in prop::collection::vec(prop::sample::select(vec![
        "v ", "f ", "\n", "\nf ", "\nv ", "1 ", "2 ", "3 ", "-1 ", "0 0 1 ", "1/1 ", "//", "1e9 ", "\\\n", "g a\n", "vt ", "l 1 2\n", "nan ",
    ]), 0..80)) {
        let bytes = format!("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n{}", words.concat()).into_bytes();
        let _ = read_obj_bytes("x", &bytes).and_then(|soup| soup.repaired());
        let _ = Mesh::from_obj_bytes("x", &bytes);
    }
}
