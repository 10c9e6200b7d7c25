//! You will see a top slide off a clothes hanger, which swings and recoils: \[PD97\] figure 3.
//!
//! \[PD97\] D. Baraff, A. Witkin: Partitioned Dynamics. CMU-RI-TR-97-33, 1997.
//!
//! The top is sewn of two panels cut from flat cloth, 1,088 triangles in all, as in the paper. The hanger is rapier's and hangs
//! from a peg by its hook; what the top takes to slide over it turns and pushes it.

/// Sheets cut from a lattice, and what is looked at after every window.
mod cloth;

use std::{collections::BTreeMap, process::ExitCode};

use clap::Parser;
use cloth::{Cut, Failure};
use nalgebra::Vector3;
use partita::prelude::*;
use partita_mesh::Mesh;
use partita_report::{self as report, Bound, Camera, Colour, Look, Options, Recorder, Report, Scenery};

type V3 = Vector3<f64>;

/// Cells of the lattice that both panels are cut from, their edge `[m]`, and the column in the middle.
const CELLS: [u32; 2] = [24, 17];
const EDGE: f64 = 0.04;
const MIDDLE: i32 = 12;
/// How far the panels are apart at first, and how far the top is off the hanger's middle `[m]`.
const APART: f64 = 0.04;
const OFF: f64 = 0.1;
/// Height of the hanger's shoulders in the middle, by how much less at the ends, half its width, the radius of its arms `[m]`.
const HIGH: f64 = 1.15;
const SLOPE: f64 = 0.06;
const WIDE: f64 = 0.18;
const THICK: f64 = 0.009;
/// Length of the hook `[m]`, and masses of both arms and of the hook `[kg]`.
const HOOK: f64 = 0.12;
const MASSES: [f64; 2] = [0.18, 0.03];
/// Density of the air times a drag coefficient `[kg/m³]`.
const AIR: f64 = 1.4;
/// Friction of the top with the hanger.
const SLIPPERY: f64 = 0.08;

#[derive(Parser)]
#[command(about = "A top slides off a clothes hanger, which swings and recoils")]
struct Flags {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    report::run("hanger", &Flags::parse().options, example)
}

fn example(report: &mut Report) -> Result<Recorder, Failure> {
    let seconds = report.options().seconds_or(4.0, 0.5);

    // Hung up on a hanger that is held, on which nothing slides; then that is let go.
    let top = top()?;
    let (mut run, _) = scene(&top, None)?;
    run.for_seconds(report.options().pick(0.5, 0.2))?;
    let hung = run.look("top", |top: &ImplicitCloth| top.positions().to_vec())?;
    let (mut run, hanger) = scene(&top, Some(&hung))?;

    let energy = run.simulator_ledger("top")?.ok_or("cloth keeps a ledger")?.potential;
    let mut turns = vec![];
    let (recording, seen) = cloth::record::<ImplicitCloth>(report, &mut run, &["top"], seconds, scenery(), |run| {
        let [x, y, z, w] = run.state(hanger)?.orientation;
        turns.push(2.0 * V3::new(x, y, z).norm().atan2(w.abs()));
        Ok(())
    })?;
    seen.check(report, &run, (energy, "potential at first"), (seconds >= 4.0).then_some(0.02));
    report.figure("seconds a frame in 1997", 1.27);

    let highest = run.look("top", |top: &ImplicitCloth| top.positions().iter().map(|x| x.y).fold(0.0, f64::max))?;
    let most = turns.iter().copied().fold(0.0, f64::max);
    if seconds >= 4.0 {
        report.check("highest of the top at the end", highest, Bound::at_most(0.5), "m");
        report.check("farthest that the hanger turned", most, Bound::within(0.1, 1.5), "rad");
    }
    report.figure("triangles", top.mesh.triangles().len() as f64);
    report.note(run.report());
    Ok(recording)
}

/// Two panels sewn together.
struct Top {
    mesh: Mesh,
    /// Of each triangle's corners, in the flat panels `[m]`.
    coordinates: Vec<[[f64; 2]; 3]>,
}

/// Front and back of the same outline, which share the vertices of their seams.
fn top() -> Result<Top, Failure> {
    let panel = cloth::cut(CELLS, EDGE, outline)?;
    let Cut { mesh: flat, numbers } = &panel;
    let places: Vec<[u32; 2]> = numbers.keys().copied().collect();
    let mut back: BTreeMap<u32, u32> = BTreeMap::new();
    let (mut vertices, mut behind) = (vec![], vec![]);
    for (v, &[i, j]) in (0..).zip(&places) {
        // Round the arms: as far apart as they have to be one cell below the shoulders, three cells from other seams.
        let from_middle = i as i32 - MIDDLE;
        let from_sides = f64::from((6 - from_middle.abs()).max(6 - j as i32)).max(0.7);
        let depth = if is_seam(i, j) { 0.0 } else { 0.5 * APART * (from_sides / 3.0).min(1.0) };
        let down = if j == 0 { 0.0 } else { EDGE * f64::from(j - 1) + (EDGE * EDGE - 0.25 * APART * APART).sqrt() };
        let at = [EDGE * f64::from(from_middle) + OFF, HIGH + 0.01 - down, depth];
        vertices.push(at);
        if depth > 0.0 {
            back.insert(v, (numbers.len() + behind.len()) as u32);
            behind.push([at[0], at[1], -depth]);
        }
    }
    vertices.extend(behind);
    let on_back = |v: u32| back.get(&v).copied().unwrap_or(v);
    let mut triangles = flat.triangles().to_vec();
    triangles.extend(flat.triangles().iter().map(|&[a, b, c]| [a, c, b].map(on_back)));
    let corner = |v: u32| places[v as usize].map(|k| EDGE * f64::from(k));
    let front: Vec<[[f64; 2]; 3]> = flat.triangles().iter().map(|t| t.map(corner)).collect();
    let turned = front.iter().map(|&[a, b, c]| [a, c, b]);
    let coordinates = front.iter().copied().chain(turned).collect();
    Ok(Top { mesh: Mesh::new(&vertices, &triangles)?, coordinates })
}

/// A body of 12 by 17 cells, sleeves of 6 by 6 with half a cell in the armpit, and a neck cut out.
fn outline(i: u32, j: u32) -> bool {
    let from_middle = (i as i32 - MIDDLE).abs();
    (from_middle <= 6 || j <= 6) && !(j == 0 && from_middle <= 2)
}

/// Shoulders and sleeves above, sleeves below, and sides.
fn is_seam(i: u32, j: u32) -> bool {
    let from_middle = (i as i32 - MIDDLE).abs();
    j == 0 || from_middle == 6 && j > 6 || from_middle > 6 && j == 6
}

/// The top on a hanger that is held, or as it hung there, on one that swings; and the hanger.
fn scene(top: &Top, hung: Option<&[V3]>) -> Result<(Run, HandleId), Failure> {
    let mut rigid = RigidBodies::new("rigid");
    rigid.add("floor", Body::fixed(Shape::cuboid([8.0, 1.0, 8.0])).at([0.0, -0.5, 0.0]))?;
    let role = if hung.is_some() { Body::dynamic } else { Body::fixed };
    let arm = |side: f64| {
        let shape = Shape::capsule_x(WIDE.hypot(SLOPE), THICK);
        let body = role(shape).mass(0.5 * MASSES[0]).turned([0.0, 0.0, 1.0], -side * (SLOPE / WIDE).atan());
        body.at([0.5 * side * WIDE, HIGH - THICK - 0.5 * SLOPE, 0.0])
    };
    let arms = [rigid.add("arm left", arm(-1.0))?, rigid.add("arm right", arm(1.0))?];
    let hook = role(Shape::capsule_y(HOOK, 0.004)).mass(MASSES[1]);
    let hook = rigid.add("hook", hook.at([0.0, HIGH + 0.5 * HOOK, 0.0]))?;
    let peg = [0.0, HIGH + HOOK, 0.0];
    let nail = rigid.add("peg", Body::fixed(Shape::cylinder_z(0.1, 0.008)).at(peg))?;
    if hung.is_some() {
        rigid.join("arms", Joint::fixed(arms[0], arms[1]))?;
        rigid.join("hook on arms", Joint::fixed(arms[0], hook))?;
        rigid.join("hook on peg", Joint::ball(nail, hook).anchor(peg))?;
    }

    let mut cloth = ImplicitCloth::new("top", top.mesh.clone(), Fabric::cotton())?
        .with_material_coordinates(&top.coordinates)?
        .flat_at_rest()?
        .drag(AIR);
    if let Some(hung) = hung {
        cloth = cloth.with_positions(&hung.iter().map(|&x| x.into()).collect::<Vec<_>>())?;
    }
    let mut scene = Scene::new(Rate::hz(120));
    scene.contact("top", "rigid").friction(if hung.is_some() { SLIPPERY } else { 1.0 });
    scene.add(rigid).add(cloth);
    Ok((scene.build()?, hook))
}

fn scenery() -> Scenery {
    let camera = Camera::framing([[-0.4, 0.0, -0.3], [0.6, 1.28, 0.4]]).from_direction([0.35, 0.2, 1.0]);
    Scenery::new(camera)
        .ground(0.0)
        .hide("rigid/floor")
        .look("rigid/arm", Look::plain(Colour::WOOD))
        .look("rigid/hook", Look::plain(Colour::STEEL).gloss(0.6))
        .look("rigid/peg", Look::plain(Colour::STEEL).gloss(0.6))
        .look("top", Look::plain(Colour([70, 110, 170])))
        .still(0.55)
}
