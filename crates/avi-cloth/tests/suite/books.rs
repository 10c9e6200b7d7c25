//! In steps cloth is told in a frame that falls, of which nothing is to be seen: gravity is what an accelerated frame makes, and books close.

use std::sync::Arc;

use crate::common::{
    cloth::{elastic, make, plain},
    obstacles::{obstacle, still},
    random::Random,
};
use nalgebra::Vector3;
use partita_avi_cloth::{AviCloth, Limit, Parameters};
use partita_mesh::{Mesh, Side};
use partita_simulator::{Guide, HandleState, Inputs, Ledger, Motion, Simulator, StepReport, Wrench};

type V3 = Vector3<f64>;

const G: V3 = V3::new(1.0, -9.0, 2.0);
const DT: f64 = 1.0 / 60.0;

/// By how much more momentum and angular momentum changed since then than the ledger's `external` says.
fn untold(cloth: &AviCloth, begin: &Ledger) -> [V3; 2] {
    let now = cloth.ledger().unwrap();
    let gone = |now: [f64; 3], begin: [f64; 3]| V3::from(now) - V3::from(begin);
    let [external, before] = [now.external.unwrap(), begin.external.unwrap()];
    [
        gone(now.momentum, begin.momentum) - gone(external.linear, before.linear),
        gone(now.angular_momentum, begin.angular_momentum) - gone(external.angular, before.angular),
    ]
}

/// A sheet upright, whose vertices are given velocities at random but for the two by which it will be held.
fn shaken(parameters: Parameters) -> AviCloth {
    let mut random = Random(11);
    let mesh = Mesh::unstructured([0.4, 0.3], 80, |_| 1.0).unwrap();
    let mut speeds: Vec<[f64; 3]> = mesh.vertices().iter().map(|_| (0.5 * random.vector()).into()).collect();
    (speeds[0], speeds[3]) = ([0.0; 3], [0.0; 3]);
    make(mesh, parameters).with_velocities(&speeds).unwrap()
}

/// The principle of equivalence: held by what rests under gravity, cloth goes as it does without gravity when whatever holds it is
/// accelerated the other way; with limits and viscosity, and events of elements in between.
#[test]
fn gravity_is_an_accelerated_frame() {
    let fabric = elastic().stretch(60.0).shear(30.0).bend(1e-4).damping(1e-4).bend_damping(1e-4);
    let go = |gravity: V3, lift: V3| {
        let limit = Some(Limit::default());
        let mut cloth = shaken(Parameters { gravity: gravity.into(), limit, ..plain(fabric) });
        cloth.pin_along("hand", &[0, 3], move |t| HandleState::point(0.5 * t * t * lift, t * lift)).unwrap();
        let mut limited = 0;
        for _ in 0..12 {
            cloth.step(DT, Inputs::NONE).unwrap();
            limited += cloth.counts().limited;
        }
        assert!(limited > 100, "{limited}");
        (cloth.positions(), cloth.velocities(), cloth.time())
    };
    let ([x, v, time], [y, u, _]) = {
        let ((x, v, time), (y, u, same)) = (go(G, V3::zeros()), go(V3::zeros(), -G));
        let at = |time: f64| vec![V3::new(time, 0.0, 0.0)];
        ([x, v, at(time)], [y, u, at(same)])
    };
    let t = time[0].x;
    let off = |a: &[V3], b: &[V3], by: V3| a.iter().zip(b).map(|(a, b)| (a - b - by).norm()).fold(0.0, f64::max);
    // A fifth of a second lets rounding grow a hundredfold.
    let [place, speed] = [off(&x, &y, 0.5 * t * t * G), off(&v, &u, t * G)];
    assert!(place < 1e-12 && speed < 1e-10, "{place} m, {speed} m/s");
}

/// Momentum and angular momentum about an origin far off change by what the ledger and the reactions say, to rounding: with gravity, a hand, a
/// load on a vertex that it leads, and an obstacle that the cloth falls on, in steps of two intervals.
#[test]
fn books_close() {
    let mesh = Mesh::grid([8, 8], [0.3, 0.3]).unwrap().turned([1.0, 0.0, 0.0], -std::f64::consts::FRAC_PI_2).unwrap();
    let mesh = mesh.at([3.0, 0.02, -2.0]).unwrap();
    let side = mesh.edge(Side::Left).unwrap();
    let fabric = elastic().stretch(100.0).shear(50.0).bend(1e-5).damping(1e-4).thickness(2e-3);
    let parameters = Parameters { gravity: G.into(), ..plain(fabric) };
    let mut cloth = make(mesh, parameters);
    let hand = |t: f64| HandleState::point([0.02 * (9.0 * t).sin(), 0.1 * t, 0.0], [0.18 * (9.0 * t).cos(), 0.1, 0.0]);
    cloth.pin_along("hand", &side, hand).unwrap();
    cloth.follow(vec![obstacle(&Mesh::ball(0.1, 3).unwrap(), 0.2, false)]).unwrap();
    let middle = V3::new(3.2, -0.1, -1.85);
    let led = side[2];
    let force = V3::new(0.3, 0.1, -0.2);
    let inputs = Inputs { loads: vec![(cloth.vertex(led), Wrench::force(force))], ..still(middle) };
    let (begin, mut handled, mut most) = (cloth.ledger().unwrap(), 0, 0.0_f64);
    let (mut got, mut turned) = (V3::zeros(), V3::zeros());
    for _ in 0..12 {
        let led_at = |cloth: &AviCloth| (cloth.positions()[led as usize], cloth.velocities()[led as usize]);
        let (x0, v0) = led_at(&cloth);
        let report = cloth.step(DT, &inputs).unwrap();
        let (x1, v1) = led_at(&cloth);
        // Simpson's rule is exact for the cubic along which it is led; it sets out as fast as it was, at first at rest.
        let between = 0.5 * (x0 + x1) + DT / 8.0 * (v0 - v1);
        got += DT * force;
        turned += (DT / 6.0 * (x0 + 4.0 * between + x1)).cross(&force);
        for reaction in &report.reactions {
            let [linear, angular] = [reaction.impulse.linear, reaction.impulse.angular].map(V3::from);
            got -= linear;
            turned -= angular + middle.cross(&linear);
            most = most.max(linear.norm());
        }
        handled += cloth.counts().handled;
        let [linear, angular] = untold(&cloth, &begin);
        let (open, unturned) = (linear - got, angular - turned);
        assert!(open.norm() < 1e-12 && unturned.norm() < 1e-11, "{open}, {unturned}");
    }
    assert!(handled > 50 && most > 1e-3, "{handled}, {most}");
}

/// However long a step is, the frame does not fall so far that places lose digits: cloth comes to rest at the same place.
#[test]
fn cloth_hangs_the_same_after_a_long_step() {
    let hang = |steps: u32| {
        let fabric = elastic().stretch(20.0).shear(10.0).bend(1e-4).damping(0.05).bend_damping(0.05);
        let mesh = Mesh::grid([2, 2], [0.4, 0.4]).unwrap();
        // From the row that is pinned on: it does not swing.
        let down = V3::from(mesh.positions()[6]) - V3::from(mesh.positions()[0]);
        let mut cloth = make(mesh, Parameters { gravity: (20.0 * down).into(), ..plain(fabric) });
        cloth.pin(&[0, 1, 2]).unwrap();
        (0..steps).for_each(|_| drop(cloth.step(300.0 / f64::from(steps), Inputs::NONE).unwrap()));
        cloth.positions()
    };
    let [long, short] = [1, 600].map(hang);
    let off = long.iter().zip(&short).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    assert!(off < 1e-13, "{off} m");
}

/// Far from the origin, and all in motion.
fn sheet() -> AviCloth {
    let fabric = elastic().stretch(100.0).shear(50.0).bend(1e-5).damping(1e-4);
    let mesh = Mesh::grid([4, 4], [0.3, 0.3]).unwrap().at([3.0, 0.02, -2.0]).unwrap();
    let speeds: Vec<[f64; 3]> = (0..25).map(|k| [0.3, -0.2 * f64::from(k % 3), 0.5]).collect();
    make(mesh, Parameters { gravity: G.into(), ..plain(fabric) }).with_velocities(&speeds).unwrap()
}

/// What momenta gained in some steps that neither the ledger says nor `look` finds in the reports.
fn open(cloth: &mut AviCloth, steps: u32, inputs: &Inputs, mut look: impl FnMut(&StepReport) -> [V3; 2]) -> [V3; 2] {
    let begin = cloth.ledger().unwrap();
    let mut got = [V3::zeros(); 2];
    for _ in 0..steps {
        let report = cloth.step(DT, inputs).unwrap();
        got.iter_mut().zip(look(&report)).for_each(|(got, more)| *got += more);
    }
    let [linear, angular] = untold(cloth, &begin);
    [linear - got[0], angular - got[1]]
}

/// Whoever takes hold of vertices that move takes the momentum that they had.
#[test]
fn who_stops_a_vertex_takes_its_momentum() {
    let mut cloth = sheet();
    cloth.pin(&[0, 12]).unwrap();
    let [linear, angular] = open(&mut cloth, 6, Inputs::NONE, |_| [V3::zeros(); 2]);
    // Rounding, as in `books_close`, of 0.05 N s at 4 m.
    assert!(linear.norm() < 1e-12 && angular.norm() < 1e-11, "{linear}, {angular}");
}

/// Vertices attached to what rests: reactions act where they are, and their weight is turned by gravity, not by whom they are attached to.
#[test]
fn books_close_with_attachments() {
    let mut cloth = sheet();
    let held = [0_u32, 12];
    let at = held.map(|v| cloth.positions()[v as usize]);
    cloth.follow(held.map(|v| Guide::Attachment { own: cloth.vertex(v) }).to_vec()).unwrap();
    let motion = |x: V3| {
        let state: Arc<[HandleState]> = Arc::new([HandleState::point(x, [0.0; 3])]);
        Some(Motion { begin: state.clone(), end: state })
    };
    let inputs = Inputs { motions: at.map(motion).to_vec(), ..Inputs::default() };
    let mut most = 0.0_f64;
    let [linear, angular] = open(&mut cloth, 6, &inputs, |report| {
        let mut got = [V3::zeros(); 2];
        for reaction in &report.reactions {
            let impulse = V3::from(reaction.impulse.linear);
            got[0] -= impulse;
            got[1] -= at[reaction.guide as usize].cross(&impulse) + V3::from(reaction.impulse.angular);
            most = most.max(impulse.norm());
        }
        got
    });
    assert!(most > 1e-3, "{most}");
    assert!(linear.norm() < 1e-12 && angular.norm() < 1e-11, "{linear}, {angular}");
}

/// Gravity has another lever on what a load moves, which the ledger knows; elements have no event, so that ways are parabolas, whose
/// mean is known.
#[test]
fn gravity_turns_what_a_load_moves() {
    let mut cloth = sheet().with_spans(&[10.0; 32]).unwrap();
    let (v, force, t) = (7, V3::new(0.3, 0.1, -0.2), 0.2);
    let m = cloth.masses()[v as usize];
    let (x0, v0) = (cloth.positions()[v as usize], cloth.velocities()[v as usize]);
    let inputs = Inputs { loads: vec![(cloth.vertex(v), Wrench::force(force))], ..Inputs::default() };
    let begin = cloth.ledger().unwrap();
    cloth.step(t, &inputs).unwrap();
    let mean = x0 + 0.5 * t * v0 + t * t / 6.0 * (G + force / m);
    let open = untold(&cloth, &begin)[1] - t * mean.cross(&force);
    // Rounding of 0.1 kg m/s at 4 m.
    assert!(open.norm() < 1e-12, "{open}");
}
