//! Aitken's relaxation: a fixed-point iteration x ← x + ω r, r = H(x) − x, with the factor ω that
//! would have been right for the last two residuals: Aitken's Δ² for vectors, B. Irons, R. Tuck: A
//! version of the Aitken accelerator for computer iteration. IJNME 1, 1969.

/// State of one iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Aitken {
    factor: f64,
    range: [f64; 2],
    previous: Option<Vec<f64>>,
}

impl Aitken {
    /// Begins with `factor`; every factor is kept within `range`.
    pub fn new(factor: f64, range: [f64; 2]) -> Self {
        Self { factor: factor.clamp(range[0], range[1]), range, previous: None }
    }

    /// The factor in use.
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// Moves `x`, whose residual is `r`.
    ///
    /// ω ← −ω r₀·(r − r₀)/|r − r₀|². For scalar linear H with slope −s this is 1/(1 + s), exact
    /// from the second residual on.
    pub fn advance(&mut self, x: &mut [f64], r: &[f64]) {
        if let Some(r0) = &self.previous {
            let (mut along, mut squared) = (0.0, 0.0);
            for (r, r0) in r.iter().zip(r0) {
                along += r0 * (r - r0);
                squared += (r - r0) * (r - r0);
            }
            if squared > 0.0 {
                self.factor = (-self.factor * along / squared).clamp(self.range[0], self.range[1]);
            }
        }
        x.iter_mut().zip(r).for_each(|(x, r)| *x += self.factor * r);
        match &mut self.previous {
            Some(previous) => previous.copy_from_slice(r),
            None => self.previous = Some(r.to_vec()),
        }
    }

    /// Half of the last move is taken back; the factor shrinks with it.
    pub fn halve(&mut self) {
        self.factor = (0.5 * self.factor).max(self.range[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H(x) = −2x + 1 has the fixed point 1/3 and diverges without relaxation.
    #[test]
    fn a_scalar_linear_map_is_solved_by_the_third_evaluation() {
        let mut aitken = Aitken::new(1.0, [1e-6, 2.0]);
        let mut x = [0.0];
        for _ in 0..2 {
            let r = [-2.0 * x[0] + 1.0 - x[0]];
            aitken.advance(&mut x, &r);
        }
        assert!((x[0] - 1.0 / 3.0).abs() < 1e-6, "{x:?}");
    }

    /// Slopes from 1e-4 to 1e4: exact up to the rounding of the large first residual.
    #[test]
    fn the_slope_does_not_matter() {
        for slope in [1e-4, 1e-2, 0.5, 1.0, 2.0, 1e2, 1e4] {
            let mut aitken = Aitken::new(1.0, [1e-6, 2.0]);
            let mut x = [0.0];
            for _ in 0..2 {
                let r = [-slope * x[0] + 1.0 - x[0]];
                aitken.advance(&mut x, &r);
            }
            let exact = 1.0 / (1.0 + slope);
            assert!((x[0] - exact).abs() < 1e-6 * exact, "slope {slope}: {x:?}");
        }
    }
}
