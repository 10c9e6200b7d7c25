//! Strain as colour: what the page shows of the strains of deforming surfaces, in a byte a vertex and frame.
//!
//! The page's positions are too coarse for it. Rounded to a step h at both ends, they strain an edge l by up to h / l:
//! where 64 vertices span 2 m and move over 6 m that is 0.3 %, as much as stiff cloth gives way.
//!
//! A code is a whole number of S / 63, where S is the end of the scale of colours: off by S / 126 at most, or 2 of 255
//! levels of a colour. A rigid motion must show no colour, and positions that a simulator rounds by δ strain an edge by
//! 2 δ / l: in single precision, 10 m from its origin and at 3 cm, 1e-6 / 0.03 = 3e-5. S is at least 1e-3, of which that
//! is 3 %; in double precision it is nothing.

use super::footage::{Place, Shown};

/// End of the scale of colours, at least and at most `[-]`.
const SCALES: [f64; 2] = [1e-3, 1.0];
/// Code of the end of the scale.
const END: f64 = 63.0;

pub(super) struct Shades {
    /// Strain at the end of the scale of colours `[-]`.
    pub scale: f64,
}

impl Shades {
    /// The strain that nearly all vertices stay below at any time, up to a round number: hardly any is clipped.
    pub fn of(frames: &[Shown]) -> Self {
        let usual = |place: &Place| if let Place::Deformed { strains, .. } = place { usual(strains) } else { 0.0 };
        let most = frames.iter().flat_map(|frame| &frame.surfaces).map(usual).fold(0.0, f64::max);
        Self { scale: nice_above(most.clamp(SCALES[0], SCALES[1])) }
    }

    /// Strains of a surface in all frames, each as the difference of its code from the frame before: what rests leaves
    /// zeros. What is beyond the scale is at its end.
    pub fn codes(&self, frames: &[Shown], surface: usize) -> Vec<u8> {
        let mut before: Vec<i8> = Vec::new();
        let mut bytes = Vec::new();
        for frame in frames {
            let Place::Deformed { strains, .. } = &frame.surfaces[surface] else { continue };
            let code = |strain: &f32| (END * f64::from(*strain) / self.scale).round().clamp(-END, END) as i8;
            let codes: Vec<i8> = strains.iter().map(code).collect();
            before.resize(codes.len(), 0);
            bytes.extend(codes.iter().zip(&before).map(|(code, before)| code.wrapping_sub(*before) as u8));
            before = codes;
        }
        bytes
    }
}

/// The size that 98 in 100 strains stay below `[-]`.
fn usual(strains: &[f32]) -> f64 {
    let mut sizes: Vec<f32> = strains.iter().map(|strain| strain.abs()).collect();
    let place = sizes.len() * 98 / 100;
    if sizes.is_empty() { 0.0 } else { f64::from(*sizes.select_nth_unstable_by(place, f32::total_cmp).1) }
}

/// 1, 2 or 5 times a power of ten: the smallest that is not below `x` by more than half a code, which nobody sees.
fn nice_above(x: f64) -> f64 {
    let x = x * (1.0 - 0.5 / END);
    let power = 10f64.powi(x.log10().floor() as i32);
    let lead = [1.0, 2.0, 5.0].into_iter().find(|lead| lead * power >= x);
    lead.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(of: impl Fn(usize) -> Vec<f32>) -> Vec<Shown> {
        let shown = |f| {
            let surfaces = vec![Place::Deformed { vertices: vec![], strains: of(f) }];
            Shown { time: f as f64, surfaces, clouds: vec![], forces: vec![] }
        };
        (0..5).map(shown).collect()
    }

    /// Codes summed up are the strains, within half of a 63rd of the scale, or at its ends.
    #[test]
    fn strains_come_back_within_half_a_code() {
        let strain = |f: usize, v: usize| 0.03 * (v as f32 + 0.7 * f as f32).sin();
        let mut frames = frames(|f| (0..400).map(|v| strain(f, v)).collect());
        let shades = Shades::of(&frames);
        assert_eq!(shades.scale, 0.05);
        let Place::Deformed { strains, .. } = &mut frames[2].surfaces[0] else { panic!("a deformed surface") };
        (strains[7], strains[8]) = (3.0, -3.0);
        let mut sums = vec![0i8; 400];
        for (f, bytes) in shades.codes(&frames, 0).chunks(400).enumerate() {
            for (v, sum) in sums.iter_mut().enumerate() {
                *sum = sum.wrapping_add(bytes[v] as i8);
                let exact = if (f, v) == (2, 7) {
                    0.05
                } else if (f, v) == (2, 8) {
                    -0.05
                } else {
                    strain(f, v)
                };
                assert!((f64::from(*sum) / 63.0 * 0.05 - f64::from(exact)).abs() < 0.5001 * 0.05 / 63.0);
            }
        }
    }

    /// Where nothing is strained but by rounding, the scale does not blow that up.
    #[test]
    fn scales_are_round_and_never_below_a_thousandth() {
        let scale = |strain: f32| Shades::of(&frames(|_| vec![strain; 10])).scale;
        let expected = [(0.0, 1e-3), (3e-5, 1e-3), (1e-3, 1e-3), (1.2e-3, 2e-3), (7.0, 1.0)];
        // The nearest round number below would leave all of these at the end of the colours.
        let clipped = [(-0.011, 0.02), (0.0249, 0.05), (0.05, 0.05), (0.099, 0.1), (0.24, 0.5), (0.26, 0.5)];
        for (strain, expected) in expected.into_iter().chain(clipped) {
            assert!((scale(strain) / expected - 1.0).abs() < 1e-9, "{strain}: {}", scale(strain));
        }
        assert_eq!(Shades::of(&[]).scale, 1e-3);
    }
}
