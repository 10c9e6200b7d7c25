//! Numbers that are the same in each run.

use nalgebra::Vector3;

type V3 = Vector3<f64>;

pub struct Random(pub u64);

impl Random {
    /// From -1 to 1.
    pub fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self) -> V3 {
        V3::from_fn(|_, _| self.number())
    }
}
