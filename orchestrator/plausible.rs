//! Bodies and cloths of implausible mass or size, found when a scene is built: usually mistaken units.
//!
//! A body is judged by its mass over its bounding box, a cloth by its mass over its area. If three
//! or more things move, masses and sizes are also compared with the median of the others. Things
//! that do not move are not judged.

use std::collections::BTreeMap;

use nalgebra::Vector3;
use partita_simulator::{Carrier, HandleId, Simulator, Surface};

use crate::{Thresholds, Warning, WarningKind};

/// Plausible mass over the bounding box of a body: a thousandth of air to four times osmium `[kg/m³]`.
const SOLID: [f64; 2] = [1e-3, 1e5];
/// Plausible mass over the area of a cloth: a film of 100 nm to a tenth of a metre of lead `[kg/m²]`.
const SHEET: [f64; 2] = [1e-4, 1e3];

/// Body, or all cloth of a simulator.
struct Candidate {
    member: usize,
    /// Frame of a body.
    body: Option<HandleId>,
    /// `[kg]`; NaN if unknown.
    mass: f64,
    /// Longest edge of the bounding box `[m]`.
    size: f64,
    /// Kind of its density.
    kind: WarningKind,
    /// Volume of the bounding box of a body `[m³]`, area of cloth `[m²]`; 0 if it has none.
    extent: f64,
    /// Plausible mass over extent `[kg/m³]`, `[kg/m²]`.
    range: [f64; 2],
}

/// Candidate with the largest ratio to its reference, and the number of candidates beyond the threshold.
struct Worst {
    ratio: f64,
    count: usize,
    candidate: usize,
    values: [f64; 2],
}

/// Warnings, one by simulator and kind.
pub(crate) fn implausible(simulators: &[Box<dyn Simulator>], thresholds: &Thresholds) -> Vec<Warning> {
    let Thresholds { density, mass, size, .. } = *thresholds;
    if [density, mass, size].iter().all(|threshold| threshold.is_infinite()) {
        return Vec::new();
    }
    let simulated = simulators.iter().enumerate();
    let all: Vec<Candidate> = simulated.flat_map(|(member, simulator)| candidates(member, &**simulator)).collect();
    let masses = Sorted::new(all.iter().map(|candidate| candidate.mass));
    let sizes = Sorted::new(all.iter().map(|candidate| candidate.size));
    let mut worst: BTreeMap<(usize, WarningKind), Worst> = BTreeMap::new();
    for (number, candidate) in all.iter().enumerate() {
        let ([low, high], found) = (candidate.range, candidate.mass / candidate.extent);
        let findings = [
            (candidate.kind, found, found.clamp(low, high), density),
            (WarningKind::Mass, candidate.mass, masses.median_without(candidate.mass), mass),
            (WarningKind::Size, candidate.size, sizes.median_without(candidate.size), size),
        ];
        for (kind, found, reference, threshold) in findings {
            let ratio = (found / reference).max(reference / found);
            // Unknown values have no ratio, nor have those of lines.
            if !(ratio > threshold && ratio.is_finite()) {
                continue;
            }
            let first = Worst { ratio: 0.0, count: 0, candidate: number, values: [0.0; 2] };
            let of = worst.entry((candidate.member, kind)).or_insert(first);
            of.count += 1;
            if ratio > of.ratio {
                (of.ratio, of.candidate, of.values) = (ratio, number, [found, reference]);
            }
        }
    }
    let warning = |((member, kind), of): ((usize, WarningKind), Worst)| {
        let simulator = &*simulators[member];
        let name = match all[of.candidate].body {
            Some(body) => format!("{}/{}", simulator.name(), simulator.handles().describe(body)),
            None => simulator.name().into(),
        };
        let source = match of.count - 1 {
            0 => name,
            1 => format!("{name} and another"),
            others => format!("{name} and {others} others"),
        };
        Warning::new(kind, source, 0, of.values, false)
    };
    worst.into_iter().map(warning).collect()
}

/// Moving bodies that have a surface, and all cloth as one. Unsound surfaces are left to their checks.
fn candidates(member: usize, simulator: &dyn Simulator) -> Vec<Candidate> {
    let mut bodies: BTreeMap<HandleId, Bounds> = BTreeMap::new();
    let (mut cloth, mut area) = (Bounds::NONE, 0.0);
    for surface in simulator.surfaces().iter().filter(|surface| surface.check().is_ok()) {
        match &surface.carrier {
            Carrier::Frame(handle) => bodies.entry(*handle).or_insert(Bounds::NONE).add(&surface.vertices),
            Carrier::Points(_) => {
                cloth.add(&surface.vertices);
                area += area_of(surface);
            }
        }
    }
    let total = simulator.ledger().map_or(f64::NAN, |ledger| ledger.mass);
    let mut candidates = Vec::new();
    for (handle, bounds) in bodies {
        let mass = simulator.mobility(handle).map_or(f64::NAN, |mobility| {
            let [x, y, z] = mobility.linear;
            3.0 / (x[0] + y[1] + z[2])
        });
        let ([x, y, z], size) = (bounds.edges(), bounds.size());
        let (kind, extent, range) = (WarningKind::Density, x * y * z, SOLID);
        candidates.push(Candidate { member, body: Some(handle), mass, size, kind, extent, range });
    }
    candidates.retain(|candidate| !candidate.mass.is_infinite());
    // Bodies with joints have no mobility of their own. Together they have the rest of the mass.
    let unknown = candidates.iter().filter(|candidate| candidate.mass.is_nan()).count() as f64;
    let known: f64 = candidates.iter().map(|candidate| candidate.mass).filter(|mass| mass.is_finite()).sum();
    for candidate in candidates.iter_mut().filter(|candidate| candidate.mass.is_nan()) {
        candidate.mass = (total - known) / unknown;
    }
    let size = cloth.size();
    if size > 0.0 && total > 0.0 {
        let (kind, extent, range) = (WarningKind::ArealDensity, area, SHEET);
        candidates.push(Candidate { member, body: None, mass: total, size, kind, extent, range });
    }
    candidates
}

/// Area of the triangles `[m²]`.
fn area_of(surface: &Surface) -> f64 {
    let corner = |&k: &u32| Vector3::from(surface.vertices[k as usize]);
    let twice = |[a, b, c]: [Vector3<f64>; 3]| (b - a).cross(&(c - a)).norm();
    0.5 * surface.triangles.iter().map(|t| twice(t.each_ref().map(corner))).sum::<f64>()
}

/// Lowest and highest coordinates.
#[derive(Clone, Copy)]
struct Bounds([[f64; 3]; 2]);

impl Bounds {
    const NONE: Self = Self([[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]]);

    fn add(&mut self, vertices: &[[f64; 3]]) {
        let [low, high] = &mut self.0;
        for vertex in vertices {
            for k in 0..3 {
                (low[k], high[k]) = (low[k].min(vertex[k]), high[k].max(vertex[k]));
            }
        }
    }

    fn edges(&self) -> [f64; 3] {
        let [low, high] = self.0;
        std::array::from_fn(|k| high[k] - low[k])
    }

    fn size(&self) -> f64 {
        self.edges().into_iter().fold(0.0, f64::max)
    }
}

/// Known values in ascending order.
struct Sorted(Vec<f64>);

impl Sorted {
    fn new(values: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        Self(sorted)
    }

    /// Lower median of all but one of the values; NaN if fewer than two are left.
    fn median_without(&self, value: f64) -> f64 {
        let Self(all) = self;
        let left = all.len().saturating_sub(1);
        if left < 2 {
            return f64::NAN;
        }
        let (place, middle) = (all.partition_point(|other| *other < value), (left - 1) / 2);
        all[if middle < place { middle } else { middle + 1 }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_leaves_one_out() {
        let sorted = Sorted::new([5.0, 1.0, f64::NAN, 3.0, 9.0].into_iter());
        let found = [1.0, 3.0, 5.0, 9.0].map(|value| sorted.median_without(value));
        assert_eq!(found, [5.0, 5.0, 3.0, 3.0]);
        assert!(Sorted::new([1.0, 2.0].into_iter()).median_without(1.0).is_nan());
        assert_eq!(Sorted::new([2.0; 3].into_iter()).median_without(2.0), 2.0);
    }
}
