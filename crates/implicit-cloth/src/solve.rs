//! The linear system of a step: conjugate gradients that keep constraints to the last bit.
//!
//! \[BW98\] D. Baraff, A. Witkin: Large Steps in Cloth Simulation. SIGGRAPH 1998, section 5: modified PCG. What constraints
//! fix is set at the begin, and every direction of the search is filtered, so it stays as it was set.

use nalgebra::{Matrix3, Vector3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    Preconditioner,
    blocks::{Blocks, Spills},
    precondition::Preconditioners,
};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Rows of a piece of a sum, and from how many rows on a second thread is worth it.
const PIECE: usize = 2048;
const PARALLEL: usize = 4096;

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

    fn matrix(&self) -> M3 {
        match self {
            Self::Free => M3::identity(),
            Self::Along(n) => M3::identity() - n * n.transpose(),
            Self::Fixed => M3::zeros(),
        }
    }
}

/// A block of a matrix without what constraints fix, all free where there are none.
pub(crate) fn constrained(block: &M3, constraints: &[Constraint], [row, column]: [usize; 2]) -> M3 {
    let of = |row: usize| constraints.get(row).copied().unwrap_or_default();
    match (of(row), of(column)) {
        (Constraint::Free, Constraint::Free) => *block,
        (row, column) => row.matrix() * block * column.matrix(),
    }
}

/// A block on the diagonal where what constraints fix is a part of its own.
pub(crate) fn constrained_diagonal(block: &M3, constraints: &[Constraint], row: usize) -> M3 {
    match constraints.get(row) {
        Some(Constraint::Along(n)) => {
            constrained(block, constraints, [row, row]) + n.dot(&(block * n)) * n * n.transpose()
        }
        _ => *block,
    }
}

/// A symmetric block in row i, column j, and in row j, column i.
pub(crate) type Coupling = ([u32; 2], M3);

/// A matrix, and blocks where it has no room.
pub(crate) struct System<'a> {
    pub matrix: &'a Blocks,
    pub couplings: &'a [Coupling],
}

impl System<'_> {
    pub fn product(&self, x: &[V3], out: &mut [V3], spills: &mut Spills) {
        self.matrix.product(x, out, spills);
        for ([i, j], block) in self.couplings {
            let [i, j] = [*i as usize, *j as usize];
            out[i] += block * x[j];
            out[j] += block * x[i];
        }
    }
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Solved {
    pub iterations: u32,
    /// The square of what is left over, in the preconditioner's norm.
    pub left: f64,
}

/// Memory and preconditioner of solves.
#[derive(Default)]
pub(crate) struct Solver {
    preconditioners: Preconditioners,
    /// Rows that are not free.
    held: Vec<(usize, Constraint)>,
    residual: Vec<V3>,
    direction: Vec<V3>,
    image: Vec<V3>,
    preconditioned: Vec<V3>,
    spills: Spills,
}

impl Solver {
    /// Takes over a matrix, and what is given.
    pub fn prepare(&mut self, matrix: &Blocks, constraints: &[Constraint], preconditioner: Preconditioner) {
        self.preconditioners.prepare(matrix, constraints, preconditioner);
        self.held.clear();
        self.held.extend(constraints.iter().copied().enumerate().filter(|(_, c)| *c != Constraint::Free));
        for memory in [&mut self.residual, &mut self.direction, &mut self.image, &mut self.preconditioned] {
            memory.resize(matrix.rows(), V3::zeros());
        }
    }

    /// The square of what a start with nothing but what is given leaves of A x = b, in the preconditioner's norm: what the
    /// solution is measured against.
    pub fn scale(&mut self, system: &System<'_>, b: &[V3], x: &[V3]) -> f64 {
        let mut given = std::mem::take(&mut self.direction);
        given.fill(V3::zeros());
        self.held.iter().for_each(|(row, constraint)| given[*row] = x[*row] - constraint.filter(&x[*row]));
        let scale = self.start(system, b, &given);
        self.direction = given;
        scale
    }

    /// The square of a right-hand side in that norm.
    pub fn measure(&mut self, b: impl Iterator<Item = V3>) -> f64 {
        self.residual.iter_mut().zip(b).for_each(|(r, b)| *r = b);
        filter(&self.held, &mut self.residual);
        self.precondition()
    }

    /// Takes `x`, whose constrained parts are as they have to be, as a first guess at A x = b; the square of what that leaves.
    pub fn start(&mut self, system: &System<'_>, b: &[V3], x: &[V3]) -> f64 {
        system.product(x, &mut self.image, &mut self.spills);
        self.residual.copy_from_slice(b);
        update(&mut self.residual, &self.image, |r, image| *r -= image);
        filter(&self.held, &mut self.residual);
        self.precondition()
    }

    /// Makes what `x` was started with, leaving `left`, a solution in what is not constrained, up to `enough`.
    pub fn solve(&mut self, system: &System<'_>, x: &mut [V3], mut left: f64, enough: f64, most: u32) -> Solved {
        self.direction.copy_from_slice(&self.preconditioned);
        let mut iterations = 0;
        while left > enough && iterations < most {
            system.product(&self.direction, &mut self.image, &mut self.spills);
            filter(&self.held, &mut self.image);
            let step = left / dot(&self.direction, &self.image);
            if !step.is_finite() {
                break;
            }
            update(x, &self.direction, |x, d| *x += step * d);
            update(&mut self.residual, &self.image, |r, image| *r -= step * image);
            let before = left;
            left = self.precondition();
            let turn = left / before;
            update(&mut self.direction, &self.preconditioned, |d, p| *d = p + turn * *d);
            iterations += 1;
        }
        Solved { iterations, left }
    }

    /// Of the residual; its square in that norm.
    fn precondition(&mut self) -> f64 {
        self.preconditioners.apply(&self.residual, &mut self.preconditioned);
        filter(&self.held, &mut self.preconditioned);
        dot(&self.residual, &self.preconditioned)
    }
}

fn filter(held: &[(usize, Constraint)], of: &mut [V3]) {
    held.iter().for_each(|(row, constraint)| of[*row] = constraint.filter(&of[*row]));
}

fn update(all: &mut [V3], by: &[V3], of: impl Fn(&mut V3, &V3) + Sync) {
    if all.len() < PARALLEL {
        all.iter_mut().zip(by).for_each(|(x, y)| of(x, y));
    } else {
        let pieces = all.par_chunks_mut(PIECE).zip(by.par_chunks(PIECE));
        pieces.for_each(|(all, by)| all.iter_mut().zip(by).for_each(|(x, y)| of(x, y)));
    }
}

/// Piece by piece, with the same bits for any number of threads.
pub(crate) fn dot(a: &[V3], b: &[V3]) -> f64 {
    let piece = |(a, b): (&[V3], &[V3])| a.iter().zip(b).map(|(a, b)| a.dot(b)).sum::<f64>();
    if a.len() < PARALLEL {
        a.chunks(PIECE).zip(b.chunks(PIECE)).map(piece).sum()
    } else {
        a.par_chunks(PIECE).zip(b.par_chunks(PIECE)).map(piece).collect::<Vec<f64>>().iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Preconditioner; 4] = [
        Preconditioner::BlockJacobi,
        Preconditioner::IncompleteCholesky,
        Preconditioner::Multilevel,
        Preconditioner::Cholesky,
    ];

    /// Masses in a grid of so many rows and columns, with springs along its edges, stiff along and soft across, and one between
    /// opposite corners for which the matrix has no room. A corner is fixed, the next one keeps to a plane.
    struct Net {
        matrix: Blocks,
        couplings: Vec<Coupling>,
        constraints: Vec<Constraint>,
        b: Vec<V3>,
        given: Vec<V3>,
    }

    impl Net {
        fn new(side: u32, coupled: bool) -> Self {
            let n = (side * side) as usize;
            let place = |i: u32, j: u32| i * side + j;
            let across = (0..side).flat_map(|i| (1..side).map(move |j| [place(i, j - 1), place(i, j)]));
            let down = (0..side).flat_map(|j| (1..side).map(move |i| [place(i - 1, j), place(i, j)]));
            let edges: Vec<[u32; 2]> = across.chain(down).collect();
            let mut matrix = Blocks::new(n, edges.iter().copied());
            (0..n).for_each(|row| *matrix.diagonal_mut(row) += 1e-5 * M3::identity());
            for (k, [i, j]) in edges.into_iter().enumerate() {
                let along = V3::new((0.1 * k as f64).sin(), (0.3 * k as f64).cos(), 0.5).normalize();
                let spring = along * along.transpose() + 0.1 * M3::identity();
                let place = matrix.place(j, i).unwrap() as usize;
                matrix.values()[place] -= spring;
                *matrix.diagonal_mut(i as usize) += spring;
                *matrix.diagonal_mut(j as usize) += spring;
            }
            let mut couplings = vec![];
            if coupled {
                let spring = M3::from_diagonal(&V3::new(0.5, 0.2, 0.1));
                couplings.push(([0, n as u32 - 1], -spring));
                [0, n - 1].into_iter().for_each(|row| *matrix.diagonal_mut(row) += spring);
            }
            let mut constraints = vec![Constraint::Free; n];
            constraints[0] = Constraint::Fixed;
            constraints[1] = Constraint::Along(V3::new(0.6, 0.0, 0.8));
            let mut given = vec![V3::zeros(); n];
            given[0] = V3::new(0.1, 0.7, -0.3);
            given[1] = 0.3 * V3::new(0.6, 0.0, 0.8);
            let b = (0..n).map(|k| V3::new(0.0, 1e-3, 1e-4 * (k as f64).sin())).collect();
            Self { matrix, couplings, constraints, b, given }
        }

        fn solve(&self, preconditioner: Preconditioner, tolerance: f64) -> (Vec<V3>, Solved) {
            let (mut solver, mut x) = (Solver::default(), self.given.clone());
            solver.prepare(&self.matrix, &self.constraints, preconditioner);
            let system = System { matrix: &self.matrix, couplings: &self.couplings };
            let scale = solver.scale(&system, &self.b, &x);
            let left = solver.start(&system, &self.b, &x);
            let solved = solver.solve(&system, &mut x, left, tolerance * tolerance * scale, 10_000);
            (x, solved)
        }
    }

    /// To a hundred times the tolerance, as the matrix is not well conditioned; what is given stays, what is fixed to the last bit.
    #[test]
    fn all_preconditioners_find_the_same() {
        let net = Net::new(40, true);
        let [expected, others @ ..] = ALL.map(|preconditioner| net.solve(preconditioner, 1e-11).0);
        let largest = expected.iter().map(|x| x.norm()).fold(0.0, f64::max);
        for x in &others {
            let apart = x.iter().zip(&expected).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max);
            assert!(apart < 1e-9 * largest, "{apart} of {largest}");
            assert_eq!(x[0].map(f64::to_bits), net.given[0].map(f64::to_bits));
            assert!((V3::new(0.6, 0.0, 0.8).dot(&x[1]) - 0.3).abs() < 1e-15);
        }
    }

    /// They are those of the matrix: what is left after one iteration is rounding. A coupling takes three more at most, one for
    /// each of its axes.
    #[test]
    fn cholesky_factors_are_exact() {
        assert_eq!(Net::new(40, false).solve(Preconditioner::Cholesky, 1e-9).1.iterations, 1);
        assert!(Net::new(40, true).solve(Preconditioner::Cholesky, 1e-9).1.iterations <= 4);
    }

    /// With sixteen times the masses, coarse levels need a half more iterations at most, and the factors alone twice as many at
    /// least.
    #[test]
    fn coarse_levels_see_all_of_a_mesh() {
        let [few, many] = [25, 100].map(|side| Net::new(side, false));
        let growth = |preconditioner| {
            let [few, many] = [&few, &many].map(|net| f64::from(net.solve(preconditioner, 1e-6).1.iterations));
            many / few
        };
        let (levels, alone) = (growth(Preconditioner::Multilevel), growth(Preconditioner::IncompleteCholesky));
        assert!(levels < 1.5 && alone > 2.0, "{levels}, {alone}");
    }

    /// Of rows in several pieces.
    #[test]
    fn threads_change_no_bit() {
        let net = Net::new(100, true);
        assert!(net.matrix.pieces().len() > 2);
        for preconditioner in ALL {
            let on = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| net.solve(preconditioner, 1e-3).0)
            };
            let [one, three] = [1, 3].map(on);
            assert!(one.iter().zip(&three).all(|(a, b)| a.map(f64::to_bits) == b.map(f64::to_bits)));
        }
    }
}
