//! Cloth that is cut from flat panels, of any shape: rest shapes by material coordinates.

use std::f64::consts::{PI, TAU};

use nalgebra::{Rotation3, Vector2, Vector3};
use partita_implicit_cloth::{Fabric, ImplicitCloth, Parameters};
use partita_mesh::Mesh;
use partita_simulator::{Inputs, Simulator, SimulatorError};

type V3 = Vector3<f64>;

/// A rectangle of `width` by `height` `[m]` that is closed to a tube of so many facets, and its material coordinates. The warp
/// goes around.
fn tube([around, along]: [u32; 2], [width, height]: [f64; 2]) -> (Mesh, Vec<[[f64; 2]; 3]>) {
    let facet = width / f64::from(around);
    // Facets are as wide as in the panel.
    let radius = facet / (2.0 * (PI / f64::from(around)).sin());
    let place = |i: u32, j: u32| {
        let angle = TAU * f64::from(i) / f64::from(around);
        [radius * angle.cos(), height * f64::from(j) / f64::from(along), radius * angle.sin()]
    };
    let vertices: Vec<[f64; 3]> = (0..=along).flat_map(|j| (0..around).map(move |i| place(i, j))).collect();
    let (mut triangles, mut coordinates) = (vec![], vec![]);
    for (i, j) in (0..along).flat_map(|j| (0..around).map(move |i| (i, j))) {
        let corners = [[i, j], [i, j + 1], [i + 1, j + 1], [i + 1, j]];
        for [a, b, c] in [[0, 1, 2], [0, 2, 3]] {
            let of = [a, b, c].map(|k: usize| corners[k]);
            triangles.push(of.map(|[i, j]| j * around + i % around));
            coordinates.push(of.map(|[i, j]| [facet * f64::from(i), height * f64::from(j) / f64::from(along)]));
        }
    }
    (Mesh::new(&vertices, &triangles).unwrap(), coordinates)
}

/// A flat rectangle that is sewn to a tube of its own circumference is not stretched, and bent to the
/// curvature κ = 2π/width all over. Its vertices cannot leave the cylinder, so that it has ½ κ² D/s per
/// area, with D that of a bend along the warp and s the compliance of the hinges along the axis. Where the
/// tube is the rest shape, it has nothing.
#[test]
fn a_tube_sewn_from_a_rectangle_is_bent_and_not_stretched() {
    let (width, height) = (0.3, 0.5);
    for around in [3, 8, 50] {
        let (mesh, coordinates) = tube([around, 4], [width, height]);
        let fabric = Fabric { bend: [3e-4, 7e-6], ..Fabric::cotton() };
        let bent = ImplicitCloth::new("bent", mesh, fabric).unwrap();
        assert!(bent.elastic_energy() < 1e-20);
        let flat = bent.with_material_coordinates(&coordinates).unwrap().flat_at_rest().unwrap();
        let [facet, long] = [width / f64::from(around), height / 4.0];
        // Its first side is along the axis.
        let corners = [[0.0, 0.0], [0.0, long], [facet, long]].map(Vector2::from);
        let [compliance, ..] = partita_elastic::hinge::compliances(&corners);
        let expected = 0.5 * fabric.bend[0] / compliance * (TAU / width).powi(2) * width * height;
        let found = flat.elastic_energy();
        assert!((found / expected - 1.0).abs() < 1e-9, "{around} facets: {found} J for {expected} J");
        assert!(flat.stretch() < 1e-12);
    }
}

/// Where cloth is kept on a cylinder about an axis of any direction, a mesh of equilateral triangles has 9/8
/// of the energy of a plate, the inverse of its compliance. One of halved squares has 7/6 along its sides
/// and 49/24 about its diagonals: half of its hinges of compliance 6/7 at 45°, and half of those of 4/7.
#[test]
fn bending_on_a_cylinder_is_that_of_a_plate_by_the_compliances() {
    let (curvature, rigidity) = (0.5, 1e-3);
    let energy = |mesh: &Mesh, angle: f64| {
        // Rolled up about the axis at that angle; stretch is left out by what it is without bending.
        let turn = Rotation3::new(V3::z() * angle);
        let roll = |x: &V3| {
            let at = turn.inverse() * x;
            let phase = at.x * curvature;
            (turn * V3::new(phase.sin() / curvature, at.y, (1.0 - phase.cos()) / curvature)).into()
        };
        let positions: Vec<[f64; 3]> = mesh.vertices().iter().map(roll).collect();
        let [with, without] = [rigidity, 0.0].map(|bend| {
            let cloth = ImplicitCloth::new("plate", mesh.clone(), Fabric::cotton().bend(bend)).unwrap();
            cloth.with_positions(&positions).unwrap().elastic_energy()
        });
        (with - without) / (0.5 * rigidity * curvature * curvature * mesh.area())
    };
    // Sheared and flattened, halved squares are equilateral triangles; the border, which nothing bends, is small.
    let (n, size) = (60, 0.3);
    let at = |i: u32, j: u32| {
        let [i, j] = [i, j].map(|k| size * f64::from(k) / f64::from(n));
        [i + 0.5 * j, 0.75_f64.sqrt() * j, 0.0]
    };
    let vertices: Vec<[f64; 3]> = (0..=n).flat_map(|j| (0..=n).map(move |i| at(i, j))).collect();
    let corner = |i: u32, j: u32| j * (n + 1) + i;
    let cells = (0..n)
        .flat_map(|j| (0..n).map(move |i| [corner(i, j), corner(i + 1, j), corner(i, j + 1), corner(i + 1, j + 1)]));
    let triangles: Vec<[u32; 3]> = cells.flat_map(|[a, b, c, d]| [[a, b, c], [b, d, c]]).collect();
    let equilateral = Mesh::new(&vertices, &triangles).unwrap();
    let squares = Mesh::grid([n, n], [size, size]).unwrap();
    for (mesh, angle, expected) in [
        (&equilateral, 0.0, 9.0 / 8.0),
        (&equilateral, 0.4, 9.0 / 8.0),
        (&equilateral, 1.3, 9.0 / 8.0),
        (&squares, 0.0, 7.0 / 6.0),
        (&squares, 0.5 * PI, 7.0 / 6.0),
        (&squares, 0.25 * PI, 7.0 / 12.0 + 7.0 / 4.0),
    ] {
        let found = energy(mesh, angle);
        assert!((found / expected - 1.0).abs() < 2.0 / f64::from(n), "at {angle}: {found}");
    }
}

/// A sheet in the middle of a disc with a hole, and a second island beside it.
fn ring_and_patch() -> Mesh {
    let n = 24;
    let at = |radius: f64, k: u32| {
        let angle = TAU * f64::from(k) / f64::from(n);
        [radius * angle.cos(), radius * angle.sin(), 0.0]
    };
    let mut vertices: Vec<[f64; 3]> = [0.1, 0.15, 0.2].iter().flat_map(|r| (0..n).map(|k| at(*r, k))).collect();
    let ring = |row: u32, k: u32| row * n + k % n;
    let cells = (0..2)
        .flat_map(|row| (0..n).map(move |k| [ring(row, k), ring(row + 1, k), ring(row + 1, k + 1), ring(row, k + 1)]));
    let mut triangles: Vec<[u32; 3]> = cells.flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let first = vertices.len() as u32;
    vertices.extend([[1.0, 0.0, 0.0], [1.1, 0.0, 0.0], [1.0, 0.1, 0.0]]);
    triangles.push([first, first + 1, first + 2]);
    Mesh::new(&vertices, &triangles).unwrap()
}

/// Cloth whose material coordinates are 0.9 of its mesh weighs 0.81 as much, is stretched by a ninth at first and at rest 0.9 as
/// large, with holes, in several islands, and seen from either side.
#[test]
fn cloth_takes_the_size_that_it_was_cut_to() {
    let mesh = ring_and_patch();
    assert_eq!(mesh.islands().len(), 2);
    for mirrored in [1.0, -1.0] {
        let cut = |v: u32| {
            let [x, y, _] = mesh.positions()[v as usize];
            [0.9 * x, mirrored * 0.9 * y]
        };
        let coordinates: Vec<[[f64; 2]; 3]> = mesh.triangles().iter().map(|t| t.map(cut)).collect();
        let fabric = Fabric::jersey().damping(0.02);
        let parameters = Parameters { fabric, gravity: [0.0; 3], ..Parameters::default() };
        let cloth = ImplicitCloth::with_parameters("cut", mesh.clone(), parameters).unwrap();
        let mut cloth = cloth.with_material_coordinates(&coordinates).unwrap();
        let (mass, expected) = (cloth.masses().iter().sum::<f64>(), 0.81 * fabric.density * mesh.area());
        assert!((mass / expected - 1.0).abs() < 1e-12, "{mass} kg for {expected} kg");
        assert!((cloth.stretch() - 1.0 / 9.0).abs() < 1e-12);
        for _ in 0..200 {
            cloth.step(1.0 / 60.0, Inputs::NONE).unwrap();
        }
        for edge in mesh.edges() {
            let length = |of: &[V3]| (of[edge.vertices[0] as usize] - of[edge.vertices[1] as usize]).norm();
            let ratio = length(cloth.positions()) / length(mesh.vertices());
            assert!((ratio - 0.9).abs() < 1e-6, "{ratio}");
        }
    }
}

/// A strip whose material coordinates are turned in the plane by any angle is stiff along that direction.
#[test]
fn the_warp_is_that_of_the_coordinates() {
    let mesh = Mesh::grid([4, 4], [0.4, 0.4]).unwrap();
    let fabric = Fabric { stretch: [5000.0, 100.0], shear: 30.0, ..Fabric::cotton() };
    let stretched: Vec<[f64; 3]> = mesh.positions().iter().map(|x| [1.05 * x[0], 0.98 * x[1], 0.0]).collect();
    for angle in [0.0, 0.3, PI / 2.0, 2.5] {
        let (sin, cos) = f64::sin_cos(angle);
        let cut = |v: u32| {
            let [x, y, _] = mesh.positions()[v as usize];
            [cos * x + sin * y, cos * y - sin * x]
        };
        let coordinates: Vec<[[f64; 2]; 3]> = mesh.triangles().iter().map(|t| t.map(cut)).collect();
        let cloth = || ImplicitCloth::new("strip", mesh.clone(), fabric).unwrap().with_positions(&stretched).unwrap();
        let of_coordinates = cloth().with_material_coordinates(&coordinates).unwrap().elastic_energy();
        let of_warp = cloth().with_warp([cos, sin, 0.0]).unwrap().elastic_energy();
        assert!((of_coordinates / of_warp - 1.0).abs() < 1e-12, "{of_coordinates} J, {of_warp} J");
    }
}

/// A refused cut names the element and the field.
#[test]
fn a_bad_cut_is_refused() {
    let mesh = Mesh::grid([2, 1], [0.2, 0.1]).unwrap();
    let good: Vec<[[f64; 2]; 3]> = (mesh.triangles().iter())
        .map(|t| t.map(|v| [mesh.positions()[v as usize][0], mesh.positions()[v as usize][1]]))
        .collect();
    let cut = |coordinates: &[[[f64; 2]; 3]]| {
        let cloth = ImplicitCloth::new("cut", mesh.clone(), Fabric::cotton()).unwrap();
        cloth.with_material_coordinates(coordinates)
    };
    let refused = |result: Result<ImplicitCloth, SimulatorError>| match result {
        Err(error @ SimulatorError::Refused { .. }) => error.to_string(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it was accepted"),
    };
    let with = |triangle: usize, corner: usize, at: [f64; 2]| {
        let mut all = good.clone();
        all[triangle][corner] = at;
        refused(cut(&all))
    };
    assert!(refused(cut(&good[1..])).contains("material coordinates: expected one for each of 4 triangles, found 3"));
    for bad in [f64::NAN, f64::INFINITY] {
        assert!(
            with(2, 1, [0.0, bad]).starts_with("material coordinates [m] of triangle 2, corner 1: expected finite")
        );
    }
    for bad in
        [good[3][1], [1e300, 1.0], [0.5 * (good[3][1][0] + good[3][2][0]), 0.5 * (good[3][1][1] + good[3][2][1])]]
    {
        assert!(with(3, 0, bad).starts_with("triangle 3, area at rest [m²]: expected a finite one"), "{bad:?}");
    }
    let tiny: Vec<_> = good.iter().map(|t| t.map(|at| at.map(|x| 3e-153 * x))).collect();
    assert!(refused(cut(&tiny)).starts_with("vertex 0, mass [kg]"), "{}", refused(cut(&tiny)));
    let warped = cut(&good).unwrap().with_warp([0.0, 1.0, 0.0]);
    assert!(refused(warped).contains("none beside material coordinates"));
    let mut stepped = cut(&good).unwrap();
    stepped.step(0.01, Inputs::NONE).unwrap();
    assert!(refused(stepped.with_material_coordinates(&good)).contains("before the first step"));
    let mut stepped = cut(&good).unwrap();
    stepped.step(0.01, Inputs::NONE).unwrap();
    assert!(refused(stepped.flat_at_rest()).contains("before the first step"));
}
