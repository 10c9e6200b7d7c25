//! What paths are swept on, by one thread or by many.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering},
};

use bytemuck::cast_slice_mut;
use nalgebra::Vector3;
use zerocopy::transmute_mut;

use crate::lanes::{Four, LANES, four_vectors};

type V3 = Vector3<f64>;

/// Values of particles, and what links gave so far. A thread writes no value that another one reads or writes until all have met: that is for
/// the caller to see to, else results are not the same again.
pub(crate) trait Values {
    /// Of these particles.
    fn gather(&self, particles: [u32; LANES]) -> Vector3<Four>;

    fn add(&self, particle: u32, change: &V3);

    /// What a link gave so far.
    fn pulled(&self, link: u32) -> f64;

    /// Notes that a link gives more.
    fn book(&self, link: u32, impulse: f64);
}

/// For one thread.
pub(crate) struct Own<'a> {
    y: &'a [Cell<V3>],
    pulls: &'a [Cell<f64>],
}

impl<'a> Own<'a> {
    pub fn new(y: &'a mut [V3], pulls: &'a mut [f64]) -> Self {
        Self { y: Cell::from_mut(y).as_slice_of_cells(), pulls: Cell::from_mut(pulls).as_slice_of_cells() }
    }
}

impl Values for Own<'_> {
    #[inline]
    fn gather(&self, particles: [u32; LANES]) -> Vector3<Four> {
        let [a, b, c, d] = particles.map(|k| &self.y[k as usize]);
        four_vectors(a.get(), b.get(), c.get(), d.get())
    }

    #[inline]
    fn add(&self, particle: u32, change: &V3) {
        let y = &self.y[particle as usize];
        y.set(y.get() + change);
    }

    #[inline]
    fn pulled(&self, link: u32) -> f64 {
        self.pulls[link as usize].get()
    }

    #[inline]
    fn book(&self, link: u32, impulse: f64) {
        let pull = &self.pulls[link as usize];
        pull.set(pull.get() + impulse);
    }
}

/// For many threads at once, a twentieth slower for each.
pub(crate) struct Shared<'a> {
    y: &'a [[AtomicU64; 3]],
    pulls: &'a [AtomicU64],
}

impl<'a> Shared<'a> {
    pub fn new(y: &'a mut [V3], pulls: &'a mut [f64]) -> Self {
        let y: &mut [[f64; 3]] = cast_slice_mut(y);
        Self { y: transmute_mut!(y), pulls: transmute_mut!(pulls) }
    }
}

impl Values for Shared<'_> {
    #[inline]
    fn gather(&self, particles: [u32; LANES]) -> Vector3<Four> {
        let [a, b, c, d] = particles.map(|k| &self.y[k as usize]);
        four_vectors(get_vector(a), get_vector(b), get_vector(c), get_vector(d))
    }

    #[inline]
    fn add(&self, particle: u32, change: &V3) {
        let [x, y, z] = &self.y[particle as usize];
        add(x, change.x);
        add(y, change.y);
        add(z, change.z);
    }

    #[inline]
    fn pulled(&self, link: u32) -> f64 {
        get(&self.pulls[link as usize])
    }

    #[inline]
    fn book(&self, link: u32, impulse: f64) {
        add(&self.pulls[link as usize], impulse);
    }
}

#[inline]
fn get(number: &AtomicU64) -> f64 {
    f64::from_bits(number.load(Ordering::Relaxed))
}

#[inline]
fn get_vector([x, y, z]: &[AtomicU64; 3]) -> V3 {
    V3::new(get(x), get(y), get(z))
}

#[inline]
fn add(number: &AtomicU64, change: f64) {
    number.store((get(number) + change).to_bits(), Ordering::Relaxed);
}
