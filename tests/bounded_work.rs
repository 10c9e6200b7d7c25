//! A leader that jumps or turns far within one window costs a bounded amount of work, and the report says what was left.

#![cfg(all(feature = "avi-cloth", feature = "ibds-cloth", feature = "implicit-cloth"))]

use std::{sync::Arc, time::Instant};

use partita::{
    prelude::*,
    simulator::{Carrier, Guide, HandleId, HandleState, HandleTable, Inputs, Motion, Outcome, Simulator, Surface},
};
use partita_mesh::{Mesh, Side};

/// Wall clock of a window of 100 vertices `[s]`: ten times what it takes, since other work shares the machine.
const MOST: f64 = 4.0;

fn guide(mesh: &Mesh) -> Guide {
    let owner = HandleTable::new("tests", "obstacle").owner();
    let surface = Surface {
        name: "obstacle".into(),
        carrier: Carrier::Frame(HandleId { owner, index: 0 }),
        vertices: mesh.positions(),
        triangles: mesh.triangles().to_vec(),
        two_sided: false,
        lines: vec![],
        primitive: None,
        friction: 0.3,
        restitution: 0.0,
        thickness: 0.0,
    };
    Guide::Obstacle { surface: Arc::new(surface), friction: 0.3, restitution: 0.0, thickness: 0.0, except: vec![] }
}

/// A name, a shape, and the state at the start of each window.
type Leader<'a> = (&'a str, &'a Mesh, &'a dyn Fn(u32) -> HandleState);

/// Upright sheets of 0.5 m and 100 vertices about the origin, held at both upper corners.
fn cloths() -> [(&'static str, Box<dyn Simulator>); 3] {
    let mesh = || Mesh::grid([9; 2], [0.5; 2]).unwrap().at([-0.25, 0.25, 0.0]).unwrap();
    let top = mesh().edge(Side::Top).unwrap();
    let corners = [top[0], top[9]];
    let mut implicit = ImplicitCloth::new("cloth", mesh(), Fabric::cotton()).unwrap();
    implicit.pin(&corners).unwrap();
    let mut ibds = IbdsCloth::new("cloth", Net::sheet(&mesh(), 0.15).unwrap()).unwrap();
    ibds.pin(&corners).unwrap();
    let mut avi = AviCloth::new("cloth", mesh(), Fabric::jersey().undamped()).unwrap();
    avi.pin(&corners).unwrap();
    [("implicit", Box::new(implicit)), ("ibds", Box::new(ibds)), ("avi", Box::new(avi))]
}

fn state(position: [f64; 3], axis: [f64; 3], angle: f64) -> HandleState {
    let (sin, cos) = (0.5 * angle).sin_cos();
    let [x, y, z] = axis.map(|a| a * sin);
    HandleState { position, orientation: [x, y, z, cos], ..Default::default() }
}

/// A ball of 5120 triangles that jumps 1.2 m through all of the sheet, along it or across it, also turning, and a bar that turns by 3 rad
/// in each window: every window ends in bounded time with finite numbers, and what stopped at the limit says so, once a window.
#[test]
fn windows_with_leaders_that_jump_or_turn_are_bounded() {
    let ball = Mesh::ball(0.1, 4).unwrap();
    let bar = Mesh::cuboid([0.6, 0.1, 0.05]).unwrap();
    let axis = [0.8, 0.6, 0.0];
    let along = |k: u32| state([if k < 3 { -0.6 } else { 0.6 }, 0.0, 0.01], axis, 0.0);
    let across = |k: u32| state([0.03, 0.01, if k < 3 { -0.6 } else { 0.6 }], axis, if k < 3 { 0.0 } else { 2.5 });
    let spinning = |k: u32| state([0.03, 0.01, 0.16], [0.0, 1.0, 0.0], 3.0 * f64::from(k));
    let paths: [Leader<'_>; 3] = [("along", &ball, &along), ("across", &ball, &across), ("spinning", &bar, &spinning)];
    let mut limited = 0;
    for (what, mesh, path) in paths {
        for (kind, mut cloth) in cloths() {
            cloth.follow(vec![guide(mesh)]).unwrap();
            for k in 0..6 {
                let motion = Motion { begin: [path(k)].into(), end: [path(k + 1)].into() };
                let inputs = Inputs { motions: vec![Some(motion)], ..Inputs::default() };
                let start = Instant::now();
                let report = cloth.step(1.0 / 60.0, &inputs).unwrap();
                let seconds = start.elapsed().as_secs_f64();
                assert!(seconds < MOST, "{what}, {kind}, window {k}: {seconds} s");
                let note = report.notes.iter().any(|note| note.contains("all the work that a step may take"));
                let stopped = matches!(&report.outcome, Outcome::StoppedAt { unit, .. } if unit.contains("contact"));
                assert_eq!(note, stopped, "{what}, {kind}, window {k}: {:?} {:?}", report.outcome, report.notes);
                limited += u32::from(note);
            }
            let handles: Vec<HandleId> = cloth.handles().iter().collect();
            let mut states = vec![HandleState::default(); handles.len()];
            cloth.read(&handles, &mut states).unwrap();
            assert!(states.iter().all(HandleState::is_finite), "{what}, {kind}");
        }
    }
    assert!(limited > 0);
}

/// A ball that starts through a sheet is led out of it in bounded time.
#[test]
fn windows_of_crossed_cloth_are_bounded() {
    for subdivisions in [1, 4] {
        for (kind, mut cloth) in cloths() {
            cloth.follow(vec![guide(&Mesh::ball(0.1, subdivisions).unwrap())]).unwrap();
            let still: Arc<[HandleState]> = [state([0.02, 0.01, 0.0], [1.0, 0.0, 0.0], 0.0)].into();
            let motion = Motion { begin: still.clone(), end: still };
            let inputs = Inputs { motions: vec![Some(motion)], ..Inputs::default() };
            for k in 0..6 {
                let start = Instant::now();
                cloth.step(1.0 / 60.0, &inputs).unwrap();
                let seconds = start.elapsed().as_secs_f64();
                assert!(seconds < MOST, "{subdivisions}, {kind}, window {k}: {seconds} s");
            }
        }
    }
}
