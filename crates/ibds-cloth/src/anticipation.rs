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
//! where both ends are shared. For j = i the sum is w_a + w_b, so λ_i = e_i / (w_a + w_b) leaves no error.
//!
//! Errors are kept in units of what each link may be off by, ε, so that one product changes an error and no other number tells
//! whether that is too much: e_j -= k_ij e_i with k_ij = Σ s_i s_j w_x (n_i·n_j) ε_i / ((w_a + w_b) ε_j). These are constant as long as
//! directions are: kept where these stay (section 4.4), from the first correction of a link on.

use nalgebra::Vector3;

use crate::{
    Optimisations,
    link_error::LinkError,
    links::Beside,
    solvers::{Counts, Limit, Meeting, Swept, System},
};

type V3 = Vector3<f64>;

/// Memory of the loop, by link.
#[derive(Default)]
pub(crate) struct Memory {
    directions: Vec<V3>,
    /// Of what they may be [-].
    errors: Vec<f64>,
    /// What was corrected since values were last changed, of the same.
    corrected: Vec<f64>,
    /// ε/(w_a + w_b), 0 for what cannot be corrected.
    pulls: Vec<f64>,
    /// 1/ε, 0 for the same.
    units: Vec<f64>,
    /// Whether each may be off (section 4.3).
    marked: Vec<bool>,
    /// k, by entry of [`Links::beside`](crate::links::Links::beside), with the link that it changes; and of which links they are known.
    changes: Vec<(u32, f64)>,
    known: Vec<bool>,
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
        self.pulls.clear();
        self.pulls.extend(system.links.ends.iter().zip(system.allowed).enumerate().map(|(link, (ends, allowed))| {
            let give = ends.iter().map(|&k| system.w[k as usize]).sum::<f64>() + system.softness::<f64>(link);
            if give > 0.0 { allowed / give } else { 0.0 }
        }));
        self.units.clear();
        let units = self.pulls.iter().zip(system.allowed);
        self.units.extend(units.map(|(pull, allowed)| if *pull > 0.0 { 1.0 / allowed } else { 0.0 }));
        while !limit.is_reached(&counts) {
            let moved = meeting.sweep(system);
            self.measure(system, error);
            let mut corrections = 0;
            for round in 1.. {
                let swept =
                    if with.skipping { self.sweep::<true>(system, with) } else { self.sweep::<false>(system, with) };
                system.fixed.leave = 1.0;
                counts.add(&swept);
                corrections += swept.corrections;
                if swept.corrections == 0 || !with.kept_directions || round == E::KEPT || limit.is_reached(&counts) {
                    break;
                }
            }
            self.apply(system);
            if corrections == 0 && moved <= meeting.enough {
                break;
            }
        }
        counts
    }

    /// Directions and errors of all links.
    fn measure(&mut self, system: &System<'_>, error: &impl LinkError) {
        self.directions.clear();
        self.errors.clear();
        self.corrected.clear();
        self.corrected.resize(system.links.ends.len(), 0.0);
        self.marked.clear();
        self.known.clear();
        self.known.resize(system.links.len(), false);
        self.changes.resize(system.links.all_beside(), (0, 0.0));
        for (link, ends) in system.links.ends.iter().enumerate() {
            let (n, e) = system.error(link, ends.map(|k| &system.y[k as usize]), error);
            let e = e * self.units[link];
            self.directions.push(n);
            self.errors.push(e);
            self.marked.push(self.is_off(system, link, e));
        }
    }

    /// k of a link and one beside it.
    fn change(&self, system: &System<'_>, link: usize, other: &Beside) -> f64 {
        let k = other.link as usize;
        let both = self.directions[link].dot(&self.directions[k]);
        other.sign * system.w[other.particle as usize] * both * self.pulls[link] * self.units[k]
    }

    /// All links once; by flags, those that may be off.
    fn sweep<const FLAGS: bool>(&mut self, system: &System<'_>, with: Optimisations) -> Swept {
        let mut swept = Swept::default();
        for link in 0..system.links.len() {
            if FLAGS && !std::mem::replace(&mut self.marked[link], false) {
                continue;
            }
            swept.visits += 1;
            if self.is_off(system, link, self.errors[link]) {
                self.correct_link::<FLAGS>(link, system, with);
                swept.corrections += 1;
            }
        }
        swept
    }

    fn correct_link<const FLAGS: bool>(&mut self, link: usize, system: &System<'_>, with: Optimisations) {
        let mut e = self.errors[link];
        if system.links.is_rope(link) {
            e = e.max(-self.pulled(system, link) / self.pulls[link]);
        }
        if system.largest < f64::INFINITY {
            let most = system.largest / self.pulls[link];
            e = e.clamp(-most, most);
            self.marked[link] = true;
        }
        self.errors[link] -= e;
        self.corrected[link] += e;
        if with.kept_directions {
            if !std::mem::replace(&mut self.known[link], true) {
                for (entry, other) in system.links.range(link).zip(system.links.beside(link)) {
                    self.changes[entry] = (other.link, self.change(system, link, other));
                }
            }
            let Self { errors, marked, changes, .. } = self;
            for &(other, change) in &changes[system.links.range(link)] {
                errors[other as usize] -= change * e;
                if FLAGS {
                    marked[other as usize] = true;
                }
            }
            return;
        }
        // Directions are taken anew after the sweep, and with them errors: only what is still to come in it counts.
        let beside = system.links.beside(link);
        let ahead = beside.partition_point(|other| other.link as usize <= link);
        for other in &beside[ahead..] {
            let k = other.link as usize;
            self.errors[k] -= self.change(system, link, other) * e;
            if FLAGS {
                self.marked[k] = true;
            }
        }
    }

    /// Corrections become values.
    fn apply(&mut self, system: &mut System<'_>) {
        for (link, ends) in system.links.ends.iter().enumerate() {
            let pull = self.pulls[link] * self.corrected[link];
            if pull != 0.0 {
                let impulse = pull * self.directions[link];
                system.pulls[link] += pull;
                system.push(ends[0] as usize, &impulse);
                system.push(ends[1] as usize, &-impulse);
            }
        }
    }

    /// What a link gave so far.
    fn pulled(&self, system: &System<'_>, link: usize) -> f64 {
        system.pulls[link] + self.pulls[link] * self.corrected[link]
    }

    /// Whether a link has to be corrected at such an error, of what it may be.
    fn is_off(&self, system: &System<'_>, link: usize, error: f64) -> bool {
        // Without a branch, which could not be foretold, but for what is slack.
        let is_slack = system.links.is_slack(link, error);
        (error.abs() > system.leave) & (!is_slack || !system.is_slack(link, error, self.pulled(system, link)))
    }
}
