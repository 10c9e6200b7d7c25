//! Windows of any length: one that is shorter or longer than those before gives no energy.

use std::f64::consts::FRAC_PI_2;

use crate::common::sample::Sample;
use partita::{prelude::*, simulator::Simulator};
use partita_mesh::{Mesh, Side};

const G: f64 = 9.81;

/// Height that energies are compared with `[m]`: how far things fall in these scenes.
const HEIGHT: f64 = 0.1;

fn cloth(method: &str, mesh: Mesh, pins: &[u32]) -> Box<dyn Simulator> {
    match method {
        "implicit" => {
            let mut cloth = ImplicitCloth::new("cloth", mesh, Fabric::cotton()).unwrap();
            cloth.pin(pins).unwrap();
            Box::new(cloth)
        }
        "ibds" => {
            let mut cloth = IbdsCloth::new("cloth", Net::sheet(&mesh, 0.15).unwrap()).unwrap();
            cloth.pin(pins).unwrap();
            Box::new(cloth)
        }
        _ => {
            let mut cloth = AviCloth::new("cloth", mesh, Fabric::jersey().undamped()).unwrap();
            cloth.pin(pins).unwrap();
            Box::new(cloth)
        }
    }
}

/// A sheet of 0.3 m that swings alone; a ball that falls on one that two edges hold; a box that
/// falls on one that is pinned everywhere, and rests; one that falls on a ball.
const SCENES: [&str; 4] = ["swinging", "ball", "pinned", "draped"];

fn scene(what: &str, method: &str, scheme: Scheme) -> Scene {
    let mesh = Mesh::grid([8; 2], [0.3; 2]).unwrap().at([-0.15, 0.15, 0.0]).unwrap();
    let level = mesh.clone().turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap();
    let mut rigid = RigidBodies::new("rigid");
    let cloth = match what {
        "swinging" => {
            let tilted = mesh.turned([1.0, 0.0, 0.0], -1.0).unwrap();
            let top = tilted.edge(Side::Top).unwrap();
            rigid.add("far", Body::fixed(Shape::ball(0.1)).at([0.0, -1.0, 0.0])).unwrap();
            cloth(method, tilted, &top)
        }
        "ball" => {
            let held: Vec<u32> = [Side::Top, Side::Bottom].iter().flat_map(|&side| level.edge(side).unwrap()).collect();
            rigid.add("ball", Body::dynamic(Shape::ball(0.04)).mass(0.2).at([0.01, 0.07, 0.02])).unwrap();
            cloth(method, level, &held)
        }
        "pinned" => {
            let all: Vec<u32> = (0..81).collect();
            rigid.add("box", Body::dynamic(Shape::cuboid([0.08; 3])).mass(0.2).at([0.01, 0.07, 0.02])).unwrap();
            cloth(method, level, &all)
        }
        _ => {
            rigid.add("ball", Body::fixed(Shape::ball(0.08)).at([0.0, -0.1, 0.0])).unwrap();
            cloth(method, level, &[])
        }
    };
    let mut scene = Scene::new(Rate::hz(240.0));
    scene.scheme(scheme).contact("cloth", "rigid").friction(0.3);
    scene.add(rigid).add_boxed(cloth);
    scene
}

/// Energy of all that moves `[J]`, and its mass `[kg]`.
fn energy_and_mass(run: &mut Run) -> [f64; 2] {
    let ledgers = ["cloth", "rigid"].map(|name| run.simulator_ledger(name).unwrap().unwrap());
    let held: f64 = ledgers.iter().map(|ledger| ledger.kinetic + ledger.potential).sum();
    let in_transit: f64 = run.ledgers().iter().map(|ledger| ledger.in_transit).sum();
    [held - in_transit, ledgers.iter().map(|ledger| ledger.mass).sum()]
}

/// After some windows of 1/240 s one comes that is shorter or longer, then twenty of 1/240 s. With
/// E the energy in units of m g 0.1 m:
///
/// - a shorter one adds or takes 0.01 at most, which is what IBDS cloth changes as it corrects its links;
/// - none that follows brings the energy above the start by 0.01.
fn an_odd_window_gives_no_energy(method: &str) {
    let mut sample = Sample::one_in(7);
    let schemes: [Scheme; 2] = [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()];
    for what in SCENES {
        for scheme in &schemes {
            for before in [10, 20, 31, 40] {
                for odd in [1e-9, 1e-6, 1e-3, 0.02, 0.1] {
                    if sample.leaves_out() {
                        continue;
                    }
                    let mut run = scene(what, method, scheme.clone()).build().unwrap();
                    let [start, mass] = energy_and_mass(&mut run);
                    let unit = mass * G * HEIGHT;
                    for _ in 0..before {
                        run.advance().unwrap();
                    }
                    let [at, _] = energy_and_mass(&mut run);
                    run.set_rate(Rate::seconds(odd)).unwrap();
                    run.advance().unwrap();
                    let name = format!("{what}, {method}, {scheme:?}, {odd:e} s after {before} windows");
                    let [after, _] = energy_and_mass(&mut run);
                    let gained = (after - at) / unit;
                    assert!(odd > 1.0 / 240.0 || gained.abs() < 0.01, "{name}: gained {gained}");

                    run.set_rate(Rate::hz(240.0)).unwrap();
                    let mut most = after;
                    for _ in 0..20 {
                        run.advance().unwrap();
                        most = most.max(energy_and_mass(&mut run)[0]);
                    }
                    let gained = (most - start) / unit;
                    assert!(gained < 0.01, "{name}: {gained} above the start");
                }
            }
        }
    }
}

#[test]
fn an_odd_window_gives_implicit_cloth_no_energy() {
    an_odd_window_gives_no_energy("implicit");
}

#[test]
fn an_odd_window_gives_ibds_cloth_no_energy() {
    an_odd_window_gives_no_energy("ibds");
}

#[test]
fn an_odd_window_gives_avi_cloth_no_energy() {
    an_odd_window_gives_no_energy("avi");
}

/// A box that rests on a sheet that is pinned everywhere stays there, whatever the lengths of
/// windows are, from 1 µs to 50 ms in any order: what holds it acts in proportion to the window. It
/// fell at 0.5 m/s where a long one came before a short one. It may go by the thickness of 1 mm.
#[test]
fn a_body_at_rest_stays_for_windows_of_any_length() {
    for method in ["implicit", "ibds", "avi"] {
        for scheme in [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()] {
            let mut run = scene("pinned", method, scheme.clone()).build().unwrap();
            let height = |run: &mut Run| {
                let picture = run.picture().unwrap();
                let surface = picture.surfaces.iter().find(|surface| surface.simulator == "rigid").unwrap();
                surface.vertices().iter().map(|x| x[1]).fold(f64::INFINITY, f64::min)
            };
            (0..120).for_each(|_| drop(run.advance().unwrap()));
            let rest = height(&mut run);
            let mut seed = 3_u64;
            for window in 0..200 {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let exponent = -6.0 + 4.7 * (seed >> 11) as f64 / (1_u64 << 53) as f64;
                run.set_rate(Rate::seconds(10.0_f64.powf(exponent))).unwrap();
                run.advance().unwrap();
                let [went, speed] = [height(&mut run) - rest, run.simulator_ledger("rigid").unwrap().unwrap().kinetic];
                let speed = (speed / 0.1).sqrt();
                assert!(
                    went.abs() < 1e-3 && speed < 0.02,
                    "{method}, {scheme:?}, window {window} of 1e{exponent} s: {went} m, {speed} m/s"
                );
            }
        }
    }
}
