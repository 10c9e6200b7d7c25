//! Distances against exact arithmetic, impacts against collisions that are known to be there.

use nalgebra::Vector3;
use partita_contact::{Kind, impact, nearest, rounding};
use proptest::prelude::*;

type I3 = [i128; 3];

fn sub(a: I3, b: I3) -> I3 {
    [0, 1, 2].map(|k| a[k] - b[k])
}

fn dot(a: I3, b: I3) -> i128 {
    (0..3).map(|k| a[k] * b[k]).sum()
}

fn cross(a: I3, b: I3) -> I3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// A squared distance, exact: numerator and denominator.
type Square = (i128, i128);

fn least(squares: impl IntoIterator<Item = Square>) -> f64 {
    squares.into_iter().map(|(n, d)| n as f64 / d as f64).fold(f64::INFINITY, f64::min).sqrt()
}

fn point_segment(p: I3, a: I3, b: I3) -> Square {
    let (e, r) = (sub(b, a), sub(p, a));
    let (along, length) = (dot(r, e), dot(e, e));
    if length > 0 && along > 0 && along < length {
        let c = cross(r, e);
        (dot(c, c), length)
    } else {
        let other = sub(p, b);
        (dot(r, r).min(dot(other, other)), 1)
    }
}

fn exact_point_triangle([p, a, b, c]: [I3; 4]) -> f64 {
    let n = cross(sub(b, a), sub(c, a));
    let nn = dot(n, n);
    let within = [(a, b), (b, c), (c, a)].iter().all(|&(i, j)| dot(cross(sub(j, i), sub(p, i)), n) >= 0);
    let mut squares = vec![point_segment(p, a, b), point_segment(p, b, c), point_segment(p, c, a)];
    if nn > 0 && within {
        let height = dot(n, sub(p, a));
        squares.push((height * height, nn));
    }
    least(squares)
}

fn exact_edge_edge([a, b, c, d]: [I3; 4]) -> f64 {
    let (u, v, r) = (sub(b, a), sub(d, c), sub(c, a));
    let n = cross(u, v);
    let nn = dot(n, n);
    let (s, t) = (dot(cross(r, v), n), dot(cross(r, u), n));
    let mut squares =
        vec![point_segment(a, c, d), point_segment(b, c, d), point_segment(c, a, b), point_segment(d, a, b)];
    if nn > 0 && (0..=nn).contains(&s) && (0..=nn).contains(&t) {
        let height = dot(n, r);
        squares.push((height * height, nn));
    }
    least(squares)
}

fn real(x: [I3; 4]) -> [Vector3<f64>; 4] {
    x.map(|p| Vector3::from(p.map(|c| c as f64)))
}

/// Anything, small grids with all their coincidences, slivers, and edges that are nearly parallel.
fn features() -> impl Strategy<Value = [I3; 4]> {
    let wide = prop::array::uniform4(prop::array::uniform3(-(1_i128 << 18)..1 << 18));
    let grid = prop::array::uniform4(prop::array::uniform3(-2_i128..3));
    let sliver = (prop::array::uniform4(prop::array::uniform3(-3_i128..4)), -(1_i128 << 17)..1 << 17, 0..3_usize)
        .prop_map(|(x, long, axis)| {
            let mut x = x;
            let shares = [long / 3, 0, long, long / 2];
            x.iter_mut().zip(shares).for_each(|(p, share)| p[axis] += share);
            x
        });
    let parallel =
        (prop::array::uniform4(prop::array::uniform3(-3_i128..4)), prop::array::uniform3(-(1_i128 << 16)..1 << 16))
            .prop_map(|(x, along)| {
                let mut x = x;
                for end in [1, 3] {
                    (0..3).for_each(|k| x[end][k] += along[k]);
                }
                x
            });
    prop_oneof![wide, grid, sliver, parallel]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// Within a tenth of the rounding that impacts allow for, and the weights give the offset.
    #[test]
    fn distances_are_those_of_exact_arithmetic(x in features()) {
        let exact = [(Kind::PointTriangle, exact_point_triangle(x)), (Kind::EdgeEdge, exact_edge_edge(x))];
        let x = real(x);
        let reach = x.iter().fold(0.0_f64, |r, p| r.max(p.amax()));
        for (kind, exact) in exact {
            let near = nearest(kind, &x);
            let error = (near.distance() - exact).abs();
            prop_assert!(error <= 0.1 * rounding(reach), "{kind:?}: {} instead of {exact}", near.distance());
            let offset: Vector3<f64> = (0..4).map(|k| near.weights[k] * x[k]).sum();
            prop_assert!((offset - near.offset).norm() <= rounding(reach));
            let first = if kind == Kind::PointTriangle { 1 } else { 2 };
            prop_assert!((near.weights[..first].iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!((near.weights[first..].iter().sum::<f64>() + 1.0).abs() < 1e-12);
            prop_assert!(near.weights[..first].iter().all(|&w| w >= 0.0));
            prop_assert!(near.weights[first..].iter().all(|&w| w <= 0.0));
        }
    }

    /// Features that meet at some moment, by construction: the nearest points of both, anywhere on them, are at one
    /// place then. Half of all numbers are on a grid of eighths, so that edges are parallel, features coplanar,
    /// motions none. Every one is reported, and not after it happened.
    #[test]
    fn no_collision_is_missed(
        x in prop::array::uniform4(prop::array::uniform3(coordinate())),
        u in prop::array::uniform4(prop::array::uniform3(coordinate())),
        (time, s, t) in (0.0..=1.0_f64, 0.0..=1.0_f64, 0.0..=1.0_f64),
        whole in any::<bool>(),
        share in 0.0..=1.0_f64,
    ) {
        let on_grid = |v: f64| if whole { (v * 8.0).round() / 8.0 } else { v };
        let (time, s, t) = (on_grid(time), on_grid(s), on_grid(t) * (1.0 - on_grid(s)));
        for kind in [Kind::PointTriangle, Kind::EdgeEdge] {
            let weights = match kind {
                Kind::PointTriangle => [1.0, s + t - 1.0, -s, -t],
                Kind::EdgeEdge => [1.0 - s, s, t - 1.0, -t],
            };
            let mut x = x.map(Vector3::from);
            let mut u = u.map(Vector3::from);
            // The first feature is put where they meet, partly by where it starts, partly by how it moves.
            let gap: Vector3<f64> = (0..4).map(|k| weights[k] * (x[k] + time * u[k])).sum();
            let first = if kind == Kind::PointTriangle { 1 } else { 2 };
            let by_start = if time > 0.1 { on_grid(share) } else { 1.0 };
            for k in 0..first {
                x[k] -= by_start * gap;
                u[k] -= if by_start < 1.0 { (1.0 - by_start) * gap / time } else { Vector3::zeros() };
            }
            let found = impact(kind, &x, &u, 0.0, 1e-9);
            prop_assert!(found.is_some(), "{kind:?} missed: {x:?} {u:?} at {time}");
            // The construction itself rounds: by 1e-15 of lengths of a few metres, over the speed.
            let first_touch = found.map_or(2.0, |impact| impact.time);
            prop_assert!(first_touch <= time + 1e-9, "{kind:?}: found at {first_touch}, is at {time}");
        }
    }

    /// What is said not to touch does not: the distance is taken at a thousand moments.
    #[test]
    fn what_is_said_to_be_free_is_free(
        x in prop::array::uniform4(prop::array::uniform3(coordinate())),
        u in prop::array::uniform4(prop::array::uniform3(coordinate())),
        separation in 0.0..0.2_f64,
    ) {
        for kind in [Kind::PointTriangle, Kind::EdgeEdge] {
            let (x, u) = (x.map(Vector3::from), u.map(Vector3::from));
            let until = impact(kind, &x, &u, separation, 1e-3).map_or(1.0, |impact| impact.time);
            for i in 0..=200 {
                let time = until * f64::from(i) / 200.0;
                let at: [Vector3<f64>; 4] = std::array::from_fn(|k| x[k] + time * u[k]);
                let distance = nearest(kind, &at).distance();
                prop_assert!(until == 0.0 || distance > separation, "{kind:?}: {distance} at {time} of {until}");
            }
        }
    }
}

fn coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![(-16..=16_i32).prop_map(|k| f64::from(k) / 8.0), -2.0..2.0_f64]
}

/// A triangle that is a point, and edges that are.
#[test]
fn features_may_be_points() {
    let (a, p) = (Vector3::new(0.0, 0.0, 0.0), Vector3::new(1.0, 2.0, 2.0));
    for kind in [Kind::PointTriangle, Kind::EdgeEdge] {
        let x = if kind == Kind::PointTriangle { [a, p, p, p] } else { [a, a, p, p] };
        assert_eq!(nearest(kind, &x).distance(), 3.0);
        assert!(impact(kind, &x, &[2.0 * p, a, a, a], 0.0, 1e-6).is_some() || kind == Kind::EdgeEdge);
    }
}

/// A head-on hit is found when it happens, to the slack that was asked for.
#[test]
fn an_impact_is_found_in_time() {
    let v = Vector3::new;
    let x = [v(0.2, 1.0, 0.3), v(0.0, 0.0, 0.0), v(1.0, 0.0, 0.0), v(0.0, 0.0, 1.0)];
    let u = [v(0.0, -2.0, 0.0), v(0.0, 0.0, 0.0), v(0.0, 0.0, 0.0), v(0.0, 0.0, 0.0)];
    let found = impact(Kind::PointTriangle, &x, &u, 0.1, 1e-6).unwrap();
    assert!((found.time - 0.45).abs() < 1e-6 && found.time <= 0.45);
    assert!((found.nearest.offset - v(0.0, 0.1, 0.0)).norm() < 2e-6);
    assert_eq!(impact(Kind::PointTriangle, &x, &u.map(|u| 0.449 * u), 0.1, 1e-6), None);
}
