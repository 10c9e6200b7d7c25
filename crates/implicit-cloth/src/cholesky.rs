//! The matrix' own Cholesky factors, by faer. Which numbers there are follows from the topology and is found once.

use faer::{
    Side,
    linalg::solvers::Solve,
    mat::MatMut,
    sparse::{
        SparseColMatRef, SymbolicSparseColMat,
        linalg::solvers::{Llt, SymbolicLlt},
    },
};
use nalgebra::Vector3;

use crate::{
    blocks::Blocks,
    solve::{Constraint, constrained, constrained_diagonal},
};

type V3 = Vector3<f64>;

/// A = L Lᵀ, permuted.
#[derive(Default)]
pub(crate) struct Cholesky {
    /// The pattern of single numbers in the upper triangle, which has a row of the lower one in each column.
    pattern: Option<(SymbolicSparseColMat<usize>, SymbolicLlt<usize>)>,
    values: Vec<f64>,
    factor: Option<Llt<usize, f64>>,
    x: Vec<f64>,
}

impl Cholesky {
    /// Of a matrix without what constraints fix; always of the same pattern. False if it is not positive definite.
    pub fn factorise(&mut self, matrix: &Blocks, constraints: &[Constraint]) -> bool {
        self.factor = None;
        if self.pattern.is_none() {
            let pattern = pattern(matrix);
            let Ok(symbolic) = SymbolicLlt::try_new(pattern.as_ref(), Side::Upper) else { return false };
            self.pattern = Some((pattern, symbolic));
        }
        let Some((pattern, symbolic)) = &self.pattern else { return false };
        self.values.clear();
        for i in 0..matrix.rows() {
            let (columns, blocks) = matrix.row(i);
            for axis in 0..3 {
                for (&k, block) in columns.iter().zip(blocks) {
                    let k = k as usize;
                    let block = if k == i {
                        constrained_diagonal(block, constraints, i)
                    } else {
                        constrained(block, constraints, [i, k])
                    };
                    let length = if k == i { axis + 1 } else { 3 };
                    self.values.extend((0..length).map(|other| block[(axis, other)]));
                }
            }
        }
        let numbers = SparseColMatRef::new(pattern.as_ref(), &self.values);
        self.factor = Llt::try_new_with_symbolic(symbolic.clone(), numbers, Side::Upper).ok();
        self.factor.is_some()
    }

    /// x = A⁻¹ b.
    pub fn solve(&mut self, b: &[V3], x: &mut [V3]) {
        let Some(factor) = &self.factor else { return };
        self.x.clear();
        self.x.extend(b.iter().flat_map(|b| [b.x, b.y, b.z]));
        factor.solve_in_place(MatMut::from_column_major_slice_mut(&mut self.x, 3 * b.len(), 1));
        x.iter_mut().zip(self.x.chunks(3)).for_each(|(x, own)| *x = V3::from_column_slice(own));
    }
}

fn pattern(matrix: &Blocks) -> SymbolicSparseColMat<usize> {
    let (mut starts, mut rows) = (vec![0], vec![]);
    for i in 0..matrix.rows() {
        for axis in 0..3 {
            for &k in matrix.row(i).0 {
                let k = k as usize;
                rows.extend((0..if k == i { axis + 1 } else { 3 }).map(|other| 3 * k + other));
            }
            starts.push(rows.len());
        }
    }
    let size = 3 * matrix.rows();
    SymbolicSparseColMat::new_checked(size, size, starts, None, rows)
}
