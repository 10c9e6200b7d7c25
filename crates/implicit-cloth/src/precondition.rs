//! What conjugate gradients are preconditioned with.

use nalgebra::{Matrix3, Vector3};

use crate::{
    Preconditioner, blocks::Blocks, cholesky::Cholesky, incomplete::Factors, multilevel::Multilevel, solve::Constraint,
};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Memory of all of them, and which one there is.
#[derive(Default)]
pub(crate) struct Preconditioners {
    is: Preconditioner,
    inverses: Vec<M3>,
    factors: Factors,
    levels: Multilevel,
    cholesky: Cholesky,
}

impl Preconditioners {
    /// Takes over a matrix without what constraints fix; always of the same pattern.
    pub fn prepare(&mut self, matrix: &Blocks, constraints: &[Constraint], wanted: Preconditioner) {
        self.is = match wanted.for_rows(matrix.rows()) {
            // What rounding makes indefinite still has incomplete factors.
            Preconditioner::Cholesky if !self.cholesky.factorise(matrix, constraints) => {
                Preconditioner::IncompleteCholesky
            }
            other => other,
        };
        match self.is {
            Preconditioner::Auto | Preconditioner::Cholesky => {}
            Preconditioner::BlockJacobi => {
                let inverse = |row| matrix.diagonal(row).try_inverse().unwrap_or_else(M3::identity);
                self.inverses.clear();
                self.inverses.extend((0..matrix.rows()).map(inverse));
            }
            Preconditioner::IncompleteCholesky => self.factors.factorise(matrix, constraints),
            Preconditioner::Multilevel => {
                self.factors.factorise(matrix, constraints);
                self.levels.prepare(matrix, constraints);
            }
        }
    }

    /// Nearly A⁻¹ r, where `r` has nothing in what constraints fix; `out` may have.
    pub fn apply(&mut self, r: &[V3], out: &mut [V3]) {
        match self.is {
            Preconditioner::Auto | Preconditioner::BlockJacobi => {
                out.iter_mut().zip(r).zip(&self.inverses).for_each(|((out, r), inverse)| *out = inverse * r);
            }
            Preconditioner::IncompleteCholesky => self.factors.solve(r, out),
            Preconditioner::Multilevel => {
                self.factors.solve(r, out);
                self.levels.add(r, out);
            }
            Preconditioner::Cholesky => self.cholesky.solve(r, out),
        }
    }
}
