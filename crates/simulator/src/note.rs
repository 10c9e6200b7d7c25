//! Notes of a step for the user.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Note of a step, such as a limited speed. Notes of one kind are counted together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Note {
    /// Event, in words and numbers that are the same in every step.
    pub kind: String,
    /// Names of the first subjects, such as bodies, at most [`Note::SUBJECTS`]; empty for the whole simulator.
    pub subjects: Vec<String>,
    /// Whether there are others.
    pub more: bool,
}

impl Note {
    /// Largest number of subjects that a note names.
    pub const SUBJECTS: usize = 8;

    /// A note on the whole simulator.
    pub fn new(kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), subjects: Vec::new(), more: false }
    }

    /// A note on one subject.
    pub fn about(subject: impl Into<String>, kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), subjects: vec![subject.into()], more: false }
    }

    /// Adds this note to a list. A listed note of the same kind takes over its subjects.
    ///
    /// ```
    /// use partita_simulator::Note;
    ///
    /// let mut notes = vec![];
    /// for body in ["`ball`", "`crate`", "`ball`"] {
    ///     Note::about(body, "slowed down to 100 m/s").add_to(&mut notes);
    /// }
    /// assert_eq!(notes.len(), 1);
    /// assert_eq!(notes[0].to_string(), "`ball`, `crate`: slowed down to 100 m/s");
    /// ```
    pub fn add_to(self, notes: &mut Vec<Self>) {
        match notes.iter_mut().find(|note| note.kind == self.kind) {
            Some(known) => known.add_subjects(&self.subjects, self.more),
            None => notes.push(self),
        }
    }

    /// Adds subjects that it does not name yet.
    pub fn add_subjects(&mut self, subjects: &[String], more: bool) {
        self.more |= more;
        for subject in subjects {
            if self.subjects.contains(subject) {
                continue;
            }
            match self.subjects.len() < Self::SUBJECTS {
                true => self.subjects.push(subject.clone()),
                false => self.more = true,
            }
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.subjects.join(", "))?;
        f.write_str(if self.more { " and others" } else { "" })?;
        let colon = if self.subjects.is_empty() { "" } else { ": " };
        write!(f, "{colon}{}", self.kind)
    }
}
