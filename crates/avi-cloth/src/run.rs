//! Stretches of lists that keep the numbers which they have in the whole, so that a list can be shared out among threads.

use std::ops::{Index, IndexMut};

/// Part of a list.
#[derive(Debug)]
pub(crate) struct Run<'a, T> {
    first: usize,
    pub items: &'a mut [T],
}

impl<'a, T> Run<'a, T> {
    /// A whole list.
    pub fn of(items: &'a mut [T]) -> Self {
        Self { first: 0, items }
    }

    /// What is before a number, and the rest.
    pub fn split(self, at: usize) -> (Self, Self) {
        let (before, rest) = self.items.split_at_mut(at - self.first);
        (Self { first: self.first, items: before }, Self { first: at, items: rest })
    }

    /// The same for a while.
    pub fn lend(&mut self) -> Run<'_, T> {
        Run { first: self.first, items: self.items }
    }

    /// None if it is in another part.
    #[inline(always)]
    pub fn get_mut(&mut self, number: usize) -> Option<&mut T> {
        self.items.get_mut(number.wrapping_sub(self.first))
    }
}

impl<T> Index<usize> for Run<'_, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, number: usize) -> &T {
        &self.items[number.wrapping_sub(self.first)]
    }
}

impl<T> IndexMut<usize> for Run<'_, T> {
    #[inline(always)]
    fn index_mut(&mut self, number: usize) -> &mut T {
        &mut self.items[number.wrapping_sub(self.first)]
    }
}

/// Something of each element: of patches, then of folds, each a run.
#[derive(Debug)]
pub(crate) struct OfElements<'a, T> {
    patches: Run<'a, T>,
    folds: Run<'a, T>,
}

impl<'a, T> OfElements<'a, T> {
    /// Of all elements, so many of which are patches; or of none, where the list is empty.
    pub fn of(items: &'a mut [T], patches: usize) -> Self {
        let at = patches.min(items.len());
        let (patches, folds) = Run::of(items).split(at);
        Self { patches, folds }
    }

    /// What is before a patch and before a fold, and the rest.
    pub fn split(self, [patch, fold]: [usize; 2]) -> (Self, Self) {
        let of_none = self.patches.items.is_empty() && self.folds.items.is_empty();
        let [patch, fold] = if of_none { [self.patches.first, self.folds.first] } else { [patch, fold] };
        let ((patches, more_patches), (folds, more_folds)) = (self.patches.split(patch), self.folds.split(fold));
        (Self { patches, folds }, Self { patches: more_patches, folds: more_folds })
    }

    /// The same for a while.
    pub fn lend(&mut self) -> OfElements<'_, T> {
        OfElements { patches: self.patches.lend(), folds: self.folds.lend() }
    }

    /// None if it is in another part, or there are none.
    #[inline(always)]
    pub fn get_mut(&mut self, element: usize) -> Option<&mut T> {
        if element < self.folds.first { self.patches.get_mut(element) } else { self.folds.get_mut(element) }
    }
}

impl<T> Index<usize> for OfElements<'_, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, element: usize) -> &T {
        if element < self.folds.first { &self.patches[element] } else { &self.folds[element] }
    }
}

impl<T> IndexMut<usize> for OfElements<'_, T> {
    #[inline(always)]
    fn index_mut(&mut self, element: usize) -> &mut T {
        if element < self.folds.first { &mut self.patches[element] } else { &mut self.folds[element] }
    }
}
