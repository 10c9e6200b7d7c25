//! What cloth on a device does with obstacles: by formula or as volumes, at rest and moving.

mod device;
mod floor;

use std::sync::Arc;

use device::{gpu, is_there};
use floor::{floor, from_to, guide, still, surface};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use parry3d_f64::{
    math::Vector,
    query::PointQuery,
    shape::{Ball, Capsule, Cuboid, HalfSpace, TriMesh, TriMeshFlags},
};
use partita_ibds_cloth::{Integrator, Net};
use partita_ibds_cloth_gpu::{IbdsClothGpu, Solver};
use partita_mesh::Mesh;
use partita_simulator::{
    Guide, HandleState, Inputs, Motion, Outcome, Primitive, PrimitiveShape, Simulator, StepReport, Surface,
};

type V3 = Vector3<f64>;

const H: f64 = 0.01;
const G: f64 = 9.81;
/// Half the cloth's thickness and what obstacles ask for.
const APART: f64 = 0.5e-3 + 1e-3;

fn sheet(n: u32, height: f64) -> IbdsClothGpu {
    let mesh = Mesh::grid([n, n], [0.3, 0.3]).unwrap().turned([1.0, 0.0, 0.0], -0.5 * std::f64::consts::PI).unwrap();
    let mesh = mesh.at([0.0, height, 0.0]).unwrap();
    IbdsClothGpu::new("sheet", Net::sheet(&mesh, 0.2).unwrap(), &gpu()).unwrap()
}

/// Particles that nothing links.
fn loose(places: &[V3], velocities: &[V3]) -> IbdsClothGpu {
    let [x, v] = [places, velocities].map(|all| all.iter().map(|&v| v.into()).collect::<Vec<[f64; 3]>>());
    let net = Net::new(&x, &vec![0.01; x.len()]).unwrap();
    IbdsClothGpu::new("loose", net, &gpu()).unwrap().gravity([0.0; 3]).with_velocities(&v).unwrap()
}

fn impulse(report: &StepReport) -> V3 {
    report.reactions.iter().map(|reaction| V3::from(reaction.impulse.linear)).sum()
}

fn torque(report: &StepReport) -> V3 {
    report.reactions.iter().map(|reaction| V3::from(reaction.impulse.angular)).sum()
}

/// Evenly spread directions (a spiral of the golden angle).
fn directions(n: usize) -> Vec<V3> {
    let of = |k: usize| {
        let (y, turn) = (1.0 - 2.0 * (k as f64 + 0.5) / n as f64, 2.399_963 * k as f64);
        let r = (1.0 - y * y).sqrt();
        V3::new(r * turn.cos(), y, r * turn.sin())
    };
    (0..n).map(of).collect()
}

fn parry(v: &V3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

/// A ring about y, of a square section.
fn ring() -> Mesh {
    let (inner, outer, segments) = (0.06, 0.12, 24);
    let profile = [[inner, -0.03], [outer, -0.03], [outer, 0.03], [inner, 0.03]];
    let corner = |s: u32, c: usize| {
        let turn = std::f64::consts::TAU * f64::from(s) / f64::from(segments);
        [profile[c][0] * turn.cos(), profile[c][1], profile[c][0] * turn.sin()]
    };
    let vertices: Vec<[f64; 3]> = (0..segments).flat_map(|s| (0..4).map(move |c| corner(s, c))).collect();
    let at = |s: u32, c: u32| 4 * (s % segments) + c % 4;
    let quads =
        (0..segments).flat_map(|s| (0..4).map(move |c| [at(s, c), at(s, c + 1), at(s + 1, c + 1), at(s + 1, c)]));
    let triangles: Vec<[u32; 3]> = quads.flat_map(|[a, b, c, d]| [[a, c, b], [a, d, c]]).collect();
    let mesh = Mesh::new(&vertices, &triangles).unwrap();
    if mesh.volume().unwrap() > 0.0 {
        return mesh;
    }
    Mesh::new(&vertices, &triangles.iter().map(|&[a, b, c]| [a, c, b]).collect::<Vec<_>>()).unwrap()
}

/// Shapes with how far places in their axes are from them, as parry has it; and how well that is known, in cells of a volume.
fn shapes() -> Vec<(&'static str, Surface, Box<dyn PointQuery>, f64)> {
    let (ball, capsule, cuboid) =
        (Mesh::ball(0.1, 4).unwrap(), Mesh::capsule(0.16, 0.05, 32).unwrap(), Mesh::cuboid([0.2, 0.1, 0.3]).unwrap());
    let half_extents = [0.1, 0.05, 0.15];
    let solid = |mesh: &Mesh| {
        let points = mesh.vertices().iter().map(parry).collect();
        TriMesh::with_flags(points, mesh.triangles().to_vec(), TriMeshFlags::ORIENTED).unwrap()
    };
    let exact = |mesh: &Mesh, shape| surface(mesh, Some(shape));
    vec![
        ("half-space", exact(&cuboid, PrimitiveShape::HalfSpace), Box::new(HalfSpace::new(Vector::Y)) as Box<_>, 0.0),
        ("ball", exact(&ball, PrimitiveShape::Ball { radius: 0.1 }), Box::new(Ball::new(0.1)), 0.0),
        (
            "capsule",
            exact(&capsule, PrimitiveShape::Capsule { half_length: 0.08, radius: 0.05 }),
            Box::new(Capsule::new_y(0.08, 0.05)),
            0.0,
        ),
        (
            "cuboid",
            exact(&cuboid, PrimitiveShape::Cuboid { half_extents }),
            Box::new(Cuboid::new(Vector::from_array(half_extents))),
            0.0,
        ),
        ("ball of triangles", surface(&ball, None), Box::new(solid(&ball)), 0.2 / 48.0),
        ("cuboid of triangles", surface(&cuboid, None), Box::new(solid(&cuboid)), 0.3 / 48.0),
        ("ring of triangles", surface(&ring(), None), Box::new(solid(&ring())), 0.24 / 48.0),
    ]
}

/// Particles that come from all around, straight to the nearest place, at 1, 10 and 100 m/s, the last farther in a step than the obstacle
/// is wide, all stop where they have to, whether it waits or turns and goes: none gets nearer than it may by more than a tenth of that (K4),
/// and what arrives stays no farther. Where distances are those of a volume a part of a cell is added, and a fifth, of what comes at edges, may
/// go astray.
#[test]
fn nothing_gets_in_from_any_side_at_any_speed() {
    if !is_there() {
        return;
    }
    let begin = Isometry3::new(V3::new(0.3, -0.2, 0.1), V3::new(0.4, -0.3, 0.8));
    let turn = UnitQuaternion::from_scaled_axis(V3::new(0.2, 0.3, -0.1));
    let end =
        Isometry3::from_parts((begin.translation.vector + V3::new(-0.02, 0.05, 0.01)).into(), turn * begin.rotation);
    for (name, surface, exact, cell) in shapes() {
        let starts = directions(200).into_iter().map(|x| 0.4 * x).filter(|x| name != "half-space" || x.y > 0.01);
        let starts: Vec<V3> = starts.collect();
        let towards = starts.iter().map(|x| {
            let nearest = exact.project_local_point(parry(x), false).point;
            (V3::new(nearest.x, nearest.y, nearest.z) - x).normalize()
        });
        let towards: Vec<V3> = towards.map(|n| begin.rotation * n).collect();
        let starts: Vec<V3> = starts.iter().map(|x| (begin * nalgebra::Point3::from(*x)).coords).collect();
        let distances = |cloth: &IbdsClothGpu, pose: &Isometry3<f64>| -> Vec<f64> {
            let of = |x: &V3| {
                let local = pose.inverse_transform_point(&(*x).into()).coords;
                exact.distance_to_local_point(parry(&local), false)
            };
            cloth.positions().iter().map(of).collect()
        };
        for (speed, end) in [1.0, 10.0, 100.0].into_iter().flat_map(|speed| [(speed, begin), (speed, end)]) {
            let mut cloth = loose(&starts, &towards.iter().map(|n| speed * n).collect::<Vec<_>>());
            // With friction: where normals are a little off, what comes with 100 m/s would slide far.
            cloth.follow(vec![guide(surface.clone(), 1.0, 0.0)]).unwrap();
            let steps = (0.45 / speed / H).ceil();
            let pose = |k: f64| begin.lerp_slerp(&end, k / steps);
            let off = 0.1 * APART + 0.5 * cell + 1e-6;
            for k in 0..steps as u32 {
                let (from, to) = (pose(f64::from(k)), pose(f64::from(k + 1)));
                assert_eq!(
                    cloth.step(H, &from_to(&from, &to)).unwrap().outcome,
                    Outcome::Converged,
                    "{name}, {speed} m/s"
                );
                let nearest = distances(&cloth, &to).into_iter().fold(f64::INFINITY, f64::min);
                assert!(nearest > APART - off, "{name}, {speed} m/s, step {k}: {nearest} m");
            }
            // Where edges are round some slide past them; and a facet of a ball is turned by some degrees from where the particle came: fast ones
            // go sideways by as much of their way.
            let strays = distances(&cloth, &begin).into_iter().filter(|d| *d > APART + off).count();
            let most = if cell == 0.0 { 0 } else { starts.len() / 5 };
            assert!(end != begin || strays <= most, "{name}, {speed} m/s: {strays} of {} strayed", starts.len());
        }
    }
}

/// On the floor it comes to rest, stays above it, and the floor feels its weight and where it lies (K13).
#[test]
fn cloth_on_the_floor_comes_to_rest() {
    if !is_there() {
        return;
    }
    for (integrator, tolerance, solver) in [
        (Integrator::SymplecticEuler, None, Solver::Links),
        (Integrator::SymplecticEuler, None, Solver::Paths),
        (Integrator::Parabola, Some(1e-3), Solver::Paths),
    ] {
        let mut cloth = sheet(8, 0.02).integrator(integrator).velocity_tolerance(tolerance).solver(solver);
        cloth = cloth.substeps(if tolerance.is_some() { 2 } else { 1 });
        cloth.follow(vec![floor(0.5, 0.0)]).unwrap();
        // Beside its middle.
        let inputs = still([0.3, -0.1, 0.2]);
        (0..50).for_each(|_| drop(cloth.step(H, &inputs).unwrap()));
        let (mut given, mut turned) = (V3::zeros(), V3::zeros());
        for _ in 0..100 {
            let report = cloth.step(H, &inputs).unwrap();
            assert_eq!(report.outcome, Outcome::Converged);
            given += impulse(&report);
            turned += torque(&report);
            for (x, v) in cloth.positions().iter().zip(cloth.velocities()) {
                assert!(v.norm() < 1e-3 && (0.9 * APART..1.1 * APART).contains(&x.y), "{x:?} {v:?}");
            }
        }
        let weight = cloth.net().masses().iter().sum::<f64>() * G;
        let middle = cloth.positions().iter().sum::<V3>() / cloth.positions().len() as f64;
        let arm = middle - V3::new(0.3, -0.1, 0.2);
        // In a second, to what a hundred sums in 32 bits round.
        assert!((given + weight * V3::y()).norm() < 1e-4 * weight, "{given:?} for {weight} N s, {integrator:?}");
        assert!((turned - arm.cross(&(-weight * V3::y()))).norm() < 1e-3 * weight, "{turned:?}, {integrator:?}");
    }
}

/// On a slope of 20 degrees it slides with g (sin - mu cos), or stays where mu is more than the tangent, 0.364 (Coulomb; K12).
#[test]
fn cloth_slides_as_coulomb_says() {
    if !is_there() {
        return;
    }
    for friction in [0.0, 0.1, 0.3, 0.5] {
        let angle = 20.0_f64.to_radians();
        let tilt = UnitQuaternion::from_axis_angle(&V3::z_axis(), angle);
        let level = sheet(4, APART);
        let start: Vec<[f64; 3]> = level.positions().iter().map(|x| (tilt * x).into()).collect();
        let mut cloth = level.with_positions(&start).unwrap();
        cloth.follow(vec![floor(friction, 0.0)]).unwrap();
        let pose = Isometry3::from_parts((tilt * V3::new(0.0, -0.1, 0.0)).into(), tilt);
        (0..50).for_each(|_| drop(cloth.step(H, &from_to(&pose, &pose)).unwrap()));
        let down = tilt * -V3::x();
        let speed = cloth.velocities().iter().map(|v| v.dot(&down)).sum::<f64>() / cloth.velocities().len() as f64;
        let expected = 0.5 * G * (angle.sin() - friction * angle.cos()).max(0.0);
        assert!((speed - expected).abs() < 0.02 * G * 0.5, "friction {friction}: {speed} m/s for {expected} m/s");
    }
}

/// A floor that moves takes the sheet on it along at its speed, as fast as friction can: v = mu g t. One that turns takes it round.
#[test]
fn a_floor_that_moves_takes_cloth_along() {
    if !is_there() {
        return;
    }
    for (integrator, tolerance) in [(Integrator::SymplecticEuler, None), (Integrator::Parabola, Some(1e-3))] {
        let mut cloth = sheet(4, APART).integrator(integrator).velocity_tolerance(tolerance);
        cloth.follow(vec![floor(0.3, 0.0)]).unwrap();
        for k in 0..60 {
            let at = |k: u32| Isometry3::translation(0.5 * H * f64::from(k), -0.1, 0.0);
            cloth.step(H, &from_to(&at(k), &at(k + 1))).unwrap();
            let mean = cloth.velocities().iter().map(|v| v.x).sum::<f64>() / cloth.velocities().len() as f64;
            let expected = (0.3 * G * H * f64::from(k + 1)).min(0.5);
            assert!((mean - expected).abs() < 0.02 * 0.5, "step {k}: {mean} m/s for {expected} m/s");
        }
    }
    let mut cloth = sheet(4, APART);
    cloth.follow(vec![floor(0.8, 0.0)]).unwrap();
    let start = cloth.positions().to_vec();
    for k in 0..100 {
        let at = |k: u32| Isometry3::new(V3::new(0.0, -0.1, 0.0), V3::y() * (H * f64::from(k)));
        cloth.step(H, &from_to(&at(k), &at(k + 1))).unwrap();
    }
    // A second at 1 rad/s; at rest to begin with, it lags by w r²/(2 mu g), until friction has brought it there.
    let turned = UnitQuaternion::from_scaled_axis(V3::y());
    for (x, start) in cloth.positions().iter().zip(&start) {
        let lag = start.norm_squared() / (2.0 * 0.8 * G);
        assert!((x - turned * start).norm() < lag + 1e-3, "{x:?} from {start:?}");
    }
}

/// What meets an obstacle with restitution leaves with that much of its speed, wherever in a step it gets there, also one that comes towards it.
#[test]
fn restitution_is_kept() {
    if !is_there() {
        return;
    }
    for (height, up) in [(0.03, 0.0), (0.033, 0.0), (0.036, 0.0), (0.03, 0.5)] {
        let n = sheet(2, height).positions().len();
        let mut cloth = sheet(2, height).gravity([0.0; 3]).with_velocities(&vec![[0.0, -1.0, 0.0]; n]).unwrap();
        cloth.follow(vec![floor(0.0, 0.8)]).unwrap();
        for k in 0..6 {
            let at = |k: u32| Isometry3::translation(0.0, -0.1 + up * H * f64::from(k), 0.0);
            cloth.step(H, &from_to(&at(k), &at(k + 1))).unwrap();
        }
        let expected = up + 0.8 * (1.0 + up);
        for v in cloth.velocities() {
            assert!((v.y - expected).abs() < 0.01, "{} m/s for {expected} m/s from {height} m", v.y);
        }
    }
}

/// What a box that turns and goes gives to particles that fly into it is what these gain, in momentum and angular momentum, in every step:
/// the impulses of places act where they began, those of velocities where they end.
#[test]
fn reactions_are_what_particles_gain() {
    if !is_there() {
        return;
    }
    let starts: Vec<V3> =
        (0..400).map(|k| 0.01 * V3::new(f64::from(k % 20) - 9.5, 6.0, f64::from(k / 20) - 9.5)).collect();
    let half_extents = [0.08, 0.05, 0.06];
    let own = UnitQuaternion::from_scaled_axis(V3::new(0.1, 0.7, 0.2));
    let shape = PrimitiveShape::Cuboid { half_extents };
    let primitive = Primitive { shape, position: [0.02, -0.01, 0.03], orientation: own.coords.into() };
    let cuboid = Mesh::cuboid(half_extents.map(|half| 2.0 * half)).unwrap();
    let of = Surface { primitive: Some(primitive), ..surface(&cuboid, None) };
    for tolerance in [None, Some(1e-3)] {
        let mut cloth = loose(&starts, &vec![V3::new(0.3, -2.0, 0.1); starts.len()]).velocity_tolerance(tolerance);
        cloth.follow(vec![guide(of.clone(), 0.6, 0.3)]).unwrap();
        let mut met = 0;
        for k in 0..40 {
            let pose = |k: u32| {
                let t = H * f64::from(k);
                Isometry3::new(V3::new(0.1 * t, 0.5 * t, 0.0), V3::new(0.0, 4.0 * t, 2.0 * t))
            };
            let before = cloth.ledger().unwrap();
            let report = cloth.step(H, &from_to(&pose(k), &pose(k + 1))).unwrap();
            let after = cloth.ledger().unwrap();
            let gained = V3::from(after.momentum) - V3::from(before.momentum);
            let turned = V3::from(after.angular_momentum) - V3::from(before.angular_momentum);
            // About the world's origin; the frame's was where the step began.
            let impulse = impulse(&report);
            let torque = torque(&report) + pose(k).translation.vector.cross(&impulse);
            met += u32::from(impulse != V3::zeros());
            // Of 4 kg at 2 m/s at a tenth of a metre, to a millionth.
            assert!((gained + impulse).norm() < 8e-6, "step {k}: {gained:?} for {impulse:?}");
            // Impulses of velocities are told of where the frame ended.
            let lever = if tolerance.is_some() {
                pose(k + 1).translation.vector - pose(k).translation.vector
            } else {
                V3::zeros()
            };
            let most = 8e-7 + lever.norm() * impulse.norm();
            assert!((turned + torque).norm() < most, "step {k}: {turned:?} for {torque:?}");
        }
        assert!(met > 3, "{met}");
    }
}

/// What comes along a thin plate, ever nearer, does not get through, at any small angle and from any height.
#[test]
fn what_grazes_a_plate_stays_above_it() {
    if !is_there() {
        return;
    }
    let shape = PrimitiveShape::Cuboid { half_extents: [5.0, 1e-3, 5.0] };
    let plate = Mesh::cuboid([10.0, 2e-3, 10.0]).unwrap();
    let heights = (0..40).map(|k| 1e-3 + APART + 1e-4 * f64::from(k * k));
    let cases: Vec<(V3, V3)> = heights
        .flat_map(|height| [0.2_f64, 0.5, 1.0, 3.0, 10.0].map(|angle| (height, angle.to_radians())))
        .map(|(height, angle)| (V3::new(-2.0, height, 0.0), 60.0 * V3::new(angle.cos(), -angle.sin(), 0.0)))
        .collect();
    let (starts, velocities): (Vec<V3>, Vec<V3>) = cases.into_iter().unzip();
    for of in [surface(&plate, Some(shape)), surface(&plate, None)] {
        let mut cloth = loose(&starts, &velocities);
        cloth.follow(vec![guide(of, 0.0, 0.0)]).unwrap();
        for _ in 0..4 {
            cloth.step(H, &still([0.0; 3])).unwrap();
            let lowest = cloth.positions().iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
            assert!(lowest > 1e-3 + 0.9 * APART, "{lowest} m");
        }
    }
}

/// Far more distance than a volume has samples around it is kept all the same, to a cell.
#[test]
fn a_small_volume_keeps_what_is_far_away() {
    if !is_there() {
        return;
    }
    let (starts, velocities): (Vec<V3>, Vec<V3>) =
        [V3::x(), V3::y(), V3::z(), -V3::x(), -V3::y(), -V3::z()].map(|n| (0.1 * n, -n)).into_iter().unzip();
    let mut cloth = loose(&starts, &velocities);
    let Guide::Obstacle { surface: of, friction, restitution, except, .. } =
        guide(surface(&Mesh::cuboid([0.02; 3]).unwrap(), None), 0.0, 0.0)
    else {
        return;
    };
    cloth.follow(vec![Guide::Obstacle { surface: of, friction, restitution, thickness: 0.02, except }]).unwrap();
    (0..12).for_each(|_| drop(cloth.step(H, &still([0.0; 3])).unwrap()));
    for x in cloth.positions() {
        assert!((x.amax() - 0.01 - 0.0205).abs() < 0.1 * 0.0205 + 0.02 / 48.0, "{x:?}");
    }
}

/// Two boxes that overlap, as one surface, are one solid: what falls on it lies on top, also where one's side is within the other. A box in a
/// box whose faces are inwards is hollow: what is in there stays.
#[test]
fn solids_that_overlap_are_one_and_can_be_hollow() {
    if !is_there() {
        return;
    }
    let join = |parts: [(Mesh, bool); 2]| {
        let (mut vertices, mut triangles) = (vec![], vec![]);
        for (part, is_solid) in parts {
            let first = vertices.len() as u32;
            vertices.extend(part.positions());
            let turned = |&[a, b, c]: &[u32; 3]| if is_solid { [a, b, c] } else { [a, c, b] };
            triangles.extend(part.triangles().iter().map(turned).map(|t| t.map(|v| v + first)));
        }
        surface(&Mesh::new(&vertices, &triangles).unwrap(), None)
    };
    let cuboid = |size: [f64; 3], x: f64| Mesh::cuboid(size).unwrap().at([x, 0.0, 0.0]).unwrap();
    let bar = join([(cuboid([0.2, 0.1, 0.1], -0.08), true), (cuboid([0.2, 0.1, 0.1], 0.08), true)]);
    let starts: Vec<V3> = (0..60).map(|k| V3::new(0.005 * f64::from(k) - 0.15, 0.08, 0.011)).collect();
    let mut cloth = loose(&starts, &vec![-V3::y(); starts.len()]);
    cloth.follow(vec![guide(bar, 0.5, 0.0)]).unwrap();
    (0..10).for_each(|_| drop(cloth.step(H, &still([0.0; 3])).unwrap()));
    for x in cloth.positions() {
        assert!((x.y - 0.05 - APART).abs() < 0.1 * APART + 0.5 * 0.36 / 48.0, "{x:?}");
    }

    let hollow = join([(cuboid([0.4; 3], 0.0), true), (cuboid([0.3; 3], 0.0), false)]);
    let mut cloth = loose(&[V3::zeros()], &[V3::new(2.0, 0.3, 0.0)]);
    cloth.follow(vec![guide(hollow, 0.0, 0.0)]).unwrap();
    (0..30).for_each(|_| drop(cloth.step(H, &still([0.0; 3])).unwrap()));
    let x = cloth.positions()[0];
    assert!((x.x - 0.15 + APART).abs() < 0.1 * APART + 0.5 * 0.4 / 48.0 && (x.y - 0.09).abs() < 0.01, "{x:?}");
}

/// What begins inside is led out, by a tenth of the distance a step, and then lies where it has to.
#[test]
fn what_is_inside_is_led_out_slowly() {
    if !is_there() {
        return;
    }
    let mut cloth = loose(&[V3::new(0.0, -4e-3, 0.0)], &[V3::zeros()]);
    cloth.follow(vec![floor(0.3, 0.0)]).unwrap();
    let mut before = -4e-3;
    for k in 0..60 {
        cloth.step(H, &still([0.0, -0.1, 0.0])).unwrap();
        let now = cloth.positions()[0].y;
        assert!((-1e-6..0.101 * APART).contains(&(now - before)), "step {k}: {now} m after {before} m");
        before = now;
    }
    assert!((before - APART).abs() < 0.1 * APART, "{before} m");
}

/// A chain with weights at its ends hangs over a ball: near it nothing is nearer than it may be, and on top of it nothing is lifted off.
#[test]
fn a_chain_lies_on_a_ball() {
    if !is_there() {
        return;
    }
    let n = 33;
    let x: Vec<[f64; 3]> = (0..n).map(|k| [0.025 * (f64::from(k) - 16.0), 0.12, 1e-3]).collect();
    let masses: Vec<f64> = (0..n).map(|k| if k % (n - 1) == 0 { 0.2 } else { 0.005 }).collect();
    let net = Net::new(&x, &masses).unwrap().bars((1..n as u32).map(|k| [k - 1, k])).unwrap();
    let mut cloth = IbdsClothGpu::new("chain", net, &gpu()).unwrap().velocity_tolerance(Some(0.01)).substeps(2);
    let ball = surface(&Mesh::ball(0.1, 2).unwrap(), Some(PrimitiveShape::Ball { radius: 0.1 }));
    cloth.follow(vec![guide(ball, 0.5, 0.0)]).unwrap();
    // Later it slides off, as it is beside the middle.
    for k in 0..80 {
        cloth.step(H, &still([0.0; 3])).unwrap();
        let distances = cloth.positions().iter().map(|x| x.norm() - 0.1);
        let nearest = distances.clone().fold(f64::INFINITY, f64::min);
        assert!(nearest > 0.9 * APART, "step {k}: {nearest} m");
        // Those within a quarter of a turn of the top.
        let lifted = distances.skip(12).take(9).fold(0.0, f64::max);
        assert!(k < 32 || lifted < 1.1 * APART, "step {k}: {lifted} m");
    }
}

/// Of six floors, more than a particle has room for, the highest carries it, whichever of them it is.
#[test]
fn the_highest_of_many_floors_carries() {
    if !is_there() {
        return;
    }
    for highest in [0, 3, 5] {
        let mut cloth = loose(&[V3::new(0.0, 0.02, 0.0)], &[-V3::y()]).gravity([0.0, -G, 0.0]);
        cloth.follow(vec![floor(0.3, 0.0); 6]).unwrap();
        let at = |k: usize| {
            let height = if k == highest { 1e-3 } else { 1e-4 * k as f64 };
            Arc::from([HandleState::point([0.0, height - 0.1, 0.0], [0.0; 3])])
        };
        let motions = (0..6).map(|k| Some(Motion { begin: at(k), end: at(k) })).collect();
        let inputs = Inputs { motions, ..Inputs::default() };
        (0..10).for_each(|_| drop(cloth.step(H, &inputs).unwrap()));
        let report = cloth.step(H, &inputs).unwrap();
        assert!((cloth.positions()[0].y - 1e-3 - APART).abs() < 0.1 * APART, "{:?}", cloth.positions());
        let pushed: Vec<u32> = report.reactions.iter().map(|reaction| reaction.guide).collect();
        assert_eq!(pushed, [highest as u32]);
    }
}

/// What an obstacle lets through meets nothing; and what is neither a primitive nor closed, or inside out, is refused by name.
#[test]
fn what_is_let_through_and_what_is_refused() {
    if !is_there() {
        return;
    }
    let two = || loose(&[V3::new(0.0, 0.05, 0.0), V3::new(0.1, 0.05, 0.0)], &[-V3::y(); 2]);
    let mut cloth = two();
    let Guide::Obstacle { surface: shape, friction, restitution, thickness, .. } = floor(0.0, 0.0) else { return };
    let except = vec![cloth.particle(1)];
    cloth.follow(vec![Guide::Obstacle { surface: shape, friction, restitution, thickness, except }]).unwrap();
    (0..20).for_each(|_| drop(cloth.step(H, &still([0.0, -0.1, 0.0])).unwrap()));
    let [a, b] = [0, 1].map(|k| cloth.positions()[k].y);
    assert!((a - APART).abs() < 0.1 * APART && (b + 0.15).abs() < 1e-5, "{a} m, {b} m");

    let cuboid = Mesh::cuboid([0.2; 3]).unwrap();
    let whole = surface(&cuboid, None);
    let many: Vec<V3> = (0..40).map(|k| V3::new(0.01 * f64::from(k), 0.05, 0.0)).collect();
    let mut cloth = loose(&many, &vec![-V3::y(); 40]);
    let except = (0..40).map(|k| cloth.particle(k)).collect();
    let Guide::Obstacle { surface: shape, friction, restitution, thickness, .. } = floor(0.0, 0.0) else { return };
    cloth.follow(vec![Guide::Obstacle { surface: shape, friction, restitution, thickness, except }]).unwrap();
    (0..20).for_each(|_| drop(cloth.step(H, &still([0.0, -0.1, 0.0])).unwrap()));
    assert!(cloth.positions().iter().all(|x| (x.y + 0.15).abs() < 1e-5), "{:?}", cloth.positions());

    let refused = |mut cloth: IbdsClothGpu, of: Guide| cloth.follow(vec![of]).unwrap_err().to_string();
    for cells in [0, 100_000] {
        let error = refused(two().volume_cells(cells), guide(whole.clone(), 0.0, 0.0));
        assert!(error.contains("volume_cells"), "{error}");
    }
    let Guide::Obstacle { surface: of, .. } = guide(whole.clone(), 0.0, 0.0) else { return };
    let thin = Guide::Obstacle { surface: of, friction, restitution, thickness: 0.0, except: vec![] };
    let error = refused(two().thickness(1e-6), thin);
    assert!(error.contains("thickness") && error.contains("guide 0"), "{error}");
    let mut cloth = two();
    cloth.follow(vec![floor(0.0, 0.0)]).unwrap();
    let error = cloth.step(H, &still([1e39, 0.0, 0.0])).unwrap_err().to_string();
    assert!(error.contains("guide 0") && error.contains("32 bits"), "{error}");
    let open = Surface { triangles: whole.triangles[1..].to_vec(), ..whole.clone() };
    let inward = Surface { triangles: whole.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect(), ..whole };
    for (of, found) in [(open, "rim"), (inward, "inwards")] {
        let mut cloth = two();
        let error = cloth.follow(vec![guide(of, 0.0, 0.0)]).unwrap_err().to_string();
        assert!(error.contains("surface `obstacle`") && error.contains(found), "{error}");
        assert_eq!(cloth.snapshot(None).to_bytes(), two().snapshot(None).to_bytes());
    }
}
