//! Strain of deforming surfaces: how much longer edges are than in the surface's first shape, which is the one on the tape.
//! What a simulator holds for unstrained it does not tell; where it began under load, its strain there counts as 0.

use partita::simulator::Surface;

/// By vertex, (l - l0) / l0 of that of its edges where it is largest in size `[-]`, with l0 in the surface's first shape.
pub(crate) fn strains(surface: &Surface, vertices: &[[f64; 3]]) -> Vec<f64> {
    let mut strains = vec![0.0f64; surface.vertices.len()];
    let length = |x: &[[f64; 3]], i: usize, j: usize| {
        let squares = (0..3).map(|k| (x[j][k] - x[i][k]).powi(2));
        squares.sum::<f64>().sqrt()
    };
    for corners in &surface.triangles {
        for k in 0..3 {
            let (i, j) = (corners[k] as usize, corners[(k + 1) % 3] as usize);
            let (l, l0) = (length(vertices, i, j), length(&surface.vertices, i, j));
            let strain = if l0 > 0.0 { (l - l0) / l0 } else { 0.0 };
            for end in [i, j] {
                if strain.abs() > strains[end].abs() {
                    strains[end] = strain;
                }
            }
        }
    }
    strains
}
