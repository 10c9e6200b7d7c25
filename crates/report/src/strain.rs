//! Strain of deforming surfaces: how much longer edges are than in the surface's first shape, which is the one on the tape.
//! What a simulator holds for unstrained it does not tell; where it began under load, its strain there counts as 0.

use partita::simulator::{Carrier, Surface};

/// By vertex, (l - l0) / l0 of that of its edges where it is largest in size `[-]`, with l0 in the surface's first shape.
pub(crate) fn strains(surface: &Surface, vertices: &[[f64; 3]]) -> Vec<f64> {
    let mut strains = vec![0.0f64; surface.vertices.len()];
    for corners in &surface.triangles {
        for k in 0..3 {
            let ends = [corners[k], corners[(k + 1) % 3]];
            let (l, l0) = (length(vertices, ends), length(&surface.vertices, ends));
            let strain = if l0 > 0.0 { (l - l0) / l0 } else { 0.0 };
            for end in ends.map(|end| end as usize) {
                if strain.abs() > strains[end].abs() {
                    strains[end] = strain;
                }
            }
        }
    }
    strains
}

/// Edges of triangles and lines of a surface that deforms, each once, and their first lengths `[m]`.
pub(crate) struct Edges(Vec<([u32; 2], f64)>);

impl Edges {
    pub fn of(surface: &Surface) -> Self {
        if matches!(surface.carrier, Carrier::Frame(_)) {
            return Self(Vec::new());
        }
        let sides = surface.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let mut ends: Vec<[u32; 2]> = sides.chain(surface.lines.iter().copied()).collect();
        ends.iter_mut().for_each(|ends| ends.sort_unstable());
        ends.sort_unstable();
        ends.dedup();
        Self(ends.into_iter().map(|ends| (ends, length(&surface.vertices, ends))).collect())
    }

    /// Largest strain of an edge, and that of all edges together, (Σ l - Σ l0) / Σ l0 `[-]`.
    pub fn strain(&self, vertices: &[[f64; 3]]) -> [f64; 2] {
        let (mut largest, mut sum, mut first) = (f64::NEG_INFINITY, 0.0, 0.0);
        for &(ends, l0) in self.0.iter().filter(|(_, l0)| *l0 > 0.0) {
            let l = length(vertices, ends);
            largest = largest.max((l - l0) / l0);
            sum += l;
            first += l0;
        }
        if first > 0.0 { [largest, (sum - first) / first] } else { [0.0; 2] }
    }
}

fn length(x: &[[f64; 3]], [i, j]: [u32; 2]) -> f64 {
    let (a, b) = (x[i as usize], x[j as usize]);
    (0..3).map(|k| (b[k] - a[k]).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::deforming;

    /// A square of edge 1, pulled to 1.1 along x: two edges of 1.1, two of 1, the diagonal, and a rope of 2 m.
    #[test]
    fn a_stretched_square_has_its_largest_and_its_mean_strain() {
        let mut surface = deforming("cloth", 1.0).surface;
        surface.vertices.push([2.5, -0.5, 0.0]);
        surface.lines.push([1, 4]);
        let edges = Edges::of(&surface);
        let mut stretched: Vec<[f64; 3]> = surface.vertices.iter().map(|&[x, y, z]| [1.1 * x, y, z]).collect();
        stretched[4] = [0.55 + 2.0, -0.5, 0.0];
        let [largest, mean] = edges.strain(&stretched);
        let (now, first) = (2.0 * 1.1 + 2.0 + f64::hypot(1.1, 1.0) + 2.0, 4.0 + 2f64.sqrt() + 2.0);
        assert!((largest - 0.1).abs() < 1e-12 && (mean - (now - first) / first).abs() < 1e-12, "{largest} {mean}");
        assert_eq!(edges.strain(&surface.vertices), [0.0; 2]);
        (surface.triangles, surface.lines) = (vec![], vec![]);
        assert_eq!(Edges::of(&surface).strain(&stretched), [0.0; 2]);
    }
}
