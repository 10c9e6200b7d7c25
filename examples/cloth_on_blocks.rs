//! You will see a heavy sheet fall on a stack of blocks, which topples under it: \[PD97\] figure 2.
//!
//! \[PD97\] D. Baraff, A. Witkin: Partitioned Dynamics. CMU-RI-TR-97-33, 1997.
//!
//! The blocks are rapier's, the sheet is an implicit cloth of 5,054 triangles, as theirs; neither knows of the other. The
//! blocks lead, the sheet follows and says what lying on them took, and that pushes the blocks. Where that changes within a
//! window, as when a block hits the floor, the window is taken again (`Relaxed`), or the coupling would give or take energy: a
//! block that stops within a window would be pushed by what the sheet did while it fell. Blocks keep a skin, so that the
//! sheet has room between them and the floor.

mod cloth;

use std::process::ExitCode;

use clap::Parser;
use partita::prelude::*;
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery};

use cloth::Failure;

/// Edge of a block `[m]`, and its mass `[kg]`.
const EDGE: f64 = 0.2;
const MASS: f64 = 4.0;
/// Blocks of each layer, from the lowest.
const LAYERS: [usize; 5] = [2, 1, 1, 1, 1];
/// How far each block stands out over the one below `[m]`: five of them nearly fall by themselves.
const LEAN: f64 = 0.034;
/// What others keep of a block `[m]`: two of them leave room for three layers of the sheet.
const SKIN: f64 = 0.0025;
/// Cells along the sheet and at its cut corners, which makes 5,054 triangles; its width `[m]`, and its mass per area
/// `[kg/m²]`: more than half a block.
const CELLS: u32 = 57;
const CORNER: u32 = 19;
const SIZE: f64 = 1.4;
const DENSITY: f64 = 2.0;
/// How high above the stack it begins `[m]`.
const ABOVE: f64 = 0.4;

#[derive(Parser)]
#[command(about = "A heavy sheet falls on a stack of blocks, which topples under it")]
struct Flags {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    report::run("cloth_on_blocks", &Flags::parse().options, example)
}

fn example(report: &mut Report) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(5.0, 0.5);

    let mut rigid = RigidBodies::new("rigid");
    rigid.add("floor", Body::fixed(Shape::cuboid([8.0, 1.0, 8.0])).at([0.0, -0.5, 0.0]).friction(0.5).skin(SKIN))?;
    let blocks = stack(&mut rigid)?;

    let from_corner = |k: u32| k.min(CELLS - k);
    let sheet = cloth::cut([CELLS; 2], SIZE / f64::from(CELLS), |i, j| from_corner(i) + from_corner(j) >= CORNER)?;
    // Off the middle of the stack, so that it pulls to one side.
    let sheet = sheet.mesh.at([0.38 - 0.5 * SIZE, LAYERS.len() as f64 * EDGE + ABOVE, 0.05 - 0.5 * SIZE])?;
    let triangles = sheet.triangles().len();
    let canvas = Fabric::denim().density(DENSITY).stretch(2e4).shear(2e3).bend(4e-4);
    let cloth = ImplicitCloth::new("cloth", sheet, canvas)?;

    let mut scene = Scene::new(Rate::hz(120));
    scene.contact("cloth", "rigid").friction(0.4);
    scene.scheme(Relaxed::default().tolerance(0.1).floor(5.0).passes(4));
    scene.add(rigid).add(cloth);
    let mut run = scene.build()?;

    let start = cloth::places(&mut run, &blocks)?;
    let energy = run.simulator_ledger("cloth")?.ok_or("cloth keeps a ledger")?.potential;
    let (recording, seen) =
        cloth::record::<ImplicitCloth>(report, &mut run, &["cloth"], seconds, scenery(), |_| Ok(()))?;
    seen.check(report, &run, (energy, "sheet's potential at first"), (seconds >= 5.0).then_some(0.02));
    report.figure("seconds a frame in 1997", 3.9);

    let now = cloth::places(&mut run, &blocks)?;
    let moved = start.iter().zip(&now).filter(|(a, b)| (*b - *a).norm() > 0.5 * EDGE).count();
    if seconds >= 2.0 {
        report.check("blocks toppled", moved as f64, Bound::at_least(2.0), "blocks");
    } else {
        report.figure("blocks toppled", moved as f64);
    }
    report.figure("triangles", triangles as f64);
    report.note(run.report());
    Ok(recording)
}

/// A leaning tower on a broader foot.
fn stack(rigid: &mut RigidBodies) -> Result<Vec<HandleId>, SimulatorError> {
    let mut blocks = Vec::new();
    for (layer, &side) in LAYERS.iter().enumerate() {
        for i in 0..side {
            let body = Body::dynamic(Shape::cuboid([EDGE; 3])).mass(MASS).friction(0.5).skin(SKIN);
            let x = (i as f64 - 0.5 * (side as f64 - 1.0)) * (EDGE + 0.005) + LEAN * layer as f64;
            let body = body.at([x, (layer as f64 + 0.5) * EDGE, 0.0]);
            blocks.push(rigid.add(&format!("block {layer}/{i}"), body)?);
        }
    }
    Ok(blocks)
}

fn scenery() -> Scenery {
    let camera = Camera::framing([[-0.5, 0.0, -0.5], [0.9, 1.5, 0.5]]).from_direction([-0.5, 0.5, 1.0]);
    Scenery::new(camera)
        .ground(0.0)
        .hide("rigid/floor")
        .look("rigid/block", Look::crate_wood(0))
        .look("cloth", Look::plain(Colour::SIGNAL))
}
