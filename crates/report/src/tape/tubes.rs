//! Lines of surfaces, ropes and nets, become tubes on the tape, so that page, pictures and exports know triangles only.

use std::f64::consts::TAU;

use nalgebra::Vector3;
use partita::simulator::{Carrier, Surface};

type V3 = Vector3<f64>;

/// Corners around a tube.
const SIDES: u32 = 6;

/// The same surface with tubes in the place of its lines, as thick as the distance that others keep from it.
pub(super) fn with_tubes(surface: &Surface) -> Surface {
    let mut with = surface.clone();
    with.lines.clear();
    for (number, &ends) in (0..).zip(&surface.lines) {
        let first = surface.vertices.len() as u32 + 2 * SIDES * number;
        for k in 0..SIDES {
            let [here, next] = [first + k, first + (k + 1) % SIDES];
            with.triangles.extend([[here, next, next + SIDES], [here, next + SIDES, here + SIDES]]);
        }
        for k in 1..SIDES - 1 {
            with.triangles.extend([[first, first + k + 1, first + k], [0, k, k + 1].map(|k| first + SIDES + k)]);
        }
        if let Carrier::Points(points) = &mut with.carrier {
            points.extend(ends.iter().flat_map(|&end| vec![points[end as usize]; SIDES as usize]).collect::<Vec<_>>());
        }
    }
    add_corners(surface, &mut with.vertices);
    with
}

/// Adds the corners of tubes to the vertices of a surface, in the order of [`with_tubes`] `[m]`.
pub(super) fn add_corners(surface: &Surface, vertices: &mut Vec<[f64; 3]>) {
    for ends in &surface.lines {
        let [from, to] = ends.map(|end| V3::from(vertices[end as usize]));
        let along = (to - from).try_normalize(0.0).unwrap_or(V3::y());
        let aside = along.cross(&V3::ith(along.iamin(), 1.0)).normalize();
        let other = along.cross(&aside);
        for end in [from, to] {
            vertices.extend((0..SIDES).map(|k| {
                let (sin, cos) = (TAU * f64::from(k) / f64::from(SIDES)).sin_cos();
                <[f64; 3]>::from(end + surface.thickness * (cos * aside + sin * other))
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::deforming;

    /// Tubes are closed, with their sides outwards: six times the volume that their triangles enclose is that of prisms over a
    /// hexagon, as seen from anywhere. Their corners go where the ends of lines go.
    #[test]
    fn lines_become_closed_tubes() {
        let mut surface = deforming("net", 1.0).surface;
        let of_surface = surface.triangles.len();
        (surface.lines, surface.thickness) = (vec![[1, 0], [2, 3]], 0.1);
        let tubes = with_tubes(&surface);
        assert!(tubes.check().is_ok());
        let area = 1.5 * 3.0_f64.sqrt() * 0.01;
        for stretch in [1.0, 2.0] {
            let mut vertices: Vec<[f64; 3]> = surface.vertices.iter().map(|[x, y, z]| [stretch * x, *y, *z]).collect();
            add_corners(&surface, &mut vertices);
            assert_eq!(vertices.len(), tubes.vertices.len());
            for from in [V3::zeros(), V3::new(1.0, 2.0, 3.0)] {
                let of = |t: &[u32; 3]| {
                    let [a, b, c] = t.map(|v| V3::from(vertices[v as usize]) - from);
                    a.dot(&b.cross(&c))
                };
                let volume = tubes.triangles[of_surface..].iter().map(of).sum::<f64>() / 6.0;
                assert!((volume / (2.0 * stretch * area) - 1.0).abs() < 1e-12, "{volume} m3");
            }
        }
    }
}
