//! The benches `avi-table1` and `avi-table2`: asynchronous cloth beside synchronous methods.
//!
//! \[TPS08\] B. Thomaszewski, S. Pabst, W. Straßer: Asynchronous Cloth Simulation. CGI 2008, section 5, tables 1 and 2.
//!
//! Both scenes for 4 s (`avi_scenes.rs`), at the paper's steps, with strain limits of 10 % where a method has them (the explicit ones), and
//! at each method's largest stable step: the largest on a ladder of ratio 2^(1/8), around the paper's, at most 32 times as long or as
//! short, with which the 4 s *without* limits gain no more than 1 % of the fall's energy. The paper's row of AVI has spans by waves (its
//! equation 3; shorter where cloth is stretched), the ladder those by modes, which are this crate's own. Backward Euler and the midpoint
//! rule are `implicit-cloth`'s, on the same energies of stretch and shear; forward and symplectic Euler share the force code with AVI, and
//! evaluate each triangle, hinge and vertex once a step. Nothing meets itself. Each has one thread. Of AVI's collisions with events one in
//! sixteen is clocked for all.
//!
//! What limits save: to keep strains to their 10 % by stiffness alone, moduli have to be so many times those of the scene, in powers of √2,
//! and spans shorter by the root of that. Both at the usual α.

use std::f64::consts::SQRT_2;

use partita::avi_cloth::{Estimate, Limit, Parameters};

use crate::{
    Effort,
    avi_scenes::{Method, Ran, Scene, Until, run},
    table::{Failure, Table, Target},
};

/// Ratio of the ladder.
const RUNG: f64 = 1.090_507_732_665_257_7;

/// Most rungs that are climbed either way.
const RUNGS: i32 = 40;

/// Most that a stable run gains, of the fall's energy.
const GAIN: f64 = 0.01;

/// A method at the paper's step, and the paper's seconds of solving and of all.
type Row = (Method, Option<[f64; 2]>);

/// Table 1: a square swings.
///
/// # Errors
/// The JSON file cannot be written.
pub fn table1(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let scene = Scene::swing(effort.quick)?;
    let rows: [Row; 7] = [
        (Method::BackwardEuler(0.0333), Some([5.66; 2])),
        (Method::BackwardEuler(0.01), Some([17.05; 2])),
        (Method::BackwardEuler(0.00075), Some([218.4; 2])),
        (Method::ForwardEuler(0.0002), Some([265.0; 2])),
        (Method::SymplecticEuler(0.00025), Some([208.0; 2])),
        (Method::Avi(Estimate::Wave, 1.0), Some([215.0; 2])),
        (Method::Midpoint(0.001), Some([247.4; 2])),
    ];
    let ladders = [Method::SymplecticEuler(0.00025), Method::Midpoint(0.001), Method::Avi(Estimate::Mode, 1.0)];
    compare(table, effort, &scene, &rows, &ladders, 1.034)?;
    limiting(table, effort, &scene)
}

/// Table 2: a dome of triangles of very different sizes falls on the floor.
///
/// # Errors
/// The JSON file cannot be written.
pub fn table2(table: &mut Table, effort: Effort) -> Result<(), Failure> {
    let scene = Scene::fall(effort.quick)?;
    let rows: [Row; 6] = [
        (Method::BackwardEuler(0.005), Some([7.74, 12.05])),
        (Method::BackwardEuler(0.001), Some([16.1, 25.8])),
        (Method::ForwardEuler(0.00001), Some([571.5, 784.8])),
        (Method::SymplecticEuler(0.00005), Some([109.5, 171.59])),
        (Method::Avi(Estimate::Wave, 1.0), Some([47.2, 68.32])),
        (Method::Midpoint(0.0001), Some([323.9, 375.88])),
    ];
    let ladders = [Method::SymplecticEuler(0.00005), Method::Avi(Estimate::Mode, 1.0)];
    compare(table, effort, &scene, &rows, &ladders, 0.398)
}

fn compare(
    table: &mut Table,
    effort: Effort,
    scene: &Scene,
    rows: &[Row],
    ladders: &[Method],
    target: f64,
) -> Result<(), Failure> {
    let seconds = if effort.quick { 0.1 } else { 4.0 };
    table.remark(&format!("{} triangles, areas {:.0}:1", scene.mesh.triangles().len(), scene.mesh.area_ratio()));
    // The last is by far the slowest.
    let (last, others) = rows.split_last().ok_or("no methods")?;
    let (mut backward, mut asynchronous) = (None, None);
    for row in others {
        let total = at_paper(table, scene, row, seconds)?;
        match row.0 {
            Method::BackwardEuler(0.001) => backward = total,
            Method::Avi(..) => asynchronous = total,
            _ => {}
        }
    }
    let mut best: Vec<(Method, Ran)> = vec![];
    for &method in ladders {
        let case = format!("largest stable step: {}", method.name());
        table.case(&case, "s", None, |table| {
            let (method, ran, last) = climb(scene, method, effort, seconds)?;
            let more = if last { ", where the ladder ends" } else { "" };
            tell(table, &format!("largest stable step: {}{more}", method.name()), &ran, None)?;
            best.push((method, ran));
            Ok(())
        })?;
    }
    let of = |wanted: fn(&Method) -> bool| best.iter().find(|(method, _)| wanted(method)).map(|(_, ran)| ran);
    let avi = of(|method| matches!(method, Method::Avi(..))).ok_or("AVI did not run")?;
    let twin = of(|method| matches!(method, Method::SymplecticEuler(_))).ok_or("symplectic Euler did not run")?;
    let bound = |bound: f64| (!effort.quick).then_some(Target::AtMost(bound));
    let ratio = avi.total() / twin.total();
    table.row("AVI / symplectic Euler, at largest stable steps", "of the time", bound(target), &[ratio])?;
    let each = |ran: &Ran| 1e9 * ran.solve / ran.events as f64;
    let ratio = each(avi) / each(twin);
    // The paper's scene 1: 215/208 of the time, by 0.37/0.25 in events.
    let overhead = if scene.is_graded() { None } else { bound(1.53) };
    table.row("an event / a triangle's step of the twin", "of the time", overhead, &[ratio])?;
    table.remark(&format!("{:.1} ns and {:.1} ns", each(avi), each(twin)));
    if !scene.is_graded() {
        // Of its energy it keeps 95 % (2008: figure 2), while backward Euler's first row tells what it lost.
        let off = avi.energies.iter().fold(0.0, |most, gained| f64::max(most, gained.abs()));
        table.row("energy of AVI without limits, farthest from the start", "of the fall's", bound(0.05), &[off])?;
    }
    if let (Some(backward), Some(asynchronous)) = (backward, asynchronous) {
        let ratio = asynchronous / backward;
        table.row("AVI / backward Euler at 0.001 s, at the paper's steps", "of the time", bound(2.65), &[ratio])?;
    }
    at_paper(table, scene, last, seconds).map(drop)
}

/// Limits, and stiffness that keeps strains as they do.
fn limiting(table: &mut Table, effort: Effort, scene: &Scene) -> Result<(), Failure> {
    let (seconds, most) = if effort.quick { (0.1, 64.0) } else { (4.0, 65536.0) };
    let limit = Limit::default();
    let method = Method::Avi(Estimate::Mode, Parameters::default().courant);
    let limited = run(scene, method, Some(limit), Until::seconds(seconds))?;
    tell(table, &format!("with limits: {}", method.name()), &limited, None)?;
    // As near as limits keep them to their 10 %.
    let strain = limit.strain + 0.001;
    let mut factor = 1.0;
    let stiff = loop {
        let ran = run(&scene.stiffer(factor), method, None, Until { strain, ..Until::seconds(seconds) })?;
        if !ran.failed {
            break ran;
        }
        if factor > most {
            return Err(format!("strains of more than {strain} with {factor} times the stiffness").into());
        }
        factor *= SQRT_2;
    };
    tell(table, &format!("without, {factor:.1} times as stiff"), &stiff, None)?;
    let bound = (!effort.quick).then_some(Target::AtLeast(5.0));
    table.row("stiffness / limits, for strains of 10 %", "of the time", bound, &[stiff.total() / limited.total()])
}

/// A row at the paper's step: seconds, if it could run.
fn at_paper(table: &mut Table, scene: &Scene, &(method, paper): &Row, seconds: f64) -> Result<Option<f64>, Failure> {
    let case = format!("the paper's step: {}", method.name());
    let mut total = None;
    table.case(&case, "s", None, |table| {
        let ran = run(scene, method, Some(Limit::default()), Until::seconds(seconds))?;
        total = Some(ran.total());
        tell(table, &case, &ran, paper)
    })?;
    Ok(total)
}

/// The largest stable step on the ladder through a method's, what came of it, and whether it is the ladder's last.
fn climb(scene: &Scene, from: Method, effort: Effort, seconds: f64) -> Result<(Method, Ran, bool), Failure> {
    let attempt = |rung: i32| -> (Method, Option<Ran>) {
        let method = from.times(RUNG.powi(rung));
        let ran = run(scene, method, None, Until { gain: GAIN, ..Until::seconds(seconds) }).ok();
        (method, ran.filter(|ran| !ran.failed))
    };
    // In strides, then halving them: what is stable is so with every shorter step.
    let (stride, most) = if effort.quick { (1, 1) } else { (8, RUNGS) };
    let mut rung = 0;
    let (mut method, mut best) = attempt(rung);
    let mut down = best.is_none();
    while best.is_none() && rung > -most {
        rung -= stride;
        (method, best) = attempt(rung);
    }
    let mut stride = stride;
    while best.is_some() && stride > 0 {
        let (next, ran) = if rung + stride <= most && !down { attempt(rung + stride) } else { (method, None) };
        if ran.is_some() {
            (rung, method, best) = (rung + stride, next, ran);
        } else {
            stride /= 2;
            down = false;
        }
    }
    let expected = format!("no stable step down to {}", from.times(RUNG.powi(-most)).name());
    best.map(|ran| (method, ran, rung == most)).ok_or_else(|| expected.into())
}

fn tell(table: &mut Table, case: &str, ran: &Ran, paper: Option<[f64; 2]>) -> Result<(), Failure> {
    let unit = paper.map_or("s".into(), |[_, whole]| format!("s (2008: {whole})"));
    let most = ran.energies.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let details = [
        ("solving [s]", ran.solve),
        ("collisions [s]", ran.contact),
        ("events", ran.events as f64),
        ("mean span [s]", ran.spans[0]),
        ("least span [s]", ran.spans[1]),
        ("energy gained at the end [of the fall]", ran.energies.last().copied().unwrap_or(0.0)),
        ("at most", most),
        ("mean strain", ran.strains[0]),
        ("largest strain", ran.strains[1]),
    ];
    table.row_with(case, &unit, None, &[ran.total()], &details)
}
