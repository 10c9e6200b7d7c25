//! Strain of deforming surfaces: how much longer edges are than in the surface's first shape, which is the one on the tape.
//! What a simulator holds for unstrained it does not tell; where it began under load, its strain there counts as 0.

use partita::simulator::Surface;

/// By vertex, (l - l0) / l0 of that of its edges where it is largest in size `[-]`, with l0 in the surface's first shape.
pub(crate) fn strains(surface: &Surface, vertices: &[[f64; 3]]) -> Vec<f64> {
    let mut strains = vec![0.0f64; surface.vertices.len()];
    for_each_edge(surface, vertices, |i, j, l, l0| {
        let strain = if l0 > 0.0 { (l - l0) / l0 } else { 0.0 };
        for end in [i, j] {
            if strain.abs() > strains[end].abs() {
                strains[end] = strain;
            }
        }
    });
    strains
}

/// Largest strain of an edge, and that of all edges together, (Σ l - Σ l0) / Σ l0, each counted once a triangle `[-]`.
pub(crate) fn largest_and_mean(surface: &Surface, vertices: &[[f64; 3]]) -> [f64; 2] {
    let (mut largest, mut sum, mut first) = (f64::NEG_INFINITY, 0.0, 0.0);
    for_each_edge(surface, vertices, |_, _, l, l0| {
        if l0 > 0.0 {
            largest = largest.max((l - l0) / l0);
        }
        sum += l;
        first += l0;
    });
    if first > 0.0 { [largest, (sum - first) / first] } else { [0.0; 2] }
}

/// Both ends of each edge of each triangle, and its length now and at first `[m]`.
fn for_each_edge(surface: &Surface, vertices: &[[f64; 3]], mut each: impl FnMut(usize, usize, f64, f64)) {
    let length = |x: &[[f64; 3]], i: usize, j: usize| {
        let squares = (0..3).map(|k| (x[j][k] - x[i][k]).powi(2));
        squares.sum::<f64>().sqrt()
    };
    for corners in &surface.triangles {
        for k in 0..3 {
            let (i, j) = (corners[k] as usize, corners[(k + 1) % 3] as usize);
            each(i, j, length(vertices, i, j), length(&surface.vertices, i, j));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::deforming;

    /// A square of edge 1, pulled to 1.1 along x: two edges of 1.1, two of 1 and the diagonal, which counts twice.
    #[test]
    fn a_stretched_square_has_its_largest_and_its_mean_strain() {
        let surface = deforming("cloth", 1.0).surface;
        let stretched: Vec<[f64; 3]> = surface.vertices.iter().map(|&[x, y, z]| [1.1 * x, y, z]).collect();
        let [largest, mean] = largest_and_mean(&surface, &stretched);
        let (now, first) = (2.0 * 1.1 + 2.0 + 2.0 * f64::hypot(1.1, 1.0), 4.0 + 2.0 * 2f64.sqrt());
        assert!((largest - 0.1).abs() < 1e-12 && (mean - (now - first) / first).abs() < 1e-12, "{largest} {mean}");
        assert_eq!(largest_and_mean(&surface, &surface.vertices), [0.0; 2]);
        let mut none = surface;
        none.triangles.clear();
        assert_eq!(largest_and_mean(&none, &stretched), [0.0; 2]);
    }
}
