//! What the scenes with cloth have in common: sheets cut from a lattice, and what is looked at after every window.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::Vector3;
use partita::prelude::*;
use partita_contact::{Features, crossings};
use partita_mesh::Mesh;
use partita_report::{Bound, Recorder, Report, Scenery};

pub type Failure = Box<dyn std::error::Error>;

/// A sheet, and the numbers of its vertices by their place in the lattice.
#[allow(dead_code, reason = "not every scene cuts one, or looks for places")]
pub struct Cut {
    pub mesh: Mesh,
    pub numbers: BTreeMap<[u32; 2], u32>,
}

/// Cuts a sheet from a lattice of cells of such an edge `[m]`, in the plane of x and z, seen from above: the cells whose corners
/// are all kept, and half of those that have three.
#[allow(dead_code, reason = "not every scene cuts one")]
pub fn cut(cells: [u32; 2], edge: f64, keep: impl Fn(u32, u32) -> bool) -> Result<Cut, Failure> {
    let mut triangles: Vec<[[u32; 2]; 3]> = vec![];
    for (j, i) in (0..cells[1]).flat_map(|j| (0..cells[0]).map(move |i| (j, i))) {
        let corners = [[i, j], [i, j + 1], [i + 1, j + 1], [i + 1, j]];
        let kept: Vec<[u32; 2]> = corners.into_iter().filter(|&[i, j]| keep(i, j)).collect();
        match kept[..] {
            // Diagonals alternate, so that none is preferred.
            [a, b, c, d] if (i + j) % 2 == 0 => triangles.extend([[a, b, c], [a, c, d]]),
            [a, b, c, d] => triangles.extend([[a, b, d], [d, b, c]]),
            [a, b, c] => triangles.push([a, b, c]),
            _ => {}
        }
    }
    let used: BTreeSet<[u32; 2]> = triangles.as_flattened().iter().copied().collect();
    let numbers: BTreeMap<[u32; 2], u32> = used.iter().copied().zip(0..).collect();
    let place = |&[i, j]: &[u32; 2]| [edge * f64::from(i), 0.0, edge * f64::from(j)];
    let vertices: Vec<[f64; 3]> = used.iter().map(place).collect();
    let triangles: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|place| numbers[&place])).collect();
    Ok(Cut { mesh: Mesh::new(&vertices, &triangles)?, numbers })
}

/// How low the middle of a ball can be above a place of x and z without touching cloth that is there `[m]`.
#[allow(dead_code, reason = "not every scene has balls")]
pub fn lowest(cloth: &[Vector3<f64>], [x, z]: [f64; 2], radius: f64) -> f64 {
    let below = cloth.iter().map(|v| (v.y, radius * radius - (v.x - x).powi(2) - (v.z - z).powi(2)));
    below.filter(|(_, rest)| *rest > 0.0).map(|(y, rest)| y + rest.sqrt()).fold(f64::NEG_INFINITY, f64::max)
}

/// Where bodies are `[m]`.
#[allow(dead_code, reason = "not every scene asks")]
pub fn places(run: &mut Run, bodies: &[HandleId]) -> partita::Result<Vec<Vector3<f64>>> {
    bodies.iter().map(|&body| Ok(run.state(body)?.position.into())).collect()
}

/// The speed of the fastest body `[m/s]`.
#[allow(dead_code, reason = "not every scene asks")]
pub fn fastest(run: &mut Run, bodies: &[HandleId]) -> partita::Result<f64> {
    let mut fastest: f64 = 0.0;
    for &body in bodies {
        fastest = fastest.max(Vector3::from(run.state(body)?.velocity).norm());
    }
    Ok(fastest)
}

/// Cloth of any kind.
pub trait Cloth: Simulator + 'static {
    fn stretch(&self) -> f64;
    /// Mean speed of the vertices `[m/s]`.
    fn speed(&self) -> f64;
}

impl Cloth for ImplicitCloth {
    fn stretch(&self) -> f64 {
        self.stretch()
    }

    fn speed(&self) -> f64 {
        mean_speed(self.velocities())
    }
}

impl Cloth for IbdsCloth {
    fn stretch(&self) -> f64 {
        self.stretch()
    }

    fn speed(&self) -> f64 {
        mean_speed(self.velocities())
    }
}

impl Cloth for AviCloth {
    fn stretch(&self) -> f64 {
        self.stretch()
    }

    fn speed(&self) -> f64 {
        mean_speed(&self.velocities())
    }
}

fn mean_speed(velocities: &[Vector3<f64>]) -> f64 {
    velocities.iter().map(|v| v.norm()).sum::<f64>() / velocities.len() as f64
}

/// Crossings, stretch and speed of cloth after every window.
#[derive(Default)]
pub struct Seen {
    /// Crossings, summed over all windows.
    crossings: usize,
    /// Largest stretch of any cloth by window [-].
    strains: Vec<f64>,
    /// Mean speed of the vertices by window, of the fastest cloth `[m/s]`.
    speeds: Vec<f64>,
}

/// Runs and records, and inspects each cloth, and whatever `look` adds, after every window.
pub fn record<C: Cloth>(
    report: &Report,
    run: &mut Run,
    cloths: &[&'static str],
    seconds: f64,
    scenery: Scenery,
    mut look: impl FnMut(&mut Run) -> partita::Result<()>,
) -> Result<(Recorder, Seen), Failure> {
    let (mut seen, edges) = (Seen::default(), edges(run)?);
    let recording = report.record_each(run, seconds, scenery, |run| {
        let (mut strain, mut speed) = (f64::NEG_INFINITY, 0.0_f64);
        for &cloth in cloths {
            seen.crossings += crossing(run, cloth, &edges)?;
            let of_cloth = run.look(cloth, |cloth: &C| (cloth.stretch(), cloth.speed()))?;
            (strain, speed) = (strain.max(of_cloth.0), speed.max(of_cloth.1));
        }
        seen.strains.push(strain);
        seen.speeds.push(speed);
        look(run)?;
        Ok(format!("{} crossings, strain {:.1} %", seen.crossings, 100.0 * strain))
    })?;
    Ok((recording, seen))
}

/// Edges of all surfaces, by surface.
fn edges(run: &mut Run) -> Result<Vec<Vec<[u32; 2]>>, Failure> {
    let mut all = vec![];
    for posed in run.picture()?.surfaces {
        let features = Features::new(posed.surface.vertices.len(), &posed.surface.triangles, &posed.surface.lines)?;
        all.push(features.edges().to_vec());
    }
    Ok(all)
}

/// Edges of the cloth that pass through a triangle of it or of anything else, and those of anything else that pass through it.
fn crossing(run: &mut Run, cloth: &str, edges: &[Vec<[u32; 2]>]) -> Result<usize, Failure> {
    let (mut x, mut own, mut others) = (vec![], (vec![], vec![]), (vec![], vec![]));
    for (posed, edges) in run.picture()?.surfaces.iter().zip(edges) {
        let first = x.len() as u32;
        x.extend(posed.vertices().into_iter().map(Vector3::from));
        let (of_edges, of_triangles) = if posed.simulator == cloth { &mut own } else { &mut others };
        of_edges.extend(edges.iter().map(|edge| edge.map(|v| v + first)));
        of_triangles.extend(posed.surface.triangles.iter().map(|t| t.map(|v| v + first)));
    }
    let through = crossings(&x, &others.0, &own.1).len();
    let all = [own.1, others.1].concat();
    Ok(through + crossings(&x, &own.0, &all).len())
}

impl Seen {
    /// Nothing passes through anything.
    pub fn check_crossings(&self, report: &mut Report) {
        report.check("crossings, in all windows", self.crossings as f64, Bound::equals(0.0), "");
    }

    /// What every scene with cloth has to keep. `energy` is what it had to spend `[J]`, and what that was; `rest` is how fast
    /// vertices may be on average in the last half second, where the scene comes to rest `[m/s]`. Strain counts there: where cloth
    /// is caught at some metres a second, threads are longer for a moment.
    #[allow(dead_code, reason = "where nothing is coupled there is less to check")]
    pub fn check(&self, report: &mut Report, run: &Run, (energy, of): (f64, &str), rest: Option<f64>) {
        let windows = (0.5 / run.rate().dt()).round() as usize;
        let last = |all: &[f64]| all[all.len().saturating_sub(windows)..].to_vec();
        let largest = |all: &[f64]| all.iter().copied().fold(0.0, f64::max);
        self.check_crossings(report);
        let ledgers = run.ledgers();
        let open = ledgers.iter().map(|ledger| ledger.closure()).fold(0.0, f64::max);
        report.check("books: used + pending - got", open, Bound::at_most(1e-12), "of the impulses");
        let work = ledgers.iter().map(|ledger| ledger.work).sum::<f64>().abs();
        report.check(&format!("energy of the coupling, of the {of}"), work / energy, Bound::at_most(0.01), "-");
        report.figure("largest stretch, in all windows", largest(&self.strains));
        let (strain, speeds) = (largest(&last(&self.strains)), last(&self.speeds));
        let speed = speeds.iter().sum::<f64>() / speeds.len() as f64;
        match rest {
            Some(rest) => {
                report.check("largest stretch, last half second", strain, Bound::at_most(0.1), "-");
                report.check("mean speed of the vertices, last half second", speed, Bound::at_most(rest), "m/s");
            }
            None => report.figure("mean speed of the vertices, last half second [m/s]", speed),
        }
        let done = run.report();
        report.figure("seconds a frame of a thirtieth", done.seconds / (30.0 * done.simulated));
        report.figure("share of the rigid side", done.simulators[0].1 / done.seconds);
        let alone: f64 = done.simulators.iter().map(|(_, seconds)| seconds).sum();
        report.figure(
            "share of the orchestrator and its marks, of all simulators",
            (done.coupling + done.marking) / alone,
        );
    }
}
