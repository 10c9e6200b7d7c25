//! The linear system of a step: conjugate gradients that keep constraints to the last bit.
//!
//! \[BW98\] D. Baraff, A. Witkin: Large Steps in Cloth Simulation. SIGGRAPH 1998, section 5: modified PCG. What constraints
//! fix is set at the begin, and every direction of the search is filtered, so it stays as it was set.
//! \[MV77\] J. A. Meijerink, H. A. van der Vorst: An Iterative Solution Method for Linear Systems of Which the Coefficient
//! Matrix is a Symmetric M-Matrix. Math. Comp. 31, 1977: incomplete factors.

use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};

use crate::{Preconditioner, blocks::Blocks, links::Link};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// What of a vertex' velocity is given.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) enum Constraint {
    #[default]
    Free,
    /// Along this unit vector.
    Along(V3),
    /// All of it.
    Fixed,
}

impl Constraint {
    /// Without what is given.
    pub fn filter(&self, v: &V3) -> V3 {
        match self {
            Self::Free => *v,
            Self::Along(n) => v - n.dot(v) * n,
            Self::Fixed => V3::zeros(),
        }
    }
}

/// A matrix, and contacts on top of it whose diagonal blocks it holds already: c_i c_j `block` in rows and columns i, j.
pub(crate) struct System<'a> {
    pub matrix: &'a Blocks,
    pub links: &'a [(Link, M3)],
}

impl System<'_> {
    pub fn product(&self, x: &[V3], out: &mut [V3]) {
        self.matrix.product(x, out);
        let n = x.len();
        for (link, block) in self.links {
            let whole = link.sum(|v| x[v], n);
            for (v, c) in link.parts(n) {
                out[v] += c * (block * (whole - c * x[v]));
            }
        }
    }
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Solved {
    pub iterations: u32,
    /// Left over, relative to the begin, in the preconditioner's norm.
    pub error: f64,
}

/// Memory and factors of solves.
#[derive(Default)]
pub(crate) struct Solver {
    residual: Vec<V3>,
    direction: Vec<V3>,
    image: Vec<V3>,
    preconditioned: Vec<V3>,
    inverses: Vec<M3>,
    factors: Factors,
}

impl Solver {
    /// Takes over a matrix.
    pub fn prepare(&mut self, matrix: &Blocks, preconditioner: Preconditioner) {
        self.factors.rows.clear();
        if preconditioner == Preconditioner::IncompleteCholesky && self.factors.factorise(matrix) {
            return;
        }
        self.factors.rows.clear();
        self.inverses.clear();
        let inverse = |row| matrix.diagonal(row).try_inverse().unwrap_or_else(M3::identity);
        self.inverses.extend((0..matrix.rows()).map(inverse));
    }

    /// Makes `x`, whose constrained parts are as they have to be, a solution of A x = b in the others.
    pub fn solve(
        &mut self,
        system: &System<'_>,
        b: &[V3],
        constraints: &[Constraint],
        x: &mut [V3],
        tolerance: f64,
        most: u32,
    ) -> Solved {
        let n = system.matrix.rows();
        for memory in [&mut self.residual, &mut self.direction, &mut self.image, &mut self.preconditioned] {
            memory.resize(n, V3::zeros());
        }
        let filter = |of: &mut [V3]| of.iter_mut().zip(constraints).for_each(|(v, c)| *v = c.filter(v));

        // The scale: what a start from rest, but for what is given, would leave.
        let mut given: Vec<V3> = x.iter().zip(constraints).map(|(x, c)| x - c.filter(x)).collect();
        system.product(&given, &mut self.image);
        given.iter_mut().zip(b).zip(&self.image).for_each(|((r, b), a)| *r = b - a);
        filter(&mut given);
        self.precondition(&given, constraints);
        let scale = dot(&given, &self.preconditioned);
        let enough = tolerance * tolerance * scale;

        system.product(x, &mut self.image);
        self.residual.iter_mut().zip(b).zip(&self.image).for_each(|((r, b), a)| *r = b - a);
        filter(&mut self.residual);
        let residual = std::mem::take(&mut self.residual);
        self.precondition(&residual, constraints);
        self.residual = residual;
        self.direction.copy_from_slice(&self.preconditioned);
        let mut left = dot(&self.residual, &self.preconditioned);
        let mut iterations = 0;
        while left > enough && iterations < most {
            system.product(&self.direction, &mut self.image);
            filter(&mut self.image);
            let step = left / dot(&self.direction, &self.image);
            if !step.is_finite() {
                break;
            }
            x.iter_mut().zip(&self.direction).for_each(|(x, d)| *x += step * d);
            self.residual.iter_mut().zip(&self.image).for_each(|(r, image)| *r -= step * image);
            let residual = std::mem::take(&mut self.residual);
            self.precondition(&residual, constraints);
            let before = left;
            left = dot(&residual, &self.preconditioned);
            self.residual = residual;
            for (d, p) in self.direction.iter_mut().zip(&self.preconditioned) {
                *d = p + left / before * *d;
            }
            iterations += 1;
        }
        Solved { iterations, error: if scale > 0.0 { (left / scale).sqrt() } else { 0.0 } }
    }

    fn precondition(&mut self, of: &[V3], constraints: &[Constraint]) {
        if self.factors.rows.is_empty() {
            self.preconditioned.iter_mut().zip(of).zip(&self.inverses).for_each(|((p, r), inverse)| *p = inverse * r);
        } else {
            self.factors.solve(of, &mut self.preconditioned);
        }
        self.preconditioned.iter_mut().zip(constraints).for_each(|(p, c)| *p = c.filter(p));
    }
}

fn dot(a: &[V3], b: &[V3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
}

/// A ≈ L Lᵀ, with L where A has blocks only.
#[derive(Default)]
struct Factors {
    /// Where the blocks of each row below the diagonal begin.
    rows: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<M3>,
    /// Inverses of the blocks on the diagonal.
    diagonal: Vec<M3>,
}

impl Factors {
    /// False if there is none even with a heavier diagonal.
    fn factorise(&mut self, matrix: &Blocks) -> bool {
        [0.0, 1e-3, 1e-2, 0.1].into_iter().any(|more| self.try_factorise(matrix, 1.0 + more))
    }

    fn try_factorise(&mut self, matrix: &Blocks, heavier: f64) -> bool {
        let Self { rows, columns, values, diagonal } = self;
        rows.clear();
        columns.clear();
        values.clear();
        diagonal.clear();
        rows.push(0);
        for i in 0..matrix.rows() {
            let first = columns.len();
            let mut own = heavier * matrix.diagonal(i);
            for (k, block) in matrix.row(i).take_while(|(k, _)| (*k as usize) < i) {
                let mut sum = *block;
                // Σ L_ij L_kjᵀ over common j < k; both rows are in order.
                let of_k = rows[k as usize] as usize..rows[k as usize + 1] as usize;
                let (mut a, mut b) = (first, of_k.start);
                while a < columns.len() && b < of_k.end {
                    match columns[a].cmp(&columns[b]) {
                        std::cmp::Ordering::Less => a += 1,
                        std::cmp::Ordering::Greater => b += 1,
                        std::cmp::Ordering::Equal => {
                            sum -= values[a] * values[b].transpose();
                            a += 1;
                            b += 1;
                        }
                    }
                }
                let block = sum * diagonal[k as usize].transpose();
                own -= block * block.transpose();
                columns.push(k);
                values.push(block);
            }
            let inverse = own.cholesky().and_then(|factor| factor.l().try_inverse());
            let Some(inverse) = inverse.filter(|inverse| inverse.iter().all(|x| x.is_finite())) else { return false };
            diagonal.push(inverse);
            rows.push(columns.len() as u32);
        }
        true
    }

    fn solve(&self, b: &[V3], x: &mut [V3]) {
        for i in 0..b.len() {
            let row = self.rows[i] as usize..self.rows[i + 1] as usize;
            let mut sum = b[i];
            for (k, block) in self.columns[row.clone()].iter().zip(&self.values[row]) {
                sum -= block * x[*k as usize];
            }
            x[i] = self.diagonal[i] * sum;
        }
        for i in (0..b.len()).rev() {
            x[i] = self.diagonal[i].tr_mul(&x[i]);
            let row = self.rows[i] as usize..self.rows[i + 1] as usize;
            for (k, block) in self.columns[row.clone()].iter().zip(&self.values[row]) {
                let less = block.tr_mul(&x[i]);
                x[*k as usize] -= less;
            }
        }
    }
}
