//! A sparse symmetric matrix of 3 x 3 blocks, one row and column a vertex.
//!
//! sprs keeps the pattern; the values are blocks, which its own product does not know, and which are three times as fast as the
//! same numbers one by one.

use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;
use sprs::{CsMatI, TriMatI};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Rows of one piece of parallel work, and from how many rows on a second thread is worth it.
const PIECE: usize = 256;
const PARALLEL: usize = 4096;

/// With diagonal blocks in every row.
#[derive(Clone)]
pub(crate) struct Blocks {
    matrix: CsMatI<M3, u32>,
    diagonal: Vec<u32>,
}

impl Blocks {
    /// All zero, with room at the given places, their mirror images and the diagonal.
    pub fn new(rows: usize, places: impl Iterator<Item = [u32; 2]>) -> Self {
        let mut all: Vec<[u32; 2]> = places.flat_map(|[i, j]| [[i, j], [j, i]]).collect();
        all.extend((0..rows as u32).map(|i| [i, i]));
        all.sort_unstable();
        all.dedup();
        let mut triplets = TriMatI::new((rows, rows));
        all.iter().for_each(|&[i, j]| triplets.add_triplet(i as usize, j as usize, 0_u8));
        let matrix: CsMatI<u8, u32> = triplets.to_csr();
        let matrix = matrix.map(|_| M3::zeros());
        let place = |i: usize| matrix.nnz_index(i, i).expect("the diagonal is there").0 as u32;
        Self { diagonal: (0..rows).map(place).collect(), matrix }
    }

    /// Where the block of a row and column is among the values.
    ///
    /// # Panics
    /// There is no room at that place.
    pub fn place(&self, row: u32, column: u32) -> u32 {
        self.matrix.nnz_index(row as usize, column as usize).expect("room was made for it").0 as u32
    }

    pub fn rows(&self) -> usize {
        self.diagonal.len()
    }

    pub fn clear(&mut self) {
        self.matrix.data_mut().fill(M3::zeros());
    }

    pub fn values(&mut self) -> &mut [M3] {
        self.matrix.data_mut()
    }

    pub fn diagonal(&self, row: usize) -> &M3 {
        &self.matrix.data()[self.diagonal[row] as usize]
    }

    pub fn diagonal_mut(&mut self, row: usize) -> &mut M3 {
        &mut self.matrix.data_mut()[self.diagonal[row] as usize]
    }

    /// The blocks of a row and their columns, in order.
    pub fn row(&self, row: usize) -> impl DoubleEndedIterator<Item = (u32, &M3)> {
        let indptr = self.matrix.indptr();
        let range = indptr.outer_inds_sz(row);
        self.matrix.indices()[range.clone()].iter().copied().zip(&self.matrix.data()[range])
    }

    /// out = A x.
    pub fn product(&self, x: &[V3], out: &mut [V3]) {
        let starts = self.matrix.indptr();
        let (starts, columns, values) = (starts.raw_storage(), self.matrix.indices(), self.matrix.data());
        let rows = |first: usize, out: &mut [V3]| {
            for (k, out) in out.iter_mut().enumerate() {
                let range = starts[first + k] as usize..starts[first + k + 1] as usize;
                let mut sum = V3::zeros();
                for (column, block) in columns[range.clone()].iter().zip(&values[range]) {
                    sum += block * x[*column as usize];
                }
                *out = sum;
            }
        };
        if out.len() < PARALLEL {
            rows(0, out);
        } else {
            out.par_chunks_mut(PIECE).enumerate().for_each(|(piece, out)| rows(piece * PIECE, out));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against sprs' own product of the same numbers one by one, at a size with several pieces of work.
    #[test]
    fn products_are_those_of_sprs() {
        for rows in [5_u32, 300, 5000] {
            let places = (0..rows).flat_map(|i| [[i, (7 * i + 3) % rows], [i, (i * i) % rows]]);
            let mut blocks = Blocks::new(rows as usize, places.filter(|[i, j]| i != j));
            for (k, block) in blocks.values().iter_mut().enumerate() {
                *block = M3::from_fn(|i, j| ((k * 9 + 3 * i + j) as f64).sin());
            }
            let mut numbers = sprs::TriMat::new((3 * rows as usize, 3 * rows as usize));
            for row in 0..rows as usize {
                for (column, block) in blocks.row(row) {
                    for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
                        numbers.add_triplet(3 * row + i, 3 * column as usize + j, block[(i, j)]);
                    }
                }
            }
            let x: Vec<V3> = (0..rows).map(|k| V3::from_fn(|i, _| (f64::from(k) + 0.3 * i as f64).cos())).collect();
            let flat: Vec<f64> = x.iter().flat_map(|x| [x.x, x.y, x.z]).collect();
            let mut expected = vec![0.0; flat.len()];
            sprs::prod::mul_acc_mat_vec_csr(numbers.to_csr::<usize>().view(), &flat, &mut expected[..]);
            let mut out = vec![V3::zeros(); rows as usize];
            blocks.product(&x, &mut out);
            let worst = out.iter().zip(expected.chunks(3)).map(|(a, b)| (a - V3::from_column_slice(b)).norm());
            assert!(worst.fold(0.0, f64::max) < 1e-12);
        }
    }
}
