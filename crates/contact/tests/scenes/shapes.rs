//! Triangles as they come: what is no manifold, has no area, hangs on nothing.

use crate::common::{Cloth, flat};
use nalgebra::{Isometry3, Vector3};
use partita_contact::{ContactError, Contacts, Features, Obstacle, Parameters, Path, Report, Shape, State, Step};

type V3 = Vector3<f64>;

#[derive(Clone, Default)]
struct Soup {
    x: Vec<V3>,
    triangles: Vec<[u32; 3]>,
}

impl Soup {
    /// Appends another one, on vertices of its own.
    fn add(&mut self, other: &Soup, offset: V3) {
        let first = self.x.len() as u32;
        self.x.extend(other.x.iter().map(|x| x + offset));
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|v| v + first)));
    }

    fn obstacle(&self) -> Obstacle {
        let vertices = self.x.iter().map(|&x| x.into()).collect();
        Obstacle::new(Shape::Mesh { vertices, triangles: self.triangles.clone(), lines: vec![] }).friction(0.3)
    }
}

fn sheet(cells: u32, size: f64) -> Soup {
    let mesh = flat([cells; 2], [size; 2], 0.0);
    Soup { x: mesh.vertices().to_vec(), triangles: mesh.triangles().to_vec() }
}

/// Three pages on one spine: each edge of the spine has three triangles.
fn book() -> Soup {
    let (cells, edge) = (6, 0.02);
    let mut book = Soup::default();
    let along = |k: u32| edge * (f64::from(k) - 0.5 * f64::from(cells));
    book.x.extend((0..=cells).map(|k| V3::new(0.0, 0.0, along(k))));
    for angle in [0.0_f64, 1.2, 2.9] {
        let first = book.x.len() as u32;
        for row in 1..=cells {
            let out = edge * f64::from(row);
            book.x.extend((0..=cells).map(|k| V3::new(out * angle.cos(), out * angle.sin(), along(k))));
        }
        let vertex = |row: u32, k: u32| if row == 0 { k } else { first + (row - 1) * (cells + 1) + k };
        for (row, k) in (0..cells).flat_map(|row| (0..cells).map(move |k| (row, k))) {
            let [a, b, c, d] = [vertex(row, k), vertex(row, k + 1), vertex(row + 1, k), vertex(row + 1, k + 1)];
            book.triangles.extend([[a, b, d], [a, d, c]]);
        }
    }
    book
}

/// Two sheets that have one corner in common.
fn bow_tie() -> Soup {
    let one = sheet(5, 0.12);
    let mut both = one.clone();
    // The last vertex is the corner at +x, +z; the other sheet's corner at -x, -z comes to lie there.
    let corner = |soup: &Soup, sign: f64| {
        let outermost = |a: &usize, b: &usize| {
            let along = |k: usize| sign * (soup.x[k].x + soup.x[k].z);
            along(*a).total_cmp(&along(*b))
        };
        (0..soup.x.len()).max_by(outermost).unwrap()
    };
    let (here, there) = (corner(&one, 1.0), corner(&one, -1.0));
    let first = both.x.len() as u32;
    both.add(&one, one.x[here] - one.x[there]);
    for v in both.triangles.iter_mut().flatten().filter(|v| **v >= first) {
        let own = *v - first;
        *v = match own.cmp(&(there as u32)) {
            std::cmp::Ordering::Less => *v,
            std::cmp::Ordering::Equal => here as u32,
            std::cmp::Ordering::Greater => *v - 1,
        };
    }
    both.x.remove(first as usize + there);
    both
}

/// A sheet whose neighbours disagree about outside.
fn flipped() -> Soup {
    let mut sheet = sheet(8, 0.16);
    sheet.triangles.iter_mut().step_by(2).for_each(|t| t.swap(0, 1));
    sheet
}

/// A band that is twisted once and has one side only.
fn one_sided() -> Soup {
    let (around, radius) = (24_u32, 0.07);
    let place = |k: u32, side: f64| {
        let angle = std::f64::consts::TAU * f64::from(k) / f64::from(around);
        let (out, up) = ((0.5 * angle).cos(), (0.5 * angle).sin());
        let r = radius + side * out;
        V3::new(r * angle.cos(), side * up, r * angle.sin())
    };
    let mut band = Soup::default();
    for k in 0..around {
        band.x.extend([place(k, -0.02), place(k, 0.02)]);
        // Once around, left is right.
        let [c, d] = if k + 1 < around { [2 * k + 2, 2 * k + 3] } else { [1, 0] };
        band.triangles.extend([[2 * k, 2 * k + 1, d], [2 * k, d, c]]);
    }
    band
}

fn odd() -> [(&'static str, Soup); 4] {
    [("book", book()), ("bow-tie", bow_tie()), ("flipped", flipped()), ("one-sided", one_sided())]
}

/// Half a second on a ball and a floor. Nothing crosses or is not finite in any step.
fn fall(name: &str, soup: &Soup) -> Cloth {
    let ball = Obstacle::new(Shape::Ball { radius: 0.05 }).friction(0.2);
    let floor = Obstacle::new(Shape::HalfSpace).friction(0.4);
    let mut cloth = Cloth::of(soup.x.clone(), &soup.triangles, Parameters::default(), vec![ball, floor]);
    let centre = V3::new(0.011, 0.05, 0.007);
    let paths = [Path::still(Isometry3::from(centre)), Path::still(Isometry3::identity())];
    let mut met = 0;
    for i in 0..120 {
        let report = cloth.step(1.0 / 240.0, &paths);
        met += report.contacts;
        assert!(report.pinched.is_empty(), "{name} step {i}");
        assert_eq!(cloth.crossings(), 0, "{name} step {i}");
        let good = |x: &V3| x.y > 0.0 && (x - centre).norm() > 0.05 && x.iter().all(|c| c.is_finite());
        assert!(cloth.x.iter().all(good), "{name} step {i}");
    }
    assert!(met > 100, "{name}: {met} contacts");
    cloth
}

/// Edges with three triangles, fans that touch in a vertex, neighbours that disagree about outside, and a surface with one
/// side fall on a ball, on the floor and on each other (X3).
#[test]
fn cloth_need_be_no_manifold() {
    for (name, soup) in odd() {
        let mut three = Soup::default();
        (0..3).for_each(|k| three.add(&soup, V3::new(0.013 * f64::from(k), 0.17 + 0.13 * f64::from(k), 0.0)));
        fall(name, &three);
    }
    let mut all = Soup::default();
    for (k, (_, soup)) in (0..).zip(odd()) {
        all.add(&soup, V3::new(0.0, 0.17 + 0.13 * f64::from(k), 0.01 * f64::from(k)));
    }
    fall("all", &all);
}

/// The same as obstacles: standing still, and moved by their points against a falling sheet (X3).
#[test]
fn obstacles_need_be_no_manifolds() {
    for (name, soup) in odd() {
        for speed in [0.0, 0.5] {
            let mut cloth =
                Cloth::new(&flat([14, 14], [0.28, 0.28], 0.14), Parameters::default(), vec![soup.obstacle()]);
            let at = |i: i32| soup.x.iter().map(|x| x + V3::y() * speed * f64::from(i) / 240.0).collect::<Vec<_>>();
            let mut met = 0;
            for i in 0..72 {
                let [begin, end] = [at(i), at(i + 1)];
                let still = Path::still(Isometry3::identity());
                let path = if speed > 0.0 { Path::Points { begin: &begin, end: &end } } else { still };
                let report = cloth.step(1.0 / 240.0, &[path]);
                met += report.contacts;
                assert!(report.pinched.is_empty(), "{name} at {speed} m/s, step {i}");
                let through = cloth.crossings() + cloth.crossings_with(&end, &soup.triangles);
                assert_eq!(through, 0, "{name} at {speed} m/s, step {i}");
            }
            assert!(met > 100, "{name} at {speed} m/s: {met} contacts");
        }
    }
}

/// Triangles without area (corners in a line, two at one place, all three at one place) fall among sheets, on a ball and a
/// floor, and are lain on (X2).
#[test]
fn triangles_need_no_area() {
    let v = V3::new;
    let flat_ones = [
        [v(0.0, 0.0, 0.0), v(0.01, 0.0, 0.0), v(0.03, 0.0, 0.0)],
        [v(0.0, 0.0, 0.0), v(0.01, 0.01 / 7.0, 0.01 / 3.0), v(0.02, 0.02 / 7.0, 0.02 / 3.0)],
        [v(0.0, 0.0, 0.0), v(0.0, 0.0, 0.0), v(0.02, 0.0, 0.01)],
        [v(0.0, 0.0, 0.0); 3],
    ];
    let mut soup = Soup::default();
    for layer in 0..3 {
        let y = 0.11 + 0.01 * f64::from(layer);
        for (k, corners) in (0..).zip(&flat_ones) {
            let one = Soup { x: corners.to_vec(), triangles: vec![[0, 1, 2]] };
            soup.add(&one, v(0.035 * f64::from(k) - 0.05, y, 0.02 * f64::from(layer) - 0.03));
        }
        soup.add(&sheet(5, 0.15), V3::y() * (y + 0.005));
    }
    let cloth = fall("without area", &soup);
    // The points are still points: nothing pulls their corners apart but contact, which finds them all at one place.
    assert!(cloth.x.iter().all(|x| x.norm() < 1.0));

    // As obstacles.
    for corners in flat_ones {
        let obstacle = Soup { x: corners.to_vec(), triangles: vec![[0, 1, 2]] };
        let mut cloth = Cloth::new(&flat([6, 6], [0.12, 0.12], 0.03), Parameters::default(), vec![obstacle.obstacle()]);
        cloth.x.iter_mut().for_each(|x| *x += v(0.003, 0.0, 0.001));
        let mut met = 0;
        for i in 0..48 {
            let report = cloth.step(1.0 / 240.0, &[Path::still(Isometry3::identity())]);
            met += report.contacts;
            assert!(report.pinched.is_empty(), "step {i}");
            assert_eq!(cloth.crossings() + cloth.crossings_with(&obstacle.x, &obstacle.triangles), 0, "step {i}");
            assert!(cloth.x.iter().all(|x| x.iter().all(|c| c.is_finite())), "step {i}");
        }
        assert!(met > 10, "{corners:?}: {met} contacts");
    }
}

fn resolved(x: &[V3], triangles: &[[u32; 3]]) -> Result<Report, ContactError> {
    let features = Features::new(x.len(), triangles, &[]).unwrap();
    let mut contacts = Contacts::new(features, Parameters::default(), vec![]).unwrap();
    let step = Step { dt: 0.01, begin: x, velocities: None, inverse_masses: &vec![1e3; x.len()], paths: &[] };
    let mut end: Vec<V3> = x.iter().map(|x| 1.01 * x).collect();
    let before = end.clone();
    let result = contacts.resolve(&mut State::default(), &step, &mut end);
    assert!(result.is_ok() || end == before);
    result
}

/// A vertex that lies on an edge of a neighbour, with a triangle without area to fill the gap, and a seam whose vertices
/// are there twice, have no side on which they could be kept: refused, with the vertices' numbers (X2, X4).
#[test]
fn seams_are_refused_by_name() {
    let v = V3::new;
    // 4 is the middle of the edge from 0 to 1; [0, 1, 4] has no area.
    let x = [v(0.0, 0.0, 0.0), v(1.0, 0.0, 0.0), v(0.5, 0.0, 1.0), v(0.5, 0.0, -1.0), v(0.5, 0.0, 0.0)];
    let error = resolved(&x, &[[0, 1, 2], [0, 4, 1], [4, 0, 3], [1, 4, 3]]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "edges of vertices [0, 1, 3, 4] touch at the begin; parts at one place have to share vertices"
    );
    // Without that vertex it is cloth.
    resolved(&x[..4], &[[0, 1, 2], [1, 0, 3]]).unwrap();

    // Along the edge from 0 to 1, each side has its own vertices.
    let x =
        [v(0.0, 0.0, 0.0), v(1.0, 0.0, 0.0), v(0.5, 0.0, 1.0), v(1.0, 0.0, 0.0), v(0.0, 0.0, 0.0), v(0.5, 0.0, -1.0)];
    let error = resolved(&x, &[[0, 1, 2], [3, 4, 5]]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "point and triangle of vertices [0, 3, 4, 5] touch at the begin; parts at one place have to share vertices"
    );
}

/// Loose vertices, lone edges and small islands fall on a sheet that is held at its rim, and come to lie on it: from none
/// does a ray straight up pass through the sheet (X5).
#[test]
fn loose_parts_come_to_lie_on_a_sheet() {
    let mut soup = sheet(10, 0.2);
    let held: Vec<usize> = (0..soup.x.len()).filter(|&k| soup.x[k].x.abs().max(soup.x[k].z.abs()) > 0.099).collect();
    let (base, under) = (soup.x.len(), soup.triangles.len());
    let place = |k: i32, y: f64| V3::new(0.021 * f64::from(k % 7 - 3), y, 0.023 * f64::from(k / 7 - 2) + 0.001);
    for k in 0..35 {
        soup.add(&Soup { x: vec![V3::zeros()], triangles: vec![] }, place(k, 0.01));
        let corners = [V3::zeros(), V3::new(0.012, 0.0, 0.001), V3::new(0.002, 0.003, 0.012)];
        soup.add(&Soup { x: corners.to_vec(), triangles: vec![[0, 1, 2]] }, place(k, 0.02));
    }
    let edges: Vec<[u32; 2]> =
        (0..12).map(|k| [soup.x.len() as u32 + 2 * k, soup.x.len() as u32 + 2 * k + 1]).collect();
    for k in 0..12 {
        let middle = place(2 * k + 5, 0.035);
        soup.x.extend([middle - V3::x() * 0.01, middle + V3::new(0.01, 0.005, 0.004)]);
    }

    let features = Features::new(soup.x.len(), &soup.triangles, &edges).unwrap();
    let mut cloth = Cloth::of(soup.x, &soup.triangles, Parameters::default(), vec![]);
    cloth.contacts = Contacts::new(features, Parameters::default(), vec![]).unwrap();
    // As heavy as the vertices of the sheet.
    cloth.inverse_masses.fill(1.25e4);
    held.iter().for_each(|&k| cloth.inverse_masses[k] = 0.0);
    cloth.substeps = 8;
    for i in 0..120 {
        let report = cloth.step(1.0 / 240.0, &[]);
        assert!(report.pinched.is_empty(), "step {i}");
        assert_eq!(cloth.crossings(), 0, "step {i}");
        for x in &cloth.x[base..] {
            assert!(x.iter().all(|c| c.is_finite()), "step {i}");
            let up = x + V3::y();
            let corners = |t: &[u32; 3]| t.map(|v| cloth.x[v as usize]);
            let through = |[a, b, c]: [V3; 3]| partita_contact::crosses([x, &up], [&a, &b, &c]);
            let above = soup.triangles[..under].iter().filter(|t| through(corners(t))).count();
            assert_eq!(above, 0, "step {i}: {x}");
        }
    }
    // All have come down on it.
    assert!(cloth.x[base..].iter().filter(|x| x.y < 0.01).count() > 150);
}
