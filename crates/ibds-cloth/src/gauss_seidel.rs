//! Gauss-Seidel link by link (\[BDB09\] section 3.2): each is corrected as if it were alone, in their order, again and again.

use nalgebra::Vector3;

use crate::{
    Optimisations,
    link_error::LinkError,
    links::ALWAYS,
    solvers::{Counts, Limit, Meeting, Swept, System},
};

type V3 = Vector3<f64>;

/// Memory of the loop.
#[derive(Default)]
pub(crate) struct Memory {
    /// Directions that stay.
    directions: Vec<V3>,
    /// \[BDB09\] section 4.3: of each particle, which of its links may be off.
    masks: Vec<u64>,
}

impl Memory {
    /// Sweeps until nothing is to be corrected.
    pub fn correct<E: LinkError>(
        &mut self,
        system: &mut System<'_>,
        error: &E,
        meeting: &mut Meeting<'_>,
        with: Optimisations,
        limit: Limit,
    ) -> Counts {
        let mut counts = Counts::default();
        loop {
            let moved = meeting.sweep(system);
            if moved > 0.0 || with.kept_directions || counts.iterations == 0 {
                self.masks.clear();
                self.masks.resize(system.y.len(), u64::MAX);
            }
            if with.kept_directions {
                self.directions.clear();
                let of = |(link, ends): (usize, &[u32; 2])| {
                    let [i, j] = ends.map(|k| &system.y[k as usize]);
                    error.of(link, i, j, 1.0).0
                };
                self.directions.extend(system.links.ends.iter().enumerate().map(of));
            }
            for round in 1.. {
                if limit.is_reached(&counts) {
                    return counts;
                }
                let swept = self.sweep(system, error, with);
                system.fixed.leave = 1.0;
                counts.add(&swept);
                let is_looked_at_anew = round == 1 || !with.kept_directions;
                if swept.corrections == 0 && is_looked_at_anew && moved <= meeting.enough {
                    return counts;
                }
                if swept.corrections == 0
                    || with.kept_directions && round == E::KEPT
                    || !with.kept_directions && !meeting.pushes.is_empty()
                {
                    break;
                }
            }
        }
    }

    /// All links once.
    fn sweep(&mut self, system: &mut System<'_>, error: &impl LinkError, with: Optimisations) -> Swept {
        let mut swept = Swept::default();
        for (link, ends) in system.links.ends.iter().enumerate() {
            let [i, j] = ends.map(|k| k as usize);
            let [bit_i, bit_j] = if with.skipping { system.links.bits(link) } else { [ALWAYS; 2] };
            if with.skipping && self.masks[i] & bit_i == 0 && self.masks[j] & bit_j == 0 {
                continue;
            }
            swept.visits += 1;
            let [x, y] = [&system.y[i], &system.y[j]];
            let allowed = system.allowed[link];
            let by_square = with.squares && system.softness::<f64>(link) == 0.0 && system.leave > 0.0;
            let is_right = by_square && !error.is_off(link, x, y, allowed);
            let (n, e) = if is_right {
                (V3::zeros(), 0.0)
            } else if with.kept_directions {
                let n = self.directions[link];
                (n, error.along(link, &n, x, y) - system.softness::<f64>(link) * system.pulls[link])
            } else {
                system.error(link, [x, y], error)
            };
            let of_allowed = if system.is_slack(link, e, system.pulls[link]) { 0.0 } else { e.abs() / allowed };
            swept.worst = swept.worst.max(of_allowed);
            let give = system.w[i] + system.w[j] + system.softness::<f64>(link);
            if of_allowed <= system.leave || give == 0.0 {
                self.be_right(i, bit_i);
                self.be_right(j, bit_j);
                continue;
            }
            // [BDB09, section 3.3]: i = n e / ((1/m_i + 1/m_j) h), on the first towards the second and back; here times h.
            let pull = e / give;
            let is_whole = pull.abs() <= system.largest;
            system.pull(link, pull, &n);
            swept.corrections += 1;
            for (k, bit) in [(i, bit_i), (j, bit_j)] {
                self.masks[k] = if system.w[k] > 0.0 { u64::MAX } else { self.masks[k] };
                if is_whole {
                    self.be_right(k, bit);
                }
            }
        }
        swept
    }

    fn be_right(&mut self, particle: usize, bit: u64) {
        if bit != ALWAYS {
            self.masks[particle] &= !bit;
        }
    }
}
