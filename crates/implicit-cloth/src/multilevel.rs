//! Coarse levels of a block matrix, which find what all of a sheet does together, so that iterations do not grow with the mesh.
//!
//! \[VMB96\] P. Vaněk, J. Mandel, M. Brezina: Algebraic Multigrid by Smoothed Aggregation for Second and Fourth Order
//! Elliptic Problems. Computing 56, 1996.
//!
//! Vertices are gathered with all their neighbours, and a vertex moves with the mean of what it and its neighbours are
//! gathered in, all axes alike: interpolation follows from the topology and is found once. The matrices between levels are
//! P^T A P. Different from the paper, weights do not depend on A, and what the levels find is added to what the
//! preconditioner of the finest one finds, rather than found in turns with it.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn, Matrix3, Vector3};

use crate::{
    blocks::{Blocks, Spills},
    incomplete::Factors,
    solve::{Constraint, constrained},
};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Rows from which on there is no coarser level.
const COARSEST: usize = 40;

/// How much the neighbours weigh in interpolation, and the least weight that counts [-].
const NEIGHBOURS: f64 = 2.0 / 3.0;
const LEAST: f64 = 0.1;

#[derive(Default)]
pub(crate) struct Multilevel {
    /// From fine to coarse; none where the matrix is small itself.
    levels: Vec<Level>,
    /// Of which the levels are.
    rows: usize,
    coarsest: Option<Cholesky<f64, Dyn>>,
}

impl Multilevel {
    /// Takes over a matrix without what constraints fix; always of the same pattern.
    pub fn prepare(&mut self, matrix: &Blocks, constraints: &[Constraint]) {
        if self.rows != matrix.rows() {
            self.rows = matrix.rows();
            self.levels.clear();
            let mut fine = matrix;
            while fine.rows() > COARSEST {
                let level = Level::new(fine);
                // What is in many parts gets no coarser.
                if 2 * level.matrix.rows() > fine.rows() {
                    break;
                }
                self.levels.push(level);
                fine = &self.levels[self.levels.len() - 1].matrix;
            }
        }
        for k in 0..self.levels.len() {
            let (finer, own) = self.levels.split_at_mut(k);
            match finer.last() {
                None => own[0].fill(matrix, constraints),
                Some(finer) => own[0].fill(&finer.matrix, &[]),
            }
        }
        self.coarsest = None;
        if let Some((last, others)) = self.levels.split_last_mut() {
            others.iter_mut().for_each(|level| level.factors.gauss_seidel(&level.matrix));
            self.coarsest = dense(&last.matrix).cholesky();
        }
    }

    /// Adds to x what the levels find of A⁻¹ r.
    pub fn add(&mut self, r: &[V3], x: &mut [V3]) {
        if let Some(coarsest) = &self.coarsest {
            correct(&mut self.levels, coarsest, r, x);
        }
    }
}

/// Adds to x what the levels find; between coarse ones in turns with Gauss-Seidel.
fn correct(levels: &mut [Level], coarsest: &Cholesky<f64, Dyn>, r: &[V3], x: &mut [V3]) {
    let Some((level, coarser)) = levels.split_first_mut() else { return };
    let Level { interpolation, matrix, factors, b, own, residual, more, spills, .. } = level;
    for memory in [&mut *b, own, residual, more] {
        memory.clear();
        memory.resize(matrix.rows(), V3::zeros());
    }
    for (i, r) in r.iter().enumerate() {
        interpolation.row(i).iter().for_each(|&(a, weight)| b[a as usize] += weight * r);
    }
    if coarser.is_empty() {
        let mut flat = DVector::from_iterator(3 * b.len(), b.iter().flat_map(|b| [b.x, b.y, b.z]));
        coarsest.solve_mut(&mut flat);
        own.iter_mut().zip(flat.as_slice().chunks(3)).for_each(|(own, flat)| *own = V3::from_column_slice(flat));
    } else {
        factors.solve(b, own);
        matrix.product(own, residual, spills);
        residual.iter_mut().zip(&*b).for_each(|(r, b)| *r = b - *r);
        correct(coarser, coarsest, residual, own);
        matrix.product(own, residual, spills);
        residual.iter_mut().zip(&*b).for_each(|(r, b)| *r = b - *r);
        factors.solve(residual, more);
        own.iter_mut().zip(more).for_each(|(own, more)| *own += *more);
    }
    for (i, x) in x.iter_mut().enumerate() {
        interpolation.row(i).iter().for_each(|&(a, weight)| *x += weight * own[a as usize]);
    }
}

/// A coarse level.
struct Level {
    interpolation: Interpolation,
    matrix: Blocks,
    /// Where the parts of each fine block go, in order.
    targets: Vec<Target>,
    factors: Factors,
    b: Vec<V3>,
    own: Vec<V3>,
    residual: Vec<V3>,
    more: Vec<V3>,
    spills: Spills,
}

/// A place in the matrix, for a block as it is, transposed, or both.
#[derive(Clone, Copy)]
struct Target {
    place: u32,
    as_it_is: bool,
    transposed: bool,
}

impl Level {
    fn new(fine: &Blocks) -> Self {
        let interpolation = Interpolation::new(fine);
        let mut pairs = vec![];
        let of = |a: u32, b: u32| [a.max(b), a.min(b)];
        each_part(fine, &interpolation, |_, _, a, b| pairs.push(of(a, b)));
        pairs.sort_unstable();
        pairs.dedup();
        let matrix = Blocks::new(interpolation.coarse, pairs.into_iter());
        let mut targets = vec![];
        each_part(fine, &interpolation, |i, j, a, b| {
            let [row, column] = of(a, b);
            let place = matrix.place(row, column).expect("room was made for it");
            // The fine block stands for its mirror image too, which the diagonal does not have.
            let twice = i != j && a == b;
            targets.push(Target { place, as_it_is: a >= b, transposed: a < b || twice });
        });
        let [b, own, residual, more] = [(); 4].map(|()| vec![]);
        let (factors, spills) = (Factors::default(), Spills::default());
        Self { interpolation, matrix, targets, factors, b, own, residual, more, spills }
    }

    /// P^T A P.
    fn fill(&mut self, fine: &Blocks, constraints: &[Constraint]) {
        self.matrix.clear();
        let values = self.matrix.values();
        let mut targets = self.targets.iter();
        for i in 0..fine.rows() {
            let (columns, blocks) = fine.row(i);
            for (&j, block) in columns.iter().zip(blocks) {
                let j = j as usize;
                let block = constrained(block, constraints, [i, j]);
                for (a, of_a) in self.interpolation.row(i) {
                    for (b, of_b) in self.interpolation.row(j) {
                        if i == j && a < b {
                            continue;
                        }
                        let Some(target) = targets.next() else { return };
                        let part: M3 = of_a * of_b * block;
                        let to = &mut values[target.place as usize];
                        if target.as_it_is {
                            *to += part;
                        }
                        if target.transposed {
                            *to += part.transpose();
                        }
                    }
                }
            }
        }
        // Where all is fixed.
        for row in 0..self.matrix.rows() {
            let diagonal = self.matrix.diagonal_mut(row);
            if diagonal.diagonal().min() <= 0.0 {
                *diagonal += M3::identity();
            }
        }
    }
}

/// Calls for each block of a fine matrix and each pair of what its row and column are interpolated from, those of the diagonal
/// once.
fn each_part(fine: &Blocks, interpolation: &Interpolation, mut call: impl FnMut(usize, usize, u32, u32)) {
    for i in 0..fine.rows() {
        for &j in fine.row(i).0 {
            for &(a, _) in interpolation.row(i) {
                for &(b, _) in interpolation.row(j as usize) {
                    if i != j as usize || a >= b {
                        call(i, j as usize, a, b);
                    }
                }
            }
        }
    }
}

/// P: of each fine row, coarse rows and weights.
struct Interpolation {
    starts: Vec<u32>,
    parts: Vec<(u32, f64)>,
    coarse: usize,
}

impl Interpolation {
    fn new(matrix: &Blocks) -> Self {
        let neighbours = neighbours(matrix);
        let n = neighbours.len();
        // Whoever has all of its neighbours free gathers them; the rest go with a neighbour.
        let mut gathered: Vec<Option<u32>> = vec![None; n];
        let mut coarse = 0;
        for (i, around) in neighbours.iter().enumerate() {
            if gathered[i].is_none() && around.iter().all(|&j| gathered[j as usize].is_none()) {
                gathered[i] = Some(coarse);
                around.iter().for_each(|&j| gathered[j as usize] = Some(coarse));
                coarse += 1;
            }
        }
        let of = |i: usize| gathered[i].or_else(|| neighbours[i].iter().find_map(|&j| gathered[j as usize]));
        let of: Vec<u32> = (0..n).map(|i| of(i).expect("else it would have gathered its neighbours")).collect();

        let (mut starts, mut parts) = (vec![0], vec![]);
        for (i, around) in neighbours.iter().enumerate() {
            let each = NEIGHBOURS / (around.len() + 1) as f64;
            let mut row = vec![(of[i], 1.0 - NEIGHBOURS + each)];
            for &j in around {
                match row.iter_mut().find(|(other, _)| *other == of[j as usize]) {
                    Some((_, weight)) => *weight += each,
                    None => row.push((of[j as usize], each)),
                }
            }
            row.retain(|(_, weight)| *weight >= LEAST);
            let whole: f64 = row.iter().map(|(_, weight)| weight).sum();
            parts.extend(row.iter().map(|(a, weight)| (*a, weight / whole)));
            starts.push(parts.len() as u32);
        }
        Self { starts, parts, coarse: coarse as usize }
    }

    fn row(&self, i: usize) -> &[(u32, f64)] {
        &self.parts[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}

/// Of each row, all others that it has a block with.
fn neighbours(matrix: &Blocks) -> Vec<Vec<u32>> {
    let mut all = vec![vec![]; matrix.rows()];
    for i in 0..matrix.rows() {
        for &j in matrix.row(i).0.iter().filter(|&&j| j as usize != i) {
            all[i].push(j);
            all[j as usize].push(i as u32);
        }
    }
    all
}

fn dense(matrix: &Blocks) -> DMatrix<f64> {
    let n = matrix.rows();
    let mut all = DMatrix::zeros(3 * n, 3 * n);
    for i in 0..n {
        let (columns, blocks) = matrix.row(i);
        for (&j, block) in columns.iter().zip(blocks) {
            all.fixed_view_mut::<3, 3>(3 * i, 3 * j as usize).copy_from(block);
        }
    }
    all
}
