//! Colours: sRGB outside, linear light inside.

use std::sync::OnceLock;

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// An sRGB colour, as a colour picker shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Colour(pub [u8; 3]);

impl Colour {
    /// Planed pine.
    pub const WOOD: Colour = Colour([196, 146, 92]);
    /// Water in daylight.
    pub const WATER: Colour = Colour([62, 142, 214]);
    /// Hail and snow.
    pub const ICE: Colour = Colour([214, 232, 245]);
    /// Brushed steel.
    pub const STEEL: Colour = Colour([150, 158, 168]);
    /// A red that stays red in shadow, for what should be seen first.
    pub const SIGNAL: Colour = Colour([206, 70, 52]);
    /// Leaves.
    pub const GREEN: Colour = Colour([104, 150, 82]);
    /// Light grey, as the ground has it.
    pub const PAPER: Colour = Colour([214, 212, 208]);

    /// A neighbour of this colour, for the `seed`-th of many alike: brighter or darker, warmer or cooler by up to
    /// `amount` `[-]` of each channel.
    pub fn varied(self, seed: u64, amount: f32) -> Self {
        let brightness = 1.0 + amount * (2.0 * unit_hash(seed as u32, 1) - 1.0);
        let warmth = 0.4 * amount * (2.0 * unit_hash(seed as u32, 2) - 1.0);
        let [r, g, b] = self.0.map(f32::from);
        Colour([r * brightness * (1.0 + warmth), g * brightness, b * brightness * (1.0 - warmth)].map(|c| c as u8))
    }

    /// In linear light, 0 to 1.
    pub(crate) fn linear(self) -> Vector3<f32> {
        Vector3::from(self.0).map(|c| {
            let c = f32::from(c) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        })
    }
}

/// Linear light to sRGB by table: a power for each pixel would be a tenth of a frame.
pub(crate) struct Encoder {
    levels: Vec<u8>,
}

/// Entries for each unit of light: coarser than the darkest sRGB levels by a level.
const STEPS: f32 = 4095.0;
/// All light beyond is white.
const WHITE: f32 = 2.0;
/// Light up to here is reproduced; brighter light bends towards white instead of being cut off.
const SHOULDER: f32 = 0.7;

impl Encoder {
    /// The table, made at the first call.
    pub fn get() -> &'static Self {
        static TABLE: OnceLock<Encoder> = OnceLock::new();
        TABLE.get_or_init(Encoder::new)
    }

    fn new() -> Self {
        let levels = (0..=(WHITE * STEPS) as usize)
            .map(|i| {
                let light = i as f32 / STEPS;
                let rest = 1.0 - SHOULDER;
                let c = if light < SHOULDER { light } else { 1.0 - rest * (-(light - SHOULDER) / rest).exp() };
                let encoded = if c <= 0.0031308 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
                (255.0 * encoded + 0.5) as u8
            })
            .collect();
        Encoder { levels }
    }

    pub fn encode(&self, light: Vector3<f32>) -> [u8; 3] {
        // A float turned into an index saturates, and NaN becomes 0.
        light.map(|c| self.levels[((c * STEPS + 0.5) as usize).min(self.levels.len() - 1)]).into()
    }
}

/// A number in 0 .. 1 that looks random and is the same for the same arguments.
pub(crate) fn unit_hash(a: u32, b: u32) -> f32 {
    let mut h = a.wrapping_mul(0x9E37_79B9) ^ b.wrapping_mul(0x85EB_CA6B).rotate_left(13);
    h = (h ^ (h >> 16)).wrapping_mul(0x7FEB_352D);
    h = (h ^ (h >> 15)).wrapping_mul(0x846C_A68B);
    ((h ^ (h >> 16)) >> 8) as f32 / (1 << 24) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_undoes_linearising_below_the_shoulder() {
        let encoder = Encoder::new();
        for level in 0..=217u8 {
            let back = encoder.encode(Colour([level; 3]).linear())[0];
            assert!(back.abs_diff(level) <= 1, "{level} came back as {back}");
        }
        let bright: Vec<u8> = (7..40).map(|tenths| encoder.encode(Vector3::repeat(0.1 * tenths as f32))[0]).collect();
        assert!(bright.is_sorted() && bright.ends_with(&[255]), "{bright:?}");
    }
}
