//! Names, times and numbers.

use std::collections::BTreeSet;

use super::Builder;
use crate::Mistake;

impl Builder {
    pub(super) fn check_simulators(&mut self) {
        if self.members.is_empty() {
            self.mistakes.push(Mistake::Empty);
        }
        let mut seen = BTreeSet::new();
        for (number, _) in self.members.iter().enumerate().filter(|(_, member)| member.name.trim().is_empty()) {
            let (thing, found) = (format!("name of simulator {number}"), "``".into());
            self.mistakes.push(Mistake::Value { thing, found, expected: "a name".into() });
        }
        for member in &self.members {
            if !seen.insert(&member.name) {
                self.mistakes.push(Mistake::NameTwice(member.name.clone()));
            }
        }
        let times: Vec<_> =
            self.scene.simulators.iter().map(|simulator| (simulator.name().to_string(), simulator.time())).collect();
        for (name, time) in &times {
            if *time != times[0].1 {
                self.wrong(
                    format!("time of `{name}`"),
                    format!("{time} s"),
                    format!("{} s as in `{}`", times[0].1, times[0].0),
                );
            }
        }
    }

    pub(super) fn check_numbers(&mut self) {
        let dt = self.scene.rate.dt;
        if !(dt.is_finite() && dt > 0.0) {
            self.wrong("window of the rate [s]", dt, "finite, above 0");
        }
        if let Some(timeout) = self.scene.timeout
            && !(timeout > 0.0 && timeout <= 1.0e9)
        {
            self.wrong("timeout [s]", timeout, "above 0, at most 1e9");
        }
        let rewind = self.scene.rewind;
        if !(rewind.share >= 0.0 && rewind.share <= 1.0) {
            self.wrong("rewind, share", rewind.share, "from 0 to 1");
        }
        if rewind.marks < 2 {
            self.wrong("rewind, marks", rewind.marks, "at least 2");
        }
        for (thing, found, expected) in self.scene.thresholds.mistakes().collect::<Vec<_>>() {
            self.wrong(format!("thresholds, {thing}"), found, expected);
        }
        for (thing, found, expected) in self.scene.scheme.mistakes() {
            self.wrong(thing, found, expected);
        }
        for (name, n) in std::mem::take(&mut self.scene.substeps) {
            let coupling = format!("substeps of `{name}`");
            if n == 0 {
                self.wrong(&coupling, n, "at least 1");
            }
            if let Some(member) = self.named(&coupling, &name) {
                self.members[member].substeps = n;
            }
        }
    }
}
