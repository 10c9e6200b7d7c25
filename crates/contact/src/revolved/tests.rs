use nalgebra::{Isometry3, Point3};
use parry3d_f64::{
    math::Vector,
    query::PointQuery,
    shape::{Cone, Cylinder},
};

use super::{pairs::Round, *};

/// Numbers from -1 to 1 without pattern, the same in each run.
struct Random(u64);

impl Random {
    fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self, size: f64) -> V3 {
        V3::from_fn(|_, _| size * self.number())
    }
}

/// A solid, and the same of another library, about the y axis.
fn solids() -> [(Revolved, Box<dyn PointQuery>); 4] {
    let cylinder = |half, radius| {
        let solid = Revolved { half, radii: [radius; 2] };
        (solid, Box::new(Cylinder::new(half, radius)) as Box<dyn PointQuery>)
    };
    let cone = |half, radius| {
        let solid = Revolved { half, radii: [radius, 0.0] };
        (solid, Box::new(Cone::new(half, radius)) as Box<dyn PointQuery>)
    };
    [cylinder(0.4, 0.3), cylinder(0.05, 0.5), cone(0.3, 0.4), cone(0.6, 0.1)]
}

fn ends(solid: &Revolved) -> [V3; 2] {
    [-solid.half * V3::y(), solid.half * V3::y()]
}

fn outside(other: &dyn PointQuery, p: &V3) -> f64 {
    other.distance_to_local_point(Vector::new(p.x, p.y, p.z), true)
}

/// Outside as parry has it. Inside the point is as far from the surface as where the normal leads, and no face is nearer: the
/// solid's own slabs say so. Both to rounding of lengths about 1.
#[test]
fn distances_of_points_are_exact() {
    let mut random = Random(1);
    for (solid, other) in solids() {
        let posed = solid.at(&ends(&solid));
        for _ in 0..20_000 {
            let p = random.vector(1.0);
            let (gap, n) = posed.point(&p);
            let expected = outside(&*other, &p);
            assert!((gap.max(0.0) - expected).abs() < 1e-12, "{solid:?} {p}: {gap} {expected}");
            assert!((n.norm() - 1.0).abs() < 1e-12);
            // From either side the surface is where the normal and the distance lead.
            let (left, _) = posed.point(&(p - gap * n));
            assert!(left.abs() < 1e-12, "{solid:?} {p}: {left} m from the surface");
            let (more, _) = posed.point(&(p + 1e-3 * n));
            assert!((more - gap - 1e-3).abs() < 1e-12, "{solid:?} {p}: {more} {gap}");
        }
    }
}

/// Least signed distance of the places of a triangle on a grid of `n`.
fn sampled(posed: &Posed, x: &[V3; 3], n: u32) -> f64 {
    let grid = (0..=n).flat_map(|i| (0..=n - i).map(move |j| (i, j)));
    let distances = grid.map(|(i, j)| {
        let [i, j] = [i, j].map(|k| f64::from(k) / f64::from(n));
        posed.point(&(x[0] + i * (x[1] - x[0]) + j * (x[2] - x[0]))).0
    });
    distances.fold(f64::INFINITY, f64::min)
}

/// As a search by thirds has it, for solids that are turned and up to a kilometre away. Half of the edges pass through the
/// axis, where rounding hides the direction away from it. Tolerances are roundings of coordinates.
#[test]
fn distances_of_edges_are_least_along_them() {
    let mut random = Random(2);
    for (solid, _) in solids() {
        for k in 0..2000 {
            let (axis, away) = (random.vector(1.0).normalize(), [0.0, 1.0, 1e3][k % 3]);
            let (centre, rounding) = (random.vector(away), 1e-14 * (1.0 + away));
            let posed = solid.at(&[-1.0, 1.0].map(|end| centre + end * solid.half * axis));
            let through = centre + random.number() * solid.half * axis;
            let [a, other] = [(); 2].map(|()| centre + random.vector(1.0));
            let b = if k % 2 == 0 { other } else { through + random.number().abs() * (through - a) };
            let distance = |t: f64| posed.point(&(a + t * (b - a))).0;
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..90 {
                let [one, other] = [1.0, 2.0].map(|part| low + part / 3.0 * (high - low));
                if distance(one) < distance(other) { high = other } else { low = one }
            }
            let expected = distance(low).min(distance(0.0)).min(distance(1.0));
            let (t, gap, n) = posed.edge(&a, &b);
            assert!((gap - distance(t)).abs() <= rounding && (n.norm() - 1.0).abs() < 1e-12, "{solid:?} {a} {b} {n}");
            // Rounding misleads the search by thirds too.
            assert!((gap - expected).abs() < 100.0 * rounding, "{solid:?} {a} {b}: {gap} {expected}");
        }
    }
}

/// The nearest of a triangle's vertices, edges and rims is as near as the nearest of all of its places, tried on a grid, and no
/// nearer than that by more than the grid is wide. The triangle is outside; it is small and large, and lies on faces as well.
#[test]
fn features_of_a_triangle_have_its_distance() {
    let mut random = Random(3);
    let mut inner = 0;
    for (solid, _) in solids() {
        let posed = solid.at(&ends(&solid));
        for k in 0..600 {
            let at = random.vector(0.8);
            let mut x = [(); 3].map(|()| at + random.vector(if k % 2 == 0 { 0.2 } else { 1.5 }));
            if k % 5 == 0 {
                x.iter_mut().for_each(|x| x.y = solid.half + 0.01);
            }
            let n = 60;
            let sampled = sampled(&posed, &x, n);
            if sampled <= 0.05 {
                continue;
            }
            let edges = [(0, 1), (1, 2), (2, 0)].map(|(a, b)| posed.edge(&x[a], &x[b]).1);
            let rims = [0, 1].map(|rim| posed.rim(rim, &x)).into_iter().filter(|rim| rim.touches).map(|rim| rim.gap);
            let of_edges = edges.into_iter().fold(f64::INFINITY, f64::min);
            let least = rims.fold(of_edges, f64::min);
            inner += u32::from(least < of_edges);
            let width = (x[1] - x[0]).norm().max((x[2] - x[0]).norm()) / f64::from(n);
            assert!(least <= sampled + 1e-9 && least > sampled - width, "{solid:?} {x:?}: {least} {sampled}");
        }
    }
    assert!(inner > 50, "{inner} nearest places within triangles");
}

/// Motions that end with the nearest place at a known depth: each is stopped before, at the gap that is asked for, and where the
/// motion is sampled no feature is nearer than that before. The solid turns and moves as well.
#[test]
fn no_impact_is_missed() {
    let mut random = Random(4);
    let (mut hits, separation) = ([0; 4], 1e-3);
    for (solid, _) in solids() {
        for (kind, hits) in hits.iter_mut().enumerate() {
            let feature = || match kind {
                0 => Feature::Vertex,
                1 => Feature::Edge,
                k => Feature::Triangle { rim: k - 2 },
            };
            for _ in 0..500 {
                let round = Round { solid: &solid, feature: feature() };
                let at = random.vector(1.0);
                let x: [V3; 4] = std::array::from_fn(|_| at + random.vector(0.5));
                let way = random.vector(0.3) - 1.2 * at;
                let u: [V3; 4] = std::array::from_fn(|_| way + random.vector(0.2));
                let turn = Isometry3::new(random.vector(0.2), random.vector(0.3));
                let begin = ends(&solid);
                let ways = begin.map(|p| (turn * Point3::from(p)).coords - p);
                let measured = |s: f64| {
                    let posed = solid.at(&[0, 1].map(|k| begin[k] + s * ways[k]));
                    let now = round.feature.cloth(&std::array::from_fn(|k| x[k] + s * u[k]));
                    let measured = posed.measure(&round.feature, &now);
                    // Where an edge of a triangle or the other rim has come to it, that is theirs to stop.
                    let is_others = match round.feature {
                        Feature::Triangle { rim } => {
                            let other = posed.rim(1 - rim, &now);
                            posed.edges(&now).gap < 0.02 || other.touches && other.gap < 0.02
                        }
                        _ => false,
                    };
                    (if measured.touches { measured.gap } else { f64::INFINITY }, is_others)
                };
                // All of the feature is outside at first.
                if sampled(&solid.at(&begin), &round.feature.cloth(&x), 40) < 0.03 {
                    continue;
                }
                let found = round.impact([&x, &u], [&begin, &ways], separation, 1e-4);
                let end = found.map_or(1.0, |impact| impact.time);
                *hits += u32::from(found.is_some());
                for k in 0..=400 {
                    let (gap, is_others) = measured(f64::from(k) / 400.0 * end);
                    if is_others {
                        break;
                    }
                    assert!(gap >= separation, "{solid:?}, kind {kind}: {gap} at {k} of 400, until {end}");
                }
                if let Some(impact) = found {
                    let (gap, _) = measured(impact.time);
                    assert!(gap < separation + 1e-3, "{solid:?}, kind {kind}: stopped {gap} away");
                }
            }
        }
    }
    assert!(hits.iter().all(|&hits| hits > 100), "{hits:?} impacts");
}

/// A triangle folds down over a rim about an edge that is, and stays, a tiny gap above it: its plane passes through the rim beside
/// it at first, and its inside comes into it in the end. Its edges stay outside, so its pair with the rim has the impact.
#[test]
fn no_impact_is_missed_that_folds_down_from_an_edge() {
    let mut random = Random(5);
    let gap = 2e-5;
    for (solid, _) in solids() {
        for _ in 0..200 {
            let mut positive = || random.number().abs();
            let turn = UnitQuaternion::from_axis_angle(&V3::y_axis(), 6.0 * positive());
            let (side, tangent) = (turn * V3::x(), turn * V3::z());
            let n = (side - positive() * V3::y()).normalize();
            let (along, length, slope) = (n.cross(&tangent), 0.5 + positive(), 0.1 + 0.2 * positive());
            let edge = solid.radii[0] * side - solid.half * V3::y() + gap * n;
            let [a, b] = [edge - 0.3 * along, edge + 0.2 * along];
            let x = [V3::zeros(), a, b, edge + length * (slope * n - tangent)];
            let u = [V3::zeros(), V3::zeros(), V3::zeros(), -2.0 * length * slope * n];
            let round = Round { solid: &solid, feature: Feature::Triangle { rim: 0 } };
            let still = [V3::zeros(); 2];
            let impact = round.impact([&x, &u], [&ends(&solid), &still], 0.5 * gap, 0.05 * gap).expect("an impact");
            let now = round.feature.cloth(&std::array::from_fn(|k| x[k] + impact.time * u[k]));
            let least = sampled(&solid.at(&ends(&solid)), &now, 60);
            assert!(least > 0.5 * gap, "{solid:?}: {least} m then");
            assert!(impact.time > 0.1, "{solid:?}: at {}", impact.time);
        }
    }
}

/// What is near at the start as well: an edge lies still a tiny gap above the solid, anywhere along it, and the third vertex goes
/// down. Either an edge or a rim has the impact, at the gap that each keeps, or the triangle stays outside.
#[test]
fn no_impact_is_missed_from_a_tiny_gap() {
    let mut random = Random(6);
    let mut hits = 0;
    let known = (
        [
            V3::new(-0.0822199752606615, -0.4000020821936785, -0.00657744745349289),
            V3::new(0.16688581728778232, -0.4000020821936785, 0.4482744451492444),
            V3::new(-0.6882179437173882, -1.4436658450804862, 1.0534457880137673),
        ],
        V3::new(-1.3447791450376743, 1.1477774174190452, 0.5734464187249243),
    );
    for (number, (solid, _)) in solids().into_iter().enumerate() {
        let still = solid.at(&ends(&solid));
        for k in 0..2000 {
            let (triangle, down) = if number == 0 && k == 0 {
                known
            } else {
                // The edge is moved out to its gap, and all of the triangle is outside the tangent plane there.
                let [a, b] = [random.vector(0.6), random.vector(0.6)];
                let (_, gap, n) = still.edge(&a, &b);
                let out = (10.0_f64.powf(-5.0 + random.number()) - gap) * n;
                let [a, b] = [a + out, b + out];
                let (t, _, n) = still.edge(&a, &b);
                let c = a + random.vector(1.0);
                let inward = n.dot(&(a.lerp(&b, t) - c)).max(0.0);
                ([a, b, c + inward * n], random.vector(1.5))
            };
            let (_, of_edge, _) = still.edge(&triangle[0], &triangle[1]);
            if of_edge <= 1e-7 {
                continue;
            }
            let [a, b, c] = triangle;
            let impact = |feature: Feature, x: [V3; 4], u: [V3; 4]| {
                let round = Round { solid: &solid, feature };
                let begin = round.nearest(&x, &ends(&solid)).distance() - solid.radii[0];
                let kept = (0.5 * begin).min(1e-4);
                (kept > 0.0).then(|| round.impact([&x, &u], [&ends(&solid), &[V3::zeros(); 2]], kept, 0.1 * kept))?
            };
            let (o, u) = (V3::zeros(), [V3::zeros(), V3::zeros(), V3::zeros(), down]);
            let found = [
                impact(Feature::Edge, [a, b, o, o], [o; 4]),
                impact(Feature::Edge, [b, c, o, o], [o, down, o, o]),
                impact(Feature::Edge, [c, a, o, o], [down, o, o, o]),
                impact(Feature::Triangle { rim: 0 }, [o, a, b, c], u),
                impact(Feature::Triangle { rim: 1 }, [o, a, b, c], u),
            ];
            let first = found.iter().flatten().map(|impact| impact.time).fold(1.0, f64::min);
            hits += u32::from(first < 1.0);
            for part in 0..=20 {
                let now = [a, b, c + f64::from(part) / 20.0 * first * down];
                let deepest = sampled(&still, &now, 60);
                assert!(deepest >= 0.0, "{solid:?} {k}: {deepest} at {part} of 20 until {first}");
            }
        }
    }
    assert!(hits > 500, "{hits} impacts");
}
