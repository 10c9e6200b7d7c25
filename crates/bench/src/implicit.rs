//! The bench `implicit`: milliseconds of a step of implicit cloth, by stage.
//!
//! \[PD97\] D. Baraff, A. Witkin: Partitioned Dynamics. CMU-RI-TR-97-33, 1997, sections 4 and 5: on one processor of 1997
//! figures 2 to 4 took 3.9, 1.27 and 5.7 seconds a frame (5,054, 1,088 and 5,802 triangles), near-linear to 14,000 particles,
//! nearly independent of the material, collisions below 10 %.
//!
//! Sheets of a metre hang down from an edge, on their way and after a while, where nothing can touch: what a step takes
//! without self-contact is all of its stages but those of contact. Others lie on a ball, with contact of all kinds.

use std::{
    f64::consts::FRAC_PI_2,
    sync::Arc,
    time::{Duration, Instant},
};

use partita::{
    implicit_cloth::{Fabric, ImplicitCloth},
    simulator::{
        Carrier, Guide, HandleId, HandleState, HandleTable, Inputs, Motion, Outcome, Simulator, SimulatorError,
        StepReport, Surface,
    },
};
use partita_mesh::{Mesh, Side};

use crate::{
    Effort,
    table::{Failure, Table, Target, median},
};

const DT: f64 = 1.0 / 60.0;

/// Cells of sheets with 650, 2,601, 10,000 and 40,000 vertices.
const SHEETS: [[u32; 2]; 4] = [[24, 25], [50, 50], [99, 99], [199, 199]];

/// The one with 5,000 triangles, as figure 2 has it.
const MIDDLE: usize = 1;

/// Largest cost of twice the particles [-].
const DOUBLING: Option<Target> = Some(Target::AtMost(2.3));

/// All cases.
///
/// # Errors
/// The JSON file cannot be written.
pub fn bench(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let sheets = if effort.quick { &SHEETS[..2] } else { &SHEETS[..] };
    for pose in [Pose::Swinging, Pose::Hanging, Pose::Draped] {
        let mut costs: Vec<[f64; 2]> = vec![];
        for (k, &cells) in sheets.iter().enumerate() {
            let case = format!("{} triangles {}", 2 * cells[0] * cells[1], pose.name());
            let target = (k == MIDDLE).then_some(Target::AtMost(if pose == Pose::Draped { 16.0 } else { 10.0 }));
            table.case(&case, "ms", target, |table| {
                let samples = measure(&mut pose.cloth(cells, Fabric::cotton())?, pose, effort, 1)?;
                rows(table, &case, target, pose, &samples)?;
                let vertices = f64::from((cells[0] + 1) * (cells[1] + 1));
                costs.push([vertices, median(&each(&samples, |sample| sample.cost(pose)))]);
                if let [.., [fewer, less], [more, most]] = costs[..] {
                    let ratio = (most / less).powf((more / fewer).log2().recip());
                    table.row(&format!("{case}: by doubling"), "twice/once", DOUBLING, &[ratio])?;
                }
                Ok(())
            })?;
        }
    }
    materials(table, effort)?;
    going_back(table, effort)?;
    threads(table, effort)
}

/// What a sheet does.
#[derive(Clone, Copy, PartialEq)]
enum Pose {
    /// Held at an edge, on its way down from level.
    Swinging,
    /// Held at two corners, after a second.
    Hanging,
    /// On a ball, after two seconds.
    Draped,
}

impl Pose {
    fn name(self) -> &'static str {
        match self {
            Self::Swinging => "swinging",
            Self::Hanging => "hanging",
            Self::Draped => "draped on a ball",
        }
    }

    /// Steps before what is measured.
    fn before(self, effort: Effort) -> usize {
        match self {
            _ if effort.quick => 4,
            Self::Swinging => 6,
            Self::Hanging => 60,
            Self::Draped => 120,
        }
    }

    fn cloth(self, cells: [u32; 2], fabric: Fabric) -> Result<ImplicitCloth, Failure> {
        let mesh = Mesh::grid(cells, [1.0; 2])?;
        let top = mesh.edge(Side::Top)?;
        Ok(match self {
            Self::Swinging => {
                let mut cloth = ImplicitCloth::new("sheet", mesh.turned([1.0, 0.0, 0.0], FRAC_PI_2)?, fabric)?;
                cloth.pin(&top)?;
                cloth
            }
            Self::Hanging => {
                let mut cloth = ImplicitCloth::new("sheet", mesh, fabric)?;
                cloth.pin(&[top[0], top[cells[0] as usize]])?;
                cloth
            }
            Self::Draped => {
                let mesh = mesh.turned([1.0, 0.0, 0.0], -FRAC_PI_2)?;
                let [low, high] = mesh.bounds();
                let middle = [0, 1, 2].map(|k| -0.5 * (low[k] + high[k]));
                let mesh = mesh.at([middle[0], RADIUS + 0.02, middle[2]])?;
                let mut cloth = ImplicitCloth::new("sheet", mesh, fabric)?;
                cloth.follow(vec![ball()?])?;
                cloth
            }
        })
    }

    fn inputs(self) -> Inputs {
        let state = HandleState::point([0.0; 3], [0.0; 3]);
        let still = Motion { begin: Arc::new([state]), end: Arc::new([state]) };
        Inputs { motions: if self == Self::Draped { vec![Some(still)] } else { vec![] }, ..Inputs::default() }
    }
}

/// Of the ball `[m]`.
const RADIUS: f64 = 0.3;

fn ball() -> Result<Guide, Failure> {
    let ball = Mesh::ball(RADIUS, 4)?;
    let owner = HandleTable::new("bench", "ball").owner();
    let surface = Surface {
        name: "ball".into(),
        carrier: Carrier::Frame(HandleId { owner, index: 0 }),
        vertices: ball.positions(),
        triangles: ball.triangles().to_vec(),
        lines: vec![],
        two_sided: false,
        primitive: None,
        friction: 0.3,
        restitution: 0.0,
        thickness: 0.0,
    };
    Ok(Guide::Obstacle { surface: Arc::new(surface), friction: 0.3, restitution: 0.0, thickness: 0.0, except: vec![] })
}

/// Stages of a step that are contact's, and those with solves again as contacts turn out.
const CONTACT: [&str; 2] = ["find contacts", "contact"];
const WITH_ROUNDS: [&str; 3] = ["find contacts", "contact rounds", "contact"];

/// One step.
struct Sample {
    /// `[ms]`
    whole: f64,
    report: StepReport,
}

impl Sample {
    fn of_stages(&self, counts: impl Fn(&str) -> bool) -> f64 {
        self.report.stages.0.iter().filter(|(name, _)| counts(name)).map(|(_, seconds)| 1e3 * seconds).sum()
    }

    fn of_contact(&self) -> f64 {
        self.of_stages(|name| WITH_ROUNDS.contains(&name)) / self.whole
    }

    /// With contact only where there is some `[ms]`.
    fn cost(&self, pose: Pose) -> f64 {
        if pose == Pose::Draped { self.whole } else { self.whole - self.of_stages(|name| CONTACT.contains(&name)) }
    }
}

fn each(samples: &[Sample], of: impl Fn(&Sample) -> f64) -> Vec<f64> {
    samples.iter().map(of).collect()
}

/// Steps of a cloth in a pose, on so many threads.
fn measure(cloth: &mut ImplicitCloth, pose: Pose, effort: Effort, threads: usize) -> Result<Vec<Sample>, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let inputs = pose.inputs();
    let samples = pool.install(|| -> Result<_, SimulatorError> {
        for _ in 0..pose.before(effort) {
            cloth.step(DT, &inputs)?;
        }
        let mut samples = vec![];
        let begin = Instant::now();
        while samples.len() < effort.samples(40) {
            let start = Instant::now();
            let report = cloth.step(DT, &inputs)?;
            samples.push(Sample { whole: 1e3 * start.elapsed().as_secs_f64(), report });
            // Large sheets need no more than a few.
            if samples.len() >= 10 && begin.elapsed() > Duration::from_secs(10) {
                break;
            }
        }
        Ok(samples)
    });
    Ok(samples?)
}

fn rows(table: &mut Table, case: &str, target: Option<Target>, pose: Pose, samples: &[Sample]) -> Result<(), Failure> {
    let name = if pose == Pose::Draped { case.into() } else { format!("{case}, without self-contact") };
    table.row(&name, "ms", target, &each(samples, |sample| sample.cost(pose)))?;
    if let Some(last) = samples.last() {
        for (stage, _) in &last.report.stages.0 {
            table.row(
                &format!("{case}: {stage}"),
                "ms",
                None,
                &each(samples, |s| s.of_stages(|name| name == stage)),
            )?;
        }
    }
    let share = each(samples, Sample::of_contact);
    table.row(&format!("{case}: share of contact"), "of a step (1997: < 0.1)", None, &share)?;
    let iterations = each(samples, |sample| f64::from(sample.report.iterations));
    table.row(&format!("{case}: iterations"), "iterations", None, &iterations)?;
    let parts = each(samples, |sample| f64::from(sample.report.substeps));
    table.row(&format!("{case}: parts of a step"), "parts", None, &parts)?;
    let stopped = samples.iter().filter(|sample| sample.report.outcome != Outcome::Converged).count();
    if stopped > 0 {
        table.remark(&format!("{stopped} of {} steps stopped before they converged", samples.len()));
    }
    Ok(())
}

/// The middle sheet of other fabrics over that of cotton.
fn materials(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    for pose in [Pose::Swinging, Pose::Draped] {
        let case = format!("materials, {}", pose.name());
        table.case(&case, "of cotton", None, |table| {
            let cost = |fabric: Fabric| -> Result<f64, Failure> {
                let samples = measure(&mut pose.cloth(SHEETS[MIDDLE], fabric)?, pose, effort, 1)?;
                Ok(median(&each(&samples, |sample| sample.cost(pose))))
            };
            let cotton = cost(Fabric::cotton())?;
            let fabrics = [
                ("silk", Fabric::silk()),
                ("wool", Fabric::wool()),
                ("denim", Fabric::denim()),
                ("jersey", Fabric::jersey()),
            ];
            for (name, fabric) in fabrics {
                table.row(&format!("{name} {}", pose.name()), "of cotton", None, &[cost(fabric)? / cotton])?;
            }
            Ok(())
        })?;
    }
    table.remark("1997: cost nearly independent of the material");
    Ok(())
}

/// A mark and going back to it, over a step.
fn going_back(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let cells = if effort.quick { SHEETS[0] } else { [316; 2] };
    let case = format!("mark and retract, {} vertices", (cells[0] + 1) * (cells[1] + 1));
    let target = Some(Target::AtMost(0.25));
    table.case(&case, "of a step", target, |table| {
        let mut cloth = Pose::Hanging.cloth(cells, Fabric::cotton())?;
        let (mut mark, mut shares) = (None, vec![]);
        for _ in 0..effort.samples(10) {
            let start = Instant::now();
            cloth.step(DT, Inputs::NONE)?;
            let step = start.elapsed();
            let start = Instant::now();
            let next = cloth.snapshot(mark.take());
            cloth.retract(&next)?;
            shares.push(start.elapsed().as_secs_f64() / step.as_secs_f64());
            mark = Some(next);
        }
        table.row(&case, "of a step", target, &shares)
    })
}

/// Two threads beside one, and the same bits.
fn threads(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let sheets: &[[u32; 2]] = if effort.quick { &SHEETS[..1] } else { &SHEETS[1..3] };
    for &cells in sheets {
        let case = format!("{} triangles draped on a ball, two threads", 2 * cells[0] * cells[1]);
        table.case(&case, "of one thread's time", None, |table| {
            let mut ends = vec![];
            for threads in [1, 2] {
                let mut cloth = Pose::Draped.cloth(cells, Fabric::cotton())?;
                let samples = measure(&mut cloth, Pose::Draped, effort, threads)?;
                ends.push((median(&each(&samples, |sample| sample.whole)), samples.len(), cloth));
            }
            // Slow sheets may have taken fewer steps in the time that there was.
            let most = ends.iter().map(|(_, steps, _)| *steps).max().unwrap_or(0);
            let mut bytes = vec![];
            for (_, steps, cloth) in &mut ends {
                for _ in *steps..most {
                    cloth.step(DT, &Pose::Draped.inputs())?;
                }
                bytes.push(cloth.snapshot(None).to_bytes());
            }
            if bytes[0] != bytes[1] {
                return Err("two threads end with other bits than one".into());
            }
            let [(one, ..), (two, ..)] = &ends[..] else { unreachable!() };
            table.row(&case, "of one thread's time", None, &[two / one])
        })?;
    }
    Ok(())
}
