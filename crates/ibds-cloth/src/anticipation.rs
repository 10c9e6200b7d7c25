//! Gauss-Seidel with errors that are anticipated (\[BDB09\] section 4.2): not measured again at each visit, but changed by what corrects
//! the links beside.
//!
//! The paper's formulas leave out masses, signs and what is held. With n_i from a link's first particle a to its second b, and
//! e_i = n_i·(y_b - y_a) - d_i, a pull λ_i moves y_a by w_a λ_i n_i and y_b by -w_b λ_i n_i. For a link j that shares the particle x, with
//! s(x) = 1 where a link ends and -1 where it begins, y_x moves by -s_i w_x λ_i n_i, and e_j = Σ s_j n_j·y - d_j by
//!
//!   Δe_j = -Σ_x s_i s_j w_x (n_i·n_j) λ_i:
//!
//! less where both begin or both end at x, more where one goes on from the other, not at all by what is held (w = 0), and both
//! where both ends are shared. For j = i the sum is w_a + w_b, so λ_i = e_i / (w_a + w_b) leaves no error. These entries of the Gram
//! matrix J W Jᵀ are constant as long as directions are: taken at once if these stay (section 4.4), else as they are asked for.

use nalgebra::Vector3;

use crate::{
    Optimisations,
    link_error::LinkError,
    links::Links,
    solvers::{Counts, Meeting, Swept, System},
};

type V3 = Vector3<f64>;

/// Memory of the loop, by link.
#[derive(Default)]
pub(crate) struct Memory {
    directions: Vec<V3>,
    errors: Vec<f64>,
    /// Since values were last changed.
    pulls: Vec<f64>,
    /// \[BDB09\] section 4.3: whether it may be off.
    flags: Vec<bool>,
    /// Of the Gram matrix, by entry of [`Links`].
    gram: Vec<f64>,
}

impl Memory {
    /// Sweeps until nothing is to be corrected.
    pub fn correct(
        &mut self,
        links: &Links,
        system: &mut System<'_>,
        error: &impl LinkError,
        meeting: &mut Meeting<'_>,
        with: Optimisations,
        most: u32,
    ) -> Counts {
        let mut counts = Counts::default();
        while counts.iterations < most {
            let moved = meeting.sweep(system);
            self.measure(links, system, error);
            if with.kept_directions {
                self.gram.clear();
                for link in 0..links.ends.len() {
                    let n = self.directions[link];
                    let entries = links.entries()[links.beside(link)].iter();
                    self.gram
                        .extend(entries.map(|other| other.mobility * n.dot(&self.directions[other.link as usize])));
                }
            }
            let mut corrections = 0;
            loop {
                let swept = self.sweep(links, system, with);
                counts.add(&swept);
                corrections += swept.corrections;
                if swept.corrections == 0 || !with.kept_directions || counts.iterations == most {
                    break;
                }
            }
            self.apply(links, system);
            if corrections == 0 && moved <= meeting.enough {
                break;
            }
        }
        counts
    }

    /// Directions and errors of all links.
    fn measure(&mut self, links: &Links, system: &System<'_>, error: &impl LinkError) {
        self.directions.clear();
        self.errors.clear();
        self.flags.clear();
        self.pulls.clear();
        self.pulls.resize(links.ends.len(), 0.0);
        for (link, ends) in links.ends.iter().enumerate() {
            let (n, e) = system.error(link, ends.map(|k| &system.y[k as usize]), true, error);
            self.directions.push(n);
            self.errors.push(e);
            self.flags.push(system.is_off(link, e));
        }
    }

    /// All links once.
    fn sweep(&mut self, links: &Links, system: &mut System<'_>, with: Optimisations) -> Swept {
        let mut swept = Swept::default();
        for (link, ends) in links.ends.iter().enumerate() {
            if with.skipping && !self.flags[link] {
                continue;
            }
            swept.visits += 1;
            let e = self.errors[link];
            let [i, j] = ends.map(|k| k as usize);
            let w = system.w[i] + system.w[j];
            if w == 0.0 || !with.skipping && !system.is_off(link, e) {
                self.flags[link] = false;
                continue;
            }
            let pull = e / (w + system.softness);
            self.pulls[link] += pull;
            self.errors[link] = 0.0;
            self.flags[link] = false;
            swept.corrections += 1;
            let n = self.directions[link];
            for entry in links.beside(link) {
                let other = links.entries()[entry];
                let k = other.link as usize;
                // Where directions are taken anew after the sweep, so are errors: only those that are still to come in it count.
                let change = if with.kept_directions {
                    self.gram[entry]
                } else if k > link {
                    other.mobility * n.dot(&self.directions[k])
                } else {
                    continue;
                };
                self.errors[k] -= change * pull;
                if with.skipping {
                    self.flags[k] = system.is_off(k, self.errors[k]);
                }
            }
        }
        swept
    }

    /// Pulls become values.
    fn apply(&mut self, links: &Links, system: &mut System<'_>) {
        for (link, ends) in links.ends.iter().enumerate() {
            let pull = self.pulls[link];
            if pull != 0.0 {
                let impulse = pull * self.directions[link];
                system.pulls[link] += pull;
                system.push(ends[0] as usize, &impulse);
                system.push(ends[1] as usize, &-impulse);
            }
        }
    }
}
