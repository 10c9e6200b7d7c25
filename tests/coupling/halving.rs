//! Windows whose loads find no fixed point are taken in halves: what else is in the scene does not notice.

use std::f64::consts::FRAC_PI_2;

use crate::common::hash;
use partita::{
    prelude::*,
    simulator::reference::{MassOnSpring, SpringParameters},
};
use partita_mesh::{Mesh, Side};

/// A mass on a spring, without gravity.
fn mass(name: &str) -> MassOnSpring {
    let parameters = SpringParameters { mass: 0.3, stiffness: 5.0, anchor: [0.0, 1.0, 0.0], ..Default::default() };
    let mass = MassOnSpring::new(name, parameters).unwrap();
    mass.started_at([0.0, 1.2, 0.0], [0.1, 0.0, 0.0]).unwrap()
}

/// A ball that falls on a sheet of 0.3 m which two edges hold, in windows of 0.1 s, in which it comes and goes; a mass that nothing is
/// coupled to, and one on a spring of the scene to the ball, if asked for.
fn scene(scheme: Scheme, has_spring: bool) -> (Scene, HandleId) {
    let mesh = Mesh::grid([8; 2], [0.3; 2]).unwrap().at([-0.15, 0.15, 0.0]).unwrap();
    let mesh = mesh.turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    let held: Vec<u32> = [Side::Top, Side::Bottom].iter().flat_map(|&side| mesh.edge(side).unwrap()).collect();
    let mut cloth = ImplicitCloth::new("cloth", mesh, Fabric::cotton()).unwrap().gravity([0.0; 3]);
    cloth.pin(&held).unwrap();
    let mut rigid = RigidBodies::new("rigid").gravity([0.0; 3]);
    let ball = Body::dynamic(Shape::ball(0.04)).mass(0.2).at([0.01, 0.07, 0.02]).velocity([0.0, -1.5, 0.0]);
    let ball = rigid.add("ball", ball).unwrap();
    let (alone, tied) = (mass("alone"), mass("tied"));
    let mut scene = Scene::new(Rate::hz(10.0));
    scene.scheme(scheme).contact("cloth", "rigid").friction(0.3);
    if has_spring {
        scene.spring(ball, tied.mass()).stiffness(1.0).rest_length(1.0);
    }
    scene.add(rigid).add(cloth).add(alone).add(tied);
    (scene, ball)
}

const NAMES: [&str; 4] = ["rigid", "cloth", "alone", "tied"];

fn schemes() -> [Scheme; 2] {
    [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()]
}

/// Most passes of a window that is not halved, with one contact.
fn whole(scheme: &Scheme) -> u32 {
    if *scheme == Scheme::Interleaved { 9 } else { 25 }
}

/// Simulators that are not coupled take such a window once, as alone; it counts once, with its notes; a run that
/// goes back, and one with threads, have the same bits.
#[test]
fn windows_in_halves_are_windows() {
    for scheme in schemes() {
        let (scene, _) = scene(scheme.clone(), false);
        let mut run = scene.build().unwrap();
        let most = (0..12).map(|_| run.advance().unwrap().passes).max().unwrap();
        assert!(most > whole(&scheme), "{scheme:?}: no window was halved, {most} passes");
        let report = run.report();
        assert_eq!((run.windows(), run.time()), (12, 1.2));
        assert!(
            report.unconverged <= 12 && report.stopped.iter().all(|stopped| stopped.windows.count <= 12),
            "{report:?}"
        );
        assert!(report.notes.iter().all(|note| note.windows.count <= 12), "{:?}", report.notes);

        let mut other = Scene::new(Rate::hz(10.0));
        other.add(mass("alone"));
        let mut other = other.build().unwrap();
        (0..12).for_each(|_| drop(other.advance().unwrap()));
        assert_eq!(run.state_bytes("alone").unwrap(), other.state_bytes("alone").unwrap());

        let end = hash(&mut run, &NAMES);
        run.rewind(0.8).unwrap();
        run.for_seconds(0.8).unwrap();
        assert_eq!(hash(&mut run, &NAMES), end, "{scheme:?}: went back");
    }
}

/// A mass that hangs on a spring of the scene takes the same pieces of a window: the spring gives the ball and the mass as much.
#[test]
fn a_spring_acts_in_halves_too() {
    for scheme in schemes() {
        let (scene, _) = scene(scheme.clone(), true);
        let mut run = scene.build().unwrap();
        let momentum = |run: &mut Run| {
            let [ball, tied] = ["rigid", "tied"].map(|name| run.simulator_ledger(name).unwrap().unwrap());
            let [used, own] = [run.ledgers()[0].used.linear, tied.external.unwrap().linear];
            [0, 1, 2].map(|k| ball.momentum[k] + tied.momentum[k] - used[k] - own[k])
        };
        let start = momentum(&mut run);
        let mut most = 0;
        for _ in 0..12 {
            most = most.max(run.advance().unwrap().passes);
            let open = momentum(&mut run);
            assert!((0..3).all(|k| (open[k] - start[k]).abs() < 1e-9), "{scheme:?}: {start:?}, {open:?} N s");
        }
        assert!(most > whole(&scheme), "{scheme:?}: no window was halved, {most} passes");
    }
}
