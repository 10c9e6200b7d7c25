//! Sheets without rows or columns.

use partita_mesh::Mesh;

/// Area of each triangle `[m²]`.
fn areas(mesh: &Mesh) -> Vec<f64> {
    let x = mesh.vertices();
    let of = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| x[v as usize]);
        0.5 * (b - a).cross(&(c - a)).z
    };
    mesh.triangles().iter().map(of).collect()
}

/// The smallest angle of any triangle [°].
fn sharpest(mesh: &Mesh) -> f64 {
    let x = mesh.vertices();
    let corner = |t: &[u32; 3], k: usize| {
        let [a, b, c] = [0, 1, 2].map(|j| x[t[(k + j) % 3] as usize]);
        (b - a).angle(&(c - a)).to_degrees()
    };
    let angles = mesh.triangles().iter().flat_map(|t| (0..3).map(move |k| corner(t, k)));
    angles.fold(f64::INFINITY, f64::min)
}

/// Exactly so many triangles, odd or even, which cover the sheet once, all seen from +z, and none of which is thin.
#[test]
fn a_sheet_has_as_many_triangles_as_asked_for() {
    for triangles in [2, 3, 50, 501, 5016] {
        let mesh = Mesh::unstructured([1.2, 0.7], triangles, |_| 1.0).unwrap();
        assert_eq!(mesh.triangles().len(), triangles as usize);
        let areas = areas(&mesh);
        assert!(areas.iter().all(|area| *area > 0.0));
        assert!((areas.iter().sum::<f64>() - 0.84).abs() < 1e-12);
        assert_eq!(mesh.bounds(), [[0.0, -0.7, 0.0], [1.2, 0.0, 0.0]]);
        assert_eq!(mesh.islands().len(), 1);
        // As good as generators of meshes guarantee (J. Ruppert: A Delaunay Refinement Algorithm, 1995: 20.7°).
        assert!(triangles < 500 || sharpest(&mesh) > 20.7, "{triangles}: {}", sharpest(&mesh));
    }
}

/// Edges are as long as asked for, relative to each other: a tenth of the sheet with edges of a third has as much more triangles.
#[test]
fn spacing_is_what_was_asked_for() {
    let fine = |[x, _]: [f64; 2]| if x < 0.5 { 1.0 } else { 3.0 };
    let mesh = Mesh::unstructured([1.0, 1.0], 2000, fine).unwrap();
    let left = mesh.triangles().iter().filter(|t| t.iter().all(|&v| mesh.vertices()[v as usize].x < 0.5)).count();
    assert!((left as f64 / 2000.0 - 0.9).abs() < 0.03, "{left}");
}

/// Of the scene of asynchronous cloth: areas 160:1, hence steps 12.65:1.
#[test]
fn a_graded_sheet_has_the_ratio_of_areas_asked_for() {
    let mesh = Mesh::graded([1.0, 1.0], 2304, 160.0).unwrap();
    assert_eq!(mesh.triangles().len(), 2304);
    assert!((mesh.area_ratio() / 160.0 - 1.0).abs() < 0.02, "{}", mesh.area_ratio());
    assert!(sharpest(&mesh) > 20.7, "{}", sharpest(&mesh));
    assert!((areas(&mesh).iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let again = Mesh::graded([1.0, 1.0], 2304, 160.0).unwrap();
    assert_eq!(mesh, again);
}

#[test]
fn what_cannot_be_made_is_refused() {
    let refused =
        |size, triangles, spacing: f64| Mesh::unstructured(size, triangles, |_| spacing).unwrap_err().to_string();
    assert!(refused([1.0, f64::NAN], 100, 1.0).contains("height"));
    assert!(refused([1.0, 1.0], 100, 0.0).contains("spacing"));
    assert!(refused([1.0, 1.0], 1, 1.0).contains("triangles"));
    assert!(Mesh::graded([1.0, 1.0], 100, 0.5).unwrap_err().to_string().contains("ratio"));
}
