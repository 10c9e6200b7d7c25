//! A sparse symmetric matrix of 3 x 3 blocks, one row and column a vertex, of which it keeps the lower triangle.
//!
//! sprs keeps the pattern; the values are blocks, which its own product does not know, and which are three times as fast as the
//! same numbers one by one.
//!
//! Rows are in pieces that follow from their number only, so that what is summed in pieces has the same bits for any number of
//! threads.

use std::ops::Range;

use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;
use sprs::{CsMatI, TriMatI};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Least rows of a piece of parallel work.
const PIECE: usize = 2048;

/// With diagonal blocks in every row.
#[derive(Clone)]
pub(crate) struct Blocks {
    matrix: CsMatI<M3, u32>,
    /// Of each piece, the first column with a block.
    first: Vec<u32>,
}

/// What products of the pieces add to rows before them.
pub(crate) type Spills = Vec<Vec<V3>>;

/// Rows of a piece, among so many.
pub(crate) fn piece_size(rows: usize) -> usize {
    rows.div_ceil((rows / PIECE).max(1)).max(1)
}

impl Blocks {
    /// All zero, with room at the given places, their mirror images and the diagonal.
    pub fn new(rows: usize, places: impl Iterator<Item = [u32; 2]>) -> Self {
        let mut all: Vec<[u32; 2]> = places.map(|[i, j]| [i.max(j), i.min(j)]).collect();
        all.extend((0..rows as u32).map(|i| [i, i]));
        all.sort_unstable();
        all.dedup();
        let mut triplets = TriMatI::new((rows, rows));
        all.iter().for_each(|&[i, j]| triplets.add_triplet(i as usize, j as usize, 0_u8));
        let matrix: CsMatI<u8, u32> = triplets.to_csr();
        let mut blocks = Self { matrix: matrix.map(|_| M3::zeros()), first: vec![] };
        let lowest = |piece: Range<usize>| piece.map(|row| blocks.row(row).0[0]).min().unwrap_or_default();
        blocks.first = blocks.pieces().map(lowest).collect();
        blocks
    }

    pub fn rows(&self) -> usize {
        self.matrix.rows()
    }

    /// Rows that are worked on together.
    pub fn pieces(&self) -> impl ExactSizeIterator<Item = Range<usize>> + use<> {
        let (rows, size) = (self.rows(), piece_size(self.rows()));
        (0..rows.div_ceil(size)).map(move |piece| piece * size..rows.min((piece + 1) * size))
    }

    /// Where the block of a row, and of a column no farther than that, is among the values, if there is room.
    pub fn place(&self, row: u32, column: u32) -> Option<u32> {
        self.matrix.nnz_index(row as usize, column as usize).map(|place| place.0 as u32)
    }

    pub fn clear(&mut self) {
        self.matrix.data_mut().fill(M3::zeros());
    }

    pub fn values(&mut self) -> &mut [M3] {
        self.matrix.data_mut()
    }

    /// The values of each piece of rows, and how many there are before them.
    pub fn values_of_pieces(&mut self) -> Vec<(usize, &mut [M3])> {
        let starts: Vec<usize> = self.pieces().map(|piece| self.start(piece.start)).collect();
        let mut rest = self.matrix.data_mut();
        let mut all = Vec::with_capacity(starts.len());
        for (k, &start) in starts.iter().enumerate() {
            let length = starts.get(k + 1).map_or(rest.len(), |next| next - start);
            let (own, after) = rest.split_at_mut(length);
            all.push((start, own));
            rest = after;
        }
        all
    }

    fn start(&self, row: usize) -> usize {
        self.matrix.indptr().raw_storage()[row] as usize
    }

    pub fn diagonal(&self, row: usize) -> &M3 {
        &self.matrix.data()[self.start(row + 1) - 1]
    }

    pub fn diagonal_mut(&mut self, row: usize) -> &mut M3 {
        let place = self.start(row + 1) - 1;
        &mut self.matrix.data_mut()[place]
    }

    /// Columns and blocks of a row up to its diagonal, in order.
    pub fn row(&self, row: usize) -> (&[u32], &[M3]) {
        let range = self.start(row)..self.start(row + 1);
        (&self.matrix.indices()[range.clone()], &self.matrix.data()[range])
    }

    /// out = A x.
    pub fn product(&self, x: &[V3], out: &mut [V3], spills: &mut Spills) {
        spills.resize_with(self.first.len(), Vec::new);
        let size = piece_size(self.rows());
        if let ([spill], [_]) = (&mut spills[..], &self.first[..]) {
            self.product_of(0, x, out, spill);
            return;
        }
        let pieces = out.par_chunks_mut(size).zip(&mut *spills).enumerate();
        pieces.for_each(|(piece, (out, spill))| self.product_of(piece, x, out, spill));
        out.par_chunks_mut(size).enumerate().for_each(|(piece, out)| {
            let own = piece * size..piece * size + out.len();
            for (spill, first) in spills.iter().zip(&self.first).skip(piece + 1) {
                let first = *first as usize;
                let both = own.start.max(first)..own.end.min(first + spill.len());
                for k in both {
                    out[k - own.start] += spill[k - first];
                }
            }
        });
    }

    /// What the rows of a piece give to themselves, and to those before.
    fn product_of(&self, piece: usize, x: &[V3], out: &mut [V3], spill: &mut Vec<V3>) {
        let (begin, first) = (piece * piece_size(self.rows()), self.first[piece] as usize);
        spill.clear();
        spill.resize(begin.saturating_sub(first), V3::zeros());
        for k in 0..out.len() {
            let (columns, blocks) = self.row(begin + k);
            let of_row = &x[begin + k];
            let mut sum = times(&blocks[blocks.len() - 1], of_row);
            for (&column, block) in columns.iter().zip(&blocks[..blocks.len() - 1]) {
                let column = column as usize;
                sum += times(block, &x[column]);
                let to = if column >= begin { &mut out[column - begin] } else { &mut spill[column - first] };
                *to += transposed_times(block, of_row);
            }
            out[k] = sum;
        }
    }
}

fn times(block: &M3, x: &V3) -> V3 {
    block.column(0) * x.x + block.column(1) * x.y + block.column(2) * x.z
}

fn transposed_times(block: &M3, x: &V3) -> V3 {
    let b = block;
    V3::new(
        b.m11 * x.x + b.m21 * x.y + b.m31 * x.z,
        b.m12 * x.x + b.m22 * x.y + b.m32 * x.z,
        b.m13 * x.x + b.m23 * x.y + b.m33 * x.z,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against sprs' own product of the same numbers one by one, at sizes with one and with several pieces of work.
    #[test]
    fn products_are_those_of_sprs() {
        for rows in [5_u32, 300, 5000] {
            let places = (0..rows).flat_map(|i| [[i, (7 * i + 3) % rows], [i, (i * i) % rows]]);
            let mut blocks = Blocks::new(rows as usize, places.filter(|[i, j]| i != j));
            for (k, block) in blocks.values().iter_mut().enumerate() {
                *block = M3::from_fn(|i, j| ((k * 9 + 3 * i + j) as f64).sin());
            }
            (0..rows as usize).for_each(|row| blocks.diagonal_mut(row).fill_lower_triangle_with_upper_triangle());
            let mut numbers = sprs::TriMat::new((3 * rows as usize, 3 * rows as usize));
            for row in 0..rows as usize {
                let (columns, values) = blocks.row(row);
                for (&column, block) in columns.iter().zip(values) {
                    for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
                        let (of_row, of_column) = (3 * row + i, 3 * column as usize + j);
                        numbers.add_triplet(of_row, of_column, block[(i, j)]);
                        if row != column as usize {
                            numbers.add_triplet(of_column, of_row, block[(i, j)]);
                        }
                    }
                }
            }
            let x: Vec<V3> = (0..rows).map(|k| V3::from_fn(|i, _| (f64::from(k) + 0.3 * i as f64).cos())).collect();
            let flat: Vec<f64> = x.iter().flat_map(|x| [x.x, x.y, x.z]).collect();
            let mut expected = vec![0.0; flat.len()];
            sprs::prod::mul_acc_mat_vec_csr(numbers.to_csr::<usize>().view(), &flat, &mut expected[..]);
            let mut out = vec![V3::zeros(); rows as usize];
            blocks.product(&x, &mut out, &mut Spills::default());
            let worst = out.iter().zip(expected.chunks(3)).map(|(a, b)| (a - V3::from_column_slice(b)).norm());
            assert!(worst.fold(0.0, f64::max) < 1e-11);
        }
    }
}
