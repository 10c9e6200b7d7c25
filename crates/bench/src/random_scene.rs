//! Random scenes: bodies that come at cloth, from a seed.
//!
//! A sheet of 0.4 m by one of the three methods, of random thickness, is supported in one of eight
//! ways. One to three balls, capsules, cylinders or boxes of 1 g to 100 kg hit it at 0.3 to 30 m/s.
//! They aim at its middle, border or pins, in windows of 60 to 240 Hz, with or without gravity, half
//! of them with restitution. In half of the scenes they have any orientation, spin, and are also
//! cones, tetrahedra and solids that are not convex.

use std::{error::Error, f64::consts::FRAC_PI_2, time::Instant};

use nalgebra::Vector3;
use partita::{prelude::*, simulator::Simulator};
use partita_contact::crossings;
use partita_mesh::{Mesh, Side};

type V3 = Vector3<f64>;
type Failure = Box<dyn Error + Send + Sync>;

/// Names of the methods of cloth.
pub const METHODS: [&str; 3] = ["implicit", "ibds", "avi"];

const HOLDS: [&str; 8] =
    ["free", "a corner", "corners", "some vertices", "an edge", "all vertices", "a fixed bar", "a free bar"];

/// Largest gain that counts as none, relative to the energy that moves [-].
pub const MOST: f64 = 0.01;

/// Windows for which a report counts: a reaction acts a window later, and a gain has to last for
/// two.
const RECENT: u32 = 3;

/// Notes of cloth that passes through something, or may.
const CROSSING: [&str; 3] = ["crosses", "inside an obstacle", "may pass through"];

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

/// Bodies of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bodies {
    /// Balls, capsules, cylinders and boxes along the axes, without spin.
    Aligned,
    /// The same, cones, tetrahedra and angles, of any orientation, with spin.
    Turning,
}

/// Largest spin of bodies in a window `[rad]`: what Rapier's free rotation gains with more is not the cloth's.
const SPIN: f64 = 0.05;

/// A scene, and the energy that moves in it at least `[J]`.
struct Scenario {
    run: Run,
    moving: f64,
    rate: f64,
    about: String,
}

/// Result of a scene.
#[derive(Debug)]
pub struct Outcome {
    /// Largest energy above that of the start, without what is in transit, at the end of two
    /// windows in a row, relative to the energy that moves; infinite if a step failed [-].
    pub gain: f64,
    /// Whether whenever it rose above [`MOST`], in that window or in one of [`RECENT`] before it,
    /// the cloth reported that it cannot do what is asked of it, or the coupling that its loads
    /// have not converged.
    pub is_reported: bool,
    /// Frames at whose end cloth and bodies cross, without a report of it in that window or the
    /// next.
    pub silent_crossings: u32,
    /// Longest window `[s]`.
    pub longest: f64,
    /// The scene in words.
    pub about: String,
}

/// Runs the scene of a seed for some seconds `[s]`, or until it gains energy after a report by
/// cloth or coupling.
///
/// # Errors
/// The scene cannot be built.
pub fn run(seed: u64, bodies: Bodies, method: &str, scheme: Scheme, seconds: f64) -> Result<Outcome, Failure> {
    Scenario::new(seed, bodies, method, scheme)?.run(seconds)
}

impl Scenario {
    fn new(seed: u64, bodies: Bodies, method: &str, scheme: Scheme) -> Result<Self, Failure> {
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
        let free = Body::dynamic(Shape::capsule_x(0.5, 0.01)).mass(random.between(1.0, 10.0)).at([0.0, at.y, at.z]);
        let bar = match hold {
            "a fixed bar" => Some(rigid.add("bar", rail)?),
            "a free bar" => Some(rigid.add("bar", free)?),
            _ => None,
        };
        let rate = random.pick(&[60.0, 120.0, 240.0]);
        let (mut about, mut moving) = (format!("seed {seed}: held by {hold}, {rate} Hz,"), 0.0);
        for k in 0..1 + (3.0 * random.next()) as u32 {
            let size = 0.02 + 0.06 * random.next();
            let kinds = if bodies == Bodies::Turning { 7.0 } else { 4.0 };
            let (what, shape) = shape((kinds * random.next()) as u32, size)?;
            let (mass, speed) = (random.between(1e-3, 1e2), random.between(0.3, 30.0));
            let aim = random.pick(&aims) + 0.01 * V3::new(random.signed(), 0.0, random.signed());
            let side = random.pick(&[-1.0, 1.0]);
            let from = V3::new(0.5 * random.signed(), side, 0.5 * random.signed()).normalize();
            let mut body = Body::dynamic(shape).mass(mass).velocity((-speed * from).into());
            if bodies == Bodies::Turning {
                let [axis, spin] = [0; 2].map(|_| [0; 3].map(|_| random.signed()));
                body = body.turned(axis, FRAC_PI_2 * (1.0 + random.signed())).spin(spin.map(|w| SPIN * rate * w));
            }
            rigid.add(&format!("body {k}"), body.at((aim + (0.2 + 0.25 * f64::from(k)) * from).into()))?;
            moving += 0.5 * mass * speed * speed - 0.1 * mass * gravity[1];
            about += &format!(" {what} {mass:.3} kg at {speed:.1} m/s,");
        }
        let thickness = random.between(5e-4, 4e-3);
        let (cloth, points) = cloth(method, mesh, gravity, &pins, &top, thickness)?;
        // Cloth falls too.
        moving -= cloth.ledger().map_or(0.0, |ledger| 0.1 * ledger.mass * gravity[1]);
        let mut scene = Scene::new(Rate::hz(rate));
        scene.scheme(scheme);
        if let Some(bar) = bar {
            scene.attach(points, bar);
        }
        let restitution = random.pick(&[0.0, 0.0, 0.5, 1.0]);
        scene.contact("cloth", "rigid").restitution(restitution);
        if restitution > 0.0 {
            about += &format!(" restitution {restitution},");
        }
        scene.add(rigid).add_boxed(cloth);
        Ok(Self { run: scene.build()?, moving, rate, about })
    }

    fn run(mut self, seconds: f64) -> Result<Outcome, Failure> {
        let start = self.energy();
        let mut outcome =
            Outcome { gain: 0.0, is_reported: true, silent_crossings: 0, longest: 0.0, about: self.about.clone() };
        let (mut reported, mut crossed, mut last_gain) = (None, false, 0.0_f64);
        let mut known = [0; 2];
        for window in 0..(seconds * self.rate) as u32 {
            let begun = Instant::now();
            if let Err(error) = self.run.advance() {
                outcome.about += &format!(" {error}");
                outcome.gain = f64::INFINITY;
                return Ok(outcome);
            }
            outcome.longest = outcome.longest.max(begun.elapsed().as_secs_f64());
            let report = self.run.report();
            let stopped: u64 = report.stopped.iter().map(|stopped| stopped.windows.count).sum();
            let crossing = |note: &str| CROSSING.iter().any(|text| note.contains(text));
            let crossings =
                report.notes.iter().filter(|note| crossing(&note.note.kind)).map(|note| note.windows.count).sum();
            let now = [stopped + report.unconverged, crossings];
            let [stops, says] = [0, 1].map(|k| now[k] > known[k]);
            known = now;
            reported = if stops { Some(window) } else { reported };
            let now = (self.energy() - start) / self.moving;
            let gain = if now.is_finite() { now.min(last_gain) } else { now };
            last_gain = now;
            if !gain.is_finite() || gain > outcome.gain {
                outcome.gain = if gain.is_finite() { gain } else { f64::INFINITY };
                let is_reported = reported.is_some_and(|reported| window - reported <= RECENT);
                outcome.is_reported &= is_reported || outcome.gain <= MOST;
            }
            // A step reports what crosses at its end, or the next one what crosses at its start.
            outcome.silent_crossings += u32::from(crossed && !says);
            crossed = !says && self.crosses()?;
            if outcome.is_reported && outcome.gain > MOST {
                break;
            }
        }
        outcome.about += &format!(" gained {:.3} of {:.3} J", outcome.gain, self.moving);
        Ok(outcome)
    }

    /// Whether the cloth's surface and that of a body pass through each other now.
    fn crosses(&mut self) -> Result<bool, Failure> {
        let picture = self.run.picture()?;
        let (mut x, mut edges, mut triangles) = (vec![], vec![], vec![]);
        let mut add = |surface: &partita::PosedSurface| {
            let first = x.len() as u32;
            x.extend(surface.vertices().into_iter().map(V3::from));
            let ends = [edges.len(), triangles.len()];
            for corners in surface.surface.triangles.iter().map(|corners| corners.map(|k| k + first)) {
                triangles.push(corners);
                edges.extend((0..3).map(|k| [corners[k], corners[(k + 1) % 3]]));
            }
            ends
        };
        let (cloth, bodies): (Vec<_>, Vec<_>) =
            picture.surfaces.iter().partition(|surface| surface.simulator == "cloth");
        // The cloth that is attached to the bar passes through it.
        for surface in bodies.iter().filter(|surface| surface.surface.name != "bar") {
            add(surface);
        }
        let Some([edge, triangle]) = cloth.first().map(|surface| add(surface)) else { return Ok(false) };
        let of_cloth = |found: &[u32; 2]| [found[0] as usize >= edge, found[1] as usize >= triangle];
        Ok(crossings(&x, &edges, &triangles).iter().map(of_cloth).any(|[edge, triangle]| edge != triangle))
    }

    fn energy(&mut self) -> f64 {
        let of = |name: &str| self.run.simulator_ledger(name).ok().flatten();
        let sum = ["rigid", "cloth"].into_iter().filter_map(of);
        let held: f64 = sum.map(|ledger| ledger.kinetic + ledger.potential).sum();
        // Interleaving puts a reaction on the body one window after the cloth got its energy.
        held - self.run.ledgers().iter().map(|ledger| ledger.in_transit).sum::<f64>()
    }
}

/// Name and shape of a body of a kind and a size `[m]`.
fn shape(kind: u32, size: f64) -> Result<(&'static str, Shape), Failure> {
    let mesh = |mesh: Mesh| Shape::mesh(mesh.positions(), mesh.triangles());
    Ok(match kind {
        0 => ("ball", Shape::ball(size)),
        1 => ("capsule", Shape::capsule_x(2.0 * size, 0.5 * size)),
        2 => ("cylinder", Shape::cylinder_y(size, 0.7 * size)),
        3 => ("box", Shape::cuboid([size, 1.5 * size, 0.7 * size])),
        4 => ("cone", mesh(Mesh::cone(1.5 * size, 0.7 * size, 12)?)),
        5 => {
            let corners = [[1.0, -0.6, 0.0], [-0.5, -0.6, 0.9], [-0.5, -0.6, -0.9], [0.0, 1.2, 0.0]];
            ("tetrahedron", Shape::hull(corners.map(|x| x.map(|x| size * x))))
        }
        // A hollow cone: the outline goes out, up, and back to the axis below its top.
        _ => (
            "cup",
            mesh(Mesh::revolved(&[[0.0, -0.4], [0.5, -0.4], [0.9, 0.8], [0.0, 0.0]].map(|x| x.map(|x| size * x)), 12)?),
        ),
    })
}

/// Cloth with pins, and handles of a row of its vertices.
fn cloth(
    method: &str,
    mesh: Mesh,
    gravity: [f64; 3],
    pins: &[u32],
    row: &[u32],
    thickness: f64,
) -> Result<(Box<dyn Simulator>, Vec<HandleId>), Failure> {
    Ok(match method {
        "implicit" => {
            let mut cloth = ImplicitCloth::new("cloth", mesh, Fabric::cotton().thickness(thickness))?.gravity(gravity);
            cloth.pin(pins)?;
            let points = cloth.vertices(row);
            (Box::new(cloth), points)
        }
        "ibds" => {
            let net = Net::sheet(&mesh, 0.15)?;
            let mut cloth = IbdsCloth::new("cloth", net)?.gravity(gravity).thickness(thickness);
            cloth.pin(pins)?;
            let points = row.iter().map(|&k| cloth.particle(k)).collect();
            (Box::new(cloth), points)
        }
        _ => {
            let mut cloth =
                AviCloth::new("cloth", mesh, Fabric::jersey().undamped().thickness(thickness))?.gravity(gravity);
            cloth.pin(pins)?;
            let points = row.iter().map(|&k| cloth.vertex(k)).collect();
            (Box::new(cloth), points)
        }
    })
}
