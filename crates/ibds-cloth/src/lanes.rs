//! Numbers in lanes: what is said once of a link is done for one, or for four side by side.

use nalgebra::{SimdRealField, Vector3};
use simba::simd::WideF64x4;

type V3 = Vector3<f64>;

/// How many are side by side.
pub(crate) const LANES: usize = 4;

/// Four numbers, and whether of four something is so.
pub(crate) type Four = WideF64x4;
pub(crate) type Mask = <Four as nalgebra::SimdValue>::SimdBool;

/// A number, or one in each lane.
pub(crate) trait Lanes: SimdRealField<Element = f64> + Copy {
    /// Which link or particle, in each lane.
    type Which: Copy;

    /// The numbers of these.
    fn gather(of: &[f64], which: Self::Which) -> Self;

    /// The vectors of these.
    fn gather_vectors(of: &[V3], which: Self::Which) -> Vector3<Self>;
}

impl Lanes for f64 {
    type Which = usize;

    #[inline]
    fn gather(of: &[f64], which: usize) -> Self {
        of[which]
    }

    #[inline]
    fn gather_vectors(of: &[V3], which: usize) -> V3 {
        of[which]
    }
}

impl Lanes for Four {
    type Which = [u32; LANES];

    #[inline]
    fn gather(of: &[f64], which: [u32; LANES]) -> Self {
        which.map(|k| of[k as usize]).into()
    }

    #[inline]
    fn gather_vectors(of: &[V3], which: [u32; LANES]) -> Vector3<Self> {
        let [a, b, c, d] = which.map(|k| &of[k as usize]);
        four_vectors(*a, *b, *c, *d)
    }
}

/// Vectors side by side.
#[inline]
pub(crate) fn four_vectors(a: V3, b: V3, c: V3, d: V3) -> Vector3<Four> {
    Vector3::new([a.x, b.x, c.x, d.x].into(), [a.y, b.y, c.y, d.y].into(), [a.z, b.z, c.z, d.z].into())
}
