//! Light cloth at rest gains no energy that nobody gave from heavier cloth and grains that land on it.

use std::f64::consts::FRAC_PI_2;

use crate::common::sample::Sample;
use partita::{prelude::*, simulator::Simulator};
use partita_mesh::Mesh;

/// A level sheet around the origin `[m]`, moved up.
fn level(cells: u32, size: f64, up: f64) -> Mesh {
    let mesh = Mesh::grid([cells; 2], [size; 2]).unwrap().at([-0.5 * size, 0.5 * size, 0.0]).unwrap();
    mesh.turned([1.0, 0.0, 0.0], -FRAC_PI_2).unwrap().at([0.0, up, 0.0]).unwrap()
}

/// Cloth without gravity, of a density `[kg/m²]`, that moves at a velocity `[m/s]`.
fn cloth(name: &str, method: &str, mesh: Mesh, density: f64, velocity: [f64; 3]) -> Box<dyn Simulator> {
    let (none, velocities) = ([0.0; 3], vec![velocity; mesh.vertices().len()]);
    match method {
        "implicit" => {
            let cloth = ImplicitCloth::new(name, mesh, Fabric::cotton().density(density)).unwrap().gravity(none);
            Box::new(cloth.with_velocities(&velocities).unwrap())
        }
        "ibds" => {
            let cloth = IbdsCloth::new(name, Net::sheet(&mesh, density).unwrap()).unwrap().gravity(none);
            Box::new(cloth.with_velocities(&velocities).unwrap())
        }
        _ => {
            let fabric = Fabric::jersey().undamped().density(density);
            Box::new(AviCloth::new(name, mesh, fabric).unwrap().gravity(none).with_velocities(&velocities).unwrap())
        }
    }
}

const METHODS: [&str; 3] = ["implicit", "ibds", "avi"];

/// Energy of simulators, less what reactions have yet to take `[J]`.
fn energy(run: &mut Run, names: [&str; 2]) -> f64 {
    let ledgers = names.map(|name| run.simulator_ledger(name).unwrap().unwrap());
    let in_transit: f64 = run.ledgers().iter().map(|ledger| ledger.in_transit).sum();
    ledgers.iter().map(|ledger| ledger.kinetic + ledger.potential).sum::<f64>() - in_transit
}

fn momentum(run: &mut Run, names: [&str; 2]) -> [f64; 3] {
    let [a, b] = names.map(|name| run.simulator_ledger(name).unwrap().unwrap().momentum);
    let pending = run.ledgers().iter().map(|ledger| ledger.pending.linear).fold([0.0; 3], add);
    add(add(a, b), pending)
}

fn add(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|k| a[k] + b[k])
}

/// Runs 0.2 s, in which energy never grows by more than a hundredth and momentum stays.
fn keeps_energy_and_momentum(scene: Scene, names: [&str; 2], what: &str) {
    let mut run = scene.build().unwrap();
    let [start, before] = [energy(&mut run, names), momentum(&mut run, names)[1]];
    while run.time() < 0.2 {
        run.advance().unwrap();
        let [now, open] = [energy(&mut run, names), momentum(&mut run, names)[1] - before];
        assert!(now < 1.01 * start, "{what}: {now} J of {start} at {} s", run.time());
        assert!(open.abs() < 1e-9 * before.abs(), "{what}: {open} N s of {before} at {} s", run.time());
    }
}

/// Cloth of eight times the weight, or of as much, falls on cloth that rests. That it rests exactly made no
/// difference to energies of 1e-20 J, but to whether they were compared: it got ten times what there was.
#[test]
fn heavy_cloth_on_cloth_at_rest() {
    let mut sample = Sample::one_in(5);
    for method in METHODS {
        for (hz, density) in [(60.0, 3.0), (240.0, 3.0), (60.0, 0.385), (120.0, 0.385), (240.0, 0.385)] {
            for upper in METHODS {
                for scheme in [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()] {
                    if sample.leaves_out() {
                        continue;
                    }
                    let low = cloth("low", method, level(8, 0.4, 0.0), 0.15, [0.0; 3]);
                    let mesh = level(6, 0.25, 0.03).turned([0.0, 1.0, 0.0], 0.3).unwrap();
                    let up = cloth("up", upper, mesh, density, [0.0, -1.0, 0.0]);
                    let what = format!("{upper} of {density} kg/m² on {method}, {scheme:?}, {hz} Hz");
                    let mut scene = Scene::new(Rate::hz(hz));
                    scene.scheme(scheme).contact("up", "low");
                    scene.add_boxed(low).add_boxed(up);
                    keeps_energy_and_momentum(scene, ["low", "up"], &what);
                }
            }
        }
    }
}

/// Twenty-five grains of 1 g hit free cloth of 11 g at once.
#[test]
fn grains_on_cloth_at_rest() {
    for method in METHODS {
        for scheme in [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()] {
            for hz in [60.0, 120.0, 240.0] {
                let mut grains = Particles::new("grains").mass(1e-3).radius(0.003).gravity([0.0; 3]);
                for k in 0..25 {
                    let [x, z] = [k % 5, k / 5].map(|k| 0.07 * (f64::from(k) - 2.0) + 0.003);
                    grains.add([x, 0.02, z], [0.0, -1.0, 0.0]).unwrap();
                }
                let mut scene = Scene::new(Rate::hz(hz));
                scene.scheme(scheme.clone());
                scene.contact("grains", "cloth").friction(0.2);
                scene.add(grains).add_boxed(cloth("cloth", method, level(8, 0.4, 0.0), 0.07, [0.0; 3]));
                keeps_energy_and_momentum(scene, ["grains", "cloth"], &format!("{method}, {scheme:?}, {hz} Hz"));
            }
        }
    }
}

/// A grain of 2 g hits a vertex's neighbourhood of 0.2 g: cloth of 11 g, free, at rest.
#[test]
fn a_grain_on_cloth_at_rest() {
    for method in METHODS {
        for scheme in [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()] {
            for (hz, restitution) in
                [(60.0, 0.0), (240.0, 0.0), (1000.0, 0.0), (60.0, 1.0), (240.0, 1.0), (1000.0, 1.0)]
            {
                let mut grain = Particles::new("grain").mass(2e-3).radius(0.003).gravity([0.0; 3]);
                grain.add([0.013, 0.02, 0.007], [0.0, -1.0, 0.0]).unwrap();
                let mut scene = Scene::new(Rate::hz(hz));
                scene.scheme(scheme.clone());
                scene.contact("grain", "cloth").friction(0.2).restitution(restitution);
                scene.add(grain).add_boxed(cloth("cloth", method, level(8, 0.4, 0.0), 0.07, [0.0; 3]));
                let what = format!("{method}, {scheme:?}, {hz} Hz, {restitution}");
                keeps_energy_and_momentum(scene, ["grain", "cloth"], &what);
            }
        }
    }
}
