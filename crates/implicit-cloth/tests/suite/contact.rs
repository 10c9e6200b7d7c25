//! Cloth on obstacles: what it rests on feels its weight, friction is Coulomb's, it comes to rest.

use std::{f64::consts::FRAC_PI_2, sync::Arc};

use nalgebra::{UnitQuaternion, Vector3};
use partita_implicit_cloth::{Fabric, ImplicitCloth, Integrator, Parameters};
use partita_mesh::Mesh;
use partita_simulator::{Guide, HandleId, HandleState, Inputs, Motion, Simulator, StepReport};

use crate::common::obstacle;
use crate::sheets::{falling_on_another, flat, given_by_carriers};

type V3 = Vector3<f64>;

const G: f64 = 9.81;
const DT: f64 = 1.0 / 60.0;

fn still(at: V3, turn: UnitQuaternion<f64>) -> Motion {
    let q = turn.coords;
    let state = HandleState { orientation: [q.x, q.y, q.z, q.w], ..HandleState::point(at, [0.0; 3]) };
    Motion { begin: Arc::new([state]), end: Arc::new([state]) }
}

fn step(cloth: &mut ImplicitCloth, motion: &Motion) -> StepReport {
    let inputs = Inputs { motions: vec![Some(motion.clone())], ..Inputs::default() };
    cloth.step(DT, &inputs).unwrap()
}

fn fastest(cloth: &ImplicitCloth) -> f64 {
    cloth.velocities().iter().map(|v| v.norm()).fold(0.0, f64::max)
}

/// On the floor it comes to rest, stays above it, and the floor feels its weight (K13, M6).
#[test]
fn cloth_on_the_floor_comes_to_rest() {
    let mut cloth = ImplicitCloth::new("sheet", flat(12, 0.3, 0.05), Fabric::cotton()).unwrap();
    let floor = Mesh::cuboid([2.0, 0.2, 2.0]).unwrap();
    cloth.follow(vec![obstacle(&floor, 0.5)]).unwrap();
    // Beside its middle.
    let motion = still(V3::new(0.3, -0.1, 0.2), UnitQuaternion::identity());
    for _ in 0..120 {
        step(&mut cloth, &motion);
    }
    let (mut impulse, mut turned) = (0.0, V3::zeros());
    for _ in 0..60 {
        let report = step(&mut cloth, &motion);
        impulse += report.reactions.iter().map(|reaction| reaction.impulse.linear[1]).sum::<f64>();
        turned += report.reactions.iter().map(|reaction| V3::from(reaction.impulse.angular)).sum::<V3>();
        assert!(fastest(&cloth) < 1e-3, "{} m/s", fastest(&cloth));
        assert!(cloth.positions().iter().all(|x| x.y > 0.0));
    }
    let weight = cloth.masses().iter().sum::<f64>() * G;
    assert!((impulse / -weight - 1.0).abs() < 1e-3, "{impulse} N s of {weight} N in a second");
    // As the weight does with the arm from there; a millimetre is what the sheet may have crept.
    let expected = weight * V3::new(-0.2, 0.0, 0.3);
    assert!((turned - expected).norm() < 1e-3 * weight, "{turned} N m s for {expected} N m in a second");
}

/// Who holds cloth feels what falls on it: of a sheet that falls on another one, which is pinned at one side and attached at the other,
/// both together gain the momentum that pins, carriers and gravity give, to rounding, in every step.
#[test]
fn who_holds_cloth_feels_what_falls_on_it() {
    let (mesh, velocities) = falling_on_another();
    let cloth = ImplicitCloth::new("both", mesh.clone(), Fabric::cotton()).unwrap();
    let mut cloth = cloth.with_velocities(&velocities).unwrap();
    cloth.pin(&[0, 1]).unwrap();
    let carried = [2, 3];
    cloth.follow(carried.map(|v| Guide::Attachment { own: cloth.vertex(v) }).to_vec()).unwrap();
    let motions = carried.map(|v| Some(still(mesh.vertices()[v as usize], UnitQuaternion::identity()))).to_vec();
    let inputs = Inputs { motions, ..Inputs::default() };
    let given = given_by_carriers(&mut cloth, DT, &inputs);
    // The carriers bore some of it.
    assert!(given.y > 0.05 * cloth.ledger().unwrap().mass, "{given}");
}

/// What lands flat on the floor stays there, whichever dissipative scheme takes it there: without restitution it bounces with less than
/// a tenth of the 3 m/s, which leaves a hundredth of the energy.
#[test]
fn nothing_bounces_without_restitution() {
    for integrator in [Integrator::Linearised, Integrator::BackwardEuler, Integrator::Bdf2] {
        for dt in [DT, 0.25 * DT] {
            let cloth =
                ImplicitCloth::new("sheet", flat(8, 0.3, 0.02), Fabric::cotton()).unwrap().integrator(integrator);
            let mut cloth = cloth.with_velocities(&[[0.0, -3.0, 0.0]; 81]).unwrap();
            cloth.follow(vec![obstacle(&Mesh::cuboid([2.0, 0.2, 2.0]).unwrap(), 0.5)]).unwrap();
            let motion = still(V3::new(0.0, -0.1, 0.0), UnitQuaternion::identity());
            let inputs = Inputs { motions: vec![Some(motion)], ..Inputs::default() };
            let kinetic = |cloth: &ImplicitCloth| cloth.ledger().unwrap().kinetic;
            let start = kinetic(&cloth);
            for step in 0..16 {
                cloth.step(dt, &inputs).unwrap();
                let now = kinetic(&cloth);
                assert!(step < 4 || now < 1e-2 * start, "{integrator:?}, {dt} s, step {step}: {now} J of {start} J");
            }
        }
    }
}

/// An obstacle may let vertices through, which then fall past it; a point within a triangle is refused by name.
#[test]
fn obstacles_let_vertices_through() {
    let mut cloth = ImplicitCloth::new("sheet", flat(2, 0.1, 0.01), Fabric::cotton()).unwrap();
    let point = cloth.point(0, [0.2, 0.3, 0.5]).unwrap();
    let floor = |through: Vec<HandleId>| match obstacle(&Mesh::cuboid([2.0, 0.2, 2.0]).unwrap(), 0.5) {
        Guide::Obstacle { surface, friction, restitution, thickness, .. } => {
            Guide::Obstacle { surface, friction, restitution, thickness, except: through }
        }
        attachment => attachment,
    };
    let error = cloth.follow(vec![floor(vec![cloth.vertex(3), point])]).unwrap_err().to_string();
    assert!(error.starts_with("guide 0: expected vertices alone, found one that lets points through"), "{error}");
    cloth.follow(vec![floor(cloth.vertices(&[0, 1, 2, 3, 4, 5, 6, 7, 8]))]).unwrap();
    let motion = still(V3::new(0.0, -0.1, 0.0), UnitQuaternion::identity());
    (0..30).for_each(|_| drop(step(&mut cloth, &motion)));
    assert!(cloth.positions().iter().all(|x| x.y < -0.5));
}

/// On a slope with friction 0.5 it holds at 25°, and slides at 29° as a block would (K12), however stiff it is and however
/// exactly steps are solved.
#[test]
fn friction_is_that_of_coulomb() {
    let cases = [(25.0_f64, false), (29.0, true)].into_iter().flat_map(|(degrees, slides)| {
        let ways =
            [(1e-3, Fabric::cotton()), (1e-5, Fabric::denim()), (1e-8, Fabric::cotton()), (1e-3, Fabric::jersey())];
        ways.map(|(tolerance, fabric)| (degrees, slides, tolerance, fabric))
    });
    for (degrees, slides, tolerance, fabric) in cases {
        let turn = UnitQuaternion::from_scaled_axis(V3::z() * degrees.to_radians());
        let sheet = flat(6, 0.1, 0.0);
        let placed: Vec<[f64; 3]> = sheet.vertices().iter().map(|x| (turn * (x + V3::y() * 0.1006)).into()).collect();
        let mesh = Mesh::new(&placed, sheet.triangles()).unwrap();
        let fabric = fabric.thickness(1e-3);
        let mut cloth = ImplicitCloth::new("patch", mesh, fabric).unwrap().tolerance(tolerance);
        let slope = Mesh::cuboid([4.0, 0.2, 2.0]).unwrap();
        cloth.follow(vec![obstacle(&slope, 0.5)]).unwrap();
        let motion = still(V3::zeros(), turn);
        for _ in 0..60 {
            step(&mut cloth, &motion);
        }
        let middle = |of: &[V3]| of.iter().sum::<V3>() / of.len() as f64;
        let [before, speed] = [middle(cloth.positions()), middle(cloth.velocities())];
        for _ in 0..60 {
            step(&mut cloth, &motion);
        }
        let (angle, way) = (degrees.to_radians(), (middle(cloth.positions()) - before).norm());
        if slides {
            // Within two thirds of a percent of the friction coefficient.
            let expected = speed.norm() + 0.5 * G * (angle.sin() - 0.5 * angle.cos());
            assert!((way / expected - 1.0).abs() < 0.02, "{tolerance} {fabric:?}: {way} m for {expected} m");
        } else {
            // At 25° friction needs three quarters of the half millimetre a second at which it is Coulomb's.
            assert!(way < 5e-4, "creeps by {way} m in a second");
        }
    }
}

/// Draped over a box it hangs down its sides, comes to rest, crosses nothing, and the box carries all of it.
#[test]
fn cloth_drapes_over_a_box() {
    let parameters = Parameters { fabric: Fabric::cotton(), ..Parameters::default() };
    let mut cloth = ImplicitCloth::with_parameters("drape", flat(24, 0.6, 0.16), parameters).unwrap();
    let table = Mesh::cuboid([0.3, 0.3, 0.3]).unwrap();
    cloth.follow(vec![obstacle(&table, 0.4)]).unwrap();
    let motion = still(V3::zeros(), UnitQuaternion::from_scaled_axis(V3::y() * 0.3));
    let mut impulse = 0.0;
    for k in 0..300 {
        let report = step(&mut cloth, &motion);
        assert!(report.notes.is_empty(), "{:?}", report.notes);
        if k >= 240 {
            impulse += report.reactions.iter().map(|reaction| reaction.impulse.linear[1]).sum::<f64>();
        }
    }
    let weight = cloth.masses().iter().sum::<f64>() * G;
    let mean = cloth.velocities().iter().map(|v| v.norm()).sum::<f64>() / 625.0;
    assert!(mean < 2e-3, "mean speed {mean} m/s");
    // Under its own weight it stretches by less than a hundredth, around the corners too.
    assert!(cloth.stretch() < 0.01, "{}", cloth.stretch());
    assert!((impulse / -weight - 1.0).abs() < 0.02, "{impulse} N s of {weight} N in a second");
    assert!(cloth.positions().iter().map(|x| x.y).fold(1.0, f64::min) < -0.02);
}

/// Folded over a rod much thinner than its cells it falls on it and hangs there: the fixed rod gives it no energy, whatever its
/// facets, and its weight hardly stretches it. Contacts on both slopes of the fold push across each other, from one side of the cloth.
#[test]
fn a_thin_rod_gives_no_energy() {
    let (edge, apart, rows) = (0.04_f64, 0.02, 8);
    let flat = Mesh::grid([6, 2 * rows], [0.24, 0.64]).unwrap();
    let place = |x: [f64; 3]| {
        let row = (-x[1] / edge).round() - f64::from(rows);
        let down = if row == 0.0 { 0.0 } else { (edge * edge - apart * apart).sqrt() + edge * (row.abs() - 1.0) };
        [x[0], 1.0 - down, if row == 0.0 { 0.0 } else { apart * row.signum() }]
    };
    let folded: Vec<[f64; 3]> = flat.positions().into_iter().map(place).collect();
    let mut cloth = ImplicitCloth::new("sheet", flat, Fabric::cotton()).unwrap().with_positions(&folded).unwrap();
    let rod = Mesh::capsule(0.24, 0.009, 32).unwrap().turned([0.0, 0.0, 1.0], FRAC_PI_2).unwrap();
    cloth.follow(vec![obstacle(&rod, 0.4)]).unwrap();
    let motion = still(V3::new(0.12, 0.971, 0.0), UnitQuaternion::identity());
    let energy = |cloth: &ImplicitCloth| cloth.ledger().map(|ledger| ledger.kinetic + ledger.potential).unwrap();
    let mut before = energy(&cloth);
    for _ in 0..60 {
        let inputs = Inputs { motions: vec![Some(motion.clone())], ..Inputs::default() };
        cloth.step(0.5 * DT, &inputs).unwrap();
        // What contact's last word adds in a step: a hundredth of what the fall onto the rod brings, 0.3 N x 2 cm.
        let now = energy(&cloth);
        assert!(now < before + 6e-5, "{before} J, then {now} J");
        before = now;
    }
    assert!(cloth.positions().iter().all(|x| x.y > 0.6), "it hangs there");
    assert!(cloth.stretch() < 0.01, "{}", cloth.stretch());
}

/// What goes on in contact is in the snapshot, all of it: read in a cloth that is new it goes on to the last bit, and the cloth
/// that went on and comes back does so too.
#[test]
fn contact_goes_on_from_a_snapshot() {
    let draped = || {
        let mut cloth = ImplicitCloth::new("drape", flat(12, 0.4, 0.16), Fabric::cotton()).unwrap();
        cloth.follow(vec![obstacle(&Mesh::cuboid([0.2, 0.3, 0.2]).unwrap(), 0.4)]).unwrap();
        cloth
    };
    let motion = still(V3::zeros(), UnitQuaternion::from_scaled_axis(V3::y() * 0.3));
    let mut cloth = draped();
    (0..40).for_each(|_| drop(step(&mut cloth, &motion)));
    let snapshot = cloth.snapshot(None);
    let bytes = snapshot.to_bytes();
    let on = |cloth: &mut ImplicitCloth| {
        (0..20).for_each(|_| drop(step(cloth, &motion)));
        cloth.snapshot(None).to_bytes()
    };
    let expected = on(&mut cloth);
    cloth.retract(&snapshot).unwrap();
    assert!(on(&mut cloth) == expected, "after retract");
    let mut other = draped();
    let read = other.snapshot_from_bytes(&bytes).unwrap();
    other.retract(&read).unwrap();
    assert!(on(&mut other) == expected, "in another cloth");
}

/// Cloth that begins at its thickness from a floor, where contacts push already, leaves slowly however short the step: contacts as
/// stiff as the step's inertia would throw it out by 0.15 mm within it, at 5 m/s in 10 µs.
#[test]
fn what_begins_in_contact_is_not_thrown_out() {
    let motion = still(V3::new(0.0, -0.1, 0.0), UnitQuaternion::identity());
    for dt in [1.0 / 60.0, 1e-3, 1e-4, 1e-5, 1e-7] {
        let cloth = ImplicitCloth::new("cloth", flat(4, 0.2, 0.5e-3), Fabric::cotton()).unwrap();
        let mut cloth = cloth.gravity([0.0; 3]);
        cloth.follow(vec![obstacle(&Mesh::cuboid([2.0, 0.2, 2.0]).unwrap(), 0.0)]).unwrap();
        for _ in 0..20 {
            cloth.step(dt, &Inputs { motions: vec![Some(motion.clone())], ..Inputs::default() }).unwrap();
            assert!(fastest(&cloth) < 0.5, "{} m/s in steps of {dt} s", fastest(&cloth));
        }
    }
}
