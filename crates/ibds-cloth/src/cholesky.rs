//! Cholesky factors of what links do to each other, by faer. Which numbers there are follows from the net and is found once.

use faer::{
    Conj, Par, Side, Spec,
    dyn_stack::{MemBuffer, MemStack, StackReq},
    linalg::cholesky::llt::factor::LltRegularization,
    mat::MatMut,
    sparse::{
        SparseColMatRef, SymbolicSparseColMat,
        linalg::{
            SupernodalThreshold,
            cholesky::{
                CholeskySymbolicParams, LltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
                factorize_symbolic_cholesky,
            },
        },
    },
};

use crate::links::{AtParticles, Beside};

/// Pairs of links that share a particle, at most, what hangs at a hub in its thousands would fill a matrix; and numbers of the factor.
const MOST_PAIRS: usize = 1 << 23;
const MOST_NUMBERS: usize = 1 << 26;

/// From 20 multiplications for a number of the factor on, columns are taken together where they are alike: of sheets from 12 x 12 on.
const TOGETHER: SupernodalThreshold = SupernodalThreshold(0.5);

/// What factors cost for each number of theirs, and each multiplication, in visits of links: 13 ns and 0.12 ns on n x n grids with
/// diagonals, n from 10 to 100, where a sweep path by path takes 12 ns a link.
const FILL: f64 = 1.0;
const MULTIPLICATION: f64 = 0.01;

/// A = L Lᵀ, permuted, of symmetric positive definite matrices that have an entry for each pair of links that share a particle which moves.
pub(crate) struct Cholesky {
    /// Of the lower triangle.
    pattern: SymbolicSparseColMat<usize>,
    /// What makes up the entries below the diagonal, column by column, and where those of a column begin, and of the next.
    shared: Vec<Beside>,
    /// Of each of these, where in the values its entry is.
    entries: Vec<usize>,
    first: Vec<usize>,
    symbolic: SymbolicCholesky<usize>,
    values: Vec<f64>,
    /// Empty until there are factors.
    factor: Vec<f64>,
    memory: MemBuffer,
    /// What it takes to factorise and solve once, in visits of links [-].
    pub cost: f64,
}

impl Cholesky {
    /// None if the factor has more numbers than memory should be spent on.
    pub fn new(ends: &[[u32; 2]], is_held: &[bool]) -> Option<Self> {
        let mut at = AtParticles::default();
        at.fill(ends);
        let (mut starts, mut rows, mut first) = (vec![0], vec![], vec![0]);
        let (mut shared, mut entries): (Vec<Beside>, _) = (vec![], vec![]);
        for k in 0..ends.len() {
            let begin = shared.len();
            let is_later = |beside: &Beside| beside.link as usize > k && !is_held[beside.particle as usize];
            shared.extend(at.beside(ends, k).filter(is_later));
            shared[begin..].sort_unstable_by_key(|beside| (beside.link, beside.particle));
            rows.push(k);
            for beside in &shared[begin..] {
                if rows.last() != Some(&(beside.link as usize)) {
                    rows.push(beside.link as usize);
                }
                entries.push(rows.len() - 1);
            }
            starts.push(rows.len());
            first.push(shared.len());
        }
        let (n, values) = (ends.len(), vec![0.0; rows.len()]);
        let pattern = SymbolicSparseColMat::new_checked(n, n, starts, None, rows);
        let parameters =
            CholeskySymbolicParams { supernodal_flop_ratio_threshold: TOGETHER, ..CholeskySymbolicParams::default() };
        let symbolic =
            factorize_symbolic_cholesky(pattern.as_ref(), Side::Lower, SymmetricOrdering::Amd, parameters).ok()?;
        if symbolic.len_val() > MOST_NUMBERS {
            return None;
        }
        Some(Self {
            pattern,
            shared,
            entries,
            first,
            values,
            factor: vec![],
            memory: MemBuffer::new(StackReq::EMPTY),
            cost: cost(&symbolic),
            symbolic,
        })
    }

    /// Factorises a matrix of which the diagonal is told, and what each shared particle adds. False if it is not positive definite.
    pub fn factorise(&mut self, diagonal: impl Fn(usize) -> f64, adds: impl Fn(usize, &Beside) -> f64) -> bool {
        if self.factor.is_empty() {
            let needs = self.symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Spec::default());
            self.memory = MemBuffer::new(needs.or(self.symbolic.solve_in_place_scratch::<f64>(1, Par::Seq)));
            self.factor.resize(self.symbolic.len_val(), 0.0);
        }
        self.values.fill(0.0);
        for (k, range) in self.first.windows(2).enumerate() {
            self.values[self.pattern.col_ptr()[k]] = diagonal(k);
            let range = range[0]..range[1];
            for (beside, &entry) in self.shared[range.clone()].iter().zip(&self.entries[range]) {
                self.values[entry] += adds(k, beside);
            }
        }
        let numbers = SparseColMatRef::new(self.pattern.as_ref(), &self.values);
        let (exact, stack) = (LltRegularization::default(), MemStack::new(&mut self.memory));
        let factor = &mut self.factor;
        self.symbolic
            .factorize_numeric_llt(factor, numbers, Side::Lower, exact, Par::Seq, stack, Spec::default())
            .is_ok()
    }

    /// b = A⁻¹ b, of the matrix that was factorised last.
    pub fn solve(&mut self, b: &mut [f64]) {
        let (n, stack) = (b.len(), MemStack::new(&mut self.memory));
        let b = MatMut::from_column_major_slice_mut(b, n, 1);
        LltRef::new(&self.symbolic, &self.factor).solve_in_place_with_conj(Conj::No, b, Par::Seq, stack);
    }
}

/// What factors take at least, told without finding them, where no two links join the same particles: as many numbers as links, and pairs of
/// links that share a particle which moves. Infinity if those are more than memory should be spent on.
pub(crate) fn least_cost(ends: impl Iterator<Item = [u32; 2]> + Clone, is_held: &[bool]) -> f64 {
    let mut at = vec![0_usize; is_held.len()];
    ends.clone().flatten().for_each(|k| at[k as usize] += 1);
    let pairs: usize =
        at.iter().zip(is_held).map(|(n, is_held)| if *is_held { 0 } else { n * n.saturating_sub(1) / 2 }).sum();
    if pairs > MOST_PAIRS { f64::INFINITY } else { FILL * (ends.count() + pairs) as f64 }
}

/// In visits of links, to factorise and solve once.
fn cost(symbolic: &SymbolicCholesky<usize>) -> f64 {
    let squares = |lengths: &mut dyn Iterator<Item = usize>| lengths.map(|n| (n * n) as f64).sum::<f64>();
    let multiplications = match symbolic.raw() {
        SymbolicCholeskyRaw::Simplicial(factor) => {
            squares(&mut factor.col_ptr().windows(2).map(|column| column[1] - column[0]))
        }
        SymbolicCholeskyRaw::Supernodal(factor) => {
            let below = factor.col_ptr_for_row_idx().windows(2).map(|rows| rows[1] - rows[0]);
            let together = factor.supernode_begin().iter().zip(factor.supernode_end()).map(|(from, to)| to - from);
            squares(&mut together.zip(below).flat_map(|(m, below)| (1..=m).map(move |k| k + below)))
        }
    };
    FILL * symbolic.len_val() as f64 + MULTIPLICATION * multiplications
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    use super::*;

    /// What it solves is what a dense matrix says, also where two links join the same particles, and where one is held.
    #[test]
    fn it_solves_as_a_dense_matrix_does() {
        let ends: Vec<[u32; 2]> = (0..30).map(|k| [k % 9, (3 * k + 1) % 11]).filter(|[i, j]| i != j).collect();
        let adds = |k: usize, shared: &Beside| {
            shared.sign * (0.3 + 0.05 * f64::from(shared.particle) + 0.01 * (k as f64 + f64::from(shared.link)))
        };
        let mut dense = DMatrix::from_diagonal_element(ends.len(), ends.len(), 40.0);
        let is_held: Vec<bool> = (0..11).map(|k| k == 3).collect();
        let mut cholesky = Cholesky::new(&ends, &is_held).unwrap();
        assert!(cholesky.factorise(|_| 40.0, adds));
        for k in 0..ends.len() {
            for l in k + 1..ends.len() {
                for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)]
                    .into_iter()
                    .filter(|&(i, j)| ends[k][i] == ends[l][j] && ends[k][i] != 3)
                {
                    let sign = if i == j { 1.0 } else { -1.0 };
                    let own = Beside { link: l as u32, particle: ends[k][i], sign };
                    dense[(k, l)] += adds(k, &own);
                    dense[(l, k)] = dense[(k, l)];
                }
            }
        }
        let b: Vec<f64> = (0..ends.len()).map(|k| f64::from(k as u32 % 7) - 3.0).collect();
        let expected = dense.cholesky().unwrap().solve(&DVector::from_vec(b.clone()));
        let mut x = b;
        cholesky.solve(&mut x);
        // Of numbers about 0.1, with a condition of about 10.
        assert!(x.iter().zip(&expected).all(|(x, expected)| (x - expected).abs() < 1e-14), "{x:?} {expected}");
        assert!(!cholesky.factorise(|_| -1.0, adds));
    }

    /// A bound from below of what it costs is one, and near for a chain, of which the factor is as empty as the matrix.
    #[test]
    fn it_costs_no_less_than_its_bound() {
        let costs = |ends: &[[u32; 2]], held: u32| {
            let is_held: Vec<bool> = (0..200).map(|k| k < held).collect();
            [least_cost(ends.iter().copied(), &is_held), Cholesky::new(ends, &is_held).unwrap().cost]
        };
        let chain: Vec<[u32; 2]> = (0..100).map(|k| [k, k + 1]).collect();
        let [least, cost] = costs(&chain, 0);
        assert!(least == 199.0 && (least..1.05 * least).contains(&cost), "{least}, {cost}");
        let hub: Vec<[u32; 2]> = (1..100).map(|k| [0, k]).collect();
        let grid: Vec<[u32; 2]> = (0..90).flat_map(|k| [[k, k + 10], [k, k + 1], [k, k + 11]]).collect();
        for (ends, held) in [(&hub, 0), (&hub, 1), (&hub, 50), (&grid, 0), (&grid, 10), (&chain, 100)] {
            let [least, cost] = costs(ends, held);
            assert!(ends.len() as f64 <= least && least <= cost, "{least}, {cost}");
        }
    }
}
