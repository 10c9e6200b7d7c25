//! Bodies and cloths of implausible mass or size, found when a scene is built: mistaken units, mostly.
//!
//! A body is judged by its mass over its bounding box, a cloth by its mass over its area. In a
//! scene of three things that move or more, masses and sizes are also compared with the median of
//! the others. What does not move is not judged.

use std::collections::BTreeMap;

use nalgebra::Vector3;
use partita_simulator::{Carrier, HandleId, Simulator};

use crate::{Thresholds, Warning, WarningKind};

/// Mass over the bounding box of a body: from a thousandth of air's to four times osmium's `[kg/m³]`.
const SOLID: [f64; 2] = [1e-3, 1e5];
/// Mass over the area of a cloth: from a film of 100 nm to a tenth of a metre of lead `[kg/m²]`.
const SHEET: [f64; 2] = [1e-4, 1e3];
/// Something that moves.
struct Thing {
    name: String,
    mass: f64,
    /// Longest edge of its bounding box `[m]`.
    size: f64,
    /// Density and the range that is plausible.
    kind: WarningKind,
    density: f64,
    range: [f64; 2],
}

/// One warning by simulator and kind, for the thing that is farthest off.
pub(crate) fn implausible(simulators: &[Box<dyn Simulator>], thresholds: &Thresholds) -> Vec<Warning> {
    let things: Vec<(usize, Thing)> = (simulators.iter().enumerate())
        .flat_map(|(member, simulator)| things(&**simulator).into_iter().map(move |thing| (member, thing)))
        .collect();
    let [masses, sizes] = [|thing: &Thing| thing.mass, |thing: &Thing| thing.size]
        .map(|of| Sorted::new(things.iter().map(|(_, thing)| of(thing))));
    let mut worst: BTreeMap<(usize, WarningKind), (f64, usize, Warning)> = BTreeMap::new();
    for (member, thing) in &things {
        let [low, high] = thing.range;
        let findings = [
            (thing.kind, thing.density, thing.density.clamp(low, high), thresholds.density),
            (WarningKind::Mass, thing.mass, masses.median_without(thing.mass), thresholds.mass),
            (WarningKind::Size, thing.size, sizes.median_without(thing.size), thresholds.size),
        ];
        for (kind, found, reference, limit) in findings {
            let off = (found / reference).max(reference / found);
            // Nothing to compare with, or nothing to be compared.
            if !(off > limit && off.is_finite()) {
                continue;
            }
            let warning = Warning::new(kind, thing.name.clone(), 0, [found, reference], false);
            let (most, count, of_most) = worst.entry((*member, kind)).or_insert((off, 0, warning.clone()));
            *count += 1;
            if off > *most {
                (*most, *of_most) = (off, warning);
            }
        }
    }
    let told = |(_, count, warning): (f64, usize, Warning)| match count {
        1 => warning,
        _ => Warning { source: format!("{} and {} others", warning.source, count - 1), ..warning },
    };
    worst.into_values().map(told).collect()
}

/// What moves of a simulator: each body that has a surface, and all cloth together.
fn things(simulator: &dyn Simulator) -> Vec<Thing> {
    let mut bodies: BTreeMap<HandleId, Bounds> = BTreeMap::new();
    let (mut cloth, mut area) = (Bounds::NONE, 0.0);
    for surface in simulator.surfaces() {
        match &surface.carrier {
            Carrier::Frame(handle) => bodies.entry(*handle).or_insert(Bounds::NONE).add(&surface.vertices),
            Carrier::Points(_) => {
                cloth.add(&surface.vertices);
                let corner = |&k: &u32| Vector3::from(surface.vertices[k as usize]);
                let twice = |[a, b, c]: [Vector3<f64>; 3]| (b - a).cross(&(c - a)).norm();
                area += 0.5 * surface.triangles.iter().map(|t| twice(t.each_ref().map(corner))).sum::<f64>();
            }
        }
    }
    let mut things: Vec<Thing> = Vec::new();
    for (handle, bounds) in bodies {
        let mobility = simulator.mobility(handle).map_or(0.0, |mobility| {
            let [x, y, z] = mobility.linear;
            (x[0] + y[1] + z[2]) / 3.0
        });
        if mobility > 0.0 {
            let (mass, [x, y, z]) = (1.0 / mobility, bounds.edges());
            let name = format!("{}/{}", simulator.name(), simulator.handles().describe(handle));
            let (kind, density, range) = (WarningKind::Density, mass / (x * y * z), SOLID);
            things.push(Thing { name, mass, size: bounds.size(), kind, density, range });
        }
    }
    if let Some(mass) = simulator.ledger().map(|ledger| ledger.mass)
        && area > 0.0
        && mass > 0.0
    {
        let (name, size) = (simulator.name().to_string(), cloth.size());
        let (kind, density, range) = (WarningKind::ArealDensity, mass / area, SHEET);
        things.push(Thing { name, mass, size, kind, density, range });
    }
    things
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

/// Values in order.
struct Sorted(Vec<f64>);

impl Sorted {
    fn new(values: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_by(f64::total_cmp);
        Self(sorted)
    }

    /// Lower median of all but one of these; NaN where fewer than two are left.
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
        let sorted = Sorted::new([5.0, 1.0, 3.0, 9.0].into_iter());
        let found = [1.0, 3.0, 5.0, 9.0].map(|value| sorted.median_without(value));
        assert_eq!(found, [5.0, 5.0, 3.0, 3.0]);
        assert!(Sorted::new([1.0, 2.0].into_iter()).median_without(1.0).is_nan());
        assert_eq!(Sorted::new([2.0; 3].into_iter()).median_without(2.0), 2.0);
    }
}
