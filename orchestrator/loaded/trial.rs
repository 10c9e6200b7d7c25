//! Steps of leaders with added impulses, and which are tried next.

/// Fraction of the kinetic energy lost so far within which two steps lose the same [-]: contacts
/// among bodies are solved to about that.
const NOISE: f64 = 0.02;

/// Factor of s where more impulse leaves a carrier no less short [-]. A pile of eleven times its
/// lowest box, which a floor bears nearly all at first, needs s = 10: four steps from 0.05.
const GROWTH: f64 = 4.0;

/// Bounds of a search.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Fraction of an impulse by which a carrier may fall short [-].
    pub tolerance: f64,
    /// Least s [-].
    pub least: f64,
}

impl Bounds {
    /// Bounds where held cloth stops a body. With a tolerance of 0.005 stacks on it still rock by
    /// 0.1 m/s after two seconds.
    pub const STOPPED: Self = Self { tolerance: 0.01, least: 0.0 };

    /// Bounds where bodies press cloth between them, if it passes on all of J. A body under ten
    /// times its mass sinks by 0.1 mm a window of 60 Hz, until the follower asks for more; with a
    /// tolerance of 0.005 it slowly sinks through the cloth. Where s may not be below 0 it hops by
    /// the cloth's thickness.
    pub const PRESSED: Self = Self { tolerance: 0.002, least: -1.0 };

    /// |ε| relative to its tolerance [-]. A negative ε counts only where s exceeds `least`.
    pub fn error(&self, shortfall: f64, factor: f64) -> f64 {
        let counts = if factor > self.least { shortfall.abs() } else { shortfall.max(0.0) };
        counts / self.tolerance
    }
}

/// Step of a group of leaders with added impulses.
#[derive(Clone)]
pub(super) struct LoadedStep {
    /// s of each direction [-].
    pub factors: Vec<f64>,
    /// ε of each direction [-].
    pub shortfalls: Vec<f64>,
    /// Least s of each direction, and the largest ε.
    pub bounds: Vec<Bounds>,
    /// Kinetic energy of all leaders after it `[J]`.
    pub kinetic: f64,
    /// Work of the impulses (1 + s) J that drive their carriers, if these move as expected `[J]`.
    pub driven: f64,
}

impl LoadedStep {
    /// Largest error of a direction, as [`Bounds::error`] [-].
    pub fn error(&self) -> f64 {
        let of = |((&short, &factor), bounds): ((&f64, &f64), &Bounds)| bounds.error(short, factor);
        self.shortfalls.iter().zip(&self.factors).zip(&self.bounds).map(of).fold(0.0, f64::max)
    }

    pub fn is_finite(&self) -> bool {
        self.shortfalls.iter().chain([&self.kinetic, &self.driven]).all(|x| x.is_finite())
    }

    pub fn is_converged(&self) -> bool {
        self.error() <= 1.0
    }

    /// Whether it has no more kinetic energy than the accepted step with the next smaller impulses,
    /// but for the work of the impulses. The first of `accepted` is without added impulses; one
    /// with less may not exceed it.
    pub fn is_passive(&self, accepted: &[Self]) -> bool {
        let is_less = |step: &Self| step.factors.iter().any(|&factor| factor < 0.0);
        if is_less(self) {
            return self.kinetic <= accepted[0].kinetic;
        }
        let size = |step: &Self| step.factors.iter().sum::<f64>();
        let smaller = accepted.iter().filter(|step| !is_less(step) && size(step) <= size(self));
        let Some(less) = smaller.max_by(|a, b| size(a).total_cmp(&size(b))) else { return false };
        let noise = NOISE * (accepted[0].kinetic - less.kinetic);
        self.kinetic - less.kinetic <= (self.driven - less.driven).max(noise).max(0.0)
    }

    /// Factors for the next step, by the secant through this one and `last`, up to [`GROWTH`] times
    /// these: that many where more impulse leaves a carrier no less short, since something else
    /// bore it before.
    pub fn next(&self, last: &Self) -> Vec<f64> {
        let of = |k: usize| {
            let (step, gain) = (self.factors[k] - last.factors[k], last.shortfalls[k] - self.shortfalls[k]);
            let most = if step > 0.0 && self.factors[k] > 0.0 { GROWTH * self.factors[k] } else { f64::INFINITY };
            match self.factors[k] {
                factor if step * gain > 0.0 => {
                    (factor + self.shortfalls[k] * step / gain).clamp(self.bounds[k].least, most)
                }
                factor if factor > 0.0 && step != 0.0 && self.shortfalls[k] > 0.0 => GROWTH * factor,
                factor => factor,
            }
        };
        (0..self.factors.len()).map(of).collect()
    }

    /// Factors for the next step where this one gains energy: more where carriers are short, else
    /// halfway to `best`.
    pub fn retreat(&self, best: &Self) -> Vec<f64> {
        let of = |k: usize| match self.shortfalls[k] > 0.0 && self.factors[k] > 0.0 {
            true => GROWTH * self.factors[k],
            false => 0.5 * (self.factors[k] + best.factors[k]),
        };
        (0..self.factors.len()).map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loaded::REPEATS;

    fn step(factor: f64, shortfall: f64, kinetic: f64, driven: f64) -> LoadedStep {
        LoadedStep {
            factors: vec![factor],
            shortfalls: vec![shortfall],
            bounds: vec![Bounds::STOPPED],
            kinetic,
            driven,
        }
    }

    /// A body of 1 kg stopped from 1 m/s under one of 3 kg: ε = 1 - (1 + s)/4, found by one secant.
    #[test]
    fn linear_answers_take_two_steps() {
        let of = |s: f64| step(s, 1.0 - 0.25 * (1.0 + s), 0.0, 0.0);
        let (plain, first) = (of(0.0), of(0.75));
        let second = of(first.next(&plain)[0]);
        assert!(!plain.is_converged() && !first.is_converged() && second.is_converged(), "{:?}", second.factors);
    }

    /// A floor bears nearly all of a pile of four times the lowest body's mass, until s is 2.
    #[test]
    fn the_search_goes_past_what_a_floor_bears() {
        let of = |s: f64| step(s, if s < 2.0 { 0.05 } else { 1.0 - 0.25 * (1.0 + s) }, 0.0, 0.0);
        let (mut last, mut here, mut repeats) = (of(0.0), of(0.05), 1);
        while !here.is_converged() && repeats < REPEATS {
            (last, here) = (here.clone(), of(here.next(&last)[0]));
            repeats += 1;
        }
        assert!((here.factors[0] - 3.0).abs() < 0.1, "{repeats} repeats: {:?}", here.factors);
    }

    /// Impulses that stop take energy, those that drive give as much as they work, and where less
    /// impulse is compared with none, energy may come back.
    #[test]
    fn added_impulses_do_not_add_energy() {
        let accepted = [step(0.0, 0.5, 4.0, 0.0), step(1.0, -0.2, 1.0, 0.0)];
        assert!(step(0.5, 0.1, 2.0, 0.0).is_passive(&accepted));
        assert!(!step(0.5, 0.1, 4.1, 0.0).is_passive(&accepted));
        assert!(!step(2.0, 0.1, 1.1, 0.0).is_passive(&accepted));
        assert!(step(2.0, 0.1, 1.1, 0.2).is_passive(&accepted));
    }

    /// A carrier that others lift is not to be stopped by less, so what is sought for others goes
    /// on.
    #[test]
    fn carriers_that_others_lift_count_for_nothing() {
        let of = |s: f64| LoadedStep {
            factors: vec![0.0, s],
            shortfalls: vec![-3.0, 0.5 - 0.5 * s],
            bounds: vec![Bounds::STOPPED; 2],
            ..step(0.0, 0.0, 0.0, 0.0)
        };
        assert!(of(1.0).is_converged() && of(0.5).error() < of(0.0).error());
    }

    /// A box of m on cloth on a table of M that the floor bears: ε = m/(m + M) - s M/(m + M), and s
    /// = m/M.
    #[test]
    fn a_light_table_takes_as_much_more_as_the_box_is_heavier() {
        for [m, table] in [[1.0, 1.0], [20.0, 1.0], [0.1, 10.0]] {
            let of = |s: f64| LoadedStep {
                bounds: vec![Bounds::PRESSED],
                ..step(s, (m - s * table) / (m + table), 0.0, 0.0)
            };
            let (mut last, mut here, mut repeats) = (of(0.0), of(of(0.0).shortfalls[0]), 1);
            while !here.is_converged() && repeats < REPEATS {
                (last, here) = (here.clone(), of(here.next(&last)[0]));
                repeats += 1;
            }
            assert!((here.factors[0] - m / table).abs() < 0.01 * m / table + 0.002, "{m}, {table}: {:?}", here.factors);
        }
    }

    /// Where cloth is pressed, a carrier that gets too much gets less, down to nothing, and never
    /// more energy than before.
    #[test]
    fn pressed_cloth_may_push_less() {
        let of = |s: f64, kinetic: f64| LoadedStep {
            bounds: vec![Bounds::PRESSED],
            ..step(s, -0.3 - 0.5 * s, kinetic, 0.0)
        };
        let (plain, first) = (of(0.0, 1.0), of(-0.3, 0.8));
        assert!(!plain.is_converged() && !first.is_converged());
        let found = of(first.next(&plain)[0], 0.7);
        assert!(found.is_converged() && (found.factors[0] + 0.6).abs() < 1e-12, "{:?}", found.factors);
        assert!(found.is_passive(std::slice::from_ref(&plain)) && !of(-0.6, 1.1).is_passive(&[plain, first]));
        let least = LoadedStep { factors: vec![-1.0], ..of(-1.0, 1.0) };
        assert!(Bounds::PRESSED.error(-0.1, least.factors[0]) == 0.0);
    }
}
