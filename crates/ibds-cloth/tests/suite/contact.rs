//! Links and contacts together: what rests, hangs over something, slides, is met while it is held.

use std::sync::Arc;

use nalgebra::{UnitQuaternion, Vector3};
use partita_contact::crossings;
use partita_ibds_cloth::{IbdsCloth, Integrator, Net};
use partita_mesh::Mesh;
use partita_simulator::{Guide, HandleState, Inputs, Motion, Outcome, Simulator, StepReport};

use crate::common::{obstacle, obstacle_of};
use crate::sheets::{falling_on_another, flat, given_by_carriers};

type V3 = Vector3<f64>;

const DT: f64 = 0.01;
const G: f64 = 9.81;

fn still(at: V3) -> Motion {
    let state = HandleState::point(at, [0.0; 3]);
    Motion { begin: Arc::new([state]), end: Arc::new([state]) }
}

fn step(cloth: &mut IbdsCloth, at: V3) -> StepReport {
    cloth.step(DT, &Inputs { motions: vec![Some(still(at))], ..Inputs::default() }).unwrap()
}

fn fastest(cloth: &IbdsCloth) -> f64 {
    cloth.velocities().iter().map(|v| v.norm()).fold(0.0, f64::max)
}

/// On the floor it comes to rest, stays above it, and the floor feels its weight (K13).
#[test]
fn cloth_on_the_floor_comes_to_rest() {
    let mesh = flat(12, 0.3, 0.05);
    let mut cloth = IbdsCloth::new("sheet", Net::sheet(&mesh, 0.2).unwrap()).unwrap();
    cloth.follow(vec![obstacle(&Mesh::cuboid([2.0, 0.2, 2.0]).unwrap(), 0.5)]).unwrap();
    // Beside its middle.
    let floor = V3::new(0.3, -0.1, 0.2);
    (0..100).for_each(|_| drop(step(&mut cloth, floor)));
    let (mut impulse, mut turned) = (0.0, V3::zeros());
    for _ in 0..100 {
        let report = step(&mut cloth, floor);
        assert_eq!(report.outcome, Outcome::Converged);
        impulse += report.reactions.iter().map(|reaction| reaction.impulse.linear[1]).sum::<f64>();
        turned += report.reactions.iter().map(|reaction| V3::from(reaction.impulse.angular)).sum::<V3>();
        assert!(fastest(&cloth) < 1e-3, "{} m/s", fastest(&cloth));
        assert!(cloth.positions().iter().all(|x| x.y > 0.0));
    }
    let weight = cloth.net().masses().iter().sum::<f64>() * G;
    assert!((impulse / -weight - 1.0).abs() < 1e-3, "{impulse} N s of {weight} N in a second");
    // As the weight does with the arm from there; a millimetre is what the sheet may have crept.
    let expected = weight * V3::new(-0.2, 0.0, 0.3);
    assert!((turned - expected).norm() < 1e-3 * weight, "{turned} N m s for {expected} N m in a second");
}

/// Over a ball it hangs without crossing itself or the ball, its links as long as they may be or the step says otherwise (I1).
/// Links that are let be until they are a hundredth off, and then put right, give energy; no step gives a hundredth of what the fall
/// spent, and at the end less than that moves.
#[test]
fn cloth_hangs_over_a_ball() {
    let mesh = flat(16, 0.6, 0.22);
    let ball = Mesh::ball(0.2, 3).unwrap();
    let mut cloth = IbdsCloth::new("sheet", Net::sheet(&mesh, 0.2).unwrap()).unwrap().substeps(2);
    cloth.follow(vec![obstacle(&ball, 0.5)]).unwrap();
    let n = mesh.vertices().len() as u32;
    let triangles: Vec<[u32; 3]> =
        mesh.triangles().iter().copied().chain(ball.triangles().iter().map(|t| t.map(|v| v + n))).collect();
    let edges: Vec<[u32; 2]> = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
    let energy = |cloth: &IbdsCloth| cloth.ledger().map(|ledger| ledger.kinetic + ledger.potential).unwrap();
    // Its middle stays, its rim hangs down by about its half.
    let spent = 0.072 * G * 0.1;
    let (mut before, mut stopped) = (energy(&cloth), 0);
    for k in 0..300 {
        let report = step(&mut cloth, V3::zeros());
        let links = cloth.net().links().iter();
        let error = links.map(|link| {
            let [i, j] = link.particles.map(|k| cloth.positions()[k as usize]);
            ((j - i).norm() / link.rest_length - 1.0).abs()
        });
        let worst = error.fold(0.0, f64::max);
        match report.outcome {
            Outcome::Converged => assert!(worst <= 0.01 * (1.0 + 1e-9), "step {k}: {worst}"),
            _ => stopped += 1,
        }
        let mut both: Vec<V3> = cloth.positions().to_vec();
        both.extend(ball.vertices());
        assert_eq!(crossings(&both, &edges, &triangles), Vec::<[u32; 2]>::new(), "step {k}");
        let now = energy(&cloth);
        assert!(now < before + 0.01 * spent, "step {k}: {now} J after {before} J");
        before = now;
    }
    let kinetic = cloth.ledger().unwrap().kinetic;
    assert!(kinetic < 0.01 * spent, "{kinetic} J of {spent} J");
    assert!(stopped < 30, "{stopped} steps stopped");
}

/// The same in eight parts a step to 0.3 %: what parts before the last left would be taken out at once by the last. No step gives more
/// than links of length d do that go from too long by ε to too short by it in a part, all at once: with 2 ε d/h.
#[test]
fn parts_of_a_step_give_no_energy() {
    let mesh = flat(12, 0.6, 0.22);
    let mut cloth = IbdsCloth::new("sheet", Net::sheet(&mesh, 0.2).unwrap()).unwrap().substeps(8).extensibility(3e-3);
    cloth.follow(vec![obstacle(&Mesh::ball(0.2, 3).unwrap(), 0.5)]).unwrap();
    let energy = |cloth: &IbdsCloth| cloth.ledger().map(|ledger| ledger.kinetic + ledger.potential).unwrap();
    let most = 0.5 * 0.072 * (2.0 * 3e-3 * 0.05 / (DT / 8.0)).powi(2);
    let mut before = energy(&cloth);
    for k in 0..150 {
        step(&mut cloth, V3::zeros());
        let now = energy(&cloth);
        assert!(now < before + most, "step {k}: {now} J after {before} J");
        before = now;
    }
}

/// A floor that moves takes the sheet on it along at its speed, as fast as friction can: v = μ g t.
#[test]
fn a_floor_that_moves_takes_cloth_along() {
    for (integrator, tolerance) in [(Integrator::SymplecticEuler, None), (Integrator::Parabola, Some(1e-3))] {
        let mut cloth = IbdsCloth::new("sheet", Net::sheet(&flat(6, 0.3, 6e-4), 0.2).unwrap()).unwrap();
        cloth = cloth.integrator(integrator).velocity_tolerance(tolerance);
        cloth.follow(vec![obstacle(&Mesh::cuboid([6.0, 0.2, 2.0]).unwrap(), 0.3)]).unwrap();
        let speed = [0.5, 0.0, 0.0];
        for k in 0..60 {
            let at = |k: u32| Arc::new([HandleState::point([0.5 * DT * f64::from(k), -0.1, 0.0], speed)]);
            let motion = Motion { begin: at(k), end: at(k + 1) };
            cloth.step(DT, &Inputs { motions: vec![Some(motion)], ..Inputs::default() }).unwrap();
            let mean = cloth.velocities().iter().map(|v| v.x).sum::<f64>() / cloth.velocities().len() as f64;
            let expected = (0.3 * G * DT * f64::from(k + 1)).min(0.5);
            // It begins to be pressed a step late.
            assert!((mean - expected).abs() < 1.5 * 0.3 * G * DT, "step {k}: {mean} m/s for {expected} m/s");
        }
    }
}

/// A rope meets what its links pass over, though none of its particles does: a bar, or a line that is another rope's.
#[test]
fn a_rope_hangs_over_a_bar_or_a_line() {
    let bar = obstacle(&Mesh::cuboid([0.04, 0.04, 1.0]).unwrap(), 0.8);
    let line = obstacle_of(vec![[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]], vec![], vec![[0, 1]], 0.8);
    for (guide, top) in [(bar, 0.015), (line, -0.005)] {
        let net = Net::chain([-0.5, 0.1, 0.03], [0.5, 0.1, 0.03], 9, 0.1).unwrap();
        let mut rope = IbdsCloth::new("rope", net).unwrap();
        rope.follow(vec![guide]).unwrap();
        (0..100).for_each(|_| drop(step(&mut rope, V3::zeros())));
        let [low, high] = [f64::min, f64::max].map(|of| rope.positions().iter().map(|x| x.y).reduce(of).unwrap());
        assert!(low > -0.6 && low < -0.2 && high > top, "from {low} m to {high} m");
    }
}

/// Without self-contact layers fall through each other; and what pushed them before is forgotten.
#[test]
fn layers_pass_without_self_contact() {
    let layers = |self_contact: bool, above_a_floor: bool| {
        let (below, above) = (flat(3, 0.2, 0.0), flat(2, 0.1, 0.9e-3));
        let held: Vec<u32> = (0..below.vertices().len() as u32).collect();
        let vertices: Vec<[f64; 3]> = below.positions().into_iter().chain(above.positions()).collect();
        let first = held.len() as u32;
        let above = above.triangles().iter().map(|t| t.map(|v| v + first));
        let triangles: Vec<[u32; 3]> = below.triangles().iter().copied().chain(above).collect();
        let net = Net::sheet(&Mesh::new(&vertices, &triangles).unwrap(), 0.2).unwrap();
        let mut cloth = IbdsCloth::new("layers", net).unwrap();
        cloth.pin(&held).unwrap();
        let floor = obstacle(&Mesh::cuboid([2.0, 0.2, 2.0]).unwrap(), 0.0);
        cloth.follow(above_a_floor.then_some(floor).into_iter().collect()).unwrap();
        cloth.self_contact(self_contact)
    };
    let fall = |cloth: &mut IbdsCloth, above_a_floor: bool| {
        let motions = vec![Some(still(V3::y() * -1.0)); usize::from(above_a_floor)];
        let inputs = Inputs { motions, ..Inputs::default() };
        (0..20).for_each(|_| drop(cloth.step(DT, &inputs).unwrap()));
        cloth.positions().last().unwrap().y
    };
    for above_a_floor in [false, true] {
        assert!(fall(&mut layers(false, above_a_floor), above_a_floor) < -0.19);
        let mut cloth = layers(true, above_a_floor);
        let lies = fall(&mut cloth, above_a_floor);
        assert!((0.5e-3..1.1e-3).contains(&lies), "{lies} m");
        let falls = fall(&mut cloth.self_contact(false), above_a_floor);
        assert!(falls < -0.19, "{falls} m");
    }
}

/// What lifts a triangle right beside its pinned edge would have to throw its free vertex about: it goes no more than a few hundred times
/// as fast, a tenth of the lever.
#[test]
fn levers_throw_nothing() {
    for velocity_tolerance in [None, Some(1e-3)] {
        let triangle = Mesh::new(&[[0.0; 3], [0.1, 0.0, 0.0], [0.05, 0.0, 0.1]], &[[0, 2, 1]]).unwrap();
        let mut cloth = IbdsCloth::new("triangle", Net::sheet(&triangle, 0.2).unwrap()).unwrap();
        cloth.pin(&[0, 1]).unwrap();
        let mut cloth = cloth.gravity([0.0; 3]).velocity_tolerance(velocity_tolerance);
        cloth.follow(vec![obstacle(&Mesh::cuboid([1e-4; 3]).unwrap(), 0.0)]).unwrap();
        for k in 0..40 {
            let at = |k: u32| {
                let height = -1e-3 + 0.02 * DT * f64::from(k);
                Arc::new([HandleState::point([0.05, height, 1.5e-4], [0.0, 0.02, 0.0])])
            };
            let motion = Motion { begin: at(k), end: at(k + 1) };
            cloth.step(DT, &Inputs { motions: vec![Some(motion)], ..Inputs::default() }).unwrap();
            assert!(fastest(&cloth) < 12.0, "step {k}, {velocity_tolerance:?}: {} m/s", fastest(&cloth));
        }
    }
}

/// What meets an obstacle with restitution leaves with that much of its speed, wherever in a step it gets there.
#[test]
fn restitution_is_kept() {
    for (thickness, dt) in [(1e-3, 1e-2), (5e-3, 2e-3), (2e-2, 1e-2), (2e-2, 1e-3)] {
        for height in [0.03, 0.033, 0.036] {
            let mesh = flat(3, 0.3, height);
            let mut cloth = IbdsCloth::new("sheet", Net::sheet(&mesh, 0.2).unwrap()).unwrap().thickness(thickness);
            cloth = cloth.gravity([0.0; 3]).with_velocities(&vec![[0.0, -1.0, 0.0]; mesh.vertices().len()]).unwrap();
            let floor = match obstacle(&Mesh::cuboid([2.0, 0.2, 2.0]).unwrap(), 0.0) {
                Guide::Obstacle { surface, friction, thickness, except, .. } => {
                    Guide::Obstacle { surface, friction, restitution: 0.8, thickness, except }
                }
                attachment => attachment,
            };
            cloth.follow(vec![floor]).unwrap();
            let inputs = Inputs { motions: vec![Some(still(V3::y() * -0.1))], ..Inputs::default() };
            (0..(0.06 / dt) as u32).for_each(|_| drop(cloth.step(dt, &inputs).unwrap()));
            for v in cloth.velocities() {
                assert!((v.y - 0.8).abs() < 0.01, "{} m/s, {thickness} m, {dt} s, from {height} m", v.y);
            }
        }
    }
}

/// On a slope of 20 degrees it slides with g (sin - mu cos), or stays where mu is more than the tangent, 0.364 (Coulomb).
#[test]
fn cloth_slides_as_coulomb_says() {
    for friction in [0.0, 0.1, 0.3, 0.5] {
        let angle = 20.0_f64.to_radians();
        let tilt = UnitQuaternion::from_axis_angle(&V3::z_axis(), angle);
        let mesh = flat(6, 0.3, 0.0);
        let net = Net::sheet(&mesh, 0.2).unwrap();
        let start: Vec<[f64; 3]> = mesh.vertices().iter().map(|x| (tilt * (x + V3::y() * 6e-4)).into()).collect();
        let mut cloth = IbdsCloth::new("sheet", net).unwrap().with_positions(&start).unwrap();
        cloth.follow(vec![obstacle(&Mesh::cuboid([4.0, 0.2, 4.0]).unwrap(), friction)]).unwrap();
        let q = tilt.coords;
        let at = tilt * V3::new(0.0, -0.1, 0.0);
        let state = HandleState { orientation: [q.x, q.y, q.z, q.w], ..HandleState::point(at, [0.0; 3]) };
        let motion = Motion { begin: Arc::new([state]), end: Arc::new([state]) };
        let inputs = Inputs { motions: vec![Some(motion)], ..Inputs::default() };
        (0..50).for_each(|_| drop(cloth.step(DT, &inputs).unwrap()));
        let down = tilt * -V3::x();
        let n = cloth.velocities().len() as f64;
        let speed = cloth.velocities().iter().map(|v| v.dot(&down)).sum::<f64>() / n;
        let expected = 0.5 * G * (angle.sin() - friction * angle.cos()).max(0.0);
        assert!((speed - expected).abs() < 0.02 * G * 0.5, "friction {friction}: {speed} m/s for {expected} m/s");
    }
}

/// Who holds cloth feels what falls on it: of a sheet that falls on another one, which is pinned at one side and attached at the other,
/// both together gain the momentum that pins, carriers and gravity give, to rounding, in every step.
#[test]
fn who_holds_cloth_feels_what_falls_on_it() {
    let (mesh, velocities) = falling_on_another();
    let net = Net::sheet(&mesh, 0.2).unwrap();
    let mut cloth = IbdsCloth::new("both", net).unwrap().with_velocities(&velocities).unwrap();
    cloth = cloth.velocity_tolerance(Some(0.01));
    cloth.pin(&[0, 1]).unwrap();
    let carried = [2, 3];
    cloth.follow(carried.map(|v| Guide::Attachment { own: cloth.particle(v) }).to_vec()).unwrap();
    let motions = carried.map(|v| Some(still(mesh.vertices()[v as usize]))).to_vec();
    let inputs = Inputs { motions, ..Inputs::default() };
    let given = given_by_carriers(&mut cloth, DT, &inputs);
    // The carriers bore some of it.
    assert!(given.y > 0.05 * cloth.ledger().unwrap().mass, "{given}");
}
