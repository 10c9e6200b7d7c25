//! Limit of the work of a step, as a count of visits: results do not depend on the clock.
//!
//! A visit is one inspection of a pair of features, or one contact in a sweep. Counted are pairs
//! whose boxes around this interval meet. A search that is kept from an earlier step may hold more
//! pairs, which do not count: memory must not change results.
//!
//! Where most visits are spent, the rest of the step is one part in which all that collides moves
//! as one (`zones.rs`), without impulses before. Where all are spent, the rest of the step passes
//! without contact, and [`crate::Report::unresolved`] says how long that is. Cloth that crosses
//! something then is led apart in the next steps.

use rayon::prelude::*;

use crate::{
    Contacts, State,
    broad::{Bounds, Pair},
    distance::Kind,
};

/// Fewest pairs that an inspection of all pairs counts as, for each vertex of the surface: these
/// need not be counted [-].
const FEW: usize = 8;
/// A surface of fewer vertices has the allowance of so many [-].
const SMALL: usize = 64;
/// Part of the allowance that one search may find as pairs [-].
const ONE_SEARCH: usize = 4;
/// Visits to pairs in all events of an interval, for each visit of the allowance: they cost less,
/// as they test one moment only [-].
const EVENTS: f64 = 4.0;
/// Part of the allowance that is kept for what moves as one [-].
const RESERVE: usize = 4;
/// Visits that an edge through a triangle counts as: contour, votes, sides of solids [-].
pub(crate) const CROSSING: usize = 32;

/// Visits that are left, and how many one inspection of all pairs of the interval takes.
#[derive(Debug, Default)]
pub(crate) struct Allowance {
    left: usize,
    inspection: usize,
    /// Whether displacements have changed since pairs were counted.
    is_outdated: bool,
    /// Whether calls share it, until the next [`Contacts::start_step`].
    is_shared: bool,
}

impl Contacts {
    /// Allows the visits of one step ([`crate::Parameters::visits`]) to all calls until the next of
    /// this one. Without it, each call has as many for itself. What is inside is led out again
    /// ([`Contacts::keep_depths`]).
    pub fn start_step(&mut self) {
        self.leads = true;
        self.work.allowance = Allowance { left: self.allowed(), is_shared: true, ..Allowance::default() };
    }

    /// Part of the visits of this step that are spent [-].
    pub fn budget_used(&self) -> f64 {
        1.0 - self.work.allowance.left as f64 / self.allowed().max(1) as f64
    }

    /// Whether the visits of this step are spent.
    pub(crate) fn is_spent(&self) -> bool {
        self.work.allowance.left == 0
    }

    /// Whether no more than the reserve for what moves as one is left of the visits of this step.
    pub fn is_low(&self) -> bool {
        self.work.allowance.left <= self.allowed() / RESERVE
    }

    pub(crate) fn start_call(&mut self) {
        if !self.work.allowance.is_shared {
            self.work.allowance.left = self.allowed();
        }
    }

    fn vertices_counted(&self) -> usize {
        self.features.vertices().max(SMALL)
    }

    /// Visits of one step.
    pub(crate) fn allowed(&self) -> usize {
        (self.parameters.visits as usize).saturating_mul(self.vertices_counted())
    }

    /// Most pairs that a search may find.
    pub(crate) fn most_pairs(&self) -> usize {
        self.parameters.most_pairs.min(self.allowed().div_ceil(ONE_SEARCH))
    }

    /// Whether it is the allowance that limits the pairs of a search, not memory.
    pub(crate) fn is_limited_by_visits(&self) -> bool {
        self.most_pairs() < self.parameters.most_pairs
    }

    /// Visits of pairs by events of an asynchronous simulator, relative to those that a step may take
    /// [-]. They are not taken from the allowance.
    pub fn budget_of_events(&self, visits: f64) -> f64 {
        visits / (EVENTS * self.allowed().max(1) as f64)
    }

    pub(crate) fn charge(&mut self, visits: usize) {
        let left = &mut self.work.allowance.left;
        *left = left.saturating_sub(visits);
    }

    /// Charges a search that found too many pairs: boxes alone, which take a quarter of an
    /// inspection.
    pub(crate) fn charge_search(&mut self, pairs: usize) {
        self.charge(pairs.div_ceil(4));
    }

    /// Displacements have changed: pairs are counted again at the next inspection.
    pub(crate) fn outdate_count(&mut self) {
        self.work.allowance.is_outdated = true;
    }

    /// Counts the pairs whose boxes around the interval meet.
    pub(crate) fn count_pairs(&mut self) {
        self.work.allowance.is_outdated = false;
        let few = FEW * self.vertices_counted();
        if self.work.pairs.len() <= few {
            self.work.allowance.inspection = few;
            return;
        }
        self.set_spans();
        let met = self.work.pairs.par_iter().filter(|pair| self.may_meet(pair)).count();
        self.work.allowance.inspection = met.max(few);
    }

    /// Computes boxes around the ways of all vertices, as far as contacts reach.
    pub(crate) fn set_spans(&mut self) {
        let mut boxes = std::mem::take(&mut self.work.spans);
        boxes.clear();
        let work = &self.work;
        boxes.extend((0..work.x.len()).map(|k| Bounds::swept(&work.x[k], &work.u[k], self.reach(k))));
        self.work.spans = boxes;
    }

    /// Whether boxes around the ways of both features of a pair meet. The search, whose boxes serve
    /// several steps, finds more pairs.
    pub(crate) fn may_meet(&self, pair: &Pair) -> bool {
        let [a, b, c, d] = pair.vertices.map(|v| &self.work.spans[v as usize]);
        match pair.kind {
            Kind::PointTriangle => a.meets(&b.join(c).join(d)),
            Kind::EdgeEdge => a.join(b).meets(&c.join(d)),
        }
    }

    /// Charges one inspection of all pairs.
    pub(crate) fn charge_inspection(&mut self) {
        if self.work.allowance.is_outdated {
            self.count_pairs();
        }
        self.charge(self.work.allowance.inspection);
    }

    /// Lets cloth go on without contact, from the start of an interval.
    pub(crate) fn pass(&mut self, state: &mut State) {
        self.forget_pairs();
        self.work.contacts.clear();
        self.work.crossings.clear();
        self.leave_unresolved(state);
    }

    /// No pairs, and nothing that a later search could use.
    pub(crate) fn forget_pairs(&mut self) {
        let work = &mut self.work;
        work.pairs.clear();
        work.nearest.clear();
        work.impacts.clear();
        work.searched.clear();
        work.let_go.clear();
    }

    /// Cloth may cross anything at the end of the interval.
    pub(crate) fn leave_unresolved(&mut self, state: &mut State) {
        (state.apart, state.unresolved) = (false, true);
        let all: Vec<u32> = (0..self.features.vertices() as u32).collect();
        self.note_inside(state, &all);
    }
}
