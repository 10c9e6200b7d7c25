//! Triangular factors that are near those of a block matrix, with blocks only where it has some.
//!
//! \[MV77\] J. A. Meijerink, H. A. van der Vorst: An Iterative Solution Method for Linear Systems of Which the Coefficient
//! Matrix is a Symmetric M-Matrix. Math. Comp. 31, 1977: incomplete Cholesky factors.
//!
//! Where these do not exist, as often in curved cloth, the diagonal is made heavier. Where they may not be too small, as in a
//! cycle over levels, symmetric Gauss-Seidel takes their place: L = (D + lower) D^-½, whose product is never less than the matrix.
//!
//! They only have to be near the matrix, so they are applied in single precision, a column of a block to a register. Pieces of
//! rows are factorised without what lies between them.

use std::{cmp::Ordering, ops::Range};

use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;

use crate::{
    blocks::{Blocks, piece_size},
    solve::{Constraint, constrained, constrained_diagonal},
};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// A vector or a column, with a fourth number that is 0.
type Lanes = [f32; 4];

/// A ≈ L Lᵀ.
#[derive(Default)]
pub(crate) struct Factors {
    pieces: Vec<Piece>,
}

/// Of some rows; columns count from the first of them.
#[derive(Default)]
struct Piece {
    /// Where the blocks of each row below the diagonal begin.
    starts: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<M3>,
    /// Inverses of the blocks on the diagonal.
    diagonal: Vec<M3>,
    /// Both in single precision.
    packed: Vec<[Lanes; 3]>,
    packed_diagonal: Vec<[Lanes; 3]>,
    x: Vec<Lanes>,
}

impl Factors {
    /// Incomplete Cholesky factors of a matrix without what constraints fix, of one with a heavier diagonal where need be.
    pub fn factorise(&mut self, matrix: &Blocks, constraints: &[Constraint]) {
        self.prepare(matrix, |piece, rows| {
            let heavier = [1.0, 1.001, 1.01, 1.1];
            if !heavier.into_iter().any(|heavier| piece.factorise(matrix, constraints, rows.clone(), Some(heavier))) {
                piece.factorise(matrix, constraints, rows, None);
            }
        });
    }

    /// Those of symmetric Gauss-Seidel.
    pub fn gauss_seidel(&mut self, matrix: &Blocks) {
        self.prepare(matrix, |piece, rows| {
            piece.factorise(matrix, &[], rows, None);
        });
    }

    fn prepare(&mut self, matrix: &Blocks, factorise: impl Fn(&mut Piece, Range<usize>) + Sync) {
        let rows: Vec<Range<usize>> = matrix.pieces().collect();
        self.pieces.resize_with(rows.len(), Piece::default);
        self.pieces.par_iter_mut().zip(rows).for_each(|(piece, rows)| {
            factorise(piece, rows);
            piece.pack();
        });
    }

    /// x = (L Lᵀ)⁻¹ b.
    pub fn solve(&mut self, b: &[V3], x: &mut [V3]) {
        let size = piece_size(b.len());
        if let [piece] = &mut self.pieces[..] {
            return piece.solve(b, x);
        }
        let pieces = self.pieces.par_iter_mut().zip(b.par_chunks(size)).zip(x.par_chunks_mut(size));
        pieces.for_each(|((piece, b), x)| piece.solve(b, x));
    }
}

impl Piece {
    /// Incomplete Cholesky with a diagonal so many times as heavy, or none: Gauss-Seidel. False if that has no factors.
    fn factorise(
        &mut self,
        matrix: &Blocks,
        constraints: &[Constraint],
        rows: Range<usize>,
        heavier: Option<f64>,
    ) -> bool {
        let Self { starts, columns, values, diagonal, .. } = self;
        starts.clear();
        columns.clear();
        values.clear();
        diagonal.clear();
        starts.push(0);
        for i in rows.clone() {
            let first = columns.len();
            let mut own = heavier.unwrap_or(1.0) * constrained_diagonal(matrix.diagonal(i), constraints, i);
            let (of_row, blocks) = matrix.row(i);
            for (&k, block) in of_row.iter().zip(&blocks[..blocks.len() - 1]) {
                let Some(local) = (k as usize).checked_sub(rows.start) else { continue };
                let mut block = constrained(block, constraints, [i, k as usize]);
                if heavier.is_some() {
                    // Σ L_ij L_kjᵀ over common j < k; both rows are in order.
                    let of_k = starts[local] as usize..starts[local + 1] as usize;
                    let (mut a, mut b) = (first, of_k.start);
                    while a < columns.len() && b < of_k.end {
                        match columns[a].cmp(&columns[b]) {
                            Ordering::Less => a += 1,
                            Ordering::Greater => b += 1,
                            Ordering::Equal => {
                                block -= values[a] * values[b].transpose();
                                a += 1;
                                b += 1;
                            }
                        }
                    }
                }
                block *= diagonal[local].transpose();
                if heavier.is_some() {
                    own -= block * block.transpose();
                }
                columns.push(local as u32);
                values.push(block);
            }
            let inverse = own.cholesky().and_then(|factor| factor.l().try_inverse());
            let inverse = inverse.filter(|inverse| inverse.iter().all(|x| x.is_finite()));
            if heavier.is_some() && inverse.is_none() {
                return false;
            }
            diagonal.push(inverse.unwrap_or_else(M3::identity));
            starts.push(columns.len() as u32);
        }
        true
    }

    fn pack(&mut self) {
        let pack = |block: &M3| -> [Lanes; 3] {
            std::array::from_fn(|c| [block[(0, c)] as f32, block[(1, c)] as f32, block[(2, c)] as f32, 0.0])
        };
        self.packed.clear();
        self.packed.extend(self.values.iter().map(pack));
        self.packed_diagonal.clear();
        self.packed_diagonal.extend(self.diagonal.iter().map(pack));
    }

    fn solve(&mut self, b: &[V3], x: &mut [V3]) {
        let y = &mut self.x;
        y.resize(b.len(), [0.0; 4]);
        for i in 0..b.len() {
            let row = self.starts[i] as usize..self.starts[i + 1] as usize;
            let mut sum = [b[i].x as f32, b[i].y as f32, b[i].z as f32, 0.0];
            for (k, block) in self.columns[row.clone()].iter().zip(&self.packed[row]) {
                let less = times(block, &y[*k as usize]);
                sum = std::array::from_fn(|l| sum[l] - less[l]);
            }
            y[i] = times(&self.packed_diagonal[i], &sum);
        }
        for i in (0..b.len()).rev() {
            let own = transposed_times(&self.packed_diagonal[i], &y[i]);
            let row = self.starts[i] as usize..self.starts[i + 1] as usize;
            for (k, block) in self.columns[row.clone()].iter().zip(&self.packed[row]) {
                let less = transposed_times(block, &own);
                let to = &mut y[*k as usize];
                *to = std::array::from_fn(|l| to[l] - less[l]);
            }
            x[i] = V3::new(own[0].into(), own[1].into(), own[2].into());
        }
    }
}

fn times(columns: &[Lanes; 3], x: &Lanes) -> Lanes {
    std::array::from_fn(|l| columns[0][l] * x[0] + columns[1][l] * x[1] + columns[2][l] * x[2])
}

fn transposed_times(columns: &[Lanes; 3], x: &Lanes) -> Lanes {
    let dot = |c: &Lanes| c[0] * x[0] + c[1] * x[1] + c[2] * x[2];
    [dot(&columns[0]), dot(&columns[1]), dot(&columns[2]), 0.0]
}
