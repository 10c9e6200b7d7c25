//! Momentum, friction and rest.

use crate::common::{Cloth, G, flat};
use approx::assert_relative_eq;
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use partita_contact::{Contacts, Features, Kind, Obstacle, Pair, Parameters, Path, Report, Shape, State, Step};
use partita_mesh::Mesh;

type V3 = Vector3<f64>;

/// Linear and angular momentum, and the sizes that their terms have.
fn momenta(cloth: &Cloth) -> (V3, V3, f64, f64) {
    let mut sums = (V3::zeros(), V3::zeros(), 0.0, 0.0);
    for ((x, v), w) in cloth.x.iter().zip(&cloth.v).zip(&cloth.inverse_masses) {
        let p = v / *w;
        sums = (sums.0 + p, sums.1 + x.cross(&p), sums.2 + p.norm(), sums.3 + x.cross(&p).norm());
    }
    sums
}

/// Two sheets fly at each other, aslant and turning, without gravity: what repulsion, impacts and zones do comes in
/// opposite pairs and has no torque (K11). The second time zones have to do it all.
#[test]
fn momentum_is_kept_when_sheets_collide() {
    for (rounds, sweeps) in [(8, 12), (0, 0)] {
        let sheets = Mesh::joined(&[flat([10, 10], [0.3, 0.3], 0.0), flat([9, 11], [0.3, 0.3], 0.02)]).unwrap();
        let parameters = Parameters { impact_rounds: rounds, sweeps, ..Parameters::default() };
        let mut cloth = Cloth::new(&sheets, parameters, vec![]);
        cloth.gravity = V3::zeros();
        cloth.substeps = 1;
        for (x, v) in cloth.x.iter().zip(&mut cloth.v) {
            let turn = V3::new(0.0, 2.0, 1.0).cross(x);
            *v = if x.y > 0.01 { V3::new(0.3, -3.0, 0.1) - turn } else { turn };
        }
        let (p, l, p_size, l_size) = momenta(&cloth);
        let mut all = Report::default();
        for i in 0..60 {
            let report = cloth.step(1.0 / 960.0, &[]);
            all.impacts += report.impacts;
            all.contacts += report.contacts;
            all.rigid += report.rigid;
            assert_eq!(cloth.crossings(), 0, "step {i}");
        }
        assert!(all.contacts > 100 && if rounds > 0 { all.impacts > 100 } else { all.rigid > 100 }, "{all:?}");
        let (p_end, l_end, ..) = momenta(&cloth);
        // Rounding of some thousand impulses; K11 asks for 1e-6 and 1e-4.
        assert!((p_end - p).norm() < 1e-12 * p_size, "{p} {p_end}");
        assert!((l_end - l).norm() < 1e-12 * l_size, "{l} {l_end}");
    }
}

/// Vertices that are kicked half-way meet on ways that are not those of their velocities. Told from where these would lead back to, what
/// contacts do has no torque either, in one part of the step or in several (K11); told the begin, it has.
#[test]
fn angular_momentum_is_kept_where_ways_are_bent() {
    let changed = |rounds: u32, bent: bool| {
        let sheets = Mesh::joined(&[flat([10, 10], [0.3, 0.3], 0.0), flat([9, 11], [0.3, 0.3], 0.02)]).unwrap();
        let parameters = Parameters { impact_rounds: rounds, ..Parameters::default() };
        let Cloth { mut x, mut v, inverse_masses, mut contacts, mut state, .. } =
            Cloth::new(&sheets, parameters, vec![]);
        for (x, v) in x.iter().zip(&mut v) {
            *v = if x.y > 0.01 { V3::new(0.3, -4.0, 0.1) } else { V3::zeros() };
        }
        let spin = |x: &[V3], v: &[V3]| -> V3 {
            (x.iter().zip(v).zip(&inverse_masses)).map(|((x, v), w)| x.cross(v) / *w).sum()
        };
        let (dt, mut all, mut most) = (1.0 / 480.0, Report::default(), 0.0_f64);
        for step in 0..20 {
            let kick = |k: usize| 0.3 * V3::new((7 * k + step) as f64, (3 * k) as f64, (5 * k) as f64).map(f64::sin);
            let mut end: Vec<V3> =
                (x.iter().zip(&v).enumerate()).map(|(k, (x, v))| x + dt * (v + 0.5 * kick(k))).collect();
            v.iter_mut().enumerate().for_each(|(k, v)| *v += kick(k));
            let before = spin(&end, &v);
            let straight: Vec<V3> = end.iter().zip(&v).map(|(end, v)| end - dt * v).collect();
            let told = if bent { &straight } else { &x };
            let inputs = Step { dt, begin: &x, velocities: None, inverse_masses: &inverse_masses, paths: &[] };
            let report = contacts.resolve_deflected(&mut state, &inputs, told, &mut end).unwrap();
            v.iter_mut().zip(contacts.impulses()).zip(&inverse_masses).for_each(|((v, impulse), w)| *v += *w * impulse);
            most = most.max((spin(&end, &v) - before).norm() / before.norm());
            x = end;
            all.parts += report.parts;
            all.impacts += report.impacts;
            all.rigid += report.rigid;
        }
        (most, all)
    };
    let (one, all) = changed(8, true);
    assert!(one < 1e-12 && all.impacts > 100 && all.rigid == 0, "{one}, {all:?}");
    let (several, all) = changed(1, true);
    assert!(several < 1e-12 && all.parts > 25 && all.rigid == 0, "{several}, {all:?}");
    let (wrong, _) = changed(8, false);
    assert!(wrong > 1e-6, "{wrong}");
}

/// A patch on a plane with friction 0.5: tan 25° = 0.466 holds, tan 29° = 0.554 slides with g (sin - 0.5 cos) (K12).
#[test]
fn friction_holds_below_its_angle_and_gives_way_above() {
    for (degrees, expected) in [(25.0_f64, 0.0), (29.0, 0.4657)] {
        let slope = Obstacle::new(Shape::HalfSpace).friction(0.5);
        let mut cloth = Cloth::new(&flat([6, 6], [0.1, 0.1], 0.51e-3), Parameters::default(), vec![slope]);
        let angle = degrees.to_radians();
        cloth.gravity = G * V3::new(angle.sin(), -angle.cos(), 0.0);
        cloth.substeps = 1;
        let still = [Path::still(Isometry3::identity())];
        let dt = 1.0 / 480.0;
        let speed = |cloth: &Cloth| cloth.v.iter().map(|v| v.x).sum::<f64>() / cloth.v.len() as f64;
        (0..240).for_each(|_| drop(cloth.step(dt, &still)));
        let before = speed(&cloth);
        (0..240).for_each(|_| drop(cloth.step(dt, &still)));
        let acceleration = (speed(&cloth) - before) / 0.5;
        if expected == 0.0 {
            let fastest = cloth.v.iter().map(|v| v.norm()).fold(0.0, f64::max);
            assert!(fastest < 1e-3, "creeps at {fastest} m/s");
        } else {
            assert_relative_eq!(acceleration, expected, max_relative = 0.02);
        }
    }
}

/// A sheet lies on the floor for ten seconds: nothing moves, nothing sinks, and the floor carries its weight (K13).
#[test]
fn cloth_comes_to_rest() {
    let floor = Obstacle::new(Shape::HalfSpace).friction(0.5);
    let thickness = 1e-3;
    let mut cloth = Cloth::new(&flat([8, 8], [0.2, 0.2], 0.01), Parameters::default(), vec![floor]);
    cloth.substeps = 1;
    let dt = 1.0 / 240.0;
    let mut carried = V3::zeros();
    for i in 0..2400 {
        cloth.step(dt, &[Path::still(Isometry3::identity())]);
        if i >= 480 {
            let fastest = cloth.v.iter().map(|v| v.norm()).fold(0.0, f64::max);
            assert!(fastest < 1e-3, "{fastest} m/s after {i} steps");
            carried += cloth.contacts.reactions().iter().map(|reaction| reaction.linear).sum::<V3>();
        }
        assert!(cloth.x.iter().all(|x| x.y > 0.0));
    }
    for x in &cloth.x {
        assert_relative_eq!(x.y, 0.5 * thickness, max_relative = 0.01);
    }
    let weight = 0.2 * 0.2 * 0.2 * G;
    assert_relative_eq!(carried / (1920.0 * dt), V3::new(0.0, -weight, 0.0), epsilon = 1e-6 * weight);
}

/// Impulses on the cloth and on what it meets are opposite, and so are their torques about the origin, whatever the
/// obstacle; friction, restitution and a zone of held vertices included.
#[test]
fn reactions_are_opposite_to_impulses() {
    let shapes = [
        Shape::Ball { radius: 0.1 },
        Shape::Capsule { half_length: 0.1, radius: 0.05 },
        Shape::Cylinder { half_length: 0.1, radius: 0.05 },
        Shape::Cone { half_height: 0.1, radius: 0.08 },
        Shape::Cuboid { half_extents: [0.1, 0.05, 0.1] },
        Shape::HalfSpace,
    ];
    for shape in shapes {
        for (impact_rounds, restitution) in [(8, 0.0), (1, 0.0), (8, 0.7)] {
            let obstacle = Obstacle::new(shape.clone()).friction(0.4).restitution(restitution).thickness(1e-3);
            let parameters = Parameters { impact_rounds, sweeps: 4, ..Parameters::default() };
            let mut cloth = Cloth::new(&flat([8, 8], [0.3, 0.3], 0.12), parameters, vec![obstacle]);
            cloth.substeps = 1;
            cloth.v.iter_mut().for_each(|v| *v = V3::new(0.4, -2.0, 0.0));
            let dt = 1.0 / 480.0;
            let mut pose = Isometry3::identity();
            let mut size = 0.0;
            for i in 0..60 {
                let turn = UnitQuaternion::from_scaled_axis(V3::new(0.01, 0.02, 0.0));
                let moved = Isometry3::from_parts(
                    (pose.translation.vector + V3::new(0.0, 1e-3, 0.0)).into(),
                    turn * pose.rotation,
                );
                let end = if shape == Shape::HalfSpace { pose } else { moved };
                let begin = cloth.x.clone();
                let report = cloth.step(dt, &[Path::Frame { begin: pose, end }]);
                let (mut linear, mut angular, mut now) = (V3::zeros(), V3::zeros(), 0.0);
                for reaction in cloth.contacts.reactions() {
                    linear += reaction.linear;
                    angular += reaction.angular + pose.translation.vector.cross(&reaction.linear);
                }
                for (x, p) in begin.iter().zip(cloth.contacts.impulses()) {
                    linear += p;
                    angular += x.cross(p);
                    now += p.norm();
                }
                // Impulses of later parts of a step, and of restitution, act where the cloth is then, at 3 m/s at most.
                let moved = if report.parts > 1 || restitution > 0.0 { 3.0 * dt } else { 1e-12 };
                assert!(linear.norm() <= 1e-12 * (1e-3 + now), "{shape:?} step {i}: {linear}");
                assert!(angular.norm() <= moved * now + 1e-15, "{shape:?} step {i}: {angular}");
                size += now;
                pose = end;
            }
            assert!(size > 1e-3, "{shape:?} was not met");
        }
    }
}

/// What a bouncing sheet keeps of its speed is the pair's restitution.
#[test]
fn restitution_is_that_of_the_pair() {
    for restitution in [0.0, 0.5, 1.0] {
        let floor = Obstacle::new(Shape::HalfSpace).restitution(restitution);
        let mut cloth = Cloth::new(&flat([4, 4], [0.1, 0.1], 0.02), Parameters::default(), vec![floor]);
        cloth.gravity = V3::zeros();
        cloth.v.iter_mut().for_each(|v| v.y = -1.0);
        (0..30).for_each(|_| drop(cloth.step(1.0 / 480.0, &[Path::still(Isometry3::identity())])));
        for v in &cloth.v {
            assert_relative_eq!(v.y, restitution, epsilon = 1e-6);
        }
    }
}

/// A floor throws cloth back at the end of the step: it is as far from the floor then as impacts keep it, and not
/// farther by the rest of the step at its new velocity, which would strain it where it is taut.
#[test]
fn bounces_displace_nothing() {
    let floor = Obstacle::new(Shape::HalfSpace).restitution(1.0);
    let mut cloth = Cloth::new(&flat([4, 4], [0.1, 0.1], 0.02), Parameters::default(), vec![floor]);
    cloth.gravity = V3::zeros();
    cloth.v.iter_mut().for_each(|v| v.y = -6.0);
    cloth.step(1.0 / 60.0, &[Path::still(Isometry3::identity())]);
    let kept = 0.5 * Parameters::default().thickness;
    for (x, v) in cloth.x.iter().zip(&cloth.v) {
        assert_relative_eq!(v.y, 6.0, epsilon = 1e-6);
        assert!(x.y > 0.0 && x.y < 1.01 * kept, "{}", x.y);
    }
}

/// Resting cloth is not thrown back, though gravity alone closes its contacts with more than the threshold in a step.
#[test]
fn resting_cloth_does_not_bounce() {
    for (begin, expected) in [(0.0, 0.0), (-1.0, 1.0)] {
        let floor = Obstacle::new(Shape::HalfSpace).restitution(1.0);
        let sheet = flat([4, 4], [0.1, 0.1], 0.5 * Parameters::default().thickness);
        let mut cloth = Cloth::new(&sheet, Parameters::default(), vec![floor]);
        let (dt, masses) = (1.0 / 24.0, cloth.inverse_masses.clone());
        let [v, next] = [begin, begin - G * dt].map(|v| vec![V3::new(0.0, v, 0.0); cloth.x.len()]);
        let mut end: Vec<V3> = cloth.x.iter().zip(&next).map(|(x, v)| x + dt * v).collect();
        let paths = [Path::still(Isometry3::identity())];
        let step = Step { dt, begin: &cloth.x, velocities: Some([&v, &next]), inverse_masses: &masses, paths: &paths };
        cloth.contacts.resolve(&mut cloth.state, &step, &mut end).unwrap();
        for ((impulse, w), v) in cloth.contacts.impulses().iter().zip(&masses).zip(&next) {
            assert_relative_eq!(v.y + w * impulse.y, expected, epsilon = 1e-9);
        }
    }
}

/// Forces that stopped cloth and drive it back again are taken back: it leaves with its restitution. What they gave is all
/// that may be, so cloth is not held.
#[test]
fn springs_drive_nothing_back() {
    let dt = 0.01;
    for (restitution, driven, given, expected) in
        [(0.0, 0.8, 1.8, 0.0), (0.5, 0.8, 1.8, 0.5), (0.5, 0.1, 1.1, 0.5), (0.0, 0.8, 0.3, 0.5)]
    {
        let floor = Obstacle::new(Shape::HalfSpace).restitution(restitution);
        let sheet = flat([1, 1], [0.1, 0.1], 0.5 * Parameters::default().thickness);
        let mut cloth = Cloth::new(&sheet, Parameters::default(), vec![floor]);
        let masses = vec![1.0; 4];
        let [v, then] = [-1.0, driven].map(|v| vec![V3::new(0.0, v, 0.0); 4]);
        let paths = [Path::still(Isometry3::identity())];
        let step = Step { dt, begin: &cloth.x, velocities: Some([&v, &then]), inverse_masses: &masses, paths: &paths };
        let moved = |v: &[V3]| cloth.x.iter().zip(v).map(|(x, v)| x + dt * v).collect::<Vec<_>>();
        let (predicted, mut end) = (moved(&v), moved(&then));
        let mut near = vec![];
        cloth.contacts.find_near(&cloth.state, &step, &predicted, &mut near).unwrap();
        assert_eq!(near.len(), 4);
        near.iter().for_each(|near| cloth.contacts.add_bounce(near, given, dt));
        cloth.contacts.resolve(&mut cloth.state, &step, &mut end).unwrap();
        for impulse in cloth.contacts.impulses() {
            assert_relative_eq!(driven + impulse.y, expected, epsilon = 1e-9);
        }
    }
}

/// What is refused is named and changes nothing.
#[test]
fn bad_input_is_refused_by_name() {
    let say = |result: Result<Report, partita_contact::ContactError>| result.unwrap_err().to_string();
    assert_eq!(
        Features::new(4, &[[0, 1, 2], [1, 2, 4]], &[]).unwrap_err().to_string(),
        "triangle 1 names vertex 4, but there are 4 vertices"
    );
    assert_eq!(Features::new(4, &[[0, 1, 1]], &[]).unwrap_err().to_string(), "triangle 0 names vertex 1 twice");
    assert_eq!(Features::new(4, &[], &[[3, 3]]).unwrap_err().to_string(), "edge 0 names vertex 3 twice");
    let features = Features::new(3, &[[0, 1, 2]], &[]).unwrap();
    let ball = Obstacle::new(Shape::Ball { radius: f64::NAN });
    let error = Contacts::new(features.clone(), Parameters::default(), vec![ball]).err().unwrap();
    assert_eq!(error.to_string(), "radius of obstacle 0 is NaN; expected a finite number above 0");
    let springy = Obstacle::new(Shape::HalfSpace).restitution(1.5);
    let error = Contacts::new(features.clone(), Parameters::default(), vec![springy]).err().unwrap();
    assert_eq!(error.to_string(), "restitution of obstacle 0 is 1.5e0; expected from 0 to 1");
    let parameters = Parameters { thickness: 0.0, ..Parameters::default() };
    assert!(Contacts::new(features.clone(), parameters, vec![]).is_err());

    let mut state = State::default();
    let mut contacts = Contacts::new(features, Parameters::default(), vec![]).unwrap();
    let begin = [V3::zeros(), V3::x(), V3::y()];
    let step = Step { dt: 0.01, begin: &begin, velocities: None, inverse_masses: &[1.0; 3], paths: &[] };
    let mut end = begin;
    end[2].x = f64::NAN;
    let found = say(contacts.resolve(&mut state, &step, &mut end));
    assert!(found.starts_with("vertex 2 at the end"), "{found}");
    assert_eq!(end[0], begin[0]);
    let mut end = begin;
    assert!(say(contacts.resolve(&mut state, &Step { dt: 0.0, ..step }, &mut end)).starts_with("time step is 0e0"));
    assert_eq!(say(contacts.resolve(&mut state, &step, &mut end[..2])), "2 positions at the end for 3 vertices");
    let minus = say(contacts.resolve(&mut state, &Step { inverse_masses: &[1.0, -1.0, 1.0], ..step }, &mut end));
    assert_eq!(minus, "inverse mass 1 is -1e0; expected 0, or from 1e-30 to 1e30 1/kg");
}

/// Two islands that share a place, but no vertex (X4).
#[test]
fn parts_at_one_place_are_refused_by_name() {
    let features = Features::new(6, &[[0, 1, 2], [3, 4, 5]], &[]).unwrap();
    let mut contacts = Contacts::new(features, Parameters::default(), vec![]).unwrap();
    let begin = [V3::zeros(), V3::x(), V3::y(), V3::zeros(), -V3::x(), -V3::y()];
    let mut end = begin.map(|x| 1.1 * x);
    let step = Step { dt: 0.01, begin: &begin, velocities: None, inverse_masses: &[1.0; 6], paths: &[] };
    let error = contacts.resolve(&mut State::default(), &step, &mut end).unwrap_err();
    assert_eq!(
        error.to_string(),
        "point and triangle of vertices [0, 3, 4, 5] touch at the begin; parts at one place have to share vertices"
    );
    assert_eq!(end[1], 1.1 * V3::x());
}

/// The second stage of asynchronous cloth: what one pair needs, now. Impulses are opposite and what they leave is apart.
#[test]
fn one_pair_is_pushed_apart() {
    let floor = Obstacle::new(Shape::HalfSpace).friction(0.5);
    let features = Features::new(6, &[[0, 1, 2], [3, 4, 5]], &[]).unwrap();
    let mut contacts = Contacts::new(features, Parameters::default(), vec![floor]).unwrap();
    let low = [V3::new(0.0, 0.01, 0.0), V3::new(0.1, 0.01, 0.0), V3::new(0.0, 0.01, 0.1)];
    let begin: Vec<V3> = low.into_iter().chain(low.map(|x| x + V3::new(0.02, 0.01, 0.02))).collect();
    let dt = 0.01;
    let v: Vec<V3> = begin.iter().map(|x| V3::new(0.2, if x.y > 0.015 { -2.0 } else { -1.5 }, 0.0)).collect();
    let end: Vec<V3> = begin.iter().zip(&v).map(|(x, v)| x + dt * v).collect();
    let still = [Path::still(Isometry3::identity())];
    let step = Step { dt, begin: &begin, velocities: None, inverse_masses: &[1e3; 6], paths: &still };
    contacts.find_pairs(&State::default(), &step, &end).unwrap();
    let pairs = contacts.due_pairs();
    assert!(pairs.len() > 6);
    let (x, u) = contacts.vertices();
    let (mut pushed, mut left) = (0, 0);
    for pair in pairs {
        let of = |list: &[V3]| pair.vertices.map(|v| list[v as usize]);
        let (x, v) = (of(x), of(u).map(|u| u / dt));
        let w = pair.vertices.map(|v| if v < 6 { 1e3 } else { 0.0 });
        let hits = partita_contact::impact(pair.kind, &x, &v.map(|v| dt * v), 1e-4, 1e-6).is_some();
        match contacts.push_apart(pair, &x, &v, &w, dt) {
            Some(impulses) => {
                pushed += 1;
                let sum: V3 = impulses.iter().sum();
                assert!(sum.norm() < 1e-15);
                let after: [V3; 4] = std::array::from_fn(|k| dt * (v[k] + w[k] * impulses[k]));
                assert_eq!(partita_contact::impact(pair.kind, &x, &after, 0.5e-4, 1e-6), None);
            }
            None => {
                left += 1;
                assert!(!hits, "{pair:?}");
            }
        }
    }
    assert!(pushed > 5 && left > 0, "{pushed} pushed, {left} left");

    // What is too near parts by six times its lack of 0.6 mm in a second, whatever the step.
    let n = V3::y();
    let x = [V3::new(0.02, 0.0104, 0.02), low[0], low[1], low[2]];
    let pair = Pair { kind: Kind::PointTriangle, vertices: [3, 0, 1, 2] };
    let speed = |dt: f64| {
        let impulses = contacts.push_apart(&pair, &x, &[V3::zeros(); 4], &[1.0, 0.0, 0.0, 0.0], dt).unwrap();
        n.dot(&impulses[0])
    };
    assert!([dt, 0.1 * dt, 1e-3 * dt].into_iter().all(|h| (speed(h) - 6.0 * 0.6e-3).abs() < 1e-12));
}

/// In that stage friction acts against the velocity of the surface, also of a body that turns or slides under the place: what
/// comes down on it leaves with the tangential velocity V + ω x r of the body there, to the 0.05 rad and the gap of 0.3 mm of
/// 0.1 m, 3 %.
#[test]
fn a_body_that_turns_takes_along_what_touches_it() {
    let (dt, turn, slide) = (0.01, 0.05, V3::new(0.3, 0.0, -0.2));
    for (shape, top) in [
        (Shape::Ball { radius: 0.1 }, 0.1),
        (Shape::Capsule { half_length: 0.2, radius: 0.1 }, 0.1),
        (Shape::Cylinder { half_length: 0.2, radius: 0.1 }, 0.1),
        (Shape::Cuboid { half_extents: [0.3, 0.1, 0.3] }, 0.1),
        (Shape::HalfSpace, 0.0),
    ] {
        for axis in [V3::x(), V3::y()] {
            let features = Features::new(3, &[[0, 1, 2]], &[]).unwrap();
            let obstacle = Obstacle::new(shape.clone()).friction(100.0);
            let mut contacts = Contacts::new(features, Parameters::default(), vec![obstacle]).unwrap();
            let height = top + 3e-4;
            let begin = [[0.02, 0.01], [-0.02, 0.015], [0.003, -0.02]].map(|[x, z]| V3::new(x, height, z));
            let end = begin.map(|x| x - dt * V3::y());
            let then = Isometry3::new(dt * slide, turn * axis);
            let path = [Path::Frame { begin: Isometry3::identity(), end: then }];
            let step = Step { dt, begin: &begin, velocities: None, inverse_masses: &[1e3; 3], paths: &path };
            contacts.find_pairs(&State::default(), &step, &end).unwrap();
            let (x, u) = contacts.vertices();
            let mut pushed = 0;
            for pair in contacts.due_pairs() {
                let of = |list: &[V3]| pair.vertices.map(|v| list[v as usize]);
                let w = pair.vertices.map(|v| if v < 3 { 1e3 } else { 0.0 });
                let Some(impulses) = contacts.push_apart(pair, &of(x), &of(u).map(|u| u / dt), &w, dt) else {
                    continue;
                };
                pushed += 1;
                let cloth = || (0..4).filter(|&k| pair.vertices[k] < 3);
                let whole: V3 = cloth().map(|k| impulses[k]).sum();
                let weight = |k: usize| impulses[k].dot(&whole) / whole.norm_squared();
                let place: V3 = cloth().map(|k| weight(k) * of(x)[k]).sum();
                let velocity: V3 = cloth().map(|k| weight(k) * (1e3 * impulses[k] - V3::y())).sum();
                let surface = slide + turn / dt * axis.cross(&place);
                let left = velocity - surface;
                let left = left - left.y * V3::y();
                assert!(
                    left.norm() < 0.03 * surface.norm(),
                    "{shape:?}, {axis:?}, {pair:?}: {:?}, of {:?}",
                    velocity.as_slice(),
                    surface.as_slice()
                );
            }
            assert!(pushed > 0, "{shape:?}");
        }
    }
}

/// The same bits for any number of threads, and after other steps in between.
#[test]
fn bits_depend_on_nothing_but_the_step() {
    let run = |threads: usize, disturb: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let ball = Obstacle::new(Shape::Ball { radius: 0.1 }).friction(0.3);
            let mut cloth = Cloth::new(&flat([16, 16], [0.4, 0.4], 0.11), Parameters::default(), vec![ball]);
            cloth.substeps = 1;
            let still = [Path::still(Isometry3::identity())];
            for i in 0..120 {
                if disturb && i % 7 == 0 {
                    let (x, v) = (cloth.x.clone(), cloth.v.clone());
                    cloth.v.iter_mut().for_each(|v| *v *= -3.0);
                    cloth.step(1.0 / 480.0, &still);
                    (cloth.x, cloth.v) = (x, v);
                }
                cloth.step(1.0 / 480.0, &still);
            }
            let bits = |of: &[V3]| {
                of.iter().flat_map(|x| x.iter().map(|c| c.to_bits()).collect::<Vec<_>>()).collect::<Vec<_>>()
            };
            (bits(&cloth.x), bits(&cloth.v))
        })
    };
    let one = run(1, false);
    for (threads, disturb) in [(1, true), (2, false), (7, true)] {
        assert!(run(threads, disturb) == one, "{threads} threads, {disturb}");
    }
}

/// Soups of small sheets that fly through each other at all speeds: they do not cross, keep both momenta, and none gets
/// more energy than there was, but for the little with which what is too near parts.
#[test]
fn sheets_at_random_keep_apart_and_gain_no_energy() {
    let mut seed = 5_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64
    };
    for scene in 0..60 {
        let sheets: Vec<_> = (0..4).map(|k| flat([3, 3], [0.1, 0.1], 0.004 * f64::from(k))).collect();
        let mut cloth = Cloth::new(&Mesh::joined(&sheets).unwrap(), Parameters::default(), vec![]);
        cloth.gravity = V3::zeros();
        cloth.substeps = 1;
        let speed = 10.0_f64.powf(3.0 * random() - 1.0);
        for (v, w) in cloth.v.iter_mut().zip(&mut cloth.inverse_masses) {
            *v = speed * V3::from_fn(|_, _| 2.0 * random() - 1.0);
            *w *= 10.0_f64.powf(3.0 * random() - 1.5);
        }
        let energy =
            |cloth: &Cloth| cloth.v.iter().zip(&cloth.inverse_masses).map(|(v, w)| 0.5 * v.norm_squared() / w).sum();
        let mut before: f64 = energy(&cloth);
        for step in 0..5 {
            let dt = 1.0 / 480.0;
            // Ballistic: no springs, so that all that changes is contact.
            let (p, l, p_size, l_size) = momenta(&cloth);
            let mut end: Vec<V3> = cloth.x.iter().zip(&cloth.v).map(|(x, v)| x + dt * v).collect();
            let inputs =
                Step { dt, begin: &cloth.x, velocities: None, inverse_masses: &cloth.inverse_masses, paths: &[] };
            cloth.contacts.resolve(&mut cloth.state, &inputs, &mut end).unwrap();
            for (k, impulse) in cloth.contacts.impulses().iter().enumerate() {
                cloth.v[k] += cloth.inverse_masses[k] * impulse;
            }
            cloth.x = end;
            assert_eq!(cloth.crossings(), 0, "scene {scene} step {step}");
            let (p_end, l_end, ..) = momenta(&cloth);
            assert!(
                (p_end - p).norm() < 1e-10 * p_size && (l_end - l).norm() < 1e-10 * l_size,
                "scene {scene} step {step}"
            );
            let after = energy(&cloth);
            // A tenth of the thickness a step is 0.05 m/s.
            let mass: f64 = cloth.inverse_masses.iter().map(|w| 1.0 / w).sum();
            assert!(after <= 1.01 * before + mass * 0.05 * 0.05, "scene {scene} step {step}: {before} J to {after} J");
            before = after;
        }
    }
}

/// A floor is one without end: cloth stays above it while its frame slides away by 20 m, and when it starts on it.
#[test]
fn a_half_space_has_no_end() {
    for height in [0.01, 0.0] {
        let floor = Obstacle::new(Shape::HalfSpace);
        let mut cloth = Cloth::new(&flat([2, 2], [0.1, 0.1], height), Parameters::default(), vec![floor]);
        cloth.substeps = 1;
        let pose = Isometry3::identity();
        cloth.state = cloth.contacts.look(&cloth.x, &[Path::still(pose)]);
        cloth.v.iter_mut().for_each(|v| v.y = -5.0);
        for step in 0..60 {
            cloth.step(0.01, &[Path::Frame { begin: pose, end: Isometry3::translation(20.0, 0.0, 0.0) }]);
            let lowest = cloth.x.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
            assert!(lowest >= -1e-15, "from {height} m, step {step}: {lowest} m");
        }
        assert!(cloth.x.iter().all(|x| x.y > 0.3e-3), "from {height} m");
    }
}

/// The push that parts what is too near is that of a step, into however many intervals a turning obstacle cuts it; and one
/// that cannot be reached cuts it into none.
#[test]
fn a_turning_obstacle_does_not_push_from_afar() {
    let run = |distance: f64, angle: f64| {
        let sheets = Mesh::joined(&[flat([4, 4], [0.1, 0.1], 0.0), flat([4, 4], [0.1, 0.1], 0.5e-3)]).unwrap();
        let box_beside = Obstacle::new(Shape::Cuboid { half_extents: [20.0; 3] });
        let mut cloth = Cloth::new(&sheets, Parameters::default(), vec![box_beside]);
        cloth.gravity = V3::zeros();
        let at = |angle: f64| Isometry3::new(V3::new(distance, 0.0, 0.0), V3::new(angle, 0.0, 0.0));
        let report = cloth.step(1.0 / 240.0, &[Path::Frame { begin: at(0.0), end: at(angle) }]);
        (cloth.v.iter().map(|v| v.norm()).fold(0.0, f64::max), report.contacts)
    };
    let (still, contacts) = run(30.0, 0.0);
    for angle in [0.1, 1.0, 3.0] {
        // Beside the box, within the ball around it: in intervals, each with all contacts.
        let (pushed, many) = run(30.0, angle);
        assert!(pushed < 2.0 * still && many > 10 * contacts, "{pushed} m/s instead of {still}, {many} contacts");
        assert_eq!(run(100.0, angle), (still, contacts));
    }
}

/// A ball that spins drags along what lies on it, by friction alone, and is held back by as much.
#[test]
fn a_spinning_ball_drags_cloth_along() {
    let spin_of = |friction: f64| {
        let ball = Obstacle::new(Shape::Ball { radius: 0.1 }).friction(friction);
        let mut cloth = Cloth::new(&flat([6, 6], [0.06, 0.06], 0.1006), Parameters::default(), vec![ball]);
        cloth.substeps = 1;
        let dt = 1.0 / 480.0;
        let at = |i: u32| Isometry3::rotation(V3::y() * 2.0 * dt * f64::from(i));
        let mut held_back = 0.0;
        for i in 0..120 {
            cloth.step(dt, &[Path::Frame { begin: at(i), end: at(i + 1) }]);
            held_back += cloth.contacts.reactions().iter().map(|reaction| reaction.angular.y).sum::<f64>();
        }
        let (_, l, ..) = momenta(&cloth);
        assert_relative_eq!(held_back, -l.y, epsilon = 1e-9);
        l.y
    };
    assert!(spin_of(0.0).abs() < 1e-12);
    let inertia = 0.2 * 0.06 * 0.06 * (0.06 * 0.06 + 0.06 * 0.06) / 12.0;
    assert_relative_eq!(spin_of(0.5), inertia * 2.0, max_relative = 0.1);
}

/// Cloth that is told to go through cloth that is told to stay: nothing can be done, and that is said.
#[test]
fn pins_that_pass_through_pins_are_named() {
    let sheets = Mesh::joined(&[flat([2, 2], [0.1, 0.1], 0.0), flat([2, 2], [0.07, 0.07], 0.01)]).unwrap();
    let mut cloth = Cloth::new(&sheets, Parameters::default(), vec![]);
    cloth.gravity = V3::zeros();
    cloth.inverse_masses.fill(0.0);
    cloth.v[9..].fill(V3::new(0.0, -1.0, 0.0));
    let report = cloth.step(0.02, &[]);
    assert!(report.pinched.iter().any(|&v| v < 9) && report.pinched.iter().any(|&v| v >= 9), "{report:?}");
    assert_relative_eq!(cloth.x[9].y, -0.01, epsilon = 1e-15);
}
