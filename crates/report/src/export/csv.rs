//! The ledger as a table: a row a frame, units in the header, names quoted where need be (RFC 4180).
//!
//! Costs are means over the windows of a frame; work and impulses are sums since the begin. What a simulator does not
//! know (energies of one that keeps no ledger) is an empty cell.

use super::ExportError;
use super::names::Unique;
use super::reel::{Reel, Stages};
use crate::partial::PartialFile;
use crate::{Begin, Frame};
use partita::simulator::Carrier;

pub(super) fn write(reel: &mut Reel, file: &mut PartialFile) -> Result<(), ExportError> {
    let stages = reel.stages()?;
    file.put(header(&reel.begin, &stages).as_bytes())?;
    while let Some((number, frame)) = reel.next_frame()? {
        let cells = row(&reel.begin, &stages, number, &frame);
        let cells: Vec<String> = cells.iter().map(|cell| cell.map_or(String::new(), number_text)).collect();
        file.put((cells.join(",") + "\n").as_bytes())?;
    }
    Ok(())
}

fn header(begin: &Begin, stages: &Stages) -> String {
    let mut names: Vec<String> = ["frame", "time [s]", "window", "windows in this frame"].map(String::from).into();
    for simulator in &begin.simulators {
        names.push(format!("{simulator}: kinetic energy [J]"));
        names.push(format!("{simulator}: potential energy [J]"));
    }
    names.extend(["work of the couplings [J]", "momentum error [N s]", "gap [m]", "load change [-]"].map(String::from));
    names.push("passes a window [-]".into());
    names.extend(begin.simulators.iter().map(|simulator| format!("{simulator}: iterations a window [-]")));
    for (simulator, surface) in deforming(begin).map(|(_, names)| names) {
        names.extend(["largest", "mean"].map(|kind| format!("{simulator}/{surface}: {kind} strain [-]")));
    }
    for (follower, leader) in &begin.interfaces {
        for kind in ["used", "got", "pending"] {
            names.extend(["x", "y", "z"].map(|axis| format!("{follower} on {leader}: impulse {kind} {axis} [N s]")));
            names.extend(["x", "y", "z"].map(|axis| format!("{follower} on {leader}: twist {kind} {axis} [N m s]")));
        }
    }
    names.extend(stages.iter().map(|(simulator, stage)| format!("{}: {stage} [ms]", begin.simulators[*simulator])));
    names.push("coupling itself [ms]".into());
    let mut unique = Unique::default();
    names.iter().map(|name| quoted(&unique.name(name))).collect::<Vec<_>>().join(",") + "\n"
}

/// Surfaces that deform: their numbers, and the names of simulator and surface.
fn deforming(begin: &Begin) -> impl Iterator<Item = (usize, (&str, &str))> {
    let surfaces = begin.surfaces.iter().enumerate();
    let deforming = surfaces.filter(|(_, taped)| matches!(taped.surface.carrier, Carrier::Points(_)));
    deforming.map(|(number, taped)| (number, (begin.simulators[taped.simulator].as_str(), taped.surface.name.as_str())))
}

/// In the order of [`header`].
fn row(begin: &Begin, stages: &Stages, number: usize, frame: &Frame) -> Vec<Option<f64>> {
    let numbers = &frame.numbers;
    let mut cells = [number as f64, frame.time, frame.window as f64, numbers.windows as f64].map(Some).to_vec();
    for simulator in 0..begin.simulators.len() {
        let energies = numbers.energies.get(simulator).copied().flatten();
        cells.extend([0, 1].map(|k| energies.map(|energies| energies[k])));
    }
    cells.extend([Some(numbers.work), numbers.momentum_error, Some(numbers.gap), Some(numbers.load_change)]);
    cells.push(Some(numbers.passes));
    cells.extend((0..begin.simulators.len()).map(|simulator| numbers.iterations.get(simulator).copied()));
    for (surface, _) in deforming(begin) {
        let strains = numbers.strains.get(surface).copied().flatten();
        cells.extend([0, 1].map(|k| strains.map(|strains| strains[k])));
    }
    for interface in 0..begin.interfaces.len() {
        let impulses = numbers.impulses.get(interface);
        cells.extend((0..18).map(|k| impulses.map(|kinds| kinds[k / 6][k % 6])));
    }
    for (simulator, stage) in stages {
        cells.push(numbers.stage(*simulator, stage));
    }
    cells.push(Some(numbers.coupling));
    cells
}

/// Whole numbers without a fraction; all others so that every bit comes back.
fn number_text(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value}") } else { format!("{value:?}") }
}

fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.into() }
}
