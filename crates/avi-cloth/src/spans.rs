//! How long an element may wait from event to event.
//!
//! Linear about the shape at rest, with the stiffness K_e of each element, events are stable where all clocks agree if Δt² Σ K_e <= 4 M.
//! Let vertices share out their masses among the elements around them, M = Σ M_e: then Δt² K_e <= 4 M_e, each element by itself, is
//! enough (B. M. Irons, G. Treharne: A bound theorem in eigenvalues and its practical applications. Proc. 3rd Conf. on Matrix Methods in
//! Structural Mechanics, 1971). With spans that differ it gives Σ Δt_e² K_e <= 4 M, which is no proof for clocks that beat, but what
//! experiment bears out as far as α leaves some room ([`crate::Parameters::courant`]). So Δt_e = α 2/ω_e of the element's fastest mode.
//!
//! Shares are free. In proportion to the roots of how elements resist the vertex, the mean span on `avi-table1`'s mesh was 0.95 ms; 0.90 in
//! proportion to resistance, 0.67 to areas. What is fine borrows from the coarse beside it. By waves (\[TPS08\] equation 3) it is 0.39 ms.
//!
//! An element resists along few directions: K = Σ r r^T over three rows r of its membrane, and one of each hinge. Hence ω² is the largest
//! eigenvalue of the small matrix of r·M⁻¹ s over its rows.
//!
//! Viscosity τ acts by the mean strain rate of the span before (`event.rs`): for a mode, with a = ω² Δt²,
//! z² - (2 - a - a τ/Δt) z + 1 - a τ/Δt = 0, which does not grow as long as ω² (Δt² + 2 τ Δt) <= 4.
//!
//! A triangle that is stretched is stiffer: ω² is 2.9 times as large at one and a half times its length. To let its span go up and down with
//! that is not variational: `avi-table1`'s cloth, which hangs by corners, lost 18 % of its fall's energy in 4 s at α = 0.4, and gained half
//! of it with forces that act for the mean of the span before and that after.
//! So spans only ever become shorter, and are constant where cloth has been before. They do in proportion to stiffness, which is what
//! viscosity asks for and more than 1/ω: with its root that cloth gained 0.7 % at α = 0.6, thus 0.1 %, of a tenth to a fifth more
//! events. That folding stiffens hinges is left to α.

use nalgebra::{Matrix3, Matrix6, Vector3};
use partita_elastic::{Density, Fabric, Sheet};

use crate::{
    Estimate,
    elements::{Fold, Patch},
};

type V3 = Vector3<f64>;

/// How an element resists: K = Σ r r^T.
struct Stiffness {
    /// What is not needed repeats one, with rows of zeros.
    vertices: [u32; 6],
    /// Three of the membrane, then of hinges `[√(N/m)]`.
    rows: [[V3; 6]; 6],
}

/// Spans of patches, then of folds, for α = 1 `[s]`.
pub(crate) fn estimated(
    patches: &[Patch],
    folds: &[Fold],
    x: &[V3],
    sheet: &Sheet,
    fabric: &Fabric,
    estimate: Estimate,
) -> Vec<f64> {
    let root = root_of_moduli(&sheet.density);
    let of_patches = patches.iter().map(|patch| Stiffness::of_patch(patch, &root, x));
    let all: Vec<Stiffness> = of_patches.chain(folds.iter().map(|fold| Stiffness::of_fold(fold, x))).collect();
    let mut resisted = vec![0.0; x.len()];
    for stiff in &all {
        stiff.vertices.iter().zip(stiff.resistance()).for_each(|(&v, own)| resisted[v as usize] += own);
    }
    let damping = [fabric.damping, fabric.bend_damping];
    let mut times: Vec<f64> = all
        .iter()
        .map(|stiff| {
            let (vertices, own) = (stiff.vertices.map(|v| v as usize), stiff.resistance());
            let inverse = |k: usize| resisted[vertices[k]] / (own[k] * sheet.masses[vertices[k]]);
            stiff.stable_span(&std::array::from_fn(|k| if own[k] > 0.0 { inverse(k) } else { 0.0 }), damping)
        })
        .collect();
    if estimate == Estimate::Wave {
        times
            .iter_mut()
            .zip(patches)
            .for_each(|(time, patch)| *time = time.min(wave_time(patch, &sheet.density, fabric)));
    }
    times
}

/// \[TPS08\] equation 3: h √(ρ/(λ + 2 μ)), with the radius h of the inscribed circle, and the larger stiffness along warp and weft `[s]`.
fn wave_time(patch: &Patch, law: &Density, fabric: &Fabric) -> f64 {
    let moduli = law.moduli();
    let radius = 2.0 * patch.area / patch.lengths.iter().sum::<f64>();
    radius * (fabric.density / moduli[(0, 0)].max(moduli[(1, 1)])).sqrt()
}

/// What squared gives the membrane's moduli.
fn root_of_moduli(law: &Density) -> Matrix3<f64> {
    let eigen = law.moduli().symmetric_eigen();
    let values = eigen.eigenvalues.map(|value| value.max(0.0).sqrt());
    eigen.eigenvectors * Matrix3::from_diagonal(&values) * eigen.eigenvectors.transpose()
}

impl Stiffness {
    fn of_patch(patch: &Patch, root: &Matrix3<f64>, x: &[V3]) -> Self {
        let ([a, b, c], [d, e, f]) = (patch.vertices, patch.beyond);
        let mut stiff = Self { vertices: [a, b, c, d, e, f], rows: Default::default() };
        let at = patch.vertices.map(|v| x[v as usize]);
        // As it lies, without what it may be strained there.
        let [u, v] = patch.steps_of(&at);
        let (u, v) = u
            .try_normalize(0.0)
            .zip((v - u * u.dot(&v) / u.norm_squared()).try_normalize(0.0))
            .unwrap_or((V3::x(), V3::y()));
        let [by_u, by_v] = patch.steps.map(|[b, c]| [-(b + c), b, c]);
        for k in 0..3 {
            let strains = [by_u[k] * u, by_v[k] * v, by_v[k] * u + by_u[k] * v];
            for row in 0..3 {
                let sum: V3 = (0..3).map(|strain| root[(row, strain)] * strains[strain]).sum();
                stiff.rows[row][k] = patch.area.sqrt() * sum;
            }
        }
        for k in (0..3).filter(|&k| patch.stiffness[k] != 0.0) {
            let corners = [k, (k + 1) % 3, (k + 2) % 3, 3 + k];
            stiff.bend(3 + k, patch.stiffness[k], corners, x);
        }
        stiff
    }

    fn of_fold(fold: &Fold, x: &[V3]) -> Self {
        let [a, b, c, d] = fold.vertices;
        let mut stiff = Self { vertices: [a, b, c, d, a, a], rows: Default::default() };
        stiff.bend(3, fold.stiffness, [0, 1, 2, 3], x);
        stiff
    }

    fn bend(&mut self, row: usize, stiffness: f64, corners: [usize; 4], x: &[V3]) {
        let at = corners.map(|k| x[self.vertices[k] as usize]);
        let gradient = partita_elastic::hinge::gradient(&at).unwrap_or_default();
        corners.iter().zip(gradient).for_each(|(&k, g)| self.rows[row][k] = stiffness.sqrt() * g);
    }

    /// Of each vertex that moves alone, the root of the trace `[√(N/m)]`.
    fn resistance(&self) -> [f64; 6] {
        std::array::from_fn(|k| self.rows.iter().map(|row| row[k].norm_squared()).sum::<f64>().sqrt())
    }

    /// A span that is stable, without viscosity the longest, with shares of masses `[1/kg]` and viscosity of membrane and bending `[s]`.
    fn stable_span(&self, inverse_masses: &[f64; 6], [stretch, bend]: [f64; 2]) -> f64 {
        // The fastest ω², rows weighted.
        let fastest = |weights: [f64; 2]| {
            let weight = |row: usize| weights[row / 3].sqrt();
            let product = |i: usize, j: usize| {
                let terms = self.rows[i].iter().zip(&self.rows[j]).zip(inverse_masses).map(|((r, s), w)| w * r.dot(s));
                weight(i) * weight(j) * terms.sum::<f64>()
            };
            Matrix6::from_fn(product).symmetric_eigenvalues().max()
        };
        if stretch == 0.0 && bend == 0.0 {
            return 2.0 / fastest([1.0, 1.0]).sqrt();
        }
        // Membrane and bending as if they were alone give a bound from above; with both, weighted by Δt² + 2 τ Δt, which shrinks with Δt or
        // faster, as much less as brings ω² to 4.
        let alone = |weights, tau| damped(2.0 / fastest(weights).sqrt(), tau);
        let time: f64 = alone([1.0, 0.0], stretch).min(alone([0.0, 1.0], bend));
        if time.is_infinite() {
            return time;
        }
        let both = fastest([stretch, bend].map(|tau| time * (time + 2.0 * tau)));
        time * (4.0 / both).min(1.0)
    }
}

/// The longest stable span of a mode with 2/ω `[s]` and viscosity τ `[s]`.
fn damped(time: f64, tau: f64) -> f64 {
    // √(τ² + t²) - τ without cancellation; what hardly resists takes any time.
    if tau == 0.0 || time.is_infinite() { time } else { time * (time / (tau + tau.hypot(time))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AviCloth, Mesh};

    /// A membrane and a hinge that resist along the same line: with viscosity of either or both, ω² (Δt² + 2 τ Δt) of both together is at
    /// most 4, of which a half at least is used.
    #[test]
    fn a_membrane_and_a_hinge_that_resist_together_share_a_span() {
        let along = V3::new(0.3, -2.0, 1.0);
        let (k_stretch, k_bend) = (3.0, 40.0_f64);
        let mut stiff = Stiffness { vertices: [0, 1, 2, 3, 0, 0], rows: Default::default() };
        stiff.rows[1][0] = along;
        stiff.rows[3][0] = (k_bend / k_stretch).sqrt() * along;
        let w = k_stretch / along.norm_squared();
        for [stretch, bend] in [[1e-2, 1e-2], [0.0, 0.3], [5.0, 0.0], [1.0, 1e-3_f64]] {
            let dt = stiff.stable_span(&[w, 0.0, 0.0, 0.0, 0.0, 0.0], [stretch, bend]);
            let sum = k_stretch * dt * (dt + 2.0 * stretch) + k_bend * dt * (dt + 2.0 * bend);
            assert!(sum < 4.0 * (1.0 + 1e-12) && sum > 2.0, "{stretch}, {bend}: {sum}");
        }
    }

    /// What explodes is not to take for ever.
    #[test]
    fn spans_shorten_by_so_much_at_most() {
        let mesh = Mesh::grid([1, 1], [0.1; 2]).unwrap();
        let elements = AviCloth::new("sheet", mesh, Fabric::jersey()).unwrap().elements;
        let span = elements.spans[0];
        assert_eq!(elements.shortened(0, span, 4.0), span / 4.0);
        assert_eq!(elements.shortened(0, span, 1e9), span / 16.0);
    }
}
