//! You will see a ribbon of 8,000 triangles come down on the floor and fold onto itself in layers, every triangle by its own clock.
//!
//! \[TPS08\] B. Thomaszewski, S. Pabst, W. Straßer: Asynchronous Cloth Simulation. CGI 2008, section 4, figures 5 and 6.
//!
//! Its upper end is let down by a hand. Layers are kept apart in three stages; `ribbon_avi.pairs.csv` has, for every interval of 10 ms, its
//! end in seconds, how many pairs might have met, how many of these were culled, how many got impulses with events, and how many impacts
//! were missed until the last stage; with `--both` also of the same ribbon without culling, which takes several times as long.

/// What is looked at after every window.
mod cloth;

use std::{fmt::Write as _, process::ExitCode};

use clap::Parser;
use cloth::Failure;
use nalgebra::Vector3;
use partita::{
    avi_cloth::{Counts, Membrane},
    prelude::*,
};
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery};

type V3 = Vector3<f64>;

/// A window is an interval of collisions.
const RATE: f64 = 100.0;
/// Cells across and along the ribbon, of two triangles each; its width and length `[m]`.
const CELLS: [u32; 2] = [20, 200];
const SIZE: [f64; 2] = [0.2, 2.0];
/// How fast its upper end is let down `[m/s]`, and how far `[m]`.
const SPEED: f64 = 0.8;
const WAY: f64 = 1.85;
/// When there has to be a pile of folds `[s]`, and how high that is at most `[m]`.
const FOLDED: f64 = 2.5;
const PILE: f64 = 0.1;

#[derive(Parser)]
#[command(about = "A ribbon folds onto itself in layers")]
struct Flags {
    /// Also without culling.
    #[arg(long)]
    both: bool,
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    report::run("ribbon_avi", &flags.options, |report| example(report, &flags))
}

fn example(report: &mut Report, flags: &Flags) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(2.6, 0.05);
    let mut csv = String::from("time,culling,found,culled,handled,missed\n");

    let mut run = scene(true)?;
    let mut all = Counts::default();
    let (recording, seen) = cloth::record::<AviCloth>(report, &mut run, &["ribbon"], seconds, scenery(), |run| {
        let counts = note(run, "on", &mut csv)?;
        all.found += counts.found;
        all.culled += counts.culled;
        all.handled += counts.handled;
        all.missed += counts.missed;
        Ok(())
    })?;
    seen.check_crossings(report);
    let share = |part: usize| part as f64 / all.found.max(1) as f64;
    report.figure("pairs culled, of those found (2008: about 0.55)", share(all.culled));
    report.figure("pairs handled, of those left", all.handled as f64 / (all.found - all.culled).max(1) as f64);
    report.figure("impacts missed to the last stage", all.missed as f64);
    let lowest =
        run.look("ribbon", |ribbon: &AviCloth| ribbon.positions().iter().map(|x| x.y).fold(f64::INFINITY, f64::min))?;
    report.check("lowest vertex", lowest, Bound::at_least(0.0), "m");
    let layers = run.look("ribbon", |ribbon: &AviCloth| layers(&ribbon.positions()))?;
    // Less of a run is not enough to fold.
    if seconds < FOLDED {
        report.figure("layers of the pile", layers);
    } else {
        // Of the 1.85 m let down 1.5 m at least, in folds of a quarter of a metre at most; upright waves are no more than four.
        report.check("layers of the pile", layers, Bound::at_least(6.0), "");
    }
    if flags.both {
        let mut other = scene(false)?;
        let progress = report.progress(seconds);
        while other.time() < seconds - 1e-9 && !report::interrupted() {
            other.advance()?;
            note(&mut other, "off", &mut csv)?;
            progress.update(other.time(), "without culling");
        }
        progress.finish();
        report.figure("seconds without culling, of those with", other.report().seconds / run.report().seconds);
    }
    report::write_atomically(&report.path("pairs.csv"), csv.as_bytes())?;
    report.note(format!("pairs by interval: {}", report.path("pairs.csv").display()));
    report.note(run.report());
    Ok(recording)
}

/// A line of the last window.
fn note(run: &mut Run, culling: &str, csv: &mut String) -> partita::Result<Counts> {
    let counts = run.look("ribbon", AviCloth::counts)?;
    let Counts { found, culled, handled, missed, .. } = counts;
    // A string takes all.
    let _ = writeln!(csv, "{:.3},{culling},{found},{culled},{handled},{missed}", run.time());
    Ok(counts)
}

/// How long the middle line is within [`PILE`] of the floor, of how wide it lies there: in how many layers, on average.
fn layers(x: &[V3]) -> f64 {
    let columns = CELLS[0] as usize + 1;
    let line: Vec<&V3> = x.iter().skip(columns / 2).step_by(columns).filter(|x| x.y < PILE).collect();
    let [low, high] = line.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x.z), b.max(x.z)]);
    let each = SIZE[1] / f64::from(CELLS[1]);
    if line.is_empty() { 0.0 } else { each * line.len() as f64 / (high - low).max(each) }
}

/// Upright, a little above the floor, and not quite even, so that it knows where to fold.
fn scene(culling: bool) -> Result<Run, Failure> {
    let mesh = Mesh::grid(CELLS, SIZE)?.at([-0.5 * SIZE[0], 0.02 + SIZE[1], 0.0])?;
    let top = mesh.edge(Side::Top)?;
    let fabric =
        Fabric::cotton().membrane(Membrane::StVenantKirchhoff { poisson: 0.0 }).damping(5e-5).bend_damping(5e-5);
    let fabric = fabric.stretch(100.0).shear(50.0).bend(2e-5).density(0.3).thickness(2e-3).friction(0.5);
    let uneven: Vec<[f64; 3]> =
        mesh.positions().into_iter().map(|[x, y, z]| [x, y, z + 0.012 * (26.0 * y).sin()]).collect();
    let vertices = uneven.len();
    let ribbon = AviCloth::new("ribbon", mesh, fabric)?.courant(0.4).culling(culling);
    let mut ribbon = ribbon.with_positions(&uneven)?.with_velocities(&vec![[0.0, -SPEED, 0.0]; vertices])?;
    ribbon.pin_along("hand", &top, |t| {
        let down = (SPEED * t).min(WAY);
        let speed = if down < WAY { SPEED } else { 0.0 };
        HandleState::point(-down * V3::y(), -speed * V3::y())
    })?;
    let mut rigid = RigidBodies::new("rigid");
    rigid.add("floor", Body::fixed(Shape::cuboid([4.0, 0.5, 4.0])).at([0.0, -0.25, 0.0]))?;
    let mut scene = Scene::new(Rate::hz(RATE));
    scene.contact("ribbon", "rigid").friction(0.5);
    scene.add(rigid).add(ribbon);
    Ok(scene.build()?)
}

/// The lower part, into which the ribbon comes from above.
fn scenery() -> Scenery {
    let camera = Camera::framing([[-0.13, 0.0, -0.15], [0.13, 0.3, 0.15]]).from_direction([1.0, 0.45, 0.8]);
    Scenery::new(camera).ground(0.0).hide("rigid").look("ribbon", Look::plain(Colour::SIGNAL)).still(2.2)
}
