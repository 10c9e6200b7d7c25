//! The bench `random`: scenes from seeds, in which bodies come at cloth, and the energy that they gain though nobody gives any.
//!
//! A sheet of 0.4 m by one of the three methods, held in one of seven ways, is hit by one to three balls, capsules or boxes of 1 g to 100 kg
//! at 0.3 to 30 m/s, aimed at its middle, its border or its pins, in windows of 60 to 240 Hz, with or without gravity. The sum of all
//! energies may not rise above that of the start by more than a hundredth of what moves. A value is the part of the scenes in which it does,
//! or which fail; below it are the worst, each with the seed that makes it again.

use std::f64::consts::FRAC_PI_2;

use nalgebra::Vector3;
use partita::{prelude::*, simulator::Simulator};
use partita_mesh::{Mesh, Side};

use crate::{
    Effort,
    table::{Failure, Table, Target},
};

type V3 = Vector3<f64>;

const METHODS: [&str; 3] = ["implicit", "ibds", "avi"];
const HOLDS: [&str; 7] = ["free", "a corner", "corners", "some vertices", "an edge", "all vertices", "a bar"];

/// Largest gain, relative to the energy that moves [-].
const MOST: f64 = 0.01;

/// Worst scenes that are printed for each method and scheme.
const WORST: usize = 5;

/// Numbers from a seed: splitmix64 (S. Vigna).
struct Random(u64);

impl Random {
    /// From 0 to below 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[(self.next() * of.len() as f64) as usize]
    }

    /// Between two positive numbers, evenly by their logarithms.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.next())
    }

    /// From -1 to 1.
    fn signed(&mut self) -> f64 {
        2.0 * self.next() - 1.0
    }
}

/// A scene, and the energy that moves in it at least `[J]`.
struct Hit {
    run: Run,
    moving: f64,
    rate: f64,
    about: String,
}

/// See the module.
///
/// # Errors
/// A scene cannot be built, or the JSON file cannot be written.
pub fn bench(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let scenes = if effort.quick { 2 } else { effort.scenes };
    for (number, method) in METHODS.into_iter().enumerate() {
        for scheme in [Scheme::Interleaved, Relaxed::default().tolerance(1e-3).into()] {
            let mut found = vec![];
            for k in 0..scenes {
                let seed = u64::from(k) * 3 + number as u64;
                let hit = Hit::new(seed, method, scheme.clone())?;
                found.push(gained(hit));
            }
            found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
            let bad = found.iter().filter(|(gain, _)| *gain > MOST).count();
            let name = if scheme == Scheme::Interleaved { "interleaved" } else { "relaxed" };
            let case = format!("{method}, {name}: scenes that gain energy");
            let part = bad as f64 / f64::from(scenes.max(1));
            table.row(&case, "of the scenes", Some(Target::AtMost(0.0)), &[part])?;
            for (_, about) in found.iter().take(WORST.min(bad)) {
                table.remark(about);
            }
        }
    }
    Ok(())
}

impl Hit {
    fn new(seed: u64, method: &str, scheme: Scheme) -> Result<Self, Failure> {
        let mut random = Random(seed.wrapping_mul(7919));
        let cells = random.pick(&[6_u32, 8, 10]);
        let gravity = [0.0, -random.pick(&[0.0, 9.81]), 0.0];
        let mesh = Mesh::grid([cells; 2], [0.4; 2])?.turned([1.0, 0.0, 0.0], -FRAC_PI_2)?.at([-0.2, 0.0, -0.2])?;
        let (count, top) = (mesh.vertices().len() as u32, mesh.edge(Side::Top)?);
        let hold = random.pick(&HOLDS);
        let pins: Vec<u32> = match hold {
            "a corner" => vec![0],
            "corners" => vec![0, cells, count - 1 - cells, count - 1],
            "some vertices" => (0..count).filter(|_| random.next() < 0.1).collect(),
            "an edge" => top.clone(),
            "all vertices" => (0..count).collect(),
            _ => vec![],
        };
        let vertex = |k: u32| mesh.vertices()[k as usize];
        let mut aims = vec![V3::zeros(), vertex(0), vertex(cells / 2)];
        aims.extend(pins.iter().map(|&pin| vertex(pin)));

        let mut rigid = RigidBodies::new("rigid").gravity(gravity);
        let at = vertex(top[0]);
        let rail = Body::fixed(Shape::capsule_x(0.5, 0.01)).at([0.0, at.y, at.z]);
        let bar = if hold == "a bar" { Some(rigid.add("bar", rail)?) } else { None };
        let rate = random.pick(&[60.0, 120.0, 240.0]);
        let (mut about, mut moving) = (format!("seed {seed}: held by {hold}, {rate} Hz,"), 0.0);
        for k in 0..1 + (3.0 * random.next()) as u32 {
            let size = 0.02 + 0.06 * random.next();
            let (what, shape) = match (3.0 * random.next()) as u32 {
                0 => ("ball", Shape::ball(size)),
                1 => ("capsule", Shape::capsule_x(2.0 * size, 0.5 * size)),
                _ => ("box", Shape::cuboid([size, 1.5 * size, 0.7 * size])),
            };
            let (mass, speed) = (random.between(1e-3, 1e2), random.between(0.3, 30.0));
            let aim = random.pick(&aims) + 0.01 * V3::new(random.signed(), 0.0, random.signed());
            let side = random.pick(&[-1.0, 1.0]);
            let from = V3::new(0.5 * random.signed(), side, 0.5 * random.signed()).normalize();
            let body = Body::dynamic(shape).mass(mass).velocity((-speed * from).into());
            rigid.add(&format!("body {k}"), body.at((aim + (0.2 + 0.25 * f64::from(k)) * from).into()))?;
            moving += 0.5 * mass * speed * speed - 0.1 * mass * gravity[1];
            about += &format!(" {what} {mass:.3} kg at {speed:.1} m/s,");
        }
        let (cloth, points) = cloth(method, mesh, gravity, &pins, &top)?;
        let mut scene = Scene::new(Rate::hz(rate));
        scene.scheme(scheme);
        if let Some(bar) = bar {
            scene.attach(points, bar);
        }
        scene.contact("cloth", "rigid");
        scene.add(rigid).add_boxed(cloth);
        Ok(Self { run: scene.build()?, moving, rate, about })
    }

    fn energy(&mut self) -> f64 {
        let of = |name: &str| self.run.simulator_ledger(name).ok().flatten();
        let sum = ["rigid", "cloth"].into_iter().filter_map(of);
        sum.map(|ledger| ledger.kinetic + ledger.potential).sum()
    }
}

/// Cloth with pins, and handles of a row of its vertices.
fn cloth(
    method: &str,
    mesh: Mesh,
    gravity: [f64; 3],
    pins: &[u32],
    row: &[u32],
) -> Result<(Box<dyn Simulator>, Vec<HandleId>), Failure> {
    Ok(match method {
        "implicit" => {
            let mut cloth = ImplicitCloth::new("cloth", mesh, Fabric::cotton())?.gravity(gravity);
            cloth.pin(pins)?;
            let points = cloth.vertices(row);
            (Box::new(cloth), points)
        }
        "ibds" => {
            let mut cloth = IbdsCloth::new("cloth", Net::sheet(&mesh, 0.15)?)?.gravity(gravity);
            cloth.pin(pins)?;
            let points = row.iter().map(|&k| cloth.particle(k)).collect();
            (Box::new(cloth), points)
        }
        _ => {
            let mut cloth = AviCloth::new("cloth", mesh, Fabric::jersey().undamped())?.gravity(gravity);
            cloth.pin(pins)?;
            let points = row.iter().map(|&k| cloth.vertex(k)).collect();
            (Box::new(cloth), points)
        }
    })
}

/// The most that a scene gains within 0.6 s, of the energy that moves; without end where it fails.
fn gained(mut hit: Hit) -> (f64, String) {
    let start = hit.energy();
    let (mut most, mut when) = (0.0, 0.0);
    for _ in 0..(0.6 * hit.rate) as u32 {
        if let Err(error) = hit.run.advance() {
            return (f64::INFINITY, format!("{} {error}", hit.about));
        }
        let gain = (hit.energy() - start) / hit.moving;
        if gain > most {
            (most, when) = (gain, hit.run.time());
        }
    }
    (most, format!("{} gained {most:.3} of {:.3} J by {when:.3} s", hit.about, hit.moving))
}
