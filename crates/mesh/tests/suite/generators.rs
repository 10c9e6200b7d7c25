//! Generated meshes are what they are called, and approach the true shape with second order.

use std::f64::consts::PI;

use partita_mesh::{Mesh, MeshError, Side};

/// Watertight, one island, outside out, and the volume that is given.
fn assert_closed(mesh: &Mesh, volume: f64, tolerance: f64) {
    assert!(mesh.is_closed());
    assert_eq!(mesh.euler_characteristic(), 2);
    assert_eq!(mesh.islands().len(), 1);
    approx::assert_relative_eq!(mesh.volume().unwrap(), volume, max_relative = tolerance);
}

/// Errors for a resolution and its doubles: each is a quarter of the last, within `slack`.
fn assert_second_order(errors: &[f64], slack: f64) {
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((ratio - 4.0).abs() < slack, "errors {errors:?}, ratio {ratio}");
    }
}

#[test]
fn a_cuboid_is_exact() {
    let mesh = Mesh::cuboid([1.0, 2.0, 3.0]).unwrap();
    assert_closed(&mesh, 6.0, 1e-14);
    approx::assert_relative_eq!(mesh.area(), 22.0, max_relative = 1e-14);
    assert_eq!(mesh.bounds(), [[-0.5, -1.0, -1.5], [0.5, 1.0, 1.5]]);
}

#[test]
fn the_volume_of_a_ball_converges_with_second_order() {
    let exact = 4.0 / 3.0 * PI * 8.0;
    let balls: Vec<Mesh> = (0..6).map(|n| Mesh::ball(2.0, n).unwrap()).collect();
    balls.iter().for_each(|ball| assert_closed(ball, exact, 0.5));
    let errors: Vec<f64> = balls.iter().map(|ball| exact - ball.volume().unwrap()).collect();
    assert_second_order(&errors[1..], 0.35);
}

/// The stated bound, and that vertices are on the sphere.
#[test]
fn facets_of_a_ball_are_as_near_as_documented() {
    for n in 0..6u32 {
        let ball = Mesh::ball(3.0, n).unwrap();
        assert_eq!(ball.vertices().len(), 10 * 4usize.pow(n) + 2);
        assert!(ball.vertices().iter().all(|x| (x.norm() - 3.0).abs() < 1e-14));
        let deepest = ball
            .triangles()
            .iter()
            .map(|t| t.map(|i| ball.vertices()[i as usize]))
            .map(|[a, b, c]| 1.0 - (b - a).cross(&(c - a)).normalize().dot(&a) / 3.0)
            .fold(0.0, f64::max);
        assert!(deepest <= 0.30 * 0.25f64.powi(n as i32), "{n}: {deepest}");
        assert!(deepest >= 0.20 * 0.25f64.powi(n as i32), "{n}: the bound is not sharp: {deepest}");
    }
}

#[test]
fn the_volume_of_a_capsule_converges_with_second_order() {
    let (length, radius) = (1.2, 0.25);
    let exact = PI * radius * radius * (length + 4.0 / 3.0 * radius);
    let capsules: Vec<Mesh> = (0..6).map(|n| Mesh::capsule(length, radius, 4 << n).unwrap()).collect();
    capsules.iter().for_each(|capsule| assert_closed(capsule, exact, 0.6));
    let errors: Vec<f64> = capsules.iter().map(|capsule| exact - capsule.volume().unwrap()).collect();
    assert_second_order(&errors[1..], 0.25);
    let [low, high] = capsules[3].bounds();
    approx::assert_relative_eq!(high[1] - low[1], length + 2.0 * radius, max_relative = 1e-14);
    for (n, capsule) in (0..).zip(&capsules) {
        assert!(
            inside_by(capsule, |x| (x - x.map_with_location(|row, _, y| if row == 1 {
                y.clamp(-0.5 * length, 0.5 * length)
            } else {
                0.0
            }))
            .norm())
                >= radius * (1.0 - 10.0 / f64::from(4 << n).powi(2))
        );
    }
}

/// Least distance of a facet's middle from the axis, by the given measure.
fn inside_by(mesh: &Mesh, distance: impl Fn(nalgebra::Vector3<f64>) -> f64) -> f64 {
    let middle = |t: &[u32; 3]| t.iter().map(|&i| mesh.vertices()[i as usize]).sum::<nalgebra::Vector3<f64>>() / 3.0;
    mesh.triangles().iter().map(|t| distance(middle(t))).fold(f64::INFINITY, f64::min)
}

/// The polygon's area is n/2 sin(2π/n) r², so the volume is known exactly.
#[test]
fn a_cylinder_has_the_volume_of_its_polygon_and_converges() {
    let (length, radius) = (1.5, 0.2);
    let exact = PI * radius * radius * length;
    let mut errors = vec![];
    for segments in [3u32, 6, 12, 24, 48] {
        let mesh = Mesh::cylinder(length, radius, segments).unwrap();
        let n = f64::from(segments);
        let polygon = 0.5 * n * (2.0 * PI / n).sin() * radius * radius;
        assert_closed(&mesh, polygon * length, 1e-13);
        errors.push(exact - mesh.volume().unwrap());
    }
    assert_second_order(&errors[1..], 0.25);
}

/// A third of the prism over the base, whose polygon is known exactly; the apex is up.
#[test]
fn a_cone_has_the_volume_of_its_pyramid_and_converges() {
    let (length, radius) = (1.5, 0.2);
    let exact = PI * radius * radius * length / 3.0;
    let mut errors = vec![];
    for segments in [3u32, 6, 12, 24, 48] {
        let mesh = Mesh::cone(length, radius, segments).unwrap();
        let n = f64::from(segments);
        let polygon = 0.5 * n * (2.0 * PI / n).sin() * radius * radius;
        assert_closed(&mesh, polygon * length / 3.0, 1e-13);
        errors.push(exact - mesh.volume().unwrap());
        let [low, high] = mesh.bounds();
        assert_eq!([low[1], high[1]], [-0.75, 0.75]);
        assert!(mesh.vertices().iter().filter(|x| x.y > 0.0).all(|x| x.x == 0.0 && x.z == 0.0));
    }
    assert_second_order(&errors[1..], 0.25);
}

/// A paraboloid y = r² under a lid at y = 1: V = π/2. Chords lie inside in both directions, so both are refined.
#[test]
fn the_volume_of_a_surface_of_revolution_converges_with_second_order() {
    let mut errors = vec![];
    for n in [2u32, 4, 8, 16, 32] {
        let curve = (0..=n).map(|i| f64::from(i) / f64::from(n)).map(|r| [r, r * r]);
        let profile: Vec<[f64; 2]> = curve.chain([[0.0, 1.0]]).collect();
        let mesh = Mesh::revolved(&profile, 4 * n).unwrap();
        assert_closed(&mesh, 0.5 * PI, 0.4);
        assert_eq!(mesh.vertices().len() as u32, 2 + 4 * n * n);
        assert_eq!(mesh.vertices()[1].z, 0.0);
        assert!(mesh.vertices()[1].x > 0.0);
        errors.push(0.5 * PI - mesh.volume().unwrap());

        // Downwards, outside is inside.
        let down: Vec<[f64; 2]> = profile.iter().rev().copied().collect();
        approx::assert_relative_eq!(
            Mesh::revolved(&down, 4 * n).unwrap().volume().unwrap(),
            -mesh.volume().unwrap(),
            max_relative = 1e-13
        );
    }
    assert_second_order(&errors[1..], 0.35);
}

#[test]
fn a_profile_that_cannot_be_turned_is_refused_by_point() {
    let good = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    assert!(Mesh::revolved(&good, 3).is_ok());
    for (point, found) in [
        (0, [0.1, 0.0]),
        (3, [-0.1, 1.0]),
        (0, [f64::NAN, 0.0]),
        (1, [0.0, 0.0]),
        (2, [-1.0, 1.0]),
        (2, [f64::INFINITY, 1.0]),
        (1, [1.0, f64::NAN]),
        (3, [0.0, 1e300]),
    ] {
        let mut profile = good;
        profile[point] = found;
        let error = Mesh::revolved(&profile, 8).unwrap_err();
        assert!(matches!(error, MeshError::Profile { point: named, .. } if named == point), "{found:?}: {error}");
    }
    for few in 0..3 {
        assert!(matches!(Mesh::revolved(&good[..few], 8), Err(MeshError::Resolution { .. })));
    }
    for segments in [0, 2, 4097, u32::MAX] {
        assert!(matches!(Mesh::revolved(&good, segments), Err(MeshError::Resolution { .. })));
    }
    // Refused before memory is taken for 2^31 vertices.
    let rings = (0..=1 << 19).map(|i| [1.0, f64::from(i)]);
    let long: Vec<[f64; 2]> = [[0.0, 0.0]].into_iter().chain(rings).chain([[0.0, 1.0]]).collect();
    assert!(matches!(Mesh::revolved(&long, 4096), Err(MeshError::TooMany { things: "triangles", .. })));
    // A point twice.
    assert!(matches!(Mesh::revolved(&[good[0], good[1], good[1], good[3]], 8), Err(MeshError::ZeroArea { .. })));
}

#[test]
fn a_grid_hangs_from_the_origin_and_knows_its_sides() {
    let mesh = Mesh::grid([4, 3], [2.0, 1.5]).unwrap();
    assert_eq!((mesh.vertices().len(), mesh.triangles().len()), (20, 24));
    assert_eq!(mesh.bounds(), [[0.0, -1.5, 0.0], [2.0, 0.0, 0.0]]);
    approx::assert_relative_eq!(mesh.area(), 3.0, max_relative = 1e-14);
    assert_eq!((mesh.euler_characteristic(), mesh.boundary_edges().count()), (1, 14));
    for t in mesh.triangles() {
        let [a, b, c] = t.map(|i| mesh.vertices()[i as usize]);
        assert!((b - a).cross(&(c - a)).z > 0.0);
    }

    let at = |side| -> Vec<[f64; 2]> {
        let side = mesh.edge(side).unwrap();
        side.iter().map(|&i| mesh.vertices()[i as usize]).map(|x| [x.x, x.y]).collect()
    };
    assert_eq!(at(Side::Top), [[0.0, 0.0], [0.5, 0.0], [1.0, 0.0], [1.5, 0.0], [2.0, 0.0]]);
    assert_eq!(at(Side::Bottom), [[0.0, -1.5], [0.5, -1.5], [1.0, -1.5], [1.5, -1.5], [2.0, -1.5]]);
    assert_eq!(at(Side::Left), [[0.0, 0.0], [0.0, -0.5], [0.0, -1.0], [0.0, -1.5]]);
    assert_eq!(at(Side::Right), [[2.0, 0.0], [2.0, -0.5], [2.0, -1.0], [2.0, -1.5]]);
    assert!(matches!(Mesh::ball(1.0, 0).unwrap().edge(Side::Top), Err(MeshError::NotAGrid)));
}

#[test]
fn absurd_arguments_are_errors() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e200] {
        let all = [
            Mesh::grid([2, 2], [1.0, bad]),
            Mesh::grid([2, 2], [bad, 1.0]),
            Mesh::cuboid([1.0, 1.0, bad]),
            Mesh::ball(bad, 1),
            Mesh::capsule(bad, 1.0, 8),
            Mesh::capsule(1.0, bad, 8),
            Mesh::cylinder(bad, 1.0, 8),
            Mesh::cylinder(1.0, bad, 8),
            Mesh::cone(bad, 1.0, 8),
            Mesh::cone(1.0, bad, 8),
        ];
        for result in all {
            assert!(matches!(result, Err(MeshError::Size { .. })), "{bad}: {result:?}");
        }
    }
    let all = [
        Mesh::grid([0, 2], [1.0; 2]),
        Mesh::grid([2, 0], [1.0; 2]),
        Mesh::ball(1.0, 9),
        Mesh::ball(1.0, u32::MAX),
        Mesh::capsule(1.0, 1.0, 3),
        Mesh::cylinder(1.0, 1.0, 2),
        Mesh::cylinder(1.0, 1.0, u32::MAX),
        Mesh::cone(1.0, 1.0, 2),
    ];
    for result in all {
        assert!(matches!(result, Err(MeshError::Resolution { .. })), "{result:?}");
    }
    // Refused before anything is allocated.
    for cells in [[u32::MAX, u32::MAX], [u32::MAX, 1], [1, u32::MAX], [65536, 65536]] {
        assert!(matches!(Mesh::grid(cells, [1.0; 2]), Err(MeshError::TooMany { .. })), "{cells:?}");
    }
    // A sheet so narrow that its triangles are slivers.
    assert!(matches!(Mesh::grid([1, 1], [1.0, 1e-11]), Err(MeshError::ZeroArea { .. })));
}
