//! How far what the loops bring together is from where it should be.

use nalgebra::Vector3;

use crate::lanes::Lanes;

type V3 = Vector3<f64>;

/// Of one loop: of values at the two particles of a link, the link's direction and how much too far apart they are along it.
pub(crate) trait LinkError: Sync {
    /// Sweeps after which directions that are kept are taken anew at the latest.
    const KEPT: u32;

    /// The direction from the first value to the second, as long as 1 or, where there is none, 0; and how much too far apart they are.
    /// `forward` is 1 if the first value is that of the link's first particle, else -1.
    fn of<T: Lanes>(&self, link: T::Which, first: &Vector3<T>, second: &Vector3<T>, forward: T) -> (Vector3<T>, T);

    /// How much too far apart they are along a direction that stays.
    fn along(&self, link: usize, n: &V3, first: &V3, second: &V3) -> f64;

    /// Whether a link is off by more than it may be, told without a root.
    fn is_off(&self, link: usize, first: &V3, second: &V3, allowed: f64) -> bool;

    /// How far a particle of a link may go in one correction, so that the error's change by that is about as its direction says.
    fn reach<T: Lanes>(&self, link: T::Which) -> T;
}

/// Of predicted places: length less rest length `[m]` (\[BDB09\] section 3.3, with the root of section 4.1 taken once).
pub(crate) struct Lengths<'a> {
    pub rest: &'a [f64],
    /// By what errors are measured, also where the rest length is 0.
    pub scale: &'a [f64],
}

impl LinkError for Lengths<'_> {
    /// Where links go straight on, errors that fall slowly along directions that are wrong by then took four times the sweeps; taking
    /// directions is a fiftieth of so many.
    const KEPT: u32 = 50;

    #[inline]
    fn of<T: Lanes>(&self, link: T::Which, first: &Vector3<T>, second: &Vector3<T>, _: T) -> (Vector3<T>, T) {
        let apart = second - first;
        let length = apart.norm();
        let inverse = (T::one() / length).select(length.simd_gt(T::zero()), T::zero());
        (apart * inverse, length - T::gather(self.rest, link))
    }

    fn along(&self, link: usize, n: &V3, first: &V3, second: &V3) -> f64 {
        n.dot(&(second - first)) - self.rest[link]
    }

    fn is_off(&self, link: usize, first: &V3, second: &V3, allowed: f64) -> bool {
        let square = (second - first).norm_squared();
        let [least, most] = [(self.rest[link] - allowed).max(0.0), self.rest[link] + allowed];
        square < least * least || square > most * most
    }

    #[inline]
    fn reach<T: Lanes>(&self, link: T::Which) -> T {
        T::gather(self.scale, link)
    }
}

/// Of velocities: how fast links grow `[m/s]` along directions that stay (\[BDB09\] section 3.3).
pub(crate) struct Rates<'a> {
    /// Of links, from their first particle to their second.
    pub directions: &'a [V3],
}

impl LinkError for Rates<'_> {
    /// They do not change.
    const KEPT: u32 = u32::MAX;

    #[inline]
    fn of<T: Lanes>(&self, link: T::Which, first: &Vector3<T>, second: &Vector3<T>, forward: T) -> (Vector3<T>, T) {
        let n = T::gather_vectors(self.directions, link) * forward;
        (n, n.dot(&(second - first)))
    }

    fn along(&self, _: usize, n: &V3, first: &V3, second: &V3) -> f64 {
        n.dot(&(second - first))
    }

    fn is_off(&self, link: usize, first: &V3, second: &V3, allowed: f64) -> bool {
        self.directions[link].dot(&(second - first)).abs() > allowed
    }

    #[inline]
    fn reach<T: Lanes>(&self, _: T::Which) -> T {
        T::splat(f64::INFINITY)
    }
}
