//! Groups of links or paths that share no particle (\[BBD09\] algorithm 1).

/// Puts each set of particles into the first group in which none of them is. Of each group the numbers of its sets, in order.
///
/// As the paper's algorithm does, which compares with all pairs of all groups; this keeps of each particle which groups it is in.
///
/// ```
/// use partita_ibds_cloth_gpu::groups;
///
/// // A chain: every second link.
/// assert_eq!(groups(&[[0, 1], [1, 2], [2, 3]]), [vec![0, 2], vec![1]]);
/// ```
pub fn groups<T: AsRef<[u32]>>(sets: &[T]) -> Vec<Vec<u32>> {
    let particles = sets.iter().flat_map(AsRef::as_ref).max().map_or(0, |most| *most as usize + 1);
    // Of each particle a bit for each group, 64 together.
    let mut taken: Vec<Vec<u64>> = vec![vec![]; particles];
    let mut groups: Vec<Vec<u32>> = vec![];
    for (number, set) in (0..).zip(sets.iter().map(AsRef::as_ref)) {
        let word = |k: u32, w: usize| taken[k as usize].get(w).copied().unwrap_or(0);
        let words = |w: usize| set.iter().fold(0, |all, &k| all | word(k, w));
        let w = (0..).find(|w| words(*w) != u64::MAX).unwrap_or(0);
        let bit = words(w).trailing_ones();
        for &k in set {
            let words = &mut taken[k as usize];
            words.resize(words.len().max(w + 1), 0);
            words[w] |= 1 << bit;
        }
        let group = 64 * w + bit as usize;
        groups.resize(groups.len().max(group + 1), vec![]);
        groups[group].push(number);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair in exactly one group, no particle twice in one; a grid's edges in as many as meet at a particle.
    #[test]
    fn a_group_has_no_particle_twice() {
        let side = 9_u32;
        let along = (0..side).flat_map(|row| (1..side).map(move |k| [side * row + k - 1, side * row + k]));
        let down = (1..side).flat_map(|row| (0..side).map(move |k| [side * (row - 1) + k, side * row + k]));
        let grid: Vec<[u32; 2]> = along.chain(down).collect();
        let hub: Vec<[u32; 2]> = (1..200).map(|k| [0, k]).chain([[3, 3 + 1]]).collect();
        let wild: Vec<[u32; 2]> =
            (0..500_u32).map(|k| [k * k % 37, (3 * k + 1) % 41]).filter(|[i, j]| i != j).collect();
        for (pairs, most) in [(&grid, 4), (&hub, 199), (&wild, 500)] {
            let groups = groups(pairs);
            assert!(groups.len() <= most, "{} groups of {most}", groups.len());
            let mut all: Vec<u32> = groups.iter().flatten().copied().collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..pairs.len() as u32));
            for group in groups {
                let mut particles: Vec<u32> = group.iter().flat_map(|&k| pairs[k as usize]).collect();
                let count = particles.len();
                particles.sort_unstable();
                particles.dedup();
                assert_eq!(particles.len(), count);
            }
        }
    }
}
