//! Names that other programs accept.

use std::collections::HashSet;

/// Hands out names that differ, also where case does not count: the second `a` becomes `a_2`.
#[derive(Default)]
pub(super) struct Unique(HashSet<String>);

impl Unique {
    pub fn name(&mut self, wish: &str) -> String {
        let mut name = wish.to_string();
        let mut number = 2;
        while !self.0.insert(name.to_lowercase()) {
            name = format!("{wish}_{number}");
            number += 1;
        }
        name
    }
}

/// Letters, digits and `_`, not beginning with a digit: a prim of USD, the stem of a file on any system.
pub(super) fn identifier(name: &str) -> String {
    let word: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(100).collect();
    if word.starts_with(|c: char| c.is_ascii_digit()) || word.is_empty() { format!("_{word}") } else { word }
}

/// Without what ends or continues a line, begins a comment, or cuts a name in two.
pub(super) fn one_line(name: &str) -> String {
    let breaks = |c: char| c.is_control() || matches!(c, '\\' | '#' | '\u{2028}' | '\u{2029}');
    name.chars().map(|c| if breaks(c) { '_' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_become_alike_stay_apart() {
        let mut names = Unique::default();
        let got = ["a b", "a/b", "A_b", "a_b_2", "2nd", "", "höhe"].map(|name| names.name(&identifier(name)));
        assert_eq!(got, ["a_b", "a_b_2", "A_b_3", "a_b_2_2", "_2nd", "_", "h_he"]);
    }

    #[test]
    fn a_line_stays_a_line() {
        assert_eq!(one_line("a\nf 1 2 3\\ #\u{2028}é \"q\""), "a_f 1 2 3_ __é \"q\"");
    }
}
